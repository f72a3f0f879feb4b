"""Every command's JSON has the schema that it names, and `docs/schemas` holds these schemas."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aspenpy.language.schema import AnyOf, Named, as_json_schema
from aspenpy.report.schemas import RESULTS, result_schema
from aspenpy.shell.main import main
from tests.cli.test_formats import LINES, files, line_of
from tests.docs.test_commands_page import load_script

ROOT = Path(__file__).parents[2]
SOURCES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "aspenpy").rglob("*.py"))]

__all__ = ["files"]  # a fixture

MORE = """
advise comd --machine haswell --vary clock --levels 2
advise classify lulesh --machine haswell
advise significance lulesh --machine haswell
advise scale comd --machine haswell --most-nodes 4 --input nx=40,ny=40
advise decide comd --machine haswell --budget energy=1000J --input nx=20 --vary clock
advise decide lulesh cg --machine haswell --most-nodes 64 --budget power=5kW --vary clock
advise throttle cg --machine haswell --vary clock
compare comd --machine haswell,simple --over nx=10..20
compare matmul --machine keeneland --transfer
count comd --resource flops --traits dp,simd
count matmul --solve n=1..1e6:whole --target 2e12
diff xeon_gold_6148 xeon_platinum_8480plus
empirical cos fit cos_example --train "threads in (2, 4)"
empirical acee report acee_example --leave-out application
empirical cos trace cos_trace_example
empirical power-aware predict matmul --machine pentium_m --clocks 600MHz,1GHz
empirical leading-loads fit leading_loads_example
energy matmul --machine keeneland --transfer
energy matmul --machine pentium_m --least pentium_m_clock=6e8..1.4e9
energy stream --machine a100_40gb --cap 150W --throttle
eval micro_kernels --machine haswell --metric runtime,energy
eval hpcg --machine frontera --bind socket
eval montecarlo --machine haswell --samples 20
explain cache_triad --machine epyc_7763 --ecm
list machines --sort watts
list networks
machine check simple
machine check grace --published
sweep stream --machine l40s --over n=1e7,1e8
network --machine frontier --socket amd_mi250x --ranks 64
optimise matmul --machine simple --maximise n --subject-to runtime<=1s --vary n=1..4000
optimise matmul --machine simple --set ranks=64 --minimise runtime,simple_cores --vary simple_cores
place cg --machine keeneland --best
profile comd --machine haswell --graph
roofline stream --machine simple --measured {kernels}
roofline --machine keeneland --socket nvidia_m2090
sensitivity matmul --machine simple
sensitivity matmul --machine simple --method sobol --vary n=100..1000
sensitivity comd --machine haswell --method morris --vary nx=20..60,haswell_clock
show comd
show keeneland
sweep matmul --over machine=haswell,simple --over n=100,1000 --metric runtime,flops
trace comd --machine haswell --passes 1
traffic cache_transpose --machine cachegrind --set n=171 --simulate
validate stream --machine simple --profile {kernels}
measure --least-runs 2 --most-runs 2 -- true
""".strip().splitlines()
"""What the lines of the formats leave out: other actions and options of the same commands."""

PAIRED = "eval energy explain roofline profile memory traffic place trace check".split()
APPLICATIONS, MACHINES = (
    "comd stream spmv cache_mm_reg transformer_serving".split(),
    "haswell simple h100 epyc_9654".split(),
)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("profile") / "kernels.csv"
    path.write_text("kernel,time [ms],flops [Mflop],bytes [MB]\ntriad,300,200,2400\nother,2,1,1\n", encoding="utf-8")
    return str(path)


def validator() -> Any:
    """The class of jsonschema, whose import takes a second that collecting tests should not."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator


def check(text: str) -> str:
    """The name of the schema that a text says it has, which it has to have, keys that the schema lacks included."""
    found = json.loads(text)
    name = str(found["schema"]).removeprefix("aspenpy/")
    validator()(result_schema(name)).validate(found)
    return name


