"""How many lines each access has to fetch at one level, and which of its touches of lines find them there."""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.affine import affine
from aspenpy.cost.caches.interference import RARE
from aspenpy.cost.caches.level import POLICIES, Level
from aspenpy.cost.caches.patterns import Affine, Distances, Scattered, Stencil
from aspenpy.cost.caches.stencils import stencil
from aspenpy.cost.caches.tables import random_touches
from aspenpy.cost.caches.touches import Around, Touches, at_least_none
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def touches(access: Access, around: Around, level: Level) -> list[Touches]:
    """All touches of lines of one access, the shortest distance first, first touches included (their distance is what
    `warm` says)."""
    all_touches = _RULES[type(access.pattern)](access, around, level)
    if not access.is_scattered:  # that rule holds for any policy
        all_touches = LAWS[POLICIES[level.policy].law](all_touches, level)
    if access.fresh:  # a page is zeroed in the cache as it is first touched
        return [part.replace(hits=graph.ONE) if part.first else part for part in all_touches]
    return all_touches


def pages_first_touched(access: Access, around: Around, page: Level) -> Expr:
    """Pages of a data structure that an access touches first, with a `page` for a line."""
    parts = _RULES[type(access.pattern)](access, around.first_alone, page)
    return graph.add(*(part.count for part in parts if part.first))


def _distances(access: Access, around: Around, level: Level) -> list[Touches]:
    """SDCM for each distance. Of a data structure that was not swept before, each line is touched first once."""
    pattern = access.pattern
    assert isinstance(pattern, Distances)
    cold = graph.ZERO if access.warm else graph.apply("min", access.accesses, pattern.structure / level.line)
    parts = []
    for distance, share in zip(pattern.distances, pattern.shares, strict=True):
        lines = distance * _lines_a_unit(pattern.unit, access, level)
        count = (access.accesses - cold) * share
        parts.append(Touches(count, level.holds(lines), lines))
    return [*parts, Touches(access.accesses * pattern.first + cold, graph.ZERO, graph.ZERO)]


def _lines_a_unit(unit: str, access: Access, level: Level) -> Expr:
    """Lines that a distance of one covers: of words and bytes side by side, a line holds many (decision D12)."""
    if unit == "line":
        return graph.ONE
    return (access.word if unit == "word" else graph.ONE) / level.line


def _randomly_replaced(found: list[Touches], level: Level) -> list[Touches]:
    """The hits where a random line is replaced: (1 - m/B)^t with t visits between, where the share m of the visits of
    lines misses. First touches fill the cache before they replace anything, and the visits that do so are not among
    them."""
    visits = [part for part in found if not part.near]
    first = graph.add(*(part.count for part in visits if part.first))
    filling = graph.apply("min", first, level.lines)
    count = graph.apply("max", 1, graph.add(*(part.count for part in visits)) - filling)
    again = [part for part in visits if not part.first]
    shares = [part.count / count for part in again]
    between = dict(zip(again, _visits_between([part.distance for part in again], shares), strict=True))
    pairs = [value for part, share in zip(again, shares, strict=True) for value in (between[part], share)]
    misses = graph.apply("random_misses", level.lines, *(pairs or [graph.ZERO, graph.ZERO]))
    stays = 1 - misses / level.lines
    hits = [stays ** between.get(part, part.distance) for part in found]
    return [part.replace(hits=hit * _has_distance(part)) for part, hit in zip(found, hits, strict=True)]


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


def _has_distance(part: Touches) -> Expr:
    """0 for first touches, which nothing came before."""
    return graph.ZERO if part.first else graph.ONE


LAWS: dict[str, Callable[[list[Touches], Level], list[Touches]]] = {
    "lru": lambda found, level: found,
    "random": _randomly_replaced,
}
"""The hits under a replacement policy, from those of the least recently used."""

_RULES: dict[type, Callable[[Access, Around, Level], list[Touches]]] = {
    Affine: affine,
    Stencil: stencil,
    Scattered: random_touches,
    Distances: _distances,
}
