"""The parameters of a model as variables of a C program, which its command line can set; text of C, and what comments
say of blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from aspenpy.answers.scope import Scope
from aspenpy.engine.c_text import NotInC, make_identifier, to_c_fragment
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import shorten_text
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.model import Parameter

LONGEST_FORMULA = 300  # characters of a formula in a comment
Line = tuple[int, str]  # how deep inside of other statements, and the text


def describe_flow(node: flow.Flow) -> Iterator[Line]:
    """A line for each statement inside the node, and one for the node itself."""
    rule: Callable[[Any], Iterator[Line]] = _RULES[type(node)]
    return rule(node)


def heading(node: flow.Repeat | flow.Block | flow.Parallel, words: str) -> str:
    """Heading of a statement, with its label."""
    return words if node.label is None else f'{words} "{node.label}"'


def write_requirement(requirement: flow.Requirement) -> str:
    text = f"{requirement.resource} [{formula(requirement.quantity)}]"
    if requirement.size is not None:
        text += f" of size [{formula(requirement.size)}]"
    if requirement.target is not None:
        text += f" {requirement.direction} {requirement.target}"
    return text + (" as " + ", ".join(map(_trait, requirement.traits)) if requirement.traits else "")


def formula(expr: Expr) -> str:
    """The beginning of an expression in the language."""
    return shorten_text(expr, LONGEST_FORMULA)


def _trait(trait: flow.Trait) -> str:
    arguments = [_argument(argument) for argument in trait.arguments]
    return f"{trait.name}({', '.join(arguments)})" if arguments else trait.name


def _argument(argument: Expr | str | flow.Counted) -> str:
    if isinstance(argument, flow.Counted):
        return f"{formula(argument.counter)} in {formula(argument.low)} .. {formula(argument.high)}"
    return argument if isinstance(argument, str) else formula(argument)


def _indent_body(node: flow.Flow) -> Iterator[Line]:
    return ((depth + 1, text) for depth, text in describe_flow(node))


def _block(node: flow.Block) -> Iterator[Line]:
    asked = ", ".join(write_requirement(requirement) for requirement in node.requirements)
    yield 0, f"{heading(node, execute(node))}: {asked}"


def execute(node: flow.Block) -> str:
    """The C text that begins a block."""
    width = "" if node.width is None else f" of [{formula(node.width)}]"
    if node.sizes is not None:
        counter, size = node.sizes
        width = f" of {counter.name} [{formula(node.width or graph.ONE)}] of size [{formula(size)}]"
    return f"execute [{formula(node.parallelism)}]{width}"


def _sequence(node: flow.Sequence) -> Iterator[Line]:
    for step in node.steps:
        yield from describe_flow(step)


def _repeat(node: flow.Repeat) -> Iterator[Line]:
    counter = f" {node.counter.name}" if node.named else ""
    yield 0, heading(node, f"{node.mode}{counter} [{formula(node.count)}]")
    yield from _indent_body(node.body)


def _choice(node: flow.Choice) -> Iterator[Line]:
    for condition, branch in node.branches:
        yield 0, f"if ({formula(condition)})"
        yield from _indent_body(branch)
    if node.otherwise is not flow.NOTHING:
        yield 0, "else"
        yield from _indent_body(node.otherwise)


def _expectation(node: flow.Expectation) -> Iterator[Line]:
    for chance, case in node.cases:
        yield 0, f"with probability {formula(chance)}"
        yield from _indent_body(case)


def _parallel(node: flow.Parallel) -> Iterator[Line]:
    yield 0, heading(node, "par")
    for branch in node.branches:
        yield from _indent_body(branch)


def _call(node: flow.Call) -> Iterator[Line]:
    bound = [formula(value) for formal, value in node.arguments if formal in node.kernel.formals]
    yield 0, f"call {node.kernel.name}" + (f"({', '.join(bound)})" if bound else "")


_RULES: dict[type, Callable[[Any], Iterator[Line]]] = {
    flow.Block: _block,
    flow.Sequence: _sequence,
    flow.Repeat: _repeat,
    flow.Choice: _choice,
    flow.Expectation: _expectation,
    flow.Parallel: _parallel,
    flow.Call: _call,
}

WIDTH = 118  # characters of a line of comment, with its indentation


def comment(text: str, indent: str = "") -> list[str]:
    """The lines of a comment. What would end it, begin another or be a trigraph is taken apart."""
    import textwrap

    plain = re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", " ".join(text.split()))
    lines = textwrap.wrap(plain, WIDTH - len(indent) - 6, break_long_words=False, break_on_hyphens=False) or [""]
    return [f"{indent}{'/*' if not index else '  '} {line}" for index, line in enumerate(lines[:-1])] + [
        f"{indent}{'/*' if len(lines) == 1 else '  '} {lines[-1]} */"
    ]


def string(text: str) -> str:
    """A string constant; everything but plain ASCII is written as the octal bytes of UTF-8."""
    return '"' + "".join(_character(code) for code in text.encode()) + '"'


def _character(code: int) -> str:
    letter = chr(code)
    if letter in '\\"?':
        return "\\" + letter
    return letter if 32 <= code < 127 else f"\\{code:03o}"


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

    def resolved(self, expr: Expr) -> Expr:
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
            name, value = self.names[symbol], self.resolved(self.scope.definitions[symbol])
            statements, text = self.translate(value, self.names, taken, self.items[symbol].span)
            lines += [*statements, f"if (isnan({name}))", f"    {name} = {text};"]
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void define_parameters(void)\n{{\n{body}}}"
