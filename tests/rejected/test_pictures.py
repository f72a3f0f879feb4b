"""Each bad model in a folder here is refused with exactly the report in the text file of its name.

`pytest --update-pictures` writes the reports anew; whoever does that reads the difference: is each report enough
for a user to mend the model?

A model in `evaluation` or `check` begins with what is asked of it, in comments:

    // machine: two_sockets       machines/two_sockets.aspen beside it
    // socket: gpu
    // kernel: update
    // set: n = 2*k               as often as needed
    // ranks-on: core             also ranks-per-node, distribution
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from aspenpy import load_application, load_machine, predict
from aspenpy.answers.checks.files import check_file
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file

HERE = Path(__file__).parent


def parse(model: str) -> None:
    """What refuses the models of the folder `syntax`: reading them."""
    reader = Reader()
    parse_file(reader.read(model), reader)


def evaluate(model: str) -> None:
    """What refuses the models of the folder `evaluation`: predicting them on a machine."""
    text = Path(model).read_text(encoding="utf-8")
    predict(
        load_application(model),
        load_machine(f"machines/{_asked(text, 'machine', 'small')}.aspen"),
        socket=_asked(text, "socket"),
        kernel=_asked(text, "kernel", "main") or "",
        set=dict(setting.split(" = ", 1) for setting in _comments(text, "set")),
        ranks_on=_asked(text, "ranks-on"),
        ranks_per_node=int(asked) if (asked := _asked(text, "ranks-per-node")) else None,
        distribution=_asked(text, "distribution"),
    )


def check(model: str) -> None:
    """What finds fault with the models of the folder `check`: the checks, against a machine if one is named."""
    machine = _asked(Path(model).read_text(encoding="utf-8"), "machine")
    found = check_file(Path(model), load_machine(f"machines/{machine}.aspen") if machine else None, Reader())
    if found:
        raise AspenError(*found)


def _comments(text: str, word: str) -> list[str]:
    """The values of the comments `// word: value` of a model."""
    return re.findall(rf"^// {word}: *(.*)$", text, re.MULTILINE)


def _asked(text: str, word: str, otherwise: str | None = None) -> str | None:
    return next(iter(_comments(text, word)), otherwise)


REFUSED_BY: dict[str, Callable[[str], None]] = {"syntax": parse, "evaluation": evaluate, "check": check}

MODELS = [model for folder in REFUSED_BY for model in sorted((HERE / folder).glob("*.aspen"))]


@pytest.mark.parametrize("model", MODELS, ids=[f"{model.parent.name}/{model.stem}" for model in MODELS])
def test_report_is_as_pictured(model: Path, monkeypatch: pytest.MonkeyPatch, update_pictures: bool) -> None:
    monkeypatch.chdir(model.parent)
    with pytest.raises(AspenError) as refusal:
        REFUSED_BY[model.parent.name](model.name)
    report = f"{refusal.value}\n"
    picture = model.with_suffix(".txt")
    if update_pictures:
        picture.write_text(report, encoding="utf-8")
    assert report == picture.read_text(encoding="utf-8")


def test_every_picture_has_its_model() -> None:
    pictures = {picture.with_suffix(".aspen") for folder in REFUSED_BY for picture in (HERE / folder).glob("*.txt")}
    assert pictures == set(MODELS)
