"""Optima against arithmetic by hand, against trying every point, and multipliers against finite differences."""

import math
import re
import sys
from itertools import pairwise, product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Case, optimise
from aspenpy.answers.metrics import find_metric
from aspenpy.explore import problem
from aspenpy.explore.optimise import Front, Optimum, fold_points, goals_of, non_dominated, search_goals
from aspenpy.explore.space import make_space
from aspenpy.explore.variance import Sobol
from aspenpy.language.diagnostics import AspenError
from aspenpy.report.optimum import MOST_SHOWN, _pick_some, draw_front
from tests.thorough import examples, slow, some
from tests.tiny import SECONDS, application, both, codes, machine

pytest.importorskip("scipy")


@pytest.fixture(autouse=True)
def few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search from each start takes the most of the time."""
    monkeypatch.setattr(problem, "STARTS", some(problem.STARTS, 2))


NODE = """param clock = 2 in 1 .. 4
param bandwidth = 10 in 1 .. 100
param cores = 4 in 1 .. 16
machine m { node box }
node box { property cost [100] socket [2] s }
socket s { core [cores] c memory d }
core c { property cost [10*clock] property area [3] resource flops(x) [x/clock] }
memory d { property cost [3*bandwidth/2] resource loads(x) [x/bandwidth] }
"""
WORK = "model work { param n = 16 in 1 .. 1000 kernel main { execute [n] { flops [1] loads [2] } } }"
"""On two sockets: time max(n/(2 cores) / clock, n/2 * 2/bandwidth); cost 100 + 20 cores clock + 3 bandwidth."""


def asked(vary: list[str], **options: object) -> Optimum:
    app, there = both(WORK, NODE)
    found = optimise(app, there, vary=vary, **options)  # type: ignore[arg-type]
    assert isinstance(found, Optimum)
    return found


# -- sums over the tree ----------------------------------------------------------------------------


def test_a_property_is_summed_over_the_tree() -> None:
    """Two sockets with four cores at 10 * 2 each and a memory at 3*10/2; eight cores of area 3."""
    prediction = aspenpy.predict(*both(WORK, NODE))
    cost, area = (prediction.scope.values([find_metric(name).expr(prediction)])[0] for name in ("cost", "area"))
    assert cost == 100 + 2 * (4 * 20 + 15)
    assert area == 2 * 4 * 3
    assert find_metric("tdp").unit == "W"


def test_every_kind_of_socket_counts() -> None:
    text = """machine m { node a } node a { socket [2] s socket [3] t }
