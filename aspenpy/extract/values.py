"""Whole numbers of a program as polynomials: in the symbols of the source, in the counters of its loops, and in atoms
such as `floor` and `min` for what is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from math import comb

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Exact, Monomial, Polynomial, add_polynomials, atom_polynomial, constant_polynomial
from aspenpy.expr.series import bernoulli_number

Value = Exact

ZERO: Value = constant_polynomial(0)
ONE: Value = constant_polynomial(1)

COUNTER = "counter of a loop"
"""Owner of the symbols that stand for the passes of a loop, 0, 1, 2, ..."""

MOST_TERMS = 400
"""Terms of a polynomial; what has more is taken for unknown."""


class TooLong(Exception):
    """A formula has more than `MOST_TERMS` terms."""


def add(*values: Value) -> Value:
    return _check_length(add_polynomials(values))


def subtract(a: Value, b: Value) -> Value:
    return _check_length(add_polynomials((a, -b)))


def multiply(a: Value, b: Value) -> Value:
    if len(a) * len(b) > MOST_TERMS * 4:
        raise TooLong
    return _check_length(a.times(b))


def scale(a: Value, factor: int | Fraction) -> Value:
    return a.times(constant_polynomial(factor))


def raise_to(a: Value, exponent: int) -> Value:
    result = ONE
    for _ in range(exponent):
        result = multiply(result, a)
    return result


def _check_length(value: Value) -> Value:
    if len(value) > MOST_TERMS:
        raise TooLong
    return value


def distance(a: Value, b: Value) -> Fraction | None:
    """a - b as a number; None where it depends on symbols."""
    try:
        return number(subtract(a, b))
    except TooLong:
        return None


def number(value: Value) -> Fraction | None:
    """The number that a value is; None for formulas."""
    if not value.terms:
        return Fraction(0)
    return value.terms.get(Monomial()) if len(value) == 1 else None


def whole_number(value: Value) -> int | None:
    constant = number(value)
    return int(constant) if constant is not None and constant.denominator == 1 else None


def is_same(a: Value, b: Value) -> bool:
    return a.terms == b.terms


def value_key(value: Value) -> frozenset[tuple[Monomial, Fraction]]:
    """Hashable key, equal for equal values."""
    return frozenset(value.terms.items())


def symbols(value: Value) -> set[Expr]:
    """Symbols that a value depends on, inside atoms too."""
    names: set[Expr] = set()
    for monomial in value.terms:
        for base, _ in monomial:
            names |= {base} if base.kind == "symbol" else graph.free_symbols(base)
    return names


def sort_symbols(some: Iterable[Expr]) -> list[Expr]:
    """Symbols in an order that is the same in each run."""
    return sorted(some, key=lambda symbol: str(symbol.payload))


def owners(value: Value) -> set[str]:
    """Owners of the symbols that a value depends on."""
    return {symbol.payload[1] for symbol in symbols(value)}


def counters(value: Value) -> set[Expr]:
    return {symbol for symbol in symbols(value) if symbol.payload[1] == COUNTER}


def has_symbol(value: Value, symbol: Expr) -> bool:
    return any(
        base is symbol or (base.kind != "symbol" and symbol in graph.free_symbols(base))
        for monomial in value.terms
        for base, _ in monomial
    )


def has_any_symbol(value: Value, some: Iterable[Expr]) -> bool:
    return any(has_symbol(value, symbol) for symbol in some)


def coefficients_by_power(value: Value, symbol: Expr) -> dict[int, Value] | None:
    """Coefficients of a symbol by its power; None where an atom depends on the symbol."""
    parts: dict[int, dict[Monomial, Fraction]] = {}
    for monomial, coefficient in value.terms.items():
        exponent, rest = 0, []
        for base, power in monomial:
            if base is symbol:
                exponent = power
            elif base.kind != "symbol" and symbol in graph.free_symbols(base):
                return None
            else:
                rest.append((base, power))
        if exponent < 0:
            return None
        parts.setdefault(exponent, {})[Monomial(rest)] = coefficient
    return {exponent: Polynomial(terms) for exponent, terms in parts.items()}


def linear_parts(value: Value, symbol: Expr) -> tuple[Value, Value] | None:
    """(start, step) of a value that is linear in a symbol; None for others."""
    parts = coefficients_by_power(value, symbol)
    if parts is None or not parts.keys() <= {0, 1}:
        return None
    return parts.get(0, ZERO), parts.get(1, ZERO)


def substitute(value: Value, given: Mapping[Expr, Value]) -> Value:
    """Replaces symbols by values, inside atoms too."""
    if not any(symbol in given for symbol in symbols(value)):
        return value
    result = ZERO
    for monomial, coefficient in value.terms.items():
        term = constant_polynomial(coefficient)
        for base, exponent in monomial:
            part = _substitute_atom(base, given)
            if exponent < 0:
                inverse = ONE.over(part)
                if inverse is None:
                    raise TooLong
                part = inverse
            for _ in range(abs(exponent)):
                term = multiply(term, part)
        result = add(result, term)
    return result


def _substitute_atom(base: Expr, given: Mapping[Expr, Value]) -> Value:
    if base in given:
        return given[base]
    if base.kind == "symbol" or not graph.free_symbols(base) & given.keys():
        return atom_polynomial(base)
    swapped = graph.substitute([base], {symbol: to_expression(value) for symbol, value in given.items()})[0]
    return from_expression(swapped)


def from_expression(node: Expr) -> Value:
    """A node of the graph as a polynomial, with functions as atoms."""
    if graph.is_exact(node):
        return constant_polynomial(node.payload)
    if node.kind == "add":
        return add(*map(from_expression, node.args))
    if node.kind == "neg":
        return -from_expression(node.args[0])
    if node.kind == "mul":
        result = ONE
        for factor in node.args:
            result = multiply(result, from_expression(factor))
        return result
    if node.kind == "div":
        quotient = from_expression(node.args[0]).over(from_expression(node.args[1]))
        return quotient if quotient is not None else atom_polynomial(node)
    exponent = graph.whole_number(node.args[1]) if node.kind == "power" else None
    if exponent is not None and 0 <= exponent <= 8:
        return raise_to(from_expression(node.args[0]), exponent)
    if node.kind == "apply" and node.payload in ROUNDED and node.args[0].kind == "div":
        return ROUNDED[node.payload](from_expression(node.args[0].args[0]), from_expression(node.args[0].args[1]))
    if node.kind == "apply" and node.payload in ("min", "max"):
        return extreme_of(node.payload, list(map(from_expression, node.args)))
    return atom_polynomial(node)


# -- quotients and extremes ------------------------------------------------------------------------


def quotient(a: Value, b: Value) -> Value | None:
    """a/b where all of its coefficients are whole; None where it may have a remainder."""
    divided = a.over(b)
    if divided is None or any(coefficient.denominator != 1 for coefficient in divided.terms.values()):
        return None
    if any(exponent < 0 for monomial in divided.terms for _, exponent in monomial):
        return None
    return divided


def ratio(a: Value, b: Value) -> Value:
    """a/b as a polynomial where the division leaves nothing, else as one atom."""
    if not b.terms:
        return ZERO
    if len(b) == 1:
        divided = a.over(b)
        assert divided is not None
        return divided
    lead, result, left = _leading(b), ZERO, a
    for _ in range(MOST_TERMS):
        if not left.terms:
            return result
        top = _leading(left)
        part = Polynomial({top: left.terms[top]}).over(Polynomial({lead: b.terms[lead]}))
        assert part is not None
        if any(exponent < 0 for monomial in part.terms for _, exponent in monomial):
            break
        result, left = add(result, part), subtract(left, multiply(part, b))
    return atom_polynomial(graph.div(to_expression(a), to_expression(b)))


def _leading(value: Value) -> Monomial:
    """The monomial of the highest degree, of several the first by name."""
    return max(
        value.terms, key=lambda monomial: (_degree(monomial), [(base.serial, power) for base, power in monomial])
    )


def _degree(monomial: Monomial) -> int:
    return sum(exponent for _, exponent in monomial)


def floor_quotient(a: Value, b: Value) -> Value:
    """floor(a/b), with whole terms outside of the floor."""
    return _round_quotient("floor", a, b)


def ceil_quotient(a: Value, b: Value) -> Value:
    return _round_quotient("ceil", a, b)


def _round_quotient(function: str, a: Value, b: Value) -> Value:
    if number(b) == 1:
        return a
    if number(b) == 0:
        raise TooLong
    outside, inside = dict[Monomial, Fraction](), dict[Monomial, Fraction]()
    for monomial, coefficient in a.terms.items():
        term: Value = Polynomial({monomial: coefficient})
        (outside if quotient(term, b) is not None else inside)[monomial] = coefficient
    taken = Polynomial(outside).over(b) if outside else ZERO
    if not inside or taken is None:
        return (
            taken
            if taken is not None
            else atom_polynomial(graph.apply(function, graph.div(to_expression(a), to_expression(b))))
        )
    ratio = graph.div(to_expression(Polynomial(inside)), to_expression(b))
    rounded = graph.apply(function, ratio)
    return add(taken, constant_polynomial(rounded.payload) if graph.is_exact(rounded) else atom_polynomial(rounded))


ROUNDED: dict[str, Callable[[Value, Value], Value]] = {"floor": floor_quotient, "ceil": ceil_quotient}


def remainder(a: Value, b: Value) -> Value:
    left, right = whole_number(a), whole_number(b)
    if left is not None and right:
        return constant_polynomial(left - right * int(Fraction(left, right)))
    return ZERO if quotient(a, b) is not None else subtract(a, multiply(b, floor_quotient(a, b)))


def extreme_of(function: str, values: Iterable[Value]) -> Value:
    """`min` or `max` of values; of two that differ by a number, one is dropped."""
    left: list[Value] = []
    for value in values:
        for index, other in enumerate(left):
            difference = distance(value, other)
            if difference is not None:
                smaller = difference < 0
                if smaller == (function == "min") and difference:
                    left[index] = value
                break
        else:
            left.append(value)
    return left[0] if len(left) == 1 else atom_polynomial(graph.apply(function, *map(to_expression, left)))


# -- sums ------------------------------------------------------------------------------------------


@cache
def _faulhaber(k: int) -> tuple[Fraction, ...]:
    """The coefficients, from the first power on, of 0^k + 1^k + ... + (n-1)^k in n: Faulhaber's formula."""
    return tuple(
        Fraction(comb(k + 1, k + 1 - power), k + 1) * bernoulli_number(k + 1 - power) for power in range(1, k + 2)
    )


