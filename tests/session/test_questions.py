"""What sessions answer, against arithmetic by hand, and what they refuse.

axpy runs ten times 2 n flops; `runtime` is that of `tests.session.test_session`.
"""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy import AspenError, Session
from aspenpy.language.source import Source, Span
from aspenpy.shell.session.ranges import values_at
from aspenpy.tables.table import Table
from tests.session.test_session import new, runtime
from tests.thorough import examples


def answer(line: str, *before: str) -> str:
    session = new()
    for each in before:
        session(each)
    return " ".join(str(session(line)).split())


# -- values of a range -----------------------------------------------------------------------------

SESSION = new()


def spaced(text: str, count: int = 10) -> tuple[float, ...]:
    found = values_at(Span(Source(text), 0, len(text)), SESSION.state, count)
    assert found.name == "n"
    return tuple(map(float, found.values))


ENDS = st.tuples(st.integers(1, 500), st.integers(1, 5000)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(max_examples=examples(250))
@given(ENDS, st.integers(2, 30))
def test_ranges_are_those_of_numpy(ends: tuple[int, int], count: int) -> None:
    low, high = ends
    assert spaced(f"n={low}..{high}:lin:{count}") == pytest.approx(numpy.linspace(low, high, count), rel=1e-12)
    assert spaced(f"n={low}..{high}:log:{count}") == pytest.approx(numpy.geomspace(low, high, count), rel=1e-12)
    whole = spaced(f"n={low}..{high}:lin:whole:{count}")
    assert set(whole) == {float(round(value)) for value in numpy.linspace(low, high, count)} or len(whole) <= count
    assert whole[0] == low
    assert whole[-1] == high
    assert list(whole) == sorted(set(whole))
    powers = [float(2**power) for power in range(14) if low <= 2**power <= high]
    if powers:
        assert list(spaced(f"n={low}..{high}:pow2")) == powers
    else:
        with pytest.raises(AspenError, match="no powers of two"):
            spaced(f"n={low}..{high}:pow2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=5, 7", (5, 7)),
        ("n={5}", (5,)),
        ("n=0.5..2.5:whole:9", (1, 2)),  # ends that are no whole numbers are left out
        ("n=0.25..4:pow2", (0.25, 0.5, 1, 2, 4)),
        ("n=-4..4:lin:3", (-4, 0, 4)),
        ("n=1..3:2", (1, 3)),
        ("n=2*3..n/100:2", (6, 10)),  # n is 1000
        ("n=1..2", tuple(1 + place / 4 for place in range(5))),
        ("n:3", (1, 1000, 1e6)),  # declared, and wide: in equal ratios
        ("n=99..100:lin:3", (99, 99.5, 100)),
    ],
)
def test_values_of_a_range(text: str, expected: tuple[float, ...]) -> None:
    assert spaced(text, 5) == pytest.approx(expected)


# -- refusals --------------------------------------------------------------------------------------

