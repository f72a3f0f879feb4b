"""Grouped: a cluster for several applications: one configuration for all, or groups of nodes specialised for some.

Section 4.6.2 of Umar's dissertation (Virginia Tech, 2018): a cluster whose nodes are customised for two classes of
applications.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy

from aspenpy.advice.configuration import Budget, Limit, Objective, Outcome, PricedConfiguration
from aspenpy.advice.decide import ROUNDING_MARGIN, ApplicationInput, ChoiceOptions, Choices
from aspenpy.answers.case import Case
from aspenpy.engine.arrays import Floats
from aspenpy.explore.optimise import non_dominated
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST_APPLICATIONS = 6  # there are 203 ways to make groups of six, 877 of seven
ADDED: tuple[Limit, ...] = ("energy", "power", "money")  # over groups
MOST_TOGETHER = 5_000_000  # combinations of groups that are looked at, for one way to make groups


class Workload(Record):
    """An application's case with an input, and the number of its runs."""

    case: Case
    input: ApplicationInput
    runs: float = 1.0

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.case.application.name, self.input.called)))


class NodeGroup(Record):
    """Nodes with one configuration, and the applications, by name, that run on them, one after the other, each with
    what it takes there."""

    choices: dict[str, PricedConfiguration]

    @property
    def nodes(self) -> int:
        return next(iter(self.choices.values())).nodes


class Cluster(Record):
    """Groups of nodes, and the time until the last of them has finished (s) with the energy of all runs (J; None where
    the machine states no power)."""

    groups: tuple[NodeGroup, ...]
    outcome: Outcome


