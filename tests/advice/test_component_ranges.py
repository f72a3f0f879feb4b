"""Ranges of hardware components that nobody states, and the ends of what is physical: each by hand."""

from __future__ import annotations

import pytest

from aspenpy.advice.configurable import ComponentParameter, Configurable
from aspenpy.advice.configuration import COMPONENTS
from aspenpy.advice.ranges import may_be_changed, ranges_of
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_machine

K = 1024.0


def found(component: str, base: float, *wanted: str, **more: object) -> tuple[float, ...] | None:
    """The ends of a component's range, or the values of a choice; None where it has no range."""
    parameter = ComponentParameter(component, component, 1.0, base, **more)  # type: ignore[arg-type]
    ranges = ranges_of(Configurable(load_machine("haswell"), (parameter,), ()), wanted or ("all",))
    if not ranges:
        return None
    variable = ranges[0].variable
    assert variable.base == base
    return variable.choices or (variable.low, variable.high)


@pytest.mark.parametrize(
    ("component", "base", "values"),
    [
        ("clock", 2e9, (1e9, 2e9)),  # turned down, not up
        ("clock", 1.5e8, (1e8, 1.5e8)),
        ("clock", 1e8, None),
        ("voltage", 0.9, (0.45, 1.8)),
        ("voltage", 0.5, (0.3, 1.0)),
        ("voltage", 1.5, (0.75, 2.0)),
        ("uncore_clock", 2e9, (1e9, 4e9)),
        ("uncore_clock", 2.5e9, (1.25e9, 5e9)),  # as far as one is sold
        ("uncore_clock", 4e9, (2e9, 5e9)),
        ("uncore_clock", 6e9, (3e9, 6e9)),  # it is there
        ("cores", 8, (4, 8)),
        ("cores", 7, (4, 7)),
        ("cores", 2, (1, 2)),
        ("cores", 1, None),
        ("smt", 8, (4, 8)),
        ("smt", 4, (2, 4)),
        ("smt", 16, None),
        ("simd_width", 1, (1, 2)),
        ("simd_width", 4, (2, 4, 8)),
        ("simd_width", 1024, (512, 1024)),
        ("l1_capacity", 32 * K, (16 * K, 32 * K, 64 * K)),
        ("l1_capacity", 64, (64, 128)),
        ("l2_capacity", 96, (96, 192)),  # half of it is less than a line
        ("l3_capacity", 2.0**32, (2.0**31, 2.0**32)),
        ("prefetch", 1, (1, 2)),
        ("prefetch", 64, (32, 64)),
        ("memory_bandwidth", 1e11, (5e10, 1e11)),
        ("memory_clock", 1e9, (5e8, 1e9)),
        ("memory_latency", 1e-7, (5e-8, 2e-7)),
        ("memory_latency", 1e-3, (5e-4, 1e-3)),
        ("memory_capacity", 2.0**33, (2.0**32, 2.0**33, 2.0**34)),
        ("sockets", 2, (1, 2)),
        ("sockets", 1, None),
        ("nodes", 5, (3, 5)),
        ("network_bandwidth", 1e10, (5e9, 2e10)),
        ("network_latency", 1e-6, (5e-7, 2e-6)),
    ],
)
def test_half_to_twice_where_nobody_states_a_range(
    component: str, base: float, values: tuple[float, ...] | None
) -> None:
    assert found(component, base) == values


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0.25, 9, (1, 9)), (1, 9.5, (1, 9)), (1.5, 2.5, None), (1.5, 3.0, (2, 3)), (0.5, 2e5, (1, 1e5))],
)
def test_declared_ranges_are_cut_to_whole_and_physical_numbers(
    low: float, high: float, values: tuple[float, float] | None
) -> None:
    assert found("cores", 2, low=low, high=high) == values


PHYSICAL = {
    "clock": (1e8, 1e10),
    "voltage": (0.3, 2.0),
    "uncore_clock": (1e8, 1e10),
    "cores": (1, 1e5),
    "smt": (1, 8),
    "simd_width": (1, 1024),
    "l1_capacity": (64.0, 2.0**32),
    "l2_capacity": (64.0, 2.0**32),
    "prefetch": (1, 64),
    "l3_capacity": (64.0, 2.0**32),
    "memory_bandwidth": (1e6, 1e14),
    "memory_clock": (1e8, 1e10),
    "memory_latency": (1e-9, 1e-3),
    "memory_capacity": (2.0**20, 2.0**60),
    "sockets": (1, 1024),
    "nodes": (1, 1e7),
    "network_bandwidth": (1e6, 1e14),
    "network_latency": (1e-8, 1.0),
}


def test_every_component_of_a_machine_has_a_physical_range_here() -> None:
    assert sorted(PHYSICAL) == sorted(name for name, item in COMPONENTS.items() if item.steps != "alternative")


@pytest.mark.parametrize("component", PHYSICAL)
def test_a_range_of_the_user_ends_at_what_is_physical(component: str) -> None:
    least, most = PHYSICAL[component]
    base = (least * most) ** 0.5
    for low, high in ((least, base), (base, most), (least, most)):
        assert found(component, base, f"{component}={low!r}..{high!r}") is not None
    for low, high in ((least * 0.99, most), (least, most * 1.01)):
        with pytest.raises(AspenError, match="hardware has"):
            found(component, base, f"{component}={low!r}..{high!r}")
        with pytest.raises(AspenError, match="hardware has"):
            found(component, base, f"{component}={low!r},{high!r}")
    for low, high, what in ((base, base, "holds a single value"), (most, least, "is empty")):
        with pytest.raises(AspenError, match=what):
            found(component, base, f"{component}={low!r}..{high!r}")


@pytest.mark.parametrize(
    ("component", "low", "soldered", "is_changed"),
    [
        ("clock", None, False, True),
        ("clock", None, True, False),
        ("voltage", None, False, False),  # nobody turns it
        ("voltage", 0.5, False, False),
        ("network_bandwidth", None, False, False),  # another network has to be stated
        ("network_bandwidth", 1e9, False, True),
        ("memory_bandwidth", None, True, False),
        ("memory_bandwidth", None, False, True),
        *((name, None, False, True) for name in ("cores", "smt", "memory_clock", "sockets", "nodes")),
        *((name, None, False, False) for name in ("simd_width", "l1_capacity", "prefetch", "memory_latency")),
    ],
)
def test_what_somebody_can_turn(component: str, low: float | None, soldered: bool, is_changed: bool) -> None:
    assert may_be_changed(ComponentParameter(component, component, 1.0, 1.0, low, low, soldered)) is is_changed
