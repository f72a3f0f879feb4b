"""Evidence of counters: which of them go with the runtime or the energy of a run, and of which components they tell.

Section 4.3.2 of Umar's dissertation (Virginia Tech, 2018): counters that a regression keeps (ACEE, section 3.4.1) are
significant; fuzzy c-means brings those together that behave alike over the runs, so that one may belong to several
components. Its equation 4.1 is linear in amounts. Three things are this project's: a counter's part of the explained
variance is its Shapley value (Lindeman, Merenda and Gold 1980; Lipovetsky and Conklin 2001), intervals are a
bootstrap's, and a cluster has the name of the component for which most of its members are known (`advice.counters`),
to which what is known of a counter by itself goes before its cluster.

Fuzzy c-means: points that belong to several clusters, each to a part. After Bezdek, "Pattern Recognition with Fuzzy
Objective Function Algorithms", 1981, section 11, and Bezdek, Ehrlich and Full, "FCM: the fuzzy c-means clustering
algorithm", Computers & Geosciences 10(2-3), 1984: memberships u and centres v
at which the sum of u^m |x - v|^2 is least, where the memberships of a point add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

import numpy

from aspenpy.advice.counters import find_counter
from aspenpy.advice.significance import (
    ClusterNumber,
    CounterEvidence,
    CounterShare,
    MetricName,
    Significance,
    samples_of,
)
from aspenpy.engine.arrays import Floats
from aspenpy.language.diagnostics import Diagnostic, fail, require_known
from aspenpy.language.dimensions import BYTES, FLOPS, SECONDS, Dimension, parse_unit
from aspenpy.learn.estimators.acee import is_energy_or_power
from aspenpy.learn.estimators.regression import Moments, select_stepwise
from aspenpy.learn.measurements.columns import BEHIND, KNOWN, is_numeric, plain_unit, read_numbers
from aspenpy.learn.measurements.measure import StoppingRule
from aspenpy.learn.measurements.read import require_library
from aspenpy.learn.measurements.sheet import MeasurementSheet, count_noun
from aspenpy.record import Record

FUZZINESS = 2.0
"""The exponent m: towards 1 memberships are 0 or 1, with large m all alike; 2 is Bezdek's own."""

POINTS_TO_EACH = 1.5  # memberships of a cluster in all, at least: one of a single point says no more than the point
STARTS = 20  # from memberships at random, of which the best is kept
MOST_STEPS = 1000
STILL = 1e-9  # the largest change of a membership at which it ends
LEAST_SQUARE = 1e-12  # squared distance of a point on a centre, in parts of the largest: no division by 0


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
    """`count` clusters of points (points x coordinates): the best of some starts, the same for the same seed."""
    draws = numpy.random.default_rng(seed)
    partitions = [_from_start(points, draws.random((count, len(points))), fuzziness) for _ in range(STARTS)]
    memberships, objective = min(partitions, key=lambda item: item[1])
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
    return numpy.maximum(squares, LEAST_SQUARE * max(float(squares.max()), LEAST_SQUARE))


def partition_coefficient(memberships: Floats) -> float:
    """Bezdek 1981: the mean of the sum of squared memberships; 1 of clusters without overlap, 1/c of none at all."""
    return float(numpy.square(memberships).sum() / memberships.shape[1])


def xie_beni(points: Floats, centres: Floats, memberships: Floats) -> float:
    """Xie and Beni, IEEE TPAMI 13(8), 1991: compactness over separation, the less the better."""
    apart = numpy.square(centres[:, None, :] - centres[None, :, :]).sum(axis=2)
    nearest = float(apart[~numpy.eye(len(centres), dtype=bool)].min())
    compactness = float((numpy.square(memberships) * _squares(points, centres)).sum()) / len(points)
    return compactness / nearest if nearest > 0 else float("inf")


def clusterings(points: Floats, most: int, fuzziness: float = FUZZINESS) -> tuple[Clusters, ...]:
    """Two clusters, three, and so on up to `most`, with one and a half points to each at least. Their centres are in
    the coordinates of the points' own span, of which there are no more than points."""
    left, singular, _ = numpy.linalg.svd(points, full_matrices=False)
    spanned: Floats = left * singular
    last = min(most, int(len(points) / POINTS_TO_EACH))
    return tuple(fuzzy_c_means(spanned, count, fuzziness) for count in range(2, last + 1))


