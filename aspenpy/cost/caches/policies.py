"""Replacement policies: which touches of lines find them in a cache, under each.

A policy is one row of `POLICIES`: its name, the law of its hits, and who found that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

RARE = graph.number(1e-9)
"""A chance below which what follows from it is not asked."""


class Touches(Record):
    """`count` touches of lines, of which the share `hits` finds its line; `distance` other lines were touched since.
    Those that are `near` go on with a line: they belong to the same visit of it. Those that are `known` are the first
    of their access, and another one has touched the data structure there before; those that are `warm` are the first of
    the block, and the run has touched the data before it."""

    count: Expr
    hits: Expr
    distance: Expr
    near: bool = False
    known: bool = False
    warm: bool = False

    @property
    def first(self) -> bool:
        """Whether nothing came before."""
        return self.hits is graph.ZERO


def but_its_own(lines: Expr) -> Expr:
    """The other lines among those between two touches of one."""
    return at_least_none(lines - 1)


def at_least_none(count: Expr) -> Expr:
    return graph.apply("max", 0, count)


Law = Callable[[Sequence[Touches], Expr], Sequence[Touches]]
"""From touches with the hits of the least recently used, in a cache of so many lines, those of a policy."""


class Policy(Record):
    """A replacement policy: the law of its hits, and where that is from. One that is priced `like` another comes so
    close to it as `closeness` says, which users are told."""

    law: Law
    citation: str
    like: str = ""
    closeness: str = ""


def _replace_least_recent(found: Sequence[Touches], lines: Expr) -> Sequence[Touches]:
    return found


def _replace_at_random(found: Sequence[Touches], lines: Expr) -> list[Touches]:
    """The hits where a random line is replaced: (1 - m/B)^t with t visits between, where the share m of the visits of
    lines misses. First touches fill the cache before they replace anything, and the visits that do so are not among
    them."""
    visits = [part for part in found if not part.near]
    first = graph.add(*(part.count for part in visits if part.first))
    filling = graph.apply("min", first, lines)
    count = graph.apply("max", 1, graph.add(*(part.count for part in visits)) - filling)
    again = [part for part in visits if not part.first]
    shares = [part.count / count for part in again]
    between = dict(zip(again, _visits_between([part.distance for part in again], shares), strict=True))
    pairs = [value for part, share in zip(again, shares, strict=True) for value in (between[part], share)]
    misses = graph.apply("random_misses", lines, *(pairs or [graph.ZERO, graph.ZERO]))
    stays = 1 - misses / lines
    hits = [graph.ZERO if part.first else stays ** between.get(part, part.distance) for part in found]
    return [part.replace(hits=hit) for part, hit in zip(found, hits, strict=True)]


def _visits_between(distances: list[Expr], shares: list[Expr]) -> list[Expr]:
    """The visits between two touches of a line, from the other lines between them (shortest distance first) and the
    share of the visits at each distance.

    Of c lines already met, only a visit at a distance of c or more meets one more: the footprint of t visits grows by
    P(D >= c) each (Xiang, Bao, Ding and Gao, ASPLOS 2013), so that t is the sum of 1 / P(D >= c) over c below D.
    """
    visits, met, further = graph.ZERO, graph.ZERO, graph.ONE
    between = []
    for distance, share in zip(distances, shares, strict=True):
        visits = visits + at_least_none(distance - met) / further
        between.append(visits)
        met = graph.apply("max", met, distance)
        further = graph.apply("max", RARE, further - share)
    return between


POLICIES = {
    "lru": Policy(
        _replace_least_recent, "Hill and Smith, IEEE Transactions on Computers 38(12), 1989; Brehob and Enbody 1999"
    ),
    "plru": Policy(
        _replace_least_recent,
        "Reineke, Grund, Berg and Wilhelm, Real-Time Systems 37, 2007; simulated in tests/caches/test_levels.py",
        like="lru",
        closeness="which it is in sweeps, and comes within some 8 % of elsewhere",
    ),
    "random": Policy(_replace_at_random, "after Beckmann and Sanchez, HPCA 2016"),
}
"""By the word that a machine says; the first is that of a cache that says none."""
