"""Models that learn, on measurements of others: what they were not shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspenpy.learn.estimators.model_files import KINDS
from aspenpy.learn.estimators.trees import search_settings
from aspenpy.learn.estimators.validation import PredictionErrors, Split, validate
from aspenpy.report.learnt import share_inside
from tests.thorough import slow, thorough

DATA = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared")) / "data"
LULESH, KERNELS = "lulesh_icelake_app.csv", "lulesh_icelake_kernels.csv"
CODES, CARD = "spechpc_tiny_icelake.csv", "gpu_dvfs_gtx1080ti.csv"
EDGES = (
    "core_frequency in (1600, 2000) and memory_frequency in (4000, 5500)"
    " or core_frequency in (1700, 1800, 1900) and memory_frequency == 4000"
    " or core_frequency == 1800 and memory_frequency == 5500"
)
"""Eight of the twenty configurations of the card, all on its edge."""

ONE_SOCKET = "threads <= 36"

LITERAL = {"direction": "none", "predictors": ("DP", "memory_bandwidth")}
CORES = {"direction": "none", "predictors": ("DP", "memory_bandwidth", "threads")}
SOCKETS = {"direction": "none", "predictors": ("DP", "memory_bandwidth", "threads", "ceil(threads/36)")}
BY_CODE, BY_CODE_ON_ONE = Split(None, None, "app"), Split(ONE_SOCKET, None, "app")
BETWEEN = Split("threads in (4, 18)", "threads < 18 and threads != 4")
SPEEDUP = Split("threads == 1 or freq_label == 1.0", "threads <= 18 and threads > 1 and freq_label > 1")

CASES: dict[str, tuple[str, str, dict[str, Any], Split, int, float]] = {
    "COS to more threads": ("cos", LULESH, {}, Split("threads in (4, 6)"), 144, 4.3),
    "COS, stall form": ("cos", LULESH, {"form": "stall"}, Split("threads in (4, 6)"), 144, 3.8),
    "COS between": ("cos", LULESH, {}, BETWEEN, 144, 3.4),
    "speedup": ("power-aware", LULESH, {}, SPEEDUP, 153, 10.3),
    "clocks of a card": ("cos", CARD, {"form": "clocks"}, Split(EDGES), 360, 1.05),
    "literal power": ("acee", CODES, LITERAL, BY_CODE_ON_ONE, 285, 14.3),
    "active cores": ("acee", CODES, CORES, BY_CODE_ON_ONE, 285, 4.4),
    "counters chosen": ("acee", CODES, {}, BY_CODE_ON_ONE, 285, 4.5),
    "two sockets": ("acee", CODES, SOCKETS, BY_CODE, 563, 5.2),
    "kernels left out": ("acee", KERNELS, {}, Split(None, None, "region"), 1782, 6.3),
}
"""Model, data, options, split, how many predictions, and the mean error in percent that they stay below."""

SLOW = {"kernels left out", "two sockets"}
needs_data = pytest.mark.skipif(
    not DATA.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)"
)


def validated(kind: str, file: str, options: dict[str, Any], split: Split) -> PredictionErrors:
    model = KINDS[kind](**options)
    return validate(model, model.sheet(DATA / file), split)


@needs_data
@pytest.mark.parametrize("name", [pytest.param(name, marks=slow) if name in SLOW else name for name in CASES])
def test_held_out(name: str) -> None:
    kind, file, options, split, asked, most = CASES[name]
    found = validated(kind, file, options, split)
    assert found.test is not None
    assert found.test.n == asked
    assert found.test.mean_error_percent < most
    assert found.test.max_error_percent < 60
    if kind == "acee":
        share = share_inside(found)
        assert share is not None
        assert 0.9 < share < 0.98


@thorough
@needs_data
def test_slowdown_of_codes_left_out() -> None:
    """Thirty codes, each unknown to the trees: 3.2 % of the runtime at other clocks of core and memory."""
    found = validated("bandwidth", CARD, {}, Split(None, None, "application"))
    assert found.test is not None
    assert (found.test.n, len(found.groups)) == (570, 30)
    assert found.test.mean_error_percent < 3.2


def test_a_search_says_how_far_it_is() -> None:
    draw = np.random.default_rng(0)
    matrix = draw.random((300, 13))
    target = 0.3 * (matrix[:, 0] > 0.5) * matrix[:, 1] + 0.05 * draw.normal(size=300)
    told: list[tuple[int, int]] = []
    grid = {"trees": (5, 10), "depth": (3,), "rate": (0.1,)}
    search_settings(matrix, target, grid, 0.5, lambda done, total: told.append((done, total)), 1)
    assert told == [(done, 10) for done in range(1, 11)]
