"""The names of traits that costs understand: by which loads and stores say how they touch their data (`caches.access`
reads them), and which of `messages` are exchanges among all ranks of a block (priced in `cost.messages`).
"""

from __future__ import annotations

from collections.abc import Iterable

from aspenpy.models.machine.model import Machine, Resource

PATTERN_NAMES = ("stream", "stride", "blocked", "nest", "stencil", "random", "gather", "rd", "rdd")
"""The patterns, of which an access has one."""

SCATTERED = ("random", "gather")
"""Patterns of accesses that lead anywhere in what they touch."""

WITH_ARGUMENTS = ("stride", "blocked", "nest", "stencil", "gather", "rd")
"""The patterns that say nothing without arguments: a bare trait of such a name is no pattern."""

SHARED = "shared"
"""All instances touch the same lines."""

GRID = "grid"
"""Where the instances of a block lie: loops from the data of one to those of the next."""

ADDITIONS = ("warm", "cold", "reuse", "streaming", "fresh", SHARED, "at", "offsets", GRID)
"""What adds to a pattern."""

CACHE_TRAITS = frozenset({*PATTERN_NAMES, *ADDITIONS})

TRANSLATIONS = "tlb"
"""What the time of a core's page lookups counts for, as `loads` does for that of a memory."""

HALO = "halo"
ALL_PORTS, OPEN = "all_ports", "open"
"""The words of a halo whose ranks send to all neighbours at once, and of a grid that has ends."""

FACES = "faces"
"""A trait beside a halo: the bytes of a face across each dimension."""

VARIES = "varies"
"""The amount of a requirement differs from instance to instance."""

ATTAINED = "attained"
"""With an argument: the part of its usual rate that a requirement attains."""

SWEEP = "sweep"
"""Messages of ranks that work in turn, a wavefront or a pipeline."""

EXCHANGES = ("broadcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier", HALO)
"""Exchanges that a network knows: the collectives of `network.collectives`, and the halo of a grid."""


def is_exchange(trait: str, resource: Resource, machine: Machine, inner: bool = False) -> bool:
    """Whether the component that offers a resource prices the trait as a network: one that says its topology, or is a
    path inside a node, and has no rule of its own for the trait."""
    if trait not in EXCHANGES or resource.name != "messages" or trait in resource.traits:
        return False
    return inner or "topology" in machine.components[resource.component].properties


def is_part(trait: str, traits: Iterable[str]) -> bool:
    """Whether a trait says more of an exchange beside it: the faces of a halo."""
    return trait == FACES and HALO in traits
