"""Reconciliation: what a model says of each line at the sizes of a run, beside how often the line ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from aspenpy.extract import records as r
from aspenpy.extract.counted_units import RunCounts
from aspenpy.extract.effects import walk_records
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.naming import source_line
from aspenpy.extract.replay import BASES, Basis, RunTally, Work
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.record import Record

PASSED_DIFFERENCE = 0.05
"""The relative difference between model and run that is let pass: a choice, far below the error of a prediction."""

SHOWN_SHARE = 0.01
"""The part of a model's work that a line does before its difference is a warning."""


class LineCount(Record):
    """A loop, a condition or a function: how often the model has its passes, how often they ran, and which part of the
    model's operations and bytes, whichever is more, stands there."""

    place: str
    text: str
    model: float
    run: float
    share: float
    span: Span | None = None

    @property
    def ratio(self) -> float:
        return self.model / self.run if self.run else float("inf") if self.model else 1.0

    def is_near(self) -> bool:
        return abs(self.ratio - 1) <= PASSED_DIFFERENCE


class Reconciliation(Record):
    """The lines of a model beside those of a run, those with most work first, and which parts of operations and bytes
    are in closed form, fitted or assumed."""

    lines: tuple[LineCount, ...]
    operations: Mapping[Basis, float]
    moved: Mapping[Basis, float]

    def lines_far_off(self) -> tuple[LineCount, ...]:
        return tuple(line for line in self.lines if not line.is_near())

    def summary(self) -> str:
        """A sentence on the share of near lines, and on what operations and bytes rest on."""
        names = {"closed": "in closed form", "fitted": "fitted", "assumed": "assumed"}

        def write(parts: Mapping[Basis, float]) -> str:
            return ", ".join(f"{100 * parts[basis]:.3g} % {names[basis]}" for basis in BASES)

        near = len(self.lines) - len(self.lines_far_off())
        held = f"held against the run: {near} of {len(self.lines)} lines within {100 * PASSED_DIFFERENCE:.0f} %"
        return f"{held}; operations {write(self.operations)}; bytes {write(self.moved)}"


def reconcile(tally: RunTally, point: RunCounts, functions: Iterable[r.Function]) -> Reconciliation:
    """Compares a replay with the run at the same sizes."""
    whole = Work()
    for work in tally.rests.values():
        whole = whole.plus(work.operations, work.moved)
    lines = [*_compare_loops(tally, point, whole), *_compare_functions(tally, point, functions, whole)]
    lines.sort(key=lambda line: -line.share)
    parts = {basis: (work.operations, work.moved) for basis, work in tally.rests.items()}
    return Reconciliation(
        tuple(lines),
        {basis: done / whole.operations if whole.operations else 0.0 for basis, (done, _) in parts.items()},
        {basis: moved / whole.moved if whole.moved else 0.0 for basis, (_, moved) in parts.items()},
    )


def _compare_loops(tally: RunTally, point: RunCounts, whole: Work) -> Iterator[LineCount]:
    for span, passes in tally.passes.items():
        ran = point.ran.get(span)
        if ran is not None:
            text = " ".join(span.text().split())[:60]
            yield LineCount(source_line(span), text, passes, ran.passes[0], _share(tally, span, whole), span=span)


def _compare_functions(
    tally: RunTally, point: RunCounts, functions: Iterable[r.Function], whole: Work
) -> Iterator[LineCount]:
    for function in functions:
        if function.key in tally.functions and function.key in point.entered:
            entries, ran = tally.functions[function.key], point.entered[function.key]
            share, text = _share(tally, function.span, whole), f"{function.name}()"
            yield LineCount(source_line(function.span), text, entries, ran, share, span=function.span)


def _share(tally: RunTally, span: Span | None, whole: Work) -> float:
    work = tally.work.get(span, Work())
    pairs = ((work.operations, whole.operations), (work.moved, whole.moved))
    return max(part / total if total else 0.0 for part, total in pairs)


def find_causes(tally: RunTally, point: RunCounts) -> frozenset[Span]:
    """Loops whose passes for each entry, and conditions whose share, are not those of the run: what makes other lines
    differ, too."""
    causes = set()
    for span, passes in tally.passes.items():
        ran, entered = point.ran.get(span), tally.entered[span]
        if ran is not None and ran.entered and entered and not _is_near(passes / entered, ran):
            causes.add(span)
    return frozenset(causes)


def _is_near(mean: float, ran: ExecutionCount) -> bool:
    counted = ran.passes[0] / ran.entered
    return abs(mean - counted) <= PASSED_DIFFERENCE * abs(counted)


def list_counted_spans(functions: Sequence[r.Function], point: RunCounts) -> frozenset[Span]:
    """The loops and conditions of some functions that a run has counted."""
    nodes = (node for function in functions for node in walk_records(function.body))
    spans = (node.span for node in nodes if isinstance(node, r.LoopStatement | r.Branch))
    return frozenset(span for span in spans if span is not None and span in point.ran)


def warn_unmodelled(functions: Iterable[r.Function], walked: Collection[str], point: RunCounts) -> list[Diagnostic]:
    """Names the functions that a run has executed for a good part of its lines, and that the model has nothing of: a
    call that was not resolved must not be lost. Instances of one template share their span."""
    by_span = {function.span: function.name for function in functions if function.span is not None}
    modelled = {function.span for function in functions if function.key in walked}
    whole = sum(point.executed.values())
    hint = "a call of it was not resolved: through a template, a pointer or an interface; what it does is missing"
    return [
        warning(
            "unmodelled",
            f"the model has nothing of `{by_span[span]}`: {100 * lines / whole:.3g} % of the lines that ran are there",
            span,
            hint=hint,
        )
        for span, lines in sorted(point.executed.items(), key=lambda item: -item[1])
        if span in by_span and span not in modelled and lines > SHOWN_SHARE * whole
    ]


def warn_far(reconciliation: Reconciliation) -> list[Diagnostic]:
    """Names the lines that still differ and do a good part of the work."""
    hint = "the table of --format json has all lines"
    return [
        warning(
            "differs",
            f"the model has `{line.text}` {line.model:.4g} times, the run {line.run:.4g}",
            line.span,
            hint=hint,
        )
        for line in reconciliation.lines_far_off()
        if line.share >= SHOWN_SHARE
    ]
