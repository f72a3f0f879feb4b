"""Totals over the control flow: one recursion for times, counts, calls, energy and traffic.

A quantity is worth something on each block; steps add, loops multiply or sum, choices become
conditional expressions, probabilities expectations, calls put the arguments in. What a block is
worth is the caller's business (`leaf`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, TypeVar, dataclass_transform

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow
from aspenpy.record import annotated_names


@dataclass_transform(frozen_default=True)
class TotalType(type):
    """Turns the annotations of a class into named places of a tuple."""

    _fields: tuple[str, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> TotalType:
        inherited = tuple(field for base in bases if isinstance(base, TotalType) for field in base._fields)
        fields = (*inherited, *annotated_names(namespace))
        places = {field: property(itemgetter(index)) for index, field in enumerate(fields, 1)}
        cls = super().__new__(mcs, name, bases, {"__slots__": (), **namespace, **places})
        cls._fields = fields
        return cls


class Total(tuple[Any, ...], metaclass=TotalType):
    """Says which total a number is, such as `Busy("flops")`. A tuple with its class in front: totals of two kinds
    differ, and looking one up costs no more than with a plain tuple."""

    def __new__(cls, *fields: Any) -> Any:
        return tuple.__new__(cls, (cls, *fields))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self[1:]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self[1:]))})"


class Runtime(Total):
    """Seconds."""


class ResourceTotal(Total):
    """Total amount of a resource, in its unit."""

    resource: str


class Busy(Total):
    """Seconds in which a resource, or a cache, is in use."""

    resource: str


class Calls(Total):
    """Number of calls of a kernel."""

    kernel: str


class Exclusive(Total):
    """Seconds in a kernel's own blocks."""

    kernel: str


RUNTIME = Runtime()

Totals = dict[Any, Expr]
"""Several quantities at once, each under a `Total` (or what else its leaf tells them apart by); one that is missing
is 0."""

AnyTotal = TypeVar("AnyTotal", bound=Total)
Worth = TypeVar("Worth")


def of_kind(kind: type[AnyTotal], totals: Mapping[Any, Worth]) -> dict[AnyTotal, Worth]:
    return {key: worth for key, worth in totals.items() if type(key) is kind}


class Leaf:
    """The worth of a block; branches of a `par` add, unless a leaf knows better."""

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        """The worth of one execution of a block."""
        raise NotImplementedError

    def parallel(self, node: flow.Parallel, kernel: flow.Kernel, branches: list[Totals]) -> Totals:
        """The worth of `par` branches, given the worth of each."""
        return add_totals(branches)

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        """The worth of a call, given that of the callee with the arguments put in."""
        return callee


class OfBlocks(Leaf):
    """The leaf by which a block is worth what a function says."""

    def __init__(self, worth: Callable[[flow.Block, flow.Kernel], Totals]) -> None:
        self.worth = worth

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        return self.worth(block, kernel)


MOST_REBUILT = 500_000  # nodes of the graph that putting arguments into callees may make: a quarter of a gigabyte


class Rebuilt:
    """The nodes that come of substituting arguments, kept by these arguments: totals of one tree under several leaves
    share most nodes, and each is rebuilt once. `carry(old, new)` is called for each."""

    def __init__(self, carry: Callable[[Expr, Expr], None] | None = None) -> None:
        self.carry = carry
        self.by_arguments: dict[frozenset[tuple[Expr, Expr]], dict[Expr, Expr]] = {}
        self.searched: dict[flow.Kernel, set[Expr]] = {}

    def substitute(
        self,
        totals: Totals,
        bindings: Iterable[tuple[Expr, Expr]],
        carry: Callable[[Expr, Expr], None] | None = None,
    ) -> Totals:
        """The totals with all bindings replaced; `carry` in place of the own callback."""
        given = dict(bindings)
        new = self.by_arguments.setdefault(frozenset(given.items()), {})
        values = graph.substitute(list(totals.values()), given, carry or self.carry, new)
        return dict(zip(totals, values, strict=True))

    def find_formals(self, kernel: flow.Kernel, totals: Totals) -> frozenset[Expr]:
        """The formals of a kernel, and its context, that these totals or earlier ones depend on."""
        symbols = {*kernel.formals, kernel.context}
        since = min(symbol.serial for symbol in symbols)
        seen = self.searched.setdefault(kernel, set())
        seen.update(
            graph.topological_order(*totals.values(), since=since, apart=graph.traits_without(symbols), done=seen)
        )
        return frozenset(symbols & seen)


