"""DesignSpace: what a run takes while the hardware components of a machine go through their ranges.

Step 3 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.3): each component alone and in pairs over
all combinations of their values, with runtime, energy, EDP and ED2P of each.

The best is searched for along pairs of components, and checked by trying all combinations (section 1 of chapter 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import comb

import numpy
from numpy.typing import NDArray

from aspenpy.advice.alternatives import is_alternative, machines_with_alternatives
from aspenpy.advice.configurable import Configurable, make_configurable
from aspenpy.advice.configuration import OBJECTIVES, ComponentRange, NearOptimal, Objective, Outcome, configuration_of
from aspenpy.advice.problem import on_all_places, problem_of
from aspenpy.advice.ranges import EVERY, ranges_of
from aspenpy.advice.significance import LeftOut
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.totals import EnergyTotals, energy_totals
from aspenpy.answers.prediction import predict
from aspenpy.engine.arrays import Floats
from aspenpy.explore.sensitivity import Box, Effect, Effects, boxes, effects_in
from aspenpy.explore.space import Quantity, Space
from aspenpy.explore.variable import Variable
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.tables.result import Result

MOST_COMBINATIONS = 20_000
"""Most points of a grid that is tried in full: less than a second for the applications of the library."""

ALIKE = 1e-12  # objectives this close to each other are equal as far as rounding can tell
MOST_STEPS = 1000  # of a search; each makes the objective less, and there are finitely many combinations

WORTH: dict[Objective, Callable[[Floats], Floats]] = {
    "runtime": lambda values: values[0],
    "energy": lambda values: values[1],
    "edp": lambda values: values[0] * values[1],
    "ed2p": lambda values: values[0] ** 2 * values[1],
}
"""Objectives as functions of rows of runtime and energy."""


class LevelGrid:
    """Levels of the first of some components, given by their places in the order of their weight: as many components as
    have no more combinations than all of which are tried. The value where nothing is varied is a level, too."""

    def __init__(self, space: Space, ranked: Sequence[int], levels: int) -> None:
        self.space = space
        self.chosen: tuple[int, ...] = ()
        self.levels: dict[int, Floats] = {}
        self.size = 1
        for index in ranked:
            item = space.variables[index]
            values = numpy.unique(numpy.append(item.grid(levels), item.base))
            if self.size * len(values) > MOST_COMBINATIONS:
                break
            self.levels[index] = values
            self.chosen = (*self.chosen, index)
            self.size *= len(values)

    def combine_levels(self, point: Floats, indices: Sequence[int]) -> Floats:
        """A point with all combinations of the levels of some components."""
        grids = numpy.meshgrid(*(self.levels[index] for index in indices), indexing="ij") if indices else []
        points = numpy.tile(point, (grids[0].size if grids else 1, 1))
        for index, grid in zip(indices, grids, strict=True):
            points[:, index] = grid.ravel()
        return points

    def index_of(self, points: Floats) -> NDArray[numpy.int64]:
        """The places of points among all combinations of the chosen components."""
        places = numpy.zeros(len(points), dtype=numpy.int64)
        for index in self.chosen:
            places = places * len(self.levels[index]) + numpy.searchsorted(self.levels[index], points[:, index])
        return places

    @cached_property
    def pairs(self) -> tuple[tuple[int, ...], ...]:
        """The pairs of components that are looked at together; a component that is the only one by itself."""
        return tuple(combinations(self.chosen, 2)) or (self.chosen,)


Found = tuple[Objective, Floats, Floats, float]
"""An objective, the best point of the grid, runtime and energy there, and what the search along pairs came to."""


def best_on_grid(
    grid: LevelGrid, evaluate: Callable[[Floats], Floats], objectives: Sequence[Objective]
) -> Iterator[Found]:
    """The best of all combinations for each objective, beside the best that going along pairs finds."""
    points = grid.combine_levels(grid.space.base, grid.chosen)
    values = evaluate(points)
    for objective in objectives:
        index = _index_of_least(WORTH[objective](values), values)
        yield objective, points[index], values[:, index], along_pairs(grid, values, objective)


def _index_of_least(worth: Floats, values: Floats) -> int:
    """The least; of those that rounding cannot tell apart the one with the least runtime times energy."""
    alike = numpy.flatnonzero(worth <= numpy.nanmin(worth) * (1 + ALIKE))
    return int(alike[numpy.prod(values[:, alike], axis=0).argmin()])


def along_pairs(grid: LevelGrid, values: Floats, objective: Objective) -> float:
    """The objective after a search along pairs: from where nothing is varied to the best combination of any two
    components, and on from there until no pair makes it better: the objective's value there. `values` are those of all
    combinations."""
    point = grid.space.base
    everywhere = WORTH[objective](values)
    least = float(everywhere[grid.index_of(point[None, :])][0])
    for _ in range(MOST_STEPS):
        points = numpy.concatenate([grid.combine_levels(point, pair) for pair in grid.pairs])
        worth = everywhere[grid.index_of(points)]
        index = int(numpy.nanargmin(worth))
        if not worth[index] < least:
            break
        point, least = points[index], float(worth[index])
    return least


LEVELS = 10  # values of each component
MOST_CONFIGURATIONS = 100_000
"""Configurations that are looked at, all pairs of components together: some 3 kB each while they are priced."""


class DesignSpace(Result):
    """An application on a machine, over the `wanted` hardware components (see `ranges_of`), each at `levels` values.
    Where the application's number of ranks is free, a rank runs in each place that the machine has for one; `size` are
    the parameters whose product is the size of its problem. A component that the case sets is not varied, unless it is
    `set_too`: then around what it is set to. `left_out` are components that are not varied, since they are not
    significant. Raises AspenError."""

    def __init__(
        self,
        case: Case,
        wanted: Sequence[str] = (),
        system: Iterable[SystemRange] = (),
        *,
        levels: int = LEVELS,
        options: EnergyOptions = DEFAULT,
        size: tuple[str, ...] = (),
        set_too: bool = False,
        left_out: tuple[LeftOut, ...] = (),
    ) -> None:
        self.left_out = left_out
        self.stated, self.problem = case, problem_of(case, size)
        self.machine: Configurable = make_configurable(case.required_machine, case.socket)
        self.levels, self.options, self.wanted = levels, options, tuple(wanted)
        parts = machines_with_alternatives(
            case.required_machine, case.socket, [text for text in wanted if is_alternative(text)]
        )
        cases = [
            on_all_places(case.changed(machine=make_configurable(each, case.socket).machine), self.problem)
            for each in parts.machines
        ]
        predictions = [predict(each) for each in cases]
        self.case, self.prediction = cases[parts.base], predictions[parts.base]
        numbers = [text for text in wanted if not is_alternative(text)]
        ranges = ranges_of(self.machine, tuple(numbers), system) if numbers or not wanted else ()
        _require_apart(parts.ranges, ranges)
        settled = (self._settle_range(item) for item in ranges if set_too or self._is_free(item, wanted))
        self.ranges = (*parts.ranges, *settled)
        if not self.ranges:
            fail("nothing-varies", "no hardware component varies", hint="each is set by --set")
        self.space = Space([_variable_of_parameter(item) for item in self.ranges], predictions)
        _refuse_many(len(self.ranges), levels)

    def _is_free(self, item: ComponentRange, wanted: Sequence[str]) -> bool:
        """Whether its parameter is free. Raises AspenError where one that was asked for is not."""
        if item.sets not in self.case.set:
            return True
        if wanted and tuple(wanted) != EVERY:
            message = f"`{item.component}` is varied, and `{item.sets}` is set to a value"
            fail("bad-variable", message, hint="leave one of the two")
        return False

    def _settle_range(self, item: ComponentRange) -> ComponentRange:
        """The range with the component's value as the case has it, and a name that is the machine's alone."""
        scope = self.prediction.scope
        sets = f"machine:{item.sets}" if item.sets in self.case.application.parameters else item.sets
        worth = item.factor * float(scope.values([scope.symbol(sets)], self.case.seed)[0])
        return item.replace(sets=sets, variable=item.variable.replace(base=worth))

    # -- quantities ------------------------------------------------------------------------------

    @cached_property
    def powerless(self) -> Diagnostic | None:
        """Why there is no energy; None where the machine states power."""
        return self._totals if isinstance(self._totals, Diagnostic) else None

    @cached_property
    def _totals(self) -> dict[int, EnergyTotals] | Diagnostic:
        """Energies of each prediction, by its identity."""
        try:
            return {id(each): energy_totals(each.tree, self.options) for each in self.space.cases}
        except AspenError as error:
            return error.diagnostics[0]

    @cached_property
    def _quantities(self) -> tuple[Quantity, ...]:
        """The runtime and, where there is one, the energy."""
        totals = self._totals
        if isinstance(totals, Diagnostic):
            return (lambda prediction: prediction.tree.runtime,)
        return (
            lambda prediction: totals[id(prediction)].capped_runtime,
            lambda prediction: totals[id(prediction)].energy,
        )

    @cached_property
    def _evaluate(self) -> Callable[[Floats], Floats]:
        """Rows of runtime and energy at points; nan where there is no value."""
        return self.space.evaluator(self._quantities, missing=True)

    @cached_property
    def base(self) -> Outcome:
        """Runtime and energy where nothing varies. Raises AspenError where the run has no value there."""
        return outcome_in_column(self.space.evaluator(self._quantities)(self.space.base[None, :])[:, 0])

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes of each component and each pair; rows of values are runtime and, where there is power, energy."""
        return tuple(boxes(self.space, self._evaluate, steps=self.levels, grid=self.levels))

    @cached_property
    def single_effects(self) -> dict[str, tuple[Effect, ...]]:
        """The effects of each component by itself, by the metric: runtime and, where there is power, energy."""
        tried = boxes(self.space, self._evaluate, pairs=False, steps=self.levels)
        singles = {"runtime": self._effects("runtime", 0, self.base.runtime, tried).singles}
        if self.base.energy is not None:
            singles["energy"] = self._effects("energy", 1, self.base.energy, tried).singles
        return singles

    @property
    def configurations(self) -> int:
        """The number of configurations that were looked at."""
        return sum(len(box.points) for box in self.boxes)

    # -- what it comes to ------------------------------------------------------------------------

    @cached_property
    def runtime_effects(self) -> Effects:
        """Normalised sensitivities (section 4.4.2) of the runtime."""
        return self._effects("runtime", 0, self.base.runtime, self.boxes)

    @cached_property
    def energy_effects(self) -> Effects | None:
        """Sensitivities of the energy; None where the machine states no power."""
        return None if self.base.energy is None else self._effects("energy", 1, self.base.energy, self.boxes)

    def _effects(self, name: str, row: int, base: float, tried: Sequence[Box]) -> Effects:
        found = effects_in(self.space, self._quantities[row], name, base, [(box, row) for box in tried])
        names = {item.sets: item.component for item in self.ranges}

        def rename_parameters(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
            return tuple(
                effect.replace(parameters=tuple(names[name] for name in effect.parameters)) for effect in effects
            )

        return found.replace(singles=rename_parameters(found.singles), pairs=rename_parameters(found.pairs))

    @cached_property
    def grid(self) -> LevelGrid:
        """The components that matter most, as many as can be tried in all combinations."""
        share: dict[str, float] = {item.component: 0.0 for item in self.ranges}
        for effects in (self.runtime_effects, self.energy_effects):
            for effect in effects.singles if effects is not None else ():
                share[effect.parameters[0]] = max(share[effect.parameters[0]], effect.normalised)
        order = sorted(range(len(self.ranges)), key=lambda index: -share[self.ranges[index].component])
        ranked = [index for index in order if share[self.ranges[index].component] > 0]
        return LevelGrid(self.space, ranked, self.levels)

    @cached_property
    def near_optimal(self) -> tuple[NearOptimal, ...]:
        """The best configuration for each objective, of those of time alone where there is no energy."""
        wanted: tuple[Objective, ...] = OBJECTIVES if self.base.energy is not None else ("runtime",)
        return tuple(self._near_optimal(*found) for found in best_on_grid(self.grid, self._evaluate, wanted))

    def _near_optimal(self, objective: Objective, point: Floats, values: Floats, searched: float) -> NearOptimal:
        best = outcome_in_column(values)
        least = best.value_of(objective)
        gap = (searched - least) / least if least else 0.0
        chosen = {self.ranges[index].component: index for index in self.grid.chosen}
        ranges = {item.component: item for item in self.ranges}
        configuration = configuration_of(ranges, {name: float(point[index]) for name, index in chosen.items()})
        return NearOptimal(objective, configuration, best, self.grid.size, gap)


def _refuse_many(components: int, levels: int) -> None:
    """Refuses more values of each component than can be tried in pairs."""

    def configurations(levels: int) -> int:
        return components * levels + comb(components, 2) * levels**2

    if configurations(levels) > MOST_CONFIGURATIONS:
        fewer = next(fewer for fewer in range(levels, 1, -1) if configurations(fewer) <= MOST_CONFIGURATIONS)
        message = (
            f"{components} components with {levels:,} values each are {configurations(levels):,} configurations in "
            f"pairs, and at most {MOST_CONFIGURATIONS:,} are looked at"
        )
        fail("too-many-points", message, hint=f"--levels {fewer} is few enough; --vary names fewer components")


def outcome_in_column(values: Floats) -> Outcome:
    """The outcome in a column of runtime and, where known, energy."""
    return Outcome(float(values[0]), float(values[1]) if len(values) > 1 else None)


def _require_apart(parts: Sequence[ComponentRange], component_ranges: Sequence[ComponentRange]) -> None:
    """Another memory has its own clock, bandwidth, latency and capacity."""
    kinds = {item.component for item in parts}
    others = [item.component for item in component_ranges if item.component.startswith("memory_")]
    if "memory_kind" in kinds and others:
        message = f"`memory_kind` and `{others[0]}` cannot be varied together"
        fail("bad-variable", message, hint="a kind of memory has its own clock, bandwidth, latency and capacity")


def _variable_of_parameter(item: ComponentRange) -> Variable:
    """The variable in the terms of the parameter that it sets."""
    variable = item.variable
    if variable.case:
        return variable
    ends = {name: getattr(variable, name) / item.factor for name in ("low", "high", "base")}
    choices = tuple(value / item.factor for value in variable.choices)
    return variable.replace(name=item.sets, choices=choices, **ends)
