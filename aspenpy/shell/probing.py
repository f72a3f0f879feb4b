"""`aspenpy machine probe`: this host, or what files say of one, as a machine."""

from __future__ import annotations

from pathlib import Path

from aspenpy.answers.side_by_side import side_by_side
from aspenpy.language.files import put_whole
from aspenpy.models.library import load_machine, parse
from aspenpy.models.machine.model import Machine
from aspenpy.probe.probe import Probe, probe
from aspenpy.shell.failure import writing
from aspenpy.shell.option import Arguments
from aspenpy.shell.output import answer, emit
from aspenpy.shell.progress import progress


def run_probe(arguments: Arguments, name: str) -> int:
    """Writes the machine; where the file is there already, reports how far what it says is from now."""
    path = Path(arguments.output or f"{name}.aspen")
    before = load_machine(path) if path.exists() else None
    found = probed(name)
    now = parse(found.text)
    assert isinstance(now, Machine)
    if before is not None and not arguments.replace:
        emit(f"{path} is there already and stays as it is; --replace writes it anew")
        return answer(side_by_side(before, now, ("before", "now")).report(), arguments)
    with writing(path):
        put_whole(path, found.text)
    emit(f"{path} is written; `aspenpy show {path}` shows what is in it")
    return 0


def probed(name: str) -> Probe:
    """This host, measured with a bar on a terminal."""
    with progress(100, "measuring") as seen:
        return probe(name, lambda done, total: seen(100 // total))
