"""Machine: a loaded machine model, its components a tree under the one of type `machine`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic, fail, require_known
from aspenpy.language.lower import Lowering, constant_value, lower_guarded
from aspenpy.language.source import Span
from aspenpy.models.model import Model, Parameter, make_parameter
from aspenpy.record import Record
from aspenpy.tables.result import Result

OWNER = "machine"  # the owner of a machine's symbols: it tells them from an application's of the same name
ATTAINED, SHARE = "attained_bandwidth", "bandwidth_share"
OF_ONE_CORE, PACE = "core_bandwidth", "core_bandwidth_pace"
BASE = graph.symbol("base", "trait")  # what a trait calls the time so far


class ResourceTrait(Record):
    """The change of a resource's time by a trait: an expression of `BASE` and, if it takes one, its argument."""

    name: str
    argument: Expr | None
    time: Expr
    span: Span | None


class Resource(Record):
    """Seconds that an amount (`argument`) takes on one component of the kind."""

    name: str
    component: str
    argument: Expr
    time: Expr
    traits: dict[str, ResourceTrait]
    span: Span | None
    name_span: Span | None


class Part(Record):
    """`quantity` components of one kind inside another."""

    component: str
    quantity: Expr
    span: Span | None


class Property(Record):
    """A property of a component; its symbol is `component.property`. A flag has no value."""

    name: str
    symbol: Expr
    value: Expr | None
    span: Span | None


class Component(Record):
    """One kind of component with what is written in its braces. Of two resources or properties with one
    name the later holds; of two traits with one name the first."""

    name: str
    type: str
    parts: tuple[Part, ...]
    properties: dict[str, Property]
    resources: dict[str, Resource]
    conflicts: tuple[tuple[str, str], ...]
    power: dict[str, Expr]
    span: Span | None
    name_span: Span | None

    @property
    def expressions(self) -> Iterator[Expr]:
        """Quantities of its parts, values of its properties, watts, and times of its resources."""
        yield from (part.quantity for part in self.parts)
        yield from (item.value for item in self.properties.values() if item.value is not None)
        yield from self.power.values()
        for resource in self.resources.values():
            yield resource.time
            yield from (trait.time for trait in resource.traits.values())

    def value(self, name: str) -> Expr | None:
        """The symbol of a property; None where there is no such property, or nothing in its brackets."""
        stated = self.properties.get(name)
        return None if stated is None or stated.value is None else stated.symbol


class Place(Record):
    """A component where it stands in the tree: the names from the machine down to it, and how many of it
    the whole machine has (the product of the quantities on the way)."""

    component: Component
    path: tuple[str, ...]
    count: Expr
    parents: tuple[Component, ...]


MOST_DEEP = 200  # components of which each has the next as a part: well within what Python and readers of JSON nest

MOST_PLACES = 100_000
"""Of one tree: two parts that are the same component, forty levels deep, are a million million places."""


def _file(span: Span | None) -> str | None:
    return None if span is None else span.resolve().source.name


