"""Reuse distances of a trace of a million references, to 10,000 lines at random: from binary and from text."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import aspenpy
from benchmarks.measure import Benchmark, Subject, seconds

REFERENCES = 1_000_000
LINES = 10_000


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where the traces are while the benchmarks run."""
    return tempfile.TemporaryDirectory(prefix="aspenpy-benchmark-")


def addresses() -> NDArray[np.uint64]:
    """As those of a stack or a heap of a 64-bit system."""
    lines = np.random.default_rng(1).integers(0, LINES, REFERENCES, dtype=np.uint64)
    return np.uint64(0x1FFE000000) + lines * np.uint64(64)


def subject(path: Path) -> Subject:
    words = np.random.default_rng(2).integers(0, 2**63, REFERENCES)

    def is_right(found: aspenpy.ReuseDistances) -> bool:
        # A reference at random finds its line in a full LRU cache of k lines with the probability k/LINES.
        half = found.miss_ratio(LINES // 2)
        return found.references == REFERENCES and found.cold == LINES and abs(half - 0.5) < 0.01

    return Subject(lambda: aspenpy.reuse_distances(path), lambda: np.sort(words, kind="stable"), is_right)


def binary() -> Subject:
    path = Path(folder().name) / "binary.trace"
    addresses().astype("<u8").tofile(path)
    return subject(path)


def text() -> Subject:
    path = Path(folder().name) / "lackey.trace"
    path.write_text("".join(f" L {address:08x},8\n" for address in addresses().tolist()), encoding="utf-8")
    return subject(path)


BASELINE = "sort 1 M words"
# By merging: NumPy's other sort is of vectors, and ten times as fast on processors with long ones.
BINARY = Benchmark("reuse distances, 1 M references in binary", BASELINE, 8, binary, seconds)
TEXT = Benchmark("reuse distances, 1 M references in text", BASELINE, 10, text, seconds)
