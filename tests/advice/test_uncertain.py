"""Intervals: by quantiles of the normal distribution on a runtime that goes with one value, and who claims what."""

from __future__ import annotations

from math import exp

import pytest

from aspenpy import predict
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.uncertain import Uncertain
from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_machine, parse

Z = 1.959964  # the 97.5 % quantile of the normal distribution
APPLICATION = parse("model work { param n = 1e9  kernel main { execute { loads [n] } } }")


HASWELL = {"haswell_nodes": 1}


def uncertain(given: dict[str, float] | None, error: float | None = None, machine: str = "haswell") -> Uncertain:
    case = Case(APPLICATION, load_machine(machine), set=HASWELL if machine == "haswell" else {})
    return Uncertain(DesignSpace(case, ("clock", "memory_bandwidth")), given, error)


def test_a_time_that_goes_with_one_over_a_bandwidth() -> None:
    found = uncertain({"memory_bandwidth": 0.05}).runtime
    assert found.low == pytest.approx(found.stated / (1 + 0.05 * Z), rel=0.01)
    assert found.high == pytest.approx(found.stated / (1 - 0.05 * Z), rel=0.01)


def test_a_time_that_goes_with_a_parameter() -> None:
    found = uncertain({"n": 0.1}).runtime
    assert (found.low, found.high) == pytest.approx(
        (found.stated * (1 - 0.1 * Z), found.stated * (1 + 0.1 * Z)), rel=0.02
    )


def test_errors_of_the_model_are_factors_with_a_median() -> None:
    """Half of the samples are within the median error: 12 % is a deviation of 0.12/0.6745 of the logarithm."""
    found = uncertain({"clock": 0.0}, error=0.12)
    deviation = 0.12 / 0.6745
    assert (found.runtime.low, found.runtime.high) == (found.runtime.stated,) * 2
    low, high = (found.runtime.stated * exp(sign * Z * deviation) for sign in (-1, 1))
    assert (found.total_runtime.low, found.total_runtime.high) == pytest.approx((low, high), rel=0.04)
    assert found.energy is not None
    assert found.total_energy is not None
    both = (deviation**2 + found.claims[-1].deviation ** 2) ** 0.5
    assert found.total_energy.high == pytest.approx(found.energy.stated * exp(Z * both), rel=0.04)


def test_nothing_that_is_stated_is_uncertain() -> None:
    """No value of the models is off: one runtime, and the error of the models alone."""
    found = uncertain({}, error=0.12)
    for quantity in (found.runtime, found.energy):
        assert quantity is not None
        assert (quantity.low, quantity.mean, quantity.high) == pytest.approx((quantity.stated,) * 3)
    assert found.runtime.stated == pytest.approx(predict(APPLICATION, load_machine("haswell"), set=HASWELL).runtime)
    same = uncertain({"clock": 0.0}, error=0.12)
    for total, other in ((found.total_runtime, same.total_runtime), (found.total_energy, same.total_energy)):
        assert total is not None
        assert other is not None
        assert (total.low, total.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize(
    ("machine", "claims"),
    [
        (
            "xeon_platinum_8360y",
            {"memory_bandwidth": "bandwidth", "runtime": "16 C kernels", "power": "Ice Lake package"},
        ),
        ("haswell", {"memory_bandwidth": None, "runtime": None, "power": "SPECpower nodes at full load"}),
        ("epyc_7763", {"runtime": "16 C kernels", "power": "SPECpower nodes at full load"}),
        ("a100_40gb", {"memory_bandwidth": None, "runtime": None, "power": "A100 board"}),
        ("h100", {"runtime": None, "power": None}),
    ],
)
def test_who_states_an_error(machine: str, claims: dict[str, str | None]) -> None:
    found = {item.name: item for item in uncertain(None, machine=machine).claims}
    for name, row in claims.items():
        stated = found[name].stated
        assert (None if stated is None else stated.row) == row
        assert found[name].source == ("assumed" if row is None else "stated")


def test_what_is_assumed_where_nobody_states_an_error() -> None:
    """As docs/prometheus.md says: 30 % of runtime and 15 % of power, as medians; 10 % standard deviation of rates."""
    found = {item.name: item for item in uncertain(None, machine="h100").claims}
    assert (found["runtime"].median, found["power"].median) == pytest.approx((0.3, 0.15), rel=1e-4)
    rates = {"memory_bandwidth", "memory_latency", "network_bandwidth", "network_latency"} & {*found}
    assert rates
    assert {found[name].deviation for name in rates if found[name].source == "assumed"} == {0.1}


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(AspenError, match="neither a hardware component"):
        uncertain({"horoscope": 0.1})
