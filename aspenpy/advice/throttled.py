"""Throttled: what is lost if memory bandwidth, clock, network or power is cut piece by piece, and by noise.

Section 4.5 of Umar's dissertation (Virginia Tech, 2018) throttles memory bandwidth in this way, after the Gremlins,
which restrict power, memory and network of a system and add noise to it.
"""

from __future__ import annotations

import numpy

from aspenpy.advice.configurable import make_configurable
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.uncertain import Sampled, sample_configurations, uncertain_quantities
from aspenpy.answers.case import Case
from aspenpy.answers.energy.cap import PowerByClock, power_by_clock
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.engine.arrays import Floats
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats
from aspenpy.record import Record
from aspenpy.sweeps.points import Formulas
from aspenpy.tables.result import Result

RESTRICTED = ("memory_bandwidth", "clock", "network_bandwidth")
NOISY = (*RESTRICTED, "network_latency")
PIECES = 10
NOISE = 0.05  # relative standard deviation
CAP = graph.symbol("cap", "throttled")  # watts of a socket, which the lowest clock does not keep to
CLOCKS = 513  # at which the power is worked out; between them it is interpolated


class Restriction(Record):
    """A component, or the `power` of a socket, the remaining `parts` of it (1 first) and the `values` that these are,
    in base units: runtimes (s) and energies (J; none where the machine states no power)."""

    component: str
    parts: tuple[float, ...]
    values: tuple[float, ...]
    runtimes: tuple[float, ...]
    energies: tuple[float, ...]

    @property
    def losses(self) -> tuple[float, ...]:
        """The runtime at each step, divided by that with nothing restricted."""
        return tuple(runtime / self.runtimes[0] if self.runtimes[0] else 1.0 for runtime in self.runtimes)


class Throttled(Result):
    """An application whose machine is restricted in `pieces` steps, one component, or the power, at a time; `noise` is
    the relative standard deviation by which components fall short of their values. Raises AspenError."""

    def __init__(
        self, case: Case, options: EnergyOptions = DEFAULT, pieces: int = PIECES, noise: float = NOISE
    ) -> None:
        stated = make_configurable(case.required_machine, case.socket).parameters
        wanted = [item.component for item in stated if item.component in NOISY]
        self.space = DesignSpace(case, wanted, options=options, set_too=True)
        self.case, self.noise = case, noise
        self.parts = tuple(float(part) for part in numpy.arange(pieces, 0, -1) / pieces)
        self.powerless: Diagnostic | None = self.space.powerless
        self._evaluate = self.space.space.evaluator(uncertain_quantities(self.space), missing=True)
        power = self._power()
        self.restrictions = (
            *(self._restrict(item.component) for item in self.space.ranges if item.component in RESTRICTED),
            *([power] if power is not None else []),
        )
        self.noisy: tuple[Sampled, Sampled | None] = sample_configurations(
            self.space, dict.fromkeys(NOISY, noise), "slower"
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        said = self.space.prediction.diagnostics
        return tuple(
            drop_repeats(said if self.powerless is None else [*said, self.powerless.replace(severity="warning")])
        )

    def _restrict(self, component: str) -> Restriction:
        index = next(index for index, item in enumerate(self.space.ranges) if item.component == component)
        points = numpy.tile(self.space.space.base, (len(self.parts), 1))
        points[:, index] *= self.parts
        values = self._evaluate(points)
        factor = self.space.ranges[index].factor
        return Restriction(component, self.parts, _floats(points[:, index] * factor), *_rows(values))

    def _power(self) -> Restriction | None:
        """Runtimes and energies under caps of a socket's power, relative to the power of the kernel that draws most:
        the clock falls until the cap holds, and below the lowest clock the socket waits. Parts that leave nothing for
        work are left out. None where the model of power knows no caps."""
        prediction = self.space.prediction
        if self.powerless is not None:
            return None
        try:
            clock = power_by_clock(prediction, self.space.options)
            with prediction.scope.locate_failures():
                clocks, watts = _powers(clock, prediction.seed)
            waiting = self._formulas(self.space.options.replace(cap=CAP), clock, CAP)
        except AspenError as error:
            self.powerless = error.diagnostics[0]
            return None
        caps = numpy.array(self.parts) * watts[-1]
        below = caps < watts[0]
        with prediction.scope.locate_failures():
            values = self._formulas(self.space.options, clock)(numpy.interp(caps, watts, clocks)[:, None])
            if below.any():
                points = numpy.stack([numpy.full(below.sum(), clock.lowest), caps[below]], axis=1)
                values[:, below] = waiting(points, missing=True)
        some = ~numpy.isnan(values[0])
        return Restriction(
            "power", tuple(numpy.array(self.parts)[some].tolist()), _floats(caps[some]), *_rows(values[:, some])
        )

    def _formulas(self, options: EnergyOptions, clock: PowerByClock, *symbols: Expr) -> Formulas:
        """Runtime and energy by the clock, and by the cap where it is a symbol."""
        prediction = self.space.prediction
        totals = energy_totals(prediction.tree, options)
        exprs = prediction.scope.formulas([totals.capped_runtime, totals.energy], [clock.parameter])
        return Formulas(exprs, [clock.symbol, *symbols], prediction.seed)


def _powers(clock: PowerByClock, seed: int) -> tuple[Floats, Floats]:
    """Clocks from the lowest on, and the watts of the kernel that draws most at each."""
    clocks = numpy.linspace(clock.lowest, clock.declared, CLOCKS)
    exprs = [expr for pair in clock.kernels for expr in pair]
    values = Formulas(exprs, [clock.symbol], seed)(clocks[:, None])
    energies, times = values[::2], values[1::2]
    with numpy.errstate(all="ignore"):
        watts = numpy.where(times > 0, energies / times, 0.0)
    return clocks, numpy.maximum.accumulate(watts.max(axis=0))


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(map(float, values))


def _rows(values: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return _floats(values[0]), _floats(values[1]) if len(values) > 1 else ()
