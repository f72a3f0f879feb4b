"""Parameters for the names that a program has for numbers: macros, enumerators, constants."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.expr.printer import ASPEN, write_fragments
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.values import Value


def write_macros(program: r.Program, symbols: Mapping[str, Expr], used: Collection[Expr]) -> Iterator[str]:
    """Declares the parameters for the macros that a model uses, and for those in their definitions."""
    made: dict[str, Expr] = {}
    wanted = {macro.name for macro in program.macros if symbols[macro.name] in used}
    while wanted:
        for macro in program.macros:
            if macro.name in wanted:
                made[macro.name] = _macro_value(macro, symbols)
        needed = {symbol for value in made.values() for symbol in graph.free_symbols(value)}
        wanted = {macro.name for macro in program.macros if symbols[macro.name] in needed} - made.keys()
    names = {symbol: str(symbol.payload[0]) for symbol in symbols.values()}
    for macro in program.macros:
        if macro.name in made:
            value = "".join(write_fragments(made[macro.name], ASPEN, names))
            yield f"param {names[symbols[macro.name]]} = {value}  // {_describe_macro(program, macro)}"


def _describe_macro(program: r.Program, macro: r.Macro) -> str:
    line = f":{macro.span.position().line}" if macro.span else ""
    return os.path.basename(program.source.name) + line + (f": {macro.comment}" if macro.comment else "")


def _macro_value(macro: r.Macro, symbols: Mapping[str, Expr]) -> Expr:
    """Formula of an enumerator in other names; the number of all other macros."""
    found = _enumerator_value(macro.body, symbols)
    return graph.number(macro.value) if found is None else v.to_expression(found)


def _enumerator_value(body: r.Expression | None, symbols: Mapping[str, Expr]) -> Value | None:
    """Sum, difference or product of names and whole numbers; None for anything else."""
    if isinstance(body, r.Conversion):
        return _enumerator_value(body.operand, symbols)
    if isinstance(body, r.Constant) and isinstance(body.value, int):
        return constant(body.value) if body.macro not in symbols else atom(symbols[str(body.macro)])
    if not isinstance(body, r.Operation) or len(body.operands) != 2 or body.operator not in ("+", "-", "*"):
        return None
    left, right = (_enumerator_value(part, symbols) for part in body.operands)
    if left is None or right is None:
        return None
    if body.operator == "*":
        return v.multiply(left, right)
    return v.add(left, right if body.operator == "+" else -right)
