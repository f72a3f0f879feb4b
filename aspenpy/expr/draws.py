"""Counter-based random draws: a draw is a pure function of the seed, the numbers that identify it, and its arguments.

The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) used as a hash. Every function here that computes
takes Python numbers and NumPy arrays (uint64 for hashes) alike, so that a loop run pass by pass and one run as an
array draw the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from aspenpy.expr.arithmetic import DomainError, Number, format_number, normalise_number, to_float

MASK = (1 << 64) - 1
_EMPTY_STREAM = 0x243F6A8885A308D3  # the hash of an empty stream: the first digits of pi
ENDS_AT_ONE = 1e-9  # how far from 1 the last cumulative probability may be


def mix_state(state: Any) -> Any:
    """SplitMix64: one step of its counter, and its finaliser."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def hash_stream(parts: Iterable[Any]) -> Any:
    """The number of a stream with these parts; their order matters."""
    state: Any = _EMPTY_STREAM
    for part in parts:
        state = mix_state(state ^ mix_state(part))
    return state


def encode_stream_part(value: Number) -> int:
    """A value as part of a stream's hash: whole numbers modulo 2^64."""
    if value != math.floor(value):
        raise DomainError(f"a random draw is numbered by whole numbers, not by {format_number(value)}")
    return int(value) & MASK


def encode_array_part(numpy: Any, value: Any) -> tuple[Any, Any]:
    """Encodes an array of floats as `encode_stream_part` does: uint64, and where a value is a whole one below 2^53."""
    usable = (numpy.rint(value) == value) & (abs(value) < 2.0**53)
    return numpy.asarray(numpy.where(usable, value, 0.0)).astype(numpy.int64).view(numpy.uint64), usable


def random_bits(seed: int, stream: Any) -> Any:
    """64 random bits for the stream."""
    return mix_state(mix_state(seed & MASK) ^ stream)


def generator_seed(seed: int) -> int:
    """The seed for generators of NumPy, SALib and pymoo, which take 32 bits without a sign."""
    return seed & 0xFFFFFFFF


def unit_interval(random_bits: Any) -> Any:
    """Uniform in 0 <= u < 1, a multiple of 2^-53."""
    return (random_bits >> 11) * 2.0**-53


def open_unit_interval(random_bits: Any) -> Any:
    """Uniform in 0 < u < 1, for the quantile function of a distribution without bounds."""
    return ((random_bits >> 12) + 0.5) * 2.0**-52


# -- one draw --------------------------------------------------------------------------------------


def draw_uniform(random_bits: int, low: Number, high: Number) -> Number:
    if low > high:
        raise DomainError(
            f"uniform({format_number(low)}, {format_number(high)}): the upper bound is below the lower one"
        )
    start = to_float(low)
    return normalise_number(start + (to_float(high) - start) * unit_interval(random_bits))


def draw_normal(random_bits: int, mean: Number, deviation: Number) -> Number:
    if deviation < 0:
        raise DomainError(
            f"normal({format_number(mean)}, {format_number(deviation)}): the standard deviation is negative"
        )
    quantile: float = normal_quantile(open_unit_interval(random_bits))
    return normalise_number(to_float(mean) + to_float(deviation) * quantile)


def draw_step(random_bits: int, cumulative: tuple[Number, ...]) -> Number:
    """Index of the step of the cumulative probabilities that contains the draw."""
    check_cumulative(cumulative)
    drawn: float = unit_interval(random_bits)
    return min(sum(step <= drawn for step in cumulative), len(cumulative) - 1)


def check_cumulative(cumulative: tuple[Number, ...] | Number) -> None:
    """Raises DomainError unless the probabilities rise from 0 or more to 1."""
    if not isinstance(cumulative, tuple):
        raise DomainError(f"cdf takes an array of cumulative probabilities, not the number {format_number(cumulative)}")
    if not cumulative or not -ENDS_AT_ONE <= cumulative[-1] - 1 <= ENDS_AT_ONE:
        last = format_number(cumulative[-1]) if cumulative else "nothing"
        raise DomainError(f"cumulative probabilities must end with 1, not with {last}")
    steps: tuple[Number, ...] = (0, *cumulative)
    for lower, upper in pairwise(steps):
        if lower > upper:
            raise DomainError(
                f"cumulative probabilities must rise, and {format_number(upper)} follows {format_number(lower)}"
            )


DISTRIBUTIONS: dict[str, Callable[..., Number]] = {"uniform": draw_uniform, "normal": draw_normal, "cdf": draw_step}

# -- the normal quantile, algorithm AS 241 (Wichura 1988), PPND16 -----------------------------------

_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_SHOULDER = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip
"""Numerator and denominator of each rational approximation, highest power first."""


def _evaluate_ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    top, bottom = (0.0 * x for _ in range(2))
    for numerator, denominator in zip(*coefficients, strict=True):
        top = top * x + numerator
        bottom = bottom * x + denominator
    return top / bottom


def quantile_centre(offset: Any) -> Any:
    """Normal quantile for |u - 1/2| <= 0.425, where offset is u - 1/2."""
    return offset * _evaluate_ratio(_CENTRE, 0.180625 - offset * offset)


def quantile_shoulder(r: Any) -> Any:
    """Normal quantile for r = sqrt(-log(min(u, 1 - u))) up to 5, without its sign."""
    return _evaluate_ratio(_SHOULDER, r - 1.6)


def quantile_tail(r: Any) -> Any:
    """Normal quantile for r beyond 5, without its sign."""
    return _evaluate_ratio(_TAIL, r - 5.0)


def normal_quantile(u: float) -> float:
    """The x below which a standard normal variable falls with probability u, 0 < u < 1."""
    offset = u - 0.5
    if abs(offset) <= 0.425:
        centre: float = quantile_centre(offset)
        return centre
    r = math.sqrt(-math.log(min(u, 1.0 - u)))
    distance: float = quantile_shoulder(r) if r <= 5.0 else quantile_tail(r)
    return math.copysign(distance, offset)


def normal_quantiles(numpy: Any, u: Any) -> Any:
    """`normal_quantile` for an array."""
    offset = u - 0.5
    r = numpy.sqrt(-numpy.log(numpy.minimum(u, 1.0 - u)))
    distance = numpy.where(r <= 5.0, quantile_shoulder(r), quantile_tail(r))
    return numpy.where(abs(offset) <= 0.425, quantile_centre(offset), numpy.copysign(distance, offset))
