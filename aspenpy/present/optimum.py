"""Optima and Pareto fronts as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.dimensions import readable
from aspenpy.explore.constraint import unit_of_quantity
from aspenpy.explore.optimise import Binding, Goal, Optimum
from aspenpy.explore.pareto import Front
from aspenpy.explore.space import Space
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table


class Words:
    """How the quantities and variables of one space are read."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.variables = {item.name: item for item in space.variables}

    def unit(self, goal: Goal) -> str:
        return unit_of_quantity(goal.subject.node, self.space.cases[0])

    def amount(self, goal: Goal, value: float) -> str:
        return readable(value, self.unit(goal), 6)

    def at(self, point: dict[str, float | str]) -> str:
        return ", ".join(f"{name} = {self.value(name, value)}" for name, value in point.items())

    def value(self, name: str, value: float | str) -> str:
        return value if isinstance(value, str) else self.variables[name].shown(value)

    def side(self, binding: Binding, value: float) -> str:
        """An amount on a side of a constraint."""
        node = binding.constraint.node
        unit = unit_of_quantity(node.left, self.space.cases[0]) or unit_of_quantity(node.right, self.space.cases[0])
        return readable(value, unit, 6)

    def side_unit(self, binding: Binding) -> str:
        node = binding.constraint.node
        return unit_of_quantity(node.left, self.space.cases[0]) or unit_of_quantity(node.right, self.space.cases[0])


def page(result: Optimum | Front, space: Space, subject: str) -> Page:
    """`subject` is what was optimised: `matmul on simple`."""
    words = Words(space)
    return _front(result, words, subject) if isinstance(result, Front) else _optimum(result, words, subject)


def _optimum(result: Optimum, words: Words, subject: str) -> Page:
    best = "greatest" if result.goal.greatest else "least"
    title = Title(f"{subject}: {best} {result.goal.subject.text} is {words.amount(result.goal, result.value)}")
    facts = Table(
        (Column("variable"), Column("value", align="right")),
        tuple((name, words.value(name, value)) for name, value in result.point.items()),
    )
    binding = (_bindings(result, words),) if result.bindings else (Paragraph("no constraint binds"),)
    searches = f"the best of local searches, begun at the best of {result.looked_at:,} points"
    looked = f"all combinations were looked at, {result.looked_at:,}" if result.proven else searches
    if result.undefined:
        looked += f"; {result.undefined:,} of them without a value"
    return title, facts, *binding, Paragraph(looked)


def _bindings(result: Optimum, words: Words) -> Table:
    """What each constraint costs, and where the optimum goes when it gives way; columns only for what is known."""
    goal, name = result.goal, result.goal.subject.text
    unit = words.unit(goal)

    def slope(item: Binding) -> str | None:
        per = words.side_unit(item)
        both = " ".join([*([unit] if unit else []), *(["per", per] if per else [])])
        return None if item.multiplier is None else f"{item.multiplier:.6g} {both}".rstrip()

    def amount(value: float | None) -> str | None:
        return None if value is None else words.amount(goal, value)

    cells: dict[str, Callable[[Binding], str | None]] = {
        f"{name} by bound": slope,
        "1 % looser": lambda item: amount(item.looser),
        "at": lambda item: None if item.point is None else words.at(item.point),
        "next bound": lambda item: None if item.next_bound is None else words.side(item, item.next_bound),
        "then": lambda item: amount(item.next_value),
        "without": lambda item: amount(item.without),
    }
    known = {header: cell for header, cell in cells.items() if any(cell(item) is not None for item in result.bindings)}
    columns = (Column("binds"), *(Column(header, wrapped=header == "at") for header in known))
    rows = tuple((item.constraint.text, *(cell(item) for cell in known.values())) for item in result.bindings)
    return Table(columns, rows)


def _front(result: Front, words: Words, subject: str) -> Page:
    names = " and ".join(goal.subject.text for goal in result.goals)
    columns = [Column(goal.subject.text, align="unit") for goal in result.goals]
    asked = {goal.subject.text for goal in result.goals}
    variables = [name for name in result.choices[0].point if name not in asked]
    columns += [Column(name, align="right") for name in variables]
    rows = tuple(
        (
            *(words.amount(goal, value) for goal, value in zip(result.goals, choice.values, strict=True)),
            *(words.value(name, choice.point[name]) for name in variables),
        )
        for choice in _some(result.choices)
    )
    ending = f"{len(result.choices):,} point{'s' if len(result.choices) > 1 else ''} on the front"
    if len(rows) < len(result.choices):
        ending += f", of which {len(rows)} are shown"
    ending += f"; all combinations were looked at, {result.looked_at:,}" if result.proven else "; found by NSGA-II"
    return Title(f"{subject}: what {names} can be at once"), Table(tuple(columns), rows), Paragraph(ending)


MOST_SHOWN = 24
"""Of a front, evenly chosen; JSON and CSV have all."""


def _some(choices: tuple[Any, ...]) -> list[Any]:
    if len(choices) <= MOST_SHOWN:
        return list(choices)
    return [choices[round(number * (len(choices) - 1) / (MOST_SHOWN - 1))] for number in range(MOST_SHOWN)]


# -- for programs ----------------------------------------------------------------------------------


def as_json(result: Optimum | Front, space: Space) -> dict[str, Any]:
    """One object; numbers in base units."""
    words = Words(space)
    if isinstance(result, Front):
        return {
            "goals": [_goal(goal, words) for goal in result.goals],
            "proven": result.proven,
            "front": [{"values": list(item.values), "point": item.point} for item in result.choices],
        }
    return {
        **_goal(result.goal, words),
        "value": result.value,
        "point": result.point,
        "proven": result.proven,
        "looked_at": result.looked_at,
        "undefined": result.undefined,
        "binding": [_binding(item) for item in result.bindings],
    }


def _goal(goal: Goal, words: Words) -> dict[str, Any]:
    return {"quantity": goal.subject.text, "sense": "greatest" if goal.greatest else "least", "unit": words.unit(goal)}


def _binding(item: Binding) -> dict[str, Any]:
    names = ("left", "right", "multiplier", "without", "looser", "point", "next_bound", "next_value")
    return {"constraint": item.constraint.text, **{name: getattr(item, name) for name in names}}


def records(result: Optimum | Front) -> Table:
    """Of the CSV form: a row for each point."""
    goals = result.goals if isinstance(result, Front) else (result.goal,)
    points = (
        [(item.values, item.point) for item in result.choices]
        if isinstance(result, Front)
        else [((result.value,), result.point)]
    )
    names = [goal.subject.text for goal in goals] + list(points[0][1])
    return Table(tuple(map(Column, names)), tuple((*values, *point.values()) for values, point in points))


def picture(front: Front, space: Space, subject: str) -> Any:
    """The first two quantities of a front against each other: a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes, words = figure.add_subplot(), Words(space)
    xs, ys = ([choice.values[place] for choice in front.choices] for place in (0, 1))
    axes.plot(xs, ys, "o", color="#0072B2", markersize=4)
    for name, values, scale in (("x", xs, axes.set_xscale), ("y", ys, axes.set_yscale)):
        if min(values) > 0 and max(values) > 100 * min(values):
            scale("log")
        goal = front.goals["xy".index(name)]
        unit = words.unit(goal)
        getattr(axes, f"set_{name}label")(f"{goal.subject.text} ({unit})" if unit else goal.subject.text)
    axes.grid(visible=True, linewidth=0.5, alpha=0.4)
    axes.set_title(subject, loc="left", fontsize=11)
    return figure
