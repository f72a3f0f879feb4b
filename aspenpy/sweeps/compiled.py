"""What compiled back ends have in common: which programs they take, arrays as flat lists, how kernels are called."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from aspenpy.sweeps.arrays import Doubt, Floats
from aspenpy.sweeps.program import BY_NUMPY, Loop, Op, Program

FLAGS = {"x86_64": 0x0D, "AMD64": 0x0D, "aarch64": 0x07, "arm64": 0x07}
"""By processor, the bits of <fenv.h> for invalid operations, division by zero and overflow."""

CONDITIONS = frozenset({"compare", "and", "or"})
"""Kinds whose values are conditions."""

LONGEST_TABLE = 4096
"""Elements of an array that is compiled into code."""


def flags() -> int | None:
    """The bits that tell whether arithmetic failed; None on a processor that nobody has looked up."""
    return FLAGS.get(platform.machine())


GIVEN = BY_NUMPY | {"draw", "stream"}
"""Kinds that code is always given."""

CALLS = GIVEN | {"log", "log2", "log10", "exp", "cbrt", "power", "mod"}
"""Kinds that are no single instruction: a loop with one of them is not done several points at a time."""


class Kernel(NamedTuple):
    """Compiled code for a program. `run` takes a contiguous column for each of the operations that are its `leaves`,
    and their length, gives a column for each root, and raises `Doubt` where anything in them may have failed."""

    leaves: tuple[int, ...]
    run: Callable[[Sequence[Floats], int], list[Floats]]


def leaves(program: Program) -> tuple[int, ...]:
    """What a kernel is given: the inputs, and those functions that NumPy computes well, unless most of the program
    would have to be done with NumPy for that."""
    inputs = tuple(place for place in program.straight if program.ops[place].kind == "input")
    calls = tuple(place for place in program.straight if program.ops[place].kind in CALLS)
    before = program.needed(calls)
    worth_it = 2 * len(before) <= len(program.straight) or any(program.ops[place].kind in GIVEN for place in calls)
    found = (*inputs, *calls) if worth_it else inputs
    needed = set(program.needed(program.roots, found))
    return tuple(place for place in found if place in needed)


class Flat(NamedTuple):
    """The elements of an array or table, row by row: floats, or places of operations."""

    shape: tuple[int, ...]
    elements: tuple[float | int, ...]


def flat(program: Program, place: int) -> Flat | None:
    """The elements of what is an array; None if it is none, or has rows of different lengths, or no elements."""
    op = program.ops[place]
    if op.kind == "constant" and isinstance(op.payload, tuple):
        return _joined([_flat_constant(element) for element in op.payload])
    if op.kind != "array":
        return None
    return _joined([flat(program, arg) if is_array(program, arg) else Flat((), (arg,)) for arg in op.args])


def is_array(program: Program, place: int) -> bool:
    op = program.ops[place]
    return op.kind == "array" or (op.kind == "constant" and isinstance(op.payload, tuple))


def _flat_constant(value: Any) -> Flat | None:
    return _joined([_flat_constant(element) for element in value]) if isinstance(value, tuple) else Flat((), (value,))


def _joined(rows: Sequence[Flat | None]) -> Flat | None:
    shapes = {None if row is None else row.shape for row in rows}
    if len(shapes) != 1 or None in shapes:
        return None
    found = [row for row in rows if row is not None]
    elements = tuple(element for row in found for element in row.elements)
    return Flat((len(rows), *found[0].shape), elements) if len(elements) <= LONGEST_TABLE else None


def compilable(program: Program) -> bool:
    """Whether it holds nothing but floats, conditions, and arrays that are written out and used element by element."""
    given = leaves(program)
    needed = [place for place in program.needed(program.roots, given) if place not in given]
    for place in needed:  # grows by the insides of loops
        op = program.ops[place]
        if op.kind == "sum":
            needed += op.payload.inside
        if not _known(program, op):
            return False
    return not any(is_array(program, root) for root in program.roots)


def _known(program: Program, op: Op) -> bool:
    if op.kind in GIVEN or op.kind == "failed":
        return False
    if op.kind == "index":
        array = flat(program, op.args[0])
        return array is not None and 0 < len(array.shape) == len(op.args) - 1 <= 2
    if op.kind == "lookup":
        values, sizes = (flat(program, arg) for arg in op.args[:2])
        return values is not None and sizes is not None and len(values.shape) == 1 and values.shape == sizes.shape
    return op.kind == "array" or not any(is_array(program, arg) for arg in _operands(op))


def _operands(op: Op) -> tuple[int, ...]:
    """What is computed with; the body of a sum may use arrays from outside."""
    return (op.args[0], op.payload.body) if isinstance(op.payload, Loop) else op.args


def called(function: Callable[..., int], given: tuple[int, ...], results: int, kept: object) -> Kernel:
    """A kernel that calls compiled code: count, a pointer a leaf, a pointer a result; what it returns is 0 where all
    went well. `kept` is what must not be thrown away as long as the code may be called."""
    pointer = ctypes.c_void_p

    def run(columns: Sequence[Floats], count: int) -> list[Floats]:
        assert kept is not None
        found = [numpy.empty(count) for _ in range(results)]
        if function(count, *(pointer(array.ctypes.data) for array in (*columns, *found))):
            raise Doubt
        return found

    return Kernel(given, run)


def signature(columns: int, results: int) -> Any:
    """The type of the compiled function for ctypes, which lets other threads run meanwhile."""
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * (columns + results))
