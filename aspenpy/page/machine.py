"""Data of a page about an application on one machine: numbers by place, with names, formulas and lines of the models.

Everything here becomes JSON; the numbers themselves are computed in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.energy.totals import EnergyTotals, energy_totals
from aspenpy.answers.explanation import AskedBy, TimeOf, by_requirement
from aspenpy.answers.peaks import LARGE, Peak, peaks
from aspenpy.answers.roofline import Roofline, count_participants
from aspenpy.answers.roofline_points import Asked, roofline_totals
from aspenpy.cost.caches.level import levels_of
from aspenpy.cost.cost import Bound, Inclusive
from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import RequirementCost, longest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import shorten_text
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application import flow
from aspenpy.models.application.total import (
    Busy,
    Calls,
    Exclusive,
    OfBlocks,
    ResourceTotal,
    Totaller,
    Totals,
    of_kind,
    sum_terms,
)
from aspenpy.page.inputs import PageExpressions, SourceLine, place_of
from aspenpy.record import Record
from aspenpy.report.roofline import label, traits
from aspenpy.tables.numbers import unit_of_resource

MOST_COMPUTE = 4  # ceilings of flops that are drawn: more lie on top of each other

Roof = dict[str, Any]


def roofs(numbers: PageExpressions) -> list[Roof]:
    """The ceilings of flops and of bytes, of the components that take part (`used`) and of all; empty for a machine
    without any."""
    prediction = numbers.prediction
    machine, socket = prediction.machine, prediction.socket
    try:
        roofline = Roofline(machine, [prediction.case], socket=socket)
    except AspenError:
        return []
    all_peaks = {(peak.resource, peak.traits, peak.path): peak for peak in peaks(machine, socket, everywhere=True)}
    caches = {level.place.path: level.bandwidth for level in levels_of(machine, socket)}
    found: list[Roof] = []
    within: Expr | None = None  # bytes a second that pass through the caches so far
    for kind, ceilings in (("compute", _distinct(roofline.compute)), ("memory", roofline.bandwidths)):
        for ceiling in ceilings:
            one = caches.get(ceiling.path) or _slope(
                numbers, all_peaks[ceiling.resources[0], ceiling.traits, ceiling.path]
            )
            place = next(place for place in machine.places(socket) if place.path == ceiling.path)
            parts = [full for _, full in count_participants(prediction.tree, place, ceiling.resources[0])]
            used = graph.mul(one, longest(parts or [place.count]))
            if place.path in caches:
                within = used = used if within is None else graph.apply("min", within, used)
            named = traits(ceiling) if kind == "compute" else label(ceiling, roofline)
            places = {"used": numbers.add(used), "all": numbers.add(graph.mul(one, place.count))}
            found.append({"kind": kind, "name": named, "component": ceiling.component, **places})
    return found


def _distinct(ceilings: tuple[Ceiling, ...]) -> list[Ceiling]:
    """The ceilings that are drawn: of equal rates the first; the highest ones, and the lowest."""
    by_rate = {ceiling.rate: ceiling for ceiling in reversed(ceilings)}
    ordered = [by_rate[rate] for rate in sorted(by_rate, reverse=True)]
    return ordered if len(ordered) <= MOST_COMPUTE else [*ordered[: MOST_COMPUTE - 1], ordered[-1]]


def _slope(numbers: PageExpressions, peak: Peak) -> Expr:
    """The rate of one component, in units a second."""
    component = numbers.prediction.machine.components[peak.path[-1]]
    argument = component.resources[peak.resource].argument
    low, high = (graph.substitute([peak.formula], {argument: graph.number(amount)})[0] for amount in LARGE[1:])
    return graph.div(graph.number(LARGE[2] - LARGE[1]), graph.sub(high, low))


LONGEST_FORMULA = 1500  # characters of the formula of a whole run; those of kernels and steps are shorter
LONGEST_PART = 300
MOST_STEPS = 400  # requirements whose chain is told; a page of more would be too large for a mail

Facts = dict[str, Any]


class MachinePage(Record):
    """The numbers of one machine, the places of runtime and energy among them, and all else as JSON."""

    numbers: PageExpressions
    headline: tuple[Expr, ...]
    facts: Facts


def machine_page(numbers: PageExpressions) -> MachinePage:
    prediction = numbers.prediction
    tree = prediction.tree
    energy, powerless = _energy(numbers)
    headline = (tree.runtime,) if energy is None else (tree.runtime, energy.energy)
    kernels = list(_kernels(numbers, energy))
    facts: Facts = {
        "name": prediction.machine.name,
        "socket": prediction.socket,
        "runtime": _describe_value(numbers, tree.runtime),
        "energy": None if energy is None else _describe_value(numbers, energy.energy),
        "powerless": powerless,
        "kernels": kernels,
        "resources": list(_resources(numbers)),
        "conflicts": sorted(map(list, tree.conflicts)),
        "roofs": roofs(numbers),
        "memory": _memory(numbers),
    }
    return MachinePage(numbers, headline, facts)


def _energy(numbers: PageExpressions) -> tuple[EnergyTotals | None, str]:
    """(totals, ""), or None and a sentence that names the component which declares no power."""
    try:
        return energy_totals(numbers.prediction.tree), ""
    except AspenError as error:
        return None, error.diagnostics[0].message.replace("`", "")


def _describe_value(numbers: PageExpressions, expr: Expr) -> Facts:
    return {"value": numbers.add(expr), "formula": numbers.write_formula(expr, LONGEST_FORMULA)}


def _place(place: SourceLine | None) -> Facts | None:
    return None if place is None else {"where": place.where, "line": place.line}


def _resources(numbers: PageExpressions) -> Iterator[Facts]:
    """Amount and busy time over the run, with the component that serves each."""
    prediction = numbers.prediction
    totals = prediction.tree.totals
    amounts = {key.resource: expr for key, expr in of_kind(ResourceTotal, totals).items()}
    for name, busy in ((key.resource, expr) for key, expr in of_kind(Busy, totals).items()):
        component = prediction.component_of(name)
        yield {
            "name": name,
            "unit": unit_of_resource(name),
            "component": component.rpartition("/")[2] if component else None,
            "amount": numbers.add(amounts[name]) if name in amounts else None,
            "busy": numbers.add(busy),
        }


def _memory(numbers: PageExpressions) -> Facts | None:
    """Bytes of each data structure that the run touches in one memory, or where ranks are bound to no component in
    all, and the capacity; None where sizes or the capacity are not stated."""
    prediction, scope = numbers.prediction, numbers.prediction.scope.definitions.keys()
    tree, data = prediction.tree, prediction.application.data
    offer = tree.residence.where.offers.get("loads")
    capacity = None if offer is None else offer.place.component.value("capacity")
    named = {cost.requirement.target for _, _, cost in tree.list_costs()}
    touched = [item for name, item in data.items() if name in named]
    if offer is None or capacity is None or not touched or tree.residence.memories:
        return None
    place = offer.place
    bound = [cost.instances for cost in tree.blocks.values() if cost.instances.placement is not None]
    most = [item.ranks for item in bound if graph.free_symbols(item.ranks) <= scope]
    shared = not most
    part = graph.ONE if shared else Instances(longest(most), placement=bound[0].placement).part_on(place)
    return {
        "name": place.component.name,
        "shared": shared,
        "capacity": numbers.add(graph.mul(place.count, capacity) if shared else capacity),
        "data": [{"name": item.name, "size": numbers.add(graph.mul(part, item.size))} for item in touched],
    }


# -- kernels ---------------------------------------------------------------------------------------


def _kernels(numbers: PageExpressions, energy: EnergyTotals | None) -> Iterator[Facts]:
    """The kernels that ran, the entry first."""
    tree = numbers.prediction.tree
    totals, asked = tree.kernel_totals, roofline_totals(tree)
    joules = {} if energy is None else energy.by_kernel
    steps = _steps(numbers)
    for kernel in reversed(tree.kernels):
        name = kernel.name
        bounds = {key.resource: expr for key, expr in of_kind(Bound, totals).items() if key.kernel == name}
        exclusive = totals.get(Exclusive(name), graph.ZERO)
        yield {
            "name": name,
            "place": _place(place_of(kernel.name_span)),
            "calls": numbers.add(totals.get(Calls(name), graph.ZERO)),
            "inclusive": numbers.add(totals.get(Inclusive(name), graph.ZERO)),
            "exclusive": numbers.add(exclusive),
            "formula": numbers.write_formula(exclusive, LONGEST_PART),
            "energy": None if energy is None else numbers.add(sum_terms(joules.get(name, {}).values())),
            "bounds": [[resource, numbers.add(expr)] for resource, expr in bounds.items()],
            **_point(numbers, asked, name),
            "steps": steps.get(name, []),
        }


def _point(numbers: PageExpressions, asked: Totals, kernel: str) -> Facts:
    """Flops, and the bytes that cross the memory bus; the roofline's coordinates follow."""
    flops = asked.get(Asked(kernel, "flops"))
    if flops is None:
        return {"flops": None, "bytes": None}
    sent = [asked[Asked(kernel, name)] for name in ("loads", "stores") if Asked(kernel, name) in asked]
    return {"flops": numbers.add(flops), "bytes": numbers.add(sum_terms(sent))}


