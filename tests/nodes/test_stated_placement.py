"""What a machine says of where ranks run, against ranks that are put on it one after the other, and what users say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.answers.run_placement import run_placement
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.cost.ranks import place_ranks
from tests.nodes.closed_forms import RANKS, tally_closed_forms
from tests.nodes.rank_by_rank import Cluster, Request, count_places, tally
from tests.nodes.rank_by_rank import place_ranks as place_one_by_one
from tests.thorough import examples
from tests.tiny import application, machine


def write_machine(cluster: Cluster, request: Request) -> aspenpy.Machine:
    """The cluster in Aspen, with properties for what is asked."""
    words = (request.distribution or "").split(":")
    node, socket, memory = (f"property distribution [{word}]" if word else "" for word in (*words, "", "")[:3])
    node += f" property ranks_per_node [{request.ranks_per_node}]" if request.ranks_per_node else ""
    socket += f" property ranks_per_socket [{request.ranks_per_socket}]" if request.ranks_per_socket else ""
    return machine(f"""
machine m {{ node [{cluster.nodes}] n }}
node n {{ {node} socket [{cluster.sockets}] s }}
socket s {{ {socket} core [{cluster.domains * cluster.cores}] c memory [{cluster.domains}] d }}
core c {{ property rank resource flops(x) [x] }}
memory d {{ {memory} resource loads(x) [x] }}
""")


@st.composite
def jobs(draw: st.DrawFn) -> tuple[Cluster, Request, int]:
    """A small machine, what it says, and no more ranks than it takes."""
    cluster = Cluster(*(draw(st.integers(1, most)) for most in (5, 3, 3, 5)))
    words = [draw(st.sampled_from(["compact", "scatter", "block", "cyclic"]))]
    words += [draw(st.sampled_from(["block", "cyclic"])) for _ in range(draw(st.integers(0, 2)))]
    request = Request(distribution=":".join(words))
    if draw(st.booleans()):
        request = request._replace(ranks_per_node=draw(st.integers(1, count_places(cluster, request))))
    return cluster, request, draw(st.integers(1, count_places(cluster, request) * cluster.nodes))


@settings(max_examples=examples(600), deadline=None)
@given(jobs())
def test_properties_place_ranks_as_they_are_put_one_by_one(job: tuple[Cluster, Request, int]) -> None:
    cluster, request, ranks = job
    model = write_machine(cluster, request)
    placement = place_ranks(model, None, PlacementOptions())
    assert placement is not None
    of = {item.component.name: item for item in model.first_places(None)}
    stated = of["n"].component.value("ranks_per_node")
    values = {RANKS: ranks, **({} if stated is None else {stated: request.ranks_per_node})}
    assert tally_closed_forms(model, placement, values) == tally(place_one_by_one(cluster, request, ranks))


CLUSTER = Cluster(8, sockets=2, domains=2, cores=4)
WORK = application("execute [20] of [1] { flops [1] loads [1] }")


def placed(model: aspenpy.Machine, **options: object) -> str:
    return str(run_placement(aspenpy.predict(WORK, model, **options)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "options", "nodes"),
    [
        (Request(ranks_per_node=6), {}, 4),
        (Request(ranks_per_socket=2), {}, 5),
        (Request(distribution="scatter"), {}, 8),
        (Request(distribution="cyclic:block", ranks_per_node=9), {}, 3),
        (Request(ranks_per_node=6), {"ranks_per_node": 4}, 5),  # the user's word counts
        (Request(ranks_per_node=6), {"set": {"n.ranks_per_node": 2 + 1}}, 7),
        (Request(distribution="scatter"), {"distribution": "block"}, 2),
    ],
)
def test_properties_are_the_defaults_of_options(request_: Request, options: dict[str, object], nodes: int) -> None:
    assert placed(write_machine(CLUSTER, request_), **options).startswith(f"20 on {nodes} nodes")


def test_sweeps_vary_the_ranks_of_a_node() -> None:
    """Twenty ranks on the memories of as few nodes as take them: ceil(ranks of the fullest memory)."""
    model = write_machine(CLUSTER, Request(ranks_per_node=16, distribution="block:cyclic"))
    swept = aspenpy.sweep(WORK, model, over={"n.ranks_per_node": [16, 10, 5, 4]}, metric="runtime")
    # nodes 2, 2, 4, 5; ranks 10, 10, 5, 4 a node, so 5, 5, 3, 2 a socket and 3, 3, 2, 1 a memory
    assert swept["runtime"].values.tolist() == [3, 3, 2, 1]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(ranks_per_node=17), "17 ranks on a node, and it has places for 16"),
        (Request(ranks_per_socket=9), "9 ranks on a socket, and it has places for 8"),
        (Request(ranks_per_node=2), "20 ranks, and `m` has places for 16: `property ranks_per_node` sets the number"),
        (Request(ranks_per_socket=1), "20 ranks, and `m` has places for 16: `property ranks_per_socket` sets the"),
        (Request(distribution="plane"), "node `n`: unknown distribution `plane`"),
        (Request(distribution="block:compact"), "socket `s`: unknown distribution `compact`"),
    ],
)
def test_what_contradicts_itself_is_refused_with_the_numbers(request_: Request, message: str) -> None:
    with pytest.raises(aspenpy.AspenError, match=message):
        placed(write_machine(CLUSTER, request_))


def test_ranks_of_a_node_are_whole() -> None:
    model = write_machine(CLUSTER, Request(ranks_per_node=6))
    with pytest.raises(aspenpy.AspenError, match=r"`n.ranks_per_node` must be a whole number here, but it is 2.5"):
        placed(model, set={"n.ranks_per_node": 2.5})
