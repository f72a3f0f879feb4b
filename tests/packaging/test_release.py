"""A release is what docs/releasing.md says: tried on a copy of the checkout, with a repository at example.org."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from tests.thorough import slow

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://example.org/aspenpy"
RELATIVE = re.compile(r"\]\((?!https?://|#)[^)]*\)")


def run(folder: Path, *command: str | Path, fails: bool = False) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def commit(folder: Path, message: str) -> None:
    run(folder, "git", "add", "--all")
    run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", message)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of this checkout."""
    pytest.importorskip("hatchling", reason="building wants the extra `dev`")
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    folder = tmp_path_factory.mktemp("release") / "aspenpy"
    folder.mkdir()
    names = run(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in names:
        if name and (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    run(folder, "git", "init", "--quiet")
    run(folder, "git", "config", "user.name", "a")
    run(folder, "git", "config", "user.email", "a@example.org")
    commit(folder, "All files")
    return folder


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def description(read: Message) -> str:
    body = read.get_payload(decode=True)
    assert isinstance(body, bytes)
    return body.decode()


def test_without_a_repository_links_are_text(copy: Path, tmp_path: Path) -> None:
    run(copy, sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    read = metadata(wheel)
    assert read.get_all("Project-URL") is None
    assert read["Author"] == "the aspenpy authors"
    text = description(read)
    assert RELATIVE.findall(text) == []
    assert "crossover.svg" not in text
    assert "A tour in ten commands continues from here." in text
    assert len(RELATIVE.findall((ROOT / "README.md").read_text(encoding="utf-8"))) > 20


def test_recipe_wants_what_the_package_wants() -> None:
    yaml = pytest.importorskip("yaml", reason="a library of the extra `docs`")
    recipe = yaml.safe_load((ROOT / "integrations" / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.sub(r"\s", "", line) for line in recipe["requirements"]["run"] if not line.startswith("python ")}
    assert wanted == {re.sub(r"\s", "", line) for line in project["dependencies"]}
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["build"]["python"]["entry_points"] == [f"aspenpy = {project['scripts']['aspenpy']}"]


def test_container_has_files_and_extras_that_exist() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    for line in re.findall(r"(?m)^COPY (?!--from)(.*)$", text):
        assert all((ROOT / name).exists() for name in line.split()[:-1]), line
    (extras,) = re.findall(r'whl\)\[(.*?)\]"', text)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= known.keys()


@slow
def test_release(copy: Path) -> None:
    pytest.importorskip("twine", reason="a library of the extra `release`")
    pytest.importorskip("cyclonedx_py", reason="a library of the extra `release`")
    release = (sys.executable, "docs/release.py")
    refused = run(copy, *release, "build", fails=True)
    assert "does not say where the repository is" in refused
    assert "CHANGELOG.md has no section [0.1.0]" in refused

    project = copy / "pyproject.toml"
    project.write_text(
        project.read_text(encoding="utf-8").replace('repository = ""', f'repository = "{REPOSITORY}"'), encoding="utf-8"
    )
    assert "three numbers" in run(copy, *release, "prepare", "2.0", fails=True)
    run(copy, *release, "prepare", "0.2.0")
    assert "not committed" in run(copy, *release, "build", fails=True)
    commit(copy, "0.2.0")
    told = run(copy, *release, "build")
    assert told.count("PASSED") == 2
    assert "git push origin v0.2.0" in told

    dist = copy / "dist"
    source, wheel = dist / "aspenpy-0.2.0.tar.gz", dist / "aspenpy-0.2.0-py3-none-any.whl"
    read = metadata(wheel)
    assert read["Version"] == "0.2.0"
    assert f"Repository, {REPOSITORY}" in read.get_all("Project-URL", [])
    text = description(read)
    assert RELATIVE.findall(text) == []
    assert f"]({REPOSITORY}/raw/v0.2.0/docs/pictures/crossover.svg)" in text
    assert f"]({REPOSITORY}/blob/v0.2.0/docs/tutorial.md)" in text
    linked = re.findall(rf"{REPOSITORY}/(?:blob|raw)/v0\.2\.0/([^)#\s]+)", text + str(read.get_all("Project-URL")))
    assert [name for name in linked if not (copy / name.rstrip("'],")).exists()] == []

    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert {"CITATION.cff", "CHANGELOG.md", "LICENSE", "README.md", "hatch_build.py", "Containerfile"} <= names
        archive.extractall(copy.parent, filter="data")
    again = copy.parent / "again"
    run(copy.parent / "aspenpy-0.2.0", sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", again)
    assert metadata(again / wheel.name).as_bytes() == read.as_bytes(), "a wheel built from the source is the same"

    parts = {
        part["name"].lower()
        for part in json.loads((dist / "aspenpy-0.2.0.cdx.json").read_text(encoding="utf-8"))["components"]
    }
    assert {"lark", "networkx", "numpy", "sympy"} <= parts
    recipe = (dist / "recipe.yaml").read_text(encoding="utf-8")
    assert hashlib.sha256(source.read_bytes()).hexdigest() in recipe
    assert "@" not in recipe
    tag = run(copy, "git", "tag", "--list", "--format=%(contents)", "v0.2.0")
    assert tag.startswith("aspenpy 0.2.0")
    assert "### Changed" in tag
    assert "the tag v0.2.0 exists already" in run(copy, *release, "build", fails=True)
