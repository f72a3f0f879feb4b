"""The constructors of operators in the expression graph, and the passes that need no more than its shape.

Constants are folded where the result is exact, and only there; nothing is reassociated unless it is known to be
whole, so that floating-point arguments of `ceil` and `floor` keep the value their author wrote. Kinds of nodes, with
their arguments and payload:

    number    ()                          int, Fraction or float
    boolean   ()                          bool
    symbol    ()                          (name, owner), and a third entry for loop counters
    array     elements                    -
    add, mul  two or more                 -
    neg       (x,)                        -
    div       (a, b)                      -
    power     (base, exponent)            -
    apply     arguments                   name in functions.FUNCTIONS
    index     (array, index...)           -
    compare   (a, b)                      == != < > <= >=
    junction  (a, b)                      and, or
    if_else   (condition, then, else)     -
    sum       (counter, count, body)      -
    checked   (value, subject)            name in laws.LAWS
    draw      (stream, argument...)       uniform, normal, cdf
    stream    parts                       -
    failure   ()                          anything, handed back when the value is needed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aspenpy.expr import traits
from aspenpy.expr.arithmetic import (
    COMPARISONS,
    DomainError,
    Number,
    add_exactly,
    divide,
    multiply_exactly,
    raise_to_power,
)
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.node import (
    CONSTRUCTORS,
    FALSE,
    FROM_ZERO,
    MINUS_ONE,
    ONE,
    TRUE,
    ZERO,
    Expr,
    array,
    counter,
    dependents,
    failure,
    fold,
    intern_node,
    is_call,
    is_counter,
    is_exact,
    is_integer,
    is_total,
    nodes_of_kind,
    number,
    stream,
    symbol,
    to_expr,
    topological_order,
    traits_without,
    whole_number,
)
from aspenpy.expr.traits import INTEGER, NONNEGATIVE, TOTAL

__all__ = [
    "COMPARISONS", "FALSE", "FROM_ZERO", "ONE", "TRUE", "ZERO", "Expr", "add", "apply", "array", "checked",
    "compare", "counter", "dependents", "div", "draw", "failure", "fold", "free_symbols", "if_else", "index",
    "is_call", "is_counter", "is_exact", "is_integer", "is_total", "junction", "mul", "neg", "nodes_of_kind",
    "number", "power", "rewrite", "stream", "sub", "substitute", "summation", "symbol", "to_expr",
    "topological_order", "traits_without", "whole_number",
]  # fmt: skip

LONGEST_CHAIN = 32
"""Longest sum or product that another one beginning with it absorbs: adding terms one by one stays linear."""


# -- operators -------------------------------------------------------------------------------------


def _fold_constants(rule: Callable[..., Number], *args: Expr) -> Expr | None:
    """The exact result for exact constants; None where there is none."""
    for arg in args:
        if arg.kind != "number" or type(arg.payload) is float:
            return None
    try:
        value = rule(*[arg.payload for arg in args])
    except DomainError:
        return None
    return None if type(value) is float else number(value)


def _known_traits(args: tuple[Expr, ...]) -> tuple[int, ...]:
    return tuple([arg.traits for arg in args])


def _make_chain(kind: str, operands: tuple[Expr | Number, ...], unit: Expr, rule: Callable[..., Number]) -> Expr:
    """A sum or product from left to right: the unit is dropped, a leading chain is absorbed, and constants are folded
    where that changes no rounding: at the front, and after whole numbers."""
    if len(operands) == 2:  # two thirds of all: what follows comes to the same, in twice the time
        first, last = operands
        if type(first) is Expr and type(last) is Expr and last.kind != "number" and unit is not first:
            begin = first.args if first.kind == kind and len(first.args) < LONGEST_CHAIN else (first,)
            return intern_node(kind, (*begin, last), None, first.traits & last.traits)
    parts: list[Expr] = []
    whole = True
    for operand in operands:
        term = operand if type(operand) is Expr else number(operand)  # type: ignore[arg-type]
        if term is unit:
            continue
        if not parts:
            parts = list(term.args) if term.kind == kind and len(term.args) < LONGEST_CHAIN else [term]
        elif (
            term.kind == "number"
            and (whole or len(parts) == 1)
            and (folded := _fold_constants(rule, parts[-1], term)) is not None
        ):
            parts.pop()
            if folded is not unit or not parts:
                parts.append(folded)
        else:
            parts.append(term)
        whole = whole and bool(term.traits & INTEGER)
    if len(parts) < 2:
        return parts[0] if parts else unit
    known = traits.ALL
    for part in parts:
        known &= part.traits
    return intern_node(kind, tuple(parts), None, known)


def add(*terms: Expr | Number) -> Expr:
    """The sum, evaluated from left to right."""
    return _make_chain("add", terms, ZERO, add_exactly)


def mul(*factors: Expr | Number) -> Expr:
    """The product, evaluated from left to right; 0 only if no factor can fail. Signs are moved to the front."""
    product = _make_chain("mul", factors, ONE, multiply_exactly)
    if product.kind != "mul":
        return product
    signs = 0
    for factor in product.args:
        if factor is ZERO and product.traits & TOTAL:
            return ZERO
        if factor is MINUS_ONE or factor.kind == "neg":
            signs += 1
    if not signs:
        return product
    parts = [factor.args[0] if factor.kind == "neg" else factor for factor in product.args if factor is not MINUS_ONE]
    positive = _make_chain("mul", tuple(parts), ONE, multiply_exactly)
    return neg(positive) if signs % 2 else positive


def neg(x: Expr | Number) -> Expr:
    x = to_expr(x)
    if x.kind == "number":
        return number(-x.payload)
    if x.kind == "neg":
        return x.args[0]
    return intern_node("neg", (x,), None, x.traits & ~NONNEGATIVE)


def sub(a: Expr | Number, b: Expr | Number) -> Expr:
    return add(a, neg(b))


def div(a: Expr | Number, b: Expr | Number) -> Expr:
    """The quotient, never a reciprocal and a product; division by zero fails on evaluation."""
    a, b = to_expr(a), to_expr(b)
    if b is ONE:
        return a
    if a.kind == "neg":
        return neg(div(a.args[0], b))
    folded = _fold_constants(divide, a, b)
    if folded is not None:
        return folded
    safe = TOTAL if b.kind == "number" and b.payload != 0 else 0
    return intern_node("div", (a, b), None, a.traits & (b.traits & NONNEGATIVE | safe))


def power(base: Expr | Number, exponent: Expr | Number) -> Expr:
    base, exponent = to_expr(base), to_expr(exponent)
    if exponent is ONE:
        return base
    if exponent is ZERO and is_total(base):
        return ONE
    folded = _fold_constants(raise_to_power, base, exponent)
    if folded is not None:
        return folded
    known = base.traits & NONNEGATIVE
    if (times := whole_number(exponent)) is not None:
        if times >= 0:
            known |= base.traits
        if times % 2 == 0:
            known |= NONNEGATIVE
    return intern_node("power", (base, exponent), None, known)


CONSTRUCTORS.update(add=add, sub=sub, mul=mul, div=div, power=power, neg=neg)


def apply(function: str, *args: Expr | Number) -> Expr:
    """Application of a function of the table; `max` and `min` drop arguments that cannot decide."""
    arguments = tuple([arg if type(arg) is Expr else to_expr(arg) for arg in args])
    if function == "pow":
        return power(*arguments)
    row = FUNCTIONS[function]
    if not row.accepts(len(arguments)) or row.exact is None:
        raise TypeError(
            f"{function} takes {row.describe_arity()}" if row.exact else f"{function} is a draw, not an apply"
        )
    if function in ("max", "min"):
        arguments = _reduce_extreme(function, row.exact, arguments)
        if len(arguments) == 1:
            return arguments[0]
    elif row.traits is traits.traits_of_rounding and arguments[0].traits & INTEGER:
        return arguments[0]
    folded = _fold_constants(row.exact, *arguments) if function != "lookup" else _fold_lookup(row.exact, arguments)
    return (
        folded
        if folded is not None
        else intern_node("apply", arguments, function, row.traits(_known_traits(arguments)))
    )


def _fold_lookup(rule: Callable[..., Number], arguments: tuple[Expr, ...]) -> Expr | None:
    """The exact result of a lookup among exact constants; None for others."""
    *points, x = arguments
    if not is_exact(x) or not all(array.kind == "array" and all(map(is_exact, array.args)) for array in points):
        return None
    columns = [tuple([element.payload for element in array.args]) for array in points]
    return _fold_constants(lambda value: rule(*columns, value), x)


def _reduce_extreme(function: str, rule: Callable[..., Number], arguments: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The arguments of max or min without duplicates, nested calls flattened, with at most one exact constant."""
    kept: dict[Expr, None] = {}
    constants: list[Expr] = []
    for argument in arguments:
        nested = is_call(argument, (function,)) and len(argument.args) < LONGEST_CHAIN
        for part in argument.args if nested else (argument,):
            if is_exact(part):
                constants.append(part)
            kept[part] = None
    if len(constants) > 1:
        best = rule(*[constant.payload for constant in constants])
        for constant in constants:
            if constant.payload != best:
                kept.pop(constant, None)
    return tuple(kept)


