"""Which hardware components matter, by counters and by the model: a report, and a section of the document of advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.advice.counters import title_of
from aspenpy.advice.significance import CounterEvidence, CounterShare, Disagreement, MetricName, Significance
from aspenpy.advice.significant import SIGNIFICANT, Significant
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.report.advice.document import link_text
from aspenpy.tables.document import Block, BulletList, Section, Sentence, Span, Words, make_sheet
from aspenpy.tables.numbers import format_count, format_share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import (
    CSV,
    JSON,
    TEXT,
    Column,
    Paragraph,
    Part,
    Report,
    Table,
    make_columns,
    make_facts,
    make_table,
)

LEAST = 0.005  # a share below this is not worth a line

BELONGS = 0.05  # nor is a membership below this

UNKNOWN = "of no known counter"

ROWS = make_columns("component metric evidence share low high")

COUNTERS = make_columns("metric name known share memberships")

NUMBERS = make_columns("metric count partition xie_beni chosen")

APART = make_columns("component metric counters model")


def report_significance(significant: Significant) -> Report:
    """Shares of the components, by counters and by the model; the counters and their clusters; what disagrees."""
    metrics: tuple[MetricName, ...] = ("runtime", "energy")
    named = tuple(item for item in significant.significances if item.share > 0)
    text = [part for metric in metrics for part in _metric_tables(significant, metric)]
    data: dict[str, Any] = {
        "application": significant.space.case.application.name,
        "machine": significant.space.case.required_machine.name,
        "samples": [
            {name: getattr(item.samples, name) for name in item.samples._fields} for item in significant.evidences
        ],
        "fuzziness": significant.options.fuzziness,
    }
    counters = [
        (each.metric, item.name, list(item.known), item.share, dict(item.memberships))
        for each in significant.evidences
        for item in each.counters
    ]
    numbers = [
        (each.metric, item.count, item.partition, item.xie_beni, item.chosen)
        for each in significant.evidences
        for item in each.numbers
    ]
    parts: tuple[Part, ...] = (
        *text,
        *map(_describe_disagreement, significant.disagreements),
        make_table(ROWS, named, "significances", media=JSON + CSV),
        Table(COUNTERS, tuple(counters), key="counters", media=JSON),
        Table(NUMBERS, tuple(numbers), key="clusters", media=JSON),
        make_table(APART, significant.disagreements, "disagreements", media=JSON),
    )
    return Report("significance/1", _write_heading(significant), data, parts, significant.diagnostics)


register_report(Significant, report_significance)


def _write_heading(significant: Significant) -> str:
    where = significant.space.prediction.where
    first = [_largest_component(significant, metric) for metric in ("runtime", "energy")]
    said = [
        f"{metric} goes most with {name}" for metric, name in zip(("runtime", "energy"), first, strict=True) if name
    ]
    return f"{where}: {', '.join(said)}" if said else f"{where}: nothing that can be varied matters"


def _largest_component(significant: Significant, metric: str) -> str | None:
    """The component with the largest share, by counters where there are any."""
    shown = [item for item in significant.significances if item.metric == metric and item.share > 0]
    kinds = [[item for item in shown if item.evidence == kind] for kind in ("counters", "model")]
    return next((f"the {title_of(items[0].component)}" for items in kinds if items and items[0].component), None)


def _metric_tables(significant: Significant, metric: MetricName) -> list[Part]:
    """Tables of the runtime, or of the energy."""
    evidence = next((item for item in significant.evidences if item.metric == metric), None)
    model = {item.component: item for item in significant.by_model if item.metric == metric and item.share >= LEAST}
    counted = {
        item.component: item for item in (() if evidence is None else evidence.significances) if item.share >= LEAST
    }
    names = sorted({*model, *counted}, key=lambda name: -max(_share_of(counted, name), _share_of(model, name)))
    heads = [Column("component")]
    if evidence is not None:
        heads += [
            Column("counters", "share"),
            Column("95 %" if significant.options.target.confidence == 0.95 else "interval"),
        ]
    heads += [Column("model", "share")]
    rows = []
    for name in names:
        here, there = counted.get(name), model.get(name)
        row: list[str | float | None] = [title_of(name) if name else UNKNOWN]
        if evidence is not None:
            row += [None, None] if here is None else [here.share, _format_interval(here)]
        rows.append((*row, None if there is None else there.share))
    parts: list[Part] = [Table(tuple(heads), tuple(rows), title=metric, media=TEXT)] if rows else []
    return parts if evidence is None else [*parts, *_counter_tables(evidence)]


def _format_interval(item: Significance) -> str | None:
    return None if item.low is None or item.high is None else f"{format_share(item.low)} .. {format_share(item.high)}"


def _counter_tables(evidence: CounterEvidence) -> list[Part]:
    heads = (
        Column(f"counter of {evidence.metric}", get="name"),
        Column("known for", get=lambda item: ", ".join(item.known) or "nothing", wrapped=True),
        Column("share", "share", get=lambda item: item.share or None),
        Column("belongs to", get=_describe_membership, wrapped=True),
    )
    listed = make_table(heads, evidence.counters, media=TEXT)
    chosen = next((item for item in evidence.numbers if item.chosen), None)
    clusters = "each counter is one" if chosen is None else (
        f"{chosen.count} of 2 to {evidence.numbers[-1].count}: partition coefficient {chosen.partition:.2f}, "
        f"Xie-Beni {chosen.xie_beni:.3f}"
    )  # fmt: skip
    samples = evidence.samples
    known = (
        "each ran once"
        if samples.widest is None
        else f"half the interval of a mean is {format_share(samples.widest)} at most"
    )
    rows = [
        ("regression", f"significant counters explain {format_share(evidence.r_squared)} of the variance"),
        ("clusters", clusters),
        (
            "samples",
            f"{count_noun(samples.runs, 'run')} of {count_noun(samples.configurations, 'configuration')}; {known}",
        ),
    ]
    return [listed, make_facts(rows)]


def _describe_membership(item: CounterShare) -> str:
    parts = [(name, worth) for name, worth in item.memberships.items() if worth >= BELONGS]
    return ", ".join(f"{title_of(name) if name else UNKNOWN} {worth:.2f}" for name, worth in parts)


def _describe_disagreement(item: Disagreement) -> Paragraph:
    name = title_of(item.component)
    return Paragraph(
        f"Counters and model disagree: of the {item.metric} the {name} has {format_share(item.counters)} by "
        "counters and "
        f"{format_share(item.model)} by the model, among the components that these counters can tell."
    )


# -- as a section of the document ------------------------------------------------------------------


def significance_blocks(significant: Significant) -> list[Block]:
    """The section on counters; empty without any: the model's own sensitivities stand in the section before."""
    if not significant.evidences:
        return []
    note = (
        "Counters are what the processor counted in measured runs: instructions, bytes, misses. A component's share is "
        "how much of the differences between the runs goes with its counters; by the model it is what it changes, in "
        "parts of what all change."
    )
    blocks: list[Block] = [Section("What was measured", "counters"), Sentence((note,))]
    blocks += [BulletList(tuple(_disagreement_sentences(significant)))]
    for each in significant.evidences:
        blocks += _evidence_blocks(significant, each)
    return blocks


