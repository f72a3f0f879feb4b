"""An interpreter of the syntax tree on plain numbers, written straight from the language's description.

It shares nothing with the library but the tree: no expression graph, no closed forms, loops run pass by
pass. It is slow and short, which is what makes it an oracle. Draws must be degenerate (`uniform(c, c)`,
`normal(m, 0)`, `cdf` with all its probability on one index), so that their value is known.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import takewhile
from typing import Any, NamedTuple

from aspenpy.language import nodes

POWERS_OF_TEN = {
    "nano": -9, "micro": -6, "milli": -3, "kilo": 3, "mega": 6, "giga": 9, "tera": 12, "peta": 15, "exa": 18,
}  # fmt: skip
COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
Names = Mapping[str, Any]


class Delayed(NamedTuple):
    """An expression with the scope it stands in: a name's value, once it is asked for."""

    node: nodes.Expression
    scope: Names


class Spent(NamedTuple):
    """Seconds of some statements; seconds each resource is busy in them; the amounts they ask for."""

    time: Any
    busy: dict[str, Any]
    amounts: dict[str, Any]


def power(base: Any, exponent: Any) -> Any:
    exact = isinstance(exponent, int) or (isinstance(exponent, Fraction) and exponent.denominator == 1)
    return Fraction(base) ** int(exponent) if exact and not isinstance(base, float) else float(base) ** float(exponent)


def quotient(left: Any, right: Any) -> Any:
    """Exact for exact numbers."""
    return left / right if isinstance(left, float) or isinstance(right, float) else Fraction(left) / right


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": quotient,
}  # fmt: skip


def line_through(values: Any, sizes: Any, x: Any) -> Any:
    """Piecewise linear, the end segments prolonged."""
    left = max(0, min(len(list(takewhile(lambda size: size <= x, sizes))) - 1, len(sizes) - 2))
    slope = (values[left + 1] - values[left]) / Fraction(sizes[left + 1] - sizes[left])
    return values[left] + slope * (x - sizes[left])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": math.log, "log2": math.log2, "sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil,
    "max": max, "min": min, "abs": abs, "mod": operator.mod, "lookup": line_through,
    "uniform": lambda low, high: low, "normal": lambda mean, deviation: mean,
    "cdf": lambda steps: next(place for place, step in enumerate(steps) if step > 0),
}  # fmt: skip


