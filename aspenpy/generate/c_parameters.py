"""The parameters of a model as variables of a C program, which its command line can set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from aspenpy.answers.scope import Scope
from aspenpy.engine.c_text import NotInC, make_identifier, to_c_fragment
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.generate.c_literals import string
from aspenpy.generate.flow_comments import formula
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.application.model import Application
from aspenpy.models.model import Parameter

RESERVED = frozenset("param EOF I INFINITY NAN NULL errno stderr stdin stdout".split())
"""Names that parameters, arguments and counters must not take besides the words of C."""


class CParameters:
    """The parameters that are numbers, members of the C structure `param`; arrays are written out where they are used.

    Those in `computed` are set by kernels, from their arguments, and by nobody else.
    """

    def __init__(self, application: Application, scope: Scope, computed: frozenset[Expr]) -> None:
        parameters = {item.symbol: item for item in application.parameters.values()}
        taken = set(RESERVED)
        self.scope = scope
        self.computed = computed
        self.items: dict[Expr, Parameter] = {
            symbol: item for symbol, item in parameters.items() if not scope.is_array(symbol)
        }
        self.names = {symbol: "param." + make_identifier(item.name, taken) for symbol, item in self.items.items()}

    @cached_property
    def _free(self) -> list[str]:
        return [f"app:{item.name}" for item in self.items.values()]

    def resolve(self, expr: Expr) -> Expr:
        """The expression in parameters, arguments and counters alone."""
        return self.scope.formulas([expr], self._free)[0]

    def translate(
        self, expr: Expr, names: Mapping[Expr, str], taken: set[str], span: Span | None
    ) -> tuple[list[str], str]:
        """C statements and the C expression for a resolved expression. Raises AspenError where it has no form in C."""
        try:
            return to_c_fragment(expr, names, taken)
        except NotInC as error:
            machines = {symbol for symbol in graph.free_symbols(expr) if symbol.owner != ""}
            self.scope.require_known([expr], {*names, *machines}, "it has no value")
            fail("not-in-c", f"no C program can be written: {error}", span)

    def parts(self, text: str) -> list[str]:
        """The parts of a program for the parameters that its text uses: their variables, a table of those that the
        command line can set, and the function that gives the others their values."""
        needed = self._parameters_needed(text)
        settable = [symbol for symbol in needed if symbol not in self.computed]
        as_declared = [symbol for symbol in self.names if symbol in needed]
        parts = [self._variables(as_declared)] if needed else []
        listed = [symbol for symbol in as_declared if symbol not in self.computed]
        return [*parts, self._settings(listed), self._definitions(settable)]

    def _parameters_needed(self, text: str) -> list[Expr]:
        """The parameters in a text, each behind those that its own definition needs."""
        words = set(re.findall(r"\bparam\.\w+", text))
        used = [symbol for symbol, name in self.names.items() if name in words]
        known = [symbol for symbol in self.scope.needed(used, self.computed) if symbol in self.names]
        return known + [symbol for symbol in used if symbol in self.computed]

    def _variables(self, symbols: list[Expr]) -> str:
        members = [self.names[symbol].removeprefix("param.") for symbol in symbols]
        declared = "".join(f"    double {member};\n" for member in members)
        unset = "".join(f"    .{member} = NAN,\n" for member in members)
        return (
            f"/* The model's parameters; NAN is not yet set. */\nstatic struct {{\n{declared}}} param = {{\n{unset}}};"
        )

    def _settings(self, symbols: list[Expr]) -> str:
        rows = "".join(
            f"    {{{string(self.items[symbol].name)}, &{self.names[symbol]}, "
            f"{string(self._describe_parameter(symbol))}}},\n"
            for symbol in symbols
        )
        return f"static const aspen_setting settings[] = {{\n{rows}    {{NULL, NULL, NULL}},\n}};"

    def _describe_parameter(self, symbol: Expr) -> str:
        """A parameter's definition and range."""
        item = self.items[symbol]
        shown = formula(self.scope.definitions[symbol])
        if item.low is not None and item.high is not None:
            shown += f", in {formula(item.low)} .. {formula(item.high)}"
        return shown

    def _definitions(self, symbols: list[Expr]) -> str:
        lines: list[str] = []
        taken = set(RESERVED)
        for symbol in symbols:
            name, value = self.names[symbol], self.resolve(self.scope.definitions[symbol])
            statements, text = self.translate(value, self.names, taken, self.items[symbol].span)
            lines += [*statements, f"if (isnan({name}))", f"    {name} = {text};"]
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void define_parameters(void)\n{{\n{body}}}"
