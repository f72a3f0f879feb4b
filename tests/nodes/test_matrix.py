"""All applications of the library on all of its machines: an answer, or a refusal that says what is missing.

By default each machine runs a twenty-first of the applications, the next part on the next machine; `ASPENPY_THOROUGH=1`
runs all."""

from __future__ import annotations

from functools import cache
from math import isfinite

import pytest

import aspenpy
from aspenpy.models.library import library_names
from tests.thorough import THOROUGH

APPLICATIONS = library_names("apps")
MACHINES = library_names("machines")
PARTS = 21

REFUSALS = {
    "no-such-resource": ("offers the resource `messages`", "offers the resource `write`"),  # no network, no file system
    "too-many-ranks": ("ranks",),  # more instances exchange messages than the machine has places for
}
"""What may be missing: the code of a refusal, and what it names one of."""


@cache
def load(name: str) -> aspenpy.Application:
    return aspenpy.load_application(name)


def test_the_matrix_is_whole() -> None:
    assert len(APPLICATIONS) >= 28
    assert len(MACHINES) >= 70


@pytest.mark.parametrize("name", MACHINES)
def test_an_answer_or_a_stated_reason(name: str) -> None:
    machine = aspenpy.load_machine(name)
    socket = machine.sockets[-1] if machine.sockets else None
    first = MACHINES.index(name) % PARTS
    answered = 0
    for number, app in enumerate(APPLICATIONS):
        if number % PARTS != first and not THOROUGH:
            continue
        try:
            found = aspenpy.predict(load(app), machine, socket=socket)
            runtime = found.runtime
        except aspenpy.AspenError as error:
            reason = error.diagnostics[0]
            assert reason.code in REFUSALS, f"{app}: {reason}"
            assert any(words in reason.message for words in REFUSALS[reason.code]), f"{app}: {reason}"
            assert reason.hint, app
        else:
            assert isfinite(runtime), app
            assert runtime > 0 or _stays_in_caches(found), app
            answered += 1
    assert answered > 0 or not THOROUGH  # of one or two applications, each may be refused


def _stays_in_caches(found: aspenpy.Prediction) -> bool:
    """Whether nothing is asked for but bytes that caches without a bandwidth serve: these take no time."""
    costs = [cost for block in found.tree.blocks.values() for cost in block.requirements]
    return all(cost.traffic is not None for cost in costs) and not any(b.levels for b in found.tree.blocks.values())
