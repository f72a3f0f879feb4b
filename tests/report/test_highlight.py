"""The lexer for Pygments: it knows every word, loses none, and tells what names are for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text

from aspenpy.language.tables import tables
from aspenpy.report.highlight import AspenLexer
from tests.syntax.corpus import APPLICATION, FILES, MACHINE


def pieces(text: str) -> list[tuple[object, str]]:
    return [(kind, piece) for _, kind, piece in AspenLexer().get_tokens_unprocessed(text)]


def texts() -> Iterator[str]:
    yield from (APPLICATION, MACHINE)
    yield from (file.read_bytes().decode("utf-8", "replace") for file in FILES)


def test_nothing_is_lost_or_unknown() -> None:
    """Over the library and the conformance cases: the words of models that the parser takes are all known."""
    accepted = 0
    for text in texts():
        found = list(AspenLexer().get_tokens_unprocessed(text))
        assert "".join(piece for _, _, piece in found) == text
        assert all(text.startswith(piece, place) for place, _, piece in found)
        accepted += all(kind is not Error for _, kind, _ in found)
    assert accepted >= len(FILES) - 10  # cases of stray characters, which are refused


@pytest.mark.parametrize("file", [file for file in FILES if "models" in file.parts], ids=lambda file: file.stem)
def test_library(file: Path) -> None:
    assert Error not in {kind for kind, _ in pieces(file.read_text(encoding="utf-8"))}


@given(st.text(st.sampled_from('ab1. \n\r\t"{}[](),=+-*/^<>!$é//kB')) | st.text())
def test_any_text_is_kept(text: str) -> None:
    assert "".join(piece for _, piece in pieces(text)) == text


def test_every_keyword_is_one() -> None:
    for word in tables().keywords:
        (kind,) = (kind for kind, piece in pieces(f"{word} x") if piece == word)
        assert kind in Keyword or kind in Operator.Word, word


def only(text: str, word: str) -> object:
    """The type of the one piece with these characters."""
    (kind,) = {kind for kind, piece in pieces(text) if piece == word}
    return kind


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("all", Name.Class),
        ("leaf", Name.Function),
        ("// every construct of an application", Comment.Single),
        ('"work"', String),
        ("kilo", Keyword.Constant),
        ("Matrix", Name.Class),
        ("flops", Name.Attribute),
        ("stores", Name.Attribute),
        ("dp", Name.Decorator),
        ("simd", Name.Decorator),
        ("random", Name.Decorator),
        ("max", Name.Builtin),
        ("uniform", Name.Builtin),
        ("..", Operator),
        ("!=", Operator),
        ("or", Operator.Word),
        ("execute", Keyword),
        ("kernel", Keyword.Declaration),
        ("0.25", Number),
        (",", Punctuation),
    ],
)
def test_words_of_an_application(word: str, kind: object) -> None:
    assert only(APPLICATION, word) is kind


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("machine", Keyword.Type),
        ("node", Keyword.Type),
        ("interconnect", Keyword.Type),
        ("net", Name.Class),
        ("ram", Name.Class),
        ("GHz", Keyword.Type),
        ("2.8", Number),
        ("GB/s", Keyword.Type),
        ("shared", Name.Attribute),
        ("conflict", Keyword),
        ("width", Name.Decorator),
    ],
)
def test_words_of_a_machine(word: str, kind: object) -> None:
    assert only(MACHINE, word) is kind


def test_names_in_context() -> None:
    assert pieces("include parts/a.aspen") == [
        (Keyword.Namespace, "include"),
        (Text.Whitespace, " "),
        (String, "parts/a.aspen"),
    ]
    assert only("param size2 = sizeA", "sizeA") is Name
    assert only('import fft from "f" with n = 2, m = 3', "m") is Name.Variable
    assert only("kernel k { call fft.main }", "main") is Name.Function
    assert only("param clock = 3 W socket {", "W") is Keyword.Type  # a component of type W, and no watt
    assert only("param power_cap = 3 W param n = 1", "W") is Keyword.Type
    assert only("param n = m machine k {", "m") is Name
    assert only("param n = 3e4kB", "3e4") is Number
    assert only("param n = 2 $ 3", "$") is Error


@pytest.mark.parametrize(
    "body",
    [
        "core [2] inner property size [1]",
        "property size [1] core [2] inner",
        "// first\n resource flops(x) [x] core [2] inner property size [1]",
        "static power [1 W] core [2] inner property size [1]",
    ],
)
def test_what_a_component_holds_is_its_parts_whatever_comes_first(body: str) -> None:
    text = f"node outer {{ {body} }}"
    kinds = {"core": Keyword.Type, "inner": Name.Class, "outer": Name.Class, "node": Keyword.Type}
    assert {word: only(text, word) for word in kinds} == kinds


def test_pygments_finds_it(tmp_path: Path) -> None:
    """By its name and by the names of files, where the package is installed."""
    from importlib.metadata import entry_points

    from pygments.lexers import find_lexer_class_by_name

    if not any(found.name == "aspen" for found in entry_points(group="pygments.lexers")):
        pytest.skip("the package is not installed with its entry points")
    assert find_lexer_class_by_name("aspen") is AspenLexer
