"""Axis: the values that a parameter takes, written as `n=1k..1M:log:200`, `n=8,16,32`, `n={8, 16, 32}` or `n`.

Sweeps, sessions, sensitivity, optimisation and the commands read them here; what the numbers are worth is theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import PREFIXES
from aspenpy.language.source import Source, Span, split_at_commas, split_at_sign, trim_span
from aspenpy.record import NamedTuple, Record

CATEGORIES = ("app", "machine", "socket", "kernel")  # axes that are no numbers

SPACINGS = ("lin", "log", "pow2")

WIDE = 1000  # a range whose ends are so many times apart is gone over in equal ratios, unless told otherwise

FORMS = "NAME=LOW..HIGH:log:200, NAME=1,2,4 or NAME alone for the range that the model declares"

_SIDES = ("app:", "machine:")


def is_wide(low: Any, high: Any) -> bool:
    """Whether a range is gone over in equal ratios, unless told otherwise."""
    return bool(high >= WIDE * low > 0)


class Extent(Record):
    """The numbers from `low` to `high`, in equal ratios if `log`. Places go from 0, the lower end, to 1."""

    low: Any
    high: Any
    log: bool

    def value(self, place: Any) -> Any:
        """The value at a place, or at each of an array of them."""
        if self.log:
            return self.low * (self.high / self.low) ** place
        return self.low + (self.high - self.low) * place

    def place(self, value: float) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))


class Axis(Record):
    """One axis as it is written: a list of `items`, or from `low` to `high`; without either the declared range.
    `spacing`, `count` and `whole` are None where nothing was said; `whole` is False behind `:real`."""

    name: str
    items: tuple[Span, ...] = ()
    low: Span | None = None
    high: Span | None = None
    spacing: str | None = None
    count: int | None = None
    whole: bool | None = None
    span: Span | None = None
    name_span: Span | None = None

    @property
    def declared(self) -> bool:
        """Whether it is the range that the model declares."""
        return self.low is None and not self.items

    @property
    def is_real(self) -> bool:
        return self.whole is False

    def is_logarithmic(self, low: Any, high: Any) -> bool:
        """Whether it goes in equal ratios between its ends; unless told otherwise, a wide range does."""
        return is_wide(low, high) if self.spacing is None else self.spacing == "log"

    def __str__(self) -> str:
        return self.name


def parse_axis(text: str, where: str = "<axis>") -> Axis:
    """The axis that a text asks for; `where` is what its place is called. Raises AspenError."""
    return read_axis(Span(Source(text, where), 0, len(text)))


def read_axis(span: Span) -> Axis:
    """Parses the text of an axis, such as `n=1..100:log:5`. Raises AspenError."""
    sides = split_at_sign(span, "=")
    if sides is None:
        side = next((side for side in _SIDES if span.text().startswith(side)), "")
        plain, *options = _split_at_colons(Span(span.source, span.start + len(side), span.end))
        name_span = Span(span.source, span.start, plain.end)
        axis = Axis(side + plain.text(), span=span, name_span=name_span)
        return _apply_options(axis, options)
    name_span, rest = sides
    axis = Axis(name_span.text(), span=span, name_span=name_span)
    if not axis.name or not rest.text():
        fail("bad-axis", f"`{span.text()}` is not an axis", span, hint=f"write {FORMS}")
    head, *options = _split_at_colons(rest)
    ends = None if axis.name in CATEGORIES else split_at_sign(head, "..")
    if ends is None:
        return _read_list(axis, rest)
    if not ends[0].text() or not ends[1].text():
        fail("bad-axis", f"an end of the range is missing in `{span.text()}`", rest, hint=f"write {FORMS}")
    ranged: Axis = axis.replace(low=ends[0], high=ends[1])
    return _apply_options(ranged, options)


def split_axes(span: Span) -> list[Span]:
    """The axes between commas: a part without `=` belongs to the list before it, unless it is the name of an axis."""
    parts: list[Span] = []
    for part in split_at_commas(span):
        before = parts[-1].text() if parts else ""
        in_list = "=" in before and ".." not in before and not before.endswith("}") and "=" not in part.text()
        name = before.partition("=")[0].strip()
        if in_list and (name in CATEGORIES or not re.fullmatch(r"[^\W\d]\w*", part.text())):
            parts[-1] = Span(span.source, parts[-1].start, part.end)
        else:
            parts.append(part)
    return parts


class OptionInterval(NamedTuple):
    """NAME=LOW..HIGH; `whole` is None where neither :whole nor :real stands behind it."""

    name: str
    low: Span
    high: Span
    whole: bool | None


def read_interval(text: str, option: str, example: str) -> OptionInterval:
    """The value of an option that takes NAME=LOW..HIGH. Raises AspenError."""
    axis = parse_axis(text, f"<{option}>")
    if axis.low is None or axis.high is None or axis.spacing or axis.count:
        fail("bad-axis", f"{option}: expected NAME=LOW..HIGH, such as {example}, not `{text}`", axis.span)
    return OptionInterval(axis.name, axis.low, axis.high, axis.whole)


def split_ends(text: str, option: str) -> tuple[Span, Span | None]:
    """LOW and HIGH of a range without a name, either of which may be empty; HIGH is None where there is one value."""
    span = Span(Source(text, f"<{option}>"), 0, len(text))
    return split_at_sign(span, "..") or (trim_span(span), None)


def _split_at_colons(span: Span) -> list[Span]:
    """Parts of a text between colons."""
    parts, rest = [], span
    while parted := split_at_sign(rest, ":"):
        parts.append(parted[0])
        rest = parted[1]
    return [*parts, rest]


def _read_list(axis: Axis, rest: Span) -> Axis:
    """A list by commas, in braces or not."""
    braced = rest.text().startswith("{")
    if ":" in rest.text() and axis.name not in CATEGORIES:
        fail("bad-axis", f"`{rest.text()}` is neither a range nor a list", rest, hint=f"write {FORMS}")
    inner = Span(rest.source, rest.start + 1, rest.end - 1) if braced else rest
    items = tuple(split_at_commas(inner))
    if (braced and not rest.text().endswith("}")) or not items or not all(item.text() for item in items):
        fail("bad-axis", f"a value is missing in `{rest.text()}`", rest, hint=f"write {FORMS}")
    return axis.replace(items=items)


def _apply_options(axis: Axis, options: Sequence[Span]) -> Axis:
    settings: dict[str, Any] = {}
    for option in options:
        text = option.text()
        said: dict[str, Any] = {}
        if text in SPACINGS:
            said["spacing"] = text
        elif text in ("whole", "real"):
            said["whole"] = text == "whole"
        elif re.fullmatch(r"\d{1,15}(e\d{1,2})?", text) and float(text) >= 1:
            said["count"] = int(float(text))
        else:
            message = "expected lin, log, pow2, whole, real or a number of points"
            fail("bad-axis", f"{message}, not `{text}`", option, hint=f"write {FORMS}")
        if said.keys() & settings.keys():
            fail("bad-axis", f"the range repeats the option `{text}`, or contradicts it", option, hint="leave one out")
        settings |= said
    if settings.get("spacing") == "pow2" and "count" in settings:
        message = "the powers of two between two numbers are as many as there are"
        fail("bad-axis", message, axis.span, hint="leave the number of points out")
    return axis.replace(**settings)


_NUMBER = re.compile(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)([A-Za-z]*)")


def read_number_or_expression(span: Span, worth: Callable[[Span], float]) -> float:
    """A number, with a prefix or without, or else what an expression in the language is worth."""
    plain = read_literal(span)
    return worth(span) if plain is None else plain


def read_literal(span: Span) -> float | None:
    """A number, with a prefix such as `k`, `M` or `Ki` if it has one; None for any other expression."""
    match = _NUMBER.fullmatch(span.text())
    if not match or match[2] not in PREFIXES:
        return None
    try:
        value = float(float(match[1]) * PREFIXES[match[2]])
    except ValueError:
        return None  # such as 1.2.3, which the language has words for
    if not math.isfinite(value):
        fail("bad-value", f"`{span.text()}` is not a number in the range of double precision", span)
    return value
