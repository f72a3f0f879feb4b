"""Lines that memory sent and took in two programs, on four generations of processors, with and without prefetchers."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from aspenpy.answers.traffic import Traffic, traffic
from aspenpy.models.library import load_application
from tests.caches.programs import LINE, machine_of
from tests.tiny import application, machine

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
MEASURED = SHARED / "data" / "dram_traffic_measured.csv"

LAST = ("LLC", 32 << 20, 16)
"""About what the four have; the data are many times that."""

TRIAD = (
    "loads [5e7] of size [8] from b as stream loads [5e7] of size [8] from c as stream "
    "stores [5e7] of size [8] to a as stream"
)


def lines_of_memory(found: Traffic) -> tuple[float, float]:
    """Read and written, of 64 bytes."""
    return sum(use.fetched for use in found.uses) / LINE, sum(use.written_back for use in found.uses) / LINE


def predicted(program: str, prefetch: bool) -> tuple[float, float]:
    text = machine(machine_of(LAST, more="property prefetch [2]" if prefetch else ""))
    if program == "stream_triad":
        data = "data a [4e8] data b [4e8] data c [4e8]"
        return lines_of_memory(traffic(application(f"execute {{ {TRIAD} }}", data), text))
    return lines_of_memory(traffic(load_application("strided_multiply"), text))


def test_by_hand() -> None:
    """The triad moves 6.25 million lines of each vector, a fetched before it is written. Of the strided product, two
    million lines of a and of b are read, with the neighbours of 1 - 200/4096 of them, and four lines of the system's
    for each of 97,657 new pages, which lie side by side; c's 6.25 million lines are written."""
    assert predicted("stream_triad", False) == predicted("stream_triad", True) == (18.75e6, 6.25e6)
    assert predicted("vecmul_stride50", False) == (4e6 + 97_657 * 4, 97_657 * 64)
    assert predicted("vecmul_stride50", True) == pytest.approx((8e6 - 4e6 * 200 / 4096 + 97_657 * 4, 97_657 * 64))


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)")
def test_measured_lines() -> None:
    """Within 10 %, but for what Broadwell reads in the strided product with its prefetchers on: 10.3 million lines,
    more than two for each access, which a neighbour fetched with every miss does not explain."""
    with MEASURED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    outside = []
    for row in rows:
        found = predicted(row["app"], row["prefetch"] == "on")
        for model, column in zip(found, ("read_lines64B", "write_lines64B"), strict=True):
            if abs(model - float(row[column])) > 0.1 * float(row[column]):
                outside.append((row["app"], row["uarch"], row["prefetch"], column))
    assert len(rows) == 20
    assert outside == [("vecmul_stride50", "Broadwell", "on", "read_lines64B")]
