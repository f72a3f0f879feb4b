"""Topologies from saved trees, and from files of other tools: against what the trees were made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.probe.importers import import_files
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
