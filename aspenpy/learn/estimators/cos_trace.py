"""COS traces and training plans: how computation and memory overlap in time, and which configurations to measure (Li,
León, Cameron, HPDC 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Literal, NamedTuple

from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.measurements.columns import read_numbers, require_columns, row_keys, rows_by_key
from aspenpy.learn.measurements.conditions import select_rows
from aspenpy.learn.measurements.sheet import MeasurementSheet

Kind = Literal["compute", "overlap", "stall"]
Interval = tuple[float, float]


class Stage(NamedTuple):
    """A part of a run in which the core only computes, computes while memory is busy, or only waits for memory."""

    kind: Kind
    begin: float
    end: float


def cos_trace(core: Sequence[Interval], memory: Sequence[Interval]) -> tuple[Stage, ...]:
    """The stages of equation 3, of the intervals in which the core and the memory are busy. Time in which neither is
    belongs to no stage. A stage also ends where a busy interval of the memory ends and the next begins."""
    edges = sorted({edge for interval in (*core, *memory) for edge in interval})
    stages: list[Stage] = []
    for begin, end in pairwise(edges):
        computes = any(first <= begin and end <= last for first, last in core)
        access = next((number for number, (first, last) in enumerate(memory) if first <= begin and end <= last), None)
        if not computes and access is None:
            continue
        kind: Kind = "compute" if access is None else "overlap" if computes else "stall"
        starts = access is not None and memory[access][0] == begin
        if stages and stages[-1].kind == kind and stages[-1].end == begin and not starts:
            stages[-1] = stages[-1]._replace(end=end)
        else:
            stages.append(Stage(kind, begin, end))
    return tuple(stages)


def sum_stages(stages: Sequence[Stage], kind: Kind) -> float:
    """Total time of one kind of stage (s): Tc, To or Ts of equation 1."""
    return sum(stage.end - stage.begin for stage in stages if stage.kind == kind)


def read_traces(sheet: MeasurementSheet) -> dict[str, tuple[Stage, ...]]:
    """Traces in a table of busy intervals, by the text of the other columns. `busy` is `core` or `memory`, from `begin`
    to `end` (s). Raises AspenError."""
    require_columns(sheet, ("busy", "begin", "end"), "a trace")
    begins, ends = read_numbers(sheet, "begin"), read_numbers(sheet, "end")
    for row, begin, end in zip(sheet.rows, begins, ends, strict=True):
        busy = row["busy"]
        if str(busy.value) not in ("core", "memory"):
            fail("bad-value", f"`{busy.value}` is neither `core` nor `memory`", busy.span, parents=busy.parents)
        if end <= begin:
            cell = row["end"]
            fail("bad-value", "an interval ends behind its beginning", cell.span, parents=cell.parents)
    names = [name for name in sheet.names if name not in ("busy", "begin", "end")]
    clock = "core_frequency" in names
    labels = row_keys(sheet, [name for name in names if name != "core_frequency"])
    if clock:
        hertz = read_numbers(sheet, "core_frequency")
        labels = [(*label, format_quantity(float(value), "Hz")) for label, value in zip(labels, hertz, strict=True)]
    made = {}
    for key, indices in rows_by_key(labels).items():
        parts: dict[str, list[Interval]] = {"core": [], "memory": []}
        for index in indices:
            parts[str(sheet.rows[index]["busy"].value)].append((float(begins[index]), float(ends[index])))
        made[" ".join(key) or "the run"] = cos_trace(sorted(parts["core"]), sorted(parts["memory"]))
    return made


class TrainingPlan(NamedTuple):
    """Configurations (core clock, memory clock, threads) to measure for training, and all there are to predict."""

    training: tuple[tuple[float, float, int], ...]
    space: tuple[tuple[float, float, int], ...]

    @property
    def tests(self) -> int:
        """Number of configurations that are predicted."""
        return len(self.space) - len(self.training)


def training_plan(
    core_clocks: Sequence[float],
    memory_clocks: Sequence[float],
    threads: Sequence[int],
    trained: Sequence[int] = (4, 6),
) -> TrainingPlan:
    """Table 2: all clocks at the trained numbers of threads, the base sample at the lowest core clock of all others:
    16 x 3 x 2 + 1 x 3 x 5 = 111 of 336 (D23: the formula of section 2.8 gives 117, Algorithm 1 to the letter 72)."""
    lowest = min(core_clocks)
    space = tuple(product(core_clocks, memory_clocks, threads))
    training = tuple(item for item in space if item[2] in trained or item[0] == lowest)
    return TrainingPlan(training, space)


PUBLISHED_CLOCKS = tuple(1.2e9 + 0.12e9 * step for step in range(16))
PUBLISHED_PLAN = training_plan(PUBLISHED_CLOCKS, (1.333e9, 1.6e9, 1.866e9), range(4, 17, 2))
"""Table 2."""


def plan_training(sheet: MeasurementSheet, trained: str) -> TrainingPlan:
    """Combinations of a sheet's clocks and threads to measure; the condition `trained` holds for the threads to train
    on."""
    require_columns(sheet, ("core_frequency", "threads"), "a plan")
    there = "memory_frequency" in sheet.names
    core, threads = ({*map(float, read_numbers(sheet, name))} for name in ("core_frequency", "threads"))
    memory = {*map(float, read_numbers(sheet, "memory_frequency"))} if there else {0.0}
    chosen = {int(read_numbers(sheet, "threads")[index]) for index in select_rows(sheet, trained, "--train")}
    return training_plan(sorted(core), sorted(memory), sorted(map(int, threads)), sorted(chosen))


class ThrottlingPlan(NamedTuple):
    """A row of Table 3: idle cycles and threads that are measured for Blue Gene/Q."""

    of: str
    idle_cycles: range
    threads: range

    @property
    def configurations(self) -> int:
        return len(self.idle_cycles) * len(self.threads)


THROTTLING_PLANS = (
    ThrottlingPlan("inflection a", range(127), range(4, 65, 4)),
    ThrottlingPlan("slope b, region 1", range(100, 127), range(12, 65, 4)),
    ThrottlingPlan("slope b, region 2", range(100, 116), range(28, 65, 4)),
    ThrottlingPlan("slope b, region 3", range(35, 46), range(20, 65, 4)),
    ThrottlingPlan("slope b, region 4", range(100, 116), range(32, 65, 4)),
    ThrottlingPlan("slope b, region 5", range(65, 76), range(24, 65, 4)),
)
"""Table 3. The inflection is trained on the whole space, so what is predicted of it is in the training set (D26)."""
