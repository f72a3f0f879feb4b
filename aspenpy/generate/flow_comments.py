"""Blocks and steps of a model in words, a line each, for the comments of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import shorten_text
from aspenpy.models.application import flow

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
    yield 0, f"{heading(node, block_heading(node))}: {asked}"


def block_heading(node: flow.Block) -> str:
    """The first words of a block, in the language."""
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
