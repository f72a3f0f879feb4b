"""The back end of LLVM: a program as a loop over points, compiled in this process.

The text is LLVM's assembly, made of operations with names of our own. No fast-math: every operation is rounded as
IEEE 754 has it, as with the other back ends.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from aspenpy.sweeps.arrays import MOST_PASSES
from aspenpy.sweeps.compiled import CONDITIONS, Kernel, called, flags, flat, leaves, signature
from aspenpy.sweeps.program import Loop, Op, Program

LIBRARY = ("log", "log2", "log10", "exp", "pow", "cbrt", "fmod")
"""Functions of the C library that are called."""

INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "rint", "abs": "fabs"}

ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}

ORDERS = {"==": "oeq", "!=": "one", "<": "olt", ">": "ogt", "<=": "ole", ">=": "oge"}

LAWS: dict[str, tuple[tuple[str, float], ...]] = {
    "amount": (("oge", 0.0),),
    "count": (("oge", 0.0),),
    "parallelism": (("oge", 0.0),),
    "quantity": (("ogt", 0.0),),
    "probability": (("oge", 0.0), ("ole", 1.0 + 1e-12)),
    "probabilities": (("ole", 1.0 + 1e-12),),
}


def kernel(program: Program) -> Kernel:
    """The program compiled for the processor of this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _offer_library(llvm)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    given = leaves(program)
    module = llvm.parse_assembly(source(program, given))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    results = len(program.roots)
    function = signature(len(given), results)(engine.get_function_address("run"))
    return called(function, given, results, engine)


def _offer_library(llvm: Any) -> None:
    """Tells LLVM where the functions of the C library are."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in (*LIBRARY, "feclearexcept", "fetestexcept"):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)


def source(program: Program, given: tuple[int, ...]) -> str:
    """The program as LLVM's assembly, with a column for each operation that is given."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"ptr noalias readonly %in{n}" for n in inputs] + [f"ptr noalias %out{n}" for n in results]
    writer = _Writer(program)
    for number, place in enumerate(given):
        writer.load(place, number)
    writer.block(place for place in program.needed(program.roots, given) if place not in given)
    for number, root in enumerate(program.roots):
        writer.line(f"%to{number} = getelementptr inbounds double, ptr %out{number}, i64 %i")
        writer.line(f"store double {writer.name(root)}, ptr %to{number}")
    refused = writer.refused
    return "\n".join(
        [
            *writer.tables,
            *(f"declare double @{name}({_parameters(name)}) nounwind willreturn memory(none)" for name in LIBRARY),
            *(f"declare double @llvm.{name}.f64(double)" for name in INTRINSICS.values()),
            "declare i32 @feclearexcept(i32)",
            "declare i32 @fetestexcept(i32)",
            f"define i32 @run(i64 %count, {', '.join(parameters)}) {{",
            "entry:",
            f"  %cleared = call i32 @feclearexcept(i32 {flags()})",
            "  %some = icmp sgt i64 %count, 0",
            "  br i1 %some, label %points, label %end",
            "points:",
            f"  %i = phi i64 [ 0, %entry ], [ %next, %{writer.label} ]",
            f"  %refused = phi i1 [ false, %entry ], [ {refused}, %{writer.label} ]",
            *writer.lines,
            "  %next = add nuw nsw i64 %i, 1",
            "  %more = icmp slt i64 %next, %count",
            "  br i1 %more, label %points, label %end",
            "end:",
            f"  %any = phi i1 [ false, %entry ], [ {refused}, %{writer.label} ]",
            f"  %raised = call i32 @fetestexcept(i32 {flags()})",
            "  %wide = zext i1 %any to i32",
            "  %outcome = or i32 %raised, %wide",
            "  ret i32 %outcome",
            "}",
            "",
        ]
    )


def _parameters(function: str) -> str:
    return "double, double" if function in ("pow", "fmod") else "double"


