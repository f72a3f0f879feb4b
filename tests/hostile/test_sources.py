"""Hostile sources of Fortran, CUDA, HIP, Kokkos and SYCL: each has a model, or is refused at its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import pytest

from tests.hostile.sources import MAKERS, files
from tests.thorough import some

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")

Run = Callable[..., CompletedProcess[str]]


def test_the_same_seed_makes_the_same_files() -> None:
    assert [files(f"source {n}") for n in range(40)] == [files(f"source {n}") for n in range(40)]
    assert {Path(name).suffix for n in range(40) for maker in MAKERS for name in maker(Random(n))} >= {
        ".f90", ".F90", ".f", ".F", ".cu", ".hip", ".cpp",
    }  # fmt: skip


@pytest.mark.parametrize("number", range(some(360, 24)))
def test_hostile_sources_have_models_or_are_refused(number: int, run: Run, tmp_path: Path) -> None:
    """Without a traceback, within the memory and time of `run`."""
    made = files(f"source {number}")
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    done = run("extract", next(iter(made)), "--as", "source")
    assert ("kernel" in done.stdout) if done.returncode == 0 else ("error: " in done.stderr)
