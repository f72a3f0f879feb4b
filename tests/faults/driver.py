"""Runs one command again and again in forked children, with a fault at its first, second, ... call of the file system,
and looks at what each leaves. `faults.c` is loaded before libc. Prints what is wrong as JSON."""

import ctypes
import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from errno import EACCES, EIO, ENOSPC, errorcode
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from aspenpy.engine import backends as backends_module
from aspenpy.language import tables as tables_module
from aspenpy.shell.main import main
from aspenpy.sweeps import run as run_module
from tests.thorough import THOROUGH

KILLED = 0
ERRORS = (ENOSPC, EIO, EACCES)
SECONDS = 300

MODEL = "model small { param n = 1 kernel main { execute { loads [n] } } }\n"
MACHINE = "machine Tiny { socket [1] cpu }\nsocket cpu { resource loads(n) [n/1e9] }\n"
UGLY = "model   small { param n=1\nkernel main { execute { loads   [n] } } }\n"

faults = ctypes.CDLL(None)
faults.fault_last.restype = ctypes.c_char_p
faults.fault_calls.restype = ctypes.c_long
faults.fault_arm.argtypes = (ctypes.c_char_p, ctypes.c_long, ctypes.c_int)


class Outcome(NamedTuple):
    status: int | None  # None where it was killed, below zero where it crashed or took longer than SECONDS
    error: str
    calls: int
    last: str


class Scenario(NamedTuple):
    """`prepare` makes a folder ready for `command`; `again` finishes what a fault has interrupted. `target` is what is
    written: what stands there is what stood there before, or what an undisturbed run writes."""

    prepare: Callable[[], None]
    command: tuple[str, ...]
    again: tuple[tuple[str, ...], ...]
    target: str
    silent: bool = False
    watched: str = ""


def forked(watched: Path, scratch: Path, arguments: tuple[str, ...], at: int = -1, reason: int = 0) -> Outcome:
    """A command in a child, with a fault at one call."""
    report = scratch / "report"
    report.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        status = 99
        try:
            err, out = open(scratch / "err", "w", encoding="utf-8"), open(scratch / "out", "w", encoding="utf-8")  # noqa: SIM115 - the child ends below
            with err, out, redirect_stderr(err), redirect_stdout(out):
                faults.fault_arm(os.fsencode(watched), at, reason)
                status = main(arguments)
                calls = faults.fault_calls()
                faults.fault_arm(b"", -1, 0)
                report.write_text(json.dumps([calls, faults.fault_last().decode()]), encoding="utf-8")
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        number = os.WTERMSIG(ended)
        return Outcome(
            None if number == signal.SIGKILL else -number, (scratch / "err").read_text(encoding="utf-8"), 0, ""
        )
    calls, last = json.loads(report.read_text(encoding="utf-8")) if report.exists() else (0, "")
    return Outcome(os.WEXITSTATUS(ended), (scratch / "err").read_text(encoding="utf-8"), calls, last)


