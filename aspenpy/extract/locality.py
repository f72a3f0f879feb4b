"""Locality of accesses whose order the source does not say: how far apart a run touches the same lines.

The counted program notes each such access by its line of 64 bytes. What comes back within some tens of other lines is
near. All else is counted by the time since the line was touched before, in accesses that are not near, and by whether a
neighbouring line was near: then a prefetcher has it. From the times follow reuse distances: the mean number of
different lines in a window of t accesses is the sum of the shares of reuse times above 0 .. t - 1 (Denning and
Schwartz, "Properties of the working-set model", CACM 1972, equation 8; Xiang, Bao, Ding and Gao, PACT 2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log

from aspenpy.language.source import Span
from aspenpy.record import NamedTuple, Record

TOUCH = "aspenpy_touch"
"""The function that a counted program calls with a number and the place of a word that it is about to access."""

LINE = 64
"""Bytes of a line in the recorder."""

NEAR = 64
"""Lines up to which a reuse distance is near: a first cache holds them beside the streams of a loop."""

STEPS = 4
"""Bins of reuse times for each doubling."""

BINS = 32 * STEPS

LITTLE = 0.01
"""The share of the accesses below which far reuses, or jumps, have no requirement of their own."""

SCATTERED = 0.9
"""The share of jumps from which on all accesses are taken for jumps."""

PARTS = 4
"""Equal parts of jumps, each with a distance of its own."""

LOADED, STORED = 1 << 20, 2 << 20
"""What is added to a place's number where it hands on what a block stores to an array and loads again."""

RING = 16
"""Stores before a load up to which it is looked for whose value it takes."""

WHOLE = 0.5
"""The part of the lines that an access touches from which on its jumps may lead to any of them."""


Spans = tuple[Span, ...]
"""The accesses of a block to one array whose order the source does not say."""


class Handover(NamedTuple):
    """Loads of a block, and stores to the same array whose values they may take: places that data decide."""

    loads: Spans
    stores: Spans


Site = Spans | Handover
"""Accesses that a run notes together."""


def number_spans(sites: Sequence[Site]) -> dict[Span, tuple[int, ...]]:
    """The numbers that a counted program notes at each span."""
    numbers: dict[Span, tuple[int, ...]] = {}
    for number, site in enumerate(sites):
        kinds = [(LOADED, site.loads), (STORED, site.stores)] if isinstance(site, Handover) else [(0, site)]
        for kind, spans in kinds:
            numbers |= {span: (*numbers.get(span, ()), number + kind) for span in spans}
    return numbers


class TouchCounts(Record):
    """Accesses of one or several places in a program: their `number`, those that are `close` to one before, the first
    touches of lines next to a near one and of others, and by reuse time how often lines came back in both ways.
    Of a handover the `groups` of loads between two stores, and by the number of stores how often one `handed` its
    value to a load of a group."""

    number: float
    close: float
    first: tuple[float, float]
    far: tuple[tuple[float, ...], tuple[float, ...]]
    groups: float = 0.0
    handed: tuple[float, ...] = (0.0,) * RING

    @property
    def handed_share(self) -> float:
        """The part of the groups of loads between two stores in which one takes what was stored shortly before."""
        return sum(self.handed) / self.groups if self.groups else 0.0

    @property
    def distance(self) -> int:
        """Number of stores back, most often, to that whose value is taken."""
        return 1 + self.handed.index(max(self.handed))

    def add(self, other: TouchCounts) -> TouchCounts:
        """The counts of both."""
        first = (self.first[0] + other.first[0], self.first[1] + other.first[1])
        pairs = [zip(mine, theirs, strict=True) for mine, theirs in zip(self.far, other.far, strict=True)]
        far = (tuple(a + b for a, b in pairs[0]), tuple(a + b for a, b in pairs[1]))
        handed = tuple(a + b for a, b in zip(self.handed, other.handed, strict=True))
        number, close, groups = self.number + other.number, self.close + other.close, self.groups + other.groups
        return TouchCounts(number, close, first, far, groups=groups, handed=handed)


class Locality(Record):
    """Reuse of lines as the cache model takes it: of all accesses the share `far` comes back to lines after `window`
    bytes of others, foreseen by a prefetcher; the share `jumps` leads anywhere in all that is touched where they are
    `anywhere`, else equal parts of it come back after the bytes of `tables`. All others move along, and touch each of
    their words `reuse` times."""

    far: float
    window: float
    jumps: float
    tables: tuple[float, ...]
    anywhere: bool
    reuse: float

    @property
    def late_share(self) -> float:
        """The part of the accesses that do not jump which come back late."""
        return self.far / max(1 - self.jumps, self.far, 1e-9)


