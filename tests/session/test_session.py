"""Sessions: the state that lines lead to, and the way back."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import AspenError, Session
from aspenpy.language.source import Source, Span, split_at_commas, split_at_sign
from aspenpy.shell.session.question import read_line, split_around
from aspenpy.shell.session.question import read_question as question
from aspenpy.shell.session.session import COMMANDS
from aspenpy.tables.table import Table
from tests.cli.conftest import AXPY, CLUSTER
from tests.thorough import examples

KEPT = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


def new() -> Session:
    return Session(aspenpy.parse(AXPY), aspenpy.parse(CLUSTER))  # type: ignore[arg-type]


def runtime(n: int, clock: int) -> float:
    """Seconds: flops beside loads and stores, which conflict, and the message."""
    flops = math.ceil(n / 8) * 2 * 2 / clock
    memory = math.ceil(n / 2) * (16 + 8) / 10e9
    return 10 * max(flops, memory) + 2e-6 + 1000 / 1e9


class Model(NamedTuple):
    """What a session should say, without a session."""

    past: tuple[tuple[int, int], ...]
    undone: tuple[tuple[int, int], ...] = ()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(1, 5000)),
        st.tuples(st.just("clock"), st.integers(1, 2000)),
        st.tuples(st.just("unset"), st.just(0)),
        st.tuples(st.sampled_from(["undo", "redo"]), st.just(0)),
    ),
    max_size=20,
)


def after(model: Model, kind: str, value: int) -> tuple[str, Model]:
    """The line, and what should be the case behind it; a line that is refused changes nothing."""
    n, clock = model.past[-1]
    if kind == "set":
        return f"set n = {value}", Model((*model.past, (value, clock)))
    if kind == "clock":
        return f"set clock = {value}*mega", Model((*model.past, (n, value * 10**6)))
    if kind == "unset":
        return "unset n", Model((*model.past, (1000, clock)))
    if kind == "undo":
        return "undo", Model(model.past[:-1], (*model.undone, model.past[-1])) if len(model.past) > 1 else model
    return "redo", Model((*model.past, model.undone[-1]), model.undone[:-1]) if model.undone else model


@KEPT
@given(STEPS)
def test_any_steps_end_where_they_should(steps: list[tuple[str, int]]) -> None:
    session, model = new(), Model(((1000, 10**9),))
    for kind, value in steps:
        line, expected = after(model, kind, value)
        try:
            session(line)
        except AspenError:
            assert kind in ("undo", "redo", "unset")
            assert expected == model or kind == "unset"
        else:
            model = expected
    n, clock = model.past[-1]
    assert session.prediction.runtime == pytest.approx(runtime(n, clock), rel=1e-12)
    assert len(session.history.past) == len(model.past)
    assert len(session.history.undone) == len(model.undone)


@KEPT
@given(
    st.lists(
        st.sampled_from(["set n = n0 + 1", "let m = 3*n", "set n = 7^2", "free n", "kernel axpy", "baseline"]),
        max_size=8,
    )
)
def test_undo_restores_the_exact_numbers(lines: list[str]) -> None:
    session = new()
    states = [session.state]
    numbers = [(session.prediction.runtime, session.prediction.totals)]
    for number, line in enumerate(lines):
        session(line.replace("n0", str(number)))
        states.append(session.state)
        numbers.append((session.prediction.runtime, session.prediction.totals))
    for state, number in zip(reversed(states[:-1]), reversed(numbers[:-1]), strict=True):
        session("undo")
        assert session.state is state
        assert (session.prediction.runtime, session.prediction.totals) == number
    for state, number in zip(states[1:], numbers[1:], strict=True):
        session("redo")
        assert session.state is state
        assert (session.prediction.runtime, session.prediction.totals) == number


def test_what_is_refused_changes_nothing(session: Session) -> None:
    session("set n = 2000")
    before = session.history
    for line in (
        "set n = 1/0",
        "set n = 3, m = 4",
        "machine keeneland",
        "kernel man",
        "let n = 3",
        "nonsense",
        "free m",
        "unset",
        "sweep over n = 1..10:log:lin",
        "sweep over n = 1..1e400",
    ):
        with pytest.raises(AspenError):
            session(line)
        assert session.history is before


def test_an_equation_may_be_written_as_a_condition(session: Session) -> None:
    assert str(session("solve 3*n == 12 for n=1..10")) == str(session("solve 3*n = 12 for n=1..10"))


def test_a_change_forgets_what_was_undone(session: Session) -> None:
    session("set n = 2000")
    session("undo")
    session("set n = 3000")
    with pytest.raises(AspenError, match="nothing to redo"):
        session("redo")


def values(session: Session, line: str) -> list[object]:
    """The values that `show` answers with."""
    (table,) = session(line).page
    assert isinstance(table, Table)
    return [row[1].value for row in table.rows]


def test_names_follow_parameters_and_keep_what_they_stood_for(session: Session) -> None:
    session("let double = 2*n")
    session("let four = 2*double")
    session("set n = 500")
    assert values(session, "show double, four") == [1000, 2000]
    session("set clock = double*1e6")
    session("let double = 3*n")
    assert values(session, "show clock, double, four") == [10**9, 1500, 2000]


def test_a_parameter_in_its_own_value_stands_for_what_it_was(session: Session) -> None:
    session("set n = 2*n")
    assert values(session, "show n") == [2000]
    session("set n = n + clock/giga")
    session("set clock = clock/2, n = n + n")
    assert values(session, "show n, clock") == [4001, 500_000_000]
    session("set Core.speed = 3*Core.speed")
    assert values(session, "show Core.speed") == [1_500_000_000]


def test_a_circle_is_told(session: Session) -> None:
    session("set n = clock/mega")
    with pytest.raises(AspenError, match="circular definition: n -> clock -> n"):
        session("set clock = n*mega")


def test_names_cannot_grow_without_bound(session: Session) -> None:
    session("let a = n + n")
    for _ in range(11):  # 2, 5, 11, ... 3*2^12 - 1 names and sums
        session("let a = a + a")
    with pytest.raises(AspenError, match="more than 10,000 names"):
        session("let a = a + a")


def test_values_are_exact(session: Session) -> None:
    assert values(session, "show n/3, 10^30 + 1") == [Fraction(1000, 3), 10**30 + 1]


def test_a_setting_takes_a_tree_or_text() -> None:
    by_text = aspenpy.predict(aspenpy.parse(AXPY), aspenpy.parse(CLUSTER), set={"n": "2*500"})  # type: ignore[arg-type]
    session = Session(by_text.application, by_text.machine, set={"n": "2*500"})
    assert session.prediction.runtime == by_text.runtime
    assert pickle.loads(pickle.dumps(session.prediction)).runtime == by_text.runtime


def test_a_prediction_knows_its_own_lines_only(session: Session) -> None:
    """The same mistake in two lines is told in each at its place."""
    for number, line in enumerate(("set n = 1/(clock - giga)", "  set clock=1e9, n = 1/(clock - giga)"), 1):
        with pytest.raises(AspenError) as refusal:
            session(line)
        (found,) = refusal.value.diagnostics
        assert found.span is not None
        assert found.span.position() == (number, line.index("1/(") + 1)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_gives_examples_that_can_be_read(name: str, session: Session) -> None:
    said = str(session(f"help {name}"))
    assert said.startswith(f"{name}: {COMMANDS[name].purpose}")
    assert re.findall(r"^(?:written|such as) +([\w-]+)", said, re.MULTILINE) == [name, name]


def test_parts_of_a_line() -> None:
    line = read_line("  set f = max(a, b), g = {1, 2} // and so on")
    assert line.text() == "set f = max(a, b), g = {1, 2}"
    assert [part.text() for part in split_at_commas(line)] == ["set f = max(a, b)", "g = {1, 2}"]
    assert [part.text() for part in split_at_sign(line, "=") or ()] == ["set f", "max(a, b), g = {1, 2}"]
    assert split_around(read_line("flops over over over n"), "over")[0].text() == "flops over over"  # type: ignore[index]
    assert split_around(read_line("overall"), "over") is None
    assert split_at_sign(read_line("(a = b)"), "=") is None


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("", list(COMMANDS)),
        ("s", ["schedule", "set", "show", "socket", "solve", "sweep"]),
        ("set cl", ["clock"]),
        ("set n=2*c", ["capped_runtime", "clock"]),
        ("show run", ["runtime"]),
        ("show m", ["messages"]),
        ("kernel ", ["axpy", "main"]),
        ("socket ", ["Processor"]),
        ("machine cori_h", ["cori_haswell"]),
        ("unset ", []),
        ("count st", ["stores"]),
        ("help un", ["undo", "unset"]),
        ("undo ", []),
        ("nonsense ", []),
    ],
)
def test_completion(session: Session, before: str, words: list[str]) -> None:
    assert session.completions(before) == sorted(words)


def test_completion_knows_new_names(session: Session) -> None:
    session("let rate = flops/runtime")
    session("set n=2")
    assert session.completions("show ra") == ["rate"]
    assert session.completions("unset ") == ["n"]


@pytest.mark.parametrize(
    ("asked", "unit"),
    [("runtime*2", "s"), ("2*runtime/3", "s"), ("1/runtime", "Hz"), ("flops/(runtime*2)", "flop/s"), ("2*3", "")],
)
def test_a_plain_factor_leaves_the_unit(asked: str, unit: str) -> None:
    assert question(Span(Source(asked), 0, len(asked)), new().state).unit == unit


def test_the_slope_is_per_the_unit_that_the_parameter_is_read_in() -> None:
    """10^9 flops at a clock of 2 GHz take n/c = 500 ms; d/dc is -n/c^2 = -2.5e-10 s/Hz: -250 ms per GHz, of one flop
    of it -250 ps."""
    text = (
        "param clock = 2 GHz in 1 GHz .. 4 GHz machine box { node chip } node chip { socket s } socket s { core c } "
        "core c { resource flops(n) [n/(clock*1 flop)] }"
    )
    model = "model m { param n = 1e9 kernel main { execute { flops [n] } } }"
    session = Session(aspenpy.load_application(model), aspenpy.load_machine(text))
    for asked, slope in (("runtime", "-250 ms per GHz"), ("runtime/flops", "-250 ps/flop per GHz")):
        assert f"at clock = 2 GHz  {slope}\n" in str(session(f"diff {asked} by clock"))


def test_powers_of_two_are_those_of_the_shell(session: Session) -> None:
    (table,) = (part for part in session("sweep n=20..80:pow2").page if isinstance(part, Table))
    assert [row[0] for row in table.rows] == [32, 64]
    with pytest.raises(AspenError, match="no powers of two from 33 to 40"):
        session("sweep n=33..40:pow2")


def test_a_table_of_a_sweep_has_a_thousand_rows_at_most(session: Session) -> None:
    """1,000 values stand one below the other; of 1,001 it is said what is least and largest, and where. The runtime is
    10*ceil(n/2)*2.4 ns + 3 us."""
    (table,) = (part for part in session("sweep n=1..1000:1000").page if isinstance(part, Table))
    assert len(table.rows) == 1000
    text = str(session("sweep n=1..1001:1001"))
    assert text.count("\n") < 12
    assert "15 us" in text  # 501 pairs: 12.024 us + 3 us
    with pytest.raises(AspenError, match="a table of 1,001 rows is more than 1,000"):
        session("sweep n/3 over n=1..1001:1001")
    (table,) = (part for part in session("sweep n/3 over n=1..1000:1000").page if isinstance(part, Table))
    assert len(table.rows) == 1000


def test_a_line_may_have_several_statements() -> None:
    one, other = new(), new()
    one("set n = 100")
    expected = str(one("show runtime, n"))
    assert str(other("set n = 100; show runtime, n  // ; is no statement")).endswith(expected)
    assert [step.line for step in other.history.past] == ["", "set n = 100"]
    assert other("quit; show n").ended


def test_a_line_of_which_a_statement_is_refused_changes_nothing() -> None:
    session = new()
    before = session.prediction.runtime
    with pytest.raises(AspenError) as caught:
        session("set n = 1; sohw n")
    assert str(caught.value).startswith("error: there is no command `sohw`\n --> <input>:1:12\n")
    assert session.prediction.runtime == before
