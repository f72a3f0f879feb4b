"""Contents of trees and of statements of any kind, read from the fields of their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, TypeVar

from aspenpy.language import nodes
from aspenpy.language.source import Span
from aspenpy.record import Record

Declared = TypeVar("Declared", bound=nodes.Declaration | nodes.Property)


def declarations_by_name(kind: type[Declared], declarations: Iterable[Record]) -> dict[str, Declared]:
    """The declarations of one kind by name; of two with one name the later holds."""
    return {item.name: item for item in declarations if isinstance(item, kind)}


def is_of_library(span: Span | None) -> bool:
    """Whether that is written in a file of the library."""
    return span is not None and span.resolve().source.in_library is not None


def order_own_last(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Definitions of which the later of two holds, in an order in which it is the one outside of the library."""
    theirs = {(type(item), item.name) for item in items if is_of_library(item.span)}
    last = [(type(item), item.name) in theirs and not is_of_library(item.span) for item in items]
    return (*(item for item, is_last in zip(items, last, strict=True) if not is_last), *compress(items, last))


def walk_nodes(tree: Any) -> Iterator[Record]:
    """A tree of nodes, or a tuple of such, from the top down and in the order written."""
    pending = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, Record):
            yield item
            pending += [getattr(item, field) for field in reversed(fields_of_node(item))]
        elif isinstance(item, tuple):
            pending += reversed(item)


def fields_of_node(node: Record) -> list[str]:
    """The fields of a node that say what it is; where it stands does not."""
    return [field for field in node._fields if not field.endswith("span")]


def walk_statements(statements: tuple[nodes.Statement, ...]) -> Iterator[nodes.Statement]:
    """Some statements and all inside them, in the order written."""
    for statement in statements:
        yield statement
        for body in bodies_of_statement(statement):
            yield from walk_statements(body)


def calls_in_statements(statements: tuple[nodes.Statement, ...]) -> list[nodes.Call]:
    """Every call in some statements, nested ones included, in the order written."""
    return [statement for statement in walk_statements(statements) if isinstance(statement, nodes.Call)]


def bodies_of_statement(statement: nodes.Statement) -> list[tuple[nodes.Statement, ...]]:
    """The blocks inside a statement."""
    if isinstance(statement, _SIMPLE):
        return []
    return [part for part in _walk_parts(statement) if isinstance(part, tuple)]


_SIMPLE = (nodes.Execute, nodes.Call, nodes.Sample)  # statements without blocks, which nearly all of a long model are


def expressions_of_statement(statement: nodes.Statement) -> list[nodes.Expression | nodes.Condition]:
    """The expressions and conditions of a statement itself, those of requirements excluded."""
    return [part for part in _walk_parts(statement) if not isinstance(part, tuple)]


_EXPRESSIONS = (nodes.Expression, nodes.Condition)
_STATEMENTS = (nodes.Statement, nodes.Case)


def _walk_parts(value: Any) -> Iterator[Any]:
    """Expressions as they are, bodies as tuples of statements, in the order of the fields."""
    if isinstance(value, _EXPRESSIONS):
        yield value
    elif isinstance(value, _STATEMENTS):
        for name in value._fields:
            part = getattr(value, name)
            if part is not None and type(part) is not str:
                yield from _walk_parts(part)
    elif isinstance(value, tuple) and value:
        if isinstance(value[0], nodes.Statement):
            yield value
        else:
            for item in value:
                yield from _walk_parts(item)


def own_names(kernel: nodes.Kernel) -> Iterator[tuple[str, str, Span | None]]:
    """Names that a kernel introduces: arguments, parameters, counters, samples."""
    yield from (("argument", formal.name, formal.span) for formal in kernel.formals if formal.kind == "param")
    yield from (
        ("parameter", node.name, node.name_span) for node in kernel.declarations if isinstance(node, nodes.Parameter)
    )
    for statement in walk_statements(kernel.body):
        if isinstance(statement, nodes.Loop | nodes.Execute) and statement.counter is not None:
            yield "counter", statement.counter, statement.span
        elif isinstance(statement, nodes.Sample):
            yield "sample", statement.name, statement.span
