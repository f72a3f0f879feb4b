"""`lscpu -J`: fields with their data, in a list or, since util-linux 2.37, below headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from aspenpy.language.source import Source
from aspenpy.probe.importers.imported import Imported, count, refuse, size
from aspenpy.probe.topology import CacheLevel, Topology

LEVELS = {"L1d": 1, "L2": 2, "L3": 3}
DEEPEST = 20


def is_lscpu(text: str) -> bool:
    return text.lstrip()[:1] == "{"


def read_lscpu(source: Source) -> Imported:
    """Raises AspenError where it is no output of `lscpu -J`."""
    try:
        document = json.loads(source.text)
    except (ValueError, RecursionError):
        document = None
    fields = dict(_fields(document.get("lscpu"))) if isinstance(document, dict) else {}
    if "CPU(s)" not in fields:
        refuse(source, "the file is not output of `lscpu -J`: it has no field `CPU(s)`")
    sockets, threads = count(fields.get("Socket(s)")), count(fields.get("Thread(s) per core"))
    cores = count(fields.get("Core(s) per socket") or fields.get("Core(s) per cluster"))
    nodes = count(fields.get("NUMA node(s)"))
    megahertz = re.match(r"\d{1,6}(\.\d{1,6})?$", fields.get("CPU max MHz") or fields.get("CPU MHz") or "")
    host = Topology(
        processor=fields.get("Model name", "unknown processor"),
        said_by="lscpu",
        sockets=sockets,
        cores=cores,
        threads=threads,
        domains=max(1, nodes // sockets),
        caches=tuple(_caches(fields, sockets, cores)),
        features=frozenset(fields.get("Flags", "").split()),
        hertz=float(megahertz[0]) * 1e6 if megahertz else None,
    )
    return Imported(host, {})


def _fields(items: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    for item in items if isinstance(items, list) and depth < DEEPEST else []:
        if isinstance(item, dict):
            if isinstance(item.get("data"), str):
                yield str(item.get("field", "")).rstrip(":"), item["data"]
            yield from _fields(item.get("children"), depth + 1)


def _caches(fields: dict[str, str], sockets: int, cores: int) -> Iterator[CacheLevel]:
    """Newer versions state all instances of a cache together, with their number; older ones one of them."""
    for name, level in LEVELS.items():
        text = fields.get(f"{name} cache") or fields.get(name)
        whole = size(text) if text else None
        if text is None or not whole:
            continue
        found = re.search(r"\((\d{1,6}) instances?\)", text)
        if found is None:
            yield CacheLevel(level, whole, sharing=cores if level == 3 else 1)
        else:
            instances = max(1, int(found[1]))
            yield CacheLevel(level, whole // instances, sharing=max(1, sockets * cores // instances))
