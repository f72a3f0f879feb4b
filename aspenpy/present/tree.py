"""Trees as lines: what stands before each name in the first column of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Tree(Generic[Item]):
    """An item with what hangs below it."""

    def __init__(self, item: Item, branches: list[Tree[Item]]) -> None:
        self.item = item
        self.branches = branches


def drawn(root: Tree[Item]) -> Iterator[tuple[str, Item]]:
    """Each item, the root first, with the lines that lead to it."""
    waiting = [("", "", root)]
    while waiting:
        prefix, inner, tree = waiting.pop()
        yield prefix, tree.item
        last = len(tree.branches) - 1
        for position in reversed(range(len(tree.branches))):
            turn, below = ("└── ", "    ") if position == last else ("├── ", "│   ")
            waiting.append((inner + turn, inner + below, tree.branches[position]))
