"""The probe: the machine model of the host that this runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic

from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.benchmark import Watch, compiler, ignore_progress, program, run_benchmarks
from aspenpy.probe.devices import gpus, package_energies, power
from aspenpy.probe.importers.read import import_files
from aspenpy.probe.kernels import kernels, numbers_of_kernels
from aspenpy.probe.measured import numbers_of
from aspenpy.probe.messages import messages, numbers_of_messages
from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.numpy_measured import numbers_by_numpy
from aspenpy.probe.observations import observations
from aspenpy.probe.quantities import quantities
from aspenpy.probe.text import About, machine_text
from aspenpy.probe.topology import Topology, topology
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
    host = topology(Path("/"), os.sched_getaffinity(0))
    chosen = compiler()
    if chosen is None:
        remark = "There is no C compiler: NumPy measured what it can; all else is assumed."
        return _make_probe(name, host, numbers_by_numpy(host, watch), remark)
    with program(chosen) as target:
        before, began = package_energies(), monotonic()
        passes = run_benchmarks(target, host, watch)
        watts = [*power(before, package_energies(), monotonic() - began)]
    sent, device = messages(host), kernels()
    beside = numbers_of_messages(sent) | numbers_of_kernels(device.found)
    unmeasured = (remark for remark in (sent.remark, device.remark) if remark)
    remarks = (f"Measured with {Path(chosen).name}.", *watts, *gpus(), *unmeasured)
    return machine_of(name, host, passes, *remarks, beside=beside)


def machine_of(
    name: str,
    host: Topology,
    passes: Sequence[Mapping[str, float]],
    *remarks: str,
    beside: Mapping[str, dict[str, Number]] = NOTHING,
) -> Probe:
    """The machine that passes of the micro-benchmarks describe, and the numbers of parts `beside` the processor."""
    found = quantities(passes)
    numbers = numbers_of(found, host) | dict(beside)
    return _make_probe(name, host, numbers, *remarks, *observations(found, host))


def machine_from(name: str, files: Sequence[str]) -> Probe:
    """The machine that files of other tools describe; nothing is measured. Raises AspenError."""
    found = import_files(files)
    assert found.host is not None
    return _make_probe(name, found.host, found.numbers, f"From {', '.join(files)}; nothing was measured here.")


def _make_probe(name: str, host: Topology, numbers: Numbers, *remarks: str) -> Probe:
    complete = complete_numbers(numbers, host)
    about = About(f"{datetime.now():%Y-%m-%d}", platform.node(), remarks)
    return Probe(machine_text(name, complete, host, about), host, complete)
