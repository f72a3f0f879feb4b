"""gemm: flops and bytes by hand, and products by shape as XLA's authors measured them on an H100."""

import math
from statistics import median

import pytest

import aspenpy

# b, m, n, k and measured Tflop/s of bfloat16: openxla/xla, xla/service/gpu/model/matmul_interpolator_data.h, `sm_90`.
# The tile and how a kernel begins were chosen with other rows of that table.
MEASURED = """
2 4096 512 512 340.7   4 2048 256 256 136.1   1 256 1024 1024 72.5   4 1024 256 512 135.8   1 2048 256 512 77.3
1 1024 256 256 22.0    1 2048 256 4096 307.5  4 4096 2048 256 458.5  4 1024 256 4096 384.0  2 4096 4096 4096 807.7
2 512 256 4096 168.6   2 4096 2048 512 546.4  2 512 256 512 40.3     2 2048 1024 2048 629.4 2 256 4096 1024 358.4
1 512 1024 2048 216.5  1 512 256 1024 39.3    1 256 256 2048 31.1    2 2048 256 1024 217.2  1 4096 512 256 142.5
1 2048 4096 1024 594.2 4 4096 2048 4096 808.7 4 1024 4096 1024 674.9 1 4096 4096 2048 738.7 1 512 512 2048 114.7
4 2048 2048 1024 674.0 2 2048 512 2048 518.7  2 256 256 4096 91.3    2 512 4096 1024 486.7  2 4096 4096 256 464.0
1 4096 512 4096 650.0  1 4096 1024 256 216.5  1 1024 4096 1024 490.3 1 256 4096 256 78.0    2 256 256 256 11.6
4 512 2048 2048 629.4  2 1024 512 2048 347.7  4 2048 256 512 235.5   1 256 4096 4096 412.0  1 4096 1024 4096 738.5
4 256 2048 2048 478.5  1 1024 256 4096 169.7  4 1024 256 256 80.9    2 512 256 256 21.7     1 256 2048 512 78.2
2 1024 256 1024 136.4  2 4096 256 2048 508.4  1 2048 256 256 43.6    2 1024 1024 2048 519.2 4 256 512 2048 204.6
4 512 256 1024 132.4   1 4096 2048 256 304.0  4 512 1024 2048 518.2  4 2048 256 4096 561.9  2 256 2048 1024 226.3
2 4096 4096 512 607.7  2 4096 1024 1024 598.2 1 1024 256 512 40.9    1 256 512 512 22.0     4 256 1024 2048 327.8
1 4096 2048 4096 758.4 4 4096 4096 2048 764.6 4 256 256 1024 71.4    2 512 2048 1024 371.3  4 1024 2048 1024 598.2
1 2048 2048 1024 493.9 2 4096 512 1024 487.2  1 256 1024 512 41.8    4 2048 4096 1024 688.6 4 512 512 2048 343.3
4 4096 512 256 298.6   2 1024 2048 2048 631.2 4 512 512 256 77.5     1 1024 1024 512 145.6  4 4096 512 2048 703.6
"""


def shapes() -> list[tuple[int, int, int, int, float]]:
    numbers = MEASURED.split()
    rows = [numbers[at : at + 5] for at in range(0, len(numbers), 5)]
    return [(int(b), int(m), int(n), int(k), 1e12 * float(rate)) for b, m, n, k, rate in rows]


def test_counts() -> None:
    app = aspenpy.load_application("gemm")
    values = {"batch": 3, "rows": 100, "columns": 200, "depth": 300}
    assert float(aspenpy.count(app, "flops", set=values)) == 2 * 3 * 100 * 200 * 300
    assert float(aspenpy.count(app, "stores", set=values)) == 3 * 100 * 200 * 2
    assert float(aspenpy.count(app, "loads", kernel="multiply", set=values)) == 3 * (100 * 300 + 300 * 200) * 2


@pytest.mark.parametrize(("rows", "columns", "waves"), [(11, 12, 1), (11, 13, 2), (22, 12, 2), (11.5, 12, 2)])
def test_tiles_go_in_waves(rows: float, columns: int, waves: int) -> None:
    # 132 multiprocessors, a tile each: one tile more takes another wave. A tile that is not full has less to do.
    app, machine = aspenpy.load_application("gemm"), aspenpy.load_machine("h100")
    values = {"rows": 64 * rows, "columns": 64 * columns, "depth": 1e5}
    time = aspenpy.predict(app, machine, kernel="multiply", set=values).runtime - 2.7e-6
    tile = 2 * 64 * 64 * 1e5 / (0.744 * 989.4e12 / 132)
    assert time == pytest.approx(waves * tile * rows / math.ceil(rows), rel=0.001)


def test_products_by_shape_held_back() -> None:
    app, machine = aspenpy.load_application("gemm"), aspenpy.load_machine("h100")
    factors = []
    for batch, rows, columns, depth, rate in shapes():
        values = {"batch": batch, "rows": rows, "columns": columns, "depth": depth}
        time = aspenpy.predict(app, machine, set=values).runtime
        factors.append(math.exp(abs(math.log(time * rate / (2 * batch * rows * columns * depth)))))
    assert len(factors) == 75
    assert median(factors) < 1.07
    assert max(factors) < 1.21
