"""Limits of networks that are imported: what is refused before anything is inferred from it.

Shapes are inferred in C++, which follows what a file declares without a limit of its own: types that nest, functions
that call functions twice each, shapes that are joined with themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from aspenpy.language.diagnostics import fail

MOST_BYTES = 512 * 2**20
MOST_OPERATORS = 8_000  # of a model's text, which has a limit of its own
MOST_VALUES = 40_000  # tensors with a shape: five for each operator
MOST_NAMES = 400_000
MOST_AXES = 64
MOST_NESTED = 50  # braces and types of ONNX's text
MOST_CARRIED = 256
"""Elements of a tensor whose numbers are followed, since shapes depend on them: four of each axis, as `Pad` has two."""

MOST_FOLLOWED = 2_048  # the same, of one that `Concat` joins, and thus axes that a tensor may be found to have

_NESTING = re.compile(rb"\{|\b(?:seq|map|optional|sparse_tensor)\b")


def require_shallow(content: bytes, path: str) -> None:
    """Refuses text of ONNX whose reader, which calls itself, would have no end to its stack."""
    if sum(1 for _ in _NESTING.finditer(content)) > MOST_NESTED:
        fail("too-deep", f"`{path}` has more than {MOST_NESTED} braces and types that hold others")


def require_modest(graph: Any, path: str) -> None:
    """Refuses what is larger than a network is, and names that are no text; shapes of results follow from the rest."""
    if len(graph.node) > MOST_OPERATORS:
        fail("too-large", f"`{path}` has {len(graph.node):,} operators; a model has at most {MOST_OPERATORS:,}")
    values = [*graph.input, *graph.value_info, *graph.output]
    if len(values) + len(graph.initializer) > MOST_VALUES:
        number = len(values) + len(graph.initializer)
        fail("too-large", f"`{path}` has {number:,} tensors with a shape; a network has at most {MOST_VALUES:,}")
    axes = [(tensor.name, tensor.dims) for tensor in graph.initializer]
    axes += [(value.name, value.type.tensor_type.shape.dim) for value in values]
    for name, lengths in axes:
        if len(lengths) > MOST_AXES:
            fail(
                "too-large",
                f"`{quote_name(name)}` in `{path}` has {len(lengths)} axes; a tensor has at most {MOST_AXES}",
            )
    names = [name for name, _ in axes]
    names += [part.dim_param for value in values for part in value.type.tensor_type.shape.dim]
    names += [name for node in graph.node for name in (node.name, node.op_type, node.domain, *node.input, *node.output)]
    names += [
        word for tensor in graph.initializer for entry in tensor.external_data for word in (entry.key, entry.value)
    ]
    if len(names) > MOST_NAMES:
        fail("too-large", f"`{path}` has {len(names):,} names; a network has at most {MOST_NAMES:,}")
    if not all(isinstance(name, str) for name in names):
        fail("no-onnx", f"`{path}` is no network in ONNX: a name in it is no text")


def quote_name(text: Any) -> str:
    """A name for a message, a comment or a label: its beginning, in one line."""
    return "".join(sign if sign.isprintable() and sign not in '"`\\' else " " for sign in str(text)[:60])


# -- what is inferred ------------------------------------------------------------------------------

Functions = Mapping[tuple[str, str], Any]


def require_few_when_written_out(model: Any, path: str) -> None:
    """Refuses functions of a model that, written out at each call, have more operators than a model has, or that call
    themselves: shapes are inferred at each call anew."""
    functions: Functions = {(function.domain, function.name): function for function in model.functions}
    counts: dict[tuple[str, str], int] = {}

    def count(nodes: Iterable[Any], callers: tuple[tuple[str, str], ...]) -> int:
        total = 0
        for node in nodes:
            total += 1 + sum(count(graph.node, callers) for graph in _graphs_of(node))
            key = (node.domain, node.op_type)
            if key in functions:
                if key in callers or len(callers) > MOST_NESTED:
                    fail(
                        "too-deep",
                        f"function `{quote_name(node.op_type)}` of `{path}` calls itself, or others too deep",
                    )
                if key not in counts:
                    counts[key] = count(functions[key].node, (*callers, key))
                total += counts[key]
        return min(total, MOST_OPERATORS + 1)

    if count(model.graph.node, ()) > MOST_OPERATORS:
        fail("too-large", f"`{path}` has more than {MOST_OPERATORS:,} operators, with those of its functions")


def drop_numbers(model: Any, path: str) -> None:
    """Leaves out the numbers of weights: shapes and axes have at most `MOST_CARRIED`."""
    for tensor in model.graph.initializer:
        _drop_numbers_of(tensor)
    graphs = [model.graph, *model.functions]
    for graph in graphs:  # grows by those that its operators run
        for node in graph.node:
            graphs += _graphs_of(node)
            for item in node.attribute:
                _drop_numbers_of(item.t)
                if node.op_type == "Constant" and max(len(item.ints), len(item.floats)) > MOST_CARRIED:
                    fail("too-large", f"a constant of `{path}` has more than {MOST_CARRIED} numbers in a list")


def _drop_numbers_of(tensor: Any) -> None:
    if math.prod(tensor.dims) > MOST_CARRIED:
        for field in ("raw_data", "float_data", "double_data", "int32_data", "int64_data", "uint64_data"):
            tensor.ClearField(field)


def _graphs_of(node: Any) -> list[Any]:
    """The graphs that an operator runs, such as the branches of `If`."""
    graphs = [item.g for item in node.attribute if item.HasField("g")]
    return [*graphs, *(graph for item in node.attribute for graph in item.graphs)]


def follows_few_numbers(model: Any, unfollowed: Iterable[str]) -> bool:
    """Whether tensors whose numbers are followed stay short: `Concat` joins what it gets, and one that gets the same
    twice, again and again, doubles it. The numbers of `unfollowed` operators are not."""
    functions: Functions = {(function.domain, function.name): function for function in model.functions}
    without = frozenset(unfollowed)

    def longest(nodes: Iterable[Any], lengths: dict[str, int]) -> int:
        most = 0
        for node in nodes:
            given = [lengths.get(name, 0) for name in node.input]
            inner = [longest(graph.node, lengths) for graph in _graphs_of(node)]
            function = functions.get((node.domain, node.op_type))
            if function is not None:
                inner.append(longest(function.node, dict(zip(function.input, given, strict=False))))
            if node.op_type in ("Constant", "Shape"):
                here = MOST_CARRIED
            elif node.op_type in without:
                here = 0
            else:
                here = min(sum(given) if node.op_type == "Concat" else max([*given, *inner], default=0), 2**62)
            lengths |= dict.fromkeys(node.output, here)
            most = max(most, here, *inner)
        return most

    return longest(model.graph.node, {tensor.name: MOST_CARRIED for tensor in model.graph.initializer}) <= MOST_FOLLOWED
