"""What a prediction says of its own doubt: near an edge of a cache, and by where arrays begin."""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random

import pytest

from aspenpy import AspenError
from aspenpy.answers.checks.applications import check_application
from aspenpy.answers.edges import EVIDENCE, FEW, ODDS_OF_WAYS, Evidence, MissSpread, evidence_of
from tests.caches.programs import LINE, Reference, Walk, counted, machine_of, modelled, nest, simulator
from tests.caches.random_programs import CACHES, programs
from tests.thorough import some
from tests.tiny import application, codes, machine

SETS, WAYS = 16, 10
"""A tenth more or less is a way."""


def misses_of(count: int, ways: int) -> int:
    """Of ten sweeps over so many lines."""
    sweeps = [("L", LINE * line, 8) for _ in range(10) for line in range(count)]
    (found,) = counted(simulator(("L1", SETS * ways * LINE, ways)), sweeps)
    return found.misses


@pytest.mark.parametrize(("count", "near"), [(100, False), (144, False), (150, True), (160, True), (176, True)])
def test_both_sides_of_the_capacity(count: int, near: bool) -> None:
    """160 lines fit; the misses in caches of 9, 10 and 11 ways are a simulator's."""
    requirement = f"loads [{10 * count}] of size [64] from X as stream, reuse(10)"
    text = machine_of(("L1", SETS * WAYS * LINE, WAYS))
    found = modelled(requirement, f"data X [{LINE * count}]", text)
    (use,) = found.ranged_uses
    smaller, stated, larger = (misses_of(count, ways) for ways in (WAYS - 1, WAYS, WAYS + 1))
    spread = use.spread
    assert (spread.smaller, use.misses, spread.larger) == pytest.approx((smaller, stated, larger))
    assert spread.near_edge == near
    sides = (stated, smaller, larger) if near else (stated,)
    assert (use.misses_low, use.misses_high) == pytest.approx((min(sides), max(sides)))
    told = [note.code for note in found.diagnostics if note.code == "near-an-edge"]
    assert told == ["near-an-edge"] * near


def test_both_sides_are_told() -> None:
    """In words, in the table, in JSON and by `check`."""
    app = application("execute { loads [1600] of size [64] from X as stream, reuse(10) }", "data X [10240]")
    text = machine_of(("L1", SETS * WAYS * LINE, WAYS))
    (note,) = (item for item in check_application(app, machine(text)) if item.code == "near-an-edge")
    assert note.severity == "note"
    sides = "near an edge of the cache: 160 if it were 10 % larger, 1,600 if 10 % smaller"
    assert note.message == f"at `L1`, this block misses 160 times, {sides}"
    found = modelled("loads [1600] of size [64] from X as stream, reuse(10)", "data X [10240]", text)
    assert "160 to 1,600" in str(found)
    (row,) = found.to_json()["accesses"]
    assert (row["misses_low"], row["misses"], row["misses_high"]) == (160, 160, 1600)
    assert found.to_json()["memory"] == {"bytes": 10240, "low": 10240, "high": 102400, "unit": "B"}
    assert "moves 10.2 kB to and from memory (10.2 kB to 102 kB)" in str(found)


TRIAD = (
    "loads [512] of size [8] from B as stream{} loads [512] of size [8] from C as stream{} "
    "stores [512] of size [8] to A as stream{}"
)
DATA = "data A [4096] data B [4096] data C [4096]"


def triad(places: tuple[int, int, int]) -> list[Reference]:
    b, c, a = places
    return [part for k in range(0, 4096, 8) for part in (("L", b + k, 8), ("L", c + k, 8), ("S", a + k, 8))]


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize(
    "places",
    [
        (0, 8192, 16384),
        (0, 8192 + 64, 16384 + 128),
        (0, 8192, 16384 + 64),
        (0, 8192 + 2048, 16384 + 1024),
        (64, 8192, 16384),
    ],
)
def test_arrays_that_say_where_they_begin(places: tuple[int, int, int], ways: int) -> None:
    """Against a simulator, in caches whose sets fill in 2 or 4 KiB."""
    shape = ("L1", 4096, ways)
    (found,) = counted(simulator(shape), triad(places))
    text = TRIAD.format(*(f", at({place})" for place in places))
    (model,) = modelled(text, DATA, machine_of(shape)).totals
    assert model.read_misses + model.write_misses == pytest.approx(found.misses, rel=0.02)


NESTS: tuple[tuple[tuple[int, int], ...], ...] = (
    *(((pitch, rows), (8, 32)) for rows in (3, 6, 9) for pitch in (1024, 4096)),
    *(((8, words), (0, 4), (8 * words, 8)) for words in (16, 64, 200)),
    ((8, 8), (1024, 8), (0, 3), (64, 4)),
)


