"""Sections of the document of advice: decisions under a budget, and what restrictions cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.choices import amount_in
from aspenpy.advice.decision import Decision
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice_formulas import explained
from aspenpy.report.advice_sections import in_joules, in_words
from aspenpy.report.decision import UNIT_OF, budget_in_words, spread
from aspenpy.report.throttled import named
from aspenpy.tables.document import Block, Link, Picture, Section, Sentence, Words, sheet
from aspenpy.tables.numbers import count, ratio, seconds, share

ONE = {"energy": "joule", "power": "watt", "time": "second", "money": "unit of money"}
LEFT = (0.9, 0.7, 0.5, 0.3)  # parts in the table; the picture has all


def decided_blocks(advice: Advice, picture: Callable[[], str] | None) -> list[Block]:
    decided = advice.decided
    if decided is None:
        return []
    rows: list[list[Any]] = []
    for item in decided.decisions:
        places = [item.choice] if item.unmet else spread(item.front) or [item.choice]
        for choice in places:
            power = choice.outcome.power
            rows.append(
                [
                    item.label or item.settings or "as given",
                    explained(count(choice.nodes), "optimum"),
                    Link(in_words(choice.configuration), "components"),
                    explained(seconds(choice.outcome.runtime), "optimum"),
                    in_joules(choice.outcome.energy, "optimum"),
                    "" if power is None else explained(format_quantity(power, "W"), "power"),
                    "chosen" if choice == item.choice and not item.unmet else "",
                ]
            )
    heads = ("input", "nodes", "configuration", "runtime", "energy", "power", "")
    within: list[Any] = [" without a budget"]
    if decided.budget.limits:
        within = [" within the budget, ", explained(budget_in_words(decided.budget).removeprefix(" within "), "worth")]
    note = (f"The least {decided.objective}", *within, ", and choices that no other beats in both time and energy:")
    blocks: list[Block] = [
        Section("Between time and energy", "decide"),
        Sentence(note),
        sheet(heads, rows, (1, 3, 4, 5)),
    ]
    blocks += [Sentence(tuple(words)) for item in decided.decisions for words in _bound(item)]
    return (
        blocks
        if picture is None
        else [*blocks, Picture(picture, "Time and energy of these choices; the black dot is chosen.")]
    )


def _bound(item: Decision) -> list[list[Any]]:
    """What keeps a decision from being better."""
    name = item.label or item.settings
    subject = f"{name}: " if name else ""
    unit = UNIT_OF[item.objective]
    if item.unmet is not None:
        return [[f"{subject}no configuration stays within the budget: {item.unmet}. The nearest is shown."]]
    return [
        [
            f"{subject}the {found.limit} binds: with ",
            explained(amount_in(found.limit, found.next_bound), "worth"),
            " instead of ",
            explained(amount_in(found.limit, found.bound), "worth"),
            " it would be ",
            explained(format_quantity(found.next_value, unit, 4), "worth"),
            ", ",
            explained(f"{format_quantity(found.worth, unit, 3)} for each {ONE[found.limit]} more", "worth"),
            ".",
        ]
        for found in item.bindings
    ]


def throttled_blocks(advice: Advice, picture: Callable[[], str] | None) -> list[Block]:
    throttled = advice.throttled
    rows: list[list[Any]] = []
    for item in throttled.restrictions:
        by_part = {round(part, 6): loss for part, loss in zip(item.parts, item.losses, strict=True)}
        cells: list[Any] = []
        for part in LEFT:
            loss = by_part.get(part)
            cells.append("" if loss is None else explained(f"x {ratio(loss)}", "restricted"))
        rows.append([named(item.component), *cells])
    runtime, _ = throttled.noisy
    noise: Words = (
        "Noise that takes ",
        explained(share(throttled.noise), "noise"),
        " (standard deviation) from each of clock, bandwidths and network makes the run take ",
        explained(f"{seconds(runtime.low)} to {seconds(runtime.high)}", "noise"),
        " instead of ",
        explained(seconds(runtime.stated), "runtime"),
        ".",
    )
    blocks: list[Block] = [
        Section("If something is cut", "cut"),
        Sentence(("The runtime on one node with only a part of one thing left, in times of that with all of it:",)),
        sheet(("restricted", *(f"{share(part)} left" for part in LEFT)), rows, range(1, 1 + len(LEFT))),
        Sentence(noise),
    ]
    return blocks if picture is None else [*blocks, Picture(picture, "The runtime over what is left.")]
