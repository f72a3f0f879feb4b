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
    Path("odd.aspen").write_text(MODEL, encoding="utf-8")
    Path("measured.csv").write_text("ranks,runtime\n1,2e-6\n1,2.1e-6\n", encoding="utf-8")
    main(line.split())
    told = capsys.readouterr()
    warning = "machine `simple` knows no trait `wide` of `flops`\n --> odd.aspen:4:53"
    assert (told.out + told.err).count(warning) == 1, told.err


CHOICE = """model choice {
  param kind = 1
  kernel main {
    if (kind == 1) { execute { flops [1] as odd } }
    else { execute { flops [1] as strange } }
  }
}
"""


@pytest.mark.parametrize(("options", "traits"), [([], ["odd"]), (["--set", "kind=2"], ["strange"])])
def test_a_block_that_does_not_run_is_not_told_of(
    options: list[str], traits: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "choice.aspen").write_text(CHOICE, encoding="utf-8")
    assert main(["eval", str(tmp_path / "choice.aspen"), "--machine", "simple", *options]) == 0
    told = capsys.readouterr().err
    assert [name for name in ("odd", "strange") if f"knows no trait `{name}`" in told] == traits


def test_formats_of_a_product_that_is_not_made(capsys: pytest.CaptureFixture[str]) -> None:
    """A V100 has units for fp16, vectors for fp64, and nothing for tf32."""
    for form, expected in (("fp16", False), ("tf32", True), ("fp64", False)):
        assert main(["eval", "matmul", "--kernel", "tensor", "--machine", "v100", "--set", f"format={form}"]) == 0
        assert ("states no rate of `tf32`" in capsys.readouterr().err) == expected
