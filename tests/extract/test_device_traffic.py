"""Bytes between caches and memory of kernels that run once, on the library's boards: no fewer than the distinct sectors
that all threads touch, no more than those that their warps ask for, each counted thread by thread in NumPy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import aspenpy
from aspenpy.record import Record
from tests.extract.test_device import AMD, extracted
from tests.thorough import THOROUGH

Words = npt.NDArray[np.int64]
Place = Callable[[Words, Words, Words], Words]

NVIDIA_BOARDS = """p100 v100 a100_40gb a100_64gb a100_80gb h100 h100_64gb h100_nvl h100_pcie h20 h200 b200
    l4 l40s rtx_4090 rtx_5090""".split()
AMD_BOARDS = "mi210 mi300a mi300x mi325x mi355x".split()
BOARDS = NVIDIA_BOARDS + AMD_BOARDS
EVERY = 1 if THOROUGH else 7

ROUNDING = 0.006
"""Of rows at the edges of a star in three dimensions, and of the last sector."""


class Launch(Record):
    """A kernel of a grid of blocks: the words that each thread loads from `x`, and stores to `y`."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    loads: dict[str, Place]
    store: tuple[str, Place]

    @property
    def text(self) -> str:
        (bx, by, bz), value = self.block, " + ".join(f"x[{index}]" for index in self.loads)
        grid, block = (", ".join(map(str, part)) for part in (self.grid, self.block))
        return f"""__global__ void f(float *__restrict__ y, const float *__restrict__ x) {{
  int i = blockIdx.x*{bx} + threadIdx.x, j = blockIdx.y*{by} + threadIdx.y, k = blockIdx.z*{bz} + threadIdx.z;
  y[{self.store[0]}] = {value};
}}
int main() {{
  float *x, *y;
  cudaMalloc(&x, 1 << 28);
  cudaMalloc(&y, 1 << 28);
  f<<<dim3({grid}), dim3({block})>>>(y, x);
}}
"""

    def count(self, places: list[Place], unit: int, warp: int) -> tuple[int, int]:
        """Bytes of the distinct units of all threads, and of those that each warp asks for at each access."""
        (gx, gy, gz), (bx, by, bz) = self.grid, self.block
        k, j, i = (part.ravel() for part in np.indices((gz * bz, gy * by, gx * bx)))
        block = (k // bz * gy + j // by) * gx + i // bx
        lane = (k % bz * by + j % by) * bx + i % bx
        warps = block * -(-bx * by * bz // warp) + lane // warp
        units = [4 * place(i, j, k) // unit for place in places]
        asked = sum(len(np.unique(warps << 32 | each)) for each in units)
        return unit * len(np.unique(np.concatenate(units))), unit * asked


def star(*steps: int) -> dict[str, Place]:
    """The middle and its neighbours along axes whose steps in words these are, the fastest first."""
    middle = sum(steps)
    axes = [*steps, *[0] * (3 - len(steps))]

    def place(shift: int) -> Place:
        return lambda i, j, k: axes[0] * i + axes[1] * j + axes[2] * k + middle + shift

    index = f"{axes[0]}*i + {axes[1]}*j + {axes[2]}*k + {middle}"
    return {f"{index} + ({shift})": place(shift) for step in (0, *steps) for shift in sorted({step, -step})}


def walk(*steps: int, first: int = 0) -> tuple[str, Place]:
    axes = [*steps, *[0] * (3 - len(steps))]
    return (
        f"{axes[0]}*i + {axes[1]}*j + {axes[2]}*k + {first}",
        lambda i, j, k: axes[0] * i + axes[1] * j + axes[2] * k + first,
    )


def copy(grid: tuple[int, int, int], block: tuple[int, int, int], *steps: int, first: int = 0) -> Launch:
    one = walk(*steps, first=first)
    return Launch(grid, block, dict([one]), one)


def stencil(grid: tuple[int, int, int], block: tuple[int, int, int]) -> Launch:
    sides = [blocks * threads for blocks, threads in zip(grid, block, strict=True) if blocks * threads > 1]
    steps = [1]
    for side in sides[:-1]:
        steps.append(steps[-1] * (side + 2))
    return Launch(grid, block, star(*steps), walk(*steps, first=sum(steps)))


LAUNCHES = {
    "copy": copy((1024, 1, 1), (256, 1, 1), 1),
    "misaligned copy": copy((1024, 1, 1), (256, 1, 1), 1, first=9),
    "rows of 1027 words": copy((32, 32, 1), (32, 8, 1), 1, 1027, first=1),
    "narrow rows": copy((64, 16, 1), (16, 16, 1), 1, 1026),
    "every third word": copy((1024, 1, 1), (256, 1, 1), 3),
    "every 33rd word": copy((256, 1, 1), (256, 1, 1), 33),
    "transpose": Launch((16, 64, 1), (32, 8, 1), dict([walk(1, 512)]), walk(512, 1)),
    "square of 5 points": stencil((16, 64, 1), (32, 8, 1)),
    "flat 5 points": stencil((64, 3, 1), (32, 8, 1)),
    "tall 5 points": stencil((3, 64, 1), (32, 8, 1)),
    "row of blocks of 5 points": stencil((128, 1, 1), (32, 8, 1)),
    "cube of 7 points": stencil((4, 32, 32), (32, 4, 2)),
    "flat 7 points": stencil((8, 32, 3), (32, 4, 2)),
    "one plane of blocks of 7 points": stencil((8, 32, 1), (32, 4, 2)),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_memory_traffic_lies_between_distinct_and_asked_sectors(name: str, tmp_path: Path) -> None:
    launch, number = LAUNCHES[name], [*LAUNCHES].index(name)
    models = {}
    for warp, file, flags in ((32, "program.cu", ()), (64, "program.hip", AMD)):
        models[warp] = tmp_path / f"of_{warp}.aspen"
        models[warp].write_text(extracted(launch.text, tmp_path, file, flags=flags).text, encoding="utf-8")
    for board in BOARDS[number % EVERY :: EVERY]:
        warp = 64 if board in AMD_BOARDS else 32
        machine = aspenpy.load_machine(board)
        found = aspenpy.traffic(aspenpy.load_application(models[warp]), machine)
        last = found.levels[-1]
        sizes = {"unit": last.unit} | {level.name: level.line for level in found.levels}
        unit, *lines = (int(size) for size in found.prediction.scope.numbers(sizes).values())
        pieces = unit if warp == 32 else max(lines)
        moved = {
            array: [
                (use.fetched, use.written_back) for use in found.uses if (use.array, use.level) == (array, last.name)
            ]
            for array in "xy"
        }
        loaded, stored = sum(each for each, _ in moved["x"]), sum(each for _, each in moved["y"])
        allocated = sum(each for each, _ in moved["y"])
        for bytes_moved, places in ((loaded, [*launch.loads.values()]), (stored, [launch.store[1]])):
            fewest, _ = launch.count(places, unit, warp)
            _, most = launch.count(places, pieces, warp)
            assert (1 - ROUNDING) * fewest <= bytes_moved <= (1 + ROUNDING) * most, (board, bytes_moved, fewest, most)
        assert allocated <= (1 + ROUNDING) * launch.count([launch.store[1]], pieces, warp)[1], board


def test_neighbours_bring_what_they_share_once(tmp_path: Path) -> None:
    """16 x 64 blocks of a stencil on a board with 40 MB of second cache: memory sends each distinct sector once."""
    launch = LAUNCHES["square of 5 points"]
    (tmp_path / "model.aspen").write_text(extracted(launch.text, tmp_path).text, encoding="utf-8")
    found = aspenpy.traffic(aspenpy.load_application(tmp_path / "model.aspen"), aspenpy.load_machine("a100_40gb"))
    last = [use for use in found.uses if use.level == found.levels[-1].name]
    loaded, stored = (sum(getattr(use, name) for use in last) for name in ("fetched", "written_back"))
    assert loaded == pytest.approx(launch.count([*launch.loads.values()], 32, 32)[0], rel=0.002)
    assert stored == pytest.approx(launch.count([launch.store[1]], 32, 32)[0], rel=0.002)


GATHER = """__global__ void f(double *y, const double *x, const int *at) {
  int i = blockIdx.x*256 + threadIdx.x;
  y[i] = x[at[i]];
}
int main() {
  double *x, *y;
  int *at;
  cudaMalloc(&x, BYTES);
  cudaMalloc(&y, 8 << 24);
  cudaMalloc(&at, 4 << 24);
  f<<<(1 << 24)/256, 256>>>(y, x, at);
}
"""


@pytest.mark.parametrize(("power", "board"), [(20, "v100"), (24, "a100_80gb"), (24, "h100"), (22, "mi210")])
def test_a_table_that_the_second_cache_holds_comes_once(power: int, board: str, tmp_path: Path) -> None:
    """2**24 words at random, in tables of 1 to 16 MiB: memory sends each sector or line once."""
    text, amd = GATHER.replace("BYTES", f"1 << {power}"), board.startswith("mi")
    found = extracted(text, tmp_path, "program.hip" if amd else "program.cu", flags=AMD if amd else ())
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    traffic = aspenpy.traffic(aspenpy.load_application(tmp_path / "model.aspen"), aspenpy.load_machine(board))
    (table,) = [use for use in traffic.uses if use.array == "x" and use.level == traffic.levels[-1].name]
    assert table.fetched == pytest.approx(1 << power, rel=0.02)


@pytest.mark.parametrize("board", ["v100", "a100_80gb", "h100"])
def test_words_of_a_large_table_take_a_sector_each(board: str, tmp_path: Path) -> None:
    (tmp_path / "model.aspen").write_text(
        extracted(GATHER.replace("BYTES", "1l << 34"), tmp_path).text, encoding="utf-8"
    )
    traffic = aspenpy.traffic(aspenpy.load_application(tmp_path / "model.aspen"), aspenpy.load_machine(board))
    (table,) = [use for use in traffic.uses if use.array == "x" and use.level == traffic.levels[-1].name]
    assert table.fetched == pytest.approx(32 << 24, rel=0.01)
