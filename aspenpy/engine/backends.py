"""Back ends: the ways to run a program, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from aspenpy.engine import c, llvm
from aspenpy.engine.compiled import Kernel, is_compilable
from aspenpy.engine.program import Program
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.record import Record

LARGE = 200_000  # points of a case above which compiling pays
LLVM_BYTES = 1 << 27  # the least memory for compiling: LLVM alone takes 80 MB


class Backend(Record):
    """`kernel` compiles a program, None runs it with NumPy; `block` is the number of points computed at once. With
    `threads` it releases the interpreter's lock while it computes. `missing` names a requirement that is not
    installed."""

    name: str
    block: int
    threads: bool
    kernel: Callable[[Program], Kernel] | None
    missing: Callable[[], str | None]


def _why_no_llvm() -> str | None:
    return None if find_spec("llvmlite") else "the back end `llvm` needs llvmlite: pip install 'aspenpy[fast]'"


def _why_no_compiler() -> str | None:
    return None if c.compiler() else "the back end `c` needs a C compiler: gcc, clang or cc"


BACKENDS = {
    "numpy": Backend("numpy", 1 << 15, False, None, lambda: None),
    "llvm": Backend("llvm", 1 << 16, True, llvm.kernel, _why_no_llvm),
    "c": Backend("c", 1 << 16, True, c.kernel, _why_no_compiler),
}


def choose_backend(name: str, programs: Sequence[Program], points_of_case: int, memory: int) -> Backend:
    """The back end of that name; `auto` is LLVM for a large sweep where it is installed and has the memory, else
    NumPy."""
    if name == "auto":
        worth_it = points_of_case >= LARGE and memory >= LLVM_BYTES and all(map(is_compilable, programs))
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
