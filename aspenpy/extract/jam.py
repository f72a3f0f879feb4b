"""Unroll and jam: two passes of an outer loop run together where its inner loop updates the same places in both.

GCC does so at -O3 (-floop-unroll-and-jam; Allen and Cocke, "A catalogue of optimizing transformations", 1971): a row
that each pass of the outer loop adds to is loaded and stored in every second pass.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from aspenpy.expr.polynomial import atom
from aspenpy.extract import values as v
from aspenpy.extract.costs import Access, Arithmetic, Choice, Item, Nest
from aspenpy.extract.values import ONE, Value

TOGETHER = 2
"""Passes that run as one."""

Spared = Callable[[list[Item]], list[Item]]
"""What is left of straight-line code with values in registers."""


def jammed(items: list[Item], spared: Spared) -> list[Item]:
    """The items with loops jammed. A last odd pass counts as half of one of two."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Choice):
            item = item.replace(then=jammed(item.then, spared), otherwise=jammed(item.otherwise, spared))
        elif isinstance(item, Nest):
            inner = _inner(item)
            item = item.replace(body=jammed(item.body, spared)) if inner is None else _jam(item, inner, spared)
        found.append(item)
    return found


def _inner(nest: Nest) -> Nest | None:
    """The loop inside whose passes can be jammed: the only one, the same in all passes of the outer, with stores to the
    same places in each of them, and nothing stored beside it."""
    inside = [item for item in nest.body if isinstance(item, Nest)]
    if len(inside) != 1 or nest.share is not None:
        return None
    (inner,) = inside
    if not all(_is_quiet(item) for item in nest.body if item is not inner):
        return None
    plain = all(isinstance(item, Access | Arithmetic) for item in inner.body) and inner.share is None
    if not plain or any(v.depends(bound, nest.counter) for bound in inner.bounds):
        return None
    stores = [item for item in inner.body if isinstance(item, Access) and item.kind == "store"]
    return inner if stores and all(_is_same(store, nest, inner) for store in stores) else None


def _is_same(access: Access, nest: Nest, inner: Nest) -> bool:
    """Whether each pass of the outer loop touches the same places in the inner one."""
    offset = access.offset
    return offset is not None and not v.depends(offset, nest.counter) and v.depends(offset, inner.counter)


def _is_quiet(item: Item) -> bool:
    return isinstance(item, Arithmetic) or (isinstance(item, Access) and item.kind == "load")


def _jam(nest: Nest, inner: Nest, spared: Spared) -> Nest:
    passes = [_shifted(inner.body, nest, ago) for ago in range(TOGETHER)]
    beside = [item for item in nest.body if item is not inner]
    around = [item for ago in range(TOGETHER) for item in _shifted(beside, nest, ago)]
    body = inner.replace(body=spared([item for part in passes for item in part]))
    bounds = tuple(v.scaled(bound, Fraction(1, TOGETHER)) for bound in nest.bounds)
    return nest.replace(bounds=bounds, body=[*spared(around), body])


def _shifted(items: list[Item], nest: Nest, ago: int) -> list[Item]:
    """The items in the pass so many behind the first of those that run together."""
    moved: Value = v.plus(v.scaled(atom(nest.counter), TOGETHER), v.scaled(ONE, ago))
    return [
        item.replace(offset=v.replaced(item.offset, {nest.counter: moved}))
        if isinstance(item, Access) and item.offset is not None
        else item
        for item in items
    ]
