"""Plots in characters: dots where the curve is."""

from __future__ import annotations

import math

import pytest

from aspenpy.tables.pages import WITHOUT_UNICODE, render_html
from aspenpy.tables.plot import DOTS, HEIGHT, WIDE, draw_figure, plot_lines, write_svg
from aspenpy.tables.table import Plot

WIDTH = 60


def plot(xs: list[float], heights: list[float], log: bool = False) -> Plot:
    return Plot({"y": tuple(heights)}, "", "x", tuple(xs), log)


def dots(lines: list[str]) -> set[tuple[int, int]]:
    """The dots of a drawing, from the lower left."""
    found = set()
    for row, line in enumerate(lines[1 : 1 + HEIGHT]):
        curve = line[line.index("┤" if "┤" in line else "│") + 1 :]
        for column, char in enumerate(curve):
            for down, pair in enumerate(DOTS):
                for right, bit in enumerate(pair):
                    if char != " " and (ord(char) - 0x2800) & bit:
                        found.add((2 * column + right, 4 * HEIGHT - 1 - (4 * row + down)))
    return found


def columns(lines: list[str]) -> int:
    """Dots across."""
    return 2 * lines[-2].count("─")


def test_a_line_is_straight() -> None:
    lines = plot_lines(plot([0, 10], [0, 100]), WIDTH)
    across, up = columns(lines) - 1, 4 * HEIGHT - 1
    found = dots(lines)
    assert {x for x, _ in found} == set(range(across + 1))
    assert all(abs(y - up * x / across) <= 1 for x, y in found)


def test_logarithmic_axes_make_a_power_straight() -> None:
    xs = [10 ** (place / 20) for place in range(81)]
    lines = plot_lines(plot(xs, [x**3 for x in xs], log=True), WIDTH)
    across, up = columns(lines) - 1, 4 * HEIGHT - 1
    assert all(abs(y - up * x / across) <= 1.5 for x, y in dots(lines))
    assert "both axes logarithmic" in lines[0]


def test_a_constant_lies_in_the_middle() -> None:
    assert {y for _, y in dots(plot_lines(plot([1, 2, 3], [5, 5, 5]), WIDTH))} <= {2 * HEIGHT - 1, 2 * HEIGHT}


def test_a_gap_is_left_open() -> None:
    xs = [float(x) for x in range(101)]
    lines = plot_lines(plot(xs, [math.nan if 40 <= x <= 60 else x for x in xs]), WIDTH)
    across = columns(lines) - 1
    assert not [x for x, _ in dots(lines) if 0.41 * across < x < 0.59 * across]
    assert "21 of 101 points without a value" in lines[0]


@pytest.mark.parametrize("width", [10, 40, 100, 300])
def test_it_fits(width: int) -> None:
    lines = plot_lines(plot([1, 1e6], [1e-9, 123456]), width)
    assert max(map(len, lines)) <= max(width, 40)
    assert "\x1b" not in "".join(lines)


def test_each_of_several_curves_has_its_name_where_it_ends() -> None:
    curves = {"steep": (0.0, 100.0), "flat": (0.0, 10.0), "level": (0.0, 11.0)}
    lines = plot_lines(Plot(curves, "", "x", (0.0, 10.0), False), WIDTH)
    assert lines[0] == "steep, flat, level over x"
    assert lines[1].endswith(" steep")
    assert [line.split()[-1] for line in lines[-5:-3]] == ["level", "flat"]
    assert max(map(len, lines)) <= WIDTH


def test_where_there_is_no_unicode() -> None:
    assert all(line.translate(WITHOUT_UNICODE).isascii() for line in plot_lines(plot([0, 1, 2], [0, 1, 4]), WIDTH))


def test_a_picture_in_a_notebook() -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    drawn = write_svg(plot([1, 2, 3], [1, 4, 9]))
    assert drawn.startswith("<svg")
    assert drawn == write_svg(plot([1, 2, 3], [1, 4, 9]))
    assert drawn in render_html((plot([1, 2, 3], [1, 4, 9]),))


def test_curves_are_named_at_their_last_points() -> None:
    """Names in the order of the curves, each with a line to the last point that has a value; of one curve the axis has
    the name."""
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    curves = {"up": (1.0, 4.0, 9.0), "broken": (8.0, 2.0, math.nan), "missing": (math.nan, math.nan, math.nan)}
    from matplotlib.colors import to_rgba

    (axes,) = draw_figure(Plot(curves, "s", "x", (1.0, 2.0, 3.0), False)).axes
    assert {text.get_text(): tuple(text.xy) for text in axes.texts} == {"up": (3.0, 9.0), "broken": (2.0, 2.0)}
    assert axes.get_ylabel() == ""
    colours = {line.get_label(): line.get_color() for line in axes.get_lines()}
    assert {text.get_text(): text.arrow_patch.get_edgecolor() for text in axes.texts} == {
        name: to_rgba(colours[name]) for name in ("up", "broken")
    }
    (single,) = draw_figure(plot([1, 2, 3], [1, 4, 9])).axes
    assert not single.texts
    assert single.get_ylabel() == "y"


@pytest.mark.parametrize(("highest", "scale"), [(WIDE, "linear"), (WIDE * 1.01, "log")])
def test_heights_of_orders_of_magnitude_have_a_logarithmic_axis(highest: float, scale: str) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    (axes,) = draw_figure(plot([1, 2, 3], [1, 2, highest])).axes
    assert axes.get_yscale() == scale
    (axes,) = draw_figure(plot([1, 2, 3], [0, 2, highest])).axes
    assert axes.get_yscale() == "linear"