def error_at_random_places(draws: Random) -> float:
    """Of the misses of two or three arrays in the same loops, as a share of what a simulator counts."""
    loops, shape = draws.choice(NESTS), ("L1", *draws.choice([(4096, 1), (4096, 2), (8192, 2), (8192, 4), (8192, 8)]))
    places = [(k << 20) + draws.choice([0, 0, 32, 64, 128, 512, 1024, 1536]) for k in range(draws.choice([2, 3]))]
    walks = [Walk("L", place, 8, loops) for place in places]
    needs = (f"loads [{walk.accesses}] of size [8] from X{k} as {walk.trait()}, at({places[k]})" for k, walk in
             enumerate(walks))  # fmt: skip
    data = " ".join(f"data X{k} [65536]" for k in range(len(walks)))
    (found,) = counted(simulator(shape), nest(walks))
    (model,) = modelled(" ".join(needs), data, machine_of(shape)).totals
    return abs(model.read_misses - found.misses) / max(60, found.misses)


def test_random_places() -> None:
    draws = Random(5)
    errors = [error_at_random_places(draws) for _ in range(some(60, 12))]
    assert sum(error <= 0.1 for error in errors) >= 0.8 * len(errors)


def test_arrays_that_do_not_say() -> None:
    """The spread over placements: each word misses where the three begin at equal places, and each line once where they
    lie apart, as a simulator counts."""
    shape = ("L1", 4096, 1)
    (equal,) = counted(simulator(shape), triad((0, 8192, 16384)))
    (apart,) = counted(simulator(shape), triad((0, 8192 + 1024, 16384 + 2048)))
    found = modelled(TRIAD.format("", "", ""), DATA, machine_of(shape))
    assert sum(use.misses_high for use in found.ranged_uses) == equal.misses == 3 * 512
    assert sum(use.misses_low for use in found.ranged_uses) == apart.misses == 3 * 64
    (note,) = (item for item in found.diagnostics if item.code == "where-arrays-lie")
    assert "1,536 times if its arrays lie one behind the other on pages, 192 times where they lie apart" in note.message
    said = modelled(TRIAD.format(", at(0)", ", at(64)", ", at(128)"), DATA, machine_of(shape))
    assert not [item for item in said.diagnostics if item.code == "where-arrays-lie"]


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        ("loads [10] from X as stream, at(1, 2)", "wrong-arguments"),
        ("loads [10] from X as random, at(64)", "no-loops"),
        ("loads [10] from X as at(64)", "no-pattern"),
    ],
)
def test_senseless_places(requirement: str, code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        modelled(requirement, "data X [640]", machine_of(("L1", 4096, 1)))
    assert codes(refusal.value) == [code]


def test_what_is_wrong_is_mostly_told() -> None:
    """Of random programs in two caches each: few whose misses are off by more than 15 % are silent about it, and few
    that are within 5 % warn."""
    silent = wrong = warned = right = 0
    for number, program in enumerate(programs(7, some(90, 5))):
        for shape in (CACHES[number % 6], CACHES[(number + 3) % 6]):
            (found,) = counted(simulator(shape), program.references)
            model = modelled(program.requirements, program.data, machine_of(shape))
            misses = model.totals[0].read_misses + model.totals[0].write_misses
            error = abs(misses - found.misses) / max(found.misses, 60)
            wrong, right = wrong + (error > 0.15), right + (error <= 0.05)
            silent += error > 0.15 and not model.edges.are_doubtful
            warned += error <= 0.05 and model.edges.are_doubtful
    assert silent <= max(3, 0.4 * wrong)
    assert warned <= max(3, 0.3 * right)


APPROXIMATIONS = {
    "walks at offsets and stencils": "walks",
    "what the run left behind": "runs",
    "nests that meet in a structure, or have corners": "meetings",
    "tables": "tables",
    "other nests": "nests",
}


CHANGES = ("larger", "smaller", "unsure", "missed", "found")


def test_evidence_is_that_of_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "caches.md").read_text(encoding="utf-8")
    _, _, rows = text.partition("| the block is counted by |")[2].partition("\n|---")
    *approximations, ways = (
        [cell.strip() for cell in row.strip("|").split("|")] for row in rows.partition("\n\n")[0].splitlines()[1:]
    )
    documented = {APPROXIMATIONS[name]: [float(cell or 0) for cell in cells] for name, *cells in approximations}
    assert list(documented) == list(EVIDENCE)  # the least certain first
    for name, numbers in documented.items():
        assert numbers == [getattr(EVIDENCE[name], part) for part in ("odds", *CHANGES)]
    said = dict(zip(re.findall(r"\d+", ways[0]), ways[1].split(","), strict=True))
    assert {int(fewest): float(odds) for fewest, odds in said.items()} == ODDS_OF_WAYS


def test_no_change_makes_a_count_surer() -> None:
    assert all(getattr(rule, part) >= 0 for rule in EVIDENCE.values() for part in CHANGES)


