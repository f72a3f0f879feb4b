"""Sums over a loop counter in closed form.

A body is written as a polynomial with terms c * i^k * r^i, with c and r free of the counter i. Powers are summed by
Faulhaber's formula, geometric terms by p(N) * r^N - p(0), where p is the polynomial with r * p(i + 1) - p(i) = i^k. A
body without that form stays a `sum` node, with all that is free of the counter taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache, reduce
from math import comb, lcm

from aspenpy.expr import graph
from aspenpy.expr.failures import LAWS
from aspenpy.expr.node import Expr, dependents, intern_node
from aspenpy.expr.polynomial import ARITHMETIC, Polynomial, combine_parts, multiply_polynomials
from aspenpy.expr.traits import INTEGER, NONNEGATIVE
from aspenpy.record import NamedTuple, Record

Guard = tuple[str, Expr, Expr | None]


class CounterPower(NamedTuple):
    """The monomial i^k * r^i of the counter i."""

    k: int
    r: Expr = graph.ONE

    def times(self, other: CounterPower) -> CounterPower:
        return CounterPower(self.k + other.k, graph.mul(self.r, other.r))

    def over(self, other: CounterPower) -> CounterPower:
        return CounterPower(self.k - other.k, graph.div(self.r, other.r))


HIGHEST_DEGREE = 8
MOST_TERMS = 64

MOST_INSIDE = 600
"""Nodes of a body that depend on the counter; for a longer one no closed form is tried. Of 60 loops, each as long as
the counter of the one around it, closing the sums takes 1.5 s with 400, 2.7 s with 600, 6.7 s with 800 and 9.4 s with
1000; the limit for any answer or error is 5 s."""

_KEEPING_SIGNS = (None, "max", "min", "ceil", "floor", "round", "sqrt")
"""Functions (None for arithmetic) that are not negative for arguments that are not negative."""

_CONSTANT, _COUNTER = CounterPower(0), CounterPower(1)


class Form(Record):
    """A body as a polynomial in the counter, with coefficients free of it, and the laws that it must obey.

    A guard is (law, start, step): on every pass start + step * i must obey the law; or (law, subject, None) where the
    subject is no straight line.
    """

    polynomial: Polynomial[CounterPower, Expr]
    guards: tuple[Guard, ...] = ()

    def straight_line(self) -> tuple[Expr, Expr] | None:
        """(start, step) if this is a straight line in the counter."""
        terms = self.polynomial.terms
        if not terms.keys() <= {_CONSTANT, _COUNTER}:
            return None
        return terms.get(_CONSTANT, graph.ZERO), terms.get(_COUNTER, graph.ZERO)

    def is_constant(self) -> bool:
        return self.polynomial.terms.keys() <= {_CONSTANT}


def _join_guards(terms: dict[CounterPower, Expr], *parts: Form) -> Form:
    """A form with these terms and the guards of its parts."""
    return Form(Polynomial(terms), _guards_of(parts))


def closed_sum(counter: Expr, count: Expr, body: Expr) -> Expr:
    """The sum of `body` over the counter from 0 up to below `count`: closed where it has a closed form, else a loop."""
    if not graph.is_counter(counter):
        raise ValueError("a sum runs over a counter")
    if count.kind == "number" and count.payload <= 1:
        return graph.substitute([body], {counter: graph.ZERO})[0] if count.payload > 0 else graph.ZERO
    inside = dependents(body, on=[counter])
    passes = graph.apply("ceil", count)
    if inside[-1] is not body:
        return graph.mul(passes, body)
    if len(inside) > MOST_INSIDE:
        return intern_node("sum", (counter, count, body), None, body.traits & (INTEGER | NONNEGATIVE))
    return _Split(counter, count, passes, inside).sum_over_passes(body)


class _Split:
    """One sum and the sums that it is split into; `inside` are the nodes that depend on the counter, in order."""

    def __init__(self, counter: Expr, count: Expr, passes: Expr, inside: list[Expr]) -> None:
        self.counter, self.count, self.passes, self.inside = counter, count, passes, inside
        self.forms: dict[Expr, Form | None] = {}
        for node in inside:
            self.forms[node] = self._make_form(node)

    def sum_over_passes(self, body: Expr) -> Expr:
        """The sum of the body over all passes. The first loop collects the sums that are needed, the second computes
        them."""
        needed = {body}
        for node in reversed(self.inside):
            if node in needed and self._is_summed_by_parts(node):
                needed.update(arg for arg in _parts_to_sum(node, self.forms) if arg in self.forms)
        sums: dict[Expr, Expr] = {}
        for node in self.inside:
            if node in needed:
                sums[node] = (
                    self._distribute_sum(node, sums) if self._is_summed_by_parts(node) else self._sum_of_node(node)
                )
        return sums[body]

    def _is_summed_by_parts(self, node: Expr) -> bool:
        """Whether the node's sum is made of sums of its parts: to take out factors, or because it has no form as a
        whole."""
        return bool(_parts_to_sum(node, self.forms)) and (
            node.kind in ("neg", "mul", "div") or self.forms[node] is None
        )

    def _sum_of_node(self, node: Expr) -> Expr:
        form = self.forms[node] if node in self.forms else self._make_form(node)
        return self._sum_in_closed_form(form) if form is not None else self._leave_open(node)

    # -- reading a body as a form ------------------------------------------------------------------

    def _make_form(self, node: Expr) -> Form | None:
        if node is self.counter:
            return _join_guards({_COUNTER: graph.ONE})
        rule = _FORMS.get(node.kind)
        if rule is None:
            return None
        operands = [self.forms[arg] if arg in self.forms else _join_guards({_CONSTANT: arg}) for arg in node.args]
        if any(operand is None for operand in operands):
            return None
        form = rule(node, operands)  # type: ignore[arg-type]
        if form is None or len(form.polynomial) > MOST_TERMS:
            return None
        return form if all(power.k <= HIGHEST_DEGREE for power in form.polynomial.terms) else None

    # -- summing -----------------------------------------------------------------------------------

    def _sum_in_closed_form(self, form: Form) -> Expr:
        terms = form.polynomial.terms.items()
        total = graph.add(*[graph.mul(coefficient, self._sum_of_powers(*power)) for power, coefficient in terms])
        runs = graph.compare(">", self.passes, graph.ZERO)
        for law, start, step in form.guards:
            if step is None:
                each = self._leave_open(graph.checked(law, graph.apply("min", start, graph.ZERO), start))
                total = graph.checked(law, total, graph.if_else(self._is_never_negative(start), graph.ZERO, each))
                continue
            for subject in (start, self._value_in_last_pass(start, step)):
                total = graph.checked(law, total, graph.if_else(runs, subject, graph.ONE))
        return total

    def _value_in_last_pass(self, start: Expr, step: Expr) -> Expr:
        """The value of a straight line in the last pass."""
        return graph.add(start, graph.mul(step, graph.sub(self.passes, 1)))

    def _is_never_negative(self, node: Expr) -> Expr:
        """A sufficient condition for the node not to be negative in any pass."""
        if node.traits & NONNEGATIVE:
            return graph.TRUE
        if node not in self.forms:
            return graph.compare(">=", node, graph.ZERO)
        line = form.straight_line() if (form := self.forms[node]) is not None else None
        if line is not None:
            ends = line[0], self._value_in_last_pass(*line)
            return graph.junction("and", *[graph.compare(">=", end, graph.ZERO) for end in ends])
        if node.kind in ("add", "mul", "div", "power", "apply") and node.payload in _KEEPING_SIGNS:
            return reduce(lambda a, b: graph.junction("and", a, b), map(self._is_never_negative, node.args))
        return self._is_never_negative(node.args[0]) if node.kind == "checked" else graph.FALSE

    def _sum_of_powers(self, k: int, r: Expr) -> Expr:
        if r is graph.ONE:
            return power_sum(k, self.passes)
        body = graph.mul(graph.power(self.counter, k) if k else graph.ONE, graph.power(r, self.counter))
        if graph.is_exact(r):
            distance = abs(r.payload - 1)
            if distance * 4 >= 1 or (k == 0 and distance * 100 >= 1):
                return _geometric_sum(k, r.payload, self.passes)
        elif k == 0:
            away = graph.compare(">", graph.apply("abs", graph.sub(r, 1)), graph.number(Fraction(1, 100)))
            quotient = graph.div(graph.sub(graph.power(r, self.passes), 1), graph.sub(r, 1))
            return graph.if_else(away, quotient, self._leave_open(body))
        return self._leave_open(body)

    def _leave_open(self, body: Expr) -> Expr:
        known = body.traits & (INTEGER | NONNEGATIVE)
        return intern_node("sum", (self.counter, self.count, body), None, known)

    def _distribute_sum(self, node: Expr, sums: dict[Expr, Expr]) -> Expr:
        """The sum of a node that has no form as a whole, from the sums of its parts."""
        parts = _parts_to_sum(node, self.forms)

        def total(part: Expr) -> Expr:
            return sums[part] if part in sums else graph.mul(self.passes, part)

        if node.kind == "add":
            opaque = [arg for arg in node.args if arg not in parts]
            closed = [total(part) for part in parts]
            return graph.add(*closed, self._leave_open(graph.add(*opaque)) if opaque else graph.ZERO)
        if node.kind == "if_else":
            return graph.if_else(node.args[0], total(node.args[1]), total(node.args[2]))
        if node.kind == "mul":
            free = [arg for arg in node.args if arg not in self.forms]
            bound = [arg for arg in node.args if arg in self.forms]
            return graph.mul(*free, sums[bound[0]] if len(bound) == 1 else self._sum_of_node(graph.mul(*bound)))
        return graph.rebuild(node, (total(node.args[0]), *node.args[1:]))


def _parts_to_sum(node: Expr, inside: dict[Expr, Form | None]) -> list[Expr]:
    """The arguments whose sums make up the node's sum; none for a node that is summed as a whole."""
    if node.kind == "add":
        return [arg for arg in node.args if arg not in inside or inside[arg] is not None or _parts_to_sum(arg, inside)]
    if node.kind == "neg":
        return [node.args[0]]
    if node.kind == "div" and node.args[1] not in inside:
        return [node.args[0]]
    if node.kind == "if_else" and node.args[0] not in inside:
        return list(node.args[1:])
    if node.kind == "mul":
        bound = [arg for arg in node.args if arg in inside]
        return bound if len(bound) == 1 else [arg for arg in node.args if arg not in inside]
    return []


