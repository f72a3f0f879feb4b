"""All steps of advice: one report, and a document for somebody who does not know the models."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.configuration import COMPONENTS, ComponentRange, NearOptimal
from aspenpy.advice.scalability import Scalability
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import Diagnostic, drop_repeats
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.source import Span as Place
from aspenpy.report import explanation
from aspenpy.report.advice.classification import bound_blocks, report_classification
from aspenpy.report.advice.decision import decided_blocks, report_decision
from aspenpy.report.advice.design_space import (
    OBJECTIVES,
    change_blocks,
    changed_components,
    compare_values,
    matters_blocks,
    near_optimal,
    note_assumed,
    report_design_space,
)
from aspenpy.report.advice.document import FORMULAS, MOST_KERNELS, link_text
from aspenpy.report.advice.scalability import nodes_blocks, report_scalability
from aspenpy.report.advice.significance import report_significance, significance_blocks
from aspenpy.report.advice.throttling import report_throttling, restriction_blocks
from aspenpy.report.advice.uncertainty import ends, report_uncertainty, sure_blocks
from aspenpy.tables.document import (
    Block,
    BulletList,
    Code,
    Document,
    Link,
    Listing,
    Section,
    Sentence,
    Span,
    Words,
    anchor_of,
    linked_anchors,
    make_sheet,
)
from aspenpy.tables.formats import build_json
from aspenpy.tables.numbers import count_of, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, Paragraph, Part, Report, Table, Title


def show_in_text(part: Part) -> Part:
    """The parts that only the text shows: JSON has an object for each step."""
    return part.replace(key="") if isinstance(part, Table) else part


def report_advice(advice: Advice) -> Report:
    """The reports of the steps under one headline; in JSON an object for each step."""
    reports = {
        "classify": report_classification(advice.classified),
        "significance": report_significance(advice.significant),
        "configure": report_design_space(advice.space),
        "scale": None if advice.scaled is None else report_scalability(advice.scaled),
        "decide": None if advice.decided is None else report_decision(advice.decided),
        "throttle": report_throttling(advice.throttled),
        "uncertainty": report_uncertainty(advice.uncertain),
    }
    parts: list[Part] = [Paragraph(note) for note in note_assumed(advice.space)]
    data: dict[str, Any] = {}
    said = [_say_left_out(advice, name) for name in advice.unaffordable]
    for name, step in reports.items():
        if step is not None:
            parts += [Title(step.headline), *map(show_in_text, step.page[1:])]
            data[name] = build_json(step)
            said += step.diagnostics or ()
    parts.append(near_optimal(advice.space, CSV))
    case = advice.case
    headline = f"advice for {case.application.name} on {case.required_machine.name}"
    return Report("advice/1", headline, data, tuple(parts), tuple(drop_repeats(said)))


def _say_left_out(advice: Advice, step: str) -> Diagnostic:
    message = f"`advise {step}` is left out: it takes more operations than the other steps leave to one command"
    hint = f"`aspenpy advise {step} {advice.case.application.name} --machine {advice.case.required_machine.name}`"
    return Diagnostic("left-out", message, severity="warning", hint=f"{hint} may spend them alone")


register_report(Advice, report_advice)

# -- as a document ---------------------------------------------------------------------------------

BOUND_BY = {
    "arithmetic": "waits for the cores to calculate",
    "cache": "waits for data from caches",
    "memory": "waits for data from memory",
    "network": "waits for messages between nodes",
    "latency": "waits for one thing after another: chains of operations and of loads, launches, barriers",
    "I/O": "waits for files",
}

TELLING = 1e-3  # a sensitivity below which a component is not named among the first

ABOUT = (
    "This page predicts how a program runs on a machine from two models: one of what the program does, one of what the "
    "machine can do. Nothing was measured for it, unless it says so. Each number leads to how it was worked out."
)


def document(advice: Advice, command: str) -> Document:
    """The report; `command` is the line that makes it again."""
    case = advice.case
    blocks: list[Block] = [
        Sentence((ABOUT,)),
        *(Sentence((f"{_say_left_out(advice, step).message}.",)) for step in advice.unaffordable),
        *_summarise_steps(advice),
        *list_assumptions(advice),
        *bound_blocks(advice),
        *matters_blocks(advice),
        *significance_blocks(advice.significant),
        *change_blocks(advice),
        *nodes_blocks(advice),
        *decided_blocks(advice),
        *restriction_blocks(advice),
        *sure_blocks(advice.uncertain),
    ]
    blocks += [
        *appendix(advice, linked_anchors(blocks)),
        Section("The same again", "command"),
        Listing(command),
    ]
    return Document(f"{case.application.name} on {case.required_machine.name}: what to run it on", tuple(blocks))


def _summarise_steps(advice: Advice) -> list[Block]:
    items = [_describe_outcome(advice), _describe_bound(advice), _describe_significant(advice)]
    items += [_best(advice, item) for item in advice.near_optimal if item.objective in ("runtime", "energy")]
    strong = [item for item in advice.scalings if item.mode == "strong"]
    if strong:
        items.append(_describe_nodes(strong[0]))
    items += [(note,) for note in note_assumed(advice.space)]
    return [Section("In short", "short"), BulletList(tuple(items))]


def _describe_outcome(advice: Advice) -> Words:
    base, sure = advice.base, advice.uncertain
    said: list[Any] = ["One run takes ", link_text(seconds(base.runtime), "runtime")]
    if base.energy is not None and base.power is not None:
        said += [" and consumes ", link_text(format_quantity(base.energy, "J"), "energy"), ", "]
        said += [link_text(format_quantity(base.power, "W"), "power"), " on average"]
    said += ["; with all that is uncertain, it takes between ", Link(ends(sure.total_runtime, "s", " and "), "sure")]
    return (*said, ".")


def _describe_bound(advice: Advice) -> Words:
    whole = advice.classifications[0]
    part = sum(item.time for item in whole.shares if item.bound == whole.bound)
    said: list[Any] = ["It mostly ", BOUND_BY[whole.bound], ": ", Link(format_share(part), "bound"), " of the time"]
    if whole.energy_bound is not None:
        energy = sum(item.energy or 0.0 for item in whole.shares if item.bound == whole.energy_bound)
        said += [". Of the energy ", Link(format_share(energy), "bound"), f" goes with {whole.energy_bound}"]
    return (*said, ".")


def _describe_significant(advice: Advice) -> Words:
    said: list[Any] = ["What changes the runtime most: "]
    singles = advice.runtime_effects.singles
    strongest = [effect for effect in singles[:3] if effect is singles[0] or effect.sensitivity >= TELLING]
    for index, effect in enumerate(strongest):
        said += [", " if index else "", COMPONENTS[effect.parameters[0]].title, " ("]
        said += [Link(f"{seconds(effect.least)} to {seconds(effect.most)}", "matters"), ")"]
    return (*said, ".")


def _best(advice: Advice, item: NearOptimal) -> Words:
    """The best change, and by how much it is better."""
    said: list[Any] = [f"For {OBJECTIVES[item.objective]}: ", Link(changed_components(advice, item), "change")]
    said += ["; it takes ", link_text(seconds(item.outcome.runtime), "optimum"), " ("]
    said += [link_text(compare_values(item.outcome.runtime, advice.base.runtime), "against"), ")"]
    if item.outcome.energy is not None and advice.base.energy is not None:
        said += [" and consumes ", link_text(format_quantity(item.outcome.energy, "J"), "optimum"), " ("]
        said += [link_text(compare_values(item.outcome.energy, advice.base.energy), "against"), ")"]
    return (*said, ".")


def _describe_nodes(item: Scalability) -> Words:
    point = item.points[item.nodes.index(item.worthwhile)]
    return (
        "It is worth running on up to ",
        Link(count_of(item.worthwhile, "node"), "nodes"),
        ": then it takes ",
        Link(seconds(point.time), "nodes"),
        ", and the nodes work at an efficiency of ",
        link_text(format_share(point.efficiency), "efficiency"),
        "." if item.turned_down else ". More were not looked at (--nodes).",
    )


# -- what was assumed, formulas and lines ----------------------------------------------------------


def _describe_range_source(item: ComponentRange) -> str:
    """Source of the range of a component, in words."""
    said = {"machine": f"the machine model says so: {item.origin}", "user": "given with --vary"}
    return said.get(item.source, item.origin)


def list_assumptions(advice: Advice) -> list[Block]:
    items: list[Words] = [
        (f"{COMPONENTS[item.component].title}, its range: ", Link(_describe_range_source(item), "components"))
        for item in advice.ranges
    ]
    if advice.space.problem.ranks is not None:
        items.append(("One rank runs in each place that the machine has for one, and the whole problem stays.",))
    if advice.space.machine.absent:
        names = ", ".join(COMPONENTS[name].title for name in advice.space.machine.absent)
        items.append((f"The machine model does not state {names}: not varied.",))
    texts: list[Words] = [(Code(f"{name} = {value}"), " was set.") for name, value in advice.case.set.items()]
    said: list[Any] = [(f"{item.severity}: {item.message}",) for item in advice.space.prediction.diagnostics]
    return [Section("What was assumed", "assumed"), BulletList((*items, *texts, *said))]


def appendix(advice: Advice, used: Collection[str]) -> list[Block]:
    """Formulas of results that are used, then of each kernel, then the components' lines."""
    blocks: list[Block] = [Section("Formulas and lines", "formulas", folded=True)]
    for name, (title, text) in FORMULAS.items():
        if (anchor := anchor_of("formula", name)) in used:
            blocks.append(Sentence((f"{title}: {text}",), anchor))
    return [*blocks, *_component_blocks(advice), *_energy_blocks(advice), *_kernels(advice)]


