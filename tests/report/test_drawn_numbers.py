"""Pictures draw the numbers that the same command writes as JSON: each point and bar, its place, and what names it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, linear_regression, median
from typing import Any

import pytest

from aspenpy.learn.estimators.speedup import Spot
from aspenpy.report.speedup import draw_surface
from tests.report.test_small_case import Run, labels, run

__all__ = ["run"]

Draw = Callable[[str], tuple[Any, dict[str, Any]]]


@pytest.fixture
def draw(run: Run, monkeypatch: pytest.MonkeyPatch) -> Draw:
    """The figure that a command draws, and what it writes."""
    figures = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib: pip install 'aspenpy[plot]'")
    drawn: list[Any] = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))

    def draw(line: str) -> tuple[Any, dict[str, Any]]:
        written = json.loads(run(f"{line} --picture picture.svg --format json"))
        (figure,) = drawn
        drawn.clear()
        return figure, written

    return draw


def numbers(values: Iterable[float]) -> Any:
    return pytest.approx(list(values), rel=1e-9, abs=1e-15)


def series(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Lines that have a name."""
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if not line.get_label().startswith("_")
    }


def bars(axes: Any) -> list[tuple[float, float, float, float]]:
    """Left, bottom, width and height of each that has an area."""
    boxes = [patch.get_bbox().bounds for patch in axes.patches]
    return [box for box in boxes if box[2] and box[3]]


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def scales(axes: Any) -> tuple[str, str]:
    return axes.get_xscale(), axes.get_yscale()


def test_power_over_time(draw: Draw) -> None:
    """10 W always, 120 W more for the 12 us of `axpy`; the card's 6 W for 1 of the 3 us of `main`."""
    figure, written = draw("energy axpy.aspen --machine powered.aspen")
    (axes,) = figure.axes
    assert labels(axes) == ("axpy on Cluster: 1.6 mJ in 15 us", "time, kernel after kernel", "")
    assert bars(axes) == [
        numbers(box) for box in ((0, 0, 3e-6, 10), (0, 10, 3e-6, 2), (3e-6, 0, 12e-6, 10), (3e-6, 10, 12e-6, 120))
    ]
    area = sum(width * height for _, _, width, height in bars(axes))
    assert area == pytest.approx(written["application"]["energy"]["value"])
    assert list(axes.lines[0].get_ydata()) == numbers([area / 15e-6] * 2)
    assert [(text.get_text(), *text.xy) for text in axes.texts] == [
        ("main", pytest.approx(1.5e-6), pytest.approx(12)),
        ("axpy", pytest.approx(9e-6), pytest.approx(130)),
    ]
    assert (axes.get_xlim(), axes.get_ylim()) == (numbers((0, 15e-6)), numbers((0, 1.12 * 130)))
    assert legend(axes) == [
        "Fabric, messages: 6 uJ",
        "Processor, active: 1.44 mJ",
        "Processor, idle: 150 uJ",
        "average: 106 W",
    ]


def test_kernels_without_room_for_their_names_are_numbered(draw: Draw) -> None:
    long = "a_kernel_with_a_name_that_is_much_longer_than_its_bar"
    text = Path("axpy.aspen").read_text(encoding="utf-8")
    text = text.replace("kernel axpy {", f"kernel {long} {{ execute {{ messages [1000] }} }}\n  kernel axpy {{")
    Path("long.aspen").write_text(text.replace("kernel main {", f"kernel main {{ call {long}"), encoding="utf-8")
    (axes,) = draw("energy long.aspen --machine powered.aspen")[0].axes
    assert texts(axes) == ["main", "1", "axpy"]
    assert legend(axes)[-1] == "1  a_kernel_with_a_name_t…han_its_bar: 12 W"


MEASURED = """\
n,machine,runtime [us],flops [kflop]
1000,cluster.aspen,16,20
2000,cluster.aspen,26,41
4000,faster.aspen,51,80
"""


