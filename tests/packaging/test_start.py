"""What people run in loops starts quickly: it imports nothing heavy."""

import subprocess
import sys

import pytest

PREDICTING = [
    "pathlib",  # with `urllib.parse` 3 ms, which what writes files can afford
    "urllib.parse",
    "textwrap",
    "aspenpy.cost.network",  # of ranks whose places are known
    "aspenpy.language.infer",  # of texts that were not checked before
    "aspenpy.models.machine.properties",
    "aspenpy.models.networks",
    "aspenpy.models.units",
]
"""Modules that a prediction of a machine whose ranks have no places does without."""

HEAVY = ["aspenpy.editor", "lark", "lsprotocol", "networkx", "numpy", "pygls", "rich", "sympy"]
PROGRAM = """
import sys
from aspenpy.shell.main import main
status = main(sys.argv[1:])
print(*sorted(set(sys.modules) & set({heavy})), file=sys.stderr)
raise SystemExit(status)
"""


def heavy_modules(*arguments: str, heavy: list[str] = HEAVY) -> str:
    command = [sys.executable, "-c", PROGRAM.format(heavy=heavy), *arguments]
    subprocess.run(command, check=True, capture_output=True)  # the first run may fill the cache of the grammar
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr.strip()


@pytest.mark.parametrize(
    "line",
    ["eval comd --machine haswell", "expr comd --machine haswell --free nx", "check comd", "list apps", "show simple"],
)
def test_command(line: str) -> None:
    assert heavy_modules(*line.split()) == ""


def test_a_prediction_does_without_what_few_ask_for() -> None:
    assert heavy_modules("eval", "comd", "--machine", "haswell", heavy=PREDICTING) == ""


def test_what_needs_sympy_is_seen_to_import_it() -> None:
    assert "sympy" in heavy_modules("expr", "stream", "--machine", "simple", "--free", "n", "--sympy").split()
