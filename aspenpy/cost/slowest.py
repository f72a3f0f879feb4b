"""The slowest of many: what ranks wait for where they synchronise, in closed form.

The work of ranks may differ (`flops [n] as varies(0.05)`), and the system interrupts them (`cost.noise`). A rank that
is ready waits for the last one: for the expected maximum of as many draws as there are ranks, less the mean, which the
model states. Formulas are of the functions of the language, and hold for two ranks as for 10^8.
"""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

LEAST = graph.number(1e-12)
"""Least value of logarithms and divisors, where nothing is waited for."""

GUMBEL = graph.number(0.57038), graph.number(0.07038), graph.number(0.23)
"""Of c(n) = a - b/(1 + s ln n): a = exp(-exp(-Euler's constant)), which the limit for many draws has, and a - b = 1/2
for one draw; s is fitted to the integral for 2 to 10^8 draws, half of which were held back (0.4 % at worst)."""


def expected_maximum(draws: Expr) -> Expr:
    """Expected largest of `draws` independent standard normal draws, the quantile Phi^-1(c(n)^(1/n)): the approximation
    of Chen and Tyler (Communications in Statistics 28(1), 1999), whose c is one number for all n (and Blom's of 1958
    with its alpha), with Abramowitz and Stegun's 26.2.23 for the quantile."""
    limit, rise, slope = GUMBEL
    many = graph.apply("max", 1, draws)
    base = limit - rise / (1 + slope * graph.apply("log", many))
    beyond = 1 - graph.apply("exp", graph.apply("log", base) / many)
    root = graph.apply("sqrt", -2 * graph.apply("log", beyond))
    above = _polynomial(root, "2.515517", "0.802853", "0.010328")
    quantile = root - above / _polynomial(root, "1", "1.432788", "0.189269", "0.001308")
    return graph.if_else(graph.compare(">", draws, 1), quantile, 0)


def _polynomial(x: Expr, *coefficients: str) -> Expr:
    """The polynomial in x by Horner's rule, the lowest coefficient first."""
    total = graph.ZERO
    for coefficient in reversed(coefficients):
        total = graph.add(graph.mul(total, x), graph.number(float(coefficient)))
    return total


def expected_longest(events: Expr) -> Expr:
    """Expected longest of a Poisson number, `events` on average, of exponential times of mean 1: the entire exponential
    integral Ein(z), which is z for small z and ln z + Euler's constant for large ones; within 2.8 %."""
    above = 1 + graph.number(1.32) * events + graph.number(0.57) * events**2
    return graph.apply("max", LEAST, graph.apply("log", above / (1 + graph.number(0.32) * events)))


def wait_for_slowest(ranks: Expr, events: Expr) -> Expr:
    """Expected wait for the slowest of `ranks` ranks, in units of the mean length of an interruption. Each rank has a
    Poisson number of interruptions, `events` on average, of exponential lengths.

    A rank is held up by more than x with a chance of some exp(-(sqrt(x) - sqrt(e))^2) sqrt(e) B(2 sqrt(e x))/(sqrt(x) -
    sqrt(e)), where B(z) = exp(-z) I_1(z) (the non-central chi-squared distribution without degrees of freedom: Siegel,
    Biometrika 66(2), 1979). With l the square of the difference of the roots, which Gumbel's law for the largest gives,
    the wait is l + 2 sqrt(e l): few interruptions are an exponential tail, many a normal one, where l is half the
    square of the expected maximum.
    """
    each = graph.apply("max", LEAST, events)
    in_all = graph.mul(ranks, each)
    any_event = 1 - graph.apply("exp", graph.neg(in_all))
    most = graph.apply("max", LEAST, expected_maximum(ranks) ** 2 / 2)
    exponent = graph.apply("min", expected_longest(in_all), most)
    for _ in range(2):
        held_up = exponent + (2 * graph.apply("sqrt", each * exponent) + each) * any_event
        tail = _scaled_bessel(2 * graph.apply("sqrt", each * held_up))
        hits = ranks * tail * graph.apply("sqrt", each / exponent)
        exponent = graph.apply("min", expected_longest(hits), most)
    wait = exponent + 2 * graph.apply("sqrt", each * exponent) * any_event - each * (1 - any_event)
    return graph.if_else(graph.compare(">", ranks, 1), graph.apply("max", 0, wait), 0)


def _scaled_bessel(z: Expr) -> Expr:
    """exp(-z) I_1(z): z/2 for small z, 1/sqrt(2 pi z) for large ones, within 10 % between."""
    between = graph.apply("sqrt", _polynomial(z, "1", "1.3333333", "1.351"))
    return z / 2 / (between * graph.apply("sqrt", between))


NEIGHBOURS = {1: (2.1, 0.0), 2: (2.4, 1.4), 3: (2.8, 1.8)}
"""By dimensions of a grid: of few interruptions a rank and step, and of many."""


def wait_for_neighbours(dimensions: int, ranks: Expr, events: Expr) -> Expr:
    """Expected wait of a step at whose end each rank of a grid waits for its neighbours alone, in units of the mean
    length of an interruption. Each rank has `events` interruptions per step on average.

    A delay travels one rank a step, and only the largest sum on any way through the ranks counts (last-passage
    percolation): with rare events that is e^(1/(d+1)), since a way meets the next event within e^(-1/(d+1)) steps in
    each of the d + 1 dimensions of ranks and time, however many ranks there are. The numbers are those of ranks that
    were simulated at four rates in each dimension; others were held back (`tests/network/test_slowest.py`). Delays that
    travel were measured by Afzal, Hager and Wellein (CLUSTER 2019).
    """
    few, many = NEIGHBOURS[dimensions]
    rare = few**2 * graph.power(events, graph.number(2) / (dimensions + 1))
    wait = graph.apply("sqrt", rare + 2 * many**2 * events)
    return graph.apply("min", wait, wait_for_slowest(ranks, events))