def power_sum(k: int, end: Value) -> Value:
    """The sum of i^k over i = 0, 1, ... below the end, as a polynomial that also holds below 0."""
    result, raised = ZERO, ONE
    for coefficient in _faulhaber(k):
        raised = multiply(raised, end)
        if coefficient:
            result = add(result, scale(raised, coefficient))
    return result


def sum_over(value: Value, symbol: Expr, low: Value, high: Value) -> Value | None:
    """Sum over a symbol from `low` up to below `high`, which is taken not to be smaller. None where an atom depends on
    the symbol."""
    parts = coefficients_by_power(value, symbol)
    if parts is None:
        return None
    result = ZERO
    for exponent, coefficient in parts.items():
        interval = subtract(power_sum(exponent, high), power_sum(exponent, low))
        result = add(result, multiply(coefficient, interval))
    return result


# -- signs -----------------------------------------------------------------------------------------


def sign_for_large(value: Value) -> int | None:
    """The sign of a formula in sizes when all of them are large and equal; None where terms of the highest degree
    cancel."""
    if not value.terms:
        return 0
    by_degree: dict[int, Fraction] = {}
    for monomial, coefficient in value.terms.items():
        degree = _degree(monomial)
        by_degree[degree] = by_degree.get(degree, Fraction(0)) + coefficient
    highest = by_degree[max(by_degree)]
    return None if highest == 0 else 1 if highest > 0 else -1


