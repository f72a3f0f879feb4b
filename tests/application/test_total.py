"""Totals are told apart by what they are, not by where their fields stand."""

import pickle
from collections.abc import Iterable

import pytest

from aspenpy import predict
from aspenpy.cost.cost import Bound, Served
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import total
from aspenpy.models.application.total import RUNTIME, Busy, ResourceTotal, Runtime, of_kind
from tests.tiny import application, machine


def test_totals_of_two_kinds_with_equal_fields_differ() -> None:
    assert ResourceTotal("flops") == ResourceTotal("flops")
    assert ResourceTotal("flops") != Busy("flops")
    assert {ResourceTotal("flops"): 1, Busy("flops"): 2, ResourceTotal("loads"): 3}[Busy("flops")] == 2
    assert len({Bound("main", "flops"), Served("main", "flops"), ("main", "flops")}) == 3
    assert Runtime() == RUNTIME


def test_fields_have_names() -> None:
    assert (Bound("main", "flops").kernel, Bound("main", "flops").resource) == ("main", "flops")
    assert repr(Bound("main", "flops")) == "Bound('main', 'flops')"


def test_one_kind_is_chosen() -> None:
    assert of_kind(ResourceTotal, {ResourceTotal("flops"): 1, Busy("flops"): 2, RUNTIME: 3}) == {
        ResourceTotal("flops"): 1
    }


def test_a_total_is_pickled() -> None:
    assert pickle.loads(pickle.dumps({Busy("flops"): 2})) == {Busy("flops"): 2}


def test_arguments_are_put_into_a_kernel_once_for_all_that_is_asked_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kinds of totals need the time of the same blocks: the second finds what the first has rebuilt."""
    rebuilt: list[Expr] = []
    rebuild = graph.rebuild

    def counted(node: Expr, args: tuple[Expr, ...]) -> Expr:
        rebuilt.append(node)
        return rebuild(node, args)

    app = application(
        "call work(3) call work(5)", kernels="kernel work(param n) { execute { flops [n + n*n + sqrt(n)] } }"
    )
    case = predict(app, machine())
    assert case.runtime == pytest.approx(3 + 9 + 3**0.5 + 5 + 25 + 5**0.5)
    monkeypatch.setattr(graph, "rebuild", counted)
    again = case.tree.run_totals(total.OfBlocks(lambda block, kernel: {RUNTIME: case.tree.blocks[block].time}))
    assert case.scope.values([again[RUNTIME]]) == [pytest.approx(case.runtime)]
    assert not rebuilt


def test_a_chain_of_kernels_adds_what_is_in_several_parts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel has the totals of all below it, and its own: of these the runtime and the amounts are sums, at most
    ten for each of 100 kernels, not one for each kernel below."""
    sums: list[int] = []
    whole = total.sum_terms

    def counted(terms: Iterable[Expr]) -> Expr:
        sums.append(1)
        return whole(terms)

    monkeypatch.setattr(total, "sum_terms", counted)
    kernels = " ".join(f"kernel k{n} {{ execute {{ flops [1] }} call k{n + 1} }}" for n in range(100))
    app = application("call k0", kernels=f"{kernels} kernel k100 {{ execute {{ flops [1] }} }}")
    assert predict(app, machine()).runtime == 101
    assert 100 <= len(sums) <= 10 * 100
