"""Types of libclang as records: sizes, what pointers point at, extents as they were written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.front_end import ParsedUnit, evaluate_constant
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span

_INTEGERS = frozenset({
    *"BOOL CHAR_U UCHAR CHAR16 CHAR32 USHORT UINT ULONG ULONGLONG UINT128 CHAR_S SCHAR WCHAR SHORT INT".split(),
    *"LONG LONGLONG INT128 ENUM".split(),
})  # fmt: skip
_REALS = frozenset("FLOAT DOUBLE LONGDOUBLE FLOAT128 HALF".split())
_POINTERS = frozenset("POINTER LVALUEREFERENCE RVALUEREFERENCE BLOCKPOINTER MEMBERPOINTER NULLPTR".split())
_ARRAYS = frozenset("CONSTANTARRAY VARIABLEARRAY INCOMPLETEARRAY DEPENDENTSIZEDARRAY".split())
REFERENCES = frozenset("LVALUEREFERENCE RVALUEREFERENCE".split())

_CONTAINER = re.compile(r"(?:const )?std::(?:__cxx11::)?(?:vector|array|valarray|span|deque)<")
_POINTING = re.compile(r"(?:const )?(?:__gnu_cxx::__normal_iterator|std::(?:unique_ptr|shared_ptr))<")
MOST_DEPTH = 200
"""How deeply expressions and statements may be nested; what lies deeper is unknown."""

LAMBDA = "lambda at "
"""How the names of the types of lambdas begin."""

VOID = r.Type("void")
INT = r.Type("integer", 4)


def size_of(type: Any) -> int:
    """Bytes of a type, 0 where unknown. libclang ends the process when asked for a placeholder type such as
    `<overloaded function type>`."""
    return 0 if type.spelling.startswith("<") else max(type.get_size(), 0)


class UnitState:
    """The part of a translation unit that has been read so far."""

    def __init__(self, reading: ParsedUnit, macros: dict[str, r.Macro]) -> None:
        self.reading = reading
        self.diagnostics: list[Diagnostic] = []
        self.macros = macros  # of all units of the program
        self.statics: list[r.Declaration] = []  # variables of functions that keep their values
        self.made: dict[str, r.Function] = {}  # lambdas, and functions of the standard library
        self.never_return: set[str] = set()  # functions that are called and declared so
        self.instances: dict[str, Any] = {}  # functions that templates become in calls, by key
        self.overriding: dict[str, list[str]] = {}  # methods that override a virtual one, by its key
        self.classes: dict[str, tuple[Any, bool]] = {}  # those of templates, whose methods others may call
        self._statements: dict[tuple[str, int], list[int]] = {}  # those that begin at one place, by libclang's hash
        self._depth = 0

    def span(self, cursor: Any) -> Span | None:
        return self.reading.span(cursor)

    def begin_function(self) -> None:
        """Forgets the statements of the function before: those of a template stand at one place in all it becomes."""
        self._statements.clear()

    def set_apart(self, cursor: Any, span: Span | None) -> Span | None:
        """A span of its own for a statement, where one macro stands for several: shorter ones for those behind."""
        if span is None:
            return None
        cursors = self._statements.setdefault((span.source.name, span.start), [])
        if cursor.hash not in cursors:
            cursors.append(cursor.hash)
        return Span(span.source, span.start, max(span.start + 1, span.end - cursors.index(cursor.hash)))

    @contextmanager
    def enter(self) -> Iterator[bool]:
        """Enters one level of nesting; yields whether that is not too deep."""
        self._depth += 1
        try:
            yield self._depth <= MOST_DEPTH
        finally:
            self._depth -= 1


class Types:
    """The types of one translation unit; `read_expression` reads what an extent is written as."""

    def __init__(self, unit: UnitState, read_expression: Callable[[Any], r.Expression]) -> None:
        self.unit = unit
        self._read_expression = read_expression
        self._types: dict[str, r.Type] = {}
        self._seen: dict[tuple[int, int], r.Type] = {}  # by libclang's address of a type

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
        found, type = [], type.get_canonical()
        while True:
            name = type.kind.name
            found.append(name)
            if name in _ARRAYS:
                type = type.element_type
            elif name in _POINTERS:
                type = type.get_pointee()
            else:
                return found
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
            return r.Type("array", max(type.get_size(), 0) if kind == "CONSTANTARRAY" else 0, of, extent)
        if kind in _POINTERS:
            of = self._with_extents(type.get_pointee(), extents)
            name = "&" if kind in REFERENCES else ""
            return r.Type("pointer", 8, of, name=name, restrict=type.is_restrict_qualified())
        if kind in ("ELABORATED", "TYPEDEF") and {"VARIABLEARRAY", "CONSTANTARRAY"} & set(self._kinds(type)):
            return self._with_extents(type.get_canonical(), extents)
        return self.type_of(type)

    def type_of(self, type: Any) -> r.Type:
        place = type._kind_id, type.data[0]
        if place not in self._seen:
            self._seen[place] = self._cached_type(type)
        return self._seen[place]

    def _cached_type(self, type: Any) -> r.Type:
        """Type by its spelling."""
        spelling = type.get_canonical().spelling
        if spelling not in self._types:
            self._types[spelling] = self._read_type(type)
        return self._types[spelling]

    def _read_type(self, type: Any) -> r.Type:
        plain = type.get_canonical()
        kind, size = plain.kind.name, size_of(plain)
        if kind in _INTEGERS:
            return r.Type("integer", size)
        if kind in _REALS:
            return r.Type("real", size)
        if kind in _POINTERS:
            of = self._pointee(plain.get_pointee())
            return r.Type(
                "pointer", 8, of, name="&" if kind in REFERENCES else "", restrict=plain.is_restrict_qualified()
            )
        if kind in _ARRAYS:
            return r.Type("array", size, self.type_of(plain.element_type), _fixed_extent(plain))
        if kind == "RECORD" and _POINTING.match(plain.spelling) and plain.get_num_template_arguments() > 0:
            return self._pointing_type(plain)
        if kind == "RECORD" and _is_lambda(plain):
            return r.Type("record", size, name=plain.spelling[plain.spelling.index(LAMBDA) :].rstrip(")"))
        if kind == "RECORD":
            return r.Type("record", size, name=_plain_name(plain.spelling), of=self._contained_type(plain))
        held = _CONTAINER.match(plain.spelling)
        if held is not None and kind != "RECORD":
            return r.Type("record", 24, r.Type("real", 8, name="dependent"), name="container")
        if kind in ("DEPENDENT", "UNEXPOSED", "TEMPLATETYPEPARM") or "type-parameter" in plain.spelling:
            return r.Type("real", 8, name="dependent")
        return r.Type("void" if kind == "VOID" else "other", size)

    def _pointing_type(self, plain: Any) -> r.Type:
        """Type that an iterator or an owning pointer points at."""
        inside = plain.get_template_argument_type(0).get_canonical()
        if inside.kind.name == "POINTER":
            inside = inside.get_pointee()
        elif inside.kind.name in _ARRAYS:
            inside = inside.element_type
        return r.Type("pointer", 8, self._pointee(inside))

    def _pointee(self, pointee: Any) -> r.Type:
        """Type that a pointer points at; the members of structures are not looked at."""
        plain = pointee.get_canonical()
        special = any(pattern.match(plain.spelling) for pattern in (_CONTAINER, _POINTING)) or _is_lambda(plain)
        if plain.kind.name == "RECORD" and not special:
            return r.Type("record", max(pointee.get_size(), 0), name=_plain_name(pointee.spelling))
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
    count = type.element_count if type.kind.name == "CONSTANTARRAY" else -1
    return r.Constant(count, INT) if count >= 0 else None


def _plain_name(spelling: str) -> str:
    return re.sub(r"\b(const|struct|class|volatile|union)\s+", "", spelling)


def children_of(cursor: Any) -> list[Any]:
    return list(cursor.get_children())
