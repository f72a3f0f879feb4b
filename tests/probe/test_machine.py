"""A machine from measurements: its text passes every check, and its numbers are those of arithmetic on the readings."""

from __future__ import annotations

import pytest

from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import implausible
from tests.probe import hosts
from tests.probe.hosts import CLOCK, readings


def value(text: str, name: str) -> float:
    """A property by its full name."""
    machine = hosts.machine(text)
    component, _, plain = name.partition(".")
    found = machine.components[component].value(plain)
    assert found is not None
    from aspenpy.answers.peaks import value_of

    return float(value_of(found, machine.definitions))


def test_the_text_passes_every_check() -> None:
    machine = hosts.machine(hosts.text())
    assert [*check_machine(machine), *implausible(machine), *machine.warnings] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("here_core.clock", CLOCK),
        ("here_core.add_dp_rate", 1),
        ("here_core.fma_dp_simd_rate", 8),
        ("here_core.divide_sp_rate", 1 / 5),
        ("here_core.square_root_latency", 20),
        ("here_core.simd_width", 8),
        ("here_core.outstanding", 10),
        ("here_core.reorder", 28),
        ("here_core.tlb_latency", 4e-9),
        ("here_l1.capacity", 32 << 10),
        ("here_l2.capacity", 1 << 20),
        ("here_l3.capacity", 20 << 20),  # where its loads turn, between rings of 16 and 24 MiB; sysfs says 32
        ("here_l1.set_latency", 3e-9),
        ("here_l1.set_store_latency", 4e-9),
        ("here_memory.core_bandwidth", 1 / (1 / 10e9 - 1 / 100e9)),
        ("here_memory.page_fault_latency", 3e-7),
    ],
)
def test_numbers_by_hand(name: str, expected: float) -> None:
    assert value(hosts.text(), name) == pytest.approx(expected, rel=0.06)


def test_a_third_cache_is_shared_where_cores_find_less_at_once() -> None:
    own, shared = hosts.text(), hosts.text(readings(third_of_all=4 << 20))
    core = "core here_core"
    assert own.index("cache here_l3") > own.index(f"{core} {{")
    assert shared.index("cache [1] here_l3") < shared.index(f"{core} {{")


def test_what_spreads_is_marked() -> None:
    """The best of three passes, and how far the median is from it."""
    passes = [readings() | {"barrier_latency": seconds, "memory_latency": 1e-7} for seconds in (1e-7, 1.5e-7, 4e-7)]
    text = hosts.text(*passes)
    assert (
        "property barrier_latency [100 ns]  // all cores meet, waiting in a loop: measured, uncertain: spread 50"
        in text
    )
    assert (
        "property latency [100 ns]  // loads that wait for each other, TLB misses included: measured, spread 0" in text
    )
