"""Windows between two touches of a line, set by set: the share of an array's lines that find room."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aspenpy.expr.arithmetic import Number, normalise_number
from aspenpy.expr.cache_laws import require_positive_whole
from aspenpy.expr.cache_walks import Cache, Runs, Walk, join_loops, read_window


def share_kept(room: Number, line: Number, sets: Number, *window: Number) -> Number:
    """The share of an array's lines that are touched again while no more lines are in use in their set than there is
    `room`, counted line by line.

    `window`: the number of loops outside and their trips; for each data structure the number of its walks, and these;
    the first is that of the array. A walk: bytes of a run; the number of loops inside, their strides (bytes) and trips;
    stride and trips of the loop around these, which each touch parts: what is behind it comes in the one pass, what is
    before it in the next; how many bytes further that lies; its strides in the loops outside; the address where
    it begins.

    Some lines stand for all, as Vera, Bermudo, Llosa and Gonzalez (TOPLAS 2004) sample the iterations of loops.
    """
    size, count = (
        require_positive_whole(line, "the size of a cache line"),
        require_positive_whole(sets, "a number of sets"),
    )
    limit, (trips, structures) = math.floor(room), read_window(window)
    first = structures[0][0].place
    structures = [[walk.move_begin(first, size * count) for walk in found] for found in structures]
    walks = [walk for found in structures for walk in found]
    runs = [join_loops(walk.run, (*walk.inner, walk.around), size) for walk in walks]
    if sum(map(min, _most_lines(walks, runs, size), (walk.most_lines_in_set(size * count) for walk in walks))) <= limit:
        return 1
    if len(walks) == len(structures) and sum(part.length // size // count for part in runs if not part.loops) > limit:
        return 0
    reach = max(walk.reach_in_bytes(trips) for walk in walks)
    unit = math.gcd(size, *(stride for walk in walks for stride in walk.strides))
    cache = Cache(size, min(count, reach // size + 2), unit)
    from aspenpy.expr.cache_sets import share_of_visits

    return normalise_number(share_of_visits(limit, trips, structures, cache))


def _most_lines(walks: Sequence[Walk], runs: Sequence[Runs], line: int) -> list[int]:
    """All lines of each walk, at most."""
    return [part.most_lines(line) * (2 if walk.shift else 1) for part, walk in zip(runs, walks, strict=True)]
