"""A cluster for several applications as a report: one kind of nodes beside groups of specialised ones."""

from __future__ import annotations

from aspenpy.advice.decision import Choice
from aspenpy.advice.grouped import Cluster, Grouped
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.decision import UNIT_OF, budget_in_words
from aspenpy.report.design_space import configured
from aspenpy.report.problem import problem_note
from aspenpy.tables.numbers import count, counted
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import JSON, TEXT, Column, Paragraph, Report, table


def report_groups(grouped: Grouped) -> Report:
    """The best cluster of one kind of nodes, and of several."""
    machine = grouped.workloads[0].case.required_machine.name
    names = " and ".join(item.name for item in grouped.workloads)
    data = {
        "machine": machine,
        "objective": grouped.objective,
        "nodes": grouped.nodes,
        "budget": dict(grouped.budget.limits),
        "clusters": {kind: None if found is None else _outcome(found) for kind, found in _kinds(grouped)},
        "runs": {item.name: item.runs for item in grouped.workloads},
    }
    rows = [row for kind, cluster in _kinds(grouped) if cluster is not None for row in _rows(kind, cluster)]
    heads = (
        Column("cluster", get="cluster"),
        Column("group", "count"),
        Column("nodes", "count", get="choice.nodes"),
        Column("configuration", get=lambda it: configured(it.choice.configuration), wrapped=True, media=TEXT),
        Column("values", get=lambda it: dict(it.choice.configuration.named), media=JSON),
        Column("application"),
        Column("runtime", unit="s", get="choice.outcome.runtime"),
        Column("energy", unit="J", get="choice.outcome.energy"),
        Column("power", unit="W", get="choice.outcome.power"),
        Column("cost", lambda value: f"{value:,.6g}", "right", get="choice.cost"),
    )
    budget = budget_in_words(grouped.budget)
    groups = counted(len(grouped.best.groups), "group")
    headline = f"{names} on {machine}: {groups} of nodes, the least {grouped.objective}{budget}"
    found = table(heads, rows, "groups", media=(*TEXT, *JSON), sparse=True)
    return Report(headline, data, (found, *map(Paragraph, _notes(grouped))), grouped.diagnostics)


register_report(Grouped, report_groups)


class _Row:
    """An application in its group."""

    def __init__(self, cluster: str, group: int, application: str, choice: Choice) -> None:
        self.cluster, self.group, self.application, self.choice = cluster, group, application, choice


def _rows(kind: str, cluster: Cluster) -> list[_Row]:
    return [
        _Row(kind, number, name, choice)
        for number, group in enumerate(cluster.groups, 1)
        for name, choice in group.choices.items()
    ]


def _kinds(grouped: Grouped) -> tuple[tuple[str, Cluster | None], ...]:
    return (("one kind of nodes", grouped.common), ("specialised", grouped.best))


def _outcome(cluster: Cluster) -> dict[str, float | None]:
    return {name: getattr(cluster.outcome, name) for name in ("runtime", "energy")}


def _notes(grouped: Grouped) -> list[str]:
    runs = ", ".join(f"{item.runs:g} of {item.name}" for item in grouped.workloads)
    objective = grouped.objective

    def told(cluster: Cluster) -> str:
        return format_quantity(cluster.outcome.worth(objective), UNIT_OF[objective], 4)

    first = "no one kind of nodes serves all within the budget"
    if grouped.common is not None:
        first = f"{told(grouped.common)} with one kind of nodes"
    spaces = {item.name: each.space for item, each in zip(grouped.workloads, grouped.choices, strict=True)}
    problems = [
        f"{name}: {problem_note([space.stated], space.problem)}"
        for name, space in spaces.items()
        if space.problem.ranks is not None
    ]
    return [
        f"The {objective} of all runs ({runs}) on at most {count(grouped.nodes)} nodes: {first}, "
        f"{told(grouped.best)} with groups. Groups work at the same time; runs in a group one after the other.",
        *problems,
    ]
