"""Programs of all generators in caches of all kinds, by formulas and reference by reference: counts, doubt and ranges,
as docs/caches.md publishes them. The model and its limits of doubt were made with others (all seeds below 403,000)."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import Shape, machine_of
from tests.caches.random_programs import FAMILIES
from tests.caches.run_programs import random_run
from tests.caches.test_mixtures import mixture
from tests.caches.test_offsets import offsets_program, stencil_program
from tests.thorough import THOROUGH, some
from tests.tiny import application, machine

SEEDS = range(403_000, 405_500)
FEW = 60
MOST_REFERENCES = 60_000


class Case(NamedTuple):
    data: str
    body: str
    kernels: str
    shape: Shape


def case(seed: int) -> Case:
    """Nine of fifteen are nests, triangles, sweeps, tables or stencils, two have offsets, one is a stencil beside other
    arrays, one a mixture of tables, and two are runs of several blocks."""
    draws, kind = Random(7_000_000 + seed), seed % 15
    kernels = ""
    if kind < 12:
        made = FAMILIES[kind](draws) if kind < 9 else (offsets_program if kind < 11 else stencil_program)(draws)
        data, body = made.data, f"execute {{ {made.requirements} }}"
    elif kind == 12:
        data, requirements = mixture(draws)
        body = f"execute {{ {requirements} }}"
    else:
        run = random_run(draws.randrange(1 << 40))
        while len(run.references) > MOST_REFERENCES:
            run = random_run(draws.randrange(1 << 40))
        data, body, kernels = run.data, run.body, run.kernels
    ways = draws.choice([1, 2, 3, 4, 6, 8, 8, 12, 16, 16])
    powers, others = [16, 32, 64, 64, 64, 128], [15, 24, 48, 60, 72, 96, 100]
    sets = draws.choice(powers) if draws.random() < 0.6 else draws.choice(others)
    return Case(data, body, kernels, ("L1", 64 * ways * sets, ways))


class Outcome(NamedTuple):
    ways: int
    error: float
    told: bool
    covered: bool


def outcome(seed: int) -> Outcome:
    data, body, kernels, shape = case(seed)
    found = Traffic(predict(application(body, data, kernels), machine(machine_of(shape))), simulate=False)
    exact = sum(use.misses for use in Traffic(found.prediction, simulate=True).uses)
    error = abs(sum(use.misses for use in found.uses) - exact) / max(exact, FEW)
    low, high = (sum(getattr(use, side) for use in found.ranged_uses) for side in ("misses_low", "misses_high"))
    return Outcome(shape[2], error, found.edges.are_doubtful, 0.98 * low - 1 <= exact <= 1.02 * high + 1)


def test_counts_and_their_doubt() -> None:
    found = [outcome(seed) for seed in SEEDS[: some(2500, 60)]]
    several = [part for part in found if part.ways >= 8]
    assert sum(part.error <= 0.15 for part in found) >= 0.95 * len(found)
    assert sum(part.error <= 0.05 for part in several) >= (0.95 if THOROUGH else 0.85) * len(several)
    good, large = ([part for part in found if holds(part.error)] for holds in (lambda e: e <= 0.05, lambda e: e > 0.15))
    assert sum(part.told for part in good) <= (0.1 if THOROUGH else 0.25) * len(good)
    if THOROUGH:
        assert sum(part.told for part in large) >= 0.85 * len(large)
        assert sum(part.covered for part in large) >= 0.8 * len(large)
