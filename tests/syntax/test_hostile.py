"""Whatever the text: a tree or a report, in time and memory that grow with its length alone."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.language.builder import MAXIMUM_DEPTH
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.format import format_text
from aspenpy.language.infer import dimension_of
from aspenpy.language.parser import parse_expression, parse_file
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from aspenpy.language.tokens import MAXIMUM_BLOCKS, MAXIMUM_NESTING, TokenStream
from tests.syntax.corpus import APPLICATION, FILES, MACHINE
from tests.syntax.strategies import damaged
from tests.thorough import examples, some
from tests.timing import is_done_in, seconds_of

ORIGINALS = [APPLICATION, MACHINE, *(path.read_text(encoding="utf-8") for path in FILES if "include" not in path.name)]


def refusal(read: Callable[[str], object], text: str) -> AspenError | None:
    """What a text is refused with, if it is; any other exception fails the test."""
    try:
        read(text)
    except AspenError as error:
        return error
    return None


def read_file(text: str) -> None:
    parse_file(Source(text))


def lay_out(text: str) -> None:
    format_text(Source(text))


@given(damaged(ORIGINALS) | st.text())
@settings(max_examples=examples(400))
def test_any_text_is_read_or_reported(text: str) -> None:
    error = refusal(read_file, text)
    if error is not None:
        (diagnostic,) = error.diagnostics
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text) + 1
        assert "--> <text>:" in str(error)


@given(st.text())
@settings(max_examples=examples(100))
def test_any_expression_is_read_or_reported(text: str) -> None:
    error = refusal(parse_expression, text)
    assert error is None or len(error.diagnostics) == 1


# -- depth -----------------------------------------------------------------------------------------

DEEP = {
    "calls": ("abs(", "x", ")", 1),
    "calls of sums of products": ("1 + 2*abs(", "x", ")", 3),
    "sums": ("(1 + ", "x", ")", 1),
    "sums the other way": ("(", "x", " + 1)", 1),
    "indices": ("v[", "x", "]", 1),
    "signs": ("-", "x", "", 1),
    "powers": ("x^", "x", "", 1),
    "negative powers": ("x^-", "x", "", 2),
}


@pytest.mark.parametrize(("before", "inner", "behind", "levels"), DEEP.values(), ids=DEEP)
def test_the_deepest_expression_is_no_trouble_and_a_deeper_one_is_refused(
    before: str, inner: str, behind: str, levels: int
) -> None:
    most = MAXIMUM_DEPTH // levels
    text = before * most + inner + behind * most
    tree = parse_expression(text)
    assert tree == parse_expression(text)
    assert hash(tree) == hash(parse_expression(text))
    assert repr(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert parse_expression(to_aspen(tree)) == tree
    assert dimension_of(tree, lambda name: None) is None
    with pytest.raises(AspenError, match="nested"):
        parse_expression(before * (most + 1) + inner + behind * (most + 1))


def test_parentheses_that_only_group_are_bounded() -> None:
    assert parse_expression("(" * MAXIMUM_NESTING + "x" + ")" * MAXIMUM_NESTING) == parse_expression("x")
    with pytest.raises(AspenError, match="nested"):
        parse_expression("(" * (MAXIMUM_NESTING + 1) + "x" + ")" * (MAXIMUM_NESTING + 1))


@pytest.mark.parametrize(
    ("before", "inner", "behind", "depth"),
    [
        ("-", "x", "", 1),  # a sign in front of an operand
        ("x^", "x", "", 1),
        ("x^-", "x", "", 2),
        ("-(", "x", ")", 2),
        ("-f(a, b, ", "x", ")", 2),
        ("[", "x", "]", 1),
        ("x - (", "x", ")", 1),  # a minus that subtracts waits for nothing
        ("2 - (", "x", ")", 1),
        ("2 GB - (", "x", ")", 1),
        ("kilo - (", "x", ")", 1),
        ("f(x) - (", "x", ")", 1),
        ("a[x] - (", "x", ")", 1),
    ],
)
def test_depth_of_nesting(before: str, inner: str, behind: str, depth: int) -> None:
    """So many that wait for their end are accepted, and one more is refused."""
    most = MAXIMUM_NESTING // depth

    def count_words(times: int) -> int:
        return sum(1 for _ in TokenStream(Source(before * times + inner + behind * times), None))

    assert count_words(most) > most
    with pytest.raises(AspenError, match="nested"):
        count_words(most + 1)


@pytest.mark.parametrize(
    ("operator", "accepted"), [("+", True), ("*", True), ("/", True), (",", True), ("<", True), ("^", False)]
)
def test_operators_that_end_a_row_of_signs(operator: str, accepted: bool) -> None:
    """An operator that binds less than a sign begins anew; a power goes on."""
    half = MAXIMUM_NESTING // 2 + 1
    text = "-" * half + "x" + operator + "-" * half + "x"
    if accepted:
        assert sum(1 for _ in TokenStream(Source(text), None)) == 2 * half + 4
    else:
        with pytest.raises(AspenError, match="nested"):
            list(TokenStream(Source(text), None))


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_words_are_bounded(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    monkeypatch.setattr("aspenpy.language.tokens.MAXIMUM_WORDS", 8)
    text = " ".join(["x"] * (8 + more))
    if more <= 0:
        assert len(list(TokenStream(Source(text), None))) == 8 + more + 1  # and the end
    else:
        with pytest.raises(AspenError, match="more than 8 words"):
            list(TokenStream(Source(text), None))


def test_blocks_are_bounded() -> None:
    def nested(blocks: int) -> str:
        return "model t { kernel main { " + "seq { " * (blocks - 2) + "call a" + " }" * blocks

    tree = parse_file(Source(nested(MAXIMUM_BLOCKS)))
    assert parse_file(Source(to_aspen(tree))) == tree
    assert parse_file(Source(format_text(Source(nested(MAXIMUM_BLOCKS))))) == tree
    with pytest.raises(AspenError, match="nested"):
        parse_file(Source(nested(MAXIMUM_BLOCKS + 1)))


def test_pending_signs_and_powers_end_with_the_operand() -> None:
    parse_expression(" + ".join(["-x^2"] * 1000))
    parse_expression("max(" + ", ".join(["-x^2"] * 1000) + ")")
    parse_expression("*".join(["-kilo"] * 1000))


# -- length ----------------------------------------------------------------------------------------

LONG = {
    "opening parentheses": "(" * 10_000,
    "nested parentheses": "(" * 10_000 + "1" + ")" * 10_000,
    "opening braces": "model t { kernel main { " + "seq { " * 25_000,
    "a number of a million digits": "9" * 1_000_000,
    "a long exponent": "1e" + "9" * 50_000,
    "a long name": "n" * 50_000,
    "a long unit": "3 " + "s" * 50_000,
    "a quantity and many comments": "3 W " + "// x\n" * 12_000,
    "an unclosed string": '"' + "a\\" * 25_000,
    "many unclosed strings": '"\\' * 25_000,
    "signs": "-" * 50_000,
    "powers": "2^" * 25_000,
    "points": "." * 50_000,
    "blanks": " " * 50_000,
    "blanks and a stray character": " " * 50_000 + "%",
    "line ends": "\r\n" * 25_000,
    "one long line of stray characters": "%" * 50_000,
    "combining characters": "\u0301" * 25_000,
    "words": "include " * 50_000,
    "slashes": "/" * 50_001,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_nonsense_is_reported_in_short_time(text: str) -> None:
    def refuse() -> None:
        errors = [refusal(read, text) for read in (parse_expression, read_file, lay_out)]
        assert errors != [None, None, None]
        assert all(len(str(error)) < 3_000 for error in errors)

    assert is_done_in(6, lambda: seconds_of(refuse))


def model(size: int) -> str:
    """An application of so many characters."""
    kernel = (
        "kernel k{}(param n) {{ iterate i [n^2] {{ execute [n] {{ flops [n*i + 2.5*giga] as dp\n loads [8*n] }} }} }}"
    )
    kernels = [kernel.format(number) for number in range(size // len(kernel))]
    return "model big { " + " ".join(kernels) + " }"


def seconds(text: str, times: int) -> float:
    """The least processor time it takes to read a text."""
    return min(seconds_of(lambda: read_file(text)) for _ in range(times))


def test_time_grows_with_the_length_alone() -> None:
    few = some(40_000, 10_000)
    assert seconds(model(10 * few), 2) < 30 * seconds(model(few), 3)  # 100 times would be quadratic


def test_memory_grows_with_the_length_alone() -> None:
    text = model(50_000)
    read_file(text)
    tracemalloc.start()
    read_file(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(text)  # the largest model, of 8 MiB, takes less than 1 GiB


def test_many_declarations_are_read() -> None:
    count = 10_000
    tree = parse_file(
        Source("".join(f"param p{i} = -p{i - 1}^2\n" for i in range(count)) + "machine M { node N }"), Reader()
    )
    assert len(tree.declarations) == count
