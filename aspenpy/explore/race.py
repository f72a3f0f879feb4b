"""Race: where two runtimes of one parameter cross, as a search that proves what it says.

Bounds of two expressions by themselves say little about their difference where both move together: of two machines
with equal memories, n/4 - n/4 would lie anywhere. So both are brought into one form first, sums of products with exact
coefficients in which equal terms cancel. What is no sum or product (`ceil(n/4)`, `log(n)`) counts as a variable, its
range known; a `max` or `if` is replaced by the branch that is certain to be taken in the interval. Sums of a few
terms are written out beforehand (`write_out_sums`), so that each term takes its own branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from time import monotonic, process_time

from aspenpy.answers.inverse import Piece, RootSearch
from aspenpy.engine.python import PreparedExpressions
from aspenpy.expr import graph
from aspenpy.expr.bounds import bound_nodes, bound_over_box
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import ANYWHERE, FLAT, DirectedInterval, Real, magnitude_of_end
from aspenpy.expr.polynomial import (
    Exact,
    Monomial,
    add_polynomials,
    atom_polynomial,
    combine_parts,
    constant_polynomial,
    multiply_polynomials,
)

MOST_TERMS = 64  # a longer sum is not multiplied out: it counts as a variable

HIGHEST_POWER = 12

MOST_PASSES = 32  # a sum of more terms is not written out, nor are sums that have more than `MOST_WRITTEN` in all

MOST_WRITTEN = 256

Known = dict[Expr, DirectedInterval]


def range_of_difference(first: Expr, second: Expr, symbol: Expr, low: Real, high: Real) -> DirectedInterval:
    """The range of `first - second` over the interval, without a direction; (0, 0) where they are equal all over it."""
    box = {symbol: (low, high)}
    pair = graph.array([first, second])
    known = bound_nodes(pair, box, symbol)
    forms = _form_nodes(pair, known)
    apart = add_polynomials([forms[first], -forms[second]])
    return bound_over_box(_factor_out(apart), box, symbol)._replace(direction=None) if apart else DirectedInterval(0, 0)


def write_out_sums(expr: Expr) -> Expr:
    """The expression with its sums of a few terms, a fixed number of them, as additions."""
    written: dict[Expr, Expr] = {}
    left = MOST_WRITTEN
    for node in graph.topological_order(expr):
        if node.kind != "sum" or node.args[1].kind != "number":
            continue
        counter, count, body = node.args
        passes = count.payload
        if passes != int(passes) or not 0 <= passes <= min(MOST_PASSES, left):
            continue
        left -= int(passes)
        inner = graph.substitute([body], written)[0]
        terms = [graph.substitute([inner], {counter: graph.number(number)})[0] for number in range(int(passes))]
        written[node] = graph.add(*terms)
    return graph.substitute([expr], written)[0]


def _factor_out(polynomial: Exact) -> Expr:
    """Common factors in front: of a sum without mixed signs the bounds are then exact."""
    shared = reduce(_common_monomial, polynomial.terms)
    rest = [
        graph.mul(graph.number(weight), *_list_powers(term.over(shared))) for term, weight in polynomial.terms.items()
    ]
    return graph.mul(graph.add(*rest), *_list_powers(shared))


def _common_monomial(first: Monomial, second: Monomial) -> Monomial:
    other = dict(second)
    return Monomial.of({atom: min(exponent, other[atom]) for atom, exponent in first if atom in other})


def _list_powers(monomial: Monomial) -> list[Expr]:
    return [graph.power(atom, exponent) for atom, exponent in monomial]


# -- forms -----------------------------------------------------------------------------------------


def _form_nodes(root: Expr, known: Known) -> dict[Expr, Exact]:
    """The form of each node that stands for a number."""

    def form(node: Expr, forms: Mapping[Expr, Exact]) -> Exact:
        if known[node].single:
            return constant_polynomial(known[node].low)
        rule = _RULES.get(node.kind)
        polynomial = rule(node, forms, known) if rule is not None else None
        return polynomial if polynomial is not None and len(polynomial) <= MOST_TERMS else atom_polynomial(node)

    return graph.fold(form, root)


def _combine_arithmetic(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    return combine_parts(node.kind, [forms[arg] for arg in node.args], MOST_TERMS)


def _divide_forms(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    """A quotient; None where the divisor may be 0."""
    bottom = known[node.args[1]]
    return None if bottom.low <= 0 <= bottom.high else _combine_arithmetic(node, forms, known)


def _raise_form(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    base, exponent = node.args
    if not known[exponent].single or known[exponent].low != int(known[exponent].low):
        return None
    times = int(known[exponent].low)
    return multiply_polynomials([forms[base]] * times, MOST_TERMS) if 0 < times <= HIGHEST_POWER else None


def _choose_certain(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    """The argument of `max` or `min` that is certain to be chosen."""
    if node.payload not in ("max", "min"):
        return None
    sign = 1 if node.payload == "max" else -1
    for arg in node.args:
        if all(_is_never_below(arg, other, sign, forms, known) for other in node.args if other is not arg):
            return forms[arg]
    return None


def _is_never_below(arg: Expr, other: Expr, sign: int, forms: Mapping[Expr, Exact], known: Known) -> bool:
    """Whether `sign * arg` is nowhere below `sign * other`: by their ranges, or because no term of the difference can
    be negative."""
    upper, lower = (arg, other) if sign > 0 else (other, arg)
    if known[upper].low >= known[lower].high:
        return True
    return all(
        coefficient > 0 and all(known.get(atom, ANYWHERE).low >= 0 for atom, _ in monomial)
        for monomial, coefficient in add_polynomials([forms[upper], -forms[lower]]).terms.items()
    )


def _choose_branch(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    condition, then, otherwise = node.args
    if not known[condition].single:
        return None
    return forms[then if known[condition].low else otherwise]


_RULES: dict[str, Callable[[Expr, Mapping[Expr, Exact], Known], Exact | None]] = {
    **dict.fromkeys(("add", "neg", "mul"), _combine_arithmetic),
    "div": _divide_forms,
    "power": _raise_form,
    "apply": _choose_certain,
    "if_else": _choose_branch,
    "checked": lambda node, forms, known: forms[node.args[0]],
}

Seen = Callable[[float], None]  # is told which part of a search is done, 0 to 1: of it, or of the time that it may take


class Deadline:
    """When to stop: after seconds of processor time, or by the clock where the machine is busy with others."""

    def __init__(self, processor: float, clock: float) -> None:
        self._given = processor, clock
        self._began = process_time(), monotonic()

    @property
    def spent(self) -> float:
        """The part of either that is gone, 1 and more when it is time to stop."""
        passed = process_time() - self._began[0], monotonic() - self._began[1]
        return max(gone / given if given > 0 else math.inf for gone, given in zip(passed, self._given, strict=True))

    def part(self, number: int) -> Deadline:
        """The deadline of one of `number` equal parts of the time that is left, from now on."""
        left = max(0.0, 1 - self.spent) / number
        return Deadline(*(given * left for given in self._given))


MET = 1e-9  # times this close to each other where they change places meet there: the place itself is rounded
TIE = 1e-12  # times this close to each other, relative to them, are equal as far as floating point can tell


class Race(RootSearch):
    """The search for where the ratio of two times is 1, with bounds that know how far apart the times are. What it
    cannot prove, or not until it is time to stop, is `left`."""

    most_pieces = 4_000
    until = Deadline(math.inf, math.inf)

    def __init__(
        self, first: Expr, second: Expr, symbol: Expr, ratio: Callable[[Real], Real], whole: bool, seed: int
    ) -> None:
        self.first, self.second = write_out_sums(first), write_out_sums(second)
        super().__init__(graph.div(self.first, self.second), symbol, ratio, target=1, whole=whole)
        self.progress: Seen = lambda part: None
        self._left: list[Piece] = []
        self._sides: dict[Real, int] = {}
        self._whole_width = 0.0
        self._quick = PreparedExpressions([first, second], [symbol], seed)

    @property
    def left(self) -> list[Piece]:
        """Pieces in which nothing was proven, neighbours joined, from the lowest on."""
        joined: list[Piece] = []
        for low, high in sorted(self._left):
            if joined and low - joined[-1][1] <= int(self.whole):
                low, high = joined.pop()[0], high
            joined.append((low, high))
        return joined

    def side(self, x: Real) -> int:
        """Which is faster: -1 the first, 1 the second, 0 neither; in floating point where that is enough to tell."""
        if x not in self._sides:
            self._sides[x] = self._judge(x)
        return self._sides[x]

    def _judge(self, x: Real) -> int:
        try:
            mine, theirs = self._quick(x)
        except EvaluationError:
            return self._side(x)  # which says in the models' terms what has no value
        if not abs(mine - theirs) > MET * max(abs(mine), abs(theirs)):
            return self._side(x)
        return -1 if mine < theirs else 1

    def _side(self, x: Real) -> int:
        apart = self.value(x) - 1
        return 0 if magnitude_of_end(apart) <= TIE else -1 if apart < 0 else 1

    def turn(self, low: Real, high: Real) -> Piece:
        """Neighbours between two values at which different ones are the faster, between which they change places."""
        there = self.side(high)
        return self._turn(low, high, lambda x: self.side(x) == there)

    def _next(self, pieces: list[Piece]) -> Piece:
        """The widest first, so that what is left when time is up is as little as can be."""
        self.looked_at += 1
        widths = [math.log(float(high) / float(low)) if low > 0 else float(high - low) for low, high in pieces]
        self._whole_width = self._whole_width or widths[0]
        proven = 1 - sum(widths) / self._whole_width if self._whole_width else 1.0
        self.progress(min(1.0, max(proven, self.until.spent)) / 2)  # trying values is the other half
        return pieces.pop(widths.index(max(widths)))

    def _is_spent(self) -> bool:
        return super()._is_spent() or self.until.spent >= 1

    def _leave(self, pieces: list[Piece]) -> None:
        self._left += pieces

    def _bounds_between(self, low: Real, high: Real) -> DirectedInterval:
        """The ratio is 1 + (first - second)/second."""
        plain = super()._bounds_between(low, high)
        if low == high or plain.direction is not None or not plain.low < 1 < plain.high:
            return plain
        base = bound_over_box(self.second, {self.symbol: (low, high)}, self.symbol)
        apart = range_of_difference(self.first, self.second, self.symbol, low, high)
        if apart.single and apart.low == 0:
            return DirectedInterval(1, 1, FLAT)
        if base.low <= 0 or math.inf in (base.high, apart.high, -apart.low):
            return plain
        over = [Fraction(end) / Fraction(part) for end in apart[:2] for part in base[:2]]
        return DirectedInterval(max(plain.low, 1 + min(over)), min(plain.high, 1 + max(over)))
