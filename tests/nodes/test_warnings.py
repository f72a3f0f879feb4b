"""Warnings about cores that are idle or shared, and data whose reuse nobody sees."""

from __future__ import annotations

import json

import pytest

import aspenpy
from aspenpy.shell.main import main
from tests.tiny import application, machine

GPU = """
machine g {{ node n }}
node n {{ socket {boards} s }}
socket s {{ core [10] sm  memory m  {launch} }}
core sm {{ property clock [1e9] property simd_width [{lanes}] resource flops(x) [x/1e9] {core} }}
memory m {{ property latency [1e-7] resource loads(x) [x/1e9] resource stores(x) [x/1e9] }}
"""
CACHED = """
machine m { node n }
node n { socket s }
socket s { core [1] c  cache l  memory d }
core c { OUT resource flops(x) [x/1e9] }
cache l { property capacity [64 KiB] property associativity [8] property cacheline [64] property sharing [1]
          property bandwidth [1e10] }
memory d { property latency [1e-7] resource loads(x) [x/1e9] resource stores(x) [x/1e9] }
"""


def told(body: str, machine_text: str, declarations: str = "") -> dict[str, str]:
    found = aspenpy.predict(application(body, declarations), machine(machine_text)).diagnostics
    return {item.code: item.message for item in found}


PLAIN = CACHED.replace("OUT", "")


def gpu(launch: str = "property launch_latency [1e-6]", lanes: int = 1, boards: str = "[1]") -> str:
    return GPU.format(launch=launch, lanes=lanes, boards=boards, core="")


@pytest.mark.parametrize(
    ("instances", "machine_text", "expected"),
    [
        (1, gpu(), "1 of 10 `sm` are busy: no block has more instances"),
        (9, gpu(), "9 of 10 `sm` are busy: no block has more instances"),
        (9, gpu(boards="[4]"), "9 of 10 `sm` are busy: no block has more instances"),
        (10, gpu(), None),
        (1, gpu(launch="", lanes=64), "1 of 10 `sm` are busy: no block has more instances"),
        (1, gpu(launch=""), None),  # a processor: one rank is a question like any other
    ],
)
def test_idle_cores_of_an_accelerator(instances: int, machine_text: str, expected: str | None) -> None:
    assert told(f"execute [{instances}] {{ flops [1] }}", machine_text).get("idle-cores") == expected


def test_a_rank_may_have_half_a_core() -> None:
    """Five cores among two NUMA domains: a note on 2.5 of them, not silence."""
    halves = gpu(launch="").replace("core [10] sm  memory m", "core [5] sm  memory [2] m")
    found = aspenpy.predict(application("execute [2] { flops [1e9] } execute [2] of [2] { flops [1] }"),
                            machine(halves), bind="numa").diagnostics  # fmt: skip
    assert [item.message[:26] for item in found if item.code == "narrow-rank"] == ["a rank occupies 2.5 `sm`, "]


def test_a_mistake_of_the_program_is_no_missing_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise TypeError

    monkeypatch.setattr("aspenpy.answers.occupancy._describe_idle_parts", fail)
    with pytest.raises(TypeError):
        told("execute [1] { flops [1] }", gpu())


def test_one_block_that_fills_the_cores_is_enough() -> None:
    wide = "execute [1] { flops [1] } execute [10] { flops [1] }"
    assert "idle-cores" not in told(wide, gpu())
    never = "execute [1] { flops [1] } if (1 < 0) { execute [10] { flops [1] } }"
    assert "idle-cores" in told(never, gpu())


@pytest.mark.parametrize(
    ("instances", "machine_text", "expected"),
    [
        (15, gpu(launch=""), "15 instances take turns on 10 `sm`; the last turn leaves 5 idle"),
        (20, gpu(launch=""), "20 instances take turns on 10 `sm`"),
        (40, gpu(launch=""), None),
        (81, gpu(launch=""), None),  # 9 of 90 idle: a tenth
        (20, gpu(), None),  # pieces of work of an accelerator
        (21, gpu(), "21 instances take turns on 10 `sm`; the last turn leaves 9 idle"),
        (1001, gpu(), None),
    ],
)
def test_more_instances_than_cores(instances: int, machine_text: str, expected: str | None) -> None:
    assert told(f"execute [{instances}] {{ flops [1] }}", machine_text).get("more-than-cores") == expected


