"""Loads that GCC spares over the passes of a loop, and loops of which two passes run as one: places, one by one."""

from __future__ import annotations

import pytest

from aspenpy.expr import graph
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Alternative, Arithmetic, Item, MemoryAccess, Nest, Recurrence
from aspenpy.extract.loop_transforms import jam_loops, reuse_across_passes
from aspenpy.extract.values import COUNTER, Value

ROW, COLUMN = (graph.symbol(name, COUNTER) for name in "ij")
N = graph.symbol("n", "size")
PASSES = 12
ADD = Arithmetic("add", "dp")


def line(constant: int, column: int = 0, row: int = 0) -> Value:
    terms = (v.scale(atom_polynomial(symbol), factor) for symbol, factor in ((COLUMN, column), (ROW, row)))
    return v.add(constant_polynomial(constant), *terms)


def load(at: int, column: int = 8, row: int = 0, array: str = "x", size: int = 8) -> MemoryAccess:
    return MemoryAccess("load", array, line(at, column, row), size)


def store(at: int, column: int = 8, row: int = 0, array: str = "x", size: int = 8) -> MemoryAccess:
    return MemoryAccess("store", array, line(at, column, row), size)


def written(items: list[Item]) -> list[object]:
    """Items by what they are: two formulas are no one object."""
    return [
        (item.kind, item.array, item.size, None if item.offset is None else v.value_key(item.offset))
        if isinstance(item, MemoryAccess)
        else item
        for item in items
    ]


def loop(*body: Item) -> Nest:
    return Nest(COLUMN, (constant_polynomial(PASSES),), list(body))


def places(found: list[Item], passes: int) -> list[tuple[str, int]]:
    """The loads that are left: before the loop, and in it by their begin in the first pass."""
    left = []
    for item in found:
        for inner in item.body if isinstance(item, Nest) else [item]:
            if isinstance(inner, MemoryAccess) and inner.kind == "load" and inner.offset is not None:
                begin = v.substitute(inner.offset, {COLUMN: constant_polynomial(0)})
                left.append(("in" if isinstance(item, Nest) else "before", v.whole_number(begin) or 0))
    return left


@pytest.mark.parametrize(
    ("body", "scalar", "vector"),
    [
        # x[i] was x[i + 1] a pass before: one load before the loop. A vector holds two, and has both
        ([load(0), load(8), ADD], [("before", 0), ("in", 8)], [("in", 0), ("in", 8)]),
        ([load(0), load(16)], *2 * ([("before", 0), ("before", 8), ("in", 16)],)),
        ([load(0), load(8), load(16)], [("before", 0), ("before", 8), ("in", 16)], None),
        # eight passes are kept, nine are not
        ([load(0), load(64)], [*(("before", 8 * ago) for ago in range(8)), ("in", 64)], None),
        ([load(0), load(72)], [("in", 0), ("in", 72)], [("in", 0), ("in", 72)]),
        # downwards the later place is the one with the smaller offset
        ([load(0, -8), load(8, -8)], [("before", 8), ("in", 0)], [("in", 0), ("in", 8)]),
        # what was stored is known: each pass waits for the one before, and no vectors are
        ([load(0), ADD, store(8)], [("before", 0)], [("before", 0)]),
        ([load(8), ADD, store(0)], [("in", 8)], [("in", 8)]),
        # other arrays, sizes, strides, parts of a stride, and places that data decide
        ([load(0), load(8, array="y")], [("in", 0), ("in", 8)], None),
        ([load(0, size=4), load(8)], [("in", 0), ("in", 8)], None),
        ([load(0), load(16, 16)], [("in", 0), ("in", 16)], None),
        ([load(0, 16), load(8, 16)], [("in", 0), ("in", 8)], None),
        ([load(0), load(8).replace(indirect=True)], [("in", 0), ("in", 8)], None),
        # the same place in all passes: known after a store; behind the checks of vectors where nothing is stored there
        ([load(24, 0), ADD, store(24, 0)], [("before", 24)], [("before", 24)]),
        ([load(24, 0), ADD, store(16, 0)], [("in", 24)], [("in", 24)]),
        ([load(24, 0), ADD, store(0, array="y")], [("in", 24)], [("before", 24)]),
        ([load(24, 0), ADD], [("in", 24)], [("before", 24)]),
        ([load(24, 0), Arithmetic("call exp", "dp")], [("in", 24)], [("in", 24)]),  # calls keep loops from vectors
        ([load(24, 0), load(0, 24, array="y")], [("in", 24), ("in", 0)], [("in", 24), ("in", 0)]),  # and so do strides
    ],
)  # fmt: skip
def test_loads_that_registers_spare_over_passes(
    body: list[Item], scalar: list[tuple[str, int]], vector: list[tuple[str, int]] | None
) -> None:
    assert places(reuse_across_passes([loop(*body)], False), PASSES) == scalar
    if vector is not None:
        assert places(reuse_across_passes([loop(*body)], True), PASSES) == vector


