"""The page of the architecture links to the files that define what it names."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LINKS = re.findall(r"\[`(\w+)`\]\((\S+?\.py)\)", (DOCS / "architecture.md").read_text(encoding="utf-8"))


def test_there_are_links() -> None:
    assert 10 <= len(LINKS) < 20


@pytest.mark.parametrize(("name", "file"), LINKS)
def test_the_file_defines_what_is_named(name: str, file: str) -> None:
    assert re.search(rf"^\s*(def|class) {name}\b", (DOCS / file).read_text(encoding="utf-8"), re.MULTILINE)
