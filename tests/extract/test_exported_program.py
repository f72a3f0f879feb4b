"""`aspenpy import` of programs that torch.export saved, against arithmetic by hand; hostile archives are refused."""

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.extract.exported_program import read_graph
from aspenpy.extract.onnx_graph import ImportedNetwork
from aspenpy.language.diagnostics import AspenError

Tensors = dict[str, tuple[int | str, ...]]


def length(size: int | str) -> dict[str, Any]:
    return {"as_int": size} if isinstance(size, int) else {"as_expr": {"expr_str": size, "hint": {"as_int": 4}}}


def node(name: str, arguments: dict[str, Any], *outputs: str) -> dict[str, Any]:
    """As torch/_export/serde/schema.py has it: a text is a tensor's name, a list of them several tensors."""

    def argument(value: Any) -> dict[str, Any]:
        if isinstance(value, str):
            return {"as_tensor": {"name": value}}
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return {"as_tensors": [{"name": item} for item in value]}
        return {"as_none": True} if value is None else {f"as_{'ints' if isinstance(value, list) else 'bool'}": value}

    given = [{"name": key, "arg": argument(value), "kind": 1} for key, value in arguments.items()]
    written = [{"as_tensor": {"name": output}} for output in outputs]
    return {"target": f"torch.ops.aten.{name}", "inputs": given, "outputs": written, "metadata": {}}


def program(nodes: list[dict[str, Any]], inputs: list[str], outputs: list[str], tensors: Tensors) -> dict[str, Any]:
    values = {
        name: {"dtype": 7, "sizes": [length(size) for size in shape], "layout": 7} for name, shape in tensors.items()
    }
    ends = [[{"as_tensor": {"name": name}} for name in names] for names in (inputs, outputs)]
    graph = {"inputs": ends[0], "outputs": ends[1], "nodes": nodes, "tensor_values": values, "sym_int_values": {}}
    return {"graph_module": {"graph": graph, "signature": {}}, "schema_version": {"major": 8, "minor": 5}}


def save(content: Any, folder: Path, member: str = "serialized_exported_program.json") -> Path:
    with zipfile.ZipFile(folder / "small.pt2", "w") as archive:
        archive.writestr(member, content if isinstance(content, str | bytes) else json.dumps(content))
        archive.writestr(member.replace("models/", "data/weights/") + ".pt", "")
    return folder / "small.pt2"


def counts(network: ImportedNetwork, **values: float) -> dict[str, float]:
    app = aspenpy.parse(network.text)
    assert isinstance(app, aspenpy.Application)
    return {name: float(aspenpy.count(app, name, set=values)) for name in ("flops", "loads", "stores")}


PERCEPTRON = program(
    [
        node("linear.default", {"input": "x", "weight": "w", "bias": "b"}, "h"),
        node("relu.default", {"self": "h"}, "r"),
        node("permute.default", {"self": "v", "dims": [1, 0]}, "t"),
        node("addmm.default", {"self": "c", "mat1": "r", "mat2": "t"}, "y"),
    ],
    ["w", "b", "v", "c", "x"],
    ["y"],
    {"x": ("s0", 64), "w": (32, 64), "b": (32,), "h": ("s0", 32), "r": ("s0", 32), "v": (5, 32), "t": (32, 5),
     "c": (5,), "y": ("s0", 5)},
)  # fmt: skip


@pytest.mark.parametrize(
    "member", ["serialized_exported_program.json", "small/models/model.json", "archive/models/net.json"]
)
def test_a_perceptron(tmp_path: Path, member: str) -> None:
    network = read_graph(str(save(PERCEPTRON, tmp_path, member)))
    assert (network.operators, network.open, network.diagnostics) == (3, ("s0",), ())
    n = 7
    flops = 2 * n * 64 * 32 + n * 32 + n * 32 + 2 * n * 32 * 5 + n * 5
    loads = n * 64 + 32 * 64 + 32 + n * 32 + n * 32 + 32 * 5 + 5
    stores = n * 32 + n * 32 + n * 5
    assert counts(network, s0=n) == {"flops": flops, "loads": 4 * loads, "stores": 4 * stores}


