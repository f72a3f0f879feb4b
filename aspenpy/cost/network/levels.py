"""Collectives by level: inside a socket, inside a node, between nodes, each phase by the algorithm that is the fastest.

Ranks are in containers within containers: n_l ends form one of level l, an end being a container of the level below, or
a rank. Phases come one after the other, and all containers go through a phase at the same time. There are three ways:

* `flat`: every rank takes part in every phase with all of its data. So does recursive doubling over all ranks, whose
  first rounds stay inside a node (Thakur, Rabenseifner and Gropp 2005, section 4.5).
* `leader`: data are reduced or gathered inside, exchanged among leaders, and spread inside (Karonis et al.,
  "Exploiting hierarchy in parallel computer networks to optimize collective operation performance", IPDPS 2000; Jia et
  al., "Highly scalable deep learning training system with mixed-precision", arXiv:1807.11205, 2018).
* `split`: inside, data are cut into a part for each rank; across, ranks that have the same part exchange it; inside,
  parts are put together (Cho et al., "BlueConnect: decomposing all-reduce for deep learning on heterogeneous network
  hierarchy", MLSys 2019; Traeff and Hunold, "Decomposing MPI collectives for exploiting multi-lane communication",
  CLUSTER 2020).

Besides them, `ring`: one ring through all ranks, which leaves each container once (NCCL). On paths that are pipelined,
`pieces` instead: `split`, or an alltoall by itself, of pieces that are on all paths at once. Where the last node has
fewer ranks than the others, each of them stands in for several when the ranks of all nodes exchange their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspenpy.cost.network.collectives import cost
from aspenpy.cost.network.schemes import LinkTimes, PathLevel, Phase, Pipeline, Round, Scheme
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Among(Record):
    """A collective of `count` ranks with `size` bytes each, on levels of which the innermost is the first."""

    levels: tuple[PathLevel, ...]
    count: Expr
    size: Expr

    @property
    def equally_full(self) -> Expr:
        """The condition that all containers of a level have the same number of ranks."""
        return graph.compare("==", self.count, self.parts(len(self.levels)))

    @property
    def inside(self) -> range:
        """The levels below the outermost, outwards."""
        return range(len(self.levels) - 1)

    @property
    def top(self) -> int:
        """The outermost level, which joins all ranks."""
        return len(self.levels) - 1

    @property
    def outwards(self) -> range:
        """All levels, the innermost first."""
        return range(len(self.levels))

    def below(self, height: int) -> Expr:
        """The ranks of the fullest end of a level."""
        return self.levels[height - 1].ranks if height else graph.ONE

    def parts(self, height: int) -> Expr:
        """The ends of all levels below multiplied: the parts into which data are split below a level."""
        return graph.mul(graph.ONE, *(level.ends for level in self.levels[:height]))

    def one(self, height: int, collective: str, size: Expr) -> Phase:
        """A phase of `size` bytes in which one rank of each end takes part."""
        return self._phase(height, collective, size, size, self.levels[height].one)

    def every(self, height: int, collective: str, size: Expr, rest: Expr | None = None) -> Phase:
        """A phase of `size` bytes in which every rank takes part; of `rest` bytes in the emptiest containers."""
        return self._phase(height, collective, size, size if rest is None else rest, self.levels[height].all)

    def together(self, height: int, collective: str, whole: Expr) -> Phase:
        """A phase in which every rank takes part, with an equal part of the `whole` data of a container."""
        level, below = self.levels[height], self.parts(height)
        return self.every(height, collective, whole / (below * level.ends), whole / (below * level.fewest))

    def root(self, height: int, collective: str, whole: Expr) -> Phase:
        """The phase of `together` in the container of the root, which is one of the fullest."""
        ends = self.levels[height].ends
        return self.every(height, collective, whole / (self.parts(height) * ends)).replace(fewest=ends)

    def _phase(self, height: int, collective: str, size: Expr, rest: Expr, link: LinkTimes) -> Phase:
        """NCCL and RCCL never double recursively: they reduce up a tree and broadcast down it, in 2 log2(n) rounds, or
        go round a ring (Jeaugey, "Massively scale your deep learning training with NCCL 2.4", 2019; ncclTopoTuneModel
        in NCCL's src/graph/tuning.cc)."""
        level = self.levels[height]
        doubling = collective != "allreduce" or not any(each.all.pipelined for each in self.levels[: height + 1])
        return Phase(level.path, height, collective, level.ends, level.fewest, size, rest, link, doubling=doubling)

    def through_all(self, collective: str) -> Scheme:
        """One ring through all ranks."""
        count, size, link = self.count, self.size, self.levels[-1].one
        ring = Round("all paths", self.top, collective, count, count, size, size, link, "ring", levels=self.levels)
        return _scheme("ring", ring)


def _scheme(name: str, *phases: Phase | Iterable[Phase]) -> Scheme:
    return Scheme(name, tuple(item for each in phases for item in ([each] if isinstance(each, Phase) else each)))


# -- the ways of each collective -------------------------------------------------------------------


def _by_leaders(a: Among, collective: str) -> Scheme:
    """One rank of each container takes part for all in it, and tells them when it is done."""
    return _scheme(
        "leader",
        (a.one(level, "reduce", a.size) for level in a.inside),
        a.one(a.top, collective, a.size),
        (a.one(level, "broadcast", a.size) for level in reversed(a.inside)),
    )


def _barrier(a: Among) -> list[Scheme]:
    return [
        _scheme("flat", (a.every(level, "barrier", a.size) for level in a.outwards)),
        _by_leaders(a, "barrier"),
    ]


def _allreduce(a: Among) -> list[Scheme]:
    m = a.size
    return [
        _scheme("flat", (a.every(level, "allreduce", m) for level in a.outwards)),
        _by_leaders(a, "allreduce"),
        _scheme(
            "split",
            (a.every(level, "reduce_scatter", m / a.parts(level)) for level in a.inside),
            a.every(a.top, "allreduce", m / a.parts(a.top)),
            (a.together(level, "allgather", m) for level in reversed(a.inside)),
        ),
        a.through_all("allreduce"),
    ]


def _broadcast(a: Among) -> list[Scheme]:
    m = a.size
    return [
        _scheme("leader", (a.one(level, "broadcast", m) for level in reversed(a.outwards))),
        _scheme(
            "split",
            (a.root(level, "scatter", m) for level in a.inside),
            a.every(a.top, "broadcast", m / a.parts(a.top)),
            (a.together(level, "allgather", m) for level in reversed(a.inside)),
        ),
    ]


def _reduce(a: Among) -> list[Scheme]:
    m = a.size
    return [
        _scheme("leader", (a.one(level, "reduce", m) for level in a.outwards)),
        _scheme(
            "split",
            (a.every(level, "reduce_scatter", m / a.parts(level)) for level in a.inside),
            a.every(a.top, "reduce", m / a.parts(a.top)),
            (a.root(level, "gather", m) for level in reversed(a.inside)),
        ),
    ]


def _allgather(a: Among) -> list[Scheme]:
    m = a.size
    return [
        _scheme("flat", (a.every(level, "allgather", m * a.below(level)) for level in a.outwards)),
        _scheme(
            "leader",
            (a.one(level, "gather", m * a.below(level)) for level in a.inside),
            a.one(a.top, "allgather", m * a.below(a.top)),
            (a.one(level, "broadcast", m * a.count) for level in reversed(a.inside)),
        ),
        _scheme(
            "split",
            a.every(a.top, "allgather", m),
            (a.together(level, "allgather", m * a.count) for level in reversed(a.inside)),
        ),
        a.through_all("allgather"),
    ]


def _reduce_scatter(a: Among) -> list[Scheme]:
    """The ways of a reduce-scatter. Where some nodes are emptier, all are taken to be as full as the fullest."""
    full = a.size * a.parts(len(a.levels)) / a.count
    return [
        _scheme(
            "flat",
            (a.every(level, "reduce_scatter", a.size * a.below(level + 1) / a.count) for level in reversed(a.outwards)),
        ),
        _scheme(
            "leader",
            (a.one(level, "reduce", a.size) for level in a.inside),
            a.one(a.top, "reduce_scatter", full),
            (a.one(level, "scatter", a.size * a.below(level) / a.count) for level in reversed(a.inside)),
        ),
        _scheme("split", (a.every(level, "reduce_scatter", full / a.parts(level)) for level in a.outwards)),
    ]


def _direct(a: Among, innermost: str | None = None) -> Scheme:
    """An alltoall in which each rank sends to each other by itself: one of the emptiest end has the most on a level."""
    phases = []
    for height, level in enumerate(a.levels):
        others = level.ranks - (a.levels[height - 1].least if height else 1) + 1
        phase = a.every(height, "alltoall", a.size)
        algorithm = "pairwise" if height else innermost
        phases.append(phase.replace(ranks=others, fewest=others, algorithm=algorithm))
    return _scheme("flat", phases)


def _alltoall(a: Among) -> list[Scheme]:
    m = a.size
    split = (a.every(height, "alltoall", m * a.count / level.ends) for height, level in enumerate(a.levels))
    return [
        _direct(a),
        _scheme(
            "leader",
            (a.one(level, "gather", m * a.count * a.below(level)) for level in a.inside),
            a.one(a.top, "alltoall", m * a.below(a.top) ** 2),
            (a.one(level, "scatter", m * a.count * a.below(level)) for level in reversed(a.inside)),
        ),
        _scheme("split", split).replace(applies=a.equally_full),
    ]


SCHEMES: dict[str, Callable[[Among], list[Scheme]]] = {
    "barrier": _barrier,
    "allreduce": _allreduce,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "allgather": _allgather,
    "reduce_scatter": _reduce_scatter,
    "alltoall": _alltoall,
}

NAMED: dict[str, Callable[[Among, int], Expr]] = {
    "allgather": lambda a, height: a.size * a.below(height),
    "reduce_scatter": lambda a, height: a.size / a.parts(height),
    "alltoall": lambda a, height: a.size * a.count / a.levels[height].ends,
}
"""Bytes of a phase on each level where one algorithm does them all; the whole size in other collectives."""


def _whole(among: Among, height: int) -> Expr:
    return among.size


def _in_pieces(collective: str, ways: list[Scheme]) -> list[Scheme]:
    """The scheme of a collective whose data move in pieces on all paths at once, as a list of one: its `split`, and for
    an alltoall `flat`, in which each rank sends its own data."""
    directly = collective == "alltoall"
    both_ways = collective == "allreduce"
    return [
        Pipeline("pieces", tuple(each.replace(goes_both_ways=both_ways) for each in way.phases), directly=directly)
        for way in ways
        if way.name == ("flat" if directly else "split")
    ]


def ways_of_collective(collective: str, among: Among, algorithm: str | None = None) -> list[Scheme]:
    """The ways to do a collective; with an algorithm named, the one in which all levels take it: a ring goes through
    all ranks, others run on one level after the other."""
    if algorithm is None:
        ways = SCHEMES[collective](among)
        pieces = _in_pieces(collective, ways) if any(level.all.pipelined for level in among.levels) else []
        if pieces and any(among.levels[height].all.pipelined for height in among.inside):
            ways = [*pieces, *(way for way in ways if way.name == "ring")]
        if pieces:
            ways = [way.replace(chosen="as NCCL and RCCL do") for way in ways]
        return ways if among.inside else [ways[0]]
    cost(collective, algorithm, graph.ONE)  # refuses a name that there is not
    if algorithm == "ring":
        return [among.through_all(collective)]
    if algorithm == "pairwise" and collective == "alltoall":
        return [_direct(among, "pairwise")]
    phase = among.one if collective in ("broadcast", "reduce") else among.every
    size = NAMED.get(collective, _whole)
    phases = (phase(level, collective, size(among, level)) for level in among.outwards)
    return [_scheme("flat", (each.replace(algorithm=algorithm) for each in phases))]