@pytest.mark.parametrize(
    ("ways", "fewest"), [(16, 8), (8, 8), (7.9, 5), (5, 5), (4.9, 2), (2, 2), (1.9, 1), (1, 1), (0.5, 1)]
)
def test_the_odds_of_so_many_ways(ways: float, fewest: int) -> None:
    for name, rule in EVIDENCE.items():
        assert evidence_of(name, ways) == rule.replace(odds=rule.odds + ODDS_OF_WAYS[fewest])


def evidence(**limits: float) -> Evidence:
    """Evidence that each change gives alone from its share on."""
    return Evidence(-1.0, **{name: 1 / math.log1p(share / 0.03) for name, share in limits.items()})


def spread_of(**changed: float) -> MissSpread:
    """Of 1,000 misses in 4,000 accesses, which are the same everywhere."""
    numbers = dict.fromkeys(("misses", "smaller", "larger", "apart", "less", "more"), 1000.0)
    return MissSpread(**{"accesses": 4000.0} | numbers | changed)


@pytest.mark.parametrize(
    ("changed", "flag"),
    [
        *(({"larger": 1000 - part}, "near_edge" * (part > 200)) for part in (199, 201)),
        *(({"smaller": 1000 + part}, "near_edge" * (part > 600)) for part in (599, 601)),
        *(({"unsure": part}, "in_full_sets" * (part > 100)) for part in (99, 101)),
        *(({"missed": part}, "by_law" * (part > 800)) for part in (799, 801)),
        *(({"found": part}, "by_law" * (part > 140)) for part in (139, 141)),
        *(({"apart": 1000 - part}, "by_place" * (part > 850)) for part in (849, 850, 851)),
    ],
)
def test_limits_of_doubt_below_at_and_above(changed: dict[str, float], flag: str) -> None:
    """Each at its own share of the 2,000 misses of the level; where arrays begin matters from 85 % of the block's own
    misses on, 850, as long as that is more than a fifth of all, 400."""
    rule = evidence(larger=0.1, smaller=0.3, unsure=0.05, missed=0.4, found=0.07)
    judged = spread_of(**changed).judge(2000, rule)
    flags = ("near_edge", "by_place", "in_full_sets", "by_law")
    assert [name for name in flags if getattr(judged, name)] == ([flag] if flag else [])
    assert judged.is_doubtful == (flag not in ("", "by_place"))
    assert spread_of().with_flags_of(judged) == spread_of().replace(**{name: getattr(judged, name) for name in flags})


@pytest.mark.parametrize(("part", "by_place"), [(899, False), (900, False), (901, True)])
def test_places_matter_by_a_fifth_of_all(part: float, by_place: bool) -> None:
    assert spread_of(apart=1000 - part).judge(4500, Evidence(-1.0)).by_place == by_place


@pytest.mark.parametrize(("misses", "doubtful"), [(3.9, False), (4, False), (4.1, True)])
def test_few_of_the_accesses_are_no_doubt(misses: float, doubtful: bool) -> None:
    """A thousandth of 4,000 accesses."""
    assert FEW == 1e-3
    spread = spread_of(misses=0, smaller=misses, larger=0, apart=0)
    assert spread.judge(1, evidence(smaller=0.3)).near_edge == doubtful


def test_small_pieces_of_evidence_add_up() -> None:
    """Two that are not enough alone; what says most is named."""
    rule = evidence(smaller=0.3, unsure=0.05)
    changed = {"smaller": 1300.0, "unsure": 80.0}
    assert not any(spread_of(**{name: part}).judge(2000, rule).is_doubtful for name, part in changed.items())
    both = spread_of(**changed).judge(2000, rule)
    assert (both.in_full_sets, both.near_edge) == (True, False)


@pytest.mark.parametrize(
    ("changed", "low", "high"),
    [
        ({"unsure": 200}, 600, 1400),  # twice as many either way
        ({"unsure": 600}, 0, 2200),
        ({"unsure": 1600}, 0, 4000),  # no more than there are accesses
        ({"unsure": 200, "found": 300}, 400, 1400),
        ({"unsure": 200, "missed": 900}, 600, 2800),
        ({"unsure": 200, "less": 1500, "more": 500}, 500, 1500),  # a way less, and one more
        ({"unsure": 200, "apart": 100}, 100, 1400),
        ({"unsure": 200, "apart": 400}, 600, 1400),  # where arrays begin does not matter
        ({"unsure": 90, "less": 1500, "more": 500}, 1000, 1000),  # nothing is in doubt
        ({"apart": 100}, 100, 1000),  # but where arrays begin
    ],
)
def test_the_fewest_and_the_most_misses(changed: dict[str, float], low: float, high: float) -> None:
    judged = spread_of(**changed).judge(2000, evidence(larger=0.1, smaller=0.3, unsure=0.05, missed=0.5, found=0.5))
    assert (judged.low, judged.high) == (low, high)
