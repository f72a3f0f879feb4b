"""Paths: every block of a run where it is reached, call by call, with what its expressions mean there.

`application.total` folds the control flow from the inside out and forgets the way; here each block is met once for
every call path that leads to it, with the loops and choices around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.bounds import Box, bound_over_box
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import RISING
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.models.application.total import OfBlocks, Totaller
from aspenpy.record import Record

MOST_VISITS = 20_000  # blocks that are met, counted on every call path
MOST_PASSES = 10_000  # passes, of nested loops together, that are tried one by one


class EnclosingLoop(Record):
    """A loop around a block, its count as it is there."""

    node: flow.Repeat
    count: Expr


class EnclosingBranch(Record):
    """A case of a choice or of an expectation around a block: `wrap` puts a flow into it, `taken` says when it is."""

    wrap: Callable[[flow.Flow], flow.Flow]
    taken: Expr


class Scene(Record):
    """The surroundings of a flow: the call path, the meaning of its symbols and data structures, the flows around it,
    from the outside in, and the labels of the statements around it, each with the number of kernels above."""

    kernel: flow.Kernel
    path: tuple[str, ...]
    bindings: Mapping[Expr, Expr]
    arrays: Mapping[str, str]
    around: tuple[EnclosingLoop | EnclosingBranch, ...] = ()
    region: tuple[str, ...] = ()

    def bind(self, exprs: Sequence[Expr]) -> list[Expr]:
        """The expressions of the kernel with the arguments of the calls put in."""
        own = graph.substitute(exprs, dict(self.kernel.computed))
        return graph.substitute(own, self.bindings)

    def data(self, name: str) -> str:
        """The data structure that a name of the kernel stands for."""
        return self.arrays.get(name, name)

    def enter_call(self, call: flow.Call) -> Scene:
        values = self.bind([value for _, value in call.arguments])
        bindings = dict(zip((formal for formal, _ in call.arguments), values, strict=True))
        arrays = {formal: self.data(actual) for formal, actual in call.arrays}
        path, region = (*self.path, call.kernel.name), (*self.region, call.kernel.name)
        return Scene(call.kernel, path, bindings, arrays=arrays, around=self.around, region=region)

    def enter(self, thing: EnclosingLoop | EnclosingBranch, label: str | None) -> Scene:
        scene: Scene = self.replace(around=(*self.around, thing))
        return scene.enter_label(label)

    def enter_label(self, label: str | None) -> Scene:
        return self if label is None else self.replace(region=(*self.region, f'"{label}"'))

    def where_reached(self, expr: Expr) -> Expr:
        """The expression in the passes that get here, 0 in others."""
        for item in reversed(self.around):
            taken = item.taken if isinstance(item, EnclosingBranch) else graph.compare(">", item.count, graph.ZERO)
            expr = graph.if_else(taken, expr, graph.ZERO)
        return expr

    @property
    def loops(self) -> list[EnclosingLoop]:
        """The loops around, the outermost first."""
        return [item for item in self.around if isinstance(item, EnclosingLoop)]


class Visit(Record):
    """A block and where it stands."""

    scene: Scene
    block: flow.Block

    def sum_over_run(self, worth: Expr) -> Expr:
        """The total over the run of a worth per execution, in symbols of the entry and of counters around."""
        body: flow.Flow = self.block
        for item in reversed(self.scene.around):
            if isinstance(item, EnclosingBranch):
                body = item.wrap(body)
            else:
                body = item.node.replace(count=item.count, body=body)
        totaller = Totaller(OfBlocks(lambda block, kernel: {"worth": worth}))
        kernel = flow.Kernel("", (), (), body, graph.ZERO, span=None, name_span=None)
        return totaller.kernel(kernel).get("worth", graph.ZERO)


def visits_of_blocks(entry: flow.Kernel) -> Iterator[Visit]:
    """Visits of each block on each call path, in the order written."""
    waiting = [(entry.body, opening_scene(entry))]
    met = 0
    while waiting:
        node, scene = waiting.pop()
        if isinstance(node, flow.Block):
            met += 1
            if met > MOST_VISITS:
                message = f"the kernels call each other on too many paths: more than {MOST_VISITS} blocks are met"
                fail("too-many-paths", message, entry.name_span, hint="look at one of the kernels with --kernel")
            yield Visit(scene.enter_label(node.label), node)
        else:
            waiting += reversed(scenes_of_parts(node, scene))


def opening_scene(entry: flow.Kernel) -> Scene:
    return Scene(entry, (entry.name,), {entry.context: graph.ZERO}, arrays={}, around=(), region=(entry.name,))


def scenes_of_parts(node: flow.Flow, scene: Scene) -> list[tuple[flow.Flow, Scene]]:
    """Parts of a node, each in its scene, in the order written."""
    rule: Callable[[Any, Scene], list[tuple[flow.Flow, Scene]]] = _STEPS[type(node)]
    return rule(node, scene)


def _choice(node: flow.Choice, scene: Scene) -> list[tuple[flow.Flow, Scene]]:
    """A branch is taken where its own condition is the first to hold."""
    conditions = scene.bind([condition for condition, _ in node.branches])
    bodies = [*(body for _, body in node.branches), node.otherwise]
    taken: list[tuple[flow.Flow, Scene]] = []
    before = graph.TRUE  # none of the conditions so far holds
    for index, body in enumerate(bodies):
        holds = conditions[index] if index < len(conditions) else graph.TRUE
        branch = EnclosingBranch(_make_choice_wrapper(conditions, index), graph.junction("and", before, holds))
        taken.append((body, scene.enter(branch, None)))
        before = graph.junction("and", before, graph.compare("==", graph.if_else(holds, 1, 0), 0))
    return taken


def _make_choice_wrapper(conditions: Sequence[Expr], taken: int) -> Callable[[flow.Flow], flow.Flow]:
    def wrap(body: flow.Flow) -> flow.Flow:
        bodies = [body if index == taken else flow.NOTHING for index in range(len(conditions) + 1)]
        return flow.Choice(tuple(zip(conditions, bodies[:-1], strict=True)), bodies[-1], None)

    return wrap


def _expectation(node: flow.Expectation, scene: Scene) -> list[tuple[flow.Flow, Scene]]:
    chances = scene.bind([chance for chance, _ in node.cases])
    return [
        (
            body,
            scene.enter(
                EnclosingBranch(_make_expectation_wrapper(chance), graph.compare(">", chance, graph.ZERO)), None
            ),
        )
        for chance, (_, body) in zip(chances, node.cases, strict=True)
    ]


def _make_expectation_wrapper(chance: Expr) -> Callable[[flow.Flow], flow.Flow]:
    return lambda body: flow.Expectation(((chance, body),), None)


def _repeat(node: flow.Repeat, scene: Scene) -> list[tuple[flow.Flow, Scene]]:
    return [(node.body, scene.enter(EnclosingLoop(node, scene.bind([node.count])[0]), node.label))]


_STEPS: dict[type, Callable[[Any, Scene], list[tuple[flow.Flow, Scene]]]] = {
    flow.Sequence: lambda node, scene: [(step, scene) for step in node.steps],
    flow.Parallel: lambda node, scene: [(branch, scene.enter_label(node.label)) for branch in node.branches],
    flow.Call: lambda node, scene: [(node.kernel.body, scene.enter_call(node))],
    flow.Choice: _choice,
    flow.Expectation: _expectation,
    flow.Repeat: _repeat,
}


# -- the largest value over the passes of loops ----------------------------------------------------


def largest_over_passes(expr: Expr, loops: Sequence[tuple[Expr, Expr]], seed: int) -> Any:
    """The largest value of an expression over the passes of the loops around it, pairs of counter and count, the
    outermost first; nothing else may be left open in them. None where that cannot be told: it neither rises nor falls
    with a counter, and there are too many passes to try."""
    loops = _loops_needed(expr, loops)
    box: dict[Expr, tuple[Any, Any]] = {}
    passes, certain = 1, True
    for counter, count in loops:
        reach = bound_over_box(count, box, counter)
        if reach.high == math.inf:
            return None
        last = max(math.ceil(reach.high) - 1, 0)
        passes *= last + 1
        certain = certain and reach.low > 0
        box[counter] = (0, last)
    try:
        value = _largest_at_extremes(expr, loops, box, seed) if certain else None
        return value if value is not None or passes > MOST_PASSES else _largest_of_passes(expr, list(loops), seed)
    except EvaluationError:
        return None


def _loops_needed(expr: Expr, loops: Sequence[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr]]:
    """The loops whose counters the expression, or the count of another such loop, depends on."""
    used = set(graph.free_symbols(expr))
    sums: list[tuple[Expr, Expr]] = []
    for counter, count in reversed(loops):
        if counter in used:
            sums.insert(0, (counter, count))
            used |= graph.free_symbols(count)
    return sums


def _largest_at_extremes(expr: Expr, loops: Sequence[tuple[Expr, Expr]], box: Box, seed: int) -> Any:
    """The value in the pass in which it is largest; None where it may both rise and fall. Every loop has a pass."""
    extreme = expr
    for counter, count in reversed(loops):
        if counter in graph.free_symbols(extreme):
            direction = bound_over_box(extreme, box, counter).direction
            if direction is None:
                return None
            last = graph.sub(graph.apply("ceil", count), graph.ONE)
            extreme = graph.substitute([extreme], {counter: last if direction == RISING else graph.ZERO})[0]
    return evaluate(extreme, {}, seed)


def _largest_of_passes(expr: Expr, loops: list[tuple[Expr, Expr]], seed: int) -> Any:
    """The largest of all passes, one by one; None if there is none."""
    if not loops:
        return evaluate(expr, {}, seed)
    (counter, count), *inner = loops
    values = []
    for number in range(math.ceil(evaluate(count, {}, seed))):
        here = {counter: graph.number(number)}
        counts = graph.substitute([count for _, count in inner], here)
        rest = [(other, found) for (other, _), found in zip(inner, counts, strict=True)]
        values.append(_largest_of_passes(graph.substitute([expr], here)[0], rest, seed))
    return max((value for value in values if value is not None), default=None)
