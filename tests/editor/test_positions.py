"""Positions, outlines and coloured words: against Python's own encodings, and read back word by word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

from aspenpy.editor import structure
from aspenpy.editor.documents import DocumentText, move_offset
from aspenpy.editor.protocol import encode_words, symbol_of
from aspenpy.editor.structure import WORD_TYPES, symbols

TEXT = "plain\nzwölf €\r\n😀 two\n\nlast"
WIDTHS = {"utf-8": lambda text: len(text.encode()), "utf-16": lambda text: len(text.encode("utf-16-le")) // 2}
WIDTHS["utf-32"] = len


@pytest.mark.parametrize("text", [TEXT, "a\nbc\r\n\nd", "", "\n"])
@pytest.mark.parametrize("encoding", WIDTHS)
def test_positions_count_lines_and_columns(text: str, encoding: str) -> None:
    document = DocumentText(text, encoding)
    for offset in range(len(text) + 1):
        before = text[:offset].split("\n")
        assert document.position(offset) == (len(before) - 1, WIDTHS[encoding](before[-1]))
        if text[offset : offset + 1] != "\n" or text[offset - 1 : offset] != "\r":
            assert document.offset(*document.position(offset)) == offset
    assert document.position(-1) == (0, 0)
    assert document.position(len(text) + 1) == document.position(len(text))


@pytest.mark.parametrize(
    ("line", "column", "offset"),
    [
        (-1, 3, 0),
        (1, -1, 6),
        (0, 99, 5),  # in front of the end of its line
        (1, 99, 13),  # in front of both characters of the end
        (2, 0, 15),
        (2, 1, 15),  # in the middle of what takes two units
        (2, 2, 16),
        (3, 5, 21),
        (4, 99, 26),
        (5, 0, 26),
        (9, -1, 26),
    ],
)
def test_positions_that_lie_nowhere_move_to_the_nearest(line: int, column: int, offset: int) -> None:
    assert DocumentText(TEXT).offset(line, column) == offset


def test_parts_are_replaced_from_either_end() -> None:
    for start, end in ((2, 4), (4, 2)):
        replaced = DocumentText("abcdef", "utf-8").replace_part(start, end, "X")
        assert (replaced.text, replaced.encoding) == ("abXef", "utf-8")


@pytest.mark.parametrize(
    ("offset", "moved"), [(0, 0), (3, 3), (4, None), (6, None), (7, 5), (9, 7)]
)  # characters 3 to 7 became two
def test_offsets_move_with_what_is_in_front_of_them(offset: int, moved: int | None) -> None:
    assert move_offset(offset, 3, 7, 2) == moved


MODEL = """model m { // 😀 first
  param n = 4 // says n
  kernel main {
    param k = n + 1
    execute [n] { flops [k*n] as simd }
  }
}
"""


def decoded(data: Sequence[int], lines: Sequence[str]) -> list[tuple[int, str, str]]:
    """Line, word and type of five numbers each: lines and columns since the word before."""
    words, line, column = [], 0, 0
    for down, right, length, kind, modifiers in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        units = lines[line].encode("utf-16-le")
        assert modifiers == 0
        words.append((line, units[2 * column : 2 * (column + length)].decode("utf-16-le"), WORD_TYPES[kind]))
    return words


def test_coloured_words_are_read_back() -> None:
    found = decoded(encode_words(DocumentText(MODEL), None), MODEL.split("\n"))
    assert [(line, word) for line, word, kind in found if kind == "comment"] == [(0, "// 😀 first"), (1, "// says n")]
    assert [word for line, word, kind in found if kind == "keyword"].count("param") == 2
    assert [(line, word) for line, word, kind in found if kind == "number"] == [(1, "4"), (3, "1")]
    texts = list(structure.colour_words(MODEL))
    assert [word for _, word, _ in found] == [MODEL[start : start + length] for start, length, _ in texts]


def test_words_of_a_part_alone() -> None:
    """From the second line's word to the fourth line's: what begins in front of it is left out, what stands at its end
    is not."""
    text = DocumentText(MODEL)
    every = decoded(encode_words(text, None), MODEL.split("\n"))
    part = types.Range(types.Position(1, 2), types.Position(3, 4))
    found = decoded(encode_words(text, part), MODEL.split("\n"))
    assert found == [word for word in every if word[0] in (1, 2)] + [word for word in every if word[0] == 3][:1]


def test_an_outline_nests_what_is_declared() -> None:
    (model,) = symbols(MODEL)
    found = symbol_of(model, DocumentText(MODEL))
    assert (found.name, found.kind, found.children and [item.name for item in found.children]) == (
        "m",
        types.SymbolKind.Module,
        ["n", "main"],
    )
    assert found.children is not None
    kernel = found.children[1]
    assert (kernel.kind, kernel.detail, [item.name for item in kernel.children or ()]) == (
        types.SymbolKind.Function,
        "kernel",
        ["k"],
    )
    assert (kernel.range.start.line, kernel.range.end.line) == (2, 5)
    assert (kernel.selection_range.start.line, kernel.selection_range.start.character) == (2, 9)
    assert (kernel.selection_range.end.character, found.children[0].children) == (13, None)
    assert (found.range.start, found.range.end) == (types.Position(0, 6), types.Position(6, 1))


def test_a_model_folds_from_bracket_to_bracket() -> None:
    """And blocks of several lines in it; one of a single line does not."""
    found = structure.folds(MODEL)
    assert found[0] == (MODEL.index("{"), len(MODEL) - 2, False)
    assert (MODEL.index("{", MODEL.index("main")), len(MODEL) - 4, False) in found
    assert len(found) == 2
