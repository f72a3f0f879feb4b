"""`aspenpy list` names the files of the library."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Runner


def files(kind: str) -> list[Path]:
    return sorted((ROOT / "models" / kind).glob("*.aspen"))


@pytest.mark.parametrize("kind", ["apps", "machines"])
def test_json(run: Runner, kind: str) -> None:
    found = json.loads(run("list", kind, "--format", "json").out)
    assert [item["name"] for item in found] == [path.stem for path in files(kind)]
    for item, path in zip(found, files(kind), strict=True):
        assert item["summary"]
        assert item["summary"].split()[0] in path.read_text().splitlines()[0]


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
    assert outcome.err.startswith("aspenpy: KIND: expected apps or machines, not `sockets`")
