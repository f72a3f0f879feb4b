"""Power that responds: by hand on a small machine, its caps, whose power is charged, and what is refused where."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy import AspenError, EnergyOptions
from aspenpy.answers.energy.account import Energy, predict_energy
from aspenpy.answers.energy.optimum import optimum
from aspenpy.answers.energy.options import LITERAL
from tests.tiny import application, both

MACHINE = """\
param volts[] = {0.8, 1, 1.2}
param hertz[] = {1 GHz, 2 GHz, 3 GHz}
param speed = 2 GHz in 1 GHz .. 3 GHz
param ring = 2 GHz in 1 GHz .. 2 GHz
machine m { node [3] box }
node box { socket [2] s }
socket s {
  core [4] c
  cache near
  memory d
  property idle_power [10 W]
  property sleep_power [3 W]
  property active_core_power [1 W + 2 W*speed/2 GHz*lookup(volts, hertz, speed)^2]
  property uncore_power [8 W]
  property uncore_clock [ring]
  property uncore_reference [2 GHz]
  property uncore_saturation [0.5]
  property uncore_least [0.25]
  property energy_per_flop [1 nJ/flop]
  property energy_per_flop_dp [2 nJ/flop]
  property energy_per_flop_tensor_fp16 [0.1 nJ/flop]
  property energy_per_byte [0.5 nJ/B]
  property power_cap [60 W]
}
core c { property clock [speed]  resource flops(x) [x/(clock*1 flop)] with dp [base], tensor [base], fp16 [base] }
cache near {
  property capacity [1 MiB]  property cacheline [64 B]  property associativity [16]  property sharing [4]
  property energy_per_byte [0.1 nJ/B]
}
memory d {
  resource loads(x) [x/(10 GB/s)]
  static power [1 W]
  dynamic power [4 W]
}
"""
ONE = "model a { kernel main { execute [1] { flops [2e9] loads [1e9] } } }"


def energy(body: str = ONE, machine: str = MACHINE, options: EnergyOptions | None = None, **settings: float) -> Energy:
    found = aspenpy.predict(*both(body, machine), set=settings)
    return Energy(found) if options is None else Energy(found, options)


def joules(found: Energy) -> dict[tuple[str, str], float]:
    return {(use.key.cause, use.key.component): use.energy for use in found.terms}


def test_one_core_by_hand() -> None:
    """A second: idle, a core at 3 W, the uncore a quarter and 0.1 s/0.5 of the rest, 2 J of flops, 0.5 J of bytes."""
    found = energy()
    assert joules(found) == pytest.approx({
        ("idle", "s"): 10, ("idle", "d"): 1, ("active cores", "s"): 3, ("uncore", "s"): 8 * (0.25 + 0.2),
        ("flops", "s"): 2, ("bytes", "s"): 0.5, ("active", "d"): 0.4,
    })  # fmt: skip
    assert (found.options.law, found.options.charged, found.runtime) == ("responding", "cores_used", 1)


def test_it_follows_the_clocks() -> None:
    slow, fast = (joules(energy(speed=clock)) for clock in (1e9, 3e9))
    assert slow["active cores", "s"] == pytest.approx(2 * (1 + 2 / 2 * 0.8**2))
    assert fast["active cores", "s"] == pytest.approx((1 + 2 * 1.5 * 1.2**2) * 2 / 3)
    assert joules(energy(ring=1e9))["uncore", "s"] == pytest.approx(8 * 0.45 / 4)


@pytest.mark.parametrize(
    ("traits", "cause", "each"),
    [
        ("", "flops", 1),
        ("as dp", "dp flops", 2),
        ("as tensor, fp16", "tensor fp16 flops", 0.1),
        ("as tensor", "flops", 1),
    ],
)
def test_flops_by_class(traits: str, cause: str, each: float) -> None:
    found = joules(energy(f"model a {{ kernel main {{ execute {{ flops [1e9] {traits} }} }} }}"))
    assert found[cause, "s"] == pytest.approx(each)


def test_bytes_at_each_level() -> None:
    """8,000 words of 8 bytes go through the cache once, by lines of 64."""
    body = "data x as Array(8000, 8) kernel main { execute { loads [8000] of size [8] from x as stream } }"
    found = {use.key.component: use for use in energy(f"model a {{ {body} }}").terms if use.key.cause == "bytes"}
    assert (found["near"].amount, found["near"].rate) == (64000, pytest.approx(1e-10))
    assert (found["s"].amount, found["s"].rate) == (64000, pytest.approx(5e-10))


@pytest.mark.parametrize(
    ("instances", "charged", "idle", "partners"),
    [
        (1, "socket", 10, None),
        (1, "auto", 10, None),
        (1, "nodes_used", 10, 3),
        (1, "machine", 10, 15),
        (6, "auto", 60, None),
        (24, "auto", 60, None),
        (24, "socket", 10, None),
        (24, "machine", 60, 0),
    ],
)
def test_what_the_run_occupies_is_charged(instances: int, charged: str, idle: float, partners: float | None) -> None:
    """Instances are dealt out over the six sockets; those without work sleep at 3 W."""
    body = ONE.replace("execute [1]", f"execute [{instances}]")
    found = energy(body, options=EnergyOptions(charged=charged))  # type: ignore[arg-type]
    at = joules(found)
    assert at["idle", "s"] / found.runtime == pytest.approx(idle)
    assert at.get(("idle partners", "s")) == (None if partners is None else pytest.approx(partners * found.runtime))


# -- caps ------------------------------------------------------------------------------------------


def test_a_capped_socket_takes_longer() -> None:
    """Without work 10 + 2 W; 3 + 1.6 + 2.5 J more in a second. Below 14 W it waits: 7.1 J / (14 - 12) W."""
    found = energy(options=EnergyOptions(cap=14))
    assert found.capped_runtime == pytest.approx(7.1 / 2)
    within = {key: value for key, value in joules(found).items() if key[1] == "s"}
    assert sum(within.values()) / found.capped_runtime == pytest.approx(14)
    assert energy().capped_runtime == energy(options=EnergyOptions(cap=100)).capped_runtime == 1
    assert found.runtime == found.prediction.runtime == 1


def test_a_cap_holds_on_each_socket() -> None:
    found = energy(ONE.replace("execute [1]", "execute [6]"), options=EnergyOptions(cap=14))
    assert found.capped_runtime == pytest.approx(7.1 / 2)


@pytest.mark.parametrize("name", ["h200", "mi300x", "a100_40gb"])
@pytest.mark.parametrize("law", ["responding", "roofline"])
@pytest.mark.parametrize("intensity", [0.25, 1, 8, 20, 100, 1000])
def test_no_board_exceeds_its_cap(name: str, law: str, intensity: float) -> None:
    body = f"execute [1000] {{ flops [{int(intensity * 1e9)}] as sp, simd, fmad  loads [1e9] }}"
    cap = {"h200": 700, "mi300x": 750, "a100_40gb": 400}[name]
    found = predict_energy(application(body), aspenpy.load_machine(name), options=EnergyOptions(law=law))  # type: ignore[arg-type]
    assert 50 < (found.power or 0) <= cap * (1 + 1e-9)


@pytest.mark.parametrize(("intensity", "measured"), [(2.25, 8.684), (10.25, 35.506), (41.25, 67.39), (132.25, 88.246)])
def test_mi300x_as_measured_at_its_cap(intensity: float, measured: float) -> None:
    """Tflop/s of streams of fused operations in single precision at 750 W (gpu-benches)."""
    body = f"execute [304000] {{ flops [{int(intensity * 1e9)}] as sp, simd, fmad  loads [1e9] }}"
    found = predict_energy(application(body), aspenpy.load_machine("mi300x"))
    assert 304e3 * intensity * 1e9 / found.capped_runtime == pytest.approx(measured * 1e12, rel=0.09)


def test_an_a100_at_lower_caps_keeps_its_bandwidth() -> None:
    """BabelStream on an A100 of 80 GB (PCIe) at 150 W, 0.66 of the 228 W that it draws uncapped: 2.3 % less bandwidth,
    at a lower clock (giordano/gpu-power-frequency-benchmarks)."""
    from aspenpy.answers.energy.cap import lower_clock_to_cap

    found = aspenpy.predict(aspenpy.load_application("stream"), aspenpy.load_machine("a100_80gb"), kernel="triad")
    options = EnergyOptions(cap=150 / 228 * Energy(found).power)
    slow = lower_clock_to_cap(found, options)
    assert slow.clock < 1.1e9
    assert Energy(slow.prediction, options).runtime == pytest.approx(found.runtime, rel=0.03)


# -- the least energy ------------------------------------------------------------------------------


def test_the_least_energy_is_inside_where_memory_is_bound() -> None:
    cg, machine = aspenpy.load_application("cg"), aspenpy.load_machine("xeon_platinum_8360y")
    found = optimum(aspenpy.predict(cg, machine), "platinum_8360y_clock", 800 * 10**6, 2800 * 10**6)
    assert 0.9e9 < found.at < 2.5e9
    assert not found.proved
    assert found.value < min(found.value_low, found.value_high)


@pytest.mark.parametrize(
    "body", ["flops [1e9] as dp, simd, fmad", "loads [1e9]", "flops [1e9] as dp, simd  loads [1e9]"]
)
@pytest.mark.parametrize(
    ("machine", "clock"),
    [
        ("xeon_platinum_8470", "platinum_8470_clock"),
        ("xeon_platinum_8180", "platinum_8180_clock"),
        ("epyc_7763", "epyc_7763_clock"),
        ("power9", "power9_clock"),
        ("a64fx", "a64fx_clock"),
        ("v100", "v100_clock"),
    ],
)
def test_power_rises_with_the_clock(machine: str, clock: str, body: str) -> None:
    """Whatever bounds the work, from the lower end of the range to the base clock."""
    app, there = application(f"execute [200] {{ {body} }}"), aspenpy.load_machine(machine)
    low, _ = next((item.low, item.high) for item in there.parameters if item.name == clock)
    assert low is not None
    base = aspenpy.energy(app, there)
    slow = aspenpy.energy(app, there, set={clock: float(base.prediction.scope.values([low])[0])})
    assert 0 < (slow.power or 0) < (base.power or 0)


def test_aeem_is_what_it_was() -> None:
    """A Platinum 8360Y by its design power: the dynamic 151 W of the socket for one core (equations 3.4 and 3.5)."""
    app = application("execute [1] { flops [2.4e9] as dp, simd, fmad }")
    machine = aspenpy.load_machine("xeon_platinum_8360y")
    found = predict_energy(app, machine, options=LITERAL)
    assert found.power == pytest.approx(99 + 151 + 8.5)
    assert (predict_energy(app, machine).power or 0) < 125


# -- refused ---------------------------------------------------------------------------------------

REFUSED = {
    "cap_below_idle": ("power_cap [60 W]", "power_cap [11 W]", {}),
    "cap_asked_below_idle": ("", "", {"options": EnergyOptions(cap=9)}),
    "voltage_points_missing": ("{0.8, 1, 1.2}", "{0.8, 1}", {}),
    "share_above_one": ("uncore_least [0.25]", "uncore_least [1.5]", {}),
    "uncore_without_reference": ("  property uncore_reference [2 GHz]\n", "", {}),
    "negative_idle_power": ("idle_power [10 W]", "idle_power [0 W - 1 W]", {}),
    "flop_in_watts": ("energy_per_flop [1 nJ/flop]", "energy_per_flop [1 W]", {}),
    "additions_of_aeem": ("", "", {"options": EnergyOptions(law="responding", uncore=True)}),
    "cap_of_aeem": ("", "", {"options": EnergyOptions(law="aeem", cap=100)}),
    "model_not_stated": ("  property idle_power [10 W]\n", "", {"options": EnergyOptions(law="responding")}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_as_pictured(case: str, update_pictures: bool) -> None:
    before, after, options = REFUSED[case]
    with pytest.raises(AspenError) as caught:
        energy(ONE, MACHINE.replace(before, after) if before else MACHINE, **options)  # type: ignore[arg-type]
    picture = Path(__file__).parent / "rejected" / f"{case}.txt"
    if update_pictures:
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(f"{caught.value}\n", encoding="utf-8")
    assert f"{caught.value}\n" == picture.read_text(encoding="utf-8")


def test_sockets_that_wait_for_one_block_are_occupied() -> None:
    """Six sockets for a second, and all of them idle in the second that one core works alone."""
    body = "model a { kernel main { execute [6] { flops [2e9] } execute [1] { flops [2e9] } } }"
    found = energy(body)
    assert found.runtime == 2
    assert joules(found)["idle", "s"] == pytest.approx(6 * 10 * 2)
    assert joules(found)["active cores", "s"] == pytest.approx(6 * 3 + 3)


def test_a_formula_says_that_it_waits_for_the_cap() -> None:
    """At 128 flop/B an MI300X would consume more than 750 W; below its cap nothing is said."""
    text = "model m { kernel main { execute [304] { flops [128e9] as sp, simd, fmad loads [1e9] } } }"
    machine = aspenpy.load_machine("mi300x")
    for body, waits in ((text, True), (text.replace("128e9", "1e6"), False)):
        page = str(aspenpy.predict(aspenpy.parse(body), machine).report(metrics=["energy"]))
        assert ("under the power cap of `amd_mi300x`" in page) is waits
