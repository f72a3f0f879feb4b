"""The probe: the machine model of the host that this runs on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic

from aspenpy.assembly.mca import GENERIC, find_simulator
from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe.assumed import complete_numbers
from aspenpy.probe.benchmark import Watch, compile_program, ignore_progress, measure_by_numpy, run_benchmarks
from aspenpy.probe.importers import import_files
from aspenpy.probe.kernels import derive_gpu_numbers, measure_kernels
from aspenpy.probe.measured import derive_numbers, find_cache_turn
from aspenpy.probe.messages import derive_message_numbers, measure_messages
from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.quantity import UNCERTAIN, Quantities, combine_passes
from aspenpy.probe.text import About, write_machine
from aspenpy.probe.topology import HostTopology, read_topology
from aspenpy.record import Record

RAPL = "sys/class/powercap"
QUERY = ("--query-gpu=name,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader")
LIMIT = 10.0
MOST_GPUS = 16


def read_package_energies(root: Path = Path("/")) -> dict[str, int]:
    """Microjoules that each package has drawn so far, by RAPL; none where the system lets nobody read it."""
    energies = {}
    for folder in (root / RAPL).glob("intel-rapl:*"):
        try:
            if (folder / "name").read_text(encoding="utf-8").startswith("package"):
                energies[folder.name] = int((folder / "energy_uj").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return energies


def describe_power(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> Iterator[str]:
    """A remark on each package; none on one whose counter began again meanwhile."""
    for name in sorted(before.keys() & after.keys()):
        joules = (after[name] - before[name]) / 1e6
        if joules > 0:
            yield f"Power of {name} while measuring: {joules / seconds:.3g} W (RAPL)."


def describe_gpus() -> Iterator[str]:
    """A remark on each GPU that nvidia-smi knows."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    try:
        text = subprocess.run([program, *QUERY], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in text.splitlines()[:MOST_GPUS]:
        yield f"GPU: {line.strip()} (nvidia-smi)."


OVERLAPPING = 0.5
"""The part of the shorter of two times that is hidden from which on levels are said to overlap."""

EACH_FINDS_ALL = 0.75
"""The part of what one core finds of a shared cache alone that each finds beside the others: from it on, all of it."""


def describe_measurements(results: Quantities, host: HostTopology) -> Iterator[str]:
    """Pages, overlap, outstanding lines, what cores find of a cache at once, and how much is uncertain."""
    yield from _describe_pages(results)
    yield from _describe_overlaps(results)
    yield from _describe_outstanding_lines(results)
    yield from _describe_saturation(results, len(host.processors))
    yield from _describe_private_caches(results, host)
    uncertain = [name for name, item in results.items() if item.spread > UNCERTAIN]
    if uncertain:
        share = f"{len(uncertain)} of {len(results)}"
        yield f"{share} measurements spread by over {UNCERTAIN:.0%}: others use this host."


def _describe_pages(results: Quantities) -> Iterator[str]:
    for level, name in (("second", "second cache"), ("third", "third cache"), ("memory", "memory")):
        values = [results.get(f"{level}{kind}_latency") for kind in ("", "_huge", "_small")]
        if None not in values:
            texts = [Number(item.value, "s", "").text for item in values if item is not None]
            yield f"Latency of the {name}: {texts[0]} with pages of the system, {texts[1]} huge, {texts[2]} of 4 KiB."


def _describe_overlaps(results: Quantities) -> Iterator[str]:
    for level, name in (("second", "the second cache"), ("memory", "memory")):
        times = [results.get(f"overlap_{level}_{which}_latency") for which in ("far", "near", "both")]
        if None in times:
            continue
        far, near, both = (item.value for item in times if item is not None)
        hidden = (far + near - both) / min(far, near)
        verb = "overlap" if hidden > OVERLAPPING else "add to"
        share = max(0.0, min(1.0, hidden))
        yield f"Loads from {name} {verb} those from the first cache: {share:.0%} of the shorter time is hidden."


def _describe_outstanding_lines(results: Quantities) -> Iterator[str]:
    for level, name in (("second", "second cache"), ("third", "third cache")):
        chains = [item.value for key, item in results.items() if key.startswith(f"{level}_chains_")]
        if chains and f"{level}_latency" in results:
            yield f"Outstanding misses of the {name}: {results[f'{level}_latency'].value / min(chains):.0f}."


def _describe_saturation(results: Quantities, cores: int) -> Iterator[str]:
    """Bandwidth of memory on one core, on twice as many each time, and on all."""
    counts = [1, *(2**power for power in range(1, cores.bit_length()) if 2**power < cores), cores]
    names = ["memory_load_core", *(f"memory_load_on_{count}" for count in counts[1:-1]), "memory_load_all"]
    if cores > 1 and all(name in results for name in names):
        rates = ", ".join(
            f"{count}: {results[name].value / 1e9:.3g}" for count, name in zip(counts, names, strict=True)
        )
        yield f"Loads from memory by the number of cores, GB/s: {rates}."


def _describe_private_caches(results: Quantities, host: HostTopology) -> Iterator[str]:
    """Notes a shared third-level cache in which each of several cores finds as much as one core alone: the system, or
    the hypervisor, gives each core a part of its own, and the capacity in the model is that of one part."""
    third, alone, together = host.cache(3), find_cache_turn(results, 2), find_cache_turn(results, 2, "ring_all_")
    if third is None or third.sharing < 2 or alone is None or together is None:
        return
    if together >= EACH_FINDS_ALL * alone:
        size = Number(round(together / 2**10) * 2**10, "B", "").text
        yield f"Cores that share the third cache find {size} of it each at once, as much as one alone."


NOTHING: Numbers = {}


class Probe(Record):
    """A machine model, and what it was made of."""

    text: str
    host: HostTopology
    numbers: Numbers


def probe(name: str, watch: Watch = ignore_progress) -> Probe:
    """Measures this host as a machine of that `name`, in some ten seconds; without a C compiler, what NumPy
    can measure. `watch` is told of progress.

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
    beside = derive_message_numbers(sent) | derive_gpu_numbers(device.found) | _find_scheduling_model()
    unmeasured = (remark for remark in (sent.remark, device.remark) if remark)
    remarks = (f"Measured with {Path(chosen).name}.", *watts, *describe_gpus(), *unmeasured)
    return build_machine(name, host, passes, *remarks, beside=beside)


def _find_scheduling_model() -> Numbers:
    """The name that LLVM has for this host's processor, where llvm-mca says it."""
    simulator = find_simulator()
    if simulator is None or simulator.host == GENERIC:
        return {}
    word = simulator.host.replace("-", "_")
    return {"core": {"scheduling_model": Number(0, "", f"llvm-mca {simulator.version}", word)}}


def build_machine(
    name: str,
    host: HostTopology,
    passes: Sequence[Mapping[str, float]],
    *remarks: str,
    beside: Mapping[str, dict[str, Number]] = NOTHING,
) -> Probe:
    """The machine that passes of the micro-benchmarks describe, and the numbers of parts `beside` the processor."""
    results = combine_passes(passes)
    numbers = derive_numbers(results, host)
    for part, more in beside.items():
        numbers[part] = numbers.get(part, {}) | more
    return _make_probe(name, host, numbers, *remarks, *describe_measurements(results, host))


def import_machine(name: str, files: Sequence[str]) -> Probe:
    """The machine that files of other tools describe; nothing is measured. Raises AspenError."""
    imported = import_files(files)
    assert imported.host is not None
    return _make_probe(name, imported.host, imported.numbers, f"From {', '.join(files)}; nothing was measured here.")


def _make_probe(name: str, host: HostTopology, numbers: Numbers, *remarks: str) -> Probe:
    complete = complete_numbers(numbers, host)
    about = About(f"{datetime.now():%Y-%m-%d}", platform.node(), remarks)
    return Probe(write_machine(name, complete, host, about), host, complete)
