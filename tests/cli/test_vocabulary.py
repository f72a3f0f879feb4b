"""An option means the same in every command, and the names that options had are understood with a warning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aspenpy.extract.registers import LEVELS
from aspenpy.shell.option import OneOf, Option, rename_options
from aspenpy.shell.registry import commands_by_name, load_command
from aspenpy.shell.study_options import LEVEL
from tests.cli.conftest import Runner

OWN_CHOICES = {
    "--format": "some results have forms of their own, or no table",
    "--kind": "the library has machines of kinds that no skeleton is of",
}
"""Options whose words differ by command, with the reason."""


def options_of(command: str) -> Iterator[Option]:
    for item in load_command(command).options:
        yield from item.options if isinstance(item, OneOf) else (item,)


NAMED: dict[str, dict[str, Option]] = {}
for _command in commands_by_name():
    for _option in options_of(_command):
        for _name in _option.names:
            if _name.startswith("-"):
                NAMED.setdefault(_name, {})[_command] = _option


def meaning(option: Option) -> tuple[Any, ...]:
    """What an option is, but for its default, what is special in one command, and whether it takes several."""
    more = option.more
    words = more.get("choices") if option.names[0] not in OWN_CHOICES else None
    value = (more.get("metavar") or "").removesuffix(",..."), more.get("type"), words
    return option.names, more["help"], *value, more.get("action"), more.get("nargs")


@pytest.mark.parametrize("name", NAMED)
def test_a_name_has_one_meaning(name: str) -> None:
    meanings = {meaning(option): command for command, option in NAMED[name].items()}
    assert len(meanings) == 1, meanings


@pytest.mark.parametrize("command", commands_by_name())
def test_a_former_name_is_no_name_of_today(command: str) -> None:
    names = {name for option in options_of(command) for name in option.names}
    former = [name for option in options_of(command) for name in option.former]
    assert len(set(former)) == len(former)
    assert not names & {*former}


def test_levels_are_those_of_extraction() -> None:
    assert LEVEL.more["choices"] == LEVELS


def test_former_names_are_those_of_today_up_to_the_command_of_another_program() -> None:
    options = [Option(("--law",), {}, "", ("--model",))]
    line = ["m", "--model", "aeem", "--model=roofline", "--", "run", "--model", "x"]
    today = ["m", "--law", "aeem", "--law=roofline", "--", "run", "--model", "x"]
    assert rename_options(options, line) == (today, {"--model": "--law"})


@pytest.mark.parametrize(
    ("old", "today"),
    [
        ("energy stream --machine haswell --model aeem", "energy stream --machine haswell --law aeem"),
        ("energy stream --machine haswell --budget 1kJ", "energy stream --machine haswell --budget energy=1kJ"),
        ("expr stream --resource flops --free n", "expr stream --metric flops --free n"),
        (
            "sweep stream --machine simple --over n=1..9 --samples 4 --method uniform",
            "sweep stream --machine simple --over n=1..9 --samples 4 --sampling uniform",
        ),
    ],
)
def test_a_former_spelling_is_understood_with_a_warning(run: Runner, old: str, today: str) -> None:
    then, now = run(*old.split()), run(*today.split())
    assert (then.status, then.out) == (now.status, now.out)
    assert now.status == 0
    assert then.err.startswith("warning: `--")
    assert "the old spelling goes with the next release" in then.err


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize(
    "line",
    [
        "eval stream --machine simple",
        "explain stream --machine simple",
        "trace stream --machine simple",
        "network --machine bluegene_q",
        "check stream",
        "list machines",
        "profile stream --machine simple",
    ],
)
def test_results_in_a_file_are_those_that_are_shown(run: Runner, tmp_path: Path, line: str, form: str) -> None:
    shown = run(*line.split(), "--format", form)
    assert shown.status == 0
    assert form == "csv" or shown.out[0] in "[{"
    written = run(*line.split(), "-o", f"found.{form}")
    assert (written.status, written.out) == (0, f"found.{form} is written\n")
    assert (tmp_path / f"found.{form}").read_text(encoding="utf-8") == shown.out
    if form == "csv":
        assert "," in shown.out.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-o", "gone/x.csv"), "cannot write `gone/x.csv`: no such file or directory"),
        (("-o", ""), "--output: the name of the file is empty"),
        (("-o", "x.csv", "--format", "json"), "--format json: the name `x.csv` is one of CSV"),
        (
            ("-o", "x.xlsx"),
            "--output x.xlsx: results are written as .json, .csv or as a table in text, not as .xlsx",
        ),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_work(run: Runner, options: tuple[str, ...], said: str) -> None:
    outcome = run("eval", "gone", "--machine", "simple", *options)
    assert outcome.status == 2
    assert said in outcome.err
    assert not outcome.out
