"""Metered: which parts of a machine an energy holds, as a meter that feeds them would.

The Green500 asks at its levels (EE HPC Working Group, Energy Efficient High Performance Computing Power Measurement
Methodology, version 2.0, aspects 3 and 4) for nodes alone, or for all that takes part in the run, the network among it,
and that before the conversion in supplies or with what is lost there. Storage takes part where the run uses it.
"""

from __future__ import annotations

from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.power import INTERCONNECT, PowerTree
from aspenpy.record import Record

FILE_SYSTEM, OUTSIDE = "file_system", 2  # the depth of what stands beside the nodes


class Metered(Record):
    """Parts whose watts an energy holds: boards and fans of nodes, adapters and switches of the network, storage, and
    what supplies lose. Sockets and memories always are in it."""

    nodes: bool
    network: bool
    storage: bool
    supplies: bool


def find_metered(energy: Energy) -> Metered:
    """The parts that are charged and state watts of their own."""
    tree = energy.prediction.tree
    power_tree = PowerTree(tree.machine, tree.socket, tree.origins)
    if energy.options.charged != "machine":
        return Metered(nodes=False, network=False, storage=False, supplies=False)
    stated = {
        place.component.type for place in power_tree.places.values() if power_tree.power(place).static is not None
    }
    beside = {
        place.component.type
        for place in power_tree.places.values()
        if len(place.path) <= OUTSIDE and power_tree.power(place).static is not None
    }
    return Metered(
        nodes="node" in stated,
        network=INTERCONNECT in beside,
        storage=FILE_SYSTEM in stated,
        supplies=any(use.key.cause == "conversion" for use in energy.terms),
    )
