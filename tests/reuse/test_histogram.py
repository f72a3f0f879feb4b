"""The file of a histogram: what is read from it, and each mistake with its place."""

from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.traces.histogram import DistanceDistribution, format_histogram, parse_histogram, read_histogram

TEXT = """\
# reuse distances of: a trace
# line_bytes: 128
distance,count,cumulative
0,6,0.6
2,3,0.9
inf,1,1
"""


def test_read(tmp_path: Path) -> None:
    (tmp_path / "rdd.csv").write_text(TEXT, encoding="utf-8")
    read = read_histogram(tmp_path / "rdd.csv")
    assert read == DistanceDistribution((0, 2), (0.6, 0.9), pytest.approx(0.1), 128)


def test_written_by_hand() -> None:
    """Columns in any order, blanks, no counts, nothing cold."""
    text = "cumulative , distance\n\n 0.5,2\n 0.75 , 2000\n1.0,1001000\n"
    assert parse_histogram(Source(text)) == DistanceDistribution((2, 2000, 1001000), (0.5, 0.75, 1), 0, None)


def test_nothing_is_reused() -> None:
    assert parse_histogram(Source("distance,cumulative\ninf,1\n")) == DistanceDistribution((), (), 1, None)


def test_written() -> None:
    remarks = [("reuse distances of", "a\ntrace"), ("line_bytes", 128)]
    text = format_histogram(remarks, [0, 2], [6, 3], 1)
    assert text.replace("a\\ntrace", "a trace").split("\n")[:2] == TEXT.split("\n")[:2]
    assert text.split("\n")[3:] == TEXT.split("\n")[2:]


HEAD = "distance,count,cumulative\n"

SIMILAR = "did you mean `cumulative`?"
ALL = "the last row is for all references: a share of 1"

REFUSED = [
    ("", 0, "`rdd.csv` holds no distances", "columns are distance, count, cumulative"),
    (HEAD, 0, "`rdd.csv` holds no distances", "columns are distance, count, cumulative"),
    ("distance,count\n0,1\n", (1, 1), "a column `cumulative` is missing", "columns are distance, count, cumulative"),
    (
        "distance,cumulativ\n0,1\n",
        (1, 10),
        "there is no column `cumulativ` in a histogram",
        "did you mean `cumulative`?",
    ),
    ("distance,distance\n0,1\n", (1, 1), "there are two columns `distance`", None),
    (HEAD + "0,1\n", (2, 1), "a row has 3 numbers, this one 2", None),
    (HEAD + "0,1,x\n", (2, 5), "this cumulative is not a number", None),
    (HEAD + "0,,1\n", (2, 3), "this count is not a number", None),
    (HEAD + "nan,1,1\n", (2, 1), "this distance is not a finite number", None),
    (HEAD + "0,1,inf\n", (2, 5), "this cumulative is not a finite number", None),
    (HEAD + "-1,1,1\n", (2, 1), "this distance is negative", None),
    (HEAD + "0,-1,1\n", (2, 3), "this count is negative", None),
    (HEAD + "5,1,0.5\n 3,1,1\n", (3, 2), "distances do not increase: 5, then 3", None),
    (HEAD + "inf,1,0.5\n3,1,1\n", (3, 1), "distances do not increase: inf, then 3", None),
    (HEAD + "inf,1,0.5\ninf,1,1\n", (3, 1), "distances do not increase: inf, then inf", None),
    (HEAD + "3,1,0.5\n5,1,0.4\n", (3, 5), "cumulative shares decrease: 0.5, then 0.4", None),
    (
        HEAD + "3,1,.5\n5,1,0.9\n",
        (3, 5),
        "the cumulative shares end at 0.9, not at 1",
        "the last row is for all references: a share of 1",
    ),
    (
        HEAD + "3,1,1.2\n",
        (2, 5),
        "the cumulative shares end at 1.2, not at 1",
        "the last row is for all references: a share of 1",
    ),
    (HEAD + "3,1,0.5\n5,2,1\n", (2, 5), "the counts up to here are 0.333333 of all, not 0.5", None),
    (HEAD + "3,0,1\n", (2, 3), "all counts are 0", None),
    ("# line_bytes: big\n" + HEAD + "3,1,1\n", (1, 1), "`line_bytes` is not a number of bytes", "such as 64"),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(text: str, place: tuple[int, int] | int, message: str, hint: str | None) -> None:
    with pytest.raises(AspenError) as refused:
        parse_histogram(Source(text, "rdd.csv"))
    (found,) = refused.value.diagnostics
    assert (found.message, found.hint) == (message, hint)
    assert (found.span.position() if found.span else 0) == place


def test_file_refused(tmp_path: Path) -> None:
    with pytest.raises(AspenError, match="file not found"):
        read_histogram(tmp_path / "none.csv")
    with pytest.raises(AspenError, match="is a folder, not a file"):
        read_histogram(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(AspenError, match="is not UTF-8"):
        read_histogram(tmp_path / "binary")


def test_reading_loads_no_numpy() -> None:
    """The cache model reads such files in commands that start quickly."""
    import subprocess
    import sys

    program = "import sys, aspenpy.traces.histogram; raise SystemExit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
