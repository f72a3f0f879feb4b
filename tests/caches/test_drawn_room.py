"""The room that lines of tables leave in the sets of a cache, by the moments of their number."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from aspenpy.cost.caches import offsets
from aspenpy.cost.caches.interference import share_beside_draws
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr

SETS, WAYS = 32, 8
LEVEL: Any = SimpleNamespace(sets=graph.number(SETS), room=graph.number(WAYS))


def mean_of(power: int, drawn: float, variance: float) -> float:
    def kept(room: Expr) -> Expr:
        return room**power

    return float(evaluate(share_beside_draws(kept, graph.number(drawn), graph.number(variance), LEVEL)))


@pytest.mark.parametrize("drawn", [32, 48, 100, 200])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_many_drawn_lines_have_their_moments(drawn: int, share: float) -> None:
    """A line or more in each set: of a normal law the first three moments about the middle are those of three points,
    half a line up."""
    middle, spread = WAYS + 0.5 - drawn / SETS, share * drawn / SETS
    assert mean_of(0, drawn, share * drawn) == pytest.approx(1)
    assert mean_of(1, drawn, share * drawn) == pytest.approx(middle)
    assert mean_of(2, drawn, share * drawn) == pytest.approx(middle**2 + spread)
    assert mean_of(3, drawn, share * drawn) == pytest.approx(middle**3 + 3 * middle * spread)


@pytest.mark.parametrize("drawn", [1, 8, 31])
@pytest.mark.parametrize("power", [0, 1, 2])
def test_few_drawn_lines_come_by_the_law_of_poisson(drawn: int, power: int) -> None:
    """Less than a line in a set: none, one, two, and as three all further ones."""
    mean = drawn / SETS
    chances = [math.exp(-mean) * mean**count / math.factorial(count) for count in range(3)]
    expected = sum(chance * (WAYS - count) ** power for count, chance in enumerate(chances))
    expected += (1 - sum(chances)) * (WAYS - 3) ** power
    assert mean_of(power, drawn, drawn) == pytest.approx(expected)


def test_without_tables_the_whole_room_is_left() -> None:
    def kept(room: Expr) -> Expr:
        return 3 * room

    assert evaluate(share_beside_draws(kept, graph.ZERO, graph.ZERO, LEVEL)) == 3 * WAYS


def test_lines_found_in_tables_vary_the_less_the_more_of_a_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 lines 60, each with the chance 0.6: a variance of 60 x 0.4; of a table that is found whole, none."""
    seen: list[float] = []
    monkeypatch.setattr(
        offsets,
        "share_beside_draws",
        lambda kept, touched, variance, level: seen.extend((float(evaluate(touched)), float(evaluate(variance)))),
    )
    parts: list[float] = []

    def table(lines: int, found: int) -> Any:
        def lines_of(draws: Expr, level: object) -> Expr:
            parts.append(float(evaluate(draws)))
            return graph.number(found)

        return SimpleNamespace(
            lines=lambda level: graph.number(lines), lines_of=lines_of, draws=graph.number(10 * lines)
        )

    walks = offsets.Walks.__new__(offsets.Walks)
    walks.level, walks.tables = LEVEL, (table(100, 60), table(40, 40), table(50, 10))  # type: ignore[assignment]
    walks._share([], graph.div(1, 4))
    assert seen == pytest.approx([110, 60 * 0.4 + 10 * 0.8])
    assert parts == [250, 100, 125]
