"""Decide: for each input of an application the configuration to run or to buy under a budget.

Step 5 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy
from numpy.typing import NDArray

from aspenpy.advice.configurable import make_configurable
from aspenpy.advice.configuration import (
    COMPONENTS,
    UNITS,
    BindingLimit,
    Budget,
    Decision,
    Limit,
    Objective,
    Outcome,
    PricedConfiguration,
    configuration_of,
)
from aspenpy.advice.design_space import ALIKE, DesignSpace
from aspenpy.advice.problem import problem_of
from aspenpy.advice.scalability import MOST_NODES, node_counts
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.metrics import find_metric, summable_properties
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Setting
from aspenpy.cost.paths import paths_of
from aspenpy.engine.arrays import Floats
from aspenpy.explore.optimise import non_dominated
from aspenpy.explore.space import Quantity
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats, fail, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.numbers import count_of
from aspenpy.tables.result import Result

MOST_CHOICES = 200_000
"""Combinations of which all are tried: a few seconds for the applications of the library."""

FEW_CHOICES = 20_000  # up to which every number of nodes is tried, else as many as there are levels

DECIDED = ("nodes", "clock", "cores")  # components, where the user names none
ROUNDING_MARGIN = 1e-9  # part by which rounding may move a sum of doubles; far above their 1e-16, far below any limit

Bools = NDArray[numpy.bool_]


class ChoiceOptions(Record):
    """The hardware components that are `wanted` (nodes, clock and cores, if none; nodes always where there is a
    network), ranges of the system, `levels` of each, the most `nodes`, how energy is counted, the parameters of the
    problem's `size`, and the `price` of a node, None where the machine's own `cost` holds."""

    wanted: tuple[str, ...] = ()
    system: tuple[SystemRange, ...] = ()
    levels: int = 10
    nodes: int = MOST_NODES
    energy: EnergyOptions = DEFAULT
    size: tuple[str, ...] = ()
    price: float | None = None


def _cost_of_run(prediction: Prediction) -> Quantity | None:
    """The cost of a run: hours of nodes that are rented, else the machine's `cost`; None where neither is stated."""
    stated = summable_properties(prediction.machine)
    if "hourly_price" in stated:
        price = find_metric("hourly_price").expr
        return lambda each: graph.div(graph.mul(price(each), each.tree.runtime), SECONDS_OF_AN_HOUR)
    return find_metric("cost").expr if "cost" in stated else None


SECONDS_OF_AN_HOUR = 3600


