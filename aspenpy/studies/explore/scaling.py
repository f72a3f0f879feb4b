"""Scaling: one application on more and more ranks of a machine: how long it takes, what of that is communication, and
where more ranks no longer help.

With P ranks, and P0 the fewest asked for, the efficiency of strong scaling is T(P0) P0 / (T(P) P): the problem stays as
it is. Of weak scaling, where it grows with the ranks, it is T(P0) / T(P). Times are closed forms of P, so that
8 million ranks take no longer to predict than 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import log, sqrt
from typing import Literal, Unpack

from aspenpy.answers.case import Case, CaseOptions, asked
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.totals import EnergyTotals
from aspenpy.answers.evaluation import Bottleneck
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.cost import Bound
from aspenpy.cost.prices import conflict_groups
from aspenpy.engine.python import Prepared
from aspenpy.expr import graph
from aspenpy.expr.definitions import reached
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail, nearest
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import of_kind, summed
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.studies.explore.communication import communication_of
from aspenpy.tables.result import Result

Mode = Literal["strong", "weak"]

RANKS = ("ranks", "P")  # parameters that say how many ranks there are, where none is named
PROBLEMS = (("nx", "ny", "nz"),)  # parameters whose product is the size of a problem, where none are named

SEARCHED_ONE_BY_ONE = 1024
"""Up to so many ranks, every number is looked at in the search for the fastest; beyond it 64 in each octave."""

MOST_GROWTH = 1e12  # by which a problem is made larger in the search for an efficiency


class Point(Record):
    """So many ranks: seconds, of which `communication` would vanish if messages took no time; `calls` are those that
    talk, the longest first, in seconds. `growth` is by how much the problem has to grow for the efficiency asked for;
    None where it was not asked for, or is never reached. `energy` is in joules, None where it was not asked for.
    `bottleneck` is what bounds the run for longest, None where it takes no time."""

    ranks: int
    time: float
    speedup: float
    efficiency: float
    communication: float
    calls: tuple[tuple[str, float], ...]
    growth: float | None
    energy: float | None = None
    bottleneck: Bottleneck | None = None

    @property
    def share(self) -> float:
        """Of communication, 0 to 1."""
        return self.communication / self.time if self.time else 0.0


class Scaling(Result):
    """An application over the numbers of `ranks`. Raises AspenError for parameters that it does not have, and where a
    number of ranks has no runtime, such as one beyond the machine's cores."""

    reported_by = "scaling"

    def __init__(
        self,
        case: Case,
        ranks: Sequence[int],
        mode: Mode = "strong",
        *,
        parameter: str | None = None,
        problem: Sequence[str] = (),
        isoefficiency: float | None = None,
        energy: EnergyOptions | None = None,
    ) -> None:
        app = case.application
        self.mode = mode
        self.ranks = tuple(sorted(dict.fromkeys(ranks)))
        if not self.ranks or self.ranks[0] < 1:
            fail("bad-ranks", "a number of ranks is 1 or more", app.node.name_span)
        self.parameter = parameter or _known(app, RANKS, "the number of ranks", "--parameter")
        needed = mode == "weak" or isoefficiency is not None
        self.problem = tuple(problem) or (_known_together(app) if needed else ())
        self.isoefficiency = isoefficiency
        self.energy = energy
        case = case.with_set({self.parameter: self.ranks[0]})
        if self.parameter in app.parameters and graph.free_symbols(app.parameters[self.parameter].value):
            _refuse_derived(Prediction(case), self.parameter)
        self.prediction: Prediction = predict(case)
        scope = self.prediction.scope
        sizes = scope.values([scope.symbol(name) for name in self.problem], self.prediction.seed)
        self._sizes = tuple(map(float, sizes))

    @cached_property
    def _compiled(self) -> tuple[Prepared, tuple[str, ...]]:
        """The runtime, what of it is communication, each call and perhaps the energy, as functions of the ranks and the
        problem."""
        shares = communication_of(self.prediction.tree)
        scope, free = self.prediction.scope, (self.parameter, *self.problem)
        joules = [] if self.energy is None else [EnergyTotals(self.prediction.tree, self.energy).energy]
        formulas = scope.formulas([shares.runtime, shares.waited, *shares.calls.values(), *joules], free)
        return Prepared(formulas, [scope.symbol(name) for name in free], self.prediction.seed), tuple(shares.calls)

    def _at(self, ranks: int, growth: float = 1.0) -> tuple[float, ...]:
        """With a problem that is so many times as large."""
        sizes = self._sizes_at(ranks, growth)
        try:
            return self._compiled[0](ranks, *sizes)
        except EvaluationError as error:
            raise self._there(ranks, sizes).scope.located(error) from None

    def _sizes_at(self, ranks: int, growth: float = 1.0) -> list[float]:
        """The parameters of a problem that is so many times as large, grown with the ranks in weak scaling."""
        if self.mode == "weak":
            growth *= ranks / self.ranks[0]
        each = growth ** (1 / len(self.problem)) if self.problem else 1.0
        return [size * each for size in self._sizes]

    def _there(self, ranks: int, sizes: Sequence[float]) -> Prediction:
        """The run on so many ranks."""
        problem = dict(zip(self.problem, sizes, strict=True))
        return Prediction(self.prediction.case.with_set({**problem, self.parameter: ranks}))

    def _efficiency(self, ranks: int, growth: float = 1.0) -> float:
        first, here = self._at(self.ranks[0], growth)[0], self._at(ranks, growth)[0]
        work = 1 if self.mode == "weak" else self.ranks[0] / ranks
        return first * work / here if here else 1.0

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the models, and what goes with the values once, with the numbers of ranks that it is so on."""
        base = (item for item in self.prediction.diagnostics if item not in self.prediction.wasted)
        found: dict[str, list[tuple[int, Diagnostic]]] = {}
        for ranks in self.ranks:
            for item in self._there(ranks, self._sizes_at(ranks)).wasted:
                found.setdefault(f"{item.code} {item.span}", []).append((ranks, item))
        return (*base, *(self._once(told) for told in found.values()))

    def _once(self, told: list[tuple[int, Diagnostic]]) -> Diagnostic:
        (first, item), (last, _) = told[0], told[-1]
        if len(self.ranks) == 1:
            return item
        so = f"{first:,} to {last:,} ranks, {len(told)} of {len(self.ranks)} points" if told[1:] else f"{first:,} ranks"
        return item.replace(message=f"{item.message} (on {so})")

    @cached_property
    def points(self) -> tuple[Point, ...]:
        return tuple(map(self._point, self.ranks))

    def _point(self, ranks: int) -> Point:
        time, waited, *rest = self._at(ranks)
        calls = rest[: len(self._compiled[1])]
        energy = None if self.energy is None else rest[-1]
        efficiency = self._efficiency(ranks)
        named = sorted(zip(self._compiled[1], calls, strict=True), key=lambda call: -call[1])
        talking = tuple((name, seconds) for name, seconds in named if seconds > 0)
        speedup = efficiency * ranks / self.ranks[0]
        growth = None if self.isoefficiency is None else self._growth(ranks, self.isoefficiency)
        return Point(ranks, time, speedup, efficiency, waited, talking, growth, energy, self._bottleneck(ranks, time))

    @cached_property
    def _waits(self) -> tuple[Prepared, tuple[str, ...]]:
        """Seconds that the run is bound by each resource, as functions like those of `_compiled`."""
        tree, scope, free = self.prediction.tree, self.prediction.scope, (self.parameter, *self.problem)
        bounds: dict[str, list[Expr]] = {}
        for key, seconds in of_kind(Bound, tree.kernel_totals).items():
            bounds.setdefault(key.resource, []).append(seconds)
        formulas = scope.formulas([summed(parts) for parts in bounds.values()], free)
        return Prepared(formulas, [scope.symbol(name) for name in free], self.prediction.seed), tuple(bounds)

    def _bottleneck(self, ranks: int, time: float) -> Bottleneck | None:
        """What bounds the run for longest, with those that cannot overlap with it."""
        run, names = self._waits
        waits = {name: wait for name, wait in zip(names, run(ranks, *self._sizes_at(ranks)), strict=True) if wait > 0}
        if not waits:
            return None
        groups = conflict_groups(dict.fromkeys(waits, graph.ZERO), self.prediction.tree.conflicts)
        longest = max((group.resources for group in groups), key=lambda names: sum(waits[name] for name in names))
        name, seconds = max(longest, key=waits.__getitem__), sum(waits[name] for name in longest)
        return Bottleneck(name, self.prediction.component_of(name), seconds, seconds / time, longest)

    def _growth(self, ranks: int, wanted: float) -> float | None:
        """How many times as large a problem has the efficiency wanted, from 1 on. A larger problem is taken to be no
        less efficient."""
        if self._efficiency(ranks) >= wanted:
            return 1.0
        low, high = 1.0, 2.0
        while self._efficiency(ranks, high) < wanted:
            low, high = high, high * high
            if high > MOST_GROWTH:
                return None
        while high / low > 1 + 1e-9:
            middle = sqrt(low * high)
            low, high = (middle, high) if self._efficiency(ranks, middle) < wanted else (low, middle)
        return high

    @cached_property
    def fastest(self) -> Point:
        """The number of ranks, between the fewest and the most, that takes the least time; of equals the fewest."""
        best = min(self._candidates(), key=lambda ranks: (self._at(ranks)[0], ranks))
        if best > SEARCHED_ONE_BY_ONE:  # between the candidates next to it
            step = best // 64
            low, high = max(best - step, self.ranks[0]), min(best + step, self.ranks[-1])
            while high - low > 2:
                third = (high - low) // 3
                left, right = low + third, high - third
                low, high = (low, right) if self._at(left)[0] <= self._at(right)[0] else (left, high)
            best = min((best, *range(low, high + 1)), key=lambda ranks: (self._at(ranks)[0], ranks))
        return self._point(best)

    def _candidates(self) -> list[int]:
        first, last = self.ranks[0], self.ranks[-1]
        counts = set(range(first, min(last, SEARCHED_ONE_BY_ONE) + 1)) | {first, last}
        octaves = range(SEARCHED_ONE_BY_ONE.bit_length() - 1, int(log(last, 2)) + 1)
        counts |= {(1 << octave) * (64 + part) // 64 for octave in octaves for part in range(64)}
        return sorted(ranks for ranks in counts if first <= ranks <= last)

    @property
    def turns(self) -> bool:
        """Whether there is a number of ranks from which on more of them take longer."""
        return self.fastest.ranks < self.ranks[-1] and self._at(self.ranks[-1])[0] > self.fastest.time

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The calls that talk, the longest on the most ranks first."""
        return tuple(name for name, _ in self.points[-1].calls)


