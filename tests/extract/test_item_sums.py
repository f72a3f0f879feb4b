"""Sums over the items of a model: loops that are gone through pass by pass, shares and compiled paths by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from aspenpy.assembly.listing import Instruction
from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.compiled_counts import compare_counts
from aspenpy.extract.costs import (
    ROUND_TRIP,
    Alternative,
    Arithmetic,
    Array,
    FunctionCosts,
    Guard,
    Hole,
    Invocation,
    Item,
    Meaning,
    MemoryAccess,
    MessageStatement,
    Nest,
)
from aspenpy.extract.hole_values import Influence
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.paths import PassWeights, flops_of_path, mean_passes
from aspenpy.extract.replay import MOST_CALLS, MOST_PASSES, Replay, RunTally
from aspenpy.extract.round_trips import RoundTrips, find_launch_bounds
from aspenpy.extract.values import COUNTER, ZERO, Value
from aspenpy.language.source import Source, Span

SOURCE = Source("program.c", " " * 1000)


def at(place: int) -> Span:
    return Span(SOURCE, place, place + 1)


def number(value: int | Fraction) -> Value:
    return constant_polynomial(value)


class Trees:
    """Random items whose loops, conditions and calls depend on counters, and what each does in a run."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.made = 0

    def line(self, counters: list[Expr]) -> Value:
        value = number(self.random.randint(-1, 4))
        if counters and self.random.random() < 0.6:
            slope = self.random.choice((1, 1, -1, 2))
            value = v.add(value, v.scale(atom_polynomial(self.random.choice(counters)), slope))
        return value

    def items(self, counters: list[Expr], depth: int) -> list[Item]:
        return [self.item(counters, depth) for _ in range(self.random.randint(1, 3))]

    def item(self, counters: list[Expr], depth: int) -> Item:
        self.made += 1
        place, kind = at(self.made), self.random.random()
        if depth and kind < 0.35:
            counter = graph.symbol(f"i{self.made}", COUNTER)
            bounds = tuple(self.line(counters) for _ in range(self.random.randint(1, 2)))
            share = number(Fraction(self.random.randint(1, 3), 4)) if self.random.random() < 0.3 else None
            is_cut = self.random.random() < 0.2
            return Nest(counter, bounds, self.items([*counters, counter], depth - 1), share, span=place, is_cut=is_cut)
        if depth and kind < 0.6:
            guards = tuple(
                Guard(self.line(counters), self.random.choice(("==", ">="))) for _ in range(self.random.randint(0, 2))
            )
            share = None if guards and self.random.random() < 0.6 else number(Fraction(self.random.randint(0, 4), 4))
            sides = self.items(counters, depth - 1), self.items(counters, depth - 1)
            return Alternative(guards, share, *sides, place, negated=self.random.random() < 0.5)
        if kind < 0.7:
            return Invocation("inner", (self.line(counters), None), place)
        if kind < 0.85:
            return MemoryAccess("load", "a", ZERO, self.random.choice((4, 8)), span=place)
        return Arithmetic(self.random.choice(("add", "integer", "call exp")), "dp", self.random.randint(1, 3), place)


Given = dict[Expr, int | Fraction]


