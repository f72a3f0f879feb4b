"""Tests that run in copies of one process have the outcomes that they have one after the other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.thorough import HANGS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process need fork")

ROOT = Path(__file__).parents[2]
BEGINNING = """
from tests import copies

def pytest_addoption(parser):
    parser.addoption("--copies", default="1")

def pytest_configure(config):
    config.pluginmanager.register(copies)
"""
TESTS = """
import os, time
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    yield os.getpid()
    with open("ended", "a") as file:
        print(__name__, os.getpid(), file=file)

@pytest.mark.parametrize("n", range(3))
def test_output_is_that_of_the_test(n, shared, capfd, tmp_path):
    os.system(f"echo {n}")
    time.sleep(0.02)
    assert capfd.readouterr().out == f"{n}\\n"
    assert shared == os.getpid()

def test_fails(shared):
    print("said before")
    assert [1, 2] == [1, 3]

@pytest.mark.skip("for a reason")
def test_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_expected():
    assert False

@pytest.fixture
def broken():
    raise ValueError("cannot be made")

def test_broken(broken):
    pass
"""
ENDS = "import os\ndef test_before(): pass\ndef test_ends(): os._exit(7)\ndef test_never(): pass\n"
FILES = 5


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Status and output of pytest in a folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS)
    return found.returncode, found.stdout


def outcomes(output: str) -> list[str]:
    return sorted(re.findall(r"^(?:PASSED|FAILED|XFAIL|ERROR|SKIPPED) .*", output, re.MULTILINE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some files of tests."""
    (tmp_path / "conftest.py").write_text(BEGINNING, encoding="utf-8")
    for number in range(FILES):
        (tmp_path / f"test_{number}.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_copies_have_the_outcomes_of_one_process(folder: Path) -> None:
    alone, in_copies = run(folder), run(folder, "--copies", "2")
    assert alone[0] == in_copies[0] == 1
    assert outcomes(alone[1]) == outcomes(in_copies[1])
    assert len(outcomes(alone[1])) == FILES * 7
    assert in_copies[1].count("\nsaid before\n") == alone[1].count("\nsaid before\n") == FILES
    ended = [line.split() for line in (folder / "ended").read_text(encoding="utf-8").splitlines()]
    assert sorted(name for name, _ in ended) == sorted(2 * [f"test_{number}" for number in range(FILES)])
    assert len({process for _, process in ended[:FILES]}) == 1  # alone
    assert {process for _, process in ended[:FILES]}.isdisjoint(process for _, process in ended[FILES:])


def test_a_test_that_ends_its_process_fails_and_other_files_run(folder: Path) -> None:
    (folder / "test_ends.py").write_text(ENDS, encoding="utf-8")
    _, output = run(folder, "--copies", "2")
    assert "FAILED test_ends.py::test_ends - ended its process with status 7" in output
    assert "PASSED test_ends.py::test_before" in output
    assert "test_never" not in output
    assert sum("::test_output_is_that_of_the_test[2]" in line for line in outcomes(output)) == FILES


def test_the_first_failure_ends_all_copies(folder: Path) -> None:
    status, output = run(folder, "--copies", "2", "-x")
    assert status == 1
    assert 1 <= output.count("\nFAILED ") <= 2
    assert output.count("\nPASSED ") < 3 * FILES
