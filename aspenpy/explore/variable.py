"""Variable: what may be varied and how: a real number, a whole number, or one of several choices."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy

from aspenpy.answers.prediction import Prediction
from aspenpy.engine.arrays import Floats
from aspenpy.expr.counts import counts_accepted_by_all
from aspenpy.expr.graph import Expr, free_symbols
from aspenpy.language.axis import Axis, Extent, parse_axis, read_literal
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import BYTES, format_quantity, unit_symbol
from aspenpy.language.source import Span
from aspenpy.record import Record
from aspenpy.sweeps.declarations import (
    base_value,
    find_declaration,
    is_count,
    parameter_dimension,
    plain_number,
    rank_counts,
)

Kind = Literal["real", "whole", "choice"]

CASES = ("machine", "socket")  # variables that are no parameters: each choice is a prediction of its own

MOST_WHOLE = 10**6
"""A declared range of more whole numbers than this is gone over as real numbers, unless `:whole` is said."""

MOST_CHOICES = 10**4
"""Numbers of ranks that a program accepts, where they are listed."""


class Variable(Record):
    """A variable from `low` to `high`; a `choice` is one of `choices`, which are called `labels`. `base` is its value
    where nothing is varied, in the same terms (of a machine or socket: the place among the choices). One that is
    `countable` has whole values only, even where it is `real` because there are too many to go through. Each choice of
    a `case` is a prediction of its own, as of machines and sockets."""

    name: str
    kind: Kind
    low: float
    high: float
    base: float
    choices: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    unit: str = ""
    logarithmic: bool = False
    countable: bool = False
    case: bool = False

    @property
    def sampled(self) -> Variable:
        """The variable for a trial of values instead of a search: a parameter that counts something has whole values,
        however many there are."""
        return self.replace(kind="whole") if self.countable else self

    @property
    def size(self) -> int | None:
        """Number of its values; None for a real one."""
        if self.kind == "choice":
            return len(self.choices)
        return int(self.high - self.low) + 1 if self.kind == "whole" else None

    @property
    def values(self) -> Floats:
        """All values of a variable that is whole or a choice."""
        return numpy.array(self.choices) if self.kind == "choice" else numpy.arange(self.low, self.high + 1)

    def values_at(self, places: Floats) -> Floats:
        """The values at places of the unit interval; equal parts of it for each of finitely many values."""
        if self.kind == "choice":
            return cast(Floats, numpy.array(self.choices)[_part_of_interval(places, len(self.choices))])
        if self.kind == "whole" and not self.logarithmic:
            return cast(Floats, self.low + _part_of_interval(places, int(self.high - self.low) + 1))
        values: Floats = self.extent.value(places)
        if not self.logarithmic:
            return values
        return numpy.clip(numpy.rint(values) if self.kind == "whole" else values, self.low, self.high)

    @property
    def extent(self) -> Extent:
        """The range, with its scale."""
        return Extent(self.low, self.high, self.logarithmic)

    def place(self, value: float) -> float:
        """Position of a real variable's value in the unit interval."""
        return self.extent.place(value)

    def grid(self, most: int) -> Floats:
        """Values, `most` at most, from one end to the other, both included."""
        if self.size is not None and self.size <= most:
            return self.values
        return numpy.unique(self.values_at(numpy.linspace(0, 1, most)))

    def label_value(self, value: float) -> float | str:
        """The value as a number, or as its label where it has one."""
        return self.in_words(value) if self.labels else (int if self.sampled.kind == "whole" else float)(value)

    def in_words(self, value: float) -> str:
        """The value as a reader wants it."""
        if self.labels:
            return self.labels[int(numpy.argmin(abs(numpy.array(self.choices) - value)))]
        whole = self.kind == "whole" or (self.countable and not self.unit)
        return f"{int(value):,}" if whole else format_quantity(float(value), self.unit, 4)


def _part_of_interval(places: Floats, count: int) -> Any:
    return numpy.clip(numpy.floor(places * count), 0, count - 1).astype(numpy.intp)


# -- as they are asked for -------------------------------------------------------------------------


def case_variable(axis: Axis) -> Variable:
    """The machines or sockets that an axis lists."""
    labels = tuple(item.text() for item in axis.items)
    if not labels:
        fail("bad-variable", f"`{axis}` has no values", axis.span, hint=f"name them: {axis}=A,B")
    if len({*labels}) < len(labels):
        fail("bad-variable", f"`{axis}` lists a value twice", axis.span)
    places = tuple(map(float, range(len(labels))))
    return Variable(axis.name, "choice", 0.0, len(labels) - 1.0, base=0.0, choices=places, labels=labels, case=True)


def read_variable(axis: Axis | str, prediction: Prediction) -> Variable:
    """The parameter that `n`, `n=1..100`, `n=1..1e6:log:whole` or `n=1,2,4` lets vary."""
    axis = parse_axis(axis) if isinstance(axis, str) else axis
    if axis.count is not None or axis.spacing == "pow2":
        fail("bad-axis", f"`{axis}` varies over its range, not over certain points of it", axis.span)
    if axis.items:
        return _variable_from_list(axis, prediction)
    if axis.low is not None and axis.high is not None:
        low, high = (value_of_end(axis.name, end, prediction) for end in (axis.low, axis.high))
        return _apply_options(_infer_variable(axis.name, low, high, prediction), axis)
    ranged = variable_from_range(axis.name, prediction)
    if ranged is None:
        hint = f"give it one: {axis}=LOW..HIGH or {axis}=1,2,4"
        fail("no-range", f"`{axis}` declares no range", axis.span, hint=hint)
    return _apply_options(ranged, axis)


