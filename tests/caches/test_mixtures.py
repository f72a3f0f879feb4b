"""Tables, streams and arrays that are swept again in one block: formulas against exact simulation.

`test_simulation.py` holds that to the simulator of the tests. docs/trust.md states the errors of the seeds in
`HELD_BACK`, which were looked at when the model was finished.
"""

from __future__ import annotations

from random import Random

import pytest

from aspenpy import traffic
from tests.caches.programs import machine_of
from tests.caches.random_programs import Layout, access
from tests.thorough import some
from tests.tiny import application, machine

CACHES = (("L1", 8192, 8), ("L1", 16384, 8), ("L1", 32768, 16), ("L1", 32768, 8))

HELD_BACK = range(1000, 1120)

FEW = 60
"""Misses below which an error counts as one of so many."""


def mixture(draws: Random) -> tuple[str, str]:
    """One to three tables, drawn from by one or two loads, or updated; up to two streams; perhaps a sweep again."""
    layout, requirements, count = Layout(), list[str](), draws.randint(3000, 20000)
    for _ in range(draws.randint(1, 3)):
        name, _ = layout.array(draws.randint(200, 9000))
        drawn = int(count * draws.choice([1, 1, 0.5, 0.25]))
        requirements += [access(letter, drawn, name, "random") for letter in draws.choice(["L", "L", "LS", "LL"])]
    for _ in range(draws.randint(0, 2)):
        name, _ = layout.array(count)
        requirements.append(access("L", count, name, "stream"))
    if draws.random() < 0.6:
        times = draws.choice([5, 10, 20])
        name, _ = layout.array(count // times)
        requirements.append(access("L", count // times * times, name, f"stream, reuse({times})"))
    return layout.data, " ".join(requirements)


def error(seed: int) -> float:
    """Of the misses of a mixture, as a share of those that are counted."""
    draws = Random(seed)
    data, requirements = mixture(draws)
    app, shape = application(f"execute {{ {requirements} }}", data), machine(machine_of(draws.choice(CACHES)))
    (model,), (exact,) = (traffic(app, shape, simulate=how).totals for how in (False, True))
    counted = exact.read_misses + exact.write_misses
    return abs(model.read_misses + model.write_misses - counted) / max(counted, FEW)


def test_errors_of_mixtures() -> None:
    errors = sorted(map(error, HELD_BACK[: some(len(HELD_BACK), 24)]))
    assert errors[len(errors) // 2] <= 0.01
    assert errors[-1] <= 0.1


def test_two_tables_of_a_cache_each() -> None:
    """Two tables of 32 KiB in 32 KiB: half of each is there, so that half of the draws miss."""
    draws = 1_000_000
    requirements = " ".join(access("L", draws, name, "random") for name in ("A", "B"))
    app = application(f"execute {{ {requirements} }}", "data A [32768] data B [32768]")
    (level,) = traffic(app, machine(machine_of(("L1", 32768, 8))), simulate=False).totals
    assert level.read_misses == pytest.approx(draws, rel=0.005)


def test_a_table_that_fits_beside_a_sweep_evicts_nothing() -> None:
    """A table of 4 KiB and an array of 8 KiB in 16 KiB: each line is fetched once."""
    requirements = " ".join([access("L", 20480, "A", "random"), access("L", 20480, "B", "stream, reuse(20)")])
    app = application(f"execute {{ {requirements} }}", "data A [4096] data B [8192]")
    (level,) = traffic(app, machine(machine_of(("L1", 16384, 8))), simulate=False).totals
    assert level.read_misses == pytest.approx((4096 + 8192) / 64, rel=0.001)


def test_streams_beside_a_table_in_one_way() -> None:
    """Between two words of a line of a stream a draw comes by: in one way of 64 sets each
    of 1,500 lines is lost to a draw before its next word with the chance 1/64."""
    requirements = " ".join([access("L", 12000, "T", "random"), access("L", 12000, "A", "stream, at(0)")])
    app = application(f"execute {{ {requirements} }}", "data T [65536] data A [96000]")
    (model,), (exact,) = (
        traffic(app, machine(machine_of(("L1", 4096, 1))), simulate=how).totals for how in (False, True)
    )
    (stream,) = (
        use.misses
        for use in traffic(app, machine(machine_of(("L1", 4096, 1))), simulate=False).uses
        if use.array == "A"
    )
    assert stream == pytest.approx(12000 / 8 * (1 + 7 / 64), rel=0.02)
    assert model.read_misses == pytest.approx(exact.read_misses, rel=0.05)
