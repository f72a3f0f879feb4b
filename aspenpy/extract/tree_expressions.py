"""Expressions of libclang as records.

The name of a macro is found in the text, where the tree has its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.complex_numbers import operate_on_complex
from aspenpy.extract.device_functions import INDICES, SHARED, index_variable
from aspenpy.extract.front_end import evaluate_constant, load_libclang
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import INT, NULL, THIS, VOID, Types, children_of, pointer_to, size_of
from aspenpy.language.source import Span

BINARY = dict(enumerate("* / % + - << >> <=> < > <= >= == != & ^ | && || = * / % + - << >> & ^ | ,".split(), start=3))
"""CXBinaryOperatorKind; those from 23 to 32 assign."""

UNARY = {1: ("+", True), 2: ("-", True), 3: ("+", False), 4: ("-", False)}
"""CXUnaryOperatorKind of the steps: what they do, and whether their value is that before."""

ASSIGN, FIRST_COMPOUND, COMMA = 22, 23, 33
ADDRESS_OF, DEREFERENCE, PLUS, MINUS, COMPLEMENT, NOT = range(5, 11)

FUNCTIONS = frozenset("FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE".split())


class Expressions:
    """The expressions of one translation unit, and the variables in them; `calls` read those that call something, by
    kind of cursor."""

    def __init__(self, unit: UnitState, calls: Mapping[str, Callable[[Any], r.Expression]]) -> None:
        self.unit = unit
        self.types = Types(unit, self.read)
        self._variables: dict[tuple[int, int], r.Variable] = {}  # by libclang's address of a declaration
        literals = "INTEGER_LITERAL FLOATING_LITERAL CHARACTER_LITERAL CXX_BOOL_LITERAL_EXPR"
        nulls = ("CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR")
        ways = "CSTYLE CXX_STATIC CXX_REINTERPRET CXX_CONST CXX_FUNCTIONAL"
        casts = [f"{way}_CAST_EXPR" for way in ways.split()]
        self._rules: dict[str, Callable[[Any], r.Expression]] = {
            **dict.fromkeys(literals.split(), self._read_literal),
            **dict.fromkeys(nulls, lambda cursor: r.Constant(0, NULL, span=self.unit.span(cursor))),
            **dict.fromkeys(casts, lambda cursor: self._read_cast(cursor, children_of(cursor)[-1:])),
            "PAREN_EXPR": self._read_inside,
            "UNEXPOSED_EXPR": lambda cursor: self._read_cast(cursor, children_of(cursor)),
            "DECL_REF_EXPR": self._read_name,
            "BINARY_OPERATOR": self._read_binary,
            "COMPOUND_ASSIGNMENT_OPERATOR": self._read_binary,
            "UNARY_OPERATOR": self._read_unary,
            "ARRAY_SUBSCRIPT_EXPR": self._read_subscript,
            "MEMBER_REF_EXPR": self._read_member,
            "CONDITIONAL_OPERATOR": self._read_selection,
            "CXX_UNARY_EXPR": self._read_sizeof,
            "STRING_LITERAL": lambda cursor: r.Constant(None, pointer_to(None), span=self.unit.span(cursor)),
            "CXX_THIS_EXPR": lambda cursor: r.Variable(
                "this", "this", self.types.type_of(cursor.type), "formal", span=None
            ),
            "CXX_THROW_EXPR": lambda cursor: r.Call("throw", "throw", (), VOID, self.unit.span(cursor)),
            "CXX_DELETE_EXPR": lambda cursor: r.Several((), VOID, span=self.unit.span(cursor)),
            **calls,
        }

    def this_pointer(self, cursor: Any) -> r.Variable:
        """The formal that stands for the object of a method."""
        owner = cursor.semantic_parent
        is_made = owner.type.get_num_template_arguments() > 0
        of = r.Type("record", size_of(owner.type), name=owner.spelling)
        of = self.types.type_of(owner.type) if is_made else of
        return r.Variable(f"this@{cursor.get_usr()}", "this", pointer_to(of), "formal", span=None)

    def read_variable(self, cursor: Any) -> r.Variable:
        """The variable that a cursor declares; arrays have their extents."""
        address = cursor._kind_id, cursor.data[0]
        if address not in self._variables:
            self._variables[address] = self._declare_variable(cursor)
        return self._variables[address]

    def _declare_variable(self, cursor: Any) -> r.Variable:
        kind = cursor.kind.name
        parent = cursor.semantic_parent
        inside = parent is not None and parent.kind.name in (*FUNCTIONS, "LAMBDA_EXPR") and not is_static(cursor)
        scope: r.Scope = "formal" if kind == "PARM_DECL" else "local" if inside else "global"
        key = cursor.get_usr() or f"{cursor.spelling}@{cursor.location.offset}"
        key = f"{key}@{cursor.location.offset}" if scope != "global" else key
        if self.unit.reading.is_cuda and any(child.kind.name == "CUDASHARED_ATTR" for child in cursor.get_children()):
            scope, key = "local", f"{SHARED}{key}"
        type = self.types.type_of_declaration(cursor)
        is_constant = scope != "formal" and cursor.type.get_canonical().is_const_qualified()
        return r.Variable(key, cursor.spelling, type, scope, span=self.unit.span(cursor), is_constant=is_constant)

    def read(self, cursor: Any) -> r.Expression:
        """The record of an expression; one that is nested too deeply is unknown."""
        with self.unit.enter() as is_shallow:
            if not is_shallow:
                return r.Several((), r.Type("other"), known=False, span=self.unit.span(cursor))
            return self._rules.get(cursor.kind.name, self._read_parts)(cursor)

    def _read_parts(self, cursor: Any) -> r.Expression:
        parts = [self.read(child) for child in children_of(cursor) if child.kind.is_expression()]
        known = cursor.kind.name in ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR")
        return r.Several(tuple(parts), self.types.type_of(cursor.type), known=known, span=self.unit.span(cursor))

    def _read_inside(self, cursor: Any) -> r.Expression:
        children = children_of(cursor)
        return self.read(children[0]) if children else self._read_parts(cursor)

    def _read_cast(self, cursor: Any, children: list[Any]) -> r.Expression:
        inside = [child for child in children if child.kind.is_expression()]
        if not inside:
            return self._read_literal(cursor) if cursor.kind.name != "UNEXPOSED_EXPR" else self._read_parts(cursor)
        operand = self.read(inside[-1])
        return self.cast(operand, self.types.type_of(cursor.type), operand.span)

    def cast(self, operand: r.Expression, to: r.Type, span: Span | None) -> r.Expression:
        """An expression converted to another type, where that costs something or changes its size."""
        of = operand.type
        if self.unit.reading.is_cuda and _is_wider(of, to):  # several words at once, as of `float4`
            return r.Conversion(operand, to, span)
        if of.kind == "array" or (to.kind, to.size) == (of.kind, of.size) or to.kind in ("other", "record"):
            return operand
        if isinstance(operand, r.Constant) and operand.value is not None and to.kind == "real":
            return r.Constant(float(operand.value), to, span=span)
        return r.Conversion(operand, to, span)

    def _read_literal(self, cursor: Any) -> r.Expression:
        value = evaluate_constant(cursor)
        type = self.types.type_of(cursor.type)
        macro = None
        if type.kind == "integer" and isinstance(value, int) and cursor.kind.name == "INTEGER_LITERAL":
            macro = self._find_macro(cursor, value)
        return r.Constant(value, type, macro, span=self.unit.span(cursor))

    def _read_sizeof(self, cursor: Any) -> r.Expression:
        """Reads `sizeof`, also of arrays with varying extents."""
        literal = self._read_literal(cursor)
        inside = [child for child in children_of(cursor) if child.kind.is_expression()]
        if (isinstance(literal, r.Constant) and literal.value) or not inside:
            return literal
        type: r.Type | None = self.read(inside[-1]).type
        factors: list[r.Expression] = []
        while type is not None and type.kind == "array" and type.extent is not None:
            factors.append(type.extent)
            type = type.of
        result: r.Expression = r.Constant(type.size if type else 8, INT, span=literal.span)
        for factor in factors:
            result = r.Operation("*", (result, factor), INT, literal.span)
        return result

    def _find_macro(self, cursor: Any, value: int) -> str | None:
        """Name of the macro that a number comes from, where only one macro stands for it."""
        file, offset = self.unit.reading.file_offset(cursor.location)
        text = self.unit.reading.find_text(file)
        word = text and re.compile(r"[A-Za-z_]\w*").match(text.source.text, text.character_offset(offset))
        if not word:
            return None
        name = self._macro_of_number(word[0], value)
        if name in self.unit.macros and self.unit.macros[name].value != value:
            return None  # another unit gives it another value
        if name is not None and name not in self.unit.macros:
            span = self.unit.reading.macro_span(name)
            text = self.unit.reading.texts.get(span.source.name) if span else None
            comment = text.comment_behind(span.end) if text and span else ""
            self.unit.macros[name] = r.Macro(name, value, comment, span=span)
        return name

    def _macro_of_number(self, word: str, value: int) -> str | None:
        """The macro, among those that a word uses, whose whole body is a number; None if the number stands there bare,
        too."""
        defined, seen, waiting, macros = self.unit.reading.macro_bodies, set[str](), [word], set[str]()
        while waiting:
            name = waiting.pop()
            body = defined.get(name)
            if body is None or name in seen:
                continue
            seen.add(name)
            number = re.fullmatch(r"\(*\s*(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9]\d*))[uUlL]*\s*\)*", body)
            if number is not None:
                bases = zip(number.groups(), (16, 8, 10), strict=True)
                macros |= {name for digits, base in bases if digits is not None and int(digits, base) == value}
            elif re.search(rf"(?<![\w.]){value}(?![\w.])", body):
                return None
            else:
                waiting += re.findall(r"[A-Za-z_]\w*", body)
        return macros.pop() if len(macros) == 1 else None

    def _read_name(self, cursor: Any) -> r.Expression:
        target = cursor.referenced
        span = self.unit.span(cursor)
        if target is None:
            type, value = self.types.type_of(cursor.type), evaluate_constant(cursor)  # what a template was given
            return r.Several((), type, known=False, span=span) if value is None else r.Constant(value, type, span=span)
        kind = target.kind.name
        if kind == "ENUM_CONSTANT_DECL":
            value, name = target.enum_value, target.spelling
            if self.unit.reading.is_users(target.location):
                if name not in self.unit.macros:
                    body = next(map(self.read, target.get_children()), None)
                    self.unit.macros.setdefault(name, r.Macro(name, value, "", span=self.unit.span(target), body=body))
                return r.Constant(value, INT, name if self.unit.macros[name].value == value else None, span=span)
            return r.Constant(value, INT, span=span)
        if kind in ("VAR_DECL", "PARM_DECL"):
            return _referred_variable(self.read_variable(target)).replace(span=span)
        if kind == "FIELD_DECL":
            return self.make_field(target, THIS, cursor)
        if kind == "TEMPLATE_NON_TYPE_PARAMETER":
            return r.Variable(target.get_usr(), target.spelling, INT, "global", span=span)
        if kind in FUNCTIONS:
            return r.Routine(target.get_usr(), target.spelling, self.types.type_of(cursor.type), span)
        return r.Several((), self.types.type_of(cursor.type), span=span)

    def _read_binary(self, cursor: Any) -> r.Expression:
        code = load_libclang().conf.lib.clang_getCursorBinaryOperatorKind(cursor)
        children = children_of(cursor)
        operator = BINARY.get(code)
        span = self.unit.span(cursor)
        type = self.types.type_of(cursor.type)
        if operator is None or len(children) != 2:
            return self._read_parts(cursor)
        left, right = map(self.read, children)
        if code == COMMA:
            return r.Several((left, right), type, span=span)
        sign = f"operator{operator}{'=' if code >= FIRST_COMPOUND else ''}"
        if code != ASSIGN and (found := operate_on_complex(sign, (left, right), type, span)) is not None:
            return found
        if code == ASSIGN or code >= FIRST_COMPOUND:
            return r.assign(left, right, span, operator="" if code == ASSIGN else operator)
        mask = right.value if isinstance(right, r.Constant) and self.unit.reading.is_cuda else None
        if operator == "&" and isinstance(mask, int) and mask > 0 and not mask & (mask + 1):
            return r.Operation("%", (left, r.Constant(mask + 1, INT, None, span)), type, span)  # of a place in a warp
        if operator in ("<<", ">>") and not (isinstance(right, r.Constant) and right.macro is None):
            value = evaluate_constant(cursor)  # a power of two: no formula in the macro
            if isinstance(value, int):
                return r.Constant(value, type, span=span)
        return r.Operation(operator, (left, right), type, span)

    def _read_unary(self, cursor: Any) -> r.Expression:
        code = load_libclang().conf.lib.clang_getCursorUnaryOperatorKind(cursor)
        children = children_of(cursor)
        span = self.unit.span(cursor)
        if not children:
            return self._read_literal(cursor)
        operand = self.read(children[-1])
        if code in UNARY:
            operator, is_postfix = UNARY[code]
            return r.assign(operand, r.Constant(1, INT), span, operator=operator, is_postfix=is_postfix)
        type = self.types.type_of(cursor.type)
        if code == DEREFERENCE:
            return r.Element(operand, r.Constant(0, INT), self._element_type(operand.type, cursor.type), span=span)
        if code == ADDRESS_OF:
            return r.Address(operand, type, span)
        if code in (MINUS, COMPLEMENT, NOT):
            match operand:
                case r.Constant(value=int(number) | float(number), macro=None) if code == MINUS:
                    return r.Constant(-number, type, span=span)
            if code == MINUS and (found := operate_on_complex("operator-", (operand,), type, span)) is not None:
                return found
            sign = {MINUS: "neg", COMPLEMENT: "~", NOT: "not"}[code]
            return r.Operation(sign, (operand,), type, span)
        return operand

    def _read_subscript(self, cursor: Any) -> r.Expression:
        children = children_of(cursor)
        if len(children) != 2:
            return self._read_parts(cursor)
        base, index = map(self.read, children)
        if index.type.kind in ("pointer", "array") and base.type.kind == "integer":
            base, index = index, base
        return r.Element(base, index, self._element_type(base.type, cursor.type), span=self.unit.span(cursor))

    def _element_type(self, base: r.Type, written: Any) -> r.Type:
        """The type of an element, with the extents that its array was declared with."""
        held = base.kind in ("pointer", "array")
        return base.of if held and base.of is not None else self.types.type_of(written)

    def _read_member(self, cursor: Any) -> r.Expression:
        target, children = cursor.referenced, children_of(cursor)
        inside = [child for child in children if child.kind.is_expression()]
        if self.unit.reading.is_cuda and inside and inside[0].spelling in INDICES:
            return index_variable(inside[0].spelling, cursor.spelling, self.unit.span(cursor))
        base = self.read(inside[0]) if inside else THIS
        if target is None:
            return r.Several((base,), self.types.type_of(cursor.type), known=False, span=self.unit.span(cursor))
        if target.kind.name == "ENUM_CONSTANT_DECL":
            return r.Constant(target.enum_value, INT)
        if (
            isinstance(base, r.Variable)
            and target.semantic_parent.spelling == "fragment"
            and base.type.kind == "record"
        ):
            elements = self.types.type_of_declaration(target)  # a thread's own, in registers
            return r.Variable(f"{base.key}.{target.spelling}", target.spelling, elements, "local", span=base.span)
        return self.make_field(target, base, cursor).replace(span=self.unit.member_span(cursor))

    def make_field(self, target: Any, base: r.Expression, cursor: Any) -> r.Field:
        if base.type.kind == "pointer":
            of = base.type.of or r.Type("record")
            base = r.Element(base, r.Constant(0, INT), of, span=base.span)
        offset = target.get_field_offsetof()
        type = self.types.type_of_declaration(target)
        return r.Field(base, target.spelling, max(offset, 0) // 8, type, self.unit.span(cursor))

    def _read_selection(self, cursor: Any) -> r.Expression:
        children = children_of(cursor)
        if len(children) != 3:
            return self._read_parts(cursor)
        condition, chosen, otherwise = map(self.read, children)
        type = self.types.type_of(cursor.type)
        return r.Selection(condition, chosen, otherwise, type, self.unit.span(cursor))


def _is_wider(of: r.Type, to: r.Type) -> bool:
    """Whether a pointer is made one to words of another size."""
    if to.kind != "pointer" or to.of is None or of.kind not in ("pointer", "array"):
        return False
    word = of.of
    while word is not None and word.kind == "array":
        word = word.of
    words = ("real", "integer", "record")
    return word is not None and word.kind in words and to.of.kind in words and 0 < word.size != to.of.size > 0


def _referred_variable(variable: r.Variable) -> r.Variable:
    """A variable in an expression; a reference has the type of what it refers to."""
    type = variable.type
    is_reference = type.is_reference and type.kind == "pointer" and type.of is not None
    return variable.replace(type=type.of, is_reference=True) if is_reference else variable


def is_static(cursor: Any) -> bool:
    """Whether a variable of a function keeps its value from call to call."""
    kind: str = cursor.storage_class.name
    return kind == "STATIC"
