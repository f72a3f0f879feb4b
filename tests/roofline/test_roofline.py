"""The roofline, worked out by hand.

`MACHINE` has 2 nodes of 4 cores at 1 GHz, which fuse 2 and have 4 lanes, and 2 memories of 10 GB/s each: 8 Gflop/s in
single precision without more, 64 with everything, half of each in double; 20 GB/s.
"""

import pytest

import aspenpy
from aspenpy import AspenError, roofline
from aspenpy.answers.case import Case
from aspenpy.answers.ceilings import Ceiling
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import RooflinePoint
from aspenpy.models.library import library_names
from tests.tiny import application, codes, machine

MACHINE = """
param clock = 1 GHz
machine M { node [2] N  interconnect [2] I }
node N { socket A }
socket A { core [4] C  memory D }
core C { resource flops(x) [1*micro + x/(clock*1 flop)] with sp [base], dp [base*2], simd [base/4], fmad [base/2] }
memory D {
  resource loads(x) [100*nano + x/(10*giga)]
  resource stores(x) [ceil(x/64)*64/(10*giga)]
  conflict loads, stores
}
interconnect I { resource messages(x) [micro + x/giga] }
"""


def rates(ceilings: tuple[Ceiling, ...]) -> dict[tuple[str, ...], float]:
    return {ceiling.traits: ceiling.rate for ceiling in ceilings}


def only(found: Roofline, kernel: str | None = None) -> RooflinePoint:
    (point,) = (point for point in found.points if point.kernel == kernel)
    return point


def test_ceilings_are_those_of_large_amounts_on_all_cores() -> None:
    found = roofline(machine(MACHINE))
    assert rates(found.compute) == pytest.approx(
        {
            ("sp",): 8e9, ("sp", "simd"): 32e9, ("sp", "fmad"): 16e9, ("sp", "simd", "fmad"): 64e9,
            ("dp",): 4e9, ("dp", "simd"): 16e9, ("dp", "fmad"): 8e9, ("dp", "simd", "fmad"): 32e9,
        }
    )  # fmt: skip


def test_latencies_and_lines_drop_out_of_the_bandwidth() -> None:
    (memory,) = roofline(machine(MACHINE)).memory
    assert (memory.resources, memory.count, memory.one, memory.rate) == (("loads", "stores"), 2, 1e10, 2e10)


def test_ridge_points() -> None:
    found = roofline(machine(MACHINE))
    ridges = {ceiling.traits: found.ridge(ceiling, found.memory[0]) for ceiling in found.compute}
    assert ridges["sp", "simd", "fmad"] == pytest.approx(64 / 20)
    assert ridges["dp",] == pytest.approx(4 / 20)


def test_settings_move_the_ceilings() -> None:
    found = roofline(machine(MACHINE), set={"clock": "3 GHz"})
    assert rates(found.compute)["sp",] == pytest.approx(24e9)


def test_a_memory_that_others_come_before_has_its_ceiling_too() -> None:
    text = MACHINE.replace("memory D }", "memory D  memory E }") + (
        "memory E { resource loads(x) [x/giga] resource stores(x) [x/(2*giga)] }"
    )
    found = roofline(machine(text)).memory
    assert {(item.component, item.resources): item.rate for item in found} == {
        ("D", ("loads", "stores")): 20e9,
        ("E", ("loads",)): 2e9,
        ("E", ("stores",)): 4e9,
    }


# -- below the roof --------------------------------------------------------------------------------

BOUND_BY_MEMORY = "execute [8e6] { flops [1000] as dp, simd  loads [4000]  stores [4000] }"
"""1 flop for 8 bytes. 8e9 flop, 64e9 B: 0.5 s at 16 Gflop/s, 3.2 s at 20 GB/s, so 2.5 Gflop/s."""

BOUND_BY_FLOPS = "execute [8e6] { flops [1000] as dp  loads [100] }"
"""10 flops for each byte. 8e9 flop at 4 Gflop/s, and 0.8e9 B at 20 GB/s."""


@pytest.mark.parametrize(
    ("body", "intensity", "attainable", "bound_by"),
    [
        (BOUND_BY_MEMORY, 1 / 8, 2.5e9, ("loads", "stores")),
        (BOUND_BY_FLOPS, 10, 4e9, ("flops",)),
        ("iterate [3] { " + BOUND_BY_FLOPS + " }", 10, 4e9, ("flops",)),
        # 1 Gflop at 8 Gflop/s and 1 Gflop at 4 Gflop/s take 3/8 s together.
        ("execute [8] { flops [125e6] as sp  flops [125e6] as dp  loads [1000] }", 2e9 / 8e3, 2e9 / 0.375, ("flops",)),
    ],
)
def test_attainable(body: str, intensity: float, attainable: float, bound_by: tuple[str, ...]) -> None:
    point = only(roofline(machine(MACHINE), [application(body)]))
    assert point.intensity == pytest.approx(intensity)
    assert point.attainable == pytest.approx(attainable)
    assert point.bound_by == bound_by


