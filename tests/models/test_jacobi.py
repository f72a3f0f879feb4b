"""jacobi: points, faces and flops in the plane and in space."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

PLANE, SPACE = {"dimension": 0, "n": 512}, {"dimension": 1, "n": 64}


def count(resource: str, kernel: str, values: Mapping[str, float]) -> float:
    return float(aspenpy.count(aspenpy.load_application("jacobi"), resource, kernel=kernel, set=values))


@pytest.mark.parametrize(("values", "points", "flops"), [(PLANE, 512**2, 5), (SPACE, 64**3, 7)], ids=["plane", "space"])
def test_a_sweep_by_hand(values: Mapping[str, float], points: int, flops: int) -> None:
    # In the plane 4 sums and a product, in space 6 and one; u and f in, u' out.
    assert count("flops", "sweep", values) == flops * points
    assert count("loads", "sweep", values) == 2 * 8 * points
    assert count("stores", "sweep", values) == 8 * points


@pytest.mark.parametrize(
    ("values", "ranks", "volume"),
    [(PLANE, 16, 16 * 4 * 128 * 8), (SPACE, 64, 64 * 6 * 16**2 * 8)],
    ids=["plane", "space"],
)
def test_a_layer_to_each_neighbour(values: Mapping[str, float], ranks: int, volume: int) -> None:
    # 16 squares of 128 x 128 points, 4 sides; 64 cubes of 16^3, 6 faces.
    assert count("messages", "exchange_faces", {**values, "ranks": ranks}) == pytest.approx(volume, rel=1e-12)


@pytest.mark.parametrize(
    ("dimension", "ranks", "messages"), [(0, 1, 0), (1, 1, 0), (0, 16, 100 + 10), (1, 64, 100 + 10)]
)
def test_messages_of_a_run(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], dimension: int, ranks: int, messages: int
) -> None:
    # 100 halos, 10 tests with a sum over all ranks.
    assert messages_in_turn("jacobi", "main", {"dimension": dimension, "n": 64, "ranks": ranks}) == messages


@pytest.mark.parametrize(
    ("values", "ranks", "points"),
    [(PLANE, 6, 2 * 512 / 3 + 2 * 512 / 2), (PLANE, 7, 2 * 512), (SPACE, 12, 2 * 64**2 * (1 / 4 + 1 / 6 + 1 / 6))],
    ids=["3 x 2", "7 x 1", "3 x 2 x 2"],
)
def test_sides_follow_from_the_grid_of_the_ranks(values: Mapping[str, float], ranks: int, points: float) -> None:
    """Of a grid of 3 x 2 ranks each has 512/3 x 512/2 points; of 7 in a row two sides are whole edges."""
    volume = count("messages", "exchange_faces", {**values, "ranks": ranks})
    assert volume == pytest.approx(ranks * 8 * points, rel=1e-12)


def test_flops_of_a_run() -> None:
    # 100 sweeps of 5, 33 tests of 3, a point.
    assert count("flops", "main", {**PLANE, "test_interval": 3}) == (100 * 5 + 33 * 3) * 512**2


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_fast_core_runs_at_the_bandwidth_of_the_memory(ranks: int) -> None:
    # 24 bytes a point at 10 GB/s, shared by all; 5 flops at 8e9 a second are hidden.
    jacobi, simple = aspenpy.load_application("jacobi"), aspenpy.load_machine("simple")
    values = {**PLANE, "ranks": ranks, "simple_clock": 4e9}
    runtime = aspenpy.predict(jacobi, simple, kernel="sweep", set=values).runtime
    assert runtime == pytest.approx(512**2 * 24 / 10e9, rel=1e-12)


def test_a_slow_core_is_bound_by_arithmetic() -> None:
    # 5 flops at 2e9 a second take 2.5 ns, 24 bytes at 10 GB/s 2.4.
    jacobi, simple = aspenpy.load_application("jacobi"), aspenpy.load_machine("simple")
    runtime = aspenpy.predict(jacobi, simple, kernel="sweep", set=PLANE).runtime
    assert runtime == pytest.approx(512**2 * 5 / 2e9, rel=1e-12)
