"""Places: where in memory an expression lies, or in which variable."""

from __future__ import annotations

from typing import Protocol

from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Array, Hold, PointerTarget
from aspenpy.extract.scope import Known
from aspenpy.extract.state import WalkState, WalkTask
from aspenpy.extract.values import ZERO, TooLong, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

WHOLE = "*"
"""What a container is called that is a variable and no member: functions have names of their own for it."""


class AssignmentTarget(Record):
    """The target of an assignment: a variable in a register, or memory. `shape` are the extents of an array there."""

    variable: str | None
    place: PointerTarget | None
    type: r.Type
    shape: tuple[Value | None, ...] = ()
    name: str = ""
    path: tuple[str, ...] = ()

    def is_member(self) -> bool:
        """Whether it is a member of a structure itself, and no element of one."""
        return bool(self.path) and self.path[-1] == self.name and self.type.kind in ("integer", "real", "pointer")


class Evaluates(Protocol):
    """An evaluator of the expressions on the way to a place."""

    def evaluate(self, node: r.Expression) -> Known: ...

    def evaluate_integer(self, node: r.Expression) -> Value: ...

    def integer_without_costs(self, node: r.Expression) -> Value: ...

    def call(self, node: r.Call) -> Known: ...


class Places(WalkTask):
    """Finds the places of expressions at one point of a function; what it costs to get there is appended to `out`."""

    def __init__(self, state: WalkState, evaluator: Evaluates) -> None:
        super().__init__(state)
        self.evaluator = evaluator

    # -- sizes -------------------------------------------------------------------------------------

    def extents(self, type: r.Type) -> tuple[Value | None, ...]:
        """Extents of an array, the outermost first; of a pointer, those of what it points at."""
        lengths: list[Value | None] = []
        inner: r.Type | None = type.of if type.kind == "pointer" else type
        while inner is not None and inner.kind == "array":
            lengths.append(None if inner.extent is None else self.evaluator.integer_without_costs(inner.extent))
            inner = inner.of
        return tuple(lengths)

    # -- places ------------------------------------------------------------------------------------

    def locate(self, node: r.Expression) -> AssignmentTarget | None:
        """Place of an expression; loads of pointers on the way count as costs."""
        if isinstance(node, r.Variable):
            return self.locate_variable(node)
        if isinstance(node, r.Element):
            return self._locate_element(node)
        if isinstance(node, r.Field):
            return self._locate_member(node)
        if isinstance(node, r.Conversion):
            return self.locate(node.operand)
        if isinstance(node, r.Assignment):
            self.evaluator.evaluate(node)
            return self.locate(node.target)
        found = self.evaluator.call(node) if isinstance(node, r.Call) else self.evaluator.evaluate(node)
        return (
            AssignmentTarget(None, found, node.type.of or node.type, name=found.name)
            if isinstance(found, PointerTarget)
            else None
        )

    def locate_variable(self, node: r.Variable) -> AssignmentTarget:
        type, key = node.type, self.frame.aliases.get(node.key, node.key)
        shape = self.frame.shapes.get(key)
        if shape is None:
            shape = self.frame.shapes[key] = self.extents(type)
        if node.is_object:
            return AssignmentTarget("this", None, type)
        if node.is_reference and key == node.key:
            pointed = self.scope.values.get(key)
            if isinstance(pointed, PointerTarget) and pointed.refers:
                return AssignmentTarget(None, pointed, type, shape, node.name)
            return AssignmentTarget(key, None, type, shape, node.name)
        if type.kind == "array" and isinstance(pointed := self.scope.values.get(key), PointerTarget):
            return AssignmentTarget(None, pointed, type, shape, node.name)
        in_memory = type.kind == "record" and (type.of is not None or key in self.frame.addressed)
        if type.kind == "array" or node.scope == "global" or in_memory:
            word = innermost_type(type)
            hold: Hold = "global" if node.scope == "global" else "local"
            span = self.facts.global_spans.get(key, node.span)
            size = volume(type, shape, word)
            array = self.names.add_array(
                Array(
                    key,
                    node.name,
                    hold,
                    word.size or 8,
                    extents=shape,
                    volume=size,
                    span=span,
                    is_constant=node.is_constant,
                )
            )
            return AssignmentTarget(None, PointerTarget(array.key, ZERO), type, shape, node.name)
        return AssignmentTarget(key, None, type, shape, node.name)

    def _locate_element(self, node: r.Element) -> AssignmentTarget | None:
        base, index = node.base, node.index
        path: tuple[str, ...] = ()
        if isinstance(base, r.Variable) and base.is_object and "this" in self.frame.aliases:
            return AssignmentTarget(self.frame.aliases["this"], None, node.type, name=base.name)
        if base.type.kind == "pointer":
            pointer = self.evaluator.evaluate(base)
            root = root_variable(base)
            shape = self.frame.shapes.get(root, ()) if root and isinstance(base, r.Variable) else ()
            of = base.type.of or node.type
        else:
            there = self.locate(base)
            if there is None:
                return None
            if there.type.kind == "record" and there.type.of is not None:
                return self._locate_contained(there, node)
            if there.type.kind == "pointer":
                pointer, shape, of = self.evaluator.evaluate(base), (), there.type.of or node.type
            else:
                pointer, shape, of = there.place, there.shape[1:], there.type.of or node.type
            path = there.path
        at = self.evaluator.evaluate_integer(index)
        if node.first is not None:  # compilers add it to the address of the array
            at = v.subtract(at, self.evaluator.integer_without_costs(node.first))
        name = source_name(base)
        if not isinstance(pointer, PointerTarget):
            key = f"?{root_variable(base)}.{name}"  # one for each name in the source
            size = base.type.size if base.type.kind == "array" else 0
            pointer = PointerTarget(self.add_pointed_array(key, name, of, base.span, size), None)
        offset = None
        if pointer.offset is not None:
            offset = self._advance(pointer.offset, at, of, shape)
        return AssignmentTarget(None, PointerTarget(pointer.array, offset), of, shape, name, path=path)

    def _advance(self, offset: Value, at: Value, of: r.Type, shape: tuple[Value | None, ...]) -> Value | None:
        """An offset moved on by `at` elements; None where that is unknown."""
        try:
            size = self.element_size(of, shape)
            return None if size is None else v.add(offset, v.multiply(at, size))
        except TooLong:
            return None

    def _locate_contained(self, there: AssignmentTarget, node: r.Element) -> AssignmentTarget:
        """Place of an element of a standard container, whose data are an array of their own; those of `std::array` lie
        in the container."""
        of = there.type.of or node.type
        if there.place is not None and count_fixed_elements(there.type) is not None:
            at = self.evaluator.evaluate_integer(node.index)
            start = there.place.offset
            offset = None if start is None else self._advance(start, at, of, shape=())
            return AssignmentTarget(
                None, PointerTarget(there.place.array, offset), of, name=there.name, path=there.path
            )
        array = self.add_elements(there, of, node.base.span or node.span)
        at = self.evaluator.evaluate_integer(node.index)
        return AssignmentTarget(None, PointerTarget(array.key, v.scale(at, of.size or 8)), of, name=there.name)

    def add_elements(self, there: AssignmentTarget, of: r.Type, span: Span | None) -> Array:
        """The array of a container's elements, of a type."""
        key = self.names.add_owner(there.place, f"{container_owner(there)}[]")
        return self.names.add_array(Array(key, there.name or "elements", "heap", of.size or 8, (None,), span=span))

    def _locate_member(self, node: r.Field) -> AssignmentTarget | None:
        there = self.locate(node.base)
        if there is None:
            return None
        type = node.type
        shape = self.extents(type) if type.kind == "array" else ()
        if there.place is None:
            return AssignmentTarget(f"{there.variable}.{node.name}", None, type, shape, node.name)
        offset = None if there.place.offset is None else v.add(there.place.offset, constant_polynomial(node.offset))
        return AssignmentTarget(
            None, PointerTarget(there.place.array, offset), type, shape, node.name, path=(*there.path, node.name)
        )

    def element_size(self, type: r.Type, shape: tuple[Value | None, ...]) -> Value | None:
        """Bytes of one element whose own extents are `shape`."""
        if type.kind != "array":
            return constant_polynomial(type.size or 8)
        size = constant_polynomial(innermost_type(type).size or 8)
        for extent in shape if shape else self.extents(type):
            if extent is None:
                return None
            size = v.multiply(size, extent)
        return size

    def add_pointed_array(self, key: str, name: str, of: r.Type, span: Span | None, size: int = 0) -> str:
        """Key of the array that an unknown pointer points into; `of` is the type of its elements, and `size` the bytes
        of all, if they are known."""
        volume = constant_polynomial(size) if size else None
        word = innermost_type(of).size or 8
        array = Array(key, name, "formal", word, extents=(None,), volume=volume, alone=False, span=span)
        return self.names.add_array(array).key

    def take_address(self, node: r.Expression) -> Known:
        """Address of an expression. A variable in a register moves to memory, and is not known from then on."""
        there = self.locate(node)
        if there is None:
            return None
        if there.place is not None:
            return there.place
        name = there.variable or ""
        self.scope.values.pop(name, None)
        size = there.type.size or 8
        label = f"{there.name or 'local'}_in_memory"  # its value is a parameter of that name
        array = Array(f"{name}&", label, "local", size, volume=constant_polynomial(size), span=node.span)
        return PointerTarget(self.names.add_array(array).key, ZERO)


