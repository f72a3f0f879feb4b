"""Lines that loops touch whose trips depend on the counters around them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from aspenpy.cost.caches.counter_sums import at_middles, sum_over_counter
from aspenpy.cost.caches.domain import COUNTERS, Bounds, IterationDomain, StridedLoop
from aspenpy.expr import graph
from aspenpy.expr.expansion import gather_terms, multiply_out, write_form
from aspenpy.expr.graph import Expr
from aspenpy.expr.node import topological_order
from aspenpy.expr.polynomial import Exact, Monomial, Polynomial

SAMPLES = (8, 4, 3)
"""Parts of the passes of a loop that are looked at one by one, where one, two and more loops matter."""

FEWEST = graph.number(1e-9)
"""What stands for no pass at all where something is divided by their number."""


@lru_cache(maxsize=4096)
def trips_depend(loops: tuple[StridedLoop, ...]) -> bool:
    """Whether the trips of a loop depend on the counter of another."""
    return any(loop.is_triangular for loop in loops)


@lru_cache(maxsize=1024)
def count_accesses(loops: tuple[StridedLoop, ...]) -> Expr:
    """Number of times that the access is made in all loops."""
    return _total(graph.ONE, IterationDomain.of(loops), COUNTERS[: len(loops)])


def mean_trips(loops: tuple[StridedLoop, ...]) -> list[Expr]:
    """The trips of each loop, on average over the passes of those around it."""
    if not trips_depend(loops):
        return [loop.trips for loop in loops]
    still = StridedLoop(graph.ZERO, graph.ONE)
    passes = [count_accesses((*[still] * depth, *loops[depth:])) for depth in range(len(loops))]
    return [within / graph.apply("max", around, FEWEST) for within, around in pairwise([*passes, graph.ONE])]


def _total(body: Expr, domain: IterationDomain, counters: Sequence[Expr]) -> Expr:
    """The sum of a body over some counters of a domain, in this order."""
    for counter in counters:
        bounds, _ = domain.bounds(counter)
        body, domain = sum_over_counter(body, counter, bounds), domain.eliminate(counter)
    return body


@lru_cache(maxsize=4096)
def lines_of_pass(loops: tuple[StridedLoop, ...], order: tuple[int, ...], depth: int, line: Expr, summed: bool) -> Expr:
    """Distinct lines of one pass of the innermost `depth` loops, of which those at the places `order` move, the
    shortest stride first; or, `summed`, the sum of them over all passes of the loops around.

    As for loops that do not depend on each other, the k shortest make runs and the others repeat them: those may have
    to be counted in another order than they run, and a run is as long as the others let it be.
    """
    domain, outer = IterationDomain.of(loops), COUNTERS[depth : len(loops)]
    if not summed:
        domain = IterationDomain.of(loops[:depth])
    for place in range(depth):
        if place not in order:
            domain = domain.eliminate(COUNTERS[place])
    candidates = []
    for inner in range(len(order) + 1):
        run, apart = order[:inner], sorted(order[inner:])
        within = domain
        for place in run:
            within = within.eliminate(COUNTERS[place])
        body = _run_lines(loops, run, domain, line)
        counters = [*(COUNTERS[place] for place in apart), *(outer if summed else ())]
        candidates.append(_total(body, within, counters))
    fewest = graph.apply("min", *candidates) if len(candidates) > 1 else candidates[0]
    return fewest if summed else graph.apply("max", 1, fewest)


def _run_lines(loops: tuple[StridedLoop, ...], run: tuple[int, ...], domain: IterationDomain, line: Expr) -> Expr:
    """Lines of one run. From its first word at S to its last at E they are (E - S)/line + 1, more by the place of S in
    its line, as a share of it, and less by that of E: on average over the loops around."""
    if not run:
        return graph.ONE
    first = last = graph.add(*(
        loop.stride * counter
        for place, (loop, counter) in enumerate(zip(loops, COUNTERS, strict=False))
        if place not in run and loop.moves
    ))  # fmt: skip
    single = True
    for place in run:
        alone = domain
        for other in run:
            alone = alone if other == place else alone.eliminate(COUNTERS[other])
        bounds, _ = alone.bounds(COUNTERS[place])
        single = single and len(bounds.lows) == len(bounds.highs) == 1
        first, last = first + loops[place].stride * bounds.low, last + loops[place].stride * bounds.high
    length = gather_terms((last - first) / line + 1)
    if not single:
        return length
    return gather_terms(length + _place_in_line(gather_terms(first), line) - _place_in_line(gather_terms(last), line))


def _place_in_line(address: Expr, line: Expr) -> Expr:
    """The mean place of an address in its line, as a share of the line: the counters take it to each multiple of the
    greatest divisor that their strides have with a line, alike."""
    strides: dict[Expr, Exact] = {}
    rest: Exact = Polynomial({})
    for monomial, factor in multiply_out(address).terms.items():
        moved = [base for base, _ in monomial if base in COUNTERS]
        part: Exact = Polynomial({Monomial(pair for pair in monomial if pair[0] not in COUNTERS): factor})
        if moved:
            strides[moved[0]] = _sum(strides.get(moved[0]), part)
        else:
            rest = _sum(rest, part)
    step = line
    for stride in strides.values():
        step = graph.apply("gcd", step, write_form(stride))
    within = graph.apply("mod", write_form(rest), step) if rest.terms else graph.ZERO
    return (within + (line - step) / 2) / line


def _sum(first: Exact | None, second: Exact) -> Exact:
    return second if first is None else multiply_out(write_form(first) + write_form(second))


@lru_cache(maxsize=4096)
def widest_loops(loops: tuple[StridedLoop, ...], depth: int) -> tuple[StridedLoop, ...]:
    """The innermost `depth` loops with the most trips that each makes for any counters of the others of them."""
    loops_above = []
    for index, loop in enumerate(loops[:depth]):
        domain = IterationDomain.of(loops[:depth])
        for other in range(depth):
            domain = domain if other == index else domain.eliminate(COUNTERS[other])
        bounds, _ = domain.bounds(COUNTERS[index])
        trips = bounds.trips
        loops_above.append(loop if gather_terms(loop.trips) is trips else loop.replace(trips=trips, low=bounds.low))
    return tuple(loops_above)


def mean_over_counters(
    values: Sequence[Expr], weight: Expr, nests: Sequence[tuple[StridedLoop, ...]], depth: int
) -> list[Expr]:
    """The means of values that depend on the counters of loops from the one at `depth` outwards, weighted; each counter
    has the bounds that the first of the nests gives it in which the loop has trips."""
    bodies = [*(value * weight for value in values), weight]
    free = _counters(bodies)
    if not free:
        return list(values)
    samples = SAMPLES[min(len(free), len(SAMPLES)) - 1]
    for index in range(len(nests[0])):
        counter = COUNTERS[index]
        loops = next((loops for loops in nests if loops[index].trips is not graph.ONE), nests[0])
        bounds = _bounds(loops, index)
        if counter in _counters(bodies):
            bodies = [graph.add(*parts) for parts in at_middles(bodies, counter, bounds, samples)]
        if index >= depth - 1 and not graph.free_symbols(bounds.trips).isdisjoint(COUNTERS):
            bodies = [body * bounds.trips for body in bodies]
    *above, below = bodies
    passes = graph.apply("max", below, FEWEST)
    return [value / passes for value in above]


def _counters(bodies: Sequence[Expr]) -> frozenset[Expr]:
    return frozenset(node for node in topological_order(*bodies) if node.kind == "symbol").intersection(COUNTERS)


@lru_cache(maxsize=1024)
def _bounds(loops: tuple[StridedLoop, ...], index: int) -> Bounds:
    """The bounds of a counter by the counters around it."""
    domain = IterationDomain.of(loops)
    for inner in range(index):
        domain = domain.eliminate(COUNTERS[inner])
    return domain.bounds(COUNTERS[index])[0]
