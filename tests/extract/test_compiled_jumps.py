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
