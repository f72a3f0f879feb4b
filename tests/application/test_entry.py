"""Where a run begins: `main`, the kernel asked for, and what its arguments are."""

from typing import Any

import pytest

import aspenpy
from aspenpy import AspenError
from tests.tiny import application, codes, machine

KERNELS = """
  kernel update(param n, param steps) { iterate [steps] { execute { flops [n] } } }
  kernel check { execute { flops [1] } }
"""


def runtime(declarations: str, kernel: str, **settings: Any) -> float:
    app = application("call update(3, 5) call check", declarations, KERNELS)
    return aspenpy.predict(app, machine(), kernel=kernel, set=settings).runtime


def test_main_is_the_entry_unless_another_kernel_is_asked_for() -> None:
    assert runtime("", "main") == 3 * 5 + 1
    assert runtime("", "check") == 1


def test_arguments_of_the_entry_are_the_globals_of_their_names() -> None:
    assert runtime("param n = 7 param steps = 2*n", "update") == 7 * 14


def test_arguments_of_the_entry_may_be_set() -> None:
    assert runtime("", "update", n=7, steps="n") == 49
    assert runtime("param n = 7 param steps = 2", "update", n=1) == 2


def test_an_argument_without_a_value_is_an_error() -> None:
    with pytest.raises(AspenError) as refusal:
        runtime("param n = 7", "update")
    assert codes(refusal.value) == ["missing-argument"]
    assert "`steps`" in str(refusal.value)


def test_without_main_every_kernel_without_arguments_is_an_entry() -> None:
    model = aspenpy.parse(f"model parts {{ {KERNELS} kernel other {{ call update(1, 1) }} }}")
    assert isinstance(model, aspenpy.Application)
    assert model.entry_kernels() == ["check", "other"]
    assert application("call check", "", KERNELS).entry_kernels() == ["main"]