class Oracle:
    """One application on one machine. `settings` replace parameters of the application before anything else."""

    def __init__(
        self,
        application: nodes.Application,
        machine: nodes.Machine,
        socket: str | None = None,
        overlap: bool = False,
        settings: Mapping[str, nodes.Expression] | None = None,
        distribution: str = "compact",
    ) -> None:
        self.application, self.socket, self.overlap = application, socket, overlap
        self.globals = declared(application.declarations, settings or {})
        self.machine_names = declared(machine.declarations)
        self.kernels = {kernel.name: kernel for kernel in application.kernels}
        self.components = {component.name: component for component in machine.components}
        self.distribution = distribution
        self.places: dict[str, tuple[nodes.Component, Fraction]] = {}
        self.offers: dict[str, tuple[nodes.Resource, str, Names]] = {}
        self.conflicts: list[tuple[str, str]] = []
        self._visit(next(item for item in machine.components if item.type == "machine"), 1)

    def run(self, kernel: str = "main") -> Spent:
        entry = self.kernels[kernel]
        return self.block_of(entry.body, declared(entry.declarations))

    # -- the machine -----------------------------------------------------------------------------

    def _visit(self, component: nodes.Component, count: Any) -> None:
        """Depth first, other sockets pruned: the first to offer a resource takes it."""
        own = dict(self.machine_names)
        own |= {
            item.name: Delayed(item.value, own)
            for item in component.items
            if isinstance(item, nodes.Property) and item.value is not None
        }
        self.places.setdefault(component.name, (component, Fraction(count)))
        for item in component.items:
            if isinstance(item, nodes.Resource):
                self.offers.setdefault(item.name, (item, component.name, own))
            elif isinstance(item, nodes.Conflict):
                self.conflicts.append((item.first, item.second))
        for item in component.items:
            if isinstance(item, nodes.Part) and (item.type != "socket" or self.socket in (None, item.name)):
                inner = self.components[item.name]
                self._visit(inner, count * (1 if item.quantity is None else self.value(item.quantity, own)))

    # -- expressions -----------------------------------------------------------------------------

    def name(self, name: str, scope: Names) -> Any:
        """Lexical scope: what the kernel names, the model's globals, the machine's parameters, constants."""
        for names in (scope, self.globals, self.machine_names):
            if name in names:
                found = names[name]
                return self.value(found.node, found.scope) if isinstance(found, Delayed) else found
        return Fraction(10) ** POWERS_OF_TEN[name]

    def value(self, node: Any, scope: Names) -> Any:
        match node:
            case nodes.Number():
                return node.value
            case nodes.Name():
                return self.name(node.name, scope)
            case nodes.Negation():
                return -self.value(node.operand, scope)
            case nodes.Power():
                return power(self.value(node.base, scope), self.value(node.exponent, scope))
            case nodes.Chain():
                result = self.value(node.first, scope)
                for sign, factor in node.rest:
                    result = ARITHMETIC[sign](result, self.value(factor, scope))
                return result
            case nodes.Apply():
                return FUNCTIONS[node.function](*(self.value(item, scope) for item in node.arguments))
            case nodes.Index():
                array = self.value(node.array, scope)
                for position in node.indices:
                    array = array[int(self.value(position, scope))]
                return array
            case nodes.Array():
                return [self.value(item, scope) for item in node.elements]
            case nodes.Comparison():
                return COMPARE[node.operator](self.value(node.left, scope), self.value(node.right, scope))
            case nodes.Junction():
                holds = self.value(node.first, scope)
                for word, condition in node.rest:
                    right = self.value(condition, scope)
                    holds = (holds and right) if word == "and" else (holds or right)
                return holds
        raise TypeError(type(node))

    # -- control flow ----------------------------------------------------------------------------

    def block_of(self, statements: tuple[nodes.Statement, ...], scope: Names) -> Spent:
        spent = Spent(0, {}, {})
        for node in statements:
            if isinstance(node, nodes.Sample):
                drawn = FUNCTIONS[node.distribution](*(self.value(item, scope) for item in node.arguments))
                scope = {**scope, node.name: drawn}
            else:
                spent = plus(spent, self.statement(node, scope))
        return spent

    def times_alone(self, statements: tuple[nodes.Statement, ...], scope: Names) -> list[Any]:
        """Seconds of each statement by itself."""
        times: list[Any] = []
        for node in statements:
            if isinstance(node, nodes.Sample):
                drawn = FUNCTIONS[node.distribution](*(self.value(item, scope) for item in node.arguments))
                scope = {**scope, node.name: drawn}
            else:
                times.append(self.statement(node, scope).time)
        return times

    def statement(self, node: nodes.Statement, scope: Names) -> Spent:
        match node:
            case nodes.Execute():
                return self.execute(node, scope)
            case nodes.Call():
                kernel = self.kernels[node.kernel]
                names = {
                    formal.name: self.value(argument, scope)
                    for formal, argument in zip(kernel.formals, node.arguments, strict=True)
                    if formal.kind == "param"
                }
                return self.block_of(kernel.body, declared(kernel.declarations, known=names))
            case nodes.Group():
                inner = self.block_of(node.body, scope)
                merged = node.mode == "par" and (self.overlap or node.label in ("overlap", "concurrent"))
                if not merged:
                    return inner
                alone = self.times_alone(node.body, scope) if node.label == "concurrent" else []
                busy = dict.fromkeys(self.resources_in(node.body), 0) | inner.busy
                return inner._replace(time=max([self.slowest(busy), *alone]))
            case nodes.Loop(counter=None):
                return times(self.value(node.count, scope), self.block_of(node.body, scope))
            case nodes.Loop():
                passes = range(math.ceil(self.value(node.count, scope)))
                return total(self.block_of(node.body, {**scope, str(node.counter): number}) for number in passes)
            case nodes.If():
                bodies = [body for condition, body in node.branches if self.value(condition, scope)]
                return self.block_of((*bodies, node.otherwise or ())[0], scope)
            case nodes.Switch():
                subject = self.value(node.subject, scope)
                bodies = [case.body for case in node.cases if self.value(case.value, scope) == subject]
                return self.block_of((*bodies, node.otherwise or ())[0], scope)
            case nodes.Probability():
                chances = [self.value(case.value, scope) for case in node.cases]
                bodies = [*(case.body for case in node.cases), node.otherwise or ()]
                weights = [*chances, 1 - sum(chances)]
                return total(
                    times(chance, self.block_of(body, scope)) for chance, body in zip(weights, bodies, strict=True)
                )
        raise TypeError(type(node))

    def resources_in(self, body: Any) -> set[str]:
        """The resources that some statements name, whether they run or not: merged branches are one block of them."""
        found: set[str] = set()
        for node in body or ():
            match node:
                case nodes.Execute():
                    found |= {item.resource for item in node.requirements}
                case nodes.Call():
                    found |= self.resources_in(self.kernels[node.kernel].body)
                case nodes.Group() | nodes.Loop():
                    found |= self.resources_in(node.body)
                case nodes.If():
                    found |= self.resources_in(node.otherwise).union(*(self.resources_in(b) for _, b in node.branches))
                case nodes.Switch() | nodes.Probability():
                    found |= self.resources_in(node.otherwise).union(*(self.resources_in(c.body) for c in node.cases))
        return found

    # -- blocks ----------------------------------------------------------------------------------

    def execute(self, node: nodes.Execute, scope: Names) -> Spent:
        parallel = 1 if node.parallelism is None else self.value(node.parallelism, scope)
        width = None if node.width is None else self.value(node.width, scope)
        if width is None and any(item.resource == "messages" for item in node.requirements):
            width = 1  # ranks, too, though they do not say how far their work can be shared out
        spent = total(self.require(item, parallel, scope, width) for item in node.requirements)
        return spent._replace(time=self.slowest(spent.busy))

    def require(self, node: nodes.Requirement, parallel: Any, scope: Names, width: Any = None) -> Spent:
        resource, place, own = self.offers[node.resource]
        amount = self.value(node.quantity, scope) * (1 if node.size is None else self.value(node.size, scope))
        turns, part = self.shared(place, parallel, width)
        serial = self.value(resource.time, {**own, resource.argument: quotient(amount, part)})
        for trait in node.traits:
            rule = next((item for item in resource.traits if item.name == trait.name), None)
            if rule is not None:
                argument = {rule.argument: self.value(trait.arguments[0], scope)} if rule.argument else {}
                serial = self.value(rule.time, {**own, "base": serial, **argument})
        time = turns * serial
        return Spent(time, {node.resource: time}, {node.resource: parallel * amount})

    def shared(self, place: str, parallel: Any, width: Any) -> tuple[Any, Any]:
        """How often a component of a place does what one core has of an instance's amount, and in how many parts that
        amount is shared out. Ranks that occupy u cores each take ceil(width/u) turns at their parts."""
        component, count = self.places[place]
        unit = next((item for item in self.places.values() if flagged(item[0])), None)
        if width is None or unit is None:
            return math.ceil(parallel / count), 1
        cores = next(count for item, count in self.places.values() if item.type == "core")
        parts = math.ceil(width)
        at_work = Fraction(parts, math.ceil(parts / max(Fraction(1), cores / unit[1])))
        part = at_work if component.type in ("core", "cache", "memory") else 1
        ranks = math.ceil(parallel)
        if count >= unit[1]:  # a rank has several, over which its cores are spread
            return (max(1, part * unit[1] / count) if ranks else 0), part
        on_each = unit[1] / count
        nodes_ = next((count for item, count in self.places.values() if item.type == "node"), Fraction(1))
        if self.distribution == "compact":
            return min(ranks, on_each) * part, part
        return math.ceil(math.ceil(ranks / nodes_) * nodes_ / count) * part, part

    def slowest(self, busy: Mapping[str, Any]) -> Any:
        """Conflicting resources add, transitively among those in use; the rest overlap."""
        groups = [{name} for name in busy]
        for pair in self.conflicts:
            if set(pair) <= set(busy):
                joined = [group for group in groups if group & set(pair)]
                groups = [group for group in groups if group not in joined] + [set().union(*joined)]
        return max((sum(busy[name] for name in group) for group in groups), default=0)


