"""Profiles of Score-P, made as its library CubeLib lays them out: an archive of `anchor.xml`, indices and values."""

from __future__ import annotations

import struct
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

CALLS = "<cnode id='0' calleeId='0'>{inner}</cnode>"
METRIC = (
    "<metric id='{id}' type='{kind}'><disp_name>{name}</disp_name><uniq_name>{name}</uniq_name><dtype>{dtype}</dtype>"
    "<uom>{unit}</uom><url/><descr/></metric>"
)
REGION = (
    "<region id='{id}' mod='' begin='1' end='9'><name>{name}</name><mangled_name/><paradigm/><role/><url/><descr/>"
    "</region>"
)
GROUP = "<locationgroup Id='{rank}'><name>{rank}</name><rank>{rank}</rank><type>process</type>{inner}</locationgroup>"
TREE = """<?xml version='1.0'?><cube version='4.4'><metrics>
{metrics}
</metrics><program>{regions}{calls}</program><system><systemtreenode Id='0'><name>node</name><class>node</class>
{groups}
</systemtreenode></system></cube>"""


FORMULA = (
    "<metric id='{id}' type='PREDERIVED_EXCLUSIVE' viztype='GHOST'><disp_name>{name}</disp_name>"
    "<uniq_name>{name}</uniq_name><dtype>FLOAT</dtype><uom>sec</uom><url/><descr/>"
    "<cubepl>${{{name}}}[${{calculation::callpath::id}}] * metric::time(e)</cubepl>{inner}</metric>"
)
"""As in the specification `scorep.spec` by which Scalasca remaps profiles."""


def anchor(
    regions: Iterable[str], calls: str, ranks: Mapping[int, int], time: str = "INCLUSIVE", remapped: bool = False
) -> bytes:
    """`calls`: nested <cnode> elements; `ranks`: threads of each rank; `remapped`: below `time` stand formulas."""
    locations = 0
    groups = ""
    for rank, threads in ranks.items():
        inner = ""
        for thread in range(threads):
            inner += (
                f"<location Id='{locations}'><name>{thread}</name><rank>{thread}</rank><type>thread</type></location>"
            )
            locations += 1
        groups += GROUP.format(rank=rank, inner=inner)
    metrics = METRIC.format(id=0, kind="EXCLUSIVE", name="visits", dtype="UINT64", unit="occ")
    metrics += METRIC.format(id=1, kind=time, name="time", dtype="FLOAT" if remapped else "DOUBLE", unit="sec")
    if remapped:
        inner = FORMULA.format(id=2, name="execution", inner=FORMULA.format(id=3, name="mpi", inner=""))
        metrics = f"{metrics.removesuffix('</metric>')}{inner}</metric>"
    named = "".join(REGION.format(id=id, name=name) for id, name in enumerate(regions))
    return TREE.format(metrics=metrics, regions=named, calls=calls, groups=groups).encode()


def index(nodes: int) -> bytes:
    return b"CUBEX.INDEX" + struct.pack("<ihbi", 1, 0, 0, nodes) + struct.pack(f"<{nodes}i", *range(nodes))


def pack(data: bytes) -> bytes:
    """Values as CubeLib compresses them, in one block."""
    block = zlib.compress(data)
    return b"ZCUBEX.DATA" + struct.pack("<qqqq", 1, 0, 0, len(block)) + block


def write_cubex(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
    return path
