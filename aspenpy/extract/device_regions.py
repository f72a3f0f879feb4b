"""Loops that OpenMP's `target` and OpenACC offload, as launches of a device: collapsed loops are a grid of blocks of
threads along the innermost one (OpenMP 5.2, sections 10.2 and 11.6; OpenACC 3.3, section 2.9).

The directives leave grid and blocks to the compiler: blocks of 128 threads, as LLVM and NVIDIA's compilers make them on
NVIDIA's devices, are assumed and told, unless `thread_limit` or `vector_length` is a number.
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import has_calls
from aspenpy.extract.costs import Alternative, Arithmetic, Guard, Item, MessageStatement, Nest, rewrite_inside
from aspenpy.extract.device import substitute_items
from aspenpy.extract.device_launches import BLOCK, GRID
from aspenpy.extract.effects import walk_records
from aspenpy.extract.pragmas import is_offloaded, parallel_directive, parse_directives
from aspenpy.extract.values import ONE, ZERO, TooLong

ASSUMED_THREADS = 128
_LIMITS = ("thread_limit", "vector_length", "num_threads")

REGION = "region "
"""How the placeholder of a launch among the items of the host begins."""


class Regions:
    """The launches among the items of a function of the host: they are taken out while the host's own are looked at,
    and put back behind that."""

    def __init__(self, make_counter: Callable[[str], Expr]) -> None:
        self.make_counter = make_counter
        self.nests: dict[str, Nest] = {}
        self.is_assumed: dict[str, bool] = {}

    def take_out(self, items: list[Item]) -> list[Item]:
        return [self._take(item) for item in items]

    def _take(self, item: Item) -> Item:
        if isinstance(item, Nest) and is_offloaded(item.pragmas):
            threads = _find_threads(item.pragmas)
            made = _make_launch(item, threads or ASSUMED_THREADS, self.make_counter)
            if made is not None:
                key = f"{REGION}{len(self.nests)}"
                self.nests[key], self.is_assumed[key] = made, threads is None
                return MessageStatement(ZERO, span=item.span, resource=key)
        return rewrite_inside(item, self.take_out)

    def put_back(self, items: list[Item], arrange: Callable[[Nest, bool], list[Item]]) -> list[Item]:
        found: list[Item] = []
        for item in items:
            if isinstance(item, MessageStatement) and item.resource in self.nests:
                found += arrange(self.nests[item.resource], self.is_assumed[item.resource])
            else:
                found.append(rewrite_inside(item, lambda inner: self.put_back(inner, arrange)))
        return found


def _find_threads(pragmas: tuple[str, ...]) -> int | None:
    """The threads of a block, where a clause has them as a number."""
    for found in parse_directives(pragmas):
        for name, text in found.clauses:
            if name in _LIMITS and text.isdigit() and len(text) < 6 and int(text):
                return int(text)
    return None


def _make_launch(nest: Nest, threads: int, make_counter: Callable[[str], Expr]) -> Nest | None:
    """Loops over the blocks and threads of a device in place of collapsed ones; None where what is inside calls
    functions with kernels of their own, or where the passes of collapsed loops vary."""
    levels = _list_levels(nest)
    if levels is None or has_calls(nest.body):
        return None
    last = levels[-1]
    block, thread = make_counter("block"), make_counter("thread")
    at = v.add(v.scale(atom_polynomial(block), threads), atom_polynomial(thread))
    passes = last.bounds[0]
    try:
        body = substitute_items(last.body, {last.counter: at})
        guard = Guard(v.subtract(v.subtract(passes, ONE), at))
    except TooLong:
        return None
    body = [Alternative((guard,), None, body, otherwise=[], span=nest.span)]
    size = constant_polynomial(threads)
    inner = Nest(thread, (size,), body, pragmas=(f"{BLOCK} x",), span=nest.span)
    found = Nest(block, (v.ceil_quotient(passes, size),), [inner], pragmas=(f"{GRID} x",), span=nest.span)
    for level in levels[-2::-1]:
        found = Nest(level.counter, level.bounds, [found], pragmas=(f"{GRID} y",), span=nest.span)
    return found.replace(comment=nest.comment)


def _list_levels(nest: Nest) -> list[Nest] | None:
    """The loops whose passes are shared out, outermost first: those that `collapse` names, and one inside that has a
    directive of its own; None where one has other passes than the others, or more than a loop inside."""
    found: list[Nest] = []
    directive, left = parallel_directive(nest.pragmas), 0
    inner: Nest | None = nest
    while inner is not None:
        left = left - 1 if left else (directive.collapsed_loops - 1 if directive is not None else 0)
        if len(inner.bounds) != 1 or inner.share is not None or v.counters(inner.bounds[0]) & {
            level.counter for level in found
        }:  # fmt: skip
            return None
        found.append(inner)
        inside = [item for item in inner.body if isinstance(item, Nest)]
        is_alone = len(inside) == 1 and all(item in inside or _is_counting(item) for item in inner.body)
        directive = parallel_directive(inside[0].pragmas) if is_alone and not left else None
        if left and not is_alone:
            return None
        inner = inside[0] if left or (directive is not None and not directive.is_sequential) else None
    return found


def _is_counting(item: Item) -> bool:
    return isinstance(item, Arithmetic) and item.name == "integer"


def region_key(function: str, nest: Nest) -> str:
    """The key of the launch that a region of a function is."""
    return f"{function} {nest.counter.payload[0]}"


def has_regions(body: r.Statement) -> bool:
    """Whether directives offload a loop of a function."""
    return any(isinstance(part, r.LoopStatement) and is_offloaded(part.pragmas) for part in walk_records(body))
