"""The tool itself: which changes it makes, which blocks it marks, and that it tells what is caught from what is not."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import numpy
import pytest

from tests.mutation.blocks import blocks_of, mark
from tests.mutation.changes import Change, changeable, places
from tests.mutation.copies import environment
from tests.mutation.reaching import Reaching, entered, imports_from, rank
from tests.mutation.recordings import Recording, record_part
from tests.mutation.run import Copy, batches, draw
from tests.thorough import slow

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
    assert functions["3"] == functions["4"] == ""  # run on import: a limit, and what an argument is by default


def test_marked_blocks() -> None:
    """The blocks that a call enters, run; a block ends behind what may have left the function."""
    blocks, tree = blocks_of("file.py", SOURCE, 5)
    assert [(block.first, block.last) for block in blocks] == [
        (10, 10),
        (11, 11),
        (12, 12),
        (13, 13),
        (14, 14),
        (15, 15),
    ]
    marks = bytearray(11)
    names: dict[str, object] = {}
    tree.body = [statement for statement in tree.body if isinstance(statement, ast.FunctionDef)]
    exec(compile(tree, "file.py", "exec"), {"_marks_": marks}, names)
    function = names["least"]
    function.__globals__["LIMIT"] = 3  # type: ignore[attr-defined]
    assert function(1, 4) == 1  # type: ignore[operator]
    assert list(marks) == [0] * 5 + [1, 1, 0, 0, 0, 0]
    marks[:] = bytes(11)
    assert function(6, 4) == 2  # type: ignore[operator]
    assert list(marks) == [0] * 5 + [1, 0, 1, 1, 1, 1]


def test_tests_that_enter_a_block() -> None:
    blocks, _ = blocks_of("aspenpy/no_such_file.py", SOURCE)
    rows = numpy.packbits(numpy.array([[1, 1, 0, 0, 0, 0], [1, 0, 1, 1, 0, 1]], dtype=numpy.uint8), axis=1)
    recording = Recording({}, {}, blocks, ["a", "b"], [1.0, 2.0], rows)
    assert recording.tests_of([1]) == {0}
    assert recording.tests_of([0, 5]) == {0, 1}
    assert recording.tests_of([4]) == set()
    assert recording.breadth == [2, 4]


def test_the_innermost_block_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, _ = blocks_of("aspenpy/version.py", SOURCE)
    monkeypatch.setattr("tests.mutation.reaching.digest", lambda file: "as it was")
    recording = Recording({}, {"aspenpy/version.py": "as it was"}, blocks, [], [], numpy.zeros((0, 1), numpy.uint8))
    found = [
        entered(recording, Change("aspenpy/version.py", line, "least", 0, 0, ""), tmp_path) for line in (10, 11, 14)
    ]
    assert found == [[0], [1], [4]]
    changed_since = Recording({}, {"aspenpy/version.py": "other"}, blocks, [], [], recording.rows)
    assert entered(changed_since, Change("aspenpy/version.py", 11, "least", 0, 0, ""), tmp_path) == [0, 1, 2, 3, 4, 5]


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
    assert [list(batch) for batch in batches({"a": 4.0, "b": 5.0, "c": 30.0, "d": 90.0})] == [["a", "b"], ["c"], ["d"]]


def test_tests_of_a_file_run_one_after_the_other() -> None:
    tests = {"a::x": 1.0, "b::x": 1.0, "a::y": 1.0, "b::y": 8.0, "a::z": 1.0}
    assert [list(batch) for batch in batches(tests)] == [["a::x", "a::y", "b::x"], ["b::y", "a::z"], []]


def test_near_and_short_tests_run_first() -> None:
    """Half of what a test enters in 0.8 s is worth as much as a quarter in 0.3 s; the second of a function is worth
    half as much, and the third of a file a third."""
    seconds = {"a::near": 0.8, "b::far": 0.8, "b::short": 0.3, "c::x[1]": 0.8, "c::x[2]": 0.8, "c::y": 0.8}
    near = {"a::near": 0.5, "b::far": 0.25, "b::short": 0.25, "c::x[1]": 0.5, "c::x[2]": 0.5, "c::y": 0.3}
    assert rank(seconds, near) == pytest.approx(
        {"a::near": 0.5, "b::short": 0.5, "b::far": 0.125, "c::x[1]": 0.5, "c::y": 0.15, "c::x[2]": 0.25 / 3}
    )


def test_tests_of_a_module_import_from_it(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(
        "from aspenpy.expr import graph\nfrom aspenpy.expr.node import Expr\nimport numpy\n", encoding="utf-8"
    )
    found = [imports_from(file, f"aspenpy/expr/{name}.py") for name in ("graph", "node", "__init__", "printing")]
    assert found == [True, True, True, False]


def test_caught_and_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a copy of one file: a change that a test notices, one that hangs, and one that nothing notices."""
    root = tmp_path / "checkout"
    (root / "aspenpy").mkdir(parents=True)
    (root / "aspenpy" / "__init__.py").touch()
    (root / "aspenpy" / "twice.py").write_text(
        "def twice(x):\n    while x < 0:\n        x += 8\n    return 2 * x\n", encoding="utf-8"
    )
    (root / "tests" / "mutation").mkdir(parents=True)
    for name in ("plugin", "copies"):
        (root / "tests" / "mutation" / f"{name}.py").write_bytes((Path(__file__).parent / f"{name}.py").read_bytes())
    (root / "test_twice.py").write_text(
        "from aspenpy.twice import twice\ndef test_twice():\n    assert twice(2) == 4\n    assert twice(-8) == 0\n",
        encoding="utf-8",
    )
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setattr("tests.mutation.run.copy_checkout", lambda folder: root)
    monkeypatch.setattr("tests.mutation.run.HUNG", (5.0, 10.0))
    copy = Copy(root, {})
    source = (root / "aspenpy" / "twice.py").read_bytes()

    def caught(before: str, after: str) -> str:
        start = source.index(before.encode())
        change = Change("aspenpy/twice.py", 1, "twice", start, start + len(before), after)
        return copy.judge(change, {"test_twice.py::test_twice": 0.1}, 100.0).caught_by

    assert caught("2 * x", "2 + x * 2") == "test_twice.py::test_twice"
    assert caught("x += 8", "pass") == "test_twice.py::test_twice"
    assert caught("def twice", "raise ValueError\ndef twice") == "the import of the tests"
    assert caught("x < 0", "x <= -1") == ""
    assert (root / "aspenpy" / "twice.py").read_bytes() == source


