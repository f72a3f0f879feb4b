"""Sweeps from Python, point by point against `predict` and against arithmetic."""

import math
from itertools import product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.allowance import separate_allowance
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.engine.backends import BACKENDS
from aspenpy.expr.failures import CONSTRAINT, DIVISION, OVERFLOW
from aspenpy.language.diagnostics import AspenError
from aspenpy.report.sweep import draw
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import STRETCH, WORTH_PROCESSES, StudyRun
from aspenpy.sweeps.sweep import compute_in_memory
from tests.thorough import examples
from tests.tiny import application, codes, machine

APP = application(
    "execute { flops [n*k + 3] } iterate [m] { execute { loads [n/k] } }",
    "param n = 5 in 1 .. 100 param k = 2 param m = 2*k",
)
SECONDS = machine()
SLOW = machine(
    "machine slow { node [1] box } node box { socket [1] cpu socket [1] gpu }"
    "socket cpu { resource flops(n) [10*n] resource loads(n) [n] }"
    "socket gpu { resource flops(n) [n/2] resource loads(n) [0] }"
)


def runtime(n, k, m=None):
    return n * k + 3 + (2 * k if m is None else m) * n / k


def test_a_grid():
    found = aspenpy.sweep(APP, SECONDS, over={"n": [1, 2, 5], "k": "1..4:pow2"}, metric=["runtime", "flops"])
    assert found["runtime"].dims == ("n", "k")
    assert found["runtime"].values.tolist() == [[runtime(n, k) for k in (1, 2, 4)] for n in (1, 2, 5)]
    assert found["flops"].values.tolist() == [[n * k + 3 for k in (1, 2, 4)] for n in (1, 2, 5)]
    assert found["runtime"].attrs["units"] == "s"
    assert found.attrs["application"] == "tiny"
    assert len(found.attrs["model_hash"]) == 64


def test_without_xarray_a_result_of_ours():
    study = make_study(Case(APP, SECONDS), {"n": [1, 2]})
    found = compute_in_memory(StudyRun(study))
    assert found["runtime"].values.tolist() == [runtime(1, 2), runtime(2, 2)]
    assert (found["runtime"].dims, found["runtime"].unit, found.dims) == (("n",), "s", {"n": 2})
    assert found.coords["n"][1].tolist() == [1, 2]
    assert numpy.asarray(found["runtime"]).sum() == runtime(1, 2) + runtime(2, 2)
    assert repr(found) == "<SweepResult of runtime over (n: 2)>"
    assert "runtime   15 s    19 s     23 s" in str(
        compute_in_memory(StudyRun(make_study(Case(APP, SECONDS), {"n": [3, 5, 4]})))
    )
    with pytest.raises(AspenError, match="the sweep has no metric `runtim`"):
        found["runtim"]


def test_what_is_no_number():
    found = aspenpy.sweep(APP, SECONDS, over={"n": [1, 2], "machine": [SECONDS, SLOW]}, set={"k": 1}, socket="cpu")
    assert found["runtime"].dims == ("machine", "n")
    assert found["machine"].values.tolist() == ["seconds", "slow"]
    expected = [[runtime(n, 1) for n in (1, 2)], [10 * (n + 3) + 2 * n for n in (1, 2)]]
    assert found["runtime"].values.tolist() == expected
    found = aspenpy.sweep(APP, SLOW, over={"socket": ["cpu", "gpu"], "n": [4]}, set={"k": 1})
    assert found["runtime"].values.tolist() == [[10 * 7 + 2 * 4], [3.5]]


def test_nothing_but_machines_and_kernels():
    found = aspenpy.sweep(APP, SECONDS, over={"machine": [SECONDS, SLOW]}, socket="cpu")
    assert found["runtime"].values.tolist() == [runtime(5, 2), 10 * 13 + 10]
    two = application("execute { flops [1] }", "param n = 5", "kernel other { execute { flops [n] } }")
    found = aspenpy.sweep(two, SECONDS, over={"kernel": ["main", "other"], "n": [2, 3]})
    assert found["runtime"].values.tolist() == [[1, 1], [2, 3]]
    found = aspenpy.sweep(two, SECONDS, over={"app": [APP, "stream"], "machine": ["haswell"], "n": [1000]})
    assert found["runtime"].dims == ("app", "machine", "n")


