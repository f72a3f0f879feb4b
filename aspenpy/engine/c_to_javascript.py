"""The helpers of C as JavaScript: one source for both.

`pycparser` reads the helpers and writes the statements that both languages share; what differs is stated here. Whole
numbers of C are numbers of JavaScript, exact up to 2^53; pointers are views of typed arrays, which share their
elements as pointers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser

_WHOLE = frozenset({"int", "long", "char", "unsigned", "size_t"})
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_OPERATORS = {"==": "===", "!=": "!=="}


def translate(sources: Iterable[str]) -> dict[str, str]:
    """Definitions in JavaScript by name, from definitions in C in the order in which they use each other."""
    text = "typedef unsigned long size_t;\n" + _COMMENT.sub("", "\n".join(sources))
    writer = _Translator()
    written: dict[str, str] = {}
    for definition in CParser().parse(text).ext[1:]:
        if isinstance(definition, c_ast.Typedef):
            written[definition.name] = writer.structure(definition)
        elif isinstance(definition, c_ast.FuncDef):
            written[definition.decl.name] = writer.visit(definition).rstrip("\n")
        else:
            for enumerator in definition.type.values.enumerators:
                written[enumerator.name] = f"const {enumerator.name} = {writer.visit(enumerator.value)};"
    return written


def _is_whole(kind: c_ast.Node | None) -> bool:
    """Whether a declared type is one of whole numbers, or an array of or a pointer to them."""
    while isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.TypeDecl | c_ast.Typename):
        kind = kind.type
    return isinstance(kind, c_ast.IdentifierType) and not _WHOLE.isdisjoint(kind.names)


class _Translator(CGenerator):  # type: ignore[misc]
    """Statements of C with the declarations, casts, divisions and pointers of JavaScript. `kinds` has the declared type
    of each variable, field and function: names mean the same in all helpers of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: dict[str, c_ast.Node] = {}

    def structure(self, definition: c_ast.Typedef) -> str:
        """A function that makes an empty structure."""
        fields = definition.type.type.decls
        self.kinds.update((field.name, field.type) for field in fields)
        parts = ", ".join(f"{field.name}: {self._empty(field.type) or 0}" for field in fields)
        return f"function {definition.name}() {{\n  return {{ {parts} }};\n}}"

    def _empty(self, kind: c_ast.Node) -> str:
        """The value of a variable that is declared without one."""
        if isinstance(kind, c_ast.ArrayDecl):
            return f"new Float64Array({self.visit(kind.dim)})"
        names = kind.type.names if isinstance(kind, c_ast.TypeDecl) else ()
        return f"{names[0]}()" if names and names[0].startswith("aspen_") else ""

    def visit_FuncDef(self, n: c_ast.FuncDef) -> str:
        parameters = n.decl.type.args.params
        self.kinds[n.decl.name] = n.decl.type.type
        self.kinds.update((parameter.name, parameter.type) for parameter in parameters)
        names = ", ".join(parameter.name for parameter in parameters)
        return f"function {n.decl.name}({names}) {self.visit(n.body).lstrip()}"

    def visit_Decl(self, n: c_ast.Decl, no_type: bool = False) -> str:
        self.kinds[n.name] = n.type
        value = self.visit(n.init) if n.init is not None else self._empty(n.type)
        return f"{'' if no_type else 'let '}{n.name}{f' = {value}' if value else ''}"

    def visit_InitList(self, n: c_ast.InitList) -> str:
        return f"[{', '.join(map(self.visit, n.exprs))}]"

    def visit_Constant(self, n: c_ast.Constant) -> str:
        return str(n.value.rstrip("uULl"))

    def visit_Cast(self, n: c_ast.Cast) -> str:
        value = self.visit(n.expr)
        return f"trunc({value})" if _is_whole(n.to_type) and not self._whole(n.expr) else f"({value})"

    def visit_BinaryOp(self, n: c_ast.BinaryOp) -> str:
        if n.op == "+" and self._points(n.left):
            return f"{self.visit(n.left)}.subarray({self.visit(n.right)})"
        left, right = map(self._parenthesize_unless_simple, (n.left, n.right))
        written = f"{left} {_OPERATORS.get(n.op, n.op)} {right}"
        return f"trunc({written})" if n.op == "/" and self._whole(n) else written

    def visit_Assignment(self, n: c_ast.Assignment) -> str:
        target, value = self.visit(n.lvalue), self.visit(n.rvalue)
        if n.op == "/=" and self._whole(n.lvalue):
            return f"{target} = trunc({target} / ({value}))"
        return f"{target} {n.op} {value}"

    def visit_UnaryOp(self, n: c_ast.UnaryOp) -> str:
        return str(self.visit(n.expr) if n.op == "&" else super().visit_UnaryOp(n))

    def visit_StructRef(self, n: c_ast.StructRef) -> str:
        return f"{self.visit(n.name)}.{n.field.name}"

    def _points(self, node: c_ast.Node) -> bool:
        """Whether an expression is a pointer or an array."""
        if isinstance(node, c_ast.BinaryOp):
            return node.op == "+" and self._points(node.left)
        return isinstance(node, c_ast.ID) and isinstance(self.kinds.get(node.name), c_ast.PtrDecl | c_ast.ArrayDecl)

    def _whole(self, node: Any) -> bool:
        """Whether the value of an expression is a whole number by its type."""
        match node:
            case c_ast.Constant():
                return "int" in node.type
            case c_ast.ID():
                return _is_whole(self.kinds.get(node.name))
            case c_ast.Cast():
                return _is_whole(node.to_type)
            case c_ast.FuncCall() | c_ast.ArrayRef():
                return self._whole(node.name)
            case c_ast.StructRef():
                return self._whole(node.field)
            case c_ast.UnaryOp():
                return self._whole(node.expr)
            case c_ast.TernaryOp():
                return self._whole(node.iftrue) and self._whole(node.iffalse)
            case c_ast.BinaryOp():
                return self._whole(node.left) and self._whole(node.right)
        return False
