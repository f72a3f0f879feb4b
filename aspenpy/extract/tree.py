"""Cursors of libclang become the records of a program.

What libclang leaves out of its tree is found in the text: which part of `for (;;)` is which, and the name of a macro
where the tree has its number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.front_end import Reading, library, value_of
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span

BINARY = dict(enumerate("* / % + - << >> <=> < > <= >= == != & ^ | && || = * / % + - << >> & ^ | ,".split(), start=3))
"""CXBinaryOperatorKind; those from 23 to 32 assign."""

UNARY = {1: ("+", True), 2: ("-", True), 3: ("+", False), 4: ("-", False)}
"""CXUnaryOperatorKind of the steps: what they do, and whether their value is that before."""

ASSIGN, FIRST_COMPOUND, COMMA = 22, 23, 33
ADDRESS_OF, DEREFERENCE, PLUS, MINUS, COMPLEMENT, NOT = range(5, 11)

_INTEGERS = frozenset({
    *"BOOL CHAR_U UCHAR CHAR16 CHAR32 USHORT UINT ULONG ULONGLONG UINT128 CHAR_S SCHAR WCHAR SHORT INT".split(),
    *"LONG LONGLONG INT128 ENUM".split(),
})  # fmt: skip
_REALS = frozenset("FLOAT DOUBLE LONGDOUBLE FLOAT128 HALF".split())
_POINTERS = frozenset("POINTER LVALUEREFERENCE RVALUEREFERENCE BLOCKPOINTER MEMBERPOINTER NULLPTR".split())
_ARRAYS = frozenset("CONSTANTARRAY VARIABLEARRAY INCOMPLETEARRAY DEPENDENTSIZEDARRAY".split())
_REFERENCES = frozenset("LVALUEREFERENCE RVALUEREFERENCE".split())
_FUNCTIONS = frozenset("FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE".split())
_SCOPES = frozenset("NAMESPACE LINKAGE_SPEC CLASS_DECL STRUCT_DECL CLASS_TEMPLATE UNION_DECL UNEXPOSED_DECL".split())

_CONTAINER = re.compile(r"(?:const )?std::(?:vector|array|valarray|unique_ptr|span)<")

MOST_DEPTH = 200
"""How deeply expressions and statements may be nested; what lies deeper is unknown."""

VOID = r.Type("void")
INT = r.Type("integer", 4)


class Tree:
    """The records of one translation unit."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.diagnostics: list[Diagnostic] = []
        self.used: dict[str, r.Macro] = {}
        self._types: dict[str, r.Type] = {}
        self._depth = 0

    def program(self) -> r.Program:
        functions: list[r.Function] = []
        globals_: list[r.Declaration] = []
        waiting = list(reversed(self._children(self.reading.unit.cursor)))
        while waiting:
            cursor = waiting.pop()
            if not self.reading.is_users(cursor.location):
                continue
            kind = cursor.kind.name
            if kind in _FUNCTIONS and cursor.is_definition():
                function = self._function(cursor)
                functions += [function] if function else []
            elif kind == "VAR_DECL":
                globals_ += self._declared(cursor)
            elif kind in _SCOPES:
                waiting += reversed(self._children(cursor))
        return r.Program(self.reading.text.source, tuple(functions), tuple(globals_), tuple(self.used.values()))

    def _children(self, cursor: Any) -> list[Any]:
        return list(cursor.get_children())

    # -- functions and variables -------------------------------------------------------------------

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
            cursor.result_type.get_canonical().kind.name in _REFERENCES,
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
                found.append(r.Evaluation(r.Assignment("", field, given, field.type, span=field.span), field.span))
        return r.Block((*found, body), body.span)

    @staticmethod
    def _word(span: Span, word: str) -> tuple[int, int]:
        match = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(span.source.text, span.start, span.end)
        return match.span() if match else (span.start, span.start + 1)

    def _this(self, cursor: Any) -> r.Variable:
        owner = cursor.semantic_parent
        of = r.Type("record", max(owner.type.get_size(), 0), name=owner.spelling)
        return r.Variable(f"this@{cursor.get_usr()}", "this", r.Type("pointer", 8, of), "formal", None)

    def _variable(self, cursor: Any) -> r.Variable:
        """The variable that a cursor declares; arrays have their extents."""
        kind = cursor.kind.name
        parent = cursor.semantic_parent
        inside = parent is not None and parent.kind.name in (*_FUNCTIONS, "LAMBDA_EXPR")
        scope = "formal" if kind == "PARM_DECL" else "local" if inside else "global"
        key = cursor.get_usr() or f"{cursor.spelling}@{cursor.location.offset}"
        key = f"{key}@{cursor.location.offset}" if scope != "global" else key
        return r.Variable(key, cursor.spelling, self._declared_type(cursor), scope, self.reading.span(cursor))  # type: ignore[arg-type]

    def _declared_type(self, cursor: Any) -> r.Type:
        """The type of a declaration; the extents of arrays are among its children, the innermost first."""
        kinds = self._kinds(cursor.type)
        if not {"VARIABLEARRAY", "CONSTANTARRAY"} & set(kinds):
            return self.type_of(cursor.type)
        extents = [
            child
            for child in reversed(self._children(cursor))
            if child.kind.is_expression() and child.kind.name not in ("INIT_LIST_EXPR", "STRING_LITERAL")
        ]
        extents.sort(key=lambda child: self.reading.file_offset(child.location)[1])
        return self._varying(cursor.type, extents)

    def _kinds(self, type: Any) -> list[str]:
        found, type = [], type.get_canonical()
        while True:
            name = type.kind.name
            found.append(name)
            if name in _ARRAYS:
                type = type.element_type
            elif name in _POINTERS:
                type = type.get_pointee()
            else:
                return found
            type = type.get_canonical()

    def _varying(self, type: Any, extents: list[Any]) -> r.Type:
        """The type with the expressions put in that its extents are written as, the outermost first."""
        kind = type.kind.name
        if kind in _ARRAYS:
            extent = self._fixed(type)
            if extents and (kind == "VARIABLEARRAY" or (extent and value_of(extents[0]) == type.element_count)):
                extent = self.expression(extents.pop(0))
            of = self._varying(type.element_type, extents)
            return r.Type("array", max(type.get_size(), 0) if kind == "CONSTANTARRAY" else 0, of, extent)
        if kind in _POINTERS:
            of = self._varying(type.get_pointee(), extents)
            name = "&" if kind in _REFERENCES else ""
            return r.Type("pointer", 8, of, name=name, restrict=type.is_restrict_qualified())
        if kind in ("ELABORATED", "TYPEDEF") and {"VARIABLEARRAY", "CONSTANTARRAY"} & set(self._kinds(type)):
            return self._varying(type.get_canonical(), extents)
        return self.type_of(type)

    def _fixed(self, type: Any) -> r.Expression | None:
        count = type.element_count if type.kind.name == "CONSTANTARRAY" else -1
        return r.Constant(count, INT) if count >= 0 else None

    def type_of(self, type: Any) -> r.Type:
        spelling = type.spelling
        if spelling not in self._types:
            self._types[spelling] = self._read_type(type)
        return self._types[spelling]

    def _read_type(self, type: Any) -> r.Type:
        plain = type.get_canonical()
        kind, size = plain.kind.name, max(plain.get_size(), 0)
        if kind in _INTEGERS:
            return r.Type("integer", size)
        if kind in _REALS:
            return r.Type("real", size)
        if kind in _POINTERS:
            pointee = plain.get_pointee()
            of = r.Type("record", max(pointee.get_size(), 0), name=_plain_name(pointee.spelling))
            if pointee.get_canonical().kind.name != "RECORD" or _CONTAINER.match(pointee.get_canonical().spelling):
                of = self.type_of(pointee)
            return r.Type(
                "pointer", 8, of, name="&" if kind in _REFERENCES else "", restrict=plain.is_restrict_qualified()
            )
        if kind in _ARRAYS:
            return r.Type("array", size, self.type_of(plain.element_type), self._fixed(plain))
        if kind == "RECORD":
            return r.Type("record", size, name=_plain_name(plain.spelling), of=self._held(plain))
        held = _CONTAINER.match(plain.spelling)
        if held is not None and kind != "RECORD":
            return r.Type("record", 24, r.Type("real", 8, name="dependent"), name="container")
        if kind in ("DEPENDENT", "UNEXPOSED", "TEMPLATETYPEPARM") or "type-parameter" in plain.spelling:
            return r.Type("real", 8, name="dependent")
        return r.Type("void" if kind == "VOID" else "other", size)

    def _held(self, plain: Any) -> r.Type | None:
        """What a container of the standard library holds."""
        if plain.get_num_template_arguments() > 0 and _CONTAINER.match(plain.spelling):
            return self.type_of(plain.get_template_argument_type(0))
        return None

    def _declared(self, cursor: Any) -> list[r.Declaration]:
        """A variable's declaration; a named constant counts as a macro."""
        variable = self._variable(cursor)
        values = [child for child in self._children(cursor) if child.kind.is_expression()]
        if variable.type.kind == "array":
            values = [child for child in values if child.kind.name == "INIT_LIST_EXPR"]
        value = self.expression(values[-1]) if values else None
        elements = len(self._children(values[-1])) if values and values[-1].kind.name == "INIT_LIST_EXPR" else None
        if elements is not None and variable.type.kind == "array":
            value = None
        return [r.Declaration(variable, value, elements, variable.span)]

    # -- statements --------------------------------------------------------------------------------

    def statement(self, cursor: Any) -> r.Statement:
        kind = cursor.kind.name
        rule = self._statements.get(kind)
        self._depth += 1
        try:
            if self._depth > MOST_DEPTH:
                return r.Unread("a statement that is nested too deeply", self.reading.span(cursor))
            if rule is not None:
                return rule(cursor)
            if cursor.kind.is_expression():
                return r.Evaluation(self.expression(cursor), self.reading.span(cursor))
        finally:
            self._depth -= 1
        return r.Unread(kind.lower().replace("_", " ").replace(" stmt", ""), self.reading.span(cursor))

    @cached_property
    def _statements(self) -> dict[str, Callable[[Any], r.Statement]]:
        def first(cursor: Any) -> r.Statement:
            children = self._children(cursor)
            return self.statement(children[-1]) if children else r.Block(())

        return {
            "COMPOUND_STMT": lambda cursor: r.Block(tuple(map(self.statement, self._children(cursor)))),
            "DECL_STMT": self._declarations,
            "NULL_STMT": lambda cursor: r.Block(()),
            "FOR_STMT": self._for,
            "WHILE_STMT": self._while,
            "DO_STMT": self._do,
            "CXX_FOR_RANGE_STMT": self._range,
            "IF_STMT": self._if,
            "SWITCH_STMT": self._switch,
            "BREAK_STMT": lambda cursor: r.Jump("break", None, self.reading.span(cursor)),
            "CONTINUE_STMT": lambda cursor: r.Jump("continue", None, self.reading.span(cursor)),
            "GOTO_STMT": lambda cursor: r.Jump("goto", None, self.reading.span(cursor)),
            "RETURN_STMT": self._return,
            "LABEL_STMT": first,
            "CXX_TRY_STMT": lambda cursor: self.statement(self._children(cursor)[0]),
            "UNEXPOSED_STMT": first,
        }

    def _declarations(self, cursor: Any) -> r.Statement:
        variables = [child for child in self._children(cursor) if child.kind.name == "VAR_DECL"]
        return r.Block(tuple(item for child in variables for item in self._declared(child)))

    def _return(self, cursor: Any) -> r.Statement:
        children = self._children(cursor)
        return r.Jump("return", self.expression(children[0]) if children else None, self.reading.span(cursor))

    def _for(self, cursor: Any) -> r.Statement:
        *parts, body = self._children(cursor)
        start, condition, step = self._parts_of_for(cursor, parts)
        return self._loop(cursor, body, start, condition, step)

    def _parts_of_for(self, cursor: Any, parts: list[Any]) -> tuple[Any, Any, Any]:
        """Which of the three are there, by the semicolons in the text; all three where it is unclear."""
        if len(parts) == 3:
            return parts[0], parts[1], parts[2]
        text = self.reading.text_of(cursor.extent.start.file)
        found: list[Any] = [None, None, None]
        if text is None:
            return None, None, None
        source, at = text.source.text, text.characters(cursor.extent.start.offset)
        stops = _semicolons(source, at)
        for part in parts:
            place = text.characters(self.reading.file_offset(part.location)[1])
            found[sum(stop < place for stop in stops) if len(stops) == 2 else 1] = part
        return found[0], found[1], found[2]

    def _loop(self, cursor: Any, body: Any, start: Any, condition: Any, step: Any, first: bool = True) -> r.Statement:
        text = self.reading.text_of(cursor.extent.start.file)
        span = self.reading.span(cursor)
        pragmas: tuple[str, ...] = ()
        comment = ""
        if text is not None and span is not None:
            pragmas = text.pragmas_above(span.start)
            comment = text.comment_above(span.start)
            head = text.characters(body.extent.start.offset)
            shown = head if first and span.start < head else min(span.end, span.start + 2)
            span = Span(span.source, span.start, span.start + len(span.source.text[span.start : shown].rstrip()))
        return r.Loop(
            None if start is None else self.statement(start),
            None if condition is None else self.expression(condition),
            None if step is None else self.expression(step),
            self.statement(body),
            first,
            pragmas,
            comment,
            span,
        )

    def _while(self, cursor: Any) -> r.Statement:
        *_, condition, body = self._children(cursor)
        return self._loop(cursor, body, None, condition if condition.kind.is_expression() else None, None)

    def _do(self, cursor: Any) -> r.Statement:
        body, condition = self._children(cursor)
        return self._loop(cursor, body, None, condition, None, first=False)

    def _range(self, cursor: Any) -> r.Statement:
        """`for (auto& x : container)`: as often as it holds elements, which `Call` of `size` says."""
        *parts, body = self._children(cursor)
        span = self.reading.span(cursor)
        held = next((part for part in reversed(parts) if part.kind.is_expression()), None)
        if held is None:
            return r.Unread("a loop over a range", span)
        container = self.expression(held)
        variable = next((self._variable(part) for part in parts if part.kind.name == "VAR_DECL"), None)
        index = r.Variable(f"range@{cursor.location.offset}", "element", INT, "local", span)
        start = r.Declaration(index, r.Constant(0, INT), None, span)
        size = r.Call("size", "size", (container,), INT, span)
        condition = r.Operation("<", (index, size), INT, span)
        step = r.Assignment("+", index, r.Constant(1, INT), INT, span=span)
        inner = self.statement(body)
        if variable is not None:
            is_reference = variable.type.name == "&"
            held_type = variable.type.of if is_reference and variable.type.of else variable.type
            element: r.Expression = r.Element(container, index, held_type, span)
            value = r.Address(element, variable.type, span) if is_reference else element
            inner = r.Block((r.Declaration(variable, value, None, span), inner))
        loop = self._loop(cursor, body, None, None, None)
        assert isinstance(loop, r.Loop)
        return loop.replace(start=start, condition=condition, step=step, body=inner)

    def _if(self, cursor: Any) -> r.Statement:
        children = self._children(cursor)
        start = [self.statement(children.pop(0))] if not children[0].kind.is_expression() else []
        condition, then, *rest = children
        branch = r.Branch(
            self.expression(condition),
            self.statement(then),
            self.statement(rest[0]) if rest else None,
            self.reading.span(condition),
        )
        return r.Block((*start, branch)) if start else branch

    def _switch(self, cursor: Any) -> r.Statement:
        children = self._children(cursor)
        if len(children) < 2:
            return r.Unread("switch", self.reading.span(cursor))
        cases: list[list[r.Statement]] = []
        exhaustive = False
        for child in self._children(children[-1]):
            while child.kind.name in ("CASE_STMT", "DEFAULT_STMT"):
                fresh = not cases or bool(cases[-1])
                cases += [[]] if fresh else []
                exhaustive = exhaustive or child.kind.name == "DEFAULT_STMT"
                child = self._children(child)[-1]
            if cases:
                cases[-1].append(self.statement(child))
        bodies = tuple(r.Block(tuple(case)) for case in cases)
        return r.Switch(self.expression(children[-2]), bodies, exhaustive, self.reading.span(children[-2]))

    # -- expressions -------------------------------------------------------------------------------

    def expression(self, cursor: Any) -> r.Expression:
        self._depth += 1
        try:
            if self._depth > MOST_DEPTH:
                return r.Several((), r.Type("other"), False, self.reading.span(cursor))
            rule = self._expressions.get(cursor.kind.name)
            return rule(cursor) if rule is not None else self._other(cursor)
        finally:
            self._depth -= 1

    @cached_property
    def _expressions(self) -> dict[str, Callable[[Any], r.Expression]]:
        same = self._same
        literals = "INTEGER_LITERAL FLOATING_LITERAL CHARACTER_LITERAL CXX_BOOL_LITERAL_EXPR CXX_NULL_PTR_LITERAL_EXPR"
        ways = "CSTYLE CXX_STATIC CXX_REINTERPRET CXX_CONST CXX_FUNCTIONAL"
        casts = [f"{way}_CAST_EXPR" for way in ways.split()]
        return {
            **dict.fromkeys(literals.split(), self._literal),
            **dict.fromkeys(casts, lambda cursor: self._converted(cursor, self._children(cursor)[-1:])),
            "PAREN_EXPR": same,
            "UNEXPOSED_EXPR": lambda cursor: self._converted(cursor, self._children(cursor)),
            "DECL_REF_EXPR": self._name,
            "BINARY_OPERATOR": self._binary,
            "COMPOUND_ASSIGNMENT_OPERATOR": self._binary,
            "UNARY_OPERATOR": self._unary,
            "ARRAY_SUBSCRIPT_EXPR": self._subscript,
            "MEMBER_REF_EXPR": self._member,
            "CONDITIONAL_OPERATOR": self._selection,
            "CALL_EXPR": self._call,
            "CXX_UNARY_EXPR": self._sizeof,
            "STRING_LITERAL": lambda cursor: r.Constant(None, r.Type("pointer", 8), None, self.reading.span(cursor)),
            "CXX_THIS_EXPR": lambda cursor: r.Variable("this", "this", self.type_of(cursor.type), "formal", None),
            "CXX_NEW_EXPR": self._new,
            "CXX_DELETE_EXPR": lambda cursor: r.Several((), VOID, True, self.reading.span(cursor)),
        }

    def _other(self, cursor: Any) -> r.Expression:
        parts = [self.expression(child) for child in self._children(cursor) if child.kind.is_expression()]
        known = cursor.kind.name in ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR")
        return r.Several(tuple(parts), self.type_of(cursor.type), known, self.reading.span(cursor))

    def _same(self, cursor: Any) -> r.Expression:
        children = self._children(cursor)
        return self.expression(children[0]) if children else self._other(cursor)

    def _converted(self, cursor: Any, children: list[Any]) -> r.Expression:
        inside = [child for child in children if child.kind.is_expression()]
        if not inside:
            return self._literal(cursor) if cursor.kind.name != "UNEXPOSED_EXPR" else self._other(cursor)
        operand = self.expression(inside[-1])
        to, of = self.type_of(cursor.type), operand.type
        if of.kind == "array" or (to.kind, to.size) == (of.kind, of.size) or to.kind in ("other", "record"):
            return operand
        if isinstance(operand, r.Constant) and operand.value is not None and to.kind == "real":
            return r.Constant(float(operand.value), to, None, operand.span)
        return r.Conversion(operand, to, operand.span)

    def _literal(self, cursor: Any) -> r.Expression:
        value = value_of(cursor)
        type = self.type_of(cursor.type)
        macro = None
        if type.kind == "integer" and isinstance(value, int) and cursor.kind.name == "INTEGER_LITERAL":
            macro = self._macro(cursor, value)
        return r.Constant(value, type, macro, self.reading.span(cursor))

    def _sizeof(self, cursor: Any) -> r.Expression:
        """`sizeof`, of arrays whose extents vary too."""
        found = self._literal(cursor)
        inside = [child for child in self._children(cursor) if child.kind.is_expression()]
        if (isinstance(found, r.Constant) and found.value) or not inside:
            return found
        type: r.Type | None = self.expression(inside[-1]).type
        factors: list[r.Expression] = []
        while type is not None and type.kind == "array" and type.extent is not None:
            factors.append(type.extent)
            type = type.of
        result: r.Expression = r.Constant(type.size if type else 8, INT, None, found.span)
        for factor in factors:
            result = r.Operation("*", (result, factor), INT, found.span)
        return result

    def _macro(self, cursor: Any, value: int) -> str | None:
        """The name of the macro that the number comes from, where one name stands for that number alone."""
        file, offset = self.reading.file_offset(cursor.location)
        text = self.reading.text_of(file)
        word = text and re.compile(r"[A-Za-z_]\w*").match(text.source.text, text.characters(offset))
        if not word:
            return None
        name = self._named(word[0], value)
        if name is not None and name not in self.used:
            span = self.reading.macro_span(name)
            text = self.reading.texts.get(span.source.name) if span else None
            comment = text.comment_behind(span.end) if text and span else ""
            self.used[name] = r.Macro(name, value, comment, span)
        return name

    def _named(self, word: str, value: int) -> str | None:
        """Among the macros that one uses, the one whose whole body is this number; None if a bare number is there,
        too."""
        defined, seen, waiting, found = self.reading.defined, set[str](), [word], set[str]()
        while waiting:
            name = waiting.pop()
            body = defined.get(name)
            if body is None or name in seen:
                continue
            seen.add(name)
            number = re.fullmatch(r"\(*\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*\)*", body)
            if number is not None:
                found |= {name} if int(number[1].lstrip("0") or "0", 0) == value else set()
            elif re.search(rf"(?<![\w.]){value}(?![\w.])", body):
                return None
            else:
                waiting += re.findall(r"[A-Za-z_]\w*", body)
        return found.pop() if len(found) == 1 else None

    def _name(self, cursor: Any) -> r.Expression:
        target = cursor.referenced
        span = self.reading.span(cursor)
        if target is None:
            return r.Several((), self.type_of(cursor.type), False, span)
        kind = target.kind.name
        if kind == "ENUM_CONSTANT_DECL":
            value, name = target.enum_value, target.spelling
            if self.reading.is_users(target.location):
                self.used.setdefault(name, r.Macro(name, value, "", self.reading.span(target)))
                return r.Constant(value, INT, name, span)
            return r.Constant(value, INT, None, span)
        if kind in ("VAR_DECL", "PARM_DECL"):
            return self._variable_used(target).replace(span=span)
        if kind == "FIELD_DECL":
            return self._field(target, r.Variable("this", "this", r.Type("pointer", 8), "formal", None), cursor)
        if kind == "TEMPLATE_NON_TYPE_PARAMETER":
            return r.Variable(target.get_usr(), target.spelling, INT, "global", span)
        return r.Several((), self.type_of(cursor.type), True, span)

    def _variable_used(self, target: Any) -> r.Variable:
        """A variable; one name for one number, such as `const int n = 100`, has its value from its declaration."""
        return self._variable(target)

    def _binary(self, cursor: Any) -> r.Expression:
        code = library().conf.lib.clang_getCursorBinaryOperatorKind(cursor)
        children = self._children(cursor)
        operator = BINARY.get(code)
        span = self.reading.span(cursor)
        type = self.type_of(cursor.type)
        if operator is None or len(children) != 2:
            return self._other(cursor)
        left, right = map(self.expression, children)
        if code == COMMA:
            return r.Several((left, right), type, True, span)
        if code == ASSIGN or code >= FIRST_COMPOUND:
            return r.Assignment("" if code == ASSIGN else operator, left, right, left.type, False, span)
        return r.Operation(operator, (left, right), type, span)

    def _unary(self, cursor: Any) -> r.Expression:
        code = library().conf.lib.clang_getCursorUnaryOperatorKind(cursor)
        children = self._children(cursor)
        span = self.reading.span(cursor)
        if not children:
            return self._literal(cursor)
        operand = self.expression(children[-1])
        if code in UNARY:
            operator, before = UNARY[code]
            return r.Assignment(operator, operand, r.Constant(1, INT), operand.type, before, span)
        type = self.type_of(cursor.type)
        if code == DEREFERENCE:
            return r.Element(operand, r.Constant(0, INT), self._element(operand.type, cursor.type), span)
        if code == ADDRESS_OF:
            return r.Address(operand, type, span)
        if code in (MINUS, COMPLEMENT, NOT):
            return r.Operation({MINUS: "neg", COMPLEMENT: "~", NOT: "not"}[code], (operand,), type, span)
        return operand

    def _subscript(self, cursor: Any) -> r.Expression:
        children = self._children(cursor)
        if len(children) != 2:
            return self._other(cursor)
        base, index = map(self.expression, children)
        if index.type.kind in ("pointer", "array") and base.type.kind == "integer":
            base, index = index, base
        return r.Element(base, index, self._element(base.type, cursor.type), self.reading.span(cursor))

    def _element(self, base: r.Type, written: Any) -> r.Type:
        """The type of an element, with the extents that its array was declared with."""
        return base.of if base.kind in ("pointer", "array") and base.of is not None else self.type_of(written)

    def _member(self, cursor: Any) -> r.Expression:
        target, children = cursor.referenced, self._children(cursor)
        inside = [child for child in children if child.kind.is_expression()]
        base = (
            self.expression(inside[0]) if inside else r.Variable("this", "this", r.Type("pointer", 8), "formal", None)
        )
        if target is None:
            return r.Several((base,), self.type_of(cursor.type), False, self.reading.span(cursor))
        return self._field(target, base, cursor)

    def _field(self, target: Any, base: r.Expression, cursor: Any) -> r.Field:
        if base.type.kind == "pointer":
            of = base.type.of or r.Type("record")
            base = r.Element(base, r.Constant(0, INT), of, base.span)
        offset = target.get_field_offsetof()
        type = self._declared_type(target)
        return r.Field(base, target.spelling, max(offset, 0) // 8, type, self.reading.span(cursor))

    def _selection(self, cursor: Any) -> r.Expression:
        children = self._children(cursor)
        if len(children) != 3:
            return self._other(cursor)
        condition, chosen, otherwise = map(self.expression, children)
        return r.Selection(condition, chosen, otherwise, self.type_of(cursor.type), self.reading.span(cursor))

    def _new(self, cursor: Any) -> r.Expression:
        sizes = [self.expression(child) for child in self._children(cursor) if child.kind.is_expression()]
        type = self.type_of(cursor.type)
        of = type.of.size if type.of else 8
        count = sizes[0] if sizes and sizes[0].type.kind == "integer" else r.Constant(1, INT)
        size = r.Operation("*", (count, r.Constant(of, INT)), INT, self.reading.span(cursor))
        return r.Call("malloc", "malloc", (size,), type, self.reading.span(cursor))

    def _call(self, cursor: Any) -> r.Expression:
        target = cursor.referenced
        children = [child for child in self._children(cursor) if child.kind.is_expression()]
        span, type = self.reading.span(cursor), self.type_of(cursor.type)
        arguments = [self.expression(argument) for argument in cursor.get_arguments() if argument is not None]
        if target is None or target.kind.name not in _FUNCTIONS:
            return r.Call("", cursor.spelling or "", tuple(arguments), type, span)
        kind, name = target.kind.name, target.spelling
        if kind == "CONSTRUCTOR":
            if len(arguments) == 1 and arguments[0].type.kind == "record":
                return arguments[0]
            if not self.reading.is_users(target.location):
                return r.Several(tuple(arguments), type, True, span)
            return r.Call(target.get_usr(), name, tuple(arguments), type, span)
        is_member = kind == "CXX_METHOD" and not target.is_static_method()
        if is_member and not name.startswith("operator") and children and children[0].kind.name == "MEMBER_REF_EXPR":
            inside = [child for child in self._children(children[0]) if child.kind.is_expression()]
            this: r.Expression = r.Variable("this", "this", r.Type("pointer", 8), "formal", None)
            arguments.insert(0, self.expression(inside[0]) if inside else this)
        owner = target.semantic_parent
        standard = owner is not None and not self.reading.is_users(target.location)
        if standard and name == "operator[]" and len(arguments) == 2:
            return r.Element(arguments[0], arguments[1], self.type_of(cursor.type), span)
        if standard and name == "operator=" and len(arguments) == 2:
            return r.Assignment("", arguments[0], arguments[1], arguments[0].type, False, span)
        template = library().conf.lib.clang_getSpecializedCursorTemplate(target)
        key = (template.get_usr() if template is not None else "") or target.get_usr()
        return r.Call(name if standard else key, name, tuple(arguments), type, span)


def _plain_name(spelling: str) -> str:
    return re.sub(r"\b(const|struct|class|volatile|union)\s+", "", spelling)


def _semicolons(text: str, at: int) -> list[int]:
    """The two in the parentheses that open behind a place."""
    opening = text.find("(", at)
    depth, found = 0, list[int]()
    for place in range(opening, min(len(text), opening + 4000)):
        char = text[place]
        depth += (char in "([{") - (char in ")]}")
        if char == ";" and depth == 1:
            found.append(place)
        if depth == 0:
            break
    return found


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
