"""The appendix of advice: each number's formula and the line of the model that it is from."""

from __future__ import annotations

from aspenpy.advice.advice import Advice
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import ComponentRange
from aspenpy.answers.prediction import Prediction
from aspenpy.language.source import Span as Place
from aspenpy.report import explanation
from aspenpy.tables.document import Block, Code, Points, Section, Sentence, Span, Words, anchor_of, sheet
from aspenpy.tables.table import Table

MOST_KERNELS = 20  # the longest, of which each requirement is explained

FORMULAS: dict[str, tuple[str, str]] = {
    "runtime": (
        "Runtime",
        "The times of the kernels below, each as often as it is called. In a block, what waits for different parts of "
        "the machine overlaps: the longest counts.",
    ),
    "energy": (
        "Energy",
        "Power that is there whatever happens times the runtime, and joules for each flop, byte and message. The terms "
        "are told by `aspenpy energy`.",
    ),
    "balance": (
        "Balance",
        "Flops a byte of memory traffic, divided by the peak over the bandwidth: above 1 flops take longer than bytes, "
        "below 1 bytes do (Williams, Waterman and Patterson, CACM 52(4), 2009).",
    ),
    "sensitivity": (
        "Sensitivity",
        "(most - least) / value where nothing is varied, while one component goes through its range and all else stays "
        "(Umar, dissertation, Virginia Tech, 2018, section 4.4.2).",
    ),
    "optimum": ("Best of all", "The least of all combinations of the values that were tried; each was tried."),
    "edp": (
        "Energy-delay product",
        "Energy times runtime (Gonzalez and Horowitz, IEEE JSSC 31(9), 1996); ED²P: energy times runtime squared.",
    ),
    "efficiency": (
        "Efficiency",
        "Of strong scaling: the time on one node / (nodes x the time on them). Of weak scaling: the time on one node / "
        "the time on all, with as much larger a problem.",
    ),
    "worth": (
        "One more unit",
        "(objective at the next bound that buys anything - objective now) / (that bound - the bound).",
    ),
    "interval": (
        "Interval",
        "From the 2.5 % to the 97.5 % quantile of 1,000 runs of the model in which each component's value is "
        "multiplied by a normally distributed factor around 1.",
    ),
    "restricted": ("Restricted", "The runtime with a part of what the machine has / the runtime with all of it."),
}
"""Of numbers that are not a kernel's time, by anchor."""


def appendix(advice: Advice) -> list[Block]:
    """Formulas of results, then of each kernel, then the components' lines."""
    blocks: list[Block] = [Section("Formulas and lines", "formulas")]
    for name, (title, text) in FORMULAS.items():
        blocks.append(Sentence((f"{title}: {text}",), anchor_of("formula", name)))
    blocks += _components(advice)
    return [*blocks, *_kernels(advice)]


def _components(advice: Advice) -> list[Block]:
    """What is varied: the parameter and the line that it is written in."""
    rows: list[list[Span]] = []
    for item in advice.ranges:
        place, line = _written(advice, item)
        rows.append([COMPONENTS[item.component].title, Code(item.sets), place, Code(line) if line else ""])
    heads = ("component", "what is set", "written at", "line")
    return [Section("Components of the machine", "components", 2), sheet(heads, rows)]


def _written(advice: Advice, item: ComponentRange) -> tuple[str, str]:
    """Where the machine states a component, and the line."""
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
    return ("in Python", "") if span is None else (span.place(), _line(span))


def _line(span: Place) -> str:
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
        blocks += _kernel(prediction, name)
    if len(names) > MOST_KERNELS:
        blocks.append(
            Sentence((f"{len(names) - MOST_KERNELS} shorter kernels are left out.",), anchor_of("kernel", ""))
        )
    return blocks


def _kernel(prediction: Prediction, name: str) -> list[Block]:
    blocks: list[Block] = [Section(name, anchor_of("kernel", name), 3)]
    tables = explanation.report(prediction.explain(name)).page
    for part in tables:
        if isinstance(part, Table):
            blocks.append(Sentence((part.title,)))
            facts = [(str(row[0]), str(row[1])) for row in part.rows]
            blocks.append(Points(tuple(_fact(label, text) for label, text in facts)))
    return blocks


CODE = ("requirement", "one instance asks for", "seconds of an amount", "one instance takes")


def _fact(label: str, text: str) -> Words:
    return (f"{label}: ", Code(text) if label in CODE else text)
