"""The constructors: sharing, exact folding, and what must not be folded."""

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    add,
    apply,
    array,
    checked,
    compare,
    counter,
    div,
    failure,
    free_symbols,
    if_else,
    index,
    is_integer,
    is_total,
    junction,
    mul,
    neg,
    number,
    power,
    sub,
    substitute,
    summation,
    symbol,
    topological_order,
)
from aspenpy.expr.node import intern_node
from aspenpy.expr.traits import CLOSED
from tests.expr.strategies import SYMBOLS, expressions
from tests.thorough import some

n, m = symbol("n"), symbol("m")

DEEP = some(10_000, 2_500)


def test_equal_structure_is_one_object():
    assert (n + 1) * m is (n + 1) * m
    assert symbol("n") is n
    assert symbol("n", "machine") is not n


def test_numbers_of_different_types_are_different_constants():
    assert number(1) is not number(1.0)
    assert number(0.0) is not number(-0.0)
    assert number(Fraction(4, 2)) is number(2)
    assert number(Fraction(1, 2)) is not number(0.5)


@pytest.mark.parametrize(("value", "error"), [(True, TypeError), ("1", TypeError), (float("nan"), ValueError)])
def test_what_is_no_number_is_refused(value, error):
    with pytest.raises(error):
        number(value)


def test_nodes_are_immutable():
    with pytest.raises(AttributeError):
        n.kind = "number"


@pytest.mark.parametrize(
    ("folded", "expected"),
    [
        (add(1, 2, n), add(3, n)),
        (add(n, 0), n),
        (add(), ZERO),
        (mul(n, 1), n),
        (mul(), ONE),
        (mul(0, n), ZERO),
        (mul(n + 2, 0, m), ZERO),
        (sub(n, 0), n),
        (neg(neg(n)), n),
        (mul(n, -1, m), neg(n * m)),
        (mul(-n, neg(m)), n * m),
        (div(neg(n), m), neg(n / m)),
        (div(1, 3), number(Fraction(1, 3))),
        (div(n, 1), n),
        (power(2, 10), number(1024)),
        (power(2, -2), number(Fraction(1, 4))),
        (power(Fraction(2, 3), 2), number(Fraction(4, 9))),
        (power(n, 1), n),
        (power(n, 0), ONE),
        (power(0, 0), ONE),
        (apply("log2", 8), number(3)),
        (apply("log2", Fraction(1, 8)), number(-3)),
        (apply("log10", 1000), number(3)),
        (apply("log", 1), ZERO),
        (apply("exp", 0), ONE),
        (apply("sqrt", 4), number(2)),
        (apply("sqrt", Fraction(4, 9)), number(Fraction(2, 3))),
        (apply("ceil", Fraction(7, 2)), number(4)),
        (apply("floor", Fraction(-7, 2)), number(-4)),
        (apply("round", Fraction(5, 2)), number(2)),
        (apply("mod", -7, 3), number(2)),
        (apply("pow", 3, 2), number(9)),
        (apply("lookup", array([5, 9]), array([0, 4]), 3), number(8)),
        (apply("max", n, n), n),
        (apply("max", 3, n, 5), apply("max", n, 5)),
        (apply("min", apply("min", n, m), n), apply("min", n, m)),
        (compare("<", 1, 2), TRUE),
        (compare("==", number(0.5), Fraction(1, 2)), TRUE),
        (junction("and", TRUE, compare("<", n, 1)), compare("<", n, 1)),
        (junction("or", TRUE, compare("<", 1 / n, 1)), TRUE),
        (junction("and", compare("<", n, 1), FALSE), FALSE),
        (if_else(TRUE, n, 1 / m), n),
        (if_else(compare("<", n, 1), m, m), m),
        (index(array([n, m]), Fraction(3, 2)), m),
        (index(array([array([n, m]), array([1, 2])]), 1, 0), ONE),
        (checked("count", 3), number(3)),
        (checked("count", counter("i") * 2).kind, "mul"),
        (checked("probability", Fraction(1, 2)), number(Fraction(1, 2))),
    ],
)
def test_folds(folded, expected):
    assert folded is expected


