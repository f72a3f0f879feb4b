"""Evaluation: the cost tree of a case with its totals as numbers, by kernel and by resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.scope import Scope, Setting, as_float
from aspenpy.cost.cost import Bound, CostTree, Inclusive, Served
from aspenpy.cost.noise import seconds_lost
from aspenpy.cost.prices import NOISE, conflict_groups
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_latex
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    RUNTIME,
    Busy,
    Calls,
    Exclusive,
    Leaf,
    ResourceTotal,
    Total,
    Totals,
    add_totals,
    of_kind,
)
from aspenpy.models.machine.model import OWNER, Machine, Property
from aspenpy.models.model import range_warnings
from aspenpy.record import Record
from aspenpy.tables.result import Result

MESSAGES = "messages"
"""The resource that paths offer."""


class OnPath(Total):
    """Seconds of the messages of a kernel that are due to a path, which is called as its component."""

    kernel: str
    path: str


@lru_cache(maxsize=8)
def seconds_on_paths(tree: CostTree) -> dict[OnPath, Expr]:
    """The seconds of each path of a tree, in the symbols of the models; nothing where all messages take one path."""
    if len(tree.residence.where.between_ranks.places) < 2 or not tree.residence.where.between_ranks.by_level:
        return {}
    return of_kind(OnPath, tree.run_totals(_Leaf(tree)))


def component_paths(tree: CostTree) -> dict[str, str]:
    """The paths by name, as paths of components."""
    return {place.component.name: "/".join(place.path) for place, _ in tree.residence.where.between_ranks.places}


class _Leaf(Leaf):
    """Seconds of each exchange of a block by path. Branches of a `par` add, overlapped or not."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        applied = [trait for item in self.tree.blocks[block].requirements for trait in item.traits]
        return add_totals(
            {OnPath(kernel.name, path): seconds} for trait in applied for path, seconds in trait.seconds_by_path.items()
        )


class KernelUse(Record):
    """One kernel over the whole run: how often it ran, seconds in it with and without its callees, its share
    of the runtime (0 to 1, exclusive), and what its own blocks wait for longest: a resource, and the `group` of
    those that cannot overlap with it."""

    name: str
    calls: float
    inclusive: float
    exclusive: float
    share: float
    bound_by: str | None
    group: tuple[str, ...] = ()


class ResourceUse(Record):
    """A resource over the run: its amount, the seconds its component is busy with it, and which component that is."""

    name: str
    amount: float
    time: float
    component: str | None


class Bottleneck(Record):
    """The resource that bounds the run for longest, on which component, for how many seconds, and which share
    of the runtime (0 to 1) that is: with all of its `group`, the resources that cannot overlap with it."""

    resource: str
    component: str | None
    time: float
    share: float
    group: tuple[str, ...] = ()


class ParameterUse(Record):
    """A parameter that the runtime depends on, its value, and whether the user set it."""

    name: str
    value: Any
    overridden: bool
    machine: bool


