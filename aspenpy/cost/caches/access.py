"""Access: one requirement as caches see it, by the pattern in which it touches its data."""

from __future__ import annotations

from aspenpy.cost.caches.domain import StridedLoop
from aspenpy.cost.caches.nest import AccessNest, product
from aspenpy.cost.caches.patterns import Affine, Offsets, Pattern, Scattered, Stencil
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.record import Record

MOST_UNDER_WAY = graph.number(512)
"""Instructions that a core works on at once: the reorder buffer of a Golden Cove, the longest."""

NARROWEST_UNIT = 32
"""Bytes of the narrowest lines and sectors that machines have."""


class Access(Record):
    """A requirement with its pattern. `word` in bytes, `accesses` words, per parallel instance of the block; `check` is
    1, or fails where the two do not agree. Data that are `warm` were touched before, `since` bytes ago if the access
    says it; of `cold` data no cache holds anything. A `streaming` store goes past the caches. `fresh` data lie in pages
    that the system gives, and zeroes, as they are first touched. All instances touch the lines of a `shared` one. Each
    entry of a table of random accesses lies in `lines_of_entry` lines (`by_lines`). A `grid` has
    loops that lead from the data of one to those of the next; one that `is_all` goes through them."""

    requirement: flow.Requirement
    word: Expr
    accesses: Expr
    pattern: Pattern
    warm: bool
    streaming: bool
    fresh: bool
    shared: bool
    check: Expr
    since: Expr | None = None
    cold: bool = False
    lines_of_entry: Expr = graph.ONE
    grid: tuple[StridedLoop, ...] = ()
    is_all: bool = False

    @property
    def of_instance(self) -> Access:
        """One of a grid, as a cache of its own sees it: its neighbours run elsewhere, or at the same time."""
        return self.replace(cold=True) if any(loop.moves for loop in self.grid) else self

    def of_grid(self, instances: Expr) -> Access:
        """All `instances` of a grid as one."""
        pattern = self.pattern
        if isinstance(pattern, Affine):
            pattern = pattern.replace(nest=pattern.nest.replace(loops=(*pattern.nest.loops, *self.grid)))
        return self.replace(pattern=pattern, accesses=self.accesses * instances, is_all=True)

    def by_lines(self, unit: Expr) -> Access:
        """One that draws from a table with an access for each line, or sector, that an entry lies in: entries of w
        bytes, one behind the other, lie in (w + b - gcd(w, b))/b units of b bytes on average."""
        if not self.is_scattered or self.lines_of_entry is not graph.ONE:
            return self
        lines = self._mean_lines(unit)
        return self.replace(accesses=self.accesses * lines, word=self.word / lines, lines_of_entry=lines)

    def _mean_lines(self, unit: Expr) -> Expr:
        """The mean number of units that an entry lies in; where its bytes are a formula, as if it began with one."""
        word = self.word
        if _is_narrow(word) or word.kind != "number" or not isinstance(word.payload, int):
            return self.lines_of_word(unit)
        common = graph.apply("min", word.payload & -word.payload, unit)  # units are powers of two
        return (word + unit - common) / unit

    def lines_of_word(self, unit: Expr) -> Expr:
        """Number of units of `unit` bytes that a word lies in."""
        return graph.ONE if _is_narrow(self.word) else graph.apply("ceil", self.word / unit)

    @property
    def at_equal_places(self) -> Access:
        """The same with nothing known of where its data structure lies, but for an address that the model gives."""
        pattern = self.pattern
        if isinstance(pattern, Stencil):
            return self.replace(pattern=pattern.replace(pages=None))
        if isinstance(pattern, Affine):
            return self.replace(pattern=pattern.replace(nest=pattern.nest.replace(pages=None)))
        return self

    @property
    def loads_together(self) -> bool:
        """Whether all instances load the same lines, of which a cache that they share holds one copy."""
        return self.shared and not self.writes

    @property
    def nest(self) -> AccessNest | None:
        """The loops of its pattern, where it is one of loops."""
        return self.pattern.nest if isinstance(self.pattern, Affine | Stencil | Offsets) else None

    @property
    def has_own_loops(self) -> bool:
        """Whether the model writes its loops; those of a stream are the loops of its block."""
        return self.nest is not None and (not isinstance(self.pattern, Affine) or self.pattern.has_own_loops)

    @property
    def sweep(self) -> Expr | None:
        """Accesses of one sweep, where the pattern says how many."""
        pattern = self.pattern
        if isinstance(pattern, Stencil):
            return graph.mul(pattern.points, *pattern.extents)
        if isinstance(pattern, Offsets):
            return pattern.sweep
        return pattern.nest.accesses * pattern.times if isinstance(pattern, Affine) and pattern.has_own_loops else None

    @property
    def is_scattered(self) -> bool:
        """Whether nobody can tell which line is next."""
        return isinstance(self.pattern, Scattered)

    @property
    def table(self) -> Expr | None:
        """Bytes of the table whose entries it takes at random; None for other patterns."""
        return self.pattern.table if isinstance(self.pattern, Scattered) else None

    def footprint(self, line: Expr) -> Expr | None:
        """The lines that it touches; None where nobody can tell."""
        if isinstance(self.pattern, Scattered):
            return graph.apply("max", 1, self.pattern.table / line)
        return None if self.nest is None else self.nest.lines(len(self.nest.loops), line)

    @property
    def stride(self) -> Expr | None:
        """Bytes by which it goes on each time; None where nobody can tell, and where it stays."""
        loops = () if self.nest is None else self.nest.loops
        return next((loop.stride for loop in loops if loop.moves), None)

    def stored_in_full(self, line: Expr) -> Expr:
        """The share of its lines that it goes through from end to end before it comes to others: all of one run, and of
        shorter runs of L bytes, which may begin at any word w, (L - b + w) of (L - w + b) bytes in lines of b."""
        if self.nest is None or self.nest.is_triangular:
            return graph.ZERO
        moving = [loop for loop in self.nest.loops if loop.moves]
        if len(moving) == 1 and moving[0].stride is self.word:
            return graph.ONE
        run, goes_on = self.word, graph.TRUE
        for loop in moving:
            goes_on = graph.junction("and", goes_on, graph.compare("<=", loop.stride, run))
            run = graph.if_else(goes_on, loop.stride * (loop.trips - 1) + run, run)
        return graph.apply("max", 0, (run - line + self.word) / (run - self.word + line))

    def lines_not_prefetched(self, page: Expr) -> Expr:
        """The share of the lines that no prefetcher fetches ahead: all of a table's, and all where the innermost loop
        goes on by a page or more each time (Intel's optimization manual 2.5.5.4: prefetchers stay within a page)."""
        if self.is_scattered or self.nest is None:
            return graph.ONE if self.is_scattered else graph.ZERO
        if self.stride is None:
            return graph.ZERO
        return graph.if_else(graph.compare(">=", self.stride, page), graph.ONE, graph.ZERO)

    def short_run(self, page: Expr, line: Expr) -> Expr:
        """Lines of a run that the core sweeps again and again before the next, a page away, as a row of a tile: no
        prefetcher foresees the next, and the core has not begun it; 0 where the runs are others."""
        if self.nest is None:
            return graph.ZERO
        loops = [loop for loop in self.nest.longest if loop.moves or loop.repeats]
        moving = [index for index, loop in enumerate(loops) if loop.moves]
        if moving[:1] != [0] or moving[1:2] in ([], [1]):
            return graph.ZERO
        run, follows = loops[0], loops[moving[1]]
        swept = product(loop.trips for loop in loops[: moving[1]])
        near = graph.compare("<=", run.stride, line)
        far = graph.junction("and", near, graph.compare(">=", follows.stride, page))
        alone = graph.junction("and", far, graph.compare(">=", swept, MOST_UNDER_WAY))
        return graph.if_else(alone, self.nest.run_lines((run,), (follows,), line), graph.ZERO)

    @property
    def writes(self) -> bool:
        return self.requirement.resource == "stores"


def _is_narrow(word: Expr) -> bool:
    """Whether a word, at a multiple of its bytes, lies in one line of any cache."""
    count = word.payload if word.kind == "number" else 0
    return isinstance(count, int) and 0 < count <= NARROWEST_UNIT and NARROWEST_UNIT % count == 0
