"""What caches of real processors do otherwise: sectors of lines, stores that fetch nothing, neighbours of lines that a
prefetcher has learnt to bring, first caches that stores go through."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

import aspenpy
from aspenpy import load_machine, predict, traffic
from aspenpy.answers.traffic import Traffic, Use
from aspenpy.models.library import load_application
from tests.caches.programs import machine_of, modelled
from tests.tiny import application, machine

# -- sectors ---------------------------------------------------------------------------------------

LINE, SECTOR = 128, 32


def sectors_fetched(places: Iterable[int], size: int, ways: int) -> int:
    """A cache of lines whose sectors come one by one, LRU: sectors fetched by words of 4 bytes."""
    sets: list[dict[int, set[int]]] = [{} for _ in range(size // (ways * LINE))]
    fetched = 0
    for place in places:
        line, sector = place // LINE, place % LINE // SECTOR
        here = sets[line % len(sets)]
        present = here.pop(line, set())
        fetched += sector not in present
        here[line] = present | {sector}
        if len(here) > ways:
            del here[next(iter(here))]
    return fetched


BOARDS = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "models" / "machines").glob("*.aspen")
    if not path.stem.startswith("grace")  # a processor
    and re.search(r"^// vendor: NVIDIA$", text := path.read_text(encoding="utf-8"), re.MULTILINE)
    and re.search(r"^// year: 20(1[6-9]|2\d)$", text, re.MULTILINE)
)
"""NVIDIA's since Pascal: a request takes 32 bytes at a time (CUDA C++ best practices guide, 10.2.1)."""


@pytest.mark.parametrize("name", BOARDS)
def test_a_random_word_takes_a_sector_of_memory(name: str) -> None:
    """Of a table of 8 GB that no cache holds; of a superchip, the board's."""
    machine_of_library = load_machine(name)
    app = application("execute { loads [100000] of size [8] from a as random }", "data a [8e9]")
    sockets = [None, *(socket for socket in machine_of_library.sockets if "nvidia" in socket)]
    found = traffic(app, machine_of_library, socket=sockets[-1])
    assert found.totals[-1].bytes == pytest.approx(100_000 * SECTOR, rel=0.01)


def of_sectors(size: int, ways: int) -> str:
    text = machine_of(("L2", size, ways), more=f"property sector [{SECTOR}]")
    return text.replace("property cacheline [64]", f"property cacheline [{LINE}]")


def bytes_fetched(found: Traffic) -> float:
    return sum(use.fetched for use in found.uses)


@pytest.mark.parametrize(
    ("trait", "loops"),
    [
        ("stream", [(4, 8192)]),
        ("stride(64)", [(64, 4096)]),
        ("stride(256)", [(256, 2048)]),
        ("nest(4096, 64, 4, 256)", [(4096, 64), (4, 256)]),  # columns of 64 lines that stay
        ("nest(4096, 1024, 4, 64)", [(4096, 1024), (4, 64)]),  # columns that do not
        ("nest(4, 2048, 0, 4)", [(4, 2048), (0, 4)]),
    ],
)
def test_sectors_of_loops(trait: str, loops: list[tuple[int, int]]) -> None:
    places = [0]
    for stride, trips in loops:
        places = [place + stride * trip for trip in range(trips) for place in places]
    requirement = f"loads [{len(places)}] of size [4] from X as {trait}"
    found = modelled(requirement, f"data X [{max(places) + 4}]", of_sectors(1 << 16, 16))
    assert bytes_fetched(found) == pytest.approx(SECTOR * sectors_fetched(places, 1 << 16, 16), rel=0.01)


