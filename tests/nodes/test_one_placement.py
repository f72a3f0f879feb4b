"""Each command has the ranks of a run on the same nodes, sockets and memories: where ranks that are put on the machine
one after the other are (`tests.nodes.rank_by_rank`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest

from aspenpy import Application, Case, Machine, Prediction, load_application, load_machine, predict
from aspenpy.advice.advise import AS_IT_IS, on_one_node
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.footprint import Footprint
from aspenpy.answers.peaks import value_of
from aspenpy.answers.roofline import Roofline
from aspenpy.answers.run_placement import run_placement
from aspenpy.models.library import library_names
from aspenpy.models.machine.model import Place
from aspenpy.page.inputs import PageExpressions
from aspenpy.page.machine import roofs
from tests.nodes.rank_by_rank import Cluster, Request, Tally, count_places, place_ranks, tally
from tests.thorough import THOROUGH, some

APPLICATIONS = (
    "spmv", "hpl", "montecarlo", "lulesh", "allreduce_training",
    "cg", "coevp", "comd_scaling", "fft1d", "fft3d", "hpcg", "jacobi", "matmul", "md", "multigrid",
)  # fmt: skip
"""Those of the library whose number of ranks is free. The first few are tried always: messages and products; blocks of
fewer ranks; hardly any messages; many kernels that call each other; branches."""

MACHINES = (
    ("perlmutter_cpu", "amd_epyc_7763"),  # two sockets of one NUMA domain
    ("frontier", "amd_epyc_7a53"),  # a socket of four
    ("summit", "nvidia_v100"),  # a rank for each of six devices
    ("frontier", "amd_mi250x"),  # a rank for each die
    ("cori_knl", "intel_xeon_phi_7250"),  # two kinds of memory
    ("keeneland_kids", "intel_xeon_x5670"),  # few nodes
    ("fugaku", "fujitsu_a64fx"),
    ("summit", "ibm_power9"),
    ("perlmutter_gpu", "nvidia_a100_40gb"),
    ("gordon", "gordon_xeon_e5_2670"),
    ("epyc_7a53", "amd_epyc_7a53"),
    ("vt_e5_2637", "intel_xeon_e5_2637_v3"),
)

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"distribution": "scatter"},
    {"distribution": "cyclic"},
    {"distribution": "block"},
    {"distribution": "plane=3"},
    {"distribution": "compact:cyclic"},
    {"distribution": "block:block"},
    {"distribution": "cyclic:block:cyclic"},
    {"ranks_per_node": 2},
    {"ranks_per_node": 2, "distribution": "block"},
    {"ranks_per_node": 4, "distribution": "scatter"},
    {"nodes": 64},
    {"nodes": 64, "distribution": "compact"},
)

RANKS = (1, 2, 3, 8, 64, 100, 128, 129, 1024, 4096) if THOROUGH else (2, 100, 129, 4096)


def cases() -> list[Any]:
    """All of them; else each option with two applications on two machines."""
    every = list(product(APPLICATIONS, MACHINES, OPTIONS))
    few = [
        (APPLICATIONS[(turn + 2 * step) % 5], MACHINES[(turn + 3 * step) % 6], options)
        for turn, options in enumerate(OPTIONS)
        for step in range(2)
    ]
    return [
        pytest.param(app, machine, socket, options, id=f"{app}-{machine}-{socket}-{tell(options)}")
        for app, (machine, socket), options in (every if THOROUGH else few)
    ]


def tell(options: dict[str, Any]) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items()) or "compact"


@cache
def machine_of(name: str) -> Machine:
    return load_machine(name)


@cache
def application_of(name: str) -> Application:
    return load_application(name)


def places_of(machine: Machine, socket: str) -> dict[str, Place]:
    """The node, the socket, the memory that data lie in, the core, and `rank`: what a rank occupies."""
    found: dict[str, Place] = {}
    for place in machine.first_places(socket):
        found.setdefault(place.component.type, place)
        flag = place.component.properties.get("rank")
        if flag is not None and flag.value is None:
            found["rank"] = place
    return found


def number_of(machine: Machine, place: Place) -> int:
    return int(value_of(place.count, machine.definitions))


@cache
def cluster_of(name: str, socket: str) -> Cluster:
    """What ranks are put on: cores in NUMA domains in sockets, or dies, or whole devices."""
    machine = machine_of(name)
    places = places_of(machine, socket)
    nodes, sockets, units = (number_of(machine, places[kind]) for kind in ("node", "socket", "rank"))
    inside = places["memory"].path[: len(places["socket"].path)] == places["socket"].path
    domains = number_of(machine, places["memory"]) // sockets if inside else 1
    return Cluster(nodes, sockets // nodes, domains, units // sockets // domains)


@cache
def expect(cluster: Cluster, request: Request, ranks: int) -> Tally | None:
    """Where the ranks are; None where the machine has no such places."""
    most = count_places(cluster, request._replace(ranks_per_node=None))
    on_a_node, nodes = request.ranks_per_node or most, request.nodes or cluster.nodes
    if on_a_node > most or nodes > cluster.nodes or ranks > on_a_node * nodes:
        return None
    return tally(place_ranks(cluster, request, ranks))


def runs(name: str, computer: str, socket: str, options: dict[str, Any]) -> Iterator[tuple[int, Case, Tally]]:
    """Runs that the machine has places for."""
    for ranks in RANKS:
        expected = expect(cluster_of(computer, socket), Request(**options), ranks)
        if expected is not None:
            app, machine = application_of(name), machine_of(computer)
            yield ranks, Case(app, machine, socket=socket, set={"ranks": ranks}, **options), expected


def counts_of_blocks(prediction: Prediction, place: Place) -> set[tuple[float, float]]:
    """The components of a place that have work in the cost tree, and the ranks on the fullest of them, by block; blocks
    of fewer instances than there are ranks left out."""
    found = set()
    for cost in prediction.tree.blocks.values():
        each = cost.instances
        exprs = [each.count, each.count_used(place), each.instances_at(place)]
        values = prediction.scope.values_if_known(exprs, prediction.seed)
        if values is not None and values[0] == prediction.case.set["ranks"]:
            found.add((float(values[1]), float(values[2])))
    return found


def energy_of(prediction: Prediction, charged: Any) -> Energy:
    return Energy(prediction, EnergyOptions(law="responding", charged=charged))


def charged_components(energy: Energy, component: str) -> float:
    """How many of a component consume idle power, all the time."""
    amounts = [use.amount for use in energy.terms if (use.key.cause, use.key.component) == ("idle", component)]
    assert amounts[0] is not None
    return amounts[0] / energy.capped_runtime


@pytest.mark.parametrize(("name", "computer", "socket", "options"), cases())
def test_runtime_and_energy_have_ranks_where_they_are(
    name: str, computer: str, socket: str, options: dict[str, Any]
) -> None:
    places = places_of(machine_of(computer), socket)
    for ranks, case, expected in runs(name, computer, socket, options):
        prediction = predict(case)
        numbers = {
            "node": (expected.nodes, expected.on_a_node),
            "socket": (expected.sockets, expected.on_a_socket),
            "memory": (expected.domains, expected.on_a_domain),
        }
        for kind, pair in numbers.items():
            assert counts_of_blocks(prediction, places[kind]) == {pair}, (ranks, kind)
        told = run_placement(prediction)
        assert told is not None
        assert (told.ranks, told.nodes, told.of_node) == (ranks, *numbers["node"])
        assert (told.sockets, told.of_socket) == numbers["socket"], ranks
        if "idle_power" in places["socket"].component.properties:
            energy = energy_of(prediction, "cores_used")
            assert charged_components(energy, socket) == pytest.approx(expected.sockets, rel=1e-9), ranks


@pytest.mark.parametrize("computer", library_names("machines"))
def test_every_machine_of_the_library_has_ranks_where_they_are(computer: str) -> None:
    turn = library_names("machines").index(computer)
    for socket in machine_of(computer).sockets:
        if not {"rank", "memory"} <= places_of(machine_of(computer), socket).keys():
            continue
        for options in OPTIONS if THOROUGH else (OPTIONS[turn % len(OPTIONS)],):
            for ranks, case, expected in runs("spmv", computer, socket, options):
                told = run_placement(predict(case))
                assert told is not None
                assert (told.ranks, told.nodes, told.of_node) == (ranks, expected.nodes, expected.on_a_node)
                assert (told.sockets, told.of_socket) == (expected.sockets, expected.on_a_socket), (ranks, options)


@pytest.mark.parametrize(("name", "computer", "socket", "options"), cases())
def test_memories_hold_the_data_of_the_ranks_on_them(
    name: str, computer: str, socket: str, options: dict[str, Any]
) -> None:
    memory = "/".join(places_of(machine_of(computer), socket)["memory"].path)
    for ranks, case, expected in runs(name, computer, socket, options):
        for capacity in Footprint(case).capacities:
            if capacity.memory == memory and capacity.fullest is not None and capacity.held:
                part = float(capacity.fullest / capacity.held) * ranks
                assert part == pytest.approx(expected.on_a_domain, rel=1e-9), ranks


@pytest.mark.parametrize(("name", "computer", "socket", "options"), cases())
def test_roofs_are_those_of_the_components_with_ranks(
    name: str, computer: str, socket: str, options: dict[str, Any]
) -> None:
    """Of the roofline; and the page draws the same ones."""
    machine = machine_of(computer)
    memory = places_of(machine, socket)["memory"]
    for ranks, case, expected in runs(name, computer, socket, options):
        roofline = Roofline(machine, [case], socket=socket)
        found = [roofline.at_work(ceiling) for ceiling in roofline.memory if ceiling.path == memory.path]
        assert {each.count for each in found} == {expected.domains}, ranks
        numbers = PageExpressions(predict(case), [])
        drawn = [roof for roof in roofs(numbers) if roof["component"] == memory.component.name]
        values = numbers.prediction.scope.values(numbers.exprs)
        for roof, each in zip(drawn, found, strict=True):
            assert float(values[roof["used"]]) == pytest.approx(each.rate, rel=1e-6), ranks


@pytest.mark.parametrize(("name", "computer", "socket", "options"), cases())
def test_advice_takes_the_nodes_of_the_run(name: str, computer: str, socket: str, options: dict[str, Any]) -> None:
    """A machine of no more nodes than the run has, where its network may have so many."""
    for ranks, case, expected in runs(name, computer, socket, options):
        chosen = {key: value for key, value in on_one_node(case, AS_IT_IS).set.items() if key not in case.set}
        if chosen and not str(options.get("distribution")).startswith(
            "scatter"
        ):  # over all nodes, of a smaller machine
            assert set(chosen.values()) == {options.get("nodes", expected.nodes)}, ranks


POWERED = [
    pytest.param(machine, socket, id=f"{machine}-{socket}")
    for machine, socket in MACHINES[: some(len(MACHINES), 6)]
    if "idle_power" in load_machine(machine).components[socket].properties and cluster_of(machine, socket).nodes > 1
]
WEAK = [("allreduce_training", "adam"), ("hpcg", "add_vectors"), ("lulesh", "CalcPositionForNodes")]
"""Kernels without messages, with as much work for each rank however many there are."""
STRONG = [("jacobi", "sweep"), ("fft3d", "shuffle"), ("comd_scaling", "integrate")]
"""Those that share the same work out."""
PROCESSORS = [
    case for case in POWERED if places_of(machine_of(case.values[0]), case.values[1])["rank"].component.type == "core"
]
"""Where ranks are cores: to start a kernel on a device takes as long however little there is to do."""


def run_ranks(name: str, kernel: str, computer: str, socket: str, ranks: int, **options: Any) -> Energy:
    """Energy of a run, with that of all that is on its nodes."""
    set_ = {"ranks": ranks}
    app, machine = application_of(name), machine_of(computer)
    return energy_of(predict(app, machine, socket=socket, kernel=kernel, set=set_, **options), "nodes_used")


@pytest.mark.parametrize(("name", "kernel"), WEAK)
@pytest.mark.parametrize(("computer", "socket"), POWERED)
def test_twice_the_nodes_and_ranks_take_as_long_and_twice_the_energy(
    name: str, kernel: str, computer: str, socket: str
) -> None:
    full = count_places(cluster_of(computer, socket), Request())
    one = run_ranks(name, kernel, computer, socket, full)
    for nodes in (2, 3, 64):
        more = run_ranks(name, kernel, computer, socket, nodes * full)
        assert more.runtime == pytest.approx(one.runtime, rel=1e-12)
        assert more.value == pytest.approx(nodes * one.value, rel=1e-9)


@pytest.mark.parametrize(("name", "kernel"), STRONG)
@pytest.mark.parametrize(("computer", "socket"), PROCESSORS)
def test_the_same_work_on_twice_the_nodes_takes_half_as_long_and_the_same_energy(
    name: str, kernel: str, computer: str, socket: str
) -> None:
    full = count_places(cluster_of(computer, socket), Request())
    one, two = (run_ranks(name, kernel, computer, socket, nodes * full) for nodes in (1, 2))
    assert two.runtime == pytest.approx(one.runtime / 2, rel=1e-3)
    assert two.value == pytest.approx(one.value, rel=1e-3)


@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize("word", ["block", "cyclic", "plane=2", "compact:cyclic", "block:block", "scatter"])
@pytest.mark.parametrize(("computer", "socket"), POWERED)
def test_k_nodes_alike_consume_k_times_what_one_does(computer: str, socket: str, word: str, part: int) -> None:
    """Whatever the order in which ranks are dealt out, as many on each node as on the other."""
    on_a_node = max(count_places(cluster_of(computer, socket), Request()) // part, 1)
    name, kernel = WEAK[1]
    for nodes in (2, 5):
        options = {"ranks_per_node": on_a_node, "distribution": word}
        one, more = (run_ranks(name, kernel, computer, socket, k * on_a_node, nodes=k, **options) for k in (1, nodes))
        assert more.runtime == pytest.approx(one.runtime, rel=1e-12)
        assert more.value == pytest.approx(nodes * one.value, rel=1e-9)
