"""A Trace as a page and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import Amount, amount, count, plain, seconds, setting, share, unit_of_resource
from aspenpy.present.page import Page, Paragraph, Part, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.trace import Demand, Step, Trace


def page(trace: Trace) -> Page:
    """A row a step, set in as deep as it stands; with a machine, when it begins and how long it takes."""
    application = trace.application.name
    where = f"{application} on {trace.machine.name}" if trace.machine else application
    timed = trace.machine is not None
    times = (Column("begins", seconds, "unit"), Column("takes", seconds, "unit")) if timed else ()
    rows = tuple(
        (
            *((step.start, step.duration) if timed else ()),
            "  " * step.depth + _WORDS[step.kind](step),
            ", ".join(map(_demanded, step.demands)) or None,
        )
        for step in trace.steps
    )
    parts: list[Part] = [
        Title(f"{where}: what {trace.entry.name} does"),
        Table((*times, Column("step"), Column("asks for", wrapped=True)), rows),
    ]
    left = _left_out(trace)
    return (*parts, Paragraph(left)) if left else tuple(parts)


def _left_out(trace: Trace) -> str | None:
    """What the page does not show."""
    more = "--most shows more steps, --passes more passes of each loop"
    if not trace.complete:
        shown = f"The first {len(trace.steps):,} steps, with {trace.shown_blocks:,} of {count(trace.blocks)} executions"
        return f"{shown} of blocks; {more}."
    if any(step.kind == "passes" for step in trace.steps):
        return f"{trace.shown_blocks:,} of {count(trace.blocks)} executions of blocks; {more}."
    return None


# -- words -----------------------------------------------------------------------------------------


def _label(step: Step) -> str:
    return f' "{step.label}"' if step.label else ""


def _call(step: Step) -> str:
    listed = ", ".join(f"{name} = {setting(plain(value))}" for name, value in step.values.items())
    return f"{step.name}({listed})"


def _loop(step: Step) -> str:
    times = step.values["count"]
    return f"{step.name}{_label(step)}, {count(times)} {'pass' if times == 1 else 'passes'}"


def _pass(step: Step) -> str:
    ((name, number),) = step.values.items()
    return f"pass {number + 1}" if name == "pass" else f"pass {number + 1}, {name} = {number}"


def _passes(step: Step) -> str:
    left = step.values["count"]
    return "... one more pass" if left == 1 else f"... {count(left)} more passes"


def _block(step: Step) -> str:
    instances = step.values["instances"]
    said = "" if instances == 1 else f" in {count(instances)} instances"
    return f"block{_label(step)}{said}"


_WORDS: dict[str, Callable[[Step], str]] = {
    "call": _call,
    "loop": _loop,
    "pass": _pass,
    "passes": _passes,
    "block": _block,
    "case": lambda step: f"with probability {share(float(step.values['probability']))}",
    "par": lambda step: f"par{_label(step)}, {step.name}",
}


def _demanded(demand: Demand) -> str:
    text = f"{demand.resource} {amount(Amount(demand.amount, unit_of_resource(demand.resource)))}"
    if demand.data is not None:
        text += f" {demand.direction} {demand.data}"
    return text


# -- as data ---------------------------------------------------------------------------------------


def as_json(trace: Trace) -> dict[str, Any]:
    """One object: the steps, how deep each stands inside of others, and how many executions of blocks the whole run
    has; amounts in base units, times in seconds, null without a machine."""
    return {
        "application": trace.application.name,
        "machine": trace.machine.name if trace.machine else None,
        "kernel": trace.entry.name,
        "complete": trace.complete,
        "blocks": {"shown": trace.shown_blocks, "all": plain(trace.blocks)},
        "steps": [_object(step) for step in trace.steps],
    }


def _object(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "depth": step.depth,
        "name": step.name,
        "label": step.label,
        "values": {name: plain(value) for name, value in step.values.items()},
        "demands": [
            {
                "resource": demand.resource,
                "amount": plain(demand.amount),
                "unit": unit_of_resource(demand.resource),
                "direction": demand.direction,
                "data": demand.data,
                "traits": list(demand.traits),
            }
            for demand in step.demands
        ],
        "start": step.start,
        "duration": step.duration,
    }
