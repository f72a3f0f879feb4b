"""The rooms of CONTRIBUTING.md are all there are, and imports run through them in the order of that table: those inside
functions, those for type checkers and strings that name modules count as any other."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).parents[2]
ENTRANCES = {"__init__", "__main__"}

START_UP = {
    "aspenpy/__init__.py": "the table of public names, each imported when it is first used",
    "aspenpy/__main__.py": "the program begins before anything else is imported, so that Ctrl-C ends it quietly",
    "aspenpy/shell/main.py": "the table of commands, of which one is imported",
    "aspenpy/shell/output.py": "rich and Pygments draw on terminals only",
    "aspenpy/shell/commands/connections.py": "the server needs pygls, an extra; help and what is missing need it not",
    "aspenpy/shell/commands/expr.py": "SymPy and the C writer serve one form of a formula each",
    "aspenpy/language/parser.py": "what is wrong with a text is worked out when something is",
    "aspenpy/expr/__init__.py": "closed forms serve sums over counters",
    "aspenpy/expr/cache_windows.py": "NumPy counts lines in the sets of a cache",
    "aspenpy/expr/evaluate.py": "NumPy runs the loops that are too long for exact arithmetic",
    "aspenpy/tables/pages.py": "plots are drawn where a result has one",
    "aspenpy/models/application/load.py": "dimensions are inferred of a text that was not checked before",
    "aspenpy/models/machine/load.py": "dimensions are inferred of a text that was not checked before",
    "aspenpy/shell/operands.py": "few commands take a quantity with its unit",
    "aspenpy/shell/options.py": "networks are read where `--with` names one",
    "aspenpy/models/library.py": "the formatter serves one command",
    "aspenpy/models/model.py": "the text of a model is written where it is wanted",
    "aspenpy/cost/serial_time.py": "networks are priced where ranks send messages",
    "aspenpy/cost/memory.py": "traffic through caches is worked out where accesses have patterns",
    "aspenpy/answers/scope.py": "networks are looked at where a parameter of their shape is set",
    "aspenpy/answers/data_warnings.py": "what a run touches is worked out where the data do not fit",
    "aspenpy/answers/evaluation.py": "energies and SymPy serve few predictions",
    "aspenpy/answers/prediction.py": "what few ask of it: prepared functions, explanations, cycles, uneven sweeps",
}
"""Files that may import modules of the package inside functions, and why."""


def rooms() -> list[str]:
    """In the order of the table."""
    rows = re.findall(r"^\| `aspenpy/.*? \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`aspenpy/(\w+)(?:\.py|/)`", row)]


@cache
def files() -> dict[str, Path]:
    """Of the package, by the name of the module."""
    found = {}
    for file in sorted((ROOT / "aspenpy").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def imports(file: Path, modules: frozenset[str]) -> list[tuple[str, bool]]:
    """Modules of the package that a file imports anywhere, and whether that is inside a function."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "aspenpy":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.append((whole if whole in modules else str(node.module), inside))
        elif isinstance(node, ast.Import):
            found.extend((alias.name, inside) for alias in node.names if alias.name.split(".")[0] == "aspenpy")
        elif isinstance(node, ast.Constant) and node.value in modules and node.value != "aspenpy":
            found.append((node.value, False))
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            start = str(node.values[0].value)
            if start.startswith("aspenpy.") and start.endswith("."):
                found.extend((module, False) for module in modules if module.startswith(start))
        for child in ast.iter_child_nodes(node):
            visit(child, inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    visit(ast.parse(file.read_text(encoding="utf-8")), False)
    return found


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def test_every_room_is_on_the_map() -> None:
    there = {
        path.stem for path in (ROOT / "aspenpy").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert sorted(rooms()) == sorted(there - ENTRANCES)


@pytest.mark.parametrize("room", rooms())
def test_imports_come_from_above_in_the_map(room: str) -> None:
    order = rooms()
    allowed = {*order[: order.index(room) + 1], "__init__"}
    modules = files()
    found = {
        f"{module} -> {target}"
        for module, file in modules.items()
        if room_of(module) == room
        for target, _ in imports(file, frozenset(modules))
        if room_of(target) not in allowed
    }
    assert not found


def test_no_modules_import_each_other() -> None:
    modules = files()
    graph = networkx.DiGraph(
        (module, target) for module, file in modules.items() for target, _ in imports(file, frozenset(modules))
    )
    graph.remove_nodes_from(["aspenpy"])  # it hands names on, and imports them when they are used
    assert [sorted(cycle) for cycle in networkx.strongly_connected_components(graph) if len(cycle) > 1] == []


def test_no_import_is_hidden_in_a_function() -> None:
    modules = files()
    hidden = Counter(
        file.relative_to(ROOT).as_posix()
        for file in modules.values()
        for _, inside in imports(file, frozenset(modules))
        if inside
    )
    assert {file: count for file, count in hidden.items() if file not in START_UP} == {}


def test_an_import_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    lines = [
        "import os",
        "from aspenpy.language import files",
        "if TYPE_CHECKING:",
        "    from aspenpy.shell.main import main",
        "def later():",
        "    from aspenpy import build",
        "    import_module('aspenpy.answers.ecm').ecm(result)",
        "    import_module(f'aspenpy.shell.commands.{name}')",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    known = frozenset({"aspenpy.language.files", "aspenpy.build", "aspenpy.answers.ecm", "aspenpy.shell.commands.eval"})
    assert imports(file, known) == [
        ("aspenpy.language.files", False),
        ("aspenpy.shell.main", False),
        ("aspenpy.build", True),
        ("aspenpy.answers.ecm", False),
        ("aspenpy.shell.commands.eval", False),
    ]


def test_no_class_has_more_than_two_ancestors_of_the_package() -> None:
    """A reader of a class needs two more files at most."""
    bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path in (ROOT / "aspenpy").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found_in = {
            alias.name: str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = [base.id for base in node.bases if isinstance(base, ast.Name)]
                bases[module, node.name] = [(found_in.get(name, module), name) for name in names]

    def chain(place: tuple[str, str]) -> list[str]:
        above = [chain(base) for base in bases[place] if base in bases]
        return [place[1], *max(above, key=len, default=[])]

    assert [found for found in map(chain, bases) if len(found) > 3] == []
