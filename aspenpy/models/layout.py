"""Layout: the text of a model with the white space that `aspenpy fmt` gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aspenpy.language.files import Reader
from aspenpy.language.format import format_text
from aspenpy.models.library import source_of

if TYPE_CHECKING:
    from pathlib import Path


def formatted(model: str | Path, *, allow_outside: bool = False) -> str:
    """The text of a model laid out as `aspenpy fmt` does: only white space changes. The arguments are those of
    `load_application`; no file is written.

    :returns: the text, with a newline at its end
    :raises AspenError: for a text with a mistake in its syntax
    """
    reader = Reader(allow_outside=allow_outside)
    return format_text(source_of(model, reader), reader)
