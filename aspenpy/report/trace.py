"""When kernels run, and how much of a run goes on at once, as reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.answers.parallelism import BlockParallelism, Parallelism
from aspenpy.answers.trace import Demand, Trace, TraceStep
from aspenpy.cost.mapper import warnings_of
from aspenpy.language.vocabulary import OPERATION_CLASSES
from aspenpy.report.listings import tree_lines, tree_of_regions
from aspenpy.tables.numbers import (
    Amount,
    count_of,
    format_amount,
    format_count,
    format_setting,
    format_share,
    plain_number,
    unit_of_resource,
)
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Report, Table, make_columns, make_table

DEMANDS = "resource amount unit direction data traits"


def report_trace(trace: Trace) -> Report:
    """One row per step, indented as deep as it stands; with a machine, when it begins and its duration, else null."""
    application = trace.application.name
    machine = trace.machine.name if trace.machine else None
    data = {
        "application": application,
        "machine": machine,
        "kernel": trace.entry.name,
        "complete": trace.complete,
        "blocks": {"shown": trace.shown_blocks, "all": trace.blocks},
    }
    times = (Column("begins", unit="s", get="start"), Column("takes", unit="s", get="duration"))
    heads = (
        *(times if trace.machine else ()),
        Column("step", get=lambda step: "  " * step.depth + _WORDS[step.kind](step)),
        Column("asks for", get=lambda step: ", ".join(map(_format_demand, step.demands)) or None, wrapped=True),
    )
    left = _omission_note(trace)
    parts = (
        make_table(heads, trace.steps, media=TEXT),
        make_table(STEPS, trace.steps, "steps", media=JSON),
        make_table(ROWS, trace.steps, media=CSV),
        *((Paragraph(left),) if left else ()),
    )
    where = f"{application} on {machine}" if machine else application
    return Report("trace/1", f"{where}: what {trace.entry.name} does", data, parts, tuple(trace.application.warnings))


register_report(Trace, report_trace)

STEPS = (
    *make_columns("kind depth name label values"),
    Column("demands", get=lambda step: [_demand_as_data(demand) for demand in step.demands]),
    *make_columns("start duration", unit="s"),
    Column(
        "occupations",
        get=lambda step: [{name: getattr(use, name) for name in type(use)._fields} for use in step.occupations],
    ),
)
ROWS = (
    *make_columns("kind depth name label"),
    Column("values", get=lambda step: [f"{name}={plain_number(value)}" for name, value in step.values.items()]),
    Column("demands", get=lambda step: [f"{item.resource}={plain_number(item.amount)}" for item in step.demands]),
    *make_columns("start duration", unit="s"),
)


def _demand_as_data(demand: Demand) -> dict[str, object]:
    unit = unit_of_resource(demand.resource)
    return {name: unit if name == "unit" else getattr(demand, name) for name in DEMANDS.split()}


def _omission_note(trace: Trace) -> str | None:
    """A note on the parts that the page does not show."""
    more = "--most shows more steps, --passes more passes of each loop"
    if not trace.complete:
        shown = (
            f"The first {len(trace.steps):,} steps, with {trace.shown_blocks:,} of {format_count(trace.blocks)} "
            "executions"
        )
        return f"{shown} of blocks; {more}."
    if any(step.kind == "passes" for step in trace.steps):
        return f"{trace.shown_blocks:,} of {format_count(trace.blocks)} executions of blocks; {more}."
    return None


# -- words -----------------------------------------------------------------------------------------


def _label_of_step(step: TraceStep) -> str:
    return f' "{step.label}"' if step.label else ""


def _describe_call(step: TraceStep) -> str:
    listed = ", ".join(f"{name} = {format_setting(plain_number(value))}" for name, value in step.values.items())
    return f"{step.name}({listed})"


def _describe_loop(step: TraceStep) -> str:
    times = step.values["count"]
    return f"{step.name}{_label_of_step(step)}, {format_count(times)} {'pass' if times == 1 else 'passes'}"


def _describe_pass(step: TraceStep) -> str:
    ((name, number),) = step.values.items()
    return f"pass {number + 1}" if name == "pass" else f"pass {number + 1}, {name} = {number}"


def _describe_left_passes(step: TraceStep) -> str:
    left = step.values["count"]
    return "... one more pass" if left == 1 else f"... {format_count(left)} more passes"


def _describe_block(step: TraceStep) -> str:
    instances, width = step.values["instances"], step.values.get("width", 1)
    said = "" if instances == width == 1 else f" in {count_of(instances, 'instance')}"
    parts = "" if width == 1 else f" of {format_count(width)} parts"
    return f"block{_label_of_step(step)}{said}{parts}"


_WORDS: dict[str, Callable[[TraceStep], str]] = {
    "call": _describe_call,
    "loop": _describe_loop,
    "pass": _describe_pass,
    "passes": _describe_left_passes,
    "block": _describe_block,
    "case": lambda step: f"with probability {format_share(float(step.values['probability']))}",
    "par": lambda step: f"par{_label_of_step(step)}, {step.name}",
}


def _format_demand(demand: Demand) -> str:
    text = f"{demand.resource} {format_amount(Amount(demand.amount, unit_of_resource(demand.resource)))}"
    if demand.data is not None:
        text += f" {demand.direction} {demand.data}"
    classes = [name for name in demand.traits if name in OPERATION_CLASSES]
    return f"{text} as {classes[0]}" if classes else text


# -- parallelism -----------------------------------------------------------------------------------


FIELDS = "instances width maps together mean executions"
BLOCKS = (
    Column("path", get=lambda block: list(block.path), media=JSON),
    Column("path", get=lambda block: "/".join(block.path), media=CSV),
    Column("block", get="label"),
    *make_columns(FIELDS),
    Column("line", get=lambda block: block.span.position().line if block.span else None, media=JSON),
)


def report_parallelism(parallelism: Parallelism) -> Report:
    """The call paths as trees, the blocks as their leaves; what can run most at once stands out."""
    data = {"application": parallelism.application.name, "kernel": parallelism.kernel, "most": parallelism.most}
    headline = f"{parallelism.application.name}: {parallelism.kernel} has {_most_at_once(parallelism)}"
    parts = (
        *((_tree_table(parallelism),) if parallelism.blocks else ()),
        make_table(BLOCKS, parallelism.blocks, "blocks", media=DATA),
    )
    warnings = warnings_of(parallelism.application, parallelism.run.machine, kernel=parallelism.kernel)
    return Report("parallelism/1", headline, data, parts, tuple(warnings))


register_report(Parallelism, report_parallelism)


def _tree_table(parallelism: Parallelism) -> Table:
    rows: list[tuple[Any, ...]] = []
    marked = []
    for prefix, region in tree_lines(
        tree_of_regions([(block.region, block) for block in parallelism.blocks], parallelism.kernel)
    ):
        block = region.item
        if block is not None and block.together is not None and block.together == parallelism.most:
            marked.append(len(rows))
        rows.append(
            (prefix + region.name, *((None,) * len(FIELDS.split()) if block is None else _cells_of_block(block)))
        )
    heads = tuple(
        head.replace(media=DATA) if head.name == "width" and not parallelism.wide else head
        for head in make_columns(FIELDS, format="count")
    )
    heads = (Column("call path"), *heads)
    return Table(heads, tuple(rows), frozenset(marked), media=TEXT)


def _most_at_once(parallelism: Parallelism) -> str:
    if parallelism.most is None:
        return "no block" if not parallelism.blocks else "an unknown number of instances at once"
    instances = count_of(parallelism.most, "part" if parallelism.wide else "instance")
    unknown = any(block.together is None for block in parallelism.blocks)
    return f"{instances} or more at once" if unknown else f"up to {instances} at once"


def _cells_of_block(block: BlockParallelism) -> tuple[Any, ...]:
    """The mean where it says more."""
    cells = {field: getattr(block, field) for field in FIELDS.split()}
    if block.together is not None and float(block.together) == block.mean:
        cells["mean"] = None
    return tuple(cells.values())
