"""The registry: which commands there are, found in the folder of their modules, of which only the one asked for is
imported."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from typing import NamedTuple

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
def entries() -> dict[str, Entry]:
    """Every command by name, by group and then by alphabet, read from the texts of the modules in a millisecond."""
    found = []
    for file in os.listdir(FOLDER):
        module, _, suffix = file.rpartition(".")
        if suffix == "py":
            with open(os.path.join(FOLDER, file), encoding="utf-8") as text:
                found += [Entry(name, group, summary, module) for name, group, summary in DECLARED.findall(text.read())]
    return {entry.name: entry for group in GROUPS for entry in sorted(found) if entry.group == group}


def load_command(name: str) -> Command:
    """The command of that name; no other module than its own is imported."""
    module = import_module(f"aspenpy.shell.commands.{entries()[name].module}")
    return next(item for item in vars(module).values() if isinstance(item, Command) and item.name == name)
