"""Case: an application on a machine with all options of its prediction; Run: where analyses without prices begin."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self, TypedDict, Unpack, cast

from aspenpy.answers.scope import DEFAULT_SEED, Scope, Setting, scope_of
from aspenpy.arguments import require_types
from aspenpy.cost.cost import CostTree
from aspenpy.cost.mapper import map_application
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions
from aspenpy.cost.rank_units import domain_parameter
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import callees_first, walk_flow
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record


class PlacementKeywords(TypedDict, total=False):
    """The fields of `PlacementOptions`, and `ranks_on`, as `bind` was called."""

    bind: str | None
    nodes: int | None
    ranks_per_node: int | None
    ranks_per_socket: int | None
    ranks_per_device: int | None
    cores_per_rank: int | None
    distribution: str | None
    threads: str | None
    domains: int | None
    threads_per_core: int | None
    schedule: str | None
    ranks_on: str | None


class CaseOptions(PlacementKeywords, total=False):
    """Keyword options from which a function with an application and a machine makes a `Case`."""

    socket: str | None
    kernel: str
    set: Mapping[str, Setting] | None
    seed: int
    overlap: bool
    placement: PlacementOptions


class Case(Record):
    """One run to predict: `kernel` of an application on a machine.

    `socket` is the kind of socket to run on, the first of the machine if None. `set` gives parameters other values:
    numbers, or text in the language such as `"2*k"`. `seed` is that of random draws. With `overlap`, the branches of
    every `par` run at once. Ranks run where the machine says, unless `placement` says else, whose fields may be given
    one by one: `Case(app, machine, ranks_per_node=4)`. Without a machine a case can be counted and traced, but not
    predicted.
    """

    application: Application
    machine: Machine | None = None
    socket: str | None = None
    kernel: str = "main"
    set: Mapping[str, Setting] = MappingProxyType({})
    seed: int = DEFAULT_SEED
    overlap: bool = False
    placement: PlacementOptions = MACHINES_OWN

    def __init__(
        self,
        application: Application,
        machine: Machine | None = None,
        socket: str | None = None,
        kernel: str = "main",
        set: Mapping[str, Setting] | None = None,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
        placement: PlacementOptions = MACHINES_OWN,
        **places: Unpack[PlacementKeywords],
    ) -> None:
        _require_model(application, Application, "load_application")
        if machine is not None:
            _require_model(machine, Machine, "load_machine")
        options = {"set": set, "kernel": kernel, "socket": socket, "seed": seed, "overlap": overlap}
        require_types("Case", {**options, **places})
        asked = change_placement(placement, places)
        settings = dict(set or {})
        if asked.domains is not None and machine is not None:
            settings[domain_parameter(machine, socket)] = asked.domains
        self._store(application, machine, socket, kernel, settings, seed, overlap, asked)

    def _values(self) -> tuple[Any, ...]:
        """Models are told apart by identity: comparing two takes longer than a prediction."""
        settings = frozenset((name, type(value), _make_hashable(value)) for name, value in self.set.items())
        models = id(self.application), id(self.machine)
        return *models, self.socket, self.kernel, settings, self.seed, self.overlap, self.placement

    def changed(self, **changes: Any) -> Self:
        """The same but for the fields that are named."""
        if self.placement.domains is not None and self.machine is not None and "set" not in changes:
            given = domain_parameter(self.machine, self.socket)
            changes["set"] = {name: value for name, value in self.set.items() if name != given}
        places = {name: changes.pop(name) for name in PLACES if name in changes}
        if places:
            changes["placement"] = change_placement(changes.get("placement", self.placement), places)
        return self.replace(**changes)

    def with_set(self, values: Mapping[str, Setting]) -> Self:
        """The same with more parameters set."""
        return self.changed(set={**self.set, **values})

    @property
    def required_machine(self) -> Machine:
        """The machine; raises AspenError where there is none."""
        if self.machine is None:
            message = f"`{self.application.name}` has no runtime without a machine"
            fail("no-machine", message, self.application.node.name_span, hint="name the machine that it runs on")
        return self.machine

    @property
    def tree(self) -> CostTree:
        """The prices of its blocks. A case is mapped once, whatever is set."""
        machine = self.required_machine
        key = id(self.application), id(machine), self.socket, self.kernel, self.overlap, self.placement
        if key not in _trees:
            if len(_trees) >= MOST_MAPPED:
                _trees.pop(next(iter(_trees)), None)
            _trees[key] = map_application(
                self.application,
                machine,
                socket=self.socket,
                kernel=self.kernel,
                overlap=self.overlap,
                ranks=self.placement,
            )
        return _trees[key]


MOST_MAPPED = 64  # cost trees that are kept for further predictions

_trees: dict[tuple[int, int, str | None, str, bool, PlacementOptions], CostTree] = {}
"""Cost trees by what they depend on. A tree keeps its models alive, so that no other model gets the `id` of one."""

PLACES = frozenset(PlacementKeywords.__annotations__)
"""Keywords of a case that say where ranks run."""


def change_placement(placement: PlacementOptions, changes: Mapping[str, Any]) -> PlacementOptions:
    """The placement with some of its fields changed. Raises AspenError where `bind` has two values."""
    older = {name: value for name, value in changes.items() if name == "ranks_on"}
    named = {name: value for name, value in changes.items() if name != "ranks_on"}
    if older.get("ranks_on") is not None and named.get("bind") not in (None, older["ranks_on"]):
        message = f"a rank occupies `{named['bind']}` or `{older['ranks_on']}`, not both"
        fail("contradicting-placement", message, hint="`ranks_on` is the older name of `bind`")
    if older:
        named["bind"] = older["ranks_on"] or named.get("bind")
    return placement.replace(**named)


def _make_hashable(value: Any) -> object:
    """The value, or its `id` where it has no hash: such a setting is refused later, as no value of a parameter."""
    return value if isinstance(value, Hashable) else id(value)


def _require_model(model: object, kind: type, loader: str) -> None:
    if not isinstance(model, kind):
        if not isinstance(model, str):
            name, article = ("app", "an") if kind is Application else ("machine", "a")
            wanted = f"{article} {kind.__name__.lower()}, as `{loader}` gives"
            raise TypeError(f"`{name}` takes {wanted}, not {type(model).__name__} ({model!r:.60})")
        hint = f"load it first: aspenpy.{loader}({model!r})"
        fail("not-a-model", f"{model!r} is no {kind.__name__.lower()} model", hint=hint)


def case_of(app: Application | Case, machine: Machine | None, options: CaseOptions) -> Case:
    """The case that a function is asked about: one made before, perhaps changed, or an application on a machine."""
    if isinstance(app, Case):
        changes = options if machine is None else {"machine": machine, **options}
        return app.changed(**changes) if changes else app
    return Case(app, machine, **options)


def split_options(
    app: Application | Case, machine: Machine | None, options: Mapping[str, Any]
) -> tuple[Case, dict[str, Any]]:
    """The case of some options, and the options that are not about it."""
    about = {name: value for name, value in options.items() if name in CASE}
    others = {name: value for name, value in options.items() if name not in CASE}
    return case_of(app, machine, cast(CaseOptions, about)), others


CASE = frozenset(CaseOptions.__annotations__)  # the names of a case's options


class ResolvedCase:
    """A kernel of an application with the user's settings; a machine gives values to names left open."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.application = case.application
        self.machine = case.machine
        self.entry = case.application.flow(case.kernel)

    @cached_property
    def scope(self) -> Scope:
        """Meanings of the names of the run."""
        roots = [expr for kernel in callees_first(self.entry) for expr in expressions_in_flow(kernel.body)]
        return scope_of(self.application, self.machine, self.entry, self.case.set, roots)

    def values(self, exprs: Sequence[Expr]) -> list[Any]:
        """The values of expressions in which no counter is left."""
        return self.scope.values(exprs, self.case.seed)

    def formulas(self, exprs: Sequence[Expr]) -> list[Expr]:
        """The expressions with the values of all names put in; counters are left."""
        return self.scope.formulas(exprs)


def expressions_in_flow(node: flow.Flow) -> list[Expr]:
    """The expressions that a flow computes; callees are not entered."""
    return [expr for part in walk_flow(node) for expr in _expressions_of_node(part)]


def _expressions_of_node(node: flow.Flow) -> list[Expr]:
    match node:
        case flow.Block():
            width = [] if node.width is None else [node.width]
            return [node.parallelism, *width, *(requirement.amount for requirement in node.requirements)]
        case flow.Repeat():
            return [node.count]
        case flow.Choice():
            return [condition for condition, _ in node.branches]
        case flow.Expectation():
            return [chance for chance, _ in node.cases]
        case flow.Call():
            return [value for _, value in node.arguments]
        case _:
            return []
