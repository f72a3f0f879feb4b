"""Annotations: what an editor shows between the words of a file: values of formulas, times of kernels and blocks."""

from __future__ import annotations

from itertools import pairwise

from aspenpy.editor import names
from aspenpy.editor.hover import full_name
from aspenpy.editor.items import end_of
from aspenpy.editor.meaning import Meaning
from aspenpy.editor.names import names_of, words_in
from aspenpy.editor.pieces import pieces
from aspenpy.editor.project import Place
from aspenpy.record import NamedTuple


class Note(NamedTuple):
    """A text at an offset."""

    offset: int
    text: str


def values(path: str, text: str, meaning: Meaning, start: int, end: int) -> list[Note]:
    """The values of parameters, properties and data that are written as formulas, behind them."""
    notes = []
    for name in names_of(text).names:
        if name.declares and start <= name.start <= end and name.kind in (names.VALUE, names.DATA, names.PROPERTY):
            known = meaning.known.get(full_name(path, name, Place(path, name)))
            if known is not None and known.computed:
                notes.append(Note(end_of(text, name), f" = {known.value}"))
    return notes


def times(text: str, meaning: Meaning) -> list[Note]:
    """What kernels and their blocks take on the chosen machine, above them. Blocks of a kernel that has more or fewer
    than when its times were found out have none."""
    notes = []
    by_kernel = {lens.kernel: lens for lens in meaning.lenses}
    for start, piece in pieces(text):
        words = words_in(piece)
        kernel = next((later for word, later in pairwise(words) if word.text == "kernel"), None)
        lens = by_kernel.get(kernel.text) if kernel is not None else None
        if lens is None or kernel is None:
            continue
        notes.append(Note(start + kernel.start, lens.whole))
        blocks = [word.start + start for word in words if word.kind == "KEYWORD" and word.text == "execute"]
        if len(blocks) == len(lens.blocks):
            notes += map(Note, blocks, lens.blocks)
    return notes
