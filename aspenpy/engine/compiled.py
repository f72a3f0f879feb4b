"""Parts common to the compiled back ends: which programs can be compiled, arrays as flat lists, calls of kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from aspenpy.engine.arrays import Doubt, Floats
from aspenpy.engine.operation import Op, SumLoop, array_operands
from aspenpy.engine.program import Program
from aspenpy.expr.functions import FUNCTIONS, special_functions

CONDITIONS = frozenset({"compare", "and", "or"})  # kinds whose values are conditions
LONGEST_TABLE = 4096  # longest array that is compiled into code

GIVEN = frozenset(name for name in special_functions() if not FUNCTIONS[name].llvm) | {"draw", "stream"}
"""Kinds that NumPy computes for compiled code: the code for them would be long, and NumPy is fast enough."""

CALLS = GIVEN | {"log", "log2", "log10", "exp", "root", "power", "mod"}
"""Kinds that are calls: they keep a loop from being vectorised."""


class CompiledProgram(NamedTuple):
    """Compiled code for a program. `run` takes a contiguous column for each of the operations that are its `leaves`,
    and a contiguous array for each root, which it fills; it raises `Doubt` where anything in them may have failed."""

    leaves: tuple[int, ...]
    run: Callable[[Sequence[Floats], Sequence[Floats]], None]


def kernel_leaves(program: Program) -> tuple[int, ...]:
    """The operations whose values a kernel takes as columns: the inputs, and calls that NumPy computes, unless that
    would leave most of the program to NumPy."""
    calls = tuple(index for index in program.straight if program.ops[index].kind in CALLS)
    before = program.needed_operations(calls)
    worth_it = 2 * len(before) <= len(program.straight) or any(program.ops[index].kind in GIVEN for index in calls)
    given = (*program.given, *calls) if worth_it else tuple(program.given)
    needed = set(program.needed_operations(program.roots, given))
    return tuple(index for index in given if index in needed)


def is_condition(program: Program, index: int) -> bool:
    op = program.ops[index]
    return (
        op.kind in CONDITIONS or isinstance(op.payload, bool) or (op.kind == "if" and is_condition(program, op.args[1]))
    )


def condition_operands(program: Program, index: int) -> tuple[int, ...]:
    """The operands of an operation that are conditions."""
    op = program.ops[index]
    if op.kind == "if":
        return op.args if is_condition(program, index) else op.args[:1]
    return op.args if op.kind in ("and", "or") else ()


# -- arrays ----------------------------------------------------------------------------------------


class Elements(NamedTuple):
    """The elements of an array or table, row by row: floats, or places of operations."""

    shape: tuple[int, ...]
    elements: tuple[float | int, ...]

    @property
    def computed(self) -> bool:
        """Whether any element is not a constant."""
        return not all(isinstance(element, float) for element in self.elements)


def flatten_array(program: Program, index: int) -> Elements | None:
    """The elements of an array; None for other operations, for rows of different lengths, and for arrays without
    elements."""
    op = program.ops[index]
    if op.kind == "constant" and isinstance(op.payload, tuple):
        return _join_rows([_constant_elements(element) for element in op.payload])
    if op.kind != "array":
        return None
    rows = [
        flatten_array(program, arg) if is_array(program, arg) else Elements((), (_element_at(program, arg),))
        for arg in op.args
    ]
    return _join_rows(rows)


def _element_at(program: Program, index: int) -> float | int:
    op = program.ops[index]
    return op.payload if op.kind == "constant" else index


def is_array(program: Program, index: int) -> bool:
    op = program.ops[index]
    return op.kind == "array" or (op.kind == "constant" and isinstance(op.payload, tuple))


def _constant_elements(value: Any) -> Elements | None:
    return (
        _join_rows([_constant_elements(part) for part in value]) if isinstance(value, tuple) else Elements((), (value,))
    )


def _join_rows(rows: Sequence[Elements | None]) -> Elements | None:
    shapes = {None if row is None else row.shape for row in rows}
    if len(shapes) != 1 or None in shapes:
        return None
    tables = [row for row in rows if row is not None]
    elements = tuple(element for row in tables for element in row.elements)
    return Elements((len(rows), *tables[0].shape), elements) if len(elements) <= LONGEST_TABLE else None


def is_compilable(program: Program) -> bool:
    """Whether the program has only floats, conditions, and written-out arrays that are used element by element."""
    given = kernel_leaves(program)
    needed = [index for index in program.needed_operations(program.roots, given) if index not in given]
    return why_unwritable(program, needed) is None and GIVEN.isdisjoint(program.ops[index].kind for index in needed)


def why_unwritable(program: Program, indices: Sequence[int]) -> str | None:
    """Why some operations have no form in C or the like; None where they have one."""
    needed = list(indices)
    for index in needed:  # grows by the insides of loops
        op = program.ops[index]
        if op.kind == "sum":
            needed += op.payload.inside
        reason = _why_operation_unwritable(program, op)
        if reason is not None:
            return reason
    as_value = any(is_array(program, root) for root in program.roots)
    return "an array as a value has no form in C" if as_value else None


def _why_operation_unwritable(program: Program, op: Op) -> str | None:
    if not array_operands(op):
        as_value = op.kind != "array" and any(is_array(program, arg) for arg in _operands(op))
        return "an array as a value has no form in C" if as_value else None
    if not all(is_array(program, arg) for arg in array_operands(op)):
        return "an array has a form in C only where its elements are written out"
    tables = [flatten_array(program, arg) for arg in array_operands(op)]
    shapes = [table.shape for table in tables if table is not None]
    if len(shapes) < len(tables):
        return f"a table has a form in C only where its rows have the same length, {LONGEST_TABLE} elements in all"
    if op.kind == "lookup":
        fine = len(shapes[0]) == 1 and shapes[0] == shapes[1]
        return None if fine else "lookup has a form in C only for as many values as sizes"
    return None if len(shapes[0]) == len(op.args) - 1 <= 2 else "a row of a table has no form in C"


def _operands(op: Op) -> tuple[int, ...]:
    """The operands that are used as values; the body of a sum may use arrays from outside."""
    return (op.args[0], op.payload.body) if isinstance(op.payload, SumLoop) else op.args


# -- kernels ---------------------------------------------------------------------------------------


def make_kernel(function: Callable[..., int], given: tuple[int, ...], kept: object) -> CompiledProgram:
    """A kernel that calls compiled code: count, one pointer for each leaf and each result; it returns 0 if all results
    are finite. `kept` holds the code in memory as long as the kernel lives."""
    pointer = ctypes.c_void_p

    def run(columns: Sequence[Floats], results: Sequence[Floats]) -> None:
        assert kept is not None
        count, arrays = results[0].size, (*columns, *results)
        if any(array.size != count or not array.flags.c_contiguous for array in arrays):
            raise ValueError("compiled code takes contiguous columns, as long as its results")
        if function(count, *(pointer(array.ctypes.data) for array in arrays)):
            raise Doubt

    return CompiledProgram(given, run)


def call_signature(columns: int, results: int) -> Any:
    """The type of the compiled function for ctypes, which lets other threads run meanwhile."""
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * (columns + results))
