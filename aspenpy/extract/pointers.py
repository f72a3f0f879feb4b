"""Pointers to functions: which functions each may point at, by what the program assigns to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.assigned import every
from aspenpy.record import Record

POINTED = "*"
"""With what the keys of calls through pointers begin."""


def pointer_of(node: r.Expression) -> str | None:
    """What tells a pointer to functions apart: the variable that it is, or the member of which structure type."""
    while isinstance(node, r.Conversion | r.Element):
        node = node.operand if isinstance(node, r.Conversion) else node.base
    if isinstance(node, r.Field):
        return f"{node.base.type.name}.{node.name}"
    return node.key if isinstance(node, r.Variable) else None


def pointed(functions: Iterable[r.Function], initial: Iterable[r.Statement]) -> dict[str, tuple[str, ...]]:
    """The keys of the functions that each pointer may point at, by the keys of calls through it."""
    known = {function.key: function for function in functions}
    found: dict[str, dict[str, None]] = {}
    given = [
        pair for node in (*(function.body for function in known.values()), *initial) for pair in _given(node, known)
    ]
    before = -1
    while before < (before := sum(map(len, found.values()))):
        for to, value in given:
            value = value.operand if isinstance(value, r.Address) else value
            if isinstance(value, r.Routine):
                found.setdefault(to, {})[value.key] = None
            elif (source := pointer_of(value)) in found:
                found.setdefault(to, {}).update(found[source])
    return {f"{POINTED}{to}": tuple(key for key in keys if key in known) for to, keys in found.items()}


def _given(body: Any, known: Mapping[str, r.Function]) -> Iterator[tuple[str, r.Expression]]:
    """What pointers get: in assignments, in declarations and as arguments."""
    for node in every(body):
        pairs: list[tuple[r.Expression, r.Expression | None]] = []
        if isinstance(node, r.Assignment):
            pairs = [(node.target, node.value)]
        elif isinstance(node, r.Declaration):
            pairs = [(node.variable, node.value)]
        elif isinstance(node, r.Call) and node.key in known:
            pairs = list(zip(known[node.key].formals, node.arguments, strict=False))
        for target, value in pairs:
            while isinstance(value, r.Conversion):
                value = value.operand
            if value is not None and target.type.kind == "pointer" and (to := pointer_of(target)) is not None:
                yield to, value


def resolved(node: Any, targets: Mapping[str, tuple[str, ...]], names: Mapping[str, str]) -> Any:
    """A record with calls of functions in place of those through pointers that can only point at one."""
    changes: dict[str, Any] = {}
    for field in node._fields:
        inside = getattr(node, field)
        if isinstance(inside, tuple) and any(isinstance(part, Record) for part in inside):
            new: Any = tuple(resolved(part, targets, names) if isinstance(part, Record) else part for part in inside)
            if any(one is not other for one, other in zip(new, inside, strict=True)):
                changes[field] = new
        elif isinstance(inside, Record) and field not in ("span", "type"):
            new = resolved(inside, targets, names)
            if new is not inside:
                changes[field] = new
    if isinstance(node, r.Call) and len(targets.get(node.key, ())) == 1:
        (key,) = targets[node.key]
        changes |= {"key": key, "name": names[key]}
    return node.replace(**changes) if changes else node
