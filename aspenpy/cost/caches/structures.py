"""The accesses of a block by data structure: those that touch the same lines, and who meets the first touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.interference import Neighbours
from aspenpy.cost.caches.nest import Nest
from aspenpy.cost.caches.patterns import Affine, Scattered, Stencil
from aspenpy.cost.caches.siblings import Cover, find_cover
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Structure(Record):
    """The accesses to one data structure, in groups that touch the same lines at the same time: the first of a group
    meets its misses. The groups that have been everywhere first come first."""

    groups: tuple[tuple[Access, ...], ...]

    @property
    def name(self) -> str | None:
        return self.groups[0][0].requirement.target

    @property
    def nests(self) -> tuple[Nest, ...]:
        return tuple(group[0].nest for group in self.groups if group[0].nest is not None)

    def neighbours(self, number: int, others: Sequence[Structure]) -> Neighbours:
        """What comes between the touches of a group."""
        groups = (*self.groups[:number], *self.groups[number + 1 :])
        siblings = tuple(group[0].nest for group in groups if group[0].nest is not None)
        nests = (structure.nests for structure in others if structure is not self)
        return Neighbours(siblings, tuple(found for found in nests if found))

    def before(self, number: int) -> tuple[Nest, ...]:
        """The nests that have touched the structure before a group does."""
        return tuple(group[0].nest for group in self.groups[:number] if group[0].nest is not None)

    def ahead(self, number: int) -> Cover | None:
        """The one of those that touches, within the fewest loops, all that a group does."""
        own = self.groups[number][0]
        if not isinstance(own.pattern, Affine):
            return None
        earlier = (group[0].pattern for group in self.groups[:number])
        covers = (find_cover(own.pattern.nest, pattern.nest) for pattern in earlier if isinstance(pattern, Affine))
        return min((cover for cover in covers if cover is not None), key=lambda cover: cover.depth, default=None)

    def drawn(self, number: int) -> Expr:
        """The words that were drawn from it beside those of a group."""
        drawn = (group[0] for group in self.groups[:number])
        return graph.add(*(access.accesses for access in drawn if access.is_scattered))


def structures(accesses: Sequence[Access]) -> list[Structure]:
    """The data structures of a block. Accesses that do not name theirs have one of their own."""
    stencils = {access.requirement.target: access for access in accesses if isinstance(access.pattern, Stencil)}
    found: dict[object, dict[object, list[Access]]] = {}
    drawn = Counter[tuple[object, ...]]()
    for access in accesses:
        name, pattern = access.requirement.target, access.pattern
        place: object = access.requirement
        if name is not None and isinstance(pattern, Affine | Stencil) and name in stencils:
            place = stencils[name].pattern  # the point in the middle has just been touched, or a row beside it
        elif name is not None and isinstance(pattern, Affine):
            loops = pattern.nest.loops
            place = tuple((loop.stride, loop.trips, loop.low) if loop.moves else None for loop in loops)
        elif name is not None and isinstance(pattern, Scattered):
            draw = (name, pattern, access.writes)
            place = pattern, drawn[draw]  # a store updates what a load has drawn; two loads draw apart
            drawn[draw] += 1
        found.setdefault(name or access.requirement, {}).setdefault(place, []).append(access)
    return [
        Structure(tuple(sorted(map(_put_leader_first, groups.values()), key=_outermost))) for groups in found.values()
    ]


def _put_leader_first(members: list[Access]) -> tuple[Access, ...]:
    """With the one in front that touches the lines most often."""

    def place(access: Access) -> tuple[bool, int]:
        repeats = 0 if access.nest is None else sum(loop.repeats for loop in access.nest.loops)
        return not isinstance(access.pattern, Stencil), -repeats

    return tuple(sorted(members, key=place))


def _outermost(group: tuple[Access, ...]) -> tuple[int, int]:
    """The loop with which it has been everywhere, and that which it stands in; tables are touched all the time."""
    nest = group[0].nest
    if nest is None:
        return 1000, 0
    return nest.outermost, next((place for place, loop in enumerate(nest.loops) if loop.trips is not graph.ONE), 0)
