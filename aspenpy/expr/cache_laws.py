"""Laws of caches: the probability that a line is still held, misses, and the sets and lines that loops touch."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from aspenpy.allowance import INTERPRETED
from aspenpy.expr.arithmetic import DomainError, Number, format_number, normalise_number, to_float
from aspenpy.expr.failures import NoOperationsLeft, spend

MOST_WAYS = 1_000_000  # limit of the associativity: `lru_hits` adds one term for each way
MOST_UNITS = 1 << 27  # limit of the units of a cache that `sets_touched` marks, one bit each
OF_A_WAY = 100  # operations of a term of `lru_hits` at one point; with arrays `WAY_OF_ARRAY` at each
WAY_OF_ARRAY = 10
PLACES_OF_AN_OPERATION = 5  # bits of `sets_touched` that are shifted and joined: ten passes for a bit of the trips


def lru_hits(distance: Number, ways: Number, lines: Number) -> Number:
    """The probability that a line is still held when `distance` other lines have been touched since: `lines` lines
    in sets of `ways`, the least recently used one replaced, lines spread over the sets at random.

    SDCM (Hill and Smith 1989; Brehob and Enbody 1999), the chance that fewer than A of D lines fell into the set,
    P = sum over a < A of C(D, a) (A/B)^a (1 - A/B)^(D-a). It is summed as the negative binomial
    (1 - p)^(D-A+1) * sum over i < A of C(D-A+i, i) p^i with p = A/B: all terms are positive, and D need not be whole.
    """
    count = _require_ways(ways, lines)
    if distance < 0:
        raise DomainError(f"a reuse distance cannot be negative, it is {format_number(distance)}")
    beyond = to_float(distance) - count + 1
    if beyond <= 0:
        return 1
    if count == lines:
        return 0
    spend(OF_A_WAY * count)
    chance = count / to_float(lines)
    logarithm, term, total = beyond * math.log1p(-chance), 1.0, 1.0
    for way in range(count - 1):
        term *= (beyond + way) / (way + 1) * chance
        total += term
        if total > 1e250:
            term, total, logarithm = term / 1e250, total / 1e250, logarithm + 250 * math.log(10)
    return normalise_number(min(1.0, math.exp(logarithm + math.log(total))))


def _require_ways(ways: Number, lines: Number) -> int:
    if ways < 1 or int(ways) != ways or ways > MOST_WAYS:
        raise DomainError(f"a cache has a whole number of ways, from 1 to {MOST_WAYS:,}, not {format_number(ways)}")
    if lines < ways:
        raise DomainError(f"a cache of {format_number(lines)} lines cannot have {format_number(ways)} ways")
    return int(ways)


def random_misses(lines: Number, *reuses: Number) -> Number:
    """The share of accesses that miss where a random line of the set is replaced. `reuses` are pairs: a distance, in
    accesses between, and the share of the accesses that have it; if the shares add up to less than 1, the rest are
    first touches, which miss.

    The fixed point m = 1 - sum of P(d) (1 - m/B)^d (after Beckmann and Sanchez, HPCA 2016): each miss in between
    takes the line with probability 1/B. The right side minus m is concave, so Newton's steps from 1 fall on the
    largest root from above.
    """
    if len(reuses) % 2:
        raise DomainError("random_misses takes pairs: a distance and its share")
    if lines < 1:
        raise DomainError(f"a cache has at least one line, not {format_number(lines)}")
    pairs = [(to_float(reuses[k]), to_float(reuses[k + 1])) for k in range(0, len(reuses), 2)]
    if any(distance < 0 or share < 0 for distance, share in pairs):
        raise DomainError("a reuse distance and its share cannot be negative")
    if sum(share for _, share in pairs) > 1 + 1e-9:
        raise DomainError("the shares of the reuse distances add up to more than 1")
    size, misses = to_float(lines), 1.0
    for _ in range(200):
        spend(INTERPRETED * len(pairs))
        kept = 1 - misses / size
        value, slope = 1 - misses, -1.0
        for distance, share in pairs:
            value -= share * kept**distance
            if distance and kept:
                slope += share * distance / size * kept ** (distance - 1)
        if slope >= 0 or value >= -1e-15:
            break
        misses = max(0.0, misses - value / slope)
    return normalise_number(misses)


def sets_touched(run: Number, line: Number, sets: Number, *loops: Number) -> Number:
    """Number of a cache's sets that some loops touch: runs of `run` bytes, at a stride (bytes) and with a number of
    trips for each loop, the lowest byte where a line begins. Exact.

    Loops whose stride is no longer than the run below them are joined to one longer run, and a nest shorter than the
    cache touches as many lines of a smaller one; often nothing is left to count.
    """
    if len(loops) % 2:
        raise DomainError("sets_touched takes pairs behind the number of sets: a stride and its trips")
    size = require_positive_whole(line, "the size of a cache line")
    wrap = size * require_positive_whole(sets, "a number of sets")
    strides = [require_whole(magnitude(loops[k]), "a stride") % wrap for k in range(0, len(loops), 2)]
    trips = [max(1, math.ceil(loops[k + 1])) for k in range(0, len(loops), 2)]
    length, apart = max(1, math.ceil(run)), []
    for stride, count in sorted(zip(strides, trips, strict=True)):
        if stride <= length:
            length += stride * (count - 1)
        elif count > 1:
            apart.append((stride, count))
    extent = length + sum(stride * (count - 1) for stride, count in apart)
    if not apart:
        return min(-(-length // size), wrap // size)
    return _count_lines_touched(length, size, min(wrap, -(-extent // size) * size), *apart)


@lru_cache(maxsize=10_000)
def _count_lines_touched(length: int, size: int, wrap: int, *loops: tuple[int, int]) -> int:
    """Number of lines of `size` bytes, in a cache of `wrap` bytes, that runs of some length touch when loops repeat
    them: a stride and a number of trips for each loop. A bit for each place in the cache, shifted by the strides; a
    loop of t trips takes log2(t) shifts."""
    unit = math.gcd(size, *(stride for stride, _ in loops))
    units = wrap // unit
    runs = min(units, -(-length // unit))
    turns = [(stride // unit, min(count, units // math.gcd(stride // unit, units))) for stride, count in loops]
    if runs == 1 and unit == size and len(turns) == 1:
        return turns[0][1]  # multiples of one stride are different until they come back to where they began
    if units > MOST_UNITS:
        raise DomainError(f"a cache of {wrap:,} bytes is too large for strides of {unit} bytes")
    bits = sum(count.bit_length() for count in (runs, *(count for _, count in turns), units * unit // size))
    spend(bits * units / PLACES_OF_AN_OPERATION)
    touched = _repeat_places(1, units, 1, runs)
    for step, count in turns:
        touched = _repeat_places(touched, units, step, count)
    return _count_lines_hit(touched, units, size // unit)


def magnitude(value: Number) -> Number:
    return -value if value < 0 else value


def require_whole(value: Number, role: str) -> int:
    if value < 0 or int(value) != value:
        raise DomainError(f"{role} is a whole number, not {format_number(value)}")
    return int(value)


def require_positive_whole(value: Number, role: str) -> int:
    if value < 1:
        raise DomainError(f"{role} is at least 1, not {format_number(value)}")
    return require_whole(value, role)


def _repeat_places(places: int, units: int, step: int, count: int) -> int:
    """The places and `count - 1` copies of them, each `step` further round the cache."""
    spread, offset, power = 0, 0, 1
    doubled, full = places, (1 << units) - 1
    while count:
        if count & 1:
            spread |= _rotate_places(doubled, offset * step % units, units, full)
            offset += power
        doubled |= _rotate_places(doubled, power * step % units, units, full)
        power, count = power * 2, count >> 1
    return spread


def _rotate_places(places: int, by: int, units: int, full: int) -> int:
    return ((places << by) | (places >> (units - by))) & full if by else places


def _count_lines_hit(places: int, units: int, per_line: int) -> int:
    """The lines with at least one bit set: the bits of each line are collected in its first bit."""
    width = 1
    while width < per_line:
        shift = min(width, per_line - width)
        places |= places >> shift  # what comes in from the next line lies above the first place and is cut below
        width += shift
    firsts = _repeat_places(1, units, per_line, units // per_line)
    return (places & firsts).bit_count()


def lines_with_room(ways: Number, own: Number, *loads: Number) -> Number:
    """The share of an array's lines that lie in sets with no more lines in use than ways. `own` is the array's lines
    in each set that it uses; `loads` are pairs: the lines of another one in a set, and the chance that it uses the set.

    Lines are whole: an average of 2.3 is 3 lines in three sets of ten and 2 in the others. The arrays use sets
    independently of each other; an average over an array's lines counts a set as often as it holds one of them.
    """
    if len(loads) % 2 or own < 0 or any(value < 0 for value in loads):
        raise DomainError("lines_with_room takes its own load, and pairs: a load and its chance, none negative")
    parts = [(to_float(loads[k]), min(1.0, to_float(loads[k + 1]))) for k in range(0, len(loads), 2)]
    others = [(*divmod(load, 1.0), chance) for load, chance in parts if chance]
    whole, rest = divmod(to_float(own), 1.0)
    if not rest:
        return normalise_number(_chance_of_room(to_float(ways) - whole, others))
    low, high = (_chance_of_room(to_float(ways) - lines, others) for lines in (whole, whole + 1))
    return normalise_number(((1 - rest) * whole * low + rest * (whole + 1) * high) / (whole + rest))


def _chance_of_room(ways: float, parts: list[tuple[float, float, float]]) -> float:
    """The chance that `ways` hold the lines of all parts: (whole lines, chance of one more line, chance of being in the
    set)."""
    spend(INTERPRETED * len(parts))
    if ways < 0:
        return 0.0
    if sum(whole + 1 for whole, _, _ in parts) <= ways:
        return 1.0
    (whole, rest, chance), *others = parts
    probability = chance * (1 - rest) * _chance_of_room(ways - whole, others)
    if rest:
        probability += chance * rest * _chance_of_room(ways - whole - 1, others)
    return probability + (1 - chance) * _chance_of_room(ways, others) if chance < 1 else probability


def greatest_divisor(first: Number, second: Number) -> Number:
    """The greatest common divisor of two whole numbers."""
    return math.gcd(
        require_whole(magnitude(first), "what has a divisor"), require_whole(magnitude(second), "what has a divisor")
    )


# -- for arrays ------------------------------------------------------------------------------------


def numpy_lru_hits(numpy: Any, distance: Any, ways: Any, lines: Any) -> Any:
    """`lru_hits` for arrays; NaN where that raises."""
    distance, ways, lines = numpy.broadcast_arrays(
        *(numpy.asarray(part, dtype=float) for part in (distance, ways, lines))
    )
    wrong = (distance < 0) | (ways < 1) | (ways != numpy.floor(ways)) | (lines < ways) | (ways > MOST_WAYS)
    wrong |= numpy.isnan(distance) | numpy.isnan(lines)
    beyond = numpy.where(wrong, 1.0, distance - ways + 1)
    whole = ways == lines
    chance = numpy.where(wrong | whole, 0.5, ways / numpy.where(lines == 0, 1.0, lines))
    safe = numpy.maximum(beyond, 0.0)
    logarithm = safe * numpy.log1p(-chance)
    term, total = numpy.ones_like(safe), numpy.ones_like(safe)
    most = int(numpy.nanmax(numpy.where(wrong | whole, 1.0, ways), initial=1.0))
    spend(WAY_OF_ARRAY * most * safe.size)
    for way in range(most - 1):
        term = numpy.where(way < ways - 1, term * ((safe + way) / (way + 1)) * chance, 0.0)
        total = total + term
        large = total > 1e250
        if large.any():
            term, total = numpy.where(large, term / 1e250, term), numpy.where(large, total / 1e250, total)
            logarithm = numpy.where(large, logarithm + 250 * math.log(10), logarithm)
    hits = numpy.minimum(1.0, numpy.exp(logarithm + numpy.log(total)))
    hits = numpy.where(beyond <= 0, 1.0, numpy.where(whole, 0.0, hits))
    return numpy.where(wrong, numpy.nan, hits)


def numpy_lines_with_room(numpy: Any, ways: Any, own: Any, *loads: Any) -> Any:
    """`lines_with_room` for arrays; NaN where that raises."""
    ways, own, *loads = numpy.broadcast_arrays(*(numpy.asarray(part, dtype=float) for part in (ways, own, *loads)))
    wrong = numpy.isnan(ways) | ~(own >= 0)
    for value in loads:
        wrong = wrong | ~(value >= 0)
    floors = [numpy.floor(load) for load in loads[::2]]
    others = [
        (floor, load - floor, numpy.minimum(1.0, chance))
        for floor, load, chance in zip(floors, loads[::2], loads[1::2], strict=True)
    ]
    whole = numpy.floor(own)
    rest = own - whole
    higher = numpy.where(rest > 0, rest * (whole + 1) / numpy.where(own > 0, own, 1.0), 0.0)
    low, high = (_numpy_chance_of_room(numpy, ways - lines, others) for lines in (whole, whole + 1))
    return numpy.where(wrong, numpy.nan, (1 - higher) * low + higher * high)


def _numpy_chance_of_room(numpy: Any, ways: Any, parts: list[tuple[Any, Any, Any]]) -> Any:
    spend(INTERPRETED + 10 * len(parts) * ways.size)
    if not parts:
        return (ways >= 0).astype(float)
    if (ways < 0).all():
        return numpy.zeros_like(ways)
    if (sum(whole + 1 for whole, _, _ in parts) <= ways).all():
        return numpy.ones_like(ways)
    (whole, rest, chance), *others = parts
    total = numpy.zeros_like(ways)
    for weight, taken in ((chance * (1 - rest), whole), (chance * rest, whole + 1), (1 - chance, 0)):
        if numpy.any(weight > 0):
            total = total + weight * _numpy_chance_of_room(numpy, ways - taken, others)
    return total


def numpy_greatest_divisor(numpy: Any, first: Any, second: Any) -> Any:
    """`greatest_divisor` for arrays; NaN where that raises, and beyond 2^62."""
    first, second = numpy.abs(first), numpy.abs(second)
    fine = (first == numpy.floor(first)) & (second == numpy.floor(second)) & (numpy.maximum(first, second) <= 2.0**62)
    whole = (numpy.asarray(numpy.where(fine, part, 0.0)).astype(numpy.int64) for part in (first, second))
    return numpy.where(fine, numpy.gcd(*whole).astype(float), numpy.nan)


OF_A_LAW = 16
"""Interpreted operations of a law at a point, beside those of windows that are counted line by line."""


def apply_by_point(rule: Any) -> Any:
    """A scalar rule applied to each distinct point; NaN where it raises. Points are told apart by column: sorting whole
    rows takes ten times as long."""

    def apply(numpy: Any, *parts: Any) -> Any:
        columns = [numpy.asarray(part, dtype=float) for part in parts]
        shape = numpy.broadcast_shapes(*{column.shape for column in columns})
        points = numpy.empty((*shape, len(columns)))
        for index, column in enumerate(columns):
            points[..., index] = column
        points = points.reshape(-1, len(columns))
        number = numpy.zeros(len(points), dtype=numpy.int64)
        for index in (index for index, column in enumerate(columns) if column.size > 1):
            _, values_there = numpy.unique(points[:, index], return_inverse=True)
            _, number = numpy.unique(number * len(points) + values_there.ravel(), return_inverse=True)
        _, first, where = numpy.unique(number.ravel(), return_index=True, return_inverse=True)
        different = points[first]
        finite = numpy.isfinite(different).all(axis=1).tolist()
        spend(INTERPRETED * OF_A_LAW * sum(finite))
        values = [
            _value_or_nan(rule, point) if fine else math.nan
            for fine, point in zip(finite, different.tolist(), strict=True)
        ]
        return numpy.array(values)[where.ravel()].reshape(shape)

    return apply


def _value_or_nan(rule: Any, point: list[float]) -> float:
    try:
        return float(rule(*point))
    except NoOperationsLeft:
        raise
    except DomainError:
        return math.nan


# -- slopes ----------------------------------------------------------------------------------------


def lru_slopes(graph: Any, distance: Any, ways: Any, lines: Any) -> Any:
    """Derivatives of `lru_hits`. By distance and ways, which are whole numbers, the difference of one step is used. By
    lines B it is (D - A + 1) (P(D) - P(D + 1)) / (B - A): P is the incomplete beta function I_x(D - A + 1, A) with x =
    1 - A/B, and x^a (1 - x)^b / (a Beta(a, b)) = I_x(a, b) - I_x(a + 1, b) (DLMF 8.17.20)."""

    def hits(distance: Any, ways: Any) -> Any:
        return graph.apply("lru_hits", distance, ways, lines)

    here = hits(distance, ways)
    more = graph.if_else(graph.compare(">=", lines, ways + 1), hits(distance, ways + 1) - here, graph.ZERO)
    step = hits(distance + 1, ways) - here
    by_lines = -(distance - ways + 1) * step / (lines - ways)
    return step, more, graph.if_else(graph.compare(">", lines, ways), by_lines, graph.ZERO)


def random_slopes(graph: Any, lines: Any, *reuses: Any) -> Any:
    """The slopes of the m with m - 1 + sum of P k^d = 0, where k = 1 - m/B, by the implicit function theorem."""
    misses = graph.apply("random_misses", lines, *reuses)
    kept, pairs = 1 - misses / lines, list(zip(reuses[::2], reuses[1::2], strict=True))
    inner = graph.add(*[share * distance * graph.power(kept, distance - 1) / lines for distance, share in pairs])
    slopes = [inner * misses / lines]
    for distance, share in pairs:
        slopes += [share * graph.power(kept, distance) * graph.apply("log", kept), graph.power(kept, distance)]
    regular = graph.junction("and", graph.compare(">", kept, graph.ZERO), graph.compare("<", inner, graph.ONE))
    return tuple(graph.if_else(regular, slope / (inner - 1), graph.ZERO) for slope in slopes)


def room_slopes(graph: Any, ways: Any, own: Any, *loads: Any) -> Any:
    """Derivatives of `lines_with_room`. By a load x, the array's own or another: x lines on average mean one more line
    in x - floor(x) of the sets, so the share changes by what that line displaces. By a chance: the share with the load
    minus that without it."""

    def lines_at(*arguments: Any) -> Any:
        return graph.apply("lines_with_room", ways, *arguments)

    floor = graph.apply("floor", own)
    low, high = lines_at(floor, *loads), lines_at(floor + 1, *loads)
    by_own = ((floor + 1) * high - floor * low - lines_at(own, *loads)) / own
    slopes = [graph.ZERO, graph.if_else(graph.compare(">", own, graph.ZERO), by_own, graph.ZERO)]
    for index in range(0, len(loads), 2):
        before, after, chance = loads[:index], loads[index + 2 :], loads[index + 1]
        floor = graph.apply("floor", loads[index])
        low, high = (lines_at(own, *before, value, graph.ONE, *after) for value in (floor, floor + 1))
        there = lines_at(own, *before, loads[index], graph.ONE, *after)
        slopes += [chance * (high - low), there - lines_at(own, *before, *after)]
    return tuple(slopes)
