"""The README names every command and is short; the page about installing names every extra."""

import re
import tomllib
from pathlib import Path

from aspenpy.shell.registry import commands_by_name

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLING = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")


def test_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cells = re.findall(r"^\| (`.*?`) \|", INSTALLING, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == set(project["optional-dependencies"])


def test_commands() -> None:
    section = README[README.index("\n## What else it answers\n") :].split("```")[0]
    told = {
        name for row in re.findall(r"^\|.*\| (.*) \|$", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert told <= set(commands_by_name())
    assert len(told) > 30


def test_both_commands_of_a_fresh_clone() -> None:
    """`make demo` and `make test` stand in the first block of commands, and are targets of the Makefile."""
    block = README[README.index("```sh\n") :].split("```")[1]
    targets = re.findall(r"^make (\w+)", block, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8") for target in targets)


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 200


def test_the_citation_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("version", "license"):
        assert f"\n{key}: {project[key]}\n" in citation
