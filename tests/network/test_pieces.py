"""Collectives in pieces over all rails, messages over several ports, and switches that reduce: against arithmetic by
hand, and every number of pieces of a pipeline."""

from __future__ import annotations

from math import sqrt

import pytest

import aspenpy
from tests.tiny import application, machine

NODES, DEVICES, PORTS = 4, 8, 4
INSIDE, ACROSS = 2e-6, 5e-6
NVLINK, PORT = 100e9, 10e9

BOXES = """
machine m { node [NODES] box  interconnect [PORTS*NODES] fabric }
node box { socket [8] gpu  interconnect [8] nvlink }
socket gpu { property rank core [10] sm }
core sm { resource flops(n) [n] }
interconnect nvlink {
  property latency [2 us] property bandwidth [100 GB/s] WORDS
  resource messages(v) [v]
}
interconnect fabric {
  property topology [star] property latency [5 us] property bandwidth [10 GB/s] RAILS
  resource messages(v) [v]
}
"""


def boxes(
    words: str = "property pipelined", rails: str = "", nodes: int = NODES, ports: int = PORTS
) -> aspenpy.Machine:
    text = BOXES.replace("NODES", str(nodes)).replace("PORTS", str(ports))
    return machine(text.replace("WORDS", words).replace("RAILS", rails))


def seconds(requirement: str, ranks: int, on: aspenpy.Machine, **options: int) -> float:
    body = f"execute [{ranks}] {{ messages {requirement} }}"
    return float(aspenpy.predict(application(body), on, **options).runtime)  # type: ignore[arg-type]


def fill(waiting: float, moving: float) -> float:
    """Seconds of a pipeline with the best number of pieces, tried one by one: each of k pieces and d steps takes its
    part of the waiting and of the moving."""
    depth = 1000  # the result does not depend on it
    return min((pieces + depth) * (waiting / depth + moving / pieces) for pieces in range(1, 400_000, 7))


@pytest.mark.parametrize("size", [1e9, 1e10])
def test_an_allreduce_moves_its_bytes_on_the_slowest_path(size: float) -> None:
    """Inside reduce-scatter and allgather by halving and doubling, three rounds and 7/8 of the bytes each; across four
    rounds of Rabenseifner's, 2*3/4 of an eighth for each of 8 devices that share 4 ports."""
    inside = 2 * 7 / 8 * size / NVLINK
    across = 2 * 3 / 4 * size / 8 * 2 / PORT
    waiting = 6 * INSIDE + 4 * ACROSS
    found = seconds(f"[{size}] as allreduce", 32, boxes())
    assert found == pytest.approx(waiting + max(inside, across) + 2 * sqrt(waiting * max(inside, across)), rel=1e-9)
    assert found == pytest.approx(fill(waiting, max(inside, across)), rel=1e-4)
    assert found < seconds(f"[{size}] as allreduce", 32, boxes(""))


def test_in_one_node_nothing_is_gained_by_pieces() -> None:
    one = seconds("[1e9] as allreduce", 8, boxes(nodes=2))
    assert one == pytest.approx(seconds("[1e9] as allreduce", 8, boxes("", nodes=2)), rel=1e-12)
    assert one == pytest.approx(6 * INSIDE + 2 * 7 / 8 * 1e9 / NVLINK, rel=1e-9)


def test_an_alltoall_waits_for_the_slowest_path_alone() -> None:
    """7 messages inside, and 24 across of each of 8 devices on 4 ports, at the same time."""
    inside, across = 7 * 1e6 / NVLINK, 24 * 1e6 * 2 / PORT
    found = seconds("[1e6] as alltoall", 32, boxes())
    assert found == pytest.approx(7 * INSIDE + 24 * ACROSS + max(inside, across), rel=1e-9)


@pytest.mark.parametrize(
    ("rails", "ports", "seconds_each"), [(1, 4, 1 / PORT), (2, 4, 1 / PORT / 2), (4, 4, 1 / PORT / 4)]
)
def test_a_long_message_goes_over_several_ports(rails: int, ports: int, seconds_each: float) -> None:
    """One rank on each of two nodes; 1 GB over one, two or four of four ports."""
    on = boxes(rails=f"property rails [{rails}]", ports=ports)
    assert seconds("[1e9]", 2, on, ranks_per_node=1) == pytest.approx(ACROSS + 1e9 * seconds_each, rel=1e-9)


@pytest.mark.parametrize("ports", [4, 8, 16, 32])
def test_devices_share_all_ports_of_their_node(ports: int) -> None:
    """Eight ranks send 1 GB each from a node: over all its ports, of which each rank takes four at most."""
    on = boxes(rails="property rails [4]", ports=ports)
    each = max(8 / ports, 1 / 4) / PORT
    assert seconds("[1e9]", 16, on) == pytest.approx(ACROSS + 1e9 * each, rel=1e-9)


