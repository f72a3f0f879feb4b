"""A prediction in a notebook and as text."""

import re

import pytest
import sympy

from aspenpy.answers.prediction import Prediction
from tests.tiny import predict


def test_text_is_that_of_the_command() -> None:
    text = str(predict("execute { flops [3] }"))
    assert text.startswith("tiny on seconds: main takes 3 s\n\nsocket    cpu\n")
    assert "  flops on cpu (100.0 % of runtime)\n" in text


def test_nothing_to_wait_for() -> None:
    text = str(predict("execute { flops [0] }"))
    assert "main takes 0 s" in text
    assert "  nothing\n" in text


def test_members_of_enums_go_by_their_names() -> None:
    declarations = "enum grids {coarse, fine} param grid = fine in grids"
    prediction = predict("execute { flops [1 + grid] }", declarations)
    assert "  grid  fine" in str(prediction)
    assert prediction.to_json()["parameters"] == {"grid": 1}


def test_html_has_the_runtime() -> None:
    assert "<b>tiny on seconds: main takes 3 s</b>" in predict("execute { flops [3] }")._repr_html_()


def test_latex_keeps_the_parameters_with_a_range() -> None:
    prediction = predict("execute { flops [n*m] }", "param n = 5 in 1 .. 10 param m = 4")
    latex = prediction._repr_latex_()
    assert latex == r"$\displaystyle T = n \cdot 4 = 20\,\mathrm{s}$"


def test_latex_of_a_number() -> None:
    assert predict("execute { flops [0.5] }")._repr_latex_() == r"$\displaystyle T = 500\,\mathrm{ms}$"


def test_latex_that_would_be_too_long_is_left_out() -> None:
    body = "".join(f"execute {{ flops [n^{power}] }} " for power in range(2, 400))
    prediction = predict(body, "param n = 1 in 1 .. 10")
    assert prediction._repr_latex_() == r"$\displaystyle T = 6.63\,\mathrm{min}$"  # 398 s


@pytest.fixture
def calls() -> Prediction:
    kernels = "kernel work { execute { flops [2] loads [3] } }"
    return predict("iterate [4] { call work } execute { stores [1] }", kernels=kernels)


def test_shares_of_kernels_add_up(calls: Prediction) -> None:
    shares = [float(found) for found in re.findall(r"(\d+\.\d) %  \w+ on", str(calls))]
    assert shares == [pytest.approx(100 / 13, abs=0.05), pytest.approx(1200 / 13, abs=0.05)]  # 1 s and 4 * 3 s
    objects = calls.to_json()["kernels"]
    assert sum(found["share"] for found in objects) == pytest.approx(1)
    assert [(found["name"], found["calls"], found["bound_by"]) for found in objects] == [
        ("main", 1, "stores"),
        ("work", 4, "loads"),
    ]


def test_formula_in_the_page_is_the_value() -> None:
    prediction = predict("execute { flops [n^2] }", "param n = 5 in 1 .. 10")
    assert sympy.Symbol("n") ** 2 == prediction.expression(free=["n"])
    assert "main takes 25 s" in str(prediction)
