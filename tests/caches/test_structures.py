"""Several patterns on one data structure, and streams beside data that are swept again: first touches count once."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tests.caches.programs import PAGE, Reference, Walk, counted, machine_of, modelled, modelled_nest, nest, simulator
from tests.caches.random_programs import access
from tests.thorough import some, thorough

WORD = 8
CACHE = ("L1", 8192, 8)
LARGE = ("L1", 1 << 20, 16)


def test_an_update_in_place_misses_once() -> None:
    """The store finds what the load has just brought."""
    alone, updated = (
        modelled(
            " ".join(access(letter, 40_000, "T", "random") for letter in letters), "data T [64000]", machine_of(CACHE)
        )
        for letters in ("L", "LS")
    )
    assert updated.totals[0].read_misses == alone.totals[0].read_misses
    assert updated.totals[0].write_misses == 0


def test_two_draws_from_one_table_share_its_first_touches() -> None:
    """20,000 draws and 20,000 draws touch what 40,000 do: nearly all of 1,000 lines, once each in a large cache."""
    twice = access("L", 20_000, "T", "random")
    model = modelled(f"{twice} {twice}", "data T [64000]", machine_of(LARGE))
    assert model.totals[0].read_misses == pytest.approx(1000, rel=1e-6)


def test_a_table_beside_a_stream() -> None:
    """What passes through the cache pushes the table out: within 3 %."""
    draws, base = Random(4), 8 * 40_000
    for words in (600, 1500, 4000):
        references: list[Reference] = []
        for turn in range(40_000):
            references += [("L", WORD * turn, WORD), ("L", base + WORD * draws.randrange(words), WORD)]
        (found,) = counted(simulator(CACHE), references)
        requirements = f"{access('L', 40_000, 'S', 'stream')} {access('L', 40_000, 'T', 'random')}"
        model = modelled(requirements, f"data S [320000] data T [{8 * words}]", machine_of(CACHE))
        assert model.totals[0].read_misses == pytest.approx(found.misses, rel=0.03)


@pytest.mark.parametrize("inner", [30, 62, 120, pytest.param(200, marks=thorough)])
@pytest.mark.parametrize("points", [4, 5, 9])
def test_sweeps_in_place(points: int, inner: int) -> None:
    """Gauss and Seidel's sweep: each line comes once where three rows fit into the cache: within 4 %."""
    row, references = inner + 2, list[Reference]()
    around = [(y, x) for y, x in product((-1, 0, 1), repeat=2) if points == 9 or not x * y]
    around = [place for place in around if points != 4 or place != (0, 0)]
    for down, along in product(range(1, inner + 1), repeat=2):
        at = down * row + along
        references += [("L", WORD * (at + row * y + x), WORD) for y, x in around]
        references.append(("S", WORD * at, WORD))
    (found,) = counted(simulator(CACHE), references)
    written = f"nest(8, {inner}, {8 * row}, {inner})"
    requirements = [access("L", points * inner**2, "A", f"stencil({points}, {inner}, {inner})")]
    requirements.append(access("S", inner**2, "A", written))
    for order in (requirements, requirements[::-1]):
        model = modelled(" ".join(order), f"data A [{8 * row * row}]", machine_of(CACHE))
        assert model.totals[0].read_misses + model.totals[0].write_misses == pytest.approx(found.misses, rel=0.04)
        assert model.totals[0].write_misses == 0


def paths(order: int) -> list[Walk]:
    """d[i][j] = min(d[i][j], d[i][k] + d[k][j])."""
    row = WORD * order
    return [
        Walk("L", 0, WORD, ((WORD, order), (row, order), (0, order))),
        Walk("L", 0, WORD, ((0, 1), (row, order), (WORD, order))),
        Walk("L", 0, WORD, ((WORD, order), (0, order), (row, order))),
        Walk("S", 0, WORD, ((WORD, order), (row, order), (0, order))),
    ]


