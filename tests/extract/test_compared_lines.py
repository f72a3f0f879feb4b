"""Lines of a model beside those of a run, with both made by hand: shares, limits and what is named."""

from __future__ import annotations

import pytest

from aspenpy.extract import records as r
from aspenpy.extract.counted_units import RunCounts
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.reconcile import (
    LineCount,
    Reconciliation,
    find_causes,
    reconcile,
    warn_far,
    warn_unmodelled,
)
from aspenpy.extract.replay import RunTally
from aspenpy.language.source import Source, Span

SOURCE = Source("for (i)\nwhile  (x\n  > 3)\nf g\n", "/some/where/a.c")
FOR, WHILE, F, G = Span(SOURCE, 0, 7), Span(SOURCE, 8, 24), Span(SOURCE, 25, 26), Span(SOURCE, 27, 28)


def function(name: str, span: Span) -> r.Function:
    return r.Function(f"key {name}", name, (), r.CompoundStatement(()), span=span)


@pytest.mark.parametrize(
    ("model", "run", "ratio", "near"),
    [
        *((100, 100, 1.0, True), (1049, 1000, 1.049, True), (1051, 1000, 1.051, False), (951, 1000, 0.951, True)),
        *((949, 1000, 0.949, False), (0, 0, 1.0, True), (1, 0, float("inf"), False), (0, 100, 0.0, False)),
    ],
)
def test_lines_within_five_percent_are_near(model: float, run: float, ratio: float, near: bool) -> None:
    line = LineCount("a.c:1", "for", model, run, 0.5)
    assert (line.ratio, line.is_near()) == (pytest.approx(ratio), near)


def tally() -> RunTally:
    """Loops of 40 and 10 passes, 2 and 1 entries of functions; 300 of 400 operations and 100 of 800 bytes in the first
    loop, 80 operations and 640 bytes in the second, the rest in `f`."""
    found = RunTally()
    found.add_passes(FOR, 1, 15)
    found.add_passes(FOR, 3, 25)
    found.add_passes(WHILE, 5, 10)
    found.add_passes(None, 9, 9)
    found.functions = {"key f": 2.0, "key g": 1.0}
    found.add_work(FOR, 0, 200, 50)
    found.add_work(FOR, 1, 100, 50)
    found.add_work(WHILE, 2, 80, 640)
    found.add_work(F, 0, 20, 60)
    return found


def counted(ran: dict[Span, ExecutionCount], executed: dict[Span, float] | None = None) -> RunCounts:
    return RunCounts(ran, {"key f": 2.0, "key h": 1.0}, executed=executed or {})


def test_lines_of_model_and_run() -> None:
    ran = {FOR: ExecutionCount(4, (41.0,)), WHILE: ExecutionCount(5, (20.0, 7.0)), G: ExecutionCount(1, (1.0,))}
    found = reconcile(tally(), counted(ran), [function("f", F), function("g", G)])
    assert [(line.place, line.text, line.model, line.run, line.share, line.span) for line in found.lines] == [
        ("a.c:2", "while (x > 3)", 10.0, 20.0, 640 / 800, WHILE),
        ("a.c:1", "for (i)", 40.0, 41.0, 300 / 400, FOR),
        ("a.c:4", "f()", 2.0, 2.0, 60 / 800, F),
    ]
    assert found.operations == {"closed": 220 / 400, "fitted": 100 / 400, "assumed": 80 / 400}
    assert found.moved == {"closed": 110 / 800, "fitted": 50 / 800, "assumed": 640 / 800}
    assert [line.text for line in found.lines_far_off()] == ["while (x > 3)"]
    assert found.summary() == (
        "held against the run: 2 of 3 lines within 5 %; operations 55 % in closed form, 25 % fitted, 20 % assumed; "
        "bytes 13.8 % in closed form, 6.25 % fitted, 80 % assumed"
    )


def test_a_model_without_work_has_no_shares() -> None:
    empty = RunTally()
    empty.add_passes(FOR, 1, 3)
    found = reconcile(empty, counted({FOR: ExecutionCount(1, (3.0,))}), ())
    assert [line.share for line in found.lines] == [0.0]
    assert set(found.operations.values()) == set(found.moved.values()) == {0.0}


@pytest.mark.parametrize(
    ("entered", "passes", "is_cause"),
    [
        *((4, 40.0, False), (4, 42.0, False), (4, 43.0, True), (4, 38.2, False), (4, 38.0, True), (0, 40.0, False)),
        *((8, 80.0, False), (8, 40.0, True)),
    ],
)
def test_passes_for_each_entry_are_causes(entered: float, passes: float, is_cause: bool) -> None:
    """The model has 40 passes in 4 entries: 10 for each, and 9.5 to 10.53 in the run are near that."""
    ran = {FOR: ExecutionCount(entered, (passes,))}
    assert find_causes(tally(), counted(ran)) == (frozenset({FOR}) if is_cause else frozenset())


@pytest.mark.parametrize(("share", "is_named"), [(0.0099, False), (0.01, True), (0.5, True)])
@pytest.mark.parametrize("run", [100.0, 104.0, 120.0])
def test_far_lines_with_work_are_named(share: float, is_named: bool, run: float) -> None:
    line = LineCount("a.c:1", "for (i)", 100.0, run, share, FOR)
    found = warn_far(Reconciliation((line,), {}, {}))
    assert [(one.code, one.message, one.span) for one in found] == (
        [("differs", "the model has `for (i)` 100 times, the run 120", FOR)] if is_named and run == 120 else []
    )


@pytest.mark.parametrize(("lines", "names"), [((990, 10), ["f"]), ((989, 11), ["f", "g"]), ((400, 600), ["g", "f"])])
def test_functions_that_the_model_lacks_are_named(lines: tuple[float, float], names: list[str]) -> None:
    """Those with more than a hundredth of the lines that ran, those with most first."""
    point = counted({}, {F: lines[0], G: lines[1], WHILE: 0.0})
    both = [function("f", F), function("g", G)]
    found = warn_unmodelled(both, [], point)
    share = dict(zip("fg", lines, strict=True))
    assert [(one.code, one.message.partition(":")[0]) for one in found] == [
        ("unmodelled", f"the model has nothing of `{name}`") for name in names
    ]
    assert all(f"{share[name] / 10:.3g} % of the lines" in one.message for name, one in zip(names, found, strict=True))
    assert not warn_unmodelled(both, ["key f", "key g"], point)
    assert [one.span for one in warn_unmodelled(both, ["key f"], counted({}, {F: 1, G: 1}))] == [G]
