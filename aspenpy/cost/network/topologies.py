"""All topologies by name, and what each is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.cost.network import custom, dragonfly, fat_tree, grids, single_hop, slim_fly
from aspenpy.cost.network.topology import NetworkError, Topology
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.graph import Expr, number, substitute
from aspenpy.language.diagnostics import suggest_nearest
from aspenpy.record import Record


class Family(Record):
    """`make` takes the parameters; those that are in `defaults` may be left out."""

    make: Callable[..., Topology]
    parameters: tuple[str, ...]
    optional: tuple[str, ...] = ()
    source: str = ""


TOPOLOGIES: dict[str, Family] = {
    "hypercube": Family(grids.hypercube, ("dimension",), source="Dally and Towles 2004"),
    "mesh": Family(grids.mesh, ("dimensions",), ("nodes_per_router",), "Dally and Towles 2004; Efe and Feng 2007"),
    "torus": Family(
        grids.torus, ("dimensions",), ("nodes_per_router",), "Dally and Towles 2004; Aroca and Fernandez Anta 2014"),
    "fat_tree": Family(fat_tree.fat_tree, ("arity", "levels"), ("taper",), "Petrini and Vanneschi 1997"),
    "dragonfly": Family(
        dragonfly.dragonfly, ("nodes_per_router", "routers", "global_links"), ("groups",), "Kim et al. 2008"),
    "aries": Family(
        dragonfly.aries, ("nodes_per_router", "rows", "columns", "global_links", "groups"),
        ("row_links", "column_links"), "Faanes et al. 2012"),
    "slim_fly": Family(slim_fly.slim_fly, ("order",), ("nodes_per_router",), "Besta and Hoefler 2014"),
    "fully_connected": Family(single_hop.fully_connected, ("nodes",), source="counted"),
    "star": Family(single_hop.star, ("nodes",), source="counted"),
    "custom": Family(custom.custom, ("edges",), source="counted"),
}  # fmt: skip


def topology(kind: str, **parameters: Any) -> Topology:
    """The topology of that name. Raises NetworkError for a name or a parameter that there is not, a parameter that is
    missing, and values that make no network."""
    if kind not in TOPOLOGIES:
        hint = suggest_nearest(kind, TOPOLOGIES) or f"there are {', '.join(TOPOLOGIES)}"
        raise NetworkError(f"unknown topology `{kind}`", "topology", hint)
    family = TOPOLOGIES[kind]
    known = (*family.parameters, *family.optional)
    for name in parameters:
        if name not in known:
            raise NetworkError(
                f"a {kind} has no `{name}`", name, suggest_nearest(name, known) or f"it has {', '.join(known)}"
            )
    for name in family.parameters:
        if name not in parameters:
            raise NetworkError(f"a {kind} needs `{name}`", name, f"it is made from {', '.join(family.parameters)}")
    return family.make(**parameters)


def with_values(network: Topology, values: Mapping[Expr, Number]) -> Topology:
    """The same topology with numbers in place of symbols, checked as if it had been made from them."""
    bindings = {symbol: number(value) for symbol, value in values.items()}

    def bound(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(bound(element) for element in value)
        return substitute([value], bindings)[0] if isinstance(value, Expr) else value

    return topology(network.kind, **{name: bound(value) for name, value in network.parameters})
