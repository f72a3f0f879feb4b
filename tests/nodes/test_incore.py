"""Compiled loops read by OSACA, against the tables of instructions that makers publish; and its answers, read alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.answers.incore import incore, read_osaca
from aspenpy.shell.main import main

DOT = Path(__file__).parent / "incore" / "dot.s"
OSACA = shutil.which("osaca", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
with_osaca = pytest.mark.skipif(OSACA is None, reason="needs OSACA, of the extra `incore`")

ANSWER = """
Header: {{Architecture: skx, FileName: k.s, Timestamp: '2026-01-01 00:00:00',
    Version: 0.7.1}}
Kernel:
- Comment: null
  Instruction: vfmadd231pd
  Line: vfmadd231pd (%rdi,%rax), %ymm1, %ymm0
  LineNumber: 3
- Comment: null
  Instruction: vaddps
  Line: vaddps %zmm1, %zmm2, %zmm2
  LineNumber: 4
- Comment: null
  Instruction: vsqrtss
  Line: vsqrtss %xmm1, %xmm1, %xmm1
  LineNumber: 5
- Comment: null
  Instruction: addq
  Line: addq $32, %rax
  LineNumber: 6
Summary:
  CriticalPath: 21.0
  LCD: 4.0
  PortPressure: {{'0': 2.5, 0DV: 3.0, '1': 2.0,
      '2': 0.5}}
Target:
  Name: SKX
Warnings: [{warnings}]
"""


def test_the_answer_is_read() -> None:
    found = read_osaca(ANSWER.format(warnings="LengthWarning"), "kernel", "SKX")
    assert (found.version, found.critical_path, found.loop_carried, found.ports, found.cycles) == ("0.7.1", 21, 4, 3, 4)
    assert dict(found.pressure) == {"0": 2.5, "0DV": 3.0, "1": 2.0, "2": 0.5}
    # 32 bytes are 4 doubles, of 2 flops each; 64 bytes are 16 floats
    operations = {item.name: (item.precision, item.simd, item.amount) for item in found.operations}
    assert operations == {"fma": ("dp", True, 8), "add": ("sp", True, 16), "square_root": ("sp", False, 1)}
    assert "marks no loop" in found.diagnostics[0].message


@pytest.mark.parametrize(
    ("ports", "carried", "cycles", "bound"),
    [(3.0, 2.5, 3, "its ports"), (3.0, 3.0, 3, "its ports"), (3.0, 3.5, 3.5, "the dependence")],
)
def test_a_loop_is_bound_by_what_takes_longer(ports: float, carried: float, cycles: float, bound: str) -> None:
    """The report has the ports that have something to do; a port without work is in the data alone."""
    read = read_osaca(ANSWER.format(warnings=""), "kernel", "SKX")
    found = read.replace(loop_carried=carried, pressure=(("0", 2.5), ("1", ports), ("2", 0.0)))
    text = re.sub(" {2,}", "  ", str(found))
    assert f"an iteration takes  {cycles:g} cycles, bound by {bound}" in text
    assert f"ports  {ports:g} cycles of the busiest" in text
    assert f"loop-carried dependence  {carried:g} cycles" in text
    assert "critical path  21 cycles" in text
    table = [line.split() for line in str(found).splitlines() if re.fullmatch(r" *[012] +[0-9.]+ *", line)]
    assert [(port, float(amount)) for port, amount in table] == [("0", 2.5), ("1", ports)]
    data = found.report().data
    assert (data["ports"], data["loop_carried"], data["cycles"]) == (ports, carried, cycles)
    assert data["pressure"] == {"0": 2.5, "1": ports, "2": 0.0}


def test_the_application_takes_the_cycles() -> None:
    found = read_osaca(ANSWER.format(warnings=""), "size", "SKX")  # `size` is a keyword
    app = aspenpy.parse(found.to_aspen())
    assert isinstance(app, aspenpy.Application)
    assert app.to_aspen().split() == [
        word for line in found.to_aspen().splitlines() for word in line.split("//")[0].split()
    ]
    machine = aspenpy.load_machine("xeon_gold_6148")
    # 10,000 roots of 3 cycles each in the divider, 8 flops of 32 and 16 of 32 a cycle: the chain is the longest
    found_time = float(aspenpy.predict(app, machine, set={"n": 1e4}).runtime)
    assert found_time == pytest.approx(4e4 / 2.4e9, rel=1e-9)


def test_an_answer_without_a_summary_is_refused() -> None:
    with pytest.raises(aspenpy.AspenError, match="no summary"):
        read_osaca("Header: {}", "kernel", "SKX")


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    assert main(["incore", str(DOT), "--arch", "pentium"]) == 2
    assert "OSACA knows SNB" in capsys.readouterr().err
    assert main(["incore", str(tmp_path / "none.s"), "--arch", "skx"]) == 2
    assert "file not found" in capsys.readouterr().err
    assert main(["incore", str(DOT), "--arch", "skx", "--lines", "4;rm"]) == 2
    assert "expected lines such as 12-20" in capsys.readouterr().err
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert main(["incore", str(DOT), "--arch", "skx"]) == 2
    said = capsys.readouterr().err
    assert "pip install 'aspenpy[incore]'" in said
    assert "AGPL-3.0" in said


def test_a_program_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "osaca"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such marker')\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: str(program))
    with pytest.raises(aspenpy.AspenError, match="no such marker"):
        incore(DOT, "skx")


@with_osaca
@pytest.mark.parametrize(("architecture", "addition"), [("skx", 4), ("hsw", 3), ("zen2", 3)])
def test_an_ordered_sum_waits_for_its_additions(architecture: str, addition: int) -> None:
    found = incore(DOT, architecture)
    assert found.loop_carried == addition
    assert found.cycles == addition
    assert found.ports <= 1.1  # two loads on two ports; OSACA balances the others approximately
    assert {item.name: item.amount for item in found.operations} == {"multiply": 1, "add": 1}


@with_osaca
def test_the_command_writes_a_model(tmp_path: Path, capsys: Any) -> None:
    assert main(["incore", str(DOT), "--arch", "skx", "-o", str(tmp_path / "dot.aspen")]) == 0
    printed = capsys.readouterr().out
    assert "4 cycles" in printed
    assert "the dependence" in printed
    assert main(["eval", str(tmp_path / "dot.aspen"), "--machine", "xeon_gold_6148", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runtime"]["value"] == pytest.approx(4e6 / 2.4e9, rel=1e-9)
    assert main(["incore", str(DOT), "--arch", "skx", "--lines", "3-8", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["loop_carried"] == 4


def test_osaca_is_imported_nowhere() -> None:
    code = "import sys, aspenpy.answers.incore, aspenpy.shell.commands.caches; print('osaca' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
