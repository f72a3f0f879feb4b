"""Parser: the help of one command, and what is wrong with a command line."""

from __future__ import annotations

import re
from argparse import Action, ArgumentError, ArgumentParser, HelpFormatter, RawDescriptionHelpFormatter, _AppendAction
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NoReturn

from aspenpy.language.diagnostics import suggest_nearest
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Command, OneOf
from aspenpy.shell.output import emit

_MISSING = "the following arguments are required: "  # as argparse begins these messages
_UNKNOWN = "unrecognized arguments: "
_ELSEWHERE = {
    "-m": "--machine",
    "--param": "--set",
    "--plot": "--picture",
    "--figure": "--picture",
    "--json": "--format json",
    "--csv": "--format csv",
}
"""What other programs call an option."""


class Parser(ArgumentParser):
    """A parser that reports in one line what it cannot understand."""

    _line: Sequence[str] = ()

    def __init__(self, command: Command) -> None:
        lines = [f"  # {purpose}\n  {line}" for purpose, line in command.examples]
        self._given: dict[str, list[str]] = {}
        super().__init__(
            f"aspenpy {command.name}",
            description=f"{command.summary}.",
            epilog="examples:\n" + "\n".join(lines),
            formatter_class=_make_plain_formatter,
            allow_abbrev=False,
        )
        for item in command.options:
            group = self.add_mutually_exclusive_group() if isinstance(item, OneOf) else self
            for option in item.options if isinstance(item, OneOf) else (item,):
                group.add_argument(*option.names, **{**option.more, "help": option.help.replace("%", "%%")})

    def _get_values(self, action: Action, texts: list[str]) -> Any:
        """Values of an action. Raises ArgumentError for a second value of an option that takes one."""
        if action.option_strings and not isinstance(action, _AppendAction):
            first = self._given.setdefault(action.dest, texts)
            if texts and first is not texts:
                raise ArgumentError(action, f"expected one value, not `{' '.join(first)}` and `{' '.join(texts)}`")
        return super()._get_values(action, texts)

    def error(self, message: str) -> NoReturn:
        """An option that does not exist comes before one that is missing: it may have been meant."""
        if message.startswith(_MISSING) and (strange := self._unknown_option()):
            message = _UNKNOWN + strange
        raise CommandError(f"{self._reword(message)}; `{self.prog} --help` says what it takes")

    def _reword(self, message: str) -> str:
        """The message of argparse in plain words, with what was probably meant."""
        if missing := message.removeprefix(_MISSING).removesuffix(message):
            names = [self._with_value(name) for name in missing.split(", ")]
            return f"{list_in_words(names)} {'is' if len(names) == 1 else 'are'} missing"
        if unknown := message.removeprefix(_UNKNOWN).removesuffix(message):
            word = unknown.split()[0].partition("=")[0]
            meant = self._suggest_option(word) if word.startswith("-") else None
            noun = "option" if word.startswith("-") else "argument"
            return f"there is no {noun} `{word}`{f': {meant}'.removesuffix('?') if meant else ' here'}"
        named, colon, rest = message.removeprefix("argument ").partition(": ")
        if match := re.fullmatch(r"invalid choice: '(.*)' \(choose from (.*)\)", rest):
            choices = match[2].replace("'", "").split(", ")
            meant = suggest_nearest(match[1], choices)
            wrong = f"expected {', '.join(choices[:-1])} or {choices[-1]}, not `{match[1]}`"
            return f"{named}: {wrong}{f': {meant}'.removesuffix('?') if meant else ''}"
        return f"{named}{colon}{'a value is missing' if rest == 'expected one argument' else rest}"

    def _unknown_option(self) -> str | None:
        """The first word of the line that looks like an option and is none of the command."""
        own = takewhile(lambda word: word != "--", self._line)
        options = (word for word in own if re.match(r"--?[A-Za-z]", word))
        return next((word for word in options if word.partition("=")[0] not in self._option_string_actions), None)

    def _suggest_option(self, word: str) -> str | None:
        """The option that an unknown one stands for, as a hint."""
        named = _ELSEWHERE.get(word)
        if named is not None and named.split()[0] in self._option_string_actions:
            return f"did you mean `{named}`?"
        names = (name[2:] for name in self._option_string_actions if name.startswith("--"))
        return suggest_nearest(word[2:], names, "--{}".format) if word.startswith("--") else None

    def _with_value(self, name: str) -> str:
        """`--machine M`, as the help has it."""
        action = self._option_string_actions.get(name.split("/")[-1])
        return name if action is None else f"{name.replace('/', ', ')} {action.metavar or ''}".rstrip()

    def parse_words(self, words: Sequence[str]) -> Arguments:
        """Parses the words of a command line. Only help is laid out for the terminal: argparse would do so with its
        usage line for each command, for messages that `error` writes without it."""
        self._line = words
        if any(word.startswith(("-h", "--help")) for word in words):
            self.formatter_class = partial(RawDescriptionHelpFormatter, max_help_position=28)
        else:
            self.usage = ""
        if "--" in words:  # what follows is a command line of its own
            return self.parse_args(words, Arguments())
        return self.parse_intermixed_args(words, Arguments())

    def print_help(self, file: object = None) -> None:
        """Prints help as all output is written, so that a pipe that is closed means the same everywhere."""
        emit(self.format_help().rstrip("\n"))


def list_in_words(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _make_plain_formatter(prog: str) -> HelpFormatter:
    """A formatter for commands that are not asked for help: asking for the width of the terminal imports libraries for
    compression."""
    return HelpFormatter(prog, width=100)
