"""Counts of loops, branches and switches from gcov's lines, against a copy of the program that counts for itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

from aspenpy.extract import records as r
from aspenpy.extract.execution import Build, parse_command
from aspenpy.extract.front_end import ParsedUnit
from aspenpy.extract.hole_values import measure_points
from aspenpy.extract.line_counts import ExecutionCount, ExecutionCounter
from aspenpy.extract.tree import read_program
from aspenpy.extract.units import TranslationUnit
from aspenpy.language.source import Source, Span

PROGRAM = r"""
#include <stdio.h>
#ifdef COUNT
static long c[40];
#define C(k) c[k]++;
#else
#define C(k)
#endif
static unsigned h = 1;
static double x = 0;
static int r(int n) { h = h * 1103515245u + 12345u; return (h >> 16) % n; }
static void leaves(int n) {
  C(0) while (r(21)) {
    C(1) if (r(22) == 0) { C(2) break; }
    C(3) if (r(23) == 0) { C(4) return; }
    x += 1;
  }
  x += n;
  C(5) for (int i = 0; i < n; i++) {
    C(6) if (r(24) < 3) { C(7) continue; }
    C(8) if (r(25) < 5) { C(9) x += 1; } else { C(10) if (r(26) < 9) { C(11) x += 2; } else { x += 3; } }
    C(12) while (r(31) > 5) {
      C(13) if (r(32) < 2) { x += 4; C(14) break; }
    }
  }
}
static int chooses(int n) {
  C(15) switch (r(27) % 4) {
    case 0: C(16) x += 1; break;
    case 1: C(17) x += 2; return 1;
    case 2: C(18) x += 3; break;
    default: C(19) x += 4;
  }
  C(20) do { C(21) x += 1; } while (r(33) > n % 9);
  C(22) while (r(40) > 2) {
    C(23) if (r(34) > 9 && r(35) > 9) continue;
    x += 1;
    C(24) if (r(36) < 4) { C(25) x += 1; }
  }
  return 0;
}
static void jumps(int n) {
  C(26) while (r(37) > 1) {
    C(27) if (r(38) == 3) { C(28) goto behind; }
  }
  C(29) for (int k = 0; k < n; k++) { C(30) x += k; }
behind:
  x += 1;
}
int main(void) {
  for (int i = 0; i < 300; i++) leaves(i % 17);
  for (int i = 0; i < 300; i++) x += chooses(i);
  for (int i = 0; i < 300; i++) jumps(i % 5);
#ifdef COUNT
  for (int k = 0; k < 40; k++) printf("%ld\n", c[k]);
#endif
  return x < 0;
}
"""

COUNTED = {
    "while (r(21))": (0, 1),
    "r(22) == 0": (1, 2),
    "r(23) == 0": (3, 4),
    "for (int i = 0; i < n; i++)": (5, 6),
    "r(24) < 3": (6, 7),
    "r(25) < 5": (8, 9),
    "r(26) < 9": (10, 11),
    "while (r(31) > 5)": (12, 13),
    "r(32) < 2": (13, 14),
    "r(27) % 4": (15, 16, 17, 18, 19),
    "do": (20, 21),
    "r(36) < 4": (24, 25),
    "while (r(37) > 1)": (26, 27),
    "r(38) == 3": (27, 28),
    "for (int k = 0; k < n; k++)": (29, 30),
}
"""The counters at which a statement is entered or evaluated, and at its passes or where it holds."""
UNKNOWN = {"while (r(40) > 2)": (22, 23)}
"""Right or not told: how often a condition of two parts is evaluated is on no line."""


@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("gcov")), reason="compiles programs with GCC")
def test_counts_of_lines_are_those_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["gcc", "-DCOUNT", "program.c", "-o", "counting"], check=True)
    counters = [int(line) for line in subprocess.run("./counting", capture_output=True, check=True).stdout.split()]
    program, _ = read_program(ParsedUnit("program.c"))
    (point,) = measure_points(Build((TranslationUnit("program.c"),)), [program], parse_command("./a.out"), {})
    found = {span.text(): (count.entered, *count.passes) for span, count in point.ran.items()}
    for text, places in COUNTED.items():
        assert found.get(text) == tuple(counters[place] for place in places), text
    for text, places in UNKNOWN.items():
        assert found.get(text) in (None, tuple(counters[place] for place in places)), text
    assert min(counters[place] for places in COUNTED.values() for place in places) > 0


SOURCE = Source("abcdefghij", "a.c")
INT = r.Type("integer", 4)


def at(place: int) -> Span:
    return Span(SOURCE, place, place + 1)


def step(place: int) -> r.Statement:
    return r.ExpressionStatement(r.Constant(place, INT), at(place))


def loop(body: r.Statement) -> r.LoopStatement:
    """`while` at a, whose condition stands at b."""
    return r.LoopStatement(None, r.Operation("<", (), INT, at(1)), None, body, span=at(0))


def leaving(kind: Literal["break", "return"], condition: int, place: int) -> r.Statement:
    test = r.Operation("<", (), INT, at(condition))
    return r.Branch(test, r.Jump(kind, None, at(place)), span=at(condition))


@pytest.mark.parametrize(
    ("body", "lines", "entered"),
    [
        ((step(2),), {1: 11, 2: 8}, 3),  # each entry ends with a test that fails
        ((step(2),), {1: 8, 2: 8}, 0),
        ((step(2), leaving("break", 3, 4)), {1: 11, 2: 8, 3: 8, 4: 2}, 5),  # or with a break
        ((step(2), leaving("return", 3, 4)), {1: 11, 2: 8, 3: 8, 4: 2}, 5),
        ((step(2), leaving("break", 3, 4), leaving("return", 5, 6)), {1: 11, 2: 8, 3: 8, 4: 2, 5: 6, 6: 1}, 6),
        ((step(2), leaving("break", 3, 4)), {1: 11, 2: 8, 3: 8}, None),  # no line tells how often it breaks
        ((step(2),), {2: 8}, None),
        ((step(2),), {1: 11}, None),
    ],
)
def test_entries_of_a_loop_are_those_of_its_ends(
    body: tuple[r.Statement, ...], lines: dict[int, int], entered: int | None
) -> None:
    counter = ExecutionCounter(lambda span: None if span is None else lines.get(span.start))
    whole = r.CompoundStatement((loop(r.CompoundStatement(body)),))
    counter.count_function(r.Function("f", "f", (), whole, span=at(9)))
    found = counter.found.get(at(0))
    assert (found and (found.entered, found.passes)) == (None if entered is None else (entered, (lines[2],)))


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (ExecutionCount(3, (4, 5)), ExecutionCount(1, (2, 3)), ExecutionCount(4, (6, 8))),
        (ExecutionCount(3, (4, 5)), None, ExecutionCount(3, (4, 5))),
        (ExecutionCount(3, (4, 5)), ExecutionCount(1, (2,)), ExecutionCount(3, (4, 5))),
    ],
)
def test_counts_of_code_that_is_compiled_twice(
    first: ExecutionCount, second: ExecutionCount | None, together: ExecutionCount
) -> None:
    assert first.add(second) == together