@pytest.mark.parametrize("command", LINES)
def test_every_command(command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    if command == "extract":
        pytest.importorskip("clang")
    main([*line_of(command, files), "--format", "json"])
    check(capsys.readouterr().out)


@pytest.mark.parametrize("line", MORE)
def test_other_answers(line: str, kernels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word.format(kernels=kernels).strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
    assert main([words[0], "--format", "json", *words[1:]]) == 0, capsys.readouterr().err
    check(capsys.readouterr().out)


@pytest.mark.parametrize("application", APPLICATIONS)
def test_pairs_of_the_library(application: str, capsys: pytest.CaptureFixture[str]) -> None:
    answers: Counter[str] = Counter()
    for machine in MACHINES:
        for command in PAIRED:
            status = main([command, application, "--machine", machine, "--format", "json"])
            text = capsys.readouterr().out
            assert text or status == 2
            answers[check(text) if text else "refused"] += 1
    assert answers["prediction/1"] >= 2


def test_several_kernels_and_no_main(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "two.aspen"
    model.write_text(
        "model two { kernel a { execute { flops [9] } } kernel b { execute { flops [8] } } }", encoding="utf-8"
    )
    assert main(["eval", str(model), "--machine", "simple", "--format", "json"]) == 0
    assert check(capsys.readouterr().out) == "predictions/1"


def test_names_are_those_that_reports_say() -> None:
    said = {name for text in SOURCES for name in re.findall(r"\bReport\(\s*\"(\w+/\d+)\"", text)}
    assert said | {"apps/1", "machines/1"} == {*RESULTS}


def test_files_are_made_of_the_shapes() -> None:
    script = load_script(ROOT / "docs" / "schemas_page.py")
    assert {path.name: path.read_text(encoding="utf-8") for path in script.FOLDER.iterdir()} == script.files()
    for text in script.files().values():
        validator().check_schema(json.loads(text))
    linked = re.findall(
        r"\[`(\w+/\d+)`\]\(schemas/([\w-]+\.json)\)", (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    )
    assert dict(linked) == {name: f"{name.replace('/', '-')}.json" for name in RESULTS}


def edited(**changes: Any) -> dict[str, Any]:
    """A result by hand, `None` for a key without it."""
    cell = {"name": "simple", "summary": "a machine", "kind": None, "vendor": None, "year": 2012}
    whole = {"schema": "aspenpy/machines/1", "machines": [cell]} | changes
    return {key: value for key, value in whole.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "valid"),
    [
        ({}, True),
        ({"machines": []}, True),
        ({"units": {"machines": {"watts": "W"}}}, True),
        ({"schema": "aspenpy/machines/2"}, False),
        ({"machines": None}, False),
        ({"more": 1}, False),
        ({"machines": [{"name": "simple"}]}, False),
        ({"machines": [edited()["machines"][0] | {"year": "2012"}]}, False),
        ({"machines": [edited()["machines"][0] | {"colour": "red"}]}, False),
    ],
)
def test_a_result_by_hand(changes: dict[str, Any], valid: bool) -> None:
    assert validator()(result_schema("machines/1")).is_valid(edited(**changes)) is valid


def test_shapes_as_json_schema() -> None:
    tree = Named("tree")
    tree.shape = {"of": AnyOf(int, None), "parts?": [tree], "any": object, "pair": (str, bool), "by": {str: float}}
    definitions: dict[str, Any] = {}
    assert as_json_schema(tree, definitions) == {"$ref": "#/$defs/tree"}
    assert definitions["tree"] == {
        "type": "object",
        "properties": {
            "of": {"type": ["integer", "null"]},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "any": {},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "boolean"}],
                "items": False,
                "minItems": 2,
            },
            "by": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "required": ["of", "any", "pair", "by"],
        "additionalProperties": False,
    }
    assert as_json_schema({"a": str, str: int}, {})["additionalProperties"] == {"type": "integer"}
