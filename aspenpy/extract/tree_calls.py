"""Calls of libclang as records: of functions, methods, templates, pointers, constructors and lambdas."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.complex_numbers import operate_on_complex
from aspenpy.extract.effects import POINTED, pointer_key
from aspenpy.extract.front_end import load_libclang
from aspenpy.extract.tree_device import DeviceCalls, is_kernel
from aspenpy.extract.tree_expressions import FUNCTIONS, Expressions
from aspenpy.extract.tree_methods import find_template, has_virtual_methods, is_virtual, list_overridden
from aspenpy.extract.tree_portable import PortableLoops
from aspenpy.extract.tree_standard import translate_call
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import INT, LAMBDA, THIS, VOID, children_of
from aspenpy.language.source import Span

_OWNED_ARRAY = re.compile(r"std::(?:unique_ptr|shared_ptr)<.*\[\]")
_NEW_OBJECT = re.compile(r"(?:::\s*)?new\s*(?:\([^()]*\)\s*)?+[^\[({\s][^\[({]*[({]")
"""The text of `new T(n)`, perhaps with a place in front of `T`; libclang does not tell that from `new T[n]`."""

_NEVER_RETURNS = re.compile(r"\bno_?return\b|\b_Noreturn\b", re.IGNORECASE)


def construct_in_place(value: r.Expression, named: r.Expression) -> r.Call | None:
    """The constructor's call on an object with a name, in place of a temporary one; None for other values."""
    if not isinstance(value, r.Several) or len(value.parts) != 2:
        return None
    call, temporary = value.parts
    if not isinstance(call, r.Call) or not isinstance(temporary, r.Variable):
        return None
    if not temporary.key.startswith("temporary@"):
        return None
    first = call.arguments[0]
    is_address = isinstance(first, r.Address) and named.type.kind != "pointer"
    here = r.Address(named, first.type, call.span) if is_address else named
    return call.replace(arguments=(here, *call.arguments[1:]))


