"""Sensitivities as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspenpy.explore.methods import Result
from aspenpy.explore.sensitivity import Effects, Elasticity
from aspenpy.explore.variance import Morris, Sobol
from aspenpy.present.numbers import quantity, share
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table


def _digits(value: float) -> str:
    return f"{value + 0:.4g}"


def page(result: Result, subject: str, unit: str) -> Page:
    """`subject` is what was asked: `runtime of comd on haswell`; `unit` that of the metric."""
    return Title(_title(result, subject)), *_PAGES[type(result)](result, unit)


def _title(result: Result, subject: str) -> str:
    first = next(iter(_names(result)), None)
    return f"{subject}: depends on nothing that varies" if first is None else f"{subject}: moves most with {first}"


def _names(result: Result) -> list[str]:
    if isinstance(result, Effects):
        return [effect.parameters[0] for effect in result.singles if effect.sensitivity]
    rows = result.indices if isinstance(result, Sobol) else result.effects if isinstance(result, Morris) else result
    return [row.parameter for row in rows]


def _elasticity(result: tuple[Elasticity, ...], unit: str) -> Page:
    columns = [
        Column("parameter"),
        *(Column(name, _digits, "right") for name in ("elasticity", "least", "most", "mean", "overall")),
    ]
    some = any(item.undefined for item in result)
    columns += [Column("no value", share, "right")] if some else []
    rows = tuple(
        (
            item.parameter,
            item.here,
            item.least,
            item.most,
            item.mean,
            item.overall,
            *([item.undefined or None] if some else []),
        )
        for item in result
    )
    return Table(tuple(columns), rows), Paragraph(EXPLAINED)


EXPLAINED = (
    "An elasticity of 2 is the square: 1 % more of the parameter makes 2 %. Least, most, the mean magnitude, and "
    "overall, from end to end, are over the parameter's range, all else as it is; only overall sees steps."
)


def _effects(result: Effects, unit: str) -> Page:
    amount = quantity(unit)
    head = (Column("least", amount, "unit"), Column("most", amount, "unit"))
    numbers = (Column("sensitivity", _digits, "right"), Column("normalised", _digits, "right"))
    singles = Table(
        (Column("parameter"), *head, *numbers, Column("for each 100 %", _digits, "right")),
        tuple((e.parameters[0], e.least, e.most, e.sensitivity, e.normalised, e.per_change) for e in result.singles),
    )
    if not result.pairs:
        return (singles,)
    pairs = Table(
        (Column("parameter"), Column("and"), *head, *numbers, Column("beyond one", _digits, "right")),
        tuple((*e.parameters, e.least, e.most, e.sensitivity, e.normalised, e.beyond) for e in result.pairs),
        title="pairs",
    )
    return singles, pairs


def _sobol(result: Sobol, unit: str) -> Page:
    columns = [Column("parameter"), *(Column(name, _index, "right") for name in ("first", "+-", "total", "+-"))]
    rows = tuple(
        (item.parameter, item.first, item.first_confidence, item.total, item.total_confidence)
        for item in result.indices
    )
    deviation = quantity(unit)(result.variance**0.5)
    mean = quantity(unit)(result.mean)
    told = f"{result.runs:,} runs; the {result.metric} is {mean} on average, its deviation {deviation}"
    parts: list[Any] = [Table(tuple(columns), rows)]
    if result.interactions:
        pairs = (Column("parameter"), Column("and"), Column("second", _index, "right"), Column("+-", _index, "right"))
        inner = tuple((*item.parameters, item.second, item.second_confidence) for item in result.interactions)
        parts.append(Table(pairs, inner, title="only together"))
    return *parts, Paragraph(told)


def _index(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def _morris(result: Morris, unit: str) -> Page:
    amount = quantity(unit)
    names = ("magnitude", "+-", "mean", "deviation")
    columns = (Column("parameter"), *(Column(name, amount, "unit") for name in names))
    rows = tuple((e.parameter, e.magnitude, e.confidence, e.mean, e.deviation) for e in result.effects)
    return Table(columns, rows), Paragraph(f"{result.runs:,} runs; effects of going through the whole range")


_PAGES: dict[type, Callable[[Any, str], Page]] = {
    tuple: _elasticity,
    Effects: _effects,
    Sobol: _sobol,
    Morris: _morris,
}


# -- for programs ----------------------------------------------------------------------------------


def as_json(result: Result, unit: str) -> dict[str, Any]:
    """One object; numbers in the metric's unit, formulas as text in the language."""
    if isinstance(result, Effects):
        effects = [
            {
                "parameters": list(e.parameters),
                "least": e.least,
                "most": e.most,
                "sensitivity": e.sensitivity,
                "normalised": e.normalised,
                "per_change": e.per_change,
                "beyond": e.beyond,
            }
            for e in (*result.singles, *result.pairs)
        ]
        return {"method": "normalised", "base": result.base, "unit": unit, "effects": effects}
    table = records(result)
    rows = [dict(zip([column.header for column in table.columns], row, strict=True)) for row in table.rows]
    if isinstance(result, tuple):
        for row, item in zip(rows, result, strict=True):
            row["formula"] = str(item.formula)
        return {"method": "elasticity", "unit": unit, "elasticities": rows}
    if isinstance(result, Morris):
        return {"method": "morris", "unit": unit, "runs": result.runs, "effects": rows}
    pairs = [
        {"parameters": list(item.parameters), "second": item.second, "second_confidence": item.second_confidence}
        for item in result.interactions
    ]
    return {
        "method": "sobol",
        "unit": unit,
        "runs": result.runs,
        "mean": result.mean,
        "variance": result.variance,
        "indices": rows,
        "interactions": pairs,
    }


_FIELDS: dict[type, tuple[str, ...]] = {
    tuple: ("parameter", "here", "least", "most", "mean", "overall", "undefined"),
    Sobol: ("parameter", "first", "first_confidence", "total", "total_confidence"),
    Morris: ("parameter", "magnitude", "confidence", "mean", "deviation"),
}


def records(result: Result) -> Table:
    """Of the CSV form: a row for each parameter, and for each pair."""
    if isinstance(result, Effects):
        headers = ("parameter", "and", "least", "most", "sensitivity", "normalised")
        rows = tuple(
            (
                e.parameters[0],
                e.parameters[1] if len(e.parameters) > 1 else None,
                e.least,
                e.most,
                e.sensitivity,
                e.normalised,
            )
            for e in (*result.singles, *result.pairs)
        )
        return Table(tuple(map(Column, headers)), rows)
    fields = _FIELDS[type(result)]
    items: Any = (
        result.indices if isinstance(result, Sobol) else result.effects if isinstance(result, Morris) else result
    )
    return Table(tuple(map(Column, fields)), tuple(tuple(getattr(item, name) for name in fields) for item in items))
