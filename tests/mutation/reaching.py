"""Tests that reach a change, from recordings of the blocks that they enter."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.mutation.changes import Change
from tests.mutation.recordings import Recording, digest

BEGINS = 0.2
"""Seconds that count for each test beside its own: a hundred short ones in a row say less than ten and one long one."""
IMPORTED = 3.0
"""How much nearer to a changed file tests are that import from it."""
NEIGHBOURS = 2.0
"""How much nearer those are that lie in a folder of its name: `tests/network` of `aspenpy/cost/network`."""


class Reaching:
    """`recordings`: the latest first; of each file of tests only the latest counts."""

    def __init__(self, recordings: list[Recording], root: Path) -> None:
        self.recordings = recordings
        self.root = root

    def tests(self, change: Change) -> dict[str, float]:
        """Seconds of each test, in the order in which they find most soon. The other tests of the same files come last:
        what one has computed, another may read from a cache."""
        reached: dict[str, float] = {}
        beside: dict[str, float] = {}
        nearness: dict[str, float] = {}
        seen: set[str] = set()
        for recording in self.recordings:
            of_file = recording.count_entered(change.path)
            for number in recording.tests_of(entered(recording, change, self.root)):
                test = recording.tests[number]
                file = test.partition("::")[0]
                if file not in seen and (self.root / file).is_file():
                    reached[test] = recording.seconds[number]
                    near = of_file[number] / max(1, recording.breadth[number])
                    near *= IMPORTED if imports_from(self.root / file, change.path) else 1.0
                    nearness[test] = near * (NEIGHBOURS if folders(file) & folders(change.path) else 1.0)
            files = files_of(reached)
            for test, took in zip(recording.tests, recording.seconds, strict=True):
                if (file := test.partition("::")[0]) in files and file not in seen and test not in reached:
                    beside[test] = took
            seen |= recording.files.keys()
        values = rank(reached, nearness)
        best: dict[str, float] = {}
        for test, value in values.items():
            file = test.partition("::")[0]
            best[file] = max(value, best.get(file, 0.0))
        first = {test: reached[test] for test in sorted(reached, key=lambda test: (-values[test], test))}
        return first | dict(
            sorted(beside.items(), key=lambda pair: (-best[pair[0].partition("::")[0]], pair[1], pair[0]))
        )


def rank(seconds: dict[str, float], nearness: dict[str, float]) -> dict[str, float]:
    """What a second of each test is worth: the share of what it enters that stands in the changed file, over its
    seconds; less for each test of the same function, and again of the same file, that is worth more, since they notice
    much the same."""
    values = {test: nearness[test] / (took + BEGINS) for test, took in seconds.items()}
    for group in (lambda test: test.partition("[")[0], lambda test: test.partition("::")[0]):
        before: Counter[str] = Counter()
        ranked = {}
        for test in sorted(values, key=lambda test: (-values[test], test)):
            ranked[test] = values[test] / (1 + before[group(test)])
            before[group(test)] += 1
        values = ranked
    return values


def folders(path: str) -> set[str]:
    """Names of the folders of a file, but for the outermost."""
    return set(path.split("/")[1:-1])


def files_of(tests: Iterable[str]) -> set[str]:
    return {test.partition("::")[0] for test in tests}


@cache
def imports_from(file: Path, path: str) -> bool:
    """Whether a file of tests imports from a file of the package."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") in imported_modules(file)


def entered(recording: Recording, change: Change, root: Path) -> list[int]:
    """Blocks of which one is entered where the changed place is run. What stands outside functions is run on import:
    there it is all blocks of the file and of the files that import from it. Where the file changed since, it is the
    function."""
    if not change.function:
        files = {change.path, *importing(change.path, root)}
        return [number for number, block in enumerate(recording.blocks) if block.path in files]
    own = [(number, block) for number, block in enumerate(recording.blocks) if block.path == change.path]
    inside = [number for number, block in own if block.function == change.function]
    if recording.sources.get(change.path) != digest(root / change.path):
        return inside or [number for number, _ in own]
    around = [pair for pair in own if pair[1].first <= change.line <= pair[1].last]
    if not around:
        return inside
    return [min(around, key=lambda pair: pair[1].last - pair[1].first)[0]]


@cache
def importing(path: str, root: Path) -> frozenset[str]:
    """Files of the package that import from a file at their top or anywhere inside."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return frozenset(file for file, modules in imports(root).items() if module in modules)


@cache
def imports(root: Path) -> dict[str, frozenset[str]]:
    return {file.relative_to(root).as_posix(): imported_modules(file) for file in (root / "aspenpy").rglob("*.py")}


@cache
def imported_modules(file: Path) -> frozenset[str]:
    """Names that a file imports from, and of what it imports from them, which may be modules too."""
    nodes = [
        node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.ImportFrom) and node.module
    ]
    return frozenset(f"{node.module}.{alias.name}" for node in nodes for alias in node.names) | {
        str(node.module) for node in nodes
    }
