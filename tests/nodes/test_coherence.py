"""Cores that store to the same lines, against a machine of caches that invalidate each other, store by store."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

import aspenpy
from aspenpy import predict
from tests.tiny import application, machine

LINE = 64
NEAR, FAR = 20e-9, 100e-9

MACHINE = """
machine M {{ node box }}
node box {{ socket chip }}
socket chip {{ cache [2] L3 core [8] C memory D {socket} }}
core C {{ cache L1 }}
cache L1 {{ property capacity [32768] property associativity [8] property cacheline [64] }}
cache L3 {{ property capacity [1048576] property associativity [16] property cacheline [64] {cache} }}
memory D {{ resource loads(x) [x/1e15] resource stores(x) [x/1e15] }}
"""


def seconds(cores: int, stores: int, lines: int, cache: str = "", socket: str = "", trait: str = "shared") -> float:
    text = MACHINE.format(cache=cache, socket=socket)
    needs = f"stores [{stores}] of size [8] to X as random, {trait}" if trait else f"stores [{stores}] to X as random"
    app = application(f"execute [{cores}] {{ {needs} }}", f"data X [{LINE * lines}]")
    return float(predict(app, machine(text)).runtime)


def simulated(cores: int, stores: int, lines: int, latency: float) -> float:
    """Each store, of any core to any line, takes the line from its owner; neither a core nor a line is faster than its
    transfers one by one."""
    draws, owner = Random(1), dict[int, int]()
    of_core, of_line = defaultdict[int, float](float), defaultdict[int, float](float)
    for _ in range(stores * cores):
        core, line = draws.randrange(cores), draws.randrange(lines)
        if owner.get(line, core) != core:
            of_core[core] += latency
            of_line[line] += latency
        owner[line] = core
    return max(*of_core.values(), *of_line.values())


@pytest.mark.parametrize("cores", [2, 4, 8])
@pytest.mark.parametrize("lines", [1, 2, 64])
def test_ping_pong(cores: int, lines: int) -> None:
    """Many lines: (P-1)/P of a core's stores wait. One: those of all cores wait for each other."""
    found = seconds(cores, 4000, lines, socket="property transfer_latency [100e-9]")
    assert found == pytest.approx(simulated(cores, 4000, lines, FAR), rel=0.05)


def test_by_hand() -> None:
    """Eight cores, four to a cache: of the others 3 of 8 are near, 4 of 8 far; a line each."""
    both = {"cache": "property transfer_latency [20e-9]", "socket": "property transfer_latency [100e-9]"}
    assert seconds(8, 1000, 8, **both) == pytest.approx(1000 * (3 * NEAR + 4 * FAR) / 8)
    assert seconds(8, 1000, 1, **both) == pytest.approx(8 * 1000 * (3 * NEAR + 4 * FAR) / 8)
    assert seconds(1, 1000, 1, **both) == pytest.approx(1000 * 8 / 1e15, rel=1)


def test_off_where_nothing_says_so() -> None:
    """Neither of the data nor of the machine."""
    stated = {"socket": "property transfer_latency [100e-9]"}
    assert seconds(8, 1000, 1, trait="") < 1e-9
    assert seconds(8, 1000, 1) < 1e-9
    assert seconds(8, 1000, 1, **stated) > 1e-5


def test_a_machine_that_does_not_say_is_told() -> None:
    app = application("execute [8] { stores [10] of size [8] to X as stream, shared }", "data X [80]")
    (told,) = predict(app, machine(MACHINE.format(cache="", socket=""))).diagnostics
    assert told.code == "unknown-latency"
    expected = "machine `M` states no `transfer_latency` between cores: `shared` stores wait for none"
    assert told.message == expected


def test_a_counter_on_a_processor_of_the_library() -> None:
    """40 cores count to 1000 in one line, 51 ns from core to core."""
    app = application("execute [40] { stores [1000] of size [8] to X as stream, reuse(1000), shared }", "data X [8]")
    found = predict(app, aspenpy.load_machine("xeon_platinum_8380"))
    assert float(found.runtime) == pytest.approx(39 * 1000 * 51e-9)
    assert found.bottleneck is not None
    assert found.bottleneck.resource == "coherence"


def test_loads_wait_for_nobody() -> None:
    """Lines that all cores only load are in the caches of all."""
    app = application("execute [4] { loads [10] from X as stream, shared }", "data X [80]")
    found = predict(app, machine(MACHINE.format(cache="", socket="property transfer_latency [1]")))
    assert "coherence" not in found.resources
    assert not [note for note in found.diagnostics if note.code == "unknown-latency"]
