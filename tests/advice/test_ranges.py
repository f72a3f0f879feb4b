"""Between which values components are varied: ends by hand, at and beside what is physical, sold and declared."""

from __future__ import annotations

import pytest

from aspenpy.advice.configurable import ComponentParameter, Configurable
from aspenpy.advice.configuration import ComponentRange
from aspenpy.advice.ranges import EVERY, ranges_of
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.language.diagnostics import AspenError
from tests.tiny import machine


def ranges(
    wanted: tuple[str, ...], *parameters: ComponentParameter, system: tuple[SystemRange, ...] = ()
) -> tuple[ComponentRange, ...]:
    return ranges_of(Configurable(machine(), parameters, ("voltage",)), wanted, system)


def part(component: str, base: float, low: float | None = None, high: float | None = None) -> ComponentParameter:
    return ComponentParameter(component, f"cpu_{component}", 1.0, base, low, high)


HALF = "half of the machine's {}, to that: {}; assumed"
TWICE = "half to twice the machine's {}; extrapolated"
SOLD = "half to twice the machine's {}, at most {} (the ring of a Core i9-14900K: assumed); extrapolated"
LEFT_IDLE, FREQUENCIES = "left idle by the batch system", "cpufreq, nvidia-smi -lgc"


@pytest.mark.parametrize(
    ("parameter", "low", "high", "origin"),
    [
        (part("clock", 2e9), 1e9, 2e9, HALF.format("2 GHz", FREQUENCIES)),
        (part("clock", 1.5e8), 1e8, 1.5e8, HALF.format("150 MHz", FREQUENCIES)),
        (part("cores", 5), 3, 5, HALF.format("5", LEFT_IDLE)),  # from 2.5 on
        (part("cores", 2), 1, 2, HALF.format("2", LEFT_IDLE)),
        (part("smt", 8), 4, 8, HALF.format("8", "the firmware")),
        (part("uncore_clock", 2e9), 1e9, 4e9, TWICE.format("2 GHz")),
        (part("uncore_clock", 2.5e9), 1.25e9, 5e9, TWICE.format("2.5 GHz")),
        (part("uncore_clock", 3e9), 1.5e9, 5e9, SOLD.format("3 GHz", "5 GHz")),
        (part("uncore_clock", 6e9), 3e9, 6e9, SOLD.format("6 GHz", "6 GHz")),
        (part("memory_latency", 1e-9), 1e-9, 2e-9, TWICE.format("1 ns")),
        (part("memory_latency", 1e-3), 0.5e-3, 1e-3, TWICE.format("1 ms")),
        (part("clock", 2e9, 1.5e9, 3e9), 1.5e9, 3e9, "`cpu_clock` declares it"),
        (part("clock", 2e9, 1e7, 1e11), 1e8, 1e10, "`cpu_clock` declares it"),
        (part("cores", 8, 1.5, 8.5), 2, 8, "`cpu_cores` declares it"),
    ],
)
def test_ends_that_nobody_gave(parameter: ComponentParameter, low: float, high: float, origin: str) -> None:
    (found,) = ranges((parameter.component,), parameter)
    assert (found.variable.low, found.variable.high, found.variable.base) == (low, high, parameter.base)
    assert (found.origin, found.source) == (origin, "machine" if "declares" in origin else "vendor")
    assert (found.component, found.sets, found.factor) == (parameter.component, parameter.sets, 1.0)
    assert found.variable.kind == ("whole" if parameter.component in ("cores", "smt") else "real")


@pytest.mark.parametrize(
    "parameter", [part("clock", 1e8), part("cores", 1), part("cores", 4, 2.2, 2.8), part("clock", 2e9, 3e9, 3e9)]
)
def test_one_value_is_no_range(parameter: ComponentParameter) -> None:
    assert ranges((parameter.component,), parameter) == ()


@pytest.mark.parametrize(
    ("parameter", "choices"),
    [
        (part("prefetch", 2), (1, 2, 4)),
        (part("prefetch", 1), (1, 2)),
        (part("prefetch", 64), (32, 64)),
        (part("simd_width", 8), (4, 8, 16)),
        (part("l1_capacity", 49152, 16384, 98304), (24576, 49152, 98304)),
        (part("l1_capacity", 49152, 12288, 98303), (12288, 24576, 49152)),
    ],
)
def test_doublings(parameter: ComponentParameter, choices: tuple[float, ...]) -> None:
    (found,) = ranges((parameter.component,), parameter)
    assert (found.variable.kind, found.variable.choices) == ("choice", choices)
    assert (found.variable.low, found.variable.high) == (choices[0], choices[-1])