@pytest.mark.parametrize(
    "expr",
    [
        add(number(0.1), number(0.2)),
        mul(0, 1 / n),
        power(1 / n, 0),
        div(1, 0),
        div(0, n),
        power(0, -1),
        power(2, Fraction(1, 2)),
        power(9, power(9, power(9, 9))),
        power(2, 5000),
        mul(power(2, 4000), power(2, 4000)),
        apply("log", 10),
        apply("log", 0),
        apply("sqrt", 2),
        apply("exp", 1),
        apply("mod", 1, 0),
        index(array([1, 2]), 2),
        apply("lookup", array([5, 9]), array([4, 0]), 3),
        checked("count", -1),
        if_else(compare("<", 1 / n, 1), m, m),
        junction("and", compare("<", 1 / n, 1), FALSE),
        mul(n, number(1.0)),
        add(n, number(0.0)),
    ],
)
def test_stays_as_it_is(expr):
    assert expr.kind not in ("number", "symbol", "boolean")


def test_nothing_is_reassociated_unless_it_is_whole():
    """(x + 1) + 2 may round otherwise than x + 3, and a ceil may stand around it."""
    assert (n + 1 + 2).args == (n, ONE, number(2))
    i = counter("i")
    assert (i + 1 + 2).args == (i, number(3))
    assert (n * 3 / 3).kind == "div"


def test_a_chain_is_one_node_evaluated_from_left_to_right():
    assert add(add(n, m), 3).args == (n, m, number(3))
    assert add(n, add(m, 3)).args == (n, add(m, 3))
    assert mul(mul(n, m), 3).args == (n, m, number(3))


def test_what_is_known_of_a_value():
    i, j = counter("i"), counter("j")
    assert is_integer(2 * i + j**2 - 3)
    assert is_integer(apply("ceil", n / 2))
    assert is_integer(apply("max", i, 3))
    assert is_integer(if_else(compare("<", n, 1), i, 0))
    assert not is_integer(n)
    assert not is_integer(i / 2)
    assert not is_integer(2 ** neg(i))
    assert is_total(n * m - 3 / number(2))
    assert is_total(apply("ceil", n / 2))
    assert not is_total(n / m)
    assert not is_total(apply("log", n))


def test_arity_is_checked():
    with pytest.raises(TypeError, match="max takes 2 or more arguments"):
        apply("max", n)
    with pytest.raises(TypeError, match="normal takes 2 arguments"):
        graph.draw("normal", (1,), ())
    with pytest.raises(TypeError, match="uniform is a draw"):
        apply("uniform", 1, 2)


def test_operators_take_numbers_on_either_side():
    assert 1 - n is sub(1, n)
    assert 2 / n is div(2, n)
    assert 2**n is power(2, n)
    assert Fraction(1, 2) * n is mul(Fraction(1, 2), n)


def test_arguments_come_first():
    nodes = topological_order((n + 1) * m / (n + 1))
    position = {node: place for place, node in enumerate(nodes)}
    assert all(position[arg] < position[node] for node in nodes for arg in node.args)
    assert len(nodes) == len(set(nodes)) == 6


@given(expressions())
def test_pickling_gives_the_same_object(expr):
    assert pickle.loads(pickle.dumps(expr)) is expr
    assert copy.deepcopy(expr) is expr


def test_counters_of_two_processes_do_not_meet():
    script = (
        "import pickle, sys; from aspenpy.expr.graph import counter;"
        "sys.stdout.buffer.write(pickle.dumps([counter('i') for _ in range(50)]))"
    )
    theirs = pickle.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)
    mine = [counter("i") for _ in range(50)]
    assert len(set(mine) | set(theirs)) == 100


def test_deeper_than_python_recurses():
    chain = n
    for _ in range(DEEP):
        chain = apply("sqrt", chain + 1)
    assert pickle.loads(pickle.dumps(chain)) is chain
    assert free_symbols(chain) == {n}
    (other,) = substitute([chain], {n: m})
    assert free_symbols(other) == {m}
    assert len(topological_order(chain)) == 2 * DEEP + 2
    del chain, other  # freed without recursion, too


def test_sums_built_term_by_term_take_linear_work():
    total = ZERO
    for term in range(20_000):
        total = total + symbol(f"s{term}")
    assert max(len(node.args) for node in topological_order(total)) <= graph.LONGEST_CHAIN
    assert evaluate(total, dict.fromkeys(free_symbols(total), 1)) == 20_000


# -- passes ----------------------------------------------------------------------------------------


def test_bound_counters_are_not_free():
    i = counter("i")
    total = summation(i, n, apply("max", i, m))
    assert free_symbols(total) == {n, m}
    assert free_symbols(total + i) == {n, m, i}
    assert free_symbols(total.args[2]) == {i, m}


