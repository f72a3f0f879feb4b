"""Run: a study computed stretch by stretch, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import lru_cache, partial
from math import prod
from threading import Lock
from typing import Any, NamedTuple

import numpy

from aspenpy.engine.arrays import Floats, Reasons
from aspenpy.engine.backends import BACKENDS, Backend, chosen
from aspenpy.engine.compiled import Kernel
from aspenpy.engine.program import Program
from aspenpy.engine.reasons import REASONS
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.studies.sweeps.sheet import Blocks, Sheet
from aspenpy.studies.sweeps.study import Study

STRETCH = 1 << 20
"""Points of a stretch, at least, where there are so many: what is computed, kept and written as a whole."""

MEMORY = 1 << 30
"""Bytes of results that are kept, unless another bound is given."""

HELD = 2
"""Times that the values of a stretch are in memory while it is computed."""

KEPT = 32
"""Programs, and their compiled code, that are kept for further sweeps over the same axes."""

WORTH_PROCESSES = 4_000_000
"""Points from which on it pays to start processes."""


SAMPLED = 10_000
"""Values of a column that are looked at beforehand."""


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
                program = _program(work.formulas[case], work.inputs, work.seed, likely(work.columns))
                self._sheets = {case: Sheet(program, work.grid or (1,), work.columns, _kernel(self.backend, program))}
            return self._sheets[case]


@lru_cache(maxsize=KEPT)
def _program(
    formulas: tuple[Expr, ...], inputs: tuple[Expr, ...], seed: int, box: tuple[tuple[float, float], ...]
) -> Program:
    return Program(formulas, inputs, seed, box=box)


@lru_cache(maxsize=KEPT)
def _kernel(backend: Backend, program: Program) -> Kernel | None:
    return backend.kernel(program) if backend.kernel else None


class Run:
    """A study with the back end and the cores that it is computed with. `processes` lets it start some unasked, which
    in a program of a user would run that program again; a `client` of Dask has its workers compute instead. Stretches
    that are computed at once take at most `memory` bytes, or are one."""

    def __init__(
        self,
        study: Study,
        backend: str = "auto",
        cores: int | None = None,
        *,
        processes: bool = True,
        client: Any = None,
        memory: int = MEMORY,
    ) -> None:
        box = likely(study.columns.values())
        programs = [_program(formulas, study.inputs, study.seed, box) for formulas in study.formulas]
        self.study = study
        self.backend: Backend = chosen(backend, programs, study.points_of_case, memory)
        self.work = Work(
            study.formulas,
            study.inputs,
            tuple(study.columns.values()),
            study.grid,
            study.seed,
            self.backend.name,
            STRETCH,
        )
        self.worker = Worker(self.work)
        self.plan = self.worker.plan
        self.client = client
        self.waiting = max(1, memory // (HELD * STRETCH * (8 * len(study.metrics) + 1)))
        self.cores = self._cores(cores, processes)

    def _cores(self, asked: int | None, processes: bool) -> int:
        """As many as there are stretches for; processes are worth their start for large sweeps only."""
        if asked is not None and asked < 1:
            fail("bad-cores", f"a sweep needs at least 1 core, not {asked}")
        worth_it = self.backend.threads or (processes and self.study.points >= WORTH_PROCESSES)
        return min(asked or (available_cores() if worth_it else 1), self.plan.count, self.waiting)

    def stretches(
        self, numbers: Iterable[int] | None = None, *, fail_fast: bool = False, into: Floats | None = None
    ) -> Iterator[Stretch]:
        """The stretches of those numbers, or all, as they are ready; what is computed in this process has its values
        in their place `into` an array of all points. With `fail_fast`, the first point without a value raises what is
        wrong with it."""
        for stretch in self._computed(range(self.plan.count) if numbers is None else numbers, into):
            if fail_fast and stretch.reasons is not None:
                self._raise(stretch)
            yield stretch

    def _raise(self, stretch: Stretch) -> None:
        assert stretch.reasons is not None
        number = stretch.start + int(numpy.flatnonzero(stretch.reasons)[0])
        raise failure_at(self.study, number, int(stretch.reasons[number - stretch.start]))

    def _computed(self, numbers: Iterable[int], into: Floats | None) -> Iterator[Stretch]:
        compute = self.worker.stretch if into is None else partial(self.worker.stretch, into=into)
        if self.client is not None:
            from aspenpy.studies.sweeps.cluster import computed

            yield from computed(self.client, self.work, numbers)
        elif self.cores == 1:
            yield from map(compute, numbers)
        elif self.backend.threads:
            with ThreadPoolExecutor(self.cores) as pool:
                yield from _in_flight(pool, compute, numbers, min(2 * self.cores, self.waiting))
        else:
            from multiprocessing import get_context

            with ProcessPoolExecutor(self.cores, get_context("spawn"), _begin, (self.work,)) as pool:
                yield from _in_flight(pool, _stretch, numbers, min(2 * self.cores, self.waiting))


def likely(columns: Iterable[tuple[int, Floats]]) -> tuple[tuple[float, float], ...]:
    """Between which values each column lies, with room around what was looked at of a long one."""
    return tuple(_around(values, values[:: max(1, len(values) // SAMPLED)]) for _, values in columns)


def _around(values: Floats, sample: Floats) -> tuple[float, float]:
    low, high = float(sample.min()), float(sample.max())
    room = 1 if len(sample) == len(values) else 1024
    return (low / room if low > 0 else low * room), (high * room if high > 0 else high / room)


def failure_at(study: Study, number: int, reason: int) -> AspenError:
    """What is wrong at a point, told with the point."""
    where = "at " + ", ".join(f"{name} = {value}" for name, value in study.point(number).items())
    found = study.failure(number)
    diagnostics = found.diagnostics if found else (Diagnostic("no-value", f"{REASONS[reason]}, in floating point"),)
    return AspenError(*(item.within(where) for item in diagnostics))


def available_cores() -> int:
    """Those that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_flight(
    pool: Executor, compute: Callable[[int], Stretch], numbers: Iterable[int], most: int
) -> Iterator[Stretch]:
    """Results as they come, with no more than so many asked for or waiting."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting: set[Future[Stretch]] = set()
    try:
        for number in numbers:
            if len(waiting) >= most:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            waiting.add(pool.submit(compute, number))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        for future in waiting:
            future.cancel()


# -- in other processes ----------------------------------------------------------------------------

_worker: list[Any] = []


def _begin(work: Work) -> None:
    _worker[:] = [Worker(work)]


def _stretch(number: int) -> Stretch:
    found: Stretch = _worker[0].stretch(number)
    return found
