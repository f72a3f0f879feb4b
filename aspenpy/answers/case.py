"""Case: an application on a machine, and all that a prediction of it can be changed by."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any, Self, TypedDict, cast

from aspenpy.answers.scope import DEFAULT_SEED, Setting
from aspenpy.arguments import require_types
from aspenpy.cost.cost import CostTree
from aspenpy.cost.mapper import map_application
from aspenpy.cost.ranks import RankOptions
from aspenpy.language.diagnostics import fail
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record


class CaseOptions(TypedDict, total=False):
    """What a function that takes an application and a machine also takes, to make a `Case` of them."""

    socket: str | None
    kernel: str
    set: Mapping[str, Setting] | None
    seed: int
    overlap: bool
    ranks_on: str | None
    ranks_per_node: int | None
    distribution: str | None


class Case(Record):
    """One run to predict: `kernel` of an application on a machine.

    `socket` is the kind of socket to run on, the first of the machine if None. `set` gives parameters other values:
    numbers, or text in the language such as `"2*k"`. `seed` is that of random draws. With `overlap`, the branches of
    every `par` run at once. Ranks live where the machine says, unless `ranks_on` is the type or name of what each of
    them occupies, `ranks_per_node` how many a node takes, or `distribution` how nodes get them: compact, scatter or
    cyclic. Without a machine a case can be counted and traced, but not predicted.
    """

    application: Application
    machine: Machine | None = None
    socket: str | None = None
    kernel: str = "main"
    set: Mapping[str, Setting] = MappingProxyType({})
    seed: int = DEFAULT_SEED
    overlap: bool = False
    ranks_on: str | None = None
    ranks_per_node: int | None = None
    distribution: str | None = None

    def __init__(
        self,
        application: Application,
        machine: Machine | None = None,
        socket: str | None = None,
        kernel: str = "main",
        set: Mapping[str, Setting] | None = None,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
        ranks_on: str | None = None,
        ranks_per_node: int | None = None,
        distribution: str | None = None,
    ) -> None:
        _require_model(application, Application, "load_application")
        if machine is not None:
            _require_model(machine, Machine, "load_machine")
        options = {"set": set, "kernel": kernel, "socket": socket, "seed": seed, "overlap": overlap}
        places = {"ranks_on": ranks_on, "ranks_per_node": ranks_per_node, "distribution": distribution}
        require_types("Case", {**options, **places})
        self._store(
            application, machine, socket, kernel, dict(set or {}), seed, overlap, ranks_on, ranks_per_node, distribution
        )

    def _values(self) -> tuple[Any, ...]:
        """Models are told apart by identity: comparing two takes longer than a prediction."""
        set_ = frozenset((name, type(value), _hashable(value)) for name, value in self.set.items())
        models = id(self.application), id(self.machine)
        return *models, self.socket, self.kernel, set_, self.seed, self.overlap, self.ranks

    def changed(self, **changes: Any) -> Self:
        """The same but for the fields that are named."""
        return self.replace(**changes)

    def with_set(self, values: Mapping[str, Setting]) -> Self:
        """The same with more parameters set."""
        return self.changed(set={**self.set, **values})

    @property
    def ranks(self) -> RankOptions:
        """Where ranks live, as far as the machine is not asked."""
        return RankOptions(self.ranks_on, self.ranks_per_node, self.distribution)

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
        key = id(self.application), id(machine), self.socket, self.kernel, self.overlap, self.ranks
        if key not in _trees:
            if len(_trees) >= MOST_MAPPED:
                _trees.pop(next(iter(_trees)), None)
            _trees[key] = map_application(
                self.application,
                machine,
                socket=self.socket,
                kernel=self.kernel,
                overlap=self.overlap,
                ranks=self.ranks,
            )
        return _trees[key]


MOST_MAPPED = 64  # cost trees that are kept for further predictions

_trees: dict[tuple[int, int, str | None, str, bool, RankOptions], CostTree] = {}
"""A tree keeps its models alive, so that their identities are not given away."""


def _hashable(value: Any) -> object:
    """What is no value of a parameter is refused where that is looked up."""
    return value if isinstance(value, Hashable) else id(value)


def _require_model(model: object, kind: type, loader: str) -> None:
    if not isinstance(model, kind):
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