class Run:
    """What some items do, one pass after the other."""

    def __init__(self, inner: FunctionCosts) -> None:
        self.inner = inner
        self.operations: defaultdict[Span | None, float] = defaultdict(float)
        self.moved: defaultdict[Span | None, float] = defaultdict(float)
        self.entered: defaultdict[Span | None, float] = defaultdict(float)
        self.passes: defaultdict[Span | None, float] = defaultdict(float)
        self.functions: defaultdict[str, float] = defaultdict(float)

    def value(self, value: Value, given: Given) -> Fraction:
        parts = v.substitute(value, {symbol: number(given[symbol]) for symbol in v.symbols(value)})
        return Fraction(v.number(parts) or 0)

    def walk(self, items: list[Item], given: Given, times: float, around: Span | None, is_cut: bool) -> None:
        for item in items:
            if isinstance(item, Nest):
                share = 1 if item.share is None else float(self.value(item.share, given))
                passes = max(0, min(int(self.value(bound, given)) for bound in item.bounds))
                if not item.is_cut:
                    self.entered[item.span] += times
                    self.passes[item.span] += times * passes * share
                for place in range(passes):
                    self.walk(item.body, {**given, item.counter: place}, times * share, item.span, item.is_cut)
            elif isinstance(item, Alternative):
                values = [(self.value(guard.value, given), guard.operator) for guard in item.guards]
                holds = all(one == 0 if operator == "==" else one >= 0 for one, operator in values)
                if item.guards and item.share is None and not is_cut:
                    self.entered[item.span] += times
                    self.passes[item.span] += times * (holds != item.negated)
                share = holds * (1 if item.share is None else float(self.value(item.share, given)))
                for side, part in ((item.then, share), (item.otherwise, 1 - share)):
                    if part:
                        self.walk(side, given, times * part, around, is_cut)
            elif isinstance(item, Invocation):
                self.functions["inner"] += times
                formal, argument = self.inner.formals[0], item.arguments[0]
                assert isinstance(formal, Expr)
                assert isinstance(argument, Polynomial)
                inside: Given = {formal: self.value(argument, given)}
                self.walk(self.inner.items, inside, times, self.inner.span, is_cut=False)
            elif isinstance(item, MemoryAccess):
                self.moved[around] += times * item.size
            elif isinstance(item, Arithmetic):
                weight = {"add": 1, "integer": 0, "call exp": 20}[item.name]
                self.operations[around] += times * weight * item.amount


@pytest.mark.parametrize("seed", range(40))
def test_a_replay_is_a_run_pass_by_pass(seed: int) -> None:
    trees = Trees(seed)
    formal = graph.symbol("m", "size")
    counter = graph.symbol("k", COUNTER)
    body: list[Item] = [Arithmetic("add", "dp"), MemoryAccess("load", "a", ZERO, 8)]
    inner = FunctionCosts(
        "inner", "inner", [Nest(counter, (atom_polynomial(formal),), body, span=at(901))], (formal, None), span=at(900)
    )
    items = trees.items([], 4)
    outer = FunctionCosts("outer", "outer", items, (), span=at(999))
    run = Run(inner)
    run.walk(items, {}, 1.0, at(999), is_cut=False)
    replay = Replay({"outer": outer, "inner": inner}, {}, lambda value: value, {}, frozenset())
    tally = replay.run(("outer", "inner"), ("outer",))
    done = {span: (work.operations, work.moved) for span, work in tally.work.items()}
    spans = run.operations.keys() | run.moved.keys()
    ran = {span: (run.operations[span], run.moved[span]) for span in spans}
    assert done == {span: pytest.approx(pair) for span, pair in ran.items() if any(pair)}
    assert tally.entered == pytest.approx(run.entered)
    assert tally.passes == pytest.approx(run.passes)
    assert tally.functions == pytest.approx({"outer": 1, **run.functions})
    assert tally.rests["closed"].operations == pytest.approx(sum(run.operations.values()))


def replayed(items: list[Item], known: dict[Expr, float], fitted: Expr, holes: dict[Expr, Hole]) -> RunTally:
    whole = FunctionCosts("main", "main", items, (), span=at(1))
    return Replay({"main": whole}, holes, lambda value: value, known, frozenset({fitted})).run(("main",), ("main",))


def test_what_counts_rest_on() -> None:
    """Work in a loop rests on the worst of what says its passes and those of the loops around it."""
    names = ("n", "m", "q", "r")
    n, m, q, r = (graph.symbol(name, "size") for name in names)
    holes = {
        symbol: Hole(name, Meaning(name), number(7), symbol) for symbol, name in zip((n, m, q, r), names, strict=True)
    }
    holes[r] = holes[r].replace(rule="as it is")
    add, load = Arithmetic("add", "dp"), MemoryAccess("load", "a", ZERO, 8)
    counters = [graph.symbol(f"i{place}", COUNTER) for place in range(5)]

    def loop(place: int, passes: Expr, *inside: Item) -> Nest:
        return Nest(counters[place], (atom_polynomial(passes),), [add, *inside], span=at(10 + place))

    items: list[Item] = [load, loop(0, n, loop(1, m, loop(2, q)), loop(3, r)), loop(4, r, load)]
    tally = replayed(items, {n: 3, m: 5}, m, holes)
    assert {basis: (work.operations, work.moved) for basis, work in tally.rests.items()} == {
        "closed": (3 + 3 * 7 + 7, 8 + 7 * 8),
        "fitted": (3 * 5, 0),
        "assumed": (3 * 5 * 7, 0),
    }
    assert tally.passes[at(12)] == 3 * 5 * 7


