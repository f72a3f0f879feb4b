"""Touched: how much of its data structures a block touches, and what others have touched since it last did."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.patterns import Distances, Scattered, Stencil
from aspenpy.cost.caches.warm import PassOfLoop, Swept
from aspenpy.cost.history import ReuseSource
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.cost.touch_order import BEFORE, UNNAMED, Group, KnownOrders, Order, Touched, add_by_structure
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow


def touched_name(requirement: flow.Requirement) -> str | None:
    """The structure that a requirement touches: the table of a `gather`, where it has a name."""
    tables = (argument for trait in requirement.traits if trait.name == "gather" for argument in trait.arguments)
    return next((table for table in tables if isinstance(table, str)), requirement.target)


def touched_by(
    block: flow.Block, accesses: Sequence[Access], line: Expr, *, at_once: Expr, parts: Expr = graph.ONE
) -> dict[str, Touched]:
    """Lines of `line` bytes that each of the instances of a block that run `at_once`, or one of its `parts` parts,
    touches of each data structure. Each access without a name has a structure of its own; stores that bypass the caches
    touch nothing."""
    by_requirement = {access.requirement: access for access in accesses}
    found: dict[str, Touched] = {}
    for number, requirement in enumerate(dict.fromkeys((*block.requirements, *by_requirement))):
        if requirement.resource not in MEMORY_RESOURCES:
            continue
        access = by_requirement.get(requirement)
        if access is not None and access.streaming:
            continue
        name = touched_name(requirement) or f"{UNNAMED}{number} {id(block.requirements)}"
        stored = requirement.resource == "stores"
        lines, size, dense = _reach(requirement, access, line)
        if access is None and parts is not graph.ONE:
            lines, size = lines / parts, size / parts
        anywhere = access is not None and access.is_scattered
        instances = (graph.ONE if access is not None and access.loads_together else at_once) * parts
        together = access is not None and access.shared
        extent = None if dense else _extent(access)
        touched = Touched(lines, size, instances, stored, anywhere, dense, together, _rim(access), extent)
        if name in found:
            known = found[name]
            lines = known.lines if known.lines is lines else graph.apply("max", known.lines, lines)
            size = known.bytes if known.bytes is size else graph.apply("max", known.bytes, size)
            touched = touched.replace(
                lines=lines,
                bytes=size,
                stored=stored or known.stored,
                anywhere=anywhere and known.anywhere,
                dense=dense and known.dense,
                together=together and known.together,
                extent=extent or known.extent,
            )
        found[name] = touched
    return found


def _reach(requirement: flow.Requirement, access: Access | None, line: Expr) -> tuple[Expr, Expr, bool]:
    """Lines that a requirement touches, bytes of their words, and whether they are one run."""
    amount = requirement.amount
    if access is None:
        return amount / line, amount, True
    pattern = access.pattern
    if isinstance(pattern, Scattered):
        table = graph.apply("max", 1, pattern.table / line)
        lines = table * (1 - (1 - 1 / table) ** access.by_lines(line).accesses)
        return lines, pattern.table, True
    if isinstance(pattern, Distances):
        if all(distance is graph.ZERO for distance in pattern.distances):
            return graph.ONE, access.word, True  # the same word again, whatever place that has
        size = amount if pattern.structure is graph.ZERO else graph.apply("min", amount, pattern.structure)
        return size / line, size, True
    nest = pattern.nest
    if isinstance(pattern, Stencil):
        points = graph.mul(nest.word, *pattern.extents)
        return nest.lines(len(nest.loops), line), points, True
    depth = len(nest.loops)
    words = nest.lines(depth, nest.word)
    return nest.lines(depth, line), words * nest.word, nest.dense(depth)


def _extent(access: Access | None) -> Expr | None:
    """Bytes from the begin of what loops touch to where the same would go on: their longest stride, as often as they
    make it."""
    if access is None or access.nest is None:
        return None
    spans = [loop.stride * loop.trips for loop in access.nest.moving_loops(len(access.nest.loops))]
    return spans[-1] if spans else None


def _rim(access: Access | None) -> Expr | None:
    """Bytes that a stencil touches with the rim around its points."""
    if access is None or not isinstance(access.pattern, Stencil):
        return None
    within = access.pattern.nest.loops[: len(access.pattern.extents)]
    return graph.mul(access.word, *(loop.trips for loop in within))


def swept_since(
    source: ReuseSource,
    name: str,
    touched: dict[str, Touched],
    *,
    targets: Sequence[str | None],
    stored: bool,
    orders: KnownOrders,
    line: Expr,
) -> Swept:
    """Data touched since the structure `name` of a block was, or was stored to: what a way to it says of those that the
    block has `touched`, and of others, in lines of `line` bytes."""
    assert source.since is not None
    names = {local: source.names[local] for local in touched}
    own, instances = names[name], touched[name].instances
    since = source.since[_place(source.since, own, stored) :]
    ages: dict[str | None, int] = dict.fromkeys(targets, -1)
    swept = add_by_structure(
        item for group in source.sweep for item in orders.sum_by_structure(group, instances).items()
    )
    own_lines, rest, seen = list[tuple[str, Expr]](), list[tuple[int, Expr]](), dict[str, int]()
    locals_by_name = {full: local for local, full in reversed(names.items())}
    for age, group in enumerate(since):
        for known, amount in orders.sum_by_structure(group, instances).items():
            local = locals_by_name.get(known) or locals_by_name.get(known.removesuffix(BEFORE))
            if known in swept:
                seen.setdefault(known, age)
            if local is not None:
                if ages.get(local, -1) < 0:
                    ages[local] = age
                own_lines.append((local, amount))
            elif known not in swept and amount is not graph.ZERO:
                rest.append((age, amount))
    lines = add_by_structure(own_lines)
    ages[name] = 0
    if not source.sweep:
        each = _pass_of_loop(source.since, own, instances, line) if source.each_pass else None
        return Swept(ages, lines, tuple(rest), each=each)
    sweep = {local: swept[full] for local, full in names.items() if full in swept}
    inside = set(names.values())
    beside = tuple((seen.get(known, -1), amount, True) for known, amount in swept.items() if known not in inside)
    return Swept(ages, lines, tuple(rest), sweep, beside)


def _pass_of_loop(order: Order, own: str, instances: Expr, line: Expr) -> PassOfLoop:
    """The order of a pass of a loop by how often its lines come again."""
    drawn, still, moving = list[Expr](), list[Expr](), list[Expr]()
    tables = dict[str, tuple[Expr, Expr]]()
    for (name, part), touched in (item for group in order for item in group.items()):
        parts = touched.instances / instances
        lines = touched.lines * parts
        if name == own:
            drawn.append(lines)
        elif touched.anywhere:
            known, _ = tables.get(name, (graph.ZERO, graph.ZERO))
            tables[name] = known + lines, graph.apply("max", 1, touched.bytes * parts / line)
        elif isinstance(part, flow.Repeat):  # short runs of passes that follow each other share lines
            moving.append(graph.apply("min", lines, touched.bytes * parts / line) if touched.dense else lines)
        else:
            still.append(lines)
    return PassOfLoop(graph.add(*drawn), tuple(tables.values()), graph.add(*still), graph.add(*moving))


def _place(order: Sequence[Group], name: str, stored: bool) -> int:
    """When a structure was touched last, most of it, or was stored to: the first time of those that are known."""
    wanted = (name, name + BEFORE)
    for index, group in enumerate(order):
        if any(known in wanted and (touched.stored or not stored) for (known, _), touched in group.items()):
            return index
    return 0
