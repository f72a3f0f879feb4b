"""Work: a study cut into stretches, and the worker that computes them, in this process or another.

A stretch is computed block by block on a sheet: one program over one grid. What depends on some of the dimensions only
is computed once for all of them, and the blocks take their part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from threading import Lock
from typing import Any, NamedTuple

import numpy

from aspenpy.allowance import Allowance, spending
from aspenpy.engine.arrays import (
    Careful,
    ComputedArrays,
    Doubt,
    EvaluationOrder,
    Fast,
    Floats,
    Reasons,
    loop_operations,
)
from aspenpy.engine.backends import BACKENDS, Backend
from aspenpy.engine.compiled import CompiledProgram
from aspenpy.engine.program import Program, unroll_loops
from aspenpy.expr import graph
from aspenpy.expr.array_rules import ConstantArray
from aspenpy.expr.failures import FINE, NoOperationsLeft, TooMuchWork, spend
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail

Slices = tuple[slice, ...]

LARGEST_SHARED = 1 << 21  # places over which an operation is computed once for all blocks
LEAST_SHARING = 16  # times that a value is used again, below which it is computed in each block


class PointSheet:
    """`columns` has for each input of the program its dimension and its values along it; a kernel computes the
    program from its leaves on. `loops` computes the operations that its loops without a closed form take at a point,
    which are spent before it runs; NumPy spends them pass by pass."""

    def __init__(
        self,
        program: Program,
        shape: Sequence[int],
        columns: Sequence[tuple[int, Floats]],
        kernel: CompiledProgram | None = None,
        loops: PointSheet | None = None,
    ) -> None:
        self.program, self.shape, self.kernel, self.loops = program, tuple(shape), kernel, loops
        self._dimensions = [dimension for dimension, _ in columns]
        inputs = [_spread_along(dimension, values, len(self.shape)) for dimension, values in columns]
        self._inputs = {index: inputs[number] for index, number in program.given.items()}
        self._wanted = program.roots if kernel is None else kernel.leaves
        straight = [index for index in program.needed_operations(self._wanted) if index not in self._inputs]
        shared = self._places_shared(straight)
        self._order = EvaluationOrder(program, [index for index in straight if index not in shared], self._wanted)
        self._everything = EvaluationOrder(
            program, [p for p in program.straight if p not in self._inputs], program.roots
        )
        self._shared = self._compute_shared([index for index in straight if index in shared])

    # -- what blocks share -----------------------------------------------------------------------

    def _places_shared(self, straight: Sequence[int]) -> set[int]:
        """Operations over so few dimensions that they are computed once for all blocks."""
        shared: set[int] = set()
        for index in straight:
            op = self.program.ops[index]
            over = {dimension for number, dimension in enumerate(self._dimensions) if op.mask >> number & 1}
            size = prod(self.shape[dimension] for dimension in over)
            small = size <= LARGEST_SHARED and size * LEAST_SHARING <= prod(self.shape)
            if small and all(arg in shared or arg in self._inputs for arg in op.args):
                shared.add(index)
        return shared

    def _compute_shared(self, indices: Sequence[int]) -> ComputedArrays:
        """Values of the shared operations that blocks use, and of the inputs."""
        used = {arg for index in self._order.places for arg in self.program.ops[index].args} | set(self._wanted)
        order = EvaluationOrder(self.program, indices, [index for index in indices if index in used])
        known = ComputedArrays(dict(self._inputs))
        try:
            Fast(self.program).compute(order, known)
        except Doubt:
            known = ComputedArrays(dict(self._inputs))
            Careful(self.program).compute(order, known)
        return known

    # -- blocks ----------------------------------------------------------------------------------

    def block(self, slices: Slices, results: Sequence[Floats]) -> Reasons | None:
        """Fills an array for each root, one value per point of a block of the grid, NaN where there is none. Returns
        the reasons; None where all is fine."""
        shape = tuple(len(range(*part.indices(size))) for part, size in zip(slices, self.shape, strict=True))
        try:
            self._evaluate_unchecked(slices, shape, results)
        except Doubt:
            return self._evaluate_checked(slices, shape, results)
        return None

    def _evaluate_unchecked(self, slices: Slices, shape: tuple[int, ...], results: Sequence[Floats]) -> None:
        known = _cut_to_block(self._shared, slices)
        if known.reasons:
            raise Doubt
        Fast(self.program).compute(self._order, known)
        if self.kernel is not None:
            if self.loops is not None:
                operations = numpy.empty(prod(shape))
                self.loops.block(slices, [operations])
                spend(float(numpy.nansum(operations)))
            columns = [_fill_column(known.values[leaf], shape) for leaf in self.kernel.leaves]
            self.kernel.run(columns, results)
            return
        for root, result in zip(self.program.roots, results, strict=True):
            result.reshape(shape)[...] = known.values[root]
            if not numpy.isfinite(result).all():
                raise Doubt

    def _evaluate_checked(self, slices: Slices, shape: tuple[int, ...], results: Sequence[Floats]) -> Reasons | None:
        """A point has a reason where any of the roots has one; the others keep their values there."""
        known = _cut_to_block(self._shared if self.kernel is None else ComputedArrays(self._inputs), slices)
        Careful(self.program).compute(self._order if self.kernel is None else self._everything, known)
        reasons = numpy.zeros(shape, dtype=numpy.uint8)
        for root, result in zip(self.program.roots, results, strict=True):
            failed = known.reasons.get(root, FINE)
            reasons = numpy.where(reasons != FINE, reasons, failed).astype(numpy.uint8)
            result.reshape(shape)[...] = numpy.where(failed, numpy.nan, known.values[root])
        return reasons.reshape(-1) if reasons.any() else None


def _cut_to_block(known: ComputedArrays, slices: Slices) -> ComputedArrays:
    """A block's part of what is known everywhere."""
    values = {index: _cut_value(value, slices) for index, value in known.values.items()}
    reasons = {index: _cut_value(reason, slices) for index, reason in known.reasons.items()}
    return ComputedArrays(values, {index: reason for index, reason in reasons.items() if numpy.any(reason)})


