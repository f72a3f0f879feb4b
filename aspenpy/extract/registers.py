"""Which loads and stores of the source reach memory.

An optimising compiler keeps a value in a register while nothing may change it in memory: from one reference to the next
in straight-line code, over a loop in which the address stays (loads before it, stores behind it: Muchnick, Advanced
Compiler Design and Implementation, 1997, sections 13.1 and 13.2, and register promotion, Cooper and Lu, PLDI 1997).
What may change it is a store whose place may be the same: two pointers that the program is given may point there.
At `o2` values stay in registers from pass to pass too, at `o3` loops are jammed and vectorised (`commoning`, `jam`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from aspenpy.expr.node import Expr
from aspenpy.extract import values as v
from aspenpy.extract.commoning import commoned
from aspenpy.extract.costs import Access, Arithmetic, Array, Choice, Exchange, Guard, Invocation, Item, Nest
from aspenpy.extract.held import Held, Key
from aspenpy.extract.jam import jammed
from aspenpy.extract.values import ONE
from aspenpy.record import Record

Level = Literal["source", "o1", "o2", "o3"]
LEVELS: tuple[Level, ...] = ("source", "o1", "o2", "o3")


class Kept(Record):
    """What a loop leaves to the code around it: loads before it and stores behind it."""

    nest: Nest
    before: tuple[Access, ...]
    behind: tuple[Access, ...]


class Registers:
    """Removes the accesses that registers spare. `overlaps` collects pairs of arrays that could not be told apart,
    `fixed` are the symbols whose values a compiler knows."""

    def __init__(self, arrays: dict[str, Array], level: Level, fixed: frozenset[Expr]) -> None:
        self.arrays = arrays
        self.fixed = fixed
        self.around: list[Nest] = []
        self.level = level
        self.overlaps: set[tuple[str, str]] = set()

    def kept(self, items: list[Item]) -> list[Item]:
        """The items of a function without redundant accesses: in straight-line code first, then over loops."""
        kept = self._forwarded(self._moved(self._straight(items, Held(self._may_alias))))
        if self.level == "o3":
            kept = jammed(kept, lambda body: self._straight(body, Held(self._may_alias)))
        return commoned(kept, self.level == "o3") if self.level in ("o2", "o3") else kept

    def _moved(self, items: list[Item]) -> list[Item]:
        """The loops inside with what can be moved out of them moved here."""
        found: list[Item] = []
        for item in items:
            if isinstance(item, Nest):
                kept = self._nest(item)
                found += [*kept.before, kept.nest, *kept.behind]
            elif isinstance(item, Choice):
                found.append(item.replace(then=self._moved(item.then), otherwise=self._moved(item.otherwise)))
            else:
                found.append(item)
        return found

    # -- straight-line code ------------------------------------------------------------------------

    def _straight(self, items: list[Item], known: Held) -> list[Item]:
        """Drops loads of what a register holds, and stores that the next one overwrites; `known` are the places whose
        values are in registers, and is changed."""
        found: list[Item] = []
        for item in items:
            if isinstance(item, Access):
                if item.kind == "load" and item.offset is not None and item in known:
                    continue
                if item.kind == "store":
                    known.spoil(item)
                if item.offset is not None:
                    known.add(item)
                found.append(item)
            elif isinstance(item, Choice):
                left, right = known.copy(), known.copy()
                then, otherwise = self._straight(item.then, left), self._straight(item.otherwise, right)
                known.keep(left, right)
                found.append(item.replace(then=then, otherwise=otherwise))
            elif isinstance(item, Nest):
                for store in stores(item.body):
                    known.spoil(store)
                    known.drop(store)
                found.append(item.replace(body=self._straight(item.body, known.copy())))
            else:
                if isinstance(item, Invocation | Exchange):
                    known.kinds.clear()
                found.append(item)
        return self._overwritten(found)

    def _overwritten(self, items: list[Item]) -> list[Item]:
        """Without the stores behind which another one to the same place stands, before anything may read it."""
        found: list[Item] = []
        dead = Held(self._may_alias)
        for item in reversed(items):
            if isinstance(item, Access):
                if item.kind == "store" and item.offset is not None and not item.pinned:
                    if item in dead:
                        continue
                    dead.add(item)
                elif item.kind == "load":
                    dead.spoil(item)
                    dead.drop(item)
            elif isinstance(item, Nest):
                for access in accesses(item.body):
                    dead.spoil(access)
                    dead.drop(access)
            elif not isinstance(item, Arithmetic):
                dead.kinds.clear()
            found.append(item)
        return found[::-1]

    def _forwarded(self, items: list[Item]) -> list[Item]:
        """Without loads of what a loop has left in a register, and of nothing else."""
        found: list[Item] = []
        known = Held(self._may_alias)
        for item in items:
            if isinstance(item, Access):
                if item.kind == "load" and not item.pinned and item.offset is not None and item in known:
                    continue
                if item.kind == "store":
                    known.spoil(item)
                    known.add(item)
            elif isinstance(item, Nest):
                item = item.replace(body=self._forwarded(item.body))
                for store in stores(item.body):
                    known.spoil(store)
                    known.drop(store)
            elif isinstance(item, Choice):
                then, otherwise = self._forwarded(item.then), self._forwarded(item.otherwise)
                item = item.replace(then=then, otherwise=otherwise)
                known.kinds.clear()
            elif isinstance(item, Invocation | Exchange):
                known.kinds.clear()
            found.append(item)
        return self._overwritten(found)

    # -- loops -------------------------------------------------------------------------------------

    def _nest(self, nest: Nest) -> Kept:
        self.around.append(nest)
        body = self._moved(nest.body)
        self.around.pop()
        inside = list(accesses(body))
        if any(True for _ in calls(body)):
            return Kept(nest.replace(body=body), (), ())
        before: list[Access] = []
        behind: list[Access] = []
        gone: set[Key] = set()
        kinds: dict[Key, set[str]] = {}
        for access in inside:
            kinds.setdefault(access.place(), set()).add(access.kind)
        every = Held(self._may_alias, inside)
        stored = Held(self._may_alias, (access for access in inside if access.kind == "store"))
        for first in body:
            if not isinstance(first, Access) or first.offset is None or v.depends(first.offset, nest.counter):
                continue
            if first.indirect and not self._is_steady(first, nest):
                continue
            key = first.place()
            if key in gone or stored.meets(first) or ("store" in kinds[key] and every.meets(first)):
                continue
            gone.add(key)
            guards = (*(guard for guard in first.guards if not v.depends(guard.value, nest.counter)), *_runs(nest))
            pinned = "store" in kinds[key] and not self._always_runs(nest)
            if "load" in kinds[key]:
                before.append(first.replace(kind="load", guards=guards, pinned=pinned))
            if "store" in kinds[key]:
                behind.append(first.replace(kind="store", guards=guards, pinned=pinned))
        left = _without(body, gone)
        return Kept(nest.replace(body=left), tuple(before), tuple(behind))

    def _always_runs(self, nest: Nest) -> bool:
        """Whether a compiler sees that a loop makes a pass: its bound is known, or that of a loop around it."""
        around = [bound for outer in self.around for bound in outer.bounds]
        return all(
            v.symbols(bound) <= self.fixed or any(v.same(bound, other) for other in around) for bound in nest.bounds
        )

    def _is_steady(self, access: Access, nest: Nest) -> bool:
        """Whether an address that depends on data depends on none that the loop reads."""
        assert access.offset is not None
        return not any(symbol.payload[1] == "unknown" for symbol in v.symbols(access.offset))

    def _may_alias(self, first: Access, second: Access) -> bool:
        """Whether two accesses may touch the same bytes, as far as their arrays and types say it."""
        if first.precision != second.precision and min(first.size, second.size) > 1:
            return False  # what is written as one type is read as that: C11, 6.5
        if first.array == second.array:
            return all(mine == theirs for mine, theirs in zip(first.path, second.path, strict=False))
        one, two = self.arrays[first.array], self.arrays[second.array]
        if _are_apart(one, two):
            return False
        self.overlaps.add((min(one.name, two.name), max(one.name, two.name)))
        return True


def _are_apart(one: Array, two: Array) -> bool:
    """Whether two arrays never overlap: two variables, what `restrict` says it of, and what a function has made itself
    and what it was given."""
    given = [array for array in (one, two) if array.hold == "formal"]
    if not given or any(array.alone for array in given):
        return True
    return any(array.hold in ("heap", "local") for array in (one, two))


def _without(items: list[Item], gone: set[Key]) -> list[Item]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Access) and item.place() in gone:
            continue
        if isinstance(item, Choice):
            item = item.replace(then=_without(item.then, gone), otherwise=_without(item.otherwise, gone))
        elif isinstance(item, Nest):
            item = item.replace(body=_without(item.body, gone))
        found.append(item)
    return found


def _each(items: list[Item]) -> Iterator[Item]:
    """What is done, in loops and choices too."""
    for item in items:
        if isinstance(item, Choice):
            yield from _each(item.then)
            yield from _each(item.otherwise)
        elif isinstance(item, Nest):
            yield from _each(item.body)
        else:
            yield item


def accesses(items: list[Item]) -> Iterator[Access]:
    return (item for item in _each(items) if isinstance(item, Access))


def stores(items: list[Item]) -> Iterator[Access]:
    return (access for access in accesses(items) if access.kind == "store")


def calls(items: list[Item]) -> Iterator[Item]:
    """Calls of other functions, which may change any memory that is not the function's own."""
    return (item for item in _each(items) if isinstance(item, Invocation | Exchange))


def _runs(nest: Nest) -> tuple[Guard, ...]:
    """That a loop makes a pass."""
    return tuple(Guard(v.minus(bound, ONE)) for bound in nest.bounds)
