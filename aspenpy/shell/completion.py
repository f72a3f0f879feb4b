"""Completion: what a shell offers for the word under the cursor; argcomplete speaks with the shell."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, get_args

from aspenpy.answers.metrics import METRICS
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application.model import Application
from aspenpy.models.library import Kind, library_names, load_application, load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.shell.option import split_words
from aspenpy.shell.output import COLORS
from aspenpy.shell.parser import Parser
from aspenpy.shell.registry import ALIASES, commands_by_name, load_command
from aspenpy.shell.study_options import STEPS
from aspenpy.tables.numbers import RESOURCE_UNITS

Completer = Callable[..., list[str]]  # argcomplete passes the typed `prefix` and the `parsed_args` before it by name
Model = TypeVar("Model", Application, Machine)


def complete() -> None:
    """Writes the candidates for the command line that the shell has put into the environment, and ends the process.

    Only the command that is on the line is imported."""
    import argcomplete

    root = ArgumentParser("aspenpy")
    root.add_argument("--color", choices=tuple(COLORS))
    root.add_argument("-V", "--version", action="store_true")
    subparsers = root.add_subparsers(parser_class=_Subparser)
    line = os.environ.get("COMP_LINE", "").split()
    for name in [*commands_by_name(), *(alias for alias in ALIASES if alias in line)]:
        command = ALIASES.get(name, name)
        parser = subparsers.add_parser(name, help=commands_by_name()[command].summary)
        if name in line:
            for action in Parser(load_command(command))._actions:
                completer = COMPLETERS.get(action.dest)
                if completer is not None:
                    setattr(action, "completer", completer)  # noqa: B010  argcomplete looks there
                parser._add_action(action)
    argcomplete.autocomplete(root, always_complete_options="long")


class _Subparser(ArgumentParser):
    """A command; its options are another parser's where they are known."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"add_help": False} | more)


def _complete_from_library(kind: Kind) -> Completer:
    """Names of the library and files."""

    def candidates(prefix: str, **_: Any) -> list[str]:
        from argcomplete.completers import FilesCompleter

        files = [] if "," in prefix else FilesCompleter(("aspen",))(prefix)
        return [*_complete_list(prefix, library_names(kind)), *files]

    return candidates


def _complete_from_models(
    found: Callable[[Application | None, Machine | None], Iterable[str]], end: str = ""
) -> Completer:
    """Candidates that are `found` in the models that are already on the line."""

    def candidates(prefix: str, parsed_args: Namespace, **_: Any) -> list[str]:
        application = _load_quietly(load_application, getattr(parsed_args, "model", None))
        named = getattr(parsed_args, "machine", None) or getattr(parsed_args, "machines", None) or ()
        machine = _load_quietly(load_machine, next((name for text in named for name in split_words(text)), None))
        return [word + end for word in _complete_list(prefix, found(application, machine))]

    return candidates


def _complete_list(prefix: str, words: Iterable[str]) -> list[str]:
    """Known names that continue the text behind the last comma."""
    before, comma, last = prefix.rpartition(",")
    return [before + comma + word for word in words if word.startswith(last)]


def _load_quietly(load: Callable[[str], Model], name: str | None) -> Model | None:
    """A model; none where the line names none or one with a mistake, which the command itself reports."""
    try:
        return None if name is None else load(name)
    except AspenError:
        return None


def _list_parameters(application: Application | None, machine: Machine | None) -> Iterator[str]:
    yield from application.parameters if application else ()
    yield from (symbol.name for symbol in machine.definitions) if machine else ()


def _complete_models_and_files(prefix: str, **_: Any) -> list[str]:
    machines, applications = (_complete_from_library(kind)(prefix) for kind in get_args(Kind))
    return list(dict.fromkeys([*machines, *applications]))


def _complete_advice(prefix: str, **more: Any) -> list[str]:
    """Steps of `advise`, and applications."""
    return [*(step for step in STEPS if step.startswith(prefix)), *_complete_from_library("apps")(prefix)]


def _list_metrics(application: Application | None, machine: Machine | None) -> Iterator[str]:
    yield from METRICS
    yield from RESOURCE_UNITS


COMPLETERS: dict[str, Completer] = {
    "model": _complete_from_library("apps"),
    "machine": _complete_from_library("machines"),
    "applications": _complete_from_library("apps"),
    "machines": _complete_from_library("machines"),
    "settings": _complete_from_models(_list_parameters, "="),
    "over": _complete_from_models(_list_parameters, "="),
    "solve": _complete_from_models(_list_parameters, "="),
    "least": _complete_from_models(_list_parameters, "="),
    "metric": _complete_from_models(_list_metrics),
    "minimise": _complete_from_models(_list_metrics),
    "maximise": _complete_from_models(_list_metrics),
    "either": _complete_models_and_files,
    "files": _complete_models_and_files,
    "names": _complete_from_library("machines"),
    "words": _complete_advice,
    "free": _complete_from_models(_list_parameters),
    "vary": _complete_from_models(_list_parameters),
    "kernel": _complete_from_models(lambda application, machine: application.kernels if application else ()),
    "socket": _complete_from_models(lambda application, machine: machine.sockets if machine else ()),
}
"""Completers of the arguments that name something of a model, by their destinations."""
