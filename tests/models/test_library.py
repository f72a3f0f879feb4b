"""Every model of the library: it loads without a warning, says what it is, and runs on every machine."""

import re
from functools import cache
from pathlib import Path

import pytest

import aspenpy
from aspenpy.language.format import format_text
from aspenpy.language.source import Source
from tests.thorough import THOROUGH

MODELS = Path(__file__).parents[2] / "models"
APPLICATIONS = sorted(path.stem for path in (MODELS / "apps").glob("*.aspen"))
MACHINES = sorted(path.stem for path in (MODELS / "machines").glob("*.aspen"))
FILES = sorted(MODELS.rglob("*.aspen"))
PARTS = sorted((MODELS / "machines" / "parts").glob("*/*.aspen"))
TYPES = {"file_systems": "file_system", "interconnects": "interconnect", "links": "link", "memories": "memory"}
TYPES |= {"sockets": "socket", "cores": "core", "nodes": "node"}
"""What kind of component the parts of a folder are."""


def test_the_library_is_where_it_is_looked_for() -> None:
    assert {"comd", "fft3d", "matmul", "stream"} <= set(APPLICATIONS)
    assert {"haswell", "keeneland", "simple"} <= set(MACHINES)
    assert {path.parent.name for path in PARTS} == set(TYPES)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_loads_without_warnings(name: str) -> None:
    application = aspenpy.load_application(name)
    assert (application.name, application.warnings) == (name, ())


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_loads_without_warnings(name: str) -> None:
    machine = aspenpy.load_machine(name)
    assert (machine.name, machine.warnings) == (name, ())


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_a_part_is_named_as_its_file_and_its_folder(path: Path) -> None:
    opening = rf"^{TYPES[path.parent.name]} {path.stem}(?: like \w+)? {{$"
    assert re.search(opening, path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_begins_with_what_it_models(path: Path) -> None:
    first, second, *_ = path.read_text(encoding="utf-8").split("\n")
    assert first.startswith("// ")
    assert second.startswith("//") or not second


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_formatted_and_fits_a_screen(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_text(Source(text, path.name, path)) == text
    assert max(map(len, text.split("\n"))) <= 120


KINDS = ("simple", "haswell", "keeneland", "h100")
WITH_FILES = ("frontier", "perlmutter_cpu", "perlmutter_gpu", "frontera", "summit")
FILES_NEEDED = ("jacobi_checkpoint",)
"""Applications that read or write files, which few machines keep."""


def _two(place: int) -> tuple[str, str]:
    return KINDS[place % 4], KINDS[(place + 1) % 4]


PAIRS = [
    *(
        (application, machine)
        for place, application in enumerate(APPLICATIONS)
        for machine in (WITH_FILES if application in FILES_NEEDED else KINDS if THOROUGH else _two(place))
    ),
    *(("matmul", machine) for machine in MACHINES),
]
"""Every application on two machines (if thorough, on one of each kind), and every machine with one application."""


load_application, load_machine = cache(aspenpy.load_application), cache(aspenpy.load_machine)


@pytest.mark.parametrize(("application", "machine"), list(dict.fromkeys(PAIRS)))
def test_an_application_runs_on_every_socket(application: str, machine: str) -> None:
    model, target = load_application(application), load_machine(machine)
    alone = {"ranks": 1} if "ranks" in model.parameters else {}
    for socket in target.sockets:
        assert 0 < aspenpy.predict(model, target, socket=socket, set=alone).runtime < 3600
