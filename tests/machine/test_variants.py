"""Components that are `like` another are what they are when they are written out by hand."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import aspenpy
from aspenpy import build
from aspenpy.answers.checks.machines import check_machine
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import models_folder
from aspenpy.language.format import format_text
from aspenpy.language.parser import parse_file
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from aspenpy.models.machine.model import Machine
from tests.machines import machine_of_library

MACHINES = sorted(path.stem for path in Path(models_folder(), "machines").glob("*.aspen"))
APPS = sorted(path.stem for path in Path(models_folder(), "apps").glob("*.aspen"))

FLOPS = "model m { kernel main { execute { flops [giga] } } }"
FLAT = """
machine m { node n }
node n { socket [2] mine  socket other }
socket base {
  core [4] c
  memory ram
  property clock [1 GHz]
  property half [clock/2]
  resource flops(number) [number/half] with simd [base/4]
  static power [10 W]
  conflict flops, loads
}
socket other { core c }
core c { property rank }
memory ram { property bandwidth [10 GB/s]  resource loads(bytes) [bytes/bandwidth] }
memory fast like ram { property bandwidth [20 GB/s] }
"""


def load(text: str) -> Machine:
    machine = aspenpy.parse(text)
    assert isinstance(machine, Machine)
    return machine


def like_and_by_hand(name: str) -> tuple[str, str]:
    """A machine of the library whose first socket is exchanged by a variant with twice as many cores, other watts and
    one property more: by `like`, and as the text of that socket with its lines changed."""
    machine = aspenpy.load_machine(name)
    socket = machine.components[machine.sockets[0]]
    assert socket.span is not None
    text = Path(models_folder(), "machines", f"{name}.aspen").read_text(encoding="utf-8")
    text = re.sub(rf"(?<=\s)(socket|of|in)( *\[[^]]*\])? {socket.name}(?!\w)", rf"\1\2 {socket.name}_variant", text)
    text = re.sub(rf"(?s)\n(socket) {socket.name}_variant( \{{.*?\n\}})", rf"\n\1 {socket.name}\2", text)
    head, _, body = re.sub(r"//[^\n]*", "", socket.span.text()).partition("{")
    base = "".join(re.findall(r" like \w+", head))  # of a socket that is a variant itself
    own, lines = [], []
    for line in body.rstrip("} \n").splitlines():
        core = re.match(r"\s*core (?:\[(.*)\] )?(\w+)\s*$", line)
        static = re.match(r"\s*static power \[(.*)\]\s*$", line)
        new = f"core [2*({core[1] or 1})] {core[2]}" if core else f"static power [({static[1]})/2]" if static else ""
        own += [new] if new else []
        lines.append(new or line)
    own.append("property added [1]")
    lines.append("property added [1]")
    variant = f"socket {socket.name}_variant"
    return (
        f"{text}\n{variant} like {socket.name} {{\n" + "\n".join(own) + "\n}\n",
        f"{text}\n{variant}{base} {{\n" + "\n".join(lines) + "\n}\n",
    )


@pytest.mark.parametrize("name", [name for name in MACHINES if machine_of_library(name).sockets])
def test_a_variant_of_the_library_is_the_text_written_out(name: str) -> None:
    like, by_hand = map(load, like_and_by_hand(name))
    assert any(socket.endswith("_variant") for socket in like.sockets)
    assert like.node == by_hand.node
    assert [warning.message for warning in check_machine(like)] == [
        warning.message
        for warning in check_machine(by_hand)
        if warning.message
        != f"socket `{like.sockets[0].removesuffix('_variant')}` is not part of machine `{like.name}`"
    ]


def answers(app: str, machine: Machine) -> tuple[object, ...]:
    """Runtime and joules by component, or why there are none."""
    try:
        application, socket = aspenpy.load_application(app), machine.sockets[0]
        found = aspenpy.energy(application, machine, socket=socket)
        return aspenpy.predict(application, machine, socket=socket).runtime, *found.components.values()
    except AspenError as error:
        return None, *(item.message for item in error.diagnostics)


@pytest.mark.parametrize("name", ["a100_40gb", "summit", "keeneland"])
def test_predictions_of_the_library_are_those_of_the_text_written_out(name: str) -> None:
    like, by_hand = map(load, like_and_by_hand(name))
    found = {app: answers(app, like) for app in APPS}
    assert found == {app: answers(app, by_hand) for app in APPS}
    before = aspenpy.load_machine(name)
    assert any(found[app][0] and found[app] != answers(app, before) for app in APPS)


def socket_of(items: str) -> str:
    """The socket `mine`, like `base` of `FLAT` with some items, as the text of its tree."""
    machine = load(f"{FLAT}\nsocket mine like base {{ {items} }}")
    return to_aspen(next(node for node in machine.node.components if node.name == "mine"))


REST = """  property half [clock/2]
  resource flops(number) [number/half] with simd [base/4]
  static power [10 W]
  conflict flops, loads
