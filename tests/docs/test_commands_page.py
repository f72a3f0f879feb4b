"""The page about the commands knows them all: tables of their options are made from the help."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from aspenpy.shell.commands import COMMANDS
from aspenpy.shell.option import OneOf, Option

FILE = Path(__file__).parents[2] / "docs" / "commands.md"
PAGE = FILE.read_text()
SECTIONS = dict(re.findall(r"^## `aspenpy (\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
GENERATED = re.compile(r"<!-- ((?:shared )?options(?: of \w+)?) -->\n(.*?)<!-- end -->\n", re.S)
FEWEST = 9
"""Commands that an option of the first table has in common."""


def options_of(command: str) -> list[Option]:
    options = import_module(f"aspenpy.shell.commands.{command}").OPTIONS
    return [option for item in options for option in (item.options if isinstance(item, OneOf) else (item,))]


def names_of(command: str) -> set[str]:
    return {name for option in options_of(command) for name in option.names if name.startswith("--")}


def rows_of(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n".replace("|  ", "| ") for row in rows)


def shared_options() -> str:
    """A row for each command, a column for each option that many have."""
    options = {command: names_of(command) for command in COMMANDS}
    every = sorted({name for names in options.values() for name in names})
    heads = [name for name in every if sum(name in names for names in options.values()) >= FEWEST]
    rows = [["", *(f"`{name}`" for name in heads)], ["---", *(":-:" for _ in heads)]]
    for command, names in options.items():
        rows.append([f"`{command}`", *("x" if name in names else "" for name in heads)])
    return rows_of(rows)


def described(option: Option) -> list[str]:
    """The names of an option with what it takes, and its help as a table has it."""
    metavar = option.more.get("metavar", "{" + ",".join(map(str, option.more.get("choices", ()))) + "}")
    named, takes_none = option.names[0].startswith("-"), option.more.get("action") in ("store_true", "store_const")
    written = f"{', '.join(option.names)}{'' if takes_none else f' {metavar}'}" if named else metavar
    return [f"`{written}`", option.help.replace("|", "\\|").replace("...", "\\.\\.\\.")]


def generated(about: str) -> str:
    """What stands between the marks of the page, from the options themselves."""
    if about == "shared options":
        return shared_options()
    command = about.rpartition(" ")[2]
    return rows_of([["option", ""], ["---", "---"], *map(described, options_of(command))])


def test_commands() -> None:
    assert list(SECTIONS) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_section_speaks_of_options_that_there_are(command: str) -> None:
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "".join(re.findall(r"`-[^`\n]+`", SECTIONS[command]))))
    assert names_of(command) <= told <= names_of(command) | {"--help"}


def test_tables_say_what_the_help_says(update_pictures: bool) -> None:
    assert [about for about, _ in GENERATED.findall(PAGE)] == [
        "shared options", *(f"options of {command}" for command in COMMANDS)
    ]  # fmt: skip
    if update_pictures:
        FILE.write_text(GENERATED.sub(lambda mark: f"<!-- {mark[1]} -->\n{generated(mark[1])}<!-- end -->\n", PAGE))
    else:
        for about, table in GENERATED.findall(PAGE):
            assert table == generated(about)