def square(order: int) -> list[Walk]:
    """C = A*A."""
    row, result = WORD * order, -(-WORD * order * order // PAGE) * PAGE
    return [
        Walk("L", 0, WORD, ((WORD, order), (0, order), (row, order))),
        Walk("L", 0, WORD, ((row, order), (WORD, order), (0, order))),
        Walk("S", result, WORD, ((0, 1), (WORD, order), (row, order))),
    ]


def symmetric(order: int) -> list[Walk]:
    """A = A + A transposed, in place."""
    row = WORD * order
    return [
        Walk("L", 0, WORD, ((WORD, order), (row, order))),
        Walk("L", 0, WORD, ((row, order), (WORD, order))),
        Walk("S", 0, WORD, ((WORD, order), (row, order))),
    ]


@pytest.mark.parametrize("walks", [paths, square, symmetric])
@pytest.mark.parametrize("order", [16, 28, pytest.param(40, marks=thorough), pytest.param(53, marks=thorough)])
def test_several_walks_over_one_array(walks, order: int) -> None:
    """Where the array fits into the cache, and where it does not: within 12 %, and 25 % for the paths, whose misses of
    d[i][k] spare d[i][j] some."""
    for shape in (CACHE, LARGE):
        (found,) = counted(simulator(shape), nest(walks(order)))
        (model,) = modelled_nest(walks(order), machine_of(shape)).totals
        assert model.read_misses + model.write_misses == pytest.approx(
            found.misses, rel=0.25 if walks is paths else 0.12
        )


@pytest.mark.parametrize("order", [50, 200, some(1000, 300)])
def test_a_stream_beside_a_row_that_is_swept_again(order: int) -> None:
    """A product of a matrix and a vector: all lines of the matrix come, whatever is swept beside it."""
    size = order * order
    requirements = f"{access('L', size, 'A', 'stream')} {access('L', size, 'x', f'stream, reuse({order})')}"
    data = f"data A [{8 * size}] data x [{8 * order}]"
    model = modelled(requirements, data, machine_of(LARGE))
    misses = {use.array: use.misses for use in model.uses}
    assert misses == {"A": pytest.approx(size / 8, abs=1), "x": pytest.approx(order / 8, abs=1)}


@pytest.mark.parametrize("sweeps", [(10, 1), (10, 1, 5), (4, 6, 1)])
def test_streams_swept_a_different_number_of_times(sweeps: tuple[int, ...]) -> None:
    """Each keeps the first touches of all its lines; in a small cache none finds them again but those that fit."""
    total, requirements, data = 6000, [], []
    for number, times in enumerate(sweeps):
        requirements.append(access("L", total, f"X{number}", "stream" + (f", reuse({times})" if times > 1 else "")))
        data.append(f"data X{number} [{8 * total // times}]")
    model = modelled(" ".join(requirements), " ".join(data), machine_of(LARGE))
    assert [use.misses for use in model.uses] == [pytest.approx(total / times / 8) for times in sweeps]
    references = [
        ("L", (number << 20) + WORD * (turn % (total // times)), WORD)
        for turn in range(total)
        for number, times in enumerate(sweeps)
    ]
    (found,) = counted(simulator(CACHE), references)
    small = modelled(" ".join(requirements), " ".join(data), machine_of(CACHE))
    assert small.totals[0].read_misses == pytest.approx(found.misses, rel=0.02)


@pytest.mark.parametrize("inner", [20, 60])
def test_a_stencil_swept_again_beside_a_nest(inner: int) -> None:
    """`reuse` is one more loop of both; the second cache holds the grids from sweep to sweep."""
    row, result, references = inner + 2, 1 << 20, list[Reference]()
    for _, down, along in product(range(3), range(1, inner + 1), range(1, inner + 1)):
        at = down * row + along
        references += [("L", WORD * (at + beside), WORD) for beside in (0, -1, 1, -row, row)]
        references.append(("S", result + WORD * at, WORD))
    shapes = (CACHE, ("L2", 1 << 18, 8))
    found = counted(simulator(*shapes), references)
    requirements = [
        access("L", 15 * inner**2, "A", f"stencil(5, {inner}, {inner}), reuse(3)"),
        access("S", 3 * inner**2, "B", f"nest(8, {inner}, {8 * row}, {inner}), reuse(3)"),
    ]
    model = modelled(" ".join(requirements), f"data A [{8 * row * row}] data B [{8 * row * row}]", machine_of(*shapes))
    for simulated, level in zip(found, model.totals, strict=True):
        assert level.read_misses + level.write_misses == pytest.approx(simulated.misses, rel=0.06)


def test_a_distance_keeps_first_touches() -> None:
    """1,000 lines of T are each touched first once; the others are 10 lines away, and stay."""
    requirement = "loads [1e5] of size [8] from T as rd(10)"
    cold = modelled(requirement, "data T [64000]", machine_of(LARGE)).totals[0].read_misses
    assert cold == pytest.approx(1000, rel=1e-6)
    warm = modelled(f"{requirement}, warm", "data T [64000]", machine_of(LARGE)).totals[0].read_misses
    assert warm == pytest.approx(0, abs=1e-6)
    assert modelled("loads [10] of size [8] from T as rd(5)", "data T [64000]", machine_of(LARGE)).totals[0].reads == 10
