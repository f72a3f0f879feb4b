"""The models that learn, by the names that the shell and saved files give them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aspenpy.studies.learnt.acee import Acee
from aspenpy.studies.learnt.bandwidth import BandwidthSensitivity
from aspenpy.studies.learnt.cos import Cos
from aspenpy.studies.learnt.cos_throttling import CosThrottling
from aspenpy.studies.learnt.leading_loads import LeadingLoads
from aspenpy.studies.learnt.model import LearntModel
from aspenpy.studies.learnt.power_aware import PowerAwareSpeedup
from aspenpy.studies.learnt.saved import load

KINDS: Mapping[str, type[LearntModel]] = {
    kind.kind: kind for kind in (Acee, Cos, CosThrottling, LeadingLoads, PowerAwareSpeedup, BandwidthSensitivity)
}


def load_learnt(path: str | Path) -> LearntModel:
    """A saved model. Raises AspenError for a file that is none, of another version, or changed since it was written."""
    return load(path, KINDS)