def best_clustering(candidates: Sequence[Clusters]) -> Clusters:
    """Clusters with the least sum of ranks by the partition coefficient (greatest first) and Xie and Beni's index
    (least first); of equals that with the greater coefficient."""
    several = [
        item for item in candidates if float(item.memberships.sum(axis=1).min()) >= POINTS_TO_EACH
    ] or candidates[:1]
    indices = range(len(several))
    by_partition = sorted(indices, key=lambda index: -several[index].corrected)
    by_index = sorted(indices, key=lambda index: several[index].xie_beni)
    return several[min(by_partition, key=lambda index: by_partition.index(index) + by_index.index(index))]


MOST_SIGNIFICANT = 8  # counters that share out the variance: all subsets of them are looked at
MOST_CLUSTERS = 8
DRAWS = 200  # of a bootstrap
ROUNDED = 5e-3  # differences of counters that are one, in parts of their spread: clocks in MHz, or as 2.4 GHz
UNKNOWN = ""
"""The component of clusters of which nobody knows a counter."""


class CounterOptions(Record):
    """The counters to `use` (all columns that are any, if none) of the rows `where` a condition holds, `columns` by
    other names than the file has, the exponent of the clusters, and when runs are enough."""

    use: tuple[str, ...] = ()
    where: str | None = None
    columns: Mapping[str, str] = {}
    fuzziness: float = FUZZINESS
    target: StoppingRule = StoppingRule()
    seed: int = 0


class CounterTable(Record):
    """Counters over runs: their names, what each is known for, and their values (runs x counters). What a file has by
    the second (bytes, flops) is here what it comes to over the run: a rate beside the amount would say the runtime."""

    names: tuple[str, ...]
    known: tuple[tuple[str, ...], ...]
    values: Floats


def counters_in(sheet: MeasurementSheet, options: CounterOptions) -> tuple[CounterTable, tuple[Diagnostic, ...]]:
    """The columns of a sheet that are counters, and notes of those that tell nothing. Raises AspenError where there
    are fewer than two, or fewer runs than tell them apart."""
    for name in options.use:
        require_known(name, sheet.names, "unknown-column", f"there is no counter `{name}`", sheet.span)

    def unknown(name: str) -> bool:  # of twins the one is kept of which more is known
        return not _components(sheet, name)

    counters, notes = dict[str, Floats](), list[Diagnostic]()
    asked = options.use or sorted((name for name in sheet.names if _may_count(sheet, name)), key=unknown)
    for name in asked:
        values = _amounts(sheet, name)
        why = None
        if numpy.ptp(values) <= 1e-12 * abs(values).max():
            why = "is constant, so it explains nothing"
        elif (
            twin := next((other for other, known in counters.items() if _are_proportional(values, known)), None)
        ) is not None:
            why = f"is `{twin}` under another name or in another unit"
        if why is None:
            counters[name] = values
        else:
            notes.append(Diagnostic("left-out", f"the counter `{name}` {why}", severity="note"))
    if len(counters) < 2:
        hint = notes[0].message if notes else "counters are columns of numbers other than times, energies and powers"
        message = f"there {'is one counter' if counters else 'are no counters'}, and significance compares two at least"
        fail("no-counters", message, sheet.span, hint=hint)
    more = len(counters) + 2 - len(sheet.rows)
    if more > 0:
        message = f"{count_noun(len(sheet.rows), 'run')} cannot tell {count_noun(len(counters), 'counter')} apart"
        fail("too-few-rows", message, sheet.span, hint=f"measure {more} more, or choose fewer with --use")
    known = tuple(_components(sheet, name) for name in counters)
    return CounterTable(tuple(counters), known, numpy.array(list(counters.values())).T), tuple(notes)


def _are_proportional(one: Floats, other: Floats) -> bool:
    """Whether two counters are proportional, but for rounding."""
    scale = float(one @ other / (other @ other)) if other.any() else 0.0
    return float(numpy.std(one - scale * other)) <= ROUNDED * float(numpy.std(one))


def _may_count(sheet: MeasurementSheet, name: str) -> bool:
    """Whether a column may be a counter: no label, no energy or power, no time."""
    column = KNOWN.get(name)
    if (column is not None and column.text) or is_energy_or_power(sheet, name) or not is_numeric(sheet, name):
        return False
    return _dimension(sheet, name) != SECONDS


