"""Predictive commoning: what a pass of an innermost loop loads or stores stays in a register for the passes behind.

GCC does so at -O3 (-fpredictive-commoning) and, as elimination of partial redundancies, at -O2 (Carr, Callahan and
Kennedy, "Improving register allocation for subscripted variables", PLDI 1990).
In a loop that is vectorised, registers hold 16 bytes, so that only places whole vectors apart share one.
"""

from __future__ import annotations

from aspenpy.expr.polynomial import constant
from aspenpy.extract import values as v
from aspenpy.extract.costs import Access, Arithmetic, Choice, Guard, Item, Nest
from aspenpy.extract.values import ONE, Value

VECTOR = 16
"""Bytes of a vector of SSE2, which x86-64 compiles to unless told otherwise."""

MOST_PASSES = 8
"""Passes over which a value is kept: GCC's largest distance."""


def commoned(items: list[Item], vectors: bool) -> list[Item]:
    """The items with the innermost loops among them commoned; `vectors`: loops that can be are vectorised."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Choice):
            item = item.replace(then=commoned(item.then, vectors), otherwise=commoned(item.otherwise, vectors))
        elif isinstance(item, Nest):
            if all(isinstance(inner, Access | Arithmetic) for inner in item.body):
                before, item = _loop(item, vectors)
                found += before
            else:
                item = item.replace(body=commoned(item.body, vectors))
        found.append(item)
    return found


def _loop(nest: Nest, vectors: bool) -> tuple[list[Item], Nest]:
    """The loads before a loop for its first passes, and the loop without those that registers spare."""
    inside = [item for item in nest.body if isinstance(item, Access)]
    vector = vectors and _is_vectorised(nest, inside)
    before: list[Item] = []
    spared: set[int] = set()
    for place, item in enumerate(nest.body):
        if not isinstance(item, Access) or item.kind != "load":
            continue
        if vector and _stays(item, nest) and not any(_is_stored(item, other) for other in inside):
            spared.add(place)  # behind the checks of a vectorised loop no store to another array changes it
            before += _first(item, nest, 1)
            continue
        passes = min((ago for other in inside if (ago := _passes(item, other, nest, vector))), default=0)
        if passes:
            spared.add(place)
            before += _first(item, nest, passes)
    return before, nest.replace(body=[item for place, item in enumerate(nest.body) if place not in spared])


def _passes(load: Access, other: Access, nest: Nest, vector: bool) -> int:
    """How many passes before a load the other access touched the same place; 0 where it did not."""
    step, same = _step(load, nest), _step(other, nest)
    if load.array != other.array or load.size != other.size or step is None or same is None or not v.same(step, same):
        return 0
    assert load.offset is not None
    assert other.offset is not None
    ahead = v.minus(other.offset, load.offset)
    if not step.terms:
        return int(other.kind == "store" and not ahead.terms)
    passes = v.quotient(ahead, step)
    ago = None if passes is None else v.number(passes)
    if ago is None or not 1 <= ago <= MOST_PASSES or (vector and (ago * load.size) % VECTOR):
        return 0
    return int(ago)


def _stays(load: Access, nest: Nest) -> bool:
    """Whether all passes load from one place."""
    step = _step(load, nest)
    return step is not None and not step.terms


def _is_stored(load: Access, other: Access) -> bool:
    return other.kind == "store" and other.array == load.array


def _step(access: Access, nest: Nest) -> Value | None:
    """By how many bytes an access moves on in a pass."""
    straight = None if access.offset is None or access.indirect else v.line(access.offset, nest.counter)
    return None if straight is None or v.counters(straight[1]) else straight[1]


def _is_vectorised(nest: Nest, inside: list[Access]) -> bool:
    """Whether neighbouring passes run together: all words in order, and no pass waits for the one before."""
    steps = [_step(access, nest) for access in inside]
    in_order = all(
        step is not None and v.number(step) in (0, access.size, -access.size)
        for step, access in zip(steps, inside, strict=True)
    )
    stores = [access for access in inside if access.kind == "store"]
    loads = [access for access in inside if access.kind == "load"]
    waits = any(_passes(load, store, nest, False) for load in loads for store in stores)
    calls = any(isinstance(item, Arithmetic) and item.name.startswith("call ") for item in nest.body)
    return in_order and not waits and not calls and not nest.recurrences


def _first(load: Access, nest: Nest, passes: int) -> list[Item]:
    """What the first passes need, which is loaded before the loop."""
    assert load.offset is not None
    runs = tuple(Guard(v.minus(bound, ONE)) for bound in nest.bounds)
    offsets: list[Value] = [v.replaced(load.offset, {nest.counter: constant(ago)}) for ago in range(passes)]
    return [load.replace(offset=offset, guards=(*load.guards, *runs), pinned=True) for offset in offsets]
