"""Parser: the command line of one command, and the arguments that several commands share."""

from __future__ import annotations

from argparse import ArgumentParser, HelpFormatter, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import emit
from aspenpy.shell.pictures import require_drawable

Examples = tuple[tuple[str, str], ...]
"""What a command line does, and the line; a test runs each of them."""


class Parser(ArgumentParser):
    """What it cannot understand it says in one line."""

    def __init__(self, name: str, description: str, examples: Examples) -> None:
        lines = [f"  # {purpose}\n  {line}" for purpose, line in examples]
        super().__init__(
            f"aspenpy {name}",
            description=f"{description[0].upper()}{description[1:]}.",
            epilog="examples:\n" + "\n".join(lines),
            formatter_class=_of_any_width,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; `{self.prog} --help` says what it takes")

    def parsed(self, words: Sequence[str]) -> Namespace:
        """Only help is laid out for the terminal: argparse would do so with its usage line for each command, for
        messages that `error` writes without it."""
        if any(word.startswith(("-h", "--help")) for word in words):
            self.formatter_class = _formatter
        else:
            self.usage = ""
        return self.parse_intermixed_args(words)

    def print_help(self, file: object = None) -> None:
        """As all output is written, so that a pipe that is closed means the same everywhere."""
        emit(self.format_help().rstrip("\n"))


def _formatter(prog: str) -> HelpFormatter:
    return RawDescriptionHelpFormatter(prog, max_help_position=28)


def _of_any_width(prog: str) -> HelpFormatter:
    """For the arguments of a command that is not asked for help. Whoever asks for the width of the terminal imports
    libraries for compression with it."""
    return HelpFormatter(prog, width=100)


# -- shared arguments ------------------------------------------------------------------------------


def add_model(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="an application: a file, or a name of `aspenpy list apps`")


def add_machine(parser: ArgumentParser, *, required: bool, why: str = "") -> None:
    parser.add_argument(
        "--machine",
        metavar="M",
        required=required,
        help=f"a machine: a file, or a name of `aspenpy list machines`{why}",
    )


def add_settings(parser: ArgumentParser) -> None:
    """What a prediction can be changed by."""
    parser.add_argument("--socket", metavar="S", help="the kind of socket to run on, where the machine has several")
    add_values(parser)
    parser.add_argument(
        "--par",
        choices=("add", "overlap"),
        default="add",
        help="whether the branches of `par` take their times one after the other or at once (default: add)",
    )
    add_outside(parser)


def require_machine_for_socket(arguments: Namespace) -> None:
    """Refuses a socket where no machine is given: it would be passed over."""
    if "machine" in arguments and arguments.machine is None and getattr(arguments, "socket", None) is not None:
        raise CommandError("--socket chooses among the sockets of a machine: --machine M says which")


def require_outputs(arguments: Namespace) -> None:
    """Refuses, before the work is done, a file that has no name, and a picture that could not be drawn."""
    for option in ("output", "picture"):
        if getattr(arguments, option, None) == "":
            raise CommandError(f"--{option}: the name of the file is empty")
    if getattr(arguments, "picture", None) is not None:
        require_drawable(arguments.picture)


def add_values(parser: ArgumentParser) -> None:
    """What to run, and with which values."""
    parser.add_argument("--kernel", metavar="K", help="the kernel to run (default: main)")
    parser.add_argument(
        "--set",
        metavar="NAME=EXPR",
        action="append",
        default=[],
        dest="settings",
        help="gives a parameter another value, a number or an expression such as 2*n; may be repeated",
    )


def add_seed(parser: ArgumentParser, of: str = "random draws") -> None:
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of {of} (default: {DEFAULT_SEED})"
    )


def add_outside(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="lets a model include and import files from outside of its folder",
    )


def settings_of(arguments: Namespace) -> dict[str, str]:
    """The values of `--set` by name; of two for one name the later holds."""
    found: dict[str, str] = {}
    for text in arguments.settings:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise CommandError(f"--set: expected NAME=EXPR, such as n=1000, not `{text}`")
        found[name.strip()] = value.strip()
    return found