def test_errors_of_a_fit(draw: Draw) -> None:
    Path("runs.csv").write_text(MEASURED, encoding="utf-8")
    figure, written = draw("fit axpy.aspen runs.csv --vary clock")
    assert figure._suptitle.get_text().startswith("axpy: 1 parameter fitted to 6 measurements")
    band = 100 * math.sqrt(sum(row["error"] ** 2 for row in written["measurements"]) / 6)
    for axes, metric in zip(figure.axes, ("runtime", "flops"), strict=True):
        assert labels(axes)[1:] == (f"{metric}, measured", "relative error (%), positive: predicted too much")
        assert scales(axes) == ("log", "linear")
        rows = [row for row in written["measurements"] if row["metric"] == metric]
        assert all(row["error"] == pytest.approx(row["predicted"] / row["measured"] - 1) for row in rows)
        assert series(axes) == {
            name: (
                numbers(row["measured"] for row in rows if row["machine"] == name),
                numbers(100 * row["error"] for row in rows if row["machine"] == name),
            )
            for name in ("Cluster", "Faster")
        }
        (shade,) = bars(axes)
        assert shade == numbers((0, -band, 1, 2 * band))
        assert texts(axes) == [f"root mean square {band:.3g} %"]
        assert axes.texts[0].xy == numbers((1, band))
        (zero,) = (line for line in axes.lines if line.get_label().startswith("_"))
        assert list(zero.get_ydata()) == [0, 0]
    assert figure.axes[0].get_legend() is None
    assert legend(figure.axes[1]) == ["Cluster", "Faster"]


RING = """\
machine ring { node [8] box  interconnect [8] cable }
node box { socket chip }
socket chip { core one }
core one { resource flops(n) [n / 1e9] }
interconnect cable {
  property topology [torus]
  property dimensions [8]
  property latency [1e-6]
  property hop_latency [1e-6]
  property bandwidth [1e9]
  resource messages(m) [1e-6 + m / 1e9]
}
"""


def test_messages_over_their_size(draw: Draw) -> None:
    """In a ring of eight the farthest node is 4 links away."""
    Path("ring.aspen").write_text(RING, encoding="utf-8")
    figure, written = draw("network --machine ring.aspen")
    above, below = figure.axes
    assert labels(above) == ("one message on ring", "", "time")
    assert labels(below) == ("", "size", "rate")
    assert (scales(above), scales(below)) == (("log", "log"),) * 2
    curves = series(above)
    assert list(curves) == ["to an average node", "to the farthest"] == legend(above)
    sizes, times = curves["to an average node"]
    assert (len(sizes), sizes[0], sizes[-1]) == (47, 1, 2**23)
    assert [ratio for one, ratio in pairwise(sizes) if not math.isclose(ratio / one, math.sqrt(2))] == []
    assert series(below)["to an average node"] == (
        sizes,
        numbers(size / time for size, time in zip(sizes, times, strict=True)),
    )
    for row in written["messages"]:
        for name, key in (("to an average node", "time"), ("to the farthest", "farthest")):
            at = [time - size / 1e9 for size, time in zip(*curves[name], strict=True)]
            assert at == numbers([row[key] - row["size"] / 1e9] * len(at))


TRACE = " L 10,8\n S 80,8\n L 18,8\n L 80,8\n L 100,8\n L 200,8\n L 10,8\n"


def test_reuse_distances(draw: Draw) -> None:
    """Lines 0, 2, 0, 2, 4, 8, 0: four first references, distances 1, 1 and 3."""
    Path("t.lackey").write_text(TRACE, encoding="utf-8")
    figure, _ = draw("rdd t.lackey --line 64")
    left, right = figure.axes
    assert figure._suptitle.get_text() == "reuse distances of t.lackey"
    assert ticks(left.xaxis) == ["0", "1", "2-3", "first"]
    heights = [patch.get_height() for patch in left.patches]
    assert heights == numbers(100 * count / 7 for count in (0, 2, 1, 4))
    assert [patch.get_x() + patch.get_width() / 2 for patch in left.patches] == numbers(range(4))
    assert labels(left)[1:] == ("distance (other lines of 64 B in between)", "references (%)")
    assert labels(right)[1:] == ("size of a fully associative LRU cache", "misses (%)")
    ((sizes, misses),) = series(right).values()
    assert sizes == numbers([64, 128, 192, 256, *sizes[4:]])
    assert misses == numbers([100, 500 / 7, 500 / 7, *[400 / 7] * (len(sizes) - 3)])
    assert right.get_ylim()[0] == 0
    assert left.get_legend() is None