def test_names_that_both_models_have():
    clocked = machine("param n = 2 machine other { socket [1] cpu } socket cpu { resource flops(x) [x/n] }")
    app = application("execute { flops [n] }", "param n = 6")
    with pytest.raises(AspenError, match="both models have a parameter `n`"):
        aspenpy.sweep(app, clocked, over={"n": [1]})
    found = aspenpy.sweep(app, clocked, over={"app:n": [6, 12], "machine:n": [1, 3]})
    assert found["runtime"].values.tolist() == [[6, 2], [12, 4]]


def test_axes_side_by_side():
    found = aspenpy.sweep(APP, SECONDS, over={"n": [1, 2], "m": [7, 8, 9], "k": [3, 4]}, zip=[("n", "k")])
    assert found["runtime"].dims == ("n-k", "m")
    expected = [[runtime(n, k, m) for m in (7, 8, 9)] for n, k in ((1, 3), (2, 4))]
    numpy.testing.assert_allclose(found["runtime"].values, expected, rtol=1e-15)
    assert found["k"].values.tolist() == [3, 4]


@pytest.mark.parametrize("method", ["uniform", "latin", "sobol"])
def test_samples(method):
    pytest.importorskip("scipy")
    axes = {"n": "1..100:log", "k": "1..6:whole", "m": "1..64:pow2"}
    found = aspenpy.sweep(APP, SECONDS, over=axes, samples=512, method=method)
    n, k, m = (found[name].values for name in "nkm")
    assert found["runtime"].values == pytest.approx(runtime(n, k, m), rel=1e-15)
    assert set(k) == {1, 2, 3, 4, 5, 6}
    assert set(m) == {1, 2, 4, 8, 16, 32, 64}
    assert n.min() >= 1
    assert n.max() <= 100
    below = (n < 10).mean()  # half of the sample in half of the decades
    assert below == pytest.approx(0.5, abs=0.1 if method == "uniform" else 2 / 512)
    again = aspenpy.sweep(APP, SECONDS, over=axes, samples=512, method=method)
    assert again["n"].values.tolist() == n.tolist()


def test_what_counts_something_is_sampled_in_whole_numbers():
    """All of 1 .. 8 as often, in equal ratios 1 as often as 2 and 3; what is not whole, or `real`, anywhere."""
    model = application("execute { flops [n*k] }", "param n = 5 in 1 .. 8 param k = 2.5")
    found = {
        text: aspenpy.sweep(model, SECONDS, over={"n": text, "k": "1..8"}, samples=4096, method="uniform")
        for text in ("1..8", "1..7:log", "1..8:real")
    }
    values, counts = numpy.unique(found["1..8"]["n"].values, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert counts == pytest.approx(512, abs=127)  # six standard deviations: sqrt(4096*7/8/8) is 21.2
    logarithmic = found["1..7:log"]["n"].values
    assert set(logarithmic) == {1, 2, 3, 4, 5, 6, 7}
    assert (logarithmic == 1).mean() == pytest.approx(1 / 3, abs=0.05)
    assert numpy.isin(logarithmic, (2, 3)).mean() == pytest.approx(1 / 3, abs=0.05)
    assert (found["1..8:real"]["n"].values % 1 > 0).all()
    assert (found["1..8"]["k"].values % 1 > 0).all()


NUMBERS = ["n", "m", "2", "0.5"]
FORMS = ["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({})^2", "max({}, {})", "min({}, {})", "abs({})", "{}"]
STATEMENTS = [
    "execute {{ flops [{0}] }}",
    "execute [{0}] {{ flops [{1}] loads [{2}] }}",
    "iterate [{0}] {{ execute {{ stores [{1}] }} }}",
    "if ({0} < {1}) {{ execute {{ flops [{2}] }} }}",
    "execute {{ flops [3] as dp messages [{0}] }} execute {{ loads [sqrt({1})] }}",
]


@st.composite
def bodies(draw):
    """Statements whose amounts, counts and numbers of instances turn negative or have no value for some n and m."""

    def amount(depth):
        if depth == 0:
            return draw(st.sampled_from(NUMBERS))
        form = draw(st.sampled_from(FORMS))
        return form.format(*(amount(depth - 1) for _ in range(form.count("{}"))))

    parts = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=2))
    return " ".join(part.format(*(amount(draw(st.integers(0, 2))) for _ in range(3))) for part in parts)