class Machine(Model, Result):
    """A machine model. Immutable; equal when the texts say the same."""

    node: nodes.Machine

    def __init__(
        self,
        node: nodes.Machine,
        warnings: tuple[Diagnostic, ...] = (),
        bases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`node` has its variants written out; `bases` is the component that each of them was `like`."""
        super().__init__(node, warnings)
        self.bases = dict(bases)
        self._first_places: dict[str | None, tuple[Place, ...]] = {}

    @property
    def name(self) -> str:
        """The name of its component of type `machine`."""
        return self.root.name

    def __reduce__(self) -> tuple[Any, ...]:
        return Machine, (self.node, self.warnings, self.bases)

    def __repr__(self) -> str:
        return f"<Machine {self.name}: sockets {', '.join(self.sockets) or 'none'}>"

    # -- what it declares ------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The declared parameters, with expressions for their values and for the ends of their ranges."""
        lower = Lowering(self._resolve_parameter, self.origins, (), self.site_of_draw)
        return tuple(
            make_parameter(name, graph.symbol(name, OWNER), lower_guarded(lower, node.value), node, lower)
            for name, node in self.declared.items()
        )

    @cached_property
    def properties(self) -> frozenset[str]:
        """Properties of the machine under their full names, `component.property`."""
        kept = {node.name: node for node in self.node.components}.values()
        return frozenset(
            f"{node.name}.{item.name}" for node in kept for item in node.items if isinstance(item, nodes.Property)
        )

    def declaration(self, name: str) -> nodes.Parameter | nodes.Property | None:
        """The declaration of a parameter, or of a property under its full name."""
        if name in self.declared:
            return self.declared[name]
        component, _, plain = name.partition(".")
        items = (item for node in self.node.components if node.name == component for item in node.items)
        named = [item for item in items if isinstance(item, nodes.Property) and item.name == plain]
        return named[-1] if named else None

    @cached_property
    def definitions(self) -> dict[Expr, Expr]:
        """The definition of each symbol: parameters, and properties as `component.property`."""
        values = {parameter.symbol: parameter.value for parameter in self.parameters}
        properties = (item for component in self.components.values() for item in component.properties.values())
        return values | {item.symbol: item.value for item in properties if item.value is not None}

    @cached_property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the machine: values of its parameters, and what its components say."""
        own = (expr for component in self.components.values() for expr in component.expressions)
        return *self.definitions.values(), *own

    def known_names(self) -> list[str]:
        """Names of parameters and properties, for "did you mean", without `passed_over`."""
        names = (symbol.name for symbol in self.definitions)
        return [name for name in names if name not in self.passed_over]

    @cached_property
    def passed_over(self) -> frozenset[str]:
        """Parameters that nothing in it depends on, of files that hold parameters alone: such a file is included for
        some of them, and has others for other machines."""
        used = graph.free_symbols(graph.array(self.expressions))
        files = {_file(node.name_span) for node in self.node.components}
        return frozenset(
            name
            for name, node in self.declared.items()
            if graph.symbol(name, OWNER) not in used and _file(node.name_span) not in files
        )

    @cached_property
    def components(self) -> dict[str, Component]:
        """Components of the machine by name; of two with one name the later holds. A memory attains the part of its
        bandwidth that the cores of its socket draw at their clock, and one core alone what its `core_bandwidth_pace`
        says; of several kinds of sockets around it the most."""
        found = {node.name: self._component(node) for node in self.node.components}
        shares: dict[str, list[Expr]] = {}
        paces: dict[str, list[Expr]] = {}
        for socket in (each for each in found.values() if each.type == "socket"):
            share, pace = socket.value(SHARE), socket.value(PACE)
            for memory in () if share is pace is None else _memories_in(socket, found):
                if share is not None:
                    shares.setdefault(memory, []).append(graph.checked("bandwidth_share", share))
                if pace is not None and OF_ONE_CORE in found[memory].properties:
                    paces.setdefault(memory, []).append(pace)
        found |= {name: _scale_bandwidth(found[name], of_sockets) for name, of_sockets in shares.items()}
        return found | {name: _scale(found[name], OF_ONE_CORE, of_sockets) for name, of_sockets in paces.items()}

    @cached_property
    def root(self) -> Component:
        """The component of type `machine`."""
        return next(component for component in self.components.values() if component.type == "machine")

    @cached_property
    def sockets(self) -> tuple[str, ...]:
        """The names of the components of type `socket` in the tree."""
        names = (place.component.name for place in self.first_places() if place.component.type == "socket")
        return tuple(dict.fromkeys(names))

    # -- the tree --------------------------------------------------------------------------------

    def places(self, socket: str | None = None) -> Iterator[Place]:
        """The tree depth first, each component before its parts. With a socket named, every other kind of
        socket is left out with all below it."""
        for number, place in enumerate(self._walk(socket)):
            if number == MOST_PLACES:
                message = f"the tree of machine `{self.name}` has more than {MOST_PLACES:,} places"
                fail("too-many-places", message, self.root.name_span, hint="say how many by a quantity: `core [8] c`")
            yield place

    def first_places(self, socket: str | None = None) -> Iterator[Place]:
        """The first place of each kind of component in the tree: who offers what is decided there."""
        if socket not in self._first_places:
            self._first_places[socket] = tuple(self._walk(socket, set()))
        return iter(self._first_places[socket])

    def first_core(self, socket: str | None = None) -> Place | None:
        """The first kind of core, which is the one that computes."""
        return next((place for place in self.first_places(socket) if place.component.type == "core"), None)

    def _walk(self, socket: str | None, seen: set[str] | None = None) -> Iterator[Place]:
        pending = [Place(self.root, (self.root.name,), graph.ONE, parents=())]
        while pending:
            place = pending.pop()
            if seen is not None:
                if place.component.name in seen:
                    continue
                seen.add(place.component.name)
            yield place
            inner = []
            for part in place.component.parts:
                component = self.components[part.component]
                if len(place.path) >= MOST_DEEP:
                    message = f"the tree of machine `{self.name}` is more than {MOST_DEEP:,} components deep"
                    fail("too-deep", message, part.span, hint="leave out components that have one part and no more")
                if component.type == "socket" and socket not in (None, component.name):
                    continue
                quantity = graph.checked("quantity", part.quantity)
                if part.span is not None:
                    self.origins.setdefault(quantity, part.span)
                count = place.count * quantity
                inner.append(Place(component, (*place.path, component.name), count, (*place.parents, place.component)))
            pending += reversed(inner)

    # -- names -----------------------------------------------------------------------------------

    def lookup(self, name: str) -> Expr | None:
        """A parameter's or property's symbol, an enum member or a constant."""
        if name in self.declared:
            return graph.symbol(name, OWNER)
        if name in self.constants:
            return graph.number(self.constants[name])
        if name in self.properties:
            return graph.symbol(name, OWNER)
        return constant_value(name)

    def _resolve_parameter(self, node: nodes.Name) -> Expr:
        """A machine's own parameters never see an application's names."""
        return self.lookup(node.name) or graph.symbol(node.name, OWNER)

    def _component(self, node: nodes.Component) -> Component:
        own = [item for item in node.items if isinstance(item, nodes.Property)]
        names = {item.name: graph.symbol(f"{node.name}.{item.name}", OWNER) for item in own}
        lower = self._make_lowering(names)
        values = {item.name: None if item.value is None else lower_guarded(lower, item.value) for item in own}
        return Component(
            node.name,
            node.type,
            tuple(
                Part(item.name, graph.ONE if item.quantity is None else lower_guarded(lower, item.quantity), item.span)
                for item in node.items
                if isinstance(item, nodes.Part)
            ),
            {item.name: Property(item.name, names[item.name], values[item.name], item.span) for item in own},
            {
                item.name: self._build_resource(node, item, names)
                for item in node.items
                if isinstance(item, nodes.Resource)
            },
            conflicts=tuple((item.first, item.second) for item in node.items if isinstance(item, nodes.Conflict)),
            power={
                item.kind: lower_guarded(lower, item.watts) for item in node.items if isinstance(item, nodes.PowerDraw)
            },
            span=node.span,
            name_span=node.name_span,
        )

    def _build_resource(self, component: nodes.Component, node: nodes.Resource, names: dict[str, Expr]) -> Resource:
        owner = f"{component.name}.{node.name}"
        argument = graph.symbol(node.argument, owner)
        traits: dict[str, ResourceTrait] = {}
        for trait in node.traits:
            own = None if trait.argument is None else graph.symbol(trait.argument, f"{owner} {trait.name}")
            inner = {**names, "base": BASE} | ({} if own is None or trait.argument is None else {trait.argument: own})
            time = lower_guarded(self._make_lowering(inner), trait.time)
            traits.setdefault(trait.name, ResourceTrait(trait.name, own, time, trait.span))
        time = lower_guarded(self._make_lowering({**names, node.argument: argument}), node.time)
        return Resource(node.name, component.name, argument, time, traits, span=node.span, name_span=node.name_span)

    def _make_lowering(self, names: dict[str, Expr]) -> Lowering:
        """Inside a component: its arguments and properties, then the machine's parameters, then whatever the
        application calls so."""

        def resolve(node: nodes.Name) -> Expr:
            return names.get(node.name) or self.lookup(node.name) or graph.symbol(node.name)

        return Lowering(resolve, self.origins, (), self.site_of_draw)

    def _scopes(self) -> dict[str, Any]:
        return {"machine": self.node.declarations} | {f"machine {each.name}": each for each in self.node.components}


def _memories_in(component: Component, components: Mapping[str, Component]) -> list[str]:
    """The names of the memories below a component, each once."""
    found: list[str] = []
    pending = [part.component for part in component.parts]
    seen = set(pending)
    while pending:
        inner = components[pending.pop()]
        if inner.type == "memory" and inner.name not in found:
            found.append(inner.name)
        fresh = {part.component for part in inner.parts} - seen
        seen |= fresh
        pending += sorted(fresh)
    return found


def _scale_bandwidth(memory: Component, shares: list[Expr]) -> Component:
    """The memory with what it attains, or else its peak, reduced to the largest of the shares."""
    name = next((each for each in (ATTAINED, "bandwidth") if memory.value(each) is not None), None)
    if name is None:
        message = f"the socket of memory `{memory.name}` states a `{SHARE}`, and the memory no `{ATTAINED}`"
        fail("no-bandwidth", message, memory.name_span, hint=f"write `property {ATTAINED} [..]` in it, with its unit")
    return _scale(memory, name, shares)


def _scale(memory: Component, name: str, shares: list[Expr]) -> Component:
    """A memory with a property times the largest of some shares."""
    stated = memory.properties[name]
    assert stated.value is not None, name
    most = shares[0] if len(shares) == 1 else graph.apply("max", *shares)
    scaled = stated.replace(value=graph.mul(stated.value, most))
    return memory.replace(properties=memory.properties | {name: scaled})


def word_of_property(component: Component, name: str) -> str | None:
    """The word of a property as it is written; None where there is no such property, or nothing in its brackets."""
    stated = component.properties.get(name)
    if stated is None or stated.value is None:
        return None
    return str(stated.value.name) if stated.value.kind == "symbol" else str(stated.value)


def one_of(component: Component, name: str, words: Collection[str], default: str) -> str:
    """A property that is one of some words. Raises AspenError, at the property, for any other."""
    written = word_of_property(component, name)
    if written is None:
        return default
    message = f"{component.type} `{component.name}`: unknown {name} `{written}`"
    require_known(written, words, f"unknown-{name}", message, component.properties[name].span)
    return written
