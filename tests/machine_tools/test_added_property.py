"""A property of machines is one row of one table: with `wake_latency` added to a copy of the package, and no other file
touched, the checks, the completion and the documentation's table know it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

ROW = '    _Row("wake_latency", "socket", "s", "time to leave a sleep state", "0", "1e-2", LATENCY),\n'

PROGRAM = """
import sys

import aspenpy
from aspenpy.answers.checks.plausibility import check_plausibility
from aspenpy.editor.completion import suggestions
from aspenpy.editor.meaning import NOTHING
from aspenpy.editor.project import Project
from aspenpy.models.machine.properties import properties_table

assert aspenpy.__file__.startswith(sys.argv[1]), aspenpy.__file__
TEXT = "machine m { socket [1] cpu }\\nsocket cpu { property wake_latency [2 s] resource flops(n) [n] }"
(warned,) = check_plausibility(aspenpy.parse(TEXT))
assert "wake_latency of socket `cpu` is 2 s" in warned.message, warned.message
try:
    aspenpy.parse(TEXT.replace("2 s", "2 GB"))
except aspenpy.AspenError as error:
    assert "the property `wake_latency` must be seconds" in str(error), error
else:
    raise AssertionError("a latency in bytes is accepted")
assert "| `wake_latency` | `socket` | s | time to leave a sleep state | 0 s to 10 ms |" in properties_table()
path = sys.argv[1] + "/m.aspen"
offered = suggestions(Project({path: TEXT}), path, TEXT.index("wake_latency"), NOTHING)
assert {item.label: item.detail for item in offered}["wake_latency"] == "socket: time to leave a sleep state (s)"
"""


def test_one_row_adds_a_property(tmp_path: Path) -> None:
    for folder in ("aspenpy", "grammar", "models"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "aspenpy" / "models" / "machine" / "properties.py"
    before, start, after = table.read_text(encoding="utf-8").partition("_SOCKET = (\n")
    table.write_text(before + start + ROW + after, encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    found = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
