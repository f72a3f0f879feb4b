"""Draw sites: which of a model's random draws a node is.

A draw is told from the others of its kernel by its place among them, not by its place in the text: a model draws the
same numbers after it was laid out anew, commented, or given another kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import nodes
from aspenpy.language.statements import nodes_in
from aspenpy.record import Record

Draw = nodes.Apply | nodes.Sample


def draw_sites(trees: Mapping[str, Any]) -> dict[int, str]:
    """The site of each draw in some trees that have names, by the identity of its node: `main 0`, `main 1`, ..."""
    sites: dict[int, str] = {}
    for name, tree in trees.items():
        draws = [node for node in nodes_in(tree) if _draws(node)]
        sites |= {id(node): f"{name} {number}" for number, node in enumerate(draws)}
    return sites


def site_in_text(node: Draw) -> str:
    """Of a draw in a text of its own, such as a setting: where it stands in it."""
    return str(node.span.start if node.span else 0)


def _draws(node: Record) -> bool:
    if isinstance(node, nodes.Apply):
        return node.function in FUNCTIONS and FUNCTIONS[node.function].random
    return isinstance(node, nodes.Sample)
