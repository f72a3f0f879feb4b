"""Reading files of other tools, told apart by how they look."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.source import Source
from aspenpy.probe.importers.hwloc import is_hwloc, read_hwloc
from aspenpy.probe.importers.imported import Imported, refuse
from aspenpy.probe.importers.likwid_topology import is_likwid_topology, read_likwid_topology
from aspenpy.probe.importers.lscpu import is_lscpu, read_lscpu
from aspenpy.probe.importers.stream import is_stream, read_stream
from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.topology import Topology

FORMS: tuple[tuple[Callable[[str], bool], Callable[[Source], Imported]], ...] = (
    (is_stream, read_stream),
    (is_likwid_topology, read_likwid_topology),
    (is_lscpu, read_lscpu),
    (is_hwloc, read_hwloc),
)
LINE = 64  # bytes of a cache line where the file does not say
HINT = "files of `lscpu -J`, `lstopo --of xml`, `likwid-topology -c` and STREAM are read"


def import_files(paths: Sequence[str]) -> Imported:
    """What some files say together: the topology of the first that has one, and the numbers of all. Raises AspenError
    where a file is of none of the forms, and where no file has a topology."""
    found = [_import_source(Reader(allow_outside=True).read(path)) for path in paths]
    host = next((item.host for item in found if item.host is not None), None)
    if host is None:
        fail("no-topology", f"no topology of a processor in {', '.join(paths)}", hint=HINT)
    numbers: Numbers = {}
    for file in found:
        for part, values in file.numbers.items():
            numbers[part] = numbers.get(part, {}) | {name: _of_one(name, item, host) for name, item in values.items()}
    return Imported(host, numbers)


def _of_one(name: str, number: Number, host: Topology) -> Number:
    """What all memories attain together, of one of them: STREAM runs on all sockets."""
    memories = host.sockets * host.domains
    if not name.startswith("attained") or memories == 1:
        return number
    return number.replace(value=number.value / memories, source=f"{number.source}; of {memories} memories")


def _require_caches(source: Source, host: Topology | None) -> None:
    """Refuses a cache that does not hold a line."""
    for cache in () if host is None else host.caches:
        if cache.capacity < (cache.line or LINE):
            refuse(source, f"the cache of level {cache.level} has {cache.capacity} bytes, less than a line")


def _import_source(source: Source) -> Imported:
    for looks_like, read in FORMS:
        if looks_like(source.text):
            found = read(source)
            _require_caches(source, found.host)
            return found
    refuse(source, "the format of the file is not known", hint=HINT)
