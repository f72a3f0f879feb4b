"""What all models that learn have in common: scikit-learn's contract, validation, files, ranges."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import measurements_path
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.model_files import KINDS, checksum, load_learnt, save_model
from aspenpy.learn.estimators.validation import Split, summarise_errors, validate
from benchmarks.example_measurements import EXAMPLES, FOLDER, text_of

NAMES = {kind: f"{kind.replace('-', '_')}_example" for kind in KINDS if kind != "cos-throttling"}


def fitted(kind: str) -> tuple[LearntModel, str]:
    path = measurements_path(NAMES[kind])
    options = {"trees": 40} if kind == "bandwidth" else {}
    return KINDS[kind](**options).fit(path), path


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_what_their_law_gives(name: str) -> None:
    lines = [line.split(",") for line in (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()]
    made = text_of(name)
    assert lines[0] == made[0]
    for line, row in zip(lines[1:], made[1:], strict=True):
        for one, other in zip(line, row, strict=True):
            assert one == other or float(one) == pytest.approx(float(other), rel=1e-5)


@pytest.mark.parametrize("kind", NAMES)
def test_contract_of_scikit_learn(kind: str) -> None:
    from sklearn.base import clone

    model, path = fitted(kind)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.training is None
    data = model.select_rows(model.drop_unmeasured(model.sheet(path)))
    assert model.predict(data).shape == (len(data.rows),)
    assert model.score(data) > 0.9
    with pytest.raises(AspenError, match="has not learnt anything yet"):
        copy.predict(path)
    with pytest.raises(AspenError, match="has no option `colour`"):
        KINDS[kind](colour="red")


def test_a_data_frame_and_a_target_of_its_own() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(measurements_path("leading_loads_example"))
    model = KINDS["leading-loads"]()
    as_path = model.fit(measurements_path("leading_loads_example")).predict(measurements_path("leading_loads_example"))
    doubled = 2e-6 * frame["runtime [us]"].to_numpy()
    frame["core_frequency [GHz]"] /= 2  # twice the time at half the clock: the same cycles
    again = KINDS["leading-loads"]().fit(frame, doubled)
    assert again.training is not None
    assert as_path == pytest.approx(1e-6 * frame["runtime [us]"].to_numpy(), rel=1e-2)


@pytest.mark.parametrize("kind", NAMES)
def test_a_saved_model_predicts_the_same(kind: str, tmp_path: Path) -> None:
    model, path = fitted(kind)
    save_model(model, tmp_path / "model.json")
    again = load_learnt(tmp_path / "model.json")
    rows = model.select_rows(model.sheet(path))
    assert np.array_equal(again.predict(rows), model.predict(rows))
    held = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert held["training"]["rows"] == len(rows.rows)
    assert {"aspenpy", "numpy", "scikit-learn"} <= held["versions"].keys()
    assert again.notes == ()


def changed(held: dict[str, Any], **new: Any) -> str:
    held = {key: value for key, value in held.items() if key != "checksum"} | new
    return json.dumps(held | {"checksum": checksum(held)})


def test_files_that_are_refused(tmp_path: Path) -> None:
    model, _ = fitted("cos")
    file = tmp_path / "model.json"
    save_model(model, file)
    held = json.loads(file.read_text(encoding="utf-8"))
    cases = {
        json.dumps(held | {"target": "energy"}): "was changed after it was written",
        changed(held, format_version=99): "is in version 99 of the format, and this aspenpy reads 2",
        changed(held, kind="oracle"): "holds a model `oracle`",
        "[1]": "is not a saved model",
        "{": "is not a saved model",
        "[" * 100000: "is not a saved model",
    }
    for text, message in cases.items():
        file.write_text(text, encoding="utf-8")
        with pytest.raises(AspenError) as caught:
            load_learnt(file)
        assert message in str(caught.value)
    with pytest.raises(AspenError, match="file not found"):
        load_learnt(tmp_path / "none.json")
    file.write_text(changed(held, versions=held["versions"] | {"aspenpy": "0.0.1"}), encoding="utf-8")
    assert "was written by aspenpy 0.0.1" in load_learnt(file).notes[0].message


def test_errors_are_those_of_the_paper() -> None:
    found = summarise_errors([10, 20, 40, 80], [11, 18, 40, 60])
    assert found is not None
    assert (found.n, found.mean_error_percent, found.median_error_percent) == (4, 11.25, 10)
    assert found.max_error_percent == 25
    assert found.std_error_percent == pytest.approx(np.std([10, 10, 0, 25]))
    assert summarise_errors([], []) is None


def test_what_is_held_out_is_not_learnt() -> None:
    """A code whose energy is doubled changes no prediction of it when it is left out."""
    rows = [{"application": app, "c": float(x), "runtime": 1.0, "energy": 10.0 + 3 * x + y}
            for app, y in (("a", 0.1), ("b", -0.1), ("d", 0.0)) for x in range(8)]  # fmt: skip
    model = KINDS["acee"](direction="none", predictors=("c",))
    split = Split(leave_out="application")
    plain = validate(model, model.sheet(rows), split)
    twice = validate(
        model,
        model.sheet([row | {"energy": 2 * row["energy"]} if row["application"] == "d" else row for row in rows]),
        split,
    )
    own = [
        [row.predicted for row in found.rows if not row.trained and dict(row.labels)["application"] == "d"]
        for found in (plain, twice)
    ]
    assert own[0] == pytest.approx(own[1])
    assert [name for name, _ in plain.groups] == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (Split("threads in (2, 4)", "threads >= 4"), "share 8 rows"),
        (Split("threads == 99"), "no row is one to train with"),
        (Split(None, "threads == 99"), "no row is one to test with"),
        (Split(None, None, "nothing"), "--leave-out: there is no column `nothing`"),
    ],
)
def test_splits_that_are_refused(split: Split, message: str) -> None:
    model = KINDS["cos"]()
    with pytest.raises(AspenError) as caught:
        validate(model, model.sheet(measurements_path("cos_example")), split)
    assert message in str(caught.value)


def test_outside_the_training_range_is_told() -> None:
    model = KINDS["cos"]()
    found = validate(model, model.sheet(measurements_path("cos_example")), Split("threads in (2, 4)"))
    assert [item.message for item in found.diagnostics] == [
        "`threads` is outside the training range 2 .. 4 in 16 of 16 rows"
    ]


def test_rows_without_a_target_are_predicted_and_not_learnt() -> None:
    path = measurements_path("cos_example")
    model = KINDS["cos"]()
    sheet = model.sheet(path)
    unknown = [place for place in range(len(sheet.rows)) if place % 4 == 3]
    rows = [{heading.name: row[heading.name].value for heading in sheet.headings} for row in sheet.rows]
    for place in unknown:
        rows[place]["runtime"] = ""
    learnt = KINDS["cos"]().fit(rows)
    assert "8 rows without a measured runtime left out" in learnt.notes[0].message
    plain = [float(row["runtime"].value) for row in sheet.rows]
    predicted = learnt.predict(rows)
    assert predicted[unknown] == pytest.approx([plain[place] for place in unknown], rel=0.01)


@pytest.mark.parametrize(("kind", "library"), [("acee", "statsmodels"), ("bandwidth", "sklearn")])
def test_libraries_that_are_not_there(kind: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(AspenError, match=rf"needs {library}: pip install 'aspenpy\[empirical\]'"):
        KINDS[kind]().fit(measurements_path(NAMES[kind]))
