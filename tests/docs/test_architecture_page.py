"""The page of the architecture links to the lines that it names."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LINKS = re.findall(r"\[`(\w+)`\]\((\S+?)#L(\d+)\)", (DOCS / "architecture.md").read_text(encoding="utf-8"))


def test_there_are_links() -> None:
    assert 10 <= len(LINKS) < 15


@pytest.mark.parametrize(("name", "file", "line"), LINKS)
def test_the_line_defines_what_is_named(name: str, file: str, line: str) -> None:
    lines = (DOCS / file).read_text(encoding="utf-8").splitlines()
    assert re.match(rf"\s*(def|class) {name}\b", lines[int(line) - 1])
