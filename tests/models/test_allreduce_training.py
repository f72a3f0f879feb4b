"""allreduce_training: flops, bytes and bubbles of Megatron's papers by hand, and the throughput that they measured."""

from pathlib import Path

import pytest

import aspenpy

SMALL = {"hidden": 512, "layers": 4, "heads": 8, "sequence": 256, "vocabulary": 1024, "micro_batch": 2}
TOKENS = 2 * 256

DGX_A100 = """
param dgx_nodes = 560
include parts/sockets/nvidia_a100_80gb.aspen
machine dgx {
  node [dgx_nodes] dgx_a100
  interconnect [8*dgx_nodes] hdr
}
node dgx_a100 { socket [8] nvidia_a100_80gb  interconnect [8] nvswitch }
// NCCL over eight boards: 45 us of 1 kB in three rounds, a bus bandwidth of 230 GB/s (Azure/AI-benchmarking-guide).
interconnect nvswitch {
  property latency [15 us]
  property bandwidth [230 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
// HDR InfiniBand, MVAPICH2 on ConnectX-6: 1.1 us, 24.5 GB/s.
interconnect hdr {
  property topology [fat_tree]
  property arity [20]
  property levels [3]
  property latency [1.1 us]
  property bandwidth [24.5 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
"""


@pytest.fixture
def selene(tmp_path: Path) -> aspenpy.Machine:
    """Nodes of eight A100 with NVSwitch and eight HDR ports."""
    (tmp_path / "dgx.aspen").write_text(DGX_A100, encoding="utf-8")
    return aspenpy.load_machine(tmp_path / "dgx.aspen")


def count(resource: str, kernel: str = "main", **values: float | str) -> float:
    application = aspenpy.load_application("allreduce_training")
    return float(aspenpy.count(application, resource, kernel=kernel, set={**SMALL, **values}))


@pytest.mark.parametrize(
    "ranks",
    [{}, {"ranks": 8}, {"ranks": 8, "tensor": 2}, {"ranks": 16, "tensor": 2, "pipeline": 4, "batch": 32}],
)
def test_flops_of_a_batch_with_recomputation(ranks: dict[str, float]) -> None:
    # Narayanan et al., section 5.1: 96 B s l h^2 (1 + s/(6 h) + V/(16 l h)); beside it Adam and the sum of gradients.
    h, layers, s, vocabulary = 512, 4, 256, 1024
    batch = ranks.get("batch", 2 * ranks.get("ranks", 1) / ranks.get("tensor", 1))
    by_hand = 96 * batch * s * layers * h**2 * (1 + s / (6 * h) + vocabulary / (16 * layers * h))
    values = {**ranks, "recomputation": "full"}
    beside = count("flops", "adam", **values) + count("flops", "sum_gradients", **values)
    assert count("flops", **values) - beside == pytest.approx(by_hand, rel=1e-12)


def test_recomputation_is_a_forward_pass_more_or_that_of_the_scores() -> None:
    products = {kind: count("flops", "layer_backward", recomputation=kind) for kind in ("none", "selective", "full")}
    forward = count("flops", "layer_forward")
    assert products["none"] == 2 * forward
    assert products["full"] - products["none"] == forward
    assert products["selective"] - products["none"] == 4 * TOKENS * 256 * 512


@pytest.mark.parametrize("tensor", [1, 8])
@pytest.mark.parametrize("split", ["tensor_only", "and_sequence"])
def test_activations_of_a_layer(tensor: int, split: str) -> None:
    # Korthikanti et al., equations 2 and 4: s b h (10 + 24/t + 5 a s/(h t)), and s b h/t (34 + 5 a s/h) bytes.
    sbh, scores = TOKENS * 512, 5 * 8 * 256 / 512
    by_hand = sbh * (10 + (24 + scores) / tensor) if split == "tensor_only" else sbh / tensor * (34 + scores)
    stored = count("stores", "layer_forward", ranks=tensor, tensor=tensor, split=split) / tensor
    assert stored == pytest.approx(by_hand, rel=1e-12)


def test_weights_of_the_network() -> None:
    # Narayanan et al., equation 2: 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)); read for the logits, too.
    h, layers = 512, 4
    weights = 12 * layers * h**2 * (1 + 13 / (12 * h) + (1024 + 256) / (12 * layers * h))
    assert count("stores", "adam") == pytest.approx(weights * (2 + 3 * 4), rel=1e-12)


@pytest.mark.parametrize("ranks", [1, 2, 8, 1024])
def test_volume_of_the_ring(ranks: int) -> None:
    # Each rank sends 2 (P - 1)/P of the gradients of 2 bytes.
    weights = 12 * 4 * 512**2 + 13 * 4 * 512 + (1024 + 256) * 512
    volume = count("messages", "sum_gradients", ranks=ranks) / ranks
    assert volume == pytest.approx(2 * (ranks - 1) / ranks * weights * 2, rel=1e-12)


