"""A machine from measurements: its text passes every check, and its numbers are those of arithmetic on the readings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import predict
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import check_plausibility
from aspenpy.answers.peaks import value_of
from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.probe import build_machine, import_machine
from aspenpy.probe.text import About, write_machine
from aspenpy.probe.topology import CacheLevel, HostTopology
from tests.nodes.test_one_vocabulary import MODEL
from tests.probe import hosts
from tests.probe.hosts import CLOCK, HOST, readings
from tests.thorough import examples

WHO = ("lscpu", "hwloc", "likwid-topology", "STREAM")


def value(text: str, name: str) -> float:
    """A property by its full name."""
    machine = hosts.machine(text)
    component, _, plain = name.partition(".")
    found = machine.components[component].value(plain)
    assert found is not None
    return float(value_of(found, machine.definitions))


def test_capacities_say_where_they_are_from() -> None:
    """A latency turns halfway, by ratio, between the last ring that fits and the first that does not: at sqrt(32 * 48),
    sqrt(1 * 1.5) and sqrt(16 * 24) of their units."""
    said = [line.split("//")[1].strip() for line in hosts.text().splitlines() if "property capacity" in line]
    assert said == [
        "the operating system; latency turns at 39.2 KiB",
        "the operating system; latency turns at 1.22 MiB",
        "latency turns here; the operating system says 32 MiB: measured, spread 0.0 %",
        "assumed: an equal part of what the operating system says",
    ]


@pytest.mark.parametrize(("together", "adders"), [(1.0, None), (1.3, None), (1.8, 1), (2.0, 1)])
def test_additions_have_pipes_of_their_own_where_both_go_on_at_once(together: float, adders: int | None) -> None:
    """As many sums and products side by side as of either alone say one kind of pipes, twice as many say two."""
    machine = hosts.machine(hosts.text(readings() | {"add_and_multiply_dp_throughput": together * CLOCK}))
    found = machine.components["here_core"].value("adders")
    assert (None if found is None else value_of(found, machine.definitions)) == adders


def test_the_text_passes_every_check() -> None:
    machine = hosts.machine(hosts.text())
    assert [*check_machine(machine), *check_plausibility(machine), *machine.warnings] == []


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
        ("here_core.tlb_walks", 5),  # 20 ns for a load that waits, beside the 7 ns of its line
        ("here_core.shift_rate", 2),
        ("here_core.logic_int8_simd_rate", 3 * 32),
        ("here_core.shift_int16_simd_rate", 16),
        ("here_core.dot_int8_simd_rate", 64),
        ("here_core.mispredict_penalty", 16),  # of 20, four are the load of the condition
        ("here_core.mispredict_dp_penalty", 24),
        ("here_core.permute_vectors", 0.5),
        ("here_core.convert_rate", 2),  # there and back, one a cycle: two
        ("here_core.convert_latency", 2),
        ("here_core.learnt_outcomes", 4096),  # between 2,048 and 8,192, by the logarithms
        ("here_core.forward_latency", 5),
        ("here_core.atomic_latency", 18),
        ("here_socket.transfer_latency", 4e-8),
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


@pytest.mark.parametrize(("third_of_all", "remark"), [(16 << 20, True), (4 << 20, False)])
def test_a_third_cache_is_shared_where_the_system_says_so(third_of_all: int, remark: bool) -> None:
    """Whatever cores find of it at once; where that is as much as one alone does, the head of the file says it."""
    found = build_machine("here", HOST, [readings(third_of_all=third_of_all)])
    assert found.text.index("cache [1] here_l3") < found.text.index("core here_core {")
    assert ("Cores that share the third cache find" in found.text) == remark
    alone = HOST.replace(caches=tuple(cache.replace(sharing=1) for cache in HOST.caches))
    private = build_machine("here", alone, [readings(third_of_all=third_of_all)]).text
    assert private.index("cache here_l3") > private.index("core here_core {")
    assert "Cores that share" not in private


@pytest.mark.parametrize(
    ("changed", "name", "expected", "measured"),
    [
        # 2 (1/8 - 1/100 - (1/10 - 1/100)) ns a byte
        ({}, "core_store_bandwidth", 20e9, True),
        ({}, "attained_store_bandwidth", 40e9, True),
        # copies take as long as their loads: five times the bandwidth of loads
        ({"memory_copy_core": 10e9}, "core_store_bandwidth", 5 / (1 / 10e9 - 1 / 100e9), False),
        ({"memory_copy_all": 20e9}, "attained_store_bandwidth", 5 / (1 / 20e9 - 1 / 200e9), False),
        # loads take as long as those from the first cache: ten times theirs
        ({"memory_load_core": 100e9}, "core_bandwidth", 1e12, False),
        ({}, "attained_bandwidth", 1 / (1 / 20e9 - 1 / 200e9), True),
    ],
)
def test_what_no_measurement_gave_is_not_called_measured(
    changed: dict[str, float], name: str, expected: float, measured: bool
) -> None:
    text = hosts.text(readings() | changed)
    assert value(text, f"here_memory.{name}") == pytest.approx(expected, rel=1e-3)
    line = text[text.index(f"property {name} ", text.index("memory here_memory {")) :].partition("\n")[0]
    assert ("measured" in line, "assumed" in line) == (measured, not measured)


@pytest.mark.parametrize(
    ("together", "said"), [(50e9, "loads of all cores on it"), (20e9, "loads of one core: all at")]
)
def test_bandwidth_of_a_shared_cache_says_whose_it_is(together: float, said: str) -> None:
    """25 GB/s of one core; all at once take 50 GB/s, or are disturbed."""
    text = hosts.text(readings() | {"third_load_all": together})
    assert value(text, "here_l3.bandwidth") == pytest.approx(max(together, 25e9))
    assert said in text


def test_the_clock_is_that_of_whole_latencies() -> None:
    """Chains of doubles and products that are 1.2 % slower than those of additions of integers say a lower clock."""
    slower = {name: 1.012 * seconds for name, seconds in readings().items() if name.startswith(("add", "mul", "fma"))}
    text = hosts.text(readings() | slower | {"integer_multiply_latency": 3 * 1.012 / CLOCK})
    assert value(text, "here_core.clock") == pytest.approx(CLOCK / 1.012, rel=1e-3)
    assert [value(text, f"here_core.{name}_latency") for name in ("integer", "add", "multiply")] == [1, 3, 3]
    odd = hosts.text(readings() | {f"{name}_dp_latency": 3.4 / CLOCK for name in ("add", "multiply", "fma")})
    assert value(odd, "here_core.clock") == pytest.approx(CLOCK)  # 3.4 cycles say nothing


@pytest.mark.parametrize(
    ("half", "spread", "capacity"),
    [(11e9, 1, 3 << 20), (24e9, 1, 32 << 20), (11e9, 2, 32 << 20)],
)
def test_a_third_cache_that_neighbours_use_is_as_large_as_the_system_says(
    half: float, spread: float, capacity: int
) -> None:
    """Rings turn at 3 MiB of 32: streams of 16 MiB come as from the cache, or the rings differ from pass to pass."""
    first = readings(third=5 << 19) | {"third_half_load_core": half}
    slow = {name: spread * seconds for name, seconds in first.items() if name.startswith("ring_")}
    text = hosts.text(first, first | slow, first | slow)
    assert value(text, "here_l3.capacity") == pytest.approx(capacity, rel=0.3)
    assert ("since neighbours use it" in text) == (capacity == 32 << 20)
    if capacity == 32 << 20:
        assert value(text, "here_l3.chain_capacity") == pytest.approx(3 << 20, rel=0.35)  # what chains of loads find
    else:
        assert "chain_capacity" not in text


def test_what_neighbours_leave_is_that_of_most_passes() -> None:
    """In one of three passes rings turn at 18 MiB, in the others at 3."""
    calm, busy = (readings(third=size) | {"third_half_load_core": 24e9} for size in (16 << 20, 5 << 19))
    assert value(hosts.text(busy, calm, busy), "here_l3.chain_capacity") == pytest.approx(3 << 20, rel=0.3)


def test_walks_are_told_where_lines_are_in_the_second_cache_and_memory_has_none() -> None:
    """2,048 lines are there, 7 ns away, and take 27; 32,768 are in the third, where neighbours make them 200."""
    crowded = {"pages_32768_latency": 200e-9, "pages_32768_chains_16_latency": 60e-9, "memory_huge_latency": 80e-9}
    text = hosts.text(readings() | crowded)
    walk, at_once = value(text, "here_core.tlb_latency"), value(text, "here_core.tlb_walks")
    assert (walk, walk * at_once) == pytest.approx((4e-9, 20e-9), rel=1e-3)
    assert value(text, "here_core.tlb_entries") == 624  # of 16 ways, sqrt(512 * 768) at most
    assert value(text, "here_memory.latency") == pytest.approx(80e-9)


def test_a_probed_machine_prices_the_whole_vocabulary() -> None:
    machine = hosts.machine(hosts.text())
    found = predict(aspenpy.parse(MODEL), machine)  # type: ignore[arg-type]
    assert all(float(time) > 0 for time in found.scope.values([cost.time for cost in found.tree.requirements], 0))
    wrong = [item.message for item in found.diagnostics if item.code in ("unknown-trait", "unknown-rate")]
    assert not wrong


def test_what_spreads_is_marked() -> None:
    """The best of three passes, and how far the median is from it."""
    passes = [readings() | {"barrier_latency": seconds, "memory_latency": 1e-7} for seconds in (1e-7, 1.5e-7, 4e-7)]
    text = hosts.text(*passes)
    assert (
        "property barrier_latency [100 ns]  // all cores meet, waiting in a loop: measured, uncertain: spread 50"
        in text
    )
    assert "property latency [100 ns]  // loads that wait for each other: measured, spread 0" in text


@pytest.mark.parametrize("names", [("lscpu.json",), ("lscpu_old.json", "stream.txt"), ("hwloc2.xml",), ("likwid.txt",)])
def test_machines_from_files_pass_every_check_and_say_what_is_assumed(names: tuple[str, ...]) -> None:
    found = import_machine("site", [str(Path(__file__).parent / "files" / name) for name in names])
    machine = hosts.machine(found.text)
    assert [*check_machine(machine), *check_plausibility(machine), *machine.warnings] == []
    sources = [number.source for part in found.numbers.values() for number in part.values()]
    assert all(source.startswith(("assumed", *WHO)) for source in sources)


def test_texts_of_files_stay_in_their_comments() -> None:
    """A processor's name with a line break and a declaration behind it."""
    host = HOST.replace(processor="Evil\nparam x = 1", said_by="some\rone\u2028param y = 2")
    text = hosts.text(host=host)
    assert not {"x", "y"} & set(hosts.machine(text).declared)


@settings(max_examples=examples(100))
@given(
    cores=st.integers(1, 256),
    sockets=st.integers(1, 8),
    threads=st.integers(1, 4),
    sizes=st.tuples(st.integers(1, 2048), st.integers(1, 10**5), st.integers(1, 10**6)),
    ways=st.one_of(st.none(), st.integers(1, 64)),
    sharing=st.integers(1, 64),
    memory=st.one_of(st.none(), st.integers(1 << 20, 1 << 45)),
)
def test_every_topology_becomes_a_machine_that_is_read(
    cores: int,
    sockets: int,
    threads: int,
    sizes: tuple[int, int, int],
    ways: int | None,
    sharing: int,
    memory: int | None,
) -> None:
    caches = tuple(CacheLevel(level, size << 10, ways, 64, sharing) for level, size in enumerate(sizes, 1))
    host = HostTopology("any", "a test", sockets, cores, threads, 1, memory, caches)
    text = write_machine("any_host", complete_numbers({}, host), host, About("2026-01-02", "made-up"))
    machine = hosts.machine(text)
    assert not [item for item in check_machine(machine) if item.severity == "error"]
    assert value(text, "any_host_l1.capacity") == sizes[0] << 10
