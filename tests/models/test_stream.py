"""STREAM: its own byte counts, and bandwidth as it reports it."""

import pytest

import aspenpy

N = 1_000_000
COUNTED = {"copy": (0, 16), "scale": (1, 16), "add": (1, 24), "triad": (2, 24)}
"""Flops and bytes an element, from the table at the head of stream.c."""


@pytest.mark.parametrize(("kernel", "volume"), [(name, volume) for name, (_, volume) in COUNTED.items()])
def test_bytes_of_a_kernel(kernel: str, volume: int) -> None:
    assert aspenpy.count(aspenpy.load_application("stream"), "bytes", kernel=kernel, set={"n": N}) == volume * N


@pytest.mark.parametrize(("kernel", "flops"), [(name, flops) for name, (flops, _) in COUNTED.items() if flops])
def test_flops_of_a_kernel(kernel: str, flops: int) -> None:
    assert aspenpy.count(aspenpy.load_application("stream"), "flops", kernel=kernel, set={"n": N}) == flops * N


def test_arithmetic_is_double_precision_in_vectors_and_fused_in_triad() -> None:
    stream = aspenpy.load_application("stream")
    assert aspenpy.count(stream, "flops", set={"n": N}, traits=["dp", "simd"]) == 10 * (1 + 1 + 2) * N
    assert aspenpy.count(stream, "flops", set={"n": N}, traits=["dp", "simd", "fmad"]) == 10 * 2 * N


def test_arrays_have_ten_million_elements() -> None:
    # STREAM_ARRAY_SIZE of stream.c as it comes.
    assert aspenpy.count(aspenpy.load_application("stream"), "bytes", kernel="copy") == 16 * 10_000_000


def test_a_run_is_all_four_ten_times() -> None:
    stream = aspenpy.load_application("stream")
    assert aspenpy.count(stream, "bytes", set={"n": N}) == 10 * (16 + 16 + 24 + 24) * N
    assert aspenpy.count(stream, "flops", set={"n": N}) == 10 * (0 + 1 + 1 + 2) * N


@pytest.mark.parametrize(("kernel", "volume"), [(name, volume) for name, (_, volume) in COUNTED.items()])
def test_a_kernel_runs_at_the_bandwidth_of_the_memory(kernel: str, volume: int) -> None:
    stream, simple = aspenpy.load_application("stream"), aspenpy.load_machine("simple")
    runtime = aspenpy.predict(stream, simple, kernel=kernel, set={"n": N}).runtime
    assert volume * N / runtime == pytest.approx(10e9, rel=1e-12)


def test_all_memories_of_a_cluster_work_at_once() -> None:
    stream, haswell = aspenpy.load_application("stream"), aspenpy.load_machine("haswell")
    runtime = aspenpy.predict(stream, haswell, kernel="triad", set={"n": 16 * N}, nodes=16).runtime
    assert 24 * 16 * N / runtime == pytest.approx(16 * 68e9, rel=1e-12)
