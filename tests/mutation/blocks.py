"""Blocks of a program: statements that run one after the other. A copy of the package that marks each block it enters
says which tests reach it, those in child processes included, and on every version of Python. Only compiled files are
marked: tests and commands that read the text of the package find it as it was."""

from __future__ import annotations

import ast
import marshal
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType

MARKS = '''"""One byte for each block of the package, set when it is entered; in a file that child processes share."""

import builtins
import mmap
import os


def _marks():
    name = os.environ.get("MUTATION_MARKS")
    if name is None:
        return bytearray({size})
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    os.truncate(file, {size})
    shared = mmap.mmap(file, {size})
    os.close(file)
    return shared


marks = builtins._marks_ = _marks()  # a copy of a function may have other globals
'''
UNCHECKED = (1).to_bytes(4, "little") + bytes(8)
"""Flags and digest in a compiled file that is used whatever its source says (PEP 552)."""
COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)


@dataclass(frozen=True)
class Block:
    path: str
    function: str
    """Qualified name; empty at the top of a module, and for the body of a class there."""
    first: int
    last: int


def blocks_of(path: str, text: str, start: int = 0) -> tuple[list[Block], ast.Module]:
    """Blocks inside functions, and the program that marks them, the first as number `start`. What stands outside all
    functions runs once, on import, and is no block."""
    tree = ast.parse(text)
    marking = _Marking(path, start)
    tree.body = [marking.visit(statement) for statement in tree.body]
    if marking.blocks:
        top = ast.parse("from aspenpy.mutation_marks import marks as _marks_").body
        place = sum(_stands_first(statement) for statement in tree.body)
        tree.body[place:place] = top
    return marking.blocks, ast.fix_missing_locations(tree)


def _stands_first(statement: ast.stmt) -> bool:
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


class _Marking(ast.NodeTransformer):
    """Puts `_marks_[n] = 1` in front of each block of each function."""

    def __init__(self, path: str, start: int) -> None:
        self.path = path
        self.start = start
        self.names: list[str] = []
        self.inside = False
        self.blocks: list[Block] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.names.append(node.name)
        inside, self.inside = self.inside, False
        node.body = [self.visit(statement) for statement in node.body]
        self.inside = inside
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.names.append(node.name)
        inside, self.inside = self.inside, True
        text = node.body[:1] if ast.get_docstring(node) is not None else []
        node.body = text + (self.marked(node.body[len(text) :]) or [ast.Pass()])
        self.inside = inside
        self.names.pop()
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if self.inside and isinstance(node, (*COMPOUND, ast.ExceptHandler, ast.match_case)):
            for field in ("body", "orelse", "finalbody"):
                if statements := getattr(node, field, None):
                    setattr(node, field, self.marked(statements))
            for field in ("handlers", "cases"):
                for part in getattr(node, field, ()):
                    self.visit(part)
            return node
        return super().generic_visit(node) if isinstance(node, ast.stmt) else node

    def marked(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements of one body: a block ends behind each compound statement, which may have left the function."""
        out: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in statements:
            run.append(statement)
            if isinstance(statement, COMPOUND):
                out += self.block(run)
                run = []
        return out + (self.block(run) if run else [])

    def block(self, run: list[ast.stmt]) -> list[ast.stmt]:
        end = run[-1]
        head = getattr(end, "body", None) or getattr(end, "cases", None)
        last = end.end_lineno if not (isinstance(end, COMPOUND) and head) else max(end.lineno, _line(head[0]) - 1)
        mark = ast.parse(f"_marks_[{self.start + len(self.blocks)}] = 1").body
        self.blocks.append(Block(self.path, ".".join(self.names), run[0].lineno, int(last or end.lineno)))
        return mark + [self.visit(statement) for statement in run]


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0) or getattr(node, "pattern").lineno)  # noqa: B009  (a case has no line)


def mark(root: Path) -> list[Block]:
    """Compiles the package below `root` so that it marks its blocks."""
    blocks: list[Block] = []
    for file in sorted((root / "aspenpy").rglob("*.py")):
        of_file, tree = blocks_of(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"), len(blocks))
        write_compiled(Path(cache_from_source(file)), compile(tree, str(file), "exec", dont_inherit=True))
        blocks += of_file
    marks = compile(MARKS.format(size=len(blocks)), "marks", "exec", dont_inherit=True)
    write_compiled(root / "aspenpy" / "mutation_marks.pyc", marks)
    return blocks


def write_compiled(file: Path, code: CodeType) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(MAGIC_NUMBER + UNCHECKED + marshal.dumps(code))
