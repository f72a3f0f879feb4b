"""Directives of OpenMP, OpenACC and COMPASS, as their specifications write them (OpenMP 5.2, chapter 11)."""

from __future__ import annotations

import pytest

from aspenpy.extract.pragmas import parallel_directive, parse_directives, read_aspen_control

DIRECTIVES = [
    # text, parallel, offloaded, simd, schedule, collapsed, reductions
    ("omp parallel for", True, False, False, "static", 1, ()),
    ("omp for simd", True, False, True, "static", 1, ()),
    ("omp simd", False, False, True, None, 1, ()),
    ("omp parallel", False, False, False, None, 1, ()),
    ("omp taskloop", True, False, False, None, 1, ()),
    ("omp target teams distribute parallel for collapse(2)", True, True, False, "static", 2, ()),
    ("omp target", False, False, False, None, 1, ()),
    ("acc loop", True, True, False, None, 1, ()),
    ("acc parallel loop collapse( 3 )", True, True, False, None, 3, ()),
    ("acc data", False, False, False, None, 1, ()),
    ("omp parallel for schedule(static)", True, False, False, "static", 1, ()),
    ("omp parallel for schedule(static, 4)", True, False, False, None, 1, ()),
    ("omp parallel for schedule(dynamic, 4)", True, False, False, "dynamic", 1, ()),
    ("omp parallel for schedule(guided)", True, False, False, "dynamic", 1, ()),
    ("omp parallel for schedule(runtime)", True, False, False, None, 1, ()),
    ("omp parallel for schedule(nonmonotonic: dynamic)", True, False, False, "dynamic", 1, ()),
    ("omp parallel for schedule(monotonic:static,1)", True, False, False, None, 1, ()),
    ("omp parallel for collapse(0)", True, False, False, "static", 1, ()),
    ("omp parallel for collapse(n)", True, False, False, "static", 1, ()),
    ("omp parallel for reduction(+: a, b) reduction(max:c)", True, False, False, "static", 1, ("a", "b", "c")),
    ("omp parallel for if(f(n)) num_threads(4)", True, False, False, "static", 1, ()),
    ("omp parallel private(for)", False, False, False, None, 1, ()),  # a name in a clause is no word of the directive
    ("unroll for loop", False, False, False, None, 1, ()),
    ("GCC ivdep", False, False, False, None, 1, ()),
]


@pytest.mark.parametrize(("text", "parallel", "offloaded", "simd", "schedule", "collapsed", "reductions"), DIRECTIVES)
def test_directives(
    text: str, parallel: bool, offloaded: bool, simd: bool, schedule: str | None, collapsed: int, reductions: object
) -> None:
    (found,) = parse_directives((text,))
    assert (found.is_parallel, found.is_offloaded, found.is_simd) == (parallel, offloaded, simd)
    assert (found.schedule, found.collapsed_loops, found.reductions) == (schedule, collapsed, reductions)


def test_the_first_that_makes_a_loop_parallel_counts() -> None:
    found = parallel_directive(("GCC ivdep", "omp simd", "omp for collapse(2)", "omp parallel for collapse(3)"))
    assert found is not None
    assert found.collapsed_loops == 2
    assert parallel_directive(("omp simd",)) is None
    assert parallel_directive(()) is None


@pytest.mark.parametrize(
    ("pragmas", "what", "number"),
    [
        (("aspen control loop(40)",), "loop", 40),
        (("aspen control loop( 2.5e3 )",), "loop", 2500),
        (("aspen control if probability(0.125)",), "probability", 0.125),
        (("aspen control if probability(0.125)",), "loop", None),
        (("aspen control loop(n)",), "loop", None),
        (("aspen control loop(1e)", "aspen control loop(7)"), "loop", 7),  # no number, and the next one
        (("omp for", "aspen control loop(3)", "aspen control loop(5)"), "loop", 3),
        (("aspen controls loop(3)",), "loop", None),
        (("aspen declare loop(3)",), "loop", None),
        (("aspen control unloop(3)",), "loop", None),
        ((), "loop", None),
    ],
)
def test_what_compass_says(pragmas: tuple[str, ...], what: str, number: float | None) -> None:
    assert read_aspen_control(pragmas, what) == number  # type: ignore[arg-type]
