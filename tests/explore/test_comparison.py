"""Comparisons: crossovers against closed forms and against trying every value."""

from fractions import Fraction
from itertools import count, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.explore import crossovers, race
from aspenpy.explore.comparison import Comparison
from aspenpy.explore.crossovers import Crossovers
from aspenpy.language.diagnostics import AspenError
from aspenpy.tables.formats import build_json
from aspenpy.tables.pages import render_text
from tests.thorough import slow
from tests.timing import is_done_in, seconds_of

APPLICATION = """
model work {
  param n = 100 in 1 .. 1000
  data a as Array(n, 8)
  kernel main { execute [n] { flops [1] loads [8] from a } }
  kernel square { execute { flops [n^2] } }
}
"""


def machine(name: str, time: str, cores: int = 1) -> aspenpy.Machine:
    found = aspenpy.parse(
        f"""machine {name} {{ socket [1] S_{name} }}
socket S_{name} {{ core [{cores}] C link L }}
core C {{ resource flops(x) [{time}] resource loads(x) [0*x] }}
link L {{ resource intracomm(b) [b/4] }}"""
    )
    assert isinstance(found, aspenpy.Machine)
    return found


def compared(*times: str, kernel: str = "square", transfer: bool = False) -> Comparison:
    app = aspenpy.parse(APPLICATION)
    assert isinstance(app, aspenpy.Application)
    machines = [(machine(f"M{place}", time), None) for place, time in enumerate(times)]
    return Comparison([Case(app, *place, kernel) for place in machines], transfer=transfer)


def test_times_side_by_side() -> None:
    found = compared("x/10", "3 + x/1000")
    assert found.times == {"M0": 1000.0, "M1": 13.0}
    assert found.fastest == "M1"


def test_a_crossover_is_the_root() -> None:
    """n^2/10 = 3 + n^2/1000 at n = sqrt(3000/99)."""
    sweep = compared("x/10", "3 + x/1000").over("n", 1, 1000, whole=False)
    (crossover,) = sweep.crossovers
    assert (crossover.first, crossover.second) == ("M0", "M1")
    assert float(crossover.before) == pytest.approx((3000 / 99) ** 0.5, rel=1e-12)
    assert [stretch.fastest for stretch in sweep.stretches] == ["M0", "M1"]


def test_two_crossovers_and_a_touch() -> None:
    """With x = n^2, x^2 + 900 = 109 x where (x - 9)(x - 100) = 0, that is at n = 3 and n = 10."""
    sweep = compared("x^2 + 900", "109*x").over("n", 1, 100)
    assert [(item.first, item.second) for item in sweep.crossovers] == [("M1", "M0"), ("M0", "M1")]
    places = [float(item.before) for item in sweep.crossovers]
    assert places == pytest.approx([3, 10], rel=1e-11)
    touching = compared("x^2 + 81", "18*x").over("n", 1, 100)  # (x - 9)^2 = 0: they tie and do not change places
    assert touching.crossovers == ()


def test_a_step_lies_between_two_neighbours() -> None:
    """ceil(n/4) against n/10 + 1.05: one core at 1 s a flop, four in parallel; at n = 5 a second round begins."""
    app = aspenpy.parse(APPLICATION)
    assert isinstance(app, aspenpy.Application)
    machines = (machine("A", "x", cores=4), machine("B", "x*11/10/4*0 + 3/2", cores=1000))
    found = Comparison([Case(app, where) for where in machines])
    sweep = found.over("n", 1, 100, whole=True)
    (crossover,) = sweep.crossovers
    assert (crossover.first, crossover.before, crossover.second, crossover.behind) == ("A", 4, "B", 5)


def test_data_are_moved_over_the_link() -> None:
    """8 n bytes at 4 bytes a second: 200 s for n = 100, added to the second machine only."""
    found = compared("x", "x/2", kernel="main", transfer=True)
    assert found.transfers == {"M0": 0.0, "M1": 200.0}
    assert found.times == {"M0": 100.0, "M1": 250.0}


