"""Commands in processes of their own that need not start: a copy of this one, with all its modules, runs each.

Nine tenths of the time of a short command are Python's start and the imports. A forked process has them behind
it, and is for the rest like one that was started: its own files, folder, environment and end.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from aspenpy.shell.main import COMMANDS, main

QUOTED = re.compile(r"'[^']*'")
FOR_THE_SHELL = re.compile(r"""[|&;<>()$`*?\[\]#~{}!"\\\n]""")

HEAVY = ("numpy", "sympy", "networkx", "rich.console", "matplotlib.figure", "matplotlib.backends.backend_svg")


def plain_arguments(command: str) -> list[str] | None:
    """The arguments of a command line that is `aspenpy` and words; None where it takes a shell to read it."""
    line = command.replace("\\\n", " ")
    if not line.startswith("aspenpy ") or FOR_THE_SHELL.search(QUOTED.sub("", line)):
        return None
    return shlex.split(line)[1:]


def load_modules() -> None:
    """Imports, once for all copies, what commands import when they need it."""
    for name in (*HEAVY, *(f"aspenpy.shell.commands.{command}" for command in COMMANDS)):
        with suppress(ImportError):
            import_module(name)


def printed_by(arguments: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What a command prints on either stream."""
    with tempfile.TemporaryFile() as output:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads wait for work; no lock is held
            process = os.fork()
        if process == 0:
            _run(arguments, folder, environment, output.fileno())
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) in (0, 1, 2), f"aspenpy {shlex.join(arguments)}: status {status}"
        output.seek(0)
        return output.read().decode()


def _run(arguments: list[str], folder: Path, environment: Mapping[str, str], output: int) -> None:
    """The life of the copy. It never returns, or two would run the tests."""
    status = 1
    try:
        os.chdir(folder)
        os.environ.update(environment)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        status = main(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)
