"""Words wider than a line: the lines that they lie in, by arithmetic and by a simulator of caches."""

import pytest

import aspenpy

ONE_CACHE = """machine flat { node [1] box }
node box { socket [1] cpu }
socket cpu { core [1] one  cache first  memory plain }
core one { resource flops(n) [n] }
cache first { property capacity [32768]  property cacheline [64]  property associativity [8] }
memory plain { resource loads(n) [n/1e9]  resource stores(n) [n/1e9] }
"""


def found_misses(size: int, pattern: str, *, simulate: bool = False) -> tuple[float, float]:
    """Touches and misses of 20,000 loads of a word of that size."""
    text = f"""model wide {{
      data x [1e9]
      kernel main {{ execute {{ loads [20000] of size [{size}] from x as {pattern} }} }}
    }}"""
    app, machine = aspenpy.parse(text), aspenpy.parse(ONE_CACHE)
    assert isinstance(app, aspenpy.Application)
    assert isinstance(machine, aspenpy.Machine)
    (level,) = aspenpy.traffic(app, machine, simulate=simulate).totals
    return level.reads, level.read_misses


@pytest.mark.parametrize("size", [8, 24, 40, 64, 72, 96, 100, 136, 192, 256, 4096])
def test_entries_of_a_table_lie_in_so_many_lines(size: int) -> None:
    """Of places i * size, for i = 0, 1, ..., the mean number of lines from the first byte to the last."""
    entries = range(64)
    lines = sum((size * i + size - 1) // 64 - size * i // 64 + 1 for i in entries) / len(entries)
    touches, misses = found_misses(size, "random")
    assert touches == pytest.approx(20_000 * lines, rel=1e-12)
    assert misses == pytest.approx(touches, rel=2e-3)  # 512 of 15,625,000 lines are held
    assert found_misses(size, "random", simulate=True) == pytest.approx((touches, misses), rel=0.02)


@pytest.mark.parametrize("size", [64, 256, 4096])
def test_streams_of_wide_words_touch_each_line_once(size: int) -> None:
    assert found_misses(size, "stream") == (20_000 * size / 64, 20_000 * size / 64)
    assert found_misses(size, "stream", simulate=True) == found_misses(size, "stream")
