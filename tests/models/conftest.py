"""Fixtures for the tests of the library's models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

import aspenpy

Seconds = Callable[..., float]
Rate = Callable[..., float]
Messages = Callable[[str, str, Mapping[str, float]], float]

EACH_MESSAGE_TAKES_A_SECOND = """
machine clock { node one  interconnect [1000000] port }
node one { socket processor }
socket processor { core [1000000] unit  memory store }
core unit { resource flops(number) [0] }
memory store { resource loads(volume) [0] resource stores(volume) [0] }
interconnect port { resource messages(volume) [1] }
"""


@pytest.fixture
def seconds() -> Seconds:
    """Seconds that a machine takes for one requirement, such as `flops [1e9] as dp`."""

    def ask(machine: str, requirement: str, parallelism: int = 1, socket: str | None = None, **values: float) -> float:
        model = f"model ask {{ kernel main {{ execute [{parallelism}] {{ {requirement} }} }} }}"
        application = aspenpy.parse(model)
        assert isinstance(application, aspenpy.Application)
        return aspenpy.predict(application, aspenpy.load_machine(machine), socket=socket, set=values).runtime

    return ask


@pytest.fixture
def rate(seconds: Seconds) -> Rate:
    """Amount per second that one component of a socket gives."""

    def measure(machine: str, resource: str, *traits: str, socket: str | None = None, **values: float) -> float:
        asked = f"{resource} [1e12]" + (f" as {', '.join(traits)}" if traits else "")
        return 1e12 / seconds(machine, asked, socket=socket, **values)

    return measure


@pytest.fixture
def messages_in_turn() -> Messages:
    """Messages a rank sends one after the other: seconds on a machine where each takes one."""
    machine = aspenpy.parse(EACH_MESSAGE_TAKES_A_SECOND)
    assert isinstance(machine, aspenpy.Machine)

    def count(application: str, kernel: str, values: Mapping[str, float]) -> float:
        return aspenpy.predict(aspenpy.load_application(application), machine, kernel=kernel, set=values).runtime

    return count
