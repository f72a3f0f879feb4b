"""Which tests enter which block: recorded once for all tests, and again for files of tests that changed since."""

from __future__ import annotations

import ast
import json
import tempfile
from collections import Counter
from functools import cached_property
from pathlib import Path

import numpy

from tests.mutation.blocks import blocks_of, innermost, mark
from tests.mutation.changes import Change
from tests.mutation.processes import ROOT, copy_checkout, end, start

FOLDER = ROOT / "build" / "mutants"
BEGINS = 0.2
"""Seconds that count for each test beside its own: a hundred short ones say less than ten and one long one."""
NEAR = 3.0
"""How much more tests are worth whose file lies in a folder of the changed file's name, or imports from it."""


def record(processes: int, target: Path = FOLDER) -> None:
    """Brings what is recorded up to date: files of tests that are as they were are left."""
    target.mkdir(parents=True, exist_ok=True)
    names = target / "blocks.json"
    numbers = json.loads(names.read_text(encoding="utf-8")) if names.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        running = []
        try:
            for number in map(str, range(processes)):
                root = copy_checkout(Path(folder) / number)
                mark(root, numbers)
                names.write_text(json.dumps(numbers), encoding="utf-8")
                arguments = (str(target), number, str(processes))
                running.append(start(root, "tests.mutation.recorder", *arguments, MUTATION_MARKS=str(root / ".marks")))
            for process in running:
                process.wait()
        finally:
            end(running)


class Recordings:
    """Rows of bits: for each test the blocks it enters. `root` holds the files as they are now."""

    def __init__(self, root: Path, folder: Path = FOLDER) -> None:
        self.root = root
        self.numbers: dict[str, int] = json.loads((folder / "blocks.json").read_text(encoding="utf-8"))
        files = [file for file in sorted(folder.glob("*.npz")) if (root / file.stem.replace("+", "/")).exists()]
        parts = [numpy.load(file) for file in files]
        width = (len(self.numbers) + 7) // 8
        rows = [part["rows"] for part in parts]
        self.rows = numpy.concatenate([numpy.pad(row, ((0, 0), (0, width - row.shape[1]))) for row in rows])
        self.tests = [str(test) for part in parts for test in part["tests"]]
        self.seconds = [float(seconds) for part in parts for seconds in part["seconds"]]
        self.imported = numpy.load(folder / "imported.npy")
        """Whether each block is entered before any test runs, on import."""

    @cached_property
    def breadth(self) -> numpy.ndarray:
        """How many blocks each test enters."""
        return numpy.array([int(numpy.unpackbits(row).sum()) for row in self.rows])

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each file of tests imports from the package, as it is written."""
        return {file: (self.root / file).read_text(encoding="utf-8") for file in {file_of(test) for test in self.tests}}

    def entering(self, wanted: list[int]) -> numpy.ndarray:
        """How many of some blocks each test enters."""
        found = numpy.zeros(len(self.tests), numpy.int64)
        for block in wanted:
            found += self.rows[:, block // 8] >> (7 - block % 8) & 1
        return found

    def find_tests(self, change: Change) -> tuple[dict[str, float], bool]:
        """Seconds of each test that reaches a change, in the order in which they find most soon, and whether what is
        changed is run on import. The other tests of the same files come last: what one has computed, another may read
        from a cache."""
        blocks = list(blocks_of(change.path, ast.parse((self.root / change.path).read_bytes())))
        of_file = [self.numbers[block.name] for block in blocks if block.name in self.numbers]
        name = innermost(blocks, change.line) if change.function else None
        number = self.numbers.get(name or "")
        anew = number is None or number >= len(self.imported) or bool(self.imported[number])
        wanted = of_file if number is None else [number]
        reached = self.entering(wanted) > 0
        if number is not None and not reached.any():
            reached = self.entering(of_file) > 0
        near = self.entering(of_file) / numpy.maximum(1, self.breadth)
        values = {
            self.tests[at]: near[at] * self.nearness(self.tests[at], change.path) / (self.seconds[at] + BEGINS)
            for at in numpy.flatnonzero(reached)
        }
        seconds = dict(zip(self.tests, self.seconds, strict=True))
        order = rank(values)
        files = {file_of(test) for test in order}
        beside = [test for test in self.tests if file_of(test) in files and test not in values]
        return {test: seconds[test] for test in order + sorted(beside, key=lambda test: seconds[test])}, anew

    def nearness(self, test: str, path: str) -> float:
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        folders = set(path.split("/")[1:-1]) & set(test.split("/")[1:-1])
        return (NEAR if folders else 1.0) * (NEAR if f"{module} import" in self.texts[file_of(test)] else 1.0)


def rank(values: dict[str, float]) -> list[str]:
    """Tests by what a second of each is worth; less for each test of the same function, and again of the same file,
    that is worth more, since they notice much the same."""
    for group in (lambda test: test.partition("[")[0], file_of):
        before: Counter[str] = Counter()
        ranked = {}
        for test in sorted(values, key=lambda test: (-values[test], test)):
            ranked[test] = values[test] / (1 + before[group(test)])
            before[group(test)] += 1
        values = ranked
    return sorted(values, key=lambda test: (-values[test], test))


def file_of(test: str) -> str:
    return test.partition("::")[0]