def index(array: Expr, *indices: Expr | Number) -> Expr:
    """An element; a constant index inside a written-out array is looked up at once. Indices truncate to zero."""
    remaining = tuple([to_expr(position) for position in indices])
    while remaining and array.kind == "array" and is_exact(remaining[0]) and len(remaining) <= _array_depth(array):
        position = int(remaining[0].payload)
        if not 0 <= position < len(array.args):
            break
        array, remaining = array.args[position], remaining[1:]
    return intern_node("index", (array, *remaining), None, traits=0) if remaining else array


def _array_depth(array: Expr) -> int:
    return 2 if array.args and array.args[0].kind == "array" else 1


# -- conditions ------------------------------------------------------------------------------------


def compare(op: str, a: Expr | Number, b: Expr | Number) -> Expr:
    """A condition; op is one of `COMPARISONS`."""
    a, b = to_expr(a), to_expr(b)
    rule = COMPARISONS[op]
    if a.kind == "number" and b.kind == "number":
        return TRUE if rule(a.payload, b.payload) else FALSE
    return intern_node("compare", (a, b), op, a.traits & b.traits & TOTAL)


def junction(op: str, a: Expr, b: Expr) -> Expr:
    """`and` or `or` of two conditions; the second is not looked at where the first decides."""
    decisive = {"and": FALSE, "or": TRUE}[op]
    if a.kind == "boolean":
        return a if a is decisive else b
    if b.kind == "boolean" and (b is not decisive or is_total(a)):
        return b if b is decisive else a
    return intern_node("junction", (a, b), op, a.traits & b.traits & TOTAL)