@pytest.mark.parametrize("backend", ["numpy", "llvm", "c"])
def test_cells_are_predictions_where_laws_break_inside_the_box(backend):
    """Value by value and reason by reason, on models that have no runtime in a part of the grid."""
    if BACKENDS[backend].missing():
        pytest.skip(BACKENDS[backend].missing())
    over = {"n": [-2.0, 0.0, 1.0, 4.0], "m": [-1.0, 2.0, 8.0]}

    @settings(max_examples=examples({"numpy": 30, "llvm": 30, "c": 3}[backend]))
    @given(bodies())
    def agree(body):
        app = application(body, "param n = 1 param m = 1")
        found = compute_in_memory(StudyRun(make_study(Case(app, SECONDS), over), backend))
        values, reasons = found["runtime"].values, found.reason.values
        plain = compute_in_memory(StudyRun(make_study(Case(app, SECONDS), over), "numpy"))
        assert reasons.tolist() == plain.reason.values.tolist()
        for (row, n), (column, m) in product(enumerate(over["n"]), enumerate(over["m"])):
            try:
                expected = aspenpy.predict(app, SECONDS, set={"n": n, "m": m}).runtime
            except AspenError:
                expected = math.nan
            assert values[row, column] == pytest.approx(expected, rel=1e-12, abs=1e-9, nan_ok=True)
            assert bool(reasons[row, column]) is math.isnan(expected)

    agree()


@pytest.mark.parametrize("backend", ["numpy", "llvm", "c"])
def test_a_difference_that_turns_negative_is_no_amount(backend):
    if BACKENDS[backend].missing():
        pytest.skip(BACKENDS[backend].missing())
    app = application("execute { flops [n - m] }", "param n = 1 param m = 1")
    found = compute_in_memory(
        StudyRun(make_study(Case(app, SECONDS), {"n": [0.0, 2.0, 5.0], "m": [1.0, 2.0, 3.0]}), backend)
    )
    none = math.nan
    expected = numpy.array([[none, none, none], [1, 0, none], [4, 3, 2]])
    numpy.testing.assert_array_equal(found["runtime"].values, expected)
    assert found.reason.values.tolist() == [[CONSTRAINT] * 3, [0, 0, CONSTRAINT], [0, 0, 0]]


@pytest.mark.parametrize(
    ("backend", "operations", "answers"),
    [("numpy", 4e6, False), ("numpy", 4e7, True), *((name, 4e6, True) for name in ("llvm", "c", "auto"))],
)
def test_loops_without_a_closed_form_are_charged_as_they_are_carried_out(backend, operations, answers):
    """3,000 passes at three points take tens of thousands of operations of compiled code, and each pass is interpreted
    by NumPy for all of them. Of i * i the remainders by 7 repeat: 0, 1, 4, 2, 2, 4, 1, of which five are below 3."""
    if BACKENDS[backend if backend in BACKENDS else "llvm"].missing():
        pytest.skip("not installed")
    app = application("iterate i [n] { if (mod(i * i, 7) < 3) { execute { flops [1] } } }", "param n = 5 in 0 .. 5000")
    study = make_study(Case(app, SECONDS), {"n": [0, 7, 3000]})
    with separate_allowance(operations):
        if not answers:
            with pytest.raises(AspenError) as caught:
                compute_in_memory(StudyRun(study, backend))
            assert codes(caught.value) == ["too-much-work"]
            return
        found = compute_in_memory(StudyRun(study, backend))
    assert found["runtime"].values.tolist() == [0, 5, sum(i * i % 7 < 3 for i in range(3000))]


