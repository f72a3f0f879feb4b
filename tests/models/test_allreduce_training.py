"""allreduce_training: six flops a weight and token, the ring's volume, overlap."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

SMALL = {"weights": 1e6, "tokens": 512, "hidden": 64, "layers": 4}


def count(resource: str, kernel: str = "main", **values: float) -> float:
    application = aspenpy.load_application("allreduce_training")
    return float(aspenpy.count(application, resource, kernel=kernel, set={**SMALL, **values}))


@pytest.mark.parametrize("ranks", [1, 8])
def test_six_flops_a_weight_and_token(ranks: int) -> None:
    passes = count("flops", "forward", ranks=ranks) + count("flops", "backward", ranks=ranks)
    assert passes == 6 * 1e6 * 512 * ranks


def test_a_step_adds_gradients_and_updates_weights() -> None:
    # Each of 8 ranks adds 7/8 of the gradients and updates all weights with 14 flops.
    assert count("flops", ranks=8) == 8 * 1e6 * (6 * 512 + 7 / 8 + 14)


@pytest.mark.parametrize("ranks", [1, 2, 8, 1024])
def test_volume_of_the_ring(ranks: int) -> None:
    # Each rank sends 2 (P - 1)/P of the gradients of 4 bytes.
    assert count("messages", ranks=ranks) / ranks == pytest.approx(2 * (ranks - 1) / ranks * 1e6 * 4, rel=1e-12)


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (2, 2), (8, 14)])
def test_messages_of_a_step(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("allreduce_training", "main", {"ranks": ranks}) == messages


def test_traffic_of_a_step_by_hand() -> None:
    # Numbers of 4 bytes on one rank: weights in twice, gradients out, Adam 4 in and 3 out; activations out and in.
    assert count("bytes") == 4 * (1e6 * (2 + 1 + 4 + 3) + 2 * 17 * 512 * 64 * 4)


def test_activations_are_thirty_four_bytes_in_half_precision() -> None:
    # Korthikanti et al.: 34 bytes a token, channel and layer, without the scores of attention.
    assert count("stores", "forward", word=2) == 34 * 512 * 64 * 4


@pytest.mark.parametrize("ranks", [1, 4])
def test_overlap_hides_the_shorter_of_backward_and_sum(ranks: int) -> None:
    # On the simple machine, which cannot hide a thing within a rank but messages behind arithmetic: a backward pass of
    # 4e6 * 512 flops at 8e9 a second takes 0.256 s, six messages of a quarter of 4 MB at 1 GB/s 6 ms and 6 us.
    application, simple = aspenpy.load_application("allreduce_training"), aspenpy.load_machine("simple")
    values = {**SMALL, "ranks": ranks, "simple_nodes": ranks}
    after, during = (
        aspenpy.predict(application, simple, set={**values, "schedule": schedule}).runtime for schedule in (0, 1)
    )
    messages = 2 * (ranks - 1) * (1e-6 + 1e6 * 4 / ranks / 1e9)
    additions = (ranks - 1) * max(1e6 / ranks / 4e9, 3 * 4e6 / ranks / 10e9)
    arithmetic = (ranks - 1) * 1e6 / ranks / 4e9
    assert after - during == pytest.approx(messages + additions - arithmetic, rel=1e-9)
