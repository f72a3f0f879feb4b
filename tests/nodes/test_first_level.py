"""Loads beside stores in the first cache of a core, against likwid-bench (kerncraft, and RRZE's ECM-Model)."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.peaks import value_of
from tests.tiny import application

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
MEASURED = SHARED / "data" / "hardware" / "cpu_memory.csv"

MACHINES = {
    "Xeon E5-2680": "xeon_e5_2670",
    "Xeon E5-2660 v2": "xeon_e5_2637_v2",
    "Xeon E5-2695 v3": "xeon_e5_2698_v3",
    "Xeon Gold 6148": "xeon_gold_6148",
    "Xeon Gold 6248": "xeon_platinum_8280",
    "Xeon Platinum 8360Y": "xeon_platinum_8360y",
    "Xeon Platinum 8470": "xeon_platinum_8470",
    "EPYC 7452": "epyc_7742",
    "EPYC 7543": "epyc_7763",
}
"""Whose numbers stand in for those of which machine of the library."""

AT_ONCE = {"Xeon E5-2680", "Xeon E5-2660 v2", "Xeon Platinum 8470", "EPYC 7543"}
"""Those that take stores beside loads, and so are up to a quarter faster in a triad than with either alone."""

KERNELS = {"load": (1, 0), "copy": (1, 1), "STREAM triad": (2, 1), "Schoenauer triad": (3, 1), "store": (0, 1)}
"""Arrays loaded and stored."""


def bytes_a_cycle(name: str, kernel: str) -> float:
    """Over the clock, of 4 kB in each array."""
    loads, stores = KERNELS[kernel]
    arrays = [*((f"A{k}", "loads", "from") for k in range(loads)), *(("B", "stores", "to") for _ in range(stores))]
    needs = " ".join(f"{kind} [512000] of size [8] {side} {x} as stream, reuse(1000), warm" for x, kind, side in arrays)
    app = application(f"execute {{ {needs} }}", " ".join(f"data {x} [4096]" for x, _, _ in arrays))
    machine = aspenpy.load_machine(name)
    core = machine.first_core(None)
    assert core is not None
    clock = float(value_of(core.component.value("clock"), machine.definitions))
    return 8 * 512_000 * len(arrays) / aspenpy.predict(app, machine).runtime / clock


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)")
@pytest.mark.parametrize("kernel", KERNELS)
def test_bytes_a_cycle(kernel: str) -> None:
    errors = {}
    for row in csv.DictReader(MEASURED.read_text(encoding="utf-8").splitlines()):
        processor, quantity = row["processor"], f"L1 bandwidth one core {kernel}"
        if (row["quantity"], row["unit"]) == (quantity, "B/cy") and processor in MACHINES:
            errors[processor] = bytes_a_cycle(MACHINES[processor], kernel) / float(row["value"]) - 1
    assert len(errors) >= 3
    outside = {name for name, error in errors.items() if abs(error) > 0.15}
    assert outside <= (AT_ONCE if "triad" in kernel else set())
