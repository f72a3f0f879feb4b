"""What is found piece by piece, from words alone, is what the parser finds in the whole."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.editor.documents import DocumentText, fixes, move_remarks, syntax_remarks
from aspenpy.editor.hints import end_of
from aspenpy.editor.meaning import FileStretch, Remark
from aspenpy.editor.names import names_of
from aspenpy.editor.pieces import pieces, syntax_errors
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.statements import walk_nodes
from aspenpy.language.vocabulary import SI_CONSTANTS
from tests.thorough import THOROUGH, examples
from tests.timing import best_of_three

ROOT = Path(__file__).parents[2]
LULESH = (ROOT / "models" / "apps" / "lulesh.aspen").read_text(encoding="utf-8")


@cache
def models() -> list[tuple[str, Any]]:
    """Texts of models of the library and the tests, a quarter of them but for `ASPENPY_THOROUGH`, with their trees, or
    what is wrong with them."""
    found: list[tuple[str, Any]] = []
    files = sorted([*ROOT.glob("models/**/*.aspen"), *ROOT.glob("tests/**/*.aspen")])
    for file in files[:: 1 if THOROUGH else 4]:
        try:
            text = file.read_bytes().decode().removeprefix("\ufeff")
            found.append((text, parse_file(Source(text, str(file), str(file)), Reader())))
        except UnicodeDecodeError:
            continue
        except AspenError as error:
            found.append((text, error.diagnostics[0]))
    return found


def written(node: Any) -> Iterator[tuple[Span | None, str]]:
    """The names of a node with their places."""
    if isinstance(node, nodes.Name):
        yield node.span, node.name
    elif isinstance(node, nodes.Call):
        yield node.name_span, node.kernel
    else:
        for place, field in (("name_span", "name"), ("resource_span", "resource"), ("target_span", "target")):
            if getattr(node, place, None) is not None and getattr(node, field, None) is not None:
                yield getattr(node, place), getattr(node, field)


def test_every_name_of_every_tree_is_found() -> None:
    """And whether it declares something."""
    counted = 0
    for text, tree in models():
        if isinstance(tree, nodes.Application | nodes.Machine):
            found = {name.start: name for name in names_of(text).names}
            for node in walk_nodes(tree):
                for span, name in written(node):
                    place = span.resolve() if span else None
                    if place is None or place.source.text != text or "." in name or name in SI_CONSTANTS:
                        continue
                    declares = not isinstance(
                        node,
                        nodes.Name
                        | nodes.Call
                        | nodes.Part
                        | nodes.Requirement
                        | nodes.Import
                        | nodes.Override
                        | nodes.Mixed,
                    )
                    assert (found[place.start].name, found[place.start].declares) == (name, declares), (
                        text,
                        place.start,
                    )
                    counted += 1
    assert counted > 3_000


def test_mistakes_in_pieces_are_those_of_the_parser() -> None:
    """The first one at least, where any is found; models without a mistake have none."""
    broken = 0
    for text, tree in models():
        assert "".join(piece.text for piece in pieces(text)) == text
        found = syntax_errors(text)
        if found:
            start, mistake = found[0]
            assert mistake.span is not None
            assert (start + mistake.span.start, mistake.message) == (tree.span.resolve().start, tree.message)
            broken += 1
    assert broken > 15


@pytest.mark.parametrize("typed", ["(", ")", "[", "]", "{", "}", " + ", '"', "// ", "param ", "kernel ", "9", "é"])
def test_a_keystroke_in_a_large_model(typed: str) -> None:
    """What is typed in LULESH is a mistake where the parser says so, or is not seen before the whole check."""
    place = LULESH.index("flops [", len(LULESH) // 2) + len("flops [")
    text = LULESH[:place] + typed + LULESH[place:]
    found = syntax_remarks("x", text)
    try:
        parse_file(Source(text), Reader())
        assert found == []
    except AspenError as error:
        mistake = error.diagnostics[0]
        assert mistake.span is not None
        assert [(item.place.start, item.message) for item in found[:1]] in ([], [(mistake.span.start, mistake.message)])


def test_a_keystroke_costs_a_fraction_of_reading_the_model() -> None:
    count = iter(range(10_000))

    def keystroke() -> None:
        text = LULESH.replace("kernel main", f"kernel main{next(count)}", 1)
        assert syntax_errors(text) == []
        assert len(names_of(text).names) > 900

    keystroke()
    assert best_of_three(keystroke) < best_of_three(lambda: parse_file(Source(LULESH), Reader())) / 2


# -- positions -------------------------------------------------------------------------------------

LINES = st.lists(st.text("aé😀\t\x0b\u2028", max_size=4), min_size=1, max_size=4)


@settings(max_examples=examples(200))
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_and_offsets(lines: list[str], end: str, encoding: str) -> None:
    """Python's codecs count the units."""
    text, codec = DocumentText(end.join(lines), encoding), encoding + ("" if encoding == "utf-8" else "-le")
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    start = 0
    for number, line in enumerate(lines):
        for column in range(len(line) + 1):
            position = number, len(line[:column].encode(codec)) // unit
            assert text.position(start + column) == position
            assert text.offset(*position) == start + column
        assert text.offset(number, 10**9) == start + len(line)
        start += len(line) + len(end)
    assert text.offset(len(lines), 0) == text.offset(10**9, 10**9) == len(text.text)
    assert text.offset(-1, 5) == 0


