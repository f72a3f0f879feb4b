"""Sections of the document of advice: decisions under a budget, what restrictions cost, measured counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.advice.advice import Advice
from aspenpy.advice.choices import amount_in
from aspenpy.advice.counters import title_of
from aspenpy.advice.decision import Decision
from aspenpy.advice.significance import CounterEvidence, CounterShare, Significance
from aspenpy.advice.significant import SIGNIFICANT, Significant
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.report.advice import BELONGS, UNKNOWN
from aspenpy.report.advice_formulas import describe_configuration, explained, link_joules
from aspenpy.report.decision import UNIT_OF, budget_in_words, spread
from aspenpy.report.throttling import named
from aspenpy.tables.document import Block, Link, Picture, Points, Section, Sentence, Span, Words, make_sheet
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
                    Link(describe_configuration(choice.configuration), "components"),
                    explained(seconds(choice.outcome.runtime), "optimum"),
                    link_joules(choice.outcome.energy, "optimum"),
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
        make_sheet(heads, rows, (1, 3, 4, 5)),
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


def list_restrictions(advice: Advice, picture: Callable[[], str] | None) -> list[Block]:
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
        make_sheet(("restricted", *(f"{share(part)} left" for part in LEFT)), rows, range(1, 1 + len(LEFT))),
        Sentence(noise),
    ]
    return blocks if picture is None else [*blocks, Picture(picture, "The runtime over what is left.")]


# -- measured counters beside the model ------------------------------------------------------------


def significance_blocks(found: Significant) -> list[Block]:
    """Nothing without counters: the model's own sensitivities stand in the section before."""
    if not found.evidences:
        return []
    note = (
        "Counters are what the processor counted in measured runs: instructions, bytes, misses. A component's share is "
        "how much of the differences between the runs goes with its counters; by the model it is what it changes, in "
        "parts of what all change."
    )
    blocks: list[Block] = [Section("What was measured", "counters"), Sentence((note,))]
    blocks += [Points(tuple(_disagreements(found)))]
    for each in found.evidences:
        blocks += _evidence(found, each)
    return blocks


def _disagreements(found: Significant) -> list[Words]:
    if not found.disagreements:
        return [("Counters and model agree on what matters.",)]
    return [
        (
            f"Counters and model disagree: of the {item.metric} the {title_of(item.component)} has ",
            explained(share(item.counters), "counters"),
            " by counters and ",
            explained(share(item.model), "significance"),
            " by the model, among the components that these counters can tell.",
        )
        for item in found.disagreements
    ]


def _evidence(found: Significant, each: CounterEvidence) -> list[Block]:
    names = {"counters": each.significances, "model": tuple(it for it in found.by_model if it.metric == each.metric)}
    counters, model = ({item.component: item for item in items} for items in names.values())
    told = sorted({*counters, *model}, key=lambda name: -max(_share(counters, name), _share(model, name)))
    rows = [_component(name, counters.get(name), model.get(name)) for name in told if _matters(name, counters, model)]
    heads = ("component", "counters", "between", "model")
    listed = [_counter(item) for item in each.counters]
    return [
        Section(f"Of the {each.metric}", f"counters-{each.metric}", 2),
        make_sheet(heads, rows, (1, 2, 3)),
        Points((_samples(each), _regression(each), _clusters(each))),
        make_sheet(("counter", "known for", "share", "belongs to"), listed, (2,)),
    ]


def _share(of: Mapping[str, Significance], name: str) -> float:
    return of[name].share if name in of else 0.0


def _matters(name: str, counters: Mapping[str, Significance], model: Mapping[str, Significance]) -> bool:
    return name in counters or _share(model, name) >= SIGNIFICANT


def _component(name: str, counter: Significance | None, model: Significance | None) -> list[Span]:
    between: Span = ""
    if counter is not None and counter.low is not None and counter.high is not None:
        between = explained(f"{share(counter.low)} to {share(counter.high)}", "counters")
    return [
        title_of(name) if name else UNKNOWN,
        "" if counter is None else explained(share(counter.share), "counters"),
        between,
        "" if model is None else explained(share(model.share), "significance"),
    ]


def _samples(each: CounterEvidence) -> Words:
    samples = each.samples
    ran = f"{count_noun(samples.runs, 'run')} of {count_noun(samples.configurations, 'configuration')}"
    said: list[Any] = [f"{ran} (threads, clocks, inputs): "]
    if samples.widest is None:
        said.append("each was measured once, so that nobody knows how sure the means are")
    else:
        said += ["half the 95 % confidence interval of a mean is ", explained(share(samples.widest), "samples")]
        said.append(" at most")
    if samples.enough:
        return (*said, ". These are enough.")
    return (*said, "; measure each ", explained(f"{count(samples.more)} more", "samples"), " times.")


def _regression(each: CounterEvidence) -> Words:
    names = [item.name for item in each.counters if item.share > 0]
    return (
        f"Significant counters are {', '.join(names)}: they explain ",
        explained(share(each.r_squared), "counters"),
        f" of the differences in {each.metric}.",
    )


def _clusters(each: CounterEvidence) -> Words:
    chosen = next((item for item in each.numbers if item.chosen), None)
    if chosen is None:
        return ("There are too few counters for clusters: each stands by itself.",)
    names = ", ".join(dict.fromkeys(title_of(name) if name else UNKNOWN for name in each.clusters))
    return (
        f"Counters that go up and down together make {count_noun(chosen.count, 'cluster')}: {names}. "
        "They are apart by a partition coefficient of ",
        explained(f"{chosen.partition:.2f}", "clusters"),
        " (1 is without overlap) and an index of Xie and Beni of ",
        explained(f"{chosen.xie_beni:.3f}", "clusters"),
        " (0 is without overlap).",
    )


def _counter(item: CounterShare) -> list[Span]:
    parts = [(name, worth) for name, worth in item.memberships.items() if worth >= BELONGS]
    belongs = ", ".join(f"{title_of(name) if name else UNKNOWN} {worth:.2f}" for name, worth in parts)
    known = ", ".join(map(title_of, item.known)) or "nothing"
    return [
        item.name,
        known,
        explained(share(item.share), "counters") if item.share else "",
        explained(belongs, "clusters"),
    ]
