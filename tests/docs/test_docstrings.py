"""Public functions say what they return, in which unit or shape, and when they raise; members say what they are."""

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

import aspenpy

FUNCTIONS = [name for name in aspenpy.__all__ if name[0].islower()]
CLASSES = [name for name in aspenpy.__all__ if name[0].isupper()]

UNITS = r"""seconds|joules|watts|\bB\b|bytes|flop|lines|\bunit\b|share|shares|0 to 1|factor|ratio|relative|efficiency
    |standard\ error|intensity|number|rate|whole\ numbers?|array|sizes"""
"""What a number is in."""

MODELS = {
    "load_application",
    "load_machine",
    "parse",
    "format",
    "check",
    "mpi",
    "optimise",
    "fit",
    "advise",
    "extract_application",
}
"""Functions whose result is a text, a model, or several quantities of whatever was asked for."""


def documented(name: str) -> str:
    return inspect.getdoc(getattr(aspenpy, name)) or ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_returns_and_raises(name: str) -> None:
    text = documented(name)
    returns = re.search(r"^:returns: (.+?)(?=^:|\Z)", text, re.M | re.S)
    assert returns
    assert name in MODELS or re.search(UNITS, returns[1], re.X)
    assert re.search(r"^:raises AspenError: .{10,}", text, re.M)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_names_its_arguments(name: str) -> None:
    text = documented(name)
    if re.search(r"those\s+of\s+`\w+`", text):  # described there
        text += documented("predict") + documented("load_application")
    arguments = inspect.signature(getattr(aspenpy, name)).parameters.values()
    named = {item.name for item in arguments if item.kind is not item.VAR_KEYWORD} - {"app", "machine"}
    assert not [item for item in named if not re.search(rf"`{item}\b|\b{item}=|\b{item}\b", text)]


def members(name: str) -> list[tuple[str, Callable[..., Any]]]:
    """The public properties and methods that a class itself defines."""
    unwrapped = {
        key: value.fget if isinstance(value, property) else getattr(value, "func", getattr(value, "__func__", value))
        for key, value in vars(getattr(aspenpy, name)).items()
        if not key.startswith("_") and (callable(value) or isinstance(value, property | cached_property | staticmethod))
    }
    return [*unwrapped.items()]


@pytest.mark.parametrize("name", CLASSES)
def test_a_member_says_what_it_is(name: str) -> None:
    assert len(documented(name)) > 20
    for key, function in members(name):
        text = inspect.getdoc(function) or ""
        assert text, f"{name}.{key} has no docstring"
        if function.__annotations__.get("return") in ("float", "dict[str, float]"):
            assert re.search(UNITS, text, re.X | re.I), f"{name}.{key} names no unit"
