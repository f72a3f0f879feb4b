"""All advice as a document for somebody who does not know the models: what binds, what matters, what to change."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.classification import Classification
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import NearOptimal, Objective
from aspenpy.advice.scalability import Scalability
from aspenpy.advice.significant import SIGNIFICANT
from aspenpy.language.dimensions import format_quantity
from aspenpy.report import decision, design_space, scaling, throttling
from aspenpy.report.advice_formulas import (
    MOST_KERNELS,
    appendix,
    describe_configuration,
    ends,
    explained,
    link_joules,
    list_assumptions,
    sure_blocks,
)
from aspenpy.report.advice_limits import decided_blocks, list_restrictions, significance_blocks
from aspenpy.tables.document import (
    Block,
    Document,
    Link,
    Listing,
    Picture,
    Points,
    Section,
    Sentence,
    Words,
    anchor_of,
    make_sheet,
)
from aspenpy.tables.drawing import style
from aspenpy.tables.numbers import count, counted, ratio, seconds, share

# -- what all sections share -----------------------------------------------------------------------


OBJECTIVES: dict[Objective, str] = {
    "runtime": "the shortest runtime",
    "energy": "the least energy",
    "edp": "the least energy-delay product",
    "ed2p": "the least energy-delay-squared product",
}
MOST_KERNELS_SHOWN, MOST_COMPONENTS = 12, 12


def drawn(draw: Callable[[Any], Any], result: Any) -> Callable[[], str] | None:
    """What draws a picture as SVG; None where there is nothing to draw, or nothing to draw it with."""
    from importlib.util import find_spec

    if result is None or find_spec("matplotlib") is None:
        return None
    return lambda: _svg(draw, result)


def _svg(draw: Callable[[Any], Any], result: Any) -> str:
    text = StringIO()
    with style():
        draw(result).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


# -- what it is bound by ---------------------------------------------------------------------------


def bound_blocks(advice: Advice) -> list[Block]:
    whole = advice.classifications[0]
    rows = [_kernel_row(item, place) for place, item in enumerate(advice.classifications[: MOST_KERNELS_SHOWN + 1])]
    left = len(advice.classifications) - len(rows)
    shares: list[list[Any]] = [
        [
            item.bound,
            item.component or "",
            explained(share(item.time), "share"),
            "" if item.energy is None else explained(share(item.energy), "share"),
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


def _kernel_row(item: Classification, place: int) -> list[Any]:
    name = item.kernel or "the whole run"
    anchor = anchor_of("kernel", name) if item.kernel and place <= MOST_KERNELS else anchor_of("formula", "runtime")
    distance = item.time_distance
    return [
        name,
        Link(seconds(item.time), anchor),
        item.bound,
        link_joules(item.energy, "energy"),
        item.energy_bound or "",
        "" if distance is None else explained(f"x {ratio(distance)}", "balance"),
    ]


# -- what matters ----------------------------------------------------------------------------------


def matters_blocks(advice: Advice) -> list[Block]:
    energies = {} if advice.energy_effects is None else {it.parameters[0]: it for it in advice.energy_effects.singles}
    bases = {item.component: item for item in advice.ranges}
    rows: list[list[Any]] = []
    for effect in advice.runtime_effects.singles[:MOST_COMPONENTS]:
        name = effect.parameters[0]
        energy, item = energies.get(name), bases[name]
        low, high, base = (design_space.value_of(name, getattr(item.variable, end)) for end in ("low", "high", "base"))
        rows.append(
            [
                COMPONENTS[name].title,
                Link(f"{low} to {high}", "components"),
                Link(base, "components"),
                explained(f"{seconds(effect.least)} to {seconds(effect.most)}", "sensitivity"),
                explained(f"{effect.sensitivity:.3g}", "sensitivity"),
                "" if energy is None else explained(_from_to(energy.least, energy.most), "sensitivity"),
                "" if energy is None else explained(f"{energy.sensitivity:.3g}", "sensitivity"),
            ]
        )
    heads = ("component", "from, to", "as it is", "runtime", "sensitivity", "energy", "of energy")
    note = (
        "Each component by itself goes from one end of its range to the other; all else stays. Sensitivity 1 is a "
        "change by as much as the run takes now."
    )
    blocks: list[Block] = [
        Section("What matters", "matters"),
        Sentence((note,)),
        make_sheet(heads, rows, (1, 2, 3, 4, 5, 6)),
        *_left_out(advice),
    ]
    picture = drawn(design_space.draw, advice.space)
    caption = (
        "Two components at once, in percent of the change by the pair that changes most. On the diagonal one component "
        "alone."
    )
    return blocks if picture is None else [*blocks, Picture(picture, caption)]


def _from_to(low: float, high: float) -> str:
    return f"{format_quantity(low, 'J')} to {format_quantity(high, 'J')}"


def _left_out(advice: Advice) -> list[Block]:
    """Which components do not vary, since they matter little, and how little."""
    said: list[Any] = ["Not varied, since they have less than ", explained(share(SIGNIFICANT), "significance")]
    said.append(" of what all components together change, in runtime and in energy: ")
    for place, item in enumerate(advice.space.left_out):
        shares = [share(value) for value in (item.runtime, item.energy) if value is not None]
        said += ["; " if place else "", f"{COMPONENTS[item.component].title} ("]
        said += [explained(" and ".join(shares), "significance"), ")"]
    return [Sentence((*said, "."))] if advice.space.left_out else []


# -- what to change --------------------------------------------------------------------------------


def change_blocks(advice: Advice) -> list[Block]:
    rows: list[list[Any]] = [
        [
            OBJECTIVES[item.objective],
            Link(changed(advice, item), "components"),
            explained(seconds(item.outcome.runtime), "optimum"),
            explained(compare_values(item.outcome.runtime, advice.base.runtime), "against"),
            link_joules(item.outcome.energy, "optimum"),
            ""
            if item.outcome.energy is None or advice.base.energy is None
            else explained(compare_values(item.outcome.energy, advice.base.energy), "against"),
        ]
        for item in advice.near_optimal
    ]
    tried: Words = (
        "All ",
        explained(count(advice.near_optimal[0].grid), "optimum"),
        " combinations of the components that matter most were tried.",
    )
    heads = ("for", "change", "runtime", "than now", "energy", "than now")
    return [Section("What to change", "change"), Sentence(tried), make_sheet(heads, rows, (2, 3, 4, 5))]


def changed(advice: Advice, item: NearOptimal) -> str:
    """The components that are not as they are."""
    bases = {range_.component: range_.variable.base for range_ in advice.ranges}
    kept = {
        name: value
        for name, value in item.configuration.values.items()
        if abs(value - bases[name]) > 1e-9 * abs(bases[name])
    }
    return describe_configuration(item.configuration.replace(values=kept)) if kept else "leave it as it is"


def compare_values(value: float, base: float) -> str:
    if abs(value - base) <= 5e-4 * base:
        return "the same"
    return f"{share(abs(value - base) / base)} {'less' if value < base else 'more'}"


# -- how many nodes --------------------------------------------------------------------------------


def nodes_blocks(advice: Advice) -> list[Block]:
    if advice.scaled is None:
        return []
    rows: list[list[Any]] = [
        [
            item.settings or "as given",
            item.mode,
            Link(describe_configuration(item.configuration), "components"),
            explained(seconds(item.points[0].time), "runtime"),
            explained(count(item.worthwhile), "efficiency"),
            explained(seconds(item.points[item.nodes.index(item.worthwhile)].time), "efficiency"),
            "" if item.knee is None else explained(count(item.knee), "knee"),
            explained(count(item.fastest), "knee") if item.mode == "strong" else "",
        ]
        for item in advice.scalings
    ]
    heads = ("input", "scaling", "configuration", "1 node", "worth it", "then", "knee", "fastest")
    note: Words = (
        "Strong scaling: the same problem on more nodes. Weak: a problem that grows with them. Worth it are nodes at "
        "an efficiency of at least ",
        explained(share(advice.scaled.threshold), "efficiency"),
        ", of at most ",
        explained(count(advice.scaled.most), "efficiency"),
        "; then the run takes so long. At the knee the curve of time bends; with the fastest number of nodes the run "
        "is shortest.",
    )
    table = make_sheet(heads, rows, (3, 4, 5, 6, 7))
    blocks: list[Block] = [Section("How many nodes", "nodes"), Sentence(note), table]
    picture = drawn(scaling.draw_scalability, advice.scaled)
    return blocks if picture is None else [*blocks, Picture(picture, "Time over nodes; a dot is at the knee.")]


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
        *list_restrictions(advice, drawn(throttling.draw, advice.throttled)),
        *sure_blocks(advice.uncertain),
        *list_assumptions(advice),
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
    said += [explained(compare_values(item.outcome.runtime, advice.base.runtime), "against"), ")"]
    if item.outcome.energy is not None and advice.base.energy is not None:
        said += [" and consumes ", explained(format_quantity(item.outcome.energy, "J"), "optimum"), " ("]
        said += [explained(compare_values(item.outcome.energy, advice.base.energy), "against"), ")"]
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
