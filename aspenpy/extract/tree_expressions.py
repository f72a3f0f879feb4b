"""Expressions of libclang as records.

The name of a macro is found in the text, where the tree has its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.front_end import library, value_of
from aspenpy.extract.tree_types import INT, NO_INSTANCE, VOID, Types, computed
from aspenpy.language.source import Span

BINARY = dict(enumerate("* / % + - << >> <=> < > <= >= == != & ^ | && || = * / % + - << >> & ^ | ,".split(), start=3))
"""CXBinaryOperatorKind; those from 23 to 32 assign."""

UNARY = {1: ("+", True), 2: ("-", True), 3: ("+", False), 4: ("-", False)}
"""CXUnaryOperatorKind of the steps: what they do, and whether their value is that before."""

ASSIGN, FIRST_COMPOUND, COMMA = 22, 23, 33
ADDRESS_OF, DEREFERENCE, PLUS, MINUS, COMPLEMENT, NOT = range(5, 11)

FUNCTIONS = frozenset("FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE".split())

NULL = r.Type("pointer", 8, VOID)

MOST_DEPTH = 200
"""How deeply expressions and statements may be nested; what lies deeper is unknown."""


class Expressions(Types):
    """The expressions of one translation unit, and the variables in them."""

    def _this(self, cursor: Any) -> r.Variable:
        owner = cursor.semantic_parent
        of = self.instance.owner or r.Type("record", max(owner.type.get_size(), 0), name=owner.spelling)
        return r.Variable(
            f"this@{cursor.get_usr()}{self.instance.suffix()}", "this", r.Type("pointer", 8, of), "formal", None
        )

    def _variable(self, cursor: Any) -> r.Variable:
        """The variable that a cursor declares; arrays have their extents."""
        if self.instance is not NO_INSTANCE:
            return self._read_variable(cursor)
        place = cursor._kind_id, cursor.data[0]
        if place not in self._variables:
            self._variables[place] = self._read_variable(cursor)
        return self._variables[place]

    def _read_variable(self, cursor: Any) -> r.Variable:
        kind = cursor.kind.name
        parent = cursor.semantic_parent
        inside = parent is not None and parent.kind.name in (*FUNCTIONS, "LAMBDA_EXPR")
        scope = "formal" if kind == "PARM_DECL" else "local" if inside else "global"
        key = cursor.get_usr() or f"{cursor.spelling}@{cursor.location.offset}"
        key = f"{key}@{cursor.location.offset}{self.instance.suffix()}" if scope != "global" else key
        return r.Variable(key, cursor.spelling, self._declared_type(cursor), scope, self.reading.span(cursor))  # type: ignore[arg-type]

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
        literals = "INTEGER_LITERAL FLOATING_LITERAL CHARACTER_LITERAL CXX_BOOL_LITERAL_EXPR"
        nulls = ("CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR")
        ways = "CSTYLE CXX_STATIC CXX_REINTERPRET CXX_CONST CXX_FUNCTIONAL"
        casts = [f"{way}_CAST_EXPR" for way in ways.split()]
        return {
            **dict.fromkeys(literals.split(), self._literal),
            **dict.fromkeys(nulls, lambda cursor: r.Constant(0, NULL, None, self.reading.span(cursor))),
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
            "CXX_THROW_EXPR": lambda cursor: r.Call("throw", "throw", (), VOID, self.reading.span(cursor)),
            "LAMBDA_EXPR": self._lambda,
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
        return self._cast(operand, self.type_of(cursor.type), operand.span)

    def _cast(self, operand: r.Expression, to: r.Type, span: Span | None) -> r.Expression:
        """An expression converted to another type, where that costs something or changes its size."""
        of = operand.type
        if of.kind == "array" or (to.kind, to.size) == (of.kind, of.size) or to.kind in ("other", "record"):
            return operand
        if isinstance(operand, r.Constant) and operand.value is not None and to.kind == "real":
            return r.Constant(float(operand.value), to, None, span)
        return r.Conversion(operand, to, span)

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
        named = next((child for child in self._children(cursor) if child.kind.name == "TYPE_REF"), None)
        if isinstance(found, r.Constant) and found.value is None and named is not None:
            size = self.type_of(named.type).size if self.instance.types else 0
            return r.Constant(size or None, INT, None, found.span)
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
            number = re.fullmatch(r"\(*\s*(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9]\d*))[uUlL]*\s*\)*", body)
            if number is not None:
                bases = zip(number.groups(), (16, 8, 10), strict=True)
                found |= {name for digits, base in bases if digits is not None and int(digits, base) == value}
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
                if name not in self.used:
                    body = next(map(self.expression, target.get_children()), None)
                    self.used.setdefault(name, r.Macro(name, value, "", self.reading.span(target), body))
                return r.Constant(value, INT, name, span)
            return r.Constant(value, INT, None, span)
        if kind in ("VAR_DECL", "PARM_DECL"):
            return self._used(self._variable(target)).replace(span=span)
        if kind == "FIELD_DECL":
            return self._field(target, r.Variable("this", "this", r.Type("pointer", 8), "formal", None), cursor)
        if kind == "TEMPLATE_NON_TYPE_PARAMETER" and target.spelling in self.instance.values:
            return r.Constant(self.instance.values[target.spelling], INT, None, span)
        if kind == "TEMPLATE_NON_TYPE_PARAMETER":
            return r.Variable(target.get_usr(), target.spelling, INT, "global", span)
        if kind in FUNCTIONS:
            return r.Routine(target.get_usr(), target.spelling, self.type_of(cursor.type), span)
        return r.Several((), self.type_of(cursor.type), True, span)

    @staticmethod
    def _used(variable: r.Variable) -> r.Variable:
        """A variable in an expression: what it refers to, if it is a reference."""
        type = variable.type
        is_reference = type.name == "&" and type.kind == "pointer" and type.of is not None
        return variable.replace(type=type.of, refers=True) if is_reference else variable

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
        return r.Operation(operator, (left, right), self._settled(operator, type, (left, right)), span)

    def _settled(self, operator: str, type: r.Type, operands: tuple[r.Expression, ...]) -> r.Type:
        """The type of an operation; in an instance of a template what follows from its operands."""
        return computed(operator, operands) if self.instance.types and type.name == "dependent" else type

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
            match operand:
                case r.Constant(value=int(number) | float(number), macro=None) if code == MINUS:
                    return r.Constant(-number, type, None, span)
            sign = {MINUS: "neg", COMPLEMENT: "~", NOT: "not"}[code]
            return r.Operation(sign, (operand,), self._settled(sign, type, (operand,)), span)
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
        held = base.kind in ("pointer", "array") or (base.kind == "record" and self.instance.types)
        return base.of if held and base.of is not None else self.type_of(written)

    def _member(self, cursor: Any) -> r.Expression:
        target, children = cursor.referenced, self._children(cursor)
        inside = [child for child in children if child.kind.is_expression()]
        base = (
            self.expression(inside[0]) if inside else r.Variable("this", "this", r.Type("pointer", 8), "formal", None)
        )
        if target is None and (text := self.reading.span(cursor)) is not None:
            target = self.instance.members.get(last_word(text.text()))
        if target is None:
            return r.Several((base,), self.type_of(cursor.type), False, self.reading.span(cursor))
        return self._field(target, base, cursor)

    def _field(self, target: Any, base: r.Expression, cursor: Any) -> r.Field:
        if base.type.kind == "pointer":
            of = base.type.of or r.Type("record")
            base = r.Element(base, r.Constant(0, INT), of, base.span)
        target = self.instance.members.get(target.spelling, target)
        offset = target.get_field_offsetof()
        type = self._declared_type(target)
        return r.Field(base, target.spelling, max(offset, 0) // 8, type, self.reading.span(cursor))

    def _selection(self, cursor: Any) -> r.Expression:
        children = self._children(cursor)
        if len(children) != 3:
            return self._other(cursor)
        condition, chosen, otherwise = map(self.expression, children)
        type = self._settled("?", self.type_of(cursor.type), (chosen, otherwise))
        return r.Selection(condition, chosen, otherwise, type, self.reading.span(cursor))

    def _call(self, cursor: Any) -> r.Expression:
        raise NotImplementedError

    def _new(self, cursor: Any) -> r.Expression:
        raise NotImplementedError

    def _lambda(self, cursor: Any) -> r.Expression:
        raise NotImplementedError


def last_word(text: str) -> str:
    """The name at the end of `object.name` or `pointer->name`."""
    found = re.search(r"(?<!\w)(\w++)\s*$", text)
    return found[1] if found else ""