class Grouped(Result):
    """The best cluster of one group, and of up to `groups` groups, for several workloads: with the least objective of
    all runs together. Groups work at the same time, on at most `nodes` nodes in all, and runs in a group one after the
    other. A budget holds for all of it: of groups power and money add up, of all runs energies; the time is that of the
    group that takes longest. Raises AspenError where no cluster keeps to the budget."""

    def __init__(
        self,
        workloads: Sequence[Workload],
        budget: Budget,
        objective: Objective = "runtime",
        groups: int = 2,
        options: ChoiceOptions | None = None,
    ) -> None:
        options = options or ChoiceOptions()
        self.workloads, self.budget, self.objective, self.nodes = tuple(workloads), budget, objective, options.nodes
        if len(workloads) > MOST_APPLICATIONS:
            message = f"{len(workloads)} applications are more than the {MOST_APPLICATIONS} that are grouped"
            fail("too-many-applications", message)
        self.choices = tuple(Choices(item.case.with_set(item.input.settings), options) for item in workloads)
        self._rows = _common(self.choices)
        lines: list[Limit] = [limit for limit in ADDED if limit in budget.limits]
        if objective != "runtime" and "energy" not in lines:
            lines.append("energy")
        self._lines = lines
        self.common: Cluster | None = self._best((tuple(range(len(workloads))),))
        every = [self._best(parts) for parts in _partitions(len(workloads), groups)]
        clusters = [cluster for cluster in every if cluster is not None]
        if not clusters:
            message = f"no cluster of up to {options.nodes:,} nodes stays within the budget"
            fail("budget-not-met", message, hint="`aspenpy advise decide` of one application shows the nearest")
        self.best: Cluster = min(clusters, key=lambda it: (it.outcome.value_of(objective), len(it.groups)))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(drop_repeats([item for each in self.workloads for item in each.case.application.warnings]))

    def _columns_of_group(self, part: tuple[int, ...]) -> Floats:
        """Time, number of nodes and summed metrics of a group's runs, with a column for each configuration that all of
        its applications can have."""
        chosen = [(self.choices[index], self._rows[index], self.workloads[index].runs) for index in part]
        first, rows, _ = chosen[0]
        time = numpy.sum([runs * choices.runtime[rows] for choices, rows, runs in chosen], axis=0)
        lines = [time, _nodes(first)[rows]]
        for limit in self._lines:
            amounts = numpy.array([choices.amounts(limit)[rows] for choices, rows, _ in chosen])
            times = numpy.array([[runs] for *_, runs in chosen])
            lines.append((times * amounts).sum(axis=0) if limit == "energy" else amounts.max(axis=0))
        return numpy.stack(lines)

    def _bounds(self) -> Floats:
        limits = self.budget.limits
        bounds = [limits.get("time", numpy.inf), self.nodes, *(limits.get(limit, numpy.inf) for limit in self._lines)]
        return numpy.array(bounds)[:, None] * (1 + ROUNDING_MARGIN)

    def _best(self, parts: tuple[tuple[int, ...], ...]) -> Cluster | None:
        """The best configurations of groups with these applications; None where none keeps to the budget. Group after
        group only those are kept that no other equals or beats in time, nodes and all that is added up."""
        bounds = self._bounds()
        reached: Floats = numpy.zeros((len(bounds), 1))
        picked: list[tuple[int, ...]] = [()]
        for part in parts:
            columns = self._columns_of_group(part)
            possible = numpy.flatnonzero((columns <= bounds).all(axis=0))
            kept = possible[non_dominated(columns[:, possible])] if len(possible) else possible
            if reached.shape[1] * len(kept) > MOST_TOGETHER:
                message = "groups have more combinations than are looked at together"
                fail("too-many-choices", message, hint="take fewer --levels, --nodes or components")
            together = (reached[:, :, None] + columns[:, None, kept]).reshape(len(reached), -1)
            together[0] = numpy.maximum(reached[0][:, None], columns[0][None, kept]).ravel()
            fit = numpy.flatnonzero((together <= bounds).all(axis=0))
            if not len(fit):
                return None
            places = fit[non_dominated(together[:, fit])]
            picked = [(*picked[index // len(kept)], int(kept[index % len(kept)])) for index in places]
            reached = together[:, places]
        outcomes = [self._outcome(column) for column in reached.T]
        least = min(range(len(outcomes)), key=lambda index: outcomes[index].value_of(self.objective))
        groups = tuple(self._group(part, index) for part, index in zip(parts, picked[least], strict=True))
        return Cluster(groups, outcomes[least])

    def _outcome(self, column: Floats) -> Outcome:
        energy = float(column[2 + self._lines.index("energy")]) if "energy" in self._lines else None
        return Outcome(float(column[0]), energy)

    def _group(self, part: tuple[int, ...], index: int) -> NodeGroup:
        return NodeGroup(
            {self.workloads[one].name: self.choices[one].choice(int(self._rows[one][index])) for one in part}
        )


def _nodes(choices: Choices) -> Floats:
    """The nodes of each configuration; 1 where they are not varied."""
    for index, item in enumerate(choices.space.ranges):
        if item.component == "nodes":
            nodes: Floats = choices.points[:, index] * item.factor
            return nodes
    return numpy.ones(len(choices.points))


def _common(choices: Sequence[Choices]) -> list[list[int]]:
    """Rows of the configurations that all applications can have, by application and in the same order."""
    names = [[item.component for item in each.space.ranges] for each in choices]
    if any(other != names[0] for other in names):
        fail("other-components", "the applications do not have the same hardware components to vary", hint="name them")
    keys = [{tuple(point): row for row, point in enumerate(each.points.tolist())} for each in choices]
    shared = [key for key in keys[0] if all(key in other for other in keys)]
    if not shared:
        fail("other-components", "no configuration suits all applications")
    return [[known[key] for key in shared] for known in keys]


def _partitions(count: int, groups: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All partitions of `count` things into at most `groups` groups."""

    def extend_partition(first: int, parts: tuple[tuple[int, ...], ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
        if first == count:
            yield parts
            return
        for index, part in enumerate(parts):
            yield from extend_partition(first + 1, (*parts[:index], (*part, first), *parts[index + 1 :]))
        if len(parts) < groups:
            yield from extend_partition(first + 1, (*parts, (first,)))

    yield from extend_partition(0, ())
