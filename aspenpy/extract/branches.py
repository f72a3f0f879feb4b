"""Branches: what holds on each side of a condition and behind it, and how often a condition on data holds.

Where nothing counts how often a condition holds, the heuristics of Ball and Larus, "Branch prediction for free", PLDI
1993, guess it, with the rates at which they hit in Wu and Larus, "Static branch frequency and program profile
analysis", MICRO 1994, table 1; several that apply are combined by Dempster and Shafer's rule, as there (section 3.2).
A side that ends the program is never taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from fractions import Fraction

from aspenpy.expr.polynomial import Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.conditions import Conditions
from aspenpy.extract.costs import (
    Alternative,
    Arithmetic,
    Guard,
    Item,
    Meaning,
    MemoryAccess,
    PointerTarget,
    is_slow_item,
)
from aspenpy.extract.effects import final_jump, has_record, walk_records
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.library_functions import is_left_out
from aspenpy.extract.pragmas import read_aspen_control
from aspenpy.extract.scope import Known, KnownValues, Real, is_default, join_paths, single_symbol
from aspenpy.extract.state import Leaving, WalkState, WalkTask, source_text
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span

HALF = Fraction(1, 2)

POINTER, OPCODE, LOOP_HEADER, CALL, STORE, RETURN = (Fraction(rate, 100) for rate in (60, 84, 75, 78, 55, 72))
"""How often a way is taken or, for calls, stores and returns, is not."""

ENDING = frozenset("exit _exit _Exit quick_exit abort __assert_fail terminate throw MPI_Abort".split())
"""Functions that end the program."""

PRINTING = frozenset("printf fprintf puts putchar fputs perror operator<<".split())


class Branches(WalkTask):
    """Walks branches; `notes` are the conditions that are taken to hold, and where."""

    def __init__(
        self, state: WalkState, evaluator: Evaluator, walk_statement: Callable[[r.Statement | None], None]
    ) -> None:
        super().__init__(state)
        self.evaluator = evaluator
        self.conditions = Conditions(state, evaluator)
        self.walk_statement = walk_statement
        self.notes: dict[str, Span | None] = {}

    def call_through_pointer(self, node: r.Call, targets: tuple[str, ...]) -> Known:
        """Makes a call through a pointer that may mean several functions: each of them for a share of the calls."""
        before, left = self.scope, ONE
        sides = [self._walk_side(r.ExpressionStatement(node.replace(key=key), node.span), before) for key in targets]
        for index, (items, scope) in enumerate(sides):
            share, function = left, self.facts.functions[targets[index]]
            if not any(map(_is_work, items)):
                share = constant_polynomial(Fraction(1, len(targets)))
            elif index < len(targets) - 1:
                share = self._share_of_target(node, function, len(targets))
                left = v.subtract(left, share)
            self.state.out += [Alternative((), share, items, otherwise=[], span=function.span)] if items else []
            before.merge(scope)
        self.state.scope = before
        return self.state.unknown_result(node)

    def _share_of_target(self, node: r.Call, function: r.Function, count: int) -> Value:
        """Share of the calls through a pointer that mean one function: one parameter for all such calls."""
        place = (node.key, function.key)
        known = self.names.conditions.get(place)
        if known is None or not v.symbols(known) <= self.names.holes.keys():
            meaning = Meaning(f"the part of all `{source_text(node)}` that calls `{function.name}`")
            known = self.names.add_hole(
                f"{function.name}_part", meaning, constant_polynomial(Fraction(1, count)), function.span, low=0
            )
            self.names.conditions[place] = known
        return known

    def walk_branch(self, node: r.Branch) -> None:
        """Counts both sides of an `if` under its guards, or by a share that is left open; only one side where that is
        certain, or where the other ends the program."""
        guards, complete, negated = self.conditions.read_guards(node.condition)
        if node.span in self.names.counted:
            guards, complete, negated = (), False, False
        if complete and (decided := self.conditions.decide(guards)) is not None:
            self.walk_statement(node.then if decided != negated else node.otherwise)
            return
        jump = final_jump(node.then)
        share: Value | None = None
        failure = [is_failure(side, self.facts.never_return) for side in (node.then, node.otherwise)]
        if failure[0] != failure[1]:
            note = f"`{source_text(node.condition)}` is taken {'never' if failure[0] else 'always'} to hold"
            self.notes |= {} if self.stack.trials else {note: node.span}
            self.walk_statement(node.otherwise if failure[0] else node.then)
            return
        if not complete:
            share = self._find_share(node, jump)
        then, otherwise = (node.otherwise, node.then) if negated else (node.then, node.otherwise)
        before = self.scope
        with self._within_condition(share is not None or not complete):
            first, one = self._walk_side(then, before)
            second, two = self._walk_side(otherwise, before)
        self.state.scope = one if final_jump(otherwise) is not None and final_jump(then) is None else two
        if final_jump(then) is None and final_jump(otherwise) is None:
            one.merge(two, lambda left, right: _select_value(guards if share is None else (), left, right))
            self.state.scope = one
        if first or second:
            self.out.append(Alternative(guards, share, first, second, node.span, negated=negated))

    def walk_behind(self, way: Span, rest: r.Statement) -> None:
        """Counts what stands behind a statement that jumps may leave, as often as a run came there."""
        with self._within_condition(is_on_data=True), self.state.collect() as items:
            self.walk_statement(rest)
        if items:
            meaning = Meaning("how often no jump leaves this for what is not behind it, from 0 to 1", is_share=True)
            share = self.state.add_hole("onwards", meaning, ONE, way, low=0)
            self.out.append(Alternative((), share, items, otherwise=[], span=way))

    def select(self, node: r.Selection) -> Known:
        """Evaluates `?:`. It is a branch where a side divides, takes a root or calls; else compilers compute both
        sides, and both count."""
        extreme = self.evaluator.find_extreme(node)
        if extreme is not None:
            return extreme
        self.evaluator.evaluate(node.condition)
        (first, chosen), (second, otherwise) = (self._evaluate_part(part) for part in (node.chosen, node.otherwise))
        if any(map(is_slow_item, (*first, *second))):
            sides = r.ExpressionStatement(node.chosen, node.span), r.ExpressionStatement(node.otherwise, node.span)
            branch = r.Branch(node.condition, sides[0], sides[1], span=node.span)
            share = self.evaluator.count_outcomes(node) or self._share_of_selection(branch)
            self.out.append(Alternative((), share, first, second))
        else:
            self.state.out += [*first, *second]
        if node.type.kind == "real":
            return join_paths([part for part in (chosen, otherwise) if isinstance(part, Real)])
        return self._find_input(chosen, otherwise) or self.state.unknown_result(node)

    def _find_input(self, *sides: Known) -> Value | None:
        """The number that `argc > 1 ? atoi(argv[1]) : 100` reads, with its default; None for other selections."""
        for value, default in (sides, sides[::-1]):
            symbol = single_symbol(value) if isinstance(value, Polynomial) else None
            if symbol in self.names.inputs and isinstance(default, Polynomial) and is_default(default):
                self.names.inputs[symbol] = default
                return atom_polynomial(symbol)
        return None

    def _evaluate_part(self, node: r.Expression) -> tuple[list[Item], Known]:
        with self.state.collect() as items:
            return items, self.evaluator.evaluate(node)

    def _share_of_selection(self, node: r.Branch) -> Value | None:
        """Share of a `?:`: a guess in models with runs that do not record its condition."""
        return (
            constant_polynomial(guess_rate(node).limit_denominator(100))
            if self.names.counts_each
            else self._find_share(node, None)
        )

    @contextmanager
    def _within_condition(self, is_on_data: bool) -> Iterator[None]:
        """Notes that what is walked within depends on a condition, on data or not."""
        place = self.active.exits[-1] if self.active.exits else Leaving()
        place.doubts, place.guards = place.doubts + is_on_data, place.guards + (not is_on_data)
        yield
        place.doubts, place.guards = place.doubts - is_on_data, place.guards - (not is_on_data)

    def _walk_side(self, node: r.Statement | None, before: KnownValues) -> tuple[list[Item], KnownValues]:
        self.state.scope = before.copy()
        with self.state.collect() as items:
            self.walk_statement(node)
        return items, self.scope

    def _find_share(self, node: r.Branch, jump: str | None) -> Value | None:
        """Share of passes in which a condition on data holds: a parameter where it matters, else a guess; None where
        neither side costs anything."""
        if not _has_costs(node.then) and not _has_costs(node.otherwise):
            return None
        is_counted = jump != "goto" and self.names.counts_each and _has_costs(node.otherwise)
        if jump in ("break", "return", "goto") and not _has_costs(node.then) and not is_counted:
            return ZERO
        is_minor = not _has_computation(node.then) and not _has_computation(node.otherwise)
        if node.search:
            text = f"part of the elements that `{node.search}({source_text(node.condition)})` looks at, from 0 to 1"
            meaning = Meaning(text, ": all at most", is_share=True)
            return self.state.add_hole("share", meaning, ONE, node.span, low=0)
        if is_minor and not self.names.counts_each:
            return constant_polynomial(guess_rate(node).limit_denominator(100))
        value = constant_polynomial(guess_rate(node).limit_denominator(100))
        stated = read_aspen_control(node.pragmas, "probability")
        if self.names.counts_each:
            text = source_text(node.condition)
            meaning = Meaning(f"how often `{text}` holds, from 0 to 1", is_share=True)
            return self.state.add_hole("branch", meaning, value, node.span, low=0, stated=stated)
        text, is_opposite = normalise_condition(node.condition)
        if is_opposite:
            value, stated = v.subtract(ONE, value), None if stated is None else 1 - stated
        key = (self.frame.function.key if self.frame.function else "", text)
        if key not in self.names.conditions or not v.symbols(self.names.conditions[key]) <= self.names.holes.keys():
            meaning = Meaning(f"how often `{text[:60]}` holds, from 0 to 1", is_share=True)
            self.names.conditions[key] = self.state.add_hole("branch", meaning, value, node.span, low=0, stated=stated)
        share = self.names.conditions[key]
        return v.subtract(ONE, share) if is_opposite else share

    def walk_switch(self, node: r.Switch) -> None:
        """Counts the cases of a `switch`, each taken as often as the others until a run says how often."""
        self.evaluator.evaluate(node.subject)
        before = self.scope
        failing = [is_failure(case, self.facts.never_return) for case in node.cases]
        sides = [
            ([], before.copy()) if fails else self._walk_side(case, before)
            for case, fails in zip(node.cases, failing, strict=True)
        ]
        count = len(sides) - sum(failing) + (not node.exhaustive)
        is_computed = any(_is_work(item) for items, _ in sides for item in items)
        for index, (items, scope) in enumerate(sides):
            if count == 1:  # all others end the program
                self.state.out += items
            elif items and not is_computed:
                share = constant_polynomial(Fraction(1, count))
                self.out.append(Alternative((), share, items, otherwise=[], span=node.span, case=index))
            elif items:
                text = f"how often case {index + 1} of `{source_text(node.subject)}` is taken, from 0 to 1"
                meaning = Meaning(text, is_share=True, case=index)
                share = self.state.add_hole("case", meaning, constant_polynomial(Fraction(1, count)), node.span, low=0)
                self.out.append(Alternative((), share, items, otherwise=[], span=node.span, case=index))
            before.merge(scope)
        self.state.scope = before


def _select_value(guards: tuple[Guard, ...], one: Known, two: Known) -> Known:
    """Formula for a value that is `one` where the guards hold and else `two`; None where there is none. A guard that
    holds in a single pass of a loop is neglected."""
    if not isinstance(two, Polynomial) or isinstance(one, PointerTarget | Real) or not guards:
        return None
    if any(guard.operator == "==" and v.counters(guard.value) for guard in guards):
        return two
    if one is None or len(guards) > 1 or guards[0].operator == "==":
        return None
    try:
        bound, change = v.add(guards[0].value, ONE), v.subtract(one, two)
        for limit in (bound, guards[0].value):
            if v.is_same(change, limit) or v.is_same(change, -limit):
                return v.extreme_of("max" if v.is_same(change, limit) else "min", (one, two))
        holds = v.extreme_of("min", (ONE, v.extreme_of("max", (ZERO, bound))))
        return v.add(two, v.multiply(change, holds))
    except TooLong:
        return None


def _is_work(item: Item) -> bool:
    """Whether an item does more than move data and count."""
    if isinstance(item, Alternative):
        return any(map(_is_work, (*item.then, *item.otherwise)))
    return not isinstance(item, MemoryAccess) and not (isinstance(item, Arithmetic) and item.name == "integer")


def _has_computation(node: r.Statement | None) -> bool:
    """Whether a statement computes: with loops, calls or operations of floating point."""
    return node is not None and has_record(node, _is_computation)


def _is_computation(part: object) -> bool:
    if isinstance(part, r.Call):
        return not is_left_out(part.name, part.key)
    if isinstance(part, r.Operation):
        return part.type.kind == "real" and part.operator != "neg"
    is_update = isinstance(part, r.Assignment) and bool(part.operator) and part.type.kind == "real"
    return is_update or isinstance(part, r.LoopStatement)


def _has_costs(node: r.Statement | None) -> bool:
    """Whether a statement can cost anything."""
    kinds = (r.Operation, r.Assignment, r.Call, r.Element, r.LoopStatement)
    return node is not None and has_record(node, lambda part: isinstance(part, kinds))


# -- guesses ---------------------------------------------------------------------------------------


def is_failure(node: r.Statement | None, ending: Set[str] = frozenset()) -> bool:
    """Whether a side of a branch ends the program, which no run that counts does. `ending` are the keys of the
    program's functions that never return."""
    if isinstance(node, r.CompoundStatement):
        return any(is_failure(inner, ending) for inner in node.statements)
    if isinstance(node, r.Branch):
        return is_failure(node.then, ending) and is_failure(node.otherwise, ending)
    value = node.value if isinstance(node, r.ExpressionStatement) else None
    return isinstance(value, r.Call) and (value.name in ENDING or value.key in ending)


