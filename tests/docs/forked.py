"""Commands in processes of their own that need not start: a copy of this one, with all its modules, runs each.

Nine tenths of the time of a short command are Python's start and the imports. A forked process has them behind
it, and is for the rest like one that was started: its own files, folder, environment and end.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from aspenpy.shell.main import main
from aspenpy.shell.registry import commands_by_name

QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
FOR_THE_SHELL = re.compile(r"""[|&;<>()$`*?\[\]#~{}!"'\\\n]""")

ERRORS = re.compile(r" 2> ?(/dev/null|&1)$")
"""Where messages go, at the end of a command."""

FED = re.compile(r"(?P<feed>(?:echo|printf) (?:'[^']*'|\w+)) \| (?P<command>aspenpy .*)")

HEAVY = ("numpy", "sympy", "networkx", "rich.console", "matplotlib.figure", "matplotlib.backends.backend_svg")

HEAVY_OF = {
    "compare": ("scipy.optimize",),
    "empirical": (
        "scipy.stats",
        "scipy.special",
        "statsmodels.regression.linear_model",
        "statsmodels.stats.diagnostic",
    ),
    "fit": ("scipy.optimize", "scipy.stats"),
    "optimise": ("scipy.optimize", "pymoo.algorithms.moo.nsga2", "pymoo.optimize"),
    "sensitivity": ("SALib.analyze.sobol", "SALib.sample.sobol", "SALib.analyze.morris", "SALib.sample.morris"),
    "sweep": ("llvmlite.binding", "scipy.stats", "pyarrow.csv"),
}
"""What single commands import besides."""


class Command(NamedTuple):
    """The arguments of `aspenpy`, what its output is piped through, what prints its input, and where its messages go:
    beside the output (if nothing is said), to `/dev/null`, or through the pipe (`&1`)."""

    arguments: list[str]
    filter: str = ""
    feed: str = ""
    errors: str = ""


def plain_command(line: str) -> Command | None:
    """A command line that begins with `aspenpy` and words; None where it takes a shell to read that."""
    fed = FED.fullmatch(line)
    command, _, behind = (fed["command"] if fed else line.replace("\\\n", " ")).partition(" | ")
    errors = ERRORS.search(command)
    command = command[: errors.start()] if errors else command
    if not command.startswith("aspenpy ") or FOR_THE_SHELL.search(QUOTED.sub("", command)):
        return None
    return Command(shlex.split(command)[1:], behind, fed["feed"] if fed else "", errors[1] if errors else "")


def load_modules(
    names: Iterable[str] = (*HEAVY, *(f"aspenpy.shell.commands.{command}" for command in commands_by_name())),
) -> None:
    """Imports, once for all copies, what commands import when they need it."""
    for name in names:
        with suppress(ImportError):
            import_module(name)


def printed_by(command: Command, folder: Path, environment: Mapping[str, str]) -> str:
    """What a command prints on either stream."""
    load_modules(HEAVY_OF.get(command.arguments[0], ()))
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output, ExitStack() as ends:
        if command.feed:
            subprocess.run(["bash", "-c", command.feed], stdout=source, check=True)
            source.seek(0)
        target = output.fileno()
        if command.filter:
            options = {"stdin": subprocess.PIPE, "stdout": output, "stderr": output, "cwd": folder}
            piped = ends.enter_context(subprocess.Popen(["bash", "-c", command.filter], **options))
            target = piped.stdin.fileno()
        messages = output.fileno()
        if command.errors:
            messages = (
                target
                if command.errors == "&1"
                else ends.enter_context(open(os.devnull, "w", encoding="utf-8")).fileno()
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads wait for work; no lock is held
            process = os.fork()
        if process == 0:
            _run(command.arguments, folder, environment, source.fileno(), target, messages)
        ends.close()
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) in (0, 1, 2), (
            f"aspenpy {shlex.join(command.arguments)}: status {status}"
        )
        output.seek(0)
        return output.read().decode()


def _run(arguments: list[str], folder: Path, environment: Mapping[str, str], *streams: int) -> None:
    """The life of the copy. It never returns, or two would run the tests."""
    status = 1
    try:
        os.chdir(folder)
        os.environ.update(environment)
        for stream, target in enumerate(streams):
            os.dup2(target, stream)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(0, encoding="utf-8"),
            os.fdopen(1, "w", encoding="utf-8"),
            os.fdopen(2, "w", buffering=1, encoding="utf-8"),
        )
        status = main(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)
