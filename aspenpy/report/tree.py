"""Trees as lines: what stands before each name in the first column of a table; regions of kernels as such trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Tree(Generic[Item]):
    """An item with what hangs below it."""

    def __init__(self, item: Item, branches: list[Tree[Item]]) -> None:
        self.item = item
        self.branches = branches


def lines(root: Tree[Item]) -> Iterator[tuple[str, Item]]:
    """Each item, the root first, with the lines that lead to it."""
    waiting = [("", "", root)]
    while waiting:
        prefix, inner, tree = waiting.pop()
        yield prefix, tree.item
        last = len(tree.branches) - 1
        for position in reversed(range(len(tree.branches))):
            turn, below = ("└── ", "    ") if position == last else ("├── ", "│   ")
            waiting.append((inner + turn, inner + below, tree.branches[position]))


class Region(NamedTuple, Generic[Item]):
    """A name with what belongs to it, if anything does."""

    name: str
    item: Item | None


def in_regions(items: Iterable[tuple[tuple[str, ...], Item]], root: str) -> Tree[Region[Item]]:
    """A tree of regions, each item a leaf in the last region of its path, or that region itself where it has a label
    of its own. Paths begin with the root; neighbours share what their paths have in common."""
    tree: Tree[Region[Item]] = Tree(Region(root, None), [])
    for path, item in items:
        place = tree
        inner = path[1:]
        leaf = inner[-1] if inner and inner[-1].startswith('"') else "block"
        for name in inner[:-1] if leaf != "block" else inner:
            if not place.branches or place.branches[-1].item.name != name or place.branches[-1].item.item is not None:
                place.branches.append(Tree(Region(name, None), []))
            place = place.branches[-1]
        place.branches.append(Tree(Region(leaf, item), []))
    return tree
