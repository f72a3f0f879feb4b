"""Bandwidths and products that the library's machines attain, beside published measurements of one socket or board.

    python -m benchmarks.published_rates

STREAM's triad in arrays of 1.6 GB, and products of matrices of 16,384 rows. A machine `states` a row where its own
number is from that measurement, which then proves nothing. The worst of the others come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Literal

import aspenpy
from aspenpy.record import Record

Quantity = Literal["triad", "double", "single", "tf32", "bf16"]


class PublishedRate(Record):
    """What one socket of a machine attains: GB/s of the triad, Tflop/s of products in a precision."""

    machine: str
    quantity: Quantity
    value: float
    source: str
    states: bool = False


CUBLASLT = "cuBLASLt, best size: xzwgit/gpu-flops-bench"
TORCH = "PyTorch, 8192 rows: zzc0721/torch-performance-test-data"
CSCS = "eth-cscs/cscs-reframe-tests"
GPU_BENCHES = "te42kyfo/gpu-benches, gpu-stream"
CROSSROADS = "lanl/benchmarks, Crossroads"
AURORA = "argonne-lcf/user-guides, Aurora"
GRACE = "NVIDIA/grace-cpu-benchmarking-guide"

RATES = (
    PublishedRate("a100_40gb", "triad", 1360, GPU_BENCHES, states=True),
    PublishedRate("a100_80gb", "triad", 1759, GPU_BENCHES + ", full occupancy", states=True),
    PublishedRate("mi210", "triad", 1248, GPU_BENCHES, states=True),
    PublishedRate("h100_pcie", "triad", 1832, GPU_BENCHES, states=True),
    PublishedRate("l40s", "triad", 768, GPU_BENCHES + ", its sister L40"),
    PublishedRate("max_1550", "triad", 2000, AURORA + ", two tiles", states=True),
    PublishedRate("xeon_max_9480", "triad", 792, CROSSROADS + ", half of two sockets", states=True),
    PublishedRate("grace_superchip", "triad", 403, GRACE + ", half of two dies", states=True),
    PublishedRate("epyc_9684x", "triad", 357, "Azure, HBv4: half of 650 to 780 on two sockets"),
    PublishedRate("mi300x", "double", 70, "ROCm/ROCmValidationSuite, what passes"),
    PublishedRate("mi210", "double", 30, "ROCm/ROCmValidationSuite, what passes"),
    PublishedRate("max_1550", "double", 20, AURORA + ", two tiles", states=True),
    PublishedRate("a100_40gb", "double", 15, CSCS + ", gpu-burn", states=True),
    PublishedRate("p100", "double", 3.35, CSCS + ", Piz Daint"),
    PublishedRate("epyc_7742", "double", 1.6, CSCS + ", half of two sockets", states=True),
    PublishedRate("grace", "double", 3.1, CSCS + ", node-burn"),
    PublishedRate("xeon_max_9480", "double", 2.47, CROSSROADS + ", half of two sockets, 2500 rows"),
    PublishedRate("rtx_4090", "double", 1.25, CUBLASLT, states=True),
    PublishedRate("rtx_4090", "single", 57.55, CUBLASLT, states=True),
    PublishedRate("rtx_4090", "bf16", 179.2, CUBLASLT, states=True),
    PublishedRate("rtx_5090", "double", 1.77, CUBLASLT, states=True),
    PublishedRate("rtx_5090", "single", 83.24, CUBLASLT, states=True),
    PublishedRate("rtx_5090", "bf16", 254.03, CUBLASLT, states=True),
)

ROWS, ELEMENTS = 16384, 200_000_000


def predict_rate(rate: PublishedRate) -> float:
    """The same by the model, in the unit of the row."""
    machine = aspenpy.load_machine(rate.machine)
    socket = machine.sockets[0]
    if rate.quantity == "triad":
        app = aspenpy.load_application("stream")
        run = aspenpy.predict(app, machine, socket=socket, bind="socket", kernel="triad", set={"n": ELEMENTS})
        return 3 * 8 * ELEMENTS / run.runtime / 1e9
    app = aspenpy.parse(PRODUCT.replace("FORMAT", TRAITS[rate.quantity]))
    run = aspenpy.predict(app, machine, socket=socket, bind="socket", set={"n": ROWS})
    return 2 * ROWS**3 / run.runtime / 1e12


TRAITS = {"double": "tensor, dp", "single": "tensor, sp", "tf32": "tensor, tf32", "bf16": "tensor, bf16"}
PRODUCT = """model product {
  param n = 16384
  kernel main { execute [1] of [(n/128)^2] { flops [2*n^3] as FORMAT, simd, fmad } }
}"""


def compare() -> list[tuple[PublishedRate, float]]:
    """Each row with what the model predicts: those that a machine does not state first, the worst of them in front."""
    rows = [(rate, predict_rate(rate)) for rate in RATES]
    return sorted(rows, key=lambda row: (row[0].states, -max(row[1] / row[0].value, row[0].value / row[1])))


def write_table(rows: list[tuple[PublishedRate, float]]) -> Iterator[str]:
    """The rows as a table of a page."""
    yield "| machine | what | predicted | published | ratio | stated | source |"
    yield "|---|---|---:|---:|---:|---|---|"
    for rate, model in rows:
        numbers = f"{model:.4g} | {rate.value:.4g} | {model / rate.value:.2f}"
        yield f"| `{rate.machine}` | {rate.quantity} | {numbers} | {'yes' if rate.states else ''} | {rate.source} |"


def main() -> None:
    rows = compare()
    for line in write_table(rows):
        print(line)
    for states in (False, True):
        off = [max(model / rate.value, rate.value / model) for rate, model in rows if rate.states is states]
        which = "stated by the machine" if states else "of others"
        print(f"{which}: {len(off)} rows, median {median(off):.2f}, worst {max(off):.2f}")


if __name__ == "__main__":
    main()
