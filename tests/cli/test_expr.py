"""`aspenpy expr`: formulas worked out by hand, and read by programs that are not ours."""

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sympy

import aspenpy
from tests.cli.conftest import Runner

ON_CLUSTER = ("expr", "axpy.aspen", "--machine", "cluster.aspen")


def test_text(run: Runner) -> None:
    outcome = run(*ON_CLUSTER, "--free", "n", "--kernel", "axpy")
    # ceil(n/8) * 2 flop * 2 ns, beside ceil(n/2) * 16 B/(10 GB/s) + ceil(n/2) * 8 B/(10 GB/s)
    assert outcome == (0, "max(ceil(n/8)*4e-9, 2.4e-9*ceil(n/2))\n", "")


def test_nothing_free_is_a_number(run: Runner) -> None:
    assert float(run(*ON_CLUSTER).out) == pytest.approx(15e-6, rel=1e-12)


def test_a_quotient_stands_beside_its_value(run: Runner, models: Path) -> None:
    """10/3 flops at 1 ns each; a file has the formula alone."""
    (models / "thirds.aspen").write_text("model thirds { kernel main { execute { flops [10/3] } } }", encoding="utf-8")
    command = ("expr", "thirds.aspen", "--machine", "cluster.aspen")
    assert run(*command).out == "1/300000000 = 3.33 ns\n"
    assert run(*command, "--named").out == "runtime = 1/300000000 = 3.33 ns\n"
    assert run(*command, "-o", "formula.txt").status == 0
    assert (models / "formula.txt").read_text(encoding="utf-8") == "1/300000000\n"


def test_amounts_need_no_machine(run: Runner) -> None:
    assert run("expr", "axpy.aspen", "--metric", "flops", "--free", "n").out == "20*n\n"
    assert run("expr", "axpy.aspen", "--metric", "bytes").out == "240000\n"
    outcome = run("expr", "axpy.aspen", "--free", "n")
    assert outcome.err == "aspenpy: a runtime needs a machine (--machine M); without one, say --metric flops\n"
    assert outcome.status == 2


def test_latex(run: Runner) -> None:
    assert run("expr", "axpy.aspen", "--metric", "flops", "--free", "n", "--latex").out == ("20 \\cdot n\n")


def test_sympy_reads_it(run: Runner) -> None:
    found = sympy.sympify(run(*ON_CLUSTER, "--free", "n", "--sympy").out)
    assert float(found.subs("n", 2001)) == pytest.approx(10 * 1001 * 2.4e-9 + 3e-6, rel=1e-12)


def test_simplify(run: Runner, models: Path) -> None:
    """What stands above and below a line is SymPy's to drop: it could be zero."""
    (models / "open.aspen").write_text("model open { kernel main { execute { flops [3*k*n/k] } } }", encoding="utf-8")
    command = ("expr", "open.aspen", "--metric", "flops", "--free", "n,k")
    assert run(*command).out == "3*k*n/k\n"
    assert sympy.sympify(run(*command, "--simplify").out) == 3 * sympy.Symbol("n")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_c_compiles_and_agrees(run: Runner, models: Path) -> None:
    (models / "f.c").write_text(run(*ON_CLUSTER, "--free", "n,clock", "--c").out, encoding="utf-8")
    (models / "main.c").write_text(
        "#include <stdio.h>\ndouble runtime(double n, double clock);\n"
        'int main(void) { printf("%.17g", runtime(2001.0, 1e8)); return 0; }\n',
        encoding="utf-8",
    )
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "f.c", "main.c", "-lm", "-o", "f"], cwd=models, check=True)
    printed = subprocess.run(["./f"], cwd=models, check=True, capture_output=True, text=True).stdout
    # At 100 MHz the cores are slower than the memory: 10 * ceil(2001/8) * 40 ns.
    assert float(printed) == pytest.approx(10 * 251 * 40e-9 + 3e-6, rel=1e-12)


