"""Types of libclang as records: sizes, what pointers point at, extents as they were written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.complex_numbers import PREFIX
from aspenpy.extract.front_end import evaluate_constant
from aspenpy.extract.tree_state import UnitState

_INTEGERS = frozenset({
    *"BOOL CHAR_U UCHAR CHAR16 CHAR32 USHORT UINT ULONG ULONGLONG UINT128 CHAR_S SCHAR WCHAR SHORT INT".split(),
    *"LONG LONGLONG INT128 ENUM".split(),
})  # fmt: skip
_REALS = frozenset("FLOAT DOUBLE LONGDOUBLE FLOAT128 HALF".split())
_POINTERS = frozenset("POINTER LVALUEREFERENCE RVALUEREFERENCE BLOCKPOINTER MEMBERPOINTER NULLPTR".split())
_ARRAYS = frozenset("CONSTANTARRAY VARIABLEARRAY INCOMPLETEARRAY DEPENDENTSIZEDARRAY".split())
REFERENCES = frozenset("LVALUEREFERENCE RVALUEREFERENCE".split())

_CONTAINER = re.compile(r"(?:const )?std::(?:__cxx11::)?(?:vector|array|valarray|span|deque)<")
_POINTER_LIKE = re.compile(r"(?:const )?(?:__gnu_cxx::__normal_iterator|std::(?:unique_ptr|shared_ptr)|Kokkos::View)<")
LAMBDA = r.LAMBDA
"""How the names of the types of lambdas begin."""

ADDRESS_SIZE = 8
"""Bytes of an address on 64-bit machines, which programs are modelled for."""

VOID = r.Type("void")
INT = r.Type("integer", 4)

_DEPENDENT = r.Type("real", 8, name="dependent")
"""The type of a parameter of a template that is never instantiated: a `double`, as in most numerical programs."""

_CONTAINER_OF_DEPENDENT = r.Type("record", 3 * ADDRESS_SIZE, _DEPENDENT, name="container")
"""A container of such elements, of the size of GCC's `std::vector`: pointers to its begin, end and end of storage."""


def pointer_to(of: r.Type | None, *, is_reference: bool = False, restrict: bool = False) -> r.Type:
    """The type of a pointer or reference to another type, None where that is not known."""
    return r.Type("pointer", ADDRESS_SIZE, of, restrict=restrict, is_reference=is_reference)


NULL = pointer_to(VOID)
THIS = r.Variable("this", "this", pointer_to(None), "formal")
"""The object of a method, where its class is not known."""


def size_of(type: Any) -> int:
    """Bytes of a type, 0 where unknown. libclang ends the process when asked for a placeholder type such as
    `<overloaded function type>`."""
    return 0 if type.spelling.startswith("<") else max(type.get_size(), 0)


