"""Draws changes of the package by seed and runs the tests that reach each on a copy: what no test notices is listed.

    python -m tests.mutation.run --seed 7 --count 100
    python -m tests.mutation.run --within aspenpy/explore --count 20

Hits are recorded once, below `build/mutants`; files of tests that changed since are recorded again."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random

from tests.mutation.changes import Change, places
from tests.mutation.copies import copy_checkout, end_group, environment, pytest_command
from tests.mutation.reaching import Reaching
from tests.mutation.recordings import FOLDER, bring_up_to_date

BATCHES = (10.0, 60.0, float("inf"))
"""Seconds of the tests that run in one process before the next: most changes are noticed by the first few."""
HUNG = 15.0, 5.0
"""Seconds of the processor, and multiples of what a test took when it was recorded, after which it counts as one that
does not end."""
WAITED = 6.0
"""Seconds for each of the processor's that a test, or a process of tests, may take on however busy a machine: it may
wait for something that never comes."""

IMPORT = "the import of the tests"
"""What fails where no test begins."""


@dataclass(frozen=True)
class Verdict:
    change: Change
    caught_by: str
    """A test; empty where none failed."""
    reached: int
    ran: int

    def report(self, source: bytes) -> str:
        before, after = self.change.lines(source)
        told = f"caught by {self.caught_by}" if self.caught_by else f"SURVIVED {self.ran} of {self.reached} tests"
        return f"{self.change.path}:{self.change.line}: {told}\n  - {before}\n  + {after}"


class Copy:
    """A copy of the checkout in which one change at a time is tried."""

    def __init__(self, folder: Path, known: dict[str, bool]) -> None:
        self.folder = copy_checkout(folder)
        self.known = known
        """Whether tests pass without any change, as far as that was asked."""
        self.writes = 0

    def write(self, path: str, text: bytes) -> None:
        """Each time with a new time of change, so that no compiled file of before counts as this one's."""
        file = self.folder / path
        file.write_bytes(text)
        self.writes += 1
        now = int(time.time()) + 10 * self.writes
        os.utime(file, (now, now))

    def judge(self, change: Change, limits: dict[str, float], seconds: float) -> Verdict:
        """`limits`: seconds that each test that reaches the change took, in the order in which they run; `seconds`: of
        the processor, for all of them, so that a busy machine finds the same."""
        source = (self.folder / change.path).read_bytes()
        ran = 0
        try:
            for batch in batches(limits):
                while batch and seconds > 0:
                    self.write(change.path, change.apply(source))
                    failed, passed, used = self.run(batch, seconds)
                    seconds -= used
                    if failed is None:
                        ran += passed
                        break
                    self.write(change.path, source)
                    if failed == IMPORT:
                        begins = self.run(batch, 100.0)[:2] not in ((IMPORT, 0), (None, 0))  # without the change
                        return Verdict(change, IMPORT if begins else "", len(limits), ran)
                    if failed not in self.known:
                        self.known[failed] = self.run({failed: limits.get(failed, 0.0)}, 300.0)[0] is None
                    if self.known[failed]:
                        return Verdict(change, failed, len(limits), ran)
                    batch = {test: took for test, took in batch.items() if test != failed}
        finally:
            self.write(change.path, source)
        return Verdict(change, "", len(limits), ran)

    def run(self, tests: dict[str, float], seconds: float) -> tuple[str | None, int, float]:
        """The test that fails first, or None; how many passed within the seconds, and how many of those it took."""
        limits = self.folder / "limits.json"
        now, used = limits.with_name("limits.json.now"), limits.with_name("limits.json.used")
        hung = {test: HUNG[0] + HUNG[1] * took for test, took in tests.items()}
        limits.write_text(json.dumps({"seconds": seconds, "tests": hung, "waited": WAITED}), encoding="utf-8")
        now.write_text("", encoding="utf-8")
        used.write_text("0", encoding="utf-8")
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        command = pytest_command("-x", "--hypothesis-seed=0", "-p", "no:cacheprovider", *files)
        variables = environment(self.folder, MUTATION_LIMITS=str(limits))
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                status = process.wait(WAITED * seconds)
            except subprocess.TimeoutExpired:
                status = 1  # it waits for something
            finally:
                end_group(process.pid)
        begun = now.read_text(encoding="utf-8").splitlines()
        if status in (0, 5):
            return None, len(begun), float(used.read_text(encoding="utf-8"))
        return (begun[-1] if begun else IMPORT), 0, 0.0


def batches(limits: dict[str, float]) -> Iterator[dict[str, float]]:
    """Tests that run in one process: in each, those of a file one after the other, since they share what is dear."""
    left = list(limits.items())
    for seconds in BATCHES:
        batch: dict[str, float] = {}
        while left and (not batch or sum(batch.values()) + left[0][1] <= seconds):
            test, took = left.pop(0)
            batch[test] = took
        places = {file: place for place, file in reversed(list(enumerate(test.partition("::")[0] for test in batch)))}
        yield dict(sorted(batch.items(), key=lambda pair: places[pair[0].partition("::")[0]]))


def draw(seed: int, count: int, root: Path, within: str = "aspenpy") -> list[Change]:
    """Changes at `count` places of a checkout, each as likely as any other; those of a file or folder `within`."""
    random = Random(seed)
    everywhere = [
        place
        for file in sorted((root / within).rglob("*.py") if (root / within).is_dir() else [root / within])
        for place in places(file.relative_to(root).as_posix(), file.read_bytes())
    ]
    print(f"{len(everywhere):,} places to change", flush=True)
    random.shuffle(everywhere)
    changes: list[Change] = []
    for place in everywhere:
        change = place(random)
        if change is not None:
            changes.append(change)
        if len(changes) == count:
            break
    return changes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--within", default="aspenpy", help="a file or folder, to find what its tests let through")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=100.0, help="of the processor, for the tests of one change")
    parser.add_argument("--least", type=float, default=0.92, help="share that has to be caught")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    recordings = bring_up_to_date(options.processes)
    log = FOLDER / f"seed-{options.seed}.txt"
    log.write_text("", encoding="utf-8")
    verdicts: list[Verdict] = []
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        known: dict[str, bool] = {}
        free: SimpleQueue[Copy] = SimpleQueue()
        copies = [Copy(folder / str(number), known) for number in range(options.processes)]
        original = copy_checkout(folder / "original")
        reaching = Reaching(recordings, original)
        changes = draw(options.seed, options.count, original, options.within)
        for copy in copies:
            free.put(copy)

        def judge(change: Change) -> Verdict:
            place = free.get()
            try:
                return place.judge(change, reaching.tests(change), options.seconds)
            finally:
                free.put(place)

        with ThreadPoolExecutor(options.processes) as pool:
            for verdict in pool.map(judge, changes):
                verdicts.append(verdict)
                text = verdict.report((original / verdict.change.path).read_bytes())
                with log.open("a", encoding="utf-8") as out:
                    print(text, file=out)
                print(text, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    caught = sum(bool(verdict.caught_by) for verdict in verdicts)
    print(f"seed {options.seed}: {caught} of {len(verdicts)} caught")
    return 0 if caught >= options.least * len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
