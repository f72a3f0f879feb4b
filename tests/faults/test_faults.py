"""Each call of the file system fails once, and the process is killed at each once: nothing is lost or half-written,
there is one message, and what was interrupted is finished by the next command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc"), reason="the faults need Linux and gcc"
)

LEAST_CALLS = {"csv": 35, "parquet": 35, "npz": 35, "json": 35, "fmt": 5, "cache": 8}
"""Of the file system by each command. A sweep opens, writes, settles and renames its journal, two stretches, the
reasons and the result, marks the journal, and removes what is left."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", str(HERE / "faults.c"), "-o", str(built), "-ldl"], check=True)
    return built


@pytest.mark.parametrize("scenario", LEAST_CALLS)
def test_every_fault_once(library: Path, tmp_path: Path, scenario: str) -> None:
    if scenario == "parquet":
        pytest.importorskip("pyarrow")
    environment = {"FAULTS": str(tmp_path), "LD_PRELOAD": str(library), "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, str(HERE / "driver.py"), scenario],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    trials, wrong = json.loads(found.stdout)
    assert wrong == []
    assert trials >= 2 * LEAST_CALLS[scenario]  # an error and a kill at each
