"""Simulated traffic against the slow simulator of the tests, and against arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy import AspenError, predict, traffic
from aspenpy.answers import simulation
from aspenpy.answers.traffic import Traffic
from aspenpy.shell.main import main
from aspenpy.traces.hierarchy import IN_STEP, CacheHierarchy, CacheShape, PlayedAccess, PlayedBlock
from tests.caches.programs import Reference, counted, machine_of, simulator
from tests.caches.random_programs import CACHES, Program, programs
from tests.cachesim import Cache, Hierarchy
from tests.thorough import some
from tests.tiny import application, machine

TABLES = 0.1
"""Where places are drawn the two draw differently: four standard deviations of the misses of a few thousand."""


def simulated(program: Program, machine_text: str) -> Traffic:
    app = application(f"execute {{ {program.requirements} }}", program.data)
    return traffic(app, machine(machine_text), simulate=True)


def test_random_programs_are_counted_exactly() -> None:
    different = 0
    count = some(1000, 60)
    for number, program in enumerate(programs(7, count)):
        shape = CACHES[(number + number // 9) % len(CACHES)]
        (found,) = counted(simulator(shape), program.references)
        (model,) = simulated(program, machine_of(shape)).totals
        assert (model.reads, model.writes) == (found.reads, found.writes)
        missed = model.read_misses + model.write_misses
        if program.family == "table":
            assert missed == pytest.approx(found.misses, rel=TABLES, abs=30)
        else:
            different += missed != found.misses
            assert missed == pytest.approx(found.misses, rel=0.05, abs=10), program
    assert different <= 0.03 * count  # of two walks, which of them comes first in a pass


def test_two_levels_are_counted_exactly() -> None:
    shapes = ("L1", 4096, 4), ("L2", 32768, 8)
    for program in programs(8, some(100, 9)):
        if program.family == "table":
            continue
        oracle = simulator(*shapes)
        counts = counted(oracle, program.references)
        oracle.flush()
        found = simulated(program, machine_of(*shapes))
        assert [total.read_misses + total.write_misses for total in found.totals] == pytest.approx(
            [level.misses for level in counts], rel=0.05, abs=10
        )
        written = sum(use.written_back for use in found.uses if use.level == "L2") / 64
        assert written == pytest.approx(oracle.memory.lines_written, rel=0.05, abs=10)


@pytest.mark.parametrize("policy", ["lru", "plru"])
def test_policies(policy: str) -> None:
    """40 lines in 32, swept ten times, a line and then every third of them again."""
    walks = [(64, 40, 10), (192, 14, 7)]
    references: list[Reference] = [
        ("L", stride * word, 8) for stride, trips, times in walks for _ in range(times) for word in range(trips)
    ]
    (oracle,) = Hierarchy([Cache("L1", 2048, 4, policy=policy)]).run(references).levels
    hierarchy = CacheHierarchy([CacheShape(8, 4, 64, policy)])
    for stride, trips, times in walks:
        access = PlayedAccess(IN_STEP, False, False, 0, 0, 8, stride, (stride, 0), (2, 2))
        bounds = ((0, 0, 0), (0, 0, 0)), ((trips - 1, 0, 0), (times - 1, 0, 0))
        hierarchy.play(PlayedBlock(*bounds, (access,)))
    (found,) = hierarchy.counts(0)
    assert (found.accesses, found.misses) == (oracle.counts.reads, oracle.counts.read_misses)


@pytest.mark.parametrize(("ways", "notes"), [(4, []), (3, ["plru-as-lru"]), (128, ["plru-as-lru"])])
def test_a_tree_needs_a_power_of_two(ways: int, notes: list[str]) -> None:
    """Sets of three lines have no tree of bits, and 128 lines need more bits than a word has."""
    text = machine_of(("L1", 64 * 2 * ways, ways), policy="plru")
    found = traffic(application("execute { loads [64] of size [8] from A as stream }", "data A [512]"), machine(text),
                    simulate=True)  # fmt: skip
    assert found.totals[0].read_misses == 8
    assert [note.code for note in found.edge_notes] == notes


def test_victims_move_down_and_up() -> None:
    """Six lines in turn through four and a victim cache of four: memory sends each once, L1 misses every time."""
    hierarchy = CacheHierarchy([CacheShape(1, 4, 64), CacheShape(1, 4, 64, adds=True)])
    access = PlayedAccess(IN_STEP, False, False, 0, 0, 8, 64, (64, 0), (2, 2))
    hierarchy.play(PlayedBlock(((0, 0, 0), (0, 0, 0)), ((5, 0, 0), (2, 0, 0)), (access,)))
    first, second = hierarchy.counts(0)
    assert (first.misses, first.victims) == (18, 14)
    assert (second.accesses, second.misses, second.fetched) == (18, 6, 6)


def test_random_replacement_keeps_what_fits() -> None:
    hierarchy = CacheHierarchy([CacheShape(16, 4, 64, "random")])
    access = PlayedAccess(IN_STEP, False, False, 0, 0, 8, 64, (64, 0), (2, 2))
    hierarchy.play(PlayedBlock(((0, 0, 0), (0, 0, 0)), ((63, 0, 0), (9, 0, 0)), (access,)))
    assert hierarchy.counts(0)[0].misses == 64


SMALL = "kernel {0} {{ execute {{ loads [1000] of size [8] from {1} as stream }} }}"


def test_what_earlier_blocks_touched_is_there() -> None:
    """Two kernels on arrays of 8 kB in turn, a hundred times, in a cache of 32 KiB: each line is fetched once."""
    text = f"data A [8000] data B [8000] {SMALL.format('first', 'A')} {SMALL.format('second', 'B')}"
    app = application("iterate [100] { call first() call second() }", text)
    found = traffic(app, machine(machine_of(("L1", 32768, 8))), simulate=True)
    assert found.totals[0].reads == 200_000
    assert found.totals[0].bytes == 2 * 8000


def test_rows_follow_each_other() -> None:
    """y = A'(A x) by rows of 4 kB in 32 KiB: A comes from memory once, x and y stay."""
    rows = """iterate [n] {
      execute { loads [n] of size [8] from A as stream loads [n] of size [8] from x as stream }
      execute { loads [n] of size [8] from A as stream stores [n] of size [8] to y as stream }
    }"""
    app = application(rows, "param n = 512 data A as Matrix(n, n, 8) data x as Array(n, 8) data y as Array(n, 8)")
    (level,) = traffic(app, machine(machine_of(("L1", 32768, 8))), simulate=True).totals
    assert level.read_misses == 512 * 512 * 8 / 64 + 512 * 8 / 64
    assert level.write_misses == 512 * 8 / 64