class Types:
    """The types of one translation unit; `read_expression` reads what an extent is written as."""

    def __init__(self, unit: UnitState, read_expression: Callable[[Any], r.Expression]) -> None:
        self.unit = unit
        self._read_expression = read_expression
        self._by_spelling: dict[str, r.Type] = {}
        self._by_address: dict[tuple[int, int], r.Type] = {}  # libclang's own, with the kind of type

    def type_of_declaration(self, cursor: Any) -> r.Type:
        """The type of a declaration; the extents of arrays are among its children, the innermost first."""
        kinds = self._kinds(cursor.type)
        if not {"VARIABLEARRAY", "CONSTANTARRAY"} & set(kinds):
            return self.type_of(cursor.type)
        extents = [
            child
            for child in reversed(children_of(cursor))
            if child.kind.is_expression() and child.kind.name not in ("INIT_LIST_EXPR", "STRING_LITERAL")
        ]
        extents.sort(key=lambda child: self.unit.reading.file_offset(child.location)[1])
        return self._with_extents(cursor.type, extents)

    def _kinds(self, type: Any) -> list[str]:
        """Kinds of libclang from a type inwards: of an array of pointers to `int` its own, the pointers' and `INT`."""
        kinds, type = list[str](), type.get_canonical()
        while True:
            name = type.kind.name
            kinds.append(name)
            if name in _ARRAYS:
                type = type.element_type
            elif name in _POINTERS:
                type = type.get_pointee()
            else:
                return kinds
            type = type.get_canonical()

    def _with_extents(self, type: Any, extents: list[Any]) -> r.Type:
        """The type with its extents as they are written, the outermost first."""
        kind = type.kind.name
        if kind in _ARRAYS:
            extent = _fixed_extent(type)
            if extents and (
                kind == "VARIABLEARRAY" or (extent and evaluate_constant(extents[0]) == type.element_count)
            ):
                written = self._read_expression(extents.pop(0))
                extent = extent if isinstance(written, r.Several) else written
            of = self._with_extents(type.element_type, extents)
            return r.Type("array", size_of(type) if kind == "CONSTANTARRAY" else 0, of, extent)
        if kind in _POINTERS:
            of = self._with_extents(type.get_pointee(), extents)
            return pointer_to(of, is_reference=kind in REFERENCES, restrict=type.is_restrict_qualified())
        if kind in ("ELABORATED", "TYPEDEF") and {"VARIABLEARRAY", "CONSTANTARRAY"} & set(self._kinds(type)):
            return self._with_extents(type.get_canonical(), extents)
        return self.type_of(type)

    def type_of(self, type: Any) -> r.Type:
        """The record of a type of libclang; looked up by its address, which is quicker than by its spelling."""
        address = type._kind_id, type.data[0]
        if address not in self._by_address:
            self._by_address[address] = self._type_by_spelling(type)
        return self._by_address[address]

    def _type_by_spelling(self, type: Any) -> r.Type:
        spelling = type.get_canonical().spelling
        if spelling not in self._by_spelling:
            self._by_spelling[spelling] = self._read_type(type)
        return self._by_spelling[spelling]

    def _read_type(self, type: Any) -> r.Type:
        plain = type.get_canonical()
        kind, size = plain.kind.name, size_of(plain)
        if kind in _INTEGERS:
            return r.Type("integer", size)
        if kind in _REALS:
            return r.Type("real", size)
        if kind in _POINTERS:
            of = self._pointee(plain.get_pointee())
            return pointer_to(of, is_reference=kind in REFERENCES, restrict=plain.is_restrict_qualified())
        if kind == "COMPLEX":
            return r.Type("record", size, name=f"{PREFIX}{plain.element_type.spelling}>")
        if kind in _ARRAYS:
            return r.Type("array", size, self.type_of(plain.element_type), _fixed_extent(plain))
        if kind == "RECORD" and _POINTER_LIKE.match(plain.spelling) and plain.get_num_template_arguments() > 0:
            return self._pointer_like_type(plain)
        if kind == "RECORD" and _is_lambda(plain):
            return r.Type("record", size, name=plain.spelling[plain.spelling.index(LAMBDA) :].rstrip(")"))
        if kind == "RECORD":
            return r.Type("record", size, name=_plain_name(plain.spelling), of=self._contained_type(plain))
        if _CONTAINER.match(plain.spelling):
            return _CONTAINER_OF_DEPENDENT
        if kind in ("DEPENDENT", "UNEXPOSED", "TEMPLATETYPEPARM") or "type-parameter" in plain.spelling:
            return _DEPENDENT
        return r.Type("void" if kind == "VOID" else "other", size)

    def _pointer_like_type(self, plain: Any) -> r.Type:
        """The pointer that an iterator or an owning pointer stands for."""
        inside = plain.get_template_argument_type(0).get_canonical()
        is_view = plain.spelling.removeprefix("const ").startswith("Kokkos")
        while inside.kind.name == "POINTER":
            inside = inside.get_pointee()
            if not is_view:
                break
        if inside.kind.name in _ARRAYS:
            inside = inside.element_type
        return pointer_to(self._pointee(inside))

    def _pointee(self, pointee: Any) -> r.Type:
        """The type that a pointer points at. That of a structure is known by its name and size alone: it may hold a
        pointer to itself."""
        plain = pointee.get_canonical()
        special = any(pattern.match(plain.spelling) for pattern in (_CONTAINER, _POINTER_LIKE)) or _is_lambda(plain)
        if plain.kind.name == "RECORD" and not special:
            return r.Type("record", size_of(pointee), name=_plain_name(pointee.spelling))
        return self.type_of(pointee)

    def _contained_type(self, plain: Any) -> r.Type | None:
        """Element type of a container of the standard library."""
        if plain.get_num_template_arguments() > 0 and _CONTAINER.match(plain.spelling):
            return self.type_of(plain.get_template_argument_type(0))
        return None


def _is_lambda(plain: Any) -> bool:
    """Whether a type is that of a lambda, and no class that is made for one."""
    return LAMBDA in plain.spelling and plain.get_num_template_arguments() <= 0


def _fixed_extent(type: Any) -> r.Expression | None:
    """The extent of an array whose number of elements the compiler knows."""
    count = type.element_count if type.kind.name == "CONSTANTARRAY" else -1
    return r.Constant(count, INT) if count >= 0 else None


def _plain_name(spelling: str) -> str:
    return re.sub(r"\b(const|struct|class|volatile|union)\s+", "", spelling)


def children_of(cursor: Any) -> list[Any]:
    return list(cursor.get_children())
