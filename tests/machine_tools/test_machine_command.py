"""`aspenpy machine`: a skeleton that is whole as it stands, and what is wrong with numbers."""

import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy.models.machine.texts import KINDS, Kind, skeleton
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

PEAKS: dict[Kind, tuple[float, float]] = {
    "cpu": (2 * 16 * 2.5e9 * 2 * 8 * 2, 2 * 100e9),
    "gpu": (100 * 1.5e9 * 64 * 2, 2000e9),
    "cluster": (64 * 2 * 16 * 2.5e9 * 2 * 8 * 2, 64 * 2 * 100e9),
}
"""Flops and bytes a second of each skeleton."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_is_whole(run: Runner, models: Path, kind: str) -> None:
    outcome = run("machine", "new", "mine", "--kind", kind)
    assert outcome == (0, "mine.aspen is written; `aspenpy show mine.aspen` shows what is in it\n", "")
    assert run("machine", "check", "mine.aspen", "--strict") == (0, "no errors, no warnings\n", "")
    assert run("fmt", "--check", "mine.aspen").status == 0
    assert run("eval", "stream", "--machine", "mine.aspen").status == 0


@pytest.mark.parametrize("kind", KINDS)
def test_peaks_of_a_skeleton(kind: Kind) -> None:
    model = aspenpy.parse(skeleton("mine", kind))
    assert isinstance(model, aspenpy.Machine)
    found = aspenpy.roofline(model)
    assert (max(ceiling.rate for ceiling in found.compute), found.memory[0].rate) == pytest.approx(PEAKS[kind])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "kernel"), "`kernel` is no name for a machine: it is a word of the language"),
        (("new", "2nd"), "`2nd` is no name for a machine: letters, digits and _, none of them a digit in front"),
        (("new", "cluster"), "`cluster.aspen` is there already; --output names another file, --replace writes it anew"),
        (("new", "one", "two"), "`aspenpy machine new` takes one name, as in `aspenpy machine new my_machine`"),
        (("new", "one", "--strict"), "--strict and --format belong to `aspenpy machine check`"),
        (("new", "one", "--output", "none/one.aspen"), "cannot write `none/one.aspen`: No such file or directory"),
        (
            ("check", "cluster.aspen", "--kind", "cpu"),
            "--kind belongs to `aspenpy machine new`, --output and --replace to it and to `aspenpy machine probe`",
        ),
    ],
)
def test_refused(run: Runner, arguments: tuple[str, ...], said: str) -> None:
    assert run("machine", *arguments) == (2, "", f"aspenpy: {said}\n")


REPORT = """\
warning: memory `Memory` serves loads at 20 GB/s, above its bandwidth of 10 GB/s
 --> slip.aspen:5:12
5 |   resource loads(v) [v/bandwidth/2]
  |            ^^^^^

no errors, 1 warning
"""
SLIP = """\
machine M { memory Memory }

memory Memory {
  property bandwidth [10 GB/s]
  resource loads(v) [v/bandwidth/2]
}
"""


def test_check(run: Runner, models: Path) -> None:
    (models / "slip.aspen").write_text(SLIP, encoding="utf-8")
    assert run("machine", "check", "slip.aspen") == (0, REPORT, "")
    assert run("machine", "check", "slip.aspen", "--strict").status == 1
    (found,) = json.loads(run("machine", "check", ".", "--format", "json").out)["diagnostics"]
    assert (found["code"], found["line"], found["severity"]) == ("above-bandwidth", 5, "warning")


def test_what_is_no_machine(run: Runner) -> None:
    outcome = run("machine", "check", "axpy.aspen")
    assert outcome.status == 2
    assert outcome.out.startswith("error: `axpy.aspen` is an application model, not a machine model\n")
    assert run("machine", "check", "haswel").out.startswith("error: there is no file and no model in the library")


def test_the_same_slip_in_two_places_is_told_twice_and_in_a_shared_part_once(run: Runner, models: Path) -> None:
    core = "core {0} {{ property w [8] resource flops(n) [n/1e9] with simd [base*w] }}\n"
    (models / "two.aspen").write_text(
        "machine M { core a core b }\n" + core.format("a") + core.format("b"), encoding="utf-8"
    )
    found = json.loads(run("machine", "check", "two.aspen", "--format", "json").out)["diagnostics"]
    assert [item["line"] for item in found if item["code"] == "slower-trait"] == [2, 3]
    (models / "part.aspen").write_text(core.format("a"), encoding="utf-8")
    for name in ("first", "second"):
        (models / f"{name}.aspen").write_text(f"machine {name} {{ core a }}\ninclude part.aspen\n", encoding="utf-8")
    found = json.loads(run("machine", "check", "first.aspen", "second.aspen", "--format", "json").out)["diagnostics"]
    assert [(item["file"], item["code"]) for item in found] == [("part.aspen", "slower-trait")]
