"""Definitions: symbols that stand for expressions in other symbols, and their substitution in order of dependence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from aspenpy.expr.graph import Expr, array, free_symbols, substitute


class CircularDefinition(Exception):
    """A symbol is defined by itself; `cycle` lists the definitions from the symbol back to itself."""

    def __init__(self, cycle: list[Expr]) -> None:
        super().__init__(cycle)
        self.cycle = cycle

    @property
    def names(self) -> list[str]:
        return [symbol.payload[0] for symbol in self.cycle]


def resolve_definitions(
    roots: Sequence[Expr], definitions: Mapping[Expr, Expr], carry: Callable[[Expr, Expr], None] | None = None
) -> list[Expr]:
    """The roots with every defined symbol replaced by what it stands for, to the end.

    Only definitions that the roots reach are looked at. Raises CircularDefinition.
    """
    resolved: dict[Expr, Expr] = {}
    for symbol, needed in order_definitions(roots, definitions).items():
        bindings = {other: resolved[other] for other in needed}
        resolved[symbol] = substitute([definitions[symbol]], bindings, carry)[0] if bindings else definitions[symbol]
    return substitute(roots, resolved, carry) if resolved else list(roots)


def order_definitions(roots: Sequence[Expr], definitions: Mapping[Expr, Expr]) -> dict[Expr, list[Expr]]:
    """The defined symbols that the roots depend on, each after those that its own definition needs.

    Raises CircularDefinition.
    """
    needs: dict[Expr, list[Expr]] = {}
    pending = sorted((symbol for symbol in free_symbols(array(roots)) if symbol in definitions), key=_symbol_name)
    while pending:
        symbol = pending.pop()
        if symbol not in needs:
            inner = [other for other in free_symbols(definitions[symbol]) if other in definitions]
            needs[symbol] = sorted(inner, key=_symbol_name)  # the order of a set is another in each process
            pending += needs[symbol]
    try:
        return {symbol: needs[symbol] for symbol in TopologicalSorter(needs).static_order()}
    except CycleError as error:
        raise CircularDefinition(_rotate_to_first(error.args[1][-2::-1], definitions)) from None


def _rotate_to_first(cycle: list[Expr], definitions: Mapping[Expr, Expr]) -> list[Expr]:
    """The cycle, beginning and ending with the symbol that is defined first."""
    order = {symbol: place for place, symbol in enumerate(definitions)}
    start = min(range(len(cycle)), key=lambda place: order[cycle[place]])
    return [*cycle[start:], *cycle[:start], cycle[start]]


def _symbol_name(symbol: Expr) -> str:
    return str(symbol.payload)
