"""Orders of touches: by arithmetic on sizes, and against sets of lines that are touched one after the other."""

from __future__ import annotations

from itertools import product

import pytest

from aspenpy.cost.touch_order import (
    LEFT,
    STORED,
    KnownOrders,
    Order,
    Touched,
    covered_share,
    join_orders,
    part_moving,
    rename_structures,
    substitute_in_order,
    totals_by_structure,
)
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from tests.tiny import predict


def touched(lines: float, size: float | None = None, *, stored: bool = False, dense: bool = True) -> Touched:
    return Touched(
        graph.number(lines), graph.number(8 * lines if size is None else size), graph.ONE, stored, dense=dense
    )


def number(expr: Expr) -> float:
    return float(evaluate(expr))


def sizes(order: Order) -> list[dict[tuple[str, object], tuple[float, float]]]:
    return [{key: (number(part.lines), number(part.bytes)) for key, part in group.items()} for group in order]


@pytest.mark.parametrize(("first", "second"), [*product((0, 1, 5, 10), repeat=2)])
def test_a_part_that_is_touched_again_leaves_the_rest(first: int, second: int) -> None:
    """Lines 0 to `first`, then 0 to `second`: those touched last by the first are the difference of the two sets."""
    before: Order = ({("a", None): touched(first)},)
    after: Order = ({("a", None): touched(second)},)
    left = len(set(range(first)) - set(range(second)))
    expected = [{("a", LEFT): (left, 8 * left)}] * bool(left) + [{("a", None): (second, max(first, second) * 8)}]
    assert sizes(join_orders(before, after)) == expected


def test_what_is_not_touched_again_stays_where_it_was() -> None:
    first: Order = ({("a", None): touched(4), ("b", None): touched(6)}, {("c", None): touched(2)})
    second: Order = ({("b", None): touched(6)},)
    joined = join_orders(first, second)
    assert sizes(joined) == [{("a", None): (4, 32)}, {("c", None): (2, 16)}, {("b", None): (6, 48)}]
    assert join_orders(first, ()) is first
    assert join_orders((), second) is second
    assert join_orders(first, first) is first
    assert join_orders(second, ({("c", None): touched(2)},)) == (*second, {("c", None): touched(2)})


@pytest.mark.parametrize(("stored", "again", "kept"), [(True, False, True), (True, True, False), (False, False, False)])
def test_a_store_is_remembered_until_the_next(stored: bool, again: bool, kept: bool) -> None:
    """Lines that are loaded again stay dirty since they were stored."""
    first: Order = ({("a", None): touched(4, stored=stored)},)
    joined = join_orders(first, ({("a", None): touched(4, stored=again)},))
    assert sizes(joined) == [{("a", STORED): (0, 0)}] * kept + [{("a", None): (4, 32)}]


def test_a_rest_is_not_divided_again() -> None:
    """Of which lines it is, nobody knows. Half of the last pass is touched again: 5 of the 10 lines that are known."""
    first: Order = ({("a", LEFT): touched(6)}, {("a", None): touched(4)})
    joined = join_orders(first, ({("a", None): touched(5)},))
    assert sizes(joined) == [{("a", LEFT): (6, 48)}, {("a", LEFT): (2, 16)}, {("a", None): (5, 80)}]


@pytest.mark.parametrize(("dense", "again"), [*product((False, True), repeat=2)])
def test_bytes_of_lines_that_were_touched_before(dense: bool, again: bool) -> None:
    """A word of a line, of which another 64 bytes are known; it is one run if either was."""
    first: Order = ({("a", None): touched(4, 256, dense=dense)},)
    ((part,),) = (group.values() for group in join_orders(first, ({("a", None): touched(4, 32, dense=again)},)))
    assert number(part.bytes) == 256
    assert part.dense == (dense or again)
    ((other,),) = (group.values() for group in join_orders(({("a", None): touched(4, 32)},),
                                                           ({("a", None): touched(4, 256, dense=again)},)))  # fmt: skip
    assert (number(other.bytes), other.dense) == (256, again)


