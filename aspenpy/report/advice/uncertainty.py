"""Uncertainty of runtime and energy: a report, and a section of the document of advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.advice.configuration import COMPONENTS
from aspenpy.advice.uncertain import Claim, Sampled, Uncertain
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice.document import link_text
from aspenpy.report.prediction_data import subject_as_data
from aspenpy.tables.document import Block, Section, Sentence, Span, Words, make_sheet
from aspenpy.tables.numbers import format_count, format_share
from aspenpy.tables.table import JSON, TEXT, Column, Part, Report, make_columns, make_table

ENDS = make_columns("stated mean low high")

OF = ("values alone", "values and models")


def report_uncertainty(uncertain: Uncertain) -> Report:
    """The intervals, and by what error of which value or model they come about."""
    data = {
        **subject_as_data(uncertain.space.prediction),
        "samples": uncertain.runtime.count,
        **_interval_fields(uncertain),
    }
    low, high = (f"{getattr(uncertain.total_runtime, end):.4g} s" for end in ("low", "high"))
    headline = f"{uncertain.space.prediction.where}: with all that is uncertain between {low} and {high}"
    return Report("uncertainty/1", headline, data, uncertainty_parts(uncertain), uncertain.space.prediction.diagnostics)


def _interval_fields(uncertain: Uncertain) -> dict[str, Any]:
    fields = {
        "runtime": uncertain.runtime,
        "energy": uncertain.energy,
        "total_runtime": uncertain.total_runtime,
        "total_energy": uncertain.total_energy,
    }
    return {
        name: None if item is None else {column.name: getattr(item, column.name) for column in ENDS}
        for name, item in fields.items()
    }


def uncertainty_parts(uncertain: Uncertain) -> tuple[Part, ...]:
    pairs = ((uncertain.runtime, uncertain.energy), (uncertain.total_runtime, uncertain.total_energy))
    heads = (
        Column("95 % of samples, uncertain are", get=lambda row: row[0]),
        *(
            Column(end, unit=unit, get=_interval_end(index, end))
            for index, unit in enumerate("sJ")
            for end in ("low", "high")
        ),
    )
    return (
        make_table(heads, list(zip(OF, pairs, strict=True)), media=TEXT, sparse=True),
        make_table(
            CLAIMS, uncertain.claims, "claims", title="how far each may be off", media=(*TEXT, *JSON), sparse=True
        ),
    )


def _interval_end(index: int, end: str) -> Callable[[Any], float | None]:
    """A getter of an end of the interval of the runtime or energy in a row."""
    return lambda row: None if row[1][index] is None else getattr(row[1][index], end)


def _make_stated_getter(name: str) -> Any:
    return lambda claim: None if claim.stated is None else getattr(claim.stated, name)


def _covered_shares(claim: Claim) -> list[dict[str, float]] | None:
    if claim.stated is None:
        return None
    return [{"part": part, "error": error} for part, error in claim.stated.within]


CLAIMS = (
    Column("name"),
    Column("deviation", "share"),
    Column("median error", "share", key="median"),
    Column("by", key="source"),
    Column("compared", get=_make_stated_getter("row"), wrapped=True),
    Column("with", key="compared_with", get=_make_stated_getter("compared_with"), wrapped=True),
    *(Column(name, get=_make_stated_getter(name), media=JSON) for name in ("fitted", "worst", "count", "page")),
    Column("within", get=_covered_shares, media=JSON),
)

# -- as a section of the document ------------------------------------------------------------------

SURER = "Which of two configurations is better is surer than either number: both err in the same direction."


def ends(sampled: Sampled, unit: str, between: str = " to ") -> str:
    return f"{format_quantity(sampled.low, unit)}{between}{format_quantity(sampled.high, unit)}"


def sure_blocks(uncertain: Uncertain) -> list[Block]:
    """The intervals, and who says how far each value and model is off."""
    rows = [
        _make_row("the machine's and the program's values", uncertain.runtime, uncertain.energy),
        _make_row("these, and the models themselves", uncertain.total_runtime, uncertain.total_energy),
    ]
    note: Words = (
        "Of ",
        link_text(format_count(uncertain.runtime.count), "interval"),
        " runs of the model, each with other values, 95 % take:",
    )
    return [
        Section("How sure this is", "sure"),
        Sentence(note),
        make_sheet(("if uncertain are", "runtime", "energy"), rows, (1, 2)),
        Sentence(("How far each is off, as half of all are at most:",)),
        make_sheet(("", "off by", "by", "compared with"), [_claim_cells(item) for item in uncertain.claims], (1,)),
        Sentence((SURER,)),
    ]


def _make_row(name: str, runtime: Sampled, energy: Sampled | None) -> list[Span]:
    consumed = "" if energy is None else link_text(ends(energy, "J"), "interval")
    return [name, link_text(ends(runtime, "s"), "interval"), consumed]


def _claim_cells(item: Claim) -> list[Span]:
    labels = {"runtime": "the model of runtime", "power": "the model of power"}
    title = COMPONENTS[item.name].title if item.name in COMPONENTS else labels.get(item.name, item.name)
    stated = item.stated
    source: dict[str, str] = {"assumed": "assumed: nobody compared it", "given": "given by the user"}
    compared = "" if stated is None else f"{stated.row}: {stated.compared_with}"
    return [title, link_text(format_share(item.median), "interval"), source.get(item.source, "a comparison"), compared]
