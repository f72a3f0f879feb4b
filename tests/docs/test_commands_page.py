"""The page about the commands is made from their help, and prose beside it speaks of options that there are."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from aspenpy.shell.registry import commands_by_name, load_command

DOCS = Path(__file__).parents[2] / "docs"


def load_script(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


commands_page = load_script(DOCS / "commands_page.py")
PAGE = commands_page.FILE.read_text(encoding="utf-8")
SECTIONS = dict(commands_page.SECTION.findall(PAGE))


def test_the_page_says_what_the_help_says(update_pictures: bool) -> None:
    if update_pictures:
        commands_page.FILE.write_text(commands_page.generate(PAGE), encoding="utf-8")
    else:
        assert commands_page.generate(PAGE) == PAGE
    assert list(SECTIONS) == list(commands_by_name())


@pytest.mark.parametrize("command", commands_by_name())
def test_a_section_speaks_of_options_that_there_are(command: str) -> None:
    by_hand = commands_page.MADE.sub("", SECTIONS[command])
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "".join(re.findall(r"`-[^`\n]+`", by_hand))))
    names = {name for option in commands_page.options_of(load_command(command)) for name in option.names}
    assert told <= names | {"--help"}


def test_every_option_is_in_a_table() -> None:
    """Of the page as a reader finds it: an option stands in the section of its command or in the first table."""
    first = commands_page.SECTION.split(PAGE)[0]
    shared = {name for cell in re.findall(r"^\| `(.*?)` \|", first, re.MULTILINE) for name in re.split(", | ", cell)}
    for command, section in SECTIONS.items():
        cells = re.findall(r"^\| `(.*?)` \|", section, re.MULTILINE)
        own = {name for cell in cells for name in re.split(", | ", cell)}
        for option in commands_page.options_of(load_command(command)):
            name = max(option.names, key=len)
            assert name in own | shared or not name.startswith("-"), (command, name)
