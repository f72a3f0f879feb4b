"""Programs of `torch.export`, read without PyTorch: JSON in a ZIP archive, of the schema torch/_export/serde/schema.py.

Operators are those of ATen, which become the operators of ONNX that do the same; the rest is as in `onnx_graph`.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from types import SimpleNamespace
from typing import Any

from aspenpy.extract.network_limits import MOST_BYTES, require_modest
from aspenpy.extract.onnx_graph import GraphText, ImportedNetwork, read_onnx
from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_standard_input, read_whole_file
from aspenpy.language.schema import parse_json

MOST_MEMBERS = 20_000  # of an archive: a file for each weight
MOST_GRAPH = 64 * 2**20  # bytes of the graph
MOST_PARTS = 4_000_000  # its values, each of which takes up to 240 bytes once read; 100 of an operator are many

TYPES = {
    1: "UINT8", 2: "INT8", 3: "INT16", 4: "INT32", 5: "INT64", 6: "FLOAT16", 7: "FLOAT", 8: "DOUBLE", 12: "BOOL",
    13: "BFLOAT16", 28: "UINT16", 29: "FLOAT8E4M3FN", 30: "FLOAT8E5M2",
}  # fmt: skip
"""ONNX's names of the schema's ScalarType."""

KINDS = {
    name: kind
    for kind, names in {
        "Gemm": "linear addmm", "MatMul": "mm bmm matmul baddbmm", "Attention": "scaled_dot_product_attention "
        "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
        "_scaled_dot_product_flash_attention_for_cpu",
        "Conv": "convolution conv1d conv2d conv3d", "Gather": "embedding index_select gather index",
        "Add": "add add_", "Sub": "sub sub_ rsub", "Mul": "mul mul_", "Div": "div div_", "Neg": "neg", "Abs": "abs",
        "Relu": "relu relu_", "Clip": "clamp clamp_min hardtanh hardtanh_ relu6", "LeakyRelu": "leaky_relu leaky_relu_",
        "Elu": "elu", "Gelu": "gelu", "Silu": "silu silu_", "Sigmoid": "sigmoid", "HardSigmoid": "hardsigmoid",
        "HardSwish": "hardswish hardswish_", "Tanh": "tanh", "Exp": "exp", "Log": "log", "Sqrt": "sqrt rsqrt",
        "Pow": "pow", "Sin": "sin", "Cos": "cos", "Erf": "erf", "Reciprocal": "reciprocal", "Max": "maximum",
        "Min": "minimum", "Equal": "eq ne", "Less": "lt le", "Greater": "gt ge", "Softmax": "softmax _softmax",
        "LogSoftmax": "log_softmax _log_softmax", "LayerNormalization": "layer_norm native_layer_norm",
        "GroupNormalization": "group_norm native_group_norm", "RMSNormalization": "rms_norm",
        "BatchNormalization": "batch_norm _native_batch_norm_legit_no_training _native_batch_norm_legit",
        "ReduceMean": "mean", "ReduceSum": "sum", "ReduceMax": "amax max", "ReduceMin": "amin min", "ArgMax": "argmax",
        "CumSum": "cumsum", "GlobalAveragePool": "adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d",
        "MaxPool": "max_pool1d max_pool2d max_pool2d_with_indices", "AveragePool": "avg_pool1d avg_pool2d",
        "Concat": "cat stack", "Where": "where masked_fill", "Cast": "_to_copy to", "Pad": "constant_pad_nd pad",
        "Tile": "repeat", "Transpose": "clone contiguous copy copy_ fill full_like", "Not": "logical_not bitwise_not",
        "And": "logical_and bitwise_and", "Trilu": "tril triu", "Range": "arange", "TopK": "topk",
        "Reshape": "view _unsafe_view reshape permute transpose t unsqueeze squeeze expand slice select split "
        "split_with_sizes chunk flatten unflatten detach alias dropout lift_fresh_copy full ones zeros unbind movedim",
    }.items()
    for name in names.split()
}  # fmt: skip
"""The operator of ONNX by that of ATen. What PyTorch transposes, slices and expands is a view of the data."""

FACTORS_FIRST = {"addmm": ("mat1", "mat2", "self"), "baddbmm": ("batch1", "batch2")}
"""Arguments in the order of ONNX, where ATen's is another."""


def read_graph(path: str) -> ImportedNetwork:
    """The model of a network in ONNX, or of an exported program of PyTorch, which is a ZIP archive; `-` is text of ONNX
    on standard input.

    :raises AspenError: where the file cannot be read, is no network, or is larger than a model may be
    """
    content = read_standard_input().encode() if path == "-" else read_whole_file(path, MOST_BYTES)
    return read_exported_program(content, path) if content[:4] == b"PK\3\4" else read_onnx(content, path)


