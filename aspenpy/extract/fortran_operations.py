"""Operations of Fortran on scalars: conversions, complex numbers, extremes, powers of names; and helpers of views."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from aspenpy.extract import records as r
from aspenpy.extract.complex_numbers import FUNCTIONS, list_costs
from aspenpy.extract.fortran_scopes import (
    DESCRIPTOR_BYTES,
    DIMENSION_BYTES,
    EXTENT_AT,
    INDEX,
    INT,
    DimensionBounds,
    Entity,
    TypeComponent,
    View,
    add,
    array_type,
    constant_value,
    integer,
    multiply,
)
from aspenpy.language.source import Span

OPERATORS = {
    ".eq.": "==",
    ".ne.": "!=",
    ".lt.": "<",
    ".le.": "<=",
    ".gt.": ">",
    ".ge.": ">=",
    "/=": "!=",
    ".and.": "&&",
    ".or.": "||",
    ".eqv.": "==",
    ".neqv.": "!=",
}
ARITHMETIC = frozenset({"+", "-", "*", "/"})

IN_C = {
    "dsqrt": "sqrt",
    "dexp": "exp",
    "alog": "log",
    "dlog": "log",
    "alog10": "log10",
    "dlog10": "log10",
    "dsin": "sin",
    "dcos": "cos",
    "dtan": "tan",
    "datan": "atan",
    "datan2": "atan2",
    "aint": "trunc",
    "anint": "round",
    "gamma": "tgamma",
    "dabs": "abs",
    "iabs": "abs",
    "dsign": "sign",
    "amod": "mod",
    "dmod": "mod",
    "amax1": "max",
    "amin1": "min",
    "dmax1": "max",
    "dmin1": "min",
    "max0": "max",
    "min0": "min",
    "dfloat": "dble",
    "float": "real",
    "sngl": "real",
    "ifix": "int",
    "idint": "int",
    "idnint": "nint",
}
"""Specific names of intrinsic functions, and names of the mathematical library of C."""

MATHEMATICAL = frozenset(
    "sqrt exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh erf tgamma hypot trunc round".split()
)
REDUCTIONS = frozenset("sum product maxval minval dot_product count any all".split())

COMPLEX = "complex"
"""The name of the types of complex numbers, which are structures of two reals."""


def scalar_view(value: r.Expression) -> View:
    return View(value.type, (), lambda counters: value)


def join_statements(statements: Sequence[r.Statement]) -> r.Statement:
    return statements[0] if len(statements) == 1 else r.CompoundStatement(tuple(statements))


def range_at(
    place: int, start: r.Expression | None, step: r.Expression | None
) -> Callable[[Sequence[r.Expression]], r.Expression]:
    """The subscript of a range's element; without a start it counts from the first element."""

    def at(counters: Sequence[r.Expression]) -> r.Expression:
        moved = counters[place] if step is None else multiply(counters[place], step)
        return moved if start is None else add(start, moved)

    return at


def component_entity(component: TypeComponent, name: str, base: r.Expression, span: Span | None) -> Entity:
    """A component of a structure as an entity of its own."""
    if base.type.kind == "pointer":
        base = r.Element(base, integer(0), base.type.of or r.Type("record"), span=base.span)
    shape = component.shape
    if component.has_descriptor:
        first = component.offset + DESCRIPTOR_BYTES + EXTENT_AT
        extents = (
            r.Field(
                base,
                f"{name}_extent_{place + 1}",
                first + DIMENSION_BYTES * place,
                INDEX,
                _extent_span(name, span, place),
            )
            for place in range(len(shape))
        )
        shape = tuple(DimensionBounds(integer(1), extent) for extent in extents)
    type = array_type(component.element, shape, component.has_descriptor) if shape else component.element
    return Entity(r.Field(base, name, component.offset, type, span), component.element, shape, component.has_descriptor)


def _extent_span(name: str, span: Span | None, place: int) -> Span | None:
    """The span by which an extent of a component is known: one for each dimension, that begins with the component."""
    if span is None:
        return None
    end = span.source.text.lower().rfind(name, span.start, span.end) + len(name)
    return Span(span.source, span.start, end + place) if end + place <= len(span.source.text) else None


def assign(target: r.Expression, value: r.Expression, span: Span | None) -> r.Statement:
    """An assignment, of a complex number one to each half."""
    if is_complex(target):
        pairs = zip(complex_parts(target), complex_parts(value), strict=True)
        return r.CompoundStatement(tuple(assign(part, given, span) for part, given in pairs), span)
    return r.ExpressionStatement(r.Assignment("", target, convert(value, target.type), target.type, span=span), span)


def convert(operand: r.Expression, to: r.Type) -> r.Expression:
    """An expression as one of another type."""
    of = operand.type
    if of.kind not in ("integer", "real") or to.kind not in ("integer", "real"):
        return operand
    if (to.kind, to.size) == (of.kind, of.size) or (to.kind == of.kind == "integer"):
        return operand
    if to.kind == "real" and (value := constant_value(operand)) is not None:
        return r.Constant(float(value), to, span=operand.span)
    return r.Conversion(operand, to, operand.span)