def test_bytes_between_levels(draw: Draw) -> None:
    figure, written = draw("traffic cache_triad --machine haswell")
    (axes,) = figure.axes
    assert labels(axes) == ("cache_triad on haswell", "moved between the two", "")
    names = [level["name"] for level in written["levels"]]
    assert ticks(axes.yaxis) == [f"{one} – {other}" for one, other in zip(names, [*names[1:], "memory"], strict=True)]
    moved = {
        (access["array"], access["level"]): access["fetched"] + access["written_back"] + access["victims"]
        for access in written["accesses"]
    }
    ends = [0.0] * len(names)
    for container in axes.containers:
        array = container.get_label()[-1]
        for place, (bar, name) in enumerate(zip(container, names, strict=True)):
            assert (bar.get_x(), bar.get_width()) == numbers((ends[place], moved[array, name]))
            assert bar.get_y() + bar.get_height() / 2 == pytest.approx(place)
            ends[place] += bar.get_width()
    assert ends == numbers(level["bytes"] for level in written["levels"])
    assert [text.xy for text in axes.texts] == [(end, place) for place, end in enumerate(ends)]
    assert texts(axes) == ["1.05 MB", "1.05 MB", "0 B"]
    assert (axes.get_xlim(), axes.get_ylim()) == (numbers((0, 1.15 * max(ends))), (2.5, -0.5))
    (outside,) = figure.legends
    assert [text.get_text() for text in outside.get_texts()] == [item.get_label() for item in axes.containers]


def test_stages_of_traces(draw: Draw) -> None:
    figure, written = draw("empirical cos trace cos_trace_example")
    (axes,) = figure.axes
    runs = [row["run"] for row in written["traces"]]
    assert labels(axes) == ("COS traces", "time", "")
    assert ticks(axes.yaxis) == runs
    expected = [
        (row["begin"], -runs.index(row["run"]) - 0.4, row["end"] - row["begin"], 0.8) for row in written["stages"]
    ]
    assert bars(axes) == [numbers(box) for box in expected]
    assert axes.get_xlim()[0] == 0
    ends = [max(row["end"] for row in written["stages"] if row["run"] == name) for name in runs]
    assert [text.xy for text in axes.texts] == [numbers((end, -place)) for place, end in enumerate(ends)]
    assert texts(axes) == [" 12 us", " 6 us", " 4.75 us"]
    colour = {patch.get_label(): patch.patches[0].get_facecolor() for patch in axes.containers[-3:]}
    assert list(colour) == legend(axes) == ["compute (Tc)", "overlap (To)", "stall (Ts)"]
    shown = {label.split()[0]: hue for label, hue in colour.items()}
    assert [patch.get_facecolor() for patch in axes.patches[: len(expected)]] == [
        shown[row["stage"]] for row in written["stages"]
    ]


@pytest.mark.parametrize(
    ("speedups", "white", "shown"),
    [
        ((1, 2, 10, 100), (1, 2), ["1", "2", "5", "10", "20", "50", "100"]),  # 10 is in the middle of 1 to 100
        ((1.01, 2, 4.99, 9.9), (1.01, 2), ["2", "5"]),
        ((2, 3, 4, 20), (2, 3, 4), ["2", "5", "10", "20"]),
        ((3, 3, 3, 3), (3, 3, 3, 3), []),
    ],
)
def test_colours_and_ticks_of_a_surface(
    speedups: tuple[float, ...], white: tuple[float, ...], shown: list[str]
) -> None:
    """Text is white below the geometric mean of the ends, ticks are at round numbers from end to end."""
    figures = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib: pip install 'aspenpy[plot]'")
    places = [(count, clock) for count in (1, 2) for clock in (1e9, 2e9)]
    spots = [Spot(*place, 1.0, speedup, None, None) for place, speedup in zip(places, speedups, strict=True)]
    figure = figures.Figure()
    axes = figure.add_subplot()
    draw_surface(figure, axes, spots, "x")
    assert [float(text.get_text()) for text in axes.texts if text.get_color() == "white"] == list(white)
    scale = figure.axes[1]
    assert [label for label in ticks(scale.yaxis) if label] == shown
    assert not any(line.get_visible() for line in (*axes.get_xgridlines(), *axes.get_ygridlines()))
    assert not scale.yaxis.get_minorticklocs().size
    assert not axes.patches  # without energies nothing is framed
    assert [axes.get_images()[0].norm(speedup) for speedup in (speedups[0], speedups[-1])] == [
        0,
        len(set(speedups)) > 1,
    ]


