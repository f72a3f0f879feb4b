"""The roofs of a page: the ceilings of `answers.roofline` as formulas, so that they move with the machine's parameters.

A rate is that of large amounts, as in `answers.peaks`: the slope of the time between 2^61 and 2^62.
"""

from __future__ import annotations

from typing import Any

from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.peaks import LARGE, Peak, peaks
from aspenpy.answers.roofline import Roofline, taking_part
from aspenpy.cost.caches.level import levels_of
from aspenpy.cost.prices import longest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError
from aspenpy.page.numbers import Numbers
from aspenpy.report.roofline import label, traits

MOST_COMPUTE = 4  # ceilings of flops that are drawn: more lie on top of each other

Roof = dict[str, Any]


def roofs(numbers: Numbers) -> list[Roof]:
    """The ceilings of flops and of bytes, of the components that take part (`used`) and of all; empty for a machine
    without any."""
    prediction = numbers.prediction
    machine, socket = prediction.machine, prediction.socket
    try:
        roofline = Roofline(machine, [prediction.case], socket=socket)
    except AspenError:
        return []
    known = {(peak.resource, peak.traits, peak.path): peak for peak in peaks(machine, socket, everywhere=True)}
    caches = {level.place.path: level.bandwidth for level in levels_of(machine, socket)}
    found: list[Roof] = []
    within: Expr | None = None  # bytes a second that pass through the caches so far
    for kind, ceilings in (("compute", _distinct(roofline.compute)), ("memory", roofline.bandwidths)):
        for ceiling in ceilings:
            one = caches.get(ceiling.path) or _slope(numbers, known[ceiling.resources[0], ceiling.traits, ceiling.path])
            place = next(place for place in machine.places(socket) if place.path == ceiling.path)
            parts = [full for _, full in taking_part(prediction.tree, place, ceiling.resources[0])]
            used = graph.mul(one, longest(parts or [place.count]))
            if place.path in caches:
                within = used = used if within is None else graph.apply("min", within, used)
            named = traits(ceiling) if kind == "compute" else label(ceiling, roofline)
            places = {"used": numbers.add(used), "all": numbers.add(graph.mul(one, place.count))}
            found.append({"kind": kind, "name": named, "component": ceiling.component, **places})
    return found


def _distinct(ceilings: tuple[Ceiling, ...]) -> list[Ceiling]:
    """Of equal rates the first; the highest ones, and the lowest."""
    by_rate = {ceiling.rate: ceiling for ceiling in reversed(ceilings)}
    ordered = [by_rate[rate] for rate in sorted(by_rate, reverse=True)]
    return ordered if len(ordered) <= MOST_COMPUTE else [*ordered[: MOST_COMPUTE - 1], ordered[-1]]


def _slope(numbers: Numbers, peak: Peak) -> Expr:
    """Units a second of one component."""
    component = numbers.prediction.machine.components[peak.path[-1]]
    argument = component.resources[peak.resource].argument
    low, high = (graph.substitute([peak.formula], {argument: graph.number(amount)})[0] for amount in LARGE[1:])
    return graph.div(graph.number(LARGE[2] - LARGE[1]), graph.sub(high, low))
