"""The fitted model as text: the same file, other numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.expr.evaluate import evaluate
from aspenpy.learn.fitting.rewriting import rewrite_application
from tests.tiny import codes

TEXT = """\
// What a comment says stays.
model   m {
  import part from "part.aspen" with k = 2*one
  import other from "other.aspen"
  param one = 1
  param word = 8 B in 1 B .. 100 GiB // bytes
  param tile = 2*4 in 1 MiB .. 8 MiB
  param  plain=3   in -4..4
  kernel main { execute { loads [word] } }
}
"""
PART = "model part { param k = 1 in 0 .. 9  param l = 1 in 0 .. 9  kernel main { execute { flops [k*l] } } }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.aspen").write_text(TEXT, encoding="utf-8")
    for name in ("part", "other"):
        (tmp_path / f"{name}.aspen").write_text(PART.replace("model part", f"model {name}"), encoding="utf-8")
    return tmp_path


def test_only_the_values_change(folder: Path) -> None:
    app = aspenpy.load_application("m.aspen")
    values = {"word": 1.5e-7, "tile": 3 * 2**20, "plain": -0.1, "part.k": 7.25, "part.l": 3, "other.k": 1, "other.l": 2}
    text = rewrite_application(app, values)
    before, after = (folder / "m.aspen").read_text(encoding="utf-8").splitlines(), text.splitlines()
    changed = {
        '  import part from "part.aspen" with k = 7.25, l = 3',
        '  import other from "other.aspen" with k = 1, l = 2',
        "  param word = 1.5e-7 B in 1 B .. 100 GiB // bytes",
        "  param tile = 3 MiB in 1 MiB .. 8 MiB",
        "  param  plain=-0.1   in -4..4",
    }
    assert set(after) - set(before) == changed
    assert len(after) == len(before)
    (folder / "fitted.aspen").write_text(text, encoding="utf-8")
    again = aspenpy.load_application("fitted.aspen")
    assert {name: float(evaluate(again.parameters[name].value)) for name in values} == values


def test_a_comment_no_longer_names_another_source(folder: Path) -> None:
    """`bytes` says what the value is and stays; where the other was measured does not; values without one get one."""
    stale = TEXT.replace("in 1 MiB .. 8 MiB", "in 1 MiB .. 8 MiB  // 4 MiB on Genoa-X, Chips and Cheese")
    (folder / "m.aspen").write_text(stale, encoding="utf-8")
    app = aspenpy.load_application("m.aspen")
    text = rewrite_application(app, {"word": 2, "tile": 3 * 2**20, "plain": 1}, origin="fitted to runs.csv")
    assert set(text.splitlines()) - set(stale.splitlines()) == {
        "  param word = 2 B in 1 B .. 100 GiB  // bytes; fitted to runs.csv",
        "  param tile = 3 MiB in 1 MiB .. 8 MiB  // fitted to runs.csv",
        "  param  plain=1   in -4..4  // fitted to runs.csv",
    }


def test_what_stands_elsewhere_is_refused(folder: Path) -> None:
    (folder / "shared.aspen").write_text("param far = 1 in 0 .. 2\n", encoding="utf-8")
    (folder / "m.aspen").write_text(
        'model m { include "shared.aspen" kernel main { execute { flops [far] } } }', encoding="utf-8"
    )
    app = aspenpy.load_application("m.aspen")
    with pytest.raises(AspenError) as refusal:
        rewrite_application(app, {"far": 2})
    assert codes(refusal.value) == ["not-rewritten"]
    assert "`far` stands in `shared.aspen`" in str(refusal.value)


def test_model_that_would_not_load_there_is_refused(folder: Path) -> None:
    app = aspenpy.load_application("m.aspen")
    with pytest.raises(AspenError) as refusal:
        rewrite_application(app, {"word": 2}, folder / "below" / "m.aspen")
    assert codes(refusal.value) == ["file-not-found"]
    assert "while reading the fitted model back" in str(refusal.value)
