"""Assumed: what cores take for operations of which their machine says nothing, by their kind and year.

The rules are cores of `models/machines/rules/assumed_cores.aspen`, each from a year on. A core is taken to be `like`
the last of its kind that is not younger: it has all of that but what it states itself. Where neither the core nor its
socket states a `year`, nothing is assumed, and what is missing is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache

from aspenpy.cost.prices import Offer
from aspenpy.cost.waiting import waits_for_data
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.files import models_folder
from aspenpy.models.application import flow
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Component, Machine, Place, Property, Resource, ResourceTrait

RULES = os.path.join("machines", "rules", "assumed_cores.aspen")
YEAR, LANES_WITH_WORK = "year", "simt"

OF_CORES = ("chain", "branches", "accesses", "intops", "atomics", "locks", "barriers", "forks")
"""Resources that every machine with a year prices; barriers and forks are of a socket where it states them."""


@cache
def rules_for_cores() -> Machine:
    return load_machine(os.path.join(models_folder(), RULES))


def are_missing(requirements: Iterable[flow.Requirement], offers: Mapping[str, Offer]) -> bool:
    """Whether any of some requirements of a core may need what its machine does not state."""
    for need in requirements:
        if need.resource in OF_CORES:
            offer = offers.get(need.resource)
            if offer is None or waits_for_data(need) or any(t.name not in offer.resource.traits for t in need.traits):
                return True
    return False


def add_assumed(offers: Mapping[str, Offer], core: Place | None, places: Mapping[str, Expr]) -> dict[str, Offer]:
    """The offers with what is assumed of a core of which no machine says it, and traits that one of its resources has
    no rule for. `places` are properties of what is around the core, by name."""
    rule = None if core is None else rule_of(core)
    if core is None or rule is None:
        return dict(offers)
    completed = dict(offers)
    values = _values(rule, core.component, places)
    whole = _complete(core.component, rule, values)
    bound = {rule.properties[name].symbol: value for name, value in values.items()}
    for name, resource in rule.resources.items():
        own = offers.get(name)
        if own is not None and own.place.path != core.path:
            continue  # barriers of a socket
        assumed = _bind(resource, core.component.name, bound)
        traits = frozenset(assumed.traits) - frozenset(() if own is None else own.resource.traits)
        if own is not None:
            assumed = own.resource.replace(traits={**assumed.traits, **own.resource.traits})
        place = core.replace(component=whole)
        completed[name] = Offer(assumed, place, assumed=traits | ({name} if own is None else set()), rule=rule.name)
    return completed


def rule_of(core: Place) -> Component | None:
    """The component of the rules that a core is taken to be like; None without a year or a clock."""
    around = (core.component, *reversed(core.parents))
    year = next((item.properties[YEAR] for item in around if YEAR in item.properties), None)
    if year is None or year.value is None or year.value.kind != "number" or core.component.value("clock") is None:
        return None
    kind = "gpu" if LANES_WITH_WORK in core.component.properties else "cpu"
    known = {
        int(name.split("_")[1]): item
        for name, item in rules_for_cores().components.items()
        if name.startswith(f"{kind}_")
    }
    older = [each for each in known if each <= year.value.payload]
    return known[max(older) if older else min(known)]


def _values(rule: Component, core: Component, places: Mapping[str, Expr]) -> dict[str, Expr]:
    """The value of each property of a rule, by name: as the core or a component around it states it, else by the
    rule."""
    symbols = {item.symbol: name for name, item in rule.properties.items()}
    values: dict[str, Expr] = {}

    def value(name: str) -> Expr:
        if name not in values:
            stated = core.value(name)
            otherwise = rule.properties[name].value
            if stated is None and otherwise is not None:
                used = graph.free_symbols(otherwise)
                stated = (
                    places.get(name)
                    or graph.substitute(
                        [otherwise], {symbol: value(symbols[symbol]) for symbol in used if symbol in symbols}
                    )[0]
                )
            assert stated is not None
            values[name] = stated
        return values[name]

    for name in rule.properties:
        value(name)
    return values


def _complete(core: Component, rule: Component, values: Mapping[str, Expr]) -> Component:
    """The core with the properties of the rule that it lacks, each of which stands for its value."""
    added = {
        name: Property(name, value, value, span=None) for name, value in values.items() if name not in core.properties
    }
    return core.replace(properties={**added, **core.properties})


def _bind(resource: Resource, component: str, bound: Mapping[Expr, Expr]) -> Resource:
    """A resource of the rules in what a core states."""
    times = graph.substitute([resource.time, *(trait.time for trait in resource.traits.values())], bound)
    traits = {
        name: ResourceTrait(name, trait.argument, time, span=None)
        for (name, trait), time in zip(resource.traits.items(), times[1:], strict=True)
    }
    return resource.replace(component=component, time=times[0], traits=traits, span=None, name_span=None)
