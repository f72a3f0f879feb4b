"""Headroom: what a power cap leaves for work, and how much longer work takes that needs more.

    T' = max(T, E / (cap - P))

E are the joules that a block's work takes whenever it is done, P the watts that its socket consumes for as long as it
takes: Choi, Dukhan, Liu and Vuduc, "Algorithmic time, energy, and power on candidate HPC compute building blocks",
IPDPS 2014, where usable power bounds the rates of a roofline, with all that is constant in P.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.energy.term import EnergyTerm, Key
from aspenpy.cost.value_mistakes import BoundMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application.total import sum_terms

CAP = "power_cap"


class Headroom:
    """The cap of one kind of socket: the machine's `power_cap`, or the one that was asked for; None is no cap."""

    def __init__(self, power_tree: PowerTree, options: EnergyOptions) -> None:
        self.power_tree = power_tree
        self.cap: Expr | None = None
        if options.limited:
            self.cap = power_tree.read_property(CAP, "power") if options.cap is None else graph.to_expr(options.cap)
        component = power_tree.central.component
        stated = component.properties.get(CAP if options.cap is None else "idle_power")
        self.span = component.name_span if stated is None else stated.span

    def waiting(
        self,
        terms: Mapping[Key, EnergyTerm],
        numbers: Mapping[Key, Expr],
        work: Mapping[Key, Expr],
        sockets: Expr,
        time: Expr,
    ) -> Expr:
        """Seconds by which a power cap lengthens a block of `time` seconds on `sockets` sockets. `numbers` has how
        often each term that is charged by time is consumed at once, `work` the amounts of the terms charged by work."""
        if self.cap is None:
            return graph.ZERO
        constant = [
            graph.mul(terms[key].rate, number)
            for key, number in numbers.items()
            if self.power_tree.feeds(terms[key].path)
        ]
        joules = [
            graph.mul(terms[key].rate, amount) for key, amount in work.items() if self.power_tree.feeds(terms[key].path)
        ]
        needed = graph.div(
            sum_terms(joules), graph.mul(sockets, self._watts_left(self.cap, graph.div(sum_terms(constant), sockets)))
        )
        return graph.apply("max", graph.ZERO, graph.sub(needed, time))

    def _watts_left(self, cap: Expr, constant: Expr) -> Expr:
        """Watts that one socket has for work, refused where there are none."""
        message = f"the power cap of `{self.power_tree.central.component.name}` is not above the power without work"
        mistake = BoundMistake(
            code="no-headroom",
            message=message,
            span=self.span,
            hint="the cap must exceed `idle_power` and all else that the socket consumes without work",
            value=constant,
            bound=cap,
            numbers=f"{message}, {{}} W: it is {{}} W",
        )
        return graph.if_else(graph.compare("<", constant, cap), graph.sub(cap, constant), graph.failure(mistake))
