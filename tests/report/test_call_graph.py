"""The call graph as a picture: layers, boxes and arrows where numbers by hand have them."""

from __future__ import annotations

import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
pytest.importorskip("networkx")

from aspenpy.report.profile import _spread_layer, draw_profile, layers_of, place_boxes, write_speedscope
from aspenpy.tables.numbers import format_share

DIAMOND = {"main": ["a", "b"], "a": ["c"], "b": ["c"], "c": []}


@pytest.mark.parametrize(
    ("callees", "layers"),
    [
        ({"main": []}, [["main"]]),
        (DIAMOND, [["main"], ["a", "b"], ["c"]]),
        ({"main": ["a", "c"], "a": ["c"], "c": []}, [["main"], ["a"], ["c"]]),  # the longest way
    ],
)
def test_layers_stand_behind_all_that_call_them(callees: dict[str, list[str]], layers: list[list[str]]) -> None:
    assert layers_of(callees) == layers


def test_boxes_of_a_diamond() -> None:
    """0.72 inches from box to box, an inch between layers behind the widest box, 0.45 above the first."""
    boxes = place_boxes(DIAMOND, {"main": 1.0, "a": 2.0, "b": 1.5, "c": 1.0})
    assert boxes == {
        "main": pytest.approx((0.2, 1.06, 1.0)),
        "a": pytest.approx((2.2, 0.7, 2.0)),
        "b": pytest.approx((2.2, 1.42, 1.5)),
        "c": pytest.approx((5.2, 1.06, 1.0)),
    }


def test_one_box_stands_at_the_top() -> None:
    assert place_boxes({"main": []}, {"main": 1.5}) == {"main": pytest.approx((0.2, 0.7, 1.5))}


def test_a_layer_is_moved_as_a_whole() -> None:
    """The second is 0.62 too low, so that all go up by a third of it."""
    assert _spread_layer(["a", "b", "c"], {"a": 0.0, "b": 0.1, "c": 5.0}) == pytest.approx(
        {"a": -0.62 / 3, "b": 0.72 - 0.62 / 3, "c": 5 - 0.62 / 3}
    )


@pytest.mark.parametrize("seed", range(5))
def test_boxes_do_not_overlap(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"k{number}" for number in range(12)]
    callees = {name: [other for other in names[at + 1 :] if chance.random() < 0.3] for at, name in enumerate(names)}
    widths = {name: chance.uniform(0.5, 2) for name in names}
    boxes = place_boxes(callees, widths)
    for layer in layers_of(callees):
        assert len({boxes[name].left for name in layer}) == 1
        middles = sorted(boxes[name].middle for name in layer)
        assert all(below - above > 0.7199 for above, below in pairwise(middles))
    assert min(box.middle for box in boxes.values()) == pytest.approx(0.7)
    for caller, called in callees.items():
        assert all(boxes[callee].left >= boxes[caller].left + widths[caller] + 0.999 for callee in called)


def profile(*kernels: tuple[str, float, float, float], arcs: tuple[tuple[str, str, float, float], ...] = ()) -> Any:
    """Kernels with their calls, and seconds with and without what they call; of a run of 10 s."""
    return SimpleNamespace(
        kernels=[
            SimpleNamespace(name=name, calls=calls, inclusive=inclusive, exclusive=own, share=own / 10)
            for name, calls, inclusive, own in kernels
        ],
        arcs=[
            SimpleNamespace(caller=caller, callee=callee, calls=calls, time=time)
            for caller, callee, calls, time in arcs
        ],
        runtime=10.0,
        prediction=SimpleNamespace(where="app on box", kernel="main"),
        paths=[
            SimpleNamespace(path=("main",), exclusive=3.0),
            SimpleNamespace(path=("main", "a"), exclusive=7.0),
            SimpleNamespace(path=("main", "never"), exclusive=0.0),
        ],
    )


def test_a_drawn_profile() -> None:
    """Two call sites of one kernel are one arrow; what never ran has no box."""
    drawn = profile(
        ("main", 1, 10, 3.1),
        ("a", 5, 6.9, 6.9),
        ("never", 0, 0, 0),
        arcs=(("main", "a", 2, 1.9), ("main", "a", 3, 5.0), ("main", "never", 0, 0)),
    )
    (axes,) = draw_profile(drawn).axes
    boxes, arrows = [], []
    for patch in axes.patches:
        (boxes if type(patch).__name__ == "FancyBboxPatch" else arrows).append(patch)
    texts = {text.get_text(): text for text in axes.texts}
    of_main = f"main\n{format_share(1.0)}, own {format_share(0.31)}"
    of_a = f"a\n{format_share(0.69)}, own {format_share(0.69)}"
    assert [text for text in texts if "\n" in text] == [of_main, of_a]
    assert (texts[of_main].get_color(), texts[of_a].get_color()) == ("black", "white")  # 0.31^0.6 is below a half
    assert "app on box: 10 s" in texts
    (arrow,) = arrows
    assert (arrow.get_linewidth(), arrow.get_alpha()) == pytest.approx((0.6 + 3.5 * 0.69, 0.35 + 0.6 * 0.69))
    main, a = boxes
    assert texts["5×"].get_position() == pytest.approx((a.get_x() - 0.45, a.get_y() + 0.25))
    assert (main.get_x(), main.get_y(), main.get_height()) == pytest.approx((0.2, 0.45, 0.5))
    assert main.get_width() == pytest.approx(0.083 * len(of_main.split("\n")[1]) + 0.2)
    assert texts[of_main].get_position() == pytest.approx((0.2 + main.get_width() / 2, 0.7))
    assert axes.get_xlim() == pytest.approx((0, 7))
    assert axes.get_ylim() == pytest.approx((0.7 + 0.25 + 0.3, 0))
    assert sum(main.get_facecolor()[:3]) > sum(a.get_facecolor()[:3])


@pytest.mark.parametrize(("count", "said"), [(30, ""), (31, " (1 kernels that take less are left out)")])
def test_the_most_boxes(count: int, said: str) -> None:
    kernels = [(f"k{number}", 1.0, float(number), 0.1) for number in range(1, count + 1)]
    arcs = (("k31", "k30", 1.0, 1.0), ("k30", "k1", 1.0, 1.0))
    (axes,) = draw_profile(profile(*kernels, arcs=arcs if count == 31 else arcs[1:])).axes
    shown = {text.get_text().partition("\n")[0] for text in axes.texts if "\n" in text.get_text()}
    assert shown == {f"k{number}" for number in range(count - 29, count + 1)}
    assert f"app on box: 10 s{said}" in {text.get_text() for text in axes.texts}
    assert sum(text.get_text() == "1×" for text in axes.texts) == 1


def test_samples_of_speedscope_weigh_what_their_ends_take() -> None:
    written = write_speedscope(profile())
    assert written["shared"]["frames"] == [{"name": "main"}, {"name": "a"}]
    (found,) = written["profiles"]
    assert (found["samples"], found["weights"]) == ([[0], [0, 1]], [3.0, 7.0])
    assert (found["startValue"], found["endValue"], found["unit"]) == (0, 10.0, "seconds")
    assert (written["activeProfileIndex"], written["name"], found["name"]) == (0, "app on box", "main")
