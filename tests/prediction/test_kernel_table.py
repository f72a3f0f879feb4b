"""Calls, inclusive and exclusive time, and what bounds a kernel, by hand."""

import pytest

from aspenpy import Prediction
from aspenpy.cost.cost import Bound
from tests.tiny import predict

KERNELS = """
kernel force(param n) { execute { flops [3*n] loads [n] } call halo execute { flops [n] loads [5*n] } }
kernel halo { execute { messages [2] } }
kernel idle { execute { flops [0] } }
"""
BODY = "execute { flops [1] } iterate i [4] { call force(i) } call halo iterate [2] { call idle }"


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    return predict(BODY, "", KERNELS)


def test_calls_and_times(prediction: Prediction) -> None:
    # force(i): 3i + 2 + 5i, for i = 0 .. 3: 48 + 8; main: 1 + 56 + 2
    used = {use.name: (use.calls, use.inclusive, use.exclusive) for use in prediction.kernels}
    assert used == {"main": (1, 59, 1), "force": (4, 56, 48), "halo": (5, 10, 10), "idle": (2, 0, 0)}
    assert [use.share for use in prediction.kernels] == [use.exclusive / 59 for use in prediction.kernels]


def test_the_entry_comes_first(prediction: Prediction) -> None:
    assert prediction.kernels[0].name == "main"
    assert prediction.kernel == "main"


def test_what_a_kernel_waits_for_longest(prediction: Prediction) -> None:
    # force waits 3 * 6 s for flops and 5 * 6 s for loads
    bound = {use.name: use.bound_by for use in prediction.kernels}
    assert bound == {"main": "flops", "force": "loads", "halo": "messages", "idle": None}
    assert prediction.totals[Bound("force", "flops")] == 18
    assert prediction.totals[Bound("force", "loads")] == 30


def test_the_bottleneck_is_what_all_kernels_together_wait_for_longest(prediction: Prediction) -> None:
    bottleneck = prediction.bottleneck
    assert bottleneck is not None
    assert (bottleneck.resource, bottleneck.component) == ("loads", "seconds/box/cpu")
    assert (bottleneck.time, bottleneck.share) == (30, 30 / 59)


def test_resources_are_busy_longer_than_they_are_waited_for(prediction: Prediction) -> None:
    busy = {use.name: (use.amount, use.time) for use in prediction.resources.values()}
    # flops: 1 + (3 + 1) * 6; loads: (1 + 5) * 6; messages: 5 * 2
    assert busy == {"flops": (25, 25), "loads": (36, 36), "messages": (10, 10)}


def test_a_run_of_no_time_has_no_bottleneck() -> None:
    prediction = predict("execute { flops [0] }")
    assert prediction.bottleneck is None
    assert prediction.kernels[0].share == 0


def test_the_longer_of_two_conflicting_resources_is_what_is_waited_for() -> None:
    text = """machine m { node box } node box {
        resource a(n) [n] resource b(n) [n] resource c(n) [n] conflict a, b }"""
    prediction = predict("execute { a [4] b [3] c [6] }", machine_text=text)
    assert prediction.runtime == 7
    assert prediction.kernels[0].bound_by == "a"


def test_overlapped_branches_share_the_time_of_the_whole() -> None:
    kernels = "kernel left { execute { flops [6] loads [1] } } kernel right { execute { loads [4] } }"
    prediction = predict('par "overlap" { call left call right }', "", kernels)
    # in turn 6 + 4 s, merged max(6, 1 + 4) = 6 s: each kernel takes six tenths of what it took alone
    used = {use.name: (use.inclusive, use.exclusive) for use in prediction.kernels}
    assert prediction.runtime == 6
    assert used["main"] == (6, 0)
    assert used["left"] == pytest.approx((3.6, 3.6), rel=1e-14)
    assert used["right"] == pytest.approx((2.4, 2.4), rel=1e-14)
    assert prediction.bottleneck is not None
    assert (prediction.bottleneck.resource, prediction.bottleneck.time) == ("flops", 6)
