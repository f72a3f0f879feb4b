"""What data sheets and user guides say of the library's processors, links and networks, typed in here."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

import aspenpy
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.models.machine.model import Component, Place
from aspenpy.models.machine.properties import WORDS

FOLDER = Path(__file__).parents[2] / "models" / "machines"


class Sheet(NamedTuple):
    """A processor: cores, base clock in GHz, watts, bandwidth of a socket's memory in GB/s, last-level cache in KiB
    (of one of several where they are several), links of a socket."""

    machine: str
    cores: int
    clock: float
    watts: float
    bandwidth: float
    cache: float
    links: int


SHEETS = (
    Sheet("pentium_m", 1, 1.4, 22, 3.2, 1024, 0),
    Sheet("xeon_x5670", 6, 2.93, 95, 32, 12 * 1024, 1),
    Sheet("xeon_e5_2620", 6, 2.0, 95, 42.6, 15 * 1024, 1),
    Sheet("xeon_e5_2637", 2, 3.0, 80, 51.2, 5 * 1024, 1),
    Sheet("xeon_e5_2637_v2", 4, 3.5, 130, 59.7, 15 * 1024, 1),
    Sheet("xeon_e5_2637_v3", 4, 3.5, 135, 68, 15 * 1024, 1),
    Sheet("xeon_e5_2623_v3", 4, 3.0, 105, 59, 10 * 1024, 1),
    Sheet("xeon_e5_2670", 8, 2.6, 115, 51.2, 20 * 1024, 1),
    Sheet("xeon_e5_2698_v3", 16, 2.3, 135, 68, 40 * 1024, 1),
    Sheet("xeon_gold_6148", 20, 2.4, 150, 128, 27.5 * 1024, 3),
    Sheet("xeon_platinum_8180", 28, 2.5, 205, 128, 38.5 * 1024, 3),
    Sheet("xeon_platinum_8280", 28, 2.7, 205, 140.8, 38.5 * 1024, 3),
    Sheet("xeon_platinum_8360y", 36, 2.4, 250, 204.8, 54 * 1024, 3),
    Sheet("xeon_platinum_8380", 40, 2.3, 270, 204.8, 60 * 1024, 3),
    Sheet("xeon_platinum_8470", 52, 2.0, 350, 307.2, 105 * 1024, 4),
    Sheet("xeon_platinum_8480plus", 56, 2.0, 350, 307.2, 105 * 1024, 4),
    Sheet("xeon_phi_7250", 68, 1.4, 215, 480, 1024, 1),
    Sheet("epyc_7742", 64, 2.25, 225, 204.8, 16 * 1024, 4),
    Sheet("epyc_7763", 64, 2.45, 280, 204.8, 32 * 1024, 4),
    Sheet("epyc_9654", 96, 2.4, 360, 460.8, 32 * 1024, 4),
    Sheet("power9", 22, 3.07, 250, 170.6, 10 * 1024, 1),
)
"""Product pages of Intel and AMD; IBM, Power Systems AC922, 2017. Of the two or four lanes of QuickPath and X-bus
between sockets the library has one link."""


class Measured(NamedTuple):
    """The numbers of a socket, as `Sheet` has them."""

    cores: float
    clock: float
    watts: float
    bandwidth: float
    cache: float
    links: float


def numbers(machine: aspenpy.Machine, component: Component) -> dict[str, float]:
    properties = (item for item in component.properties.values() if item.name not in WORDS)
    found = {item.name: item.value for item in properties if item.value is not None}
    return dict(zip(found, map(float, evaluate_many(list(found.values()), None, 0, machine.definitions)), strict=True))


def count(machine: aspenpy.Machine, places: list[Place], kind: str) -> float:
    return sum(
        float(evaluate_many([place.count], None, 0, machine.definitions)[0])
        for place in places
        if place.component.type == kind
    )


def modelled(name: str) -> Measured:
    machine = aspenpy.load_machine(name)
    (socket,) = machine.sockets
    places = list(machine.places(socket))
    first = {
        kind: next(place.component for place in places if place.component.type == kind) for kind in ("core", "memory")
    }
    caches = [numbers(machine, place.component)["capacity"] for place in places if place.component.type == "cache"]
    power = machine.components[socket].power
    watts = sum(map(float, evaluate_many(list(power.values()), None, 0, machine.definitions)))
    return Measured(
        count(machine, places, "core"),
        numbers(machine, first["core"])["clock"] / 1e9,
        watts,
        numbers(machine, first["memory"])["bandwidth"] / 1e9,
        max(caches) / 1024,
        count(machine, places, "link"),
    )


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.machine)
def test_a_processor_is_as_its_data_sheet_says(sheet: Sheet) -> None:
    """Published bandwidths are rounded to three digits."""
    found = modelled(sheet.machine)
    assert found._replace(bandwidth=0) == pytest.approx((*sheet[1:4], 0, *sheet[5:]), rel=1e-9)
    assert found.bandwidth == pytest.approx(sheet.bandwidth, rel=2e-3)


# -- caches of Westmere ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "gigahertz"), [("x5660", 2.8), ("x5670", 2.93)])
def test_caches_of_westmere(name: str, gigahertz: float) -> None:
    """A line of 64 B in 4 cycles from the second level and in 5.2 from the third: X5650, 7-cpu.com."""
    machine = aspenpy.load_machine(f"xeon_{name}")
    rates = [numbers(machine, machine.components[f"{name}_l{level}"])["bandwidth"] for level in (2, 3)]
    assert rates == pytest.approx([gigahertz * 1e9 * 64 / 4, 6 * gigahertz * 1e9 * 64 / 5.2], rel=1e-12)


# -- nodes and networks ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "accelerators", "gigabytes"), [("summit", 6, 2 * 25), ("sierra", 4, 3 * 25)])
def test_nvlink_to_the_host(name: str, accelerators: int, gigabytes: int) -> None:
    """Of the six links of 25 GB/s that a POWER9 has, each V100 of its socket has an equal part: three V100 two each,
    two V100 three each."""
    machine = aspenpy.load_machine(name)
    (link,) = (part for part in machine.components[f"{name}_node"].parts if "nvlink2_host" in part.component)
    assert float(evaluate_many([link.quantity], None, 0, machine.definitions)[0]) == accelerators
    assert numbers(machine, machine.components[link.component])["bandwidth"] == gigabytes * 1e9
    assert accelerators // 2 * gigabytes == 6 * 25


def of_network(name: str) -> dict[str, Number]:
    """What the topology of a machine's network is made from, where that is a number."""
    parameters = aspenpy.Network(aspenpy.load_machine(name)).topology.parameters
    return {key: value.payload for key, value in parameters}


