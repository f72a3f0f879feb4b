"""Programs as text in LLVM's assembly: a loop over points.

No fast-math: every operation is rounded as in IEEE 754, like in the other back ends.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from aspenpy.engine.arrays import MOST_PASSES
from aspenpy.engine.compiled import CONDITIONS, flatten_array, is_condition
from aspenpy.engine.operation import Op, SumLoop, is_certain, lies_within
from aspenpy.engine.program import Program
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS

LIKE_ARITHMETIC = {
    "add": "fadd double {0}, {1}",
    "sub": "fsub double {0}, {1}",
    "mul": "fmul double {0}, {1}",
    "square": "fmul double {0}, {0}",
    "neg": "fneg double {0}",
    "power": "call double @aspen_pow(double {0}, double {1})",
    "root": "call double @aspen_root(double {0}, double {payload}.0)",
}
"""The kinds that are one instruction; those of functions are in the table of functions."""

ORDERS = {"==": "oeq", "!=": "one", "<": "olt", ">": "ogt", "<=": "ole", ">=": "oge"}

NAN, INFINITY = "0x7FF8000000000000", "0x7FF0000000000000"

HELPERS = Path(__file__).with_name("helpers")


def write_source(program: Program, given: tuple[int, ...], lanes: int) -> str:
    """The program with a column for each operation that is given, for a processor that handles `lanes` points with one
    instruction."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"ptr noalias readonly %in{n}" for n in inputs] + [f"ptr noalias %out{n}" for n in results]
    writer = _Writer(program)
    for number, index in enumerate(given):
        writer.load_column(index, number)
    writer.write_block(index for index in program.needed_operations(program.roots, given) if index not in given)
    failed = writer.failed
    for number, root in enumerate(program.roots):
        failed = writer.write_or(failed, writer.write_not(writer.write_is_finite(writer.operand_of(root))))
        writer.add_line(f"%to{number} = getelementptr inbounds double, ptr %out{number}, i64 %i")
        writer.add_line(f"store double {writer.operand_of(root)}, ptr %to{number}")
    uses_lru = any("@aspen_lru_hits(" in line for line in writer.lines)
    preference = f'"prefer-vector-width"="{64 * lanes}" ' if uses_lru else ""
    return "\n".join(
        [
            _read_helper("arithmetic"),
            *_declare_functions(),
            *(_write_lru_helpers(lanes) if uses_lru else ()),
            *writer.tables,
            f"define i32 @run(i64 %count, {', '.join(parameters)}) {preference}{{",
            "entry:",
            "  %some = icmp sgt i64 %count, 0",
            "  br i1 %some, label %points, label %end",
            "points:",
            f"  %i = phi i64 [ 0, %entry ], [ %next, %{writer.label} ]",
            f"  %failed = phi i1 [ false, %entry ], [ {failed}, %{writer.label} ]",
            *writer.lines,
            "  %next = add nuw nsw i64 %i, 1",
            "  %more = icmp slt i64 %next, %count",
            "  br i1 %more, label %points, label %end",
            "end:",
            f"  %any = phi i1 [ false, %entry ], [ {failed}, %{writer.label} ]",
            "  %outcome = zext i1 %any to i32",
            "  ret i32 %outcome",
            "}",
            "",
        ]
    )


@cache
def _declare_functions() -> tuple[str, ...]:
    """Declarations of the functions of the C library that the table of functions calls."""
    calls = {call for row in FUNCTIONS.values() for call in re.findall(r"@([a-z0-9]+)\((.*)\)", row.llvm)}
    return tuple(
        f"declare double @{name}({', '.join(['double'] * arguments.count('double'))}) nounwind willreturn memory(none)"
        for name, arguments in sorted(calls)
        if f"@{name}(" not in _read_helper("arithmetic")
    )


@cache
def _read_helper(name: str) -> str:
    return (HELPERS / f"{name}.ll").read_text(encoding="utf-8")


