"""Points: expressions evaluated at many values of their symbols at once, by the exact rules where floats may err."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy

from aspenpy.allowance import INTERPRETED
from aspenpy.answers.energy.cap_warning import SAME, as_warnings, cap_warning
from aspenpy.answers.energy.waiting import waiting_of_run
from aspenpy.answers.prediction import Prediction
from aspenpy.engine.arrays import Floats as Floats
from aspenpy.expr import graph
from aspenpy.expr.accuracy import EXACT, WHOLE
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.evaluate import EvaluationError, ExactEvaluation, evaluate, needed_args
from aspenpy.expr.failures import NoOperationsLeft, TooMuchWork, count_chunks, spend_operations
from aspenpy.expr.graph import Expr
from aspenpy.expr.lanes import Exactly, Lanes, Sums
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.tables.numbers import seconds

POINTS_AT_ONCE = 1 << 14  # few enough for the arrays of some dozen nodes to stay in a cache
VALUES_AT_ONCE = 1 << 23
"""Values of nodes that are held at once where formulas have thousands of nodes: 64 MiB."""
FEWEST_AT_ONCE = 1 << 9  # points, however many nodes there are
WORTH_SORTING = 100_000  # passes at all points from which on it pays to look for points that are alike
OF_A_POINT = 5  # operations beside those of the nodes where a value is computed exactly
MOST_KEPT = 1 << 18  # exact values that are kept, of whatever points, for the nodes that come later
STEPS = frozenset({"ceil", "floor", "round"})  # functions whose slope is 0 and which yet rise with their argument


def replace_staircases(exprs: Sequence[Expr], of: Callable[[Expr], bool]) -> list[Expr]:
    """The expressions with the ramp that each of some staircases climbs in its place: what a search follows where the
    steps themselves are flat."""

    def ramp(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        return args[0] if node.kind == "apply" and node.payload in STEPS and of(node) else None

    return graph.rewrite(exprs, ramp)


class Points(Lanes):
    """A lane for each point; `columns` are the symbols' values there."""

    def __init__(
        self, exprs: Sequence[Expr], columns: dict[Expr, Floats], seed: int, run: ExactEvaluation | None = None
    ) -> None:
        self.run: ExactEvaluation = run or ExactEvaluation({}, seed)
        self.columns = columns
        self.parent = self.parent_lane = None
        self.inside = set(graph.dependents(*exprs, on=columns))
        self.size = len(next(iter(columns.values())))
        self.held, self.sums = 0, Sums()
        self.known: dict[Expr, Any] = dict(columns)
        self.grade = {symbol: WHOLE if _is_whole(column) else EXACT for symbol, column in columns.items()}
        self.doubts = numpy.zeros(self.size, dtype=bool)
        self.exact: dict[tuple[Any, ...], ExactEvaluation] = {}
        self.kept = 0

    def _compute(self, node: Expr) -> None:
        """Settles doubtful values at the node itself: it often depends on few symbols, with few values each."""
        if node.kind == "sum" and node in self.inside and self._add_sum_once(node):
            return
        before, self.doubts = self.doubts, numpy.zeros(self.size, dtype=bool)
        try:
            super()._compute(node)
            if node in self.inside and not isinstance(self.known[node], tuple) and self.doubts.any():
                self._settle(node)
        except NoOperationsLeft as error:
            raise TooMuchWork(node, error) from None
        except DomainError as error:
            raise EvaluationError(node, error) from None
        self.doubts |= before

    def _add_sum_once(self, node: Expr) -> bool:
        """Adds up a sum, and those that go with it, once for all points that are alike in what it depends on, unless
        these are few."""
        if float(numpy.nansum(self.known[node.args[1]])) * self.size < WORTH_SORTING * numpy.size(
            self.known[node.args[1]]
        ):
            return False
        alike = list(dict.fromkeys((node, *self.sums.expected.get((node.args[0], node.args[1]), {}))))
        used = frozenset[Expr]().union(*(graph.free_symbols(total) for total in alike))
        symbols = [symbol for symbol in self.columns if symbol in used]
        rows = numpy.column_stack([self.columns[symbol] for symbol in symbols])
        each, inverse = numpy.unique(rows, axis=0, return_inverse=True)
        if 2 * len(each) > self.size:
            return False
        columns = {symbol: numpy.ascontiguousarray(each[:, index]) for index, symbol in enumerate(symbols)}
        some = Points(alike, columns, self.run.seed, self.run)
        some.compute(alike)
        for total in alike:
            self.known[total] = numpy.broadcast_to(some.known[total], (some.size,))[inverse.ravel()]
            self.grade[total] = some.grade[total]
        return True

    def _settle(self, node: Expr) -> None:
        settled = numpy.array(numpy.broadcast_to(self.known[node], (self.size,)))  # which may be alike on all
        if node.kind == "sum":
            without = self._lacks_operand(node)
            settled[without] = numpy.nan
            self.doubts &= ~without
        lanes = numpy.flatnonzero(self.doubts)
        values = self._exact_values(node, lanes)
        if settled.dtype == bool and not numpy.isfinite(values).all():
            settled = settled.astype(numpy.float64)  # a condition without a value is nan
        settled[lanes] = values
        self.known[node] = settled
        self.doubts = numpy.zeros(self.size, dtype=bool)

    def _exact_values(self, node: Expr, lanes: Any) -> Floats:
        """The values in some lanes by the exact rules, which are asked once for points that are alike."""
        symbols = [symbol for symbol in self.columns if symbol in graph.free_symbols(node)]
        rows = numpy.column_stack([self.columns[symbol][lanes] for symbol in symbols])
        each, inverse = numpy.unique(rows, axis=0, return_inverse=True)
        values = [self._at_a_point(node, dict(zip(symbols, row, strict=True))) for row in each]
        return numpy.array(values, dtype=numpy.float64)[inverse.ravel()]

    def _lacks_operand(self, node: Expr) -> Any:
        """In which doubtful lanes something from outside that the passes of a sum may need has no value. Such a sum is
        taken to have none, without its passes; where it has one after all, as no pass needs that, what it is needed
        for is nan, which the exact rules decide."""
        body = self.run.nodes_in_body(node)
        outside = {arg for inner in body for arg in inner.args if arg in self.inside and arg not in body}
        found = numpy.zeros(self.size, dtype=bool)
        for arg in sorted(outside, key=lambda arg: (len(graph.free_symbols(arg)), arg.serial)):
            value = self.known.get(arg)
            if isinstance(value, numpy.ndarray) and value.dtype == numpy.float64:
                missing = numpy.flatnonzero(self.doubts & ~found & numpy.isnan(value))
                if len(missing):
                    found[missing] = numpy.isnan(self._exact_values(arg, missing))
        return found

    def column_of(self, symbol: Expr, lanes: Any) -> Any:
        return self.columns[symbol][lanes] if symbol in self.columns else None

    @property
    def exactly(self) -> Exactly:
        return self._at_a_point  # not kept, or it would keep the points

    def _at_a_point(self, node: Expr, columns: dict[Expr, Any]) -> float:
        """The value by the exact rules; what it needs is kept for the nodes that come later."""
        values = {symbol: python_number(value) for symbol, value in columns.items()}
        key = tuple(values.items())
        run = self.exact.get(key) or ExactEvaluation(values, self.run.seed)
        self.exact[key] = run
        before = len(run.known)
        value = _evaluate_exactly(node, run)
        computed = len(run.known) - before
        spend_operations(run.allowance, 2 * INTERPRETED * (OF_A_POINT + computed))  # looked up, too
        self.kept += computed + OF_A_POINT
        if self.kept > MOST_KEPT:
            self.exact, self.kept = {}, 0
        return value

    def by_exact_rules(self, expr: Expr, lane: int) -> float:
        """The value of a root where it is nan; raises EvaluationError where it has none by the exact rules either. What
        it needs first, and became nan first, is tried first: it is often a small part of it."""
        values = {symbol: python_number(column[lane]) for symbol, column in self.columns.items()}
        run = ExactEvaluation(values, self.run.seed)
        try:
            spend_operations(run.allowance, INTERPRETED * (OF_A_POINT + len(values)))
            run.compute([self._find_undefined(expr, lane)])
            spend_operations(run.allowance, INTERPRETED * len(self.inside))
        except NoOperationsLeft as error:
            raise TooMuchWork(expr, error) from None
        return _to_float(expr, run.compute([expr])[0])

    def _find_undefined(self, expr: Expr, lane: int) -> Expr:
        """The expression, or a node that it needs, whose own operands are not nan. Conditions in doubt are settled."""
        node: Expr = expr
        last: Expr | None = None
        while node is not last:
            last = node
            needed = needed_args(node)
            if node.kind == "if_else" and not self._is_nan(node.args[0], lane):
                needed = node.args[1:2] if self._value_at(node.args[0], lane) else node.args[2:]
            node = next((arg for arg in needed if self._is_nan(arg, lane)), node)
        return node

    def _value_at(self, node: Expr, lane: int) -> Any:
        value = self.known.get(node)
        return value[lane] if isinstance(value, numpy.ndarray) and value.ndim == 1 else value

    def _is_nan(self, node: Expr, lane: int) -> bool:
        value = self._value_at(node, lane)
        return isinstance(value, float) and value != value

    def values(self, expr: Expr) -> Floats:
        """Values of a computed root at all points; nan where in doubt."""
        column = numpy.broadcast_to(self.known[expr], (self.size,)).astype(numpy.float64)
        return numpy.where(self.doubts, numpy.nan, column)


