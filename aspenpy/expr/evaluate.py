"""Exact evaluation: int and Fraction as long as all operands are exact, and only the nodes that the result needs.

Symbols may have definitions, which are resolved in order of dependence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from operator import attrgetter
from typing import Any

from aspenpy.allowance import INTERPRETED, allowance
from aspenpy.expr import draws
from aspenpy.expr.arithmetic import (
    TOO_LARGE,
    DomainError,
    add_exactly,
    divide,
    format_number,
    normalise_number,
    raise_to_power,
)
from aspenpy.expr.failures import LAWS, NoOperationsLeft, TooMuchWork, count_pass_operations, spend_operations
from aspenpy.expr.failures import EvaluationError as EvaluationError
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import COMPARISONS, array, free_symbols, substitute
from aspenpy.expr.node import Expr, dependents

Value = Any  # int, Fraction, float; bool for a condition; a tuple of values for an array

EXACT_PASSES = 500
"""Passes of a loop without closed form, nested ones counted, that are added exactly; more are run as arrays."""

MOST_COUNTED = 100
"""Loops within a loop whose passes are counted before any is added; deeper ones are while they are added."""


def evaluate(expr: Expr, values: Mapping[Expr, Value] | None = None, seed: int = 0) -> Value:
    """The value with the symbols bound to ints, Fractions, floats or (nested) tuples; raises `EvaluationError`."""
    return evaluate_many([expr], values, seed)[0]


def evaluate_many(
    exprs: Sequence[Expr],
    values: Mapping[Expr, Value] | None = None,
    seed: int = 0,
    definitions: Mapping[Expr, Expr] | None = None,
) -> list[Value]:
    """The values of several expressions, with shared subexpressions computed once; raises if any of them has none.

    A symbol without a value may have a definition, which is evaluated when the symbol is first needed.
    """
    return ExactEvaluation(values or {}, seed, definitions).compute(exprs)


def to_exact_value(value: Value) -> Value:
    """A value as Python's int, Fraction, float or tuple, which the rules compute with; NumPy's scalars are
    converted."""
    if isinstance(value, tuple | list):
        return tuple([to_exact_value(element) for element in value])
    kind = type(value)
    if kind is bool or not hasattr(value, "__float__"):
        raise TypeError(f"a value is a number or a tuple of numbers, not {kind.__name__}")
    if hasattr(value, "__index__"):
        return normalise_number(value.__index__())
    return normalise_number(value if hasattr(value, "numerator") and not isinstance(value, float) else float(value))


class ExactEvaluation:
    """The state of one evaluation: the values of the nodes computed so far."""

    def __init__(self, values: Mapping[Expr, Value], seed: int, definitions: Mapping[Expr, Expr] | None = None) -> None:
        self.seed = seed
        self.definitions = definitions or {}
        self.begun: set[Expr] = set()
        self.known: dict[Expr, Value] = {}
        self.exact_passes_left: int | None = None
        self.allowance = allowance()
        self._inside: dict[Expr, list[Expr]] = {}
        for symbol, value in values.items():
            try:
                self.known[symbol] = to_exact_value(value)
            except DomainError as error:
                raise EvaluationError(symbol, str(error)) from None

    def compute(self, roots: Sequence[Expr]) -> list[Value]:
        """The values of the roots. A rule may return a node that it needs first; its own node then waits on the
        stack."""
        known = self.known
        frames = [self._find_unknown(roots)]
        while frames:
            frame = frames[-1]
            if not frame:
                frames.pop()
                continue
            node = frame[-1]
            if node not in known:
                value = self._evaluate_node(node)
                if type(value) is Expr:
                    frames.append(self._find_unknown([value]))
                    continue
                known[node] = value
            frame.pop()
        return [known[root] for root in roots]

    def _evaluate_node(self, node: Expr) -> Value:
        try:
            return RULES[node.kind](self, node)
        except NoOperationsLeft as error:
            raise TooMuchWork(node, error) from None
        except DomainError as error:
            reason = str(error)
        except OverflowError:
            reason = TOO_LARGE
        except (TypeError, AttributeError):
            if not any(type(self.known.get(arg)) is tuple for arg in node.args):
                raise
            reason = "an array stands where a number is needed"
        raise EvaluationError(node, reason) from None

    def _find_unknown(self, roots: Iterable[Expr]) -> list[Expr]:
        """The unknown nodes that the roots certainly need, in reverse order of computation; branches of conditions and
        bodies of loops follow when their rule asks for them."""
        known = self.known
        seen = {root for root in roots if root not in known}
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            for arg in needed_args(node):
                if arg not in known and arg not in seen:
                    seen.add(arg)
                    waiting.append(arg)
        return sorted(seen, key=attrgetter("serial"), reverse=True)

    def nodes_in_body(self, total: Expr) -> list[Expr]:
        """The nodes of a sum's body that depend on its counter."""
        if total not in self._inside:
            counter, _, body = total.args
            self._inside[total] = dependents(body, on=[counter])
        return self._inside[total]

    def evaluate_pass(self, total: Expr, number: int) -> Value:
        """The body of a sum in one pass of its loop."""
        counter, _, body = total.args
        self.known[counter] = number
        try:
            return self.compute([body])[0]
        finally:
            for node in self.nodes_in_body(total):
                self.known.pop(node, None)


