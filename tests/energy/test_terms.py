"""Terms by hand: who draws for what, whose power is charged, and what options add."""

from typing import Any

import pytest

import aspenpy
from aspenpy.answers.energy.account import Energy, predict_energy
from aspenpy.answers.energy.options import EnergyOptions
from tests.tiny import both

NODES = """
machine m { node [2] box  interconnect [2] port }
node box { socket [2] s  memory pool  static power [20 W] }
socket s { core [4] c  memory d  static power [8 W]  dynamic power [40 W]
  property active_core_power [3 W]  property uncore_power [5 W]
  property uncore_clock [4 GHz]  property uncore_reference [2 GHz] }
core c { resource flops(x) [x] }
memory d { resource loads(x) [x]  static power [1 W]  dynamic power [2 W] }
memory pool { static power [4 W]  dynamic power [1 W] }
interconnect port { property bandwidth [1 B/s]  resource messages(x) [x]  static power [6 W]  dynamic power [10 W] }
"""
"""16 cores in 4 sockets with a memory each; a pool, and what its node draws besides, in two nodes."""


def energy(body: str, machine: str = NODES, **options: Any) -> Energy:
    app, model = both(f"model a {{ kernel main {{ {body} }} }}", machine)
    return predict_energy(app, model, options=EnergyOptions(**options))


@pytest.mark.parametrize(
    ("charged", "instances", "joules"),
    [
        # One instance: 10 seconds of flops, 4 of loads.
        ("socket", 1, 10 * (8 + 1) + 10 * 40 + 4 * 2),
        ("cores_used", 1, 10 * (8 + 1) + 10 * 40 / 4 + 4 * 2),
        ("machine", 1, 10 * (4 * (8 + 1) + 2 * (20 + 4 + 6)) + 10 * 40 / 4 + 4 * 2),
        # Eight: two cores and one memory of each socket, so that the memory serves two.
        ("socket", 8, 10 * (8 + 1) + 10 * 40 + 2 * 4 * 2),
        ("cores_used", 8, 10 * 4 * (8 + 1) + 8 * 10 * 40 / 4 + 8 * 4 * 2),
        ("machine", 8, 10 * (4 * (8 + 1) + 2 * (20 + 4 + 6)) + 8 * 10 * 40 / 4 + 8 * 4 * 2),
        # Forty: three rounds of sixteen in time, two and a half of work; ten for each memory.
        ("socket", 40, 40 * (8 + 1) + 25 * 40 + 40 * 2),
        ("cores_used", 40, 40 * 4 * (8 + 1) + 40 * 10 * 40 / 4 + 40 * 4 * 2),
    ],
)
def test_charged(charged: str, instances: int, joules: float) -> None:
    found = energy(f"execute [{instances}] {{ flops [10] loads [4] }}", charged=charged)
    assert found.value == pytest.approx(joules, rel=1e-14)


def test_each_term_has_unit_equation_and_line() -> None:
    found = energy("execute { flops [10] loads [4] messages [3] }")
    told = {use.key: (use.rate, use.amount, use.term and (use.term.unit, use.term.equation)) for use in found.terms}
    assert told == {
        ("idle", "s"): (8, 10, ("W", "3.4")),
        ("idle", "d"): (1, 10, ("W", "3.4")),
        ("active", "s"): (40, 10, ("W", "3.5")),
        ("active", "d"): (2, 4, ("W", "3.5")),
        ("messages", "port"): (10, 3, ("W", "3.8")),
    }
    lines = {use.key: use.term.span.text() for use in found.terms if use.term and use.term.span}
    assert lines["active", "s"] == "dynamic power [40 W]"
    assert lines["messages", "port"] == "dynamic power [10 W]"


def test_options_add_terms() -> None:
    plain = energy("execute [3] { flops [10] }").value
    cores = energy("execute [3] { flops [10] }", active_cores=True).value
    uncore = energy("execute [3] { flops [10] }", uncore=True).value
    assert cores - plain == pytest.approx(3 * 3 * 10)
    assert uncore - plain == pytest.approx(5 * (4 / 2) ** 2 * 10)
    used = energy("execute [3] { flops [10] }", charged="cores_used", uncore=True).value
    assert used - energy("execute [3] { flops [10] }", charged="cores_used").value == pytest.approx(3 * 20 * 10)


BOARD = """
machine m { node box }
node box { socket s }
socket s { core c  memory d  link w  property idle [10 W]  property tdp [30 W] }
core c { resource flops(x) [x] }
memory d { resource loads(x) [x] resource stores(x) [x] conflict loads, stores }
link w { resource intracomm(x) [x] }
"""


