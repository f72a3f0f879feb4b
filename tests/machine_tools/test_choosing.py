"""`aspenpy list machines` with filters, against what the files say."""

import json
import re
from pathlib import Path

import pytest

from aspenpy.models.machine.texts import Header, read_header
from tests.cli.conftest import ROOT, Runner, models, run

__all__ = ["models", "run"]

TEXTS = {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(ROOT / "models" / "machines").glob("*.aspen"))
}


def listed(run: Runner, *arguments: str) -> list[str]:
    outcome = run("list", "machines", *arguments, "--format", "json")
    assert (outcome.status, outcome.err) == (0, "")
    return [item["name"] for item in json.loads(outcome.out)["machines"]]


def saying(*lines: str) -> list[str]:
    return [name for name, text in TEXTS.items() if all(re.search(f"^// {line}$", text, re.M) for line in lines)]


def test_kind_and_vendor(run: Runner) -> None:
    assert listed(run, "--kind", "gpu") == saying("kind: gpu")
    assert listed(run, "--kind", "gpu", "--vendor", "amd") == saying("kind: gpu", "vendor: AMD") != []


def test_year(run: Runner) -> None:
    assert listed(run, "--year", "2017") == saying("year: 2017") != []
    assert listed(run, "--year", "2016..2017") == saying("year: 201[67]")
    assert listed(run, "--year", "..2005") == saying("year: (19|200[0-5]).*")
    assert listed(run, "--year", "2023..") == saying("year: 202[3-9]")


def test_what_is_in_them(run: Runner) -> None:
    """`simple` has 4 cores and 16 GiB; Sequoia 98,304 nodes of 16 cores."""
    assert "simple" in listed(run, "--cores", "4")
    assert "sequoia" not in listed(run, "--cores", "..1e6")
    assert "sequoia" in listed(run, "--cores", "1572864")
    assert "simple" in listed(run, "--memory", "16GiB..16GiB")
    assert "simple" not in listed(run, "--memory", "16.1 GiB..")


def test_objects_say_what_they_are_listed_under(run: Runner) -> None:
    objects = json.loads(run("list", "machines", "--kind", "cpu", "--format", "json").out)["machines"]
    (found,) = (item for item in objects if item["name"] == "xeon_e5_2670")
    assert (found["kind"], found["vendor"], found["year"]) == ("cpu", "Intel", 2012)


def test_none(run: Runner) -> None:
    assert run("list", "machines", "--year", "..1900") == (0, "There is none like that in the library.\n", "")
    assert listed(run, "--year", "..1900") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("machines", "--vendor", "Nvida"),
         "--vendor: no machine of the library is by `Nvida`; did you mean `NVIDIA`?"),
        (("machines", "--cores", "9..3"), "--cores: there is nothing between 9 and 3"),
        (("machines", "--year", ".."), "--year: expected MIN..MAX, MIN.. or ..MAX, not `..`"),
        (("machines", "--cores", "many"), "--cores: `many` is no number"),
        (("apps", "--year", "2000.."),
         "--kind, --vendor, --year, --since, --cores, --memory and --sort choose among machines: "
         "aspenpy list machines"),
    ],
)  # fmt: skip
def test_refused(run: Runner, arguments: tuple[str, ...], said: str) -> None:
    assert run("list", *arguments) == (2, "", f"aspenpy: {said}\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("// m: it.\n//\n// kind: cpu\n// vendor: A B\n// year: 2014\n\nmachine", Header("cpu", "A B", 2014)),
        ("// m: it.\nmachine m {}\n// kind: cpu", Header(None, None, None)),
        ("// year: soon\n// vendor:\n", Header(None, None, None)),
    ],
)
def test_header(text: str, found: Header) -> None:
    assert read_header(text) == found