class Choices:
    """All combinations of the levels of components, a row of `points` each, for one case: runtime (s), energy (J; nan
    where the machine states no power) and cost (nan where it states none). Energy is that of all sockets that have
    work. Combinations without a value are left out."""

    def __init__(self, case: Case, options: ChoiceOptions) -> None:
        energy = options.energy if options.energy.charged != "auto" else options.energy.replace(charged="cores_used")
        wanted = components_to_vary(case, options)
        self.space = DesignSpace(case, wanted, options.system, levels=options.levels, options=energy, size=options.size)
        self.nodes = self._count_stated_nodes()
        self.costs = options.price is not None or _cost_of_run(self.space.prediction) is not None
        self.levels = [self._levels(index, options.levels) for index in range(len(self.space.ranges))]
        self._add_node_counts()
        size = int(numpy.prod([len(values) for values in self.levels]))
        if size > MOST_CHOICES:
            message = f"{size:,} combinations: at most {MOST_CHOICES:,} are tried"
            fail("too-many-choices", message, hint="take fewer --levels, --nodes or components")
        points = numpy.stack([grid.ravel() for grid in numpy.meshgrid(*self.levels, indexing="ij")], axis=1)
        values = self.space.space.evaluator(self._quantities(energy), missing=True)(points)
        has_value = ~numpy.isnan(values[0])
        if not has_value.any():
            self.space.space.evaluator(self._quantities(energy)[:1])(points[:1])
        self.points: Floats = points[has_value]
        self.runtime: Floats = values[0, has_value]
        self.energy: Floats = values[1, has_value]
        self.cost: Floats = values[2, has_value] if options.price is None else options.price * self._node_counts()

    def _node_counts(self) -> Floats:
        """The nodes of each row."""
        for index, item in enumerate(self.space.ranges):
            if item.component == "nodes":
                counts: Floats = self.points[:, index] * item.factor
                return counts
        return numpy.full(len(self.points), float(self.nodes))

    def _count_stated_nodes(self) -> int:
        """The number of nodes where it is not varied; 1 where the machine states none."""
        nodes = self.space.machine.parameter("nodes")
        if nodes is None or nodes.sets not in self.space.case.set:
            return 1
        scope = self.space.prediction.scope
        return round(nodes.factor * float(scope.values([scope.symbol(nodes.sets)], self.space.case.seed)[0]))

    def _levels(self, index: int, levels: int) -> Floats:
        """The values of a component, the one where nothing is varied among them unless values are listed."""
        item = self.space.space.variables[index]
        grid = item.grid(levels)
        return grid if item.kind == "choice" else numpy.unique(numpy.append(grid, item.base))

    def _add_node_counts(self) -> None:
        """All numbers of nodes that are looked at, where that leaves few enough combinations."""
        for index, item in enumerate(self.space.ranges):
            values = self.space.space.variables[index].values if item.component == "nodes" else self.levels[index]
            others = numpy.prod([len(levels) for other, levels in enumerate(self.levels) if other != index])
            if len(values) * others <= FEW_CHOICES:
                self.levels[index] = values

    def _quantities(self, energy: EnergyOptions) -> tuple[Quantity, Quantity, Quantity]:
        prediction = self.space.prediction
        nothing: Quantity = lambda each: each.tree.runtime  # noqa: E731 - a row that is not read
        cost = _cost_of_run(prediction) or nothing
        if self.space.powerless is not None:
            return (nothing, nothing, cost)
        totals = {id(each): energy_totals(each.tree, energy) for each in self.space.space.cases}
        return (lambda each: totals[id(each)].capped_runtime, lambda each: totals[id(each)].energy, cost)

    # -- reading rows ----------------------------------------------------------------------------

    def amounts(self, limit: Limit) -> Floats:
        """Amount of each choice that a limit restricts. Raises AspenError where the machine does not state it."""
        if limit == "time":
            return self.runtime
        if limit == "money":
            if not self.costs:
                root = self.space.prediction.machine.root
                hint = "say what a node costs, in any currency: --price 5000, or in its nodes `property cost [5000]` "
                hint += "or, where they are rented, `property hourly_price [3]`, as `aws_hpc7a` and `aws_p5` have it"
                fail("no-cost", f"a budget of money, and `{root.name}` states no cost", root.name_span, hint=hint)
            return self.cost
        if self.space.powerless is not None:
            raise AspenError(self.space.powerless)
        power: Floats = self.energy / self.runtime
        return self.energy if limit == "energy" else power

    def values_of(self, objective: Objective) -> Floats:
        """The objective of each. Raises AspenError where the machine states no power and it needs it."""
        if objective == "runtime":
            return self.runtime
        energy = self.amounts("energy")
        product: Floats = energy * self.runtime ** {"energy": 0, "edp": 1, "ed2p": 2}[objective]
        return product

    def choice(self, row: int) -> PricedConfiguration:
        """The choice made in a row."""
        ranges = self.space.ranges
        values = {item.component: float(x) for item, x in zip(ranges, self.points[row], strict=True)}
        varied = next((it for it in ranges if it.component == "nodes"), None)
        nodes = self.nodes if varied is None else round(values.pop("nodes") * varied.factor)
        configuration = configuration_of({item.component: item for item in ranges}, values)
        energy = None if self.space.powerless is not None else float(self.energy[row])
        cost = float(self.cost[row]) if self.costs else None
        return PricedConfiguration(nodes, configuration, Outcome(float(self.runtime[row]), energy), cost)

    def find_affordable(self, budget: Budget, but: Iterable[Limit] = ()) -> Bools:
        """Whether each choice keeps to a budget, some of its limits aside."""
        kept: Bools = numpy.ones(len(self.points), dtype=bool)
        for limit, bound in budget.limits.items():
            if limit not in but:
                kept &= self.amounts(limit) <= bound * (1 + ROUNDING_MARGIN)
        return kept

    def best(self, objective: Objective, kept: Bools) -> int:
        """The row with the least objective; of those that rounding cannot tell apart the one with the least energy, or
        runtime where there is none."""
        rows = numpy.flatnonzero(kept)
        worth = self.values_of(objective)[rows]
        alike = rows[worth <= worth.min() * (1 + ALIKE)]
        return int(alike[(self.runtime[alike] * self.energy[alike]).argmin()])

    def front(self, kept: Bools) -> tuple[PricedConfiguration, ...]:
        """Choices that none beats in both runtime and energy, the fastest first."""
        rows = numpy.flatnonzero(kept)
        if self.space.powerless is not None:
            return ()
        indices = non_dominated(numpy.stack([self.runtime[rows], self.energy[rows]]))
        return tuple(self.choice(int(rows[index])) for index in indices)

    # -- what binds ------------------------------------------------------------------------------

    def bindings(self, objective: Objective, budget: Budget, value: float) -> tuple[BindingLimit, ...]:
        """Limits without each of which the objective would be less than it is."""
        worth, limits = self.values_of(objective), []
        for limit, bound in budget.limits.items():
            better = self.find_affordable(budget, [limit]) & (worth < value * (1 - ROUNDING_MARGIN))
            if better.any():
                rows, amounts = numpy.flatnonzero(better), self.amounts(limit)
                following = float(amounts[rows].min())
                there = rows[amounts[rows] <= following]
                limits.append(
                    BindingLimit(
                        limit,
                        bound,
                        float(worth[rows].min()),
                        next_bound=following,
                        next_value=float(worth[there].min()),
                        value=value,
                    )
                )
        return tuple(limits)

    def jointly(self, objective: Objective, budget: Budget, value: float) -> tuple[Limit, ...]:
        """The fewest limits that must all be lifted for the objective to become less; empty where there are none."""
        worth, names = self.values_of(objective), list(budget.limits)
        for count in range(2, len(names) + 1):
            for some in combinations(names, count):
                if (self.find_affordable(budget, some) & (worth < value * (1 - ROUNDING_MARGIN))).any():
                    return some
        return ()

    def explain_unmet(self, budget: Budget) -> tuple[str, int]:
        """Why none keeps to the budget, and the row that exceeds it least: by the smallest part of a limit."""
        limits = budget.limits
        alone = [limit for limit, bound in limits.items() if not self.find_affordable(Budget(**{limit: bound})).any()]
        excess = {limit: self.amounts(limit) / bound for limit, bound in limits.items()}
        row = int(numpy.max([excess[limit] for limit in alone or limits], axis=0).argmin())
        taken = {limit: float(self.amounts(limit)[row]) for limit in limits}
        over = [limit for limit in limits if taken[limit] > limits[limit] * (1 + ROUNDING_MARGIN)]
        excesses = [
            f"the {limit} is {amount_in(limit, taken[limit])}, {amount_in(limit, taken[limit] - limits[limit])} above "
            f"{amount_in(limit, limits[limit])}"
            for limit in over
        ]
        together = "" if alone else "; each of the limits could be met without the others"
        return f"where the excess is least, {' and '.join(excesses)}{together}", row


