"""Replay: how often a model's loops, branches and functions run at given sizes, and what each line does.

The costs of functions are gone through as the program would, with numbers for sizes. Of long loops whose passes differ
some passes stand for all: the middles of equal parts, exact for what grows linearly (midpoint rule). None of the closed
forms that a model is written with is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.failures import EvaluationError
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    LIBRARY,
    NO_WORK,
    Alternative,
    Arithmetic,
    FunctionCosts,
    Guard,
    Hole,
    Invocation,
    Item,
    MemoryAccess,
    Nest,
    PointerTarget,
    called_function,
    walk_items,
)
from aspenpy.extract.scope import CALL_ASSUMED, SIZE_ASSUMED
from aspenpy.extract.values import Value
from aspenpy.language.source import Span
from aspenpy.record import Record

MOST_PASSES = 24
"""Passes of a loop that stand for all of them."""

MOST_STEPS = 200_000
"""Items that are gone through; behind them one pass stands for a loop."""

MOST_CALLS = 100
"""Calls of a function with different arguments; behind them the last one stands for others."""

Basis = Literal["closed", "fitted", "assumed"]
BASES: tuple[Basis, ...] = ("closed", "fitted", "assumed")
"""What the count of a line rests on: the source and what is read from it, formulas fitted to counts, or values that
nobody knows."""


class Work(Record):
    """Floating-point operations, and bytes loaded and stored."""

    operations: float = 0.0
    moved: float = 0.0

    def plus(self, operations: float, moved: float) -> Work:
        return Work(self.operations + operations, self.moved + moved)


class RunTally:
    """Entries and passes of loops by span, evaluations of conditions and how often they held, entries of functions by
    key; and work by span of the innermost loop or function and by what it rests on."""

    def __init__(self) -> None:
        self.entered: dict[Span, float] = {}
        self.passes: dict[Span, float] = {}
        self.functions: dict[str, float] = {}
        self.libraries: dict[str, float] = {}  # calls of libraries, by the line that they are at
        self.work: dict[Span | None, Work] = {}
        self.rests: dict[Basis, Work] = dict.fromkeys(BASES, Work())

    def add_passes(self, span: Span | None, entered: float, passes: float) -> None:
        if span is not None:
            self.entered[span] = self.entered.get(span, 0.0) + entered
            self.passes[span] = self.passes.get(span, 0.0) + passes

    def add_work(self, span: Span | None, basis: int, operations: float, moved: float) -> None:
        self.work[span] = self.work.get(span, Work()).plus(operations, moved)
        self.rests[BASES[basis]] = self.rests[BASES[basis]].plus(operations, moved)


class ItemSurroundings(Record):
    """The surroundings of an item: how often it runs, the span its work belongs to, what its count rests on, as a place
    in `BASES`, and whether it is in a loop that is cut, whose conditions are evaluated less often than in the model."""

    times: float
    span: Span | None
    basis: int
    is_cut: bool = False

    def inside(self, times: float, basis: int) -> ItemSurroundings:
        return self.replace(times=self.times * times, basis=max(self.basis, basis))


Arguments = tuple[tuple[float, int] | None, ...]
"""Values of a call's whole numbers, and what they rest on."""


