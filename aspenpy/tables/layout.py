"""Laying out text: how wide it is, what it may not contain, how cells of a column line up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aspenpy.tables.table import Align

GAP = "  "  # between two columns


def visible(text: str) -> str:
    """Text from a model in one line, without characters that would move the cursor."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text)


def width(text: str) -> int:
    """Columns that a terminal uses for the text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def padded(text: str, columns: int, align: Align) -> str:
    """The text filled up with spaces."""
    space = " " * (columns - width(text))
    return text + space if align == "left" else space + text


def aligned(texts: Sequence[str], align: Align) -> list[str]:
    """The cells of one column, made as wide as each other where units have to line up."""
    if align != "unit":
        return list(texts)
    pairs = [text.rpartition(" ") if " " in text else (text, "", "") for text in texts]
    behind = max((width(unit) for _, _, unit in pairs), default=0)
    return [
        f"{number}{space or ' ' * bool(behind and number)}{padded(unit, behind, 'left')}"
        for number, space, unit in pairs
    ]


MOST_ACROSS = 6  # columns of a grid


def in_columns(entries: Iterable[tuple[str, str]], columns: int) -> list[str]:
    """Pairs of a name and a value in a grid, filled down each column first, within so many characters."""
    pairs = list(entries)
    for across in range(min(MOST_ACROSS, len(pairs)), 0, -1):
        height = -(-len(pairs) // across)
        stacks = [_stack(pairs[start : start + height]) for start in range(0, len(pairs), height)]
        if across == 1 or sum(width(stack[0]) + 2 * len(GAP) for stack in stacks) - 2 * len(GAP) <= columns:
            rows = [[stack[row] for stack in stacks if row < len(stack)] for row in range(height)]
            return [(2 * GAP).join(row).rstrip() for row in rows]
    return []


def _stack(pairs: list[tuple[str, str]]) -> list[str]:
    """One column of a grid: names under each other, values under each other."""
    names = max(width(name) for name, _ in pairs)
    values = max(width(value) for _, value in pairs)
    return [padded(name, names, "left") + GAP + padded(value, values, "left") for name, value in pairs]
