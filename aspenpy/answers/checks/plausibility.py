"""Numbers of a machine that can hardly be meant: peaks above what clock and width allow, units that were forgotten,
caches that do not come out even. The properties are those of docs/models/conventions.md; what a component does not
declare is not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from aspenpy.answers.peaks import Peak, peaks, value_of
from aspenpy.cost.caches.level import levels_of
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Component, Machine
from aspenpy.models.machine.properties import PROPERTIES

TOLERANCE = Fraction(1, 1000)  # by which a rate may exceed the product that it is made of: data sheets are rounded


class PlausibleRange(NamedTuple):
    """Range of plausible values of a property, in a base unit; `below` is the likely cause of a smaller value."""

    low: Fraction
    high: Fraction
    unit: str
    below: str


RANGES: Mapping[tuple[str, str], PlausibleRange] = {
    (kind, row.name): PlausibleRange(*row.limits, row.symbol, row.below)
    for row in PROPERTIES
    if row.limits
    for kind in row.of.split()
}
"""Plausible ranges by type of component and property."""


class HierarchyOrder(NamedTuple):
    """The order of a property along the hierarchy, as seen from a core: it `rises` or falls from level to level. Each
    core has its part of what is `shared`. `code`, `worse` and `hint` tell of a level where it does not."""

    property: str
    rises: bool
    shared: bool
    code: str
    worse: str
    hint: str


ORDERS = (
    HierarchyOrder(
        "capacity", True, False, "smaller-level", "holds less than", "outer levels are larger: are two of them swapped?"
    ),
    HierarchyOrder(
        "latency",
        True,
        False,
        "quicker-level",
        "has a lower latency than",
        "an access to a level includes the lookups in the levels inside it",
    ),
    HierarchyOrder(
        "bandwidth", False, True, "faster-level", "is faster than", "all its data pass through the inner level"
    ),
)
"""Orders of properties from one level that a core reaches to the next: caches, then the memory."""

BOUNDS = {
    "memory": (
        ("attained_bandwidth", "bandwidth"),
        ("attained_store_bandwidth", "bandwidth"),
        ("core_bandwidth", "attained_bandwidth"),
    ),
    "cache": (("attained_bandwidth", "bandwidth"), ("attained_store_bandwidth", "bandwidth")),
}
"""Pairs of rates by type of component, of which the second is not below the first."""

POWERS_OF_TWO = {("cache", "cacheline"): "B"}


def check_plausibility(machine: Machine) -> list[Diagnostic]:
    """A warning for every number that can hardly be meant, at its place, in the order of the file."""
    diagnostics = [
        item
        for node in machine.node.components
        if node.name in machine.components
        for item in _ComponentNumbers(machine, machine.components[node.name]).warnings()
    ]
    return [*diagnostics, *_warn_counts(machine), *_warn_rates(machine), *drop_repeats(_warn_orders(machine))]


class _ComponentNumbers:
    """The numbers of one kind of component."""

    def __init__(self, machine: Machine, component: Component) -> None:
        self.component = component
        self.values = {
            item.name: number
            for item in component.properties.values()
            if item.value is not None and (number := _value_of(machine, item.value)) is not None
        }

    def warnings(self) -> Iterator[Diagnostic]:
        yield from self._warn_outside_ranges()
        yield from self._warn_uneven_numbers()
        yield from self._warn_sets()
        yield from self._warn_channels()
        yield from self._warn_above_peaks()

    def span(self, name: str) -> Span | None:
        return self.component.properties[name].span

    def name_property(self, name: str) -> str:
        return f"the {name} of {self.component.type} `{self.component.name}`"

    def _warn_outside_ranges(self) -> Iterator[Diagnostic]:
        for name, value in self.values.items():
            limits = RANGES.get((self.component.type, name))
            if limits is None or limits.low <= value <= limits.high:
                continue
            shown = format_quantity(value, limits.unit)
            if value <= 0 and limits.low > 0:
                yield warning(
                    "not-positive", f"{self.name_property(name)} is {shown}", self.span(name), hint=limits.below
                )
            elif value < limits.low:
                yield warning(
                    "implausibly-small", f"{self.name_property(name)} is {shown}", self.span(name), hint=limits.below
                )
            else:
                forgotten = ": is the unit missing?" if limits.unit == "s" else ""
                hint = f"no known hardware has more than {format_quantity(limits.high, limits.unit)}{forgotten}"
                yield warning("implausibly-large", f"{self.name_property(name)} is {shown}", self.span(name), hint=hint)

    def _warn_uneven_numbers(self) -> Iterator[Diagnostic]:
        for (kind, name), unit in POWERS_OF_TWO.items():
            value = self.values.get(name)
            if kind == self.component.type and value is not None and value > 0 and not _is_power_of_two(value):
                message = f"{self.name_property(name)} is {format_quantity(value, unit)}, which is not a power of two"
                yield warning(
                    "no-power-of-two", message, self.span(name), hint="lines are selected by bits of the address"
                )

    def _warn_sets(self) -> Iterator[Diagnostic]:
        """Warns of caches whose capacity is no whole number of sets."""
        numbers = [self.values.get(name, 0) for name in ("capacity", "cacheline", "associativity")]
        capacity, line, ways = numbers
        if self.component.type == "cache" and min(numbers) > 0 and capacity % (line * ways):
            message = f"{self.name_property('capacity')} is not a whole number of sets of {_format_number(ways)} lines"
            yield warning(
                "uneven-sets", message, self.span("capacity"), hint=f"a set takes {_format_number(line * ways)} B"
            )

    def _warn_channels(self) -> Iterator[Diagnostic]:
        names = ("bandwidth", "channels", "channel_bandwidth")
        if self.component.type != "memory" or not self.values.keys() >= set(names):
            return
        bandwidth, channels, each = (self.values[name] for name in names)
        if bandwidth > channels * each * (1 + TOLERANCE):
            message = (
                f"{self.name_property('bandwidth')} is {format_quantity(bandwidth, 'B/s')}, and its "
                f"{_format_number(channels)} "
                f"channels of {format_quantity(each, 'B/s')} carry {format_quantity(channels * each, 'B/s')}"
            )
            yield warning("above-channels", message, self.span("bandwidth"))

    def _warn_above_peaks(self) -> Iterator[Diagnostic]:
        """Warns of rates above the peak of their component, and of a core that attains more than all cores together."""
        for name, most in BOUNDS.get(self.component.type, ()):
            value, bound = self.values.get(name), self.values.get(most)
            if value is not None and bound is not None and 0 < bound < value * (1 - TOLERANCE):
                amounts = f"{format_quantity(value, 'B/s')} against {format_quantity(bound, 'B/s')}"
                message = f"{self.name_property(name)} is above its {most}: {amounts}"
                yield warning("above-bound", message, self.span(name), hint=f"are {name} and {most} swapped?")


# -- over several components -----------------------------------------------------------------------


def _warn_counts(machine: Machine) -> Iterator[Diagnostic]:
    for component in machine.components.values():
        for part in component.parts:
            quantity = _value_of(machine, part.quantity)
            if quantity is not None and quantity <= 0:
                message = f"{component.type} `{component.name}` has {_format_number(quantity)} of `{part.component}`"
                yield warning("none-of-it", message, part.span, hint="leave the line out, or write how many there are")


def _warn_orders(machine: Machine) -> Iterator[Diagnostic]:
    """Levels of memory that are out of order, socket by socket."""
    for socket in machine.sockets:
        places = [place for place in machine.places(socket) if place.component.type in ("core", "memory")]
        units = [place for place in places if place.component.type == "core"]
        cores = sum(_value_of(machine, place.count) or 0 for place in units)
        part_of_it = any("core_bandwidth" in place.component.properties for place in units)
        memories = [place for place in places if place.component.type == "memory" and not part_of_it][:1]
        levels = [
            (_ComponentNumbers(machine, place.component), _value_of(machine, place.count))
            for place in (*(level.place for level in levels_of(machine, socket)), *memories)
        ]
        for order in ORDERS:
            amounts = [
                (known, known.values[order.property] * (count / cores if order.shared else 1))
                for known, count in levels
                if order.property in known.values and (not order.shared or (cores and count))
            ]
            yield from _warn_out_of_order(order, amounts)


def _warn_out_of_order(order: HierarchyOrder, levels: list[tuple[_ComponentNumbers, Any]]) -> Iterator[Diagnostic]:
    for (inner, inside), (outer, outside) in pairwise(levels):
        first, last = (inside, outside) if order.rises else (outside, inside)
        if first > last * (1 + TOLERANCE):
            unit = RANGES[outer.component.type, order.property].unit
            per_core = " a core" if order.shared else ""
            amounts = f"{format_quantity(outside, unit)} against {format_quantity(inside, unit)}{per_core}"
            message = (
                f"{outer.component.type} `{outer.component.name}` {order.worse} {inner.component.type} "
                f"`{inner.component.name}` inside it: {amounts}"
            )
            yield warning(order.code, message, outer.span(order.property), hint=order.hint)


def _warn_rates(machine: Machine) -> Iterator[Diagnostic]:
    """Warns of implausible rates, once for each component that serves something."""
    served: dict[tuple[str, str], list[Peak]] = {}
    for peak in peaks(machine, everywhere=True):
        of_component = served.setdefault((peak.path[-1], peak.resource), [])
        if not of_component or of_component[0].path == peak.path:
            of_component.append(peak)
    for (name, resource), rated_peaks in served.items():
        component = machine.components[name]
        numbers = _ComponentNumbers(machine, component)
        span = component.resources[resource].name_span
        if resource == "flops":
            yield from _warn_peak(numbers, rated_peaks, span)
            yield from _warn_slower(rated_peaks, span)
        else:
            yield from _warn_transfer(numbers, resource, rated_peaks, span)


def _warn_peak(numbers: _ComponentNumbers, rated_peaks: list[Peak], span: Span | None) -> Iterator[Diagnostic]:
    rated = [peak for peak in rated_peaks if peak.limit and not peak.is_tensor]
    if not rated or not numbers.values.keys() >= {"clock", "issue"}:
        return
    best = max(rated, key=lambda peak: peak.limit or 0)
    width, gain = numbers.values.get("simd_width", 1), numbers.values.get("fma_gain", 1)
    allowed = numbers.values["clock"] * numbers.values["issue"] * width * gain
    if best.limit is not None and best.limit > allowed * (1 + TOLERANCE):
        product = " x ".join(name for name in ("clock", "issue", "simd_width", "fma_gain") if name in numbers.values)
        message = (
            f"core `{numbers.component.name}` does {format_quantity(best.limit, 'flop/s')}{_describe_peak(best)}, and "
            f"{product} "
            f"allow {format_quantity(allowed, 'flop/s')}"
        )
        yield warning("above-peak", message, span)


def _warn_slower(rated_peaks: list[Peak], span: Span | None) -> Iterator[Diagnostic]:
    """Vectors and fused operations that cost time."""
    rates = {peak.traits: peak.limit for peak in rated_peaks}
    for trait in ("simd", "fmad"):
        for traits, rate in rates.items():
            without = rates.get(tuple(name for name in traits if name != trait))
            if trait in traits and rate is not None and without is not None and rate < without * (1 - TOLERANCE):
                message = f"flops as {', '.join(traits)} are slower than without `{trait}`"
                yield warning(
                    "slower-trait", message, span, hint="a trait's time divides by the gain: `base/simd_width`"
                )
                break


def _warn_transfer(
    numbers: _ComponentNumbers, resource: str, rated_peaks: list[Peak], span: Span | None
) -> Iterator[Diagnostic]:
    best = max((peak for peak in rated_peaks if peak.limit), key=lambda peak: peak.limit or 0, default=None)
    bandwidth = numbers.values.get("bandwidth")
    if best is None or best.limit is None or bandwidth is None or best.limit <= bandwidth * (1 + TOLERANCE):
        return
    message = (
        f"{numbers.component.type} `{numbers.component.name}` serves {resource} at {format_quantity(best.limit, 'B/s')}"
        f"{_describe_peak(best)}, above its bandwidth of {format_quantity(bandwidth, 'B/s')}"
    )
    yield warning("above-bandwidth", message, span)


# -- in words --------------------------------------------------------------------------------------


def _describe_peak(peak: Peak) -> str:
    return f" as {', '.join(peak.traits)}" if peak.traits else ""


def _format_number(value: Any) -> str:
    return format_quantity(value, "")


def _is_power_of_two(value: Any) -> bool:
    return value == int(value) and not int(value) & (int(value) - 1)


def _value_of(machine: Machine, expr: Expr) -> Any:
    """The value of a property; None where the machine alone does not tell it, and for arrays."""
    value = value_of(expr, machine.definitions)
    return None if isinstance(value, tuple) else value
