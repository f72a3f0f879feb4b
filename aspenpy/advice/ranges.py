"""Ranges: between which values each hardware component of a machine is varied, and who says so.

Section 4.3.3 of Umar's dissertation (Virginia Tech, 2018): by the system's own specification, as its tools tell it on
this host or in saved output (listing 4.1), or by the manufacturer's values with variations by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy

from aspenpy.advice.configurable import ComponentParameter, Configurable
from aspenpy.advice.configuration import COMPONENTS, ComponentRange, HardwareComponent, RangeSource
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.explore.variable import Kind, Variable
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.axis import Axis, parse_axis, read_literal
from aspenpy.language.diagnostics import AspenError, fail, require_known
from aspenpy.language.dimensions import describe_dimension, format_quantity, parse_unit
from aspenpy.language.infer import dimension_of
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Span

VOLT = "V"  # a unit that the language does not have
WIDER = 2.0
"""Factor between the machine's value and either end of a range that nobody states. The range of what can only be turned
down ends at the machine's value."""

EVERY = ("all",)  # in place of components: all that the machine states, whether somebody can turn them or not


def ranges_of(
    machine: Configurable, wanted: Sequence[str] = (), system: Iterable[SystemRange] = ()
) -> tuple[ComponentRange, ...]:
    """The ranges of the `wanted` components, each a name or `NAME=LOW..HIGH` or `NAME=1,2,4`; where none is named, of
    those that somebody can turn; for `EVERY`, of all that the machine states.

    Of several ranges of a component the first of these holds: the user's own, the system's, the one that the machine
    declares, the widened value of the machine. Raises AspenError for a range that is empty or unphysical.
    """
    named = () if tuple(wanted) == EVERY else wanted
    axes = {axis.name: axis for axis in (parse_axis(text, "<--vary>") for text in named)}
    for axis in axes.values():
        message = f"there is no hardware component `{axis.name}`"
        require_known(axis.name, COMPONENTS, "unknown-component", message, axis.name_span or axis.span)
        if axis.name in machine.absent:
            hint = "it states " + ", ".join(item.component for item in machine.parameters)
            fail("no-such-component", f"`{machine.machine.name}` states no `{axis.name}`", axis.span, hint=hint)
    ranges_of_system = {item.component: item for item in system}
    chosen = [item for item in machine.parameters if item.component in axes]
    if not axes:
        chosen = [
            item for item in machine.parameters if wanted or item.component in ranges_of_system or may_be_changed(item)
        ]
    ranges = (_range_of(item, axes.get(item.component), ranges_of_system.get(item.component)) for item in chosen)
    return tuple(item for item in ranges if item is not None)


def may_be_changed(parameter: ComponentParameter) -> bool:
    """Whether somebody can change it on a machine that is there, or buy another part that the machine's range says."""
    component = COMPONENTS[parameter.component]
    return bool(component.turned) and not parameter.soldered and (component.down or parameter.low is not None)


def _range_of(parameter: ComponentParameter, axis: Axis | None, of_system: SystemRange | None) -> ComponentRange | None:
    component = COMPONENTS[parameter.component]
    if axis is not None and axis.items:
        return _range_from_list(component, parameter, axis)
    if axis is not None and axis.low is not None and axis.high is not None:
        low, high = (_number(end, component.unit) for end in (axis.low, axis.high))
        _require_range(component, low, high, axis.span)
        return ComponentRange(
            component.name,
            _variable(component, parameter, low, high),
            *_setting_and_factor(parameter),
            "user",
            "--vary",
        )
    if of_system is not None:
        _require_range(component, of_system.low, of_system.high, span=None)
        variable = _variable(component, parameter, of_system.low, of_system.high)
        return ComponentRange(component.name, variable, *_setting_and_factor(parameter), "system", of_system.origin)
    if parameter.low is not None and parameter.high is not None:
        return _cut(component, parameter, (parameter.low, parameter.high), "machine", f"`{parameter.sets}` declares it")
    return _widen_range(component, parameter)


def _widen_range(component: HardwareComponent, parameter: ComponentParameter) -> ComponentRange | None:
    """Half to twice what the machine states, as far as it is sold; above what the machine states, extrapolated. What
    can be turned down goes no further than what the machine states: no part beyond it is known to fit."""
    if component.down:
        stated = format_quantity(parameter.base, component.unit)
        origin = f"half of the machine's {stated}, to that: {component.turned}; assumed"
        return _cut(component, parameter, (parameter.base / WIDER, parameter.base), "vendor", origin)
    origin = f"half to twice the machine's {format_quantity(parameter.base, component.unit)}"
    low, high = parameter.base / WIDER, parameter.base * WIDER
    if component.sold is not None and high > max(component.sold[0], parameter.base):
        high = max(component.sold[0], parameter.base)
        origin += f", at most {format_quantity(high, component.unit)} ({component.sold[1]})"
    return _cut(component, parameter, (low, high), "vendor", f"{origin}; extrapolated")


