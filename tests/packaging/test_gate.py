"""Files that a user names are opened by `aspenpy/language/opening.py`: nowhere else in the package is a file read, but
where it is the package's own, the system's, or one that a program has just written."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]

READING = {"read_text", "read_bytes", "fromfile", "loadtxt", "genfromtxt", "read_csv", "read_table", "ParquetFile",
           "memmap", "load", "connect"}  # fmt: skip
MODULES = {"load": ("numpy", "np", "pickle", "marshal"), "connect": ("sqlite3",)}
"""Of names that mean other things elsewhere, the modules in which they open files."""

ELSEWHERE = {
    "aspenpy/extract/exported_program.py": "a member of an archive that the gate has read",
    "aspenpy/language/opening.py": "the gate",
    "aspenpy/language/files.py": "what has been written is copied, and waited for until it is on the disk",
    "aspenpy/language/tables.py": "the grammar, this module, and the cache of its tables",
    "aspenpy/page/what_if.py": "parts of the page",
    "aspenpy/engine/c_text.py": "helpers in C",
    "aspenpy/engine/javascript_text.py": "helpers in JavaScript",
    "aspenpy/engine/llvm_text.py": "helpers in LLVM's language",
    "aspenpy/models/machine/texts.py": "templates of machines",
    "aspenpy/traces/hierarchy.py": "caches in C",
    "aspenpy/extract/recorders/__init__.py": "recorders in C",
    "aspenpy/probe/probe.py": "counters of the kernel in /sys",
    "aspenpy/probe/topology.py": "what the kernel says in /sys and /proc",
    "aspenpy/advice/system_ranges.py": "what the kernel says in /sys",
    "aspenpy/learn/measurements/measure.py": "counters of the kernel in /sys, and what perf has just written",
    "aspenpy/learn/measurements/cube.py": "an archive in memory, from the gate",
    "aspenpy/learn/measurements/records.py": "SQLite opens what the gate has found to be a store",
    "aspenpy/learn/measurements/read.py": "Parquet in memory, from the gate",
    "aspenpy/sweeps/run.py": "the work of a sweep, written for its own processes",
    "aspenpy/sweeps/store.py": "the lock of a store, and the space that a result takes",
    "aspenpy/answers/incore.py": "what OSACA has just written",
    "aspenpy/shell/registry.py": "the names of commands in the texts of their modules",
    "aspenpy/shell/output.py": "the device that takes what nobody reads",
}


def openings(text: str) -> list[str]:
    """What a module calls that opens a file to read."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            name, owner = node.func.id, ""
        elif isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, ast.unparse(node.func.value)
        else:
            continue
        opens = name in READING and owner.split(".")[0] in MODULES.get(name, (owner.split(".")[0],))
        if opens or (name in ("open", "fdopen") and not _writes(node)):
            found.append(ast.unparse(node))
    return found


def _writes(call: ast.Call) -> bool:
    """Whether a mode of writing is stated."""
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and str(mode.value) in ("w", "wb", "x", "xb", "a") for mode in modes)


def test_files_are_read_at_the_gate_alone() -> None:
    found = {}
    for file in sorted((ROOT / "aspenpy").rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if calls := openings(file.read_text(encoding="utf-8")):
            found[name] = calls
    assert {name: calls for name, calls in found.items() if name not in ELSEWHERE} == {}
    assert sorted(ELSEWHERE.keys() - found.keys()) == []


def test_openings_are_seen() -> None:
    text = (
        "open(a)\nopen(a, 'wb')\nPath(a).read_text()\nnumpy.load(a)\nmodel.load(a)\nsqlite3.connect(a)\nx.open('w')\n"
    )
    assert openings(text) == ["open(a)", "Path(a).read_text()", "numpy.load(a)", "sqlite3.connect(a)"]
