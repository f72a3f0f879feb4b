"""Runs the files of tests side by side, each in a copy of the process that has collected them: `pytest --copies auto`.

Importing and collecting the tests takes as long as a thousand of them run; processes that share nothing would each do
that, and send five messages a test. Copies have it behind them, take the next file from one queue and send one.
"""

from __future__ import annotations

import mmap
import os
import traceback
import warnings
from collections.abc import Iterator
from itertools import groupby, pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, NoReturn

import pytest
from _pytest.runner import pytest_sessionfinish as tear_down

WIDTH = 2
"""Bytes of a file's number in the queue."""
NO_TEST = 2**32 - 1
LOOK = 5.0
"""Seconds between looks at whether a copy that sends nothing is still there."""


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = count_copies(session.config.getoption("--copies"))
    if count == 1 or session.testsfailed or session.config.option.collectonly:
        return None
    Copies(session).run(count)
    return True


def count_copies(text: str) -> int:
    """The copies that an option asks for: one where processes cannot be copied."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if text == "auto" else int(text)


class Copy(NamedTuple):
    """A process that runs tests, its place in the table of what runs, and what it sends."""

    process: int
    place: int
    reports: Connection


class Copies:
    """The copies of one session."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.config = session, session.config
        self.files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
        self.places = {item: place for place, item in enumerate(session.items)}
        self.queue, feed = os.pipe()
        for number in range(len(self.files)):
            os.write(feed, number.to_bytes(WIDTH))
        os.close(feed)
        self.running: list[Copy] = []

    def run(self, count: int) -> None:
        """Runs all files in so many copies, and hands their reports to this session's plugins."""
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        reporter.showfspath = False  # files take turns
        self.now = mmap.mmap(-1, 4 * count)
        try:
            for place in range(count):
                self.start(place)
            while self.running:
                self.receive()
        finally:
            self.take_all()
            for copy in self.running:
                copy.reports.close()
                os.waitpid(copy.process, 0)
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)

    def take(self) -> list[pytest.Item] | None:
        """The tests of the next file that no copy has begun."""
        number = os.read(self.queue, WIDTH)
        return self.files[int.from_bytes(number)] if number else None

    def take_all(self) -> None:
        while self.take():
            pass

    def start(self, place: int) -> None:
        self.note(place, NO_TEST)
        reports, sent = Pipe(duplex=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # libraries' threads wait for work; no lock is held
            process = os.fork()
        if process == 0:
            reports.close()
            self.live(place, sent)
        sent.close()
        self.running.append(Copy(process, place, reports))

    def note(self, place: int, number: int) -> None:
        """Which test a copy runs, which can be read when it has ended."""
        self.now[4 * place : 4 * place + 4] = number.to_bytes(4)

    def receive(self) -> None:
        """Reports what copies have sent, and which of them have ended."""
        ready = wait([copy.reports for copy in self.running], LOOK)
        for copy in list(self.running):
            if copy.reports in ready:
                try:
                    self.report(copy, copy.reports.recv())
                except EOFError:
                    self.end(copy, os.waitpid(copy.process, 0)[1])
            elif not ready:
                ended = os.waitid(os.P_PID, copy.process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended and not copy.reports.poll():  # what it started still holds its end of the pipe
                    self.end(copy, os.waitpid(copy.process, 0)[1])

    def report(self, copy: Copy, message: tuple[int, list[dict[str, object]]]) -> None:
        item, hook = self.session.items[message[0]], self.config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in message[1]:
            hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=self.config, data=data))
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if self.session.shouldfail or self.session.shouldstop:
            self.take_all()

    def end(self, copy: Copy, status: int) -> None:
        """Forgets a copy; where a test has ended it, that test fails, the rest of its file is not run, and another
        copy takes the next file."""
        self.running.remove(copy)
        if status:
            number = int.from_bytes(self.now[4 * copy.place : 4 * copy.place + 4])
            if number == NO_TEST:
                raise RuntimeError("a copy of the process ended before it ran a test")
            item = self.session.items[number]
            text = f"ended its process with status {os.waitstatus_to_exitcode(status)}; the rest of the file is not run"
            self.config.hook.pytest_runtest_logreport(
                report=pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
            )
            self.start(copy.place)

    # -- the life of a copy ------------------------------------------------------------------------

    def live(self, place: int, sent: Connection) -> NoReturn:
        """Runs files of tests until none is left. It never returns, or two would report."""
        status = 1
        try:
            capture = self.config.pluginmanager.getplugin("capturemanager")
            capture.stop_global_capturing()  # its files are those of all copies
            capture.start_global_capturing()
            capture.suspend_global_capture()
            self.config.pluginmanager.unregister(name="terminalreporter")
            collected = Collected()
            self.config.pluginmanager.register(collected)
            for item, following in self.pairs():
                if self.session.shouldfail or self.session.shouldstop:
                    break
                number = self.places[item]
                self.note(place, number)
                self.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                serialise = self.config.hook.pytest_report_to_serializable
                sent.send((number, [serialise(config=self.config, report=each) for each in collected.reports]))
                collected.reports.clear()
            status = 0
        except (KeyboardInterrupt, BrokenPipeError):  # the session ends
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                tear_down(self.session)
            finally:
                os._exit(status)

    def pairs(self) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
        """Each test, and the one after it, whose fixtures are kept."""
        items = self.take()
        while items:
            yield from pairwise(items)
            following = self.take()
            yield items[-1], following[0] if following else None
            items = following


class Collected:
    """The reports of a test."""

    def __init__(self) -> None:
        self.reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.append(report)
