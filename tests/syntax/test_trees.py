"""The kept trees of the library: what they hold, and when they count for nothing."""

from __future__ import annotations

import marshal
import os
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from aspenpy.language import parser, trees
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader, models_folder
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from aspenpy.models.application import dimensions
from aspenpy.models.library import load_application, load_machine
from aspenpy.models.machine import dimensions as machine_dimensions
from aspenpy.models.machine import load as machine_load

LIBRARY = sorted(Path(models_folder()).rglob("*.aspen"))
HASWELL, SIMPLE = (Path(models_folder(), "machines", f"{name}.aspen") for name in ("haswell", "simple"))
MODELS = [file for file in LIBRARY if file.parent.name in ("apps", "machines")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for what is kept."""
    monkeypatch.setattr(trees, "cache_folder", lambda: str(tmp_path))
    return tmp_path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources that are parsed, not read, in a test."""
    names: list[str] = []
    parse = parser._parse

    def make(source: Source, *others: Any) -> Any:
        names.append(os.path.basename(source.name))
        return parse(source, *others)

    monkeypatch.setattr(parser, "_parse", make)
    return names


def read(file: Path) -> tuple[Any, Source]:
    """The tree of a file, spans included, and its source."""
    reader = Reader()
    source = reader.read(str(file))
    return trees._pack(parse_file(source, reader)), source


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_a_kept_tree_is_the_parsed_one(file: Path, folder: Path, parsed: list[str]) -> None:
    first, source = read(file)
    second, again = read(file)
    assert second == first
    assert [(base, other.text, other.name, other.path, other.in_library) for base, other in again.included] == [
        (base, other.text, other.name, other.path, other.in_library) for base, other in source.included
    ]
    assert parsed == ([file.name] if list(folder.iterdir()) else [file.name] * 2)


def test_a_machine_with_its_parts_is_parsed_once(folder: Path, parsed: list[str]) -> None:
    assert read(HASWELL) == read(HASWELL)
    assert parsed == ["haswell.aspen"]


def test_models_of_users_are_not_kept(folder: Path, parsed: list[str]) -> None:
    (folder / "mine.aspen").write_text(SIMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    read(folder / "mine.aspen")
    assert [file.name for file in folder.iterdir()] == ["mine.aspen"]


@pytest.mark.parametrize("name", ["haswell.aspen", "intel_xeon_haswell.aspen"])
def test_another_text_is_another_model(name: str, folder: Path, parsed: list[str]) -> None:
    file = next(file for file in LIBRARY if file.name == name)
    before, _ = read(HASWELL)
    reader = Reader(unsaved={str(file): f"// one line more\n{file.read_text(encoding='utf-8')}"})
    assert trees._pack(parse_file(reader.read(str(HASWELL)), reader)) != before
    assert read(HASWELL)[0] == before
    assert parsed == ["haswell.aspen"] * 3


def test_another_language_reads_the_text_again(
    folder: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(SIMPLE)
    monkeypatch.setattr(trees, "language_files", lambda: (("parser.py", 1, 1),))
    read(SIMPLE)
    assert parsed == ["simple.aspen"] * 2


def test_dimensions_are_looked_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a text that is another they are looked at again, though the tree of the old one is kept."""
    asked: list[str] = []
    for module, name in ((dimensions, "app"), (machine_dimensions, "machine")):
        find = module.contradictions
        monkeypatch.setattr(
            module, "contradictions", lambda node, find=find, name=name: (asked.append(name), find(node))[1]
        )
    for _ in range(2):
        load_application("comd"), load_machine("haswell")
    assert asked == ["app", "machine"]
    wrong = HASWELL.read_text(encoding="utf-8").replace("haswell_nodes = 16", "haswell_nodes = (16 s + 1 B)")
    reader = Reader(unsaved={str(HASWELL): wrong})
    with pytest.raises(AspenError, match="seconds"):
        machine_load.read_machine(reader.read(str(HASWELL)), reader)
    assert asked == ["app", "machine", "machine"]


def sealed(data: Any) -> bytes:
    content = marshal.dumps(data)
    return crc32(content).to_bytes(4, "big") + content


def damages(content: bytes) -> list[bytes]:
    """Files that are cut off, changed, empty, or hold something else."""
    language, text, files, checked, packed = marshal.loads(content[4:])
    other = [["Unheard"], ["Name", "x"], ["Machine"], ["Name", 1, 2, 3, 4, 5], [], 7, None, [":", 1], ["/", 1, "b"]]
    wrong = [sealed((language, text, files, checked, tree)) for tree in other]
    wrong += [sealed((language, text, [(0, "x")], checked, packed)), sealed((language, text)), sealed(5), sealed({})]
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 4
    return [b"", content[:3], content[:-9], bytes(flipped), b"\0" * 9000, *wrong]


def test_what_is_damaged_counts_for_nothing(folder: Path, parsed: list[str]) -> None:
    right = read(SIMPLE)[0]
    (file,) = folder.iterdir()
    content = file.read_bytes()
    for damage in damages(content):
        file.write_bytes(damage)
        parsed.clear()
        node = read(SIMPLE)[0]
        assert (node == right, parsed, file.read_bytes()) == (True, ["simple.aspen"], content), damage[:40]


def test_a_folder_that_takes_no_files_is_done_without(
    folder: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "cache_folder", lambda: str(folder / "absent" / "folder"))
    for _ in range(2):
        read(SIMPLE)
    monkeypatch.setattr(trees, "cache_folder", lambda: None)
    read(SIMPLE)
    assert parsed == ["simple.aspen"] * 3
    assert list(folder.iterdir()) == []
