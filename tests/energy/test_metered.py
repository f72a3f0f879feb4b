"""Parts that an energy holds, as a meter that feeds them would: 30 W of a socket for 5 s, and 3 W of what stands in or
beside the node."""

import pytest

import aspenpy
from aspenpy import Energy
from aspenpy.answers.energy.metered import find_metered
from aspenpy.answers.energy.options import EnergyOptions
from tests.tiny import application, machine

WATTS = "static power [3 W] dynamic power [0 W]"


def energy(node: str = "", beside: str | None = None, inside: str | None = None, charged: str = "machine") -> Energy:
    """Of a run on a node; `beside` it is a network, and `inside` a link."""
    nets = [
        f"interconnect {name} {{ {power} resource messages(v) [v] }}"
        for name, power in (("net", beside), ("link", inside))
        if power is not None
    ]
    text = (
        f"machine metered {{ node [1] box {'' if beside is None else 'interconnect [1] net'} }}"
        f"node box {{ socket [1] cpu {'' if inside is None else 'interconnect [1] link'} {node} }} {' '.join(nets)}"
        "socket cpu { resource flops(n) [n] static power [10 W] dynamic power [20 W] }"
    )
    options = EnergyOptions(charged=charged)  # type: ignore[arg-type]
    return aspenpy.energy(application("execute { flops [5] }"), machine(text), options=options)


@pytest.mark.parametrize(
    ("found", "joules", "nodes", "network"),
    [
        (energy(), 150, False, False),
        (energy(WATTS), 165, True, False),
        (energy(beside=WATTS), 165, False, True),
        (energy(beside=""), 150, False, False),
        (energy(inside=WATTS), 165, False, False),
        (energy(beside="", inside=WATTS), 165, False, False),
        (energy(beside=WATTS, inside=WATTS), 180, False, True),
        (energy(WATTS, WATTS, WATTS), 195, True, True),
        (energy(WATTS, WATTS, WATTS, charged="socket"), 150, False, False),
    ],
)
def test_parts_that_are_metered(found: Energy, joules: float, nodes: bool, network: bool) -> None:
    """A link inside of a node is part of it, and no network."""
    assert found.value == pytest.approx(joules)
    parts = find_metered(found)
    assert (parts.nodes, parts.network, parts.storage, parts.supplies) == (nodes, network, False, False)


FEEDS = "property efficiency [0.5]"
ALONE, ASKED = "sockets and memories alone, behind regulators and supplies", "as the Green500 asks at level"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (energy(), f"{ALONE}; less than the Green500 asks for"),
        (energy(WATTS), "sockets and memories, nodes, behind regulators and supplies; less than the Green500 asks for"),
        (energy(FEEDS), "sockets and memories alone, before supplies; less than the Green500 asks for"),
        (energy(f"{WATTS} {FEEDS}"), f"sockets and memories, nodes, before supplies, {ASKED} 1"),
        (energy(f"{WATTS} {FEEDS}", WATTS), f"sockets and memories, nodes, network, before supplies, {ASKED}s 2 and 3"),
        (energy(FEEDS, WATTS), "sockets and memories, network, before supplies; less than the Green500 asks for"),
        (energy(f"{WATTS} {FEEDS}", charged="socket"), f"{ALONE}; less than the Green500 asks for"),
    ],
)
def test_what_the_green500_asks_for(found: Energy, words: str) -> None:
    """The power of nodes before their supplies at level 1, and of the network too at levels 2 and 3 (EE HPC WG, Energy
    Efficient High Performance Computing Power Measurement Methodology, version 2.0)."""
    line = next(line for line in str(found).splitlines() if line.strip().startswith("metered"))
    assert line.partition("metered")[2].strip() == words