class ScalingOptions(CaseOptions, total=False):
    """What `scaling` takes besides the ranks."""

    parameter: str | None
    problem: Sequence[str]
    isoefficiency: float | None
    energy: EnergyOptions | None


def scaling(
    app: Application | Case,
    machine: Machine | None = None,
    ranks: Sequence[int] = (),
    mode: Mode = "strong",
    **options: Unpack[ScalingOptions],
) -> Scaling:
    """One application on more and more ranks, or a `Case`: `scaling(app, machine, [1, 2, 4])`, `scaling(case,
    ranks=[1, 2, 4])`. The other options are those of `Case`.

    `parameter` is the model's number of ranks, `problem` the parameters whose product is the size of the problem, which
    grows with the ranks in weak scaling. `isoefficiency` (0 to 1) asks by how much it has to grow for that efficiency,
    `energy` for the joules, counted so.
    """
    case, own = asked(app, machine, options)
    return Scaling(case, ranks, mode, **own)


def doublings(first: int, last: int) -> list[int]:
    """From the first on, twice as many each time, and the last."""
    counts = []
    while first < last:
        counts.append(first)
        first *= 2
    return [*counts, last]


def _refuse_derived(prediction: Prediction, name: str) -> None:
    """A number of ranks that the model derives from what it also uses elsewhere, such as the edges of a grid: set by
    itself, it would not be their product any more."""
    scope, derived = prediction.scope, prediction.application.parameters[name]
    behind = reached([derived.value], scope.definitions)
    used = scope.used([prediction.tree.runtime])
    broken = [f"`{scope.display_name(symbol)}`" for symbol in used if symbol in behind]
    if broken:
        those = f"{', '.join(broken[:-1])} and {broken[-1]}" if len(broken) > 1 else broken[0]
        message = f"`{name}` cannot be set by itself: the model derives it from {those}, which would stay as they are"
        hint = f"scale one of those: --parameter NAME, others with --set; or let the model derive them from `{name}`"
        fail("derived-parameter", message, derived.span, hint=hint)


def _known(app: Application, names: Sequence[str], what: str, option: str) -> str:
    for name in names:
        if name in app.parameters:
            return name
    listed = f": it has {', '.join(list(app.parameters)[:8])}" if app.parameters else ""
    hint = f"say which one it is with {option}{listed}"
    fail("no-such-parameter", f"application `{app.name}` has no `{names[0]}` for {what}", app.node.name_span, hint=hint)


def _known_together(app: Application) -> tuple[str, ...]:
    for names in PROBLEMS:
        if all(name in app.parameters for name in names):
            return names
    close = nearest("n", app.parameters)
    hint = (
        f"say which parameters it is the product of with --problem, such as --problem n{f' ({close})' if close else ''}"
    )
    message = f"what the size of the problem of `{app.name}` is is not known"
    fail("no-such-parameter", message, app.node.name_span, hint=hint)
