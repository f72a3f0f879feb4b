"""The kernels of the library against cachegrind: its counts as published, and fresh ones where it is installed."""

from __future__ import annotations

import csv
import os
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from aspenpy.answers.traffic import traffic
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine
from tests.thorough import THOROUGH, slow

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
PUBLISHED = SHARED / "oracles" / "cachegrind.csv"

D1, LL = (32768, 8, 64), (2097152, 16, 64)
"""Bytes, ways, bytes of a line."""

MEDIAN, WORST = 0.03, 0.15
"""Relative errors that the model may have at most."""

FEW = 20
"""Misses below which a share means nothing: there the model may be off by as many."""


class Counts(NamedTuple):
    """Misses of the first and the last cache."""

    d1_reads: float
    d1_writes: float
    ll_reads: float
    ll_writes: float


@cache
def kernel(name: str) -> Application:
    return load_application(f"cache_{name}")


def predicted(name: str, n: int, d1: tuple[int, int, int] = D1, ll: tuple[int, int, int] = LL) -> Counts:
    settings = {"d1_capacity": d1[0], "d1_ways": d1[1], "ll_capacity": ll[0], "ll_ways": ll[1], "line": d1[2]}
    first, last = traffic(kernel(name), load_machine("cachegrind"), set={"n": n, **settings}).totals
    return Counts(first.read_misses, first.write_misses, last.read_misses, last.write_misses)


def errors(model: Counts, counted: Counts) -> Iterator[float]:
    for ours, theirs in zip(model, counted, strict=True):
        if theirs > FEW:
            yield abs(ours - theirs) / theirs
        else:
            assert abs(ours - theirs) <= FEW


# -- published counts ------------------------------------------------------------------------------


def shape(text: str) -> tuple[int, int, int]:
    """Such as `32768:8:64`."""
    size, ways, line = map(int, text.split(":"))
    return size, ways, line


@pytest.mark.skipif(not PUBLISHED.exists(), reason="cachegrind's counts are not beside the checkout (ASPENPY_SHARED)")
def test_published_counts() -> None:
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = []
    for row in rows:
        counted = Counts(*(int(row[column]) for column in ("D1mr", "D1mw", "DLmr", "DLmw")))
        model = predicted(row["kernel"], int(row["n"]), shape(row["D1"]), shape(row["LL"]))
        found += errors(model, counted)
    assert len(rows) == 42
    assert statistics.median(found) <= MEDIAN
    assert max(found) <= WORST


@pytest.mark.skipif(not PUBLISHED.exists(), reason="cachegrind's counts are not beside the checkout (ASPENPY_SHARED)")
def test_references_are_counted_as_they_are_made() -> None:
    """All but the few of the stack, and those that the compiler keeps in registers."""
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["n"] == "100"]
    for row in rows:
        first = traffic(kernel(row["kernel"]), load_machine("cachegrind"), set={"n": 100}).totals[0]
        assert 0 <= int(row["Dr"]) - first.reads <= 2
        assert 0 <= int(row["Dw"]) - first.writes <= 1


# -- fresh ones ------------------------------------------------------------------------------------

PROGRAM = """
static float first[N * N] __attribute__((aligned(4096)));
static float second[N * N] __attribute__((aligned(4096)));
static float third[N * N] __attribute__((aligned(4096)));

__attribute__((noinline)) static void fill(void)
{
    for (long at = 0; at < N * N; at++) {
        first[at] = at;
        second[at] = -at;
        third[at] = 0;
    }
}

__attribute__((noinline, noclone)) void measured(float *x, float *y, float *z)
{
BODY
}

int main(void)
{
    fill();
    measured(first, second, third);
    return 0;
}
"""

BODIES = {
    "mm_reg": """
    for (long row = 0; row < N; row++)
        for (long column = 0; column < N; column++) {
            float sum = 0;
            for (long at = 0; at < N; at++)
                sum += x[row * N + at] * y[at * N + column];
            z[row * N + column] = sum;
        }""",
    "mm_mem": """
    for (long row = 0; row < N; row++)
        for (long column = 0; column < N; column++)
            for (long at = 0; at < N; at++)
                z[row * N + column] += x[row * N + at] * y[at * N + column];""",
    "mm_ikj": """
    for (long row = 0; row < N; row++)
        for (long at = 0; at < N; at++) {
            float factor = x[row * N + at];
            for (long column = 0; column < N; column++)
                z[row * N + column] += factor * y[at * N + column];
        }""",
    "mm_blk16": """
    for (long top = 0; top < N; top += 16)
        for (long left = 0; left < N; left += 16)
            for (long depth = 0; depth < N; depth += 16)
                for (long row = top; row < top + 16; row++)
                    for (long column = left; column < left + 16; column++) {
                        float sum = z[row * N + column];
                        for (long at = depth; at < depth + 16; at++)
                            sum += x[row * N + at] * y[at * N + column];
                        z[row * N + column] = sum;
                    }""",
    "transpose": """
    for (long row = 0; row < N; row++)
        for (long column = 0; column < N; column++)
            y[column * N + row] = x[row * N + column];""",
    "triad": """
    for (long at = 0; at < N * N; at++)
        x[at] = y[at] + 3 * z[at];""",
    "jacobi5": """
    for (long row = 1; row < N - 1; row++)
        for (long column = 1; column < N - 1; column++) {
            const float *at = x + row * N + column;
            y[row * N + column] = at[0] + at[-1] + at[1] + at[-N] + at[N];
        }""",
}

SIZES = {
    "mm_reg": (72, 160, 120, 144),
    "mm_mem": (96,),
    "mm_ikj": (120,),
    "mm_blk16": (96, 160, 144, 208),
    "transpose": (96, 160, 300, 120, 192, 208),
    "triad": (120, 300, 208),
    "jacobi5": (72, 300, 144, 208),
}
FRESH = [(name, n) for name, sizes in SIZES.items() for n in sizes[: len(sizes) if THOROUGH else 1]]
"""One size of each; all of them if thorough."""


def cachegrind(folder: Path, name: str, n: int) -> Counts:
    """What it counts in the kernel."""
    source, program, output = (folder / f"{name}{n}{suffix}" for suffix in (".c", "", ".out"))
    source.write_text(PROGRAM.replace("BODY", BODIES[name].strip("\n")), encoding="utf-8")
    subprocess.run(["gcc", "-O1", "-g", "-fno-tree-vectorize", f"-DN={n}", str(source), "-o", str(program)], check=True)
    caches = [f"--D1={D1[0]},{D1[1]},{D1[2]}", f"--LL={LL[0]},{LL[1]},{LL[2]}", "--cache-sim=yes"]
    command = ["valgrind", "--tool=cachegrind", *caches, f"--cachegrind-out-file={output}", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    events: list[str] = []
    totals: dict[str, int] = {}
    inside = False
    for line in output.read_text(encoding="utf-8").splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            inside = line.endswith("measured")
        elif inside and line[:1].isdigit():
            for event, count in zip(events, line.split()[1:], strict=True):
                totals[event] = totals.get(event, 0) + int(count)
    return Counts(totals["D1mr"], totals["D1mw"], totals["DLmr"], totals["DLmw"])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
@slow
def test_fresh_counts(tmp_path: Path) -> None:
    found = [error for name, n in FRESH for error in errors(predicted(name, n), cachegrind(tmp_path, name, n))]
    assert statistics.median(found) <= MEDIAN
    assert max(found) <= WORST
