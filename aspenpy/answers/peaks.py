"""Peaks: the most that a machine does with each resource, under each combination of traits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from aspenpy.allowance import one_allowance
from aspenpy.answers.scope import Setting, circle_mistake
from aspenpy.answers.scope import Value as Real
from aspenpy.cost.compute import price
from aspenpy.cost.instances import ONE_INSTANCE
from aspenpy.cost.operations import CLASSES, tensor_rates
from aspenpy.cost.prices import Offer
from aspenpy.cost.target import Target, choose_socket, target_of
from aspenpy.expr import graph
from aspenpy.expr.evaluate import CircularDefinition, EvaluationError, evaluate_many, order_definitions
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail, suggest_instead, suggest_nearest
from aspenpy.language.lower import Lowering
from aspenpy.language.parser import parse_value
from aspenpy.models.application import flow
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.record import Record

TENSOR = "tensor"
EXCLUSIVE = ("sp", "dp")  # traits of which a requirement has one: the precision
MOST_FREE_TRAITS = 4  # traits that are combined in all ways; of more, each alone and all together
PROBES = (0, 1, 2, 2**20)  # amounts at which a time is taken, to see whether it is a straight line

LARGE = (2**60, 2**61, 2**62)
"""Amounts at which latencies and half-filled lines no longer count. They are whole numbers of everything that comes in
powers of two, and the differences between them are exact."""


class Peak(Record):
    """The most that a resource does under some traits. `rate` is the amount a second that one of the `count` components
    serves, `latency` the seconds that each requirement takes besides; both are None where the time (`formula`, of an
    amount) is no straight line. `limit` is the rate that large amounts come to; None where they come to none."""

    resource: str
    traits: tuple[str, ...]
    path: tuple[str, ...]
    count: Real | None
    rate: Real | None
    latency: Real | None
    limit: Real | None
    formula: Expr

    @property
    def is_tensor(self) -> bool:
        """Whether only products of matrices reach it."""
        return TENSOR in self.traits

    @property
    def of_all(self) -> Real | None:
        """The rate at large amounts of all the components together."""
        return None if self.limit is None or self.count is None else self.limit * self.count


@one_allowance
def peaks(
    machine: Machine, socket: str | None = None, *, set: Mapping[str, Setting] | None = None, everywhere: bool = False
) -> list[Peak]:
    """The peaks of every component that serves a resource: with a socket named, for an application on that socket, else
    for each socket. With `everywhere`, a component that is not the first choice, such as a second memory, is listed as
    well. `set` changes parameters of the machine.

    :returns: the peaks in the order of the machine's tree; rates in the resource's unit per second, latencies in
        seconds
    :raises AspenError: for a socket or parameter that the machine does not have
    """
    if socket is not None:
        choose_socket(machine, socket)  # for its error alone
    definitions = redefine_parameters(machine, set or {})
    offers: dict[tuple[str, tuple[str, ...]], Offer] = {}
    for name in (socket,) if socket is not None else machine.sockets or (None,):
        for offer in _list_offers(machine, name, everywhere):
            offers.setdefault((offer.resource.name, offer.place.path), offer)
    return [
        peak
        for offer in offers.values()
        for peak in (
            *(_make_peak(machine, offer, traits, definitions) for traits in _combine_traits(offer)),
            *_find_tensor_peaks(offer, definitions),
        )
    ]


def combined_rate(known: Iterable[Peak], resource: str, precision: str | None = None) -> float | None:
    """The most of a resource a second that all the components of a machine that serve it do together, each under its
    best traits. `sp` and `dp` choose the precision: what knows no `dp` does both at one rate. Units that only multiply
    matrices do not count. None where nobody serves it at a rate."""
    best: dict[tuple[str, ...], float] = {}
    rows = [peak for peak in known if peak.resource == resource and peak.of_all is not None and not peak.is_tensor]
    doubles = {peak.path for peak in rows if "dp" in peak.traits}
    for peak in rows:
        unlike = peak.path in doubles and ("dp" in peak.traits) != (precision == "dp")
        if precision is None or not unlike:
            best[peak.path] = max(best.get(peak.path, 0.0), float(peak.of_all or 0))
    return sum(best.values()) if best else None


def _list_offers(machine: Machine, socket: str | None, everywhere: bool) -> Iterable[Offer]:
    if not everywhere:
        where = target_of(machine, socket)
        beside = (Offer(resource, place) for place in where.others for resource in place.component.resources.values())
        return *where.offers.values(), *beside
    return (
        Offer(resource, place) for place in machine.places(socket) for resource in place.component.resources.values()
    )


def redefine_parameters(machine: Machine, settings: Mapping[str, Setting]) -> dict[Expr, Expr]:
    """The machine's definitions with some parameters set. Raises AspenError for unknown names and for circles."""
    definitions = dict(machine.definitions)
    if not settings:
        return definitions
    for name, setting in settings.items():
        symbol = graph.symbol(name.removeprefix("machine:"), OWNER)
        if symbol not in machine.definitions:
            known = [known.name for known in machine.definitions]
            hint = suggest_instead(name, known, "parameters")
            fail("unknown-parameter", f"machine `{machine.name}` has no parameter `{name}`", hint=hint)
        definitions[symbol] = _expression_of_setting(machine, name, setting)
    try:
        order_definitions(list(definitions), definitions)
    except CircularDefinition as error:
        raise AspenError(circle_mistake(error, None, machine)) from None
    return definitions


