"""The units of what a model declares."""

import pytest

from aspenpy.language.parser import parse_expression
from aspenpy.models.units import Units


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("2 GHz", "Hz"),
        ("rate", "B/s"),
        ("3*n", ""),
        ("7 B + volume", "B"),
        ("volume / rate", "s"),
        ("1 s + 1 B", ""),
        ("round_and_round", ""),
        ("undeclared", ""),
    ],
)
def test_units(text: str, unit: str) -> None:
    written = {"rate": "5 GB/s", "n": "7", "volume": "64 KiB", "round_and_round": "round_and_round"}
    units = Units({name: parse_expression(value) for name, value in written.items()})
    assert units.of(parse_expression(text)) == unit
