"""Ranks put on a machine one after the other, with loops and lists: the oracle for closed forms of where ranks live.

Played through is what Slurm's documentation says of a job that has its nodes to itself (`--exclusive`):

* https://slurm.schedmd.com/srun.html, `--distribution`: `block` gives consecutive ranks to a node and spreads the
  numbers evenly (four ranks on three nodes are 2, 1, 1); `cyclic` deals ranks out in turn; with `plane=SIZE` "the
  number of tasks distributed to each node is the same as for cyclic distribution, but the taskids assigned to each
  node depend on the plane size". The second word does the same with the sockets of a node (default: cyclic); a rank of
  several cores has all of them "on a single socket if possible". The third defaults to the second.
* https://slurm.schedmd.com/cpu_management.html, steps 2 to 4 and the examples: without a number of nodes a job fills
  one node before the next (`compact`, example 4: eight tasks and four); `--ntasks-per-node` and `--ntasks-per-socket`
  are the most that a node, a socket takes; `--cpus-per-task` the cores of a rank.
* https://slurm.schedmd.com/dist_plane.html: planes. https://slurm.schedmd.com/mc_support.html: `hydra`'s tasks.

Open MPI says the same in other words (https://docs.prrte.org, `--map-by`): `slot` and `core` fill a node before the
next (`compact`), `node` deals to nodes in turn, each up to its slots (`cyclic`), `package` and `numa` deal in turn
within a node that is filled before the next (`compact:cyclic`), `ppr:N:package` is N ranks on each socket, `PE=N` gives
a rank N cores, and `--bind-to core|numa|package` says what a rank occupies.

Two things are told otherwise here than by Slurm. Slurm's third level is the threads of cores, here it is the NUMA
domains of a socket. And Slurm's `block` within a node takes one core after the other, so that a rank may have some of
two sockets (its example 12: cores 3, 4 and 5, of which 3 is on the first); here it may have some of two domains, but
starts on the next socket unless it has more cores than a socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


class Cluster(NamedTuple):
    """Nodes; sockets of a node; NUMA domains of a socket; cores of a domain."""

    nodes: int
    sockets: int = 1
    domains: int = 1
    cores: int = 1


class Request(NamedTuple):
    """What a user asks of the launcher."""

    nodes: int | None = None
    ranks_per_node: int | None = None
    ranks_per_socket: int | None = None
    ranks_per_device: int | None = None
    cores_per_rank: int | None = None
    distribution: str | None = None


class Home(NamedTuple):
    """Where a rank lives: its node, the sockets of the node and the domains of a socket that its cores are in (more
    than one only where it does not fit into one), and the cores, numbered through the node."""

    node: int
    sockets: tuple[int, ...]
    domains: tuple[tuple[int, int], ...]
    cores: tuple[int, ...]


class NoPlace(Exception):
    """More ranks than there are places."""


def split_distribution(request: Request) -> tuple[str, str, str]:
    """The words for nodes, for sockets in a node, for domains in a socket."""
    asked = (request.distribution or ("block" if request.nodes else "compact")).split(":")
    first = asked[0]
    second = asked[1] if len(asked) > 1 else "block" if first == "compact" else "cyclic"
    third = asked[2] if len(asked) > 2 else second
    return first, second, third


class Node:
    """A node with its free cores."""

    def __init__(self, cluster: Cluster, request: Request) -> None:
        numbers = iter(range(cluster.sockets * cluster.domains * cluster.cores))
        self.free = [
            [[next(numbers) for _ in range(cluster.cores)] for _ in range(cluster.domains)]
            for _ in range(cluster.sockets)
        ]
        self.domain_of = {
            core: (number, domain)
            for number, socket in enumerate(self.free)
            for domain, cores in enumerate(socket)
            for core in cores
        }
        self.request = request
        self.wide = self.cores_of_a_rank()
        self.on_socket = [0 for _ in self.free]
        self.last_socket = -1
        self.last_domain = [-1 for _ in self.free]

    def cores_of_a_rank(self) -> int:
        """As asked, or one: `--ntasks-per-socket` is a maximum and says nothing of cores."""
        return self.request.cores_per_rank or 1

    def has_room(self, socket: int) -> bool:
        """Whether a socket takes another rank."""
        limits = [self.request.ranks_per_socket, self.request.ranks_per_device]
        if any(limit is not None and self.on_socket[socket] >= limit for limit in limits):
            return False
        return self.request.ranks_per_device is not None or sum(map(len, self.free[socket])) >= self.wide

    def add(self, second: str, third: str) -> tuple[int, ...]:
        """Gives the next rank its cores."""
        whole_socket = max(len(self.domain_of) // len(self.free), 1)
        if self.request.ranks_per_device is None and self.wide > whole_socket:
            return self.take([core for socket in self.free for domain in socket for core in domain])
        sockets = [number for number in in_turn(second, self.last_socket, len(self.free)) if self.has_room(number)]
        if not sockets:
            raise NoPlace
        socket = self.last_socket = sockets[0]
        self.on_socket[socket] += 1
        if self.request.ranks_per_device is not None:  # all of a device, with others
            return tuple(core for core, (number, _) in self.domain_of.items() if number == socket)
        domains = self.free[socket]
        order = in_turn(third, self.last_domain[socket], len(domains))
        whole = [number for number in order if len(domains[number]) >= self.wide]
        if third == "block" or not whole:  # one core after the other, in two domains at times
            return self.take([core for number in order for core in domains[number]])
        self.last_domain[socket] = whole[0]
        return self.take(domains[whole[0]])

    def take(self, cores: Sequence[int]) -> tuple[int, ...]:
        """The first of some free cores, which are free no more."""
        if len(cores) < self.wide:
            raise NoPlace
        chosen = tuple(cores[: self.wide])
        for core in chosen:
            socket, domain = self.domain_of[core]
            self.free[socket][domain].remove(core)
        return chosen


def in_turn(word: str, last: int, count: int) -> list[int]:
    """The order in which places are tried: from the first on, or from the one after the last that was used."""
    if word == "block":
        return list(range(count))
    assert word == "cyclic", word
    return [(last + 1 + step) % count for step in range(count)]


def count_places(cluster: Cluster, request: Request) -> int:
    """How many ranks a node takes: ranks are added to an empty one until none fits."""
    node, ranks = Node(cluster, request), 0
    _, second, third = split_distribution(request)
    while request.ranks_per_node is None or ranks < request.ranks_per_node:
        try:
            node.add(second, third)
        except NoPlace:
            break
        ranks += 1
    return ranks


def count_nodes(cluster: Cluster, request: Request, ranks: int, room: int) -> int:
    """The nodes that a job has: as asked, or the fewest that take the ranks; `scatter` has all there are unless the
    ranks of a node are asked for."""
    first = split_distribution(request)[0]
    if request.nodes is not None:
        return request.nodes
    if first == "compact" or (first == "scatter" and request.ranks_per_node is None):
        return cluster.nodes
    nodes = 1
    while nodes * room < ranks:
        nodes += 1
    return nodes


def deal(room: Sequence[int], ranks: int, word: str) -> list[list[int]]:
    """The ranks of each node, of which the nodes take so many."""
    if sum(room) < ranks:
        raise NoPlace
    if word == "compact":
        numbers = iter(range(ranks))
        return [[rank for _, rank in zip(range(most), numbers, strict=False)] for most in room]
    by_turns: list[list[int]] = [[] for _ in room]
    rank = 0
    while rank < ranks:
        for node, most in enumerate(room):
            if rank < ranks and len(by_turns[node]) < most:
                by_turns[node].append(rank)
                rank += 1
    if word == "cyclic":
        return by_turns
    size = int(word.removeprefix("plane=")) if word.startswith("plane=") else ranks  # block: all of a node at once
    assert word in ("block", "scatter") or word.startswith("plane="), word
    dealt: list[list[int]] = [[] for _ in room]
    rank = 0
    while rank < ranks:
        for node, its in enumerate(by_turns):
            for _ in range(min(size, len(its) - len(dealt[node]))):
                dealt[node].append(rank)
                rank += 1
    return dealt


def place_ranks(cluster: Cluster, request: Request, ranks: int, room: Sequence[int] | None = None) -> list[Home]:
    """The home of each rank. `room`: what the nodes of the job take, where they are not alike."""
    first, second, third = split_distribution(request)
    if room is None:
        places = count_places(cluster, request)
        if places == 0:
            raise NoPlace
        nodes = count_nodes(cluster, request, ranks, places)
        if nodes > cluster.nodes:
            raise NoPlace
        room = [places for _ in range(nodes)]
    homes: dict[int, Home] = {}
    for number, its in enumerate(deal(room, ranks, first)):
        if not its:
            continue
        node = Node(cluster, request)
        for rank in its:
            cores = node.add(second, third)
            domains = tuple(dict.fromkeys(node.domain_of[core] for core in cores))
            homes[rank] = Home(number, tuple(dict.fromkeys(socket for socket, _ in domains)), domains, cores)
    return [homes[rank] for rank in range(ranks)]


def ranks_on_nodes(homes: Iterable[Home]) -> Counter[int]:
    """Ranks on each node that has any."""
    return Counter(home.node for home in homes)


def ranks_on_sockets(homes: Iterable[Home]) -> Counter[tuple[int, int]]:
    """Ranks on each socket that has any, by its node and its number there."""
    return Counter((home.node, socket) for home in homes for socket in home.sockets)


def ranks_on_domains(homes: Iterable[Home]) -> Counter[tuple[int, int, int]]:
    """Ranks on each NUMA domain that has any, by its node, its socket and its number there."""
    return Counter((home.node, *domain) for home in homes for domain in home.domains)


def shares_on_domains(homes: Iterable[Home], cluster: Cluster) -> dict[tuple[int, int, int], Fraction]:
    """Ranks on each NUMA domain, of those with cores in several the part of their cores that is there."""
    shares: dict[tuple[int, int, int], Fraction] = {}
    for home in homes:
        for core in home.cores:
            domain = core // cluster.cores
            where = home.node, domain // cluster.domains, domain % cluster.domains
            shares[where] = shares.get(where, Fraction(0)) + Fraction(1, len(home.cores))
    return shares


class Tally(NamedTuple):
    """Ranks on the fullest node, socket and domain, and how many of each have any."""

    on_a_node: int
    on_a_socket: int
    on_a_domain: int
    nodes: int
    sockets: int
    domains: int


def tally(homes: Sequence[Home]) -> Tally:
    """What closed forms of the number of ranks have to give."""
    counters = (ranks_on_nodes(homes), ranks_on_sockets(homes), ranks_on_domains(homes))
    fullest = [max(counter.values(), default=0) for counter in counters]
    return Tally(fullest[0], fullest[1], fullest[2], len(counters[0]), len(counters[1]), len(counters[2]))
