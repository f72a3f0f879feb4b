"""Input and output of Fortran: calls of libraries, with what they are given and what they store to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.fortran_declarations import DeclarationReader
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, split_keyword, type_name
from aspenpy.extract.fortran_operations import COMPLEX, complex_parts
from aspenpy.extract.fortran_scopes import INT, Entity, integer
from aspenpy.extract.library_functions import INPUT
from aspenpy.language.source import Span

Transfer = Callable[[Sequence[Syntax], Span | None], r.Call]


class Transfers:
    """The input and output of one procedure."""

    def __init__(self, expressions: FortranExpressions, declarations: DeclarationReader) -> None:
        self.expressions, self.declarations = expressions, declarations

    def read_input(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        """`read (unit, format) a, b(i)`: a call that stores to its items, and a loop for each implied `do`. The items
        are a node of their own, or the last child of `read format, a`."""
        items = [
            item
            for child in node.children
            if child is not None and type_name(child) == "Input_Item_List"
            for item in child.children
        ]
        last = node.children[-1]
        if not items and last is not None and type_name(last) not in ("Io_Control_Spec_List", "Io_Control_Spec", "str"):
            items = list_arguments(last)
        names = self._names_in_namelists(node.children[0])
        plain, repeated = _separate(items)
        statements = self.store_unknown(plain, span)
        entities = [self.expressions.scope.find(name) for name in names]
        more = tuple(
            r.Address(entity.expression, r.Type("pointer", 8, entity.element), span)
            for entity in entities
            if isinstance(entity, Entity)
        )
        whole = r.ExpressionStatement(statements.replace(arguments=(*statements.arguments, *more)), span)
        return [whole, *(self._repeat(item, self.store_unknown, span) for item in repeated)]

    def _names_in_namelists(self, controls: Any) -> list[str]:
        """The names in the namelist that `read (unit, nml=group)` or `read (unit, group)` reads."""
        specified = () if controls is None or isinstance(controls, str) else controls.children
        groups = [str(control.children[1]).lower() for control in specified if type_name(control) == "Io_Control_Spec"]
        return [name for group in groups for name in self.declarations.namelists.get(group, ())]

    def read_output(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        plain, repeated = _separate(list_arguments(node.children[-1]))
        whole = r.ExpressionStatement(self._show(plain, span), span)
        return [whole, *(self._repeat(item, self._show, span) for item in repeated)]

    def _repeat(self, node: Syntax, transfer: Transfer, span: Span | None) -> r.Statement:
        """A loop that transfers the items of an implied `do` one after the other."""
        items, control = list_arguments(node.children[0]), node.children[1]
        first, last, step = (None if part is None else self.expressions.read(part) for part in control.children[1:4])
        with self.expressions.bind_counters([node]):
            counter = self.expressions.read(control.children[0])
            plain, repeated = _separate(items)
            with self.expressions.collect() as before:
                inside = [r.ExpressionStatement(transfer(plain, span), span)]
                inner = [self._repeat(item, transfer, span) for item in repeated]
        assert isinstance(counter, r.Variable)
        condition = r.Operation("<=", (counter, last or integer(1)), INT, span)
        change = r.Assignment("+", counter, step or integer(1), INT, span=span)
        body = r.CompoundStatement((*before, *inside, *inner))
        return r.LoopStatement(r.Declaration(counter, first, span=span), condition, change, body, span=span)

    def _show(self, items: Sequence[Syntax], span: Span | None) -> r.Call:
        values: list[r.Expression] = []
        for item in items:
            if type_name(item) in ("Char_Literal_Constant", "str", "Output_Item_List"):
                continue
            view = self.expressions.view(item)
            if not view.extents and view.element.kind in ("integer", "real"):
                values.append(view.at(()))
            elif not view.extents and view.element.name == COMPLEX:
                values += complex_parts(view.at(()))
        return r.Call("printf", "printf", tuple(values), INT, span)

    def store_unknown(self, items: Sequence[Syntax], span: Span | None) -> r.Call:
        """A library's call that stores to what it is given."""
        parts: list[r.Expression] = []
        for item in items:
            view = self.expressions.view(split_keyword(item)[1]) if not isinstance(item, str) else None
            if view is None or view.element.kind == "other":
                continue
            value = view.at([integer(0)] * len(view.extents))
            if isinstance(value, r.Variable | r.Element | r.Field):
                parts.append(r.Address(value, r.Type("pointer", 8, value.type), value.span))
        return r.Call(INPUT, INPUT, tuple(parts), INT, span)


def _separate(items: Sequence[Syntax]) -> tuple[list[Syntax], list[Syntax]]:
    """The plain items of a list, and its implied `do`."""
    repeated = [item for item in items if type_name(item) == "Io_Implied_Do"]
    return [item for item in items if type_name(item) != "Io_Implied_Do"], repeated
