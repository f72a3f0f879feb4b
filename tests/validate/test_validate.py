"""Programs beside their predictions: the commands that run, what is predicted, and how far the two are apart."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.expected_error import combine_classes
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.measurements.measure import Measured, MeasuredRun, StoppingRule
from aspenpy.learn.model_validation import (
    PROCESSOR,
    WALL,
    CommandTemplate,
    Overhead,
    Validation,
    ValidationPoint,
    run_and_compare,
    warn_doubtful,
)
from aspenpy.learn.profile_validation import ProfiledKernel, ProfileValidation
from aspenpy.report.measurements import write_profile_verdicts, write_verdicts
from aspenpy.shell.main import main

SWEEP = """\
model sweep {
  param n = 1000
  data A as Array(n, 8)
  kernel main { execute { flops [n] as dp  loads [n] of size [8] from A as stream } }
}
"""
HOST = """\
machine host { socket chip }
socket chip { core [2] part  memory ram  property process_start_latency [1 ms] }
core part { resource flops(number) [number/giga] }
memory ram {
  property page_fault_latency [1 us]
  resource loads(volume) [volume/(8 GB/s)]
  resource stores(volume) [volume/(8 GB/s)]
}
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.chdir(tmp_path)
    Path("sweep.aspen").write_text(SWEEP, encoding="utf-8")
    Path("host.aspen").write_text(HOST, encoding="utf-8")
    return Case(aspenpy.load_application("sweep.aspen"), aspenpy.load_machine("host.aspen"), kernel="main")


def point(predicted: float, *seconds: float) -> ValidationPoint:
    runs = tuple(MeasuredRun({WALL: each, PROCESSOR: each / 2}) for each in seconds)
    measured = Measured(("true",), runs, sum(seconds) / len(seconds), 0.0, True, StoppingRule(), ())
    return ValidationPoint(
        WALL, {"n": 1.0}, measured, predicted, Overhead(0.0, 0.0), (), None, combine_classes({"memory": 1.0})
    )


def test_a_prediction_is_the_kernels_the_start_and_the_pages(case: Case) -> None:
    """A word takes 1 ns of flops and of loads, which overlap; 512 words are a page."""
    found = run_and_compare(case, "true {n}", {"n": parse_axis("n=1e6,2e6")}, StoppingRule(least=2, most=2))
    assert [run.run.command for run in found.points] == [("true", "1000000"), ("true", "2000000")]
    for run, n in zip(found.points, (1e6, 2e6), strict=True):
        assert run.predicted == pytest.approx(n * 1e-9 + 1e-3 + n / 512 * 1e-6)
        assert run.ratio == run.predicted / min(each.seconds for each in run.run.runs)


def test_the_shortest_run_counts() -> None:
    assert point(3.0, 5.0, 2.0, 4.0).ratio == 1.5
    assert point(1.0, 4.0, 2.0).factor == 2.0
    assert point(1.0, 4.0, 2.0).replace(clock=PROCESSOR).factor == 1.0


def test_values_are_whole_unless_an_axis_is_real(case: Case) -> None:
    axes = {"n": parse_axis("n=100..2000:log:3")}
    assert [
        int(each.values["n"]) for each in run_and_compare(case, "true {n}", axes, StoppingRule(least=2, most=2)).points
    ] == [
        100,
        447,
        2000,
    ]


def test_words_are_told_apart_without_a_shell() -> None:
    """Quotes group; signs of a shell and braces around other things stay as they are."""
    command = CommandTemplate("'./a b' {n} '$HOME;rm' {}x --size={n}", ["n"])
    assert command.words_at({"n": 5.0}) == ["./a b", "5", "$HOME;rm", "{}x", "--size=5"]
    assert CommandTemplate("a {x}", ["x"]).words_at({"x": 0.25}) == ["a", "0.25"]


def test_what_is_refused_is_as_pictured(case: Case, update_pictures: bool) -> None:
    n = {"n": parse_axis("n=1,2")}
    tried = [
        ("true {m}", n),
        ("true {n} {nn}", n),
        ("true", n),
        ("true '{n}", n),
        ("", {}),
        ("true {m}", {"m": parse_axis("m=1,2")}),
        ("./no_such_program {n}", n),
        ("false {n}", n),
        ("true {n}", {"n": parse_axis("n=1..5000:lin:5000")}),
    ]
    reports = []
    for command, axes in tried:
        with pytest.raises(AspenError) as refused:
            run_and_compare(case, command, axes, StoppingRule(least=2, most=2))
        reports.append(f"--run {command!r}\n{refused.value}\n")
    picture, found = Path(__file__).parent / "refused.txt", "\n".join(reports)
    if update_pictures:
        picture.write_text(found, encoding="utf-8")
    assert found == picture.read_text(encoding="utf-8")


