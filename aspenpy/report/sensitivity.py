"""Sensitivities as reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.explore.methods import Result
from aspenpy.explore.sensitivity import Effects
from aspenpy.explore.variance import Morris, Sobol
from aspenpy.tables.numbers import quantity
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Part, Report, columns, table


def _digits(value: float) -> str:
    return f"{value + 0:.4g}"


def _index(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def report(result: Result, subject: str, unit: str) -> Report:
    """`subject` is what was asked: `runtime of comd on haswell`; `unit` that of the metric."""
    first = next(iter(_names(result)), None)
    said = "depends on nothing that varies" if first is None else f"moves most with {first}"
    data, parts = _METHODS[type(result)](result, unit)
    return Report(f"{subject}: {said}", {"subject": subject, "unit": unit, **data}, parts)


def _names(result: Result) -> list[str]:
    if isinstance(result, Effects):
        return [effect.parameters[0] for effect in result.singles if effect.sensitivity]
    rows = result.indices if isinstance(result, Sobol) else result.effects if isinstance(result, Morris) else result
    return [row.parameter for row in rows]


Found = tuple[dict[str, Any], tuple[Part, ...]]
"""Values for programs, and parts."""

EXPLAINED = (
    "An elasticity of 2 is the square: 1 % more of the parameter makes 2 %. Least, most, the mean magnitude, and "
    "overall, from end to end, are over the parameter's range, all else as it is; only overall sees steps."
)

ELASTICITIES = (
    Column("parameter"),
    Column("elasticity", _digits, "right", key="here"),
    *columns("least most mean overall", format=_digits, align="right"),
    Column("undefined", media=DATA),
    Column("no value", "share", get=lambda item: item.undefined or None, media=TEXT),
    Column("formula", get=lambda item: str(item.formula), media=JSON),
)


def _elasticities(result: Any, unit: str) -> Found:
    some = any(item.undefined for item in result)
    heads = [column for column in ELASTICITIES if some or column.header != "no value"]
    return {"method": "elasticity"}, (table(heads, result, "elasticities"), Paragraph(EXPLAINED))


def _effects(result: Effects, unit: str) -> Found:
    numbers = columns("sensitivity normalised", format=_digits, align="right")
    names = (
        Column("parameter", get=lambda effect: effect.parameters[0], media=TEXT + CSV),
        Column("and", get=lambda effect: dict(enumerate(effect.parameters)).get(1), media=TEXT + CSV),
        Column("parameters", media=JSON),
    )
    heads = (*names, *columns("least most", unit=unit), *numbers)
    change = Column("for each 100 %", _digits, "right", key="per_change", media=TEXT + JSON)
    beyond = Column("beyond one", _digits, "right", key="beyond", media=TEXT + JSON)
    parts = (
        table((names[0], *heads[3:], change), result.singles, media=TEXT),
        table((*heads, beyond), result.pairs, title="pairs", media=TEXT),
        table((*heads, change, beyond), (*result.singles, *result.pairs), "effects", media=DATA),
    )
    return {"method": "normalised", "base": result.base}, parts


def _sobol(result: Sobol, unit: str) -> Found:
    def column(name: str, key: str) -> Column:
        return Column(name, _index, "right", key=key)

    heads = (
        Column("parameter"),
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
    deviation, mean = quantity(unit)(result.variance**0.5), quantity(unit)(result.mean)
    said = f"{result.runs:,} runs; the {result.metric} is {mean} on average, its deviation {deviation}"
    data = {"method": "sobol", "runs": result.runs, "mean": result.mean, "variance": result.variance}
    parts = (
        table(heads, result.indices, "indices"),
        table(pairs, result.interactions, "interactions", title="only together"),
        Paragraph(said),
    )
    return data, parts


def _morris(result: Morris, unit: str) -> Found:
    heads = (
        Column("parameter"),
        Column("magnitude", unit=unit),
        Column("+-", unit=unit, key="confidence"),
        *columns("mean deviation", unit=unit),
    )
    said = f"{result.runs:,} runs; effects of going through the whole range"
    return {"method": "morris", "runs": result.runs}, (table(heads, result.effects, "effects"), Paragraph(said))


_METHODS: dict[type, Callable[[Any, str], Found]] = {
    tuple: _elasticities,
    Effects: _effects,
    Sobol: _sobol,
    Morris: _morris,
}
