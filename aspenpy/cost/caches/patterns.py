"""Patterns: how an access touches its data, as the trait of its requirement says."""

from __future__ import annotations

from aspenpy.cost.caches.loop import Loop
from aspenpy.cost.caches.nest import Nest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Affine(Record):
    """Words at the strides of a nest; `own` where the model wrote the loops itself."""

    nest: Nest
    own: bool


class Stencil(Record):
    """Sweeps over `extents` points of a grid, the fastest index first, each point with its neighbours up to `radius`
    away, along the axes (`star`) or in a box; a star may leave out its middle (`hollow`). The grid has a rim of
    `radius` points around those. `around` are the loops that sweep it again."""

    extents: tuple[Expr, ...]
    radius: int
    star: bool
    word: Expr
    hollow: bool = False
    around: tuple[Loop, ...] = ()

    @property
    def trips(self) -> list[Expr]:
        """Of all its loops, from the innermost outwards."""
        return [*self.extents, *(loop.trips for loop in self.around)]

    @property
    def points(self) -> int:
        return self.streams(len(self.extents)) - self.hollow

    def streams(self, axes: int) -> int:
        """Points, rows or layers that the stencil touches at once, across so many of its axes."""
        return 2 * axes * self.radius + 1 if self.star else int((2 * self.radius + 1) ** axes)

    def part(self, share: Expr) -> Stencil:
        """That share of the layers along the slowest axis."""
        *within, slowest = self.extents
        return self.replace(extents=(*within, slowest * share))

    @property
    def nest(self) -> Nest:
        """The sweeps over the grid, rim included."""
        loops, stride = [], self.word
        for extent in self.extents:
            trips = extent + 2 * self.radius
            loops.append(Loop(stride, trips))
            stride = stride * trips
        return Nest(self.word, (*loops, *self.around))

    @property
    def points_nest(self) -> Nest:
        """The sweeps with a loop along each axis over the points around each, as those of a box."""
        moves = [(rows.stride, extent) for rows, extent in zip(self.nest.loops, self.extents, strict=False)]
        thick = graph.number(2 * self.radius + 1)
        points = [Loop(stride, thick) for stride, _ in moves]
        return Nest(self.word, (*points, *(Loop(*move) for move in moves), *self.around))


class Scattered(Record):
    """Accesses anywhere in a table of so many bytes, each place as likely."""

    table: Expr


class Distances(Record):
    """The reuse distances of all accesses, in `unit`, each with its share of them. First touches are the share `first`
    and each line of `structure` bytes once."""

    distances: tuple[Expr, ...]
    shares: tuple[Expr, ...]
    unit: str
    first: Expr = graph.ZERO
    structure: Expr = graph.ZERO


Pattern = Affine | Stencil | Scattered | Distances
