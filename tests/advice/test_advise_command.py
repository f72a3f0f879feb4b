"""The command: what it refuses, in one line each, and that its formats say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy.shell.main import main

POWERLESS = """machine plain { node plain_node }
node plain_node { socket chip }
socket chip { core [4] unit memory ram }
core unit { property clock [2 GHz] property issue [1 flop] resource flops(n) [n/(clock*issue)] with dp [base*2] }
memory ram { property bandwidth [20 GB/s] resource loads(v) [v/bandwidth] resource stores(v) [v/bandwidth] }
"""


def error(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["advise", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("clock=3GHz..1GHz", "the range of `clock` is empty: from 3 GHz to 1 GHz"),
        ("clock=2GHz..2GHz", "the range of `clock` holds a single value: from 2 GHz to 2 GHz"),
        ("clock=1GHz..20GHz", "`clock` cannot be 20 GHz: hardware has 100 MHz to 10 GHz"),
        ("cores=0..8", "`cores` cannot be 0: hardware has 1 to 100,000"),
        ("clock=1 GB..2 GB", "expected hertz, not bytes: `1 GB`"),
        ("cores=1,x", "there is no hardware component `x`"),
        ("clok", "there is no hardware component `clok`"),
        ("prefetch", "`haswell` states no `prefetch`"),
    ],
)
def test_ranges_that_cannot_be(capsys: pytest.CaptureFixture[str], vary: str, message: str) -> None:
    printed = error(capsys, "configure", "stream", "--machine", "haswell", "--vary", vary)
    assert printed.splitlines()[0] == f"error: {message}"


@pytest.mark.parametrize(("threshold", "taken"), [("0", False), ("0.001", True), ("1", True), ("1.001", False)])
def test_a_threshold_is_an_efficiency(capsys: pytest.CaptureFixture[str], threshold: str, taken: bool) -> None:
    words = ["scale", "jacobi", "--machine", "frontera", "--most-nodes", "4", "--threshold", threshold]
    if taken:
        assert main(["advise", *words]) == 0
        assert "nodes" in capsys.readouterr().out
    else:
        assert error(capsys, *words).startswith("aspenpy: --threshold: an efficiency is above 0 and 1 at most, not")


@pytest.mark.parametrize(("levels", "taken"), [("0", False), ("1", False), ("2", True)])
def test_a_range_has_two_levels_at_least(capsys: pytest.CaptureFixture[str], levels: str, taken: bool) -> None:
    words = ["configure", "stream", "--machine", "haswell", "--vary", "clock", "--levels", levels]
    if taken:
        assert main(["advise", *words]) == 0
    else:
        assert "--levels" in error(capsys, *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scale", "lulesh", "--machine", "xeon_e5_2637_v3"], "`xeon_e5_2637_v3` has no network between nodes"),
        (["scale", "stream", "--machine", "haswell"], "`stream` has no number of ranks that is free"),
        (
            ["guess", "stream", "--machine", "haswell"],
            "expected one of classify, significance, configure, scale, decide, throttle and a model",
        ),
        (["stream", "--machine", "haswell", "--threshold", "2"], "--threshold: an efficiency is above 0 and 1 at most"),
        (["stream", "--machine", "haswell", "--vary", "all,clock"], "--vary all varies all components"),
        (
            ["classify", "stream", "--machine", "haswell", "--counters", "cos_example"],
            "--counters are for significance and for all steps, not for classify",
        ),
        (
            ["stream", "--machine", "haswell", "--uncertain", "horoscope=0.1"],
            "`horoscope` is neither a hardware component of the machine nor a parameter",
        ),
        (
            ["decide", "comd", "--machine", "haswell", "--budget", "energy=10J,time=1s"],
            "no configuration stays within the budget: where the excess is least, the energy is",
        ),
        (["decide", "comd", "--machine", "haswell", "--budget", "money=10"], "and `haswell` states no cost"),
        (["stream", "--machine", "haswell", "--levels", "1"], "--levels: a range has at least two values"),
        (["stream", "--machine", "haswell", "--system", "nowhere.txt"], "file not found: `nowhere.txt`"),
    ],
)
def test_other_refusals(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert message in error(capsys, *words).splitlines()[0]


def test_a_machine_without_power(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Time alone, and why there is no energy."""
    (tmp_path / "plain.aspen").write_text(POWERLESS, encoding="utf-8")
    assert main(["advise", "stream", "--machine", str(tmp_path / "plain.aspen"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["classify"]["classifications"][0]["energy"] is None
    assert {item["metric"] for item in found["configure"]["effects"]} == {"runtime"}
    assert [item["objective"] for item in found["configure"]["near_optimal"]] == ["runtime"]
    assert "scale" not in found
    assert "no-power" in [item["code"] for item in found["diagnostics"]]


def test_formats_agree(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "configure", "comd", "--machine", "haswell", "--vary", "clock,cores=1..8"]
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main([*words, "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(found["effects"])
    assert found["configurations"] == 10 + 8 + 80
    assert main(words) == 0
    assert "runtime moves most with cores" in capsys.readouterr().out
