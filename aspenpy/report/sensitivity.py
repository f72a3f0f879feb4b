"""Sensitivities as reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from aspenpy.answers.metrics import find_metric
from aspenpy.explore.elasticity import Elasticities, Elasticity
from aspenpy.explore.sensitivity import Effects, Found
from aspenpy.explore.variance import Morris, Sobol
from aspenpy.expr.printer import text_if_short
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.drawing import EDGE, FILLS, GREY, drop_middle, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import make_formatter
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Part, Report, make_columns, make_table


def _format_digits(value: float) -> str:
    return f"{value + 0:.4g}"


def _format_index(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def report_sensitivity(result: Found) -> Report:
    """Reports the parameters that move the metric most, then each parameter."""
    subject, unit = result.subject, find_metric(result.metric).unit
    data, parts = _METHODS[type(result)](result, unit)
    skipped = None if isinstance(result, tuple) else result.skipped
    if skipped is not None:
        points = f"{skipped.count:,} of {skipped.total:,} points have no value and are left out"
        parts = (*parts, Paragraph(f"{points}: {skipped.reason}"))
        data["skipped"] = {"points": skipped.count, "of": skipped.total, "reason": skipped.reason}
    if isinstance(result, Effects | Sobol) and result.note:
        data["note"], parts = result.note, (*parts, Paragraph(result.note))
    return Report(
        "sensitivity/1",
        f"{subject}: {_leaders_in_words(result)}",
        {"subject": subject, "unit": unit, **data},
        parts,
        diagnostics=(),
    )


register_report(Elasticities, report_sensitivity)
register_report(Effects, report_sensitivity)
register_report(Sobol, report_sensitivity)
register_report(Morris, report_sensitivity)


def _leaders_in_words(result: Found) -> str:
    leaders = _list_leaders(result)
    if isinstance(result, tuple) and result and all(item.here is None and item.mean is None for item in result):
        return "has no value where a parameter is changed"
    if not leaders:
        return "depends on nothing that varies"
    if len(leaders) == 1:
        return f"moves most with {leaders[0]}"
    if isinstance(result, Sobol | Morris):
        return f"moves most with {join_names(leaders, 'or')}, whose 95 % intervals overlap"
    return f"moves most with {join_names(leaders, 'and')}, alike"


def join_names(names: Sequence[str], word: str) -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


ALIKE = 1e-9  # ranks this close to each other are equal as far as rounding can tell


def _list_leaders(result: Found) -> tuple[str, ...]:
    """The parameters that move the metric most; several where they cannot be told apart."""
    if isinstance(result, Sobol | Morris):
        return result.leaders
    rows: list[tuple[str, float]]
    if isinstance(result, Effects):
        rows = [(effect.parameters[0], effect.sensitivity) for effect in result.singles]
    else:
        rows = [(item.parameter, item.rank) for item in result]
    most = max((value for _, value in rows), default=0.0)
    return tuple(name for name, value in rows if value and value >= most * (1 - ALIKE))


Said = tuple[dict[str, Any], tuple[Part, ...]]  # values for programs, and parts

EXPLAINED = (
    "An elasticity of 2 is the square: 1 % more of the parameter makes 2 %. Least, most, the mean magnitude, and "
    "overall, from end to end, are over the parameter's range, all else as it is."
)

STEPPED = (
    " Where the formula has steps, an elasticity is that of going from one value to its double: of 1, that doubles the "
    "metric; the slope at a point is what --method derivative gives."
)


def _make_end_reader(field: str) -> Callable[[Elasticity], str | None]:
    def read(item: Elasticity) -> str | None:
        value = getattr(item, field)
        return None if value is None else format_quantity(value, item.unit, 4)

    return read


ELASTICITIES = (
    Column("parameter"),
    Column("unit", media=DATA),
    Column("elasticity", _format_digits, "right", key="here"),
    Column("from", align="right", get=_make_end_reader("start"), media=TEXT),
    Column("to", align="right", get=_make_end_reader("end"), media=TEXT),
    *make_columns("start end why", media=DATA),
    *make_columns("least most mean overall", format=_format_digits, align="right"),
    Column("undefined", media=DATA),
    Column("no value", "share", get=lambda item: item.undefined or None, media=TEXT),
    Column("formula", get=lambda item: item.formula and text_if_short(item.formula), media=JSON),
    Column("reason", media=JSON),
)


def _say_elasticities(result: tuple[Elasticity, ...], unit: str) -> Said:
    left_out = {
        "no value": not any(item.undefined for item in result),
        **dict.fromkeys(("from", "to"), not any(item.why for item in result)),
    }
    heads = [column for column in ELASTICITIES if not left_out.get(column.header)]
    stepped = any(item.why == "steps" for item in result)
    others = {item.why: item.parameter for item in result if item.why not in (None, "steps")}
    notes = (
        EXPLAINED + (STEPPED if stepped else ""),
        *(f"{name} and the like: differences, because there is {why}." for why, name in others.items()),
        *(f"Left out: {item.reason}" for item in result if item.reason),
    )
    return {"method": "elasticity"}, (make_table(heads, result, "elasticities"), *map(Paragraph, notes))


def _effects(result: Effects, unit: str) -> Said:
    numbers = make_columns("sensitivity normalised", format=_format_digits, align="right")
    names = (
        Column("parameter", get=lambda effect: effect.parameters[0], media=TEXT + CSV),
        Column("and", get=lambda effect: dict(enumerate(effect.parameters)).get(1), media=TEXT + CSV),
        Column("parameters", media=JSON),
    )
    heads = (*names, *make_columns("least most", unit=unit), *numbers)
    change = Column("for each 100 %", _format_digits, "right", key="per_change", media=TEXT + JSON)
    beyond = Column("beyond one", _format_digits, "right", key="beyond", media=TEXT + JSON)
    parts = (
        make_table((names[0], *heads[3:], change), result.singles, media=TEXT),
        make_table((*heads, beyond), result.pairs, title="pairs", media=TEXT),
        make_table((*heads, change, beyond), (*result.singles, *result.pairs), "effects", media=DATA),
    )
    return {"method": "normalised", "base": result.base}, parts


def _say_sobol(result: Sobol, unit: str) -> Said:
    def column(name: str, key: str) -> Column:
        return Column(name, _format_index, "right", key=key)

    heads = (
        Column("parameter"),
        Column("unit", media=DATA),
        column("first", "first"),
        column("+-", "first_confidence"),
        column("total", "total"),
        column("+-", "total_confidence"),
    )
    pairs = (
        Column("parameter", get=lambda item: item.parameters[0], media=TEXT),
        Column("and", get=lambda item: item.parameters[1], media=TEXT),
        Column("parameters", media=JSON),
        column("second", "second"),
        column("+-", "second_confidence"),
    )
    deviation, mean = make_formatter(unit)(result.variance**0.5), make_formatter(unit)(result.mean)
    said = f"{result.runs:,} runs; the {result.metric} is {mean} on average, its deviation {deviation}"
    data = {"method": "sobol", "runs": result.runs, "mean": result.mean, "variance": result.variance}
    parts = (
        make_table(heads, result.indices, "indices"),
        make_table(pairs, result.interactions, "interactions", title="only together"),
        Paragraph(said),
    )
    return data, parts


def _say_morris(result: Morris, unit: str) -> Said:
    heads = (
        Column("parameter"),
        Column("magnitude", unit=unit),
        Column("+-", unit=unit, key="confidence"),
        *make_columns("mean deviation", unit=unit),
    )
    said = f"{result.runs:,} runs; effects of going through the whole range"
    return {"method": "morris", "runs": result.runs}, (make_table(heads, result.effects, "effects"), Paragraph(said))


_METHODS: dict[type, Callable[[Any, str], Said]] = {
    Elasticities: _say_elasticities,
    Effects: _effects,
    Sobol: _say_sobol,
    Morris: _say_morris,
}

# -- as a picture ----------------------------------------------------------------------------------

MOST_BARS = 20  # the strongest are drawn
SHORTEST = 0.005  # of the longest bar: less is no pixel


class Tornado(NamedTuple):
    """Bars around an axis, the longest first: each a label, and where it begins and ends."""

    bars: tuple[tuple[str, float, float], ...]
    axis: float
    title: str


def tornado(result: Found, subject: str, unit: str) -> Tornado:
    """The extremes of a metric around its value where nothing varies; else bars from 0 to each index or elasticity."""
    if isinstance(result, Effects):
        bars = [(" and ".join(it.parameters), it.least, it.most) for it in (*result.singles, *result.pairs)]
        axis, title = result.base, f"{make_formatter(unit)(result.base)} where nothing varies"
    else:
        axis, title, values = 0.0, "elasticity", []
        if isinstance(result, Sobol):
            title, values = "share of the variance in all", [(it.parameter, it.total) for it in result.indices]
        elif isinstance(result, Morris):
            title, values = "mean elementary effect", [(it.parameter, it.magnitude) for it in result.effects]
        else:
            values = [(it.parameter, it.here or 0.0) for it in result]
        bars = [(label, min(value, 0.0), max(value, 0.0)) for label, value in values]
    return Tornado(tuple(sorted(bars, key=lambda bar: bar[1] - bar[2])), axis, f"{subject}: {title}")


@use_shared_style
def draw_sensitivity(result: Found, subject: str, unit: str) -> Any:
    """A matplotlib figure: a bar for each parameter, the longest on top. Bars shorter than a pixel are only counted."""
    from matplotlib.figure import Figure

    found = tornado(result, subject, unit)
    longest = max((high - low for _, low, high in found.bars), default=0.0)
    seen = [bar for bar in found.bars if bar[2] - bar[1] > SHORTEST * longest] or found.bars
    bars = seen[:MOST_BARS][::-1]
    figure = Figure(figsize=(7, 1.2 + 0.26 * max(3, len(bars))), layout="constrained")
    axes = figure.add_subplot()
    for index, (_, low, high) in enumerate(bars):
        left, right = min(low, found.axis), max(high, found.axis)
        axes.barh(index, found.axis - left, left=left, height=0.62, **EDGE, **FILLS[0])
        axes.barh(index, right - found.axis, left=found.axis, height=0.62, **EDGE, **FILLS[4])
    axes.axvline(found.axis, color="black", linewidth=1)
    axes.set_yticks(range(len(bars)), [drop_middle(label) for label, _, _ in bars])
    axes.set_ylim(-0.6, max(3, len(bars)) - 0.4)
    axes.use_sticky_edges = False  # else a bar that begins or ends at the frame looks cut
    axes.margins(x=0.06)
    if len(bars) < len(found.bars):
        axes.set_xlabel(f"{len(found.bars) - len(bars)} more have shorter bars", color=GREY, loc="left")
    lowest, highest = min(low for _, low, _ in bars), max(high for _, _, high in bars)
    if isinstance(result, Effects) and lowest > 0 and highest > 100 * lowest:
        axes.set_xscale("log")
    label_axis(axes.xaxis, unit if isinstance(result, Effects | Morris) else "")
    axes.grid(visible=False, axis="y")
    set_title(axes, found.title)
    return figure
