"""Accesses by place, those that may touch the same bytes found without a look at all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from aspenpy.expr.polynomial import Monomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Access

Key = tuple[str, object]
Kind = tuple[object, ...]
"""Array, members on the way, precision and size: what says whether accesses of two kinds can meet at all."""

Line = tuple[object, Fraction] | None
"""What places have in common that lie whole words apart; None for those that may lie anywhere in their array."""

Test = Callable[[Access, Access], bool]

_NUMBER = Monomial()


class Held:
    """What lies in registers, or waits to be stored: one access for each place. `may_alias` says whether accesses of
    two kinds may touch the same bytes."""

    def __init__(self, may_alias: Test, accesses: Iterable[Access] = ()) -> None:
        self.may_alias = may_alias
        self.kinds: dict[Kind, dict[Line, dict[Key, Access]]] = {}
        for access in accesses:
            self.add(access)

    def __contains__(self, access: Access) -> bool:
        return access.place() in self.kinds.get(_kind(access), {}).get(_line(access), {})

    def add(self, access: Access) -> None:
        self.kinds.setdefault(_kind(access), {}).setdefault(_line(access), {})[access.place()] = access

    def spoil(self, by: Access) -> None:
        """Drops what lies at other places that an access may touch."""
        for found in list(self._near(by)):
            self._remove(*found)

    def drop(self, access: Access) -> None:
        """Drops what lies at the place of an access."""
        place, line = access.place(), _line(access)
        for kind, lines in list(self.kinds.items()):
            if place in lines.get(line, {}):
                self._remove(kind, line, place)

    def meets(self, access: Access) -> bool:
        """Whether an access may touch something at another place than its own."""
        return any(True for _ in self._near(access))

    def copy(self) -> Held:
        other = Held(self.may_alias)
        other.kinds = {kind: {line: dict(held) for line, held in lines.items()} for kind, lines in self.kinds.items()}
        return other

    def keep(self, one: Held, two: Held) -> None:
        """Holds what both of two others hold."""
        self.kinds = {}
        for kind, lines in one.kinds.items():
            for line, held in lines.items():
                other = two.kinds.get(kind, {}).get(line, {})
                common = {place: access for place, access in held.items() if place in other}
                if common:
                    self.kinds.setdefault(kind, {})[line] = common

    def _near(self, by: Access) -> Iterator[tuple[Kind, Line, Key]]:
        place, line = by.place(), _line(by)
        for kind, lines in self.kinds.items():
            first = next(iter(next(iter(lines.values())).values()))
            if not self.may_alias(by, first):
                continue
            for other, held in lines.items():
                if first.array == by.array and other is not None and other == line and first.size == by.size:
                    continue  # whole words apart
                for key, access in held.items():
                    if key != place and (first.array != by.array or _overlap(by, access)):
                        yield kind, other, key

    def _remove(self, kind: Kind, line: Line, place: Key) -> None:
        lines = self.kinds[kind]
        del lines[line][place]
        if not lines[line]:
            del lines[line]
        if not lines:
            del self.kinds[kind]


def _kind(access: Access) -> Kind:
    return access.array, access.path, access.precision, access.size


def _line(access: Access) -> Line:
    if access.offset is None or v.counters(access.offset):
        return None
    terms = dict(access.offset.terms)
    number = terms.pop(_NUMBER, Fraction(0))
    return frozenset(terms.items()), number % access.size


def _overlap(first: Access, second: Access) -> bool:
    """Whether two accesses of one array may touch the same bytes."""
    if first.offset is None or second.offset is None:
        return True
    if v.counters(first.offset) or v.counters(second.offset):
        return True
    distance = v.distance(first.offset, second.offset)
    return distance is None or -first.size < distance < second.size
