"""Paths of machines: which one messages take, what they share, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy.answers.evaluation import seconds_on_paths
from aspenpy.cost.path_levels import levels_between
from aspenpy.cost.paths import paths_of
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.cost.ranks import place_ranks
from aspenpy.explore.scaling import scale
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate_many
from tests.network.levelled import Member, Path, run
from tests.network.programs import halo_exchange
from tests.network.test_levels import PLAYED, Nodes, amount
from tests.thorough import examples
from tests.timing import best_of_three, is_done_in, seconds_of, slowness

INNER, OUTER = 2e-6, 7e-6
FAST, SLOW = 1e-11, 4e-11
"""Seconds of a message, and of a byte, inside a node and between nodes."""

INSIDE, ACROSS = (Path(*map(Fraction, map(str, times))) for times in ((INNER, FAST), (OUTER, SLOW)))


def machine(
    devices: int = 4,
    nodes: int = 8,
    *,
    inner: str = "",
    outer: str = "",
    ports: str = "nodes",
    quantity: str = "",
    unit: str = "gpu",
    network: bool = True,
) -> Machine:
    """Nodes of some devices, each for a rank, joined by a switch; the nodes by another."""
    found = aspenpy.parse(
        f"""
        param nodes = {nodes}
        machine m {{ node [nodes] box {f"interconnect [{ports}] net" if network else ""} }}
        node box {{ socket [{devices}] gpu interconnect {quantity} nvl }}
        socket gpu {{ {"property rank" if unit == "gpu" else ""} core [10] sm }}
        core sm {{ {"property rank" if unit == "sm" else ""} resource flops(x) [x/giga] }}
        interconnect nvl {{
          property topology [star]
          property latency [2 us]
          property bandwidth [100 GB/s]
          {inner}
          resource messages(volume) [latency + volume/bandwidth]
        }}
        interconnect net {{
          property topology [star]
          property latency [7 us]
          property bandwidth [25 GB/s]
          {outer}
          resource messages(volume) [latency + volume/bandwidth]
        }}
        """
    )
    assert isinstance(found, Machine)
    return found


def seconds(requirement: str, ranks: int, on: Machine, **options: object) -> float:
    app = aspenpy.parse(f"model a {{ param P = {ranks} kernel main {{ execute [P] {{ messages {requirement} }} }} }}")
    assert isinstance(app, Application)
    return aspenpy.predict(app, on, **options).runtime  # type: ignore[arg-type]


def told(requirement: str, ranks: int, on: Machine, **options: object) -> str:
    with pytest.raises(AspenError) as caught:
        seconds(requirement, ranks, on, **options)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    return f"{found.code}: {found.message}"


# -- single messages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(4, INNER + 1e6 * FAST), (5, OUTER + 1e6 * 4 * SLOW), (32, OUTER + 1e6 * 4 * SLOW)],
)
def test_a_message_takes_the_path_of_its_ends(ranks: int, expected: float) -> None:
    """All in one node: over the switch there. In several: the four ranks of a node share its port."""
    assert seconds("[1e6]", ranks, machine()) == pytest.approx(expected, rel=1e-12)


def test_ranks_that_are_scattered_meet_between_nodes() -> None:
    assert seconds("[1e6]", 8, machine(), distribution="scatter") == pytest.approx(OUTER + 1e6 * SLOW, rel=1e-12)
    assert seconds("[1e6]", 8, machine(), ranks_per_node=2) == pytest.approx(OUTER + 1e6 * 2 * SLOW, rel=1e-12)


@pytest.mark.parametrize(("ports", "sharing"), [("nodes", 4), ("2*nodes", 2), ("4*nodes", 1), ("8*nodes", 1)])
def test_several_ports_a_node(ports: str, sharing: int) -> None:
    found = seconds("[1e6]", 8, machine(ports=ports))
    assert found == pytest.approx(OUTER + 1e6 * sharing * SLOW, rel=1e-12)


@pytest.mark.parametrize(("quantity", "sharing"), [("", 1), ("[4]", 1), ("[2]", 2)])
def test_ports_of_an_inner_path(quantity: str, sharing: int) -> None:
    """One for each end, or as many as there are."""
    assert seconds("[1e6]", 4, machine(quantity=quantity)) == pytest.approx(INNER + 1e6 * sharing * FAST, rel=1e-12)


def test_bandwidth_in_all() -> None:
    """Four ranks that send 100 GB/s each have 160 GB/s together; between the nodes 32 share 100 GB/s."""
    on = machine(inner="property total_bandwidth [160 GB/s]", outer="property total_bandwidth [100 GB/s]")
    assert seconds("[1e6]", 4, on) == pytest.approx(INNER + 1e6 * 4 / 160e9, rel=1e-12)
    assert seconds("[1e6]", 32, on) == pytest.approx(OUTER + 1e6 * 32 / 100e9, rel=1e-12)


def test_each_path_adds_the_hops_onto_its_switch_and_off_it() -> None:
    """On a star, two nodes are no hop apart but for the way onto the switch and off it."""
    on = machine(inner="property hop_latency [0.3 us]", outer="property hop_latency [1 us]")
    assert seconds("[1e6]", 4, on) == pytest.approx(INNER + 0.6e-6 + 1e6 * FAST, rel=1e-12)
    assert seconds("[1e6]", 8, on) == pytest.approx(OUTER + 2e-6 + 1e6 * 4 * SLOW, rel=1e-12)
    # Recursive doubling takes two rounds inside a node of four and one between two.
    rounds = 2 * (INNER + 0.6e-6) + 1 * (OUTER + 2e-6)
    assert seconds("[0] as barrier", 8, on) == pytest.approx(rounds, rel=1e-12)


def test_message_rates_of_each_level() -> None:
    on = machine(inner="property message_rate [1e6]", outer="property message_rate [1e5]", quantity="[2]")
    assert seconds("[0]", 4, on) == pytest.approx(INNER + 1 * 1e-6, rel=1e-12)
    assert seconds("[0]", 8, on) == pytest.approx(OUTER + 3 * 1e-5, rel=1e-12)


def test_a_rendezvous_waits_for_one_more_handshake() -> None:
    on = machine(inner="property rendezvous_threshold [8192 B] property rendezvous_latency [3 us]")
    assert seconds("[8192]", 4, on) == pytest.approx(INNER + 8192 * FAST, rel=1e-12)
    assert seconds("[8193]", 4, on) == pytest.approx(INNER + 3e-6 + 8193 * FAST, rel=1e-12)


def test_a_machine_of_one_node_has_its_inner_path() -> None:
    on = machine(8, 1, network=False)
    assert seconds("[1e6]", 8, on) == pytest.approx(INNER + 1e6 * FAST, rel=1e-12)
    assert seconds('[1e9] as allreduce("ring")', 8, on) == pytest.approx(14 * INNER + 14 / 8 * 1e9 * FAST, rel=1e-12)
    assert seconds("[6e6] as halo(2, 2, 2)", 8, on) == pytest.approx(6 * INNER + 6e6 * FAST, rel=1e-12)


def test_who_joins_whom() -> None:
    """Each kind of socket has its own path in the node."""
    on = aspenpy.parse(
        """
        machine m { node [2] box interconnect [2] net }
        node box { socket [2] cpu socket [4] gpu interconnect upi interconnect nvl }
        socket cpu { property rank core [8] lane }
        socket gpu { property rank core [8] sm }
        core lane { resource flops(x) [x/giga] }
        core sm { resource flops(x) [x/giga] }
        interconnect upi {
          property joins [cpu] property latency [1 us] property bandwidth [20 GB/s]
          resource messages(v) [latency + v/bandwidth]
        }
        interconnect nvl {
          property joins [gpu] property latency [2 us] property bandwidth [100 GB/s]
          resource messages(v) [latency + v/bandwidth]
        }
        interconnect net {
          property topology [star] property latency [7 us] property bandwidth [25 GB/s]
          resource messages(v) [latency + v/bandwidth]
        }
        """
    )
    assert isinstance(on, Machine)
    assert seconds("[1e6]", 2, on, socket="cpu") == pytest.approx(1e-6 + 1e6 / 20e9, rel=1e-12)
    assert seconds("[1e6]", 2, on, socket="gpu") == pytest.approx(2e-6 + 1e6 / 100e9, rel=1e-12)
    assert seconds("[1e6]", 4, on, socket="cpu") == pytest.approx(7e-6 + 1e6 * 2 / 25e9, rel=1e-12)
    assert seconds("[1e6]", 4, on, socket="gpu") == pytest.approx(2e-6 + 1e6 / 100e9, rel=1e-12)


# -- collectives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("per_node", [1, 2, 4, 5])
@pytest.mark.parametrize("collective", ["allreduce", "broadcast", "reduce", "allgather"])
def test_collectives_of_machines_are_those_that_are_played(collective: str, per_node: int) -> None:
    """The fastest of the schemes as they are played; one ring, which is played elsewhere, may be faster."""
    inside, across = INSIDE, ACROSS
    for ranks in (1, 4, 5, 8, 10, 17):
        times, size = [], 0
        for (name, _), play in PLAYED.items():
            if name == collective:
                on = Nodes(ranks, per_node, inside, across)
                assert play(on)
                times.append(on.time)
                size = amount(collective, on)
        if ranks > 1 and collective in ("allreduce", "allgather"):
            rounds = 2 * (ranks - 1) if collective == "allreduce" else ranks - 1
            piece = Fraction(size, ranks) if collective == "allreduce" else size
            slowest = inside if ranks <= per_node else across
            times.append(rounds * (slowest.alpha + piece * slowest.beta))
        if collective == "allgather" and ranks > per_node:
            continue  # a part of its split scheme is played where nodes are equally full
        found = seconds(f"[{size}] as {collective}", ranks, machine(per_node, 17))
        assert found == pytest.approx(float(min(times)), rel=1e-12), ranks


def test_sockets_in_nodes_in_a_machine() -> None:
    """Three levels: a barrier of 32 ranks, two cores in each of two sockets in each of eight nodes, has one round on
    each of the inner paths and three between nodes."""
    on = aspenpy.parse(
        """
        machine m { node [8] box interconnect [8] net }
        node box { socket [2] cpu interconnect upi }
        socket cpu { core [2] lane interconnect shared }
        core lane { property rank resource flops(x) [x/giga] }
        interconnect shared {
          property latency [1 us] property bandwidth [10 GB/s] resource messages(v) [latency + v/bandwidth]
        }
        interconnect upi {
          property latency [2 us] property bandwidth [20 GB/s] resource messages(v) [latency + v/bandwidth]
        }
        interconnect net {
          property topology [star] property latency [7 us] property bandwidth [25 GB/s]
          resource messages(v) [latency + v/bandwidth]
        }
        """
    )
    assert isinstance(on, Machine)
    assert seconds("[0] as barrier", 32, on) == pytest.approx(1e-6 + 2e-6 + 3 * 7e-6, rel=1e-12)
    assert seconds("[0] as barrier", 4, on) == pytest.approx(1e-6 + 2e-6, rel=1e-12)
    assert seconds("[1e6]", 2, on) == pytest.approx(1e-6 + 1e6 / 10e9, rel=1e-12)
    assert seconds("[1e6]", 4, on) == pytest.approx(2e-6 + 1e6 * 2 / 20e9, rel=1e-12)  # two cores share a port
    assert seconds("[1e6]", 8, on) == pytest.approx(7e-6 + 1e6 * 4 / 25e9, rel=1e-12)


def test_an_alltoall_goes_through_the_bisection_of_each_level() -> None:
    """Eight devices on a ring: 4 of each half have m bytes for 4 of the other, over two links."""
    on = machine(8, 1, inner="property topology [torus] property dimensions [8]", quantity="[8]", network=False)
    assert seconds("[1e8] as alltoall", 8, on) == pytest.approx(16e8 / 2 * FAST, rel=1e-12)


def test_among_fewer_ranks_than_the_block_has() -> None:
    """Eight communicators of four ranks, each in a node of its own."""
    found = seconds('[1e6] as allreduce(4, "ring")', 32, machine())
    assert found == pytest.approx(6 * INNER + 6 / 4 * 1e6 * FAST, rel=1e-12)


# -- halos -----------------------------------------------------------------------------------------

GRIDS = [grid for d in (1, 2, 3) for grid in product(range(1, 18), repeat=d) if 1 < prod(grid) <= 17]
"""All shapes of 2 to 17 ranks; of three dimensions those that are longer than one rank in each."""


@pytest.mark.parametrize("per_node", [1, 2, 4, 5])
def test_halos_with_sides_inside_the_node(per_node: int) -> None:
    """Exact where rings and nodes divide each other; where not, at most what is played."""
    on = machine(per_node, 17)
    for grid in GRIDS:
        if len(grid) == 3 and min(grid) == 1:
            continue
        ranks, faces = prod(grid), (6, 1, 2)[: len(grid)]
        place = dict(enumerate(product(*map(range, grid))))
        group = [Member(rank // per_node, rank % per_node) for rank in range(ranks)]
        program = halo_exchange(place, grid, faces, True)
        _, played = run([group], [lambda rank: program(rank, ranks)], INSIDE, ACROSS)  # noqa: B023
        lengths, sides = ", ".join(map(str, grid)), ", ".join(map(str, faces))
        trait = f"halo({lengths}), faces({sides})" if len(grid) > 1 else "halo(1)"
        found = seconds(f"[{2 * sum(faces)}] as {trait}", ranks, on)
        rings = [prod(grid[axis:]) for axis in range(len(grid))]
        node = min(per_node, ranks)
        if all(ring % node == 0 or node % ring == 0 for ring in rings):
            assert found == pytest.approx(float(played), rel=1e-12), grid
        assert found >= float(played) * (1 - 1e-12), grid


def test_the_slower_of_two_paths_counts() -> None:
    """A ring of 8 in nodes of 4: three sides of a node are inside, one goes out, at once."""
    assert seconds("[2e6] as halo(1)", 8, machine()) == pytest.approx(2 * (OUTER + 1e6 * SLOW), rel=1e-12)
    slow = machine(inner="property link_bandwidth [1 GB/s]")
    assert seconds("[2e6] as halo(1)", 8, slow) == pytest.approx(2 * (INNER + 1e6 * 1e-9), rel=1e-12)


def test_dealt_out_in_turn_neighbours_are_elsewhere() -> None:
    """Cyclic: the next rank is on the next node, the one a multiple of the nodes further on the same."""
    on = machine(4, 4)
    out, within = OUTER + 1e6 * 4 * SLOW, INNER + 1e6 * FAST
    assert seconds("[2e6] as halo(1)", 16, on, distribution="cyclic") == pytest.approx(2 * out, rel=1e-12)
    found = seconds("[4e6] as halo(4, 4)", 16, on, distribution="cyclic")
    assert found == pytest.approx(2 * out + 2 * within, rel=1e-12)


def test_all_faces_at_once_share_the_port() -> None:
    """Of eight ranks in two nodes of four, in a grid of 2 x 2 x 2: all send two faces to the other node over its port,
    and four inside; on links of their own inside, the largest face counts."""
    found = seconds('[6e6] as halo("all_ports", 2, 2, 2)', 8, machine())
    assert found == pytest.approx(OUTER + 4 * 2e6 * SLOW, rel=1e-12)
    found = seconds('[12e6] as halo("all_ports", 2, 2, 2), faces(1, 2, 3)', 8, machine(8, 1, network=False))
    assert found == pytest.approx(INNER + 12e6 * FAST, rel=1e-12)
    links = machine(8, 1, network=False, inner="property link_bandwidth [10 GB/s]")
    found = seconds('[12e6] as halo("all_ports", 2, 2, 2), faces(1, 2, 3)', 8, links)
    assert found == pytest.approx(INNER + 3e6 / 10e9, rel=1e-12)


def test_faces_at_once_over_several_ports() -> None:
    """Of a grid of 4 x 4 x 8, a node has half a row: all four ranks send two faces across each of two dimensions, and
    the two at the ends one along the row, 18 in all. Over one port that is what counts, over four what a rank at an
    end sends: five faces. Rows of four are rings inside a node."""
    one, four = machine(4, 16), machine(4, 16, ports="4*nodes")
    requirement = '[6e6] as halo("all_ports", 4, 4, 4)'
    assert seconds('[6e6] as halo("all_ports", 4, 4, 8)', 128, machine(4, 32)) == pytest.approx(
        OUTER + 18e6 * SLOW, rel=1e-12
    )
    assert seconds('[6e6] as halo("all_ports", 4, 4, 8)', 128, machine(4, 32, ports="4*nodes")) == pytest.approx(
        OUTER + 5e6 * SLOW, rel=1e-12
    )
    assert seconds(requirement, 64, one) == pytest.approx(OUTER + 16e6 * SLOW, rel=1e-12)
    assert seconds(requirement, 64, four) == pytest.approx(OUTER + 4e6 * SLOW, rel=1e-12)


def test_open_ends() -> None:
    """Two ranks of a grid that is not a ring exchange once; three or more twice."""
    on = machine(8, 1, network=False)
    assert seconds('[2e6] as halo("open", 2, 1)', 2, on) == pytest.approx(INNER + 0.5e6 * FAST, rel=1e-12)
    assert seconds('[4e6] as halo("open", 4, 2)', 8, on) == pytest.approx(3 * (INNER + 1e6 * FAST), rel=1e-12)
    assert seconds("[4e6] as halo(4, 2)", 8, on) == pytest.approx(4 * (INNER + 1e6 * FAST), rel=1e-12)


def test_unequal_faces() -> None:
    """Twelve bytes as 2 (1 + 2 + 3), on paths, and on a network alone by ranks on a node each."""
    cases = (machine(8, 1, network=False), INNER, FAST), (machine(8, 8, unit="none"), OUTER, SLOW)
    for on, start, byte in cases:
        found = seconds("[12e6] as halo(2, 2, 2), faces(1, 2, 3)", 8, on)
        assert found == pytest.approx(6 * start + 12e6 * byte, rel=1e-12)
        found = seconds("[12e6] as halo(8, 1, 1), faces(1, 2, 3)", 8, on)
        assert found == pytest.approx(2 * start + 2e6 * byte, rel=1e-12)


# -- cost ------------------------------------------------------------------------------------------


def test_eight_million_ranks_cost_what_eight_do() -> None:
    on = machine(880, 9408, unit="gpu")

    few, many = (best_of_three(partial(seconds, "[8] as allreduce", ranks, on)) for ranks in (8, 8_000_000))
    assert many < 3 * few + 0.5 * slowness()


def test_twenty_points_of_scaling_take_less_than_a_second() -> None:
    app = aspenpy.parse(
        """
        model a {
          param ranks = 1
          kernel main {
            execute [ranks] { messages [1e8] as allreduce }
            execute [ranks] { messages [1e6] as halo(3) }
            execute [ranks] { messages [8] as alltoall }
          }
        }
        """
    )
    assert isinstance(app, Application)
    ranks = [2**power for power in range(20)]
    assert len(scale(app, machine(880, 9408), ranks=ranks).points) == 20
    assert is_done_in(1, lambda: seconds_of(lambda: scale(app, machine(880, 9408), ranks=ranks)))


# -- which path is waited for ----------------------------------------------------------------------

SENT = ("[1e6]", "[1e6] as allreduce", '[1e6] as allreduce("ring")', "[1e6] as broadcast", "[6e6] as halo(3)")
HALOS = ('[6e6] as halo("all_ports", 3)', '[4e6] as halo("open", grid(P, 2, 0), grid(P, 2, 1))')


@pytest.mark.parametrize("requirement", [*SENT, *HALOS])
@pytest.mark.parametrize("ranks", [1, 3, 4, 8, 11, 32])
def test_the_paths_are_waited_for_as_long_as_the_run_takes(requirement: str, ranks: int) -> None:
    text = f"model a {{ param P = {ranks} kernel main {{ execute [P] {{ messages {requirement} }} }} }}"
    app = aspenpy.parse(text)
    assert isinstance(app, Application)
    prediction = aspenpy.predict(app, machine())
    waits = {
        key.path: float(*prediction.scope.values([time])) for key, time in seconds_on_paths(prediction.tree).items()
    }
    assert set(waits) == {"nvl", "net"}
    assert sum(waits.values()) == pytest.approx(prediction.runtime, rel=1e-12)
    assert ranks > 4 or waits["net"] == 0
    longest = max(waits, key=waits.__getitem__)
    if prediction.runtime > 0:
        assert prediction.bottleneck is not None
        assert str(prediction.bottleneck.component).endswith(longest)


def test_each_kernel_and_number_of_ranks_has_its_own() -> None:
    """Among four ranks of a node, inside; a message from node to node at 25 GB/s for four, outside."""
    app = aspenpy.parse(
        """
        model a {
          param ranks = 8
          kernel main { call near call far }
          kernel near { execute [4] { messages [1e6] as allreduce } }
          kernel far { execute [ranks] { messages [1e6] } }
        }
        """
    )
    assert isinstance(app, Application)
    found = aspenpy.predict(app, machine())
    assert [found.component_of("messages", kernel) for kernel in ("near", "far")] == ["m/box/nvl", "m/net"]
    scaled = scale(app, machine(), ranks=[4, 32])
    assert [point.bottleneck and point.bottleneck.component for point in scaled.points] == ["m/box/nvl", "m/net"]


def test_a_profile_says_how_each_exchange_is_done() -> None:
    """Of eight bytes among two nodes of four ranks everyone doubles, two rounds inside and one across; a halo whose
    faces differ from call to call takes both paths in any case, and of a sum it goes with its bytes."""
    app = aspenpy.parse(
        """
        model a {
          kernel main {
            execute [8] "norm" { messages [8] as allreduce }
            iterate level [3] { call edges(6e6/2^level) }
          }
          kernel edges(param m) {
            execute [8] { messages [m] as halo(3) }
            execute [8] { messages [m] as allreduce }
            execute [8] { messages [m] }
          }
        }
        """
    )
    assert isinstance(app, Application)
    found = {(use.name, use.kernel): use for use in aspenpy.profile(app, machine()).exchanges}
    assert set(found) == {("allreduce", "main"), ("halo", "edges"), ("allreduce", "edges")}
    norm, edges, sums = found["allreduce", "main"], found["halo", "edges"], found["allreduce", "edges"]
    assert (norm.block, norm.ranks, norm.size) == ("norm", 8, 8)
    assert norm.algorithm == "flat: recursive doubling in nvl, recursive doubling across net"
    assert norm.time == pytest.approx(2 * (INNER + 8 * FAST) + OUTER + 8 * 4 * SLOW, rel=1e-12)
    assert (edges.size, edges.algorithm) == (None, "over nvl and net")
    assert (sums.size, sums.algorithm) == (None, None)


# -- mistakes --------------------------------------------------------------------------------------


def test_mistakes_are_told_with_both_numbers() -> None:
    on = machine()
    too_many = "too-many-ranks: 33 ranks, and `m` has places for 32: each occupies a socket, `gpu`"
    for requirement in ("[1]", "[1] as allreduce", "[1] as halo(1)"):
        assert told(requirement, 33, on) == too_many
    lonely = machine(network=False)
    assert told("[1]", 5, lonely) == "no-path: no interconnect of machine `m` joins 5 ranks, but 4 of them"
    assert told("[1] as barrier", 5, lonely).startswith("no-path: ")
    assert told("[6] as halo(2, 2, 2), faces(1, 2)", 8, on) == (
        "bad-exchange: a halo in 3 dimensions has 3 faces, not 2"
    )
    with pytest.raises(AspenError) as caught:
        seconds("[6] as halo(2, 2, 3)", 8, on)
    (found,) = caught.value.diagnostics
    assert found.message.endswith("must be the number of ranks of its block, but it is 12, not 8")
    assert found.hint == "the block runs in so many ranks: P = 8"


def test_a_path_without_a_bandwidth() -> None:
    text = """
        machine m { node box }
        node box { socket [4] gpu interconnect link }
        socket gpu { property rank core sm }
        core sm { resource flops(x) [x/giga] }
        interconnect link { property latency [1 us] resource messages(v) [latency] }
    """
    on = aspenpy.parse(text)
    assert isinstance(on, Machine)
    assert (
        told("[1]", 4, on)
        == "incomplete-network: interconnect `link` is a path between ranks, and no `bandwidth` (B/s)"
    )
    more = "property rendezvous_threshold [1 kB]"
    assert told("[1]", 4, machine(inner=more)) == (
        "incomplete-network: interconnect `nvl` has a rendezvous_threshold, and no `rendezvous_latency` (s)"
    )


def test_ranks_that_are_not_bound_know_the_network_only() -> None:
    """Nobody says what a rank occupies: as without inner paths, dealt out over all nodes."""
    on = machine(unit="none")
    assert seconds("[1e6]", 4, on) == pytest.approx(OUTER + 1e6 * SLOW, rel=1e-12)
    assert ceil(seconds("[0] as barrier", 4, on) / OUTER) == 2


# -- who is where ----------------------------------------------------------------------------------


def three_levels(nodes: int, sockets: int, cores: int) -> Machine:
    found = aspenpy.parse(
        f"""
        machine m {{ node [{nodes}] box interconnect [{nodes}] net }}
        node box {{ socket [{sockets}] cpu interconnect between }}
        socket cpu {{ core [{cores}] lane interconnect shared }}
        core lane {{ property rank resource flops(x) [x/giga] }}
        """
        + "".join(
            f"""
            interconnect {name} {{
              property topology [star] property latency [1 us] property bandwidth [10 GB/s]
              resource messages(v) [latency + v/bandwidth]
            }}
            """
            for name in ("shared", "between", "net")
        )
    )
    assert isinstance(found, Machine)
    return found


Place = tuple[int, int, int]


def placed(ranks: int, nodes: int, sockets: int, cores: int, each: int, distribution: str) -> list[Place]:
    """Node, socket and number of each rank: filled one after the other, or dealt out evenly to neighbours."""
    if distribution == "compact":
        return [(rank // each, rank % each // cores, rank) for rank in range(ranks)]
    many = ceil(ranks / nodes)
    return [(rank // many, rank % many // ceil(many / sockets), rank) for rank in range(ranks)]


def counted(place: list[Place], inner: int, outer: int) -> tuple[int, int]:
    """The most ranks of the containers of a level, and of its ends."""
    most = [max(sum(other[:depth] == where[:depth] for other in place) for where in place) for depth in (outer, inner)]
    return most[0], most[1]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.sampled_from(["compact", "scatter"]), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_ranks_of_each_level(nodes: int, sockets: int, cores: int, distribution: str, data: st.DataObject) -> None:
    """Of a socket, a node and the machine; the ranks of an end share its port when all send."""
    on = three_levels(nodes, sockets, cores)
    each = data.draw(st.integers(1, sockets * cores), "ranks on a node")
    ranks = data.draw(st.integers(1, nodes * each), "ranks")
    all_nodes = nodes if distribution == "scatter" else None
    binding = place_ranks(on, "cpu", PlacementOptions(ranks_per_node=each, distribution=distribution, nodes=all_nodes))
    levels = levels_between(graph.number(ranks), paths_of(on, "cpu", binding))
    place = placed(ranks, nodes, sockets, cores, each, distribution)
    expected = [counted(place, 3, 2), counted(place, 2, 1), counted(place, 1, 0)]
    most = evaluate_many([level.ranks for level in levels], None, 0, on.definitions)
    byte = evaluate_many([level.all.beta for level in levels], None, 0, on.definitions)
    assert most == [in_all for in_all, _ in expected]
    assert byte == pytest.approx([of_an_end / 10e9 for _, of_an_end in expected], rel=1e-12)
    if distribution == "compact":
        ends = evaluate_many([level.ends for level in levels], None, 0, on.definitions)
        assert ends == [ceil(in_all / of_an_end) for in_all, of_an_end in expected]