class SymbolValues:
    """Numbers for the symbols of formulas: those `known`, and `values` beside them, which are found as they are asked
    for. What nobody knows counts as a size. `resolved` gives the parameter that a symbol stands for."""

    def __init__(
        self, holes: Mapping[Expr, Hole], resolved: Callable[[Value], Value], known: Mapping[Expr, float]
    ) -> None:
        self.holes, self.resolved, self.known = holes, resolved, known
        self.values: dict[Expr, float] = {}

    def evaluate(self, value: Value) -> float:
        """Value of a formula."""
        if (number := v.number(value)) is not None:
            return float(number)
        given = {symbol: _make_exact(self._evaluate_symbol(symbol)) for symbol in v.symbols(value)}
        try:
            if all(base in given for monomial in value.terms for base, _ in monomial):
                return float(_evaluate_polynomial(value, given))
            return float(evaluate(v.to_expression(value), given))
        except (EvaluationError, OverflowError, ZeroDivisionError):
            return float(SIZE_ASSUMED)

    def _evaluate_symbol(self, symbol: Expr) -> float:
        for known in (self.values, self.known):
            if symbol in known:
                return known[symbol]
        self.values[symbol] = float(SIZE_ASSUMED)
        stands = self.resolved(atom_polynomial(symbol))
        if not v.is_same(stands, atom_polynomial(symbol)):
            self.values[symbol] = self.evaluate(stands)
        elif symbol in self.holes:
            self.values[symbol] = self.evaluate(self.holes[symbol].value)
        return self.values[symbol]

    def holds(self, guard: Guard) -> bool:
        value = self.evaluate(guard.value)
        return value == 0 if guard.operator == "==" else value >= 0


def _make_exact(number: float) -> int | Fraction:
    return int(number) if float(number).is_integer() else Fraction(number)


def _evaluate_polynomial(value: Value, given: Mapping[Expr, int | Fraction]) -> Fraction:
    """The value of a polynomial of symbols, without the graph: a replay asks for hundreds of thousands."""
    total = Fraction(0)
    for monomial, coefficient in value.terms.items():
        term = coefficient
        for base, exponent in monomial:
            term = term * Fraction(given[base]) ** exponent
        total += term
    return total


def count_operations(item: Arithmetic) -> float:
    """Operations of arithmetic; a call counts as several, integers and cycles as none."""
    weight = CALL_ASSUMED if called_function(item.name) else item.name not in NO_WORK
    return float(weight * item.amount)


