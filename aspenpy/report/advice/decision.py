"""Decisions: the configuration of each input, and of a cluster for several applications."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from aspenpy.advice.advise import Advice
from aspenpy.advice.configuration import UNITS, BindingLimit, Budget, Decision, PricedConfiguration
from aspenpy.advice.decide import Decided, amount_in
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice.design_space import list_values
from aspenpy.report.advice.document import cap_note, link_joules, link_text, picture_of, problem_data, problem_note
from aspenpy.tables.document import Block, Link, Section, Sentence, make_sheet
from aspenpy.tables.drawing import BLACK, GREY, INK, STYLES, label_axis, name_ends, set_title, use_shared_style
from aspenpy.tables.numbers import format_count, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Part, Report, make_columns, make_table

UNIT_OF = {"runtime": "s", "energy": "J", "edp": "J*s", "ed2p": "J*s^2"}

WIDE = 8.0

MOST_OF_FRONT = 8  # choices of each input in a table for people; JSON and CSV have all


def report_decision(decided: Decided) -> Report:
    """The decisions, then the fronts."""
    case = decided.case
    data = {
        "application": case.application.name,
        "machine": case.required_machine.name,
        "problem": problem_data(case, decided.choices[0].space.problem),
        "objective": decided.objective,
        "budget": dict(decided.budget.limits),
    }
    where = f"{case.application.name} on {case.required_machine.name}"
    headline = f"{where}: the least {decided.objective}{describe_budget(decided.budget)}"
    return Report("decision/1", headline, data, parts(decided), decided.diagnostics)


register_report(Decided, report_decision)


def describe_limits(budget: Budget) -> str:
    """The limits in words, such as `energy 5 MJ, time 1 h`."""
    return ", ".join(f"{name} {amount_in(name, value)}" for name, value in budget.limits.items())


def describe_budget(budget: Budget) -> str:
    """The budget as the end of a sentence; empty without limits."""
    return f" within {describe_limits(budget)}" if budget.limits else ""


def parts(decided: Decided) -> tuple[Part, ...]:
    bindings = [_Bound(item, binding) for item in decided.decisions for binding in item.bindings]
    fronts = [_Place(item, choice) for item in decided.decisions for choice in item.front]
    few = [_Place(item, choice) for item in decided.decisions for choice in spread(item.front)]
    notes = [Paragraph(text) for text in _list_notes(decided, bool(bindings))]
    return (
        make_table(_decision_columns(), decided.decisions, "decisions", media=(*TEXT, *JSON), sparse=True),
        make_table(_bound_columns(), bindings, "bindings", title="what binds", media=(*TEXT, *JSON)),
        make_table(_front_columns(TEXT), few, title="between runtime and energy", media=TEXT, sparse=True),
        make_table(_front_columns(DATA), fronts, "front", media=DATA),
        *notes,
    )


def _list_notes(decided: Decided, bound: bool) -> list[str]:
    tried = ", ".join(format_count(item.combinations) for item in decided.decisions)
    components = ", ".join(item.component for item in decided.choices[0].space.ranges)
    notes = [f"All combinations of {components} that have a value were tried: {tried}."]
    spaces = [choices.space for choices in decided.choices]
    if spaces[0].problem.ranks is not None:
        notes.append(problem_note([space.stated for space in spaces], spaces[0].problem))
    notes += [note for space in spaces[:1] for note in cap_note(space)]
    if bound:
        notes.append(
            "One unit more changes the objective by so much, on average up to the next bound that buys anything."
        )
    for item in decided.decisions:
        if item.jointly:
            notes.append(
                f"{_describe_subject(item)}{' and '.join(item.jointly)} bind together: none of them does by itself."
            )
        elif not item.bindings and item.unmet is None and decided.budget.limits:
            notes.append(f"{_describe_subject(item)}no limit keeps it from being better.")
    return notes


def _describe_subject(item: Decision) -> str:
    return f"{item.title}: " if item.title else ""


def _decision_columns() -> tuple[Column, ...]:
    return (
        Column("input", key="label", get=lambda it: it.label or None),
        Column("settings", get=lambda it: it.settings or None),
        Column("nodes", "count", get="choice.nodes"),
        Column("configuration", get=lambda it: list_values(it.choice.configuration), wrapped=True, media=TEXT),
        Column("values", get=lambda it: dict(it.choice.configuration.named), media=JSON),
        Column("runtime", unit="s", key="capped_runtime", get="choice.outcome.runtime"),
        Column("energy", unit="J", get="choice.outcome.energy"),
        Column("power", unit="W", get="choice.outcome.power"),
        Column("cost", lambda value: f"{value:,.6g}", "right", get="choice.cost"),
        Column("within", get=lambda it: "no" if it.unmet else None, media=TEXT),
        *make_columns("unmet combinations", media=JSON),
        Column("jointly", get=lambda it: list(it.jointly), media=JSON),
    )


class _Bound:
    """A limit that binds, with its decision."""

    def __init__(self, decision: Decision, binding_limit: BindingLimit) -> None:
        self.decision, self.found = decision, binding_limit
        self.input = decision.title or None

    def objective(self, value: float) -> str:
        return format_quantity(value, UNIT_OF[self.decision.objective], 4)

    @property
    def one_more(self) -> str:
        unit = UNITS[self.found.limit]
        return f"{self.objective(self.found.worth)} a {unit.symbol or unit.one}"


def _bound_columns() -> tuple[Column, ...]:
    def amount(name: str) -> Callable[[_Bound], str]:
        return lambda it: amount_in(it.found.limit, getattr(it.found, name))

    def objective(name: str) -> Callable[[_Bound], str]:
        return lambda it: it.objective(getattr(it.found, name))

    words = (
        Column("bound", align="right", get=amount("bound")),
        Column("without it", align="right", get=objective("without")),
        Column("next bound", align="right", get=amount("next_bound")),
        Column("then", align="right", get=objective("next_value")),
        Column("one more unit", align="right", get="one_more"),
    )
    return (
        Column("input"),
        Column("limit", get="found.limit"),
        *(column.replace(media=TEXT) for column in words),
        *(
            Column(name, get=f"found.{name}", media=JSON)
            for name in ("bound", "without", "next_bound", "next_value", "worth")
        ),
    )


class _Place:
    """A choice of a front, with its decision."""

    def __init__(self, decision: Decision, choice: PricedConfiguration) -> None:
        self.choice = choice
        self.input = decision.title or None
        self.chosen = choice == decision.choice


def spread(front: tuple[PricedConfiguration, ...]) -> list[PricedConfiguration]:
    """A few of a front, from end to end."""
    if len(front) <= MOST_OF_FRONT:
        return list(front)
    places = {round(index * (len(front) - 1) / (MOST_OF_FRONT - 1)) for index in range(MOST_OF_FRONT)}
    return [front[index] for index in sorted(places)]


def _front_columns(media: tuple[str, ...]) -> tuple[Column, ...]:
    configuration: tuple[Column, ...] = (Column("configuration", get=lambda it: list_values(it.choice.configuration)),)
    if media == DATA:
        values = Column("values", get=lambda it: dict(it.choice.configuration.named), media=JSON)
        configuration = (configuration[0].replace(media=CSV), values)
    return (
        Column("input"),
        Column("nodes", "count", get="choice.nodes"),
        *configuration,
        Column("runtime", unit="s", key="capped_runtime", get="choice.outcome.runtime"),
        Column("energy", unit="J", get="choice.outcome.energy"),
        Column("power", unit="W", get="choice.outcome.power"),
        Column("chosen", get=lambda it: ("yes" if it.chosen else None) if media == TEXT else it.chosen),
    )


def _needs_logarithm(decided: Decided) -> bool:
    """Whether energies differ by more than an axis of equal steps shows."""
    energies = [choice.outcome.energy or 0.0 for item in decided.decisions for choice in item.front]
    return bool(energies) and max(energies) > WIDE * min(energies) > 0


WIDTH, UP = 7, 4.4  # inches


@use_shared_style
def draw(decided: Decided) -> Any:
    """A matplotlib figure: the front of each input in time and energy, the decision marked, the limits as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, UP), layout="constrained")
    axes = figure.subplots()
    ends: list[tuple[str, float, float, str]] = []
    for item, style in zip(decided.decisions, cycle(STYLES), strict=False):
        runtimes = [choice.outcome.runtime for choice in item.front]
        energies = [choice.outcome.energy or 0.0 for choice in item.front]
        label = item.title or "choices"
        axes.plot(runtimes, energies, marker=".", label=label, **style)
        ends += [(label, runtimes[-1], energies[-1], style["color"])] if len(decided.decisions) > 1 and runtimes else []
        if item.unmet is None and item.choice.outcome.energy is not None:
            chosen = item.choice.outcome.runtime, item.choice.outcome.energy
            axes.plot(*chosen, "o", color=BLACK, markersize=7)
            axes.annotate("chosen", chosen, (7, 2), textcoords="offset points", color=INK)
    limits = decided.budget.limits
    if "energy" in limits:
        axes.axhline(limits["energy"], color=GREY, linewidth=1, linestyle=":")
    if "time" in limits:
        axes.axvline(limits["time"], color=GREY, linewidth=1, linestyle=":")
    set_title(axes, "time and energy of the choices")
    axes.set(xscale="log", xlabel="runtime", ylabel="energy", yscale="log" if _needs_logarithm(decided) else "linear")
    label_axis(axes.xaxis, "s")
    label_axis(axes.yaxis, "J")
    name_ends(axes, UP - 0.9, ends)
    return figure


