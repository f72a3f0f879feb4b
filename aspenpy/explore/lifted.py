"""Lifted: a smooth problem in the place of one with kinks.

A least time is often where two times meet, in the kink of a `max`, which no gradient knows of. So each `max` becomes an
unknown of its own that may not be below any of its arguments: what is minimised presses it down onto the largest of
them, and at the solution all are smooth again (the epigraph form; Boyd and Vandenberghe 2004, section 4.1.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

import numpy

from aspenpy.engine.arrays import Floats
from aspenpy.engine.python import PreparedExpressions
from aspenpy.explore.variable import Variable
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.record import Record
from aspenpy.sweeps.points import replace_staircases

MOST_LIFTED = 40  # unknowns that are added; further ones stay kinks


class Lifting(Record):
    """Expressions without their `max`; the symbols that took their places, what each stands for, and `floors`, which
    are at most 0 where a symbol is not below its arguments, with the number of the symbol that each holds up."""

    exprs: tuple[Expr, ...]
    symbols: tuple[Expr, ...]
    meanings: tuple[Expr, ...]
    floors: tuple[Expr, ...]
    held: tuple[int, ...]


def lift_maxima(exprs: Sequence[Expr], symbols: Sequence[Expr]) -> Lifting:
    """Replaces each `max` that depends on the symbols and is in no loop by an unknown."""
    moving, looped = set(graph.dependents(*exprs, on=symbols)), _nodes_in_loops(exprs)
    raised: list[tuple[Expr, Expr]] = []
    floors: list[tuple[Expr, int]] = []

    def lift(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        if node.payload != "max" or node not in moving or node in looped or len(raised) >= MOST_LIFTED:
            return None
        symbol = graph.symbol(f"max{len(raised)}", "lifted")
        raised.append((symbol, node))
        floors.extend((arg - symbol, len(raised) - 1) for arg in args)
        return symbol

    return Lifting(
        tuple(graph.rewrite(exprs, lift)),
        tuple(symbol for symbol, _ in raised),
        tuple(node for _, node in raised),
        tuple(floor for floor, _ in floors),
        tuple(number for _, number in floors),
    )


DIFFERENCE_STEP = 1e-6  # of a central difference, in parts of the range; near the cube root of what doubles resolve
ACTIVE = 1e-6  # a constraint this near to its bound is active


def _nodes_in_loops(exprs: Sequence[Expr]) -> set[Expr]:
    """Nodes inside of loops, whose value is another in each pass."""
    sums = graph.nodes_of_kind("sum", *exprs)
    return set(graph.topological_order(*(node.args[2] for node in sums))) if sums else set()


class Kkt(Record):
    """The conditions at a solution: by how much the objective changes with each constraint's bound (None where the
    gradients do not balance, as at a step), and which constraints are active."""

    multipliers: tuple[float, ...] | None
    active: tuple[bool, ...]


class Smooth:
    """Minimises an expression with constraints (at most 0, or exactly 0) over real variables between their ends."""

    def __init__(
        self,
        objective: Expr,
        constraints: Sequence[tuple[Expr, bool]],
        variables: Sequence[Variable],
        symbols: Sequence[Expr],
        seed: int,
    ) -> None:
        self.variables, self.symbols = tuple(variables), tuple(symbols)
        self.equal = tuple(equal for _, equal in constraints)
        self.lifting = lift_maxima([objective, *(expr for expr, _ in constraints)], symbols)
        rows = [*self.lifting.exprs, *self.lifting.floors]
        self.unknowns = (*self.symbols, *self.lifting.symbols)
        self._values = PreparedExpressions(rows, self.unknowns, seed)
        self._slopes = self._derivatives(rows, seed)
        self._meanings = (
            PreparedExpressions(self.lifting.meanings, self.symbols, seed) if self.lifting.meanings else None
        )

    def with_variables(self, variables: Sequence[Variable]) -> Smooth:
        """The same problem with other ranges of its variables."""
        other = copy(self)
        other.variables = tuple(variables)
        return other

    def _derivatives(self, rows: Sequence[Expr], seed: int) -> PreparedExpressions | None:
        """The derivative of each row by each unknown, steps outside of loops as ramps; None where there are none."""
        looped = _nodes_in_loops(rows)
        try:
            smooth = replace_staircases(rows, lambda node: node not in looped)
            slopes = [differentiate(ramp, unknown) for ramp in smooth for unknown in self.unknowns]
        except ValueError:
            return None
        return PreparedExpressions(slopes, self.unknowns, seed)

    def start(self, values: Floats) -> Floats:
        """Values of the variables with those of what was lifted."""
        if self._meanings is None:
            return values
        return numpy.concatenate([values, self._meanings(*map(float, values))])

    def solve(self, values: Floats) -> Floats | None:
        """The variables at a local minimum near a start; None where the solver came to none."""
        from scipy import optimize

        minimize: Any = optimize.minimize
        try:
            with numpy.errstate(all="ignore"):
                scale = _Scale(self, self.start(values))
                solution = minimize(
                    lambda z: scale.value(z)[0],
                    scale.begin,
                    jac=lambda z: scale.slope(z)[0],
                    bounds=scale.bounds,
                    constraints=scale.constraints(),
                    method="SLSQP",
                    options={"maxiter": 200, "ftol": 1e-14},
                )
        except EvaluationError:  # it went to where there are no values
            return None
        if not numpy.isfinite(solution.x).all():
            return None
        low, high = (numpy.array([getattr(item, end) for item in self.variables]) for end in ("low", "high"))
        return numpy.clip(scale.unknowns(solution.x)[: len(self.variables)], low, high)

    def rows(self, unknowns: Floats) -> Floats:
        """Objective, constraints, floors."""
        return numpy.array(self._values(*map(float, unknowns)))

    def slopes(self, unknowns: Floats) -> Floats:
        """A row each of `rows`, a column for each unknown."""
        if self._slopes is not None:
            with suppress(EvaluationError):  # such as at a jump of a law of caches
                return numpy.array(self._slopes(*map(float, unknowns))).reshape(-1, len(self.unknowns))
        return self._differences(unknowns)

    def _differences(self, unknowns: Floats) -> Floats:
        """The slopes between neighbours."""
        columns = []
        for index, value in enumerate(unknowns):
            low, high = self._neighbours(index, float(value))
            ends = [numpy.where(numpy.arange(len(unknowns)) == index, end, unknowns) for end in (low, high)]
            columns.append((self.rows(ends[1]) - self.rows(ends[0])) / (high - low))
        return numpy.column_stack(columns)

    def _neighbours(self, index: int, value: float) -> tuple[float, float]:
        """Values on both sides of that of an unknown, inside the range of a variable."""
        if index >= len(self.variables):
            step = DIFFERENCE_STEP * (abs(value) or 1.0)
            return value - step, value + step
        item = self.variables[index]
        step = DIFFERENCE_STEP * (item.high - item.low)
        return max(item.low, value - step), min(item.high, value + step)

    def kkt(self, values: Floats) -> Kkt:
        """The conditions of Karush, Kuhn and Tucker: the objective's gradient is balanced by those of what is active,
        each with a multiplier that is not negative (of `==`: any)."""
        with numpy.errstate(all="ignore"):
            return self._kkt(values)

    def _kkt(self, values: Floats) -> Kkt:
        try:
            scale = _Scale(self, self.start(values))
            rows, slopes = scale.value(scale.begin), scale.slope(scale.begin)
        except EvaluationError:  # at the edge of where there are values no gradients balance
            return Kkt(None, ())
        if not numpy.isfinite(slopes).all():
            return Kkt(None, ())
        active = [equal or abs(row) <= ACTIVE for row, equal in zip(rows[1:], self._all_equal(), strict=True)]
        columns, signs = [], []
        for index, (is_active, equal) in enumerate(zip(active, self._all_equal(), strict=True)):
            if is_active:
                columns.append(slopes[index + 1])
                signs.append((index, 1.0))
                if equal:
                    columns.append(-slopes[index + 1])
                    signs.append((index, -1.0))
        for index, (low, high) in enumerate(scale.bounds):
            unit = numpy.eye(len(self.unknowns))[index]
            columns += [-unit] if low is not None and scale.begin[index] - low <= ACTIVE else []
            columns += [unit] if high is not None and high - scale.begin[index] <= ACTIVE else []
        multipliers = self._balance_gradient(slopes[0], columns, signs, scale)
        return Kkt(multipliers, tuple(active[: len(self.equal)]))

    def _all_equal(self) -> tuple[bool, ...]:
        return (*self.equal, *(False for _ in self.lifting.floors))

    def _balance_gradient(
        self, gradient: Floats, columns: list[Floats], signs: list[tuple[int, float]], scale: _Scale
    ) -> tuple[float, ...] | None:
        from scipy.optimize import nnls

        size = float(numpy.linalg.norm(gradient))
        if not columns:
            return tuple(0.0 for _ in self.equal) if size <= BALANCED else None
        weights, left = nnls(numpy.array(columns).T, -gradient)
        if left > BALANCED * max(size, 1.0):
            return None
        result = [0.0] * (len(self.equal) + len(self.lifting.floors))
        for (index, sign), weight in zip(signs, weights, strict=False):
            result[index] += sign * weight
        return tuple(float(result[i] * scale.rows[0] / scale.rows[1 + i]) for i in range(len(self.equal)))


BALANCED = 1e-4  # how far the gradients may be from balance, in parts of the objective over the whole of each range


def _remember_last(function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """The same function, which knows its last value: a solver asks for the objective and for each kind of constraint
    at the same place, one after the other."""
    last: dict[bytes, Floats] = {}

    def value(place: Floats) -> Floats:
        key = place.tobytes()
        if key not in last:
            worth = function(place)
            last.clear()
            last[key] = worth
        return last[key]

    return value


class _Scale:
    """Unknowns and rows in numbers around 1: variables as places in the unit interval, all else in parts of what it is
    at the start."""

    def __init__(self, problem: Smooth, start: Floats) -> None:
        self.problem = problem
        count = len(problem.variables)
        self.units = numpy.array([abs(value) or 1.0 for value in start[count:]])
        places = [item.place(value) for item, value in zip(problem.variables, start, strict=False)]
        self.begin = numpy.concatenate([numpy.clip(places, 0, 1), start[count:] / self.units])
        self.bounds = [(0.0, 1.0)] * count + [(None, None)] * len(self.units)
        rows, slopes = problem.rows(start), problem.slopes(start)
        constraints = len(problem.equal)
        reach = abs(slopes[1 : 1 + constraints] * self._stretch(self.begin)).max(axis=1, initial=0.0)
        sizes = [max(abs(row), size) or 1.0 for row, size in zip(rows[1:], reach, strict=False)]
        floors = self.units[list(problem.lifting.held)] if len(self.units) else numpy.array([])
        self.rows = numpy.array([abs(rows[0]) or 1.0, *sizes, *floors])
        self.value, self.slope = _remember_last(self._value), _remember_last(self._slope)

    def unknowns(self, z: Floats) -> Floats:
        count = len(self.problem.variables)
        values = [
            float(item.values_at(numpy.array(place))) for item, place in zip(self.problem.variables, z, strict=False)
        ]
        return numpy.concatenate([values, z[count:] * self.units])

    def _stretch(self, z: Floats) -> Floats:
        """The derivative of the unknowns by z."""
        values = self.unknowns(z)
        widths = [
            value * numpy.log(item.high / item.low) if item.logarithmic else item.high - item.low
            for item, value in zip(self.problem.variables, values, strict=False)
        ]
        return numpy.concatenate([widths, self.units])

    def _value(self, z: Floats) -> Floats:
        values: Floats = self.problem.rows(self.unknowns(z)) / self.rows
        return values

    def _slope(self, z: Floats) -> Floats:
        values: Floats = self.problem.slopes(self.unknowns(z)) * self._stretch(z)[None, :] / self.rows[:, None]
        return values

    def constraints(self) -> list[dict[str, object]]:
        """Constraints in SciPy's form: each value is at least 0, or 0."""
        equal = numpy.array(self.problem._all_equal(), dtype=bool)

        def constraint(kind: str, chosen: Any) -> dict[str, object]:
            value, slope = (lambda z: -self.value(z)[1:][chosen]), (lambda z: -self.slope(z)[1:][chosen])
            return {"type": kind, "fun": value, "jac": slope}

        return [constraint(kind, chosen) for kind, chosen in (("eq", equal), ("ineq", ~equal)) if chosen.any()]
