"""Uncertain: between which values a run lies, by what is not known of the models' values and by the models' own errors.

What a rule was compared with is said by `answers.stated_error`; where nobody compared it, its error is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy

from aspenpy.advice.design_space import DesignSpace
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.occupancy import MANY_LANES
from aspenpy.answers.peaks import value_of
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.stated_error import NORMAL_MEDIAN, Covered, StatedError, find_stated_error
from aspenpy.engine.arrays import Floats
from aspenpy.explore.space import Quantity, Space
from aspenpy.explore.variable import Kind, Variable
from aspenpy.expr.draws import generator_seed
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.models.machine.model import Component
from aspenpy.record import Record
from aspenpy.sweeps.declarations import is_countable

COUNT = 1000  # samples; with so many an end of a 95 % interval is known to a tenth of its width
LOWEST = 0.01  # part of what is stated below which no sample goes
ENDS = (0.025, 0.975)  # of the interval that holds 95 % of the samples

Side = Literal["both", "slower"]
WORSE_IF_MORE = ("memory_latency", "network_latency")


class Sampled(Record):
    """One quantity over `count` samples: its value where all is as stated, the mean, and the ends of the interval
    that holds 95 % of the samples."""

    stated: float
    mean: float
    low: float
    high: float
    count: int


def sample_configurations(
    space: DesignSpace, deviations: Mapping[str, float], side: Side = "both", count: int = COUNT
) -> tuple[Sampled, Sampled | None]:
    """Runtime and energy while components vary by normally distributed parts of what is stated, independently, by
    relative standard `deviations`; those that are `slower` only lose by it, as under noise of the system. The energy is
    None where the machine states no power."""
    evaluate = space.space.evaluator(uncertain_quantities(space), missing=True)
    points = numpy.tile(space.space.base, (count + 1, 1))
    generator = numpy.random.default_rng(generator_seed(space.case.seed))
    for index, item in enumerate(space.ranges):
        deviation = deviations.get(item.component, 0.0)
        drawn = generator.standard_normal(count) * deviation
        if item.variable.case:
            continue
        if side == "slower":
            drawn = abs(drawn) if item.component in WORSE_IF_MORE else -abs(drawn)
        points[1:, index] *= numpy.maximum(1 + drawn, LOWEST)
    values = evaluate(points)
    runtime = summarise_samples(values[0])
    return runtime, summarise_samples(values[1]) if len(values) > 1 else None


def uncertain_quantities(space: DesignSpace) -> tuple[Quantity, ...]:
    """Runtime and, where the machine states power, energy."""
    if space.powerless is not None:
        return (lambda prediction: prediction.tree.runtime,)
    totals = {id(each): energy_totals(each.tree, space.options) for each in space.space.cases}
    return (lambda each: totals[id(each)].capped_runtime, lambda each: totals[id(each)].energy)


def summarise_samples(values: Floats) -> Sampled:
    """The summary of some samples, the first of which is the value where all is as stated; nan is left out."""
    finite = values[1:][~numpy.isnan(values[1:])]
    low, high = numpy.quantile(finite, ENDS)
    return Sampled(float(values[0]), float(finite.mean()), float(low), float(high), len(finite))


RATES = ("memory_bandwidth", "memory_latency", "network_bandwidth", "network_latency")
"""Components of which nobody knows exactly what they come to; clocks and counts are known."""

ASSUMED_INPUT, ASSUMED_RUNTIME, ASSUMED_POWER = 0.1, 0.3, 0.15  # deviation; median errors, where nobody says
FITTED_PACKAGE, FITTED_BOARD = "intel_xeon_platinum_8360y", "nvidia_a100_40gb"  # sockets whose power was compared


class Claim(Record):
    """An error to expect: the `name` of a hardware component or parameter, or runtime or power; its standard
    `deviation` relative to its value; and the comparison that states it, None where it is `given` by the user or
    assumed."""

    name: str
    deviation: float
    stated: StatedError | None = None
    given: bool = False

    @property
    def median(self) -> float:
        """The median error that goes with the deviation."""
        return self.deviation * NORMAL_MEDIAN

    @property
    def source(self) -> str:
        return "stated" if self.stated is not None else "given" if self.given else "assumed"


class Uncertain:
    """Runtime and energy over samples in which values of the models are off by what `inputs` claim, normally
    distributed, and (`total_runtime`, `total_energy`) in which the models themselves are, too: by factors whose
    logarithms are normally distributed, of the time and of the power apart.

    `given` are relative standard deviations of components or of other parameters, in place of those of bandwidths and
    latencies; `error` is the median error of runtimes. Raises AspenError for a name that neither model has.
    """

    def __init__(
        self, space: DesignSpace, given: Mapping[str, float] | None = None, error: float | None = None
    ) -> None:
        self.space = space
        if given is None:
            stated = {item.component for item in space.machine.parameters}
            self.inputs = tuple(_input_claim(space, name) for name in RATES if name in stated)
        else:
            self.inputs = tuple(Claim(name, deviation, given=True) for name, deviation in given.items())
        self.runtime_claim = _runtime_claim(space, error)
        self.power_claim = _power_claim(space)
        runtimes, energies = self._samples()
        self.runtime, self.energy = (
            summarise_samples(runtimes),
            None if energies is None else summarise_samples(energies),
        )
        slower, hungrier = self._errors()
        self.total_runtime = summarise_samples(runtimes * slower)
        self.total_energy = None if energies is None else summarise_samples(energies * slower * hungrier)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All: the inputs', then the models' own."""
        return (*self.inputs, self.runtime_claim, *(() if self.power_claim is None else (self.power_claim,)))

    def _samples(self) -> tuple[Floats, Floats | None]:
        """Runtime and energy where all is as stated, then of each sample."""
        variables = [_variable(self.space, claim.name) for claim in self.inputs]
        quantities = uncertain_quantities(self.space)
        if not variables:
            point = self.space.base
            values = numpy.array([[point.runtime], [point.energy or 0.0]][: len(quantities)])
            values = numpy.repeat(values, COUNT + 1, axis=1)
        else:
            space = Space(variables, [self.space.prediction])
            points = numpy.tile(space.base, (COUNT + 1, 1))
            generator = numpy.random.default_rng(generator_seed(self.space.case.seed))
            for index, claim in enumerate(self.inputs):
                drawn = generator.standard_normal(COUNT) * claim.deviation
                points[1:, index] *= numpy.maximum(1 + drawn, LOWEST)
                if variables[index].kind == "whole":
                    points[:, index] = numpy.maximum(numpy.rint(points[:, index]), 1)
            values = space.evaluator(quantities, missing=True)(points)
        return values[0], values[1] if len(values) > 1 else None

    def _errors(self) -> tuple[Floats, Floats]:
        """Factors of time and of power: 1 where all is as stated, then for each sample."""
        generator = numpy.random.default_rng([generator_seed(self.space.case.seed), 1])
        claims = (self.runtime_claim, self.power_claim)
        deviations = [0.0 if claim is None else claim.deviation for claim in claims]
        slower, hungrier = (numpy.exp(generator.standard_normal(COUNT) * deviation) for deviation in deviations)
        return numpy.append(1.0, slower), numpy.append(1.0, hungrier)


