"""Links between the pages lead to files and headings that are there, and have a text.

`make linkcheck` asks for those to the web."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.prose import PAGES, ROOT

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]*)\)")
ALL = (*PAGES, ROOT / "CONTRIBUTING.md")


@cache
def anchors(path: Path) -> set[str]:
    """The anchors of a page: its headings as MyST (and GitHub) names them, and those that are written out."""
    text = CODE.sub("", path.read_text(encoding="utf-8"))
    headings = (re.sub(r"<[^>]*>|[`*]", "", heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    named = {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'<a id="([\w-]+)">', text))


def broken(page: Path, text: str) -> list[str]:
    """The links of a page's text that lead nowhere or show nothing."""
    found = []
    for link in LINK.finditer(CODE.sub("", text)):
        name, _, anchor = link["target"].partition("#")
        if ":" in name:
            continue
        file = (page.parent / name).resolve() if name else page
        lost = not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file))
        if lost or not link["text"].strip():
            found.append(link[0])
    return found


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def test_a_broken_link_is_found() -> None:
    text = "[a](tour.md) [b](nowhere.md) [](tour.md) [c](energy.md#the-equations) [d](energy.md#no-such-heading)"
    assert broken(ROOT / "docs" / "index.md", text) == [
        "[b](nowhere.md)",
        "[](tour.md)",
        "[d](energy.md#no-such-heading)",
    ]