def test_instances_count_each() -> None:
    app = application("execute [4] { loads [800] of size [8] from A as stream }", "data A [25600]")
    (level,) = traffic(app, machine(machine_of(("L1", 4096, 4), cores=4)), simulate=True).totals
    assert (level.reads, level.read_misses) == (3200, 400)


STRIDED = "execute {{ loads [{0}] of size [8] from A as nest(4096, 16, 8, {0}/16) }}"


def test_formulas_in_doubt_are_settled_by_few_references() -> None:
    """Sixteen rows that meet in one set: at ten per cent less, or apart, everything is another matter."""
    app = application(STRIDED.format(4096), "data A [65536]")
    shape = machine(machine_of(("L1", 65536, 16)))
    found = traffic(app, shape)
    assert found.simulation is not None
    assert found.totals[0].read_misses == 16 * 256 * 8 / 64
    assert any(note.code == "simulated" for note in found.diagnostics)
    assert traffic(app, shape, simulate=False).simulation is None


def test_many_references_are_not_made_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspenpy.answers.traffic.FEW_REFERENCES", 100)
    app = application(STRIDED.format(4096), "data A [65536]")
    assert traffic(app, machine(machine_of(("L1", 65536, 16)))).simulation is None


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        ("loads [100] of size [8] from A as rd(10)", "no-addresses"),
        ("loads [1e9] of size [8] from A as stream", "too-much-work"),
        ("loads [100] of size [8] from A as nest(8, 100), grid(800, 1)", "grid-simulation"),
    ],
)
def test_refused(requirement: str, code: str) -> None:
    app = application(f"execute {{ {requirement} }}", "data A [8e9]")
    with pytest.raises(AspenError) as caught:
        traffic(app, machine(machine_of(("L1", 4096, 4))), simulate=True).totals  # noqa: B018
    assert caught.value.diagnostics[0].code == code