class CallReader:
    """The calls of one translation unit; `read_statement` reads the bodies of lambdas."""

    def __init__(self, unit: UnitState, read_statement: Callable[[Any], r.Statement]) -> None:
        rules = {"CALL_EXPR": self._read_call, "CXX_NEW_EXPR": self._read_new, "LAMBDA_EXPR": self._read_lambda}
        self.unit = unit
        self.expressions = Expressions(unit, rules)
        self.types = self.expressions.types
        self.portable = PortableLoops(unit, self.expressions.read, self.expressions.read_variable)
        self.device = DeviceCalls(unit, self.expressions) if unit.reading.is_cuda else None
        self.read_statement = read_statement
        self._returning: dict[int, bool] = {}  # functions that may return, by libclang's hash

    def _read_lambda(self, cursor: Any) -> r.Expression:
        """Reads a lambda as a function that stands in place of its calls; its type tells which."""
        children, span = children_of(cursor), self.unit.span(cursor)
        type = self.types.type_of(cursor.type)
        body = next((child for child in reversed(children) if child.kind.name == "COMPOUND_STMT"), None)
        if body is not None:
            formals = tuple(
                self.expressions.read_variable(child) for child in children if child.kind.name == "PARM_DECL"
            )
            made = r.Function(type.name, "lambda", formals, self.read_statement(body), span=span, in_place=True)
            self.unit.made[type.name] = made
        return r.Constant(None, type, span=span)

    def _read_new(self, cursor: Any) -> r.Expression:
        """Allocates memory from the heap, and calls the constructor on it."""
        parts = [self.expressions.read(child) for child in children_of(cursor) if child.kind.is_expression()]
        type, span = self.types.type_of(cursor.type), self.unit.span(cursor)
        of = type.of.size if type.of else 8
        is_object = span is not None and _NEW_OBJECT.match(span.text()) is not None
        count = parts[0] if parts and parts[0].type.kind == "integer" and not is_object else r.Constant(1, INT)
        size = r.Operation("*", (count, r.Constant(of, INT)), INT, span)
        memory = r.Call("malloc", "malloc", (size,), type, span)
        pointer = r.Variable(f"new@{cursor.location.offset}", "created", type, "local", span=span)
        call = construct_in_place(parts[-1], pointer) if parts else None
        if call is not None:
            made = r.assign(pointer, memory, span)
            return r.Several((made, call, pointer), type, span=span)
        return memory

    def _read_call(self, cursor: Any) -> r.Expression:
        target = cursor.referenced
        span, type = self.unit.span(cursor), self.types.type_of(cursor.type)
        given = [argument for argument in cursor.get_arguments() if argument is not None]
        is_other = target is not None and target.kind.name in FUNCTIONS
        is_other = is_other and not self.unit.reading.is_users(target.location)
        if is_other and (found := self.portable.read_call(cursor, target, type, span)) is not None:
            return found
        arguments = [self.expressions.read(argument) for argument in given]
        if target is None or target.kind.name not in FUNCTIONS or _calls_what_is_returned(cursor, given):
            return self._resolve_by_name(cursor, arguments, type, span)
        kind, name = target.kind.name, target.spelling
        if self._never_returns(target):
            self.unit.never_return.add(target.get_usr())
        if kind == "CONSTRUCTOR":
            return self._construct(cursor, arguments, type, span)
        if self.device is not None and (expression := self._read_on_device(cursor, arguments, type, span)) is not None:
            return expression
        children = [child for child in children_of(cursor) if child.kind.is_expression()]
        is_member = kind == "CXX_METHOD" and not target.is_static_method()
        if is_member and children and children[0].kind.name == "MEMBER_REF_EXPR" and children[0].spelling == name:
            inside = [child for child in children_of(children[0]) if child.kind.is_expression()]
            arguments.insert(0, self.expressions.read(inside[0]) if inside else THIS)
        owner = target.semantic_parent
        if owner is not None and (of := self.types.type_of(owner.type)).name.startswith(LAMBDA):
            return r.Call(of.name, "lambda", tuple(arguments[1:]), type, span)
        if owner is not None and not self.unit.reading.is_users(target.location):
            is_array = _OWNED_ARRAY.match(target.result_type.get_canonical().spelling) is not None
            return self._call_standard(name, arguments, type, span, is_array)
        arguments = self._take_references(target, arguments)
        key = target.get_usr() if find_template(target) is None else self._instantiate(target)
        if is_virtual(target):
            self.note_virtual(target)
            key = POINTED + key if _is_dynamic(cursor, children) else key
        if name == "operator=" and len(arguments) == 2 and _is_copy(target):
            return r.assign(arguments[0], arguments[1], span)
        found = operate_on_complex(name, tuple(arguments), type, span) if is_other else None
        return r.Call(key, name, tuple(arguments), type, span) if found is None else found

    def _read_on_device(
        self, cursor: Any, arguments: list[r.Expression], type: r.Type, span: Span | None
    ) -> r.Expression | None:
        """A launch of a kernel, or a call of the device's functions; None for other calls."""
        assert self.device is not None
        target = cursor.referenced
        if is_kernel(target):
            key = target.get_usr() if find_template(target) is None else self._instantiate(target)
            if (launch := self.device.read_launch(cursor, key, arguments, span)) is not None:
                return launch
        return self.device.read_call(cursor, arguments, type, span)

    def note_virtual(self, method: Any) -> None:
        """Notes a virtual method as one that may be called through those that it overrides."""
        self.unit.overriding.setdefault(method.get_usr(), [])
        for key in list_overridden(method):
            self.unit.overriding.setdefault(key, []).append(method.get_usr())

    def _never_returns(self, target: Any) -> bool:
        """Whether a function is declared `noreturn`; libclang has no kind of cursor for that attribute."""
        key = target.hash
        if key not in self._returning:
            declared = [child for child in target.get_children() if child.kind.name == "UNEXPOSED_ATTR"]
            spans = [self.unit.span(child) for child in declared]
            words = [target.type.spelling, *(span.text() for span in spans if span is not None)]
            self._returning[key] = not any(_NEVER_RETURNS.search(word) for word in words)
        return not self._returning[key]

    def _instantiate(self, target: Any) -> str:
        """Key of the function that a template becomes in a call. libclang has its body with all types and calls in it
        resolved, which is read later; it has none where another unit makes the function."""
        made, key = target.get_definition(), str(target.get_usr())
        if made is not None:
            self.unit.instances.setdefault(key, made)
        return key

    def _resolve_by_name(
        self, cursor: Any, arguments: list[r.Expression], type: r.Type, span: Span | None
    ) -> r.Expression:
        """The call of the function that fits best by its name: calls through pointers, and those in templates that are
        never instantiated, have no declaration."""
        children = children_of(cursor)
        named = children[0] if children else cursor
        inside = children_of(named)
        if named.kind.name == "DECL_REF_EXPR" and inside and inside[0].kind.name == "OVERLOADED_DECL_REF":
            named = inside[0]
        if named.kind.name == "OVERLOADED_DECL_REF" and load_libclang().conf.lib.clang_getNumOverloadedDecls(named):
            target = self._choose_overload(named, arguments)
            if self.unit.reading.is_users(target.location) and target.get_usr():
                return r.Call(target.get_usr(), named.spelling, tuple(arguments), type, span)
        text = span.text().partition("(")[0].strip() if span is not None else ""
        pointer = self._pointer_key(named)
        unnamed = "pointer" if named.type.get_canonical().kind.name == "POINTER" else ""
        name = named.spelling or cursor.spelling or (text if text.isidentifier() else unnamed)
        return r.Call(pointer or name, name, tuple(arguments), type, span)

    def _pointer_key(self, called: Any) -> str | None:
        """The key of calls through a pointer to functions."""
        is_pointer = called.type.get_canonical().kind.name == "POINTER" and called.kind.is_expression()
        pointer = pointer_key(self.expressions.read(called)) if is_pointer else None
        return None if pointer is None else POINTED + pointer

    def _choose_overload(self, named: Any, arguments: list[r.Expression]) -> Any:
        """The overload whose formals have the arguments' types, or else the first."""
        lib = load_libclang().conf.lib
        known = [lib.clang_getOverloadedDecl(named, index) for index in range(lib.clang_getNumOverloadedDecls(named))]
        given = _kinds_of([argument.type for argument in arguments])
        for target in known:
            if _kinds_of([self.types.type_of(formal.type) for formal in target.get_arguments() or ()]) == given:
                return target
        return known[0]

    def _take_references(self, target: Any, arguments: list[r.Expression]) -> list[r.Expression]:
        """Arguments of a user's function, with the address of what it may change through a reference."""
        formals = list(target.get_arguments())
        first = len(arguments) - len(formals)
        result = list(arguments)
        for index, formal in enumerate(formals):
            type = formal.type.get_canonical()
            if type.kind.name != "LVALUEREFERENCE" or type.get_pointee().is_const_qualified() or first + index < 0:
                continue
            given = result[first + index]
            if isinstance(given, r.Variable | r.Field) and given.type.kind in ("integer", "real", "record", "pointer"):
                result[first + index] = r.Address(given, self.types.type_of(type), given.span)
        return result

    def _construct(self, cursor: Any, arguments: list[r.Expression], type: r.Type, span: Span | None) -> r.Expression:
        """A temporary made by its constructor; a copy is the original."""
        target = cursor.referenced
        copied = len(arguments) == 1 and arguments[0].type.kind == type.kind and type.kind in ("record", "pointer")
        if copied and type.kind == "record" and self.unit.reading.is_users(target.location):
            copied = target.is_copy_constructor() or target.is_move_constructor()  # not of an object of another class
        if copied or (type.kind == "pointer" and arguments):
            return arguments[0]
        temporary = r.Variable(f"temporary@{cursor.location.offset}", "temporary", type, "local", span=span)
        is_container = type.kind == "record" and type.of is not None
        if is_container and arguments and arguments[0].type.kind == "integer":
            return r.Several(
                (r.Call("resize", "resize", (temporary, arguments[0]), VOID, span), temporary), type, span=span
            )
        implicit = target.location.offset == target.semantic_parent.location.offset
        if implicit or not self.unit.reading.is_users(target.location):
            return r.Several(tuple(arguments), type, span=span)
        key = target.get_usr() if find_template(target) is None else self._instantiate(target)
        owner = find_template(target.semantic_parent)
        if owner is not None and has_virtual_methods(owner):
            self.unit.classes.setdefault(target.semantic_parent.type.get_canonical().spelling, (owner, False))
        call = r.Call(key, target.spelling, (r.Address(temporary, type, span), *arguments), VOID, span)
        return r.Several((call, temporary), type, span=span)

    def _call_standard(
        self, name: str, arguments: list[r.Expression], type: r.Type, span: Span | None, is_array: bool = False
    ) -> r.Expression:
        """A call of the standard library; `is_array` is true of one that returns an owning pointer to an array."""
        if (complex_value := operate_on_complex(name, tuple(arguments), type, span)) is not None:
            return complex_value
        lambdas = tuple(part.type.name for part in arguments if part.type.name.startswith(LAMBDA))
        found = translate_call(name, tuple(arguments), type, span, lambdas)
        if found is not None:
            expression, function = found
            if function is not None:
                self.unit.made.setdefault(function.key, function)
            return expression
        if name in ("make_unique", "make_shared") and type.kind == "pointer":
            of = type.of.size if type.of else 8
            count = arguments[0] if is_array and arguments else r.Constant(1, INT)
            size = r.Operation("*", (count, r.Constant(of, INT)), INT, span)
            return r.Call("malloc", "malloc", (size,), type, span)
        if name == "operator=" and len(arguments) == 2:
            return r.assign(arguments[0], arguments[1], span)
        return r.Call(name, name, tuple(arguments), type, span)


