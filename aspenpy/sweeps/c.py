"""The back end of generated C: a program as a loop over points, made by the compiler of this machine.

The text is made of operations with names of our own; no word of a user gets into it. Source and library lie in a
folder of their own, which is removed as soon as the library is loaded.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from aspenpy.diagnostics import fail
from aspenpy.expr.numerals import float_numeral
from aspenpy.sweeps.arrays import MOST_PASSES
from aspenpy.sweeps.backends import compiler
from aspenpy.sweeps.compiled import CONDITIONS, Kernel, called, flat, leaves, signature
from aspenpy.sweeps.program import Loop, Op, Program

OPTIONS = (
    *("-std=c99", "-O3", "-march=native", "-fPIC", "-shared"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
)
"""No multiply-and-add in one rounding: a step of `ceil` would be elsewhere than with the other back ends. The last lets
branches that are not taken be computed too; flags that they raise are looked into."""

SECONDS = 120
"""After which a compiler is given up."""

HEAD = """\
#include <fenv.h>
#include <math.h>
#include <stdint.h>

static inline double remainder_of(double a, double b)
{
    const double rest = fmod(a, b);
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static inline double root_of(double x)
{
    const double root = cbrt(x), near = rint(root);
    return near * near * near == x ? near : root;
}
"""

FORMS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "square": "{0} * {0}",
    "power": "pow({0}, {1})",
    "mod": "remainder_of({0}, {1})",
    "max": "{0} > {1} ? {0} : {1}",
    "min": "{0} < {1} ? {0} : {1}",
    "round": "rint({0})",
    "abs": "fabs({0})",
    "compare": "{0} {payload} {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "if": "{0} ? {1} : {2}",
    **{name: name + "({0})" for name in ("log", "log2", "log10", "exp", "sqrt", "floor", "ceil")},
}
"""Of all kinds that are one expression."""

LAWS = {
    "amount": "{0} >= 0.0",
    "count": "{0} >= 0.0",
    "parallelism": "{0} >= 0.0",
    "quantity": "{0} > 0.0",
    "probability": "({0} >= 0.0) & ({0} <= 1.0 + 1e-12)",
    "probabilities": "{0} <= 1.0 + 1e-12",
}


def kernel(program: Program) -> Kernel:
    """The program compiled; raises AspenError where the compiler does not."""
    path, given = compiler(), leaves(program)
    assert path is not None
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        text, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
        text.write_text(source(program, given))
        command = [path, *OPTIONS, str(text), "-o", str(library), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.CalledProcessError as error:
            reason = next((line for line in error.stderr.splitlines() if "error" in line), "no reason given")
            fail("not-compiled", f"{path} cannot compile the model: {reason}", hint="--backend numpy needs no compiler")
        except (OSError, subprocess.TimeoutExpired) as error:
            fail("not-compiled", f"{path} cannot be run: {error}", hint="--backend numpy needs no compiler")
        loaded = ctypes.CDLL(str(library))
    results = len(program.roots)
    function = signature(len(given), results)(("run", loaded))
    return called(function, given, results, loaded)


def source(program: Program, given: tuple[int, ...]) -> str:
    """The program as C, with a column for each operation that is given."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"const double *restrict in{n}" for n in inputs] + [f"double *restrict out{n}" for n in results]
    writer = _Writer(program)
    lines = [f"const double v{place} = in{n}[i];" for n, place in enumerate(given)]
    lines += writer.block(place for place in program.needed(program.roots, given) if place not in given)
    lines += [f"out{n}[i] = {writer.name(root)};" for n, root in enumerate(program.roots)]
    body = "\n".join("        " + line for line in lines)
    return (
        f"{HEAD}\nint run(int64_t count, {', '.join(parameters)})\n{{\n"
        "    int refused = 0;\n    feclearexcept(FE_ALL_EXCEPT);\n"
        f"    for (int64_t i = 0; i < count; i++) {{\n{body}\n    }}\n"
        "    return refused | fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID);\n}\n"
    )


class _Writer:
    """Statements for operations."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def name(self, place: int) -> str:
        """What stands for the value of an operation."""
        op = self.program.ops[place]
        if op.kind != "constant":
            return f"v{place}"
        if isinstance(op.payload, bool):
            return str(int(op.payload))
        return f"({float_numeral(op.payload)})" if op.payload < 0 else float_numeral(op.payload)

    def block(self, places: Iterable[int]) -> list[str]:
        return [line for place in places for line in self._statements(place, self.program.ops[place])]

    def _statements(self, place: int, op: Op) -> list[str]:
        special = _SPECIAL.get(op.kind)
        if special is not None:
            return special(self, place, op)
        kind = "int" if op.kind in CONDITIONS else "double"
        text = FORMS[op.kind].format(*map(self.name, op.args), payload=op.payload)
        return [f"const {kind} v{place} = {text};"]

    def element(self, element: float | int) -> str:
        return float_numeral(element) if isinstance(element, float) else self.name(element)


def _nothing(writer: _Writer, place: int, op: Op) -> list[str]:
    """Constants are written where they are used, arrays where they are indexed."""
    return []


def _checked(writer: _Writer, place: int, op: Op) -> list[str]:
    value, subject = map(writer.name, op.args)
    return [f"refused |= !({LAWS[op.payload].format(subject)});", f"const double v{place} = {value};"]


def _cbrt(writer: _Writer, place: int, op: Op) -> list[str]:
    x = writer.name(op.args[0])
    return [f"refused |= {x} < 0.0;", f"const double v{place} = root_of({x});"]


def _index(writer: _Writer, place: int, op: Op) -> list[str]:
    array = flat(writer.program, op.args[0])
    assert array is not None
    storage = "static const" if all(isinstance(element, float) for element in array.elements) else "const"
    lines = [f"{storage} double a{place}[] = {{{', '.join(map(writer.element, array.elements))}}};"]
    at = "0"
    for number, (length, position) in enumerate(zip(array.shape, op.args[1:], strict=True)):
        here = f"p{place}_{number}"
        lines += [
            f"const double {here} = trunc({writer.name(position)});",
            f"const int {here}_in = ({here} >= 0.0) & ({here} < {length}.0);",
            f"refused |= !{here}_in;",
        ]
        at = f"({at}) * {length} + ({here}_in ? (int){here} : 0)"
    return [*lines, f"const double v{place} = a{place}[{at}];"]


def _lookup(writer: _Writer, place: int, op: Op) -> list[str]:
    values, sizes = (flat(writer.program, arg) for arg in op.args[:2])
    assert values is not None
    assert sizes is not None
    ys, xs = [[writer.element(element) for element in array.elements] for array in (values, sizes)]
    x = writer.name(op.args[2])
    lines = [f"refused |= !({lower} < {upper});" for lower, upper in pairwise(xs)]
    lines.append(f"double v{place} = {ys[0]};")
    for left in range(len(xs) - 1):
        run, rise = f"({xs[left + 1]} - {xs[left]})", f"({ys[left + 1]} - {ys[left]})"
        line = f"{ys[left]} + {rise} * ({x} - {xs[left]}) / {run}"
        lines.append(f"v{place} = {line};" if left == 0 else f"v{place} = {x} >= {xs[left]} ? {line} : v{place};")
    return lines


def _sum(writer: _Writer, place: int, op: Op) -> list[str]:
    loop: Loop = op.payload
    limit, counter = f"n{place}", f"v{loop.counter}"
    return [
        f"const double {limit} = ceil({writer.name(op.args[0])});",
        f"refused |= !({limit} <= {MOST_PASSES}.0);",
        f"double v{place} = 0.0;",
        f"for (double {counter} = 0.0; {counter} < {limit} && {limit} <= {MOST_PASSES}.0; {counter} += 1.0) {{",
        *("    " + line for line in writer.block(loop.inside)),
        f"    v{place} += {writer.name(loop.body)};",
        "}",
    ]


_SPECIAL = {
    "constant": _nothing,
    "array": _nothing,
    "checked": _checked,
    "cbrt": _cbrt,
    "index": _index,
    "lookup": _lookup,
    "sum": _sum,
}
"""Of kinds that take more than one expression."""
