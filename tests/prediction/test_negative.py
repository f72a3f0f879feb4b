"""Amounts below zero: refused where parameters make them so."""

from __future__ import annotations

import pytest

from aspenpy import AspenError, memory, sweep
from aspenpy import predict as predict_case
from tests.tiny import SECONDS, application, both, codes, machine, predict


@pytest.mark.parametrize(
    ("body", "declarations", "code"),
    [
        ("execute { flops [0 - n] }", "param n = 5", "no-value"),
        ("execute { flops [n] of size [3 - n] }", "param n = 5", "no-value"),
        ("iterate [3] { execute { flops [n] } }", "param n = -5", "no-value"),
        ("execute { flops [n] } execute { flops [100] }", "param n = -5", "no-value"),
        ("iterate i [10] { execute { flops [n - i] } }", "param n = 8", "no-value"),
        ("iterate i [10] { execute { flops [n - i^2] } }", "param n = 80", "no-value"),
        (
            "iterate i [10] { if (i > 8) { execute { flops [n - i] } } execute { flops [9] } }",
            "param n = 8",
            "no-value",
        ),
        ("call part(3 - n)", "param n = 5 kernel part(param m) { execute { flops [m] } }", "no-value"),
        ("call part(-3)", "kernel part(param m) { execute { flops [m] } }", "no-value"),
    ],
)
def test_an_amount_below_zero_is_refused_where_it_stands(body: str, declarations: str, code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        predict(body, declarations)
    assert codes(refusal.value) == [code]
    assert refusal.value.diagnostics[0].span is not None


def test_points_of_a_sweep_and_prepared_functions_refuse_it_as_well() -> None:
    app = application("execute { flops [n - 2] }", "param n = 5")
    found = sweep(app, machine(), over={"n": [0, 1, 2, 3]})
    assert found.runtime.values.tolist()[2:] == [0, 1]
    assert found.runtime.isnull().values.tolist() == [True, True, False, False]
    function = predict("execute { flops [n - 2] }", "param n = 5").prepare(["n"])
    assert function(7) == 5
    with pytest.raises(AspenError):
        function(1)


def test_a_plain_parameter_below_zero_is_refused_alike() -> None:
    """n = -5 is hidden by the 100 flops that come after."""
    body, declared = "execute { flops [n] } execute { flops [100] }", "param n = 5"
    found = sweep(application(body, declared), machine(), over={"n": [-5, 0, 3]}).runtime.values.tolist()
    assert str(found[0]) == "nan"
    assert found[1:] == [100, 103]
    function = predict(body, declared).prepare(["n"])
    assert function(5) == 105
    with pytest.raises(AspenError, match="it must not be negative"):
        function(-5)


@pytest.mark.parametrize("passes", [0, 10**9])
def test_long_loops_keep_their_closed_forms(passes: int) -> None:
    """The sum of n*i^2 over i < passes, by its formula."""
    found = predict(f"iterate i [{passes}] {{ execute {{ flops [n*i^2] }} }}", "param n = 7")
    assert found.runtime == pytest.approx(7 * (passes - 1) * passes * (2 * passes - 1) / 6)


def test_the_tail_of_a_distribution_is_no_mistake() -> None:
    assert predict("iterate [100] { sample u from normal(0, 1) execute { flops [u + 1] } }").runtime > 0


def test_a_constant_below_zero_is_a_warning() -> None:
    found = predict("execute { flops [-2^2] }")
    assert [item.code for item in found.diagnostics] == ["negative-amount"]


SIZED = """
model sized {{ param n = 5 data a as Array({extent}, {element}) kernel main {{ execute {{ loads [8] from a }} }} }}
"""


@pytest.mark.parametrize(("extent", "element"), [("3 - n", "8"), ("n", "3 - n"), ("3 - n", "-8"), ("7", "-8")])
def test_a_size_below_zero_has_no_bytes(extent: str, element: str) -> None:
    """`memory` refuses it; the runtime, which no size is needed for, is told with a warning. Two extents below zero
    make no structure either, though their product is positive."""
    app, target = both(SIZED.format(extent=extent, element=element), SECONDS)
    with pytest.raises(AspenError, match="a size cannot be -") as refusal:
        _ = memory(app).total
    assert refusal.value.diagnostics[0].span is not None
    found = predict_case(app, target)
    assert found.runtime == 8
    assert [item.message for item in found.diagnostics] == [refusal.value.diagnostics[0].message]


def test_a_size_is_below_zero_for_some_values_only() -> None:
    """Words of n - 2 bytes, 3 of them, a second a byte."""
    app = application("execute { loads [3] of size [n - 2] }", "param n = 5")
    found = sweep(app, machine(), over={"n": [0, 1, 2, 3]}).runtime
    assert found.isnull().values.tolist() == [True, True, False, False]
    assert found.values.tolist()[2:] == [0, 3]
    prepared = predict("execute { loads [3] of size [n - 2] }", "param n = 5").prepare(["n"])
    assert prepared(7) == 15
    with pytest.raises(AspenError, match="a size cannot be -1"):
        prepared(1)
