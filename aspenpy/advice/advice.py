"""Advice: what all steps of Prometheus found for an application on a machine."""

from __future__ import annotations

from aspenpy.advice.classification import Classification, Classified
from aspenpy.advice.configuration import ComponentRange, NearOptimal, Outcome
from aspenpy.advice.decide import Decided
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.scalability import Scalability, Scaled
from aspenpy.advice.significance import Significance
from aspenpy.advice.significant import Significant
from aspenpy.advice.throttled import Throttled
from aspenpy.advice.uncertain import Uncertain
from aspenpy.answers.case import Case
from aspenpy.explore.sensitivity import Effects
from aspenpy.tables.result import Result


class Advice(Result):
    """The results of all steps, in their order: `case` is what was asked; a step that was left out is None."""

    def __init__(
        self,
        case: Case,
        classified: Classified,
        significant: Significant,
        uncertain: Uncertain,
        scaled: Scaled | None,
        decided: Decided | None,
        throttled: Throttled,
    ) -> None:
        self.case, self.classified, self.significant, self.uncertain = case, classified, significant, uncertain
        self.scaled, self.decided, self.throttled = scaled, decided, throttled

    @property
    def space(self) -> DesignSpace:
        """Step 3."""
        return self.uncertain.space

    @property
    def base(self) -> Outcome:
        """What the run takes where nothing is varied."""
        return self.space.base

    @property
    def classifications(self) -> tuple[Classification, ...]:
        """The whole application first, then its kernels, the longest first."""
        return self.classified.classifications

    @property
    def significances(self) -> tuple[Significance, ...]:
        """Shares of the components, by counters where there are any, then by the model."""
        return self.significant.significances

    @property
    def ranges(self) -> tuple[ComponentRange, ...]:
        """The hardware components that vary, with the ends of their ranges in the units of the components."""
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
        """The range of each component over the configurations that are nearly the best."""
        return self.space.near_optimal

    @property
    def scalings(self) -> tuple[Scalability, ...]:
        """Runtime and efficiency over the number of nodes, strong and weak; empty where that step was left out."""
        return () if self.scaled is None else self.scaled.scalings
