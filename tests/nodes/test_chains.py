"""Operations that wait for each other, and branches that are mispredicted: arithmetic by hand on a core at 2 GHz."""

from __future__ import annotations

import shutil

import pytest

from aspenpy import Energy, predict
from aspenpy.answers.case import Case
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.sweep import compute_in_memory
from tests.tiny import application, machine

MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [4] c memory d static power [10] dynamic power [90] }
core c {
  property clock [2e9] property issue [2]
  property add_dp_rate [2] property fma_dp_rate [4] property multiply_dp_rate [2]
  property add_latency [4] property multiply_latency [4] property fma_latency [5] property integer_latency [1]
  property load_latency [5] property mispredict_penalty [16]
  resource flops(x) [x/(clock*issue)] with dp [base]
  resource chain(number) [number/clock]
    with add [base*add_latency], multiply [base*multiply_latency], fma [base*fma_latency],
    integer [base*integer_latency], load [base*load_latency]
  resource branches(number) [number/clock] with mispredicted(rate) [base*rate*mispredict_penalty]
  resource intops(number) [number/(4*clock)]
  conflict flops, branches
  conflict intops, branches
}
memory d { resource loads(v) [v/20e9] resource stores(v) [v/20e9] conflict loads, stores }
"""


def cycles(body: str, declarations: str = "", **asked: float) -> float:
    return float(predict(application(body, declarations), machine(MACHINE), set=asked).runtime) * 2e9


N = 1e6


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # sum: each addition waits for the one before it; its data stream in beside that
        ("execute { flops [1e6] as add, dp chain [1e6] as add loads [8e6] }", 4 * N),
        # Horner: p = p*x + a[i]
        ("execute { flops [2e6] as fma, dp chain [1e6] as fma loads [8e6] }", 5 * N),
        # a linear congruential generator of 12 integer operations in turn (multiply, add, masks, shifts)
        ("execute { chain [12*1e6] as integer }", 12 * N),
        # in-place Gauss-Seidel: a[i][j] waits for a[i][j-1] by an addition and the multiplication behind it
        (
            "execute { flops [4e6] as gs, dp chain [1e6] as add chain [1e6] as multiply loads [8e6] stores [8e6] }",
            (4 + 4) * N,
        ),
        # pointers: each load waits for the address that the one before it brings
        ("execute { chain [1e6] as load }", 5 * N),
        # a chain shorter than the work beside it hides
        ("execute { flops [8e6] as add, dp chain [1e5] as add }", 4 * N),
    ],
)
def test_a_chain_takes_its_latencies(body: str, expected: float) -> None:
    assert cycles(body, "mixture gs {add [3], multiply [1]}") == pytest.approx(expected, rel=1e-9)


def test_instances_run_their_chains_side_by_side() -> None:
    assert cycles("execute [4] { chain [1e6] as add }") == pytest.approx(4 * N, rel=1e-9)
    assert cycles("execute [5] { chain [1e6] as add }") == pytest.approx(8 * N, rel=1e-9)


def test_a_class_without_a_latency_is_told() -> None:
    prediction = predict(application("execute { chain [1e6] as divide }"), machine(MACHINE))
    assert [warning.code for warning in prediction.tree.warnings] == ["unknown-rate"]


def test_branches_cost_what_is_guessed_wrongly() -> None:
    assert cycles("execute { branches [1e6] as mispredicted(0.25) }") == pytest.approx(1e6 * (1 + 0.25 * 16), rel=1e-9)
    assert cycles("execute { branches [1e6] flops [4e6] }") == pytest.approx(2e6, rel=1e-9)


def test_branches_of_which_none_is_wrong_begin_one_a_cycle() -> None:
    found = predict(application("execute { branches [1e6] as mispredicted(0) intops [1e6] }"), machine(MACHINE))
    assert float(found.runtime) * 2e9 == pytest.approx(1e6, rel=1e-9)
    assert found.bottleneck is not None
    assert found.bottleneck.resource == "branches"


@pytest.mark.parametrize("wrong", [0, 0.05])
def test_branches_begin_one_a_cycle_beside_those_that_are_guessed_wrongly(wrong: float) -> None:
    """Two begin with each step, beside half a cycle of integers; wrong guesses, of 16 cycles, add to both."""
    body = f"branches [1e6] as mispredicted({wrong}) branches [1e6] intops [2e6]"
    assert cycles(f"execute {{ {body} }}") == pytest.approx(2e6 + 16e6 * wrong, rel=1e-9)


def test_wrong_guesses_add_to_the_longest_of_what_overlaps() -> None:
    """Flops take 2e6 cycles and integers 3e6, side by side; 1e5 wrong guesses of 16 cycles come behind."""
    body = "flops [4e6] intops [12e6] branches [1e6] as mispredicted(0.1)"
    assert cycles(f"execute {{ {body} }}") == pytest.approx(3e6 + 1.6e6, rel=1e-9)
    found = predict(application(f"execute {{ {body} }}"), machine(MACHINE))
    assert found.bottleneck is not None
    assert found.bottleneck.resource == "intops"


def test_energy_follows_the_time() -> None:
    found = Energy(predict(application("execute { chain [2e9] as add }"), machine(MACHINE)))
    assert 10 * 4.0 <= float(found.value) <= 100 * 4.0  # four seconds, between idle and full power


@pytest.mark.parametrize("backend", ["numpy", *(["c"] if shutil.which("gcc") else [])])
def test_sweeps_and_programs_agree(backend: str) -> None:
    declared = "param n = 1 mixture both {add [3], multiply [n]}"
    app = application("execute { flops [1e5*n] as both, dp chain [1e5*n] as add }", declared)
    study = make_study(Case(app, machine(MACHINE)), {"n": [1, 2, 8]}, metrics=["runtime"])
    found = compute_in_memory(
        StudyRun(study, processes=False, backend=backend)
    )  # without xarray, whose import takes a second
    assert found["runtime"].values == pytest.approx([4e5 * n / 2e9 for n in (1, 2, 8)], rel=1e-12)