# -- how forms combine -----------------------------------------------------------------------------


def _guards_of(operands: Iterable[Form]) -> tuple[Guard, ...]:
    return tuple(dict.fromkeys(guard for operand in operands for guard in operand.guards))


def _combine_forms(node: Expr, operands: list[Form]) -> Form | None:
    """Sums, products and quotients; a divisor may be c * r^i, without powers of the counter."""
    if node.kind == "div" and any(power.k for power in operands[1].polynomial.terms):
        return None
    polynomial = combine_parts(node.kind, [operand.polynomial for operand in operands], MOST_TERMS)
    return None if polynomial is None else Form(polynomial, _guards_of(operands))


def _raise_form(node: Expr, operands: list[Form]) -> Form | None:
    """(a form)^(a small whole number), or base^(start + step * i) = base^start * (base^step)^i."""
    base, exponent = node.args
    if exponent.kind == "number":
        times = graph.whole_number(exponent)
        return _raise_line(operands[0], times) if times is not None and 1 <= times <= HIGHEST_DEGREE else None
    line = operands[1].straight_line()
    if line is None or not operands[0].is_constant() or operands[0].guards:
        return None
    start, step = line
    positive = base.kind == "number" and base.payload > 0
    if not positive and not (step.kind == "number" and graph.is_integer(step)):
        return None
    return _join_guards({CounterPower(0, graph.power(base, step)): graph.power(base, start)}, operands[1])


