"""The command `aspenpy`: finds the subcommand, imports it and no other, and says what went wrong."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from aspenpy.language.diagnostics import TOO_LARGE, AspenError
from aspenpy.shell.failure import ClosedPipe, CommandError
from aspenpy.shell.output import complain, emit, report
from aspenpy.version import VERSION

COMMANDS = {
    "eval": "Predict the runtime of an application on a machine, by kernel and resource",
    "expr": "The runtime as a formula in the parameters that are left free",
    "explain": "Explain a prediction step by step, from the line in the model to the seconds",
    "profile": "Show where the time goes, by kernel and by call",
    "compare": "Compare machines for one application; find where the fastest changes",
    "place": "Assign kernels to CPUs and GPUs of one machine; find the fastest assignment, data transfers included",
    "sensitivity": "Rank parameters by their effect on runtime or another metric",
    "optimise": "Minimise or maximise a metric under constraints",
    "sweep": "Evaluate metrics at many points: grids and samples of parameters, machines and sockets",
    "count": "Count flops, bytes and messages by kernel; solve for the size that needs a given amount",
    "memory": "Show the data that kernels touch, and whether they fit into memory",
    "traffic": "Predict traffic between caches and memory, and hit rates by access",
    "parallelism": "Show how many instances of each block could run at once, by call path",
    "trace": "List what runs, in order",
    "extract": "Write the application model of a program in C or C++",
    "mpi": "Generate an MPI program in C that sends the application's messages",
    "roofline": "Show the roofline of a machine, and applications below it",
    "rdd": "Compute reuse-distance histograms from an address trace",
    "incore": "Measure a compiled loop with OSACA: cycles by port and by dependence, as a requirement",
    "energy": "Predict the energy a run consumes, by kernel and component; check budgets and power caps",
    "fit": "Calibrate parameters to measurements",
    "empirical": "Learn runtime or energy from measurements: ACEE, COS, Leading Loads, Power-Aware Speedup, bandwidth",
    "measure": "Repeat a command until its mean runtime is known; read what other tools have measured",
    "repl": "Ask what-if questions line by line, compared with a baseline",
    "network": "Show a machine's network: topology, messages, collectives",
    "scale": "Predict strong and weak scaling: efficiency, communication, the optimal number of ranks",
    "check": "Check models for errors and likely mistakes",
    "fmt": "Format model files",
    "list": "List the applications and machines of the library",
    "show": "Show what is in a model: a machine's tree and peaks, an application's calls and data",
    "machine": "Start a machine model from a template; find implausible numbers in one",
}
"""What each command answers; it stands in the module of its name."""

USAGE = """\
usage: aspenpy COMMAND ...

How long will this application take on that machine, where does the time go, and what would change it?

commands:
{commands}

options:
  -h, --help  show this help, or the help of a command
  --version   show the version

examples:
  aspenpy eval comd --machine haswell
  aspenpy expr comd --machine haswell --free nx
  aspenpy list machines"""

SUCCESS, FAILURE, INTERRUPTED = 0, 2, 130  # exit statuses; the last is a shell's for programs that SIGINT ends


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
        emit(f"aspenpy {VERSION}")
        return SUCCESS
    if name not in COMMANDS:
        raise CommandError(_unknown(name))
    from aspenpy.shell.option import plain_arguments
    from aspenpy.shell.options import require_machine, require_outputs

    command = import_module(f"aspenpy.shell.commands.{name}")
    parsed = plain_arguments(command.OPTIONS, rest)
    if parsed is None:
        from aspenpy.shell.parser import Parser

        parsed = Parser(name, COMMANDS[name], command.EXAMPLES, command.OPTIONS).parsed(rest)
    require_machine(parsed)
    require_outputs(parsed)
    status: int = command.run(parsed)
    return status


def _unknown(name: str) -> str:
    from aspenpy.language.diagnostics import nearest

    noun = "option" if name.startswith("-") else "command"
    hint = nearest(name, COMMANDS) or "`aspenpy --help` lists the commands"
    return f"there is no {noun} `{name}`; {hint}"
