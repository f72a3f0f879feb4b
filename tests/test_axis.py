"""Ranges and lists as they are written, wherever that is, and where a mistake in one is."""

import pytest

from aspenpy.language.axis import Axis, Extent, parse_axis, read_literal
from aspenpy.language.diagnostics import AspenError


@pytest.mark.parametrize("text", ["n=8,64", "n={8, 64}", " n = { 8,64 } "])
def test_a_list_stands_in_braces_or_not(text: str) -> None:
    assert [item.text() for item in parse_axis(text).items] == ["8", "64"]


def test_commas_in_brackets_part_nothing() -> None:
    assert [item.text() for item in parse_axis("n=max(1, 2),{3}").items] == ["max(1, 2)", "{3}"]


def test_options_come_in_any_order() -> None:
    found = parse_axis("machine:n=1..5:20:whole:log")
    assert (found.name, found.count, found.whole, found.spacing) == ("machine:n", 20, True, "log")
    assert parse_axis("machine:n:log") == Axis("machine:n", spacing="log")


@pytest.mark.parametrize(("text", "wrong"), [("n=1..5:cubic", "cubic"), ("n=1..5:3:4", "4"), ("n=1..:log", "1..:log")])
def test_a_mistake_has_its_place(text: str, wrong: str) -> None:
    with pytest.raises(AspenError) as error:
        parse_axis(text)
    span = error.value.diagnostics[0].span
    assert span is not None
    assert span.text() == wrong


def test_a_range_is_wide_from_three_decades_on() -> None:
    axis = parse_axis("n")
    assert [axis.is_logarithmic(1, 999), axis.is_logarithmic(1, 1000), axis.is_logarithmic(0, 1000)] == [
        False,
        True,
        False,
    ]


def test_places_and_values_of_an_extent() -> None:
    assert Extent(1.0, 10000.0, log=True).value(0.5) == pytest.approx(100)
    assert Extent(1.0, 10000.0, log=True).place(10) == pytest.approx(0.25)
    assert (Extent(2, 6, log=False).value(0.25), Extent(2, 6, log=False).place(5)) == (3, 0.75)


@pytest.mark.parametrize(
    ("text", "value"), [("8M", 8e6), ("4Ki", 4096.0), ("-2", -2.0), ("2*n", None), ("1.2.3", None)]
)
def test_numbers_with_a_prefix(text: str, value: float | None) -> None:
    assert read_literal(parse_axis(f"n={text}").items[0]) == value
