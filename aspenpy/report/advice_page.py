"""All advice as a document for somebody who does not know the models: what binds, what matters, what to change."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.classification import Classification
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import NearOptimal, Objective
from aspenpy.advice.sampled import Sampled
from aspenpy.advice.scalability import Scalability
from aspenpy.advice.uncertain import Uncertain
from aspenpy.language.dimensions import readable
from aspenpy.report import decision, design_space, scalability, throttled
from aspenpy.report.advice_formulas import MOST_KERNELS, appendix
from aspenpy.report.advice_limits import decided_blocks, throttled_blocks
from aspenpy.report.design_space import configured
from aspenpy.tables.document import (
    Block,
    Code,
    Document,
    Link,
    Listing,
    Picture,
    Points,
    Section,
    Sentence,
    Words,
    anchor_of,
    sheet,
)
from aspenpy.tables.numbers import count, counted, seconds, share

OBJECTIVES: dict[Objective, str] = {
    "runtime": "the shortest runtime",
    "energy": "the least energy",
    "edp": "the least energy-delay product",
    "ed2p": "the least energy-delay-squared product",
}
BOUND_BY = {
    "arithmetic": "waits for the cores to calculate",
    "cache": "waits for data from caches",
    "memory": "waits for data from memory",
    "network": "waits for messages between nodes",
    "latency": "waits for things that take time by themselves: launches, barriers, the start of messages",
    "I/O": "waits for files",
}
TELLING = 1e-3  # a sensitivity below which a component is not named among the first
MOST_KERNELS_SHOWN, MOST_COMPONENTS = 12, 12


def document(advice: Advice, command: str, uncertain: Uncertain) -> Document:
    """The report; `command` is the line that makes it again."""
    case = advice.case
    blocks: list[Block] = [
        *_in_short(advice, uncertain),
        *_bound(advice),
        *_matters(advice),
        *_change(advice),
        *_nodes(advice),
        *decided_blocks(advice, drawn(decision.draw, advice.decided)),
        *throttled_blocks(advice, drawn(throttled.draw, advice.throttled)),
        *_sure(uncertain),
        *_assumed(advice),
        *appendix(advice),
        Section("The same again", "command"),
        Listing(command),
    ]
    return Document(f"{case.application.name} on {case.required_machine.name}: what to run it on", tuple(blocks))


def drawn(draw: Callable[[Any], Any], result: Any) -> str | None:
    """A picture as SVG; None where there is nothing to draw, or nothing to draw it with."""
    from importlib.util import find_spec

    if result is None or find_spec("matplotlib") is None:
        return None
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "aspenpy", "font.family": "sans-serif"}):
        draw(result).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


# -- in short --------------------------------------------------------------------------------------


def _in_short(advice: Advice, uncertain: Uncertain) -> list[Block]:
    items = [_takes(advice, uncertain), _binds(advice), _depends(advice)]
    best = advice.near_optimal[0]
    items.append((*_best(advice, best), "."))
    items += [(*_best(advice, item), ".") for item in advice.near_optimal if item.objective == "energy"]
    strong = [item for item in advice.scalings if item.mode == "strong"]
    if strong:
        items.append(_worthwhile(strong[0]))
    return [Section("In short", "short"), Points(tuple(items))]


def _time(value: float) -> Link:
    return Link(seconds(value), anchor_of("formula", "runtime"))


def _joules(value: float) -> Link:
    return Link(readable(value, "J"), anchor_of("formula", "energy"))


def _takes(advice: Advice, uncertain: Uncertain) -> Words:
    base = advice.base
    said: list[Any] = ["One run takes ", _time(base.runtime)]
    if base.energy is not None and base.power is not None:
        said += [" and consumes ", _joules(base.energy), f", {readable(base.power, 'W')} on average"]
    low, high = uncertain.runtime_ends
    said += ["; with all that is uncertain, it takes between ", Link(f"{seconds(low)} and {seconds(high)}", "sure")]
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
    said: list[Any] = [
        f"For {OBJECTIVES[item.objective]}: {_changed(advice, item)}; it takes ",
        _time(item.outcome.runtime),
    ]
    said.append(f" ({_against(item.outcome.runtime, advice.base.runtime)})")
    if item.outcome.energy is not None and advice.base.energy is not None:
        said += [" and ", _joules(item.outcome.energy), f" ({_against(item.outcome.energy, advice.base.energy)})"]
    return tuple(said)


def _changed(advice: Advice, item: NearOptimal) -> str:
    """The components that are not as they are."""
    bases = {range_.component: range_.variable.base for range_ in advice.ranges}
    kept = {
        name: value
        for name, value in item.configuration.values.items()
        if abs(value - bases[name]) > 1e-9 * abs(bases[name])
    }
    return configured(item.configuration.replace(values=kept)) if kept else "leave it as it is"


def _against(value: float, base: float) -> str:
    if abs(value - base) <= 5e-4 * base:
        return "the same"
    return f"{share(abs(value - base) / base)} {'less' if value < base else 'more'}"


def _worthwhile(item: Scalability) -> Words:
    point = item.points[item.nodes.index(item.worthwhile)]
    return (
        f"Up to {counted(item.worthwhile, 'node')} {'are' if item.worthwhile > 1 else 'is'} worth it: ",
        Link(seconds(point.time), "nodes"),
        " at an efficiency of ",
        Link(share(point.efficiency), anchor_of("formula", "efficiency")),
        ".",
    )


# -- the sections ----------------------------------------------------------------------------------


def _bound(advice: Advice) -> list[Block]:
    whole = advice.classifications[0]
    numbers = (1, 3, 5)
    heads = ("kernel", "time", "bound by", "energy", "energy goes with", "from balance")
    rows = [_kernel_row(item, place) for place, item in enumerate(advice.classifications[: MOST_KERNELS_SHOWN + 1])]
    shares: list[list[Any]] = [
        [
            item.bound,
            item.component or "",
            Link(share(item.time), "kernels"),
            "" if item.energy is None else share(item.energy),
        ]
        for item in whole.shares
        if item.time >= 5e-4 or (item.energy or 0) >= 5e-4
    ]
    note = (
        "A kernel is a part of the program. It is bound by what it waits for; what else it does meanwhile costs no "
        "time. From balance: how many times the flops that it does for each byte of memory are those at which both "
        "take equally long; below 1 memory takes longer."
    )
    return [
        Section("What it is bound by", "bound"),
        Sentence((note,)),
        sheet(heads, rows, numbers),
        Sentence(("Of the whole run:",)),
        sheet(("bound by", "at", "time", "energy"), shares, (2, 3)),
    ]


def _kernel_row(item: Classification, place: int) -> list[Any]:
    name = item.kernel or "all"
    anchor = anchor_of("kernel", name) if item.kernel and place <= MOST_KERNELS else anchor_of("formula", "runtime")
    distance = item.time_distance
    return [
        name,
        Link(seconds(item.time), anchor),
        item.bound,
        "" if item.energy is None else Link(readable(item.energy, "J"), anchor_of("formula", "energy")),
        item.energy_bound or "",
        "" if distance is None else Link(f"x {distance:.3g}", anchor_of("formula", "balance")),
    ]


def _matters(advice: Advice) -> list[Block]:
    energies = {} if advice.energy_effects is None else {it.parameters[0]: it for it in advice.energy_effects.singles}
    bases = {item.component: item for item in advice.ranges}
    rows: list[list[Any]] = []
    for effect in advice.runtime_effects.singles[:MOST_COMPONENTS]:
        name = effect.parameters[0]
        energy, item = energies.get(name), bases[name]
        ends = [design_space.value_of(name, getattr(item.variable, end)) for end in ("low", "high", "base")]
        row: list[Any] = [COMPONENTS[name].title, Link(f"{ends[0]} to {ends[1]}", "components"), ends[2]]
        row.append(Link(f"{seconds(effect.least)} to {seconds(effect.most)}", anchor_of("formula", "sensitivity")))
        row.append(Link(f"{effect.sensitivity:.3g}", anchor_of("formula", "sensitivity")))
        row.append("" if energy is None else f"{readable(energy.least, 'J')} to {readable(energy.most, 'J')}")
        row.append("" if energy is None else Link(f"{energy.sensitivity:.3g}", anchor_of("formula", "sensitivity")))
        rows.append(row)
    heads = ("component", "from, to", "as it is", "runtime", "sensitivity", "energy", "of energy")
    blocks: list[Block] = [
        Section("What matters", "matters"),
        Sentence(("Each component by itself goes from one end of its range to the other; all else stays.",)),
        sheet(heads, rows, (2, 3, 4, 5, 6)),
    ]
    svg = drawn(design_space.draw, advice.space)
    if svg is not None:
        blocks.append(
            Picture(svg, "Two components at once: the largest change of all pairs is 100. On the diagonal one alone.")
        )
    return blocks


def _change(advice: Advice) -> list[Block]:
    rows: list[list[Any]] = [
        [
            OBJECTIVES[item.objective],
            _changed(advice, item),
            Link(seconds(item.outcome.runtime), anchor_of("formula", "optimum")),
            _against(item.outcome.runtime, advice.base.runtime),
            ""
            if item.outcome.energy is None
            else Link(readable(item.outcome.energy, "J"), anchor_of("formula", "optimum")),
            "" if item.outcome.energy is None else _against(item.outcome.energy, advice.base.energy or 1.0),
        ]
        for item in advice.near_optimal
    ]
    tried = f"All {count(advice.near_optimal[0].grid)} combinations of the components that matter most were tried."
    return [
        Section("What to change", "change"),
        Sentence((tried,)),
        sheet(("for", "change", "runtime", "", "energy", ""), rows, (2, 4)),
    ]


def _nodes(advice: Advice) -> list[Block]:
    if advice.scaled is None:
        return []
    rows: list[list[Any]] = [
        [
            item.settings or "as given",
            item.mode,
            configured(item.configuration),
            seconds(item.points[0].time),
            count(item.worthwhile),
            Link(seconds(item.points[item.nodes.index(item.worthwhile)].time), anchor_of("formula", "efficiency")),
            "" if item.knee is None else count(item.knee),
            count(item.fastest) if item.mode == "strong" else "",
        ]
        for item in advice.scalings
    ]
    heads = ("input", "scaling", "configuration", "1 node", "worth it", "then", "knee", "fastest")
    note = (
        f"Strong scaling: the same problem on more nodes. Weak: a problem that grows with them. Worth it are nodes at "
        f"an efficiency of at least {share(advice.scaled.threshold)}; at the knee the curve of time bends; with the "
        "fastest number of nodes the run is shortest."
    )
    table = sheet(heads, rows, (3, 4, 5, 6, 7))
    blocks: list[Block] = [Section("How many nodes", "nodes"), Sentence((note,)), table]
    svg = drawn(scalability.draw, advice.scaled)
    return blocks if svg is None else [*blocks, Picture(svg, "Time over nodes; a dot is at the knee.")]


def _sure(uncertain: Uncertain) -> list[Block]:
    names = ", ".join(f"{COMPONENTS[name].title} {share(part)}" for name, part in uncertain.deviations.items())
    low, high = uncertain.runtime_ends
    consumed: Words = (".",)
    if uncertain.energy is not None:
        consumed = (" and consume ", Link(_ends(uncertain.energy), anchor_of("formula", "interval")), ".")
    items: list[Words] = [
        (
            f"If the machine's own values are off ({names or 'none'}: standard deviations, assumed), 95 % of "
            f"{count(uncertain.runtime.count)} samples take ",
            Link(
                f"{seconds(uncertain.runtime.low)} to {seconds(uncertain.runtime.high)}",
                anchor_of("formula", "interval"),
            ),
            *consumed,
        ),
        (
            f"The model itself errs: {share(uncertain.error)}, {uncertain.stated_by}. With both, the run takes ",
            Link(f"{seconds(low)} to {seconds(high)}", anchor_of("formula", "interval")),
            ".",
        ),
        ("Which of two configurations is better is surer than either number: both err in the same direction.",),
    ]
    return [Section("How sure this is", "sure"), Points(tuple(items))]


def _ends(energy: Sampled) -> str:
    return f"{readable(energy.low, 'J')} to {readable(energy.high, 'J')}"


def _assumed(advice: Advice) -> list[Block]:
    items: list[Words] = [(f"{COMPONENTS[item.component].title}: range from {item.origin}",) for item in advice.ranges]
    if advice.space.problem.ranks is not None:
        items.append(("One rank runs in each place that the machine has for one, and the whole problem stays.",))
    if advice.space.machine.absent:
        items.append((f"The machine does not state {', '.join(advice.space.machine.absent)}: not varied.",))
    given = [(Code(f"{name} = {value}"), " was set.") for name, value in advice.case.set.items()]
    warnings = [(f"{item.severity}: {item.message}",) for item in advice.space.prediction.diagnostics]
    return [Section("What was assumed", "assumed"), Points((*items, *given, *warnings))]