def test_name_that_nobody_defines_stays(run: Runner, models: Path) -> None:
    (models / "open.aspen").write_text(
        "model open { kernel main { execute { flops [3*size_of_it] } } }", encoding="utf-8"
    )
    assert run("expr", "open.aspen", "--metric", "flops", "--free", "size_of_it").out == "3*size_of_it\n"
    command = ("expr", "open.aspen", "--machine", "cluster.aspen", "--free", "size_of_it")
    assert run(*command).out == "3e-9*size_of_it\n"
    assert run(*command, "--set", "size_of_it=2*clock").status == 2


def test_formula_that_has_no_value_is_refused(run: Runner, models: Path) -> None:
    (models / "bad.aspen").write_text(
        "model bad { param n = 1\n kernel main { execute { watts [n] } } }", encoding="utf-8"
    )
    outcome = run("expr", "bad.aspen", "--machine", "cluster.aspen", "--free", "n")
    assert outcome.status == 2
    assert outcome.err.startswith("error: nothing on machine `Cluster` with socket `Processor` offers the resource")


def test_what_has_no_form_in_c_is_said_in_one_line(run: Runner, models: Path) -> None:
    (models / "noisy.aspen").write_text(
        "model noisy { kernel main { sample x from uniform(0, 1) execute { flops [x] } } }", encoding="utf-8"
    )
    outcome = run("expr", "noisy.aspen", "--metric", "flops", "--c")
    assert outcome == (2, "", "aspenpy: a random draw has no form in C\n")


def test_unknown_free_parameter(run: Runner) -> None:
    outcome = run(*ON_CLUSTER, "--free", "clok")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "error: unknown parameter `clok`\n  = hint: did you mean `clock`?\n"


def test_several_entries_need_a_choice(run: Runner, models: Path) -> None:
    (models / "two.aspen").write_text(
        "model two { kernel a { execute { flops [1] } } kernel b { execute { flops [2] } } }", encoding="utf-8"
    )
    outcome = run("expr", "two.aspen", "--metric", "flops")
    assert outcome.status == 2
    assert outcome.err.endswith("  = hint: choose one with --kernel: a, b\n")
    assert json.loads(run("expr", "two.aspen", "--metric", "flops", "--kernel", "b").out) == 2


def test_terms_of_a_formula_have_the_names_of_the_model(run: Runner, models: Path) -> None:
    (models / "m.aspen").write_text(
        "model m { param n = 9 param pairs = ceil(n/2) + n^2 kernel main {"
        " execute { flops [pairs*n + 3/(n^2 + 7*n) + sqrt(n^2 + 7*n)] } } }",
        encoding="utf-8",
    )
    outcome = run("expr", "m.aspen", "--metric", "flops", "--free", "n", "--named")
    *terms, last = outcome.out.splitlines()
    assert sorted(terms) == ["pairs = ceil(n/2) + n^2", "t1 = n^2 + 7*n"]
    assert last == "flops = pairs*n + 3/t1 + sqrt(t1)"


@pytest.mark.parametrize(
    ("model", "free", "value"),
    [("comd", "nx", 30), ("md", "atoms", 4096), ("cg", "rows", 7000), ("spmv", "rows", 4096), ("fft3d", "n", 128)],
)
def test_named_terms_give_the_runtime(run: Runner, model: str, free: str, value: int) -> None:
    """Each line is evaluated by Python, with the terms of those before it."""
    names: dict[str, Any] = {"choose": lambda condition, then, otherwise: then if condition else otherwise, free: value}
    names |= {name: getattr(math, name) for name in ("ceil", "floor", "log2", "sqrt", "exp")}
    for line in run("expr", model, "--machine", "haswell", "--free", free, "--named").out.splitlines():
        name, term = line.split(" = ", 1)
        names[name] = eval(term.replace("^", "**").replace("if(", "choose("), names)
    application, machine = aspenpy.load_application(model), aspenpy.load_machine("haswell")
    assert names["runtime"] == pytest.approx(aspenpy.predict(application, machine, set={free: value}).runtime, rel=1e-9)
