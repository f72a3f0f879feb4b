"""The tree of components: how often each is there, which sockets there are, what a name means inside."""

import pytest

import aspenpy
from aspenpy import AspenError
from tests.tiny import application, codes, machine, runtime

CLUSTER = """
param per_node = 2
enum shapes { thin, wide }
machine cluster { node [10] thin_node node [wide + 2] fat_node interconnect fabric }
node thin_node { socket [per_node] cpu }
node fat_node { socket cpu socket [3] gpu memory big }
socket cpu { property cores [8] core [cores] arm memory ram }
socket gpu { core [64] lane memory ram }
core arm { resource flops(n) [n] }
core lane { resource flops(n) [n / 4] }
memory ram { resource loads(n) [n] }
memory big { resource loads(n) [n] }
interconnect fabric { resource messages(n) [n] }
"""


def counts(socket: str | None) -> list[tuple[str, float]]:
    """Every place of the tree, with how many of it the machine has."""
    model = machine(CLUSTER)
    places = list(model.places(socket))
    prediction = aspenpy.predict(
        application("execute { flops [1] }"),
        model,
        socket="cpu",
    )
    values = prediction.scope.values([place.count for place in places])
    return [("/".join(place.path), value) for place, value in zip(places, values, strict=True)]


def test_places_are_depth_first_with_their_counts() -> None:
    assert counts("gpu") == [
        ("cluster", 1),
        ("cluster/thin_node", 10),
        ("cluster/fat_node", 3),
        ("cluster/fat_node/gpu", 9),
        ("cluster/fat_node/gpu/lane", 9 * 64),
        ("cluster/fat_node/gpu/ram", 9),
        ("cluster/fat_node/big", 3),
        ("cluster/fabric", 1),
    ]
    assert ("cluster/thin_node/cpu/arm", 10 * 2 * 8) in counts("cpu")
    assert [path for path, _ in counts("cpu") if "gpu" in path] == []


def test_sockets_are_named_once_in_the_order_of_the_tree() -> None:
    assert machine(CLUSTER).sockets == ("cpu", "gpu")
    assert machine("machine m { node box } node box { resource flops(n) [n] }").sockets == ()


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ("node box { core [1] arm } core arm { static power [1] }", ["no-machine"]),
        ("machine a { node x } machine b { node x } node x { static power [1] }", ["many-machines"]),
        ("machine a { node x core y }", ["unknown-component", "unknown-component"]),
        ("machine a { core x } node x { static power [1] }", ["wrong-type"]),
        ("machine a { node x } node x { node y } node y { node x }", ["component-cycle"]),
        ("machine a { node x } node x { node x }", ["component-cycle"]),
    ],
)
def test_a_tree_that_is_none_is_refused(wrong: str, found: list[str]) -> None:
    with pytest.raises(AspenError) as refusal:
        aspenpy.parse(wrong)
    assert codes(refusal.value) == found


def test_of_two_definitions_the_later_holds_and_a_warning_says_so() -> None:
    model = machine("""
        param rate = 1 param rate = 2
        machine m { node box } node box { resource flops(n) [n] resource flops(n) [n / rate] }
        node box { resource flops(n) [5*n] resource flops(n) [n / rate] }
    """)
    assert [(item.severity, item.code) for item in model.warnings] == [("warning", "redefined")] * 4
    assert aspenpy.predict(application("execute { flops [6] }"), model).runtime == 3


PROPERTIES = """
param clock = 2
machine m { node [1] box }
node box { property clock [3] socket [1] cpu }
socket cpu {
  property width [2*lanes]
  property lanes [clock + 2]
  property fast
  resource flops(n) [n / width]
  resource loads(n) [n / (clock * box.clock)]
}
"""


def test_properties_are_in_scope_inside_their_component_and_dotted_elsewhere() -> None:
    # width = 2 * (2 + 2), and clock is the machine's parameter in the socket
    assert runtime("execute { flops [16] }", machine_text=PROPERTIES) == 2
    assert runtime("execute { loads [12] }", machine_text=PROPERTIES) == 2


def test_properties_may_be_set() -> None:
    assert runtime("execute { flops [16] }", machine_text=PROPERTIES, set={"cpu.lanes": 1}) == 8
    assert runtime("execute { flops [16] }", machine_text=PROPERTIES, set={"cpu.width": "4*cpu.lanes"}) == 1
    assert runtime("execute { loads [12] }", machine_text=PROPERTIES, set={"clock": 3, "box.clock": 1}) == 4
