"""Loops of Kokkos and SYCL as those that a directive offloads: `parallel_for` and `parallel_reduce` over ranges, views
and memory of the device (Kokkos 4 Programming Guide, chapters 6 to 8; SYCL 2020, sections 4.8 and 4.9).

Neighbouring threads have the first index of a Kokkos range, since views of devices lie in columns, and the last index
of a SYCL range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.portable_headers import HINT, KOKKOS, SYCL
from aspenpy.extract.tree_state import UnitState
from aspenpy.extract.tree_types import INT, LAMBDA, VOID, children_of
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span

_QUIET = frozenset("fence initialize finalize ScopeGuard queue wait wait_and_throw depends_on free".split())
_MEMORY = frozenset("malloc_device malloc_shared malloc_host".split())
_GLOBAL = frozenset({"get_global_id", "get_id", "get", "operator[]", "get_linear_id", "get_global_linear_id"})
_ITEMS = ("id", "item", "nd_item")


class PortableLoops:
    """The calls of Kokkos and SYCL in one translation unit; `read` reads an expression, and `declare` a variable."""

    def __init__(
        self, unit: UnitState, read: Callable[[Any], r.Expression], declare: Callable[[Any], r.Variable]
    ) -> None:
        self.unit, self.read, self.declare = unit, read, declare

    def read_call(self, cursor: Any, target: Any, type: r.Type, span: Span | None) -> r.Expression | None:
        """The record of a call; None for those of other libraries."""
        owner, library = target.semantic_parent, _find_library(target)
        name: str = target.spelling
        if library is None or owner is None:
            return None
        given = [argument for argument in cursor.get_arguments() if argument is not None]
        if owner.spelling == "View":
            return self._read_view(cursor, name, given, type, span)
        if owner.spelling in _ITEMS:
            return self._read_index(cursor, name, given, span)
        if name in ("parallel_for", "parallel_reduce"):
            return self._read_loop(library, given, span)
        if name == "submit":
            return r.Call(self.read(_plain(given[0])).type.name, "lambda", (), VOID, span)
        if name in _MEMORY:
            return _allocate([self.read(given[0])], type, span)
        if name == "memcpy":
            to, source, size = map(self.read, given)
            return r.Call("device transfer", name, (to, source, size), VOID, span)
        if name == "deep_copy":
            to, source = map(self.read, given)
            extents = self._find_extents(_plain(given[0]))
            size = _product([*extents, r.Constant(to.type.of.size if to.type.of else 8, INT)], span)
            return r.Call("device copy", name, (to, source, size), VOID, span)
        if name in _QUIET:
            waited = [each for each in children_of(cursor)[:1] if each.kind.name == "MEMBER_REF_EXPR"]
            calls = (_plain(child) for each in waited for child in children_of(each) if child.kind.is_expression())
            return r.Several(tuple(self.read(each) for each in calls if each.kind.name == "CALL_EXPR"), VOID, span=span)
        return None

    # -- views -------------------------------------------------------------------------------------

    def _read_view(
        self, cursor: Any, name: str, given: list[Any], type: r.Type, span: Span | None
    ) -> r.Expression | None:
        if name == "View":
            parts = [part for part in map(self.read, given) if part.type.kind == "integer"]
            if not parts:
                return self.read(given[0]) if len(given) == 1 else None  # a copy points at the same
            return _allocate(parts, type, span)
        children = [child for child in children_of(cursor) if child.kind.is_expression()]
        view = _plain(children[0])
        if view.kind.name == "MEMBER_REF_EXPR":
            view = _plain(next(child for child in children_of(view) if child.kind.is_expression()))
        pointer = self.read(view)
        if name == "data":
            return pointer
        extents = self._find_extents(view)
        if name == "size":
            return _product(extents, span)
        if name == "extent":
            number = self.read(given[0])
            at = number.value if isinstance(number, r.Constant) and isinstance(number.value, int) else 0
            return extents[at] if at < len(extents) else r.Constant(1, INT)
        indices = [self.read(part) for part in given[1:]]  # behind the view itself
        if not indices:
            return None
        index = indices[-1]
        for at in range(len(indices) - 2, -1, -1):
            row = r.Operation("*", (index, self._find_extent(view, at)), INT, span)
            index = r.Operation("+", (indices[at], row), INT, span)
        return r.Element(pointer, index, pointer.type.of or type, span=span)

    def _find_extents(self, view: Any) -> list[r.Expression]:
        """The extents that a view was made with."""
        declared = view.referenced
        made = next((child for child in children_of(declared) if child.kind.name == "CALL_EXPR"), None)
        given = [] if made is None else [self.read(part) for part in made.get_arguments() if part is not None]
        return [part for part in given if part.type.kind == "integer"]

    def _find_extent(self, view: Any, at: int) -> r.Expression:
        """One extent of a view; that of a formal is a parameter."""
        extents = self._find_extents(view)
        if at < len(extents):
            return extents[at]
        return r.Variable(f"{view.referenced.get_usr()}@extent{at}", f"{view.spelling}_extent_{at}", INT, "formal")

    # -- loops -------------------------------------------------------------------------------------

    def _read_loop(self, library: str, given: list[Any], span: Span | None) -> r.Expression | None:
        """A call of a function that stands for the loop."""
        function = next((_plain(part) for part in given if self._is_lambda(part)), None)
        if function is None:
            message = "the body of this loop is no lambda: it is not counted"
            self.unit.diagnostics.append(warning("not-counted", message, span, hint="functors are not read"))
            return r.Several((), VOID, span=span)
        place = next(at for at, part in enumerate(given) if self._is_lambda(part))
        label = self.read(given[0]).span if place == 2 else None
        called = self.read(function).type.name
        policy, sums = _plain(given[place - 1]), given[place + 1 :]
        bounds, threads = self._find_bounds(policy)
        if bounds is None:
            message = "the range of this loop is not read: it counts as one pass"
            self.unit.diagnostics.append(warning("not-counted", message, self.unit.span(policy), hint=HINT))
            bounds = [(r.Constant(0, INT), r.Constant(1, INT))]
        formals = list(self._list_formals(function))
        counters = self._make_counters(library, formals, len(bounds), span)
        arguments: tuple[r.Expression, ...] = ()
        if library == KOKKOS:
            arguments = (*counters, *map(self.read, sums[:1]))
        else:
            self.unit.made[called] = self.unit.made[called].replace(formals=())
        body: r.Statement = r.ExpressionStatement(r.Call(called, "lambda", arguments, VOID, span), span)
        pairs = list(zip(counters, bounds, strict=True))
        directive = "omp target teams distribute parallel for"
        directive += f" collapse({len(pairs)})" if len(pairs) > 1 else ""
        directive += f" thread_limit({threads})" if threads else ""
        for counter, (low, high) in pairs if library == KOKKOS else pairs[::-1]:
            is_outermost = counter is (counters[-1] if library == KOKKOS else counters[0])
            body = _loop_over(counter, low, high, body, (directive,) if is_outermost else (), span)
        key = f"{library}@{called}"
        comment = "" if label is None else label.text().strip('"')
        self.unit.made[key] = r.Function(key, "parallel_for", (), body, comment=comment, span=span, in_place=True)
        return r.Call(key, "parallel_for", (), VOID, span)

    def _is_lambda(self, part: Any) -> bool:
        return LAMBDA in part.type.get_canonical().spelling

    def _list_formals(self, function: Any) -> Iterator[Any]:
        """The formals of a lambda, which may have a name of its own."""
        if function.kind.name == "DECL_REF_EXPR":
            inside = [child for child in children_of(function.referenced) if child.kind.is_expression()]
            function = _plain(inside[-1]) if inside else function
        yield from (child for child in children_of(function) if child.kind.name == "PARM_DECL")

    def _make_counters(self, library: str, formals: list[Any], number: int, span: Span | None) -> list[r.Variable]:
        """The counters of a loop; those of SYCL stand for the parts of its index."""
        found = []
        for at in range(number):
            formal = next(iter(formals[at if library == KOKKOS else 0 :]), None)
            name = "pass" if formal is None else formal.spelling
            key = "" if formal is None else self.declare(formal).key
            label = name if library == KOKKOS or number == 1 else f"{name}_{at}"
            found.append(r.Variable(f"{key or span}@{at}", label, INT, "local", span=span))
        return found

    def _find_bounds(self, policy: Any) -> tuple[list[tuple[r.Expression, r.Expression]] | None, int | None]:
        """First and last index, plus one, along each dimension, and the threads of a block where they are said."""
        policy = self._follow(policy)
        zero = r.Constant(0, INT)
        spelling = policy.type.get_canonical().spelling.removeprefix("const ")
        given = [self._follow(part) for part in policy.get_arguments() or () if part is not None]
        if spelling.startswith("Kokkos::RangePolicy"):
            return [(self.read(given[0]), self.read(given[1]))] if len(given) == 2 else None, None
        if spelling.startswith("Kokkos::MDRangePolicy"):
            lows, highs = (list(map(self.read, children_of(part))) for part in given[:2])
            return list(zip(lows, highs, strict=True)) if len(lows) == len(highs) else None, None
        if spelling.startswith("sycl::nd_range") and len(given) == 2:
            whole, _ = self._find_bounds(given[0])
            parts, _ = self._find_bounds(given[1])
            sizes = [part.value for _, part in parts or () if isinstance(part, r.Constant)]
            threads = 1
            for size in sizes:
                threads *= size if isinstance(size, int) else 1
            return whole, threads if parts is not None and len(sizes) == len(parts) else None
        if spelling.startswith("sycl::range"):
            dimensions = int(spelling.partition("<")[2].partition(">")[0] or 1)
            return [(zero, self.read(part)) for part in given[:dimensions]], None
        single = self.read(policy)
        return ([(zero, single)] if single.type.kind == "integer" else None), None

    def _follow(self, cursor: Any) -> Any:
        """An expression, or what the variable that it names begins with."""
        cursor = _plain(cursor)
        while cursor.kind.name in ("DECL_REF_EXPR", "CALL_EXPR"):
            given = [part for part in cursor.get_arguments() or () if part is not None]
            inside = [child for child in children_of(cursor.referenced or cursor) if child.kind.is_expression()]
            same = cursor.kind.name == "CALL_EXPR" and len(given) == 1 and _same_type(given[0], cursor)
            if same:  # a copy
                cursor = _plain(given[0])
            elif (
                cursor.kind.name == "DECL_REF_EXPR" and inside and inside[-1].type.kind.name in ("RECORD", "ELABORATED")
            ):
                cursor = _plain(inside[-1])
            else:
                break
        return cursor

    def _read_index(self, cursor: Any, name: str, given: list[Any], span: Span | None) -> r.Expression | None:
        """A part of the index of a thread."""
        named = next((each for each in cursor.walk_preorder() if each.kind.name == "DECL_REF_EXPR"), None)
        formal = None if named is None else named.referenced
        if formal is None or formal.kind.name != "PARM_DECL":
            return None
        number = self.read(given[-1]) if given else r.Constant(0, INT)
        at = number.value if isinstance(number, r.Constant) else 0
        whole = formal.type.get_canonical().spelling
        label = formal.spelling if "<1>" in whole else f"{formal.spelling}_{at}"
        index = r.Variable(f"{self.declare(formal).key}@{at}", label, INT, "local", span=span)
        if name in _GLOBAL or name.startswith("operator"):
            return index
        message = f"`{name}` of SYCL is not read: it counts as the index in the whole range"
        self.unit.diagnostics.append(warning("not-counted", message, span))
        return index


def _find_library(target: Any) -> str | None:
    """The library that declares a function."""
    while target is not None and target.kind.name != "TRANSLATION_UNIT":
        if target.spelling in (KOKKOS, SYCL) and target.kind.name == "NAMESPACE":
            return str(target.spelling)
        target = target.semantic_parent
    return None


def _same_type(a: Any, b: Any) -> bool:
    plain = [each.type.get_canonical().spelling.removeprefix("const ") for each in (a, b)]
    return bool(plain[0] == plain[1])


def _plain(cursor: Any) -> Any:
    """An expression without the conversions around it."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR", "CXX_FUNCTIONAL_CAST_EXPR"):
        inside = [child for child in children_of(cursor) if child.kind.is_expression()]
        if not inside:
            break
        cursor = inside[-1]
    return cursor


def _allocate(extents: list[r.Expression], type: r.Type, span: Span | None) -> r.Expression:
    size = _product([*extents, r.Constant(type.of.size if type.of else 8, INT)], span)
    return r.Call("malloc", "malloc", (size,), type, span)


def _product(parts: list[r.Expression], span: Span | None) -> r.Expression:
    whole: r.Expression = r.Constant(1, INT)
    for at, part in enumerate(parts):
        whole = part if not at else r.Operation("*", (whole, part), INT, span)
    return whole


def _loop_over(
    counter: r.Variable,
    low: r.Expression,
    high: r.Expression,
    body: r.Statement,
    pragmas: tuple[str, ...],
    span: Span | None,
) -> r.Statement:
    start = r.ExpressionStatement(r.assign(counter, low, span), span)
    condition = r.Operation("<", (counter, high), INT, span)
    step = r.assign(counter, r.Constant(1, INT), span, operator="+")
    return r.LoopStatement(start, condition, step, body, pragmas=pragmas, span=span)
