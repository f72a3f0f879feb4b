"""What a block costs on an accelerator before it begins: `launch_latency`, arithmetic by hand."""

from __future__ import annotations

import pytest

from aspenpy import energy, predict, prepare, profile
from tests.tiny import application, machine

GPU = """
machine g { node n  interconnect [1] port }
node n { socket s }
socket s {
  core [4] c  memory m  link l
  property launch_latency [5e-6]
  static power [10]  dynamic power [20]
  resource barriers(x) [x*1e-6]
}
core c { resource flops(x) [x/1e9] }
memory m { resource loads(x) [x/1e9] }
link l { resource intracomm(x) [1e-6] }
interconnect port { resource messages(x) [1e-6] }
"""
CPU = GPU.replace("property launch_latency [5e-6]", "")


@pytest.mark.parametrize(
    ("body", "launches", "microseconds"),
    [
        ("execute [4] { flops [1e3] }", 1, 1),
        ("execute [8] { flops [1e3] }", 1, 2),  # one launch, however many instances
        ("execute { flops [1e3] loads [7e3] }", 1, 7),
        ("iterate [3] { execute { flops [1e3] } }", 3, 3),
        ("execute { intracomm [8] }", 0, 1),  # a transfer has a latency of its own
        ("execute { messages [8] }", 0, 1),
        ("execute { barriers [1] }", 0, 1),  # within a kernel that runs
        ("if (1 < 0) { execute { flops [1e3] } }", 0, 0),
    ],
)
def test_each_execution_of_a_block_is_launched(body: str, launches: int, microseconds: float) -> None:
    app = application(body)
    assert predict(app, machine(GPU)).runtime == pytest.approx((5 * launches + microseconds) * 1e-6, rel=1e-12)
    assert predict(app, machine(CPU)).runtime == pytest.approx(microseconds * 1e-6, rel=1e-12)


def test_overlapped_branches_hide_each_others_launches() -> None:
    """One after the other 2 x (5 + 7) us; overlapped, launches (10 us) and the memory (14 us) are busy at once."""
    body = "par { execute { loads [7e3] } execute { loads [7e3] } }"
    assert predict(application(body), machine(GPU)).runtime == pytest.approx(24e-6)
    assert predict(application(body), machine(GPU), overlap=True).runtime == pytest.approx(14e-6)


def test_it_shows_wherever_the_time_is_told() -> None:
    app, gpu = application("iterate [n] { execute { flops [1e3] } }", "param n = 3"), machine(GPU)
    found = predict(app, gpu)
    use = found.resources["launch"]
    assert (use.amount, use.component) == (3, "g/n/s")
    assert use.time == pytest.approx(15e-6)
    bound = found.bottleneck
    assert bound is not None
    assert bound.resource == "launch"
    assert bound.share == pytest.approx(15 / 18)
    assert profile(app, gpu).kernels[0].bound_by == "launch"
    step = found.explain().steps[0]
    assert step.launched_on == "s"
    assert "5 us, a launch on s" in str(found.explain())
    assert prepare(app, gpu, ["n"])(10) == pytest.approx(60e-6)
    assert float(found.expression("runtime", free=["n"]).subs("n", 10)) == pytest.approx(60e-6)


def test_the_socket_idles_meanwhile() -> None:
    """10 W for 6 us; 20 W more for the one of them in which one core of four computes."""
    found = energy(application("execute { flops [1e3] }"), machine(GPU))
    assert found.value == pytest.approx(10 * 6e-6 + 20 * 1e-6, rel=1e-9)
