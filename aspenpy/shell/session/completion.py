"""Completion: the words that may stand behind a command of a session."""

from __future__ import annotations

from aspenpy.shell.session.question import metrics
from aspenpy.shell.session.state import State


def names(state: State) -> list[str]:
    members = [member for enum in state.application.enums.values() for member in enum.members]
    return [*parameters(state), *state.names, *metrics(state.prediction), *members]


def parameters(state: State) -> list[str]:
    """Of a name that both models have, that of the application is meant."""
    scope = state.prediction.scope
    known = scope.names()
    plain = [name if known.count(name) == 1 else f"app:{name}" for name in known]
    return [scope.display_name(scope.symbol(name)) for name in plain]


def components(state: State) -> list[str]:
    """The types and names of what a rank can occupy."""
    found = [place.component for place in state.required_machine.first_places(state.socket)]
    return [word for component in found for word in (component.type, component.name)]
