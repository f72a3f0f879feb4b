"""Predictors of sensitivity to bandwidth from Aspen models, counted by hand."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.estimators.bandwidth import analytical_slowdown, bandwidth_predictors


def test_stream_by_hand() -> None:
    """Ten repetitions of four kernels over three arrays: bytes of loads and stores over 8, one of eight misses."""
    prediction = aspenpy.predict(aspenpy.load_application("stream"), aspenpy.load_machine("haswell"))
    loads, stores, flops = (prediction.resources[name].amount for name in ("loads", "stores", "flops"))
    accesses = (loads + stores) / 8
    total = accesses + flops
    found = bandwidth_predictors(prediction)
    assert found["loads"] == pytest.approx(loads / 8 / total)
    assert found["fprat"] == pytest.approx(flops / accesses)
    assert found["dmm"] == pytest.approx(accesses / 8 / total)
    assert found["d1m"] + found["d2m"] + found["d3m"] + found["dmm"] == pytest.approx(accesses / total)


def test_hits_are_those_of_the_caches() -> None:
    """Per instruction hits and misses of all levels are the accesses."""
    case = aspenpy.load_application("cache_jacobi5"), aspenpy.load_machine("haswell")
    found, totals = bandwidth_predictors(aspenpy.predict(*case)), aspenpy.traffic(*case).totals
    assert found["d1m"] + found["d2m"] + found["d3m"] + found["dmm"] == pytest.approx(found["loads"] + found["stores"])
    missed, read = totals[-1].read_misses + totals[-1].write_misses, totals[0].reads
    assert read > 0
    assert found["dmm"] / found["loads"] == pytest.approx(missed / read)


@pytest.mark.parametrize(("application", "slowdown"), [("stream", 2.0), ("matmul", 1.0)])
def test_slowdown_at_half_the_bandwidth(application: str, slowdown: float) -> None:
    prediction = aspenpy.predict(aspenpy.load_application(application), aspenpy.load_machine("haswell"))
    assert analytical_slowdown(prediction, 0.5) == pytest.approx(slowdown)
    assert analytical_slowdown(prediction, 1.0) == pytest.approx(1)


def test_a_model_without_work_is_refused() -> None:
    empty = aspenpy.parse("model empty { kernel main { execute { messages [8] } } }")
    with pytest.raises(AspenError, match="neither accesses nor operations"):
        bandwidth_predictors(aspenpy.predict(empty, aspenpy.load_machine("haswell")))
