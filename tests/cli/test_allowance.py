"""Every command is answered or refused within seconds and some hundred megabytes, whatever the shape of the question.

What a child process took is what the system says of it: processor time, and the most memory that was resident.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from aspenpy import AspenError, load_machine, parse, predict
from aspenpy.allowance import OPERATIONS, Allowance, allowance, one_allowance, separate_allowance

SECONDS = 5.0
MEBIBYTE = 1 << 20

MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "aspenpy", *sys.argv[1:]], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, done.stdout, done.stderr, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


class Ran(NamedTuple):
    """A command that has run: what it wrote, its processor time in seconds, its peak memory in KiB."""

    status: int
    out: str
    err: str
    seconds: float
    kibibytes: int


def run(*arguments: str) -> Ran:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MEASURED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return Ran(*json.loads(done.stdout))


def nested(depth: int, size: int, folder: Path) -> str:
    """A model of so many loops around a condition that has no closed form."""
    counters = "ijklm"[:depth]
    loops = " ".join(f"iterate {name} [n] {{" for name in counters)
    body = f"if (mod({'*'.join(counters)}, 7) < 3) {{ execute {{ flops [1] as dp }} }}"
    path = folder / f"nested_{depth}_{size}.aspen"
    path.write_text(
        f"model nested {{ param n = {size} in 1 .. {size}\n kernel main {{ {loops} {body} {'}' * depth} }} }}"
    )
    return str(path)


def flops(depth: int, size: int) -> int:
    """Passes in which the product of the counters leaves less than 3 when it is divided by 7."""
    products = {1: 1}
    for _ in range(depth):
        following: dict[int, int] = {}
        for product, times in products.items():
            for counter in range(size):
                following[product * counter % 7] = following.get(product * counter % 7, 0) + times
        products = following
    return sum(times for product, times in products.items() if product < 3)


@pytest.mark.parametrize(("depth", "size"), [(2, 1000), (3, 100), (4, 30), (5, 16)])
def test_nested_loops_are_added(depth: int, size: int, tmp_path: Path) -> None:
    ran = run("eval", nested(depth, size, tmp_path), "--machine", "simple", "--format", "json")
    assert ran.status == 0
    assert ran.seconds < SECONDS

    assert json.loads(ran.out)["resources"]["flops"]["amount"] == flops(depth, size)


@pytest.mark.parametrize(("depth", "size"), [(2, 20_000), (3, 460), (4, 200), (5, 60)])
@pytest.mark.parametrize("command", ["eval", "sensitivity"])
def test_nested_loops_of_too_many_passes_are_refused(command: str, depth: int, size: int, tmp_path: Path) -> None:
    ran = run(command, nested(depth, size, tmp_path), "--machine", "simple")
    assert ran.status == 2
    assert ran.seconds < SECONDS
    assert ran.kibibytes < 400 * 1024
    assert "passes" in ran.err or "pass by pass" in ran.err
    assert "iterate i [n]" in ran.err
    assert "= hint:" in ran.err
    assert "Traceback" not in ran.err


# -- from Python -----------------------------------------------------------------------------------


def test_loops_of_one_command_share_what_it_may_spend(tmp_path: Path) -> None:
    """A loop that is added within half of the operations is refused the third time."""
    loop = "iterate i{n} [250000] {{ if (mod(i{n}, {n}) < 3) {{ execute {{ flops [1] as dp }} }} }}"
    one, three = (" ".join(loop.format(n=7 + number) for number in range(count)) for count in (1, 3))
    machine = load_machine("simple")
    with separate_allowance() as needed:
        assert predict(parse(f"model one {{ kernel main {{ {one} }} }}"), machine).runtime > 0
    assert 0 < needed.spent < OPERATIONS
    application = parse(f"model three {{ kernel main {{ {three} }} }}")
    with separate_allowance(2 * needed.spent), pytest.raises(AspenError, match="operations that one command may spend"):
        _ = predict(application, machine).runtime
    assert predict(application, machine).runtime > 0


def test_an_allowance_is_spent_once() -> None:
    limit = Allowance(10)
    assert limit.spend(10)
    assert limit.left == 0
    assert not limit.exceeded
    assert not limit.spend(1)
    assert limit.exceeded
    assert not limit.spend(0)  # what was refused once stays refused: other values may miss it


@one_allowance
def spent_together(depth: int = 2) -> Allowance:
    """The allowance of the innermost of nested calls."""
    return spent_together(depth - 1) if depth else allowance()


def test_calls_within_a_call_spend_its_allowance() -> None:
    with separate_allowance() as outer:
        assert spent_together() is outer
    assert spent_together() is not spent_together()