def _calls_what_is_returned(cursor: Any, given: list[Any]) -> bool:
    """Whether a call is that of a pointer which another call returns, such as `find(name)(x)`."""
    called = next(iter(children_of(cursor)), None)
    if called is None or called.kind.name != "CALL_EXPR" or called in given:
        return False
    return bool(called.type.get_canonical().kind.name == "POINTER")


def _kinds_of(types: list[r.Type]) -> list[tuple[str, int]]:
    plain = [type.of if type.is_reference and type.of is not None else type for type in types]
    return [(type.kind, type.size) for type in plain]


def _is_dynamic(cursor: Any, children: list[Any]) -> bool:
    """Whether a call of a virtual method depends on its object: not for a variable, whose class is known."""
    if not load_libclang().conf.lib.clang_Cursor_isDynamicCall(cursor):
        return False
    inside = children_of(children[0]) if children else []
    declared = inside[0].referenced if inside and inside[0].kind.name == "DECL_REF_EXPR" else None
    return declared is None or declared.type.get_canonical().kind.name != "RECORD"


def _is_copy(target: Any) -> bool:
    """Whether an assignment operator is the compiler's own; libclang locates it at the class."""
    owner = target.semantic_parent
    return target.is_default_method() or (owner is not None and target.location == owner.location)
