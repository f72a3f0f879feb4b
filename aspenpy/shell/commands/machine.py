"""The command `aspenpy machine`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.outliers import check_outliers
from aspenpy.answers.checks.plausibility import check_plausibility
from aspenpy.answers.published import compare_with_published, published_results
from aspenpy.answers.side_by_side import side_by_side
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats, fail, suggest_nearest
from aspenpy.language.files import STANDARD_OUTPUT, Reader, put_whole
from aspenpy.language.format import format_text
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from aspenpy.models.library import library_names, load_machine, parse
from aspenpy.models.machine.load import link_machine
from aspenpy.models.machine.load import read_machine as load_source
from aspenpy.models.machine.model import Machine
from aspenpy.models.machine.sheets import SHEET_KINDS, read_sheet, sheet_template, write_machine
from aspenpy.models.machine.texts import KINDS, Kind, skeleton
from aspenpy.probe.importers import import_files
from aspenpy.probe.probe import Probe, import_machine, probe
from aspenpy.probe.topology import read_topology
from aspenpy.shell.commands.check import conclude
from aspenpy.shell.failure import CommandError, refuse_unwritable
from aspenpy.shell.models import check_files
from aspenpy.shell.option import Arguments, Examples, choice, command, flag, option, repeatable_option
from aspenpy.shell.options import OUTPUT, OUTSIDE, formats
from aspenpy.shell.output import deliver, emit, report, report_written
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import REPLACE, STRICT

LIBRARY = ""
"""The value of `--compare` without a machine: the library's machine of the host's processor."""


def run_probe(arguments: Arguments, name: str) -> int:
    """Writes the machine; where its file exists and `--replace` is not given, only reports how the two differ."""
    path = output_of(arguments, name)
    before = load_machine(path) if isinstance(path, Path) and path.exists() else None
    beside = None if arguments.compare is None else load_machine(arguments.compare or _find_in_library(arguments))
    found = import_machine(name, arguments.files) if arguments.files else probe_with_progress(name)
    now = parse(found.text)
    assert isinstance(now, Machine)
    if before is not None and not arguments.replace:
        emit(f"{path} is there already and stays as it is; --replace writes it anew")
        return deliver(side_by_side(before, now, ("before", "now")).report(), arguments)
    with refuse_unwritable(path):
        put_whole(path, found.text)
    if path != STANDARD_OUTPUT:
        report_written(path, f"; `aspenpy show {path}` shows what is in it")
    if beside is not None:
        return deliver(side_by_side(beside, now, (beside.name, name)).report(), arguments)
    return 0


def output_of(arguments: Arguments, name: str) -> Path | str:
    """The file of a machine: that of `--output`, or one of its name; `-` for standard output."""
    path = arguments.output or f"{name}.aspen"
    return path if path == STANDARD_OUTPUT else Path(path)


def probe_with_progress(name: str) -> Probe:
    """Measures this host, with a progress bar on a terminal."""
    return probe(name, lambda done, total: report_activity("measuring this host", done / total))


def _find_in_library(arguments: Arguments) -> str:
    """The library's machine with the longest name of which every word occurs in the name of the processor."""
    host = import_files(arguments.files).host if arguments.files else read_topology()
    processor = "" if host is None else host.processor
    words = set(re.split(r"[^a-z0-9]+", processor.lower()))
    fitting = [name for name in library_names("machines") if set(name.split("_")) <= words]
    if not fitting:
        raise CommandError(f"the library has no `{processor}`; --compare NAME takes another machine")
    return max(fitting, key=len)


EXAMPLES: Examples = (
    ("writes mine.aspen: a cluster to put the numbers of your own into", "aspenpy machine new mine --kind cluster"),
    (
        "what another tool said of a host, as a machine",
        """printf '{"lscpu": [{"field": "CPU(s):", "data": "8"}]}' > site.json; """
        "aspenpy machine probe site --from site.json --replace",
    ),
    ("a data sheet to fill from a vendor's page", "aspenpy machine new --template accelerator -o board.toml"),
    ("the model that it describes, with a source beside each number", "aspenpy machine new board --from board.toml"),
    ("a peak above what the clock allows? less power at full load than idle?", "aspenpy machine check haswell"),
    ("how close is it to published results, the worst in front?", "aspenpy machine check grace sequoia --published"),
)

DEFAULT_KIND: Kind = "cpu"

OPTIONS = (
    choice("action", ("new", "probe", "check"), "new, probe or check", metavar="ACTION"),
    option("names", "NAME", "new, probe: the machine's name; check: files, folders or names", nargs="*"),
    choice("--kind", KINDS, "the kind of machine").adapt(f" (new; default: {DEFAULT_KIND})"),
    choice("--template", SHEET_KINDS, "shows a data sheet to fill (new)"),
    OUTPUT.adapt(": the machine (new, probe; default: NAME.aspen), or the data sheet of --template"),
    REPLACE.adapt(" (new, probe)"),
    repeatable_option(
        "--from",
        "FILE",
        "new: the data sheet to make the machine from; probe: reads what lscpu -J, lstopo --of xml, likwid-topology -c "
        "or STREAM have said of a host, and measures nothing; may be repeated",
        dest="files",
    ),
    option(
        "--compare",
        "MACHINE",
        "probe: shows it beside a machine (default: the library's of the same processor)",
        nargs="?",
        const=LIBRARY,
    ),
    flag("--published", "compares machines of the library, all if none is named, with published results (check)"),
    STRICT.adapt(", or a result outside of the aims, with status 1 (check)"),
    formats(of=" (check, probe)", default=None),
    OUTSIDE,
)


