"""Power: the watts that the components of a machine declare, idle and on top of that at full load.

They are declared by `static power [..]` and `dynamic power [..]`, or by the properties `idle` and `tdp`, of which the
second is what full load draws in all (Umar, dissertation 2018, equation 3.6).
"""

from __future__ import annotations

from typing import Literal

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.lower import Origins
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Component, Machine
from aspenpy.record import Record

Kind = Literal["static", "dynamic"]

HOW = "write `static power [10 W]` and `dynamic power [120 W]`, or the properties `idle` and `tdp`"


class Power(Record):
    """What one component of a kind draws, in watts: `static` always, `dynamic` on top of that at full load. None
    where the machine does not say."""

    component: Component
    static: Expr | None
    dynamic: Expr | None
    static_span: Span | None
    dynamic_span: Span | None

    @property
    def declared(self) -> bool:
        return self.static is not None or self.dynamic is not None


def powers(machine: Machine, origins: Origins) -> dict[str, Power]:
    """The power of every component by its name. Values that a power may not have are refused when they are asked for;
    `origins` learns where they are written."""
    return {name: power_of(machine, component, origins) for name, component in machine.components.items()}


def power_of(machine: Machine, component: Component, origins: Origins) -> Power:
    """The power of one component. Raises AspenError where it is declared twice, or its `tdp` without idle power."""
    node = next(node for node in reversed(machine.node.components) if node.name == component.name)
    spans: dict[str, Span | None] = {item.kind: item.span for item in node.items if isinstance(item, nodes.PowerDraw)}
    watts: dict[str, Expr] = dict(component.power)
    for kind, name in (("static", "idle"), ("dynamic", "tdp")):
        found = component.properties.get(name)
        if found is None or found.value is None:
            continue
        if kind in watts:
            message = f"{component.type} `{component.name}` declares its {kind} power and its `{name}`"
            related = (Related(spans[kind], f"the {kind} power is here"),)
            fail("power-twice", message, found.span, related=related, hint="keep one of them")
        watts[kind], spans[kind] = found.symbol, found.span
    return Power(
        component,
        _checked("power", watts.get("static"), spans.get("static"), origins),
        _checked("design_power", _dynamic(component, watts), spans.get("dynamic"), origins),
        spans.get("static"),
        spans.get("dynamic"),
    )


def _dynamic(component: Component, watts: dict[str, Expr]) -> Expr | None:
    """A `tdp` holds the idle power as well (equation 3.6)."""
    full = watts.get("dynamic")
    if full is None or "dynamic" in component.power:
        return full
    if "static" not in watts:
        message = f"{component.type} `{component.name}` declares its `tdp` and no idle power: what load adds is unknown"
        fail("no-power", message, component.properties["tdp"].span, hint="write `property idle [10 W]`")
    return graph.sub(full, watts["static"])


def _checked(law: str, watts: Expr | None, span: Span | None, origins: Origins) -> Expr | None:
    """The watts, refused where they are negative."""
    if watts is None:
        return None
    found = graph.checked(law, watts)
    if span is not None:
        origins[found] = span
    return found
