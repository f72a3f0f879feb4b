"""Pictures: files that matplotlib draws, and what may go wrong with them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from aspenpy.language.files import replace_file, require_writable
from aspenpy.shell.failure import CommandError, writing
from aspenpy.tables.drawing import style

SUFFIXES = (".svg", ".png", ".pdf")


def require_drawable(path: str) -> None:
    """Refuses a picture that could not be drawn, before what it shows is worked out."""
    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise CommandError(f"cannot draw `{path}`: the name of a picture ends with {', '.join(SUFFIXES)}")
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise CommandError("a picture needs matplotlib: pip install 'aspenpy[plot]'")
    require_writable(path)


def save(path: str, draw: Callable[[], Any]) -> None:
    """Writes the figure that `draw` makes into a file, in the format that its name ends with."""
    suffix = os.path.splitext(path)[1].lower()
    require_drawable(path)
    with style():  # with no date in it, the same picture is the same file
        figure = draw()
        with writing(path), replace_file(path) as unfinished:
            metadata = {"Date": None} if suffix == ".svg" else None
            figure.savefig(unfinished, dpi=150, format=suffix[1:], metadata=metadata)