def volume(type: r.Type, shape: tuple[Value | None, ...], word: r.Type) -> Value | None:
    if type.kind != "array":
        return constant_polynomial(type.size) if type.size else None
    volume = constant_polynomial(word.size or 8)
    for extent in shape:
        if extent is None:
            return None
        volume = v.multiply(volume, extent)
    return volume


def innermost_type(type: r.Type) -> r.Type:
    """The type of the innermost elements of an array."""
    while (type.kind == "array" or count_fixed_elements(type) is not None) and type.of is not None:
        type = type.of
    return type


def count_fixed_elements(type: r.Type) -> int | None:
    """Number of elements of a `std::array`; None for any other type."""
    if type.kind != "record" or type.of is None or not type.name.startswith("std::array<") or not type.of.size:
        return None
    return type.size // type.of.size


def container_owner(there: AssignmentTarget) -> str:
    if there.place is None:
        return there.variable or there.name
    offset = v.whole_number(there.place.offset) if there.place.offset is not None else None
    name = there.place.name or (there.name if there.path else WHOLE)
    return f"{there.place.array}+{offset if offset is not None else '?'}:{name}"


def root_variable(node: r.Expression) -> str | None:
    while isinstance(node, r.Element | r.Field):
        node = node.base
    return node.key if isinstance(node, r.Variable) else None


def source_name(node: r.Expression) -> str:
    while isinstance(node, r.Element | r.Conversion):
        node = node.base if isinstance(node, r.Element) else node.operand
    return node.name if isinstance(node, r.Variable | r.Field) else "memory"
