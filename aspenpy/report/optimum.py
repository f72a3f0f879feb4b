"""Optima and Pareto fronts as reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aspenpy.answers.prediction import Prediction
from aspenpy.explore.constraint import unit_of_quantity
from aspenpy.explore.optimise import Binding, Front, Goal, Optimum
from aspenpy.explore.space import Space
from aspenpy.language.diagnostics import Diagnostic, drop_repeats
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.drawing import BLUE, GREY, PALE, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import count_of
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Paragraph, Report, Table, make_columns, make_table

MOST_SHOWN = 24  # of a front, evenly chosen; JSON and CSV have all

BINDINGS = (
    Column("constraint", get="constraint.text"),
    *make_columns("left right multiplier without looser point next_bound next_value"),
)


class Words:
    """Wording of the quantities and variables of one space."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.variables = {item.name: item for item in space.variables}

    def unit(self, goal: Goal) -> str:
        return unit_of_quantity(goal.subject.node, self.space.cases[0])

    def amount(self, goal: Goal, value: float) -> str:
        return format_quantity(value, self.unit(goal), 6)

    def describe_point(self, point: dict[str, float | str]) -> str:
        return ", ".join(f"{name} = {self.value(name, value)}" for name, value in point.items())

    def value(self, name: str, value: float | str) -> str:
        return value if isinstance(value, str) else self.variables[name].in_words(value)

    def values(self, name: str, values: Sequence[float | str]) -> str:
        """One value, or those that are equally good."""
        if len(values) > 1 and len(values) == self.variables[name].size:
            return "any"
        return ", ".join(self.value(name, value) for value in values)

    def warnings(self, point: Mapping[str, Any] | None = None) -> tuple[Diagnostic, ...]:
        """Warnings of the models, and where only parameters vary those at a point."""
        reported = [warning for case in self.space.cases for warning in case.tree.warnings]
        if point is not None and len(self.space.cases) == 1:
            values = {item.name: point[item.name] for item in self.space.parameters}
            best = Prediction(self.space.cases[0].case.with_set(values))
            reported += [*best.warnings_of_values, *best.cap_warnings]
        return tuple(drop_repeats(reported))

    def bound_by(self, point: Mapping[str, Any]) -> str | None:
        """The resource that takes most of the runtime at a point, with its share; None where machines vary."""
        if len(self.space.cases) > 1:
            return None
        values = {item.name: point[item.name] for item in self.space.parameters}
        most = Prediction(self.space.cases[0].case.with_set(values)).bottleneck
        return None if most is None else f"{most.resource}, {most.share:.0%}"

    def unit_of_sides(self, binding: Binding) -> str:
        """The unit of both sides of a constraint."""
        node = binding.constraint.node
        return unit_of_quantity(node.left, self.space.cases[0]) or unit_of_quantity(node.right, self.space.cases[0])

    def goal(self, goal: Goal) -> dict[str, Any]:
        sense = "greatest" if goal.greatest else "least"
        return {"quantity": goal.subject.text, "sense": sense, "unit": self.unit(goal)}

    def points(self, goals: tuple[Goal, ...], choices: list[tuple[tuple[float, ...], dict[str, Any]]]) -> Table:
        """Table for CSV: a row for each point."""
        names = [name for name in choices[0][1] if name not in {goal.subject.text for goal in goals}]
        heads = [Column(goal.subject.text, key=goal.subject.text, unit=self.unit(goal)) for goal in goals]
        heads += [Column(name, key=name, unit=self.variables[name].unit) for name in names]
        rows = tuple((*values, *(point[name] for name in names)) for values, point in choices)
        return Table(tuple(heads), rows, media=CSV)


def report_optimum(result: Optimum | Front) -> Report:
    """The best point with what binds it, or the points of the front."""
    words, subject = Words(result.space), subject_of(result.space)
    return (
        _report_front(result, words, subject)
        if isinstance(result, Front)
        else _report_single_optimum(result, words, subject)
    )


