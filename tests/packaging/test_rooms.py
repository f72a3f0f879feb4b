"""The rooms of CONTRIBUTING.md are all there are, and imports flow through them in the order of that table."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRANCES = {"__init__", "__main__"}


def rooms() -> list[str]:
    """In the order of the table."""
    rows = re.findall(r"^\| `aspenpy/.*? \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`aspenpy/(\w+)(?:\.py|/)`", row)]


def imported(file: Path) -> set[str]:
    """Rooms imported when a file is: not those that only type checkers or functions import."""
    found = set()
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "aspenpy":
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("aspenpy."):
            found.add(str(statement.module).split(".")[1])
    return found


def test_every_room_is_on_the_map() -> None:
    there = {
        path.stem for path in (ROOT / "aspenpy").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert sorted(rooms()) == sorted(there - ENTRANCES)


@pytest.mark.parametrize("room", rooms())
def test_imports_come_from_the_left(room: str) -> None:
    single, folder = ROOT / "aspenpy" / f"{room}.py", ROOT / "aspenpy" / room
    files = [single] if single.exists() else sorted(folder.rglob("*.py"))
    order = rooms()
    allowed = set(order[: order.index(room) + 1])
    assert {file.name: imported(file) - allowed for file in files} == {file.name: set() for file in files}


def test_an_import_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import os\nfrom aspenpy import files\nfrom aspenpy.shell.main import main\ndef later():\n    import re\n"
    )
    assert imported(file) == {"files", "shell"}
