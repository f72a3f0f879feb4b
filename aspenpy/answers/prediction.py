"""Prediction: what an application costs on a machine, by kernel and by resource, with its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.assumptions import DecidingAssumption, deciding_assumptions
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.counted_elsewhere import warn_of_other_sizes
from aspenpy.answers.data_warnings import (
    warn_of_full_memory,
    warn_of_negative_sizes,
    warn_of_reuse_without_pattern,
    warn_of_timeless_blocks,
)
from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.occupancy import Width, instances_of_blocks, warn_of_idle_cores, warn_of_unplaced_blocks
from aspenpy.answers.samples import RuntimeSamples, sample
from aspenpy.cost.prices import FASTEST, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.printer import TooLarge
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, warning
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import OfBlocks, Totals
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.numbers import seconds

if TYPE_CHECKING:
    from aspenpy.answers.ecm import Ecm
    from aspenpy.answers.explanation import Explanation
    from aspenpy.answers.prepared import Prepared


LONGEST_FORMULA = 2000  # characters of LaTeX that a notebook shows; beyond, the value stands alone


class LowerBound(Record):
    """An exchange of a kernel whose time is a lower bound, for a reason: the fastest algorithm, or a cut."""

    kernel: str
    exchange: str
    reason: str
    cost: RequirementCost


class RaisedClock(Record):
    """The parameter that sets the clock of all cores, its value, and the clock that one core alone may have, in Hz."""

    parameter: str
    now: float
    highest: float


class Prediction(Evaluation):
    """The answer to "how long does this kernel take on that machine". Everything is computed when asked for."""

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings: what loading reports of either model, traits that the machine does not know, parameters outside
        their ranges, data of no size or that do not fit, patterns that are missing or do not go with their accesses,
        cores that are idle or that instances take turns on, rates that are assumed and decide, collectives that are
        lower bounds and decide, a power cap that makes the run longer."""
        scope = self.scope
        negative = warn_of_negative_sizes(self.application.data.values(), scope.definitions, scope.origins, self.seed)
        executed = [block for block in self.tree.blocks if block in self._widths]
        return (
            *(self.tree.warnings_of_blocks(executed) if executed else self.tree.warnings),
            *self.warn_outside_ranges(),
            *negative,
            *warn_of_full_memory(self),
            *self._uneven_sweeps,
            *self._assumed_rates,
            *self._assumed_threads,
            *self._deciding_bounds,
            *self.warnings_of_values,
            *self.cap_warnings,
        )

    @property
    def _uneven_sweeps(self) -> list[Diagnostic]:
        accesses = [cost.traffic.access for cost in self.tree.requirements if cost.traffic is not None]
        if not accesses:
            return []
        from aspenpy.answers.uneven_sweeps import warn_of_uneven_sweeps

        return warn_of_uneven_sweeps(self, accesses)

    @property
    def _assumed_rates(self) -> Iterator[Diagnostic]:
        """Warnings of what bounds a kernel by a rate that no machine states, once for each resource."""
        if not any(cost.assumed for cost in self.tree.requirements):
            return
        bounds = {(use.name, use.bound_by) for use in self.kernels if use.exclusive > 0}
        seen = set[str]()
        for kernel, _, cost in self.tree.list_costs():
            need, offer = cost.requirement, cost.offer
            if not cost.assumed or offer is None or (kernel.name, cost.server) not in bounds or need.resource in seen:
                continue
            seen.add(need.resource)
            core = offer.place.component.name
            message = f"`{kernel.name}` is bound by `{need.resource}`, of which `{core}` does not state all: assumed"
            hint = f"it is priced as `{offer.rule}` of the rules for cores by kind and year, rules/assumed_cores.aspen"
            yield warning("assumed-rate", message, need.resource_span or need.span, hint=hint)

    @property
    def _assumed_threads(self) -> Iterator[Diagnostic]:
        """A warning where several hardware threads of a core work, and it does not state what they attain."""
        threads = self.case.placement.threads_per_core or 1
        places = (cost.place for cost in self.tree.requirements if cost.place is not None) if threads > 1 else ()
        cores = {place.component.name: place.component for place in places if place.component.type == "core"}
        for core in cores.values():
            if core.value("smt_gain") is None:
                message = f"{threads} threads of a `{core.name}` attain what one does: it does not state `smt_gain`"
                hint = "so it is where ports or memory are busy; measure one thread and all of them where others wait"
                yield warning("assumed-rate", message, core.name_span, hint=hint)

    @cached_property
    def lower_bounds(self) -> tuple[LowerBound, ...]:
        """The exchanges of kernels whose time is a lower bound, in the order written."""
        bounds = []
        for kernel, _, cost in self.tree.list_costs():
            for trait in cost.traits:
                reason = trait.lower_bound(self.value_if_known) if trait.is_exchange else None
                if reason is not None:
                    bounds.append(LowerBound(kernel.name, trait.name, reason, cost))
        return tuple(bounds)

    @property
    def _deciding_bounds(self) -> Iterator[Diagnostic]:
        """A warning of kernels with a tenth of the runtime that are bound by an exchange whose time is a lower bound,
        once for each network."""
        if not any(trait.is_exchange for _, _, cost in self.tree.list_costs() for trait in cost.traits):
            return
        bounds = {(use.name, use.bound_by) for use in self.kernels if use.exclusive > self.runtime / 10}
        networks = set[str]()
        for bound in self.lower_bounds:
            name = bound.cost.offer.place.component.name if bound.cost.offer is not None else ""
            if (bound.kernel, bound.cost.server) not in bounds or name in networks:
                continue
            networks.add(name)
            message = f"`{bound.kernel}` is bound by `{bound.exchange}` with {bound.reason}: a lower bound"
            hint = f'`as {bound.exchange}("open_mpi")`, or `property mpi [open_mpi]` of `{name}`, takes its choice'
            if bound.cost.offer is not None and "pipelined" in bound.cost.offer.place.component.properties:
                hint = "NCCL and RCCL took 1.2 times as long or as short in the median (docs/networks.md)"
            if bound.reason != FASTEST:
                message = f"`{bound.kernel}` is bound by `{bound.exchange}` through {bound.reason}: a lower bound"
                hint = "so much crosses it whatever the routes; some of its links may have more to carry than others"
            yield warning("lower-bound", message, bound.cost.requirement.span, hint=hint)

    @cached_property
    def _widths(self) -> dict[flow.Block, Width]:
        """The width of each block that the run executes; empty where a value is missing."""
        return instances_of_blocks(self)

    @cached_property
    def warnings_of_values(self) -> tuple[Diagnostic, ...]:
        """Warnings that go with the values: cores that are idle or that instances take turns on, data whose reuse no
        pattern tells, blocks that take no time, counts of runs at other sizes."""
        widths = self._widths
        return (
            *warn_of_other_sizes(self.case, self.scope, lambda: self.used),
            *warn_of_idle_cores(self, widths),
            *warn_of_unplaced_blocks(self, widths),
            *warn_of_reuse_without_pattern(self, widths),
            *warn_of_timeless_blocks(self, widths),
        )

    @cached_property
    def assumptions(self) -> tuple[DecidingAssumption, ...]:
        """The assumed numbers of the machine that decide the runtime, the one it depends on most first."""
        return deciding_assumptions(self)

    @cached_property
    def _under_cap(self) -> tuple[float | None, list[Diagnostic]]:
        from aspenpy.answers.energy.cap_warning import runtime_under_cap

        return runtime_under_cap(self)

    @property
    def capped_runtime(self) -> float | None:
        """Seconds of the run under the power cap of its socket: `runtime` where none is stated, None where it leaves no
        power for work."""
        return self.runtime if self.stated_cap is None else self._under_cap[0]

    @property
    def cap_warnings(self) -> list[Diagnostic]:
        """A warning where a power cap of the socket makes the run longer than its runtime says."""
        return [] if self.stated_cap is None else self._under_cap[1]

    @property
    def raised_clock(self) -> RaisedClock | None:
        """The higher clock that one core of several may have where it works alone, at the clock of all of them. None
        where the clock was set."""
        core = self.tree.residence.where.drawing
        clock = None if core is None else core.component.value("clock")
        named = None if clock is None else self.scope.definitions.get(clock)
        found = next((item for item in self.machine.parameters if named is item.symbol), None)
        busy = max((width.busy_cores for width in self._widths.values()), default=0.0)
        if core is None or found is None or found.high is None or busy != 1 or found.name in self.case.set:
            return None
        known = self.scope.numbers_if_known({"now": found.symbol, "high": found.high, "cores": core.count}, self.seed)
        if known is None or known["cores"] < 2 or known["high"] < 1.01 * known["now"]:
            return None
        return RaisedClock(parameter=found.name, now=known["now"], highest=known["high"])

    @cached_property
    def warm(self) -> dict[tuple[str, str], float]:
        """Bytes, by cache and data structure, that are found in the cache as earlier blocks of the run left them."""

        def found(block: flow.Block, kernel: flow.Kernel) -> Totals:
            totals: Totals = {}
            for cost in self.tree.blocks[block].requirements:
                for use in cost.traffic.levels if cost.traffic is not None else ():
                    if use.warm is not graph.ZERO:
                        key = use.level.name, cost.requirement.target or cost.requirement.resource
                        bytes_found = graph.mul(block.parallelism, use.warm, use.level.unit)
                        totals[key] = totals.get(key, graph.ZERO) + bytes_found
            return totals

        return self.scope.numbers(self.tree.run_totals(OfBlocks(found)), self.seed)

    def prepare(self, free: Sequence[str], metric: str = "runtime") -> Prepared:
        """The metric as a fast function of the free parameters, in the order given."""
        from aspenpy.answers.prepared import Prepared

        return Prepared(self, tuple(free), metric)

    def explain(self, kernel: str | None = None) -> Explanation:
        """The chain behind the number, requirement by requirement, for one kernel or all."""
        from aspenpy.answers.explanation import explain

        return explain(self, kernel, self.diagnostics)

    def ecm(self, kernel: str | None = None) -> Ecm:
        """The execution-cache-memory model of the blocks of one kernel or all: one core, cycles a cache line."""
        from aspenpy.answers.ecm import ecm

        return ecm(self, kernel, self.diagnostics)

    def samples(self, count: int) -> RuntimeSamples:
        """The runtime over `count` seeds, starting from this prediction's: mean, deviation, quantiles."""
        return sample(self, count)

    # -- shown -----------------------------------------------------------------------------------

    def _repr_latex_(self) -> str:
        """The runtime in the parameters that have a range, with its value; a formula that is too long is left out."""
        known = self.application.parameters
        free = [use.name for use in self.parameters.values() if use.name in known and known[use.name].low is not None]
        number, _, unit = seconds(self.runtime).partition(" ")
        value = rf"{number}\,\mathrm{{{unit}}}"
        try:
            formula = self.latex(free=free) if free else value
        except TooLarge:
            formula = value
        if not free or formula == value or len(formula) > LONGEST_FORMULA:
            return rf"$\displaystyle T = {value}$"
        return rf"$\displaystyle T = {formula} = {value}$"


