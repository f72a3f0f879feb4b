"""Timeline: the steps of a trace as bars in the lanes of the resources that they keep busy, for a Gantt chart."""

from __future__ import annotations

from aspenpy.answers.trace import Trace, TraceStep
from aspenpy.cost.prices import conflict_groups
from aspenpy.expr import graph
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

KERNELS = "kernels"
"""The lane of the blocks themselves."""

TRANSFERS = ("messages", "intracomm")
"""Resources that move data between ranks, and between the memories of a node."""


class Bar(Record):
    """Time that a block of a kernel keeps a lane busy, in seconds after the run begins; a `transfer` moves data between
    ranks or memories."""

    lane: str
    kernel: str
    transfer: bool
    start: float
    end: float


class Gap(Record):
    """Passes of a loop that the trace leaves out: their number, and seconds after the run begins."""

    passes: float
    start: float
    end: float


class Timeline(Record):
    """Resources that a trace keeps busy, in `lanes`: a component with those that cannot overlap on it, in the order of
    their first use. `kernels` are the blocks themselves, which lie on each other where branches run at once.

    A case of some probability is as long as its share of the expected time; cases lie one after the other. Branches
    that run at once wait for each other in a lane.
    """

    lanes: tuple[str, ...]
    kernels: tuple[Bar, ...]
    bars: tuple[Bar, ...]
    gaps: tuple[Gap, ...]
    end: float


def timeline_of(trace: Trace) -> Timeline:
    """The timeline of a trace. Raises AspenError where it has no machine, whose times it needs."""
    if trace.tree is None:
        fail("no-machine", "a picture over time needs the times of a machine", hint="name one: --machine haswell")
    return _TimelineWriter(trace, trace.tree.conflicts).write()


class _Frame(Record):
    """The map from times inside of a step at some `depth` to those of the timeline: from `origin` on they go to
    `start`, by a factor."""

    depth: int
    kernel: str
    origin: float
    start: float
    factor: float

    def place(self, time: float) -> float:
        return self.start + (time - self.origin) * self.factor


class _TimelineWriter:
    """Follows the steps of a trace, with the frames of the calls and cases that each stands in."""

    def __init__(self, trace: Trace, conflicts: frozenset[tuple[str, str]]) -> None:
        self.trace = trace
        self.names = _names_of_lanes(trace, conflicts)
        self.frames = [_Frame(-1, trace.entry.name, origin=0.0, start=0.0, factor=1.0)]
        self.ends: dict[object, float] = {}  # of lanes, and of the cases of one `probability` so far
        self.kernels: list[Bar] = []
        self.bars: list[Bar] = []
        self.gaps: list[Gap] = []

    def write(self) -> Timeline:
        for step in self.trace.steps:
            while step.depth <= self.frames[-1].depth:
                self.frames.pop()
            self._add(step, step.start or 0.0, step.duration or 0.0)
        ends = [*(bar.end for bar in self.kernels + self.bars), *(gap.end for gap in self.gaps)]
        lanes = dict.fromkeys(bar.lane for bar in self.bars)
        return Timeline(
            tuple(lanes), tuple(self.kernels), tuple(self.bars), gaps=tuple(self.gaps), end=max(ends, default=0)
        )

    def _add(self, step: TraceStep, start: float, duration: float) -> None:
        frame = self.frames[-1]
        begin, end = frame.place(start), frame.place(start + duration)
        if step.kind == "call":
            self.frames.append(frame.replace(depth=step.depth, kernel=step.name))
        elif step.kind == "case":
            self._enter_case(step, start, duration)
        elif step.kind == "passes" and duration:
            self.gaps.append(Gap(float(step.values["count"]), begin, end))
        elif step.kind == "block" and duration:
            self.kernels.append(Bar(KERNELS, frame.kernel, transfer=False, start=begin, end=end))
            self._occupy(step, start, duration)

    def _enter_case(self, step: TraceStep, start: float, duration: float) -> None:
        frame = self.frames[-1]
        siblings = (step.depth, frame.place(start))
        begin = self.ends.get(siblings, frame.place(start))
        chance = float(step.values["probability"])
        self.ends[siblings] = begin + chance * frame.factor * duration
        self.frames.append(_Frame(step.depth, frame.kernel, origin=start, start=begin, factor=frame.factor * chance))

    def _occupy(self, step: TraceStep, start: float, duration: float) -> None:
        """Bars of what a block keeps busy. Costs of sharing a memory add up to more than they cost together, of which
        the block's time consists."""
        frame = self.frames[-1]
        shrink = min(1.0, duration / max((use.start + use.duration for use in step.occupations), default=duration))
        for use in step.occupations:
            lane = self.names[use.component, use.resource]
            begin = max(frame.place(start + shrink * use.start), self.ends.get(lane, 0.0))
            self.ends[lane] = begin + shrink * frame.factor * use.duration
            transfer = use.resource in TRANSFERS
            self.bars.append(Bar(lane, frame.kernel, transfer, start=begin, end=self.ends[lane]))


def _names_of_lanes(trace: Trace, conflicts: frozenset[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The lane of each component and resource: `loads + stores on ddr4_2133`."""
    uses = dict.fromkeys((use.component, use.resource) for step in trace.steps for use in step.occupations)
    names: dict[tuple[str, str], str] = {}
    for group in conflict_groups({resource: graph.ZERO for _, resource in uses}, conflicts):
        for component in dict.fromkeys(component for component, _ in uses):
            together = [
                name for name in group.resources if (component, name) in uses and (component, name) not in names
            ]
            names |= {(component, name): f"{' + '.join(together)} on {component}" for name in together}
    return names
