"""Loops of nearly equal strides, which touch the same lines, against the exact simulator."""

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import machine_of
from tests.tiny import application, machine


@pytest.mark.parametrize("size", [32768, 262144])
@pytest.mark.parametrize("order", [128, 256, 500, 512])
def test_two_rows_and_a_diagonal(order: int, size: int) -> None:
    """A[k + a][j - k] for a = 0, 1: each line but the first was touched in the pass before. Within 5 %."""
    row = 4 * order
    walk = f"nest({row}, 2, {row - 4}, {order}, 4, {order})"
    app = application(
        f"execute {{ loads [{2 * order**2}] of size [4] from A as {walk} }}", f"data A [{4 * row * order}]"
    )
    prediction = predict(app, machine(machine_of(("L1", size, 8))))
    (found,), (counted,) = (Traffic(prediction, simulated).totals for simulated in (False, True))
    assert found.read_misses == pytest.approx(counted.read_misses, rel=0.05)
