"""Imported models: where they are found, what their names are, and what `with` overrides."""

from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy import AspenError, Prediction
from tests.tiny import codes, machine

FFT = """
model fft {
  param points = 4
  param work = 10*points
  enum directions { forward, backward }
  data field [8*points]
  kernel main { execute { flops [work] } }
  kernel some(param times) { iterate [times] { call main } execute { loads [1] from field } }
}
"""
SOLVER = """
model solver {
  import fft from "fft.aspen" with points = 2*size_of_grid
  param size_of_grid = 3
  kernel main { call fft.main execute { flops [1] } }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the models `fft` and `solver`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fft.aspen").write_text(FFT, encoding="utf-8")
    (tmp_path / "solver.aspen").write_text(SOLVER, encoding="utf-8")
    return tmp_path


def predict(text: str, **asked: Any) -> Prediction:
    Path("top.aspen").write_text(f"model top {{ {text} }}", encoding="utf-8")
    return aspenpy.predict(aspenpy.load_application("top.aspen"), machine(), **asked)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ('import fft from "fft.aspen" kernel main { call fft.main }', 40),
        ('import fft from "fft.aspen" with points = 7 kernel main { call fft.main }', 70),  # dependants follow
        ('import fft from "fft.aspen" with points = 7, work = 3 kernel main { call fft.main }', 3),
        ('import fft from "fft.aspen" kernel main { call fft.some(2) }', 80 + 1),
        ('import fft from "fft.aspen" kernel main { execute { flops [fft.work + fft.backward] } }', 41),
        # an override is an expression of the importer: its own `points`, not the one it overrides
        ('param points = 5 import fft from "fft.aspen" with points = points + 1 kernel main { call fft.main }', 60),
        # the importer's names are not the imported model's
        ('param points = 99 import fft from "fft.aspen" kernel main { call fft.main }', 40),
        ('import solver from "solver.aspen" kernel main { call solver.main }', 61),
        ('import solver from "solver.aspen" with size_of_grid = 4 kernel main { call solver.main }', 81),
        ('import solver from "solver.aspen" kernel main { call solver.fft.some(1) }', 60 + 1),
        ('import solver from "solver.aspen" kernel main { execute { flops [solver.fft.points] } }', 6),
    ],
)
def test_names_and_overrides(text: str, seconds: float) -> None:
    assert predict(text).runtime == seconds


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({"fft.points": 7}, 70),
        ({"fft.work": 7}, 7),
        ({"fft.points": "2*n"}, 60),
        ({"n": 5}, 50),
        ({"n": "fft.work"}, "circular-definition"),
    ],
)
def test_settings_of_imported_parameters_beat_the_override(settings: dict[str, Any], seconds: Any) -> None:
    text = 'param n = 3 import fft from "fft.aspen" with points = n kernel main { call fft.main }'
    if isinstance(seconds, str):
        with pytest.raises(AspenError) as refusal:
            predict(text, set=settings)
        assert codes(refusal.value) == [seconds]
    else:
        assert predict(text, set=settings).runtime == seconds


LOCAL = """
param n = 5
kernel update(param m) {
  param k = m + 1
  import fft from "fft.aspen" with points = k
  call fft.main
  execute { flops [fft.points] }
}
kernel main { call update(1) call update(3) }
kernel other { import fft from "fft.aspen" call fft.main }
kernel both { import fft from "fft.aspen" with points = n call fft.main call other }
"""


@pytest.mark.usefixtures("folder")
def test_a_kernels_own_import_follows_its_arguments_call_by_call() -> None:
    # k is 2 and 4: 10 k of the callee and k of its own
    prediction = predict(LOCAL)
    assert prediction.runtime == 20 + 2 + 40 + 4
    used = {use.name: (use.calls, use.inclusive, use.exclusive) for use in prediction.kernels}
    assert used == {"main": (1, 66, 0), "update": (2, 66, 6), "update.fft.main": (2, 60, 60)}
    assert predict(LOCAL, kernel="update", set={"m": 9}).runtime == 110


@pytest.mark.usefixtures("folder")
def test_the_same_file_imported_twice_is_two_models() -> None:
    assert predict(LOCAL, kernel="both").runtime == 50 + 40
    assert predict(LOCAL, kernel="both", set={"both.fft.points": 1, "other.fft.points": 2}).runtime == 10 + 20


@pytest.mark.usefixtures("folder")
def test_what_arguments_decide_cannot_be_set() -> None:
    for name in ("update.fft.points", "update.fft.work"):
        with pytest.raises(AspenError) as refusal:
            predict(LOCAL, set={name: 1})
        assert codes(refusal.value) == ["computed-parameter"]


def test_an_import_is_looked_up_beside_the_importing_file_first(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "fft.aspen").write_text(
        "model fft { param points = 1 kernel main { execute { flops [points] } } }", encoding="utf-8"
    )
    (inner / "solver.aspen").write_text(SOLVER, encoding="utf-8")
    text = 'import solver from "inner/solver.aspen" kernel main { call solver.main }'
    assert predict(text).runtime == 6 + 1
    (inner / "fft.aspen").unlink()  # then beside the model itself
    assert predict(text).runtime == 60 + 1


@pytest.mark.usefixtures("folder")
def test_an_override_of_nothing_is_a_warning() -> None:
    prediction = predict('import fft from "fft.aspen" with pionts = 1 kernel main { call fft.main }')
    assert [(item.severity, item.code) for item in prediction.diagnostics] == [("warning", "unknown-override")]
    assert prediction.runtime == 40