def flagged(component: nodes.Component) -> bool:
    """Whether a rank occupies it."""
    return any(isinstance(item, nodes.Property) and item.name == "rank" for item in component.items)


def declared(
    declarations: Any, settings: Mapping[str, nodes.Expression] | None = None, known: Names | None = None
) -> dict[str, Any]:
    """The parameters and constants of one scope, which see each other whatever their order."""
    found: dict[str, Any] = dict(known or {})
    for node in declarations:
        if isinstance(node, nodes.Parameter):
            found[node.name] = Delayed((settings or {}).get(node.name, node.value), found)
        elif isinstance(node, nodes.Enum):
            found |= {member: place for place, member in enumerate(node.members)}
    return found


def plus(left: Spent, right: Spent) -> Spent:
    def merged(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
        return {name: a.get(name, 0) + b.get(name, 0) for name in (*a, *b)}

    return Spent(left.time + right.time, merged(left.busy, right.busy), merged(left.amounts, right.amounts))


def times(factor: Any, spent: Spent) -> Spent:
    scaled = ({name: factor * worth for name, worth in part.items()} for part in (spent.busy, spent.amounts))
    return Spent(factor * spent.time, *scaled)


def total(parts: Any) -> Spent:
    result = Spent(0, {}, {})
    for part in parts:
        result = plus(result, part)
    return result