RANKS = GPU.replace("core [10] sm", "property rank core [10] sm").replace("node n }}", "node n interconnect net }}", 1)
RANKS = (RANKS + "interconnect net {{ resource messages(x) [x/1e9] }}").format(
    launch="property launch_latency [1e-6]", lanes=1, boards="[4]", core=""
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "execute [2] { flops [1e9] } execute [2] { messages [1] }",
            "a rank occupies 10 `sm`, but this block states no width: only one of them works",
        ),
        (
            "execute [2] { flops [1e9] } execute [2] { flops [1e8] } execute [2] of [10] { flops [1] }",
            "a rank occupies 10 `sm`, but this block states no width (2 do not): only one of them works",
        ),
        ("execute [2] of [10] { flops [1e9] } execute [2] { messages [1] }", None),
        ("execute [2] { flops [1e6] } execute [2] of [10] { flops [1e9] }", None),  # 1 ms of 101 ms
        ("execute [2] { flops [1e9] }", None),  # of no ranks; 2 of 10 busy is told
    ],
)
def test_ranks_of_which_one_core_works(body: str, expected: str | None) -> None:
    assert told(body, RANKS).get("narrow-rank") == expected


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (1, "1 of 10 `sm` of a rank are busy: no block has more parts"),
        (5, "5 of 10 `sm` of a rank are busy: no block has more parts"),
        (15, "7.5 of 10 `sm` of a rank are busy: no block has more parts"),  # in two turns
        (9, None),  # a tenth idle
        (10, None),
        (1000, None),
    ],
)
def test_idle_cores_of_ranks(width: int, expected: str | None) -> None:
    found = told(f"execute [4] of [{width}] {{ flops [1e9] }}", RANKS)
    assert found.get("idle-cores") == expected
    assert not {"more-than-cores", "narrow-rank"} & {*found}


def test_data_that_are_read_again_without_a_pattern() -> None:
    """8 kB read ten times over; with a pattern, or once, there is nothing to tell."""
    data = "data A [8000]"
    found = told("execute { loads [1e4] of size [8] from A }", PLAIN, data)
    assert found["no-pattern"] == (
        "`loads` accesses `A` 10 times over (80 kB of 8 kB) without a pattern: all of it counts as memory traffic"
    )
    for body in ("loads [1e3] of size [8] from A", "loads [1e4] of size [8] from A as nest(10, 1000)", "loads [1e5]"):
        assert "no-pattern" not in told(f"execute {{ {body} }}", PLAIN, data), body
    large = told("execute { loads [1e5] of size [8] from A }", PLAIN, "data A [80000]")
    assert "no-pattern" not in large  # 80 kB do not fit
    without = PLAIN.replace("property bandwidth [1e10]", "")
    assert "no-pattern" not in told("execute { loads [1e4] of size [8] from A }", without, data)


def test_accesses_at_random_need_outstanding_lines() -> None:
    body, data = "execute { loads [1e3] of size [8] from A as random }", "data A [8e6]"
    assert "no-outstanding" in told(body, PLAIN, data)
    assert "no-outstanding" not in told(body, CACHED.replace("OUT", "property outstanding [10]"), data)


@pytest.mark.parametrize(
    "command",
    [
        "eval matmul --machine h100",
        "profile matmul --machine h100",
        "explain matmul --machine h100",
        "compare matmul --machine h100,v100",
        "sweep matmul --machine h100 --over n=64,128",
        "optimise matmul --machine h100 --minimise runtime --vary n=64..128",
        "energy matmul --machine h100",
        "roofline matmul --machine h100",
    ],
)
def test_each_is_told_once_by_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 0
    assert capsys.readouterr().err.count("of 132 `h100_multiprocessor` of a rank are busy") == 1
    assert main([*command.split(), "--format", "json"]) == 0
    found = [item["message"] for item in json.loads(capsys.readouterr().out)["diagnostics"]]
    assert sum("of 132 `h100_multiprocessor` of a rank are busy" in message for message in found) == 1


@pytest.mark.parametrize(
    ("body", "machine_text", "warned"),
    [
        ("loads [1000] of size [8] from x as stream, warm", "", True),
        ("loads [1000] of size [8] from x as stream, warm  flops [1]", "", False),
        ("loads [0] of size [8] from x as stream, warm", "", False),
        ("loads [1000] of size [8] from x as stream, warm", "property bandwidth [1e10]", False),
    ],
)
def test_data_in_caches_that_state_no_bandwidth_take_no_time(body: str, machine_text: str, warned: bool) -> None:
    found = told(f"execute {{ {body} }}", PLAIN.replace("property bandwidth [1e10]", machine_text), "data x [8000]")
    expected = "this block takes no time: the level that serves its data states no bandwidth"
    assert found.get("no-time") == (expected if warned else None)


def test_the_library_says_so_of_a_transpose_in_caches_without_bandwidth() -> None:
    machine, socket = aspenpy.load_machine("vt_e5_2637_as_modelled"), "intel_xeon_e5_2637_as_modelled"
    found = aspenpy.predict(aspenpy.load_application("cache_transpose"), machine, socket=socket)
    (warned,) = [item for item in found.diagnostics if item.code == "no-time"]
    assert found.runtime == 0
    assert "`e5_2637_as_modelled_l1`, `e5_2637_as_modelled_l2`" in (warned.hint or "")


@pytest.mark.parametrize(
    ("ranks", "so"),
    [
        ((1, 10), None),
        ((1, 15), " (on 15 ranks)"),
        ((1, 15, 20, 100), " (on 15 to 20 ranks, 2 of 4 points)"),
        ((15,), ""),
    ],
)
def test_scaling_says_once_on_which_ranks(ranks: tuple[int, ...], so: str | None) -> None:
    app = application("execute [ranks] { flops [1000/ranks] }", "param ranks = 1")
    found = aspenpy.scale(app, machine(gpu(launch="")), ranks).diagnostics
    warned = "15 instances take turns on 10 `sm`; the last turn leaves 5 idle"
    assert [item.message for item in found] == ([] if so is None else [warned + so])
