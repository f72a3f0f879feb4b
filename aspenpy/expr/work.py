"""Work: the operations that loops without a closed form take of what a command may spend."""

from __future__ import annotations

from collections.abc import Iterable

from aspenpy.allowance import Allowance
from aspenpy.expr.failures import NoOperationsLeft
from aspenpy.expr.node import Expr

OF_A_PASS = 10
"""Operations of a pass beside those of its body: its lane and its counter are looked up, its value is added."""

SLOW = 6
"""Operations that a remainder, a power or a function such as a logarithm counts as."""

_QUICK = frozenset({"max", "min", "abs", "ceil", "floor", "round"})


def pass_operations(body: Iterable[Expr]) -> int:
    """Operations of one pass of a loop whose body computes these nodes."""
    return OF_A_PASS + sum(SLOW if is_slow(node) else 1 for node in body)


def is_slow(node: Expr) -> bool:
    """Whether NumPy computes it element by element instead of several at once."""
    return node.kind in ("power", "draw", "stream", "index") or (node.kind == "apply" and node.payload not in _QUICK)


def charge(allowance: Allowance, operations: float) -> None:
    """Spends operations of the command; raises NoOperationsLeft where it has not so many."""
    if not allowance.spend(operations):
        raise NoOperationsLeft(
            f"the {allowance.operations:,.0f} operations that one command may spend are used up by loops that have to "
            "be added pass by pass"
        )
