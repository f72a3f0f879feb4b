"""The units of what a model declares."""

import pytest

from aspenpy.language.parser import parse_expression
from aspenpy.models.units import Units
from aspenpy.report.machine import properties_of
from tests.tiny import machine


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


def test_a_property_has_the_unit_of_its_name_where_a_formula_does_not_tell() -> None:
    text = (
        "param words = 5 machine m { socket [1] s } socket s { core c memory d } core c { resource flops(x) [x] }"
        " memory d { property capacity [2*words] property bandwidth [7] property latency [3 ns] property pins [words] }"
    )
    units = {item.name: item.unit for item in properties_of(machine(text))}
    assert units == {"d.capacity": "B", "d.bandwidth": "", "d.latency": "s", "d.pins": ""}
