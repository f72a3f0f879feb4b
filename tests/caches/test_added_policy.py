"""A replacement policy is one row of one table, and so is a kind of cache: with `fifo` added to a copy of the package,
a machine may say it, and the misses are those of a simulator that replaces the line that came first.

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
KIND = '    "spilled": Inclusion(True, "a level that takes what the level before it gives up"),\n'
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
    add_row(file, ROW)
    add_row(file.with_name("level.py"), KIND)
    return folder


def add_row(file: Path, row: str) -> None:
    """A row behind the last of the table of a file."""
    before, end, behind = file.read_text(encoding="utf-8").partition('}\n"""By the word that a machine says')
    assert end
    file.write_text(before + row + end + behind, encoding="utf-8")


def run(package: Path, policy: str, *more: str) -> subprocess.CompletedProcess[str]:
    return run_on(package, machine_of(("L1", CAPACITY, WAYS), policy=policy), *more)


def run_on(package: Path, machine: str, *more: str) -> subprocess.CompletedProcess[str]:
    (package / "m.aspen").write_text(machine, encoding="utf-8")
    command = [sys.executable, "-m", "aspenpy", "traffic", "a.aspen", "--machine", "m.aspen", "--format", "json", *more]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)


def test_one_row_adds_a_policy(package: Path) -> None:
    draws = Random(1)
    lines = [int(3000 * draws.random() ** 3) for _ in range(40_000)]  # few of them often, many seldom
    distances = aspenpy.reuse_distances([LINE * line for line in lines], line=LINE)
    (package / "lines.csv").write_text(distances.to_csv(), encoding="utf-8")
    loads = f'loads [{len(lines)}] of size [8] as rdd("lines.csv")'
    (package / "a.aspen").write_text(f"model a {{ kernel main {{ execute {{ {loads} }} }} }}", encoding="utf-8")
    done = run(package, "fifo")
    assert done.returncode == 0, done.stderr
    (level,) = json.loads(done.stdout)["levels"]
    (other,) = json.loads(run(package, "lru").stdout)["levels"]
    assert level["read_misses"] == pytest.approx(first_in_first_out(lines), rel=0.02)
    assert other["read_misses"] != pytest.approx(level["read_misses"], rel=0.02)


def test_one_row_adds_a_kind_of_cache(package: Path) -> None:
    """What adds to the level before it has the misses of an exclusive level of the same size."""
    data, loads = "data X [20480]", "loads [25600] of size [8] from X as stream, reuse(10)"
    (package / "a.aspen").write_text(f"model a {{ {data} kernel main {{ execute {{ {loads} }} }} }}", encoding="utf-8")
    machine = machine_of(("L1", CAPACITY, WAYS), ("L2", CAPACITY, WAYS))
    found = {}
    for kind in ("spilled", "exclusive", "inclusive"):
        done = run_on(package, machine.replace("cache L2 {", f"cache L2 {{ property inclusion [{kind}]"))
        assert done.returncode == 0, done.stderr
        found[kind] = [level["read_misses"] for level in json.loads(done.stdout)["levels"]]
    assert found["spilled"] == found["exclusive"] != found["inclusive"]
    done = run_on(package, machine.replace("cache L2 {", "cache L2 { property inclusion [spiled]"))
    assert "`spilled`" in done.stderr


def test_no_simulation_takes_it_for_another(package: Path) -> None:
    (package / "a.aspen").write_text(
        "model a { data X [800] kernel main { execute { loads [100] of size [8] from X as stream } } }",
        encoding="utf-8",
    )
    assert run(package, "fifo").returncode == 0
    done = run(package, "fifo", "--simulate")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no simulation knows `fifo`" in done.stderr


def test_messages_know_it(package: Path) -> None:
    done = run(package, "fifa")
    assert done.returncode == 2
    assert "`fifo`" in done.stderr
