"""Sensitivities as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aspenpy.dimensions import readable
from aspenpy.explore.elasticity import Elasticity
from aspenpy.explore.methods import Result
from aspenpy.explore.sensitivity import Effects
from aspenpy.explore.space import Skipped
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
    leaders = _leaders(result)
    if not leaders:
        return f"{subject}: depends on nothing that varies"
    if len(leaders) == 1:
        return f"{subject}: moves most with {leaders[0]}"
    if isinstance(result, Sobol | Morris):
        return f"{subject}: moves most with {_joined(leaders, 'or')}, whose 95 % intervals overlap"
    return f"{subject}: moves most with {_joined(leaders, 'and')}, alike"


def _joined(names: Sequence[str], word: str) -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def _leaders(result: Result) -> tuple[str, ...]:
    """What the metric moves most with; several where they cannot be told apart."""
    if isinstance(result, Sobol | Morris):
        return result.leaders
    rows: list[tuple[str, float]]
    if isinstance(result, Effects):
        rows = [(effect.parameters[0], effect.sensitivity) for effect in result.singles]
    else:
        rows = [(item.parameter, item.rank) for item in result]
    most = max((value for _, value in rows), default=0.0)
    return tuple(name for name, value in rows if value and value >= most * (1 - ALIKE))


ALIKE = 1e-9
"""Ranks this close to each other are equal as far as rounding can tell."""


def _elasticity(result: tuple[Elasticity, ...], unit: str) -> Page:
    columns = [Column("parameter"), Column("elasticity", _digits, "right")]
    some_secants = any(item.why for item in result)
    columns += [Column(name, align="right") for name in (("from", "to") if some_secants else ())]
    columns += [Column(name, _digits, "right") for name in ("least", "most", "mean", "overall")]
    some = any(item.undefined for item in result)
    columns += [Column("no value", share, "right")] if some else []
    rows = tuple(
        (
            item.parameter,
            item.here,
            *(_ends(item) if some_secants else ()),
            *(item.least, item.most, item.mean, item.overall),
            *([item.undefined or None] if some else []),
        )
        for item in result
    )
    secants = any(item.why == "steps" for item in result)
    others = {item.why: item.parameter for item in result if item.why not in (None, "steps")}
    return (
        Table(tuple(columns), rows),
        Paragraph(EXPLAINED + (STEPPED if secants else "")),
        *(Paragraph(f"{name} and the like: differences, because there is {why}.") for why, name in others.items()),
        *(Paragraph(f"Left out: {item.reason}") for item in result if item.reason),
    )


def _ends(item: Elasticity) -> tuple[str | None, ...]:
    return tuple(None if end is None else readable(end, item.unit, 4) for end in (item.start, item.end))


EXPLAINED = (
    "An elasticity of 2 is the square: 1 % more of the parameter makes 2 %. Least, most, the mean magnitude, and "
    "overall, from end to end, are over the parameter's range, all else as it is."
)

STEPPED = (
    " Where the formula has steps, an elasticity is that of going from one value to its double: of 1, that doubles the "
    "metric; the slope at a point is what --method derivative gives."
)


def _left_out(skipped: Skipped | None) -> Page:
    if skipped is None:
        return ()
    points = f"{skipped.count:,} of {skipped.total:,} points have no value and are left out"
    return (Paragraph(f"{points}: {skipped.reason}"),)


def _effects(result: Effects, unit: str) -> Page:
    amount = quantity(unit)
    head = (Column("least", amount, "unit"), Column("most", amount, "unit"))
    numbers = (Column("sensitivity", _digits, "right"), Column("normalised", _digits, "right"))
    singles = Table(
        (Column("parameter"), *head, *numbers, Column("for each 100 %", _digits, "right")),
        tuple((e.parameters[0], e.least, e.most, e.sensitivity, e.normalised, e.per_change) for e in result.singles),
    )
    if not result.pairs:
        return singles, *_left_out(result.skipped)
    pairs = Table(
        (Column("parameter"), Column("and"), *head, *numbers, Column("beyond one", _digits, "right")),
        tuple((*e.parameters, e.least, e.most, e.sensitivity, e.normalised, e.beyond) for e in result.pairs),
        title="pairs",
    )
    return singles, pairs, *_left_out(result.skipped)


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
    return *parts, Paragraph(told), *_left_out(result.skipped)


def _index(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def _morris(result: Morris, unit: str) -> Page:
    amount = quantity(unit)
    names = ("magnitude", "+-", "mean", "deviation")
    columns = (Column("parameter"), *(Column(name, amount, "unit") for name in names))
    rows = tuple((e.parameter, e.magnitude, e.confidence, e.mean, e.deviation) for e in result.effects)
    told = Paragraph(f"{result.runs:,} runs; effects of going through the whole range")
    return Table(columns, rows), told, *_left_out(result.skipped)


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
        found = {"method": "normalised", "base": result.base, "unit": unit, "effects": effects}
        return found | _skipped(result.skipped)
    table = records(result)
    rows = [dict(zip([column.header for column in table.columns], row, strict=True)) for row in table.rows]
    if isinstance(result, tuple):
        for row, item in zip(rows, result, strict=True):
            row["formula"] = None if item.formula is None else str(item.formula)
            row["reason"] = item.reason
        return {"method": "elasticity", "unit": unit, "elasticities": rows}
    if isinstance(result, Morris):
        return {"method": "morris", "unit": unit, "runs": result.runs, "effects": rows} | _skipped(result.skipped)
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
    } | _skipped(result.skipped)


def _skipped(skipped: Skipped | None) -> dict[str, Any]:
    if skipped is None:
        return {}
    return {"skipped": {"points": skipped.count, "of": skipped.total, "reason": skipped.reason}}


_FIELDS: dict[type, tuple[str, ...]] = {
    tuple: ("parameter", "unit", "here", "start", "end", "why", "least", "most", "mean", "overall", "undefined"),
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
