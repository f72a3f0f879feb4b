"""File systems: what reading and writing takes on servers that all ranks of a machine share.

    machine cluster {
      node [100] cluster_node
      file_system [16] scratch        // one component for each server
    }

    file_system scratch {
      property client_bandwidth [12.5 GB/s]   // what one node sends or takes at most
      resource write(volume) [latency + volume/bandwidth]
    }

Instances of a block write a file each, and are dealt out evenly over the servers, as Lustre does with files of one
stripe: of P instances, Q servers have ceil(P/Q) each, one after the other. Whatever ranks occupy, a server does not
belong to a node. All that is written on one node goes through its port: the block takes no less than the volume of the
fullest node over the `client_bandwidth`.
"""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Place

FILE_SYSTEM = "file_system"
"""The type of components that keep files."""

FILE_RESOURCES = ("read", "write")
"""What a file system is asked for."""

CLIENT = "client_bandwidth"
"""The property of a file system: bytes a second that a node sends or takes at most."""


def is_file_system(place: Place) -> bool:
    return place.component.type == FILE_SYSTEM


def through_a_node(place: Place, amount: Expr, instances: Expr) -> Expr | None:
    """Seconds in which the `instances` on a node send or take the amount (bytes) of each, to or from the file system;
    None where that does not say how fast a node is."""
    bandwidth = place.component.value(CLIENT)
    return None if bandwidth is None else graph.div(graph.mul(instances, amount), bandwidth)
