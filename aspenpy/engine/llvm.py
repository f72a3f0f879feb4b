"""The back end of LLVM: a program as a loop over points, compiled in this process.

Its text is made of operations with names of our own; no word of a user gets into it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from functools import lru_cache
from typing import Any

from aspenpy.engine.compiled import Kernel, call_signature, kernel_leaves, make_kernel
from aspenpy.engine.llvm_text import source
from aspenpy.engine.program import Program

LANES = (("+avx512f", 8), ("+avx", 4))
"""Points that one instruction handles, by feature of the processor; 2 without any."""

KEPT = 8  # number of programs whose machine code is kept for repeated sweeps


def kernel(program: Program) -> Kernel:
    """The program compiled for this processor; equal texts are compiled once."""
    given = kernel_leaves(program)
    engine = machine_code(source(program, given, lanes()))
    function = call_signature(len(given), len(program.roots))(engine.get_function_address("run"))
    return make_kernel(function, given, engine)


@lru_cache(maxsize=KEPT)
def machine_code(text: str) -> Any:
    """LLVM assembly optimised and compiled, ready to be called."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _offer_library(llvm, text)
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


def _offer_library(llvm: Any, text: str) -> None:
    """Tells LLVM where the functions of the C library are that the text declares."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in re.findall(r"^declare double @([a-z0-9]+)\(", text, re.MULTILINE):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)


def lanes() -> int:
    """How many points an instruction of this machine's processor handles."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten().split(",")
    return next((width for feature, width in LANES if feature in features), 2)
