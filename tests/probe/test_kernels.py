"""Kernels on a GPU: the source compiles where there is nvcc, and a made-up device becomes a socket."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import check_plausibility
from aspenpy.answers.peaks import value_of
from aspenpy.probe.kernels import COMPILER, NO_KERNELS, OPTIONS, SOURCE, Kernels, derive_gpu_numbers, measure_kernels
from aspenpy.probe.quantity import combine_passes
from tests.probe import hosts
from tests.thorough import slow

DEVICE = {
    "devices": 2.0,
    "multiprocessors": 100.0,
    "capacity": 80e9,
    "clock": 1e9,
    "fma_sp": 24e12,
    "fma_dp": 12e12,
    "load_bandwidth": 2e12,
    "copy_bandwidth": 1.6e12,
    "launch_latency": 2e-6,
    "link_latency": 1e-5,
    "link_bandwidth": 5e10,
}


def test_a_device_becomes_a_socket() -> None:
    """24 Tflop/s on 100 cores at 1 GHz are 240 flops a cycle, near to two of 128 lanes; a copy of a byte takes 1.25 ps,
    0.5 of them to load it."""
    machine = hosts.machine(hosts.text(beside=derive_gpu_numbers(combine_passes([DEVICE]))))
    assert [*check_machine(machine), *check_plausibility(machine), *machine.warnings] == []

    def value(component: str, name: str) -> float:
        found = machine.components[component].value(name)
        assert found is not None
        return float(value_of(found, machine.definitions))

    assert value("here_gpu_core", "fma_sp_simd_rate") == pytest.approx(240)
    assert value("here_gpu_core", "simd_width") == 128
    assert value("here_gpu_core", "simd_width") * value("here_gpu_core", "issue") == pytest.approx(120, rel=1e-3)
    assert value("here_gpu_memory", "attained_store_bandwidth") == pytest.approx(1 / 0.75e-12, rel=1e-3)
    assert value("here_gpu", "launch_latency") == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("compiles", "runs", "remark"),
    [
        ("exit 1", "", "nvcc cannot compile the kernels"),
        ("", "exit 3", "no device was found"),
        ("", "echo lost >&2; exit 1", "lost"),
    ],
)
def test_what_goes_wrong_is_said(
    compiles: str, runs: str, remark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = f"for last; do :; done; printf '#!/bin/sh\\n{runs}\\n' > $last; /bin/chmod +x $last"
    for name, does in (("nvcc", compiles or made), ("nvidia-smi", "")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert measure_kernels() == Kernels(remark=f"GPU kernels were not measured: {remark}.")
    (tmp_path / "nvidia-smi").unlink()
    assert measure_kernels(tmp_path).remark == "GPU kernels were not measured: no device was found."
    (tmp_path / "nvcc").unlink()
    assert measure_kernels(tmp_path) == NO_KERNELS


@slow
@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="there is no nvcc")
def test_the_kernels_compile(tmp_path: Path) -> None:
    command = [COMPILER, *OPTIONS, "-Werror", "all-warnings", str(SOURCE), "-o", str(tmp_path / "devices")]
    subprocess.run(command, check=True)