def is_complex(node: r.Expression) -> bool:
    return node.type.name == COMPLEX


def complex_parts(node: r.Expression) -> tuple[r.Expression, r.Expression]:
    """The real and the imaginary part of a complex number; those of a place are its two halves."""
    if not is_complex(node):
        return node, r.Constant(0.0, r.Type("real", node.type.size))
    if isinstance(node, r.Several):
        return node.parts[0], node.parts[1]
    half = r.Type("real", node.type.size // 2)
    return r.Field(node, "re", 0, half, node.span), r.Field(node, "im", half.size, half, node.span)


def call_of_complex(name: str, parts: tuple[r.Expression, ...], span: Span | None) -> r.Expression:
    """A part of what a function of complex numbers gives, with the cost of all."""
    word = parts[0].type
    if name not in FUNCTIONS:
        return r.Call(f"c{name}", f"c{name}", parts, word, span)
    return r.Several((*parts, *list_costs(FUNCTIONS[name].split(), word, span)), word, span=span)


def make_complex(real: r.Expression, imaginary: r.Expression) -> r.Expression:
    """A complex number of two reals, carried along as a pair until a place takes it."""
    size = max(part.type.size if part.type.kind == "real" else 4 for part in (real, imaginary))
    half = r.Type("real", size)
    pair = convert(real, half), convert(imaginary, half)
    return r.Several(pair, r.Type("record", 2 * size, name=COMPLEX), span=join_spans(real.span, imaginary.span))


def operate(operator: str, left: r.Expression, right: r.Expression) -> r.Expression:
    """An operation on two scalars, the narrower one converted (ISO/IEC 1539-1:2018, section 10.1.5.2)."""
    if is_complex(left) or is_complex(right):
        return _operate_on_complex(operator, left, right)
    span = join_spans(left.span, right.span)
    types = [part.type for part in (left, right)]
    real = max((type for type in types if type.kind == "real"), key=lambda type: type.size, default=None)
    wide = real if real is not None else max(types, key=lambda type: type.size)
    if operator not in ("&&", "||") and real is not None:
        left, right = convert(left, wide), convert(right, wide)
    if operator in ARITHMETIC and wide.kind == "integer" and operator in "+-":
        folded = add(left, right, operator)
        return folded.replace(span=span) if isinstance(folded, r.Operation) else folded
    return r.Operation(operator, (left, right), wide if operator in ARITHMETIC else INT, span)


def _operate_on_complex(operator: str, left: r.Expression, right: r.Expression) -> r.Expression:
    """Arithmetic on complex numbers as GCC writes it for Fortran: a product has four products and two sums, with a real
    factor too, whose imaginary part is a zero; a quotient is Smith's (-fcx-fortran-rules; Smith, "Algorithm 116:
    Complex division", CACM 5, 1962)."""
    (a, b), (c, d) = complex_parts(left), complex_parts(right)
    if operator in ("==", "!="):
        junction = "&&" if operator == "==" else "||"
        return r.Operation(junction, (operate(operator, a, c), operate(operator, b, d)), INT, left.span)
    zero = r.Constant(0.0, (a if is_complex(left) else c).type)  # what GCC computes with, which keeps its sign
    b, d = (b if is_complex(left) else zero), (d if is_complex(right) else zero)
    if operator in "+-":
        imaginary = b if operator == "-" and not is_complex(right) else operate(operator, b, d)
        return make_complex(operate(operator, a, c), imaginary)
    if operator == "*":
        real = operate("-", operate("*", a, c), operate("*", b, d))
        return make_complex(real, operate("+", operate("*", a, d), operate("*", b, c)))
    if not is_complex(right) and (divisor := _literal(c)):
        if math.frexp(abs(divisor))[0] == 0.5:  # a product with its reciprocal, which is exact
            return _operate_on_complex("*", left, r.Constant(1 / divisor, zero.type, span=c.span))
        upper, lower = operate("+", a, operate("*", b, zero)), operate("-", b, operate("*", a, zero))
        return make_complex(operate("/", upper, c), operate("/", lower, c))
    ratio = operate("/", d, c)
    denominator = operate("+", c, operate("*", d, ratio))
    real = operate("/", operate("+", a, operate("*", b, ratio)), denominator)
    return make_complex(real, operate("/", operate("-", b, operate("*", a, ratio)), denominator))


def _literal(node: r.Expression) -> float | None:
    """The number that stands for a divisor; None for formulas."""
    while isinstance(node, r.Conversion):
        node = node.operand
    return float(node.value) if isinstance(node, r.Constant) and isinstance(node.value, int | float) else None


def join_spans(left: Span | None, right: Span | None) -> Span | None:
    if left is None or right is None or left.source is not right.source:
        return left or right
    return Span(left.source, min(left.start, right.start), max(left.end, right.end))


def negate(operand: r.Expression, name: str, span: Span | None) -> r.Expression:
    """The negative or the logical opposite of a scalar."""
    if is_complex(operand):
        return make_complex(*(negate(part, name, span) for part in complex_parts(operand)))
    if name == "neg" and isinstance(operand, r.Constant) and operand.macro is None and operand.value is not None:
        return operand.replace(value=-operand.value, span=_include_sign(operand.span))
    place = _include_sign(operand.span) if name == "neg" else _include_not(operand.span)
    return r.Operation(name, (operand,), operand.type if name == "neg" else INT, place or span)


def _include_sign(span: Span | None) -> Span | None:
    """The place of an operand with the sign in front of it."""
    if span is None:
        return None
    before = span.source.text[: span.start].rstrip()
    return Span(span.source, len(before) - 1, span.end) if before.endswith("-") else span


def _include_not(span: Span | None) -> Span | None:
    """The place of a condition with the `.not.` in front of it, and with parentheses between."""
    before = None if span is None else _NOT.search(span.source.text, max(0, span.start - LONGEST_NOT), span.start)
    if span is None or before is None:
        return span
    return balance_parentheses(Span(span.source, before.start(), span.end)) or span


def extreme(name: str, parts: Sequence[r.Expression], span: Span | None) -> r.Expression:
    largest, *rest = parts
    for part in rest:
        real = next((one.type for one in (largest, part) if one.type.kind == "real"), None)
        called = f"f{name}" if real is not None else name
        pair = (largest, part) if real is None else (convert(largest, real), convert(part, real))
        largest = r.Call(called, called, pair, real or largest.type, span)
    return largest


def absolute_value(operand: r.Expression, span: Span | None) -> r.Expression:
    if is_complex(operand):
        return r.Call("hypot", "hypot", complex_parts(operand), complex_parts(operand)[0].type, span)
    name = "fabs" if operand.type.kind == "real" else "abs"
    return r.Call(name, name, (operand,), operand.type, span)


def remainder(left: r.Expression, right: r.Expression, span: Span | None) -> r.Expression:
    if left.type.kind == "real":
        return r.Call("fmod", "fmod", (left, right), left.type, span)
    return r.Operation("%", (left, right), left.type, span)


def is_intrinsic(name: str) -> bool:
    """Whether a name without a declaration is that of a function of the language."""
    plain = IN_C.get(name, name)
    return plain in MATHEMATICAL or plain in REDUCTIONS or plain in ("min", "max", "abs", "mod", "real", "int", "nint")


_MASKED = re.compile(r"(?:where|forall|concurrent)\s*+\(", re.IGNORECASE)
_NOT = re.compile(r"\.not\.[\s&(]*+\Z", re.IGNORECASE)
LONGEST_NOT = 100
"""Characters among which the `.not.` of a condition is looked for."""

_PIECE = re.compile(r"'[^']*+'|\"[^\"]*+\"|![^\n]*+|[()]")
"""Strings, comments and parentheses."""


def find_object(text: str, first: int, at: int) -> int:
    """Where the object begins whose component stands at a place, such as `a(i)%b%` in front of it."""
    while at > first and text[first:at].endswith("%"):
        depth, at = 0, at - 1
        while at > first and (depth or text[at - 1] == ")" or text[at - 1].isalnum() or text[at - 1] == "_"):
            at -= 1
            depth += (text[at] == ")") - (text[at] == "(")
    return at


def close_parentheses(text: str, start: int, end: int) -> int:
    """The end of the parentheses that open behind a place; the place itself without any."""
    at = start
    while at < end and text[at] in " \t":
        at += 1
    if at >= end or text[at] != "(":
        return start
    depth = 0
    for match in _PIECE.finditer(text, at, end):
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            return match.end()
    return end


def balance_parentheses(span: Span) -> Span | None:
    """The span with the parentheses right around it that it closes or opens; None where there are others."""
    text, start, end = span.source.text, span.start, span.end
    depth = least = 0
    for match in _PIECE.finditer(text, start, end):
        depth += (match[0] == "(") - (match[0] == ")")
        least = min(least, depth)
    for _ in range(-least):
        start = len(text[:start].rstrip(" \t")) - 1
        if start < 0 or text[start] != "(":
            return None
    for _ in range(depth - least):
        end = next((at for at in range(end, len(text)) if text[at] not in " \t"), len(text)) + 1
        if text[end - 1 : end] != ")":
            return None
    return Span(span.source, start, end)


def find_mask(statement: Span) -> Span:
    """The mask of a `where` or `elsewhere`, with its parentheses; of a `forall` or `do concurrent` its whole header."""
    text = statement.source.text
    opening = _MASKED.search(text, statement.start, statement.end)
    if opening is None:
        return statement
    return Span(statement.source, opening.end() - 1, close_parentheses(text, opening.end() - 1, statement.end))
