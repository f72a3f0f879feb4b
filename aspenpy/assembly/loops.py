"""Loops of compiled functions: strongly connected components of their blocks, and those inside when the way back to the
header is cut (Havlak, "Nesting of reducible and irreducible loops", TOPLAS 1997)."""

from __future__ import annotations

from collections.abc import Iterator

import networkx

from aspenpy.assembly.listing import CompiledFunction, Instruction
from aspenpy.record import Record

DEEPEST = 60
"""Loops inside one another, up to which they are found."""

MOST_BLOCKS = 20_000
"""Blocks of a function that is looked at."""


class NaturalLoop(Record):
    """A loop of a function: the block where it is entered, all its blocks, and the loops directly inside."""

    function: CompiledFunction
    header: int
    blocks: frozenset[int]
    inner: tuple[NaturalLoop, ...] = ()

    def instructions(self) -> Iterator[Instruction]:
        for number in sorted(self.blocks):
            yield from self.function.blocks[number].instructions

    @property
    def levels(self) -> int:
        """Largest number of loops inside one another within this one."""
        return max((1 + loop.levels for loop in self.inner), default=0)

    def walk(self) -> Iterator[NaturalLoop]:
        """The loop and all inside, each one before those inside it."""
        yield self
        for loop in self.inner:
            yield from loop.walk()


def find_loops(function: CompiledFunction) -> tuple[NaturalLoop, ...]:
    """The outermost loops of a function, each with those inside."""
    if len(function.blocks) > MOST_BLOCKS:
        return ()
    whole = networkx.DiGraph()
    whole.add_nodes_from(range(len(function.blocks)))
    whole.add_edges_from((block.number, next) for block in function.blocks for next in block.successors)
    return _find_inside(function, whole, {0}, depth=0)


def _find_inside(
    function: CompiledFunction, edges: networkx.DiGraph, entered: set[int], depth: int
) -> tuple[NaturalLoop, ...]:
    """Loops in a part of the blocks, some of which are `entered` from outside."""
    loops = []
    for part in networkx.strongly_connected_components(edges):
        if depth > DEEPEST or (len(part) == 1 and not edges.has_edge(*part, *part)):
            continue
        header = min([one for one in part if one in entered or any(p not in part for p in edges.pred[one])] or part)
        inside = edges.subgraph(part).copy()
        inside.remove_edges_from([(before, header) for before in list(inside.pred[header])])
        loops.append(
            NaturalLoop(function, header, frozenset(part), _find_inside(function, inside, {header}, depth + 1))
        )
    return tuple(sorted(loops, key=lambda loop: loop.header))
