"""Sizes of the arrays that a probe without a compiler sums up."""

import pytest

from aspenpy.probe import benchmark

KIB = 1 << 10


@pytest.mark.parametrize(
    ("third", "expected"),
    [(15 * KIB, 64 * KIB), (16 * KIB, 64 * KIB), (17 * KIB, 68 * KIB), (32 * KIB, 128 * KIB), (33 * KIB, 128 * KIB)],
)
def test_memory_is_four_last_caches_within_limits(third: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the last cache, but no less than the limit and no more than twice as much; a call takes a second."""
    monkeypatch.setattr(benchmark, "NUMPY_MEMORY", 64 * KIB)
    monkeypatch.setattr(benchmark, "find_caches", lambda host: benchmark.Caches((4 * KIB, 8 * KIB, third), 8))
    monkeypatch.setattr(benchmark, "_time_call", lambda call: call() is not None and 1.0)
    found = benchmark._run_numpy_pass(None)  # type: ignore[arg-type]
    assert found["memory_throughput"] == expected
    assert found["second_throughput"] == 4 * KIB
    assert found["divide_throughput"] == found["square_root_throughput"] == 4 * KIB / 4 / 8
