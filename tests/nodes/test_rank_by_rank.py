"""The oracle for the placement of ranks gives what Slurm's own examples say."""

from __future__ import annotations

import pytest

from tests.nodes.rank_by_rank import (
    Cluster,
    NoPlace,
    Request,
    deal,
    place_ranks,
    ranks_on_nodes,
    ranks_on_sockets,
    tally,
)

REGNODES = Cluster(3, sockets=2, cores=4)
"""The partition of the examples of cpu_management.html: three nodes of two sockets with four cores."""

HYDRA = Cluster(4, sockets=2, cores=2)
"""The cluster of mc_support.html, hydra12 to hydra15."""


def by_node(cluster: Cluster, request: Request, ranks: int) -> list[list[int]]:
    homes = place_ranks(cluster, request, ranks)
    return [[rank for rank, home in enumerate(homes) if home.node == node] for node in range(cluster.nodes)]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        pytest.param("block", [[0, 1], [2], [3]], id="block: tasks one and two on the first node"),
        pytest.param("cyclic", [[0, 3], [1], [2]], id="cyclic: tasks one and four on the first node"),
    ],
)
def test_srun_four_tasks_on_three_nodes_of_two_cpus(first: str, expected: list[list[int]]) -> None:
    assert by_node(Cluster(3, cores=2), Request(nodes=3, distribution=first), 4) == expected


@pytest.mark.parametrize(
    ("job", "ranks", "expected"),
    [
        pytest.param(Request(nodes=1, cores_per_rank=3), 2, [2, 0, 0], id="2"),
        pytest.param(Request(nodes=3, cores_per_rank=3), 3, [1, 1, 1], id="3"),
        pytest.param(Request(), 12, [8, 4, 0], id="4"),
        pytest.param(Request(nodes=2, ranks_per_node=3, cores_per_rank=2, distribution="cyclic"), 6, [3, 3, 0], id="5"),
    ],
)
def test_cpu_management_numbers_of_tasks(job: Request, ranks: int, expected: list[int]) -> None:
    assert [len(node) for node in by_node(REGNODES, job, ranks)] == expected


def test_cpu_management_example_4_takes_three_sockets() -> None:
    homes = place_ranks(REGNODES, Request(), 12)
    assert ranks_on_sockets(homes) == {(0, 0): 4, (0, 1): 4, (1, 0): 4}


def test_cpu_management_example_5_deals_in_turn() -> None:
    request = Request(nodes=2, ranks_per_node=3, cores_per_rank=2, distribution="cyclic")
    assert by_node(REGNODES, request, 6) == [[0, 2, 4], [1, 3, 5], []]


def test_cpu_management_example_6_deals_planes_to_nodes_with_eight_six_and_two_cores() -> None:
    assert deal([4, 3, 1], 8, "plane=2") == [[0, 1, 5, 6], [2, 3, 7], [4]]


def test_cpu_management_example_10_binds_to_sockets_in_turn() -> None:
    homes = place_ranks(REGNODES, Request(nodes=1), 6)
    assert [home.cores for home in homes] == [(0,), (4,), (1,), (5,), (2,), (6,)]


def test_cpu_management_example_12_keeps_a_rank_on_one_socket_here() -> None:
    homes = place_ranks(REGNODES, Request(nodes=1, cores_per_rank=3, distribution="block:block"), 2)
    assert [home.cores for home in homes] == [(0, 1, 2), (4, 5, 6)]  # Slurm: 0-2 and 3-5


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        pytest.param(Request(), [4, 0, 0, 0], id="-n 4"),
        pytest.param(Request(ranks_per_node=1), [1, 1, 1, 1], id="-n 4 --ntasks-per-node=1"),
        pytest.param(Request(ranks_per_node=2), [2, 2, 0, 0], id="-n 4 --ntasks-per-node=2"),
        pytest.param(Request(ranks_per_socket=1), [2, 2, 0, 0], id="-n 4 --ntasks-per-socket=1"),
    ],
)
def test_mc_support_tasks_per_node_and_socket(job: Request, expected: list[int]) -> None:
    assert [len(node) for node in by_node(HYDRA, job, 4)] == expected


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        pytest.param(Request(distribution="compact:cyclic"), [(0, 0), (0, 2), (0, 1), (0, 3)], id="compute_bound"),
        pytest.param(
            Request(ranks_per_socket=1, cores_per_rank=1, distribution="compact:cyclic"),
            [(0, 0), (0, 2), (1, 0), (1, 2)],
            id="memory_bound",
        ),
    ],
)
def test_mc_support_masks(job: Request, expected: list[tuple[int, int]]) -> None:
    """Masks 0x1, 0x4, 0x2, 0x8 on one node; 0x1, 0x4 on each of two."""
    assert [(home.node, home.cores[0]) for home in place_ranks(HYDRA, job, 4)] == expected


