"""Reports of one small case in every format, and its pictures, against numbers that are worked out by hand.

`axpy` passes ten times over 1000 elements: 2 flop, 16 B loaded and 8 B stored for each, and sends 1000 B once. Of
`Cluster` 8 cores take 2 ns a flop in dp (5 us in all), 2 memories 10 GB/s of loads (8 us) and stores (4 us), which
conflict; the message takes 2 us + 1 us. `axpy` takes 12 us, all 15 us; with memories twice as fast 6 us and 9 us.
The power is 10 W always and 120 W while a socket works; the network card draws 6 W for the microsecond of the volume.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aspenpy.shell.main import main
from tests.cli.conftest import AXPY, CLUSTER

Run = Callable[[str], str]

CASE = "axpy.aspen --machine cluster.aspen"
POWER = "static power [10 W]\n  dynamic power [120 W]"
CARD = "interconnect Fabric {\n  static power [5 W]\n  dynamic power [6 W]"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("axpy.aspen").write_text(AXPY, encoding="utf-8")
    Path("cluster.aspen").write_text(CLUSTER, encoding="utf-8")
    Path("faster.aspen").write_text(
        CLUSTER.replace("machine Cluster", "machine Faster").replace("10*giga", "20*giga"), encoding="utf-8"
    )
    powered = CLUSTER.replace("static power [10 W]", POWER).replace("interconnect Fabric {", CARD)
    Path("powered.aspen").write_text(powered, encoding="utf-8")

    def run(line: str) -> str:
        assert main(line.split()) == 0
        return capsys.readouterr().out

    return run


def words(text: str) -> list[str]:
    """Lines with single blanks between words, without empty lines and rules."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" ─")]


NEVER = "never compared with runs: memory of peak bandwidth (80.0 % of runtime), messages (20.0 % of runtime)"