socket s { property tdp [5 W] core c } socket t { property tdp [7 W] core c } core c { resource flops(x) [x] }"""
    prediction = aspenpy.predict(application("execute { flops [1] }"), machine(text), socket="s")
    assert prediction.scope.values([find_metric("tdp").expr(prediction)]) == [2 * 5 + 3 * 7]


# -- real variables --------------------------------------------------------------------------------


def test_the_least_time_is_in_the_kink() -> None:
    """n = 16, 4 cores: max(2/clock, 16/bandwidth) with 100 + 80 clock + 3 bandwidth <= 400 is least where both are
    equal: bandwidth = 8 clock, so clock = 300/104 and T = 2/clock = 208/300; dT/d(bound) = -2/clock^2/104."""
    found = asked(["clock:real", "bandwidth:real"], minimise="runtime", subject_to="cost <= 400")
    clock = 300 / 104
    assert found.value == pytest.approx(2 / clock, rel=1e-7)
    assert found.point == pytest.approx({"clock": clock, "bandwidth": 8 * clock}, rel=1e-6)
    (binding,) = found.bindings
    assert binding.multiplier == pytest.approx(-2 / clock**2 / 104, rel=1e-4)
    assert binding.without == pytest.approx(2 / 4, rel=1e-6)
    assert binding.looser == pytest.approx(2 / (304 / 104), rel=1e-6)


@given(st.floats(200, 600))
@settings(max_examples=examples(10))
def test_a_multiplier_is_a_slope(bound: float) -> None:
    """Against the optima at bounds a little lower and higher."""

    def least(cost: float) -> Optimum:
        return asked(["clock:real", "bandwidth:real"], minimise="runtime", subject_to=f"cost <= {cost!r}")

    found = least(bound)
    if not found.bindings:
        assert bound > 100 + 80 * 4 + 3 * 32 - 1
        return
    slope = (least(bound * 1.001).value - least(bound * 0.999).value) / (0.002 * bound)
    corners = (100 + 80 * 1 + 3 * 8, 100 + 80 * 4 + 3 * 32)  # where the clock leaves an end of its range
    corner = any(abs(bound - at) <= 0.002 * at for at in corners)
    assert corner or found.bindings[0].multiplier == pytest.approx(slope, rel=1e-3)


def test_a_quadratic_programme() -> None:
    """x^2 + 2 y^2 with x + y >= 3 is least at x = 2, y = 1, with 6, and goes up by 4 for each unit of the bound."""
    app = application("execute { flops [x^2 + 2*y^2] }", "param x = 1 param y = 1")
    found = optimise(app, machine(), minimise="runtime", subject_to="x + y >= 3", vary=["x=0..9:real", "y=0..9:real"])
    assert isinstance(found, Optimum)
    assert found.value == pytest.approx(6, rel=1e-9)
    assert found.point == pytest.approx({"x": 2, "y": 1}, rel=1e-6)
    assert found.bindings[0].multiplier == pytest.approx(4, rel=1e-5)


def test_a_linear_programme() -> None:
    """5x + 4y with 6x + 4y <= 24 and x + 2y <= 6 is greatest at (3, 3/2), with 21; duals 3/4 and 1/2."""
    app = application("execute { flops [1] }", "param x = 1 param y = 1")
    found = optimise(
        app,
        machine(),
        maximise="5*x + 4*y",
        subject_to="6*x + 4*y <= 24, x + 2*y <= 6",
        vary=["x=0..9:real", "y=0..9:real"],
    )
    assert isinstance(found, Optimum)
    assert found.value == pytest.approx(21, rel=1e-8)
    assert found.point == pytest.approx({"x": 3, "y": 1.5}, rel=1e-6)
    assert [item.multiplier for item in found.bindings] == pytest.approx([0.75, 0.5], rel=1e-5)


def test_an_equation_as_a_constraint() -> None:
    """Of x + y with x*y == 16 the least is 8, where both are 4."""
    app = application("execute { flops [x + y] }", "param x = 1 param y = 1")
    found = optimise(app, machine(), minimise="runtime", subject_to="x*y == 16", vary=["x=1..16:real", "y=1..16:real"])
    assert isinstance(found, Optimum)
    assert found.value == pytest.approx(8, rel=1e-6)
    assert found.point == pytest.approx({"x": 4, "y": 4}, rel=1e-3)


def test_the_middle_of_a_valley_over_many_decades() -> None:
    """n/p + log2(p) is least at p = n log(2), here 6.9e5."""
    app = application("execute { flops [1e6/p + log2(p)] }", "param p = 1")
    found = optimise(app, machine(), minimise="runtime", vary=["p=1..1e9:log:real"])
    assert isinstance(found, Optimum)
    assert found.point["p"] == pytest.approx(1e6 * numpy.log(2), rel=1e-4)
    assert found.bindings == ()


@pytest.mark.parametrize(("quantity", "cube"), [("energy", 4), ("edp", 16)])
def test_the_clock_of_least_energy(quantity: str, cube: int) -> None:
    """A gigaflop at f GHz draws 16 W + 2 f^3 W for 1/f seconds: least at f^3 = 4; its product with the time at 16."""
    text = """param clock = 2 * giga machine m { node box } node box { socket s }
