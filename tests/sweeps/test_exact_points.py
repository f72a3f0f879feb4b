"""At which points of a sweep the exact rules are asked, which take a thousand times as long as arrays: where rounding
may decide, and no more often than for points that differ in what is asked."""

from itertools import product

import numpy
import pytest

from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr, apply, compare, counter, if_else, symbol, to_expr
from aspenpy.expr.node import intern_node
from aspenpy.sweeps.points import Formulas, Points

nodes, cores, clock, i = symbol("nodes"), symbol("cores"), symbol("clock"), counter("i")
COLUMNS = (nodes, cores, clock)
POINTS = numpy.array([*product((1.0, 2.0, 3.0, 7.0), (4.0, 8.0, 9.0, 28.0), (1e9, 1.1e9, 1.7e9, 2.3e9))])


def open_sum(passes: int, body: Expr) -> Expr:
    """A sum node without any closed form."""
    return intern_node("sum", (i, to_expr(passes), body), None, 0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Expr]:
    """What the exact rules were asked for, one entry for each point."""
    found: list[Expr] = []
    exactly = Points._at_a_point
    monkeypatch.setattr(
        Points, "_at_a_point", lambda self, node, columns: found.append(node) or exactly(self, node, columns)
    )
    return found


def by_exact_rules(expr: Expr) -> list[float]:
    """The value at each point; nan where there is none."""

    def value(point: numpy.ndarray) -> float:
        try:
            return float(evaluate(expr, {key: int(number) for key, number in zip(COLUMNS, point, strict=True)}))
        except EvaluationError:
            return numpy.nan

    return [value(point) for point in POINTS]


def test_quotients_of_whole_numbers_leave_nothing_in_doubt(asked: list[Expr]) -> None:
    """Half of a quotient that is whole may be a step's end, and is no product of roundings."""
    expr = apply("ceil", (2 * nodes * cores / (2 * nodes)) / 2) + apply("floor", nodes * cores / 3)
    (values,) = Formulas([expr], COLUMNS)(POINTS)
    assert values.tolist() == by_exact_rules(expr)
    assert asked == []


def test_a_sum_that_lacks_an_operand_has_no_value(asked: list[Expr]) -> None:
    """The logarithm has no value for 4 and 8 cores: it is asked with 4 clocks each, whatever the number of nodes."""
    lacking = apply("log", cores - 8)
    expr = open_sum(600, if_else(compare("<", i, nodes), lacking * clock / (i + 1), apply("floor", clock / (i + 7))))
    (values,) = Formulas([expr], COLUMNS)(POINTS, missing=True)
    expected = by_exact_rules(expr)
    assert numpy.isnan(values).tolist() == numpy.isnan(expected).tolist() == (POINTS[:, 1] <= 8).tolist()
    assert values == pytest.approx(expected, rel=1e-14, nan_ok=True)
    assert asked.count(expr) == 0
    assert len(asked) == 2 * 4


def test_a_sum_whose_passes_need_no_such_operand_has_its_value() -> None:
    """No pass is below 0: what has no value is needed by none."""
    lacking = apply("log", cores - 8)
    step = apply("ceil", clock / 1e8 * (i + 1) / 3 * 3)
    expr = open_sum(600, if_else(compare("<", i, 0 * nodes), lacking, step)) + 1
    (values,) = Formulas([expr], COLUMNS)(POINTS)
    assert values.tolist() == by_exact_rules(expr)
