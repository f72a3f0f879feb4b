"""A call of the file system fails, or the process is killed at it: nothing is lost or half-written, there is one
message, and what was interrupted is finished by the next command.

With ASPENPY_THOROUGH=1, every call of every scenario fails once with each error. Without it `fmt` and the cache are
tried at every call, a sweep into CSV at every fourteenth, and into Parquet and Zarr, which share its
store, at two or three; each with one of the errors and a kill."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.thorough import HANGS, THOROUGH, slow

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

pytestmark = [
    slow,
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="the faults need Linux and gcc"),
]

LEAST_CALLS = {"csv": 35, "parquet": 35, "npz": 35, "json": 35, "netcdf": 50, "zarr": 100, "fmt": 5, "cache": 8}
"""Of the file system by each command. A sweep opens, writes, settles and renames its journal, two stretches, the
reasons and the result, marks the journal, and removes what is left. A Zarr store has three arrays of several files."""

STEPS = {"csv": 14, "parquet": 23, "npz": 29, "json": 23, "netcdf": 61, "zarr": 193}
"""One call in so many is tried."""

ALIKE = {"npz", "json", "netcdf"}
"""Written as the others are from the same store; tried if thorough."""

NEEDS = {"parquet": ("pyarrow",), "netcdf": ("xarray", "h5netcdf", "h5py"), "zarr": ("xarray", "zarr")}
"""Packages of the formats that need some."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", str(HERE / "faults.c"), "-o", str(built), "-ldl"], check=True)
    return built


@pytest.mark.parametrize("scenario", LEAST_CALLS if THOROUGH else [name for name in LEAST_CALLS if name not in ALIKE])
def test_faults(library: Path, tmp_path: Path, scenario: str) -> None:
    for package in NEEDS.get(scenario, ()):
        pytest.importorskip(package)
    environment = {"FAULTS": str(tmp_path), "LD_PRELOAD": str(library), "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, str(HERE / "driver.py"), scenario, str(STEPS.get(scenario, 1))],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=3_600 if THOROUGH else HANGS,
    )
    assert found.returncode == 0, found.stderr
    trials, calls, wrong = json.loads(found.stdout)
    assert wrong == []
    assert calls >= LEAST_CALLS[scenario]
    tried = len(range(0, calls, 1 if THOROUGH else STEPS.get(scenario, 1)))
    assert trials == tried * (4 if THOROUGH else 2)  # three errors or one, and a kill
