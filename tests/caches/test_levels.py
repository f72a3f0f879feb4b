"""What a machine says of its caches: sharing, inclusion, policies, stores, bandwidths, who is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import pytest

import aspenpy
from aspenpy import AspenError, predict
from aspenpy.answers.traffic import Traffic, traffic
from tests.caches.programs import LINE, Reference, Shape, Walk, counted, machine_of, modelled, modelled_nest, simulator
from tests.tiny import application, codes, machine

WORD = 8
SMALL: Shape = ("L1", 16384, 8)

# -- sharing ---------------------------------------------------------------------------------------


def in_turn(instances: int, traces: Iterable[Iterable[int]]) -> Iterator[Reference]:
    """A reference of each instance after the other, each to data of its own."""
    for places in zip(*traces, strict=True):
        for instance, place in zip(range(instances), places, strict=True):
            yield "L", (instance << 24) + place, WORD


@pytest.mark.parametrize("count", [300, 500, 700, 1000, 1300])
@pytest.mark.parametrize("instances", [2, 3, 4])
def test_sweeps_that_share_a_cache(instances: int, count: int) -> None:
    """Each set holds the lines of all: what an instance finds room for is its part of the ways."""
    sweep = [WORD * place for place in range(count)] * 10
    (found,) = counted(simulator(SMALL), in_turn(instances, [sweep] * instances))
    requirement = f"loads [{10 * count}] of size [8] from X as stream, reuse(10)"
    text = machine_of(SMALL, cores=instances)
    (model,) = modelled(requirement, f"data X [{8 * count}]", text, f"execute [{instances}]").totals
    assert model.read_misses == pytest.approx(found.misses, rel=1e-9)


@pytest.mark.parametrize("count", [1000, 4000])
@pytest.mark.parametrize("instances", [1, 2, 4])
def test_tables_that_share_a_cache(instances: int, count: int) -> None:
    draws = Random(2)
    traces = [[WORD * draws.randrange(count) for _ in range(10_000)] for _ in range(instances)]
    (found,) = counted(simulator(SMALL), in_turn(instances, traces))
    text = machine_of(SMALL, cores=instances)
    requirement = "loads [10000] of size [8] from X as random"
    (model,) = modelled(requirement, f"data X [{8 * count}]", text, f"execute [{instances}]").totals
    assert model.read_misses == pytest.approx(found.misses, rel=0.03)


def test_distances_are_longer_where_others_share() -> None:
    """Four instances at a distance of 100 lines are as one at 400."""
    alone = modelled("loads [1000] of size [8] as rd(400)", "", machine_of(SMALL)).totals[0].read_misses
    text = machine_of(SMALL, cores=4)
    shared = modelled("loads [1000] of size [8] as rd(100)", "", text, "execute [4]").totals[0].read_misses
    assert shared == pytest.approx(4 * alone)


# -- inclusion -------------------------------------------------------------------------------------


class Exclusive:
    """Two fully associative levels that never hold the same line: what leaves the first enters the second."""

    def __init__(self, lines: Iterable[int], first: int, second: int) -> None:
        near: dict[int, None] = {}
        far: dict[int, None] = {}
        self.missed = self.given = 0
        for line in lines:
            if line in near:
                del near[line]
            elif line in far:
                del far[line]
            else:
                self.missed += 1
            near[line] = None
            if len(near) > first:
                victim = next(iter(near))
                del near[victim]
                far[victim] = None
                self.given += 1
            if len(far) > second:
                del far[next(iter(far))]


@pytest.mark.parametrize("inclusion", ["exclusive", "victim"])
@pytest.mark.parametrize("count", [12, 20, 40, 44, 48, 49, 60])
def test_exclusive_levels_add_up(inclusion: str, count: int) -> None:
    """16 lines and 32 hold 48. The first gives the second each line that it brings in, but for what it holds at the
    end."""
    text = machine_of(("L1", 16 * LINE, 16), ("L2", 32 * LINE, 32)).replace(
        "cache L2 {", f"cache L2 {{ property inclusion [{inclusion}]"
    )
    requirement = f"loads [{5 * count}] of size [64] from X as stream, reuse(5)"
    found = modelled(requirement, f"data X [{64 * count}]", text)
    counted_lines = Exclusive([*range(count)] * 5, 16, 32)
    first, second = found.uses
    assert second.misses == pytest.approx(counted_lines.missed)
    assert first.victims / LINE == pytest.approx(counted_lines.given + min(16, count))
    assert first.bytes == first.fetched + first.victims
    assert ("victims" in str(found)) == (first.victims > 0)


def test_dirty_lines_are_written_back_and_no_victims() -> None:
    text = machine_of(("L1", 16 * LINE, 16), ("L2", 32 * LINE, 32)).replace(
        "cache L2 {", "cache L2 { property inclusion [victim]"
    )
    (first, _) = modelled("stores [100] of size [64] to X as stream", "data X [6400]", text).uses
    assert (first.fetched, first.written_back, first.victims) == (6400, 6400, 0)


def test_inclusive_levels_do_not() -> None:
    text = machine_of(("L1", 16 * LINE, 16), ("L2", 32 * LINE, 32))
    model = modelled("loads [200] of size [64] from X as stream, reuse(5)", "data X [2560]", text).totals[1]
    assert model.read_misses == 200


# -- policies --------------------------------------------------------------------------------------

PAIR: tuple[Shape, ...] = (("L1", 4096, 4), ("L2", 16384, 8))


@pytest.mark.parametrize("count", [400, 600, 1800, 2200, 4000])
def test_pseudo_lru_is_modelled_as_lru(count: int) -> None:
    """Within 10 % for sweeps, and said."""
    found = counted(simulator(*PAIR, policy="plru"), [("L", WORD * k, WORD) for _ in range(10) for k in range(count)])
    requirement = f"loads [{10 * count}] of size [8] from X as stream, reuse(10)"
    model = modelled(requirement, f"data X [{8 * count}]", machine_of(*PAIR, policy="plru"))
    for simulated, level in zip(found, model.totals, strict=True):
        assert level.read_misses == pytest.approx(simulated.misses, rel=0.1)
    notes = [diagnostic for diagnostic in model.diagnostics if diagnostic.code == "modelled-as-lru"]
    assert [note.severity for note in notes] == ["note", "note"]


@pytest.mark.parametrize("ways", [2, 4, 8, 16])
@pytest.mark.parametrize("hot", [1, 2, 3, 4, 6, 8, 12])
def test_pseudo_lru_of_hot_lines_beside_a_stream(ways: int, hot: int) -> None:
    """One set: some lines again and again, and one that passes behind each. A line stays while no more lines than ways
    are in use, as if the least recently used went: after some turns, a tree of pointers does the same."""
    shape, trips = ("L1", ways * LINE, ways), 40
    walks = [
        Walk("L", 0, 8, ((LINE, hot), (0, trips))),
        Walk("L", 1 << 20, 8, ((LINE, hot), (LINE * hot, trips))),
    ]
    turns = [
        [place for k in range(hot) for place in (LINE * k, (1 << 20) + LINE * (hot * trip + k))]
        for trip in range(2 * trips)
    ]
    before, later = ([("L", place, 8) for turn in part for place in turn] for part in (turns[:trips], turns[trips:]))
    (found,) = counted(simulator(shape, policy="plru"), later, before=before)
    first, second = modelled_nest(walks, machine_of(shape, policy="plru")).uses
    assert (first.misses - hot) / (trips - 1) + second.misses / trips == found.misses / trips


def test_pseudo_lru_of_a_table() -> None:
    draws = Random(3)
    (found,) = counted(simulator(PAIR[0], policy="plru"), [("L", 8 * draws.randrange(4000), 8) for _ in range(30_000)])
    (model,) = modelled(
        "loads [30000] of size [8] from X as random", "data X [32000]", machine_of(PAIR[0], policy="plru")
    ).totals
    assert model.read_misses == pytest.approx(found.misses, rel=0.01)


# -- stores ----------------------------------------------------------------------------------------


def bytes_between(model: Traffic) -> list[tuple[float, float]]:
    """Fetched and written back by each level."""
    return [
        (
            sum(use.fetched for use in model.uses if use.level == level.name),
            sum(use.written_back for use in model.uses if use.level == level.name),
        )
        for level in model.totals
    ]


STORED = "stores [4096] of size [8] to X as stream"


def test_stores_fetch_before_they_write() -> None:
    """512 lines come and go. The simulator keeps what fits: with it, all is written once it is flushed."""
    caches = simulator(*PAIR)
    counted(caches, [("S", 8 * place, 8) for place in range(4096)])
    caches.flush()
    assert (caches.memory.lines_read, caches.memory.lines_written) == (512, 512)
    model = modelled(STORED, "data X [32768]", machine_of(*PAIR))
    assert bytes_between(model) == [(32768, 32768)] * 2


def test_no_allocate_sends_each_word_on() -> None:
    """4,096 stores miss and go on word by word; the next level takes whole lines."""
    text = machine_of(*PAIR).replace("cache L1 {", "cache L1 { property writes [no_allocate]")
    caches = simulator(*PAIR)
    caches.levels[0].allocate = False
    first, second = counted(caches, [("S", 8 * place, 8) for place in range(4096)])
    model = modelled(STORED, "data X [32768]", text)
    assert [level.write_misses for level in model.totals] == [first.write_misses, second.write_misses] == [4096, 512]
    assert [level.writes for level in model.totals] == [first.writes, second.writes] == [4096, 4096]
    assert bytes_between(model) == [(0, 32768), (32768, 32768)]


def test_no_allocate_hits_what_loads_brought() -> None:
    """a[i] = a[i] + 1 finds its line."""
    text = machine_of(PAIR[0], more="property writes [no_allocate]")
    caches = simulator(PAIR[0], allocate=False)
    references = [(letter, 8 * place, 8) for place in range(4096) for letter in "LS"]
    (found,) = counted(caches, references)
    model = modelled(f"loads [4096] of size [8] from X as stream {STORED}", "data X [32768]", text)
    assert model.totals[0].write_misses == found.write_misses == 0
    assert bytes_between(model) == [(32768, 32768)]


def test_streaming_stores_write_whole_lines_without_a_fetch() -> None:
    model = modelled(STORED, "data X [32768]", machine_of(*PAIR, more="property writes [streaming]"))
    assert bytes_between(model) == [(0, 32768)] * 2


# -- time ------------------------------------------------------------------------------------------

TIMED = """
machine M { node box }
node box { socket chip }
socket chip { core C cache L2 memory D MORE }
core C { property outstanding [4] resource flops(x) [x] cache L1 }
cache L1 { property capacity [4096] property associativity [4] property cacheline [64] property bandwidth [FIRST] }
cache L2 { property capacity [16384] property associativity [8] property cacheline [64] property bandwidth [SECOND] }
memory D {
  property latency [100] resource loads(x) [x/1000] resource stores(x) [x/1000] conflict loads, stores
}
"""

SWEPT = "loads [20000] of size [8] from X as stream, reuse(10)"
"""16,000 bytes: they fit into the second cache, and not into the first."""


def timed(first: str, second: str, more: str = "", requirement: str = SWEPT) -> aspenpy.Prediction:
    text = TIMED.replace("FIRST", first).replace("SECOND", second).replace("MORE", more)
    return predict(application(f"execute {{ {requirement} }}", "data X [16000]"), machine(text))


@pytest.mark.parametrize(
    ("first", "second", "resource", "seconds"),
    [
        ("1000", "1e6", "L1", 160),  # 160,000 bytes asked for
        ("1e6", "1000", "L2", 160),  # 10 x 250 lines fetched by the first
        ("1e6", "1e6", "loads", 16),  # 250 lines of memory, at 1,000 bytes a second
    ],
)
def test_the_level_that_is_waited_for(first: str, second: str, resource: str, seconds: float) -> None:
    found = timed(first, second)
    assert found.runtime == pytest.approx(seconds)
    assert found.bottleneck is not None
    assert (found.bottleneck.resource, found.bottleneck.time) == (resource, pytest.approx(seconds))
    assert found.bottleneck.component is not None
    assert found.bottleneck.component.endswith({"loads": "D"}.get(resource, resource))


@pytest.mark.parametrize(
    ("requirement", "seconds"),
    [
        ("loads [1000] of size [8] from X as random", 640),  # 1,000 lines of 64 bytes at 100 bytes a second
        ("loads [1000] of size [256] from X as random", 640),  # four lines of one row each, at 1,000 in 256 seconds
        ("loads [1000] of size [1024] from X as random", 1024),  # longer than rows take to open
        ("stores [1000] of size [8] to X as random", 640 + 1280),  # brought, and written back at 50 bytes a second
        ("loads [1000] of size [8] from X as nest(64, 1000)", 64),  # rows are open
    ],
)
def test_entries_at_random_open_rows(requirement: str, seconds: float) -> None:
    rates = "property attained_bandwidth [1000] property random_bandwidth [100] property random_store_bandwidth [50]"
    text = TIMED.replace("FIRST", "1e6").replace("SECOND", "1e6").replace("MORE", "")
    text = text.replace("property latency [100]", rates)
    found = predict(application(f"execute {{ {requirement} }}", "data X [1e12]"), machine(text))
    assert found.runtime == pytest.approx(seconds, rel=1e-3)


def test_levels_overlap_or_follow_each_other() -> None:
    assert timed("1000", "1000").runtime == pytest.approx(160)
    assert timed("1000", "1000", "property serial [1]").runtime == pytest.approx(160 + 160 + 16)


def test_misses_anywhere_wait_for_the_memory() -> None:
    """Little's law: 4 at once, each 100 s; the bandwidth alone would be 64 ms each."""
    found = timed("1e6", "1e6", requirement="loads [1000] of size [8] from X as random")
    text = machine(TIMED.replace("FIRST", "1e6").replace("SECOND", "1e6").replace("MORE", ""))
    app = application("execute { loads [1000] of size [8] from X as random }", "data X [16000]")
    missed = traffic(app, text).totals[1].read_misses
    assert found.runtime == pytest.approx(missed * 100 / 4)