REFUSED = [
    ("sweep flops over n = 5", "bad-line", "expected a range LOW..HIGH"),
    ("sweep flops over n=1..10:1", "bad-line", "how many values from 2 to 10,000"),
    ("sweep flops over n=1..10:10001", "bad-line", "how many values from 2 to 10,000"),
    ("sweep flops over n=10..1", "empty-range", "10 is not below 1"),
    ("sweep flops over n=4..4", "empty-range", "4 is not below 4"),
    ("sweep flops over n=0..8:log", "bad-range", "equal ratios cannot begin at 0"),
    ("sweep flops over n=9..15:pow2", "empty-range", "no powers of two from 9 to 15"),
    ("sweep flops over n=1/3..1/2:whole", "empty-range", "no whole number from 0.333333 to 0.5"),
    ("sweep flops over n=1..3:frac", "bad-axis", ""),
    ("sweep flops over n=..3", "bad-axis", "an end of the range is missing"),
    ("sweep flops over Core.speed", "no-range", "declares no range"),
    ("sweep 2*n over n=1..5000:1001", "too-large", "a table of 1,001 rows is more than 1,000"),
    ("let twice = 2*n; sweep twice over n=1..5000:1001", "too-large", "more than 1,000"),
    ("solve flops = 40000", "bad-line", "expected EXPR = EXPR for NAME"),
    ("solve flops for n", "bad-line", "expected EXPR = EXPR for NAME"),
    ("solve flops = for n", "bad-line", "expected EXPR = EXPR for NAME"),
    ("solve = 3 for n", "bad-line", "expected EXPR = EXPR for NAME"),
    ("solve flops = 3 for", "bad-line", ""),
    ("solve n*n = -1 for n=1..10", "out-of-reach", "no `n` from 1 to 10 makes `n*n` -1"),
    ("solve n = 3 for n=10..100:pow2", "bad-line", "expected log, lin or whole"),
    ("solve n = 3 for n=3,4", "bad-line", "expected a range LOW..HIGH"),
    ("solve n = n for n", "two-sided", "depends on `n`"),
    ("solve clock = 3 for n", "no-effect", "`clock` does not depend on `n`"),
    ("solve n = 3.2 for n=3.1..3.4:whole", "empty-range", "no whole number in the range"),
    ("solve flops = 1e400*1e400 for n", "bad-range", "does not fit into double precision"),
    ("diff clock by n", "no-effect", "`clock` does not depend on `n`"),
    ("diff flops by m", "unknown-parameter", "unknown parameter `m`"),
    ("diff flops by", "bad-line", "expected a parameter"),
    ("let twice =", "bad-line", "expected NAME = EXPR"),
    ("let twice", "bad-line", "expected NAME = EXPR"),
    ("let = 3", "bad-line", "expected a name"),
    ("let n = 4", "name-taken", "`n` is a name of the models"),
    ("let runtime = 4", "name-taken", "`runtime` is a metric"),
    ("let twice = 2*n; set twice = 3", "own-name", "`twice` is a name of this session"),
    ("set n", "bad-line", "NAME=EXPR"),
    ("set n =", "bad-line", "NAME=EXPR"),
    ("set = 3", "bad-line", "NAME=EXPR"),
    ("machine", "bad-line", "expected a machine"),
    ("machine nosuch", "unknown-machine", "called `nosuch`"),
    ("set clock = 1.5e9; machine simple", "unknown-parameter", "`clock` is set, and `simple` has no such parameter"),
    ("socket nosuch", "unknown-socket", "no socket `nosuch`"),
    ("kernel", "bad-line", "expected a kernel"),
    ("kernel nosuch", "unknown-kernel", "unknown kernel `nosuch`"),
    ("unset n", "not-set", "`n` is not set"),
    ("set n = 4; unset n, n", "not-set", "`n` is not set"),
    ("unset", "bad-line", "the name of a parameter"),
    ("nodes 0", "bad-line", "a whole number from 1 on"),
    ("nodes x", "bad-line", "a whole number from 1 on"),
    ("compare", "bad-line", "expected machines to compare with"),
    ("compare simple, simple", "bad-line", "expected each machine once"),
    ("compare simple over n=3,4", "bad-line", "expected a range LOW..HIGH"),
    ("compare simple over n=1..4:pow2", "bad-line", "expected log, lin or whole"),
    ("profile x", "bad-line", "expected `calls` or nothing"),
    ("undo", "no-history", "nothing to undo"),
    ("redo", "no-history", "nothing to redo"),
]


@pytest.mark.parametrize(("line", "code", "message"), REFUSED, ids=[line for line, _, _ in REFUSED])
def test_refused(line: str, code: str, message: str) -> None:
    """With a place in the line."""
    session = new()
    *before, last = line.split("; ")
    for each in before:
        session(each)
    with pytest.raises(AspenError) as caught:
        session(last)
    first = caught.value.diagnostics[0]
    assert (first.code, message in first.message) == (code, True), first
    assert first.span is not None


# -- answers ---------------------------------------------------------------------------------------

ANSWERS = [
    ("diff flops by n", ["at n = 1000 20 flop", "elasticity 1 % for each percent of n"]),
    ("diff clock^2 by clock", ["at clock = 1 GHz 2e18 per GHz", "elasticity 2 %", "formula 2*clock"]),
    ("diff (n - 1000)^2 by n", ["d ((n - 1000)^2) / d n", "at n = 1000 0 formula 2*(n - 1000)"]),  # no elasticity at 0
    ("diff gcd(n, 6) by n", ["Between the jumps of gcd; at them there is no slope."]),
    ("diff round(n/7)*n by n", ["at n = 1000 143", "Between the jumps of round;"]),
    ("diff n^3/8 by n", ["at n = 1000 375000", "elasticity 3 %"]),
    # No slope at the root of 0: (1001 + 1001 - 999)/2 between whole numbers; sqrt(1e5) + 3 within 1e5 Hz of 1 GHz.
    ("diff max(n - 1000, 0)^0.5*n + n by n", ["from n = 999 to 1001 501.5", "elasticity 501.5 %", "By differences: "]),
    (
        "diff abs(clock - 1e9)^0.5*clock + 3*clock by clock",
        ["999.9 MHz to 1.0001 GHz 3.19227766e+11", "elasticity 106.4 %"],
    ),
    ("solve flops = 40000 for n", ["flops = 40 kflop at n = 2000", "from 1 to 1e6, the range it declares; all real"]),
    ("solve n*n = 49 for n", ["n*n = 49 at n = 7 "]),
    ("solve n*n = 50 for n=1..10:whole", ["at no n", "leaps over it", "7 49 8 64", "whole numbers only"]),
    ("solve floor(n/7) = 2 for n=1..100", ["at n = 14 .. 21"]),
    ("solve n*(n - 10) = -21 for n=1..10", ["at 2 values of n", "3 7 Tried"]),
    ("solve Core.speed/n = 1e6 for Core.speed", ["at Core.speed = 1e9", "from 1 to 1e18; all real"]),
    ("sweep flops over n=1..64:log:4", ["1 20 flop 4 80 flop 16 320 flop 64 1.28 kflop"]),
    ("sweep flops over clock:3", ["1 GHz 20 kflop 1.5 GHz 20 kflop 2 GHz 20 kflop"]),
    ("sweep 1/(n - 2) over n=1,2,3", ["1 -1 2", "3 1"]),  # no value at 2
    ("history", ["nothing was changed"]),
    ("kernel axpy", ["runtime 1.2 us"]),
    ("socket Processor", ["runtime 15 us"]),
    ("free", ["nothing is free"]),
    ("free clock, n, clock", ["free: clock, n"]),
    ("expr n + 2*n", ["n + 2*n = 3000"]),
]