def _apply_options(variable: Variable, axis: Axis) -> Variable:
    if axis.spacing == "log":
        if variable.low <= 0:
            message = f"`{variable.name}` cannot go from {variable.low:.6g} in equal ratios"
            fail("bad-range", message, axis.span, hint="begin above 0")
        variable = variable.replace(logarithmic=True)
    if axis.whole is not None:
        variable = variable.replace(kind="whole" if axis.whole else "real", countable=axis.whole)
    return _check_variable(variable)


def _check_variable(variable: Variable) -> Variable:
    if variable.kind == "whole":
        variable = variable.replace(low=float(numpy.ceil(variable.low)), high=float(numpy.floor(variable.high)))
    if not variable.low < variable.high and variable.kind != "choice":
        what = "is empty" if variable.low > variable.high else "holds a single value"
        message = f"the range of `{variable.name}` {what}: from {variable.low:.6g} to {variable.high:.6g}"
        fail("empty-range", message, hint="the lower end comes first" if variable.low > variable.high else None)
    if not numpy.isfinite(variable.high - variable.low):
        ends = f"{variable.low:.6g} to {variable.high:.6g}"
        message = f"the range of `{variable.name}` is too wide for double precision: {ends}"
        fail("bad-range", message, hint="name a smaller range")
    return variable


def _variable_from_list(axis: Axis, prediction: Prediction) -> Variable:
    name, labels = axis.name, tuple(item.text() for item in axis.items)
    choices = tuple(value_of_end(name, item, prediction) for item in axis.items)
    if len({*choices}) < len(choices):
        fail("bad-variable", f"`{name}` lists a value twice", axis.span)
    dimension = parameter_dimension(name, prediction)
    unit = "" if dimension is None else unit_symbol(dimension)
    low, high, base = min(choices), max(choices), base_value(name, prediction)
    return Variable(name, "choice", low, high, base=base, choices=choices, labels=labels, unit=unit)


def value_of_end(name: str, span: Span, prediction: Prediction) -> float:
    """The value that the parameter would have if it was set so."""
    if (literal := read_literal(span)) is not None:
        return literal
    probe = Prediction(prediction.case.with_set({name: span.text()}))
    return plain_number(probe.scope.values([probe.scope.symbol(name)], probe.seed)[0], name)


# -- as models declare them ------------------------------------------------------------------------


def variable_from_range(name: str, prediction: Prediction) -> Variable | None:
    """The parameter over the range or the enum that its model declares; None where it declares neither."""
    declaring = find_declaration(name, prediction)
    if declaring is None:
        return None
    if declaring.members:
        places = tuple(map(float, range(len(declaring.members))))
        base = base_value(name, prediction)
        return Variable(name, "choice", 0.0, places[-1], base=base, choices=places, labels=declaring.members)
    if declaring.low is None or declaring.high is None:
        return None
    low, high = (
        plain_number(end, name) for end in prediction.scope.values([declaring.low, declaring.high], prediction.seed)
    )
    return _check_variable(_infer_variable(name, low, high, prediction))


def _infer_variable(name: str, low: float, high: float, prediction: Prediction) -> Variable:
    """The variable of a range: whole where the value and both ends are, without a unit, and few enough lie between."""
    base = base_value(name, prediction)
    dimension = parameter_dimension(name, prediction)
    countable = all(is_count(value, dimension) for value in (base, low, high))
    unit = "" if dimension is None else unit_symbol(dimension)
    whole = countable and dimension != BYTES and high - low < MOST_WHOLE
    return Variable(name, "whole" if whole else "real", low, high, base, unit=unit, countable=countable)


def takes_whole(name: str, prediction: Prediction) -> bool:
    """Whether a parameter counts something, or has a whole number for a value and for both ends of its range, without a
    unit."""
    if prediction.scope.is_count(name):
        return True
    ranged = variable_from_range(name, prediction)
    return ranged is not None and ranged.kind != "choice" and ranged.countable and not ranged.unit


def declared_variables(prediction: Prediction, exprs: list[Expr]) -> list[Variable]:
    """The parameters that the expressions depend on and that declare a range or an enum, save those that were set."""
    scope = prediction.scope
    names = [scope.display_name(used) for used in scope.used_parameters(exprs) if used not in scope.overridden]
    names = [name for name in names if "." not in name or name in prediction.application.parameters]
    variables = (
        variable_from_range(name, prediction) for name in names if find_declaration(name, prediction) is not None
    )
    return [_limit_ranks(item, prediction) for item in variables if item is not None]


def _limit_ranks(variable: Variable, prediction: Prediction) -> Variable:
    """A number of ranks over those that the machine takes and the program accepts: over the whole of a declared range,
    up to a million, next to no run would have a value."""
    where, scope = prediction.tree.residence.where, prediction.scope
    places = where.ranks.places if where.ranks is not None else where.core.count if where.core is not None else None
    counted = set().union(*map(free_symbols, where.rank_counts))
    if places is None or scope.symbol(variable.name) not in counted or variable.kind == "choice":
        return variable
    taken = float(scope.values([places], prediction.seed)[0])
    high = max(min(variable.high, taken), variable.base)
    rule = rank_counts(prediction, variable.name)
    accepted = [] if rule is None else counts_accepted_by_all([rule], int(variable.low), int(high))
    if 1 < len(accepted) <= MOST_CHOICES:
        choices, labels = tuple(map(float, accepted)), tuple(f"{each:,}" for each in accepted)
        return variable.replace(kind="choice", low=choices[0], high=choices[-1], choices=choices, labels=labels)
    return variable.replace(high=high) if variable.low < high else variable
