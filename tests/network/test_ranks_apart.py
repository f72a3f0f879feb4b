"""Collectives among ranks that are apart, as those of data parallelism between the ranks of tensor parallelism: what
crosses the ports of a node is counted rank by rank."""

import pytest

import aspenpy

MACHINE = """
machine cluster {{
  node [{nodes}] box
  interconnect [{ports}*{nodes}] network
}}
node box {{ socket [{each}] board  interconnect inside }}
socket board {{ core lane  memory memory  property rank }}
core lane {{ resource flops(n) [n/(1 Gflop/s)] }}
memory memory {{ property capacity [1 GB]  resource loads(n) [n/(1 GB/s)] }}
interconnect inside {{
  property latency [1 us]
  property bandwidth [100 GB/s]
  resource messages(m) [latency + m/bandwidth]
}}
interconnect network {{
  property topology [fat_tree]
  property arity [64]
  property levels [2]
  property latency [3 us]
  property bandwidth [10 GB/s]
  resource messages(m) [latency + m/bandwidth]
}}
"""
APPLICATION = (
    "model app {{ param ranks = {ranks} kernel main {{ execute [ranks] {{ messages [{size}] as {what} }} }} }}"
)


def predict(what: str, ports: int = 8, size: float = 1e9, distribution: str | None = None) -> float:
    """Seconds on eight nodes of eight ranks."""
    machine = aspenpy.parse(MACHINE.format(nodes=8, each=8, ports=ports))
    app = aspenpy.parse(APPLICATION.format(ranks=64, size=size, what=what))
    assert isinstance(machine, aspenpy.Machine)
    assert isinstance(app, aspenpy.Application)
    return aspenpy.predict(app, machine, distribution=distribution).runtime


def groups_of(ranks: int, count: int, stride: int) -> list[list[int]]:
    """All groups at once: blocks of count*stride ranks, in which every stride-th is of the same group."""
    span = count * stride
    return [
        list(range(start + first, start + span, stride)) for start in range(0, ranks, span) for first in range(stride)
    ]


def seconds_of_ring(groups: list[list[int]], ports: int, size: float, rounds: int) -> float:
    """Rounds in which each rank sends a part to the next of its group; those that leave a node share its ports."""
    leaving: dict[int, int] = {}
    for group in groups:
        for sender, receiver in zip(group, [*group[1:], group[0]], strict=True):
            if sender // 8 != receiver // 8:
                leaving[sender // 8] = leaving.get(sender // 8, 0) + 1
    if not leaving:
        return rounds * (1e-6 + size / 100e9)
    shared = max(1, max(leaving.values()) / ports)
    return rounds * (3e-6 + size * shared / 10e9)


@pytest.mark.parametrize("ports", [1, 2, 8])
@pytest.mark.parametrize(
    ("count", "stride"), [(8, 1), (4, 2), (2, 4), (8, 8), (16, 4), (32, 2), (4, 16), (2, 32), (64, 1)]
)
def test_rings(count: int, stride: int, ports: int) -> None:
    groups = groups_of(64, count, stride)
    by_hand = seconds_of_ring(groups, ports, 1e9 / count, 2 * (count - 1))
    assert predict(f'allreduce("ring", {count}, {stride})', ports) == pytest.approx(by_hand, rel=1e-9)
    by_hand = seconds_of_ring(groups, ports, 1e9, count - 1)
    assert predict(f'allgather("ring", {count}, {stride})', ports) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize(("count", "stride"), [(4, 2), (8, 8), (16, 4), (4, 16)])
def test_everyone_sends_to_each_other_of_its_group(count: int, stride: int) -> None:
    """Of the bytes of a rank those to other nodes leave by its own port."""
    size = 1e8
    group = groups_of(64, count, stride)[0]
    outside = sum(rank // 8 != group[0] // 8 for rank in group)
    inside = count - 1 - outside
    seconds = outside * (3e-6 + size / 10e9) + inside * (1e-6 + size / 100e9)
    assert predict(f'alltoall("pairwise", {count}, {stride})', size=size) == pytest.approx(seconds, rel=1e-9)


def test_order_of_ranks_must_be_known() -> None:
    assert predict("allreduce(8, 1)", distribution="scatter") > 0
    with pytest.raises(aspenpy.AspenError, match="among ranks that are apart, which is priced where ranks fill a node"):
        predict("allreduce(8, 2)", distribution="scatter")