def read_touches(text: str) -> dict[int, TouchCounts]:
    """The counts behind each number, from the lines of all processes."""
    found: dict[int, TouchCounts] = {}
    for line in text.splitlines():
        place, number, close, near, away, *rest = line.split()
        bins = [float(word) for word in rest]
        counts = TouchCounts(
            float(number),
            float(close),
            (float(near), float(away)),
            (tuple(bins[:BINS]), tuple(bins[BINS : 2 * BINS])),
            groups=bins[2 * BINS],
            handed=tuple(bins[2 * BINS + 1 :]),
        )
        known = found.get(int(place))
        found[int(place)] = counts if known is None else counts.add(known)
    return found


def time_of_bin(place: int) -> float:
    """The middle of the reuse times in a bin."""
    top, part = divmod(place, STEPS)
    return float(2**top * (1 + (part + 0.5) / STEPS)) if top >= 2 else float(max(1, 2**top + part * 2**top // STEPS))


def reuse_distances(counts: TouchCounts) -> list[float]:
    """The mean number of other lines that are touched within the reuse times of each bin."""
    back = [near + away for near, away in zip(*counts.far, strict=True)]
    total = sum(back) + sum(counts.first)
    if not total:
        return [0.0] * BINS
    above = [1 - part / total for part in accumulate(back)]  # the share of reuse times beyond a bin
    lines, time, distances = 0.0, 0.0, []
    share = 1.0
    for place in range(BINS):
        now = time_of_bin(place)
        lines += max(0.0, now - time) * share
        distances.append(lines)
        time, share = max(time, now), above[place]
    return distances


def find_locality(counts: TouchCounts, size: int) -> Locality:
    """Locality, as the cache model takes it, of accesses to words of `size` bytes."""
    distances, lines = reuse_distances(counts), sum(counts.first)
    is_swept = [distance > lines / 2 for distance in distances]  # since the sweep before, which the model knows
    along, away = counts.far
    pairs = list(zip(along, distances, is_swept, strict=True))
    near = [(number, distance) for number, distance, swept in pairs if distance >= NEAR and not swept]
    swept = counts.first[0] + sum(number for number, distance, swept in pairs if swept and distance >= NEAR)
    back = [(number, distance) for number, distance in zip(away, distances, strict=True) if distance >= NEAR]
    jumped = counts.first[1] + sum(number for number, _ in back)
    far = sum(number for number, _ in near)
    window = sum(number * distance for number, distance in near) / far if far else 0.0
    back.append((counts.first[1], lines))
    table = 2 * _find_quantile(back, 0.5)  # distances are even from 0 to the lines of a table at random
    tables = tuple(LINE * _find_table(back, lines, (part + 0.5) / PARTS) for part in range(PARTS))
    total = max(counts.number, 1.0)
    moving = max(total - far - jumped, 0.0)
    reuse = moving * size / (max(swept, 1.0) * LINE)
    return Locality(far / total, window * LINE, jumped / total, tables, table >= WHOLE * lines, reuse=reuse)


def _find_table(parts: Sequence[tuple[float, float]], most: float, share: float) -> float:
    """Lines of the table that a share of the accesses does not exceed, where each of them leads anywhere in one of some
    tables. Distances in a table are even from 0 to its lines, so that of accesses with distances of density f, and a
    share F beyond d, F + d f lead to tables of more than d lines. The density is that of a doubling around d."""
    total = sum(number for number, _ in parts) or 1.0

    def beyond(lines: float) -> float:
        return sum(number for number, distance in parts if distance > lines) / total

    sizes = sorted({distance * 2**half for _, distance in parts for half in (-0.5, 0.5)})
    found = [
        size for size in sizes if beyond(size) + (beyond(size / 2**0.5) - beyond(size * 2**0.5)) / log(2) > 1 - share
    ]
    return min(most, max(found, default=0.0))


def _find_quantile(parts: Iterable[tuple[float, float]], share: float) -> float:
    """The distance that so great a share of the accesses does not exceed."""
    ordered = sorted(parts, key=lambda part: part[1])
    least, passed = share * sum(number for number, _ in ordered), 0.0
    for number, distance in ordered:
        passed += number
        if passed >= least:
            return distance
    return 0.0
