"""Profiles of Score-P against arithmetic by hand, damaged ones, and folders of profilers."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.measurements.read import read_measurements
from tests.readers.cubes import anchor, index, pack, write_cubex

pytest.importorskip("pycubexr")

CALLS = (
    "<cnode id='0' calleeId='0'><cnode id='1' calleeId='1'/>"
    "<cnode id='2' calleeId='2'><cnode id='3' calleeId='1'/></cnode></cnode>"
)
"""main calls triad and solve, and solve calls triad."""

TIMES = ((10.0, 0.0, 12.0), (1.0, 2.0, 4.0), (5.0, 5.0, 6.0), (2.0, 1.0, 3.0))
"""Inclusive seconds of each node, in the order of the index: on the two threads of a rank, and on another rank."""

VISITS = ((1, 0, 1), (100, 100, 100), (1, 1, 1), (50, 50, 50))


def scorep_files(packed: bool = False, **changed: bytes) -> dict[str, bytes]:
    times = b"".join(struct.pack("<3d", *row) for row in TIMES)
    visits = b"".join(struct.pack("<3Q", *row) for row in VISITS)
    files = {
        "anchor.xml": anchor(("main", "triad", "solve"), CALLS, {0: 2, 1: 1}),
        "0.index": index(4),
        "0.data": pack(visits) if packed else b"CUBEX.DATA" + visits,
        "1.index": index(4),
        "1.data": pack(times) if packed else b"CUBEX.DATA" + times,
    }
    return files | {name.replace("_", "."): content for name, content in changed.items()}


@pytest.mark.parametrize("packed", [False, True])
def test_own_times_of_score_p(tmp_path: Path, packed: bool) -> None:
    """By hand: `triad` has 1 + 2, 2 + 1 and 4 + 3 s on the three threads, 3 s on the slower one of the first rank and
    5 s in the mean of both ranks; `solve` loses the triad that it calls, 3, 4 and 3 s; main all
    that it calls, 4, -7 and 2 s."""
    sheet = read_measurements(write_cubex(tmp_path / "profile.cubex", scorep_files(packed)))
    held = {row["region"].value: (row["runtime"].value, row["calls"].value) for row in sheet.rows}
    assert held == {"triad": (5.0, 150.0), "solve": (3.5, 1.0), "main": (3.0, 1.0)}


def test_formulas_of_remapped_profiles_are_passed_over(tmp_path: Path) -> None:
    """Scalasca puts formulas below `time`, which has its values all the same: the means by hand are those above."""
    remapped = anchor(("main", "triad", "solve"), CALLS, {0: 2, 1: 1}, remapped=True)
    assert remapped.count(b"PREDERIVED_EXCLUSIVE") == 2
    for text in (remapped, gzip.compress(remapped)):
        sheet = read_measurements(write_cubex(tmp_path / "summary.cubex", scorep_files(anchor_xml=text)))
        assert {row["region"].value: row["runtime"].value for row in sheet.rows} == {
            "triad": 5.0,
            "solve": 3.5,
            "main": 3.0,
        }


def test_a_rank_that_did_not_run_a_region_does_not_count(tmp_path: Path) -> None:
    alone = b"CUBEX.DATA" + b"".join(struct.pack("<3d", 8.0, 0.0, 0.0) if row else bytes(24) for row in (1, 0, 0, 0))
    sheet = read_measurements(write_cubex(tmp_path / "profile.cubex", scorep_files(**{"1_data": alone})))
    assert [(row["region"].value, row["runtime"].value) for row in sheet.rows] == [("main", 8.0)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"anchor_xml": b"<?xml version='1.0'?><cube/>"}, ""),
        ({"anchor_xml": b"<?xml"}, "ParseError"),
        ({"anchor_xml": gzip.compress(b"<?xml version='1.0'?>" + b" " * 17 * 2**20)}, "more than 16 MiB"),
        ({"1_data": pack(bytes(65 * 2**20))}, "more than 64 MiB"),
        ({"1_data": b"ZCUBEX.DATA" + b"\xff" * 64}, ""),
        ({"1_data": b"CUBEX.DATA"}, ""),
        ({"1_index": b"CUBEX.INDEX"}, ""),
        (
            {"anchor_xml": anchor(("main", "triad", "solve"), CALLS, {0: 3}, time="POSTDERIVED")},
            "its metric `time` is a formula",
        ),
        (
            {"anchor_xml": anchor(("main",), "<cnode id='0' calleeId='0'>" * 9000 + "</cnode>" * 9000, {0: 3})},
            "Recursion",
        ),
    ],
)
def test_what_is_no_profile_of_score_p_is_refused(tmp_path: Path, changed: dict[str, bytes], reason: str) -> None:
    path = write_cubex(tmp_path / "profile.cubex", scorep_files(**changed))
    with pytest.raises(AspenError) as refused:
        read_measurements(path)
    assert "cannot be read as a profile of Score-P" in str(refused.value)
    assert reason in str(refused.value)


def test_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.cubex").write_bytes(gzip.compress(b"x"))
    with pytest.raises(AspenError, match="cannot be read as a profile of Score-P"):
        read_measurements(tmp_path / "p.cubex")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("meta.db", "a folder, a database of HPCToolkit"),
        ("experiment.xml", "a folder, a database of HPCToolkit"),
        ("a-000000-000-1-2-0.hpcrun", "a folder, measurements of HPCToolkit"),
        ("profile.cubex", "a folder, an experiment of Score-P"),
        ("profile.0.0.0", "a folder, a profile of TAU"),
    ],
)
def test_a_folder_of_a_profiler_is_named(tmp_path: Path, file: str, message: str) -> None:
    (tmp_path / file).write_bytes(b"")
    with pytest.raises(AspenError) as refused:
        read_measurements(tmp_path)
    assert message in str(refused.value)
    assert tmp_path.as_posix() in str(refused.value.diagnostics[0].hint)
