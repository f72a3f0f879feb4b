"""Energies as formulas and as values, and the kernel that draws most, by hand: 10 W always and 20 W at work, a second a
flop."""

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import strongest_kernel
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.tiny import application, codes, machine

POWERED = """
machine powered { node [1] box }
node box { socket [1] cpu }
socket cpu { resource flops(n) [n] static power [10 W] dynamic power [20 W] }
"""


def test_a_formula_of_the_energy() -> None:
    found = aspenpy.energy(application("execute { flops [n] }", "param n = 3 in 1 .. 9"), machine(POWERED))
    assert found.value == pytest.approx(3 * 30)
    assert repr(found) == "<Energy tiny on powered: 90 J>"
    formula = found.formula(["n"])
    assert float(evaluate(formula, dict.fromkeys(graph.free_symbols(formula), 7))) == pytest.approx(7 * 30)
    assert graph.free_symbols(found.formula()) == frozenset()


def test_the_strongest_kernel() -> None:
    """`busy` works all of its time; `main` takes none by itself, and a run without time draws nothing."""
    app = application(
        "call idle call busy", kernels="kernel busy { execute { flops [5] } } kernel idle { execute { flops [0] } }"
    )
    name, watts = strongest_kernel(aspenpy.energy(app, machine(POWERED)))
    assert (name, watts) == ("busy", pytest.approx(30))
    assert strongest_kernel(aspenpy.energy(application("execute { flops [0] }"), machine(POWERED))) == (None, 0.0)


def test_a_rank_occupies_one_kind_of_place() -> None:
    app, on = application("execute { flops [1] }"), aspenpy.load_machine("haswell")
    with pytest.raises(aspenpy.AspenError, match="a rank occupies `core` or `socket`, not both") as error:
        aspenpy.predict(app, on, bind="core", ranks_on="socket")
    assert codes(error.value) == ["contradicting-placement"]
    assert Case(app, on, bind="core").changed(ranks_on="socket").placement.bind == "socket"


@pytest.mark.parametrize(("most", "passes", "is_refused"), [(1, 1, False), (0, 1, True), (1, 0, True)])
def test_a_trace_has_one_step_at_least(most: int, passes: int, is_refused: bool) -> None:
    app = application("iterate [3] { execute { flops [2] } }")
    if is_refused:
        with pytest.raises(aspenpy.AspenError, match="at least one step and one pass have to be shown, not 0"):
            aspenpy.trace(app, most=most, passes=passes)
    else:
        assert len(aspenpy.trace(app, most=most, passes=passes).steps) == 1
