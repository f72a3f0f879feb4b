"""Sensitivities against closed forms: power laws, means of squares, variances of sums and products."""

import json
import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Case, sensitivity
from aspenpy.allowance import separate_allowance
from aspenpy.answers.metrics import find_metric
from aspenpy.explore.sensitivity import Effects
from aspenpy.explore.space import make_space
from aspenpy.explore.variable import declared_variables, read_variable, variable_from_range
from aspenpy.explore.variance import Morris, Sobol
from aspenpy.expr.evaluate import evaluate
from aspenpy.language.diagnostics import AspenError
from aspenpy.report.sensitivity import report_sensitivity
from aspenpy.shell.main import main
from aspenpy.sweeps.points import Formulas
from aspenpy.tables.pages import render_text
from tests.thorough import examples, slow
from tests.tiny import SECONDS, application, both, codes, machine

HASTE = """param clock = 2 in 1 .. 4
machine quick { node box } node box { socket s }
socket s { core [4] c memory d }
core c { resource flops(x) [x/clock] }
memory d { resource loads(x) [x/8] }
"""


def asked(flops: str, parameters: str, **options: object) -> object:
    """The sensitivity of a runtime that is a single amount."""
    app = application(f"execute {{ flops [{flops}] }}", parameters)
    return sensitivity(app, machine(SECONDS), **options)  # type: ignore[arg-type]


# -- elasticities ----------------------------------------------------------------------------------


def test_a_power_law_has_its_exponents() -> None:
    """T = 3 a^2 sqrt(b) / c: everywhere 2, 1/2 and -1."""
    found = asked("3 * a^2 * sqrt(b) / c", "param a = 5 in 1 .. 9 param b = 7 param c = 3 in 1 .. 100")
    assert isinstance(found, tuple)
    assert [item.parameter for item in found] == ["a", "c", "b"]
    assert [item.here for item in found] == pytest.approx([2, -1, 0.5], rel=1e-12)
    assert (found[0].least, found[0].most, found[0].mean) == pytest.approx((2, 2, 2), rel=1e-12)
    assert found[2].mean is None


def test_a_sum_weighs_its_terms() -> None:
    """T = a + b: a/(a + b), from 1/4 at a = 1 to 3/4 at a = 9 with b = 3."""
    found = {item.parameter: item for item in asked("a + b", "param a = 2 in 1 .. 9 param b = 3")}  # type: ignore[attr-defined]
    assert found["a"].here == pytest.approx(2 / 5, rel=1e-12)
    assert (found["a"].least, found["a"].most) == pytest.approx((1 / 4, 3 / 4), rel=1e-12)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(2, 40))
@settings(max_examples=examples(25))
def test_an_elasticity_is_the_slope_of_logarithms(a: int, b: int, n: int) -> None:
    found = asked("a*n^2 + b*n*log(n)", f"param a = {a} param b = {b} param n = {n}")
    (here,) = (item.here for item in found if item.parameter == "n")  # type: ignore[attr-defined]

    def logarithm(x: float) -> float:
        return math.log(a * x**2 + b * x * math.log(x))

    step = 1e-5
    slope = (logarithm(n * math.exp(step)) - logarithm(n * math.exp(-step))) / (2 * step)
    assert here == pytest.approx(slope, rel=1e-6)


def test_where_a_metric_has_no_value_is_told() -> None:
    """1/floor(n/4) has none below 4: of the whole numbers from 1 to 16 the first three."""
    (found,) = asked("1/floor(n/4)", "param n = 8 in 1 .. 16")  # type: ignore[misc]
    assert found.undefined == pytest.approx(3 / 16)
    assert found.reason == "at n = 1: division by zero"


def test_steps_are_gone_through() -> None:
    """ceil(n/10) goes from 2 to 3 while n is doubled from 15, and from 1 to 100 while n goes from 10 to 1000."""
    (found,) = asked("ceil(n/10)", "param n = 15 in 10 .. 1000")  # type: ignore[misc]
    assert (found.start, found.end, found.why) == (15, 30, "steps")
    assert found.here == pytest.approx(math.log2(3 / 2), rel=1e-12)
    assert found.overall == pytest.approx(1, rel=1e-12)
    (point,) = asked("ceil(n/10)", "param n = 15 in 10 .. 1000", method="derivative")  # type: ignore[misc]
    assert (point.here, point.mean, point.start) == (0.0, 0.0, None)


