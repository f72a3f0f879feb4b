"""`aspenpy import`: networks in ONNX as models, against arithmetic by hand; hostile files are refused."""

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.extract import onnx_graph
from aspenpy.extract.exported_program import read_graph
from aspenpy.language.diagnostics import AspenError
from aspenpy.shell.main import main

onnx: Any = pytest.importorskip("onnx", reason="the extra `onnx` is not installed")
from onnx import TensorProto, helper  # noqa: E402


def tensor(name: str, *shape: int | str, kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, list(shape))


def network(nodes: list[Any], inputs: list[Any], outputs: list[Any], **weights: tuple[int, ...]) -> Any:
    numbers = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, bytes(4 * _count(shape)), raw=True)
        for name, shape in weights.items()
    ]
    graph = helper.make_graph(nodes, "small", inputs, outputs, numbers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def read(model: Any, folder: Path, name: str = "small.onnx") -> onnx_graph.ImportedNetwork:
    (folder / name).write_bytes(model.SerializeToString())
    return read_graph(str(folder / name))


def counts(text: str, **values: float) -> dict[str, float]:
    app = aspenpy.parse(text)
    assert isinstance(app, aspenpy.Application)
    return {name: float(aspenpy.count(app, name, set=values)) for name in ("flops", "loads", "stores")}


def test_a_perceptron(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Gemm", ["r", "v", "c"], ["y"], transB=1),
    ]
    model = network(nodes, [tensor("x", "n", 64)], [tensor("y", "n", 5)], w=(64, 32), b=(32,), v=(5, 32), c=(5,))
    imported = read(model, tmp_path)
    assert (imported.operators, imported.open) == (4, ("n",))
    for n in (1, 7):
        found = counts(imported.text, n=n)
        assert found["flops"] == 2 * n * 64 * 32 + n * 32 + n * 32 + 2 * n * 32 * 5 + n * 5
        read_numbers = (n * 64 + 64 * 32) + (n * 32 + 32) + n * 32 + (n * 32 + 5 * 32 + 5)
        assert found["loads"] == 4 * read_numbers
        assert found["stores"] == 4 * (3 * n * 32 + n * 5)
    memory = aspenpy.memory(aspenpy.parse(imported.text), set={"n": 3}).data
    assert {name: float(item.size) for name, item in memory.items()} == {
        "w": 4 * 64 * 32, "b": 4 * 32, "v": 4 * 5 * 32, "c": 4 * 5, "x": 4 * 3 * 64, "y": 4 * 3 * 5,
    }  # fmt: skip


def test_a_convolution(tmp_path: Path) -> None:
    # 3 to 8 channels with 3 x 3 taps on 32 x 32 pixels without a border, then windows of 2 x 2, in a batch of n.
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["h"], kernel_shape=[3, 3]),
        helper.make_node("MaxPool", ["h"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"]),
        helper.make_node("Flatten", ["g"], ["y"]),
    ]
    model = network(nodes, [tensor("x", "n", 3, 32, 32)], [tensor("y", "n", 8)], w=(8, 3, 3, 3), b=(8,))
    found = counts(read(model, tmp_path).text, n=2)
    pixels = 2 * 8 * 30 * 30
    assert found["flops"] == 2 * pixels * 27 + pixels + 4 * pixels / 4 + pixels / 4
    assert found["loads"] == 4 * (2 * 3 * 32 * 32 + 8 * 27 + 8 + pixels + pixels / 4)
    assert found["stores"] == 4 * (pixels + pixels / 4 + 16)


def test_attention_in_half_precision(tmp_path: Path) -> None:
    half = TensorProto.FLOAT16
    nodes = [
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"]),
        helper.make_node("MatMul", ["p", "v"], ["y"]),
    ]
    inputs = [tensor(name, "b", 128, 64, kind=half) for name in "qkv"]
    imported = read(network(nodes, inputs, [tensor("y", "b", 128, 64, kind=half)]), tmp_path)
    found = counts(imported.text, b=12)
    assert found["flops"] == 12 * (2 * 2 * 128 * 128 * 64 + 5 * 128 * 128)
    assert found["loads"] == 12 * 2 * (128 * 64 + 2 * 128 * 64 + 128 * 128 + 128 * 128 + 128 * 64)
    assert "as tensor, fp16, simd, fmad" in imported.text
    app = aspenpy.parse(imported.text)
    assert isinstance(app, aspenpy.Application)
    assert aspenpy.predict(app, aspenpy.load_machine("h100"), set={"b": 4096}).runtime > 0


def test_a_recurrent_layer(tmp_path: Path) -> None:
    # 10 steps, n sequences of 16 channels, 32 that are remembered, four gates.
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=32)
    model = network([node], [tensor("x", 10, "n", 16)], [tensor("y", 10, 1, "n", 32)], w=(1, 128, 16), r=(1, 128, 32))
    assert counts(read(model, tmp_path).text, n=6)["flops"] == 2 * 10 * 6 * 128 * (16 + 32)


def test_an_unknown_operator_is_a_parameter(tmp_path: Path) -> None:
    node = helper.make_node("Whirl", ["x"], ["y"], domain="elsewhere")
    imported = read(network([node], [tensor("x", "n", 8)], [tensor("y", "n", 8)]), tmp_path)
    assert imported.open == ("n", "flops_of_Whirl")
    assert [item.message for item in imported.diagnostics] == [
        f"operator `Whirl` is not known, 1 of them in `{tmp_path / 'small.onnx'}`"
    ]
    assert counts(imported.text, n=5, flops_of_Whirl=3) == {"flops": 3 * 40, "loads": 160, "stores": 160}


