"""Which loads and stores of the source reach memory.

An optimising compiler keeps a value in a register while nothing may change it in memory: from one reference to the next
in straight-line code, over a loop in which the address stays (loads before it, stores behind it: Muchnick, Advanced
Compiler Design and Implementation, 1997, sections 13.1 and 13.2, and register promotion, Cooper and Lu, PLDI 1997).
What may change it is a store whose place may be the same: two pointers that the program is given may point there.
At `o2` values stay in registers from pass to pass too, at `o3` loops are jammed and vectorised (`loop_transforms`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Literal

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Monomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    Alternative,
    Arithmetic,
    Array,
    Guard,
    Invocation,
    Item,
    MemoryAccess,
    MessageStatement,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.loop_transforms import jam_loops, reuse_across_passes
from aspenpy.extract.scope import depends_on_data
from aspenpy.extract.values import ONE
from aspenpy.record import Record

Key = tuple[str, object]
Kind = tuple[object, ...]
"""Array, members on the way, precision and size: what says whether accesses of two kinds can meet at all."""

Line = tuple[object, Fraction] | None
"""What places have in common that lie whole words apart; None for those that may lie anywhere in their array."""

Test = Callable[[MemoryAccess, MemoryAccess], bool]

_NUMBER = Monomial()


class RegisterContents:
    """Accesses whose values lie in registers or wait to be stored, one for each place. `may_alias` says whether
    accesses of two kinds may touch the same bytes."""

    def __init__(self, may_alias: Test, accesses: Iterable[MemoryAccess] = ()) -> None:
        self.may_alias = may_alias
        self.kinds: dict[Kind, dict[Line, dict[Key, MemoryAccess]]] = {}
        for access in accesses:
            self.add(access)

    def __contains__(self, access: MemoryAccess) -> bool:
        return access.place() in self.kinds.get(_access_kind(access), {}).get(_access_line(access), {})

    def add(self, access: MemoryAccess) -> None:
        self.kinds.setdefault(_access_kind(access), {}).setdefault(_access_line(access), {})[access.place()] = access

    def drop_overlapping(self, by: MemoryAccess) -> None:
        """Drops accesses to other places that an access may overlap."""
        for kind, line, place in list(self._list_overlapping(by)):
            self._remove(kind, line, place)

    def drop(self, access: MemoryAccess) -> None:
        """Drops the access to the same place."""
        place, line = access.place(), _access_line(access)
        for kind, lines in list(self.kinds.items()):
            if place in lines.get(line, {}):
                self._remove(kind, line, place)

    def forget(self, access: MemoryAccess) -> None:
        """Drops the access to the same place, and all that it may overlap."""
        self.drop_overlapping(access)
        self.drop(access)

    def has_overlap(self, access: MemoryAccess) -> bool:
        """Whether an access may overlap one to another place."""
        return any(True for _ in self._list_overlapping(access))

    def copy(self) -> RegisterContents:
        other = RegisterContents(self.may_alias)
        other.kinds = {kind: {line: dict(held) for line, held in lines.items()} for kind, lines in self.kinds.items()}
        return other

    def keep_common(self, one: RegisterContents, two: RegisterContents) -> None:
        """Keeps what both of two others contain."""
        self.kinds = {}
        for kind, lines in one.kinds.items():
            for line, held in lines.items():
                other = two.kinds.get(kind, {}).get(line, {})
                common = {place: access for place, access in held.items() if place in other}
                if common:
                    self.kinds.setdefault(kind, {})[line] = common

    def _list_overlapping(self, by: MemoryAccess) -> Iterator[tuple[Kind, Line, Key]]:
        place, line = by.place(), _access_line(by)
        for kind, lines in self.kinds.items():
            first = next(iter(next(iter(lines.values())).values()))
            if not self.may_alias(by, first):
                continue
            for other, held in lines.items():
                if first.array == by.array and other is not None and other == line and first.size == by.size:
                    continue  # whole words apart
                for key, access in held.items():
                    if key != place and (first.array != by.array or _can_overlap(by, access)):
                        yield kind, other, key

    def _remove(self, kind: Kind, line: Line, place: Key) -> None:
        lines = self.kinds[kind]
        del lines[line][place]
        if not lines[line]:
            del lines[line]
        if not lines:
            del self.kinds[kind]


def _access_kind(access: MemoryAccess) -> Kind:
    return access.array, access.path, access.precision, access.size


def _access_line(access: MemoryAccess) -> Line:
    if access.offset is None or v.counters(access.offset):
        return None
    terms = dict(access.offset.terms)
    number = terms.pop(_NUMBER, Fraction(0))
    return frozenset(terms.items()), number % access.size


def _can_overlap(first: MemoryAccess, second: MemoryAccess) -> bool:
    """Whether two accesses of one array may touch the same bytes."""
    if first.offset is None or second.offset is None:
        return True
    if v.counters(first.offset) or v.counters(second.offset):
        return True
    distance = v.distance(first.offset, second.offset)
    return distance is None or -first.size < distance < second.size


Level = Literal["source", "o1", "o2", "o3"]
LEVELS: tuple[Level, ...] = ("source", "o1", "o2", "o3")


class HoistedLoop(Record):
    """A loop, with the loads before it and the stores behind it that were moved out of it."""

    nest: Nest
    before: tuple[MemoryAccess, ...]
    behind: tuple[MemoryAccess, ...]


class Registers:
    """Removes the accesses that registers spare. `overlaps` collects pairs of arrays that could not be told apart,
    `fixed` are the symbols whose values a compiler knows."""

    def __init__(self, arrays: dict[str, Array], level: Level, fixed: frozenset[Expr]) -> None:
        self.arrays = arrays
        self.fixed = fixed
        self.around: list[Nest] = []
        self.level = level
        self.overlaps: set[tuple[str, str]] = set()

    def remove_spared(self, items: list[Item]) -> list[Item]:
        """The items of a function without redundant accesses: in straight-line code first, then over loops."""
        kept = self._forward_stores(self._hoist(self._reuse_values(items, RegisterContents(self._may_alias))))
        if self.level == "o3":
            kept = jam_loops(kept, lambda body: self._reuse_values(body, RegisterContents(self._may_alias)))
        return reuse_across_passes(kept, self.level == "o3") if self.level in ("o2", "o3") else kept

    def _hoist(self, items: list[Item]) -> list[Item]:
        """Moves invariant accesses out of loops: the loops inside with loads before and stores behind them."""
        kept_items: list[Item] = []
        for item in items:
            if isinstance(item, Nest):
                kept = self._hoist_from_loop(item)
                kept_items += [*kept.before, kept.nest, *kept.behind]
            else:
                kept_items.append(rewrite_inside(item, self._hoist))
        return kept_items

    # -- straight-line code ------------------------------------------------------------------------

    def _reuse_values(self, items: list[Item], known: RegisterContents) -> list[Item]:
        """Drops loads of values in registers, and stores that the next one overwrites. Changes `known`, the places
        whose values are in registers."""
        found: list[Item] = []
        for item in items:
            if isinstance(item, MemoryAccess):
                if item.kind == "load" and not item.atomic and item.offset is not None and item in known:
                    continue
                if item.kind == "store":
                    known.drop_overlapping(item)
                if item.atomic:
                    known.drop(item)
                elif item.offset is not None:
                    known.add(item)
                found.append(item)
            elif isinstance(item, Alternative):
                left, right = known.copy(), known.copy()
                then, otherwise = self._reuse_values(item.then, left), self._reuse_values(item.otherwise, right)
                known.keep_common(left, right)
                found.append(item.replace(then=then, otherwise=otherwise))
            elif isinstance(item, Nest):
                for store in list_stores(item.body):
                    known.forget(store)
                found.append(item.replace(body=self._reuse_values(item.body, known.copy())))
            else:
                if isinstance(item, Invocation | MessageStatement):
                    known.kinds.clear()
                found.append(item)
        return self._drop_dead_stores(found)

    def _drop_dead_stores(self, items: list[Item]) -> list[Item]:
        """Drops stores that another store to the same place follows, before anything may read it."""
        kept_items: list[Item] = []
        dead = RegisterContents(self._may_alias)
        for item in reversed(items):
            if isinstance(item, MemoryAccess):
                if item.kind == "store" and item.offset is not None and not item.pinned:
                    if item in dead:
                        continue
                    dead.add(item)
                elif item.kind == "load":
                    dead.forget(item)
            elif isinstance(item, Nest):
                for access in list_accesses(item.body):
                    dead.forget(access)
            elif not isinstance(item, Arithmetic):
                dead.kinds.clear()
            kept_items.append(item)
        return kept_items[::-1]

    def _forward_stores(self, items: list[Item]) -> list[Item]:
        """Drops loads of values that a store or loop before has left in registers."""
        found: list[Item] = []
        known = RegisterContents(self._may_alias)
        for item in items:
            if isinstance(item, MemoryAccess):
                if item.kind == "load" and not item.pinned and item.offset is not None and item in known:
                    continue
                if item.kind == "store":
                    known.drop_overlapping(item)
                    known.add(item)
            elif isinstance(item, Nest):
                item = item.replace(body=self._forward_stores(item.body))
                for store in list_stores(item.body):
                    known.forget(store)
            elif isinstance(item, Alternative):
                item = rewrite_inside(item, self._forward_stores)
                known.kinds.clear()
            elif isinstance(item, Invocation | MessageStatement):
                known.kinds.clear()
            found.append(item)
        return self._drop_dead_stores(found)

    # -- loops -------------------------------------------------------------------------------------

    def _hoist_from_loop(self, nest: Nest) -> HoistedLoop:
        self.around.append(nest)
        body = self._hoist(nest.body)
        self.around.pop()
        inside = list(list_accesses(body))
        if any(
            isinstance(item, Invocation | MessageStatement) for item in walk_items(body)
        ):  # they may change any memory
            return HoistedLoop(nest.replace(body=body), (), ())
        before: list[MemoryAccess] = []
        behind: list[MemoryAccess] = []
        gone: set[Key] = set()
        kinds: dict[Key, set[str]] = {}
        for access in inside:
            kinds.setdefault(access.place(), set()).add(access.kind)
        every = RegisterContents(self._may_alias, inside)
        stored = RegisterContents(self._may_alias, (access for access in inside if access.kind == "store"))
        for first in body:
            if not isinstance(first, MemoryAccess) or first.offset is None or v.has_symbol(first.offset, nest.counter):
                continue
            if first.atomic or (first.indirect and depends_on_data(first.offset)):
                continue
            key = first.place()
            if key in gone or stored.has_overlap(first) or ("store" in kinds[key] and every.has_overlap(first)):
                continue
            gone.add(key)
            kept = (guard for guard in first.guards if not v.has_symbol(guard.value, nest.counter))
            guards = (*kept, *(Guard(v.subtract(bound, ONE)) for bound in nest.bounds))  # the loop makes a pass
            pinned = "store" in kinds[key] and not self._always_runs(nest)
            if "load" in kinds[key]:
                before.append(first.replace(kind="load", guards=guards, pinned=pinned))
            if "store" in kinds[key]:
                behind.append(first.replace(kind="store", guards=guards, pinned=pinned))
        left = _drop_places(body, gone)
        return HoistedLoop(nest.replace(body=left), tuple(before), tuple(behind))

    def _always_runs(self, nest: Nest) -> bool:
        """Whether a compiler sees that a loop makes a pass: its bound is a constant, or equals that of a loop around
        it."""
        around = [bound for outer in self.around for bound in outer.bounds]
        return all(
            v.symbols(bound) <= self.fixed or any(v.is_same(bound, other) for other in around) for bound in nest.bounds
        )

    def _may_alias(self, first: MemoryAccess, second: MemoryAccess) -> bool:
        """Whether two accesses may touch the same bytes, as far as their arrays and types say it."""
        if first.precision != second.precision and min(first.size, second.size) > 1:
            return False  # what is written as one type is read as that: C11, 6.5
        if first.array == second.array:
            return all(mine == theirs for mine, theirs in zip(first.path, second.path, strict=False))
        one, two = self.arrays[first.array], self.arrays[second.array]
        if one.is_constant or two.is_constant or _are_apart(one, two):
            return False
        self.overlaps.add((min(one.name, two.name), max(one.name, two.name)))
        return True


def _are_apart(one: Array, two: Array) -> bool:
    """Whether two arrays never overlap: two variables, a `restrict` pointer and another array, or an array that a
    function made and one that it was given."""
    given = [array for array in (one, two) if array.hold == "formal"]
    if not given or any(array.alone for array in given):
        return True
    return any(array.hold in ("heap", "local") for array in (one, two))


def _drop_places(items: list[Item], gone: set[Key]) -> list[Item]:
    """The items without accesses to some places."""
    kept = (item for item in items if not (isinstance(item, MemoryAccess) and item.place() in gone))
    return [rewrite_inside(item, lambda inside: _drop_places(inside, gone)) for item in kept]


def list_accesses(items: list[Item]) -> Iterator[MemoryAccess]:
    return (item for item in walk_items(items) if isinstance(item, MemoryAccess))


def list_stores(items: list[Item]) -> Iterator[MemoryAccess]:
    return (access for access in list_accesses(items) if access.kind == "store")
