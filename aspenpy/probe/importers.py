"""Importers of other tools' descriptions of a host: `lscpu -J`, hwloc's XML, `likwid-topology`, STREAM; told apart by
how they look."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn
from xml.parsers import expat

from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span
from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.topology import CacheLevel, HostTopology
from aspenpy.record import Record

MOST = 10**6
"""The largest number of anything that there can be in a node."""

MOST_BYTES = 10**15

UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Imported(Record):
    """The topology and the numbers that a file has, either of which may be missing."""

    host: HostTopology | None
    numbers: Numbers


def refuse(source: Source, message: str, span: Span | None = None, hint: str | None = None) -> NoReturn:
    """Refuses a file, at a place in it."""
    fail("bad-topology", message, span or Span(source, 0, min(1, len(source.text))), hint=hint)


def parse_count(text: str | None, without: int = 1, most: int = MOST) -> int:
    """A whole number from 1 on; `without` where the text is none, `most` where it is more."""
    match = re.match(r"\s*(\d{1,15})\b", text or "")
    return without if match is None else max(1, min(most, int(match[1])))


def parse_size(text: str) -> int | None:
    """Bytes of `32K`, `1.25 MB`, `32 MiB (1 instance)`; None where there is no number."""
    match = re.match(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?[Bb])?\b", text.replace("k", "K"))
    return None if match is None else round(float(match[1]) * UNITS[match[2]])


# -- lscpu -J: fields with their data, in a list or, since util-linux 2.37, below headings -------------

LSCPU_LEVELS = {"L1d": 1, "L2": 2, "L3": 3}
DEEPEST = 20


def read_lscpu(source: Source) -> Imported:
    """Raises AspenError where it is no output of `lscpu -J`."""
    try:
        document = json.loads(source.text)
    except (ValueError, RecursionError):
        document = None
    fields = dict(_list_lscpu_fields(document.get("lscpu"))) if isinstance(document, dict) else {}
    if "CPU(s)" not in fields:
        refuse(source, "the file is not output of `lscpu -J`: it has no field `CPU(s)`")
    sockets, threads = parse_count(fields.get("Socket(s)")), parse_count(fields.get("Thread(s) per core"))
    cores = parse_count(fields.get("Core(s) per socket") or fields.get("Core(s) per cluster"))
    nodes = parse_count(fields.get("NUMA node(s)"))
    megahertz = re.match(r"\d{1,6}(\.\d{1,6})?$", fields.get("CPU max MHz") or fields.get("CPU MHz") or "")
    host = HostTopology(
        processor=fields.get("Model name", "unknown processor"),
        said_by="lscpu",
        sockets=sockets,
        cores=cores,
        threads=threads,
        domains=max(1, nodes // sockets),
        caches=tuple(_read_lscpu_caches(fields, sockets, cores)),
        features=frozenset(fields.get("Flags", "").split()),
        hertz=float(megahertz[0]) * 1e6 if megahertz else None,
    )
    return Imported(host, {})


def _list_lscpu_fields(items: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    for item in items if isinstance(items, list) and depth < DEEPEST else []:
        if isinstance(item, dict):
            if isinstance(item.get("data"), str):
                yield str(item.get("field", "")).rstrip(":"), item["data"]
            yield from _list_lscpu_fields(item.get("children"), depth + 1)


def _read_lscpu_caches(fields: dict[str, str], sockets: int, cores: int) -> Iterator[CacheLevel]:
    """Newer versions state all instances of a cache together, with their number; older ones one of them."""
    for name, level in LSCPU_LEVELS.items():
        text = fields.get(f"{name} cache") or fields.get(name)
        whole = parse_size(text) if text else None
        if text is None or not whole:
            continue
        match = re.search(r"\((\d{1,6}) instances?\)", text)
        if match is None:
            yield CacheLevel(level, whole, sharing=cores if level == 3 else 1)
        else:
            instances = max(1, int(match[1]))
            yield CacheLevel(level, whole // instances, sharing=max(1, sockets * cores // instances))


# -- likwid-topology, best with -c, which tells ways and lines of caches -------------------------------

LIKWID_FIELD = re.compile(r"^([A-Z][A-Za-z ]{1,40}):[ \t]++(.*\S)[ \t]*$", re.MULTILINE)


def read_likwid_topology(source: Source) -> Imported:
    """Raises AspenError where it tells no caches."""
    head, _, rest = source.text.partition("Cache Topology")
    caches, _, domains = rest.partition("NUMA Topology")
    fields = dict(LIKWID_FIELD.findall(head))
    sockets, threads = parse_count(fields.get("Sockets")), parse_count(fields.get("Threads per core"))
    levels = tuple(_read_likwid_caches(caches, threads))
    if not levels:
        refuse(source, "the output of likwid-topology lists no caches", hint="likwid-topology -c > host.txt")
    memory = [parse_size(text) or 0 for text in re.findall(r"^Total memory:\s+(.*)$", domains, re.MULTILINE)]
    clock = re.match(r"(\d{1,3}(?:\.\d{1,9})?) GHz", fields.get("CPU clock", ""))
    host = HostTopology(
        processor=fields.get("CPU name", "unknown processor"),
        said_by="likwid-topology",
        sockets=sockets,
        cores=parse_count(fields.get("Cores per socket")),
        threads=threads,
        domains=max(1, len(memory) // sockets),
        memory=sum(memory) or None,
        caches=levels,
        hertz=float(clock[1]) * 1e9 if clock else None,
    )
    return Imported(host, {})


def _read_likwid_caches(text: str, threads: int) -> Iterator[CacheLevel]:
    for part in re.split(r"^(?=Level:)", text, flags=re.MULTILINE)[1:]:
        fields = dict(LIKWID_FIELD.findall(part))
        capacity = parse_size(fields.get("Size", ""))
        groups = re.match(r"\(([\d ]*)\)", fields.get("Cache groups", ""))
        users = parse_count(fields.get("Shared by threads"), len(groups[1].split()) if groups else 1)
        if capacity and "nstruction" not in fields.get("Type", ""):
            ways, line = (fields.get(name) for name in ("Associativity", "Cache line size"))
            sharing = max(1, users // threads)
            yield CacheLevel(
                parse_count(fields.get("Level")),
                capacity,
                parse_count(ways) if ways else None,
                parse_count(line) if line else None,
                sharing,
            )


# -- STREAM (McCalpin): the bandwidth that all threads, or one, attain ---------------------------------

STREAM_RATE = re.compile(r"^(Copy|Scale|Add|Triad):\s+(\d{1,9}(?:\.\d{1,6})?)", re.MULTILINE)

ALLOCATED = 4 / 3
"""Bytes that the triad moves over those that STREAM counts: stores fetch their lines before they write them."""


def read_stream(source: Source) -> Imported:
    """Bandwidth of one core where one thread ran, else of all. Raises AspenError where there is no triad."""
    rates = {name: float(rate) for name, rate in STREAM_RATE.findall(source.text)}
    if not rates.get("Triad"):
        refuse(source, "the output of STREAM has no rate of Triad")
    threads = re.findall(r"Number of Threads (?:counted|requested) = (\d{1,6})", source.text)
    count = parse_count(threads[-1]) if threads else 1
    name = "core" if count == 1 else "attained"
    said = f"STREAM, triad on {count} threads, times 4/3: assumed: no non-temporal stores"
    rate = Number(rates["Triad"] * 1e6 * ALLOCATED, "B/s", said)
    return Imported(None, {"memory": {f"{name}_bandwidth": rate, f"{name}_store_bandwidth": rate}})


# -- hwloc (lstopo --of xml), of version 2 and of version 1 --------------------------------------------

Attributes = Mapping[str, str]


def read_hwloc(source: Source) -> Imported:
    """Raises AspenError where it is no topology, or declares entities: none is ever expanded or fetched."""
    tree = _Tree(source)
    try:
        tree.parser.Parse(source.text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        refuse(
            source,
            f"the XML is not well-formed: {expat.errors.messages[error.code]}",
            _span_of_line(source, error.lineno),
        )
    except _Entity:
        refuse(
            source,
            "the XML declares entities, which topologies have no use for",
            _span_of_line(source, tree.parser.CurrentLineNumber),
        )
    if not tree.found["PU"] or not tree.found["Core"]:
        refuse(source, "the file is not a topology of hwloc: it has no object of type Core with a PU")
    sockets = tree.found["Package"] or tree.found["Socket"] or 1
    host = HostTopology(
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


def _span_of_line(source: Source, line: int) -> Span:
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
        number = int(ways) if ways.isdecimal() and int(ways[:9]) > 0 else None
        return CacheLevel(
            level, parse_count(stated.get("cache_size"), most=MOST_BYTES), number, parse_count(line, 64), sharing
        )

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
            self.memory += parse_count(attributes.get("local_memory"), 0, MOST_BYTES)
        level = attributes.get("depth", "")
        if kind in ("L1Cache", "L2Cache", "L3Cache") or (kind == "Cache" and attributes.get("cache_type") != "2"):
            if not re.fullmatch(r"\d{1,15}", size := attributes.get("cache_size", "0")):
                span = _span_of_line(self.source, self.parser.CurrentLineNumber)
                refuse(self.source, f"the size of a cache is a number of bytes, not `{size[:40]}`", span)
            if not int(size):  # not known
                return
            number = int(kind[1]) if kind[1].isdecimal() else parse_count(level)
            self.caches.setdefault(number, attributes)
            self.counted[number] += 1


# -- Any of them ---------------------------------------------------------------------------------------

FORMS: tuple[tuple[Callable[[str], bool], Callable[[Source], Imported]], ...] = (
    (lambda text: "Best Rate MB/s" in text, read_stream),
    (lambda text: "Cores per socket:" in text and "Cache Topology" in text, read_likwid_topology),
    (lambda text: text.lstrip()[:1] == "{", read_lscpu),
    (lambda text: text.lstrip()[:1] == "<", read_hwloc),
)
"""Recognisers of the forms of files with their readers; the first that fits reads a file."""

LINE = 64  # bytes of a cache line where the file does not say
HINT = "files of `lscpu -J`, `lstopo --of xml`, `likwid-topology -c` and STREAM are read"


def import_files(paths: Sequence[str]) -> Imported:
    """Reads some files together: the topology of the first that has one, and the numbers of all. Raises AspenError
    where a file is of none of the forms, and where no file has a topology."""
    imported = [_import_source(Reader(allow_outside=True).read(path)) for path in paths]
    host = next((item.host for item in imported if item.host is not None), None)
    if host is None:
        fail("no-topology", f"no topology of a processor in {', '.join(paths)}", hint=HINT)
    numbers: Numbers = {}
    for file in imported:
        for part, values in file.numbers.items():
            numbers[part] = numbers.get(part, {}) | {
                name: _share_of_one_memory(name, item, host) for name, item in values.items()
            }
    return Imported(host, numbers)


def _share_of_one_memory(name: str, number: Number, host: HostTopology) -> Number:
    """One memory's share of an attained bandwidth: STREAM runs on all sockets."""
    memories = host.sockets * host.domains
    if not name.startswith("attained") or memories == 1:
        return number
    return number.replace(value=number.value / memories, source=f"{number.source}; of {memories} memories")


def _import_source(source: Source) -> Imported:
    for looks_like, read in FORMS:
        if looks_like(source.text):
            imported = read(source)
            for cache in () if imported.host is None else imported.host.caches:
                if cache.capacity < (cache.line or LINE):
                    refuse(source, f"the cache of level {cache.level} has {cache.capacity} bytes, less than a line")
            return imported
    refuse(source, "the format of the file is not known", hint=HINT)
