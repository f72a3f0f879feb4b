"""Where ranks are, in closed form, against ranks that are put on a machine one after the other."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aspenpy import Machine
from aspenpy.answers.run_placement import count_placed
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.cost.ranks import RankPlacement, place_ranks
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr, number
from tests.nodes import rank_by_rank
from tests.nodes.closed_forms import RANKS, tally_closed_forms
from tests.nodes.rank_by_rank import (
    Cluster,
    Home,
    Request,
    Tally,
    count_places,
    shares_on_domains,
    split_distribution,
    tally,
)
from tests.thorough import examples
from tests.tiny import machine

INNER = ("", ":block", ":cyclic", ":block:cyclic", ":cyclic:block")
NODES = ("compact", "scatter", "block", "cyclic", "plane=1", "plane=2", "plane=3", "plane=5")


def write_machine(cluster: Cluster) -> Machine:
    """The cluster in Aspen: each socket has its memories, each memory as many cores as another."""
    return machine(f"""
machine m {{ node [{cluster.nodes}] n }}
node n {{ socket [{cluster.sockets}] s }}
socket s {{ core [{cluster.domains * cluster.cores}] c memory [{cluster.domains}] d }}
core c {{ property rank resource flops(x) [x] }}
memory d {{ resource loads(x) [x] }}
""")


def place(cluster: Cluster, request: Request) -> tuple[Machine, RankPlacement]:
    model = write_machine(cluster)
    found = place_ranks(model, None, PlacementOptions(**request._asdict()))
    assert found is not None
    return model, found


def value(expr: Expr, ranks: int) -> Any:
    return evaluate(expr, {RANKS: ranks})


def closed_forms(cluster: Cluster, request: Request, ranks: int) -> Tally:
    """What a placement says of so many ranks."""
    return tally_closed_forms(*place(cluster, request), {RANKS: ranks})


class Job(NamedTuple):
    cluster: Cluster
    request: Request
    ranks: int


SIZES = {
    "cores": lambda cluster: st.just(None),
    "cores_per_rank": lambda cluster: st.integers(1, cluster.sockets * cluster.domains * cluster.cores),
    "ranks_per_socket": lambda cluster: st.integers(1, cluster.domains * cluster.cores),
    "ranks_per_device": lambda cluster: st.integers(1, 4),
}
"""What makes ranks of one core, of several, so many of a socket, and such as share a socket."""


@st.composite
def jobs(draw: st.DrawFn, kind: str = "cores") -> Job:
    """A small machine, what is asked of it, and no more ranks than it takes."""
    cluster = Cluster(*(draw(st.integers(1, most)) for most in (5, 3, 3, 5)))
    if kind == "ranks_per_device":
        cluster = cluster._replace(domains=1)
    size = draw(SIZES[kind](cluster))
    request = Request() if size is None else Request(**{kind: size})
    word = draw(st.sampled_from([None, *NODES]))
    if word is not None:
        request = request._replace(distribution=word + draw(st.sampled_from(INNER)))
    places = count_places(cluster, request)
    if draw(st.booleans()):
        places = draw(st.integers(1, places))
        request = request._replace(ranks_per_node=places)
    if draw(st.booleans()):
        request = request._replace(nodes=draw(st.integers(1, cluster.nodes)))
    ranks = draw(st.integers(1, places * (request.nodes or cluster.nodes)))
    return Job(cluster, request, ranks)


def homes_of(job: Job) -> list[Home]:
    return rank_by_rank.place_ranks(job.cluster, job.request, job.ranks)


@settings(max_examples=examples(3000), deadline=None)
@given(jobs())
def test_ranks_of_a_core(job: Job) -> None:
    assert closed_forms(*job) == tally(homes_of(job))


@settings(max_examples=examples(2000), deadline=None)
@given(jobs("cores_per_rank"))
def test_ranks_of_several_cores(job: Job) -> None:
    """Of ranks with cores in several domains, each domain has a part: how many there are is the sum of parts where
    cores are taken one after the other, and else not known."""
    homes, found = homes_of(job), closed_forms(*job)
    expected, cores = tally(homes), job.request.cores_per_rank
    assert cores is not None
    of_socket = job.cluster.domains * job.cluster.cores
    fits_domains = not cores % job.cluster.cores or not job.cluster.cores % cores
    if fits_domains and (cores <= of_socket or not cores % of_socket):
        assert found == expected
        return
    assert (found.on_a_node, found.nodes) == (expected.on_a_node, expected.nodes)
    if cores > of_socket:
        return
    assert (found.on_a_socket, found.sockets) == (expected.on_a_socket, expected.sockets)
    if split_distribution(job.request)[2] == "block" and cores < job.cluster.cores:
        shares = shares_on_domains(homes, job.cluster)
        assert (found.on_a_domain, found.domains) == (max(shares.values()), len(shares))


@settings(max_examples=examples(500), deadline=None)
@given(st.one_of(jobs(), jobs("cores_per_rank")))
def test_pictures_of_nodes_show_the_cores_in_use(job: Job) -> None:
    """Of the first node, which is the fullest, each domain of each socket: where a domain has room for a rank."""
    cores = job.request.cores_per_rank or 1
    third = split_distribution(job.request)[2]
    assume(job.cluster.cores % cores == 0 or (third == "block" and cores <= job.cluster.domains * job.cluster.cores))
    model, found = place(job.cluster, job.request)
    drawn = count_placed(found, number(job.ranks), [*model.first_places()], lambda exprs: [*map(evaluate, exprs)])
    used = Counter(core // job.cluster.cores for home in homes_of(job) if home.node == 0 for core in home.cores)
    in_domains = [domain for ranks in drawn.on_sockets for domain in drawn.cores_in_domains(ranks)]
    assert in_domains == [used[domain] for domain in range(job.cluster.sockets * job.cluster.domains)]


@settings(max_examples=examples(1000), deadline=None)
@given(jobs("ranks_per_socket"))
def test_ranks_of_a_socket(job: Job) -> None:
    """Each has one core; those of domains are compared where a rank has whole ones, or domains have whole ranks."""
    found, expected = closed_forms(*job), tally(homes_of(job))
    assert found[:2] == expected[:2]
    assert found[3:5] == expected[3:5]
    on_socket = job.request.ranks_per_socket
    assert on_socket is not None
    cores, left = divmod(job.cluster.domains * job.cluster.cores, on_socket)
    if not left and (not job.cluster.cores % cores or not cores % job.cluster.cores):
        assert found == expected


@settings(max_examples=examples(500), deadline=None)
@given(jobs("ranks_per_device"))
def test_ranks_that_share_a_device(job: Job) -> None:
    assert closed_forms(*job) == tally(homes_of(job))


@pytest.mark.parametrize("kind", SIZES)
def test_a_machine_takes_as_many_ranks_as_fit_one_by_one(kind: str) -> None:
    @settings(max_examples=examples(500), deadline=None)
    @given(jobs(kind))
    def take(job: Job) -> None:
        _, placement = place(job.cluster, job.request)
        places = count_places(job.cluster, job.request) * (job.request.nodes or job.cluster.nodes)
        assert value(placement.places, job.ranks) == places

    take()


REGNODES, HYDRA = Cluster(3, sockets=2, cores=4), Cluster(4, sockets=2, cores=2)
"""Of the examples of Slurm's cpu_management.html, and of its mc_support.html."""


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        # https://slurm.schedmd.com/srun.html: four tasks on three nodes of two CPUs
        pytest.param(Job(Cluster(3, cores=2), Request(nodes=3), 4), (2, 3, 3), id="srun-block"),
        pytest.param(Job(Cluster(3, cores=2), Request(nodes=3, distribution="cyclic"), 4), (2, 3, 3), id="srun-cyclic"),
        # https://slurm.schedmd.com/cpu_management.html, by the number of the example
        pytest.param(Job(REGNODES, Request(nodes=1, cores_per_rank=3), 2), (2, 1, 2), id="cpu_management-2"),
        pytest.param(Job(REGNODES, Request(nodes=3, cores_per_rank=3), 3), (1, 3, 3), id="cpu_management-3"),
        pytest.param(Job(REGNODES, Request(), 12), (8, 2, 3), id="cpu_management-4"),
        pytest.param(
            Job(REGNODES, Request(nodes=2, ranks_per_node=3, cores_per_rank=2, distribution="cyclic"), 6),
            (3, 2, 4),
            id="cpu_management-5",
        ),
        pytest.param(Job(REGNODES, Request(nodes=1), 6), (6, 1, 2), id="cpu_management-10"),
        # https://slurm.schedmd.com/mc_support.html: hydra12 to hydra15
        pytest.param(Job(HYDRA, Request(), 4), (4, 1, 2), id="mc_support"),
        pytest.param(Job(HYDRA, Request(ranks_per_node=1), 4), (1, 4, 4), id="mc_support-ntasks-per-node-1"),
        pytest.param(Job(HYDRA, Request(ranks_per_node=2), 4), (2, 2, 2), id="mc_support-ntasks-per-node-2"),
        pytest.param(Job(HYDRA, Request(ranks_per_socket=1), 4), (2, 2, 4), id="mc_support-ntasks-per-socket-1"),
        pytest.param(Job(Cluster(4, sockets=4, cores=2), Request(nodes=4), 32), (8, 4, 16), id="mc_support-32"),
        # https://slurm.schedmd.com/dist_plane.html; by srun.html "the number of tasks distributed to each node is the
        # same as for cyclic distribution"
        pytest.param(
            Job(Cluster(4, sockets=2, cores=4), Request(nodes=4, distribution="plane=4"), 21), (6, 4, 8), id="plane-4"
        ),
        pytest.param(
            Job(Cluster(4, sockets=2, cores=4), Request(nodes=4, distribution="plane=2"), 21), (6, 4, 8), id="plane-2"
        ),
    ],
)
def test_examples_of_slurm(job: Job, expected: tuple[int, int, int]) -> None:
    """Tasks on the fullest node, nodes and sockets that have any."""
    found = closed_forms(*job)
    assert (found.on_a_node, found.nodes, found.sockets) == expected


def test_a_rank_in_two_domains_is_part_of_both() -> None:
    """Ranks of three cores on domains of four: cores 0-2, 3-5, 6-8; the first domain has one and a third."""
    job = Job(Cluster(1, domains=3, cores=4), Request(cores_per_rank=3), 3)
    assert closed_forms(*job) == (3, 3, Fraction(4, 3), 1, 1, 3)
