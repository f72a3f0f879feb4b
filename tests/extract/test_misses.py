"""D1 misses of the kernels of PolyBench: what is extracted from their text against Valgrind's simulator.

`misses.json` has what callgrind's cache (32 KiB of 8 ways, lines of 64 bytes, as cachegrind's) misses within `kernel`
with what it calls, compiled with -O1, with nothing of its data in the cache when it begins. With ASPENPY_THOROUGH=1 all
are predicted, and counted anew.
"""

import json
import re
import shutil
import statistics
import subprocess
from functools import cache
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from tests.extract.callgrind import OPTIONS
from tests.extract.modelled import PROGRAMS
from tests.thorough import THOROUGH, thorough

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

STORED: dict[str, int] = json.loads((Path(__file__).parent / "misses.json").read_text(encoding="utf-8"))
QUICK = ("2mm", "adi", "durbin", "gesummv", "lu", "nussinov", "symm", "trisolv", "trmm")

EMPTIED = """
static volatile char others[1 << 20];
static __attribute__((noinline)) void empty_the_cache(void)
{
  for (int i = 0; i < 1 << 20; i += 64)
    others[i] = 1;
}

"""


def error(name: str) -> float:
    program, size = name.rsplit("_", 1)
    app = aspenpy.parse(extract(PROGRAMS / f"{program}.c", flags=(f"-DN={size}",)).text)
    uses = aspenpy.traffic(app, aspenpy.load_machine("cachegrind")).uses
    misses = sum(use.misses for use in uses if use.level == "D1" and use.kernel != "main")
    return abs(misses / STORED[name] - 1)


@cache
def errors() -> dict[str, float]:
    return {name: error(name) for name in STORED if THOROUGH or (name.rsplit("_", 1)[0] in QUICK and "_150" in name)}


def test_misses_are_those_of_a_simulated_cache() -> None:
    found = errors()
    assert statistics.median(found.values()) < 0.03
    assert sum(each < 0.1 for each in found.values()) >= (0.85 if THOROUGH else 0.75) * len(found)


def test_pages_name_as_many_counts_as_are_stored() -> None:
    docs = Path(__file__).parents[2] / "docs"
    assert f"| {len(STORED)} compared: " in (docs / "extract.md").read_text(encoding="utf-8")
    assert f"misses of programs extracted from C, {len(STORED)} counts" in (docs / "trust.md").read_text(
        encoding="utf-8"
    )


@thorough
def test_errors_are_those_of_the_pages() -> None:
    """Half within 0.7 %, 51 of 58 within 10 %, at worst 38 %."""
    found = errors()
    assert statistics.median(found.values()) < 0.007
    assert sum(each < 0.1 for each in found.values()) == 51
    assert max(found, key=found.__getitem__) == "gramschmidt_150"
    assert max(found.values()) == pytest.approx(0.38, abs=0.01)


@thorough
@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("gcc")), reason="counts misses with Valgrind")
@pytest.mark.parametrize("name", sorted(STORED))
def test_stored_misses_are_those_of_callgrind(name: str, tmp_path: Path) -> None:
    assert counted(name, tmp_path) == pytest.approx(STORED[name], rel=0.02, abs=5)


def counted(name: str, folder: Path) -> int:
    program, size = name.rsplit("_", 1)
    text = (PROGRAMS / f"{program}.c").read_text(encoding="utf-8")
    text = re.sub(r"^(static )?void kernel\(", "__attribute__((noinline)) void kernel(", text, flags=re.MULTILINE)
    before, main = text.split("int main(void)")
    main = re.sub(r"^  kernel\(", "  empty_the_cache();\n  kernel(", main, flags=re.MULTILINE)
    source, counts = folder / "program.c", folder / "counts"
    source.write_text(f"{before}{EMPTIED}int main(void){main}", encoding="utf-8")
    subprocess.run(
        ["gcc", "-O1", *OPTIONS, f"-DN={size}", str(source), "-o", str(folder / "program"), "-lm"], check=True
    )
    cache = ["--cache-sim=yes", "--D1=32768,8,64", "--I1=32768,8,64", "--LL=33554432,16,64"]
    within = ["--toggle-collect=kernel", "--collect-atstart=no", f"--callgrind-out-file={counts}"]
    command = ["valgrind", "--tool=callgrind", *cache, *within, str(folder / "program")]
    subprocess.run(command, check=False, capture_output=True)
    lines = {
        line.split(":")[0]: line.split()[1:] for line in counts.read_text(encoding="utf-8").splitlines() if ":" in line
    }
    found = dict(zip(lines["events"], map(int, lines["totals"]), strict=False))
    return found["D1mr"] + found["D1mw"]
