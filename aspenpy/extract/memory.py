"""Memory: loads and stores, and what is known to lie there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import MemoryAccess, PointerTarget
from aspenpy.extract.effects import Changes
from aspenpy.extract.library_functions import KNOWN
from aspenpy.extract.places import WHOLE, AssignmentTarget, Places
from aspenpy.extract.scope import NOTHING, SIZE, DataKey, Known, Read, Real, depends_on_data, single_symbol
from aspenpy.extract.state import WalkState, WalkTask, source_text
from aspenpy.extract.values import ZERO, TooLong, Value
from aspenpy.language.source import Span

MOST_COPIED = 64
"""Bytes of structures that a compiler copies word by word."""

ANY = graph.symbol("any", "element")
"""Stands for what varies, where elements of an array are taken to have one mean value."""


class Memory(WalkTask):
    """A function's knowledge of memory at one point; loads and stores are appended to `out`."""

    def __init__(self, state: WalkState, places: Places) -> None:
        super().__init__(state)
        self.places = places

    def load(self, node: r.Expression) -> Known:
        """The value of an expression that names a variable or a place in memory, and the access that loads it."""
        if isinstance(node, r.Variable) and node.is_object:
            return self.frame.this
        there = self.places.locate(node)
        if there is None:
            return self.state.unknown_result(node)
        if there.type.kind == "array":
            return there.place
        if there.place is None:
            return self._read_register(there, node)
        fixed = self.facts.constants.get(node.key) if isinstance(node, r.Variable) else None
        return self.read(there, node) if fixed is None else fixed

    def _read_register(self, there: AssignmentTarget, node: r.Expression) -> Known:
        name = there.variable or ""
        value = self.scope.values.get(name)
        if value is None:
            value = NOTHING if there.type.kind == "real" else self.state.unknown_result(node)
            if name in self.names.lost and (symbol := single_symbol(value)) is not None:
                self.names.inputs[symbol] = self.names.lost[name]  # type: ignore[assignment]
            if there.type.kind == "pointer":
                value = PointerTarget(
                    self.places.add_pointed_array(f"?{name}", there.name, there.type.of or there.type, node.span), ZERO
                )
            self.scope.values[name] = value
        return value

    def read(self, there: AssignmentTarget, node: r.Expression) -> Known:
        """Loads a value: what was stored there, or an unknown with the same name each time."""
        assert there.place is not None
        type, array, offset = there.type, there.place.array, there.place.offset
        if type.kind == "record":
            if self._is_copied(there):
                self.add_access("load", there, node.span)
            return None
        access = self.add_access("load", there, node.span)
        place = access.place()
        known = self.scope.memory.get(place) if offset is not None else None
        if type.kind == "real":
            return known if isinstance(known, Real) else Real({("load", place): ()})
        if known is not None:
            self._note_pointing_member(known, node)
            return known
        if type.kind == "pointer":
            constant_place = offset is not None and not v.counters(offset)
            entry = f"{array}->{there.name if not constant_place else source_text(node)}"
            inner = self.places.add_pointed_array(entry, there.name or "memory", type.of or type, node.span)
            varying = () if offset is None else tuple(v.counters(offset))
            row = None if offset is None else self.names.make_unknown(source_text(node), node.span, varying)
            if not constant_place:
                self.names.rows_of_pointers.add(inner)
            value: Known = PointerTarget(inner, ZERO if constant_place else row)
            self._note_pointing_member(value, node)
        elif type.kind == "integer":
            varying = self._changing_loops(array, there.name, offset)
            value = self.names.make_unknown(source_text(node), node.span, varying)
            (symbol,) = v.symbols(value)
            if offset is not None:
                self.names.origins[symbol] = (array, ("any", v.value_key(_mask_varying(offset))))
                own = _member_name(node) or self.names.pointing.get(array, array)
                name = there.name or self.names.arrays[array].name
                self.names.read[symbol] = Read(own, name, source_text(node), offset)
        else:
            return None
        if offset is not None:
            self.scope.memory[place] = value
            self.names.called.setdefault(place, there.name)
        return value

    def _is_copied(self, there: AssignmentTarget) -> bool:
        """Whether a compiler loads a structure that is read as a whole: one of a function's own is in registers."""
        assert there.place is not None
        array, size = self.names.arrays.get(there.place.array), there.type.size
        is_own = array is None or array.hold == "local"
        return there.type.of is None and not is_own and 0 < size <= MOST_COPIED

    def _note_pointing_member(self, value: Known, node: r.Expression) -> None:
        """Notes which member of a structure type points at an array."""
        if isinstance(value, PointerTarget) and (member := _member_name(node)) is not None:
            self.names.pointing.setdefault(value.array, member)

    def _changing_loops(self, array: str, name: str, offset: Value | None) -> tuple[Expr, ...]:
        """Counters of the loops under way in whose passes a place does not hold the same whole number: its address
        moves, or something in them stores to its name."""
        if offset is None:
            return tuple(counter for counter, _ in self.active.changes)
        moving = {*v.counters(offset)}
        moving |= {counter for symbol in v.symbols(offset) for counter in self.names.varying.get(symbol, ())}
        is_member = self.unaliased_member((array, v.value_key(offset))) is not None
        names = {name, self.names.arrays[array].name, "*"}

        def is_stored(changed: Changes) -> bool:
            if is_member:
                return f"={name}" in self._stored_names(changed.stored, changed.calls)
            return bool(names & changed.stored) or self._can_store(changed, names)

        return tuple(counter for counter, changed in self.active.changes if counter in moving or is_stored(changed))

    def unaliased_member(self, place: DataKey) -> str | None:
        """Name of the member of a structure at a place, if no pointer can point at it."""
        name = self.names.fields.get(place)
        if name is None and place[1] is None:  # the size of a container
            name = place[0].rpartition(":")[2].removesuffix(".size")
        return None if name in self.facts.exposed else name

    def forget(self) -> None:
        """Forgets memory, except members that no pointer can point at."""
        self.scope.memory = self.scope.memory.filter(lambda place, value: self.unaliased_member(place) is not None)

    def _stored_names(self, names: frozenset[str], calls: frozenset[str]) -> set[str]:
        """Names that are stored to directly, or by some functions and those that they call."""
        stored = set(names)
        for call in calls - KNOWN:
            stored |= self.facts.effects.get(call, frozenset())
        return stored

    def _can_store(self, changed: Changes, names: set[str]) -> bool:
        """Whether the calls in a loop may store to some names: functions at hand by their text, others unless they are
        known."""
        for call in changed.calls - KNOWN:
            stored = self.facts.effects.get(call)
            if stored is None or names & stored or _called_functions(stored) - KNOWN:
                return True
        return False

    def add_access(self, kind: Literal["load", "store"], there: AssignmentTarget, span: Span | None) -> MemoryAccess:
        """Adds a load or store of a place in memory to what the function does."""
        assert there.place is not None
        offset = there.place.offset
        size = there.type.size or 8
        precision = {8: "dp", 4: "sp"}.get(size, "") if there.type.kind == "real" else ""
        indirect = offset is None or depends_on_data(offset)
        access = MemoryAccess(
            kind, there.place.array, offset, size, precision, indirect=indirect, span=span, guards=(), path=there.path
        )
        if access.array not in self.frame.ignored:
            self.out.append(access)
        if offset is not None:
            self.scope.offsets[access.place()] = offset
            if there.is_member():
                self.names.fields.setdefault(access.place(), there.name)
        return access

    def store(self, there: AssignmentTarget | None, value: Known, span: Span | None) -> None:
        """Stores a value; what may lie at the same place, or anywhere if it is unknown, is forgotten."""
        if there is None:
            self.forget()
            return
        if there.place is None:
            self.scope.values[there.variable or ""] = value
            return
        access = self.add_access("store", there, span)
        place = access.place()
        array = self.names.arrays[access.array]
        own, arrays = self.unaliased_member(place), self.names.arrays
        self.scope.memory.forget_stored(
            place,
            lambda other: other in arrays and not (array.alone or arrays[other].alone),  # in no size of a container
            lambda other: there.type.kind != "record" and own != self.unaliased_member(other),
        )
        if access.offset is not None:
            self.scope.memory[place] = value
            self.names.called.setdefault(place, there.name)
            if isinstance(value, PointerTarget):
                self.names.points_into.setdefault(f"{access.array}->{there.name}", value.array)
                self._note_pointed_bytes(access, value)

    def _note_pointed_bytes(self, access: MemoryAccess, value: PointerTarget) -> None:
        """Remembers the bytes of all that the pointers in an array point at, where loops store them: one block for each
        pass of a loop that allocates it, or one for all passes."""
        volume, offset = self.names.arrays[value.array].volume, access.offset
        if volume is None or offset is None or not v.counters(offset):
            return
        none: frozenset[Expr] = frozenset()
        block_loops = self.names.allocated_in.get(value.array, none)
        row_loops = self.names.allocated_in.get(self.names.points_into.get(access.array, access.array), none)
        for nest in self.active.nests:
            if nest.counter in block_loops and (v.has_symbol(offset, nest.counter) or nest.counter in row_loops):
                volume = v.multiply(volume, nest.bounds[0])
        if not v.counters(volume):
            self.names.pointed.setdefault(access.array, volume)

    def forget_changed(self, names: frozenset[str], calls: frozenset[str]) -> None:
        """Forgets what is stored to under some names, or by some functions and those that they call."""
        stored, unknown_calls = self._stored_names(names, calls), False
        for call in calls - KNOWN:
            inside = self.facts.effects.get(call)
            unknown_calls = unknown_calls or inside is None or bool(_called_functions(inside) - KNOWN)
        if unknown_calls:
            self.forget()
        self.scope.memory = self.scope.memory.filter(lambda place, value: not self._is_touched(place, value, stored))

    def _is_touched(self, place: DataKey, value: Known, stored: set[str]) -> bool:
        member = self.unaliased_member(place)
        if isinstance(value, Real) and (value.number is None or member is None):
            return True  # stores of real numbers are listed for members alone
        array = self.names.arrays.get(place[0])
        if array is None:
            name = place[0].rpartition(":")[2]
            return name in stored or (name == f"{WHOLE}.size" and any(other.endswith(".size") for other in stored))
        if member is not None:
            return f"={member}" in stored
        if "*" in stored or stored & set(re.findall(r"\w+", self._names_behind(value))):
            return True
        called = self.names.called.get(place)
        return bool({array.name, array.key.rsplit("->", 1)[-1], called} & stored)

    def _names_behind(self, value: Known) -> str:
        if isinstance(value, PointerTarget):
            return self.names.arrays[value.array].name
        some = v.symbols(value) if isinstance(value, Polynomial) else ()
        return " ".join(self.names.unknowns.get(symbol, ("", None))[0] for symbol in some)


def _called_functions(effects: Iterable[str]) -> set[str]:
    """Names of the library functions that a function calls."""
    return {name.removeprefix("call ") for name in effects if name.startswith("call ")}


def _mask_varying(offset: Value) -> Value:
    """An offset with one symbol in place of all that vary."""
    vary = {symbol for symbol in v.symbols(offset) if symbol.payload[1] != SIZE}
    try:
        return v.substitute(offset, dict.fromkeys(vary, atom_polynomial(ANY)))
    except TooLong:
        return ZERO


def _member_name(node: r.Expression) -> str | None:
    """Structure type and member of an expression, or of the array it is an element of."""
    while isinstance(node, r.Element | r.Conversion):
        node = node.base if isinstance(node, r.Element) else node.operand
    return f"{node.base.type.name}.{node.name}" if isinstance(node, r.Field) and node.base.type.name else None
