"""Allocation and pointers of Fortran: where arrays with a descriptor lie, and their bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.extract import records as r
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_nodes import Syntax, list_arguments, type_name
from aspenpy.extract.fortran_operations import assign
from aspenpy.extract.fortran_scopes import Entity, View, count_between, integer, multiply
from aspenpy.language.source import Span

AssignElements = Callable[[View, View, Span | None], r.Statement]


class Allocations:
    """The allocations and pointer assignments of one procedure."""

    def __init__(self, expressions: FortranExpressions, assign_elements: AssignElements) -> None:
        self.expressions, self.assign_elements = expressions, assign_elements

    def read_allocate(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        statements: list[r.Statement] = []
        options = {str(item.children[0]).lower(): item.children[1] for item in list_arguments(node.children[2])}
        source = next((options[name] for name in ("source", "mold") if name in options), None)
        for item in list_arguments(node.children[1]):
            is_shaped = type_name(item) == "Allocation"
            target = item.children[0] if is_shaped else item
            here = self.expressions.find_item(str(target).rpartition("%")[2].strip()) or span
            view = self.expressions.view(target)
            entity = view.whole
            if entity is None:
                continue
            if is_shaped:
                lowers, extents = [], []
                for bounds in list_arguments(item.children[1]):
                    lower, upper = bounds.children
                    first = integer(1) if lower is None else self.expressions.read(lower)
                    lowers.append(first)
                    extents.append(count_between(first, self.expressions.read(upper)))
            elif source is not None:
                extents = list(self.expressions.view(source).extents)
                lowers = [integer(1)] * len(extents)
            else:
                extents, lowers = [], []
            size: r.Expression = integer(entity.element.size or 8)
            for extent in extents:
                size = multiply(size, extent)
            memory = r.Call("malloc", "malloc", (size,), entity.expression.type, here)
            if entity.shape or entity.expression.type.kind == "pointer":
                statements += self.describe(entity, extents, memory, span, lowers)
            if "source" in options and source is not None and entity.shape:
                statements.append(
                    self.assign_elements(
                        self.expressions.view_entity(entity, None), self.expressions.view(source), span
                    )
                )
        return statements

    def assign_pointer(self, node: Syntax, span: Span | None) -> list[r.Statement]:
        target, given = self.expressions.view(node.children[0]), node.children[-1]
        if type_name(given) in ("Function_Reference", "Intrinsic_Function_Reference"):
            return []
        source = self.expressions.view(given)
        entity = target.whole
        if entity is None:
            return []
        if not entity.shape or source.element.kind == "other":
            pointed, type = source.at(()), entity.expression.type
            value = pointed if pointed.type.kind == "pointer" else r.Address(pointed, type, span)
            return [r.ExpressionStatement(r.Assignment("", entity.expression, value, type, span=span), span)]
        return self.describe(entity, source.extents, self._address(source, entity.expression.type, span), span)

    def make(self, entity: Entity, extents: Sequence[r.Expression], span: Span | None) -> list[r.Statement]:
        """Gives an array memory for elements of these extents, as an assignment to it does."""
        size: r.Expression = integer(entity.element.size or 8)
        for extent in extents:
            size = multiply(size, extent)
        memory = r.Call("malloc", "malloc", (size,), entity.expression.type, span)
        return self.describe(entity, extents, memory, span)

    def describe(
        self,
        entity: Entity,
        extents: Sequence[r.Expression],
        value: r.Expression,
        span: Span | None,
        lowers: Sequence[r.Expression] = (),
    ) -> list[r.Statement]:
        """Sets the bounds of an array with a descriptor, and where it lies."""
        statements: list[r.Statement] = []
        for place, (bounds, extent) in enumerate(zip(entity.shape, extents, strict=False)):
            if bounds.extent is not None and not isinstance(bounds.extent, r.Constant):
                statements.append(assign(bounds.extent, extent, span))
            if isinstance(bounds.lower, r.Variable):
                statements.append(assign(bounds.lower, lowers[place] if lowers else integer(1), span))
        target = entity.expression
        statements.append(r.ExpressionStatement(r.Assignment("", target, value, target.type, span=span), span))
        return statements

    def _address(self, view: View, type: r.Type, span: Span | None) -> r.Expression:
        """Address at which an array or a section of one begins."""
        if view.whole is not None and view.whole.shape:
            return view.whole.expression
        return r.Address(view.at([integer(0)] * len(view.extents)), type, span)