def _dimension(sheet: MeasurementSheet, name: str) -> Dimension | None:
    """The unit behind the name, or the known one."""
    unit = _unit(sheet, name)
    return parse_unit(unit).dimension if unit else KNOWN[name].dimension if name in KNOWN else None


def _unit(sheet: MeasurementSheet, name: str) -> str | None:
    """`MB/s` of `mem_rd_MBs`."""
    behind = BEHIND.search(name)
    return plain_unit(sheet.heading(name).unit) or (plain_unit(behind["joined"]) if behind is not None else None)


def _amounts(sheet: MeasurementSheet, name: str) -> Floats:
    """The values of a column; of bytes or flops a second those of the whole run."""
    values: Floats = read_numbers(sheet, name)
    rate = _dimension(sheet, name) in (BYTES / SECONDS, FLOPS / SECONDS)
    return values * read_numbers(sheet, "runtime") if rate else values


def _components(sheet: MeasurementSheet, name: str) -> tuple[str, ...]:
    known_counter = find_counter(name, sheet.heading(name).written)
    return () if known_counter is None else known_counter.components


# -- the regression --------------------------------------------------------------------------------


def counter_evidence(
    sheet: MeasurementSheet, metric: MetricName, counters: CounterTable, options: CounterOptions
) -> CounterEvidence:
    """Evidence of the counters about the runtime or the energy."""
    require_library("scipy", "significance by counters")
    target = read_numbers(sheet, metric)
    chosen, steps = select_stepwise(Moments(counters.values, target), "both", "bic")
    entered = dict.fromkeys(step.place for step in steps if step.entered and step.place in chosen)
    kept = sorted([*entered][:MOST_SIGNIFICANT])
    if not kept:
        hint = f"the {metric} of the runs correlates with none of them: {', '.join(counters.names)}"
        fail("nothing-significant", f"no counter is significant for the {metric}", sheet.span, hint=hint)
    here, drawn = _explain_variance(counters.values[:, kept], target, options.seed)
    tried = clusterings(_profiles(counters.values, target), MOST_CLUSTERS, options.fuzziness)
    clusters = best_clustering(tried) if tried else _single_clusters(len(counters.names))
    names = _name_clusters(clusters, counters.known, options.fuzziness)
    belongs = _component_memberships(clusters, names, counters.known)
    shares = {index: float(worth) for index, worth in zip(kept, here / here.sum(), strict=True)}
    listed = [
        CounterShare(name, counters.known[index], shares.get(index, 0.0), _memberships(belongs, index))
        for index, name in enumerate(counters.names)
    ]
    return CounterEvidence(
        metric,
        samples_of(sheet, metric, options.target),
        float(here.sum()),
        counters=tuple(sorted(listed, key=lambda item: -item.share)),
        clusters=tuple(name or None for name in names),
        numbers=tuple(ClusterNumber(each.count, each.partition, each.xie_beni, each is clusters) for each in tried),
        significances=_significances(metric, listed, belongs, drawn, kept, options.target.confidence),
    )


def _explain_variance(matrix: Floats, target: Floats, seed: int) -> tuple[Floats, Floats]:
    """Shares of R² by counter: of all runs, and of each draw of a bootstrap (draws x counters)."""
    draws = numpy.random.default_rng(seed)
    rows = [numpy.arange(len(target)), *(draws.integers(len(target), size=len(target)) for _ in range(DRAWS))]
    products, cross, totals = [], [], []
    for taken in rows:
        part, left = matrix[taken], target[taken] - target[taken].mean()
        scale = part.std(axis=0)
        part = (part - part.mean(axis=0)) / numpy.where(scale > 0, scale, 1)
        products.append(part.T @ part)
        cross.append(part.T @ left)
        totals.append(float(left @ left) or 1.0)
    shapley = shapley_values(numpy.array(products), numpy.array(cross)) / numpy.array(totals)[:, None]
    return shapley[0], shapley[1:]