def _component_blocks(advice: Advice) -> list[Block]:
    """The components that are varied: the parameter of each, and the line that it is written in."""
    rows: list[list[Span]] = []
    for item in advice.ranges:
        place, line = _place_and_line(advice, item)
        rows.append([COMPONENTS[item.component].title, Code(item.sets), place, Code(line) if line else ""])
    heads = ("component", "what is set", "written at", "line")
    return [Section("Components of the machine", "components", 2), make_sheet(heads, rows)]


def _energy_blocks(advice: Advice) -> list[Block]:
    """The terms of the energy of one run: rates, amounts, and the lines that state the rates."""
    energy = advice.classified.energy
    if energy is None:
        return []
    rows: list[list[Span]] = []
    for use in sorted(energy.terms, key=lambda use: -use.energy):
        term, joules = use.term, format_quantity(use.energy, "J")
        if term is None or use.rate is None or use.amount is None:
            rows.append([use.key.cause, use.key.component, joules, "", "", ""])
            continue
        formula = f"{format_quantity(use.rate, term.unit)} x {format_quantity(use.amount, term.amount_unit)}"
        span = term.span
        place, line = ("", "") if span is None else (span.place(), _line_of_span(span))
        rows.append([use.key.cause, use.key.component, joules, formula, place, Code(line) if line else ""])
    heads = ("energy of", "at", "joules", "rate x amount", "written at", "line")
    return [Section("Terms of the energy", "energy", 2), make_sheet(heads, rows, (2, 3))]


