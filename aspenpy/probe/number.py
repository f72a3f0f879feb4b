"""The numbers of a probed machine, each with its source: measured, stated by somebody, or assumed by a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from aspenpy.record import Record

UNCERTAIN = 0.2
"""The spread above which a quantity is marked."""


class Quantity(Record):
    """The best of the passes, and how far the median pass is from it, relative to it."""

    value: float
    spread: float

    @property
    def uncertain(self) -> bool:
        return self.spread > UNCERTAIN


Quantities = Mapping[str, Quantity]


def combine_passes(passes: Sequence[Mapping[str, float]]) -> dict[str, Quantity]:
    """The best value of each name: whatever disturbs a measurement makes times longer and rates lower."""
    names = dict.fromkeys(name for results in passes for name in results)
    return {name: _best_value(name, [results[name] for results in passes if name in results]) for name in names}


def _best_value(name: str, values: Sequence[float]) -> Quantity:
    """The least of times, which have `latency` in their name, the highest of rates."""
    best = min(values) if "latency" in name else max(values)
    return Quantity(best, abs(median(values) / best - 1) if best else 0.0)


PREFIXES = (
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "u"),
    (1e-9, "n"),
    (1e-12, "p"),
)
BINARY = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))

HASHED = "assumed: its sets are hashed, a line may lie nearly anywhere"
MOST_WAYS = 4096


def choose_hashed_ways(lines: int) -> int:
    """Ways of a cache of `lines` lines whose sets are hashed: as many as make sets come out even."""
    return next(ways for ways in range(min(MOST_WAYS, lines), 0, -1) if lines % ways == 0)


def choose_ways(capacity: float, line: float, stated: int | None, said_by: str) -> Number:
    """Ways as somebody states them, where they make whole sets; else eight, else as many as do."""
    lines = int(capacity // line)
    if stated and lines % stated == 0:
        return Number(stated, "", said_by)
    if lines % 8 == 0:
        return Number(8, "", "assumed: 8 ways")
    return Number(choose_hashed_ways(lines), "", "assumed: as many as make whole sets")


class Number(Record):
    """A value in a base unit (`Hz`, `s`, `B`, `B/s`, or nothing), and the comment that says where it is from. A `word`
    stands in its place for a property that is one."""

    value: float
    unit: str
    source: str
    word: str = ""

    @property
    def text(self) -> str:
        """The text of the number as it is written between brackets."""
        if self.word:
            return self.word
        if self.unit == "B":
            even = [item for item in BINARY if not self.value % item[0] and self.value < 1e6 * item[0]]
            size, name = (even or [item for item in BINARY if self.value >= item[0]] or [(1, "B")])[0]
            return f"{self.value / size:.6g} {name}"
        if not self.unit or not self.value:
            return f"{self.value:.4g}" + f" {self.unit}" * bool(self.unit)
        scale, prefix = next((item for item in PREFIXES if abs(self.value) >= item[0] * 0.9995), PREFIXES[-1])
        return f"{self.value / scale:.4g} {prefix}{self.unit}"


Numbers = dict[str, dict[str, Number]]
"""Numbers by part of the machine (`core`, `l1`, `memory`, ...) and property."""


def make_number(value: float, unit: str, about: str, *used: Quantity) -> Number:
    """A number made of measured quantities: the largest of their spreads is said, and marked where it is large."""
    spread = max((item.spread for item in used), default=0.0)
    mark = "uncertain: " if any(item.uncertain for item in used) else ""
    return Number(value, unit, f"{about + ': ' if about else ''}measured, {mark}spread {100 * spread:.1f} %")


def make_measured_number(results: Quantities, name: str, unit: str, about: str = "", factor: float = 1.0) -> Number:
    """One measured quantity, times a factor."""
    return make_number(results[name].value * factor, unit, about, results[name])


def make_rate_of_difference(seconds: float, least: float, about: str, otherwise: str, *used: Quantity) -> Number:
    """Bytes a second, of seconds a byte that are a difference of measured times. Where the times are nearly equal their
    difference is noise: `least` is assumed then, and `otherwise` says by which rule."""
    if seconds < least:
        return Number(1 / least, "B/s", f"assumed: {otherwise}")
    return make_number(1 / seconds, "B/s", about, *used)
