"""Bars of pictures: where they begin and end, which are left out, and what is written beside them, by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import aspenpy

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")

from matplotlib.figure import Figure

from aspenpy.report.changes_picture import _draw_factors
from aspenpy.report.traffic import _draw_histogram, _name_octave, _octaves_table

ROWS = [
    ("twice", 1.0, 2.0),
    ("as before", 1000.0, 1004.0),  # nobody sees it
    ("a quarter", 4.0, 1.0),
    ("seen", 1000.0, 1005.0),
    ("seen too", 1005.0, 1000.0),
    ("new", 0.0, 3.0),
    ("gone", 2.0, 0.0),
    ("never there", 0.0, 0.0),
]


def bars(axes: Any) -> list[tuple[float, float, float]]:
    """Middle, beginning and end of each."""
    return [
        (bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_x() + bar.get_width())
        for bar in axes.patches
        if hasattr(bar, "get_height")
    ]


def test_factors_that_changed_most_stand_on_top() -> None:
    (axes,) = _draw_factors("a, relative to b", ROWS).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert (sorted(labels[:2]), labels[2:]) == (["seen", "seen too"], ["twice", "a quarter"])
    found = bars(axes)
    assert [place for place, _, _ in found] == pytest.approx([0, 1, 2, 3])
    assert {start for _, start, _ in found} == {1}
    assert [end for _, _, end in found[2:]] == pytest.approx([2, 0.25])
    assert [text.get_text() for text in axes.texts][2:] == ["2", "0.25"]
    assert [(text.xy, text.get_ha(), text.xyann) for text in axes.texts][2:] == [
        ((2.0, 2), "left", (4, 0)),
        ((0.25, 3), "right", (-4, 0)),
    ]
    assert found[2][2] > 1 > found[3][2]
    colours = [bar.get_facecolor() for bar in axes.patches]
    assert colours[2] != colours[3]
    assert axes.get_xlabel() == "now / before (not drawn: 1 new, 1 gone)"
    assert axes.get_xlim() == pytest.approx((0.25 / 8**0.15, 2 * 8**0.15))
    assert axes.get_ylim() == pytest.approx((-0.6, 3.6))


@pytest.mark.parametrize(("count", "drawn", "said"), [(24, 24, ""), (25, 24, " (not drawn: 1 more change less)")])
def test_the_most_bars(count: int, drawn: int, said: str) -> None:
    (axes,) = _draw_factors("t", [(f"n{number}", 1.0, 2.0 + number) for number in range(count)]).axes
    assert len(axes.patches) == drawn
    assert axes.get_yticklabels()[-1].get_text() == f"n{count - 1}"
    assert axes.get_yticklabels()[0].get_text() == f"n{count - drawn}"
    assert axes.get_xlabel() == f"now / before{said}"


def test_nothing_changed() -> None:
    (axes,) = _draw_factors("t", [("as before", 2.0, 2.0)]).axes
    assert len(axes.patches) == 0
    assert axes.get_xlim() == pytest.approx((0.8 / (1.25 / 0.8) ** 0.15, 1.25 * (1.25 / 0.8) ** 0.15))
    assert axes.get_ylim() == pytest.approx((-0.6, 2.6))
    assert axes.get_xlabel() == "now / before"


class Part:
    """Ten references: four of a distance of 0, two of 1, one of 2 or 3, and three first ones."""

    references, cold, line = 10, 3, 64

    def __init__(self, name: str) -> None:
        self.name = name

    def miss_ratio(self, lines: Any) -> Any:
        import numpy

        return numpy.array([{0: 1.0, 1: 0.6, 2: 0.4, 4: 0.3}[int(count)] for count in lines])


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_bars_of_a_histogram_stand_around_their_distance(parts: int) -> None:
    axes = Figure().add_subplot()
    _draw_histogram(axes, [Part(f"p{number}") for number in range(parts)], 3)  # type: ignore[misc]
    for place, height in enumerate([40, 20, 10, 30]):
        group = [container[place] for container in axes.containers]
        assert [bar.get_height() for bar in group] == pytest.approx([height] * parts)
        edges = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in group]
        assert (edges[0][0] + edges[-1][1]) / 2 == pytest.approx(place)
        assert edges[-1][1] - edges[0][0] == pytest.approx(0.86)
        for (_, end), (start, _) in pairwise(edges):
            assert start == pytest.approx(end)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2-3", "first"]
    assert axes.get_xlabel() == "distance (other lines of 64 B in between)"
    assert axes.get_legend_handles_labels()[1] == [f"p{number}" for number in range(parts)]


@pytest.mark.parametrize(("addresses", "distances"), [([0, 64, 128], ["first"]), ([0, 0, 64, 0], ["0", "1", "first"])])
def test_octaves_end_with_the_longest_distance(addresses: list[int], distances: list[str]) -> None:
    rows = _octaves_table(aspenpy.reuse_distances(addresses)).rows
    assert [str(row[0]) for row in rows] == distances


@pytest.mark.parametrize(
    ("number", "name"), [(1, "1"), (2, "2-3"), (3, "4-7"), (12, "2048-4095"), (13, "2¹²-"), (31, "2³⁰-")]
)
def test_names_of_octaves(number: int, name: str) -> None:
    assert _name_octave(number) == name
