"""Exchanges as traits of `messages`, against arithmetic written out: P ranks, alpha seconds a message, beta a byte."""

from __future__ import annotations

from functools import partial

import pytest

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.cost.trait_names import EXCHANGES
from tests.timing import best_of_three, slowness

ALPHA, BYTE = 2e-6, 1e-9
HOP = 1e-7


def machine(
    topology: str = "star",
    more: str = "",
    nodes: int = 8,
    cores: int = 4,
    params: str = "",
    ports: int = 1,
    resource: str = "",
) -> Machine:
    found = aspenpy.parse(
        f"""
        {params}
        machine m {{ node [{nodes}] n interconnect [{ports}] net }}
        node n {{ socket s }}
        socket s {{ core [{cores}] c }}
        core c {{ resource flops(x) [x/giga] }}
        interconnect net {{
          property topology [{topology}]
          {more}
          property latency [2 us]
          property bandwidth [1 GB/s]
          resource messages(volume) [latency + volume/bandwidth] {resource}
        }}
        """
    )
    assert isinstance(found, Machine)
    return found


def seconds(requirement: str, ranks: int | str, on: Machine, **values: float) -> float:
    app = aspenpy.parse(f"model a {{ param P = {ranks} kernel main {{ execute [P] {{ messages {requirement} }} }} }}")
    assert isinstance(app, Application)
    return aspenpy.predict(app, on, set=values).runtime


def told(requirement: str, ranks: int, on: Machine, **values: float) -> str:
    """The diagnostic of a mistake."""
    with pytest.raises(AspenError) as caught:
        seconds(requirement, ranks, on, **values)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    return f"{found.code}: {found.message}"


def test_the_names_are_those_of_the_collectives() -> None:
    assert set(EXCHANGES) == {*COLLECTIVES, "halo"}


# -- collectives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trait", "expected"),
    [
        ('broadcast("binomial")', 3 * ALPHA + 3 * 1000 * BYTE),
        ('broadcast("flat")', 7 * ALPHA + 7 * 1000 * BYTE),
        ('reduce("binomial")', 3 * ALPHA + 3 * 1000 * BYTE),
        ('allreduce("ring")', 14 * ALPHA + 14 / 8 * 1000 * BYTE),
        ('allreduce("recursive_doubling")', 3 * ALPHA + 3 * 1000 * BYTE),
        ('allreduce("rabenseifner")', 6 * ALPHA + 14 / 8 * 1000 * BYTE),
        ('allgather("ring")', 7 * ALPHA + 7 * 1000 * BYTE),
        ('reduce_scatter("pairwise")', 7 * ALPHA + 7 / 8 * 1000 * BYTE),
        ('alltoall("pairwise")', 7 * ALPHA + 7 * 1000 * BYTE),
        ("barrier", 3 * ALPHA),
    ],
)
def test_one_rank_on_each_of_eight_nodes(trait: str, expected: float) -> None:
    assert seconds(f"[1000] as {trait}", 8, machine()) == pytest.approx(expected, rel=1e-12)


def test_the_fastest_by_size() -> None:
    """Recursive doubling is 3 (alpha + m beta), Rabenseifner 6 alpha + 7/4 m beta: they meet at 2.4 alpha/beta."""
    meet = 3 * ALPHA / (BYTE * 1.25)
    assert meet == pytest.approx(4800)
    assert seconds("[4000] as allreduce", 8, machine()) == pytest.approx(3 * ALPHA + 3 * 4e3 * BYTE, rel=1e-12)
    assert seconds("[1e6] as allreduce", 8, machine()) == pytest.approx(6 * ALPHA + 1.75e6 * BYTE, rel=1e-12)


def test_among_fewer_ranks_than_the_block_has() -> None:
    """A communicator of 4 of the 8 ranks: two rounds."""
    found = seconds('[1000] as broadcast(4, "binomial")', 8, machine())
    assert found == pytest.approx(2 * ALPHA + 2000 * BYTE, rel=1e-12)


def test_one_rank_says_nothing_to_anyone() -> None:
    for name in EXCHANGES:
        assert seconds(f"[1000] as {name}" + ("(2)" if name == "halo" else ""), 1, machine()) == 0


