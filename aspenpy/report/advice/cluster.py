"""Clusters for several applications, of one kind of nodes and of several."""

from __future__ import annotations

from aspenpy.advice.configuration import PricedConfiguration
from aspenpy.advice.grouped import Cluster, Grouped
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.advice.decision import UNIT_OF, describe_budget
from aspenpy.report.advice.design_space import list_values
from aspenpy.report.advice.document import problem_note
from aspenpy.tables.numbers import count_of, format_count
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import JSON, TEXT, Column, Paragraph, Report, make_table


def report_groups(grouped: Grouped) -> Report:
    """The best cluster of one kind of nodes, and of several."""
    machine = grouped.workloads[0].case.required_machine.name
    names = " and ".join(item.name for item in grouped.workloads)
    data = {
        "machine": machine,
        "objective": grouped.objective,
        "nodes": grouped.nodes,
        "budget": dict(grouped.budget.limits),
        "clusters": {
            kind: table and {"capped_runtime": table.outcome.runtime, "energy": table.outcome.energy}
            for kind, table in _kinds_of_cluster(grouped)
        },
        "runs": {item.name: item.runs for item in grouped.workloads},
    }
    rows = [
        row
        for kind, cluster in _kinds_of_cluster(grouped)
        if cluster is not None
        for row in _rows_of_cluster(kind, cluster)
    ]
    heads = (
        Column("cluster", get="cluster"),
        Column("group", "count"),
        Column("nodes", "count", get="choice.nodes"),
        Column("configuration", get=lambda it: list_values(it.choice.configuration), wrapped=True, media=TEXT),
        Column("values", get=lambda it: dict(it.choice.configuration.named), media=JSON),
        Column("application"),
        Column("runtime", unit="s", key="capped_runtime", get="choice.outcome.runtime"),
        Column("energy", unit="J", get="choice.outcome.energy"),
        Column("power", unit="W", get="choice.outcome.power"),
        Column("cost", lambda value: f"{value:,.6g}", "right", get="choice.cost"),
    )
    groups = count_of(len(grouped.best.groups), "group")
    headline = (
        f"{names} on {machine}: {groups} of nodes, the least {grouped.objective}{describe_budget(grouped.budget)}"
    )
    table = make_table(heads, rows, "groups", media=(*TEXT, *JSON), sparse=True)
    return Report(
        "grouped_decision/1", headline, data, (table, *map(Paragraph, _group_notes(grouped))), grouped.diagnostics
    )


register_report(Grouped, report_groups)


class _Row:
    """An application in its group."""

    def __init__(self, cluster: str, group: int, application: str, choice: PricedConfiguration) -> None:
        self.cluster, self.group, self.application, self.choice = cluster, group, application, choice


def _rows_of_cluster(kind: str, cluster: Cluster) -> list[_Row]:
    return [
        _Row(kind, number, name, choice)
        for number, group in enumerate(cluster.groups, 1)
        for name, choice in group.choices.items()
    ]


def _kinds_of_cluster(grouped: Grouped) -> tuple[tuple[str, Cluster | None], ...]:
    return (("one kind of nodes", grouped.common), ("specialised", grouped.best))


def _group_notes(grouped: Grouped) -> list[str]:
    runs = ", ".join(f"{item.runs:g} of {item.name}" for item in grouped.workloads)
    objective = grouped.objective

    def format_outcome(cluster: Cluster) -> str:
        return format_quantity(cluster.outcome.value_of(objective), UNIT_OF[objective], 4)

    first = "no one kind of nodes serves all within the budget"
    if grouped.common is not None:
        first = f"{format_outcome(grouped.common)} with one kind of nodes"
    spaces = {item.name: each.space for item, each in zip(grouped.workloads, grouped.choices, strict=True)}
    problems = [
        f"{name}: {problem_note([space.stated], space.problem)}"
        for name, space in spaces.items()
        if space.problem.ranks is not None
    ]
    return [
        f"The {objective} of all runs ({runs}) on at most {format_count(grouped.nodes)} nodes: {first}, "
        f"{format_outcome(grouped.best)} with groups. Groups work at the same time; "
        "runs in a group one after the other.",
        *problems,
    ]
