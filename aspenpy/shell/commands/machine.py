"""`aspenpy machine`: start a machine model from a template, or measure one; find implausible numbers in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import implausible
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats
from aspenpy.language.files import Reader, put_whole
from aspenpy.language.parser import parse_file
from aspenpy.models.library import parse
from aspenpy.models.machine.load import link
from aspenpy.models.machine.load import load as load_source
from aspenpy.models.machine.skeleton import KINDS, Kind, skeleton
from aspenpy.shell.commands.check import conclude
from aspenpy.shell.failure import CommandError, writing
from aspenpy.shell.models import check_files
from aspenpy.shell.option import Arguments, Examples, choice, option, repeatable_option
from aspenpy.shell.options import OUTPUT, OUTSIDE, formats
from aspenpy.shell.output import emit
from aspenpy.shell.probing import LIBRARY, output_of, run_probe
from aspenpy.shell.study_options import REPLACE, STRICT

EXAMPLES: Examples = (
    ("writes mine.aspen: a cluster to put the numbers of your own into", "aspenpy machine new mine --kind cluster"),
    (
        "what another tool said of a host, as a machine",
        """printf '{"lscpu": [{"field": "CPU(s):", "data": "8"}]}' > site.json; """
        "aspenpy machine probe site --from site.json --replace",
    ),
    ("a peak above what the clock allows? less power at full load than idle?", "aspenpy machine check haswell"),
)

DEFAULT_KIND: Kind = "cpu"


OPTIONS = (
    choice("action", ("new", "probe", "check"), "new, probe or check", metavar="ACTION"),
    option("names", "NAME", "new, probe: the machine's name; check: files, folders or names", nargs="+"),
    choice("--kind", KINDS, "the kind of machine").here(f" (new; default: {DEFAULT_KIND})"),
    OUTPUT.here(": the machine (new, probe; default: NAME.aspen)"),
    REPLACE.here(" (new, probe)"),
    repeatable_option(
        "--from",
        "FILE",
        "probe: reads what lscpu -J, lstopo --of xml, likwid-topology -c or STREAM have said of a host, and measures "
        "nothing; may be repeated",
        dest="files",
    ),
    option(
        "--compare",
        "MACHINE",
        "probe: shows it beside a machine (default: the library's of the same processor)",
        nargs="?",
        const=LIBRARY,
    ),
    STRICT.here(" (check)"),
    formats(of=" (check, probe)", default=None),
    OUTSIDE,
)


def run(arguments: Arguments) -> int:
    """Of `check` as of `aspenpy check`."""
    if arguments.action == "new":
        return _new(arguments)
    if arguments.action == "probe":
        if arguments.strict or arguments.kind:
            raise CommandError("--strict belongs to `aspenpy machine check`, --kind to `aspenpy machine new`")
        name = _one_name(arguments)
        _refuse_name(name, skeleton(name, DEFAULT_KIND))
        return run_probe(arguments, name)
    if arguments.kind or arguments.output or arguments.replace:
        message = "--kind belongs to `aspenpy machine new`, --output and --replace to it and to `aspenpy machine probe`"
        raise CommandError(message)
    _refuse_probing(arguments)
    return conclude(drop_repeats(_diagnostics(arguments)), arguments)


# -- new -------------------------------------------------------------------------------------------


def _new(arguments: Arguments) -> int:
    if arguments.strict or arguments.format:
        raise CommandError("--strict and --format belong to `aspenpy machine check`")
    _refuse_probing(arguments)
    name = _one_name(arguments)
    kind: Kind = arguments.kind or DEFAULT_KIND
    text = skeleton(name, kind)
    _refuse_name(name, text)
    path = output_of(arguments, name)
    with writing(path):
        if isinstance(path, Path) and not arguments.replace and (path.exists() or path.is_symlink()):
            raise CommandError(f"`{path}` is there already; --output names another file, --replace writes it anew")
        put_whole(path, text)
    emit(f"{path} is written; `aspenpy show {path}` shows what is in it")
    return 0


def _refuse_probing(arguments: Arguments) -> None:
    if arguments.files or arguments.compare is not None:
        raise CommandError("--from and --compare belong to `aspenpy machine probe`")


def _one_name(arguments: Arguments) -> str:
    if len(arguments.names) > 1:
        raise CommandError(f"`aspenpy machine {arguments.action}` takes one name")
    return str(arguments.names[0])


def _refuse_name(name: str, text: str) -> None:
    """What the language does not take for a name."""
    if not (name.isidentifier() and name.isascii()):
        raise CommandError(f"`{name}` is no name for a machine: letters, digits and _, none of them a digit in front")
    try:
        parse(text)
    except AspenError:
        raise CommandError(f"`{name}` is no name for a machine: it is a word of the language") from None


# -- check -----------------------------------------------------------------------------------------


def _diagnostics(arguments: Arguments) -> Iterator[Diagnostic]:
    """What `aspenpy check` reports of each machine, and implausible numbers. Folders may hold other models."""
    return check_files(arguments.names, lambda file: _of_file(*file, arguments.allow_outside))


def _of_file(path: Path, walked: bool, allow_outside: bool) -> Iterator[Diagnostic]:
    source = Reader(allow_outside=allow_outside).read(path)
    if walked:
        warnings: list[Diagnostic] = []
        node = parse_file(source, Reader(allow_outside=allow_outside), warnings)
        if not isinstance(node, nodes.Machine) or all(item.type != "machine" for item in node.components):
            return
        machine = link(node, warnings)
    else:
        machine = load_source(source, Reader(allow_outside=allow_outside))
    yield from check_machine(machine)
    yield from implausible(machine)