@one_allowance
def predict(app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> Prediction:
    """Predicts the run of an application on a machine, or of a `Case`; the options are those of `Case`.

    `predict(app, machine, kernel="main", set={"n": 1000, "m": "2*n"})`.

    :returns: the runtime in seconds, with kernels, resources, bottleneck and formula
    :raises AspenError: where the machine offers no resource that the application needs, for unknown parameters, and
        for a negative runtime
    """
    prediction = Prediction(case_of(app, machine, options))
    try:
        _refuse_negative_runtime(prediction)
    except AspenError as error:
        raise _blame_refused_count(error.diagnostics, prediction.warn_outside_ranges()) from None
    return prediction


def _blame_refused_count(errors: Sequence[Diagnostic], warnings: Sequence[Diagnostic]) -> AspenError:
    """The error where a number that the program does not accept leaves an expression without a value: the number is the
    mistake, and the expression what follows from it."""
    refused = [each for each in warnings if each.code == "refused-count"]
    if not refused or any(each.code != "no-value" for each in errors):
        return AspenError(*errors, *warnings)
    follows = tuple(Related(each.span, each.message) for each in errors)
    first = refused[0].replace(severity="error", related=follows)
    return AspenError(first, *(each for each in warnings if each is not refused[0]))


def _refuse_negative_runtime(prediction: Prediction) -> None:
    """Refuses a runtime below zero, which times in the models make."""
    # Of a negative amount, mapping has warned already.
    already_told = any(item.code == "negative-amount" for item in prediction.tree.warnings)
    if prediction.runtime >= 0 or already_told:
        return
    message = f"the runtime is {prediction.runtime:.6g} s: a time in the models is negative"
    fail("negative-amount", message, prediction.tree.entry.name_span)


@one_allowance
def prepare(
    app: Application | Case,
    machine: Machine | None = None,
    free: Sequence[str] = (),
    *,
    metric: str = "runtime",
    **options: Unpack[CaseOptions],
) -> Prepared:
    """A prediction as a fast function of the parameters in `free`: `prepare(app, machine, ["n"])(1000)`.

    `metric` is `runtime` or the name of a resource.

    :returns: a function of the values of `free` that returns the metric: a float, or an array of the shape of its
        arguments; seconds for `runtime`
    :raises AspenError: for a metric or a parameter that is unknown
    """
    return Prediction(case_of(app, machine, options)).prepare(free, metric)
