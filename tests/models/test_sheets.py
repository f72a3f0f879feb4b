"""Machines of the library that are written from data sheets: the files are what the sheets give, and the rules of
a kind complete whatever sheet has its needed fields."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import check_plausibility
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.language.source import Source
from aspenpy.models.library import format_model
from aspenpy.models.machine.sheets import (
    SHEET_KINDS,
    has_part,
    name_component,
    read_sheet,
    sheet_kind,
    sheet_template,
    write_machine,
    write_part,
)

FOLDER = Path(__file__).parents[2] / "models" / "machines"
SHEETS = sorted((FOLDER / "sheets").glob("*.toml"))


def laid_out(text: str, path: Path) -> str:
    """The text as `aspenpy fmt` writes it, in the library's folder, where its includes are."""
    path.write_text(text, encoding="utf-8")
    try:
        return format_model(path)
    finally:
        path.unlink()


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_the_files_are_what_the_sheet_gives(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = path.stem
    sheet = read_sheet(Source(path.read_text(encoding="utf-8"), path.name), name)
    component = name_component(sheet, name)
    part, machine = FOLDER / "parts" / "sockets" / f"{component}.aspen", FOLDER / f"{name}.aspen"
    texts = {part: write_part(sheet, name)} if has_part(sheet) else {}
    texts[machine] = write_machine(sheet, name, f"parts/sockets/{component}.aspen")
    for file, text in texts.items():
        fresh = laid_out(text, tmp_path / file.name)
        if request.config.getoption("--update-pictures"):
            file.write_text(fresh, encoding="utf-8")
        assert file.read_text(encoding="utf-8") == fresh


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_a_sheet_is_short(path: Path) -> None:
    assert len([line for line in path.read_text(encoding="utf-8").split("\n") if line]) <= 50


def bare(kind: str) -> str:
    """A sheet with the needed fields alone."""
    lines = [f'kind = "{kind}"']
    for field in sheet_kind(kind).fields.values():
        if field.needed:
            value = field.example if field.example.isdigit() else f'"{field.example}"'
            lines.append(f"{field.name} = {value}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", SHEET_KINDS)
@pytest.mark.parametrize("text", [bare, sheet_template], ids=["needed fields", "template"])
def test_rules_complete_a_sheet(kind: str, text: object, tmp_path: Path) -> None:
    assert callable(text)
    sheet = read_sheet(Source(text(kind), "sheet.toml"), "mine")
    path = tmp_path / "mine.aspen"
    path.write_text(write_machine(sheet, "mine"), encoding="utf-8")
    machine = aspenpy.load_machine(path)
    found = [*machine.warnings, *check_machine(machine), *check_plausibility(machine)]
    assumed = kind == "processor" and text is bare  # such a sheet names no core
    assert [item.code for item in found] == ["assumed-core"] * assumed == [item.code for item in sheet.warnings]
    for name, socket in product(("stream", "lulesh", "hpcg", "cg"), machine.sockets):
        app = aspenpy.load_application(name)
        values = {"ranks": 1} if "ranks" in app.parameters else {}
        outcome = aspenpy.predict(app, machine, socket=socket, set=values)
        assert outcome.runtime > 0
        assert not {item.code for item in outcome.diagnostics} & {"unknown-rate", "no-such-trait", "assumed-rate"}
        assert aspenpy.energy(app, machine, socket=socket, set=values).value > 0


@pytest.mark.parametrize("kind", SHEET_KINDS)
def test_each_number_has_a_comment(kind: str) -> None:
    """That a rule gives says `assumed`, and that of a sheet who says so."""
    text = write_machine(read_sheet(Source(sheet_template(kind), "sheet.toml"), "mine"), "mine")
    assert "the vendor's page" in text
    assert "measured: who says so" in text
    above = ""
    for line in text.split("\n"):
        if re.match(r"  property \w+ \[[0-9]", line):
            assert "//" in line or above.lstrip().startswith("//"), line
        above = line


def test_a_rule_is_of_a_field_that_there_is() -> None:
    for kind in SHEET_KINDS:
        fields = sheet_kind(kind).fields
        assert {rule.field for rule in sheet_kind(kind).rules} <= set(fields)
        assert {rule.when.partition("=")[0] for rule in sheet_kind(kind).rules} - {""} <= set(fields)
        assert all(rule.reason for rule in sheet_kind(kind).rules if fields[rule.field].unit != "text")


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_a_machine_of_a_sheet_passes_the_checks(path: Path) -> None:
    """No level slower than the next, nothing attained above its peak, and idle power below the cap."""
    machine = aspenpy.load_machine(path.stem)
    assert [*machine.warnings, *check_machine(machine), *check_plausibility(machine)] == []
    for socket in machine.sockets:
        properties = machine.components[socket].properties
        if {"idle_power", "power_cap"} <= properties.keys():
            wanted = [properties[name].value for name in ("idle_power", "power_cap")]
            idle, cap = evaluate_many([value for value in wanted if value is not None], None, 0, machine.definitions)
            assert 0 < float(idle) < float(cap)
