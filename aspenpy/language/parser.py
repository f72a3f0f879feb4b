"""Parser: the text of a model, an expression or a value becomes its syntax tree.

An LALR(1) parser runs on the tables of the grammar and hands what it recognises to the builder at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.files import Reader
from aspenpy.language.nodes import Application, Condition, Expression, Machine
from aspenpy.language.source import Source, Span, pause_collection
from aspenpy.language.statements import order_own_last
from aspenpy.language.tables import COLLECT, PASS_ON, Rule, tables
from aspenpy.language.trees import load_tree, save_tree, tree_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from aspenpy.language.builder import Builder
    from aspenpy.language.tokens import TokenStream


def parse_file(
    source: Source, reader: Reader | None = None, warnings: list[Diagnostic] | None = None
) -> Application | Machine:
    """The application or machine model a source holds; `reader` finds the files it includes. What it defines itself
    holds against what it includes from the library, before or behind the include.

    Raises AspenError with the first mistake found. Older spellings are accepted and told to `warnings`.
    """
    node = cast("Application | Machine", _load_or_parse(source, reader, [] if warnings is None else warnings))
    if source.in_library is not None or all(file.in_library is None for _, file in source.included):
        return node
    fields = [field for field in ("declarations", "components", "kernels") if hasattr(node, field)]
    return node.replace(**{field: order_own_last(getattr(node, field)) for field in fields})


def _load_or_parse(source: Source, reader: Reader | None, warnings: list[Diagnostic]) -> Any:
    """The tree of a model. Those of the library are kept, unless there is something to tell of them."""
    file = tree_file(source)
    if file is None or reader is None:
        return _parse(source, "file", reader, warnings)
    tree = load_tree(file, source, reader)
    if tree is None:
        diagnostics: list[Diagnostic] = []
        tree = _parse(source, "file", reader, diagnostics)
        warnings += diagnostics
        if not diagnostics:
            save_tree(file, source, tree)
    return tree


def parse_expression(text: str, name: str = "<expression>") -> Expression:
    """A bare expression, such as `2*n + 1`."""
    return cast(Expression, _parse(Source(text, name), "expression"))


def parse_value(text: str, name: str = "<value>") -> Expression:
    """Parses a setting of a parameter: an expression, an array `{1, 2}` or a table `{{1, 2}, {3, 4}}`."""
    return cast(Expression, _parse(Source(text, name), "value"))


def parse_condition(text: str, name: str = "<condition>") -> Condition:
    """A bare condition, such as `n > 1 and potential == eam`."""
    return cast(Condition, _parse(Source(text, name), "condition"))


def parse_part(part: Span) -> Expression:
    """Parses a setting of a parameter, where it is a part of a longer text, such as of a typed line."""
    return cast(Expression, _parse(part.source, "value", part=(part.start, part.end)))


def _parse(
    source: Source,
    start: str,
    reader: Reader | None = None,
    warnings: list[Diagnostic] | None = None,
    part: tuple[int, int] | None = None,
) -> Any:
    from aspenpy.language.builder import Builder  # 2 ms together, which a command on kept trees does without
    from aspenpy.language.tokens import TokenStream

    stream = TokenStream(source, reader, part)
    builder = Builder(source, [] if warnings is None else warnings)
    with pause_collection():
        return _recognise_stream(stream, builder, start)


def _recognise_stream(stream: TokenStream, builder: Builder, start: str) -> Any:
    """Parses a whole stream into the builder's value.

    An action of 0 and more shifts the token, and is the next state; one below is the rule with the number `~action`,
    by which the values of its symbols are reduced to one.
    """
    language = tables()
    actions = language.actions
    steps = [(rule.symbol, rule.length, _maker_of_rule(rule, builder)) for rule in language.rules]
    states = [language.first_state[start]]
    values: list[Any] = []
    for token in stream:
        kind = token.type
        while (action := actions[states[-1]].get(kind, _STUCK)) < 0:
            if action == _STUCK:
                from aspenpy.language.mistakes import refuse

                refuse(stream, token, states, values)
            symbol, length, make = steps[~action]
            if make is None:
                states[-1] = actions[states[-2]][symbol]
                continue
            values[-length:] = (make(values[-length:]),)
            del states[-length:]
            states.append(actions[states[-1]][symbol])
        states.append(action)
        values.append(token)
    return values[0]


_STUCK = -(10**9)
"""Stands for no action: the token cannot stand there. Below 0, so that the loop has one test for it and for rules."""


def _maker_of_rule(rule: Rule, builder: Builder) -> Callable[[list[Any]], Any] | None:
    """Function that makes the value of a rule from the values of its symbols; None if that is the only value."""
    if rule.handler == PASS_ON:
        return None
    make = (lambda values: values) if rule.handler == COLLECT else getattr(builder, rule.handler)
    return make if rule.arrangement is None else _arrange_values(make, rule.arrangement)


def _arrange_values(
    make: Callable[[list[Any]], Any], arrangement: tuple[int | None, ...]
) -> Callable[[list[Any]], Any]:
    """`make` of the values in the order of the arrangement (see `Rule`). A list that comes first grows in place: a
    sum of a million terms is a million times one more."""

    def make_arranged(values: list[Any]) -> Any:
        arranged: list[Any] = []
        for index in arrangement:
            if index is None:
                arranged.append(None)
            elif index >= 0:
                arranged.append(values[index])
            elif arranged:
                arranged += values[~index]
            else:
                arranged = values[~index]
        return make(arranged)

    return make_arranged
