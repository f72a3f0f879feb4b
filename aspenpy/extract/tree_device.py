"""Calls of CUDA's and HIP's runtime, of what kernels call, and launches of kernels, from libclang's tree."""

from __future__ import annotations

import re
from typing import Any

from aspenpy.extract import device_functions as d
from aspenpy.extract import records as r
from aspenpy.extract.device_functions import index_variable
from aspenpy.extract.matrix_units import MatrixProduct, read_builtin, read_fragment
from aspenpy.extract.tree_expressions import Expressions
from aspenpy.extract.tree_groups import DeviceGroups, exchange
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import INT, VOID, children_of
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span

_CONFIGURATIONS = ("__cudaPushCallConfiguration", "__hipPushCallConfiguration")
_MATRIX = frozenset({"fill_fragment", "load_matrix_sync", "store_matrix_sync", "mma_sync"})
_OF_HALVES = {"__hadd": "+", "__hsub": "-", "__hmul": "*", "__hdiv": "/"}
_CONVERTING = frozenset({"__half2float", "__float2half", "__bfloat162float", "__float2bfloat16", "__float_to_tf32"})
_WRAPPED = frozenset("UNEXPOSED_EXPR CXX_FUNCTIONAL_CAST_EXPR PAREN_EXPR CXX_STATIC_CAST_EXPR".split())
_BOUNDS = re.compile(r"__launch_bounds__\s*+\(([^()]*+)\)")

SPECIAL = 4
"""Operations of a lane in the time of one of the special function units, of which a multiprocessor has one for each
four lanes (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": 16 results of `rsqrtf` a cycle;
CDNA 3 instruction set, transcendental operations: a quarter of the rate)."""

NO_ERROR = r.Constant(0, INT)
UNSIGNED = r.Type("integer", 4)


def is_kernel(cursor: Any) -> bool:
    return any(child.kind.name == "CUDAGLOBAL_ATTR" for child in cursor.get_children())


def is_for_device(cursor: Any) -> bool:
    return any(child.kind.name in ("CUDAGLOBAL_ATTR", "CUDADEVICE_ATTR") for child in cursor.get_children())


def find_launch_bounds(head: str) -> tuple[str, ...]:
    """`__launch_bounds__` in the head of a kernel, as a pragma."""
    match = _BOUNDS.search(head)
    return () if match is None else (f"launch_bounds({match[1]})",)


