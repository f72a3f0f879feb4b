"""`aspenpy network`, and the network in `aspenpy show`."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import aspenpy
from aspenpy import AspenError
from tests.cli.conftest import Runner, models, run
from tests.tiny import application

__all__ = ["models", "run"]

RING = """
param hop = 0.5 us
machine ring { node [8] box  interconnect [8] cable }
node box { socket cpu }
socket cpu { core [2] lane }
core lane { resource flops(n) [n/giga] }
interconnect cable {
  property topology [torus]
  property dimensions [8]
  property latency [1 us]
  property hop_latency [hop]
  property bandwidth [1 GB/s]
  property link_bandwidth [0.5 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
"""


@pytest.fixture
def ring(models: Path) -> str:
    (models / "ring.aspen").write_text(RING, encoding="utf-8")
    return "ring.aspen"


def test_figures_of_a_ring(run: Runner, ring: str) -> None:
    """8 nodes: to the others 1, 1, 2, 2, 3, 3, 4 hops; two links part it in halves, of 0.5 GB/s each."""
    found = json.loads(run("network", "--machine", ring, "--format", "json").out)
    figures = found["figures"]
    assert (found["topology"], found["parameters"], found["machine_nodes"]) == ("torus", {"dimensions": [8]}, 8)
    assert (figures["diameter"], figures["bisection"], figures["links"]) == (4, 2, 8)
    assert figures["average_distance"] == pytest.approx(16 / 7)
    assert (found["links_per_node"], found["bisection_bandwidth"]) == (1, 1e9)


def test_messages_by_their_size(run: Runner, ring: str) -> None:
    """1 us, half a microsecond a hop, and the slower of port and link."""
    found = json.loads(run("network", "--machine", ring, "--format", "json").out)
    for message in found["messages"]:
        size = message["size"]
        assert message["time"] == pytest.approx(1e-6 + 16 / 7 * 0.5e-6 + size / 0.5e9, rel=1e-12)
        assert message["farthest"] == pytest.approx(1e-6 + 4 * 0.5e-6 + size / 0.5e9, rel=1e-12)
        assert message["rate"] == pytest.approx(size / message["time"], rel=1e-12)


def test_collectives(run: Runner, ring: str) -> None:
    found = json.loads(run("network", "--machine", ring, "--ranks", "8", "--format", "json", "--set", "hop=0").out)
    small = next(item for item in found["collectives"] if (item["name"], item["size"]) == ("allreduce", 8))
    assert small["algorithm"] == "recursive_doubling"
    assert small["time"] == pytest.approx(3 * (1e-6 + 8 / 0.5e9), rel=1e-12)
    large = next(item for item in found["collectives"] if (item["name"], item["size"]) == ("allreduce", 10**6))
    assert large["algorithm"] == "rabenseifner"
    assert large["time"] == pytest.approx(6e-6 + 1.75 * 1e6 / 0.5e9, rel=1e-12)


def test_ranks_are_placed_as_asked(run: Runner, ring: str) -> None:
    """Four nodes of the ring are a line: 1, 1, 1, 2, 2 and 3 hops, 5/3 on average."""
    placed = ("--ranks", "4", "--bind", "core", "--nodes", "4", "--format", "json")
    found = json.loads(run("network", "--machine", ring, *placed).out)
    assert found["placement"] == {
        "nodes": 4,
        "of_node": 1,
        "sockets": 4,
        "of_socket": 1,
        "each": "a core, `lane`",
        "distribution": "block",
    }
    for message in found["messages"]:
        assert message["time"] == pytest.approx(1e-6 + 5 / 3 * 0.5e-6 + message["size"] / 0.5e9, rel=1e-12)
        assert message["farthest"] == pytest.approx(1e-6 + 3 * 0.5e-6 + message["size"] / 0.5e9, rel=1e-12)
    barrier = next(item for item in found["collectives"] if item["name"] == "barrier")
    assert barrier["time"] == pytest.approx(2 * (1e-6 + 5 / 3 * 0.5e-6), rel=1e-12)
    out = run("network", "--machine", ring, *placed[:-2]).out
    assert "ranks  4 on 4 nodes, 1 a node: a core, `lane` each; block" in out
    assert "one message, from a node to an average one of 4 nodes" in out


def test_ranks_of_one_node_send_nothing_over_the_network(run: Runner) -> None:
    """Collectives among the eight dies of a node cross its own links, and no message is priced between nodes."""
    placed = ("--machine", "frontier", "--socket", "amd_mi250x", "--ranks")
    found = json.loads(run("network", *placed, "8", "--format", "json").out)
    assert found["placement"]["nodes"] == 1
    assert found["messages"] == []
    assert len(found["collectives"]) > 8
    assert "one message" not in run("network", *placed, "8").out
    two = json.loads(run("network", *placed, "9", "--format", "json").out)
    assert two["placement"]["nodes"] == 2
    assert len(two["messages"]) > 3


def test_nodes_alone_say_how_far_messages_go(run: Runner, ring: str) -> None:
    found = json.loads(run("network", "--machine", ring, "--bind", "core", "--nodes", "2", "--format", "json").out)
    assert found["messages"][0]["time"] == pytest.approx(1.5e-6 + 1 / 0.5e9, rel=1e-12)


def test_page(run: Runner, ring: str) -> None:
    out = run("network", "--machine", ring, "--ranks", "8").out
    assert "topology           torus (dimensions 8)" in out
    assert "latency            1 us, and 500 ns a hop" in out
    assert "collectives among 8 ranks" in out


def test_places_without_a_node_are_told(run: Runner, ring: str) -> None:
    """Frontier's 74 groups of 32 routers have places for 4*9,216 ports and more: 74*32*4 = 9,472 nodes."""
    out = run("show", "frontier").out
    assert re.search(r"nodes +9,216 of 9,472\n", out)
    assert re.search(r"bisection +at most .*, of all 9,472 places\n", out)
    assert "of all" not in run("network", "--machine", ring).out


def test_show_lists_the_figures(run: Runner, ring: str) -> None:
    out = run("show", ring).out
    for line in ("diameter           4 hops", "average distance   2.286 hops", "bisection          2 links, 1 GB/s"):
        assert line in out
    assert "links a node       1\n" in out
    assert json.loads(run("show", ring, "--format", "json").out)["network"]["figures"]["diameter"] == 4
    assert json.loads(run("show", "xeon_e5_2670", "--format", "json").out)["network"] is None


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_picture(run: Runner, ring: str, models: Path, suffix: str) -> None:
    assert run("network", "--machine", ring, "--picture", f"latency.{suffix}").status == 0
    drawn = (models / f"latency.{suffix}").read_bytes()
    assert drawn.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    if suffix == "svg":
        assert b"to the farthest" in drawn
        assert b"one message on ring" in drawn


def test_mistakes(run: Runner, ring: str) -> None:
    found = run("network", "--machine", "cachegrind")
    assert found.status == 2
    assert "error: machine `cachegrind` declares no network topology" in found.err
    found = run("network", "--machine", ring, "--ranks", "0")
    assert (found.status, found.err[:51]) == (2, "aspenpy: --ranks: expected whole numbers from 1 on,")
    found = run("network", "--machine", ring, "--ranks", "2,4")
    assert found.err == "aspenpy: --ranks: `network` takes one number of ranks; `scale` takes several\n"
    found = run("network", "--machine", ring, "--ranks", "17")
    assert found.status == 2
    assert "than machine `ring` has cores" in found.err
    found = run("network", "--machine", ring, "--set", "cable.dimensions=9")
    assert found.status == 2
    assert "torus (dimensions 9) has 9 nodes, and the machine has 8" in found.err

    found = run("network", "--machine", ring, "--nodes", "2")
    assert found.err.startswith("error: machine `ring` does not say what a rank occupies")
    found = run("network", "--machine", ring, "--ranks-per-node", "2")
    assert found.err == (
        "aspenpy: without --ranks there are no ranks to place; --nodes alone says how far messages go\n"
    )
    found = run("network", "--machine", ring, "--ranks", "4", "--nodes", "2", "--ranks-per-node", "1", "--bind", "core")
    assert found.status == 2
    assert "4 ranks, and `ring` has places for 2: `--nodes` sets the number of nodes" in found.err


def test_from_python() -> None:
    machine = aspenpy.parse(RING)
    assert isinstance(machine, aspenpy.Machine)
    network = aspenpy.Network(machine)
    assert network.topology.figures()["average_distance"] == Fraction(16, 7)
    assert network.collective("barrier", 8, 0).algorithm == "dissemination"
    placed = aspenpy.network(machine, bind="core", ranks_per_node=1)
    assert placed.messages([0], ranks=4)[0].time == pytest.approx(1e-6 + 5 / 3 * 0.5e-6, rel=1e-12)
    with pytest.raises(aspenpy.AspenError, match="unknown collective"):
        network.collective("gather", 8, 0)


@pytest.mark.parametrize(
    "name", ["fugaku", "sequoia", "a64fx_prototype", "frontier", "cori_knl", "trinity", "frontera"]
)
def test_networks_of_the_library_have_places_for_all_nodes(name: str) -> None:
    network = aspenpy.Network(aspenpy.load_machine(name))
    places = network.topology.figures()["nodes"]
    assert places == network.nodes if network.topology.kind == "torus" else places >= network.nodes


def test_ranks_inside_a_node_use_its_links() -> None:
    """Among the eight dies of a node of Frontier, as `eval` prices an allreduce of one megabyte."""
    frontier = aspenpy.load_machine("frontier")
    app = application("execute [8] of [8] { messages [1e6] as allreduce }")
    wanted = aspenpy.predict(app, frontier, socket="amd_mi250x").runtime
    found = aspenpy.network(frontier, socket="amd_mi250x").collective("allreduce", 8, 1e6)
    assert found.time == pytest.approx(wanted, rel=1e-12)


def test_several_kinds_of_sockets_leave_open_which_links_join_ranks() -> None:
    with pytest.raises(AspenError) as caught:
        aspenpy.network(aspenpy.load_machine("frontier")).collective("allreduce", 8, 1e6)
    assert caught.value.diagnostics[0].code == "which-socket"


def test_messages_are_copied_or_ask_before_as_those_of_models_do() -> None:
    """Over EDR 1 KiB is copied at 1.25 GB/s, as on Lassen (1.96 us), and 8 KiB ask for 3 us before they are sent."""
    found = aspenpy.network(aspenpy.load_machine("sierra"), socket="ibm_power9").messages([1024, 8192])
    expected = [1.15e-6 + 1024 / 1.25e9, 1.15e-6 + 8192 / 12.5e9 + 3e-6]
    assert [message.time for message in found] == pytest.approx(expected, rel=1e-12)
    assert expected[0] == pytest.approx(1.96e-6, rel=0.01)
    model = application("execute [2] { messages [1024] }")
    run = aspenpy.predict(model, aspenpy.load_machine("sierra"), socket="ibm_power9", ranks_per_node=1)
    assert run.runtime == pytest.approx(found[0].time, rel=1e-12)
