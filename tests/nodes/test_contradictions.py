"""Options of a placement that contradict each other, and the components that they name."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.run_placement import run_placement
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


# -- devices ---------------------------------------------------------------------------------------

SHARED_OUT = aspenpy.parse("model a { param ranks = 1\n kernel main { execute [ranks] of [16] { flops [1e9] } } }")
HOSTED = """machine m { node [3] box }
node box { socket [2] host  socket [4] gpu }
socket host { core [8] thread }
socket gpu { property launch_latency [1 us]  property rank  core [16] unit }
core thread { resource flops(x) [x/1e9] }
core unit { resource flops(x) [x/1e9] }
"""


def on_a_node(ranks: int, **options: object) -> int:
    """The most ranks on a node of two hosts of eight cores and four devices."""
    case = Case(SHARED_OUT, aspenpy.parse(HOSTED), "gpu", set={"ranks": ranks}, **options)  # type: ignore[arg-type]
    placed = run_placement(aspenpy.predict(case))
    assert placed is not None
    return placed.of_node


@pytest.mark.parametrize("cores", range(1, 17))
@pytest.mark.parametrize("sharing", [None, 1, 2, 5])
def test_ranks_on_devices_have_cores_of_the_hosts(cores: int, sharing: int | None) -> None:
    """As with `--cpus-per-task`, a node takes no more ranks than it has cores for."""
    expected = min(4 * (sharing or 1), 16 // cores)
    assert on_a_node(3 * expected, cores_per_rank=cores, ranks_per_device=sharing) == expected
    with pytest.raises(AspenError, match=f"and `m` has places for {3 * expected}: "):
        on_a_node(3 * expected + 1, cores_per_rank=cores, ranks_per_device=sharing)


def test_a_rank_on_a_device_says_which_cores_it_has() -> None:
    case = Case(SHARED_OUT, aspenpy.parse(HOSTED), "gpu", cores_per_rank=6)
    assert "a socket, `gpu` and 6 cores of the host" in str(run_placement(aspenpy.predict(case)))
    bound = str(run_placement(aspenpy.predict(case.changed(bind="core"))))
    assert "6 cores, `unit`" in bound


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (HOSTED, {"cores_per_rank": 17}, "17 cores for the ranks of a node, and its hosts have 16"),
        (HOSTED, {"cores_per_rank": 5, "ranks_per_node": 4}, "20 cores for the ranks of a node, and its hosts have 16"),
        (HOSTED.replace("socket [2] host", ""), {"cores_per_rank": 1}, "machine `m` states none"),
    ],
)
def test_cores_that_hosts_do_not_have_are_refused(machine: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(AspenError, match=message):
        aspenpy.predict(Case(SHARED_OUT, aspenpy.parse(machine), "gpu", **options))  # type: ignore[arg-type]