# -- as a section of the document ------------------------------------------------------------------


def decided_blocks(advice: Advice) -> list[Block]:
    """The decisions with their fronts, and what keeps each from being better."""
    decided = advice.decided
    if decided is None:
        return []
    curved = any(len(item.front) > 1 for item in decided.decisions)
    rows: list[list[Any]] = []
    for item in decided.decisions:
        places = [item.choice] if item.unmet else spread(item.front) or [item.choice]
        for choice in places:
            power = choice.outcome.power
            rows.append(
                [
                    item.title or "as given",
                    link_text(format_count(choice.nodes), "optimum"),
                    Link(list_values(choice.configuration, titled=True), "components"),
                    link_text(seconds(choice.outcome.runtime), "optimum"),
                    link_joules(choice.outcome.energy, "optimum"),
                    "" if power is None else link_text(format_quantity(power, "W"), "power"),
                    "chosen" if choice == item.choice and not item.unmet else "",
                ]
            )
    heads = ("input", "nodes", "configuration", "runtime", "energy", "power", "")
    within: list[Any] = [" without a budget"]
    if decided.budget.limits:
        within = [" within the budget, ", link_text(describe_limits(decided.budget), "worth")]
    others = ", and choices that no other beats in both time and energy:" if curved else ", in time and in energy:"
    note = (f"The least {decided.objective}", *within, others)
    return [
        Section("Between time and energy", "decide"),
        Sentence(note),
        make_sheet(heads, rows, (1, 3, 4, 5)),
        *(Sentence(tuple(words)) for item in decided.decisions for words in _binding_sentences(item)),
        *(picture_of(draw, decided, "Time and energy of these choices; the black dot is chosen.") if curved else []),
    ]


def _binding_sentences(item: Decision) -> list[list[Any]]:
    """Sentences on the limits that keep a decision from being better."""
    subject = _describe_subject(item)
    unit = UNIT_OF[item.objective]
    if item.unmet is not None:
        return [[f"{subject}no configuration stays within the budget: {item.unmet}. The nearest is shown."]]
    return [
        [
            f"{subject}the {binding.limit} binds: with ",
            link_text(amount_in(binding.limit, binding.next_bound), "worth"),
            " instead of ",
            link_text(amount_in(binding.limit, binding.bound), "worth"),
            " it would be ",
            link_text(format_quantity(binding.next_value, unit, 4), "worth"),
            ", ",
            link_text(f"{format_quantity(binding.worth, unit, 3)} for each {UNITS[binding.limit].one} more", "worth"),
            ".",
        ]
        for binding in item.bindings
    ]
