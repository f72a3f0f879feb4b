"""Transformations of loops by GCC: predictive commoning, and unroll and jam.

Predictive commoning (-fpredictive-commoning at -O3 and, as elimination of partial redundancies, at -O2; Carr, Callahan
and Kennedy, "Improving register allocation for subscripted variables", PLDI 1990) keeps in a register what a pass of an
innermost loop loads or stores, for later passes. Registers of a vectorised loop hold 16 bytes, so that only places
whole vectors apart share one. Unroll and jam (-floop-unroll-and-jam at -O3; Allen and Cocke, "A catalogue of optimizing
transformations", 1971) runs two passes of an outer loop together where its inner loop updates the same places in both:
a row that each pass of the outer loop adds to is loaded and stored in every second pass.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Arithmetic, Guard, Item, MemoryAccess, Nest, called_function, rewrite_inside
from aspenpy.extract.values import ONE, Value

VECTOR = 16
"""Bytes of a vector of SSE2, which x86-64 compiles to unless told otherwise."""

MOST_PASSES = 8
"""Passes over which a value is kept: GCC's largest distance."""


def reuse_across_passes(items: list[Item], vectors: bool) -> list[Item]:
    """Applies predictive commoning to the innermost loops; `vectors` says that loops are vectorised where possible."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Nest) and all(isinstance(inner, MemoryAccess | Arithmetic) for inner in item.body):
            before, item = _reuse_in_loop(item, vectors)
            found += [*before, item]
        else:
            found.append(rewrite_inside(item, lambda inside: reuse_across_passes(inside, vectors)))
    return found


def _reuse_in_loop(nest: Nest, vectors: bool) -> tuple[list[Item], Nest]:
    """Loads before a loop for its first passes, and the loop without loads that registers spare."""
    inside = [item for item in nest.body if isinstance(item, MemoryAccess)]
    vector = vectors and _is_vectorised(nest, inside)
    before: list[Item] = []
    spared: set[int] = set()
    for index, item in enumerate(nest.body):
        if not isinstance(item, MemoryAccess) or item.kind != "load":
            continue
        step, stores = _stride(item, nest), (other for other in inside if other.kind == "store")
        is_invariant = step is not None and not step.terms
        if vector and is_invariant and all(store.array != item.array for store in stores):
            spared.add(index)  # behind the checks of a vectorised loop no store to another array changes it
            before += _load_before_loop(item, nest, 1)
            continue
        passes = min((ago for other in inside if (ago := _pass_distance(item, other, nest, vector))), default=0)
        if passes:
            spared.add(index)
            before += _load_before_loop(item, nest, passes)
    return before, nest.replace(body=[item for index, item in enumerate(nest.body) if index not in spared])


def _pass_distance(load: MemoryAccess, other: MemoryAccess, nest: Nest, vector: bool) -> int:
    """Number of passes after which a load touches a place that another access has touched; 0 where it does not."""
    step, same = _stride(load, nest), _stride(other, nest)
    if load.array != other.array or load.size != other.size:
        return 0
    if step is None or same is None or not v.is_same(step, same):
        return 0
    assert load.offset is not None
    assert other.offset is not None
    ahead = v.subtract(other.offset, load.offset)
    if not step.terms:
        return int(other.kind == "store" and not ahead.terms)
    passes = v.quotient(ahead, step)
    ago = None if passes is None else v.number(passes)
    if ago is None or not 1 <= ago <= MOST_PASSES or (vector and (ago * load.size) % VECTOR):
        return 0
    return int(ago)


def _stride(access: MemoryAccess, nest: Nest) -> Value | None:
    """Bytes by which an access moves on in a pass; None where that varies."""
    straight = None if access.offset is None or access.indirect else v.linear_parts(access.offset, nest.counter)
    return None if straight is None or v.counters(straight[1]) else straight[1]


def _is_vectorised(nest: Nest, inside: list[MemoryAccess]) -> bool:
    """Whether neighbouring passes run together: all words in order, and no pass waits for the one before."""
    steps = [_stride(access, nest) for access in inside]
    in_order = all(
        step is not None and v.number(step) in (0, access.size, -access.size)
        for step, access in zip(steps, inside, strict=True)
    )
    stores = [access for access in inside if access.kind == "store"]
    loads = [access for access in inside if access.kind == "load"]
    waits = any(_pass_distance(load, store, nest, vector=False) for load in loads for store in stores)
    calls = any(isinstance(item, Arithmetic) and called_function(item.name) for item in nest.body)
    return in_order and not waits and not calls and not nest.recurrences


def _load_before_loop(load: MemoryAccess, nest: Nest, passes: int) -> list[Item]:
    """Loads before a loop of what its first passes need."""
    assert load.offset is not None
    runs = tuple(Guard(v.subtract(bound, ONE)) for bound in nest.bounds)
    offsets: list[Value] = [
        v.substitute(load.offset, {nest.counter: constant_polynomial(ago)}) for ago in range(passes)
    ]
    return [load.replace(offset=offset, guards=(*load.guards, *runs), pinned=True) for offset in offsets]


# -- unroll and jam --------------------------------------------------------------------------------

TOGETHER = 2
"""Passes that run as one."""

RemoveSpared = Callable[[list[Item]], list[Item]]
"""What is left of straight-line code with values in registers."""


def jam_loops(items: list[Item], spared: RemoveSpared) -> list[Item]:
    """Applies unroll and jam to the loops. A last odd pass counts as half of a double one."""
    found: list[Item] = []
    for item in items:
        inner = _find_jammable(item) if isinstance(item, Nest) else None
        if isinstance(item, Nest) and inner is not None:
            found.append(_jam_loop(item, inner, spared))
        else:
            found.append(rewrite_inside(item, lambda inside: jam_loops(inside, spared)))
    return found


def _find_jammable(nest: Nest) -> Nest | None:
    """The inner loop that can be jammed: the only one, the same in all passes of the outer loop, with stores to the
    same places in each, and nothing stored beside it."""
    inside = [item for item in nest.body if isinstance(item, Nest)]
    if len(inside) != 1 or nest.share is not None:
        return None
    (inner,) = inside
    beside = (item for item in nest.body if item is not inner)
    if not all(
        isinstance(item, Arithmetic) or (isinstance(item, MemoryAccess) and item.kind == "load") for item in beside
    ):
        return None
    plain = all(isinstance(item, MemoryAccess | Arithmetic) for item in inner.body) and inner.share is None
    if not plain or any(v.has_symbol(bound, nest.counter) for bound in inner.bounds):
        return None
    stores = [item for item in inner.body if isinstance(item, MemoryAccess) and item.kind == "store"]
    return inner if stores and all(_is_same(store, nest, inner) for store in stores) else None


def _is_same(access: MemoryAccess, nest: Nest, inner: Nest) -> bool:
    """Whether each pass of the outer loop touches the same places in the inner one."""
    offset = access.offset
    return offset is not None and not v.has_symbol(offset, nest.counter) and v.has_symbol(offset, inner.counter)


def _jam_loop(nest: Nest, inner: Nest, spared: RemoveSpared) -> Nest:
    passes = [_shift_pass(inner.body, nest, ago) for ago in range(TOGETHER)]
    beside = [item for item in nest.body if item is not inner]
    around = [item for ago in range(TOGETHER) for item in _shift_pass(beside, nest, ago)]
    body = inner.replace(body=spared([item for part in passes for item in part]))
    bounds = tuple(v.scale(bound, Fraction(1, TOGETHER)) for bound in nest.bounds)
    return nest.replace(bounds=bounds, body=[*spared(around), body])


def _shift_pass(items: list[Item], nest: Nest, ago: int) -> list[Item]:
    """Items of the pass `ago` of those that run together."""
    moved: Value = v.add(v.scale(atom_polynomial(nest.counter), TOGETHER), v.scale(ONE, ago))
    return [
        item.replace(offset=v.substitute(item.offset, {nest.counter: moved}))
        if isinstance(item, MemoryAccess) and item.offset is not None
        else item
        for item in items
    ]
