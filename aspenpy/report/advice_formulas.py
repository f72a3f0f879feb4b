"""Sections of the document of advice: each number's formula and line of the model, how sure it is, assumptions."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import ComponentRange, Configuration
from aspenpy.advice.sampled import Sampled
from aspenpy.advice.uncertain import Claim, Uncertain
from aspenpy.answers.prediction import Prediction
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.source import Span as Place
from aspenpy.report import design_space, explanation
from aspenpy.tables.document import Block, Code, Link, Points, Section, Sentence, Span, Words, anchor_of, make_sheet
from aspenpy.tables.numbers import count, share
from aspenpy.tables.table import Table

MOST_KERNELS = 20  # the longest, of which each requirement is explained

FORMULAS: dict[str, tuple[str, str]] = {
    "runtime": (
        "Runtime",
        "The times of the kernels below, each as often as it is called. In a block, what waits for different parts of "
        "the machine overlaps: the longest counts.",
    ),
    "share": (
        "Share",
        "The time in which the run waits for that part of the machine / the runtime. Of energy: the joules that go "
        "with it / the energy.",
    ),
    "energy": (
        "Energy",
        "Power that is there whatever happens times the runtime, and joules for each flop, byte and message: the terms "
        "stand below, each with its line.",
    ),
    "power": ("Power", "Energy / runtime."),
    "balance": (
        "From balance",
        "Flops a byte of memory traffic, divided by the peak over the bandwidth: above 1 flops take longer than bytes, "
        "below 1 bytes do (Williams, Waterman and Patterson, CACM 52(4), 2009).",
    ),
    "sensitivity": (
        "Sensitivity",
        "(most - least) / value where nothing is varied, while one component goes through its range and all else stays "
        "(Umar, dissertation, Virginia Tech, 2018, section 4.4.2).",
    ),
    "significance": (
        "Share of a component, by the model",
        "Its sensitivity / the sum of the sensitivities of all components that the machine model states.",
    ),
    "samples": (
        "Samples",
        "Half the 95 % confidence interval of the mean of repeated runs, by Student's t, in parts of the mean: the "
        "widest of all configurations. So many more runs make it narrow enough.",
    ),
    "counters": (
        "Share of a component, by counters",
        "Stepwise linear regression picks the significant counters; each has its part of the variance that they "
        "explain (Lindeman, Merenda and Gold, 1980), and a component the parts of its counters, as far as they belong "
        "to it. Between: 95 % of 200 draws of the runs.",
    ),
    "clusters": (
        "Clusters",
        "Fuzzy c-means: a counter belongs to several clusters, each in part, the more the closer it goes with it "
        "(Bezdek, 1981). Partition coefficient: Bezdek, 1981. Index: Xie and Beni, IEEE TPAMI 13(8), 1991.",
    ),
    "optimum": ("Best of all", "The least of all combinations of the values that were tried; each was tried."),
    "against": ("Than now", "(value - value where nothing is varied) / value where nothing is varied."),
    "edp": (
        "Energy-delay product",
        "Energy times runtime (Gonzalez and Horowitz, IEEE JSSC 31(9), 1996); with delay squared: energy times runtime "
        "squared.",
    ),
    "efficiency": (
        "Efficiency",
        "Of strong scaling: the time on one node / (nodes x the time on them). Of weak scaling: the time on one node / "
        "the time on all, with as much larger a problem. Worth it: the most nodes that are at least as efficient as "
        "the threshold says.",
    ),
    "knee": (
        "Knee",
        "Where the time is farthest below a line from the first to the last number of nodes (Satopää, Albrecht, Irwin "
        "and Raghavan, ICDCSW 2011). Fastest: the number of nodes with the least time.",
    ),
    "worth": (
        "One more unit",
        "(objective at the next bound that buys anything - objective now) / (that bound - the bound).",
    ),
    "interval": (
        "Interval",
        "From the 2.5 % to the 97.5 % quantile of 1,000 runs of the model in which each value is multiplied by a "
        "normally distributed factor around 1, and the model's runtime and power by factors whose logarithms are "
        "normally distributed around 0. Half of the errors of a normal distribution are at most 0.6745 standard "
        "deviations.",
    ),
    "restricted": ("Restricted", "The runtime with a part of what the machine has / the runtime with all of it."),
    "noise": (
        "Noise",
        "From the 2.5 % to the 97.5 % quantile of 1,000 runs of the model in which each component has lost a normally "
        "distributed part.",
    ),
}
"""Of numbers that are not a kernel's time, by anchor."""


def explained(text: str, formula: str) -> Link:
    """Words that lead to a formula."""
    return Link(text, anchor_of("formula", formula))


def appendix(advice: Advice) -> list[Block]:
    """Formulas of results, then of each kernel, then the components' lines."""
    blocks: list[Block] = [Section("Formulas and lines", "formulas")]
    for name, (title, text) in FORMULAS.items():
        blocks.append(Sentence((f"{title}: {text}",), anchor_of("formula", name)))
    return [*blocks, *_components(advice), *_energy(advice), *_kernels(advice)]


