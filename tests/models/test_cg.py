"""cg: operations of the NAS benchmark's own report, sizes of its classes, messages on its grid of ranks."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

CLASSES = {
    "S": (0, 1400, 7, 15),
    "W": (1, 7000, 8, 15),
    "A": (2, 14000, 11, 15),
    "B": (3, 75000, 13, 75),
    "C": (4, 150000, 15, 75),
    "D": (5, 1500000, 21, 100),
    "E": (6, 9000000, 26, 100),
}
"""The member of the enum, rows, nonzeros of a generating vector and outer iterations, as in npbparams.h."""


@pytest.mark.parametrize(("member", "rows", "generators", "outer"), CLASSES.values(), ids=CLASSES)
def test_operations_are_those_of_the_benchmarks_own_report(member: int, rows: int, generators: int, outer: int) -> None:
    # cg.f90: mflops = 2 niter na (3 + nonzer (nonzer + 1) + 25 (5 + nonzer (nonzer + 1)) + 3). It rates start, residual
    # and norms at 12 flops a row; they are 2 + 3 + 5.
    nonzeros = generators * (generators + 1)
    reported = 2 * outer * rows * (3 + nonzeros + 25 * (5 + nonzeros) + 3)
    counted = aspenpy.count(aspenpy.load_application("cg"), "flops", set={"class": member})
    assert counted == reported - 2 * outer * rows
    assert counted == pytest.approx(reported, rel=1e-3)


def test_an_iteration_by_hand() -> None:
    # Class S: 1400 * 7 * 8 = 78,400 nonzeros. Two dot products and three updates of 2 flops a row.
    cg, values = aspenpy.load_application("cg"), {"class": 0}
    assert aspenpy.count(cg, "flops", kernel="inner_step", set=values) == 2 * 78_400 + 10 * 1400
    # 12 bytes a nonzero, 4 a row; loads of p, then 2 + 1 + 3 * 2 vectors; stores of q and three vectors.
    by_hand = 78_400 * 12 + 1400 * 4 + 1400 * 8 * (1 + 2 + 1 + 6) + 1400 * 8 * 4
    assert aspenpy.count(cg, "bytes", kernel="inner_step", set=values) == by_hand


@pytest.mark.parametrize(
    ("ranks", "messages"), [(1, 0), (2, 2 + 1 + 1), (4, 2 + 1 + 1), (16, 3 + 2 + 2), (64, 4 + 3 + 3)]
)
def test_messages_of_an_iteration(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    # The product: log2 of the grid's columns rounds and the transposed rank; two dot products, as many rounds each.
    assert messages_in_turn("cg", "inner_step", {"ranks": ranks}) == messages


def test_volume_of_a_product_on_sixteen_ranks() -> None:
    # A 4 x 4 grid holds 3500 elements a rank: two rounds and an exchange of them.
    cg = aspenpy.load_application("cg")
    assert aspenpy.count(cg, "messages", kernel="multiply_matrix", set={"ranks": 16}) == 16 * 3 * 3500 * 8


def test_a_grid_of_eight_has_four_columns() -> None:
    # 2 x 4 ranks: vectors of 3500 elements, parts of the matrix with 7000 rows.
    cg = aspenpy.load_application("cg")
    stores = aspenpy.count(cg, "stores", kernel="multiply_matrix", set={"ranks": 8})
    assert stores == 8 * 7000 * 8


def test_its_iterations_are_bound_by_memory_on_the_simple_machine() -> None:
    cg, simple = aspenpy.load_application("cg"), aspenpy.load_machine("simple")
    bottleneck = aspenpy.predict(cg, simple, set={"class": 4, "simple_clock": 4e9}).bottleneck
    assert bottleneck is not None
    assert bottleneck.resource in {"loads", "stores"}
