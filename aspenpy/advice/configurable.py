"""Configurable: a machine with a parameter for each hardware component that its model states.

The Abstract Machine Model Configurator of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.3). Where a
model has a parameter already, that one is varied; a number in its text becomes a parameter; a property is set by its
full name.
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.advice.configuration import COMPONENTS, QUANTITY, HardwareComponent, Location
from aspenpy.answers.peaks import value_of
from aspenpy.cost.caches.level import levels_of
from aspenpy.cost.target import choose_socket
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.parser import parse_value
from aspenpy.language.printer import to_aspen
from aspenpy.models.machine.model import OWNER, Machine, Place
from aspenpy.models.model import Parameter
from aspenpy.record import Record

TRANSFERS = {"ddr": 2, "hbm": 2}  # double data rate: JEDEC JESD79 and JESD235
WIDTHS = {"ddr": 8.0, "hbm": 16.0}  # bytes that a channel moves at once: the same
FOLLOWING = ("bandwidth", "attained_bandwidth", "attained_store_bandwidth")  # what goes with the clock of a memory


class ComponentParameter(Record):
    """The parameter, or property under its full name, of a machine model that a hardware component is. The component's
    value is `factor` times that of the parameter; `base` is the component's value as the machine has it. `low` and
    `high` are the ends of the declared range, in the component's unit, None where none is declared. What is `soldered`
    on the package, as HBM is, has no modules to leave out and no other clock."""

    component: str
    sets: str
    factor: float
    base: float
    low: float | None = None
    high: float | None = None
    soldered: bool = False


class Configurable(Record):
    """A machine, and the parameters of its hardware components, in the order of the table. `absent` are the components
    that its model does not state."""

    machine: Machine
    parameters: tuple[ComponentParameter, ...]
    absent: tuple[str, ...]

    def parameter(self, component: str) -> ComponentParameter | None:
        """The parameter of a component; None where the machine does not state it."""
        return next((item for item in self.parameters if item.component == component), None)


MOST_KEPT = 16  # machines that are kept for further questions

_configurables: dict[tuple[int, str | None], tuple[Machine, Configurable]] = {}
"""Configurable machines by the identity of the original, which is kept with them: cost trees are found by the identity
of a machine."""


def make_configurable(machine: Machine, socket: str | None = None) -> Configurable:
    """The machine with a parameter for each component that it states on a socket, at the values it has. The same object
    for the same machine, so that an application is mapped to it once."""
    key = id(machine), socket
    if key not in _configurables:
        if len(_configurables) >= MOST_KEPT:
            _configurables.pop(next(iter(_configurables)), None)
        _configurables[key] = machine, _configurable(machine, socket)
    return _configurables[key][1]


def _configurable(machine: Machine, socket: str | None) -> Configurable:
    socket = choose_socket(machine, socket)
    for item in COMPONENTS.values():
        for location in item.locations:
            place = _place(machine, socket, location)
            if place is not None:
                machine = _with_parameter(machine, place, location)
    found, absent = [], []
    for item in (item for item in COMPONENTS.values() if item.locations):
        parameter = _parameter(machine, socket, item)
        if parameter is None:
            absent.append(item.name)
        else:
            found.append(parameter)
    return Configurable(machine, tuple(found), tuple(absent))


def _place(machine: Machine, socket: str | None, location: Location) -> Place | None:
    """The first part of the type in the tree; of caches the one of the level, of interconnects the outermost."""
    if location.type == "core":
        return machine.first_core(socket)
    if location.type == "cache":
        levels = levels_of(machine, socket)
        return levels[location.level - 1].place if len(levels) >= location.level else None
    places = (place for place in machine.places(socket) if place.component.type == location.type)
    if location.type == "interconnect":
        return min(places, key=lambda place: len(place.path), default=None)
    return next(places, None)


# -- what becomes a parameter ----------------------------------------------------------------------


def _with_parameter(machine: Machine, place: Place, location: Location) -> Machine:
    """The machine with a parameter in the place of a quantity that is a number, and with one for the clock of a memory
    whose channels say their bandwidth."""
    if location.property == QUANTITY:
        return _with_count(machine, place)
    if location.property == "channel_bandwidth" and place.component.value("clock") is None:
        return _with_memory_clock(machine, place)
    if location == Location("memory", "bandwidth"):
        return _with_bandwidth(machine, place)
    return machine


def _with_count(machine: Machine, place: Place) -> Machine:
    """The machine with the number of parts at a place as a parameter; caches that all cores share stay shared by
    all."""
    parent, name = place.parents[-1], f"{place.component.name}_count"
    part = next(item for item in parent.parts if item.component == place.component.name)
    if part.quantity.kind != "number" or name in machine.declared:
        return machine
    count = nodes.Number(part.quantity.payload, str(part.quantity.payload))

    def set_count(component: nodes.Component, item: nodes.Item) -> nodes.Item:
        if component.name == parent.name and isinstance(item, nodes.Part) and item.name == place.component.name:
            return item.replace(quantity=nodes.Name(name))
        shared = isinstance(item, nodes.Property) and item.name == "sharing" and item.value == count
        if shared and place.component.type == "core" and part.quantity.payload != 1:
            return item.replace(value=nodes.Name(name))
        return item

    return _rewrite_machine(machine, set_count, nodes.Parameter(name, count))


def _with_memory_clock(machine: Machine, place: Place) -> Machine:
    """Bandwidth = memory clock x transfers a cycle x width of a channel x channels (section 4.4.2 of the dissertation):
    at other clocks what the machine states, in proportion."""
    name, kind = _clock_name(place), _kind(place)
    channel = place.component.value("channel_bandwidth")
    rate = None if channel is None else value_of(channel, machine.definitions)
    if kind is None or rate is None or name in machine.declared:
        return machine
    clock = float(rate) / (TRANSFERS[kind] * WIDTHS[kind])

    clocked = _scale_properties(place, FOLLOWING, f"{name}/({clock!r} Hz)")
    return _rewrite_machine(machine, clocked, _number(name, f"{clock!r} Hz"))


def _with_bandwidth(machine: Machine, place: Place) -> Machine:
    """The attained bandwidth of a memory, scaled with its bandwidth where the model states both as numbers."""
    stated, name = place.component.properties.get("bandwidth"), _peak_name(place)
    if stated is None or stated.value is None or stated.value in machine.definitions or name in machine.declared:
        return machine
    rate = value_of(stated.symbol, machine.definitions)
    parameters = {parameter.symbol for parameter in machine.parameters}
    if rate is None or not float(rate) or parameters & {*_symbols_behind(machine, stated.value)}:
        return machine
    peak = f"{float(rate)!r} B/s"
    machine = _rewrite_machine(
        machine, _scale_properties(place, FOLLOWING[1:], f"{name}/({peak})"), _number(name, peak)
    )

    def name_value(component: nodes.Component, item: nodes.Item) -> nodes.Item:
        own = component.name == place.component.name and isinstance(item, nodes.Property) and item.name == "bandwidth"
        return item.replace(value=nodes.Name(name)) if own else item

    return _rewrite_machine(machine, name_value)


def _number(name: str, text: str) -> nodes.Parameter:
    return nodes.Parameter(name, parse_value(text))


def _scale_properties(place: Place, properties: tuple[str, ...], factor: str) -> Change:
    """A change that multiplies the properties of a part by a factor, unless they follow another bandwidth."""

    def scale_value(component: nodes.Component, item: nodes.Item) -> nodes.Item:
        if component.name != place.component.name or not isinstance(item, nodes.Property):
            return item
        if item.name not in properties or item.value is None:
            return item
        value = item.value
        if any(_reads_name(value, name) for name in FOLLOWING if name != item.name):
            return item
        return item.replace(value=parse_value(f"({to_aspen(value)})*{factor}"))

    return scale_value


def _kind(place: Place) -> str | None:
    return next((kind for kind in TRANSFERS if kind in place.component.properties), None)


def _clock_name(place: Place) -> str:
    return f"{place.component.name}_clock"


def _peak_name(place: Place) -> str:
    return f"{place.component.name}_peak"


MADE: dict[Location, Callable[[Place], str]] = {
    Location("memory", "channel_bandwidth"): _clock_name,
    Location("memory", "bandwidth"): _peak_name,
}
"""Parameters that are made for a location, by their names."""


def _reads_name(expression: nodes.Expression, name: str) -> bool:
    """Whether an expression reads a name."""
    if isinstance(expression, nodes.Name):
        return expression.name == name
    return isinstance(expression, nodes.Chain) and any(
        _reads_name(part, name) for part in (expression.first, *(part for _, part in expression.rest))
    )


Change = Callable[[nodes.Component, nodes.Item], nodes.Item]


def _rewrite_machine(machine: Machine, change: Change, parameter: nodes.Parameter | None = None) -> Machine:
    """The machine with the items of its components changed, and perhaps one more parameter."""
    components = tuple(
        component.replace(items=tuple(change(component, item) for item in component.items))
        for component in machine.node.components
    )
    more = () if parameter is None else (parameter,)
    node = machine.node.replace(declarations=(*machine.node.declarations, *more), components=components)
    return Machine(node, machine.warnings, machine.bases)


# -- where a component's value is ------------------------------------------------------------------


def _parameter(machine: Machine, socket: str | None, item: HardwareComponent) -> ComponentParameter | None:
    for location in item.locations:
        place = _place(machine, socket, location)
        if place is None:
            continue
        made = graph.symbol(MADE[location](place), OWNER) if location in MADE else None
        if made in machine.definitions:
            quantity: Expr | None = made
        elif location.property == "channel_bandwidth":
            continue
        elif location.property == QUANTITY:
            parent = place.parents[-1]
            quantity = next(part.quantity for part in parent.parts if part.component == place.component.name)
        else:
            quantity = place.component.value(location.property)
        worth = None if quantity is None else value_of(quantity, machine.definitions)
        if quantity is not None and worth:
            varied = _find_parameter(machine, item, quantity, float(worth))
            soldered = location.type == "memory" and _kind(place) == "hbm"
            return None if varied is None else varied.replace(soldered=soldered)
    return None


def _find_parameter(machine: Machine, item: HardwareComponent, amount: Expr, base: float) -> ComponentParameter | None:
    """The parameter behind a value: the only one with a declared range that the value is a multiple of, or the only
    one at all where the value is that parameter; else the property itself."""
    by_symbol = {parameter.symbol: parameter for parameter in machine.parameters}
    behind = machine.definitions.get(amount, amount)
    single = by_symbol.get(amount) or by_symbol.get(behind)
    if single is None:
        free = [by_symbol[symbol] for symbol in _symbols_behind(machine, behind) if symbol in by_symbol]
        ranged = [item for item in free if item.low is not None and _is_multiple(machine, amount, item, base)]
        single = ranged[0] if len(ranged) == 1 else None
    if single is None:
        name = amount.name if amount.kind == "symbol" else ""
        return ComponentParameter(item.name, name, 1.0, base) if name else None
    worth = float(value_of(single.symbol, machine.definitions))
    factor = base / worth if worth else 1.0
    ends = [None if end is None else value_of(end, machine.definitions) for end in (single.low, single.high)]
    low, high = (None if end is None else factor * float(end) for end in ends)
    return ComponentParameter(item.name, single.name, factor, base=base, low=low, high=high)


def _symbols_behind(machine: Machine, expr: Expr) -> list[Expr]:
    """The symbols that a value depends on, however far behind."""
    seen: dict[Expr, None] = {}
    pending = [expr]
    while pending:
        for symbol in sorted(graph.free_symbols(pending.pop()), key=lambda symbol: symbol.serial):
            if symbol not in seen:
                seen[symbol] = None
                pending += [machine.definitions[symbol]] if symbol in machine.definitions else []
    return list(seen)


def _is_multiple(machine: Machine, amount: Expr, parameter: Parameter, base: float) -> bool:
    """Whether a value doubles with a parameter."""
    worth = value_of(parameter.symbol, machine.definitions)
    doubled = {**machine.definitions, parameter.symbol: graph.number(2 * worth)}
    after = value_of(amount, doubled)
    return after is not None and abs(float(after) - 2 * base) <= 1e-9 * abs(base)