def test_passes_that_differ_are_sampled_in_the_middle() -> None:
    """Of more passes than are walked, equal parts are stood for by their middles: exact for what is linear in them."""
    outer, inner = graph.symbol("i", COUNTER), graph.symbol("j", COUNTER)
    n = MOST_PASSES * 4 + 3
    body: list[Item] = [Nest(inner, (atom_polynomial(outer),), [Arithmetic("add", "dp")], span=at(3))]
    tally = replayed([Nest(outer, (number(n),), body, span=at(2))], {}, outer, {})
    assert tally.entered[at(3)] == pytest.approx(n)
    assert tally.passes[at(3)] == pytest.approx(n * (n - 1) / 2)


def test_calls_with_ever_other_arguments_stand_for_each_other() -> None:
    """Calls 1, 2, ... up to the most are kept apart; those behind them count as the last that is."""
    formal, counter = graph.symbol("m", "size"), graph.symbol("k", COUNTER)
    loop: list[Item] = [Nest(counter, (atom_polynomial(formal),), [Arithmetic("add", "dp")])]
    calls: list[Item] = [Invocation("inner", (number(place),)) for place in range(1, MOST_CALLS + 4)]
    profiles = {
        "main": FunctionCosts("main", "main", calls, ()),
        "inner": FunctionCosts("inner", "inner", loop, (formal,)),
    }
    tally = Replay(profiles, {}, lambda value: value, {}, frozenset()).run(("main", "inner"), ("main",))
    assert tally.functions == {"main": 1, "inner": MOST_CALLS + 3}
    operations = sum(work.operations for work in tally.work.values())
    assert operations == sum(range(1, MOST_CALLS + 1)) + 3 * MOST_CALLS


# -- shares of a run -------------------------------------------------------------------------------

ADD, MULTIPLY, DIVIDE = (Arithmetic(name, "dp") for name in ("add", "multiply", "divide"))
LOAD, STORE = MemoryAccess("load", "a", ZERO, 8), MemoryAccess("store", "a", ZERO, 4)


def a_pass(is_negated: bool) -> Nest:
    """A pass: an addition; a division where a condition holds, which it does in 3 of 4, else two products and a load;
    an inner loop of an addition and a store, of 5 passes in 2 entries."""
    sides: tuple[list[Item], list[Item]] = [DIVIDE], [MULTIPLY, MULTIPLY, LOAD]
    inner = Nest(graph.symbol("j", COUNTER), (number(9),), [ADD, STORE], span=at(20))
    then, otherwise = sides[::-1] if is_negated else sides
    choice = Alternative((), None, then, otherwise, at(10), negated=is_negated)
    return Nest(graph.symbol("i", COUNTER), (number(100),), [ADD, choice, inner, Arithmetic("integer")], span=at(5))


RAN = {at(10): ExecutionCount(40, (30,)), at(20): ExecutionCount(2, (5,))}


@pytest.mark.parametrize("is_negated", [False, True])
def test_flops_of_a_pass_are_a_mean(is_negated: bool) -> None:
    nest = a_pass(is_negated)
    assert flops_of_path(nest.body, PassWeights(nest, RAN)) == 1 + Fraction(3, 4) + Fraction(2, 4) + Fraction(5, 2)
    assert flops_of_path(nest.body, PassWeights(nest, {})) == 1 + Fraction(1, 2) + 1 + 9  # by halves, and the bound


def test_cases_have_shares_of_their_own() -> None:
    cases = [Alternative((), None, [ADD], [], at(10), case=case) for case in range(3)]
    ran = {at(10): ExecutionCount(40, (10, 24, 6))}
    assert [PassWeights(loop(*cases), ran).share_of(case) for case in cases] == [0.25, 0.6, 0.15]


