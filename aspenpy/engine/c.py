"""The back end of generated C: a program as a loop over points, made by the compiler of this machine.

The text is made of operations with names of our own; no text of the user gets into it. Source and library are in a
temporary folder, which is removed once the library is loaded.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from aspenpy.engine.arrays import MOST_PASSES
from aspenpy.engine.c_text import HEADERS, CWriter, find_used_helpers, helpers
from aspenpy.engine.compiled import Kernel, call_signature, kernel_leaves, make_kernel
from aspenpy.engine.operation import is_certain
from aspenpy.engine.program import Program
from aspenpy.language.diagnostics import fail

OPTIONS = (
    *("-std=c99", "-O3", "-march=native", "-fPIC", "-shared"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
)
"""No fused multiply-add: it would move steps of `ceil` from where the other back ends have them. The last option lets
both branches of a condition be computed."""

SECONDS = 120  # time limit of the compiler


def compiler() -> str | None:
    """Path of the C compiler of this machine; None without one."""
    return next((path for name in ("gcc", "clang", "cc") if (path := shutil.which(name))), None)


def kernel(program: Program) -> Kernel:
    """The program compiled; raises AspenError if the compiler fails."""
    path, given = compiler(), kernel_leaves(program)
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
    function = call_signature(len(given), results)(("run", loaded))
    return make_kernel(function, given, loaded)


def source(program: Program, given: tuple[int, ...]) -> str:
    """The program as C, with a column for each operation that is given."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"const double *restrict in{n}" for n in inputs] + [f"double *restrict out{n}" for n in results]
    places = [place for place in program.needed(program.roots, given) if place not in given]
    names = {place: f"v{n}" for n, place in enumerate(given)}
    writer = CWriter(program, places, names, set(names.values()), float(MOST_PASSES))
    lines = [f"const double {name} = in{n}[i];" for n, name in enumerate(names.values())]
    for place, name in names.items():
        low, high = program.intervals[place]
        if is_certain((low, high)):
            lines.append(f"failed |= !(({name} >= {low!r}) & ({name} <= {high!r}));")
    lines += writer.block(places)
    for n, root in enumerate(program.roots):
        lines += [f"const double r{n} = {writer.text(root)};", f"failed |= !isfinite(r{n});", f"out{n}[i] = r{n};"]
    body = "\n".join("        " + line for line in lines)
    function = (
        f"int run(int64_t count, {', '.join(parameters)})\n{{\n    int failed = 0;\n"
        f"    for (int64_t i = 0; i < count; i++) {{\n{body}\n    }}\n    return failed;\n}}\n"
    )
    headers = ["#include <stdint.h>", *HEADERS]
    return "\n\n".join(["\n".join(headers), *find_used_helpers(function, helpers()), function])
