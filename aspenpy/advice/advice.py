"""Advice: what all steps of Prometheus found for an application on a machine."""

from __future__ import annotations

from aspenpy.advice.classification import Classification
from aspenpy.advice.configuration import ComponentRange, NearOptimal, Outcome
from aspenpy.advice.decision import Decision
from aspenpy.advice.scalability import Scalability
from aspenpy.advice.significance import Significance
from aspenpy.answers.case import Case
from aspenpy.record import Record
from aspenpy.studies.explore.sensitivity import Effects


class Advice(Record):
    """The results of all steps, in their order. `classifications` has the whole application first, then its kernels,
    the longest first. `effects` are the normalised sensitivities of runtime and of energy by hardware component, alone
    and in pairs (the latter None where the machine states no power). What a step that was left out found is empty.
    """

    case: Case
    base: Outcome
    classifications: tuple[Classification, ...]
    significances: tuple[Significance, ...]
    ranges: tuple[ComponentRange, ...]
    runtime_effects: Effects | None
    energy_effects: Effects | None
    near_optimal: tuple[NearOptimal, ...]
    scalings: tuple[Scalability, ...]
    decisions: tuple[Decision, ...] = ()
