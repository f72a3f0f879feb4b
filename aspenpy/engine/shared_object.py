"""C compiled with the compiler of this machine, and loaded.

That happens in a temporary folder, which is removed once the library is loaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from ctypes import CDLL
from pathlib import Path
from tempfile import TemporaryDirectory

from aspenpy.language.diagnostics import fail

LIMIT = 120.0
"""Seconds after which a compiler is given up."""


def find_compiler() -> str | None:
    """Path of the C compiler of this machine, that of `CC`, else gcc or clang; None without one."""
    names = (os.environ.get("CC"), "gcc", "clang", "cc")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def load_shared_object(text: str, options: Sequence[str], purpose: str, otherwise: str) -> CDLL:
    """The functions of a C text. Where it cannot be compiled, raises AspenError that names the `purpose` and, as a
    hint, what to do `otherwise`."""
    compiler = find_compiler()
    if compiler is None:
        fail("no-compiler", f"{purpose} needs a C compiler: gcc, clang or cc", hint=otherwise)
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        source, library = Path(folder, "source.c"), Path(folder, "library.so")
        source.write_text(text, encoding="utf-8")
        command = [compiler, *options, "-fPIC", "-shared", str(source), "-o", str(library), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.CalledProcessError as error:
            reason = next((line for line in error.stderr.splitlines() if "error" in line), "no reason given")
            fail("not-compiled", f"{compiler} cannot compile {purpose}: {reason}", hint=otherwise)
        except (OSError, subprocess.TimeoutExpired) as error:
            fail("not-compiled", f"{compiler} cannot be run: {error}", hint=otherwise)
        return CDLL(str(library))
