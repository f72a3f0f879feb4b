"""Which algorithm of a collective is the fastest, and for messages of which size."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from aspenpy.cost.network.collectives import Algorithm, Cost, candidate_algorithms, check_ranks
from aspenpy.cost.network.topology import Size
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number, normalise_number
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Range(Record):
    """The algorithm that is the fastest from `start` bytes on, until the next range starts."""

    algorithm: str
    start: Number


def best_time(collective: str, ranks: Size, size: Size, alpha: Size, beta: Size, gamma: Size = 0) -> Expr:
    """Seconds by the algorithm that is the fastest for this number of ranks and this size."""
    return fastest_time(collective, ranks, size, lambda found: found.time(alpha, beta, gamma))


def fastest_time(
    collective: str, ranks: Size, size: Size, seconds: Callable[[Cost], Expr], *, all_pairs: bool = False
) -> Expr:
    """The least of what algorithms take, by the seconds of a cost; with those that send to all at once, or without."""
    p = check_ranks(ranks)
    fastest: Expr | None = None
    for algorithm in sorted(candidate_algorithms(collective, all_pairs=all_pairs), key=lambda each: each.power_of_two):
        time = seconds(algorithm.cost(p, graph.to_expr(size)))
        together = time if fastest is None else graph.apply("min", fastest, time)
        fastest = together if fastest is None else graph.if_else(algorithm.applies(p), together, fastest)
    assert fastest is not None, "every collective has an algorithm for any number of ranks"
    return fastest


def best(collective: str, ranks: int, size: Number, alpha: Number, beta: Number, gamma: Number = 0) -> str:
    """The name of that algorithm; of equally fast ones the first of the table."""
    return [fastest.algorithm for fastest in ranges(collective, ranks, alpha, beta, gamma) if fastest.start <= size][-1]


def ranges(collective: str, ranks: int, alpha: Number, beta: Number, gamma: Number = 0) -> list[Range]:
    """The fastest algorithms by the size of the message, from 0 bytes on.

    The time of each is a straight line over the size, so that they are the lower envelope of lines: from where one is
    the lowest, the next is the one that crosses it first. Exact for exact times.
    """
    p = check_ranks(ranks)
    possible = [algorithm for algorithm in candidate_algorithms(collective) if algorithm.applies(p) is not graph.FALSE]
    lines = {algorithm.name: _line(algorithm, ranks, alpha, beta, gamma) for algorithm in possible}
    name = min(lines, key=lines.__getitem__)
    envelope = [Range(name, 0)]
    while crossings := {
        other: (start - lines[name][0]) / (lines[name][1] - slope)
        for other, (start, slope) in lines.items()
        if slope < lines[name][1]
    }:
        name = min(crossings, key=lambda other: (crossings[other], lines[other][1]))
        envelope.append(Range(name, normalise_number(crossings[name])))
    return envelope


def _line(algorithm: Algorithm, ranks: int, alpha: Number, beta: Number, gamma: Number) -> tuple[Fraction, Fraction]:
    """Seconds for no byte, and for each byte."""
    times = [
        algorithm.cost(graph.number(ranks), graph.number(size)).time(Fraction(alpha), Fraction(beta), Fraction(gamma))
        for size in (0, 1)
    ]
    nothing, one = (Fraction(evaluate(time)) for time in times)
    return nothing, one - nothing
