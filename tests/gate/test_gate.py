"""Gates on a small repository: a kernel whose indices become 64-bit, as a person, git, pytest and an action see it.

A row of 27 elements reads 27 values of 8 bytes, 27 indices of 4, and 27 words of x; 100,000 rows with indices of 8
bytes read 27 * 4 * 100,000 = 10.8 MB more.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from aspenpy.explore.changes import compare_snapshots
from aspenpy.explore.snapshot import Need, RunCosts, Snapshot, read_snapshot
from aspenpy.language.diagnostics import AspenError
from aspenpy.shell.main import main

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
SPMV = """\
void spmv(int n, const int *col, const double *val, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < 27; k++) s += val[i*27+k] * x[col[i*27+k]];
    y[i] = s;
  }
}
"""
WIDER = SPMV.replace("const int *col", "const long *col")
GREW = 27 * 4 * 100_000
BEGIN = "gate spmv.gate.json --begin spmv.c --machine epyc_9654 --set n=100000 --set x_bytes=800000"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the kernel and its baseline."""
    pytest.importorskip("clang")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spmv.c").write_text(SPMV, encoding="utf-8")
    assert main(BEGIN.split()) == 0
    capsys.readouterr()
    return tmp_path


def test_what_did_not_change_passes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (repository / "spmv.gate.json").read_text(encoding="utf-8")
    assert main(["gate"]) == 0
    assert capsys.readouterr().out.startswith("spmv: nothing changed\n")
    assert main(["gate", "--update"]) == 0
    assert (repository / "spmv.gate.json").read_text(encoding="utf-8") == before
    assert str(repository) not in before


