"""transformer_training: flops, bytes and messages by hand, and the throughput that was published."""

import csv
import math
import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import median

import pytest

import aspenpy
from aspenpy.explore.optimise import Optimum

TABLE = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared")) / "data/hardware/training.csv"
SMALL = {
    "layers": 4,
    "hidden": 512,
    "heads": 8,
    "kv_heads": 2,
    "feed_forward": 1024,
    "matrices": 3,
    "vocabulary": 1024,
    "sequence": 256,
    "micro_batch": 2,
}
TOKENS, HEAD = 2 * 256, 64
ATTENTION = 2 * 512 * (8 + 2) * HEAD
PERCEPTRON = 3 * 512 * 1024
WEIGHTS = 4 * (ATTENTION + PERCEPTRON) + 2 * 1024 * 512


def count(resource: str, kernel: str = "main", **values: float | str) -> float:
    application = aspenpy.load_application("transformer_training")
    return float(aspenpy.count(application, resource, kernel=kernel, set={**SMALL, **values}))


@pytest.mark.parametrize(("recomputation", "passes"), [("none", 3), ("full", 4)])
def test_flops_of_products(recomputation: str, passes: int) -> None:
    # Forward two a weight and token, twice that backward (Narayanan et al.), once more where activations are made anew;
    # scores 4 a pair and channel forward, two and a half times that backward, over half of the pairs.
    scores = TOKENS * 256 / 2 * 8
    softmax = (passes - 1) * 5 * scores
    attention = 4 * scores * HEAD * (passes + 0.5)
    by_hand = 4 * (passes * 2 * TOKENS * (ATTENTION + PERCEPTRON) + attention + softmax) + 3 * 2 * TOKENS * 512 * 1024
    adam = 14 * WEIGHTS
    assert count("flops", recomputation=recomputation) == pytest.approx(by_hand + adam, rel=1e-12)


@pytest.mark.parametrize(("tensor", "pipeline", "replicas"), [(1, 1, 1), (2, 1, 1), (1, 4, 1), (1, 1, 4), (2, 2, 2)])
def test_ranks_share_the_products(tensor: int, pipeline: int, replicas: int) -> None:
    # A batch of the same size has the same products, however it is spread.
    spread = {"ranks": tensor * pipeline * replicas, "tensor": tensor, "pipeline": pipeline, "batch": 8}
    whole, parts = (count("flops", "train_step", **values) for values in ({"batch": 8}, spread))
    adam = 14 * WEIGHTS
    assert parts - adam == pytest.approx(whole - adam, rel=1e-12)


@pytest.mark.parametrize(
    ("sharding", "bytes_a_weight"),
    [
        ("none_sharded", 2 + 2 + 12),
        ("optimiser", 2 + 2 + 12 / 8),
        ("gradients", 2 + 2 / 8 + 12 / 8),
        ("weights", (2 + 2 + 12) / 8),
    ],
)
def test_memory_of_the_stages_of_zero(sharding: str, bytes_a_weight: float) -> None:
    # Rajbhandari et al., SC 2020, figure 1: 16 bytes a weight with Adam, of which each stage shards more.
    app = aspenpy.load_application("transformer_training")
    values = {**SMALL, "ranks": 8, "sharding": sharding}
    data = aspenpy.memory(app, set=values).data
    held = sum(float(data[name].size) for name in ("weight", "gradient", "moments"))
    assert held / 8 / WEIGHTS == pytest.approx(bytes_a_weight, rel=1e-12)


def parameter(name: str, values: dict[str, float | str]) -> float:
    app, machine = aspenpy.load_application("transformer_training"), aspenpy.load_machine("h100")
    found = aspenpy.optimise(
        app, machine, set={**SMALL, "h100_boards": 8, **values}, minimise=name, vary="attended=0.5"
    )
    assert isinstance(found, Optimum)
    return found.value


