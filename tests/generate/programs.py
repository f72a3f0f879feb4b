"""Generated programs, built with all warnings as errors and run; what they send is counted behind their backs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.thorough import HANGS

HERE = Path(__file__).parent
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O1")

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")
needs_mpi = pytest.mark.skipif(
    shutil.which("mpicc") is None or shutil.which("mpirun") is None, reason="no MPI on this machine"
)


class Sent(NamedTuple):
    """What a run sent, by somebody's count."""

    messages: float
    bytes: float


class Ran(NamedTuple):
    """A run: the program's own count, that of the layer below it, and what the program says of the model."""

    own: Sent
    below: Sent
    model: Sent
    barriers: int
    seconds: float
    processes: int


def built(code: str, folder: Path, processes: int = 0) -> Path:
    """The program, for MPI if `processes` are asked for, else for the one process of the header beside this file."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(code, encoding="utf-8")
    if processes:
        command = ["mpicc", *FLAGS, str(source), str(HERE / "counting.c")]
    else:
        command = ["gcc", *FLAGS, f"-isystem{HERE / 'one_process'}", str(source)]
    subprocess.run([*command, "-o", str(program), "-lm"], check=True, timeout=HANGS)
    return program


def started(program: Path, *arguments: str, processes: int = 0) -> subprocess.CompletedProcess[str]:
    command = ["mpirun", "-n", str(processes)] if processes else []
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    more = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    return subprocess.run(
        [*command, str(program), *arguments],
        env=os.environ | root | more,  # more ranks than cores: Open MPI to 4, from 5 on; MPICH starts them in any case
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def ran(code: str, folder: Path, *arguments: str, processes: int = 0) -> Ran:
    """Builds and runs the program, which has to succeed."""
    run = started(built(code, folder, processes), *arguments, processes=processes)
    assert run.returncode == 0, run.stderr
    messages = re.search(r"messages +(\d+) sent, (\S+) in the model", run.stdout)
    volume = re.search(r"bytes +(\d+) sent, (\S+) in the model", run.stdout)
    counted = re.search(r"counted: (\d+) messages, (\d+) bytes, (\d+) barriers", run.stderr)
    seconds = re.search(r"seconds +(\S+)", run.stdout)
    number = re.search(r"processes +(\d+)", run.stdout)
    assert messages is not None
    assert volume is not None
    assert counted is not None
    assert seconds is not None
    assert number is not None
    return Ran(
        Sent(int(messages[1]), int(volume[1])),
        Sent(int(counted[1]), int(counted[2])),
        Sent(float(messages[2]), float(volume[2])),
        int(counted[3]),
        float(seconds[1]),
        int(number[1]),
    )