def test_mean_passes() -> None:
    nest = Nest(graph.symbol("j", COUNTER), (number(9),), [], span=at(20))
    assert mean_passes(nest, RAN) == 2.5
    assert mean_passes(nest, {}) == 9
    assert mean_passes(nest, {at(20): ExecutionCount(0, (0,))}) == 9
    assert mean_passes(nest.replace(bounds=(number(9), number(4))), {}) is None
    assert mean_passes(nest.replace(bounds=(atom_polynomial(graph.symbol("n", "size")),)), {}) is None


def code(*mnemonics: str) -> list[Instruction]:
    """Instructions between registers, or from and to memory behind `<` and `>`."""
    found = []
    for mnemonic in mnemonics:
        name = mnemonic.strip("<>")
        operands = (
            ("(%rax)", "%xmm0") if "<" in mnemonic else ("%xmm0", "(%rax)") if ">" in mnemonic else ("%xmm1", "%xmm0")
        )
        found.append(Instruction(f"{name} {', '.join(operands)}", name, operands))
    return found


def compared(
    nest: Nest, path: list[Instruction], calls: int = 0, passes: int = 1
) -> tuple[dict[str, Fraction], dict[tuple[str, str], Fraction]]:
    found = compare_counts(nest, path, Fraction(calls), Fraction(passes), PassWeights(nest, RAN))
    beside = {(item.name, item.precision): Fraction(v.number(item.times or ZERO) or 0) for item in found.beside}
    return dict(found.factors), beside


def loop(*items: Item) -> Nest:
    return Nest(graph.symbol("i", COUNTER), (number(100),), list(items), span=at(5))


@pytest.mark.parametrize(
    ("source", "path", "passes", "factors"),
    [
        ((ADD, ADD), ("addsd", "addsd"), 1, {}),
        ((ADD, ADD), ("addsd",), 1, {"add": Fraction(1, 2)}),
        ((ADD,), ("addsd",) * 3, 1, {"add": 3}),
        ((ADD,), ("addsd",) * 4, 1, {}),  # so many more are another loop's
        ((ADD,) * 3, ("addsd",), 1, {}),  # so few, too: rounded to 0.333, below a third
        ((ADD,) * 4, ("addsd",) * 2, 1, {"add": Fraction(1, 2)}),
        ((ADD,), ("addpd",), 2, {}),  # two passes at once
        ((ADD,), ("addpd", "addpd"), 2, {"add": 2}),
        ((ADD, MULTIPLY), ("addsd", "mulsd", "mulsd"), 1, {"multiply": 2}),
        ((ADD, DIVIDE), ("addsd", "divsd", "divsd", "divsd"), 1, {"divide": 3}),
        # the two flops of a fused operation are a sum and a product; of three in all each class has its half
        ((ADD, MULTIPLY), ("vfmadd231sd",), 1, {}),
        ((ADD, MULTIPLY), ("vfmadd231sd", "addsd"), 1, {"add": Fraction(3, 2), "multiply": Fraction(3, 2)}),
        ((ADD, ADD, MULTIPLY), ("vfmadd231sd", "mulsd", "mulsd", "mulsd", "addsd"), 1, {"add": 2, "multiply": 2}),
    ],
)  # fmt: skip
def test_flops_of_compiled_passes(
    source: tuple[Item, ...], path: tuple[str, ...], passes: int, factors: dict[str, Fraction]
) -> None:
    assert compared(loop(*source), code(*path), passes=passes)[0] == factors


@pytest.mark.parametrize(
    ("source", "path", "factor"),
    [(50, 51, None), (49, 50, None), (48, 49, 1.021), (50, 49, None), (49, 48, None), (48, 47, 0.979)],
)
def test_flops_within_a_fiftieth_are_the_same(source: int, path: int, factor: float | None) -> None:
    found = compared(loop(*(ADD,) * source), code(*("addsd",) * path))[0]
    assert found == ({} if factor is None else {"add": pytest.approx(factor)})


