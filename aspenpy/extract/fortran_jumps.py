"""Jumps to labels as loops and branches: those that go back make a loop, those that go forward skip what lies between.

Statements are never copied; a jump for which that would be needed stays a `goto` (Peterson, Kasami and Tokura, "On the
capabilities of while, repeat, and exit statements", CACM 16, 1973).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aspenpy.extract import records as r
from aspenpy.language.source import Span
from aspenpy.record import Record


class Labelled(Record):
    """The records of one statement of the source, with its label, 0 without one."""

    label: int
    statements: tuple[r.Statement, ...]


def goto(label: int, span: Span | None) -> r.Jump:
    return r.Jump("goto", r.Constant(label, r.Type("integer", 4)), span)


def structure_jumps(entries: Sequence[Labelled]) -> list[r.Statement]:
    """Statements with their jumps as loops and branches, as far as these tell them."""
    statements: list[r.Statement] = []
    at = 0
    while at < len(entries):
        entry = entries[at]
        back = _find_return(entries, at) if entry.label else None
        if back is not None:
            statements.append(_make_loop(entries[at : back + 1], [one.label for one in entries[back + 1 :]]))
            at = back + 1
            continue
        ahead, whole = _find_skip(entries, at), r.CompoundStatement(entry.statements)
        if ahead is not None and _skip(whole, entries[ahead].label, []) is not None:
            rest = structure_jumps(entries[at + 1 : ahead])
            skipped = _skip(whole, entries[ahead].label, rest)
            assert skipped is not None
            statements.append(skipped)
            at = ahead
            continue
        behind = {entries[at + 1].label} - {0} if at + 1 < len(entries) else set[int]()
        statements += (_leave_loop(statement, behind) for statement in entry.statements)
        at += 1
    return statements


def _find_return(entries: Sequence[Labelled], at: int) -> int | None:
    """The last statement that jumps back to the one at a place."""
    label = entries[at].label
    places = (
        place for place in range(len(entries) - 1, at - 1, -1) if _jump_condition(entries[place], label) is not None
    )
    return next(places, None)


def _jump_condition(entry: Labelled, label: int) -> r.Expression | bool | None:
    """The condition on which a statement does nothing but jump to a label, true without one; None for others."""
    match entry.statements[-1:]:
        case (r.Jump() as jump,) if _target(jump) == label:
            return True
        case (r.Branch(condition=condition, then=then, otherwise=None),) if _target(_only(then)) == label:
            return condition
    return None


def _make_loop(entries: Sequence[Labelled], behind: Sequence[int]) -> r.Statement:
    *body, last = entries
    condition = _jump_condition(last, entries[0].label)
    before = Labelled(last.label if body else 0, last.statements[:-1])
    first = [body[0].replace(label=0), *body[1:]] if body else []
    statements = [_break_to(statement, behind[:1], behind[1:]) for statement in structure_jumps([*first, before])]
    span = last.statements[-1].span
    test = condition if not isinstance(condition, bool) else None
    return r.LoopStatement(None, test, None, r.CompoundStatement(tuple(statements)), test is None, span=span)


def _break_to(statement: r.Statement, labels: Collection[int], beyond: Collection[int] = ()) -> r.Statement:
    """A statement of a loop whose jumps to labels behind it leave it; those to labels `beyond` skip more than that."""
    match statement:
        case r.Jump() if (target := _target(statement)) in {*labels, *beyond} - {0}:
            return r.Jump("break", None, statement.span) if target in labels else statement.replace(leaves=True)
        case r.CompoundStatement(statements=parts):
            return statement.replace(statements=tuple(_break_to(part, labels, beyond) for part in parts))
        case r.Branch(then=then, otherwise=otherwise):
            other = None if otherwise is None else _break_to(otherwise, labels, beyond)
            return statement.replace(then=_break_to(then, labels, beyond), otherwise=other)
    return statement


def _leave_loop(statement: r.Statement, labels: set[int]) -> r.Statement:
    """A loop whose jumps to the statement behind it leave it."""
    if isinstance(statement, r.LoopStatement) and labels:
        return statement.replace(body=_break_to(statement.body, labels))
    return statement


def _find_skip(entries: Sequence[Labelled], at: int) -> int | None:
    """The nearest statement behind that the one at a place jumps to."""
    targets = {label for statement in entries[at].statements for label in _targets(statement)}
    return (
        next((place for place in range(at + 1, len(entries)) if entries[place].label in targets), None)
        if targets
        else None
    )


def _skip(statement: r.Statement, label: int, rest: list[r.Statement]) -> r.Statement | None:
    """A statement that jumps ahead or goes on with the `rest`; None where the rest would be needed twice."""
    match statement:
        case r.Jump() if _target(statement) == label:
            return r.CompoundStatement(())
        case r.CompoundStatement(statements=(*before, last)):
            if any(label in _targets(part) for part in before):
                return None
            inner = _skip(last, label, rest)
            return None if inner is None else r.CompoundStatement((*before, inner))
        case r.Branch(then=then, otherwise=otherwise):
            sides = [then, otherwise or r.CompoundStatement(())]
            jumping = [label in _targets(side) for side in sides]
            if all(jumping):
                return None
            place = jumping.index(True)
            skipped = _skip(sides[place], label, [])
            if skipped is None or not _always_jumps(sides[place]):
                return None
            other = r.CompoundStatement((sides[1 - place], *rest))
            pair = (skipped, other) if place == 0 else (other, skipped)
            return statement.replace(then=pair[0], otherwise=pair[1])
    return None


def _always_jumps(statement: r.Statement) -> bool:
    match statement:
        case r.Jump():
            return True
        case r.CompoundStatement(statements=(*_, last)):
            return _always_jumps(last)
    return False


def _targets(statement: r.Statement | None) -> set[int]:
    """The labels that a statement may jump to."""
    match statement:
        case r.Jump():
            return {target} if (target := _target(statement)) else set()
        case r.CompoundStatement(statements=parts):
            return set().union(*(_targets(part) for part in parts))
        case r.Branch(then=then, otherwise=otherwise):
            return _targets(then) | _targets(otherwise)
    return set()


def _target(statement: r.Statement | None) -> int:
    match statement:
        case r.Jump(kind="goto", value=r.Constant(value=int(label))):
            return label
    return 0


def _only(statement: r.Statement) -> r.Statement:
    while isinstance(statement, r.CompoundStatement) and len(statement.statements) == 1:
        statement = statement.statements[0]
    return statement
