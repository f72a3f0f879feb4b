"""A replacement policy is one row of one table: with `fifo` added to a copy of the package, a machine may say it, and
the misses are those of a simulator that replaces the line that came first.

Under references that do not depend on each other, the line that came first goes out as often as any other (Gelenbe,
IEEE Transactions on Computers 22(6), 1973): the law is that of random replacement.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import aspenpy
from tests.caches.programs import machine_of

ROOT = Path(aspenpy.__path__[0]).parent
CAPACITY, WAYS, LINE = 16_384, 4, 64
ROW = '    "fifo": Policy(_replace_at_random, "Gelenbe, IEEE Transactions on Computers 22(6), 1973"),\n'


def first_in_first_out(lines: list[int]) -> int:
    """Misses of a cache whose sets give up the line that came first."""
    sets: dict[int, list[int]] = {}
    misses = 0
    for line in lines:
        held = sets.setdefault(line % (CAPACITY // LINE // WAYS), [])
        if line not in held:
            misses += 1
            held.append(line)
            del held[:-WAYS]
    return misses


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one row more in one file."""
    folder = tmp_path_factory.mktemp("package")
    for part in ("aspenpy", "grammar"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "aspenpy" / "cost" / "caches" / "policies.py"
    before, end, behind = file.read_text().partition('}\n"""By the word that a machine says')
    assert end
    file.write_text(before + ROW + end + behind)
    return folder


def run(package: Path, policy: str) -> subprocess.CompletedProcess[str]:
    (package / "m.aspen").write_text(machine_of(("L1", CAPACITY, WAYS), policy=policy))
    command = [sys.executable, "-m", "aspenpy", "traffic", "a.aspen", "--machine", "m.aspen", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)


def test_one_row_adds_a_policy(package: Path) -> None:
    draws = Random(1)
    lines = [int(3000 * draws.random() ** 3) for _ in range(40_000)]  # few of them often, many seldom
    distances = aspenpy.reuse_distances([LINE * line for line in lines], line=LINE)
    (package / "lines.csv").write_text(distances.to_csv())
    loads = f'loads [{len(lines)}] of size [8] as rdd("lines.csv")'
    (package / "a.aspen").write_text(f"model a {{ kernel main {{ execute {{ {loads} }} }} }}")
    done = run(package, "fifo")
    assert done.returncode == 0, done.stderr
    (level,) = json.loads(done.stdout)["levels"]
    (other,) = json.loads(run(package, "lru").stdout)["levels"]
    assert level["read_misses"] == pytest.approx(first_in_first_out(lines), rel=0.02)
    assert other["read_misses"] != pytest.approx(level["read_misses"], rel=0.02)


def test_messages_know_it(package: Path) -> None:
    done = run(package, "fifa")
    assert done.returncode == 2
    assert "`fifo`" in done.stderr
