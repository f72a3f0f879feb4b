"""Advice as reports: what an application is bound by, which components matter, how sure that is, and all steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.classification import Classification, Classified
from aspenpy.advice.counters import title_of
from aspenpy.advice.sampled import Sampled
from aspenpy.advice.significance import CounterEvidence, CounterShare, Disagreement, MetricName, Significance
from aspenpy.advice.significant import Significant
from aspenpy.advice.uncertain import Claim, Uncertain
from aspenpy.language.diagnostics import Diagnostic, drop_repeats
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.report.decision import report_decision
from aspenpy.report.design_space import assumed_ranges, near_optimal, report_design_space
from aspenpy.report.prediction import subject
from aspenpy.report.scaling import report_scalability
from aspenpy.report.throttling import report_throttling
from aspenpy.tables.formats import build_json
from aspenpy.tables.numbers import ratio, share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Paragraph, Part, Report, Table, Title, columns, facts, table

# -- how sure runtime and energy are ---------------------------------------------------------------


ENDS = columns("stated mean low high")
OF = ("values alone", "values and models")


def report_uncertainty(uncertain: Uncertain) -> Report:
    """The intervals, and by what error of which value or model they come about."""
    data = {**subject(uncertain.space.prediction), "samples": uncertain.runtime.count, **_fields(uncertain)}
    low, high = (f"{getattr(uncertain.total_runtime, end):.4g} s" for end in ("low", "high"))
    headline = f"{uncertain.space.prediction.where}: with all that is uncertain between {low} and {high}"
    return Report(headline, data, uncertainty_parts(uncertain), uncertain.space.prediction.diagnostics)


def _fields(uncertain: Uncertain) -> dict[str, Any]:
    found = {
        "runtime": uncertain.runtime,
        "energy": uncertain.energy,
        "total_runtime": uncertain.total_runtime,
        "total_energy": uncertain.total_energy,
    }
    return {name: None if item is None else _ends(item) for name, item in found.items()}


def _ends(item: Sampled) -> dict[str, float]:
    return {column.name: getattr(item, column.name) for column in ENDS}


def uncertainty_parts(uncertain: Uncertain) -> tuple[Part, ...]:
    pairs = ((uncertain.runtime, uncertain.energy), (uncertain.total_runtime, uncertain.total_energy))
    heads = (
        Column("95 % of samples, uncertain are", get=lambda row: row[0]),
        *(
            Column(end, unit=unit, get=_interval_end(place, end))
            for place, unit in enumerate("sJ")
            for end in ("low", "high")
        ),
    )
    return (
        table(heads, list(zip(OF, pairs, strict=True)), media=TEXT, sparse=True),
        table(CLAIMS, uncertain.claims, "claims", title="how far each may be off", media=(*TEXT, *JSON), sparse=True),
    )


def _interval_end(place: int, end: str) -> Callable[[Any], float | None]:
    """Of the runtime or the energy of a row."""
    return lambda row: None if row[1][place] is None else getattr(row[1][place], end)


def _stated(name: str) -> Any:
    return lambda claim: None if claim.stated is None else getattr(claim.stated, name)


def _within(claim: Claim) -> list[dict[str, float]] | None:
    if claim.stated is None:
        return None
    return [{"part": part, "error": error} for part, error in claim.stated.within]


CLAIMS = (
    Column("name"),
    Column("deviation", "share"),
    Column("median error", "share", key="median"),
    Column("by", key="source"),
    Column("compared", get=_stated("row"), wrapped=True),
    Column("with", key="compared_with", get=_stated("compared_with"), wrapped=True),
    *(Column(name, get=_stated(name), media=JSON) for name in ("fitted", "worst", "count", "page")),
    Column("within", get=_within, media=JSON),
)


# -- which hardware components matter --------------------------------------------------------------


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


# -- what an application is bound by ---------------------------------------------------------------


UNPOWERED = "the machine does not state it, or it is idle power that all who share it have part in."
MOST_SHOWN = 16  # kernels in a table for people; JSON and CSV have all


def report_classification(classified: Classified) -> Report:
    """The whole and its kernels, with shares, both balance points, and the distance from each."""
    data = {
        **subject(classified.prediction),
        "chosen": classified.choices,
        "has_energy": classified.powerless is None,
        "left_out": list(classified.unpowered),
    }
    diagnostics = classified.prediction.diagnostics
    if classified.powerless is not None:
        diagnostics = (*diagnostics, classified.powerless.replace(severity="warning"))
    return Report(heading(classified), data, parts(classified), diagnostics)


register_report(Classified, report_classification)


def heading(classified: Classified) -> str:
    where = classified.where
    if not classified.classifications:
        return f"{where}: takes no time"
    whole = classified.classifications[0]
    in_energy = "" if whole.energy_bound is None else f"; energy by {whole.energy_bound} ({_part(whole, 'energy')})"
    return f"{where}: bound by {whole.bound} ({_part(whole, 'time')} of the runtime){in_energy}"


def _part(found: Classification, of: str) -> str:
    """The share of the class that bounds it, over all components."""
    bound = found.bound if of == "time" else found.energy_bound
    return share(sum(getattr(item, of) or 0.0 for item in found.shares if item.bound == bound))


SHARES = (
    Column("bound by", key="bound"),
    Column("at", key="component"),
    Column("time", "share"),
    Column("energy", "share"),
)


def parts(classified: Classified) -> tuple[Part, ...]:
    rows = classified.classifications
    heads = (
        Column("kernel", get=lambda row: row.kernel or "all"),
        Column("time", unit="s"),
        Column("bound by", get=_text("bound", "time"), media=TEXT),
        Column("energy", unit="J"),
        Column("energy by", get=_text("energy_bound", "energy"), media=TEXT),
        *columns("bound energy_bound", media=("json", "csv")),
        Column("flop/B", "ratio", key="intensity"),
        Column("balance", "ratio", key="time_balance"),
        Column("from it", _times, "right", key="time_distance"),
        Column("of energy", "ratio", key="energy_balance"),
        Column("from it", _times, "right", key="energy_distance"),
        Column("shares", get=_shares, media=JSON),
    )
    more = [Paragraph(f"Energy does without the power of `{name}`: {UNPOWERED}") for name in classified.unpowered]
    note = (
        "`balance` is the intensity at which flops and bytes take equal times, `of energy` at which they take equal "
        "energies; below x 1 bytes take more, above it flops."
    )
    return (
        table(heads, rows[: MOST_SHOWN + 1], media=TEXT, sparse=True),
        table(heads, rows, "classifications", media=("json", "csv")),
        table(SHARES, rows[0].shares if rows else (), title="shares of the whole", media=TEXT, sparse=True),
        Paragraph(note),
        *more,
    )


def _text(bound: str, of: str) -> Callable[[Classification], str | None]:
    return lambda row: None if getattr(row, bound) is None else f"{getattr(row, bound)} {_part(row, of)}"


def _times(value: float) -> str:
    return f"x {ratio(value)}"


def _shares(row: Classification) -> list[dict[str, Any]]:
    return [{name: getattr(item, name) for name in item._fields} for item in row.shares]


# -- all steps -------------------------------------------------------------------------------------


def show_in_text(part: Part) -> Part:
    """For people alone: in JSON each step has its own object."""
    return part.replace(key="") if isinstance(part, Table) else part


def report_advice(advice: Advice) -> Report:
    """The reports of the steps under one headline; in JSON an object for each step."""
    found = {
        "classify": report_classification(advice.classified),
        "significance": report_significance(advice.significant),
        "configure": report_design_space(advice.space),
        "scale": None if advice.scaled is None else report_scalability(advice.scaled),
        "decide": None if advice.decided is None else report_decision(advice.decided),
        "throttle": report_throttling(advice.throttled),
        "uncertainty": report_uncertainty(advice.uncertain),
    }
    parts: list[Part] = [Paragraph(note) for note in assumed_ranges(advice.space)]
    data: dict[str, Any] = {}
    said: list[Diagnostic] = []
    for name, step in found.items():
        if step is not None:
            parts += [Title(step.headline), *map(show_in_text, step.page[1:])]
            data[name] = build_json(step)
            said += step.diagnostics or ()
    parts.append(near_optimal(advice.space, CSV))
    case = advice.case
    headline = f"advice for {case.application.name} on {case.required_machine.name}"
    return Report(headline, data, tuple(parts), tuple(drop_repeats(said)))


register_report(Advice, report_advice)
