"""Numbers beyond all floating point, and names beyond all file systems: refused in one line, or answered exactly."""

from __future__ import annotations

import pytest

from aspenpy.shell.main import main

HUGE = "1e400"
"""Exact in the language, and more than a floating-point number holds."""

LONG = "1" * 400
"""More than a file's name may have."""

REFUSED = (
    f"network --machine frontier --set slingshot_11_latency={HUGE}",
    f"network --machine exascale_homogeneous --set exascale_dragonfly.routers={HUGE}",
    f"energy comd --machine haswell --set haswell_clock={HUGE}",
    f"roofline --machine haswell --set haswell_clock={HUGE}",
    f"parallelism comd --set ranks={HUGE}",
    f"count matmul --set n={HUGE}",
    f"memory comd --machine haswell --set nx={HUGE}",
    f"optimise matmul --machine simple --minimise runtime --vary n={HUGE}",
    "energy matmul_listing32 --machine simple --set n={1,2}",
    "network --machine exascale_homogeneous --set exascale_dragonfly.routers={1,2}",
    "eval matmul --machine simple --set n={1,2}",
    f"show {LONG}",
    f"check {LONG}",
    f"machine check {LONG}",
    f"mpi comd --output {LONG}",
)


@pytest.mark.parametrize("line", REFUSED)
def test_refused_without_a_traceback(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    told = "".join(capsys.readouterr())
    reasons = (
        "too large",
        "does not fit into double precision",
        "no finite number",
        "is not a number in the range of double precision",
        "is an array",
        "an array stands where a number is needed",
        "ame too long",
        "called `1",
    )
    assert any(reason in told for reason in reasons), told


def test_what_is_tiny_has_an_intensity(capsys: pytest.CaptureFixture[str]) -> None:
    """2 n^3 flops over 32 n^2 bytes are n/16, however small both are."""
    assert main(["count", "matmul", "--set", "n=1e-200"]) == 0
    assert "6.25e-202" in capsys.readouterr().out


def test_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    main(["count", "matmul", "--set", f"n={HUGE}"])
    said = "error: a value is too large for a floating-point number, which ends at 1.8e308\n"
    assert capsys.readouterr().err == said