class Replay:
    """One replay. `known` are values of parameters, `fitted` the parameters that are fitted to counts, and `resolved`
    gives the parameter of the model that a symbol of a function stands for."""

    def __init__(
        self,
        profiles: Mapping[str, FunctionCosts],
        holes: Mapping[Expr, Hole],
        resolved: Callable[[Value], Value],
        known: Mapping[Expr, float],
        fitted: frozenset[Expr],
    ) -> None:
        self.profiles, self.fitted = profiles, fitted
        self.numbers = SymbolValues(holes, resolved, known)
        self.bases: dict[Expr, int] = {}
        self.tally = RunTally()
        self.calls: dict[str, dict[Arguments, tuple[float, int]]] = {}
        self.steps = 0

    def run(self, order: Sequence[str], roots: Sequence[str]) -> RunTally:
        """The tally of all functions; `order` has each one behind those that call it."""
        for key in roots:
            self.calls[key] = {(): (1.0, 0)}
        for key in order:
            for arguments, (times, basis) in self.calls.get(key, {}).items():
                self._run_function(self.profiles[key], arguments, times, basis)
        return self.tally

    def _run_function(self, profile: FunctionCosts, arguments: Arguments, times: float, basis: int) -> None:
        self.tally.functions[profile.key] = self.tally.functions.get(profile.key, 0.0) + times
        self.numbers.values, self.bases = {}, {}
        for formal, given in zip(profile.formals, arguments, strict=False):
            if isinstance(formal, Expr) and given is not None:
                self.numbers.values[formal], self.bases[formal] = given
        self._run_items(profile.items, ItemSurroundings(times, profile.span, basis))

    def _run_items(self, items: list[Item], around: ItemSurroundings) -> None:
        operations = moved = 0.0
        for item in items:
            self.steps += 1
            if isinstance(item, MemoryAccess):
                moved += item.size
            elif isinstance(item, Arithmetic):
                operations += count_operations(item)
                if item.name == LIBRARY:
                    self.tally.libraries[item.precision] = self.tally.libraries.get(item.precision, 0) + around.times
            elif isinstance(item, Nest):
                self._run_loop(item, around)
            elif isinstance(item, Alternative):
                self._run_alternative(item, around)
            elif isinstance(item, Invocation):
                self._note_call(item, around)
        if operations or moved:
            self.tally.add_work(around.span, around.basis, operations * around.times, moved * around.times)

    def _run_loop(self, nest: Nest, around: ItemSurroundings) -> None:
        passes = max(0.0, min(map(self.numbers.evaluate, nest.bounds)))
        share = 1.0 if nest.share is None else self.numbers.evaluate(nest.share)
        if not nest.is_cut:
            self.tally.add_passes(nest.span, around.times, around.times * passes * share)
        basis = max(map(self.basis, (*nest.bounds, *([] if nest.share is None else [nest.share]))))
        inside = around.inside(share, basis).replace(span=nest.span or around.span, is_cut=nest.is_cut)
        few = MOST_PASSES if self.steps < MOST_STEPS else 1
        for place, weight in _list_passes(passes, few if _varies(nest) else 1):
            self.numbers.values[nest.counter] = place
            self._run_items(nest.body, inside.inside(weight, 0))
        self.numbers.values.pop(nest.counter, None)

    def _run_alternative(self, item: Alternative, around: ItemSurroundings) -> None:
        holds = float(all(map(self.numbers.holds, item.guards)))
        if item.guards and item.share is None and not around.is_cut:
            self.tally.add_passes(item.span, around.times, around.times * (1 - holds if item.negated else holds))
        share = holds * (1.0 if item.share is None else self.numbers.evaluate(item.share))
        basis = 0 if item.share is None else self.basis(item.share)
        for side, part in ((item.then, share), (item.otherwise, 1 - share)):
            if side and part:
                self._run_items(side, around.inside(part, basis))

    def _note_call(self, item: Invocation, around: ItemSurroundings) -> None:
        """Notes the arguments of a call, for when all calls of the function are known."""
        if item.function not in self.profiles:
            return
        arguments: Arguments = tuple(
            None
            if given is None or isinstance(given, PointerTarget)
            else (self.numbers.evaluate(given), self.basis(given))
            for given in item.arguments
        )
        calls = self.calls.setdefault(item.function, {})
        if arguments not in calls and len(calls) >= MOST_CALLS:
            arguments = next(reversed(calls))
        times, basis = calls.get(arguments, (0.0, 0))
        calls[arguments] = times + around.times, max(basis, around.basis)

    # -- what values rest on -----------------------------------------------------------------------

    def basis(self, value: Value) -> int:
        """The basis of a formula, as a place in `BASES`."""
        return max((self._basis_of_symbol(symbol) for symbol in v.symbols(value)), default=0)

    def _basis_of_symbol(self, symbol: Expr) -> int:
        if symbol not in self.bases:
            self.bases[symbol] = 0
            stands = self.numbers.resolved(atom_polynomial(symbol))
            if not v.is_same(stands, atom_polynomial(symbol)):
                self.bases[symbol] = self.basis(stands)
            elif symbol in self.fitted:
                self.bases[symbol] = 1
            elif symbol in self.numbers.holes:
                self.bases[symbol] = 2 * (symbol not in self.numbers.known and self.numbers.holes[symbol].is_left())
        return self.bases[symbol]


def _list_passes(passes: float, most: int) -> Iterator[tuple[float, float]]:
    """Passes that stand for all of a loop: their numbers, and for how many each stands."""
    whole = passes == int(passes) and passes <= most
    parts = int(passes) if whole else most
    for part in range(parts if passes else 0):
        yield (part + 0.5) * passes / parts - 0.5, passes / parts


def _varies(nest: Nest) -> bool:
    """Whether what a loop does in a pass depends on which pass it is."""
    for item in walk_items(nest.body):
        if isinstance(item, Nest):
            parts: list[Value] = [*item.bounds, *([] if item.share is None else [item.share])]
        elif isinstance(item, Alternative):
            parts = [guard.value for guard in item.guards]
        elif isinstance(item, Invocation):
            parts = [given for given in item.arguments if given is not None and not isinstance(given, PointerTarget)]
        else:
            continue
        if any(v.has_symbol(part, nest.counter) for part in parts):
            return True
    return False
