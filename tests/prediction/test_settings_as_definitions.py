"""A value that is set answers as the same value does where it stands in the model, whatever is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aspenpy.shell.main import main
from tests.cli.conftest import AXPY, CLUSTER

POWERED = (
    CLUSTER.replace("10*giga", "40*giga")
    .replace("static power [10 W]", "static power [10 W]\n  dynamic power [120 W]")
    .replace("interconnect Fabric {", "interconnect Fabric {\n  static power [5 W]\n  dynamic power [6 W]")
)

BOTH = ["n=3000", "clock=2e9"]
MACHINE, APPLICATION = BOTH[1:], BOTH[:1]
ON = "axpy.aspen --machine cluster.aspen"
LINES = {
    f"eval {ON}": BOTH,
    f"eval {ON} --kernel axpy": BOTH,
    f"energy {ON}": BOTH,
    f"explain {ON}": BOTH,
    "explain axpy.aspen axpy --machine cluster.aspen": BOTH,
    f"profile {ON}": BOTH,
    f"roofline {ON}": BOTH,
    f"memory {ON}": BOTH,
    f"place {ON}": BOTH,
    f"trace {ON}": BOTH,
    f"advise classify {ON}": BOTH,
    "count axpy.aspen": APPLICATION,
    "parallelism axpy.aspen": APPLICATION,
    "trace axpy.aspen": APPLICATION,
    f"sweep {ON} --over n=1000,2000": MACHINE,
    f"sweep {ON} --over clock=1e9,2e9": APPLICATION,
    f"sensitivity {ON} --method normalised --vary n=1000..3000": MACHINE,
    f"sensitivity {ON} --method normalised --vary clock=1e9..2e9": APPLICATION,
    f"optimise {ON} --minimise runtime --vary n=1000..100000": MACHINE,
    f"optimise {ON} --minimise energy --vary clock=1e9..2e9": APPLICATION,
}


LEFT_OUT = {"file", "overridden", "settings", "set", "model_hash"}


def numbers(found: Any) -> Any:
    """The object without the names of files, and the count of parameters that were set."""
    if isinstance(found, dict):
        return {key: numbers(value) for key, value in found.items() if key not in LEFT_OUT}
    if isinstance(found, list):
        return [numbers(value) for value in found]
    return pytest.approx(found, rel=1e-12) if isinstance(found, float) else found


@pytest.mark.parametrize("line", LINES)
def test_set_as_defined(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = LINES[line]
    folders = tmp_path / "set", tmp_path / "defined"
    for folder, definitions in zip(folders, ([], settings), strict=True):
        folder.mkdir()
        application, machine = AXPY, POWERED
        if "n=3000" in definitions:
            application = application.replace("param n = 1000", "param n = 3000")
        if "clock=2e9" in definitions:
            machine = machine.replace("param clock = 1 GHz", "param clock = 2e9")
        (folder / "axpy.aspen").write_text(application, encoding="utf-8")
        (folder / "cluster.aspen").write_text(machine, encoding="utf-8")
    found = []
    for folder, words in zip(folders, ([word for item in settings for word in ("--set", item)], []), strict=True):
        monkeypatch.chdir(folder)
        assert main([*line.split(), *words, "--format", "json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert numbers(found[0]) == numbers(found[1])
    monkeypatch.chdir(folders[0])
    assert main([*line.split(), "--format", "json"]) == 0
    assert numbers(found[0]) != numbers(json.loads(capsys.readouterr().out)), "the setting does something"
