"""Random affine programs against the exact simulator: the distribution of the errors, which docs/caches.md states."""

from __future__ import annotations

from tests.caches.programs import counted, machine_of, modelled, simulator
from tests.caches.random_programs import CACHES, Program, programs
from tests.thorough import THOROUGH, some

SMALL = 60
"""Lines below which a share means little: an error counts as one of so many."""


def error(program: Program, shape: tuple[str, int, int]) -> float:
    """Of the misses of a program in a cache, as a share of what the simulator counts."""
    (found,) = counted(simulator(shape), program.references)
    (model,) = modelled(program.requirements, program.data, machine_of(shape)).totals
    assert (model.reads, model.writes) == (found.reads, found.writes)
    return abs(model.read_misses + model.write_misses - found.misses) / max(found.misses, SMALL)


def within(errors: list[float], share: float) -> float:
    return sum(part <= share for part in errors) / len(errors)


def test_errors_of_random_programs() -> None:
    """Each in one of the caches by turns; all of many in all caches if thorough."""
    several, few = list[float](), list[float]()
    for number, program in enumerate(programs(1, some(2000, 100))):
        for shape in CACHES if THOROUGH else (CACHES[(number + number // 9) % len(CACHES)],):
            errors = several if shape[2] >= 8 else few
            errors.append(error(program, shape))
    assert sorted(several)[len(several) // 2] <= 0.001
    assert within(several, 0.05) >= 0.9
    assert within(several, 0.3) >= 0.995
    assert sorted(few)[len(few) // 2] <= 0.02
    assert within(few, 0.15) >= 0.9
