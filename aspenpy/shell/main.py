"""The command `aspenpy`: finds the subcommand, imports it and no other, and says what went wrong."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from aspenpy.allowance import separate_allowance
from aspenpy.language.diagnostics import TOO_LARGE, AspenError
from aspenpy.shell.failure import FAILURE, INTERRUPTED, NOBODY_READS, SUCCESS, ClosedPipe, CommandError
from aspenpy.shell.option import Group
from aspenpy.shell.output import (
    abandon,
    apply_color_option,
    complain,
    emit,
    report,
    standard_output_as_file,
    warn_of_old_name,
)
from aspenpy.shell.progress import progress
from aspenpy.shell.registry import ALIASES, GROUPS, commands_by_name, find_command, load_command
from aspenpy.version import VERSION

USAGE = """\
usage: aspenpy COMMAND ...

How long will this application take on that machine, where does the time go, and what would change it?

begin with: list, eval, compare, roofline, extract

{commands}

options, before or behind the command:
  -h, --help                   show this help, or the help of a command, as `aspenpy help COMMAND` does
  -V, --version                show the version
  --color {{auto,always,never}}  auto: on a terminal, as NO_COLOR and FORCE_COLOR say (default: auto)

examples:
  aspenpy eval comd --machine haswell
  aspenpy expr comd --machine haswell --free nx
  aspenpy list machines"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, without the program's name, and returns its exit status."""
    if arguments is not None:
        return _run_guarded(list(arguments))
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for candidates, as `aspenpy completion` has told it to
        from aspenpy.shell.completion import complete

        complete()
    status = _run_guarded(sys.argv[1:])
    gc.freeze()  # nobody waits for Python to look through what ends with the process: 6 ms
    return status


def _run_guarded(arguments: list[str]) -> int:
    """Runs a command; reports what ends it early, and returns its exit status."""
    try:
        return run(arguments)
    except AspenError as error:
        report(error.diagnostics)
        return FAILURE
    except CommandError as error:
        complain(str(error))
        return FAILURE
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return INTERRUPTED  # which a library met while it was imported, and made an error of its own
        if not out_of_memory(error):
            raise
        complain("there is not enough memory for this")
        return FAILURE
    except OverflowError:  # exact numbers may be of any size; what is shown and drawn is in floating point
        complain(TOO_LARGE)
        return FAILURE
    except ClosedPipe:
        return NOBODY_READS
    except BrokenPipeError:  # of `-o -`
        abandon(sys.stdout)
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if not has_no_value(error):
            raise
        complain(f"an expression has no value: {error}")
        return FAILURE


def has_no_value(error: Exception) -> bool:
    """Whether an error says that an expression has no value, without its place in a model. The classes of such errors
    are imported only where expressions are evaluated."""
    failures = sys.modules.get("aspenpy.expr.failures")
    return failures is not None and isinstance(error, failures.EvaluationError | failures.DomainError)


OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")
"""Words for missing memory in other exceptions than MemoryError, of the system and of the loader of libraries."""


def out_of_memory(error: BaseException | None) -> bool:
    """Whether missing memory is the cause of an exception, or of one that it was raised for."""
    while error is not None:
        if isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def run(arguments: list[str]) -> int:
    """The exit status of a command that ends well."""
    name, *rest = apply_color_option(arguments) or ["--help"]
    if name == "help" and rest:
        name, rest = rest[0], ["--help"]
    name = ALIASES.get(name, name)
    if name in ("-h", "--help", "help"):
        emit(USAGE.format(commands="\n\n".join(_list_commands(group) for group in GROUPS)))
        return SUCCESS
    if name in ("-V", "--version", "version"):
        emit(f"aspenpy {VERSION}")
        return SUCCESS
    if find_command(name) is None:
        raise CommandError(_describe_unknown(name))
    from aspenpy.shell.option import plain_arguments, rename_options
    from aspenpy.shell.options import require_machine, require_one_machine, require_outputs

    command = load_command(name)
    rest, former = rename_options(command.options, rest)
    for old, today in former.items():
        warn_of_old_name(old, today)
    parsed = plain_arguments(command.options, rest)
    if parsed is None:
        from aspenpy.shell.parser import Parser

        parsed = Parser(command).parse_words(rest)
    parsed.command_line = [name, *rest]
    require_one_machine(parsed)
    require_machine(parsed)
    require_outputs(parsed)
    about = f"aspenpy {name} {getattr(parsed, 'model', '') or ''}"
    shown = nullcontext() if command.interactive else progress(about)
    with separate_allowance(), standard_output_as_file(getattr(parsed, "output", None)), shown:
        return command.run(parsed)


def _list_commands(group: Group) -> str:
    """A group of the help: its title, and a line for each command."""
    listed = [f"  {entry.name:<12} {entry.summary}" for entry in commands_by_name().values() if entry.group == group]
    return "\n".join([f"{GROUPS[group]}:", *listed])


def _describe_unknown(name: str) -> str:
    from aspenpy.language.diagnostics import suggest_nearest

    noun = "option" if name.startswith("-") else "command"
    hint = suggest_nearest(name, commands_by_name()) or "`aspenpy --help` lists the commands"
    return f"there is no {noun} `{name}`; {hint}"