def run_totals(leaf: Leaf, entry: flow.Kernel, *kinds: type[Total], rebuilt: Rebuilt | None = None) -> Totals:
    """The totals of one run of an entry kernel, all or those of some kinds."""
    rebuilt = rebuilt or Rebuilt()
    totals = Totaller(leaf, rebuilt).kernel(entry)
    kept = {key: worth for key, worth in totals.items() if type(key) in kinds} if kinds else totals
    return rebuilt.substitute(kept, [(entry.context, graph.ZERO)])


class Totaller:
    """Totals for kernels under one leaf, each kernel once."""

    def __init__(self, leaf: Leaf, nodes: Rebuilt | None = None) -> None:
        self.leaf = leaf
        self.nodes = nodes or Rebuilt()
        self.carry = self.nodes.carry
        self.done: dict[flow.Kernel, Totals] = {}
        self.symbols: dict[flow.Kernel, frozenset[Expr]] = {}
        self.with_arguments: dict[tuple[flow.Kernel, frozenset[tuple[Expr, Expr]]], Totals] = {}
        self.rebuilt = 0

    def kernel(self, entry: flow.Kernel) -> Totals:
        """The totals of one execution of a kernel, in its formal symbols."""
        for kernel in callees_first(entry):
            if kernel not in self.done:
                self.done[kernel] = self.nodes.substitute(self._flow(kernel.body, kernel), kernel.computed)
        return self.done[entry]

    def _flow(self, node: flow.Flow, kernel: flow.Kernel) -> Totals:
        match node:
            case flow.Block():
                return self.leaf.block(node, kernel)
            case flow.Sequence():
                return add_totals(self._flow(step, kernel) for step in node.steps)
            case flow.Parallel():
                return self.leaf.parallel(node, kernel, [self._flow(branch, kernel) for branch in node.branches])
            case flow.Repeat():
                return totals_of_loop(node, self._flow(node.body, kernel), on_rebuilt=self.carry)
            case flow.Choice():
                result = self._flow(node.otherwise, kernel)
                for condition, branch in reversed(node.branches):
                    result = choose_totals(condition, self._flow(branch, kernel), result)
                return result
            case flow.Expectation():
                return add_totals(
                    scale_totals(probability, self._flow(case, kernel)) for probability, case in node.cases
                )
            case flow.Call():
                return self._call(node)

    def _call(self, node: flow.Call) -> Totals:
        callee = self.done[node.kernel]
        if node.kernel not in self.symbols:
            self.symbols[node.kernel] = self.nodes.find_formals(node.kernel, callee)
        used = self.symbols[node.kernel]
        bindings = [(formal, value) for formal, value in node.arguments if formal in used]
        if not bindings:
            return self.leaf.call(node, callee)
        key = node.kernel, frozenset(bindings)
        if key not in self.with_arguments:
            self.with_arguments[key] = self.nodes.substitute(
                callee, node.arguments, lambda old, new: self._carry_origin(old, new, node)
            )
        return self.leaf.call(node, self.with_arguments[key])

    def _carry_origin(self, old: Expr, new: Expr, call: flow.Call) -> None:
        self.rebuilt += 1
        if self.rebuilt > MOST_REBUILT:
            message = "calls with ever different arguments make the formula too large"
            hint = "kernels that call others several times, each with another argument, multiply from level to level"
            fail("too-many-calls", message, call.span, hint=hint)
        if self.carry is not None:
            self.carry(old, new)


def totals_of_loop(node: flow.Repeat, body: Totals, on_rebuilt: Callable[[Expr, Expr], None] | None = None) -> Totals:
    """The totals of a loop, given those of a pass.

    A named counter takes whole values, so the passes are ceil(count); an unnamed loop multiplies. What differs from
    pass to pass of an unnamed loop (its samples) is averaged over the whole passes."""
    if node.named:
        sums = {key: graph.summation(node.counter, node.count, worth) for key, worth in body.items()}
        if on_rebuilt is not None:
            _carry_laws(node.counter, body, sums, on_rebuilt)
        return sums
    differing = {*graph.dependents(*body.values(), on=[node.counter])}
    return {
        key: _sum_of_fractional_passes(node, worth) if worth in differing else node.count * worth
        for key, worth in body.items()
    }


