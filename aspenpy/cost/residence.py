"""Residence: which memory serves the data structures that say where they lie (`data x [8*n] in hbm`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

from aspenpy.cost.prices import MEMORY_RESOURCES, Offer
from aspenpy.cost.target import Target, serial_levels
from aspenpy.cost.waiting import loads_waited_for
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application, array_arguments
from aspenpy.models.application.total import blocks_in, callees_first
from aspenpy.models.machine.model import Machine, Place, Resource


class Residence:
    """The memories of the data that an entry kernel and its callees touch. Raises AspenError, at the declaration, where
    the machine has no such memory, and where a kernel's array argument lies in several."""

    def __init__(self, application: Application, entry: flow.Kernel, where: Target) -> None:
        self.machine = where.machine
        self.where = where
        self._data = {name: node for name, node in collect_placed_data(application).items() if node.memory is not None}
        self._places: dict[str, Place] = {}
        self._kernels: dict[str, dict[str, dict[str, Offer]]] = {}
        if self._data:
            arrays = array_arguments(entry)
            for kernel in callees_first(entry):
                self._kernels[kernel.name] = dict(self._served_arrays(kernel, arrays[kernel.name]))
        self.conflicts = where.conflicts | frozenset(self._own_conflicts())

    @property
    def offers(self) -> dict[str, Offer]:
        """The offers of memories behind faster ones, by the name `memory.resource` under which their times count."""
        served = (offers for arrays in self._kernels.values() for offers in arrays.values())
        return {offer.alias: offer for offers in served for offer in offers.values() if offer.alias is not None}

    @property
    def memories(self) -> Mapping[str, Place]:
        """The memory of each data structure that says where it lies and is touched, by its full name."""
        return self._places

    def target_of(self, kernel: flow.Kernel) -> Target:
        """The machine as a kernel's requirements see it."""
        if not self._data:
            return self.where
        return self.where.replace(placed=self._kernels[kernel.name], conflicts=self.conflicts)

    def _served_arrays(
        self, kernel: flow.Kernel, arguments: Mapping[str, dict[str, None]]
    ) -> Iterator[tuple[str, dict[str, Offer]]]:
        """The arrays that a kernel's requirements name and that are placed, with who serves them."""
        for block in blocks_in(kernel.body):
            for need in (*block.requirements, *loads_waited_for(block.requirements).values()):
                if need.target is None or need.resource not in MEMORY_RESOURCES:
                    continue
                place = self._place(kernel, need, list(arguments.get(need.target, (need.target,))))
                if place is not None:
                    yield need.target, self._offers_of(place, need)

    def _place(self, kernel: flow.Kernel, need: flow.Requirement, names: list[str]) -> Place | None:
        """The memory of a requirement's array; None for the memory that comes first."""
        for name in names:
            if name in self._data and name not in self._places:
                self._places[name] = memory_named(self.machine, self.where.socket, self._data[name])
        first = self.where.offers.get(need.resource)
        places = {name: self._places.get(name) or (first.place if first else None) for name in names}
        if len({None if place is None else place.path for place in places.values()}) > 1:
            lying = [f"`{name}` in `{place.component.name}`" for name, place in places.items() if place is not None]
            message = f"calls give kernel `{kernel.name}` data of several memories as `{need.target}`"
            hint = f"{', '.join(lying)}: write a kernel for each memory, or keep the data in one"
            fail("several-memories", message, need.target_span or need.span, hint=hint)
        return self._places.get(names[0])

    def _offers_of(self, place: Place, need: flow.Requirement) -> dict[str, Offer]:
        offers = {}
        for name in MEMORY_RESOURCES:
            resource = find_serving_resource(place, name)
            if resource is not None:
                first = self.where.offers.get(name)
                comes_first = first is not None and (first.place.path, first.resource.name) == (
                    place.path,
                    resource.name,
                )
                alias = None if comes_first else f"{place.component.name}.{name}"
                offers[name] = Offer(resource, place, alias)
        if need.resource not in offers:
            message = f"memory `{place.component.name}`, where `{need.target}` lies, offers no `{need.resource}`"
            hint = "it offers " + ", ".join(f"`{name}`" for name in place.component.resources)
            related = (Related(place.component.name_span, "the memory"),) if place.component.name_span else ()
            fail("no-such-resource", message, need.resource_span or need.span, related=related, hint=hint)
        return offers

    def _names(self, alias: str, offer: Offer) -> list[str]:
        """Names that times on a resource of such a memory count for: the alias, and the resource's own name where a
        requirement of that name is served by this memory."""
        direct = self.where.offers.get(offer.resource.name)
        return [alias, offer.resource.name] if direct is not None and direct.place.path == offer.place.path else [alias]

    def _own_conflicts(self) -> Iterator[tuple[str, str]]:
        """Conflicts among what memories that others come before serve: those that they declare themselves, and those
        that a component declares of a resource that is not its own. Whoever asks for such a resource by the name the
        memory has for it waits as well; the times of `serial` levels add."""
        if not self._kernels:
            return
        offers = self.offers
        places = list(self.where.machine.first_places(self.where.socket))
        components = [place.component for place in places]
        for memory in {offer.place.component.name: offer.place.component for offer in offers.values()}.values():
            names = {
                offer.resource.name: self._names(alias, offer)
                for alias, offer in offers.items()
                if offer.place.component is memory
            }
            yield from (both for alike in names.values() for both in combinations(alike, 2))
            for component in components:
                own = component.resources if component is not memory else {}
                known = {name: alike for name, alike in names.items() if name not in own}
                for first, second in component.conflicts:
                    if first in known or second in known:
                        yield from product(known.get(first, [first]), known.get(second, [second]))
        leading = {name: self.where.offers[name].place for name in MEMORY_RESOURCES if name in self.where.offers}
        memories = leading | {alias: offer.place for alias, offer in offers.items()}
        yield from combinations(serial_levels(places, memories), 2)


