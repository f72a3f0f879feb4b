"""Runs in a copy of the checkout: tries changes one after the other, each in a child of this process.

python -m tests.mutation.trials TASKS RESULTS    # files: JSON, and one line of JSON for each change"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutation.changes import Change
from tests.mutation.processes import run_forked, run_pytest
from tests.mutation.recorder import function_of, import_package, processor_seconds

HUNG = 6.0, 5.0
"""Seconds of the processor, and multiples of what a test took when it was recorded, after which it counts as one that
does not end."""
WAITED = 6.0
"""Seconds of the clock for each of the processor's: a test may wait for something that never comes."""
MEMORY = 8 << 30
"""Bytes of addresses that a process of tests may have."""
IMPORT = "the import of the tests"
"""What fails where no test begins."""

Attempt = Callable[[Change | None, dict[str, float], bool], str]
"""The test that fails first with a change or without any, of tests with the seconds that each takes, and maybe of the
other cases of their functions; or empty."""


class Ordered:
    """Runs tests in the order given, each within its seconds of the processor and all within theirs; `with_cases`:
    then the other cases of the same functions."""

    def __init__(self, tests: dict[str, float], with_cases: bool, seconds: float, log: Path) -> None:
        self.tests, self.with_cases, self.seconds, self.log = tests, with_cases, seconds, log
        self.ended, self.failed = False, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.run({item.nodeid: item for item in session.items})
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def run(self, items: dict[str, pytest.Item]) -> bool:
        """Whether none failed; the last line of the log is the test that ran last."""
        end = processor_seconds() + self.seconds
        if self.with_cases:
            functions = {function_of(test): took for test, took in self.tests.items()}
            cases = {test: functions[function_of(test)] for test in items if function_of(test) in functions}
            self.tests = self.tests | {test: took for test, took in cases.items() if test not in self.tests}
        order = [items[test] for test in self.tests if test in items]
        with self.log.open("a", encoding="utf-8") as log:
            for item, following in zip(order, [*order[1:], None], strict=True):
                if self.failed or processor_seconds() > end:
                    break
                print(item.nodeid, file=log, flush=True)
                limit = HUNG[0] + HUNG[1] * self.tests[item.nodeid]
                signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process, inside a library too
                faulthandler.dump_traceback_later(WAITED * limit, exit=True)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        self.ended = not self.failed
        return self.ended


class Trials:
    """Tries changes in a copy at `root`; those of functions after all tests have been collected once."""

    def __init__(self, root: Path, seconds: float, results: Path) -> None:
        self.root, self.seconds, self.results = root, seconds, results
        self.log = root / ".begun"
        self.tasks: list[dict[str, Any]] = []
        """Those that are tried once all tests are collected."""
        self.functions: dict[str, list[FunctionType]] = {}

    def claim(self, number: int) -> bool:
        """Whether no other process judges a change: they share the tasks, some of which take minutes."""
        try:
            self.results.with_name(f"claimed-{number}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def judge(self, task: dict[str, Any], attempt: Attempt) -> None:
        """A test counts that fails with the change, fails again with it alone, and passes without it."""
        if not self.claim(task["number"]):
            return
        change, left, caught_by, began = Change(**task["change"]), task["tests"], "", time.monotonic()
        while left and not caught_by and (failed := attempt(change, left, True)):
            alone = dict(list(left.items())[:1]) if failed == IMPORT else {failed: left.get(failed, 0.0)}
            if attempt(change, alone, False) == failed and attempt(None, alone, False) != failed:
                caught_by = failed
            names = list(left)
            left = {test: left[test] for test in names[names.index(failed) + 1 :]} if failed in left else {}
        verdict = {"number": task["number"], "by": caught_by, "seconds": time.monotonic() - began}
        with self.results.open("a", encoding="utf-8") as out:
            print(json.dumps(verdict), file=out)

    def attempt(self, change: Change | None, ordered: Ordered, run: Callable[[Ordered], bool]) -> str:
        """`run` ends in a child, with the changed file in place: tests start processes that import it."""
        self.log.write_text("", encoding="utf-8")
        with written(self.root, change):
            passed = run_forked(lambda: run(ordered), WAITED * (self.seconds + 60))
        begun = self.log.read_text(encoding="utf-8").splitlines()
        return "" if passed else begun[-1] if begun else IMPORT

    def attempt_anew(self, change: Change | None, tests: dict[str, float], with_cases: bool) -> str:
        """All of the package is imported again, and the tests are collected."""
        files = dict.fromkeys(test.partition("::")[0] for test in tests)

        def run(ordered: Ordered) -> bool:
            for name in [name for name in sys.modules if name.partition(".")[0] == "aspenpy"]:
                del sys.modules[name]
            run_pytest(ordered, *files)
            return ordered.ended

        return self.attempt(change, Ordered(tests, with_cases, self.seconds, self.log), run)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for found in gc.get_objects():
            if isinstance(found, FunctionType):
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        gc.collect()
        gc.freeze()
        plugins = session.config.pluginmanager

        def attempt(change: Change | None, tests: dict[str, float], with_cases: bool) -> str:
            def run(ordered: Ordered) -> bool:
                plugins.register(ordered)
                if change is not None:
                    self.swap(change)
                return ordered.run(items)

            return self.attempt(change, Ordered(tests, with_cases, self.seconds, self.log), run)

        for task in self.tasks:
            self.judge(task, attempt)
        return True

    def swap(self, change: Change) -> None:
        """Gives the functions of a file their changed code, whoever refers to them."""
        file = self.root / change.path
        codes = changed_codes(change, file.with_name(f"{file.name}.original").read_bytes())
        for function in self.functions.get(str(file), ()):
            if (place := place_of(function.__code__)) in codes:
                function.__code__ = codes[place]


class written:
    """A changed file in place of the original; each has a time of its own, by which compiled files are told apart."""

    times = count(1)

    def __init__(self, root: Path, change: Change | None) -> None:
        self.file = root / change.path if change is not None else None
        self.change = change

    def __enter__(self) -> None:
        if self.file is not None and self.change is not None:
            self.original = self.file.with_name(f"{self.file.name}.original")
            self.file.replace(self.original)
            self.file.write_bytes(self.change.apply(self.original.read_bytes()))
            os.utime(self.file, 2 * (next(self.times),))

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.original.replace(self.file)


def codes_of(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def place_of(code: CodeType) -> tuple[Any, ...]:
    return code.co_qualname, code.co_firstlineno, tuple(code.co_positions())


def changed_codes(change: Change, source: bytes) -> dict[tuple[Any, ...], CodeType]:
    """New code of functions, by the place of the old; empty where they do not correspond one to one."""
    old = list(codes_of(compile(source, change.path, "exec", dont_inherit=True)))
    new = list(codes_of(compile(change.apply(source), change.path, "exec", dont_inherit=True)))
    if [(code.co_qualname, code.co_freevars) for code in old] != [(code.co_qualname, code.co_freevars) for code in new]:
        return {}
    return {place_of(before): after for before, after in zip(old, new, strict=True)}


def main(tasks: Path, results: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    told = json.loads(tasks.read_text(encoding="utf-8"))
    root = Path.cwd()
    import_package()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # of changed files
    trials = Trials(root, told["seconds"], results)
    for task in told["tasks"]:
        change = Change(**task["change"])
        if task["anew"] or not changed_codes(change, (root / change.path).read_bytes()):
            trials.judge(task, trials.attempt_anew)
        else:
            trials.tasks.append(task)
    if trials.tasks:
        run_pytest(trials, *told["files"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
