"""The README names every extra and every command."""

import re
import tomllib
from pathlib import Path

from aspenpy.shell.commands import COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def first_cells(heading: str) -> list[str]:
    """What stands in code in the first cells of the table under a heading."""
    section = README[README.index(f"\n## {heading}\n") :].split("\n## ")[1]
    return re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)


def test_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = {name for cell in first_cells("Extras") for name in re.findall(r"`(\w+)`", cell)}
    assert told == set(project["optional-dependencies"])


def test_commands() -> None:
    section = README[README.index("\n## What else it answers\n") :].split("```")[0]
    told = {
        name for row in re.findall(r"^\|.*\| (.*) \|$", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert told == set(COMMANDS)
