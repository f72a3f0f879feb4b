"""The page about the commands knows them all, with every option they have."""

import re
from pathlib import Path

import pytest

from aspenpy.shell.main import COMMANDS, main

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
SECTIONS = dict(re.findall(r"^## `aspenpy (\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def test_commands() -> None:
    assert list(SECTIONS) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main([command, "--help"])
    offered = set(re.findall(r"(?<=[ \[])--[a-z][a-z-]*", capsys.readouterr().out)) - {"--help"}
    told = set(re.findall(r"--[a-z][a-z-]*", "".join(re.findall(r"`.*?`", SECTIONS[command]))))
    assert told == offered