def test_many_blocks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "MOST_EXECUTIONS", 10)
    for count, refused in ((10, False), (11, True)):
        app = application(
            f"iterate [{count}] {{ execute {{ loads [8] of size [8] from A as stream }} }}", "data A [64]"
        )
        found = Traffic(predict(app, machine(machine_of(("L1", 4096, 4)))), simulate=True)
        if refused:
            with pytest.raises(AspenError, match="10 blocks"):
                found.totals  # noqa: B018
        else:
            assert found.totals[0].read_misses == 1


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from aspenpy.traces import hierarchy

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    hierarchy._library.cache_clear()
    try:
        with pytest.raises(AspenError, match="needs a C compiler"):
            CacheHierarchy([CacheShape(1, 1, 64)])
    finally:
        hierarchy._library.cache_clear()


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert not main(
        ["traffic", "cache_transpose", "--machine", "cachegrind", "--set", "n=50", "--simulate", "--format", "json"]
    )
    shown = json.loads(capsys.readouterr().out)
    assert shown["simulated"] == {"references": 2 * 50 * 50}


def test_pairs_of_lines_come_once() -> None:
    """Two levels that fetch pairs, the second for victims: 32 lines come from memory, each once."""
    shapes = [CacheShape(4, 4, 64, together=2, reach=4096), CacheShape(16, 4, 64, adds=True, together=2, reach=4096)]
    hierarchy = CacheHierarchy(shapes)
    access = PlayedAccess(IN_STEP, False, False, 0, 0, 8, 64, (64, 0), (2, 2))
    hierarchy.play(PlayedBlock(((0, 0, 0), (0, 0, 0)), ((31, 0, 0), (0, 0, 0)), (access,)))
    first, second = hierarchy.counts(0)
    assert (first.misses, first.fetched) == (16, 32)
    assert (second.misses, second.fetched) == (16, 32)


