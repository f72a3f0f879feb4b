"""Runtimes know no power cap: where a socket states one and a run waits for it, every command says so beside them."""

from __future__ import annotations

from typing import Any

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.explore.comparison import Comparison
from aspenpy.sweeps.sweep import make_study

APPLICATION = aspenpy.parse("model a { kernel main { execute { flops [4e9] } } }")
CAPPED = """
param rate = 1e9 in 1e9 .. 8e9
machine m { socket s }
socket s {
  core c
  property idle_power [10 W]
  property power_cap [20 W]
  property energy_per_flop [10 nJ/flop]
}
core c { resource flops(number) [number/rate] }
"""


def test_a_runtime_says_what_the_power_cap_makes_of_it() -> None:
    """2e9 flop/s at 10 nJ consume 20 W, of which the cap leaves 10 W: it takes twice as long. At 1e9 it does not."""
    machine = aspenpy.parse(CAPPED)
    assert capped_messages(aspenpy.predict(APPLICATION, machine)) == []
    found = aspenpy.predict(APPLICATION, machine, set={"rate": 2e9})
    assert found.runtime == 2
    assert aspenpy.energy(found.case).capped_runtime == pytest.approx(4)
    assert capped_messages(found) == ["under the power cap of `s` (20 W) the run takes 4 s, and not 2 s"]
    assert capped_messages(found.explain()) == capped_messages(found)


def test_a_sweep_says_where_the_cap_makes_runs_longer() -> None:
    """E/(cap - P) is 4 s at every rate; T is 4, 2, 1 and 0.5 s."""
    machine = aspenpy.parse(CAPPED)
    case = Case(APPLICATION, machine)
    (message,) = capped_messages(make_study(case, {"rate": [1e9, 2e9, 4e9, 8e9]}))
    assert message.endswith("the run takes 4 s, and not 500 ms, with rate = 8e+09; 3 of 4 points wait")


SENDING = """model s {
  param ranks = 2 in 1 .. 4
  kernel main { execute [ranks] of [ranks] { flops [4e9] messages [1] of size [8] } }
}"""
NETWORK = (
    CAPPED.replace("machine m { socket s }", "machine m { socket [4] s  interconnect [4] wire }")
    + """
interconnect wire {
  property latency [1 us]
  property bandwidth [1 GB/s]
  resource messages(volume) [latency + volume/bandwidth]
}
"""
)


def test_power_that_the_cap_does_not_limit_may_be_unknown() -> None:
    """The cap is that of the socket: what the network draws is asked for by `energy` alone."""
    case = Case(aspenpy.parse(SENDING), aspenpy.parse(NETWORK))
    with pytest.raises(aspenpy.AspenError, match="declares no dynamic power"):
        aspenpy.energy(case)
    answers = [
        aspenpy.predict(case),
        aspenpy.place(case),
        aspenpy.scale(case, ranks=[1, 2, 4]),
        make_study(case, {"rate": [1e9]}),
    ]
    assert [capped_messages(answer) for answer in answers] == [[]] * len(answers)
    assert not any("power" in item.message for answer in answers for item in answer.diagnostics)
    other = Case(case.application, aspenpy.parse(NETWORK.replace("machine m", "machine k")))
    assert "power" not in str(Comparison([case, other]))


def test_machines_are_ranked_without_their_caps() -> None:
    """At 8e9 flop/s a run takes 0.5 s and under the cap 4 s, at 2e9 without a cap 2 s."""
    free = CAPPED.replace("machine m", "machine free").replace("power_cap [20 W]", "power_cap [1 kW]")
    quick, slow = (aspenpy.parse(text) for text in (CAPPED.replace("= 1e9", "= 8e9"), free.replace("= 1e9", "= 2e9")))
    found = Comparison([Case(APPLICATION, machine) for machine in (quick, slow)])
    assert (found.fastest, found.fastest_under_caps) == ("m", "free")
    assert "under the caps free is the fastest" in " ".join(str(found).split())


def capped_messages(found: Any) -> list[str]:
    return [item.message for item in found.diagnostics if item.code == "power-cap"]


def test_a_placement_warns_of_the_socket_whose_kernels_wait() -> None:
    """At 2e9 flop/s on either socket `hot` runs 2 s and `cool` 1 s; at 10 nJ a flop under 10 W above idle, `hot` alone
    takes 4 s on the capped socket, both 6 s, and `cool` alone 2 s; the socket without a cap makes nothing longer."""
    kernels = "kernel hot { execute { flops [4e9] } } kernel cool { execute { flops [2e9] } }"
    application = aspenpy.parse(f"model a {{ {kernels} kernel main {{ call hot call cool }} }}")
    capped = CAPPED.replace("machine m { socket s }", "machine m { socket s socket free }")
    machine = aspenpy.parse(f"{capped} socket free {{ core c property idle_power [10 W] }}")

    def warned(hot: str, cool: str) -> list[str]:
        placed = aspenpy.place(application, machine, {"hot": hot, "cool": cool}, set={"rate": 2e9})
        return capped_messages(placed)

    assert warned("free", "free") == []
    (alone,) = warned("s", "free")
    assert "the kernels on it take 4 s, and not 2 s" in alone
    (cool,) = warned("free", "s")
    assert "the kernels on it take 2 s, and not 1 s" in cool
    (both,) = warned("s", "s")
    assert "the kernels on it take 6 s, and not 3 s" in both
