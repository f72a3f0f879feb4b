"""Loops without a closed form: each command answers, or says where in the model there is no value."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from _pytest.capture import CaptureResult

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.shell import main as shell
from aspenpy.shell.main import main
from aspenpy.shell.option import Option
from aspenpy.shell.registry import commands_by_name, load_command

BODIES = (
    "ceil(i/3)",
    "max(i, {a})",
    "mod(i^2, {a})",
    "floor(sqrt(i*{a}))",
    "min(i, n - i) + {a}",
)
"""None of them has a closed sum over `i`."""

OTHER_LINES = {
    "expr": ["M", "M --free n", "M --latex --free n"],
    "compare": ["M --machine simple", "M --machine simple --over n=1..1e4"],
    "sensitivity": [
        "M",
        "M --vary n=1e3..1e9:log",
        "M --method derivative",
        "M --method normalised",
        "M --method morris",
        "M --method sobol --samples 64",
        "M --method sobol --samples 64 --vary n=10..1e4",
    ],
    "optimise": [
        "M --minimise runtime --vary n",
        "M --maximise runtime --vary n=10..1e12:log",
        "M --minimise runtime --minimise energy --vary n=10..1e4,haswell_clock",
    ],
    "advise": ["M --vary cores", "decide M --vary clock", "throttle M"],
    "sweep": ["M --over n=10,1000,1e12", "M --over n=1..1e4:5 --over haswell_nodes=1..3:whole"],
    "count": ["A", "A --solve n=1..1e12 --target 1e6"],
    **{command: ["A"] for command in ("memory", "trace", "mpi")},
    "energy": ["M", "M --cap 60W", "M --least haswell_clock=1e9..3e9"],
    "fit": ["M T --vary haswell_clock"],
    "page": ["M -o O"],
    "scale": ["M --parameter n --ranks 1..8"],
    "check": ["M"],
    "fmt": ["A --check"],
    "show": ["A"],
}
"""What a command is asked: A is the model, M the model and a machine, T a table of measurements, O an output."""

ASKS_NO_MODEL = {"repl"}  # its words come from standard input


def default_lines(command: str) -> list[str]:
    """The model, on a machine where the command takes one, for a command whose first argument is a model."""
    names = [name for item in load_command(command).options if isinstance(item, Option) for name in item.names]
    takes_model = "model" in names and command not in ASKS_NO_MODEL
    return [] if not takes_model else ["M"] if "--machine" in names else ["A"]


LINES = {
    command: lines for command in commands_by_name() if (lines := OTHER_LINES.get(command) or default_lines(command))
}


def model_of(seed: int, default: str) -> str:
    """One or two loops, one in the other."""
    drawn = random.Random(seed)
    body = drawn.choice(BODIES).format(a=drawn.randrange(2, 9))
    block = f"execute {{ flops [{body}] loads [8*({body})] }}"
    inner = f"iterate j [{drawn.randrange(2, 5)}] {{ {block} }}" if drawn.random() < 0.5 else block
    kernel = f"kernel main {{ iterate i [n] {{ {inner} }} }}"
    return f"model loops {{\n  param n = {default} in 1 .. 1e12\n  {kernel}\n}}\n"


def test_commands_are_asked() -> None:
    assert LINES.keys() >= {*OTHER_LINES, "eval", "explain", "profile", "place", "traffic", "parallelism"}
    assert not LINES.keys() & {"repl", "extract", "list"}


@pytest.mark.parametrize("default", ["600", "3e9"])
@pytest.mark.parametrize(("command", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
def test_a_command_answers_or_says_where(
    command: str, line: str, default: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ask(command, line, model_of(len(line) + 7 * len(command), default), tmp_path, capsys)
    if told.err.startswith("error: ") and "one by one" in told.err.splitlines()[0]:
        assert "asked.aspen:3:" in told.err


def ask(command: str, line: str, model: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> CaptureResult[str]:
    """What a command says of a model: an answer, or a refusal."""
    path = folder / "asked.aspen"
    path.write_text(model, encoding="utf-8")
    table = folder / "measured.csv"
    table.write_text("n,runtime\n100,1e-6\n1000,1e-5\n5e9,4e-3\n", encoding="utf-8")
    words = {"A": str(path), "M": f"{path} --machine haswell", "T": str(table), "O": str(folder / "o.html")}
    status = main([command, *" ".join(words.get(word, word) for word in line.split()).split()])
    told: CaptureResult[str] = capsys.readouterr()
    assert status in (0, 1, 2), told.err
    assert "Traceback" not in told.err
    assert ("error: " in told.err + told.out or "none of the points" in told.err) if status == 2 else told.out
    return told


# -- expressions that have no value at some values of their parameters -----------------------------

BROKEN = (
    "1/(n - 600)",
    "sqrt(300 - n)",
    "log(600 - n)",
    "(600 - n)^0.5",
    "mod(5, n - 600)",
    "sizes[n - 598]",
    "5/ceil(n/1e12 - 1)",
)
REASONS = ("zero", "negative", "logarithm", "root", "index")
"""None has a value at n = 600; some have none anywhere."""


@pytest.mark.parametrize("place", ["flops", "count", "size", "parameter"])
@pytest.mark.parametrize("command", LINES)
def test_what_has_no_value_is_said_with_its_place(
    command: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = random.Random(f"{command} {place}")
    for line in LINES[command]:
        broken = drawn.choice(BROKEN)
        amounts = dict.fromkeys(("flops", "count", "size", "parameter"), "8") | {place: broken}
        told = ask(command, line, WITHOUT_VALUE.format(**amounts), tmp_path, capsys)
        if any(reason in told.err.splitlines()[0] for reason in REASONS if told.err.startswith("error: ")):
            assert "asked.aspen:" in told.err
        assert not told.err.startswith("aspenpy: an expression has no value")  # the last resort, which knows no place


WITHOUT_VALUE = """model broken {{
  param n = 600 in 1 .. 1e12
  param sizes[] = {{1, 2}}
  param k = {parameter}
  data a [{size}]
  kernel main {{ iterate [{count}] {{ execute [4] {{ flops [{flops}*k] loads [8*k] from a messages [8*k] }} }} }}
}}
"""


@pytest.mark.parametrize("error", [EvaluationError(graph.ONE, "no such thing"), DomainError("no such thing")])
def test_an_expression_without_a_value_never_ends_in_a_traceback(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even where a command did not say where it is."""

    def run(arguments: object) -> int:
        raise error

    monkeypatch.setattr(shell, "run", run)
    assert main(["eval", "comd", "--machine", "haswell"]) == 2
    assert capsys.readouterr().err == "aspenpy: an expression has no value: no such thing\n"
