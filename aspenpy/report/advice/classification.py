"""The bounds of an application: a report, and a section of the document of advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.classification import Classification, Classified
from aspenpy.report.advice.document import MOST_KERNELS, link_joules, link_text
from aspenpy.report.prediction_data import subject_as_data
from aspenpy.tables.document import Block, Link, Section, Sentence, anchor_of, make_sheet
from aspenpy.tables.numbers import format_ratio, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import JSON, TEXT, Column, Paragraph, Part, Report, make_columns, make_table

UNPOWERED = "the machine does not state it, or it is idle power that all who share it have part in."

MOST_SHOWN = 16  # kernels in a table for people; JSON and CSV have all


def report_classification(classified: Classified) -> Report:
    """The whole and its kernels, with shares, both balance points, and the distance from each."""
    data = {
        **subject_as_data(classified.prediction),
        "chosen": classified.choices,
        "has_energy": classified.powerless is None,
        "left_out": list(classified.unpowered),
    }
    diagnostics = classified.prediction.diagnostics
    if classified.powerless is not None:
        diagnostics = (*diagnostics, classified.powerless.replace(severity="warning"))
    return Report("classification/1", heading(classified), data, parts(classified), diagnostics)


register_report(Classified, report_classification)


def heading(classified: Classified) -> str:
    where = classified.where
    if not classified.classifications:
        return f"{where}: takes no time"
    whole = classified.classifications[0]
    in_energy = (
        "" if whole.energy_bound is None else f"; energy by {whole.energy_bound} ({_format_part(whole, 'energy')})"
    )
    return f"{where}: bound by {whole.bound} ({_format_part(whole, 'time')} of the runtime){in_energy}"


def _format_part(classification: Classification, of: str) -> str:
    """The share of the class that bounds it, over all components."""
    bound = classification.bound if of == "time" else classification.energy_bound
    return format_share(sum(getattr(item, of) or 0.0 for item in classification.shares if item.bound == bound))


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
        Column("bound by", get=_make_text_getter("bound", "time"), media=TEXT),
        Column("energy", unit="J"),
        Column("energy by", get=_make_text_getter("energy_bound", "energy"), media=TEXT),
        *make_columns("bound energy_bound", media=("json", "csv")),
        Column("flop/B", "ratio", key="intensity"),
        Column("balance", "ratio", key="time_balance"),
        Column("from it", _format_times, "right", key="time_distance"),
        Column("of energy", "ratio", key="energy_balance"),
        Column("from it", _format_times, "right", key="energy_distance"),
        Column(
            "shares",
            get=lambda row: [{name: getattr(item, name) for name in item._fields} for item in row.shares],
            media=JSON,
        ),
    )
    more = [Paragraph(f"Energy does without the power of `{name}`: {UNPOWERED}") for name in classified.unpowered]
    note = (
        "`balance` is the intensity at which flops and bytes take equal times, `of energy` at which they take equal "
        "energies; below x 1 bytes take more, above it flops."
    )
    return (
        make_table(heads, rows[: MOST_SHOWN + 1], media=TEXT, sparse=True),
        make_table(heads, rows, "classifications", media=("json", "csv")),
        make_table(SHARES, rows[0].shares if rows else (), title="shares of the whole", media=TEXT, sparse=True),
        Paragraph(note),
        *more,
    )


def _make_text_getter(bound: str, of: str) -> Callable[[Classification], str | None]:
    return lambda row: None if getattr(row, bound) is None else f"{getattr(row, bound)} {_format_part(row, of)}"


def _format_times(value: float) -> str:
    return f"x {format_ratio(value)}"


# -- as a section of the document ------------------------------------------------------------------


MOST_IN_DOCUMENT = 12  # kernels


def bound_blocks(advice: Advice) -> list[Block]:
    """The bounds of each kernel and of the whole run."""
    whole = advice.classifications[0]
    rows = [_kernel_row(item, index) for index, item in enumerate(advice.classifications[: MOST_IN_DOCUMENT + 1])]
    left = len(advice.classifications) - len(rows)
    shares: list[list[Any]] = [
        [
            item.bound,
            item.component or "",
            link_text(format_share(item.time), "share"),
            "" if item.energy is None else link_text(format_share(item.energy), "share"),
        ]
        for item in whole.shares
        if item.time >= 5e-4 or (item.energy or 0) >= 5e-4
    ]
    note = (
        "A kernel is a part of the program. It is bound by what it waits for; what else it does meanwhile costs no "
        "time. At the balance the flops (floating-point operations) of a kernel and its bytes of memory take equally "
        "long: with x 2 it does twice as many flops a byte, and flops take longer; below x 1 memory does."
    )
    heads = ("kernel", "time", "bound by", "energy", "energy goes with", "from balance")
    more: list[Block] = [Sentence((f"{left} shorter kernels are left out.",))] if left else []
    return [
        Section("What it is bound by", "bound"),
        Sentence((note,)),
        make_sheet(heads, rows, (1, 3, 5)),
        *more,
        Sentence(("Of the whole run:",)),
        make_sheet(("bound by", "at", "time", "energy"), shares, (2, 3)),
    ]


def _kernel_row(item: Classification, index: int) -> list[Any]:
    name = item.kernel or "the whole run"
    anchor = anchor_of("kernel", name) if item.kernel and index <= MOST_KERNELS else anchor_of("formula", "runtime")
    distance = item.time_distance
    return [
        name,
        Link(seconds(item.time), anchor),
        item.bound,
        link_joules(item.energy, "energy"),
        item.energy_bound or "",
        "" if distance is None else link_text(f"x {format_ratio(distance)}", "balance"),
    ]