def _numeral(value: float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Writer:
    """Instructions for operations. `refused` says so far whether a point of this or an earlier pass has no value;
    `label` is the block that is written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.tables: list[str] = []
        self.label = "points"
        self.refused = "%refused"
        self._names: dict[int, str] = {}
        self._count = 0

    def name(self, place: int) -> str:
        """What stands for the value of an operation."""
        op = self.program.ops[place]
        return _numeral(op.payload) if op.kind == "constant" else self._names[place]

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        """A value that an instruction makes."""
        self._count += 1
        self.line(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def load(self, place: int, column: int) -> None:
        """What a column has at this point is the value of an operation."""
        at = self.new(f"getelementptr inbounds double, ptr %in{column}, i64 %i")
        self._names[place] = self.new(f"load double, ptr {at}")

    def block(self, places: Iterable[int]) -> None:
        for place in places:
            op = self.program.ops[place]
            if op.kind not in ("constant", "array"):
                self._names[place] = self.value(op)

    def value(self, op: Op) -> str:
        """The value of one operation."""
        if op.kind in _SPECIAL:
            made: str = _SPECIAL[op.kind](self, op)
            return made
        operands = [self.name(arg) for arg in op.args]
        if op.kind in ARITHMETIC:
            return self.new(f"{ARITHMETIC[op.kind]} double {operands[0]}, {operands[1]}")
        if op.kind in INTRINSICS:
            return self.call("llvm." + INTRINSICS[op.kind] + ".f64", *operands)
        return self.call("pow" if op.kind == "power" else op.kind, *operands)

    def call(self, function: str, *operands: str) -> str:
        return self.new(f"call double @{function}({', '.join('double ' + operand for operand in operands)})")

    def compare(self, order: str, left: str, right: str) -> str:
        return self.new(f"fcmp {order} double {left}, {right}")

    def choose(self, condition: str, then: str, otherwise: str, kind: str = "double") -> str:
        return self.new(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")

    def refuse_unless(self, holds: str) -> None:
        wrong = self.new(f"xor i1 {holds}, true")
        self.refused = self.new(f"or i1 {self.refused}, {wrong}")

    def element(self, element: float | int) -> str:
        return _numeral(element) if isinstance(element, float) else self.name(element)


# -- kinds that take more than one instruction -----------------------------------------------------


def _extreme(order: str) -> Any:
    def extreme(writer: _Writer, op: Op) -> str:
        left, right = map(writer.name, op.args)
        return writer.choose(writer.compare(order, left, right), left, right)

    return extreme


def _mod(writer: _Writer, op: Op) -> str:
    """The remainder takes the sign of the divisor."""
    left, right = map(writer.name, op.args)
    rest = writer.call("fmod", left, right)
    signs = [writer.compare("olt", value, _numeral(0.0)) for value in (rest, right)]
    differ = writer.new(f"xor i1 {signs[0]}, {signs[1]}")
    some = writer.compare("one", rest, _numeral(0.0))
    moved = writer.new(f"fadd double {rest}, {right}")
    return writer.choose(writer.new(f"and i1 {differ}, {some}"), moved, rest)


def _cbrt(writer: _Writer, op: Op) -> str:
    """The root of a cube is whole."""
    x = writer.name(op.args[0])
    writer.refuse_unless(writer.compare("oge", x, _numeral(0.0)))
    root = writer.call("cbrt", x)
    near = writer.call("llvm.rint.f64", root)
    cube = writer.new(f"fmul double {writer.new(f'fmul double {near}, {near}')}, {near}")
    return writer.choose(writer.compare("oeq", cube, x), near, root)


def _square(writer: _Writer, op: Op) -> str:
    x = writer.name(op.args[0])
    return writer.new(f"fmul double {x}, {x}")


def _junction(writer: _Writer, op: Op) -> str:
    left, right = map(writer.name, op.args)
    return writer.new(f"{op.kind} i1 {left}, {right}")


def _if(writer: _Writer, op: Op) -> str:
    condition, then, otherwise = op.args
    kind = "i1" if writer.program.ops[then].kind in CONDITIONS else "double"
    return writer.choose(writer.name(condition), writer.name(then), writer.name(otherwise), kind)


def _checked(writer: _Writer, op: Op) -> str:
    value, subject = map(writer.name, op.args)
    for order, bound in LAWS[op.payload]:
        writer.refuse_unless(writer.compare(order, subject, _numeral(bound)))
    return value


def _index(writer: _Writer, op: Op) -> str:
    """An element of a table in memory, or the one that is chosen among values."""
    array = flat(writer.program, op.args[0])
    assert array is not None
    at = _place(writer, array.shape, [writer.name(position) for position in op.args[1:]])
    if all(isinstance(element, float) for element in array.elements):
        table = f"@table{len(writer.tables)}"
        elements = ", ".join("double " + _numeral(element) for element in array.elements)
        kind = f"[{len(array.elements)} x double]"
        writer.tables.append(f"{table} = private unnamed_addr constant {kind} [{elements}]")
        return writer.new(f"load double, ptr {writer.new(f'getelementptr inbounds double, ptr {table}, i64 {at}')}")
    found = writer.element(array.elements[0])
    for number, element in enumerate(array.elements[1:], 1):
        here = writer.new(f"icmp eq i64 {at}, {number}")
        found = writer.choose(here, writer.element(element), found)
    return found


def _place(writer: _Writer, shape: Sequence[int], positions: Sequence[str]) -> str:
    """The number of an element, row by row; 0, and a refusal, outside."""
    at = "0"
    for length, position in zip(shape, positions, strict=True):
        below = writer.compare("olt", position, _numeral(float(length)))
        inside = writer.new(f"and i1 {below}, {writer.compare('ogt', position, _numeral(-1.0))}")
        writer.refuse_unless(inside)
        safe = writer.choose(inside, position, _numeral(0.0))
        whole = writer.new(f"fptosi double {safe} to i64")
        at = writer.new(f"add i64 {writer.new(f'mul i64 {at}, {length}')}, {whole}")
    return at


def _lookup(writer: _Writer, op: Op) -> str:
    """The segments one after the other: the last that begins below x counts."""
    values, sizes = (flat(writer.program, arg) for arg in op.args[:2])
    assert values is not None
    assert sizes is not None
    ys, xs = ([writer.element(element) for element in array.elements] for array in (values, sizes))
    x, found = writer.name(op.args[2]), ys[0]
    for left in range(len(xs) - 1):
        writer.refuse_unless(writer.compare("olt", xs[left], xs[left + 1]))
        run, rise = (writer.new(f"fsub double {ends[left + 1]}, {ends[left]}") for ends in (xs, ys))
        along = writer.new(f"fsub double {x}, {xs[left]}")
        climbed = writer.new(f"fdiv double {writer.new(f'fmul double {rise}, {along}')}, {run}")
        line = writer.new(f"fadd double {ys[left]}, {climbed}")
        found = line if left == 0 else writer.choose(writer.compare("oge", x, xs[left]), line, found)
    return found


def _sum(writer: _Writer, op: Op) -> str:
    """A loop within the loop; of a count beyond all bounds no pass is made, and it is refused."""
    loop: Loop = op.payload
    count = writer.call("llvm.ceil.f64", writer.name(op.args[0]))
    bounded = writer.compare("ole", count, _numeral(float(MOST_PASSES)))
    writer.refuse_unless(bounded)
    limit = writer.choose(bounded, count, _numeral(0.0))
    writer._count += 1
    tag, before, refused = writer._count, writer.label, writer.refused
    counter, total = f"%counter{tag}", f"%total{tag}"
    writer.line(f"br label %test{tag}")
    head = len(writer.lines)
    writer.begin(f"test{tag}")
    writer.refused = f"%refused{tag}"
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
        f"  %refused{tag} = phi i1 [ {refused}, %{before} ], [ {writer.refused}, %{writer.label} ]",
    ]
    writer.lines[head + 1 : head + 1] = phis
    writer.begin(f"after{tag}")
    writer.refused = f"%refused{tag}"
    return total


_SPECIAL: dict[str, Any] = {
    "max": _extreme("ogt"),
    "min": _extreme("olt"),
    "mod": _mod,
    "cbrt": _cbrt,
    "square": _square,
    "and": _junction,
    "or": _junction,
    "if": _if,
    "neg": lambda writer, op: writer.new(f"fneg double {writer.name(op.args[0])}"),
    "compare": lambda writer, op: writer.compare(ORDERS[op.payload], *map(writer.name, op.args)),
    "checked": _checked,
    "index": _index,
    "lookup": _lookup,
    "sum": _sum,
}
