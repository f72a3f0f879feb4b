"""Types of libclang as records: sizes, what pointers point at, extents as they were written. Each instance of a
template is read with what its parameters stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.front_end import ParsedUnit, evaluate_constant
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span
from aspenpy.record import Record

PARAMETER = re.compile(r"type-parameter-\d+-\d+")
"""How libclang calls the type that a parameter of a template stands for."""

_PARAMETERS = ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER")


class Instance(Record):
    """An instance of a template, with what its parameters stand for: types by libclang's name, numbers by the source's,
    and the members of the class it is a method of."""

    types: Mapping[str, r.Type]
    values: Mapping[str, int]
    members: Mapping[str, Any]
    owner: r.Type | None = None

    def suffix(self) -> str:
        given = [
            *(f"{type.kind}{type.size}{type.name}" for type in self.types.values()),
            *map(str, self.values.values()),
        ]
        return f"<{','.join(given)}>" if given else ""


NO_INSTANCE = Instance({}, {}, {})


def template_parameters(template: Any) -> list[Any]:
    """Parameters of a template in order."""
    return [child for child in template.get_children() if child.kind.name in _PARAMETERS]


def deduce_types(formals: list[r.Type], names: list[str], arguments: list[r.Expression]) -> dict[str, r.Type]:
    """Types of a template's parameters, from arguments whose formals are such a type or point at one."""
    found: dict[str, r.Type] = {}
    for formal, name, argument in zip(formals, names, arguments, strict=False):
        match = PARAMETER.search(name)
        if match is None:
            continue
        given = argument.operand.type if isinstance(argument, r.Address) and formal.name == "&" else argument.type
        is_pointer = formal.kind == "pointer" and formal.name != "&"
        inner = given.of if is_pointer and given.of is not None else given
        found.setdefault(match[0], inner)
    return found


def operation_type(operator: str, operands: tuple[r.Expression, ...]) -> r.Type:
    """Type of an operation on dependent types, by C's usual conversions."""
    if operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "not"):
        return r.Type("integer", 4)
    types = [operand.type for operand in operands]
    pointers = [type for type in types if type.kind in ("pointer", "array")]
    if pointers:
        return pointers[0]
    reals = [type for type in types if type.kind == "real"]
    return max(reals or types, key=lambda type: type.size)


_INTEGERS = frozenset({
    *"BOOL CHAR_U UCHAR CHAR16 CHAR32 USHORT UINT ULONG ULONGLONG UINT128 CHAR_S SCHAR WCHAR SHORT INT".split(),
    *"LONG LONGLONG INT128 ENUM".split(),
})  # fmt: skip
_REALS = frozenset("FLOAT DOUBLE LONGDOUBLE FLOAT128 HALF".split())
_POINTERS = frozenset("POINTER LVALUEREFERENCE RVALUEREFERENCE BLOCKPOINTER MEMBERPOINTER NULLPTR".split())
_ARRAYS = frozenset("CONSTANTARRAY VARIABLEARRAY INCOMPLETEARRAY DEPENDENTSIZEDARRAY".split())
REFERENCES = frozenset("LVALUEREFERENCE RVALUEREFERENCE".split())

_CONTAINER = re.compile(r"(?:const )?std::(?:__cxx11::)?(?:vector|array|valarray|span|deque)<")
_DEPENDENT = re.compile(r"(?:const )?(?:std::)?(?:__cxx11::)?(?:vector|array|valarray|span|deque)<")
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
    """The part of a translation unit that has been read so far, and the instance of a template that is being read."""

    def __init__(self, reading: ParsedUnit, macros: dict[str, r.Macro]) -> None:
        self.reading = reading
        self.diagnostics: list[Diagnostic] = []
        self.macros = macros  # of all units of the program
        self.statics: list[r.Declaration] = []  # variables of functions that keep their values
        self.made: dict[str, r.Function] = {}  # lambdas, and functions of the standard library
        self.never_return: set[str] = set()  # functions that are called and declared so
        self.instance = NO_INSTANCE
        self.instances: dict[str, tuple[Any, Instance]] = {}  # those that are called
        self._statements: dict[tuple[str, int], list[int]] = {}  # those that begin at one place, by libclang's hash
        self._depth = 0

    def span(self, cursor: Any) -> Span | None:
        return self.reading.span(cursor)

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
        if self.unit.instance is not NO_INSTANCE:
            return self._cached_type(type)
        place = type._kind_id, type.data[0]
        if place not in self._seen:
            self._seen[place] = self._cached_type(type)
        return self._seen[place]

    def _cached_type(self, type: Any) -> r.Type:
        """Type by its spelling; types that depend on a parameter are read again for each instance."""
        spelling = type.get_canonical().spelling
        if self.unit.instance.types and PARAMETER.search(spelling):
            return self._read_type(type)
        if spelling not in self._types:
            self._types[spelling] = self._read_type(type)
        return self._types[spelling]

    def _type_of_parameter(self, spelling: str) -> r.Type | None:
        """Type that a parameter of the template stands for, or a container of it; None for other spellings."""
        bare = _plain_name(spelling).strip()
        if bare.endswith(("&", "*", "]")):
            return None
        if bare in self.unit.instance.types:
            return self.unit.instance.types[bare]
        owner = self.unit.instance.owner
        if owner is not None and PARAMETER.search(bare) and bare.split("<")[0] == owner.name.split("<")[0]:
            return owner
        inside = PARAMETER.search(spelling)
        if inside is None or inside[0] not in self.unit.instance.types or not _DEPENDENT.match(spelling):
            return None
        return r.Type("record", 24, self.unit.instance.types[inside[0]], name="container")

    def _read_type(self, type: Any) -> r.Type:
        plain = type.get_canonical()
        kind, size = plain.kind.name, size_of(plain)
        if (given := self._type_of_parameter(plain.spelling)) is not None:
            return given
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
        if kind == "RECORD" and LAMBDA in plain.spelling:
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
        special = any(pattern.match(plain.spelling) for pattern in (_CONTAINER, _POINTING)) or LAMBDA in plain.spelling
        if plain.kind.name == "RECORD" and not special:
            return r.Type("record", max(pointee.get_size(), 0), name=_plain_name(pointee.spelling))
        return self.type_of(pointee)

    def _contained_type(self, plain: Any) -> r.Type | None:
        """Element type of a container of the standard library."""
        if plain.get_num_template_arguments() > 0 and _CONTAINER.match(plain.spelling):
            return self.type_of(plain.get_template_argument_type(0))
        return None


def _fixed_extent(type: Any) -> r.Expression | None:
    count = type.element_count if type.kind.name == "CONSTANTARRAY" else -1
    return r.Constant(count, INT) if count >= 0 else None


def _plain_name(spelling: str) -> str:
    return re.sub(r"\b(const|struct|class|volatile|union)\s+", "", spelling)


def children_of(cursor: Any) -> list[Any]:
    return list(cursor.get_children())
