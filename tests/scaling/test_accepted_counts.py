"""Numbers of ranks that a program accepts: `scale` and `advise` name no other as the best."""

from __future__ import annotations

from functools import cache

import pytest

from aspenpy.advice.configuration import Configuration
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.scalability import Scaled
from aspenpy.answers.case import Case
from aspenpy.explore.scaling import scale
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_application, load_machine, parse
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

WORK = """model work {{
  param ranks = 1 in 1 .. 1e6{declared}
  kernel main {{
    execute [ranks] {{ flops [1e9/ranks] }}
    execute {{ flops [ranks*4e4] }}
  }}
}}"""
"""Seconds of 1/P and P/25,000: least at P = 158.1."""
MACHINE = """param boxes = 4 in 1 .. 100000
machine flat { node [boxes] box interconnect [boxes] port }
node box { socket chip }
socket chip { core [20] unit }
core unit { property rank property clock [1e9] resource flops(x) [x/1e9] }
interconnect port { resource messages(x) [x/1e15] }"""


def seconds(ranks: int) -> float:
    return 1 / ranks + ranks / 25_000


def hpcg_runs(ranks: int) -> bool:
    """Of the grids of so many ranks HPCG takes the one with the least surface, and refuses it where the shortest edge
    is less than an eighth of the longest."""
    grids = [
        (wide, middle, ranks // wide // middle)
        for wide in range(1, round(ranks ** (1 / 3)) + 1)
        if ranks % wide == 0
        for middle in range(wide, ranks // wide + 1)
        if middle**2 <= ranks // wide and ranks // wide % middle == 0
    ]
    wide, _, long = min(grids, key=lambda grid: sum(ranks // edge for edge in grid))
    return 8 * wide >= long


ACCEPTED = {
    "cube": [n**3 for n in range(1, 20)],
    "square": [n**2 for n in range(1, 64)],
    "power_of(2)": [2**n for n in range(13)],
    "divisor_of(1000)": [n for n in range(1, 1001) if 1000 % n == 0],
    "multiple_of(100)": [*range(100, 4001, 100)],
    "at_most(250)": [*range(1, 251)],
}


@cache
def accepted_counts(rule: str) -> list[int]:
    """Counts that a rule accepts; those of grids are found when they are asked for."""
    return [n for n in range(1, 4001) if hpcg_runs(n)] if rule == "grid(8)" else ACCEPTED[rule]


@pytest.mark.parametrize("rule", [*ACCEPTED, "grid(8)"])
@pytest.mark.parametrize("declared", [True, False])
def test_the_fastest_is_accepted(rule: str, declared: bool) -> None:
    """By the model's own word, and by what is asked for."""
    app = parse(WORK.format(declared=f" with {rule}" if declared else ""))
    set_machine = {"set": {"boxes": 1000}}
    asked = {} if declared else {"counts": rule}
    for first, last in ((1, 4000), (150, 170), (1, 100), (200, 4000), (1000, 4000)):
        found = scale(app, parse(MACHINE), [first, last], **set_machine, **asked).fastest  # type: ignore[arg-type]
        inside = [each for each in accepted_counts(rule) if first <= each <= last]
        if not inside:
            assert found is None
            continue
        assert found is not None
        assert found.ranks == min(inside, key=seconds)
        assert found.time == pytest.approx(seconds(found.ranks), rel=1e-9)


def test_beyond_the_numbers_that_are_looked_at_one_by_one() -> None:
    """Of 1e6 multiples of 8, least at the root of 25e9: 158,114 and a half."""
    app = parse(WORK.format(declared="").replace("4e4", "4e-2"))
    found = scale(app, parse(MACHINE), [1, 8_000_000], set={"boxes": 400_000}, counts="multiple_of(8)").fastest
    assert found is not None
    assert found.ranks == 158_112


def test_both_the_models_rule_and_the_users() -> None:
    app = parse(WORK.format(declared=" with cube"))
    found = scale(app, parse(MACHINE), [1, 4000], set={"boxes": 1000}, counts="power_of(2)")
    assert [str(each) for each in found.counts] == ["cube", "power_of(2)"]
    assert found.fastest is not None
    assert found.fastest.ranks == 64  # of 1, 8, 64 and 512; 64: 18.2 ms, 512: 22.4 ms


def test_refused_numbers_are_warned_of_once() -> None:
    app = parse(WORK.format(declared=" with cube"))
    told = [item.message for item in scale(app, parse(MACHINE), [8, 9, 27, 60]).diagnostics]
    assert told == ["`ranks` is 9, and the program accepts cube numbers only (on 9 to 60 ranks, 2 of 4 points)"]


def test_refused_numbers_of_another_parameter_are_warned_of_beside() -> None:
    work = WORK.format(declared=" with cube").replace("kernel main", "param edge = 9 with cube\n  kernel main")
    app = parse(work.replace("4e4", "edge"))
    told = [item.message for item in scale(app, parse(MACHINE), [8, 9]).diagnostics]
    assert told == [
        "`edge` is 9, and the program accepts cube numbers only",
        "`ranks` is 9, and the program accepts cube numbers only (on 9 ranks)",
    ]


def test_an_unknown_rule() -> None:
    with pytest.raises(AspenError, match="unknown rule for numbers of ranks: `cubic`"):
        scale(parse(WORK.format(declared="")), parse(MACHINE), [1, 8], counts="cubic")


def test_a_range_has_accepted_points(run: Runner) -> None:
    """Those nearest to 1, 2, 4, ... 60 by ratio."""
    out = run("scale", "lulesh", "--machine", "frontera", "--ranks", "1..60", "--format", "csv").out
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["1", "8", "27"]
    out = run("scale", "lulesh", "--machine", "frontera", "--ranks", "1..60", "--rank-counts", "power_of(2)").out
    assert "accepted       cube numbers that are powers of 2" in out
    refused = run(
        "scale", "stream", "--machine", "frontera", "--parameter", "n", "--ranks", "60,64", "--rank-counts", "cube"
    )
    assert "--rank-counts: 60 is none of the cube numbers; next to it: 27 or 64" in refused.err
    nothing = run("scale", "lulesh", "--machine", "frontera", "--ranks", "65..100")
    assert "--ranks: there are no cube numbers in 65..100" in nothing.err


@pytest.mark.parametrize(("cores", "ranks"), [(1, 1), (4, 1), (8, 8), (18, 8), (26, 8), (27, 27)])
def test_advice_fills_a_machine_with_accepted_ranks(cores: int, ranks: int) -> None:
    """A cube of ranks on the cores of a node, with the whole problem as it is: 8 e^3 elements."""
    case = Case(load_application("lulesh"), load_machine("haswell"))
    at = DesignSpace(case.with_set({"haswell_nodes": 1, "haswell_cores": cores}), ["clock"]).prediction
    count, edge = at.scope.values([at.scope.symbol(name) for name in ("ranks", "edge_elements")], at.seed)
    assert count == ranks
    assert float(edge) ** 3 * ranks == pytest.approx(8 * 30**3, rel=1e-9)


def test_advice_on_nodes_has_accepted_ranks() -> None:
    """A node has 20 places: 8, 27, 27, 64, 64, 64, 125, 125, ... ranks fit on 1 to 8 of them."""
    app = parse(WORK.format(declared=" with cube"))
    scaling = Scaled(Case(app, parse(MACHINE)), [Configuration({})], most=8).scalings[0]
    assert [point.ranks for point in scaling.points] == [8, 27, 64, 125]
    assert scaling.nodes == (1, 2, 4, 7)
    assert [point.time for point in scaling.points] == pytest.approx([seconds(each) for each in (8, 27, 64, 125)])


def test_grids_that_hpcg_refuses(run: Runner) -> None:
    """61 and 1,021 are prime; 1,018 is twice a prime."""
    assert [each for each in (60, 61, 62, 63, 1018, 1020, 1021, 1024) if hpcg_runs(each)] == [60, 63, 1020, 1024]
    app = load_application("hpcg")
    for first, last in ((1, 61), (57, 62), (1, 1021), (1000, 1021)):
        found = scale(app, load_machine("frontera"), [first, last]).fastest
        assert found is not None
        assert hpcg_runs(found.ranks)
    assert scale(app, load_machine("frontera"), [61, 62]).fastest is None
    assert (
        "accepts numbers whose grid is at most 8 times"
        in run("eval", "hpcg", "--set", "ranks=61", "--machine", "frontera").err
    )
    assert "accepts" not in run("eval", "hpcg", "--set", "ranks=60", "--machine", "frontera").err


def test_a_rule_that_the_program_has_anyway_is_said_once(run: Runner) -> None:
    found = run("scale", "lulesh", "--machine", "frontera", "--ranks", "1..30", "--rank-counts", "cube")
    assert "accepted       cube numbers\n" in found.out
    refused = run("scale", "lulesh", "--machine", "frontera", "--ranks", "2..7", "--rank-counts", "cube")
    assert refused.err == "aspenpy: --ranks: there are no cube numbers in 2..7\n"


def test_bricks_of_comd_are_no_thinner_than_the_cutoff() -> None:
    """20 cells of 3.615 angstrom have room for 12 boxes of 5.7875: 12^3 ranks, unless the crystal grows with them."""
    app, machine = load_application("comd"), load_machine("fugaku")
    assert [point.ranks for point in scale(app, machine, [1, 1000, 65536]).points] == [1, 1000, 1728]
    assert [point.ranks for point in scale(app, machine, [8, 4096], mode="weak").points] == [8, 4096]
