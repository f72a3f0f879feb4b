"""Traces in each format: what is read, and what is refused."""

import errno
import gzip
import io
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.language.diagnostics import AspenError
from aspenpy.traces import measure, stack, text_formats
from aspenpy.traces.text_formats import INSTRUCTION, KINDS, LOAD, STORE, References
from aspenpy.traces.trace_file import TraceFile
from tests.reuse.simulation import histogram
from tests.thorough import examples

Triple = tuple[int, int, int]


@pytest.fixture(params=[1 << 20, 40], ids=["one block", "many blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that hold a whole trace, and blocks of two or three lines."""
    monkeypatch.setattr(text_formats, "BLOCK", request.param)


def read(path: Path, kinds: set[str] | None = None, layout: str | None = None) -> list[Triple]:
    """Address, size and kind of all references."""
    file = TraceFile(path, layout)
    try:
        found: list[Triple] = []
        for part in file.read_references(None if kinds is None else frozenset(KINDS[kind] for kind in kinds)):
            sizes = np.ones(len(part.addresses), int) if part.sizes is None else part.sizes
            of_kind = np.zeros(len(part.addresses), int) if part.kinds is None else part.kinds
            found += zip(part.addresses.tolist(), sizes.tolist(), of_kind.tolist(), strict=True)
        return found
    finally:
        file.close()


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "trace"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


LACKEY = """\
==7== Lackey, an example Valgrind tool
==7== Command: ./a.out
==7==
I  0401ab70,3
 L 1ffe8fe3a0,8
 S 7,1
 M ffffffffffffffff,1
I  04222bb9,12
 L 0004CF00,4096
==7==
--7-- done
"""

READ = [(0x1FFE8FE3A0, 8, LOAD), (7, 1, STORE), (2**64 - 1, 1, LOAD), (2**64 - 1, 1, STORE), (0x4CF00, 4096, LOAD)]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lackey(tmp_path: Path, end: str) -> None:
    path = written(tmp_path, LACKEY.replace("\n", end))
    assert read(path) == READ
    assert read(path, {"loads"}) == [found for found in READ if found[2] == LOAD]
    assert read(path, {"stores"}) == [found for found in READ if found[2] == STORE]
    assert read(path, {"instructions"}) == [(0x401AB70, 3, INSTRUCTION), (0x4222BB9, 12, INSTRUCTION)]
    assert read(path, set(KINDS)) == [(0x401AB70, 3, INSTRUCTION), *READ[:4], (0x4222BB9, 12, INSTRUCTION), READ[4]]


ADDRESSES = st.integers(0, 15).flatmap(lambda digits: st.integers(0, 16 ** (digits + 1) - 1))


@given(st.lists(st.tuples(ADDRESSES, st.integers(1, 9999), st.sampled_from("ILS")), min_size=1), st.booleans())
def test_lackey_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, str]], capitals: bool
) -> None:
    rows = [(min(address, 2**64 - size), size, letter) for address, size, letter in rows]
    lines = [("I  " if letter == "I" else f" {letter} ") + f"{address:x},{size}\n" for address, size, letter in rows]
    content = "".join(lines)
    path = written(tmp_path_factory.mktemp("traces"), content.upper() if capitals else content)
    kinds = {"I": INSTRUCTION, "L": LOAD, "S": STORE}
    assert read(path, set(KINDS)) == [(address, size, kinds[letter]) for address, size, letter in rows]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    "content",
    [
        "0 1000\n1 7fff12345678\n2 400\n",
        "r 0x1000\n1 7fff12345678 1\n\n i\t400  1\n",
        "0 1000 1\n1 7fff12345678 1\n2 400 1",
    ],
)
def test_dinero(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    assert read(path) == [(0x1000, 1, LOAD), (0x7FFF12345678, 1, STORE)]
    assert read(path, {"instructions"}) == [(0x400, 1, INSTRUCTION)]


def test_dinero_sizes_are_hexadecimal(tmp_path: Path) -> None:
    assert read(written(tmp_path, "0 1000 10\n0 1000 8\n")) == [(0x1000, 16, LOAD), (0x1000, 8, LOAD)]


def test_binary(tmp_path: Path) -> None:
    addresses = [0x1000, 0x7FFF12345678, 0xFFFF800000000000, 0]
    path = written(tmp_path, struct.pack("<4Q", *addresses))
    assert [found[0] for found in read(path)] == addresses


def test_gzip_in_two_parts(tmp_path: Path) -> None:
    """As `cat a.gz b.gz` makes it."""
    path = written(tmp_path, gzip.compress(b" L 10,8\n") + gzip.compress(b" S 20,8\n"))
    assert read(path) == [(0x10, 8, LOAD), (0x20, 8, STORE)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"0 1000\n0 1008\n")), encoding="utf-8")
    )
    found = aspenpy.reuse_distances("-")
    assert (found.source, found.references, found.cold) == ("<standard input>", 2, 1)