def test_loads_before_a_loop_are_made_where_it_makes_a_pass() -> None:
    nest = Nest(COLUMN, (atom_polynomial(N), constant_polynomial(7)), [load(0), load(8)])
    before, after = reuse_across_passes([nest], False)
    assert isinstance(before, MemoryAccess)
    assert [v.value_key(guard.value) for guard in before.guards] == [
        v.value_key(v.add(atom_polynomial(N), constant_polynomial(-1))),
        v.value_key(constant_polynomial(6)),
    ]
    assert before.pinned
    assert isinstance(after, Nest)
    assert written(after.body) == written([load(8)])


def test_loops_that_wait_are_no_vectors_and_only_innermost_ones_are_looked_at() -> None:
    waiting = loop(load(24, 0), ADD).replace(recurrences=(Recurrence(("add",), "s"),))
    assert places(reuse_across_passes([waiting], True), PASSES) == [("in", 24)]
    inner = loop(load(0), load(8))
    outer = Nest(ROW, (constant_polynomial(3),), [load(0), load(8), inner])
    choice = Alternative((), None, [outer], [])
    (found,) = reuse_across_passes([choice], False)
    assert isinstance(found, Alternative)
    (nest,) = found.then
    assert isinstance(nest, Nest)
    assert written(nest.body[:2]) == written([load(0), load(8)])
    assert places(nest.body[2:], PASSES) == [("before", 0), ("in", 8)]


def touched(items: list[Item], given: dict[graph.Expr, Value]) -> list[tuple[str, str, int]]:
    found = []
    for item in items:
        if isinstance(item, Nest):
            for place in range(int(v.number(item.bounds[0]) or 0)):
                found += touched(item.body, {**given, item.counter: constant_polynomial(place)})
        elif isinstance(item, MemoryAccess) and item.offset is not None:
            found.append((item.kind, item.array, v.whole_number(v.substitute(item.offset, given)) or 0))
    return found


def nested(*inside: Item, beside: tuple[Item, ...] = ()) -> Nest:
    return Nest(ROW, (constant_polynomial(6),), [*beside, Nest(COLUMN, (constant_polynomial(4),), list(inside))])


UPDATE = (load(0, 8, 32, "a"), load(0, array="y"), ADD, store(0, array="y"))
"""y[j] += a[i][j] on rows of four words."""


def test_two_passes_that_run_as_one_touch_the_same_places() -> None:
    """In each pass of the jammed loop, two of the one before."""
    beside = (load(0, 0, 8, "b"), Arithmetic("multiply", "dp"))
    nest = nested(*UPDATE, beside=beside)
    (jammed,) = jam_loops([nest], lambda items: items)
    assert isinstance(jammed, Nest)
    assert v.number(jammed.bounds[0]) == 3
    assert sorted(touched([jammed], {})) == sorted(touched([nest], {}))
    inner = jammed.body[-1]
    assert isinstance(inner, Nest)
    assert [type(item) for item in inner.body] == 2 * [MemoryAccess, MemoryAccess, Arithmetic, MemoryAccess]
    assert touched(inner.body, {ROW: constant_polynomial(1), COLUMN: constant_polynomial(3)}) == [
        *(("load", "a", 32 * 2 + 24), ("load", "y", 24), ("store", "y", 24)),
        *(("load", "a", 32 * 3 + 24), ("load", "y", 24), ("store", "y", 24)),
    ]
    multiply = Arithmetic("multiply", "dp")
    assert written(jammed.body[:-1]) == written([load(0, 0, 16, "b"), multiply, load(8, 0, 16, "b"), multiply])


def test_what_is_left_of_jammed_passes_is_asked_for_inside_and_beside() -> None:
    (jammed,) = jam_loops([nested(*UPDATE, beside=(load(0, 0, 0, "b"),))], lambda items: items[:3])
    assert isinstance(jammed, Nest)
    *both, inner = jammed.body
    assert written(both) == 2 * written([load(0, 0, 0, "b")])
    assert isinstance(inner, Nest)
    assert written(inner.body) == written([load(0, 8, 64, "a"), *UPDATE[1:3]])


@pytest.mark.parametrize(
    "nest",
    [
        nested(load(0, 8, 32, "a"), ADD),  # nothing is stored
        nested(*UPDATE[:3], store(0, 8, 32, "y")),  # at other places in each pass
        nested(*UPDATE[:3], store(0, 0, 0, "y")),  # all in one place
        nested(*UPDATE[:3], store(0, 0, 0, "y").replace(offset=None)),
        nested(*UPDATE, store(0, 8, 32, "z")),  # one of two
        nested(*UPDATE, beside=(store(0, 0, 8, "z"),)),
        nested(*UPDATE, beside=(Alternative((), None, [ADD], []),)),
        nested(*UPDATE, Alternative((), None, [ADD], [])),
        nested(*UPDATE, beside=(loop(ADD),)),  # two inner loops
        nested(*UPDATE).replace(share=constant_polynomial(1)),
        Nest(ROW, (constant_polynomial(6),), [loop(*UPDATE).replace(share=constant_polynomial(1))]),
        Nest(ROW, (constant_polynomial(6),), [Nest(COLUMN, (atom_polynomial(ROW),), [*UPDATE])]),  # a triangle
    ],
)
def test_loops_that_are_not_jammed(nest: Nest) -> None:
    assert jam_loops([nest], lambda items: []) == [nest]
    around = Alternative((), None, [nest], [ADD])
    assert jam_loops([around], lambda items: []) == [around]
