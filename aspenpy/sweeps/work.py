"""Work: a study cut into stretches, and the worker that computes them, in this process or another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from threading import Lock
from typing import NamedTuple

import numpy

from aspenpy.engine.arrays import Floats, Reasons
from aspenpy.engine.backends import BACKENDS, Backend
from aspenpy.engine.compiled import Kernel
from aspenpy.engine.program import Program
from aspenpy.expr.graph import Expr
from aspenpy.sweeps.sheet import Blocks, Sheet

KEPT = 32  # programs, and their compiled code, that are kept for further sweeps over the same axes
SAMPLED = 10_000  # values of a column that are looked at beforehand


class Stretch(NamedTuple):
    """Consecutive points of one case: `start` is the number of the first, `values` has a row for each metric."""

    start: int
    values: Floats
    reasons: Reasons | None


class Plan:
    """How a study is cut into stretches, which are numbered."""

    def __init__(self, cases: int, grid: Sequence[int], block: int, stretch: int) -> None:
        self.cases = cases
        self.blocks = Blocks(grid or (1,), block)
        self._each = max(1, -(-stretch // block))
        self.of_case = -(-self.blocks.count // self._each)
        self.count = cases * self.of_case

    def place(self, stretch: int) -> tuple[int, range]:
        """Its case, and the numbers of its blocks."""
        case, number = divmod(stretch, self.of_case)
        return case, range(number * self._each, min((number + 1) * self._each, self.blocks.count))

    def size(self, stretch: int) -> int:
        """How many points it has."""
        _, blocks = self.place(stretch)
        behind = self.blocks[blocks.stop][0] if blocks.stop < self.blocks.count else prod(self.blocks.shape)
        return behind - self.blocks[blocks.start][0]


class Work(NamedTuple):
    """All that a worker has to know; it travels to other processes as data."""

    formulas: tuple[tuple[Expr, ...], ...]
    inputs: tuple[Expr, ...]
    columns: tuple[tuple[int, Floats], ...]
    grid: tuple[int, ...]
    seed: int
    backend: str
    stretch: int


class Worker:
    """Computes stretches; what a case needs is prepared when its first stretch is asked for."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.backend = BACKENDS[work.backend]
        self.plan = Plan(len(work.formulas), work.grid, self.backend.block, work.stretch)
        self._sheets: dict[int, Sheet] = {}
        self._lock = Lock()

    def stretch(self, number: int, into: Floats | None = None) -> Stretch:
        """A stretch, its values in their place `into` the array of all points, if there is one."""
        case, blocks = self.plan.place(number)
        sheet = self._sheet(case)
        size, first = self.plan.size(number), self.plan.blocks[blocks.start][0]
        begin = case * prod(self.work.grid) + first
        values = numpy.empty((len(self.work.formulas[case]), size)) if into is None else into[:, begin : begin + size]
        reasons: Reasons | None = None
        for block in blocks:
            start, slices = self.plan.blocks[block]
            behind = self.plan.blocks[block + 1][0] if block + 1 < blocks.stop else first + size
            here = slice(start - first, behind - first)
            failed = sheet.block(slices, [row[here] for row in values])
            if failed is not None:
                reasons = numpy.zeros(size, dtype=numpy.uint8) if reasons is None else reasons
                reasons[here] = failed
        return Stretch(begin, values, reasons)

    def _sheet(self, case: int) -> Sheet:
        with self._lock:
            if case not in self._sheets:
                work = self.work
                program = lower_formulas(work.formulas[case], work.inputs, work.seed, likely(work.columns))
                self._sheets = {case: Sheet(program, work.grid or (1,), work.columns, _kernel(self.backend, program))}
            return self._sheets[case]


@lru_cache(maxsize=KEPT)
def lower_formulas(
    formulas: tuple[Expr, ...], inputs: tuple[Expr, ...], seed: int, box: tuple[tuple[float, float], ...]
) -> Program:
    return Program(formulas, inputs, seed, box=box)


@lru_cache(maxsize=KEPT)
def _kernel(backend: Backend, program: Program) -> Kernel | None:
    return backend.kernel(program) if backend.kernel else None


def likely(columns: Iterable[tuple[int, Floats]]) -> tuple[tuple[float, float], ...]:
    """Between which values each column lies, with room around what was looked at of a long one."""
    return tuple(_around(values, values[:: max(1, len(values) // SAMPLED)]) for _, values in columns)


def _around(values: Floats, sample: Floats) -> tuple[float, float]:
    low, high = float(sample.min()), float(sample.max())
    room = 1 if len(sample) == len(values) else 1024
    return (low / room if low > 0 else low * room), (high * room if high > 0 else high / room)
