"""Statements of libclang as records, and all functions and global variables of a program.

Which part of `for (;;)` is which is found in the text: libclang leaves out those that are not there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.atomics import make_atomic
from aspenpy.extract.effects import has_own_jump
from aspenpy.extract.front_end import ParsedUnit, evaluate_constant
from aspenpy.extract.matrix_units import read_assembly
from aspenpy.extract.pragmas import (
    KERNELS,
    drop_transfers,
    find_transfer,
    is_atomic,
    offloading_pragma,
    parallel_directive,
    select_device,
    warn_uncounted,
)
from aspenpy.extract.tree_calls import CallReader, construct_in_place
from aspenpy.extract.tree_device import find_launch_bounds, is_for_device, is_kernel
from aspenpy.extract.tree_expressions import FUNCTIONS, is_static
from aspenpy.extract.tree_methods import USES, find_template, is_virtual, write_uses
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import INT, REFERENCES, children_of
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span


class Statements:
    """The statements of one translation unit."""

    def __init__(self, unit: UnitState) -> None:
        self.unit = unit
        self.around = ""  # the pragma of the loops of a block that is offloaded
        self.calls = CallReader(unit, self.read)
        self.expressions = self.calls.expressions
        self._rules: dict[str, Callable[[Any], r.Statement]] = {
            "COMPOUND_STMT": self._read_compound,
            "DECL_STMT": self._read_declarations,
            "NULL_STMT": lambda cursor: r.CompoundStatement(()),
            "FOR_STMT": self._read_for,
            "WHILE_STMT": self._read_while,
            "DO_STMT": self._read_do,
            "CXX_FOR_RANGE_STMT": self._read_range,
            "IF_STMT": self._read_if,
            "SWITCH_STMT": self._read_switch,
            "BREAK_STMT": lambda cursor: r.Jump("break", None, self.unit.span(cursor)),
            "CONTINUE_STMT": lambda cursor: r.Jump("continue", None, self.unit.span(cursor)),
            "GOTO_STMT": lambda cursor: r.Jump("goto", None, self.unit.span(cursor)),
            "RETURN_STMT": self._read_return,
            "LABEL_STMT": self._read_last,
            "CXX_TRY_STMT": lambda cursor: self.read(children_of(cursor)[0]),
            "UNEXPOSED_STMT": self._read_last,
        }

    def read_declaration(self, cursor: Any) -> list[r.Declaration | r.ExpressionStatement]:
        """A variable's declaration; a named constant counts as a macro."""
        variable = self.expressions.read_variable(cursor)
        values = [child for child in children_of(cursor) if child.kind.is_expression()]
        if variable.type.kind == "array":
            values = [child for child in values if child.kind.name == "INIT_LIST_EXPR"]
        if values and self.calls.device and (extents := self.calls.device.declare_extents(variable, values[-1])):
            return extents
        value = self.expressions.read(values[-1]) if values else None
        elements = len(children_of(values[-1])) if values and values[-1].kind.name == "INIT_LIST_EXPR" else None
        if elements is not None and variable.type.kind == "array":
            value = None
            self.unit.tables += self._point_elements(variable, values[-1])
        if elements is not None and variable.type.kind == "record" and variable.type.of is None:
            return self._assign_members(variable, cursor, values[-1])
        call = construct_in_place(value, variable) if value is not None else None
        if call is not None:
            return [r.Declaration(variable, span=variable.span), r.ExpressionStatement(call, variable.span)]
        return [r.Declaration(variable, value, elements, span=variable.span)]

    def _point_elements(self, place: r.Expression, values: Any) -> Iterator[r.ExpressionStatement]:
        """Assignments of the functions that a list gives to an array's elements, and to members of these."""
        if not _holds_functions(values.type):
            return
        fields = list(values.type.get_canonical().get_fields()) if place.type.kind == "record" else []
        names = {field.spelling: field for field in fields}
        for index, part in enumerate(children_of(values)):
            inside = children_of(part)
            is_named = len(inside) > 1 and inside[0].kind.name in ("MEMBER_REF", "INTEGER_LITERAL")
            part = inside[-1] if is_named else part
            if place.type.kind == "record":
                field = names.get(inside[0].spelling) if is_named else fields[index] if index < len(fields) else None
                target: r.Expression | None = field and self.expressions.make_field(field, place, part)
            else:
                of = place.type.of or r.Type("other")
                target = r.Element(place, r.Constant(index, INT), of, span=self.unit.span(part))
            if target is not None and part.kind.name == "INIT_LIST_EXPR":
                yield from self._point_elements(target, part)
            elif target is not None and target.type.kind == "pointer":
                value = self.expressions.read(part)
                if isinstance(value.operand if isinstance(value, r.Address | r.Conversion) else value, r.Routine):
                    yield r.ExpressionStatement(r.assign(target, value, target.span), target.span)

    def _assign_members(
        self, variable: r.Variable, cursor: Any, values: Any
    ) -> list[r.Declaration | r.ExpressionStatement]:
        """Declares a structure and assigns its listed members, by order or by name."""
        found: list[r.Declaration | r.ExpressionStatement] = [r.Declaration(variable, span=variable.span)]
        fields = list(cursor.type.get_canonical().get_fields())
        names = {field.spelling: field for field in fields}
        for index, part in enumerate(children_of(values)):
            inside = children_of(part)
            is_named = len(inside) == 2 and inside[0].kind.name == "MEMBER_REF"
            field = names.get(inside[0].spelling) if is_named else fields[index] if index < len(fields) else None
            if field is None:
                continue
            value = self.expressions.read(inside[1] if is_named else part)
            target = self.expressions.make_field(field, variable, part)
            if target.type.kind in ("integer", "real", "pointer"):
                found.append(r.ExpressionStatement(r.assign(target, value, target.span), target.span))
            else:
                found.append(r.ExpressionStatement(value, target.span))
                self.unit.tables += self._point_elements(target, inside[1] if is_named else part)
        return found

    def read(self, cursor: Any) -> r.Statement:
        """The record of a statement, or of an expression that stands as one."""
        kind = cursor.kind.name
        with self.unit.enter() as is_shallow:
            if not is_shallow:
                return r.Unread("a statement that is nested too deeply", self.unit.span(cursor))
            if kind in self._rules:
                return self._rules[kind](cursor)
            if cursor.kind.is_expression():
                found = r.ExpressionStatement(self.expressions.read(cursor), self.unit.span(cursor))
                if self.unit.has_atomic and is_atomic(self._pragmas_above(cursor)):
                    return make_atomic(found)
                return found if self.calls.device is None else self.unit.launch_graph(found)
        span = self.unit.span(cursor)
        product = read_assembly(span.text()) if kind == "ASM_STMT" and span is not None else None
        if product is not None and self.calls.device is not None:
            return r.ExpressionStatement(self.calls.device.multiply(product, span), span)
        return r.Unread(kind.lower().replace("_", " ").replace(" stmt", ""), span)

    def _read_last(self, cursor: Any) -> r.Statement:
        """The statement that a label or an attribute stands before."""
        children = children_of(cursor)
        return self.read(children[-1]) if children else r.CompoundStatement(())

    def _read_declarations(self, cursor: Any) -> r.Statement:
        variables = [child for child in children_of(cursor) if child.kind.name == "VAR_DECL"]
        kept = (item for child in variables if is_static(child) for item in self.read_declaration(child))
        self.unit.statics += (item for item in kept if isinstance(item, r.Declaration))
        passing = (child for child in variables if not is_static(child))
        found = r.CompoundStatement(tuple(item for child in passing for item in self.read_declaration(child)))
        return found if self.calls.device is None else self.unit.launch_graph(found)

    def _read_return(self, cursor: Any) -> r.Statement:
        children = children_of(cursor)
        return r.Jump("return", self.expressions.read(children[0]) if children else None, self.unit.span(cursor))

    def _read_for(self, cursor: Any) -> r.Statement:
        *parts, body = children_of(cursor)
        start, condition, step = self._parts_of_for(cursor, parts)
        return self._make_loop(cursor, body, start, condition, step)

    def _parts_of_for(self, cursor: Any, parts: list[Any]) -> tuple[Any, Any, Any]:
        """Start, condition and step of a `for`, by the semicolons in the text; None for those that are left out."""
        if len(parts) == 3:
            return parts[0], parts[1], parts[2]
        text = self.unit.reading.find_text(cursor.extent.start.file)
        found: list[Any] = [None, None, None]
        if text is None:
            return None, None, None
        source, at = text.source.text, text.character_offset(cursor.extent.start.offset)
        stops = _find_semicolons(source, at)
        for part in parts:
            place = text.character_offset(self.unit.reading.file_offset(part.location)[1])
            found[sum(stop < place for stop in stops) if len(stops) == 2 else 1] = part
        return found[0], found[1], found[2]

    def _read_compound(self, cursor: Any) -> r.Statement:
        """A block; loops of one below a directive that offloads it are offloaded, too."""
        pragmas = tuple(select_device(self._pragmas_above(cursor)))
        around, self.around = self.around, offloading_pragma(pragmas) or self.around
        statements: list[r.Statement] = []
        at = cursor.extent.start.offset
        for child in children_of(cursor):
            statements += self._read_transfers(cursor, at, child.extent.start.offset)
            statements.append(self.read(child))
            statements = statements if self.calls.device is None else self.unit.capture(statements)
            at = child.extent.end.offset
        statements += self._read_transfers(cursor, at, cursor.extent.end.offset)
        found = r.CompoundStatement(tuple(statements))
        self.around = around
        return found.replace(pragmas=pragmas, span=self.unit.span(cursor)) if pragmas else found

    def _read_transfers(self, cursor: Any, low: int, high: int) -> Iterator[r.Statement]:
        """Directives that stand alone between two places of a file and move data."""
        text = self.unit.reading.find_text(cursor.extent.start.file)
        for pragma, span in text.list_pragmas(low, high) if text is not None else ():
            if find_transfer(pragma, is_fortran=False):
                yield r.CompoundStatement((), span, (pragma,))

    def _make_loop(
        self, cursor: Any, body: Any, start: Any, condition: Any, step: Any, tested_first: bool = True
    ) -> r.Statement:
        """A loop with the pragmas and the comment above it. Its span is that of the head, for `do` that of the word."""
        text = self.unit.reading.find_text(cursor.extent.start.file)
        span = self.unit.span(cursor)
        pragmas: tuple[str, ...] = ()
        comment = ""
        if text is not None and span is not None:
            pragmas = drop_transfers(text.pragmas_above(span.start), is_fortran=False)
            if self.around and (parallel_directive(pragmas) or self.around == KERNELS):
                pragmas = (self.around, *pragmas)
            comment = text.comment_above(span.start)
            head = text.character_offset(body.extent.start.offset)
            shown = head if tested_first and span.start < head else _end_of_macro(span)
            span = Span(span.source, span.start, span.start + len(span.source.text[span.start : shown].rstrip()))
            span = self.unit.distinct_span(cursor, span)
        around, self.around = self.around, "" if self.around == KERNELS else self.around
        with self.unit.enter_loop(span):
            found = self.read(body)
        self.around = around
        return r.LoopStatement(
            start=None if start is None else self.read(start),
            condition=None if condition is None else self.expressions.read(condition),
            step=None if step is None else self.expressions.read(step),
            body=found,
            tested_first=tested_first,
            pragmas=pragmas,
            comment=comment,
            span=span,
        )

    def _read_while(self, cursor: Any) -> r.Statement:
        *_, condition, body = children_of(cursor)
        return self._make_loop(cursor, body, None, condition if condition.kind.is_expression() else None, step=None)

    def _read_do(self, cursor: Any) -> r.Statement:
        body, condition = children_of(cursor)
        if evaluate_constant(condition) == 0:
            inside = self.read(body)
            if not has_own_jump(inside):
                return inside
        return self._make_loop(cursor, body, None, condition, step=None, tested_first=False)

    def _read_range(self, cursor: Any) -> r.Statement:
        """Reads `for (auto& x : container)` as a loop over the container's size."""
        *parts, body = children_of(cursor)
        span = self.unit.span(cursor)
        held = next((part for part in reversed(parts) if part.kind.is_expression()), None)
        if held is None:
            return r.Unread("a loop over a range", span)
        container = self.expressions.read(held)
        variable = next((self.expressions.read_variable(part) for part in parts if part.kind.name == "VAR_DECL"), None)
        index = r.Variable(f"range@{cursor.location.offset}", "element", INT, "local", span=span)
        start = r.Declaration(index, r.Constant(0, INT), span=span)
        size: r.Expression = r.Call("size", "size", (container,), INT, span)
        if container.type.kind == "array" and container.type.extent is not None:
            size = container.type.extent
        condition = r.Operation("<", (index, size), INT, span)
        step = r.assign(index, r.Constant(1, INT), span, operator="+")
        inner = self.read(body)
        if variable is not None:
            is_reference = variable.type.is_reference
            held_type = variable.type.of if is_reference and variable.type.of else variable.type
            element: r.Expression = r.Element(container, index, held_type, span=span)
            value = r.Address(element, variable.type, span) if is_reference else element
            inner = r.CompoundStatement((r.Declaration(variable, value, span=span), inner))
        loop = self._make_loop(cursor, body, None, condition=None, step=None)
        assert isinstance(loop, r.LoopStatement)
        return loop.replace(start=start, condition=condition, step=step, body=inner)

    def _read_if(self, cursor: Any) -> r.Statement:
        children = children_of(cursor)
        start = [self.read(children.pop(0))] if not children[0].kind.is_expression() else []
        condition, then, *rest = children
        branch = r.Branch(
            self.expressions.read(condition),
            self.read(then),
            self.read(rest[0]) if rest else None,
            self._pragmas_above(cursor),
            self.unit.distinct_span(cursor, self.unit.span(condition)),
        )
        return r.CompoundStatement((*start, branch)) if start else branch

    def _pragmas_above(self, cursor: Any) -> tuple[str, ...]:
        text, span = self.unit.reading.find_text(cursor.extent.start.file), self.unit.span(cursor)
        return () if text is None or span is None else text.pragmas_above(span.start)

    def _read_switch(self, cursor: Any) -> r.Statement:
        children = children_of(cursor)
        if len(children) < 2:
            return r.Unread("switch", self.unit.span(cursor))
        cases: list[list[r.Statement]] = []
        exhaustive = False
        for child in children_of(children[-1]):
            while child.kind.name in ("CASE_STMT", "DEFAULT_STMT"):
                fresh = not cases or bool(cases[-1])
                cases += [[]] if fresh else []
                exhaustive = exhaustive or child.kind.name == "DEFAULT_STMT"
                child = children_of(child)[-1]
            if cases:
                cases[-1].append(self.read(child))
        bodies = tuple(r.CompoundStatement(tuple(case)) for case in cases)
        return r.Switch(self.expressions.read(children[-2]), bodies, exhaustive, self.unit.span(children[-2]))


