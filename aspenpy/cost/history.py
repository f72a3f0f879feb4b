"""History: what a run has touched when a block begins, how much of each data structure, and how long ago."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise

from aspenpy.cost.touch_order import (
    UNNAMED,
    Group,
    Key,
    KnownOrders,
    Order,
    Touched,
    add_to_groups,
    covered_share,
    join_orders,
    part_moving,
    rename_structures,
    sizes_in,
    substitute_in_order,
    totals_by_structure,
    walks_of,
    with_sizes,
)
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import is_certainly_at_most
from aspenpy.models.application import flow
from aspenpy.models.application.total import callees_first, parts_of_flow
from aspenpy.record import Record

MOST_SOURCES = 8
"""Loops and calls by which a structure may have been touched last; those farther out count as the last of them."""

SHORT = 16384
"""Runs of fewer bytes share a line with the run of the next pass often enough to count it."""

ROUNDING = 1e-9

RARE = 1e-30
"""Below all that a run does."""


class TurnsOfInstances(flow.Repeat):
    """The instances of a block that follow each other on a core, as passes of a loop."""

    @property
    def block(self) -> flow.Block:
        assert isinstance(self.body, flow.Block)
        return self.body


class FlowPosition(Record):
    """A place in the flow: what runs `before` it in one pass of the body that it stands in, which is that of a `loop`
    or of the kernel; `around` is the place of the loop."""

    before: Order
    loop: flow.Repeat | None
    around: FlowPosition | None
    kernel: flow.Kernel


class CallSite(Record):
    """A call: where it stands, and how often the run comes there."""

    call: flow.Call
    step: FlowPosition
    times: Expr


class UnevenPasses(Record):
    """A structure of which each pass of a loop has `touched` as much as the counter says: `every` byte of all passes,
    and the `most` of one, the first or the last."""

    touched: Touched
    every: Expr
    most: Touched


class _Pass(Record):
    """A pass of a loop: what it has `touched` of each structure, the structures in which the next pass `moves` on to
    other parts, and the `order` of its touches as the next pass sees it."""

    count: Expr
    touched: Mapping[str, Touched]
    moves: Mapping[str, Expr]
    order: Order
    uneven: Mapping[str, UnevenPasses]


class ReuseSource(Record):
    """A source of the first touches of a structure in a block: the share `weight` of the block's executions does so
    after all in `since`, oldest first. Where the block is a part of a sweep by loops around it, `sweep` is what they
    touch. `names` are those that the block's structures have there. Nothing has touched it before if there is no
    `since`. Of a table at random, each pass of a loop may touch all that (`each_pass`), and the weight is of so large a
    `part` of its lines."""

    weight: Expr
    since: Order | None
    sweep: Order
    names: Mapping[str, str]
    each_pass: bool = False
    part: Expr = graph.ONE


class _Search(Record):
    """A search for the last touches of a structure, from a block outwards."""

    name: str
    own: Touched
    weight: Expr
    since: Order
    sweep: Order
    names: Mapping[str, str]
    stored: bool
    kernel: flow.Kernel
    left: int = MOST_SOURCES
    divided: bool = False
    part: Expr = graph.ONE

    def source(self, weight: Expr, since: Order | None) -> ReuseSource:
        return ReuseSource(weight, since, self.sweep, self.names, part=self.part)


Touches = Callable[[flow.Block, flow.Kernel], Mapping[str, Touched]]
Sizes = Callable[[str, flow.Kernel], Expr | None]


class ReuseHistory:
    """The parts of their structures that blocks touch, and when in a run of an entry kernel; `sizes` says the bytes.
    Instances of a block that take turns on a core touch their data as passes of a loop do."""

    def __init__(
        self, entry: flow.Kernel, touches: Touches, sizes: Sizes, line: Expr, turns: Callable[[flow.Block], Expr]
    ) -> None:
        self._touches = touches
        self._turns_of = turns
        self._turns: dict[flow.Block, TurnsOfInstances | None] = {}
        self._sizes = sizes
        self._line = line
        self._orders: dict[flow.Flow, Order] = {}
        self._kernels: dict[flow.Kernel, Order] = {}
        kernels = callees_first(entry)
        for kernel in kernels:
            order = self._order(kernel.body, kernel)
            self._kernels[kernel] = substitute_in_order(order, dict(kernel.computed))
        self._steps: dict[tuple[flow.Requirement, ...], FlowPosition] = {}
        self._sites: dict[flow.Kernel, list[CallSite]] = {kernel: [] for kernel in kernels}
        self._values: dict[flow.Kernel, dict[Expr, Expr]] = {}
        self._times: dict[flow.Kernel, Expr] = {entry: graph.ONE}
        self._passes: dict[tuple[flow.Repeat, bool], _Pass] = {}
        self.orders = KnownOrders()
        self._resolved: dict[tuple[int, int], tuple[Order, Order]] = {}
        self._met: dict[tuple[flow.Repeat, Expr, Expr | None], Expr] = {}
        for kernel in reversed(kernels):
            self._enter(kernel)
            self._walk(kernel.body, FlowPosition((), None, None, kernel), self._times[kernel])

    def sources(
        self, block: flow.Block, name: str, own: Touched, names: Sequence[str], stored: bool
    ) -> list[ReuseSource]:
        """Sources of the first touches of a structure in a block, or of what the block stored last of it."""
        step = self._steps[block.requirements]
        search = _Search(
            name,
            own,
            graph.ONE,
            since=(),
            sweep=(),
            names={known: known for known in names},
            stored=stored,
            kernel=step.kernel,
        )
        found: dict[tuple[object, ...], ReuseSource] = {}
        for source in self._search(step, search):
            key = id(source.since), id(source.sweep), *source.names.items()
            known = found.get(key)
            found[key] = source if known is None else source.replace(weight=known.weight + source.weight)
        return [source for source in found.values() if source.weight is not graph.ZERO]

    def kernel(self, block: flow.Block) -> flow.Kernel:
        """The one that a block stands in."""
        return self._steps[block.requirements].kernel

    @property
    def names(self) -> frozenset[str] | None:
        """All structures that the run touches; None where some have no name."""
        entry = next(reversed(self._kernels))
        found = frozenset(totals_by_structure(self._kernels[entry]))
        return None if any(name.startswith(UNNAMED) for name in found) else found

    def _order(self, node: flow.Flow, kernel: flow.Kernel) -> Order:
        """The order of touches of a part of a kernel, calls included."""
        if node not in self._orders:
            if isinstance(node, flow.Block):
                turns = self._loop_of_turns(node)
                self._orders[node] = (
                    self._order_of_block(node, kernel) if turns is None else self._order_of_loop(turns, kernel)
                )
            elif isinstance(node, flow.Call):
                arrays = dict(node.arrays)
                order = substitute_in_order(self._kernels[node.kernel], dict(node.arguments))
                self._orders[node] = rename_structures(order, arrays)
            elif isinstance(node, flow.Repeat):
                self._orders[node] = self._order_of_loop(node, kernel)
            else:
                self._orders[node] = reduce(
                    join_orders, (self._order(part, kernel) for part in parts_of_flow(node)), ()
                )
        return self._orders[node]

    def _loop_of_turns(self, block: flow.Block) -> TurnsOfInstances | None:
        """The instances of a block as a loop, where they take turns on a core."""
        if block not in self._turns:
            count = self._turns_of(block)
            loop = TurnsOfInstances("iterate", graph.symbol("turn"), False, count, block, block.label, block.span)
            self._turns[block] = None if count is graph.ONE else loop
        return self._turns[block]

    def _order_of_block(self, block: flow.Block, kernel: flow.Kernel) -> Order:
        """The order of touches of each instance of a block."""
        touched: Group = {(name, None): part for name, part in self._touches(block, kernel).items()}
        return (touched,) if touched else ()

    def _order_of_loop(self, node: flow.Repeat, kernel: flow.Kernel) -> Order:
        """The last pass, and before it what earlier passes touched of structures in which they go on. Where values say
        whether they do, it stands beside what the last pass touches: the time of nothing would be that of the last."""
        body = self._pass(node, kernel)
        earlier, perhaps = dict[Key, Touched](), dict[Key, Touched]()
        uneven = self._uneven(node, kernel)
        for name, touched in totals_by_structure(body).items():
            passes = uneven.get(name)
            moves = self._goes_on(name, touched, node, node.count, kernel, passes)
            if moves is not graph.ZERO and node.count is not graph.ONE:
                whole = self._swept(name, touched, node, node.count, kernel)
                more = graph.apply("max", 0, whole.lines - touched.lines)
                rest = whole.replace(lines=moves * more, bytes=moves * (whole.bytes - touched.bytes))
                if moves is graph.ONE:
                    earlier[name, node] = rest
                else:
                    perhaps[name, node] = rest.replace(dense=touched.dense)
            elif passes is not None:
                more = graph.apply("max", 0, passes.most.lines - touched.lines)
                size = graph.apply("max", 0, passes.most.bytes - touched.bytes)
                earlier[name, node] = touched.replace(lines=more, bytes=size)
        order = add_to_groups(body, perhaps)
        return (earlier, *order) if earlier else order

    def _pass(self, node: flow.Repeat, kernel: flow.Kernel) -> Order:
        """The order of touches of a pass, the middle one where it depends on the counter."""
        if isinstance(node, TurnsOfInstances):
            return self._order_of_block(node.block, kernel)
        body = self._order(node.body, kernel)
        return substitute_in_order(body, _middle(node)) if node.named else body

    def _uneven(self, loop: flow.Repeat, kernel: flow.Kernel) -> dict[str, UnevenPasses]:
        """The structures of which each pass of a loop touches as much as its counter says."""
        found = dict[str, UnevenPasses]()
        if not loop.named or loop.count is graph.ONE:
            return found
        for name, touched in totals_by_structure(self._order(loop.body, kernel)).items():
            if loop.counter in graph.free_symbols(touched.bytes) and not touched.anywhere:
                sizes = [touched.lines, touched.bytes]
                first, last = (graph.substitute(sizes, {loop.counter: at}) for at in (graph.ZERO, loop.count - 1))
                lines, size = (graph.apply("max", *both) for both in zip(first, last, strict=True))
                other = graph.counter("pass")  # what it is a part of may be added over the loop's own
                every = graph.summation(other, loop.count, graph.substitute([touched.bytes], {loop.counter: other})[0])
                found[name] = UnevenPasses(touched, every, touched.replace(lines=lines, bytes=size))
        return found

    def _goes_on(
        self,
        name: str,
        touched: Touched,
        loop: flow.Repeat,
        count: Expr,
        kernel: flow.Kernel,
        uneven: UnevenPasses | None = None,
    ) -> Expr:
        """1 where the passes of a loop go on to other parts of a structure, 0 where they touch the same: where they do
        not find room in it for a part each, the gaps between its words among it, and would leave most of these gaps as
        they are. Instances have a part each, too, unless each has a structure of its own."""
        size = self._sizes(name, kernel)
        if size is None:
            return graph.ZERO
        if touched.anywhere:
            return graph.ONE
        if touched.together and isinstance(loop, TurnsOfInstances):
            return graph.ZERO
        together, wanted = touched.instances * touched.bytes, count * touched.bytes
        if uneven is not None:  # as many passes of their mean
            wanted = uneven.every
            together = touched.instances * wanted / graph.apply("max", 1, count)
        known = (touched.bytes, together, *(() if touched.reach is None else (touched.reach,)))
        if any(is_certainly_at_most(size, most) for most in known):
            return graph.ZERO
        of_all = loop.block.parallelism * touched.bytes if isinstance(loop, TurnsOfInstances) else count * together
        if is_certainly_at_most(of_all, size) and (touched.dense or is_certainly_at_most(size, wanted)):
            return graph.ONE
        # The last of several parts may reach beyond the end, as that of ceil(n/256) blocks of 256 words does.
        part = touched.bytes if isinstance(loop, TurnsOfInstances) else together
        fits = graph.compare("<", of_all - part, size)
        if not touched.dense:
            behind = self._lie_behind(touched, count, size)
            if behind is graph.TRUE:
                return graph.ONE
            fits = graph.junction("and", fits, graph.compare(">=", 2 * of_all, size))
            fits = fits if behind is graph.FALSE else graph.junction("or", behind, fits)
        if touched.instances is not graph.ONE:
            fills = graph.compare("<=", graph.apply("abs", wanted - size), size * ROUNDING)
            fits = graph.junction("or", fits, fills)
        return graph.if_else(fits, graph.ONE, graph.ZERO)

    def _lie_behind(self, touched: Touched, count: Expr, size: Expr) -> Expr:
        """Whether a structure has room for what all passes touch of it, one part behind the other with the gaps between
        their words."""
        if touched.dense or touched.extent is None:
            return graph.FALSE
        wanted = count * touched.instances * touched.extent
        if is_certainly_at_most(wanted, size):
            return graph.TRUE
        return graph.compare("<", wanted - touched.extent, size)

    def _swept(self, name: str, touched: Touched, loop: flow.Repeat, count: Expr, kernel: flow.Kernel) -> Touched:
        """Data touched by all passes that go on in a structure. Parts that do not find room one behind the other fill
        the gaps between the words of a pass. A loop around finds the rim of all instances that take turns."""
        size = self._sizes(name, kernel)
        if touched.anywhere:
            lines = count * touched.lines
            if size is not None:
                table = graph.apply("max", 1, size / self._line)
                lines = table * (1 - graph.apply("max", 0, 1 - touched.lines / table) ** count)
            return touched.replace(lines=lines, reach=None)
        sum_of_bytes = count * touched.bytes
        wanted = sum_of_bytes
        if touched.reach is not None and size is not None:  # the rim of all passes, as far as the structure goes
            wanted = graph.apply("min", size, count * touched.reach)
        lines = graph.apply("max", touched.lines, wanted / self._line)
        reach = None if touched.reach is None or not isinstance(loop, TurnsOfInstances) else wanted
        whole = touched.replace(lines=lines, bytes=sum_of_bytes, dense=True, reach=reach, extent=None)
        behind = graph.FALSE if size is None else self._lie_behind(touched, count, size)
        if behind is graph.FALSE or touched.extent is None:
            return whole
        span = count * touched.extent
        apart = graph.apply("min", count * touched.lines, graph.apply("max", touched.lines, span / self._line))
        extent = graph.if_else(behind, span, sum_of_bytes)
        return whole.replace(lines=graph.if_else(behind, apart, lines), dense=False, extent=extent)

    def _enter(self, kernel: flow.Kernel) -> None:
        """Notes how often a kernel is called, and the values of its arguments as far as they are the same in all calls:
        their mean where they are not."""
        sites = self._sites[kernel]
        if not sites:
            self._values[kernel] = {}
            return
        self._times[kernel] = graph.add(*(site.times for site in sites))
        values = dict[Expr, list[Expr]]()
        for call, group in _distinct_calls(sites):
            given = self._resolve([value for _, value in call.arguments], group.step)
            for (formal, _), value in zip(call.arguments, given, strict=True):
                values.setdefault(formal, []).append(value)
        means = {formal: graph.add(*found) / len(found) for formal, found in values.items()}
        self._values[kernel] = {formal: found[0] if len({*found}) == 1 else means[formal]
                                for formal, found in values.items()}  # fmt: skip

    def _resolve(self, values: Sequence[Expr], step: FlowPosition) -> list[Expr]:
        """Values at a place in a kernel without the counters of the loops around it and the kernel's arguments."""
        around: FlowPosition | None = step
        while around is not None and around.loop is not None:
            if around.loop.named:
                values = graph.substitute(list(values), _middle(around.loop))
            around = around.around
        known = self._values[step.kernel]
        if step.kernel.computed:
            values = graph.substitute(list(values), dict(step.kernel.computed))
        return list(graph.substitute(list(values), known) if known else values)

    def _walk(self, node: flow.Flow, step: FlowPosition, times: Expr) -> None:
        """Notes what comes before each block of a part of a kernel, and before the kernels that it calls."""
        kernel = step.kernel
        if isinstance(node, flow.Block):
            turns = self._loop_of_turns(node)
            inside = step if turns is None else FlowPosition((), turns, step, kernel)
            self._steps[node.requirements] = inside
        elif isinstance(node, flow.Call):
            self._sites[node.kernel].append(CallSite(node, step, times))
        elif isinstance(node, flow.Repeat):
            (count,) = self._resolve([node.count], step)
            self._walk(node.body, FlowPosition((), node, step, kernel), times * count)
        else:
            in_turn = isinstance(node, flow.Sequence | flow.Parallel)
            chances = [chance for chance, _ in node.cases] if isinstance(node, flow.Expectation) else None
            before = step.before
            for number, part in enumerate(parts_of_flow(node)):
                chance = graph.ONE if chances is None else self._resolve([chances[number]], step)[0]
                self._walk(part, step.replace(before=before), times * chance)
                before = join_orders(before, self._order(part, kernel)) if in_turn else before

    def _search(self, step: FlowPosition, search: _Search) -> Iterator[ReuseSource]:
        """The sources before a place, from it outwards: what comes before it in the same pass, an earlier pass of its
        loop, and what is around that."""
        before = self._seen(step.before, step, search)
        found = self.orders.touched_in_all(before, search.name, search.stored)
        if found is not None:
            share = covered_share(found, search.own, self._line)
            yield search.source(search.weight * share, self.orders.join(before, search.since))
            part = search.part * (1 - share) if search.own.anywhere else search.part
            search = search.replace(weight=search.weight * (1 - share), part=part)
        if search.weight is graph.ZERO:
            return
        if step.loop is not None:
            yield from self._search_loop(step, step.loop, search.replace(since=self.orders.join(before, search.since)))
        else:
            yield from self._search_calls(step.kernel, search.replace(since=self.orders.join(before, search.since)))

    def _search_loop(self, step: FlowPosition, loop: flow.Repeat, search: _Search) -> Iterator[ReuseSource]:
        """All passes of a loop but the first find what the one before has left, where they touch the same; where
        they go on to other parts, only the lines that two of them share."""
        kernel = step.kernel
        assert step.around is not None
        before = self._pass_before(step, loop, search)
        count = before.count
        if count is graph.ONE:
            yield from self._search(step.around, search)
            return
        of_pass, moves = before.touched[search.name], before.moves[search.name]
        if search.own.anywhere or (search.divided and moves.kind != "number"):
            moves = graph.ZERO
        last = self.orders.join(before.order, search.since)
        if moves is not graph.ONE:
            same = search.replace(weight=search.weight * (1 - moves), left=search.left - 1, divided=True)
            passes = _passes(loop, count)
            again = graph.ONE if search.left <= 1 else (passes - 1) / passes
            rest = graph.ONE if again is graph.ONE else 1 / passes
            if search.name in before.uneven:
                again = self._share_met(loop, before.uneven[search.name], search, again)
                rest = 1 - again
            yield same.source(same.weight * again, last).replace(each_pass=search.own.anywhere)
            if search.left > 1:
                yield from self._search(step.around, same.replace(weight=same.weight * rest))
        if moves is not graph.ZERO:
            part = search.weight * moves
            whole = self._swept(search.name, of_pass, loop, count, kernel)
            long = search.own.dense and is_certainly_at_most(graph.number(SHORT), search.own.bytes)
            if not long or search.own.reach is not None:
                lines = self._swept(search.name, search.own, loop, count, kernel).lines
                new = graph.apply("min", 1, lines / graph.apply("max", 1, count * search.own.lines))
                yield search.source(part * (1 - new), last)
                part = part * new
            sweep = self._seen(self._order(loop, kernel), step.around, search)
            divided = search.divided or not (moves is graph.ONE or isinstance(loop, TurnsOfInstances))
            on = search.replace(weight=part, own=whole, since=(), sweep=sweep, divided=divided)
            yield from self._search(step.around, on)

    def _share_met(self, loop: flow.Repeat, uneven: UnevenPasses, search: _Search, again: Expr) -> Expr:
        """The share of what a pass touches of a structure that the one before has touched, where both begin at the same
        place: of a table of which each pass reads more, what is new was not there. A block of another kernel does not
        see the counter; the middle pass stands for all."""
        seen = loop.counter in graph.free_symbols(search.own.lines)
        key = (loop, uneven.touched.lines, search.own.lines if seen else None)
        if key not in self._met:
            self._met[key] = self._share_met_by(*key)
        return self._met[key] if seen else again * self._met[key]

    def _share_met_by(self, loop: flow.Repeat, touched: Expr, own: Expr | None) -> Expr:
        """The share of a pass's `own` lines that the pass before it `touched`; without `own`, that of the middle
        pass."""
        counter = loop.counter
        if own is not None:
            (before,) = graph.substitute([touched], {counter: graph.apply("max", 0, counter - 1)})
            met = graph.apply("min", 1, before / graph.apply("max", 1, own))
            return graph.if_else(graph.compare(">", counter, 0), met, 0)
        middle = _middle(loop)
        (whole,), (before,) = (
            graph.substitute([touched], {counter: graph.apply("max", 0, middle[counter] - back)}) for back in (0, 1)
        )
        return graph.apply("min", 1, before / graph.apply("max", 1, whole))

    def _pass_before(self, step: FlowPosition, loop: flow.Repeat, search: _Search) -> _Pass:
        """The touches of a pass of a loop by the time the next begins."""
        key = (loop, step.kernel is search.kernel)
        if key not in self._passes:
            assert step.around is not None
            (count,) = self._seen_values([loop.count], step.around, search)
            body = self._seen(self._pass(loop, step.kernel), step.around, search)
            touched = totals_by_structure(body) | totals_by_structure(walks_of(body))
            uneven = self._uneven(loop, step.kernel)
            moves = {
                name: self._goes_on(name, part, loop, count, step.kernel, uneven.get(name))
                for name, part in touched.items()
            }
            order = tuple(part_moving(group, moves, loop) for group in body)
            self._passes[key] = _Pass(count, touched, moves, order, uneven)
        return self._passes[key]

    def _search_calls(self, kernel: flow.Kernel, search: _Search) -> Iterator[ReuseSource]:
        """History before each call, from the first step of a kernel on. Of many calls a few stand for all."""
        sites = self._sites[kernel]
        if not sites:
            yield search.source(search.weight, None)
            return
        chosen = _representatives(sites, max(1, search.left // 2))
        all_times = graph.add(*(times for _, times in chosen))
        for site, times in chosen:
            share = graph.ONE if len(chosen) == 1 else times / graph.apply("max", RARE, all_times)
            arrays = dict(site.call.arrays)
            yield from self._search(
                site.step,
                search.replace(
                    name=arrays.get(search.name, search.name),
                    weight=search.weight * share,
                    since=rename_structures(search.since, arrays),
                    sweep=rename_structures(search.sweep, arrays),
                    names={own: arrays.get(name, name) for own, name in search.names.items()},
                    left=search.left if len(chosen) == 1 else max(2, search.left // len(chosen)),
                ),
            )

    def _seen(self, order: Order, step: FlowPosition, search: _Search) -> Order:
        """An order in symbols that the block of a search knows."""
        if step.kernel is search.kernel or not order:
            return order
        key = id(order), id(step)
        if key not in self._resolved:
            self._resolved[key] = order, with_sizes(order, iter(self._resolve(sizes_in(order), step)))
        return self._resolved[key][-1]

    def _seen_values(self, values: Sequence[Expr], step: FlowPosition, search: _Search) -> Sequence[Expr]:
        return values if step.kernel is search.kernel else self._resolve(values, step)


def _middle(loop: flow.Repeat) -> dict[Expr, Expr]:
    """The counter of a loop in its middle pass."""
    return {loop.counter: graph.apply("floor", (loop.count - 1) / 2)}


def _passes(loop: flow.Repeat, count: Expr) -> Expr:
    """The passes of a loop that runs."""
    return graph.apply("max", 1, graph.apply("ceil", count) if loop.named else count)


def _distinct_calls(sites: Sequence[CallSite]) -> list[tuple[flow.Call, CallSite]]:
    """Calls with different arguments."""
    found = dict[tuple[tuple[Expr, Expr], ...], tuple[flow.Call, CallSite]]()
    for site in sites:
        found.setdefault(site.call.arguments, (site.call, site))
    return list(found.values())


def _representatives(sites: Sequence[CallSite], most: int) -> list[tuple[CallSite, Expr]]:
    """A few of the calls of a kernel, the first and others at equal distances, each with how often it and those that it
    stands for are made."""
    if len(sites) <= most:
        return [(site, site.times) for site in sites]
    ends = [0, *(1 + (len(sites) - 1) * part // max(1, most - 1) for part in range(most))]
    chunks = [sites[begin:end] for begin, end in pairwise(ends if most > 1 else [0, len(sites)])]
    return [(chunk[-1], graph.add(*(site.times for site in chunk))) for chunk in chunks if chunk]
