"""`likwid-topology`, best with `-c`, which tells ways and lines of caches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aspenpy.language.source import Source
from aspenpy.probe.importers.imported import Imported, count, refuse, size
from aspenpy.probe.topology import CacheLevel, Topology

_FIELD = re.compile(r"^([A-Z][A-Za-z ]{1,40}):[ \t]++(.*\S)[ \t]*$", re.MULTILINE)


def is_likwid_topology(text: str) -> bool:
    return "Cores per socket:" in text and "Cache Topology" in text


def read_likwid_topology(source: Source) -> Imported:
    """Raises AspenError where it tells no caches."""
    head, _, rest = source.text.partition("Cache Topology")
    caches, _, domains = rest.partition("NUMA Topology")
    fields = dict(_FIELD.findall(head))
    sockets, threads = count(fields.get("Sockets")), count(fields.get("Threads per core"))
    found = tuple(_caches(caches, threads))
    if not found:
        refuse(source, "the output of likwid-topology lists no caches", hint="likwid-topology -c > host.txt")
    memory = [size(text) or 0 for text in re.findall(r"^Total memory:\s+(.*)$", domains, re.MULTILINE)]
    clock = re.match(r"(\d{1,3}(?:\.\d{1,9})?) GHz", fields.get("CPU clock", ""))
    host = Topology(
        processor=fields.get("CPU name", "unknown processor"),
        said_by="likwid-topology",
        sockets=sockets,
        cores=count(fields.get("Cores per socket")),
        threads=threads,
        domains=max(1, len(memory) // sockets),
        memory=sum(memory) or None,
        caches=found,
        hertz=float(clock[1]) * 1e9 if clock else None,
    )
    return Imported(host, {})


def _caches(text: str, threads: int) -> Iterator[CacheLevel]:
    for part in re.split(r"^(?=Level:)", text, flags=re.MULTILINE)[1:]:
        fields = dict(_FIELD.findall(part))
        capacity = size(fields.get("Size", ""))
        groups = re.match(r"\(([\d ]*)\)", fields.get("Cache groups", ""))
        users = count(fields.get("Shared by threads"), len(groups[1].split()) if groups else 1)
        if capacity and "nstruction" not in fields.get("Type", ""):
            ways, line = (fields.get(name) for name in ("Associativity", "Cache line size"))
            sharing = max(1, users // threads)
            yield CacheLevel(
                count(fields.get("Level")),
                capacity,
                count(ways) if ways else None,
                count(line) if line else None,
                sharing,
            )
