"""Conditions of a program: guards on counters and sizes, as far as they can be said so."""

from __future__ import annotations

from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Alternative, Guard, Place
from aspenpy.extract.count import Counter
from aspenpy.extract.evaluate import COMPARISONS, Evaluator
from aspenpy.extract.scope import Real
from aspenpy.extract.state import Part, State
from aspenpy.extract.values import ONE, Value


class Conditions(Part):
    """Evaluates conditions."""

    def __init__(self, state: State, evaluator: Evaluator) -> None:
        super().__init__(state)
        self.evaluator = evaluator

    def read_guards(self, node: r.Expression) -> tuple[tuple[Guard, ...], bool, bool]:
        """Evaluates a condition. Returns guards that hold where it does, whether they say all of it, and whether the
        condition is that they do not all hold."""
        if isinstance(node, r.Operation) and node.operator == "not":
            guards, whole, negated = self.read_guards(node.operands[0])
            return (guards, True, not negated) if whole else ((), False, False)
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
        found = self.evaluator.evaluate(node)
        if isinstance(found, Place):  # memory that is known to be there
            return (), True, False
        if found is not None and not isinstance(found, Real) and (known := v.number(found)) is not None:
            return ((Guard(v.subtract(found, found) if known else -ONE),), True, False)
        if (
            found is not None
            and not isinstance(found, Real)
            and (truth := self.evaluator.find_comparison(found)) is not None
        ):
            return _guards_of_comparison(*truth)
        return (), False, False

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

    def _join_guards(self, node: r.Operation) -> tuple[tuple[Guard, ...], bool, bool]:
        first, whole, negated = self.read_guards(node.operands[0])
        with self.state.collect() as inner:
            second, second_whole, second_negated = self.read_guards(node.operands[1])
        known = self.decide(first) if whole and first else None
        if known is not None:
            if (known != negated) == (node.operator == "||"):
                return first, True, negated
            self.state.out += inner
            return second, second_whole, second_negated
        decided = whole and first and negated != (node.operator == "&&")
        if inner and decided:
            self.state.out.append(Alternative(first, None, *((inner, []) if not negated else ([], inner))))
        else:
            self.state.out += inner
        if node.operator == "||":
            first, negated = _negate_guards(first, negated)
            second, second_negated = _negate_guards(second, second_negated)
        usable = [
            guards
            for guards, is_whole, is_negated in ((first, whole, negated), (second, second_whole, second_negated))
            if is_whole and not is_negated
        ]
        guards = tuple(guard for part in usable for guard in part)
        complete = len(usable) == 2
        if node.operator == "||":
            return (guards, True, True) if complete else ((), False, False)
        return guards, complete, False


def _negate_guards(guards: tuple[Guard, ...], negated: bool) -> tuple[tuple[Guard, ...], bool]:
    """Guards of the opposite condition where one guard says it; and whether they are negated."""
    if len(guards) == 1 and guards[0].operator == ">=" and not negated:
        return (Guard(v.subtract(-guards[0].value, ONE)),), False
    return guards, not negated


def _guards_of_comparison(operator: str, difference: Value) -> tuple[tuple[Guard, ...], bool, bool]:
    """Guards of `difference operator 0`, whether they say all of it, and whether they are negated."""
    if any(symbol.payload[1] == "unknown" for symbol in v.symbols(difference)):
        return (), False, False
    if operator in ("==", "!="):
        return (Guard(difference, "=="),), True, operator == "!="
    if operator[0] == "<":
        difference = -difference
    return (Guard(difference if operator.endswith("=") else v.subtract(difference, ONE)),), True, False
