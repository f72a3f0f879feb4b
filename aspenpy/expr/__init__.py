"""Arithmetic: a graph of shared expressions, their exact values, and their text."""

from typing import Any

from aspenpy.expr import printer  # noqa: F401 - what an expression can do besides being there
from aspenpy.expr.node import CONSTRUCTORS


def _make_sum(*parts: Any) -> Any:
    """A sum over a counter. Closed forms are imported with the first one: few commands have any, and they take 1 ms."""
    from aspenpy.expr.series import closed_sum

    return closed_sum(*parts)


CONSTRUCTORS["sum"] = _make_sum
