"""Networks in ONNX, the Open Neural Network Exchange: an application model with a kernel for each operator.

Products have their flops by shape and the tiles of `gemm`, elementwise operators what `ELEMENTWISE` says, and all the
bytes that they read and write once; operations on whole numbers other than products are left out. What operators mean:
ONNX, "Operator schemas". What the file does not say becomes a parameter: symbolic dimensions, shapes that cannot be
inferred, flops of operators that are not known. The numbers of weights are not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aspenpy.extract.network_limits import (
    MOST_AXES,
    drop_numbers,
    follows_few_numbers,
    quote_name,
    require_few_when_written_out,
    require_modest,
    require_shallow,
)
from aspenpy.extract.scope import Names
from aspenpy.language.diagnostics import Diagnostic, fail, warning
from aspenpy.language.format import format_text
from aspenpy.language.source import Source
from aspenpy.record import Record

MOST_ELEMENTS = 10**15
MOST_OPEN = 2_000  # parameters

TYPES = {
    "FLOAT": ("4", "sp"), "DOUBLE": ("8", "dp"), "FLOAT16": ("2", "fp16"), "BFLOAT16": ("2", "bf16"),
    **dict.fromkeys("FLOAT8E4M3FN FLOAT8E5M2".split(), ("1", "fp8")),
    **dict.fromkeys("INT8 UINT8".split(), ("1", "int8")), "BOOL": ("1", ""),
    **dict.fromkeys("INT16 UINT16".split(), ("2", "")), **dict.fromkeys("INT32 UINT32".split(), ("4", "")),
    **dict.fromkeys("INT64 UINT64".split(), ("8", "")), **dict.fromkeys("INT4 UINT4 FLOAT4E2M1".split(), ("1/2", "")),
}  # fmt: skip
"""Bytes of an element, and the trait of its precision: none where flops are not counted."""

ELEMENTWISE = {
    name: counts
    for names, counts in (
        ("Add Sub Mul Neg Abs Relu Max Min Floor Ceil Round Sign Sum PRelu", (1, 0)),
        ("Equal Less Greater LessOrEqual GreaterOrEqual", (1, 0)),
        ("LeakyRelu Clip BatchNormalization", (2, 0)),
        ("Div Sqrt Reciprocal Exp Log Pow Sin Cos Mod", (0, 1)),
        ("Elu", (2, 1)),
        ("Sigmoid Softplus", (1, 2)),
        ("Tanh Silu", (2, 2)),
        ("HardSigmoid RMSNormalization", (4, 0)),
        ("HardSwish", (5, 0)),
        ("Erf", (11, 2)),
        ("Gelu", (14, 2)),
        ("Softmax LogSoftmax", (3, 2)),
        ("LayerNormalization InstanceNormalization GroupNormalization", (7, 0)),
    )
    for name in names.split()
}
"""Flops of an element of the result; and its divisions, roots, exponentials, which GPUs begin as rarely (`attend` of
transformer_training). An error function is formula 7.1.26 of Abramowitz and Stegun; a norm has a mean, differences,
squares and their mean, and a factor, a scale and a shift of each."""

REDUCING = (
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ArgMax ArgMin GlobalAveragePool GlobalMaxPool CumSum".split()
)
"""A flop for each element that is read."""

CHOOSING = "Gather GatherElements GatherND Slice Expand".split()
"""What is read is as large as the result."""

MOVING = (
    "Transpose Concat Split Pad Cast Tile Where Resize DepthToSpace SpaceToDepth Not And Or ScatterND ScatterElements "
    "Range Trilu DequantizeLinear QuantizeLinear OneHot NonZero TopK"
).split()

VIEWS = "Reshape Flatten Squeeze Unsqueeze Identity Shape Size Constant ConstantOfShape Dropout".split()
"""Views of data that lie there, and what is known before a run: nothing is moved."""


class ImportedNetwork(Record):
    """The model of a network: its text, how many operators it has, and the names of parameters that the file left
    open, with what is said of them."""

    text: str
    operators: int
    open: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    def to_aspen(self) -> str:
        """The text of the model."""
        return self.text


class ElementCount(Record):
    """A number of elements: a whole number times symbols."""

    number: int = 1
    symbols: tuple[str, ...] = ()

    def times(self, other: ElementCount) -> ElementCount:
        return multiply((self, other))

    def __str__(self) -> str:
        factors = [*([] if self.number == 1 and self.symbols else [str(self.number)]), *self.symbols]
        return "*".join(factors)


def multiply(lengths: Sequence[ElementCount]) -> ElementCount:
    symbols = [symbol for length in lengths for symbol in length.symbols]
    return ElementCount(math.prod(length.number for length in lengths), tuple(sorted(symbols)))


def read_onnx(content: bytes, path: str) -> ImportedNetwork:
    """The model of a network in ONNX, in its binary form or its text.

    :raises AspenError: where it is no network, or is larger than a model may be
    """
    model = _parse(content, path)
    require_modest(model.graph, path)
    _refuse_outside(model.graph, path)
    import onnx

    types = {number: name for name, number in onnx.TensorProto.DataType.items()}
    return GraphText(_infer_shapes(model, path), path, types, "in ONNX").write()


def _parse(content: bytes, path: str) -> Any:
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        text = "networks are read by onnx, which is not installed: pip install 'aspenpy[onnx]'"
        # A message begins with its first field, the version, and a text with the same in angle brackets.
        known = content[:1] == b"\x08" or content.lstrip()[:1] == b"<"
        fail("missing-onnx", text if known else f"`{path}` does not begin as a network in ONNX does; {text}")
    try:
        if content.lstrip()[:1] == b"<":
            require_shallow(content, path)
            model = onnx.parser.parse_model(content.decode())
        else:
            model = onnx.load_model_from_string(content)
    except (DecodeError, UnicodeDecodeError, onnx.parser.ParseError) as error:
        reason = " ".join(str(error).split())[:200]
        fail("no-onnx", f"`{path}` is no network in ONNX, or a part of one: {reason}")
    if not model.graph.node:
        fail("no-onnx", f"`{path}` is no network in ONNX: it has no operators")
    return model


def _refuse_outside(graph: Any, path: str) -> None:
    """Refuses weights in files that lie elsewhere, although they are not read: such a file is not what it seems."""
    for tensor in graph.initializer:
        location = {entry.key: entry.value for entry in tensor.external_data}.get("location", "")
        parts = location.replace("\\", "/").split("/")
        if ".." in parts or location[:1] in ("/", "\\") or ":" in parts[0]:
            names = f"`{quote_name(tensor.name)}` of `{path}`", f"`{quote_name(location)}`"
            message = f"weight {names[0]} lies outside of its folder: {names[1]}"
            fail("outside-folder", message, hint="weights lie beside the network, or below its folder")


def _infer_shapes(model: Any, path: str) -> Any:
    """The model with the shapes of all results that can be inferred, without the numbers of its weights."""
    import onnx

    require_few_when_written_out(model, path)
    drop_numbers(model, path)
    followed = follows_few_numbers(model, PRODUCTS)
    for domain in {node.domain for node in model.graph.node} - {opset.domain for opset in model.opset_import}:
        model.opset_import.add(domain=domain, version=1)  # inference leaves operators alone that it does not know
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=followed)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        fail("no-shapes", f"shapes of `{path}` do not agree: {reason}")


class GraphText:
    """The text of a graph's model, operator by operator."""

    def __init__(self, model: Any, path: str, types: Mapping[int, str], origin: str) -> None:
        self.graph, self.path, self.types, self.origin = model.graph, path, types, origin
        self.names = Names()
        self.names.taken |= {"main", "ranks", "tile"}
        self.parameters: dict[str, tuple[str, str, str]] = {}  # by what it stands for: name, value, comment
        self.data: dict[str, str] = {}
        self.shapes: dict[str, tuple[ElementCount, ...]] = {}
        self.type_of: dict[str, str] = {}
        self.unknown: dict[str, int] = {}
        for tensor in self.graph.initializer:
            self.type_of[tensor.name] = self.types.get(tensor.data_type, "")
            self.shapes[tensor.name] = tuple(self._length(length, tensor.name) for length in tensor.dims)
        for value in (*self.graph.input, *self.graph.value_info, *self.graph.output):
            self._take_down(value)
        for value in (*self.graph.initializer, *self.graph.input, *self.graph.output):
            if value.name not in self.data:
                self.data[value.name] = self.names.make_unique(value.name[:40])

    def _length(self, length: int, name: str) -> ElementCount:
        if not 0 <= length <= MOST_ELEMENTS:
            message = f"an axis of `{quote_name(name)}` in `{self.path}` is {length:.0e} long"
            fail("too-large", message, hint=f"lengths from 0 to {MOST_ELEMENTS:.0e} are read")
        return ElementCount(length)

    def _take_down(self, value: Any) -> None:
        tensor = value.type.tensor_type
        self.type_of[value.name] = self.types.get(tensor.elem_type, "")
        if not tensor.HasField("shape"):
            return
        self.shapes[value.name] = tuple(
            self._length(part.dim_value, value.name)
            if part.HasField("dim_value")
            else self._symbol(part.dim_param or f"{value.name}_{at}", f"axis {at} of `{quote_name(value.name)}`")
            for at, part in enumerate(tensor.shape.dim)
        )

    def _symbol(self, key: str, comment: str, value: str = "1 in 1 .. 1e9") -> ElementCount:
        """The parameter that stands for what the file leaves open."""
        if key not in self.parameters:
            if len(self.parameters) == MOST_OPEN:
                fail("too-large", f"`{self.path}` leaves more than {MOST_OPEN:,} lengths and amounts open")
            name = self.names.make_unique(key[:40])
            self.parameters[key] = (name, value, comment)
        return ElementCount(symbols=(self.parameters[key][0],))

    def elements(self, name: str, first: int = 0) -> ElementCount:
        """All elements of a tensor, or those of its axes from one on."""
        shape = self.shapes.get(name)
        if shape is None:
            ending = f"_from_axis_{first}" if first else "_elements"
            return self._symbol(f"{name}{ending}", f"elements of `{quote_name(name)}`, whose shape is not inferred")
        product = multiply(shape[first:])
        if product.number > MOST_ELEMENTS:
            message = f"`{quote_name(name)}` in `{self.path}` has {product.number:.0e} elements"
            fail("too-large", message, hint=f"at most {MOST_ELEMENTS:.0e} are read")
        return product

    def axis(self, name: str, which: int) -> ElementCount:
        """The length of an axis, counted from the last."""
        shape = self.shapes.get(name, ())
        if len(shape) >= -which:
            return shape[which]
        return self._symbol(f"{name}_axis{-which}", f"an axis of `{quote_name(name)}`, whose shape is not inferred")

    def _word(self, name: str) -> str:
        """Bytes of an element."""
        kind = self.type_of.get(name, "")
        known = TYPES.get(kind)
        if known:
            return known[0]
        comment = f"bytes of an element of {kind or 'a type that is not inferred'}"
        return str(self._symbol(f"word_{kind}".rstrip("_"), comment, "4 in 1 .. 64"))

    # -- operators ---------------------------------------------------------------------------------

    def write(self) -> ImportedNetwork:
        """The whole model."""
        kernels, calls = [], []
        for number, node in enumerate(self.graph.node):
            lines = [*self._requirements(node)]
            if lines:
                name = self.names.make_unique(f"{node.op_type.lower()[:40]}_{number}")
                label = quote_name(node.name).replace("  ", " ").strip() or quote_name(node.op_type)
                head = f'execute [ranks] of [{self._width(node)}] "{label}"'
                kernels.append(f"kernel {name} {{ {head} {{\n" + "\n".join(lines) + "\n} }\n")
                calls.append(f"call {name}")
        data = [
            f"data {legal} as Array({', '.join(map(str, self.shapes.get(name) or [self.elements(name)]))}, "
            f"{self._word(name)})"
            for name, legal in self.data.items()
        ]
        ranks = "param ranks = 1 in 1 .. 1e6  // equal parts of each operator: 1 on a GPU, on a CPU one for each core"
        tile = "param tile = 64 in 16 .. 1024  // rows and columns of a product that a multiprocessor does: see gemm"
        given = [f"param {name} = {value}  // {comment}" for name, value, comment in self.parameters.values()]
        model = self.names.make_unique(self.path.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0][:40])
        head = f"// {len(kernels)} operators of a network {self.origin}; views of data are left out. Made by aspenpy."
        main = "kernel main {\n" + "\n".join(calls) + "\n}\n"
        body = "\n".join([ranks, tile, *given, "", *data, "", *kernels, main])
        text = format_text(Source(f"{head}\n\nmodel {model} {{\n{body}}}\n", f"<{self.path}>"))
        left = tuple(name for name, *_ in self.parameters.values())
        hint = "its flops are a parameter of the model, 0 until it is set"
        told = [f"operator `{quote_name(name)}` is not known, {count} of them" for name, count in self.unknown.items()]
        diagnostics = tuple(warning("unknown-operator", f"{text} in `{self.path}`", hint=hint) for text in told)
        return ImportedNetwork(text, len(kernels), left, diagnostics)

    def _width(self, node: Any) -> str:
        """Threads of an elementwise operator, tiles of a product: of the last two dimensions of its result, or of the
        pixels and channels of a convolution."""
        result = next(name for name in node.output if name)
        shape = self.shapes.get(result)
        if node.op_type not in PRODUCTS or not shape:
            return str(self.elements(result))
        rows, columns, others = ElementCount(), shape[-1], shape[:-1]
        if "Conv" in node.op_type and len(shape) > 1:
            rows, columns, others = multiply([shape[0], *shape[2:]]), shape[1], ()
        elif others:
            rows, others = others[-1], others[:-1]
        each = multiply(others)
        return f"ceil({rows}/tile)*ceil({columns}/tile)" + ("" if each == ElementCount() else f"*{each}")

    def _requirements(self, node: Any) -> Iterator[str]:
        if node.op_type in VIEWS:
            return
        read = [name for name in dict.fromkeys(node.input) if name]
        written = [name for name in node.output if name]
        needed = PRODUCTS[node.op_type][1] if node.op_type in PRODUCTS else 0
        if not written or len(node.input) < max(needed, node.op_type in {*REDUCING, *CHOOSING}):
            fail(
                "no-onnx",
                f"operator `{quote_name(node.name or node.op_type)}` of `{self.path}` lacks inputs or outputs",
            )
        trait = TYPES.get(next(filter(None, map(self.type_of.get, [*read, *written])), ""), ("", ""))[1]
        yield from self._flops(node, trait)
        for at, name in enumerate(read):
            chosen = node.op_type in CHOOSING and at == 0
            yield self._transfer("loads", self.elements(written[0] if chosen else name), name, "from")
        for name in written:
            yield self._transfer("stores", self.elements(name), name, "to")

    def _transfer(self, resource: str, amount: ElementCount, name: str, word: str) -> str:
        where = f" {word} {self.data[name]}" if name in self.data else ""
        return f"{resource} [{amount}/ranks] of size [{self._word(name)}]{where}"

    def _flops(self, node: Any, trait: str) -> Iterator[str]:
        kind, result = node.op_type, self.elements(next(name for name in node.output if name))
        if kind in PRODUCTS:
            for pairs in PRODUCTS[kind][0](self, node):
                what = f"[{ElementCount(2).times(pairs)}/ranks]"
                yield f"flops {what} as tensor, {trait}, simd, fmad" if trait else f"intops {what}"
            has_bias = kind in ("Gemm", "Conv", "ConvTranspose") and len(node.input) > 2 and node.input[2]
            counts, divisions = (1, 0) if has_bias else (0, 0)
        elif kind in ELEMENTWISE:
            counts, divisions = ELEMENTWISE[kind]
        elif kind in REDUCING:
            counts, divisions, result = 1, 0, self.elements(node.input[0])
        elif kind in ("MaxPool", "AveragePool"):
            window = [self._length(length, node.name).number for length in _attribute(node, "kernel_shape")[:MOST_AXES]]
            counts, divisions = math.prod(window), 0
        elif kind in {*MOVING, *CHOOSING}:
            return
        else:
            self.unknown[kind] = self.unknown.get(kind, 0) + 1
            each = self._symbol(
                f"flops_of_{kind}", f"flops of an element that `{quote_name(kind)}` gives", "0 in 0 .. 1e9"
            )
            yield f"flops [{result.times(each)}/ranks] as {trait or 'sp'}, simd"
            return
        if kind == "Attention":
            (counts, divisions), result = ELEMENTWISE["Softmax"], _scores(self, node)
        if counts and trait:
            yield f"flops [{ElementCount(counts).times(result)}/ranks] as {trait}, simd"
        if divisions and trait:
            yield f"flops [{ElementCount(divisions).times(result)}/ranks] as divide, {trait}, simd"


