"""Snapshot: what a case needs and takes, as it can be kept in a file and compared with a later version.

Counts are those of one run, by kernel, resource, data structure and traits; times and energies those of one or more
machines. Nothing is timed, so that the same models give the same numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.energy.totals import energy_metric
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.models.application import flow
from aspenpy.models.application.total import OfBlocks, Total, Totals
from aspenpy.record import Record

SCHEMA = "aspenpy.snapshot/1"
"""Name and version of the form in which a snapshot is kept."""


class NeedTotal(Total):
    """Work of one kind that the blocks of a kernel ask for: elements, or the `amount` in the resource's unit."""

    kernel: str
    resource: str
    data: str
    traits: str
    what: str


class Need(Record):
    """Elements (flops, loads, messages) and amount (flops, bytes) that a kernel asks for in one run, the `line` of the
    source, or of the model, that says so, and the `order` in which it touches its data: traits with their numbers."""

    kernel: str
    resource: str
    data: str
    traits: str
    elements: float
    amount: float
    line: str
    order: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """All that two versions have in common where they ask for the same kind of work."""
        return self.kernel, self.resource, self.data, self.traits


class RunCosts(Record):
    """Costs of a run on a machine: seconds by kernel, those of callees left out, seconds in all, and joules, None
    where the machine states no power."""

    kernels: Mapping[str, float]
    runtime: float
    energy: float | None


class Snapshot(Record):
    """Needs of an application, and what it takes on machines by their names."""

    application: str
    needs: tuple[Need, ...]
    machines: Mapping[str, RunCosts]

    def to_json(self) -> dict[str, Any]:
        """An object from which `read_snapshot` makes the same."""
        return {
            "schema": SCHEMA,
            "application": self.application,
            "needs": [{name: getattr(need, name) for name in Need._fields} for need in self.needs],
            "machines": {
                name: {"runtime": item.runtime, "energy": item.energy, "kernels": dict(item.kernels)}
                for name, item in self.machines.items()
            },
        }


def read_snapshot(content: Any, where: str) -> Snapshot:
    """A snapshot from what a file holds. Raises AspenError for anything else."""
    try:
        if content["schema"] != SCHEMA:
            fail("bad-snapshot", f"{where} is of the form `{content['schema']}`, not `{SCHEMA}`", hint="write it anew")
        needs = tuple(Need(**{name: item[name] for name in Need._fields if name in item}) for item in content["needs"])
        machines = {
            name: RunCosts(item["kernels"], float(item["runtime"]), item["energy"])
            for name, item in content["machines"].items()
        }
        return Snapshot(content["application"], needs, machines)
    except (KeyError, TypeError, ValueError, AttributeError):
        fail("bad-snapshot", f"{where} is no snapshot of aspenpy", hint="`aspenpy gate FILE --begin M` writes one")


def take_snapshot(cases: Sequence[Case], lines: Mapping[int, str] | None = None) -> Snapshot:
    """The snapshot of one application on the machine of each case. `lines` are places of a program's source by the
    lines of the model that was made from it."""
    predictions = [predict(case) for case in cases]
    machines = {item.machine.name: _measure_costs(item) for item in predictions}
    return Snapshot(cases[0].application.name, tuple(_list_needs(predictions[0], lines or {})), machines)


def _measure_costs(prediction: Prediction) -> RunCosts:
    try:
        energy = float(prediction.scope.values([energy_metric(prediction.tree, "energy")], prediction.seed)[0])
    except AspenError:
        energy = None
    kernels = {use.name: use.exclusive for use in prediction.kernels if use.exclusive > 0}
    return RunCosts(kernels, prediction.runtime, energy)


def _list_needs(prediction: Prediction, lines: Mapping[int, str]) -> Iterable[Need]:
    places: dict[tuple[str, str, str, str], str] = {}
    orders: dict[tuple[str, str, str, str], dict[str, None]] = {}

    def needs_of(block: flow.Block, kernel: flow.Kernel) -> Totals:
        totals: Totals = {}
        for need in block.requirements:
            key = kernel.name, need.resource, need.target or "", ", ".join(trait.name for trait in need.traits)
            places.setdefault(key, _line_of(need, lines))
            if order := _order_of(need, prediction):
                orders.setdefault(key, {})[order] = None
            for what, worth in (("elements", need.quantity), ("amount", need.amount)):
                total = NeedTotal(*key, what)
                totals[total] = graph.add(totals.get(total, graph.ZERO), graph.mul(block.parallelism, worth))
        return totals

    totals = prediction.tree.run_totals(OfBlocks(needs_of))
    numbers = prediction.scope.numbers(totals, prediction.seed)
    for key, line in places.items():
        elements, amount = (float(numbers.get(NeedTotal(*key, what), 0.0)) for what in ("elements", "amount"))
        if amount:
            yield Need(*key, elements, amount, line, " and ".join(orders.get(key, ())))


def _order_of(need: flow.Requirement, prediction: Prediction) -> str:
    """Traits with arguments and their numbers, such as `nest(8, 998, 8000, 998)`; empty where they have no number."""
    written = []
    for trait in need.traits:
        exprs = [item for item in trait.arguments if isinstance(item, Expr)]
        if exprs and len(exprs) == len(trait.arguments):
            try:
                values = prediction.scope.values(exprs, prediction.seed)
            except AspenError:  # of a counter of a loop, which has many
                return ""
            written.append(f"{trait.name}({', '.join(f'{float(value):g}' for value in values)})")
    return ", ".join(written)


def _line_of(need: flow.Requirement, lines: Mapping[int, str]) -> str:
    if need.span is None:
        return ""
    line, source = need.span.position().line, need.span.resolve().source
    return lines.get(line, f"{source.in_library or os.path.relpath(source.name)}:{line}".replace(os.sep, "/"))