def test_a_counter_may_be_free_in_one_place_and_bound_in_another():
    i, j = counter("i"), counter("j")
    open_sum = intern_node("sum", (i, n, apply("max", i, m)), None, 0)
    assert free_symbols(open_sum) == {n, m}
    assert free_symbols(open_sum + i) == {n, m, i}
    assert free_symbols(i * open_sum + power(j, 2)) == {n, m, i, j}
    inner = intern_node("sum", (i, n, apply("max", i, j)), None, 0)
    outer = intern_node("sum", (j, m, inner * apply("ceil", i / 2)), None, 0)
    assert free_symbols(inner) == {n, j}
    assert free_symbols(outer) == {n, m, i}
    assert free_symbols(intern_node("sum", (i, i + 1, apply("max", i, m)), None, 0)) == {m, i}  # the count is outside


def test_substitution_is_simultaneous():
    assert substitute([n / m, n], {n: m, m: n}) == [m / n, m]


def test_substitution_folds():
    assert substitute([apply("max", n * 4, m)], {n: number(2), m: number(3)}) == [number(8)]
    i = counter("i")
    assert substitute([summation(i, n, apply("max", i, m))], {n: ZERO}) == [ZERO]


def test_substitution_tells_of_what_it_rebuilds():
    carried = {}
    old = (n + 1) * (m + 1)
    (new,) = substitute([old], {n: number(4)}, lambda before, after: carried.__setitem__(before, after))
    assert carried == {n + 1: number(5), old: new}


@given(expressions())
def test_substitution_looks_only_at_what_a_call_binds(expr):
    """The expression is that of all nodes rebuilt, and a node is closed where no argument of a call is in it."""
    argument = symbol("x", "kernel")
    (body,) = substitute([expr], {symbol("x"): argument})
    for bindings in ({argument: number(7)}, {argument: symbol("y")}, {argument: counter("i")}):
        found = bindings.get
        assert substitute([body], bindings) == graph.rewrite([body], lambda node, args, found=found: found(node))
    for node in graph.topological_order(body):
        assert bool(node.traits & CLOSED) is (argument not in graph.topological_order(node))


def test_what_loops_and_calls_bind_is_not_closed():
    assert [bool(one.traits & CLOSED) for one in (symbol("n"), symbol("n", "machine"), number(2), TRUE)] == [True] * 4
    assert [bool(one.traits & CLOSED) for one in (symbol("n", "main"), counter("i"), counter("i", "main"))] == [
        False
    ] * 3
    (node,) = substitute([symbol("n") * counter("i")], {symbol("n"): number(3)})
    assert not node.traits & CLOSED


@given(expressions())
def test_substituting_a_name_and_back_changes_nothing(expr):
    fresh = {symbol_: symbol(name, "elsewhere") for name, symbol_ in SYMBOLS.items()}
    (there,) = substitute([expr], fresh)
    (back,) = substitute([there], {value: key for key, value in fresh.items()})
    assert free_symbols(there).isdisjoint(SYMBOLS.values())
    assert back is expr


def test_failures_of_the_same_words_are_told_apart():
    first, second = ["same"], ["same"]
    assert failure(first) is not failure(second)
    assert failure(first) is failure(first)


def test_a_law_on_what_may_fail_stays():
    """|1/n| is not negative, but where n is 0 it is nothing, and a block with so many instances has no value."""
    subject = apply("abs", div(1, n))
    assert checked("amount", subject) is subject  # its own value fails by itself
    watched = checked("amount", m, subject)
    assert watched is not m
    assert evaluate(watched, {n: 2, m: 5}) == 5
    with pytest.raises(EvaluationError, match="division by zero"):
        evaluate(watched, {n: 0, m: 5})
    assert checked("amount", m, power(n, 2)) is m


@pytest.mark.parametrize("name", ["add", "mul", "max", "min"])
def test_the_longest_chain_that_is_continued(name):
    """A sum of up to 32 terms that grows by one term stays one sum; a longer one is a term of the next."""

    def joined(*operands):
        return getattr(graph, name)(*operands) if name in ("add", "mul") else graph.apply(name, *operands)

    symbols = [graph.symbol(f"x{number}") for number in range(graph.LONGEST_CHAIN + 1)]
    assert graph.LONGEST_CHAIN == 32
    for length, parts in ((2, 3), (31, 32), (32, 2)):
        chain = joined(*symbols[:length])
        assert len(chain.args) == length
        assert len(joined(chain, symbols[-1]).args) == parts
