"""Arguments of wrong types, from Python: the argument and what it takes are named."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.shell.main import main

APP = aspenpy.load_application("stream")
MACHINE = aspenpy.load_machine("haswell")
FUNCTIONS = [name for name in aspenpy.__all__ if inspect.isfunction(getattr(aspenpy, name))]
BASE: dict[str, dict[str, Any]] = {
    "check": {"model": "stream"},
    "compare": {"app": APP, "machines": [MACHINE, MACHINE]},
    "count": {"app": APP, "resource": "flops"},
    "extract_application": {"path": "missing.c"},
    "fit": {"app": APP, "data": "missing.csv", "machine": MACHINE},
    "format": {"model": "stream"},
    "load_application": {"model": "stream"},
    "load_machine": {"model": "haswell"},
    "network": {"machine": MACHINE},
    "optimise": {"app": APP, "machine": MACHINE, "minimise": "runtime", "vary": "n=1..100"},
    "parse": {"text": "model m { kernel main { } }"},
    "peaks": {"machine": MACHINE},
    "read_network": {"name_or_path": "llama3_8b"},
    "reuse_distances": {"trace": [64, 128]},
    "roofline": {"machine": MACHINE},
    "scale": {"app": APP, "machine": MACHINE, "ranks": [1, 2]},
    "sweep": {"app": APP, "machine": MACHINE, "over": {"n": [1, 2]}},
    "validate": {"app": APP, "machine": MACHINE, "run": "./stream {n}", "over": {"n": [1, 2]}},
}
"""Right arguments of each function, of which one at a time is replaced; of the others an application and a machine."""

WORDS = {"app": "application", "apps": "application", "machine": "machine", "machines": "machine", "trace": "addresses"}
"""What a diagnostic calls an argument, where it is not its name."""

OBJECTS = {"advice", "client", "counts", "energy", "options", "progress", "run", "target", "watch"}
"""Objects of the package or callables, which the functions look at themselves."""


class Stranger:
    """A value that no argument takes."""


def arguments_of(name: str) -> list[str]:
    """Of a public function, those among `**options` included."""
    function = inspect.unwrap(getattr(aspenpy, name))
    found: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            found.append(parameter.name)
            continue
        options = function.__globals__[parameter.annotation.removeprefix("Unpack[").removesuffix("]")]
        found.extend(options.__annotations__)
    return found


EACH = [(name, argument) for name in FUNCTIONS for argument in arguments_of(name)]


@pytest.mark.parametrize(("name", "argument"), EACH, ids=map("-".join, EACH))
@pytest.mark.parametrize(
    "wrong", [Stranger(), -1.5, b"bytes", [Stranger()], {5: 3}], ids=["object", "number", "bytes", "list", "keys"]
)
def test_a_wrong_type_names_the_argument(name: str, argument: str, wrong: object) -> None:
    takes_numbers = argument in ("confidence", "isoefficiency", "sample") and isinstance(wrong, float)
    if (argument in OBJECTS and (name, argument) != ("validate", "run")) or takes_numbers:
        pytest.skip("takes an object of the package, or this one")
    right = BASE.get(name, {"app": APP, "machine": MACHINE})
    with pytest.raises((TypeError, aspenpy.AspenError), match=rf"`{argument}`|{WORDS.get(argument, '$^')}"):
        getattr(aspenpy, name)(**{**right, argument: wrong})


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("unknown", "hint"), [("zzzzzz", "it takes "), ("{}x", "did you mean `{}`?")])
def test_an_unknown_argument_is_named_and_so_are_those_there_are(name: str, unknown: str, hint: str) -> None:
    longest = max(arguments_of(name), key=len)
    right = BASE.get(name, {"app": APP, "machine": MACHINE})
    with pytest.raises(TypeError) as caught:
        getattr(aspenpy, name)(**{**right, unknown.format(longest): 1})
    assert str(caught.value).startswith(f"{name}() takes no argument `{unknown.format(longest)}`; ")
    assert hint.format(longest) in str(caught.value)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if arguments_of(name)[0] not in OBJECTS])
def test_the_first_argument_has_no_need_of_its_name(name: str) -> None:
    right = {key: value for key, value in BASE.get(name, {"machine": MACHINE}).items() if key != arguments_of(name)[0]}
    with pytest.raises(TypeError, match=f"`{arguments_of(name)[0]}` takes "):
        getattr(aspenpy, name)(Stranger(), **right)


@pytest.mark.parametrize(
    ("message", "call"),
    {
        "`resource` takes the name of a resource, not int (-1)": lambda wrong: aspenpy.count(APP, resource=wrong(-1)),
        "`text` takes a model as a string, not int (5)": lambda wrong: aspenpy.parse(wrong(5)),
        "`model` takes a path, a name of the library": lambda wrong: aspenpy.load_machine(wrong(1.0)),
        "`over` takes a mapping of names to values, not int (5)": lambda wrong: aspenpy.sweep(
            APP, MACHINE, over=wrong(5)
        ),
        "`set` takes a mapping of names to values, or None, not int (5)": lambda wrong: aspenpy.Case(APP, set=wrong(5)),
        "`kernel` takes the name of a kernel, not int (5)": lambda wrong: aspenpy.Case(APP, kernel=wrong(5)),
        "`seed` takes a whole number, not str": lambda wrong: aspenpy.Case(APP, seed=wrong("x")),
    }.items(),
)
def test_the_message_says_what_is_taken(message: str, call: Callable[[Callable[[Any], Any]], object]) -> None:
    with pytest.raises(TypeError) as caught:
        call(lambda value: value)
    assert str(caught.value).startswith(message)


def test_a_program_is_a_file_or_several(tmp_path: Path) -> None:
    files = [tmp_path / "a.c", tmp_path / "b.c"]
    files[0].write_text("void g(void); int main(void) { g(); return 0; }", encoding="utf-8")
    files[1].write_text("double x; void g(void) { x = x * 3.0; }", encoding="utf-8")
    found = aspenpy.extract_application(files)
    assert "flops [1]" in found.text
    assert found.text == aspenpy.extract_application([str(file) for file in files]).text


def test_public_functions_go_to_other_processes() -> None:
    assert all(pickle.loads(pickle.dumps(getattr(aspenpy, name))) is getattr(aspenpy, name) for name in FUNCTIONS)


def test_a_program_does_not_hide_a_model_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("md").write_bytes(b"\x7fELF\2\1\1\0\0")
    assert aspenpy.load_application("md").name == "md"
    Path("md").write_text("model mine { kernel main { execute { flops [1] } } }", encoding="utf-8")
    assert aspenpy.load_application("md").name == "mine"


@pytest.mark.parametrize("there", [True, False])
def test_a_source_is_for_extract(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        Path("cg.c").write_text("int main() { return 0; }", encoding="utf-8")
    assert main(["eval", "cg.c", "--machine", "haswell"]) == 2
    assert "aspenpy extract cg.c" in capsys.readouterr().err


def test_more_ranks_than_boards_name_the_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("eval hpcg --machine h100 --set ranks=4".split()) == 2
    assert "--set h100_boards=" in capsys.readouterr().err
    assert main("eval hpcg --machine h100 --set ranks=4 --set h100_boards=4".split()) == 0