def collect_placed_data(application: Application) -> dict[str, nodes.Data]:
    """The declarations of all data by their full names, those of kernels and imported models included."""
    placed = {
        application.prefix + name: node
        for name, node in declarations_by_name(nodes.Data, application.node.declarations).items()
    }
    for kernel in application.kernels.values():
        owner = application.prefix + kernel.name
        placed |= {
            f"{owner}.{name}": node for name, node in declarations_by_name(nodes.Data, kernel.declarations).items()
        }
    for model in application.models():
        placed |= collect_placed_data(model)
    return placed


def memory_named(machine: Machine, socket: str | None, node: nodes.Data) -> Place:
    """The memory in which data say they lie: the first of that name, else the first of that type, else the first that
    has a property of that name without a value (`property hbm`). Raises AspenError where there is none."""
    memories = [
        place
        for place in machine.first_places(socket)
        if any(find_serving_resource(place, name) for name in MEMORY_RESOURCES)
    ]
    wanted = node.memory or ""
    for answers in (_has_name, _has_type, _has_flag):
        memory = next((place for place in memories if answers(place, wanted)), None)
        if memory is not None:
            return memory
    on = f" with socket `{socket}`" if socket else ""
    names = [place.component.name for place in memories]
    flags = [name for place in memories for name in _list_flags(place)]
    types = [place.component.type for place in memories]
    has = "its memories are " + ", ".join(map(_describe_place, memories)) if memories else "it offers no `loads`"
    hint = suggest_nearest(wanted, [*names, *flags, *types]) or has
    message = f"machine `{machine.name}`{on} has no memory `{wanted}`"
    fail("unknown-memory", message, node.memory_span or node.span, hint=hint)


def _has_name(place: Place, wanted: str) -> bool:
    return place.component.name == wanted


def _has_type(place: Place, wanted: str) -> bool:
    return place.component.type == wanted


def _has_flag(place: Place, wanted: str) -> bool:
    return wanted in _list_flags(place)


def _list_flags(place: Place) -> list[str]:
    return [name for name, item in place.component.properties.items() if item.value is None]


def _describe_place(place: Place) -> str:
    """`ddr4_2133` (ddr)"""
    flags = ", ".join(_list_flags(place))
    return f"`{place.component.name}` ({flags})" if flags else f"`{place.component.name}`"


def find_serving_resource(place: Place, resource: str) -> Resource | None:
    """The resource with which a memory loads or stores: the one of that name, or the only one whose name ends in it,
    such as the `nvram_loads` of a memory whose data must be asked for by that name otherwise."""
    own = place.component.resources
    if resource in own:
        return own[resource]
    similar = [item for name, item in own.items() if name.endswith(f"_{resource}")]
    return similar[0] if len(similar) == 1 else None
