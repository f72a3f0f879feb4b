"""Warnings of accesses that make no whole number of sweeps of their patterns, or whose loops walk beyond their data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.patterns import Affine, Stencil
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import as_term
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity

SLACK = 1e-6  # the part of a sweep that rounding may make


def warn_of_uneven_sweeps(prediction: Evaluation, accesses: Iterable[Access]) -> list[Diagnostic]:
    """A warning for each access of which it is certain."""
    sizes = {name: data.size for name, data in prediction.application.data.items()}
    return warn_of_sweeps(accesses, sizes, lambda ratio: prediction.scope.values([ratio], prediction.seed)[0])


def warn_of_sweeps(
    accesses: Iterable[Access], sizes: Mapping[str, Expr], value: Callable[[Expr], Any]
) -> list[Diagnostic]:
    """The warnings, with the sizes of data structures in bytes and with what gives an expression its value."""
    warnings = []
    for access in accesses:
        warnings += _warn_of_walk_beyond(access, sizes, value)
        sweeps = _number_of_sweeps(access, value)
        if sweeps and abs(sweeps - round(sweeps)) > SLACK * max(1, sweeps):
            warnings.append(_warn_of_uneven(access, sweeps))
            if isinstance(access.pattern, Stencil):
                layers = _value(access.pattern.extents[-1], value)
                warnings += _warn_of_thin(access, None if layers is None else sweeps * layers)
    return warnings


def _number_of_sweeps(access: Access, value: Callable[[Expr], Any]) -> float | None:
    """The number of sweeps; None where the pattern does not say, or where that depends on a loop or on who calls the
    kernel."""
    return None if access.sweep is None else _value(graph.div(access.accesses, access.sweep), value)


def _value(quotient: Expr, value: Callable[[Expr], Any]) -> float | None:
    try:
        ratio = value(as_term(quotient).expression())
    except (AspenError, EvaluationError):
        return None  # a value that is missing is an error of its own where it is needed
    return float(ratio) if isinstance(ratio, int | float | Fraction) else None


BEYOND = 2
"""A nest that reaches over so many times its data is told: what is less may be a rim that a model leaves out."""


def _warn_of_walk_beyond(access: Access, sizes: Mapping[str, Expr], value: Callable[[Expr], Any]) -> list[Diagnostic]:
    """A `stream` starts anew at the end of its data; the loops of a nest go where they say."""
    need, pattern = access.requirement, access.pattern
    size = sizes.get(need.target or "")
    if size is None or not isinstance(pattern, Affine) or not pattern.has_own_loops:
        return []
    reach = pattern.nest.word + graph.add(*(loop.stride * (loop.trips - 1) for loop in pattern.nest.longest))
    times = _value(graph.div(reach, size), value)
    if times is None or times < BEYOND:
        return []
    message = f"the nest of `{need.resource}` walks over {times:.3g} times the bytes of `{need.target}`"
    has = _value(size, value)
    known = "" if has is None else f"`{need.target}` has {format_quantity(has, 'B')}; "
    hint = f"{known}a loop of stride 0 goes over the same data again, as the last in `nest(8, n, 0, passes)`"
    return [warning("walk-beyond-data", message, need.span, hint=hint)]


def _warn_of_thin(access: Access, layers: float | None) -> list[Diagnostic]:
    """Layer conditions count whole layers: below one, simulated caches miss two to four times less often."""
    if layers is None or layers >= 1 - SLACK:
        return []
    need = access.requirement
    message = f"`{need.resource}` covers less than one layer of its stencil: its misses are overestimated several times"
    hint = f"it is {layers:.3g} of a layer along the last extent; access at least one layer, or give a smaller grid"
    return [warning("thin-stencil", message, need.span, hint=hint)]


def _warn_of_uneven(access: Access, sweeps: float) -> Diagnostic:
    need = access.requirement
    assert access.sweep is not None
    message = f"`{need.resource}` makes {sweeps:.3g} sweeps of its pattern, not a whole number"
    hint = f"one sweep makes {to_text(access.sweep)} accesses"
    return warning("uneven-sweeps", message, need.span, hint=hint)
