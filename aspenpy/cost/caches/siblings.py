"""Accesses to one data structure that touch what another of them has just touched."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import permutations

from aspenpy.cost.caches.domain import COUNTERS, CrookedBound, IterationDomain
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.expr import graph
from aspenpy.expr.expansion import multiply_out
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import Monomial
from aspenpy.record import Record

Indices = dict[tuple[Monomial, Fraction], Expr]
"""The indices of an access, sums of counters, by the stride that those of each have, a number of times some sizes."""

BESIDE = 4
"""Passes by which the loops of an access may begin or end beside those of another that goes the same way, as one to the
next row does. Those on the other side of a diagonal are many apart."""


class Cover(Record):
    """In one pass of the innermost `depth` loops, or in the one before, `nest` touches all that another access does;
    with `to_a_word`, all but the word beside the last, which is on its line unless a line begins there."""

    nest: AccessNest
    depth: int
    to_a_word: bool


@lru_cache(maxsize=4096)
def find_cover(own: AccessNest, other: AccessNest) -> Cover | None:
    """The fewest loops by which another access covers one of the same structure; None where all loops do not."""
    if own.place is not other.place:
        return None
    try:
        for depth in range(len(own.loops)):
            for beside in (False, True):
                if _covers(own, other, depth, beside):
                    return Cover(other, depth, beside)
    except CrookedBound:
        pass
    return None


def _covers(own: AccessNest, other: AccessNest, depth: int, beside: bool) -> bool:
    mine, domain = _indices(own), IterationDomain.of(own.loops)
    theirs, others = _indices(other), IterationDomain.of(other.loops)
    counters = [counter for index in theirs.values() for counter in graph.free_symbols(index) & {*COUNTERS[:depth]}]
    if len(counters) > len({*counters}):  # a diagonal
        return False
    least, most = (domain.ends_of(mine, depth, sign) for sign in (-1, 1))
    first, last = (others.ends_of(theirs, depth, sign) for sign in (-1, 1))

    def within(shift: int) -> bool:
        """Whether the other covers this in the same pass of the loop around (0), or in the one before (-1)."""
        now = {COUNTERS[depth]: COUNTERS[depth] + shift}
        for around in range(depth, len(own.loops)):
            counter, low, high = graph.substitute(others.ends[around], now)
            if graph.ONE in (own.loops[around].trips, other.loops[around].trips) or not (
                own.is_triangular or other.is_triangular
            ):
                continue
            if not (domain.is_nonnegative(counter - low + BESIDE) and domain.is_nonnegative(high - counter + BESIDE)):
                return False
        for key in mine.keys() | theirs.keys():
            low, high = graph.substitute([first.get(key, graph.ZERO), last.get(key, graph.ZERO)], now)
            slack = int(beside and key == ((), own.word.payload))
            below, above = least.get(key, graph.ZERO) - low + slack, high - most.get(key, graph.ZERO) + slack
            if not (domain.is_nonnegative(below) and domain.is_nonnegative(above)):
                return False
        return True

    return within(0) or within(-1)


@lru_cache(maxsize=4096)
def touches_the_same(own: AccessNest, other: AccessNest, depth: int) -> bool:
    """Whether in some pass of the loop `depth` another access touches just what this does, or the word beside it, as
    A[i][j] does A[i][k] for j = k."""
    if not depth:
        return True
    beside = int(other.loops[depth - 1].stride is own.word)
    domain, place = IterationDomain.of(other.loops), COUNTERS[depth - 1]
    _, low, high = domain.ends[depth - 1]
    try:
        return any(
            multiply_out(graph.substitute([other.address], {place: around})[0]).terms == multiply_out(own.address).terms
            and domain.is_nonnegative(around - low + beside)
            and domain.is_nonnegative(high - around + beside)
            for around in COUNTERS[depth : len(own.loops)]
        )
    except CrookedBound:
        return False


@lru_cache(maxsize=4096)
def words_met(own: AccessNest, other: AccessNest, depth: int) -> int | None:
    """Words between the places of two accesses in the same pass of the loop `depth` and in the pass before, as A[k][j]
    does A[k][i] for j = i: 0 or 1; None where it comes no nearer."""
    if own.loops[depth - 1].moves or own.place is not other.place:
        return None
    domain, carried = IterationDomain.of(own.loops), COUNTERS[depth - 1]
    try:
        for inner, (counter, low, high) in enumerate(domain.ends[: depth - 1]):
            if not own.loops[inner].moves:
                continue
            for around in COUNTERS[depth - 1 : len(own.loops)]:
                if (
                    multiply_out(graph.substitute([own.address], {counter: around})[0]).terms
                    != multiply_out(other.address).terms
                ):
                    continue
                ends = [low, high, *graph.substitute([low, high], {carried: carried - 1})]
                for words in range(1 + (own.loops[inner].stride is own.word)):
                    slack = [around - ends[0], ends[1] - around, around - ends[2], ends[3] - around]
                    if all(domain.is_nonnegative(part + words) for part in slack):
                        return words
    except CrookedBound:
        pass
    return None


@lru_cache(maxsize=4096)
def are_apart(own: AccessNest, other: AccessNest, depth: int) -> bool:
    """Whether two accesses are never in the same pass of some loop outside of the innermost `depth`, as those of
    j < i and of j >= i are not."""
    if not (own.is_triangular or other.is_triangular):
        return False
    domain, others = IterationDomain.of(own.loops), IterationDomain.of(other.loops)
    try:
        return any(
            domain.is_nonnegative(counter - high - 1) or domain.is_nonnegative(low - counter - 1)
            for counter, low, high in others.ends[depth:]
            if other.loops[COUNTERS.index(counter)].trips is not graph.ONE
        )
    except CrookedBound:
        return False


@lru_cache(maxsize=4096)
def are_across_diagonal(own: AccessNest, other: AccessNest) -> bool:
    """Whether two accesses to a matrix are on different sides of its diagonal, so that they share no more than that."""
    mine, theirs = _sides(own), _sides(other)
    return any(theirs.get(pair) == -side for pair, side in mine.items())


def _sides(nest: AccessNest) -> dict[tuple[object, object], int]:
    """Signs by pairs of indices: 1 where the first is never less than the second, and -1 where it is never more."""
    domain, sides = IterationDomain.of(nest.loops), dict[tuple[object, object], int]()
    try:
        for (row, mine), (column, theirs) in permutations(_indices(nest).items(), 2):
            above, below = domain.is_nonnegative(mine - theirs), domain.is_nonnegative(theirs - mine)
            if above != below:
                sides[row, column] = 1 if above else -1
    except CrookedBound:
        return {}
    return sides


def _indices(nest: AccessNest) -> Indices:
    parts: Indices = {}
    for monomial, factor in multiply_out(nest.address).terms.items():
        sizes = Monomial(pair for pair in monomial if pair[0] not in COUNTERS)
        (counter,) = (base for base, _ in monomial if base in COUNTERS)
        parts[sizes, factor] = parts.get((sizes, factor), graph.ZERO) + counter
    return parts
