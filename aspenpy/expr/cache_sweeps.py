"""Structures that are swept side by side: the share of one's lines that a cache still holds at the next touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from aspenpy.allowance import INTERPRETED
from aspenpy.expr.arithmetic import TOO_LARGE, DomainError, Number, normalise_number, to_float
from aspenpy.expr.cache_laws import apply_by_point, lines_with_room, numpy_lines_with_room
from aspenpy.expr.cache_windows import ONE_RUN, share_kept
from aspenpy.expr.failures import spend
from aspenpy.record import Record

INSTANTS = tuple(k / 16 for k in range(1, 16, 2))
"""When in the first pass a line is touched, as a share of the pass: the midpoints of its eighths."""

MOMENTS_IN_STEP = tuple((u, u) for u in INSTANTS)
MOMENTS = tuple(product(INSTANTS[::2], repeat=2))
"""Where the place of a line does not follow from when it is touched, places and instants are that many each."""

PAGE = 4096
"""Bytes of a page of the operating system, where data structures begin."""

MOST_APART = 4
"""Data structures whose lines in a set are added one by one; the others are one."""

TERM = 3  # arguments of a term of `share_still_held`
TAKES_TRIPLES = "share_still_held takes triples: a number for the lines that lie between, the lines, and a part of them"
BESIDE_THE_ONE_BEFORE = -1
"""Less its `Between`, what tells a term of the same structure as the one before it."""


class Between(IntEnum):
    """Lines of a structure between the sweep of a place u and the share v of the pass that comes to it."""

    ALL = 0
    PASSED = 1  # v of them
    BEHIND = 2  # those behind u
    BEHIND_AND_PASSED = 3  # those behind u, and v of a part
    ALL_BUT_V_TO_U = 4
    BEHIND_AND_CROSSED = 5  # those behind u, and v of those before it


_RULES = frozenset(int(which) for which in Between) | {BESIDE_THE_ONE_BEFORE - which for which in Between}


class SweepArithmetic(Record):
    """Operations that numbers, arrays and expressions do each in their own way."""

    divide: Callable[[Any, Any], Any]
    ceil: Callable[[Any], Any]
    least: Callable[[Any, Any], Any]
    most: Callable[[Any, Any], Any]
    share_kept: Callable[..., Any]
    lines_with_room: Callable[..., Any]
    choose_divisor: Callable[[Any, Any, Any], Any]
    """Of two values, each as a function, the first where the number divides a page."""


def share_still_held(room: Number, line: Number, sets: Number, *rest: Number) -> Number:
    """The share of an array's lines for which their set of a cache still has room after others came in.

    `rest`: the cache's sets as a whole number; 1 if lines are touched in the order of their places; the array's lines
    in a set over those if it lay side by side; and triples: the `Between` of a structure, its lines, and the part of
    which v counts. The array comes first. What belongs to the structure before it has -1 less its `Between`.
    """
    if not _are_terms(rest[3:]) or sets <= 0:
        raise DomainError(TAKES_TRIPLES)
    numbers = [*map(to_float, (room, line, sets, *rest))]
    spend(INTERPRETED * len(rest) // TERM)
    try:
        sure = _sure_share(numbers)
        if sure is not None:
            return sure
        spend(INTERPRETED * len(MOMENTS_IN_STEP) * len(rest) // TERM)
        return normalise_number(_mean_share(_OF_NUMBERS, *numbers))
    except OverflowError:
        raise DomainError(TOO_LARGE) from None


def _are_terms(terms: Sequence[Any]) -> bool:
    """Whether numbers, or what stands for them, are triples that begin with a `Between`, the first with its own."""
    rules = terms[::TERM]
    if not rules or len(terms) % TERM or not all(isinstance(rule, int | float | Fraction) for rule in rules):
        return False
    return rules[0] >= 0 and all(rule in _RULES for rule in rules)


def _sure_share(numbers: Sequence[float]) -> Number | None:
    """The share where the least and the most lines that come between tell it; None elsewhere."""
    room, _, sets, _, in_step, crowding, *terms = numbers
    most, least = 0.0, 0
    for index in range(0, len(terms), TERM):
        rule, lines = terms[index], terms[index + 1]
        if lines > 0 or index == 0:
            lines *= max(1.0, crowding) if index == 0 else 1.0
            most += min(lines, lines / sets) + 2  # a run that begins anywhere has bytes in up to two lines more
        if rule == Between.ALL or (in_step and rule == Between.ALL_BUT_V_TO_U):
            least += math.floor(terms[index + 1] / sets)
    return 1 if most <= room else 0 if least > room else None


def numpy_share_still_held(numpy: Any, *numbers: Any) -> Any:
    """`share_still_held` for arrays; NaN where that raises. What tells the terms apart is the same at all points."""

    def choose_divisor(size: Any, together: Callable[[], Any], apart: Callable[[], Any]) -> Any:
        divides = numpy.remainder(PAGE, size) == 0
        if numpy.all(divides):
            return together()
        return numpy.where(divides, together(), apart()) if numpy.any(divides) else apart()

    of_arrays = SweepArithmetic(
        divide=numpy.divide,
        ceil=numpy.ceil,
        least=numpy.minimum,
        most=numpy.maximum,
        share_kept=partial(apply_by_point(share_kept), numpy),
        lines_with_room=partial(numpy_lines_with_room, numpy),
        choose_divisor=choose_divisor,
    )
    room, line, sets, whole_sets, in_step, crowding, *terms = (numpy.asarray(part, dtype=float) for part in numbers)
    for index in range(0, len(terms), TERM):
        terms[index] = float(terms[index].flat[0])
    if not _are_terms(terms):
        return numpy.nan
    crowding = 1 if numpy.all(crowding == 1) else crowding
    return _mean_share(of_arrays, room, line, sets, whole_sets, in_step.flat[0], crowding, *terms)


def define_share_still_held(graph: Any, *arguments: Any) -> Any:
    """Writes `share_still_held` of expressions by functions that have derivatives; `graph` is that module."""

    def choose_divisor(size: Any, together: Callable[[], Any], apart: Callable[[], Any]) -> Any:
        divides = graph.compare("==", graph.apply("mod", PAGE, size), 0)
        return graph.if_else(divides, together(), apart())

    def call(name: str) -> Callable[..., Any]:
        return lambda *args: graph.apply(name, *args)

    of_expressions = SweepArithmetic(
        divide=graph.div,
        ceil=call("ceil"),
        least=call("min"),
        most=call("max"),
        share_kept=call("share_kept"),
        lines_with_room=call("lines_with_room"),
        choose_divisor=choose_divisor,
    )
    room, line, sets, whole_sets, in_step, crowding, *terms = arguments
    for index in range(0, len(terms), TERM):
        terms[index] = terms[index].payload
    if not _are_terms(terms) or in_step.kind != "number":
        return graph.failure(TAKES_TRIPLES)
    crowding = 1 if crowding is graph.ONE else crowding
    return _mean_share(of_expressions, room, line, sets, whole_sets, in_step.payload, crowding, *terms)


def _mean_share(of: SweepArithmetic, room: Any, line: Any, sets: Any, whole_sets: Any, *rest: Any) -> Any:
    """The mean over some places of the array and shares of the pass. A way that divides a page has equal places for all
    structures; in other caches each begins anywhere. What is left of the array itself lies in other sets, too, if it
    is crowded."""
    in_step, crowding, *terms = rest
    triples = [tuple(terms[index : index + TERM]) for index in range(0, len(terms), TERM)]
    moments = MOMENTS_IN_STEP if in_step else MOMENTS
    still = all(rule in (Between.ALL, BESIDE_THE_ONE_BEFORE) for rule, _, _ in triples)
    kept = []
    for u, v in moments[:1] if still else moments:
        parts = [(rule >= 0, _lines_between(of, rule, lines, part, (u, v), sets)) for rule, lines, part in triples]
        loads: list[Any] = []
        for is_first, lines in parts:
            if is_first:
                loads.append(lines)
            else:
                loads[-1] = loads[-1] + lines
        if not isinstance(crowding, int) or crowding != 1:  # of arrays and expressions, no single one is 1
            loads[0] = of.most(loads[0], parts[0][1] * crowding)
        kept.append(_share_with_room(of, (room, line, sets, whole_sets), loads))
    return of.divide(sum(kept[1:], kept[0]), len(kept))


def _lines_between(
    of: SweepArithmetic, rule: float, lines: Any, part: Any, moment: tuple[float, float], sets: Any
) -> Any:
    u, v = moment
    which = Between(int(rule if rule >= 0 else BESIDE_THE_ONE_BEFORE - rule))
    if which is Between.ALL or (which is Between.ALL_BUT_V_TO_U and u <= v):
        return lines
    if which is Between.PASSED:
        return lines * v
    if which is Between.ALL_BUT_V_TO_U:
        return lines * (1 - (u - v))
    # In each set a whole number, the line itself among them.
    behind = of.ceil(of.divide(lines * (1 - u), sets)) * sets
    if which is Between.BEHIND_AND_PASSED:
        behind = behind + part * v
    if which is Between.BEHIND_AND_CROSSED:
        behind = behind + lines * (u * v)
    return of.least(lines, behind)


def _share_with_room(of: SweepArithmetic, cache: tuple[Any, Any, Any, Any], loads: Sequence[Any]) -> Any:
    """The share of the first structure's lines in sets with room for those of all."""
    room, line, sets, whole_sets = cache
    if len(loads) > MOST_APART + 1:
        loads = [*loads[:MOST_APART], sum(loads[MOST_APART + 1 :], loads[MOST_APART])]

    def together() -> Any:
        runs = [value for lines in loads for value in (1, lines * line, *ONE_RUN)]
        return of.share_kept(room, line, whole_sets, 0, *runs)

    def apart() -> Any:
        mine, *others = (of.divide(lines, sets) for lines in loads)
        return of.lines_with_room(room, of.most(1, mine), *(value for load in others for value in (load, 1)))

    return of.choose_divisor(line * sets, together, apart)


def _choose_divisor(size: float, together: Callable[[], Number], apart: Callable[[], Number]) -> Number:
    return together() if size > 0 and PAGE % size == 0 else apart()


def _divide_floats(left: float, right: float) -> float:
    if right == 0:
        raise DomainError("division by zero")
    return left / right


_OF_NUMBERS = SweepArithmetic(
    divide=_divide_floats,
    ceil=lambda value: float(math.ceil(value)),
    least=min,
    most=max,
    share_kept=share_kept,
    lines_with_room=lines_with_room,
    choose_divisor=_choose_divisor,
)
