"""Which algorithm an MPI library takes for a collective, by the number of ranks and the bytes of a message.

`open_mpi`: the fixed rules of the component `tuned` for operations that commute (open-mpi/ompi,
ompi/mca/coll/tuned/coll_tuned_decision_fixed.c at 8efebee7). It takes ranks in their order and knows no nodes.
`mpich`: what its device ch4 selects for communicators over several nodes (pmodels/mpich, maint/tuning/coll at 6a79bf65,
and the defaults of its control variables); Cray MPICH, Intel MPI and MVAPICH descend from it. Small and middle sizes go
by the leaders of nodes.
"""

from __future__ import annotations

from functools import cache

from aspenpy.record import NamedTuple


class AlgorithmRow(NamedTuple):
    """An algorithm from `ranks` ranks and `size` bytes on, until the next row."""

    ranks: int
    size: int
    algorithm: str


OPEN_MPI: dict[str, str] = {
    "allreduce": """
        1: 0 ring, 8 recursive_doubling, 4096 ring, 8192 recursive_doubling, 16384 ring, 262144 rabenseifner
        4: 0 ring, 16 recursive_doubling, 8192 rabenseifner
        8: 0 recursive_doubling, 8192 rabenseifner
        16: 0 ring, 64 recursive_doubling, 4096 rabenseifner
        32: 0 ring, 128 rabenseifner
        64: 0 recursive_doubling, 262144 rabenseifner
        128: 0 reduce_broadcast, 131072 recursive_doubling, 262144 rabenseifner
        256: 0 reduce_broadcast, 4096 rabenseifner
        512: 0 reduce_broadcast, 2048 recursive_doubling, 16384 rabenseifner
        2048: 0 reduce_broadcast, 2048 ring, 4096 recursive_doubling, 16384 rabenseifner
        4096: 0 reduce_broadcast, 2048 ring, 16384 recursive_doubling, 32768 rabenseifner
    """,
    "broadcast": """
        1: 0 binary, 512 knomial, 1024 flat, 32768 binary, 262144 flat, 524288 binomial, 1048576 binary
        4: 0 binary, 64 binomial, 128 binary, 2048 binomial, 8192 flat
        8: 0 knomial, 8 binary, 64 knomial, 4096 binary, 16384 binomial, 32768 flat
        16: 0 knomial, 4096 binomial, 1048576 scatter_allgather
        32: 0 binomial, 2048 knomial
        64: 0 knomial
        128: 0 binomial, 2 binary, 16384 flat, 32768 binary, 65536 knomial
        256: 0 knomial, 16384 binary, 32768 knomial
        1024: 0 knomial, 524288 scatter_allgather
        2048: 0 knomial, 262144 scatter_allgather
        4096: 0 knomial, 8192 binary, 16384 knomial, 262144 scatter_allgather
    """,
    "reduce": """
        1: 0 binary, 32 flat, 262144 binary
        4: 0 binary, 65536 binomial, 262144 flat, 524288 binomial, 1048576 flat
        8: 0 binary, 8192 binomial
        16: 0 binary, 4096 binomial
        32: 0 binomial
        256: 0 binomial, 8192 binary, 16384 binomial
        512: 0 binomial
        2048: 0 binomial, 512 binary, 1024 binomial, 8192 binary, 16384 binomial
        4096: 0 binomial, 16 binary, 32 binomial, 1024 binary, 2048 binomial, 8192 binary, 16384 binomial
    """,
    "allgather": """
        1: 0 recursive_doubling
        32: 0 recursive_doubling, 1024 neighbour, 65536 ring
        64: 0 recursive_doubling, 512 neighbour, 65536 ring
        128: 0 recursive_doubling, 512 neighbour, 131072 ring, 524288 neighbour, 1048576 ring
        256: 0 recursive_doubling, 32 bruck, 128 recursive_doubling, 1024 neighbour, 131072 ring
        256: 524288 neighbour, 1048576 ring
        512: 0 recursive_doubling, 64 bruck, 256 recursive_doubling, 2048 neighbour
        1024: 0 bruck, 32 recursive_doubling, 256 bruck, 512 recursive_doubling, 4096 neighbour
        2048: 0 bruck, 32 recursive_doubling, 128 bruck, 512 recursive_doubling, 4096 neighbour
        4096: 0 bruck, 512 recursive_doubling, 4096 neighbour
    """,
    "alltoall": """
        1: 0 pairwise, 32768 linear, 262144 pairwise
        3: 0 linear, 524288 pairwise, 1048576 linear
        8: 0 linear
        16: 0 linear, 4 bruck, 512 linear
        32: 0 bruck, 512 linear
        64: 0 bruck, 1024 linear, 262144 pairwise
        256: 0 bruck, 1024 linear, 32768 pairwise
        512: 0 bruck, 512 linear, 262144 pairwise
        1024: 0 bruck, 512 linear
        2048: 0 bruck, 1024 linear
        4096: 0 bruck, 2048 linear
    """,
    "reduce_scatter": """
        1: 0 pairwise, 65536 recursive_halving, 131072 pairwise
        4: 0 recursive_halving, 262144 pairwise
        32: 0 recursive_halving, 524288 pairwise
        64: 0 recursive_halving
    """,
    "barrier": """
        1: 0 recursive_doubling
        4: 0 flat
        8: 0 recursive_doubling
        64: 0 dissemination
        256: 0 binomial
        512: 0 dissemination
        1024: 0 binomial
        4096: 0 dissemination
    """,
}  # fmt: skip
"""Names that stand for several of Open MPI's: `linear` is all at once, with synchronisation or without; `binary` an
in-order one too; `recursive_halving` the butterfly and, of the smallest vectors, what does not overlap; `binary` and
`pairwise` of up to seven ranks its chains and pipelines. Segments are not modelled."""

MPICH: dict[str, str] = {
    "allreduce": "1: 0 leader",
    "broadcast": """
        1: 0 leader
        8: 0 leader, 12288 scatter_allgather
    """,
    "reduce": "1: 0 binomial, 2049 leader",
    "allgather": "1: 0 recursive_doubling, 524288 ring",
    "alltoall": """
        1: 0 linear, 32769 pairwise
        8: 0 bruck, 257 linear, 32769 pairwise
    """,
    "reduce_scatter": "1: 0 recursive_halving, 524288 pairwise",
    "barrier": "1: 0 leader",
}  # fmt: skip

WHOLE = {("mpich", "allgather"), ("mpich", "reduce_scatter")}
"""Whose bytes are those of the whole result: of all ranks' parts in an allgather."""

LIBRARIES = {"open_mpi": OPEN_MPI, "mpich": MPICH}

CALLED = ("mpi", *LIBRARIES)
"""Words of a collective that calls MPI, the machine's or one of these."""


@cache
def algorithm_rows(library: str, collective: str) -> tuple[AlgorithmRow, ...]:
    """The rows of a table, with one line for each number of ranks from which it holds: `64: 0 recursive_doubling, 1024
    ring`. Read when first asked for: all tables take 2 ms, and most runs need none."""
    rows = []
    for line in LIBRARIES[library][collective].strip().splitlines():
        ranks, _, sizes = line.partition(":")
        for each in sizes.split(","):
            size, algorithm = each.split()
            rows.append(AlgorithmRow(int(ranks), int(size), algorithm))
    return tuple(rows)