class _TooManyPasses(Exception):
    """More than EXACT_PASSES in the outermost loop and those within it."""


# -- rules -----------------------------------------------------------------------------------------


def _evaluate_symbol(run: ExactEvaluation, node: Expr) -> Value:
    """The value of its definition, which is computed first. A symbol that is needed again meanwhile is circular."""
    definition = run.definitions.get(node)
    if definition is None:
        raise EvaluationError(node, f"no value for `{node.name}`")
    if definition in run.known:
        return run.known[definition]
    if node in run.begun:
        raise EvaluationError(node, f"`{node.name}` is defined by itself")
    run.begun.add(node)
    return definition


def _raise_failure(run: ExactEvaluation, node: Expr) -> Value:
    raise EvaluationError(node, node.payload, node.payload)


def _evaluate_sum_of_terms(run: ExactEvaluation, node: Expr) -> Value:
    known = run.known
    first, *rest = node.args
    total = known[first]
    for arg in rest:
        total = total + known[arg]
    return normalise_number(total)


def _evaluate_product(run: ExactEvaluation, node: Expr) -> Value:
    known = run.known
    first, *rest = node.args
    product = known[first]
    for arg in rest:
        product = product * known[arg]
    return normalise_number(product)


def _evaluate_call(run: ExactEvaluation, node: Expr) -> Value:
    rule = FUNCTIONS[node.payload].exact
    assert rule is not None, node.payload
    return rule(*[run.known[arg] for arg in node.args])


def _evaluate_element(run: ExactEvaluation, node: Expr) -> Value:
    array = run.known[node.args[0]]
    for position in node.args[1:]:
        index = int(run.known[position])
        if type(array) is not tuple:
            raise DomainError("a number has no elements: too many indices")
        if not array:
            raise DomainError(f"index {index} is outside an array without elements")
        if not 0 <= index < len(array):
            raise DomainError(f"index {index} is outside the {len(array)} elements 0..{len(array) - 1}")
        array = array[index]
    return array


def _evaluate_comparison(run: ExactEvaluation, node: Expr) -> Value:
    left, right = (run.known[arg] for arg in node.args)
    if type(left) is tuple or type(right) is tuple:  # which Python would compare
        raise DomainError("an array stands where a number is needed")
    return COMPARISONS[node.payload](left, right)


def _evaluate_junction(run: ExactEvaluation, node: Expr) -> Value:
    first, second = node.args
    if run.known[first] is (node.payload == "or"):
        return run.known[first]
    return run.known.get(second, second)


def _evaluate_choice(run: ExactEvaluation, node: Expr) -> Value:
    condition, then, otherwise = node.args
    branch = then if run.known[condition] else otherwise
    return run.known.get(branch, branch)


