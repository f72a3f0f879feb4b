"""Copies over the link of the host that directives name: `map` of OpenMP's `target`, `copy`, `copyin` and `copyout` of
OpenACC, around the loop that they stand above (OpenMP 5.2, section 5.8.3; OpenACC 3.3, section 2.7)."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import MessageStatement, PointerTarget
from aspenpy.extract.effects import walk_records
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.places import innermost_type
from aspenpy.extract.pragmas import Mapped, list_mapped
from aspenpy.extract.scope import depends_on_data
from aspenpy.extract.state import WalkState, WalkTask
from aspenpy.extract.values import TooLong, Value
from aspenpy.language.source import Span

Offloaded = r.LoopStatement | r.CompoundStatement


class MappedCopies(WalkTask):
    """Writes the copies of the loops of a walk."""

    def __init__(self, state: WalkState, evaluator: Evaluator) -> None:
        super().__init__(state)
        self.evaluator = evaluator
        self.present: list[str] = []

    def list_copies(
        self, node: r.LoopStatement | r.CompoundStatement
    ) -> tuple[list[MessageStatement], list[MessageStatement]]:
        """Messages before a loop or a block and behind it, but of what is on the device already."""
        before: list[MessageStatement] = []
        behind: list[MessageStatement] = []
        if not node.pragmas or node.span is None:
            return before, behind
        is_fortran = os.path.splitext(node.span.source.name)[1] in r.FORTRAN
        listed = [mapped for mapped in list_mapped(node.pragmas, is_fortran) if mapped.name not in self.present]
        variables = {part.name: part for part in (walk_records(node) if listed else ()) if isinstance(part, r.Variable)}
        for mapped in listed:
            volume = self._find_volume(mapped, variables, dict(node.lengths))
            if volume is None or depends_on_data(volume):
                message = f"the bytes of `{mapped.text}` are not known: its copies are not counted"
                self.state.report_uncounted("not-counted", message, node.span)
                continue
            before += [_make_copy(volume, f"{mapped.text} to the device", node.span)] if mapped.is_input else []
            behind += [_make_copy(volume, f"{mapped.text} from the device", node.span)] if mapped.is_output else []
        return before, behind

    @contextmanager
    def copy_around(self, node: Offloaded) -> Iterator[None]:
        """Writes the copies around what is walked meanwhile."""
        before, behind = self.list_copies(node)
        names = [mapped.name for mapped in list_mapped(node.pragmas, is_fortran=False)]
        self.state.out += before
        self.present += names
        yield
        del self.present[len(self.present) - len(names) :]
        self.state.out += behind

    def _find_volume(
        self, mapped: Mapped, variables: Mapping[str, r.Variable], known: Mapping[str, r.Expression]
    ) -> Value | None:
        variable = variables.get(mapped.name)
        if variable is None:
            return None
        type = variable.type.of if variable.type.kind == "pointer" and variable.type.of else variable.type
        volume = constant_polynomial(innermost_type(type).size)
        if mapped.sections and all(mapped.sections):
            values = {name: atom_polynomial(symbol) for name, symbol in self.facts.macros.items()}
            for name, each in variables.items():
                if each.type.kind == "integer":
                    values[name] = self.evaluator.integer_without_costs(each)
            lengths = [evaluate_text(section, values) for section in mapped.sections]
        elif mapped.name in known:
            lengths = [self.evaluator.integer_without_costs(known[mapped.name])]
        elif variable.type.kind == "pointer":
            with self.state.collect():
                target = self.evaluator.evaluate(variable)
            return self.names.arrays[target.array].volume if isinstance(target, PointerTarget) else None
        else:
            lengths = list(self.evaluator.places.extents(variable.type))
        for length in lengths:
            if length is None:
                return None
            volume = v.multiply(volume, length)
        return volume if volume.terms else None


def _make_copy(volume: Value, note: str, span: Span) -> MessageStatement:
    return MessageStatement(volume, note=note, span=span, resource="intracomm")


def evaluate_text(text: str, values: Mapping[str, Value]) -> Value | None:
    """The value of a formula of whole numbers; None where it has other names or operators."""
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body, values)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TooLong):
        return None


def _evaluate(node: ast.expr, values: Mapping[str, Value]) -> Value | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return constant_polynomial(node.value)
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _evaluate(node.left, values), _evaluate(node.right, values)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return v.multiply(left, right)
    if isinstance(node.op, ast.Add | ast.Sub):
        return v.add(left, right) if isinstance(node.op, ast.Add) else v.subtract(left, right)
    return v.floor_quotient(left, right) if isinstance(node.op, ast.Div) else None
