"""`aspenpy list` names the files of the library."""

import json
from pathlib import Path

import pytest

from aspenpy.models.networks import network_names, read_network
from tests.cli.conftest import ROOT, Runner


def files(kind: str) -> list[Path]:
    return sorted((ROOT / "models" / kind).glob("*.aspen"))


@pytest.mark.parametrize("kind", ["apps", "machines"])
def test_json(run: Runner, kind: str) -> None:
    found = json.loads(run("list", kind, "--format", "json").out)[kind]
    assert [item["name"] for item in found] == [path.stem for path in files(kind)]
    for item, path in zip(found, files(kind), strict=True):
        assert item["summary"]
        assert item["summary"].split()[0] in path.read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("kind", ["apps", "machines"])
def test_table(run: Runner, kind: str) -> None:
    head, rule, *rows = run("list", kind).out.splitlines()
    assert head.split() == ["name", "what", "it", "is"]
    assert set(rule) == {"─", " "}
    assert [row.split()[0] for row in rows] == [path.stem for path in files(kind)]


def test_a_line_of_the_table_is_no_longer_than_a_line_of_a_model(run: Runner) -> None:
    lines = [line for kind in ("apps", "machines") for line in run("list", kind).out.splitlines()]
    assert [line for line in lines if len(line) > 120] == []


def test_unknown_kind(run: Runner) -> None:
    outcome = run("list", "sockets")
    assert outcome.status == 2
    assert outcome.err.startswith("aspenpy: KIND: expected apps, machines or networks, not `sockets`")


def test_sorted_by_what_memories_attain(run: Runner) -> None:
    options = ("list", "machines", "--kind", "gpu", "--since", "2022", "--sort", "bandwidth")
    head, _, *rows = run(*options).out.splitlines()
    assert head.split() == ["name", "year", "flops", "bandwidth", "capacity", "watts", "assumed"]
    found = json.loads(run(*options, "--format", "json").out)["machines"]
    assert [row.split()[0] for row in rows] == [item["name"] for item in found]
    assert {item["kind"] for item in found} == {"gpu"}
    assert min(item["year"] for item in found) == 2022
    bandwidths = [item["bandwidth"] for item in found]
    assert bandwidths == sorted(bandwidths, reverse=True)
    h100 = next(item for item in found if item["name"] == "h100")
    assert h100["bandwidth"] == pytest.approx(0.887 * 3350e9)
    assert (h100["capacity"], h100["watts"]) == pytest.approx((80e9, 700))
    assert h100["flops"] == pytest.approx(132 * 1.98e9 * 128)
    assert 0 < h100["assumed"] < 1


def test_figures_are_of_all_parts(run: Runner) -> None:
    frontera, *_ = json.loads(
        run("list", "machines", "--vendor", "Dell", "--since", "2019", "--sort", "name", "--format", "json").out
    )["machines"]
    assert (frontera["name"], frontera["summary"].split()[0]) == ("frontera", "Frontera")
    assert frontera["flops"] == pytest.approx(38745.9e12, rel=1e-4)
    assert frontera["capacity"] == pytest.approx(8008 * 192e9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("apps", "--sort", "watts"), "--kind, --vendor, --year, --since, --cores, --memory and --sort choose among"),
        (("machines", "--since", "2020", "--year", "2021"), "--since YEAR is --year YEAR.. already"),
        (("machines", "--since", "then"), "--since: `then` is no number"),
    ],
)
def test_sorts_that_are_refused(run: Runner, options: tuple[str, ...], said: str) -> None:
    outcome = run("list", *options)
    assert outcome.status == 2
    assert said in outcome.err


def test_networks_with_their_parameters_and_sources(run: Runner) -> None:
    found = {item["name"]: item for item in json.loads(run("list", "networks", "--format", "json").out)["networks"]}
    assert sorted(found) == network_names()
    for name, item in found.items():
        assert {key: item[key] for key in read_network(name)} == read_network(name)
        assert item["published"]
    assert "llama3_405b" in run("list", "networks").out