def test_predicted_pays_what_the_roof_leaves_out() -> None:
    """One instance on one of the 8 cores: 1e6 flop take 1 us + 1 ms there, a little more than at its roof."""
    point = only(roofline(machine(MACHINE), [application("execute [1] { flops [1e6] as sp }")]))
    assert point.intensity is None
    assert point.attainable == pytest.approx(1e9)
    assert point.predicted == pytest.approx(1e6 / 1.001e-3)
    assert point.time == pytest.approx(1.001e-3)
    assert point.bottleneck == "flops"


def test_kernels_stand_behind_their_application() -> None:
    bodies = {"near": BOUND_BY_MEMORY, "far": BOUND_BY_FLOPS, "copy": "execute { loads [8] }"}
    kernels = " ".join(f"kernel {name} {{ {body} }}" for name, body in bodies.items())
    found = roofline(machine(MACHINE), [application("call near call far call copy", kernels=kernels)])
    assert [point.kernel for point in found.points] == [None, "far", "near"]
    assert only(found).flops == only(found, "near").flops + only(found, "far").flops == 16e9
    # 0.5 s + 2 s of flops, 3.2 s + 0.04 s of memory, which overlap as a whole; the 8 bytes do not count.
    assert only(found).attainable == pytest.approx(16e9 / 3.24)


@pytest.mark.parametrize(
    "name", sorted({"comd", "lulesh", "matmul", "spmv", "stream", "cg"} & {*library_names("apps")})
)
def test_nothing_is_above_its_roof(name: str) -> None:
    """Rounds of P over Q, latencies and messages only add time to that of large amounts."""
    found = roofline(aspenpy.load_machine("haswell"), [aspenpy.load_application(name)])
    assert found.points
    peak = max(ceiling.rate for ceiling in found.compute)
    for point in found.points:
        assert 0 < point.predicted <= point.attainable * (1 + 1e-9)
        roof = peak if point.intensity is None else min(peak, point.intensity * found.memory[0].rate)
        assert point.attainable <= roof * (1 + 1e-9)


ABOVE_EVERY_LANE = """
machine M { node [2] N  interconnect [2] I }
node N { socket [2] A }
socket A { core [4] C  memory D  property rank }
core C {
  property simt
  resource flops(x) [x/giga] with dp [base*2], simd [base/4]
}
memory D { resource loads(x) [x/(10*giga)] resource stores(x) [x/(10*giga)] }
interconnect I { resource messages(x) [x/giga] }
"""


@pytest.mark.parametrize(("ranks", "rate"), [(1, 8e9), (3, 24e9), (4, 32e9)])
def test_ranks_stand_below_the_roof_of_their_devices(ranks: int, rate: float) -> None:
    """A rank has a device of four cores with four lanes each, 8 Gflop/s in double precision, whether the other devices
    have ranks or not."""
    body = f"execute [{ranks}] of [4000] {{ flops [8e9] as dp }}"
    found = roofline(machine(ABOVE_EVERY_LANE), [application(body)])
    assert only(found).attainable == pytest.approx(rate) == pytest.approx(only(found).predicted)
    ceiling = next(ceiling for ceiling in found.compute if ceiling.traits == ("dp", "simd"))
    assert (ceiling.rate, found.at_work(ceiling).rate) == (pytest.approx(32e9), pytest.approx(rate))


SHARED = """
machine M { node N }
node N { socket A }
socket A { core [8] C  cache L  memory D }
core C { resource flops(x) [x/giga] }
cache L { property capacity [1 MB]  property cacheline [64]  property associativity [16]
          property bandwidth [160 GB/s]  property core_bandwidth [40 GB/s] }
memory D { property attained_bandwidth [80 GB/s]  property core_bandwidth [20 GB/s]
           resource loads(x) [x/(80*giga)] resource stores(x) [x/(80*giga)] }
"""


def test_one_core_draws_what_it_can_of_a_shared_cache_and_memory() -> None:
    found = roofline(machine(SHARED), [application("execute [1] { flops [1e6]  loads [1e9] }")])
    assert [found.at_work(ceiling).rate for ceiling in found.bandwidths] == pytest.approx([40e9, 20e9, 20e9])
    assert only(found).attainable == pytest.approx(1e6 / (1e9 / 20e9)) == pytest.approx(only(found).predicted)