@pytest.mark.parametrize("table", [1 << 15, 1 << 16, 3 << 15, 1 << 17, 1 << 18, 1 << 20, 1 << 23])
@pytest.mark.parametrize("draws", [2_000, 20_000, 200_000])
def test_sectors_of_tables(table: int, draws: int) -> None:
    """A line that stays has not all of its sectors. Lines come and go as if drawn, sectors within a line too."""
    random = Random(1)
    exact = sectors_fetched((4 * random.randrange(table // 4) for _ in range(draws)), 1 << 16, 16)
    requirement = f"loads [{draws}] of size [4] from X as random"
    found = modelled(requirement, f"data X [{table}]", of_sectors(1 << 16, 16))
    assert bytes_fetched(found) == pytest.approx(SECTOR * exact, rel=0.05)


@pytest.mark.parametrize("name", ["p100", "v100", "a100_40gb", "a100_80gb", "h100", "h200"])
def test_random_words_cost_a_sector(name: str) -> None:
    """A miss of a V100 fetches the sectors of 32 bytes that missed (NVIDIA's developer forum); the others as it."""
    model = application("execute { loads [1e6] of size [4] from X as random }", "data X [32e9]")
    assert bytes_fetched(traffic(model, load_machine(name), simulate=False)) / 1e6 / 2 == pytest.approx(32, rel=0.01)


def test_simulated_sectors() -> None:
    model = application("execute { loads [4096] of size [4] from X as stride(256) }", "data X [1048576]")
    found = traffic(model, machine(of_sectors(1 << 16, 16)), simulate=True)
    assert bytes_fetched(found) == SECTOR * 4096
    assert [note.code for note in found.edge_notes] == ["sectors-as-lines"]


# -- stores that fetch nothing ---------------------------------------------------------------------

EVADING = machine_of(("LLC", 1 << 20, 16), more="property store_evasion [0.8]", cores=9)
FROM_ONE_ON = EVADING.replace("[0.8]", "[0.8] property store_evasion_cores [1]")


@pytest.mark.parametrize(
    ("text", "cores", "share"), [(EVADING, 1, 0.8), (FROM_ONE_ON, 1, 0), (FROM_ONE_ON, 5, 0.4), (FROM_ONE_ON, 9, 0.8)]
)
@pytest.mark.parametrize("simulate", [False, True])
def test_share_of_stores_that_evade(text: str, cores: int, share: float, simulate: bool) -> None:
    """It grows evenly with the cores at work; lines are written back either way."""
    model = application(f"execute [{cores}] {{ stores [8e5] of size [8] to X as stream }}", "data X [6.4e6]")
    (use,) = traffic(model, machine(text), simulate=simulate).uses
    assert use.fetched == pytest.approx((1 - share) * 6.4e6 * cores)
    assert use.written_back == pytest.approx(6.4e6 * cores)


@pytest.mark.parametrize(
    ("requirements", "fetched"),
    [
        ("stores [1e5] of size [8] to X as stride(64)", 6.4e6),  # a word of each line
        ("loads [8e5] of size [8] from X as stream stores [8e5] of size [8] to X as stream", 6.4e6),  # an update
        ("stores [8e5] of size [8] to X as nest(8000, 800, 8, 1000)", 6.4e6),  # columns
        ("stores [8e5] of size [8] to X as nest(8, 1000, 8000, 800)", 1.28e6),  # rows that go on: one run
        ("stores [8e5] of size [8] to X as random", None),
    ],
)
def test_lines_that_are_not_stored_in_full(requirements: str, fetched: float | None) -> None:
    with_it, without = (
        bytes_fetched(modelled(requirements, "data X [6.4e6]", text))
        for text in (EVADING, EVADING.replace("property store_evasion [0.8]", ""))
    )
    assert with_it == pytest.approx(without if fetched is None else fetched, rel=0.01)


def test_short_rows_have_lines_at_their_ends() -> None:
    """Runs of 160 bytes at any word: (160 - 64 + 8)/64 of (160 - 8 + 64)/64 lines are stored from end to end."""
    found = modelled("stores [20000] of size [8] to X as nest(8, 20, 1000, 1000)", "data X [1e6]", EVADING)
    assert bytes_fetched(found) == pytest.approx(1000 * (216 - 0.8 * 104), rel=0.01)


STREAMS = """
model streams {
  param cores = 1
  param n = 1e9
  data a as Array(n, 8)
  data b as Array(n, 8)
  data c as Array(n, 8)
  data d as Array(n, 8)
  kernel main { call copy }
  kernel copy { execute [cores] {
    loads [n/cores] of size [8] from a as stream
    stores [n/cores] of size [8] to b as stream } }
  kernel update { execute [cores] {
    loads [n/cores] of size [8] from a as stream
    stores [n/cores] of size [8] to a as stream } }
  kernel triad { execute [cores] {
    loads [n/cores] of size [8] from a as stream
    loads [n/cores] of size [8] from b as stream
    stores [n/cores] of size [8] to c as stream } }
  kernel schoenauer { execute [cores] {
    loads [n/cores] of size [8] from a as stream
    loads [n/cores] of size [8] from b as stream
    loads [n/cores] of size [8] from d as stream
    stores [n/cores] of size [8] to c as stream } }
}
"""
WORDS = {"copy": 16, "update": 16, "triad": 24, "schoenauer": 32}


def gigabytes(name: str, kernel: str, cores: int, **settings: float) -> float:
    """Bandwidth as STREAM counts it."""
    model = aspenpy.parse(STREAMS)
    assert isinstance(model, aspenpy.Application)
    found = predict(model, load_machine(name), kernel=kernel, set={"cores": cores, **settings})
    return WORDS[kernel] / float(found.runtime)


@pytest.mark.parametrize(
    ("kernel", "cores", "measured"),
    [
        ("copy", 1, 14.51),
        ("schoenauer", 1, 14.99),
        ("copy", 36, 2 * 74.46),  # of a half, all 18 cores; all 36 run partly in caches
        ("update", 36, 2 * 74.69),
        ("schoenauer", 36, 2 * 81.32),
    ],
)
def test_ice_lake(kernel: str, cores: int, measured: float) -> None:
    """likwid-bench on a Platinum 8360Y (RRZE-HPC/kerncraft, IcelakeSP_Platinum-8360Y.yml): on all cores a copy is as
    fast as an update, which fetches no line that it does not load. The share is chosen by all cores, not by one."""
    assert gigabytes("xeon_platinum_8360y", kernel, cores) == pytest.approx(measured, rel=0.05)


def test_sapphire_rapids() -> None:
    """Part of the lines: copy and update of a quarter, 47.34 and 61.1 GB/s (SapphireRapids_Platinum-8470.yml). The
    share is chosen by these two."""
    copy, update = (gigabytes("xeon_platinum_8470", kernel, 52) for kernel in ("copy", "update"))
    assert copy / update == pytest.approx(47.34 / 61.1, rel=0.02)


def test_grace() -> None:
    """The least that NVIDIA's benchmarking guide expects of STREAM on 480 GB, by which the library has the
    bandwidth of the memory: no line of the target is fetched in it."""
    assert gigabytes("grace", "triad", 72) == pytest.approx(307, rel=0.01)


def test_a64fx() -> None:
    """Without cleared lines a copy of a quarter is 137.4 GB/s (FX700, kerncraft); with them STREAM's triad is "more
    than 0.80" of 1,024 GB/s (Fujitsu, 2018)."""
    assert gigabytes("a64fx", "copy", 48) == pytest.approx(4 * 137.4, rel=0.02)
    assert 0.80 * 1024 < gigabytes("a64fx", "triad", 48, a64fx_zfill=1) < 0.84 * 1024


# -- neighbours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["xeon_platinum_8280", "xeon_gold_6148", "xeon_platinum_8180"])
@pytest.mark.parametrize(("step", "measured"), [(50, 8.49e6), (200, 2.0e6)])
def test_lines_of_a_strided_product(name: str, step: int, measured: float) -> None:
    """Lines that a Cascade Lake read of 100 million floats, at 200 bytes and at 800. The library's reach is chosen
    by the second, so that only the first is a check of it."""
    found = traffic(load_application("strided_multiply"), load_machine(name), set={"step": step}, simulate=False)
    last = [use for use in found.uses if use.level == found.totals[-1].name]
    assert bytes_of(last) / 64 == pytest.approx(measured, rel=0.07)


def bytes_of(uses: Iterable[Use]) -> float:
    return sum(use.fetched for use in uses)


@pytest.mark.parametrize("stride", [64, 128, 200, 800, 1600, 2048, 3000])
def test_simulated_neighbours(stride: int) -> None:
    """Two levels bring the same neighbours, and those of a line once."""
    text = machine_of(
        ("L2", 1 << 16, 8), ("L3", 1 << 20, 16), more="property prefetch [2] property prefetch_reach [2048]"
    )
    model = application(f"execute {{ loads [20000] of size [4] from X as stride({stride}) }}", "data X [6e7]")
    counted, formula = (
        traffic(model, machine(text), simulate=simulate).totals[-1].bytes / 64 for simulate in (True, False)
    )
    assert counted == pytest.approx(formula, rel=0.01)


# -- stores through the first cache ----------------------------------------------------------------


def test_stores_of_a_power9() -> None:
    """Words go on to the second cache one by one, and the first fetches nothing for them; loads fetch half a line."""
    power9 = load_machine("power9")
    model = application("execute { stores [1e6] of size [8] to X as stream }", "data X [8e6]")
    first, second, _ = traffic(model, power9, simulate=False).uses
    assert (first.fetched, first.written_back, second.accesses, second.fetched) == (0, 8e6, 1e6, 8e6)
    model = application("execute { loads [1e5] of size [8] from X as stride(256) }", "data X [2.56e7]")
    first, second, _ = traffic(model, power9, simulate=False).uses
    assert (first.fetched, second.fetched) == (64e5, 128e5)
