"""What only a process of its own shows: pipes, signals, encodings, and what is imported on the way."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Spawn = Callable[..., subprocess.Popen[bytes]]

EVAL = ("eval", "axpy.aspen", "--machine", "cluster.aspen")


def finished(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(
    "arguments", [EVAL, ("eval", "--help"), ("--help",), ("show", "cluster.aspen", "--format", "json")]
)
def test_closed_pipe_is_said_in_one_line(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        status, _, err = finished(spawn(*arguments, stdout=writing))
    finally:
        os.close(writing)
    assert (status, err) == (2, b"aspenpy: the reader of the output has gone\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [EVAL, ("eval", "--help"), ("check", "axpy.aspen", "--format", "json")])
def test_full_disk_is_said_in_one_line(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        status, _, err = finished(spawn(*arguments, stdout=full))
    assert (status, err) == (2, b"aspenpy: cannot write the output: No space left on device\n")


def test_closed_output_is_said_in_one_line(spawn: Spawn) -> None:
    status, _, err = finished(spawn(*EVAL, stdout=None, preexec_fn=lambda: os.close(1)))
    assert (status, err) == (2, b"aspenpy: cannot write the output: it is closed\n")


def test_complaint_that_nobody_can_read(spawn: Spawn) -> None:
    with open("/dev/full", "wb") as full:
        status, out, _ = finished(spawn("eval", "axpy.aspen", "--machine", "missing.aspen", stderr=full))
    assert (status, out) == (2, b"")


def test_interrupt(spawn: Spawn, models: Path) -> None:
    text = "model long { kernel main { iterate i [1e8] { execute { flops [log(i + 2) + sqrt(i)] } } } }"
    (models / "long.aspen").write_text(text)
    process = spawn("eval", "long.aspen", "--machine", "cluster.aspen")
    while seconds_of_work(process) < 0.6:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert finished(process) == (130, b"", b"")


def seconds_of_work(process: subprocess.Popen[bytes]) -> float:
    """The processor time that a process has used: enough of it, and the evaluation has begun."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def test_output_that_takes_only_ascii(spawn: Spawn) -> None:
    status, out, err = finished(spawn("show", "cluster.aspen", env={"PYTHONIOENCODING": "ascii"}))
    assert (status, err) == (0, b"")
    assert b"|   `-- Processor   socket             2    10 W\n" in out
    assert b"---------" in out
    assert out.isascii()


def test_words_that_an_encoding_lacks(spawn: Spawn, models: Path) -> None:
    (models / "label.aspen").write_text('model label { kernel main { execute "größer" { flops [1] } } }')
    arguments = ("explain", "label.aspen", "--machine", "cluster.aspen")
    assert b'"gr\\xf6\\xdfer"' in finished(spawn(*arguments, env={"PYTHONIOENCODING": "ascii"}))[1]
    assert '"größer"'.encode() in finished(spawn(*arguments, env={"PYTHONIOENCODING": "utf-8"}))[1]


HEAVY = {"numpy", "sympy", "rich", "networkx", "json", "inspect", "dataclasses", "csv"}


@pytest.mark.parametrize("arguments", [EVAL, (*EVAL, "--metric", "runtime"), ("check", "axpy.aspen"), ("--version",)])
def test_nothing_heavy_is_imported(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    program = "import sys\nfrom aspenpy.cli.main import main\nstatus = main(sys.argv[1:])\n"
    program += "print(*sys.modules, file=sys.stderr)\nraise SystemExit(status)\n"
    status, _, err = finished(spawn(*arguments, program=program))
    modules = set(err.decode().split())
    assert status == 0
    assert "aspenpy.cli.main" in modules
    assert not modules & HEAVY


def test_rich_is_not_there_for_pipes_but_json_is_for_json(spawn: Spawn) -> None:
    program = (
        "import sys\nfrom aspenpy.cli.main import main\nmain(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)\n"
    )
    _, _, err = finished(spawn(*EVAL, "--format", "json", program=program))
    assert "json" in err.decode().split()
