"""Guesses: how often a condition on data holds, where nothing counts it.

The heuristics of Ball and Larus, "Branch prediction for free", PLDI 1993, with the rates at which they hit in Wu and
Larus, "Static branch frequency and program profile analysis", MICRO 1994, table 1; several that apply are combined by
Dempster and Shafer's rule, as there (section 3.2). A way that ends the program is never taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from fractions import Fraction

from aspenpy.extract import records as r
from aspenpy.extract.assigned import ends, every

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
