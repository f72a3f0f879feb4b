"""The command `aspenpy`: finds the subcommand, imports it and no other, and says what went wrong."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from aspenpy.cli.failure import ClosedPipe, CommandError
from aspenpy.cli.output import complain, emit, report
from aspenpy.diagnostics import TOO_LARGE, AspenError

COMMANDS = {
    "eval": "how long an application takes on a machine, and where the time goes",
    "expr": "the same as a formula in the parameters that are left free",
    "explain": "the chain behind a number, from the line in the model to the seconds",
    "profile": "where the time goes, kernel by kernel and call by call",
    "compare": "one application on several machines, and where which is the fastest",
    "place": "kernels on several kinds of sockets of one machine: chosen, or the best, with the data they move",
    "sensitivity": "what a runtime or another metric depends on, and how strongly",
    "optimise": "where a quantity is least or greatest, while constraints hold",
    "sweep": "metrics at many points: grids and samples of parameters, machines and sockets",
    "count": "how much an application asks for, by kernel, and which size asks for so much",
    "memory": "the data that kernels touch, and whether it fits",
    "traffic": "what moves between the caches and memory, and which accesses hit where",
    "parallelism": "how many instances of each block could run at once, by call path",
    "trace": "what runs in which order",
    "mpi": "the messages of an application as a program in C, which sends and counts them",
    "roofline": "what a machine can do at most, and how far below that applications stay",
    "rdd": "how far apart a program's references to the same cache line are, from its address trace",
    "energy": "what a run draws, by kernel and by component, and whether that is within limits",
    "fit": "the values of parameters with which a model comes closest to measurements",
    "repl": "what-ifs line by line, beside a baseline, each of which can be undone",
    "network": "how a machine's nodes are joined, and what messages and collectives take",
    "scale": "an application on more and more ranks: efficiency, communication, and where more no longer help",
    "check": "everything that is wrong with models, or probably a mistake",
    "fmt": "lays models out in one way",
    "list": "the applications and machines of the library",
    "show": "what is in a model: a machine's tree and peaks, an application's calls and data",
    "machine": "begins a model of a machine, and finds implausible numbers in one",
}
"""What each command answers; it stands in the module of its name."""

USAGE = """\
usage: aspenpy COMMAND ...

How long will this application take on that machine, where does the time go, and what would change it?

commands:
{commands}

options:
  -h, --help  says this; after a command, what that one takes
  --version   says which aspenpy this is

examples:
  aspenpy eval comd --machine haswell
  aspenpy expr comd --machine haswell --free nx
  aspenpy list machines"""

SUCCESS, FAILURE, INTERRUPTED = 0, 2, 130
"""Exit statuses; the last is a shell's for programs that SIGINT ends."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, without the program's name, and returns its exit status."""
    if arguments is not None:
        return _guarded(list(arguments))
    status = _guarded(sys.argv[1:])
    gc.freeze()  # nobody waits for Python to look through what ends with the process: 6 ms
    return status


def _guarded(arguments: list[str]) -> int:
    """Whatever ends a command early is said, and becomes its exit status."""
    try:
        return run(arguments)
    except AspenError as error:
        report(error.diagnostics)
        return FAILURE
    except CommandError as error:
        complain(str(error))
        return FAILURE
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        complain("there is not enough memory for this")
        return FAILURE
    except OverflowError:  # exact numbers may be of any size; what is shown and drawn is in floating point
        complain(TOO_LARGE)
        return FAILURE
    except ClosedPipe:
        complain("the reader of the output has gone")
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED


OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")
"""How the loader of libraries and the system say it, in exceptions of other kinds."""


def out_of_memory(error: BaseException | None) -> bool:
    """Whether that is what an exception, or one that it was raised for, is about."""
    while error is not None:
        if isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def run(arguments: list[str]) -> int:
    """The exit status of a command that ends well."""
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help", "help"):
        emit(USAGE.format(commands="\n".join(f"  {name:<11} {line}" for name, line in COMMANDS.items())))
        return SUCCESS
    if name == "--version":
        from aspenpy import __version__

        emit(f"aspenpy {__version__}")
        return SUCCESS
    if name not in COMMANDS:
        raise CommandError(_unknown(name))
    from aspenpy.cli.parser import Parser, require_machine_for_socket, require_outputs

    command = import_module(f"aspenpy.cli.{name}")
    parser = Parser(name, COMMANDS[name], command.EXAMPLES)
    command.add_arguments(parser)
    parsed = parser.parse_intermixed_args(rest)
    require_machine_for_socket(parsed)
    require_outputs(parsed)
    status: int = command.run(parsed)
    return status


def _unknown(name: str) -> str:
    from aspenpy.diagnostics import nearest

    noun = "option" if name.startswith("-") else "command"
    hint = nearest(name, COMMANDS) or "`aspenpy --help` lists the commands"
    return f"there is no {noun} `{name}`; {hint}"
