"""Shapes of structured content, against values written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from aspenpy.language.schema import AnyOf, find_mismatch, parse_json

SHAPE = {"rows": int, "at": [(str, float)], "said": {str: AnyOf(str, None)}, "on": bool, "any": object}
GOOD = {"rows": 3, "at": [["a", 1], ["b", 1.5]], "said": {"x": None, "y": "z"}, "on": True, "any": [[]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"at": [], "said": {}}, None),
        ({"rows": 3.0}, "`rows` is 3.0, not a whole number"),
        ({"rows": True}, "`rows` is true, not a whole number"),
        ({"rows": None}, "`rows` is null, not a whole number"),
        ({"rows": [3]}, "`rows` is a list, not a whole number"),
        ({"on": 1}, "`on` is 1, not true or false"),
        ({"at": {"a": 1}}, "`at` is an object, not a list"),
        ({"at": [["a"]]}, "`at[0]` is a list, not a list of 2"),
        ({"at": [["a", 1], ["b", "c"]]}, '`at[1][1]` is "c", not a finite number'),
        ({"at": [["a", float("inf")]]}, "`at[0][1]` is Infinity, not a finite number"),
        ({"at": [["a", 10**400]]}, "`at[0][1]` is 1000000000000000000000000000000000000000, not a finite number"),
        ({"said": {"x": 1}}, "`said.x` is 1, not a text or null"),
        ({"more": 1}, "`more` does not belong there"),
    ],
)
def test_what_differs_is_said_with_its_place(change: dict[str, Any], message: str | None) -> None:
    assert find_mismatch(GOOD | change, SHAPE) == message


def test_whole_numbers_beyond_64_bits_are_floats() -> None:
    found = parse_json(f"[{2**63 - 1}, {2**63}, {-(2**63)}, {-(2**63) - 1}, {10**40}, 7]")
    assert found == [2**63 - 1, 2.0**63, -(2**63), -(2.0**63), 1e40, 7]
    assert [type(value) for value in found] == [int, float, int, float, float, int]


def test_what_is_missing_is_said() -> None:
    assert find_mismatch({key: value for key, value in GOOD.items() if key != "at"}, SHAPE) == "`at` is missing"
    assert find_mismatch([], SHAPE) == "the content is a list, not an object"


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, "1" * 5_000, "-" + "9" * 400, '{"a": 1,}']
)
def test_texts_that_are_no_json(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_json(text)