def is_one_signed(value: Value) -> bool:
    """Whether all terms but the constant have one sign, so that large sizes decide."""
    signs = {coefficient > 0 for monomial, coefficient in value.terms.items() if monomial}
    return len(signs) <= 1


def is_never_negative(value: Value) -> bool:
    """Whether the value is 0 or more for all sizes from 1 on: with 1 + x in place of each, no coefficient is
    negative."""
    if all(coefficient >= 0 for coefficient in value.terms.values()):
        return not any(
            base.kind != "symbol" and not _is_from_zero(base) for monomial in value.terms for base, _ in monomial
        )
    bases = {base for monomial in value.terms for base, _ in monomial}
    if any(base.kind != "symbol" for base in bases) or any(e < 0 for monomial in value.terms for _, e in monomial):
        return False
    raised = substitute(value, {base: add(atom_polynomial(base), ONE) for base in bases})
    return all(coefficient >= 0 for coefficient in raised.terms.values())


def rounded_dividend(value: Value) -> Value | None:
    """The dividend of a value that is a rounded quotient by a positive number alone; None for others."""
    ((monomial, coefficient),) = value.terms.items() if len(value) == 1 else ((Monomial(), Fraction(0)),)
    base = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 and coefficient > 0 else None
    if base is None or base.kind != "apply" or base.payload not in ("floor", "ceil") or base.args[0].kind != "div":
        return None
    dividend, divisor = map(from_expression, base.args[0].args)
    by = number(divisor)
    return dividend if by is not None and by > 0 else None