"""


@pytest.mark.parametrize(
    ("items", "written"),
    [
        ("property clock [2 GHz]", f"  core [4] c\n  memory ram\n  property clock [2 GHz]\n{REST}"),
        ("core [8] c", f"  core [8] c\n  memory ram\n  property clock [1 GHz]\n{REST}"),
        ("core [0] c", f"  memory ram\n  property clock [1 GHz]\n{REST}"),
        ("memory [2] fast instead of ram", f"  core [4] c\n  memory [2] fast\n  property clock [1 GHz]\n{REST}"),
        ("memory fast", f"  core [4] c\n  memory ram\n  property clock [1 GHz]\n{REST}  memory fast\n"),
        (
            "resource flops(n) [n/half] static power [1 W] dynamic power [2 W] "
            "conflict flops, stores conflict flops, loads",
            "  core [4] c\n  memory ram\n  property clock [1 GHz]\n  property half [clock/2]\n"
            "  resource flops(n) [n/half]\n  static power [1 W]\n  conflict flops, loads\n"
            "  dynamic power [2 W]\n  conflict flops, stores\n",
        ),
    ],
)
def test_what_a_variant_names_is_replaced_in_its_place(items: str, written: str) -> None:
    assert socket_of(items) == f"socket mine {{\n{written}}}\n"


WATTS = """
machine m {{ node box }}
node box {{ socket s }}
socket base {{ {base} core c }}
socket s like base {{ {own} }}
core c {{ property rank resource flops(number) [number/giga] }}
"""
IDLE, TDP, STATIC, DYNAMIC = (
    "property idle [10 W] ",
    "property tdp [50 W] ",
    "static power [10 W] ",
    "dynamic power [40 W] ",
)


@pytest.mark.parametrize("base", [IDLE + TDP, STATIC + DYNAMIC, IDLE + DYNAMIC, STATIC + TDP])
@pytest.mark.parametrize(
    ("own", "static", "dynamic"),
    [
        ("static power [20 W]", 20, {"tdp": 30, "dynamic": 40}),
        ("property idle [20 W]", 20, {"tdp": 30, "dynamic": 40}),
        ("dynamic power [80 W]", 10, {"tdp": 80, "dynamic": 80}),
        ("property tdp [70 W]", 10, {"tdp": 60, "dynamic": 60}),
        ("static power [20 W] dynamic power [80 W]", 20, {"tdp": 80, "dynamic": 80}),
        ("property idle [20 W] property tdp [70 W]", 20, {"tdp": 50, "dynamic": 50}),
    ],
)
def test_forms_of_power_replace_each_other(base: str, own: str, static: int, dynamic: dict[str, int]) -> None:
    """A busy second takes idle watts and what load adds: a `tdp` holds the idle power, `dynamic power` does not."""
    energy = aspenpy.energy(aspenpy.parse(FLOPS), load(WATTS.format(base=base, own=own)))
    assert energy.runtime == 1
    assert energy.value == static + dynamic["tdp" if "tdp" in base else "dynamic"]


def test_what_is_taken_over_reads_the_properties_of_the_variant() -> None:
    """Two sockets of 1 GHz flops at half of the clock: 1e9 flops take 1 s on each; twice the clock halves that."""
    machine = load(f"{FLAT}\nsocket mine like base {{ property clock [2 GHz] }}")
    app = aspenpy.parse(FLOPS)
    assert aspenpy.predict(app, machine, socket="mine").runtime == 1
    assert aspenpy.predict(app, machine, socket="mine", set={"mine.clock": "4 GHz"}).runtime == 0.5
    assert aspenpy.predict(app, machine, socket="mine", set={"base.clock": "4 GHz"}).runtime == 1


def test_variants_of_variants_in_any_order() -> None:
    chain = "socket mine like b { property clock [8 GHz] } socket b like a { property half [clock/4] }"
    machine = load(f"{FLAT}\n{chain}\nsocket a like base {{ property clock [2 GHz] static power [1 W] }}")
    assert aspenpy.predict(aspenpy.parse(FLOPS), machine, socket="mine").runtime == 0.5
    assert machine.bases == {"fast": "ram", "mine": "b", "b": "a", "a": "base"}
    assert str(machine.components["mine"].power["static"]) == "1"


def test_a_machine_like_another_takes_its_place(tmp_path: Path) -> None:
    """A node of a faster network: the machine of the file is the one that is like the other."""
    path = tmp_path / "mine.aspen"
    path.write_text(
        "include a100_40gb.aspen\n"
        "machine mine like a100_40gb { node [4] my_node instead of a100_40gb_node }\n"
        "node my_node like a100_40gb_node { socket [2] my_a100 instead of nvidia_a100_40gb }\n"
        "socket my_a100 like nvidia_a100_40gb { core [124] a100_40gb_multiprocessor }\n",
        encoding="utf-8",
    )
    machine = aspenpy.load_machine(path)
    assert (machine.name, machine.sockets) == ("mine", ("my_a100",))
    assert [str(place.count) for place in machine.places() if place.component.type == "core"] == ["992"]
    assert check_machine(machine) == []
    assert "socket like nvidia_a100_40gb" in str(machine.report())
    assert pickle.loads(pickle.dumps(machine)).bases == machine.bases


def test_only_what_variants_leave_unused_is_not_warned_of() -> None:
    machine = load(f"{FLAT}\nsocket mine like base {{ memory fast instead of ram }} memory spare {{ property hbm }}")
    assert [warning.message for warning in check_machine(machine)] == ["memory `spare` is not part of machine `m`"]


@pytest.mark.parametrize(
    "text",
    [
        "param like = 2\nmachine m { node like }\nnode like { property like [like] }",
        "param like = 1\nparam k = like\nmachine m { like [k] x }\n"
        "like x { like y property instead [2] }\nlike y { property a }",
        "machine m { node like } node like like like_b { property a } node like_b { property like }",
        "param k = 3 W like { machine x } machine m { W like }",
        "param k = 3 W mine like other { machine x } machine m { W mine } W other { machine y }",
        "model like { param like = 1\nkernel like { param like = like\nexecute { like [like] } }\n"
        "kernel main { call like\nexecute [like] like { flops [like] } } }",
        "model m { kernel main { iterate like [3] like { execute { flops [like] } } } }",
    ],
)
def test_like_and_instead_are_names_everywhere_else(text: str) -> None:
    node = parse_file(Source(text))
    assert parse_file(Source(to_aspen(node))) == node
    laid_out = format_text(Source(text))
    assert parse_file(Source(laid_out)) == node
    assert format_text(Source(laid_out)) == laid_out


def test_the_formatter_keeps_variants() -> None:
    text = "socket  a   like\nb{core c instead   of d memory m property p resource r(n)[n]}"
    laid_out = "socket a like b {\n  core c instead of d\n  memory m\n  property p\n  resource r(n) [n]\n}\n"
    assert format_text(Source(text.replace("\n", " "))) == laid_out


def test_variants_built_in_python_are_those_of_text() -> None:
    built = build.machine(
        build.component("machine", "m", build.part("node", "n")),
        build.component("node", "n", build.part("core", "fast", 2, instead_of="slow"), like="other"),
        build.component("node", "other", build.part("core", "slow")),
        build.component("core", "slow", build.property_("clock", "1 GHz"), build.property_("rank")),
        build.component("core", "fast", build.property_("clock", "2 GHz"), like="slow"),
    )
    assert built == load(
        "machine m { node n } node n { core [2] fast } node other { core slow }"
        "core slow { property clock [1 GHz] property rank } core fast { property clock [2 GHz] property rank }"
    )


def test_copies_have_a_limit() -> None:
    """A hundred thousand variants of a thousand items each would be a hundred million items."""
    items = " ".join(f"property p{place}" for place in range(1000))
    variants = " ".join(f"core v{place} like base {{ property q }}" for place in range(300))
    with pytest.raises(AspenError, match="have more than 200,000 items together"):
        load(f"machine m {{ core base }} core base {{ {items} }} {variants}")
    chain = " ".join(f"core v{place} like v{place + 1} {{ property q }}" for place in range(200))
    with pytest.raises(AspenError, match="more than 100 components are like each other"):
        load(f"machine m {{ core v0 }} core v200 {{ property p }} {chain}")
