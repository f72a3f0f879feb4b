"""Errors of a run are those of accelerators where a core has as many lanes as theirs have, and no fewer."""

import pytest

import aspenpy
from aspenpy.answers.expected_error import expected_error
from aspenpy.answers.occupancy import MANY_LANES

MACHINE = """machine m {{ socket s }}
socket s {{ cache l1 core c memory ram }}
memory ram {{ property capacity [1e9] property bandwidth [1e9] resource loads(volume) [volume/bandwidth] }}
cache l1 {{ property capacity [1024] property simd_width [{other}] }}
core c {{
  property simd_width [{lanes}]
  resource flops(number) [number/1e9]
}}"""


@pytest.mark.parametrize(
    ("lanes", "other", "on_accelerator"),
    [(MANY_LANES - 1, MANY_LANES, False), (MANY_LANES, 1, True), (MANY_LANES + 1, 1, True)],
)
def test_many_lanes_are_those_of_an_accelerator(lanes: int, other: int, on_accelerator: bool) -> None:
    """What stands beside the core has no say."""
    machine = aspenpy.parse(MACHINE.format(lanes=lanes, other=other))
    run = aspenpy.predict(aspenpy.parse("model a { kernel main { execute { flops [1e9] } } }"), machine)
    assert ("kernels of accelerators" in str(expected_error(run))) is on_accelerator
