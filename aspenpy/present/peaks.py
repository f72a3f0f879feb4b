"""Peaks: the most that a machine does with each resource, under each combination of traits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations

from aspenpy.application import flow
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import Machine
from aspenpy.mapping.compute import Target, price, target
from aspenpy.mapping.cost import Offer
from aspenpy.present.numbers import Real
from aspenpy.record import Record

EXCLUSIVE = ("sp", "dp")
"""Traits of which a requirement has one: the precision."""

MOST_FREE_TRAITS = 4
"""Traits that are combined in all ways; of more, each alone and all together."""

PROBES = (0, 1, 2, 2**20)
"""Amounts at which a time is taken, to see whether it is a straight line."""


class Peak(Record):
    """What a resource does under some traits. `rate` is the amount a second that one of the `count` components
    serves, `latency` the seconds that each requirement takes besides; both are None where the time (`formula`, of
    an amount) is no straight line."""

    resource: str
    traits: tuple[str, ...]
    path: tuple[str, ...]
    count: Real | None
    rate: Real | None
    latency: Real | None
    formula: Expr


def peaks(machine: Machine) -> list[Peak]:
    """The peaks of every component that serves a resource, whichever socket is used."""
    offers: dict[tuple[str, tuple[str, ...]], Offer] = {}
    for socket in machine.sockets or (None,):
        for name, offer in target(machine, socket).offers.items():
            offers.setdefault((name, offer.place.path), offer)
    return [_peak(machine, offer, traits) for offer in offers.values() for traits in _combinations(offer)]


def _combinations(offer: Offer) -> Iterator[tuple[str, ...]]:
    """In the order of the resource's traits; those that take an argument are left out."""
    names = [trait.name for trait in offer.resource.traits.values() if trait.argument is None]
    precisions: list[str | None] = [name for name in names if name in EXCLUSIVE]
    if len(precisions) < len(EXCLUSIVE):
        precisions.insert(0, None)
    others = [name for name in names if name not in EXCLUSIVE]
    sizes = range(len(others) + 1) if len(others) <= MOST_FREE_TRAITS else (0, 1, len(others))
    for precision in precisions:
        for size in sizes:
            for chosen in combinations(others, size):
                yield tuple(name for name in names if name == precision or name in chosen)


def _peak(machine: Machine, offer: Offer, traits: tuple[str, ...]) -> Peak:
    resource = offer.resource
    asked = tuple(flow.Trait(name) for name in traits)
    amount = resource.argument
    requirement = flow.Requirement(resource.name, amount, None, amount, None, None, asked, None)
    time = price(requirement, graph.ONE, _alone(machine, offer), {}).serial
    rate, latency = _line(time, amount, machine.definitions)
    count = _value(offer.place.count, machine.definitions)
    return Peak(resource.name, traits, offer.place.path, count, rate, latency, time)


def _alone(machine: Machine, offer: Offer) -> Target:
    """The machine with nothing but that offer."""
    return Target(machine, None, {offer.resource.name: offer}, frozenset())


def _line(time: Expr, amount: Expr, definitions: Mapping[Expr, Expr]) -> tuple[Real | None, Real | None]:
    """Rate and latency of a time that is latency + amount / rate; None and None for any other."""
    probes = [graph.substitute([time], {amount: graph.number(probe)})[0] for probe in PROBES]
    try:
        start, *rest = evaluate_many(probes, None, 0, definitions)
    except EvaluationError:
        return None, None
    slope = rest[0] - start
    straight = all(
        abs(value - start - slope * probe) <= Fraction(1, 10**9) * abs(value)
        for value, probe in zip(rest, PROBES[1:], strict=True)
    )
    return (1 / slope, start) if straight and slope > 0 else (None, None)


def _value(expr: Expr, definitions: Mapping[Expr, Expr]) -> Real | None:
    """None where the machine alone does not tell it."""
    try:
        value: Real = evaluate_many([expr], None, 0, definitions)[0]
        return value
    except EvaluationError:
        return None
