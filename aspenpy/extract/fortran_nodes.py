"""The tree of fparser, which names its rules as the standard of Fortran does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class ReaderItem(Protocol):
    """A statement as fparser's reader hands it on: its first and last line, its label, and the name of
    its construct."""

    span: tuple[int, int]
    label: int | None
    name: str | None


class Syntax(Protocol):
    """A rule of the grammar. A child is a node, a word of the source, or None for what the source leaves out; `item` is
    the line of a statement."""

    children: Sequence[Any]
    item: ReaderItem | None


def type_name(node: Syntax | None) -> str:
    """The rule of a node."""
    return type(node).__name__


def list_arguments(node: Syntax | None) -> list[Any]:
    """The items of a list, of which fparser hands on one alone as itself."""
    if node is None:
        return []
    return list(node.children) if type_name(node).endswith("_List") else [node]


def split_keyword(argument: Syntax) -> tuple[str, Any]:
    """The keyword of an argument, empty without one, and its value."""
    if type_name(argument) in ("Actual_Arg_Spec", "Component_Spec"):
        return str(argument.children[0]).lower(), argument.children[1]
    return "", argument