def _spread_along(dimension: int, values: Floats, dimensions: int) -> Floats:
    """Values along one of `dimensions` dimensions."""
    shape = [1] * dimensions
    shape[dimension] = len(values)
    return numpy.ascontiguousarray(values, dtype=numpy.float64).reshape(shape)


def _cut_value(value: Any, slices: Slices) -> Any:
    """A block's part of a value, which has one place in the dimensions that it does not depend on."""
    if isinstance(value, tuple) and not isinstance(value, ConstantArray):
        return tuple(_cut_value(element, slices) for element in value)
    if not isinstance(value, numpy.ndarray) or value.ndim == 0:
        return value
    return value[tuple(part if size > 1 else slice(None) for part, size in zip(slices, value.shape, strict=True))]


def _fill_column(values: Floats, shape: tuple[int, ...]) -> Floats:
    if values.shape == shape and values.flags.c_contiguous:
        return values.reshape(-1)
    return numpy.ascontiguousarray(numpy.broadcast_to(values, shape)).reshape(-1)


# -- how a grid is cut -----------------------------------------------------------------------------


class Blocks:
    """A grid in blocks of at most `most` points, in the order of its points (the last dimension is the fastest)."""

    def __init__(self, shape: Sequence[int], most: int) -> None:
        self.shape = tuple(shape)
        points_in_row = [prod(self.shape[index + 1 :]) for index in range(len(self.shape))]
        self._cut = next((index for index, size in enumerate(points_in_row) if size <= most), 0)
        self._points_in_row = points_in_row[self._cut]
        self._rows = max(1, most // self._points_in_row)
        self._stretches = -(-self.shape[self._cut] // self._rows)
        self.count = prod(self.shape[: self._cut]) * self._stretches

    def __getitem__(self, number: int) -> tuple[int, Slices]:
        """The number of the block's first point, and its place."""
        outer, inner = divmod(number, self._stretches)
        first = inner * self._rows
        rows = min(self._rows, self.shape[self._cut] - first)
        start = (outer * self.shape[self._cut] + first) * self._points_in_row
        slices = [slice(first, first + rows), *(slice(None) for _ in self.shape[self._cut + 1 :])]
        for size in reversed(self.shape[: self._cut]):
            outer, index = divmod(outer, size)
            slices.insert(0, slice(index, index + 1))
        return start, tuple(slices)


KEPT = 32  # programs, and their compiled code, that are kept for further sweeps over the same axes
SAMPLED = 10_000  # values of a column that are looked at beforehand


class Stretch(NamedTuple):
    """Consecutive points of one case: `start` is the number of the first, `values` has a row for each metric."""

    start: int
    values: Floats
    reasons: Reasons | None


class StretchPlan:
    """The division of a study into numbered stretches."""

    def __init__(self, cases: int, grid: Sequence[int], block: int, stretch: int) -> None:
        self.cases = cases
        self.blocks = Blocks(grid or (1,), block)
        self._blocks_per_stretch = max(1, -(-stretch // block))
        self.of_case = -(-self.blocks.count // self._blocks_per_stretch)
        self.count = cases * self.of_case

    def locate(self, stretch: int) -> tuple[int, range]:
        """The case of a stretch, and the numbers of its blocks."""
        case, number = divmod(stretch, self.of_case)
        return case, range(
            number * self._blocks_per_stretch, min((number + 1) * self._blocks_per_stretch, self.blocks.count)
        )

    def size(self, stretch: int) -> int:
        """Number of points of the stretch."""
        _, blocks = self.locate(stretch)
        end = self.blocks[blocks.stop][0] if blocks.stop < self.blocks.count else prod(self.blocks.shape)
        return end - self.blocks[blocks.start][0]


class WorkerTask(NamedTuple):
    """All that a worker has to know; it travels to other processes as data. Of `operations` each process may spend as
    many."""

    formulas: tuple[tuple[Expr, ...], ...]
    inputs: tuple[Expr, ...]
    columns: tuple[tuple[int, Floats], ...]
    grid: tuple[int, ...]
    seed: int
    backend: str
    stretch: int
    operations: float


class Worker:
    """Computes stretches; what a case needs is prepared when its first stretch is asked for. All its threads spend one
    allowance: the command's, or in another process what was left of it."""

    def __init__(self, work: WorkerTask, allowance: Allowance | None = None) -> None:
        self.work = work
        self.allowance = allowance or Allowance(work.operations)
        self.backend = BACKENDS[work.backend]
        self.plan = StretchPlan(len(work.formulas), work.grid, self.backend.block, work.stretch)
        self._sheets: dict[int, PointSheet] = {}
        self._lock = Lock()

    def stretch(self, number: int, into: Floats | None = None) -> Stretch:
        """A stretch, its values in their place `into` the array of all points, if there is one. Raises AspenError where
        it takes more operations than are left."""
        try:
            with spending(self.allowance):
                return self._compute(number, into)
        except NoOperationsLeft:
            message = "the points take too long: loops without a closed form are added, and lines in caches counted"
            hint = "fewer points, or shorter loops; --yes (in Python, yes=True) if you want to wait for it"
            fail("too-much-work", message, hint=hint)

    def fill(self, values: Floats) -> None:
        """Computes all values of one case, in the order of its points, within the allowance of the running command.
        Raises TooMuchWork."""
        try:
            for number in range(self.plan.count):
                self._compute(number, values)
        except NoOperationsLeft as error:
            raise TooMuchWork(self.work.formulas[0][0], error) from None

    def _compute(self, number: int, into: Floats | None) -> Stretch:
        case, blocks = self.plan.locate(number)
        sheet = self._sheet(case)
        size, first = self.plan.size(number), self.plan.blocks[blocks.start][0]
        begin = case * prod(self.work.grid) + first
        values = numpy.empty((len(self.work.formulas[case]), size)) if into is None else into[:, begin : begin + size]
        reasons: Reasons | None = None
        for block in blocks:
            start, slices = self.plan.blocks[block]
            end = self.plan.blocks[block + 1][0] if block + 1 < blocks.stop else first + size
            part = slice(start - first, end - first)
            failed = sheet.block(slices, [row[part] for row in values])
            if failed is not None:
                reasons = numpy.zeros(size, dtype=numpy.uint8) if reasons is None else reasons
                reasons[part] = failed
        return Stretch(begin, values, reasons)

    def _sheet(self, case: int) -> PointSheet:
        with self._lock:
            if case not in self._sheets:
                work = self.work
                formulas, box, grid = work.formulas[case], likely_ranges(work.columns), work.grid or (1,)
                program = lower_formulas(formulas, work.inputs, work.seed, box)
                kernel, loops = _compile_kernel(self.backend, program), None
                if kernel is not None and (operations := loop_operations(unroll_loops(formulas))) is not graph.ZERO:
                    loops = PointSheet(lower_formulas((operations,), work.inputs, work.seed, box), grid, work.columns)
                self._sheets = {case: PointSheet(program, grid, work.columns, kernel, loops)}
            return self._sheets[case]


@lru_cache(maxsize=KEPT)
def lower_formulas(
    formulas: tuple[Expr, ...], inputs: tuple[Expr, ...], seed: int, box: tuple[tuple[float, float], ...]
) -> Program:
    return Program(formulas, inputs, seed, box=box)


@lru_cache(maxsize=KEPT)
def _compile_kernel(backend: Backend, program: Program) -> CompiledProgram | None:
    return backend.kernel(program) if backend.kernel else None


def likely_ranges(columns: Iterable[tuple[int, Floats]]) -> tuple[tuple[float, float], ...]:
    """Lowest and highest value of each column, with a margin for a long one, which is only sampled."""
    return tuple(_widen(values, values[:: max(1, len(values) // SAMPLED)]) for _, values in columns)


def _widen(values: Floats, sample: Floats) -> tuple[float, float]:
    low, high = float(sample.min()), float(sample.max())
    room = 1 if len(sample) == len(values) else 1024
    return (low / room if low > 0 else low * room), (high * room if high > 0 else high / room)
