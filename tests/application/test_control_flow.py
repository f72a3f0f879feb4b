"""What statements are worth, by hand: on the machine of `tests.tiny` a flop takes a second."""

import pytest

from aspenpy import AspenError
from tests.tiny import application, codes, predict, runtime

WORK = "execute { flops [10] }"
MORE = "execute { flops [4] }"


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (f"{WORK} {MORE}", 14),
        (f"seq {{ {WORK} {MORE} }}", 14),
        (f"par {{ {WORK} {MORE} }}", 14),  # adds, as in the reference
        ("execute { flops [10] loads [25] }", 25),  # different resources overlap
        ("execute { flops [10] loads [25] flops [20] }", 30),  # equal ones add
        ("execute { flops [3] of size [8] }", 24),
        (f"iterate [5] {{ {WORK} }}", 50),
        (f"map [5] {{ {WORK} }}", 50),
        (f"iterate [2.5] {{ {WORK} }}", 25),  # half a pass costs half
        (f"iterate [0] {{ {WORK} }}", 0),
        ("iterate i [4] { execute { flops [i] } }", 0 + 1 + 2 + 3),
        ("map i [4] { execute { flops [i^2] } }", 0 + 1 + 4 + 9),
        ("iterate i [2.5] { execute { flops [10 + i] } }", 10 + 11 + 12),  # the values 0, 1, 2 are below 2.5
        ("iterate i [0] { execute { flops [10 + i] } }", 0),
        (f"iterate i [4] {{ {WORK} }}", 40),
        ("iterate i [4] { iterate j [i] { execute { flops [j + 1] } } }", 0 + 1 + (1 + 2) + (1 + 2 + 3)),
        ("iterate i [3] { iterate i [2] { execute { flops [i] } } execute { flops [i] } }", 3 * (0 + 1) + 0 + 1 + 2),
        ("iterate i [3] { iterate [i / 2] { execute { flops [4] } } }", 0 + 2 + 4),
        ("probability { [0.25] { execute { flops [100] } } }", 25),
        ("probability { [0.25] { execute { flops [100] } } else { execute { flops [8] } } }", 25 + 6),
        ("probability { [1/3] { execute { flops [6] } } [1/3] { execute { flops [9] } } }", 2 + 3),
        ("probability { [1] { execute { flops [6] } } else { execute { flops [1/0] } } }", None),
        (f"if (1 < 2) {{ {WORK} }} else {{ {MORE} }}", 10),
        (f"if (1 > 2) {{ {WORK} }} else {{ {MORE} }}", 4),
        (f"if (1 > 2) {{ {WORK} }}", 0),
        (f"if (1 > 2) {{ {WORK} }} else if (2 >= 2) {{ {MORE} }} else {{ execute {{ flops [1] }} }}", 4),
        (f"if (1 < 2) {{ {WORK} }} else if (1 < 3) {{ {MORE} }}", 10),  # the first that holds
        (f"if (1 < 2 and 2 < 1 or 3 == 3) {{ {WORK} }}", 10),  # from left to right
        (f"if (3 == 3 or 1 < 2 and 2 < 1) {{ {WORK} }}", 0),  # (true or true) and false
        (f"if (1 < 2) {{ {WORK} }} else {{ execute {{ flops [1/0] }} }}", 10),  # what is not taken may fail
        ("iterate i [4] { if (i >= 2) { execute { flops [i] } } else { execute { flops [10] } } }", 10 + 10 + 2 + 3),
        ("execute [3] { flops [10] }", 30),  # one core, three instances, one after the other
        ("execute [0] { flops [10] }", 0),
        ("execute [2.5] { flops [10] }", 30),  # the third round is begun
    ],
)
def test_a_statement_is_worth(body: str, seconds: float | None) -> None:
    if seconds is None:
        with pytest.raises(AspenError) as refusal:
            runtime(body)
        assert codes(refusal.value) == ["no-value"]
    else:
        assert runtime(body) == pytest.approx(seconds, rel=1e-14)


@pytest.mark.parametrize(("mode", "seconds"), [("slow", 1), ("fast", 20), ("7", 300)])
def test_a_switch_takes_the_case_that_is_equal(mode: str, seconds: float) -> None:
    body = """switch (mode) {
        [slow] { execute { flops [1] } } [fast] { execute { flops [20] } } else { execute { flops [300] } }
    }"""
    assert runtime(body, "enum speeds { slow, fast } param mode = slow", set={"mode": mode}) == seconds


def test_a_switch_without_a_case_or_else_does_nothing() -> None:
    assert runtime("switch (mode) { [1] { execute { flops [1] } } }", "param mode = 2") == 0


def test_arguments_are_worth_what_the_caller_says() -> None:
    kernels = "kernel work(param n, param m) { execute [m] { flops [n] } }"
    # 3 * 2, and for i = 0, 1, 2: (i + 1) * i
    assert runtime("call work(3, 2) iterate i [3] { call work(i + 1, i) }", "", kernels) == 6 + 0 + 2 + 6


def test_a_kernel_called_in_a_loop_counts_its_calls() -> None:
    kernels = "kernel inner { execute { flops [2] } } kernel outer { iterate [3] { call inner } }"
    prediction = predict("iterate [2.5] { call outer } probability { [0.5] { call inner } }", "", kernels)
    used = {use.name: use for use in prediction.kernels}
    assert [used[name].calls for name in ("main", "outer", "inner")] == [1, 2.5, 8]
    assert prediction.runtime == 16


def test_a_loop_over_a_closed_form_takes_no_longer_for_more_passes() -> None:
    passes = 10**12
    body = "iterate i [passes] { execute { flops [3*i^2 + 1] loads [2] } }"
    prediction = predict("iterate i [passes] { execute { flops [3*i^2 + i] } }", f"param passes = {passes}")
    squares, numbers = (passes - 1) * passes * (2 * passes - 1) // 6, (passes - 1) * passes // 2
    assert prediction.runtime == pytest.approx(3 * squares + numbers, rel=1e-15)
    assert prediction.kernels[0].bound_by == "flops"
    with pytest.raises(AspenError, match="too many to add one by one"):
        runtime(body, f"param passes = {passes}")


def test_a_loop_without_a_closed_form_is_added_up() -> None:
    # for i = 0 .. 99: max(i, 50), which is 51 * 50 + (51 + ... + 99)
    body = "iterate i [100] { execute { flops [i] loads [50] } }"
    assert runtime(body) == 51 * 50 + sum(range(51, 100))


def test_a_condition_on_a_free_symbol_stays_a_condition() -> None:
    body = "if (n > 2) { execute { flops [n] } } else { execute { flops [100] } }"
    prepared = predict(body, "param n = 1").prepare(["n"])
    assert [prepared(n) for n in (1, 2, 3, 4)] == [100, 100, 3, 4]


def test_the_flow_of_a_kernel_is_built_once() -> None:
    app = application("call work call work", "", "kernel work { execute { flops [1] } }")
    assert app.flow("work") is app.flow("work")