def _disagreement_sentences(significant: Significant) -> list[Words]:
    if not significant.disagreements:
        return [("Counters and model agree on what matters.",)]
    return [
        (
            f"Counters and model disagree: of the {item.metric} the {title_of(item.component)} has ",
            link_text(format_share(item.counters), "counters"),
            " by counters and ",
            link_text(format_share(item.model), "significance"),
            " by the model, among the components that these counters can tell.",
        )
        for item in significant.disagreements
    ]


def _evidence_blocks(significant: Significant, each: CounterEvidence) -> list[Block]:
    names = {
        "counters": each.significances,
        "model": tuple(it for it in significant.by_model if it.metric == each.metric),
    }
    counters, model = ({item.component: item for item in items} for items in names.values())
    components = sorted({*counters, *model}, key=lambda name: -max(_share_of(counters, name), _share_of(model, name)))
    rows = [
        _component_cells(name, counters.get(name), model.get(name))
        for name in components
        if name in counters or _share_of(model, name) >= SIGNIFICANT
    ]
    heads = ("component", "counters", "between", "model")
    listed = [_counter_cells(item) for item in each.counters]
    return [
        Section(f"Of the {each.metric}", f"counters-{each.metric}", 2),
        make_sheet(heads, rows, (1, 2, 3)),
        BulletList((_describe_samples(each), _describe_regression(each), _describe_clusters(each))),
        make_sheet(("counter", "known for", "share", "belongs to"), listed, (2,)),
    ]


def _share_of(of: Mapping[str, Significance], name: str) -> float:
    return of[name].share if name in of else 0.0


def _component_cells(name: str, counter: Significance | None, model: Significance | None) -> list[Span]:
    between: Span = ""
    if counter is not None and counter.low is not None and counter.high is not None:
        between = link_text(f"{format_share(counter.low)} to {format_share(counter.high)}", "counters")
    return [
        title_of(name) if name else UNKNOWN,
        "" if counter is None else link_text(format_share(counter.share), "counters"),
        between,
        "" if model is None else link_text(format_share(model.share), "significance"),
    ]


def _describe_samples(each: CounterEvidence) -> Words:
    samples = each.samples
    ran = f"{count_noun(samples.runs, 'run')} of {count_noun(samples.configurations, 'configuration')}"
    said: list[Any] = [f"{ran} (threads, clocks, inputs): "]
    if samples.widest is None:
        said.append("each was measured once, so that nobody knows how sure the means are")
    else:
        said += ["half the 95 % confidence interval of a mean is ", link_text(format_share(samples.widest), "samples")]
        said.append(" at most")
    if samples.enough:
        return (*said, ". These are enough.")
    return (*said, "; measure each ", link_text(f"{format_count(samples.more)} more", "samples"), " times.")


def _describe_regression(each: CounterEvidence) -> Words:
    names = [item.name for item in each.counters if item.share > 0]
    return (
        f"Significant counters are {', '.join(names)}: they explain ",
        link_text(format_share(each.r_squared), "counters"),
        f" of the differences in {each.metric}.",
    )


def _describe_clusters(each: CounterEvidence) -> Words:
    chosen = next((item for item in each.numbers if item.chosen), None)
    if chosen is None:
        return ("There are too few counters for clusters: each stands by itself.",)
    names = ", ".join(dict.fromkeys(title_of(name) if name else UNKNOWN for name in each.clusters))
    return (
        f"Counters that go up and down together make {count_noun(chosen.count, 'cluster')}: {names}. "
        "They are apart by a partition coefficient of ",
        link_text(f"{chosen.partition:.2f}", "clusters"),
        " (1 is without overlap) and an index of Xie and Beni of ",
        link_text(f"{chosen.xie_beni:.3f}", "clusters"),
        " (0 is without overlap).",
    )


def _counter_cells(item: CounterShare) -> list[Span]:
    parts = [(name, worth) for name, worth in item.memberships.items() if worth >= BELONGS]
    belongs = ", ".join(f"{title_of(name) if name else UNKNOWN} {worth:.2f}" for name, worth in parts)
    known = ", ".join(map(title_of, item.known)) or "nothing"
    return [
        item.name,
        known,
        link_text(format_share(item.share), "counters") if item.share else "",
        link_text(belongs, "clusters"),
    ]
