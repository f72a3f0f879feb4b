"""A trait that the machine does not know: every command that has a model and a machine says so, in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.shell.main import main

MODEL = """model odd {
  param c = 1 in 0.1 .. 100
  param ranks = 1
  kernel main { execute [ranks] { flops [1000*c] as wide } }
}
"""

ON_SIMPLE = "odd.aspen --machine simple"


@pytest.mark.parametrize(
    "line",
    [
        f"check {ON_SIMPLE}",
        f"eval {ON_SIMPLE}",
        f"explain {ON_SIMPLE}",
        f"profile {ON_SIMPLE}",
        f"expr {ON_SIMPLE}",
        f"trace {ON_SIMPLE}",
        f"memory {ON_SIMPLE}",
        f"parallelism {ON_SIMPLE}",
        f"place {ON_SIMPLE}",
        f"energy {ON_SIMPLE}",
        f"scale {ON_SIMPLE} --ranks 1,2",
        f"sweep {ON_SIMPLE} --over c=1..3",
        f"sensitivity {ON_SIMPLE}",
        f"optimise {ON_SIMPLE} --minimise runtime --vary c=1..10",
        "fit odd.aspen measured.csv --machine simple --vary c",
        "compare odd.aspen --machine simple,haswell",
        "roofline odd.aspen --machine simple",
    ],
    ids=lambda line: line.split()[0],
)
def test_it_is_told(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.aspen").write_text(MODEL)
    Path("measured.csv").write_text("ranks,runtime\n1,2e-6\n1,2.1e-6\n")
    main(line.split())
    told = capsys.readouterr()
    warning = "machine `simple` knows no trait `wide` of `flops`\n --> odd.aspen:4:53"
    assert (told.out + told.err).count(warning) == 1, told.err