@pytest.mark.parametrize(("n", "interval"), [(15, (8, 15)), (9, (9, 16))])
def test_what_cannot_be_doubled_is_halved(n: int, interval: tuple[int, int]) -> None:
    """Up to 16 only: from 15 down to 8, whole numbers both; from 9 up to 16."""
    (found,) = asked("ceil(n/2)", f"param n = {n} in 8 .. 16")  # type: ignore[misc]
    assert (found.start, found.end) == interval
    first, last = (-(-end // 2) for end in interval)
    assert found.here == pytest.approx(math.log(last / first) / math.log(interval[1] / interval[0]), rel=1e-12)


def test_the_headline_is_what_doubling_does() -> None:
    """Whatever is said of a parameter of CoMD with steps, the runtimes at both ends of its interval say as well."""
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    found = {item.parameter: item for item in sensitivity(comd, haswell)}  # type: ignore[union-attr]
    for name in ("nx", "steps", "lattice_constant", "haswell_nodes"):
        item = found[name]
        times = [aspenpy.predict(comd, haswell, set={name: end}).runtime for end in (item.start, item.end)]
        assert item.end == 2 * item.start
        assert item.here == pytest.approx(math.log2(times[1] / times[0]), rel=1e-9, abs=1e-9)
    assert found["nx"].here == pytest.approx(1, abs=0.01)


def test_each_parameter_has_its_share_of_the_work() -> None:
    """Loops without a closed form over two parameters, with less work left than either range takes: both are looked at
    from end to end, at fewer values, and the answer says so."""
    loops = " ".join(f"iterate i [{name}] {{ execute {{ flops [ceil(i/3)] }} }}" for name in "nm")
    app = application(loops, "param n = 3000 in 300 .. 30000 param m = 3000 in 300 .. 30000")
    with separate_allowance(6e6):
        found = sensitivity(app, machine(SECONDS))
    time = [sum(-(-i // 3) for i in range(n)) for n in (300, 3000, 30_000)]
    for item in found:  # type: ignore[union-attr]
        assert item.overall == pytest.approx(math.log((time[2] + time[1]) / (time[0] + time[1]), 100), rel=1e-9)
        assert "the work of one command ends there" in item.reason


@slow
def test_a_law_of_caches_falls_back_to_differences() -> None:
    blocked, machine_ = aspenpy.load_application("cache_mm_reg"), aspenpy.load_machine("cachegrind")
    found = {item.parameter: item for item in sensitivity(blocked, machine_)}  # type: ignore[union-attr]
    n = found["n"]
    times = [aspenpy.predict(blocked, machine_, set={"n": end}).runtime for end in (n.start, n.end)]
    assert n.why is not None
    assert n.here == pytest.approx(math.log2(times[1] / times[0]), rel=1e-9)


def test_a_derivative_without_a_value_falls_back_too() -> None:
    """max(n - 4, 0)^(1/2) has no slope at n = 4, and no logarithm of its value there; that of n + it from 4 to 8 is
    log2(10/4)."""
    text, declared_ = "n + max(n - 4, 0)^(1/2)", "param n = 4"
    (found,) = asked(text, declared_)  # type: ignore[misc]
    assert found.here == pytest.approx(math.log2(10 / 4), rel=1e-9)
    assert found.why is not None
    assert "division by zero" in found.why
    with pytest.raises(AspenError, match="has no value at n = 4: division by zero"):
        asked(text, declared_, method="derivative")


def test_what_counts_is_sampled_as_whole_numbers() -> None:
    """1/(1 - ceil(n - floor(n))) has a value at whole numbers only, of which there are 1e9."""
    text, declared_ = "n / (1 - ceil(n - floor(n)))", "param n = 1000 in 1 .. 1e9"
    (found,) = asked(text, declared_)  # type: ignore[misc]
    assert (found.undefined, found.here) == (0.0, pytest.approx(1))
    assert (found.least, found.most) == (pytest.approx(1), pytest.approx(1))
    whole = asked(text, declared_, method="normalised")
    assert isinstance(whole, Effects)
    assert whole.skipped is None
    assert (whole.singles[0].least, whole.singles[0].most) == (1, 1e9)
    real = asked(text, declared_, method="normalised", vary=["n=1..1e9:real"])
    assert isinstance(real, Effects)
    assert real.skipped is not None
    assert real.skipped.count > 50


@pytest.mark.parametrize("method", ["normalised", "sobol", "morris"])
def test_points_without_a_value_are_left_out_and_counted(method: str) -> None:
    """m/(1 - ceil(mod(12, n)/12)) has a value where n divides 12: of 1 .. 12 that is at 1, 2, 3, 4, 6 and 12."""
    pytest.importorskip("SALib")
    text, declared_ = "m / (1 - ceil(mod(12, n)/12)) + n", "param n = 4 in 1 .. 12 param m = 2 in 1 .. 3"
    vary = None if method == "normalised" else ["n=1,2,3,5", "m"]
    found = asked(text, declared_, method=method, vary=vary)
    assert isinstance(found, Effects | Sobol | Morris)
    skipped = found.skipped
    assert skipped is not None
    assert "division by zero" in skipped.reason
    assert skipped.reason.startswith("at n = ")
    if isinstance(found, Effects):  # six of twelve of n alone; of the pairs 6 x 3 of 12 x 3
        assert (skipped.count, skipped.total) == (6 + 18, 12 + 3 + 36)
        assert {item.parameters[0]: (item.least, item.most) for item in found.singles} == {"n": (3, 14), "m": (5, 7)}
    else:
        assert 0 < skipped.count < skipped.total
        assert found.runs < skipped.total


def test_nothing_is_said_of_points_none_of_which_has_a_value() -> None:
    pytest.importorskip("SALib")
    with pytest.raises(AspenError, match="have no value") as error:
        asked("1/(1 - floor(n/3))", "param n = 2", method="sobol", vary=["n=3..4"], samples=4)
    assert codes(error.value)


def test_no_winner_is_named_where_intervals_overlap() -> None:
    """x + y: neither is the stronger, whatever few samples say; of 10*x + y it is x."""
    pytest.importorskip("SALib")
    vary = ["x=0..1:real", "y=0..1:real"]
    alike = asked("x + y", "param x = 1 param y = 1", method="sobol", vary=vary, samples=64)
    assert isinstance(alike, Sobol)
    assert set(alike.leaders) == {"x", "y"}
    title = render_text(report_sensitivity(alike).page).splitlines()[0]
    assert "whose 95 % intervals overlap" in title
    clear = asked("10*x + y", "param x = 1 param y = 1", method="sobol", vary=vary, samples=1024)
    assert isinstance(clear, Sobol)
    assert clear.leaders == ("x",)


def test_a_choice_has_no_elasticity() -> None:
    with pytest.raises(AspenError, match="a choice has no elasticity"):
        asked("mode + 1", "enum kind {one, two} param mode = one in kind", vary=["mode"])


# -- normalised ------------------------------------------------------------------------------------


def test_effects_by_hand() -> None:
    """T = 8/clock + n/8 (four flops blocks on four cores) with clock = 2 and n = 24: 4 + 3.

    clock from 1 to 4: 8 + 3 down to 2 + 3; n from 8 to 40: 4 + 1 to 4 + 5; both: 2 + 1 to 8 + 5.
    """
    app, there = both(
        "model a { param n = 24 in 8 .. 40 kernel main { execute [4] { flops [8] } execute { loads [n] } } }", HASTE
    )
    found = sensitivity(app, there, method="normalised")
    assert isinstance(found, Effects)
    assert found.base == 7.0
    clock, n = found.singles
    assert (clock.parameters, clock.least, clock.most) == (("clock",), 5.0, 11.0)
    assert (n.parameters, n.least, n.most) == (("n",), 5.0, 9.0)
    assert clock.sensitivity == pytest.approx(6 / 7)
    assert clock.per_change == pytest.approx((6 / 7) / (3 / 2))
    (pair,) = found.pairs
    assert (pair.least, pair.most) == (3.0, 13.0)
    assert pair.normalised == 1.0
    assert n.normalised == pytest.approx(4 / 10)
    assert pair.beyond == pytest.approx((10 - 6) / 7)


def test_machines_and_enums_vary_too() -> None:
    app = application(
        "execute { flops [(mode + 1) * n] }", "enum kind {one, two, three} param mode = two in kind param n = 2"
    )
    slow = machine(SECONDS.replace("seconds", "slow").replace("flops(n) [n]", "flops(n) [10*n]"))
    case = Case(app, machine())
    space = make_space(case, ["mode", "machine=seconds,slow"], lambda name: {"seconds": machine(), "slow": slow}[name])
    found = sensitivity(case, method="normalised", vary=space)
    assert isinstance(found, Effects)
    assert found.base == 4.0
    assert {item.parameters[0]: (item.least, item.most) for item in found.singles} == {
        "machine": (4.0, 40.0),
        "mode": (2.0, 6.0),
    }
    assert (found.pairs[0].least, found.pairs[0].most) == (2.0, 60.0)


# -- shares of the variance ------------------------------------------------------------------------


def test_sobol_of_a_polynomial() -> None:
    """Y = x + 2y + 3xy over [0, 2]: with means 1 and variances v = 1/3, the effect of x is (1 + 3)(x - 1), that of y
    (2 + 3)(y - 1), and 3(x - 1)(y - 1) is left: variances 16v, 25v, 9v^2."""
    pytest.importorskip("SALib")
    v = 1 / 3
    whole = 16 * v + 25 * v + 9 * v**2
    found = asked(
        "x + 2*y + 3*x*y",
        "param x = 1 param y = 1",
        method="sobol",
        vary=["x=0..2:real", "y=0..2:real"],
        samples=1 << 14,
        pairs=True,
    )
    assert isinstance(found, Sobol)
    assert found.variance == pytest.approx(whole, rel=5e-3)
    assert found.mean == pytest.approx(1 + 2 + 3, rel=1e-3)
    y, x = found.indices
    assert (x.first, y.first) == pytest.approx((16 * v / whole, 25 * v / whole), abs=5e-3)
    assert (x.total, y.total) == pytest.approx(((16 * v + 9 * v**2) / whole, (25 * v + 9 * v**2) / whole), abs=5e-3)
    assert found.interactions[0].second == pytest.approx(9 * v**2 / whole, abs=5e-3)


def test_sobols_own_function() -> None:
    """G = product of (|4x - 2| + a)/(1 + a) with a = 0, 1, 9: V_i = 1/(3 (1 + a)^2), V = product(1 + V_i) - 1."""
    pytest.importorskip("SALib")
    a = (0, 1, 9)
    parts = [1 / (3 * (1 + item) ** 2) for item in a]
    whole = math.prod(1 + part for part in parts) - 1
    text = " * ".join(f"((abs(4*x{i} - 2) + {item})/{1 + item})" for i, item in enumerate(a))
    declared_ = " ".join(f"param x{i} = 1/4" for i in range(3))
    found = asked(text, declared_, method="sobol", vary=[f"x{i}=0..1:real" for i in range(3)], samples=1 << 14)
    assert isinstance(found, Sobol)
    by_name = {item.parameter: item for item in found.indices}
    for place, part in enumerate(parts):
        others = math.prod(1 + other for number, other in enumerate(parts) if number != place)
        assert by_name[f"x{place}"].first == pytest.approx(part / whole, abs=1e-2)
        assert by_name[f"x{place}"].total == pytest.approx(part * others / whole, abs=1e-2)


def test_sobol_of_choices_and_whole_numbers() -> None:
    """Y = k + m, k one of 1, 10, 100 (variance 1998) and m from 0 to 9 (variance 99/12), each evenly."""
    pytest.importorskip("SALib")
    found = asked(
        "k + m", "param k = 1 param m = 1 in 0 .. 9", method="sobol", vary=["k=1,10,100", "m"], samples=1 << 13
    )
    assert isinstance(found, Sobol)
    of_k = numpy.var([1, 10, 100])
    assert found.indices[0].parameter == "k"
    assert found.indices[0].first == pytest.approx(of_k / (of_k + 99 / 12), abs=5e-3)
    assert found.indices[1].total == pytest.approx(99 / 12 / (of_k + 99 / 12), abs=5e-3)


def test_what_does_not_vary_has_no_indices() -> None:
    pytest.importorskip("SALib")
    found = asked("5 + 0*x", "param x = 1", method="sobol", vary=["x=0..1:real"], samples=64)
    assert isinstance(found, Sobol)
    assert (found.variance, found.indices[0].total) == (0.0, 0.0)


def test_morris_of_a_plane() -> None:
    """Over the whole range x moves the plane by 3 * 4, y by -2 * 6, everywhere: no deviation."""
    pytest.importorskip("SALib")
    found = asked(
        "100 + 3*x - 2*y", "param x = 1 param y = 1", method="morris", vary=["x=0..4:real", "y=1..7:real"], samples=10
    )
    assert isinstance(found, Morris)
    by_name = {item.parameter: item for item in found.effects}
    assert (by_name["x"].mean, by_name["y"].mean) == pytest.approx((12, -12), rel=1e-9)
    assert by_name["x"].deviation == pytest.approx(0, abs=1e-9)


# -- many points -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 64)), min_size=1, max_size=20))
@settings(max_examples=examples(20))
def test_points_agree_with_one_prediction_each(points: list[tuple[int, int]]) -> None:
    """Steps at whole numbers included: ceil(log2(n)) at powers of two, floor of a cube root at cubes."""
    app = application("execute { flops [ceil(log2(n)) + floor(n^(1/3)*m/m) + n/m] }", "param n = 1 param m = 1")
    space = make_space(Case(app, machine()), ["n=1..64", "m=1..64"])
    found = space.evaluator([lambda prediction: prediction.tree.runtime])(numpy.array(points, dtype=float))[0]
    expected = [aspenpy.predict(app, machine(), set={"n": n, "m": m}).runtime for n, m in points]
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_formulas_without_symbols() -> None:
    from aspenpy.expr import graph

    assert Formulas([graph.number(3)], [])(numpy.zeros((2, 0))).tolist() == [[3.0, 3.0]]
    assert evaluate(graph.number(3)) == 3


# -- variables -------------------------------------------------------------------------------------


def test_kinds_of_declared_ranges() -> None:
    prediction = aspenpy.predict(aspenpy.load_application("comd"), aspenpy.load_machine("haswell"))
    found = {
        name: variable_from_range(name, prediction) for name in ("haswell_nodes", "haswell_clock", "potential", "nx")
    }
    assert {name: item.kind for name, item in found.items() if item} == {
        "haswell_nodes": "whole", "haswell_clock": "real", "potential": "choice", "nx": "whole",
    }  # fmt: skip
    clock = found["haswell_clock"]
    assert clock is not None
    assert (clock.unit, clock.low) == ("Hz", 1.2e9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lulesh", [1, 8, 27, 64, 125]), ("comd", [*range(1, 129)]), ("matmul", [n**2 for n in range(1, 12)])],
)
def test_ranks_vary_over_those_that_the_machine_takes_and_the_program_accepts(name: str, expected: list[int]) -> None:
    """Cubes, any, and squares of ranks on the 16 nodes of 8 cores each of `haswell`."""
    prediction = aspenpy.predict(aspenpy.load_application(name), aspenpy.load_machine("haswell"))
    varied = {item.name: item for item in declared_variables(prediction, [find_metric("runtime").expr(prediction)])}
    assert varied["ranks"].values.tolist() == expected


@pytest.mark.parametrize("text", ["n=9..1", "n=3..3"])
def test_empty_ranges_are_refused(text: str) -> None:
    prediction = aspenpy.predict(application("execute { flops [n] }", "param n = 2"), machine())
    with pytest.raises(AspenError) as error:
        read_variable(text, prediction)
    assert codes(error.value) == ["empty-range"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("n", "no-range"),
        ("n=", "bad-axis"),
        ("n=1..", "bad-axis"),
        ("n=1,,2", "bad-axis"),
        ("n=1,1", "bad-variable"),
        ("n=1..5:cubic", "bad-axis"),
        ("n=0..5:log", "bad-range"),
        ("m=1..5", "unknown-parameter"),
    ],
)
def test_what_cannot_vary(text: str, code: str) -> None:
    prediction = aspenpy.predict(application("execute { flops [n] }", "param n = 2"), machine())
    with pytest.raises(AspenError) as error:
        read_variable(text, prediction)
    assert codes(error.value) == [code]


def test_each_kind_covers_its_values_evenly() -> None:
    prediction = aspenpy.predict(application("execute { flops [n] }", "param n = 2 in 1 .. 4"), machine())
    places = (numpy.arange(4000) + 0.5) / 4000
    counts = numpy.unique(read_variable("n", prediction).values_at(places), return_counts=True)
    assert counts[0].tolist() == [1, 2, 3, 4]
    assert counts[1].tolist() == [1000] * 4
    assert read_variable("n=1..100:real:log", prediction).values_at(
        numpy.array([0.0, 0.5, 1.0])
    ).tolist() == pytest.approx([1, 10, 100])


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"method": "guess"}, "unknown-method"),
        ({"method": "sobol", "samples": 100, "vary": ["n=1..2"]}, "bad-samples"),
        ({"method": "sobol", "samples": 1 << 30, "vary": ["n=1..2"]}, "too-long"),
        ({"method": "morris"}, "nothing-varies"),
        ({"method": "normalised", "vary": ["n=1..2", "n=1..3"]}, "bad-variable"),
        ({"metric": "floops"}, "unknown-metric"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, object], code: str) -> None:
    pytest.importorskip("SALib")
    with pytest.raises(AspenError) as error:
        asked("n", "param n = 2", **options)
    assert codes(error.value) == [code]


# -- what has no value beside the model's own ------------------------------------------------------


def neighbours_of(amount: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> dict[str, Any]:
    """What the command says of `n = 4`, which declares no range: it is doubled, or else halved."""
    model = tmp_path / "m.aspen"
    model.write_text(
        f"model m {{ param n = 4 kernel main {{ execute {{ flops [{amount}] as dp }} }} }}", encoding="utf-8"
    )
    assert main(["sensitivity", str(model), "--machine", "simple", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["elasticities"]
    return dict(next(item for item in found if item["parameter"] == "n"))


@pytest.mark.parametrize(
    ("amount", "undefined", "reason", "interval"),
    [
        # n = 8 and n = 2 have no value: two of the four ends of both intervals
        ("ceil(n)/((n - 8)^2*(n - 2)^2)", 0.5, "at n = 8: division by zero", None),
        # n = 8 has none: the other interval answers, and nothing is left out
        ("ceil(n)/(n - 8)^2", 0.0, None, (2, 4)),
        # each end has its own reason, and the first is told
        ("ceil(n)/(n - 8)^2*sqrt(n - 3)", 0.5, "at n = 8: division by zero", None),
        ("ceil(n)*sqrt(n - 3)*sqrt(7 - n)", 0.5, "at n = 8: ", None),
        ("ceil(n)", 0.0, None, (4, 8)),
    ],
)
def test_points_beside_a_value_without_a_range_are_counted(
    amount: str,
    undefined: float,
    reason: str | None,
    interval: tuple[int, int] | None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    found = neighbours_of(amount, capsys, tmp_path)
    assert found["undefined"] == undefined
    assert (found["reason"] is None) == (reason is None)
    assert (found["reason"] or "").startswith(reason or "")
    if interval is None:
        assert found["here"] is None
    else:
        assert (found["start"], found["end"]) == interval


def test_points_of_a_range_without_a_value_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Of 1 .. 16 all multiples of 3 divide by zero: 5 of 16 values, counted by hand."""
    model = tmp_path / "m.aspen"
    model.write_text(
        "model m { param n = 4 in 1 .. 16 kernel main { execute { flops [ceil(n)/mod(n, 3)] as dp } } }",
        encoding="utf-8",
    )
    assert main(["sensitivity", str(model), "--machine", "simple"]) == 0
    said = capsys.readouterr().out
    assert "31.2 %" in said
    assert "Left out: at n = 3: division by zero" in said
