"""Topologies from saved trees, and from files of other tools: against what the trees were made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.probe.importers import import_files, parse_count, parse_size
from aspenpy.probe.topology import CacheLevel, parse_processors, read_topology
from tests.probe import trees

FILES = Path(__file__).parent / "files"


def test_two_sockets_of_four_cores(tmp_path: Path) -> None:
    host = read_topology(trees.two_sockets(tmp_path), allowed=range(16))
    assert (host.sockets, host.cores, host.threads, host.domains) == (2, 4, 2, 2)
    assert host.caches == (
        CacheLevel(1, 48 << 10, 8, 64, 1),
        CacheLevel(2, 1280 << 10, 16, 64, 1),
        CacheLevel(3, 24 << 20, 24, 64, 2),
    )
    assert host.processors == (0, 1, 2, 3)
    assert (host.memory, host.hertz) == (64 << 30, 3.4e9)
    assert host.processor == "Made-up(R) 8x2 CPU @ 2.00GHz"
    assert "avx" in host.features


def test_only_processors_that_may_be_used_are_measured(tmp_path: Path) -> None:
    """Core 5 is of the second socket; 9 is the second thread of core 1."""
    root = trees.two_sockets(tmp_path)
    assert read_topology(root, allowed={5, 13}).processors == (5,)
    assert read_topology(root, allowed={9, 3}).processors == (3, 9)


def test_a_board_that_tells_little(tmp_path: Path) -> None:
    host = read_topology(trees.small_board(tmp_path))
    assert (host.sockets, host.cores, host.threads, host.caches, host.memory) == (1, 3, 1, (), None)


def test_other_systems_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AspenError, match="the probe reads the topology of Linux"):
        read_topology(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"), [("0-3,8", {0, 1, 2, 3, 8}), ("", set()), ("5", {5}), ("a-b,2", {2}), ("3-1", set())]
)
def test_lists_of_processors(text: str, expected: set[int]) -> None:
    assert parse_processors(text) == expected


@pytest.mark.parametrize(
    ("name", "sockets", "cores", "threads", "domains", "caches"),
    [
        ("lscpu.json", 2, 8, 2, 2, [(48 << 10, 1), (1280 << 10, 1), (24 << 20, 8)]),
        ("lscpu_old.json", 2, 8, 2, 1, [(32 << 10, 1), (1024 << 10, 1), (16 << 20, 8)]),
        ("hwloc2.xml", 2, 2, 2, 1, [(48 << 10, 1), (1280 << 10, 1), (24 << 20, 2)]),
        ("hwloc1.xml", 1, 2, 1, 1, [(32 << 10, 1), (8 << 20, 2)]),
        ("likwid.txt", 1, 4, 2, 1, [(48 << 10, 1), (1280 << 10, 1), (8 << 20, 4)]),
    ],
)
def test_files_of_other_tools(
    name: str, sockets: int, cores: int, threads: int, domains: int, caches: list[tuple[int, int]]
) -> None:
    host = import_files([str(FILES / name)]).host
    assert host is not None
    assert (host.sockets, host.cores, host.threads, host.domains) == (sockets, cores, threads, domains)
    assert [(cache.capacity, cache.sharing) for cache in host.caches] == caches


def test_stream_says_the_bandwidth_of_all_threads() -> None:
    """Triad counts 24 bytes an element and moves 32; the host has two domains in each of two sockets."""
    found = import_files([str(FILES / "stream.txt"), str(FILES / "lscpu.json")])
    assert found.numbers["memory"]["attained_bandwidth"].value == pytest.approx(90_000e6 * 32 / 24 / 4)
    assert found.host is not None


REFUSED = {
    "no_form.txt": "hello",
    "other.json": '{"a": [1, 2]}',
    "cut.json": '{"lscpu": [',
    "deep.json": "[" * 100 + "{" + "]" * 100,
    "deep_lscpu.json": '{"lscpu":' + "[" * 100_000,
    "no_core.xml": '<topology><object type="Machine"/></topology>',
    "cut.xml": '<topology>\n<object type="Core">\n',
    "laughs.xml": '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<topology>&b;</topology>',
    "outside.xml": '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<topology>&a;</topology>',
    "likwid_without_caches.txt": "Cores per socket:\t4\nCache Topology\n",
    "stream_cut.txt": "Function    Best Rate MB/s  Avg time\nCopy:  1.0 2.0\n",
    "stream_alone.txt": "Function    Best Rate MB/s  Avg time\nTriad:  100.0 2.0\n",
    "empty.txt": "",
}


def test_what_is_refused_is_as_pictured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_pictures: bool) -> None:
    monkeypatch.chdir(tmp_path)
    reports = []
    for name, text in REFUSED.items():
        Path(name).write_text(text, encoding="utf-8")
        with pytest.raises(AspenError) as refused:
            import_files([name])
        reports.append(f"{refused.value}\n")
    picture, found = Path(__file__).parent / "refused_files.txt", "\n".join(reports)
    if update_pictures:
        picture.write_text(found, encoding="utf-8")
    assert found == picture.read_text(encoding="utf-8")


LIKWID = """CPU name:\tSome 8
CPU clock:\t2.61 GHz
Sockets:\t2
Cores per socket:\t4
Threads per core:\t2
Cache Topology
Level:\t\t1
Size:\t\t48 kB
Type:\t\tData cache
Associativity:\t12
Cache line size:\t128
Cache groups:\t( 0 8 ) ( 1 9 )
Level:\t\t1
Size:\t\t32 kB
Type:\t\tInstruction cache
Level:\t\t3
Size:\t\t1.5 MB
Type:\t\tUnified cache
Cache groups:\t( 0 8 1 9 2 10 3 11 ) ( 4 12 5 13 6 14 7 15 )
NUMA Topology
Total memory:\t16 GB
Total memory:\t16 GB
Total memory:\t16 GB
Total memory:\t16 GB
"""


def lscpu(**fields: str) -> str:
    listed = [{"field": f"{name}:", "data": text} for name, text in fields.items()]
    return json.dumps({"lscpu": listed})


CORES = {"CPU(s)": "32", "Socket(s)": "2", "Core(s) per socket": "8", "Thread(s) per core": "2"}


@pytest.mark.parametrize(
    ("text", "clock", "memory", "domains", "caches"),
    [
        (LIKWID, 2.61e9, 64 << 30, 2, [(1, 48 << 10, 12, 128, 1), (3, 1536 << 10, None, None, 4)]),
        (LIKWID.partition("NUMA")[0], 2.61e9, None, 1, [(1, 48 << 10, 12, 128, 1), (3, 1536 << 10, None, None, 4)]),
        (LIKWID.replace("2.61 GHz", "unknown"), None, 64 << 30, 2,
         [(1, 48 << 10, 12, 128, 1), (3, 1536 << 10, None, None, 4)]),
        # 16 caches of 48 KiB, 4 for as many cores each, and of an older version one of each level
        (lscpu(**CORES, **{"L1d cache": "768 KiB (16 instances)", "L3 cache": "64 MiB (4 instances)"}), None, None, 1,
         [(1, 48 << 10, None, None, 1), (3, 16 << 20, None, None, 4)]),
        (lscpu(**CORES, **{"L1d cache": "48 KiB (1 instance)", "CPU max MHz": "3400.5000"}), 3400.5e6, None, 1,
         [(1, 48 << 10, None, None, 16)]),
        (lscpu(**CORES, **{"L1d": "32K", "L2": "1M", "L3": "0", "CPU MHz": "2000", "NUMA node(s)": "4"}), 2e9, None, 2,
         [(1, 32 << 10, None, None, 1), (2, 1 << 20, None, None, 1)]),
        (lscpu(**CORES, **{"L3 cache": "16M", "CPU max MHz": "2500 MHz"}), None, None, 1,
         [(3, 16 << 20, None, None, 8)]),
        (lscpu(**CORES, **{"L2 cache": "64", "NUMA node(s)": "1"}), None, None, 1, [(2, 64, None, None, 1)]),
    ],
)  # fmt: skip
def test_all_that_a_file_of_another_tool_says(
    text: str, clock: float | None, memory: int | None, domains: int, caches: list[tuple[object, ...]], tmp_path: Path
) -> None:
    (tmp_path / "host").write_text(text, encoding="utf-8")
    host = import_files([str(tmp_path / "host")]).host
    assert host is not None
    assert (host.sockets, host.threads, host.hertz, host.memory, host.domains) == (2, 2, clock, memory, domains)
    assert [tuple(getattr(each, name) for name in CacheLevel._fields) for each in host.caches] == caches


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        *(("32K", 32 << 10), ("32 kB", 32 << 10), ("1.25 MB", 1280 << 10), ("3 GiB", 3 << 30), ("2T", 2 << 40)),
        *(("64", 64), ("64 B", 64), (" 7 MiB (1 instance)", 7 << 20), ("1.5", 2), ("K", None), ("", None)),
    ],
)
def test_sizes_that_tools_write(text: str, bytes_: int | None) -> None:
    assert parse_size(text) == bytes_


@pytest.mark.parametrize(
    ("text", "without", "count"),
    [("8", 1, 8), ("0", 1, 1), (" 12 cores", 1, 12), ("", 1, 1), (None, 7, 7), ("x", 0, 0), ("9", 1, 9), ("99", 1, 50)],
)
def test_counts_that_tools_write(text: str | None, without: int, count: int) -> None:
    """From 1 on, and no more than 50 here."""
    assert parse_count(text, without, 50) == count


@pytest.mark.parametrize(("size", "line", "is_refused"), [
    ("63", "64", True), ("64", "64", False), ("127", "128", True), ("128", "128", False), ("63", None, True),
    ("64", None, False),
])  # fmt: skip
def test_a_cache_holds_a_line(size: str, line: str | None, is_refused: bool, tmp_path: Path) -> None:
    """Of 64 bytes where the file does not say."""
    cache = f'<object type="L1Cache" cache_size="{size}"' + (f' cache_linesize="{line}"/>' if line else "/>")
    cores = '<object type="Core"/><object type="PU"/>'
    (tmp_path / "host.xml").write_text(f'<topology><object type="Machine"/>{cache}{cores}</topology>', encoding="utf-8")
    if is_refused:
        with pytest.raises(AspenError, match=f"the cache of level 1 has {size} bytes, less than a line"):
            import_files([str(tmp_path / "host.xml")])
        return
    host = import_files([str(tmp_path / "host.xml")]).host
    assert host is not None
    assert host.caches == (CacheLevel(1, int(size), None, int(line or 64), 1),)


@pytest.mark.parametrize(
    ("threads", "name"), [("", "core_bandwidth"), ("1", "core_bandwidth"), ("2", "attained_bandwidth")]
)
def test_stream_of_one_thread_says_the_bandwidth_of_one_core(threads: str, name: str, tmp_path: Path) -> None:
    """Two sockets with one memory each share what all threads attain; the triad of 30 GB/s moves 4 words, not 3."""
    said = f"Number of Threads counted = {threads}\n" if threads else ""
    (tmp_path / "stream").write_text(f"{said}Function  Best Rate MB/s\nTriad: 30000.0 1\n", encoding="utf-8")
    (tmp_path / "host").write_text(lscpu(**CORES), encoding="utf-8")
    found = import_files([str(tmp_path / "stream"), str(tmp_path / "host")]).numbers["memory"]
    rate = 40e9 / (2 if name.startswith("attained") else 1)
    assert {each: number.value for each, number in found.items()} == {
        name: pytest.approx(rate),
        name.replace("_b", "_store_b"): pytest.approx(rate),
    }
    assert found[name].source.endswith("; of 2 memories") is name.startswith("attained")
