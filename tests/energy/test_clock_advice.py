"""The clock of least energy against measured kernels: what it costs to follow the advice, on both halves of
the kernels, of which one was held back while rules were chosen."""

import os
from pathlib import Path
from statistics import mean, median

import pytest

pytest.importorskip("numpy")

from benchmarks.clock_advice import Advice, advise_a100, advise_gtx, advise_ice_lake, draw_half

DATA = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared")) / "data"
needs_data = pytest.mark.skipif(
    not (DATA / "lulesh_icelake_kernels.csv").exists(),
    reason="the measured data is not beside the checkout (see ASPENPY_SHARED)",
)


@pytest.fixture(scope="module")
def ice_lake() -> list[Advice]:
    """Kernels of LULESH on several threads: with one, runs at 1, 1.2 and 1.8 GHz seem to have had a slower uncore."""
    return advise_ice_lake(DATA, (9, 18))


@needs_data
@pytest.mark.parametrize(
    ("half", "rows", "middle", "average"), [("fitted", 10, 0.02, 0.04), ("held back", 12, 0.025, 0.03)]
)
def test_ice_lake(ice_lake: list[Advice], half: str, rows: int, middle: float, average: float) -> None:
    some = [one for one in ice_lake if one.half == half]
    assert len(some) == rows
    assert median(one.energy for one in some) < middle
    assert mean(one.energy for one in some) < average
    assert mean(one.product for one in some) < 0.035


@needs_data
def test_a_board_at_one_voltage() -> None:
    """Work of its cores takes least at the highest clock, as constant power is paid for a shorter time."""
    found = advise_gtx(DATA)
    for half in ("fitted", "held back"):
        some = [one for one in found if one.half == half]
        assert len(some) == 15
        assert mean(one.energy for one in some) < 0.005
        assert max(one.energy for one in some) < 0.05
        assert mean(one.product for one in some) < 0.005


@needs_data
def test_a100() -> None:
    assert all(one.energy < 0.01 and one.named < 1.1e9 for one in advise_a100(DATA))


def test_halves_are_drawn_from_names_alone() -> None:
    names = [f"kernel {number}" for number in range(9)]
    assert draw_half(names) == draw_half(reversed(names * 2))
    assert len(draw_half(names)) == 4
