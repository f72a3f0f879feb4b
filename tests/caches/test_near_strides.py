"""Loops of nearly equal strides, which touch the same lines, against the exact simulator."""

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import machine_of
from tests.tiny import application, machine

JUST_FULL = {(512, 2, 32768): 0.08, (512, 8, 49152): 0.25}
"""Passes that touch a line more than fits: order, rows and size of the cache, and how far the count is off."""


@pytest.mark.parametrize("size", [32768, 49152, 262144])
@pytest.mark.parametrize("rows", [2, 3, 8])
@pytest.mark.parametrize("order", [128, 256, 500, 512, 1000])
def test_rows_and_a_diagonal(order: int, rows: int, size: int) -> None:
    """A[k + a][j - k] for a = 0, 1, ...: each line but the first was touched in the pass before, or the pass goes on to
    the line beside it in one of 16. The same by numbers, by the trips, and by a parameter of which nothing is known."""
    row = 4 * order
    walks = [f"nest({row}, {rows}, {row - 4}, {order}, 4, {order})"]
    walks += [f"nest(4*{name}, {rows}, 4*{name} - 4, P, 4, P)" for name in ("P", "M")]
    for walk in walks:
        app = application(
            f"execute {{ loads [{rows * order**2}] of size [4] from A as {walk} }}",
            f"param P = {order} param M = {order} data A [{4 * row * order}]",
        )
        prediction = predict(app, machine(machine_of(("L1", size, 8))))
        (found,), (counted,) = (Traffic(prediction, simulated).totals for simulated in (False, True))
        near = JUST_FULL.get((order, rows, size), 0.05)
        assert found.read_misses == pytest.approx(counted.read_misses, rel=near)
