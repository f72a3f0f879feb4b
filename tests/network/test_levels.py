"""Collectives by level, each scheme played through in nodes: what arrives, and when."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.cost.network.levels import Among, ways_of_collective
from aspenpy.cost.network.schemes import LinkTimes, PathLevel, Scheme, best_scheme, fastest_scheme
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.levelled import Group, Member, Path, phase, run
from tests.network.programs import PROGRAMS, joined, swap
from tests.network.simulator import Rank
from tests.thorough import examples

INSIDE, ACROSS = Path(Fraction(2), Fraction(1, 3), Fraction(1, 5)), Path(Fraction(7), Fraction(3, 2), Fraction(1, 5))
Vector = list[int]


class Nodes:
    """P ranks that fill nodes of r one after the other, and the time since they began."""

    def __init__(self, ranks: int, per_node: int, inside: Path = INSIDE, across: Path = ACROSS) -> None:
        self.ranks, self.inside, self.across = ranks, inside, across
        self.each = min(ranks, per_node)
        self.count = ceil(ranks / self.each)
        self.rest = ranks - self.each * (self.count - 1)
        self.sizes = [self.each] * (self.count - 1) + [self.rest]
        self.parts = lcm(self.each, self.rest)
        cores = [1 << (many.bit_length() - 1) for many in (self.count, self.each, self.rest)]
        self.length = lcm(self.parts * lcm(self.count, cores[0]), *cores[1:])
        self.groups = [[Member(node, rank) for rank in range(many)] for node, many in enumerate(self.sizes)]
        self.leaders = [Member(node, 0) for node in range(self.count)]
        self.time = Fraction(0)

    def within(self, collective: str, data: Sequence[Sequence[Any]]) -> list[list[Any]]:
        return self._go(collective, self.groups, data)

    def in_the_first(self, collective: str, data: Sequence[Any]) -> list[Any]:
        return self._go(collective, self.groups[:1], [data])[0]

    def between(self, collective: str, data: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """One group of a member of each node for each row; a rank of a full node combines what it has of several rows
        one after the other."""
        groups = [[Member(node, place % self.sizes[node]) for node in range(self.count)] for place in range(len(data))]
        return self._go(collective, groups, data, max(1, len(data) // self.each))

    def _go(
        self, collective: str, groups: Sequence[Group], data: Sequence[Sequence[Any]], rows: int = 1
    ) -> list[list[Any]]:
        inside = self.inside._replace(gamma=self.inside.gamma * rows)
        results, time = phase(collective, groups, data, inside, self.across)
        self.time += time
        return results

    def levels(self) -> tuple[PathLevel, ...]:
        def link(path: Path, sharing: int = 1) -> LinkTimes:
            return LinkTimes(*map(graph.number, (path.alpha, path.beta * sharing, path.gamma)))

        each, rest, count, ranks = map(graph.number, (self.each, self.rest, self.count, self.ranks))
        inside = link(self.inside)
        return (
            PathLevel("inside", each, rest, each, rest, inside, inside),
            PathLevel("across", count, count, ranks, ranks, link(self.across), link(self.across, self.each)),
        )

    def schemes(self, collective: str, amount: int, algorithm: str | None = None) -> dict[str, Scheme]:
        among = Among(self.levels(), graph.number(self.ranks), graph.number(amount))
        return {each.name: each for each in ways_of_collective(collective, among, algorithm)}

    def by_node(self, data: Sequence[Any]) -> list[list[Any]]:
        starts = [sum(self.sizes[:node]) for node in range(self.count)]
        return [list(data[start : start + many]) for start, many in zip(starts, self.sizes, strict=True)]

    def fine(self, node: int, pieces: Sequence[Vector], part: int) -> Vector:
        """A part of what the ranks of a node have in equal pieces."""
        whole = [element for piece in pieces for element in piece]
        length = len(whole) // self.parts
        return whole[part * length : (part + 1) * length]

    def pieces(self, node: int, parts: Sequence[Vector]) -> list[Vector]:
        """What each rank of a node has of the parts."""
        each = self.parts // self.sizes[node]
        return [chained(parts[rank * each : (rank + 1) * each]) for rank in range(self.sizes[node])]


def vectors(ranks: int, length: int) -> list[Vector]:
    return [[100 * rank + place for place in range(length)] for rank in range(ranks)]


def chained(parts: Sequence[Vector]) -> Vector:
    return [element for part in parts for element in part]


def total(columns: Sequence[Vector]) -> Vector:
    return [sum(column) for column in zip(*columns, strict=True)]


def transposed(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


# -- the schemes, as they are played ---------------------------------------------------------------


def flat_allreduce(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    sums = on.within("allreduce", on.by_node(data))
    rows = [[node[place % len(node)] for node in sums] for place in range(on.each)]
    return all(got == total(data) for row in on.between("allreduce", rows) for got in row)


def leader_allreduce(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    sums = on.within("reduce", on.by_node(data))
    (across,) = on.between("allreduce", [[node[0] for node in sums]])
    spread = [[got] + [None] * (many - 1) for got, many in zip(across, on.sizes, strict=True)]
    return all(got == total(data) for node in on.within("broadcast", spread) for got in node)


def split_allreduce(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    pieces = on.within("reduce_scatter", on.by_node(data))
    rows = [[on.fine(node, pieces[node], part) for node in range(on.count)] for part in range(on.parts)]
    columns = transposed(on.between("allreduce", rows))
    gathered = on.within("allgather", [on.pieces(node, column) for node, column in enumerate(columns)])
    return all(got == total(data) for node in gathered for got in node)


def leader_broadcast(on: Nodes) -> bool:
    (data,) = vectors(1, on.length)
    (across,) = on.between("broadcast", [[data] + [None] * (on.count - 1)])
    spread = [[got] + [None] * (many - 1) for got, many in zip(across, on.sizes, strict=True)]
    return all(got == data for node in on.within("broadcast", spread) for got in node)


def split_broadcast(on: Nodes) -> bool:
    (data,) = vectors(1, on.length)
    length = on.length // on.each
    whole = {rank: data[rank * length : (rank + 1) * length] for rank in range(on.each)}
    mine = on.in_the_first("scatter", [whole] + [{}] * (on.each - 1))
    pieces = [each[rank] for rank, each in enumerate(mine)]
    rows = [[on.fine(0, pieces, part)] + [None] * (on.count - 1) for part in range(on.parts)]
    columns = transposed(on.between("broadcast", rows))
    gathered = on.within("allgather", [on.pieces(node, column) for node, column in enumerate(columns)])
    return all(got == data for node in gathered for got in node)


def leader_reduce(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    sums = on.within("reduce", on.by_node(data))
    (across,) = on.between("reduce", [[node[0] for node in sums]])
    return bool(across[0] == total(data))


def split_reduce(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    pieces = on.within("reduce_scatter", on.by_node(data))
    rows = [[on.fine(node, pieces[node], part) for node in range(on.count)] for part in range(on.parts)]
    parts = on.pieces(0, [row[0] for row in on.between("reduce", rows)])
    root = on.in_the_first("gather", [{rank: part} for rank, part in enumerate(parts)])[0]
    return joined(root) == total(data)


def flat_allgather(on: Nodes) -> bool:
    data = vectors(on.ranks, 60)
    inside = on.within("allgather", on.by_node(data))
    rows = [[node[place % len(node)] for node in inside] for place in range(on.each)]
    return all(got == chained(data) for row in on.between("allgather", rows) for got in row)


def leader_allgather(on: Nodes) -> bool:
    data = vectors(on.ranks, 60)
    own = [[{rank: vector} for rank, vector in enumerate(node)] for node in on.by_node(data)]
    leaders = [joined(node[0]) for node in on.within("gather", own)]
    (across,) = on.between("allgather", [leaders])
    spread = [[got] + [None] * (many - 1) for got, many in zip(across, on.sizes, strict=True)]
    return all(got == chained(data) for node in on.within("broadcast", spread) for got in node)


def split_allgather(on: Nodes) -> bool:
    data = vectors(on.ranks, 60)
    columns = transposed(on.between("allgather", transposed(on.by_node(data))))
    gathered = on.within("allgather", columns)
    return all(sorted(got) == sorted(chained(data)) for node in gathered for got in node)


def flat_barrier(on: Nodes) -> bool:
    here = on.within("barrier", [[frozenset({member}) for member in group] for group in on.groups])
    rows = [[node[place % len(node)] for node in here] for place in range(on.each)]
    return all(len(got) == on.ranks for row in on.between("barrier", rows) for got in row)


def leader_barrier(on: Nodes) -> bool:
    on.within("reduce", [[[] for _ in group] for group in on.groups])
    (across,) = on.between("barrier", [[frozenset({member.node}) for member in on.leaders]])
    spread = [[[]] + [None] * (many - 1) for many in on.sizes]
    told = on.within("broadcast", spread)
    return all(len(got) == on.count for got in across) and all(got == [] for node in told for got in node)


def _parts(data: Vector, many: int) -> list[Vector]:
    length = len(data) // many
    return [data[part * length : (part + 1) * length] for part in range(many)]


def flat_reduce_scatter(on: Nodes) -> bool:
    """Across first, in pieces for the nodes, then inside."""
    data = vectors(on.ranks, on.length)
    columns = transposed(on.between("reduce_scatter", transposed(on.by_node(data))))
    mine = on.within("reduce_scatter", columns)
    return [piece for node in mine for piece in node] == _parts(total(data), on.ranks)


def split_reduce_scatter(on: Nodes) -> bool:
    """Inside first, in pieces for the ranks of the same place, so that rank r of node n ends with part r N + n."""
    data = vectors(on.ranks, on.length)
    pieces = on.within("reduce_scatter", on.by_node(data))
    mine = on.between("reduce_scatter", transposed(pieces))
    return [piece for row in mine for piece in row] == _parts(total(data), on.ranks)


def leader_reduce_scatter(on: Nodes) -> bool:
    data = vectors(on.ranks, on.length)
    sums = on.within("reduce", on.by_node(data))
    (across,) = on.between("reduce_scatter", [[node[0] for node in sums]])
    own = [dict(enumerate(_parts(piece, on.each))) for piece in across]
    mine = on.within("scatter", [[each] + [{}] * (on.each - 1) for each in own])
    return [node[rank][rank] for node in mine for rank in range(on.each)] == _parts(total(data), on.ranks)


def _blocks(ranks: int) -> list[list[Vector]]:
    return [[[100 * source + to] * 3 for to in range(ranks)] for source in range(ranks)]


def flat_alltoall(on: Nodes) -> bool:
    """Each rank to each other by itself: those of its node, then those of the next node, and so on."""
    blocks, each = _blocks(on.ranks), on.each
    inner = [
        [[blocks[node * each + i][node * each + j] for j in range(each)] for i in range(each)]
        for node in range(on.count)
    ]
    results = on.within("alltoall", inner)

    def outside(rank: int) -> Rank:
        node, place = divmod(rank, each)
        found = {}
        for turn in range(1, on.count):
            for step in range(each):
                to = (node + turn) % on.count * each + (place + step) % each
                source = (node - turn) % on.count * each + (place - step) % each
                (found[source],) = yield swap(to, blocks[rank][to], source)
        return found

    group = [member for members in on.groups for member in members]
    (others,), time = run([group], [outside], on.inside, on.across)
    on.time += time
    return all(
        found | dict(enumerate(results[rank // each][rank % each], rank // each * each))
        == {source: blocks[source][rank] for source in range(on.ranks)}
        for rank, found in enumerate(others)
    )


def leader_alltoall(on: Nodes) -> bool:
    """Leaders gather all that their ranks have, exchange it by nodes, and scatter what is for each of theirs."""
    blocks, each = _blocks(on.ranks), on.each
    own = [
        [{member.rank: chained(blocks[member.node * each + member.rank])} for member in group] for group in on.groups
    ]
    on.within("gather", own)
    starts = range(0, on.ranks, each)
    rows = [
        [[block for i in range(each) for block in blocks[start + i][to : to + each]] for to in starts]
        for start in starts
    ]
    (across,) = on.between("alltoall", [rows])
    mine = [
        {j: [[source[i * each + j] for i in range(each)] for source in node] for j in range(each)} for node in across
    ]
    got = on.within("scatter", [[pieces] + [{}] * (each - 1) for pieces in mine])
    return all(
        chained(got[node][place][place]) == [row[node * each + place] for row in blocks]
        for node in range(on.count)
        for place in range(each)
    )


def split_alltoall(on: Nodes) -> bool:
    """Inside, what is for the same place of any node goes to the rank of that place; across, to the node."""
    blocks, each = _blocks(on.ranks), on.each
    inner = [
        [
            [[blocks[node * each + i][other * each + j] for other in range(on.count)] for j in range(each)]
            for i in range(each)
        ]
        for node in range(on.count)
    ]
    here = on.within("alltoall", inner)
    rows = [
        [[[here[node][place][i][other] for i in range(each)] for other in range(on.count)] for node in range(on.count)]
        for place in range(each)
    ]
    across = on.between("alltoall", rows)
    return all(
        across[place][node][source][i] == blocks[source * each + i][node * each + place]
        for place in range(each)
        for node in range(on.count)
        for source in range(on.count)
        for i in range(each)
    )


PLAYED = {
    ("allreduce", "flat"): flat_allreduce,
    ("allreduce", "leader"): leader_allreduce,
    ("allreduce", "split"): split_allreduce,
    ("broadcast", "leader"): leader_broadcast,
    ("broadcast", "split"): split_broadcast,
    ("reduce", "leader"): leader_reduce,
    ("reduce", "split"): split_reduce,
    ("allgather", "flat"): flat_allgather,
    ("allgather", "leader"): leader_allgather,
    ("barrier", "flat"): flat_barrier,
    ("barrier", "leader"): leader_barrier,
}
"""Whatever the number of ranks."""

EVEN = {
    ("allgather", "split"): split_allgather,
    ("reduce_scatter", "flat"): flat_reduce_scatter,
    ("reduce_scatter", "leader"): leader_reduce_scatter,
    ("reduce_scatter", "split"): split_reduce_scatter,
    ("alltoall", "flat"): flat_alltoall,
    ("alltoall", "leader"): leader_alltoall,
    ("alltoall", "split"): split_alltoall,
}
"""Where all nodes are full."""


def amount(collective: str, on: Nodes) -> int:
    return {"allgather": 60, "alltoall": 3, "barrier": 0}.get(collective, on.length)


@pytest.mark.parametrize("per_node", [1, 2, 4, 5])
@pytest.mark.parametrize(("collective", "scheme"), [*PLAYED, *EVEN])
def test_schemes_take_what_the_formulas_say(collective: str, scheme: str, per_node: int) -> None:
    for ranks in range(1, 18):
        if (collective, scheme) in EVEN and ranks > per_node and ranks % per_node:
            continue
        beta = Fraction(0) if collective == "barrier" else None
        paths = [path if beta is None else path._replace(beta=beta, gamma=beta) for path in (INSIDE, ACROSS)]
        on = Nodes(ranks, per_node, *paths)
        play = PLAYED.get((collective, scheme)) or EVEN[collective, scheme]
        assert play(on), ranks
        assert evaluate(on.schemes(collective, amount(collective, on))[scheme].time) == on.time, ranks


@pytest.mark.parametrize("per_node", [1, 2, 4, 5])
@pytest.mark.parametrize(("collective", "amount"), [("allreduce", 2), ("allgather", 6)])
def test_one_ring_through_all_nodes(collective: str, amount: int, per_node: int) -> None:
    """In each round the slowest path counts, which one rank of each node takes."""
    for ranks in range(2, 18):
        on = Nodes(ranks, per_node, INSIDE._replace(gamma=Fraction(0)), ACROSS._replace(gamma=Fraction(0)))
        data = vectors(ranks, amount * ranks)
        group = [member for members in on.groups for member in members]
        program = PROGRAMS[collective, "ring"]
        _, time = run([group], [lambda rank: program(rank, ranks, data[rank])], on.inside, on.across)  # noqa: B023
        assert evaluate(on.schemes(collective, amount * ranks, "ring")["ring"].time) == time


@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("per_node", [1, 2, 4])
@pytest.mark.parametrize("collective", ["allreduce", "allgather"])
def test_flat_is_recursive_doubling_over_all_ranks(collective: str, per_node: int, nodes: int) -> None:
    """For powers of two: its first rounds stay inside a node, then all ranks of a node send at once."""
    on = Nodes(nodes * per_node, per_node)
    data = vectors(on.ranks, 4)
    group = [member for members in on.groups for member in members]
    program = PROGRAMS[collective, "recursive_doubling"]
    _, time = run([group], [lambda rank: program(rank, on.ranks, data[rank])], on.inside, on.across)
    assert evaluate(on.schemes(collective, 4, "recursive_doubling")["flat"].time) == time


# -- the fastest of them ---------------------------------------------------------------------------

TIMES = st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=100)


@given(st.sampled_from(COLLECTIVES), st.integers(1, 40), st.integers(1, 9), TIMES, TIMES, TIMES, st.integers(0, 5000))
@settings(max_examples=examples(60))
def test_the_fastest_scheme(
    collective: str, ranks: int, per_node: int, alpha: Fraction, beta: Fraction, slower: Fraction, amount: int
) -> None:
    on = Nodes(ranks, per_node, Path(alpha, beta), Path(alpha + slower, beta * 3))
    ways = on.schemes(collective, amount)
    times = {name: evaluate(way.time) for name, way in ways.items() if way.applies is graph.TRUE}
    found = best_scheme(list(ways.values()), evaluate)
    assert evaluate(found.time) == evaluate(fastest_scheme(list(ways.values()))) == min(times.values())
    assert found.describe(evaluate)


def test_what_a_scheme_is_called() -> None:
    """Of 16 ranks in nodes of 4, allreduce of much is split; of little, everyone doubles."""
    on = Nodes(16, 4, Path(Fraction(1), Fraction(1, 1000)), Path(Fraction(2), Fraction(1, 50)))
    found = {size: best_scheme(list(on.schemes("allreduce", size).values()), evaluate) for size in (0, 10**6)}
    assert found[0].describe(evaluate) == "flat: recursive doubling in inside, recursive doubling across across"
    assert found[10**6].describe(evaluate) == (
        "split: recursive halving in inside, rabenseifner across across, recursive doubling in inside"
    )


def test_long_messages_wait_for_a_handshake() -> None:
    """Of 4 ranks: a ring of 6 messages of a quarter each, doubling of 2 whole ones."""
    link = LinkTimes(*map(graph.number, (10, 1, 0)), threshold=graph.number(100), handshake=graph.number(5))
    four = graph.number(4)
    level = PathLevel("net", four, four, four, four, link, link)

    def seconds(algorithm: str, size: int) -> Any:
        (way,) = ways_of_collective("allreduce", Among((level,), four, graph.number(size)), algorithm)
        return evaluate(way.time)

    assert [seconds("ring", size) for size in (400, 404)] == [6 * 110, 6 * (10 + 101 + 5)]
    assert [seconds("recursive_doubling", size) for size in (100, 101)] == [2 * 110, 2 * (10 + 101 + 5)]
