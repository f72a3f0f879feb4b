"""Comments and strings of generated programs: every kind of statement in words, and C that means the same text."""

from __future__ import annotations

import ast
import re

import pytest

from aspenpy.generate.c_literals import WIDTH, comment, string
from aspenpy.generate.flow_comments import block_heading, describe_flow, heading
from aspenpy.models.application import flow
from tests.tiny import application


def described(body: str, declarations: str = "", kernels: str = "") -> list[str]:
    kernel = application(body, declarations, kernels).flow()
    return ["  " * depth + text for depth, text in describe_flow(kernel.body)]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("execute { flops [3*n] as dp, simd }", ["execute [1]: flops [3*n] as dp, simd"]),
        ("execute [n] { loads [2] of size [8] from a }", ["execute [n]: loads [2] of size [8] from a"]),
        ("execute [n] { stores [2] to a as stream }", ["execute [n]: stores [2] to a as stream"]),
        ('execute [2] of [4] "fast" { flops [1] }', ['execute [2] of [4] "fast": flops [1]']),
        ("execute { flops [1] flops [2] as fma }", ["execute [1]: flops [1], flops [2] as fma"]),
        (
            "iterate [n] { execute { flops [1] } execute { flops [2] } }",
            ["iterate [n]", "  execute [1]: flops [1]", "  execute [1]: flops [2]"],
        ),
        ("map [n] { execute { flops [1] } }", ["map [n]", "  execute [1]: flops [1]"]),
        (
            'iterate i [n] "laps" { execute { flops [i] } }',
            ['iterate i [n] "laps"', "  execute [1]: flops [i]"],
        ),
        (
            "if (n > 3) { execute { flops [1] } } else { execute { flops [2] } }",
            ["if (n > 3)", "  execute [1]: flops [1]", "else", "  execute [1]: flops [2]"],
        ),
        ("if (n > 3) { execute { flops [1] } }", ["if (n > 3)", "  execute [1]: flops [1]"]),
        (
            "probability { [0.25] { execute { flops [1] } } else { execute { flops [2] } } }",
            ["with probability 0.25", "  execute [1]: flops [1]", "with probability 0.75", "  execute [1]: flops [2]"],
        ),
        (
            "par { execute { flops [1] } execute { flops [2] } }",
            ["par", "  execute [1]: flops [1]", "  execute [1]: flops [2]"],
        ),
        ("call other", ["call other"]),
        ("call part(2*n)", ["call part(2*n)"]),
    ],
)
def test_statements_in_words(body: str, lines: list[str]) -> None:
    kernels = "kernel other { execute { flops [1] } } kernel part(param k) { execute { flops [k] } }"
    assert described(body, "param n = 5 data a as Array(n, 8)", kernels) == lines


def test_headings() -> None:
    block = application('execute [2] of i [3] of size [i + 1] static "x" { flops [1] }').flow().body
    assert isinstance(block, flow.Block)
    assert block_heading(block) == "execute [2] of i [3] of size [i + 1]"
    assert heading(block, "words") == 'words "x"'
    assert heading(block.replace(label=None), "words") == "words"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("one  two\nthree", "one two three"),
        ("a */ b", "a * / b"),
        ("a /* b", "a / * b"),
        ("a ??/ b ???", "a ? ?/ b ? ? ?"),
        ("", ""),
    ],
)
def test_comments_hold_their_text(text: str, plain: str) -> None:
    assert comment(text) == [f"/* {plain} */"]


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("words", [19, 20, 21, 22, 23, 24, 45, 70])
def test_long_comments_are_broken_between_words(words: int, indent: str) -> None:
    """Words of four letters: as many a line as fit into the width, with the marks of a comment of one line."""
    lines = comment(" ".join(["abcd"] * words), indent)
    fit = (WIDTH - len(indent) - 6 + 1) // 5
    assert len(lines) == -(-words // fit)
    assert [line.count("abcd") for line in lines] == [fit] * (words // fit) + [words % fit] * bool(words % fit)
    assert lines[0].startswith(f"{indent}/* abcd")
    assert all(line.startswith(f"{indent}   abcd") and "*/" not in line[:-2] for line in lines[1:])
    assert [line.endswith(" */") for line in lines] == [False] * (len(lines) - 1) + [True]


@pytest.mark.parametrize(
    "text", ["plain", 'say "x"', "back\\slash", "what??!", "tab\tand\nline", "€ ~\x7f\x1f\x20", ""]
)
def test_strings_are_read_back(text: str) -> None:
    """C's escapes are among those of Python's bytes, but for `\\?`."""
    written = string(text)
    assert re.fullmatch(r'"(?:[ !#-\[\]-~]|\\.|\\\d{3})*"', written)
    assert "??" not in written
    assert ast.literal_eval("b" + written.replace("\\?", "?")).decode() == text