def test_many_instances_share_a_cache() -> None:
    """Twelve instances sweep 4 kB each four times, in 64 KiB with eight ways: all fits, each line comes once; of 7.2 kB
    each, 86 kB, nothing stays. The simulator of the tests has the instances side by side."""
    for words, share in ((500, 0.0), (900, 1.0)):
        app = application(
            f"execute [12] {{ loads [{4 * words}] of size [8] from A as stream, reuse(4) }}", "data A [86400]"
        )
        (level,) = traffic(app, machine(machine_of(("L1", 65536, 8), cores=12)), simulate=False).totals
        lines = 12 * words * 8 / 64
        found = (level.read_misses - lines) / (3 * lines)
        places = [number * (8 * words // 64 + 1) * 64 for number in range(12)]
        turns = [("L", place + 8 * word, 8) for _ in range(4) for word in range(words) for place in places]
        (oracle,) = counted(Hierarchy([Cache("L1", 65536, 8)]), turns)
        assert found == pytest.approx(share, abs=0.02)
        assert (oracle.misses - lines) / (3 * lines) == pytest.approx(share, abs=0.05)


LONG = {
    "passes": "iterate [1e12] { execute { flops [1] } }",
    "triangles": "execute { loads [n^3] of size [8] from A as nest(0, k in 0 .. j, 0, j in 0 .. i, 8, i in 0 .. n) }",
}


@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_what_is_long_is_refused_before_it_is_followed(body: str) -> None:
    """Passes without an access, and loops that would take an hour to count."""
    app = application(body, "param n = 1e5 data A [8e5]")
    with pytest.raises(AspenError, match="a simulation makes"):
        traffic(app, machine(machine_of(("L1", 4096, 4), cores=9)), simulate=True).totals  # noqa: B018


@pytest.mark.parametrize(("requirement", "trait"), [("loads [8] from A as stream, cold", "cold"),
                                                    ("loads [8] from A as stream, warm(64)", "warm"),
                                                    ("stores [8] to A as stream, fresh", "fresh")])  # fmt: skip
def test_what_a_simulation_leaves_out_is_refused(requirement: str, trait: str) -> None:
    app = application(f"execute {{ {requirement} }}", "data A [64]")
    with pytest.raises(AspenError) as caught:
        traffic(app, machine(machine_of(("L1", 4096, 4))), simulate=True).totals  # noqa: B018
    assert caught.value.diagnostics[0].code == f"{trait}-simulation"


def test_no_more_counts_are_made_than_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each number of instances, and one that nobody reads."""
    for most, refused in ((5, False), (4, True)):
        monkeypatch.setattr(simulation, "MOST_OWNERS", most)
        body = "iterate i [4] { execute [i + 1] { loads [8] of size [8] from A as stream } }"
        found = Traffic(predict(application(body, "data A [64]"), machine(machine_of(("L1", 4096, 4), cores=4))), True)
        if refused:
            with pytest.raises(AspenError, match="a simulation makes"):
                found.totals  # noqa: B018
        else:
            assert found.totals[0].reads == (1 + 2 + 3 + 4) * 8


STEP = {
    name: f"execute {{ loads [{words}] of size [8] from {name} as stream }}"
    for name, words in (("A", 80), ("B", 160), ("C", 240))
}


def reads_of(body: str) -> tuple[float, float]:
    """Words and missed lines of steps that read `A`, `B` and `C`, each time the next part of them."""
    app = application(body.format(**STEP), " ".join(f"data {name} [64000]" for name in STEP))
    (level,) = traffic(app, machine(machine_of(("L1", 524288, 8))), simulate=True).totals
    return level.reads, level.read_misses


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{A} {B}", 80 + 160),
        ("seq {{ {A} {B} }}", 80 + 160),
        ("par {{ {A} {B} }}", 80 + 160),
        ("iterate i [10] {{ if (i < 4) {{ {A} }} else {{ {B} }} }}", 4 * 80 + 6 * 160),
        ("iterate i [10] {{ if (i < 4) {{ {A} }} }}", 4 * 80),
        ("iterate i [10] {{ if (i < 2) {{ {A} }} else if (i < 5) {{ {B} }} else {{ {C} }} }}",
         2 * 80 + 3 * 160 + 5 * 240),
        ("iterate i [10] {{ if (i < 5) {{ {A} }} else if (i < 2) {{ {B} }} }}", 5 * 80),
    ],
)  # fmt: skip
def test_the_flow_is_followed(body: str, words: int) -> None:
    """Branches that are taken, the first whose condition holds, and all parts of what runs side by side."""
    assert reads_of(body) == (words, words * 8 / 64)


@pytest.mark.parametrize(
    ("rest", "mean", "square"),
    [("else {{ {C} }}", 160, 0.25 * 80**2 + 0.5 * 160**2 + 0.25 * 240**2), ("", 100, 0.25 * 80**2 + 0.5 * 160**2)],
)
def test_cases_are_drawn_by_their_probability(rest: str, mean: float, square: float) -> None:
    """Within four standard deviations of a thousand draws."""
    cases = "[0.25] {{ {A} }} [0.5] {{ {B} }} "
    words, _ = reads_of("iterate i [1000] {{ probability {{ " + cases + rest + " }} }}")
    assert words == pytest.approx(1000 * mean, abs=4 * (1000 * (square - mean**2)) ** 0.5)
