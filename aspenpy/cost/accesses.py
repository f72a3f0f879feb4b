"""Accesses of the blocks of an application to their data, and what the run swept before: what is asked of the
caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, pairwise

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.divided import MIDDLE, Division, divide_accesses, join_levels, middles_of
from aspenpy.cost.caches.known import KnownTouches
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import PAGE
from aspenpy.cost.caches.reading import TraitReader, read_access
from aspenpy.cost.caches.touched import swept_since, touched_by, touched_name
from aspenpy.cost.caches.traffic import RequirementTraffic, block_traffic
from aspenpy.cost.caches.warm import COLD, Last, Swept
from aspenpy.cost.history import ReuseHistory
from aspenpy.cost.instances import Instances
from aspenpy.cost.occupancy import count_resident
from aspenpy.cost.prices import Offer
from aspenpy.cost.touch_order import Touched
from aspenpy.cost.trait_names import GRID
from aspenpy.cost.waiting import loads_waited_for
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.files import Reader as Files
from aspenpy.language.source import Source
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application, ArrayArguments, array_arguments, size_in_arguments
from aspenpy.models.application.total import blocks_in, callees_first
from aspenpy.models.machine.model import Place
from aspenpy.traces.histogram import parse_histogram

Numbers = tuple[float, ...]

Serving = Callable[[flow.Requirement], Offer | None]

InstancesOf = Callable[[flow.Block], Instances]


class Divider:
    """Divides the accesses of blocks among the components of a `place`, of which a rank has several; among none where
    it is None. `middle`: where the passes of the part lie that it gives, as a share of all."""

    def __init__(self, instances_of: InstancesOf, place: Place | None = None, middle: Fraction = MIDDLE) -> None:
        self.instances_of = instances_of
        self.place = place
        self.middle = middle

    def divide(self, block: flow.Block, accesses: Sequence[Access]) -> Division:
        if self.place is None:
            return Division(tuple(accesses))
        return divide_accesses(accesses, self.instances_of(block).parts_at(self.place), self.middle)

    @property
    def to_middle(self) -> Divider:
        """The divider that gives the part in the middle, which stands for what the run touched before."""
        return self if self.middle == MIDDLE else Divider(self.instances_of, self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Divider) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> object:
        return None if self.place is None else (self.place.count, self.middle)


class Accesses:
    """The accesses of an application's blocks, when it begins with a kernel."""

    def __init__(
        self, application: Application, entry: flow.Kernel, definitions: Mapping[Expr, Expr], core: Place | None
    ) -> None:
        self.application = application
        self.entry = entry
        self.definitions = definitions
        self.core = core
        self._readers: dict[flow.Kernel, TraitReader] = {}
        self._touches = KnownTouches()
        self._histories: dict[tuple[Expr, Divider], ReuseHistory] = {}
        self._touched: dict[tuple[int, Expr, Divider], dict[str, Touched]] = {}

    def traffic(
        self,
        block: flow.Block,
        serving: Serving,
        levels: Sequence[Level],
        page: Expr,
        buffer: Level | None,
        instances_of: InstancesOf,
    ) -> dict[flow.Requirement, RequirementTraffic]:
        """Traffic between the levels of the requirements of a block that say how they touch their data. A cache of
        which the cores of a rank have several sees a part of the rank's work."""
        kernel = self._kernels[block.requirements]
        accesses = self._read_accesses(block, kernel, serving)
        if not accesses or not levels:
            return {}
        accesses = [access.by_lines(levels[0].unit) for access in accesses]
        if is_grid(block):
            return self._traffic_of_grid(block, serving, accesses, levels, page=page, buffer=buffer, of=instances_of)
        if all(access.loads_together for access in accesses):
            levels = [level.of_readers for level in levels]

        def part(divider: Divider) -> dict[flow.Requirement, RequirementTraffic]:
            return self._traffic_of_part(block, serving, accesses, levels, page=page, buffer=buffer, divider=divider)

        instances, undivided = instances_of(block), Divider(instances_of)
        places = [None if buffer is None else buffer.place, *(level.place for level in levels)]
        several = [place if place and instances.parts_at(place) is not graph.ONE else None for place in places]
        if not any(several):
            return part(undivided)
        middles = middles_of(accesses)
        dividers = [
            [undivided] if place is None else [Divider(instances_of, place, middle) for middle in middles]
            for place in several
        ]
        found = {divider: part(divider) for divider in dict.fromkeys(chain(*dividers))}
        first, *by_level = (
            [(found[divider], divider.divide(block, accesses).parts / len(those)) for divider in those]
            for those in dividers
        )
        return {access.requirement: join_levels(access, by_level, first) for access in accesses}

    def _traffic_of_grid(
        self,
        block: flow.Block,
        serving: Serving,
        accesses: Sequence[Access],
        levels: Sequence[Level],
        *,
        page: Expr,
        buffer: Level | None,
        of: InstancesOf,
    ) -> dict[flow.Requirement, RequirementTraffic]:
        """Traffic of instances that lie in a grid. Each has caches of its own, or a part of them; the last level, and
        one that there is once, serves all side by side and brings what neighbours share for both of them (NVIDIA, CUDA
        C++ Best Practices Guide, "L2 Cache": one for all multiprocessors)."""
        instances, divider = of(block), Divider(of)
        part = partial(self._traffic_of_part, block, serving, page=page, buffer=buffer, divider=divider)
        own = part([access.of_instance for access in accesses], levels), graph.ONE
        wholes = [access.of_grid(block.parallelism) for access in accesses]
        whole = part(wholes, [level.of_all for level in levels]), 1 / block.parallelism
        by_level = [
            [whole if level is levels[-1] or instances.available(level.place) is graph.ONE else own] for level in levels
        ]
        return {access.requirement: join_levels(access, by_level, [own]) for access in accesses}

    def _traffic_of_part(
        self,
        block: flow.Block,
        serving: Serving,
        whole: Sequence[Access],
        levels: Sequence[Level],
        *,
        page: Expr,
        buffer: Level | None,
        divider: Divider,
    ) -> dict[flow.Requirement, RequirementTraffic]:
        accesses = divider.divide(block, whole).accesses
        before = divider.to_middle
        known = dict[tuple[object, ...], list[Last]]()

        def last(requirement: flow.Requirement, line: Expr, warm: bool, stored: bool) -> Sequence[Last]:
            key = (requirement.target, line, warm, stored)
            if key not in known:
                known[key] = self._last_touches(
                    requirement,
                    block,
                    accesses=whole,
                    history=self._history(line, serving, before),
                    divider=before,
                    line=line,
                    warm=warm,
                    stored=stored,
                )
            return known[key]

        return block_traffic(accesses, levels, last, page, buffer, self._touches)

    def _read_accesses(self, block: flow.Block, kernel: flow.Kernel, serving: Serving) -> list[Access]:
        """A trait that the machine, in what is `serving` a requirement, gives a rule for is the machine's."""
        accesses, reader = [], self._reader(kernel)
        waited_for = loads_waited_for(block.requirements).values()
        for requirement in dict.fromkeys((*block.requirements, *waited_for)):
            offer = serving(requirement)
            known = frozenset(offer.resource.traits) if offer is not None else frozenset[str]()
            access = read_access(requirement, reader, known)
            if access is not None:
                accesses.append(access)
        return accesses

    @cached_property
    def _kernels(self) -> dict[tuple[flow.Requirement, ...], flow.Kernel]:
        """The kernel that each block stands in."""
        return {block.requirements: kernel for kernel in callees_first(self.entry) for block in blocks_in(kernel.body)}

    @cached_property
    def _arguments(self) -> ArrayArguments:
        return array_arguments(self.entry)

    def _history(self, line: Expr, serving: Serving, divider: Divider) -> ReuseHistory:
        """The history of touches of blocks, in lines of `line` bytes."""
        if (line, divider) not in self._histories:

            def touches(block: flow.Block, kernel: flow.Kernel) -> dict[str, Touched]:
                return self._touched_in(block, line, lambda: self._read_accesses(block, kernel, serving), divider)

            def size(name: str, kernel: flow.Kernel) -> Expr | None:
                return self._reader(kernel).sizes.get(name)

            turns = partial(self._turns, divider)
            self._histories[line, divider] = ReuseHistory(self.entry, touches, size, line, turns)
        return self._histories[line, divider]

    def _turns(self, divider: Divider, block: flow.Block) -> Expr:
        """The instances of a block that follow each other on a core."""
        if block.parallelism is graph.ONE or is_grid(block):
            return graph.ONE
        return divider.instances_of(block).mean_turns(self.core, count_resident(block.requirements, self.core))

    def _touched_in(
        self, block: flow.Block, line: Expr, accesses: Callable[[], Sequence[Access]], divider: Divider
    ) -> dict[str, Touched]:
        """Lines of `line` bytes that a block touches of each structure. Kept, since each later block asks for it."""
        key = id(block.requirements), line, divider
        if key not in self._touched:
            part = divider.divide(block, accesses())
            at_once = graph.div(block.parallelism, self._turns(divider, block))
            if is_grid(block):
                at_once = graph.ONE
                part = part.replace(accesses=tuple(each.of_grid(block.parallelism) for each in part.accesses))
            self._touched[key] = touched_by(block, part.accesses, line, at_once=at_once, parts=part.parts)
        return self._touched[key]

    @cached_property
    def _sizes(self) -> dict[str, tuple[flow.Kernel | None, Expr]]:
        return data_sizes(self.application, self.entry)

    @cached_property
    def _pages(self) -> dict[str, Expr]:
        """Pages before each data structure of all kernels, as an allocator lays them in the order of their declaration,
        and of the entry kernel."""
        pages, end = dict[str, Expr](), graph.ZERO
        for name, (owner, size) in self._sizes.items():
            if owner in (None, self.entry):
                pages[name] = end
                end = end + graph.apply("ceil", size / PAGE)
        return pages

    def _sizes_in(self, kernel: flow.Kernel) -> dict[str, Expr]:
        """Sizes of data structures that have a value in a kernel: its own may depend on its arguments."""
        return {
            name: size
            for name, (owner, size) in self._sizes.items()
            if owner in (None, kernel) or graph.free_symbols(size).isdisjoint(owner.formals)
        }

    def _reader(self, kernel: flow.Kernel) -> TraitReader:
        if kernel not in self._readers:
            sizes, pages = self._sizes_in(kernel), dict(self._pages)
            for name in kernel.arrays:
                behind = self._arguments[kernel.name].get(name, (name,))
                pages.pop(name, None)
                if len(behind) == 1 and (only := next(iter(behind))) in self._pages:
                    pages[name] = self._pages[only]
                known = [sizes.get(full) for full in behind]
                different = list(dict.fromkeys(size for size in known if size is not None))
                if different and None not in known:
                    sizes[name] = different[0] if len(different) == 1 else graph.apply("max", *different)
            self._readers[kernel] = TraitReader(sizes, pages, self.definitions, histogram_reader(self.application))
        return self._readers[kernel]

    def _last_touches(
        self,
        requirement: flow.Requirement,
        block: flow.Block,
        *,
        accesses: Sequence[Access],
        history: ReuseHistory,
        divider: Divider,
        line: Expr,
        warm: bool,
        stored: bool,
    ) -> list[Last]:
        """Last touches of the structure. Where it is certainly `warm`, and nothing in the run has touched it or it has
        no name, all that the run touches were swept together."""
        touched = self._touched_in(block, line, lambda: accesses, divider)
        targets = list(dict.fromkeys(access.requirement.target for access in accesses))
        name = None if requirement.target is None else touched_name(requirement)
        found = list[Last]()
        if name is not None and name in touched:
            for source in history.sources(block, name, touched[name], [*touched], stored):
                swept = (
                    None
                    if source.since is None
                    else swept_since(
                        source, name, touched, targets=targets, stored=stored, orders=history.orders, line=line
                    )
                )
                found.append(Last(source.weight, swept, source.part))
        if not warm:
            return found or [COLD]
        ever = [last for last in found if last.swept is not None]
        touches_before = graph.compare(">", graph.add(*(last.share for last in ever)), 0) if ever else graph.FALSE
        if len(ever) == 1:
            ever = [ever[0].replace(share=graph.if_else(touches_before, 1, 0))]
        if touches_before is graph.TRUE:
            return ever
        together = self._swept_together(block, targets, history, line, divider.divide(block, accesses))
        return [*ever, Last(graph.if_else(touches_before, 0, 1), together)]

    def _swept_together(
        self, block: flow.Block, targets: Sequence[str | None], history: ReuseHistory, line: Expr, part: Division
    ) -> Swept:
        """All data structures that the run touches, those of a block among them; all that there are where some accesses
        do not name theirs. Of one that is divided a part of each, but for tables, which each part draws from."""
        kernel = self._kernels[block.requirements]
        sizes, known = self._sizes_in(kernel), self._reader(kernel).sizes
        arguments = self._arguments[kernel.name]
        touched = history.names
        own = {full for target in targets if target is not None for full in arguments.get(target, (target,))}
        wanted = [name for name in sizes if touched is None or name in touched]
        tables = {access.requirement.target for access in part.accesses if access.is_scattered}
        lines = {
            name: size / line / (graph.ONE if name in tables else part.parts)
            for name, size in known.items()
            if name in targets
        }
        rest = tuple((0, sizes[name] / line / part.parts) for name in wanted if name not in own)
        return Swept(dict.fromkeys(targets, 0), lines, rest)


def is_grid(block: flow.Block) -> bool:
    """Whether the instances of a block lie in a grid: all its nests say so."""
    return any(trait.name == GRID for requirement in block.requirements for trait in requirement.traits)


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
