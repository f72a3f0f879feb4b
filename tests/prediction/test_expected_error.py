"""Intervals in which nine of ten such cases lie, against cases that nobody saw while models were made: the rows of
docs/nodes.md, and where the measured data are beside the checkout, collectives and the power of whole systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import exp, hypot, log, sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy.stats import t

import aspenpy
from aspenpy.answers.expected_error import ERROR_CLASSES, ExpectedError, combine_classes, expected_error, with_watts
from aspenpy.probe.benchmark import find_caches
from aspenpy.tables.pages import render_text
from benchmarks.green500 import compare
from benchmarks.real import classes, kernels
from benchmarks.real.kernels import Kernel, bytes_of
from benchmarks.real.validate import Case, row
from tests.network import test_measured_collectives as collectives
from tests.network import test_measured_mpi as mpi
from tests.probe import hosts

PAGE = (Path(__file__).parents[2] / "docs/nodes.md").read_text(encoding="utf-8")
LEVELS = ("L1", "L2", "L3", "memory")
READS = (125 / 112.8, 176 / 175.9, 237 / 246)
TRIADS = (109 / 93.7, 163 / 160.1, 221 / 211.8, 146 / 130, 178 / 170, 375 / 357.5)
"""Published bandwidths of the page, predicted over measured, as times are measured over predicted; of a range that
Microsoft expects its middle."""

STREAMS = ("triad", "dot", "stencil5", "stencil7", "spmv_band", "gather", "nbody")
"""Kernels that wait for memory, timed while nobody else used it."""

Rows = list[tuple[str, float]]
"""The kernel or system of each case, and measured over predicted."""


def prediction_interval(ratios: Sequence[float]) -> tuple[float, float]:
    logs, count = [log(each) for each in ratios], len(ratios)
    half = t.ppf(0.95, count - 1) * stdev(logs) * sqrt(1 + 1 / count)
    return exp(fmean(logs) - half), exp(fmean(logs) + half)


def inside_when_left_out(rows: Rows) -> int:
    """Cases within the interval of those of all other kernels or systems."""
    hits = 0
    for name in {name for name, _ in rows}:
        low, high = prediction_interval([each for other, each in rows if other != name])
        hits += sum(low <= each <= high for other, each in rows if other == name)
    return hits


def table(head: str) -> Iterator[list[str]]:
    for line in PAGE[PAGE.index(head) :].splitlines()[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


@cache
def bound_of(kernel: Kernel, level: str) -> str:
    """What bounds a kernel with data there, as predicted for the tests' host."""
    size = kernel.size(bytes_of(level, find_caches(hosts.HOST)))
    bound = row(Case(kernel, level, size, 1), [1.0], hosts.machine(hosts.text())).bound_by
    if bound.startswith("here_l"):
        return "caches"
    return {"flops": "operations", "intops": "operations", "branches": "branches", "accesses": "caches"}.get(
        bound, "latency" if bound in ("chain", "tlb") else "memory"
    )


def cells(lines: Iterable[list[str]]) -> Iterator[tuple[str, str, float]]:
    """Class, kernel and ratio of what lies in caches."""
    known = {kernel.label: kernel for kernel in (*classes.KERNELS, *kernels.KERNELS)}
    for name, *ratios in lines:
        kernel = known[name if name in known else re.sub(r" \(.*", "", name)]
        for level, ratio in zip(LEVELS[:3], ratios, strict=False):
            if ratio:
                yield bound_of(kernel, level), kernel.label, 1 / float(ratio)


@pytest.fixture(scope="module")
def unseen() -> dict[str, Rows]:
    """Rows of kernels that were held back or written afterwards, by class."""
    found: dict[str, Rows] = {}
    lines = [*table("| held back | L1"), *(line for line in table("| kernel | L1 | L2") if line[5] == "last")]
    for name, kernel, ratio in cells(lines):
        found.setdefault(name, []).append((kernel, ratio))
    streams = [line for line in table("| kernel | L1, 1 |") if line[0] in STREAMS]
    found["memory"] = [(line[0], 1 / float(cell)) for line in streams for cell in line[7:9]]
    found["memory"] += [(f"published {number}", ratio) for number, ratio in enumerate((*READS, *TRIADS))]
    return found


@pytest.mark.parametrize("name", ["operations", "caches", "latency", "branches", "memory"])
def test_an_interval_is_that_of_its_cases(unseen: dict[str, Rows], name: str) -> None:
    stated, rows = ERROR_CLASSES[name], unseen[name]
    assert (stated.low, stated.high) == pytest.approx(prediction_interval([ratio for _, ratio in rows]), abs=6e-4)
    assert (stated.count, stated.groups) == (len(rows), len({kernel for kernel, _ in rows}))


WAITING = (
    "sieve",
    "life, conditions",
    "subsequence, two rows",
    "quicksort",
    "breadth first",
    "Knuth",
    "heap",
    "chains",
    "40 words",
)
"""Programs that wrong guesses, or data that others use, bound."""


