"""The page about the library lists every application, with a page that is there and speaks of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "models"
LISTED = {
    name: PAGES / page
    for names, page in re.findall(r"\[([^\]]*`)\]\((\w+\.md)\)", (PAGES / "index.md").read_text(encoding="utf-8"))
    for name in re.findall(r"`(\w+)`", names)
}
APPLICATIONS = sorted(path.stem for path in (ROOT / "models" / "apps").glob("*.aspen"))


def test_all_applications_are_listed() -> None:
    assert sorted(LISTED) == APPLICATIONS


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_has_a_page(name: str) -> None:
    page = LISTED[name].read_text(encoding="utf-8")
    assert name in page
    assert re.search(r"^## Left out|^## What is left out|^## .*leaves out", page, re.MULTILINE), name


def test_every_page_is_in_the_tree() -> None:
    (tree,) = re.findall(
        r"^:hidden:\n\n(.*?)^```", (PAGES / "index.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert sorted(tree.split()) == sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")


def test_every_machine_is_listed() -> None:
    page = (PAGES / "machines.md").read_text(encoding="utf-8")
    missing = [path.stem for path in (ROOT / "models" / "machines").glob("*.aspen") if f"`{path.stem}`" not in page]
    assert not missing
