"""What once fell, each as a case of its own: every one is refused in a sentence, at its place."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.shell.main import main
from tests.hostile.conftest import ROOT
from tests.hostile.fuzz import MEASURED
from tests.thorough import HANGS, slow, some, thorough

Run = Callable[..., CompletedProcess[str]]


def model(amount: str) -> str:
    return f"model a {{ param n = 4 param t[] = {{1, 2}} kernel main {{ execute {{ flops [{amount}] }} }} }}"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (model("2*sqrt()"), "`sqrt` takes 1 argument, not 0", "sqrt()"),
        (model("1 B + lookup()"), "must be flop, but this is bytes", "1 B + lookup()"),
        (model("n + lookup()"), "`lookup` takes 3 arguments, not 0", "lookup()"),
        (model("pow(n)"), "`pow` takes 2 arguments, not 1", "pow(n)"),
        (model("cdf(1)"), "cdf takes an array of cumulative probabilities, not the number 1", "cdf(1)"),
        (model("sets_touched(1, 64, 0, 1, 1)"), "a number of sets is at least 1, not 0", "sets_touched"),
        (model("sets_touched(1, 0, 64, 1, 1)"), "the size of a cache line is at least 1, not 0", "sets_touched"),
        (model("sets_touched(1, 64, 64, 1, 1, 8)"), "a stride and its trips", "sets_touched"),
    ],
)
def test_calls_of_functions(
    text: str, message: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.aspen").write_text(text, encoding="utf-8")
    for command in ("eval", "explain", "profile"):
        assert main([command, str(tmp_path / "a.aspen"), "--machine", "simple"]) == 2
        told = capsys.readouterr().err
        assert message in told
        assert f"a.aspen:1:{text.index(place) + 1}" in told


def test_a_switch_over_an_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "model a { param n[] = {} kernel main { switch (n) { [1] { execute { flops [1] } } } } }"
    (tmp_path / "a.aspen").write_text(text, encoding="utf-8")
    for command in ("eval", "explain"):
        assert main([command, str(tmp_path / "a.aspen"), "--machine", "simple"]) == 2
        assert "`n` is an array, and a number is needed" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["uniform", "sobol", "latin"])
def test_samples_take_any_whole_seed(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A seed is taken modulo 2^32: -1 draws what 4294967295 draws."""
    line = f"sweep matmul --machine simple --over n=1..100 --samples 8 --sampling {method} --format json --seed"
    told = []
    for seed in (-1, 2**32 - 1, 5):
        assert main([*line.split(), str(seed)]) == 0
        told.append(json.loads(capsys.readouterr().out)["metrics"])
    assert told[0] == told[1] != told[2]


