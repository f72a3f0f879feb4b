"""Figures that machines are compared by: what all of their parts do together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aspenpy.answers.peaks import combined_rate, peaks, value_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Component, Machine
from aspenpy.models.machine.texts import provenance


class Figures(NamedTuple):
    """Figures of a machine, all of its parts together; None where it has none of them. `flops` are those of vectors in
    double precision, `bandwidth` what loads from memory attain, `capacity` that of its memories, `watts` those of
    sockets and memories at full load, `assumed` the part of its numbers that are."""

    flops: float | None
    bandwidth: float | None
    capacity: float | None
    watts: float | None
    assumed: float | None


def figures_of(machine: Machine) -> Figures:
    """The figures that a machine is sorted by."""
    known_peaks = peaks(machine)
    origins = provenance(machine)
    return Figures(
        combined_rate(known_peaks, "flops", "dp"),
        combined_rate(known_peaks, "loads"),
        _sum_parts(machine, ("memory",), lambda part: part.value("capacity")),
        _sum_parts(machine, ("socket", "memory"), lambda part: graph.add(*part.power.values())),
        sum(item.known == "assumed" for item in origins) / len(origins) if origins else None,
    )


def _sum_parts(machine: Machine, types: tuple[str, ...], size: Callable[[Component], Expr | None]) -> float | None:
    terms = [
        graph.mul(place.count, each)
        for place in machine.places()
        if place.component.type in types and (each := size(place.component)) is not None
    ]
    total = value_of(graph.add(*terms), machine.definitions) if terms else None
    return float(total) if total else None