def _raise_line(base: Form, times: int) -> Form | None:
    """A straight line is raised by the binomial theorem, which writes powers of its coefficients as powers."""
    line = base.straight_line()
    if line is None:
        polynomial = multiply_polynomials([base.polynomial] * times, MOST_TERMS)
        return None if polynomial is None else Form(polynomial, base.guards)
    start, step = line
    terms = {
        CounterPower(k): graph.mul(comb(times, k), graph.power(start, times - k), graph.power(step, k))
        for k in range(times, -1, -1)
    }
    return _join_guards(
        {power: coefficient for power, coefficient in terms.items() if coefficient is not graph.ZERO}, base
    )


def _apply_to_form(node: Expr, operands: list[Form]) -> Form | None:
    """Whole terms are taken out of ceil and floor: ceil(x + i) = ceil(x) + i; exp makes a line a geometric term."""
    operand = operands[0]
    if node.payload == "exp":
        line = operand.straight_line()
        return line and _join_guards(
            {CounterPower(0, graph.apply("exp", line[1])): graph.apply("exp", line[0])}, operand
        )
    if node.payload not in ("ceil", "floor"):
        return None
    terms = dict(operand.polynomial.terms)
    rest = terms.pop(_CONSTANT, graph.ZERO)
    if not all(graph.is_integer(coefficient) and graph.is_integer(power.r) for power, coefficient in terms.items()):
        return None
    return _join_guards({_CONSTANT: graph.apply(node.payload, rest), **terms}, operand)


