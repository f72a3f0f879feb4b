"""Sections of the document of advice: how sure it is, and what was assumed."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import ComponentRange
from aspenpy.advice.sampled import Sampled
from aspenpy.advice.uncertain import Claim, Uncertain
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice_formulas import explained
from aspenpy.tables.document import Block, Code, Link, Points, Section, Sentence, Span, Words, sheet
from aspenpy.tables.numbers import count, share

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
        sheet(("if uncertain are", "runtime", "energy"), rows, (1, 2)),
        Sentence(("How far each is off, as half of all are at most:",)),
        sheet(("", "off by", "by", "compared with"), [_claim(item) for item in uncertain.claims], (1,)),
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


def assumed_blocks(advice: Advice) -> list[Block]:
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
