"""An explanation as text and as JSON."""

import json

from tests.tiny import predict

KERNELS = 'kernel work(param k) { execute [2] "two" { flops [k*n] as odd } }'


def test_what_differs_from_call_to_call_has_no_value() -> None:
    prediction = predict("call work(1) call work(2)", "param n = 5", KERNELS)
    explanation = prediction.explain()
    text = str(explanation)
    # ceil(2/1) * 5 s + ceil(2/1) * 10 s
    assert text.startswith('30 s in all\n\nwork, "two": flops\n')
    assert "one instance asks for  k*n, in flop\n" in text
    assert "the run asks for       30 flop\n" in text
    assert "as odd                 not known to this machine, changes nothing\n" in text
    assert "the run takes          30 s, 100.0 % of the runtime" in text
    (step,) = explanation.to_json()["steps"]
    assert step["demand"] == {"formula": "k*n", "value": None, "unit": "flop"}
    assert step["parallelism"] == {"formula": "2", "value": 2, "unit": ""}
    assert step["ignored_traits"] == ["odd"]
    json.dumps(step)


def test_as_text_shows_the_values() -> None:
    explanation = predict("execute { flops [2*n] }", "param n = 5").explain()
    assert "one instance asks for  2*n = 10 flop\n" in str(explanation)
