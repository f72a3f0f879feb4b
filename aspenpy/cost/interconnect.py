"""Interconnect: the network of a machine, as the component that serves its messages describes it.

A component that says its `topology` is a network; one that does not is a port, and no more is known of it. Its other
properties are those of docs/networks.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.cost.network.mpi_choices import LIBRARIES
from aspenpy.cost.network.placement import ORDERS
from aspenpy.cost.network.topologies import TOPOLOGIES, topology
from aspenpy.cost.network.topology import NetworkError, Topology, describe_topology
from aspenpy.cost.value_mistakes import locate_failures
from aspenpy.expr import graph
from aspenpy.expr.evaluate import Value, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.models.machine.model import Component, Machine, Place, Property, one_of
from aspenpy.record import Record

EDGES = "edges"
"""The property that has the links of a custom network."""


class Interconnect(Record):
    """A network whose sizes are symbols of the machine.

    `latency` is the start of a message and `hop_latency` each link on its way, in seconds; `injection` what a port and
    `link` what a link takes, in bytes a second; `gap` the seconds between two messages of one port, and `combining` the
    seconds in which a rank adds a byte to another; `total` the bytes a second of all messages together, and `handshake`
    the seconds more of one beyond `threshold` bytes, where it says so. `nodes`, `ports` and, if it has any, `cores` are
    the machine's; of a path `inside` a node or socket, what it joins there. With `all_pairs` collectives may send to
    all partners at once; where they are `pipelined`, pieces are on this path and those around it at once. A long
    message is striped over so many `rails`. A switch that reduces by itself takes `switch` seconds for each byte of a
    vector, and a message up to the threshold `eager` seconds for each of its bytes, which are copied. The library `mpi`
    chooses the algorithms of collectives; the fastest are taken where none is named.
    """

    place: Place
    topology: Topology
    latency: Expr
    hop_latency: Expr
    injection: Expr
    link: Expr
    gap: Expr
    combining: Expr
    placement: str
    ranks_per_node: Expr | None
    nodes: Expr
    ports: Expr
    cores: Expr | None
    total: Expr | None = None
    threshold: Expr | None = None
    handshake: Expr = graph.ZERO
    inside: str | None = None
    all_pairs: bool = False
    pipelined: bool = False
    rails: Expr = graph.ONE
    switch: Expr | None = None
    eager: Expr = graph.ZERO
    mpi: str | None = None

    @property
    def component(self) -> Component:
        return self.place.component

    def sharing_of_links(self, senders: Expr) -> Expr:
        """Messages that share a link while `senders` nodes or ranks send in one direction: messages of the nodes on one
        router of a mesh or torus."""
        grid = TOPOLOGIES[self.topology.kind].is_grid
        on_a_router = dict(self.topology.parameters).get("nodes_per_router", graph.ONE) if grid else graph.ONE
        return (
            on_a_router if on_a_router is graph.ONE else graph.apply("min", on_a_router, graph.apply("max", 1, senders))
        )


def interconnect_of(
    machine: Machine, place: Place, socket: str | None = None, joined: Expr | None = None
) -> Interconnect:
    """The network that a component with a topology is, or the path inside a node or socket that joins `joined` ends
    there. Raises AspenError, at the property, where what it says makes no network."""
    component = place.component
    nodes = joined or _count(machine, socket, "node") or graph.ONE
    injection = _require_property(component, "bandwidth", "B/s", "property bandwidth [10 GB/s]")
    rate, combined = component.value("message_rate"), component.value("reduction_bandwidth")
    in_switch, eager = component.value("in_switch_bandwidth"), component.value("eager_bandwidth")
    threshold = component.value("rendezvous_threshold")
    handshake = graph.ZERO
    if threshold is not None:
        example = "property rendezvous_latency [2 us]"
        handshake = _require_property(component, "rendezvous_latency", "s", example, "rendezvous_threshold")
    left, total = _left_by_others(component), component.value("total_bandwidth")
    link = component.value("link_bandwidth") or injection
    return Interconnect(
        place=place,
        topology=_symbolic(machine, component, nodes),
        latency=_not_negative(
            component, "latency", _require_property(component, "latency", "s", "property latency [1 us]")
        ),
        hop_latency=_not_negative(component, "hop_latency", component.value("hop_latency") or graph.ZERO),
        injection=injection,
        link=link if left is graph.ONE else graph.mul(link, left),
        gap=graph.ZERO if rate is None else graph.div(1, rate),
        combining=graph.ZERO if combined is None else graph.div(1, combined),
        placement=one_of(component, "placement", ORDERS, "block"),
        ranks_per_node=component.value("ranks_per_node"),
        nodes=nodes,
        ports=nodes if joined is not None else graph.apply("max", nodes, place.count),
        cores=None if joined is not None else _count(machine, socket, "core"),
        total=total if total is None or left is graph.ONE else graph.mul(total, left),
        threshold=threshold,
        handshake=_not_negative(component, "rendezvous_latency", handshake),
        inside=None if joined is None else place.parents[-1].name,
        all_pairs="all_pairs" in component.properties,
        pipelined="pipelined" in component.properties,
        rails=component.value("rails") or graph.ONE,
        switch=None if in_switch is None else graph.div(1, in_switch),
        eager=graph.ZERO if eager is None or threshold is None else graph.div(1, eager),
        mpi=one_of(component, "mpi", LIBRARIES, default="") or None,
    )


def topology_in_numbers(machine: Machine, network: Interconnect, values: Mapping[Expr, Expr] | None = None) -> Topology:
    """The topology in numbers, by `values` of symbols or the machine's own. Raises AspenError, at the property, for
    numbers that make no network of all nodes."""
    names = [name for name, _ in network.topology.parameters if name in network.component.properties]
    symbols = [network.component.properties[name].symbol for name in names]
    with locate_failures(machine.origins, network.component.name_span):
        *numbers, nodes = evaluate_many([*symbols, network.nodes], None, 0, values or machine.definitions)
    sizes = {name: _numbers(network.component, name, value) for name, value in zip(names, numbers, strict=True)}
    if TOPOLOGIES[network.topology.kind].has_nodes_of_machine:
        sizes.setdefault("nodes", nodes)
    made = _make_topology(network.component, network.topology.kind, sizes)
    stated = network.component.properties.get("topology")
    with locate_failures({}, stated.span if stated else network.component.name_span, describe_topology(made)):
        places = made.figures()["nodes"]
    if not (places == nodes if _is_filled(made) else places >= nodes):
        raise AspenError(_report_wrong_size(network, made, int(nodes)))
    return made


def _numbers(component: Component, name: str, value: Value) -> Value:
    """The parameters of a topology, by its value: one number, but for its `dimensions` and `edges`."""
    several = isinstance(value, tuple)
    if name == EDGES:
        return _pairs(value, component.properties[EDGES])
    if name == "dimensions":
        return value if several else (value,)
    if several:
        fail("not-a-number", f"`{name}` is an array, and a number is needed", component.properties[name].span)
    return value


def _is_filled(made: Topology) -> bool:
    """Whether all places have to be nodes: some of a router may be for service."""
    return TOPOLOGIES[made.kind].direct and "nodes_per_router" not in dict(made.parameters)


def _report_wrong_size(network: Interconnect, made: Topology, nodes: int) -> Diagnostic:
    component = network.component
    has = int(made.figures()["nodes"])
    name = made.parameters[0][0]
    span = component.properties[name if name in component.properties else "topology"].span
    whose = f"`{network.inside}` has {nodes:,} ports of it" if network.inside else f"the machine has {nodes:,}"
    message = f"{describe_topology(made)} has {has:,} nodes, and {whose}"
    return Diagnostic("wrong-network-size", message, span, hint=_size_hint(made))


def _size_hint(made: Topology) -> str:
    if TOPOLOGIES[made.kind].is_grid:
        times = "" if _is_filled(made) else ", times `nodes_per_router`,"
        enough = "the nodes" if _is_filled(made) else "the nodes or more"
        return f"its dimensions{times} have to multiply to {enough} of the machine"
    if made.kind == "custom":
        return "its edges have to join as many nodes as the machine has, numbered from 0 on"
    return "its parameters have to make " + (
        "as many nodes as the machine has" if TOPOLOGIES[made.kind].direct else "enough of them"
    )


def require_enough_nodes(network: Interconnect, value: Expr) -> Expr:
    """The value where the network has the machine's nodes, told at the property where not."""
    made, component = network.topology, network.component
    if TOPOLOGIES[made.kind].has_nodes_of_machine and "nodes" not in component.properties:
        return value
    span = component.properties[made.parameters[0][0]].span
    many = f"ports as `{network.inside}` has of it" if network.inside else "nodes as the machine has"
    message = f"the {made.kind.replace('_', ' ')} `{component.name}` is not for so many {many}"
    mistake = graph.failure(Diagnostic("wrong-network-size", message, span, hint=_size_hint(made)))
    fits = graph.compare("==" if _is_filled(made) else ">=", made.nodes, network.nodes)
    return graph.if_else(fits, value, mistake)