def test_a_cache_sends_no_more_than_those_before_it_pass_on() -> None:
    """One Haswell core: 64 bytes a cycle at 3.5 GHz from the first cache, which nothing behind it exceeds."""
    found = roofline(aspenpy.load_machine("haswell"), [aspenpy.load_application("hpcg")], set={"ranks": 1})
    assert [found.at_work(cache).rate for cache in found.caches] == pytest.approx([224e9] * 3)
    rates = [cache.rate for cache in found.caches]
    assert rates == pytest.approx([128 * 224e9, 128 * 224e9, 16 * 896e9])  # of the whole machine


@pytest.mark.parametrize("cores", [2, 5, 8])
def test_cores_that_share_a_memory_stand_at_its_roof(cores: int) -> None:
    """T(n)^2 = T(1)^2 + (T(c)^2 - T(1)^2) (n^2 - 1)/(c^2 - 1), with 50 ms for one core and 100 ms for all eight."""
    found = roofline(machine(SHARED), [application(f"execute [{cores}] {{ flops [1e6]  loads [1e9] }}")])
    seconds = (0.05**2 + (0.1**2 - 0.05**2) * (cores**2 - 1) / 63) ** 0.5
    assert only(found).attainable == pytest.approx(cores * 1e6 / seconds) == pytest.approx(only(found).predicted)
    assert found.at_work(found.memory[0]).rate == pytest.approx(cores * 1e9 / seconds)


# -- against published numbers (Umar, dissertation 2018, table 3.4) --------------------------------


@pytest.mark.parametrize(
    ("name", "socket", "single", "gigabytes"),
    [("keeneland", "nvidia_m2090", 1331.2, 177), ("keeneland", "intel_xeon_x5660", 134.4, 25.5),
     ("vt_e5_2620", "intel_xeon_e5_2620_as_modelled", 96, 25.5),
     ("vt_e5_2620", "nvidia_k20c_as_modelled", 3524.352, 208)],
)  # fmt: skip
def test_peaks_of_one_device_as_published(name: str, socket: str, single: float, gigabytes: float) -> None:
    model = aspenpy.load_machine(name)
    found = roofline(model, socket=socket)
    best = max(found.compute, key=lambda ceiling: ceiling.rate)
    (memory,) = found.memory
    per_socket = best.count / memory.count  # one memory a socket
    assert best.one * per_socket / 1e9 == pytest.approx(single, rel=1e-3)
    assert memory.one / 1e9 == pytest.approx(gigabytes, rel=6e-3)


# -- what is refused -------------------------------------------------------------------------------


def test_a_socket_has_to_be_chosen() -> None:
    with pytest.raises(AspenError) as caught:
        roofline(aspenpy.load_machine("keeneland"))
    assert codes(caught.value) == ["which-socket"]


def test_without_flops_there_is_no_roof() -> None:
    with pytest.raises(AspenError) as caught:
        roofline(machine("machine M { memory D } memory D { resource loads(x) [x/giga] }"))
    assert codes(caught.value) == ["no-ceiling"]
    assert caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize("apps", [[], [application(BOUND_BY_FLOPS)]])
def test_a_name_that_no_model_has(apps: list[aspenpy.Application]) -> None:
    with pytest.raises(AspenError) as caught:
        roofline(machine(MACHINE), apps, set={"clocks": 1e9})
    assert codes(caught.value) == ["unknown-parameter"]
    assert caught.value.diagnostics[0].hint == "did you mean `clock`?"


def test_a_setting_that_needs_itself() -> None:
    with pytest.raises(AspenError) as caught:
        roofline(machine(MACHINE), set={"clock": "clock*2"})
    assert codes(caught.value) == ["circular-definition"]


def test_a_setting_is_for_every_model_that_has_the_name() -> None:
    body = "execute [n] { flops [1e6] as sp  loads [1] }"
    apps = [application(body, "param n = 8"), application(BOUND_BY_FLOPS)]
    points = roofline(machine(MACHINE), apps, set={"n": 16}).points
    assert [point.flops for point in points if point.kernel is None] == [16e6, 8e9]


def test_a_product_of_matrices_below_a_memory_roof_is_not_above_it() -> None:
    """What memory costs an attained product is in its rate: its flops are in no contention with loads and stores."""
    machine = aspenpy.load_machine("a100_64gb")
    found = aspenpy.roofline(machine, [Case(aspenpy.load_application("graph_network"), machine)])
    (point,) = [item for item in found.points if item.kernel == "multiply"]
    assert point.predicted == pytest.approx(point.attainable, rel=0.003)
    assert point.bound_by == ("loads", "stores")