@pytest.mark.parametrize("value", ["1e308", "1e-300", "1e-320", "1e101"])
def test_measurements_that_nobody_can_have_made(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.aspen").write_text(MEASURED, encoding="utf-8")
    (tmp_path / "a.csv").write_text(f"n,runtime\n1,{value}\n2,{value}\n", encoding="utf-8")
    assert main(["fit", str(tmp_path / "a.aspen"), str(tmp_path / "a.csv"), "--machine", "simple"]) == 2
    told = capsys.readouterr().err
    assert f"the runtime {value} cannot be fitted" in told
    assert "a.csv:2:3" in told


def test_measurements_at_the_ends_of_what_is_taken(tmp_path: Path) -> None:
    """c*n + 1 flops at 4 Gflop/s, one pass on one of four cores: 1e80 s are c = 1e89."""
    (tmp_path / "a.aspen").write_text(MEASURED.replace("1e300", "1e100"), encoding="utf-8")
    application, machine = aspenpy.load_application(tmp_path / "a.aspen"), aspenpy.load_machine("simple")
    rows = [{"n": 1, "runtime": 1e80}, {"n": 2, "runtime": 2e80}]
    assert aspenpy.fit(application, rows, machine=machine, vary=["c"]).values["c"] == pytest.approx(1e89)


def test_a_number_of_five_thousand_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.aspen").write_text(MEASURED, encoding="utf-8")
    (tmp_path / "a.csv").write_text(f"n,runtime\n1,0.{'1' * 5_000}\n", encoding="utf-8")
    assert main(["fit", str(tmp_path / "a.aspen"), str(tmp_path / "a.csv"), "--machine", "simple"]) == 2
    assert "a measured runtime is a number" in capsys.readouterr().err


@pytest.mark.parametrize("text", [",", "\n,", " L 10,8,\nI  4\n", " L ,8", ",,\n\n", " L 10,8\n  ,"])
@pytest.mark.parametrize("layout", ["lackey", "dinero"])
def test_traces_of_commas(
    text: str, layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    assert main(["rdd", "-", "--trace-format", layout]) == 2
    assert "is not a reference" in capsys.readouterr().err


PARTS = "\n".join(f"node c{n} {{ node c{n + 1} }}" for n in range(15_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"model a {{ param n = {'+'.join(['1'] * some(4_000_000, 400_000))} }}", "more than 600,000 words and signs"),
        pytest.param(
            f"model a {{ {' '.join(f'param x{n}={n}' for n in range(300_000))} }}",
            "more than 600,000 words and signs",
            marks=thorough,
        ),
        pytest.param(
            f"model a {{ kernel main {{ par {{ {'execute { flops [1] }' * 100_000} }} }} }}",
            "more than 600,000 words and signs",
            marks=thorough,
        ),
        ('model a { kernel main { execute "' + "\\a" * 4_000_000, 'end it with `"`'),
        (f"machine m {{ node c0 }}\n{PARTS}\nnode c15000 {{ resource flops(n) [n] }}", "components deep"),
    ],
    ids=["a sum", "parameters", "branches", "a text without its end", "a deep machine"],
)
@slow
def test_what_is_too_long(text: str, message: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.aspen").write_text(text, encoding="utf-8")
    done = run("show", "a.aspen")
    assert done.returncode == 2
    assert message in done.stderr
    assert "a.aspen:" in done.stderr


@pytest.mark.parametrize("count", [pytest.param(3_000, marks=thorough), 3_001, pytest.param(17_000, marks=thorough)])
def test_a_model_too_long_to_be_explained(count: int, tmp_path: Path, run: Run) -> None:
    blocks = " ".join(f"execute {{ flops [{number}] }}" for number in range(count))
    (tmp_path / "a.aspen").write_text(f"model a {{ kernel main {{ {blocks} }} }}", encoding="utf-8")
    done = run("explain", "a.aspen", "--machine", "simple")
    if count > 3_000:
        assert done.returncode == 2
        assert f"{count:,} requirements ran, and at most 3,000 are explained at once" in done.stderr
        assert "a.aspen:1:" in done.stderr
    else:
        assert done.stdout.count("one instance asks for") == count


NESTED = some(60, 30)
TRIANGULAR = " ".join(f"iterate i{n} [{f'i{n - 1} + 1' if n else 2}] {{" for n in range(NESTED))


@pytest.mark.parametrize(
    "body",
    [
        "iterate i [1e6] { execute { flops [i^200] } }",
        "iterate i [1e6] { execute { flops [(ceil(i/3)/7)^200] } }",
        f"{TRIANGULAR} execute {{ flops [i{NESTED - 1}] }} {'}' * NESTED}",
    ],
    ids=["powers", "powers of fractions", "loops as long as their counters"],
)
@slow
def test_loops_end_or_are_refused(body: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.aspen").write_text(f"model a {{ kernel main {{ {body} }} }}", encoding="utf-8")
    done = run("eval", "a.aspen", "--machine", "simple")
    assert done.returncode == 0 or "a.aspen:1:" in done.stderr


def test_from_python_only_aspen_errors() -> None:
    """10^500 is exact, and no floating-point number."""
    application, machine = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
    huge = {"n": "10^500"}
    questions = [
        lambda: str(aspenpy.memory(application, set=huge)),
        lambda: aspenpy.memory(application, set=huge).to_json(),
        lambda: str(aspenpy.roofline(machine, [application], set=huge)),
        lambda: str(aspenpy.predict(application, machine, set=huge)),
        lambda: aspenpy.predict(application, machine, set=huge).samples(3),
        lambda: str(aspenpy.energy(application, machine, set=huge)),
        lambda: aspenpy.energy(application, machine, set={"n": "10^101"}).ed2p,
        lambda: str(aspenpy.profile(application, machine, set=huge)),
        lambda: str(aspenpy.traffic(application, machine, set=huge)),
    ]
    for question in questions:
        with suppress(AspenError):
            question()


def test_a_size_that_is_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Once a traceback of `mpi`, which lists the parameters in the order in which a program computes them."""
    assert main(["mpi", "matmul", "--set", "n=n"]) == 2
    said = capsys.readouterr().err
    assert "circular definition: n -> n" in said
    assert "matmul.aspen:" in said


def test_a_stride_of_a_fraction_of_a_byte(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Once a traceback where it stood beside one that differs by few bytes."""
    (tmp_path / "m.aspen").write_text(
        "model m { param n = 4 data A [4096] kernel main { execute { "
        "loads [n*n*n] of size [4] from A as nest(4, n, 1/3, n, 1/3 + 8, n) } } }",
        encoding="utf-8",
    )
    assert main(["traffic", str(tmp_path / "m.aspen"), "--machine", "haswell"]) == 2
    assert "must be a whole number" in capsys.readouterr().err


UNGUARDED = {
    "sweep": """
import aspenpy
application, machine = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
aspenpy.sweep(application, machine, over={"n": range(1, 3_000_000)}, backend="numpy", cores=2)
""",
    "command": """
import sys
from aspenpy.shell.main import main
line = "sweep matmul --machine simple --over n=1..3000000:lin:3000000 --backend numpy --jobs 2 --yes"
sys.exit(main(line.split()))
""",
}


@pytest.mark.parametrize("program", UNGUARDED)
def test_a_program_that_each_process_runs_again(program: str, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(UNGUARDED[program], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "p.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode != 0
    assert 'below `if __name__ == "__main__":`' in done.stderr
