"""A design space: ranges, sensitivities alone and in pairs, the best configurations; sections of the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.configuration import COMPONENTS, ComponentRange, Configuration, NearOptimal, Objective
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.ranges import may_be_changed
from aspenpy.advice.significant import SIGNIFICANT
from aspenpy.cost.trait_names import PATTERN_NAMES, WITH_ARGUMENTS
from aspenpy.explore.sensitivity import Effect, Effects
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.total import blocks_in
from aspenpy.report.advice.document import cap_note, link_joules, link_text, picture_of, problem_data, problem_note
from aspenpy.report.prediction_data import subject_as_data
from aspenpy.tables.document import Block, Link, Section, Sentence, Words, make_sheet
from aspenpy.tables.drawing import MAP, drop_middle, set_title, use_shared_style
from aspenpy.tables.numbers import format_count, format_share, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Part, Report, Table, make_columns, make_table

MOST_PAIRS = 12  # in a table for people; JSON and CSV have all


def report_design_space(space: DesignSpace) -> Report:
    """The report of a design space, runtime first."""
    data = {
        **subject_as_data(space.prediction),
        "problem": problem_data(space.stated, space.problem),
        "base": {
            "capped_runtime": space.base.runtime,
            **{name: getattr(space.base, name) for name in ("energy", "power", "edp", "ed2p")},
        },
        "configurations": space.configurations,
        "levels": space.levels,
        "absent": list(space.machine.absent),
        "left_out": [{name: getattr(item, name) for name in item._fields} for item in space.left_out],
    }
    diagnostics = space.prediction.diagnostics
    if space.powerless is not None:
        diagnostics = (*diagnostics, space.powerless.replace(severity="warning"))
    return Report("design_space/1", heading(space), data, parts(space), diagnostics)


register_report(DesignSpace, report_design_space)


def heading(space: DesignSpace) -> str:
    leaders = [f"{effects.metric} moves most with {_describe_leader(effects)}" for effects in _all_effects(space)]
    return f"{space.prediction.where}: {', '.join(leaders)} ({format_count(space.configurations)} configurations)"


def _all_effects(space: DesignSpace) -> list[Effects]:
    return [effects for effects in (space.runtime_effects, space.energy_effects) if effects is not None]


def _describe_leader(effects: Effects) -> str:
    first = effects.singles[0]
    return "nothing" if not first.sensitivity else first.parameters[0]


def parts(space: DesignSpace) -> tuple[Part, ...]:
    page: list[Part] = [*map(Paragraph, note_assumed(space)), _ranges_table(space.ranges), _singles_table(space)]
    page += [*map(_pairs_table, _all_effects(space)), near_optimal(space), *_data_tables(space)]
    notes = [
        "Sensitivity: from the least to the most, in parts of the value where nothing is varied (Umar 2018, section "
        "4.4.2); beyond one: what a pair moves more than the stronger of the two alone."
    ]
    if space.problem.ranks is not None:
        notes.append(
            f"`{space.problem.ranks}`: one in each place that the machine has for a rank. "
            + problem_note([space.stated], space.problem)
        )
    skipped = [effects.skipped for effects in _all_effects(space) if effects.skipped is not None]
    if skipped:
        of = f"{format_count(skipped[0].count)} of {format_count(skipped[0].total)} configurations have no value"
        notes.append(f"{of}: {skipped[0].reason}")
    if space.left_out:
        notes.append(f"Not significant, so not varied (all: --vary all): {_describe_left_out(space)}.")
    notes += [*cap_note(space), *_note_missing_patterns(space), *_note_extrapolated(space)]
    if not space.wanted or space.left_out:
        notes += _note_unvaried(space)
    if space.machine.absent:
        notes.append(f"Not stated by the machine, so not varied: {', '.join(space.machine.absent)}.")
    return (*page, *map(Paragraph, notes))


UNCORE = "uncore_clock"


def note_assumed(space: DesignSpace) -> list[str]:
    """A sentence that lists the assumed ranges."""
    listed = [
        f"{item.component} {_end_of_range(item, 'low')} to {_end_of_range(item, 'high')}"
        for item in space.ranges
        if item.source == "vendor" and not item.variable.case
    ]
    return [f"Assumed ranges, which --vary NAME=LOW..HIGH replaces: {', '.join(listed)}."] if listed else []


def _note_unvaried(space: DesignSpace) -> list[str]:
    """Notes on components that are not varied since they cannot be changed on a machine once it is bought."""
    varied = {item.component for item in space.ranges} | {item.component for item in space.left_out}
    fixed = [it.component for it in space.machine.parameters if not may_be_changed(it) and it.component not in varied]
    bought = [name for name in fixed if name != UNCORE]
    notes = [f"Part of what was bought, so varied only where named: {', '.join(bought)}."] if bought else []
    if UNCORE in fixed:
        notes.append(f"{UNCORE}: varied only where named, since the models know what it draws, not what it speeds up.")
    return notes


def _describe_left_out(space: DesignSpace) -> str:
    """Components left out, with their shares of runtime and energy."""
    shares = [
        (item.component, [format_share(value) for value in (item.runtime, item.energy) if value is not None])
        for item in space.left_out
    ]
    of = "runtime and energy" if space.powerless is None else "the runtime"
    listed = ", ".join(f"{name} {'/'.join(values)}" for name, values in shares)
    return f"{listed} of what all components together change of {of}"


OF_PATTERNS = ("l1_capacity", "l2_capacity", "l3_capacity", "prefetch", "memory_latency")
"""Components that matter only to accesses whose pattern is stated (docs/caches.md)."""


def _note_missing_patterns(space: DesignSpace) -> list[str]:
    """Why caches move nothing, where that is since the application does not say how it accesses memory."""
    moving = {
        name
        for effects in _all_effects(space)
        for item in effects.singles
        if item.sensitivity
        for name in item.parameters
    }
    without = [item.component for item in space.left_out if not item.runtime and not item.energy]
    tried = [*(item.component for item in space.ranges if item.component not in moving), *without]
    still = [name for name in OF_PATTERNS if name in tried]
    tree = space.prediction.tree
    traits = [
        trait
        for kernel in tree.kernels
        for block in blocks_in(kernel.body)
        for requirement in block.requirements
        for trait in requirement.traits
    ]
    if not still or any(
        trait.name in PATTERN_NAMES and (trait.arguments or trait.name not in WITH_ARGUMENTS) for trait in traits
    ):
        return []
    verb = "changes" if len(still) == 1 else "change"
    name = space.stated.application.name
    return [f"{', '.join(still)} {verb} nothing: `{name}` states no access patterns (docs/caches.md)."]


def _note_extrapolated(space: DesignSpace) -> list[str]:
    """Notes where the best configurations go beyond what the machine states, where no range is declared."""
    ranges = {item.component: item for item in space.ranges if item.source == "vendor"}
    beyond = {
        name: value_of(name, value)
        for optimum in space.near_optimal
        for name, value in optimum.configuration.values.items()
        if name in ranges and _is_better(name, value, ranges[name].variable.base)
    }
    if not beyond:
        return []
    listed = ", ".join(f"{name} {value}" for name, value in beyond.items())
    return [f"Extrapolated beyond what the machine states: {listed}; --vary gives another range."]


def _is_better(component: str, value: float, base: float) -> bool:
    """Whether a value is better than what the machine has: more, but less of a latency."""
    return value < base * (1 - 1e-9) if component.endswith("latency") else value > base * (1 + 1e-9)


def value_of(component: str, value: float) -> str:
    unit = COMPONENTS[component].unit
    return format_quantity(value, unit) if unit else f"{value:,.4g}"


def _ranges_table(ranges: Sequence[ComponentRange]) -> Part:
    def end(name: str) -> Column:
        return Column(name, align="right", get=lambda it: _end_of_range(it, name), media=TEXT)

    heads = (
        Column("component"),
        end("low"),
        end("high"),
        end("base"),
        *(Column(name, get=f"variable.{name}", media=DATA) for name in ("low", "high", "base", "unit")),
        Column("parts", get=lambda it: list(it.variable.labels) if it.variable.case else None, media=JSON),
        Column("sets"),
        *make_columns("factor source", media=DATA),
        Column("range from", wrapped=True, key="origin"),
    )
    return make_table(heads, ranges, "ranges", title="what is varied", media=(*TEXT, *JSON))


def _end_of_range(item: ComponentRange, name: str) -> str:
    """An end or the base of a range; of alternatives the base only."""
    value = getattr(item.variable, name)
    if item.variable.case:
        return item.variable.in_words(value) if name == "base" else ""
    return value_of(item.component, value)


def _singles_table(space: DesignSpace) -> Part:
    """Runtime and energy side by side, in the order of the runtime."""
    energies = (
        {} if space.energy_effects is None else {item.parameters[0]: item for item in space.energy_effects.singles}
    )

    def of_energy(name: str) -> Any:
        def value(effect: Any) -> Any:
            beside = energies.get(effect.parameters[0])
            return None if beside is None else getattr(beside, name)

        return value

    heads = (
        Column("component", get=lambda effect: effect.parameters[0]),
        *make_columns("least most", unit="s"),
        Column("sensitivity", _format_digits, "right"),
        Column("normalised", "share"),
        Column("least", unit="J", get=of_energy("least")),
        Column("most", unit="J", get=of_energy("most")),
        Column("of energy", _format_digits, "right", get=of_energy("sensitivity")),
        Column("normalised", "share", get=of_energy("normalised")),
    )
    return make_table(heads, space.runtime_effects.singles, title="each alone", media=TEXT, sparse=True)


def _pairs_table(effects: Effects) -> Part:
    heads = (
        Column("component", get=lambda effect: effect.parameters[0]),
        Column("and", get=lambda effect: effect.parameters[1]),
        *make_columns("least most", unit="s" if effects.metric == "runtime" else "J"),
        Column("sensitivity", _format_digits, "right"),
        Column("normalised", "share"),
        Column("beyond one", _format_digits, "right", key="beyond"),
    )
    return make_table(heads, effects.pairs[:MOST_PAIRS], title=f"pairs, by {effects.metric}", media=TEXT)


def _format_digits(value: float) -> str:
    return f"{value + 0:.3g}"


def near_optimal(space: DesignSpace, media: tuple[str, ...] = (*TEXT, *JSON)) -> Table:
    """The best configurations by each metric."""
    heads = (
        Column("least", key="objective"),
        Column("configuration", get=lambda it: list_values(it.configuration), wrapped=True, media=(*TEXT, *CSV)),
        Column("values", get=lambda it: dict(it.configuration.named), media=JSON),
        Column("runtime", unit="s", key="capped_runtime", get="outcome.runtime"),
        Column("energy", unit="J", get="outcome.energy"),
        Column("EDP", unit="J*s", key="edp", get="outcome.edp", media=DATA),
        Column("ED2P", unit="J*s^2", key="ed2p", get="outcome.ed2p", media=DATA),
        Column("of all", "count", key="grid"),
        Column("search", get=lambda it: "finds it" if it.gap <= 0 else f"{format_share(it.gap)} above", media=TEXT),
        Column("gap", media=JSON),
    )
    title = "the best of all combinations of what matters most"
    return make_table(heads, space.near_optimal, "near_optimal", title=title, media=media, sparse=True)


def list_values(configuration: Configuration, *, titled: bool = False) -> str:
    """`cores 18, clock 3.5 GHz`, or with titles `cores of a socket 18`; as the machine is where nothing is changed."""
    values = [
        f"{COMPONENTS[name].title if titled else name} {value if isinstance(value, str) else value_of(name, value)}"
        for name, value in configuration.named.items()
    ]
    return ", ".join(values) or "as it is"


def _data_tables(space: DesignSpace) -> list[Part]:
    """All effects, for programs."""
    rows = [
        (effects.metric, effect) for effects in _all_effects(space) for effect in (*effects.singles, *effects.pairs)
    ]

    def make_column(name: str) -> Column:
        return Column(name, get=lambda row: getattr(row[1], name))

    heads = (
        Column("metric", get=lambda row: row[0]),
        Column("components", get=lambda row: list(row[1].parameters), media=JSON),
        Column("component", get=lambda row: row[1].parameters[0], media=CSV),
        Column("and", get=lambda row: dict(enumerate(row[1].parameters)).get(1), media=CSV),
        *map(make_column, ("least", "most", "sensitivity", "normalised", "beyond")),
    )
    return [make_table(heads, rows, "effects", media=DATA)]


# -- as a picture ----------------------------------------------------------------------------------


def heat_map(effects: Effects) -> tuple[tuple[str, ...], list[list[float]]]:
    """Components, the strongest first, and the normalised sensitivity of each pair; of one alone on the diagonal."""
    names = tuple(effect.parameters[0] for effect in effects.singles)
    known: dict[frozenset[str], Effect] = {
        frozenset(effect.parameters): effect for effect in (*effects.singles, *effects.pairs)
    }
    return names, [[known[frozenset((row, column))].normalised for column in names] for row in names]


@use_shared_style
def draw(space: DesignSpace) -> Any:
    """A matplotlib figure: a heat map of the pairs for each metric."""
    from matplotlib.figure import Figure

    rankings = _all_effects(space)
    size = 2.4 + 0.32 * len(space.ranges)
    figure = Figure(figsize=(len(rankings) * size, size), layout="constrained")
    panels = figure.subplots(1, len(rankings), squeeze=False)[0]
    for axes, effects in zip(panels, rankings, strict=True):
        names, values = heat_map(effects)
        axes.imshow(values, cmap=MAP, vmin=0, vmax=1)
        axes.set_xticks(range(len(names)), map(drop_middle, names), rotation=90)
        axes.set_yticks(range(len(names)), map(drop_middle, names))
        axes.grid(visible=False)
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                colour = "black" if value > 0.5 else "white"
                number = f"{100 * value:.0f}"
                axes.text(column, row, number, ha="center", va="center", color=colour, in_layout=False)
        set_title(axes, f"{effects.metric}: % of largest sensitivity")
    return figure


# -- as a section of the document ------------------------------------------------------------------


MOST_SHOWN = 12  # components
OBJECTIVES: dict[Objective, str] = {
    "runtime": "the shortest runtime",
    "energy": "the least energy",
    "edp": "the least energy-delay product",
    "ed2p": "the least energy-delay-squared product",
}


def matters_blocks(advice: Advice) -> list[Block]:
    """The effect of each component by itself."""
    energies = {} if advice.energy_effects is None else {it.parameters[0]: it for it in advice.energy_effects.singles}
    bases = {item.component: item for item in advice.ranges}
    rows: list[list[Any]] = []
    for effect in advice.runtime_effects.singles[:MOST_SHOWN]:
        name = effect.parameters[0]
        energy, item = energies.get(name), bases[name]
        choices = item.variable.labels if item.variable.case else ()
        rows.append(
            [
                COMPONENTS[name].title,
                Link(
                    ", ".join(choices) or f"{_end_of_range(item, 'low')} to {_end_of_range(item, 'high')}", "components"
                ),
                Link(_end_of_range(item, "base"), "components"),
                link_text(f"{seconds(effect.least)} to {seconds(effect.most)}", "sensitivity"),
                link_text(f"{effect.sensitivity:.3g}", "sensitivity"),
                "" if energy is None else link_text(_format_change(energy.least, energy.most), "sensitivity"),
                "" if energy is None else link_text(f"{energy.sensitivity:.3g}", "sensitivity"),
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
        *_components_left_out(advice),
    ]
    caption = (
        "Two components at once, in percent of the change by the pair that changes most. On the diagonal one component "
        "alone."
    )
    return [*blocks, *picture_of(draw, advice.space, caption)]


def _format_change(low: float, high: float) -> str:
    return f"{format_quantity(low, 'J')} to {format_quantity(high, 'J')}"


def _components_left_out(advice: Advice) -> list[Block]:
    """Which components do not vary, since they matter little, and how little."""
    said: list[Any] = ["Not varied, since they have less than ", link_text(format_share(SIGNIFICANT), "significance")]
    said.append(" of what all components together change, in runtime and in energy: ")
    for index, item in enumerate(advice.space.left_out):
        shares = [format_share(value) for value in (item.runtime, item.energy) if value is not None]
        said += ["; " if index else "", f"{COMPONENTS[item.component].title} ("]
        said += [link_text(" and ".join(shares), "significance"), ")"]
    return [Sentence((*said, "."))] if advice.space.left_out else []


def change_blocks(advice: Advice) -> list[Block]:
    """The best configuration for each objective."""
    rows: list[list[Any]] = [
        [
            OBJECTIVES[item.objective],
            Link(changed_components(advice, item), "components"),
            link_text(seconds(item.outcome.runtime), "optimum"),
            link_text(compare_values(item.outcome.runtime, advice.base.runtime), "against"),
            link_joules(item.outcome.energy, "optimum"),
            ""
            if item.outcome.energy is None or advice.base.energy is None
            else link_text(compare_values(item.outcome.energy, advice.base.energy), "against"),
        ]
        for item in advice.near_optimal
    ]
    tried: Words = (
        "All ",
        link_text(format_count(advice.near_optimal[0].grid), "optimum"),
        " combinations of the components that matter most were tried.",
    )
    heads = ("for", "change", "runtime", "than now", "energy", "than now")
    return [Section("What to change", "change"), Sentence(tried), make_sheet(heads, rows, (2, 3, 4, 5))]


def changed_components(advice: Advice, item: NearOptimal) -> str:
    """The components that are not as they are."""
    bases = {varied.component: varied.variable for varied in advice.ranges}
    values = {
        name: value
        for name, value in item.configuration.values.items()
        if abs(value - bases[name].base) > 1e-9 * abs(bases[name].base)
    }
    parts = {
        name: part for name, part in item.configuration.parts.items() if part != bases[name].in_words(bases[name].base)
    }
    return list_values(Configuration(values, parts), titled=True) if values or parts else "leave it as it is"


def compare_values(value: float, base: float) -> str:
    if abs(value - base) <= 5e-4 * base:
        return "the same"
    return f"{format_share(abs(value - base) / base)} {'less' if value < base else 'more'}"
