"""What stands in a statement, read from the fields of its node: by hand for one of each kind."""

from __future__ import annotations

import pytest

from aspenpy.language import nodes
from aspenpy.language.parser import parse_file
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from aspenpy.language.statements import bodies_of_statement, expressions_of_statement, walk_statements

LEAF = "execute { flops [n] }"


def only(text: str) -> nodes.Statement:
    tree = parse_file(Source(f"model m {{ kernel main {{ {text} }} }}"))
    assert isinstance(tree, nodes.Application)
    (statement,) = tree.kernels[0].body
    return statement


@pytest.mark.parametrize(
    ("text", "own", "inside"),
    [
        ("execute [p] { flops [n] of size [s] }", ["p"], 0),
        ("call k(a, b + 1)", ["a", "b + 1"], 0),
        ("sample x from uniform(0, c)", ["0", "c"], 0),
        (f"seq {{ {LEAF} {LEAF} }}", [], 1),
        (f"iterate i [n^2] {{ {LEAF} }}", ["n^2"], 1),
        (f"if (a < b) {{ {LEAF} }} else if (a == c) {{ {LEAF} }} else {{ {LEAF} }}", ["a < b", "a == c"], 3),
        (f"switch (mode) {{ [1] {{ {LEAF} }} [q] {{ {LEAF} }} else {{ {LEAF} }} }}", ["mode", "1", "q"], 3),
        (f"probability {{ [0.25] {{ {LEAF} }} [p] {{ {LEAF} }} }}", ["0.25", "p"], 2),
    ],
)
def test_own_expressions_and_bodies(text: str, own: list[str], inside: int) -> None:
    statement = only(text)
    assert [to_aspen(expression) for expression in expressions_of_statement(statement)] == own
    assert len(bodies_of_statement(statement)) == inside


def test_statements_in_the_order_written() -> None:
    text = 'if (a < b) { seq { execute "1" { flops [n] } } } else { execute "2" { flops [n] } }'
    kinds = [type(item).__name__ for item in walk_statements((only(text), only(LEAF)))]
    assert kinds == ["If", "Group", "Execute", "Execute", "Execute"]
