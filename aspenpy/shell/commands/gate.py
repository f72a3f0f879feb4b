"""The commands `aspenpy gate` and `aspenpy diff`."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path

from aspenpy.answers.side_by_side import side_by_side
from aspenpy.explore.baseline import Baseline, Origin, is_program, read_baseline
from aspenpy.explore.changes import ENERGY, RUNTIME, VersionChanges, compare_snapshots
from aspenpy.language.diagnostics import AspenError, suggest_instead
from aspenpy.language.files import write_whole
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.report.changes import WRITERS
from aspenpy.report.changes_picture import draw_changes, draw_side_by_side
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import only_entry
from aspenpy.shell.option import Arguments, command, flag, option, repeatable_option
from aspenpy.shell.options import KERNEL, PICTURE, REPORT, RESULTS, SET, machine_names, machines, settings_of
from aspenpy.shell.output import complain, deliver, report, report_written
from aspenpy.tables.numbers import count_of

SUFFIX = ".gate.json"
"""The end of a baseline's name."""

_OPTIONS = (
    repeatable_option(
        "--begin",
        "MODEL",
        "write the FILE, of this application: a file of Aspen or a name, or files of C, C++, Fortran or CUDA by "
        "commas, a folder of them or compile_commands.json; may be repeated",
    ),
    machines(required=False, why="; with --begin"),
    KERNEL,
    SET,
    flag("--update", "write the files anew, with what the models are now"),
    repeatable_option(
        "--limit",
        "[NAME=]PERCENT",
        "the growth that is allowed, of all or of runtime, energy or a resource (default: a hundredth)",
    ),
    REPORT.adapt(", a .md, .xml (JUnit) or .sarif file; may be repeated"),
    *RESULTS,
)


