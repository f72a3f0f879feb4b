"""Significant: which hardware components matter to an application, by measured counters and by its model."""

from __future__ import annotations

from functools import cached_property

from aspenpy.advice.counter_evidence import CounterOptions, CounterTable, counter_evidence, counters_in
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.significance import CounterEvidence, Disagreement, LeftOut, MetricName, Significance
from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import Diagnostic, fail, warning
from aspenpy.learn.measurements.columns import read_numbers, recognise_columns, require_columns
from aspenpy.learn.measurements.conditions import select_rows
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.sheet import Data, Heading, MeasurementSheet
from aspenpy.tables.result import Result

MATTERS, APART = 0.1, 2.0
"""Shares disagree where one is at least a tenth, and at least twice the other. They are shares among the components
that the counters could tell."""

SIGNIFICANT = 0.01
"""The share of runtime or energy, by counters or by the model, from which on a component is significant."""

METRICS: tuple[MetricName, ...] = ("runtime", "energy")


class Significant(Result):
    """The components of a design space, by the sensitivities of the model, and where there is data of counters by
    these. Raises AspenError where the counters are of something else, or say nothing."""

    def __init__(self, space: DesignSpace, data: Data | None = None, options: CounterOptions | None = None) -> None:
        self.space, self.options = space, options or CounterOptions()
        self.notes: tuple[Diagnostic, ...] = ()
        self.sheet: MeasurementSheet | None = None
        self.counters: CounterTable | None = None
        if data is not None:
            self.sheet = _own_rows(
                recognise_columns(read_measurements(data, self.options.columns)), space.case, self.options.where
            )
            self.counters, self.notes = counters_in(self.sheet, self.options)

    @cached_property
    def by_model(self) -> tuple[Significance, ...]:
        """Sensitivities of runtime and energy to each component, as shares of the sum over all components."""
        shares: list[Significance] = []
        for metric in METRICS:
            singles = self.space.single_effects.get(metric, ())
            total = sum(effect.sensitivity for effect in singles) or 1.0
            shares += [Significance(item.parameters[0], metric, item.sensitivity / total, "model") for item in singles]
        return tuple(shares)

    @cached_property
    def evidences(self) -> tuple[CounterEvidence, ...]:
        """Evidence of the counters about the runtime and, where it was measured, of the energy."""
        if self.sheet is None or self.counters is None:
            return ()
        metrics = METRICS if "energy" in self.sheet.names else METRICS[:1]
        return tuple(counter_evidence(self.sheet, metric, self.counters, self.options) for metric in metrics)

    @property
    def significances(self) -> tuple[Significance, ...]:
        """Shares of the components, by counters, then by the model."""
        return (*(item for evidence in self.evidences for item in evidence.significances), *self.by_model)

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Components of which counters and model say different things, the widest apart first."""
        disagreements = []
        for each in self.evidences:
            components = {name for name in each.clusters if name} | {
                item.known[0] for item in each.counters if item.known
            }
            here = [item for item in self.significances if item.metric == each.metric and item.component in components]
            by_counters, by_model = (_shares_by_evidence(here, kind) for kind in ("counters", "model"))
            for name in sorted(components) if by_model else ():
                counted, modelled = by_counters.get(name, 0.0), by_model.get(name, 0.0)
                less, more = sorted((counted, modelled))
                if more >= MATTERS and more >= APART * less:
                    disagreements.append(Disagreement(name, each.metric, counted, modelled))
        return tuple(sorted(disagreements, key=lambda item: -abs(item.counters - item.model)))

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The components that are not significant, by no metric and no evidence; none where no component is."""
        kept = {item.component for item in self.significances if item.share >= SIGNIFICANT}
        shares = {(item.component, item.metric): item.share for item in self.by_model}
        names = [item.component for item in self.space.ranges]
        return tuple(
            LeftOut(name, shares.get((name, "runtime"), 0.0), shares.get((name, "energy")))
            for name in names
            if name not in kept and kept & {*names}
        )

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the prediction, of too few runs, and notes of counters that were left out."""
        return (*self.space.prediction.diagnostics, *self.notes, *map(_warn_of_few_runs, self._unsure))

    @property
    def _unsure(self) -> list[CounterEvidence]:
        return [item for item in self.evidences if not item.samples.enough]


def _shares_by_evidence(significances: list[Significance], kind: str) -> dict[str, float]:
    """Shares by one kind of evidence, in parts of their sum; nothing where that is 0."""
    total = sum(item.share for item in significances if item.evidence == kind)
    return {item.component: item.share / total for item in significances if item.evidence == kind} if total else {}


def _warn_of_few_runs(evidence: CounterEvidence) -> Diagnostic:
    """A warning that says how many more runs make the confidence interval narrow enough."""
    samples = evidence.samples
    if samples.widest is None:
        each = "each configuration ran once" if samples.configurations > 1 else "there is one run"
        text = f"{each}: the precision of the mean {samples.metric} is unknown"
    else:
        text = f"half the confidence interval of the mean {samples.metric} is up to {100 * samples.widest:.2g} %"
    hint = f"measure each configuration {samples.more} more time{'s' if samples.more > 1 else ''}"
    return warning("few-samples", text, None, hint=hint)


def _own_rows(sheet: MeasurementSheet, case: Case, where: str | None) -> MeasurementSheet:
    """The rows of the application on which a condition holds, with the energy where power and runtime were measured."""
    require_columns(sheet, ["runtime"], "significance")
    if where is not None:
        sheet = sheet.rows_at(select_rows(sheet, where, "--where"))
    if where is not None and not sheet.rows:
        fail("no-measurements", f"there is no run where `{where}`", sheet.span)
    if not sheet.rows:
        fail("no-measurements", "there are no runs to learn from", sheet.span)
    if "application" in sheet.names:
        name = case.application.name.lower()
        theirs = list(dict.fromkeys(str(row["application"].value) for row in sheet.rows))
        own = [index for index, row in enumerate(sheet.rows) if str(row["application"].value).lower() == name]
        if not own:
            message = f"the counters are of {', '.join(f'`{other}`' for other in theirs[:5])}, not of `{name}`"
            hint = f"runs of the application have `{name}` in the column `application`"
            fail("other-application", message, sheet.span, hint=hint)
        sheet = sheet.rows_at(own)
    if "energy" in sheet.names or "power" not in sheet.names:
        return sheet
    energies = read_numbers(sheet, "power") * read_numbers(sheet, "runtime")
    rows = tuple(
        row | {"energy": row["power"]._replace(value=float(energy))}
        for row, energy in zip(sheet.rows, energies, strict=True)
    )
    return sheet._replace(headings=(*sheet.headings, Heading("energy", None)), rows=rows)
