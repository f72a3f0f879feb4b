"""Profiles of Score-P and Scalasca: `profile.cubex`, by pycubexr.

A `.cubex` is a tar archive of `anchor.xml`, with metrics, call tree and locations, and for each metric of an index and
values, those of all locations for one node of the call tree after the other ("Cube 4.x file format", Cube's
documentation). The library reads what it finds whole, so that sizes are looked at first. It refuses trees with metrics
that formulas of CubePL give, as Scalasca's `summary.cubex` and `cube_remap2` have; times and visits are values there as
well ("copied from the summary profile", Score-P's `scorep.spec`), and the formulas are not needed.
"""

from __future__ import annotations

import gzip
import tarfile
import warnings
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Literal
from xml.etree import ElementTree

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_whole_file
from aspenpy.learn.measurements.sheet import MeasurementSheet, tabulate_rows

MOST_BYTES = 64 * 2**20
"""Largest file, and most that its values take decompressed."""

MOST_TREE = 16 * 2**20
"""Most that `anchor.xml` takes decompressed: its tree of Python objects is some thirty times as large."""

MOST_REGIONS = 10_000
PACKED = b"ZCUBEX.DATA"


def read_cubex(path: Path) -> MeasurementSheet:
    """One row per region with its own seconds and calls in all its paths: of a rank those of its slowest thread, of
    several ranks the mean of those that it ran on. Raises AspenError."""
    try:
        import pycubexr  # noqa: F401
    except ImportError:
        fail("missing-library", "profiles of Score-P need pycubexr: pip install 'aspenpy[cube]'")
    content = read_whole_file(path, MOST_BYTES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CubeWriter 4.8 writes checksums that are none, of which it warns
            _require_small(content)
            times, calls = _read_profile(content)
    except (MemoryError, Exception) as error:  # it asserts, indexes and unpacks what files claim
        hint = "what is read is the `profile.cubex` that Score-P writes, and what Scalasca makes of it"
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        fail("no-profile", f"`{path}` cannot be read as a profile of Score-P ({why})", hint=hint)
    rows = [
        {"region": name, "calls": calls.get(name, 0) or "", "runtime [s]": time} for name, time in times.items() if time
    ]
    if not rows:
        fail("no-measurements", f"no region of `{path}` took any time")
    return tabulate_rows(rows, MOST_REGIONS)


def _read_profile(content: bytes) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds and calls of the regions."""
    from pycubexr import CubexParser
    from pycubexr.parsers.anchor_xml_parser import parse_anchor_xml

    with tarfile.open(fileobj=BytesIO(content), mode="r:", tarinfo=_lenient()) as archive:
        profile = CubexParser("")  # what its `__enter__` sets from a path
        profile._cubex_file, profile._tar_file_member_list = archive, archive.getnames()
        tree = archive.extractfile("anchor.xml")
        assert tree is not None
        profile._anchor_result = parse_anchor_xml(_without_formulas(tree))
        return _values_of_regions(profile, "time"), _values_of_regions(profile, "visits")


STORED = ("INCLUSIVE", "EXCLUSIVE")
"""Types of metrics that have values; those of others are formulas."""


def _without_formulas(file: IO[bytes]) -> Any:
    """The tree of `anchor.xml`; metrics that are formulas stay in their place, as metrics without values. Raises
    ValueError where one of them is what is read."""
    packed = file.read(5) != b"<?xml"
    file.seek(0)
    tree = ElementTree.parse(gzip.GzipFile(fileobj=file) if packed else file)
    for metric in tree.iter("metric"):
        name = metric.findtext("uniq_name")
        if metric.get("type") not in STORED:
            if name in ("time", "visits"):
                raise ValueError(f"its metric `{name}` is a formula of CubePL and has no values")
            metric.set("type", STORED[1])
    return tree


def _require_small(content: bytes) -> None:
    """Raises ValueError where anything in the archive is larger than what is read of it."""
    with tarfile.open(fileobj=BytesIO(content), mode="r:", tarinfo=_lenient()) as archive:
        for member in archive.getmembers():
            if member.issparse() or member.size > len(content):
                raise ValueError(f"`{member.name}` is larger than the archive")
            file = archive.extractfile(member) if member.isreg() else None
            if file is None:
                continue
            if member.name == "anchor.xml":
                _require_small_tree(file)
            elif file.read(len(PACKED)) == PACKED:
                _require_small_values(file)


def _lenient() -> Any:
    from pycubexr.utils.custom_tarinfo import TarInfoWithoutCheck

    return TarInfoWithoutCheck


def _require_small_tree(file: IO[bytes]) -> None:
    packed = file.read(5) != b"<?xml"
    file.seek(0)
    text = gzip.GzipFile(fileobj=file).read(MOST_TREE + 1) if packed else file.read(MOST_TREE + 1)
    if len(text) > MOST_TREE:
        raise ValueError(f"its call tree takes more than {MOST_TREE // 2**20} MiB")


def _require_small_values(file: IO[bytes]) -> None:
    """Reads packed values as the library does, and no further than what they may take: a number of blocks, then for
    each its place, its place in the file and its bytes there, then the blocks."""
    raw = file.read(8)
    little = int.from_bytes(raw, "little") <= int.from_bytes(raw, "big")
    order: Literal["little", "big"] = "little" if little else "big"
    table = file.read(24 * int.from_bytes(raw, order))
    left = MOST_BYTES
    for at in range(16, len(table), 24):
        block = file.read(int.from_bytes(table[at : at + 8], order))
        left -= len(zlib.decompressobj().decompress(block, left + 1))
        if left < 0:
            raise ValueError(f"its values take more than {MOST_BYTES // 2**20} MiB")


def _values_of_regions(profile: Any, metric: str) -> dict[str, float]:
    """The values of a metric without those of called regions, by region."""
    values = profile.get_metric_values(profile.get_metric_by_name(metric))
    groups = profile._anchor_result.system_tree_nodes[0].all_location_groups()  # the library shows locations alone
    sizes = [len(group.all_locations()) for group in groups]
    held: dict[str, Any] = {}
    for node in profile.all_cnodes():
        own = values.cnode_values(node, convert_to_exclusive=True).astype(float)
        name = str(profile.get_region(node).name)
        held[name] = held[name] + own if name in held else own
    return {name: _combine(own.tolist(), sizes) for name, own in held.items()}


def _combine(values: list[float], sizes: list[int]) -> float:
    """The mean, over the ranks that have any, of the largest value among the threads of each."""
    ranks, start = [], 0
    for size in sizes:
        ranks.append(max(values[start : start + size], default=0.0))
        start += size
    ran = [value for value in ranks if value > 0]
    return sum(ran) / len(ran) if ran else 0.0
