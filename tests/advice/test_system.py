"""Ranges that tools of a system print."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy.advice.system_ranges as module
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
        ("hardware limits: 800 MHz - 2.5 GHz", {"clock": (8e8, 2.5e9)}),
        ("hardware limits: 800000 kHz \u2013 2500 MHz", {"clock": (8e8, 2.5e9)}),
        (SYSFS.replace("min_perf_pct:31", "min_perf_pct:32"), {"clock": (1.216e9, 1.9e9)}),  # 32 % of 3.8 GHz
        (SYSFS.replace("max_perf_pct:50", "max_perf_pct:100"), {"clock": (1.2e9, 3.8e9)}),
        (SYSFS.partition("/sys/devices/system/cpu/intel")[0], {"clock": (1.2e9, 3.8e9)}),
        (LSCPU.replace("  8", "  1").replace("CPU min", "CPU"), {"sockets": (1, 2), "smt": (1, 2)}),
        (LSCPU.replace("CPU max", "CPU"), {"cores": (1, 8), "sockets": (1, 2), "smt": (1, 2)}),
        (CPUPOWER + LSCPU.replace("3800", "3500"), {"clock": (1.2e9, 3.8e9), "cores": (1, 8), "sockets": (1, 2),
                                                    "smt": (1, 2)}),  # the first that says it holds
        (NVIDIA.partition("        Memory                            : 1593")[0], {"clock": (345e6, 1980e6)}),
        # the first graphics clock belongs to no memory clock, and the highest memory clock may come last
        ("Supported Clocks\nGraphics : 1 MHz\nMemory : 5 MHz\nGraphics : 7 MHz\nGraphics : 6 MHz\nMemory : 9 MHz\n"
         "Graphics : 4 MHz\nGraphics : 3 MHz\n", {"clock": (3e6, 4e6), "memory_clock": (5e6, 9e6)}),
    ],
)  # fmt: skip
def test_saved_output(tmp_path: Path, text: str, expected: dict[str, tuple[float, float]]) -> None:
    (tmp_path / "saved.txt").write_text(text, encoding="utf-8")
    found = {item.component: (item.low, item.high) for item in system_ranges(str(tmp_path / "saved.txt"))}
    assert {*found} == {*expected}
    assert [found[name] for name in expected] == [pytest.approx(ends) for ends in expected.values()]


def test_this_host_is_read() -> None:
    """Whatever tools it has: each range is one."""
    assert all(item.low <= item.high for item in system_ranges("host"))


def test_tools_and_files_of_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that are there and end well; files say first."""
    monkeypatch.setattr(module, "FILES", (f"{tmp_path}/cpuinfo_*_freq",))
    (tmp_path / "cpuinfo_unreadable_freq").mkdir()
    said = "printf 'CPU max MHz: 3000\\nCPU min MHz: 1000\\nSocket(s): 4\\n'"
    for script, expected in (
        (said, {"clock": (1e9, 3e9), "sockets": (1, 4)}),
        (f"{said}; exit 3", {}),
        (f"{said} >&2", {}),
        ("cat", {}),
    ):
        monkeypatch.setattr(module, "COMMANDS", (("no-such-tool-here",), ("sh", "-c", script)))
        assert {item.component: (item.low, item.high) for item in system_ranges("host")} == expected
    for end, kilohertz in (("min", 800_000), ("max", 2_000_000)):
        (tmp_path / f"cpuinfo_{end}_freq").write_text(f"{kilohertz}\n", encoding="utf-8")
    monkeypatch.setattr(module, "COMMANDS", (("sh", "-c", said),))
    assert {item.component: (item.low, item.high) for item in system_ranges("host")} == {
        "clock": (0.8e9, 2e9),
        "sockets": (1, 4),
    }


@pytest.mark.parametrize("text", [
    "nothing", CPUPOWER.replace("GHz", "THz"), SYSFS.replace("cpuinfo_min", "min"), SYSFS.replace("cpuinfo_max", "max"),
    NVIDIA.replace("Supported", "Other"), "Supported Clocks\n Graphics : 5 MHz\n Graphics : 6 MHz\n",
])  # fmt: skip
def test_text_without_ranges(text: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text, encoding="utf-8")
    with pytest.raises(AspenError, match="contains no range"):
        system_ranges(str(tmp_path / "notes.txt"))