@given(st.integers(1, 9), st.integers(0, 60), st.integers(1, 9), st.integers(0, 60), st.integers(1, 4))
def test_whole_numbers_against_trying_all(a: int, b: int, c: int, d: int, step: int) -> None:
    """Every n below 40 is on the side that the stretches say, and neighbours of different sides have a crossover."""
    first, second = f"{a}*x + {b}", f"{c}*ceil(x/{step})*{step} + {d}"
    if a == c and b == d and step == 1:
        return
    app = aspenpy.parse(APPLICATION.replace("flops [n^2]", "flops [n]"))
    assert isinstance(app, aspenpy.Application)
    machines = [(machine("A", first), None), (machine("B", second), None)]
    sweep = Comparison([Case(app, *place, "square") for place in machines]).over("n", 1, 40, whole=True)

    def side(n: int) -> int:
        mine, theirs = a * n + b, c * -(-n // step) * step + d
        return (mine > theirs) - (mine < theirs)

    sides = [side(n) for n in range(1, 41) if side(n)]
    changes = sum(before != behind for before, behind in pairwise(sides))
    assert len(sweep.crossovers) == changes
    for crossover in sweep.crossovers:
        assert side(int(crossover.before)) * side(int(crossover.behind)) <= 0


@pytest.mark.parametrize(
    ("times", "message"),
    [(("x",), "needs two machines"), (("x", "x"), None)],
)
def test_what_cannot_be_compared(times: tuple[str, ...], message: str | None) -> None:
    if message is None:
        assert compared(*times).over("n", 1, 10).crossovers == ()
    else:
        with pytest.raises(AspenError, match=message):
            compared(*times)


def test_bad_intervals_and_parameters() -> None:
    found = compared("x", "2*x")
    with pytest.raises(AspenError, match="has no two whole values from 10 to 1"):
        found.over("n", 10, 1)
    with pytest.raises(AspenError, match="unknown parameter `m`"):
        found.over("m", 1, 10)
    assert found.over("n", Fraction(1, 2), 10).stretches[0].fastest == "M0"


def test_a_machine_that_lacks_a_resource_is_left_out() -> None:
    app = aspenpy.parse("model work { kernel main { execute { flops [6] moves [2] } } }")
    text = "machine M { socket [1] S } socket S { core [1] C } core C { resource flops(x) [x] resource moves(x) [x] }"
    movers = [aspenpy.parse(text.replace("machine M", f"machine {name}")) for name in ("M1", "M2")]
    assert isinstance(app, aspenpy.Application)
    first, without, last = (Case(app, item) for item in (movers[0], machine("N", "x"), movers[1]))  # type: ignore[arg-type]
    found = Comparison([first, without, last])
    assert found.times == {"M1": 6, "M2": 6}
    assert [item.code for item in found.warnings] == ["left-out"]
    assert "`N` is left out: nothing on machine `N`" in found.warnings[0].message
    with pytest.raises(AspenError, match="offers the resource `moves`"):
        Comparison([first, without])


def test_sums_over_a_few_grids_are_compared_term_by_term() -> None:
    """All that multigrid asks of one rank grows with n^3, so whoever is faster at one n is at all."""
    machines = [(aspenpy.load_machine(name), None) for name in ("haswell", "h100")]
    app = aspenpy.load_application("multigrid")
    sweep = Comparison([Case(app, *place) for place in machines]).over("n", 64, 4096)
    assert sweep.time("haswell", 64) * 64**3 == pytest.approx(sweep.time("haswell", 4096), rel=1e-12)
    assert sweep.crossovers == ()
    assert [stretch.fastest for stretch in sweep.stretches] == ["h100"]


@slow
def test_a_time_without_a_value_is_told_before_a_proof_that_fails() -> None:
    """sqrt(2500 - n^2) has values up to n = 50."""
    app = aspenpy.parse(APPLICATION)
    assert isinstance(app, aspenpy.Application)
    machines = [(machine("A", "sqrt(2500 - x)"), None), (machine("B", "abs(mod(x, 7) - 3)"), None)]
    found = Comparison([Case(app, *place, "square", {"n": 5}) for place in machines])
    with pytest.raises(AspenError, match="square root"):
        _ = found.over("n", 1, 100).crossovers


def test_both_sides_of_a_jump_are_told() -> None:
    """Three arrays of 8 B an element, 16 memories of 68 GB/s: a round is 24/68e9 s, with 81 elements there are six.
    One core of the other machine loads 8.9 GB/s, and stores 90.5 % of 68 GB/s."""
    app = aspenpy.parse("model t { param n = 1 kernel main { execute [n] { flops [2] as dp loads [16] stores [8] } } }")
    assert isinstance(app, aspenpy.Application)
    machines = [(aspenpy.load_machine(name), None) for name in ("haswell", "cori_haswell")]
    comparison = Comparison([Case(app, *place) for place in machines])
    sweep = comparison.over("n", 1, 10**6, whole=True)
    (place,) = sweep.crossovers
    assert not sweep.meets(place)
    found = build_json(comparison.report(sweep=sweep))["crossovers"][0]
    other = 16 / 8.9e9 + 8 / (0.905 * 68e9)
    assert (place.before, place.behind) == (80, 81)
    assert found["times_before"] == pytest.approx({"haswell": 5 * 24 / 68e9, "cori_haswell": other})
    assert found["times_behind"] == pytest.approx({"haswell": 6 * 24 / 68e9, "cori_haswell": other})
    text = render_text(comparison.report(sweep=sweep).page)
    assert "1.76 ns and 1.93 ns" in text
    assert "2.12 ns and 1.93 ns" in text
    assert "both take" not in text


def test_a_jump_over_real_numbers_has_a_time_on_either_side() -> None:
    """ceil(n/4) against 3/2: at n = 4 one round, just behind it two."""
    app = aspenpy.parse(APPLICATION)
    assert isinstance(app, aspenpy.Application)
    found = Comparison([Case(app, machine("A", "x", cores=4)), Case(app, machine("B", "3/2", cores=1000))])
    sweep = found.over("n", 1, 100)
    (place,) = sweep.crossovers
    sides = [(sweep.time(place.first, x), sweep.time(place.second, x)) for x in (place.before, place.behind)]
    assert float(place.before) == pytest.approx(4)
    assert sides == [(1, 1.5), (2, 1.5)]
    assert not sweep.meets(place)
    assert "1 s and 1.5 s" in render_text(found.report(sweep=sweep).page)


def test_what_is_not_proven_in_time_is_bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The roots of the tests above are found without a proof, and the answer says so."""
    monkeypatch.setattr(crossovers, "PROOF_SECONDS", -1.0)
    comparison = compared("x/10", "3 + x/1000")
    sweep = comparison.over("n", 1, 1000, whole=False)
    (crossover,) = sweep.crossovers
    assert (crossover.first, crossover.second) == ("M0", "M1")
    assert float(crossover.before) == pytest.approx((3000 / 99) ** 0.5, rel=1e-9)
    (left,) = sweep.unproven
    assert (left.first, left.second, left.low, left.high) == ("M0", "M1", 1, 1000)
    text = " ".join(render_text(comparison.report(sweep=sweep).page).split())
    assert "Not proven: M0 and M1 may change places more often between n = 1 and 1,000" in text
    whole = compared("x^2 + 900", "109*x").over("n", 1, 100, whole=True)
    assert {float(item.before) for item in whole.crossovers} <= {2, 3, 9, 10}
    assert len(whole.crossovers) == 2


def test_a_search_ends_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: here an hour passes between any two looks at the clock."""
    hours = count(0, 3600)
    monkeypatch.setattr(race, "monotonic", lambda: next(hours))
    told: list[float] = []
    sweep = compared("x/10", "3 + x/1000").over("n", 1, 1000, whole=False, progress=told.append)
    (crossover,) = sweep.crossovers
    assert float(crossover.before) == pytest.approx((3000 / 99) ** 0.5, rel=1e-9)
    (left,) = sweep.unproven
    assert (left.low, left.high, left.looks) == (1, 1000, crossovers.FEWEST_LOOKS)
    assert told == sorted(told)
    assert 0.5 <= told[-1] <= 1


@slow
def test_panels_of_a_solver_are_compared_in_time() -> None:
    """No n has to be proven for the sums over panels; a step of 0.5 % shows that none of the two is passed. (Below
    some 3,000 the socket is ahead of the accelerator, which starts kernels for each column of a panel.)"""
    names = ("v100", "xeon_platinum_8180")
    machines = [(aspenpy.load_machine(name), None) for name in names]
    app = aspenpy.load_application("hpl")
    parts: list[float] = []

    sweeps = []

    def compare() -> None:
        comparison = Comparison([Case(app, *place) for place in machines])
        sweeps.append(comparison.over("n", 3200, 20000, progress=parts.append))

    assert is_done_in(10, lambda: seconds_of(compare))
    assert sweeps[0].crossovers == ()
    assert parts
    assert 0 <= min(parts) <= max(parts) <= 1
    for n in (2500, 3200, 5000, 20000):
        first, second = (aspenpy.predict(app, item, ranks_on="socket", set={"n": n}).runtime for item, _ in machines)
        assert (first < second) == (n > 3000)
    assert [stretch.fastest for stretch in sweeps[0].stretches] == ["v100"]


def test_a_rank_has_a_socket_where_it_would_have_a_core_here_and_a_device_there() -> None:
    machines = [aspenpy.load_machine(name) for name in ("epyc_9654", "h100", "mi300x")]
    app = aspenpy.load_application("hpcg")
    alike = Comparison([Case(app, machine) for machine in machines])
    whole = {machine.name: aspenpy.predict(app, machine, ranks_on="socket").runtime for machine in machines}
    assert (alike.times, alike.warnings) == (whole, ())
    assert "each rank has" in render_text(alike.report().page)


def test_a_machine_that_does_not_say_what_a_rank_has_gives_it_a_socket_too() -> None:
    """16 nodes of haswell beside one board: a socket of each is alike, and where that is not taken it is told."""
    app, names = aspenpy.load_application("hpcg"), ("haswell", "h100")
    cluster, board = map(aspenpy.load_machine, names)
    whole = {machine.name: aspenpy.predict(app, machine, bind="socket").runtime for machine in (cluster, board)}
    alike = Comparison([Case(app, cluster), Case(app, board)])
    assert (alike.times, alike.warnings) == (whole, ())
    assert whole["haswell"] < aspenpy.predict(app, cluster).runtime  # of which one rank has a core
    (told,) = Comparison([Case(app, cluster), Case(app, board, bind="socket")]).warnings
    assert told.message == "each rank has a socket of `h100`, and the whole of `haswell`, which does not say"
    both = [Case(app, cluster), Case(app, aspenpy.parse("machine twin { socket [1] S } " + SOCKET_OF_A_CORE))]
    assert Comparison(both).warnings == ()  # neither says


SOCKET_OF_A_CORE = """socket S { core [8] C memory M }
core C { resource flops(x) [x/1e9] resource messages(b) [b/1e9] }
memory M { resource loads(x) [x/1e9] resource stores(x) [x/1e9] }"""


def test_a_rank_on_a_core_beside_one_on_a_device_is_told_where_it_was_asked_for() -> None:
    app, (processor, board) = aspenpy.load_application("hpcg"), map(aspenpy.load_machine, ("epyc_9654", "h100"))
    (told,) = Comparison([Case(app, processor, ranks_on="core"), Case(app, board)]).warnings
    assert told.message == "each rank has a core of `epyc_9654` and a socket of `h100`"


def looks(low: float, high: float, whole: bool = False) -> list[Any]:
    return Crossovers._values_to_try(SimpleNamespace(whole=whole), low, high)  # type: ignore[arg-type]


def test_values_that_are_tried() -> None:
    """257 from one end to the other: at equal ratios where there are ratios, of few whole numbers all."""
    assert looks(3, 259, whole=True) == list(range(3, 260))
    many = looks(1, 10**6, whole=True)
    assert (many[0], many[-1], many) == (1, 10**6, sorted(set(many)))
    assert all(isinstance(each, int) for each in many)
    assert len(looks(3, 260, whole=True)) < 258
    ratios = [float(after / before) for before, after in pairwise(looks(1, 16))]
    assert ratios == pytest.approx([16 ** (1 / 256)] * 256)
    for low in (-1, 0):
        steps = [float(after - before) for before, after in pairwise(looks(low, 3))]
        assert steps == pytest.approx([(3 - low) / 256] * 256)


@pytest.mark.parametrize(("spent", "tried"), [(0.0, 257), (0.99, 257), (1.0, 17)])
def test_values_are_tried_ever_closer_until_the_time_is_spent(spent: float, tried: int) -> None:
    asked: list[int] = []
    told: list[float] = []
    race: Any = SimpleNamespace(side=asked.append, progress=told.append)
    every = list(range(1000, 1257))
    found = Crossovers._try_values(None, race, every, SimpleNamespace(spent=spent))  # type: ignore[arg-type]
    assert found == every[:: 256 // (tried - 1)]
    assert asked[:4] == [1256, 1128, 1064, 1192]
    assert sorted(asked) == found[1:]
    assert told == sorted(told)
    assert told[0] == pytest.approx((1 + max(spent, 2 / 257)) / 2)
    assert told[-1] <= 1


@pytest.mark.parametrize(
    ("sides", "turns"),
    [([1, 1, -1], [(1, 2)]), ([1, 0, -1], [(0, 2)]), ([1, 0, 1], []), ([0, -1, 1, -1], [(1, 2), (2, 3)]), ([0, 0], [])],
)
def test_the_other_becomes_the_faster_between_two_values(sides: list[int], turns: list[tuple[int, int]]) -> None:
    """A tie, whose side is 0, is passed over."""
    race: Any = SimpleNamespace(side=sides.__getitem__, turn=lambda before, behind: (before, behind))
    found = Crossovers._bracket_crossovers(None, race, list(range(len(sides))))  # type: ignore[arg-type]
    assert found == turns


def test_a_value_that_does_not_fit_is_told_with_what_is_varied() -> None:
    """An EPYC 9654 alone has one socket: two ranks of a socket each do not fit, whatever number the model declares."""
    hpl, machines = aspenpy.load_application("hpl"), [aspenpy.load_machine(name) for name in ("haswell", "epyc_9654")]
    with pytest.raises(aspenpy.AspenError, match=r"more ranks than `epyc_9654` has places for") as raised:
        aspenpy.compare(hpl, machines).over("ranks", 1, 16).time("epyc_9654", 2)
    assert "1 ranks" not in str(raised.value)
