"""Contexts: what is known where a function is called, so that its kernel speaks of its callers' sizes and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aspenpy.expr.node import Expr
from aspenpy.extract import values as v
from aspenpy.extract.costs import Array, Place
from aspenpy.extract.scope import SIZE, STEADY, UNKNOWN, Contents, DataKey, Known, Real, is_equal
from aspenpy.extract.values import Value
from aspenpy.record import Record


class Context(Record):
    """The values of a function's arguments, None where they are unknown, and what lies in memory."""

    values: tuple[Known, ...]
    memory: Mapping[DataKey, Known]
    offsets: Mapping[DataKey, Value]


def merge_contexts(contexts: Sequence[Context]) -> Context | None:
    """The context that all calls of a function have in common."""
    if not contexts:
        return None
    first, *others = contexts
    for other in others:
        pairs = zip(first.values, other.values, strict=False)
        values = tuple(one if is_equal(one, two) else None for one, two in pairs)
        memory = {
            place: value
            for place, value in first.memory.items()
            if place in other.memory and is_equal(value, other.memory[place])
        }
        first = first.replace(values=values, memory=memory)
    return first


def rename_array(key: str, names: Mapping[str, str]) -> str:
    """Key of an array, or of a container that lies in one, under other names."""
    if key in names:
        return names[key]
    owner, plus, rest = key.rpartition("+")
    return f"{names[owner]}{plus}{rest}" if owner in names else key


class Shared:
    """What the functions of a program share: parameters of the model and arrays that belong to none of them. `own` are
    the symbols and arrays of one function's arguments."""

    def __init__(self, arrays: Mapping[str, Array], own: Iterable[Expr | str | None]) -> None:
        self.arrays = arrays
        self.own = frozenset(own)

    def shared_value(self, value: Known) -> Known:
        """The value itself where all functions share it, else None."""
        if isinstance(value, Real):
            return Real({}, value.number) if value.number is not None else None
        if isinstance(value, Place):
            offset = value.offset
            known = offset is not None and self._is_shared(offset)
            return value if known and self.has_array(value.array) else None
        return value if value is not None and self._is_shared(value) else None

    def has_array(self, key: str) -> bool:
        """Whether an array is shared."""
        array = self.arrays.get(key)
        if array is None:  # the size of a container
            return not any(isinstance(own, str) and key.startswith(own) for own in self.own)
        return key not in self.own and (array.volume is None or self._is_shared(array.volume, (SIZE, STEADY, UNKNOWN)))

    def _is_shared(self, value: Value, owners: tuple[str, ...] = (SIZE, STEADY)) -> bool:
        return all(
            symbol.payload[1] in owners or (symbol.payload[1].startswith(f"{SIZE} ") and symbol not in self.own)
            for symbol in v.symbols(value)
        )

    def make_context(self, values: Iterable[Known], memory: Contents, offsets: Mapping[DataKey, Value]) -> Context:
        found = {}
        for place, value in memory.items():
            shared = self.shared_value(value) if self.has_array(place[0]) else None
            if shared is not None:
                found[place] = shared
        kept = {place: offsets[place] for place in found if place in offsets}
        return Context(tuple(map(self.shared_value, values)), found, kept)
