"""Which traits of `messages` are exchanges among all ranks of a block. What they take is in `mapping.network`, which is
imported for models that have some."""

from __future__ import annotations

from aspenpy.models.machine.model import Machine, Resource

HALO = "halo"
ALL_PORTS = "all_ports"
"""The word of a halo whose ranks send to all neighbours at once."""

EXCHANGES = ("broadcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier", HALO)
"""Those that a network knows: the collectives of `network.collectives`, and the halo of a grid."""


def is_exchange(trait: str, resource: Resource, machine: Machine) -> bool:
    """Whether the component that offers a resource prices the trait as a network: one that says its topology, and has
    no rule of its own for the trait."""
    if trait not in EXCHANGES or resource.name != "messages" or trait in resource.traits:
        return False
    return "topology" in machine.components[resource.component].properties
