"""What else of a host can be told: the power of its packages while it was measured, and its GPUs' names and limits."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

RAPL = "sys/class/powercap"
QUERY = ("--query-gpu=name,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader")
LIMIT = 10.0
MOST_GPUS = 16


def package_energies(root: Path = Path("/")) -> dict[str, int]:
    """Microjoules that each package has drawn so far, by RAPL; none where the system lets nobody read it."""
    found = {}
    for folder in (root / RAPL).glob("intel-rapl:*"):
        try:
            if (folder / "name").read_text().startswith("package"):
                found[folder.name] = int((folder / "energy_uj").read_text())
        except (OSError, ValueError):
            continue
    return found


def power(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> Iterator[str]:
    """A remark on each package; none on one whose counter began again meanwhile."""
    for name in sorted(before.keys() & after.keys()):
        joules = (after[name] - before[name]) / 1e6
        if joules > 0:
            yield f"Power of {name} while measuring: {joules / seconds:.3g} W (RAPL)."


def gpus() -> Iterator[str]:
    """A remark on each GPU that nvidia-smi knows."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    try:
        text = subprocess.run([program, *QUERY], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in text.splitlines()[:MOST_GPUS]:
        yield f"GPU: {line.strip()} (nvidia-smi)."
