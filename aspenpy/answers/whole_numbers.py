"""Whole numbers: the parameters of which a model has so many of something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from aspenpy.expr.graph import Expr, nodes_of_kind
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import blocks_in, callees_first
from aspenpy.models.machine.model import Machine


def counts(application: Application, entry: flow.Kernel, machine: Machine | None) -> dict[Expr, Span | None]:
    """The symbols that count instances of blocks (`execute [ranks]`), ranks of grids (`grid(ranks, 2, 0)`) or
    components (`node [nodes]`), with the first place where they do."""
    found: dict[Expr, Span | None] = {}
    components = () if machine is None else _components(machine)
    for counted, place in (*_instances(entry), *_grids(application), *components):
        plain = counted.args[0] if counted.kind == "checked" else counted
        if plain.kind == "symbol":
            found.setdefault(plain, place)
    return found


def _instances(entry: flow.Kernel) -> Iterator[tuple[Expr, Span | None]]:
    for kernel in callees_first(entry):
        for block in blocks_in(kernel.body):
            yield block.parallelism, block.span


def _grids(application: Application) -> Iterator[tuple[Expr, Span | None]]:
    for parameter in application.parameters.values():
        for node in nodes_of_kind("apply", parameter.value):
            if node.payload == "grid":
                yield node.args[0], parameter.span


def _components(machine: Machine) -> Iterator[tuple[Expr, Span | None]]:
    for component in machine.components.values():
        for part in component.parts:
            yield part.quantity, part.span


def is_fraction(value: Any) -> bool:
    """Whether it is a number that is not whole."""
    return cast(bool, value % 1 != 0)
