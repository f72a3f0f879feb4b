"""Command lines and files that `aspenpy empirical` refuses, each with exactly the report in the text file of its name.

`pytest --update-pictures` writes the reports anew; whoever does that reads the difference: is each enough to mend the
line or the file?
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

HERE = Path(__file__).parent / "rejected"
HEAD = "threads,core_frequency [GHz],runtime [s],energy [J],llc_misses,instructions,c0\n"
ROW = "2,1.2,10,500,7,9,1\n"

CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "negative_energy": (HEAD + ROW + ROW.replace("500", "-500"), ("acee", "fit")),
    "not_a_number": (HEAD + ROW + ROW.replace("9,1", "9,nan"), ("acee", "fit", "--predictors", "c0")),
    "mixed_units": (HEAD + ROW + ROW.replace("2,1.2", "2,1200 MHz"), ("cos", "fit")),
    "mixed_scales": (HEAD + ROW * 4 + ROW.replace("500", "0.5") * 2, ("acee", "fit")),
    "wrong_unit": (HEAD.replace("[GHz]", "[GB]") + ROW, ("cos", "fit")),
    "constant": (HEAD + ROW * 5, ("acee", "fit", "--predictors", "c0")),
    "leakage": (HEAD + ROW, ("acee", "fit", "--predictors", "energy/threads")),
    "twice": (HEAD.replace("c0", "threads") + ROW, ("cos", "fit")),
    "too_few_rows": (HEAD + ROW + ROW.replace("9,1", "9,2"), ("acee", "fit", "--predictors", "c0")),
    "too_few_clocks": (HEAD + ROW + ROW.replace("1.2", "1.4"), ("cos", "fit")),
    "no_column": (HEAD.replace("runtime", "running") + ROW, ("cos", "fit")),
    "no_such_column": (HEAD + ROW, ("cos", "fit", "--train", "thread == 2")),
    "bad_condition": (HEAD + ROW, ("cos", "fit", "--train", "threads in (2, 4")),
    "not_held_out": (HEAD + ROW, ("cos", "fit", "--train", "threads == 2", "--test", "threads < 3")),
    "no_rows": (HEAD + ROW, ("cos", "fit", "--test", "threads > 9")),
    "nothing_left": (HEAD + ROW, ("cos", "fit", "--leave-out", "threads")),
    "no_option": (HEAD + ROW, ("cos", "fit", "--option", "shape=round")),
    "no_choice": (HEAD + ROW, ("cos", "fit", "--option", "form=round")),
    "bad_predictor": (HEAD + ROW, ("acee", "fit", "--predictors", "c0 +")),
    "no_model": (HEAD + ROW, ("cos", "predict", "--model", "{data}")),
    "no_counter": (HEAD + ROW, ("leading-loads", "fit")),
    "no_sequential": (HEAD + ROW, ("power-aware", "fit")),
    "one_clock": (HEAD + ROW.replace("2,", "1,", 1) + ROW, ("power-aware", "fit")),
    "no_example": ("", ("cos", "fit", "cos_exmple")),
    "no_file": ("", ("cos", "fit", "no_such.csv")),
    "empty": ("", ("cos", "fit")),
}
"""What stands in the file, and the line, with the file behind its action."""


@pytest.mark.parametrize("name", CASES)
def test_report_is_as_pictured(
    name: str, run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_pictures: bool
) -> None:
    text, line = CASES[name]
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text, encoding="utf-8")
    kind, action, *rest = (word.format(data="data.csv") for word in line)
    data = [] if rest[:1] in (["cos_exmple"], ["no_such.csv"]) else ["data.csv"]
    outcome = run("empirical", kind, action, *data, *rest)
    assert (outcome.status, outcome.out) == (2, "")
    picture = HERE / f"{name}.txt"
    if update_pictures:
        picture.write_text(outcome.err, encoding="utf-8")
    assert outcome.err == picture.read_text(encoding="utf-8")


def test_every_picture_is_of_something() -> None:
    assert sorted(file.stem for file in HERE.glob("*.txt")) == sorted(CASES)
