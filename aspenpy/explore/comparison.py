"""Comparison: one kernel on several machines or sockets, and where which of them is the fastest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import NoReturn

from aspenpy.analysis.bounds import FLAT, Range, Real, bounds, size
from aspenpy.analysis.footprint import Footprint
from aspenpy.analysis.inverse import Search
from aspenpy.application.model import Application
from aspenpy.diagnostics import AspenError, fail
from aspenpy.explore.difference import difference, written_out
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import Machine
from aspenpy.mapping.compute import target
from aspenpy.mapping.transfer import LINK, over_link
from aspenpy.prediction import Prediction, predict
from aspenpy.record import Record
from aspenpy.scope import DEFAULT_SEED, Setting


class Contender(Record):
    """One machine with the socket it computes on. `transfer` is the seconds that moving the kernel's data there takes,
    as an expression; 0 where they are."""

    label: str
    prediction: Prediction
    transfer: Expr

    @property
    def time(self) -> Expr:
        """Seconds in all, in the symbols of the models."""
        return graph.add(self.prediction.tree.runtime, self.transfer)


class Crossover(Record):
    """Where two contenders change places: from `before`, where `first` is the faster, to `behind`, where `second`
    is. Both are one value where the times meet; a step in one of them (`ceil`) lies between two neighbours. From
    `before` to `behind` they may also tie."""

    first: str
    second: str
    before: Real
    behind: Real


class Stretch(Record):
    """The fastest contender over an interval of the parameter, and those that are as fast in all of it."""

    low: Real
    high: Real
    fastest: str
    tied: tuple[str, ...] = ()


class Comparison:
    """A kernel on several machines, at one point or `over` a parameter from `low` to `high`."""

    def __init__(
        self,
        application: Application,
        machines: Sequence[tuple[Machine, str | None]],
        *,
        kernel: str = "main",
        set: Mapping[str, Setting] | None = None,
        transfer: bool = False,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
    ) -> None:
        if len(machines) < 2:
            fail(
                "one-machine",
                "a comparison needs two machines or sockets, and here is one",
                hint="separate with commas",
            )
        self.application = application
        self.kernel = kernel
        self.seed = seed
        self.set = dict(set or {})
        predictions = [
            predict(application, machine, socket=socket, kernel=kernel, set=set, seed=seed, overlap=overlap)
            for machine, socket in machines
        ]
        moved = [graph.ZERO, *(self._transfer(item) if transfer else graph.ZERO for item in predictions[1:])]
        labels = _labels(predictions)
        self.contenders = tuple(map(Contender, labels, predictions, moved))

    @cached_property
    def times(self) -> dict[str, float]:
        """Seconds of each contender, the transfer included."""
        return {item.label: float(item.prediction.scope.values([item.time], self.seed)[0]) for item in self.contenders}

    @cached_property
    def transfers(self) -> dict[str, float]:
        """Seconds that each contender spends on moving the data."""
        return {
            item.label: float(item.prediction.scope.values([item.transfer], self.seed)[0]) for item in self.contenders
        }

    @property
    def fastest(self) -> str:
        return min(self.times, key=self.times.__getitem__)

    def over(self, parameter: str, low: Real, high: Real, *, whole: bool = False) -> Sweep:
        """All crossovers of any two contenders in the interval, and who is the fastest where."""
        if whole:
            low, high = math.ceil(low), math.floor(high)
        if low >= high:
            fail("empty-range", f"`{parameter}` has no values from {float(low):.6g} to {float(high):.6g}")
        return Sweep(self, parameter, low, high, whole)

    def _transfer(self, prediction: Prediction) -> Expr:
        """The kernel's data over the link."""
        offer = target(prediction.machine, prediction.socket).offers.get(LINK)
        if offer is None:
            message = f"machine `{prediction.machine.name}` declares no link: nothing there offers `{LINK}`"
            fail("no-link", message, prediction.machine.root.name_span, hint="compare without --transfer")
        touched = Footprint(
            self.application, kernel=self.kernel, set=self.set, machine=prediction.machine, seed=self.seed
        ).data
        sizes = []
        for name in touched:
            if name not in self.application.data:
                fail("unknown-size", f"the size of `{name}` is not declared, so it cannot be moved")
            sizes.append(self.application.data[name].size)
        if not sizes:
            message = f"kernel `{self.kernel}` names no data structures, so nothing can be moved"
            fail("no-data", message, prediction.tree.entry.name_span, hint="write `loads [...] from NAME`")
        return over_link(offer, graph.add(*sizes))