def test_bytes_that_a_rank_holds() -> None:
    # One rank: 16 bytes a weight with Adam, activations of four layers, two layers gathered, logits of four bytes.
    kept = TOKENS * (6 * 512 + 512 + (8 + 2 * 2) * HEAD + 3 * 1024)
    layer = ATTENTION + PERCEPTRON
    by_hand = 16 * WEIGHTS + 4 * kept * 2 + 2 * layer * 2 + TOKENS * 1024 * 4
    assert parameter("held", {}) == by_hand
    # Made anew: what goes from layer to layer, and one layer while it is at work.
    again = by_hand - 4 * kept * 2 + 4 * TOKENS * 512 * 2 + kept * 2
    assert parameter("held", {"recomputation": "full"}) == pytest.approx(again, rel=1e-12)


@pytest.mark.parametrize(
    "layout",
    [
        {"ranks": 8, "sharding": "gradients", "tensor": 2, "micro_batch": 1},
        {"ranks": 8, "pipeline": 4, "tensor": 2, "batch": 16, "recomputation": "full"},
        {"ranks": 4, "pipeline": 2, "virtual_stages": 2, "batch": 32, "sharding": "optimiser"},
    ],
)
def test_what_a_rank_holds_is_its_part_of_all_data(layout: dict[str, float | str]) -> None:
    app = aspenpy.load_application("transformer_training")
    data = aspenpy.memory(app, set={**SMALL, **layout}).data
    held = sum(float(item.size) for item in data.values()) / float(layout["ranks"])
    assert parameter("held", layout) == pytest.approx(held, rel=1e-12)


@pytest.mark.parametrize(
    ("layout", "left"),
    [
        ({"ranks": 8, "tensor": 2, "pipeline": 2, "batch": 8}, 0),
        ({"ranks": 3, "pipeline": 3, "batch": 6}, 1),  # a layer of four
        ({"ranks": 8, "tensor": 8}, 2),  # both heads of keys and values
        ({"ranks": 2, "batch": 6}, 0.5),  # one and a half micro-batches of two sequences
        ({"ranks": 2, "batch": 2}, 1),  # half of a micro-batch, of which there is one at least
        ({"ranks": 2, "virtual_stages": 2, "batch": 8}, 1),  # stages of one rank
        ({"ranks": 2, "pipeline": 2, "virtual_stages": 2, "batch": 6}, 1),  # the third micro-batch of pairs
    ],
)
def test_what_cannot_be_dealt_out(layout: dict[str, float | str], left: float) -> None:
    assert parameter("undivided", layout) == pytest.approx(left, abs=1e-12)


# -- measured --------------------------------------------------------------------------------------

CLUSTER = """
param {board}_cluster_nodes = 64
include parts/sockets/nvidia_{board}.aspen
include parts/interconnects/{links}.aspen
machine {board}_cluster {{
  node [{board}_cluster_nodes] {board}_cluster_node
  interconnect [8*{board}_cluster_nodes] ports
}}
node {board}_cluster_node {{ socket [8] nvidia_{board}  interconnect {links} }}
interconnect ports {{
  property topology [fat_tree]
  property arity [32]
  property levels [3]
  property latency [5 us]
  property bandwidth [{bandwidth} GB/s]
  property pipelined
  resource messages(volume) [latency + volume/bandwidth]
}}
"""
"""Nodes of eight boards with a port each: 200 or 400 Gbit/s, of which messages have nine tenths."""

MPT = {
    "MPT-125m": (12, 768, 12), "MPT-350m": (24, 1024, 16), "MPT-760m": (24, 1536, 12), "MPT-1b": (24, 2048, 16),
    "MPT-3b": (32, 2560, 20), "MPT-7b": (32, 4096, 32), "MPT-13b": (40, 5120, 40), "MPT-30b": (48, 7168, 56),
    "MPT-70b": (80, 8192, 64),
}  # fmt: skip
LLAMA = {
    "LLAMA3_8B": (32, 4096, 32, 14336),
    "LLAMA3_70B": (80, 8192, 64, 28672),
    "LLAMA3.1_405B": (126, 16384, 128, 53248),
}


@cache
def cluster(board: str) -> aspenpy.Machine:
    links, bandwidth = {"h100": ("nvlink4_switch", 46)}.get(board, ("nvlink3_switch", 22.5))
    machine = aspenpy.parse(CLUSTER.format(board=board, links=links, bandwidth=bandwidth))
    assert isinstance(machine, aspenpy.Machine)
    return machine