@command(
    "gate",
    "compare",
    "Fail where flops, bytes, messages, predicted time or energy grew beyond a committed baseline",
    options=(
        option("files", "FILE", "baselines, such as spmv.gate.json (default: all below this folder)", nargs="*"),
        *_OPTIONS,
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
    _require_one_file(arguments)
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
    baselines = {path: read_baseline(path) for path in files}
    now = {path: item.origin.take_snapshot(Path(path).parent, only_entry) for path, item in baselines.items()}
    if arguments.update:
        for path, item in baselines.items():
            _write(Path(path), item.replace(snapshot=now[path]))
        return 0
    compared = [*now.values(), *(item.snapshot for item in baselines.values())]
    known = [RUNTIME, ENERGY, *(need.resource for snapshot in compared for need in snapshot.needs)]
    for name in limits:
        if name and name not in known:
            raise CommandError(f"--limit: nothing is called `{name}`: {suggest_instead(name, known, 'quantities')}")
    gates = [
        _make_paths_relative(compare_snapshots(item.snapshot, now[path], limits), os.path.dirname(path))
        for path, item in baselines.items()
    ]
    for changes in gates:
        deliver(changes.report(), arguments)
    for target in arguments.report:
        write_whole(target, WRITERS[os.path.splitext(target)[1]](gates))
        report_written(target)
    failed = sum(len(changes.failed) for changes in gates)
    if failed:
        beyond = f"{count_of(failed, 'number')} grew beyond {'its limit' if failed == 1 else 'their limits'}"
        complain(f"{beyond}: --limit allows more growth, --update makes a baseline of what is now")
    return 1 if failed else 0


def _make_paths_relative(changes: VersionChanges, folder: str) -> VersionChanges:
    """The changes with lines of files beside the baseline by their paths from the current folder."""
    found = []
    for item in changes.found:
        place = os.path.join(folder, item.line).replace(os.sep, "/")
        found.append(item.replace(line=place) if os.path.isfile(place.rpartition(":")[0]) else item)
    return changes.replace(found=tuple(found))


def read_limits(texts: list[str]) -> dict[str, float]:
    """The limits of `--limit` by quantity; the name "" stands for all that have none."""
    limits: dict[str, float] = {}
    for text in texts:
        name, _, percent = text.rpartition("=")
        try:
            limits[name.strip()] = limit = float(percent.strip().removesuffix("%")) / 100
            if not 0 <= limit < inf:
                raise ValueError
        except ValueError:
            raise CommandError(f"--limit: expected 2% or runtime=2%, not `{text}`") from None
    return limits


def _require_one_file(arguments: Arguments) -> None:
    """Raises CommandError where --begin has none to write, or several."""
    if arguments.begin and len(arguments.files) != 1:
        wrong = "begins one file: name only that" if arguments.files else "begins a file: name the FILE to write"
        raise CommandError(
            f"--begin {wrong}, as in `aspenpy gate app{SUFFIX} --begin {arguments.begin[0]} --machine M`"
        )


def _begin(arguments: Arguments) -> int:
    """Writes a baseline with what it takes to make it anew."""
    path = Path(arguments.files[0])
    names = machine_names(arguments.machines)
    if not names:
        raise CommandError("--begin needs a --machine, or several by commas, on which it is predicted")
    models = [name for text in arguments.begin for name in text.split(",") if name]
    if len(models) != 1 and not all(map(is_program, models)):
        raise CommandError("--begin takes one application, or the files of one program")
    begun = [_name_from(path.parent, name) for name in models]
    origin = Origin(
        model=begun[0] if len(begun) == 1 else begun,
        machines=tuple(_name_from(path.parent, name) for name in names),
        kernel=arguments.kernel,
        set=settings_of(arguments),
    )
    _write(path, Baseline(origin, origin.take_snapshot(path.parent, only_entry, report)))
    return 0


def _name_from(folder: Path, name: str) -> str:
    """A file as seen from the baseline's folder, with slashes on all systems; a name of the library as it is."""
    if not os.path.exists(name):
        return name
    return Path(os.path.relpath(name, folder)).as_posix()


def _write(path: Path, baseline: Baseline) -> None:
    write_whole(path, baseline.to_text())
    report_written(path)


@command(
    "diff",
    "compare",
    "Say how two versions of an application, a program or a machine differ",
    options=(
        option("first", "A", "an application, a program's source or folder, or a machine: a file or a name"),
        option("second", "B", "its other version"),
        machines(required=False, why=", for versions of an application: also their times and energies there"),
        KERNEL,
        SET,
        PICTURE.adapt(": how many times each number is what it was"),
        *RESULTS,
    ),
    examples=(
        ("two machines, property by property", "aspenpy diff xeon_gold_6148 xeon_platinum_8480plus"),
        ("two applications, by what their kernels ask for and take", "aspenpy diff stream jacobi --machine haswell"),
    ),
)
def run_diff(arguments: Arguments) -> int:
    names = arguments.first, arguments.second
    if not arguments.machines and (both := _two_machines(*names)) is not None:
        beside = side_by_side(*both, names)
        return deliver(beside.report(), arguments, lambda: draw_side_by_side(beside))
    # Amounts need some machine; what it says is left out below.
    changes = diff_programs(names, machine_names(arguments.machines) or ["simple"], arguments)
    if not arguments.machines:
        changes = changes.replace(found=tuple(item for item in changes.found if not item.machine))
    return deliver(changes.report(), arguments, lambda: draw_changes(changes))


def _two_machines(first: str, second: str) -> tuple[Machine, Machine] | None:
    """Two machines by name; None where the first name is not that of a machine."""
    if is_program(first):
        return None
    try:
        machine = load_machine(first)
    except AspenError:
        return None
    return machine, load_machine(second)


def diff_programs(names: tuple[str, str], on: list[str], arguments: Arguments) -> VersionChanges:
    """The changes from the first version to the second on the machines."""
    origins = (Origin(name, tuple(on), arguments.kernel, settings_of(arguments)) for name in names)
    before, after = (origin.take_snapshot(Path(), only_entry) for origin in origins)
    return compare_snapshots(before, after, {"": inf})
