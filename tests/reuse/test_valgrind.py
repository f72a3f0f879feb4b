"""A small program in C, its trace by Valgrind: distances of its array against those worked out by hand."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import aspenpy

PROGRAM = r"""
#include <stdio.h>
static volatile double a[4096] __attribute__((aligned(64)));
int main(void) {
  fprintf(stderr, "a %p\n", (void *)a);
  for (int pass = 0; pass < 3; pass++)
    for (int i = 0; i < 4096; i++)
      a[i];
  return 0;
}
"""
"""Sweeps over 4096 doubles, 512 lines of 64 bytes, three times; each element is loaded once a sweep."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> aspenpy.ReuseDistances:
    for tool in ("valgrind", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("valgrind")
    (folder / "sweep.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["gcc", "-O1", "-o", "sweep", "sweep.c"], cwd=folder, check=True)
    lackey = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=trace", "./sweep"]
    ran = subprocess.run(lackey, cwd=folder, check=True, capture_output=True, text=True)
    (address,) = re.findall(r"a 0x(\w+)", ran.stderr)
    low = int(address, 16)
    return aspenpy.reuse_distances(Path(folder / "trace"), ranges={"a": (low, low + 8 * 4096)})


def test_sweep(found: aspenpy.ReuseDistances) -> None:
    """Of the 8 elements of a line 7 follow at distance 0, and 2 of 3 sweeps come back to it after 511 others."""
    part = found.ranges["a"]
    assert (part.references, part.cold) == (3 * 4096, 512)
    counts = dict(zip(part.distances.tolist(), part.counts.tolist(), strict=True))
    assert counts == {0: 3 * 7 * 512, 511: 2 * 512}


def test_whole_program(found: aspenpy.ReuseDistances) -> None:
    assert found.references > 3 * 4096
    assert found.cold > 512