def test_reasons_are_charged_three_times():
    """A point of more passes than are made has no value, and all are computed again with reasons."""
    app = application("iterate i [n] { if (mod(i * i, 7) < 3) { execute { flops [1] } } }", "param n = 5 in 0 .. 1e9")
    spent = []
    for last in (3000, 2e7):
        with separate_allowance() as allowance:
            found = compute_in_memory(StudyRun(make_study(Case(app, SECONDS), {"n": [7, 3000, last]}), "numpy"))
        assert numpy.isnan(found["runtime"].values).tolist() == [False, False, last > 3000]
        spent.append(allowance.spent)
    assert spent[1] == 3 * spent[0] > 3000 * 1000


@pytest.mark.parametrize("backend", ["numpy", "llvm", "c"])
def test_many_points_on_all_cores(backend):
    if BACKENDS[backend].missing():
        pytest.skip(BACKENDS[backend].missing())
    n = numpy.linspace(1, 9, 2 * STRETCH + 7)
    found = compute_in_memory(StudyRun(make_study(Case(APP, SECONDS), {"n": n}), backend, cores=2))
    numpy.testing.assert_allclose(found["runtime"].values, runtime(n, 2), rtol=1e-15)
    assert found.summary.points == len(n)
    assert found.summary.least["runtime"].point == 0
    assert found.summary.largest["runtime"].point == len(n) - 1


def test_only_large_sweeps_start_processes_unasked(monkeypatch):
    monkeypatch.setattr("aspenpy.sweeps.run.available_cores", lambda: 2)
    for points, cores in ((WORTH_PROCESSES - 1, 1), (WORTH_PROCESSES, 2)):
        study = make_study(Case(APP, SECONDS), {"n": numpy.linspace(1, 9, points)})
        assert StudyRun(study, "numpy").cores == cores
        assert StudyRun(study, "numpy", processes=False).cores == 1
        assert StudyRun(study, "numpy", cores=2, processes=False).cores == 2


def test_points_without_a_value():
    found = aspenpy.sweep(APP, SECONDS, over={"k": [-1, 0, 1, 1e200], "n": [1, 1e200]}, set={"m": 1})
    # A negative k asks for a negative amount of loads; 1e200*1e200 is beyond floats.
    assert found["reason"].values.tolist() == [[CONSTRAINT] * 2, [DIVISION] * 2, [0, 0], [0, OVERFLOW]]
    assert math.isnan(found["runtime"].values[1, 0])
    assert found["runtime"].values[2, 0] == runtime(1, 1, 1)
    with pytest.raises(AspenError, match="division by zero") as error:
        aspenpy.sweep(APP, SECONDS, over={"k": [1, 0]}, fail_fast=True)
    assert error.value.diagnostics[0].parents == ("at k = 0",)


SIGNED = application("execute { flops [max(n, -n)*2 + abs(n)] }", "param n = 5")


@pytest.mark.parametrize("values", [[3, -2], [-3.5, -1], [-0.0, 0.0, 7], [0.0, 2.0]])
def test_values_of_any_sign(values):
    """A formula may be simpler where no value is negative."""
    found = aspenpy.sweep(SIGNED, SECONDS, over={"n": values})
    assert found["runtime"].values.tolist() == [3 * max(n, -n) for n in values]