class DeviceCalls:
    """The calls of one translation unit of CUDA or HIP that mean more than their functions say."""

    def __init__(self, unit: UnitState, expressions: Expressions) -> None:
        self.unit, self.expressions = unit, expressions
        self.groups = DeviceGroups(unit)

    def read_launch(
        self, cursor: Any, kernel: str, arguments: list[r.Expression], span: Span | None
    ) -> r.Expression | None:
        """The call that launches a kernel; None for other calls."""
        chosen = next((part for part in children_of(cursor) if part.spelling in _CONFIGURATIONS), None)
        if chosen is None:
            return None
        grid, block, *rest = (part for part in children_of(chosen)[1:] if part.kind.is_expression())
        extents = (*self.read_extents(grid), *self.read_extents(block), self._read_or(rest[0], 0) if rest else NO_ERROR)
        key = f"{kernel}<<<{cursor.location.offset}>>>{self.unit.reading.path}"
        self.unit.launches[key] = r.Launch(key, kernel, extents, span)
        return r.Call(key, cursor.spelling, (*arguments, *extents), VOID, span)

    def read_extents(self, cursor: Any) -> tuple[r.Expression, ...]:
        """The extents along x, y and z of a `dim3`, or of a number that becomes one."""
        inside = [child for child in children_of(cursor) if child.kind.is_expression()]
        if cursor.kind.name in _WRAPPED and len(inside) == 1 and _is_extents(cursor):
            return self.read_extents(inside[0])
        if cursor.kind.name == "CALL_EXPR" and cursor.spelling == "dim3":
            if len(inside) == 1 and _is_extents(inside[0]):
                return self.read_extents(inside[0])
            given = [self._read_or(part, 1) for part in inside[:3]]
            return (*given, *[r.Constant(1, INT)] * (3 - len(given)))
        extents, span = self.expressions.read(cursor), self.unit.span(cursor)
        if not _is_extents(cursor):
            return extents, r.Constant(1, INT), r.Constant(1, INT)
        return tuple(r.Field(extents, axis, 4 * at, UNSIGNED, span) for at, axis in enumerate(d.AXES))

    def _read_or(self, cursor: Any, default: int) -> r.Expression:
        """An argument, or the default of one that is not written."""
        return self.expressions.read(cursor) if children_of(cursor) or cursor.extent.start.offset else _number(default)

    def declare_extents(self, variable: r.Variable, value: Any) -> list[r.Declaration | r.ExpressionStatement] | None:
        """The declaration of a `dim3` with its extents; None for other variables."""
        if variable.type.kind != "record" or variable.type.name != "dim3":
            return None
        statements: list[r.Declaration | r.ExpressionStatement] = [r.Declaration(variable, span=variable.span)]
        for at, (axis, extent) in enumerate(zip(d.AXES, self.read_extents(value), strict=True)):
            target = r.Field(variable, axis, 4 * at, UNSIGNED, variable.span)
            statements.append(r.ExpressionStatement(r.assign(target, extent, variable.span), variable.span))
        return statements

    def read_call(
        self, cursor: Any, arguments: list[r.Expression], type: r.Type, span: Span | None
    ) -> r.Expression | None:
        """A call of the runtime or of a function of kernels; None for a user's functions and those of mathematics."""
        target = cursor.referenced
        if self.unit.reading.is_users(target.location):
            return None
        name: str = target.spelling
        runtime = d.device_name(name)
        if runtime is not None:
            return self._read_runtime(runtime, name, arguments, span)
        if name.startswith("atomic"):
            return self._read_atomic(name, arguments, type, span)
        if name == "operator float":
            inside = [child for part in children_of(cursor)[:1] for child in children_of(part)]
            return self.expressions.read(inside[0]) if inside else None
        if (found := self.groups.read_call(cursor, arguments, type, span)) is not None:
            return found
        if name in _MATRIX:
            return self._read_fragments(name, cursor, arguments, span)
        if (product := read_builtin(name)) is not None:
            return r.Several((self.multiply(product, span), arguments[2]), type, span=span)
        return read_device_function(name, arguments, type, span)

    def _read_runtime(
        self, name: str, written: str, arguments: list[r.Expression], span: Span | None
    ) -> r.Expression | None:
        if name in d.ALLOCATIONS and len(arguments) > 1:
            return _answer(_allocate(arguments, span), span)
        if name in d.TRANSFERS and len(arguments) > 1:
            at, way = d.TRANSFERS[name]
            direction = _strip(arguments[way]) if way is not None and way < len(arguments) else None
            known = {d.HOST_TO_HOST: "memcpy", d.DEVICE_TO_DEVICE: "device copy"}
            value = direction.value if isinstance(direction, r.Constant) else None
            kind = known.get(value, "device transfer") if isinstance(value, int) else "device transfer"
            return _answer(r.Call(kind, written, (*arguments[:2], arguments[at]), INT, span), span)
        if name in d.SETTING:
            return _answer(r.Call("device set", written, tuple(arguments[:3]), INT, span), span)
        if name in d.ASKING:
            return _answer(r.Call("clock_gettime", "clock_gettime", tuple(arguments), INT, span), span)
        if name in d.GRAPHS:
            return _answer(r.Call(d.GRAPHS[name], written, (), VOID, span), span)
        if name in d.UNCOUNTED:
            self.unit.diagnostics.append(warning("not-counted", f"`{written}` is not counted", span))
        return _answer(NO_ERROR, span) if name in d.QUIET | d.UNCOUNTED else None

    def multiply(self, product: MatrixProduct, span: Span | None) -> r.Expression:
        """The part of a thread in a product of matrices that its warp makes."""
        return r.Call(f"device tensor {product.precision}", "", (_number(product.flops // self.warp),), VOID, span)

    @property
    def warp(self) -> int:
        return self.unit.reading.warp

    def _read_fragments(self, name: str, cursor: Any, arguments: list[r.Expression], span: Span | None) -> r.Expression:
        """A function of `mma.h` or rocWMMA: lines of a fragment that threads load or store, or flops."""
        types = [each.type.get_canonical().spelling for each in cursor.get_arguments()]
        fragments = [read_fragment(spelling) for spelling in types]
        fragment = fragments[1 if name in ("mma_sync", "store_matrix_sync") else 0]
        if name == "fill_fragment":
            return NO_ERROR
        if fragment is None or (fragment.precision == "int" and name == "mma_sync"):
            self.unit.diagnostics.append(warning("not-counted", f"the fragments of `{name}` are not counted", span))
            return NO_ERROR
        if name == "mma_sync":
            flops = 2 * fragment.m * fragment.n * fragment.k
            return self.multiply(MatrixProduct(flops, fragment.precision), span)
        lane = r.Operation("%", (index_variable("threadIdx", "x", span), _number(self.warp)), INT)
        layout = arguments[3] if len(arguments) > 3 else None
        by_rows = fragment.is_by_rows if layout is None else not _is_one(layout)
        kind, place = ("store", arguments[0]) if name == "store_matrix_sync" else ("load", arguments[1])
        lines, elements = fragment.lines(by_rows)
        sizes = map(_number, (lines, elements, fragment.size))
        return r.Call(f"device fragment {kind}", name, (place, arguments[2], lane, *sizes), VOID, span)

    def _read_atomic(
        self, name: str, arguments: list[r.Expression], type: r.Type, span: Span | None
    ) -> r.Expression | None:
        """An atomic operation as a load, an operation and a store."""
        word = name.removeprefix("atomic").removesuffix("_block").removesuffix("_system")
        if word not in d.ATOMICS or len(arguments) < 2:
            return None
        place = r.Element(arguments[0], _number(0), type, span=span)
        operator = d.ATOMICS[word]
        if not operator:
            return r.Several((*arguments[1:], r.assign(place, place, span).replace(atomic=word)), type, span=span)
        return r.assign(place, arguments[1], span, operator=operator, is_postfix=True).replace(atomic=word)


def read_device_function(
    name: str, arguments: list[r.Expression], type: r.Type, span: Span | None
) -> r.Expression | None:
    """The record of a call of a function that only kernels have; None for those that the host has, too."""
    plain = name.removesuffix("_sync")
    if name in d.BARRIERS:
        return r.Call("device barrier", name, (), VOID, span)
    if name in d.LOADS:
        return r.Element(arguments[0], _number(0), type, span=span)
    if plain in d.SHUFFLES:
        return exchange(arguments[1] if plain != name else arguments[0], name, span)
    if name in d.COUNTING:
        return r.Operation("~", (arguments[0],), INT, span)
    if name in d.VOTES:
        return r.Several(tuple(arguments), INT, span=span)
    if name in ("fma", "fmaf", "__fmaf_rn"):
        return r.Operation("+", (r.Operation("*", tuple(arguments[:2]), type, span), arguments[2]), type, span)
    if name in _OF_HALVES:
        single = r.Type("real", 4)
        return r.Operation(_OF_HALVES[name], tuple(arguments), single, span)
    if name in _CONVERTING:
        return arguments[0]
    if name == "__hfma":
        product = read_device_function("__hmul", arguments[:2], type, span)
        return read_device_function("__hadd", [product or arguments[0], arguments[2]], type, span)
    if name == "rsqrtf" or (name == "rsqrt" and type.size == 4):
        special = r.Call("device special sp", name, (_number(SPECIAL),), VOID, span)
        return r.Several((special, *arguments), type, span=span)
    if name == "rsqrt":
        root = r.Call("sqrt", "sqrt", tuple(arguments), type, span)
        return r.Operation("/", (r.Constant(1.0, type), root), type, span)
    if name == "__fdividef":
        return r.Operation("/", tuple(arguments), type, span)
    if name.startswith("__") and name[2:].endswith("f"):
        return r.Call(name[2:], name[2:], tuple(arguments), type, span)
    return None


def _answer(done: r.Expression, span: Span | None) -> r.Expression:
    """A call of the runtime with its answer that all went well."""
    return r.Several((done, NO_ERROR), INT, span=span)


def _allocate(arguments: list[r.Expression], span: Span | None) -> r.Expression:
    """The assignment of new memory to what an argument points at."""
    pointer = _strip(arguments[0])
    place = pointer.operand if isinstance(pointer, r.Address) else r.Element(pointer, _number(0), VOID, span=span)
    return r.assign(place, r.Call("malloc", "malloc", (arguments[1],), place.type, span), span)


def _is_extents(cursor: Any) -> bool:
    return bool(cursor.type.get_canonical().spelling.removeprefix("const ") in ("dim3", "uint3"))


def _strip(node: r.Expression) -> r.Expression:
    """An expression without the conversions around it."""
    while isinstance(node, r.Conversion):
        node = node.operand
    return node


def _is_one(node: r.Expression) -> bool:
    node = _strip(node)
    return isinstance(node, r.Constant) and node.value == 1


def _number(value: int) -> r.Constant:
    return r.Constant(value, INT)
