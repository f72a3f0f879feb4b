"""Axis: what a sweep goes over, written as `n=1k..1M:log:200`, `cores=8,16,32` or `n`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from aspenpy.diagnostics import fail
from aspenpy.dimensions import PREFIXES
from aspenpy.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

CATEGORIES = ("app", "machine", "socket", "kernel")
"""Axes that are no numbers."""

SPACINGS = ("lin", "log", "pow2")

POINTS = 100
"""Of a range that does not say how many."""

MOST_VALUES = 10**8
"""Of one axis: 800 megabytes."""

WIDE = 1000
"""A declared range whose ends are so many times apart is gone over in equal ratios, unless told otherwise."""

Worth = Callable[[str], float]
"""The value of an expression in the language, as a user wrote it."""

FORMS = "NAME=LOW..HIGH:log:200, NAME=1,2,4 or NAME alone for the range that the model declares"


class Axis(Record):
    """One axis as it was asked for: a list of `items`, or from `low` to `high`; without either the declared range.
    `count` is None where it was not said, `spacing` likewise; `whole` rounds to whole numbers, each once."""

    name: str
    items: tuple[str, ...] = ()
    low: str | None = None
    high: str | None = None
    spacing: str | None = None
    count: int | None = None
    whole: bool = False

    @property
    def categorical(self) -> bool:
        return self.name in CATEGORIES

    def __str__(self) -> str:
        return self.name

    @property
    def length(self) -> int:
        """How many values it has, at most."""
        return len(self.items) or self.count or POINTS


def parsed(text: str) -> Axis:
    """The axis that a text asks for; raises AspenError."""
    name, equals, rest = text.partition("=")
    if not equals:
        side = next((side for side in ("app:", "machine:") if name.startswith(side)), "")
        plain, *options = name.removeprefix(side).split(":")
        return _with_options(Axis((side + plain).strip()), options, text)
    name = name.strip()
    if not name or not rest.strip():
        fail("bad-axis", f"`{text}` is no axis", hint=f"write {FORMS}")
    if ".." not in rest or name in CATEGORIES:
        items = tuple(item.strip() for item in _split(rest))
        if not all(items):
            fail("bad-axis", f"a value is missing in `{text}`", hint=f"write {FORMS}")
        return Axis(name, items=items)
    low, _, behind = rest.partition("..")
    high, *options = behind.split(":")
    if not low.strip() or not high.strip():
        fail("bad-axis", f"an end of the range is missing in `{text}`", hint=f"write {FORMS}")
    return _with_options(Axis(name, low=low.strip(), high=high.strip()), options, text)


def _split(text: str) -> list[str]:
    """At the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _with_options(axis: Axis, options: Sequence[str], text: str) -> Axis:
    found: dict[str, Any] = {}
    for option in (option.strip() for option in options):
        said: dict[str, Any] = {}
        if option in SPACINGS:
            said["spacing"] = option
        elif option == "whole":
            said["whole"] = True
        elif re.fullmatch(r"\d+(e\d+)?", option) and 1 <= float(option) < float("inf"):
            said["count"] = int(float(option))
        else:
            fail("bad-axis", f"`{option}` in `{text}` is neither lin, log, pow2, whole nor a number of points")
        if said.keys() & found.keys():
            fail("bad-axis", f"`{option}` in `{text}` says once more what was said before it", hint="leave one out")
        found |= said
    if found.get("spacing") == "pow2" and "count" in found:
        fail("bad-axis", f"`{text}`: the powers of two between two numbers are as many as there are")
    changed: Axis = axis.replace(**found)
    return changed


# -- values ----------------------------------------------------------------------------------------

_NUMBER = re.compile(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)([A-Za-z]*)")


def number(text: str, worth: Worth) -> float:
    """A number, with a prefix such as `k`, `M` or `Ki` if it has one, or else an expression in the language."""
    found = _NUMBER.fullmatch(text)
    if found and found[2] in PREFIXES:
        try:
            value = float(float(found[1]) * PREFIXES[found[2]])
        except ValueError:
            return worth(text)  # such as 1.2.3, which the language has words for
        if not isfinite(value):
            fail("bad-value", f"`{text}` is no number that fits into double precision")
        return value
    return worth(text)


def values(axis: Axis, worth: Worth, declared: Callable[[str], tuple[float, float] | None]) -> NDArray[Any]:
    """The values of a numeric axis, float64; raises AspenError."""
    import numpy

    if axis.items:
        return numpy.array([number(item, worth) for item in axis.items])
    low, high, spacing = _ends(axis, worth, declared)
    if low > high:
        fail(
            "empty-range",
            f"the range of `{axis.name}` is empty: {low:.6g} is above {high:.6g}",
            hint=f"the lower end comes first: {axis.name}={high:.6g}..{low:.6g}",
        )
    if spacing != "lin" and low <= 0:
        fail(
            "bad-range",
            f"`{axis.name}` cannot go from {low:.6g} in {'equal ratios' if spacing == 'log' else 'powers of two'}",
            hint="begin above 0, or say :lin",
        )
    if axis.length > MOST_VALUES:
        fail("too-long", f"`{axis.name}` has {axis.length:,} values, and an axis at most {MOST_VALUES:,}")
    found: NDArray[Any] = _spaced(low, high, spacing, axis.length)
    if axis.whole:
        found = numpy.unique(numpy.clip(numpy.rint(found), numpy.ceil(low), numpy.floor(high)))
    if not len(found) or (axis.whole and numpy.ceil(low) > numpy.floor(high)):
        what = "whole numbers" if axis.whole else "powers of two"
        fail("empty-range", f"there are no {what} from {low:.6g} to {high:.6g} for `{axis.name}`")
    return found


def _spaced(low: float, high: float, spacing: str, count: int) -> Any:
    """Both ends are hit exactly."""
    import numpy

    if spacing == "pow2":
        first, last = int(numpy.ceil(numpy.log2(low))), int(numpy.floor(numpy.log2(high)))
        return 2.0 ** numpy.arange(first, last + 1)
    with numpy.errstate(all="ignore"):  # ends too far apart give values that `Study` refuses
        return numpy.linspace(low, high, count) if spacing == "lin" else numpy.geomspace(low, high, count)


def _ends(axis: Axis, worth: Worth, declared: Callable[[str], tuple[float, float] | None]) -> tuple[float, float, str]:
    if axis.low is not None and axis.high is not None:
        return number(axis.low, worth), number(axis.high, worth), axis.spacing or "lin"
    found = declared(axis.name)
    if found is None:
        fail(
            "no-range",
            f"`{axis.name}` declares no range to go over",
            hint=f"say one: {axis.name}=LOW..HIGH, or a list: {axis.name}=1,2,4",
        )
    low, high = found
    return low, high, axis.spacing or ("log" if low > 0 and high >= WIDE * low else "lin")
