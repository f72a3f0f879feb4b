"""hwloc's XML (`lstopo --of xml`), of version 2 and of version 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from aspenpy.language.source import Source, Span
from aspenpy.probe.importers.imported import MOST_BYTES, Imported, count, refuse
from aspenpy.probe.topology import CacheLevel, Topology

Attributes = Mapping[str, str]


def is_hwloc(text: str) -> bool:
    return text.lstrip()[:1] == "<"


def read_hwloc(source: Source) -> Imported:
    """Raises AspenError where it is no topology, or declares entities: none is ever expanded or fetched."""
    tree = _Tree(source)
    try:
        tree.parser.Parse(source.text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        refuse(source, f"the XML is not well-formed: {expat.errors.messages[error.code]}", _line(source, error.lineno))
    except _Entity:
        refuse(
            source,
            "the XML declares entities, which topologies have no use for",
            _line(source, tree.parser.CurrentLineNumber),
        )
    if not tree.found["PU"] or not tree.found["Core"]:
        refuse(source, "the file is not a topology of hwloc: it has no object of type Core with a PU")
    sockets = tree.found["Package"] or tree.found["Socket"] or 1
    host = Topology(
        processor=tree.processor,
        said_by="hwloc",
        sockets=sockets,
        cores=max(1, tree.found["Core"] // sockets),
        threads=max(1, tree.found["PU"] // tree.found["Core"]),
        domains=max(1, tree.found["NUMANode"] // sockets),
        memory=tree.memory or None,
        caches=tuple(sorted((tree.cache(level) for level in tree.caches), key=lambda cache: cache.level)),
    )
    return Imported(host, {})


class _Entity(Exception):
    """The document declares an entity."""


def _line(source: Source, line: int) -> Span:
    starts = [0]
    for text in source.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    start = starts[min(max(0, line - 1), len(starts) - 1)]
    return Span(source, start, min(start + 1, len(source.text)))


class _Tree:
    """Objects counted by type, and the first cache of each level."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: Counter[str] = Counter()
        self.caches: dict[int, Attributes] = {}
        self.counted: Counter[int] = Counter()
        self.memory = 0
        self.processor = "unknown processor"
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EntityDeclHandler = self._refuse

    def cache(self, level: int) -> CacheLevel:
        stated = self.caches[level]
        ways, line = (stated.get(f"cache_{name}", "") for name in ("associativity", "linesize"))
        sharing = max(1, self.found["Core"] // self.counted[level])
        known = int(ways) if ways.isdecimal() and int(ways[:9]) > 0 else None
        return CacheLevel(level, count(stated.get("cache_size"), most=MOST_BYTES), known, count(line, 64), sharing)

    def _refuse(self, *declared: Any) -> None:
        raise _Entity

    def _start(self, name: str, attributes: Attributes) -> None:
        if name == "info" and attributes.get("name") == "CPUModel":
            self.processor = attributes.get("value", self.processor)
        if name != "object":
            return
        kind = attributes.get("type", "")
        self.found[kind] += 1
        if kind == "NUMANode" or "local_memory" in attributes:
            self.memory += count(attributes.get("local_memory"), 0, MOST_BYTES)
        level = attributes.get("depth", "")
        if kind in ("L1Cache", "L2Cache", "L3Cache") or (kind == "Cache" and attributes.get("cache_type") != "2"):
            if not re.fullmatch(r"\d{1,15}", size := attributes.get("cache_size", "0")):
                place = _line(self.source, self.parser.CurrentLineNumber)
                refuse(self.source, f"the size of a cache is a number of bytes, not `{size[:40]}`", place)
            if not int(size):  # not known
                return
            number = int(kind[1]) if kind[1].isdecimal() else count(level)
            self.caches.setdefault(number, attributes)
            self.counted[number] += 1
