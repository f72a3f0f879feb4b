"""Models made to be too deep, too long or too large: each has its value, or is refused in a sentence, in bounds."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.hostile.conftest import Evaluate
from tests.thorough import some, thorough

Run = Callable[..., CompletedProcess[str]]

MANY, DEEP = some(10_000, 1_200), some(3_000, 1_100)
"""Deeper than Python recurses."""

LONG = some(50_000, 8_000)

WORK = "execute { flops [n] }"


def model(body: str, declarations: str = "param n = 1", kernels: str = "") -> str:
    return f"model hostile {{ {declarations} kernel main {{ {body} }} {kernels} }}"


def nested_loops(depth: int, amount: str) -> str:
    heads = " ".join(f"iterate i{level} [2] {{" for level in range(depth))
    return f"{heads} execute {{ flops [{amount}] }} {'}' * depth}"


def kernels(count: int, body: str, formals: str = "", leaf: str = WORK) -> str:
    """Kernels k0, k1, ... whose bodies call the next one, written `NEXT`, and a leaf."""
    inner = (f"kernel k{level}{formals} {{ {body.replace('NEXT', f'k{level + 1}')} }}" for level in range(count))
    return f"{' '.join(inner)} kernel k{count}{formals} {{ {leaf} }}"


def chain(count: int, step: str = "{} + 1") -> str:
    links = (f"param x{place} = {step.format(f'x{place - 1}', f'x{place - 2}')}" for place in range(2, count))
    return f"param x0 = 1 param x1 = 1 {' '.join(links)} param n = x{count - 1}"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param(model(WORK, chain(MANY)), MANY - 1, id="parameters in a chain"),
        pytest.param(model(WORK, chain(100, "{} + {}")), 354224848179261915075, id="parameters used twice each"),
        pytest.param(model("call k0", kernels=kernels(DEEP, "call NEXT")), 1, id="kernels in a chain"),
        pytest.param(
            model("call k0", kernels=kernels(60, "call NEXT call NEXT")), 2**60, id="kernels called twice each"
        ),
        pytest.param(model("call k " * MANY, kernels=f"kernel k {{ {WORK} }}"), MANY, id="calls"),
        pytest.param(
            model(" ".join(f"call k({n})" for n in range(MANY)), "", f"kernel k(param n) {{ {WORK} }}"),
            MANY * (MANY - 1) // 2,
            id="calls with other arguments",
        ),
        pytest.param(model(f"{WORK} " * MANY), MANY, id="blocks"),
        pytest.param(model(nested_loops(60, "i0 + i59")), 2**60, id="60 loops inside each other"),
        pytest.param(model("iterate i [1e12] { execute { flops [i] } }"), (10**24 - 10**12) / 2, id="closed form"),
        pytest.param(model(f"iterate [1e18] {{ {WORK} }}"), 1e18, id="10^18 equal passes"),
        pytest.param(model("iterate i [1e6] { execute { flops [ceil(i/3)] } }"), None, id="no closed form"),
        pytest.param(model(WORK, f"param n = {'+'.join(['1'] * LONG)}"), LONG, id="a long sum"),
        pytest.param(model(WORK, f"param t[] = {{ {','.join(['2'] * LONG)} }} param n = t[{LONG - 1}]"), 2, id="array"),
        pytest.param(model(WORK, f"enum e {{ {','.join(f'e{n}' for n in range(LONG))} }} param n = e7"), 7, id="enum"),
        pytest.param(model(WORK, "param n = 1e300*1e300/1e300/1e300"), 1, id="exact where floats overflow"),
    ],
)
def test_large_models_have_their_value(evaluate: Evaluate, text: str, seconds: float | None) -> None:
    outcome = evaluate(text)
    # the sum of ceil(i / 3) for i below 10^6: three each of 1 .. 333333, but the last i is 3 * 333333
    expected = 3 * 333_333 * 333_334 / 2 if seconds is None else seconds
    assert outcome.runtime == pytest.approx(expected, rel=1e-12), outcome.report


ROUNDED = "execute { flops [ceil(x/3)] }"
CIRCLE = chain(MANY).replace("param x1 = 1", f"param x1 = x{MANY - 1}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(model(f"execute {{ flops [{'(' * 10_000}1{')' * 10_000}] }}"), "nested", id="parentheses"),
        pytest.param(model("seq {" * 10_000 + WORK + "}" * 10_000), "nested", id="blocks"),
        pytest.param(model(f"execute {{ flops [{'-' * 10_000}1] }}"), "nested", id="signs"),
        pytest.param(model(WORK, "param n = 9^9^9^9"), "too large", id="powers"),
        pytest.param(model(WORK, "param n = (2^4000)^(2^4000)"), "too large", id="giants"),
        pytest.param(model(WORK, "param n = 1e308*10"), "too large", id="beyond the largest float"),
        pytest.param(model(WORK, f"param n = {'9' * 10**6}"), "characters long", id="a million digits"),
        pytest.param(model(WORK, "param n = 1e999999999"), "beyond 400", id="exponent"),
        pytest.param(model(WORK, CIRCLE), "circular definition", id="circle"),
        pytest.param(
            model("call k0", kernels=kernels(DEEP, "call NEXT", leaf="call k0")), "calls itself", id="circle of kernels"
        ),
        pytest.param(
            model(
                "call k0(1)",
                "",
                kernels(40, "call NEXT(x + 1) call NEXT(2*x)", "(param x)", "execute { flops [ceil(x/3)] }"),
            ),
            "ever different arguments",
            id="2^40 different calls",
            marks=thorough,
        ),
        pytest.param(model("iterate i [1e18] { execute { flops [ceil(i/3)] } }"), "too many", id="10^18 passes"),
        pytest.param(
            model("iterate i [1e6] { iterate j [1e6] { execute { flops [ceil(i*j/3)] } } }"),
            "operations that one command may spend",
            id="10^12 passes",
        ),
        pytest.param(model(WORK, "param t[] = {1} param n = t[1e300]"), "outside", id="index"),
    ],
)
def test_too_large_models_are_refused(evaluate: Evaluate, text: str, reason: str) -> None:
    outcome = evaluate(text)
    assert outcome.runtime is None
    assert reason in outcome.report


def machine(depth: int, parts: int) -> str:
    """Components c0, c1, ... each of which has so many parts of the next kind."""
    inner = (f"node c{level} {{ {f'node c{level + 1} ' * parts} }}" for level in range(depth))
    return f"machine m {{ node c0 }} {' '.join(inner)} node c{depth} {{ resource flops(n) [n] }}"


def test_a_machine_of_a_million_million_places_is_a_machine(evaluate: Evaluate) -> None:
    # the amount is served by the first of the 2^40 leaves
    assert evaluate(model(WORK), machine(40, 2)).runtime == 1


DEEPEST = 198
"""Levels of components below the first that are taken, which the machine and the first component come before."""


def test_a_deep_machine_is_a_machine(evaluate: Evaluate) -> None:
    assert evaluate(model(WORK), machine(DEEPEST, 1)).runtime == 1


LINES = [
    "show m.aspen",
    "show m.aspen --format json",
    "check m.aspen",
    "machine check m.aspen",
    "roofline --machine m.aspen",
    "network --machine m.aspen",
    "fmt m.aspen",
]


@pytest.mark.parametrize("line", LINES)
def test_commands_on_the_deepest_machine_and_a_deeper_one(line: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "m.aspen").write_text(machine(DEEPEST, 1), encoding="utf-8")
    assert "deep" not in run(*line.split()).stderr
    (tmp_path / "m.aspen").write_text(machine(3_990, 1), encoding="utf-8")
    done = run(*line.split())
    if not line.startswith(("fmt", "network")):
        assert done.returncode == 2
        assert "more than 200 components deep" in done.stdout + done.stderr
        assert "m.aspen:1:" in done.stdout + done.stderr


def test_many_conflicts_are_one_group(evaluate: Evaluate) -> None:
    resources = " ".join(f"resource r{n}(n) [n] conflict r{n}, r{n + 1}" for n in range(2_000))
    block = f"execute {{ {' '.join(f'r{n} [1]' for n in range(2_000))} }}"
    outcome = evaluate(model(block, ""), f"machine m {{ {resources} }}")
    assert outcome.runtime == 2_000, outcome.report