# -- without caches --------------------------------------------------------------------------------


def test_no_caches_no_traffic() -> None:
    text = machine("machine M { node [1] N } node N { core C } core C { resource loads(x) [x] }")
    with pytest.raises(AspenError) as refusal:
        traffic(application("execute { loads [1] as stream }"), text)
    assert codes(refusal.value) == ["no-caches"]
    assert "machine `M` has no caches" in str(refusal.value)


def test_requirements_without_a_pattern_go_to_memory_in_full() -> None:
    """And are named, with what to write."""
    with_caches = modelled("loads [1000] of size [8] from X stores [80]", "data X [8000]", machine_of(SMALL))
    assert with_caches.prediction.runtime == 8080
    assert not with_caches.uses
    told = [diagnostic for diagnostic in with_caches.diagnostics if diagnostic.code == "no-reuse-information"]
    assert len(told) == 2
    assert told[0].severity == "warning"
    assert "as stream" in (told[0].hint or "")


def test_lines_that_come_together_are_one_wait() -> None:
    """A million lines that are not there yet, four waits of 100 s at once, whether a neighbour comes along or not."""
    plain = TIMED.replace("FIRST", "1e9").replace("SECOND", "1e9").replace("MORE", "")
    pairs = plain.replace("property associativity [8]", "property associativity [8] property prefetch [2]")
    app = application("execute { loads [1e6] of size [8] from X as random }", "data X [1e12]")
    for text in (plain, pairs):
        assert predict(app, machine(text)).runtime == pytest.approx(1e6 * 100 / 4, rel=1e-4)