socket s { core [4] c memory d static power [16] dynamic power [2*(clock/giga)^3] }
core c { resource flops(x) [x/clock] }
memory d { resource loads(x) [x/giga] static power [0] dynamic power [0] }"""
    app, there = both("model a { kernel main { execute { flops [giga] } } }", text)
    found = optimise(app, there, minimise=quantity, vary=["clock=0.5e9..4e9"])
    assert isinstance(found, Optimum)
    f = cube ** (1 / 3)
    assert found.point["clock"] == pytest.approx(f * 1e9, rel=1e-4)
    assert found.value == pytest.approx((16 + 2 * f**3) / f / (f if quantity == "edp" else 1), rel=1e-8)


# -- whole numbers and choices ---------------------------------------------------------------------


@given(st.integers(120, 700), st.integers(1, 60))
@settings(max_examples=examples(15))
def test_every_combination_has_been_looked_at(cost: int, n: int) -> None:
    app, there = both(WORK, NODE)
    values = {"clock": (1, 2, 3, 4), "bandwidth": (2, 8, 32), "cores": (1, 2, 4, 8)}
    table = {}
    for clock, bandwidth, cores in product(*values.values()):
        if 100 + 20 * cores * clock + 3 * bandwidth <= cost:
            busy = -(-n // (2 * cores)) / clock, -(-n // 2) * 2 / bandwidth
            table[clock, bandwidth, cores] = max(busy)
    vary = [f"{name}={','.join(map(str, choices))}" for name, choices in values.items()]
    options = {"minimise": "runtime", "subject_to": f"cost <= {cost}", "vary": vary, "set": {"n": n}}
    if not table:
        with pytest.raises(AspenError, match="no point satisfies `cost <= "):
            optimise(app, there, **options)  # type: ignore[arg-type]
        return
    found = optimise(app, there, **options)  # type: ignore[arg-type]
    assert isinstance(found, Optimum)
    assert found.proven
    assert found.value == pytest.approx(min(table.values()), rel=1e-12)


def test_where_a_bound_begins_to_pay() -> None:
    """With clock 1 and n = 16 the time is ceil(8/cores): 2 from 4 cores on, 1 from 8 on."""
    found = asked(["cores"], minimise="runtime", subject_to="cores <= 7", set={"clock": 1, "bandwidth": 100, "n": 16})
    assert (found.value, found.point) == (2.0, {"cores": 4})
    (binding,) = found.bindings
    assert (binding.next_bound, binding.next_value, binding.without) == (8.0, 1.0, 1.0)
    assert binding.multiplier is None


def test_only_constraints_that_keep_the_optimum_are_told() -> None:
    """On cores of clock 2 the least time is 16/(2*cores)/2: four are the most that the first allows."""
    found = asked(
        ["cores"], minimise="runtime", subject_to="cores <= 4, cost <= 9000, cores >= 2", set={"bandwidth": 1000}
    )
    assert found.point["cores"] == 4
    assert [item.constraint.text for item in found.bindings] == ["cores <= 4"]


def test_the_largest_problem_in_a_time() -> None:
    """With 2 * 4 cores at 2 a block of 8 takes 1/2, and memory is not waited for: in 10 go 20 blocks of 8."""
    found = asked(["n"], maximise="n", subject_to="runtime <= 10 s", set={"bandwidth": 1000})
    assert (found.value, found.point) == (160.0, {"n": 160})


def test_machines_among_the_variables() -> None:
    """The second is twice as fast for three times the cost."""
    text = """machine NAME {{ socket s }} socket s {{ property cost [{cost}] core [k] c }}
