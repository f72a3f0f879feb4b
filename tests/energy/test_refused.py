"""Power that is missing or cannot be: told at its place, and never nothing."""

import pytest

from aspenpy import AspenError
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import EnergyOptions
from tests.tiny import both

MACHINE = """\
machine m { node box  interconnect port }
node box { socket s }
socket s { core c  memory d  static power [8 W]  dynamic power [40 W] }
core c { resource flops(x) [x] }
memory d { resource loads(x) [x]  static power [1 W]  dynamic power [2 W] }
interconnect port { property bandwidth [1 B/s]  resource messages(x) [x]  dynamic power [10 W] }
"""
BODY = "flops [1] loads [1] messages [1]"

MISSING = {
    "static of the socket": ("static power [8 W]", "", "socket `s` declares no static power", 3),
    "dynamic of the socket": ("dynamic power [40 W]", "", "socket `s` declares no dynamic power", 3),
    "static of the memory": ("static power [1 W]", "", "memory `d` declares no static power", 5),
    "dynamic of the memory": ("dynamic power [2 W]", "", "memory `d` declares no dynamic power", 5),
    "of the port": ("dynamic power [10 W]", "", "interconnect `port` declares no dynamic power", 6),
    "negative": ("[8 W]", "[0 W - 8 W]", "a power cannot be -8 W", 3),
    "dynamic below idle": ("[40 W]", "[5 W - 8 W]", "the dynamic power cannot be -3 W", 3),
    "tdp below idle": (
        "static power [8 W]  dynamic power [40 W]",
        "property idle [8 W]  property tdp [5 W]",
        "the dynamic power cannot be -3 W: the design power must not be below the idle power",
        3,
    ),
    "tdp alone": ("static power [8 W]  dynamic power [40 W]", "property tdp [5 W]", "its `tdp` and no idle power", 3),
    "twice": ("static power [8 W]", "static power [8 W]  property idle [7 W]", "its static power and its `idle`", 3),
}


@pytest.mark.parametrize("case", MISSING)
def test_refused_at_its_place(case: str) -> None:
    before, after, message, line = MISSING[case]
    app, machine = both(f"model a {{ kernel main {{ execute {{ {BODY} }} }} }}", MACHINE.replace(before, after, 1))
    with pytest.raises(AspenError) as caught:
        predict_energy(app, machine)
    found = caught.value.diagnostics[0]
    assert message in found.message
    assert found.span is not None
    assert found.span.position()[0] == line


PICTURE = """\
error: memory `d` declares no dynamic power, so the energy is unknown
 --> <text>:5:8
5 | memory d { resource loads(x) [x]  static power [1 W]   }
  |        ^
 --> <text>:5:21
5 | memory d { resource loads(x) [x]  static power [1 W]   }
  |                     ^^^^^ which `d` needs to serve `loads`
  = hint: write `static power [10 W]` and `dynamic power [120 W]`, or the properties `idle` and `tdp`"""


def test_picture() -> None:
    text = MACHINE.replace("dynamic power [2 W]", "", 1)
    app, machine = both(f"model a {{ kernel main {{ execute {{ {BODY} }} }} }}", text)
    with pytest.raises(AspenError) as caught:
        predict_energy(app, machine)
    assert str(caught.value) == PICTURE


def test_what_is_not_asked_for_needs_no_power() -> None:
    app, machine = both(
        "model a { kernel main { execute { flops [1] } } }", MACHINE.replace("dynamic power [10 W]", "")
    )
    assert predict_energy(app, machine).value == 8 + 1 + 40


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("machine m { core c } core c { resource flops(x) [x] }", "core `c` declares no static power"),
        (
            "machine m { core c property efficiency [1.5] }"
            "core c { resource flops(x) [x] static power [1] dynamic power [1] }",
            "an efficiency of 1.5 is not above 0 and at most 1",
        ),
    ],
)
def test_without_sockets(machine: str, message: str) -> None:
    app, model = both("model a { kernel main { execute { flops [1] } } }", machine)
    with pytest.raises(AspenError) as caught:
        predict_energy(app, model, options=EnergyOptions(charged="machine"))
    assert message in caught.value.diagnostics[0].message


def test_equation_needs_a_bandwidth() -> None:
    text = MACHINE.replace("property bandwidth [1 B/s]  resource messages(x) [x]", "resource messages(x) [ceil(x)]")
    app, machine = both("model a { kernel main { execute { messages [1] } } }", text)
    with pytest.raises(AspenError, match=r"declares no bandwidth, and equation 3\.8 divides by it"):
        predict_energy(app, machine)
    assert predict_energy(app, machine, options=EnergyOptions(nic="single_nic")).value == 8 + 1 + 10


def test_unknown_option() -> None:
    app, machine = both("model a { kernel main { execute { flops [1] } } }", MACHINE)
    with pytest.raises(AspenError, match="`charged` cannot be `sockets`"):
        predict_energy(app, machine, options=EnergyOptions(charged="sockets"))  # type: ignore[arg-type]


EXTRA = """dynamic power [40 W]  property active_core_power [{}]
  property constant_power [1 W]  property energy_per_flop [{}]  property energy_per_byte [0 J/B]"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (EnergyOptions(active_cores=True), "a power cannot be -1 W"),
        (EnergyOptions(law="roofline"), "an energy cannot be -2 J: it must not be negative"),
    ],
)
def test_negative_properties(options: EnergyOptions, message: str) -> None:
    extra = EXTRA.format("0 W - 1 W", "0 J/flop - 2 J/flop")
    app, machine = both(
        "model a { kernel main { execute { flops [1] } } }", MACHINE.replace("dynamic power [40 W]", extra)
    )
    with pytest.raises(AspenError) as caught:
        predict_energy(app, machine, options=options)
    found = caught.value.diagnostics[0]
    assert message in found.message
    assert found.span is not None
    assert found.span.text().startswith("property")
