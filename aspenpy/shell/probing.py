"""`aspenpy machine probe`: this host, or what files say of one, as a machine."""

from __future__ import annotations

import re
from pathlib import Path

from aspenpy.answers.side_by_side import side_by_side
from aspenpy.language.files import STANDARD_OUTPUT, put_whole
from aspenpy.models.library import load_machine, names, parse
from aspenpy.models.machine.model import Machine
from aspenpy.probe.importers import import_files
from aspenpy.probe.probe import Probe, import_machine, probe
from aspenpy.probe.topology import read_topology
from aspenpy.shell.failure import CommandError, writing
from aspenpy.shell.option import Arguments
from aspenpy.shell.output import deliver, emit
from aspenpy.shell.progress import say

LIBRARY = ""
"""The value of `--compare` alone: the library's processor of the same name."""


def run_probe(arguments: Arguments, name: str) -> int:
    """Writes the machine; where the file is there already, reports how far what it says is from now."""
    path = output_of(arguments, name)
    before = load_machine(path) if isinstance(path, Path) and path.exists() else None
    beside = None if arguments.compare is None else load_machine(arguments.compare or _of_library(arguments))
    found = import_machine(name, arguments.files) if arguments.files else probed(name)
    now = parse(found.text)
    assert isinstance(now, Machine)
    if before is not None and not arguments.replace:
        emit(f"{path} is there already and stays as it is; --replace writes it anew")
        return deliver(side_by_side(before, now, ("before", "now")).report(), arguments)
    with writing(path):
        put_whole(path, found.text)
    emit(f"{path} is written; `aspenpy show {path}` shows what is in it")
    if beside is not None:
        return deliver(side_by_side(beside, now, (beside.name, name)).report(), arguments)
    return 0


def output_of(arguments: Arguments, name: str) -> Path | str:
    """The file of a machine: that of `--output`, or one of its name; `-` for standard output."""
    path = arguments.output or f"{name}.aspen"
    return path if path == STANDARD_OUTPUT else Path(path)


def probed(name: str) -> Probe:
    """This host, measured with a bar on a terminal."""
    return probe(name, lambda done, total: say("measuring this host", done / total))


def _of_library(arguments: Arguments) -> str:
    """The machine of the library all words of whose name are in that of the processor, the longest name first."""
    host = import_files(arguments.files).host if arguments.files else read_topology()
    processor = "" if host is None else host.processor
    words = set(re.split(r"[^a-z0-9]+", processor.lower()))
    fitting = [name for name in names("machines") if set(name.split("_")) <= words]
    if not fitting:
        raise CommandError(f"the library has no `{processor}`; --compare NAME takes another machine")
    return max(fitting, key=len)
