"""Ranges that tools of a system print."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.advice.system_ranges import system_ranges
from aspenpy.language.diagnostics import AspenError

CPUPOWER = "analyzing CPU 0:\n  driver: intel_pstate\n  hardware limits: 1.20 GHz - 3.80 GHz\n"  # listing 4.1
SYSFS = """/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq:3800000
/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq:1200000
/sys/devices/system/cpu/intel_pstate/max_perf_pct:50
/sys/devices/system/cpu/intel_pstate/min_perf_pct:31
"""
LSCPU = """Thread(s) per core:  2
Core(s) per socket:  8
Socket(s):           2
CPU max MHz:         3800.0000
CPU min MHz:         1200.0000
"""
NVIDIA = """    Supported Clocks
        Memory                            : 2619 MHz
            Graphics                      : 1980 MHz
            Graphics                      : 1965 MHz
            Graphics                      : 345 MHz
        Memory                            : 1593 MHz
            Graphics                      : 1200 MHz
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CPUPOWER, {"clock": (1.2e9, 3.8e9)}),
        (SYSFS, {"clock": (1.2e9, 1.9e9)}),
        (LSCPU, {"clock": (1.2e9, 3.8e9), "cores": (1, 8), "sockets": (1, 2), "smt": (1, 2)}),
        (NVIDIA, {"clock": (345e6, 1980e6), "memory_clock": (1593e6, 2619e6)}),
    ],
    ids=["cpupower", "sysfs", "lscpu", "nvidia-smi"],
)
def test_saved_output(tmp_path: Path, text: str, expected: dict[str, tuple[float, float]]) -> None:
    (tmp_path / "saved.txt").write_text(text, encoding="utf-8")
    found = {item.component: (item.low, item.high) for item in system_ranges(str(tmp_path / "saved.txt"))}
    assert {*found} == {*expected}
    assert [found[name] for name in expected] == [pytest.approx(ends) for ends in expected.values()]


def test_this_host_is_read() -> None:
    """Whatever tools it has: each range is one."""
    assert all(item.low <= item.high for item in system_ranges("host"))


def test_text_without_ranges(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(AspenError, match="contains no range"):
        system_ranges(str(tmp_path / "notes.txt"))
