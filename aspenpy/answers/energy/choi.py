"""Fit of the energy roofline, a device with constant rates, to measurements.

Choi, Bedard, Fowler and Vuduc, "A roofline model of energy", IPDPS 2013. W flops and Q bytes in the time T take the
energy E = W * e_flop + Q * e_byte + pi_0 * T.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.record import Record


class Fit(Record):
    """Constants that describe measured watts: joules a flop and a byte, and constant watts."""

    energy_per_flop: float
    energy_per_byte: float
    constant_power: float

    def power(self, flop_rate: float, byte_rate: float) -> float:
        """Watts at so many flops and bytes a second."""
        return self.constant_power + self.energy_per_flop * flop_rate + self.energy_per_byte * byte_rate


def fit(flop_rates: Sequence[float], byte_rates: Sequence[float], watts: Sequence[float]) -> Fit:
    """The constants with the least squares of relative errors, for rates a second. Raises ValueError for fewer than
    three measurements, watts that are not positive, and rates that do not tell the three constants apart."""
    import numpy

    if not len(watts) == len(flop_rates) == len(byte_rates) >= 3:
        raise ValueError("a fit needs as many flop rates and byte rates as watts, and three of each at least")
    measured = numpy.asarray(watts, dtype=float)
    if not (measured > 0).all():
        raise ValueError("watts have to be positive")
    columns = [numpy.asarray(flop_rates, float), numpy.asarray(byte_rates, float), numpy.ones(len(measured))]
    sizes = [abs(column).max() or 1.0 for column in columns]
    scaled = numpy.stack([column / size / measured for column, size in zip(columns, sizes, strict=True)], axis=1)
    found, _, rank, _ = numpy.linalg.lstsq(scaled, numpy.ones(len(measured)), rcond=1e-10)
    if rank < 3:
        raise ValueError("the rates do not tell the three constants apart: measure at other intensities")
    flop, byte, constant = (float(value / size) for value, size in zip(found, sizes, strict=True))
    return Fit(flop, byte, constant)
