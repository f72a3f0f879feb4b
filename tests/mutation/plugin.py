"""Plugins for pytest: `Recorder` notes the blocks that each test enters, `Limits` runs tests in a given order and ends
a process whose test takes far longer than it should."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

LONGEST = 400.0
"""Seconds after which a recorded test, or the end of its process, is taken to hang."""

MEMORY = 8 << 30
"""Bytes of addresses that a process of tests may have."""


class Recorder:
    """One row of bits for each test; a test that is skipped or fails on the marked copy has none. Blocks that a fixture
    of several tests enters are entered by each of them. All is written at the end of a process, as `target`.npz."""

    def __init__(self, target: Path) -> None:
        from aspenpy.mutation_marks import marks

        self.marks = marks
        self.clean = bytes(len(marks))
        self.target = target
        self.tests: list[str] = []
        self.failed: list[str] = []
        self.seconds: list[float] = []
        self.rows: list[numpy.ndarray] = []
        self.shared: dict[object, numpy.ndarray] = {}
        """Blocks that fixtures enter."""
        self.outcomes: set[str] = set()

    def entered(self) -> numpy.ndarray:
        return numpy.frombuffer(bytes(self.marks), numpy.uint8)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = self.entered()
        self.marks[:] = self.clean
        try:
            return (yield)
        finally:
            self.shared[fixturedef] = self.entered()
            self.marks[:] = (before | self.shared[fixturedef]).tobytes()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.marks[:] = self.clean
        self.outcomes = set()
        began = processor_seconds()
        note_begun(self.target.with_suffix(".now"), item)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        result = yield
        faulthandler.cancel_dump_traceback_later()
        if "failed" in self.outcomes:
            self.failed.append(item.nodeid)
        elif "skipped" not in self.outcomes:
            used = [fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found]
            row = self.entered()
            for fixture in used:
                row = row | self.shared.get(fixture, row)
            self.tests.append(item.nodeid)
            self.seconds.append(processor_seconds() - began)
            self.rows.append(numpy.packbits(row))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.outcomes.add("passed" if hasattr(report, "wasxfail") else report.outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        rows = numpy.array(self.rows, numpy.uint8).reshape(len(self.tests), (len(self.clean) + 7) // 8)
        numpy.savez_compressed(self.target, tests=self.tests, failed=self.failed, seconds=self.seconds, rows=rows)
        faulthandler.dump_traceback_later(LONGEST, exit=True)


class Limits:
    """Runs the tests that a file lists, in its order, each within its seconds of the processor and all within theirs,
    and writes down which has begun."""

    def __init__(self, listed: Path) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        told = json.loads(listed.read_text(encoding="utf-8"))
        self.seconds, self.limits, self.waited = told["seconds"], told["tests"], told["waited"]
        most = int(self.seconds + max(self.limits.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        self.begun, self.used = listed.with_name(listed.name + ".now"), listed.with_name(listed.name + ".used")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {test: place for place, test in enumerate(self.limits)}
        items[:] = sorted((item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if processor_seconds() > self.seconds:
            return True  # it is not run any more
        note_begun(self.begun, item)
        limit = self.limits[item.nodeid]
        signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process, inside a library too
        faulthandler.dump_traceback_later(self.waited * limit, exit=True)
        return None

    def pytest_runtest_logfinish(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.used.write_text(str(processor_seconds()), encoding="utf-8")


def processor_seconds() -> float:
    """Of this process and of its children that have ended: a busy machine measures the same."""
    return sum(os.times()[:4])


def note_begun(log: Path, item: pytest.Item) -> None:
    with log.open("a", encoding="utf-8") as file:
        print(item.nodeid, file=file)


def pytest_configure(config: pytest.Config) -> None:
    if marks := os.environ.get("MUTATION_MARKS"):
        config.pluginmanager.register(Recorder(Path(marks).with_suffix(".npz")))
    elif limits := os.environ.get("MUTATION_LIMITS"):
        config.pluginmanager.register(Limits(Path(limits)))
