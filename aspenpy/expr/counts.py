"""Counts: the whole numbers that a program accepts, such as cubes of ranks, with the nearest below and above any other.

square          1, 4, 9, ...
cube            1, 8, 27, ...
power_of(b)     1, b, b^2, ...
divisor_of(n)   the numbers that divide n
multiple_of(n)  n, 2 n, 3 n, ...
at_most(n)      the numbers from 1 to n
grid(r)         numbers whose most even grid in three dimensions is at most r times as long as wide
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from math import lcm

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import divisors, factor_evenly
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

LARGEST_DIVIDED = 10**12
"""All numbers up to the root of what is divided are tried: a million."""

TRUE_TO = graph.number(1e-9)
"""Amount by which rounding may make a root or a logarithm less than a whole number."""


def whole_root(number: int, degree: int) -> int:
    """The largest whole number whose power is no more than a number from 1 on, by Newton's method from above."""
    root = 1 << -(-number.bit_length() // degree)
    while root**degree > number:
        root = ((degree - 1) * root + number // root ** (degree - 1)) // degree
    return root


_divisors = lru_cache(maxsize=64)(divisors)


def _largest_power_below(base: int, number: int) -> int:
    power = 1
    while base > 1 and power * base <= number:
        power *= base
    return power


def _has_grid(ratio: int, number: int) -> bool:
    longest, _, shortest = factor_evenly(number, 3)
    return longest <= ratio * shortest


def _grids_between(ratio: int, low: int, high: int) -> list[int]:
    """Accepted numbers, from all grids: to factor one after the other takes minutes for ten millions."""
    grids: set[int] = set()
    for shortest in range(1, whole_root(max(high, 1), 3) + 1):
        widest = ratio * shortest
        for middle in range(shortest, min(widest, whole_root(high // shortest, 2)) + 1):
            face = shortest * middle
            first, last = max(middle, -(-low // face)), min(widest, high // face)
            grids.update(range(first * face, last * face + 1, face))
    return sorted(grids)


_BELOW: dict[str, Callable[[int, int], int]] = {
    "square": lambda _, number: whole_root(number, 2) ** 2,
    "cube": lambda _, number: whole_root(number, 3) ** 3,
    "power_of": _largest_power_below,
    "divisor_of": lambda whole, number: max(each for each in _divisors(whole) if each <= number),
    "multiple_of": lambda unit, number: number // unit * unit,
    "at_most": min,
    "grid": lambda ratio, number: next(each for each in count(number, -1) if _has_grid(ratio, each)),
}
"""The largest accepted number up to a number from 1 on, given the rule's argument; 0 where there is none."""

_NEXT: dict[str, Callable[[int, int], int | None]] = {
    "square": lambda _, accepted: (whole_root(accepted, 2) + 1) ** 2,
    "cube": lambda _, accepted: (whole_root(accepted, 3) + 1) ** 3,
    "power_of": lambda base, accepted: accepted * base if base > 1 else None,
    "divisor_of": lambda whole, accepted: next((each for each in _divisors(whole) if each > accepted), None),
    "multiple_of": lambda unit, accepted: accepted + unit,
    "at_most": lambda most, accepted: accepted + 1 if accepted < most else None,
    "grid": lambda ratio, accepted: next(each for each in count(accepted + 1) if _has_grid(ratio, each)),
}
"""The accepted number after one, or after 0; None behind the last."""

RULES = tuple(_BELOW)
ARGUMENTS = {
    "power_of": "its base",
    "divisor_of": "what it divides",
    "multiple_of": "of what",
    "at_most": "the largest",
    "grid": "how long for its width",
}
"""The rules with an argument, and what it is."""


class CountRule(Record):
    """The numbers that a rule accepts; `argument` is 1 for a rule that has none."""

    rule: str
    argument: int = 1

    def __str__(self) -> str:
        return f"{self.rule}({self.argument})" if self.rule in ARGUMENTS else self.rule

    def describe(self) -> str:
        """The rule in words: "cube numbers", "powers of 2"."""
        if self.rule == "grid":
            return f"numbers whose grid is at most {self.argument:,} times as long as wide"
        if self.rule == "at_most":
            return f"numbers up to {self.argument:,}"
        kind, _, of = self.rule.partition("_")
        return f"{kind}s {of} {self.argument:,}" if of else f"{kind} numbers"

    def largest_below(self, number: int) -> int | None:
        """The largest number up to `number` that the rule accepts; None where there is none."""
        return _BELOW[self.rule](self.argument, number) or None

    def smallest_above(self, number: int) -> int | None:
        """The smallest number from `number` on that the rule accepts."""
        accepted = self.largest_below(number) or 0
        return accepted if accepted == number else _NEXT[self.rule](self.argument, accepted)

    def __contains__(self, number: float) -> bool:
        return number >= 1 and number % 1 == 0 and self.largest_below(int(number)) == number

    def nearest_two(self, number: float) -> list[int]:
        """The number itself if it is one of them, else those next to it."""
        whole = max(1, int(number))
        over = self.smallest_above(whole if whole >= number else whole + 1)
        near = [self.largest_below(whole) if number >= 1 else None, over]
        return sorted({each for each in near if each is not None})

    def between(self, low: int, high: int) -> Sequence[int]:
        """All accepted numbers from one number on up to another."""
        if self.rule == "multiple_of":
            return range(-(-low // self.argument) * self.argument, high + 1, self.argument)
        if self.rule == "at_most":
            return range(max(low, 1), min(high, self.argument) + 1)
        if self.rule == "grid":
            return _grids_between(self.argument, low, high)
        counts, each = [], self.smallest_above(max(low, 1))
        while each is not None and each <= high:
            counts.append(each)
            each = _NEXT[self.rule](self.argument, each)
        return counts

    def largest_up_to(self, most: Expr) -> Expr:
        """The largest of them up to a number that is a formula, or the smallest of all where that is beyond it. The
        roots and logarithms of numbers up to 10^12 are true to 10^-9. Of grids the number itself, or a large one."""
        n = graph.number(self.argument)
        root = {"square": 2, "cube": 3}.get(self.rule)
        if root is not None:
            edge = graph.apply("floor", graph.add(graph.power(most, graph.div(1, root)), TRUE_TO))
            return graph.apply("max", 1, graph.power(edge, graph.number(root)))
        if self.rule == "multiple_of":
            return graph.apply("max", n, graph.mul(n, graph.apply("floor", graph.div(most, n))))
        if self.rule == "at_most":
            return graph.apply("max", 1, graph.apply("min", n, graph.apply("floor", most)))
        if self.rule == "grid":
            return self._large_grid(graph.apply("max", 1, graph.apply("floor", most)))
        if self.rule == "power_of":
            if self.argument == 1:
                return graph.ONE
            steps = graph.apply(
                "floor", graph.add(graph.div(*(graph.apply("log2", each) for each in (most, n))), TRUE_TO)
            )
            return graph.apply("max", 1, graph.power(n, steps))
        fitting = [graph.if_else(graph.compare(">=", most, each), each, 1) for each in _divisors(self.argument)]
        return graph.apply("max", *fitting) if fitting[1:] else graph.ONE

    def _large_grid(self, most: Expr) -> Expr:
        """The largest grid up to a whole number. With e^3 the largest cube: the number itself if it has a grid, else
        the larger of e e l and e (e + 1) l, where l is as long as there is room for."""
        edge = graph.apply("floor", graph.add(graph.power(most, graph.div(1, 3)), TRUE_TO))
        widest = graph.mul(self.argument, edge)
        faces = [graph.mul(edge, graph.add(edge, more)) for more in (0, 1)[: self.argument]]
        lengths = [graph.apply("min", widest, graph.apply("floor", graph.div(most, face))) for face in faces]
        longest, shortest = (graph.apply("grid", most, 3, axis) for axis in (0, 2))
        itself = graph.if_else(graph.compare("<=", longest, graph.mul(self.argument, shortest)), most, 1)
        return graph.apply("max", itself, *map(graph.mul, faces, lengths))


def read_counts(text: str) -> CountRule | None:
    """`cube`, `power_of(2)` as in the language, with a number for an argument; None for what is no such rule."""
    name, _, rest = text.replace(" ", "").partition("(")
    digits = rest.removesuffix(")")
    if name not in RULES or (name in ARGUMENTS) != (digits.isdecimal() and rest.endswith(")") and int(digits) >= 1):
        return None
    return CountRule(name) if name not in ARGUMENTS else CountRule(name, int(digits))


def counts_accepted_by_all(rules: Sequence[CountRule], low: int, high: int) -> Sequence[int]:
    """The numbers from one on up to another that all of some rules accept."""
    unit = lcm(*(each.argument for each in rules if each.rule == "multiple_of"))
    first, *others = [*(each for each in rules if each.rule != "multiple_of"), CountRule("multiple_of", unit)]
    counts = first.between(low, high)
    return [each for each in counts if all(each in rule for rule in others)] if others else counts


def nearest_of(accepted: Sequence[int], numbers: Iterable[int]) -> list[int]:
    """The accepted numbers, which rise, nearest to each number by ratio, without repeats."""
    nearest = set()
    for number in numbers:
        index = bisect_left(accepted, number)
        near = accepted[max(index - 1, 0) : index + 1]
        nearest.update([min(near, key=lambda each: max(each / number, number / each))] if near else [])
    return sorted(nearest)
