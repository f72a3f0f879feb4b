"""Trace: what a run does, step by step in the order of execution, as far as somebody wants to read it."""

from __future__ import annotations

import math
from typing import Any, Literal, Unpack

from aspenpy.answers.case import Case, CaseOptions, ResolvedCase, case_of
from aspenpy.answers.paths import Scene, opening_scene
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.profile import Timer
from aspenpy.answers.scope import Value
from aspenpy.cost.cost import AT_ONCE, CostTree, busy_times
from aspenpy.cost.prices import LAUNCH
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import OfBlocks, run_totals
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST = 200  # steps that are shown unless somebody wants more
PASSES = 2  # passes of each loop that are shown
Kind = Literal["call", "loop", "pass", "passes", "block", "case", "par"]


class Demand(Record):
    """Total amount of a resource over all instances of a block, in the resource's unit."""

    resource: str
    amount: Value
    direction: Literal["to", "from"] | None
    data: str | None
    traits: tuple[str, ...]


class Occupation(Record):
    """A resource that a block keeps busy on a component, from `start` seconds after the block begins on, for `duration`
    seconds."""

    resource: str
    component: str
    start: float
    duration: float


class TraceStep(Record):
    """A step, so deep inside of others.

    `name` is the kernel of a call, the label of other statements, the mode of a loop; `values` the arguments of a call,
    the `count` of a loop or of the `passes` that are left out, the counter of a pass, the `instances` of a block and
    the `width` that each shares its work out in, the `probability` of a case. With a machine, it begins `start` seconds
    after the run and takes `duration`; `occupations` are what a block keeps busy.
    """

    kind: Kind
    depth: int
    name: str | None
    label: str | None
    values: dict[str, Value]
    demands: tuple[Demand, ...]
    start: float | None
    duration: float | None
    occupations: tuple[Occupation, ...] = ()


