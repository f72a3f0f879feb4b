"""Predicted times of kernels beside those of a profile."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.learn.measured_kernels import match_profile
from aspenpy.learn.measurements.sheet import Data
from aspenpy.record import Record
from aspenpy.tables.result import Result


class ProfiledKernel(Record):
    """A region of a profile with its own seconds, and the kernel and its predicted seconds, where it has one."""

    region: str
    measured: float
    kernel: str | None
    predicted: float | None

    @property
    def ratio(self) -> float | None:
        """Predicted over measured."""
        return self.predicted / self.measured if self.predicted else None

    @property
    def factor(self) -> float | None:
        """Factor by which the prediction is off, either way."""
        return max(self.ratio, 1 / self.ratio) if self.ratio is not None else None


class ProfileValidation(Record, Result):
    """The regions of a profile, the longest first. A kernel fails whose prediction is off by more than a part of
    `limit`, either way."""

    case: Case
    kernels: tuple[ProfiledKernel, ...]
    limit: float | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def failed(self) -> tuple[ProfiledKernel, ...]:
        """Kernels beyond the limit."""
        limit = self.limit
        return () if limit is None else tuple(item for item in self.kernels if item.factor and item.factor - 1 > limit)

    @property
    def covered(self) -> float:
        """The part of the profile's time that has a kernel."""
        return sum(item.measured for item in self.kernels if item.kernel) / sum(item.measured for item in self.kernels)


def compare_profile(
    case: Case, profile: Data, kernels: Mapping[str, str], limit: float | None = None
) -> ProfileValidation:
    """Compares the own times of kernels, without those of what they call, with a profile of a run of the case.
    Raises AspenError where the profile has no times, or none of its regions is a kernel."""
    prediction = predict(case)
    predicted = {use.name: float(use.exclusive) for use in prediction.kernels}
    matched = match_profile(profile, list(predicted), kernels)
    kernel_of = matched.kernels
    rows = [
        ProfiledKernel(
            item.name, item.time or 0.0, kernel_of.get(item.name), predicted.get(kernel_of.get(item.name, ""))
        )
        for item in matched.regions
    ]
    rows.sort(key=lambda row: -row.measured)
    return ProfileValidation(case, tuple(rows), limit, (*prediction.diagnostics, *matched.diagnostics))
