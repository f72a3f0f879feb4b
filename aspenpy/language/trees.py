"""Trees: the syntax trees of the library's models, kept in the user's cache folder beside the tables of the grammar.

Parsing is a quarter of the work of a prediction, and the library seldom changes. A tree is kept as plain data, with the
files of the language that made it and the texts that it was made from: where any of them is another, it is made anew.
Once its dimensions agree, that is kept, too: looking at them takes a third of what loading a model does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any
from zlib import crc32

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader, grammar_path
from aspenpy.language.source import Source, Span
from aspenpy.language.tables import cache_folder, read_kept, write_kept
from aspenpy.record import Record, RecordType

SPAN, TUPLE, FRACTION = ":", ",", "/"  # stand where nodes have the name of their kind
KINDS: dict[str, Callable[..., Any]] = {FRACTION: Fraction, TUPLE: lambda *items: items}
KINDS |= {name: kind for name, kind in vars(nodes).items() if isinstance(kind, RecordType)}


def tree_file(source: Source) -> str | None:
    """The file that keeps the tree of a source; None where it is no model of the library, or no folder keeps any."""
    folder = None if source.in_library is None else cache_folder()
    name = f"tree-{crc32(str(source.path).encode()):08x}.{sys.implementation.cache_tag}"
    return None if folder is None else os.path.join(folder, name)


DIMENSION_FILES = (
    ("models", "application", "dimensions.py"),
    ("models", "machine", "load.py"),
    ("models", "machine", "properties.py"),
)
"""The files, beside this folder, that say which dimensions agree."""


@lru_cache(maxsize=1)
def language_files() -> tuple[tuple[str, int, int], ...]:
    """The files that say what a text means, each with its size and the time of its last change."""
    here = os.path.dirname(__file__)
    with os.scandir(here) as entries:
        files = [
            grammar_path(),
            *(os.path.join(here, "..", *path) for path in DIMENSION_FILES),
            *(entry.path for entry in entries if entry.name.endswith(".py")),
        ]
    return tuple((file, status.st_size, status.st_mtime_ns) for file in sorted(files) for status in (os.stat(file),))


def load_tree(file: str, source: Source, reader: Reader) -> Any:
    """The tree that a file keeps of a source, which gets what it includes; None where there is none of these texts."""
    try:
        language, text, included, checked, packed = read_kept(file)
        if language != language_files() or text != source.text:
            return None
        files = [(base, Source(text, *where)) for base, text, *where in included]
        if any(reader.read(str(other.path)).text != other.text for _, other in files):
            return None
        tree = _unpack(packed, source)
        if not isinstance(tree, nodes.Application | nodes.Machine):
            return None
    except (AspenError, AttributeError, KeyError, OSError, TypeError, ValueError):
        return None
    source.included += files
    source.checked = checked is True
    return tree


def save_tree(file: str, source: Source, tree: Record) -> None:
    """Keeps the tree of a source, unless it includes what is not in the library."""
    if all(other.in_library is not None for _, other in source.included):
        files = [
            (base, other.text, other.name, other.path, other.first_line, other.in_library)
            for base, other in source.included
        ]
        write_kept(file, (language_files(), source.text, files, source.checked, _pack(tree)))


def mark_checked(source: Source, tree: Record) -> None:
    """Keeps that the dimensions of a tree agree, where the tree is kept."""
    file = tree_file(source)
    source.checked = True
    if file is not None and os.path.exists(file):
        save_tree(file, source, tree)


def _pack(value: Any) -> Any:
    """Packs a value that is not plain as a list, its kind in front."""
    if isinstance(value, Record):
        return [type(value).__name__, *(_pack(getattr(value, field)) for field in value._fields)]
    if isinstance(value, Span):
        return [SPAN, value.start, value.end]
    if isinstance(value, Fraction):
        return [FRACTION, value.numerator, value.denominator]
    return [TUPLE, *map(_pack, value)] if type(value) is tuple and value else value


def _unpack(packed: list[Any], source: Source) -> Any:
    kind, *fields = packed
    if kind == SPAN:
        start, end = fields
        return tuple.__new__(Span, (source, start, end))
    return KINDS[kind](*[_unpack(field, source) if type(field) is list else field for field in fields])
