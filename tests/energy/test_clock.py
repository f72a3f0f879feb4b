"""Energy as a function of the clock: its slope, where it is least, and the clock that a power cap leaves."""

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.answers.energy.cap import lower_clock_to_cap
from aspenpy.answers.energy.optimum import optimum
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.totals import METRICS, energy_metric
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import evaluate
from tests.tiny import application, both

CUBIC = """
param speed = 2 * giga in giga/2 .. 4*giga
machine m { node box }
node box { socket s }
socket s { core c  memory d  static power [16]  dynamic power [2*(speed/giga)^3]  property power_cap [32] }
core c { property clock [speed]  resource flops(x) [x/clock] }
memory d { resource loads(x) [x/giga] }
"""
FLOPS = "model a { kernel main { execute { flops [giga] } } }"
LOW, HIGH = 10**9 // 2, 4 * 10**9


def prediction(body: str = FLOPS, machine: str = CUBIC) -> aspenpy.Prediction:
    return aspenpy.predict(*both(body, machine))


def test_slope_by_the_clock() -> None:
    # E = (16 + 2 f^3)/f with f in GHz: dE/df = -16/f^2 + 4 f.
    found = prediction()
    formula, symbol = found.formula("energy", ["speed"]), found.scope.symbol("speed")
    slope = differentiate(formula, symbol)
    for clock in (1, 2, 3):
        assert float(evaluate(formula, {symbol: clock * 10**9})) == pytest.approx(16 / clock + 2 * clock**2)
        assert float(evaluate(slope, {symbol: clock * 10**9})) == pytest.approx((-16 / clock**2 + 4 * clock) / 1e9)


def test_metrics_are_functions_of_a_prediction() -> None:
    found = prediction()
    values = found.scope.values([energy_metric(found.tree, metric) for metric in METRICS])
    assert [float(value) for value in values] == pytest.approx([16, 0.5, 32, 8, 4])  # half a second at 2 GHz
    assert found.prepare(["speed"], "energy")(1e9) == pytest.approx(18)


@pytest.mark.parametrize(
    ("metric", "clock"),
    [
        ("energy", 4 ** (1 / 3)),  # -16/f^2 + 4 f = 0
        ("edp", 16 ** (1 / 3)),  # (16 + 2 f^3)/f^2: -32/f^3 + 2 = 0
        ("ed2p", 4),  # 16/f^3 + 2 only falls
    ],
)
def test_least(metric: str, clock: float) -> None:
    found = optimum(prediction(), "speed", LOW, HIGH, metric=metric)
    assert found.at == pytest.approx(clock * 1e9, rel=1e-9)
    assert found.value <= min(found.value_low, found.value_high)


def test_least_at_a_corner() -> None:
    # From 1 GHz on the memory takes a second, and a faster clock only draws more: E = 16 + 2 f^2.
    found = optimum(prediction("model a { kernel main { execute { flops [giga] loads [giga] } } }"), "speed", LOW, HIGH)
    assert found.at == pytest.approx(1e9, rel=1e-9)
    assert found.value == pytest.approx(18)


LONG = "model a { kernel main { " + " ".join(f"execute {{ flops [{k}*giga/60] }}" for k in range(1, 61)) + " } }"
"""Sixty blocks: more terms than places of a zero slope are proved for."""


@pytest.mark.parametrize(
    ("law", "low", "high", "expected"),
    [
        ("2*(speed/giga)^3", 1, 4, 4 ** (1 / 3)),  # inside: E is that of one block, 30.5 times
        ("speed/giga", 1, 4, 4),  # 16/f + 1 falls to the end
        ("3*(speed/giga)^5", 1.5, 4, 1.5),  # 16/f + 3 f^4 rises from below 1.5 on
    ],
)
def test_least_of_a_long_formula(law: str, low: float, high: float, expected: float) -> None:
    """Searched on a grid: never outside of the range, and at its ends where the energy only falls or rises."""
    text = CUBIC.replace("2*(speed/giga)^3", law)
    watched = prediction(LONG, text)
    found = optimum(watched, "speed", low * 1e9, high * 1e9)
    assert not found.proved
    assert low * 1e9 <= found.at <= high * 1e9
    assert found.at == pytest.approx(expected * 1e9, rel=1e-5)
    at = watched.prepare(["speed"], "energy")
    assert found.value == pytest.approx(at(expected * 1e9), rel=1e-9)
    assert (found.value_low, found.value_high) == pytest.approx((at(low * 1e9), at(high * 1e9)), rel=1e-12)