def test_the_interval_of_compiled_loops_is_that_of_programs() -> None:
    page = (Path(__file__).parents[2] / "docs/trust.md").read_text(encoding="utf-8")
    rows: Rows = []
    for head, places in (("| program | `-O2` before", (2, 4)), ("| program | before | time | seen", (2,))):
        for line in page[page.index(head) :].splitlines()[2:]:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                break
            if any(word in cells[0] for word in WAITING):
                continue
            texts = [re.findall(r"[\d.]+", cells[place]) for place in places]  # the last is that of afterwards
            rows += [(cells[0], 1 / float(found[-1])) for found in texts if found]
    stated = ERROR_CLASSES["compiled loops"]
    assert (stated.low, stated.high) == pytest.approx(prediction_interval([ratio for _, ratio in rows]), abs=6e-3)
    assert (stated.count, stated.groups) == (len(rows), len({name for name, _ in rows}))
    assert sum(stated.low <= ratio <= stated.high for _, ratio in rows) == 32


def test_nine_of_ten_cases_lie_in_the_interval_of_other_kernels(unseen: dict[str, Rows]) -> None:
    cases, hits = sum(map(len, unseen.values())), sum(map(inside_when_left_out, unseen.values()))
    assert (hits, cases) == (71, 81)


def test_the_half_that_was_seen_lies_inside_as_well() -> None:
    seen = cells([*table("| seen half | L1"), *(line for line in table("| kernel | L1 | L2") if line[5] != "last")])
    inside = [ERROR_CLASSES[name].low <= ratio <= ERROR_CLASSES[name].high for name, _, ratio in seen]
    assert (sum(inside), len(inside)) == (71, 81)


@collectives.needs_rows
def test_nine_of_ten_collectives_lie_in_the_interval_of_other_systems() -> None:
    rows: Rows = [("Lassen", 1 / ratio) for ratio in collectives.of_lassen(unseen=True)]
    rows += [(row.system, row.seconds / collectives.predicted(row)) for row in collectives.rows() if row.held_back]
    rows += [(f"{row.system}, MPI", row.seconds / mpi.predicted(row)) for row in mpi.rows() if row.held_back]
    hold_to_account("collectives", rows, 119)


@collectives.needs_rows
def test_nine_of_ten_systems_lie_in_the_interval_of_watts_of_others() -> None:
    found = compare(collectives.SHARED / "data")
    hold_to_account("watts", [(row.system, 1 / row.ratio) for row in found if row.held_back], 28)


def hold_to_account(name: str, rows: Rows, inside: int) -> None:
    """The ends to the two digits of docs/trust.md, and how many cases lie in the interval of all others."""
    stated = ERROR_CLASSES[name]
    assert (stated.low, stated.high) == pytest.approx(prediction_interval([ratio for _, ratio in rows]), abs=6e-3)
    assert (stated.count, stated.groups) == (len(rows), len({system for system, _ in rows}))
    assert inside_when_left_out(rows) == inside >= 0.88 * len(rows)


# -- of predictions --------------------------------------------------------------------------------


def test_classes_are_weighted_by_what_they_bound() -> None:
    """3 s of operations and 1 s of memory: (3 * 0.771 + 0.698) / 4 and (3 * 2.226 + 1.234) / 4."""
    found = combine_classes({"memory": 1.0, "operations": 3.0})
    assert (found.low, found.high) == pytest.approx((0.75275, 1.978))
    assert list(found.classes.items()) == [("operations", 0.75), ("memory", 0.25)]


def test_what_nobody_compared_has_no_interval() -> None:
    assert combine_classes({"operations": 0.89, "messages": 0.11}).low is None
    assert combine_classes({"operations": 0.92, "messages": 0.08}).low == pytest.approx(0.771)
    assert combine_classes({}).low is None


def test_energies_are_off_by_time_and_by_power() -> None:
    found = with_watts(ExpectedError(0.5, 2.0, {"operations": 1.0}, {}))
    assert found.high == pytest.approx(exp(hypot(log(2), log(1.262))))
    assert found.low == pytest.approx(exp(-hypot(log(2), log(1 / 0.853))))


@pytest.mark.parametrize(
    ("app", "machine", "options", "classes", "unknown"),
    [
        ("comd", "haswell", {}, {"operations"}, {"messages", "memory of peak bandwidth"}),
        ("hpcg", "frontera", {}, {"memory", "collectives"}, {"messages"}),
        ("matmul", "h100", {}, set(), {"kernels of accelerators"}),
        ("stream", "epyc_9654", {"kernel": "triad"}, {"memory"}, set()),
        ("stream", "haswell", {"kernel": "triad"}, set(), {"memory of peak bandwidth"}),
    ],
)
def test_the_classes_of_a_run(
    app: str, machine: str, options: dict[str, str], classes: set[str], unknown: set[str]
) -> None:
    case = aspenpy.predict(aspenpy.load_application(app), aspenpy.load_machine(machine), **options)  # type: ignore[arg-type]
    found = expected_error(case)
    assert found.classes.keys() <= classes
    assert found.unknown.keys() <= unknown
    assert sum(found.classes.values()) + sum(found.unknown.values()) == pytest.approx(1)
    assert bool(found.classes) == bool(classes)


def test_machines_whose_intervals_overlap_are_named() -> None:
    app, haswell = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    near = aspenpy.compare(app, [haswell, aspenpy.load_machine("epyc_9654")])
    assert near.alike == ("epyc_9654",)
    assert "cannot be told apart" in str(near)
    assert "cannot be told apart" not in render_text(near.report(interval=False).page)