def _evaluate_checked(run: ExactEvaluation, node: Expr) -> Value:
    value, subject = (run.known[arg] for arg in node.args)
    law = LAWS[node.payload]
    if not law.is_obeyed_by(subject):
        raise DomainError(law.describe_violation(subject))
    return value


def _evaluate_stream(run: ExactEvaluation, node: Expr) -> Value:
    return draws.hash_stream([draws.encode_stream_part(run.known[arg]) for arg in node.args])


def _evaluate_draw(run: ExactEvaluation, node: Expr) -> Value:
    stream, *arguments = (run.known[arg] for arg in node.args)
    return draws.DISTRIBUTIONS[node.payload](draws.random_bits(run.seed, stream), *arguments)


def _evaluate_loop(run: ExactEvaluation, node: Expr) -> Value:
    """Sum over a loop: exact for at most `EXACT_PASSES` passes, those of inner loops included; the outermost sum
    decides for all of them."""
    passes = math.ceil(run.known[node.args[1]])
    if run.exact_passes_left is not None:
        return _sum_passes_exactly(run, node, passes)
    if passes > EXACT_PASSES:
        return _sum_passes_in_lanes(run, node, passes)
    run.exact_passes_left = EXACT_PASSES
    begun = set(run.begun)
    try:
        return _sum_passes_exactly(run, node, passes)
    except _TooManyPasses:
        run.exact_passes_left, run.begun = None, begun
        return _sum_passes_in_lanes(run, node, passes)
    finally:
        run.exact_passes_left = None


def _sum_passes_in_lanes(run: ExactEvaluation, node: Expr, passes: int) -> Value:
    operations = passes * count_pass_operations(run.nodes_in_body(node))
    if operations > run.allowance.operations:
        raise DomainError(
            f"{format_number(passes)} passes are too many to add one by one, and the sum has no closed form"
        )
    if (ahead := _count_ahead(run, (node,), passes, {})) > run.allowance.left:
        spend_operations(run.allowance, ahead)
    spend_operations(run.allowance, operations)
    from aspenpy.expr.lanes import sum_over_passes  # with NumPy, which short sums do without

    return sum_over_passes(run, node, passes)


def _count_ahead(
    run: ExactEvaluation, sums: tuple[Expr, ...], passes: int, counted: dict[tuple[Expr, ...], int]
) -> int:
    """Operations of the passes of sums that are added together, with those of the sums in them that each pass needs and
    whose numbers of passes are known: where all of them are more than is left, that is said before any is added. An
    inner sum that is too long by itself is left out: that is said at its place."""
    if sums not in counted and len(counted) < MOST_COUNTED:
        inner = bool(counted)
        counted[sums] = 0
        body = {node for total in sums for node in run.nodes_in_body(total)}
        own = count_pass_operations(body, inner)
        within: dict[tuple[Expr, Expr], dict[Expr, None]] = {}
        for node in (node for total in sums for node in needed_nodes(total.args[2])):
            if node.kind == "sum" and node in body and node.args[1] in run.known:
                within.setdefault((node.args[0], node.args[1]), {})[node] = None
        if passes * own <= run.allowance.operations:
            deeper = (
                _count_ahead(run, tuple(alike), math.ceil(run.known[count]), counted)
                for (_, count), alike in within.items()
            )
            counted[sums] = max(passes, 0) * (own + sum(deeper))
    return counted.get(sums, 0)


def _sum_passes_exactly(run: ExactEvaluation, node: Expr, passes: int) -> Value:
    assert run.exact_passes_left is not None
    if passes > run.exact_passes_left:
        raise _TooManyPasses
    run.exact_passes_left -= max(passes, 0)
    each = INTERPRETED * len(run.nodes_in_body(node))
    if passes * each > run.allowance.left:
        spend_operations(run.allowance, passes * each)
    total: Value = 0
    for number in range(passes):
        spend_operations(run.allowance, each)  # a loop often has no value from its first pass on
        total = add_exactly(total, run.evaluate_pass(node, number))
    return total


