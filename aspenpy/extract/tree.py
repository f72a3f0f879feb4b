"""Cursors of libclang become the records of a program: its functions and global variables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.front_end import Reading
from aspenpy.extract.pointers import pointed, resolved
from aspenpy.extract.tree_calls import built
from aspenpy.extract.tree_expressions import FUNCTIONS
from aspenpy.extract.tree_statements import Statements
from aspenpy.extract.tree_templates import NO_INSTANCE
from aspenpy.extract.tree_types import REFERENCES
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span

MOST_INSTANCES = 1000
"""Functions that are made of templates."""

_SCOPES = frozenset("NAMESPACE LINKAGE_SPEC CLASS_DECL STRUCT_DECL CLASS_TEMPLATE UNION_DECL UNEXPOSED_DECL".split())


class Tree(Statements):
    """The records of one translation unit."""

    def program(self) -> r.Program:
        functions: list[r.Function] = []
        globals_: list[r.Declaration] = []
        initial: list[r.Statement] = []
        waiting = list(reversed(self._children(self.reading.unit.cursor)))
        while waiting:
            cursor = waiting.pop()
            if not self.reading.is_users(cursor.location):
                continue
            kind = cursor.kind.name
            if kind in FUNCTIONS and cursor.is_definition():
                function = self._function(cursor)
                functions += [function] if function else []
            elif kind == "VAR_DECL":
                declared = self._declared(cursor)
                globals_ += (item for item in declared if isinstance(item, r.Declaration))
                initial += (item for item in declared if isinstance(item, r.Evaluation))
            elif kind in _SCOPES:
                waiting += reversed(self._children(cursor))
        functions += [*self._instances(), *self.made.values()]
        targets = pointed(functions, [*globals_, *initial])
        names = {function.key: function.name for function in functions}
        if targets:
            functions = [function.replace(body=resolved(function.body, targets, names)) for function in functions]
        return r.Program(
            self.reading.text.source,
            tuple(functions),
            tuple(globals_),
            tuple(self.used.values()),
            frozenset(self.ending),
            targets,
        )

    def _instances(self) -> Iterator[r.Function]:
        """The functions that templates become in calls, and in the calls of those."""
        done: set[str] = set()
        while left := self.instances.keys() - done:
            for key in sorted(left)[:MOST_INSTANCES]:
                done.add(key)
                template, self.instance = self.instances[key]
                function = self._function(template.get_definition() or template)
                self.instance = NO_INSTANCE
                if function is not None:
                    yield function.replace(key=key)
            if len(done) > MOST_INSTANCES:
                return

    def _function(self, cursor: Any) -> r.Function | None:
        children = self._children(cursor)
        bodies = [child for child in children if child.kind.name in ("COMPOUND_STMT", "CXX_TRY_STMT")]
        if not bodies:
            return None
        text = self.reading.text_of(cursor.location.file)
        formals = [self._variable(child) for child in children if child.kind.name == "PARM_DECL"]
        if cursor.kind.name in ("CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR") and not cursor.is_static_method():
            formals.insert(0, self._this(cursor))
        start = cursor.extent.start.offset
        at = text.characters(start) if text else 0
        name = self.reading.span(cursor)
        name = name and Span(name.source, *self._word(name, cursor.spelling))
        return r.Function(
            cursor.get_usr() or f"{cursor.spelling}@{start}",
            cursor.spelling,
            tuple(formals),
            self._initialised(cursor, children, self.statement(bodies[-1])),
            text.comment_above(at) if text else "",
            text.pragmas_above(at) if text else (),
            cursor.result_type.get_canonical().kind.name in REFERENCES,
            name,
        )

    def _initialised(self, cursor: Any, children: list[Any], body: r.Statement) -> r.Statement:
        """A constructor's body, behind what its initialisers assign."""
        if cursor.kind.name != "CONSTRUCTOR":
            return body
        found: list[r.Statement] = []
        for member, value in itertools.pairwise(children):
            if member.kind.name == "MEMBER_REF" and value.kind.is_expression():
                field = self._field(member.referenced, self._this(cursor), member)
                given = self.expression(value)
                call = built(given, field)
                if call is not None:
                    found.append(r.Evaluation(call, field.span))
                    continue
                found.append(r.Evaluation(r.Assignment("", field, given, field.type, span=field.span), field.span))
        return r.Block((*found, body), body.span)

    @staticmethod
    def _word(span: Span, word: str) -> tuple[int, int]:
        match = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(span.source.text, span.start, span.end)
        return match.span() if match else (span.start, span.start + 1)


def program(reading: Reading) -> tuple[r.Program, list[Diagnostic]]:
    """The records of what libclang has read, and what it said."""
    tree = Tree(reading)
    try:
        found = tree.program()
    except RecursionError:
        where = Span(reading.text.source, 0, 1)
        tree.diagnostics.append(warning("nested", "the program is nested too deeply to be read", where))
        found = r.Program(reading.text.source, (), (), ())
    return found, [*reading.diagnostics, *tree.diagnostics]