def rows_held_back(source: str) -> list[dict[str, str]]:
    """Rows that no number was chosen by, by a hash of what was run."""
    words = ("model", "system", "devices", "parallelism", "batch", "sequence", "precision")
    rows = csv.DictReader(TABLE.read_text().splitlines())
    rows_of = [row for row in rows if row["quantity"] == "throughput_per_device" and source in row["source"]]
    return [row for row in rows_of if int(sha256("|".join(row[word] for word in words).encode()).hexdigest(), 16) % 2]


def number(text: str, word: str, default: int = 1) -> int:
    found = re.search(rf"{word}[= ](\d+)", text)
    return int(found[1]) if found else default


def factor(board: str, row: dict[str, str], **values: float | str) -> float:
    ranks, batch, sequence = int(row["devices"]), number(row["batch"], "global"), int(row["sequence"])
    values |= {"ranks": ranks, "batch": batch, "sequence": sequence, "micro_batch": number(row["batch"], "micro")}
    values[f"{board}_cluster_nodes"] = max(1, ranks // 8)
    app = aspenpy.load_application("transformer_training")
    rate = batch * sequence / aspenpy.predict(app, cluster(board), set=values).runtime / ranks
    return math.exp(abs(math.log(rate / float(row["value"]))))


def factor_of_mpt(row: dict[str, str]) -> float:
    layers, hidden, heads = MPT[row["model"]]
    values = {"layers": layers, "hidden": hidden, "heads": heads, "kv_heads": heads, "matrices": 2, "unfused": 2}
    values |= {"feed_forward": 4 * hidden, "vocabulary": 50368}
    text = row["parallelism"]
    return factor(
        "a100_80gb" if "80GB" in row["system"] else "a100_40gb",
        row,
        **values,
        sharding="weights" if "ZeRO-3" in text else "gradients" if "ZeRO-2" in text else "none_sharded",
        recomputation="full" if "recomputation=full" in text else "none",
    )


needs_data = pytest.mark.skipif(
    not TABLE.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)"
)


@needs_data
def test_throughput_on_a100_held_back() -> None:
    """MPT by MosaicML's llm-foundry, 125 million to 70 billion weights, fully sharded on 8 to 128 A100: PyTorch's own
    elementwise kernels (`unfused`, fitted to the other half)."""
    rows = [row for row in rows_held_back("llm-foundry") if "A100" in row["system"]]
    short = [factor_of_mpt(row) for row in rows if int(row["sequence"]) <= 4096]
    assert len(short) > 40
    assert median(short) < 1.07
    assert max(short) < 1.25
    long = [factor_of_mpt(row) for row in rows if int(row["sequence"]) > 4096]
    assert median(long) < 1.30
    assert max(long) < 1.45


@needs_data
def test_throughput_on_h100_held_back() -> None:
    """Llama 3 by NVIDIA's Megatron Bridge on 8 to 1,024 H100 in eight bits."""
    factors = []
    for row in rows_held_back("Megatron-Bridge"):
        if row["system"] != "DGX-H100" or row["model"] not in LLAMA or not row["precision"].startswith("FP8"):
            continue
        if re.search("LoRA|SFT|Fine", row["conditions"]):
            continue
        layers, hidden, heads, feed_forward = LLAMA[row["model"]]
        text = row["parallelism"]
        spread = {
            name: number(text, word)
            for name, word in [("tensor", "tensor"), ("pipeline", "pipeline"), ("context", "context")]
        }
        values = {"layers": layers, "hidden": hidden, "heads": heads, "feed_forward": feed_forward, **spread}
        values |= {"kv_heads": 8, "matrices": 3, "vocabulary": 128256}
        sharding = "weights" if number(text, "FSDP", 0) > 1 else "optimiser"
        stages = number(text, "virtual_pipeline")
        factors.append(factor("h100", row, **values, virtual_stages=stages, sharding=sharding, format="fp8"))
    assert len(factors) >= 7
    assert median(factors) < 1.08
    assert max(factors) < 1.15