TEXTS = {
    f"eval {CASE}": f"""\
        axpy on Cluster: main takes 15 us
        socket Processor
        placement all 2 nodes: the machine does not say what a rank occupies
        bound by memory bandwidth of Memory (80.0 % of runtime)
        expected no interval; {NEVER}
        kernel calls inclusive exclusive share bound by
        main 1 15 us 3 us 20.0 % messages on Fabric
        axpy 10 12 us 12 us 80.0 % loads + stores on Memory
        resource amount busy component
        flops 20 kflop 5 us Cluster/Node/Processor/Core
        loads 160 kB 8 us Cluster/Node/Processor/Memory
        stores 80 kB 4 us Cluster/Node/Processor/Memory
        messages 1 kB 3 us Cluster/Fabric
        parameters of axpy
        n 1000
        parameters of Cluster
        clock 1e9 Core.speed 1e9""",
    f"profile {CASE}": """\
        axpy on Cluster: main takes 15 us
        share cumulative exclusive inclusive calls exclusive/call inclusive/call bound by kernel
        80.0 % 80.0 % 12 us 12 us 10 1.2 us 1.2 us loads axpy
        20.0 % 100.0 % 3 us 15 us 1 3 us 15 us messages main""",
    "count axpy.aspen": """\
        axpy: what main asks for; 0.0833 flop/B
        resource amount
        flops 20 kflop
        loads 160 kB
        stores 80 kB
        messages 1 kB
        bytes 240 kB
        in their own blocks
        kernel calls flops loads stores messages bytes flop/B
        main 1 1 kB
        axpy 10 20 kflop 160 kB 80 kB 240 kB 0.0833""",
    f"memory {CASE}": """\
        axpy: main touches 8 kB
        memory Cluster/Node/Processor/Memory, 2 in all
        capacity not stated (property capacity)
        kernel inclusive exclusive own data
        main 8 kB 0 B
        axpy 8 kB 8 kB x
        "y = a*x + y" 8 kB 8 kB x
        data size loaded stored
        x 8 kB 160 kB 0 B""",
    "parallelism axpy.aspen": """\
        axpy: main has up to 1,000 instances at once
        call path instances maps together mean executions
        main
        ├── axpy
        │ └── "y = a*x + y" 1,000 1 1,000 10
        └── block 1 1 1 1""",
    "trace axpy.aspen": """\
        axpy: what main does
        step asks for
        main()
        iterate, 10 passes
        pass 1
        axpy()
        block "y = a*x + y" in 1,000 instances flops 2 kflop, loads 16 kB from x, stores 8 kB
        pass 2
        axpy()
        block "y = a*x + y" in 1,000 instances flops 2 kflop, loads 16 kB from x, stores 8 kB
        ... 8 more passes
        block messages 1 kB
        3 of 11 executions of blocks; --most shows more steps, --passes more passes of each loop.""",
    "show cluster.aspen": """\
        machine Cluster: two nodes of four cores.
        component type in all static offers
        Cluster machine 1
        ├── Node node 2
        │ └── Processor socket 2 10 W
        │ ├── Core core 8 flops
        │ └── Memory memory 2 loads, stores
        └── Fabric interconnect 1 messages
        peaks
        resource as of one of all latency component
        flops 1 Gflop/s 8 Gflop/s Core
        flops dp 500 Mflop/s 4 Gflop/s Core
        loads 10 GB/s 20 GB/s Memory
        stores 10 GB/s 20 GB/s Memory
        messages 1 GB/s 1 GB/s 2 us Fabric
        properties
        name value defined as
        Core.speed 1 GHz clock
        parameters
        name value range
        clock 1 GHz 1 GHz .. 2 GHz""",
    "show axpy.aspen": """\
        application axpy: y = a*x + y, ten times.
        kernel calls
        main 1
        └── axpy 10
        data size as
        x 8 kB Array(n, 8)
        parameters
        name value range
        n 1000 1 .. 1000000""",
    f"roofline {CASE}": """\
        roofline of Cluster, socket Processor
        ceilings (ridge: the flop/B from which on they hold)
        flops as of one of all ridge with Memory component
        plain 1 Gflop/s 8 Gflop/s 0.4 Core
        dp 500 Mflop/s 4 Gflop/s 0.2 Core
        bandwidths
        memory resource as of one of all
        Memory loads, stores 10 GB/s 20 GB/s
        below them
        kernel time flop/B attainable bound by predicted of the roof bottleneck
        axpy 15 us 0.0833 1.67 Gflop/s loads + stores 1.33 Gflop/s 80.0 % loads
        axpy 12 us 0.0833 1.67 Gflop/s loads + stores 1.67 Gflop/s 100.0 % loads""",
    f"sensitivity {CASE} --method normalised --vary n=1000..3000": """\
        runtime of axpy on Cluster: moves most with n
        parameter least most sensitivity normalised for each 100 %
        n 15 us 39 us 1.6 1 0.8""",
    f"sweep {CASE} --over n=1000,2000,4000": f"""\
        axpy on Cluster: runtime over n (3), 3 points
        metric least median largest
        runtime 15 us 27 us 51 us
        expected no interval for the least; {NEVER}
        at the n
        least runtime 1,000
        largest runtime 4,000""",
    f"compare {CASE} --machine faster.aspen --over n=1000..4000": """\
        axpy: main is fastest on Faster
        machine runtime times the fastest bound by
        Cluster 15 us 1.67 loads on Memory
        Faster 9 us 1 loads on Memory
        where which is the fastest, n = 1,000 .. 4,000, whole numbers
        n from to fastest
        1,000 4,000 Faster""",
    "energy axpy.aspen --machine powered.aspen": """\
        axpy on Cluster: main consumes 1.6 mJ in 15 us (106 W on average)
        socket Processor
        energy-delay product (EDP) 2.394e-08 J s
        energy-delay^2 product (ED2P) 3.591e-13 J s^2
        model AEEM (dissertation eq. 3.2-3.9). One socket is charged, and network cards by volume (eq. 3.8)
        metered sockets and memories alone, behind regulators and supplies; less than the Green500 asks for
        left out power of Fabric
        the hardware at its peak
        at most, as of a socket power for a joule component
        flops: plain 4 Gflop/s 130 W 30.8 Mflop/J Processor
        flops: dp 2 Gflop/s 130 W 15.4 Mflop/J Processor
        loads, stores: plain 10 GB/s 130 W 76.9 MB/J Processor
        kernel calls a call energy share time power Processor Fabric
        main 1 36 uJ 36 uJ 2.3 % 3 us 12 W 30 uJ 6 uJ
        axpy 10 156 uJ 1.56 mJ 97.7 % 12 us 130 W 1.56 mJ 0 J
        what consumes it
        component for rate times energy share equation from
        Processor idle 10 W 15 us 150 uJ 9.4 % 3.4 powered.aspen:16
        Processor active 120 W 12 us 1.44 mJ 90.2 % 3.5 powered.aspen:17
        Fabric messages 6 W 1 us 6 uJ 0.4 % 3.8 powered.aspen:33""",
}


@pytest.mark.parametrize("line", TEXTS, ids=lambda line: "-".join(line.split()[:2]))
def test_text(line: str, run: Run) -> None:
    assert words(run(line)) == words(TEXTS[line])


