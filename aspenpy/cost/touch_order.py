"""Orders: what parts of a run touch of each data structure, by when it was touched last; joined, renamed and parted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import is_certainly_at_most
from aspenpy.models.application import flow
from aspenpy.record import Record


class Touched(Record):
    """The touches of a data structure by a part of a run: `lines` of a cache, and the `bytes` of its words, for each of
    its `instances`. Whether some is `stored`, lies `anywhere` in the structure, is one `dense` run, and is the same for
    all instances (`together`). The `reach` are bytes with those that it shares with the part beside it, as the rim of a
    stencil; words that lie apart have an `extent` from one part to the next, the gaps among it."""

    lines: Expr
    bytes: Expr
    instances: Expr
    stored: bool = False
    anywhere: bool = False
    dense: bool = True
    together: bool = False
    reach: Expr | None = None
    extent: Expr | None = None


Key = tuple[str, object]
"""A data structure, and which part of it: None for what the last pass of all loops touched, a loop for what its earlier
passes did, and a word for what is left of others."""

UNNAMED = "?"
"""With which the name of a structure begins that has none."""

BEFORE = " before"
"""With which the name of a structure ends of which a pass of a loop touches other parts than the one before has."""

LEFT = "left"
STORED = "stored"

Group = Mapping[Key, Touched]
Order = tuple[Group, ...]
"""What was touched, by when it was touched last: structures of one block together, the latest last."""


def substitute_in_order(order: Order, values: Mapping[Expr, Expr]) -> Order:
    """An order with the values of some symbols."""
    if not values:
        return order
    return with_sizes(order, iter(graph.substitute(sizes_in(order), dict(values))))


def sizes_in(order: Order) -> list[Expr]:
    """Lines, bytes, instances and the extents of each part."""
    parts = (part for group in order for part in group.values())
    sizes = (value for part in parts for value in (part.lines, part.bytes, part.instances, part.reach, part.extent))
    return [value for value in sizes if value is not None]


def with_sizes(order: Order, sizes: Iterator[Expr]) -> Order:
    """An order with other sizes, in the order of `sizes_in`."""

    def with_next(part: Touched) -> Touched:
        lines, size, instances = next(sizes), next(sizes), next(sizes)
        reach, extent = (None if known is None else next(sizes) for known in (part.reach, part.extent))
        return part.replace(lines=lines, bytes=size, instances=instances, reach=reach, extent=extent)

    return tuple({key: with_next(part) for key, part in group.items()} for group in order)


def rename_structures(order: Order, names: Mapping[str, str]) -> Order:
    """An order with the names that a kernel's array arguments have outside of it."""
    if not names:
        return order
    renamed = list[Group]()
    for group in order:
        found = dict[Key, Touched]()
        for (name, part), touched in group.items():
            key = (names.get(name, name), part)
            found[key] = touched if key not in found else _larger(found[key], touched)
        renamed.append(found)
    return tuple(renamed)


def _larger(first: Touched, second: Touched) -> Touched:
    lines, size = (graph.apply("max", *pair) for pair in ((first.lines, second.lines), (first.bytes, second.bytes)))
    return first.replace(lines=lines, bytes=size, stored=first.stored or second.stored)


def structures(order: Order) -> set[str]:
    """The names of the structures that are touched."""
    return {name for group in order for name, _ in group}


def totals_by_structure(order: Order, names: Collection[str] | None = None) -> dict[str, Touched]:
    """Touches of each structure in all, or of some structures."""
    by_name: dict[str, list[Touched]] = {}
    for group in order:
        for (name, _), touched in group.items():
            if names is None or name in names:
                by_name.setdefault(name, []).append(touched)
    return {name: parts[0] if len(parts) == 1 else _sum_of_parts(parts) for name, parts in by_name.items()}


def walks_of(order: Order) -> Order:
    """The touches of an order without the draws from tables: a walk through one goes on in it, or does not."""
    groups = ({key: part for key, part in group.items() if not part.anywhere} for group in order)
    return tuple(group for group in groups if group)


def _sum_of_parts(parts: Sequence[Touched]) -> Touched:
    lines, size = graph.add(*(part.lines for part in parts)), graph.add(*(part.bytes for part in parts))
    return parts[0].replace(lines=lines, bytes=size, stored=any(part.stored for part in parts))


class KnownOrders:
    """Joined orders, and sums of what orders touch, each worked out once: searches from all structures of a block, and
    from blocks side by side, meet the same orders. An order is known by its identity, for which it is kept."""

    def __init__(self) -> None:
        self._joined: dict[tuple[int, int], tuple[Order, Order, Order]] = {}
        self._totals: dict[int, tuple[Order, dict[str, Touched]]] = {}
        self._sums: dict[tuple[int, Expr], tuple[Group, dict[str, Expr]]] = {}

    def join(self, first: Order, second: Order) -> Order:
        key = id(first), id(second)
        if key not in self._joined:
            self._joined[key] = first, second, join_orders(first, second)
        return self._joined[key][-1]

    def touched_in_all(self, order: Order, name: str, stored: bool) -> Touched | None:
        """The part of a structure that is touched, or stored to; None for nothing."""
        if id(order) not in self._totals:
            self._totals[id(order)] = order, totals_by_structure(order)
        found = self._totals[id(order)][-1].get(name)
        return None if found is None or (stored and not found.stored) else found

    def sum_by_structure(self, group: Group, instances: Expr) -> dict[str, Expr]:
        """Lines of each structure that were touched together, per instance of a block."""
        key = id(group), instances
        if key not in self._sums:
            amounts = (
                (name, part.lines if part.instances is instances else part.lines * part.instances / instances)
                for (name, _), part in group.items()
            )
            self._sums[key] = group, add_by_structure(amounts)
        return self._sums[key][-1]


