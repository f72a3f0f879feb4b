"""Random draws: repeatable, apart from each other, and distributed as they say."""

import math
import statistics

import pytest

import aspenpy
from aspenpy import AspenError, parse
from aspenpy.language.format import format_text
from aspenpy.language.source import Source
from aspenpy.models.application.model import Application
from tests.tiny import predict, runtime

DRAW = "sample u from uniform(0, 1) execute { flops [u] }"


def test_a_seed_repeats_its_draws_and_another_seed_has_others() -> None:
    assert runtime(DRAW, seed=1) == runtime(DRAW, seed=1)
    assert runtime(DRAW, seed=1) != runtime(DRAW, seed=2)
    assert runtime(DRAW) == runtime(DRAW)


def amounts(body: str, kernels: str = "", count: int = 2) -> list[float]:
    """What each of some blocks with resources `r0`, `r1`, ... of their own asks for."""
    resources = "".join(f"resource r{number}(n) [n]" for number in range(count))
    machine = f"machine m {{ node [1] box }} node box {{ socket [1] cpu }} socket cpu {{ {resources} }}"
    uses = predict(body, "", kernels, machine).resources
    return [uses[f"r{number}"].amount for number in range(count)]


@pytest.mark.parametrize(
    ("body", "kernels"),
    [
        # two sites
        ("sample a from uniform(0, 1) sample b from uniform(0, 1) execute { r0 [a] r1 [b] }", ""),
        # one site, two calls: each block keeps its own draw apart by what the call hands on
        ("call k(1, 0) call k(0, 1)", "kernel k(param x, param y) { sample u from uniform(0, 1) "
         "execute { r0 [x*u] r1 [y*u] } }"),
        # one site, two passes of a loop
        ("iterate i [2] { sample u from uniform(0, 1) execute { r0 [u*(1 - i)] r1 [u*i] } }", ""),
        # the same call in two passes
        ("iterate i [2] { call k(i) }", "kernel k(param i) { sample u from uniform(0, 1) "
         "execute { r0 [u*(1 - i)] r1 [u*i] } }"),
        # inside a nested loop, the pass of the outer one counts as well
        ("iterate i [2] { iterate j [1] { sample u from uniform(0, 1) execute { r0 [u*(1 - i)] r1 [u*i] } } }", ""),
    ],
)  # fmt: skip
def test_draws_of_other_sites_passes_and_calls_differ(body: str, kernels: str) -> None:
    first, second = amounts(body, kernels)
    assert 0 < first < 1
    assert 0 < second < 1
    assert first != second


PLAIN = """\
model m {{ param p = uniform(0, 1) param q = uniform(0, 1)
kernel k(param x) {{ sample u from uniform(0, x) execute {{ flops [u] }} }}
{more}
kernel main {{ call k(1) iterate i [3] {{ call k(i + uniform(0, 1)) }} {before} sample v from normal(5, 1)
execute {{ flops [p + 2*q + v] loads [1] }} }} }}"""


def of_a_text(text: str) -> float:
    application = parse(text)
    assert isinstance(application, Application)
    return aspenpy.predict(application, aspenpy.load_machine("simple")).runtime


def test_layout_comments_and_other_kernels_leave_all_draws_as_they_are() -> None:
    text = PLAIN.format(more="", before="")
    runtime = of_a_text(text)
    assert of_a_text(format_text(Source(text))) == runtime
    assert of_a_text("// A comment.\n" + text.replace(" kernel", "\n\n  // Another one.\n  kernel")) == runtime
    assert (
        of_a_text(PLAIN.format(more="kernel idle { sample w from normal(0, 1) }", before="execute { stores [0] }"))
        == runtime
    )
    assert of_a_text(PLAIN.format(more="", before="sample w from uniform(0, 1)")) != runtime


def test_one_draw_used_twice_is_one_number() -> None:
    first, second = amounts("sample u from uniform(0, 1) execute { r0 [u] } execute { r1 [u] }")
    assert first == second


PASSES = 4000


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        ("uniform(2, 6)", 4, 4 / math.sqrt(12)),
        ("normal(10, 3)", 10, 3),
        ("cdf(chances)", 0.5 * 0 + 0.3 * 1 + 0.2 * 2, math.sqrt(0.3 * 1 + 0.2 * 4 - 0.7**2)),
    ],
)
@pytest.mark.parametrize("counter", ["i", ""])
def test_the_sum_over_many_passes_is_near_its_mean(draw: str, mean: float, deviation: float, counter: str) -> None:
    body = f"iterate {counter} [{PASSES}] {{ sample u from {draw} execute {{ flops [u] }} }}"
    total = runtime(body, "param chances[] = {0.5, 0.8, 1}")
    # five standard errors: wrong once in two million seeds, and the seed is fixed
    assert abs(total / PASSES - mean) < 5 * deviation / math.sqrt(PASSES)


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"), [("uniform(2, 6)", 4, 4 / math.sqrt(12)), ("normal(10, 3)", 10, 3)]
)
def test_samples_over_seeds_have_the_mean_and_deviation_of_the_distribution(
    draw: str, mean: float, deviation: float
) -> None:
    count = 400
    samples = predict(f"sample u from {draw} execute {{ flops [u] }}").samples(count)
    assert abs(samples.mean - mean) < 5 * deviation / math.sqrt(count)
    assert samples.deviation == pytest.approx(deviation, rel=5 / math.sqrt(2 * count))


def test_samples_are_the_predictions_of_consecutive_seeds() -> None:
    samples = predict(DRAW, seed=7).samples(5)
    ones = sorted(runtime(DRAW, seed=seed) for seed in range(7, 12))
    assert samples.count == 5
    assert samples.first_seed == 7
    assert (samples.minimum, samples.maximum) == (ones[0], ones[-1])
    assert samples.mean == pytest.approx(statistics.fmean(ones), rel=1e-14)
    assert samples.deviation == pytest.approx(statistics.stdev(ones), rel=1e-12)
    assert samples.quantiles[0.5] == ones[2]
    assert samples.quantiles[0.25] == ones[1]  # (5 - 1) / 4 steps from the lowest
    assert samples.quantiles[0.05] == pytest.approx(ones[0] + 0.2 * (ones[1] - ones[0]), rel=1e-12)


def test_one_sample_has_no_deviation_and_none_is_refused() -> None:
    assert predict(DRAW).samples(1).deviation == 0
    with pytest.raises(AspenError, match="at least one sample"):
        predict(DRAW).samples(0)
    with pytest.raises(AspenError, match="100,001 samples are more than the 100,000"):
        predict(DRAW).samples(100_001)


def test_a_prediction_knows_whether_it_is_random() -> None:
    assert predict(DRAW).random
    assert not predict("sample u from uniform(0, 1) execute { flops [1] }").random


def test_an_unnamed_loop_with_a_fraction_of_a_pass_averages_its_draws() -> None:
    # 2.5 / 3 of the three passes that begin
    three = runtime(f"iterate [3.0] {{ {DRAW} }}")
    assert runtime(f"iterate [2.5] {{ {DRAW} }}") == pytest.approx(three * 2.5 / 3, rel=1e-12)
