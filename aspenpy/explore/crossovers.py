"""Crossovers: where, over a parameter, which of several contenders is the fastest, and what of it is proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

from aspenpy.answers.inverse import Piece
from aspenpy.answers.prediction import Prediction
from aspenpy.explore.race import MET, TIE, Deadline, Race, Seen
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import format_number
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import Real, magnitude_of_end
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.record import Record
from aspenpy.sweeps.points import warn_of_cap

LOOKED_AT = 33  # values of a parameter at which power caps are looked at

PROOF_SECONDS, PROOF_CLOCK = 2.5, 3.5
"""Seconds of processor time, and by the clock, that are spent on proving that all crossovers are found."""

LOOK_SECONDS, LOOK_CLOCK = 2.0, 2.5  # the same of trying values where nothing is proven

FEWEST_LOOKS = 17  # values that are tried however little time is left

MOST_LOOKS = 257  # values that are tried where nothing is proven


class Contender(Record):
    """A machine with one of its sockets, to be compared with others. `transfer` is an expression for the seconds that
    it takes to move the kernel's data there; 0 where the data are there already."""

    label: str
    prediction: Prediction
    transfer: Expr

    @property
    def time(self) -> Expr:
        """Seconds in all, in the symbols of the models."""
        return graph.add(self.prediction.tree.runtime, self.transfer)


class Crossover(Record):
    """A change of places between two contenders: from `before`, where `first` is the faster, to `behind`, where
    `second` is. Both are one value where the times meet; a step in one of them (`ceil`) lies between two neighbours.
    From `before` to `behind` they may also tie."""

    first: str
    second: str
    before: Real
    behind: Real


class Unproven(Record):
    """A part of the interval in which it could not be proven that all crossovers of two contenders are found: those
    that are lie between neighbours of the `looks` values that were tried."""

    first: str
    second: str
    low: Real
    high: Real
    looks: int


class Lead(Record):
    """The fastest contender over an interval of the parameter, and those that are as fast in all of it."""

    low: Real
    high: Real
    fastest: str
    tied: tuple[str, ...] = ()