def content(path: Path) -> bytes | None:
    """What is in a file, or in all files of a folder, by name; None if there is none."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return repr([(str(file.relative_to(path)), file.read_bytes()) for file in files]).encode()
    return path.read_bytes() if path.exists() else None


def wrong(
    outcome: Outcome, killed: bool, silent: bool, work: Path, target: Path, old: bytes | None, new: bytes | None
) -> str:
    """What is wrong after a fault, before anything is taken up."""
    left = sorted(path.name for path in work.iterdir() if path.name.startswith("."))
    there = content(target)
    if killed != (outcome.status is None):
        return f"status {outcome.status}: {outcome.error}"
    if there not in (old, new):
        return "what stands there is neither the old nor the new"
    if not killed and left:
        return f"{left} is left"
    if not killed and "Traceback" in outcome.error:
        return outcome.error
    if outcome.status == 0 and there != new and not silent:
        return "it says that all is well, and there is nothing new"
    errors = outcome.error.count("error: ") + outcome.error.count("aspenpy: ")
    if not killed and errors != (1 if outcome.status else 0):
        return f"status {outcome.status}, and the messages are {outcome.error!r}"
    return f"a fault that nobody is to hear of gives status {outcome.status}" if silent and outcome.status else ""


def trials(scenario: Scenario, work: Path, scratch: Path, step: int) -> tuple[int, int, list[str]]:
    """How many faults there were, of how many calls, and what was wrong after each: one of the errors in turn and a
    kill at one call in `step`; if thorough, each error and a kill at each call."""

    def fresh() -> None:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        os.chdir(work)
        scenario.prepare()

    target, watched = work / scenario.target, work / scenario.watched
    fresh()
    old = content(target)
    undisturbed = forked(watched, scratch, scenario.command)
    assert undisturbed.status == 0, undisturbed.error
    new = content(target)
    assert new not in (None, old)
    found, count = [], 0
    for at in range(1, undisturbed.calls + 1, 1 if THOROUGH else step):
        for reason in (ERRORS if THOROUGH else (ERRORS[at % len(ERRORS)],)) + (KILLED,):
            fresh()
            outcome = forked(watched, scratch, scenario.command, at, reason)
            problem = wrong(outcome, reason == KILLED, scenario.silent, work, target, old, new)
            for again in scenario.again:
                taken_up = forked(watched, scratch, again)
                if taken_up.status == 0:
                    break
            else:
                problem = problem or f"it cannot be taken up: {taken_up.error}"
            if content(target) != new and not problem:
                problem = "what was taken up gives something else"
            if (work / f"{scenario.target}.part").exists() and not problem:
                problem = f"left: {os.listdir(work / f'{scenario.target}.part')}"
            count += 1
            if problem:
                found.append(f"call {at} ({outcome.last}), {errorcode.get(reason, 'killed')}: {problem}")
    return count, undisturbed.calls, found


# -- scenarios -------------------------------------------------------------------------------------


def models() -> None:
    Path("small.aspen").write_text(MODEL, encoding="utf-8")
    Path("tiny.aspen").write_text(MACHINE, encoding="utf-8")


def sweep(name: str, before: Callable[[Path], object] = lambda path: None) -> Scenario:
    """A sweep of two stretches, whose first has points without a value, over what `before` puts there, if anything."""
    command = ("sweep", "small.aspen", "--machine", "tiny.aspen", "--jobs", "1", "-o", name, "--over")

    def prepare() -> None:
        models()
        before(Path(name))

    axis = "n=-20..650:lin:400"
    return Scenario(prepare, (*command, axis), ((*command, axis, "--resume"), (*command, axis)), name)


def years_of_work(path: Path) -> None:
    path.write_text("years of work\n", encoding="utf-8")


def older_store(path: Path) -> None:
    """A Zarr store of an earlier sweep, with one array."""
    (path / "runtime").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}', encoding="utf-8")
    (path / ".zattrs").write_text('{"aspenpy_version": "0"}', encoding="utf-8")
    (path / "runtime" / ".zarray").write_text("{}", encoding="utf-8")
    (path / "runtime" / "0").write_text("years of work\n", encoding="utf-8")


def fmt() -> Scenario:
    command = ("fmt", "small.aspen")
    return Scenario(
        lambda: Path("small.aspen").write_text(UGLY, encoding="utf-8") and None, command, (command,), "small.aspen"
    )


def cache() -> Scenario:
    """The grammar cache: its faults are nobody's concern, and it is whole or not there."""
    tables = tables_module
    grammar = Path(tables.grammar_path()).read_text(encoding="utf-8")
    made = tables.compute_tables(grammar)
    tables.compute_tables = lambda grammar: made
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.environ["FAULTS"], "work")
    folder = Path(os.environ["XDG_CACHE_HOME"], "aspenpy")

    def prepare() -> None:
        tables.tables.cache_clear()
        models()

    made_from = Path(tables.__file__).read_bytes() + grammar.encode()
    name = f"grammar-{tables.crc32(made_from):08x}.{sys.implementation.cache_tag}"
    command = ("eval", "small.aspen", "--machine", "tiny.aspen")
    return Scenario(prepare, command, (command,), str(Path(folder.name, name)), silent=True, watched="aspenpy")


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "csv": lambda: sweep("r.csv", years_of_work),
    "parquet": lambda: sweep("r.parquet", years_of_work),
    "npz": lambda: sweep("r.npz"),
    "json": lambda: sweep("r.json"),
    "netcdf": lambda: sweep("r.nc", years_of_work),
    "zarr": lambda: sweep("r.zarr", older_store),
    "fmt": fmt,
    "cache": cache,
}

LOADED = {"netcdf": ("xarray", "h5netcdf.legacyapi", "distributed"), "zarr": ("xarray", "zarr")}
"""Modules that a child would otherwise import each time."""

if __name__ == "__main__":
    run_module.STRETCH = 1
    numpy = backends_module.BACKENDS["numpy"]
    fields = {field: getattr(numpy, field) for field in numpy._fields}
    backends_module.BACKENDS["numpy"] = backends_module.Backend(**{**fields, "block": 256})
    for name in (
        "aspenpy.shell.commands.sweep",
        "aspenpy.sweeps.formats",
        "aspenpy.sweeps.grid",
        "aspenpy.shell.progress",
    ):
        import_module(name)
    if find_spec("pyarrow"):
        import_module("pyarrow.csv"), import_module("pyarrow.parquet")
    for name in LOADED.get(sys.argv[1], ()):
        if find_spec(name.partition(".")[0]):
            import_module(name)
    if "xarray" in sys.modules:
        sys.modules["xarray"].Dataset({"x": [0.0]})  # which imports more
    here = Path(os.environ["FAULTS"])
    (here / "scratch").mkdir(exist_ok=True)
    scenario = SCENARIOS[sys.argv[1]]()
    gc.freeze()  # what a child does not touch is not copied
    with redirect_stdout(sys.stderr):
        result = trials(scenario, here / "work", here / "scratch", int(sys.argv[2]))
    print(json.dumps(result))
