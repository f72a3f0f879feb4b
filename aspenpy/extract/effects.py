"""Effects of statements: what they may change, where they may be left, what pointers may point at; from records alone.

A pointer may point at the members of structures whose address a program takes: to all others only what names them
stores (field-sensitive analysis with addresses taken; Andersen, "Program analysis and specialization for the C
programming language", DIKU 1994, section 4). A pointer to functions may point at those that the program assigns to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.library_functions import COMPARING, INPUT, RESIZING
from aspenpy.language.source import Span
from aspenpy.record import Record


class Changes(Record):
    """Changes by a loop's body: variables it assigns to, those among them that it counts on from pass to pass, names of
    fields and arrays that it stores whole numbers and pointers to, and functions it calls."""

    variables: frozenset[str]
    counted: frozenset[str]
    stored: frozenset[str]
    calls: frozenset[str]


_TOLD = frozenset({"span", "type", "variable", "key", "name", "operator", "scope", "comment", "kind"})


def child_records(node: Any) -> Iterator[Any]:
    """Records directly inside a record."""
    for field in _record_fields(node._fields):
        inside = getattr(node, field)
        if isinstance(inside, tuple):
            yield from (part for part in inside if isinstance(part, Record))
        elif isinstance(inside, Record):
            yield inside


@cache
def _record_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the fields of a record that may hold other records."""
    return tuple(field for field in fields if field not in _TOLD)


def walk_records(node: Any) -> Iterator[Any]:
    """A record and all records inside it, in the order of the source."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(list(child_records(current))))


def find_changes(nodes: list[Any], references: Mapping[str, frozenset[str]] | None = None) -> Changes:
    """Finds what some statements may change; `references` are the names of what functions return references to."""
    variables, counted, stored, calls = set[str](), set[str](), set[str](), set[str]()
    for node in (inner for outer in nodes for inner in walk_records(outer)):
        if isinstance(node, r.Assignment):
            target = _strip_conversions(node.target)
            if isinstance(target, r.Variable):
                variables.add(target.key)
                is_counted = target.type.kind != "real" and (node.operator or _has_variable(node.value, target.key))
                if is_counted:
                    counted.add(target.key)
            is_own = isinstance(target, r.Variable) and target.scope != "global" and not target.is_reference
            if not is_own and (target.type.kind in ("integer", "pointer", "record") or isinstance(target, r.Field)):
                stored |= set(stored_names(target, references or {}))
            if isinstance(target, r.Field):
                variables.add(_member_path(target))
        elif isinstance(node, r.Declaration):
            variables.add(node.variable.key)
        elif isinstance(node, r.Address):
            target = _strip_conversions(node.operand)
            if isinstance(target, r.Variable):
                variables.add(target.key)
        elif isinstance(node, r.Call):
            calls |= {node.key, *list_comparators(node)}
            if node.name == INPUT:
                for part in node.arguments:
                    stored |= set(stored_names(part.operand if isinstance(part, r.Address) else part, references or {}))
            if node.name in RESIZING and node.arguments:
                stored |= {
                    f"{name}.size" for name in stored_names(_strip_conversions(node.arguments[0]), references or {})
                }
    return Changes(frozenset(variables), frozenset(counted), frozenset(stored), frozenset(calls))


def list_comparators(node: r.Call) -> list[str]:
    """The keys of the functions by which a function of a library compares elements, a lambda among them."""
    given = [_strip_conversions(part) for part in node.arguments] if node.name in COMPARING else []
    given = [_strip_conversions(part.operand) if isinstance(part, r.Address) else part for part in given]
    named = [part.key for part in given if isinstance(part, r.Routine)]
    return named + [part.type.name for part in given if part.type.name.startswith(r.LAMBDA)]


def find_effects(functions: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Names that each function, or those that it calls, stores whole numbers and pointers to; calls of library
    functions are `call NAME`."""
    references = find_references(functions)
    own = {key: find_changes([function.body], references) for key, function in functions.items()}
    stored = {key: set(change.stored) for key, change in own.items()}
    for key, change in own.items():
        stored[key] |= {f"call {call}" for call in change.calls if call not in functions}
    for _ in own:
        before = {key: len(names) for key, names in stored.items()}
        for key, change in own.items():
            for call in change.calls & stored.keys():
                stored[key] |= stored[call]
        if before == {key: len(names) for key, names in stored.items()}:
            break
    return {key: frozenset(names) for key, names in stored.items()}


