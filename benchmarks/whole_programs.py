"""Whole programs of several files, extracted with a run, against their time and the counts of callgrind.

    python benchmarks/whole_programs.py [MACHINE] [NAME ...]

Without a file of a machine, the host is probed first. The programs of HELD_BACK were written together with the others,
and not run before the model was finished. Flops, loads and stores are those of the program's own code, without spills.
"""

import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.assembly.compiling import Recipe
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.learn.model_validation import process_overhead
from aspenpy.models.library import parse

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.extract import callgrind

PROGRAMS = Path(__file__).parent / "whole"
COMMANDS = {
    "lattice": "./a.out 200 40",
    "solver": "./a.out 250",
    "radix": "./a.out 1000000 8",
    "lookup": "./a.out 60000 1000",
    "particles": "./a.out 12 30",
    "euler": "./a.out 200 60",
    "multigrid": "./a.out 512 40",
    "graph": "./a.out 60000 20",
}
HELD_BACK = frozenset({"particles", "euler", "multigrid", "graph"})
OPTIONS = ("-O2",)
TIMINGS = 15
LANES = {("p", "d"): 2, ("p", "s"): 4, ("s", "d"): 1, ("s", "s"): 1}
_FLOPS = re.compile(r"v?(?:add|sub|mul|div|sqrt)([sp])([sd])$")


def build(name: str, folder: Path) -> tuple[Path, list[str]]:
    sources = sorted(str(path) for path in (PROGRAMS / name).glob("*.c*"))
    program = folder / "a.out"
    compiler = "g++" if sources[0].endswith("pp") else "gcc"
    subprocess.run([compiler, *OPTIONS, "-g", *sources, "-o", str(program), "-lm"], check=True)
    return program, COMMANDS[name].split()[1:]


def measure(program: Path, arguments: list[str]) -> float:
    """The least seconds of processor of a run."""
    found = []
    for _ in range(TIMINGS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(program), *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def count(program: Path, arguments: list[str], folder: Path) -> Counter[str]:
    """Flops, and bytes loaded and stored, of the program's own code."""
    counts = folder / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no"]
    command += [f"--callgrind-out-file={counts}", str(program), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    listed = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", str(program)], text=True)
    lines = {int(at, 16): (name.split()[-1], rest.strip()) for at, name, rest in callgrind._LINE.findall(listed)}
    base = load_address(counts)
    total: Counter[str] = Counter()
    for address, times in callgrind.executed(counts).items():
        name, rest = lines.get(address - base) or lines.get(address) or ("", "")
        arithmetic = _FLOPS.match(name)
        if arithmetic:
            total["flops"] += times * LANES[arithmetic[1], arithmetic[2]]
        for kind in callgrind.kinds(name, rest) if name else ():
            if kind in ("load", "store"):
                total[f"{kind}s"] += times * callgrind.size(name, rest)
    return total


def load_address(counts: Path) -> int:
    """Where Valgrind loads a program that may stand anywhere."""
    return (
        0x108000
        if "0x108" in counts.read_text(encoding="utf-8") or "0x109" in counts.read_text(encoding="utf-8")
        else 0
    )


def compare(name: str, machine: aspenpy.Machine) -> dict[str, float]:
    """Predicted over measured time, flops, bytes loaded and stored; parameters left open."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        program, arguments = build(name, folder)
        recipe = Recipe(OPTIONS)
        found = aspenpy.extract_application(
            PROGRAMS / name, level="o2", chains=True, run=ProgramRun(COMMANDS[name]), recipe=recipe
        )
        application = parse(found.text, name)
        prediction = aspenpy.predict(application, machine)
        time = float(prediction.runtime) + process_overhead(prediction).total
        counted = count(program, arguments, folder)
        case = Case(application)
        flops = sum(_count(case, "flops", kind) for kind in ("add", "multiply", "divide", "square_root", "fma"))
        said = {"flops": flops, "loads": _count(case, "loads"), "stores": _count(case, "stores")}
        measured = measure(program, arguments)
        row = {"seconds": measured, "time": time / measured, "pages": process_overhead(prediction).total / measured}
        row |= {kind: said[kind] / counted[kind] if counted[kind] else float(said[kind] == 0) for kind in said}
        return {**row, "open": len(found.left())}


def _count(case: Case, kind: str, *traits: str) -> float:
    try:
        return float(aspenpy.count(case, kind, traits=traits))
    except aspenpy.AspenError:
        return 0.0


def main() -> None:
    names = [name for name in sys.argv[1:] if name in COMMANDS] or [*COMMANDS]
    files = [name for name in sys.argv[1:] if name not in COMMANDS]
    if files:
        machine = aspenpy.load_machine(files[0])
    else:
        from aspenpy.probe.probe import probe

        machine = parse(probe("here").text)
    for name in names:
        row = compare(name, machine)
        group = "held back" if name in HELD_BACK else "seen"
        print(f"{name:12}", *(f"{key} {value:8.3g}" for key, value in row.items()), group, flush=True)


if __name__ == "__main__":
    main()
