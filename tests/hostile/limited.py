"""Runs commands one by one, each in a copy of this process that may take so much memory and processor time.

A line of input is a folder, the files that take output and errors, and the arguments, as JSON; a line of output is the
exit status. Most of what a short command takes are Python's start and the imports, which a copy has behind it.
"""

import json
import os
import resource
import signal
import sys
import traceback
from importlib import import_module
from importlib.util import find_spec

from aspenpy.shell.main import main
from aspenpy.shell.registry import load_command

MEMORY, SECONDS, HANGS = map(int, sys.argv[1:])


def run(folder: str, out: str, err: str, arguments: list[str]) -> None:
    """The life of the copy."""
    status: object = 1
    os.chdir(folder)
    for stream, name in enumerate((os.devnull, out, err)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(0, encoding="utf-8"),
        os.fdopen(1, "w", encoding="utf-8"),
        os.fdopen(2, "w", buffering=1, encoding="utf-8"),
    )
    signal.alarm(HANGS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status if isinstance(status, int) else 1)


if __name__ == "__main__":
    for command in ("check", "eval", "explain", "extract", "measure", "rdd", "show"):
        load_command(command)
    for module in ("clang.cindex", "fparser.two.Fortran2008", "networkx", "numpy"):
        if find_spec(module.partition(".")[0]):
            import_module(module)
    for line in sys.stdin:
        copy = os.fork()
        if not copy:
            run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)
