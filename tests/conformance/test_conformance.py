"""Small models with the values they must give, and small models that must be refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from tests.conformance.cases import APPLICATION, FOLDER, MACHINE, Case, all_cases

CASES = all_cases()
GIVING_A_VALUE = [pytest.param(case, id=case.name) for case in CASES if "runtime" in case.description]
REFUSED = [pytest.param(case, id=case.name) for case in CASES if "refused" in case.description]


def runtime(case: Case) -> float:
    """Seconds, from the files of the case in the working folder."""
    return aspenpy.predict(
        aspenpy.load_application(APPLICATION),
        aspenpy.load_machine(MACHINE),
        socket=case.description["socket"],
        set=case.overrides,
    ).runtime


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", GIVING_A_VALUE)
def test_value(case: Case, in_folder: Path) -> None:
    case.write(in_folder)
    expected = case.description["runtime"]
    assert runtime(case) == pytest.approx(expected, rel=case.tolerance, abs=0)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: Case, in_folder: Path, update_pictures: bool) -> None:
    case.write(in_folder)
    with pytest.raises(aspenpy.AspenError) as refusal:
        runtime(case)
    errors = [diagnostic for diagnostic in refusal.value.diagnostics if diagnostic.severity == "error"]
    places = [error.span.resolve().source.name for error in errors if error.span is not None]
    assert places[:1] == [case.description["place"]]
    report, picture = f"{refusal.value}\n", case.folder / "report.txt"
    if update_pictures:
        picture.write_text(report, encoding="utf-8")
    assert report == picture.read_text(encoding="utf-8")


def published_cases() -> Path | None:
    """The suite as it is published, where this machine has it."""
    beside = Path(__file__).parents[3] / "shared"
    path = Path(os.environ.get("ASPENPY_SHARED", beside)) / "conformance" / "cases.json"
    return path if path.is_file() else None


def as_published(case: Case) -> dict[str, Any]:
    outcome = (
        {"kind": "value", "runtime": case.description["runtime"], "source": case.description["source"]}
        if "runtime" in case.description
        else {"kind": "refused", "why": case.description["refused"]}
    )
    return outcome | {
        "name": case.name,
        "files": {name: text.decode() for name, text in case.files.items()},
        "app": APPLICATION,
        "machine": MACHINE,
        "socket": case.description["socket"],
        "set": case.overrides,
    }


def test_the_cases_are_those_published() -> None:
    path = published_cases()
    if path is None:
        pytest.skip("the published suite is neither in ASPENPY_SHARED nor in ../shared")
    published = {case["name"]: case for case in json.loads(path.read_text(encoding="utf-8"))}
    assert {case.name: as_published(case) for case in CASES} == published


def test_every_shared_machine_is_used() -> None:
    used = {case.description.get("machine") for case in CASES}
    assert {path.stem for path in (FOLDER / "machines").iterdir()} <= used
