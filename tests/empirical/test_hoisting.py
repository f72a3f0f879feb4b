"""What is computed once: the largest parts that do not move."""

from __future__ import annotations

from hypothesis import given

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate, evaluate_many
from aspenpy.learn.fitting.responses import hoist_constants
from tests.expr.strategies import SYMBOLS, built, environments, recipes

X, Y, K = graph.symbol("x"), graph.symbol("y"), graph.counter("k")


def test_largest_parts() -> None:
    found = hoist_constants(X * (Y + 1) ** 2 + graph.apply("log", Y) + Y, [X])
    assert found.parts == ((Y + 1) ** 2, graph.apply("log", Y))
    assert graph.free_symbols(found.expr) == {X, Y, *found.symbols}


def test_sums_move_as_a_whole_or_not_at_all() -> None:
    fixed, moving = (graph.summation(K, Y, graph.apply("ceil", K * factor / 3)) for factor in (Y, X))
    found = hoist_constants(fixed * X + moving, [X])
    assert found.parts == (fixed,)


@given(recipes, environments)
def test_value_stays(recipe: object, environment: dict[str, object]) -> None:
    expr = built(recipe)
    bindings = {SYMBOLS[name]: value for name, value in environment.items()}
    found = hoist_constants(expr, list(bindings)[:1])
    try:
        expected = evaluate(expr, bindings)
        parts = evaluate_many(found.parts, bindings)
    except EvaluationError:
        return  # nothing to compare, or a part of a branch that is not taken
    assert evaluate(found.expr, bindings | dict(zip(found.symbols, parts, strict=True))) == expected
