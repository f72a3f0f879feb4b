"""The page about the commands, made from their help: `python docs/commands_page.py` writes it anew.

What stands behind the generated part of a section is written by hand and stays, for what no help can say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from aspenpy.shell.option import Command, OneOf, Option
from aspenpy.shell.registry import GROUPS, commands_by_name, load_command

FILE = Path(__file__).with_name("commands.md")
SECTION = re.compile(r"^## `aspenpy ([\w-]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
MADE = re.compile(r"<!-- made from the help -->\n.*?<!-- end -->\n", re.DOTALL)
FEWEST = 9
"""Commands that an option of the first table has in common."""


def options_of(command: Command) -> Iterator[Option]:
    """The options of a command, those that exclude each other one by one."""
    for item in command.options:
        yield from item.options if isinstance(item, OneOf) else (item,)


def commands() -> list[Command]:
    return [load_command(name) for name in commands_by_name()]


def shared_options() -> dict[str, Option]:
    """Options that many commands have, by their longest names, sorted."""
    named = [(max(option.names, key=len), option) for command in commands() for option in options_of(command)]
    names = [name for name, _ in named if name.startswith("--")]
    return {name: option for name, option in sorted(named, key=lambda item: item[0]) if names.count(name) >= FEWEST}


def table(*rows: tuple[str, ...]) -> str:
    return "".join(f"| {' | '.join(row)} |\n".replace("|  ", "| ") for row in rows)


def describe(option: Option, help: str) -> tuple[str, str]:
    """The names of an option with what it takes, and its help as a table has it."""
    metavar = option.more.get("metavar", "{" + ",".join(map(str, option.more.get("choices", ()))) + "}")
    named, takes_none = option.names[0].startswith("-"), option.more.get("action") in ("store_true", "store_const")
    written = f"{', '.join(option.names)}{'' if takes_none else f' {metavar}'}" if named else metavar
    return f"`{written}`", help.replace("|", "\\|").replace("...", "\\.\\.\\.").replace("<", "\\<")


def all_commands() -> str:
    """The commands by group, and which of them have which of the options that many have."""
    shared = shared_options()
    lines = []
    for group, title in GROUPS.items():
        listed = [entry for entry in commands_by_name().values() if entry.group == group]
        lines.append(f"{title[0].upper()}{title[1:]}:\n")
        rows = ((f"[`aspenpy {entry.name}`](#aspenpy-{entry.name})", entry.summary) for entry in listed)
        lines.append(table(("command", ""), ("---", "---"), *rows))
    lines.append("An option means the same in each command that has it. Many have these:\n")
    rows = (describe(option, option.more["help"]) for option in shared.values())
    lines.append(table(("option", ""), ("---", "---"), *rows))
    marks = ((f"`{command.name}`", *_marks(command, shared)) for command in commands())
    lines.append(table(("", *(f"`{name}`" for name in shared)), ("---", *(":-:" for _ in shared)), *marks))
    return "\n".join(lines)


def _marks(command: Command, shared: dict[str, Option]) -> Iterator[str]:
    names = {name for option in options_of(command) for name in option.names}
    return ("x" if name in names else "" for name in shared)


def about(command: Command) -> str:
    """The summary, the options that are not shared or that mean more here, and the examples of a command."""
    shared = shared_options()
    rows = [
        describe(option, option.help)
        for option in options_of(command)
        if option.detail or max(option.names, key=len) not in shared
    ]
    listed = table(("option", ""), ("---", "---"), *rows) if rows else ""
    lines = "".join(f"# {purpose}\n{line}\n" for purpose, line in command.examples)
    return f"{command.summary}.\n\n{listed}\n```sh\n{lines}```\n"


def generate(page: str) -> str:
    """The page with all that is made from the help as it is now, a section for each command."""

    def made(text: str) -> str:
        return f"<!-- made from the help -->\n{text}<!-- end -->\n"

    by_hand = {name: MADE.sub("", text).strip("\n") for name, text in SECTION.findall(page)}
    sections = [
        f"## `aspenpy {command.name}`\n\n{made(about(command))}\n{by_hand.get(command.name, '')}".rstrip("\n") + "\n"
        for command in commands()
    ]
    first = MADE.sub(lambda _: made(all_commands()), SECTION.split(page)[0])
    return "\n".join([first.rstrip("\n") + "\n", *sections])


if __name__ == "__main__":
    FILE.write_text(generate(FILE.read_text(encoding="utf-8")), encoding="utf-8")
