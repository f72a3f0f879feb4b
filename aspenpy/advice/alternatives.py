"""Alternatives: machines of which a part is another one of the library: the memory, or the topology of the network."""

from __future__ import annotations

import os
from collections.abc import Sequence

from aspenpy.advice.configuration import ComponentRange, RangeSource
from aspenpy.cost.network.topologies import TOPOLOGIES
from aspenpy.explore.variable import Variable
from aspenpy.language import nodes
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.language.files import Reader, models_folder
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Source
from aspenpy.models.library import load_source
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record

MEMORIES = ("ddr4_3200_ice_lake", "ddr5_4800_8_channels", "ddr5_4800_12_channels", "hbm2e_xeon_max")
"""Parts of the library, where none is named: those that state watts of their own."""

SHAPES: dict[str, dict[str, str]] = {
    "fat_tree": {"arity": "18", "levels": "max(1, ceil(log({nodes})/log(18)))"},
    "dragonfly": {
        "nodes_per_router": "9",
        "routers": "18",
        "global_links": "9",
        "groups": "max(10, ceil({nodes}/162))",
    },
    "torus": {"dimensions": "{{round(({nodes})^(1/3)), round(({nodes})^(1/3)), round(({nodes})^(1/3))}}"},
    "hypercube": {"dimension": "round(log2({nodes}))"},
    "fully_connected": {},
    "star": {},
}
"""Arguments of a network with a given number of nodes, by its kind: of switches with 36 ports, as FDR and EDR have, a
fat tree with as many levels as it needs (Petrini and Vanneschi 1997) and a balanced dragonfly, p = h = a/2 (Kim et al.
2008); a cube, which the nodes have to make; one switch, or a link between any two."""

KINDS = ("topology", "memory_kind")


class MachineAlternative(Record):
    """A machine that has `label` in the place of what `component` says."""

    label: str
    machine: Machine


def alternatives(
    machine: Machine, socket: str | None, component: str, names: tuple[str, ...]
) -> list[MachineAlternative]:
    """The machine as it is first, unless only others are named. Raises AspenError for a name that the library does not
    have, and a machine that has nothing to replace."""
    kind = "memory" if component == "memory_kind" else "interconnect"
    place = next((place for place in _by_depth(machine, socket) if place.component.type == kind), None)
    if place is None:
        root = machine.root
        fail("no-such-component", f"`{root.name}` has no {kind}, so that there is no other one", root.name_span)
    stated = _describe_stated(place)
    choices = tuple(SHAPES) if component == "topology" else memories_of_library()
    for name in names:
        if name != stated:
            require_known(name, choices, f"unknown-{component}", f"the library has no {component} `{name}`", span=None)
    wanted = names or (stated, *(name for name in (SHAPES if component == "topology" else MEMORIES) if name != stated))
    change = _with_topology if component == "topology" else _with_memory
    return [MachineAlternative(name, machine if name == stated else change(machine, place, name)) for name in wanted]


def kind_of_machine(machine: Machine, socket: str | None, component: str) -> str | None:
    """The alternative that the machine itself has; None where it has nothing of that kind."""
    kind = "memory" if component == "memory_kind" else "interconnect"
    place = next((place for place in _by_depth(machine, socket) if place.component.type == kind), None)
    return None if place is None else _describe_stated(place)


def memories_of_library() -> tuple[str, ...]:
    """The memories of the library, by the names of their parts."""
    folder = os.path.join(models_folder(), "machines", "parts", "memories")
    return tuple(sorted(name.removesuffix(".aspen") for name in os.listdir(folder)))


def _by_depth(machine: Machine, socket: str | None) -> list[Place]:
    return sorted(machine.places(socket), key=lambda place: len(place.path))


def _describe_stated(place: Place) -> str:
    if place.component.type == "memory":
        return place.component.name
    topology = place.component.properties.get("topology")
    value = None if topology is None or topology.value is None else topology.value
    return "star" if value is None else str(value.name)


def _with_memory(machine: Machine, place: Place, name: str) -> Machine:
    """The machine with a memory of the library in the place of its own."""
    around = f"machine m {{ node n }} node n {{ socket s }} socket s {{ memory {name} }}"
    text = f"include parts/memories/{name}.aspen {around}"
    source = load_source(Source(text), Reader())
    if not isinstance(source, Machine):
        raise AssertionError("it begins with `machine`")
    more = tuple(item for item in source.node.declarations if item.name not in machine.declared)
    part = tuple(item for item in source.node.components if item.name == name)

    def rename_part(item: nodes.Item) -> nodes.Item:
        here = isinstance(item, nodes.Part) and item.name == place.component.name
        return item.replace(name=name) if here else item

    components = tuple(it.replace(items=tuple(map(rename_part, it.items))) for it in machine.node.components)
    declarations = (*machine.node.declarations, *more)
    return Machine(machine.node.replace(declarations=declarations, components=(*components, *part)), machine.warnings)


def _with_topology(machine: Machine, place: Place, name: str) -> Machine:
    """The machine with links of the same latency and bandwidth, joined in another way to as many nodes as there are."""
    sized = {item for family in TOPOLOGIES.values() for item in (*family.parameters, *family.optional)}
    own = place.component.name
    part = next(item for item in machine.root.parts if machine.components[item.component].type == "node")
    count = f"({part.quantity.payload if part.quantity.kind == 'number' else part.quantity.name})"
    shape = {item: text.format(nodes=count) for item, text in SHAPES[name].items()}
    made = tuple(nodes.Property(item, parse_value(text)) for item, text in {"topology": name, **shape}.items())

    def replace_items(component: nodes.Component) -> nodes.Component:
        if component.name != own:
            return component
        kept = tuple(
            item
            for item in component.items
            if not (isinstance(item, nodes.Property) and (item.name == "topology" or item.name in sized))
        )
        return component.replace(items=(*kept, *made))

    components = tuple(map(replace_items, machine.node.components))
    return Machine(machine.node.replace(components=components), machine.warnings)


class Variants(Record):
    """Machines for all combinations of alternatives, the last of the `ranges` the fastest; `base` is the place of the
    machine as it is, or of the first where it is not among them."""

    ranges: tuple[ComponentRange, ...]
    machines: tuple[Machine, ...]
    base: int


def is_alternative(text: str) -> bool:
    """Whether what is to be varied, `NAME` or `NAME=VALUE,...`, is a part and no parameter."""
    return parse_axis(text, "<--vary>").name in KINDS


def machines_with_alternatives(machine: Machine, socket: str | None, wanted: Sequence[str]) -> Variants:
    """The machines with each of the wanted alternatives. Raises AspenError."""
    ranges: list[ComponentRange] = []
    machines, base = [machine], 0
    for text in wanted:
        axis = parse_axis(text, "<--vary>")
        names = tuple(item.text() for item in axis.items)
        stated = kind_of_machine(machine, socket, axis.name)
        choices = [alternatives(each, socket, axis.name, names) for each in machines]
        labels = tuple(item.label for item in choices[0])
        places = tuple(map(float, range(len(labels))))
        here = labels.index(stated) if stated in labels else 0
        variable = Variable(
            axis.name, "choice", 0.0, places[-1], base=float(here), choices=places, labels=labels, case=True
        )
        source: RangeSource = "user" if names else "vendor"
        origin = f"{'--vary' if names else 'the library'}: {', '.join(labels)}"
        ranges.append(ComponentRange(axis.name, variable, axis.name, factor=1.0, source=source, origin=origin))
        machines, base = [item.machine for each in choices for item in each], base * len(labels) + here
    return Variants(tuple(ranges), tuple(machines), base)