register_report(Optimum, report_optimum)
register_report(Front, report_optimum)


def subject_of(space: Space) -> str:
    """The subject of an optimisation: `matmul on simple`, or the application alone where machines vary."""
    application = space.cases[0].application.name
    names = {prediction.machine.name for prediction in space.cases}
    return f"{application} on {names.pop()}" if len(names) == 1 else application


def _report_single_optimum(result: Optimum, words: Words, subject: str) -> Report:
    best = "greatest" if result.goal.greatest else "least"
    variables = Table(
        (Column("variable"), Column("value", align="right")),
        tuple((name, words.value(name, value)) for name, value in result.point.items()),
        media=TEXT,
    )
    searches = f"the best of local searches, begun at the best of {result.looked_at:,} points"
    looked = f"all combinations were looked at, {result.looked_at:,}" if result.proven else searches
    if result.undefined:
        looked += f"; {result.undefined:,} of them without a value"
    data = {
        "subject": subject,
        **words.goal(result.goal),
        **{name: getattr(result, name) for name in ("value", "point", "proven", "looked_at", "undefined")},
    }
    parts = (
        variables,
        _bindings_table(result, words) if result.bindings else Paragraph("no constraint binds"),
        make_table(BINDINGS, result.bindings, "binding", media=JSON),
        *(_best_tables(result, words) if result.best else ()),
        Paragraph(looked),
        words.points(
            (result.goal,), [(item.values, item.point) for item in result.best] or [((result.value,), result.point)]
        ),
    )
    headline = f"{subject}: {best} {result.goal.subject.text} is {words.amount(result.goal, result.value)}"
    return Report("optimum/1", headline, data, parts, words.warnings(result.point))


def _best_tables(result: Optimum, words: Words) -> tuple[Table, Table]:
    """The best points with what each is bound by: for reading, and for programs."""
    name, rows = result.goal.subject.text, []
    for item in result.best:
        bound = words.bound_by(item.point)
        values = [words.values(name, item.equal.get(name, (value,))) for name, value in item.point.items()]
        shown = (words.amount(result.goal, item.values[0]), *values)
        rows.append((item, bound, (*shown, bound)))
    heads = [Column(head, align="right") for head in (name, *result.point)] + [Column("bound by")]
    shown_table = Table(tuple(heads), tuple(row[2] for row in rows), media=TEXT)
    objects = make_table(
        (
            Column("value", get=lambda row: row[0].values[0]),
            Column("point", get=lambda row: row[0].point),
            Column("equal", get=lambda row: {name: list(values) for name, values in row[0].equal.items()}),
            Column("bound_by", get=lambda row: row[1]),
        ),
        rows,
        "best",
        media=JSON,
    )
    return shown_table, objects


def _bindings_table(result: Optimum, words: Words) -> Table:
    """The price of each constraint, and where the optimum goes when it gives way; columns only for what is known."""
    goal, name = result.goal, result.goal.subject.text
    unit = words.unit(goal)

    def slope(item: Binding) -> str | None:
        per = words.unit_of_sides(item)
        both = " ".join([*([unit] if unit else []), *(["per", per] if per else [])])
        return None if item.multiplier is None else f"{item.multiplier:.6g} {both}".rstrip()

    def bound(item: Binding) -> str | None:
        return None if item.next_bound is None else format_quantity(item.next_bound, words.unit_of_sides(item), 6)

    def amount(header: str, field: str) -> Column:
        return Column(header, lambda value: words.amount(goal, value), get=field)

    heads = (
        Column("binds", get="constraint.text"),
        Column(f"{name} by bound", get=slope),
        amount("1 % looser", "looser"),
        Column("at", words.describe_point, wrapped=True, get="point"),
        Column("next bound", get=bound),
        amount("then", "next_value"),
        amount("without", "without"),
    )
    return make_table(heads, result.bindings, sparse=True, media=TEXT)