_OUTSIDE_CODE = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""", re.DOTALL)
"""Comments and literals, which may be cut off: what stands in them divides nothing."""


def _find_semicolons(text: str, at: int) -> list[int]:
    """Offsets of the semicolons in the parentheses that open behind an offset."""
    code = _OUTSIDE_CODE.sub(lambda found: " " * len(found[0]), text[at : at + 4000])
    depth, stops = 0, list[int]()
    for index in range(max(0, code.find("(")), len(code)):
        char = code[index]
        depth += (char in "([{") - (char in ")]}")
        if char == ";" and depth == 1:
            stops.append(at + index)
        if depth == 0:
            break
    return stops


MOST_INSTANCES = 1000
"""Functions that are made of templates."""

_SCOPES = frozenset("NAMESPACE LINKAGE_SPEC CLASS_DECL STRUCT_DECL CLASS_TEMPLATE UNION_DECL UNEXPOSED_DECL".split())


def _holds_functions(type: Any) -> bool:
    """Whether an array or a structure has pointers to functions, at any depth."""
    type = type.get_canonical()
    kind = type.kind.name
    if kind in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        return _holds_functions(type.element_type)
    if kind == "RECORD":
        return any(_holds_functions(field.type) for field in type.get_fields())
    return kind == "POINTER" and type.get_pointee().kind.name in ("FUNCTIONPROTO", "FUNCTIONNOPROTO")


class UnitReader:
    """The records of one translation unit."""

    def __init__(self, reading: ParsedUnit, macros: dict[str, r.Macro]) -> None:
        self.unit = UnitState(reading, macros)
        self.statements = Statements(self.unit)
        self.expressions = self.statements.expressions

    def read_program(self) -> r.Program:
        """All functions and global variables of the user's files, templates as calls make them."""
        functions: list[r.Function] = []
        global_variables: list[r.Declaration] = []
        initial: list[r.Statement] = []
        templates: list[Any] = []
        waiting = list(reversed(children_of(self.unit.reading.unit.cursor)))
        while waiting:
            cursor = waiting.pop()
            if not self.unit.reading.is_users(cursor.location):
                continue
            kind = cursor.kind.name
            if is_virtual(cursor):
                self.statements.calls.note_virtual(cursor)
            if kind == "FUNCTION_TEMPLATE" and self.unit.reading.is_cuda and is_for_device(cursor):
                templates.append(cursor)
            elif kind in FUNCTIONS and cursor.is_definition():
                function = self._read_function(cursor)
                functions += [function] if function and function.name != USES else []
            elif kind == "VAR_DECL":
                declared = self.statements.read_declaration(cursor)
                global_variables += (item for item in declared if isinstance(item, r.Declaration))
                initial += (item for item in declared if isinstance(item, r.ExpressionStatement))
            elif kind in _SCOPES:
                if (template := find_template(cursor)) is not None:
                    self.unit.classes[cursor.type.get_canonical().spelling] = template, True
                waiting += reversed(children_of(cursor))
        functions += [*self._read_instances(), *self._read_unused(templates), *self.unit.made.values()]
        texts = self.unit.reading.texts.values()
        self.unit.diagnostics += (told for text in texts for told in warn_uncounted(text.list_pragmas()))
        return r.Program(
            self.unit.reading.text.source,
            tuple(functions),
            (*global_variables, *self.unit.statics),
            tuple(self.unit.macros.values()),
            frozenset(self.unit.never_return),
            initialisations=(*initial, *self.unit.tables),
            overriding={key: tuple(dict.fromkeys(keys)) for key, keys in self.unit.overriding.items()},
            launches=tuple(self.unit.launches.values()),
            warp=self.unit.reading.warp,
        )

    def _read_instances(self) -> Iterator[r.Function]:
        """Functions that templates become in calls, and in the calls of those."""
        done = 0
        while done < min(len(self.unit.instances), MOST_INSTANCES):
            function = self._read_function(list(self.unit.instances.values())[done])
            done += 1
            if function is not None:
                yield function

    def _read_unused(self, templates: list[Any]) -> Iterator[r.Function]:
        """Templates of the device that nothing has made a function of."""
        used = {found.get_usr() for made in self.unit.instances.values() if (found := find_template(made)) is not None}
        for cursor in templates:
            if cursor.get_usr() not in used and cursor.is_definition():
                function = self._read_function(cursor)
                yield from [] if function is None else [function]

    def _read_function(self, cursor: Any) -> r.Function | None:
        children = children_of(cursor)
        bodies = [child for child in children if child.kind.name in ("COMPOUND_STMT", "CXX_TRY_STMT")]
        if not bodies:
            return None
        self.unit.begin_function()
        text = self.unit.reading.find_text(cursor.location.file)
        formals = [self.expressions.read_variable(child) for child in children if child.kind.name == "PARM_DECL"]
        if cursor.kind.name in ("CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR") and not cursor.is_static_method():
            formals.insert(0, self.expressions.this_pointer(cursor))
        start = cursor.extent.start.offset
        at = text.character_offset(start) if text else 0
        name = self.unit.span(cursor)
        head = "" if name is None or not self.unit.reading.is_cuda else name.text().partition("{")[0]
        name = name and Span(name.source, *_find_word(name, cursor.spelling))
        return r.Function(
            key=cursor.get_usr() or f"{cursor.spelling}@{start}",
            name=cursor.spelling,
            formals=tuple(formals),
            body=self._add_initialisers(cursor, children, self.statements.read(bodies[-1])),
            comment=text.comment_above(at) if text else "",
            pragmas=(text.pragmas_above(at) if text else ()) + find_launch_bounds(head),
            by_reference=cursor.result_type.get_canonical().kind.name in REFERENCES,
            span=name,
            in_place=(bool(head) and is_for_device(cursor)) or any(map(_is_lambda, formals)),
            is_kernel=bool(head) and is_kernel(cursor),
        )

    def _add_initialisers(self, cursor: Any, children: list[Any], body: r.Statement) -> r.Statement:
        """Body of a constructor, behind the assignments of its initialisers."""
        if cursor.kind.name != "CONSTRUCTOR":
            return body
        found: list[r.Statement] = []
        for member, value in itertools.pairwise(children):
            if member.kind.name == "MEMBER_REF" and value.kind.is_expression():
                field = self.expressions.make_field(member.referenced, self.expressions.this_pointer(cursor), member)
                given = self.expressions.read(value)
                call = construct_in_place(given, field)
                if call is not None:
                    found.append(r.ExpressionStatement(call, field.span))
                    continue
                found.append(
                    r.ExpressionStatement(r.Assignment("", field, given, field.type, span=field.span), field.span)
                )
        return r.CompoundStatement((*found, body), body.span)