@pytest.mark.parametrize(
    ("path", "calls", "passes", "beside"),
    [
        (("<movsd", ">movss"), 0, 1, {}),  # the source has a load of 8 bytes and a store of 4
        (("<movsd", "<movsd", ">movss"), 0, 1, {("loads beside", "8"): 1}),
        (("<movsd", ">movss", ">movss"), 0, 1, {("stores beside", "4"): 1}),
        (("<movsd", "<movss", "<movss", ">movss"), 0, 1, {("loads beside", "4"): 2}),  # 5.3 bytes each
        (("<movsd", "<movss", ">movss"), 0, 1, {("loads beside", "8"): Fraction(1, 2)}),  # 6 bytes each
        (("<movsd",) * 3 + (">movss",) * 2, 0, 2, {("loads beside", "8"): Fraction(1, 2)}),
        # the address to return to, 8 bytes on both sides
        (("<movsd", ">movss"), 1, 1, {("loads beside", "8"): 1, ("stores beside", "4"): 2}),
        ((">movss",), 0, 1, {}),  # fewer than the source has
    ],
)
def test_words_that_compiled_passes_move_beside(
    path: tuple[str, ...], calls: int, passes: int, beside: dict[tuple[str, str], Fraction]
) -> None:
    found = compared(loop(ADD, LOAD, STORE), code(*("addsd",) * passes, *path), calls, passes)
    assert found == ({}, beside)


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (("<movsd", "<movsd", ">movss"), {}),  # as many as the source, or nearly: 8 + 8 bytes, and 4
        (("<movsd", "<movss", ">movss"), {"load": Fraction(1, 2)}),  # 4 bytes fewer, which the kept 8 lack
        (("<movsd",), {"load": 0, "store": 0}),
        (("<movss",), {"load": 0, "store": 0}),  # those of other arrays stay
    ],
)
def test_arrays_of_a_function_have_the_loads_that_are_left(path: tuple[str, ...], left: dict[str, Fraction]) -> None:
    place = atom_polynomial(graph.symbol("i", COUNTER))
    other, own = LOAD.replace(offset=place), LOAD.replace(array="own", offset=place)
    store = STORE.replace(array="own", offset=place)
    nest = loop(ADD, other, own, store)
    path_code = code("addsd", *path)
    found = compare_counts(nest, path_code, Fraction(0), Fraction(1), PassWeights(nest, {}), frozenset({"own"}))
    assert found.left == {id(item): left[item.kind] for item in (own, store) if item.kind in left}
    scaled = found.scale_items([other, own])
    assert scaled[0] is other
    if "load" in left:
        assert isinstance(scaled[1], Alternative)
        assert v.number(scaled[1].share or ZERO) == left["load"]


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (("<movsd",) * 4, None),
        (("<movsd",) * 3, Fraction(1, 2)),  # 8 of the 16 bytes that a compiler may have in registers are loaded
        (("<movsd",) * 2, 0),
        (("<movsd",), 0),  # the first load of each place that moves stays
    ],
)
def test_places_that_a_pass_has_touched_are_loaded_again_by_the_source_alone(
    path: tuple[str, ...], left: Fraction | None
) -> None:
    place = atom_polynomial(graph.symbol("i", COUNTER))
    a, b = (LOAD.replace(array=name, offset=place) for name in "ab")
    again, fixed = a.replace(span=at(30)), LOAD.replace(array="c")
    nest = loop(ADD, a, b, again, fixed)
    found = compare_counts(nest, code("addsd", *path), Fraction(0), Fraction(1), PassWeights(nest, {}))
    assert found.left == ({} if left is None else {id(again): left, id(fixed): left})


def test_flops_are_scaled_wherever_they_stand() -> None:
    nest = a_pass(is_negated=False)
    found = compare_counts(loop(ADD), code("addsd", "addsd"), Fraction(0), Fraction(1), PassWeights(nest, {}))

    def times(items: list[Item]) -> Iterator[tuple[str, Fraction | None]]:
        for item in items:
            if isinstance(item, Arithmetic):
                yield item.name, None if item.times is None else v.number(item.times)
            elif isinstance(item, Alternative):
                yield from times([*item.then, *item.otherwise])
            elif isinstance(item, Nest):
                yield from times(item.body)

    scaled = found.scale_items([nest, ADD.replace(times=number(5))])
    assert [*times(scaled)] == [
        *(("add", 2), ("divide", None), ("multiply", None), ("multiply", None), ("add", 2), ("integer", None)),
        ("add", 10),
    ]