def test_the_command_writes_json_and_a_picture(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = ["validate", "sweep.aspen", "--run", "true {n}", "--over", "n=1e3,1e6", "--machine", "host.aspen"]
    assert main([*words, "--least-runs", "2", "--most-runs", "2", "--format", "json", "--picture", "p.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["n"] for each in found["points"]] == [1e3, 1e6]
    assert found["points"][1]["predicted"] == pytest.approx(1e-3 + 1e-3 + 1e6 / 512 * 1e-6)
    assert found["within"]["factor"] == 1.4
    assert found["kernels"][0]["name"] == "main"
    assert "predicted/measured" in Path("p.svg").read_text(encoding="utf-8")


def test_the_gate_fails_beyond_its_limit(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """A sleep of 50 ms beside a prediction of 1 ms is off 50 times; any limit above that passes it."""
    words = ["validate", "sweep.aspen", "--run", "sleep 0.05", "--machine", "host.aspen"]
    words += ["--least-runs", "2", "--most-runs", "2"]
    assert main([*words, "--fail-over", "30%", "--report", "v.xml", "--report", "v.md", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out.partition("v.xml is written")[0])["failed"] == 1
    (suite,) = ElementTree.parse("v.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "times what was measured: predicted " in str(suite[0][0].get("message"))
    assert Path("v.md").read_text(encoding="utf-8").startswith("# sweep on host")
    assert main([*words, "--fail-over", "1e9%", "--report", "v.xml"]) == 0
    assert ElementTree.parse("v.xml").getroot()[0].get("failures") == "0"


def test_points_at_and_beyond_limits(case: Case) -> None:
    """Off by a half either way is the limit itself; 1.4 times is near; the median of 1, 1.4, 1.5, 1.5 and 2."""
    at = [point(2.0, 2.0), point(2.8, 2.0), point(3.0, 2.0), point(2.0, 3.0), point(1.0, 2.0, 4.0)]
    points = tuple(each.replace(values={"n": float(number)}) for number, each in enumerate(at))
    found = Validation(case, "./run {n}", points, limit=0.5)
    assert [each.values["n"] for each in found.failed] == [4.0]
    assert (found.near, found.median_error) == (2, pytest.approx(0.5))
    assert found.replace(limit=None).failed == ()
    assert [each.values["n"] for each in found.replace(limit=0.3).failed] == [1.0, 2.0, 3.0, 4.0]
    (suite,) = ElementTree.fromstring(write_verdicts(found))
    assert suite.attrib == {"name": "aspenpy validate sweep", "tests": "5", "failures": "1"}
    assert [(verdict.get("classname"), verdict.get("name")) for verdict in suite] == [
        ("sweep", f"n = {number}") for number in range(5)
    ]
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "0.50 times what was measured: predicted 1 s, measured 2 s"
    assert failure.text == "./run {n}"


def test_kernels_of_a_profile_at_their_limit(case: Case) -> None:
    kernels = (
        ProfiledKernel("loop", 2.0, "main", 3.0),
        ProfiledKernel("other", 3.0, "second", 2.0),
        ProfiledKernel("write", 4.0, None, None),
        ProfiledKernel("third", 4.0, "third", 1.0),
    )
    found = ProfileValidation(case, kernels, limit=0.5)
    assert [each.region for each in found.failed] == ["third"]
    assert found.covered == pytest.approx(9 / 13)
    (suite,) = ElementTree.fromstring(write_profile_verdicts(found))
    assert suite.attrib == {"name": "aspenpy validate sweep", "tests": "3", "failures": "1"}
    assert [(verdict.get("classname"), verdict.get("name")) for verdict in suite] == [
        ("sweep", name) for name in ("main", "second", "third")
    ]
    assert [each.get("message") for each in suite.iter("failure")] == ["predicted 1 s, measured 4 s"]


def test_kernels_beside_a_profile(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """`main` takes 1000 words of 8 bytes at 8 GB/s: 1 us, in a profile 2 us; half of its time has no kernel."""
    Path("p.csv").write_text("function,time [us]\nloop,2\nwrite,2\n", encoding="utf-8")
    words = ["validate", "sweep.aspen", "--profile", "p.csv", "--machine", "host.aspen", "--map", "loop=main"]
    assert main([*words, "--format", "json", "--report", "p.xml", "--fail-over", "90%"]) == 1
    found = json.loads(capsys.readouterr().out.partition("p.xml is written")[0])
    assert found["covered"] == pytest.approx(0.5)
    first = next(row for row in found["kernels"] if row["kernel"])
    assert (first["region"], first["predicted"], first["ratio"]) == ("loop", pytest.approx(1e-6), pytest.approx(0.5))
    assert ElementTree.parse("p.xml").getroot()[0].get("failures") == "1"
    assert main([*words, "--fail-over", "110%"]) == 0


def test_a_small_quotient_has_two_digits(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """1 us predicted of 320 us is 0.0031 of it, which two places would make nothing."""
    Path("p.csv").write_text("function,time [us]\nmain,320\n", encoding="utf-8")
    assert main(["validate", "sweep.aspen", "--profile", "p.csv", "--machine", "host.aspen"]) == 0
    assert next(row for row in capsys.readouterr().out.splitlines() if "320 us" in row).split()[-1] == "0.0031"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "validate takes --run COMMAND, or --profile FILE"),
        (["--profile", "p.csv", "--run", "true"], "validate takes --run COMMAND, or --profile FILE"),
        (["--profile", "p.csv"], "no region of the profile is a kernel: loop"),
        (["--profile", "p.csv", "--over", "n=1,2"], "--profile is of one run"),
        (["--profile", "none.csv"], "file not found"),
        (["--profile", "bare.csv"], "the profile has no times"),
    ],
)
def test_what_a_profile_is_refused_for(
    case: Case, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    Path("p.csv").write_text("function,time [us]\nloop,2\n", encoding="utf-8")
    Path("bare.csv").write_text("function,flops\nloop,2\n", encoding="utf-8")
    assert main(["validate", "sweep.aspen", "--machine", "host.aspen", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-over", "much"], "--fail-over: expected a percentage such as 30%, not `much`"),
        (["--fail-over=-3%"], "expected a percentage"),
        (["--report", "v.pdf"], "--report: `v.pdf` has to end with .html, .md, .xml"),
    ],
)
def test_what_the_gate_refuses(case: Case, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["validate", "sweep.aspen", "--run", "true", "--machine", "host.aspen", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_prediction_of_no_time_is_refused() -> None:
    app = aspenpy.parse("model z { param n = 1 kernel main { execute [0*n] { flops [1] } } }")
    with pytest.raises(aspenpy.AspenError, match="z on haswell takes no time"):
        aspenpy.validate(app, aspenpy.load_machine("haswell"), run="true {n}", over={"n": "1"})


def test_a_program_that_is_not_there(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("function,time [us]\nloop,2\n", encoding="utf-8")
    assert main(["validate", "none.c", "--profile", "p.csv", "--machine", "host.aspen"]) == 2
    assert "file not found: `none.c`" in capsys.readouterr().err


def test_a_program_beside_a_profile(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """Its model is made of the source; a function that was never sampled is named."""
    pytest.importorskip("clang")
    Path("fill.c").write_text(
        "void tiny(double *a) { a[0] = 1; }\n"
        "void fill(int n, double *a) { tiny(a); for (int i = 0; i < n; i++) a[i] = i; }\n",
        encoding="utf-8",
    )
    Path("p.csv").write_text("function,time [us]\nfill,2\ntiny,0\n", encoding="utf-8")
    words = ["validate", "fill.c", "--profile", "p.csv", "--machine", "host.aspen", "--set", "n=1000"]
    assert main([*words, "--format", "json"]) == 0
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)["kernels"]
    assert (row["region"], row["kernel"]) == ("fill", "fill")
    assert row["predicted"] > 0
    assert "left out, since the profile has no time of them: tiny" in captured.err + captured.out


def test_what_bounds_a_doubtful_prediction_is_said() -> None:
    """A third of wrong guesses: (2*1.507 + 3.88)/3 = 2.3; compiled loops alone are off by 1.5 and not doubtful."""
    mixed = combine_classes({"compiled loops": 2.0, "branches": 1.0})
    assert mixed.is_doubtful
    assert "2.3 times off: bound by compiled loops (67% of it) and branches (33% of it)" in str(warn_doubtful(mixed))
    assert not combine_classes({"compiled loops": 2.0}).is_doubtful
    assert "nobody has compared" in str(warn_doubtful(combine_classes({"halos": 1.0})))