def if_else(condition: Expr, then: Expr | Number, otherwise: Expr | Number) -> Expr:
    """One of two values; the other one may fail."""
    then, otherwise = to_expr(then), to_expr(otherwise)
    if condition.kind == "boolean":
        return then if condition is TRUE else otherwise
    if then is otherwise and is_total(condition):
        return then
    args = (condition, then, otherwise)
    return intern_node("if_else", args, None, traits.traits_of_choice(_known_traits(args)))


def checked(law: str, x: Expr | Number, subject: Expr | None = None) -> Expr:
    """The value x, refused on evaluation where the subject (x itself, if left out) breaks the law."""
    x = to_expr(x)
    subject = x if subject is None else subject
    rule = LAWS[law]
    if subject.kind == "number" and rule.is_obeyed_by(subject.payload):
        return x
    if rule.from_zero and subject.traits & NONNEGATIVE and (subject is x or is_total(subject)):
        return x
    known = x.traits & ~TOTAL | (NONNEGATIVE if rule.from_zero and subject is x else 0)
    return intern_node("checked", (x, subject), law, known)


# -- sums and draws --------------------------------------------------------------------------------


def summation(counter: Expr, count: Expr | Number, body: Expr | Number) -> Expr:
    """The sum of body for counter = 0, 1, ... below count, in closed form where it has one.

    The count is taken not to be negative (`checked("count", ...)` refuses one that is).
    """
    return CONSTRUCTORS["sum"](counter, to_expr(count), to_expr(body))


def draw(distribution: str, arguments: Sequence[Expr | Number], stream: Expr | tuple[Expr | Number, ...]) -> Expr:
    """A random number that depends on the seed, the stream's value and the arguments alone."""
    row = FUNCTIONS[distribution]
    if not row.random or not row.accepts(len(arguments)):
        raise TypeError(
            f"{distribution} takes {row.describe_arity()}" if row.random else f"{distribution} is no distribution"
        )
    identity = stream if isinstance(stream, Expr) else _stream(*stream)
    known = INTEGER | NONNEGATIVE if distribution == "cdf" else 0
    return intern_node("draw", (identity, *[to_expr(argument) for argument in arguments]), distribution, known)


