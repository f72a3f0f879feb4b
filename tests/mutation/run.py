"""Draws changes of the package by seed and runs the tests that reach each on a copy: what no test notices is listed.

    python -m tests.mutation.run --seed 7 --count 100
    python -m tests.mutation.run --within aspenpy/explore --count 20

Hits are recorded once, below `build/mutants`; files of tests that changed since are recorded again."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from tests.mutation.changes import Change, places
from tests.mutation.processes import copy_checkout, end, start
from tests.mutation.recordings import FOLDER, Recordings, file_of, record

FIRST = 10.0
"""Seconds of the tests that run before all others: most changes are noticed by the first few."""


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


def batch(tests: dict[str, float], seconds: float) -> dict[str, float]:
    """The tests that take so many seconds together: those of the first few, then the others; in each, tests of a file
    one after the other, since they share what is dear."""
    order: dict[tuple[bool, str], dict[str, float]] = {}
    total = 0.0
    for test, took in tests.items():
        total += took
        if total > seconds and order:
            break
        order.setdefault((total > FIRST, file_of(test)), {})[test] = took
    return {
        test: took for _, group in sorted(order.items(), key=lambda pair: pair[0][0]) for test, took in group.items()
    }


def try_changes(
    changes: list[Change], recordings: Recordings, folder: Path, processes: int, seconds: float
) -> Iterator[tuple[int, str]]:
    """The number of each change and the test that notices it, or nothing, as soon as it is known."""
    tasks: list[dict[str, Any]] = []
    for number, change in enumerate(changes):
        tests, anew = recordings.find_tests(change)
        tasks.append({"number": number, "change": asdict(change), "tests": batch(tests, seconds), "anew": anew})
    files = sorted({file_of(test) for task in tasks if not task["anew"] for test in task["tests"]})
    results = folder / "results"
    results.touch()
    seen, running = 0, []
    try:
        for number in range(processes):
            root = copy_checkout(folder / str(number))
            about = {"seconds": seconds, "tasks": tasks, "files": files}
            (root / ".tasks").write_text(json.dumps(about), encoding="utf-8")
            running.append(start(root, "tests.mutation.trials", str(root / ".tasks"), str(results)))
        going = True
        while going:
            time.sleep(0.2)
            going = any(process.poll() is None for process in running)
            for line in results.read_text(encoding="utf-8").splitlines()[seen:]:
                seen += 1
                verdict = json.loads(line)
                yield verdict["number"], verdict["by"]
    finally:
        end(running)
    if seen < len(changes):
        raise SystemExit(f"{len(changes) - seen} changes were not judged: a process ended")


def report(change: Change, source: bytes, caught_by: str) -> str:
    before, after = change.lines(source)
    return f"{change.path}:{change.line}: {caught_by or 'SURVIVED'}\n  - {before}\n  + {after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--within", default="aspenpy", help="a file or folder, to find what its tests let through")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor, for the tests of one change")
    parser.add_argument("--least", type=float, default=0.92, help="share that has to be caught")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    record(options.processes)
    log = FOLDER / f"seed-{options.seed}.txt"
    caught = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as name, log.open("w", encoding="utf-8") as out:
        original = copy_checkout(Path(name) / "original")
        changes = draw(options.seed, options.count, original, options.within)
        verdicts = try_changes(changes, Recordings(original), Path(name), options.processes, options.seconds)
        for number, caught_by in verdicts:
            caught += bool(caught_by)
            text = report(changes[number], (original / changes[number].path).read_bytes(), caught_by)
            print(text, file=out, flush=True)
            print(text, flush=True)
    print(f"seed {options.seed}: {caught} of {len(changes)} caught")
    return 0 if caught >= options.least * len(changes) else 1


if __name__ == "__main__":
    sys.exit(main())
