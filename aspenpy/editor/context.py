"""Context: what a name would be at a place where none is written yet."""

from __future__ import annotations

from aspenpy.editor.names import RESOURCE, NameReader, words_in
from aspenpy.editor.pieces import pieces
from aspenpy.record import NamedTuple


class Context(NamedTuple):
    """Where a name would stand: what it would be, the block around it, whether in brackets or behind a `=`, in a kernel
    and in a model; the resource that is asked for, and what stands before a dot."""

    kind: str
    block: str
    nested: bool
    behind_equals: bool
    in_kernel: bool
    in_model: bool
    resource: str
    within: str


def context_at(text: str, offset: int) -> Context | None:
    """Where a name that begins at an offset would stand; None in a comment or a text."""
    parts = pieces(text)
    start, whole = next(((piece.start, piece.text) for piece in reversed(parts) if piece.start <= offset), (0, ""))
    reader = NameReader(f"{whole[: offset - start]}{_MARK}")
    reader.read()
    if not reader.words or reader.words[-1].text != _MARK or not reader.names:
        return None
    mark, frame = reader.names[-1], reader.frames[-1]
    before = reader.words[-2].text if len(reader.words) > 1 else ""
    resources = [name.name for name in reader.names[:-1] if name.kind == RESOURCE]
    return Context(
        mark.kind,
        frame.kind,
        frame.kind == "group",
        before == "=" or (frame.header in ("param", "data", "import") and before in _OPERATORS),
        reader.words[0].text == "kernel" and len(reader.frames) > 1,
        any(words and words[0].text == "model" for words in (words_in(piece.text) for piece in parts[:2])),
        resources[-1] if resources else "",
        mark.within,
    )


_MARK = "_mark_"
_OPERATORS = frozenset(("+", "-", "*", "/", "^", ".."))
