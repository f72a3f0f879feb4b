"""Closed sums over loops with conditions, against the loops themselves, wherever what they assume holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random

import pytest

from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Guard, Nest
from aspenpy.extract.count import Counter, GuardedLoops, NoClosedForm
from aspenpy.extract.scope import SIZE
from aspenpy.extract.values import COUNTER, Value

N, M = graph.symbol("n", SIZE), graph.symbol("m", SIZE)
LOOPS = [graph.symbol(name, COUNTER) for name in "ijk"]


def linear(constant: int, *terms: tuple[int, Expr]) -> Value:
    found = constant_polynomial(constant)
    for factor, symbol in terms:
        found = v.add(found, v.multiply(constant_polynomial(factor), atom_polynomial(symbol)))
    return found


def worth(value: Value, at: Mapping[Expr, int]) -> Fraction:
    return Fraction(evaluate(v.to_expression(value), dict(at)))


def points(nests: tuple[Nest, ...], at: dict[Expr, int]) -> Iterator[dict[Expr, int]]:
    if not nests:
        yield at
        return
    for count in range(max(0, min(int(worth(bound, at)) for bound in nests[0].bounds))):
        yield from points(nests[1:], at | {nests[0].counter: count})


def holds(guard: Guard, at: Mapping[Expr, int]) -> bool:
    found = worth(guard.value, at)
    return found >= 0 if guard.operator == ">=" else found == 0


def draw_domain(random: Random) -> GuardedLoops:
    nests: list[Nest] = []
    for counter in LOOPS[: random.randint(1, 3)]:
        outer = [(random.choice([-1, 0, 0, 1]), nest.counter) for nest in nests]
        size = random.choice([(1, N), (1, N), (1, M), (2, N), (0, N)])
        bound = linear(random.randint(-2, 3) + 4 * (size[0] == 0), size, *outer)
        nests.append(Nest(counter, (bound,), []))
    guards = []
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        parts = [(random.choice([-1, 0, 1]), nest.counter) for nest in nests]
        size = random.choice([(0, N), (1, N), (-1, N), (1, M)])
        operator = random.choice([">=", ">=", ">=", "=="])
        guards.append(Guard(linear(random.randint(-3, 3), size, *parts), operator))
    return GuardedLoops(tuple(nests), tuple(guards))


def test_sums_are_those_of_the_loops() -> None:
    compared = assumed = 0
    for seed in range(100):
        random = Random(seed)
        domain = draw_domain(random)
        amount = random.choice(
            [linear(1), linear(1), linear(2, (1, domain.nests[-1].counter)), linear(0, (1, LOOPS[0]))]
        )
        counter = Counter()
        try:
            found = counter.total(amount, domain)
        except NoClosedForm:
            continue
        for sizes in ({N: 5, M: 3}, {N: 4, M: 9}, {N: 1, M: 1}, {N: 8, M: 2}):
            if any(worth(value, sizes) < 0 for value in counter.assumptions.values()):
                assumed += 1
                continue
            inside = [at for at in points(domain.nests, dict(sizes)) if all(holds(one, at) for one in domain.guards)]
            assert worth(found, sizes) == sum(worth(amount, at) for at in inside), (seed, sizes, domain)
            compared += 1
    assert compared > 100
    assert assumed > 0


@pytest.mark.parametrize(
    ("value", "is_assumed", "kept"),
    [
        (linear(3, (1, N)), True, 0),  # whatever n is
        (linear(-1, (1, N)), True, 0),  # sizes begin at 1
        (linear(-2, (1, N)), True, 1),
        (linear(2, (-1, N)), False, 0),
        (linear(0, (1, N), (-1, M)), False, 0),  # it is not known which is larger
        (linear(-5, (1, N), (1, M)), True, 1),
        (linear(-1, (1, LOOPS[0])), False, 0),  # counters begin at 0
        (linear(-3), False, 0),
    ],
)
def test_what_may_be_assumed_of_sizes(value: Value, is_assumed: bool, kept: int) -> None:
    counter = Counter()
    nests = (Nest(LOOPS[0], (linear(0, (1, N)),), []),)
    assert counter.assume_nonnegative(value, nests, ()) is is_assumed
    assert len(counter.assumptions) == kept
    if kept:
        larger = v.add(value, linear(1))
        assert counter.is_nonnegative(larger, nests, ())
        assert not Counter().is_nonnegative(larger, nests, ()) or worth(larger, {N: 1, M: 1}) >= 0
