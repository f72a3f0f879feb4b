"""From requirement to time: who serves it, traits, rounds, and which resources overlap."""

import pytest

from aspenpy import AspenError
from tests.tiny import codes, predict, runtime

# -- who serves a resource -------------------------------------------------------------------------

LEVELS = """
machine m { node [2] box interconnect fabric resource messages(n) [100*n] }
node box { socket [3] cpu socket [1] gpu memory ram resource stores(n) [7*n] }
socket cpu { core [4] arm resource loads(n) [2*n] }
socket gpu { core [8] lane }
core arm { resource flops(n) [n] resource loads(n) [3*n] }
core lane { resource flops(n) [n / 2] }
memory ram { resource loads(n) [5*n] resource stores(n) [11*n] }
interconnect fabric { resource messages(n) [n] }
"""


@pytest.mark.parametrize(
    ("socket", "requirement", "seconds", "where"),
    [
        ("cpu", "flops [10]", 10, "m/box/cpu/arm"),
        ("gpu", "flops [10]", 5, "m/box/gpu/lane"),
        ("cpu", "loads [10]", 20, "m/box/cpu"),  # a component comes before its parts
        ("gpu", "loads [10]", 50, "m/box/ram"),  # the other socket is pruned with all below it
        ("cpu", "stores [10]", 70, "m/box"),
        ("cpu", "messages [10]", 1000, "m"),
    ],
)
def test_the_first_component_depth_first_takes_it(socket: str, requirement: str, seconds: float, where: str) -> None:
    prediction = predict(f"execute {{ {requirement} }}", machine_text=LEVELS, socket=socket)
    assert prediction.runtime == seconds
    assert [use.component for use in prediction.resources.values()] == [where]


def test_of_two_parts_the_one_written_first_takes_it() -> None:
    text = "machine m { node a node b } node b { resource flops(n) [n] } node a { resource flops(n) [2*n] }"
    assert runtime("execute { flops [10] }", machine_text=text) == 20


@pytest.mark.parametrize(
    ("parallelism", "socket", "resource", "rounds"),
    [
        ("1", "cpu", "flops", 1),
        ("24", "cpu", "flops", 1),  # 2 nodes x 3 sockets x 4 cores
        ("25", "cpu", "flops", 2),
        ("48", "cpu", "flops", 2),
        ("48.5", "cpu", "flops", 3),
        ("0", "cpu", "flops", 0),
        ("16", "gpu", "flops", 1),  # 2 nodes x 1 socket x 8 lanes
        ("17", "gpu", "flops", 2),
        ("24", "cpu", "loads", 4),  # 6 sockets
        ("24", "cpu", "stores", 12),  # 2 nodes
        ("24", "cpu", "messages", 24),  # one machine
    ],
)
def test_parallel_instances_run_in_rounds_over_the_components(
    parallelism: str, socket: str, resource: str, rounds: int
) -> None:
    one = runtime(f"execute {{ {resource} [10] }}", machine_text=LEVELS, socket=socket)
    assert runtime(f"execute [{parallelism}] {{ {resource} [10] }}", machine_text=LEVELS, socket=socket) == rounds * one


@pytest.mark.parametrize(
    ("socket", "code"), [(None, "which-socket"), ("cup", "unknown-socket"), ("arm", "unknown-socket")]
)
def test_the_socket_must_be_chosen_among_those_there_are(socket: str | None, code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        runtime("execute { flops [10] }", machine_text=LEVELS, socket=socket)
    assert codes(refusal.value) == [code]


def test_a_machine_without_sockets_needs_none() -> None:
    assert runtime("execute { flops [10] }", machine_text="machine m { resource flops(n) [2*n] }") == 20


def test_a_resource_that_nobody_offers_matters_only_where_it_runs() -> None:
    text = "if (n > 1) { execute { texels [1] } } else { execute { flops [4] } }"
    assert runtime(text, "param n = 1", machine_text=LEVELS, socket="cpu") == 4
    with pytest.raises(AspenError) as refusal:
        runtime(text, "param n = 2", machine_text=LEVELS, socket="cpu")
    assert codes(refusal.value) == ["no-such-resource"]


# -- traits ----------------------------------------------------------------------------------------

TRAITS = """
param half = 1/2
machine m { node [1] box } node box { socket [1] cpu }
socket cpu {
  resource flops(n) [n / 4]
    with simd [base / 2], setup [base + 10], stride(k) [base * k], tail(k) [base + n - n + k], half_of_it [base * half]
}
"""


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("", 10),
        ("as simd", 5),
        ("as simd, setup", 15),  # in the order written
        ("as setup, simd", 10),
        ("as simd, simd", 2.5),
        ("as unheard_of, simd", 5),  # an unknown one changes nothing
        ("as stride(3)", 30),
        ("as stride(n)", 20),  # the application's n, not the resource's argument
        ("as stride(i), half_of_it", 5),
    ],
)
def test_traits_change_the_time_in_turn(asked: str, seconds: float) -> None:
    text = TRAITS.replace("tail(k) [base + n - n + k], ", "")
    body = f"iterate i [2] {{ if (i == 1) {{ execute {{ flops [40] {asked} }} }} }}"
    assert runtime(body, "param n = 2", machine_text=text) == seconds