_stream = stream


# -- passes ----------------------------------------------------------------------------------------


def free_symbols(expr: Expr) -> frozenset[Expr]:
    """The symbols the value depends on; the counter of a sum is bound by it."""
    nodes = topological_order(expr)
    bound = {node.args[0] for node in nodes if node.kind == "sum"}
    free = {node for node in nodes if node.kind == "symbol" and node not in bound}
    return frozenset(free | _unbound_counters(nodes, bound))


_NONE: frozenset[Expr] = frozenset()


def _unbound_counters(nodes: Sequence[Expr], counters: set[Expr]) -> frozenset[Expr]:
    """The counters that the last node depends on outside of the sums that bind them."""
    outside: dict[Expr, frozenset[Expr]] = {}
    for node in nodes if counters else ():
        parts = [outside[arg] for arg in node.args if arg in outside]
        if node in counters:
            outside[node] = frozenset((node,))
        elif node.kind == "sum":
            counter, count, body = node.args
            within = outside.get(count, _NONE) | outside.get(body, _NONE) - {counter}
            if within:
                outside[node] = within
        elif parts:
            outside[node] = parts[0] if len(parts) == 1 else parts[0].union(*parts[1:])
    return outside.get(nodes[-1], _NONE)


_OF_ARGUMENTS: dict[str, Callable[..., Expr]] = {
    "array": lambda *elements: array(elements), "index": index, "if_else": if_else, "sum": summation, "stream": stream,
    "add": add, "mul": mul, "neg": neg, "div": div, "power": power,
}  # fmt: skip
_OF_PAYLOAD: dict[str, Callable[..., Expr]] = {
    "apply": apply, "compare": compare, "junction": junction, "checked": checked,
    "draw": lambda distribution, stream, *arguments: draw(distribution, arguments, stream),
}  # fmt: skip
REBUILT = frozenset({*_OF_ARGUMENTS, *_OF_PAYLOAD})  # the kinds that have arguments


def rebuild(node: Expr, args: tuple[Expr, ...]) -> Expr:
    """The node with other arguments, through its constructor."""
    if node.kind in _OF_PAYLOAD:
        return _OF_PAYLOAD[node.kind](node.payload, *args)
    return _OF_ARGUMENTS[node.kind](*args)


def rewrite(
    exprs: Sequence[Expr],
    exception: Callable[[Expr, tuple[Expr, ...]], Expr | None],
    carry: Callable[[Expr, Expr], None] | None = None,
    since: int = 0,
    apart: int = 0,
    new: dict[Expr, Expr] | None = None,
) -> list[Expr]:
    """The expressions with each node rebuilt of its new arguments, unless `exception(node, new arguments)` returns a
    replacement. `carry(old, new)` is called for each rebuilt node; nodes with a serial below `since`, or one of the
    traits `apart`, stay. `new` holds nodes rewritten before, in the same way, and takes those of this time."""
    new = {} if new is None else new
    for node in topological_order(*exprs, since=since, apart=apart, done=new):
        args = tuple([new.get(arg, arg) for arg in node.args])
        instead = exception(node, args)
        if instead is not None:
            new[node] = instead
        elif args != node.args:
            new[node] = replacement = rebuild(node, args)
            if replacement is not node and carry is not None:
                carry(node, replacement)
        else:
            new[node] = node
    return [new.get(expr, expr) for expr in exprs]


def substitute(
    exprs: Sequence[Expr],
    bindings: Mapping[Expr, Expr],
    carry: Callable[[Expr, Expr], None] | None = None,
    new: dict[Expr, Expr] | None = None,
) -> list[Expr]:
    """The expressions with all bindings replaced at once; `carry(old, new)` is called for each rebuilt node. `new`
    holds what the same bindings have replaced before, and takes what they replace this time.

    A sum's own counter may be renamed to another counter, and to nothing else.
    """
    if not bindings:
        return list(exprs)
    since = min(key.serial for key in bindings)
    return rewrite(exprs, lambda node, args: bindings.get(node), carry, since, traits_without(bindings), new)
