"""`aspenpy machine new --from` and `--template`: what is written, and what is said of sheets that are wrong."""

from pathlib import Path

import pytest

import aspenpy
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

SHEET = """\
kind = "processor"
source = "the page"
name = "Board"
vendor = "Us"
year = 2024
cores = 8
clock = "2 GHz // measured: us"
watts = "50 W"
[l1]
capacity = "32 KiB"
latency = "5 cycles"
[memory]
kind = "ddr5"
bandwidth = "80 GB/s // derived: 2 x 5000 MT/s x 8 B"
attained = "60 GB/s // measured: us"
"""


def test_a_model_from_a_sheet(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(SHEET)
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome == (0, "board.aspen is written; `aspenpy show board.aspen` shows what is in it\n", "")
    assert run("machine", "check", "board.aspen", "--strict") == (0, "no errors, no warnings\n", "")
    assert run("fmt", "--check", "board.aspen").status == 0
    text = Path("board.aspen").read_text()
    assert "property latency [5/board_clock]  // the page\n" in text
    assert "attained_bandwidth [60 GB/s*(bandwidth/(80 GB/s))]  // measured: us\n" in text
    found = aspenpy.roofline(aspenpy.load_machine(Path("board.aspen")))
    assert found.memory[0].rate == pytest.approx(60e9)
    peak = 8 * 2e9 * 2 * 8 * 2  # two pipes of 256 bits, single precision
    assert max(ceiling.rate for ceiling in found.compute) == pytest.approx(peak)


def test_a_template_is_a_sheet(run: Runner, models: Path) -> None:
    assert run("machine", "new", "--template", "accelerator", "-o", "b.toml").status == 0
    assert Path("b.toml").read_text() == run("machine", "new", "--template", "accelerator").out
    assert run("machine", "new", "b", "--from", "b.toml").status == 0
    assert run("machine", "new", "--template", "accelerator", "-o", "b.toml").status == 2  # is there already


MISTAKES = {
    "cores = 8": ('cores = "many"', "`cores` is a number above zero: cores of a socket, not threads", "such as 96"),
    'watts = "50 W"': ('watts = "50 GHz"', "`watts` is a quantity in W: thermal design power", "such as 360 W"),
    "year = 2024": ("year = -5", "`year` is a number above zero: of its first delivery", "such as 2022"),
    'vendor = "Us"': (
        "vendor = 3.5.1",
        "this is no table in TOML: Expected newline or end of document after a stat",
        "",
    ),
    'name = "Board"': ('naem = "Board"', "a data sheet has no field `naem`", "did you mean `name`?"),
    'kind = "ddr5"': ("kind = 5", "`memory.kind` is a word: ddr, hbm or lpddr, with its generation", "such as ddr5"),
    'latency = "5 cycles"': ('latency = "5 GB"', "`l1.latency` is a quantity in s: of a load, in ns or cycles", "such"),
    'capacity = "32 KiB"': ("ways = 8", "the sheet has no `l1.capacity`: first data cache of a core", "write `capac"),
    'source = "the page"': (
        'core = "zen9"',
        "`core` is one of some words: a family of parts/cores",
        "did you mean `zen",
    ),
    'kind = "processor"': ('kind = "toaster"', "the sheet names no kind of machine that there is", 'write `kind = "'),
}


@pytest.mark.parametrize("line", MISTAKES)
def test_what_is_wrong_with_a_sheet(run: Runner, models: Path, line: str) -> None:
    wrong, message, hint = MISTAKES[line]
    text = SHEET.replace(line, wrong, 1)
    Path("board.toml").write_text(text)
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome.status == 2
    assert outcome.err.startswith(f"error: {message}"), outcome.err
    assert f"= hint: {hint}" in outcome.err
    place = text[: text.index(wrong)].count("\n") + 1 if message[:9] != "the sheet" or "kind" in line else 9
    assert f"--> board.toml:{place}:" in outcome.err
    assert not Path("board.aspen").exists()


def test_a_source_may_say_how_a_number_is_known(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(
        SHEET.replace('source = "the page"\n', "").replace("// measured: us", "// published: X")
    )
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    text = Path("board.aspen").read_text()
    assert "property power_cap [50 W]  // assumed: the sheet names no source\n" in text
    assert "param board_clock = 2 GHz in 0.4*(2 GHz) .. 2 GHz  // X; assumed: the sheet has one clock\n" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "b", "--from", "one", "--from", "two"), "`aspenpy machine new --from` takes one data sheet"),
        (("new", "b", "--from", "one", "--kind", "cpu"), "`aspenpy machine new --from` takes one data sheet"),
        (("new", "b", "--template", "processor"), "--template shows a data sheet, and takes --output alone"),
        (("check", "--template", "processor"), "--template belongs to `aspenpy machine new`"),
        (("check",), "`aspenpy machine check` takes files, folders or names"),
        (("new", "b", "--compare"), "--compare belongs to `aspenpy machine probe`"),
    ],
)
def test_refused(run: Runner, models: Path, arguments: tuple[str, ...], said: str) -> None:
    outcome = run("machine", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"aspenpy: {said}")