# -- what a parameter decides ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "otherwise", "beside", "decided"),
    [
        ((ADD,), (), (ADD,) * 3, 1 / 4),
        ((ADD,), (ADD,), (ADD,), 0.0),
        ((ADD,), (MULTIPLY,), (ADD,), 2 / 3),  # a sum or a product
        ((DIVIDE,), (), (ADD,) * 6, 4 / 10),  # which weighs four
        ((ADD,), (), (DIVIDE,) * 2, 1 / 9),
        ((LOAD,), (), (LOAD, STORE), 8 / 20),
        ((LOAD, ADD), (), (STORE, ADD), 8 / 12),  # the larger part, of bytes
        ((ADD, ADD, LOAD), (STORE,), (ADD, LOAD), 2 / 3),
        ((), (), (ADD,), 0.0),
        ((Invocation("inner", ()),), (), (ADD,) * 8, 2 / 10),  # two sums inside
        ((Invocation("outside", ()),), (), (Arithmetic("call"),) * 20, 1 / 2),  # some twenty operations
    ],
)
def test_the_part_of_the_work_that_a_share_decides(
    then: tuple[Item, ...], otherwise: tuple[Item, ...], beside: tuple[Item, ...], decided: float
) -> None:
    share = graph.symbol("share", "size")
    choice = Alternative((), atom_polynomial(share), list(then), list(otherwise))
    counter = graph.symbol("i", COUNTER)
    nest = Nest(counter, (number(12), number(5)), [choice, *beside])
    profiles = {
        "main": FunctionCosts("main", "main", [nest], ()),
        "inner": FunctionCosts("inner", "inner", [ADD, ADD], ()),
        "caller": FunctionCosts("caller", "caller", [Invocation("main", ()), *[ADD] * 1000], ()),
    }
    assert Influence(profiles, {}, lambda value: value).weigh(share) == pytest.approx(decided)


def test_a_share_of_passes_decides_them_and_the_rest_of_a_triangle() -> None:
    """Ten passes with an inner loop of 0 to 9: 45 sums inside, beside 15 outside."""
    share, counter, inner = graph.symbol("share", "size"), graph.symbol("i", COUNTER), graph.symbol("j", COUNTER)
    triangle = Nest(counter, (number(10),), [Nest(inner, (atom_polynomial(counter),), [ADD], atom_polynomial(share))])
    profiles = {"main": FunctionCosts("main", "main", [triangle, *[ADD] * 15], ())}
    assert Influence(profiles, {}, lambda value: value).weigh(share) == pytest.approx(45 / 60)


# -- round trips -----------------------------------------------------------------------------------

ARRAYS = {name: Array(name, name, "formal", 8) for name in "ab"} | {"own": Array("own", "own", "local", 8)}
ANYWHERE = LOAD.replace(offset=None)
BARRIER = MessageStatement(ZERO, resource="barrier")


def trips(items: list[Item], may_overlap: bool = False) -> str:
    """The items with their trips: `l` loads, `i` those whose address others bring, `s` stores, `b` barriers, `+`."""

    def write(items: list[Item]) -> str:
        text = ""
        for item in items:
            if isinstance(item, Arithmetic):
                often = "" if item.times is None else f"{v.number(item.times)}"
                text += f"|{often}" if item.name == ROUND_TRIP else "+"
            elif isinstance(item, MemoryAccess):
                text += "s" if item.kind == "store" else "i" if item.offset is None else "l"
            elif isinstance(item, Nest):
                text += f"[{write(item.body)}]"
            elif isinstance(item, Alternative):
                text += f"({write(item.then)}:{write(item.otherwise)})"
            else:
                text += "b"
        return text

    return write(RoundTrips(ARRAYS, may_overlap).add(items))


def repeat(passes: Value, *items: Item, pragmas: tuple[str, ...] = ()) -> Nest:
    return Nest(graph.symbol("i", COUNTER), (passes,), list(items), pragmas=pragmas)


N = atom_polynomial(graph.symbol("n", "size"))


