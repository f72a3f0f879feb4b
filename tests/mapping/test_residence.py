"""Data that say in which memory they lie: who serves them, for how long, and whether they fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aspenpy
from aspenpy import AspenError
from aspenpy.answers.footprint import Footprint
from aspenpy.answers.roofline import Roofline
from tests.tiny import application, codes, machine, predict

TWO = """
machine m { node [2] box }
node box {
  core [4] c
  memory fast
  pool slow
}
core c { resource flops(n) [n] }
memory fast {
  property hbm property capacity [100]
  resource loads(n) [n] resource stores(n) [2*n] conflict loads, stores
}
pool slow {
  property ddr property capacity [1000]
  resource loads(n) [10*n] resource stores(n) [20*n] conflict loads, stores
}
"""
"""A byte takes a second in one memory, ten in the other; a store twice as long."""

DATA = "data x [64] in slow data y [32] data z [32] in fast"


def seconds(body: str, declarations: str = DATA, kernels: str = "", machine_text: str = TWO) -> float:
    return predict(body, declarations, kernels, machine_text).runtime


# -- who serves it ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["slow", "pool", "ddr"])
def test_a_memory_is_named_by_its_name_its_type_or_its_flag(name: str) -> None:
    assert seconds("execute { loads [5] from x }", f"data x [8] in {name}") == 5 * 10


def test_a_shape_may_lie_somewhere_too() -> None:
    assert seconds("execute { stores [5] to x }", "data x as Matrix(2, 4) in slow") == 5 * 20


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        ("loads [5] from y", 5),  # says nothing: the first memory
        ("loads [5] from z", 5),
        ("loads [5]", 5),  # of no data at all
        ("flops [3] from x", 3),  # a memory does no flops
        ("loads [5] from x stores [5] to x", 50 + 100),  # one bus
        ("loads [5] from x loads [7] from y", 50),  # both at once
        ("loads [5] from x loads [70] from y", 70),
        ("loads [5] from x stores [40] to y loads [1] from z", 40 * 2 + 1),
        ("loads [5] from x loads [2] from x", 70),
    ],
)
def test_memories_work_at_once_and_each_of_them_in_turn(requirements: str, expected: float) -> None:
    assert seconds(f"execute {{ {requirements} }}") == expected


@given(*[st.integers(0, 50)] * 4)
def test_a_block_takes_the_longer_of_its_memories(a: int, b: int, c: int, d: int) -> None:
    body = f"execute {{ loads [{a}] from x stores [{b}] to x loads [{c}] from y stores [{d}] to z }}"
    assert seconds(body) == max(10 * a + 20 * b, c + 2 * d)


def test_instances_take_turns_at_the_memory_they_need() -> None:
    """Two boxes have two of each: five instances need three rounds."""
    assert seconds("execute [5] { loads [5] from x }") == 3 * 50


def test_branches_of_an_overlapped_par_share_each_memory() -> None:
    body = 'par "overlap" { execute { loads [5] from x } execute { loads [30] from y } execute { loads [1] from x } }'
    assert seconds(body) == 60


def test_by_memory() -> None:
    found = predict("execute [2] { loads [5] from x loads [7] from y }", DATA, machine_text=TWO)
    assert {name: (use.amount, use.time, use.component) for name, use in found.resources.items()} == {
        "loads": (14, 7, "m/box/fast"),
        "slow.loads": (10, 50, "m/box/slow"),
    }
    assert found.bottleneck is not None
    assert (found.bottleneck.resource, found.bottleneck.component) == ("slow.loads", "m/box/slow")
    assert float(found.expression("loads")) == 24  # all of it, whoever serves it
    assert "memory bandwidth of slow" in str(found)
    assert {step.component: step.bounds for step in found.explain().steps} == {"m/box/slow": True, "m/box/fast": False}


# -- through calls ---------------------------------------------------------------------------------

SCALE = "kernel scale(data a) { execute { loads [5] from a } }"


def test_an_argument_lies_where_the_data_of_the_call_do() -> None:
    assert seconds("call scale(x)", kernels=SCALE) == 50
    assert seconds("call outer(x)", kernels="kernel outer(data b) { call scale(b) }" + SCALE) == 50


def test_an_argument_hides_the_global_of_its_name() -> None:
    kernel = "kernel scale(data x) { execute { loads [5] from x } }"
    assert seconds("call scale(y)", kernels=kernel) == 5


def test_calls_with_data_of_two_memories_are_refused() -> None:
    with pytest.raises(AspenError) as caught:
        seconds("call scale(x) call scale(y)", kernels=SCALE)
    (found,) = caught.value.diagnostics
    assert found.code == "several-memories"
    assert found.message == "calls give kernel `scale` data of several memories as `a`"
    assert found.hint == "`x` in `slow`, `y` in `fast`: write a kernel for each memory, or keep the data in one"
    assert seconds("call scale(y) call scale(z)", kernels=SCALE) == 10  # both in the first


def test_data_of_a_kernel_and_of_an_imported_model(tmp_path: Path) -> None:
    assert seconds("call own", "", "kernel own { data t [8] in slow execute { loads [5] from t } }") == 50
    inner = "model inner { data t [8] in slow kernel main { execute { loads [5] from t } } }"
    (tmp_path / "inner.aspen").write_text(inner, encoding="utf-8")
    outer = 'model outer { import inner from "inner.aspen" kernel main { call inner.main } }'
    (tmp_path / "outer.aspen").write_text(outer, encoding="utf-8")
    assert aspenpy.predict(aspenpy.load_application(str(tmp_path / "outer.aspen")), machine(TWO)).runtime == 50


# -- conflicts -------------------------------------------------------------------------------------


def test_a_conflict_declared_elsewhere_holds_for_every_memory() -> None:
    text = TWO.replace("resource flops(n) [n] }", "resource flops(n) [n] conflict flops, loads }")
    assert seconds("execute { flops [3] loads [5] from x }", machine_text=text) == 3 + 50
    assert seconds("execute { flops [3] loads [5] from y }", machine_text=text) == 3 + 5


def test_times_of_a_serial_machine_add() -> None:
    text = TWO.replace("resource flops(n) [n] }", "property serial resource flops(n) [n] }")
    assert seconds("execute { flops [3] loads [5] from x loads [7] from y }", machine_text=text) == 50 + 7


NAMED = TWO.replace("resource loads(n) [10*n]", "resource slow_loads(n) [10*n]").replace(
    "resource stores(n) [20*n] conflict loads, stores",
    "resource slow_stores(n) [20*n] conflict slow_loads, slow_stores",
)


def test_a_memory_may_call_its_loads_otherwise() -> None:
    """Whoever asks for them by that name waits for the same bus."""
    assert seconds("execute { loads [5] from x stores [1] to x loads [9] from y }", machine_text=NAMED) == 70
    assert seconds("execute { loads [5] from x slow_loads [2] }", machine_text=NAMED) == 70
    assert seconds("execute { stores [1] to x slow_loads [2] }", machine_text=NAMED) == 40


# -- behind caches, below a roof, in joules --------------------------------------------------------

CACHED = """
machine m { node box }
node box { core c memory fast memory slow }
core c { property outstanding [2] resource flops(n) [n/1e9] cache L1 }
cache L1 { property capacity [16 KiB] property cacheline [64] property associativity [8] }
memory fast { property latency [1e-6] resource loads(n) [n/1e9] resource stores(n) [n/1e9] conflict loads, stores }
memory slow { property latency [1e-5] resource loads(n) [n/1e8] resource stores(n) [n/1e8] conflict loads, stores }
"""


def test_what_caches_leave_goes_to_the_memory_of_the_data() -> None:
    """Ten sweeps of 8 kB fetch it once; a store fetches its lines, and writes them back."""
    x, y = "data x [8000] in slow ", "data y [8000]"
    load = "loads [10000] of size [8] from x as stream, reuse(10)"
    store = "stores [1000] of size [8] to x as stream"
    assert seconds(f"execute {{ {load} }}", x, machine_text=CACHED) == pytest.approx(8000 / 1e8, rel=1e-9)
    assert seconds(f"execute {{ {store} }}", x, machine_text=CACHED) == pytest.approx(2 * 8000 / 1e8, rel=1e-9)
    both = f"execute {{ {store} loads [100000] from y }}"
    assert seconds(both, x + y, machine_text=CACHED) == pytest.approx(2 * 8000 / 1e8, rel=1e-9)


def test_misses_wait_for_the_latency_of_their_memory() -> None:
    random = "execute { loads [1000] of size [8] from x as random }"
    table = "data x [64*1024*1024]"
    near, far = (seconds(random, f"{table} in {memory}", machine_text=CACHED) for memory in ("fast", "slow"))
    assert far == pytest.approx(10 * near, rel=1e-9)


def test_below_the_roof_of_its_memory() -> None:
    """5 flops and 10 bytes at ten seconds each, on one core and one memory."""
    body = "execute { flops [5] loads [10] from x loads [2] from y }"
    whole = Roofline(machine(TWO), [application(body, DATA)]).points[0]
    assert whole.intensity == 5 / 12
    assert whole.attainable == pytest.approx(5 / (10 * 10), rel=1e-12)
    assert whole.bound_by == ("slow.loads",)


def test_the_energy_is_that_of_the_memory_used() -> None:
    """At exascale, 8 GB from DRAM at 100 GB/s: 80 ms in which it draws 15 W more."""
    app = application("execute { loads [1e9] of size [8] from x }", "data x [8e9] in ddr")
    found = aspenpy.energy(app, aspenpy.load_machine("exascale_heterogeneous"), socket="heterogeneous_wide")
    active = {use.term.key.component: use.energy for use in found.terms if use.term.key.cause == "active"}
    assert active == {"exascale_dram": pytest.approx(0.08 * 15, rel=1e-12)}
    idle = 20 + 5 + 5 + 1
    assert found.value == pytest.approx(0.08 * (15 + idle), rel=1e-12)


# -- the library -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "socket", "memory", "expected"),
    [
        ("xeon_phi_7250", None, "hbm", 8 / 13),  # GB by GB/s of one core: Chips and Cheese 2022
        ("xeon_phi_7250", None, "ddr", 8 / 13),
        ("exascale_heterogeneous", "heterogeneous_wide", "hbm", 8 / 1000),
        ("exascale_heterogeneous", "heterogeneous_wide", "ddr", 8 / 100),
        ("exascale_heterogeneous", "heterogeneous_wide", "nvram", 8 / 20),
        ("h100", None, "hbm", 8 / (64 * 1.98) + 2.7e-6),  # 64 B a cycle of one multiprocessor, after its launch
    ],
)
def test_memories_of_the_library(name: str, socket: str | None, memory: str, expected: float) -> None:
    app = application("execute { loads [1e9] of size [8] from x }", f"data x [8e9] in {memory}")
    found = aspenpy.predict(app, aspenpy.load_machine(name), socket=socket)
    assert found.runtime == pytest.approx(expected, rel=1e-12)


def test_both_memories_of_the_xeon_phi_at_once() -> None:
    """A vector sum on all cores, with one of its vectors in DDR4 that attains 84 of 115.2 GB/s: 8 GB there take longer
    than 16 GB from MCDRAM, of which STREAM attains 447 GB/s."""
    declarations = "data a [8e9] data b [8e9] in ddr data c [8e9]"
    body = "execute [68] { loads [8e9/68] from a loads [8e9/68] from b stores [8e9/68] to c }"
    found = aspenpy.predict(application(body, declarations), aspenpy.load_machine("xeon_phi_7250"))
    assert found.runtime == pytest.approx(max(8 / 84, 16 / 447), rel=2e-2)


# -- too large, unknown ----------------------------------------------------------------------------


def test_data_that_do_not_fit() -> None:
    """Two boxes hold 2 x 100 bytes in the fast memory, 2 x 1000 in the other."""
    found = predict("execute { loads [5] from x }", "data x [250] in hbm", machine_text=TWO).diagnostics
    assert [item.message for item in found] == ["`x` of 250 B lies in `fast`, which holds 200 B: 50 B too much"]
    assert found[0].span is not None
    assert found[0].span.text() == "hbm"


def test_data_that_do_not_fit_together() -> None:
    declarations = "data x [150] in hbm data y [150] in hbm data z [1500]"
    found = predict("execute { loads [5] from x loads [5] from y }", declarations, machine_text=TWO).diagnostics
    message = "2 data structures of 300 B lie in `fast`, which holds 200 B: 100 B too much"
    assert [item.message for item in found] == [message]


def test_each_memory_holds_its_own() -> None:
    """1.9 kB fit where they lie, and leave the first memory to the rest."""
    body = "execute { loads [5] from x loads [5] from y }"
    declarations = "data x [1900] in slow data y [150]"
    assert predict(body, declarations, machine_text=TWO).diagnostics == ()
    found = Footprint(application(body, declarations), machine=machine(TWO))
    assert [(item.memory, item.data, item.held, item.size) for item in found.capacities] == [
        ("m/box/fast", ("y",), 150, 200),
        ("m/box/slow", ("x",), 1900, 2000),
    ]
    assert found.fits
    assert not Footprint(application(body, declarations.replace("1900", "2001")), machine=machine(TWO)).fits


def test_a_memory_that_the_machine_does_not_have() -> None:
    with pytest.raises(AspenError) as caught:
        seconds("execute { loads [5] from x }", "data x [8] in hmb")
    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("unknown-memory", "did you mean `hbm`?")
    assert found.span is not None
    assert found.span.text() == "hmb"


def test_a_memory_that_cannot_be_written() -> None:
    text = TWO.replace("resource stores(n) [20*n] conflict loads, stores", "")
    assert seconds("execute { loads [5] from x }", machine_text=text) == 50
    with pytest.raises(AspenError) as caught:
        seconds("execute { stores [5] to x }", machine_text=text)
    assert codes(caught.value) == ["no-such-resource"]
