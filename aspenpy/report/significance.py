"""Which hardware components matter to an application, as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.counters import title_of
from aspenpy.advice.significance import CounterEvidence, CounterShare, Disagreement, MetricName, Significance
from aspenpy.advice.significant import Significant
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.tables.numbers import share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Paragraph, Part, Report, Table, columns, facts, table

LEAST = 0.005  # a share below this is not worth a line
BELONGS = 0.05  # nor is a membership below this
UNKNOWN = "of no known counter"

ROWS = columns("component metric evidence share low high")
COUNTERS = columns("metric name known share memberships")
NUMBERS = columns("metric count partition xie_beni chosen")
APART = columns("component metric counters model")


def report_significance(found: Significant) -> Report:
    """Shares of the components, by counters and by the model; the counters and their clusters; what disagrees."""
    metrics: tuple[MetricName, ...] = ("runtime", "energy")
    named = tuple(item for item in found.significances if item.share > 0)
    text = [part for metric in metrics for part in _metric(found, metric)]
    data: dict[str, Any] = {
        "application": found.space.case.application.name,
        "machine": found.space.case.required_machine.name,
        "samples": [{name: getattr(item.samples, name) for name in item.samples._fields} for item in found.evidences],
        "fuzziness": found.options.fuzziness,
    }
    counters = [(each.metric, *_values(item)) for each in found.evidences for item in each.counters]
    numbers = [
        (each.metric, item.count, item.partition, item.xie_beni, item.chosen)
        for each in found.evidences
        for item in each.numbers
    ]
    parts: tuple[Part, ...] = (
        *text,
        *map(_said, found.disagreements),
        table(ROWS, named, "significances", media=JSON + CSV),
        Table(COUNTERS, tuple(counters), key="counters", media=JSON),
        Table(NUMBERS, tuple(numbers), key="clusters", media=JSON),
        table(APART, found.disagreements, "disagreements", media=JSON),
    )
    return Report(_heading(found), data, parts, found.diagnostics)


register_report(Significant, report_significance)


def _heading(found: Significant) -> str:
    where = found.space.prediction.where
    first = [_first(found, metric) for metric in ("runtime", "energy")]
    said = [
        f"{metric} goes most with {name}" for metric, name in zip(("runtime", "energy"), first, strict=True) if name
    ]
    return f"{where}: {', '.join(said)}" if said else f"{where}: nothing that can be varied matters"


def _first(found: Significant, metric: str) -> str | None:
    """The component with the largest share, by counters where there are any."""
    kinds = [[item for item in found.significances if (item.metric, item.evidence) == (metric, kind) and item.share > 0]
             for kind in ("counters", "model")]  # fmt: skip
    return next((f"the {title_of(items[0].component)}" for items in kinds if items and items[0].component), None)


def _metric(found: Significant, metric: MetricName) -> list[Part]:
    """What there is to say of the runtime, or of the energy."""
    told = next((item for item in found.evidences if item.metric == metric), None)
    model = {item.component: item for item in found.by_model if item.metric == metric and item.share >= LEAST}
    counted = {item.component: item for item in (() if told is None else told.significances) if item.share >= LEAST}
    names = sorted({*model, *counted}, key=lambda name: -_largest(name, counted, model))
    heads = [Column("component")]
    if told is not None:
        heads += [Column("counters", "share"), Column("95 %" if _usual(found) else "interval")]
    heads += [Column("model", "share")]
    rows = []
    for name in names:
        here, there = counted.get(name), model.get(name)
        by_counters = [None if here is None else here.share, None if here is None else _interval(here)]
        row = [title_of(name) if name else UNKNOWN, *(by_counters if told is not None else ())]
        rows.append((*row, None if there is None else there.share))
    parts: list[Part] = [Table(tuple(heads), tuple(rows), title=metric, media=TEXT)] if rows else []
    return parts if told is None else [*parts, *_counters(told)]


def _usual(found: Significant) -> bool:
    return found.options.target.confidence == 0.95


def _largest(name: str, *shares: dict[str, Significance]) -> float:
    return max(each[name].share for each in shares if name in each)


def _interval(item: Significance) -> str | None:
    return None if item.low is None or item.high is None else f"{share(item.low)} .. {share(item.high)}"


def _counters(told: CounterEvidence) -> list[Part]:
    heads = (
        Column(f"counter of {told.metric}", get="name"),
        Column("known for", get=lambda item: ", ".join(item.known) or "nothing", wrapped=True),
        Column("share", "share", get=lambda item: item.share or None),
        Column("belongs to", get=_belongs, wrapped=True),
    )
    listed = table(heads, told.counters, media=TEXT)
    chosen = next((item for item in told.numbers if item.chosen), None)
    clusters = "each counter is one" if chosen is None else (
        f"{chosen.count} of 2 to {told.numbers[-1].count}: partition coefficient {chosen.partition:.2f}, "
        f"Xie-Beni {chosen.xie_beni:.3f}"
    )  # fmt: skip
    samples = told.samples
    known = (
        "each ran once" if samples.widest is None else f"half the interval of a mean is {share(samples.widest)} at most"
    )
    rows = [
        ("regression", f"significant counters explain {share(told.r_squared)} of the variance"),
        ("clusters", clusters),
        (
            "samples",
            f"{count_noun(samples.runs, 'run')} of {count_noun(samples.configurations, 'configuration')}; {known}",
        ),
    ]
    return [listed, facts(rows)]


def _belongs(item: CounterShare) -> str:
    parts = [(name, worth) for name, worth in item.memberships.items() if worth >= BELONGS]
    return ", ".join(f"{title_of(name) if name else UNKNOWN} {worth:.2f}" for name, worth in parts)


def _said(item: Disagreement) -> Paragraph:
    name = title_of(item.component)
    return Paragraph(
        f"Counters and model disagree: of the {item.metric} the {name} has {share(item.counters)} by counters and "
        f"{share(item.model)} by the model, among the components that these counters can tell."
    )


def _values(item: CounterShare) -> tuple[Any, ...]:
    return item.name, list(item.known), item.share, dict(item.memberships)
