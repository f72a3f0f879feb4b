"""Streams by occupancy against RRZE's gpu-stream (te42kyfo/gpu-benches): two blocks of 32 to 1024 threads reside on
each multiprocessor. One number of each of A100 and H100 is from its first row (`block_latency`); those boards up to 256
threads were seen while the law was made, all else when it stood."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract

STREAMS = Path(__file__).parent / "device" / "streams.cu"

THREADS = (32, 128, 256, 512, 1024)

PUBLISHED = {
    "a100_40gb": ((68, 128, 179), (257, 469, 643), (492, 828, 1100), (898, 1303, 1359), (1387, 1378, 1394)),
    "h100_pcie": ((96, 183, 254), (368, 607, 821), (702, 1037, 1399), (1261, 1583, 1675), (1942, 1704, 1832)),
    "v100": ((72, 128, 180), (262, 423, 545), (490, 673, 765), (746, 784, 800), (866, 802, 814)),
    "h200": ((123, 240, 334), (485, 852, 1129), (935, 1395, 1905), (1707, 2263, 2919), (2756, 3165, 3534)),
    "mi210": ((96, 140, 197), (334, 453, 658), (608, 840, 1104), (1055, 1216, 1225), (1345, 1358, 1248)),
}
"""GB/s of read, scale and triad by the threads of a block."""

SHARED = {"a100_40gb": 80 << 10, "h100_pcie": 112 << 10, "v100": 48 << 10, "h200": 112 << 10, "mi210": 32 << 10}
"""Bytes of shared memory of which two blocks fit."""


def ratios(board: str, folder: Path) -> list[float]:
    """Predicted by published times."""
    found = []
    for threads, rates in zip(THREADS, PUBLISHED[board], strict=True):
        text = extract(STREAMS, level="source", flags=(f"-DTHREADS={threads}", f"-DSHARED={SHARED[board]}")).text
        (folder / "streams.aspen").write_text(text, encoding="utf-8")
        model = aspenpy.load_application(folder / "streams.aspen")
        for kernel, words, rate in zip(("read", "scale", "triad"), (1, 2, 3), rates, strict=True):
            runtime = float(aspenpy.predict(model, aspenpy.load_machine(board), kernel=kernel).runtime)
            found.append(runtime * rate * 1e9 / (8 * words * 2**27))
    return found


@pytest.mark.parametrize(
    ("board", "median", "worst"),
    [
        ("a100_40gb", 0.1, 0.25),
        ("h100_pcie", 0.1, 0.25),
        ("v100", 0.12, 0.3),
        ("h200", 0.15, 0.25),
        ("mi210", 0.4, 0.75),
    ],
)
def test_few_warps_attain_less(board: str, median: float, worst: float, tmp_path: Path) -> None:
    errors = sorted(abs(ratio - 1) for ratio in ratios(board, tmp_path))
    assert errors[len(errors) // 2] < median
    assert errors[-1] < worst
