"""`aspenpy eval`: the numbers are worked out by hand in `conftest`."""

import csv
import json
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from tests.cli.conftest import Runner

NEVER = "memory of peak bandwidth (80.0 % of runtime), messages (20.0 % of runtime)"

TABLE = f"""\
axpy on Cluster: main takes 15 us

socket     Processor
placement  all 2 nodes: the machine does not say what a rank occupies
bound by   memory bandwidth of Memory (80.0 % of runtime)
expected   no interval; never compared with runs: {NEVER}

kernel  calls  inclusive  exclusive   share  bound by
──────  ─────  ─────────  ─────────  ──────  ────────────────────────
main        1      15 us       3 us  20.0 %  messages on Fabric
axpy       10      12 us      12 us  80.0 %  loads + stores on Memory

resource     amount  busy  component
────────  ─────────  ────  ─────────────────────────────
flops      20 kflop  5 us  Cluster/Node/Processor/Core
loads     160 kB     8 us  Cluster/Node/Processor/Memory
stores     80 kB     4 us  Cluster/Node/Processor/Memory
messages    1 kB     3 us  Cluster/Fabric

parameters of axpy
  n  1000

parameters of Cluster
  clock  1e9    Core.speed  1e9
"""


def test_table(run: Runner) -> None:
    assert run("eval", "axpy.aspen", "--machine", "cluster.aspen") == (0, TABLE, "")


