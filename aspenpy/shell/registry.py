"""The registry: which commands there are, found in the folder of their modules, of which only the one asked for is
imported."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module

from aspenpy.record import NamedTuple
from aspenpy.shell.option import Command, Group

FOLDER = os.path.join(os.path.dirname(__file__), "commands")
DECLARED = re.compile(r'^@command\(\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]+)"', re.MULTILINE)

GROUPS: dict[Group, str] = {
    "predict": "predict a run",
    "compare": "compare, search and ask what if",
    "count": "count what an application needs",
    "programs": "read programs, and write them",
    "measure": "measure, and learn from measurements",
    "models": "look at models and machines",
    "tools": "connect an editor or a shell",
}
"""The groups of the help, in its order."""

ALIASES = {"optimize": "optimise", "format": "fmt"}


class Entry(NamedTuple):
    """A command in the help, and the module that holds it."""

    name: str
    group: str
    summary: str
    module: str


@cache
def commands_by_name() -> dict[str, Entry]:
    """Every command by name, by group and then by alphabet, read from the texts of the modules."""
    modules = [file.removesuffix(".py") for file in os.listdir(FOLDER) if file.endswith(".py")]
    entries = sorted(entry for module in modules for entry in _entries_of(module))
    return {entry.name: entry for group in GROUPS for entry in entries if entry.group == group}


@cache
def find_command(name: str) -> Entry | None:
    """The command of that name: most stand in a module of their own name, beside which no other is read."""
    if name.isidentifier() and os.path.isfile(os.path.join(FOLDER, f"{name}.py")):
        for entry in _entries_of(name):
            if entry.name == name:
                return entry
    return commands_by_name().get(name)


def _entries_of(module: str) -> list[Entry]:
    """The commands that the text of a module declares."""
    with open(os.path.join(FOLDER, f"{module}.py"), encoding="utf-8") as text:
        return [Entry(name, group, summary, module) for name, group, summary in DECLARED.findall(text.read())]


def load_command(name: str) -> Command:
    """The command of that name; no other module than its own is imported. Raises KeyError where there is none."""
    entry = find_command(name)
    if entry is None:
        raise KeyError(name)
    module = import_module(f"aspenpy.shell.commands.{entry.module}")
    return next(item for item in vars(module).values() if isinstance(item, Command) and item.name == name)
