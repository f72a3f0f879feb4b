"""`aspenpy check`: every diagnostic of every file, and the exit status that sums them up."""

import json
from pathlib import Path

from tests.cli.conftest import Runner

WRONG = "model wrong {\n  kernel main {\n    call nothing\n  }\n}\n"
IDLE = "model idle {\n  param unused = 1\n  kernel main {\n    execute { flops [1] as wide }\n  }\n}\n"


def test_nothing_wrong(run: Runner) -> None:
    assert run("check", "axpy.aspen", "cluster.aspen") == (0, "no errors, no warnings\n", "")


def test_errors_and_warnings(run: Runner, models: Path) -> None:
    (models / "wrong.aspen").write_text(WRONG, encoding="utf-8")
    (models / "idle.aspen").write_text(IDLE, encoding="utf-8")
    outcome = run("check", "wrong.aspen", "missing.aspen", "idle.aspen")
    assert (outcome.status, outcome.err) == (2, "")
    assert outcome.out.startswith("error: unknown kernel `nothing`\n --> wrong.aspen:3:10\n")
    assert "error: file not found: `missing.aspen`\n" in outcome.out
    assert outcome.out.endswith("2 errors, 1 warning\n")


def test_status_of_warnings(run: Runner, models: Path) -> None:
    (models / "idle.aspen").write_text(IDLE, encoding="utf-8")
    assert run("check", "idle.aspen").status == 0
    assert run("check", "idle.aspen", "--strict").status == 1


def test_on_a_machine(run: Runner, models: Path) -> None:
    (models / "idle.aspen").write_text(IDLE, encoding="utf-8")
    outcome = run("check", "idle.aspen", "--machine", "cluster.aspen")
    assert "warning: machine `Cluster` knows no trait `wide` of `flops`\n --> idle.aspen:4:28\n" in outcome.out


def test_json(run: Runner, models: Path) -> None:
    (models / "wrong.aspen").write_text(WRONG, encoding="utf-8")
    outcome = run("check", "wrong.aspen", "--format", "json")
    answer = json.loads(outcome.out)
    assert (answer["errors"], answer["warnings"]) == (1, 0)
    (found,) = answer["diagnostics"]
    assert outcome.status == 2
    assert (found["severity"], found["code"]) == ("error", "unknown-kernel")
    assert (found["file"], found["line"], found["column"], found["end_column"]) == ("wrong.aspen", 3, 10, 17)
    assert json.loads(run("check", "axpy.aspen", "--format", "json").out) == {
        "schema": "aspenpy/check/1", "errors": 0, "warnings": 0, "diagnostics": [],
    }  # fmt: skip


def test_folders(run: Runner, models: Path) -> None:
    (models / "deep" / "er").mkdir(parents=True)
    (models / "deep" / "er" / "wrong.aspen").write_text(WRONG, encoding="utf-8")
    outcome = run("check", ".")
    assert "--> deep/er/wrong.aspen:3:10\n" in outcome.out
    assert outcome.out.endswith("1 error, no warnings\n")


def test_folder_without_models(run: Runner, models: Path) -> None:
    (models / "empty").mkdir()
    assert run("check", "empty") == (2, "", "aspenpy: there is no file *.aspen in empty\n")


def test_mistake_in_an_included_file_is_told_once(run: Runner, models: Path) -> None:
    (models / "part.aspen").write_text("core Slow { resource flops(n) [n/speed] }\n", encoding="utf-8")
    for name in ("one", "two"):
        (models / f"{name}.aspen").write_text(
            f"include part.aspen\nmachine {name} {{ core [1] Slow }}\n", encoding="utf-8"
        )
    assert run("check", "one.aspen", "two.aspen").out.count("unknown name `speed`") == 1


def test_names_of_the_library(run: Runner) -> None:
    assert run("check", "stream", "simple") == (0, "no errors, no warnings\n", "")
    outcome = run("check", "strem")
    assert outcome.status == 2
    assert "called `strem`\n  = hint: did you mean `stream`?" in outcome.out