@pytest.mark.parametrize(("pipeline", "virtual", "rounds"), [(1, 1, 8), (4, 1, 11), (4, 3, 9)])
def test_the_bubble_of_the_pipeline(selene: aspenpy.Machine, pipeline: int, virtual: int, rounds: int) -> None:
    # 8 micro-batches take m + (p - 1)/v turns of a forward and a backward pass.
    app = aspenpy.load_application("allreduce_training")
    values = {**SMALL, "ranks": 4, "pipeline": pipeline, "virtual_stages": virtual, "batch": 16 * 4 / pipeline}
    prediction = aspenpy.predict(app, selene, set=values)
    calls = {kernel.name: kernel for kernel in prediction.kernels}
    assert calls["forward"].calls == rounds
    once = sum(aspenpy.predict(app, selene, set=values, kernel=name).runtime for name in ("forward", "backward"))
    ends = sum(aspenpy.predict(app, selene, set=values, kernel=name).runtime for name in ("sum_gradients", "adam"))
    assert prediction.runtime == pytest.approx(rounds * once + ends, rel=1e-9)


def test_overlap_hides_the_sum_of_gradients(selene: aspenpy.Machine) -> None:
    app = aspenpy.load_application("allreduce_training")
    values = {**SMALL, "ranks": 64, "batch": 4096}
    after, during = (
        aspenpy.predict(app, selene, set={**values, "schedule": schedule}).runtime
        for schedule in ("after_backward", "during_backward")
    )
    summed = aspenpy.predict(app, selene, set=values, kernel="sum_gradients").runtime
    assert 0 < after - during <= summed


# -- measured --------------------------------------------------------------------------------------


def network(hidden: float, layers: float, heads: float) -> dict[str, float | str]:
    return {"hidden": hidden, "layers": layers, "heads": heads, "sequence": 2048, "vocabulary": 51200}


def spread(tensor: float, pipeline: float, ranks: float, virtual_stages: float) -> dict[str, float | str]:
    return {"tensor": tensor, "pipeline": pipeline, "ranks": ranks, "virtual_stages": virtual_stages}


TABLE_1 = [
    # hidden, layers, heads, tensor, pipeline, ranks, batch, micro-batch, virtual stages, Tflop/s a board
    (2304, 24, 24, 1, 1, 32, 512, 16, 1, 137),
    (3072, 30, 32, 2, 1, 64, 512, 16, 1, 138),
    (4096, 36, 32, 4, 1, 128, 512, 16, 1, 142),
    (6144, 40, 48, 8, 1, 256, 1024, 8, 1, 135),
    (8192, 48, 64, 8, 2, 512, 1536, 4, 1, 138),
    (10240, 60, 80, 8, 4, 1024, 1792, 2, 3, 140),
    (12288, 80, 96, 8, 8, 1536, 2304, 2, 2, 148),
    (16384, 96, 128, 8, 16, 1920, 2160, 1, 2, 155),
    (20480, 105, 128, 8, 35, 2520, 2520, 1, 3, 163),
    (25600, 128, 160, 8, 64, 3072, 3072, 1, 1, 163),
]
"""Narayanan et al., SC 2021, table 1, 1.7 to 1008 billion parameters on Selene; micro-batches and layers of a virtual
stage: examples/sc21/run_table_1.sh of Megatron-LM."""

WITHIN = 0.15
"""Of the published throughput, both ways."""


@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: f"{row[0]}")
def test_throughput_of_table_1(selene: aspenpy.Machine, row: tuple[int, ...]) -> None:
    h, layers, heads, tensor, pipeline, ranks, batch, micro_batch, virtual, published = row
    app = aspenpy.load_application("allreduce_training")
    values = {
        **network(h, layers, heads),
        **spread(tensor, pipeline, ranks, virtual),
        "batch": batch,
        "micro_batch": micro_batch,
        "recomputation": "full",
    }
    flops = 96 * batch * 2048 * layers * h**2 * (1 + 2048 / (6 * h) + 51200 / (16 * layers * h))
    prediction = aspenpy.predict(app, selene, set=values)
    assert flops / prediction.runtime / ranks / 1e12 == pytest.approx(published, rel=WITHIN)
    assert {item.code for item in prediction.diagnostics} <= {"lower-bound"}  # and it fits the memory


TABLE_5 = [
    # hidden, layers, heads, pipeline, batch, micro-batch, virtual stages, seconds of a step: full, selective
    (6144, 48, 64, 1, 4, 4, 1, 1.42, 1.10),
    (12288, 96, 96, 8, 64, 1, 3, 18.13, 13.75),
    (20480, 105, 128, 35, 280, 1, 3, 49.05, 37.83),
    (25600, 128, 160, 64, 512, 1, 1, 94.42, 71.49),
]
"""Korthikanti et al., 2022, table 5: 22, 175, 530 and 1000 billion parameters, tensor parallelism of 8."""


@pytest.mark.parametrize("row", TABLE_5, ids=lambda row: f"{row[0]}")
def test_steps_of_table_5(selene: aspenpy.Machine, row: tuple[float, ...]) -> None:
    h, layers, heads, pipeline, batch, micro_batch, virtual, *published = row
    app = aspenpy.load_application("allreduce_training")
    values = {
        **network(h, layers, heads),
        **spread(8, pipeline, 8 * pipeline, virtual),
        "batch": batch,
        "micro_batch": micro_batch,
    }
    kinds = ({"recomputation": "full"}, {"recomputation": "selective", "split": "and_sequence"})
    for kind, seconds in zip(kinds, published, strict=True):
        assert aspenpy.predict(app, selene, set={**values, **kind}).runtime == pytest.approx(seconds, rel=0.18)