def _evaluate_exactly(node: Expr, run: ExactEvaluation) -> float:
    """nan where there is none: if it is needed, it fails again and is reported."""
    try:
        return _to_float(node, run.compute([node])[0])
    except TooMuchWork:
        raise
    except EvaluationError:
        return numpy.nan


def _is_whole(column: Floats) -> bool:
    return bool((numpy.rint(column) == column).all() and (abs(column) < 2.0**53).all())


class Formulas:
    """Expressions of some symbols and nothing else, ready for arrays of points. `operations` are those that sums
    without a closed form took so far."""

    def __init__(self, exprs: Sequence[Expr], symbols: Sequence[Expr], seed: int = 0) -> None:
        self.exprs, self.symbols, self.seed = tuple(exprs), tuple(symbols), seed
        self.operations = 0.0

    def __call__(self, points: Floats, *, missing: bool = False) -> Floats:
        """Points are rows, one column a symbol. A row for each expression, a column for each point.

        Raises `EvaluationError` for the first point at which an expression has no value; with `missing` it is nan.
        Raises `TooMuchWork` when the command has no operations left for them.
        """
        values = numpy.empty((len(self.exprs), len(points)))
        at_once = max(FEWEST_AT_ONCE, min(POINTS_AT_ONCE, VALUES_AT_ONCE // max(1, self.nodes)))
        for start in range(0, len(points), at_once):
            values[:, start : start + at_once] = self._some(points[start : start + at_once], missing)
        return values

    @cached_property
    def nodes(self) -> int:
        """The nodes that have a value of their own at each point."""
        return len(graph.dependents(*self.exprs, on=self.symbols))

    def _some(self, points: Floats, missing: bool) -> Floats:
        if not self.symbols:
            values = [_value(expr, {}, self.seed) for expr in self.exprs]
            return numpy.tile(numpy.array(values)[:, None], (1, len(points)))
        columns = {symbol: numpy.ascontiguousarray(points[:, place]) for place, symbol in enumerate(self.symbols)}
        lanes = Points(self.exprs, columns, self.seed)
        try:
            operations = self.nodes * len(points) + count_chunks(self.nodes, len(points), len(points))
            spend_operations(lanes.run.allowance, operations)
        except NoOperationsLeft as error:
            raise TooMuchWork(self.exprs[0], error) from None
        before = lanes.run.allowance.spent
        try:
            with numpy.errstate(all="ignore"):
                lanes.compute(list(self.exprs))
            computed = numpy.array([lanes.values(expr) for expr in self.exprs])
        except TooMuchWork:
            raise
        except EvaluationError:  # what is too much for all points at once may be little enough for each
            computed = numpy.full((len(self.exprs), len(points)), numpy.nan)
        self.operations += lanes.run.allowance.spent - before
        for place, point in zip(*numpy.nonzero(numpy.isnan(computed)), strict=True):
            try:
                computed[place, point] = lanes.by_exact_rules(self.exprs[place], int(point))
            except TooMuchWork:
                raise
            except EvaluationError:
                if not missing:
                    raise
        return computed


def _value(expr: Expr, values: dict[Expr, int | float], seed: int) -> float:
    return _to_float(expr, evaluate(expr, values, seed))


def _to_float(expr: Expr, value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, TypeError):
        raise EvaluationError(expr, "the value is not a floating-point number") from None


def python_number(value: Any) -> int | float:
    """Python's own number; whole ones as int, for the exact rules."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def warn_of_cap(
    prediction: Prediction,
    symbols: Sequence[Expr],
    rows: Sequence[Sequence[float]],
    labels: Sequence[str],
    free: Sequence[str] = (),
) -> list[Diagnostic]:
    """A warning where the run is longer under the power cap of its socket at some points, with the one at which it is
    longest in proportion. `rows` are the values of the symbols at each point; `labels` say which point it is; `free`
    are the symbols that are parameters, by name."""
    if prediction.stated_cap is None or not rows:
        return []
    try:
        with prediction.scope.locate_failures():
            formulas = prediction.scope.formulas([waiting_of_run(prediction.tree), prediction.tree.runtime], free)
            prepared = Formulas(formulas, symbols, prediction.seed)
            waited, runtime = prepared(numpy.array(rows, dtype=float), missing=True)
    except AspenError as error:
        return as_warnings(error)
    longer = waited > runtime * SAME
    if not longer.any():
        return []
    most = int(numpy.argmax(numpy.where(longer, waited / numpy.where(runtime > 0, runtime, 1), 0)))
    times = f"{seconds(float(runtime[most] + waited[most]))}, and not {seconds(float(runtime[most]))}"
    at = f"the run takes {times}, with {labels[most]}"
    if len(rows) > 1:
        at += f"; {int(longer.sum())} of {len(rows)} points wait"
    return [cap_warning(prediction, at)]
