"""Changes of one place of a Python file, each a mistake that somebody could make."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
OPPOSITES = {"min": "max", "any": "all", "floor": "ceil", "minimum": "maximum", "argmin": "argmax"}
OPPOSITES |= {name: opposite for opposite, name in OPPOSITES.items()}
SYMMETRIC = {"min", "max", "smallest", "minimum", "maximum", "gcd", "hypot", "plus", "times", "same"}
SYMMETRIC |= {"add", "mul", "multiply", "logical_and", "logical_or", "array_equal", "isclose", "union1d"}
"""Functions that are the same with their two arguments swapped; `plus`, `times` and `same` are those of polynomials,
`add` and `mul` those of expressions, where a chain of more rounds its last digit otherwise."""
UNSEEN = {"strict", "timeout", "maxsize", "repr", "stacklevel"}
"""Arguments that change no answer: `strict` guards lengths that are equal, others say how long is waited, how much is
kept and what a debugger shows."""
STRICTNESS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclass(frozen=True)
class Change:
    """Text that takes the place of other text, at offsets in bytes."""

    path: str
    line: int
    function: str
    """Qualified name; empty outside functions."""
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The lines that change, on one line each, before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = (source + b"\n").find(b"\n", self.end)
        before = source[first:last].decode()
        after = (source[first : self.start] + self.text.encode() + source[self.end : last]).decode()
        return " ".join(before.split()), " ".join(after.split())


def places(path: str, source: bytes) -> list[Callable[[Random], Change | None]]:
    """One function for each place that can be changed; it draws the change, or None where that would be no Python."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(nodes: list[tuple[ast.expr | ast.stmt, ast.AST]], function: str) -> Callable[[Random], Change | None]:
        def draw(random: Random) -> Change | None:
            node, changed = random.choice(nodes)
            at = starts[node.lineno - 1] + node.col_offset
            end = starts[int(node.end_lineno or 0) - 1] + int(node.end_col_offset or 0)
            text = ast.unparse(ast.fix_missing_locations(changed))
            change = Change(
                path, node.lineno, function, at, end, f"({text})" if isinstance(changed, ast.expr) else text
            )
            try:
                compile(change.apply(source), path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                return None
            return change

        return draw

    return [place(nodes, function) for nodes, function in changeable(ast.parse(source))]


def changeable(tree: ast.Module) -> Iterator[tuple[list[tuple[Any, ast.AST]], str]]:
    """Changes of each node, and the function in which it stands. Left out: annotations, decorators, types and what only
    type checkers read, arguments that change no answer, changes that are none (`unchanging`), and f-strings, whose
    parts have no places before Python 3.12."""
    none = set(unchanging(tree))

    def visit(node: ast.AST, names: tuple[str, ...], inside: bool) -> Iterator[tuple[list[tuple[Any, ast.AST]], str]]:
        match node:
            case ast.JoinedStr() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.keyword(arg=name) if name in UNSEEN:
                return
            case ast.Call(func=ast.Name(id="sleep" | "assert_never") | ast.Attribute(attr="sleep" | "assert_never")):
                return
        changes = [pair for pair in changed_nodes(node) if (pair[0], ast.dump(pair[1])) not in none]
        if changes:
            yield changes, ".".join(names) if inside else ""
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_params", "decorator_list"):
                continue
            is_function = isinstance(node, ast.FunctionDef) and field in ("body", "args")
            within = is_function or (isinstance(node, ast.ClassDef) and field == "body")
            deeper = (*names, node.name) if within else names  # type: ignore[attr-defined]
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from visit(child, deeper, is_function if within else inside)

    yield from visit(tree, (), False)


def unchanging(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Nodes, and changes of them that leave every answer as it is.

    * `if a < b: b = a` and `a if a < b else b` are the same with `<=`: where the two are equal, either will do.
    * `continue` at the end of a loop's body goes where the loop goes anyway.
    * `a - 0*b` is `a + 0*b`, which gives a number the shape of an array.
    * `scope.values([a])[0]` is `scope.values([a])[-1]`, for formulas too: as many come back as were given.
    """
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Compare(left, [operator], [right]), body=[ast.Assign([target], value)], orelse=[]):
                chosen = {ast.unparse(target), ast.unparse(value)}
            case ast.IfExp(ast.Compare(left, [operator], [right]), body, orelse):
                chosen = {ast.unparse(body), ast.unparse(orelse)}
            case ast.BinOp(left, ast.Add() | ast.Sub() as operator, ast.BinOp(ast.Constant(0), ast.Mult()) as nothing):
                yield node, ast.dump(ast.BinOp(left, OPERATORS[type(operator)](), nothing))
                continue
            case ast.Subscript(
                ast.Call(ast.Attribute(attr="values" | "formulas"), [ast.List([_]), *_]), ast.Constant(0) as place
            ):
                yield place, ast.dump(ast.Constant(-1))
                continue
            case ast.For() | ast.While():
                yield from ((last, ast.dump(ast.Pass())) for last in _last_statements(node.body))
                continue
            case _:
                continue
        if chosen == {ast.unparse(left), ast.unparse(right)} and type(operator) in STRICTNESS:
            yield node.test, ast.dump(ast.Compare(left, [STRICTNESS[type(operator)]()], [right]))


def _last_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of `continue` behind which nothing of a body is left."""
    match body[-1]:
        case ast.Continue():
            yield body[-1]
        case ast.If(body=first, orelse=second):
            yield from _last_statements(first)
            if second:
                yield from _last_statements(second)


def changed_nodes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Nodes and what takes their place: the node itself, or the condition that it holds."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    changed = copy.deepcopy(node)
                    changed.ops[index] = other()
                    yield node, changed
        case ast.BinOp(op=operator) if type(operator) in OPERATORS and not _is_text(node):
            yield node, ast.BinOp(node.left, OPERATORS[type(operator)](), node.right)
        case ast.BoolOp(op=operator):
            yield node, ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not(), operand=operand) | ast.UnaryOp(op=ast.USub(), operand=operand):
            yield node, operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from ((node, ast.Constant(value + step)) for step in (1, -1) if value + step != value)
        case ast.IfExp():
            yield node, ast.IfExp(node.test, node.orelse, node.body)
        case ast.If(test=test) | ast.While(test=test) | ast.comprehension(ifs=[test]):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Call():
            yield from ((node, changed) for changed in _changed_calls(node))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield node, ast.Pass()


def _changed_calls(node: ast.Call) -> Iterator[ast.AST]:
    match node.func:
        case ast.Name(id=name) if name in OPPOSITES:
            yield ast.Call(ast.Name(OPPOSITES[name]), node.args, node.keywords)
        case ast.Attribute(value=value, attr=name) if name in OPPOSITES:
            yield ast.Call(ast.Attribute(value, OPPOSITES[name]), node.args, node.keywords)
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    plain = name not in SYMMETRIC and not any(isinstance(argument, ast.Starred) for argument in node.args[:2])
    if len(node.args) > 1 and plain and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)


def _is_text(node: ast.BinOp) -> bool:
    """Whether an operand is text, of which nothing else can be computed; or a type."""
    sides = [side for side in (node.left, node.right) if isinstance(side, (ast.Constant, ast.JoinedStr))]
    return any(isinstance(side, ast.JoinedStr) or isinstance(side.value, str | None) for side in sides)
