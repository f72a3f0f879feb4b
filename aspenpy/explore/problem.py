"""Problem: a quantity to minimise over a space under constraints, and the search for its best point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NoReturn

import numpy

from aspenpy.answers.prediction import Prediction
from aspenpy.explore.constraint import Constraint
from aspenpy.explore.lifted import Smooth
from aspenpy.explore.space import Quantity, Space
from aspenpy.explore.variable import Variable
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.sweeps.points import Floats

MOST_COMBINATIONS = 2_000_000  # of whole numbers and choices, without real variables: all of them are looked at

MOST_SEARCHED = 64
"""Combinations of whole numbers and choices in each of which the real variables are searched; of more, the best."""

SCATTERED = 128  # points that are tried for each combination before a search
FEWEST_SCATTERED = 8  # the same where combinations are many
MOST_SCATTERED = 200_000  # of all combinations together, unless these are so many that each has the fewest
STARTS = 4  # searches in each combination, from the best of those points
BESIDE = 64  # values that are tried at once to find where there are no more values
NARROW = 1e-14  # that place is found to this part of it
MOST_AROUND = 300  # combinations of whole numbers beside a solution in real ones that are tried at once
MOST_ROUNDED = 3  # solutions in real numbers whose whole neighbours are tried
MOST_STEPS = 32  # times that the neighbours of the best whole ones are tried in turn
FEASIBLE = 1e-7  # a constraint that a search violates by no more than this part of its sides holds
ROUNDING = 1e-12  # the same where values are not searched but given: whole numbers and choices


class Candidate(Record):
    """A point with what is to be least there, and by which part the worst constraint is violated."""

    row: tuple[float, ...]
    value: float
    violation: float


class PointValues(Record):
    """The value to be minimised at some points, the worst violation, and a row of excesses for each constraint;
    `undefined` points violate infinitely."""

    value: Floats
    violation: Floats
    excess: Floats
    undefined: int


class Problem:
    """A goal and constraints over a space. `combined` has its values at all combinations, where they are known."""

    def __init__(
        self, space: Space, goal: Quantity, constraints: Sequence[Constraint] = (), combined: Floats | None = None
    ) -> None:
        self.space, self.goal, self.constraints = space, goal, tuple(constraints)
        self.real = [index for index, item in enumerate(space.variables) if item.kind == "real"]
        self.discrete = [index for index, item in enumerate(space.variables) if item.kind != "real"]
        self._smooth: dict[tuple[float, ...], Smooth] = {}
        self._combined = combined

    def relax(self, constraints: Sequence[Constraint]) -> Problem:
        """The same goal under some of the constraints, which may have more slack."""
        if not self.enumerable:
            return Problem(self.space, self.goal, constraints)
        texts = [item.text for item in self.constraints]
        places = [1 + 2 * texts.index(item.text) for item in constraints]
        rows = [0, *(row for place in places for row in (place, place + 1))]
        return Problem(self.space, self.goal, constraints, self.combined[rows])

    @property
    def enumerable(self) -> bool:
        return not self.real

    @property
    def tolerance(self) -> float:
        """The part of its sides by which a constraint may be violated and yet hold."""
        return FEASIBLE if self.real else ROUNDING

    @cached_property
    def combinations(self) -> int:
        return int(numpy.prod([float(self.space.variables[place].size or 1) for place in self.discrete]))

    # -- many points -----------------------------------------------------------------------------

    @property
    def quantities(self) -> list[Quantity]:
        """The goal, then both sides of each constraint."""
        sides = [partial(_side_of, item, side) for item in self.constraints for side in (0, 1)]
        return [self.goal, *sides]

    @cached_property
    def _evaluate(self) -> Callable[[Floats], Floats]:
        return self.space.evaluator(self.quantities, missing=True)

    @cached_property
    def combined(self) -> Floats:
        """The goal and both sides of each constraint, a row each, at all combinations."""
        if self._combined is not None:
            return self._combined
        return self.space.at_all_combinations(self.quantities, self.all_points)

    def evaluate_points(self, points: Floats) -> PointValues:
        """The values at points, a row each."""
        return self._judge(self._evaluate(points))

    def _judge(self, rows: Floats) -> PointValues:
        undefined = numpy.isnan(rows).any(axis=0)
        worst = numpy.zeros(rows.shape[1])
        beyond = numpy.empty((len(self.constraints), rows.shape[1]))
        for excess, item, left, right in zip(beyond, self.constraints, rows[1::2], rows[2::2], strict=True):
            excess[:] = abs(item.excess(left, right)) if item.equal else item.excess(left, right)
            scale = numpy.maximum(abs(left), abs(right))
            worst = numpy.maximum(worst, excess / numpy.where(scale > 0, scale, 1.0))
        worst = numpy.where(undefined, numpy.inf, worst)
        value = numpy.where(undefined, numpy.inf, rows[0])
        return PointValues(value, numpy.where(worst <= self.tolerance, 0.0, worst), beyond, int(undefined.sum()))

    @cached_property
    def all_points(self) -> Floats:
        """Every combination of the variables that are not real, the last of them the fastest; the real ones at their
        base."""
        if self.combinations > MOST_COMBINATIONS:
            fail(
                "too-many-combinations",
                f"{self.combinations:,} combinations of whole numbers and choices are more than {MOST_COMBINATIONS:,}",
                hint="make ranges smaller, give lists such as n=1,2,4, or take one as real: NAME=LOW..HIGH:real",
            )
        grids = numpy.meshgrid(*(self.space.variables[place].values for place in self.discrete), indexing="ij")
        points = numpy.tile(self.space.base, (self.combinations, 1))
        for place, grid in zip(self.discrete, grids, strict=True):
            points[:, place] = grid.ravel()
        return points

    # -- the search ------------------------------------------------------------------------------

    def best(self) -> Candidate:
        """The feasible point that is best, or else the one that violates least. Raises AspenError where none has a
        value."""
        if self.enumerable:
            points, found = self.first_points
            nearest = numpy.flatnonzero(found.violation == found.violation.min())
            index = int(nearest[found.value[nearest].argmin()])
            best = Candidate(tuple(points[index].tolist()), float(found.value[index]), float(found.violation[index]))
        else:
            candidates = [candidate for start in self._starts() for candidate in self._search_from(start)]
            best = min(candidates, key=_rank) if not self.counted else self._best_of_counts(candidates)
        if best.violation == numpy.inf:  # nothing has a value: evaluated once more, it raises the reason
            self.space.evaluator(self.quantities)(numpy.array([best.row]))
        return best

    @cached_property
    def first_points(self) -> tuple[Floats, PointValues]:
        """The points that are looked at before any search: all combinations; with real variables, each combination at
        several scattered values of these."""
        if self.enumerable:
            return self.all_points, self._judge(self.combined)
        few = max(FEWEST_SCATTERED, min(SCATTERED, MOST_SCATTERED // max(1, self.combinations)))
        points = numpy.repeat(self.all_points, few, axis=0)
        points[:, self.real] = numpy.tile(self._scatter_points()[:few], (self.combinations, 1))
        return points, self.evaluate_points(points)

    @cached_property
    def counted(self) -> list[int]:
        """The places of parameters that have whole values, too many to go through: they are searched as real ones."""
        return [place for place in self.real if self.space.variables[place].countable]

    def _best_of_counts(self, candidates: Sequence[Candidate]) -> Candidate:
        """The best point with whole values beside the best solutions in real ones, and beside that, as long as it gets
        better; the other real variables are searched anew at each."""
        rows = {tuple(numpy.rint(item.row).tolist()): item for item in sorted(candidates, key=_rank, reverse=True)}
        chosen = sorted(rows.values(), key=_rank)[:MOST_ROUNDED]
        best = min((self._refine_counts(item, (numpy.floor, numpy.ceil)) for item in chosen), key=_rank)
        for _ in range(MOST_STEPS):
            beside = self._refine_counts(best, (lambda value: value - 1, lambda value: value, lambda value: value + 1))
            if _rank(beside) >= _rank(best):
                break
            best = beside
        return best

    def _refine_counts(self, point: Candidate, neighbours: Sequence[Callable[[float], float]]) -> Candidate:
        """The best point where each count has one of some values beside its own; with too many of them, the nearest."""
        if len(neighbours) ** len(self.counted) > MOST_AROUND:
            neighbours = (numpy.rint,)
        variables = list(self.space.variables)
        for place in self.counted:
            item = variables[place]
            values = {float(numpy.clip(beside(point.row[place]), item.low, item.high)) for beside in neighbours}
            variables[place] = item.replace(kind="choice", choices=tuple(sorted(values)))
        return Problem(Space(variables, self.space.cases), self.goal, self.constraints).best()

    def _starts(self) -> list[Floats]:
        """The best few first points of each combination worth a search, one per row."""
        points, found = self.first_points
        few = len(points) // self.combinations
        ranked = [
            numpy.lexsort((found.value[first : first + few], found.violation[first : first + few])) + first
            for first in range(0, len(points), few)
        ]
        ranked.sort(key=lambda order: (found.violation[order[0]], found.value[order[0]]))
        return [points[order[:STARTS]] for order in ranked[:MOST_SEARCHED]]

    def _scatter_points(self) -> Floats:
        """Values of the real variables: the base, both ends and middle of all, and points evenly scattered (the
        generalised golden ratio; Roberts 2018)."""
        count = len(self.real)
        ratio = 2.0
        for _ in range(64):  # fixed point to double precision
            ratio = (1 + ratio) ** (1 / (count + 1))
        steps = numpy.arange(1, SCATTERED + 1)[:, None] * ratio ** -numpy.arange(1.0, count + 1)[None, :]
        places = numpy.vstack([numpy.full((1, count), value) for value in (0.0, 1.0, 0.5)] + [(0.5 + steps) % 1])
        columns = [self.space.variables[place].values_at(places[:, number]) for number, place in enumerate(self.real)]
        base = [
            float(numpy.clip(item.base, item.low, item.high))
            for item in (self.space.variables[place] for place in self.real)
        ]
        return numpy.vstack([base, numpy.column_stack(columns)])

    def _search_from(self, starts: Floats) -> list[Candidate]:
        """Local optima from some starts in one combination, and the starts themselves."""
        ranges, edges = self._limit_to_defined(starts[0])
        points = [*starts, *edges]
        problem = self.smooth(starts[0], ranges)
        for start in [*starts, *edges]:
            values = problem.solve(start[self.real])
            if values is not None:
                point = start.copy()
                point[self.real] = values
                points.append(point)
        rows = numpy.array(points)
        point_values = self.evaluate_points(rows)
        return [
            Candidate(tuple(row.tolist()), float(value), float(violation))
            for row, value, violation in zip(rows, point_values.value, point_values.violation, strict=True)
        ]

    def _limit_to_defined(self, start: Floats) -> tuple[list[Variable], list[Floats]]:
        """The real variables, their ranges cut off where, from a point with a value, there are no more values along
        them; and the points at the ends that were cut."""
        ranges, edges = [], []
        for place in self.real:
            item = self.space.variables[place]
            low, high = (self._last_defined(start, place, end) for end in (item.low, item.high))
            for end, whole in ((low, item.low), (high, item.high)):
                if end not in (whole, start[place]):
                    edges.append(_move_point(start, place, end))
            ranges.append(item.replace(low=low, high=high) if low < high else item)
        return ranges, edges

    def _last_defined(self, start: Floats, index: int, end: float) -> float:
        """The farthest value of a variable, from a point towards an end, up to which there is a value."""
        before, behind = float(start[index]), end
        while abs(behind - before) > NARROW * max(abs(before), abs(behind)):
            tried = numpy.linspace(before, behind, BESIDE)
            values = self._evaluate(_move_point(start, index, tried))
            missing: Any = numpy.isnan(values).any(axis=0)
            if missing[0] or not missing.any():
                return before if missing[0] else behind
            first = int(missing.argmax())
            before, behind = float(tried[first - 1]), float(tried[first])
        return before

    def smooth(self, point: Floats, ranges: Sequence[Variable] | None = None) -> Smooth:
        """The problem in the real variables, over other ranges if they are given; all others as they are at a point."""
        others = tuple(point[self.discrete].tolist())
        if others not in self._smooth:
            self._smooth[others] = self._make_smooth(point)
        return self._smooth[others].with_variables(ranges or [self.space.variables[place] for place in self.real])

    def _make_smooth(self, point: Floats) -> Smooth:
        prediction = self.space.case(point)
        quantities: list[Quantity] = [self.goal]
        quantities += [partial(_excess_of, item) for item in self.constraints]
        exprs, symbols = self.space.formulas(prediction, quantities)
        places = [place for place, item in enumerate(self.space.variables) if item in self.space.parameters]
        known = dict(zip(symbols, places, strict=True))
        fixed = {
            symbol: graph.number(_to_exact(point[place])) for symbol, place in known.items() if place in self.discrete
        }
        goal, *rest = graph.substitute(exprs, fixed)
        return Smooth(
            goal,
            [(expr, item.equal) for expr, item in zip(rest, self.constraints, strict=True)],
            [self.space.variables[place] for place in self.real],
            [next(symbol for symbol, at in known.items() if at == place) for place in self.real],
            prediction.seed,
        )


def _side_of(item: Constraint, side: int, prediction: Prediction) -> Expr:
    return item.sides(prediction)[side]


def _excess_of(item: Constraint, prediction: Prediction) -> Expr:
    excess: Expr = item.excess(*item.sides(prediction))
    return excess


def _rank(candidate: Candidate) -> tuple[float, float]:
    """Sort key of candidates: less violation first, then the lesser value."""
    return candidate.violation, candidate.value


def _move_point(point: Floats, index: int, values: float | Floats) -> Floats:
    """A point with another value of a variable, or a row for each of several."""
    moved: Floats = numpy.tile(point, (*numpy.shape(values), 1)) if numpy.ndim(values) else point.copy()
    moved[..., index] = values
    return moved


def _to_exact(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


# -- where no point satisfies the constraints: a smallest set of them that contradict each other ---


def refuse_infeasible(space: Space, constraints: Sequence[Constraint]) -> NoReturn:
    """Names a smallest set of constraints that cannot be met together: one by itself if there is one."""
    for count in range(1, len(constraints) + 1):
        for chosen in combinations(constraints, count):
            nearest = _nearest_to_feasible(space, chosen)
            if nearest.violation > 0:
                _refuse_conflicting(space, chosen, nearest)
    fail(
        "infeasible",
        "no point was found at which all constraints hold",
        hint="they may meet in a small region: name smaller ranges, or lists",
    )


def _nearest_to_feasible(space: Space, constraints: Sequence[Constraint]) -> Candidate:
    """The point at which the worst violation, in parts of the constraints' sides, is least."""

    def worst_violation(prediction: Prediction) -> Expr:
        parts = []
        for item in constraints:
            excess, sides = _excess_of(item, prediction), item.sides(prediction)
            scale = graph.apply("max", *(graph.apply("abs", side) for side in sides), 1e-300)
            parts.append(graph.div(graph.apply("abs", excess) if item.equal else excess, scale))
        return graph.apply("max", *parts) if len(parts) > 1 else parts[0]

    problem = Problem(space, worst_violation)
    best = problem.best()
    return Candidate(best.row, best.value, best.value if best.value > problem.tolerance else 0.0)


def _refuse_conflicting(space: Space, constraints: Sequence[Constraint], nearest: Candidate) -> NoReturn:
    row = numpy.array(nearest.row)[None, :]
    where = ", ".join(
        f"{item.name} = {item.in_words(value)}" for item, value in zip(space.variables, nearest.row, strict=True)
    )
    names = " and ".join(f"`{item.text}`" for item in constraints)
    if len(constraints) == 1:
        item = constraints[0]
        left, right = space.evaluator([lambda p: item.sides(p)[0], lambda p: item.sides(p)[1]])(row)[:, 0]
        message = f"no point satisfies {names}: at best {left:.6g} stands against {right:.6g}, where {where}"
    else:
        message = f"no point satisfies {names} together, although each can be met alone; the nearest point is {where}"
    fail("infeasible", message, constraints[0].node.span, hint="loosen a bound, or widen what is varied")
