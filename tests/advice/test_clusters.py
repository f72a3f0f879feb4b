"""Fuzzy c-means: against scikit-fuzzy, by hand, and on points whose clusters are known."""

from __future__ import annotations

from itertools import permutations

import numpy
import pytest

from aspenpy.advice.counter_evidence import best_clustering, clusterings, fuzzy_c_means, partition_coefficient, xie_beni
from aspenpy.engine.arrays import Floats


def blobs(seed: int, count: int, spread: float) -> Floats:
    draws = numpy.random.default_rng(seed)
    middles = 4 * numpy.array([[numpy.cos(angle), numpy.sin(angle)] for angle in numpy.arange(count) * 6.283 / count])
    points: Floats = numpy.concatenate([middle + spread * draws.normal(size=(12, 2)) for middle in middles])
    return points


def matched(found: Floats, expected: Floats) -> Floats:
    """Rows in the order that comes closest."""
    orders = [list(order) for order in permutations(range(len(found)))]
    return found[min(orders, key=lambda order: float(abs(found[order] - expected).sum()))]


@pytest.mark.parametrize("fuzziness", [1.5, 2.0, 3.0])
@pytest.mark.parametrize(("seed", "count"), [(1, 2), (2, 3), (3, 4)])
def test_as_scikit_fuzzy_has_it(seed: int, count: int, fuzziness: float) -> None:
    cluster = pytest.importorskip("skfuzzy.cluster", reason="scikit-fuzzy is not installed")
    points = blobs(seed, count, 1.0)
    tried = [cluster.cmeans(points.T, count, fuzziness, error=1e-12, maxiter=5000, seed=start) for start in range(5)]
    centres, memberships, _, _, objectives, _, coefficient = min(tried, key=lambda item: item[4][-1])
    found = fuzzy_c_means(points, count, fuzziness)
    assert matched(found.memberships, memberships) == pytest.approx(memberships, abs=1e-6)
    assert matched(found.centres, centres) == pytest.approx(centres, abs=1e-5)
    assert found.objective == pytest.approx(objectives[-1], rel=1e-9)
    assert found.partition == pytest.approx(coefficient, rel=1e-6)


def test_nearly_crisp_clusters_have_each_point_in_one() -> None:
    """Towards m = 1 the memberships are those of k-means."""
    memberships = fuzzy_c_means(blobs(2, 3, 0.5), 3, 1.01).memberships
    assert sorted(memberships.sum(axis=1)) == pytest.approx([12, 12, 12], abs=1e-6)
    assert memberships.max(axis=0) == pytest.approx(numpy.ones(36), abs=1e-6)


def test_four_points_by_hand() -> None:
    """Two pairs on a line, 2 apart and 20 between, whose centres are at -10 and 10 but for the pull of the other pair:
    a point belongs to each by the inverse of its squared distance."""
    points = numpy.array([[-11.0], [-9.0], [9.0], [11.0]])
    found = fuzzy_c_means(points, 2)
    low, high = sorted(float(centre) for centre in found.centres[:, 0])
    assert (low, high) == pytest.approx((-10, 10), abs=0.05)
    near, far = (9 - high) ** 2, (9 - low) ** 2
    assert max(found.memberships[:, 2]) == pytest.approx((1 / near) / (1 / near + 1 / far), rel=1e-6)


def test_indices_by_hand() -> None:
    """Two centres 4 apart, a point on each and one between them at half membership."""
    points, centres = numpy.array([[0.0], [4.0], [2.0]]), numpy.array([[0.0], [4.0]])
    memberships = numpy.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    assert partition_coefficient(memberships) == pytest.approx((1 + 1 + 0.5) / 3)
    assert xie_beni(points, centres, memberships) == pytest.approx(2 * 0.25 * 4 / 3 / 16, rel=1e-9)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_the_number_of_clusters_is_found(count: int) -> None:
    assert best_clustering(clusterings(blobs(7, count, 0.4), 8)).count == count


def test_a_cluster_is_more_than_a_point() -> None:
    """A lone point far from two blobs: both indices are best where it is a cluster of its own."""
    tried = clusterings(numpy.concatenate([blobs(5, 2, 0.1), [[0.0, 20.0]]]), 4)
    assert max(tried, key=lambda item: item.partition).count == min(tried, key=lambda item: item.xie_beni).count == 3
    assert best_clustering(tried).count == 2
