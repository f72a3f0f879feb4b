"""Loops without a closed form: each command answers, or says where in the model there is no value."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from aspenpy.shell.registry import entries

BODIES = (
    "ceil(i/3)",
    "max(i, {a})",
    "mod(i^2, {a})",
    "floor(sqrt(i*{a}))",
    "min(i, n - i) + {a}",
)
"""None of them has a closed sum over `i`."""

LINES = {
    "eval": ["M"],
    "expr": ["M", "M --free n", "M --latex --free n"],
    "explain": ["M"],
    "profile": ["M"],
    "compare": ["M --machine simple", "M --machine simple --over n=1..1e4"],
    "place": ["M"],
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
    "sweep": ["M --over n=10,1000,1e12", "M --over n=1..1e4:5,haswell_nodes=1..3"],
    "count": ["A", "A --solve n=1..1e12 --target 1e6"],
    "memory": ["A"],
    "traffic": ["M"],
    "parallelism": ["M"],
    "trace": ["A"],
    "mpi": ["A"],
    "roofline": ["M"],
    "energy": ["M", "M --cap 60W", "M --least haswell_clock"],
    "fit": ["M T --vary haswell_clock=1GHz..4GHz"],
    "page": ["M -o O"],
    "scale": ["M --parameter n --ranks 1..8"],
    "check": ["M"],
    "fmt": ["A --check"],
    "show": ["A"],
}
"""What each command is asked: A is the model, M the model and a machine, T a table of measurements, O an output."""

ASK_NO_MODEL = {
    *("validate", "extract", "rdd", "incore", "empirical", "measure", "repl"),
    *("network", "list", "lsp", "machine", "completion"),
}


def model_of(seed: int, default: str) -> str:
    """One or two loops, one in the other."""
    drawn = random.Random(seed)
    body = drawn.choice(BODIES).format(a=drawn.randrange(2, 9))
    block = f"execute {{ flops [{body}] loads [8*({body})] }}"
    inner = f"iterate j [{drawn.randrange(2, 5)}] {{ {block} }}" if drawn.random() < 0.5 else block
    kernel = f"kernel main {{ iterate i [n] {{ {inner} }} }}"
    return f"model loops {{\n  param n = {default} in 1 .. 1e12\n  {kernel}\n}}\n"


def test_every_command_is_asked() -> None:
    assert LINES.keys() | ASK_NO_MODEL == entries().keys()


@pytest.mark.parametrize("default", ["600", "3e9"])
@pytest.mark.parametrize(("command", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
def test_a_command_answers_or_says_where(
    command: str, line: str, default: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "loops.aspen"
    model.write_text(model_of(len(line) + 7 * len(command), default))
    table = tmp_path / "measured.csv"
    table.write_text("n,runtime\n100,1e-6\n1000,1e-5\n5e9,4e-3\n")
    words = {"A": str(model), "M": f"{model} --machine haswell", "T": str(table), "O": str(tmp_path / "o.html")}
    status = main([command, *" ".join(words.get(word, word) for word in line.split()).split()])
    told = capsys.readouterr()
    assert status in (0, 1, 2), told.err
    if status == 2:
        assert "error: " in told.err + told.out
        if told.err.startswith("error: ") and "one by one" in told.err.splitlines()[0]:
            assert "loops.aspen:3:" in told.err
    else:
        assert told.out
