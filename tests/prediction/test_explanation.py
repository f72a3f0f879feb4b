"""The chain behind a number, step by step."""

import pytest

import aspenpy
from aspenpy import AspenError
from tests.tiny import codes, predict

MACHINE = """
machine m { node [2] box }
node box { socket [1] cpu memory ram }
socket cpu { core [4] arm }
core arm { resource flops(n) [n / 10] with simd [base / 2], dp [base * 4] }
memory ram { resource loads(n) [n / 100] }
"""
KERNELS = 'kernel work(param k) { execute [16] "sweep" { flops [5*k] as simd, odd, dp loads [80] } }'


def test_each_requirement_of_each_kernel_is_a_step() -> None:
    prediction = predict("execute { loads [100] } iterate i [3] { call work(i) }", "", KERNELS, MACHINE)
    explanation = prediction.explain()
    assert explanation.runtime == prediction.runtime
    assert [(step.kernel, step.block, step.resource) for step in explanation.steps] == [
        ("main", None, "loads"),
        ("work", "sweep", "flops"),
        ("work", "sweep", "loads"),
    ]
    flops = explanation.steps[1]
    assert flops.amount == 16 * 5 * (0 + 1 + 2)
    assert (flops.component, flops.count) == ("m/box/cpu/arm", 8)
    assert [trait.name for trait in flops.traits] == ["simd", "dp"]
    assert flops.ignored_traits == ("odd",)
    # two rounds of 5 k / 10 / 2 * 4 seconds, k = 0, 1, 2
    assert flops.time == 2 * (0 + 1 + 2)
    # loads: two nodes, so eight rounds of 0.8 s on each of three calls
    assert explanation.steps[2].time == pytest.approx(3 * 8 * 0.8, rel=1e-14)
    # runtime: 1 + max(0, 6.4) + max(2, 6.4) + max(4, 6.4)
    assert explanation.runtime == pytest.approx(1 + 3 * 6.4, rel=1e-14)
    assert flops.share == pytest.approx(6 / 20.2, rel=1e-14)
    assert [step.bounds for step in explanation.steps] == [True, False, True]
    assert flops.span is not None
    assert flops.span.text() == "flops [5*k] as simd, odd, dp"
    assert flops.machine_span is not None
    assert flops.machine_span.text().startswith("resource flops(n) [n / 10]")


def test_one_kernel_may_be_asked_for() -> None:
    prediction = predict("execute { loads [100] } call work(1)", "", KERNELS, MACHINE)
    assert {step.kernel for step in prediction.explain("work").steps} == {"work"}
    with pytest.raises(AspenError) as refusal:
        prediction.explain("wrok")
    assert codes(refusal.value) == ["unknown-kernel"]


DIFFERING = """model vary {
  param n = 8 in 1 .. 100
  kernel main { iterate i [n] { call step(i) } }
  kernel step(param k) {
    execute [16] of [16] "sum" { messages [SIZE] as allreduce }
  }
}"""


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("8*k + ceil(sqrt(k))*64 + floor(k/3)*128", "fastest algorithm of each call, among 16 ranks; depends on k"),
        ("1024", "recursive_doubling among 16 ranks"),
    ],
    ids=["differs", "same"],
)
def test_an_exchange_whose_size_differs_says_what_it_depends_on(size: str, said: str) -> None:
    """No formula that is cut short: it would end in an ellipsis."""
    found = aspenpy.predict(aspenpy.parse(DIFFERING.replace("SIZE", size)), aspenpy.load_machine("haswell"))
    (line,) = [line for line in str(found.explain()).splitlines() if "as allreduce" in line[:30]]
    assert said.replace("_", " ") in line.replace("_", " ")
    assert "..." not in line