def add_by_structure(amounts: Iterable[tuple[str, Expr]]) -> dict[str, Expr]:
    """The sum of the amounts of each structure, in the order in which they are given."""
    by_name = dict[str, list[Expr]]()
    for name, amount in amounts:
        by_name.setdefault(name, []).append(amount)
    return {name: graph.add(*parts) for name, parts in by_name.items()}


def covered_share(found: Touched, own: Touched, line: Expr) -> Expr:
    """The share of what a block touches, in lines of `line` bytes, that others have touched before. Of a table from
    which one of them draws, it is that of its lines that the others have touched."""
    theirs, mine = found.lines, own.lines
    if own.anywhere and own.together:
        return graph.ONE
    if own.anywhere:  # each instance of a walk has a part of the one table
        theirs, mine = theirs if found.anywhere else theirs * found.instances, own.bytes / line
    elif found.anywhere:
        mine = found.bytes / line
    elif found.instances is not own.instances:
        theirs, mine = theirs * found.instances, mine * own.instances
    if is_certainly_at_most(mine, theirs):
        return graph.ONE
    return graph.apply("min", 1, theirs / graph.apply("max", 1, mine))


def join_orders(first: Order, second: Order) -> Order:
    """The order after both: what the second touches again is no longer where it was."""
    if not first or not second or first is second:
        return second or first
    both = structures(first) & structures(second)
    if not both:
        return (*first, *second)
    whole, again = totals_by_structure(first, both), totals_by_structure(second, both)
    kept = list[Group]()
    for group in first:
        left = dict[Key, Touched]()
        for (name, part), touched in group.items():
            if name not in again:
                left[name, part] = touched
                continue
            share = _share_left(whole[name], again[name]) if part not in (LEFT, STORED) else graph.ONE
            if part != STORED and share is not graph.ZERO:
                left[name, LEFT] = touched.replace(lines=touched.lines * share, bytes=touched.bytes * share)
            elif touched.stored and not again[name].stored:
                left[name, STORED] = touched.replace(lines=graph.ZERO, bytes=graph.ZERO)
        if left:
            kept.append(left)
    return (*kept, *(_with_words_of(group, whole) for group in second))


def _with_words_of(group: Group, first: Mapping[str, Touched]) -> Group:
    """A group with as many bytes of each structure as others have touched of its lines before."""
    group_with_words = dict(group)
    for key, touched in group.items():
        known = first.get(key[0])
        if known is not None and key[1] is None and not is_certainly_at_most(known.bytes, touched.bytes):
            size = graph.apply("max", known.bytes, touched.bytes)
            group_with_words[key] = touched.replace(bytes=size, dense=known.dense or touched.dense)
    return group_with_words


def _share_left(first: Touched, second: Touched) -> Expr:
    """The share of what was touched first that the second does not touch again. Lines that are drawn lie anywhere in
    their table, of which a walk touches a part: that part of the lines drawn before it is touched again, and as much
    of the walk as lines are drawn of the table."""
    if first.anywhere and not second.anywhere and second.dense:
        return graph.apply("max", 0, 1 - second.bytes / graph.apply("max", first.bytes, 1))
    if second.anywhere and not first.anywhere and first.dense:
        drawn = second.lines * first.bytes / graph.apply("max", first.lines, 1)
        return graph.apply("max", 0, 1 - drawn / graph.apply("max", second.bytes, 1))
    if first.lines is second.lines or is_certainly_at_most(first.lines, second.lines) or first.lines is graph.ZERO:
        return graph.ZERO
    return graph.apply("max", 0, 1 - second.lines / graph.apply("max", first.lines, 1))


def add_to_groups(order: Order, parts: Mapping[Key, Touched]) -> Order:
    """An order with more parts of its structures, each in the last group that touches its structure."""
    groups = [dict(group) for group in order] if parts else []
    for (name, part), touched in parts.items():
        group = next(group for group in reversed(groups) if any(known == name for known, _ in group))
        group[name, part] = touched
    return tuple(groups) if parts else order


def part_moving(group: Group, moving: Mapping[str, Expr], loop: flow.Repeat) -> Group:
    """A group in which the parts that move in a loop are told apart from what its earlier passes touched."""
    found = dict[Key, Touched]()
    for (name, part), touched in group.items():
        moves = moving[name]
        if moves is graph.ZERO or touched.anywhere:
            found[name, part] = touched
        else:
            found[name + BEFORE, loop] = touched.replace(lines=touched.lines * moves, bytes=touched.bytes * moves)
            found[name, part] = touched.replace(lines=touched.lines * (1 - moves), bytes=touched.bytes * (1 - moves))
    return found
