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
from aspenpy.engine.operation import Loop, Op, is_certain, is_obeyed
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


def source(program: Program, given: tuple[int, ...], lanes: int) -> str:
    """The program with a column for each operation that is given, for a processor that handles so many points with
    one instruction."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"ptr noalias readonly %in{n}" for n in inputs] + [f"ptr noalias %out{n}" for n in results]
    writer = _Writer(program)
    for number, place in enumerate(given):
        writer.load(place, number)
    writer.block(place for place in program.needed(program.roots, given) if place not in given)
    failed = writer.failed
    for number, root in enumerate(program.roots):
        failed = writer.either(failed, writer.opposite(writer.finite(writer.name(root))))
        writer.line(f"%to{number} = getelementptr inbounds double, ptr %out{number}, i64 %i")
        writer.line(f"store double {writer.name(root)}, ptr %to{number}")
    uses_lru = any("@aspen_lru_hits(" in line for line in writer.lines)
    preference = f'"prefer-vector-width"="{64 * lanes}" ' if uses_lru else ""
    return "\n".join(
        [
            _helper("arithmetic"),
            *_declarations(),
            *(_lru_helpers(lanes) if uses_lru else ()),
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
def _declarations() -> tuple[str, ...]:
    """Declarations of the functions of the C library that the table of functions calls."""
    calls = {call for row in FUNCTIONS.values() for call in re.findall(r"@([a-z0-9]+)\((.*)\)", row.llvm)}
    return tuple(
        f"declare double @{name}({', '.join(['double'] * arguments.count('double'))}) nounwind willreturn memory(none)"
        for name, arguments in sorted(calls)
        if f"@{name}(" not in _helper("arithmetic")
    )


@cache
def _helper(name: str) -> str:
    return (HELPERS / f"{name}.ll").read_text(encoding="utf-8")


def _lru_helpers(lanes: int) -> list[str]:
    """The hits of LRU caches at one point, and at so many."""
    several = [_helper("lru_lanes").replace("LANES", str(count)) for count in (1, lanes)]
    return [_helper("lru").replace("LANES", str(lanes)), *several]


def _numeral(value: float | bool) -> str:
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

    def name(self, place: int) -> str:
        """The operand text for the value of an operation."""
        op = self.program.ops[place]
        return _numeral(op.payload) if op.kind == "constant" else self._names[place]

    def condition(self, place: int) -> str:
        """The operand text for a condition; false for one that failed."""
        return "false" if self.program.ops[place].kind == "failed" else self.name(place)

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        """The name of the result of a new instruction."""
        self._count += 1
        self.line(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def load(self, place: int, column: int) -> None:
        """Loads the value of an operation at this point from its column."""
        at = self.new(f"getelementptr inbounds double, ptr %in{column}, i64 %i")
        value = self._names[place] = self.new(f"load double, ptr {at}")
        self._loaded.add(place)
        low, high = self.program.intervals[place]
        if is_certain((low, high)):
            inside = self.both(self.compare("oge", value, _numeral(low)), self.compare("ole", value, _numeral(high)))
            self.failed = self.either(self.failed, self.opposite(inside))

    def block(self, places: Iterable[int]) -> None:
        for place in places:
            op = self.program.ops[place]
            if op.kind in CONDITIONS or is_condition(self.program, place):
                self._condition(place, op)
            elif op.kind not in ("constant", "array"):
                self._names[place] = self.value(op)

    def value(self, op: Op) -> str:
        if op.kind in _SPECIAL:
            made: str = _SPECIAL[op.kind](self, op)
            return made
        template = LIKE_ARITHMETIC.get(op.kind) or FUNCTIONS[op.kind].llvm
        return self.new(template.format(*map(self.name, op.args), payload=op.payload))

    # -- conditions ------------------------------------------------------------------------------

    def _condition(self, place: int, op: Op) -> None:
        """The condition, and whether it is decided: the second part does not matter where the first decides."""
        if op.kind == "constant":
            return
        if op.kind == "compare":
            left, right = map(self.name, op.args)
            self._names[place] = self.compare(ORDERS[op.payload], left, right)
            self.decided[place] = self.both(*map(self.certain, op.args))
            return
        first, *parts = op.args
        here = self.condition(first)
        if op.kind == "if":
            self._names[place] = self.choose(here, self.condition(parts[0]), self.condition(parts[1]), "i1")
            later = self.choose(here, self.certain(parts[0]), self.certain(parts[1]), "i1")
        else:
            joined = self.both if op.kind == "and" else self.either
            self._names[place] = joined(here, self.condition(parts[0]))
            enough = self.opposite(here) if op.kind == "and" else here
            later = self.either(enough, self.certain(parts[0]))
        self.decided[place] = self.both(self.certain(first), later)

    def certain(self, place: int) -> str:
        """Whether an operation has a value."""
        if place in self.decided:
            return self.decided[place]
        kind = self.program.ops[place].kind
        if kind == "failed":
            return "false"
        if place in self._loaded or kind in ("constant", "counter") or is_certain(self.program.intervals[place]):
            return "true"
        return self.finite(self.name(place))

    def both(self, first: str, second: str) -> str:
        if "true" in (first, second):
            return second if first == "true" else first
        return self.new(f"and i1 {first}, {second}")

    def either(self, first: str, second: str) -> str:
        return "true" if "true" in (first, second) else self.new(f"or i1 {first}, {second}")

    def opposite(self, condition: str) -> str:
        return self.new(f"xor i1 {condition}, true")

    def finite(self, value: str) -> str:
        size = self.new(f"call double @llvm.fabs.f64(double {value})")
        return self.compare("olt", size, INFINITY)

    def compare(self, order: str, left: str, right: str) -> str:
        return self.new(f"fcmp {order} double {left}, {right}")

    def choose(self, condition: str, then: str, otherwise: str, kind: str = "double") -> str:
        return self.new(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")

    def held(self, condition: str, value: str) -> str:
        """The value where the condition holds, nan elsewhere."""
        return value if condition == "true" else self.choose(condition, value, NAN)

    def element(self, element: float | int) -> str:
        return _numeral(element) if isinstance(element, float) else self.name(element)

    def elements(self, place: int, value: str) -> str:
        """The value, or nan if any element of the array has no value."""
        array = flatten_array(self.program, place)
        assert array is not None
        for element in array.elements:
            if isinstance(element, int):
                value = self.held(self.certain(element), value)
        return value


# -- kinds that take more than one instruction -----------------------------------------------------


def _extreme(order: str) -> Any:
    def extreme(writer: _Writer, op: Op) -> str:
        left, right = map(writer.name, op.args)
        chosen = writer.choose(writer.compare(order, left, right), left, right)
        return writer.held(writer.both(*map(writer.certain, op.args)), chosen)

    return extreme


def _if(writer: _Writer, op: Op) -> str:
    condition, then, otherwise = op.args
    chosen = writer.choose(writer.condition(condition), writer.name(then), writer.name(otherwise))
    return writer.held(writer.certain(condition), chosen)


def _div(writer: _Writer, op: Op) -> str:
    quotient = writer.new(f"fdiv double {writer.name(op.args[0])}, {writer.name(op.args[1])}")
    return writer.held(writer.certain(op.args[1]), quotient)


def _checked(writer: _Writer, op: Op) -> str:
    value, subject = map(writer.name, op.args)
    if is_obeyed(op.payload, writer.program.intervals[op.args[1]]):
        return value
    holds = writer.certain(op.args[1])
    for sign, bound in LAWS[op.payload].tests:
        holds = writer.both(holds, writer.compare(ORDERS[sign], subject, _numeral(float(bound))))
    return writer.held(holds, value)


def _index(writer: _Writer, op: Op) -> str:
    """An element of a table in memory, or chosen by comparisons among computed values."""
    array = flatten_array(writer.program, op.args[0])
    assert array is not None
    at, inside = _place(writer, array.shape, [writer.name(position) for position in op.args[1:]])
    if not array.computed:
        table = f"@table{len(writer.tables)}"
        elements = ", ".join("double " + writer.element(element) for element in array.elements)
        kind = f"[{len(array.elements)} x double]"
        writer.tables.append(f"{table} = private unnamed_addr constant {kind} [{elements}]")
        pointer = writer.new(f"getelementptr inbounds double, ptr {table}, i64 {at}")
        return writer.held(inside, writer.new(f"load double, ptr {pointer}"))
    value = writer.element(array.elements[0])
    for number, element in enumerate(array.elements[1:], 1):
        here = writer.new(f"icmp eq i64 {at}, {number}")
        value = writer.choose(here, writer.element(element), value)
    return writer.elements(op.args[0], writer.held(inside, value))


def _place(writer: _Writer, shape: Sequence[int], positions: Sequence[str]) -> tuple[str, str]:
    """The number of an element, row by row, 0 outside; and whether it is inside."""
    at, all_inside = "0", "true"
    for length, position in zip(shape, positions, strict=True):
        below = writer.compare("olt", position, _numeral(float(length)))
        inside = writer.both(below, writer.compare("ogt", position, _numeral(-1.0)))
        safe = writer.choose(inside, position, _numeral(0.0))
        whole = writer.new(f"fptosi double {safe} to i64")
        at = writer.new(f"add i64 {writer.new(f'mul i64 {at}, {length}')}, {whole}")
        all_inside = writer.both(all_inside, inside)
    return at, all_inside


def _lookup(writer: _Writer, op: Op) -> str:
    """Interpolation segment by segment: the last segment that begins below x is used."""
    values, sizes = (flatten_array(writer.program, arg) for arg in op.args[:2])
    assert values is not None
    assert sizes is not None
    ys, xs = ([writer.element(element) for element in array.elements] for array in (values, sizes))
    x, value, rising = writer.name(op.args[2]), ys[0], writer.certain(op.args[2])
    for left in range(len(xs) - 1):
        rising = writer.both(rising, writer.compare("olt", xs[left], xs[left + 1]))
        run, rise = (writer.new(f"fsub double {ends[left + 1]}, {ends[left]}") for ends in (xs, ys))
        along = writer.new(f"fsub double {x}, {xs[left]}")
        climbed = writer.new(f"fdiv double {writer.new(f'fmul double {rise}, {along}')}, {run}")
        line = writer.new(f"fadd double {ys[left]}, {climbed}")
        value = line if left == 0 else writer.choose(writer.compare("oge", x, xs[left]), line, value)
    return writer.elements(op.args[0], writer.elements(op.args[1], writer.held(rising, value)))


def _sum(writer: _Writer, op: Op) -> str:
    """A loop within the loop; a count beyond `MOST_PASSES` gives no passes and no value."""
    loop: Loop = op.payload
    count = writer.new(f"call double @llvm.ceil.f64(double {writer.name(op.args[0])})")
    bounded = writer.compare("ole", count, _numeral(float(MOST_PASSES)))
    limit = writer.choose(bounded, count, _numeral(0.0))
    writer._count += 1
    tag, before = writer._count, writer.label
    counter, total = f"%counter{tag}", f"%total{tag}"
    writer.line(f"br label %test{tag}")
    head = len(writer.lines)
    writer.begin(f"test{tag}")
    writer.line(f"%again{tag} = fcmp olt double {counter}, {limit}")
    writer.line(f"br i1 %again{tag}, label %body{tag}, label %after{tag}")
    writer.begin(f"body{tag}")
    writer._names[loop.counter] = counter
    writer.block(loop.inside)
    added = writer.new(f"fadd double {total}, {writer.name(loop.body)}")
    following = writer.new(f"fadd double {counter}, {_numeral(1.0)}")
    writer.line(f"br label %test{tag}")
    phis = [
        f"  {counter} = phi double [ {_numeral(0.0)}, %{before} ], [ {following}, %{writer.label} ]",
        f"  {total} = phi double [ {_numeral(0.0)}, %{before} ], [ {added}, %{writer.label} ]",
    ]
    writer.lines[head + 1 : head + 1] = phis
    writer.begin(f"after{tag}")
    return writer.held(bounded, total)


_SPECIAL: dict[str, Any] = {
    "div": _div,
    "max": _extreme("ogt"),
    "min": _extreme("olt"),
    "if": _if,
    "failed": lambda writer, op: NAN,
    "checked": _checked,
    "index": _index,
    "lookup": _lookup,
    "sum": _sum,
}
