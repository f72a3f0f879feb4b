"""The compiler's listing of a source file: assembly with lines, made in a folder of its own; nothing is linked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from tempfile import TemporaryDirectory

from aspenpy.assembly.listing import CompiledFunction, read_listing
from aspenpy.language.opening import read_whole_file
from aspenpy.record import Record

PATIENCE = 300
"""Seconds that the compiler may take."""

MOST_MEMORY = 4 << 30
"""Bytes of memory that it may take."""

MOST_BYTES = 256 << 20
"""Bytes of a listing, beyond which it is refused."""

NATIVE = "native"
"""The target that is this host's processor."""

CPP = (".cc", ".cpp", ".cxx", ".C", ".hpp")


class Recipe(Record):
    """The compilation of a program: the compiler, its options, and the processor that its code is scheduled on;
    `native` is this one."""

    options: tuple[str, ...] = ("-O2",)
    compiler: str | None = None
    target: str = NATIVE

    def command(self, source: str) -> list[str]:
        compiler = self.compiler or ("g++" if os.path.splitext(source)[1] in CPP else "gcc")
        return [compiler, *self.options, *(() if self.target == NATIVE else find_target_options(compiler, self.target))]

    def warn_unknown_target(self, source: str) -> str:
        """Why code is not compiled for the target; nothing where it is."""
        compiler = self.command(source)[0]
        if self.target == NATIVE or not shutil.which(compiler) or find_target_options(compiler, self.target):
            return ""
        return (
            f"`{compiler}` does not know `{self.target}`: its code is compiled as the options say, and scheduled on it"
        )


@cache
def find_target_options(compiler: str, target: str) -> tuple[str, ...]:
    """The option by which a compiler compiles for a processor: -march of x86, -mcpu of Arm, whose -march names
    architectures alone. None where it knows neither."""
    options = (f"-march={target}", f"-mcpu={target}")
    return next(((option,) for option in options if _accepts(compiler, option)), ())


@cache
def find_line_options(compiler: str) -> tuple[str, ...]:
    """Options for the lines of instructions. GCC leaves out those of statements whose code it moved or wrote in
    vectors, unless it keeps where statements begin, which is its default for -g alone (GCC manual, section 3.10)."""
    frontiers = "-gstatement-frontiers"
    return ("-g1", frontiers) if _accepts(compiler, frontiers) else ("-g1",)


def _accepts(compiler: str, option: str) -> bool:
    command = [compiler, option, "-Werror", "-E", "-x", "c", os.devnull, "-o", os.devnull]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    return False


def find_compiler(recipe: Recipe, source: str) -> str | None:
    """Path of the compiler; None where it is not installed."""
    return shutil.which(recipe.command(source)[0])


def compile_listing(source: str, recipe: Recipe, flags: Sequence[str]) -> list[CompiledFunction] | str:
    """The functions of a source as compiled, or why there are none. Nothing of what the compiler says is repeated,
    since it shows lines of the files that a program includes."""
    if find_compiler(recipe, source) is None:
        return f"`{recipe.command(source)[0]}` is not installed"
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        output = os.path.join(folder, "listing.s")
        words = recipe.command(source)
        lines = find_line_options(words[0])
        command = [*words, *flags, *lines, "-S", "-fno-lto", os.path.abspath(source), "-o", output]
        try:
            with subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as process:
                with suppress(ImportError, AttributeError):  # Windows has no such module, macOS no such function
                    import resource

                    resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
                try:
                    status = process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    return f"`{command[0]}` has not ended after {PATIENCE} s"
        except OSError as error:
            return f"`{command[0]}` cannot be run: {error.strerror}"
        if status or not os.path.exists(output):
            return f"`{' '.join(recipe.command(source))}` does not compile it (status {status})"
        return read_listing(read_whole_file(output, MOST_BYTES).decode("utf-8", "replace"))
