"""A model in which a name was changed everywhere runs as before."""

import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.checks.files import check_file
from aspenpy.editor.project import Project
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from tests.thorough import some

ROOT = Path(__file__).parents[2]
NEW = "another_name"


def renamed(folder: Path, file: Path, place: int) -> bool:
    """Renames the name at that place of the list of a file's names; false where it may not be renamed."""
    project = Project({}, [str(folder)])
    name = project.names(str(file)).names[place]
    try:
        places = project.places_to_rename(str(file), name, NEW)
    except AspenError:
        return False
    for path, found in sorted(places, key=lambda item: (item.path, -item.name.start)):
        text = Path(path).read_text(encoding="utf-8")
        Path(path).write_text(text[: found.start] + NEW + text[found.end :], encoding="utf-8")
    return True


@pytest.mark.parametrize("model", ["comd", "coevp"])
def test_the_runtime_stays(model: str, tmp_path: Path) -> None:
    """Of names all over the file: parameters, data, kernels, arguments, counters, members, what is imported."""
    haswell = aspenpy.load_machine("haswell")
    before = aspenpy.predict(aspenpy.load_application(model), haswell).runtime
    count = len(Project().names(str(ROOT / "models" / "apps" / f"{model}.aspen")).names)
    tried = 0
    for place in range(3, count, some(1, count // 5)):
        folder = tmp_path.resolve() / str(place)
        shutil.copytree(ROOT / "models" / "apps", folder)
        file = folder / f"{model}.aspen"
        if renamed(folder, file, place):
            assert aspenpy.predict(aspenpy.load_application(file), haswell).runtime == before
            assert check_file(file, None, Reader()) == []
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize(
    ("name", "why"),
    [("main", "a run begins with"), ("flops", "not declared"), ("max", "not declared")],
)
def test_what_may_not_be_renamed(name: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "t.aspen"
    file.write_text("model t {\n  kernel main { execute { flops [max(1, 2)] } }\n}\n", encoding="utf-8")
    project = Project()
    found = next(item for item in project.names(str(file)).names if item.name == name)
    with pytest.raises(AspenError, match=why):
        project.places_to_rename(str(file), found, NEW)


def test_the_library_is_not_renamed() -> None:
    file = str(ROOT / "models" / "apps" / "comd.aspen")
    project = Project()
    with pytest.raises(AspenError, match="declared in the library"):
        project.places_to_rename(file, next(name for name in project.names(file).names if name.name == "nx"), NEW)
