"""Patterns of the cache model for the accesses of a block: streams, nests, stencils, gathers."""

from __future__ import annotations

from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.blocks import BlockAccess, Pattern
from aspenpy.extract.triangles import CounterRange, Trips, count_steps
from aspenpy.extract.values import ONE, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

STARS = {(2, 5), (2, 9), (2, 4), (3, 7), (3, 13), (3, 6)}
"""(dimensions, points) of the stars that the language has, with and without their middle; boxes are 9 and 27 points."""


class Request(Record):
    """A load or store as the model states it: words of an array, and the trait of their pattern with its arguments.
    `spans` are those of accesses whose order the source does not say: at all where it `is_unordered`, but for the words
    of a `run`, which follow each other; else without the values of counters, which may be means later on."""

    kind: str
    array: str
    size: int
    words: Value
    trait: str = ""
    arguments: tuple[Trips, ...] = ()
    reuse: Value = ONE
    spans: tuple[Span, ...] = ()
    is_unordered: bool = False
    run: int = 1


def group_requests(accesses: tuple[BlockAccess, ...], depth: int) -> list[Request]:
    """Requests of a block: neighbouring accesses become a stencil, accesses of equal patterns one request."""
    groups: dict[object, list[BlockAccess]] = {}
    for access in accesses:
        pattern = access.pattern.key() if access.pattern else None
        groups.setdefault((access.kind, access.array, access.size, pattern), []).append(access)
    stencils = {place: found for place, group in groups.items() if (found := _find_stencil(group)) is not None}
    only_streams = all(access.pattern is not None and _is_stream(access.pattern, access.size) for access in accesses)
    result: list[Request] = []
    for place, group in groups.items():
        words = v.add(*(access.words for access in group))
        first = group[0]
        base = Request(first.kind, first.array, first.size, words)
        if place in stencils:
            result.append(stencils[place].replace(words=words))
        elif first.pattern is None:
            result.append(base.replace(spans=_spans_of(group), is_unordered=True))
        elif first.pattern.anywhere:
            run = first.pattern.run
            result.append(base.replace(trait="random", spans=_spans_of(group), is_unordered=True, run=run))
        elif only_streams:
            result.append(base.replace(trait="stream"))
        elif first.pattern.loops or depth:
            loops, in_order = first.pattern.loops, first.pattern.in_order
            varies = not in_order or any(v.counters(stride) for stride, _ in loops)
            spans = _spans_of(group) if varies else ()
            arguments = tuple(part for loop in loops for part in loop)
            result.append(base.replace(trait="nest", arguments=arguments, spans=spans, is_unordered=not in_order))
        else:
            result.append(base)
    return _join_spans(result)


def _join_spans(requests: list[Request]) -> list[Request]:
    """The requests, those of one kind whose places in an array data say noted together: words of a structure that have
    other sizes lie in one line, which whichever is first brings."""
    together: dict[tuple[str, str], dict[Span, None]] = {}
    for request in requests:
        if request.is_unordered:
            together.setdefault((request.kind, request.array), {}).update(dict.fromkeys(request.spans))
    return [
        each.replace(spans=tuple(together[each.kind, each.array])) if each.is_unordered else each for each in requests
    ]


def _spans_of(group: list[BlockAccess]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for access in group for span in access.spans))


def _is_stream(pattern: Pattern, size: int) -> bool:
    if pattern.anywhere or len(pattern.loops) != 1 or pattern.is_ranged:
        return False
    return v.number(pattern.loops[0][0]) in (size, -size)


def _find_stencil(group: list[BlockAccess]) -> Request | None:
    """Stencil of accesses whose places differ by whole steps of a grid's loops; None for other groups."""
    pattern = group[0].pattern
    if len(group) < 3 or pattern is None or pattern.anywhere:
        return None
    loops = [(stride, trips) for stride, trips in pattern.loops if not isinstance(trips, CounterRange)]
    strides = [(stride, trips) for stride, trips in loops if stride.terms]
    outside = [trips for stride, trips in loops if not stride.terms]
    if len(loops) < len(pattern.loops) or len(strides) not in (2, 3):
        return None
    if any(stride.terms for stride, _ in loops[len(strides) :]):
        return None
    if v.number(strides[0][0]) != group[0].size:
        return None
    shifts = [_steps_between(access, group[0], [stride for stride, _ in strides]) for access in group]
    if any(shift is None for shift in shifts):
        return None
    points = {shift for shift in shifts if shift is not None}
    if not _has_shape(points, len(strides)):
        return None
    words = v.add(*(access.words for access in group))
    reuse = ONE
    for trips in outside:
        reuse = v.multiply(reuse, trips)
    arguments = (constant_polynomial(len(points)), *(trips for _, trips in strides))
    return Request(group[0].kind, group[0].array, group[0].size, words, "stencil", arguments=arguments, reuse=reuse)


def _steps_between(access: BlockAccess, first: BlockAccess, strides: list[Value]) -> tuple[int, ...] | None:
    """Steps of each loop between an access and the first, the innermost loop first."""
    if access.offset is None or first.offset is None:
        return None
    steps = count_steps(v.subtract(access.offset, first.offset), strides[::-1])
    return None if steps is None else steps[::-1]


def _has_shape(points: set[tuple[int, ...]], dimensions: int) -> bool:
    """Whether the points are a star or a box around one place."""
    low = [min(point[axis] for point in points) for axis in range(dimensions)]
    high = [max(point[axis] for point in points) for axis in range(dimensions)]
    spans = {top - bottom for top, bottom in zip(high, low, strict=True)}
    if len(spans) != 1 or (span := spans.pop()) not in (2, 4):
        return False
    if len(points) == (span + 1) ** dimensions:
        return span == 2 or dimensions == 2
    middle = [(top + bottom) // 2 for top, bottom in zip(high, low, strict=True)]
    away = [sum(coordinate != centre for coordinate, centre in zip(point, middle, strict=True)) for point in points]
    return max(away) == 1 and (dimensions, len(points)) in STARS
