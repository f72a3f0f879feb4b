"""Tests that reach a change, from recordings of the blocks that they enter."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from tests.mutation.changes import Change
from tests.mutation.recordings import Recording, digest

ROUNDS = 3, 15
"""Tests of a file, the quickest, that run before further ones of any file."""


class Reaching:
    """`recordings`: the latest first; of each file of tests only the latest counts."""

    def __init__(self, recordings: list[Recording], root: Path) -> None:
        self.recordings = recordings
        self.root = root

    def tests(self, change: Change) -> dict[str, float]:
        """Seconds of each test, in the order in which they find most soon: a few of each file first, since tests of one
        file notice much the same, and of files those whose tests take least time and enter least else. The other tests
        of these files come last: what one has computed, another may read from a cache."""
        reached: dict[str, float] = {}
        beside: dict[str, float] = {}
        cost: dict[str, float] = defaultdict(float)
        seen: set[str] = set()
        for recording in self.recordings:
            for number in recording.tests_of(entered(recording, change, self.root)):
                test = recording.tests[number]
                file = test.partition("::")[0]
                if file not in seen and (self.root / file).is_file():
                    reached[test] = recording.seconds[number]
                    cost[file] += recording.seconds[number] * recording.breadth[number]
            for test, took in zip(recording.tests, recording.seconds, strict=True):
                if (file := test.partition("::")[0]) in cost and file not in seen and test not in reached:
                    beside[test] = took
            seen |= recording.files.keys()
        taken: Counter[str] = Counter()
        places = {}
        for test in sorted(reached, key=lambda test: (reached[test], test)):
            file = test.partition("::")[0]
            places[test] = sum(taken[file] >= count for count in ROUNDS), cost[file], test
            taken[file] += 1
        first = {test: reached[test] for test in sorted(reached, key=places.__getitem__)}
        return first | dict(sorted(beside.items(), key=lambda pair: (cost[pair[0].partition("::")[0]], pair[1])))


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
def imports(root: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in (root / "aspenpy").rglob("*.py"):
        modules = found.setdefault(file.relative_to(root).as_posix(), set())
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
