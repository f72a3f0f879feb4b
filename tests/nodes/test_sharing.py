"""Cores that share a memory or a cache: arithmetic by hand, one core's own rate, all cores' attained rate."""

from __future__ import annotations

from math import sqrt

import pytest

from aspenpy import predict
from tests.tiny import application, machine

MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [{cores}] c  memory [{memories}] mem  {words} }
core c { resource flops(x) [x/(1e9)]  {core} cache l1 }
cache l1 { property capacity [32 KiB]  property cacheline [64 B]  property associativity [8] }
memory mem {
  property bandwidth [128e9]
  {memory}
  resource loads(v) [v/(98e9)]
  resource stores(v) [v/(98e9)]
}
"""
STATED = "property attained_bandwidth [98e9] property core_bandwidth [14e9]"
VOLUME = 8e8


def node(memory: str = STATED, cores: int = 20, memories: int = 1, words: str = "", core: str = "") -> str:
    fields = {"cores": cores, "memories": memories, "words": words, "core": core, "memory": memory}
    text = MACHINE
    for name, worth in fields.items():
        text = text.replace(f"{{{name}}}", str(worth))
    return text


def seconds(instances: int, text: str, resource: str = "loads") -> float:
    """An equal part of the volume to each of so many instances."""
    app = application(f"execute [{instances}] {{ {resource} [8e8/{instances}] }}")
    return float(predict(app, machine(text)).runtime)


def test_one_core_has_its_own_rate() -> None:
    assert seconds(1, node()) == pytest.approx(VOLUME / 14e9, rel=1e-12)


@pytest.mark.parametrize("instances", [20, 40, 200])
def test_all_cores_attain_what_is_stated(instances: int) -> None:
    assert seconds(instances, node()) == pytest.approx(VOLUME / 98e9, rel=1e-12)


@pytest.mark.parametrize("active", [2, 3, 7, 12, 19])
def test_between_them_the_squares_of_the_times_are_linear_in_the_square_of_the_cores(active: int) -> None:
    one, every = VOLUME / 14e9, 20 * VOLUME / 98e9
    of_full_shares = sqrt(one**2 + (every**2 - one**2) * (active**2 - 1) / (20**2 - 1))
    assert seconds(active, node()) == pytest.approx(of_full_shares / active, rel=1e-12)


@pytest.mark.parametrize("active", [1, 2, 4])
def test_few_cores_that_never_saturate_it_have_their_own_rates(active: int) -> None:
    assert seconds(active, node(cores=4)) == pytest.approx(VOLUME / (active * 14e9), rel=1e-12)


def test_without_the_rate_of_a_core_one_has_all() -> None:
    assert seconds(1, node("")) == pytest.approx(VOLUME / 98e9, rel=1e-12)


def test_lines_outstanding_by_latency_are_the_rate_of_a_core() -> None:
    text = node("property attained_bandwidth [98e9] property latency [80e-9]", core="property outstanding [10]")
    assert seconds(1, text) == pytest.approx(VOLUME / (10 * 64 / 80e-9), rel=1e-12)


def test_one_core_draws_no_more_than_all_attain() -> None:
    """A hundred lines in 10 ns would be 640 GB/s, and the memory attains 98."""
    text = node("property attained_bandwidth [98e9] property latency [10e-9]", core="property outstanding [100]")
    assert seconds(1, text) == pytest.approx(VOLUME / 98e9, rel=1e-12)


def test_stores_may_be_slower() -> None:
    text = node(STATED + " property core_store_bandwidth [7e9]")
    assert seconds(1, text, "stores") == pytest.approx(VOLUME / 7e9, rel=1e-12)
    assert seconds(1, text, "loads") == pytest.approx(VOLUME / 14e9, rel=1e-12)


def test_scattered_instances_take_a_memory_each() -> None:
    scattered = seconds(2, node(memories=2))
    assert scattered == pytest.approx(VOLUME / 2 / 14e9, rel=1e-12)


def test_compact_instances_fill_one_memory_first() -> None:
    """Two of ten cores on one of two memories are as two of ten on one."""
    compact = node(memories=2, words="property affinity [compact]")
    assert seconds(2, compact) == pytest.approx(seconds(2, node(cores=10)), rel=1e-12)
    assert seconds(10, compact) == pytest.approx(VOLUME / 98e9, rel=1e-12)
    assert seconds(15, compact) == pytest.approx(10 * VOLUME / 15 / 98e9, rel=1e-12)
    assert seconds(20, compact) == pytest.approx(VOLUME / 98e9 / 2, rel=1e-12)
    assert seconds(40, compact) == pytest.approx(VOLUME / 98e9 / 2, rel=1e-12)


def test_a_core_that_computes_as_long_is_in_contention_all_the_same() -> None:
    """T^2 = max(compute, alone)^2 + contention^2, with the contention of the memory alone."""
    flops = 0.2  # seconds of a core, of which there are 20 with an equal part each
    alone, every = VOLUME / 14e9, 20 * VOLUME / 98e9
    for active in (1, 5, 20):
        contention = (every**2 - alone**2) * (active**2 - 1) / (20**2 - 1)
        body = f"execute [{active}] {{ flops [{flops}e9/{active}] loads [{VOLUME}/{active}] }}"
        expected = sqrt(max(flops, alone) ** 2 + contention) / active
        assert float(predict(application(body), machine(node())).runtime) == pytest.approx(expected, rel=1e-12)


PRODUCTS = "property clock [1e9] property fma_dp_simd_rate [2] property tensor_dp_attained [0.5]"
"""A core that does products of matrices on its vectors, at 1e9 flop/s by measured ones."""


@pytest.mark.parametrize("flops", [0.04, 0.2, 0.4])
def test_a_product_takes_as_long_as_it_or_its_memory_does(flops: float) -> None:
    """What memory costs a product is in the rate that was measured: 8e8/98e9 s a core of twenty, or the product."""
    body = f"execute [20] {{ flops [{flops}e9/20] as tensor, dp loads [{VOLUME}/20] }}"
    expected = max(flops / 20, VOLUME / 98e9)
    assert float(predict(application(body), machine(node(core=PRODUCTS))).runtime) == pytest.approx(expected, rel=1e-12)


def test_other_work_beside_a_product_is_in_contention() -> None:
    """A peak without `attained` was not measured, and plain flops of the same block are as in others."""
    alone, every = VOLUME / 14e9, 20 * VOLUME / 98e9
    contention = every**2 - alone**2
    unmeasured = node(core=PRODUCTS.replace("property tensor_dp_attained [0.5]", ""))
    body = f"execute [20] {{ flops [0.4e9/20] as tensor, dp loads [{VOLUME}/20] }}"
    expected = sqrt(max(0.2, alone) ** 2 + contention) / 20
    assert float(predict(application(body), machine(unmeasured)).runtime) == pytest.approx(expected, rel=1e-12)
    body = f"execute [20] {{ flops [0.01e9/20] as tensor, dp flops [0.3e9/20] loads [{VOLUME}/20] }}"
    expected = sqrt(max(0.3, alone) ** 2 + contention) / 20
    assert float(predict(application(body), machine(node(core=PRODUCTS))).runtime) == pytest.approx(expected, rel=1e-12)


def test_loads_and_stores_of_one_bus_are_as_one_volume() -> None:
    text = node().replace("resource stores(v) [v/(98e9)]", "resource stores(v) [v/(98e9)] conflict loads, stores")
    for active in (1, 5, 20):
        body = f"execute [{active}] {{ loads [6e8/{active}] stores [2e8/{active}] }}"
        together = float(predict(application(body), machine(text)).runtime)
        assert together == pytest.approx(seconds(active, text), rel=1e-12)


def test_two_memories_that_are_full_overlap() -> None:
    """Each is in contention for itself: the slower one decides."""
    text = node(words="memory other")
    text += text[text.index("memory mem {") :].replace("memory mem {", "memory other {").replace("98e9", "49e9")
    where = "data x [1e9] data y [1e9] in other"
    body = "execute [20] { loads [8e8/20] from x loads [8e8/20] from y }"
    assert float(predict(application(body, where), machine(text)).runtime) == pytest.approx(VOLUME / 49e9, rel=1e-12)


def test_one_core_draws_no_more_than_all() -> None:
    text = node("property attained_bandwidth [98e9] property core_bandwidth [200e9]")
    for active in (1, 5, 20):
        assert seconds(active, text) == pytest.approx(VOLUME / 98e9, rel=1e-12)


CACHE = (
    "{ property capacity [64 KiB] property associativity [8] property cacheline [64] property bandwidth [100e9] %s }"
)


@pytest.mark.parametrize(
    ("stated", "seconds_each"),
    [
        ("", 8e4 / 100e9 + 8e4 / 100e9),  # one after the other
        ("property core_store_bandwidth [50e9]", 8e4 / 50e9),  # beside each other, the longer
        ("property core_store_bandwidth [200e9]", 8e4 / 100e9),
    ],
)
def test_a_cache_with_a_rate_of_stores_takes_them_beside_loads(stated: str, seconds_each: float) -> None:
    """Ten sweeps of 8 kB each that lie in the cache, one of loads and one of stores."""
    text = "machine m { node [1] n } node n { socket s } socket s { core c memory mem } core c { cache l1 } cache l1 "
    text += CACHE % stated + " memory mem { resource loads(v) [0*v] resource stores(v) [0*v] }"
    app = application(
        """execute {
        loads [10000] of size [8] from x as stream, reuse(10), warm
        stores [10000] of size [8] to y as stream, reuse(10), warm }""",
        "data x [8000] data y [8000]",
    )
    assert float(predict(app, machine(text)).runtime) == pytest.approx(seconds_each, rel=1e-12)