core c {{ resource flops(x) [x/{speed}] }} param k = 2 in 1 .. 8"""
    texts = {"one": text.format(cost=100, speed=1), "two": text.format(cost=300, speed=2)}
    from aspenpy.explore.optimise import goals_of, search_goals
    from aspenpy.explore.space import make_space

    app = application("execute [8] { flops [12] }")
    loaded = {name: machine(text.replace("NAME", name)) for name, text in texts.items()}
    space = make_space(Case(app, loaded["one"]), ["machine=one,two", "k"], loaded.__getitem__)
    found = search_goals(space, goals_of("runtime", ()), "cost <= 299")
    assert isinstance(found, Optimum)
    assert (found.value, found.point["machine"]) == (12.0, "one")
    assert found.bindings[0].next_bound == 300.0


def test_real_and_whole_together() -> None:
    """The time is ceil(16/(2 cores)) / clock, and the clock at most 4 and at most 10/cores: of all numbers of cores the
    best has 16/(2 cores) whole, and 4 and 8 are equally good."""
    found = asked(
        ["clock:real", "cores"], minimise="runtime", subject_to="cores * clock <= 10", set={"bandwidth": 1000}
    )
    times = {cores: -(-16 // (2 * cores)) / min(4, 10 / cores) for cores in range(1, 11)}
    assert found.value == pytest.approx(min(times.values()), rel=1e-7)
    assert found.point["cores"] in (4, 8)


# -- fronts ----------------------------------------------------------------------------------------


def test_a_front_of_combinations() -> None:
    app, there = both(WORK, NODE)
    found = optimise(app, there, minimise="runtime, cost", vary=["clock=1,2,3,4", "cores=1,2,4,8", "bandwidth=8,32"])
    assert isinstance(found, Front)
    every = []
    for clock, cores, bandwidth in product((1, 2, 3, 4), (1, 2, 4, 8), (8, 32)):
        time = max(-(-16 // (2 * cores)) / clock, 16 / bandwidth)
        every.append((time, 100 + 20 * cores * clock + 3 * bandwidth))
    front = {a for a in every if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in every)}
    assert {choice.values for choice in found.choices} == front
    assert found.proven


def test_axes_of_a_front_are_logarithmic_where_values_are_positive_and_far_apart() -> None:
    """Squares to 100 and 121 times the least, which is 1; and from 0 on, which has no logarithm."""
    app = application("execute { flops [1] }", "param p = 1 in 0 .. 20")
    there = machine("machine m { socket [1] s } socket s { resource flops(x) [x] }")
    for low, high, scale in ((1, 10, "linear"), (1, 11, "log"), (0, 11, "linear")):
        space = make_space(Case(app, there), [f"p={low}..{high}:whole"])
        front = search_goals(space, goals_of(["100 - 9*p", "p*p"], []), [])
        assert isinstance(front, Front)
        assert len(front.choices) == high - low + 1
        (axes,) = draw_front(front, space, "front").axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("linear", scale)


@slow
def test_a_front_of_real_numbers() -> None:
    """x^2 and (x - 2)^2 (Schaffer 1985): every x from 0 to 2, where the roots add up to 2."""
    pytest.importorskip("pymoo")
    app = application("execute { flops [x^2] loads [(x - 2)^2] }", "param x = 1")
    found = optimise(app, machine(), minimise="flops, loads", vary=["x=-10..10:real"])
    assert isinstance(found, Front)
    assert len(found.choices) > 50
    for choice in found.choices:
        first, second = choice.values
        assert first**0.5 + second**0.5 == pytest.approx(2, abs=1e-2)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=30))
def test_what_is_dominated(points: list[tuple[int, int, int]]) -> None:
    kept = [points[place] for place in non_dominated(numpy.array(points, dtype=float).T)]
    beaten = {a for a in points if any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in points)}
    assert sorted(kept) == sorted({*points} - beaten)


# -- what cannot be --------------------------------------------------------------------------------


def refused(**options: object) -> AspenError:
    with pytest.raises(AspenError) as error:
        asked(**{"vary": ["clock:real", "bandwidth:real", "cores"], "minimise": "runtime", **options})  # type: ignore[arg-type]
    return error.value


def test_the_constraint_that_cannot_be_met_is_named() -> None:
    """The cheapest node costs 100 + 20 + 3."""
    error = refused(subject_to="runtime <= 100 s, cost <= 120, cores >= 1")
    assert codes(error) == ["infeasible"]
    assert "`cost <= 120`" in str(error)
    assert "at best 123 stands against 120" in str(error)


def test_two_constraints_that_contradict_each_other_are_named() -> None:
    vary = ["clock:real", "cores=2,8"]
    message = str(refused(subject_to="cores <= 8, cost <= 300, runtime <= 0.5 s", vary=vary, set={"bandwidth": 40}))
    assert "no point satisfies `cost <= 300` and `runtime <= 0.5 s` together" in message


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"subject_to": "cost < 3"}, "bad-constraint"),
        ({"subject_to": "cost <= 3 or clock <= 3"}, "bad-constraint"),
        ({"subject_to": "cots <= 3"}, "unknown-name"),
        ({"subject_to": "runtime <= 3 J"}, "dimensions"),
        ({"subject_to": "cost"}, "syntax"),
        ({"minimise": ""}, "no-objective"),
        ({"minimise": "runtme"}, "unknown-name"),
        ({"vary": ["n=1..5e6:whole"]}, "too-many-combinations"),
        ({"vary": []}, "nothing-varies"),
        ({"vary": ["clock=1..2", "clock"]}, "bad-variable"),
        ({"vary": ["clock=1..2:whole:real"]}, "bad-axis"),
        ({"vary": ["clock"], "set": {"clock": 2}}, "bad-variable"),
        ({"vary": ["clock=1..1e400"]}, "bad-value"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, object], code: str) -> None:
    assert codes(refused(**options)) == [code]


PARTED = "model parted { param p = 4 param n = 6 kernel main { execute { flops [n*p + 64*n/p] } } }"
"""Least at p = 8, where it is 16 n; without a value at p = 0."""


def test_points_without_a_value_are_passed_over() -> None:
    app, there = both(PARTED, "machine m { socket [1] s } socket s { resource flops(x) [x] }")
    found = optimise(app, there, minimise="runtime", vary=["p=0..20:whole"])
    assert isinstance(found, Optimum)
    assert (found.value, found.point, found.looked_at, found.undefined) == (96, {"p": 8}, 21, 1)
    found = optimise(app, there, minimise="runtime", subject_to="runtime >= 100", vary=["p=0..20:real"])
    assert isinstance(found, Optimum)
    assert found.value == pytest.approx(100, rel=1e-6)
    front = optimise(app, there, minimise=["runtime", "p"], vary=["p=0..20:whole"])
    assert isinstance(front, Front)
    assert [choice.point["p"] for choice in front.choices] == [8, 7, 6, 5, 4, 3, 2, 1]
    for quantities in ("runtime", ["runtime", "p"]):
        for vary in ("n=1,2", "n=1..2:real"):
            with pytest.raises(AspenError, match="division by zero"):
                optimise(app, there, minimise=quantities, vary=[vary], set={"p": 0})


@pytest.mark.parametrize("whole", ["n=1,2,3", "n=1..3:whole"])
def test_the_points_that_are_counted_are_those_before_the_searches(whole: str) -> None:
    """For each of three values the base of `p`, its ends and middle, and scattered ones, of which 0 has no value; not
    those of the searches themselves."""
    app, there = both(PARTED, "machine m { socket [1] s } socket s { resource flops(x) [x] }")
    found = optimise(app, there, minimise="runtime", vary=[whole, "p=0..20:real"])
    assert isinstance(found, Optimum)
    assert (found.looked_at, found.undefined) == (3 * problem.SCATTERED, 3)
    many = optimise(app, there, minimise="runtime", vary=["n=1..1e7", "p=1..20:real"])
    assert isinstance(many, Optimum)
    assert (many.point["n"], many.looked_at, many.undefined) == (1, problem.SCATTERED, 0)


def test_a_sample_without_a_value_is_named_and_left_out() -> None:
    pytest.importorskip("SALib")
    app, there = both(PARTED, "machine m { socket [1] s } socket s { resource flops(x) [x] }")
    found = aspenpy.sensitivity(app, there, method="sobol", vary=["p=0..300:whole", "n=1..9"], samples=256)
    assert isinstance(found, Sobol)
    assert found.skipped is not None
    assert re.fullmatch(r"at p = 0, n = \d: division by zero", found.skipped.reason)
    assert found.skipped.total == 256 * (2 + 2)
    assert found.runs <= found.skipped.total - 4


def test_a_metric_and_a_parameter_of_one_name() -> None:
    app, there = both(WORK, NODE.replace("param cores", "param cost = 3 param cores"))
    with pytest.raises(AspenError, match="`cost` is a metric and a parameter"):
        optimise(app, there, minimise="cost", vary=["cores"])


# -- where there are no values ---------------------------------------------------------------------


def test_most_of_a_range_without_values() -> None:
    """10^n is a floating-point number up to n = log10(1.797...e308), and 1/sqrt(50 - n) has a value below 50."""
    app, there = both("model a { param n = 2 kernel main { execute { flops [n] } } }", SECONDS)
    found = optimise(app, there, maximise="10^n", vary="n=1..1e6:real")
    assert isinstance(found, Optimum)
    assert found.point["n"] == pytest.approx(math.log10(sys.float_info.max), rel=1e-12)
    near = optimise(app, there, maximise="1/sqrt(50 - n)", vary="n=1..1e5:real")
    assert isinstance(near, Optimum)
    assert near.point["n"] == pytest.approx(50, rel=1e-9)
    inside = optimise(app, there, minimise="(n - 7)^2 + 0*sqrt(50 - n)", vary="n=1..1e5:real")
    assert isinstance(inside, Optimum)
    assert inside.point["n"] == pytest.approx(7, rel=1e-5)


@slow
def test_a_law_of_caches_is_optimised_over_real_numbers() -> None:
    """No tile of the library's blocked product beats the one that is found."""
    app, there = aspenpy.load_application("cache_mm_blk16"), aspenpy.load_machine("cachegrind")
    found = optimise(app, there, minimise="runtime", vary="tile=4..256:real", set={"n": 1024})
    assert isinstance(found, Optimum)
    for tile in (4, 8, 16, 32, 64, 128, 256):
        assert found.value <= aspenpy.predict(app, there, set={"n": 1024, "tile": tile}).runtime * (1 + 1e-9)


