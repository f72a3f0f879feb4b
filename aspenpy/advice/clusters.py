"""Fuzzy c-means: points that belong to several clusters, each to a part.

After Bezdek, "Pattern Recognition with Fuzzy Objective Function Algorithms", 1981, section 11, and Bezdek, Ehrlich and
Full, "FCM: the fuzzy c-means clustering algorithm", Computers & Geosciences 10(2-3), 1984: memberships u and centres v
at which the sum of u^m |x - v|^2 is least, where the memberships of a point add up to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from aspenpy.engine.arrays import Floats
from aspenpy.record import Record

FUZZINESS = 2.0
"""The exponent m: towards 1 memberships are 0 or 1, with large m all alike; 2 is Bezdek's own."""

POINTS_TO_EACH = 1.5  # memberships of a cluster in all, at least: one of a single point says no more than the point
STARTS = 20  # from memberships at random, of which the best is kept
MOST_STEPS = 1000
STILL = 1e-9  # the largest change of a membership at which it ends
NEAR = 1e-12  # a squared distance below which a point lies on a centre


class Clusters(Record):
    """`centres` (clusters x coordinates), `memberships` (clusters x points; 0 to 1, adding up to 1 for each point),
    and the `objective`, the sum that is least. `partition` is the partition coefficient, `xie_beni` Xie and Beni's
    index."""

    centres: Floats
    memberships: Floats
    objective: float
    partition: float
    xie_beni: float

    @property
    def count(self) -> int:
        return len(self.centres)

    @property
    def corrected(self) -> float:
        """The partition coefficient from 0, of no clusters, to 1, whatever their number."""
        return 1 - self.count / (self.count - 1) * (1 - self.partition)


def fuzzy_c_means(points: Floats, count: int, fuzziness: float = FUZZINESS, seed: int = 0) -> Clusters:
    """So many clusters of points (points x coordinates): the best of some starts, the same for the same seed."""
    draws = numpy.random.default_rng(seed)
    found = [_from_start(points, draws.random((count, len(points))), fuzziness) for _ in range(STARTS)]
    memberships, objective = min(found, key=lambda item: item[1])
    centres = centres_of(points, memberships, fuzziness)
    return Clusters(
        centres, memberships, objective, partition_coefficient(memberships), xie_beni(points, centres, memberships)
    )


def _from_start(points: Floats, start: Floats, fuzziness: float) -> tuple[Floats, float]:
    """Picard iteration through both conditions of a least sum (Bezdek, Ehrlich and Full 1984, equations 11)."""
    memberships: Floats = start / start.sum(axis=0)
    for _ in range(MOST_STEPS):
        distances = _squares(points, centres_of(points, memberships, fuzziness))
        nearness = (distances / distances.min(axis=0)) ** (-1 / (fuzziness - 1))  # 1 at most: no power overflows
        new: Floats = nearness / nearness.sum(axis=0)
        moved = float(abs(new - memberships).max())
        memberships = new
        if moved < STILL:
            break
    weights = memberships**fuzziness
    return memberships, float((weights * _squares(points, centres_of(points, memberships, fuzziness))).sum())


def centres_of(points: Floats, memberships: Floats, fuzziness: float) -> Floats:
    """Means of the points, each with its membership to the power m."""
    weights = memberships**fuzziness
    centres: Floats = weights @ points / weights.sum(axis=1, keepdims=True)
    return centres


def _squares(points: Floats, centres: Floats) -> Floats:
    """Squared distances (clusters x points), of what lies on a centre a little more than 0."""
    squares: Floats = numpy.square(centres[:, None, :] - points[None, :, :]).sum(axis=2)
    return numpy.maximum(squares, NEAR * max(float(squares.max()), NEAR))


def partition_coefficient(memberships: Floats) -> float:
    """Bezdek 1981: the mean of the sum of squared memberships; 1 of clusters without overlap, 1/c of none at all."""
    return float(numpy.square(memberships).sum() / memberships.shape[1])


def xie_beni(points: Floats, centres: Floats, memberships: Floats) -> float:
    """Xie and Beni, IEEE TPAMI 13(8), 1991: compactness over separation, the less the better."""
    apart = numpy.square(centres[:, None, :] - centres[None, :, :]).sum(axis=2)
    nearest = float(apart[~numpy.eye(len(centres), dtype=bool)].min())
    compactness = float((numpy.square(memberships) * _squares(points, centres)).sum()) / len(points)
    return compactness / nearest if nearest > 0 else float("inf")


def candidates(points: Floats, most: int, fuzziness: float = FUZZINESS) -> tuple[Clusters, ...]:
    """Two clusters, three, and so on up to `most`, with one and a half points to each at least. Their centres are in
    the coordinates of the points' own span, of which there are no more than points."""
    left, singular, _ = numpy.linalg.svd(points, full_matrices=False)
    spanned: Floats = left * singular
    last = min(most, int(len(points) / POINTS_TO_EACH))
    return tuple(fuzzy_c_means(spanned, count, fuzziness) for count in range(2, last + 1))


def best(found: Sequence[Clusters]) -> Clusters:
    """That of the least sum of ranks by the partition coefficient, the greatest first, and Xie and Beni's index, the
    least first; of equals that with the greater coefficient. The coefficient falls with the number of clusters c by
    itself, and is corrected for that: 1 - c/(c - 1) (1 - PC), after Dave, Pattern Recognition Letters 17(6), 1996.
    Numbers at which a cluster is hardly more than one point do not count, if others are left."""
    several = [item for item in found if float(item.memberships.sum(axis=1).min()) >= POINTS_TO_EACH] or found[:1]
    places = range(len(several))
    by_partition = sorted(places, key=lambda place: -several[place].corrected)
    by_index = sorted(places, key=lambda place: several[place].xie_beni)
    return several[min(by_partition, key=lambda place: by_partition.index(place) + by_index.index(place))]