def _write_lru_helpers(lanes: int) -> list[str]:
    """The hits of LRU caches at one point, and at `lanes` points."""
    several = [_read_helper("lru_lanes").replace("LANES", str(count)) for count in (1, lanes)]
    return [_read_helper("lru").replace("LANES", str(lanes)), *several]


def _write_numeral(value: float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Writer:
    """Instructions for operations. A missing value is nan or infinite and stays so up to the result; a condition
    without value is not `decided`. `label` names the current basic block."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.tables: list[str] = []
        self.label = "points"
        self.decided: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._loaded: set[int] = set()
        self.failed = "%failed"
        self._count = 0

    def operand_of(self, index: int) -> str:
        """The operand text for the value of an operation."""
        op = self.program.ops[index]
        return _write_numeral(op.payload) if op.kind == "constant" else self._names[index]

    def condition_of(self, index: int) -> str:
        """The operand text for a condition; false for one that failed."""
        return "false" if self.program.ops[index].kind == "failed" else self.operand_of(index)

    def add_line(self, text: str) -> None:
        self.lines.append("  " + text)

    def add_instruction(self, text: str) -> str:
        """The name of the result of a new instruction."""
        self._count += 1
        self.add_line(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def begin_block(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def load_column(self, index: int, column: int) -> None:
        """Loads the value of an operation at this point from its column."""
        at = self.add_instruction(f"getelementptr inbounds double, ptr %in{column}, i64 %i")
        value = self._names[index] = self.add_instruction(f"load double, ptr {at}")
        self._loaded.add(index)
        low, high = self.program.intervals[index]
        if is_certain((low, high)):
            inside = self.write_and(
                self.write_comparison("oge", value, _write_numeral(low)),
                self.write_comparison("ole", value, _write_numeral(high)),
            )
            self.failed = self.write_or(self.failed, self.write_not(inside))

    def write_block(self, indices: Iterable[int]) -> None:
        for index in indices:
            op = self.program.ops[index]
            if op.kind in CONDITIONS or is_condition(self.program, index):
                self._write_condition(index, op)
            elif op.kind not in ("constant", "array"):
                self._names[index] = self.write_value(op)

    def write_value(self, op: Op) -> str:
        if op.kind in _SPECIAL:
            made: str = _SPECIAL[op.kind](self, op)
            return made
        template = LIKE_ARITHMETIC.get(op.kind) or FUNCTIONS[op.kind].llvm
        return self.add_instruction(template.format(*map(self.operand_of, op.args), payload=op.payload))

    # -- conditions ------------------------------------------------------------------------------

    def _write_condition(self, index: int, op: Op) -> None:
        """The condition, and whether it is decided: the second part does not matter where the first decides."""
        if op.kind == "constant":
            return
        if op.kind == "compare":
            left, right = map(self.operand_of, op.args)
            self._names[index] = self.write_comparison(ORDERS[op.payload], left, right)
            self.decided[index] = self.write_and(*map(self.write_is_defined, op.args))
            return
        first, *parts = op.args
        here = self.condition_of(first)
        if op.kind == "if":
            self._names[index] = self.write_select(here, self.condition_of(parts[0]), self.condition_of(parts[1]), "i1")
            later = self.write_select(here, self.write_is_defined(parts[0]), self.write_is_defined(parts[1]), "i1")
        else:
            joined = self.write_and if op.kind == "and" else self.write_or
            self._names[index] = joined(here, self.condition_of(parts[0]))
            enough = self.write_not(here) if op.kind == "and" else here
            later = self.write_or(enough, self.write_is_defined(parts[0]))
        self.decided[index] = self.write_and(self.write_is_defined(first), later)

    def write_is_defined(self, index: int) -> str:
        """Whether an operation has a value."""
        if index in self.decided:
            return self.decided[index]
        kind = self.program.ops[index].kind
        if kind == "failed":
            return "false"
        if index in self._loaded or kind in ("constant", "counter") or is_certain(self.program.intervals[index]):
            return "true"
        return self.write_is_finite(self.operand_of(index))

    def write_and(self, first: str, second: str) -> str:
        if "true" in (first, second):
            return second if first == "true" else first
        return self.add_instruction(f"and i1 {first}, {second}")

    def write_or(self, first: str, second: str) -> str:
        return "true" if "true" in (first, second) else self.add_instruction(f"or i1 {first}, {second}")

    def write_not(self, condition: str) -> str:
        return self.add_instruction(f"xor i1 {condition}, true")

    def write_is_finite(self, value: str) -> str:
        size = self.add_instruction(f"call double @llvm.fabs.f64(double {value})")
        return self.write_comparison("olt", size, INFINITY)

    def write_comparison(self, order: str, left: str, right: str) -> str:
        return self.add_instruction(f"fcmp {order} double {left}, {right}")

    def write_select(self, condition: str, then: str, otherwise: str, kind: str = "double") -> str:
        return self.add_instruction(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")

    def write_held_value(self, condition: str, value: str) -> str:
        """The value where the condition holds, nan elsewhere."""
        return value if condition == "true" else self.write_select(condition, value, NAN)

    def write_element(self, element: float | int) -> str:
        return _write_numeral(element) if isinstance(element, float) else self.operand_of(element)

    def require_elements(self, index: int, value: str) -> str:
        """The value, or nan if any element of the array has no value."""
        array = flatten_array(self.program, index)
        assert array is not None
        for element in array.elements:
            if isinstance(element, int):
                value = self.write_held_value(self.write_is_defined(element), value)
        return value


# -- kinds that take more than one instruction -----------------------------------------------------


def _make_extreme_rule(order: str) -> Any:
    def extreme(writer: _Writer, op: Op) -> str:
        left, right = map(writer.operand_of, op.args)
        chosen = writer.write_select(writer.write_comparison(order, left, right), left, right)
        return writer.write_held_value(writer.write_and(*map(writer.write_is_defined, op.args)), chosen)

    return extreme


def _write_if(writer: _Writer, op: Op) -> str:
    condition, then, otherwise = op.args
    chosen = writer.write_select(writer.condition_of(condition), writer.operand_of(then), writer.operand_of(otherwise))
    return writer.write_held_value(writer.write_is_defined(condition), chosen)


def _write_div(writer: _Writer, op: Op) -> str:
    quotient = writer.add_instruction(f"fdiv double {writer.operand_of(op.args[0])}, {writer.operand_of(op.args[1])}")
    return writer.write_held_value(writer.write_is_defined(op.args[1]), quotient)


def _write_checked(writer: _Writer, op: Op) -> str:
    value, subject = map(writer.operand_of, op.args)
    if lies_within(op.payload, writer.program.intervals[op.args[1]]):
        return value
    holds = writer.write_is_defined(op.args[1])
    for sign, bound in LAWS[op.payload].tests:
        holds = writer.write_and(holds, writer.write_comparison(ORDERS[sign], subject, _write_numeral(float(bound))))
    return writer.write_held_value(holds, value)


def _write_index(writer: _Writer, op: Op) -> str:
    """An element of a table in memory, or chosen by comparisons among computed values."""
    array = flatten_array(writer.program, op.args[0])
    assert array is not None
    at, inside = _write_place(writer, array.shape, [writer.operand_of(position) for position in op.args[1:]])
    if not array.computed:
        table = f"@table{len(writer.tables)}"
        elements = ", ".join("double " + writer.write_element(element) for element in array.elements)
        kind = f"[{len(array.elements)} x double]"
        writer.tables.append(f"{table} = private unnamed_addr constant {kind} [{elements}]")
        pointer = writer.add_instruction(f"getelementptr inbounds double, ptr {table}, i64 {at}")
        return writer.write_held_value(inside, writer.add_instruction(f"load double, ptr {pointer}"))
    value = writer.write_element(array.elements[0])
    for number, element in enumerate(array.elements[1:], 1):
        here = writer.add_instruction(f"icmp eq i64 {at}, {number}")
        value = writer.write_select(here, writer.write_element(element), value)
    return writer.require_elements(op.args[0], writer.write_held_value(inside, value))


def _write_place(writer: _Writer, shape: Sequence[int], positions: Sequence[str]) -> tuple[str, str]:
    """The number of an element, row by row, 0 outside; and whether it is inside."""
    at, all_inside = "0", "true"
    for length, position in zip(shape, positions, strict=True):
        below = writer.write_comparison("olt", position, _write_numeral(float(length)))
        inside = writer.write_and(below, writer.write_comparison("ogt", position, _write_numeral(-1.0)))
        safe = writer.write_select(inside, position, _write_numeral(0.0))
        whole = writer.add_instruction(f"fptosi double {safe} to i64")
        at = writer.add_instruction(f"add i64 {writer.add_instruction(f'mul i64 {at}, {length}')}, {whole}")
        all_inside = writer.write_and(all_inside, inside)
    return at, all_inside


def _write_lookup(writer: _Writer, op: Op) -> str:
    """Interpolation segment by segment: the last segment that begins below x is used."""
    values, sizes = (flatten_array(writer.program, arg) for arg in op.args[:2])
    assert values is not None
    assert sizes is not None
    ys, xs = ([writer.write_element(element) for element in array.elements] for array in (values, sizes))
    x, value, rising = writer.operand_of(op.args[2]), ys[0], writer.write_is_defined(op.args[2])
    for left in range(len(xs) - 1):
        rising = writer.write_and(rising, writer.write_comparison("olt", xs[left], xs[left + 1]))
        run, rise = (writer.add_instruction(f"fsub double {ends[left + 1]}, {ends[left]}") for ends in (xs, ys))
        along = writer.add_instruction(f"fsub double {x}, {xs[left]}")
        climbed = writer.add_instruction(f"fdiv double {writer.add_instruction(f'fmul double {rise}, {along}')}, {run}")
        line = writer.add_instruction(f"fadd double {ys[left]}, {climbed}")
        value = line if left == 0 else writer.write_select(writer.write_comparison("oge", x, xs[left]), line, value)
    return writer.require_elements(
        op.args[0], writer.require_elements(op.args[1], writer.write_held_value(rising, value))
    )


def _write_sum(writer: _Writer, op: Op) -> str:
    """A loop within the loop; a count beyond `MOST_PASSES` gives no passes and no value."""
    loop: SumLoop = op.payload
    count = writer.add_instruction(f"call double @llvm.ceil.f64(double {writer.operand_of(op.args[0])})")
    bounded = writer.write_comparison("ole", count, _write_numeral(float(MOST_PASSES)))
    limit = writer.write_select(bounded, count, _write_numeral(0.0))
    writer._count += 1
    tag, before = writer._count, writer.label
    counter, total = f"%counter{tag}", f"%total{tag}"
    writer.add_line(f"br label %test{tag}")
    head = len(writer.lines)
    writer.begin_block(f"test{tag}")
    writer.add_line(f"%again{tag} = fcmp olt double {counter}, {limit}")
    writer.add_line(f"br i1 %again{tag}, label %body{tag}, label %after{tag}")
    writer.begin_block(f"body{tag}")
    writer._names[loop.counter] = counter
    writer.write_block(loop.inside)
    added = writer.add_instruction(f"fadd double {total}, {writer.operand_of(loop.body)}")
    following = writer.add_instruction(f"fadd double {counter}, {_write_numeral(1.0)}")
    writer.add_line(f"br label %test{tag}")
    phis = [
        f"  {counter} = phi double [ {_write_numeral(0.0)}, %{before} ], [ {following}, %{writer.label} ]",
        f"  {total} = phi double [ {_write_numeral(0.0)}, %{before} ], [ {added}, %{writer.label} ]",
    ]
    writer.lines[head + 1 : head + 1] = phis
    writer.begin_block(f"after{tag}")
    return writer.write_held_value(bounded, total)


_SPECIAL: dict[str, Any] = {
    "div": _write_div,
    "max": _make_extreme_rule("ogt"),
    "min": _make_extreme_rule("olt"),
    "if": _write_if,
    "failed": lambda writer, op: NAN,
    "checked": _write_checked,
    "index": _write_index,
    "lookup": _write_lookup,
    "sum": _write_sum,
}