RULES: dict[str, Callable[[ExactEvaluation, Expr], Value]] = {
    "number": lambda run, node: node.payload,
    "boolean": lambda run, node: node.payload,
    "symbol": _evaluate_symbol,
    "array": lambda run, node: tuple([run.known[arg] for arg in node.args]),
    "add": _evaluate_sum_of_terms,
    "mul": _evaluate_product,
    "neg": lambda run, node: -run.known[node.args[0]],
    "div": lambda run, node: divide(run.known[node.args[0]], run.known[node.args[1]]),
    "power": lambda run, node: raise_to_power(run.known[node.args[0]], run.known[node.args[1]]),
    "apply": _evaluate_call,
    "index": _evaluate_element,
    "compare": _evaluate_comparison,
    "junction": _evaluate_junction,
    "if_else": _evaluate_choice,
    "sum": _evaluate_loop,
    "checked": _evaluate_checked,
    "draw": _evaluate_draw,
    "stream": _evaluate_stream,
    "failure": _raise_failure,
}

_NEEDED: dict[str, slice] = {"junction": slice(0, 1), "if_else": slice(0, 1), "sum": slice(1, 2)}


def needed_args(node: Expr) -> tuple[Expr, ...]:
    """The arguments that a node needs whatever the values are: no branches of conditions, no bodies of loops."""
    return node.args[_NEEDED[node.kind]] if node.kind in _NEEDED else node.args


def needed_nodes(expr: Expr) -> list[Expr]:
    """The nodes that the value needs whatever the symbols are."""
    nodes = {expr: None}
    for node in (waiting := [expr]):
        unseen = [arg for arg in dict.fromkeys(needed_args(node)) if arg not in nodes]
        nodes |= dict.fromkeys(unseen)
        waiting += unseen
    return list(nodes)


class CircularDefinition(Exception):
    """A symbol is defined by itself; `cycle` lists the definitions from the symbol back to itself."""

    def __init__(self, cycle: list[Expr]) -> None:
        super().__init__(cycle)
        self.cycle = cycle

    @property
    def names(self) -> list[str]:
        return [symbol.name for symbol in self.cycle]


def resolve_definitions(
    roots: Sequence[Expr], definitions: Mapping[Expr, Expr], carry: Callable[[Expr, Expr], None] | None = None
) -> list[Expr]:
    """The roots with every defined symbol replaced by what it stands for, to the end.

    Only definitions that the roots reach are looked at. Raises CircularDefinition.
    """
    resolved: dict[Expr, Expr] = {}
    for symbol, needed in order_definitions(roots, definitions).items():
        bindings = {other: resolved[other] for other in needed}
        resolved[symbol] = substitute([definitions[symbol]], bindings, carry)[0] if bindings else definitions[symbol]
    return substitute(roots, resolved, carry) if resolved else list(roots)


def order_definitions(roots: Sequence[Expr], definitions: Mapping[Expr, Expr]) -> dict[Expr, list[Expr]]:
    """The defined symbols that the roots depend on, each after those that its own definition needs.

    Raises CircularDefinition.
    """
    needs: dict[Expr, list[Expr]] = {}
    pending = sorted((symbol for symbol in free_symbols(array(roots)) if symbol in definitions), key=_symbol_name)
    while pending:
        symbol = pending.pop()
        if symbol not in needs:
            inner = [other for other in free_symbols(definitions[symbol]) if other in definitions]
            needs[symbol] = sorted(inner, key=_symbol_name)  # the order of a set is another in each process
            pending += needs[symbol]
    try:
        return {symbol: needs[symbol] for symbol in TopologicalSorter(needs).static_order()}
    except CycleError as error:
        raise CircularDefinition(_rotate_to_first(error.args[1][-2::-1], definitions)) from None


def _rotate_to_first(cycle: list[Expr], definitions: Mapping[Expr, Expr]) -> list[Expr]:
    """The cycle, beginning and ending with the symbol that is defined first."""
    order = {symbol: index for index, symbol in enumerate(definitions)}
    start = min(range(len(cycle)), key=lambda index: order[cycle[index]])
    return [*cycle[start:], *cycle[:start], cycle[start]]


def _symbol_name(symbol: Expr) -> str:
    return str(symbol.payload)