def _place_and_line(advice: Advice, item: ComponentRange) -> tuple[str, str]:
    """Place at which the machine states a component, and the line."""
    machine = advice.case.required_machine
    name = item.sets.removeprefix("machine:")
    spans: dict[str, Place | None] = {parameter.name: parameter.span for parameter in machine.parameters}
    part, _, prop = name.partition(".")
    if name in spans:
        span = spans[name]
    elif part in machine.components and prop in machine.components[part].properties:
        span = machine.components[part].properties[prop].span
    else:
        return "worked out from the machine's own values", ""
    return ("in Python", "") if span is None else (span.place(), _line_of_span(span))


def _line_of_span(span: Place) -> str:
    return " ".join(span.text().split())


def _kernels(advice: Advice) -> list[Block]:
    """The requirements of the longest kernels, each with the application's and the machine's line."""
    prediction = advice.classified.prediction
    names = [item.kernel for item in advice.classifications if item.kernel is not None]
    blocks: list[Block] = [
        Section("Times of the kernels", "kernels", 2),
        Sentence(
            (
                "A requirement is what a block of the program asks of the machine: so many flops, so many bytes. The "
                "machine model says how long one takes.",
            )
        ),
    ]
    for name in names[:MOST_KERNELS]:
        blocks += _blocks_of_kernel(prediction, name)
    if len(names) > MOST_KERNELS:
        blocks.append(
            Sentence((f"{len(names) - MOST_KERNELS} shorter kernels are left out.",), anchor_of("kernel", ""))
        )
    return blocks


def _blocks_of_kernel(prediction: Prediction, name: str) -> list[Block]:
    blocks: list[Block] = [Section(name, anchor_of("kernel", name), 3)]
    tables = explanation.report_explanation(prediction.explain(name)).page
    for part in tables:
        if isinstance(part, Table):
            blocks.append(Sentence((part.title,)))
            facts = [(str(row[0]), str(row[1])) for row in part.rows]
            blocks.append(
                BulletList(tuple((f"{label}: ", Code(text) if label in CODE else text) for label, text in facts))
            )
    return blocks


CODE = ("requirement", "one instance asks for", "seconds of an amount", "one instance takes")