@pytest.mark.parametrize(("line", "expected"), ANSWERS, ids=[line for line, _ in ANSWERS])
def test_answers(line: str, expected: list[str]) -> None:
    found = answer(line)
    for text in expected:
        assert text in found
    assert ("elasticity" in found) == (line.startswith("diff") and "(n - 1000)^2" not in line)


@settings(max_examples=examples(60))
@given(st.integers(1, 3000), st.integers(1, 4000), st.integers(2, 6))
def test_a_table_has_the_runtime_of_each_point(low: int, more: int, count: int) -> None:
    (table,) = new()(f"sweep runtime, flops over n={low}..{low + more}:whole:{count}").page
    assert isinstance(table, Table)
    for n, seconds, flops in table.rows:
        assert float(seconds) == pytest.approx(runtime(n, 10**9), rel=1e-12)
        assert flops == 20 * n
    assert len(table.rows) <= count


def test_many_rows_are_summed_up() -> None:
    """The least is at the first point, the largest at the last; a thousand rows are a table."""
    assert len(new()("sweep flops over n=1..1000:lin:1000").page[0].rows) == 1000  # type: ignore[union-attr]
    found = answer("sweep flops over n=1..1001:lin:1001")
    assert "20 flop" in found
    assert "least flops 1 largest flops 1,001" in found


def test_two_parameters_make_a_table_of_pairs() -> None:
    (table,) = new()("sweep runtime over n=200,400, clock=1e6,2e9").page
    assert isinstance(table, Table)
    assert [float(seconds) for _, _, seconds in table.rows] == pytest.approx(
        [runtime(n, int(clock)) for n in (200, 400) for clock in (1e6, 2e9)], rel=1e-12
    )
    assert [n for n, _, _ in table.rows] == [200, 200, 400, 400]


def test_changes_against_a_baseline() -> None:
    """Half the elements are half the flops, and nothing is said before there is a baseline of another state."""
    before = ("kernel axpy", "baseline")
    assert "-50 %" in answer("set n = 500", *before)
    assert answer("show flops", *before, "set n = 500").endswith("flops 1 kflop 2 kflop -50 %")
    assert answer("show flops", *before) == "flops 2 kflop"


def test_history_is_listed_from_the_last_change() -> None:
    found = answer("history", "set n = 5", "free clock", "let a = 3*n", "undo")
    assert found == "free clock set n = 5"
    assert answer("undo", "set n = 500").startswith("undone `set n = 500`: runtime 15 us")
    assert answer("redo", "set n = 500", "undo").startswith("done again `set n = 500`: runtime")


@pytest.mark.parametrize(("value", "doubled"), [("1e9/2", 1e9), ("0.75*1e9", 1.5e9), ("2^30", 2**31)])
def test_a_parameter_is_set_by_its_own_value(value: str, doubled: float) -> None:
    session = new()
    session(f"set clock = {value}")
    session("set clock = 2*clock")
    (table,) = session("show clock").page
    assert isinstance(table, Table)
    assert table.rows[0][1].value == doubled


def test_a_session_keeps_its_lines_in_order() -> None:
    session: Session = new()
    for n in (5, 6, 7):
        session(f"set n = {n}")
    assert [step.line for step in session.history.past if step.line] == ["set n = 5", "set n = 6", "set n = 7"]
