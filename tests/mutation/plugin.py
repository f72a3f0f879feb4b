"""Plugins for pytest: `Recorder` notes the blocks that each test enters, `Limits` runs tests in a given order and ends
a process whose test takes far longer than it should."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

PART = 200
"""Tests whose rows are written together: what was recorded is kept when a run is ended early."""


MEMORY = 8 << 30
"""Bytes of addresses that a process of tests may have."""


class Recorder:
    """One row of bits for each test; a test that is skipped or fails on the marked copy has none."""

    def __init__(self, folder: Path) -> None:
        from aspenpy.mutation_marks import marks

        self.marks = marks
        self.clean = bytes(len(marks))
        self.folder = folder
        self.tests: list[str] = []
        self.seconds: list[float] = []
        self.rows: list[numpy.ndarray] = []
        self.passed = True
        self.time = 0.0
        self.parts = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.marks[:] = self.clean
        self.passed, self.time = True, 0.0
        result = yield
        if self.passed:
            self.tests.append(item.nodeid)
            self.seconds.append(self.time)
            self.rows.append(numpy.packbits(numpy.frombuffer(bytes(self.marks), numpy.uint8)))
        if len(self.tests) >= PART:
            self.write()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and (report.passed or hasattr(report, "wasxfail"))
        self.time += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self.tests:
            self.write()

    def write(self) -> None:
        name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{self.parts}.npz"
        rows = numpy.array(self.rows)
        numpy.savez_compressed(self.folder / name, tests=self.tests, seconds=self.seconds, rows=rows)
        self.tests, self.seconds, self.rows = [], [], []
        self.parts += 1


class Limits:
    """Runs the tests that a file lists, in its order, each within its seconds, and writes down which has begun."""

    def __init__(self, listed: Path) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        self.limits = json.loads(listed.read_text())
        self.begun = listed.with_name(listed.name + ".now")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {test: place for place, test in enumerate(self.limits)}
        items[:] = sorted((item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self.begun.open("a") as file:
            print(item.nodeid, file=file)
        faulthandler.dump_traceback_later(self.limits[item.nodeid], exit=True)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


def pytest_configure(config: pytest.Config) -> None:
    if marks := os.environ.get("MUTATION_MARKS"):
        if "PYTEST_XDIST_WORKER" in os.environ or not config.getoption("numprocesses", None):
            config.pluginmanager.register(Recorder(Path(marks)))
    elif limits := os.environ.get("MUTATION_LIMITS"):
        config.pluginmanager.register(Limits(Path(limits)))