def test_a_trait_sees_its_own_argument_and_not_the_resources() -> None:
    with pytest.raises(AspenError) as refusal:
        runtime("execute { flops [40] as tail(3) }", machine_text=TRAITS)
    assert codes(refusal.value) == ["unknown-name"]


def test_a_surplus_trait_argument_is_ignored_and_a_missing_one_an_error() -> None:
    assert runtime("execute { flops [40] as stride(3, 4) }", machine_text=TRAITS) == 30
    assert runtime("execute { flops [40] as simd(4) }", machine_text=TRAITS) == 5
    with pytest.raises(AspenError) as refusal:
        runtime("execute { flops [40] as stride }", machine_text=TRAITS)
    assert codes(refusal.value) == ["missing-argument"]


def test_traits_apply_before_rounds() -> None:
    assert runtime("execute [3] { flops [40] as setup }", machine_text=TRAITS) == 3 * 20


# -- blocks ----------------------------------------------------------------------------------------


def with_conflicts(*pairs: str) -> str:
    resources = " ".join(f"resource {name}(n) [n]" for name in "abcd")
    conflicts = " ".join(f"conflict {pair}" for pair in pairs)
    ram = f"memory ram {{ {conflicts} static power [1] }}"
    return f"machine m {{ node [1] box }} node box {{ {resources} memory ram }} {ram}"


@pytest.mark.parametrize(
    ("pairs", "block", "seconds"),
    [
        ((), "a [5] b [7] c [2]", 7),
        (("a, b",), "a [5] b [7] c [2]", 12),
        (("a, b",), "a [5] b [7] c [13]", 13),
        (("a, b", "b, c"), "a [5] b [7] c [2]", 14),  # transitively
        (("a, b", "b, c"), "a [5] c [2]", 5),  # but only through resources of the block
        (("a, b", "c, d"), "a [5] b [7] c [2] d [11]", 13),
        (("a, b", "c, d", "d, a"), "a [5] b [7] c [2] d [11]", 25),
        (("a, b",), "a [5] a [1] b [7] b [1]", 14),
        (("b, a", "a, b"), "a [5] b [7]", 12),
        (("a, a",), "a [5] b [7]", 7),
        (("a, e",), "a [5] b [7]", 7),
    ],
)
def test_conflicting_resources_add_and_others_overlap(pairs: tuple[str, ...], block: str, seconds: float) -> None:
    assert runtime(f"execute {{ {block} }}", machine_text=with_conflicts(*pairs)) == seconds


def test_a_conflict_of_another_socket_does_not_count() -> None:
    text = """machine m { node box } node box { socket s socket t resource a(n) [n] resource b(n) [n] }
        socket s { static power [1] } socket t { conflict a, b static power [1] }"""
    assert runtime("execute { a [5] b [7] }", machine_text=text, socket="s") == 7
    assert runtime("execute { a [5] b [7] }", machine_text=text, socket="t") == 12


# -- overlapped branches ---------------------------------------------------------------------------

BRANCHES = "execute { a [5] b [2] } execute { b [4] c [3] } execute [2] { c [1] }"


@pytest.mark.parametrize(
    ("pairs", "apart", "merged"),
    [
        # apart: 5 + 4 + 2; merged into one block: a 5, b 2 + 4, c 3 + 2
        ((), 11, 6),
        (("a, b",), 5 + 2 + 4 + 2, 5 + 6),
        (("b, c",), 5 + 4 + 3 + 2, 6 + 5),
        (("a, c",), 5 + 4 + 2, 5 + 5),
    ],
)
def test_branches_of_par_add_or_overlap_as_one_block(pairs: tuple[str, ...], apart: float, merged: float) -> None:
    text = with_conflicts(*pairs)
    assert runtime(f"par {{ {BRANCHES} }}", machine_text=text) == apart
    assert runtime(f'par "overlap" {{ {BRANCHES} }}', machine_text=text) == merged
    assert runtime(f"par {{ {BRANCHES} }}", machine_text=text, overlap=True) == merged
    assert runtime(f'seq {{ {BRANCHES} }} seq "overlap" {{ {BRANCHES} }}', machine_text=text, overlap=True) == 2 * apart


def test_loops_and_calls_overlap_with_all_they_ask_for() -> None:
    body = 'par "overlap" { iterate i [4] { execute { a [i] } } call work } execute { a [1] }'
    kernels = "kernel work { execute { b [3] } execute { a [2] c [9] } }"
    # a: 0 + 1 + 2 + 3 + 2, b: 3, c: 9
    assert runtime(body, "", kernels, with_conflicts()) == 9 + 1
    assert runtime(body, "", kernels, with_conflicts("a, b")) == 11 + 1
    # in order, the call alone takes 3, then 9
    in_order = body.replace("overlap", "concurrent")
    assert runtime(in_order, "", kernels, with_conflicts()) == 12 + 1
    assert runtime(in_order, "", kernels, with_conflicts("a, b")) == 12 + 1
    more = in_order.replace("a [i]", "a [9*i]")  # a: 0 + 9 + 18 + 27 + 2
    assert runtime(more, "", kernels, with_conflicts()) == 56 + 1
    assert runtime(more, "", kernels, with_conflicts("a, b")) == 59 + 1