def test_wider_indices_fail_with_the_reason_and_the_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    assert main(["gate", "spmv.gate.json", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    reads = next(item for item in found["changes"] if item["quantity"] == "loads")
    assert reads["after"]["value"] - reads["before"]["value"] == GREW
    assert reads["reason"] == "loads of `col` (nest) have 8 B each, 4 before"
    assert reads["line"] == "spmv.c:2"
    times = [item for item in found["changes"] if item["quantity"] == "runtime"]
    assert {item["kernel"] for item in times} == {"all", "spmv"}
    assert all("loads of `col` (nest) have 8 B each, 4 before" in item["reason"] for item in times)
    assert found["failed"] == len(found["changes"]) == 4


def test_limits_are_kept_by_quantity(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    assert main(["gate", "--limit", "101%"]) == 0
    assert main(["gate", "--limit", "101%", "--limit", "runtime=0%"]) == 1
    assert main(["gate", "--limit", "0%", "--limit", "loads=101%"]) == 1
    assert main(["gate", "--limit", "much"]) == 2
    assert "expected 2% or runtime=2%, not `much`" in capsys.readouterr().err


def test_what_shrinks_passes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "spmv.c").write_text(SPMV.replace("const int *col", "const short *col"), encoding="utf-8")
    assert main(["gate", "--limit", "0%"]) == 0
    out = capsys.readouterr().out
    assert "none beyond its limit" in out
    assert "have 2 B each, 4 before" in out


def test_reports_are_what_others_read(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    assert main(["gate", "--report", "r.md", "--report", "r.xml", "--report", "r.sarif"]) == 1
    markdown = Path("r.md").read_text(encoding="utf-8")
    assert markdown.startswith("### spmv: 4 numbers changed, 4 beyond their limits\n")
    assert "* `spmv`: loads of `col` (nest) have 8 B each, 4 before (spmv.c:2)\n" in markdown
    suite = ElementTree.fromstring(Path("r.xml").read_text(encoding="utf-8"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "4")
    assert len(suite.findall("testcase/failure")) == 4
    sarif = json.loads(Path("r.sarif").read_text(encoding="utf-8"))
    assert sarif["version"] == "2.1.0"
    result = next(item for item in sarif["runs"][0]["results"] if item["ruleId"] == "loads")
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("spmv.c", 2)
    assert main(["gate", "--report", "r.pdf"]) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"of": 1}', '{"of": {}, "schema": "aspenpy.snapshot/9"}'])
def test_what_is_no_baseline_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.gate.json").write_text(text, encoding="utf-8")
    assert main(["gate", str(tmp_path / "x.gate.json")]) == 2
    assert "x.gate.json" in capsys.readouterr().err


# -- of snapshots ----------------------------------------------------------------------------------


def snapshot(amount: float, elements: float, seconds: float) -> Snapshot:
    need = Need("k", "loads", "a", "", elements, amount, "k.c:3")
    return Snapshot("k", (need,), {"m": RunCosts({"k": seconds}, seconds, None)})


def test_a_snapshot_is_read_as_it_was_written() -> None:
    kept = snapshot(800.0, 100.0, 1.5)
    assert read_snapshot(json.loads(json.dumps(kept.to_json())), "x") == kept
    with pytest.raises(AspenError, match="is no snapshot"):
        read_snapshot({"schema": "aspenpy.snapshot/1"}, "x")


def test_growth_is_relative_to_what_it_was() -> None:
    """300 elements for 200: 1.5 times as many; 3 s for 2.5: 20 % more."""
    found = compare_snapshots(snapshot(1600.0, 200.0, 2.5), snapshot(2400.0, 300.0, 3.0), {"loads": 0.5}).found
    assert [(item.quantity, item.kernel, round(item.growth, 9), item.fails) for item in found] == [
        ("runtime", "k", 0.2, True),
        ("runtime", "", 0.2, True),
        ("loads", "k", 0.5, False),
    ]
    assert found[2].reason == "loads of `a` are 1.5 times as many: 1.6 kB before, now 2.4 kB"
    assert found[0].sentence == f"`k` takes 20 % more time on m: {found[2].reason}"


def test_a_time_that_no_count_explains_says_so() -> None:
    found = compare_snapshots(snapshot(8.0, 1.0, 1.0), snapshot(8.0, 1.0, 1.1)).found
    assert {item.reason for item in found} == {"the machine or the case changed, no count did"}


def test_loops_in_another_order_are_the_reason(tmp_path: Path, monkeypatch, capsys) -> None:
    """The counts stay; the inner loop goes down a column of 800 rows, 6,400 bytes apart."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "k.c"
    source.write_text(
        "double g[800][800];\nvoid f(void) { for (int i = 0; i < 800; i++) for (int j = 0; j < 800; j++)\n"
        "g[i][j] += 1.0; }\n",
        encoding="utf-8",
    )
    assert main(["gate", "k.gate.json", "--begin", "k.c", "--machine", "epyc_9654", "--kernel", "f"]) == 0
    source.write_text(
        "double g[800][800];\nvoid f(void) { for (int j = 0; j < 800; j++) for (int i = 0; i < 800; i++)\n"
        "g[i][j] += 1.0; }\n",
        encoding="utf-8",
    )
    assert main(["gate", "--format", "csv"]) == 1
    told = capsys.readouterr().out
    assert "k.c:2" in told
    assert "nest(6400, 800, 8, 800), before as nest(8, 800, 6400, 800)" in told


def test_lines_are_paths_from_the_current_folder(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    loop = "double g[{n}];\nvoid f(void) {{ for (int i = 0; i < {n}; i++) g[i] += 1.0; }}\n"
    (tmp_path / "sub" / "k.c").write_text(loop.format(n=1000), encoding="utf-8")
    assert main(["gate", "sub/k.gate.json", "--begin", "sub/k.c", "--machine", "epyc_9654", "--kernel", "f"]) == 0
    (tmp_path / "sub" / "k.c").write_text(loop.format(n=2000), encoding="utf-8")
    assert main(["gate", "--report", "r.sarif"]) == 1
    assert "--update makes a baseline of what is now" in capsys.readouterr().err
    (run,) = json.loads((tmp_path / "r.sarif").read_text(encoding="utf-8"))["runs"]
    places = [place for found in run["results"] for place in found.get("locations", [])]
    assert {place["physicalLocation"]["artifactLocation"]["uri"] for place in places} == {"sub/k.c"}


def test_what_a_source_leaves_open_is_told(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(
        "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] += 1.0; }\n", encoding="utf-8"
    )
    assert main(["gate", "k.gate.json", "--begin", "k.c", "--machine", "epyc_9654", "--kernel", "f"]) == 0
    assert "parameter `n` stands for argument `n` of f: 1000 for the time being" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["rumtime=5%", "nan", "-1%", "inf"])
def test_a_limit_that_limits_nothing_is_refused(repository: Path, capsys, limit: str) -> None:
    assert main(["gate", "--limit", limit]) == 2
    assert "--limit: " in capsys.readouterr().err


# -- where code is changed -------------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One in which `aspenpy` is this one."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "aspenpy").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aspenpy "$@"\n', encoding="utf-8")
    (folder / "aspenpy").chmod(0o755)
    root = str(INTEGRATIONS.parent)
    return {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{root}{os.pathsep}{INTEGRATIONS / 'pytest'}",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def test_the_action_fails_and_writes_the_summary(repository: Path, environment: dict[str, str]) -> None:
    assert 'bash "$GITHUB_ACTION_PATH/gate.sh"' in (INTEGRATIONS / "github/action.yml").read_text(encoding="utf-8")
    script = ["bash", str(INTEGRATIONS / "github/gate.sh")]
    environment |= {"GITHUB_STEP_SUMMARY": str(repository / "summary.md"), "BASELINES": "", "LIMIT": "1%"}
    assert subprocess.run(script, env=environment, check=False, capture_output=True).returncode == 0
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    assert subprocess.run(script, env=environment, check=False, capture_output=True).returncode == 1
    summary = (repository / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### spmv: nothing changed\n")
    assert "`spmv`: loads of `col` (nest) have 8 B each, 4 before (spmv.c:2)" in summary
    assert json.loads((repository / "gate.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]


def test_git_refuses_the_commit(repository: Path, environment: dict[str, str]) -> None:
    hook = (INTEGRATIONS / "pre-commit/pre-commit").read_text(encoding="utf-8")

    def git(*words: str) -> int:
        line = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        return subprocess.run(line, env=environment, check=False, capture_output=True).returncode

    assert git("init") == 0
    target = repository / ".git/hooks/pre-commit"
    target.parent.mkdir(exist_ok=True)
    target.write_text(hook, encoding="utf-8")
    target.chmod(0o755)
    git("add", ".")
    assert git("commit", "-m", "first") == 0
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    assert git("commit", "-am", "wider") != 0
    assert main(["gate", "--update"]) == 0
    assert git("commit", "-am", "wider, as wanted") == 0


def test_pre_commit_finds_its_hook_at_the_top() -> None:
    """pre-commit reads `.pre-commit-hooks.yaml` of a repository's first folder, and installs that folder."""
    text = (INTEGRATIONS.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert "entry: aspenpy gate\n" in text
    assert "language: python\n" in text  # `system` would install nothing
    assert 'additional_dependencies: [".[extract]"]' in text  # programs in C


def test_pytest_runs_the_gate(repository: Path, environment: dict[str, str]) -> None:
    line = [sys.executable, "-m", "pytest", "-p", "pytest_aspenpy", "-p", "no:cacheprovider", "-q"]
    environment.pop("PYTEST_ADDOPTS", None)
    passed = subprocess.run(line, env=environment, check=False, capture_output=True, text=True)
    assert "1 passed" in passed.stdout
    (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
    failed = subprocess.run(line, env=environment, check=False, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "have 8 B each, 4 before" in failed.stdout
    allowed = subprocess.run([*line, "--gate-limit", "101%"], env=environment, check=False, capture_output=True)
    assert allowed.returncode == 0


STENCIL = """\
void stencil(int n, double u[n][n], double v[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) v[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1]);
}
"""
TRIAD = """\
void triad(long n, double *restrict a, const double *restrict b, const double *restrict c, double s) {
  for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
"""
SLOWER = TRIAD.replace("s * c[i]", "s * c[i] * c[2 * i]")
DOORS = {
    "action": ("bash", str(INTEGRATIONS / "github/gate.sh")),
    "hook": ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-am", "a change"),
    "pytest": (sys.executable, "-m", "pytest", "-p", "pytest_aspenpy", "-p", "no:cacheprovider", "-q"),
}


@pytest.fixture
def three_kernels(repository: Path, environment: dict[str, str]) -> Path:
    """A repository of git with three kernels in C, a baseline of each, and the hook."""
    for name, text in (("stencil", STENCIL), ("triad", TRIAD)):
        (repository / f"{name}.c").write_text(text, encoding="utf-8")
        assert (
            main(["gate", f"{name}.gate.json", "--begin", f"{name}.c", "--machine", "epyc_9654", "--set", "n=4000"])
            == 0
        )
    for words in (["init"], ["add", "."], [*DOORS["hook"][1:-1], "first"]):
        assert subprocess.run(["git", *words], env=environment, check=False, capture_output=True).returncode == 0
    hook = repository / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text((INTEGRATIONS / "pre-commit/pre-commit").read_text(encoding="utf-8"), encoding="utf-8")
    hook.chmod(0o755)
    return repository


@pytest.mark.parametrize("door", DOORS)
def test_one_of_three_kernels_is_refused(three_kernels: Path, environment: dict[str, str], door: str) -> None:
    """The kernel that grew is named with its line, the others are not; what is equal passes."""
    environment.pop("PYTEST_ADDOPTS", None)
    run = functools.partial(subprocess.run, env=environment, check=False, capture_output=True, text=True)
    (three_kernels / "stencil.c").write_text(STENCIL.replace("0.25 *", "0.5 *"), encoding="utf-8")
    assert run(DOORS[door]).returncode == 0
    (three_kernels / "triad.c").write_text(SLOWER, encoding="utf-8")
    refused = run(DOORS[door])
    assert refused.returncode == 1
    said = refused.stdout + refused.stderr
    assert "triad.c:2" in said
    assert "stencil.c:" not in said
    assert "spmv.c:" not in said
    assert str(three_kernels / "triad.c") not in said


def test_a_pattern_that_changes_is_no_other_need(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The triad reads c twice for each of 4,000 elements, 32 kB more, and no longer as a stream."""
    (repository / "triad.c").write_text(TRIAD, encoding="utf-8")
    (repository / "spmv.gate.json").unlink()
    assert main("gate t.gate.json --begin triad.c --machine epyc_9654 --set n=4000".split()) == 0
    (repository / "triad.c").write_text(SLOWER, encoding="utf-8")
    capsys.readouterr()
    assert main(["gate", "--format", "json"]) == 1
    counts = [item for item in json.loads(capsys.readouterr().out)["changes"] if item["machine"] is None]
    found = {item["quantity"]: (item["before"]["value"], item["after"]["value"]) for item in counts}
    assert found == {"loads": (32_000, 64_000), "flops": (4000, 8000)}
    assert "loads of `c` (nest), before (stream), are 2 times as many" in str(counts)


def test_what_is_set_is_not_open(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parameter of the program that --set gives a value is not reported as one without."""
    (repository / "triad.c").write_text(TRIAD, encoding="utf-8")
    begin = ["gate", "t.gate.json", "--begin", "triad.c", "--machine", "simple"]
    assert main([*begin, "--set", "n=4000"]) == 0
    assert "stands for" not in capsys.readouterr().err
    assert main(begin) == 0
    assert "parameter `n` stands for argument `n` of triad" in capsys.readouterr().err
    assert main([*begin, "--set", "q=4000"]) == 2
    assert "  = hint: the parameters are n; " in capsys.readouterr().err


# -- two versions ----------------------------------------------------------------------------------


def test_diff_says_how_two_programs_differ(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "wider.c").write_text(WIDER, encoding="utf-8")
    assert main("diff spmv.c wider.c --set n=100000 --set x_bytes=800000 --format json".split()) == 0
    (only,) = json.loads(capsys.readouterr().out)["changes"]
    assert only["after"]["value"] - only["before"]["value"] == GREW
    assert only["machine"] is None


def test_diff_of_machines_is_property_by_property(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "epyc_7742", "epyc_9654"]) == 0
    assert "epyc_7742" in capsys.readouterr().out


def test_a_program_of_several_files(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files by commas, or their folder: a change in one of them is told by its file."""
    declared = SPMV.partition("{")[0].strip()
    (repository / "main.c").write_text(
        f"{declared};\nvoid steps(int n, const int *col, const double *val, double *x, double *y) "
        "{\n  for (int t = 0; t < 10; t++) spmv(n, col, val, x, y);\n}\n",
        encoding="utf-8",
    )
    (repository / "spmv.gate.json").unlink()
    for begun in ("main.c,spmv.c", "."):
        case = ["--machine", "epyc_9654", "--set", "n=100000"]
        assert main(["gate", "steps.gate.json", "--begin", begun, *case]) == 0
        (repository / "spmv.c").write_text(WIDER, encoding="utf-8")
        (repository / "main.c").write_text(
            (repository / "main.c").read_text(encoding="utf-8").replace("const int", "const long"), encoding="utf-8"
        )
        assert main(["gate", "--report", "r.xml"]) == 1
        assert "spmv.c:2  loads of `col` (nest) have 8 B each, 4 before" in capsys.readouterr().out
        (repository / "spmv.c").write_text(SPMV, encoding="utf-8")
        (repository / "main.c").write_text(
            (repository / "main.c").read_text(encoding="utf-8").replace("const long", "const int"), encoding="utf-8"
        )
        assert main(["gate"]) == 0
    names = {case.get("name") for case in ElementTree.parse("r.xml").iter("testcase")}
    assert names >= {"loads of `col` (nest) in spmv", "runtime of spmv on epyc_9654", "energy of the run on epyc_9654"}
    assert main(["gate", "two.gate.json", "--begin", "comd,spmv.c", "--machine", "simple"]) == 2
    assert "--begin takes one application, or the files of one program" in capsys.readouterr().err


def test_versions_that_differ_have_no_limits(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "wider.c").write_text(WIDER, encoding="utf-8")
    assert main(["diff", "spmv.c", "wider.c"]) == 0
    assert capsys.readouterr().out.startswith("wider: 1 number changed\n")