def _is_from_zero(base: Expr) -> bool:
    """Whether an atom is 0 or more for sizes from 1 on."""
    if base.kind == "apply" and base.payload in ("floor", "ceil", "min", "max"):
        return all(
            is_never_negative(from_expression(argument))
            if argument.kind != "div"
            else all(is_never_negative(from_expression(part)) for part in argument.args)
            for argument in base.args
        )
    return base.kind == "symbol"


# -- into the graph --------------------------------------------------------------------------------


def to_expression(value: Value) -> Expr:
    """A node of the graph, with terms of the highest degree first and one denominator."""
    from math import lcm

    if not value.terms:
        return graph.ZERO
    denominator = lcm(*(coefficient.denominator for coefficient in value.terms.values()))
    ordered = sorted(value.terms.items(), key=lambda item: (-_degree(item[0]), _names(item[0])))
    if ordered[0][1] < 0:
        positive = next((item for item in ordered if item[1] > 0), ordered[0])
        ordered.remove(positive)
        ordered.insert(0, positive)
    result: Expr | None = None
    for monomial, coefficient in ordered:
        factor = int(coefficient * denominator)
        term = _term(monomial, abs(factor))
        signed = graph.neg(term) if factor < 0 else term
        result = signed if result is None else (graph.sub if factor < 0 else graph.add)(result, term)
    assert result is not None
    return graph.div(result, denominator)


def _names(monomial: Monomial) -> list[tuple[str, int]]:
    return [(str(base.payload), -exponent) for base, exponent in monomial]


def _term(monomial: Monomial, factor: int) -> Expr:
    ordered = sorted(monomial, key=lambda power: (power[0].kind != "symbol", str(power[0].payload)))
    over = [graph.power(base, exponent) for base, exponent in ordered if exponent > 0]
    under = [graph.power(base, -exponent) for base, exponent in ordered if exponent < 0]
    above = graph.mul(*([] if factor == 1 and over else [factor]), *over)
    return graph.div(above, graph.mul(*under)) if under else above