_HEAD = re.compile(r"\w+(?:[ \t]*\([^()\n]*\))?")
"""A keyword, or a macro with simple arguments."""


def _end_of_macro(span: Span) -> int:
    """The end of the text shown for a loop whose body does not follow its head: of its macro, or of `do`."""
    match = _HEAD.match(span.source.text, span.start)
    is_keyword = match is None or match[0].startswith(("do", "for", "while"))
    return min(span.end, span.start + 2) if match is None or is_keyword else match.end()


def _find_word(span: Span, word: str) -> tuple[int, int]:
    match = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(span.source.text, span.start, span.end)
    return match.span() if match else (span.start, span.start + 1)


def read_program(reading: ParsedUnit, macros: dict[str, r.Macro] | None = None) -> tuple[r.Program, list[Diagnostic]]:
    """Records of a translation unit, with the diagnostics of reading it; `macros` are those of the units before."""
    macros = {} if macros is None else macros
    tree = UnitReader(reading, macros)
    try:
        found = tree.read_program()
        if uses := write_uses(tree.unit.classes):
            tree = UnitReader(reading.read_with(uses), macros)
            found = tree.read_program()
    except RecursionError:
        where = Span(reading.text.source, 0, 1)
        tree.unit.diagnostics.append(warning("nested", "the program is nested too deeply to be read", where))
        found = r.Program(reading.text.source, (), (), macros=())
    return found, [*reading.diagnostics, *tree.unit.diagnostics]


def _is_lambda(formal: r.Variable) -> bool:
    return (formal.type.of or formal.type).name.startswith(r.LAMBDA)
