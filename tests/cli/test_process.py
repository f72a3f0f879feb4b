"""What only a process of its own shows: pipes, signals, encodings, and what is imported on the way."""

import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from tests.thorough import HANGS

Spawn = Callable[..., subprocess.Popen[bytes]]

EVAL = ("eval", "axpy.aspen", "--machine", "cluster.aspen")


def finished(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=HANGS)
    return process.returncode, out, err


@pytest.mark.parametrize(
    "arguments", [EVAL, ("eval", "--help"), ("--help",), ("show", "cluster.aspen", "--format", "json")]
)
def test_closed_pipe_ends_quietly(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        status, _, err = finished(spawn(*arguments, stdout=writing))
    finally:
        os.close(writing)
    assert (status, err) == (141, b"")  # as a shell says of a program that SIGPIPE ended


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
    os.mkfifo(models / "trace")  # nobody writes to it: the program waits for as long as it is let
    process = spawn("rdd", "trace")
    while seconds_of_work(process) < 0.05:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(1)  # it has read its command line by then, and where it has not, Ctrl-C ends it all the same
    process.send_signal(signal.SIGINT)
    assert finished(process) == (130, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
@pytest.mark.parametrize(
    "place", ["aspenpy.shell.main", "aspenpy.shell.output", "aspenpy.shell.options", "aspenpy.shell.commands.eval"]
)
def test_interrupt_while_modules_are_imported(spawn: Spawn, place: str) -> None:
    """The signal comes when that module is looked for; the program is what an installed `aspenpy` begins with."""
    program = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(name, path, target=None):\n"
        f"        if name == {place!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\n"
        "from aspenpy.__main__ import main\n"
        "sys.exit(main())"
    )
    status, out, err = finished(spawn(*EVAL, program=program))
    assert status in (130, -signal.SIGINT)
    assert (out, err) == (b"", b"")


def test_little_is_imported_before_an_interrupt_is_handled() -> None:
    """Python itself ends with a traceback until the first line of `main` has run."""
    program = "import sys; before = {*sys.modules}; import aspenpy.__main__; print(*sorted({*sys.modules} - before))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [
        "aspenpy",
        "aspenpy.__main__",
        "aspenpy.tables",
        "aspenpy.tables.registry",
        "aspenpy.version",
        "atexit",
        "gc",
    ]  # which is part of Python itself


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
@pytest.mark.parametrize("number", range(int(os.environ.get("ASPENPY_INTERRUPTS", "4"))))
def test_interrupts_at_random_moments(spawn: Spawn, number: int) -> None:
    """In the first 100 ms of `main`: nothing is said, unless the work was done before."""
    moment = random.Random(number).uniform(0, 0.1)
    program = (
        "import os, signal, sys\n"
        "from aspenpy.__main__ import main\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        f"signal.setitimer(signal.ITIMER_REAL, {moment!r})\n"
        "sys.exit(main())"
    )
    status, _, err = finished(spawn(*EVAL, program=program))
    assert status in (0, 130, -signal.SIGINT)
    assert err == b""


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
def test_interrupt_while_processes_of_a_sweep_start(spawn: Spawn) -> None:
    """Ctrl-C reaches them, too, while they import modules."""
    program = "import sys; from aspenpy.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())"
    sweep = ("sweep", "matmul", "--machine", "simple", "--over", "n=1..3000000:lin:3000000", "--backend", "numpy")
    process = spawn(*sweep, "--jobs", "2", "--yes", program=program, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text(encoding="utf-8").split()) < 3:  # one keeps account of what they share
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert finished(process) == (130, b"", b"")


@pytest.mark.parametrize("kind", [ImportError, RuntimeError])
def test_an_interrupt_that_a_library_makes_an_error_of(kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: list[str]) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise kind("cannot import the library") from error

    monkeypatch.setattr("aspenpy.shell.main.run", run)
    assert main(["eval"]) == 130


def test_the_command_begins_there() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"aspenpy": "aspenpy.__main__:main"}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on the address space is not kept elsewhere")
@pytest.mark.parametrize("megabytes", [250, 400, 600])
def test_memory_that_runs_out_is_said(spawn: Spawn, megabytes: int) -> None:
    """An axis of 6e7 numbers takes 480 MB, and as much again while it is made."""
    program = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, {megabytes << 20}))\n"
        "from aspenpy.shell.main import main\nraise SystemExit(main())"
    )
    command = ("sweep", "axpy.aspen", "--machine", "cluster.aspen", "--over", "n=1..9:lin:6e7", "--backend", "numpy")
    found = finished(spawn(*command, program=program, env={"OPENBLAS_NUM_THREADS": "1"}))
    assert found == (2, b"", b"aspenpy: there is not enough memory for this\n")


def seconds_of_work(process: subprocess.Popen[bytes]) -> float:
    """The processor time that a process has used: enough of it, and the evaluation has begun."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def test_output_that_takes_only_ascii(spawn: Spawn) -> None:
    status, out, err = finished(spawn("show", "cluster.aspen", env={"PYTHONIOENCODING": "ascii"}))
    assert (status, err) == (0, b"")
    assert b"|   `-- Processor   socket             2    10 W\n" in out
    assert b"---------" in out
    assert out.isascii()


def test_words_that_an_encoding_lacks(spawn: Spawn, models: Path) -> None:
    (models / "label.aspen").write_text(
        'model label { kernel main { execute "größer" { flops [1] } } }', encoding="utf-8"
    )
    arguments = ("explain", "label.aspen", "--machine", "cluster.aspen")
    assert b'"gr\\xf6\\xdfer"' in finished(spawn(*arguments, env={"PYTHONIOENCODING": "ascii"}))[1]
    assert '"größer"'.encode() in finished(spawn(*arguments, env={"PYTHONIOENCODING": "utf-8"}))[1]


HEAVY = {"numpy", "sympy", "rich", "networkx", "json", "inspect", "dataclasses", "csv"}


@pytest.mark.parametrize("arguments", [EVAL, (*EVAL, "--metric", "runtime"), ("check", "axpy.aspen"), ("--version",)])
def test_nothing_heavy_is_imported(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    program = "import sys\nfrom aspenpy.shell.main import main\nstatus = main(sys.argv[1:])\n"
    program += "print(*sys.modules, file=sys.stderr)\nraise SystemExit(status)\n"
    status, _, err = finished(spawn(*arguments, program=program))
    modules = set(err.decode().split())
    assert status == 0
    assert "aspenpy.shell.main" in modules
    assert not modules & HEAVY


def test_rich_is_not_there_for_pipes_but_json_is_for_json(spawn: Spawn) -> None:
    program = (
        "import sys\nfrom aspenpy.shell.main import main\nmain(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)\n"
    )
    _, _, err = finished(spawn(*EVAL, "--format", "json", program=program))
    assert "json" in err.decode().split()
