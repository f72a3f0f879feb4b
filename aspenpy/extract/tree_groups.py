"""Cooperative groups of CUDA and HIP: threads of a block, of a tile of it and of the grid, as a kernel asks for them
itself (NVIDIA, CUDA C++ Programming Guide, "Cooperative Groups").

A reduction over a tile of n threads is log2(n) exchanges, each with an operation of every thread.
"""

from __future__ import annotations

import re
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.device_functions import AXES, INT, index_variable
from aspenpy.extract.group_headers import NAMESPACE
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import VOID, children_of
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span

_TILE = re.compile(r"thread_block_tile<(\d++)")
_EXCHANGES = ("shfl", "shfl_down", "shfl_up", "shfl_xor")


class DeviceGroups:
    """The calls of cooperative groups in one translation unit."""

    def __init__(self, unit: UnitState) -> None:
        self.unit = unit

    def read_call(
        self, cursor: Any, arguments: list[r.Expression], type: r.Type, span: Span | None
    ) -> r.Expression | None:
        """The record of a call; None for others."""
        target, name = cursor.referenced, str(cursor.referenced.spelling)
        owner = target.semantic_parent
        while owner is not None and owner.kind.name != "NAMESPACE":
            owner = owner.semantic_parent
        if owner is None or owner.spelling != NAMESPACE:
            return None
        group = _find_group(cursor)
        if name in ("sync", "reduce") and arguments and group is None:
            group = _spelling(next(iter(cursor.get_arguments())))
        group = group or ""
        if name == "sync":
            return self._read_barrier(group, span)
        if name in ("thread_rank", "size", "num_threads"):
            return self._read_place(group, name == "thread_rank", span)
        if name.startswith("meta_group"):
            block = index_variable("threadIdx" if name.endswith("rank") else "blockDim", "x", span)
            return r.Operation("/", (block, r.Constant(_width(group), INT)), INT, span)
        if name in _EXCHANGES and arguments:
            return exchange(arguments[0], name, span)
        if name in ("any", "all", "ballot"):
            return r.Several(tuple(arguments), INT, span=span)
        if name == "reduce" and len(arguments) == 3:
            return self._reduce(group, arguments[1], arguments[2], span)
        if name == "is_valid":
            return r.Constant(1, INT)
        if name in ("thread_index", "group_index"):
            self.unit.diagnostics.append(warning("not-counted", f"`{name}` is not read: `threadIdx` is", span))
        return r.Several((), type, span=span)

    def _read_barrier(self, group: str, span: Span | None) -> r.Expression:
        """A barrier of a block; one of a tile costs nothing, one of the grid lets blocks wait for each other."""
        if group.endswith("grid_group"):
            message = "a barrier of the whole grid counts as one of each block"
            hint = "that blocks wait for the last of them is not in the model"
            self.unit.diagnostics.append(warning("not-counted", message, span, hint=hint))
        return r.Call("device barrier", "sync" if _width(group) == 1 else "__syncwarp", (), VOID, span)

    def _read_place(self, group: str, is_rank: bool, span: Span | None) -> r.Expression:
        """The number of a thread in its group, or of the threads of the group."""
        if (width := _width(group)) > 1:
            number: r.Expression = r.Constant(width, INT)
            thread = index_variable("threadIdx", "x", span)
            return r.Operation("%", (thread, number), INT, span) if is_rank else number
        of_block = _along("threadIdx", "blockDim", span) if is_rank else _product_of("blockDim", span)
        if not group.endswith("grid_group"):
            return of_block
        block = _along("blockIdx", "gridDim", span) if is_rank else _product_of("gridDim", span)
        whole = r.Operation("*", (block, _product_of("blockDim", span)), INT, span)
        return r.Operation("+", (whole, of_block), INT, span) if is_rank else whole

    def _reduce(self, group: str, value: r.Expression, function: r.Expression, span: Span | None) -> r.Expression:
        """The value that a tile of threads reduces to, with an operation of each thread for each exchange."""
        width = _width(group)
        if width <= 1:
            message = "a reduction over threads that happen to be active counts as one operation"
            self.unit.diagnostics.append(warning("not-counted", message, span))
        held = r.Variable(f"reduced@{span}", "reduced", value.type, "local", span=span)
        steps: list[r.Expression] = [r.assign(held, value, span)]
        is_sum = not re.search(r"(?:less|greater)<", function.type.name)
        for _ in range(max(1, width.bit_length() - 1)):
            steps.append(r.Call("device shuffle", "reduce", (), VOID, span))
            if is_sum:
                steps.append(r.assign(held, held, span, operator="+"))
            else:
                test = r.Operation("<", (held, held), INT, span)
                steps.append(r.assign(held, r.Selection(test, held, held, value.type, span), span))
        return r.Several((*steps, held), value.type, span=span)


def exchange(value: r.Expression, name: str, span: Span | None) -> r.Expression:
    """A value that a thread has from another one of its warp."""
    return r.Several((r.Call("device shuffle", name, (), VOID, span), value), value.type, span=span)


def _spelling(cursor: Any) -> str:
    return str(cursor.type.get_canonical().spelling.removeprefix("const "))


def _find_group(cursor: Any) -> str | None:
    """The type of the group whose method is called; None for functions."""
    first = next(iter(children_of(cursor)), None)
    if first is None or first.kind.name != "MEMBER_REF_EXPR":
        return None
    inside = [child for child in children_of(first) if child.kind.is_expression()]
    while inside and inside[0].kind.name == "UNEXPOSED_EXPR" and (deeper := children_of(inside[0])):
        inside = deeper
    return _spelling(inside[0]) if inside else None


def _width(group: str) -> int:
    match = _TILE.search(group)
    return 1 if match is None else int(match[1])


def _product_of(name: str, span: Span | None) -> r.Expression:
    x, y, z = (index_variable(name, axis, span) for axis in AXES)
    return r.Operation("*", (r.Operation("*", (x, y), INT, span), z), INT, span)


def _along(index: str, extent: str, span: Span | None) -> r.Expression:
    """x + X (y + Y z): the number of a place."""
    x, y, z = (index_variable(index, axis, span) for axis in AXES)
    width, height, _ = (index_variable(extent, axis, span) for axis in AXES)
    rows = r.Operation("+", (y, r.Operation("*", (height, z), INT, span)), INT, span)
    return r.Operation("+", (x, r.Operation("*", (width, rows), INT, span)), INT, span)
