"""montecarlo: nuclides of an average look-up, lines of a search, flops by hand."""

from math import ceil, log2

import pytest

import aspenpy

MATERIALS = {5: 0.052, 4: 0.409, 27: 0.154, 21: 0.208, 9: 0.038, 321: 0.139}
"""Probability of meeting a material with so many nuclides; fuel is what remains to 1."""
LOOKUPS = 1000


def count(resource: str, kernel: str = "main", **values: float) -> float:
    return float(
        aspenpy.count(
            aspenpy.load_application("montecarlo"), resource, kernel=kernel, set={"lookups": LOOKUPS, **values}
        )
    )


def test_probabilities_add_up() -> None:
    assert sum(MATERIALS.values()) == pytest.approx(1, rel=1e-12)


def test_flops_of_an_average_look_up() -> None:
    # 55.4 nuclides, 3 flops for the weight and 5 channels of 3 + 2.
    nuclides = sum(number * probability for number, probability in MATERIALS.items())
    assert count("flops") == pytest.approx(LOOKUPS * nuclides * 28, rel=1e-12)
    assert nuclides == pytest.approx(55.38, abs=0.01)


def test_a_search_halves_four_million_energies() -> None:
    # 355 * 11303 = 4,012,565 energies, between 2^21 and 2^22: 22 lines of 64 bytes.
    assert count("loads", kernel="search_energy") == LOOKUPS * 22 * 64
    assert ceil(log2(355 * 11303)) == 22


def test_lines_of_an_average_look_up() -> None:
    # Indices of 4 bytes, 16 in a line; two grid points of 6 numbers, 96 bytes in 2 lines.
    lines = sum(probability * (ceil(number / 16) + 2 * number) for number, probability in MATERIALS.items())
    assert count("loads") == pytest.approx(LOOKUPS * 64 * (22 + lines), rel=1e-12)


def test_the_small_benchmark_has_fewer_nuclides() -> None:
    # 34 nuclides in fuel, 68 * 11303 energies: 20 steps.
    fewer = sum((34 if number == 321 else number) * probability for number, probability in MATERIALS.items())
    assert count("flops", nuclides=68, fuel_nuclides=34) == pytest.approx(LOOKUPS * fewer * 28, rel=1e-12)
    assert count("loads", kernel="search_energy", nuclides=68, fuel_nuclides=34) == LOOKUPS * 20 * 64


@pytest.mark.parametrize("ranks", [1, 8])
def test_ranks_share_the_look_ups(ranks: int) -> None:
    # Then a number in log2(ranks) rounds.
    assert count("flops", ranks=ranks) == pytest.approx(count("flops"), rel=1e-12)
    assert count("messages", ranks=ranks) == ranks * log2(ranks) * 8


def test_the_tables_take_six_gigabytes() -> None:
    # XSBench prints 5649 MB, which are MiB, for the large problem (recalled). A point of the unionised grid has an
    # energy and 355 indices; a point of a nuclide's grid 6 numbers.
    montecarlo = aspenpy.load_application("montecarlo")
    scope = aspenpy.predict(montecarlo, aspenpy.load_machine("simple")).scope
    tables = [montecarlo.data[name].size for name in ("union_energies", "union_indices", "nuclide_grids")]
    volume = sum(scope.values(tables))
    assert volume == 355 * 11303 * (8 + 355 * 4 + 6 * 8)
    assert volume / 2**20 == pytest.approx(5649, rel=1e-3)
