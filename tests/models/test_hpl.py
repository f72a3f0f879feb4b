"""hpl: exact flops of the factorisation, HPL's and Linpack's ratings, messages by hand."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy


def count(resource: str, kernel: str = "main", **values: float) -> float:
    return float(aspenpy.count(aspenpy.load_application("hpl"), resource, kernel=kernel, set=values))


def eliminated(n: int) -> int:
    """Flops of elimination without blocks, column by column, with the right-hand side beside the matrix."""
    return sum((n - 1 - j) + 2 * (n - 1 - j) * (n - j) for j in range(n))


@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize("ranks", [1, 4, 16])
def test_flops_are_those_of_plain_elimination(block: int, ranks: int) -> None:
    # Back substitution takes n divisions and n (n - 1)/2 products and differences.
    n = 512
    assert count("flops", n=n, block=block, ranks=ranks) == pytest.approx(eliminated(n) + n**2, rel=1e-12)


@pytest.mark.parametrize(("n", "block"), [(500, 128), (1000, 96), (130, 128), (100, 128)])
def test_the_last_panel_may_be_narrower(n: int, block: int) -> None:
    assert count("flops", n=n, block=block, ranks=4) == pytest.approx(eliminated(n) + n**2, rel=1e-12)


def test_messages_of_a_narrower_panel() -> None:
    # Five columns in panels of 2, 2 and 1 on one row of four ranks; each of the four sends m + 1 rows of the panel on.
    # Then three blocks of two numbers from one rank. On one column: 1 round for 2, 2 and 1 pivots with their rows, one
    # message a rank and two for half of the rows of 4, 2 and 1 remaining columns, and the blocks from both.
    row = 4 * (2 * (5 + 1) + 2 * (3 + 1) + 1 * (1 + 1)) + 3 * 2
    assert count("messages", n=5, block=2, ranks=4, grid_rows=1) == 8 * row
    pivots = 2 * (2 * (2 * 2 + 4) + 2 * (2 * 2 + 4) + 1 * (2 * 1 + 4))
    rows = 2 * 2 * (2 / 2 * 4 + 2 / 2 * 2 + 1 / 2 * 1)
    assert count("messages", n=5, block=2, ranks=2, grid_rows=2, swap="binary_exchange") == 8 * (
        pivots + rows + 2 * 3 * 2
    )


@pytest.mark.parametrize("n", [256, 1024])
def test_flops_in_closed_form(n: int) -> None:
    assert count("flops", n=n, block=64) == pytest.approx(2 / 3 * n**3 + 3 / 2 * n**2 - 7 / 6 * n, rel=1e-12)


def test_the_rating_of_hpl_and_of_linpack() -> None:
    # HPL drops the linear term, Linpack has 2 n^2 for the two triangular systems beside 2/3 n^3.
    n = 8192
    flops = count("flops", n=n)
    assert flops == pytest.approx(2 / 3 * n**3 + 3 / 2 * n**2, rel=1e-7)
    assert flops == pytest.approx(2 / 3 * n**3 + 2 * n**2, rel=1e-4)


def test_loads_of_an_update_by_hand() -> None:
    # First step of n = 256 in blocks of 64: 192 rows, 193 columns, read with a panel of 192 x 64 and rows of 64 x 193.
    simple = aspenpy.load_machine("simple")
    hpl = aspenpy.load_application("hpl")
    values = {"n": 256, "block": 64}
    tree = aspenpy.predict(hpl, simple, set=values)
    kernels = {use.name: use for use in tree.kernels}
    assert kernels["update"].calls == 4
    steps = [(m - 64, m - 63) for m in (256, 192, 128, 64)]
    panels = sum(2 * 64 * m for m in (256, 192, 128, 64))
    rows = sum((4 + 2) * 64 * c for _, c in steps)
    rest = sum(2 * r * c + 64 * (r + c) for r, c in steps)
    assert count("bytes", **values) == 8 * (panels + rows + rest + 256 * 257 / 2)


@pytest.mark.parametrize(
    ("ranks", "rows", "messages"),
    [(1, 1, 0), (4, 2, 4 * (64 * 1 + 1 + 2) + 4), (4, 4, 4 * (64 * 2 + 2 + 3) + 4), (4, 1, 4 * 1 + 4)],
)
def test_messages_of_a_run(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, rows: int, messages: int
) -> None:
    # Four panels of 64 columns: log2(rows) messages a pivot, a broadcast if there are columns, log2(rows) + rows - 1
    # for rows that are spread and rolled; four blocks of the solution.
    values = {"n": 256, "block": 64, "ranks": ranks, "grid_rows": rows}
    assert messages_in_turn("hpl", "main", values) == messages


def test_volume_of_the_panels() -> None:
    # One row of four ranks: panels of 256, 192, 128 and 64 rows and the pivots' row, 64 columns; each of the four sends
    # them on. Then 4 blocks of 64 numbers from one rank.
    volume = count("messages", n=256, block=64, ranks=4, grid_rows=1)
    assert volume == 8 * (4 * 64 * (256 + 192 + 128 + 64 + 4) + 4 * 64)


def test_most_of_the_work_is_fused_vector_arithmetic() -> None:
    hpl = aspenpy.load_application("hpl")
    fused = aspenpy.count(hpl, "flops", traits=["dp", "simd", "fmad"])
    assert fused / count("flops") > 0.999


@pytest.mark.parametrize("n", [256.5, 128.000001, 1000.25])
def test_a_real_n_as_in_a_comparison_over_n(n: float) -> None:
    """What is left of a column is no panel: the cost lies between those of the whole numbers beside it."""
    below, above = (count("flops", n=whole) for whole in (int(n), int(n) + 1))
    assert below <= count("flops", n=n) <= above


def test_a_panel_on_the_host_goes_there_and_back() -> None:
    # Twenty panels of 20,000 x 1,000 words, each from the device and to it; the matrix goes to the device once.
    hpl, summit = aspenpy.load_application("hpl"), aspenpy.load_machine("summit")
    sockets = {"main": "nvidia_v100", "factorise_panel": "ibm_power9"}
    found = aspenpy.place(hpl, summit, sockets, set={"n": 20000, "block": 1000})
    moved = {(move.data, move.source, move.destination): (move.times, move.volume) for move in found.moves}
    there, back = ("ibm_power9", "nvidia_v100"), ("nvidia_v100", "ibm_power9")
    panels = 20 * 20000 * 1000 * 8
    assert moved["panels", *there] == (20, panels)
    assert moved["panels", *back][1] in (panels, 19 / 20 * panels)  # the first lies on the host
    assert moved["A", *there] == (1, 20000 * 20001 * 8)
