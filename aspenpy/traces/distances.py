"""Reuse distances: what is known of a trace, or of a part of its addresses, once all its references are counted."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from aspenpy.language.files import write_whole
from aspenpy.record import Record
from aspenpy.tables.result import Result
from aspenpy.traces.histogram import LINE_BYTES, format_histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bins = Literal["exact", "log"]

BINS_AN_OCTAVE = 8  # of `log`: distances in one row differ by less than a tenth


class AddressRange(Record):
    """The bytes from `low` up to, and without, `high`, under a name: those of a data structure."""

    name: str
    low: int
    high: int


class Totals(NamedTuple):
    """Distances that occur, ascending; how many references have each; how many are cold; and, of a sample, the
    standard error of the share of references that are beyond each distance."""

    distances: NDArray[np.int64]
    counts: NDArray[Any]
    cold: float
    errors: NDArray[np.float64] | None = None


class TraceOrigin(Record):
    """The subject of a measurement: the bytes of a `line`, the name of the trace, the `part` of its addresses (None:
    all), and the `rate` of a sample (None: all lines)."""

    line: int
    source: str
    part: AddressRange | None = None
    rate: float | None = None


class ReuseDistances(Result):
    """Numbers of references by reuse distance: the number of other lines touched since the last reference to the same
    line.

    `distances` are ascending, those that occur; `counts` are the references at each, and `cold` those that are the
    first to their line; all of them together are `references`, a reference counting once for each line it touches.
    `name` is None for the whole trace and the name of a range for its part, whose distances are those in the whole
    trace; `ranges` are these parts. Of a sample, `rate` is its rate, and counts are estimates; `errors` are the
    standard errors of the part of the references beyond each distance, and `distance_error` is that of a distance.
    """

    def __init__(self, totals: Totals, origin: TraceOrigin, ranges: Mapping[str, ReuseDistances] | None = None) -> None:
        self.distances, self.counts, self.cold, self.errors = totals
        self.line, self.source, self.part, self.rate = origin.line, origin.source, origin.part, origin.rate
        self.ranges = dict(ranges or {})
        self._hits = np.concatenate(([0], np.cumsum(self.counts)))
        total = self._hits[-1].item() + self.cold
        self.references: float = total if self.rate is None else round(total)

    @property
    def name(self) -> str | None:
        """The name of the range of addresses; None for the whole trace."""
        return self.part.name if self.part else None

    def miss_ratio(self, lines: Any) -> Any:
        """The part of the references that miss in a fully associative LRU cache of `lines` lines (a number or an
        array): those at a distance of at least `lines` (Mattson et al. 1970). NaN where there are none."""
        if not self.references:
            return np.full(np.shape(lines), np.nan)[()]
        hits = self._hits[np.searchsorted(self.distances, lines, side="left")]
        ratio = 1 - hits / (self._hits[-1] + self.cold)
        return ratio[()] if np.ndim(lines) else float(ratio)

    def miss_ratio_error(self, lines: int) -> float:
        """The standard error of a miss ratio, at the size that the sample takes for `lines` lines (`distance_error`). 0
        without sampling."""
        index = int(np.searchsorted(self.distances, lines, side="left"))
        return 0.0 if self.errors is None or not index else float(self.errors[index - 1])

    def distance_error(self, distance: float) -> float:
        """The standard error of a distance, in lines: of n lines in between, a sample of rate r has a binomial number,
        with the variance n r (1 - r), and that number over r is the estimate. 0 without sampling."""
        return 0.0 if self.rate is None else sqrt(distance * (1 - self.rate) / self.rate)

    def error_in_words(self) -> str:
        """The standard error of a distance, in words; for a sample."""
        return f"standard error of a distance d: sqrt({self.distance_error(1) ** 2:.3g} d) lines"

    def bin_counts(self, bins: Bins = "exact") -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Distances and counts; with `log`, at most `BINS_AN_OCTAVE` of each octave. A bin stands at its longest
        distance, so that what is cumulative is exact at each that is there."""
        if bins == "exact" or not len(self.distances):
            return self.distances, self.counts
        octaves = np.log2(np.maximum(self.distances, 1).astype(np.float64))
        number = np.where(self.distances == 0, -1, np.floor(octaves * BINS_AN_OCTAVE)).astype(np.int64)
        last = np.flatnonzero(np.concatenate((number[1:] != number[:-1], [True])))
        return self.distances[last], np.diff(self._hits[last + 1], prepend=0)

    def to_csv(self, bins: Bins = "exact") -> str:
        """The file that a model's `rdd("file.csv")` reads; `aspenpy.traces.histogram` tells its format."""
        remarks: list[tuple[str, object]] = [
            ("reuse distances of", self.source),
            (LINE_BYTES, self.line),
            ("references", self.references),
        ]
        if self.part:
            remarks.append(("addresses", f"{self.part.name}, from {self.part.low:#x} up to {self.part.high:#x}"))
        if self.rate is not None:
            remarks.append(("sample", f"{self.rate:g} of the lines; {self.error_in_words()}"))
        distances, counts = self.bin_counts(bins)
        return format_histogram(remarks, distances.tolist(), counts.tolist(), self.cold)

    def write(self, path: Path | str, bins: Bins = "exact") -> None:
        """Writes that file. AspenError where that cannot be done."""
        write_whole(path, self.to_csv(bins))

    def to_json(self) -> dict[str, Any]:
        """The histogram, and one for each range, as JSON."""
        return {
            "source": self.source,
            "name": self.name,
            "low": self.part.low if self.part else None,
            "high": self.part.high if self.part else None,
            "line_bytes": self.line,
            "references": self.references,
            "cold": self.cold,
            "rate": self.rate,
            "distances": self.distances.tolist(),
            "counts": self.counts.tolist(),
            "errors": None if self.errors is None else self.errors.tolist(),
            "ranges": [part.to_json() for part in self.ranges.values()],
        }

    def __repr__(self) -> str:
        of = self.name or self.source
        return f"ReuseDistances({of!r}, {self.references} references, {self.cold} cold, lines of {self.line} B)"