def test_ranks_of_a_node_share_its_port() -> None:
    """32 ranks on 8 nodes: five rounds; 28 of the 31 others are on other nodes, so that 4 * 28/31 share a port."""
    sharing = 4 * 28 / 31
    expected = 5 * ALPHA + 5 * 100 * BYTE * sharing
    assert seconds('[100] as allreduce("recursive_doubling")', 32, machine()) == pytest.approx(expected, rel=1e-12)
    gap = "property message_rate [1e6]"
    expected += 5 * (sharing - 1) * 1e-6
    found = seconds('[100] as allreduce("recursive_doubling")', 32, machine(more=gap))
    assert found == pytest.approx(expected, rel=1e-12)


def test_ranks_on_one_node_send_none_through_its_port() -> None:
    """With 4 ranks a node, 4 ranks are on one: no hops, no sharing."""
    on = machine(more="property ranks_per_node [4] property hop_latency [0.1 us]")
    assert seconds("[0] as barrier", 4, on) == pytest.approx(2 * ALPHA, rel=1e-12)
    assert seconds("[0] as barrier", 4, machine(more="property hop_latency [0.1 us]")) == pytest.approx(
        2 * (ALPHA + 2 * HOP), rel=1e-12
    )


def test_several_ports_a_node() -> None:
    """16 ports, two a node: of the 4 ranks of a node two share one."""
    on = machine(ports=16)
    expected = 5 * ALPHA + 5 * 100 * BYTE * 2 * 28 / 31
    assert seconds('[100] as allreduce("recursive_doubling")', 32, on) == pytest.approx(expected, rel=1e-12)


def test_a_narrow_link_and_the_sum_of_what_arrives() -> None:
    on = machine(more="property link_bandwidth [0.5 GB/s] property reduction_bandwidth [4 GB/s]")
    expected = 3 * ALPHA + 3000 / 0.5e9 + 3000 / 4e9
    assert seconds('[1000] as allreduce("recursive_doubling")', 8, on) == pytest.approx(expected, rel=1e-12)


def test_hops_of_an_average_pair() -> None:
    """On a ring of 8, the others are 1, 1, 2, 2, 3, 3, 4 hops away: 16/7."""
    on = machine("torus", "property dimensions [8] property hop_latency [0.1 us]")
    assert seconds("[0] as barrier", 8, on) == pytest.approx(3 * (ALPHA + 16 / 7 * HOP), rel=1e-12)


def test_an_alltoall_goes_through_the_bisection() -> None:
    """4 ranks of each half have m bytes for 4 of the other: 16 m over the 2 links that cut a ring of 8, instead of
    the 7 m that each port sends."""
    on = machine("torus", "property dimensions [8]")
    assert seconds("[1e6] as alltoall", 8, on) == pytest.approx(8e6 * BYTE, rel=1e-12)
    assert seconds("[1e6] as alltoall", 8, machine()) == pytest.approx(7 * ALPHA + 7e6 * BYTE, rel=1e-12)


@pytest.mark.parametrize("more", ["", " property rendezvous_threshold [1 kB] property rendezvous_latency [0]"])
def test_an_alltoall_goes_up_from_its_leaf_switch(more: str) -> None:
    """Of 16 nodes on a tree of arity 2 with a taper of 2, four on a switch send to twelve over 2 links: 48 m/2. The
    bisection of 4 links takes 64 m/4, and a port 15 m. Two ports are two trees: 12 m, and the 15 of a port. Of eight
    ranks anywhere on the tree two are on a switch: 2*6 m/2; the bisection takes 16 m/4, and a port 7 m."""
    shape = "property arity [2] property levels [3] property taper [2]" + more
    tree, two = (machine("fat_tree", shape, nodes=16, cores=1, ports=ports) for ports in (16, 32))
    assert seconds("[1e6] as alltoall", 16, tree) == pytest.approx(24e6 * BYTE, rel=1e-12)
    assert seconds("[1e6] as alltoall", 16, two) == pytest.approx(15 * ALPHA + 15e6 * BYTE, rel=1e-12)
    assert seconds("[1e6] as alltoall", 8, tree) == pytest.approx(7 * ALPHA + 7e6 * BYTE, rel=1e-12)


