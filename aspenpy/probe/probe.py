"""The probe: the machine model of the host that this runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic

from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.benchmark import (
    Watch,
    compile_program,
    find_compiler,
    ignore_progress,
    measure_by_numpy,
    run_benchmarks,
)
from aspenpy.probe.importers import import_files
from aspenpy.probe.kernels import derive_gpu_numbers, measure_kernels
from aspenpy.probe.measured import derive_numbers
from aspenpy.probe.messages import derive_message_numbers, measure_messages
from aspenpy.probe.number import Number, Numbers, combine_passes
from aspenpy.probe.remarks import describe_gpus, describe_measurements, describe_power, read_package_energies
from aspenpy.probe.text import About, write_machine
from aspenpy.probe.topology import Topology, read_topology
from aspenpy.record import Record

NOTHING: Numbers = {}


class Probe(Record):
    """A machine model, and what it was made of."""

    text: str
    host: Topology
    numbers: Numbers


def probe(name: str, watch: Watch = ignore_progress) -> Probe:
    """This host as a machine of that `name`, measured in some ten seconds; without a C compiler, what NumPy can
    measure. `watch` is told of progress.

    :returns: a `Probe`: the text of the machine, and its numbers with their spread.
    :raises AspenError: where the host cannot be measured.
    """
    host = read_topology(Path("/"), os.sched_getaffinity(0))
    chosen = find_compiler()
    if chosen is None:
        remark = "There is no C compiler: NumPy measured what it can; all else is assumed."
        return _make_probe(name, host, measure_by_numpy(host, watch), remark)
    with compile_program(chosen) as target:
        before, began = read_package_energies(), monotonic()
        passes = run_benchmarks(target, host, watch)
        watts = [*describe_power(before, read_package_energies(), monotonic() - began)]
    sent, device = measure_messages(host), measure_kernels()
    beside = derive_message_numbers(sent) | derive_gpu_numbers(device.found)
    unmeasured = (remark for remark in (sent.remark, device.remark) if remark)
    remarks = (f"Measured with {Path(chosen).name}.", *watts, *describe_gpus(), *unmeasured)
    return build_machine(name, host, passes, *remarks, beside=beside)


def build_machine(
    name: str,
    host: Topology,
    passes: Sequence[Mapping[str, float]],
    *remarks: str,
    beside: Mapping[str, dict[str, Number]] = NOTHING,
) -> Probe:
    """The machine that passes of the micro-benchmarks describe, and the numbers of parts `beside` the processor."""
    found = combine_passes(passes)
    numbers = derive_numbers(found, host) | dict(beside)
    return _make_probe(name, host, numbers, *remarks, *describe_measurements(found, host))


def import_machine(name: str, files: Sequence[str]) -> Probe:
    """The machine that files of other tools describe; nothing is measured. Raises AspenError."""
    found = import_files(files)
    assert found.host is not None
    return _make_probe(name, found.host, found.numbers, f"From {', '.join(files)}; nothing was measured here.")


def _make_probe(name: str, host: Topology, numbers: Numbers, *remarks: str) -> Probe:
    complete = complete_numbers(numbers, host)
    about = About(f"{datetime.now():%Y-%m-%d}", platform.node(), remarks)
    return Probe(write_machine(name, complete, host, about), host, complete)
