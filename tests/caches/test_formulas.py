"""Traffic as formulas: what they say in a regime, their slopes, and the best block that follows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from aspenpy.answers.traffic import Traffic, traffic
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr, apply, compare, if_else, symbol
from aspenpy.expr.regime import simplify_around
from aspenpy.models.library import load_application, load_machine
from tests.caches.programs import PAGE, Walk, counted, nest, simulator
from tests.expr.strategies import bound, environments, expressions
from tests.thorough import THOROUGH, examples, slow

n, tile = symbol("n"), symbol("tile")


def kernel(name: str, **settings: int) -> Traffic:
    return traffic(load_application(f"cache_{name}"), load_machine("cachegrind"), set=settings)


# -- regimes ---------------------------------------------------------------------------------------


def test_decisions_are_made() -> None:
    formula = if_else(compare(">", n, 3), apply("max", n * n, 2 * n) + apply("ceil", n / 2), n)
    assert str(simplify_around(formula, {n: 8})) == "n^2 + n/2"
    assert str(simplify_around(formula, {n: 2})) == "n"
    assert str(simplify_around(formula, {n: 5})) == "n^2 + ceil(n/2)"


def test_terms_are_gathered() -> None:
    assert (
        str(simplify_around(n * (n + 1) / n - n / tile * tile + apply("gcd", 64, 16 * n), {n: 2, tile: 3}))
        == "16*n + 1"
    )


@settings(max_examples=examples(150))
@given(expressions(), environments)
def test_regimes_have_the_value_of_the_expression(expr: Expr, environment: object) -> None:
    values = bound(environment)
    try:
        exact = evaluate(expr, values)
    except EvaluationError:
        return
    if isinstance(exact, tuple):
        return
    found = simplify_around(expr, values)
    assert float(evaluate(found, values)) == pytest.approx(float(exact), rel=1e-6, abs=1e-6)


# -- kernels ---------------------------------------------------------------------------------------


def test_matrix_product_by_hand() -> None:
    """n = 200: a column of B stays while the 16 words of its lines are used, n^3/16 lines; A and C are read and
    written once, n^2/8 lines. What is left of the triad's 3 n^2/16 are all its lines."""
    found = kernel("mm_reg", n=200).regime("misses", "D1", ("n",))
    assert float(evaluate(found, {n: 200})) == pytest.approx(200**3 / 16 + 200**2 / 8, rel=2e-3)
    assert str(found).startswith("n^3/16 + ")
    assert str(kernel("triad").regime("misses", "D1", ("n",))) == "3*n^2/16"
    assert str(kernel("transpose", n=512).regime("misses", "D1", ("n",))) == "17*n^2/16"


@pytest.mark.parametrize(("name", "free"), [("mm_reg", ("n",)), ("mm_blk16", ("n", "tile")), ("transpose", ("n",))])
def test_regimes_are_short_and_equal(name: str, free: tuple[str, ...]) -> None:
    """From some hundred or thousand nodes of the graph to 25 at most."""
    found = kernel(name)
    formula, there = found.formula("misses", "D1", free), found.regime("misses", "D1", free)
    values = {n: 256, tile: 16}
    assert float(evaluate(there, values)) == pytest.approx(float(evaluate(formula, values)), rel=1e-12)
    assert len(graph.topological_order(there)) <= 25


# -- the best block --------------------------------------------------------------------------------

ORDER = 48
CACHE = {"d1_capacity": 4096, "d1_ways": 8}
BLOCKS = (4, 8, 12, 16, 24, 48) if THOROUGH else (8, 16, 48)


def simulated(block: int) -> int:
    """Misses of the blocked product of matrices of floats, which were written just before."""
    word, row, blocks = 4, 4 * ORDER, ORDER // block
    matrix = -(-word * ORDER**2 // PAGE) * PAGE
    along, down, still = (word, block), (row, block), (0, block)
    blocks_along, blocks_down, same_block = (word * block, blocks), (row * block, blocks), (0, blocks)
    result = (0, 1), along, down, same_block, blocks_along, blocks_down
    walks = [
        Walk("L", 0, word, result),
        Walk("L", matrix, word, (along, still, down, blocks_along, same_block, blocks_down)),
        Walk("L", 2 * matrix, word, (down, along, still, blocks_down, blocks_along, same_block)),
        Walk("S", 0, word, result),
    ]
    (found,) = counted(simulator(("L1", CACHE["d1_capacity"], CACHE["d1_ways"])), nest(walks))
    return found.misses


@slow
def test_the_best_block_follows_from_the_formula() -> None:
    """4 KiB hold three blocks of 16 x 16 floats and not of 24 x 24. Below that the slope is negative: larger blocks
    are better. The block with the least traffic by the formula has the least in the simulator, but for 5 %."""
    formula = traffic(
        load_application("cache_mm_blk16"), load_machine("cachegrind"), set={**CACHE, "n": ORDER, "tile": 8}
    ).formula("misses", "D1", ("n", "tile"))
    predicted = {block: float(evaluate(formula, {n: ORDER, tile: block})) for block in BLOCKS}
    counts = {block: simulated(block) for block in BLOCKS}
    best = min(predicted, key=predicted.__getitem__)
    assert counts[best] <= 1.05 * min(counts.values())
    there = simplify_around(formula, {n: ORDER, tile: 8})
    assert evaluate(differentiate(there, tile), {n: ORDER, tile: 8}) < 0
    assert predicted[48] > 2 * predicted[best]