def test_surface_of_speedups(draw: Draw) -> None:
    figure, written = draw(
        "empirical power-aware predict matmul --machine pentium_m --clocks 700MHz,1.4GHz --processors 1,4"
    )
    axes, scale = figure.axes
    assert labels(axes) == ("speedup of matmul", "clock", "processors")
    assert scale.get_ylabel() == "speedup over one processor at the lowest clock"
    assert (ticks(axes.xaxis), ticks(axes.yaxis)) == (["700 MHz", "1.4 GHz"], ["1", "4"])
    speedups = [spot["speedup"] for spot in written["spots"]]
    (image,) = axes.images
    assert list(image.get_array().ravel()) == numbers(speedups)
    assert image.origin == "lower"
    assert [text.get_position() for text in axes.texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert texts(axes) == [f"{speedup:.3g}" for speedup in speedups]
    assert [text.get_color() for text in axes.texts] == ["white", "white", "black", "black"], (
        "dark cells below the middle"
    )
    assert ticks(scale.yaxis) == ["1", "2", "5"]
    best = min(written["spots"], key=lambda spot: spot["energy_delay"])
    place = [7e8, 1.4e9].index(best["clock"]), [1, 4].index(best["processors"])
    (frame,) = axes.patches
    assert frame.get_bbox().bounds == numbers((place[0] - 0.48, place[1] - 0.48, 0.96, 0.96))
    assert legend(axes) == ["least energy-delay product"]


LEARNT = {
    "acee report acee_example --leave-out application": ("energy", 4),
    "cos report cos_example --train threads==2": ("runtime", 4),
    "leading-loads report leading_loads_example": ("runtime", 3),
}


@pytest.mark.parametrize("line", LEARNT)
def test_predictions_of_learnt_models(line: str, draw: Draw) -> None:
    """Predicted over measured, relative errors, and the errors of what was held out by what ran."""
    figure, written = draw(f"empirical {line}")
    target, panels = LEARNT[line]
    against, errors, groups, *_ = figure.axes
    assert len(figure.axes) == panels
    rows = written["predictions"]
    assert labels(against) == ("predicted against measured", "measured", "predicted")
    assert labels(errors) == ("relative residuals", f"{target}, measured", "(predicted - measured)/measured (%)")
    assert (labels(groups)[0], labels(groups)[1]) == ("by configuration", "relative error (%)")
    assert (scales(against), scales(errors)) == (("log", "log"), ("log", "linear"))

    values = [row[key] for row in rows for key in ("measured", "predicted")]
    assert (
        list(against.lines[0].get_xdata()) == list(against.lines[0].get_ydata()) == numbers((min(values), max(values)))
    )
    curves = series(against)
    assert sorted((x, y) for pair in curves.values() for x, y in zip(*pair, strict=True)) == [
        numbers(pair) for pair in sorted((row["measured"], row["predicted"]) for row in rows)
    ]
    assert legend(against) == list(curves)

    assert series(errors) == {
        name: (
            numbers(row["measured"] for row in rows if row["trained"] is trained),
            numbers(100 * (row["predicted"] / row["measured"] - 1) for row in rows if row["trained"] is trained),
        )
        for name, trained in (("learnt from", True), ("held out", False))
        if any(row["trained"] is trained for row in rows)
    }
    assert legend(errors) == list(series(errors))
    held = [row for row in rows if not row["trained"]] or rows
    names = ticks(groups.yaxis)
    assert names == list(curves)
    medians = [line.get_xdata()[0] for line in groups.lines if len(line.get_xdata()) == 2][4::5]
    for name, middle in zip(names, medians, strict=True):
        measured = curves[name][0]
        sizes = [100 * abs(row["predicted"] / row["measured"] - 1) for row in held if row["measured"] in measured]
        assert middle == pytest.approx(median(sizes))


def test_quantiles_of_residuals(draw: Draw) -> None:
    """Over those of a normal distribution, at places of Filliben (1975), and the line of least squares."""
    figure, written = draw("empirical acee report acee_example --leave-out application")
    axes = figure.axes[3]
    assert labels(axes) == ("QQ plot", "normal quantiles", "residuals (W)")
    dots, line = axes.lines
    theory, ordered = list(dots.get_xdata()), list(dots.get_ydata())
    count = sum(row["trained"] for row in written["predictions"])
    ends = 0.5 ** (1 / count)
    places = [1 - ends, *((number - 0.3175) / (count + 0.365) for number in range(2, count)), ends]
    assert theory == pytest.approx([NormalDist().inv_cdf(place) for place in places], rel=1e-6, abs=1e-9)
    assert ordered == sorted(ordered)
    slope, start = linear_regression(theory, ordered)
    assert list(line.get_ydata()) == pytest.approx([slope * x + start for x in theory], rel=1e-6, abs=1e-9)


def test_parts_of_predictions_of_cos(draw: Draw) -> None:
    """A row for each configuration of the first code, as long as the prediction; the first part goes with the clock."""
    figure, written = draw("empirical cos report cos_example --train threads==2")
    axes = figure.axes[-1]
    assert axes.get_title("left") == "COS, stencil"
    assert legend(axes) == ["with the core clock (Tc + Toc)", "not (Tos + Ts)"]
    names = ticks(axes.yaxis)
    assert names[:2] == ["2 threads, 1.2 GHz", "2 threads, 1.6 GHz"]
    rows: dict[int, list[tuple[float, float]]] = {}
    for left, bottom, width, _ in bars(axes):
        rows.setdefault(round(-bottom - 0.4), []).append((left, width))
    lengths = [sum(width for _, width in rows[place]) for place in range(len(names))]
    predicted = [row["predicted"] for row in written["predictions"]]
    assert all(any(math.isclose(length, value, rel_tol=1e-6) for value in predicted) for length in lengths[1:4])
    firsts = [rows[place][0][1] for place in range(4)]
    assert firsts == pytest.approx([firsts[0] * 1.2 / clock for clock in (1.2, 1.6, 2, 2.4)])


def test_choices_in_time_and_energy(draw: Draw) -> None:
    figure, written = draw("advise decide comd --machine haswell --vary clock --levels 4")
    (axes,) = figure.axes
    assert labels(axes) == ("time and energy of the choices", "runtime", "energy")
    assert scales(axes) == ("log", "linear")
    ((times, joules),) = series(axes).values()
    assert times == sorted(times)
    assert joules == sorted(joules, reverse=True), "a front: what takes longer takes less"
    (mark,) = (line for line in axes.lines if line.get_label().startswith("_"))
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (times[0], joules[0])
    assert texts(axes) == ["chosen"]
    assert written


def test_limits_of_a_budget(draw: Draw) -> None:
    figure, _ = draw("advise decide comd --machine haswell --vary clock --levels 4 --budget energy=300J,time=20s")
    (axes,) = figure.axes
    upright, level = (
        [line for line in axes.lines if list(ends(line)) == [limit, limit]]
        for ends, limit in ((lambda line: line.get_xdata(), 20), (lambda line: line.get_ydata(), 300))
    )
    assert len(upright) == len(level) == 1


def test_times_over_ranks(draw: Draw) -> None:
    figure, written = draw("scale jacobi --machine haswell --ranks 1,2,4 --strong")
    above, below = figure.axes
    points = written["points"]
    assert scales(above) == ("log", "log")
    curves = series(above)
    ranks = [point["ranks"] for point in points]
    assert curves["time"] == (ranks, numbers(point["time"] for point in points))
    assert curves["with full efficiency"] == (ranks, numbers(points[0]["time"] / rank for rank in ranks))
    shares = series(below)
    assert shares["efficiency"] == (
        ranks,
        numbers(100 * points[0]["time"] / (point["time"] * point["ranks"]) for point in points),
    )
    assert shares["communication"] == (ranks, numbers(100 * point["communication"] / point["time"] for point in points))
    (mark,) = (line for line in above.lines if line.get_label().startswith("_"))
    fastest = min(points, key=lambda point: point["time"])
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (fastest["ranks"], fastest["time"])
    assert f"fastest, on {fastest['ranks']}" in texts(above)
    assert labels(below)[1:] == ("ranks", "%")
    assert below.get_ylim() == (0, pytest.approx(max(105, *(100 * point["efficiency"] for point in points))))


def test_a_difference_of_two_versions(draw: Draw) -> None:
    figure, written = draw("diff stream jacobi --machine haswell,simple")
    (axes,) = figure.axes
    both = [(item["before"]["value"], item["after"]["value"]) for item in written["changes"]]
    factors = [after / before for before, after in both if before and after]
    ordered = sorted(factors, key=lambda factor: abs(math.log(factor)))
    assert [left + width if left == 1 else left for left, _, width, _ in bars(axes)] == numbers(ordered)
    assert texts(axes) == [f"{factor:.3g}" for factor in ordered]
    gone, new = (sum(not pair[place] for pair in both) for place in (1, 0))
    assert axes.get_xlabel() == f"now / before (not drawn: {new} new, {gone} gone)"


def test_a_difference_of_two_machines(draw: Draw) -> None:
    figure, written = draw("diff xeon_gold_6148 xeon_platinum_8480plus")
    (axes,) = figure.axes
    changes = [item["change"] for item in written["properties"] if item["change"]]
    longest = max(changes, key=lambda change: abs(math.log1p(change)))
    left, _, width, _ = bars(axes)[-1]
    assert left + width == pytest.approx(1 + longest)
