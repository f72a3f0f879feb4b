"""Option: what a command line may say, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Literal

from aspenpy.record import Record
from aspenpy.shell.failure import CommandError

Examples = tuple[tuple[str, str], ...]  # what a command line does, and the line; a test runs each of them


class Option(Record):
    """An option or a positional argument: its names, what else argparse is told of it, and its former names.

    The help of an option means the same in every command; `detail` is what is to be said of it in one of them."""

    names: tuple[str, ...]
    more: dict[str, Any]
    detail: str = ""
    former: tuple[str, ...] = ()

    def adapt(self, detail: str = "", *, former: str = "", **more: Any) -> Option:
        """The option in one command, with what is particular to it there."""
        return Option(self.names, {**self.more, **more}, detail, tuple(former.split()) or self.former)

    @property
    def help(self) -> str:
        return f"{self.more['help']}{self.detail}"

    @property
    def destination(self) -> str:
        """The name of its value, as argparse forms it."""
        longest = next((name for name in self.names if name.startswith("--")), self.names[0])
        name: str = self.more.get("dest") or longest.lstrip("-").replace("-", "_")
        return name

    @property
    def is_flag(self) -> bool:
        return self.more.get("action") == "store_true"


class OneOf(Record):
    """Options that exclude each other."""

    options: tuple[Option, ...]


class Arguments(SimpleNamespace):
    """The values of a command line, by the destinations of its options."""


Group = Literal["predict", "compare", "count", "programs", "measure", "models", "tools"]
"""Groups in which the help lists commands."""


class Command(Record):
    """A command: its name, what it answers, and the function that runs it and returns the exit status. An interactive
    one waits for somebody's next word."""

    name: str
    group: Group
    summary: str
    options: tuple[Option | OneOf, ...]
    examples: Examples
    run: Callable[[Arguments], int]
    interactive: bool = False


def command(
    name: str,
    group: Group,
    summary: str,
    options: tuple[Option | OneOf, ...],
    examples: Examples,
    interactive: bool = False,
) -> Callable[[Callable[[Arguments], int]], Command]:
    """Makes a command of the function below. `aspenpy.shell.registry` reads the first three arguments without importing
    the module, so they are written out."""
    return lambda run: Command(
        name, group, summary, options=options, examples=examples, run=run, interactive=interactive
    )


def plain_arguments(options: Sequence[Option | OneOf], line: Sequence[str]) -> Arguments | None:
    """The arguments of a line in which each option has one value and nothing is wrong; None for any other line, such
    as one that asks for help. Those are argparse's, which takes 6 ms to import and to set up."""
    valued = [item for item in options if isinstance(item, Option) and not item.more.keys() & {"nargs", "const"}]
    if len(valued) < len(options):
        return None
    values: dict[str, Any] = {
        item.destination: item.more.get("default", False if item.is_flag else None) for item in valued
    }
    missing = {item.destination for item in valued if item.more.get("required") or not item.names[0].startswith("-")}
    given = set[str]()
    try:
        for item, text in _options_given(valued, iter(line)):
            value = True if item.is_flag else item.more.get("type", str)(text)
            if value not in item.more.get("choices", (value,)):
                return None
            several = item.more.get("action") == "append"
            if item.destination in given and not several and not item.is_flag:
                return None
            values[item.destination] = [*values[item.destination], value] if several else value
            given.add(item.destination)
    except Exception:  # what the type of an option raises
        return None
    return None if missing - given else Arguments(**values)


def _options_given(declared: Iterable[Option], line: Iterator[str]) -> Iterator[tuple[Option, str]]:
    """The options of a line with their texts. Raises LookupError where argparse is to say what is wrong."""
    named = {name: item for item in declared for name in item.names}
    positional = [item for name, item in named.items() if not name.startswith("-")]
    for word in line:
        if not word.startswith("-"):
            yield positional.pop(0), word
            continue
        name, equals, text = word.partition("=")
        item = named[name]
        if not equals and not item.is_flag:
            text = next(line, "-")
        if (item.is_flag and equals) or text.startswith("-"):
            raise LookupError(word)
        yield item, text


# -- kinds of options ------------------------------------------------------------------------------


def option(names: str, metavar: str, help: str, *, former: str = "", **more: Any) -> Option:
    """An option with a value, or an argument. Several names are separated by a space; `more` is passed to argparse."""
    return Option(tuple(names.split()), {"metavar": metavar, "help": help, **more}, former=tuple(former.split()))


def repeatable_option(names: str, metavar: str, help: str, **more: Any) -> Option:
    """An option that may be given several times."""
    return option(names, metavar, help, action="append", default=[], **more)


def flag(name: str, help: str, **more: Any) -> Option:
    return Option((name,), {"help": help, **({"action": "store_true"} | more)})


def choice(names: str, choices: Iterable[str], help: str, **more: Any) -> Option:
    """An option that takes one of some words."""
    return Option(tuple(names.split()), {"choices": tuple(choices), "help": help, **more})


MOST_DIGITS = 30  # of a count: nothing is there 10^30 times, and Python reads no integer of more than 4,300 digits


def positive(text: str) -> int:
    """The type of an option that takes a count, such as 100 or 1e6."""
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        number = int(text)
    else:
        digits, exponent, power = text.lower().partition("e")
        plain = exponent and digits.replace(".", "", 1).isdecimal() and power.isdecimal()
        value = float(text) if plain and len(power) < 3 and len(digits) <= MOST_DIGITS else 0.5
        number = int(value) if value.is_integer() else 0
    if number < 1:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"expected a whole number from 1 on, not `{text[: 2 * MOST_DIGITS]}`")
    return number


# -- former names ----------------------------------------------------------------------------------


def rename_options(options: Iterable[Option | OneOf], line: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command line with the names that its options have today, and those by the former names that stood there. What
    follows `--` is another command's."""
    today = {old: item.names[0] for item in options if isinstance(item, Option) for old in item.former}
    if not today:
        return list(line), {}
    end = line.index("--") if "--" in line else len(line)
    written, renamed = list(line), {}
    for index, word in enumerate(line[:end]):
        name, equals, value = word.partition("=")
        if name in today:
            renamed[name] = today[name]
            written[index] = today[name] + equals + value
    return written, renamed


# -- texts with several names -----------------------------------------------------------------------


def split_words(text: str | None) -> list[str]:
    """The names between commas, empty ones left out."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_percent(option: str, text: str) -> float:
    """The part of one that a percentage such as `30%` is."""
    try:
        part = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        part = -1.0
    if not 0 <= part < float("inf"):
        raise CommandError(f"{option}: expected a percentage such as 30%, not `{text}`")
    return part


def split_pairs(option: str, form: str, texts: Iterable[str]) -> dict[str, str]:
    """The texts before and behind the first `=` of each, as name and value. Raises CommandError for two of one
    name."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise CommandError(f"{option}: expected {form}, not `{text}`")
        if name in values:
            raise CommandError(f"{option} {name}: expected one value, not `{values[name]}` and `{value}`")
        values[name] = value
    return values