def _report_front(result: Front, words: Words, subject: str) -> Report:
    names = " and ".join(goal.subject.text for goal in result.goals)
    choices = [(choice.values, choice.point) for choice in result.choices]
    every = words.points(result.goals, choices)
    heads = [Column(column.header, align="unit") for column in every.columns[: len(result.goals)]]
    heads += [Column(column.header, align="right") for column in every.columns[len(result.goals) :]]
    rows = tuple(
        (
            *(words.amount(goal, value) for goal, value in zip(result.goals, values, strict=True)),
            *(words.value(column.header, point[column.header]) for column in every.columns[len(values) :]),
        )
        for values, point in _pick_some(choices)
    )
    ending = f"{count_of(len(choices), 'point')} on the front"
    if len(rows) < len(choices):
        ending += f", of which {len(rows)} are shown"
    ending += f"; all combinations were looked at, {result.looked_at:,}" if result.proven else "; found by NSGA-II"
    data = {
        "subject": subject,
        "goals": [words.goal(goal) for goal in result.goals],
        "proven": result.proven,
        "front": [{"values": list(values), "point": point} for values, point in choices],
    }
    shown = Table(tuple(heads), rows, media=TEXT)
    return Report(
        "front/1", f"{subject}: what {names} can be at once", data, (shown, Paragraph(ending), every), words.warnings()
    )


def _pick_some(choices: list[Any]) -> list[Any]:
    if len(choices) <= MOST_SHOWN:
        return choices
    return [choices[round(number * (len(choices) - 1) / (MOST_SHOWN - 1))] for number in range(MOST_SHOWN)]


# -- as a picture ----------------------------------------------------------------------------------


MOST_NAMED = 8  # points of a front whose configurations are written beside them


def _common_values(front: Front) -> dict[str, Any]:
    """The variables that have one value on the whole front."""
    first = front.choices[0].point
    return {name: value for name, value in first.items() if all(it.point[name] == value for it in front.choices)}


def _name_points(axes: Any, front: Front, words: Words) -> None:
    """The configurations of some points, evenly chosen, both ends among them; a goal, and what all have alike, is no
    part of their names."""
    left_out = {goal.subject.text for goal in front.goals} | _common_values(front).keys()
    many = len(front.choices)
    count = min(many, MOST_NAMED)
    for index in sorted({round(number * (many - 1) / max(1, count - 1)) for number in range(count)}):
        choice = front.choices[index]
        text = words.describe_point({name: value for name, value in choice.point.items() if name not in left_out})
        is_last = index == many - 1  # whose name would run out of the frame
        beside: dict[str, Any] = {"textcoords": "offset points", "color": GREY}
        shift, side = ((-5, -13), "right") if is_last else ((5, 4), "left")
        axes.annotate(text, choice.values[:2], xytext=shift, ha=side, **beside)


@use_shared_style
def draw_front(front: Front, space: Space, subject: str) -> Any:
    """A matplotlib figure: the first two quantities of a front against each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes, words = figure.add_subplot(), Words(space)
    xs, ys = ([choice.values[index] for choice in front.choices] for index in (0, 1))
    # What dominates lies below and to the left: between two points the front is a step.
    axes.step(xs, ys, where="post", color=PALE, linewidth=1)
    axes.plot(xs, ys, "o", color=BLUE)
    _name_points(axes, front, words)
    for name, values, goal in zip("xy", (xs, ys), front.goals, strict=False):
        unit = words.unit(goal)
        axes.set(**{f"{name}label": goal.subject.text})
        if min(values) > 0 and max(values) > 100 * min(values):
            axes.set(**{f"{name}scale": "log"})
        axes.margins(0.12)
        label_axis(getattr(axes, f"{name}axis"), unit)
    alike = words.describe_point(_common_values(front))
    set_title(axes, f"{subject}, {alike}" if alike else subject)
    return figure
