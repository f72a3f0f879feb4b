"""Profiles, counts, parallelism and traces of random models against running the models pass by pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.answers.counting import Counts
from aspenpy.answers.parallelism import Parallelism
from aspenpy.answers.profile import Profile
from aspenpy.answers.trace import Trace
from tests.analysis.unrolled import InOrder, Unrolled
from tests.random_models import RESOURCES, applications, machines
from tests.thorough import examples


def close(value: float) -> object:
    return pytest.approx(float(value), rel=1e-11, abs=1e-12)


@settings(max_examples=examples(25))
@given(applications(), machines(), st.booleans())
def test_profile(app_text: str, machine_text: str, overlap: bool) -> None:
    app, machine = aspenpy.parse(app_text), aspenpy.parse(machine_text)
    spent = Unrolled(app.node, machine.node, "S", overlap).run()
    profile = Profile(aspenpy.predict(app, machine, socket="S", overlap=overlap))

    def total(kind: str, *wanted: str) -> float:
        ends = [key for key in spent.amounts if key[0] == kind and key[1][-len(wanted) :] == wanted]
        return float(sum(spent.amounts[key] for key in ends))

    assert profile.runtime == close(spent.time)
    for use in profile.paths:
        assert use.exclusive == close(spent.amounts.get(("time", use.path), 0))
        assert use.calls == close(spent.amounts.get(("calls", use.path), 1 if use.path == ("main",) else 0))
    assert sum(use.exclusive for use in profile.paths) == close(profile.runtime)
    assert sum(kernel.exclusive for kernel in profile.kernels) == close(profile.runtime)
    for kernel in profile.kernels:
        assert kernel.exclusive == close(total("time", kernel.name))
        own = [block.time for block in profile.blocks if block.kernel == kernel.name]
        assert sum(own) == close(total("time", kernel.name))
        within = (key for key in spent.amounts if key[0] == "time" and kernel.name in key[1])
        assert kernel.inclusive == close(sum(spent.amounts[key] for key in within))
    for caller in profile.kernels:
        for callee in profile.kernels:
            arcs = [arc for arc in profile.arcs if (arc.caller, arc.callee) == (caller.name, callee.name)]
            assert sum(arc.calls for arc in arcs) == close(total("calls", caller.name, callee.name))
            pair = f" {caller.name} {callee.name} "
            through = [key for key in spent.amounts if key[0] == "time" and pair in f" {' '.join(key[1])} "]
            assert sum(arc.time for arc in arcs) == close(sum(spent.amounts[key] for key in through))


@settings(max_examples=examples(25))
@given(applications(), machines())
def test_counts(app_text: str, machine_text: str) -> None:
    app, machine = aspenpy.parse(app_text), aspenpy.parse(machine_text)
    spent = Unrolled(app.node, machine.node, "S").run()
    counts = Counts(app, machine=machine)
    keys = [key for key in spent.amounts if key[0] == "amount"]
    for resource in set(counts.resources) & set(RESOURCES):
        mine = [key for key in keys if key[2] == resource]
        assert float(counts.amounts[resource]) == close(sum(spent.amounts[key] for key in mine))
        for kernel in counts.kernels:
            own = sum(spent.amounts[key] for key in mine if key[1][-1] == kernel.name)
            within = sum(spent.amounts[key] for key in mine if kernel.name in key[1])
            assert float(kernel.exclusive[resource]) == close(own)
            assert float(kernel.inclusive[resource]) == close(within)


@settings(max_examples=examples(25))
@given(applications(), machines())
def test_parallelism(app_text: str, machine_text: str) -> None:
    app, machine = aspenpy.parse(app_text), aspenpy.parse(machine_text)
    unrolled = Unrolled(app.node, machine.node, "S")
    unrolled.run()
    found = Parallelism(app, machine=machine)
    assert all(block.together is not None for block in found.blocks)
    assert float(found.most or 0) == close(max(unrolled.together, default=0))


@settings(max_examples=examples(25))
@given(applications(), machines())
def test_trace(app_text: str, machine_text: str) -> None:
    app, machine = aspenpy.parse(app_text), aspenpy.parse(machine_text)
    in_order = InOrder(app.node, machine.node, "S")
    in_order.run()
    trace = Trace(app, machine=machine, socket="S", most=100_000, passes=100)
    assert trace.complete
    blocks = [step for step in trace.steps if step.kind == "block"]
    asked = [[(demand.resource, close(demand.amount)) for demand in step.demands] for step in blocks]
    assert [[(name, float(amount)) for name, amount in block] for block in in_order.blocks] == asked
    assert trace.steps[0].duration == close(aspenpy.predict(app, machine, socket="S").runtime)