def _attribute(node: Any, name: str) -> tuple[int, ...]:
    """The whole numbers of an attribute; none where it is not there."""
    return next((tuple(item.ints) or (item.i,) for item in node.attribute if item.name == name), ())


def _of_rows(graph: GraphText, node: Any) -> tuple[ElementCount, ...]:
    depth = graph.axis(node.input[0], -2 if _attribute(node, "transA") == (1,) else -1)
    return (graph.elements(node.output[0]).times(depth),)


def _scores(graph: GraphText, node: Any) -> ElementCount:
    """Pairs of a query and a key."""
    queries = multiply(graph.shapes.get(node.input[0], ())[:-1])
    return queries.times(graph.axis(node.input[1], -2))


def _of_attention(graph: GraphText, node: Any) -> tuple[ElementCount, ...]:
    """Products of queries with keys, and of scores with values; what a mask leaves out is computed."""
    scores = _scores(graph, node)
    return tuple(scores.times(graph.axis(name, -1)) for name in (node.input[1], node.input[2]))


def _of_window(graph: GraphText, node: Any) -> tuple[ElementCount, ...]:
    """A convolution: taps and input channels of a group for each number of the result."""
    weights = node.input[3 if node.op_type.startswith("Q") else 1]
    return (graph.elements(node.output[0]).times(graph.elements(weights, first=1)),)


def _of_scattered_window(graph: GraphText, node: Any) -> tuple[ElementCount, ...]:
    """A transposed convolution: taps and output channels of a group for each number of the input."""
    return (graph.elements(node.input[0]).times(graph.elements(node.input[1], first=1)),)


def _of_steps(graph: GraphText, node: Any) -> tuple[ElementCount, ...]:
    """A recurrent layer: weights of inputs and of what is remembered, for each step of each sequence."""
    steps = graph.axis(node.input[0], -3).times(graph.axis(node.input[0], -2))
    return tuple(steps.times(graph.elements(weights)) for weights in node.input[1:3])


PRODUCTS = {
    **dict.fromkeys(("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul"), (_of_rows, 2)),
    **dict.fromkeys(("Conv", "ConvInteger"), (_of_window, 2)),
    "QLinearConv": (_of_window, 4),
    "ConvTranspose": (_of_scattered_window, 2),
    "Attention": (_of_attention, 3),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (_of_steps, 3)),
}
"""By the operator the function of its multiply-adds, and how many inputs it needs."""
