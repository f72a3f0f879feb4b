"""What the package says of ranks on a cluster, to be compared with ranks that are put on it one after the other."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy import Machine
from aspenpy.cost.instances import Instances
from aspenpy.cost.ranks import RankPlacement
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from tests.nodes.rank_by_rank import Tally

RANKS = graph.symbol("ranks")


def tally_closed_forms(model: Machine, placement: RankPlacement, values: Mapping[Expr, int]) -> Tally:
    """Values of the closed forms for a machine of sockets `s` with memories `d`. How many ranks are on the fullest
    component is asked through `Instances`, which has one on each component that a rank has to itself."""
    of = {item.component.name: item for item in model.first_places(None)}
    instances = Instances(RANKS, placement=placement)
    exprs = (
        placement.on_a_node(RANKS),
        instances.instances_at(of["s"]),
        instances.instances_at(of["d"]),
        placement.nodes_used(RANKS),
        placement.components_used(of["s"], RANKS),
        placement.components_used(of["d"], RANKS),
    )
    return Tally(*(evaluate(expr, values) for expr in exprs))