# -- lines -----------------------------------------------------------------------------------------


def lines_of(address: int, size: int, shift: int) -> list[int]:
    """Byte by byte."""
    return sorted({byte >> shift for byte in range(address, address + size)})


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 70)), min_size=1), st.integers(0, 7), st.integers(1, 50))
def test_references_that_touch_several_lines(pairs: list[tuple[int, int]], shift: int, most: int) -> None:
    addresses, sizes = (np.array(column) for column in zip(*pairs, strict=True))
    whole = References(addresses.astype(np.uint64), sizes, np.arange(len(pairs), dtype=np.uint8))
    expected = [(line, number) for number, pair in enumerate(pairs) for line in lines_of(*pair, shift)]
    assert pieces([whole], shift) == expected
    assert pieces(list(whole.split(shift, most)), shift) == expected
    first = whole.split_by_line(shift).addresses
    inside = [(max(line << shift, pairs[number][0])) for line, number in expected]
    assert first.tolist() == inside


def pieces(parts: list[References], shift: int) -> list[tuple[int, int]]:
    cut = [part.split_by_line(shift) for part in parts]
    return [
        (int(address) >> shift, int(kind))
        for part in cut
        for address, kind in zip(part.addresses, part.kinds if part.kinds is not None else (), strict=True)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 900), st.integers(1, 40), st.sampled_from("LSM")), min_size=1, max_size=120),
    st.sampled_from([1, 8, 64]),
    st.integers(1, 20),
)
@settings(max_examples=examples(60))
def test_whole_way_in_small_chunks(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, str]], line: int, chunk: int
) -> None:
    path = written(tmp_path_factory.mktemp("traces"), "".join(f" {kind} {at:x},{size}\n" for at, size, kind in rows))
    shift = line.bit_length() - 1
    touched = [
        found for at, size, kind in rows for _ in range(2 if kind == "M" else 1) for found in lines_of(at, size, shift)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stack, "LEAST_CHUNK", chunk)
        patch.setattr(measure, "PIECE", max(1, chunk // 2))
        patch.setattr(text_formats, "BLOCK", 50)
        result = aspenpy.reuse_distances(path, line=line)
    counts, cold = histogram(touched)
    assert dict(zip(result.distances.tolist(), result.counts.tolist(), strict=True)) == counts
    assert (result.cold, result.references) == (cold, len(touched))


# -- what is refused -------------------------------------------------------------------------------

REFUSED = [
    (b"", None, "error: `trace` is empty"),
    (b"hello\nworld\n", None, "error: `trace` is in no format that is known: it begins with `hello`"),
    (b" L 10,8\n L 1g,8\n", None, "error: `trace`, line 2: `L 1g,8` is not a reference"),
    (b" L 10,8\n L 10\n", None, "error: `trace`, line 2: `L 10` is not a reference"),
    (b" L 10,8\n L 1o,8\n", None, "error: `trace`, line 2: `L 1o,8` is not a reference"),
    (b" L 10,8\n L 10,0\n", None, "error: `trace`, line 2: `L 10,0` is not a reference"),
    (b" L 10,8\n L 10,123456\n", None, "error: `trace`, line 2: `L 10,123456` is not a reference"),
    (b" L 10,8\n X 10,8\n", None, "error: `trace`, line 2: `X 10,8` is not a reference"),
    (b" L 10,8\nL = 3, 4\n", None, "error: `trace`, line 2: `L = 3, 4` is not a reference"),
    (b" L 10,8\n L 12345678901234567,8\n", None, "error: `trace`, line 2: `L 12345678901234567,8` is not a reference"),
    (b" L 10,8\n L ffffffffffffffff,2\n", None, "error: `trace`, line 2: `L ffffffffffffffff,2` is not a reference"),
    (b"0 10\n3 10\n", None, "error: `trace`, line 2: `3 10` is not a reference"),
    (b"0 10\n0 10 8 9\n", None, "error: `trace`, line 2: `0 10 8 9` is not a reference"),
    (b"0 10\n0 1x\n", None, "error: `trace`, line 2: `0 1x` is not a reference"),
    (b"0 10\n0 10 0\n", None, "error: `trace`, line 2: `0 10 0` is not a reference"),
    (b"0 10\n\xff\n", None, r"error: `trace`, line 2: `\xff` is not a reference"),
    (b"==1== Lackey\n", "lackey", "error: `trace` holds no loads and stores"),
    (b"I  10,4\n", None, "error: `trace` holds no loads and stores"),
    (struct.pack("<3Q", 1, 2, 3)[:-3], None, "error: `trace` ends in the middle of an address: 5 bytes are left over"),
    ("text".encode("utf-16"), None, "error: `trace` is in no format that is known: it is not text"),
    (
        gzip.compress(b" L 10,8\n" * 99, mtime=0)[:-9],
        None,
        "error: `trace` cannot be decompressed: it is damaged or cut off",
    ),
    (b"\x1f\x8bnonsense", None, "error: `trace` cannot be decompressed: it is damaged or cut off"),
]


@pytest.mark.parametrize(("content", "layout", "message"), REFUSED, ids=lambda value: repr(value)[:40])
def test_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, layout: str | None, message: str
) -> None:
    written(tmp_path, content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AspenError) as refused:
        aspenpy.reuse_distances("trace", trace_format=layout)
    assert str(refused.value).startswith(message)
    assert len(refused.value.diagnostics) == 1


def test_line_is_counted_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_formats, "BLOCK", 20)
    path = written(tmp_path, b" L 10,8\n" * 50 + b"oops\n" + b" L 10,8\n" * 50)
    with pytest.raises(AspenError, match="line 51: `oops` is not a reference"):
        aspenpy.reuse_distances(path)