class Crossovers:
    """Contenders over one parameter, from `low` to `high`: who is the fastest where."""

    def __init__(
        self,
        contenders: Sequence[Contender],
        parameter: str,
        low: Real,
        high: Real,
        whole: bool = False,
        progress: Seen | None = None,
    ) -> None:
        self.progress: Seen = progress or (lambda part: None)
        self.contenders = tuple(contenders)
        self.seed = self.contenders[0].prediction.seed
        self.parameter = parameter
        self.low = low
        self.high = high
        self.whole = whole
        self.symbols = {item.label: item.prediction.scope.symbol(parameter) for item in self.contenders}
        self.formulas = {
            item.label: item.prediction.scope.formulas([item.time], [parameter])[0] for item in self.contenders
        }
        if not any(self.symbols[label] in graph.free_symbols(formula) for label, formula in self.formulas.items()):
            fail("no-effect", f"no runtime depends on `{parameter}`")

    @cached_property
    def cap_warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings of a power cap that makes contenders slower than their formulas, at values from one end to the
        other."""
        step = (float(self.high) - float(self.low)) / (LOOKED_AT - 1)
        values = [float(self.low) + step * number for number in range(LOOKED_AT)]
        rows = [[float(round(value)) if self.whole else value] for value in values]
        labels = [f"{self.parameter} = {value:.6g}" for (value,) in rows]
        return tuple(
            warning
            for item in self.contenders
            for warning in warn_of_cap(item.prediction, [self.symbols[item.label]], rows, labels, [self.parameter])
        )

    def time(self, label: str, x: Real) -> Real:
        """Seconds of a contender at a value of the parameter."""
        contender = next(item for item in self.contenders if item.label == label)
        with contender.prediction.scope.locate_failures(f"with `{self.parameter}` = {format_number(x)}"):
            seconds: Real = evaluate(self.formulas[label], {self.symbols[label]: x}, self.seed)
            return seconds

    @cached_property
    def crossovers(self) -> tuple[Crossover, ...]:
        """Changes of places between two contenders, the lowest value first. Complete but for `unproven`: the search
        proves for each piece of the interval that the ratio of the times stays on one side of 1, or only rises or falls
        through it."""
        crossings = [crossover for first, second in self._meetings for crossover in self._between(first, second)]
        return tuple(sorted(crossings, key=lambda crossover: crossover.before))

    @property
    def unproven(self) -> tuple[Unproven, ...]:
        """Intervals in which crossovers may be missing."""
        _ = self._meetings
        return tuple(self._unproven)

    def meets(self, crossover: Crossover) -> bool:
        """Whether both take the same time where they change places; else one of them jumps."""
        pairs = [
            (self.time(crossover.first, x), self.time(crossover.second, x))
            for x in (crossover.before, crossover.behind)
        ]
        return all(
            magnitude_of_end(mine - theirs) <= MET * max(magnitude_of_end(mine), magnitude_of_end(theirs))
            for mine, theirs in pairs
        )

    def _between(self, first: str, second: str) -> list[Crossover]:
        """The crossovers among the places where the times meet: those behind which the other one is the faster."""
        places = self._meetings[first, second]
        ends = [self.low, *(end for place in places for end in place), self.high]
        crossings = []
        for number, (before, behind) in enumerate(places):
            sooner = self._side(first, second, ends[2 * number], before)
            later = self._side(first, second, behind, ends[2 * number + 3])
            if sooner * later < 0:
                crossings.append(Crossover(*((first, second) if sooner < 0 else (second, first)), before, behind))
        return crossings

    @cached_property
    def _meetings(self) -> dict[tuple[str, str], list[Piece]]:
        """Values at which the times of two contenders are equal, or leap over each other between two neighbouring
        values."""
        pairs = [*combinations((item.label for item in self.contenders), 2)]
        proofs = Deadline(PROOF_SECONDS, PROOF_CLOCK)
        self._unproven: list[Unproven] = []
        meetings = {}
        for index, (first, second) in enumerate(pairs):
            until, part = proofs.part(len(pairs) - index), self._part_of(index, len(pairs))
            meetings[first, second] = self._find_meetings(first, second, until, len(pairs), part)
        return meetings

    def _part_of(self, before: int, count: int) -> Seen:
        """A callback that reports the progress of one pair as a share of that of all pairs."""
        return lambda part: self.progress((before + part) / count)

    def _find_meetings(self, first: str, second: str, until: Deadline, pairs: int, progress: Seen) -> list[Piece]:
        symbol = self.symbols[first]
        mine = self.formulas[first]
        theirs = graph.substitute([self.formulas[second]], {self.symbols[second]: symbol})[0]
        if theirs is mine:
            return []
        race = Race(mine, theirs, symbol, ratio=self._ratio(first, second), whole=self.whole, seed=self.seed)
        race.until = until
        race.progress = progress
        roots = race.run(self.low, self.high)
        places = [(root.low, root.high) for root in roots.solutions]
        places += [(leap.before, leap.behind) for leap in roots.leaps]
        looking = Deadline(LOOK_SECONDS / pairs, LOOK_CLOCK / pairs)
        for index, (low, high) in enumerate(race.left):
            looks = self._try_values(race, self._values_to_try(low, high), looking.part(len(race.left) - index))
            self._unproven.append(Unproven(first, second, low, high, len(looks)))
            places += self._bracket_crossovers(race, looks)
        return sorted(places)

    def _values_to_try(self, low: Real, high: Real) -> list[Real]:
        """Values from one end to the other, at equal ratios where there are ratios."""
        if self.whole and high - low < MOST_LOOKS:
            return list(range(int(low), int(high) + 1))
        steps = [index / (MOST_LOOKS - 1) for index in range(1, MOST_LOOKS - 1)]
        start, ratio = float(low), float(high) / float(low) if low > 0 else 0.0
        inner = [start * ratio**step if low > 0 else start + float(high - low) * step for step in steps]
        inside = [round(x) if self.whole else Fraction(x) for x in inner]
        return [low, *sorted({x for x in inside if low < x < high}), high]

    def _try_values(self, race: Race, looks: list[Real], until: Deadline) -> list[Real]:
        """The values that there was time to try: the ends, then those between them, ever closer."""
        step = 1 << (len(looks) - 1).bit_length()
        done = {0, len(looks) - 1}
        while step > 1:
            step //= 2
            for index in range(step, len(looks), 2 * step):
                if until.spent >= 1 and len(done) >= FEWEST_LOOKS:
                    return [looks[index] for index in sorted(done)]
                race.side(looks[index])
                race.progress((1 + min(1.0, max(until.spent, len(done) / len(looks)))) / 2)
                done.add(index)
        return looks

    def _bracket_crossovers(self, race: Race, looks: list[Real]) -> list[Piece]:
        """Neighbouring values between which the other contender becomes the faster, found by halving."""
        pieces: list[Piece] = []
        last: tuple[Real, int] | None = None
        for x in looks:
            side = race.side(x)
            if last is not None and side * last[1] < 0:
                pieces.append(race.turn(last[0], x))
            last = (x, side) if side else last
        return pieces

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
        """The faster of two between neighbouring points where their times meet: -1 the first, 1 the second, 0
        neither."""
        for x in (self._middle(low, high), low, high):
            mine, theirs = self.time(first, x), self.time(second, x)
            if magnitude_of_end(mine - theirs) > TIE * max(magnitude_of_end(mine), magnitude_of_end(theirs)):
                return -1 if mine < theirs else 1
        return 0

    @cached_property
    def stretches(self) -> tuple[Lead, ...]:
        """The fastest contender in each interval, in the order of the parameter; neighbours differ."""
        cuts = [
            (self.low, self.low),
            *((place.before, place.behind) for place in self.crossovers),
            (self.high, self.high),
        ]
        pieces: list[Lead] = []
        for (_, low), (high, _) in pairwise(sorted(cuts)):
            if high < low:
                continue
            fastest, *tied = self._fastest(low, high)
            if pieces and (pieces[-1].fastest, pieces[-1].tied) == (fastest, tuple(tied)):
                pieces[-1] = pieces[-1].replace(high=high)
            elif low < high or self.whole:
                pieces.append(Lead(low, high, fastest, tuple(tied)))
        return tuple(pieces)

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
