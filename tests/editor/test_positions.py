"""Positions, outlines and coloured words: against Python's own encodings, and read back word by word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

from aspenpy.editor import completion, names, structure
from aspenpy.editor.completion import Suggestion
from aspenpy.editor.documents import DocumentText, OpenDocument, Workspace, move_offset
from aspenpy.editor.meaning import FileStretch, Remark
from aspenpy.editor.meaning import _stretch as stretch_of
from aspenpy.editor.protocol import diagnostic_of, edits_of, encode_words, item_of, symbol_of
from aspenpy.editor.structure import WORD_TYPES, symbols
from aspenpy.language.source import Source, Span

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


def test_edits_make_the_new_text() -> None:
    """All pairs of texts of up to three lines of two kinds: edits, applied from the end, leave equal lines alone."""
    texts = ["".join(lines) for count in range(4) for lines in product(["a\n", "€b\n"], repeat=count)]
    for old, new in product([*texts, "a\n€b"], [*texts, "a"]):
        document, changed = DocumentText(old), old
        edits = edits_of(document, new)
        for edit in reversed(edits):
            begin, end = (document.offset(at.line, at.character) for at in (edit.range.start, edit.range.end))
            changed = changed[:begin] + edit.new_text + changed[end:]
        assert changed == new
        assert bool(edits) is (old != new)
    (edit,) = edits_of(DocumentText("a\nb\nc\n"), "a\nd\nc\n")
    assert (edit.range, edit.new_text) == (types.Range(types.Position(1, 0), types.Position(2, 0)), "d\n")


@pytest.mark.parametrize(
    ("severity", "code", "hint", "related"),
    [
        ("error", "syntax", "close it", ((FileStretch("/t.aspen", 0, 5), ""),)),
        ("warning", "unused-parameter", "", ((FileStretch("/t.aspen", 6, 11), "first defined here"),)),
        ("note", "unused", "", ()),
    ],
)
def test_remarks_are_diagnostics_of_the_protocol(
    severity: str, code: str, hint: str, related: tuple[tuple[FileStretch, str], ...]
) -> None:
    workspace = Workspace()
    document = OpenDocument("file:///t.aspen", DocumentText(TEXT), 1)
    workspace.documents[document.uri] = document
    found = diagnostic_of(
        workspace, Remark(FileStretch("/t.aspen", 15, 20), severity, code, "wrong", hint, related), document
    )
    assert found.range == types.Range(types.Position(2, 0), types.Position(2, 6))  # a smiley takes two units
    assert found.message == ("wrong\nhint: close it" if hint else "wrong")
    assert (found.severity, found.code, found.source) == (
        {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}.get(
            severity, types.DiagnosticSeverity.Information
        ),
        code,
        "aspenpy",
    )
    assert found.tags == ([types.DiagnosticTag.Unnecessary] if code == "unused-parameter" else None)
    if not related:
        assert found.related_information is None
        return
    (place,) = found.related_information or ()
    assert place.message == (related[0][1] or "here")
    assert place.location.uri == "file:///t.aspen"
    line = 0 if related[0][0].start == 0 else 1
    assert place.location.range == types.Range(types.Position(line, 0), types.Position(line, 5))


def test_suggestions_are_items_of_the_protocol() -> None:
    plain = item_of(Suggestion("flops", names.RESOURCE), 7)
    assert (plain.label, plain.kind, plain.detail) == ("flops", types.CompletionItemKind.Property, None)
    assert (plain.insert_text, plain.insert_text_format, plain.sort_text) == (None, None, "00007")
    snippet = item_of(Suggestion("kernel", completion.SNIPPET, "a kernel", "kernel $1 {}"), 12345)
    assert (snippet.kind, snippet.detail) == (types.CompletionItemKind.Snippet, "a kernel")
    assert snippet.insert_text == "kernel $1 {}"
    assert snippet.insert_text_format == types.InsertTextFormat.Snippet
    assert snippet.sort_text == "12345"
    assert item_of(Suggestion("x", "unknown"), 0).kind is None


OUTLINED = """include a.aspen
machine m {
  param p = 4 in 1 .. 8
  node [2] box
}
node box {
  socket [1] cpu
  param q = 2
}
socket cpu {
  resource flops(n) [n/p]
  property clock [2 GHz]
}
"""


def test_outlines_and_folds_reach_from_where_to_where() -> None:
    def texts(found: list[structure.Symbol]) -> list[object]:
        return [
            (item.name.name, OUTLINED[item.start : item.end], *([texts(item.inner)] if item.inner else []))
            for item in found
        ]

    machine, node, socket = texts(symbols(OUTLINED))
    assert machine == (
        "m",
        OUTLINED[OUTLINED.index("machine") : OUTLINED.index("node box")].rstrip(),
        [("p", "p")],
    )
    assert node == ("box", OUTLINED[OUTLINED.index("node box") : OUTLINED.index("socket cpu")].rstrip(), [("q", "q")])
    assert socket == (
        "cpu",
        OUTLINED[OUTLINED.index("socket cpu") :].rstrip(),
        [("flops", "flops"), ("clock", "clock")],
    )
    assert [OUTLINED[start : end + 1] for start, end, comment in structure.folds(OUTLINED) if not comment] == [
        f"{{{part.partition('}')[0]}}}" for part in OUTLINED.split("{")[1:]
    ]


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("// a\n// b\nmodel m {}\n", ["// a\n// b"]),
        ("// a\n\n// b\n", []),
        ("// a\n\n// b\n// c\n\n\n// d\n", ["// b\n// c"]),
        ("param n = 1 // a\n// b\n", []),
        ("param n = 1 // a\n// b\n  // c", ["// b\n  // c"]),
        ("// a\nparam n = 1\n// b\n// c\n// d", ["// b\n// c\n// d"]),
        ("// a", []),
    ],
)
def test_comments_that_touch_fold(text: str, comments: list[str]) -> None:
    assert [text[start:end] for start, end, comment in structure.folds(text) if comment] == comments


def test_places_of_diagnostics() -> None:
    """Of one without a place the beginning of the file; of others that in their own text, or in one included there."""
    user, included = Source("a b c", path="/there/a.aspen"), Source("d e", path="/there/b.aspen")
    base = user.splice(included)
    assert stretch_of(None, "x.aspen") == FileStretch("x.aspen", 0, 0)
    assert stretch_of(Span(user, 2, 3), "x.aspen") == FileStretch("/there/a.aspen", 2, 3)
    assert stretch_of(Span(user, base + 2, base + 3), "x.aspen") == FileStretch("/there/b.aspen", 2, 3)
    assert stretch_of(Span(Source("a"), 0, 1), "x.aspen") == FileStretch("x.aspen", 0, 1)
