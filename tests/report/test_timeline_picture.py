"""The picture of a trace: what lies where, by hand and against the seconds that a prediction has for each resource."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.timeline import Bar, timeline_of

BRANCHES = """
model branches {
  kernel nothing { execute { flops [0] } }
  kernel short { execute { flops [5e8] loads [1e10] of size [1 B] } }
  kernel long { execute { loads [2e10] of size [1 B] } }
  kernel both { par "overlap" { call short call long } }
  kernel main {
    probability { [0.25] { call short } [0.5] { call long } else { call nothing } }
    call both
    iterate [10] { call short }
  }
}
"""
MEMORY, CORE = "loads on simple_memory", "flops on simple_core"


@pytest.fixture
def branches(tmp_path: Path) -> aspenpy.trace:
    """On `simple`, 10 GB/s and 1 Gflop/s: 1 s and 2 s of loads, half a second of flops."""
    (tmp_path / "branches.aspen").write_text(BRANCHES, encoding="utf-8")
    return aspenpy.trace(
        aspenpy.load_application(tmp_path / "branches.aspen"), aspenpy.load_machine("simple"), passes=2
    )


def test_cases_are_as_long_as_their_share_and_branches_at_once_wait_in_a_lane(branches: aspenpy.trace) -> None:
    timeline = timeline_of(branches)
    lanes = {
        lane: [(bar.kernel, bar.start, bar.end) for bar in timeline.bars if bar.lane == lane] for lane in timeline.lanes
    }
    assert lanes[MEMORY] == [
        ("short", 0, 0.25), ("long", 0.25, 1.25), ("short", 1.25, 2.25), ("long", 2.25, 4.25), ("short", 4.25, 5.25),
        ("short", 5.25, 6.25),
    ]  # fmt: skip
    assert lanes[CORE] == [("short", at, end) for at, end in [(0, 0.125), (1.25, 1.75), (4.25, 4.75), (5.25, 5.75)]]
    assert [(gap.passes, gap.start, gap.end) for gap in timeline.gaps] == [(8, 6.25, 14.25)]
    assert timeline.end == 14.25 == branches.steps[0].duration


@pytest.mark.parametrize(
    ("application", "machine", "options"),
    [
        ("jacobi", "simple", {}),
        ("stream", "epyc_9654", {}),
        ("comd", "haswell", {"set": {"steps": 2}}),
        ("cg", "keeneland", {"socket": "nvidia_m2090", "set": {"outer_iterations": 1}}),
    ],
)
def test_a_lane_is_as_long_busy_as_the_prediction_says(application: str, machine: str, options: dict) -> None:
    app, on = aspenpy.load_application(application), aspenpy.load_machine(machine)
    trace = aspenpy.trace(app, on, most=10_000, passes=1_000, **options)
    timeline = timeline_of(trace)
    assert trace.complete
    assert not timeline.gaps
    prediction = aspenpy.predict(app, on, **options)
    assert timeline.end == pytest.approx(prediction.runtime)
    assert sum(bar.end - bar.start for bar in timeline.kernels) == pytest.approx(prediction.runtime)
    shared = 1e-3 if machine == "epyc_9654" else 1e-6  # loads and stores slow each other down
    for lane in timeline.lanes:
        names, _, component = lane.partition(" on ")
        uses = [use for use in prediction.resources.values() if use.name in names.split(" + ")]
        assert {use.component.rpartition("/")[2] for use in uses} == {component}
        bars = [bar for bar in timeline.bars if bar.lane == lane]
        assert sum(bar.end - bar.start for bar in bars) == pytest.approx(sum(use.time for use in uses), rel=shared)
        assert all(first.end <= second.start * (1 + 1e-9) for first, second in pairwise(bars))


def test_a_long_gap_is_cut_and_named_and_times_behind_it_are_those_of_the_run(branches: aspenpy.trace) -> None:
    pytest.importorskip("matplotlib", reason="pictures are drawn by matplotlib: pip install 'aspenpy[plot]'")
    from aspenpy.report.timeline_picture import draw_trace

    (axes,) = draw_trace(branches).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["kernels", CORE, MEMORY]
    assert [text.get_text() for text in axes.texts] == ["8 more: 8 s"]
    left, right = axes.get_xlim()
    assert left == 0
    assert right == pytest.approx(6.25 * 1.05)  # the gap is a twentieth of what is drawn
    ticks = dict(zip(axes.get_xticks(), (label.get_text() for label in axes.get_xticklabels()), strict=True))
    assert all(float(re.match(r"[\d.]+", text)[0]) == place for place, text in ticks.items() if place <= 6.25)


def test_branches_at_once_have_a_row_each() -> None:
    from aspenpy.report.timeline_picture import _rows_of

    spans = [(0, 1), (1, 3), (1, 2), (2, 4), (4, 5)]
    assert _rows_of([Bar("kernels", "k", transfer=False, start=low, end=high) for low, high in spans]) == [
        0,
        0,
        1,
        1,
        0,
    ]


def test_a_picture_needs_a_machine() -> None:
    with pytest.raises(aspenpy.AspenError, match="needs the times of a machine"):
        timeline_of(aspenpy.trace(aspenpy.load_application("jacobi")))
