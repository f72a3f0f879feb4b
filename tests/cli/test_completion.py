"""What shells offer, asked for as they ask: the line in the environment, the candidates in a file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aspenpy.models.library import library_names

pytest.importorskip("argcomplete")

PARAMETERS_OF_COMD = {"nx=", "ny=", "nz=", "neighbours="}


def offered(line: str, folder: Path) -> set[str]:
    candidates = folder / "candidates"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(candidates)}
    environment = os.environ | asked | {"COMP_LINE": line, "COMP_POINT": str(len(line))}
    subprocess.run([sys.executable, "-m", "aspenpy"], env=environment, cwd=folder, check=True)
    return {word.rstrip() for word in candidates.read_text(encoding="utf-8").split("\n")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aspenpy ev", {"eval"}),
        ("aspenpy eval co", {name for name in library_names("apps") if name.startswith("co")}),
        ("aspenpy eval comd --par ", {"add", "overlap"}),
        ("aspenpy eval mine", {"mine.aspen"}),
        ("aspenpy compare comd --machine haswell,hasw", {"haswell,haswell"}),
        ("aspenpy eval comd --machine haswell --set n", PARAMETERS_OF_COMD),
        ("aspenpy optimize co", {name for name in library_names("apps") if name.startswith("co")}),
        ("aspenpy sweep comd --machine haswell,simple --over haswell_cl", {"haswell_clock="}),
        ("aspenpy show hasw", {"haswell"}),
        ("aspenpy eval comd --metric ru", {"runtime"}),
        ("aspenpy advise cla", {"classify"}),
        ("aspenpy eval no_such_model --set n", {""}),
    ],
)
def test_offered(line: str, expected: set[str], tmp_path: Path) -> None:
    (tmp_path / "mine.aspen").write_text("model mine {}", encoding="utf-8")
    assert offered(line, tmp_path) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_lines_for_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    from aspenpy.shell.main import main

    assert main(["completion", shell]) == 0
    assert "_ARGCOMPLETE" in capsys.readouterr().out
