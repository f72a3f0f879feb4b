"""Footprint: the data structures that kernels and regions of a run touch, their bytes, and whether they fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

from aspenpy.answers.case import Case, CaseOptions, ResolvedCase, case_of
from aspenpy.answers.paths import Scene, Visit, largest_over_passes, visits_of_blocks
from aspenpy.answers.scope import Value
from aspenpy.cost.instances import Instances
from aspenpy.cost.mapper import warnings_of
from aspenpy.cost.residence import Residence, collect_placed_data
from aspenpy.cost.target import target_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.model import Application, size_in_arguments
from aspenpy.models.application.total import callees_first
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record
from aspenpy.tables.result import Result


class DataUse(Record):
    """A data structure: its bytes (None where they are not declared, or differ from pass to pass in a way that has no
    largest value), and the bytes loaded from it and stored to it over the run."""

    name: str
    size: Value | None
    loads: Value
    stores: Value


class RegionUse(Record):
    """A kernel, or labelled statements in it: `name` is the kernel and the labels. The data structures touched in its
    own statements, and with all that is called there; their bytes, those without a size left out."""

    name: tuple[str, ...]
    own: tuple[str, ...]
    touched: tuple[str, ...]
    exclusive: Value
    inclusive: Value


class Capacity(Record):
    """A memory: path, number, total size in bytes (None if not declared), the data structures in it, their bytes. Where
    ranks are bound to a part of the machine, `one` of these memories has `fullest` bytes of it at most."""

    memory: str
    count: Value
    size: Value | None
    data: tuple[str, ...]
    held: Value
    one: Value | None = None
    fullest: Value | None = None

    @property
    def fits(self) -> bool | None:
        """Whether it holds its data; None where the machine does not say."""
        if self.size is None or self.one is None:
            return None
        return self.held <= self.size if self.fullest is None else self.fullest <= self.one


class Footprint(Result):
    """The data structures that a run touches, each counted once and whole; branches not taken are left out.

    :returns: bytes of each data structure and kernel, and whether they fit into the memories of `machine`
    :raises AspenError: for unknown parameters; data without a size are a warning in `diagnostics`
    """

    def __init__(self, app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> None:
        case = case_of(app, machine, options)
        self.application = case.application
        self.machine = case.machine
        self.socket = case.socket
        self.run = ResolvedCase(case)
        self._touches = self._find()

    @property
    def kernel(self) -> str:
        """The kernel that was run."""
        return self.run.entry.name

    @property
    def total(self) -> Value:
        """Bytes of all that is touched."""
        return self._bytes(self.data)

    @cached_property
    def data(self) -> dict[str, DataUse]:
        """The data structures touched, in the order in which they first are."""
        moved: dict[tuple[str, str], Value] = {}
        for touch in self._touches:
            if touch.resource in ("loads", "stores"):
                key = (touch.data, touch.resource)
                moved[key] = moved.get(key, 0) + touch.amount
        names = dict.fromkeys(touch.data for touch in self._touches)
        return {
            name: DataUse(name, self._sizes.get(name), moved.get((name, "loads"), 0), moved.get((name, "stores"), 0))
            for name in names
        }

    @cached_property
    def regions(self) -> tuple[RegionUse, ...]:
        """The kernels in the order in which they call each other, each with its regions behind it."""
        own: dict[tuple[str, ...], dict[str, None]] = {}
        touched: dict[tuple[str, ...], dict[str, None]] = {}
        for touch in self._touches:
            for region in _region_keys(touch.region):
                touched.setdefault(region, {})[touch.data] = None
                directly = own.setdefault(region, {})
                if touch.kernel == region[0]:
                    directly[touch.data] = None
        order = [kernel.name for kernel in reversed(callees_first(self.run.entry))]
        ordered = sorted(own, key=lambda region: order.index(region[0]))
        return tuple(
            RegionUse(key, tuple(own[key]), tuple(touched[key]), self._bytes(own[key]), self._bytes(touched[key]))
            for key in ordered
        )

    @cached_property
    def capacities(self) -> tuple[Capacity, ...]:
        """The memory of the machine that serves the loads, which holds all data that do not say where they lie, and
        those in which others do; none without a machine, or where nothing serves loads."""
        if self.machine is None:
            return ()
        where = target_of(self.machine, self.socket)
        if "loads" not in where.offers:
            return ()
        first = where.offers["loads"].place
        lying = Residence(self.application, self.run.entry, where).memories
        held = {first.path: (first, [name for name in self.data if lying.get(name, first).path == first.path])}
        for name, place in lying.items():
            if place.path != first.path and name in self.data:
                held.setdefault(place.path, (place, []))[1].append(name)
        return tuple(self._make_capacity(place, tuple(names)) for place, names in held.values())

    @property
    def capacity(self) -> Capacity | None:
        """The memory of the machine that serves the loads; None without a machine, or where none does."""
        return self.capacities[0] if self.capacities else None

    def _make_capacity(self, place: Place, names: tuple[str, ...]) -> Capacity:
        held, share = self._bytes(names), self._share(place)
        size = place.component.value("capacity")
        count, one = self.run.values([place.count, graph.ZERO if size is None else size])
        fullest = None if share is None else share * held
        stated_one, total = (None, None) if size is None else (one, count * one)
        return Capacity("/".join(place.path), count, total, data=names, held=held, one=stated_one, fullest=fullest)

    def _share(self, place: Place) -> Value | None:
        """The part of the data that the fullest of the components of a place has, where ranks are bound to some of
        them: each rank has as much as another. None where no block has ranks that share their work out."""
        assert self.machine is not None
        where = target_of(self.machine, self.socket, self.run.case.placement)
        instances = [(touch.visit.scene, where.instances(touch.visit.block)) for touch in self._touches]
        numbers = self.run.formulas([scene.bind([one.placed])[0] for scene, one in instances if one.placed is not None])
        most = max(self.run.values([number for number in numbers if not graph.free_symbols(number)]), default=0)
        if not most or where.ranks is None:
            return None
        ranks = Instances(graph.number(most), placement=where.ranks)
        part: Value = self.run.values([ranks.part_on(place)])[0]
        return part

    @property
    def fits(self) -> bool | None:
        """Whether all that is touched fits into the machine's memories; None where nobody can tell."""
        verdicts = [capacity.fits for capacity in self.capacities]
        if False in verdicts:
            return False
        return True if verdicts and None not in verdicts else None

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings: those of the models, data structures without a size, a memory that is too small."""
        warnings = warnings_of(self.application, self.machine, self.socket, self.kernel)
        for use in self.data.values():
            if use.size is None:
                touch = next(touch for touch in self._touches if touch.data == use.name)
                message = f"the size of `{use.name}` is not declared, so it is not counted"
                hint = f"declare it: data {use.name} [bytes]"
                warnings.append(warning("unknown-size", message, touch.span, hint=hint))
        return (*warnings, *self.warn_of_overflow())

    def warn_of_overflow(self) -> list[Diagnostic]:
        """A warning for each memory that is too small for its data, where these are declared to be placed in it."""
        declared = collect_placed_data(self.application)
        warnings = []
        for memory in self.capacities:
            placed = [name for name in memory.data if name in declared and declared[name].memory is not None]
            if memory.size is not None and self._bytes(placed) > memory.size:
                warnings.append(self._warn_of_spilling(memory, memory.size, placed, declared))
            elif memory.fullest is not None and not memory.fits:
                warnings.append(self._warn_of_crowding(memory, memory.fullest))
            elif memory.size and not memory.fits:
                message = (
                    f"`{self.kernel}` touches {float(memory.held / memory.size):.3g} times the capacity of the memory"
                )
                warnings.append(warning("exceeds-memory", message, self.run.entry.name_span))
        return warnings

    def _warn_of_crowding(self, memory: Capacity, fullest: Value) -> Diagnostic:
        """Said of a device, or what else ranks occupy, that is too small for its share."""
        name = memory.memory.rpartition("/")[2]
        share = f"{format_quantity(fullest, 'B')} on one `{name}`, which holds {format_quantity(memory.one or 0, 'B')}"
        message = f"the ranks of `{self.kernel}` have {share}"
        return warning(
            "exceeds-memory", message, self.run.entry.name_span, hint="with more ranks each has less of the data"
        )

    def _warn_of_spilling(
        self, memory: Capacity, size: Value, placed: Sequence[str], declared: Mapping[str, nodes.Data]
    ) -> Diagnostic:
        """Said of the data structure that is one too many, in the order in which they are touched."""
        several = len([name for name in placed if self._bytes([name])]) > 1
        index = next(index for index in range(len(placed)) if self._bytes(placed[: index + 1]) > size)
        held = format_quantity(self._bytes(placed), "B")
        what = f"{len(placed)} data structures of {held} lie" if several else f"`{placed[index]}` of {held} lies"
        over = format_quantity(self._bytes(placed) - size, "B")
        name = memory.memory.rpartition("/")[2]
        message = f"{what} in `{name}`, which holds {format_quantity(size, 'B')}: {over} too much"
        node = declared[placed[index]]
        hint = "times assume that they fit; move some to another memory"
        return warning("exceeds-memory", message, node.memory_span or node.span, hint=hint)

    # -- finding ---------------------------------------------------------------------------------

    def _find(self) -> list[_Touch]:
        """The requirements that name a data structure, where the run reaches them."""
        met = [
            (visit, requirement)
            for visit in visits_of_blocks(self.run.entry)
            for requirement in visit.block.requirements
            if requirement.target is not None
        ]
        executions = [visit.sum_over_run(graph.ONE) for visit, _ in met]
        amounts = [
            visit.sum_over_run(graph.mul(*visit.scene.bind([visit.block.parallelism, requirement.amount])))
            for visit, requirement in met
        ]
        values = self.run.values([*executions, *amounts]) if met else []
        return [
            _Touch(
                visit,
                visit.scene.kernel.name,
                visit.scene.region,
                requirement.resource,
                visit.scene.data(requirement.target or ""),
                values[len(met) + index],
                requirement.target_span or requirement.span,
            )
            for index, (visit, requirement) in enumerate(met)
            if values[index]
        ]

    @cached_property
    def _sizes(self) -> dict[str, Value]:
        """The bytes of each data structure, the largest where they differ from call to call."""
        found: dict[str, Value] = {}
        declared = self.application.data
        for touch in self._touches:
            scene = touch.visit.scene
            if touch.data in declared:
                sizes = [] if touch.data in found else [self._size(declared[touch.data].size, scene)]
            else:
                sizes = [self._local_size(touch.data, scene)]
            for size in sizes:
                if size is not None:
                    found[touch.data] = max(size, found.get(touch.data, 0))
        return found

    def _local_size(self, name: str, scene: Scene) -> Value | None:
        """The bytes of a data structure that a kernel of the call path declares."""
        owner = name.rpartition(".")[0]
        if owner != scene.kernel.name:
            return None
        size = size_in_arguments(self.application, owner, name, self.run.scope.origins)
        return None if size is None else self._size(scene.bind([size])[0], scene)

    def _size(self, size: Expr, scene: Scene) -> Value | None:
        loops = [loop for loop in scene.loops if loop.node.named]
        formula, *counts = self.run.formulas([size, *(loop.count for loop in loops)])
        if not graph.free_symbols(formula):
            value: Value = self.run.values([size])[0]
            return value
        (formula,) = self.run.formulas([scene.where_reached(size)])
        around = [(loop.node.counter, count) for loop, count in zip(loops, counts, strict=True)]
        most: Value | None = largest_over_passes(formula, around, self.run.case.seed)
        return most

    def _bytes(self, names: Iterable[str]) -> Value:
        return sum((size for name in names if (size := self._sizes.get(name)) is not None), 0)


memory = Footprint  # what `aspenpy memory` shows, under the command's name


class _Touch(Record):
    """One requirement's use of a data structure on one call path, bytes over the run."""

    visit: Visit
    kernel: str
    region: tuple[str, ...]
    resource: str
    data: str
    amount: Value
    span: Any


def _region_keys(region: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Regions that a place belongs to, outermost first: each kernel on the call path, and the labels in it."""
    key: tuple[str, ...] = ()
    for name in region:
        key = (*key, name) if name.startswith('"') else (name,)
        yield key
