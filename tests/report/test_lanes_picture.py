"""Pictures of what runs where have a bar for each kernel and block, as long as the numbers of the report say."""

from types import SimpleNamespace
from typing import Any

import pytest

import aspenpy

pytest.importorskip("matplotlib", reason="pictures are drawn by matplotlib: pip install 'aspenpy[plot]'")

from aspenpy.report.lanes_picture import draw_parallelism, draw_placement


def test_kernels_follow_each_other_with_what_is_moved_before_them() -> None:
    application, machine = aspenpy.load_application("hpcg"), aspenpy.load_machine("keeneland")
    placement = aspenpy.place(application, machine, sockets={"multiply": "nvidia_m2090"})
    (axes,) = draw_placement(placement).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [item.name for item in placement.kernels if item.time + item.transfer > 0]
    bars = [patch for patch in axes.patches if patch.get_width() > 0]
    assert sum(bar.get_width() for bar in bars) == pytest.approx(placement.runtime)
    assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(placement.runtime)
    of_multiply = [bar for bar in bars if round(bar.get_y() + bar.get_height() / 2) == names.index("multiply")]
    (kernel,) = [item for item in placement.kernels if item.name == "multiply"]
    assert [bar.get_width() for bar in of_multiply] == pytest.approx([kernel.transfer, kernel.time])


def test_blocks_have_bars_up_to_what_runs_at_once() -> None:
    """CoMD: 8 ranks of 4,000 atoms; halos are exchanged by ranks."""
    (axes,) = draw_parallelism(aspenpy.parallelism(aspenpy.load_application("comd"))).axes
    ends = {round(bar.get_x() + bar.get_width()) for bar in axes.patches}
    assert ends == {8, 32_000}
    assert len(axes.patches) == len(axes.get_yticks())


def placed(*kernels: tuple[str, str, float, float], hidden: float = 0.0) -> Any:
    return SimpleNamespace(
        kernels=[
            SimpleNamespace(name=name, socket=socket, transfer=transfer, time=time)
            for name, socket, transfer, time in kernels
        ],
        machine=SimpleNamespace(name="box", sockets=["cpu", "gpu"]),
        application=SimpleNamespace(name="app"),
        runtime=6.0,
        hidden=hidden,
    )


def test_lanes_by_hand() -> None:
    """1 s on the host; 2 s of data for 3 s on the device; what takes no time has no bar."""
    figure = draw_placement(placed(("a", "cpu", 0, 1), ("none", "cpu", 0, 0), ("b", "gpu", 2, 3), hidden=0.5))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    bars = [bar for bar in axes.patches if bar.get_width()]
    assert [(bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in bars] == [
        (pytest.approx(0), 0, 1),
        (pytest.approx(1), 1, 2),
        (pytest.approx(1), 3, 3),
    ]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("1 s", (1, 0)), ("3 s", (6, 1))]
    assert axes.get_xlim() == pytest.approx((0, 1.12 * 6))
    assert axes.get_ylim() == pytest.approx((2.6, -0.6))
    assert axes.get_title(loc="left") == "app on box: 6 s, 500 ms of it at once"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["cpu", "gpu", "data moved for it"]
    colours = [bar.get_facecolor() for bar in bars]
    assert len(set(colours)) == 3
    assert [handle.get_facecolor() for handle in legend.get_patches()] == [colours[0], colours[2], colours[1]]


def test_lanes_of_nothing() -> None:
    figure = draw_placement(placed(*((f"k{number}", "cpu", 0, 1) for number in range(4))))
    assert figure.axes[0].get_ylim() == pytest.approx((3.6, -0.6))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["cpu", "gpu"]
    assert figure.axes[0].get_title(loc="left") == "app on box: 6 s"
    assert draw_placement(placed()).axes[0].get_xlim() == (0, 1)


@pytest.mark.parametrize(("count", "left_out"), [(1, 2), (40, 2), (41, 3)])
def test_the_blocks_that_are_drawn(count: int, left_out: int) -> None:
    """Forty at most, and none that is unknown or never a whole one."""
    sizes = [*(float(number + 1) for number in range(count)), None, 0.5]
    blocks = [SimpleNamespace(together=size, region=("main", f"b{place}")) for place, size in enumerate(sizes)]
    blocks[0].region = ("main",)
    many: Any = SimpleNamespace(blocks=blocks, application=SimpleNamespace(name="app"), kernel="main")
    (axes,) = draw_parallelism(many).axes
    drawn = min(count, 40)
    assert [bar.get_x() + bar.get_width() for bar in axes.patches] == pytest.approx([1.0 + n for n in range(drawn)])
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([0.8] * drawn)
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["main", "b1"][:drawn]
    assert [text.get_text() for text in axes.texts] == [str(number + 1) for number in range(drawn)]
    assert axes.get_xlim() == pytest.approx((0.8, 4 * drawn))
    assert axes.get_ylim() == pytest.approx((max(3, drawn) - 0.4, -0.6))
    assert axes.get_xlabel() == f"instances at once ({left_out} blocks are not drawn)"
    assert axes.get_title(loc="left") == "app: what main can run at once"