# -- requirements ----------------------------------------------------------------------------------


def _steps(numbers: PageExpressions) -> dict[str, list[Facts]]:
    """Steps by kernel, from the line of each requirement to its amount and seconds over the run."""
    tree = numbers.prediction.tree
    totals = Totaller(OfBlocks(partial(by_requirement, tree))).kernel(tree.entry)
    steps: dict[str, list[Facts]] = {}
    for kernel, block, cost in list(tree.list_costs())[:MOST_STEPS]:
        exprs = graph.substitute([totals[AskedBy(cost)], totals[TimeOf(cost)]], {tree.entry.context: graph.ZERO})
        amount, time = (numbers.add(expr) for expr in exprs)
        steps.setdefault(kernel.name, []).append({**_step(block, cost), "amount": amount, "time": time})
    return steps


def _step(block: flow.Block, cost: RequirementCost) -> Facts:
    requirement, offer = cost.requirement, cost.offer
    rate = offer.resource.time if offer else cost.base
    return {
        "block": block.label,
        "resource": requirement.resource,
        "unit": unit_of_resource(requirement.resource),
        "written": " ".join(requirement.span.text().split()) if requirement.span else requirement.resource,
        "place": _place(place_of(requirement.span)),
        "instances": shorten_text(block.parallelism, LONGEST_PART),
        "component": offer.where if offer else None,
        "rate": shorten_text(rate, LONGEST_PART),
        "rate_place": _place(place_of(offer.resource.span)) if offer else None,
        "traits": [[trait.name, shorten_text(trait.formula, LONGEST_PART)] for trait in cost.traits],
    }