# -- the topology ----------------------------------------------------------------------------------


def _symbolic(machine: Machine, component: Component, nodes: Expr) -> Topology:
    """The topology in the symbols of the machine."""
    kind = one_of(component, "topology", tuple(TOPOLOGIES), "star")
    family = TOPOLOGIES[kind]
    known = (*family.parameters, *family.optional)
    sizes: dict[str, Any] = {
        name: _sizes(machine, component.properties[name]) for name in known if name in component.properties
    }
    if family.has_nodes_of_machine:
        sizes.setdefault("nodes", nodes)
    return _make_topology(component, kind, sizes)


def _sizes(machine: Machine, item: Property) -> Any:
    """A property that is an array as its elements, any other as it is. `dimensions` may be one number."""
    value = follow_definitions(item.symbol, machine.definitions)[-1]
    if item.name == EDGES:
        return _pairs(_element(value), item)
    if value.kind == "array":
        if item.name != "dimensions":
            fail("not-a-number", f"`{item.name}` is an array, and a number is needed", item.span)
        return tuple(graph.index(item.symbol, index) for index in range(len(value.args)))
    return (item.symbol,) if item.name == "dimensions" else item.symbol


def _make_topology(component: Component, kind: str, sizes: Mapping[str, Any]) -> Topology:
    try:
        return topology(kind, **sizes)
    except NetworkError as error:
        known = component.properties.get(error.parameter) or component.properties.get("topology")
        span = component.name_span if known is None else known.span
        fail("bad-network", f"{component.type} `{component.name}`: {error.message}", span, hint=error.hint)


