"""Whereabouts: which memories hold a data structure, by the conditions that decide it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aspenpy.answers.placement.memories import HOST, way
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Fork(Record):
    """One place where the condition holds, and another where it does not."""

    condition: Expr
    holds: Whereabouts
    fails: Whereabouts


Whereabouts = int | Fork  # the memories that hold it, a bit each; or a tree of conditions with those at its leaves
State = Mapping[str, Whereabouts]  # where each data structure is
Moves = dict[tuple[int, int], Expr]  # how often data go from one memory to another


def forked(condition: Expr, holds: Whereabouts, fails: Whereabouts) -> Whereabouts:
    """The tree in which no condition is asked twice on a way to a leaf, and none in vain: equal ones are equal."""
    holds, fails = _known(holds, condition, True), _known(fails, condition, False)
    if condition.kind == "boolean":
        return holds if condition is graph.TRUE else fails
    return holds if holds == fails else Fork(condition, holds, fails)


def _known(where: Whereabouts, condition: Expr, truth: bool) -> Whereabouts:
    """The tree where the condition is known to hold, or not to."""
    if not isinstance(where, Fork):
        return where
    if where.condition is condition:
        return _known(where.holds if truth else where.fails, condition, truth)
    holds, fails = _known(where.holds, condition, truth), _known(where.fails, condition, truth)
    return holds if holds == fails else Fork(where.condition, holds, fails)


def touched(where: Whereabouts, memory: int, writes: bool) -> tuple[Whereabouts, Moves]:
    """Where data are after a socket touched them, and the moves. Memories on the way keep copies unless it writes."""
    if isinstance(where, Fork):
        holds, if_so = touched(where.holds, memory, writes)
        fails, if_not = touched(where.fails, memory, writes)
        moves = {
            hop: graph.if_else(where.condition, if_so.get(hop, graph.ZERO), if_not.get(hop, graph.ZERO))
            for hop in dict.fromkeys((*if_so, *if_not))
        }
        return forked(where.condition, holds, fails), moves
    hops = tuple(way(where, memory))
    reached = 1 << memory | (1 << HOST if hops else 0) | where
    return (1 << memory if writes else reached), dict.fromkeys(hops, graph.ONE)


def conditions(where: Whereabouts) -> list[Expr]:
    """What it depends on."""
    if not isinstance(where, Fork):
        return []
    return [where.condition, *conditions(where.holds), *conditions(where.fails)]


def put_in(where: Whereabouts, bindings: Mapping[Expr, Expr]) -> Whereabouts:
    """The tree with the arguments of a call put into its conditions."""
    if not isinstance(where, Fork):
        return where
    condition = graph.substitute([where.condition], bindings)[0]
    return forked(condition, put_in(where.holds, bindings), put_in(where.fails, bindings))


def decided(where: Whereabouts, holds: Callable[[Expr], bool]) -> int:
    """The memories that hold it, given which conditions hold."""
    while isinstance(where, Fork):
        where = where.holds if holds(where.condition) else where.fails
    return where
