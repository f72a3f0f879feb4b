"""Totals are told apart by what they are, not by where their fields stand."""

import pickle

from aspenpy.cost.cost import Bound, Served
from aspenpy.models.application.total import RUNTIME, Amount, Busy, Runtime, of_kind


def test_totals_of_two_kinds_with_equal_fields_differ() -> None:
    assert Amount("flops") == Amount("flops")
    assert Amount("flops") != Busy("flops")
    assert {Amount("flops"): 1, Busy("flops"): 2, Amount("loads"): 3}[Busy("flops")] == 2
    assert len({Bound("main", "flops"), Served("main", "flops"), ("main", "flops")}) == 3
    assert Runtime() == RUNTIME


def test_fields_have_names() -> None:
    assert (Bound("main", "flops").kernel, Bound("main", "flops").resource) == ("main", "flops")
    assert repr(Bound("main", "flops")) == "Bound('main', 'flops')"


def test_one_kind_is_chosen() -> None:
    assert of_kind(Amount, {Amount("flops"): 1, Busy("flops"): 2, RUNTIME: 3}) == {Amount("flops"): 1}


def test_a_total_is_pickled() -> None:
    assert pickle.loads(pickle.dumps({Busy("flops"): 2})) == {Busy("flops"): 2}
