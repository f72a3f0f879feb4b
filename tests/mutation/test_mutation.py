"""The tool itself: which changes it makes, which blocks it marks, and that it tells what is caught from what is not."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.mutation.blocks import blocks_of, innermost, marked
from tests.mutation.changes import Change, changeable, places
from tests.mutation.processes import ROOT
from tests.mutation.recordings import Recordings, rank, record
from tests.mutation.run import batch, draw, try_changes
from tests.mutation.trials import IMPORT

SOURCE = '''\
"""Docstring."""

from __future__ import annotations

LIMIT = 3


def least(a: int, b: int = 4) -> int:
    """The smaller one; é."""
    if a < b and not a == LIMIT:
        return min(a, b)
    for step in range(a):
        if step > 2:
            continue
    return a - b
'''


def changed(text: str) -> set[str]:
    """The lines that changes of a text leave."""
    source = text.encode()
    found = set()
    for place in places("file.py", source):
        for seed in range(20):
            change = place(Random(seed))
            if change is not None:
                found.add(change.lines(source)[1])
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", {"x = (a <= b)", "x = (a > b)"}),
        ("x = a and b", {"x = (a or b)"}),
        ("x = not a", {"x = (a)"}),
        ("x = 7", {"x = (8)", "x = (6)"}),
        ("x = True", {"x = (False)"}),
        ("x = a - b", {"x = (a + b)"}),
        ("x = min(a)", {"x = (max(a))"}),
        ("x = f(a, b)", {"x = (f(b, a))"}),
        ("x = min(a, b)", {"x = (max(a, b))"}),
        ("x = v.plus(a, b)", set()),
        ("x = graph.mul(a, b)", set()),
        ("x = a if b else c", {"x = (c if b else a)"}),
        ("if a: b()", {"if (not a): b()", "if a: pass"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if (not a)]"}),
        ("é = 'é', -1", {"é = 'é', (1)", "é = 'é', -(2)", "é = 'é', -(0)"}),
        ("x += y", {"pass"}),
        ("x = a - 0 * b", {"x = a - (0 / b)", "x = a - (1) * b", "x = a - (-1) * b"}),
        ("x: List[3]", set()),
        ("x = s.values([a])[0]", {"x = s.values([a])[(1)]"}),
        ("x = s.values([a, b])[0]", {"x = s.values([a, b])[(1)]", "x = s.values([a, b])[(-1)]"}),
        ("x = f([a])[0]", {"x = f([a])[(1)]", "x = f([a])[(-1)]"}),
        ("x = zip(a, strict=True)", set()),
        ("wait(timeout=3)", {"pass"}),
        ("sleep(3)", {"pass"}),
        ("x = a if a < b else b", {"x = a if (a > b) else b", "x = (b if a < b else a)"}),
        ("if a >= b: a = b", {"if (a <= b): a = b", "if (not a >= b): a = b"}),
        ("if a >= b: a = c", {"if (a <= b): a = c", "if (a > b): a = c", "if (not a >= b): a = c"}),
        ("while a:\n    if b: continue", {"while (not a):", "if (not b): continue"}),
        ("while a:\n    if b: continue\n    a, b", {"while (not a):", "if (not b): continue", "if b: pass"}),
        ("x = f'{a + 1}'", set()),
        ("if TYPE_CHECKING:\n    import x\n    y = 3", set()),
    ],
)
def test_changes(text: str, expected: set[str]) -> None:
    assert changed(text) == expected


def test_changes_know_their_function() -> None:
    functions = {ast.unparse(pairs[0][0]): function for pairs, function in changeable(ast.parse(SOURCE))}
    assert functions["a == LIMIT"] == functions["min(a, b)"] == "least"
    assert functions["4"] == "least"  # by default
    assert functions["3"] == ""  # a limit, which is read on import


def test_marked_blocks() -> None:
    """The blocks that a call enters, run; a block ends behind what may have left the function."""
    blocks = list(blocks_of("file.py", ast.parse(SOURCE)))
    assert {block.name: (block.first, block.last) for block in blocks} == {
        "file.py:least:0": (10, 11),
        "file.py:least:1": (12, 14),
        "file.py:least:2": (15, 15),
        "file.py:least:3": (11, 11),
        "file.py:least:4": (13, 14),
        "file.py:least:5": (14, 14),
    }
    assert [innermost(blocks, line) for line in (3, 10, 11, 15)] == [
        None,
        "file.py:least:0",
        "file.py:least:3",
        "file.py:least:2",
    ]
    numbers = {"other": 0, "file.py:least:5": 1}
    tree = marked("file.py", ast.parse(SOURCE), numbers)
    assert list(numbers.values()) == list(range(7))
    names: dict[str, Any] = {"_marks_": bytearray(7)}
    exec(compile(tree, "file.py", "exec", dont_inherit=True), names)

    def entered(*arguments: int) -> list[int]:
        names["_marks_"][:] = bytes(7)
        names["least"](*arguments)
        return [int(name[-1]) for name, number in numbers.items() if names["_marks_"][number]]

    assert entered(1, 4) == [0, 3]
    assert sorted(entered(6, 4)) == [0, 1, 2, 4, 5]
    assert sorted(entered(1, 1)) == [0, 1, 2, 4]


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    (tmp_path / "aspenpy").mkdir()
    for name in "ab":
        (tmp_path / "aspenpy" / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    first, second, other = draw(3, 5, tmp_path), draw(3, 5, tmp_path), draw(4, 5, tmp_path)
    assert first == second
    assert first != other
    assert len({(change.path, change.start, change.text) for change in first}) == 5
    assert {change.path for change in draw(3, 9, tmp_path)} == {"aspenpy/a.py", "aspenpy/b.py"}
    assert {change.path for change in draw(3, 9, tmp_path, "aspenpy/a.py")} == {"aspenpy/a.py"}


def test_few_tests_run_first() -> None:
    """Those of the first ten seconds come before all others; in both, tests of a file one after the other."""
    tests = {"a::x": 4.0, "b::x": 4.0, "a::y": 1.0, "b::y": 8.0, "c::x": 2.0, "b::z": 1.0, "c::y": 90.0}
    assert list(batch(tests, 30.0)) == ["a::x", "a::y", "b::x", "b::y", "b::z", "c::x"]
    assert list(batch({"a::x": 90.0, "b::x": 1.0}, 30.0)) == ["a::x"]


def test_tests_that_are_worth_more_run_first() -> None:
    """The second of a function is worth half as much, and the third of a file a third."""
    values = {"a::near": 0.5, "b::short": 0.5, "b::far": 0.25, "c::x[1]": 0.5, "c::x[2]": 0.5, "c::y": 0.3}
    assert rank(values) == ["a::near", "b::short", "c::x[1]", "c::y", "b::far", "c::x[2]"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of one module with its tests, which the tools take for a checkout."""
    root = tmp_path_factory.mktemp("mutation") / "checkout"
    for folder in ("aspenpy", "tests/mutation"):
        (root / folder).mkdir(parents=True)
    for name in ("blocks", "changes", "processes", "recorder", "recordings", "trials"):
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        text = text.replace("HUNG = 6.0, 5.0", "HUNG = 1.0, 1.0")
        (root / "tests" / "mutation" / f"{name}.py").write_text(text, encoding="utf-8")
    (root / "aspenpy" / "__init__.py").touch()
    (root / "aspenpy" / "twice.py").write_text(PACKAGE, encoding="utf-8")
    (root / "tests" / "test_twice.py").write_text(TESTS, encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\npythonpath = .\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


PACKAGE = """\
def once():
    return 1

LIMIT = 8
TABLE = [once(), LIMIT]

def twice(x, by=2):
    while x < 0:
        x += LIMIT
    return by * x

def least(a, b):
    return min([a, b], key=lambda x: (x, x))
"""
TESTS = """\
import os, subprocess, sys, time, pytest
from pathlib import Path
from aspenpy import twice
from aspenpy.twice import least as smaller
@pytest.fixture(scope='module')
def one():
    return type(twice.once)(twice.once.__code__, {})()
def test_zero(one):
    assert twice.twice(0) == 0
def test_ends():
    os._exit(3)
def test_fails():
    assert twice.twice(0)
def test_four(one):
    assert twice.twice(2) == 4
    assert twice.twice(-8) == 0
    assert 'marks' not in Path(twice.__file__).read_text()
def test_table():
    assert twice.TABLE == [1, 8]
def test_smaller():
    assert smaller(3, 4) == 3
def test_process():
    text = 'from aspenpy.twice import least; assert least(4, 3) == 3'
    subprocess.run([sys.executable, '-c', text], check=True)
"""


@pytest.fixture(scope="module")
def recordings(checkout: Path) -> Recordings:
    folder = checkout.with_name("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.mutation.processes.ROOT", checkout)
        record(1, folder)
    return Recordings(checkout, folder)


def test_recorded_tests(checkout: Path, recordings: Recordings) -> None:
    """Blocks that a fixture enters are entered by each of its tests, those of a function copied with other globals and
    those of child processes too; tests that fail or end the process keep no other from being recorded."""
    entered = {
        test.partition("::")[2]: {
            name for name, number in recordings.numbers.items() if recordings.entering([number])[at]
        }
        for at, test in enumerate(recordings.tests)
    }
    once, least = "aspenpy/twice.py:once:0", "aspenpy/twice.py:least:0"
    twice = [f"aspenpy/twice.py:twice:{number}" for number in range(3)]
    assert entered == {
        "test_zero": {once, twice[0], twice[1]},
        "test_four": {once, *twice},
        "test_table": set(),
        "test_smaller": {least},
        "test_process": {least, once},  # which it imports
    }
    assert (checkout / "aspenpy" / "twice.py").read_text(encoding="utf-8") == PACKAGE


def change_of(before: str, after: str, function: str) -> Change:
    start = PACKAGE.index(before)
    line = PACKAGE[:start].count("\n") + 1
    return Change("aspenpy/twice.py", line, function, start, start + len(before), after)


def test_tests_that_reach_a_change(recordings: Recordings) -> None:
    def found(change: Change) -> tuple[list[str], bool]:
        tests, anew = recordings.find_tests(change)
        return [test.partition("::")[2] for test in tests], anew

    assert found(change_of("x += LIMIT", "pass", "twice"))[0][0] == "test_four"
    assert set(found(change_of("by * x", "x", "twice"))[0][:2]) == {"test_zero", "test_four"}
    assert found(change_of("8", "9", ""))[0][0] == "test_four"  # whose block reads `LIMIT`
    tests, anew = found(change_of("by=2", "by=3", "twice"))
    assert (set(tests[:2]), anew) == ({"test_zero", "test_four"}, True)
    assert [found(change_of(*each))[1] for each in CHANGES] == [False, False, False, True, True, True]


CHANGES = [
    ("by * x", "3 * x", "twice"),
    ("x += LIMIT", "pass", "twice"),
    ("by * x", "x * by", "twice"),
    ("8", "9", ""),
    ("return 1", "return 2", "once"),
    ("LIMIT = 8", "LIMIT = 8 / 0", ""),
]
"""Caught, one by a hang and one where no test can be imported; the third is none that a test could notice."""


def test_caught_and_survived(checkout: Path, recordings: Recordings, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.mutation.processes.ROOT", checkout)
        verdicts = try_changes([change_of(*each) for each in CHANGES], recordings, tmp_path, 1, 60.0)
        found = {number: test.partition("::")[2] or test for number, test in verdicts}
    assert found == {0: "test_four", 1: "test_four", 2: "", 3: "test_four", 4: "test_table", 5: IMPORT}
    assert (tmp_path / "0" / "aspenpy" / "twice.py").read_text(encoding="utf-8") == PACKAGE


def test_what_runs_while_the_interpreter_ends_is_not_marked() -> None:
    """The marks are gone by then, and tests of what processes write would read of it."""
    source, numbers = (ROOT / "aspenpy" / "expr" / "node.py").read_text(encoding="utf-8"), dict[str, int]()
    functions = {
        node.name: ast.unparse(node)
        for node in marked("aspenpy/expr/node.py", ast.parse(source), numbers).body
        if isinstance(node, ast.FunctionDef)
    }
    assert "_marks_" not in functions.pop("_forget_node")
    assert all("_marks_" in text for text in functions.values())