def amount_in(limit: Limit, value: float) -> str:
    """An amount of a limit with its unit."""
    unit = UNITS[limit].symbol
    return format_quantity(value, unit, 4) if unit else f"{value:,.6g}"


def components_to_vary(case: Case, options: ChoiceOptions) -> list[str]:
    """The components, with nodes where the application can run on several of them."""
    machine = make_configurable(case.required_machine, case.socket)
    stated = {item.component for item in machine.parameters}
    wanted: Sequence[str] = options.wanted or [name for name in DECIDED[1:] if name in stated]
    names = {text.partition("=")[0] for text in wanted}
    nodes = machine.parameter("nodes")
    if nodes is None or "nodes" in names or nodes.sets in case.set or not _joins_nodes(machine.machine, case.socket):
        return list(wanted)
    if problem_of(case, options.size).ranks is None:
        return list(wanted)
    most = options.nodes if nodes.high is None else min(options.nodes, int(nodes.high))
    return [f"nodes={','.join(map(str, node_counts(most)))}", *wanted]


def _joins_nodes(machine: Machine, socket: str | None) -> bool:
    """Whether any path between ranks leaves the node."""
    return any(
        all(outer.type != "node" for outer in (within.component, *within.parents))
        for _, within in paths_of(machine, socket, None).places
    )


