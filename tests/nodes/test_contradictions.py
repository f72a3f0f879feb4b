"""Options of a placement that contradict each other, and the components that they name."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError

MACHINE = """param parts = 2 in 1 .. 8
machine m {{ node [3] box }}
node box {{ socket [2] chip  memory slow }}
socket chip {{ core [8] unit {memory} }}
core unit {{ {threads} resource flops(x) [x/1e9] }}
memory near {{ resource bytes(x) [x/1e9] }}
memory slow {{ resource pages(x) [x/1e9] }}
"""
APPLICATION = aspenpy.parse("model a { param ranks = 1\n kernel main { execute [ranks] { flops [1e9] } } }")


def runtime(memory: str = "memory [parts] near", threads: str = "", **options: object) -> float:
    machine = aspenpy.parse(MACHINE.format(memory=memory, threads=threads))
    return float(aspenpy.predict(Case(APPLICATION, machine, **options)).runtime)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ({"cores_per_rank": 2, "bind": "socket"}, "contradicting-placement", "`--bind socket` something else"),
        ({"cores_per_rank": 2, "bind": "node"}, "contradicting-placement", "`--bind node` something else"),
        (
            {"cores_per_rank": 2, "ranks_per_device": 2},
            "contradicting-placement",
            "`--ranks-per-device` something else",
        ),
        (
            {"cores_per_rank": 2, "ranks_per_device": 2, "bind": "core"},
            "contradicting-placement",
            "`--ranks-per-device`",
        ),
        ({"ranks_per_device": 2, "bind": "core"}, "contradicting-placement", "`--bind core` gives each rank one"),
        ({"ranks_per_device": 2, "bind": "numa"}, "contradicting-placement", "`--bind numa` gives each rank one"),
        ({"bind": "nosuch"}, "no-such-component", "has no `nosuch` with cores"),
        ({"bind": "slow"}, "no-such-component", "has no `slow` with cores"),
        ({"bind": "core", "threads_per_core": 2}, "no-hardware-threads", "does not state hardware threads"),
        ({"memory": "memory [2] near", "domains": 2}, "no-domains", "into how many NUMA domains"),
        ({"memory": "", "domains": 2}, "no-domains", "into how many NUMA domains"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], code: str, said: str) -> None:
    with pytest.raises(AspenError) as caught:
        runtime(**options)  # type: ignore[arg-type]
    first = caught.value.diagnostics[0]
    assert (first.code, said in first.message) == (code, True), first


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"bind": "core"}, 1),
        ({"cores_per_rank": 1}, 1),
        ({"cores_per_rank": 1, "bind": "core"}, 1),
        ({"bind": "socket", "set": {"ranks": 6}}, 1),
        ({"ranks_per_device": 2, "set": {"ranks": 12}}, 1),
        ({"ranks_per_device": 2, "bind": "socket", "set": {"ranks": 12}}, 1),
        ({"bind": "core", "set": {"ranks": 48}}, 1),
    ],
)
def test_ranks_that_fit_run_at_once(options: dict[str, object], seconds: float) -> None:
    """3 nodes of 2 sockets of 8 cores; a block of one rank is a second of one core."""
    assert runtime(**options) == seconds  # type: ignore[arg-type]
