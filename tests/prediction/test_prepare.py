"""A prediction as a function of some of its parameters."""

import pickle

import pytest

import aspenpy
from aspenpy import AspenError, Prediction
from tests.tiny import codes, predict

DECLARATIONS = "param n = 3 param k = 2*n param m = 1"
BODY = "execute [m] { flops [k + n] loads [10/n] }"


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    return predict(BODY, DECLARATIONS)


def test_values_are_given_in_order_or_by_name(prediction: Prediction) -> None:
    prepared = prediction.prepare(["n", "m"])
    assert prepared(4, 2) == 2 * 12  # k follows n
    assert prepared(m=2, n=4) == 24
    assert prepared(4, m=2) == 24
    assert prepared(1, 1) == 10  # loads


def test_what_is_free_no_longer_follows_its_definition(prediction: Prediction) -> None:
    assert prediction.prepare(["k"])(1) == 4
    assert prediction.prepare(["n", "k"])(5, 1) == 6


def test_other_metrics_are_amounts(prediction: Prediction) -> None:
    assert prediction.prepare(["n"], "loads")(4) == 2.5
    assert prediction.prepare(["m"], "bytes")(3) == 10
    with pytest.raises(AspenError) as refusal:
        prediction.prepare(["n"], "load")
    assert codes(refusal.value) == ["unknown-resource"]


def test_wrong_values_are_told_in_the_users_words(prediction: Prediction) -> None:
    prepared = prediction.prepare(["n", "m"])
    for values, named, code in (
        ((4,), {}, "wrong-arguments"),
        ((4, 2, 1), {}, "wrong-arguments"),
        ((4,), {"n": 4}, "wrong-arguments"),
        ((4,), {"k": 4}, "unknown-parameter"),
        ((0, 1), {}, "no-value"),  # 10/0
        ((1, -1), {}, "no-value"),  # a negative parallelism
    ):
        with pytest.raises(AspenError) as refusal:
            prepared(*values, **named)
        assert codes(refusal.value) == [code]


def test_a_prepared_function_survives_pickling(prediction: Prediction) -> None:
    prepared = prediction.prepare(["n", "m"])
    assert pickle.loads(pickle.dumps(prepared))(4, 2) == prepared(4, 2)


def test_prepare_is_predict_and_prepare(prediction: Prediction) -> None:
    prepared = aspenpy.prepare(prediction.application, prediction.machine, ["n"], set={"m": 5})
    assert prepared(4) == 5 * 12


def test_a_free_parameter_that_is_unknown_is_refused(prediction: Prediction) -> None:
    with pytest.raises(AspenError) as refusal:
        prediction.prepare(["nn"])
    assert codes(refusal.value) == ["unknown-parameter"]
    assert "did you mean `n`?" in str(refusal.value)


def test_a_name_is_no_model() -> None:
    app = aspenpy.parse("model t { param n = 1 kernel main { execute { flops [n] } } }")
    with pytest.raises(aspenpy.AspenError, match=r"aspenpy\.load_machine\('simple'\)"):
        aspenpy.predict(app, "simple")  # type: ignore[arg-type]


def test_the_seed_is_the_predictions_own() -> None:
    body = "execute { flops [n*uniform(1, 2)] }"
    drawn = {seed: predict(body, "param n = 3", seed=seed) for seed in (1, 2, 3)}
    assert len({item.runtime for item in drawn.values()}) == 3
    for seed, item in drawn.items():
        assert item.prepare(["n"])(3) == pytest.approx(item.runtime, rel=1e-12)
        made = aspenpy.prepare(item.application, item.machine, ["n"], seed=seed)
        assert made(3) == pytest.approx(item.runtime, rel=1e-12)
