"""The energy roofline in closed form, and its fit to measured watts."""

import csv
import os
from pathlib import Path

import pytest

import aspenpy
from aspenpy.expr.evaluate import evaluate_many
from tests.energy.choi import EnergyRoofline, Fit, fit, mean_error

DEVICES = {
    "GTX 580, single": (EnergyRoofline(99.7e-12, 513e-12, 122, 1581.06e9, 192.4e9),
                        (8.218, 5.145, 176.9, 0.5637, 4.516, 5.654, 4.179, 378.3)),
    "GTX 580, double": (EnergyRoofline(212e-12, 513e-12, 122, 197.63e9, 192.4e9),
                        (1.027, 2.420, 829.3, 0.2556, 0.793, 1.206, 0.753, 262.6)),
    "i7-950, single": (EnergyRoofline(371e-12, 795e-12, 122, 106.56e9, 25.6e9),
                       (4.162, 2.143, 1515.9, 0.2447, 2.090, 0.660, 0.586, 181.9)),
    "i7-950, double": (EnergyRoofline(670e-12, 795e-12, 122, 53.28e9, 25.6e9),
                       (2.081, 1.187, 2959.8, 0.2264, 1.059, 0.338, 0.299, 178.0)),
}  # fmt: skip
"""Constants as Choi and others (2013) have them, to our knowledge, and what their formulas make of them: time balance,
energy balance, actual pJ a flop, efficiency of a flop, effective balance, peak Gflop/J, and Gflop/J and watts at the
time balance."""


@pytest.mark.parametrize("device", DEVICES)
def test_closed_form(device: str) -> None:
    found, expected = DEVICES[device]
    at = found.time_balance
    told = (
        at, found.energy_balance, found.actual_energy_per_flop * 1e12, found.flop_efficiency,
        found.effective_energy_balance, 1e-9 / found.actual_energy_per_flop, found.flops_per_joule(at) * 1e-9,
        found.power(at),
    )  # fmt: skip
    assert told == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_half_of_the_peak_at_the_effective_balance(device: str) -> None:
    found, _ = DEVICES[device]
    peak = 1 / found.actual_energy_per_flop
    assert found.flops_per_joule(found.effective_energy_balance) == pytest.approx(peak / 2, rel=1e-12)
    assert found.flops_per_joule(1e9) == pytest.approx(peak, rel=1e-6)


INTENSITIES = [2.0**power for power in range(-2, 8)]


def rates(device: EnergyRoofline) -> tuple[list[float], list[float], list[float]]:
    flops = [device.rate(intensity) for intensity in INTENSITIES]
    volumes = [rate / intensity for rate, intensity in zip(flops, INTENSITIES, strict=True)]
    return flops, volumes, [device.power(intensity) for intensity in INTENSITIES]


@pytest.mark.parametrize("device", DEVICES)
def test_a_fit_finds_what_made_the_watts(device: str) -> None:
    known, _ = DEVICES[device]
    found = fit(*rates(known))
    assert found.energy_per_flop == pytest.approx(known.energy_per_flop, rel=1e-9)
    assert found.energy_per_byte == pytest.approx(known.energy_per_byte, rel=1e-9)
    assert found.constant_power == pytest.approx(known.constant_power, rel=1e-9)
    assert mean_error(found, *rates(known)) < 1e-12


@pytest.mark.parametrize(
    ("flops", "volumes", "watts", "message"),
    [
        ([1.0], [1.0], [1.0], "three of each at least"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], "do not tell the three constants apart"),
        ([1.0, 2.0, 3.0], [1.0, 5.0, 3.0], [1.0, 0.0, 1.0], "have to be positive"),
    ],
)
def test_a_fit_needs_enough(flops: list[float], volumes: list[float], watts: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(flops, volumes, watts)


def measured() -> list[dict[str, str]]:
    shared = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
    path = shared / "data" / "gpu_roofline_a100.csv"
    if not path.exists():
        pytest.skip(f"the measurements are not there: {path}")
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns(rows: list[dict[str, str]]) -> tuple[list[float], list[float], list[float]]:
    return (
        [float(row["gflop_s"]) * 1e9 for row in rows],
        [float(row["gb_s"]) * 1e9 for row in rows],
        [float(row["watts"]) for row in rows],
    )


def test_a100_on_intensities_left_out() -> None:
    """gpu-benches, eight A100 of 40 GB at 43 intensities: each intensity from all others."""
    rows = measured()
    intensities = sorted({row["flop_per_byte"] for row in rows})
    errors = []
    for left_out in intensities:
        seen = [row for row in rows if row["flop_per_byte"] != left_out]
        held = [row for row in rows if row["flop_per_byte"] == left_out]
        errors.append(mean_error(fit(*columns(seen)), *columns(held)))
    assert len(errors) == 43
    assert sum(errors) / len(errors) < 0.026


def declared() -> Fit:
    """The constants that the library's A100 declares."""
    machine = aspenpy.load_machine("a100_40gb")
    properties = machine.components["nvidia_a100_40gb"].properties
    names = ("energy_per_flop", "energy_per_byte", "constant_power")
    laws = [properties[name].value for name in names]
    assert None not in laws
    return Fit(*(float(found) for found in evaluate_many([law for law in laws if law], None, 0, machine.definitions)))


def test_the_library_has_the_fitted_a100() -> None:
    found, library = fit(*columns(measured())), declared()
    assert library.energy_per_flop == pytest.approx(found.energy_per_flop, rel=0.03)
    assert library.energy_per_byte == pytest.approx(found.energy_per_byte, rel=0.03)
    assert library.constant_power == pytest.approx(found.constant_power, rel=0.03)
    assert mean_error(library, *columns(measured())) < 0.026


def test_the_library_draws_what_one_a100_drew() -> None:
    """Watts of the same benchmark as it was printed, at 0.25 flop/B: 343 Gflop/s, 1372 GB/s, 227 and 224 W."""
    library = declared()
    watts = library.constant_power + 343e9 * library.energy_per_flop + 1372e9 * library.energy_per_byte
    assert watts == pytest.approx(225.5, rel=0.04)
