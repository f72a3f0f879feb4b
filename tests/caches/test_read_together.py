"""Data that all instances of a block load: one copy in a cache that they share."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from aspenpy import AspenError, predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import Reference, counted, machine_of, simulator
from tests.tiny import application, codes, machine

SHAPE = ("L3", 65536, 16)
CORES = 12


def traffic_of(body: str, data: str, simulate: bool = False) -> Traffic:
    prediction = predict(application(f"execute [{CORES}] {{ {body} }}", data), machine(machine_of(SHAPE, cores=CORES)))
    return Traffic(prediction, simulate)


def misses(body: str, data: str) -> float:
    (level,) = traffic_of(body, data).totals
    return level.read_misses


def misses_in_simulator(references: Iterator[Reference]) -> int:
    (oracle,) = counted(simulator(SHAPE), references)
    return oracle.misses


@pytest.mark.parametrize(("size", "sweeps"), [(32768, 1), (32768, 4), (98304, 1), (98304, 3)])
def test_twelve_cores_sweep_one_table(size: int, sweeps: int) -> None:
    """Side by side in the simulator: one of twelve brings each line, as often as the table does not fit."""
    words = size // 8
    side_by_side = (("L", 8 * word, 8) for _ in range(sweeps) for word in range(words) for _ in range(CORES))
    expected = misses_in_simulator(side_by_side)
    asked = f"loads [{words * sweeps}] of size [8] from T as stream, reuse({sweeps})"
    assert misses(f"{asked}, shared", f"data T [{size}]") == expected
    assert misses(asked, f"data T [{size}]") >= CORES * size / 64  # a table of each


@pytest.mark.parametrize("draws", [20000, 10])
def test_draws_of_all_bring_a_line_for_all(draws: int) -> None:
    random = Random(1)
    expected = misses_in_simulator(("L", 8 * random.randrange(4096), 8) for _ in range(CORES * draws))
    found = misses(f"loads [{draws}] of size [8] from T as random, shared", "data T [32768]")
    assert found == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("table", [16384, 49152, 131072, 524288])
@pytest.mark.parametrize("words", [1, 4])
def test_draws_beside_streams_of_each(table: int, words: int) -> None:
    """Each core draws from the one table, and streams through data of its own, which begin in sets of their own."""
    count, random = 6000, Random(2)

    def references() -> Iterator[Reference]:
        for turn in range(count):
            for core in range(CORES):
                yield "L", 8 * random.randrange(table // 8), 8
                for word in range(words):
                    yield "L", ((core + 1) << 24) + 320 * core + 8 * (words * turn + word), 8

    body = (
        f"loads [{count}] of size [8] from T as random, shared "
        f"loads [{words * count}] of size [8] from X as nest(8, {words}, {8 * words}, {count})"
    )
    found = misses(body, f"data T [{table}] data X [{8 * words * count * CORES}]")
    assert found == pytest.approx(misses_in_simulator(references()), rel=0.1)


def test_a_table_swept_beside_data_of_each() -> None:
    """The cache has room for a copy of each beside the streams, and no more: a bound where it would be one."""
    words, count = 64, 400

    def references() -> Iterator[Reference]:
        for turn in range(count):
            for word in range(words):
                for core in range(CORES):
                    yield "L", 8 * word, 8
                    yield "L", ((core + 1) << 24) + 320 * core + 8 * (words * turn + word), 8

    body = (
        f"loads [{words * count}] of size [8] from T as nest(8, {words}, 0, {count}), shared "
        f"loads [{words * count}] of size [8] from X as nest(8, {words}, {8 * words}, {count})"
    )
    found = misses(body, f"data T [{8 * words}] data X [{8 * words * count * CORES}]")
    assert found == pytest.approx(misses_in_simulator(references()), rel=0.01)


def test_what_is_not_shared_is_of_each() -> None:
    """Twelve parts of a table, and a table of each that does not fit."""
    part = "loads [512] of size [8] from T as stream, reuse(2)"
    assert misses(part, "data T [49152]") == CORES * 512 / 2 * 8 / 64
    whole = "loads [16384] of size [8] from T as stream, reuse(4)"
    assert misses(whole, "data T [32768]") == CORES * 4 * 512
    assert misses(f"{whole}, shared", "data T [32768]") == 512


def test_one_instance_shares_with_nobody() -> None:
    asked = "loads [16384] of size [8] from T as stream, reuse(4)"
    alone = [f"execute {{ {asked}{more} }}" for more in ("", ", shared")]
    found = [
        Traffic(predict(application(body, "data T [98304]"), machine(machine_of(SHAPE, cores=CORES)))).totals
        for body in alone
    ]
    assert found[0] == found[1]


def test_a_simulation_of_one_is_refused() -> None:
    with pytest.raises(AspenError) as refusal:
        _ = traffic_of("loads [10] of size [8] from T as stream, shared", "data T [80]", simulate=True).totals
    assert codes(refusal.value) == ["shared-simulation"]
