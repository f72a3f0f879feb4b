"""Which tests enter which block: recorded once for all tests, and again for files of tests that changed since."""

from __future__ import annotations

import ast
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy

from tests.mutation.blocks import blocks_of, innermost, mark
from tests.mutation.changes import Change
from tests.mutation.processes import ROOT, copy_checkout, end, start

FOLDER = ROOT / "build" / "mutants"
BEGINS = 0.2
"""Seconds that count for each test beside its own: a hundred short ones say less than ten and one long one."""
COPIED = ("aspenpy/initialisers.py",)
"""Files whose code others copy when they are imported: a change reaches the copies if all is imported again."""
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
        tree = ast.parse((self.root / change.path).read_bytes())
        blocks = list(blocks_of(change.path, tree))
        of_file = [self.numbers[block.name] for block in blocks if block.name in self.numbers]
        if not change.function:
            of_file = self.uses(name_of_constant(tree, change.line)) or of_file
        name = innermost(blocks, change.line) if change.function else None
        number = self.numbers.get(name or "")
        begin = self.numbers.get(f"{change.path}:{change.function}:0")
        anew = change.path in COPIED or number is None or number >= len(self.imported) or bool(self.imported[number])
        called = of_file if begin is None else [begin]  # a default value is computed on import, and read by each call
        wanted = called if number is None else [number]
        reached = self.entering(wanted) > 0
        if number is not None and not reached.any():
            reached = self.entering(of_file) > 0
        near = self.entering(of_file) / numpy.maximum(1, self.breadth) if change.function else self.rarity(of_file)
        values = {
            self.tests[at]: near[at] * self.nearness(self.tests[at], change.path) / (self.seconds[at] + BEGINS)
            for at in numpy.flatnonzero(reached)
        }
        seconds = dict(zip(self.tests, self.seconds, strict=True))
        order = rank(values)
        files = {file_of(test) for test in order}
        beside = [test for test in self.tests if file_of(test) in files and test not in values]
        return {test: seconds[test] for test in order + sorted(beside, key=lambda test: seconds[test])}, anew

    def rarity(self, wanted: list[int]) -> numpy.ndarray:
        """For each test the sum over some blocks that it enters, of one divided by the tests that do."""
        found = numpy.zeros(len(self.tests))
        for block in wanted:
            enters = self.entering([block])
            found += enters / max(1, enters.sum())
        return found

    def uses(self, constant: str) -> list[int]:
        """The blocks of the package that read what a name stands for, in the file that states it or elsewhere."""
        return sorted(self._blocks_by_word.get(constant, ()))

    @cached_property
    def _blocks_by_word(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for file in sorted((self.root / "aspenpy").rglob("*.py")):
            path = file.relative_to(self.root).as_posix()
            for block in blocks_of(path, ast.parse(file.read_bytes())):
                if block.name in self.numbers:
                    for word in {word_of(node) for statement in block.statements for node in walk_own(statement)}:
                        found.setdefault(word, set()).add(self.numbers[block.name])
        return found

    def nearness(self, test: str, path: str) -> float:
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        folders = set(path.split("/")[1:-1]) & set(test.split("/")[1:-1])
        return (NEAR if folders else 1.0) * (NEAR if f"{module} import" in self.texts[file_of(test)] else 1.0)


def walk_own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without those of statements inside it, which are of other blocks."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr | ast.withitem):
            yield from ast.walk(child)


def word_of(node: ast.AST) -> str:
    """The name by which a node reads something; empty for others."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def name_of_constant(tree: ast.Module, line: int) -> str:
    """The name that a statement outside functions gives to the value on a line; empty where it gives none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno <= line <= int(node.end_lineno or 0):
            return word_of(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return ""


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
