"""Back ends: the ways to run a program as a loop over points, and the choice among them.

Generated C is compiled by the compiler of this machine, LLVM assembly in this process. The texts are made of operations
with names of our own: no word of a user gets into them.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from aspenpy.engine.arrays import MOST_PASSES
from aspenpy.engine.c_text import HEADERS, CWriter, find_used_helpers, read_helpers
from aspenpy.engine.compiled import CompiledProgram, call_signature, is_compilable, kernel_leaves, make_kernel
from aspenpy.engine.llvm_text import write_source as llvm_source
from aspenpy.engine.operation import is_certain
from aspenpy.engine.program import Program
from aspenpy.engine.shared_object import find_compiler, load_shared_object
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.record import Record

# -- generated C -----------------------------------------------------------------------------------


OPTIONS = (*("-std=c99", "-O3", "-march=native"), *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"))
"""No fused multiply-add: it would move steps of `ceil` from where the other back ends have them. The last option lets
both branches of a condition be computed."""


def compile_with_c(program: Program) -> CompiledProgram:
    """The program compiled; raises AspenError if the compiler fails."""
    given = kernel_leaves(program)
    loaded = load_shared_object(
        write_c_source(program, given), OPTIONS, "the model", "--backend numpy needs no compiler"
    )
    results = len(program.roots)
    function = call_signature(len(given), results)(("run", loaded))
    return make_kernel(function, given, loaded)


def write_c_source(program: Program, given: tuple[int, ...]) -> str:
    """The program as C, with a column for each operation that is given."""
    inputs, results = range(len(given)), range(len(program.roots))
    parameters = [f"const double *restrict in{n}" for n in inputs] + [f"double *restrict out{n}" for n in results]
    indices = [index for index in program.needed_operations(program.roots, given) if index not in given]
    names = {index: f"v{n}" for n, index in enumerate(given)}
    writer = CWriter(program, indices, names, set(names.values()), float(MOST_PASSES))
    lines = [f"const double {name} = in{n}[i];" for n, name in enumerate(names.values())]
    for index, name in names.items():
        low, high = program.intervals[index]
        if is_certain((low, high)):
            lines.append(f"failed |= !(({name} >= {low!r}) & ({name} <= {high!r}));")
    lines += writer.block(indices)
    for n, root in enumerate(program.roots):
        lines += [f"const double r{n} = {writer.text(root)};", f"failed |= !isfinite(r{n});", f"out{n}[i] = r{n};"]
    body = "\n".join("        " + line for line in lines)
    function = (
        f"int run(int64_t count, {', '.join(parameters)})\n{{\n    int failed = 0;\n"
        f"    for (int64_t i = 0; i < count; i++) {{\n{body}\n    }}\n    return failed;\n}}\n"
    )
    headers = ["#include <stdint.h>", *HEADERS]
    return "\n\n".join(["\n".join(headers), *find_used_helpers(function, read_helpers()), function])


# -- LLVM ------------------------------------------------------------------------------------------


LANES = (("+avx512f", 8), ("+avx", 4))
"""Points that one instruction handles, by feature of the processor; 2 without any."""

KEPT = 8  # number of programs whose machine code is kept for repeated sweeps


def compile_with_llvm(program: Program) -> CompiledProgram:
    """The program compiled for this processor; equal texts are compiled once."""
    given = kernel_leaves(program)
    engine = compile_machine_code(llvm_source(program, given, points_per_instruction()))
    function = call_signature(len(given), len(program.roots))(engine.get_function_address("run"))
    return make_kernel(function, given, engine)


@lru_cache(maxsize=KEPT)
def compile_machine_code(text: str) -> Any:
    """LLVM assembly optimised and compiled, ready to be called."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in re.findall(r"^declare double @([a-z0-9]+)\(", text, re.MULTILINE):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def points_per_instruction() -> int:
    """Number of points that an instruction of this machine's processor handles."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten().split(",")
    return next((width for feature, width in LANES if feature in features), 2)


# -- the choice ------------------------------------------------------------------------------------


LARGE = 200_000  # points of a case above which compiling pays
LLVM_BYTES = 1 << 27  # the least memory for compiling: LLVM alone takes 80 MB


class Backend(Record):
    """`kernel` compiles a program, None runs it with NumPy; `block` is the number of points computed at once. With
    `threads` it releases the interpreter's lock while it computes. `missing` names a requirement that is not
    installed."""

    name: str
    block: int
    threads: bool
    kernel: Callable[[Program], CompiledProgram] | None
    missing: Callable[[], str | None]


def _why_no_llvm() -> str | None:
    return None if find_spec("llvmlite") else "the back end `llvm` needs llvmlite: pip install 'aspenpy[fast]'"


def _why_no_compiler() -> str | None:
    return None if find_compiler() else "the back end `c` needs a C compiler: gcc, clang or cc"


BACKENDS = {
    "numpy": Backend("numpy", 1 << 15, False, None, lambda: None),
    "llvm": Backend("llvm", 1 << 16, True, compile_with_llvm, _why_no_llvm),
    "c": Backend("c", 1 << 16, True, compile_with_c, _why_no_compiler),
}


def choose_backend(name: str, programs: Sequence[Program], points_of_case: int, memory: int) -> Backend:
    """The back end of that name; `auto` is LLVM for a large sweep, and for loops without a closed form, whose passes
    NumPy interprets one by one; where it is installed and has the memory, else NumPy."""
    if name == "auto":
        has_loops = any(op.kind == "sum" for program in programs for op in program.ops)
        worth_it = (points_of_case >= LARGE or has_loops) and memory >= LLVM_BYTES and all(map(is_compilable, programs))
        return BACKENDS["llvm" if worth_it and not _why_no_llvm() else "numpy"]
    message = f"there is no back end `{name}`"
    require_known(name, ["auto", *BACKENDS], "unknown-backend", message, listed="the back ends are")
    backend = BACKENDS[name]
    missing = backend.missing()
    if missing:
        fail("missing-backend", missing)
    if backend.kernel and not all(map(is_compilable, programs)):
        fail("not-compiled", f"the back end `{name}` cannot compile arrays as values", hint="--backend numpy can")
    return backend
