"""How the blocks of an application touch their data, and what the run swept before: what is asked of the caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.reading import Reader, read_access
from aspenpy.cost.caches.traffic import Traffic, block_traffic
from aspenpy.cost.caches.warm import Swept
from aspenpy.cost.prices import MEMORY_RESOURCES, Offer
from aspenpy.cost.waiting import loads_waited_for
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.files import Reader as Files
from aspenpy.language.source import Source
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.arrays import History, size_in_arguments
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import callees_first
from aspenpy.traces.histogram import parse_histogram

Numbers = tuple[float, ...]


class Accesses:
    """The accesses of an application's blocks, when it begins with a kernel."""

    def __init__(self, application: Application, entry: flow.Kernel, definitions: Mapping[Expr, Expr]) -> None:
        self.application = application
        self.entry = entry
        self.definitions = definitions
        self._readers: dict[flow.Kernel, Reader] = {}

    def traffic(
        self,
        block: flow.Block,
        serving: Callable[[flow.Requirement], Offer | None],
        levels: Sequence[Level],
        page: Expr,
        buffer: Level | None,
    ) -> dict[flow.Requirement, Traffic]:
        """What the requirements of a block that say how they touch their data move between the levels."""
        accesses = self._of(block, serving)
        return (
            block_traffic(accesses, levels, self._sweep_before(block, accesses), page, buffer)
            if accesses and levels
            else {}
        )

    def _of(self, block: flow.Block, serving: Callable[[flow.Requirement], Offer | None]) -> list[Access]:
        """A trait that the machine, in what is `serving` a requirement, gives a rule for is the machine's."""
        accesses, reader = [], self._reader(self._history.kernel(block))
        waited_for = loads_waited_for(block.requirements).values()
        for requirement in dict.fromkeys((*block.requirements, *waited_for)):
            offer = serving(requirement)
            known = frozenset(offer.resource.traits) if offer is not None else frozenset[str]()
            access = read_access(requirement, reader, known)
            if access is not None:
                accesses.append(access)
        return accesses

    @cached_property
    def _history(self) -> History:
        return History(self.entry, MEMORY_RESOURCES)

    @cached_property
    def _sizes(self) -> dict[str, tuple[flow.Kernel | None, Expr]]:
        return data_sizes(self.application, self.entry)

    def _sizes_in(self, kernel: flow.Kernel) -> dict[str, Expr]:
        """Sizes of data structures that have a value in a kernel: its own may depend on its arguments."""
        return {
            name: size
            for name, (owner, size) in self._sizes.items()
            if owner in (None, kernel) or graph.free_symbols(size).isdisjoint(owner.formals)
        }

    def _reader(self, kernel: flow.Kernel) -> Reader:
        if kernel not in self._readers:
            sizes = self._sizes_in(kernel)
            for name in kernel.arrays:
                known = [sizes.get(full) for full in self._history.named(kernel, name)]
                different = list(dict.fromkeys(size for size in known if size is not None))
                if different and None not in known:
                    sizes[name] = different[0] if len(different) == 1 else graph.apply("max", *different)
            self._readers[kernel] = Reader(sizes, self.definitions, histogram_reader(self.application))
        return self._readers[kernel]

    def _sweep_before(self, block: flow.Block, accesses: Sequence[Access]) -> Swept:
        """What was swept before a block, and when: data structures that the run has touched by then, or touches in a
        loop around it. Where some of those that are warm are not among them, or have no name, all that the run touches
        were swept together."""
        kernel, order = self._history.kernel(block), self._history.before(block)
        targets = dict.fromkeys(access.requirement.target for access in accesses)
        warm = {access.requirement.target for access in accesses if access.warm}
        meant = {target: [None] if target is None else self._history.named(kernel, target) for target in targets}
        ages = {name: age for age, names in enumerate(order) for name in names}
        if None in ages or not ages.keys() >= {name for target in warm for name in meant[target]}:
            ages = dict.fromkeys(self._history.all, 0)
        sizes = self._sizes_in(kernel)
        rest = {name: 0 if None in ages else ages[name] for name in sizes if None in ages or name in ages}
        for names in meant.values():
            rest.pop(next((name for name in names if name in rest), ""), None)
        known = {name: size for name, size in self._reader(kernel).sizes.items() if name in meant}
        own = {target: min(ages.get(name, ages.get(None, -1)) for name in names) for target, names in meant.items()}
        return Swept(known, own, tuple((age, sizes[name]) for name, age in rest.items()))


def data_sizes(application: Application, entry: flow.Kernel) -> dict[str, tuple[flow.Kernel | None, Expr]]:
    """Bytes of all data structures by their full names, and the kernel that declares one of its own."""
    found: dict[str, tuple[flow.Kernel | None, Expr]] = {
        name: (None, data.size) for name, data in application.data.items()
    }
    for kernel in callees_first(entry):
        _, node = application.find_kernel(kernel.name)
        for name in declarations_by_name(nodes.Data, node.declarations):
            full_name = f"{kernel.name}.{name}"
            size = size_in_arguments(application, kernel.name, full_name, application.origins)
            if size is not None:
                found[full_name] = kernel, size
    return found


def histogram_reader(application: Application) -> Callable[[str, flow.Trait], tuple[Numbers, Numbers, float]]:
    """Reads histograms beside the model: their distances in lines, the share of the accesses that has each, and that
    of first touches, which have none."""
    node = application.node
    model = node.span.source if node.span is not None else Source("")
    files = Files(allow_outside=application.reads_outside)

    def read(name: str, trait: flow.Trait) -> tuple[Numbers, Numbers, float]:
        asking = trait.span.source if trait.span is not None else model
        found = parse_histogram(files.data(name, asking, model, trait.span))
        shares = (high - low for low, high in pairwise((0.0, *found.cumulative)))
        return found.distances, tuple(shares), found.cold

    return read
