"""Bounds: between which values an expression lies while its symbols move in intervals, and whether it only rises or
only falls with one of them.

Interval arithmetic over the expression graph. What it says holds; what it cannot tell it leaves open: wide bounds, no
direction. Splitting the interval tells more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import DomainError, add_exactly, divide, multiply_exactly, raise_to_power
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr
from aspenpy.record import NamedTuple

Real = int | Fraction | float

FLAT, RISING, FALLING = 0, 1, -1
"""Directions: `RISING` may stay level for a while, `FALLING` too; None where neither is certain."""


class Range(NamedTuple):
    """Values from `low` to `high`, and the direction in which they move with the symbol in question."""

    low: Real
    high: Real
    direction: int | None = None

    @property
    def single(self) -> bool:
        return self.low == self.high


ANYWHERE = Range(-math.inf, math.inf)

Box = Mapping[Expr, tuple[Real, Real]]  # the interval of each symbol


def bounds(expr: Expr, box: Box, moving: Expr) -> Range:
    """The range of an expression over a box; the direction is that with `moving`, whatever the others are."""
    return ranges(expr, box, moving)[expr]


def ranges(expr: Expr, box: Box, moving: Expr) -> dict[Expr, Range]:
    """The ranges of all nodes that an expression is made of."""

    def rule(node: Expr, known: Mapping[Expr, Range]) -> Range:
        found = _range(node, known, box, moving)
        return found._replace(direction=FLAT) if found.single else found

    return graph.fold(rule, expr)


def _range(node: Expr, known: Mapping[Expr, Range], box: Box, moving: Expr) -> Range:
    if node in box:
        low, high = box[node]
        return Range(low, high, RISING if node is moving else FLAT)
    try:
        if node.kind == "sum":
            return _sum(node, known, box, moving)
        rule = _RULES.get(node.kind)
        if rule is not None:
            return rule(node, [known[arg] for arg in node.args])
        return _constant(node, box)
    except (DomainError, EvaluationError, OverflowError, ZeroDivisionError):
        return ANYWHERE


def _constant(node: Expr, box: Box) -> Range:
    """What has no rule has a value where it depends on nothing that moves."""
    if not graph.free_symbols(node).isdisjoint(box):
        return ANYWHERE
    value = evaluate(node)
    if isinstance(value, bool):
        return Range(int(value), int(value), FLAT)
    return ANYWHERE if isinstance(value, tuple) else Range(value, value, FLAT)


# -- directions ------------------------------------------------------------------------------------


def _together(directions: list[int | None]) -> int | None:
    """The direction of something that moves with each of its parts."""
    if None in directions:
        return None
    moving_to = {direction for direction in directions if direction != FLAT}
    return None if len(moving_to) > 1 else moving_to.pop() if moving_to else FLAT


def _turn_direction(direction: int | None) -> int | None:
    return None if direction is None else -direction


def _negative(part: Range) -> Range:
    return Range(-part.high, -part.low, _turn_direction(part.direction))


# -- rules -----------------------------------------------------------------------------------------


def _add(node: Expr, parts: list[Range]) -> Range:
    low, high = parts[0].low, parts[0].high
    for part in parts[1:]:
        low, high = _plus(low, part.low), _plus(high, part.high)
    return Range(low, high, _together([part.direction for part in parts]))


def size(value: Real) -> Real:
    """Its absolute value."""
    return value if value >= 0 else -value


def _plus(a: Real, b: Real) -> Real:
    return a + b if math.inf in (size(a), size(b)) else add_exactly(a, b)


def _mul(node: Expr, parts: list[Range]) -> Range:
    product = parts[0]
    for part in parts[1:]:
        product = _product(product, part)
    return product


def _product(a: Range, b: Range) -> Range:
    """Where neither changes its sign, the product of what is not negative moves with both."""
    if a.high <= 0 and not a.single:
        return _negative(_product(_negative(a), b))
    if b.high <= 0 and not b.single:
        return _negative(_product(a, _negative(b)))
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    direction = None
    if a.low >= 0 and b.low >= 0:
        direction = _together([a.direction, b.direction])
    elif a.single and a.direction == FLAT:
        direction = b.direction if a.low >= 0 else _turn_direction(b.direction)
    elif b.single and b.direction == FLAT:
        direction = a.direction if b.low >= 0 else _turn_direction(a.direction)
    return Range(min(corners), max(corners), direction)


def _times(a: Real, b: Real) -> Real:
    if 0 in (a, b):
        return 0
    return a * b if math.inf in (size(a), size(b)) else multiply_exactly(a, b)


def _div(node: Expr, parts: list[Range]) -> Range:
    top, bottom = parts
    if bottom.high < 0:
        return _div(node, [_negative(top), _negative(bottom)])
    if bottom.low <= 0:
        return ANYWHERE
    return _product(top, _reciprocal(bottom))


def _reciprocal(part: Range) -> Range:
    low = 0 if part.high == math.inf else divide(1, part.high)
    return Range(low, divide(1, part.low), _turn_direction(part.direction))


def _power(node: Expr, parts: list[Range]) -> Range:
    base, exponent = parts
    if not exponent.single or exponent.direction != FLAT:
        return _exponential(base, exponent)
    if exponent.low < 0:
        positive = _raise_range(base, -exponent.low)
        return _reciprocal(positive) if positive.low > 0 else ANYWHERE
    return _raise_range(base, exponent.low)


def _raise_range(base: Range, exponent: Real) -> Range:
    """With a positive exponent: rising from 0 on; for whole exponents there is something below 0, too."""
    if base.low >= 0:
        return Range(_to(base.low, exponent), _to(base.high, exponent), base.direction)
    if exponent != int(exponent):
        return ANYWHERE
    ends = _to(base.low, exponent), _to(base.high, exponent)
    if exponent % 2 == 1:
        return Range(*ends, base.direction)
    if base.high <= 0:
        return Range(ends[1], ends[0], _turn_direction(base.direction))
    return Range(0, max(ends), None)


def _exponential(base: Range, exponent: Range) -> Range:
    """A constant from 1 on to some power."""
    if not base.single or base.direction != FLAT or base.low < 1:
        return ANYWHERE
    return Range(_to(base.low, exponent.low), _to(base.low, exponent.high), exponent.direction)


def _to(base: Real, exponent: Real) -> Real:
    if size(base) == math.inf:
        return base if exponent % 2 == 1 else math.inf
    if size(exponent) == math.inf:
        raise OverflowError
    return raise_to_power(base, exponent)


def _apply(node: Expr, parts: list[Range]) -> Range:
    name = node.payload
    rule = FUNCTIONS[name].exact
    assert rule is not None, name
    if name in ("max", "min"):
        ends = rule(*(part.low for part in parts)), rule(*(part.high for part in parts))
        return Range(*ends, _extreme([*parts], ends, name))
    if name == "abs":
        return _absolute(parts[0])
    if name == "lookup":
        return _bound_lookup(node, rule, parts[-1])
    if name in RISING_FUNCTIONS:
        ends = (_through(rule, parts[0].low), _through(rule, parts[0].high))
        return Range(*ends, parts[0].direction)
    if all(part.single and part.direction == FLAT for part in parts):
        value = rule(*(part.low for part in parts))
        return Range(value, value, FLAT)
    return ANYWHERE


def _bound_lookup(node: Expr, rule: Callable[..., Any], x: Range) -> Range:
    """Straight lines between the points: the extremes are at points, or at the ends."""
    arrays = [array.args for array in node.args[:2]]
    if any(element.kind != "number" for array in arrays for element in array) or math.inf in (-x.low, x.high):
        return ANYWHERE
    values, sizes = (tuple(element.payload for element in array) for array in arrays)
    places = [x.low, *(place for place in sizes if x.low < place < x.high), x.high]
    heights = [rule(values, sizes, place) for place in places]
    direction = None
    if heights == sorted(heights):
        direction = x.direction
    elif heights == sorted(heights, reverse=True):
        direction = _turn_direction(x.direction)
    return Range(min(heights), max(heights), direction)


RISING_FUNCTIONS = frozenset(name for name, row in FUNCTIONS.items() if row.rising)


def _through(rule: Callable[[Any], Any], end: Real) -> Real:
    value: Real = end if size(end) == math.inf else rule(end)
    return value


def _extreme(parts: list[Range], ends: tuple[Real, Real], name: str) -> int | None:
    """Only parts that can be the largest (smallest) somewhere have a say."""
    if name == "max":
        return _together([part.direction for part in parts if part.high >= ends[0]])
    return _together([part.direction for part in parts if part.low <= ends[1]])


def _absolute(part: Range) -> Range:
    if part.low >= 0:
        return part
    return _negative(part) if part.high <= 0 else Range(0, max(-part.low, part.high), None)


def _compare(node: Expr, parts: list[Range]) -> Range:
    """1 where it holds, 0 where it does not."""
    a, b = parts
    if node.payload in (">", ">="):
        a, b = b, a
    if node.payload in ("<", ">"):
        always, never = a.high < b.low, a.low >= b.high
    elif node.payload in ("<=", ">="):
        always, never = a.high <= b.low, a.low > b.high
    else:
        equal = a.single and b.single and a.low == b.low
        apart = a.high < b.low or b.high < a.low
        always, never = (equal, apart) if node.payload == "==" else (apart, equal)
    return _TRUE if always else _FALSE if never else _UNDECIDED


_TRUE, _FALSE, _UNDECIDED = Range(1, 1, FLAT), Range(0, 0, FLAT), Range(0, 1, None)


def _junction(node: Expr, parts: list[Range]) -> Range:
    rule = min if node.payload == "and" else max
    low, high = rule(part.low for part in parts), rule(part.high for part in parts)
    return _UNDECIDED if low != high else _TRUE if low else _FALSE


def _if_else(node: Expr, parts: list[Range]) -> Range:
    condition, then, otherwise = parts
    if condition.single:
        return then if condition.low else otherwise
    return Range(min(then.low, otherwise.low), max(then.high, otherwise.high), None)


def _sum(node: Expr, known: Mapping[Expr, Range], box: Box, moving: Expr) -> Range:
    """Terms that are not negative: more passes, or larger terms, make more."""
    counter, _, body = node.args
    count = known[node.args[1]]
    if count.low < 0 or count.high == math.inf:
        return ANYWHERE
    fewest, most = math.ceil(count.low), math.ceil(count.high)
    if most == 0:
        return Range(0, 0, FLAT)
    term = bounds(body, {**box, counter: (0, most - 1)}, moving)
    if term.high <= 0:
        return _negative(_repeat_range(_negative(term), fewest, most, count.direction))
    return _repeat_range(term, fewest, most, count.direction)


def _repeat_range(term: Range, fewest: int, most: int, direction: int | None) -> Range:
    if term.low < 0:
        return Range(_times(most, term.low), _times(most, term.high), None)
    return Range(_times(fewest, term.low), _times(most, term.high), _together([direction, term.direction]))


_RULES: dict[str, Callable[[Expr, list[Range]], Range]] = {
    "add": _add,
    "mul": _mul,
    "neg": lambda node, parts: _negative(parts[0]),
    "div": _div,
    "power": _power,
    "apply": _apply,
    "compare": _compare,
    "junction": _junction,
    "if_else": _if_else,
    "checked": lambda node, parts: parts[0],
    "number": lambda node, parts: Range(node.payload, node.payload, FLAT),
}
