"""What is printed parses to what was printed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.format import format_text
from aspenpy.language.nodes import Apply, Chain, Comparison, Junction, Name, Negation, Number, Power
from aspenpy.language.parser import parse_expression, parse_file, parse_value
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from tests.syntax import strategies
from tests.syntax.corpus import FILES
from tests.thorough import THOROUGH, examples

A, B, C = Name("a"), Name("b"), Name("c")
TWO, THREE_BYTES = Number(2, "2"), Number(3, "3 B", "B")

some = settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Chain(A, (("-", Chain(B, (("+", C),))),)), "a - (b + c)"),
        (Chain(Chain(A, (("-", B),)), (("+", C),)), "(a - b) + c"),
        (Chain(A, (("-", B), ("+", C))), "a - b + c"),
        (Chain(Chain(A, (("*", B),)), (("+", C),)), "a*b + c"),
        (Chain(A, (("/", Chain(B, (("*", C),))),)), "a/(b*c)"),
        (Chain(A, (("*", Negation(B)),)), "a*-b"),
        (Negation(Power(A, TWO)), "-a^2"),
        (Power(Negation(A), TWO), "(-a)^2"),
        (Power(A, Negation(Power(B, TWO))), "a^-b^2"),
        (Power(Power(A, B), C), "(a^b)^c"),
        (Power(A, Power(B, C)), "a^b^c"),
        (Negation(Negation(A)), "--a"),
        (Chain(THREE_BYTES, (("/", Name("s")),)), "(3 B)/s"),
        (Chain(Power(A, THREE_BYTES), (("/", Name("s")),)), "(a^3 B)/s"),
        (Chain(THREE_BYTES, (("*", Name("s")),)), "3 B*s"),
        (Apply("max", (A, Chain(B, (("+", C),)))), "max(a, b + c)"),
        (nodes.Index(Name("m.t"), (A, TWO)), "m.t[a][2]"),
        (Comparison("<=", A, B), "a <= b"),
        (
            Junction(
                Junction(Comparison("==", A, B), (("or", Comparison("<", A, C)),)), (("and", Comparison(">", B, C)),)
            ),
            "(a == b or a < c) and b > c",
        ),
    ],
)
def test_expression_has_the_parentheses_it_needs(node: Any, text: str) -> None:
    assert to_aspen(node) == text


def test_statements_and_declarations_are_laid_out() -> None:
    execute = nodes.Execute(A, "x", (nodes.Requirement("flops", B), nodes.Requirement("loads", TWO)))
    assert to_aspen(execute) == 'execute [a] "x" {\n  flops [b]\n  loads [2]\n}\n'
    assert to_aspen(nodes.Parameter("a", B, TWO, C)) == "param a = b in 2 .. c\n"


def test_a_model_is_laid_out() -> None:
    main = nodes.Kernel("main", (), (), (nodes.Call("k", (TWO,)),))
    tree = nodes.Application("t", (nodes.Parameter("a", TWO),), (nodes.Kernel("k", (), (), (nodes.Call("b"),)), main))
    assert to_aspen(tree).splitlines() == [
        *("model t {", "  param a = 2", "", "  kernel k {", "    call b", "  }", ""),
        *("  kernel main {", "    call k(2)", "  }", "}"),
    ]


@given(strategies.expressions)
@some
def test_expressions(tree: nodes.Expression) -> None:
    assert parse_expression(to_aspen(tree)) == tree


@given(strategies.values)
@some
def test_values(tree: nodes.Expression) -> None:
    assert parse_value(to_aspen(tree)) == tree


@given(strategies.conditions)
@some
def test_conditions(tree: nodes.Condition) -> None:
    whole = parse_file(Source(f"model t {{ kernel main {{ if ({to_aspen(tree)}) {{ call a }} }} }}"))
    assert isinstance(whole, nodes.Application)
    statement = whole.kernels[0].body[0]
    assert isinstance(statement, nodes.If)
    assert statement.branches[0][0] == tree


@given(strategies.applications | strategies.machines)
@some
def test_models(tree: nodes.Application | nodes.Machine) -> None:
    text = to_aspen(tree)
    assert parse_file(Source(text)) == tree
    assert format_text(Source(text)) == text


def test_every_kind_of_node_is_printed() -> None:
    kinds = {kind for kind in vars(nodes).values() if isinstance(kind, type) and kind.__module__ == nodes.__name__}
    from aspenpy.language import printer

    assert kinds == set(printer._RULES)


def test_every_model_of_the_corpus_is_printed() -> None:
    for path in FILES if THOROUGH else FILES[2::5]:
        reader = Reader()
        try:
            tree = parse_file(reader.read(path), reader)
        except AspenError:
            continue
        assert parse_file(Source(to_aspen(tree)), reader) == tree
