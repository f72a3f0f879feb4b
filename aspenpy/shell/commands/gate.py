"""The commands `aspenpy gate` and `aspenpy diff`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.side_by_side import side_by_side
from aspenpy.explore.changes import VersionChanges, compare_snapshots
from aspenpy.explore.snapshot import Snapshot, read_snapshot, take_snapshot
from aspenpy.extract.extraction import extract
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import write_whole
from aspenpy.language.opening import read_text_file
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.models.machine.model import Machine
from aspenpy.report.changes import WRITERS
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import only_entry
from aspenpy.shell.option import Arguments, command, flag, option, repeatable_option
from aspenpy.shell.options import KERNEL, RESULTS, SET, machine_names, machines, settings_of
from aspenpy.shell.output import deliver, report_written

SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
"""Ends of names of programs, of which a model is made."""

SUFFIX = ".gate.json"
"""The end of a baseline's name."""

PLACE = re.compile(r"^\s*// (\S+:\d+):")
"""The comment above a kernel or block of an extracted model: its place in the program."""

BASELINE = (
    option("--begin", "MODEL", "write the FILE, of this application: a file of Aspen, C or C++, or a name"),
    machines(required=False, why="; with --begin"),
    KERNEL,
    SET,
    flag("--update", "write the files anew, with what the models are now"),
    repeatable_option(
        "--limit",
        "[NAME=]PERCENT",
        "the growth that is allowed, of all or of runtime, energy or a resource (default: a hundredth)",
    ),
    repeatable_option("--report", "FILE", "also a report, a .md, .xml (JUnit) or .sarif file; may be repeated"),
    *RESULTS,
)


@command(
    "gate",
    "compare",
    "Fail where flops, bytes, messages, predicted time or energy grew beyond a committed baseline",
    options=(
        option("files", "FILE", "baselines, such as spmv.gate.json (default: all below this folder)", nargs="*"),
        *BASELINE,
    ),
    examples=(
        (
            "a baseline; `aspenpy gate` alone then compares all that lie below this folder",
            "aspenpy gate comd.gate.json --begin comd --machine haswell,epyc_9654 --set nx=30",
        ),
        ("one of one kernel", "aspenpy gate triad.gate.json --begin stream --machine simple --kernel triad"),
    ),
)
def run_gate(arguments: Arguments) -> int:
    if arguments.begin and len(arguments.files) != 1:
        raise CommandError("--begin begins one file: name only that")
    files = arguments.files or sorted(str(path) for path in Path().rglob(f"*{SUFFIX}"))
    if not files:
        raise CommandError(f"there is no *{SUFFIX} below this folder; --begin and --machine begin one")
    limits = read_limits(arguments.limit)
    for path in arguments.report:
        if os.path.splitext(path)[1] not in WRITERS:
            raise CommandError(f"--report: `{path}` has to end with {', '.join(WRITERS)}")
    if arguments.begin:
        return _begin(arguments)
    if arguments.results and len(files) > 1:
        raise CommandError("--output takes the result of one baseline; --report that of several")
    gates = [_pass_gate(path, limits, arguments) for path in files]
    if arguments.update:
        return 0
    for changes in gates:
        deliver(changes.report(), arguments)
    for target in arguments.report:
        write_whole(target, WRITERS[os.path.splitext(target)[1]](gates))
        report_written(target)
    return 1 if any(changes.failed for changes in gates) else 0


def read_limits(texts: list[str]) -> dict[str, float]:
    """The limits of `--limit` by quantity, "" for all others."""
    limits: dict[str, float] = {}
    for text in texts:
        name, _, percent = text.rpartition("=")
        try:
            limits[name.strip()] = float(percent.strip().removesuffix("%")) / 100
        except ValueError:
            raise CommandError(f"--limit: expected 2% or runtime=2%, not `{text}`") from None
    return limits