def _carry_laws(counter: Expr, body: Totals, sums: Totals, carry: Callable[[Expr, Expr], None]) -> None:
    """Carries over the checks of a body on each pass (such as of a negative count) to the nodes of its sum: they stand
    where the one of the body stands, or, if there were several, where the loop does."""
    laws: dict[str, set[Expr]] = {}
    for node in graph.topological_order(*body.values(), since=counter.serial):
        if node.kind == "checked":
            laws.setdefault(node.payload, set()).add(node)
    for node in graph.topological_order(*sums.values(), since=counter.serial) if laws else ():
        if node.kind == "checked":
            broken = laws.get(node.payload, set())
            carry(next(iter(broken)) if len(broken) == 1 else counter, node)


def choose_totals(condition: Expr, taken: Totals, otherwise: Totals) -> Totals:
    """Key by key one of two."""
    return {
        key: graph.if_else(condition, taken.get(key, graph.ZERO), otherwise.get(key, graph.ZERO))
        for key in dict.fromkeys((*taken, *otherwise))
    }


def _sum_of_fractional_passes(node: flow.Repeat, worth: Expr) -> Expr:
    """count times the mean over the ceil(count) whole passes; nothing if there is none."""
    passes = graph.apply("ceil", node.count)
    share = node.count / passes
    none = graph.compare("==", node.count, 0)
    return graph.if_else(none, 0, share * graph.summation(node.counter, node.count, worth))


def add_totals(parts: Iterable[Totals]) -> Totals:
    """Key by key the sum. Most keys are in one part only: those are not looked at one by one."""
    total: Totals = {}
    terms: dict[Any, list[Expr]] = {}
    for part in parts:
        for key in total.keys() & part.keys():
            terms.setdefault(key, [total[key]]).append(part[key])
        total.update(part)
    return total | {key: sum_terms(terms[key]) for key in total if key in terms} if terms else total


def sum_terms(terms: Iterable[Expr]) -> Expr:
    """The sum; equal terms are counted and multiplied, so ten thousand equal calls are one term."""
    return graph.add(*(term if times == 1 else times * term for term, times in Counter(terms).items()))


def scale_totals(factor: Expr, part: Totals) -> Totals:
    """The totals with each quantity multiplied by a factor."""
    return {key: factor * worth for key, worth in part.items()}


def callees_first(entry: flow.Kernel) -> list[flow.Kernel]:
    """The kernel and all it calls, each behind everything that it calls itself."""
    order: dict[flow.Kernel, None] = {}
    pending = [(entry, False)]
    while pending:
        kernel, expanded = pending.pop()
        if kernel in order:
            continue
        if expanded:
            order[kernel] = None
            continue
        pending.append((kernel, True))
        pending += [(call.kernel, False) for call in calls_in(kernel.body)]
    return list(order)


def calls_in(node: flow.Flow) -> list[flow.Call]:
    """The calls in a flow, in the order written."""
    return [part for part in walk_flow(node) if isinstance(part, flow.Call)]


def blocks_in(node: flow.Flow) -> list[flow.Block]:
    """The blocks in a flow, callees' excluded, in the order written."""
    return [part for part in walk_flow(node) if isinstance(part, flow.Block)]


def walk_flow(node: flow.Flow) -> list[flow.Flow]:
    """The node and all inside it, in the order written; a call is not entered."""
    parts: list[flow.Flow] = []
    pending = [node]
    while pending:
        current = pending.pop()
        parts.append(current)
        if type(current) not in _LEAVES:
            pending += reversed(parts_of_flow(current))
    return parts


_LEAVES = frozenset({flow.Block, flow.Call})  # what nearly all of a long model are


def parts_of_flow(node: flow.Flow) -> list[flow.Flow]:
    """The flows directly inside a node."""
    match node:
        case flow.Sequence(steps=parts) | flow.Parallel(branches=parts):
            return list(parts)
        case flow.Repeat():
            return [node.body]
        case flow.Choice():
            return [*(branch for _, branch in node.branches), node.otherwise]
        case flow.Expectation():
            return [case for _, case in node.cases]
    return []


class Amounts(Leaf):
    """The leaf that counts: the total amount of each resource, P times what one instance asks for.

    `traits` filters: all of them must be present; `sp` also holds where `dp` is absent.
    """

    def __init__(self, traits: tuple[str, ...] = ()) -> None:
        self.traits = traits

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        return add_totals(
            {ResourceTotal(requirement.resource): block.parallelism * requirement.amount}
            for requirement in block.requirements
            if has_all_traits(requirement, self.traits)
        )


def has_all_traits(requirement: flow.Requirement, traits: tuple[str, ...]) -> bool:
    """Whether a requirement has all the traits; `sp` means not `dp`."""
    present = {trait.name for trait in requirement.traits}
    return all(trait in present or (trait == "sp" and "dp" not in present) for trait in traits)
