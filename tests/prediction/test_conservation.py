"""What must hold of every prediction, whatever the models: tables add up, and each way of asking agrees."""

import pickle
import re
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Prediction
from aspenpy.cost.cost import Bound
from aspenpy.models.application.total import of_kind
from tests.random_models import applications, machines
from tests.thorough import examples
from tests.tiny import both

SOCKETS = st.sampled_from(["S", "T"])
FEW = settings(max_examples=examples(25), phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""Not shrunk: texts of this size would shrink for minutes."""
SETTINGS = st.fixed_dictionaries({"n": st.integers(0, 6), "r": st.sampled_from([0, 1, 3])})


def close(expected: float) -> Any:
    return pytest.approx(expected, rel=1e-11, abs=1e-12)


@st.composite
def predictions(draw: Any) -> Prediction:
    app, machine = both(draw(applications()), draw(machines()))
    return aspenpy.predict(app, machine, socket=draw(SOCKETS), overlap=draw(st.booleans()), set=draw(SETTINGS))


@FEW
@given(predictions())
def test_times_add_up_to_the_runtime(prediction: Prediction) -> None:
    kernels = {use.name: use for use in prediction.kernels}
    bound = of_kind(Bound, prediction.totals)
    assert sum(use.exclusive for use in kernels.values()) == close(prediction.runtime)
    assert sum(bound.values()) == close(prediction.runtime)
    assert kernels["main"].inclusive == close(prediction.runtime)
    assert all(use.exclusive <= use.inclusive * (1 + 1e-9) for use in kernels.values())
    if not prediction.tree.conflicts:  # else it is a group of resources that is waited for
        for name, resource in prediction.resources.items():
            waited_for = sum(time for key, time in bound.items() if key.resource == name)
            assert resource.time >= waited_for * (1 - 1e-9)


@FEW
@given(applications(), SETTINGS)
def test_amounts_are_those_counted_without_the_machine(app_text: str, changes: dict[str, float]) -> None:
    app, machine = both(app_text.replace("{", "{ param clock = 2 param seats = 2", 1), OTHER_MACHINE)
    for name, use in aspenpy.predict(app, machine, set=changes).resources.items():
        assert aspenpy.count(app, name, set=changes) == close(use.amount)


OTHER_MACHINE = """
machine M { node [3] N }
node N { resource flops(x) [x] resource loads(x) [x] resource stores(x) [x] resource messages(x) [x] }
"""


@FEW
@given(applications(), machines(), SOCKETS, SETTINGS)
def test_a_setting_is_as_if_it_were_written_in_the_model(
    app_text: str, machine_text: str, socket: str, changes: dict[str, float]
) -> None:
    written = app_text
    for name, value in changes.items():
        written = re.sub(rf"\n  param {name} = .*", f"\n  param {name} = {value}", written)
    app, machine = both(app_text, machine_text)
    rewritten, _ = both(written, machine_text)
    assert rewritten == app or written != app_text
    expected = aspenpy.predict(rewritten, machine, socket=socket).runtime
    assert aspenpy.predict(app, machine, socket=socket, set=changes).runtime == close(expected)


@FEW
@given(applications(), machines(), SOCKETS, SETTINGS)
def test_a_prepared_function_is_the_prediction(
    app_text: str, machine_text: str, socket: str, values: dict[str, float]
) -> None:
    app, machine = both(app_text, machine_text)
    prepared = aspenpy.prepare(app, machine, ["n", "r"], socket=socket)
    expected = aspenpy.predict(app, machine, socket=socket, set=values).runtime
    assert prepared(values["n"], values["r"]) == pytest.approx(expected, rel=1e-12)
    assert prepared(**values) == prepared(values["n"], values["r"])


@FEW
@given(predictions())
def test_models_and_predictions_survive_pickling(prediction: Prediction) -> None:
    app, machine = pickle.loads(pickle.dumps((prediction.application, prediction.machine)))
    assert app == prediction.application
    assert machine == prediction.machine
    assert hash(app) == hash(prediction.application)
    again = pickle.loads(pickle.dumps(prediction))
    assert again.runtime == prediction.runtime
    assert again.kernels == prediction.kernels


@FEW
@given(applications(), applications())
def test_models_are_equal_when_their_texts_say_the_same(first: str, second: str) -> None:
    one, other = aspenpy.parse(first), aspenpy.parse(second.replace("\n", "\n\n  // a comment\n"))
    assert (one == other) == (first == second)
    assert aspenpy.parse(first.replace("  ", "\t")) == one