def _strip_conversions(node: r.Expression) -> r.Expression:
    while isinstance(node, r.Conversion):
        node = node.operand
    return node


def _member_path(node: r.Expression) -> str:
    if isinstance(node, r.Field):
        return f"{_member_path(node.base)}.{node.name}"
    return node.key if isinstance(node, r.Variable) else ""


def find_references(functions: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Names of what each function that returns a reference may return."""
    references: dict[str, frozenset[str]] = {}
    for key, function in functions.items():
        if function.by_reference:
            values = [
                node.value
                for node in walk_records(function.body)
                if isinstance(node, r.Jump) and node.value is not None
            ]
            references[key] = frozenset(name for value in values for name in stored_names(value, {}))
    return references


def stored_names(node: r.Expression, references: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Names of the member, variable or array that is stored to; `*` where it has none. A name behind `=` is that of the
    member or variable itself, not of what it points at."""
    is_itself = True
    while True:
        if isinstance(node, r.Field | r.Variable):
            yield node.name
            if is_itself:
                yield f"={node.name}"
            return
        if isinstance(node, r.Element):
            node, is_itself = node.base, False
        elif isinstance(node, r.Conversion):
            node = node.operand
        else:
            key = node.key if isinstance(node, r.Call) else ""
            names = references.get(key, ("*",))
            yield from (name for name in names if is_itself or not name.startswith("="))
            return


def _has_variable(node: r.Expression, key: str) -> bool:
    return any(isinstance(part, r.Variable) and part.key == key for part in walk_records(node))


def has_exit(body: r.Statement, is_loop: bool = True) -> bool:
    """Whether a loop may end early: by a `break` of its own, a `return` or a `goto`."""
    if isinstance(body, r.Jump):
        return body.kind in ("return", "goto") or (is_loop and body.kind == "break")
    if isinstance(body, r.CompoundStatement):
        return any(has_exit(inner, is_loop) for inner in body.statements)
    if isinstance(body, r.Branch):
        return has_exit(body.then, is_loop) or (body.otherwise is not None and has_exit(body.otherwise, is_loop))
    if isinstance(body, r.Switch):
        return any(has_exit(case, False) for case in body.cases)
    return isinstance(body, r.LoopStatement) and has_exit(body.body, False)


def has_own_jump(body: r.Statement | None) -> bool:
    """Whether a `break` or `continue` in a body belongs to the loop around it."""
    if isinstance(body, r.Jump):
        return body.kind in ("break", "continue")
    if isinstance(body, r.Branch):
        return has_own_jump(body.then) or has_own_jump(body.otherwise)
    parts = (
        body.statements if isinstance(body, r.CompoundStatement) else body.cases if isinstance(body, r.Switch) else ()
    )
    return any(map(has_own_jump, parts))


def way_behind(node: r.Statement) -> Span | None:
    """A name for the way from a loop, branch or switch to what follows it, where jumps may leave it for other places:
    from its head into the first such jump. None where there are none, or where a `goto` may lead anywhere."""
    jumps = list_leaving(node)
    if isinstance(node, r.Jump | r.CompoundStatement) or not jumps or any(jump.kind == "goto" for jump in jumps):
        return None
    head, jump = node.span, jumps[0].span
    if head is None or jump is None:
        return None
    return Span(head.source, head.start, jump.end - 1)  # inside the jump, where no statement ends


def list_leaving(node: r.Statement | None) -> list[r.Jump]:
    """The jumps that may lead out of a statement."""
    return list(_list_leaving(node, frozenset(("return", "break", "continue", "goto"))))


def _list_leaving(node: r.Statement | None, kinds: frozenset[str]) -> Iterator[r.Jump]:
    """The jumps of some kinds that lead out of a statement."""
    if isinstance(node, r.Jump) and node.kind in kinds:
        yield node
    elif isinstance(node, r.LoopStatement):
        yield from _list_leaving(node.body, kinds - {"break", "continue"})
    parts: tuple[r.Statement | None, ...] = ()
    if isinstance(node, r.CompoundStatement):
        parts = node.statements
    elif isinstance(node, r.Branch):
        parts = node.then, node.otherwise
    elif isinstance(node, r.Switch):
        parts, kinds = node.cases, kinds - {"break"}
    for part in parts:
        yield from _list_leaving(part, kinds)


def final_jump(body: r.Statement | None) -> str | None:
    """The jump with which a statement always ends."""
    if isinstance(body, r.Jump):
        return body.kind
    if isinstance(body, r.CompoundStatement) and body.statements:
        return final_jump(body.statements[-1])
    return None


class PartCondition(Record):
    """A condition that decides whether another part of an expression is computed, and a name for its outcome that no
    expression has: from the condition to where that part begins, nothing where a macro gives both one place."""

    condition: r.Expression
    place: Span | None


def find_part_condition(node: Any) -> PartCondition | None:
    """The condition of `?:`, or the first part of `&&` or `||`; None for other records."""
    if isinstance(node, r.Selection):
        condition, behind = node.condition, node.chosen
    elif isinstance(node, r.Operation) and node.operator in ("&&", "||"):
        condition, behind = node.operands
    else:
        return None
    first, second = condition.span, behind.span
    if first is None or second is None:
        return PartCondition(condition, None)
    return PartCondition(condition, Span(first.source, first.start, max(first.start, second.start)))


def has_record(body: Any, test: Callable[[Any], bool]) -> bool:
    return any(test(node) for node in walk_records(body))


# -- members whose address is taken ----------------------------------------------------------------


def find_exposed_members(functions: Mapping[str, Any], references: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Names of members whose address is taken, or that a reference other than a function's result refers to;
    `references` are the names of what functions return references to."""
    members: set[str] = set()
    for function in functions.values():
        for node in walk_records(function.body):
            for part in _list_references(node, functions):
                members |= {name[1:] for name in stored_names(part, references) if name.startswith("=")}
    return frozenset(members)


def _list_references(node: Any, functions: Mapping[str, Any]) -> Iterator[r.Expression]:
    """Expressions whose places are handed on: by address, by reference or as arrays."""
    if isinstance(node, r.Address):
        yield node.operand
    elif isinstance(node, r.Declaration) and node.value is not None and node.variable.type.is_reference:
        yield node.value
    elif isinstance(node, r.Call):
        called = functions.get(node.key)
        for index, part in enumerate(node.arguments):
            formal = called.formals[index] if called is not None and index < len(called.formals) else None
            if (isinstance(part, r.Call) and formal is not None and formal.type.is_reference) or (
                isinstance(part, r.Field) and part.type.kind == "array"
            ):
                yield part


# -- pointers to functions -------------------------------------------------------------------------

POINTED = "*"
"""With what the keys of calls through pointers begin."""


def pointer_key(node: r.Expression) -> str | None:
    """Key of a pointer to functions: its variable, the structure type and member, or the function that returns it."""
    while isinstance(node, r.Conversion | r.Element):
        node = node.operand if isinstance(node, r.Conversion) else node.base
    if isinstance(node, r.Field):
        return f"{node.base.type.name}.{node.name}"
    if isinstance(node, r.Call):
        return f"{node.key}()"
    return node.key if isinstance(node, r.Variable) else None


def resolve_pointers(program: r.Program) -> r.Program:
    """The program with direct calls in place of calls through pointers to one function, and with those that the others
    may mean."""
    pointed = _find_pointer_targets(program) | _find_virtual_targets(program)
    if not pointed:
        return program
    names = {function.key: function.name for function in program.functions}
    functions = (function.replace(body=_resolve_calls(function.body, pointed, names)) for function in program.functions)
    return program.replace(functions=tuple(functions), pointer_targets=pointed)


def _find_pointer_targets(program: r.Program) -> dict[str, tuple[str, ...]]:
    """The keys of the functions that each pointer may point at, by the keys of calls through it."""
    functions = {function.key: function for function in program.functions}
    targets: dict[str, dict[str, None]] = {}
    given = [
        pair
        for node in (*(function.body for function in functions.values()), *program.globals, *program.initialisations)
        for pair in _pointer_assignments(node, functions)
    ]
    for function in functions.values():
        returned = (node.value for node in walk_records(function.body) if isinstance(node, r.Jump))
        given += [(f"{function.key}()", value) for one in returned for value in _possible_values(one)]
    before = -1
    while before < (before := sum(map(len, targets.values()))):
        for to, value in given:
            value = value.operand if isinstance(value, r.Address) else value
            if isinstance(value, r.Routine):
                targets.setdefault(to, {})[value.key] = None
            elif (source := pointer_key(value)) in targets:
                targets.setdefault(to, {}).update(targets[source])
    return {f"{POINTED}{to}": tuple(key for key in keys if key in functions) for to, keys in targets.items()}


def _find_virtual_targets(program: r.Program) -> dict[str, tuple[str, ...]]:
    """The keys of the methods that a call of each virtual method may mean: itself, and all that override it."""
    own_keys = {function.key for function in program.functions}
    targets = {}
    for method in program.overriding:
        reached, waiting = dict.fromkeys([method]), [method]
        while waiting:
            new = [key for key in program.overriding.get(waiting.pop(), ()) if key not in reached]
            reached.update(dict.fromkeys(new))
            waiting += new
        targets[f"{POINTED}{method}"] = tuple(key for key in reached if key in own_keys)
    return targets


def _pointer_assignments(body: Any, known: Mapping[str, r.Function]) -> Iterator[tuple[str, r.Expression]]:
    """Pairs of a pointer and a value that it gets: in assignments, in declarations and as an argument."""
    for node in walk_records(body):
        pairs: list[tuple[r.Expression, r.Expression | None]] = []
        if isinstance(node, r.Assignment):
            pairs = [(node.target, node.value)]
        elif isinstance(node, r.Declaration):
            pairs = [(node.variable, node.value)]
        elif isinstance(node, r.Call) and node.key in known:
            pairs = list(zip(known[node.key].formals, node.arguments, strict=False))
        for target, given in pairs:
            if target.type.kind == "pointer" and (to := pointer_key(target)) is not None:
                yield from ((to, value) for value in _possible_values(given))


def _possible_values(value: r.Expression | None) -> Iterator[r.Expression]:
    """A value without its conversions; of `?:` both."""
    while isinstance(value, r.Conversion):
        value = value.operand
    if isinstance(value, r.Selection):
        yield from _possible_values(value.chosen)
        yield from _possible_values(value.otherwise)
    elif value is not None:
        yield value


def _resolve_calls(node: Any, targets: Mapping[str, tuple[str, ...]], names: Mapping[str, str]) -> Any:
    """The record with direct calls in place of calls through pointers that have one target."""
    changes: dict[str, Any] = {}
    for field in node._fields:
        inside = getattr(node, field)
        if isinstance(inside, tuple) and any(isinstance(part, Record) for part in inside):
            new: Any = tuple(
                _resolve_calls(part, targets, names) if isinstance(part, Record) else part for part in inside
            )
            if any(one is not other for one, other in zip(new, inside, strict=True)):
                changes[field] = new
        elif isinstance(inside, Record) and field not in ("span", "type"):
            new = _resolve_calls(inside, targets, names)
            if new is not inside:
                changes[field] = new
    if isinstance(node, r.Call) and len(targets.get(node.key, ())) == 1:
        (key,) = targets[node.key]
        changes |= {"key": key, "name": names[key]}
    return node.replace(**changes) if changes else node