def find_never_returning(program: r.Program) -> frozenset[str]:
    """The functions of a program that never return: those that say so, and those that always call such."""
    keys, before = set(program.never_return), -1
    while len(keys) > before:
        before = len(keys)
        keys |= {function.key for function in program.functions if _is_always_ending(function, keys)}
    return frozenset(keys)


def _is_always_ending(function: r.Function, ending: Set[str]) -> bool:
    """Whether a function ends the program wherever it is not left before."""
    may_return = any(isinstance(part, r.Jump) and part.kind == "return" for part in walk_records(function.body))
    return function.name != "main" and not may_return and is_failure(function.body, ending)


def guess_rate(node: r.Branch) -> Fraction:
    """Guessed share of the evaluations in which a condition on data holds."""
    if node.search:
        return Fraction(1)
    result = HALF
    for rate in _rates_of_branch(node):
        result = result * rate / (result * rate + (1 - result) * (1 - rate))
    return result


def _rates_of_branch(node: r.Branch) -> Iterator[Fraction]:
    condition, is_opposite = node.condition, False
    while isinstance(condition, r.Operation) and condition.operator == "not":
        condition, is_opposite = condition.operands[0], not is_opposite
    rate = _rate_of_comparison(condition)
    if rate is not None:
        yield 1 - rate if is_opposite else rate
    for side, taken in ((node.then, True), (node.otherwise, False)):
        for rate in _rates_of_side(side):
            yield rate if taken else 1 - rate


