"""Counting: how much of each resource a kernel asks for, by kernel and in all, and at which value of a parameter it
asks for a given amount. No machine is needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.counted_elsewhere import warn_of_other_sizes
from aspenpy.answers.data_warnings import warn_of_negative_sizes
from aspenpy.answers.evaluation import amount_of
from aspenpy.answers.inverse import Leap, RootSearch, Solution
from aspenpy.answers.scope import Scope, Value, as_float, scope_of
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.lower import Lowering
from aspenpy.language.parser import parse_expression
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import (
    Amounts,
    Calls,
    Leaf,
    ResourceTotal,
    Total,
    Totals,
    blocks_in,
    callees_first,
    of_kind,
    run_totals,
)
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import range_of_symbol
from aspenpy.record import Record
from aspenpy.tables.numbers import format_count
from aspenpy.tables.result import Result

WIDEST = (1, 10**18)  # where a parameter without a range is searched


class KernelCount(Record):
    """Amounts that one kernel asks for over the run, by resource: with all it calls, and in its own blocks."""

    name: str
    calls: Value
    inclusive: dict[str, Value]
    exclusive: dict[str, Value]


class Inverse(Record):
    """The values of a parameter, between `low` and `high`, at which a kernel asks for `target` of a resource.

    `leaps` are the places where the amount steps over the target without meeting it; `declared` says whether the
    range is the one that the parameter declares.
    """

    parameter: str
    resource: str
    target: Value
    low: Value
    high: Value
    whole: bool
    declared: bool
    solutions: tuple[Solution, ...]
    leaps: tuple[Leap, ...]


class Counts(Result):
    """The resources that a kernel asks for. `traits` counts only requirements that have all of them (`sp` also means:
    not `dp`); a machine gives values to the names that the application leaves to it. Amounts of exact models are
    exact."""

    def __init__(
        self,
        app: Application | Case,
        machine: Machine | None = None,
        *,
        traits: tuple[str, ...] = (),
        **options: Unpack[CaseOptions],
    ) -> None:
        self.case = case = case_of(app, machine, options)
        self.application = case.application
        self.entry = case.application.flow(case.kernel)
        self.traits = traits
        self.seed = case.seed
        self.totals = run_totals(_ByKernel(traits), self.entry)
        self.scope = scope_of(case.application, case.machine, self.entry, case.set, list(self.totals.values()))

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the model, data of a size below zero, and counts of runs at other sizes."""
        scope = self.scope
        negative = warn_of_negative_sizes(self.application.data.values(), scope.definitions, scope.origins, self.seed)
        elsewhere = warn_of_other_sizes(self.case, scope, lambda: scope.used_parameters(list(self.totals.values())))
        return (*self.application.warnings, *negative, *elsewhere)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The resources that some kernel of the run asks for, whatever its traits, in the order written."""
        asked = {
            item.resource
            for kernel in callees_first(self.entry)
            for block in blocks_in(kernel.body)
            for item in block.requirements
        }
        return tuple(name for name in self.application.resources if name in asked)

    @cached_property
    def amounts(self) -> dict[str, Value]:
        """The amount of each resource, in its unit, and of `bytes`."""
        return self._amounts(ResourceTotal)

    @cached_property
    def kernels(self) -> tuple[KernelCount, ...]:
        """The kernels, the entry first, in the order in which they call each other."""
        uses = []
        for kernel in reversed(callees_first(self.entry)):
            name = kernel.name
            own, within = self._amounts(_Own, name), self._amounts(_Within, name)
            if kernel is self.entry:
                uses.append(KernelCount(name, 1, self.amounts, own))
            else:
                uses.append(KernelCount(name, self._values.get(Calls(name), 0), within, own))
        return tuple(uses)

    def _amounts(self, kind: type[Total], *of: str) -> dict[str, Value]:
        return _add_bytes({name: self._values.get(kind(*of, name), 0) for name in self.resources})

    @cached_property
    def _values(self) -> dict[Any, Value]:
        values = self.scope.values(list(self.totals.values()), self.seed)
        return dict(zip(self.totals, values, strict=True))

    def require_floats(self) -> None:
        """Raises AspenError at the first requirement of a resource whose exact amount is beyond floating point."""
        spans: dict[str, Span | None] = {}
        for kernel in callees_first(self.entry):
            for block in blocks_in(kernel.body):
                for item in block.requirements:
                    spans.setdefault(item.resource, item.span)
        for name, value in self.amounts.items():
            as_float(value, f"the amount of `{name}`", spans.get(name, self.entry.name_span))  # for its error alone

    def expression(self, resource: str) -> Expr:
        """The amount of a resource, or of `bytes`, in the symbols of the model."""
        zeros = dict.fromkeys(self.application.resources, graph.ZERO)
        asked = {key.resource: worth for key, worth in of_kind(ResourceTotal, self.totals).items()}
        return amount_of(zeros | asked, resource)

    def number(self, text: str, name: str) -> Value:
        """The value of an expression in the application's names; `name` says in reports what it was given for."""
        origins = self.scope.origins
        expr = Lowering(self.application.resolve, origins)(parse_expression(text, f"<{name}>"))
        value: Value = self.scope.values([expr], self.seed)[0]
        return value

    # -- the inverse -----------------------------------------------------------------------------

    def solve(
        self,
        parameter: str,
        target: Value,
        resource: str = "flops",
        *,
        whole: bool = False,
        within: tuple[Value, Value] | None = None,
    ) -> Inverse:
        """All values of the parameter at which the kernel asks for the target: in `within`, else in the range that the
        parameter declares. With `whole`, whole values only, by exact arithmetic. Raises AspenError where the target
        is out of reach."""
        symbol = self.scope.symbol(parameter)
        expr = self.scope.formulas([self.expression(resource)], [parameter])[0]
        place = self._place(symbol)
        if symbol not in graph.free_symbols(expr):
            fail("no-effect", f"the {resource} of `{self.entry.name}` do not depend on `{parameter}`", place)
        declared = self._declared_range(symbol)
        low, high = within or declared or WIDEST
        if whole:
            low, high = math.ceil(low), math.floor(high)
        if low > high:
            fail("empty-range", f"there is no value to try between {format_count(low)} and {format_count(high)}", place)

        def value(x: Value) -> Value:
            with self.scope.locate_failures(f"with `{parameter}` = {format_count(x)}"):
                amount: Value = evaluate(expr, {symbol: x}, self.seed)
            return amount

        roots = RootSearch(expr, symbol, value, target, whole).run(low, high)
        if not roots.solutions and not roots.leaps:
            self._refuse_target(parameter, target, resource, (low, value(low)), (high, value(high)))
        return Inverse(
            parameter,
            resource,
            target,
            low=low,
            high=high,
            whole=whole,
            declared=within is None and declared is not None,
            solutions=roots.solutions,
            leaps=roots.leaps,
        )

    def _declared_range(self, symbol: Expr) -> tuple[Value, Value] | None:
        """The ends of the range that a parameter declares; None where it declares none."""
        ends = range_of_symbol(symbol, self.application.parameters.values())
        if not ends:
            return None
        low, high = self.scope.values(ends, self.seed)
        return low, high

    def _place(self, symbol: Expr) -> Any:
        declared = (item for item in self.application.parameters.values() if item.symbol is symbol)
        return next((item.node.name_span or item.span for item in declared), None)

    def _refuse_target(
        self, parameter: str, target: Value, resource: str, low: tuple[Value, Value], high: tuple[Value, Value]
    ) -> None:
        message = (
            f"no `{parameter}` from {format_count(low[0])} to {format_count(high[0])} makes `{self.entry.name}` "
            f"ask for {format_count(target)} {resource}"
        )
        hint = (
            f"at the ends of that range it asks for {format_count(low[1])} and {format_count(high[1])}; "
            "search another range"
        )
        fail("out-of-reach", message, self._place(self.scope.symbol(parameter)), hint=hint)


