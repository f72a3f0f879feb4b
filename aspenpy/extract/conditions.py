"""Conditions of a program as guards on counters and sizes, as far as possible, and as numbers of passes of loops."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Alternative, Arithmetic, Guard, Meaning, PointerTarget, is_slow_item
from aspenpy.extract.count import Counter
from aspenpy.extract.effects import has_exit
from aspenpy.extract.evaluate import COMPARISONS, Evaluator
from aspenpy.extract.pragmas import read_aspen_control
from aspenpy.extract.scope import Read, depends_on_data, formula_of
from aspenpy.extract.state import WalkState, WalkTask, rename_array
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.record import NamedTuple


class GuardedCondition(NamedTuple):
    """A condition as guards that hold where it does: whether they say all of it, and whether it is instead that they do
    not all hold (`negated`)."""

    guards: tuple[Guard, ...]
    whole: bool
    negated: bool

    def negate(self) -> GuardedCondition:
        """The opposite condition, by one guard of its own where it can be said so."""
        if len(self.guards) == 1 and self.guards[0].operator == ">=" and not self.negated:
            return GuardedCondition((Guard(v.subtract(-self.guards[0].value, ONE)),), self.whole, False)
        return GuardedCondition(self.guards, self.whole, not self.negated)


UNGUARDED = GuardedCondition((), False, False)
"""A condition of which nothing is known."""


class Conditions(WalkTask):
    """Evaluates conditions."""

    def __init__(self, state: WalkState, evaluator: Evaluator) -> None:
        super().__init__(state)
        self.evaluator = evaluator

    def read_guards(self, node: r.Expression) -> GuardedCondition:
        """Evaluates a condition."""
        if isinstance(node, r.Operation) and node.operator == "not":
            guards, whole, negated = self.read_guards(node.operands[0])
            return GuardedCondition(guards, True, not negated) if whole else UNGUARDED
        if isinstance(node, r.Operation) and node.operator in ("&&", "||"):
            return self._join_guards(node)
        if (
            isinstance(node, r.Operation)
            and node.operator in COMPARISONS
            and all(part.type.kind == "integer" for part in node.operands)
        ):
            left, right = map(self.evaluator.evaluate_integer, node.operands)
            self.state.add_arithmetic("integer", node.type, node.span)
            return _guards_of_comparison(node.operator, v.subtract(left, right))
        value = self.evaluator.evaluate(node)
        if isinstance(value, PointerTarget):  # memory that is known to be there
            return GuardedCondition((), True, False)
        if not isinstance(value, Polynomial):
            return UNGUARDED
        if (known := v.number(value)) is not None:
            return GuardedCondition((Guard(ZERO if known else -ONE),), True, False)
        truth = self.evaluator.find_comparison(value)
        if truth is None and node.type.kind == "integer" and v.counters(value):
            truth = "!=", value
        return UNGUARDED if truth is None else _guards_of_comparison(*truth)

    def decide(self, guards: tuple[Guard, ...]) -> bool | None:
        """Whether guards always hold in the loops under way (true) or never (false); None where neither is certain."""
        known = [self._decide_guard(guard) for guard in guards]
        return True if all(known) else False if False in known else None

    def _decide_guard(self, guard: Guard) -> bool | None:
        counter = Counter()
        if guard.operator == "==":
            difference = v.number(guard.value)
            if difference is not None:
                return difference == 0
            signs = (guard.value, -guard.value)
            return (
                False
                if any(counter.is_nonnegative(v.subtract(side, ONE), self.active.nests, ()) for side in signs)
                else None
            )
        if counter.is_nonnegative(guard.value, self.active.nests, ()):
            return True
        return False if counter.is_nonnegative(v.subtract(-guard.value, ONE), self.active.nests, ()) else None

    def _join_guards(self, node: r.Operation) -> GuardedCondition:
        """Two conditions with `&&` or `||` between: `a || b` is `not (not a && not b)`."""
        first = self.read_guards(node.operands[0])
        with self.state.collect() as inner:
            second = self.read_guards(node.operands[1])
        known = self.decide(first.guards) if first.whole and first.guards else None
        if known is not None:
            if (known != first.negated) == (node.operator == "||"):
                return first
            self.state.out += inner
            return second
        decided = first.whole and first.guards and first.negated != (node.operator == "&&")
        is_recorded = self.names.counts_each and any(
            guard.operator == "==" or _is_rounded(guard) for guard in first.guards
        )
        if inner and decided and not (is_recorded and any(map(is_slow_item, inner))):
            self.out.append(Alternative(first.guards, None, *((inner, []) if not first.negated else ([], inner))))
        else:
            self.evaluator.add_second_part(node, inner)
        sides = (first.negate(), second.negate()) if node.operator == "||" else (first, second)
        usable = [side.guards for side in map(self._take_side, sides) if side.whole and not side.negated]
        guards = tuple(guard for part in usable for guard in part)
        complete = len(usable) == 2
        if node.operator == "||":
            return GuardedCondition(guards, True, True) if complete else UNGUARDED
        return GuardedCondition(guards, complete, False)

    def _take_side(self, condition: GuardedCondition) -> GuardedCondition:
        """The condition `i != 0` where `i` has one sign, as indices of threads and counters have: `i >= 1`."""
        guards = condition.guards
        if condition.negated and len(guards) == 1 and guards[0].operator == "==":
            for value in (guards[0].value, -guards[0].value):
                if Counter().is_nonnegative(value, self.active.nests, ()):
                    return GuardedCondition((Guard(v.subtract(value, ONE)),), condition.whole, False)
        return condition


def _is_rounded(guard: Guard) -> bool:
    """Whether a guard has remainders and the like, whose mean is taken where it is counted."""
    return any(base.kind == "apply" for monomial in guard.value.terms for base, _ in monomial)


def _guards_of_comparison(operator: str, difference: Value) -> GuardedCondition:
    """The condition `difference operator 0`."""
    if depends_on_data(difference):
        return UNGUARDED
    if operator in ("==", "!="):
        return GuardedCondition((Guard(difference, "=="),), True, operator == "!=")
    if operator[0] == "<":
        difference = -difference
    least = difference if operator.endswith("=") else v.subtract(difference, ONE)
    return GuardedCondition((Guard(least),), True, False)


# -- passes of loops -------------------------------------------------------------------------------


class Trips(WalkTask):
    """Counts the passes of loops."""

    def __init__(self, state: WalkState, evaluator: Evaluator) -> None:
        super().__init__(state)
        self.evaluator = evaluator

    def find_bounds(self, node: r.LoopStatement, counter: Expr, variable: str) -> tuple[tuple[Value, ...], bool]:
        """Bounds whose smallest is the number of a loop's passes, or a parameter where the source does not say it; and
        whether they are all that its condition says."""
        if not node.tested_first and isinstance(node.condition, r.Constant) and node.condition.value == 0:
            return (ONE,), True  # `do { } while (0)`
        parts = [] if node.condition is None else self._bounds_of_parts(node.condition, counter)
        limits = [bound for bounds in parts for bound in bounds]
        understood = sum(bool(bounds) and not any(map(depends_on_data, bounds)) for bounds in parts)
        is_counted = node.span in self.names.counted
        known = [bound for bound in limits if not depends_on_data(bound) and not is_counted]
        if known:
            if not node.tested_first:  # the test behind the first pass finds what that has changed
                known = [ONE if (number := v.number(bound)) is not None and number < 1 else bound for bound in known]
            return tuple(known), understood == len(parts)
        is_whole = len(parts) == 1 and node.tested_first and not has_exit(node.body) and not is_counted
        shared = self._shared_bound(limits, node) if is_whole else None
        if shared is not None:
            return (shared,), True
        meaning = Meaning(f"passes of {loop_text(node)}", ", which depend on the program's data")
        stated = read_aspen_control(node.pragmas, "loop")
        passes = self.state.add_hole(f"{variable or 'loop'}_passes", meaning, ONE, node.span, low=0, stated=stated)
        return (passes,), True

    def _shared_bound(self, bounds: list[Value], node: r.LoopStatement) -> Value | None:
        """The passes of all loops with bounds in the same arrays, as one parameter; None where each loop has its
        own."""
        symbols = v.sort_symbols(v.symbols(bounds[0])) if len(bounds) == 1 else []
        read = {symbol: self.names.read.get(symbol) for symbol in symbols if depends_on_data(atom_polynomial(symbol))}
        known = {symbol: one for symbol, one in read.items() if one is not None}
        if len(known) < len(read) or not known:
            return None
        row = self._row_key(bounds[0], known)
        if row not in self.names.rows or not self.is_hole(self.names.rows[row]):
            what, meaning = _describe_passes(bounds[0], known) or ("passes", f"mean passes of {loop_text(node)}")
            name = next(reversed(known.values())).name
            stated = read_aspen_control(node.pragmas, "loop")
            self.names.rows[row] = self.names.add_hole(
                f"{name}_{what}", Meaning(meaning), ONE, node.span, low=0, stated=stated
            )
        return self.names.rows[row]

    def is_hole(self, bound: Value) -> bool:
        return any(symbol in self.names.holes for symbol in v.symbols(bound))

    def _row_key(self, bound: Value, read: Mapping[Expr, Read]) -> object:
        """Key of a number of passes that is read from arrays: which arrays, and how far apart, but not where."""
        arrays = {own: array for array, own in self.frame.inherited.items()}
        first: dict[str, Value] = {}
        given: dict[Expr, Value] = {}
        for symbol, one in read.items():
            array = rename_array(one.array, arrays)
            apart = v.subtract(one.offset, first.setdefault(array, one.offset))
            given[symbol] = atom_polynomial(graph.symbol(f"{array} {v.number(apart)}", "array"))
        return v.value_key(v.substitute(bound, given))

    def _bounds_of_parts(self, node: r.Expression, counter: Expr) -> list[list[Value]]:
        """Passes before each part of a condition fails for the first time; later parts cost as often as they are
        tested."""
        if isinstance(node, r.Operation) and node.operator == "&&":
            first = self._bounds_of_parts(node.operands[0], counter)
            with self.state.collect() as inner:
                second = self._bounds_of_parts(node.operands[1], counter)
            self.evaluator.add_second_part(node, inner)
            return [*first, *second]
        try:
            return [self._bounds_of_test(node, counter)]
        except TooLong:
            return [[]]

    def _bounds_of_test(self, node: r.Expression, counter: Expr) -> list[Value]:
        """Passes before one part of a condition fails for the first time."""
        if not isinstance(node, r.Operation) or node.operator not in COMPARISONS:
            self.evaluator.evaluate(node)
            return []
        types = {part.type.kind for part in node.operands}
        sides = [self.evaluator.evaluate(part) for part in node.operands]
        if types <= {"integer"}:
            self.out.append(Arithmetic("integer", "", 1, node.span))
        elif "real" in types:
            self.state.add_arithmetic(
                "compare", next(part.type for part in node.operands if part.type.kind == "real"), node.span
            )
        left, right = map(formula_of, sides)
        if len({side.array for side in sides if isinstance(side, PointerTarget)}) > 1 or left is None or right is None:
            return []
        return _first_failure(node.operator, left, right, counter)


def loop_text(node: r.LoopStatement) -> str:
    return f"`{' '.join(node.span.text().split())[:60]}`" if node.span is not None else "the loop"


def _describe_passes(bound: Value, read: Mapping[Expr, Read]) -> tuple[str, str] | None:
    """Name and meaning of a number of passes that is an element of an array or the difference of two."""
    if len(read) == 1 and v.is_same(bound, atom_polynomial(next(iter(read)))):
        return "mean", f"mean of `{next(iter(read.values())).text}`"
    for (one, start), (two, end) in itertools.permutations(read.items(), 2):
        if v.is_same(bound, v.subtract(atom_polynomial(two), atom_polynomial(one))):
            return "difference", f"mean of `{end.text} - {start.text}`"
    return None


def _first_failure(operator: str, left: Value, right: Value, counter: Expr) -> list[Value]:
    """Number of the first pass in which `left operator right` fails, where both are linear in the pass; it is taken not
    to be negative."""
    distance = v.subtract(right, left) if operator in ("<", "<=", "!=") else v.subtract(left, right)
    straight = v.linear_parts(distance, counter)
    if straight is None or operator == "==":
        return []
    start, step = straight[0], -straight[1]
    if operator == "!=" and v.sign_for_large(step) == -1:
        start, step = -start, -step
    if v.sign_for_large(step) != 1 or not v.is_one_signed(step):
        return []
    if operator in ("<=", ">="):
        start = v.add(start, ONE)
    return [v.ceil_quotient(part, step) for part in _split_extremes(start)]


def _split_extremes(value: Value) -> list[Value]:
    """Values whose smallest is `value`: a - c and b - c of `min(a, b) - c`, likewise of `c - max(a, b)`."""
    for monomial, coefficient in value.terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1 and abs(coefficient) == 1:
            base = monomial[0][0]
            if base.kind == "apply" and base.payload == ("min" if coefficient > 0 else "max"):
                rest = v.subtract(value, v.scale(atom_polynomial(base), coefficient))
                sides = [v.scale(v.from_expression(side), coefficient) for side in base.args]
                return [part for side in sides for part in _split_extremes(v.add(rest, side))]
    return [value]
