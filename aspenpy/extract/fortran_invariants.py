"""Arithmetic that is the same in all passes of a `do` loop: computed once in front of it.

GCC moves arithmetic out of a loop that is executed in each pass (Muchnick, Advanced Compiler Design and Implementation,
1997, section 13.2); a Fortran loop tests its count before it begins, so that this is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aspenpy.extract import records as r
from aspenpy.extract.effects import find_changes, walk_records
from aspenpy.extract.library_functions import EXTREMES, FREE, PURE, SQUARE_ROOTS
from aspenpy.extract.places import root_variable

INVARIANT = "invariant"
"""The name of the variables that are made. What was moved out of one loop stays in the one around it: whether the inner
loop runs at all is not known there."""

CONSTANT_CALLS = PURE | SQUARE_ROOTS | EXTREMES.keys() | FREE
"""Functions whose value follows from their arguments."""

Make = Callable[[str, r.Type], r.Variable]

MakeNamed = Callable[[r.Type], r.Variable]


def hoist_invariants(
    body: r.CompoundStatement, counter: r.Expression, make_variable: Make, runs: bool
) -> tuple[list[r.Statement], r.CompoundStatement]:
    """The declarations of values that a loop's body computes alike in each pass, and the body that uses them. Those of
    a loop that `runs` at least once may leave the loop around it, too."""
    name = f"{INVARIANT} of all" if runs else INVARIANT
    return _Invariants(body, counter, partial(make_variable, name)).hoist(body)


class _Invariants:
    def __init__(self, body: r.CompoundStatement, counter: r.Expression, make_variable: MakeNamed) -> None:
        self.make_variable = make_variable
        self.hoisted: list[r.Statement] = []
        self.changed = {*find_changes([body]).variables, *([counter.key] if isinstance(counter, r.Variable) else [])}
        nodes = list(walk_records(body))
        self.stored = {root_variable(node.target) for node in nodes if isinstance(node, r.Assignment)}
        self.stored |= {node.variable.key for node in nodes if isinstance(node, r.Declaration)}
        self.has_calls = any(isinstance(node, r.Call) and node.name not in CONSTANT_CALLS for node in nodes)

    def hoist(self, body: r.CompoundStatement) -> tuple[list[r.Statement], r.CompoundStatement]:
        statements: list[r.Statement] = []
        for statement in body.statements:
            match statement:
                case r.CompoundStatement():
                    statement = self.hoist(statement)[1]
                case r.ExpressionStatement(value=r.Assignment() as node):
                    statement = statement.replace(value=node.replace(value=self._replace(node.value)))
                case r.Declaration(value=r.Field() as value, variable=variable) if self._is_fixed(value):
                    self.changed.discard(variable.key)  # such as half of a complex number
                    self.stored.discard(variable.key)
                    self.hoisted.append(statement)
                    continue
                case r.Declaration(value=value, variable=variable) if value is not None and variable.name != INVARIANT:
                    statement = statement.replace(value=self._replace(value))
                case r.Branch(condition=condition):
                    statement = statement.replace(condition=self._replace(condition))
                case r.Jump():
                    at = next(at for at, each in enumerate(body.statements) if each is statement)
                    return self.hoisted, body.replace(statements=(*statements, *body.statements[at:]))
            statements.append(statement)
        return self.hoisted, body.replace(statements=tuple(statements))

    def _replace(self, node: r.Expression) -> r.Expression:
        """An expression with variables in place of its largest parts that do not change."""
        if isinstance(node, r.Operation | r.Call | r.Conversion) and node.type.kind == "real" and self._is_fixed(node):
            kept = self.make_variable(node.type)
            self.hoisted.append(r.Declaration(kept, node, span=node.span))
            return kept
        if isinstance(node, r.Operation) and node.operator not in ("&&", "||"):
            return node.replace(operands=tuple(map(self._replace, node.operands)))
        if isinstance(node, r.Call) and node.name in CONSTANT_CALLS:
            return node.replace(arguments=tuple(map(self._replace, node.arguments)))
        return node.replace(operand=self._replace(node.operand)) if isinstance(node, r.Conversion) else node

    def _is_fixed(self, node: r.Expression) -> bool:
        """Whether nothing in the loop changes the value of an expression, and to compute it costs anything."""
        is_plain = True
        for part in walk_records(node):
            if isinstance(part, r.Call) and part.name not in CONSTANT_CALLS:
                return False
            if isinstance(part, r.Variable) and (part.key in self.changed or part.key in self.stored):
                return False
            if isinstance(part, r.Element | r.Field) and (self.has_calls or root_variable(part) in self.stored):
                return False
            if isinstance(part, r.Selection | r.Assignment | r.Several | r.Address):
                return False
            is_plain = is_plain and not isinstance(part, r.Variable)
        return not is_plain