def _cut(
    component: HardwareComponent,
    parameter: ComponentParameter,
    ends: tuple[float, float],
    source: RangeSource,
    origin: str,
) -> ComponentRange | None:
    """A range cut at what is physical; None where that leaves one value."""
    least, most = component.physical
    low, high = max(least, ends[0]), min(most, ends[1])
    if component.steps == "whole":
        low, high = float(numpy.ceil(low)), float(numpy.floor(high))
    if not low < high:
        return None
    variable = _variable(component, parameter, low, high)
    return ComponentRange(component.name, variable, *_setting_and_factor(parameter), source, origin)


def _setting_and_factor(parameter: ComponentParameter) -> tuple[str, float]:
    """The parameter of the machine that sets a component, and the component's unit in that of the parameter."""
    return parameter.sets, parameter.factor


def _variable(component: HardwareComponent, parameter: ComponentParameter, low: float, high: float) -> Variable:
    """The hardware component as a variable, in the component's unit. What goes by doublings is a choice among those of
    the machine's value."""
    if component.steps == "doubling":
        steps = numpy.arange(-60.0, 61.0)
        values = parameter.base * 2.0**steps
        inside = tuple(values[(values >= low * (1 - 1e-12)) & (values <= high * (1 + 1e-12))].tolist())
        if len(inside) > 1:
            return _choice(component, parameter, inside)
    kind: Kind = "whole" if component.steps == "whole" else "real"
    return Variable(component.name, kind, low, high, parameter.base, unit=component.unit)


def _choice(component: HardwareComponent, parameter: ComponentParameter, values: tuple[float, ...]) -> Variable:
    labels = tuple(format_quantity(value, component.unit) for value in values)
    low, high, base = min(values), max(values), parameter.base
    return Variable(component.name, "choice", low, high, base=base, choices=values, labels=labels, unit=component.unit)


def _range_from_list(component: HardwareComponent, parameter: ComponentParameter, axis: Axis) -> ComponentRange:
    values = tuple(_number(item, component.unit) for item in axis.items)
    if len({*values}) < len(values):
        fail("bad-variable", f"`{axis.name}` lists a value twice", axis.span)
    _require_physical(component, min(values), max(values), axis.span)
    return ComponentRange(
        component.name, _choice(component, parameter, values), *_setting_and_factor(parameter), "user", "--vary"
    )


# -- what a range may not be -----------------------------------------------------------------------


def _require_range(component: HardwareComponent, low: float, high: float, span: Span | None) -> None:
    if not low < high:
        what = "is empty" if low > high else "holds a single value"
        ends = f"from {format_quantity(low, component.unit)} to {format_quantity(high, component.unit)}"
        hint = "the lower end comes first" if low > high else "one value is set by --set, not varied"
        fail("empty-range", f"the range of `{component.name}` {what}: {ends}", span, hint=hint)
    _require_physical(component, low, high, span)


def _require_physical(component: HardwareComponent, low: float, high: float, span: Span | None) -> None:
    least, most = component.physical
    if least <= low and high <= most:
        return
    worst = low if low < least else high
    limits = f"{format_quantity(least, component.unit)} to {format_quantity(most, component.unit)}"
    message = f"`{component.name}` cannot be {format_quantity(worst, component.unit)}: hardware has {limits}"
    fail("unphysical-range", message, span, hint=component.source)


def _number(span: Span, unit: str) -> float:
    """A number, or a quantity in units of that dimension. Raises AspenError for anything else."""
    plain = read_literal(span)
    if plain is not None:
        return plain
    try:
        node = parse_value(span.text(), "<--vary>")
        dimension = None if isinstance(node, nodes.Array) else dimension_of(node, lambda name: None)
        value = float(evaluate(Lowering(_constant, {})(node)))
    except (AspenError, EvaluationError, TypeError, OverflowError):
        fail("bad-value", f"expected a quantity such as 1.2GHz, not `{span.text()}`", span)
    wanted = parse_unit(unit).dimension if unit and unit != VOLT else None
    if wanted is not None and dimension is not None and dimension != wanted:
        fail(
            "bad-value",
            f"expected {describe_dimension(wanted)}, not {describe_dimension(dimension)}: `{span.text()}`",
            span,
        )
    return value


def _constant(node: nodes.Name) -> Expr:
    """Value of a name where no model is given: a constant of the language."""
    return constant_value(node.name) or graph.failure(node.name)
