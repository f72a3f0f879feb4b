"""A case: what it holds, how it is changed, and that every function takes it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import aspenpy
from aspenpy import AspenError, Case

APPLICATION = "model m { param n = 3 kernel main { execute { flops [2*n] } } kernel other { execute { flops [n] } } }"
MACHINE = (
    "machine c { socket [1] s } socket s { core [1] k } core k { resource flops(x) [x/rate] } param rate = 4 in 1 .. 8"
)


def models() -> tuple[aspenpy.Application, aspenpy.Machine]:
    app, machine = aspenpy.parse(APPLICATION), aspenpy.parse(MACHINE)
    assert isinstance(app, aspenpy.Application)
    assert isinstance(machine, aspenpy.Machine)
    return app, machine


def test_a_case_is_predicted() -> None:
    """2 n / 4 seconds."""
    case = Case(*models(), set={"n": 10})
    assert aspenpy.predict(case).runtime == 5
    assert aspenpy.predict(case, kernel="other").runtime == 2.5
    assert aspenpy.predict(case.with_set({"rate": 1})).runtime == 20
    assert aspenpy.predict(case.changed(set={})).runtime == 1.5
    assert aspenpy.predict(case).runtime == 5, "a case is not changed by what is made of it"


def test_what_is_set_is_kept() -> None:
    given = {"n": 10}
    case = Case(*models(), set=given)
    given["n"] = 1
    assert case.set == {"n": 10}


def test_equal_cases() -> None:
    app, machine = models()
    case = Case(app, machine, set={"n": 1, "rate": 2})
    assert case == Case(app, machine, set={"rate": 2, "n": 1})
    assert hash(case) == hash(Case(app, machine, set={"rate": 2, "n": 1}))
    others = [case.changed(seed=1), case.changed(kernel="other"), case.changed(overlap=True), case.with_set({"n": 1.0})]
    assert all(other != case for other in others)


@pytest.mark.parametrize(
    "asked",
    [
        lambda *case, **options: aspenpy.predict(*case, **options).runtime,
        lambda *case, **options: aspenpy.prepare(*case, free=["n"], **options)(7),
        lambda *case, **options: aspenpy.profile(*case, **options).runtime,
        lambda *case, **options: aspenpy.trace(*case, **options).steps[0].duration,
        lambda *case, **options: aspenpy.Counts(*case, **options).amounts["flops"],
        lambda *case, **options: aspenpy.parallelism(*case, **options).most,
        lambda *case, **options: aspenpy.memory(*case, **options).total,
        lambda *case, **options: aspenpy.sensitivity(*case, vary="rate", **options)[0].here,
        lambda *case, **options: aspenpy.optimise(*case, minimise="runtime", vary="rate=1..8", **options).value,
        lambda *case, **options: float(aspenpy.sweep(*case, over={"rate": [1, 2]}, **options)["runtime"].values[1]),
        lambda *case, **options: aspenpy.Session(*case, **options).prediction.runtime,
        lambda *case, **options: aspenpy.place(*case, **options).runtime,
    ],
)
def test_all_take_it(asked: Callable[..., Any]) -> None:
    app, machine = models()
    assert asked(Case(app, machine, set={"n": 5})) == asked(app, machine, set={"n": 5})


def test_scaling_and_counting() -> None:
    app = aspenpy.parse("model m { param ranks = 1 kernel main { execute [ranks] { flops [64/ranks] } } }")
    machine = aspenpy.parse("machine c { socket [1] s } socket s { core [8] k } core k { resource flops(x) [x] }")
    assert isinstance(app, aspenpy.Application)
    assert isinstance(machine, aspenpy.Machine)
    case = Case(app, machine)
    assert [point.time for point in aspenpy.scale(case, ranks=[1, 4, 8]).points] == [64, 16, 8]
    assert aspenpy.count(case.with_set({"ranks": 4}), "flops") == 64


def test_a_prediction_travels_with_its_case() -> None:
    again = pickle.loads(pickle.dumps(aspenpy.predict(Case(*models(), set={"n": 10}, seed=3))))
    assert (again.runtime, again.case.set, again.seed) == (5, {"n": 10}, 3)


def test_without_a_machine() -> None:
    app, _ = models()
    with pytest.raises(AspenError, match="has no runtime without a machine"):
        aspenpy.predict(app)
    assert aspenpy.count(Case(app), "flops") == 6


def test_no_model() -> None:
    with pytest.raises(AspenError, match=r"no application model[^$]*aspenpy.load_application"):
        Case("comd")  # type: ignore[arg-type]
    with pytest.raises(AspenError, match=r"no machine model[^$]*aspenpy.load_machine"):
        Case(models()[0], "haswell")  # type: ignore[arg-type]


def test_what_can_be_no_value() -> None:
    with pytest.raises(AspenError):
        aspenpy.sweep(*models(), over={"rate": [1, 2]}, set={"n": [1, 2]})  # type: ignore[dict-item]


def test_a_second_sweep_starts_at_once() -> None:
    """Neither mapping nor lowering is done again for the same models, axes and metrics."""
    from aspenpy.sweeps.grid import make_study
    from aspenpy.sweeps.run import StudyRun

    app, machine = models()
    first, second = (StudyRun(make_study(Case(app, machine), {"n": [1, 2, high]})) for high in (3, 3))
    assert first.study.formulas[0] is second.study.formulas[0]
    other = StudyRun(make_study(Case(app, machine, set={"rate": 8}), {"n": [1, 2, 3]}))
    assert [list(run.worker.stretch(0).values[0]) for run in (first, second, other)] == [
        [0.5, 1, 1.5],
        [0.5, 1, 1.5],
        [0.25, 0.5, 0.75],
    ]


def test_an_option_that_is_none_is_named() -> None:
    """Of a case that is there, and of an application and a machine."""
    app, machine = aspenpy.load_application("stream"), aspenpy.load_machine("haswell")
    with pytest.raises(TypeError, match="nonsense"):
        aspenpy.predict(Case(app, machine), nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="nonsense"):
        aspenpy.predict(app, machine, nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Case has no `nonsense`; its fields are application, machine"):
        Case(app, machine).changed(nonsense=1)  # type: ignore[call-arg]
