"""Advice: what all steps of Prometheus found for an application on a machine."""

from __future__ import annotations

from aspenpy.advice.classification import Classification, Classified
from aspenpy.advice.configuration import ComponentRange, NearOptimal, Outcome
from aspenpy.advice.decide import Decided
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.scalability import Scalability, Scaled
from aspenpy.advice.significance import Significance
from aspenpy.advice.throttled import Throttled
from aspenpy.answers.case import Case
from aspenpy.studies.explore.sensitivity import Effects
from aspenpy.tables.result import Result


class Advice(Result):
    """The results of all steps, in their order: `case` is what was asked; a step that was left out is None or empty."""

    reported_by = "advice"

    def __init__(
        self,
        case: Case,
        classified: Classified,
        space: DesignSpace,
        scaled: Scaled | None = None,
        significances: tuple[Significance, ...] = (),
        decided: Decided | None = None,
        throttled: Throttled | None = None,
    ) -> None:
        self.case, self.classified, self.space, self.scaled = case, classified, space, scaled
        self.significances, self.decided, self.throttled = significances, decided, throttled

    @property
    def base(self) -> Outcome:
        """What the run takes where nothing is varied."""
        return self.space.base

    @property
    def classifications(self) -> tuple[Classification, ...]:
        """The whole application first, then its kernels, the longest first."""
        return self.classified.classifications

    @property
    def ranges(self) -> tuple[ComponentRange, ...]:
        return self.space.ranges

    @property
    def runtime_effects(self) -> Effects:
        """Normalised sensitivities of the runtime, alone and in pairs."""
        return self.space.runtime_effects

    @property
    def energy_effects(self) -> Effects | None:
        """Of the energy; None where the machine states no power."""
        return self.space.energy_effects

    @property
    def near_optimal(self) -> tuple[NearOptimal, ...]:
        return self.space.near_optimal

    @property
    def scalings(self) -> tuple[Scalability, ...]:
        return () if self.scaled is None else self.scaled.scalings
