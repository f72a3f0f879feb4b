"""Formulas in SymPy against predictions, and against what one writes down by hand."""

import pytest
import sympy

from tests.tiny import predict

MACHINE = """
param rate = 4
machine m { node [3] box }
node box { socket [1] cpu }
socket cpu {
  resource flops(n) [n / rate] with simd [base / 2]
  resource loads(n) [1 + n / 10]
  resource stores(n) [n]
  conflict loads, stores
}
"""
n, k = sympy.symbols("n k")

BODIES = [
    "execute [n] { flops [k] as simd loads [3*n] }",
    "iterate i [n] { execute { flops [i^2 + k] } }",
    "iterate i [n] { execute { flops [2^i] } } iterate [k] { execute { stores [n] loads [1] } }",
    "if (n > k) { execute { flops [n] } } else { execute { flops [k] } }",
    "probability { [1/(n + 1)] { execute { flops [k] } } else { execute { flops [1] } } }",
    "execute { flops [log2(n + k)*sqrt(n)] } call work(n + 1)",
    "execute { flops [max(n, k, 3) + lookup(sizes, rates, n)] }",
]


@pytest.mark.parametrize("body", BODIES)
def test_values_put_into_a_formula_give_the_prediction(body: str) -> None:
    arrays = "param sizes[] = {1, 5, 2} param rates[] = {0, 2, 8}"
    kernels = "kernel work(param m) { iterate [m] { execute { stores [m*k] } } }"
    formula = predict(body, f"param n = 1 param k = 1 {arrays}", kernels, MACHINE).expression(free=["n", "k"])
    for values in ({"n": 3, "k": 2}, {"n": 4, "k": 7}, {"n": 10, "k": 1}):
        expected = predict(body, f"param n = 1 param k = 1 {arrays}", kernels, MACHINE, set=values).runtime
        assert float(formula.subs(values).doit()) == pytest.approx(expected, rel=1e-12)


def test_a_formula_is_what_one_writes_down() -> None:
    text = "iterate [k] { execute { flops [8*n] } } execute { flops [2] }"
    formula = predict(text, "param n = 1 param k = 2*n", "", MACHINE).expression(free=["n"])
    # k passes of 8n / 4 seconds, k = 2n, and 2 / 4
    assert sympy.simplify(formula - (4 * n**2 + sympy.Rational(1, 2))) == 0


def test_a_formula_in_a_machine_parameter() -> None:
    rate = sympy.Symbol("rate")
    formula = predict("execute [6] { flops [8*n] }", "param n = 5", "", MACHINE).expression(free=["rate"])
    assert sympy.simplify(formula - 2 * 40 / rate) == 0  # ceil(6 / 3) rounds


def test_the_amount_of_a_resource_has_a_formula_too() -> None:
    prediction = predict("execute [n] { loads [8*n] stores [4] }", "param n = 1", "", MACHINE)
    assert sympy.simplify(prediction.expression("loads", ["n"]) - 8 * n**2) == 0
    assert sympy.simplify(prediction.expression("bytes", ["n"]) - (8 * n**2 + 4 * n)) == 0


def test_what_is_not_free_is_put_in() -> None:
    formula = predict("execute { flops [n*k] }", "param n = 2 param k = 3*n", "", MACHINE).expression()
    assert formula == sympy.Integer(3)
