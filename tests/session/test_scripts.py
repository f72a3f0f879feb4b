"""Sessions from standard input: each script is answered with exactly the text file of its name.

`pytest --update-pictures` writes the answers anew; whoever does that reads the difference.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

HERE = Path(__file__).parent / "scripts"
SCRIPTS = sorted(HERE.glob("*.txt"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_answers_are_as_pictured(
    script: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, update_pictures: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(script.read_text(encoding="utf-8")))
    outcome = run("repl", "axpy.aspen", "--machine", "cluster.aspen")
    assert outcome.status == (2 if script.stem.startswith("refused") else 0), outcome.err
    answers = outcome.out + outcome.err
    picture = script.with_suffix(".out")
    if update_pictures:
        picture.write_text(answers, encoding="utf-8")
    assert answers == picture.read_text(encoding="utf-8")


def test_every_picture_has_its_script() -> None:
    assert [path.stem for path in SCRIPTS] == sorted(path.stem for path in HERE.glob("*.out"))


@pytest.mark.parametrize(("options", "answers"), [((), 2), (("--fail-fast",), 1)])
def test_a_mistake_ends_a_script_only_if_asked(
    options: tuple[str, ...], answers: int, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("show 20 + 22\nshow 1 +\nshow 20 + 22\n"))
    outcome = run("repl", "axpy.aspen", "--machine", "cluster.aspen", *options)
    assert (outcome.status, outcome.out.count("42"), outcome.err.count("error: ")) == (2, answers, 1)
