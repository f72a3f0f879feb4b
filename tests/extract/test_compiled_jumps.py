"""Conditional jumps of a listing are counted for the condition whose columns they come from."""

from pathlib import Path

import pytest

from aspenpy.assembly.listing import read_listing
from aspenpy.assembly.mca import Simulator
from aspenpy.extract.compiled import CompiledLoops
from aspenpy.language.source import Source, Span

TEXT = "int f(int a, int b)\n{\n  if (a > 3 && b < 7) return (a == b);\n  return 1;\n}\n"
LISTING = """
	.file	"f.c"
	.type	f, @function
f:
	.file 1 "{folder}" "f.c"
	.loc 1 3 7
	cmpl	$3, %edi
	jle	.L1
	.loc 1 3 16
	cmpl	$6, %esi
	jg	.L1
	.loc 1 3 33
	cmpl	%esi, %edi
	jne	.L1
	jmp	.L2
.L2:
	ret
.L1:
	.loc 1 4 3
	ret
	.size	f, .-f
"""


@pytest.mark.parametrize(
    ("condition", "jumps"), [("a > 3", 1), ("b < 7", 1), ("a > 3 && b < 7", 2), ("a == b", 1), ("return 1", 0)]
)
def test_jumps_belong_to_the_condition_at_their_columns(condition: str, jumps: int, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(TEXT, encoding="utf-8")
    loops = CompiledLoops(read_listing(LISTING.replace("{folder}", str(tmp_path))), Simulator("", "", ""), "znver4")
    start = TEXT.index(condition)
    assert loops.count_jumps(Span(Source(TEXT, path=str(file)), start, start + len(condition))) == jumps


CHOICE = "int g(int a, int b)\n{\n  return a < b ? f(a ? 1 : 2) : (a > 9) ? std::max(a, 3)\n    : b;\n}\n"


@pytest.mark.parametrize(("condition", "jumps"), [("a < b", 2), ("a ?", 0), ("a > 9", 1)])
def test_jumps_of_a_choice_may_stand_at_its_marks(condition: str, jumps: int, tmp_path: Path) -> None:
    """GCC 12 puts the jump of `a < b ? x : y` at the colon in C, and at the question mark in C++. By hand: one at each
    mark of the outer choice, and one at the colon of the inner one, on the next line."""
    file = tmp_path / "f.c"
    file.write_text(CHOICE, encoding="utf-8")
    row = CHOICE.splitlines()[2]
    places = [(3, row.index("?") + 1), (3, row.index(" : (") + 2), (4, 5)]
    listing = LISTING.replace(".loc 1 3 7", f".loc 1 {places[0][0]} {places[0][1]}")
    listing = listing.replace(".loc 1 3 16", f".loc 1 {places[1][0]} {places[1][1]}").replace(
        ".loc 1 3 33", ".loc 1 4 5"
    )
    loops = CompiledLoops(read_listing(listing.replace("{folder}", str(tmp_path))), Simulator("", "", ""), "znver4")
    start = CHOICE.index(condition)
    assert loops.count_jumps(Span(Source(CHOICE, path=str(file)), start, start + len(condition.rstrip(" ?")))) == jumps


@pytest.mark.parametrize(("condition", "jumps"), [("v[0] < a", 1), ("v[1] < b", 0), ("v[2]", 0)])
def test_a_jump_may_stand_at_the_word_before_its_condition(condition: str, jumps: int, tmp_path: Path) -> None:
    """GCC 12 puts the jump of `if (v[0] < a)` at `if` where a method of the library gives the element."""
    text = "int h(std::vector<int> v, int a, int b)\n{\n  while (v[1] < b) if ((!(v[0] < a))) v[1] = v[2];\n}\n"
    file = tmp_path / "f.c"
    file.write_text(text, encoding="utf-8")
    listing = LISTING.replace(".loc 1 3 7", f".loc 1 3 {text.splitlines()[2].index('if') + 1}")
    listing = listing.replace(".loc 1 3 16", ".loc 1 1 1").replace(".loc 1 3 33", ".loc 1 1 1")
    loops = CompiledLoops(read_listing(listing.replace("{folder}", str(tmp_path))), Simulator("", "", ""), "znver4")
    start = text.index(condition)
    assert loops.count_jumps(Span(Source(text, path=str(file)), start, start + len(condition))) == jumps
