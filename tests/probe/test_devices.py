"""Power and GPUs: counters in a made-up tree, a made-up nvidia-smi."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.probe.probe import describe_gpus, describe_power, read_package_energies
from tests.probe import trees


def test_power_of_packages(tmp_path: Path) -> None:
    """Package 0 draws 90 J in 2 s; the counter of package 1 began again, and the memory is no package."""
    files = {}
    for name, kind, energy in (("0", "package-0", 10**9), ("1", "package-1", 500), ("0:0", "dram", 7)):
        files |= {f"sys/class/powercap/intel-rapl:{name}/name": kind}
        files |= {f"sys/class/powercap/intel-rapl:{name}/energy_uj": str(energy)}
    before = read_package_energies(trees.write(tmp_path, files))
    assert before == {"intel-rapl:0": 10**9, "intel-rapl:1": 500}
    after = {"intel-rapl:0": 10**9 + 90 * 10**6, "intel-rapl:1": 20}
    assert [*describe_power(before, after, 2.0)] == ["Power of intel-rapl:0 while measuring: 45 W (RAPL)."]


GPU = "Made-up GPU, 1000 MiB, 1980 MHz, 700.00 W"


@pytest.mark.parametrize(("script", "said"), [(f"echo '{GPU}'", [f"GPU: {GPU} (nvidia-smi)."]), ("exit 9", [])])
def test_gpus(script: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [*describe_gpus()] == said
    program.unlink()
    assert [*describe_gpus()] == []