def test_a_copy_has_its_own_package_and_caches(tmp_path: Path) -> None:
    found = environment(tmp_path, MUTATION_LIMITS="x")
    assert found["PYTHONPATH"] == str(tmp_path)
    assert found["XDG_CACHE_HOME"].startswith(str(tmp_path))
    assert found["MUTATION_LIMITS"] == "x"


@slow
def test_recorded_tests(tmp_path: Path) -> None:
    """The text of the package stays as it is, blocks that a fixture enters are entered by each of its tests, those of
    a function copied with other globals too, and tests that fail, end the process or do not end are told, and keep no
    other from being recorded."""
    root = tmp_path / "checkout"
    (root / "aspenpy").mkdir(parents=True)
    (root / "aspenpy" / "__init__.py").touch()
    source = "def once():\n    return 1\ndef twice(x):\n    if x:\n        return 2 * x\n    return 0\n"
    (root / "aspenpy" / "twice.py").write_text(source, encoding="utf-8")
    (root / "tests" / "mutation").mkdir(parents=True)
    text = (Path(__file__).parent / "plugin.py").read_text(encoding="utf-8")
    (root / "tests" / "mutation" / "plugin.py").write_text(
        text.replace("LONGEST = 400.0", "LONGEST = 3.0"), encoding="utf-8"
    )
    (root / "test_a.py").write_text(
        "import os, time, pytest\nfrom pathlib import Path\nfrom aspenpy import twice\n"
        "@pytest.fixture(scope='module')\ndef one():\n    return type(twice.once)(twice.once.__code__, {})()\n"
        "def test_zero(one):\n    assert twice.twice(0) == 0\n"
        "def test_ends():\n    os._exit(3)\n"
        "def test_hangs():\n    time.sleep(1000)\n"
        "def test_fails():\n    assert twice.twice(0)\n"
        "def test_four(one):\n    assert twice.twice(2) == 4\n"
        "    assert 'marks' not in Path(twice.__file__).read_text()\n",
        encoding="utf-8",
    )
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    blocks = mark(root)
    assert [block.first for block in blocks] == [2, 4, 5, 6]
    told = record_part(root, tmp_path / "0", ["test_a.py"])
    assert [line.rpartition("::")[2] for line in told.splitlines()] == ["test_ends", "test_hangs", "test_fails"]
    assert (root / "aspenpy" / "twice.py").read_text(encoding="utf-8") == source
    rows = numpy.load(tmp_path / "0.npz")
    assert rows["tests"].tolist() == ["test_a.py::test_zero", "test_a.py::test_four"]
    assert numpy.unpackbits(rows["rows"], axis=1)[:, :4].tolist() == [[1, 1, 0, 1], [1, 1, 1, 0]]


def test_other_tests_of_a_file_run_last(tmp_path: Path) -> None:
    blocks, _ = blocks_of("aspenpy/no_such_file.py", SOURCE)
    rows = numpy.packbits(numpy.array([[1, 1], [0, 0], [0, 0]], dtype=numpy.uint8), axis=1)
    for name in "ab":
        (tmp_path / f"{name}.py").touch()
    recording = Recording(
        dict.fromkeys(["a.py", "b.py"], ""), {}, blocks, ["a.py::x", "a.py::y", "b.py::z"], [2.0, 1.0, 1.0], rows
    )
    change = Change("aspenpy/no_such_file.py", 10, "least", 0, 0, "")
    (tmp_path / "aspenpy").mkdir()
    (tmp_path / change.path).write_text(SOURCE, encoding="utf-8")
    assert list(Reaching([recording], tmp_path).tests(change)) == ["a.py::x", "a.py::y"]
