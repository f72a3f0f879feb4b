"""Powers that cannot be are errors before anybody asks for energy."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.answers.checks.machines import check_powers
from aspenpy.models.library import library_names
from tests.tiny import machine

NEGATIVE = "a power cannot be {} W: it must not be negative"
BELOW = "the dynamic power cannot be {} W: the design power must not be below the idle power"


def in_socket(powers: str) -> list[tuple[str, str | None]]:
    text = f"param idle_power = 10 W machine m {{ socket s }} socket s {{ {powers} }}"
    return [(found.message, found.span and found.span.text()) for found in check_powers(machine(text))]


@pytest.mark.parametrize(
    ("powers", "message", "place"),
    [
        ("static power [-10 W]", NEGATIVE.format(-10), "static power [-10 W]"),
        ("static power [2*idle_power - 25 W]", NEGATIVE.format(-5), "static power [2*idle_power - 25 W]"),
        ("property idle [-1 W]", NEGATIVE.format(-1), "property idle [-1 W]"),
        ("static power [8 W] dynamic power [5 W - 8 W]", BELOW.format(-3), "dynamic power [5 W - 8 W]"),
        ("property idle [20 W] property tdp [10 W]", BELOW.format(-10), "property tdp [10 W]"),
        ("static power [20 W] property tdp [10 W]", BELOW.format(-10), "property tdp [10 W]"),
        ("static power [2 W] property idle [2 W]", "socket `s` declares its static power and its `idle`",
         "property idle [2 W]"),
        ("property active_core_power [-2 W]", NEGATIVE.format(-2), "property active_core_power [-2 W]"),
        ("property idle_power [12 W] property power_cap [11 W]",
         "the power cap of socket `s`, 11 W, is not above its idle power", "property power_cap [11 W]"),
    ],
)  # fmt: skip
def test_refused_at_its_place(powers: str, message: str, place: str) -> None:
    assert in_socket(powers) == [(message, place)]


@pytest.mark.parametrize(
    "powers",
    [
        "static power [0 W] dynamic power [0 W]",
        "property idle [10 W] property tdp [10 W]",
        "property tdp [10 W]",
        "static power [unknown]",
        "static power [1 W/0]",
    ],
)
def test_taken(powers: str) -> None:
    """The last two are told elsewhere, or not at all until energy is asked for."""
    assert in_socket(powers) == []


@pytest.mark.parametrize("name", library_names("machines"))
def test_the_library(name: str) -> None:
    assert list(check_powers(aspenpy.load_machine(name))) == []
