"""Pictures of what runs where have a bar for each kernel and block, as long as the numbers of the report say."""

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
