"""Condition: which rows of a sheet are meant, `threads in (4, 6) and not application == lulesh`.

    condition  = clause {"or" clause};  clause = factor {"and" factor}
    factor     = "not" factor | "(" condition ")" | column comparison
    comparison = ("==" | "!=" | "<" | "<=" | ">" | ">=") value | ["not"] "in" "(" value {"," value} ")"

A column is a name, or any header in backticks; a value a number, which may have a unit (`core_frequency >= 2 GHz`), a
word, or a text in quotes. Numbers without a unit are compared with what stands in the file.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from aspenpy.language.diagnostics import fail, suggest_instead
from aspenpy.language.dimensions import UNITS
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import Cell, Sheet

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DEEPEST = 50  # brackets within each other
TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d+)?)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<column>`[^`]+`)"
    r"|(?P<word>[^\W\d][\w.:/-]*)|(?P<sign>==|!=|<=|>=|[=<>(),]))"
)
FORM = 'a condition is such as "threads in (4, 6)" or "region == main and not threads > 8"'

Holds = Callable[[dict[str, Cell]], bool]


class Token(NamedTuple):
    """A word of a condition: its kind (`end` at the end of the text) and its text."""

    kind: str
    text: str
    span: Span


def select_rows(sheet: Sheet, text: str, name: str = "condition") -> list[int]:
    """The places of the rows for which a condition holds; `name` is what messages call its text. Raises AspenError."""
    holds = _Parser(Source(text, f"<{name}>"), sheet).condition_alone()
    return [place for place, row in enumerate(sheet.rows) if holds(row)]


def number_in(cell: Cell) -> float | None:
    """The number that stands in a cell, if it is one."""
    try:
        value = float(cell.value)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


class _Parser:
    """Takes the text apart, a word after the other."""

    def __init__(self, source: Source, sheet: Sheet) -> None:
        self.source, self.sheet, self.depth = source, sheet, 0
        self.place = 0
        self.token = self._next()

    def _next(self) -> Token:
        text = self.source.text
        found = TOKEN.match(text, self.place)
        if found is None or found.lastgroup is None:
            start = self.place + len(text[self.place :]) - len(text[self.place :].lstrip())
            if start < len(text):
                fail(
                    "bad-condition",
                    f"`{text[start]}` cannot stand here",
                    Span(self.source, start, start + 1),
                    hint=FORM,
                )
            return Token("end", "", Span(self.source, len(text), len(text)))
        self.place = found.end()
        return Token(found.lastgroup, found[found.lastgroup], Span(self.source, *found.span(found.lastgroup)))

    def _take(self, *texts: str) -> Token | None:
        """The token, if it is one of these words or signs; the next then takes its place."""
        if self.token.kind not in ("word", "sign") or self.token.text not in texts:
            return None
        taken, self.token = self.token, self._next()
        return taken

    def _expected(self, what: str) -> NoReturn:
        found = f"`{self.token.text}`" if self.token.text else "the end"
        fail("bad-condition", f"expected {what}, found {found}", self.token.span, hint=FORM)

    def condition_alone(self) -> Holds:
        found = self._condition()
        if self.token.kind != "end":
            self._expected("`and`, `or` or the end")
        return found

    def _condition(self) -> Holds:
        parts = [self._clause()]
        while self._take("or"):
            parts.append(self._clause())
        return lambda row: any(part(row) for part in parts)

    def _clause(self) -> Holds:
        parts = [self._factor()]
        while self._take("and"):
            parts.append(self._factor())
        return lambda row: all(part(row) for part in parts)

    def _factor(self) -> Holds:
        self.depth += 1
        if self.depth > DEEPEST:
            fail("bad-condition", f"brackets and `not` are more than {DEEPEST} deep", self.token.span)
        if self._take("not"):
            inner = self._factor()
            found: Holds = lambda row: not inner(row)  # noqa: E731 - the branches give one of three functions
        elif self._take("("):
            found = self._condition()
            if not self._take(")"):
                self._expected("`)`")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> Holds:
        if self.token.kind not in ("word", "column"):
            self._expected("the name of a column")
        column, self.token = self.token, self._next()
        name, size = self._column(column)
        negated = self._take("not") is not None
        if self._take("in"):
            if not self._take("("):
                self._expected("`(` and values behind `in`")
            values = [self._value(size)]
            while self._take(","):
                if self.token.text == ")":
                    break
                values.append(self._value(size))
            if not self._take(")"):
                self._expected("`,` or `)`")
            return lambda row: any(compare_cell(operator.eq, row[name], value) for value in values) is not negated
        sign = self._take(*COMPARISONS)
        if sign is None or negated:
            self._expected("`in`" if negated else "a comparison such as `==` or `in`")
        compare, value = COMPARISONS[sign.text], self._value(size)
        if isinstance(value, str) and compare not in (operator.eq, operator.ne):
            fail("bad-condition", f"`{sign.text}` compares numbers, and `{value}` is none", sign.span)
        return lambda row: compare_cell(compare, row[name], value)

    def _column(self, token: Token) -> tuple[str, float]:
        """The name of a column, and what one of its unit is worth."""
        try:
            heading = self.sheet.heading(token.text.strip("`"))
        except KeyError:
            hint = suggest_instead(token.text.strip("`"), self.sheet.names, "columns")
            fail("unknown-column", f"there is no column {'`' + token.text.strip('`') + '`'}", token.span, hint=hint)
        unit = UNITS.get(heading.unit or "")
        return heading.name, float(unit.size) if unit else 1.0

    def _value(self, size: float) -> float | str:
        """A number in the unit of the column, or a text."""
        if self.token.kind not in ("number", "text", "word"):
            self._expected("a number, a word or a text in quotes")
        token, self.token = self.token, self._next()
        if token.kind != "number":
            return token.text.strip("'\"")
        if self.token.kind == "word" and self.token.text in UNITS:
            unit, self.token = UNITS[self.token.text], self._next()
            return float(token.text) * float(unit.size) / size
        return float(token.text)


def compare_cell(compare: Callable[[Any, Any], bool], cell: Cell, value: float | str) -> bool:
    """Numbers are equal within rounding; a cell without a number differs from every number."""
    if isinstance(value, str):
        return compare(str(cell.value), value)
    number = number_in(cell)
    if number is None:
        return compare is operator.ne
    equal = math.isclose(number, value, rel_tol=1e-9, abs_tol=1e-300)
    return compare(0, 0) if equal else compare(number, value)
