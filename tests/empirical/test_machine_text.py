"""Fitted parameters of a machine, written into its text."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy
from aspenpy.learn.fitting.rewriting import rewrite_machine

BOX = """\
param joules = 2 nJ in 1 nJ .. 9 nJ  // a flop
socket chip {
  core [2] arm
  static power [watts]
  dynamic power [0 W]
}
core arm { resource flops(x) [x/1e9] }
"""
TOP = """\
param watts = 5 W in 1 W .. 20 W
include "box.aspen"  // parts
machine m { socket chip }
"""


def test_values_stand_where_they_were(tmp_path: Path) -> None:
    (tmp_path / "box.aspen").write_text(BOX, encoding="utf-8")
    (tmp_path / "m.aspen").write_text(TOP, encoding="utf-8")
    machine = aspenpy.load_machine(tmp_path / "m.aspen")
    out = str(tmp_path / "out.aspen")
    assert rewrite_machine(machine, {"watts": 7.5}, out) == TOP.replace("5 W in", "7.5 W in")
    both = rewrite_machine(machine, {"watts": 7.5, "joules": 3e-9}, out)
    assert both == TOP.replace("5 W in", "7.5 W in").replace(
        'include "box.aspen"  // parts', BOX.replace("2 nJ in", "3 nJ in").rstrip("\n")
    )
    with pytest.raises(aspenpy.AspenError, match="is not a parameter of machine"):
        rewrite_machine(machine, {"volts": 1}, out)


def test_a_fit_writes_the_machine(tmp_path: Path) -> None:
    """Watts at a clock are those that the written machine draws: 188 W at 1.2 GHz."""
    rows = [{"platinum_8360y_clock [GHz]": 1.2, "power [W]": 188}, {"platinum_8360y_clock [GHz]": 2, "power [W]": 224}]
    app, machine = aspenpy.load_application("stream"), aspenpy.load_machine("xeon_platinum_8360y")
    fitted = aspenpy.fit(
        app, rows, machine, metric="power", vary=["platinum_8360y_idle", "platinum_8360y_core_switched"]
    )
    (tmp_path / "mine.aspen").write_text(fitted.to_aspen(tmp_path / "mine.aspen"), encoding="utf-8")
    mine = aspenpy.load_machine(tmp_path / "mine.aspen")
    assert not mine.warnings
    energy = aspenpy.energy(app, mine, set={"platinum_8360y_clock": 1.2e9})
    assert energy.power == pytest.approx(188, rel=1e-3)