def test_a_switch_that_reduces_sends_a_vector_once() -> None:
    """1 GB at 80 GB/s, and four rounds: two ways, each a barrier and data. Rings take 2*7/8 GB at 100 GB/s."""
    on = boxes("property in_switch_bandwidth [80 GB/s]", nodes=2)
    assert seconds("[1e9] as allreduce", 8, on) == pytest.approx(4 * INSIDE + 1e9 / 80e9, rel=1e-9)
    assert seconds('[1e9] as allreduce("ring")', 8, on) == pytest.approx(14 * INSIDE + 1.75e9 / NVLINK, rel=1e-9)
    told = str(aspenpy.predict(application("execute [8] { messages [1e9] as allreduce }"), on).explain().report())
    assert "switch" in told


def test_pieces_pass_a_switch_both_ways_at_once() -> None:
    """Whole vectors go up, and down, at 80 GB/s; across, an eighth for each device with a port of its own."""
    on = boxes("property pipelined property in_switch_bandwidth [80 GB/s]", nodes=2, ports=8)
    waiting, inside, across = 4 * INSIDE + 2 * ACROSS, 1e9 / 80e9, 1e9 / 8 / PORT
    moving = max(inside, across)
    found = seconds("[1e9] as allreduce", 16, on)
    assert found == pytest.approx(waiting + moving + 2 * sqrt(waiting * moving), rel=1e-9)


@pytest.mark.parametrize("kind", ["allreduce", "broadcast", "allgather", "alltoall", "barrier"])
def test_devices_whose_code_calls_mpi_have_no_pieces(kind: str) -> None:
    """What is `pipelined`, and what the switches of a node reduce, are properties of NCCL alone."""
    on = boxes("property pipelined property in_switch_bandwidth [80 GB/s]")
    for size in (8, 1e6):
        assert seconds(f'[{size}] as {kind}("mpi")', 32, on) == seconds(f"[{size}] as {kind}", 32, boxes(""))
        chosen = [
            seconds(f'[{size}] as {kind}("{library}")', 32, on)
            == seconds(f"[{size}] as {kind}", 32, boxes("", rails=f"property mpi [{library}]"))
            for library in ("mpich", "open_mpi")
        ]
        assert all(chosen)
        stated = boxes("property pipelined", rails="property mpi [mpich]")
        assert seconds(f'[{size}] as {kind}("mpi")', 32, stated) == seconds(f'[{size}] as {kind}("mpich")', 32, on)


@pytest.mark.parametrize("kind", ["allreduce", "allgather", "broadcast", 'allreduce("ring")'])
def test_nccl_has_none_of_the_protocols_of_mpi(kind: str) -> None:
    """Copies and handshakes between nodes are of messages of MPI, and of collectives that call it."""
    protocols = (
        "property rendezvous_threshold [4 KiB] property rendezvous_latency [3 us] property eager_bandwidth [2e9]"
    )
    on, plain = boxes(rails=protocols), boxes()
    for size in (1000, 1e6):
        assert seconds(f"[{size}] as {kind}", 32, on) == seconds(f"[{size}] as {kind}", 32, plain)
        if "ring" not in kind:
            assert seconds(f'[{size}] as {kind}("mpi")', 32, on) > seconds(f'[{size}] as {kind}("mpi")', 32, plain)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "as NCCL and RCCL do"),
        ('("mpi")', "the fastest algorithm, a lower bound"),
        ('("mpich")', "as mpich chooses"),
        ('("open_mpi")', "as open_mpi chooses"),
    ],
)
def test_the_library_of_a_collective_is_said(word: str, said: str) -> None:
    body = f"execute [32] {{ messages [8] as allreduce{word} }}"
    told = str(aspenpy.predict(application(body), boxes()).explain().report())
    assert said in told
    assert ("NCCL" in told) == (not word)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1000, 5e-6 + 1000 / 2e9), (4096, 5e-6 + 4096 / 2e9), (4097, 8e-6 + 4097 / PORT), (1e6, 8e-6 + 1e6 / PORT)],
)
def test_short_messages_are_copied_and_long_ones_ask_before(size: float, expected: float) -> None:
    """Up to 4 KiB at 2 GB/s, and beyond 3 us of asking at the 10 GB/s of the port; of a halo as of a message."""
    words = "property rendezvous_threshold [4 KiB] property rendezvous_latency [3 us] property eager_bandwidth [2 GB/s]"
    on = boxes(rails=words)
    assert seconds(f"[{size}]", 2, on, ranks_per_node=1) == pytest.approx(expected, rel=1e-9)
    halo = seconds(f"[{4 * size}] as halo(2, 1)", 2, on, ranks_per_node=1)
    assert halo == pytest.approx(2 * expected, rel=1e-9)
    both = seconds(f'[{4 * size}] as halo("all_ports", 2, 1)', 2, on, ranks_per_node=1)
    bytes_each = 2 * size / PORT if size > 4096 else 2 * size / 2e9
    assert both == pytest.approx(5e-6 + (3e-6 if size > 4096 else 0) + bytes_each, rel=1e-9)
