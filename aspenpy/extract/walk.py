"""A walk through a function: its statements in order, with what is known of its whole numbers and pointers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.conditions import guess, is_failure, plain
from aspenpy.extract.contexts import Context, renamed
from aspenpy.extract.costs import Access, Arithmetic, Choice, Guard, Invocation, Item, Nest, Place, Profile
from aspenpy.extract.effects import ends, every, has
from aspenpy.extract.library_functions import IGNORED
from aspenpy.extract.loops import Leaving, Loops
from aspenpy.extract.naming import where
from aspenpy.extract.places import volume
from aspenpy.extract.scope import NOTHING, SIZE, STEADY, UNKNOWN, Known, Names, Real, Scope, joined
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span


class Walker(Loops):
    """Walks one function of a program, and those that are small enough to stand in place of their calls."""

    def __init__(
        self, names: Names, program: r.Program, macros: Mapping[str, Expr], functions: Mapping[str, r.Function]
    ) -> None:
        super().__init__(names, program, macros, functions)
        self.notes: dict[str, Span | None] = {}  # what is taken to hold, and where

    # -- functions ---------------------------------------------------------------------------------

    def profile(self, function: r.Function, context: Context | None = None) -> Profile:
        """What a function does, with symbols for those of its arguments that no context says."""
        self.function = function
        formals = [self._formal(formal) for formal in function.formals]
        self.own = tuple(formals)
        self.addressed = self._addressed(function)
        if context is not None:
            self._given(function, context)
        if function.name == "main":
            self.ignored = {formal for formal in formals if isinstance(formal, str)}
        self.out = []
        self.statement(function.body)
        notes = tuple(f"{told}: else the program ends ({where(span)})" for told, span in self.notes.items())
        return Profile(function.key, function.name, self.out, tuple(formals), function.comment, function.span, notes)

    def _addressed(self, function: r.Function) -> set[str]:
        """The structures of a function that it hands on to functions with kernels of their own."""
        found: set[str] = set()
        for node in every(function.body):
            called = self.functions.get(node.key) if isinstance(node, r.Call) else None
            if called is None or called.in_place or self.is_small(called, False):
                continue
            for part in node.arguments:
                inner = part.operand if isinstance(part, r.Address) else part
                if isinstance(inner, r.Variable) and inner.type.kind == "record" and inner.scope == "local":
                    found.add(inner.key)
        return found

    def _given(self, function: r.Function, context: Context) -> None:
        """What is known where the function is called."""
        for formal, own, value in zip(function.formals, self.own, context.values, strict=False):
            if isinstance(value, Real) and formal.type.kind == "real":
                self.scope.values[formal.key] = value
            if isinstance(own, Expr) and value is not None and not isinstance(value, Place | Real):
                self.given[own] = value
            is_whole = isinstance(value, Place) and value.offset is not None and not value.offset.terms
            if isinstance(value, Place) and isinstance(own, str) and is_whole and _is_object(formal.type):
                self.inherited.setdefault(value.array, own)
        pointed = {
            place: value.replace(array=self._inherited(function, value.array))
            for place, value in context.memory.items()
            if isinstance(value, Place)
        }
        for place, value in context.memory.items():
            given = pointed.get(place, value)
            key = (renamed(place[0], self.inherited), place[1])
            for known in (self.names.called, self.names.fields):
                if place in known:
                    known[key] = known[place]
            self.scope.memory[place] = self.scope.memory[key] = given
            if place in context.offsets:
                self.scope.offsets[place] = self.scope.offsets[key] = context.offsets[place]

    def _inherited(self, function: r.Function, key: str) -> str:
        """The array that a pointer in a structure points at: which it is a compiler does not know in the function."""
        array, own = self.names.arrays[key], f"{function.key}->{key}"
        if key not in self.inherited:
            self.names.array(own, array.name, "formal", array.word, array.extents, None, False)
            self.inherited[key] = own
        return self.inherited[key]

    def _formal(self, formal: r.Variable) -> Expr | str | None:
        """The symbol or array of an argument."""
        type = formal.type
        if type.kind == "integer":
            symbol = graph.symbol(formal.name, f"{SIZE} {formal.key}")
            self.scope.values[formal.key] = atom(symbol)
            return symbol
        if type.kind in ("pointer", "array"):
            shape = self.shapes[formal.key] = self.extents(type)
            of = type.of or type
            word = self.word(of)
            if type.kind == "pointer":
                shape = (None, *shape)
            size = None
            if type.kind == "array" and all(extent is not None for extent in shape):
                size = volume(type, shape, word)
            name = "self" if formal.name == "this" else formal.name
            array = self.names.array(
                f"{formal.key}*", name, "formal", word.size or 8, shape, size, type.restrict, formal.span
            )
            place = Place(array.key, ZERO, type.name == "&")
            if formal.name == "this":
                self.this = place
            self.scope.values[formal.key] = place
            return array.key
        if type.kind == "real":
            self.scope.values[formal.key] = NOTHING
        return None

    def named(self, value: Known, target: r.Expression) -> None:
        """An unknown value, or memory that was allocated, is called as the first variable that it is assigned to."""
        name = self._name(target)
        if isinstance(value, Place):
            array = self.names.arrays[value.array]
            if array.name.startswith("allocated") and name:
                self.names.arrays[value.array] = array.replace(name=self.names.unique(name))
        elif value is not None and not isinstance(value, Real) and len(value) == 1:
            for symbol in v.symbols(value):
                known, span = self.names.unknowns.get(symbol, ("", None))
                is_named = re.fullmatch(r"[A-Za-z_][\w.>-]*", known) is not None
                if symbol.payload[1] in (UNKNOWN, STEADY) and v.same(value, atom(symbol)) and not is_named:
                    self.names.unknowns[symbol] = (name, span)

    # -- statements --------------------------------------------------------------------------------

    def statement(self, node: r.Statement | None) -> None:
        if isinstance(node, r.Block):
            self._block(node.statements)
        elif isinstance(node, r.Declaration):
            self._declared(node)
        elif isinstance(node, r.Evaluation):
            self.value(node.value)
        elif isinstance(node, r.Loop):
            self.loop(node)
        elif isinstance(node, r.Branch):
            self._branch(node)
        elif isinstance(node, r.Switch):
            self._switch(node)
        elif isinstance(node, r.Jump):
            self._jumped(node)
        elif isinstance(node, r.Unread):
            self.uncounted("not-counted", f"{node.what} is not counted", node.span)

    def _jumped(self, node: r.Jump) -> None:
        if node.kind != "continue":
            self.left(node.kind)
        if node.kind == "goto":
            self.uncounted("not-counted", "a jump by `goto`: loops made with it are taken for one pass", node.span)
        elif node.value is not None:
            self._returned(node)

    def _returned(self, node: r.Jump) -> None:
        """What a function gives back: a place, where it returns a reference."""
        assert node.value is not None
        if self.inlined and self.functions[self.inlined[-1]].by_reference:
            there = self.target(node.value)
            place = there.place if there is not None else None
            if place is not None and place.offset is not None and there is not None and there.is_member():
                self.names.fields.setdefault((place.array, v.key(place.offset)), there.name)
            self.returned[-1] = place.replace(name=place.name or there.name) if place is not None and there else None
            return
        found = self.value(node.value)
        if self.returned and node.kind == "return":
            self.returned[-1] = found
            self.structure = self.parts(node.value)

    def _block(self, statements: tuple[r.Statement, ...]) -> None:
        for place, node in enumerate(statements):
            rest = statements[place + 1 :] if isinstance(node, r.Branch) else ()
            if isinstance(node, r.Branch) and rest and ends(node.then) is not None:
                other = r.Block((*([node.otherwise] if node.otherwise else []), *rest))
                self._branch(node.replace(otherwise=other))
                return
            if isinstance(node, r.Branch) and rest and ends(node.otherwise) is not None:
                self._branch(node.replace(then=r.Block((node.then, *rest))))
                return
            self.statement(node)
            if isinstance(node, r.Jump):
                return

    def _declared(self, node: r.Declaration) -> None:
        variable = node.variable
        self.shapes[variable.key] = self.extents(variable.type)
        if node.value is None:
            if variable.type.kind == "real":
                self.scope.values[variable.key] = NOTHING
            else:
                self.scope.values.pop(variable.key, None)
            return
        if variable.type.name == "&":
            value, name = self.argument(node.value, variable)
            self.aliases = {**self.aliases, variable.key: name} if name is not None else self.aliases
        else:
            value = self.value(node.value)
            self.named(value, variable)
        if variable.type.kind == "real" and not isinstance(value, Real):
            value = NOTHING
        if variable.type.kind == "record":
            self.copied(node.value, variable)
            return
        self.scope.values[variable.key] = value

    def call(self, node: r.Call) -> Known:
        """A call; one through a pointer that may mean several functions is one of each, so often."""
        targets = self.program.pointed.get(node.key, ())
        if len(targets) < 2:
            return super().call(node)
        before, left = self.scope, ONE
        sides = [self._side(r.Evaluation(node.replace(key=key), node.span), before) for key in targets]
        for place, (items, scope) in enumerate(sides):
            share, function = left, self.functions[targets[place]]
            if not any(map(_is_work, items)):
                share = constant(Fraction(1, len(targets)))
            elif place < len(targets) - 1:
                share = self._meant(node, function, len(targets))
                left = v.minus(left, share)
            self.out += [Choice((), share, items, [], function.span)] if items else []
            before.merge(scope)
        self.scope = before
        return self._unknown(node)

    def _meant(self, node: r.Call, function: r.Function, count: int) -> Value:
        """How often calls through a pointer mean a function: one parameter for all of them."""
        place = (node.key, function.key)
        known = self.names.conditions.get(place)
        if known is None or not v.symbols(known) <= self.names.holes.keys():
            told = f"the part of all `{self.text(node)}` that calls `{function.name}`"
            known = self.names.hole(f"{function.name}_part", told, constant(Fraction(1, count)), function.span, 0)
            self.names.conditions[place] = known
        return known

    # -- branches ----------------------------------------------------------------------------------

    def _branch(self, node: r.Branch) -> None:
        guards, complete, negated = self.condition(node.condition)
        if complete and (decided := self.decided(guards)) is not None:
            self.statement(node.then if decided != negated else node.otherwise)
            return
        jump = ends(node.then)
        share: Value | None = None
        failure = [is_failure(side, self.ending) for side in (node.then, node.otherwise)]
        if failure[0] != failure[1]:
            told = f"`{self.text(node.condition)}` is taken {'never' if failure[0] else 'always'} to hold"
            self.notes |= {} if self.trials else {told: node.span}
            self.statement(node.otherwise if failure[0] else node.then)
            return
        if not complete:
            share = self._share(node, jump)
        then, otherwise = (node.otherwise, node.then) if negated else (node.then, node.otherwise)
        before = self.scope
        with self._doubted(share is not None or not complete):
            first, one = self._side(then, before)
            second, two = self._side(otherwise, before)
        self.scope = one if ends(otherwise) is not None and ends(then) is None else two
        if ends(then) is None and ends(otherwise) is None:
            one.merge(two, lambda left, right: _either(guards if share is None else (), left, right))
            self.scope = one
        if first or second:
            self.out.append(Choice(guards, share, first, second, node.span))

    def _selection(self, node: r.Selection) -> Known:
        """`?:`: a branch where a side divides, takes a root or calls. Compilers compute other sides both, and so they
        count."""
        extreme = self._extreme(node)
        if extreme is not None:
            return extreme
        self.value(node.condition)
        (first, chosen), (second, otherwise) = (self._part(part) for part in (node.chosen, node.otherwise))
        if any(map(_is_slow, (*first, *second))):
            sides = r.Evaluation(node.chosen, node.span), r.Evaluation(node.otherwise, node.span)
            share = self._selected(r.Branch(node.condition, sides[0], sides[1], node.span))
            self.out.append(Choice((), share, first, second))
        else:
            self.out += [*first, *second]
        if node.type.kind == "real":
            return joined([part for part in (chosen, otherwise) if isinstance(part, Real)])
        return self._unknown(node)

    def _part(self, node: r.Expression) -> tuple[list[Item], Known]:
        held, self.out = self.out, []
        value = self.value(node)
        found, self.out = self.out, held
        return found, value

    def _selected(self, node: r.Branch) -> Value | None:
        """The share of a `?:`, which runs do not count: that is by lines."""
        return constant(guess(node).limit_denominator(100)) if self.names.counts_each else self._share(node, None)

    @contextmanager
    def _doubted(self, is_on_data: bool) -> Iterator[None]:
        """Within a condition, which is on data or not."""
        place = self.leaving[-1] if self.leaving else Leaving()
        place.doubts, place.guards = place.doubts + is_on_data, place.guards + (not is_on_data)
        yield
        place.doubts, place.guards = place.doubts - is_on_data, place.guards - (not is_on_data)

    def _side(self, node: r.Statement | None, before: Scope) -> tuple[list[Item], Scope]:
        held, self.out, self.scope = self.out, [], before.copy()
        self.statement(node)
        found, self.out = self.out, held
        return found, self.scope

    def _share(self, node: r.Branch, jump: str | None) -> Value | None:
        """How often a condition on data holds: a parameter, where that matters."""
        if not self._costs(node.then) and not self._costs(node.otherwise):
            return None
        if jump in ("break", "return", "goto") and not self._costs(node.then):
            return ZERO
        if not _computes(node.then) and not _computes(node.otherwise):
            return constant(guess(node).limit_denominator(100))
        value = constant(guess(node).limit_denominator(100))
        if self.names.counts_each:
            text = self.text(node.condition)
            return self.hole("branch", f"how often `{text}` holds, from 0 to 1", value, node.span, 0)
        text, is_opposite = plain(node.condition)
        value = v.minus(ONE, value) if is_opposite else value
        key = (self.function.key if self.function else "", text)
        if key not in self.names.conditions or not v.symbols(self.names.conditions[key]) <= self.names.holes.keys():
            told = f"how often `{text[:60]}` holds, from 0 to 1"
            self.names.conditions[key] = self.hole("branch", told, value, node.span, 0)
        share = self.names.conditions[key]
        return v.minus(ONE, share) if is_opposite else share

    @staticmethod
    def _costs(node: r.Statement | None) -> bool:
        """Whether a statement can cost anything."""
        kinds = (r.Operation, r.Assignment, r.Call, r.Element, r.Loop)
        return node is not None and has(node, lambda part: isinstance(part, kinds))

    def _switch(self, node: r.Switch) -> None:
        self.value(node.subject)
        before = self.scope
        failing = [is_failure(case, self.ending) for case in node.cases]
        sides = [
            ([], before.copy()) if fails else self._side(case, before)
            for case, fails in zip(node.cases, failing, strict=True)
        ]
        count = len(sides) - sum(failing) + (not node.exhaustive)
        is_computed = any(_is_work(item) for items, _ in sides for item in items)
        for place, (items, scope) in enumerate(sides):
            if count == 1:  # all others end the program
                self.out += items
            elif items and not is_computed:
                self.out.append(Choice((), constant(Fraction(1, count)), items, [], node.span))
            elif items:
                share = self.hole(
                    "case",
                    f"how often case {place + 1} of `{self.text(node.subject)}` is taken, from 0 to 1",
                    constant(Fraction(1, count)),
                    node.span,
                    0,
                )
                self.out.append(Choice((), share, items, [], node.span))
            before.merge(scope)
        self.scope = before


def _either(guards: tuple[Guard, ...], one: Known, two: Known) -> Known:
    """The value that is one where some conditions hold, and else the other. Of what holds in a single pass of a loop
    the others are taken."""
    if isinstance(one, Place | Real) or isinstance(two, Place | Real) or two is None or not guards:
        return None
    if any(guard.operator == "==" and v.counters(guard.value) for guard in guards):
        return two
    if one is None or len(guards) > 1 or guards[0].operator == "==":
        return None
    try:
        bound, change = v.plus(guards[0].value, ONE), v.minus(one, two)
        for limit in (bound, guards[0].value):
            if v.same(change, limit) or v.same(change, -limit):
                return v.extreme("max" if v.same(change, limit) else "min", (one, two))
        holds = v.extreme("min", (ONE, v.extreme("max", (ZERO, bound))))
        return v.plus(two, v.times(change, holds))
    except TooLong:
        return None


def _is_object(type: r.Type) -> bool:
    """Whether an argument is a structure that the function gets the address of."""
    of = type.of
    return type.kind == "pointer" and of is not None and of.kind == "record"


def _is_work(item: Item) -> bool:
    """Whether what a case was walked to does more than move data and count."""
    if isinstance(item, Choice):
        return any(map(_is_work, (*item.then, *item.otherwise)))
    return not isinstance(item, Access) and not (isinstance(item, Arithmetic) and item.name == "integer")


SLOW = ("divide", "square_root")


def _is_slow(item: Item) -> bool:
    if isinstance(item, Arithmetic):
        return item.name in SLOW or item.name.startswith("call ")
    return isinstance(item, Invocation | Nest)


def _computes(node: r.Statement | None) -> bool:
    """Whether a statement computes: with loops, calls or operations of floating point."""
    return node is not None and has(node, _is_computation)


def _is_computation(part: object) -> bool:
    if isinstance(part, r.Call):
        return part.name not in IGNORED
    if isinstance(part, r.Operation):
        return part.type.kind == "real" and part.operator != "neg"
    is_update = isinstance(part, r.Assignment) and bool(part.operator) and part.type.kind == "real"
    return is_update or isinstance(part, r.Loop)