def test_totals_by_structure() -> None:
    order: Order = ({("a", LEFT): touched(3, stored=True)}, {("a", None): touched(5), ("b", None): touched(7)})
    found = totals_by_structure(order)
    assert {name: (number(part.lines), number(part.bytes), part.stored) for name, part in found.items()} == {
        "a": (8, 64, True),
        "b": (7, 56, False),
    }
    assert totals_by_structure(order[::-1])["a"].stored


def test_renamed_structures_that_meet_are_one() -> None:
    """A kernel that is given the same array twice touches the larger part of it."""
    order: Order = ({("x", None): touched(3, stored=True), ("y", None): touched(5), ("z", None): touched(1)},)
    renamed = rename_structures(order, {"x": "a", "y": "a"})
    assert sizes(renamed) == [{("a", None): (5, 40), ("z", None): (1, 8)}]
    assert renamed[0]["a", None].stored
    assert rename_structures(({("y", None): touched(5), ("x", None): touched(3, stored=True)},), {"x": "a", "y": "a"})[
        0
    ]["a", None].stored
    assert rename_structures(order, {}) is order


def test_values_of_symbols_in_an_order() -> None:
    n = graph.symbol("n")
    order: Order = ({("a", None): Touched(n, 8 * n, graph.ONE)}, {("b", None): Touched(2 * n, n, graph.ONE)})
    found = substitute_in_order(order, {n: graph.number(5)})
    assert sizes(found) == [{("a", None): (5, 40)}, {("b", None): (10, 5)}]
    assert substitute_in_order(order, {}) is order


@pytest.mark.parametrize(("found", "own", "share"), [(0, 4, 0), (1, 4, 0.25), (4, 4, 1), (9, 4, 1), (0.25, 0.5, 0.25)])
def test_share_that_was_touched_before(found: float, own: float, share: float) -> None:
    """Of a line at least."""
    assert number(covered_share(touched(found), touched(own), graph.ONE)) == share


def test_share_of_instances() -> None:
    """Four instances of 2 lines each have touched all that two of 4 lines do, and half of what two of 8 lines do."""
    four = touched(2).replace(instances=graph.number(4))
    for lines, share in ((4, 1), (8, 0.5)):
        assert number(covered_share(four, touched(lines).replace(instances=graph.number(2)), graph.ONE)) == share
    table = touched(16).replace(anywhere=True)  # of 128 bytes, of lines of one
    assert number(covered_share(four, table, graph.ONE)) == 8 / 128
    assert number(covered_share(touched(32).replace(instances=graph.number(4)), table, graph.ONE)) == 1


def test_sums_and_parts_that_are_known() -> None:
    order: Order = ({("a", None): touched(3), ("a", LEFT): touched(5, stored=True), ("b", None): touched(2)},)
    orders = KnownOrders()
    for _ in range(2):  # the second time from what is known
        found = orders.touched_in_all(order, "a", stored=True)
        assert found is not None
        assert number(found.lines) == 8
        assert orders.touched_in_all(order, "b", stored=True) is None
        assert orders.touched_in_all(order, "b", stored=False) is not None
        assert orders.touched_in_all(order, "c", stored=False) is None
        lines = {name: number(value) for name, value in orders.sum_by_structure(order[0], graph.ONE).items()}
        assert lines == {"a": 8, "b": 2}
        shared = orders.sum_by_structure(order[0], graph.number(4))
        assert {name: number(value) for name, value in shared.items()} == {"a": 2, "b": 0.5}
        second: Order = ({("a", None): touched(8)},)
        assert orders.join(order, second)[-1]["a", None].lines is graph.number(8)


def test_what_moves_in_a_loop_is_told_apart() -> None:
    """A quarter of `a` moves on; `b` stays, and so does a table."""
    loop = predict("iterate [4] { execute { flops [1] } }").tree.entry.body
    assert isinstance(loop, flow.Repeat)
    group = {("a", None): touched(8), ("b", None): touched(2), ("t", None): touched(4).replace(anywhere=True)}
    moving = {"a": graph.number(0.25), "b": graph.ZERO, "t": graph.ONE}
    assert sizes((part_moving(group, moving, loop),)) == [
        {("a before", loop): (2, 16), ("a", None): (6, 48), ("b", None): (2, 16), ("t", None): (4, 32)}
    ]