ATTAINED = {
    "pcie3_x16": (11.881, 12.571, 12.0, 12.416, 13.183, 13.411),  # P100 and V100, CSCS
    "pcie4_x16": (25.5, 26.17),  # A100, CSCS
    "pcie5_x16": (51.0, 52.0),  # H100, Azure/AI-benchmarking-guide
}
"""GB/s from pinned memory to a device and back, of several nodes."""


@pytest.mark.parametrize("name", ATTAINED)
def test_links_to_accelerators_have_what_copies_attain(name: str) -> None:
    text = (FOLDER / "parts" / "links" / f"{name}.aspen").read_text(encoding="utf-8")
    found = re.search(r"property bandwidth \[(\S+) GB/s\]", text)
    assert found is not None
    assert min(ATTAINED[name]) <= float(found[1]) <= max(ATTAINED[name])


TAPERS = {"summit": Fraction(1), "sierra": Fraction(2), "abci": Fraction(3), "frontera": Fraction(22, 18)}
"""OLCF, Summit user guide; LLNL-PRES-738369; news.mynavi.jp/article/abci-2; TACC, Frontera user guide."""


@pytest.mark.parametrize("name", TAPERS)
def test_tapers(name: str) -> None:
    assert of_network(name)["taper"] == TAPERS[name]


def test_leaf_switches_of_frontera() -> None:
    """44 nodes share 18 links of 200 Gbit/s up, 36 times what a node has."""
    parameters = of_network("frontera")
    assert (parameters["arity"], parameters["arity"] * parameters["taper"]) == (2 * 18, 44)


@pytest.mark.parametrize(
    ("name", "groups", "nodes"), [("frontier", 74, 128), ("perlmutter_gpu", 14, 128), ("perlmutter_cpu", 12, 256)]
)
def test_groups_of_slingshot(name: str, groups: int, nodes: int) -> None:
    """Nodes of a group: 128 with four ports each (Atchley et al. 2023; NERSC), 256 with one (NERSC)."""
    parameters = of_network(name)
    assert parameters["groups"] == groups
    assert parameters["routers"] * parameters["nodes_per_router"] == nodes


def test_frontier_has_four_links_between_two_groups() -> None:
    """Links of 25 GB/s from 32 switches to 73 other groups; 74 x 73 / 2 pairs of four links carry 270 TB/s."""
    assert float(of_network("frontier")["global_links"]) * 32 / 73 == pytest.approx(4, rel=0.02)


def test_a_node_holds_one_processor_or_the_other() -> None:
    """Section 4.5 of the dissertation: two processors, a K20c and a K600."""
    for name, processor in (
        ("vt_e5_2637", "intel_xeon_e5_2637_v3"),
        ("vt_e5_2637_as_modelled", "intel_xeon_e5_2637_as_modelled"),
    ):
        assert set(aspenpy.load_machine(name).sockets) == {processor, "nvidia_k20c", "nvidia_k600"}


# -- sources ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.aspen")), ids=lambda path: path.stem)
def test_every_count_of_sockets_has_a_source(path: Path) -> None:
    """A number of sockets that stands for hardware, or the range of one, is followed by where it is from; what no
    number stands for is one. Sheets mark what they assume."""
    from_sheet = (FOLDER / "sheets" / f"{path.stem}.toml").is_file()
    counts = re.findall(r"^  socket \[\d+\].*$|^param \w+_sockets .*$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert [
        line
        for line in counts
        if line.partition("  //")[2].strip() in ("", "of the node") or ("assumed" in line and not from_sheet)
    ] == []