class _Own(Total):
    """The amount that a kernel's own blocks ask for."""

    kernel: str
    resource: str


class _Within(Total):
    """The amount that a kernel and all that it calls ask for."""

    kernel: str
    resource: str


class _ByKernel(Leaf):
    """Amounts in all and by kernel, and calls."""

    def __init__(self, traits: tuple[str, ...]) -> None:
        self.counted = Amounts(traits)

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        amounts = self.counted.block(block, kernel)
        return amounts | {_Own(kernel.name, key.resource): worth for key, worth in amounts.items()}

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        name = call.kernel.name
        within = {_Within(name, key.resource): worth for key, worth in of_kind(ResourceTotal, callee).items()}
        return {**callee, **within, Calls(name): graph.ONE}


def _add_bytes(amounts: dict[str, Value]) -> dict[str, Value]:
    """Loads and stores together, where there are any and nobody asks for `bytes` by that name."""
    if "bytes" in amounts or amounts.keys().isdisjoint(("loads", "stores")):
        return amounts
    return {**amounts, "bytes": amounts.get("loads", 0) + amounts.get("stores", 0)}


def intensity(amounts: Mapping[str, Value]) -> Value | None:
    """Operational intensity: flops per byte of memory traffic (Williams et al., CACM 2009); None without either."""
    flops, volume = amounts.get("flops", 0), amounts.get("bytes", 0)
    return float(flops / volume) if flops and volume else None


@one_allowance
def count(
    app: Application | Case, resource: str, *, traits: Sequence[str] = (), **options: Unpack[CaseOptions]
) -> Value:
    """The total amount of a resource that a kernel asks for, in the resource's unit; no machine is needed.

    `traits` counts only requirements that have all of them (`sp` also means: not `dp`). The options are those of
    `Case`; `resource` names a resource, such as `flops`.

    :returns: the amount in the unit of the resource (flop, B, messages in B); a whole number or a fraction where
        the model is exact
    :raises AspenError: for a resource that the kernel does not need, and for names without a value
    """
    case = case_of(app, None, options)
    scope, amounts = amounts_by_resource(case, tuple(traits))
    value: Value = scope.values([amount_of(amounts, resource)], case.seed)[0]
    return value


def amounts_by_resource(case: Case, traits: tuple[str, ...] = ()) -> tuple[Scope, dict[str, Expr]]:
    """The amount of each resource a kernel asks for, as expressions, with the scope that gives them values."""
    app, entry = case.application, case.application.flow(case.kernel)
    amounts = dict.fromkeys(app.resources, graph.ZERO)
    amounts |= {key.resource: worth for key, worth in run_totals(Amounts(traits), entry).items()}
    return scope_of(app, None, entry, case.set, list(amounts.values())), amounts
