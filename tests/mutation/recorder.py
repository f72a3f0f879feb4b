"""Runs in a marked copy of the checkout: notes the blocks that each test enters, one file of tests in one child.

python -m tests.mutation.recorder FOLDER 0 2     # the first of two processes"""

from __future__ import annotations

import builtins
import faulthandler
import gc
import hashlib
import importlib
import os
import pkgutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.mutation.processes import run_forked, run_pytest

LONGEST = 300.0
"""Seconds after which a recorded test is taken to hang."""
MOST_LEFT_OUT = 12
"""Tests of one file."""
CASES, SECONDS = 3, 2.0
"""Cases of one function of tests that are recorded, and seconds within which the others are, too: those left are taken
to enter what these enter."""


class Recorder:
    """Writes one row of bits for each test; a test that is skipped or fails has none. Blocks that a file enters when it
    is imported, or a fixture of several tests, are entered by each of them."""

    def __init__(self, target: Path, number: int, processes: int) -> None:
        self.target, self.number, self.processes = target, number, processes
        self.marks = builtins._marks_  # type: ignore[attr-defined]
        self.shared: dict[object, numpy.ndarray] = {}
        """Blocks that are entered once, by what enters them: a fixture, or the import of a file of tests."""
        self.tests: list[str] = []
        self.seconds: list[float] = []
        self.rows: list[numpy.ndarray] = []
        self.outcomes: set[str] = set()
        self.chosen: set[str] = set()
        """Tests that are recorded however long they take."""

    def entered(self) -> numpy.ndarray:
        return numpy.frombuffer(bytes(self.marks), numpy.uint8)

    def clear(self) -> None:
        self.marks[:] = bytes(len(self.marks))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        self.clear()
        result = yield
        self.shared[collector.path] = self.entered() | self.shared.get(collector.path, 0)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        before = self.entered()
        self.clear()
        result = yield
        if fixturedef.scope != "function":
            self.shared[fixturedef] = self.entered()
        self.marks[:] = (before | self.entered()).tobytes()
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        numpy.save(self.target / "imported.npy", numpy.bitwise_or.reduce(list(self.shared.values())))
        gc.collect()
        gc.freeze()
        files: dict[Path, list[pytest.Item]] = {}
        places = {item: place for place, item in enumerate(session.items)}
        cases: Counter[str] = Counter()
        for item in sorted(session.items, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest()):
            cases[function_of(item.nodeid)] += 1
            if cases[function_of(item.nodeid)] <= CASES:
                self.chosen.add(item.nodeid)
            files.setdefault(item.path, []).append(item)
        for number, file in enumerate(sorted(files)):
            items = sorted(files[file], key=places.__getitem__)
            name = file.relative_to(session.config.rootpath).as_posix()
            rows = self.target / f"{name.replace('/', '+')}.npz"
            if number % self.processes != self.number or _digest_in(rows) == digest(file):
                continue
            if not self.record(items, rows, digest(file)):
                print(f"not recorded: {name}", file=sys.stderr)
        return True

    def record(self, items: list[pytest.Item], rows: Path, of_file: str) -> bool:
        """Whether the tests of a file were recorded, but for those in which the process ends or that do not end."""
        begun = rows.with_suffix(f".{self.number}")
        left_out: set[str] = set()
        while len(left_out) < MOST_LEFT_OUT:
            kept = [item for item in items if item.nodeid not in left_out]
            begun.write_text("", encoding="utf-8")
            done = run_forked(partial(self.run, kept, rows, begun, of_file), LONGEST * 10)
            last = begun.read_text(encoding="utf-8").splitlines()[-1:]
            begun.unlink()
            if done or not last:
                return done
            print(f"left out, for it ends the process or does not end: {last[0]}", file=sys.stderr)
            left_out.add(last[0])
        return False

    def run(self, items: list[pytest.Item], rows: Path, begun: Path, of_file: str) -> bool:
        with begun.open("a", encoding="utf-8") as log:
            spent: Counter[str] = Counter()
            for item, following in zip(items, [*items[1:], None], strict=True):
                if item.nodeid not in self.chosen and spent[function_of(item.nodeid)] > SECONDS:
                    continue
                print(item.nodeid, file=log, flush=True)
                began = time.monotonic()
                self.run_test(item, following)
                spent[function_of(item.nodeid)] += time.monotonic() - began
        size = (len(self.marks) + 7) // 8
        bits = numpy.array(self.rows, numpy.uint8).reshape(len(self.rows), size)
        new = rows.with_suffix(".part.npz")
        numpy.savez_compressed(new, tests=self.tests, seconds=self.seconds, rows=bits, digest=of_file)
        new.replace(rows)
        return True

    def run_test(self, item: Any, following: pytest.Item | None) -> None:
        self.clear()
        self.outcomes = set()
        began = processor_seconds()
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        faulthandler.cancel_dump_traceback_later()
        if self.outcomes != {"passed"}:
            if "failed" in self.outcomes:
                print(f"left out, for it fails on the marked copy: {item.nodeid}", file=sys.stderr)
            return
        row = self.entered() | self.shared.get(item.path, 0)
        for fixture in (fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found):
            row = row | self.shared.get(fixture, 0)
        self.tests.append(item.nodeid)
        self.seconds.append(processor_seconds() - began)
        self.rows.append(numpy.packbits(row))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.outcomes.add("passed" if hasattr(report, "wasxfail") else report.outcome)


def function_of(test: str) -> str:
    """The name of a test without its case."""
    return test.partition("[")[0]


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _digest_in(rows: Path) -> str:
    return str(numpy.load(rows)["digest"]) if rows.exists() else ""


def processor_seconds() -> float:
    """Of this process and of its children that have ended: a busy machine measures the same."""
    return sum(os.times()[:4])


def import_package() -> None:
    """Imports each module, so that the first file of tests that needs it is not taken to run what it does then."""
    import aspenpy

    for module in pkgutil.walk_packages(aspenpy.__path__, "aspenpy."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


if __name__ == "__main__":
    import_package()
    recorder = Recorder(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    recorder.shared["package"] = recorder.entered()
    os._exit(run_pytest(recorder, "tests"))  # what runs at the end would look for its marks