@pytest.mark.parametrize(
    ("body", "joules"),
    [
        ("flops [5]", 5 * 10 + 5 * 20),
        ("loads [3] stores [4]", 7 * 10 + 7 * 20),
        ("flops [5] loads [3] stores [4]", 7 * 10 + 7 * 20),
        ("flops [5] intracomm [9]", 9 * 10 + 5 * 20),
    ],
)
def test_a_memory_without_power_draws_from_its_socket(body: str, joules: float) -> None:
    """`idle` and `tdp` are the other spelling. What overlaps in time is charged once; a link draws nothing more."""
    assert energy(f"execute {{ {body} }}", BOARD).value == pytest.approx(joules)


SUPPLIED = """
machine m { node box  property efficiency [0.5] }
node box { socket s  router t  property efficiency [0.8] }
socket s { core c  static power [8 W]  dynamic power [0 W] }
core c { resource flops(x) [x] }
router t { static power [4 W] }
"""


def test_conversion() -> None:
    # 12 W inside are 15 W at the node's plug and 30 W at the machine's.
    found = energy("execute { flops [10] }", SUPPLIED, charged="machine")
    assert found.value == pytest.approx(300)
    assert found.components == pytest.approx({"s": 80, "t": 40, "box": 30, "m": 150})
    assert energy("execute { flops [10] }", SUPPLIED).value == pytest.approx(80)


ROOFLINE = """
machine m { node box }
node box { socket [3] s }
socket s { core [2] c  memory d  property constant_power [7 W]  property energy_per_flop [2 J/flop]
  property energy_per_flop_dp [5 J/flop]  property energy_per_byte [3 J/B] }
core c { resource flops(x) [x] with dp [base*2] }
memory d { resource loads(x) [x] resource stores(x) [x] conflict loads, stores }
"""


@pytest.mark.parametrize(("charged", "sockets"), [("socket", 1), ("cores_used", 2), ("machine", 3)])
def test_energy_roofline(charged: str, sockets: int) -> None:
    body = "execute [2] { flops [10] flops [1] as dp loads [3] stores [1] }"
    found = energy(body, ROOFLINE, law="roofline", charged=charged)
    assert found.runtime == 12
    assert found.value == pytest.approx(2 * (10 * 2 + 1 * 5 + 4 * 3) + sockets * 7 * 12)


def test_one_law_knows_nothing_of_the_other() -> None:
    with pytest.raises(aspenpy.AspenError, match="socket `s` declares no static power"):
        energy("execute { flops [1] loads [1] }", ROOFLINE)
    with pytest.raises(aspenpy.AspenError, match="socket `s` declares no `constant_power`"):
        energy("execute { flops [1] }", BOARD, law="roofline")


def test_products_with_time() -> None:
    found = energy("execute { flops [5] }", BOARD)
    assert (found.power, found.edp, found.ed2p) == (pytest.approx(30), pytest.approx(750), pytest.approx(3750))
    metrics = {name: float(found.prediction.formula(name).payload) for name in ("energy", "power", "edp", "ed2p")}
    assert metrics == {"energy": 150, "power": 30, "edp": 750, "ed2p": 3750}


def test_a_resource_hides_a_metric() -> None:
    app, machine = both("model a { kernel main { execute { edp [3] } } }", BOARD.replace("flops", "edp"))
    assert float(aspenpy.predict(app, machine).formula("edp").payload) == 3


def test_what_is_left_out_is_named() -> None:
    body = "execute { flops [1] messages [1] }"
    assert energy(body).left_out == ("box", "pool", "port")
    assert energy(body, charged="machine").left_out == ("pool",)  # nothing is served by it
    assert energy("execute { flops [1] }", BOARD).left_out == ()


CACHED = """
machine m { node box }
node box { socket s }
socket s { core c  cache l  memory d  static power [0 W]  dynamic power [1 W]
  property constant_power [0 W]  property energy_per_flop [0 J/flop]  property energy_per_byte [1 J/B] }
core c { resource flops(x) [x] }
cache l { property capacity [8 KiB]  property associativity [8]  property cacheline [64 B]  property sharing [1] }
memory d { resource loads(x) [x/giga]  resource stores(x) [x/giga]  conflict loads, stores
  static power [0 W]  dynamic power [1000 W] }
"""


@pytest.mark.parametrize(
    ("access", "moved"),
    [
        ("loads [1e6] of size [8] from x as stream", 8e6),
        ("stores [1e6] of size [8] to x as stream", 16e6),  # each line is fetched before it is written
        ("loads [1e6] of size [8] from x as stride(128)", 64e6),  # a line for each word
    ],
)
def test_memory_is_charged_with_what_caches_move(access: str, moved: float) -> None:
    app, machine = both(f"model a {{ data x as Array(1e6, 8) kernel main {{ execute {{ {access} }} }} }}", CACHED)
    assert predict_energy(app, machine).value == pytest.approx(moved / 1e9 * 1000)
    assert predict_energy(app, machine, options=EnergyOptions(law="roofline")).value == pytest.approx(moved)