def test_a_slope_without_a_value_is_taken_from_differences() -> None:
    """((n - 7)^2)^(3/4) has no slope at n = 7, one of the points that are tried first, and is least there."""
    app, there = both("model a { param n = 2 kernel main { execute { flops [n] } } }", SECONDS)
    found = optimise(app, there, minimise="((n - 7)^2)^(3/4)", vary="n=1..13:real")
    assert isinstance(found, Optimum)
    assert found.point["n"] == pytest.approx(7, abs=1e-4)


def test_a_range_beyond_floating_point_is_refused() -> None:
    app, there = both("model a { param n = 2 kernel main { execute { flops [n] } } }", SECONDS)
    with pytest.raises(AspenError, match="too wide for double precision") as error:
        optimise(app, there, maximise="n", vary="n=-1e308..1e308:real")
    assert codes(error.value) == ["bad-range"]
    found = optimise(app, there, maximise="n", vary="n=-1e307..1e307:real")
    assert isinstance(found, Optimum)
    assert found.value == pytest.approx(1e307)


def test_a_front_of_points_without_a_value_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative base needs a whole exponent: no real one has a value, and 100 generations of 128 would look for it."""
    pytest.importorskip("pymoo")
    looked: list[int] = []
    original = problem.Problem.evaluate_points

    def evaluate_points(self: problem.Problem, points: numpy.ndarray) -> problem.PointValues:
        looked.append(len(points))
        return original(self, points)

    monkeypatch.setattr(problem.Problem, "evaluate_points", evaluate_points)
    app = aspenpy.parse(
        "model a { param n = 3 in 1 .. 9  param f = 2 in 0.1 .. 3.3 "
        "kernel main { execute { flops [(0 - n)^f + 99]  loads [n] } } }"
    )
    with pytest.raises(AspenError, match="a negative base needs a whole exponent"):
        optimise(app, aspenpy.parse(NODE), minimise="runtime, loads", vary=["n:real", "f"])
    assert sum(looked) <= 10 * 128  # eight generations, the one under way, and the last population once more


def test_the_best_points_are_those_of_all_that_hold() -> None:
    app = aspenpy.parse("model m { param a = 1 param b = 1 kernel main { execute { flops [1e9*((a - 2)^2 + b)] } } }")
    machine = aspenpy.parse("machine h { socket [1] s } socket s { core [1] c } core c { resource flops(x) [x/1e9] }")
    found = aspenpy.optimise(
        app, machine, minimise="runtime", vary=["a=1,2,3,4", "b=1,2,3"], subject_to="a + b <= 5", best=5
    )
    points = [(a, b) for a in (1, 2, 3, 4) for b in (1, 2, 3) if a + b <= 5]
    by_hand = sorted(points, key=lambda point: (point[0] - 2) ** 2 + point[1])[:5]
    assert [(int(item.point["a"]), int(item.point["b"])) for item in found.best] == by_hand
    assert [item.values[0] for item in found.best] == [(a - 2) ** 2 + b for a, b in by_hand]
    assert [row["bound_by"] for row in found.to_json()["best"]] == ["flops, 100%"] * 5
    assert "bound by" in str(found)
    assert len(found.to_csv().splitlines()) == 1 + 5


@pytest.mark.parametrize(
    ("minimise", "vary", "message"),
    [("runtime", "n=1..2:real", "known of whole numbers and choices"), ("runtime, n", "n=1,2", "a Pareto front")],
)
def test_the_best_points_where_there_are_none(minimise: str, vary: str, message: str) -> None:
    app, machine = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
    with pytest.raises(aspenpy.AspenError, match=message):
        aspenpy.optimise(app, machine, minimise=minimise, vary=vary, best=3)


def test_points_that_differ_in_what_changes_nothing_are_one() -> None:
    """`b` changes nothing where `a` is 1; `c` does not in any case; 2 and 3 of `a` are equally good by another `b`."""
    app = aspenpy.parse(
        "model m { param a = 1 param b = 1 param c = 1 kernel main { execute { flops [1e9*(a + (a - 1)*b)] } } }"
    )
    machine = aspenpy.parse("machine h { socket [1] s } socket s { core [1] c } core c { resource flops(x) [x/1e9] }")
    found = aspenpy.optimise(
        app, machine, minimise="runtime", vary=["a=1,2,3", "b=0,1,3", "c=1,2"], subject_to="a + b <= 4", best=5
    )
    assert isinstance(found, Optimum)
    rows = [(item.values[0], item.point, item.equal) for item in found.best]
    both = ("1", "2")
    assert rows[0][2] == {"c": both}
    assert [(row[0], row[1]["a"] + row[1]["b"]) for row in rows] == [
        (1, "10"),
        (1, "11"),
        (1, "13"),
        (2, "20"),
        (3, "21"),
    ]
    free = aspenpy.optimise(app, machine, minimise="runtime", vary=["a=1,2,3", "b=0,1,3", "c=1,2"], best=5)
    assert isinstance(free, Optimum)
    assert [(item.values[0], item.equal) for item in free.best] == [
        (1, {"b": ("0", "1", "3"), "c": both}), (2, {"c": both}), (3, {"c": both}), (3, {"c": both}), (5, {"c": both}),
    ]  # fmt: skip
    assert free.to_json()["best"][0]["equal"] == {"b": ["0", "1", "3"], "c": ["1", "2"]}
    assert re.search(r"1 s +1 +any +any", str(free))


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), unique=True, max_size=27))
def test_folded_points_are_the_points(points: list[tuple[int, ...]]) -> None:
    boxes = fold_points(numpy.array(points, dtype=float).reshape(-1, 3))
    held = [point for box in boxes for point in product(*box)]
    assert sorted(held) == sorted(points)
    firsts = [points.index(tuple(int(cell[0]) for cell in box)) for box in boxes]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("count", [1, 2, MOST_SHOWN - 1, MOST_SHOWN, MOST_SHOWN + 1, 2 * MOST_SHOWN, 1000])
def test_points_of_a_long_front_are_shown_evenly(count: int) -> None:
    """All where they are few; else both ends, and between them as many left out as anywhere, or one more."""
    shown = _pick_some(list(range(count)))
    assert len(shown) == min(count, MOST_SHOWN)
    assert (shown[0], shown[-1]) == (0, count - 1)
    steps = {after - before for before, after in pairwise(shown)}
    assert not steps or max(steps) - min(steps) <= 1


@pytest.mark.parametrize("place", [0, 2])
def test_many_combinations_have_the_values_of_the_exact_rules(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Layouts that do not divide have no value by either; the socket is the slowest variable or one in the middle."""
    case = Case(
        aspenpy.load_application("transformer_training"), aspenpy.load_machine("eos"), set={"ranks": 4, "batch": 8}
    )
    vary = ["tensor=1,2,3", "pipeline=1,2,4", "virtual_stages=1,2,3", "recomputation", "sharding"]
    vary.insert(place, "socket=intel_xeon_platinum_8480plus,nvidia_h100")
    found = []
    for most in (0, 10**6):
        monkeypatch.setattr("aspenpy.explore.space.BY_EXACT_RULES", most)
        found.append(optimise(case, minimise="runtime", vary=vary, best=100, subject_to="held <= 900 MB"))
    fast, exact = found
    assert isinstance(fast, Optimum)
    assert isinstance(exact, Optimum)
    assert fast.looked_at == exact.looked_at == 2 * 3**4 * 4
    assert fast.undefined == exact.undefined > 100
    assert len(fast.best) == len(exact.best) > 15
    assert [item.values[0] for item in fast.best] == pytest.approx([item.values[0] for item in exact.best], rel=1e-12)
    (binds,), (there,) = fast.bindings, exact.bindings
    assert (binds.left, binds.next_value) == (pytest.approx(there.left), pytest.approx(there.next_value))
