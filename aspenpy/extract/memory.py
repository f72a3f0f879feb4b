"""Memory: loads and stores, and what is known to lie there."""

from __future__ import annotations

import re
from typing import Literal

from aspenpy.expr import graph
from aspenpy.expr.polynomial import atom
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Access, Place
from aspenpy.extract.effects import Changes
from aspenpy.extract.library_functions import KNOWN
from aspenpy.extract.places import WHOLE, Places, Target
from aspenpy.extract.scope import NOTHING, SIZE, DataKey, Known, Read, Real, single
from aspenpy.extract.values import ZERO, TooLong, Value
from aspenpy.language.source import Span

ANY = graph.symbol("any", "element")
"""Stands for what varies, where elements of an array are taken to have one mean value."""


class Memory(Places):
    """What a function knows of memory at one point; loads and stores are appended to `out`."""

    def _loaded(self, node: r.Expression) -> Known:
        if isinstance(node, r.Variable) and node.name == "this":
            return self.this
        there = self.target(node)
        if there is None:
            return self._unknown(node)
        if there.type.kind == "array":
            return there.place
        if there.place is None:
            return self._register(there, node)
        if (
            isinstance(node, r.Variable)
            and node.type.kind == "integer"
            and (fixed := self.fixed.get(node.key)) is not None
        ):
            return fixed
        return self._read(there, node)

    def _register(self, there: Target, node: r.Expression) -> Known:
        name = there.variable or ""
        found = self.scope.values.get(name)
        if found is None:
            found = NOTHING if there.type.kind == "real" else self._unknown(node)
            if name in self.names.lost and (symbol := single(found)) is not None:
                self.names.inputs[symbol] = self.names.lost[name]  # type: ignore[assignment]
            if there.type.kind == "pointer":
                of = there.type.of or there.type
                found = Place(
                    self.names.array(
                        f"?{name}", there.name, "formal", self.word(of).size or 8, (None,), None, False, node.span
                    ).key,
                    ZERO,
                )
            self.scope.values[name] = found
        return found

    def _unknown(self, node: r.Expression) -> Known:
        if node.type.kind == "real":
            return NOTHING
        if node.type.kind == "integer":
            return self.unknown(self.text(node), node.span)
        return None

    def _read(self, there: Target, node: r.Expression) -> Known:
        """A load, and what it gives: what was stored there, or something unknown with the same name each time."""
        assert there.place is not None
        type, array, offset = there.type, there.place.array, there.place.offset
        if type.kind == "record":
            return None
        access = self._access("load", there, node.span)
        place = access.place()
        known = self.scope.memory.get(place) if offset is not None else None
        if type.kind == "real":
            return known if isinstance(known, Real) else Real({("load", place): ()})
        if known is not None:
            self._points(known, node)
            return known
        if type.kind == "pointer":
            of = type.of or type
            constant_place = offset is not None and not v.counters(offset)
            entry = f"{array}->{there.name if not constant_place else self.text(node)}"
            inner = self.names.array(
                entry, there.name or "memory", "formal", self.word(of).size or 8, (None,), None, False, node.span
            )
            row = None if offset is None else self.names.unknown(self.text(node), node.span, tuple(v.counters(offset)))
            found: Known = Place(inner.key, ZERO if constant_place else row)
            self._points(found, node)
        elif type.kind == "integer":
            steady = self._is_steady(array, there.name, offset)
            found = self.unknown(self.text(node), node.span, steady)
            (symbol,) = v.symbols(found)
            if offset is not None:
                self.names.origins[symbol] = (array, ("any", v.key(_anywhere(offset))))
                own = _member_of(node) or self.names.pointing.get(array, array)
                name = there.name or self.names.arrays[array].name
                self.names.read[symbol] = Read(own, name, self.text(node), offset)
        else:
            return None
        if offset is not None:
            self.scope.memory[place] = found
            self.names.called.setdefault(place, there.name)
        return found

    def _points(self, value: Known, node: r.Expression) -> None:
        """Takes down which member of a structure type points at an array."""
        if isinstance(value, Place) and (member := _member_of(node)) is not None:
            self.names.pointing.setdefault(value.array, member)

    def _is_steady(self, array: str, name: str, offset: Value | None) -> bool:
        """Whether a place holds the same whole number in all passes of the loops under way: its address stays, and
        nothing in them stores to what is called so."""
        if offset is None or v.counters(offset) or any(self.names.varying.get(symbol) for symbol in v.symbols(offset)):
            return False
        if self.member((array, v.key(offset))) is not None:
            return not any(f"={name}" in self._stored(changed.stored, changed.calls) for _, changed in self.loops)
        names = {name, self.names.arrays[array].name, "*"}
        return not any(names & changed.stored or self._may_store(changed, names) for _, changed in self.loops)

    def member(self, place: DataKey) -> str | None:
        """The member of a structure that lies somewhere, if no pointer can point at it."""
        name = self.names.fields.get(place)
        if name is None and place[1] is None:  # the size of a container
            name = place[0].rpartition(":")[2].removesuffix(".size")
        return None if name in self.exposed else name

    def forget(self) -> None:
        """Drops what is known of memory, but for members that no pointer can point at."""
        self.scope.memory = self.scope.memory.where(lambda place, value: self.member(place) is not None)

    def _stored(self, names: frozenset[str], calls: frozenset[str]) -> set[str]:
        """These names and those that some functions store to, with those that they call."""
        stored = set(names)
        for call in calls - KNOWN:
            stored |= self.effects.get(call, frozenset())
        return stored

    def _may_store(self, changed: Changes, names: set[str]) -> bool:
        """Whether the calls in a loop may store to what is called so: those of functions at hand by their text, those
        of others unless they are known."""
        for call in changed.calls - KNOWN:
            stored = self.effects.get(call)
            if (
                stored is None
                or names & stored
                or any(name[5:] not in KNOWN for name in stored if name.startswith("call "))
            ):
                return True
        return False

    def _access(self, kind: Literal["load", "store"], there: Target, span: Span | None) -> Access:
        assert there.place is not None
        offset = there.place.offset
        size = there.type.size or 8
        precision = {8: "dp", 4: "sp"}.get(size, "") if there.type.kind == "real" else ""
        indirect = offset is not None and any(symbol.payload[1] == "unknown" for symbol in v.symbols(offset))
        access = Access(
            kind, there.place.array, offset, size, precision, indirect or offset is None, span, (), there.path
        )
        if access.array not in self.ignored:
            self.out.append(access)
        if offset is not None:
            self.scope.offsets[access.place()] = offset
            if there.is_member():
                self.names.fields.setdefault(access.place(), there.name)
        return access

    def store(self, there: Target | None, value: Known, span: Span | None) -> None:
        if there is None:
            self.forget()
            return
        if there.place is None:
            self.scope.values[there.variable or ""] = value
            return
        access = self._access("store", there, span)
        place = access.place()
        array = self.names.arrays[access.array]
        own, arrays = self.member(place), self.names.arrays
        self.scope.memory.stored(
            place,
            lambda other: other in arrays and not (array.alone or arrays[other].alone),  # in no size of a container
            lambda other: there.type.kind != "record" and own != self.member(other),
        )
        if access.offset is not None:
            self.scope.memory[place] = value
            self.names.called.setdefault(place, there.name)

    def changed_by(self, names: frozenset[str], calls: frozenset[str]) -> None:
        """Forgets what is stored to under these names, or by these functions and those that they call."""
        stored, unknown_calls = self._stored(names, calls), False
        for call in calls - KNOWN:
            inside = self.effects.get(call)
            others = {name[5:] for name in inside or () if name.startswith("call ")}
            unknown_calls = unknown_calls or inside is None or not others <= KNOWN
        if unknown_calls:
            self.forget()
        self.scope.memory = self.scope.memory.where(lambda place, value: not self._is_touched(place, value, stored))

    def _is_touched(self, place: DataKey, value: Known, stored: set[str]) -> bool:
        member = self.member(place)
        if isinstance(value, Real) and (value.number is None or member is None):
            return True  # stores of real numbers are listed for members alone
        array = self.names.arrays.get(place[0])
        if array is None:
            name = place[0].rpartition(":")[2]
            return name in stored or (name == f"{WHOLE}.size" and any(other.endswith(".size") for other in stored))
        if member is not None:
            return f"={member}" in stored
        if "*" in stored or stored & set(re.findall(r"\w+", self._called(value))):
            return True
        called = self.names.called.get(place)
        return bool({array.name, array.key.rsplit("->", 1)[-1], called} & stored)

    def _called(self, value: Known) -> str:
        if isinstance(value, Place):
            return self.names.arrays[value.array].name
        if value is None or isinstance(value, Real):
            return ""
        return " ".join(self.names.unknowns.get(symbol, ("", None))[0] for symbol in v.symbols(value))


def _anywhere(offset: Value) -> Value:
    """An offset with one symbol in place of all that vary."""
    vary = {symbol for symbol in v.symbols(offset) if symbol.payload[1] != SIZE}
    try:
        return v.replaced(offset, dict.fromkeys(vary, atom(ANY)))
    except TooLong:
        return ZERO


def _member_of(node: r.Expression) -> str | None:
    """The member of a structure type that something is, or is an element of."""
    while isinstance(node, r.Element | r.Conversion):
        node = node.base if isinstance(node, r.Element) else node.operand
    return f"{node.base.type.name}.{node.name}" if isinstance(node, r.Field) and node.base.type.name else None
