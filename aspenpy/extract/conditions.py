"""Conditions of a program: guards on counters and sizes, as far as they can be said so."""

from __future__ import annotations

from collections.abc import Iterator, Set
from fractions import Fraction

from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Choice, Guard, Nest, Place
from aspenpy.extract.count import Counter
from aspenpy.extract.effects import ends, every
from aspenpy.extract.evaluate import COMPARISONS, Evaluator
from aspenpy.extract.places import Target
from aspenpy.extract.scope import Known, Names, Real
from aspenpy.extract.values import ONE, Value
from aspenpy.language.source import Span


class Conditions(Evaluator):
    """Evaluates conditions."""

    def __init__(self, names: Names, program: r.Program) -> None:
        super().__init__(names, program)
        self.nests: list[Nest] = []

    def store(self, there: Target | None, value: Known, span: Span | None) -> None:
        """A store; what the pointers in an array point at is taken down in all."""
        super().store(there, value, span)
        offset = there.place.offset if there is not None and there.place is not None else None
        if there is None or there.place is None or offset is None or not isinstance(value, Place):
            return
        volume = self.names.arrays[value.array].volume
        if volume is not None and v.counters(offset):
            for nest in self.nests:
                if v.depends(offset, nest.counter):
                    volume = v.times(volume, nest.bounds[0])
            if not v.counters(volume):
                self.names.pointed.setdefault(there.place.array, volume)

    def condition(self, node: r.Expression) -> tuple[tuple[Guard, ...], bool, bool]:
        """Evaluates a condition. Gives guards that hold where it does, whether they say all of it, and whether the
        condition is that they do not all hold."""
        if isinstance(node, r.Operation) and node.operator == "not":
            guards, whole, negated = self.condition(node.operands[0])
            return (guards, True, not negated) if whole else ((), False, False)
        if isinstance(node, r.Operation) and node.operator in ("&&", "||"):
            return self._both(node)
        if (
            isinstance(node, r.Operation)
            and node.operator in COMPARISONS
            and all(part.type.kind == "integer" for part in node.operands)
        ):
            left, right = map(self.whole, node.operands)
            self._arithmetic("integer", node.type, node.span)
            return _guard(node.operator, v.minus(left, right))
        found = self.value(node)
        if isinstance(found, Place):  # memory that is known to be there
            return (), True, False
        if found is not None and not isinstance(found, Real) and (known := v.number(found)) is not None:
            return ((Guard(v.minus(found, found) if known else -ONE),), True, False)
        if found is not None and not isinstance(found, Real) and (truth := self._truth(found)) is not None:
            return _guard(*truth)
        return (), False, False

    def decided(self, guards: tuple[Guard, ...]) -> bool | None:
        """Whether conditions always hold in the loops under way, or never."""
        known = [self._always(guard) for guard in guards]
        return True if all(known) else False if False in known else None

    def _always(self, guard: Guard) -> bool | None:
        counter = Counter()
        if guard.operator == "==":
            difference = v.number(guard.value)
            if difference is not None:
                return difference == 0
            signs = (guard.value, -guard.value)
            return False if any(counter.certain(v.minus(side, ONE), self.nests, ()) for side in signs) else None
        if counter.certain(guard.value, self.nests, ()):
            return True
        return False if counter.certain(v.minus(-guard.value, ONE), self.nests, ()) else None

    def _both(self, node: r.Operation) -> tuple[tuple[Guard, ...], bool, bool]:
        first, whole, negated = self.condition(node.operands[0])
        held, self.out = self.out, []
        second, second_whole, second_negated = self.condition(node.operands[1])
        inner, self.out = self.out, held
        known = self.decided(first) if whole and first else None
        if known is not None:
            if (known != negated) == (node.operator == "||"):
                return first, True, negated
            self.out += inner
            return second, second_whole, second_negated
        decided = whole and first and negated != (node.operator == "&&")
        if inner and decided:
            self.out.append(Choice(first, None, *((inner, []) if not negated else ([], inner))))
        else:
            self.out += inner
        if node.operator == "||":
            first, negated = _negated(first, negated)
            second, second_negated = _negated(second, second_negated)
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


def _negated(guards: tuple[Guard, ...], negated: bool) -> tuple[tuple[Guard, ...], bool]:
    """The opposite, as guards where one guard says it."""
    if len(guards) == 1 and guards[0].operator == ">=" and not negated:
        return (Guard(v.minus(-guards[0].value, ONE)),), False
    return guards, not negated


def _guard(operator: str, difference: Value) -> tuple[tuple[Guard, ...], bool, bool]:
    """The guard of `difference operator 0`."""
    if any(symbol.payload[1] == "unknown" for symbol in v.symbols(difference)):
        return (), False, False
    if operator in ("==", "!="):
        return (Guard(difference, "=="),), True, operator == "!="
    if operator[0] == "<":
        difference = -difference
    return (Guard(difference if operator.endswith("=") else v.minus(difference, ONE)),), True, False


