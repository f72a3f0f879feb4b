"""Ranks and the parts of their work on cores of two kinds, of unequal sizes and on hardware threads, against schedules
played through thread by thread and numbers by hand."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.run_placement import run_placement
from aspenpy.editor.names import COUNTER, names_of
from tests.tiny import application, codes, machine

HYBRID = """
machine m { node [2] n }
node n { socket [2] s }
socket s { SOCKET core [P] p  core [E] e  memory ram }
core p { P_RANK resource flops(n) [n/4e9] }
core e { E_RANK resource flops(n) [n/1e9] }
memory ram { resource loads(n) [n/1e15] }
"""

KINDS = (1.0, 4.0)
"""Seconds of 4e9 flops on a core of each kind."""


def hybrid(fast: int = 8, slow: int = 16, socket: str = "", ranks: str = "property rank") -> aspenpy.Machine:
    text = HYBRID.replace("[P]", f"[{fast}]").replace("[E]", f"[{slow}]").replace("SOCKET", socket)
    return machine(text.replace("P_RANK", ranks).replace("E_RANK", ranks))


def seconds(body: str, on: aspenpy.Machine, **options: Any) -> float:
    return float(aspenpy.predict(application(body), on, **options).runtime)


# -- threads one by one ----------------------------------------------------------------------------


def static_blocks(parts: Sequence[float], threads: int) -> list[list[float]]:
    """What each thread has: as many parts, the first ones one more where it does not come out even."""
    blocks, begin = [], 0
    for thread in range(threads):
        end = begin + len(parts) // threads + (thread < len(parts) % threads)
        blocks.append([*parts[begin:end]])
        begin = end
    return blocks


def static_time(parts: Sequence[float], slowness: Sequence[float]) -> float:
    blocks = static_blocks(parts, len(slowness))
    return max(sum(block) * slow for block, slow in zip(blocks, slowness, strict=True))


def dynamic_time(parts: Sequence[float], slowness: Sequence[float]) -> float:
    """Each part goes to the core that would finish it first."""
    free = [0.0] * len(slowness)
    for part in parts:
        core = min(range(len(free)), key=lambda core: free[core] + part * slowness[core])
        free[core] += part * slowness[core]
    return max(free)


def ranks_on_cores(ranks: int, fast: int, slow: int, cores: int) -> list[list[float]]:
    """The cores of each rank by their slowness: ranks fill socket by socket, in each the first kind, then the next."""
    socket = [KINDS[0]] * fast + [KINDS[1]] * slow
    each = len(socket) // cores
    return [socket[cores * (rank % each) :][:cores] for rank in range(ranks)]


# -- kinds of cores --------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "expected"), [(1, 1), (8, 1), (9, 4), (24, 4), (32, 4), (96, 4)])
def test_the_slowest_rank_decides(ranks: int, expected: float) -> None:
    """Eight ranks fill the first kind of a socket, the ninth is on the other."""
    assert seconds(f"execute [{ranks}] of [1] {{ flops [4e9] }}", hybrid()) == pytest.approx(expected)


def test_ranks_dealt_out_to_sockets_stay_on_the_faster_kind() -> None:
    body = "execute [16] of [1] { flops [4e9] }"
    assert seconds(body, hybrid()) == pytest.approx(4)
    assert seconds(body, hybrid(), distribution="cyclic:cyclic", nodes=1) == pytest.approx(1)
    assert seconds(body, hybrid(), ranks_per_socket=8) == pytest.approx(1)


def test_both_kinds_have_places_for_ranks() -> None:
    assert seconds("execute [96] of [1] { flops [4e9] }", hybrid()) == pytest.approx(4)
    with pytest.raises(aspenpy.AspenError, match="97 ranks, and `m` has places for 96"):
        seconds("execute [97] of [1] { flops [4e9] }", hybrid())


def test_bound_to_cores_ranks_go_to_both_kinds_of_a_socket_with_a_schedule() -> None:
    on = hybrid(socket="property rank property schedule [dynamic]", ranks="")
    assert seconds("execute [9] of [1] { flops [4e9] }", on, bind="core") == pytest.approx(4)
    assert seconds("execute [8] of [1] { flops [4e9] }", on, bind="core") == pytest.approx(1)


@given(
    ranks=st.integers(1, 40),
    fast=st.integers(1, 6),
    slow=st.integers(1, 9),
    cores=st.integers(1, 4),
    parts=st.integers(1, 30),
)
def test_ranks_of_some_cores_played_through(ranks: int, fast: int, slow: int, cores: int, parts: int) -> None:
    each = (fast + slow) // cores
    ranks = min(ranks, 4 * each)
    if each == 0:
        return
    on = hybrid(fast, slow)
    body = f"execute [{ranks}] of [{parts}] {{ flops [4e9*{parts}] }}"
    of_ranks = ranks_on_cores(ranks, fast, slow, cores)
    asked = {"cores_per_rank": cores} if cores > 1 else {"bind": "core"}
    played = max(static_time([1.0] * parts, of_rank) for of_rank in of_ranks)
    assert seconds(body, on, schedule="static", **asked) == pytest.approx(played)
    played = max(dynamic_time([1.0] * parts, of_rank) for of_rank in of_ranks)
    dealt_out = seconds(body, on, schedule="dynamic", **asked)
    assert dealt_out <= played * (1 + 1e-12)
    assert played <= dealt_out + max(KINDS)


@pytest.mark.parametrize("parts", [1, 8, 9, 24, 25, 33, 48, 1000])
@pytest.mark.parametrize("rank", [True, False])
def test_a_static_schedule_waits_for_the_slower_kind(parts: int, rank: bool) -> None:
    """Equal parts of one rank on a socket, or instances that are no ranks, on one socket of eight and sixteen."""
    text = HYBRID.replace("[2]", "[1]")
    socket = "property schedule [static]" + (" property rank" if rank else "")
    text = text.replace("SOCKET", socket).replace("[P]", "[8]").replace("[E]", "[16]")
    on = machine(text.replace("P_RANK", "").replace("E_RANK", ""))
    body = f"execute [1] of [{parts}] {{ flops [4e9*{parts}] }}" if rank else f"execute [{parts}] {{ flops [4e9] }}"
    assert seconds(body, on) == pytest.approx(static_time([1.0] * parts, [KINDS[0]] * 8 + [KINDS[1]] * 16))


def test_a_user_overrides_the_model_and_the_model_the_machine() -> None:
    """48 parts on 8 + 16 cores: two to each, 8 s; or 12 a second of the first kind, 4 s."""
    on = hybrid(socket="property rank property schedule [static]", ranks="")
    body = "execute [1] of [48] WORD { flops [48*4e9] }"
    assert seconds(body.replace("WORD", ""), on) == pytest.approx(8)
    assert seconds(body.replace("WORD", "dynamic"), on) == pytest.approx(4)
    assert seconds(body.replace("WORD", "dynamic"), on, schedule="static") == pytest.approx(8)
    plain = hybrid(socket="property rank", ranks="")
    assert seconds(body.replace("WORD", ""), plain) == pytest.approx(6)  # the first kind alone
    assert seconds(body.replace("WORD", ""), plain, schedule="static") == pytest.approx(8)


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(aspenpy.AspenError, match="unknown `schedule` of ranks: `even`"):
        seconds("execute [1] { flops [1] }", hybrid(), schedule="even")


def test_an_answer_states_kinds_and_schedule() -> None:
    prediction = aspenpy.predict(application("execute [20] of [8] { flops [4e9] }"), hybrid(), schedule="static")
    said = "20 on 1 node: a core, `p`, then `e` each; compact; static schedule"
    assert str(run_placement(prediction)) == said
    assert "m/n/s/e, each core as many parts" in str(prediction.explain())


# -- unequal parts ---------------------------------------------------------------------------------

ALIKE = """
machine m { node n }
node n { socket s }
socket s { property rank  core [C] c  memory ram }
core c { CORE resource flops(n) [n/1e9] resource chain(n) [n/1e9] }
memory ram { resource loads(n) [n/1e15] }
"""


def alike(cores: int, core: str = "", rank: str = "socket") -> aspenpy.Machine:
    text = ALIKE.replace("[C]", f"[{cores}]")
    if rank == "core":
        text, core = text.replace("property rank", ""), f"property rank {core}"
    return machine(text.replace("CORE", core))


def test_a_triangle_on_two_threads_is_a_third_faster() -> None:
    """n rows of 1 to n: the second half has 3/4 of them all; 4/3 for large n, n(n+1)/2 over the second half here."""
    body = "execute [1] of i [n] of size [i + 1] WORD { flops [1e9] }"
    app = aspenpy.parse(f"model t {{ param n = 1e6 kernel main {{ {body.replace('WORD', 'static')} }} }}")
    assert 1 / aspenpy.predict(app, alike(2)).runtime == pytest.approx(4 / 3, rel=1e-5)
    assert 1 / aspenpy.predict(app, alike(2), set={"n": 4}).runtime == pytest.approx(10 / 7)
    assert 1 / aspenpy.predict(app, alike(2), schedule="dynamic").runtime == pytest.approx(2)


@pytest.mark.parametrize(
    ("schedule", "told"), [("static", ["4.267 of 8 `c` of a rank are busy on average"]), (None, [])]
)
def test_idle_cores_are_told_by_the_schedule(schedule: str | None, told: list[str]) -> None:
    """Of a large triangle the last of eight blocks has 1 - (7/8)^2 = 15/64: 64/15 cores are busy."""
    app = application(f"execute [2] of i [1e6] of size [1e6 - i] {schedule or 'dynamic'} {{ flops [1e9] }}")
    on = machine(
        ALIKE.replace("[C]", "[8]").replace("CORE", "").replace("node n { socket s }", "node n { socket [2] s }")
    )
    found = [each.message for each in aspenpy.predict(app, on).diagnostics]
    assert [message.partition(":")[0] for message in found] == told


POLYNOMIALS: dict[str, Callable[[int, int], float]] = {
    "i": lambda i, n: i,
    "i + 1": lambda i, n: i + 1,
    "n - i": lambda i, n: n - i,
    "2*i + 5": lambda i, n: 2 * i + 5,
    "i^2": lambda i, n: i**2,
    "(n - i)^2 + 1": lambda i, n: (n - i) ** 2 + 1,
    "(2*i - n)^2": lambda i, n: (2 * i - n) ** 2,
    "3": lambda i, n: 3,
}


@given(size=st.sampled_from([*POLYNOMIALS]), parts=st.integers(2, 60), cores=st.integers(1, 12))
def test_unequal_parts_played_through(size: str, parts: int, cores: int) -> None:
    sizes = [POLYNOMIALS[size](i, parts) for i in range(parts)]
    body = f"execute [1] of i [{parts}] of size [{size.replace('n', str(parts))}] {{ flops [1e9*{sum(sizes)}] }}"
    played = static_time(sizes, [1.0] * cores)
    assert seconds(body, alike(cores)) == pytest.approx(played)
    even = seconds(body, alike(cores), schedule="dynamic")
    assert even == pytest.approx(max(sum(sizes) / cores, max(sizes)))
    heap = [0.0] * cores
    for part in sorted(sizes, reverse=True):
        heapq.heappush(heap, heapq.heappop(heap) + part)
    assert even <= max(heap) * (1 + 1e-12)


@given(parts=st.integers(2, 60), fast=st.integers(1, 5), slow=st.integers(1, 7), rising=st.booleans())
def test_unequal_parts_on_two_kinds(parts: int, fast: int, slow: int, rising: bool) -> None:
    sizes = [float(i + 1 if rising else parts - i) for i in range(parts)]
    text = "i + 1" if rising else f"{parts} - i"
    on = hybrid(fast, slow, socket="property rank", ranks="")
    body = f"execute [1] of i [{parts}] of size [{text}] {{ flops [4e9*{sum(sizes)}] }}"
    played = static_time(sizes, [KINDS[0]] * fast + [KINDS[1]] * slow)
    assert seconds(body, on, schedule="static") == pytest.approx(played)


def test_a_counter_needs_a_size() -> None:
    for parts in ("of i [10]", "of [10] of size [3]"):
        with pytest.raises(aspenpy.AspenError) as caught:
            seconds(f"execute [1] {parts} {{ flops [1] }}", alike(2))
        assert codes(caught.value) == ["part-sizes"]


# -- hardware threads ------------------------------------------------------------------------------

TWO = "property threads [2] property smt_gain [1.25]"
FOUR = "property threads [4] property smt_gain [1.6]"


def threads_time(ranks: int, cores: int, threads: int, gain: float) -> float:
    """Ranks of one second each fill core by core; n on a core go on at their share of what they attain together."""
    slowest = 0.0
    for core in range(cores):
        sharing = min(threads, max(0, ranks - core * threads))
        rate = 1 + (gain - 1) * (sharing - 1) / (threads - 1)
        slowest = max(slowest, sharing / rate if sharing else 0)
    return slowest


def test_two_ranks_on_a_core_have_a_share_of_what_both_attain() -> None:
    body = "execute [8] of [1] { flops [1e9] }"
    assert seconds(body, alike(8, TWO, "core")) == pytest.approx(1)
    assert seconds(body, alike(4, TWO, "core"), threads_per_core=2) == pytest.approx(2 / 1.25)
    assert seconds(body.replace("flops", "chain"), alike(4, TWO, "core"), threads_per_core=2) == pytest.approx(1)
    with pytest.raises(aspenpy.AspenError, match="8 ranks, and `m` has places for 4"):
        seconds(body, alike(4, TWO, "core"))
    with pytest.raises(aspenpy.AspenError, match="9 ranks, and `m` has places for 8"):
        seconds(body.replace("[8]", "[9]"), alike(4, TWO, "core"), threads_per_core=2)


@given(ranks=st.integers(1, 40), cores=st.integers(1, 10), threads=st.integers(2, 4))
def test_ranks_on_hardware_threads_played_through(ranks: int, cores: int, threads: int) -> None:
    ranks = min(ranks, cores * threads)
    core = f"property threads [{threads}] property smt_gain [1.5]"
    found = seconds(f"execute [{ranks}] of [1] {{ flops [1e9] }}", alike(cores, core, "core"), threads_per_core=threads)
    assert found == pytest.approx(threads_time(ranks, cores, threads, 1.5))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (4, 1),  # one to a core
        (8, 2 / 1.25),  # two to each
        (6, 2 / 1.25),  # two on two of the cores
        (16, 2 * 2 / 1.25),
        (1, 1),
    ],
)
def test_threads_of_a_rank_on_hardware_threads(parts: int, expected: float) -> None:
    body = f"execute [1] of [{parts}] {{ flops [1e9*{parts}] }}"
    assert seconds(body, alike(4, TWO), threads_per_core=2) == pytest.approx(expected)


def test_some_of_four_threads_attain_a_part_of_the_gain() -> None:
    body = "execute [2] of [1] { flops [1e9] }"
    assert seconds(body, alike(1, FOUR, "core"), threads_per_core=4) == pytest.approx(2 / 1.2)
    assert seconds(body.replace("[2]", "[4]"), alike(1, FOUR, "core"), threads_per_core=4) == pytest.approx(4 / 1.6)


@pytest.mark.parametrize(
    ("core", "asked", "message"),
    [
        ("", 2, "core `c` does not state hardware threads"),
        (TWO, 4, "4 threads on a core, and it has 2"),
    ],
)
def test_threads_that_a_core_does_not_state_are_refused(core: str, asked: int, message: str) -> None:
    with pytest.raises(aspenpy.AspenError, match=message):
        seconds("execute [2] of [1] { flops [1e9] }", alike(2, core, "core"), threads_per_core=asked)


def test_threads_of_which_no_gain_is_stated_gain_nothing_but_in_chains() -> None:
    """Two ranks of one second each take two on a core; chains leave it to each other. A warning says so."""
    body, core = "execute [4] of [1] { flops [1e9] }", "property threads [2]"
    assert seconds(body, alike(2, core, "core"), threads_per_core=2) == pytest.approx(2)
    assert seconds(body.replace("flops", "chain"), alike(2, core, "core"), threads_per_core=2) == pytest.approx(1)
    case = Case(application(body), alike(2, core, "core"), threads_per_core=2)
    told = [item.message for item in aspenpy.predict(case).diagnostics if item.code == "assumed-rate"]
    assert told == ["2 threads of a `c` attain what one does: it does not state `smt_gain`"]


LIBRARY = ["a64fx", "epyc_7763", "grace", "power9", "xeon_phi_7250", "xeon_platinum_8280"]


@pytest.mark.parametrize("machine", LIBRARY)
def test_processors_of_the_library_take_as_many_ranks_as_they_have_threads(machine: str) -> None:
    """One Arm core has one thread, an x86 core two, a Knights Landing and a POWER9 four."""
    threads = {"a64fx": 1, "grace": 1, "power9": 4, "xeon_phi_7250": 4}.get(machine, 2)
    spmv, found = aspenpy.load_application("spmv"), aspenpy.load_machine(machine)
    one = aspenpy.predict(Case(spmv, found, set={"ranks": 2})).runtime
    if threads > 1:
        both = aspenpy.predict(Case(spmv, found, set={"ranks": 2}, threads_per_core=threads)).runtime
        assert one <= both <= 2.0001 * one
    with pytest.raises(aspenpy.AspenError, match=f"threads on a core, and it has {threads}"):
        _ = aspenpy.predict(Case(spmv, found, set={"ranks": 8}, threads_per_core=8)).runtime


# -- how the language writes it --------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "execute [2] of i [10] of size [i + 1] static { flops [1] }",
        "execute [2] of [10] dynamic { flops [1] }",
        'execute [2] of i [10] of size [10 - i] "rows" { flops [1] }',
    ],
)
def test_parts_are_formatted_as_they_are_written(statement: str) -> None:
    text = aspenpy.format(f"model t {{ kernel main {{ {statement} }} }}")
    assert " ".join(statement.split()) in " ".join(text.split())
    assert aspenpy.format(text) == text


def test_an_editor_knows_the_counter_of_parts() -> None:
    text = "model t { kernel main { execute [1] of i [10] of size [i + 1] { flops [1] } } }"
    declared, used = (name for name in names_of(text).names if name.name == "i")
    assert declared.kind == COUNTER
    assert declared.declares
    assert not used.declares
