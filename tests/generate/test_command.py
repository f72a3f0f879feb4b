"""`aspenpy mpi`: what it writes, and what it refuses."""

import os
import stat
from pathlib import Path

import pytest

from aspenpy import Skeleton, load_application
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

SILENT = """\
error: kernel `axpy` of `axpy` sends no messages
 --> axpy.aspen:6:10
6 |   kernel axpy {
  |          ^^^^
  = hint: nothing that it runs has a requirement `messages [...]`
"""


def test_shown(run: Runner, models: Path) -> None:
    assert run("mpi", "axpy.aspen") == (0, Skeleton(load_application(models / "axpy.aspen")).code, "")


def test_written(run: Runner, models: Path) -> None:
    said = "axpy.c is written; in the model it sends 1 message, 1,000 bytes\n"
    assert run("mpi", "axpy.aspen", "--output", "axpy.c") == (0, said, "")
    assert (models / "axpy.c").read_text(encoding="utf-8") == run("mpi", "axpy.aspen").out
    (models / "axpy.c").write_text("something else", encoding="utf-8")
    assert run("mpi", "axpy.aspen", "-o", "axpy.c").status == 0
    assert (models / "axpy.c").read_text(encoding="utf-8") == run("mpi", "axpy.aspen").out
    assert sorted(path.name for path in models.iterdir()) == ["axpy.aspen", "axpy.c", "cluster.aspen"]


def test_a_new_file_has_the_usual_mode(run: Runner, models: Path) -> None:
    mask = os.umask(0o027)
    try:
        run("mpi", "axpy.aspen", "-o", "axpy.c")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((models / "axpy.c").stat().st_mode) == 0o640


def test_waiting(run: Runner) -> None:
    shown = run("mpi", "axpy.aspen", "--compute", "spin", "--machine", "cluster.aspen").out
    assert "aspen_spin(" in shown
    assert "aspen_spin(" not in run("mpi", "axpy.aspen", "--machine", "cluster.aspen").out


def test_a_kernel_that_sends_nothing(run: Runner, models: Path) -> None:
    assert run("mpi", "axpy.aspen", "--kernel", "axpy", "-o", "axpy.c") == (2, "", SILENT)
    assert not (models / "axpy.c").exists()


def test_a_doubtful_trait_is_told(run: Runner, models: Path) -> None:
    (models / "sum.aspen").write_text(
        "model sum { kernel main { execute { messages [8] as all_reduce } } }\n", encoding="utf-8"
    )
    outcome = run("mpi", "sum.aspen")
    assert outcome.status == 0
    assert "warning: the trait `all_reduce` names no MPI call\n --> sum.aspen:1:53" in outcome.err
    assert "did you mean `allreduce`" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--compute", "spin"), "--compute spin needs a machine (--machine M): it says how long to wait"),
        (("--set", "m=1"), "unknown parameter `m`"),
        (("--kernel", "mian"), "did you mean `main`?"),
        (("-o", "none/axpy.c"), "cannot write `none/axpy.c`: no such file or directory"),
        (("-o", "."), "cannot write `.`: is a directory"),
        (("--machine", "cluster.aspen", "--socket", "Procesor", "--compute", "spin"), "did you mean `Processor`?"),
    ],
)
def test_refused(run: Runner, arguments: tuple[str, ...], said: str) -> None:
    outcome = run("mpi", "axpy.aspen", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
