"""The probe: the machine model of the host that this runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from aspenpy.probe.assumed import completed
from aspenpy.probe.benchmark import Watch, compiler, measured, program, unwatched
from aspenpy.probe.measured import numbers_of, shared_as_measured
from aspenpy.probe.number import Numbers
from aspenpy.probe.quantities import Quantities, quantities
from aspenpy.probe.text import About, machine_text
from aspenpy.probe.topology import Topology, topology
from aspenpy.record import Record


class Probe(Record):
    """A machine model, and what it was made of."""

    name: str
    text: str
    host: Topology
    numbers: Numbers
    measured: Quantities


def probe(name: str, watch: Watch = unwatched) -> Probe:
    """The machine `name`: this host, measured. Raises AspenError where it cannot be."""
    host = topology(Path("/"), os.sched_getaffinity(0))
    chosen = compiler()
    assert chosen is not None
    with program(chosen) as target:
        passes = measured(target, host, watch)
    return machine_of(name, host, passes, f"Measured with {Path(chosen).name}.")


def machine_of(name: str, host: Topology, passes: Sequence[Mapping[str, float]], *remarks: str) -> Probe:
    """The machine that passes of the micro-benchmarks describe."""
    found = quantities(passes)
    host = shared_as_measured(host, found)
    numbers = completed(numbers_of(found, host), host)
    about = About(f"{datetime.now():%Y-%m-%d}", platform.node(), remarks)
    return Probe(name, machine_text(name, numbers, host, about), host, numbers, found)
