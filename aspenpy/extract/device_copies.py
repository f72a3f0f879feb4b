"""Copies over the link of the host that directives name: `map` of OpenMP's `target`, `copy`, `copyin` and `copyout` of
OpenACC, around the loop that they stand above or where they stand alone: an array is copied when it comes to the device
and when it leaves, not in between (OpenMP 5.2, section 5.8.3; OpenACC 3.3, sections 2.6.6, 2.7 and 2.14.4)."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import MessageStatement, PointerTarget
from aspenpy.extract.effects import walk_records
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.places import innermost_type
from aspenpy.extract.pragmas import Mapped, find_transfer, list_mapped
from aspenpy.extract.scope import Known, Names, depends_on_data
from aspenpy.extract.state import WalkState, WalkTask
from aspenpy.extract.values import TooLong, Value
from aspenpy.language.source import Span

Offloaded = r.LoopStatement | r.CompoundStatement


class MappedCopies(WalkTask):
    """Writes the copies of the loops of a walk."""

    def __init__(self, state: WalkState, evaluator: Evaluator) -> None:
        super().__init__(state)
        self.evaluator = evaluator
        self.regions: list[tuple[Offloaded, list[Mapped]]] = []
        self.variables: dict[str, dict[str, r.Variable]] = {}

    @contextmanager
    def copy_around(self, node: Offloaded) -> Iterator[None]:
        """Writes the copies around what is walked meanwhile: of what is on the device already there are none."""
        is_fortran = node.span is not None and os.path.splitext(node.span.source.name)[1] in r.FORTRAN
        kind = find_transfer(node.pragmas[0], is_fortran) if node.pragmas else ""
        if kind:
            self._transfer(node, kind, is_fortran)
            yield
            return
        listed = self._enter(node, list_mapped(node.pragmas, is_fortran))
        yield
        self._leave(node, listed)

    def _transfer(self, node: Offloaded, kind: str, is_fortran: bool) -> None:
        """Writes the copies of a directive that stands alone."""
        listed = [*list_mapped(node.pragmas, is_fortran)]
        if kind == "end":
            if self.regions:
                self._leave(*self.regions.pop())
        elif kind == "exit":
            self._leave(node, [each for each in listed if self._is_present(self._find_key(each, node))])
        elif kind == "update":
            self._copy(node, [each for each in listed if each.is_input], "to")
            self._copy(node, [each for each in listed if each.is_output], "from")
        else:
            entered = self._enter(node, listed)
            self.regions += [(node, entered)] if kind == "begin" else []

    def _enter(self, node: Offloaded, listed: Iterable[Mapped]) -> list[Mapped]:
        """Copies what is not on the device yet to it, and gives what is there from now on."""
        found = []
        for mapped in listed:
            key = self._find_key(mapped, node)
            if self._is_present(key):
                continue
            if mapped.clause == "present":
                self._check_presence(mapped, key, node)
                continue
            found.append(mapped)
            self.names.on_device.append(key)
        self._copy(node, [each for each in found if each.is_input], "to")
        return found

    def _leave(self, node: Offloaded, listed: list[Mapped]) -> None:
        """Copies what was on the device from it, where its clause says so."""
        for mapped in listed:
            key = self._find_key(mapped, node)
            if key in self.names.on_device:
                self.names.on_device.remove(key)
        self._copy(node, [each for each in listed if each.is_output], "from")

    def _is_present(self, key: str) -> bool:
        function = self.frame.function.key if self.frame.function is not None else ""
        return key in self.names.on_device or (function, key) in self.names.given_on_device

    def _check_presence(self, mapped: Mapped, key: str, node: Offloaded) -> None:
        array = self.names.arrays.get(key)
        if array is not None and array.hold != "formal":
            self.state.report_uncounted("absent", f"`{mapped.name}` is not on the device here", node.span)

    def _find_key(self, mapped: Mapped, node: Offloaded) -> str:
        """The key of the array that a clause names."""
        variable = self._list_variables(node).get(mapped.name)
        if variable is None:
            return mapped.name
        with self.state.collect():
            target = self.evaluator.evaluate(variable)
        return target.array if isinstance(target, PointerTarget) else self.frame.aliases.get(variable.key, variable.key)

    def _list_variables(self, node: Offloaded) -> Mapping[str, r.Variable]:
        """The variables of a loop or block, and of the function around it, by name."""
        around = [self.facts.functions.get(key) for key in self.stack.inlined]
        functions = [each for each in (self.frame.function, *around) if each is not None]
        found: dict[str, r.Variable] = {}
        for function in functions:
            if function.key not in self.variables:
                own = {part.name: part for part in walk_records(function.body) if isinstance(part, r.Variable)}
                self.variables[function.key] = own | {part.name: part for part in function.formals}
            found |= self.variables[function.key]
        return found | {part.name: part for part in walk_records(node) if isinstance(part, r.Variable)}

    def _copy(self, node: Offloaded, listed: Iterable[Mapped], way: str) -> None:
        for mapped in listed:
            volume = self._find_volume(mapped, self._list_variables(node), dict(node.lengths))
            if volume is None or depends_on_data(volume):
                message = f"the bytes of `{mapped.text}` are not known: its copies are not counted"
                self.state.report_uncounted("not-counted", message, node.span)
                continue
            self.state.out.append(_make_copy(volume, f"{mapped.text} {way} the device", node.span))

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
            lengths += self.evaluator.places.extents(_part_of(variable.type, len(lengths)))
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


def _part_of(type: r.Type, depth: int) -> r.Type:
    """The type behind some subscripts: of a row, where sections are given of the first dimension alone."""
    for _ in range(depth):
        type = type.of or type
    return type if type.kind == "array" else r.Type("other")


def note_on_device(names: Names, caller: str, function: r.Function, found: Iterable[Known]) -> None:
    """Notes which arrays are on the device in all calls of a function so far, by its own names for its arguments, and
    which it brings there or takes away."""
    is_first = function.key not in names.called_with
    names.called_with.add(function.key)
    given = [(formal, value) for formal, value in zip(function.formals, found, strict=False)]
    targets = [(formal.key, value.array) for formal, value in given if isinstance(value, PointerTarget)]
    pairs = [(own, key) for formal, key in targets for own in (formal, f"{formal}*", key)]
    pairs += [(key, key) for key, array in names.arrays.items() if array.hold == "global"]
    for own, key in pairs:
        there = key in names.on_device or (caller, key) in names.given_on_device
        place = (function.key, own)
        if there and (is_first or place in names.given_on_device):
            names.given_on_device.add(place)
        else:
            names.given_on_device.discard(place)
    arrays = {formal.name: value.array for formal, value in given if isinstance(value, PointerTarget)}
    for node in walk_records(function.body):
        if isinstance(node, r.CompoundStatement) and node.pragmas:
            kind = find_transfer(node.pragmas[0], is_fortran=False)
            for mapped in list_mapped(node.pragmas, is_fortran=False) if kind in ("enter", "exit") else ():
                key = arrays.get(mapped.name, "")
                if kind == "enter" and key and key not in names.on_device:
                    names.on_device.append(key)
                elif kind == "exit" and key in names.on_device:
                    names.on_device.remove(key)


def _make_copy(volume: Value, note: str, span: Span | None) -> MessageStatement:
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