def test_a_product_behind_an_unknown_operator_is_of_numbers(tmp_path: Path) -> None:
    # What `Whirl` gives has no type: the product has that of its weights, two flops for each of 8 x 3 x 5 pairs.
    nodes = [helper.make_node("Whirl", ["x"], ["h"]), helper.make_node("MatMul", ["h", "w"], ["y"])]
    text = read(network(nodes, [tensor("x", 8, 3)], [tensor("y", 8, 5)], w=(3, 5)), tmp_path).text
    assert "intops" not in text
    assert counts(text, h_axis1=3)["flops"] == 2 * 8 * 3 * 5


def test_parts_share_an_operator(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    text = read(network([node], [tensor("x", 4096, 64)], [tensor("y", 4096, 64)]), tmp_path).text
    one, four = (counts(text, ranks=ranks) for ranks in (1, 4))
    assert one == four == {"flops": 4096 * 64, "loads": 4 * 4096 * 64, "stores": 4 * 4096 * 64}


# -- files that mean no good -----------------------------------------------------------------------


def small() -> Any:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return network([node], [tensor("x", "n", 64)], [tensor("y", "n", 32)], w=(64, 32))


def refusal(content: bytes, folder: Path) -> str:
    file = folder / "bad.onnx"
    file.write_bytes(content)
    with pytest.raises(AspenError) as error:
        read_graph(str(file))
    message: str = error.value.diagnostics[0].message
    assert "bad.onnx" in message
    return message


def test_a_truncated_file(tmp_path: Path) -> None:
    content = small().SerializeToString()
    for length in (0, 1, len(content) // 2, len(content) - 1):
        assert "is no network in ONNX" in refusal(content[:length], tmp_path)


@pytest.mark.parametrize("shape", [(2**62, 2**62), (-5, 3), (10**9, 10**9), (2,) * 1000])
def test_shapes_that_no_tensor_has(shape: tuple[int, ...], tmp_path: Path) -> None:
    model = network([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", *shape)], [tensor("y", *shape)])
    assert any(name in refusal(model.SerializeToString(), tmp_path) for name in ("`x`", "`y`"))


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/passwd", "a/../../b", "C:\\weights", "..\\b"])
def test_weights_outside_of_the_folder(location: str, tmp_path: Path) -> None:
    model = small()
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    assert "weight `w` of" in refusal(model.SerializeToString(), tmp_path)
    weight.external_data[0].value = "weights/w.bin"  # beside the network, and never read
    assert counts(read(model, tmp_path).text, n=1)["flops"] == 2 * 64 * 32


def test_a_million_operators(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"]).SerializeToString()
    nodes = (b"\x0a" + bytes([len(node)]) + node) * 1_000_000
    length, number = [], len(nodes)
    while number:
        number, low = divmod(number, 128)
        length.append(low | (0x80 if number else 0))
    assert "has 1,000,000 operators" in refusal(b"\x08\x08\x3a" + bytes(length) + nodes, tmp_path)


@pytest.mark.parametrize(
    "node",
    [("MatMul", ["x"], ["y"]), ("Relu", ["x"], []), ("Gather", [], ["y"]), ("Conv", ["x"], ["y"]), ("Relu", [], [""])],
)
def test_operators_that_lack_something(node: tuple[str, list[str], list[str]], tmp_path: Path) -> None:
    model = network([helper.make_node(*node)], [tensor("x", 4, 4)], [tensor("y", 4, 4)])
    refusal(model.SerializeToString(), tmp_path)


def test_names_are_text_alone(tmp_path: Path) -> None:
    evil = 'a"\n} kernel x { \x1b[31m // ' + "z" * 100
    nodes = [helper.make_node(evil, [evil], ["h"], name=evil), helper.make_node("Relu", ["h"], ["y"])]
    imported = read(network(nodes, [tensor(evil, "main", "ranks")], [tensor("y", "main", "ranks")]), tmp_path)
    assert isinstance(aspenpy.parse(imported.text), aspenpy.Application)
    assert "\x1b" not in imported.text + imported.diagnostics[0].message


def test_damaged_files_end_in_a_message(tmp_path: Path) -> None:
    drawn = random.Random(7)
    content = small().SerializeToString()
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(drawn.randrange(1, 6)):
            damaged[drawn.randrange(min(200, len(damaged)))] = drawn.randrange(256)
        (tmp_path / "damaged.onnx").write_bytes(damaged)
        with contextlib.suppress(AspenError):
            aspenpy.parse(read_graph(str(tmp_path / "damaged.onnx")).text)


def test_the_command_writes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.onnx").write_bytes(small().SerializeToString())
    assert main(["import", str(tmp_path / "small.onnx"), "-o", str(tmp_path / "small.aspen")]) == 0
    assert "1 operators; parameters that the file leaves open: n" in capsys.readouterr().out
    assert main(["eval", str(tmp_path / "small.aspen"), "--machine", "h100", "--set", "n=4096"]) == 0
    assert main(["import", str(tmp_path / "none.onnx")]) == 2
    assert "file not found" in capsys.readouterr().err
