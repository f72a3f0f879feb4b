"""Search: the best configuration on a grid, by going along pairs of components, and by trying all of them.

Prometheus varies components alone and in pairs, and checks what it finds by brute force (section 1 of chapter 4 of
Umar's dissertation, Virginia Tech, 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy

from aspenpy.advice.configuration import Objective
from aspenpy.engine.arrays import Floats
from aspenpy.explore.space import Space

MOST_COMBINATIONS = 20_000
"""Of a grid of which all are tried: less than a second for the applications of the library."""

ALIKE = 1e-12  # objectives this close to each other are equal as far as rounding can tell
MOST_STEPS = 1000  # of a search; each makes the objective less, and there are finitely many combinations

WORTH: dict[Objective, Callable[[Floats], Floats]] = {
    "runtime": lambda values: values[0],
    "energy": lambda values: values[1],
    "edp": lambda values: values[0] * values[1],
    "ed2p": lambda values: values[0] ** 2 * values[1],
}
"""Of rows of runtime and energy."""


class Grid:
    """Levels of the first of some components, given by their places in the order of their weight: as many components as
    have no more combinations than all of which are tried. The value where nothing is varied is a level, too."""

    def __init__(self, space: Space, ranked: Sequence[int], levels: int) -> None:
        self.space = space
        self.chosen: tuple[int, ...] = ()
        self.levels: dict[int, Floats] = {}
        self.size = 1
        for place in ranked:
            item = space.variables[place]
            values = numpy.unique(numpy.append(item.grid(levels), item.base))
            if self.size * len(values) > MOST_COMBINATIONS:
                break
            self.levels[place] = values
            self.chosen = (*self.chosen, place)
            self.size *= len(values)

    def around(self, point: Floats, places: Sequence[int]) -> Floats:
        """A point with all combinations of the levels of some components."""
        grids = numpy.meshgrid(*(self.levels[place] for place in places), indexing="ij") if places else []
        points = numpy.tile(point, (grids[0].size if grids else 1, 1))
        for place, grid in zip(places, grids, strict=True):
            points[:, place] = grid.ravel()
        return points

    @cached_property
    def pairs(self) -> tuple[tuple[int, ...], ...]:
        """The pairs of components that are looked at together; a component that is the only one by itself."""
        return tuple(combinations(self.chosen, 2)) or (self.chosen,)


Found = tuple[Objective, Floats, Floats, float]
"""An objective, the best point of the grid, runtime and energy there, and what the search along pairs came to."""


def best_on_grid(grid: Grid, evaluate: Callable[[Floats], Floats], objectives: Sequence[Objective]) -> Iterator[Found]:
    """The best of all combinations for each objective, beside the best that going along pairs finds."""
    points = grid.around(grid.space.base, grid.chosen)
    values = evaluate(points)
    for objective in objectives:
        place = _least(WORTH[objective](values), values)
        yield objective, points[place], values[:, place], along_pairs(grid, evaluate, objective)


def _least(worth: Floats, values: Floats) -> int:
    """The least; of those that rounding cannot tell apart the one with the least runtime times energy."""
    alike = numpy.flatnonzero(worth <= numpy.nanmin(worth) * (1 + ALIKE))
    return int(alike[numpy.prod(values[:, alike], axis=0).argmin()])


def along_pairs(grid: Grid, evaluate: Callable[[Floats], Floats], objective: Objective) -> float:
    """From where nothing is varied to the best combination of any two components, and on from there until no pair makes
    it better: the objective's value there."""
    point = grid.space.base
    least = float(WORTH[objective](evaluate(point[None, :]))[0])
    for _ in range(MOST_STEPS):
        points = numpy.concatenate([grid.around(point, pair) for pair in grid.pairs])
        worth = WORTH[objective](evaluate(points))
        place = int(numpy.nanargmin(worth))
        if not worth[place] < least:
            break
        point, least = points[place], float(worth[place])
    return least