def test_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(AspenError, match="standard input cannot be read: it is closed"):
        aspenpy.reuse_distances("-")
    memory = Path("/proc/self/mem")
    if memory.exists():  # it opens, and its first byte cannot be read
        with pytest.raises(AspenError, match="`/proc/self/mem` cannot be read: input/output error"):
            aspenpy.reuse_distances(memory)


def test_text_without_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_formats, "BLOCK", 20)
    with pytest.raises(AspenError, match="has a line of more than"):
        aspenpy.reuse_distances(written(tmp_path, b"x" * 100), trace_format="lackey")


@pytest.mark.parametrize("character", sorted(set(range(128)) - set(b"0123456789abcdefABCDEF\r\n, \t\v\f")))
def test_no_other_character_is_a_digit(tmp_path: Path, character: int) -> None:
    """In the regular lines of a block, which are read eight digits at once."""
    path = written(tmp_path, b" L 10,8\n L 1%c1,8\n L 10,8\n" % character)
    with pytest.raises(AspenError, match="line 2"):
        aspenpy.reuse_distances(path, trace_format="lackey")


def test_more_lines_than_there_is_memory_for_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each address is a line of its own: 5,000 are more than 4,000; of a tenth of them some 500 are remembered."""
    monkeypatch.setattr(measure, "MOST_LINES", 4000)
    trace = tmp_path / "t.trace"
    trace.write_text("".join(f" L {64 * line:x},8\n" for line in range(5000)), encoding="utf-8")
    with pytest.raises(AspenError) as caught:
        measure.reuse_distances(trace)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "too-many-lines"
    assert diagnostic.message == f"the first 5,000 references of `{trace}` touch more than 4,000 lines"
    assert "--sampling-rate 0.1" in str(diagnostic.hint)
    assert measure.reuse_distances(trace, sample=0.1).references == pytest.approx(5000)
    monkeypatch.setattr(measure, "MOST_LINES", 5000)
    assert measure.reuse_distances(trace).cold == 5000


class Broken(io.RawIOBase):
    """A stream that cannot be read, such as that of a disk that fails."""

    def read(self, size: int = -1, /) -> bytes:
        raise OSError(errno.EIO, "Input/output error")


def test_a_stream_that_fails_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Broken()))
    with pytest.raises(AspenError, match="`<standard input>` cannot be read: input/output error"):
        TraceFile("-")


@pytest.mark.parametrize("packed", [True, False])
def test_progress_tells_bytes_of_the_file_as_it_is(packed: bool, tmp_path: Path) -> None:
    text = b" L 1000,8\n" * 1000
    (tmp_path / "trace").write_bytes(content := gzip.compress(text) if packed else text)
    told: list[tuple[int, int | None, int]] = []
    aspenpy.reuse_distances(tmp_path / "trace", progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (len(content), len(content), 1000)