def shapley_values(products: Floats, cross: Floats) -> Floats:
    """Mean decrease of the sum of squares by each regressor over all orders in which they may enter, for each draw
    (draws x regressors), from products of centred columns and theirs with the target."""
    count = cross.shape[1]
    taken: dict[tuple[int, ...], Floats] = {(): numpy.zeros(len(cross))}
    for size in range(1, count + 1):
        for subset in combinations(range(count), size):
            part = products[:, subset][:, :, subset]
            scale = numpy.trace(part, axis1=1, axis2=2)[:, None, None]  # 0 where the runs drawn are alike in all
            ridge = numpy.where(scale > 0, 1e-12 * scale, 1.0) * numpy.eye(size)
            solution = numpy.linalg.solve(part + ridge, cross[:, subset][:, :, None])[:, :, 0]
            taken[subset] = (solution * cross[:, subset]).sum(axis=1)
    values = numpy.zeros_like(cross)
    for subset, gained in taken.items():
        for index in subset:
            others = tuple(other for other in subset if other != index)
            values[:, index] += (gained - taken[others]) / (count * comb(count - 1, len(others)))
    return values


# -- the clusters ----------------------------------------------------------------------------------


def _profiles(values: Floats, target: Floats) -> Floats:
    """Values of the counters over the runs, centred and of length 1, with their sign chosen to rise with the metric
    (counters x runs): the squared distance of two is 2 (1 - r), with r their correlation."""
    centred = values - values.mean(axis=0)
    profiles = (centred / numpy.sqrt(numpy.square(centred).sum(axis=0))).T
    rises = profiles @ (target - target.mean())
    turned: Floats = profiles * numpy.where(rises < 0, -1.0, 1.0)[:, None]
    return turned


def _single_clusters(count: int) -> Clusters:
    """Clusters of one counter each, for too few counters to make two of two."""
    return Clusters(numpy.eye(count), numpy.eye(count), 0.0, partition=1.0, xie_beni=0.0)


def _name_clusters(clusters: Clusters, known: Sequence[tuple[str, ...]], fuzziness: float) -> list[str]:
    """The component for which most of a cluster's members are known, weighted by memberships as its centre is; the
    first of a counter's components counts once, the second half."""
    names = []
    for row in clusters.memberships**fuzziness:
        votes: dict[str, float] = {}
        for weight, components in zip(row, known, strict=True):
            for index, component in enumerate(components, 1):
                votes[component] = votes.get(component, 0.0) + float(weight) / index
        names.append(max(votes, key=votes.__getitem__) if votes else UNKNOWN)
    return names


def _component_memberships(
    clusters: Clusters, names: Sequence[str], known: Sequence[tuple[str, ...]]
) -> dict[str, Floats]:
    """Memberships of counters in components; clusters of the same name are added up. A known counter belongs only to
    the components it is known for, and to the first of them where no cluster bears the name of any: bytes of memory
    that rise with the cycles of the cores do not tell of the core clock."""
    memberships: dict[str, Floats] = {}
    for name, row in zip(names, clusters.memberships, strict=True):
        memberships[name] = memberships.get(name, numpy.zeros(len(row))) + row
    for index, components in enumerate(known):
        if not components:
            continue
        mine = {name: float(row[index]) for name, row in memberships.items() if name in components} or {
            components[0]: 1.0
        }
        total = sum(mine.values())
        for row in memberships.values():
            row[index] = 0.0
        for name, part in mine.items():
            memberships.setdefault(name, numpy.zeros(len(known)))[index] = part / total if total else 1 / len(mine)
    return {name: row for name, row in memberships.items() if row.any()}


def _memberships(belongs: Mapping[str, Floats], index: int) -> dict[str, float]:
    return dict(sorted(((name, float(row[index])) for name, row in belongs.items()), key=lambda item: -item[1]))


def _significances(
    metric: MetricName,
    counters: Sequence[CounterShare],
    belongs: Mapping[str, Floats],
    drawn: Floats,
    kept: Sequence[int],
    confidence: float,
) -> tuple[Significance, ...]:
    """A component's share: of each significant counter the part that belongs to it."""
    significances = []
    totals = numpy.maximum(drawn.sum(axis=1), 1e-300)
    for component, row in belongs.items():
        share = sum(counters[index].share * float(row[index]) for index in kept)
        spread = drawn @ row[list(kept)] / totals
        low, high = numpy.quantile(spread, [(1 - confidence) / 2, (1 + confidence) / 2])
        members = {item.name: item.memberships[component] for item in counters}
        ordered = dict(sorted(members.items(), key=lambda item: -item[1]))
        significances.append(
            Significance(
                component, metric, share, evidence="counters", low=float(low), high=float(high), memberships=ordered
            )
        )
    return tuple(sorted(significances, key=lambda item: -item.share))
