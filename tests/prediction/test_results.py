"""What public functions return shows itself: in notebooks, as JSON, and as a table where it is one."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.language.diagnostics import AspenError
from aspenpy.shell.main import main

MODEL = """model m {
  param n = 1000 in 1 .. 1e6
  data x as Array(n, 8)
  kernel main { execute [n] { flops [2] loads [8] from x } }
}"""

PROGRAM = Path(__file__).parents[1] / "extract" / "applications" / "atoms.c"

VERBS: dict[str, Callable[[Any, Any], Any]] = {
    "advise": lambda app, machine: aspenpy.advise(app, machine, advice=aspenpy.AdviceOptions(wanted=("cores=1..2",))),
    "compare": lambda app, machine: aspenpy.compare(app, [machine, aspenpy.load_machine("haswell")]),
    "energy": aspenpy.energy,
    "extract_application": lambda app, machine: aspenpy.extract_application(PROGRAM),
    "fit": lambda app, machine: aspenpy.fit(app, [{"flops": 30}, {"flops": 60}], vary=["n"]),
    "load_application": lambda app, machine: app,
    "load_machine": lambda app, machine: machine,
    "memory": aspenpy.memory,
    "network": lambda app, machine: aspenpy.network(machine),
    "optimise": lambda app, machine: aspenpy.optimise(app, machine, minimise="runtime", vary=["n=1,2"]),
    "parallelism": aspenpy.parallelism,
    "parse": lambda app, machine: aspenpy.parse(MODEL),
    "place": lambda app, machine: aspenpy.place(app, machine, best=True),
    "predict": aspenpy.predict,
    "profile": aspenpy.profile,
    "reuse_distances": lambda app, machine: aspenpy.reuse_distances([0, 64, 0]),
    "roofline": lambda app, machine: aspenpy.roofline(machine, [app]),
    "scale": lambda app, machine: aspenpy.scale(
        aspenpy.load_application("comd_scaling"), aspenpy.load_machine("haswell"), [1, 2]
    ),
    "sensitivity": aspenpy.sensitivity,
    "sweep": lambda app, machine: aspenpy.sweep(app, machine, over={"n": [1, 2]}),
    "trace": aspenpy.trace,
    "traffic": lambda app, machine: aspenpy.traffic(
        aspenpy.load_application("cache_mm_reg"), aspenpy.load_machine("cachegrind"), set={"n": 4}
    ),
    "validate": lambda app, machine: aspenpy.validate(app, machine, run="true {n}", over={"n": [1, 2]}),
}
MODELS = ("load_application", "load_machine", "parse")
OTHERS = {
    "check": "diagnostics, each with `to_json`",
    "count": "a number",
    "format": "a text",
    "mpi": "a program",
    "peaks": "a list of peaks",
    "read_network": "parameters by name",
    "prepare": "a function",
}
"""Verbs that answer with something else than a result."""


def test_every_verb_is_tried() -> None:
    verbs = {name for name in aspenpy.__all__ if inspect.isroutine(getattr(aspenpy, name)) or name.islower()}
    assert verbs == {*VERBS, *OTHERS}


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_shows_itself(verb: str) -> None:
    for takes, extra in (("sweep", "xarray"), ("extract_application", "clang.cindex")):
        if verb == takes:
            pytest.importorskip(extra)
    result = VERBS[verb](aspenpy.load_application(MODEL), aspenpy.load_machine("simple"))
    assert "<" in result._repr_html_()
    if verb == "sweep":  # an xarray.Dataset
        assert len(result.to_dataframe()) == 2
        return
    json.dumps(result.to_json())
    if verb in MODELS:
        with pytest.raises(AspenError, match="no table of its own"):
            result.to_csv()
    else:
        assert result.to_csv().splitlines()[1:]


COMMANDS = {
    "predict": "eval m.aspen --machine simple",
    "energy": "energy m.aspen --machine simple",
    "memory": "memory m.aspen --machine simple",
    "network": "network --machine simple",
    "optimise": "optimise m.aspen --machine simple --minimise runtime --vary n=1,2",
    "parallelism": "parallelism m.aspen --machine simple",
    "place": "place m.aspen --machine simple",
    "profile": "profile m.aspen --machine simple",
    "roofline": "roofline m.aspen --machine simple",
    "sensitivity": "sensitivity m.aspen --machine simple",
    "trace": "trace m.aspen --machine simple",
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_command_and_its_function_have_one_shape(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.aspen").write_text(MODEL, encoding="utf-8")
    assert main([*COMMANDS[verb].split(), "--format", "json"]) == 0
    result = VERBS[verb](aspenpy.load_application("m.aspen"), aspenpy.load_machine("simple"))
    theirs, own = json.loads(capsys.readouterr().out), json.loads(json.dumps(result.to_json()))
    assert theirs.keys() == own.keys()
    asked_for = {"diagnostics": None, "hardware": None}  # peaks of the machine, which the command adds
    assert {**theirs, **asked_for} == {**own, **asked_for}