def test_attention_and_a_convolution(tmp_path: Path) -> None:
    """A symbol of SymPy; operators with several results; a pool's window; a transposed convolution."""
    batch = "Symbol('s77', positive=True, integer=True)"
    tensors: Tensors = dict.fromkeys("qko", (batch, 4, 10, 8)) | {"v": (batch, 4, 10, 6), "o": (batch, 4, 10, 6)}
    tensors |= {"i": (2, 3, 9, 9), "f": (5, 3, 3, 3), "c": (2, 5, 7, 7), "m": (2, 5, 3, 3), "at": (2, 5, 3, 3)}
    tensors |= {"g": (5, 4, 2, 2), "u": (2, 4, 6, 6)}
    nodes = [
        node("scaled_dot_product_attention.default", {"query": "q", "key": "k", "value": "v"}, "o"),
        node("convolution.default", {"input": "i", "weight": "f", "bias": None, "transposed": False}, "c"),
        node("max_pool2d_with_indices.default", {"self": "c", "kernel_size": [2, 2]}, "m", "at"),
        node("convolution.default", {"input": "m", "weight": "g", "bias": None, "transposed": True}, "u"),
    ]
    network = read_graph(str(save(program(nodes, list("qkvifg"), ["o", "u"], tensors), tmp_path)))
    assert network.open == ("s77",)
    scores = 3 * 4 * 10 * 10
    attention = 2 * scores * 8 + 2 * scores * 6 + (3 + 2) * scores
    window = 2 * (2 * 5 * 7 * 7) * 3 * 9 + 4 * (2 * 5 * 3 * 3) + 2 * (2 * 5 * 3 * 3) * 4 * 4
    assert counts(network, s77=3)["flops"] == attention + window


def test_what_is_not_known_is_a_parameter(tmp_path: Path) -> None:
    nodes = [node("cdist.default", {"x1": "x", "x2": "x"}, "y"), node("sym_size.int", {"self": "x"})]
    content = program(nodes, ["x"], ["y"], {"x": (4, 3), "y": (4, "2*s0")})
    network = read_graph(str(save(content, tmp_path)))
    assert [item.message for item in network.diagnostics] == [
        f"operator `cdist` is not known, 1 of them in `{tmp_path / 'small.pt2'}`"
    ]
    assert set(network.open) == {"y_1", "flops_of_cdist"}
    assert counts(network, y_1=6, flops_of_cdist=5)["flops"] == 4 * 6 * 5


@pytest.mark.parametrize(
    ("content", "member", "message"),
    [
        ("{", "serialized_exported_program.json", "is no archive with an exported program"),
        ("[" * 200_000, "serialized_exported_program.json", "is no archive with an exported program"),
        ("[1]", "serialized_exported_program.json", "is no exported program, or a part of one"),
        ({"graph_module": {"graph": {}}}, "models/model.json", "is no exported program, or a part of one"),
        (PERCEPTRON, "code/model.txt", "has 0 graphs"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: Any, member: str, message: str) -> None:
    with pytest.raises(AspenError, match=message):
        read_graph(str(save(content, tmp_path, member)))


def test_damaged_archives_are_refused_or_read(tmp_path: Path) -> None:
    whole, draws = save(PERCEPTRON, tmp_path).read_bytes(), random.Random(1)
    values = [PERCEPTRON["graph_module"]["graph"]]
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[draws.randrange(4, len(damaged))] = draws.randrange(256)
        (tmp_path / "damaged.pt2").write_bytes(bytes(damaged))
        try:
            aspenpy.parse(read_graph(str(tmp_path / "damaged.pt2")).text)
        except AspenError:
            continue
    text = json.dumps(PERCEPTRON)
    for other in (None, -1, 1e30, "x", [], {}, [{}], {"as_int": None}):
        for key in values[0]:
            changed = json.loads(text)
            changed["graph_module"]["graph"][key] = other
            try:
                aspenpy.parse(read_graph(str(save(changed, tmp_path))).text)
            except AspenError:
                continue