def _check_form(node: Expr, operands: list[Form]) -> Form | None:
    """A law becomes a guard: a straight line obeys it everywhere if it does at both ends; any other subject is checked
    pass by pass unless the signs of its parts tell."""
    value, subject = operands
    line = subject.straight_line()
    if (line is None and not LAWS[node.payload].from_zero) or (line is not None and line[1] is graph.ZERO):
        return None
    guard = (node.payload, node.args[1], None) if line is None else (node.payload, *line)
    return Form(value.polynomial, (*_guards_of(operands), guard))


def _choose_form(node: Expr, operands: list[Form]) -> Form | None:
    condition, then, otherwise = operands
    if not condition.is_constant() or _guards_of(operands):
        return None
    ours, theirs, zero = then.polynomial.terms, otherwise.polynomial.terms, graph.ZERO
    return _join_guards({
        power: graph.if_else(node.args[0], ours.get(power, zero), theirs.get(power, zero))
        for power in dict.fromkeys([*ours, *theirs])
    })  # fmt: skip


_FORMS: dict[str, Callable[[Expr, list[Form]], Form | None]] = {
    **dict.fromkeys(ARITHMETIC, _combine_forms),
    "power": _raise_form,
    "apply": _apply_to_form,
    "checked": _check_form,
    "if_else": _choose_form,
}


# -- the sums themselves ---------------------------------------------------------------------------


def power_sum(k: int, passes: Expr) -> Expr:
    """0^k + 1^k + ... + (passes - 1)^k by Faulhaber's formula, with divisions last, so that whole numbers stay
    whole."""
    if k == 0:
        return passes
    before = graph.sub(passes, 1)
    triangle = graph.div(graph.mul(passes, before), 2)
    if k == 1:
        return triangle
    if k == 3:
        return graph.power(triangle, 2)
    if k == 2:
        return graph.div(graph.mul(passes, before, graph.sub(graph.mul(2, passes), 1)), 6)
    coefficients = [Fraction(comb(k + 1, j), k + 1) * bernoulli_number(j) for j in range(k + 1)]
    return _evaluate_polynomial([*coefficients, Fraction(0)], passes)


@lru_cache(maxsize=64)
def bernoulli_number(n: int) -> Fraction:
    """The Bernoulli number B_n, with B_1 = -1/2."""
    return Fraction(int(n == 0)) - sum(comb(n, j) * bernoulli_number(j) / (n - j + 1) for j in range(n))


def _geometric_sum(k: int, r: int | Fraction, passes: Expr) -> Expr:
    """The sum of i^k * r^i, by the polynomial p of degree k with r * p(i + 1) - p(i) = i^k, highest power first."""
    ratio = Fraction(r)
    p: list[Fraction] = []
    for degree in range(k, -1, -1):
        spread = sum(p[k - higher] * comb(higher, degree) for higher in range(degree + 1, k + 1))
        p.append((int(degree == k) - ratio * spread) / (ratio - 1))
    grown = graph.mul(graph.power(graph.number(ratio), passes), _evaluate_polynomial(p, passes))
    return graph.sub(grown, graph.number(p[-1]))


def _evaluate_polynomial(coefficients: list[Fraction], x: Expr) -> Expr:
    """Horner's scheme, highest power first, whole numbers over one denominator."""
    denominator = lcm(*[coefficient.denominator for coefficient in coefficients])
    value = graph.ZERO
    for coefficient in coefficients:
        value = graph.add(graph.mul(value, x), graph.number(coefficient * denominator))
    return graph.div(value, denominator)
