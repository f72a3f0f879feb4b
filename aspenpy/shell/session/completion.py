"""Completion: the words that could stand where one is being typed."""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.cost.ranks import DISTRIBUTIONS
from aspenpy.models.library import names as library_names
from aspenpy.shell.prompt import started
from aspenpy.shell.session.commands import COMMANDS
from aspenpy.shell.session.question import metrics
from aspenpy.shell.session.state import State


def completions(state: State, before: str) -> list[str]:
    """The words that begin as the text ends, sorted: commands in the first place, behind one what belongs there."""
    beginning = before[len(before) - started(before) :]
    first, *rest = before.lstrip().split(maxsplit=1)[:2] or [""]
    if not rest and not before[-1:].isspace():
        known = list(COMMANDS)
    else:
        known = WORDS[COMMANDS[first].completed_by](state) if first in COMMANDS else []
    return sorted({word for word in known if word.startswith(beginning)})


def _names(state: State) -> list[str]:
    members = [member for enum in state.application.enums.values() for member in enum.members]
    return [*_parameters(state), *state.names, *metrics(state.prediction), *members]


def _parameters(state: State) -> list[str]:
    """Of a name that both models have, that of the application is meant."""
    scope = state.prediction.scope
    names = scope.names()
    plain = [name if names.count(name) == 1 else f"app:{name}" for name in names]
    return [scope.display_name(scope.symbol(name)) for name in plain]


def _components(state: State) -> list[str]:
    """The types and names of what a rank can occupy."""
    found = [place.component for place in state.required_machine.first_places(state.socket)]
    return [word for component in found for word in (component.type, component.name)]


WORDS: dict[str, Callable[[State], list[str]]] = {
    "names": _names,
    "parameters": _parameters,
    "settings": lambda state: list(state.set),
    "machines": lambda state: library_names("machines"),
    "sockets": lambda state: list(state.required_machine.sockets),
    "kernels": lambda state: list(state.application.kernels),
    "components": _components,
    "distributions": lambda state: list(DISTRIBUTIONS),
    "resources": lambda state: list(state.prediction.resources),
    "commands": lambda state: list(COMMANDS),
    "nothing": lambda state: [],
}
"""What may stand behind a command."""
