"""Blocks of a program: statements that run one after the other. A compiled copy of the package that marks each block it
enters says which tests reach it, those in child processes included; the text of the package stays as it was."""

from __future__ import annotations

import ast
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType

MARKS = """
import builtins, mmap, os
builtins._marks_ = bytearray({size})
if name := os.environ.get("MUTATION_MARKS"):
    with open(name, "a+b") as file:
        os.truncate(name, {size})
        builtins._marks_ = mmap.mmap(file.fileno(), {size})
"""
"""One byte for each block of the package, set when it is entered; in a file that child processes share."""
UNCHECKED = (1).to_bytes(4, "little") + bytes(8)
"""Flags and digest in a compiled file that is used whatever its source says (PEP 552)."""
AT_THE_END = "aspenpy/expr/node.py:_forget_node:"
"""The block that runs while the interpreter ends, when its marks are gone."""
COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)


@dataclass(frozen=True)
class Block:
    name: str
    """Path of the file, qualified name of the function, and a number: the same in later versions of the file, as long
    as the function stays."""
    first: int
    last: int
    statements: list[ast.stmt]


def blocks_of(path: str, tree: ast.Module) -> Iterator[Block]:
    """Blocks inside functions: a block ends behind each compound statement, which may have left the function. What
    stands outside all functions runs once, on import, and is no block."""

    def visit(node: ast.AST, names: tuple[str, ...], inside: bool) -> Iterator[Block]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names, inside = (*names, node.name), isinstance(node, ast.FunctionDef)
        for value in (value for _, value in ast.iter_fields(node) if isinstance(value, list)):
            run: list[ast.stmt] = []
            for number, statement in enumerate(value if inside else ()):
                if isinstance(statement, ast.stmt) and not (number == 0 and _is_docstring(statement)):
                    run.append(statement)
                    if isinstance(statement, COMPOUND) or number + 1 == len(value):
                        name = f"{path}:{'.'.join(names)}:{counts.setdefault(names, 0)}"
                        counts[names] += 1
                        yield Block(name, run[0].lineno, int(statement.end_lineno or 0), run)
                        run = []
            for child in value:
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    yield from visit(child, names, inside)

    counts: dict[tuple[str, ...], int] = {}
    yield from visit(tree, (), False)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _begin(tree: ast.Module) -> int:
    """Number of the first statement that need not stand before all others."""
    first = [_is_docstring(node) or getattr(node, "module", "") == "__future__" for node in tree.body]
    return [*first, False].index(False)


def innermost(blocks: list[Block], line: int) -> str | None:
    """Name of the smallest block that has a line."""
    around = [block for block in blocks if block.first <= line <= block.last]
    return min(around, key=lambda block: block.last - block.first).name if around else None


def marked(path: str, tree: ast.Module, numbers: dict[str, int]) -> ast.Module:
    """A program that sets the byte of each block it enters; blocks that have no number yet get the next."""
    marks = {
        id(block.statements[0]): ast.parse(f"_marks_[{numbers.setdefault(block.name, len(numbers))}] = 1").body
        for block in list(blocks_of(path, tree))
        if not block.name.startswith(AT_THE_END)
    }
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, field, [new for old in value for new in [*marks.get(id(old), ()), old]])
    return ast.fix_missing_locations(tree)


def mark(root: Path, numbers: dict[str, int]) -> None:
    """Compiles the package below `root` so that it marks its blocks."""
    for file in sorted((root / "aspenpy").rglob("*.py")):
        path = file.relative_to(root).as_posix()
        tree = marked(path, ast.parse(file.read_text(encoding="utf-8")), numbers)
        if path == "aspenpy/__init__.py":
            tree.body.insert(_begin(tree), ast.parse("import aspenpy.mutation_marks").body[0])
        _write_compiled(Path(cache_from_source(file)), compile(tree, str(file), "exec", dont_inherit=True))
    text = MARKS.format(size=len(numbers))
    _write_compiled(root / "aspenpy" / "mutation_marks.pyc", compile(text, "marks", "exec", dont_inherit=True))


def _write_compiled(file: Path, code: CodeType) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(MAGIC_NUMBER + UNCHECKED + marshal.dumps(code))