def _variable(space: DesignSpace, name: str) -> Variable:
    """The variable that a component sets, or a parameter of either model."""
    prediction = space.prediction
    component = space.machine.parameter(name)
    if component is not None:
        name = f"machine:{component.sets}" if component.sets in space.case.application.parameters else component.sets
    elif name not in _parameters(prediction):
        names = [*(item.component for item in space.machine.parameters), *_parameters(prediction)]
        hint = suggest_nearest(name, names) or "parameters are those of `aspenpy show`"
        message = f"`{name}` is neither a hardware component of the machine nor a parameter"
        fail("unknown-parameter", message, hint=hint)
    base = float(prediction.scope.values([prediction.scope.symbol(name)], prediction.seed)[0])
    kind: Kind = "whole" if component is None and is_countable(name, prediction) else "real"
    return Variable(name, kind, min(base, 0.0), max(base, 0.0), base)


def _parameters(prediction: Prediction) -> list[str]:
    return [*prediction.application.parameters, *(item.name for item in prediction.machine.parameters)]


# -- who claims what -------------------------------------------------------------------------------


def _input_claim(space: DesignSpace, name: str) -> Claim:
    """Bandwidths were compared on processors whose models state what their memory attains."""
    if name == "memory_bandwidth" and _is_attained(space):
        return _claim_of(name, "bandwidth")
    return Claim(name, ASSUMED_INPUT)


def _runtime_claim(space: DesignSpace, error: float | None) -> Claim:
    """Runtimes were compared on the same."""
    if error is not None:
        return Claim("runtime", error / NORMAL_MEDIAN, given=True)
    if _is_attained(space):
        return _claim_of("runtime", "kernels")
    return Claim("runtime", ASSUMED_RUNTIME / NORMAL_MEDIAN)


def _power_claim(space: DesignSpace) -> Claim | None:
    """Power that responds was compared, where it is a processor's or was fitted; None where there is no energy."""
    if space.powerless is not None:
        return None
    covered: Covered | None = None
    if "idle_power" in _properties(space, "socket") and space.options.law in ("auto", "responding"):
        fitted: dict[str, Covered] = {FITTED_PACKAGE: "package", FITTED_BOARD: "board"}
        covered = fitted.get(space.prediction.tree.socket or "", None if _is_accelerator(space) else "power")
    return Claim("power", ASSUMED_POWER / NORMAL_MEDIAN) if covered is None else _claim_of("power", covered)


def _is_attained(space: DesignSpace) -> bool:
    return "attained_bandwidth" in _properties(space, "memory") and not _is_accelerator(space)


def _claim_of(name: str, covered: Covered) -> Claim:
    stated = find_stated_error(covered)
    return Claim(name, stated.deviation, stated)


def _component(space: DesignSpace, kind: str) -> Component | None:
    """The first of a type on the socket that computes."""
    places = space.prediction.machine.first_places(space.prediction.tree.socket)
    return next((place.component for place in places if place.component.type == kind), None)


def _properties(space: DesignSpace, kind: str) -> frozenset[str]:
    component = _component(space, kind)
    return frozenset() if component is None else frozenset(component.properties)


def _is_accelerator(space: DesignSpace) -> bool:
    """Whether a socket is an accelerator, by the launch of its kernels or by the lanes of its cores."""
    core = _component(space, "core")
    lanes = None if core is None else core.value("simd_width")
    worth = None if lanes is None else value_of(lanes, space.prediction.machine.definitions)
    return "launch_latency" in _properties(space, "socket") or (worth is not None and float(worth) >= MANY_LANES)
