"""The numbers of a probed machine, each with its source: measured, stated by somebody, or assumed by a rule."""

from __future__ import annotations

from aspenpy.language.dimensions import prefixed_unit
from aspenpy.probe.quantity import Quantities, Quantity
from aspenpy.record import Record

BINARY_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


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
            return _format_bytes(self.value)
        if not self.unit:
            return f"{self.value:.4g}"
        size, unit = prefixed_unit(self.value, self.unit, digits=4)
        return f"{self.value / float(size):.4g} {unit}"


Numbers = dict[str, dict[str, Number]]
"""Numbers by part of the machine (`core`, `l1`, `memory`, ...) and property."""


def _format_bytes(value: float) -> str:
    """The size in the largest unit of which it is a whole multiple under a million, else in the largest that it
    reaches."""
    for size, unit in BINARY_UNITS:
        if value % size == 0 and value < 1e6 * size:
            return f"{value / size:.6g} {unit}"
    for size, unit in BINARY_UNITS:
        if value >= size:
            return f"{value / size:.6g} {unit}"
    return f"{value:.6g} B"


def make_number(value: float, unit: str, about: str, *used: Quantity) -> Number:
    """A number made of measured quantities: the largest of their spreads is said, and marked where it is large."""
    spread = max((item.spread for item in used), default=0.0)
    source = f"{about}: " if about else ""
    source += "measured, "
    if any(item.uncertain for item in used):
        source += "uncertain: "
    return Number(value, unit, f"{source}spread {100 * spread:.1f} %")


def make_measured_number(results: Quantities, name: str, unit: str, about: str = "", factor: float = 1.0) -> Number:
    """One measured quantity, times a factor."""
    return make_number(results[name].value * factor, unit, about, results[name])


def make_rate_of_difference(seconds: float, least: float, about: str, otherwise: str, *used: Quantity) -> Number:
    """Bytes a second, of seconds a byte that are a difference of measured times. Where the times are nearly equal their
    difference is noise: `least` is assumed then, and `otherwise` says by which rule."""
    if seconds < least:
        return Number(1 / least, "B/s", f"assumed: {otherwise}")
    return make_number(1 / seconds, "B/s", about, *used)