def follow_definitions(symbol: Expr, definitions: Mapping[Expr, Expr]) -> list[Expr]:
    """The symbol, the symbol that it stands for, and so on to what they are all worth."""
    symbols = [symbol]
    while symbols[-1].kind == "symbol" and definitions.get(symbols[-1], symbols[0]) not in symbols:
        symbols.append(definitions[symbols[-1]])
    return symbols


def _element(value: Expr) -> Any:
    """An array as a tuple, a number as what it is; None for what depends on a parameter."""
    if value.kind == "array":
        return tuple(_element(element) for element in value.args)
    return value.payload if value.kind == "number" else None


def _pairs(table: Any, item: Property) -> tuple[tuple[Any, Any], ...]:
    """The links of a network that are a table of two nodes a row."""
    rows = table if isinstance(table, tuple) else ()
    if not rows or any(not isinstance(row, tuple) or len(row) != 2 or None in row for row in rows):
        message = "the edges of a network are a table of numbers, two nodes in each row"
        hint = "such as `param links[][] = {{0, 1}, {1, 2}}` and `property edges [links]`"
        fail("bad-network", message, item.span, hint=hint)
    return rows


# -- its numbers -----------------------------------------------------------------------------------


def _require_property(component: Component, name: str, unit: str, example: str, cause: str = "") -> Expr:
    value = component.value(name)
    if value is None:
        what = (
            f"has a {cause or 'topology'}" if cause or "topology" in component.properties else "is a path between ranks"
        )
        message = f"{component.type} `{component.name}` {what}, and no `{name}` ({unit})"
        fail("incomplete-network", message, component.name_span, hint=f"such as `{example}`")
    return value


def _not_negative(component: Component, name: str, value: Expr) -> Expr:
    """A property in seconds, refused below 0: no message arrives before it is sent."""
    if value is graph.ZERO:
        return value
    message = f"the {name.replace('_', ' ')} of {component.type} `{component.name}` is negative"
    hint = "a latency cannot be negative"
    mistake = graph.failure(Diagnostic("negative-latency", message, component.properties[name].span, hint=hint))
    return graph.if_else(graph.compare("<", value, 0), mistake, value)


def _left_by_others(component: Component) -> Expr:
    """The part of links between switches that other jobs leave; ports belong to the nodes of the run alone."""
    taken = component.value("other_traffic")
    if taken is None:
        return graph.ONE
    message = f"other jobs take no such part of the links of {component.type} `{component.name}`"
    hint = "`other_traffic` is a part from 0 on and below 1, such as 0.3"
    mistake = graph.failure(Diagnostic("bad-network", message, component.properties["other_traffic"].span, hint=hint))
    known = graph.junction("and", graph.compare(">=", taken, 0), graph.compare("<", taken, 1))
    return graph.if_else(known, graph.sub(1, taken), mistake)


def _count(machine: Machine, socket: str | None, kind: str) -> Expr | None:
    """The number of components of a type, without those that are parts of others of the type; None where there are
    none."""
    found = [
        place.count
        for place in machine.first_places(socket)
        if place.component.type == kind and all(parent.type != kind for parent in place.parents)
    ]
    return graph.add(*found) if found else None


# -- what stays as it is ---------------------------------------------------------------------------


def require_same_shape(machine: Machine, symbol: Expr, value: Expr, name: str) -> None:
    """Refuses another number of dimensions, or other links, than those from which the formulas were made. `symbol` is
    what the user calls `name` and sets to `value`."""
    for component in machine.components.values():
        if "topology" not in component.properties:
            continue
        for item in (component.properties.get(shape) for shape in ("dimensions", EDGES)):
            if item is None or symbol not in (chain := follow_definitions(item.symbol, machine.definitions)):
                continue
            old, new = chain[-1], follow_definitions(value, machine.definitions)[-1]
            if item.name == EDGES and new is not old:
                message = f"`{name}` cannot be set: `{component.name}` has its links as they are written"
                fail("fixed-network", message, item.span, hint="a copy of the machine can have others")
            if _length(new) != _length(old):
                message = f"`{name}` has to stay as many numbers as `{component.name}` has dimensions, {_length(old)}"
                fail("fixed-network", message, item.span, hint=f"here are {_length(new)}; a copy can have them")


def _length(value: Expr) -> int:
    return len(value.args) if value.kind == "array" else 1
