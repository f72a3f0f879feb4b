"""A wheel carries all it needs: the grammar, the library, the type marker and the command."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.thorough import slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it."""
    pytest.importorskip("hatchling", reason="building a wheel without a network needs hatchling, of the extra `dev`")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("aspenpy-*.whl")
    target = folder / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", target, wheel], check=True)
    return target


def run(installed: Path, folder: Path, *arguments: str | Path) -> str:
    """What a Python prints that sees the wheel and what it depends on, and not the checkout.

    Without `site`, the link that an editable installation leaves behind is not followed.
    """
    search = [installed, *(path for path in sys.path if path and Path(path) != ROOT)]
    environment = {"PYTHONPATH": ":".join(map(str, search)), "HOME": str(folder)}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@slow
def test_wheel_stands_alone(installed: Path, tmp_path: Path) -> None:
    place = run(installed, tmp_path, "-c", "import aspenpy; print(aspenpy.__file__)")
    assert Path(place.strip()).is_relative_to(installed)


def test_command_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    printed = run(installed, tmp_path, installed / "bin" / "aspenpy", "eval", "comd", "--machine", "haswell")
    assert "comd" in printed


def test_contents(installed: Path) -> None:
    package = installed / "aspenpy"
    data = package / "data"
    assert (data / "grammar" / "aspen.lark").read_bytes() == (ROOT / "grammar" / "aspen.lark").read_bytes()
    library = {path.relative_to(ROOT / "models") for path in (ROOT / "models").rglob("*.aspen")}
    assert {path.relative_to(data / "models") for path in (data / "models").rglob("*.aspen")} == library
    assert (package / "py.typed").is_file()


def test_templates_and_helpers_in_c(installed: Path, tmp_path: Path) -> None:
    """Files that are no Python: the machines to begin with, and what programs in C are made of."""
    ours = ROOT / "aspenpy"
    data = {path.relative_to(ours) for ending in ("*.h", "*.aspen") for path in ours.rglob(ending)}
    assert len(data) >= 8
    assert [path for path in data if not (installed / "aspenpy" / path).is_file()] == []
    command = installed / "bin" / "aspenpy"
    assert "mine.aspen is written" in run(installed, tmp_path, command, "machine", "new", "mine", "--kind", "cluster")
    assert "MPI_Init" in run(installed, tmp_path, command, "mpi", "comd")


def test_pygments_finds_the_lexer(installed: Path, tmp_path: Path) -> None:
    program = "from pygments.lexers import get_lexer_for_filename as find; print(find('comd.aspen').name)"
    assert run(installed, tmp_path, "-c", program) == "Aspen\n"