def rounded(value: Any) -> Any:
    """Floats with ten digits, in whatever holds them."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def table(run: Run, line: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(run(f"{line} --format csv"))))


def test_profile_for_programs(run: Run) -> None:
    found = table(run, f"profile {CASE}")
    numbers = {
        row["kernel"]: [float(row[name]) for name in ("calls", "inclusive", "exclusive", "share")] for row in found
    }
    assert rounded(numbers) == {"main": [1, 15e-6, 3e-6, 0.2], "axpy": [10, 12e-6, 12e-6, 0.8]}
    assert {row["inclusive_unit"] for row in found} == {row["exclusive_unit"] for row in found} == {"s"}
    assert [row["bound_by"] for row in found] == ["messages", "loads"]


def test_metrics_for_programs(run: Run) -> None:
    """Power is energy over runtime, EDP energy times runtime."""
    line = "eval axpy.aspen --machine powered.aspen --metric runtime,energy,power,edp,ed2p,flops,bytes"
    found = {row["metric"]: (float(row["value"]), row["unit"]) for row in table(run, line)}
    expected = {
        "runtime": (15e-6, "s"), "energy": (1.596e-3, "J"), "power": (106.4, "W"), "edp": (2.394e-8, "J*s"),
        "ed2p": (3.591e-13, "J*s^2"), "flops": (20_000, "flop"), "bytes": (240_000, "B"),
    }  # fmt: skip
    assert list(found) == list(expected)
    for metric, (value, unit) in expected.items():
        assert found[metric] == (pytest.approx(value), unit)


@pytest.mark.parametrize(
    ("line", "key", "columns", "rows"),
    [
        (f"compare {CASE} --machine faster.aspen", "machines", ("machine", "runtime"),
         [["Cluster", {"value": 15e-6, "unit": "s"}], ["Faster", {"value": 9e-6, "unit": "s"}]]),
        (f"sensitivity {CASE} --method normalised --vary n=1000..3000", "effects",
         ("least", "most", "sensitivity", "normalised"), [[15e-6, 39e-6, 1.6, 1.0]]),
        (f"roofline {CASE}", "points", ("time", "intensity", "attainable", "predicted"),
         [[15e-6, 1 / 12, 20e9 / 12, 4e9 / 3], [12e-6, 1 / 12, 20e9 / 12, 20e9 / 12]]),
    ],
    ids=["compare", "sensitivity", "roofline"],
)  # fmt: skip
def test_rows_for_programs(run: Run, line: str, key: str, columns: tuple[str, ...], rows: list[list[Any]]) -> None:
    found = json.loads(run(f"{line} --format json"))
    assert [[rounded(row[name]) for name in columns] for row in found[key]] == rounded(rows), found.keys()


# -- pictures ----------------------------------------------------------------------------------------


@pytest.fixture
def figure(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """What a command draws."""
    figures = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib: pip install 'aspenpy[plot]'")
    drawn: list[Any] = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))

    def draw(line: str) -> Any:
        run(f"{line} --picture picture.svg")
        return drawn.pop()

    return draw


def labels(axes: Any) -> tuple[str, str, str]:
    return axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()


def points(line: Any) -> list[tuple[float, float]]:
    return [(float(x), float(f"{y:.10g}")) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def test_picture_of_a_sweep(figure: Callable[[str], Any]) -> None:
    (axes,) = figure(f"sweep {CASE} --over n=1000,2000,4000").axes
    assert labels(axes) == ("runtime: axpy on Cluster", "n", "runtime")
    assert axes.get_xscale() == "log", "in equal ratios"
    assert points(axes.lines[0]) == [(1000, 15e-6), (2000, 27e-6), (4000, 51e-6)]
    assert axes.get_ylim()[0] < 15e-6 < 51e-6 < axes.get_ylim()[1]


def test_picture_of_a_map(figure: Callable[[str], Any]) -> None:
    axes, scale = figure(f"sweep {CASE} --over n=1000,2000,4000 --over clock=1e9,2e9").axes
    assert labels(axes) == ("runtime: axpy on Cluster", "clock", "n")
    assert (axes.get_xscale(), axes.get_yscale(), scale.get_ylabel()) == ("linear", "log", "runtime")
    assert scale.get_ylim() == pytest.approx((15e-6, 51e-6))
    (mesh,) = axes.collections
    assert list(mesh.get_array().ravel()) == pytest.approx([15e-6, 15e-6, 27e-6, 27e-6, 51e-6, 51e-6])


def test_picture_of_a_comparison(figure: Callable[[str], Any]) -> None:
    """12 us and 6 us for each thousand, and 3 us."""
    (axes,) = figure(f"compare {CASE} --machine faster.aspen --over n=1000..4000").axes
    assert labels(axes) == ("axpy: main", "n", "runtime")
    curves = {line.get_label(): points(line) for line in axes.lines}
    assert {text.get_text() for text in axes.texts} == {"Cluster", "Faster"}
    for name, slope in (("Cluster", 12e-9), ("Faster", 6e-9)):
        assert (curves[name][0][0], curves[name][-1][0]) == (1000, 4000)
        assert all(y == pytest.approx(3e-6 + slope * 2 * -(-x // 2), rel=1e-3) for x, y in curves[name])


def test_picture_of_sensitivities(figure: Callable[[str], Any]) -> None:
    """A bar from 15 us to 39 us, and a line at 15 us."""
    (axes,) = figure(f"sensitivity {CASE} --method normalised --vary n=1000..3000").axes
    assert labels(axes)[0] == "runtime of axpy on Cluster: 15 us where nothing varies"
    ends = sorted(x for bar in axes.patches for x in (bar.get_x(), bar.get_x() + bar.get_width()))
    assert (ends[0], ends[-1]) == pytest.approx((15e-6, 39e-6))
    assert [x for x, _ in points(axes.lines[0])] == pytest.approx([15e-6, 15e-6])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["n"]


def test_picture_of_a_roofline(figure: Callable[[str], Any]) -> None:
    """The slope is 20 GB/s up to the ridge at 0.4 flop/B, the ceilings are 4 and 8 Gflop/s."""
    (axes,) = figure(f"roofline {CASE}").axes
    assert labels(axes)[:2] == ("roofline of Cluster, socket Processor", "operational intensity (flop/B)")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    slope, low, high = (points(line) for line in axes.lines[:3])
    assert all(y == pytest.approx(20e9 * x) for x, y in slope)
    assert slope[-1] == (0.4, 8e9)
    assert (low[0], low[1][1], high[0], high[1][1]) == ((0.2, 4e9), 4e9, (0.4, 8e9), 8e9)
    assert [text.get_text() for text in axes.texts] == [
        "dp: 4 Gflop/s",
        "plain: 8 Gflop/s",
        "Memory: 20 GB/s",
        "1",
        "2",
    ]
    marks = [points(line)[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert {x for x, _ in marks} == {1 / 12}
    assert {y for _, y in marks} == {float(f"{20e9 / 12:.10g}"), float(f"{4e9 / 3:.10g}")}


def test_marks_of_a_roofline(figure: Callable[[str], Any]) -> None:
    """An application is a diamond, its kernels are circles, in the picture and in the legend; what is filled is
    predicted, below the open mark of its roof."""
    drawn = figure(f"roofline {CASE}")
    (axes,), (legend,) = drawn.axes, drawn.legends
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    filled = {line.get_marker(): points(line)[0] for line in marks if line.get_fillstyle() != "none"}
    roofs = {line.get_marker(): points(line)[0] for line in marks if line.get_fillstyle() == "none"}
    assert filled == {"D": (1 / 12, float(f"{4e9 / 3:.10g}")), "o": (1 / 12, float(f"{20e9 / 12:.10g}"))}
    assert all(filled[mark][1] <= y for mark, (_, y) in roofs.items())
    entries = [
        (handle.get_marker(), text.get_text())
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
    ]
    assert [mark for mark, _ in entries] == ["D", "o", "o"]
    assert [text for _, text in entries[:2]] == ["1  axpy", "2  axpy"]
    assert entries[2][1].startswith("filled: predicted, open: roof")
    assert legend.get_title().get_text().splitlines()[0] == "roof of what runs:"


def test_picture_of_a_profile(figure: Callable[[str], Any]) -> None:
    (axes,) = figure(f"profile {CASE}").axes
    assert [text.get_text() for text in axes.texts] == [
        "axpy on Cluster: 15 us",
        "share of the runtime with callees; own: without, the darker the more; on arrows: calls",
        "10×",
        "main\n100.0 %, own 20.0 %",
        "axpy\n80.0 %, own 80.0 %",
    ]
    main_box, axpy_box = (box for box in axes.patches if hasattr(box, "get_width"))
    assert main_box.get_x() + main_box.get_width() < axpy_box.get_x()
    assert main_box.get_facecolor()[:3] > axpy_box.get_facecolor()[:3], "the darker the more of its own"
