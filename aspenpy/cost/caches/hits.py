"""How many lines each access has to fetch at one level, and which of its touches of lines find them there."""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.affine import affine
from aspenpy.cost.caches.around import Around
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.patterns import Affine, Distances, Scattered, Stencil
from aspenpy.cost.caches.policies import POLICIES, Touches
from aspenpy.cost.caches.stencils import stencil
from aspenpy.cost.caches.tables import random_touches
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def touches(access: Access, around: Around, level: Level) -> list[Touches]:
    """All touches of lines of one access, the shortest distance first, first touches included (their distance is what
    `warm` says)."""
    all_touches = _RULES[type(access.pattern)](access, around, level)
    if not access.is_scattered:  # that rule holds for any policy
        all_touches = [*POLICIES[level.policy].law(all_touches, level.lines)]
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


_RULES: dict[type, Callable[[Access, Around, Level], list[Touches]]] = {
    Affine: affine,
    Stencil: stencil,
    Scattered: random_touches,
    Distances: _distances,
}