@pytest.mark.parametrize(
    ("items", "apart", "overlapping"),
    [
        ([ADD], "+", "+"),
        ([LOAD, LOAD, ADD], "ll+|", "ll+|"),
        ([LOAD, ANYWHERE, LOAD], "l|il|", "l|il|"),
        ([ANYWHERE, LOAD], "il|", "il|"),
        ([ANYWHERE, ANYWHERE], "i|i|", "i|i|"),
        ([LOAD, STORE, LOAD], "lsl|", "l|sl|"),
        ([STORE, LOAD], "sl|", "sl|"),
        ([LOAD, BARRIER, LOAD, BARRIER], "l|bl|b", "l|bl|b"),
        ([BARRIER, ADD], "b+", "b+"),
        ([LOAD.replace(array="own"), ADD], "l+", "l+"),
        ([LOAD, STORE.replace(array="own"), LOAD], "lsl|", "lsl|"),
        ([LOAD, LOAD.replace(atomic="Add"), LOAD], "lll|", "l|ll|"),
        ([LOAD, MessageStatement(ZERO, resource="messages"), LOAD], "lbl|", "lbl|"),
        ([Alternative((), None, [LOAD], [ADD]), LOAD], "(l:+)l|", "(l:+)l|"),
        ([LOAD, Alternative((), None, [ADD], [ANYWHERE])], "l|(+:i)|", "l|(+:i)|"),
        ([LOAD, Alternative((), None, [ADD], [BARRIER])], "l|(+:b)", "l|(+:b)"),
        ([LOAD, repeat(number(1), LOAD)], "l|[l|]", "l|[l|]"),
        ([repeat(number(16), LOAD)], "[l|1/16]", "[l|1/16]"),
        ([repeat(number(17), LOAD)], "[l|5/17]", "[l|5/17]"),  # four at once, and the last alone
        ([repeat(N, LOAD)], "[l|1/4]", "[l|1/4]"),
        ([repeat(N, LOAD, pragmas=("unroll 8",))], "[l|1/8]", "[l|1/8]"),
        ([repeat(N, LOAD, pragmas=("unroll(2)",))], "[l|1/2]", "[l|1/2]"),
        ([repeat(N, LOAD, pragmas=("unroll 1",))], "[l|]", "[l|]"),
        ([repeat(N, LOAD, pragmas=("unroll",))], "[l|1/4]", "[l|1/4]"),
        ([repeat(number(40), LOAD, pragmas=("unroll",))], "[l|1/40]", "[l|1/40]"),
        ([repeat(number(10), LOAD, pragmas=("unroll 4",))], "[l|3/10]", "[l|3/10]"),
        ([repeat(number(8), LOAD, STORE)], "[ls|1/8]", "[l|s]"),
        ([repeat(number(8), LOAD, ANYWHERE)], "[l|i|]", "[l|i|]"),
        ([repeat(number(8), LOAD, BARRIER)], "[l|b]", "[l|b]"),
        ([repeat(N, LOAD, repeat(number(2), LOAD))], "[l|[l|1/2]]", "[l|[l|1/2]]"),
        ([Alternative((), None, [LOAD, repeat(N, LOAD)], [LOAD])], "(l|[l|1/4]:l|)", "(l|[l|1/4]:l|)"),
        ([LOAD, Alternative((), None, [repeat(N, ADD)], [])], "l|([+]:)", "l|([+]:)"),
    ],
)
def test_trips_to_memory(items: list[Item], apart: str, overlapping: str) -> None:
    assert (trips(items), trips(items, may_overlap=True)) == (apart, overlapping)


@pytest.mark.parametrize(
    ("bounds", "threads", "blocks", "registers"),
    [
        ("256, 4", 256, 4, 64),
        ("256", 256, None, 256),
        ("1024, 2, 1", 1024, 2, 32),
        ("1024, 0", 1024, 0, 64),
        ("", None, None, None),
    ],
)
def test_registers_that_launch_bounds_leave(
    bounds: str, threads: int | None, blocks: int | None, registers: int | None
) -> None:
    found = find_launch_bounds((f"launch_bounds({bounds})", "unroll 2"), ())
    assert (found.threads, found.blocks, found.registers) == (threads, blocks, registers)
