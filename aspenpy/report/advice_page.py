"""All advice as a document for somebody who does not know the models: what binds, what matters, what to change."""

from __future__ import annotations

from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import NearOptimal
from aspenpy.advice.scalability import Scalability
from aspenpy.language.dimensions import format_quantity
from aspenpy.report import decision, design_space, throttled
from aspenpy.report.advice_counters import significance_blocks
from aspenpy.report.advice_formulas import appendix, explained
from aspenpy.report.advice_limits import decided_blocks, throttled_blocks
from aspenpy.report.advice_sections import (
    OBJECTIVES,
    against,
    bound_blocks,
    change_blocks,
    changed,
    drawn,
    matters_blocks,
    nodes_blocks,
)
from aspenpy.report.advice_sureness import assumed_blocks, ends, sure_blocks
from aspenpy.tables.document import Block, Document, Link, Listing, Points, Section, Sentence, Words
from aspenpy.tables.numbers import counted, seconds, share

BOUND_BY = {
    "arithmetic": "waits for the cores to calculate",
    "cache": "waits for data from caches",
    "memory": "waits for data from memory",
    "network": "waits for messages between nodes",
    "latency": "waits for things that take time by themselves: launches, barriers, the start of messages",
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
        *_in_short(advice),
        *bound_blocks(advice),
        *matters_blocks(advice),
        *significance_blocks(advice.significant),
        *change_blocks(advice),
        *nodes_blocks(advice),
        *decided_blocks(advice, drawn(decision.draw, advice.decided)),
        *throttled_blocks(advice, drawn(throttled.draw, advice.throttled)),
        *sure_blocks(advice.uncertain),
        *assumed_blocks(advice),
        *appendix(advice),
        Section("The same again", "command"),
        Listing(command),
    ]
    return Document(f"{case.application.name} on {case.required_machine.name}: what to run it on", tuple(blocks))


def _in_short(advice: Advice) -> list[Block]:
    items = [_takes(advice), _binds(advice), _depends(advice)]
    items += [_best(advice, item) for item in advice.near_optimal if item.objective in ("runtime", "energy")]
    strong = [item for item in advice.scalings if item.mode == "strong"]
    if strong:
        items.append(_worthwhile(strong[0]))
    items += [(note,) for note in design_space.assumed_ranges(advice.space)]
    return [Section("In short", "short"), Points(tuple(items))]


def _takes(advice: Advice) -> Words:
    base, sure = advice.base, advice.uncertain
    said: list[Any] = ["One run takes ", explained(seconds(base.runtime), "runtime")]
    if base.energy is not None and base.power is not None:
        said += [" and consumes ", explained(format_quantity(base.energy, "J"), "energy"), ", "]
        said += [explained(format_quantity(base.power, "W"), "power"), " on average"]
    said += ["; with all that is uncertain, it takes between ", Link(ends(sure.total_runtime, "s", " and "), "sure")]
    return (*said, ".")


def _binds(advice: Advice) -> Words:
    whole = advice.classifications[0]
    part = sum(item.time for item in whole.shares if item.bound == whole.bound)
    said: list[Any] = ["It mostly ", BOUND_BY[whole.bound], ": ", Link(share(part), "bound"), " of the time"]
    if whole.energy_bound is not None:
        energy = sum(item.energy or 0.0 for item in whole.shares if item.bound == whole.energy_bound)
        said += [". Of the energy ", Link(share(energy), "bound"), f" goes with {whole.energy_bound}"]
    return (*said, ".")


def _depends(advice: Advice) -> Words:
    said: list[Any] = ["What changes the runtime most: "]
    singles = advice.runtime_effects.singles
    told = [effect for effect in singles[:3] if effect is singles[0] or effect.sensitivity >= TELLING]
    for place, effect in enumerate(told):
        said += [", " if place else "", COMPONENTS[effect.parameters[0]].title, " ("]
        said += [Link(f"{seconds(effect.least)} to {seconds(effect.most)}", "matters"), ")"]
    return (*said, ".")


def _best(advice: Advice, item: NearOptimal) -> Words:
    """What to change, and by how much it is better."""
    said: list[Any] = [f"For {OBJECTIVES[item.objective]}: ", Link(changed(advice, item), "change")]
    said += ["; it takes ", explained(seconds(item.outcome.runtime), "optimum"), " ("]
    said += [explained(against(item.outcome.runtime, advice.base.runtime), "against"), ")"]
    if item.outcome.energy is not None and advice.base.energy is not None:
        said += [" and consumes ", explained(format_quantity(item.outcome.energy, "J"), "optimum"), " ("]
        said += [explained(against(item.outcome.energy, advice.base.energy), "against"), ")"]
    return (*said, ".")


def _worthwhile(item: Scalability) -> Words:
    point = item.points[item.nodes.index(item.worthwhile)]
    return (
        "It is worth running on up to ",
        Link(counted(item.worthwhile, "node"), "nodes"),
        ": then it takes ",
        Link(seconds(point.time), "nodes"),
        ", and the nodes work at an efficiency of ",
        explained(share(point.efficiency), "efficiency"),
        "." if item.turned_down else ". More were not looked at (--nodes).",
    )
