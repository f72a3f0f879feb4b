"""Peaks, worked out by hand."""

import pytest

from aspenpy.answers.peaks import Peak, peaks
from aspenpy.answers.scope import Value
from aspenpy.models.machine.model import Machine
from tests.tiny import machine

TEXT = """
param clock = 2 * giga
machine M { node [3] N  interconnect [3] I }
node N { socket [2] A  socket [1] B }
socket A { core [4] CA  memory D }
socket B { core [8] CB }
core CA { resource flops(x) [x/clock] with sp [base], dp [base*2], simd [base/4], fmad [base/2] }
core CB { resource flops(x) [x/giga] with simd [base/w], stride(k) [base*k] }
memory D { resource loads(x) [x/(10*giga)]  resource stores(x) [ceil(x/64) * 10*nano] }
interconnect I { resource messages(x) [micro + x/giga] }
"""


@pytest.fixture
def found() -> list[Peak]:
    return peaks(machine(TEXT))


def rates(found: list[Peak], resource: str, component: str) -> dict[tuple[str, ...], Value | None]:
    return {peak.traits: peak.rate for peak in found if peak.resource == resource and peak.path[-1] == component}


def test_traits_in_all_combinations(found: list[Peak]) -> None:
    assert rates(found, "flops", "CA") == {
        ("sp",): pytest.approx(2e9),
        ("sp", "simd"): pytest.approx(8e9),
        ("sp", "fmad"): pytest.approx(4e9),
        ("sp", "simd", "fmad"): pytest.approx(16e9),
        ("dp",): pytest.approx(1e9),
        ("dp", "simd"): pytest.approx(4e9),
        ("dp", "fmad"): pytest.approx(2e9),
        ("dp", "simd", "fmad"): pytest.approx(8e9),
    }


def test_counts_are_those_of_the_whole_machine(found: list[Peak]) -> None:
    assert {peak.path[-1]: peak.count for peak in found} == {"CA": 3 * 2 * 4, "D": 3 * 2, "CB": 3 * 8, "I": 3}


def test_latency(found: list[Peak]) -> None:
    (message,) = (peak for peak in found if peak.resource == "messages")
    assert message.rate == pytest.approx(1e9)
    assert message.latency == pytest.approx(1e-6)


def test_no_peak_for_what_is_no_straight_line(found: list[Peak]) -> None:
    assert rates(found, "stores", "D") == {(): None}


def test_no_peak_for_what_the_machine_does_not_know(found: list[Peak]) -> None:
    # `w` is the application's to define; a trait with an argument is no peak of the machine.
    assert rates(found, "flops", "CB") == {(): pytest.approx(1e9), ("simd",): None}


def test_many_traits_are_not_multiplied_out() -> None:
    traits = ", ".join(f"t{number} [base*2]" for number in range(12))
    model: Machine = machine(f"machine M {{ core [1] C }} core C {{ resource flops(x) [x] with {traits} }}")
    sizes = [len(peak.traits) for peak in peaks(model)]
    assert sorted(sizes) == [0, *[1] * 12, 12]
