"""Loops that OpenMP's `target` and OpenACC offload, as launches of a device: collapsed loops are a grid of blocks of
threads along the innermost one (OpenMP 5.2, sections 10.2 and 11.6; OpenACC 3.3, section 2.9).

The directives leave grid and blocks to the compiler: blocks of 128 threads, as LLVM and NVIDIA's compilers make them on
NVIDIA's devices, are assumed and told, unless `thread_limit` or `vector_length` is a number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import has_calls
from aspenpy.extract.costs import (
    Alternative,
    Arithmetic,
    Guard,
    Item,
    MessageStatement,
    Nest,
    rewrite_inside,
    walk_items,
)
from aspenpy.extract.device import list_values, substitute_items
from aspenpy.extract.device_launches import BLOCK, GRID
from aspenpy.extract.effects import walk_records
from aspenpy.extract.pragmas import is_offloaded, parallel_directive, parse_directives
from aspenpy.extract.values import ONE, ZERO, TooLong, Value

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
    """Loops over the blocks and threads of a device in place of the ones that are shared out; None where what is inside
    calls functions with kernels of their own, or where the passes of collapsed loops vary. Passes of collapsed loops
    are numbered through, and blocks of threads are made of the numbers (OpenMP 5.2, section 4.4.3)."""
    groups = _list_levels(nest)
    if groups is None or has_calls(nest.body):
        return None
    *outer, last = groups
    block, thread = make_counter("block"), make_counter("thread")
    rows = [make_counter("row") for _ in last[1:]]
    try:
        found = _number_passes(last, threads, block, thread, rows) or _divide_rows(last, threads, block, thread)
    except TooLong:
        return None
    return _add_grid([level for group in outer for level in group], found).replace(comment=nest.comment)


def _add_grid(levels: list[Nest], inner: Nest) -> Nest:
    """Blocks in a loop for each of some loops, the outermost first."""
    for level in levels[::-1]:
        inner = Nest(level.counter, level.bounds, [inner], pragmas=(f"{GRID} y",), span=level.span)
    return inner


def _count_passes(levels: list[Nest]) -> Value:
    return reduce(v.multiply, (level.bounds[0] for level in levels), ONE)


def _number_passes(levels: list[Nest], threads: int, block: Expr, thread: Expr, rows: list[Expr]) -> Nest | None:
    """Blocks of threads by the number of a pass; None where something inside depends on more than this number, as
    places in an array do whose rows are longer than the loop's."""
    at = v.add(v.scale(atom_polynomial(block), threads), atom_polynomial(thread))
    passes, size = _count_passes(levels), constant_polynomial(threads)
    rest, given = at, dict[Expr, Value]()
    for level, row in zip(levels[:0:-1], rows, strict=True):  # the innermost is what the number has beyond whole rows
        given[level.counter] = v.subtract(rest, v.multiply(level.bounds[0], atom_polynomial(row)))
        rest = atom_polynomial(row)
    body = substitute_items(levels[-1].body, given | {levels[0].counter: rest})
    left = {*rows, *(level.counter for level in levels)}
    if any(v.has_any_symbol(value, left) for item in walk_items(body) for value in list_values(item)):
        return None
    guard = Guard(v.subtract(v.subtract(passes, ONE), at))
    inside: list[Item] = [Alternative((guard,), None, body, otherwise=[], span=levels[0].span)]
    inner = Nest(thread, (size,), inside, pragmas=(f"{BLOCK} x",), span=levels[0].span)
    return Nest(block, (v.ceil_quotient(passes, size),), [inner], pragmas=(f"{GRID} x",), span=levels[0].span)


def _divide_rows(levels: list[Nest], threads: int, block: Expr, thread: Expr) -> Nest:
    """Blocks of threads along the innermost of collapsed loops, or along several of its rows where they are a part of
    a block: as many blocks as all passes fill, but for the last one."""
    outer, last = levels[:-1], levels[-1]
    passes, size, span = _count_passes(levels), constant_polynomial(threads), levels[0].span
    blocks, width = v.ceil_quotient(passes, size), v.whole_number(last.bounds[0])
    share = v.ratio(passes, v.multiply(size, blocks))
    first, counter, axis = thread, last.counter, "x"
    loops = []
    if width and width < threads and threads % width == 0:
        loops = [Nest(counter, last.bounds, [], pragmas=(f"{BLOCK} x",), span=span)]
        size, counter, axis, outer = constant_polynomial(threads // width), outer[-1].counter, "y", outer[:-1]
    at = v.add(v.multiply(size, atom_polynomial(block)), atom_polynomial(first))
    body = substitute_items(last.body, {counter: at})
    body = [Alternative((), share, body, otherwise=[], span=span)]
    for loop in loops:
        body = [loop.replace(body=body)]
    inner = Nest(thread, (size,), body, pragmas=(f"{BLOCK} {axis}",), span=span)
    found = Nest(block, (v.ratio(blocks, _count_passes(outer)),), [inner], pragmas=(f"{GRID} x",), span=span)
    return _add_grid(outer, found)


def _list_levels(nest: Nest) -> list[list[Nest]] | None:
    """The loops whose passes are shared out, outermost first, those that one `collapse` names together: these, and one
    inside that has a directive of its own; None where one has other passes than the others, or more than a loop
    inside."""
    found: list[list[Nest]] = []
    directive, left = parallel_directive(nest.pragmas), 0
    inner: Nest | None = nest
    while inner is not None:
        if left:
            left -= 1
        else:
            left = directive.collapsed_loops - 1 if directive is not None else 0
            found.append([])
        own = {level.counter for group in found for level in group}
        if len(inner.bounds) != 1 or inner.share is not None or v.counters(inner.bounds[0]) & own:
            return None
        found[-1].append(inner)
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
