"""Tables that are looked up at random beside references at constant offsets, against all references played."""

from __future__ import annotations

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import machine_of
from tests.tiny import application, machine

SHAPE = ("L1", 8192, 4)
"""128 lines in 32 sets."""

PATTERNS = {
    "star": (5, "stencil(5, {row}, {rows})"),
    "neighbours": (3, "nest(8, {row}, {pitch}, {rows}), offsets(0, 8, -8)"),
    "two rows": (2, "nest(8, {row}, {pitch}, {rows}), offsets(0, {pitch})"),
}


def misses(name: str, row: int, lines: int, draws: float, simulated: bool) -> float:
    """Of an array of 60 rows, and of a table of so many lines that each pass looks up so often."""
    rows, (count, pattern) = 60, PATTERNS[name]
    text = f"loads [{row * rows * count}] of size [8] from x as {pattern.format(row=row, rows=rows, pitch=8 * row)} "
    text += f"loads [{int(row * rows * draws)}] of size [8] from t as random"
    data = f"data x as Array({row * (rows + 4)}, 8) data t [{64 * lines}]"
    app = application(f"execute {{ {text} }}", data)
    (total,) = Traffic(predict(app, machine(machine_of(SHAPE))), simulated).totals
    return float(total.read_misses + total.write_misses)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("row", [40, 64, 100])
@pytest.mark.parametrize("lines", [50, 100, 200, 400])
@pytest.mark.parametrize("draws", [0.1, 0.5, 2])
def test_a_table_comes_between_two_touches_as_often_as_it_is_drawn(
    name: str, row: int, lines: int, draws: float
) -> None:
    """Between two words of a line lies one pass, and not the whole table: each line of the array is loaded about once
    a row or less, as long as the lines of some rows and what is drawn beside them fit."""
    exact = misses(name, row, lines, draws, True)
    fills_cache = (lines, draws) == (100, 2)  # beside some rows: less exact
    assert misses(name, row, lines, draws, False) == pytest.approx(exact, rel=0.5 if fills_cache else 0.25, abs=40)
