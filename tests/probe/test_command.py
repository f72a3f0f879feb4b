"""`aspenpy machine probe`: files that it writes and leaves alone, and what it says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe import benchmark
from aspenpy.probe.quantity import combine_passes
from aspenpy.probe.topology import read_topology
from aspenpy.shell.main import main
from tests.thorough import slow

LSCPU = str(Path(__file__).parent / "files" / "lscpu.json")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def probe(*words: str) -> int:
    return main(["machine", "probe", "site", "--from", LSCPU, *words])


def test_a_second_probe_says_what_has_changed_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe() == 0
    changed = (
        Path("site.aspen").read_text(encoding="utf-8").replace("property outstanding [12]", "property outstanding [6]")
    )
    Path("site.aspen").write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert probe("--format", "json") == 0
    text = capsys.readouterr().out
    first, _, rest = text.partition("\n")
    assert first == "site.aspen is there already and stays as it is; --replace writes it anew"
    rows = {row["property"]: row for row in json.loads(rest)["properties"]}
    assert (rows["outstanding"]["before"], rows["outstanding"]["now"]) == (6, 12)
    assert rows["outstanding"]["change"] == 1
    assert rows["clock"]["change"] == 0
    assert Path("site.aspen").read_text(encoding="utf-8") == changed
    assert probe("--replace") == 0
    assert "property outstanding [12]" in Path("site.aspen").read_text(encoding="utf-8")


def test_it_is_shown_beside_another_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """The second level of a Gold 6148 has 1 MiB, and that of the file 1.25."""
    assert probe("--compare", "xeon_gold_6148") == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("cache 2  capacity"))
    assert row.split()[3:] == ["1.05", "MB", "1.31", "MB", "+25", "%"]
    assert next(line for line in lines if " year " in line).split()[2:4] == ["2017", "2017"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["machine", "probe", "a", "b"], "`aspenpy machine probe` takes one name"),
        (["machine", "probe", "2a"], "`2a` is no name for a machine"),
        (["machine", "probe", "kernel"], "`kernel` is no name for a machine: it is a word of the language"),
        (["machine", "probe", "a", "--strict"], "--strict belongs to `aspenpy machine check`"),
        (["machine", "new", "a", "--compare"], "--compare belongs to `aspenpy machine probe`"),
        (["machine", "check", "haswell", "--from", "x"], "belong to `aspenpy machine probe`"),
        (["machine", "probe", "a", "--from", LSCPU, "--compare"], "the library has no `Made-up(R) 8x2 CPU @ 2.00GHz`"),
        (["machine", "probe", "a", "--from", "none.json"], "file not found: `none.json`"),
        (
            ["validate", "x.c", "--run", "true {n}", "--over", "n=1", "--most-runs", "2"],
            "--most-runs 2 is fewer than --least-runs 5",
        ),
    ],
)
def test_what_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert not list(Path().iterdir())


needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="a C compiler is needed")


@slow
@needs_compiler
@pytest.mark.skipif(not Path("/sys/devices/system/cpu/cpu0/topology").exists(), reason="the topology is that of Linux")
def test_this_host(capsys: pytest.CaptureFixture[str]) -> None:
    """A short pass of each kind: every number is above 0, and the machine passes what `check` looks for in errors."""
    host = read_topology()
    with benchmark.compile_program(find_compiler() or "") as target:
        found = combine_passes([benchmark.run_pass(target, part, host, 3e-4) for part in ("core", "memory")])
    assert all(item.value > 0 for item in found.values())
    assert found["divide_dp_latency"].value > found["integer_latency"].value
    assert main(["machine", "probe", "mine"]) == 0
    assert main(["machine", "check", "mine.aspen"]) == 0
    assert "error" not in capsys.readouterr().err


@slow
def test_without_a_compiler_numpy_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["machine", "probe", "mine"]) == 0
    text = Path("mine.aspen").read_text(encoding="utf-8")
    assert "There is no C compiler: NumPy measured what it can" in text
    assert "by NumPy, a sum of all words: measured" in text
