"""Expressions: their values, as far as whole numbers and pointers go, and what it costs to compute them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from aspenpy.expr.polynomial import Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.atomics import mark_atomic
from aspenpy.extract.costs import Alternative, Item, Meaning, PointerTarget, is_slow_item
from aspenpy.extract.effects import find_part_condition
from aspenpy.extract.memory import Memory
from aspenpy.extract.places import AssignmentTarget, Places, root_variable, source_name
from aspenpy.extract.scope import NOTHING, STEADY, UNKNOWN, Known, Real, depends_on_data, join_paths, single_symbol
from aspenpy.extract.state import WalkState, WalkTask, source_text
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span

CLASSES = {"+": "add", "-": "add", "*": "multiply", "/": "divide"}

COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne
}  # fmt: skip
COMPARISONS = COMPARED.keys()

COMPUTED: dict[str, Callable[[Value, Value], Value]] = {
    "+": v.add, "-": v.subtract, "*": v.multiply, "/": v.floor_quotient, "%": v.remainder
}  # fmt: skip
"""What gives the value of an operation on whole numbers."""

SHIFTS = {"<<": "*", ">>": "/"}
"""What shifts do with a power of two."""

OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


class Evaluator(WalkTask):
    """Evaluates expressions at one point of a function, and appends their costs to `out`."""

    def __init__(
        self, state: WalkState, call: Callable[[r.Call], Known], select: Callable[[r.Selection], Known]
    ) -> None:
        super().__init__(state)
        self.places = Places(state, self)
        self.memory = Memory(state, self.places)
        self.call = call
        self._rules: dict[type, Callable[[Any], Known]] = {
            r.Constant: self._evaluate_constant,
            r.Variable: self.memory.load,
            r.Element: self.memory.load,
            r.Field: self.memory.load,
            r.Operation: self._operate,
            r.Assignment: self._assign,
            r.Conversion: self._convert,
            r.Selection: select,
            r.Call: self._evaluate_call,
            r.Address: lambda node: self.places.take_address(node.operand),
            r.Routine: lambda node: None,
            r.Several: self._evaluate_several,
        }

    def evaluate(self, node: r.Expression) -> Known:
        """Evaluates an expression; what cannot be expressed is unknown."""
        try:
            return self._rules[type(node)](node)
        except TooLong:
            return self.state.make_unknown("value", node.span)

    def evaluate_integer(self, node: r.Expression) -> Value:
        """The value of an expression of whole numbers."""
        value = self.evaluate(node)
        return value if isinstance(value, Polynomial) else self.state.make_unknown(source_text(node), node.span)

    def integer_without_costs(self, node: r.Expression) -> Value:
        """Value of an expression whose costs count elsewhere."""
        with self.state.collect():
            return self.evaluate_integer(node)

    def _evaluate_call(self, node: r.Call) -> Known:
        """Value that a call returns; what it returns by reference is loaded."""
        value = self.call(node)
        if isinstance(value, PointerTarget) and node.type.kind in ("real", "integer"):
            return self.memory.read(
                AssignmentTarget(None, value, node.type, shape=(), name=value.name or source_name(node)), node
            )
        return value

    # -- the kinds of expressions ------------------------------------------------------------------

    def _evaluate_constant(self, node: r.Constant) -> Known:
        if node.macro is not None and isinstance(node.value, int) and node.value > 1:
            return atom_polynomial(self.facts.macros[node.macro])
        if node.type.kind == "real":
            return Real({}, float(node.value)) if node.value is not None else NOTHING
        return constant_polynomial(int(node.value)) if node.value is not None else None

    def _evaluate_several(self, node: r.Several) -> Known:
        value: Known = None
        for part in node.parts:
            value = self.evaluate(part)
        if node.type.kind == "real" and not isinstance(value, Real):
            return NOTHING
        if node.known:
            return value
        self.state.report_uncounted(
            "not-counted", "an expression that is not understood: only its parts are counted", node.span
        )
        return self.state.unknown_result(node)

    def _convert(self, node: r.Conversion) -> Known:
        value = self.evaluate(node.operand)
        to, of = node.type, node.operand.type
        if to.kind == "real":
            if of.kind in ("real", "integer") and not isinstance(node.operand, r.Constant):
                self.state.add_arithmetic("convert", to, node.span)
            return join_paths([value], "convert") if isinstance(value, Real) else NOTHING
        if of.kind == "real" and to.kind == "integer":
            self.state.add_arithmetic("convert", of, node.span)
            return self.state.make_unknown(source_text(node.operand), node.span)
        return value

    def _operate(self, node: r.Operation) -> Known:
        if node.operator in ("&&", "||"):
            return self._evaluate_junction(node)
        operands = [self.evaluate(operand) for operand in node.operands]
        types = [operand.type for operand in node.operands]
        real = next((type for type in types if type.kind == "real"), None)
        if real is not None or node.type.kind == "real":
            return self._operate_on_reals(node, operands, real or node.type)
        if (decided := _compare_with_null(node, operands)) is not None:
            return decided
        if any(isinstance(operand, PointerTarget) for operand in operands):
            return self._move_pointer(node, operands)
        are_numbers = all(isinstance(part, r.Constant) and part.macro is None for part in node.operands)
        if not are_numbers and node.operator != "not":
            self.state.add_arithmetic("integer", node.type, node.span)
        numbers = [
            value if isinstance(value, Polynomial) else self.state.make_unknown(source_text(part), part.span)
            for value, part in zip(operands, node.operands, strict=True)
        ]
        if node.operator in COMPARISONS or node.operator == "not":
            return self._compare(node, numbers)
        found = _compute(node.operator, numbers)
        return found if found is not None else self.state.make_unknown(source_text(node), node.span)

    def _compare(self, node: r.Operation, numbers: list[Value]) -> Value:
        """Value of a comparison: 1 or 0 where it is known, else a symbol that remembers what was compared with 0."""
        sign, difference = ("==", numbers[0]) if len(numbers) == 1 else (node.operator, v.subtract(*numbers))
        if len(numbers) == 1 and (truth := self.find_comparison(difference)) is not None:
            sign, difference = OPPOSITE[truth[0]], truth[1]
        known = v.number(difference)
        if known is not None:
            return ONE if COMPARED[sign](float(known), 0) else ZERO
        unknown = self.state.make_unknown(source_text(node), node.span)
        if not depends_on_data(difference):
            (symbol,) = v.symbols(unknown)
            self.names.truths[symbol] = (sign, difference)
        return unknown

    def find_comparison(self, value: Value) -> tuple[str, Value] | None:
        """The comparison with 0 whose outcome a value is; None for other values."""
        symbol = single_symbol(value)
        return None if symbol is None else self.names.truths.get(symbol)

    def _operate_on_reals(self, node: r.Operation, operands: list[Known], type: r.Type) -> Known:
        constants = all(isinstance(operand, r.Constant) for operand in node.operands)
        parts = [operand if isinstance(operand, Real) else NOTHING for operand in operands]
        if node.operator in COMPARISONS:
            self.state.add_arithmetic("compare", type, node.span)
            left, right = (*parts, NOTHING)[:2]
            if left.number is not None and right.number is not None:
                return ONE if COMPARED[node.operator](left.number, right.number) else ZERO
            return self.state.make_unknown(source_text(node), node.span)
        name = CLASSES.get(node.operator)
        if name == "multiply":
            name = _product_class(node.operands)
        if node.operator == "neg" and parts[0].number is not None:
            return Real(parts[0].paths, -parts[0].number)
        if constants or name is None or node.operator == "neg":
            return join_paths(parts)
        self.state.add_arithmetic(name, type, node.span)
        return join_paths(parts, name)

    def _move_pointer(self, node: r.Operation, operands: list[Known]) -> Known:
        """Arithmetic on pointers; what comparing them gives is not known."""
        if node.operator in COMPARISONS:
            return None
        left, right = (*operands, None)[:2]
        types = [operand.type for operand in node.operands]
        if isinstance(left, PointerTarget) and isinstance(right, PointerTarget):
            if node.operator != "-" or left.array != right.array or left.offset is None or right.offset is None:
                return None
            of = types[0].of.size if types[0].of else 1
            return v.quotient(v.subtract(left.offset, right.offset), constant_polynomial(of or 1))
        if node.operator == "+" and isinstance(right, PointerTarget):
            left, right, types = right, left, types[::-1]
        if not isinstance(left, PointerTarget) or not isinstance(right, Polynomial) or node.operator not in ("+", "-"):
            return left if isinstance(left, PointerTarget) else None
        root = root_variable(node.operands[0]) or ""
        size = self.places.element_size(types[0].of or types[0], self.frame.shapes.get(root, ()))
        if left.offset is None or size is None:
            return PointerTarget(left.array, None)
        step = v.multiply(right, size)
        return PointerTarget(left.array, v.add(left.offset, step if node.operator == "+" else -step))

    def _evaluate_junction(self, node: r.Operation) -> Known:
        """Evaluates `a && b` or `a || b`."""
        first, second = node.operands
        self.evaluate(first)
        with self.state.collect() as items:
            self.evaluate(second)
        self.add_second_part(node, items)
        return self.state.make_unknown(source_text(node), node.span)

    def add_second_part(self, node: r.Operation, items: list[Item]) -> None:
        """Adds the costs of the second part of `a && b` or `a || b`: where it is slow, for the share of a run in which
        the first does not decide."""
        share = self.count_outcomes(node) if any(map(is_slow_item, items)) else None
        if share is None:
            self.state.out += items
        else:
            sides = (items, []) if node.operator == "&&" else ([], items)
            self.out.append(Alternative((), share, *sides))

    def count_outcomes(self, node: r.Expression) -> Value | None:
        """Share in which the condition of a part of an expression holds, which a run records; None without runs."""
        part = find_part_condition(node) if self.names.counts_each else None
        if part is None or part.place is None:
            return None
        meaning = Meaning(f"how often `{source_text(part.condition)}` holds, from 0 to 1", is_share=True)
        share = self.state.add_hole("branch", meaning, constant_polynomial(Fraction(1, 2)), part.place, low=0)
        self.names.outcomes |= v.symbols(share)
        return share

    def find_extreme(self, node: r.Selection) -> Value | None:
        """The minimum or maximum that a selection such as `a < b ? a : b` computes; None for other selections."""
        condition = node.condition
        if not isinstance(condition, r.Operation) or condition.operator not in ("<", "<=", ">", ">="):
            return None
        if any(part.type.kind != "integer" for part in (node, *condition.operands)):
            return None
        sides = [self.integer_without_costs(part) for part in (*condition.operands, node.chosen, node.otherwise)]
        straight = v.is_same(sides[0], sides[2]) and v.is_same(sides[1], sides[3])
        crossed = v.is_same(sides[0], sides[3]) and v.is_same(sides[1], sides[2])
        if not straight and not crossed:
            return None
        self.evaluate(condition)
        less = condition.operator[0] == "<"
        return v.extreme_of("min" if less == straight else "max", sides[:2])

    def _assign(self, node: r.Assignment) -> Known:
        if not node.atomic:
            return self._assign_plainly(node)
        with self.state.collect() as inside:
            value = self._assign_plainly(node)
        self.state.out += mark_atomic(inside, node.atomic)
        return value

    def _assign_plainly(self, node: r.Assignment) -> Known:
        target, type = node.target, node.type
        if not node.operator and type.kind == "record":
            return self._assign_structure(node)
        if not node.operator:
            value = self.evaluate(node.value)
            if type.kind == "real" and not isinstance(value, Real):
                value = NOTHING
            there = self.places.locate(target)
            value = self._set_input_apart(value, target, node.span)
            self.name_value(value, target, node.span)
            self.memory.store(there, value, node.span)
            return value
        before = self.evaluate(target)
        wide = node.value.type if node.value.type.kind == "real" and node.value.type.size > type.size else type
        if type.kind == "real" and wide is not type:
            self.state.add_arithmetic("convert", wide, node.span)
        operation = r.Operation(node.operator, (target, node.value), wide, node.span)
        amount = self.evaluate(node.value)
        if type.kind == "real" and node.value.type.kind == "integer" and not isinstance(node.value, r.Constant):
            self.state.add_arithmetic("convert", type, node.span)
        after = self._update(operation, before, amount)
        if wide is not type and type.kind == "real":
            self.state.add_arithmetic("convert", wide, node.span)
        with self.state.collect():
            there = self.places.locate(target)
        self.memory.store(there, after, node.span)
        return before if node.is_postfix else after

    def _assign_structure(self, node: r.Assignment) -> Known:
        """Assigns a structure to another one."""
        source, there = self.places.locate(node.value), self.places.locate(node.target)
        if source is not None and source.place is not None:
            self.memory.add_access("load", source, node.span)
        self.memory.store(there, None, node.span)
        self.copy_members(node.value, node.target)
        return None

    def known_members(self, node: r.Expression) -> Mapping[str, Known]:
        """Values of a structure's members, in registers or in memory, by name; of a call those of the structure it
        returned."""
        if isinstance(node, r.Call):
            return self.stack.members
        with self.state.collect():
            there = self.places.locate(node)
        if there is not None and there.place is not None:
            return self._members_in_memory(there.place, node.type)
        if not isinstance(node, r.Variable):
            return {}
        head = f"{self.frame.aliases.get(node.key, node.key)}."
        return {name[len(head) :]: value for name, value in self.scope.values.items() if name.startswith(head)}

    def _members_in_memory(self, place: PointerTarget, type: r.Type) -> dict[str, Known]:
        members: dict[str, Known] = {}
        for (owner, name), at in self.facts.member_offsets.items():
            if owner == type.name and place.offset is not None:
                known = self.scope.memory.get((place.array, v.value_key(v.add(place.offset, constant_polynomial(at)))))
                members.update({} if known is None else {name: known})
        return members

    def copy_members(self, source: r.Expression, target: r.Expression) -> None:
        """Copies what is known of the members of a structure to another one."""
        given = self.known_members(source)
        with self.state.collect():
            there = self.places.locate(target)
        if there is None:
            return
        if there.place is not None:
            self._set_members(there.place, target.type, given)
            return
        head = f"{there.variable}."
        for name in [name for name in self.scope.values if name.startswith(head)]:
            self.scope.values.pop(name)
        for name, value in given.items():
            self.scope.values[head + name] = value

    def _set_members(self, place: PointerTarget, type: r.Type, given: Mapping[str, Known]) -> None:
        """Stores the known values of the members of a structure at its place in memory."""
        for name, value in given.items():
            at = self.facts.member_offsets.get((type.name, name))
            if at is None or place.offset is None or isinstance(value, Real):
                continue
            offset = v.add(place.offset, constant_polynomial(at))
            key = place.array, v.value_key(offset)
            self.scope.memory[key], self.scope.offsets[key] = value, offset
            self.names.called.setdefault(key, name)
            self.names.fields.setdefault(key, name)

    def _update(self, node: r.Operation, before: Known, amount: Known) -> Known:
        if node.type.kind == "real":
            return self._operate_on_reals(node, [before, amount], node.type)
        if isinstance(before, PointerTarget):
            return self._move_pointer(node, [before, amount])
        self.state.add_arithmetic("integer", node.type, node.span)
        is_known = isinstance(before, Polynomial) and isinstance(amount, Polynomial)
        value = _compute(node.operator, [before, amount]) if is_known else None  # type: ignore[list-item]
        return value if value is not None else self.state.unknown_result(node)

    def _set_input_apart(self, value: Known, target: r.Expression, span: Span | None) -> Known:
        """An input of its own for a target to which a loop assigns what it reads, as loops over options do."""
        symbol, name = single_symbol(value), source_name(target)
        origin = self.names.unknowns[symbol][0] if symbol in self.names.inputs else name
        if not self.active.changes or origin == name or re.fullmatch(r"[A-Za-z_]\w*", origin) is None:
            return value
        return self.names.make_input(name, span)

    def name_value(self, value: Known, target: r.Expression, given: Span | None) -> None:
        """Names an unknown value or allocated memory after the first variable that it is assigned to; `given` is what
        is assigned there."""
        name = source_name(target)
        if isinstance(value, PointerTarget):
            array = self.names.arrays[value.array]
            if array.name.startswith("allocated") and name:
                self.names.arrays[value.array] = array.replace(name=self.names.make_unique(name))
        elif (symbol := single_symbol(value)) is not None and symbol.payload[1] in (UNKNOWN, STEADY):
            known, span = self.names.unknowns.get(symbol, ("", None))
            if re.fullmatch(r"[A-Za-z_][\w.>-]*", known) is None:
                self.names.unknowns[symbol] = (name, given or span)


def _compute(operator: str, numbers: list[Value]) -> Value | None:
    """Value of an operation on whole numbers; None where it is no formula."""
    if operator == "neg":
        return -numbers[0]
    if len(numbers) != 2:
        return None
    a, b = numbers
    if operator in SHIFTS:
        shift = v.whole_number(b)
        if shift is None or not 0 <= shift < 63:
            return None
        operator, b = SHIFTS[operator], constant_polynomial(2**shift)
    is_undefined = operator in ("/", "%") and v.number(b) == 0
    return None if is_undefined or operator not in COMPUTED else COMPUTED[operator](a, b)


def _product_class(operands: tuple[r.Expression, ...]) -> str | None:
    """Operation class of a product: compilers add what is doubled, and drop factors of 1 and -1."""
    factors = [part.value for part in operands if isinstance(part, r.Constant) and part.value is not None]
    if any(abs(factor) == 1 for factor in factors):
        return None
    return "add" if 2 in factors else "multiply"


def _compare_with_null(node: r.Operation, operands: list[Known]) -> Value | None:
    """Result of comparing a pointer with null: one that is known to point at memory is not null."""
    places = [operand for operand in operands if isinstance(operand, PointerTarget)]
    if len(places) != 1:
        return None
    if node.operator == "not":
        return ZERO
    others = [
        part for part, operand in zip(node.operands, operands, strict=True) if not isinstance(operand, PointerTarget)
    ]
    while others and isinstance(others[0], r.Conversion):
        others[0] = others[0].operand
    is_null = len(others) == 1 and isinstance(others[0], r.Constant) and others[0].value == 0
    return {"==": ZERO, "!=": ONE}.get(node.operator) if is_null else None
