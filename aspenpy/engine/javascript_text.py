"""Programs as text in JavaScript (ECMAScript 2020): functions of arrays of numbers.

The expressions are those of C, and its helpers are translated word by word; `helpers/math.js` has what C takes from its
library. What has no value is not finite up to the result, as in C. No text of the user gets into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pycparser import c_ast
from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser

from aspenpy.engine import c_text
from aspenpy.engine.c_text import FORMS, CWriter, find_used_helpers
from aspenpy.engine.compiled import GIVEN, why_unwritable
from aspenpy.engine.program import Program
from aspenpy.engine.writer import ATOM
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr

_WHOLE = frozenset({"int", "long", "char", "unsigned", "size_t"})
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_OPERATORS = {"==": "===", "!=": "!=="}


def translate_helpers(sources: Iterable[str]) -> dict[str, str]:
    """Definitions in JavaScript by name, from definitions in C in the order in which they use each other."""
    text = "typedef unsigned long size_t;\n" + _COMMENT.sub("", "\n".join(sources))
    writer = _Translator()
    written: dict[str, str] = {}
    for definition in CParser().parse(text).ext[1:]:
        if isinstance(definition, c_ast.Typedef):
            written[definition.name] = writer.write_structure(definition)
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
        self.statics: list[str] = []

    def write_structure(self, definition: c_ast.Typedef) -> str:
        """A function that makes an empty structure."""
        fields = definition.type.type.decls
        self.kinds.update((field.name, field.type) for field in fields)
        parts = ", ".join(f"{field.name}: {self._empty_value(field.type) or 0}" for field in fields)
        return f"function {definition.name}() {{\n  return {{ {parts} }};\n}}"

    def _empty_value(self, kind: c_ast.Node) -> str:
        """The value of a variable that is declared without one."""
        if isinstance(kind, c_ast.ArrayDecl):
            element, length = self._empty_value(kind.type), self.visit(kind.dim)
            if element:
                return f"Array.from({{ length: {length} }}, () => {element})"
            return f"new Array({length}).fill(0)"  # made faster than a typed array
        names = kind.type.names if isinstance(kind, c_ast.TypeDecl) else ()
        return f"{names[0]}()" if names and names[0].startswith("aspen_") else ""

    def visit_FuncDef(self, n: c_ast.FuncDef) -> str:
        parameters = n.decl.type.args.params
        self.kinds[n.decl.name] = n.decl.type.type
        self.kinds.update((parameter.name, parameter.type) for parameter in parameters)
        names = ", ".join(parameter.name for parameter in parameters)
        self.statics.clear()
        written = f"function {n.decl.name}({names}) {self.visit(n.body).lstrip()}"
        return "\n".join([*self.statics, written])

    def visit_Decl(self, n: c_ast.Decl, no_type: bool = False) -> str:
        self.kinds[n.name] = n.type
        value = self.visit(n.init) if n.init is not None else self._empty_value(n.type)
        if "static" in n.storage:  # is kept between calls: stands before the function, in which nothing is left
            self.statics.append(f"const {n.name} = {value};")
            return ""
        return f"{'' if no_type else 'let '}{n.name}{f' = {value}' if value else ''}"

    def visit_InitList(self, n: c_ast.InitList) -> str:
        return f"[{', '.join(map(self.visit, n.exprs))}]"

    def visit_Constant(self, n: c_ast.Constant) -> str:
        return str(n.value.rstrip("uULl"))

    def visit_Cast(self, n: c_ast.Cast) -> str:
        value = self.visit(n.expr)
        return f"trunc({value})" if _is_whole(n.to_type) and not self._is_whole_valued(n.expr) else f"({value})"

    def visit_BinaryOp(self, n: c_ast.BinaryOp) -> str:
        if n.op == "+" and self._is_pointer(n.left):
            return f"{self.visit(n.left)}.subarray({self.visit(n.right)})"
        left, right = map(self._parenthesize_unless_simple, (n.left, n.right))
        written = f"{left} {_OPERATORS.get(n.op, n.op)} {right}"
        return f"trunc({written})" if n.op == "/" and self._is_whole_valued(n) else written

    def visit_Assignment(self, n: c_ast.Assignment) -> str:
        target, value = self.visit(n.lvalue), self.visit(n.rvalue)
        if n.op == "/=" and self._is_whole_valued(n.lvalue):
            return f"{target} = trunc({target} / ({value}))"
        return f"{target} {n.op} {value}"

    def visit_UnaryOp(self, n: c_ast.UnaryOp) -> str:
        return str(self.visit(n.expr) if n.op == "&" else super().visit_UnaryOp(n))

    def visit_StructRef(self, n: c_ast.StructRef) -> str:
        return f"{self.visit(n.name)}.{n.field.name}"

    def _is_pointer(self, node: c_ast.Node) -> bool:
        """Whether an expression is a pointer or an array."""
        if isinstance(node, c_ast.BinaryOp):
            return node.op == "+" and self._is_pointer(node.left)
        return isinstance(node, c_ast.ID) and isinstance(self.kinds.get(node.name), c_ast.PtrDecl | c_ast.ArrayDecl)

    def _is_whole_valued(self, node: Any) -> bool:
        """Whether the value of an expression is a whole number by its type."""
        match node:
            case c_ast.Constant():
                return "int" in node.type
            case c_ast.ID():
                return _is_whole(self.kinds.get(node.name))
            case c_ast.Cast():
                return _is_whole(node.to_type)
            case c_ast.FuncCall() | c_ast.ArrayRef():
                return self._is_whole_valued(node.name)
            case c_ast.StructRef():
                return self._is_whole_valued(node.field)
            case c_ast.UnaryOp():
                return self._is_whole_valued(node.expr)
            case c_ast.TernaryOp():
                return self._is_whole_valued(node.iftrue) and self._is_whole_valued(node.iffalse)
            case c_ast.BinaryOp():
                return self._is_whole_valued(node.left) and self._is_whole_valued(node.right)
        return False


MOST_PASSES = 10**5
"""Passes of a loop that is added up: more would keep a page from answering while a slider moves."""

OF_ARRAYS = {
    name: (f"aspen_{name}(Float64Array.of({{joined}}), {{count}})", ATOM)
    for name, function in FUNCTIONS.items()
    if function.most is None and name in GIVEN
}
"""Calls of the helpers that take any number of arguments as one array."""


class NotInJavaScript(ValueError):
    """The expressions have no form in JavaScript; the message says why."""


class JavaScriptWriter(CWriter):
    """Declarations and expressions in JavaScript."""

    number, condition, variable = "const", "const", "let"
    table = "const {name} = [{elements}];"
    forms = FORMS | OF_ARRAYS


def to_javascript(exprs: Sequence[Expr], free: Sequence[Expr], name: str, seed: int = 0) -> str:
    """`function name(x)` from the values of the free symbols, in their order, to an array with the value of each
    expression; what has none is not finite.

    Uses the helpers that `add_helpers` puts before it. Raises `NotInJavaScript` for random draws that depend on
    the free symbols, and for arrays that are not written out.
    """
    program = Program(exprs, free, seed, short_loops=True)
    if any(program.ops[index].kind in ("draw", "stream") for index in program.straight):
        raise NotInJavaScript("a random draw has no form in JavaScript")
    reason = why_unwritable(program, program.straight)
    if reason is not None:
        raise NotInJavaScript(reason.replace("in C", "in JavaScript"))
    arguments = {f"x{number}": number for number in program.given.values()}
    names = {index: f"x{number}" for index, number in program.given.items()}
    writer = JavaScriptWriter(program, program.straight, names, {"x", "result", *arguments}, float(MOST_PASSES))
    lines = [f"const {argument} = x[{number}];" for argument, number in arguments.items()]
    lines += writer.block(program.straight)
    lines.append(f"return [{', '.join(writer.text(root) for root in program.roots)}];")
    return "\n".join([f"function {name}(x) {{", *("  " + line for line in lines), "}"])


def add_helpers(functions: str) -> str:
    """The functions behind the helpers that they use."""
    prelude = Path(__file__).with_name("helpers").joinpath("math.js").read_text(encoding="utf-8")
    return "\n\n".join([prelude.rstrip("\n"), *find_used_helpers(functions, translated_helpers()), functions]) + "\n"


@cache
def translated_helpers() -> dict[str, str]:
    """The helpers of C in JavaScript, by name."""
    return translate_helpers(c_text.read_helpers().values())
