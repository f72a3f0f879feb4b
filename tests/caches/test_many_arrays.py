"""More arrays than ways, in step: where each begins decides, and follows from the sizes of those before it."""

import pytest

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import machine_of
from tests.tiny import application, machine


@pytest.mark.parametrize("size", [8 * 12_500, 8 * 16_384])
def test_forty_arrays_in_step(size: int) -> None:
    """Sizes of no power of two spread them over a cache, and those of one do not: as the references are counted."""
    names = [f"X{number}" for number in range(40)]
    data = " ".join(f"data {name} [{size}]" for name in names)
    loads = " ".join(f"loads [{size // 8}] of size [8] from {name} as stream" for name in names)
    prediction = predict(application(f"execute {{ {loads} }}", data), machine(machine_of(("L2", 524_288, 8))))
    found, exact = (Traffic(prediction, simulate=played).totals[0].read_misses for played in (False, True))
    assert found == pytest.approx(exact, rel=0.01)
    assert found == 40 * (size // 8 if size & (size - 1) == 0 else -(-size // 64))


def test_a_stride_finds_what_a_sweep_of_all_has_left() -> None:
    """Every other line of what was stored before it, all of which the cache holds."""
    body = """iterate [12] {
      execute { loads [96] of size [8] from X as stride(128) }
      execute { stores [1536] of size [8] to X as stream } }"""
    prediction = predict(application(body, "data X [12288]"), machine(machine_of(("L1", 16_384, 4))))
    (level,) = Traffic(prediction, simulate=False).totals
    (exact,) = Traffic(prediction, simulate=True).totals
    assert (exact.read_misses, exact.write_misses) == (96, 96)
    assert level.read_misses + level.write_misses == pytest.approx(
        192, rel=0.2
    )  # 1,250 if the stores were crowded into the sets of the stride
