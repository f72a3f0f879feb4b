"""One message by Hockney, LogP and LogGP, and LogP's broadcast, with the textbook's numbers and a simulation."""

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.cost.network.point_to_point import Arrival, Hockney, LogGP, LogP, optimal_broadcast
from aspenpy.cost.network.topology import NetworkError
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate


def test_hockney() -> None:
    """1 us and 5 GB/s: 1 MB takes 1 us + 200 us; 5000 bytes take as long as the start."""
    network = Hockney(1e-6, 5e9)
    assert evaluate(network.time(1_000_000)) == pytest.approx(201e-6, rel=1e-12)
    assert evaluate(network.time(5000)) == pytest.approx(2e-6)


def test_hockney_with_symbols() -> None:
    size = graph.symbol("m")
    assert str(Hockney(graph.symbol("alpha"), graph.symbol("bandwidth")).time(size)) == "alpha + m/bandwidth"


def test_logp() -> None:
    """L = 6, o = 2, g = 4: 10 for one message, 4 more for each that follows; the overhead counts where it is longer."""
    assert [evaluate(LogP(6, 2, 4).time(messages)) for messages in (1, 2, 5)] == [10, 14, 26]
    assert evaluate(LogP(6, 5, 4).time(2)) == 16 + 5


def test_loggp() -> None:
    """T(k) = L + 2o + (k-1)G."""
    network = LogGP(6, 2, 4, 0.5)
    assert [evaluate(network.time(size)) for size in (1, 9)] == [10, 14]


def test_the_broadcast_of_the_textbook() -> None:
    """Culler et al. 1993, figure 3: P = 8, L = 6, g = 4, o = 2. The root sends at 0, 4, 8, 12, the first that it
    reaches at 10 and 14, the next one at 14."""
    arrivals = optimal_broadcast(6, 2, 4, 8)
    assert [arrival.time for arrival in arrivals] == [0, 10, 14, 18, 20, 22, 24, 24]
    assert arrivals[0].sender is None
    assert sorted(arrival.sender for arrival in arrivals[1:] if arrival.sender is not None) == [0, 0, 0, 0, 1, 1, 2]


PART = st.integers(1, 12)


@given(PART, PART, PART, st.integers(1, 60))
def test_broadcasts_keep_to_the_model(latency: int, overhead: int, gap: int, processors: int) -> None:
    """Nobody sends before it has the message, nor before a gap and its own overhead are over."""
    arrivals = optimal_broadcast(latency, overhead, gap, processors)
    starts = defaultdict(list)
    for arrival in arrivals[1:]:
        assert arrival.sender is not None
        starts[arrival.sender].append(arrival.time - latency - 2 * overhead)
    for sender, times in starts.items():
        assert min(times) >= arrivals[sender].time
        assert all(later - time >= max(gap, overhead) for time, later in pairwise(times))
    assert [arrival.time for arrival in arrivals] == sorted(arrival.time for arrival in arrivals)


@given(PART, PART, PART, st.integers(1, 40))
def test_no_broadcast_is_faster(latency: int, overhead: int, gap: int, processors: int) -> None:
    """Karp et al. 1993: those reached by time t, R(t) = 1 + the sum of R(t - flight - i step) over the sends of the
    root, are the most there can be; the last arrival is the first t with R(t) >= P."""
    flight, step = latency + 2 * overhead, max(gap, overhead)
    reached: list[int] = []
    while not reached or reached[-1] < processors:
        now = len(reached)
        reached.append(1 + sum(reached[now - sent] for sent in range(flight, now + 1, step)))
    assert optimal_broadcast(latency, overhead, gap, processors)[-1].time == len(reached) - 1


def test_a_broadcast_to_nobody() -> None:
    assert optimal_broadcast(6, 2, 4, 1) == [Arrival(0, None)]
    with pytest.raises(NetworkError, match="a broadcast has 1 processor or more, not 0"):
        optimal_broadcast(6, 2, 4, 0)
