"""The stages of an extraction, as `aspenpy/extract/__init__.py` lists them: what stands behind the records knows
neither libclang nor what reads it."""

import ast
import re
from pathlib import Path

import aspenpy.extract

ROOM = Path(aspenpy.extract.__path__[0])
MODULES = {path.stem: path.read_text(encoding="utf-8") for path in ROOM.glob("*.py") if path.stem != "__init__"}
FRONT = {name for name in MODULES if name == "front_end" or name.startswith("tree")}


def imported(text: str) -> set[str]:
    found = {node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    return {name.removeprefix("aspenpy.extract.").split(".")[0] for name in found}


def test_front_ends_alone_know_libclang() -> None:
    assert {name for name, text in MODULES.items() if re.search(r"\bcindex\b|\bclang_", text)} <= FRONT


def test_records_are_asked_for_of_the_source_and_of_what_a_run_counts() -> None:
    asking = {name for name in MODULES if name not in FRONT and imported(MODULES[name]) & FRONT}
    assert asking == {"extraction", "counted_units"}


def test_every_module_named_there_exists() -> None:
    named = re.findall(r"`(\w+)\*?`", aspenpy.extract.__doc__ or "")
    assert named
    assert [name for name in named if name not in MODULES] == []