def read_exported_program(content: bytes, path: str) -> ImportedNetwork:
    """The model of a program that `torch.export.save` wrote.

    :raises AspenError: where the archive cannot be read or has no graph
    """
    program = _read_program(content, path)
    try:
        return _write(program["graph_module"]["graph"], path)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        fail("no-program", f"`{path}` is no exported program, or a part of one: {type(error).__name__} {error}"[:200])


def _write(graph: Any, path: str) -> ImportedNetwork:
    """The model of a graph, which is turned into one of ONNX."""
    values = {name: _value(name, meta) for name, meta in graph["tensor_values"].items()}
    ends = [[name for item in graph[end] for name in _tensors(item)] for end in ("inputs", "outputs")]
    first, last = ([values[name] for name in dict.fromkeys(names)] for names in ends)
    nodes = [node for node in map(_node, graph["nodes"]) if node.output]
    network = SimpleNamespace(node=nodes, initializer=[], value_info=list(values.values()), input=first, output=last)
    require_modest(network, path)
    return GraphText(SimpleNamespace(graph=network), path, TYPES, "exported from PyTorch").write()


def _read_program(content: bytes, path: str) -> Any:
    if content.count(b"PK\1\2") > MOST_MEMBERS:  # what a member of the directory begins with
        fail("too-large", f"`{path}` has more than {MOST_MEMBERS:,} members")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return parse_json(_read_graph(archive, path).decode())
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        fail("no-program", f"`{path}` is no archive with an exported program: {str(error)[:200]}")


def _read_graph(archive: zipfile.ZipFile, path: str) -> bytes:
    """The graph's text, which is no longer than a graph is, whatever size the archive states."""
    members = [item for item in archive.infolist() if _has_graph(item.filename.split("/"))]
    if len(members) != 1:
        fail("no-program", f"`{path}` has {len(members)} graphs; an exported program has one")
    if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fail("no-program", f"the graph of `{path}` is compressed in a way that PyTorch does not use")
    with archive.open(members[0]) as member:
        text = member.read(MOST_GRAPH + 1)
    if len(text) > MOST_GRAPH or sum(map(text.count, (b",", b"[", b"{"))) > MOST_PARTS:
        fail("too-large", f"the graph of `{path}` has more than {MOST_GRAPH >> 20} MiB or {MOST_PARTS:,} values")
    return text


def _has_graph(path: list[str]) -> bool:
    """Whether a member of an archive has the graph: until PyTorch 2.6, and in archives of PT2 since."""
    return path[-1] == "serialized_exported_program.json" or (path[-2:-1] == ["models"] and path[-1].endswith(".json"))


class _Message(SimpleNamespace):
    """Fields as those of ONNX's messages, of which some may be absent."""

    def HasField(self, name: str) -> bool:
        return getattr(self, name) is not None


def _value(name: str, meta: Any) -> Any:
    shape = SimpleNamespace(dim=[_length(size) for size in meta["sizes"]])
    return SimpleNamespace(name=name, type=SimpleNamespace(tensor_type=_Message(elem_type=meta["dtype"], shape=shape)))


SYMBOL = re.compile(r"Symbol\('(\w++)'[^()]*+\)|([A-Za-z_]\w*+)")


def _length(size: Any) -> _Message:
    """A number, a symbol, or an expression of symbols, which becomes a parameter of its own."""
    if "as_int" in size:
        return _Message(dim_value=int(size["as_int"]), dim_param="")
    found = SYMBOL.fullmatch(size["as_expr"]["expr_str"])
    return _Message(dim_value=None, dim_param="" if found is None else found[1] or found[2])


def _tensors(argument: Any) -> list[str]:
    """The names of the tensors in an argument."""
    for kind, value in argument.items():
        if kind == "as_tensor":
            return [value["name"]]
        if kind == "as_tensors":
            return [item["name"] for item in value]
        if kind == "as_optional_tensors":
            return [name for item in value for name in _tensors(item)]
    return []


def _node(node: Any) -> Any:
    words = node["target"].split(".")
    name = words[3] if words[:3] == ["torch", "ops", "aten"] else ".".join(words[-2:])
    given = {item["name"]: item["arg"] for item in node["inputs"]}
    order = [part for part in FACTORS_FIRST.get(name, ()) if part in given] or given
    kind = KINDS.get(name, name)
    if name == "convolution" and given.get("transposed", {}).get("as_bool"):
        kind = "ConvTranspose"
    window = given.get("kernel_size", {}).get("as_ints", [])
    output = [name for item in node["outputs"] for name in _tensors(item)]
    return SimpleNamespace(
        op_type=kind,
        domain="",
        name=output[0] if output else "",
        input=[tensor for part in order for tensor in _tensors(given[part])],
        output=output,
        attribute=[SimpleNamespace(name="kernel_shape", ints=list(map(int, window)), i=0)] if window else [],
    )
