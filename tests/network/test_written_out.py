"""Networks that a machine writes out link by link, and shapes that stay as they are written."""

from __future__ import annotations

from itertools import pairwise

import pytest

from aspenpy import AspenError
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.network import Network
from tests.network.test_exchanges import ALPHA, BYTE, HOP, machine, seconds

MORE = "property hop_latency [0.1 us]"


def ring(nodes: int) -> str:
    """The links of a ring, as an array of the language."""
    return "{" + ", ".join(f"{{{first}, {second}}}" for first, second in pairwise([*range(nodes), 0])) + "}"


def written(links: str, nodes: int = 8) -> str:
    """The first mistake that is found in a machine with these links."""
    found = check_machine(
        machine("custom", "property edges [links]", nodes=nodes, params=f"param links[][] = {links}", ports=nodes)
    )
    assert found[0].span is not None
    return f"{found[0].code}: {found[0].message}"


@pytest.mark.parametrize("requirement", ["[800] as allreduce", "[1e6] as alltoall", "[0] as barrier", "[64] as bcast"])
def test_a_ring_written_out_is_a_torus_of_one_dimension(requirement: str) -> None:
    requirement = requirement.replace("bcast", "broadcast")
    out = machine("custom", f"property edges [links] {MORE}", params=f"param links[][] = {ring(8)}", ports=8)
    torus = machine("torus", f"property dimensions [8] {MORE}", ports=8)
    assert seconds(requirement, 16, out) == seconds(requirement, 16, torus)


def test_by_hand() -> None:
    """A line of three nodes with a rank on each: distances 1, 1, 2, the average of pairs 4/3. A broadcast from one to
    the others takes two rounds of the binomial tree."""
    line = machine("custom", f"property edges [links] {MORE}", nodes=3, params="param links[][] = {{0, 1}, {1, 2}}")
    expected = 2 * (ALPHA + 4 / 3 * HOP + 100 * BYTE)
    assert seconds('[100] as broadcast("binomial")', 3, line) == pytest.approx(expected, rel=1e-12)


def test_figures_are_those_of_the_links() -> None:
    out = machine("custom", "property edges [links]", params=f"param links[][] = {ring(8)}", ports=8)
    assert Network(out).topology.figures()["diameter"] == 4
    closed = Network(out, set={"links": "{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}"})
    assert closed.topology.figures()["diameter"] == 7
    assert closed.collective("barrier", 8, 0).time == pytest.approx(3 * ALPHA)


def test_an_exchange_on_another_shape() -> None:
    """2 x 2 x 2 nodes are 12/7 hops apart, in the figures and in the times."""
    flat = machine("torus", f"property dimensions [k] {MORE}", params="param k[] = {2, 4}", ports=8)
    cube = Network(flat, set={"k": "{2, 2, 2}"})
    assert cube.topology.figures()["average_distance"] * 7 == 12
    assert cube.collective("barrier", 8, 0).time == pytest.approx(3 * (ALPHA + 12 / 7 * HOP), rel=1e-12)


@pytest.mark.parametrize(
    ("links", "nodes", "mistake"),
    [
        (ring(5), 8, "wrong-network-size: custom (5 edges) has 5 nodes, and the machine has 8"),
        ("{{0, 1}, {2, 3}}", 4, "bad-network: interconnect `net`: only 2 of the 4 nodes can be reached from node 0"),
        ("{{0, 0}}", 1, "bad-network: interconnect `net`: a link joins two nodes, not 0 with itself"),
        ("{{0, 1, 2}}", 3, "bad-network: the edges of a network are a table of numbers, two nodes in each row"),
        ("{{0, far}}", 2, "bad-network: the edges of a network are a table of numbers, two nodes in each row"),
    ],
)
def test_refused(links: str, nodes: int, mistake: str) -> None:
    more = "\nparam far = 1" if "far" in links else ""
    assert written(links + more, nodes) == mistake


def test_links_are_needed() -> None:
    found = check_machine(machine("custom"))
    assert found[0].message == "interconnect `net`: a custom needs `edges`"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("{2, 2, 2}", "`k` has to stay as many numbers as `net` has dimensions, 2"),
        ("8", "`k` has to stay as many numbers as `net` has dimensions, 2"),
        ("{2, 4, 1}", "`k` has to stay as many numbers as `net` has dimensions, 2"),
    ],
)
def test_another_number_of_dimensions_is_not_passed_over(shape: str, message: str) -> None:
    torus = machine("torus", "property dimensions [k]", params="param k[] = {2, 4}", ports=8)
    with pytest.raises(AspenError) as caught:
        seconds("[8] as allreduce", 8, torus, k=shape)  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].message == message


def test_other_lengths_are() -> None:
    torus = machine("torus", f"property dimensions [k] {MORE}", params="param k[] = {2, 4}", ports=8)
    line = machine("torus", f"property dimensions [k] {MORE}", params="param k[] = {1, 8}", ports=8)
    assert seconds("[0] as barrier", 8, torus, k="{1, 8}") == seconds("[0] as barrier", 8, line)  # type: ignore[arg-type]


def test_links_cannot_be_set() -> None:
    out = machine("custom", "property edges [links]", nodes=4, params=f"param links[][] = {ring(4)}", ports=4)
    with pytest.raises(AspenError) as caught:
        seconds("[8] as allreduce", 4, out, links="{{0, 1}, {1, 2}, {2, 3}}")  # type: ignore[arg-type]
    assert caught.value.diagnostics[0].message == "`links` cannot be set: `net` has its links as they are written"