def test_mc_support_32_tasks_on_four_nodes_of_four_processors_of_two_cores() -> None:
    homes = place_ranks(Cluster(4, sockets=4, cores=2), Request(nodes=4), 32)
    first = {(socket, rank) for rank, home in enumerate(homes) if home.node == 0 for socket in home.sockets}
    assert first == {(0, 0), (0, 4), (1, 1), (1, 5), (2, 2), (2, 6), (3, 3), (3, 7)}


def test_dist_plane_puts_all_on_one_node_where_there_is_one() -> None:
    assert deal([21], 21, "plane=4") == [list(range(21))]


@pytest.mark.parametrize("size", [1, 2, 4, 8, 21])
def test_planes_have_the_numbers_of_cyclic(size: int) -> None:
    planes, turns = deal([8] * 4, 21, f"plane={size}"), deal([8] * 4, 21, "cyclic")
    assert [len(node) for node in planes] == [len(node) for node in turns] == [6, 5, 5, 5]
    assert planes[0][:size] == list(range(min(size, 6)))


def test_planes_of_one_are_cyclic_and_of_all_are_blocks() -> None:
    assert deal([8] * 4, 21, "plane=1") == deal([8] * 4, 21, "cyclic")
    assert deal([8] * 4, 21, "plane=21") == deal([8] * 4, 21, "block")


def test_planes_of_a_node_s_cores_fill_the_nodes() -> None:
    """One plane where its size is that of a node of eight cores."""
    assert deal([8] * 4, 32, "plane=8") == deal([8] * 4, 32, "compact")


def test_package_and_numa_of_mpirun_deal_within_a_node() -> None:
    """`--map-by package` assigns a process to each package in turn, before the next node."""
    homes = place_ranks(HYDRA, Request(distribution="compact:cyclic"), 6)
    assert [(home.node, home.sockets[0]) for home in homes] == [(0, 0), (0, 1), (0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_rank_of_more_cores_than_a_socket_has_some_of_the_next() -> None:
    homes = place_ranks(Cluster(1, sockets=4, cores=4), Request(cores_per_rank=6), 2)
    assert [home.sockets for home in homes] == [(0, 1), (1, 2)]
    with pytest.raises(NoPlace):
        place_ranks(Cluster(1, sockets=4, cores=4), Request(cores_per_rank=6), 3)


def test_ranks_share_devices() -> None:
    homes = place_ranks(Cluster(2, sockets=4, cores=2), Request(ranks_per_device=3), 14)
    assert tally(homes) == (12, 3, 3, 2, 5, 5)
    assert ranks_on_nodes(homes) == {0: 12, 1: 2}


def test_scatter_has_a_rank_on_every_node() -> None:
    assert [len(node) for node in by_node(HYDRA, Request(distribution="scatter"), 6)] == [2, 2, 1, 1]
    assert [len(n) for n in by_node(HYDRA, Request(ranks_per_node=3, distribution="scatter"), 6)] == [3, 3, 0, 0]


def test_more_ranks_than_places_have_none() -> None:
    with pytest.raises(NoPlace):
        place_ranks(REGNODES, Request(), 25)
    with pytest.raises(NoPlace):
        place_ranks(REGNODES, Request(nodes=2), 17)
