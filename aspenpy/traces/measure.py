"""From a trace to its reuse distances: read, selected, cut into lines, sampled, put through the stack, counted.

A line belongs to a sample if its hash is small, so that a line's references are all in it or none is. Distances between
them, counted in lines of the sample, are those of the trace times the rate (Waldspurger et al. 2015, SHARDS).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack, cast

import numpy as np

from aspenpy.allowance import MEMORY
from aspenpy.language.diagnostics import fail, require_known, suggest_nearest
from aspenpy.record import Record
from aspenpy.traces.distances import AddressRange, ReuseDistances, Totals, TraceOrigin
from aspenpy.traces.stack import COLD, LruStack
from aspenpy.traces.text_formats import DATA, KINDS, References
from aspenpy.traces.trace_file import BINARY, FORMATS, TraceFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS = 16  # parts of a sample, by line, whose differences tell its error


def hash_lines(lines: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele et al. 2014): every bit of a line changes half the bits of its hash."""
    mixed = (lines ^ (lines >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast("NDArray[np.uint64]", mixed ^ (mixed >> np.uint64(31)))


def is_sampled(hashed: NDArray[np.uint64], rate: float) -> NDArray[np.bool_]:
    """Whether lines of these hashes belong to a sample of the rate (0 to 1); decided by the upper 53 bits."""
    return (hashed >> np.uint64(11)) < np.uint64(round(rate * (1 << 53)))


def group_numbers(hashed: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The group of each line of a sample, from bits of its hash that do not decide whether it is sampled."""
    return (hashed & np.uint64(GROUPS - 1)).astype(np.int64)


def compute_standard_errors(misses: NDArray[Any], expected: float) -> NDArray[np.float64]:
    """Standard errors of miss ratios, for several sizes of the cache.

    `misses` has a row for each size and a column for each group, in references of the sample; `expected` is how many
    references the sample has on average. The error of a sum of independent groups: sqrt(G/(G - 1) sum (x - mean)^2).
    """
    groups = misses.shape[1]
    deviations = misses - misses.mean(axis=1, keepdims=True)
    return cast("NDArray[np.float64]", np.sqrt(groups / (groups - 1) * (deviations**2).sum(axis=1)) / expected)


class DistanceTally:
    """Counts by distance, and of first references; of a sample, for each of its groups."""

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        self.references = 0
        """All there were, also those that are not in the sample."""
        self._groups = 1 if rate is None else GROUPS
        self._counts = np.zeros((0, self._groups), np.int64)
        self._cold = np.zeros(self._groups, np.int64)

    def add(self, distances: NDArray[np.int64], groups: NDArray[np.int64] | None) -> None:
        """Counts some references; `groups` tells where each belongs in a sample."""
        keys = distances if groups is None else distances * self._groups + groups
        is_cold = distances == COLD
        if is_cold.any():
            where = np.zeros(int(is_cold.sum()), np.int64) if groups is None else groups[is_cold]
            self._cold += np.bincount(where, minlength=self._groups)
            keys = keys[~is_cold]
        if not len(keys):
            return
        counts = np.bincount(keys)
        counts = np.pad(counts, (0, -len(counts) % self._groups)).reshape(-1, self._groups)
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, ((0, len(counts) - len(self._counts)), (0, 0)))
        self._counts[: len(counts)] += counts

    def compute_totals(self) -> Totals:
        """Counts at each distance that occurs: whole numbers without sampling, estimates with it."""
        counts = self._counts.sum(axis=1)
        occurring = np.flatnonzero(counts)
        if self.rate is None:
            return Totals(occurring, counts[occurring], int(self._cold[0]))
        # What the sample has too much or too little of is the share of its most frequent lines. These have short
        # distances, so that it belongs to distance 0 (Waldspurger et al. 2015, section 4.2: SHARDS-adj).
        occurring = occurring[occurring > 0]
        estimates, cold = counts[occurring] / self.rate, float(self._cold.sum() / self.rate)
        rest = self.references - float(estimates.sum()) - cold
        if rest < 0:
            scale = self.references / (self.references - rest)
            estimates, cold, rest = estimates * scale, cold * scale, 0.0
        distances = np.rint(occurring / self.rate).astype(np.int64)
        known = self._counts if len(self._counts) else np.zeros((1, self._groups), np.int64)
        beyond = (known.sum(axis=0) + self._cold - known.cumsum(axis=0))[np.concatenate(([0], occurring))]
        errors = compute_standard_errors(beyond, self.rate * max(self.references, 1))
        return Totals(np.concatenate(([0], distances)), np.concatenate(([rest], estimates)), cold, errors)


LINE = 64  # bytes of a line if nothing is said
BYTES_OF_A_LINE = 64  # of memory: its place in the stack, and what is sorted and counted beside it
MOST_LINES = MEMORY // BYTES_OF_A_LINE
"""Distinct lines whose last reference is remembered at once: those of a sample, where one is taken."""
PIECE = 1 << 16  # references that are looked at together before they come to the stack

LAST_ADDRESS = (1 << 64) - 1

Progress = Callable[[int, int | None, int], None]
"""Is told bytes read, bytes in all where they are known, and references so far."""


class TraceOptions(TypedDict, total=False):
    """Options of `reuse_distances` besides the trace and the size of a line."""

    trace_format: str | None
    kinds: Collection[str] | None
    count: Collection[str] | None
    ranges: Mapping[str, tuple[int, int]] | None
    sample: float | None


class _Selection(Record):
    """The options of `reuse_distances` with their defaults."""

    trace_format: str | None = None
    kinds: Collection[str] | None = None
    count: Collection[str] | None = None
    ranges: Mapping[str, tuple[int, int]] | None = None
    sample: float | None = None


class _Piece(NamedTuple):
    """Some references in the order of the program, one for each line that they touch."""

    lines: NDArray[np.uint64]
    members: list[NDArray[np.bool_] | None]
    """Masks of the references that each histogram counts; None for all."""
    groups: NDArray[np.int64] | None
    """Group of each reference in a sample."""


def reuse_distances(
    trace: Path | str | Sequence[int] | NDArray[Any],
    *,
    line: int = LINE,
    progress: Progress | None = None,
    **options: Unpack[TraceOptions],
) -> ReuseDistances:
    """The reuse distances of an address trace, exact unless it is sampled.

    `trace` is a file (`-` for standard input; it may be compressed by gzip), or the addresses themselves, in bytes.
    `line` is the size of a line in bytes, a power of two. `trace_format` is one of `FORMATS`, where it is not to be
    guessed. `kinds`, of `loads`, `stores` and `instructions`, take part; these are loads and stores where a trace tells
    kinds. Of those that take part, `count` are counted: all if nothing is said. `ranges` name parts of the addresses,
    from the first byte up to, and without, the second. `sample` is the part of the lines that is looked at, below 1.

    `progress` is called with the bytes read, the size of the file and the references so far. Time grows with the
    references (a few sorts), memory with the distinct lines.

    :returns: distances in lines (1-D array, ascending), counts of the same shape, and cold misses
    :raises AspenError: for a file that is no trace, and for options that exclude each other
    """
    selection = _Selection(**options)
    kinds, trace_format = selection.kinds, selection.trace_format
    wanted, counted = _parse_kinds("kinds", kinds), _parse_kinds("count", selection.count)
    _require_part(counted, wanted)
    _refuse_bad_options(line, selection.sample, trace_format)
    source = str(trace) if isinstance(trace, (str, Path)) else "<addresses>"
    parts = _make_ranges(selection.ranges or {})
    measure = _Measure(line.bit_length() - 1, counted, parts, selection.sample, source)
    if not isinstance(trace, (str, Path)):
        if wanted is not None or counted is not None or trace_format is not None:
            fail("no-kinds", "addresses alone have neither a format nor kinds")
        measure.take_all([References(_read_addresses(trace))], lambda: None)
        return measure.make_result(line, source)
    file = TraceFile(trace, trace_format)
    try:
        references = file.read_references(wanted)
        if file.layout == BINARY and counted is not None:
            fail("no-kinds", f"`{file.name}` holds addresses alone: they cannot be counted by kind")
        measure.take_all(references, lambda: _follow(file, measure.taken, progress))
    finally:
        file.close()
    if not measure.taken:
        named = "loads and stores" if kinds is None else " and ".join(kinds)
        fail("empty-trace", f"`{file.name}` holds no {named}", hint="--kinds names others that take part")
    return measure.make_result(line, file.name)


def _follow(file: TraceFile, taken: int, progress: Progress | None) -> None:
    """Tells how far a trace is read, and refuses one that has expanded to too many references."""
    file.refuse_many(taken)
    if progress:
        progress(file.position, file.size, taken)


class _Measure:
    """The stack of a trace and the histograms that are counted."""

    def __init__(
        self, shift: int, counted: frozenset[int] | None, parts: Sequence[AddressRange], rate: float | None, source: str
    ) -> None:
        self.shift, self.counted, self.parts, self.rate = shift, counted, parts, rate
        self.taken = 0
        self._stack = LruStack()
        self._source = source
        self._tallies = [DistanceTally(rate) for _ in range(1 + len(parts))]

    def take_all(self, references: Iterable[References], told: Callable[[], object]) -> None:
        """Counts all references of a trace; `told` is called after each piece, for progress reports."""
        waiting: list[_Piece] = []
        count = 0
        for part in (part for whole in references for part in whole.split(self.shift, PIECE)):
            waiting.append(self._cut_piece(part))
            count += len(waiting[-1].lines)
            if count > self._stack.chunk - PIECE:
                self._put(waiting)
                waiting, count = [], 0
            told()
        self._put(waiting)

    def _cut_piece(self, references: References) -> _Piece:
        """The references of a block, by line, those of them that are sampled."""
        whole = references.split_by_line(self.shift)
        self.taken += len(whole.addresses)
        members = self._find_members(whole)
        for tally, member in zip(self._tallies, members, strict=True):
            tally.references += len(whole.addresses) if member is None else int(np.count_nonzero(member))
        lines = whole.addresses >> np.uint64(self.shift)
        if self.rate is None:
            return _Piece(lines, members, None)
        hashed = hash_lines(lines)
        chosen = np.flatnonzero(is_sampled(hashed, self.rate))
        kept = [None if member is None else member[chosen] for member in members]
        return _Piece(lines[chosen], kept, group_numbers(hashed[chosen]))

    def _find_members(self, references: References) -> list[NDArray[np.bool_] | None]:
        addresses, kinds = references.addresses, references.kinds
        of_kind = None if self.counted is None or kinds is None else np.isin(kinds, list(self.counted))
        members: list[NDArray[np.bool_] | None] = [of_kind]
        for part in self.parts:
            inside = (addresses >= np.uint64(part.low)) & (addresses <= np.uint64(part.high - 1))
            members.append(inside if of_kind is None else inside & of_kind)
        return members

    def _put(self, pieces: Sequence[_Piece]) -> None:
        """Puts pieces through the stack, and adds their distances to the histograms."""
        if not pieces:
            return
        lines = np.concatenate([piece.lines for piece in pieces])
        distances = self._stack.distances(lines)
        if len(self._stack) > MOST_LINES:
            where = f"the first {self.taken:,} references of `{self._source}`"
            rate = (self.rate or 1.0) / 10
            hint = f"--sampling-rate {rate:g} looks at a part of them, and estimates the rest"
            fail("too-many-lines", f"{where} touch more than {MOST_LINES:,} lines", hint=hint)
        groups = _join_arrays([piece.groups for piece in pieces])
        for number, tally in enumerate(self._tallies):
            member = _join_arrays([piece.members[number] for piece in pieces])
            if member is None:
                tally.add(distances, groups)
            else:
                tally.add(distances[member], None if groups is None else groups[member])

    def make_result(self, line: int, source: str) -> ReuseDistances:
        whole, *others = (tally.compute_totals() for tally in self._tallies)
        ranges = {
            part.name: ReuseDistances(totals, TraceOrigin(line, source, part, self.rate))
            for part, totals in zip(self.parts, others, strict=True)
        }
        return ReuseDistances(whole, TraceOrigin(line, source, rate=self.rate), ranges)


def _join_arrays(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Arrays one after the other, or nothing where there are none."""
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


def _refuse_bad_options(line: int, sample: float | None, trace_format: str | None) -> None:
    if line < 1 or line & (line - 1) or line > 1 << 30:
        fail("line-size", f"a line cannot have {line} bytes", hint="its size is a power of two, such as 64")
    if sample is not None and not 0 < sample < 1:
        hint = "a rate is between 0 and 1, such as 0.01"
        fail("sample-rate", f"a sample cannot be {sample:g} of the lines", hint=hint)
    if trace_format is not None and trace_format not in FORMATS:
        hint = suggest_nearest(trace_format, FORMATS) or ", ".join(FORMATS)
        fail("unknown-format", f"there is no format `{trace_format}`", hint=hint)


def _parse_kinds(option: str, names: Collection[str] | None) -> frozenset[int] | None:
    if names is None:
        return None
    for name in names:
        require_known(name, KINDS, "unknown-kind", f"{option}: there are no references called `{name}`")
    return frozenset(KINDS[name] for name in names)


def _require_part(counted: frozenset[int] | None, wanted: frozenset[int] | None) -> None:
    """Refuses to count what takes no part."""
    for name, kind in KINDS.items():
        if counted is not None and kind in counted and kind not in (DATA if wanted is None else wanted):
            fail("no-kinds", f"count: {name} do not take part", hint="--kinds names what takes part")


def _make_ranges(ranges: Mapping[str, tuple[int, int]]) -> list[AddressRange]:
    for name, (low, high) in ranges.items():
        if not 0 <= low < high <= LAST_ADDRESS + 1:
            hint = "a range goes from its first byte up to the one behind its last"
            fail("address-range", f"the range `{name}` holds no 64-bit address", hint=hint)
    return [AddressRange(name, low, high) for name, (low, high) in ranges.items()]


def _read_addresses(trace: Sequence[int] | NDArray[Any]) -> NDArray[np.uint64]:
    addresses = np.asarray(trace)
    if not addresses.size:
        fail("empty-trace", "there are no addresses")
    if addresses.ndim != 1 or addresses.dtype.kind not in "ui" or addresses.min() < 0:
        fail("not-a-trace", "addresses are a row of whole numbers from 0 on")
    return addresses.astype(np.uint64)