def _rate_of_comparison(condition: r.Expression) -> Fraction | None:
    """Rate at which a comparison holds: equal, null and negative values are rare (heuristics opcode and pointer)."""
    if not isinstance(condition, r.Operation) or len(condition.operands) != 2:
        return None
    left, right = condition.operands
    if condition.operator in ("==", "!="):
        rate = POINTER if "pointer" in (left.type.kind, right.type.kind) else OPCODE
        return rate if condition.operator == "!=" else 1 - rate
    if isinstance(right, r.Constant) and right.value == 0 and left.type.kind == "integer":
        return {"<": 1 - OPCODE, "<=": 1 - OPCODE, ">": OPCODE, ">=": OPCODE}.get(condition.operator)
    return None


def _rates_of_side(side: r.Statement | None) -> Iterator[Fraction]:
    """Rates at which a side is taken by its statements: loops are entered, returns and prints are not (heuristics loop
    header, return, call, store)."""
    if side is None:
        return
    first = side.statements[0] if isinstance(side, r.CompoundStatement) and side.statements else side
    if isinstance(first, r.LoopStatement):
        yield LOOP_HEADER
    if final_jump(side) == "return":
        yield 1 - RETURN
    if any(isinstance(part, r.Call) and part.name in PRINTING for part in walk_records(side)):
        yield 1 - CALL
    elif any(
        isinstance(part, r.Assignment) and isinstance(part.target, r.Element | r.Field) for part in walk_records(side)
    ):
        yield 1 - STORE


def normalise_condition(condition: r.Expression) -> tuple[str, bool]:
    """Text of a condition, with `a <= b` as the opposite of `a > b`; and whether that is the opposite of the
    condition."""
    if isinstance(condition, r.Operation) and condition.operator == "not":
        text, is_opposite = normalise_condition(condition.operands[0])
        return text, not is_opposite
    if isinstance(condition, r.Operation) and condition.operator in _PLAIN:
        sign, is_opposite = _PLAIN[condition.operator]
        sides = [" ".join(part.span.text().split()) if part.span else "" for part in condition.operands]
        return f"{sides[0]} {sign} {sides[-1]}", is_opposite
    return " ".join(condition.span.text().split()) if condition.span is not None else "", False


_PLAIN = {"<": ("<", False), ">=": ("<", True), ">": (">", False), "<=": (">", True), "==": ("==", False)} | {
    "!=": ("==", True)
}
