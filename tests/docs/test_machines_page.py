"""The page of the library's machines in numbers is made from the models, and so is its picture."""

from pathlib import Path
from types import ModuleType

import pytest

from aspenpy.models.library import library_names
from tests.docs.pictures import compare
from tests.docs.test_commands_page import load_script

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script(DOCS / "machines_page.py")


def test_the_page_and_its_picture_are_current(script: ModuleType, tmp_path: Path, update_pictures: bool) -> None:
    pytest.importorskip("matplotlib")
    found = script.rows()
    if update_pictures:
        script.FILE.write_text(script.page(script.FILE.read_text(encoding="utf-8"), found), encoding="utf-8")
        script.draw(found, script.PICTURE)
    text = script.FILE.read_text(encoding="utf-8")
    assert text == script.page(text, found)
    script.draw(found, tmp_path / "machines.svg")
    compare(script.PICTURE, tmp_path / "machines.svg")


def test_every_machine_that_one_can_buy_has_a_row(script: ModuleType) -> None:
    text = script.FILE.read_text(encoding="utf-8")
    left_out = [name for name in library_names("machines") if f"| `{name}` |" not in text]
    assert len(left_out) < 10, left_out  # abstract machines, and one for learning


def test_figures_of_a_machine_by_hand(script: ModuleType) -> None:
    """H100: 132 multiprocessors of 64 lanes in double precision, 1.98 GHz, 33.45 Tflop/s; triad 2.967 TB/s; 700 W."""
    row = next(line for line in script.FILE.read_text(encoding="utf-8").splitlines() if line.startswith("| `h100` |"))
    assert "| 33.5 Tflop/s | 2.97 TB/s |" in row
    assert sum(int(cell.strip(" %")) for cell in row.split("|")[-5:-1]) in (99, 100, 101)