def _begin(arguments: Arguments) -> int:
    """Writes a baseline with what it takes to make it anew."""
    path = Path(arguments.files[0])
    names = machine_names(arguments.machines)
    if not names:
        raise CommandError("--begin needs a --machine, or several by commas, on which it is predicted")
    folder = path.parent
    of = {
        "model": _name_from(folder, arguments.begin),
        "machines": [_name_from(folder, name) for name in names],
        "kernel": arguments.kernel,
        "set": settings_of(arguments),
    }
    _write(path, of, _snapshot(of, folder))
    return 0


def _name_from(folder: Path, name: str) -> str:
    """A file as seen from the baseline's folder, with slashes on all systems; a name of the library as it is."""
    if not os.path.exists(name):
        return name
    return Path(os.path.relpath(name, folder)).as_posix()


def _write(path: Path, of: Mapping[str, Any], snapshot: Snapshot) -> None:
    write_whole(path, json.dumps({**snapshot.to_json(), "of": of}, indent=1) + "\n")
    report_written(path)


def _snapshot(of: Mapping[str, Any], folder: Path) -> Snapshot:
    application, lines = load_program(_file_in(folder, of["model"]))
    kernel = only_entry(application, of["kernel"])
    cases = [
        Case(application, load_machine(_file_in(folder, name)), None, kernel, of["set"]) for name in of["machines"]
    ]
    return take_snapshot(cases, lines)


def _file_in(folder: Path, name: str) -> str:
    return str(folder / name) if (folder / name).is_file() else name


def load_program(name: str) -> tuple[Application, dict[int, str]]:
    """An application, or the model of a program in C or C++ with the places in it by the lines of the model."""
    if not name.endswith(SOURCES):
        return load_application(name), {}
    text = extract(name, level="o2").text
    found = parse(text, name)
    assert isinstance(found, Application)
    lines, place = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        told = PLACE.match(line)
        place = told[1] if told else place
        if place:
            lines[number] = place
    return found, lines


def _pass_gate(path: str, limits: Mapping[str, float], arguments: Arguments) -> VersionChanges:
    """Compares a baseline with the models as they are now, and writes it anew with --update."""
    try:
        kept = json.loads(read_text_file(path, hint="--begin MODEL --machine M writes it"))
        of = kept["of"]
        before = read_snapshot(kept, path)
    except (ValueError, KeyError, TypeError):
        raise CommandError(f"`{path}` is no baseline; --begin and --machine begin one") from None
    after = _snapshot(of, Path(path).parent)
    if arguments.update:
        _write(Path(path), of, after)
    return compare_snapshots(before, after, limits)


@command(
    "diff",
    "compare",
    "Say how two versions of an application, a program or a machine differ",
    options=(
        option("first", "A", "an application, a program in C or C++, or a machine: a file or a name"),
        option("second", "B", "its other version"),
        machines(required=False, why=", for versions of an application: also their times and energies there"),
        KERNEL,
        SET,
        *RESULTS,
    ),
    examples=(
        ("two machines, property by property", "aspenpy diff xeon_gold_6148 xeon_platinum_8480plus"),
        ("two applications, by what their kernels ask for and take", "aspenpy diff stream jacobi --machine haswell"),
    ),
)
def run_diff(arguments: Arguments) -> int:
    names = arguments.first, arguments.second
    if not arguments.machines and (found := _two_machines(*names)) is not None:
        return deliver(side_by_side(found[0], found[1], names).report(), arguments)
    changes = diff_programs(names, machine_names(arguments.machines) or ["simple"], arguments)
    if not arguments.machines:
        changes = changes.replace(found=tuple(item for item in changes.found if not item.machine))
    return deliver(changes.report(), arguments)


def _two_machines(first: str, second: str) -> tuple[Machine, Machine] | None:
    """Both as machines; None where the first is none."""
    if first.endswith(SOURCES):
        return None
    try:
        found = load_machine(first)
    except AspenError:
        return None
    return found, load_machine(second)


def diff_programs(names: tuple[str, str], machines: list[str], arguments: Arguments) -> VersionChanges:
    """The changes from one version to the other on the machines."""
    of = {"machines": machines, "kernel": arguments.kernel, "set": settings_of(arguments)}
    before, after = (_snapshot({**of, "model": name}, Path()) for name in names)
    return compare_snapshots(before, after)