class Sweep:
    """A comparison over one parameter."""

    def __init__(self, comparison: Comparison, parameter: str, low: Real, high: Real, whole: bool) -> None:
        self.comparison = comparison
        self.parameter = parameter
        self.low = low
        self.high = high
        self.whole = whole
        self.symbols = {item.label: item.prediction.scope.symbol(parameter) for item in comparison.contenders}
        self.formulas = {
            item.label: item.prediction.scope.formulas([item.time], [parameter])[0] for item in comparison.contenders
        }
        if not any(self.symbols[label] in graph.free_symbols(formula) for label, formula in self.formulas.items()):
            fail("no-effect", f"no runtime depends on `{parameter}`")

    def time(self, label: str, x: Real) -> Real:
        """Seconds of a contender at a value of the parameter."""
        try:
            found: Real = evaluate(self.formulas[label], {self.symbols[label]: x}, self.comparison.seed)
            return found
        except EvaluationError as error:
            located = next(item for item in self.comparison.contenders if item.label == label).prediction.scope.located(
                error
            )
            raise located from None

    @cached_property
    def crossovers(self) -> tuple[Crossover, ...]:
        """Where two contenders change places, from the lowest value on. Complete: the search proves for each piece of
        the interval that the ratio of the times stays on one side of 1, or only rises or falls through it."""
        labels = [item.label for item in self.comparison.contenders]
        found = [crossover for first, second in combinations(labels, 2) for crossover in self._between(first, second)]
        return tuple(sorted(found, key=lambda crossover: crossover.before))

    def _between(self, first: str, second: str) -> list[Crossover]:
        """Of the places where the times meet, those behind which the other one is the faster."""
        places = self._meetings[first, second]
        ends = [self.low, *(end for place in places for end in place), self.high]
        found = []
        for number, (before, behind) in enumerate(places):
            sooner = self._side(first, second, ends[2 * number], before)
            later = self._side(first, second, behind, ends[2 * number + 3])
            if sooner * later < 0:
                found.append(Crossover(*((first, second) if sooner < 0 else (second, first)), before, behind))
        return found

    @cached_property
    def _meetings(self) -> dict[tuple[str, str], list[tuple[Real, Real]]]:
        """Where the times of two contenders are equal, or leap over each other between two neighbouring values."""
        labels = [item.label for item in self.comparison.contenders]
        return {(first, second): self._meeting(first, second) for first, second in combinations(labels, 2)}

    def _meeting(self, first: str, second: str) -> list[tuple[Real, Real]]:
        symbol = self.symbols[first]
        mine = self.formulas[first]
        theirs = graph.substitute([self.formulas[second]], {self.symbols[second]: symbol})[0]
        if theirs is mine:
            return []
        try:
            roots = _Race(mine, theirs, symbol, self._ratio(first, second), self.whole).run(self.low, self.high)
        except AspenError as error:
            self._refuse_unproven(error, first, second)
        places = [(root.low, root.high) for root in roots.solutions]
        return sorted(places + [(leap.before, leap.behind) for leap in roots.leaps])

    def _refuse_unproven(self, error: AspenError, first: str, second: str) -> NoReturn:
        """Too many meetings, told in the words of a comparison; but a time that has no value is what is told first."""
        if [item.code for item in error.diagnostics] != ["not-proven"]:
            raise error
        for x in (self.low, self._middle(self.low, self.high), self.high):
            self.time(first, x)
            self.time(second, x)
        message = f"cannot prove that all crossovers of `{first}` and `{second}` are found"
        other = "" if self.whole else ", or whole numbers with --integer"
        hint = f"their times meet too often over `{self.parameter}`; compare over a smaller range{other}"
        fail("not-proven", message, hint=hint)

    def _ratio(self, first: str, second: str) -> Callable[[Real], Real]:
        def ratio(x: Real) -> Real:
            below = self.time(second, x)
            if below == 0:
                fail(
                    "no-time", f"{second} takes no time at `{self.parameter}` = {float(x):.6g}, so times have no ratio"
                )
            return self.time(first, x) / below

        return ratio

    def _side(self, first: str, second: str, low: Real, high: Real) -> int:
        """Who is the faster between two neighbouring places where the times meet: -1 the first, 1 the second."""
        for x in (self._middle(low, high), low, high):
            mine, theirs = self.time(first, x), self.time(second, x)
            if size(mine - theirs) > TIE * max(size(mine), size(theirs)):
                return -1 if mine < theirs else 1
        return 0

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Who is the fastest where, in the order of the parameter; neighbours differ."""
        cuts = [
            (self.low, self.low),
            *((place.before, place.behind) for place in self.crossovers),
            (self.high, self.high),
        ]
        found: list[Stretch] = []
        for (_, low), (high, _) in pairwise(sorted(cuts)):
            if high < low:
                continue
            fastest, *tied = self._fastest(low, high)
            if found and (found[-1].fastest, found[-1].tied) == (fastest, tuple(tied)):
                found[-1] = found[-1].replace(high=high)
            elif low < high or self.whole:
                found.append(Stretch(low, high, fastest, tuple(tied)))
        return tuple(found)

    def _fastest(self, low: Real, high: Real) -> list[str]:
        """The contenders that none beats from `low` to `high`, where no two change places: they may tie in parts of
        it, so that it takes a look between any two places where times meet."""
        edges = {end for places in self._meetings.values() for place in places for end in place if low < end < high}
        looks = [self._middle(before, behind) for before, behind in pairwise(sorted({low, *edges, high}))] or [low]
        beaten = dict.fromkeys(self.formulas, 0)
        for x in looks:
            times = {label: self.time(label, x) for label in self.formulas}
            least = min(times.values())
            for label, time in times.items():
                beaten[label] += time - least > TIE * least
        return [label for label, times in beaten.items() if times == min(beaten.values())]

    def _middle(self, low: Real, high: Real) -> Real:
        return (low + high) // 2 if self.whole else (low + high) / 2


class _Race(Search):
    """The search for where the ratio of two times is 1, with bounds that know how far apart the times are."""

    most_pieces = 4_000

    def __init__(self, first: Expr, second: Expr, symbol: Expr, ratio: Callable[[Real], Real], whole: bool) -> None:
        self.first, self.second = written_out(first), written_out(second)
        super().__init__(graph.div(self.first, self.second), symbol, ratio, 1, whole)

    def _range(self, low: Real, high: Real) -> Range:
        """The ratio is 1 + (first - second)/second."""
        found = super()._range(low, high)
        if low == high or found.direction is not None or not found.low < 1 < found.high:
            return found
        base = bounds(self.second, {self.symbol: (low, high)}, self.symbol)
        apart = difference(self.first, self.second, self.symbol, low, high)
        if apart.single and apart.low == 0:
            return Range(1, 1, FLAT)
        if base.low <= 0 or math.inf in (base.high, apart.high, -apart.low):
            return found
        over = [Fraction(end) / Fraction(part) for end in apart[:2] for part in base[:2]]
        return Range(max(found.low, 1 + min(over)), min(found.high, 1 + max(over)))


TIE = 1e-12
"""Times this close to each other, relative to them, are equal as far as floating point can tell."""


def _labels(predictions: Sequence[Prediction]) -> list[str]:
    """Machines by name; with the socket where a machine comes more than once."""
    names = [item.machine.name for item in predictions]
    labels = [
        f"{item.machine.name}/{item.socket}" if names.count(item.machine.name) > 1 else item.machine.name
        for item in predictions
    ]
    for label in labels:
        if labels.count(label) > 1:
            fail("same-machine", f"`{label}` is compared with itself", hint="name different machines, or --socket A,B")
    return labels