def test_least_by_a_table_of_voltages() -> None:
    """The Pentium M: power by V^2 f with voltages interpolated, checked on a fine grid."""
    app, machine = aspenpy.load_application("matmul"), aspenpy.load_machine("pentium_m")
    found = aspenpy.predict(app, machine)
    for metric in ("energy", "edp", "ed2p"):
        best = optimum(found, "pentium_m_clock", 600 * 10**6, 1400 * 10**6, metric=metric)
        at = found.prepare(["pentium_m_clock"], metric)
        grid = [at(600e6 + 1e6 * step) for step in range(801)]
        assert best.value == pytest.approx(min(grid), rel=1e-4)
        assert best.value <= min(grid) * (1 + 1e-9)


def test_no_least() -> None:
    with pytest.raises(AspenError, match="the energy does not depend on `n`"):
        optimum(prediction("model a { param n = 1 kernel main { execute { flops [giga] } } }"), "n", 1, 2)
    with pytest.raises(AspenError, match="has no values from 2 to 1"):
        optimum(prediction(), "speed", 2, 1)
    with pytest.raises(AspenError, match="`runtime` cannot be minimised"):
        optimum(prediction(), "speed", 1, 2, metric="runtime")


# -- the power cap ---------------------------------------------------------------------------------


def test_a_cap_that_holds_changes_nothing() -> None:
    found = lower_clock_to_cap(prediction())  # 16 + 2*2^3 = 32 W
    assert (found.clock, found.declared, found.power) == (2e9, 2e9, pytest.approx(32))


def test_a_cap_lowers_the_clock() -> None:
    # 16 + 2 f^3 = 20 W at f = 2^(1/3).
    found = lower_clock_to_cap(prediction(machine=CUBIC.replace("power_cap [32]", "power_cap [20]")))
    assert found.clock == pytest.approx(2 ** (1 / 3) * 1e9, rel=1e-11)
    assert (found.uncapped, found.power) == (pytest.approx(32), pytest.approx(20))
    assert found.prediction.runtime == pytest.approx(2 ** (-1 / 3))


def test_the_kernel_that_draws_most_decides() -> None:
    body = """model a {
      kernel hot { execute { flops [giga] } }
      kernel cold { execute { loads [8*giga] flops [giga] } }
      kernel main { iterate [3] { call cold } call hot }
    }"""
    found = lower_clock_to_cap(prediction(body, CUBIC.replace("power_cap [32]", "power_cap [20]")))
    assert found.clock == pytest.approx(2 ** (1 / 3) * 1e9, rel=1e-11)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("power_cap [32]", "power_cap [16.2]", "the power cap of socket `s` does not hold at any clock"),
        ("  property power_cap [32]", "", "socket `s` declares no `power_cap`"),
        (
            "property clock [speed]  resource flops(x) [x/clock]",
            "resource flops(x) [x/speed]",
            "core `c` declares no clock that a power cap could lower",
        ),
    ],
)
def test_no_clock(before: str, after: str, message: str) -> None:
    with pytest.raises(AspenError) as caught:
        lower_clock_to_cap(prediction(machine=CUBIC.replace(before, after)))
    assert message in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize(
    ("intensity", "measured"),
    [(20.25, 57.4e12), (41.25, 67.4e12), (80.75, 82.2e12), (132.25, 88.2e12)],
)
def test_mi300x_is_capped(intensity: float, measured: float) -> None:
    """Streams of fused single-precision operations at 750 W, flop/s by flops a byte (gpu-benches)."""
    flops = int(1e9 * intensity)
    body = f"execute [304000] {{ flops [{flops}] as sp, simd, fmad  loads [1e9] }}"
    slow = aspenpy.predict(application(body), aspenpy.load_machine("mi300x"))
    found = lower_clock_to_cap(slow, EnergyOptions(law="roofline"))
    assert found.power == pytest.approx(750)
    assert 304_000 * flops / found.prediction.runtime == pytest.approx(measured, rel=0.16)
    assert 0.8e9 <= (found.clock or 0) < 2.1e9


def test_the_least_of_a_count_is_at_a_whole_number() -> None:
    """Ranks share 12 Gflop at 1 GHz, and a barrier takes 0.05 s a rank: 12/n + n/20 seconds, least at sqrt(240) = 15.49
    if that was a number of ranks. Every whole number is evaluated by itself."""
    body = """model a { param n = 4 in 1 .. 100 kernel main {
      execute [n] { flops [12*giga/n] } iterate [n] { execute { flops [giga/20] } } } }"""
    machine = (
        "machine m { node box } node box { socket s } "
        "socket s { core [100] c static power [40] dynamic power [2] } core c { resource flops(x) [x/giga] }"
    )
    found = aspenpy.predict(*both(body, machine))
    formula = found.formula("energy", ["n"])
    by_hand = {n: float(evaluate(formula, {found.scope.symbol("n"): n})) for n in range(1, 101)}
    best = optimum(found, "n", 1, 100)
    assert best.at == min(by_hand, key=by_hand.__getitem__)
    assert best.value == by_hand[int(best.at)]
    assert float(best.at).is_integer()
    real = optimum(found, "n", 1, 100, whole=False)
    assert real.value <= best.value