@pytest.mark.parametrize("value", [math.nan, -math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite(value):
    for others in ([1.0, 2.0], [1.0, -2.0]):
        with pytest.raises(AspenError, match="`n` cannot be nan or infinite"):
            aspenpy.sweep(APP, SECONDS, over={"n": [*others, value]})


def test_settings_may_name_an_axis():
    found = aspenpy.sweep(APP, SECONDS, over={"n": [2, 3]}, set={"k": "n^2"})
    assert found["runtime"].values.tolist() == [runtime(2, 4), runtime(3, 9)]


@pytest.mark.parametrize(
    ("over", "options", "code"),
    [
        ({}, {}, "no-axis"),
        ({"x": [1]}, {}, "unknown-parameter"),
        ({"n": []}, {}, "bad-value"),
        ({"n": [[1]]}, {}, "bad-value"),
        ({"n": ["a"]}, {}, "bad-value"),
        ({"n": [math.nan]}, {}, "bad-value"),
        ({"n": [1]}, {"set": {"n": 2}}, "axis-set"),
        ({"machine": []}, {}, "bad-axis"),
        ({"machine": ["haswell", "haswell"]}, {}, "category-twice"),
        ({"machine": ["hasswell"]}, {}, "unknown-machine"),
        ({"n": [1, 2], "k": [1]}, {"zip": [("n", "k")]}, "uneven-axes"),
        ({"n": [1, 2]}, {"zip": [("n", "k")]}, "unknown-axis"),
        ({"n": [1, 2]}, {"backend": "gpu"}, "unknown-backend"),
        ({"n": [1, 2]}, {"cores": 0}, "bad-cores"),
        ({"n": [1, 2]}, {"metric": "warp"}, "unknown-metric"),
        ({"n": [1, 2]}, {"metric": []}, "no-metric"),
        ({"n": "1..5:3"}, {"samples": 4}, "bad-axis"),
        ({"n": "1..5"}, {"samples": 4, "method": "magic"}, "unknown-method"),
        ({"n": "1..5"}, {"samples": 0}, "bad-sample"),
        ({"k": "1..100000:100000", "n": "1..100000:100000", "m": "1..100000:100000"}, {}, "too-many-points"),
        ({"k": "1..10000:10000", "n": "1..100000:100000"}, {}, "too-large"),
        ({"k": "one"}, {}, "unknown-name"),
    ],
)
def test_refused(over, options, code):
    with pytest.raises(AspenError) as error:
        aspenpy.sweep(APP, SECONDS, over=over, **options)
    assert codes(error.value) == [code]


def test_1e15_points_say_their_size():
    axes = dict.fromkeys("nkm", "1..2:lin:100000")
    with pytest.raises(AspenError) as error:
        aspenpy.sweep(APP, SECONDS, over=axes)
    assert str(error.value) == (
        "error: that is 1,000,000,000,000,000 points: 8 PB of results, and some 116 days of computing\n"
        "  = hint: --yes (in Python, yes=True) if that is what you want"
    )


def test_warnings():
    study = make_study(Case(APP, SECONDS, set={"k": 1}), {"n": [1, 101], "m": [1]}, metrics=["flops"])
    assert [item.code for item in study.diagnostics] == ["outside-range", "no-effect"]


def test_a_hash_tells_models_apart():
    hashes = {
        make_study(Case(app, model, set=settings), {"n": [1]}).model_hash
        for app, model, settings in ((APP, SECONDS, {}), (APP, SLOW, {}), (APP, SECONDS, {"k": 3}))
    }
    assert len(hashes) == 3
    assert make_study(Case(APP, SECONDS), {"n": [1]}).model_hash in hashes


def test_library_models_agree_with_predict():
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    over = {"nx": [10, 37, 64], "ranks": [1, 8, 27, 64], "steps": [1, 100]}
    found = aspenpy.sweep(comd, haswell, over=over)
    for nx in over["nx"]:
        for ranks in over["ranks"]:
            for steps in over["steps"]:
                exact = aspenpy.predict(comd, haswell, set={"nx": nx, "ranks": ranks, "steps": steps}).runtime
                assert float(found["runtime"].sel(nx=nx, ranks=ranks, steps=steps)) == pytest.approx(exact, rel=1e-12)


def test_energy_and_its_products_with_time():
    comd, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    names = ["runtime", "energy", "power", "edp", "ed2p"]
    found = aspenpy.sweep(comd, haswell, over={"haswell_clock": [1.2e9, 3.5e9], "ranks": [8, 16]}, metric=names)
    for clock in (1.2e9, 3.5e9):
        for ranks in (8, 16):
            exact = predict_energy(comd, haswell, set={"haswell_clock": clock, "ranks": ranks})
            seconds, joules = exact.prediction.runtime, exact.value
            expected = [seconds, joules, joules / seconds, joules * seconds, joules * seconds**2]
            point = found.sel(haswell_clock=clock, ranks=ranks)
            assert [float(point[name]) for name in names] == pytest.approx(expected, rel=1e-12)
    assert [found[name].attrs["units"] for name in names] == ["s", "J", "W", "J*s", "J*s^2"]


@pytest.mark.parametrize(("lines", "drawn"), [(11, True), (12, True), (13, False)])
def test_a_picture_has_twelve_lines_at_most(lines, drawn, tmp_path):
    """One for each machine, over one parameter."""
    pytest.importorskip("matplotlib")
    text = "machine m{0} {{ socket [1] cpu }} socket cpu {{ resource flops(n) [{0}*n] }}"
    machines = [machine(text.format(k)) for k in range(1, lines + 1)]
    app = application("execute { flops [n] }", "param n = 1")
    found = compute_in_memory(StudyRun(make_study(Case(app, SECONDS), {"machine": machines, "n": [1.0, 2.0, 4.0]})))
    if not drawn:
        with pytest.raises(AspenError, match=f"a picture has at most 12 lines, and here are {lines}"):
            draw(found)
        return
    (axes,) = draw(found).axes
    assert len(axes.lines) == lines
    assert sorted(line.get_ydata()[1] for line in axes.lines) == [2.0 * k for k in range(1, lines + 1)]


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([5.0], [4.5, 5.5]),
        ([0.0], [-0.5, 0.5]),
        ([1.0, 2.0, 3.0], [0.5, 1.5, 2.5, 3.5]),
        ([2.0, 6.0], [0.0, 4.0, 8.0]),
        ([1.0, 100.0, 10000.0], [0.1, 10.0, 1000.0, 100000.0]),
    ],
)
def test_the_cells_of_a_map_end_between_its_points(values, edges):
    """Of one value as far from it as a tenth of it; in the scale of the axis, along it and up."""
    pytest.importorskip("matplotlib")
    app = application("execute { flops [a + b] }", "param a = 1 param b = 1")
    for across, up in ((values, [1.0, 2.0]), ([1.0, 2.0], values)):
        study = make_study(Case(app, SECONDS), {"a": up, "b": across})
        axes, _ = draw(compute_in_memory(StudyRun(study))).axes
        corners = axes.collections[0].get_coordinates()
        assert list(corners[0, :, 0]) == pytest.approx(edges if across is values else [0.5, 1.5, 2.5])
        assert list(corners[:, 0, 1]) == pytest.approx(edges if up is values else [0.5, 1.5, 2.5])


def test_named_arrays_are_copied_for_numpy():
    """Who changes what `numpy.asarray` gives changes no result; without a copy it is the result itself."""
    found = compute_in_memory(StudyRun(make_study(Case(APP, SECONDS), {"n": [1, 2]})))
    column = found["runtime"]
    for copied in (numpy.asarray(column), numpy.array(column), column.__array__(copy=True), column.__array__()):
        assert copied.tolist() == column.values.tolist()
        assert not numpy.shares_memory(copied, column.values)
    assert numpy.asarray(column, dtype=numpy.float32).dtype == numpy.float32
    assert numpy.shares_memory(column.__array__(copy=False), column.values)
    assert (column.shape, len(found), list(found)) == ((2,), 1, ["runtime"])
    assert "runtime" in found
    assert "energy" not in found
