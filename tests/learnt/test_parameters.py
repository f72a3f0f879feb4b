"""What was learnt as parameters of the Aspen language: files that models include and `check` accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy
from aspenpy.language.files import measurements_path
from aspenpy.learn.estimators.model_files import KINDS, to_aspen, write_parameters
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

LAW = [
    {"application": "lu-c", "threads": n, "core_frequency": f * 1e9, "runtime": (6 / f + 2) / n + (n > 1)}
    for f in (1.0, 2.0, 3.0)
    for n in (1, 2)
]
"""6e9 cycles and 2 s beside them, shared by two threads, which take a second for it."""


def test_a_model_includes_what_was_learnt(tmp_path: Path) -> None:
    model = KINDS["power-aware"]().fit(LAW)
    write_parameters(model, tmp_path / "learnt.aspen")
    text = (tmp_path / "learnt.aspen").read_text(encoding="utf-8")
    assert model.training is not None
    assert f"From 6 rows, SHA-256 {model.training.data_hash}." in text
    (tmp_path / "app.aspen").write_text(
        "model m { include learnt.aspen param clock = 3e9\n kernel main { execute { flops ["
        "power_aware_lu_c_on_chip/clock + power_aware_lu_c_off_chip + 10*power_aware_lu_c_overhead_2] } } }",
        encoding="utf-8",
    )
    amounts = aspenpy.load_application(tmp_path / "app.aspen")
    assert aspenpy.predict(amounts, aspenpy.load_machine("simple")).resources["flops"].amount == pytest.approx(
        6 / 3 + 2 + 10
    )


@pytest.mark.parametrize(
    ("kind", "options"),
    [("cos", {}), ("cos", {"form": "clocks"}), ("acee", {}), ("power-aware", {}), ("leading-loads", {"rival": "RMI"})],
)
def test_files_are_checked(kind: str, options: dict[str, str], run: Runner, tmp_path: Path) -> None:
    file, example = tmp_path / "learnt.aspen", f"{kind.replace('-', '_')}_example"
    chosen = [word for item in options.items() for word in ("--option", "=".join(item))]
    assert run("empirical", kind, "fit", example, *chosen, "--parameters", str(file)).status == 0
    assert file.read_text(encoding="utf-8") == to_aspen(KINDS[kind](**options).fit(measurements_path(example)))
    outcome = run("check", str(file), "--strict")
    assert (outcome.status, outcome.out) == (0, "no errors, no warnings\n")


def test_trees_are_no_parameters(run: Runner, tmp_path: Path) -> None:
    line = ("empirical", "bandwidth", "fit", "bandwidth_example", "--option", "trees=5")
    outcome = run(*line, "--parameters", str(tmp_path / "learnt.aspen"))
    assert "`bandwidth` model has learnt no numbers that could be parameters" in outcome.err
