"""Loops in the variables of the source: the places that their ranges give are those of the passes, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from random import Random

import pytest

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Guard, Nest
from aspenpy.extract.extraction import extract
from aspenpy.extract.triangles import CounterRange, StridedLoop, count_steps, find_ranges
from aspenpy.extract.values import COUNTER, Value

COUNTERS = [graph.symbol(name, COUNTER) for name in "ijk"]
Given = dict[Expr, int]


def line(constant: int, *slopes: tuple[int, Expr]) -> Value:
    return v.add(constant_polynomial(constant), *(v.scale(atom_polynomial(symbol), slope) for slope, symbol in slopes))


def at(value: Value, given: Given) -> int:
    """The value of a sum of products of counters."""
    return int(sum(factor * prod(given[base] ** power for base, power in term) for term, factor in value.terms.items()))


def passes(nests: tuple[Nest, ...], given: Given) -> Iterator[Given]:
    """The counters of each pass of the innermost loop."""
    if not nests:
        yield given
        return
    for place in range(at(nests[0].bounds[0], given)):
        yield from passes(nests[1:], {**given, nests[0].counter: place})


def places(loops: list[StridedLoop], given: Given, begin: int = 0) -> Iterator[int]:
    """The places that loops over the values of variables lead to, from where the outermost begins."""
    if not loops:
        yield begin
        return
    stride, trips = loops[0]
    assert isinstance(trips, CounterRange)
    for value in range(at(trips.low, given), at(trips.high, given) + 1):
        yield from places(loops[1:], {**given, trips.counter: value}, begin + at(stride, {}) * value)


def draw(random: Random) -> tuple[Value, tuple[Nest, ...], tuple[Guard, ...]]:
    nests: list[Nest] = []
    for depth in range(random.randint(1, 3)):
        around = [nest.counter for nest in nests]
        slopes = [(random.choice((1, -1)), random.choice(around))] if around and random.random() < 0.7 else []
        first: Value | None = None
        if random.random() < 0.7:
            first = line(
                random.randint(-1, 3), *([(1, random.choice(around))] if around and random.random() < 0.5 else [])
            )
        nests.append(
            Nest(
                COUNTERS[depth],
                (line(random.randint(4, 6), *slopes),),
                [],
                first=first,
                is_downward=random.random() < 0.3,
            )
        )
    slopes = [(random.choice((8, -8, 80, -80, 800)), nest.counter) for nest in nests]
    guards = []
    for _ in range(random.randint(0, 2)):
        some = random.sample([nest.counter for nest in nests], k=random.randint(1, len(nests)))
        value = line(random.randint(-3, 3), *((random.choice((1, -1)), symbol) for symbol in some))
        guards.append(Guard(value, random.choice(("==", ">=", ">="))))
    return line(8 * random.randint(-3, 3), *slopes), tuple(nests), tuple(guards)


def holds(guard: Guard, given: Given) -> bool:
    value = at(guard.value, given)
    return value == 0 if guard.operator == "==" else value >= 0


def test_ranges_lead_where_the_passes_do() -> None:
    random, found = Random(5), dict.fromkeys(("", ">=", "=="), 0)
    for _ in range(500):
        offset, nests, guards = draw(random)
        ranges = find_ranges(offset, nests, guards)
        ran = [at(offset, given) for given in passes(nests, {}) if all(holds(guard, given) for guard in guards)]
        if ranges is None or not ran:
            continue
        moved = sorted(places(ranges, {}))
        assert [place - moved[0] for place in moved] == sorted(place - min(ran) for place in ran)
        for one in {""} if not guards else {guard.operator for guard in guards}:
            found[one] += 1
    assert min(found.values()) > 15, found


ROW, COLUMN = COUNTERS[:2]
N = graph.symbol("n", "size")


@pytest.mark.parametrize(
    ("nest", "guards"),
    [
        (Nest(ROW, (line(4), line(5)), []), ()),  # the shorter of two bounds
        (Nest(ROW, (line(4),), [], share=line(1)), ()),
        (Nest(ROW, (v.multiply(line(0, (1, N)), line(0, (1, N))),), []), (Guard(line(0, (2, ROW))),)),  # half steps
        (Nest(ROW, (line(0, (1, N)),), []), (Guard(v.multiply(line(0, (1, ROW)), line(0, (1, ROW)))),)),
        (Nest(ROW, (line(0, (1, N)),), []), (Guard(line(0, (1, ROW), (-1, graph.symbol("m", "size")))),)),  # 0 or m?
    ],
)  # fmt: skip
def test_what_is_no_range(nest: Nest, guards: tuple[Guard, ...]) -> None:
    assert find_ranges(line(0, (8, ROW)), (nest,), guards) is None


def test_bounds_that_are_no_sums_of_counters_are_no_ranges() -> None:
    square = v.multiply(line(0, (1, ROW)), line(0, (1, ROW)))
    by_size = v.multiply(line(0, (1, ROW)), line(0, (1, N)))
    for bound in (square, by_size, v.floor_quotient(line(0, (1, ROW)), line(2))):
        assert find_ranges(line(0, (8, COLUMN)), (Nest(ROW, (line(4),), []), Nest(COLUMN, (bound,), [])), ()) is None
    assert find_ranges(square, (Nest(ROW, (line(4),), []),), ()) is None
    assert (
        find_ranges(
            v.multiply(line(0, (1, ROW)), line(0, (1, COLUMN))),
            (Nest(ROW, (line(4),), []), Nest(COLUMN, (line(4),), [])),
            (),
        )
        is None
    )


@pytest.mark.parametrize(
    ("distance", "steps"),
    [
        (0, (0, 0)), (8, (0, 1)), (-8, (0, -1)), (24, (0, 3)), (-24, (0, -3)), (32, None), (80, (1, 0)), (240, (3, 0)),
        (320, None), (88, (1, 1)), (72, (1, -1)), (-176, (-2, -2)), (4, None), (84, None), (264, (3, 3)),
    ],
)  # fmt: skip
def test_steps_of_two_strides(distance: int, steps: tuple[int, int] | None) -> None:
    """Up to three of each, the longer ones first."""
    assert count_steps(line(distance), [line(80), line(8)]) == steps


def test_steps_of_strides_in_sizes() -> None:
    row = line(0, (8, N))
    assert count_steps(line(16, (-8, N)), [row, line(8)]) == (-1, 2)
    assert count_steps(line(0, (8, N)), [line(8)]) is None
    assert count_steps(line(8), [line(0), line(8)]) == (0, 1)


@pytest.mark.parametrize(
    ("columns", "condition", "column"),
    [("j = 0; j < i + 5", "i == j", "j in i .. i"), ("j = 0; j < i + 5", "j == i + 3", "j in i + 3 .. i + 3"),
     ("j = 0; j < i + 5", "i + j == c", None),
     ("j = i; j < n", "i == j", "j in i .. i"), ("j = i; j < n", "j == i", "j in i .. i"),
     ("j = i; j < n", "j >= i", "j in i .. n - 1")],
)  # fmt: skip
def test_columns_of_conditions_in_a_source(columns: str, condition: str, column: str | None, tmp_path: Path) -> None:
    """Those that every row has, also where all columns lie on one side of that of an equation; a column that some rows
    lack is no range of them all."""
    pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
    (tmp_path / "f.c").write_text(
        "void f(int n, int c, double *restrict a) { for (int i = 0; i < n; i++) "
        f"for (int {columns}; j++) if ({condition}) a[j] += 2; }}",
        encoding="utf-8",
    )
    text = extract(tmp_path / "f.c", level="source").text
    assert (f"from a as nest(8, {column}, 0, i in 0 .. n - 1)" in text) == (column is not None), text
    assert "c - i" not in text
