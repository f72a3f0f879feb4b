"""Which name means what: lexical scope, innermost first, and nothing captured."""

import pytest

from aspenpy import AspenError
from tests.tiny import codes, predict, runtime


@pytest.mark.parametrize(
    ("body", "declarations", "kernels", "seconds"),
    [
        ("call k(3)", "param n = 100", "kernel k(param n) { execute { flops [n] } }", 3),  # argument before global
        ("param n = 7 execute { flops [n] }", "param n = 100", "", 7),  # local parameter before global
        ("param n = 7 iterate n [3] { execute { flops [n] } }", "", "", 0 + 1 + 2),  # counter before local
        ("sample n from uniform(5, 5) execute { flops [n] }", "param n = 100", "", 5),  # sample before global
        ("execute { flops [n] } sample n from uniform(5, 5)", "param n = 100", "", 100),  # from there on only
        ("param b = 2*a param a = 3 execute { flops [b] }", "", "", 6),  # in whatever order
        ("execute { flops [b] }", "param b = 2*a param a = 3", "", 6),
        ("execute { flops [kilo] }", "", "", 1000),
        ("execute { flops [pico] }", "param pico = 4", "", 4),  # an ordinary name, which a model may define
        ("execute { flops [kibi] }", "", "", 1024),
        ("enum own { a, b } execute { flops [b] }", "enum e { x, y, b }", "", 1),  # a kernel's enum before a global one
        # the callee sees the global n, not the caller's counter, argument or parameter of that name
        ("iterate n [3] { call k }", "param n = 10", "kernel k { execute { flops [n] } }", 30),
        ("call outer(5)", "param n = 10", "kernel outer(param n) { call k } kernel k { execute { flops [n] } }", 10),
        ("param n = 5 call k", "param n = 10", "kernel k { execute { flops [n] } }", 10),
        # a local parameter sees the argument, not the counter around its use
        ("call k(4)", "", "kernel k(param i) { param w = 2*i iterate i [3] { execute { flops [w + i] } } }", 24 + 3),
        # arguments are evaluated where the call stands: the two n are not mixed up, nor is the swap
        ("call outer(5)", "", "kernel outer(param n) { call k(n + 1) } kernel k(param n) { execute { flops [n] } }", 6),
        ("call k(2, 9)", "", "kernel k(param a, param b) { call f(b, a) } kernel f(param a, param b) "
         "{ execute { flops [10*a + b] } }", 92),
        ("iterate i [3] { call k(i) }", "", "kernel k(param n) { iterate i [n] { execute { flops [n + i] } } }",
         0 + (1 + 0) + (2 + 0 + 2 + 1)),
    ],
)  # fmt: skip
def test_a_name_means_the_innermost(body: str, declarations: str, kernels: str, seconds: float) -> None:
    assert runtime(body, declarations, kernels) == seconds


HYGIENIC = """
param latency = 1/2
machine m { node [1] box }
node box { socket [1] cpu }
socket cpu {
  property rate [4]
  resource flops(n) [n / rate] with slow(n) [base * n + latency]
}
"""


def test_a_machine_expression_captures_no_name_of_the_application() -> None:
    # the application's n, rate and latency are not the machine's: (12 / 4) * 5 + 1/2
    declarations = "param n = 1000 param rate = 1000 param latency = 1000"
    assert runtime("execute { flops [12] as slow(5) }", declarations, machine_text=HYGIENIC) == 15.5


def test_an_argument_that_is_named_like_the_machines_stays_what_it_is() -> None:
    assert runtime("execute { flops [n] as slow(rate) }", "param n = 12 param rate = 5", machine_text=HYGIENIC) == 15.5


def test_an_application_may_use_the_machines_parameters() -> None:
    # 8 * latency / rate
    assert runtime("execute { flops [8*latency] }", machine_text=HYGIENIC) == 1


def test_data_arguments_rename_arrays() -> None:
    declarations = "data a [80] data b [160]"
    kernels = """
      kernel outer(data x, param n, data y) { call copy(y, n, x) }
      kernel copy(data from_here, param n, data to_there) {
        execute { loads [8*n] from from_here stores [8*n] to to_there }
      }"""
    # whichever array it is, the time is that of 8 * 10 bytes; loads and stores overlap
    assert runtime("call outer(a, 10, b)", declarations, kernels) == 80


def test_a_data_argument_must_be_a_name() -> None:
    with pytest.raises(AspenError) as refusal:
        runtime("call k(8)", "", "kernel k(data x) { execute { loads [8] from x } }")
    assert codes(refusal.value) == ["not-an-array"]


def test_the_size_of_data_is_given_or_the_product_of_its_factors() -> None:
    declarations = "param n = 6 data a [8*n] data b as Volume(n, n + 1, 8)"
    prediction = predict("execute { flops [1] }", declarations)
    sizes = [prediction.application.data[name].size for name in ("a", "b")]
    assert prediction.scope.values(sizes) == [48, 6 * 7 * 8]
