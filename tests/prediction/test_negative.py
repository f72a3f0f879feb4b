"""Amounts below zero: refused where parameters make them so."""

from __future__ import annotations

import pytest

from aspenpy import AspenError, sweep
from tests.tiny import application, codes, machine, predict


@pytest.mark.parametrize(
    ("body", "declarations", "code"),
    [
        ("execute { flops [0 - n] }", "param n = 5", "no-value"),
        ("execute { flops [n] of size [3 - n] }", "param n = 5", "no-value"),
        ("iterate [3] { execute { flops [n] } }", "param n = -5", "negative-amount"),
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


def test_a_constant_below_zero_is_a_warning() -> None:
    found = predict("execute { flops [-2^2] }")
    assert [item.code for item in found.diagnostics] == ["negative-amount"]
