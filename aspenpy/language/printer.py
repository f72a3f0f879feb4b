"""Printer: the text of a syntax tree, for models made in Python, and the table of precedence that it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from aspenpy.language import nodes
from aspenpy.language.format import format_text
from aspenpy.language.source import Source
from aspenpy.language.tokens import write_string
from aspenpy.record import Record


class Precedence(IntEnum):
    """The levels, loosest first."""

    SUM = 1
    PRODUCT = 2
    NEGATION = 3
    POWER = 4
    ATOM = 5


SUM, PRODUCT, NEGATION, POWER, ATOM = Precedence

Associativity = Literal["left", "right"]
Side = Literal["left", "right"]


class Operator(NamedTuple):
    """A binary or prefix operator: its level, and the side on which an operand of its own level stands bare."""

    symbol: str
    level: Precedence
    associativity: Associativity


BINARY = {
    operator.symbol: operator
    for operator in (
        Operator("+", SUM, "left"),
        Operator("-", SUM, "left"),
        Operator("*", PRODUCT, "left"),
        Operator("/", PRODUCT, "left"),
        Operator("^", POWER, "right"),
    )
}
"""`a - b - c` is `(a - b) - c`; `a ^ b ^ c` is `a ^ (b ^ c)`."""

NEGATE = Operator("-", NEGATION, "right")
"""`-a ^ b` is `-(a ^ b)`; `--a` is `-(-a)`; in `a ^ -b` the exponent needs no parentheses."""


def needs_parentheses(operand: Precedence, operator: Operator, side: Side) -> bool:
    """Whether an operand of this level, on this side of the operator, would be read differently without them."""
    if operator.level is POWER and side == "right" and operand is NEGATION:
        return False
    return operand < operator.level or (operand is operator.level and side != operator.associativity)


def to_aspen(node: Record) -> str:
    """The text of a node, which parses to an equal node: an expression or a condition on one line, anything else laid
    out by the formatter, over as many lines as it needs."""
    text = _text(node)
    return text if isinstance(node, nodes.Expression | nodes.Condition) else format_text(Source(text, "<printed>"))


def _text(node: Any) -> str:
    return _RULES[type(node)](node)


# -- expressions -----------------------------------------------------------------------------------


def _precedence_of(node: nodes.Expression) -> Precedence:
    if isinstance(node, nodes.Chain):
        return BINARY[node.rest[0][0]].level
    return {nodes.Negation: NEGATION, nodes.Power: POWER}.get(type(node), ATOM)


def _write_operand(node: nodes.Expression, operator: Operator) -> str:
    """An operand to the right of an operator. The first of a chain is treated alike: `(a - b) - c` is not one chain."""
    return f"({_text(node)})" if needs_parentheses(_precedence_of(node), operator, "right") else _text(node)


def _write_chain(node: nodes.Chain) -> str:
    spaced = " {} " if _precedence_of(node) is SUM else "{}"
    operators = [operator for operator, _ in node.rest]
    operands = [node.first, *(operand for _, operand in node.rest)]
    texts = [_write_operand(operand, BINARY[operators[0]]) for operand in operands]
    for index, operator in enumerate(operators):
        if operator == "/" and _ends_with_quantity(operands[index]):
            texts[index] = f"({texts[index]})"  # `3 B/s` is a unit, `(3 B)/s` divides by `s`
    return texts[0] + "".join(spaced.format(sign) + text for sign, text in zip(operators, texts[1:], strict=True))


def _ends_with_quantity(node: nodes.Expression) -> bool:
    while isinstance(node, nodes.Negation | nodes.Power):
        node = node.operand if isinstance(node, nodes.Negation) else node.exponent
    return isinstance(node, nodes.Number) and node.unit is not None


def _write_power(node: nodes.Power) -> str:
    base, operator = _text(node.base), BINARY["^"]
    if needs_parentheses(_precedence_of(node.base), operator, "left"):
        base = f"({base})"
    return f"{base}^{_write_operand(node.exponent, operator)}"


def _write_junction(node: nodes.Junction) -> str:
    conditions = [node.first, *(condition for _, condition in node.rest)]
    texts = [f"({_text(c)})" if isinstance(c, nodes.Junction) else _text(c) for c in conditions]
    return texts[0] + "".join(f" {operator} {text}" for (operator, _), text in zip(node.rest, texts[1:], strict=True))


def _write_list(items: Iterable[Any]) -> str:
    return ", ".join(_text(item) for item in items)


# -- what stands in blocks -------------------------------------------------------------------------


def _write_parameter(node: nodes.Parameter) -> str:
    text = f"param {node.name}{'[]' * node.rank} = {_text(node.value)}"
    if node.member_of is not None:
        return f"{text} in {node.member_of}"
    if node.low is not None and node.high is not None:
        text += f" in {_text(node.low)} .. {_text(node.high)}"
    text += " per rank" if node.per_rank else ""
    text += f" with {_text(node.counts)}" if node.counts is not None else ""
    return f"{text}{_write_optional(' counted at {}', node.counted_at)}"


def _write_counted_at(node: nodes.CountedAt) -> str:
    return _write_list(node.sizes)


def _write_counted_size(node: nodes.CountedSize) -> str:
    return f"{node.name} = {_text(node.value)}"


def _write_counts(node: nodes.CountRule) -> str:
    return f"{node.rule}{_write_optional('({})', node.argument)}"


def _write_data(node: nodes.Data) -> str:
    size = f"[{_text(node.size)}]" if node.size is not None else f"as {node.shape}({_write_list(node.factors)})"
    return f"data {node.name} {size}{_write_optional(' in {}', node.memory)}"


def _write_parts(node: nodes.Execute) -> str:
    if node.width is None:
        return ""
    counter, size = _write_optional(" {}", node.counter), _write_optional(" of size [{}]", node.size)
    return f" of{counter} [{_text(node.width)}]{size}{_write_optional(' {}', node.schedule)}"


def _write_requirement(node: nodes.Requirement) -> str:
    size, target = _write_optional(" of size [{}]", node.size), _write_optional(f" {node.direction} {{}}", node.target)
    return (
        f"{node.resource} [{_text(node.quantity)}]{size}{target}{_write_optional(' as {}', _write_list(node.traits))}"
    )


def _write_if(node: nodes.If) -> str:
    branches = " else ".join(f"if ({_text(condition)}) {_write_block(body)}" for condition, body in node.branches)
    return branches + _write_else(node.otherwise)


def _write_kernel(node: nodes.Kernel) -> str:
    arguments = f"({_write_list(node.formals)})" if node.formals else ""
    return f"kernel {node.name}{arguments} {_write_lines((*node.declarations, *node.body))}"


def _write_application(node: nodes.Application) -> str:
    kernels = "\n\n".join(_text(kernel) for kernel in node.kernels)
    declarations = "".join(f"{_text(declaration)}\n" for declaration in node.declarations)
    return f"model {node.name} {{\n{declarations}\n{kernels}\n}}"


def _write_machine(node: nodes.Machine) -> str:
    declarations = "".join(f"{_text(declaration)}\n" for declaration in node.declarations)
    return declarations + "\n" + "\n\n".join(_text(component) for component in node.components)


def _write_block(items: Iterable[Any]) -> str:
    """The text of a block on one line; the formatter opens it if it is long."""
    return f"{{ {' '.join(_text(item) for item in items)} }}"


def _write_lines(items: Iterable[Any]) -> str:
    return "{\n" + "".join(f"{_text(item)}\n" for item in items) + "}"


def _write_cases(node: nodes.Switch | nodes.Probability) -> str:
    return f"{{ {' '.join(_text(case) for case in node.cases)}{_write_else(node.otherwise)} }}"


def _write_else(body: tuple[nodes.Statement, ...] | None) -> str:
    return "" if body is None else f" else {_write_block(body)}"


def _write_label(label: str | None) -> str:
    return "" if label is None else f" {write_string(label)}"


def _write_optional(pattern: str, part: Record | str | None) -> str:
    """The text of an optional node; empty where it is absent."""
    if not part:
        return ""
    return pattern.format(part if isinstance(part, str) else _text(part))


_RULES: dict[type, Callable[[Any], str]] = {
    nodes.Number: lambda node: node.spelling,
    nodes.Name: lambda node: node.name,
    nodes.Negation: lambda node: f"-{_write_operand(node.operand, NEGATE)}",
    nodes.Chain: _write_chain,
    nodes.Power: _write_power,
    nodes.Apply: lambda node: f"{node.function}({_write_list(node.arguments)})",
    nodes.Index: lambda node: node.array.name + "".join(f"[{_text(index)}]" for index in node.indices),
    nodes.Array: lambda node: f"{{{_write_list(node.elements)}}}",
    nodes.Comparison: lambda node: f"{_text(node.left)} {node.operator} {_text(node.right)}",
    nodes.Junction: _write_junction,
    nodes.Parameter: _write_parameter,
    nodes.CountRule: _write_counts,
    nodes.CountedAt: _write_counted_at,
    nodes.CountedSize: _write_counted_size,
    nodes.Enum: lambda node: f"enum {node.name} {{{', '.join(node.members)}}}",
    nodes.Data: _write_data,
    nodes.Override: lambda node: f"{node.name} = {_text(node.value)}",
    nodes.Import: lambda node: (
        f"import {node.name} from {write_string(node.path)}" + _write_optional(" with {}", _write_list(node.overrides))
    ),
    nodes.Mixture: lambda node: f"mixture {node.name} {{{_write_list(node.parts)}}}",
    nodes.Mixed: lambda node: f"{node.name} [{_text(node.amount)}]",
    nodes.Formal: lambda node: f"{node.kind} {node.name}",
    nodes.Trait: lambda node: node.name + _write_optional("({})", _write_list(node.arguments)),
    nodes.Text: lambda node: write_string(node.value),
    nodes.Counted: lambda node: f"{node.counter} in {_text(node.low)} .. {_text(node.high)}",
    nodes.Requirement: _write_requirement,
    nodes.Execute: lambda node: (
        f"execute{_write_optional(' [{}]', node.parallelism)}{_write_parts(node)}"
        f"{_write_label(node.label)} {_write_block(node.requirements)}"
    ),
    nodes.Call: lambda node: (
        f"call {node.kernel}({_write_list(node.arguments)})" if node.arguments else f"call {node.kernel}"
    ),
    nodes.Sample: lambda node: f"sample {node.name} from {node.distribution}({_write_list(node.arguments)})",
    nodes.Group: lambda node: f"{node.mode}{_write_label(node.label)} {_write_block(node.body)}",
    nodes.Loop: lambda node: (
        f"{node.mode}{_write_optional(' {}', node.counter)} [{_text(node.count)}]"
        f"{_write_label(node.label)} {_write_block(node.body)}"
    ),
    nodes.If: _write_if,
    nodes.Case: lambda node: f"[{_text(node.value)}] {_write_block(node.body)}",
    nodes.Switch: lambda node: f"switch ({_text(node.subject)}) {_write_cases(node)}",
    nodes.Probability: lambda node: f"probability {_write_cases(node)}",
    nodes.Kernel: _write_kernel,
    nodes.Application: _write_application,
    nodes.Part: lambda node: (
        f"{node.type}{_write_optional(' [{}]', node.quantity)} {node.name}"
        + _write_optional(" instead of {}", node.replaced)
    ),
    nodes.Property: lambda node: f"property {node.name}{_write_optional(' [{}]', node.value)}",
    nodes.ResourceTrait: lambda node: f"{node.name}{_write_optional('({})', node.argument)} [{_text(node.time)}]",
    nodes.Resource: lambda node: (
        f"resource {node.name}({node.argument}) [{_text(node.time)}]"
        + _write_optional(" with {}", _write_list(node.traits))
    ),
    nodes.Conflict: lambda node: f"conflict {node.first}, {node.second}",
    nodes.PowerDraw: lambda node: f"{node.kind} power [{_text(node.watts)}]",
    nodes.Component: lambda node: (
        f"{node.type} {node.name}{_write_optional(' like {}', node.base)} {_write_lines(node.items)}"
    ),
    nodes.Machine: _write_machine,
}
