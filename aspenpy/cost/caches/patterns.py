"""Patterns: how an access touches its data, as the trait of its requirement says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, product

from aspenpy.cost.caches.domain import StridedLoop
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Affine(Record):
    """A walk: a word in each pass of the loops of a nest, or several, at each of `offsets` bytes from there. The loops
    are those that the model writes (`has_own_loops`), or of a stream its sweep and how often that is repeated."""

    nest: AccessNest
    has_own_loops: bool
    offsets: tuple[Expr, ...] = ()

    @property
    def times(self) -> int:
        """Words at each place."""
        return max(1, len(self.offsets))


class Stencil(Record):
    """Sweeps over `extents` points of a grid, the fastest index first, each point with its neighbours up to `radius`
    away, along the axes (`star`) or in a box; a star may leave out its middle (`hollow`). The grid has a rim of
    `radius` points around those. `around` are the loops that sweep it again; `pages` pages lie before it."""

    extents: tuple[Expr, ...]
    radius: int
    star: bool
    word: Expr
    hollow: bool = False
    around: tuple[StridedLoop, ...] = ()
    pages: Expr | None = None

    @property
    def trips(self) -> list[Expr]:
        """The trips of all loops, from the innermost outwards."""
        return [*self.extents, *(loop.trips for loop in self.around)]

    @property
    def points(self) -> int:
        return self.streams(len(self.extents)) - self.hollow

    def streams(self, axes: int) -> int:
        """Points, rows or layers that the stencil touches at once across its first `axes` axes."""
        return 2 * axes * self.radius + 1 if self.star else int((2 * self.radius + 1) ** axes)

    def part(self, share: Expr) -> Stencil:
        """The pattern of that share of the layers along the slowest axis."""
        *within, slowest = self.extents
        return self.replace(extents=(*within, slowest * share))

    @property
    def nest(self) -> AccessNest:
        """The sweeps over the grid, rim included."""
        loops, stride = [], self.word
        for extent in self.extents:
            trips = extent + 2 * self.radius
            loops.append(StridedLoop(stride, trips))
            stride = stride * trips
        return AccessNest(self.word, (*loops, *self.around), runs=self._runs(loops), pages=self.pages)

    def lines(self, line: Expr) -> Expr:
        """Different lines that a sweep touches. A star in three dimensions leaves out the rows along the edges of its
        box, which are in the rim by two axes."""
        lines = self.nest.lines(len(self.nest.loops), line)
        if not self.star or len(self.extents) < 3:
            return lines
        row = self.nest.loops[1].stride / line
        return graph.apply("max", 0, lines - (2 * self.radius) ** 2 * row)

    @property
    def shifts(self) -> list[tuple[int, ...]]:
        """Steps along each axis, the fastest first, to each point that is touched, in the order of their places."""
        reach = range(-self.radius, self.radius + 1)
        boxes = (shift[::-1] for shift in product(reach, repeat=len(self.extents)))
        stars = (shift for shift in boxes if not self.star or sum(part != 0 for part in shift) <= 1)
        return [shift for shift in stars if any(shift) or not self.hollow]

    @property
    def rows(self) -> tuple[ContiguousWords, ...]:
        """The points in each row, as runs."""
        return self._rows(self.nest.loops)

    def _rows(self, loops: Sequence[StridedLoop]) -> tuple[ContiguousWords, ...]:
        strides, words = [loop.stride for loop in loops], list[ContiguousWords]()
        for _, shifts in groupby(self.shifts, key=lambda shift: shift[1:]):
            ends = list(shifts)
            place = graph.add(*(stride * part for stride, part in zip(strides, ends[0], strict=False)))
            length = self.word * (ends[-1][0] - ends[0][0] + 1)
            words.append(ContiguousWords(place, length, tuple(map(graph.number, ends[0]))))
        return tuple(words)

    def _runs(self, loops: Sequence[StridedLoop]) -> tuple[tuple[Expr, Expr], ...]:
        """Offsets of each row's points from the begin of the grid, and their bytes."""
        rim = self.radius * graph.add(*(loop.stride for loop in loops))
        return tuple((run.place + rim, run.bytes) for run in self._rows(loops))

    @property
    def as_offsets(self) -> Offsets:
        """The same as offsets from its middle."""
        strides = [loop.stride for loop in self.nest.loops]
        extents = zip(strides, self.extents, strict=False)
        walk = AccessNest(self.word, (*(StridedLoop(*pair) for pair in extents), *self.around), pages=self.pages)
        rim = self.radius * graph.add(*strides[: len(self.extents)])
        return Offsets(walk, (), self.rows, self.nest, rim)

    @property
    def points_nest(self) -> AccessNest:
        """The sweeps with a loop along each axis over the points around each, as those of a box."""
        moves = [(rows.stride, extent) for rows, extent in zip(self.nest.loops, self.extents, strict=False)]
        thick = graph.number(2 * self.radius + 1)
        points = [StridedLoop(stride, thick) for stride, _ in moves]
        return AccessNest(self.word, (*points, *(StridedLoop(*move) for move in moves), *self.around))


class ContiguousWords(Record):
    """Words side by side, `place` bytes from an access with offsets, which reaches them in `steps` of its loops."""

    place: Expr
    bytes: Expr
    steps: tuple[Expr, ...]


class Offsets(Record):
    """A walk that touches several words in each pass, at `offsets` bytes from its place. Offsets side by side are one
    of `runs`, which are in the reverse of the order in which they reach a line. `nest` are loops over all that is
    touched, which begins `rim` bytes before the first place of the walk."""

    walk: AccessNest
    offsets: tuple[Expr, ...]
    runs: tuple[ContiguousWords, ...]
    nest: AccessNest
    rim: Expr

    @property
    def sweep(self) -> Expr:
        """The number of accesses of one sweep over the data; the loops outside of those that move repeat it."""
        times = len(self.offsets)
        return graph.mul(times, *(loop.trips for loop in self.walk.loops[: self.walk.outermost]))

    def part(self, share: Expr) -> Offsets:
        """The pattern of that share of the passes of the outermost loop that moves."""
        if share is graph.ONE:
            return self
        depth = self.walk.outermost - 1
        loops = (self.walk.loops[:depth], self.walk.loops[depth], self.walk.loops[depth + 1 :])
        trips = loops[1].trips * share
        around = self.nest.loops[depth]
        rows = around.replace(trips=around.trips - loops[1].trips + trips)
        walk = (*loops[0], loops[1].replace(trips=trips), *loops[2])
        nest = (*self.nest.loops[:depth], rows, *self.nest.loops[depth + 1 :])
        return self.replace(walk=self.walk.replace(loops=walk), nest=self.nest.replace(loops=nest))


class Scattered(Record):
    """Accesses to random words of a table of `table` bytes, each word as likely as any other."""

    table: Expr


class Distances(Record):
    """The reuse distances of all accesses, in `unit`, each with its share of them. First touches are the share `first`
    and each line of `structure` bytes once."""

    distances: tuple[Expr, ...]
    shares: tuple[Expr, ...]
    unit: str
    first: Expr = graph.ZERO
    structure: Expr = graph.ZERO


Pattern = Affine | Stencil | Offsets | Scattered | Distances
