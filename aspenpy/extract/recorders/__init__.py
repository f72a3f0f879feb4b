"""Recorders: programs in C that a counted program is linked with, each for a file that it writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent


def write_recorder(sizes: Mapping[str, int], files: Mapping[str, str]) -> str:
    """Text of the recorders of that name, in C, each of which adds lines to its file when a process ends."""
    defined = {**sizes, **{name.upper(): f'"{file}"' for name, file in files.items()}}
    texts = ((FOLDER / f"{name}.c").read_text(encoding="utf-8") for name in files)
    return "".join((*(f"#define {name} {value}\n" for name, value in defined.items()), *texts))
