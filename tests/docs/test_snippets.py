"""Every snippet of the documentation shows what it prints."""

import os
import re
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from aspenpy.explore import crossovers
from tests.docs import numbers
from tests.docs.forked import Command, load_modules, plain_command, printed_by
from tests.docs.pictures import DRAWN, SHOWN, compare
from tests.docs.snippets import refreshed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An `aspenpy` on the path that is the one under test, and a terminal of a known width. Proofs have the processor's
    time that they have elsewhere, however long the clock says that takes on a busy machine."""
    if not hasattr(os, "fork"):
        pytest.skip("commands of pages run in copies of this process, which need fork, and in bash")
    load_modules()
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "aspenpy"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aspenpy "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    variables = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossovers, "PROOF_CLOCK", inf)
        patch.setattr(crossovers, "LOOK_CLOCK", inf)
        yield variables


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, tmp_path: Path, environment: dict[str, str], update_pictures: bool) -> None:
    text = page.read_text(encoding="utf-8")
    if DRAWN.search(text):
        pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    fresh = refreshed(text, tmp_path, environment)
    pictures = [(ROOT / "docs" / "pictures" / name, tmp_path / name) for name in DRAWN.findall(text)]
    if update_pictures:
        page.write_text(text if numbers.same(fresh, text) else fresh, encoding="utf-8")
        for kept, drawn in pictures:
            kept.write_bytes(drawn.read_bytes())
    else:
        numbers.compare(fresh, text)
        for kept, drawn in pictures:
            compare(kept, drawn)


def test_every_picture_is_drawn_by_a_page_and_shown() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES if page.parent.name in ("docs", "cookbook")]
    drawn = sorted(name for text in texts for name in DRAWN.findall(text))
    others = {"machines.svg"}  # by docs/machines_page.py
    assert drawn == sorted({path.name for path in (ROOT / "docs" / "pictures").iterdir()} - others)
    assert set(drawn) == {name for text in texts for name in SHOWN.findall(text)}


def test_a_picture_that_changed_is_seen(tmp_path: Path) -> None:
    picture = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M 1 {y} L 9 2"/><text>n = {n}</text></svg>'
    kept, drawn = tmp_path / "kept.svg", tmp_path / "drawn.svg"
    kept.write_text(picture.format(y="2.50", n=1), encoding="utf-8")
    drawn.write_text(picture.format(y="2.51", n=1), encoding="utf-8")
    compare(kept, drawn)
    for y, n in (("3.0", 1), ("2.5", 2)):
        drawn.write_text(picture.format(y=y, n=n), encoding="utf-8")
        with pytest.raises(AssertionError):
            compare(kept, drawn)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("startup = 342147.0117629857 B", "startup = 342147.0117629858 B", True),
        ("startup = 342147.0117629857 B", "startup = 342148.0117629857 B", False),
        ("a   1.06 s  3", "a  1.0600001 s  3", True),  # and what stands beside it moves
        ("a 1.06 s", "a 1.07 s", True),
        ("a 1.06 s", "a 1.08 s", False),
        ("a 1.06 s", "a 1.06 ms", False),
        ("0.1 + 0.2 = 0.30000000000000004", "0.1 + 0.2 = 0.3", True),
        ("16 ranks", "17 ranks", False),
        ("417 ms", "418 ms", False),
        ("e5_2637_v2", "e5_2637_v3", False),
        ("[2.5e-12, 1]", "[2.6e-12, 1]", True),
        ("[2.5e-12, 1]", "[2.5e-13, 1]", False),
        ("-0.5 s", "0.5 s", False),
        ("12.5%", "12.7%", False),
        ("1.5GHz", "1.7GHz", False),
        ("one two", "one  twos", False),
    ],
)
def test_words_are_compared_exactly_and_numbers_by_value(one: str, other: str, equal: bool) -> None:
    assert numbers.same(one, other) is equal
    assert numbers.same(other, one) is equal


def test_no_block_is_passed_over() -> None:
    """Only blocks at the edge of the page are run: one inside a list would not be."""
    for page in PAGES:
        assert not re.search(r"^ +```(aspen|console|python)$", page.read_text(encoding="utf-8"), re.MULTILINE), page


def test_stale_output_is_seen(tmp_path: Path) -> None:
    page = "```console\n$ echo new\nold\n```\n\n```python\n>>> 1 + 1\n3\n>>> 1 / 0\n```\n"
    assert refreshed(page, tmp_path, {}) == (
        "```console\n$ echo new\nnew\n```\n\n"
        "```python\n>>> 1 + 1\n2\n>>> 1 / 0\n"
        "Traceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n```\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "aspenpy eval comd --machine simple --set nx=20",
        "aspenpy eval comd --machine simple --set simple_clock=0",  # an error and a warning
        "aspenpy count fft1d --help",
        "aspenpy lst",
        "aspenpy show comd | head -3 | tail -1",
        "printf 'param  n=4*kilo\\n' | aspenpy fmt - | head -1",
        'aspenpy eval comd --machine simple --set "simple_clock=0" 2> /dev/null',
        "aspenpy eval comd --machine simple --set simple_clock=0 2>&1 | grep -c .",
    ],
)
def test_a_forked_command_prints_what_a_started_one_prints(
    line: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    plain = plain_command(line)
    assert plain is not None
    (started,) = re.findall(
        r"\n(.*)```", refreshed(f"```console\n$ true && {line}\n```\n", tmp_path, environment), re.S
    )
    assert f"$ true && {line}\n{printed_by(plain, tmp_path, environment)}" == started


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("aspenpy eval a.aspen --set 'n=2*k'", Command(["eval", "a.aspen", "--set", "n=2*k"])),
        ("aspenpy count \\\n    comd", Command(["count", "comd"])),
        ("aspenpy show comd | sed -n '/a | b/p' | head", Command(["show", "comd"], "sed -n '/a | b/p' | head")),
        ("echo help | aspenpy repl comd | head", Command(["repl", "comd"], "head", "echo help")),
        ("cat a.aspen | aspenpy fmt -", None),
        ("aspenpy show 'a | b'", None),
        ("aspenpy show comd 2>&1 | head", Command(["show", "comd"], "head", errors="&1")),
        ("aspenpy fmt *.aspen", None),
        ('aspenpy list machines --memory "> 1 TB"', Command(["list", "machines", "--memory", "> 1 TB"])),
        ("cat comd.aspen", None),
    ],
)
def test_lines_that_need_no_shell(line: str, plain: Command | None) -> None:
    assert plain_command(line) == plain


def test_files_of_a_page_are_there_for_its_commands(tmp_path: Path) -> None:
    page = "```aspen\n// file: one.aspen\nmodel one\n```\n\n```console\n$ cat one.aspen\n```\n"
    assert "$ cat one.aspen\n// file: one.aspen\nmodel one\n```" in refreshed(page, tmp_path, {})
