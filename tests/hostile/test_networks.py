"""Hostile networks and compilation databases: small files that would become gigabytes, or never come to an end; each
run may take a gigabyte and some seconds of the processor."""

from __future__ import annotations

import json
import shlex
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from aspenpy.extract.units import words_of
from aspenpy.language.diagnostics import AspenError

Run = Callable[..., "subprocess.CompletedProcess[str]"]
GRAPH = "serialized_exported_program.json"


def refused(run: Run, file: Path) -> str:
    done = run("import", file.name, "-o", "out.aspen")
    assert (done.returncode, done.stdout) == (2, "")
    assert file.name in done.stderr
    return done.stderr


# -- exported programs -----------------------------------------------------------------------------


def archive(content: bytes, stated: int, method: int = zipfile.ZIP_DEFLATED, times: int = 1) -> bytes:
    """An archive of one member, some content many times, written by hand (PKWARE, APPNOTE 4.3) since `zipfile` states
    true sizes alone. Behind a full flush the same content is packed the same."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = (packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH)) * times + packer.flush()
    name = GRAPH.encode()
    sizes = (zlib.crc32(content), len(packed), stated, len(name))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, method, 0, 0, *sizes, 0) + name + packed
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, method, 0, 0, *sizes, 0, 0, 0, 0, 0, 0) + name
    return local + entry + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(local), 0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda: archive(b" " * 2**20, 100, times=2**10), "Bad CRC-32"),
        (lambda: archive(b" " * 2**20, 2**28, times=2**8), "has more than 64 MiB"),
        (lambda: archive(b"[" + b"[]," * 5_000_000 + b"[]]", 15_000_004), "4,000,000 values"),
        (lambda: archive(b"x", 1, zipfile.ZIP_LZMA), "compressed in a way"),
        (lambda: archive(b"[" * 100_000, 100_000), "no archive with an exported program"),
        (lambda: archive(b"{}", 2) + b"PK\1\2" * 30_000, "more than 20,000 members"),
    ],
    ids=["a size that is not true", "spaces", "empty lists", "another compression", "nested", "members"],
)
def test_archives_larger_than_they_seem(content: Callable[[], bytes], reason: str, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "small.pt2"
    file.write_bytes(content())
    assert reason in refused(run, file)


def test_tens_of_thousands_of_open_lengths(tmp_path: Path, run: Run) -> None:
    sizes = {f"t{at}": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": f"s{at}"}}]} for at in range(30_000)}
    graph = {"tensor_values": sizes, "inputs": [], "outputs": [], "nodes": []}
    file = tmp_path / "open.pt2"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as program:
        program.writestr(GRAPH, json.dumps({"graph_module": {"graph": graph}}))
    assert "leaves more than 2,000 lengths and amounts open" in refused(run, file)


# -- ONNX ------------------------------------------------------------------------------------------

HEAD = '<ir_version: 8, opset_import: ["" : 18, "d" : 1]>\n'
FUNCTION = '<domain: "d", opset_import: ["" : 18, "d" : 1]>\n'


def calls(depth: int) -> str:
    """Functions that each call the one before twice: 2^depth operators."""
    first = FUNCTION + "f0 (a) => (b) { b = Relu(a) }\n"
    others = (f"f{at + 1} (a) => (b) {{ t = d.f{at}(a) b = d.f{at}(t) }}\n" for at in range(depth))
    return (
        HEAD
        + f"g (float[4] x) => (float[4] y) {{ y = d.f{depth}(x) }}\n"
        + first
        + "".join(map(FUNCTION.__add__, others))
    )


ITSELF = HEAD + "g (float[4] x) => (float[4] y) { y = d.f(x) }\n" + FUNCTION + "f (a) => (b) { b = d.f(a) }\n"
NESTED = HEAD + "g (" + "seq(" * 100_000 + "float" + ")" * 100_000 + " x) => (float[4] y) { y = Relu(x) }"


@pytest.mark.parametrize(
    ("text", "reason"),
    [(calls(30), "operators, with those of its functions"), (ITSELF, "calls itself"), (NESTED, "more than 50 braces")],
    ids=["doubled calls", "a call of itself", "nested types"],
)
def test_graphs_that_are_larger_than_their_text(text: str, reason: str, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("onnx")
    file = tmp_path / "network.onnx"
    file.write_text(text, encoding="utf-8")
    assert reason in refused(run, file)


def test_a_shape_that_is_joined_with_itself(tmp_path: Path, run: Run) -> None:
    """Thirty-four times: 2^34 numbers, if they are followed. The flops are those of 4 elements."""
    pytest.importorskip("onnx")
    steps = " ".join(f"c{at + 1} = Concat <axis = 0> (c{at}, c{at})" for at in range(34))
    text = HEAD + f"g (float[4] x) => (float[4] y) {{ c0 = Shape(x) {steps} z = Reshape(x, c34) y = Relu(x) }}"
    (tmp_path / "network.onnx").write_text(text, encoding="utf-8")
    assert run("import", "network.onnx", "-o", "out.aspen").returncode == 0
    assert run("count", "out.aspen").returncode == 0


# -- compilation databases -------------------------------------------------------------------------


def test_words_of_commands_are_those_of_a_shell() -> None:
    drawn = Random(25)
    for _ in range(300):
        command = "".join(drawn.choice("ab- \t\n'\"\\=\u00a0") for _ in range(drawn.randrange(12)))
        try:
            wanted = shlex.split(command)
        except ValueError:
            continue
        assert words_of({"arguments": [], "command": command, "file": "a.c"}) == wanted


def test_a_command_of_megabytes(tmp_path: Path, run: Run) -> None:
    plain = "cc " + "-DX=1 " * 500_000
    assert len(words_of({"arguments": [], "command": plain, "file": "a.c"})) == 500_001
    with pytest.raises(AspenError, match="has quotes and 3,000,00"):
        words_of({"arguments": [], "command": plain + "'a'", "file": "a.c"})
