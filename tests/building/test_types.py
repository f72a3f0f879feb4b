"""Arguments of wrong types, from Python: the argument and what it takes are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.shell.main import main

APP = aspenpy.load_application("stream")

WRONG: dict[str, Callable[[Any], object]] = {
    "`resource` takes the name of a resource, not int (-1)": lambda wrong: aspenpy.count(APP, resource=-1),
    "`text` takes a model as a string, not int (5)": lambda wrong: aspenpy.parse(wrong(5)),
    "`model` takes a path, a name of the library": lambda wrong: aspenpy.load_machine(wrong(1.0)),
    "`set` takes a mapping of parameters to values, not int (5)": lambda wrong: aspenpy.Case(APP, set=wrong(5)),
    "`kernel` takes the name of a kernel, not int (5)": lambda wrong: aspenpy.Case(APP, kernel=wrong(5)),
    "`socket` takes the name of a socket, or None, not int (5)": lambda wrong: aspenpy.Case(APP, socket=wrong(5)),
    "`seed` takes a whole number, not str": lambda wrong: aspenpy.Case(APP, seed=wrong("x")),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_type_names_the_argument(message: str) -> None:
    with pytest.raises(TypeError) as caught:
        WRONG[message](lambda value: value)
    assert str(caught.value).startswith(message)


def test_a_program_does_not_hide_a_model_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("md").write_bytes(b"\x7fELF\2\1\1\0\0")
    assert aspenpy.load_application("md").name == "md"
    Path("md").write_text("model mine { kernel main { execute { flops [1] } } }")
    assert aspenpy.load_application("md").name == "mine"


@pytest.mark.parametrize("there", [True, False])
def test_a_source_is_for_extract(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        Path("cg.c").write_text("int main() { return 0; }")
    assert main(["eval", "cg.c", "--machine", "haswell"]) == 2
    assert "aspenpy extract cg.c" in capsys.readouterr().err


def test_more_ranks_than_boards_name_the_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("eval hpcg --machine h100 --set ranks=4".split()) == 2
    assert "--set h100_boards=" in capsys.readouterr().err
    assert main("eval hpcg --machine h100 --set ranks=4 --set h100_boards=4".split()) == 0