def _components(advice: Advice) -> list[Block]:
    """What is varied: the parameter and the line that it is written in."""
    rows: list[list[Span]] = []
    for item in advice.ranges:
        place, line = _written(advice, item)
        rows.append([COMPONENTS[item.component].title, Code(item.sets), place, Code(line) if line else ""])
    heads = ("component", "what is set", "written at", "line")
    return [Section("Components of the machine", "components", 2), make_sheet(heads, rows)]


def _energy(advice: Advice) -> list[Block]:
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
        place, line = ("", "") if span is None else (span.place(), _line(span))
        rows.append([use.key.cause, use.key.component, joules, formula, place, Code(line) if line else ""])
    heads = ("energy of", "at", "joules", "rate x amount", "written at", "line")
    return [Section("Terms of the energy", "energy", 2), make_sheet(heads, rows, (2, 3))]


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
    tables = explanation.report_explanation(prediction.explain(name)).page
    for part in tables:
        if isinstance(part, Table):
            blocks.append(Sentence((part.title,)))
            facts = [(str(row[0]), str(row[1])) for row in part.rows]
            blocks.append(Points(tuple(_fact(label, text) for label, text in facts)))
    return blocks


CODE = ("requirement", "one instance asks for", "seconds of an amount", "one instance takes")


def _fact(label: str, text: str) -> Words:
    return (f"{label}: ", Code(text) if label in CODE else text)


# -- how sure the advice is, and what was assumed --------------------------------------------------


SURER = "Which of two configurations is better is surer than either number: both err in the same direction."


def ends(found: Sampled, unit: str, between: str = " to ") -> str:
    return f"{format_quantity(found.low, unit)}{between}{format_quantity(found.high, unit)}"


def sure_blocks(uncertain: Uncertain) -> list[Block]:
    """The intervals, and who says how far each value and model is off."""
    rows = [
        _row("the machine's and the program's values", uncertain.runtime, uncertain.energy),
        _row("these, and the models themselves", uncertain.total_runtime, uncertain.total_energy),
    ]
    note: Words = (
        "Of ",
        explained(count(uncertain.runtime.count), "interval"),
        " runs of the model, each with other values, 95 % take:",
    )
    return [
        Section("How sure this is", "sure"),
        Sentence(note),
        make_sheet(("if uncertain are", "runtime", "energy"), rows, (1, 2)),
        Sentence(("How far each is off, as half of all are at most:",)),
        make_sheet(("", "off by", "by", "compared with"), [_claim(item) for item in uncertain.claims], (1,)),
        Sentence((SURER,)),
    ]


def _row(name: str, runtime: Sampled, energy: Sampled | None) -> list[Span]:
    consumed = "" if energy is None else explained(ends(energy, "J"), "interval")
    return [name, explained(ends(runtime, "s"), "interval"), consumed]


def _claim(item: Claim) -> list[Span]:
    known = {"runtime": "the model of runtime", "power": "the model of power"}
    title = COMPONENTS[item.name].title if item.name in COMPONENTS else known.get(item.name, item.name)
    stated = item.stated
    source: dict[str, str] = {"assumed": "assumed: nobody compared it", "given": "given by the user"}
    compared = "" if stated is None else f"{stated.row}: {stated.compared_with}"
    return [title, explained(share(item.median), "interval"), source.get(item.source, "a comparison"), compared]


def _range_by(item: ComponentRange) -> str:
    """Who says between which values a component goes."""
    said = {"machine": f"the machine model says so: {item.origin}", "user": "given with --vary"}
    return said.get(item.source, item.origin)


def list_assumptions(advice: Advice) -> list[Block]:
    items: list[Words] = [
        (f"{COMPONENTS[item.component].title}, its range: ", Link(_range_by(item), "components"))
        for item in advice.ranges
    ]
    if advice.space.problem.ranks is not None:
        items.append(("One rank runs in each place that the machine has for one, and the whole problem stays.",))
    if advice.space.machine.absent:
        names = ", ".join(COMPONENTS[name].title for name in advice.space.machine.absent)
        items.append((f"The machine model does not state {names}: not varied.",))
    given: list[Words] = [(Code(f"{name} = {value}"), " was set.") for name, value in advice.case.set.items()]
    said: list[Any] = [(f"{item.severity}: {item.message}",) for item in advice.space.prediction.diagnostics]
    return [Section("What was assumed", "assumed"), Points((*items, *given, *said))]


def link_joules(value: float | None, formula: str) -> Span:
    """An energy that leads to its formula; nothing where the machine states no power."""
    return "" if value is None else explained(format_quantity(value, "J"), formula)


def describe_configuration(configuration: Configuration) -> str:
    """`core clock 3.5 GHz, cores of a socket 18`; as the machine is where nothing is changed."""
    values = configuration.values.items()
    told = [f"{COMPONENTS[name].title} {design_space.value_of(name, value)}" for name, value in values]
    return ", ".join(told) or "as it is"
