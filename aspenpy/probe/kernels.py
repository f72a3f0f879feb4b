"""Small kernels on the GPU of this host, where nvcc and a device are there."""

from __future__ import annotations

import shutil
import subprocess
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory

from aspenpy.probe.number import Number, Numbers, make_measured_number, make_rate_of_difference
from aspenpy.probe.quantity import Quantities, combine_passes
from aspenpy.record import Record

SOURCE = Path(__file__).parent / "devices.cu"
COMPILER = "nvcc"
OPTIONS = ("-O2", "-Wno-deprecated-gpu-targets")
DRIVER = "proc/driver/nvidia/gpus"
LIMIT = 60.0
NO_DEVICE = 3
NOTHING: Quantities = {}


class Kernels(Record):
    """Times or rates of kernels, by name; a remark where there is a compiler and nothing was measured."""

    found: Quantities = NOTHING
    remark: str = ""


NO_KERNELS = Kernels()


def measure_kernels(root: Path = Path("/")) -> Kernels:
    """Compiles and runs the kernels of accelerators. Where no driver tells of a device, nothing is compiled."""
    compiler = shutil.which(COMPILER)
    if compiler is None:
        return NO_KERNELS
    if shutil.which("nvidia-smi") is None and not (root / DRIVER).exists():
        return _explain_missing_kernels("no device was found")
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        target = Path(folder, "devices")
        try:
            command = [compiler, *OPTIONS, str(SOURCE), "-o", str(target)]
            subprocess.run(command, capture_output=True, check=True, timeout=LIMIT)
            done = subprocess.run([str(target)], capture_output=True, text=True, check=False, timeout=LIMIT)
        except (OSError, subprocess.SubprocessError):
            return _explain_missing_kernels("nvcc cannot compile the kernels")
    if done.returncode:
        reason = "no device was found" if done.returncode == NO_DEVICE else done.stderr.strip()
        return _explain_missing_kernels(reason or "they ended early")
    lines = [line.split() for line in done.stdout.splitlines()]
    return Kernels(combine_passes([{name: float(value)} for name, value in lines]))


def _explain_missing_kernels(reason: str) -> Kernels:
    return Kernels(remark=f"GPU kernels were not measured: {reason}.")


def derive_gpu_numbers(times: Quantities) -> Numbers:
    """The socket of the device, its cores, memory and link to the host; nothing where nothing was measured."""
    if not times:
        return {}
    clock, cores = times["clock"].value, times["multiprocessors"].value
    cycle = 1 / (clock * cores)
    lanes = 2 ** round(log2(max(1.0, times["fma_sp"].value * cycle / 2)))
    loads, copies = times["load_bandwidth"], times["copy_bandwidth"]
    otherwise = "four times that of copies, which took no longer than their loads"
    stores = make_rate_of_difference(
        2 / copies.value - 1 / loads.value,  # seconds a byte: a copy loads as many
        1 / (4 * copies.value),
        "what a copy takes beyond its loads",
        otherwise,
        copies,
        loads,
    )
    return {
        "gpus": {
            "devices": Number(times["devices"].value, "", "the driver; the first of them was measured"),
            "multiprocessors": Number(cores, "", "the driver"),
        },
        "gpu": {
            "launch_latency": make_measured_number(
                times, "launch_latency", "s", "kernels that do nothing, back to back"
            )
        },
        "gpu_core": {
            "clock": Number(clock, "Hz", "the driver"),
            "issue": make_measured_number(times, "fma_sp", "", "a cycle and lane", cycle / 2 / lanes),
            "simd_width": Number(lanes, "", "lanes of single precision that this makes, to a power of two"),
            "fma_gain": Number(2, "", "fused multiply-adds are what was measured"),
            "fma_sp_simd_rate": make_measured_number(times, "fma_sp", "", "flops a cycle", cycle),
            "fma_dp_simd_rate": make_measured_number(times, "fma_dp", "", "flops a cycle", cycle),
        },
        "gpu_memory": {
            "capacity": Number(times["capacity"].value, "B", "the driver"),
            "attained_bandwidth": make_measured_number(times, "load_bandwidth", "B/s", "loads"),
            "attained_store_bandwidth": stores,
        },
        "gpu_link": {
            "latency": make_measured_number(times, "link_latency", "s", "64 B from the host to the device"),
            "bandwidth": make_measured_number(times, "link_bandwidth", "B/s", "32 MiB of pinned memory to the device"),
        },
    }