class Trace(Result):
    """The first steps of a run: at most `most`, and at most `passes` passes of each loop.

    Of `if` and `switch`, the branch that is taken is followed. The cases of `probability` are all shown, from the same
    time on, and the next step begins after their expected time.

    :returns: the steps in order: begin and duration in seconds with a machine, otherwise without times
    :raises AspenError: for unknown parameters
    """

    def __init__(
        self,
        app: Application | Case,
        machine: Machine | None = None,
        *,
        most: int = MOST,
        passes: int = PASSES,
        **options: Unpack[CaseOptions],
    ) -> None:
        if most < 1 or passes < 1:
            fail("bad-count", f"at least one step and one pass have to be shown, not {min(most, passes)}")
        case = case_of(app, machine, options)
        self.application = case.application
        self.machine = case.machine
        self.passes = passes
        self.seed = case.seed
        self.tree: CostTree | None = None
        self._timer: Timer | None = None
        if self.machine is None:
            run = ResolvedCase(case)
            self.entry, self._scope = run.entry, run.scope
        else:
            self.tree = case.tree
            self._timer = Timer(self.tree)
            self.entry, self._scope = self.tree.entry, Prediction(case).scope
        self.blocks = self._number_of_blocks()
        self.complete = True
        self.steps = tuple(self._steps(most))

    @property
    def shown_blocks(self) -> int:
        """Number of executions of blocks among the steps."""
        return sum(1 for step in self.steps if step.kind == "block")

    def _number_of_blocks(self) -> Value:
        """Executions of blocks over the whole run; an expectation, where there are probabilities."""
        totals = run_totals(OfBlocks(lambda block, kernel: {"blocks": graph.ONE}), self.entry)
        (value,) = self._values([totals.get("blocks", graph.ZERO)])
        result: Value = value
        return result

    def _values(self, exprs: list[Expr]) -> list[Any]:
        return self._scope.values(exprs, self.seed) if exprs else []

    # -- following the control flow --------------------------------------------------------------

    def _steps(self, most: int) -> list[TraceStep]:
        """The first steps of the run. A waiting entry is a node in its scene, or a step that is ready."""
        entry = _Waiting(self.entry.body, opening_scene(self.entry), 0, None if self._timer is None else 0.0)
        steps = [self._step("call", entry, name=self.entry.name, values=self._values_of_formals(entry.scene))]
        waiting: list[TraceStep | _Waiting] = [entry.replace(depth=1)]
        while waiting:
            item = waiting.pop()
            if isinstance(item, _Waiting):
                waiting += reversed(_RULES[type(item.node)](self, item.node, item))
            elif len(steps) < most:
                steps.append(item)
            else:
                self.complete = False
                break
        return steps

    def _step(
        self,
        kind: Kind,
        at: _Waiting,
        *,
        name: str | None = None,
        label: str | None = None,
        values: dict[str, Value] | None = None,
        demands: tuple[Demand, ...] = (),
    ) -> TraceStep:
        """The step that a node is where it stands."""
        return TraceStep(
            kind,
            at.depth,
            name,
            label=label,
            values=values or {},
            demands=demands,
            start=at.start,
            duration=self._duration(at.node, at.scene),
        )

    def _duration(self, node: flow.Flow, scene: Scene) -> float | None:
        if self._timer is None:
            return None
        return float(self._values(scene.bind([self._timer.time(node)]))[0])

    def _values_of_formals(self, scene: Scene) -> dict[str, Value]:
        formals = scene.kernel.formals
        values = self._values(scene.bind(list(formals)))
        return {formal.name: value for formal, value in zip(formals, values, strict=True)}

    def _block(self, node: flow.Block, at: _Waiting) -> list[TraceStep | _Waiting]:
        exprs = [node.parallelism, node.width or graph.ONE, *(item.amount for item in node.requirements)]
        instances, width, *amounts = self._values(at.scene.bind(exprs))
        values = {"instances": instances} | ({} if node.width is None else {"width": width})
        demands = tuple(
            Demand(
                item.resource,
                instances * amount,
                item.direction,
                None if item.target is None else at.scene.data(item.target),
                tuple(trait.name for trait in item.traits),
            )
            for item, amount in zip(node.requirements, amounts, strict=True)
        )
        step = self._step("block", at, label=node.label, values=values, demands=demands)
        return [step.replace(occupations=self._occupations(node, at.scene))]

    def _occupations(self, node: flow.Block, scene: Scene) -> tuple[Occupation, ...]:
        """Resources that a block keeps busy behind its launch; those that cannot overlap follow each other."""
        if self.tree is None:
            return ()
        cost = self.tree.blocks[node]
        components = {
            **{item.server: place.component.name for item in cost.requirements for place in [item.place] if place},
            **{level.name: level.place.component.name for level in cost.levels},
            **{name: delay.place.component.name for name, delay in cost.delays.items()},
        }
        times = busy_times(cost)
        busy = dict(zip((key.resource for key in times), self._values(scene.bind(list(times.values()))), strict=True))
        begins = {name: sum(map(busy.__getitem__, list(cost.delays)[:place])) for place, name in enumerate(cost.delays)}
        for group in cost.groups:
            begin = busy.get(LAUNCH, 0.0)
            for name in group.resources:
                begins[name] = max(begins.get(name, 0.0), begin)
                begin += busy[name]
        return tuple(
            Occupation(name, components.get(name) or name, start=float(begins.get(name, 0.0)), duration=float(seconds))
            for name, seconds in busy.items()
            if seconds > 0
        )

    def _sequence(self, node: flow.Sequence, at: _Waiting) -> list[TraceStep | _Waiting]:
        return self._schedule_one_after_other(node.steps, at, at.depth)

    def _schedule_one_after_other(
        self, nodes: tuple[flow.Flow, ...], at: _Waiting, depth: int
    ) -> list[TraceStep | _Waiting]:
        waiting: list[TraceStep | _Waiting] = []
        start = at.start
        for node in nodes:
            waiting.append(_Waiting(node, at.scene, depth, start))
            start = _add_duration(start, self._duration(node, at.scene))
        return waiting

    def _parallel(self, node: flow.Parallel, at: _Waiting) -> list[TraceStep | _Waiting]:
        overlaps = self.tree.overlaps(node) if self.tree else node.label in AT_ONCE
        head = self._step("par", at, name="at once" if overlaps else "one after the other", label=node.label)
        if not overlaps:
            return [head, *self._schedule_one_after_other(node.branches, at, at.depth + 1)]
        return [head, *(at.replace(node=branch, depth=at.depth + 1) for branch in node.branches)]

    def _repeat(self, node: flow.Repeat, at: _Waiting) -> list[TraceStep | _Waiting]:
        (count,) = self._values(at.scene.bind([node.count]))
        head = self._step("loop", at, name=node.mode, label=node.label, values={"count": count})
        steps: list[TraceStep | _Waiting] = [head]
        passes, start = math.ceil(count), at.start
        for number in range(min(passes, self.passes)):
            scene = at.scene.replace(bindings={**at.scene.bindings, node.counter: graph.number(number)})
            body = _Waiting(node.body, scene, at.depth + 1, start)
            step = self._step("pass", body, values={node.counter.name if node.named else "pass": number})
            steps += [step, body.replace(depth=at.depth + 2)]
            start = _add_duration(start, step.duration)
        if passes > self.passes:
            end = _add_duration(at.start, head.duration)
            left = None if start is None or end is None else end - start
            steps.append(
                TraceStep(
                    "passes",
                    at.depth + 1,
                    None,
                    label=None,
                    values={"count": passes - self.passes},
                    demands=(),
                    start=start,
                    duration=left,
                )
            )
        return steps

    def _choice(self, node: flow.Choice, at: _Waiting) -> list[TraceStep | _Waiting]:
        holding = (branch for condition, branch in node.branches if self._values(at.scene.bind([condition]))[0])
        return [at.replace(node=next(holding, node.otherwise))]

    def _expectation(self, node: flow.Expectation, at: _Waiting) -> list[TraceStep | _Waiting]:
        steps: list[TraceStep | _Waiting] = []
        chances = self._values(at.scene.bind([chance for chance, _ in node.cases]))
        for chance, (_, case) in zip(chances, node.cases, strict=True):
            if chance > 0:
                inside = at.replace(node=case)
                steps += [
                    self._step("case", inside, values={"probability": chance}),
                    inside.replace(depth=at.depth + 1),
                ]
        return steps

    def _call(self, node: flow.Call, at: _Waiting) -> list[TraceStep | _Waiting]:
        body = at.replace(node=node.kernel.body, scene=at.scene.enter_call(node))
        step = self._step("call", body, name=node.kernel.name, values=self._values_of_formals(body.scene))
        return [step, body.replace(depth=at.depth + 1)]


trace = Trace  # what `aspenpy trace` shows, under the command's name


class _Waiting(Record):
    """A node that is still to be followed, where it stands and when it begins."""

    node: flow.Flow
    scene: Scene
    depth: int
    start: float | None


def _add_duration(start: float | None, duration: float | None) -> float | None:
    return None if start is None or duration is None else start + duration


_RULES: dict[type, Any] = {
    flow.Block: Trace._block,
    flow.Sequence: Trace._sequence,
    flow.Parallel: Trace._parallel,
    flow.Repeat: Trace._repeat,
    flow.Choice: Trace._choice,
    flow.Expectation: Trace._expectation,
    flow.Call: Trace._call,
}
