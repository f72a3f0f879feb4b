"""Parser: the command line of one command, and the options that several commands share."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, HelpFormatter, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import emit
from aspenpy.shell.pictures import require_drawable

Examples = tuple[tuple[str, str], ...]  # what a command line does, and the line; a test runs each of them


class Option(NamedTuple):
    """An option or a positional argument: its names, and what else argparse is told of it."""

    names: tuple[str, ...]
    more: dict[str, Any]


class OneOf(NamedTuple):
    """Options that exclude each other."""

    options: tuple[Option, ...]


class Parser(ArgumentParser):
    """What it cannot understand it says in one line."""

    def __init__(self, name: str, description: str, examples: Examples, options: Iterable[Option | OneOf]) -> None:
        lines = [f"  # {purpose}\n  {line}" for purpose, line in examples]
        super().__init__(
            f"aspenpy {name}",
            description=f"{description[0].upper()}{description[1:]}.",
            epilog="examples:\n" + "\n".join(lines),
            formatter_class=_of_any_width,
            allow_abbrev=False,
        )
        for item in options:
            group = self.add_mutually_exclusive_group() if isinstance(item, OneOf) else self
            for names, more in item.options if isinstance(item, OneOf) else (item,):
                group.add_argument(*names, **more)

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


# -- kinds of options ------------------------------------------------------------------------------


def option(names: str, metavar: str, help: str, **more: Any) -> Option:
    """An option with a value, or an argument. Several names are separated by a space; `more` is passed to argparse."""
    return Option(tuple(names.split()), {"metavar": metavar, "help": help, **more})


def repeated(name: str, metavar: str, help: str, **more: Any) -> Option:
    """An option that may be given several times."""
    return option(name, metavar, help, action="append", default=[], **more)


def flag(name: str, help: str, **more: Any) -> Option:
    return Option((name,), {"help": help, **({"action": "store_true"} | more)})


def choice(name: str, choices: Iterable[str], help: str, **more: Any) -> Option:
    return Option((name,), {"choices": tuple(choices), "help": help, **more})


def formats(*names: str, help: str = "default: table") -> Option:
    return choice("--format", names, help, default="table")


def picture(what: str) -> Option:
    return option("--picture", "FILE", f"also draws {what}: an .svg, .png or .pdf file")


def machine(*, required: bool, why: str = "") -> Option:
    return option("--machine", "M", f"a machine: a file, or a name of `aspenpy list machines`{why}", required=required)


def seed(of: str = "random draws") -> Option:
    return option("--seed", "N", f"of {of} (default: {DEFAULT_SEED})", type=int, default=DEFAULT_SEED)


def positive(text: str) -> int:
    """The type of an option that takes a count."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number from 1 on, not `{text}`")
    return int(text)


# -- options of several commands -------------------------------------------------------------------

MODEL = option("model", "MODEL", "an application: a file, or a name of `aspenpy list apps`")
ONE_MACHINE = option("machine", "MACHINE", "a machine: a file, or a name of `aspenpy list machines`")
SOCKET = option("--socket", "S", "the kind of socket to run on, where the machine has several")
KERNEL = option("--kernel", "K", "the kernel to run (default: main)")
SET = repeated(
    "--set",
    "NAME=EXPR",
    "gives a parameter another value, a number or an expression such as 2*n; may be repeated",
    dest="settings",
)
PAR = choice(
    "--par",
    ("add", "overlap"),
    "whether the branches of `par` take their times one after the other or at once (default: add)",
    default="add",
)
OUTSIDE = flag("--allow-outside", "lets a model include and import files from outside of its folder")
SEED = seed()

VALUES = (KERNEL, SET)  # what to run, and with which values
SETTINGS = (SOCKET, *VALUES, PAR, OUTSIDE)  # what a prediction can be changed by
TABLE_OR_JSON, ALL_FORMATS = formats("table", "json"), formats("table", "json", "csv")


# -- what arguments may not be ---------------------------------------------------------------------


def require_machine_for_socket(arguments: Namespace) -> None:
    """Refuses a socket where no machine is given: it would be passed over."""
    if "machine" in arguments and arguments.machine is None and getattr(arguments, "socket", None) is not None:
        raise CommandError("--socket chooses among the sockets of a machine: --machine M says which")


def require_outputs(arguments: Namespace) -> None:
    """Refuses, before the work is done, a file that has no name, and a picture that could not be drawn."""
    for name in ("output", "picture"):
        if getattr(arguments, name, None) == "":
            raise CommandError(f"--{name}: the name of the file is empty")
    if getattr(arguments, "picture", None) is not None:
        require_drawable(arguments.picture)


def words(text: str | None) -> list[str]:
    """The names between commas, empty ones left out."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def pairs(option: str, form: str, texts: Iterable[str]) -> dict[str, str]:
    """What stands before and behind the first `=` of each text; of two for one name the later holds."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise CommandError(f"{option}: expected {form}, not `{text}`")
        values[name] = value
    return values


def settings_of(arguments: Namespace) -> dict[str, str]:
    """The values of `--set` by name."""
    return pairs("--set", "NAME=EXPR, such as n=1000", arguments.settings)