def test_settings_stand_out(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--set", "n=2000", "--set", "clock = 2*giga")
    assert "main takes 27 us" in outcome.out  # 10 * ceil(2000/2) * 2.4 ns + 3 us
    assert outcome.out.endswith("set\n  n  2000    clock  2e9\n\nparameters of Cluster\n  Core.speed  2e9\n")


def test_json(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--set", "n=2000", "--format", "json")
    found = json.loads(outcome.out)
    assert list(found) == [
        "schema", "application", "machine", "socket", "kernel", "parameters", "overridden", "runtime", "capped_runtime",
        "resources", "bottleneck", "assumed", "lower_bounds", "expected", "kernels", "units", "diagnostics",
    ]  # fmt: skip
    assert (found["application"], found["machine"], found["socket"], found["kernel"]) == (
        "axpy",
        "Cluster",
        "Processor",
        "main",
    )
    assert found["parameters"] == {"n": 2000, "clock": 10**9, "Core.speed": 10**9}
    assert found["overridden"] == ["n"]
    assert found["runtime"] == {"value": pytest.approx(27e-6, rel=1e-12), "unit": "s"}
    assert found["capped_runtime"] == found["runtime"]  # no cap is stated
    assert found["resources"]["loads"] == {
        "amount": 10 * 2000 * 16,
        "unit": "B",
        "time": pytest.approx(10 * 1000 * 1.6e-9, rel=1e-12),
        "component": "Cluster/Node/Processor/Memory",
    }
    assert found["kernels"][1] == {
        "name": "axpy",
        "calls": 10,
        "inclusive": pytest.approx(24e-6, rel=1e-12),
        "exclusive": pytest.approx(24e-6, rel=1e-12),
        "share": pytest.approx(24 / 27, rel=1e-12),
        "bound_by": "loads",
        "group": ["loads", "stores"],
        "component": "Cluster/Node/Processor/Memory",
    }
    assert found["bottleneck"] == {
        "resource": "loads",
        "component": "Cluster/Node/Processor/Memory",
        "time": pytest.approx(24e-6, rel=1e-12),
        "share": pytest.approx(24 / 27, rel=1e-12),
        "group": ["loads", "stores"],
    }
    assert found["diagnostics"] == []


def test_csv(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--format", "csv")
    rows = {(row["kernel"], row["metric"]): row for row in csv.DictReader(outcome.out.splitlines())}
    assert float(rows["main", "runtime"]["value"]) == pytest.approx(15e-6, rel=1e-12)
    assert float(rows["main", "flops"]["value"]) == 10 * 1000 * 2
    assert rows["main", "flops"]["unit"] == "flop"
    assert float(rows["axpy", "calls"]["value"]) == 10
    assert float(rows["axpy", "exclusive"]["value"]) == pytest.approx(12e-6, rel=1e-12)


def test_metrics(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--metric", "runtime,bytes")
    assert outcome.out == (
        "axpy on Cluster: main takes 15 us\n\nmetric    value\n───────  ──────\nruntime   15 us\nbytes    240 kB\n"
    )
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--metric", "bytes", "--format", "json")
    assert json.loads(outcome.out)["metrics"] == {"bytes": {"value": 240000, "unit": "B"}}
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--metric", "bytes", "--format", "csv")
    assert outcome.out == (
        "application,machine,socket,kernel,metric,value,unit\naxpy,Cluster,Processor,main,bytes,240000,B\n"
    )


def test_unknown_metric(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--metric", "flps")
    assert outcome == (2, "", "error: the kernel requests no `flps`\n  = hint: did you mean `flops`?\n")


def test_one_kernel(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--kernel", "axpy", "--metric", "runtime")
    assert "axpy takes 1.2 us" in outcome.out


PIECES = """\
model pieces {
  param n = 100 in 1 .. 50
  kernel first { execute [8] { flops [n] } }
  kernel second(param k) { execute { flops [k] } }
  kernel third { execute { messages [n] } }
}
"""


def test_without_main_each_kernel_without_arguments(run: Runner, models: Path) -> None:
    (models / "pieces.aspen").write_text(PIECES, encoding="utf-8")
    outcome = run("eval", "pieces.aspen", "--machine", "cluster.aspen")
    assert "pieces on Cluster: first takes 100 ns\n" in outcome.out
    assert "pieces on Cluster: third takes 2.1 us\n" in outcome.out
    assert "second" not in outcome.out
    assert outcome.err.startswith("warning: `n` is 100, outside its range 1 .. 50\n --> pieces.aspen:2:9\n")
    assert outcome.err.count("warning") == 1
    found = json.loads(run("eval", "pieces.aspen", "--machine", "cluster.aspen", "--format", "json").out)
    assert found["kernel"] is None
    assert [item["kernel"] for item in found["predictions"]] == ["first", "third"]
    assert [item["runtime"]["value"] for item in found["predictions"]] == pytest.approx([1e-7, 2.1e-6], rel=1e-12)
    assert [item["code"] for item in found["diagnostics"]] == ["outside-range"]


def test_argument_of_the_kernel_asked_for(run: Runner, models: Path) -> None:
    (models / "pieces.aspen").write_text(PIECES, encoding="utf-8")
    arguments = ("--kernel", "second", "--set", "k=3", "--format", "json")
    found = json.loads(run("eval", "pieces.aspen", "--machine", "cluster.aspen", *arguments).out)
    assert found["runtime"]["value"] == pytest.approx(3e-9, rel=1e-12)
    assert (found["parameters"], found["overridden"]) == ({"k": 3, "clock": 10**9, "Core.speed": 10**9}, ["k"])


def test_only_kernels_with_arguments(run: Runner, models: Path) -> None:
    (models / "open.aspen").write_text(
        "model open {\n  kernel one(param k) { execute { flops [k] } }\n}\n", encoding="utf-8"
    )
    outcome = run("eval", "open.aspen", "--machine", "cluster.aspen")
    assert outcome.status == 2
    assert outcome.err.endswith("  = hint: choose one with --kernel, its arguments with --set: one\n")


NOISY = "model noisy { kernel main { sample x from uniform(0, 2e9) execute { flops [x] } } }"


def test_random_models_tell_their_seed(run: Runner, models: Path) -> None:
    (models / "noisy.aspen").write_text(NOISY, encoding="utf-8")
    command = ("eval", "noisy.aspen", "--machine", "cluster.aspen")
    first, again, other = (run(*command, "--seed", seed).out for seed in ("1", "1", "2"))
    assert first == again != other
    assert "seed       1; another one draws other numbers (--seed)\n" in first
    found = json.loads(run(*command, "--samples", "400", "--format", "json").out)
    # Uniform from 0 to 2 s: the mean is 1, the deviation 2/sqrt(12) = 0.577; 400 draws put the mean within 0.12.
    assert found["samples"]["mean"] == pytest.approx(1, abs=0.12)
    assert found["samples"]["deviation"] == pytest.approx(0.577, abs=0.06)
    assert list(found["samples"]["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    assert found["seed"] == found["samples"]["first_seed"] == 20120910
    assert "samples    400, with seeds from 20120910 on\n" in run(*command, "--samples", "400").out


def test_samples_of_what_is_not_random_are_told_to_be_alike(run: Runner) -> None:
    said = "samples  5, all alike: the runtime depends on no random draw\n"
    assert said in run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--samples", "5", "--metric", "runtime").out


def test_overlapping_branches(run: Runner, models: Path) -> None:
    text = "model two { kernel main { par { execute { flops [4000] } execute { messages [1000] } } } }"
    (models / "two.aspen").write_text(text, encoding="utf-8")
    command = ("eval", "two.aspen", "--machine", "cluster.aspen")
    assert "main takes 7 us" in run(*command).out  # 4 us + 3 us
    assert "main takes 4 us" in run(*command, "--par", "overlap").out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--set", "n"), "aspenpy: --set: expected NAME=EXPR, such as n=1000, not `n`\n"),
        (("--set", "=5"), "aspenpy: --set: expected NAME=EXPR, such as n=1000, not `=5`\n"),
        (("--set", "n="), "aspenpy: --set: expected NAME=EXPR, such as n=1000, not `n=`\n"),
        (("--samples", "0"), "expected a whole number from 1 on, not `0`; `aspenpy eval --help` says what it takes\n"),
        (("--sed", "3"), "no option `--sed`: did you mean `--seed`; `aspenpy eval --help` says what it takes\n"),
    ],
)
def test_mistakes_of_the_command_line(run: Runner, arguments: tuple[str, ...], complaint: str) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith(complaint)
    assert outcome.err.count("\n") == 1


def test_mistake_in_a_setting_has_its_place(run: Runner) -> None:
    outcome = run("eval", "axpy.aspen", "--machine", "cluster.aspen", "--set", "n=2*m")
    assert outcome.status == 2
    assert outcome.err.startswith("error: unknown name `m`\n --> <n>:1:3\n1 | 2*m\n  |   ^\n")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("missing.aspen", "file not found: `missing.aspen`"),
        ("folder", "`folder` is a folder, not a file"),
        ("binary.aspen", "`binary.aspen` is not UTF-8"),
        ("comm", "there is no file and no application in the library called `comm`"),
        ("cluster.aspen", "`cluster.aspen` is a machine model, not an application model"),
    ],
)
def test_models_that_cannot_be_read(run: Runner, models: Path, model: str, message: str) -> None:
    (models / "folder").mkdir()
    (models / "binary.aspen").write_bytes(bytes(range(128, 256)))
    outcome = run("eval", f"./{model}" if model == "folder" else model, "--machine", "cluster.aspen")
    assert outcome.status == 2
    assert outcome.err.startswith("error: ")
    assert message in outcome.err.replace("./", "")


def test_a_missing_file_is_told_with_the_whole_name_of_the_one_that_was_meant(run: Runner) -> None:
    outcome = run("eval", "axpi.aspen", "--machine", "cluster.aspen")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "error: file not found: `axpi.aspen`\n  = hint: did you mean `axpy.aspen`?\n"


@pytest.mark.parametrize(
    ("data", "taken", "warned"),
    [
        (200, 1, "`main` touches 2 times the capacity of the memory"),  # two memories of 50 bytes
        (100, 1, None),
        (200, 0, None),  # never touched
        ("1/none", 1, None),  # nobody knows
    ],
)
def test_data_that_do_not_fit(run: Runner, models: Path, data: int | str, taken: int, warned: str | None) -> None:
    (models / "big.aspen").write_text(
        f"model big {{ param none = 0 data a [{data}] "
        f"kernel main {{ execute {{ flops [1] }} if ({taken} > 0) {{ execute {{ loads [8] from a }} }} }} }}",
        encoding="utf-8",
    )
    cluster = (models / "cluster.aspen").read_text(encoding="utf-8")
    (models / "small.aspen").write_text(
        cluster.replace("memory Memory {", "memory Memory {\n  property capacity [50]"), encoding="utf-8"
    )
    outcome = run("eval", "big.aspen", "--machine", "small.aspen", "--metric", "runtime")
    assert outcome.status == 0
    assert outcome.err.split("\n")[0] == ("" if warned is None else f"warning: {warned}")


def test_warnings_are_told_where_there_is_no_runtime(run: Runner, models: Path) -> None:
    """An unknown trait, and a value outside of its range, which is why an amount is below zero."""
    (models / "worn.aspen").write_text(
        "model worn { param n = 500 in 1 .. 100 kernel main { execute { flops [n] as odd flops [100 - n] } } }",
        encoding="utf-8",
    )
    outcome = run("eval", "worn.aspen", "--machine", "cluster.aspen")
    assert outcome.status == 2
    heads = [line for line in outcome.err.splitlines() if line.startswith(("error", "warning"))]
    assert [head.partition(":")[0] for head in heads] == ["error", "warning", "warning"]
    assert "-400" in heads[0]
    assert "outside its range" in heads[1]
    assert "knows no trait `odd`" in heads[2]


@pytest.mark.parametrize(
    ("beginning", "is_model"),
    [
        (b"\x7fELF\x02\x01\x00\x00", False),
        (b"#!/bin/sh\necho md\n", False),
        (b"\n  #!/bin/sh\n", False),
        (b"", True),
        (b"// a comment alone", True),
        (b"\n// mine\n  modle md { kernel main { execute { flops [7] } } }", True),
        (b"// mine\nmodel md { kernel main { execute { flops [7] } } }", True),
    ],
)
def test_a_program_does_not_hide_a_model_of_its_name(
    beginning: bytes,
    is_model: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "md").write_bytes(beginning)
    status = main(["count", "md"])
    told = capsys.readouterr()
    assert ("stores" in told.out) == (not is_model), told
    assert status == (0 if not is_model or b"model md" in beginning else 2)
