"""Condition: which rows of a sheet are meant, `threads in (4, 6) and not application == lulesh`.

A column is a name, or any header in backticks; a value a number, which may have a unit (`core_frequency >= 2 GHz`), a
word, or a text in quotes. Numbers without a unit are compared with what stands in the file.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from aspenpy.language.diagnostics import fail, suggest_instead
from aspenpy.language.dimensions import UNITS
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import Cell, MeasurementSheet

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

GRAMMAR = r"""
    ?start: clause | clause ("or" clause)+ -> any
    ?clause: factor | factor ("and" factor)+ -> all
    ?factor: NOT factor -> negation
           | "(" start ")" -> brackets
           | column SIGN value -> comparison
           | column NOT? "in" "(" value ("," value)* ","? ")" -> membership
    column: WORD | HEADER
    value: NUMBER WORD? | WORD | TEXT
    NOT: "not"
    NUMBER: /[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d+)?/
    TEXT: /'[^']*'|"[^"]*"/
    HEADER: /`[^`]+`/
    WORD: /[^\W\d][\w.:\/-]*/
    SIGN: /==|!=|<=|>=|[=<>]/
    %ignore /\s+/
"""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EXPECTED: tuple[tuple[set[str], str], ...] = (
    ({"COMMA", "RPAR"}, "`,` or `)`"),
    ({"RPAR"}, "`)`"),
    ({"AND"}, "`and`, `or` or the end"),
    ({"SIGN"}, "a comparison such as `==` or `in`"),
    ({"NUMBER"}, "a number, a word or a text in quotes"),
    ({"HEADER"}, "the name of a column"),
    ({"LPAR"}, "`(` and values behind `in`"),
    ({"IN"}, "`in`"),
    (set(), "`and`, `or` or the end"),
)
"""What a message says is expected where the grammar accepts these terminals; the first line that fits counts."""

DEEPEST = 50  # brackets within each other
FORM = 'a condition is such as "threads in (4, 6)" or "region == main and not threads > 8"'

Holds = Callable[[dict[str, Cell]], bool]


def select_rows(sheet: MeasurementSheet, text: str, name: str = "condition") -> list[int]:
    """The places of the rows for which a condition holds; `name` is what messages call its text. Raises AspenError."""
    source = Source(text, f"<{name}>")
    holds = _Builder(source, sheet).build(parse_condition(source))
    return [index for index, row in enumerate(sheet.rows) if holds(row)]


def number_in(cell: Cell) -> float | None:
    """The number that stands in a cell, if it is one."""
    try:
        value = float(cell.value)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


@cache
def make_parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="lalr", lexer="basic", propagate_positions=True)


def parse_condition(source: Source) -> Tree[Token]:
    """The syntax tree of a condition. Raises AspenError."""
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        return make_parser().parse(source.text)
    except UnexpectedCharacters as error:
        start: Any = error.pos_in_stream
        message = f"`{source.text[start]}` cannot stand here"
        fail("bad-condition", message, Span(source, start, start + 1), hint=FORM)
    except UnexpectedToken as error:
        end = len(source.text)
        at_end = error.token.type == "$END"
        span = Span(source, end, end) if at_end else token_span(source, error.token)
        expected = next(words for terminals, words in EXPECTED if terminals <= error.accepts)
        refuse_word(expected, "the end" if at_end else f"`{error.token}`", span)


def token_span(source: Source, token: Token) -> Span:
    start = token.start_pos or 0
    return Span(source, start, start + len(token))


def refuse_word(expected: str, word: str, span: Span) -> NoReturn:
    fail("bad-condition", f"expected {expected}, found {word}", span, hint=FORM)


class _Builder:
    """Makes a function of a row from the syntax tree of a condition on a sheet."""

    def __init__(self, source: Source, sheet: MeasurementSheet) -> None:
        self.source, self.sheet = source, sheet

    def build(self, tree: Tree[Token], depth: int = 0) -> Holds:
        """The function that says of a row whether the condition of a syntax tree holds."""
        kind = str(tree.data)
        parts: list[Any] = tree.children
        if kind in ("any", "all"):
            join, held = (any if kind == "any" else all), [self.build(part, depth) for part in parts]
            return lambda row: join(part(row) for part in held)
        if kind in ("negation", "brackets"):
            if depth >= DEEPEST:
                span = Span(self.source, tree.meta.start_pos, tree.meta.end_pos)
                fail("bad-condition", f"brackets and `not` are more than {DEEPEST} deep", span)
            inner = self.build(parts[-1], depth + 1)
            return inner if kind == "brackets" else lambda row: not inner(row)
        name, size = self._find_column(parts[0].children[0])
        if kind == "comparison":
            sign, value = parts[1], self._read_value(parts[2], size)
            compare = COMPARISONS[sign]
            if isinstance(value, str) and compare not in (operator.eq, operator.ne):
                message = f"`{sign}` compares numbers, and `{value}` is none"
                fail("bad-condition", message, token_span(self.source, sign))
            return lambda row: compare_cell(compare, row[name], value)
        negated = parts[1] == "not"
        values = [self._read_value(part, size) for part in parts[1 + negated :]]
        return lambda row: any(compare_cell(operator.eq, row[name], value) for value in values) is not negated

    def _find_column(self, token: Token) -> tuple[str, float]:
        """The name of a column, and the size of its unit in base units."""
        name = token.strip("`")
        try:
            heading = self.sheet.heading(name)
        except KeyError:
            hint = suggest_instead(name, self.sheet.names, "columns")
            fail("unknown-column", f"there is no column `{name}`", token_span(self.source, token), hint=hint)
        unit = UNITS.get(heading.unit or "")
        return heading.name, float(unit.size) if unit else 1.0

    def _read_value(self, tree: Tree[Token], size: float) -> float | str:
        """A number in the unit of the column, or a text."""
        parts: list[Any] = tree.children
        token, *units = parts
        if token.type != "NUMBER":
            return str(token).strip("'\"")
        if not units:
            return float(token)
        if units[0] not in UNITS:
            refuse_word("`and`, `or` or the end", f"`{units[0]}`", token_span(self.source, units[0]))
        return float(token) * float(UNITS[units[0]].size) / size


def compare_cell(compare: Callable[[Any, Any], bool], cell: Cell, value: float | str) -> bool:
    """Numbers are equal within rounding; a cell without a number differs from every number."""
    if isinstance(value, str):
        return compare(str(cell.value), value)
    number = number_in(cell)
    if number is None:
        return compare is operator.ne
    equal = math.isclose(number, value, rel_tol=1e-9, abs_tol=1e-300)
    return compare(0, 0) if equal else compare(number, value)