def test_a_position_within_a_character() -> None:
    assert DocumentText("a😀b").offset(0, 2) == 1


# -- remarks ---------------------------------------------------------------------------------------


def remark(start: int, end: int, message: str = "", hint: str = "") -> Remark:
    return Remark(FileStretch("x", start, end), "error", "code", message, hint, ())


def test_remarks_move_with_the_text() -> None:
    before, touched, behind = remark(0, 4), remark(5, 9), remark(10, 14)
    assert move_remarks([before, touched, behind], "x", 6, 7, 3) == [before, remark(12, 16)]
    assert move_remarks([behind], "another", 0, 5, 0) == [behind]


@pytest.mark.parametrize(
    ("text", "message", "hint", "mended"),
    [
        ("cels", "unknown name `cels`", "did you mean `cells`?", ["cells"]),
        ("fft.mian", "unknown kernel `fft.mian`", "did you mean `fft.main` or `fft.min`?", ["fft.main", "fft.min"]),
        ("flops [2] as sd", "no trait `sd`", "did you mean `sp`?", ["flops [2] as sp"]),
        ("elif", "`elif` is not a word of the language", "write `else if`", ["else if"]),
        ("−", "`−` is not a minus sign", "write `-`", ["-"]),
        ("update", "the label `update` without quotes is an older spelling", 'write `"update"`', ['"update"']),
        ("v", "`param v = {...}` is an older spelling", "write `param v[] = {...}`", ["v[]"]),
        ("if", "expected `(` behind `if`", "write `if (...) {`", []),
        ("x", "something else", "it is one of `a`, `b`", []),
    ],
)
def test_fixes_from_hints(text: str, message: str, hint: str, mended: list[str]) -> None:
    found = fixes(remark(0, len(text), message, hint), text)
    assert [text[: fix.start] + fix.text + text[fix.end :] for fix in found] == mended


def test_declarations_end_where_the_next_begins() -> None:
    text = "core c { property a [1] property rank resource r(n) [n] with t [n] cache c1 } param p = 2 param q[] = {1}"
    ends = {name.name: text[name.start : end_of(text, name)] for name in names_of(text).names if name.declares}
    assert {word: ends[word] for word in ("a", "rank", "r", "p", "q")} == {
        "a": "a [1]", "rank": "rank", "r": "r(n) [n] with t [n]", "p": "p = 2", "q": "q[] = {1}",
    }  # fmt: skip
    assert re.fullmatch(r"c", ends["c"])