class Evaluation(Result):
    """The cost tree of a case with the values of its totals, by kernel and by resource; computed when asked for."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.tree: CostTree = case.tree
        tree = self.tree
        roots = list(tree.totals.values())
        self.scope = Scope(
            tree.application,
            tree.machine,
            tree.entry,
            definitions=tree.definitions,
            origins=tree.origins,
            settings=case.set,
            roots=roots,
        )

    @property
    def application(self) -> Application:
        return self.tree.application

    @property
    def machine(self) -> Machine:
        return self.tree.machine

    @property
    def socket(self) -> str | None:
        """The kind of socket it runs on, if the machine has any."""
        return self.tree.socket

    @property
    def stated_cap(self) -> Property | None:
        """The power cap that its socket states, where its power responds: only then does anything wait for it."""
        component = self.machine.root if self.socket is None else self.machine.components[self.socket]
        return component.properties.get("power_cap") if "idle_power" in component.properties else None

    @property
    def kernel(self) -> str:
        """The kernel that was evaluated."""
        return self.tree.entry.name

    @property
    def where(self) -> str:
        """The application and the machine in words."""
        return f"{self.application.name} on {self.machine.name}"

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The user's settings."""
        return self.case.set

    @property
    def seed(self) -> int:
        """Seed of random draws."""
        return self.case.seed

    def __repr__(self) -> str:
        return f"<Prediction {self.where}: {self.runtime:.6g} s>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.case,)

    # -- numbers ---------------------------------------------------------------------------------

    @cached_property
    def runtime(self) -> float:
        """Seconds."""
        return as_float(
            self.scope.values([self.tree.runtime], self.seed)[0], _describe_total(RUNTIME), self.tree.entry.name_span
        )

    @cached_property
    def totals(self) -> dict[Any, float]:
        """The value of every total of the cost tree (see `CostTree.totals` and `kernel_totals` for the keys)."""
        totals = {**self.tree.kernel_totals, **self.tree.totals}
        values = self.scope.values(list(totals.values()), self.seed)
        place = self.tree.entry.name_span
        return {key: as_float(value, _describe_total(key), place) for key, value in zip(totals, values, strict=True)}

    @cached_property
    def kernels(self) -> tuple[KernelUse, ...]:
        """The kernels that ran, the entry first, in the order in which they call each other."""
        uses = []
        for kernel in reversed(self.tree.kernels):
            name = kernel.name
            exclusive = self.totals.get(Exclusive(name), 0.0)
            bound_by, group = self._longest_wait(self.waits.get(name, {}))
            uses.append(
                KernelUse(
                    name,
                    self.totals.get(Calls(name), 0.0),
                    self.totals.get(Inclusive(name), 0.0),
                    exclusive=exclusive,
                    share=exclusive / self.runtime if self.runtime else 0.0,
                    bound_by=bound_by,
                    group=group,
                )
            )
        return tuple(uses)

    @cached_property
    def waits(self) -> dict[str, dict[str, float]]:
        """The seconds in which the blocks of each kernel wait for each resource."""
        waits: dict[str, dict[str, float]] = {}
        for key, time in of_kind(Bound, self.totals).items():
            waits.setdefault(key.kernel, {})[key.resource] = time
        return waits

    @cached_property
    def resources(self) -> dict[str, ResourceUse]:
        """The resources used, by name; data in a memory that is not the first have their own, `memory.resource`."""
        asked: dict[str, float] = {}
        parts = of_kind(Served, self.totals)
        for name, amount in [(key.resource, amount) for key, amount in of_kind(ResourceTotal, self.totals).items()]:
            served = {key.server: part for key, part in parts.items() if key.resource == name}
            asked |= {server: served[server] for server in sorted(served, key=len)} or {name: amount}
        return {
            name: ResourceUse(name, amount, self.totals.get(Busy(name), 0.0), self.component_of(name))
            for name, amount in asked.items()
        }

    @cached_property
    def bottleneck(self) -> Bottleneck | None:
        """The resource that bounds the run for longest; None if the run takes no time."""
        waits: dict[str, float] = {}
        for resource, time in (item for waited in self.waits.values() for item in waited.items()):
            waits[resource] = waits.get(resource, 0.0) + time
        name, group = self._longest_wait(waits)
        if name is None or self.runtime <= 0:
            return None
        time = sum(waits[member] for member in group)
        return Bottleneck(name, self.component_of(name), time, time / self.runtime, group)

    def value_if_known(self, expr: Expr) -> Any:
        """The value of an expression in the scope of the run, None where it has none or differs from call to call."""
        try:
            formula = self.scope.formulas([expr])[0]
            return None if graph.free_symbols(formula) else self.scope.values([formula], self.seed)[0]
        except AspenError:
            return None

    @cached_property
    def lost(self) -> dict[str, float]:
        """Seconds in which ranks wait for the slowest of them, by cause: `imbalance` of their work, `noise`, and the
        `fill` of wavefronts."""
        found = seconds_lost(self.tree)
        values = self.scope.values(list(found.values()), self.seed) if found else ()
        return {cause: float(value) for cause, value in zip(found, values, strict=True)}

    def _longest_wait(self, waits: Mapping[str, float]) -> tuple[str | None, tuple[str, ...]]:
        """The group of resources that bounds for longest, and which of its members does; given seconds by resource."""
        busy = {name: graph.ZERO for name in waits if self.totals.get(Busy(name), 0.0) > 0 or waits[name] > 0}
        groups = [group.resources for group in conflict_groups(busy, self.tree.conflicts)]
        if not any(waits[name] > 0 for name in busy):
            return None, ()
        longest = max(groups, key=lambda group: sum(waits[name] for name in group))
        return max(longest, key=waits.__getitem__), longest

    def component_of(self, resource: str, kernel: str | None = None) -> str | None:
        """The component that serves a resource, as a path; a cache that is waited for is its own. Of messages it is the
        path between ranks that takes longest, over the run or in one kernel."""
        return (self.path_of_messages(kernel) if resource == MESSAGES else None) or self._components.get(resource)

    def path_of_messages(self, kernel: str | None = None) -> str | None:
        """The path between ranks that messages wait for longest; None where they all take one."""
        return self._longest_paths.get(kernel)

    @cached_property
    def _longest_paths(self) -> dict[str | None, str]:
        """The path between ranks that messages wait for longest, by kernel and, under None, over the run; none where
        they all take one path."""
        totals = seconds_on_paths(self.tree)
        values = self.scope.values_if_known(list(totals.values()), self.seed)
        by_kernel: dict[str | None, dict[str, float]] = {}
        for key, seconds in zip(totals, values or (), strict=False):
            for kernel in (key.kernel, None):
                spent = by_kernel.setdefault(kernel, {})
                spent[key.path] = spent.get(key.path, 0.0) + float(seconds)
        paths = component_paths(self.tree)
        return {
            kernel: paths[max(spent, key=spent.__getitem__)]
            for kernel, spent in by_kernel.items()
            if any(spent.values())
        }

    @cached_property
    def _components(self) -> dict[str, str]:
        """The paths of the components that serve the resources of the run, the first where there are several."""
        caches: dict[str, str] = {}
        servers: dict[str, str] = {}
        for block in self.tree.blocks.values():
            for level in block.levels:
                caches.setdefault(level.name, "/".join(level.place.path))
            for cost in block.requirements:
                if cost.offer:
                    servers.setdefault(cost.server, cost.offer.where)
            for name, delay in block.delays.items():
                servers.setdefault(name, "/".join(delay.place.path))
        return servers | caches

    @cached_property
    def parameters(self) -> dict[str, ParameterUse]:
        """The parameters that the runtime depends on, the application's first, and all that the user has set."""
        symbols = dict.fromkeys([*(symbol for symbol in self.used if symbol.owner != NOISE), *self.scope.overridden])
        values = self.scope.values(list(symbols), self.seed)
        uses = [
            ParameterUse(self.scope.display_name(symbol), value, symbol in self.scope.overridden, symbol.owner == OWNER)
            for symbol, value in zip(symbols, values, strict=True)
        ]
        return {parameter.name: parameter for parameter in sorted(uses, key=lambda item: item.machine)}

    @cached_property
    def random(self) -> bool:
        """Whether the runtime depends on random draws, and so on the seed."""
        needed = [self.tree.runtime, *(self.scope.definitions[symbol] for symbol in self.used)]
        return bool(graph.nodes_of_kind("draw", *needed))

    @cached_property
    def used(self) -> list[Expr]:
        """The symbols that the runtime depends on."""
        return self.scope.used_parameters([self.tree.runtime])

    def warn_outside_ranges(self) -> list[Diagnostic]:
        """A warning for each parameter that the runtime depends on and whose value is outside its range."""
        try:
            used = self.used
        except AspenError:
            return []  # a circular definition is an error of its own
        parameters = (*self.application.parameters.values(), *self.machine.parameters)
        needed = (parameter for parameter in parameters if parameter.symbol in used)
        return range_warnings(needed, lambda exprs: self.scope.values(exprs, self.seed))

    # -- formulas --------------------------------------------------------------------------------

    def formula(self, metric: str = "runtime", free: Sequence[str] = ()) -> Expr:
        """The metric as a node of the expression graph in the free parameters; the rest is put in."""
        return self.scope.formulas([self.metric(metric)], free)[0]

    def metric(self, name: str) -> Expr:
        """The total a metric's name stands for: the runtime, the amount of a resource, `bytes`, or an energy."""
        amounts = {key.resource: worth for key, worth in of_kind(ResourceTotal, self.tree.totals).items()}
        if name in ENERGY_UNITS and name not in amounts:
            from aspenpy.answers.energy.totals import energy_metric

            return energy_metric(self.tree, name)
        return self.tree.runtime if name == "runtime" else amount_of(amounts, name)

    def expression(self, metric: str = "runtime", free: Sequence[str] = ()) -> Any:
        """The metric as a SymPy expression in the free parameters, in its base unit."""
        from aspenpy.expr.sympy_view import to_sympy

        return to_sympy(self.formula(metric, free))

    def latex(self, metric: str = "runtime", free: Sequence[str] = ()) -> str:
        """The metric as LaTeX in the free parameters, as `aspenpy expr --latex` writes it."""
        return to_latex(self.formula(metric, free))


ENERGY_UNITS = {"energy": "J", "capped_runtime": "s", "power": "W", "edp": "J*s", "ed2p": "J*s^2"}
"""The metrics of energy and of the runtime under its power cap, with units. A resource of such a name hides one."""


def amount_of(amounts: Mapping[str, Expr], resource: str) -> Expr:
    """The amount of a resource; `bytes` is loads and stores together."""
    if resource in amounts:
        return amounts[resource]
    if resource == "bytes":
        return graph.add(amounts.get("loads", graph.ZERO), amounts.get("stores", graph.ZERO))
    hint = suggest_nearest(resource, [*amounts, "bytes", "runtime"]) or (
        "it asks for " + ", ".join(amounts) if amounts else None
    )
    fail("unknown-resource", f"the kernel requests no `{resource}`", hint=hint)


def _describe_total(key: Total) -> str:
    """A total of the cost tree in words."""
    if key == RUNTIME:
        return "the runtime"
    return f"the {'amount' if isinstance(key, (ResourceTotal, Served)) else 'time'} of `{key[-1]}`"