def test_an_alltoall_shares_the_ports_of_its_nodes() -> None:
    """Four ranks on each of 8 nodes send to the 28 on others: 4*28 m over a port, in 31 rounds; 16*16 m cross the star
    over 4 links, which takes 64 m."""
    on = machine(more="property ranks_per_node [4]")
    assert seconds("[1e6] as alltoall", 32, on) == pytest.approx(31 * ALPHA + 112e6 * BYTE, rel=1e-12)


@pytest.mark.parametrize("topology", ["star", "torus", "mesh", "hypercube", "fat_tree", "fully_connected"])
def test_one_node_has_no_bisection(topology: str) -> None:
    """One rank sends nothing; each of four sends 3 m through the only port, in 3 rounds."""
    shape = {"torus": "dimensions [1]", "mesh": "dimensions [1]", "hypercube": "dimension [0]"}.get(topology, "")
    shape = "arity [1] property levels [1]" if topology == "fat_tree" else shape
    on = machine(topology, (f"property {shape}" if shape else "") + " property ranks_per_node [4]", nodes=1)
    assert seconds("[1e6] as alltoall", 1, on) == 0
    assert seconds("[1e6] as alltoall", 4, on) == pytest.approx(3 * ALPHA + 3e6 * BYTE, rel=1e-12)


# -- halos -----------------------------------------------------------------------------------------


def test_halo_of_a_grid() -> None:
    """Two rounds a dimension, none along one that has a single rank."""
    on = machine()
    assert seconds("[6000] as halo(2, 2, 2)", 8, on) == pytest.approx(6 * ALPHA + 6000 * BYTE, rel=1e-12)
    assert seconds("[4000] as halo(8, 1)", 8, on) == pytest.approx(2 * ALPHA + 2000 * BYTE, rel=1e-12)
    assert seconds("[6000] as halo(3)", 8, on) == pytest.approx(6 * ALPHA + 6000 * BYTE, rel=1e-12)
    assert seconds('[6000] as halo("all_ports", 2, 2, 2)', 8, on) == pytest.approx(ALPHA + 1000 * BYTE, rel=1e-12)


@pytest.mark.parametrize(
    ("placement", "hops"),
    # On a ring of 8, the grid of 2 x 4: the last coordinate is 1 node away, the first 4.
    [("block", 2 * 1 + 2 * 4), ("aligned", 4 * 1), ("random", 4 * 16 / 7)],
)
def test_where_the_neighbours_are(placement: str, hops: float) -> None:
    on = machine("torus", f"property dimensions [8] property hop_latency [0.1 us] property placement [{placement}]")
    assert seconds("[0] as halo(2, 4)", 8, on) == pytest.approx(4 * ALPHA + hops * HOP, rel=1e-12)


@pytest.mark.parametrize(
    ("placement", "hops"),
    # 4 ranks a node. block: of the line of 32, every fourth neighbour is on the next node; cyclic: every one.
    # aligned: as block, for a line. random: 28 of 31 others are elsewhere, 16/7 hops away.
    [("block", 1 / 4), ("cyclic", 1), ("aligned", 1 / 4), ("random", 28 / 31 * 16 / 7)],
)
def test_where_the_neighbours_are_with_four_ranks_a_node(placement: str, hops: float) -> None:
    on = machine("torus", f"property dimensions [8] property hop_latency [0.1 us] property placement [{placement}]")
    assert seconds("[0] as halo(1)", 32, on) == pytest.approx(2 * (ALPHA + hops * HOP), rel=1e-12)


# -- what stays as it was --------------------------------------------------------------------------


def test_a_rule_of_the_machine_is_the_machines() -> None:
    on = machine(resource="with allreduce [base*7]")
    assert seconds("[1000] as allreduce", 8, on) == pytest.approx(8 * 7 * (ALPHA + 1000 * BYTE), rel=1e-12)


def test_a_port_without_a_topology_knows_no_exchange() -> None:
    text = "machine m { interconnect [8] net } interconnect net { resource messages(v) [1 + v] }"
    on = aspenpy.parse(text)
    assert isinstance(on, Machine)
    assert seconds("[2] as allreduce", 8, on) == 3