def _expression_of_setting(machine: Machine, name: str, setting: Setting) -> Expr:
    if isinstance(setting, Expr):
        return setting
    if not isinstance(setting, str | nodes.Expression):
        return graph.number(setting)

    tree = parse_value(setting, f"<{name}>") if isinstance(setting, str) else setting

    def resolve(node: nodes.Name) -> Expr:
        hint = suggest_nearest(node.name, machine.declared)
        return machine.lookup(node.name) or fail("unknown-name", f"unknown name `{node.name}`", node.span, hint=hint)

    return Lowering(resolve, machine.origins)(tree)


def _combine_traits(offer: Offer) -> Iterator[tuple[str, ...]]:
    """Combinations of traits, in the resource's order; traits that take an argument are left out."""
    names = [trait.name for trait in offer.resource.traits.values() if trait.argument is None]
    precisions: list[str | None] = [name for name in names if name in EXCLUSIVE]
    if len(precisions) < len(EXCLUSIVE):
        precisions.insert(0, None)
    others = [name for name in names if name not in EXCLUSIVE]
    sizes = range(len(others) + 1) if len(others) <= MOST_FREE_TRAITS else (0, 1, len(others))
    for precision in precisions:
        for size in sizes:
            for chosen in combinations(others, size):
                if sum(name in CLASSES for name in chosen) > 1:
                    continue
                yield tuple(name for name in names if name == precision or name in chosen)


def _make_peak(machine: Machine, offer: Offer, traits: tuple[str, ...], definitions: Mapping[Expr, Expr]) -> Peak:
    resource = offer.resource
    asked = tuple(flow.Trait(name) for name in traits)
    amount = resource.argument
    requirement = flow.Requirement(
        resource.name, amount, None, amount, direction=None, target=None, traits=asked, span=None
    )
    alone = Target(machine, None, {offer.resource.name: offer}, frozenset())
    time = price(requirement, ONE_INSTANCE, alone, origins={}).serial
    rate, latency = _fit_line(time, amount, definitions)
    limit = _rate_at_large_amounts(time, amount, definitions) if rate is None else rate
    count = value_of(offer.place.count, definitions)
    return Peak(
        resource.name, traits, offer.place.path, count=count, rate=rate, latency=latency, limit=limit, formula=time
    )


def _find_tensor_peaks(offer: Offer, definitions: Mapping[Expr, Expr]) -> Iterator[Peak]:
    """Peaks of the units for matrix products by precision, where the core states them."""
    component, resource = offer.place.component, offer.resource
    clock = component.value("clock")
    if resource.name != "flops" or clock is None or TENSOR in resource.traits:
        return
    count = value_of(offer.place.count, definitions)
    for traits, rate in tensor_rates(component).items():
        time = graph.div(resource.argument, graph.mul(clock, rate))
        reached, latency = _fit_line(time, resource.argument, definitions)
        yield Peak(
            resource.name,
            traits,
            offer.place.path,
            count=count,
            rate=reached,
            latency=latency,
            limit=reached,
            formula=time,
        )


def _fit_line(time: Expr, amount: Expr, definitions: Mapping[Expr, Expr]) -> tuple[Real | None, Real | None]:
    """Rate and latency of a time that is latency + amount / rate; None and None for any other."""
    times = _times_of_amounts(time, amount, PROBES, definitions)
    if times is None:
        return None, None
    start, *rest = times
    slope = rest[0] - start
    straight = all(
        abs(value - start - slope * probe) <= Fraction(1, 10**9) * abs(value)
        for value, probe in zip(rest, PROBES[1:], strict=True)
    )
    return (1 / slope, start) if straight and slope > 0 else (None, None)


def _rate_at_large_amounts(time: Expr, amount: Expr, definitions: Mapping[Expr, Expr]) -> Real | None:
    """The rate at large amounts, at which the time has become a straight line but for its rounding."""
    times = _times_of_amounts(time, amount, LARGE, definitions)
    if times is None:
        return None
    near = (times[1] - times[0]) / (LARGE[1] - LARGE[0])
    far = (times[2] - times[1]) / (LARGE[2] - LARGE[1])
    return 1 / far if far > 0 and abs(near - far) <= Fraction(1, 10**6) * far else None


def _times_of_amounts(
    time: Expr, amount: Expr, amounts: Iterable[int], definitions: Mapping[Expr, Expr]
) -> list[Any] | None:
    """The times of some amounts; None where the machine alone does not tell them."""
    probes = [graph.substitute([time], {amount: graph.number(probe)})[0] for probe in amounts]
    try:
        return evaluate_many(probes, None, 0, definitions)
    except EvaluationError:
        return None


def value_of(expr: Expr, definitions: Mapping[Expr, Expr]) -> Any:
    """A number, or a tuple of them; None where the machine alone does not tell it."""
    try:
        return evaluate_many([expr], None, 0, definitions)[0]
    except EvaluationError:
        return None
