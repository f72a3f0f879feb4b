"""Assignments under masks, in the loops that gfortran makes of them (`gfc_trans_where` in GCC's trans-stmt.cc).

One assignment, or one and another behind a last `elsewhere`, is one loop that asks its mask in each pass. In all other
constructs a loop of its own computes each mask once into an array of bytes, which each assignment loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.effects import walk_records
from aspenpy.extract.fortran_expressions import FortranExpressions
from aspenpy.extract.fortran_nodes import Syntax, type_name
from aspenpy.extract.fortran_operations import assign, find_mask
from aspenpy.extract.fortran_scopes import INT, DimensionBounds, Entity, View, array_type, integer
from aspenpy.language.source import Span
from aspenpy.record import Record

BYTE = r.Type("integer", 1)
"""The type of stored masks."""


class Mask(Record):
    """A mask, its place with its parentheses and without, and whether the assignments under it are made where it holds
    or, behind `elsewhere`, where it does not."""

    values: View
    span: Span | None
    condition: Span | None
    holds: bool = True

    def stand_in(self, values: View) -> Mask:
        """The mask with its outcomes from somewhere else."""

        def at(counters: Sequence[r.Expression]) -> Any:
            return _at(values, counters).replace(span=self.condition)

        return self.replace(values=self.values.replace(at=at))


class Clause(Record):
    """A part of a construct: the node that begins it, its mask if it has one, and what stands under that."""

    head: Syntax
    mask: Syntax | None
    nodes: tuple[Syntax, ...]


class PlainAssignment(Record):
    """An assignment of arrays."""

    target: View
    value: View
    span: Span | None

    def overlaps(self, others: Sequence[View], is_moved: bool) -> bool:
        """Whether expressions have elements of the target: other ones than that of the pass, or any."""
        counters = [r.Variable(f"pass {place}", "pass", INT) for place in range(len(self.target.extents))]
        there = self.target.at(counters)
        found = (part for view in others for part in walk_records(view.at(counters if view.extents else ())))
        if not isinstance(there, r.Element):
            return True
        same = (part for part in found if isinstance(part, r.Element) and part.base == there.base)
        return any(not is_moved or part.index != there.index for part in same)


class MaskedAssignments:
    """The masked assignments of one procedure; `begin` notes a statement and returns its place."""

    def __init__(self, expressions: FortranExpressions, begin: Callable[[Syntax], Span | None]) -> None:
        self.expressions, self.begin = expressions, begin

    def read(self, node: Syntax) -> list[r.Statement]:
        """The loops of a `where`, statement or construct."""
        with self.expressions.collect() as before:
            made = self._read_in_one_loop(list(_list_clauses(node)))
            statements = [*before, *made] if made else []
        return statements or self._read_clauses(list(_list_clauses(node)), None, ())

    def _read_in_one_loop(self, clauses: Sequence[Clause]) -> list[r.Statement]:
        """The loop of one assignment, or of two; nothing where there are more or they depend on each other."""
        first, *others = clauses
        is_short = all([type_name(node) for node in clause.nodes] == ["Assignment_Stmt"] for clause in clauses)
        if not is_short or len(others) > 1 or first.mask is None or any(one.mask is not None for one in others):
            return []
        mask = self._read_mask(first.mask, self.begin(first.head))
        one, *two = (self._read_assignment(clause.nodes[0]) for clause in clauses)
        with self.expressions.collect():
            values = [part.value for part in (one, *two)]
            is_free = not any(part.overlaps([mask.values], is_moved=True) for part in (one, *two))
            if not is_free or any(part.overlaps(values, is_moved=not two) for part in (one, *two)):
                return []
        if not two:
            return [self._assign(one, (mask,))]

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            then, otherwise = (
                assign(part.target.at(counters), _at(part.value, counters), part.span) for part in (one, *two)
            )
            return [r.Branch(_at(mask.values, counters), then, otherwise, is_mask=True, span=mask.span)]

        return [self.expressions.make_nest(one.target.extents, body)]

    def _read_clauses(
        self, clauses: Sequence[Clause], around: View | None, masks: tuple[Mask, ...]
    ) -> list[r.Statement]:
        """The parts of a construct with stored masks: `around` is the array of those that it stands under, which the
        outcomes of `masks` make up."""
        statements: list[r.Statement] = []
        own = rest = None
        left = around
        for place, clause in enumerate(clauses):
            here, under, current = self.begin(clause.head), masks, left
            is_last = place == len(clauses) - 1
            if clause.mask is not None:
                with self.expressions.collect() as before:
                    mask = self._read_mask(clause.mask, here)
                    own = own or self._make_array(mask.values)
                    rest = rest or (self._make_array(mask.values) if left is not None and not is_last else None)
                    stored = [own] if clause.nodes or (left is None and not is_last) else []
                    made = self._store_mask(mask, left, stored, None if left is None or is_last else rest)
                statements += [*before, made]
                current, under = own, (*masks, mask)
                left, masks = own if left is None else rest, (*masks, mask.replace(holds=False))
            if current is not None:
                statements += [made for node in clause.nodes for made in self._read_under(node, current, under)]
        return statements

    def _read_under(self, node: Syntax, stored: View, masks: tuple[Mask, ...]) -> list[r.Statement]:
        """The loops of a statement under a stored mask, which assignments load in place of all masks that made it."""
        if type_name(node) != "Assignment_Stmt":
            return self._read_clauses(list(_list_clauses(node)), stored, masks)
        known = View(INT, (), lambda counters: self.expressions.make_variable("mask", INT))
        with self.expressions.collect() as before:
            asked = [mask.stand_in(known if place else stored) for place, mask in enumerate(masks)]
            made = self._assign(self._read_assignment(node), asked)
        return [*before, made]

    def _store_mask(self, mask: Mask, around: View | None, own: Sequence[View], rest: View | None) -> r.Statement:
        """The loop that stores for each element whether a mask holds and, in `rest`, whether it does not, where all
        masks `around` do."""

        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            holds = _at(mask.values, counters)
            if around is not None:
                outer, holds = self.expressions.keep(around.at(counters)), self.expressions.keep(holds)
                holds = r.Operation("&", (outer, holds), BYTE, mask.span)
            arrays = own if rest is None else (*own, rest)
            return [assign(each.at(counters), holds, mask.span) for each in arrays]

        return self.expressions.make_nest(mask.values.extents, body)

    def _make_array(self, values: View) -> View:
        """An array of bytes for the outcomes of a mask."""
        shape = tuple(DimensionBounds(integer(1), extent) for extent in values.extents)
        whole = self.expressions.make_variable("mask", array_type(BYTE, shape, False))
        self.expressions.before.append(r.Declaration(whole, span=self.expressions.statement))
        return self.expressions.view_entity(Entity(whole, BYTE, shape), None)

    def _read_mask(self, node: Syntax, statement: Span | None) -> Mask:
        values = self.expressions.view(node)
        with self.expressions.collect():
            sample = values.at([integer(0)] * len(values.extents))
        return Mask(values, None if statement is None else find_mask(statement), sample.span)

    def _read_assignment(self, node: Syntax) -> PlainAssignment:
        span, (target, _, value) = self.begin(node), node.children
        return PlainAssignment(self.expressions.view(target), self._view_value(value), span)

    def _view_value(self, node: Syntax) -> View:
        """The value of an assignment, of a scalar one computed once."""
        view = self.expressions.view(node)
        if view.extents or isinstance(view.at(()), r.Constant | r.Variable):
            return view
        kept = self.expressions.keep(view.at(()))
        return View(view.element, (), lambda counters: kept)

    def _assign(self, made: PlainAssignment, masks: Sequence[Mask]) -> r.Statement:
        def body(counters: Sequence[r.Expression]) -> list[r.Statement]:
            step = assign(made.target.at(counters), _at(made.value, counters), made.span)
            for mask in reversed(masks):
                then, otherwise = (step, None) if mask.holds else (r.CompoundStatement(()), step)
                step = r.Branch(_at(mask.values, counters), then, otherwise, is_mask=True, span=mask.span)
            return [step]

        return self.expressions.make_nest(made.target.extents, body)


def _at(view: View, counters: Sequence[r.Expression]) -> r.Expression:
    return view.at(counters if view.extents else ())


def _list_clauses(node: Syntax) -> Iterator[Clause]:
    """The parts of a `where`; of a statement one."""
    if type_name(node) == "Where_Stmt":
        yield Clause(node, node.children[0], (node.children[1],))
        return
    head: Syntax | None = None
    nodes: list[Syntax] = []
    for child in node.children:
        kind = type_name(child)
        is_head = kind in ("Where_Construct_Stmt", "Masked_Elsewhere_Stmt", "Elsewhere_Stmt")
        if (is_head or kind == "End_Where_Stmt") and head is not None:
            yield Clause(head, None if type_name(head) == "Elsewhere_Stmt" else head.children[0], tuple(nodes))
        if is_head:
            head, nodes = child, []
        elif kind in ("Assignment_Stmt", "Where_Stmt", "Where_Construct"):
            nodes.append(child)
