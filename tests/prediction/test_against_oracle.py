"""Runtimes, busy times and amounts of random models against the interpreter of `tests.oracle`."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import aspenpy
from tests.oracle import Oracle
from tests.random_models import applications, machines
from tests.thorough import examples
from tests.tiny import both


@settings(max_examples=examples(100), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(applications(), machines(), st.sampled_from(["S", "T"]), st.booleans(), st.sampled_from(["compact", "scatter"]))
def test_a_prediction_is_what_running_the_model_by_hand_gives(
    app_text: str, machine_text: str, socket: str, overlap: bool, distribution: str
) -> None:
    app, machine = both(app_text, machine_text)
    spent = Oracle(app.node, machine.node, socket, overlap, distribution=distribution).run()
    asked = distribution if "property rank" in machine_text else None
    prediction = aspenpy.predict(app, machine, socket=socket, overlap=overlap, distribution=asked)
    assert prediction.runtime == pytest.approx(float(spent.time), rel=1e-11, abs=1e-12)
    for name, use in prediction.resources.items():
        assert use.time == pytest.approx(float(spent.busy.get(name, 0)), rel=1e-11, abs=1e-12)
        assert use.amount == pytest.approx(float(spent.amounts.get(name, 0)), rel=1e-11, abs=1e-12)