def test_other_traits_of_the_machine_still_apply() -> None:
    on = machine(resource="with slowly [base*3]")
    assert seconds("[0] as barrier, slowly", 8, on) == pytest.approx(9 * ALPHA, rel=1e-12)


def test_eight_million_ranks_cost_no_more_than_eight() -> None:
    on = machine("torus", "property dimensions [d]", nodes=64 * 64 * 32, cores=64, params="param d[] = {64, 64, 32}")

    few, many = (best_of_three(partial(seconds, "[8] as allreduce", ranks, on)) for ranks in (8, 8_000_000))
    assert many < 3 * few + 0.5 * slowness()


# -- mistakes --------------------------------------------------------------------------------------


def test_how_many_cores_there_are_is_told() -> None:
    """Eight nodes of four cores."""
    with pytest.raises(AspenError) as caught:
        seconds("[1] as allreduce", 33, machine())
    assert caught.value.diagnostics[0].hint == "it takes a core for each rank; as it is written, it has 32"


def test_mistakes_are_told_at_their_places() -> None:
    star = machine()
    assert told("[1] as allreduce", 33, star) == (
        "too-many-ranks: there are more ranks in `allreduce` than machine `m` has cores"
    )
    assert told("[1] as barrier", 9, machine(more="property ranks_per_node [1]")) == (
        "too-many-ranks: there are more ranks in `barrier` than the nodes of machine `m` take"
    )
    assert told('[1] as allreduce("rign")', 8, star) == "bad-exchange: unknown algorithm `rign` of allreduce"
    assert told("[1] as allreduce(2, 3, 4)", 8, star).startswith(
        "bad-exchange: `allreduce` takes the name of an algorithm"
    )
    for stride in ("0", "1.5"):
        assert told(f"[1] as allreduce(2, {stride})", 8, star) == (
            "bad-exchange: ranks are a whole number of ranks apart, from 1 on"
        )
    assert told('[1] as halo("al_ports")', 8, star) == "bad-exchange: unknown word `al_ports` of a halo"
    assert told("[1] as halo(2, 2, 2, 1)", 8, star) == "bad-exchange: a halo is exchanged in 1 to 3 dimensions"
    assert told("[1] as halo(4)", 8, star) == "bad-exchange: a halo is exchanged in 1 to 3 dimensions"
    assert told("[1] as barrier", 8, star, **{"net.latency": -1}) == (
        "negative-latency: the latency of interconnect `net` is negative"
    )
    torus = machine("torus", "property dimensions [k]", params="param k = 8")
    assert told("[1] as barrier", 8, torus, k=7) == (
        "wrong-network-size: the torus `net` is not for so many nodes as the machine has"
    )
    assert (
        told("[1] as barrier", 8, machine("tours")) == "unknown-topology: interconnect `net`: unknown topology `tours`"
    )


@pytest.mark.parametrize(("written", "named"), [("3", "3"), ("stars", "stars"), ("2.5", "2.5"), ("1/3", "1/3")])
def test_a_topology_is_one_of_the_words(written: str, named: str) -> None:
    assert told("[1] as barrier", 8, machine(written)) == (
        f"unknown-topology: interconnect `net`: unknown topology `{named}`"
    )


# -- grids and ranks -------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 16, 31])
def test_a_grid_has_as_many_ranks_as_its_block(ranks: int) -> None:
    """4 * 4 * 2 = 32 ranks."""
    on = machine()
    assert seconds("[6000] as halo(4, 4, 2)", 32, on) > 0
    mistake = told("[6000] as halo(4, 4, 2)", ranks, on)
    rule = "wrong-grid: the product of a halo's grid must be the number of ranks of its block"
    assert mistake == f"{rule}, but it is 32, not {ranks}"
    assert told("[6000] as halo(P + 1, 2)", ranks, on).endswith(
        f"but with P = {ranks} it is {2 * ranks + 2}, not {ranks}"
    )


@pytest.mark.parametrize("trait", ["halo(1)", "halo(3)", "halo(1, 1)", "halo(1, 1, 1)", 'halo("all_ports", 1, 1)'])
def test_one_rank_has_no_neighbours(trait: str) -> None:
    assert seconds(f"[6000] as {trait}", 1, machine()) == 0