@command(
    "machine",
    "models",
    "Start a machine model from a template, or measure this host; find implausible numbers in one",
    OPTIONS,
    EXAMPLES,
)
def run_machine(arguments: Arguments) -> int:
    """Runs the action; the exit status of `check` is that of `aspenpy check`."""
    if arguments.template and arguments.action != "new":
        raise CommandError("--template belongs to `aspenpy machine new`")
    if arguments.published and arguments.action != "check":
        raise CommandError("--published belongs to `aspenpy machine check`")
    if arguments.action == "new":
        return _write_sheet(arguments) if arguments.template else _write_new(arguments)
    if arguments.action == "probe":
        if arguments.strict or arguments.kind:
            raise CommandError("--strict belongs to `aspenpy machine check`, --kind to `aspenpy machine new`")
        name = _require_one_name(arguments)
        _refuse_name(name, skeleton(name, DEFAULT_KIND))
        return run_probe(arguments, name)
    if arguments.kind or arguments.output or arguments.replace:
        message = "--kind belongs to `aspenpy machine new`, --output and --replace to it and to `aspenpy machine probe`"
        raise CommandError(message)
    if arguments.files or arguments.compare is not None:
        raise CommandError("--from and --compare belong to `aspenpy machine probe`")
    if arguments.published:
        return _check_published(arguments)
    if not arguments.names:
        raise CommandError("`aspenpy machine check` takes files, folders or names")
    return conclude(drop_repeats(_check_machines(arguments)), arguments)


# -- new -------------------------------------------------------------------------------------------


def _write_sheet(arguments: Arguments) -> int:
    """Shows an empty data sheet, or writes it to the file that is asked for."""
    if arguments.names or arguments.files or arguments.kind:
        raise CommandError("--template shows a data sheet, and takes --output alone")
    if arguments.output is None:
        emit(sheet_template(arguments.template).removesuffix("\n"))
        return 0
    return _write_file(arguments, sheet_template(arguments.template), output_of(arguments, ""), "--from takes it")


def _write_new(arguments: Arguments) -> int:
    if arguments.strict or arguments.format:
        raise CommandError("--strict and --format belong to `aspenpy machine check`")
    name = _require_one_name(arguments)
    path = output_of(arguments, name)
    text = skeleton(name, arguments.kind or DEFAULT_KIND)
    _refuse_name(name, text)
    if arguments.files:
        if len(arguments.files) > 1 or arguments.kind:
            raise CommandError("`aspenpy machine new --from` takes one data sheet, which says its kind")
        reader, to = Reader(allow_outside=arguments.allow_outside), os.path.realpath(path)
        sheet = read_sheet(reader.read(arguments.files[0]), name, reader, os.path.dirname(to))
        report(sheet.warnings)
        text = format_text(Source(write_machine(sheet, name), str(path), to), reader)
    elif arguments.compare is not None:
        raise CommandError("--compare belongs to `aspenpy machine probe`")
    return _write_file(arguments, text, path, f"`aspenpy show {path}` shows what is in it")


def _write_file(arguments: Arguments, text: str, path: Path | str, then: str) -> int:
    with refuse_unwritable(path):
        if isinstance(path, Path) and not arguments.replace and (path.exists() or path.is_symlink()):
            raise CommandError(f"`{path}` is there already; --output names another file, --replace writes it anew")
        put_whole(path, text)
    if path != STANDARD_OUTPUT:
        report_written(path, f"; {then}")
    return 0


def _require_one_name(arguments: Arguments) -> str:
    if len(arguments.names) != 1:
        example = f"aspenpy machine {arguments.action} my_{'host' if arguments.action == 'probe' else 'machine'}"
        raise CommandError(f"`aspenpy machine {arguments.action}` takes one name, as in `{example}`")
    return str(arguments.names[0])


def _refuse_name(name: str, text: str) -> None:
    """Refuses a text that the language does not take for a name."""
    if not (name.isidentifier() and name.isascii()):
        usable = re.sub(r"\W", "_", name, flags=re.ASCII)
        instead = f"; `{usable}` is one" if usable.isidentifier() else ""
        message = f"`{name}` is no name for a machine: letters, digits and _, none of them a digit in front{instead}"
        raise CommandError(message)
    try:
        parse(text)
    except AspenError:
        raise CommandError(f"`{name}` is no name for a machine: it is a word of the language") from None


# -- check -----------------------------------------------------------------------------------------


def _check_machines(arguments: Arguments) -> Iterator[Diagnostic]:
    """Reports on each machine as `aspenpy check` makes them, and its implausible numbers."""
    return check_files(arguments.names, lambda file: _check_file(*file, arguments.allow_outside))


def _check_published(arguments: Arguments) -> int:
    """Compares the machines, or all, with published results; 1 with `--strict` where one is outside of the aims."""
    known = sorted({row.machine for row in published_results()})
    for name in arguments.names:
        if name not in known:
            hint = suggest_nearest(name, known) or f"there are results of {', '.join(known)}"
            fail("no-results", f"no published results of `{name}`", hint=hint)
    comparisons = compare_with_published(arguments.names, report_activity)
    deliver(comparisons.report(), arguments)
    return 1 if comparisons.outside and arguments.strict else 0


def _check_file(path: Path, walked: bool, allow_outside: bool) -> Iterator[Diagnostic]:
    source = Reader(allow_outside=allow_outside).read(path)
    if walked:  # a folder also holds applications, and parts that machines include
        warnings: list[Diagnostic] = []
        node = parse_file(source, Reader(allow_outside=allow_outside), warnings)
        if not isinstance(node, nodes.Machine) or all(item.type != "machine" for item in node.components):
            return
        machine = link_machine(node, warnings)
    else:
        machine = load_source(source, Reader(allow_outside=allow_outside))
    yield from check_machine(machine)
    yield from check_plausibility(machine)
    yield from check_outliers(machine, source.text)