class ApplicationInput(Record):
    """Settings of an application, by name, under a label that may be empty."""

    label: str
    settings: Mapping[str, Setting]

    @property
    def words(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.settings.items())

    @property
    def called(self) -> str:
        """The label, else the settings."""
        return self.label or self.words


AS_IT_IS = ApplicationInput("", {})


class Decided(Result):
    """A decision for each input: the combination of nodes and hardware components with the least objective within the
    budget. Where there is none, the decision says so; `require_met` raises AspenError where no input has one."""

    def __init__(
        self,
        case: Case,
        budget: Budget,
        inputs: Sequence[ApplicationInput] = (AS_IT_IS,),
        objective: Objective = "runtime",
        options: ChoiceOptions | None = None,
    ) -> None:
        self.case, self.budget, self.objective = case, budget, objective
        self.choices = tuple(Choices(case.with_set(item.settings), options or ChoiceOptions()) for item in inputs)
        self.decisions = tuple(
            decide_for_input(item, choices, objective, budget)
            for item, choices in zip(inputs, self.choices, strict=True)
        )

    def require_met(self) -> None:
        if all(item.unmet is not None for item in self.decisions):
            fail("budget-not-met", _describe_unmet(self.decisions[0]), hint=_nearest(self.decisions[0]))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the predictions, and of inputs that cannot keep to the budget."""
        said = [item for choices in self.choices for item in choices.space.case.application.warnings]
        unmet = [item for item in self.decisions if item.unmet is not None]
        return tuple(
            drop_repeats(
                [*said, *(warning("budget-not-met", _describe_unmet(it), None, hint=_nearest(it)) for it in unmet)]
            )
        )


def decide_for_input(item: ApplicationInput, choices: Choices, objective: Objective, budget: Budget) -> Decision:
    """The best of the choices for an input."""
    kept = choices.find_affordable(budget)
    if not kept.any():
        reason, row = choices.explain_unmet(budget)
        return Decision(item.label, item.words, objective, choices.choice(row), len(choices.points), unmet=reason)
    row = choices.best(objective, kept)
    value = float(choices.values_of(objective)[row])
    bindings = choices.bindings(objective, budget, value)
    jointly = () if bindings else choices.jointly(objective, budget, value)
    return Decision(
        item.label,
        item.words,
        objective,
        choice=choices.choice(row),
        combinations=len(choices.points),
        bindings=bindings,
        jointly=jointly,
        front=choices.front(kept),
    )


def _describe_unmet(item: Decision) -> str:
    where = f"{item.title}: " if item.title else ""
    return f"{where}no configuration stays within the budget: {item.unmet}"


def _nearest(item: Decision) -> str:
    """The configuration nearest to the budget, in words."""
    values = [
        f"{name} {value if isinstance(value, str) else format_quantity(value, COMPONENTS[name].unit, 4)}"
        for name, value in item.choice.configuration.named.items()
    ]
    return f"that is with {', '.join([count_of(item.choice.nodes, 'node'), *values])}"