PARTS = (
    part("clock", 2e9),
    part("cores", 8),
    part("memory_latency", 1e-7),
    part("network_bandwidth", 1e9),
    part("memory_bandwidth", 1e11),
)


@pytest.mark.parametrize(
    ("wanted", "low", "high", "kind"),
    [
        ("clock=1GHz..3GHz", 1e9, 3e9, "real"),
        ("clock=0.1GHz..10GHz", 1e8, 1e10, "real"),  # both ends of what hardware has
        ("clock=3GHz,1GHz", 1e9, 3e9, "choice"),
        ("clock=2e9,4e9", 2e9, 4e9, "choice"),
        ("clock=0.1GHz,10GHz", 1e8, 1e10, "choice"),
        ("cores=1..12", 1, 12, "whole"),
        ("cores=4,2", 2, 4, "choice"),
        ("memory_latency=50ns..80ns", 5e-8, 8e-8, "real"),
    ],
)
def test_ends_of_the_user(wanted: str, low: float, high: float, kind: str) -> None:
    (found,) = ranges((wanted,), *PARTS, system=(SystemRange("clock", 1.1e9, 1.2e9, "a tool"),))
    assert (found.variable.kind, found.source, found.origin) == (kind, "user", "--vary")
    assert (found.variable.low, found.variable.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        ("clock=2GHz..2GHz", "empty-range", "the range of `clock` holds a single value: from 2 GHz to 2 GHz"),
        ("clock=2GHz..1GHz", "empty-range", "the range of `clock` is empty: from 2 GHz to 1 GHz"),
        ("clock=1GHz,2GHz,1GHz", "bad-variable", "`clock` lists a value twice"),
        ("clock=0.09GHz..1GHz", "unphysical-range", "`clock` cannot be 90 MHz: hardware has 100 MHz to 10 GHz"),
        ("clock=1GHz..11GHz", "unphysical-range", "`clock` cannot be 11 GHz: hardware has 100 MHz to 10 GHz"),
        ("clock=1GHz,11GHz", "unphysical-range", "`clock` cannot be 11 GHz: hardware has 100 MHz to 10 GHz"),
        ("cores=0..4", "unphysical-range", "`cores` cannot be 0: hardware has 1 to 100,000"),
        ("clock=1GB..2GB", "bad-value", "expected hertz, not bytes: `1GB`"),
        ("clock=x..2GHz", "bad-value", "expected a quantity such as 1.2GHz, not `x`"),
        ("voltage=1..2", "no-such-component", "`seconds` states no `voltage`"),
        ("clok", "unknown-component", "there is no hardware component `clok`"),
    ],
)
def test_ranges_that_cannot_be(wanted: str, code: str, message: str) -> None:
    with pytest.raises(AspenError) as refused:
        ranges((wanted,), *PARTS)
    assert [(each.code, each.message) for each in refused.value.diagnostics] == [(code, message)]


def test_whose_range_holds_and_what_is_varied() -> None:
    """The user's, the system's, the machine's; without a name what somebody can turn, or the system says."""
    system = (SystemRange("clock", 1.1e9, 1.2e9, "a tool"), SystemRange("memory_latency", 5e-8, 6e-8, "another"))

    def origins(*wanted: str, system: tuple[SystemRange, ...] = (), soldered: bool = False) -> dict[str, str]:
        parts = [item.replace(soldered=soldered) for item in PARTS]
        return {item.component: item.source for item in ranges(wanted, *parts, system=system)}

    vendor = {"clock": "vendor", "cores": "vendor", "memory_bandwidth": "vendor"}
    assert origins() == vendor
    assert origins(soldered=True) == {}
    assert origins(system=system) == {"clock": "system", **vendor, "memory_latency": "system"} | {"clock": "system"}
    assert origins("clock", system=system) == {"clock": "system"}
    assert origins("cores", "memory_latency") == {"cores": "vendor", "memory_latency": "vendor"}
    assert set(origins(*EVERY)) == {item.component for item in PARTS}
    declared = part("network_bandwidth", 1e9, 1e9, 4e9)
    assert [item.source for item in ranges((), declared)] == ["machine"]
    (found,) = ranges((), PARTS[0], system=system)
    assert (found.variable.low, found.variable.high, found.origin) == (1.1e9, 1.2e9, "a tool")
    with pytest.raises(AspenError, match="holds a single value"):
        ranges((), PARTS[0], system=(SystemRange("clock", 1e9, 1e9, "a tool"),))
