"""What a model has so many of, such as ranks and nodes, has whole numbers in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy
import pytest

import aspenpy
from aspenpy.shell.failure import FAILURE
from aspenpy.shell.main import main

COUNTED = ["hpl ranks", "jacobi ranks", "stream haswell_nodes"]


def found(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(line.split()) == 0
    value: dict[str, object] = json.loads(capsys.readouterr().out)
    return value


@pytest.mark.parametrize("pair", COUNTED)
def test_a_fraction_is_refused_where_it_is_counted(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    application, name = pair.split()
    for line in ("eval {} --set {}=1.5", "eval {} --set {}=3/2", "sweep {} --over {}=1,1.5"):
        assert main([*line.format(application, name).split(), "--machine", "haswell"]) == FAILURE
        assert f"`{name}` counts what stands here, and cannot be 1.5" in capsys.readouterr().err


@pytest.mark.parametrize("pair", COUNTED)
def test_a_range_of_something_counted_is_one_of_whole_numbers(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    application, name = pair.split()
    result = found(f"sweep {application} --machine haswell --over {name}=1..4 --format json", capsys)
    assert (result["points"], result["no_value"]) == (4, [])


@pytest.mark.parametrize(
    ("over", "values"),
    [
        ("n=16..20", [16, 17, 18, 19, 20]),
        ("n=1..10:4", [1, 4, 7, 10]),
        ("n=1..4:4", [1, 2, 3, 4]),
        ("n=1..8:3", [1, 4, 8]),  # 4.5 lies between two, and goes to the even one
        ("n=1..4:7", [1, 1.5, 2, 2.5, 3, 3.5, 4]),  # so many values are asked for, and there are no so many whole ones
        ("n=1..8:3:real", [1, 4.5, 8]),
        ("n=0.5..8.5:3", [0.5, 4.5, 8.5]),
        ("share=0..2:2:real", [0, 2]),
    ],
)
def test_a_range_between_whole_numbers_is_one_of_them(over: str, values: list[float], tmp_path: Path) -> None:
    model = tmp_path / "m.aspen"
    model.write_text("model m { param n = 3 param share = 1 kernel main { execute { flops [n+share] } } }", "utf-8")
    points = tmp_path / "points.csv"
    assert main(["sweep", str(model), "--machine", "simple", "--over", over, "-o", str(points)]) == 0
    rows = points.read_text(encoding="utf-8").splitlines()[1:]
    assert [float(row.split(",")[0]) for row in rows] == values


def test_strides_that_have_to_be_whole_are_so_over_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    """A row of `word*n` bytes is a whole number of them."""
    result = found("sweep cache_transpose --machine haswell --over n=16..2000 --format json", capsys)
    assert (result["points"], result["no_value"]) == (100, [])


def test_columns_from_python_are_held_to_it() -> None:
    application, machine = aspenpy.load_application("jacobi"), aspenpy.load_machine("haswell")
    with pytest.raises(aspenpy.AspenError, match=r"cannot be 2\.5"):
        aspenpy.sweep(application, machine, over={"ranks": numpy.array([1, 2.5])})


def test_a_crossover_of_equations_is_between_whole_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run = "compare hpl --machine haswell,cori_haswell --set ranks=8 --over n=2000..3000"
    assert main(run.split()) == 0
    said = capsys.readouterr().out
    assert "whole numbers" in said
    crossover = re.search(r"\n  ([\d,]+) \.\. ([\d,]+)  cori_haswell  haswell ", said)
    assert crossover is not None
    before, behind = (int(number.replace(",", "")) for number in crossover.groups())
    assert behind == before + 1

    app = aspenpy.load_application("hpl")

    def runtime(machine: str, n: int) -> float:
        return aspenpy.predict(app, aspenpy.load_machine(machine), ranks_on="socket", set={"ranks": 8, "n": n}).runtime

    assert runtime("cori_haswell", before) <= runtime("haswell", before)
    assert runtime("haswell", behind) <= runtime("cori_haswell", behind)


def test_a_fit_of_nodes_finds_whole_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Work for two nodes and two thirds: 1.5e9 flops, each at 1 GHz on one of the nodes."""
    model = tmp_path / "m.aspen"
    model.write_text(
        "model m { param work = giga in 1 .. 1e12 kernel main { execute [8] { flops [work/8] } } }", encoding="utf-8"
    )
    machine = tmp_path / "cluster.aspen"
    machine.write_text(
        "param nodes = 1 in 1 .. 8  machine cluster { node [nodes] box }  node box { socket cpu }  "
        "socket cpu { core one }  core one { resource flops(n) [n/giga] }",
        encoding="utf-8",
    )
    table = tmp_path / "runs.csv"
    table.write_text("work,runtime\n1e9,0.37\n2e9,0.74\n4e9,1.49\n8e9,2.97\n", encoding="utf-8")
    fitted = found(f"fit {model} {table} --machine {machine} --vary nodes --format json", capsys)
    (parameter,) = fitted["parameters"]  # type: ignore[misc]
    assert float(parameter["value"]).is_integer()  # type: ignore[index]


def test_a_sweep_without_a_value_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.aspen"
    model.write_text("model m { param n = 1 kernel main { execute { flops [sqrt(n)] } } }", encoding="utf-8")
    assert main(["sweep", str(model), "--machine", "simple", "--over", "n=-4,-1"]) == FAILURE
    assert "none of the points has a value" in capsys.readouterr().err
    assert main(["sweep", str(model), "--machine", "simple", "--over", "n=-4,4"]) == 0