# Guesses: how often a condition on data holds, where nothing counts it. The heuristics of Ball and Larus, "Branch
# prediction for free", PLDI 1993, with the rates at which they hit in Wu and Larus, "Static branch frequency and
# program profile analysis", MICRO 1994, table 1; several that apply are combined by Dempster and Shafer's rule, as
# there (section 3.2). A way that ends the program is never taken.


HALF = Fraction(1, 2)

POINTER, OPCODE, LOOP_HEADER, CALL, STORE, RETURN = (Fraction(rate, 100) for rate in (60, 84, 75, 78, 55, 72))
"""How often a way is taken or, for calls, stores and returns, is not."""

ENDING = frozenset("exit _exit _Exit quick_exit abort __assert_fail terminate throw MPI_Abort".split())
"""Functions that end the program."""

PRINTING = frozenset("printf fprintf puts putchar fputs perror operator<<".split())


def is_failure(node: r.Statement | None, ending: Set[str] = frozenset()) -> bool:
    """Whether a way ends the program: what is never taken in a run that counts. `ending` are the keys of the program's
    functions that never return."""
    if isinstance(node, r.Block):
        return any(is_failure(inner, ending) for inner in node.statements)
    if isinstance(node, r.Branch):
        return is_failure(node.then, ending) and is_failure(node.otherwise, ending)
    value = node.value if isinstance(node, r.Evaluation) else None
    return isinstance(value, r.Call) and (value.name in ENDING or value.key in ending)


def endings(program: r.Program) -> frozenset[str]:
    """The functions of a program that never return: those that say so, and those that always call such."""
    found, before = set(program.ending), -1
    while len(found) > before:
        before = len(found)
        found |= {function.key for function in program.functions if _always_ends(function, found)}
    return frozenset(found)


def _always_ends(function: r.Function, ending: Set[str]) -> bool:
    """Whether a function ends the program wherever it is not left before."""
    may_return = any(isinstance(part, r.Jump) and part.kind == "return" for part in every(function.body))
    return function.name != "main" and not may_return and is_failure(function.body, ending)


def guess(node: r.Branch) -> Fraction:
    """How often the condition of a branch on data holds."""
    result = HALF
    for rate in _rates(node):
        result = result * rate / (result * rate + (1 - result) * (1 - rate))
    return result


def _rates(node: r.Branch) -> Iterator[Fraction]:
    condition, is_opposite = node.condition, False
    while isinstance(condition, r.Operation) and condition.operator == "not":
        condition, is_opposite = condition.operands[0], not is_opposite
    rate = _compared(condition)
    if rate is not None:
        yield 1 - rate if is_opposite else rate
    for side, taken in ((node.then, True), (node.otherwise, False)):
        for rate in _way(side):
            yield rate if taken else 1 - rate


def _compared(condition: r.Expression) -> Fraction | None:
    """By the comparison alone: equal, null and negative are rare (opcode, pointer)."""
    if not isinstance(condition, r.Operation) or len(condition.operands) != 2:
        return None
    left, right = condition.operands
    if condition.operator in ("==", "!="):
        rate = POINTER if "pointer" in (left.type.kind, right.type.kind) else OPCODE
        return rate if condition.operator == "!=" else 1 - rate
    if isinstance(right, r.Constant) and right.value == 0 and left.type.kind == "integer":
        return {"<": 1 - OPCODE, "<=": 1 - OPCODE, ">": OPCODE, ">=": OPCODE}.get(condition.operator)
    return None


def _way(side: r.Statement | None) -> Iterator[Fraction]:
    """By what stands on a way: loops are entered, returns and prints are not (loop header, return, call)."""
    if side is None:
        return
    first = side.statements[0] if isinstance(side, r.Block) and side.statements else side
    if isinstance(first, r.Loop):
        yield LOOP_HEADER
    if ends(side) == "return":
        yield 1 - RETURN
    if any(isinstance(part, r.Call) and part.name in PRINTING for part in every(side)):
        yield 1 - CALL
    elif any(isinstance(part, r.Assignment) and isinstance(part.target, r.Element | r.Field) for part in every(side)):
        yield 1 - STORE


def plain(condition: r.Expression) -> tuple[str, bool]:
    """A condition without what is its opposite: `a <= b` is that not `a > b`; and whether it was turned round."""
    if isinstance(condition, r.Operation) and condition.operator == "not":
        text, is_opposite = plain(condition.operands[0])
        return text, not is_opposite
    if isinstance(condition, r.Operation) and condition.operator in _PLAIN:
        sign, is_opposite = _PLAIN[condition.operator]
        sides = [" ".join(part.span.text().split()) if part.span else "" for part in condition.operands]
        return f"{sides[0]} {sign} {sides[-1]}", is_opposite
    return " ".join(condition.span.text().split()) if condition.span is not None else "", False


_PLAIN = {"<": ("<", False), ">=": ("<", True), ">": (">", False), "<=": (">", True), "==": ("==", False)} | {
    "!=": ("==", True)
}
