"""A walk through a function: its statements in order, with what is known of its whole numbers and pointers.

A loop is walked once. What its variables are in a pass follows from how much they change in one: those that change by
the same amount, or by an amount that is itself counted on, are polynomials in the number of the pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.extract import evaluate as e
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.assigned import changes, ends, every, has, leaves
from aspenpy.extract.costs import Access, Arithmetic, Choice, Guard, Invocation, Item, Nest, Place, Profile, Recurrence
from aspenpy.extract.count import Counter
from aspenpy.extract.evaluate import Evaluator, Target
from aspenpy.extract.scope import NOTHING, SIZE, STEADY, UNKNOWN, Known, Names, Real, Scope, depends_on_data
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span

MOST_INLINED = 12
"""How deep calls are followed into small functions."""

LARGEST_INLINED = 400
"""Records of a function that is written in place of its calls."""


class Walker(Evaluator):
    """Walks one function of a program, and those that are small enough to stand in place of their calls."""

    def __init__(
        self, names: Names, program: r.Program, macros: Mapping[str, Expr], functions: Mapping[str, r.Function]
    ) -> None:
        super().__init__(names, program)
        self.macros = macros
        self.functions = functions
        self.function: r.Function | None = None
        self.inlined: list[str] = []
        self.returned: list[Known] = []
        self.nests: list[Nest] = []

    def macro(self, name: str) -> Expr:
        return self.macros[name]

    # -- functions ---------------------------------------------------------------------------------

    def profile(self, function: r.Function) -> Profile:
        """What a function does, with symbols for its arguments."""
        self.function = function
        formals = [self._formal(formal) for formal in function.formals]
        if function.name == "main":
            self.ignored = {formal for formal in formals if isinstance(formal, str)}
        self.out = []
        self.statement(function.body)
        return Profile(function.key, function.name, self.out, tuple(formals), function.comment, function.span)

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
            volume = None
            if type.kind == "array" and all(extent is not None for extent in shape):
                volume = e._volume(type, shape, word)
            name = "self" if formal.name == "this" else formal.name
            array = self.names.array(
                f"{formal.key}*", name, "formal", word.size or 8, shape, volume, type.restrict, formal.span
            )
            place = Place(array.key, ZERO)
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
                if symbol.payload[1] in (UNKNOWN, STEADY) and v.same(value, atom(symbol)):
                    self.names.unknowns[symbol] = (name, self.names.unknowns.get(symbol, ("", None))[1])

    # -- statements --------------------------------------------------------------------------------

    def statement(self, node: r.Statement | None) -> None:
        if isinstance(node, r.Block):
            self._block(node.statements)
        elif isinstance(node, r.Declaration):
            self._declared(node)
        elif isinstance(node, r.Evaluation):
            self.value(node.value)
        elif isinstance(node, r.Loop):
            self._loop(node)
        elif isinstance(node, r.Branch):
            self._branch(node)
        elif isinstance(node, r.Switch):
            self._switch(node)
        elif isinstance(node, r.Jump) and node.kind == "goto":
            self.uncounted("not-counted", "a jump by `goto`: loops made with it are taken for one pass", node.span)
        elif isinstance(node, r.Jump) and node.value is not None:
            self._returned(node)
        elif isinstance(node, r.Unread):
            self.uncounted("not-counted", f"{node.what} is not counted", node.span)

    def _returned(self, node: r.Jump) -> None:
        """What a function gives back: a place, where it returns a reference."""
        assert node.value is not None
        if self.inlined and self.functions[self.inlined[-1]].by_reference:
            there = self.target(node.value)
            self.returned[-1] = there.place if there is not None else None
            return
        found = self.value(node.value)
        if self.returned and node.kind == "return":
            self.returned[-1] = found

    def hole(self, what: str, meaning: str, value: Value, span: Span | None, low: int | None = None) -> Value:
        """A parameter for something unknown in this function."""
        function = self.function.name if self.function else "program"
        return self.names.hole(f"{function}_{what}", meaning, value, span, low)

    def _block(self, statements: tuple[r.Statement, ...]) -> None:
        for place, node in enumerate(statements):
            rest = statements[place + 1 :]
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
        value = self.value(node.value)
        self.named(value, variable)
        if variable.type.kind == "real" and not isinstance(value, Real):
            value = NOTHING
        if variable.type.kind == "record" and isinstance(node.value, r.Several):
            return
        if variable.type.kind == "record":
            return
        self.scope.values[variable.key] = value

    # -- branches ----------------------------------------------------------------------------------

    def _branch(self, node: r.Branch) -> None:
        guards, complete, negated = self.condition(node.condition)
        if complete and (decided := self._decided(guards)) is not None:
            self.statement(node.then if decided != negated else node.otherwise)
            return
        jump = ends(node.then)
        share: Value | None = None
        if not complete:
            share = self._share(node, jump)
        then, otherwise = (node.otherwise, node.then) if negated else (node.then, node.otherwise)
        before = self.scope
        first, self.scope = self._side(then, before)
        second, after = self._side(otherwise, before)
        ended = [ends(then) is not None, ends(otherwise) is not None]
        if ended[0] and not ended[1]:
            self.scope = after
        elif not ended[1]:
            self.scope.merge(after)
        if first or second:
            self.out.append(Choice(guards, share, first, second, node.span))

    def _decided(self, guards: tuple[Guard, ...]) -> bool | None:
        """Whether conditions always hold in the loops under way, or never."""
        known = [self._always(guard) for guard in guards]
        return True if all(known) else False if False in known else None

    def _always(self, guard: Guard) -> bool | None:
        if guard.operator == "==":
            difference = v.number(guard.value)
            return None if difference is None else difference == 0
        counter = Counter()
        if counter.certain(guard.value, self.nests, ()):
            return True
        return False if counter.certain(v.minus(-guard.value, ONE), self.nests, ()) else None

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
        text = self.text(node.condition)
        return self.hole("branch", f"how often `{text}` holds, from 0 to 1", constant(Fraction(1, 2)), node.span, 0)

    @staticmethod
    def _costs(node: r.Statement | None) -> bool:
        """Whether a statement can cost anything."""
        kinds = (r.Operation, r.Assignment, r.Call, r.Element, r.Loop)
        return node is not None and has(node, lambda part: isinstance(part, kinds))

    def _switch(self, node: r.Switch) -> None:
        self.value(node.subject)
        before = self.scope
        sides = [self._side(case, before) for case in node.cases]
        count = len(sides) + (not node.exhaustive)
        for place, (items, scope) in enumerate(sides):
            if items:
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

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, node: r.Loop) -> None:
        if node.start is not None:
            self.statement(node.start)
        inside = [part for part in (node.condition, node.step, node.body) if part is not None]
        changed = changes(inside)
        variable = self._variable_of(node)
        counter = self.names.counter(variable or "pass")
        before = self.scope
        entry = {name: before.values.get(name) for name in changed.variables}
        steps = self._steps(node, counter, changed.variables, changed.counted, before)
        self._enter(changed, counter, entry, steps, before)
        head = self.scope.copy()
        self.loops.append((counter, changed))
        self.out, held = [], self.out
        bounds = self._bounds(node, counter, variable)
        tested, self.out = self.out, held
        share = None
        if leaves(node.body) and node.condition is not None and not (len(bounds) == 1 and self._is_hole(bounds[0])):
            text = self.text_of_loop(node)
            share = self.hole(
                f"{variable or 'loop'}_share",
                f"the part of its passes that {text} makes, which may be left early: all at most",
                ONE,
                node.span,
                0,
            )
        nest = Nest(counter, bounds, [], share, variable, node.pragmas, node.comment, (), node.span)
        self.out, held = [*tested], self.out
        self.nests.append(nest)
        self.statement(node.body)
        if node.step is not None:
            self.value(node.step)
        self.nests.pop()
        body, self.out = self.out, held
        nest = nest.replace(body=body, recurrences=self._recurrences(head, changed.variables, counter, body))
        self.out += [] if not body else [nest]
        self.loops.pop()
        self._leave(changed, counter, entry, steps, bounds, share)

    def text_of_loop(self, node: r.Loop) -> str:
        return f"`{' '.join(node.span.text().split())[:60]}`" if node.span is not None else "the loop"

    def _is_hole(self, bound: Value) -> bool:
        return any(symbol in self.names.holes for symbol in v.symbols(bound))

    def _variable_of(self, node: r.Loop) -> str:
        """The name of the variable that a loop counts."""
        step = node.step
        while isinstance(step, r.Several) and step.parts:
            step = step.parts[0]
        if isinstance(step, r.Assignment):
            return self._name(step.target)
        condition = node.condition
        if isinstance(condition, r.Operation) and condition.operands:
            name = self._name(condition.operands[0])
            return "" if name == "memory" else name
        return ""

    def _steps(
        self, node: r.Loop, counter: Expr, assigned: frozenset[str], counted: frozenset[str], before: Scope
    ) -> dict[str, Value]:
        """By how much variables change in each pass, as polynomials in the pass: found by a walk whose costs are
        dropped."""
        names = [name for name in sorted(counted) if not isinstance(before.values.get(name), Real)]
        if not names:
            return {}
        simple = self._simple_steps(node, names, assigned)
        if simple is not None:
            return simple
        heads = {name: atom(self.names.head(name)) for name in names}
        trial = self._trial(node, assigned, heads, before)
        steps: dict[str, Value] = {}
        offset = {name: v.symbols(head).pop() for name, head in heads.items()}
        for _ in names:
            for name in names:
                after = trial.get(name)
                if name in steps or after is None or isinstance(after, Place | Real):
                    continue
                try:
                    step = v.minus(after, heads[name])
                except TooLong:
                    continue
                left = {other for other, symbol in offset.items() if v.depends(step, symbol)}
                if left <= steps.keys():
                    given = {
                        offset[other]: self._counted(before.values.get(other), steps[other], counter) for other in left
                    }
                    if all(value is not None for value in given.values()):
                        steps[name] = v.replaced(step, given)  # type: ignore[arg-type]
        return {name: step for name, step in steps.items() if not depends_on_data(step)}

    def _simple_steps(self, node: r.Loop, names: list[str], assigned: frozenset[str]) -> dict[str, Value] | None:
        """Where all that is counted on is counted in the head of the loop by whole numbers, no walk is needed."""
        within = [part for part in every(node.body) if isinstance(part, r.Assignment)]
        if any(
            isinstance(part.target, r.Variable) and part.target.key in names and not _is_local_sum(part, node)
            for part in within
        ):
            return None
        steps: dict[str, Value] = {}
        waiting: list[Any] = [node.step]
        while waiting:
            part = waiting.pop()
            if isinstance(part, r.Several):
                waiting += part.parts
            elif isinstance(part, r.Assignment) and isinstance(part.target, r.Variable) and part.target.key in names:
                target = part.target
                if target.type.kind != "integer" or part.operator not in ("+", "-") or target.key in steps:
                    return None
                amount = self._quietly(part.value)
                if has(part.value, lambda inner: isinstance(inner, r.Variable) and inner.key in assigned):
                    return None
                steps[target.key] = amount if part.operator == "+" else -amount
        return steps

    def _trial(
        self, node: r.Loop, assigned: frozenset[str], heads: dict[str, Value], before: Scope
    ) -> dict[str, Known]:
        """Walks a pass without costs, holes or warnings."""
        holes, taken, arrays = dict(self.names.holes), set(self.names.taken), dict(self.names.arrays)
        diagnostics, out = list(self.names.diagnostics), self.out
        self.scope = before.copy()
        self.scope.forget()
        places = {name: before.values.get(name) for name in heads}
        for name in assigned:
            self.scope.values.pop(name, None)
        for name, head in heads.items():
            place = places[name]
            self.scope.values[name] = Place(place.array, head) if isinstance(place, Place) else head
        self.out = []
        self.loops.append((self.names.counter("trial"), changes([node.body])))
        if node.condition is not None:
            self.value(node.condition)
        self.statement(node.body)
        if node.step is not None:
            self.value(node.step)
        self.loops.pop()
        after: dict[str, Known] = {}
        for name in heads:
            found, place = self.scope.values.get(name), places[name]
            is_place = isinstance(found, Place) and isinstance(place, Place) and found.array == place.array
            after[name] = found.offset if is_place and isinstance(found, Place) else found
        self.names.holes, self.names.taken, self.names.arrays = holes, taken, arrays
        self.names.diagnostics, self.out, self.scope = diagnostics, out, before
        return after

    @staticmethod
    def _counted(start: Known, step: Value, counter: Expr) -> Value | None:
        """The value in a pass of what begins at a value and changes by a step each time."""
        base = start.offset if isinstance(start, Place) else start
        if base is None or isinstance(base, Real):
            return None
        try:
            grown = v.summed(step, counter, ZERO, atom(counter))
            return None if grown is None else v.plus(base, grown)
        except TooLong:
            return None

    def _enter(
        self, changed: Any, counter: Expr, entry: dict[str, Known], steps: dict[str, Value], before: Scope
    ) -> None:
        """What is known at the begin of a pass."""
        self.scope = before.copy()
        for name in changed.variables:
            start = entry[name]
            if name in steps and (grown := self._counted(start, steps[name], counter)) is not None:
                self.scope.values[name] = Place(start.array, grown) if isinstance(start, Place) else grown
            elif isinstance(start, Real):
                self.scope.values[name] = Real({("variable", name): ()})
            elif isinstance(start, Place):
                self.scope.values[name] = Place(start.array, None)
            else:
                self.scope.values.pop(name, None)
        stored, unknown_calls = set(changed.stored), False
        for call in changed.calls - e.KNOWN:
            inside = self.effects.get(call)
            stored |= inside or set()
            others = {name[5:] for name in inside or () if name.startswith("call ")}
            unknown_calls = unknown_calls or inside is None or not others <= e.KNOWN
        kept: dict[Any, Known] = {}
        for place, value in self.scope.memory.items():
            if isinstance(value, Real):
                continue
            array = self.names.arrays.get(place[0], None)
            touched = "*" in stored or any(name in self._called(value) for name in stored)
            if array is not None:
                touched = touched or array.name in stored or array.key.rsplit("->", 1)[-1] in stored
            if not unknown_calls and not touched:
                kept[place] = value
        self.scope.memory = kept

    def _called(self, value: Known) -> str:
        if isinstance(value, Place):
            return self.names.arrays[value.array].name
        if value is None or isinstance(value, Real):
            return ""
        return " ".join(self.names.unknowns.get(symbol, ("", None))[0] for symbol in v.symbols(value))

    def _leave(
        self,
        changed: Any,
        counter: Expr,
        entry: dict[str, Known],
        steps: dict[str, Value],
        bounds: tuple[Value, ...],
        share: Value | None,
    ) -> None:
        """What is known behind a loop."""
        after = self.scope
        passes = bounds[0] if len(bounds) == 1 else v.extreme("min", bounds)
        for name in changed.variables:
            start = entry[name]
            found: Known = None
            if name in steps and share is None:
                grown = self._counted(start, steps[name], counter)
                if grown is not None:
                    try:
                        end = v.replaced(grown, {counter: passes})
                    except TooLong:
                        end = None
                    found = Place(start.array, end) if isinstance(start, Place) else end
            if found is None and isinstance(start, Real):
                found = NOTHING
            if found is None:
                after.values.pop(name, None)
            else:
                after.values[name] = found
        for name, value in list(after.values.items()):
            inside = value.offset if isinstance(value, Place) else value
            if inside is not None and not isinstance(inside, Real) and v.depends(inside, counter):
                after.values.pop(name)
            elif isinstance(value, Real):
                after.values[name] = NOTHING
        after.memory = {
            place: value
            for place, value in after.memory.items()
            if not isinstance(value, Real) and not self._varies(place, value, counter)
        }

    def _varies(self, place: Any, value: Known, counter: Expr) -> bool:
        offset = self.scope.offsets.get(place)
        inside = value.offset if isinstance(value, Place) else value
        return (offset is not None and v.depends(offset, counter)) or (
            inside is not None and not isinstance(inside, Real) and v.depends(inside, counter)
        )

    # -- trips -------------------------------------------------------------------------------------

    def _bounds(self, node: r.Loop, counter: Expr, variable: str) -> tuple[Value, ...]:
        """How many passes a loop makes: the smallest of these; a parameter where the source does not say."""
        found: list[Value] = []
        if node.condition is not None:
            for part in _conjuncts(node.condition):
                try:
                    found += self._bound(part, counter)
                except TooLong:
                    continue
        known = [bound for bound in found if not depends_on_data(bound)]
        if known:
            if not node.tested_first:
                known = [v.plus(bound, ONE) for bound in known]
            return tuple(known)
        text = self.text_of_loop(node)
        passes = self.hole(
            f"{variable or 'loop'}_passes", f"passes of {text}, which depend on the program's data", ONE, node.span, 0
        )
        return (passes,)

    def _bound(self, node: r.Expression, counter: Expr) -> list[Value]:
        """The passes before one part of a condition fails for the first time."""
        if not isinstance(node, r.Operation) or node.operator not in e.COMPARISONS:
            self.value(node)
            return []
        types = {part.type.kind for part in node.operands}
        sides = [self.value(part) for part in node.operands]
        if types <= {"integer"}:
            self.out.append(Arithmetic("integer", "", 1, node.span))
        elif "real" in types:
            self._arithmetic(
                "compare", next(part.type for part in node.operands if part.type.kind == "real"), node.span
            )
        places = [side.offset if isinstance(side, Place) else side for side in sides]
        if (
            any(isinstance(side, Place) for side in sides)
            and len({side.array for side in sides if isinstance(side, Place)}) != 1
        ):
            return []
        left, right = places
        if left is None or right is None or isinstance(left, Real | Place) or isinstance(right, Real | Place):
            return []
        return _first_failure(node.operator, left, right, counter)

    # -- chains ------------------------------------------------------------------------------------

    def _recurrences(
        self, head: Scope, assigned: frozenset[str], counter: Expr, body: list[Item]
    ) -> tuple[Recurrence, ...]:
        """Chains of operations from one pass of an innermost loop to the next."""
        if any(isinstance(item, Nest | Invocation) for item in body):
            return ()
        found: list[Recurrence] = []
        for name in sorted(assigned):
            value = self.scope.values.get(name)
            if isinstance(value, Real) and value.paths.get(("variable", name)):
                found.append(
                    Recurrence(value.paths["variable", name], name.rsplit("@", 2)[-2] if "@" in name else name)
                )
        for place, value in self.scope.memory.items():
            offset = self.scope.offsets.get(place)
            if not isinstance(value, Real) or offset is None:
                continue
            for source, path in value.paths.items():
                if (
                    isinstance(source, tuple)
                    and source[0] == "load"
                    and path
                    and isinstance(source[1], tuple)
                    and source[1][0] == place[0]
                ):
                    other = self.scope.offsets.get(source[1])
                    if other is not None and v.same(v.replaced(other, {counter: v.plus(atom(counter), ONE)}), offset):
                        found.append(Recurrence(path, self.names.arrays[place[0]].name))
        return tuple(found)

    # -- calls -------------------------------------------------------------------------------------

    def call(self, node: r.Call) -> Known:
        function = self.functions.get(node.key)
        if function is not None:
            return self._entered(node, function)
        if node.name in e.ALLOCATIONS:
            return self._allocated(node)
        return self._library(node)

    def _library(self, node: r.Call) -> Known:
        """A function whose text is not at hand."""
        if node.name in ("size", "length") and len(node.arguments) == 1:
            return self._held(node)
        if (
            node.name in e.EXTREMES
            and len(node.arguments) == 2
            and node.type.kind != "real"
            and node.arguments[0].type.kind == "integer"
        ):
            return v.extreme(e.EXTREMES[node.name], [self.whole(part) for part in node.arguments])
        if node.name in e.COPIES and len(node.arguments) == 3:
            return self._moved_whole(node)
        found = [self.value(part) for part in node.arguments]
        reals = [part for part in found if isinstance(part, Real)]
        kind = next((part.type for part in node.arguments if part.type.kind == "real"), node.type)
        if node.name in e.FREE:
            return reals[0] if reals else self._unknown(node)
        if node.name in e.SQUARE_ROOTS:
            self._arithmetic("square_root", kind, node.span)
            return Real({source: (*path, "square_root") for part in reals for source, path in part.paths.items()})
        if node.name in e.EXTREMES:
            self._arithmetic("compare", kind, node.span)
            return NOTHING
        if node.name in e.PURE:
            self._arithmetic(f"call {node.name}", kind, node.span)
            return NOTHING
        if node.name not in e.IGNORED and node.name:
            self._arithmetic(f"call {node.name}", kind, node.span)
        self.scope.forget()
        self._escaped(node)
        return self._unknown(node)

    def _moved_whole(self, node: r.Call) -> Known:
        """`memcpy` and `memset`: a loop over words of eight bytes."""
        to, source, size = node.arguments
        places = [self.value(to), self.value(source) if node.name != "memset" else None]
        counter = self.names.counter("word")
        body: list[Item] = []
        for kind, place in (("load", places[1]), ("store", places[0])):
            if isinstance(place, Place):
                offset = None if place.offset is None else v.plus(place.offset, v.scaled(atom(counter), 8))
                body.append(Access("load" if kind == "load" else "store", place.array, offset, 8, span=node.span))
        words = v.ceil_of(self.whole(size), constant(8))
        if depends_on_data(words):
            words = self.hole(f"{node.name}_words", f"words that `{self.text(node)}` moves", ONE, node.span, 0)
        self.out.append(Nest(counter, (words,), body, span=node.span))
        self.scope.forget({place.array for place in places[:1] if isinstance(place, Place)})
        return places[0]

    def _escaped(self, node: r.Call) -> None:
        """Variables whose address a function gets may be changed by it."""
        for part in node.arguments:
            if isinstance(part, r.Address) and isinstance(part.operand, r.Variable):
                self.scope.values.pop(part.operand.key, None)

    def _held(self, node: r.Call) -> Known:
        """The number of elements of a container: what the source calls it stays the same."""
        there = self.target(node.arguments[0])
        owner = self._owner(there) if there is not None else self.text(node)
        place = (f"{owner}.size", None)
        if place not in self.scope.memory:
            self.scope.memory[place] = self.unknown(f"{there.name if there else ''}_size", node.span, True)
        return self.scope.memory[place]

    def _allocated(self, node: r.Call) -> Known:
        sizes = [self.whole(part) for part in node.arguments if part.type.kind == "integer"]
        size: Value | None = None
        if node.name == "calloc" and len(sizes) == 2:
            size = v.times(sizes[0], sizes[1])
        elif sizes:
            size = sizes[-1]
        size = None if size is None or v.counters(size) or depends_on_data(size) else size
        key = f"heap@{node.span.start if node.span else id(node)}@{len(self.inlined)}"
        array = self.names.array(key, "allocated", "heap", 8, (None,), size, True, node.span)
        return Place(array.key, ZERO)

    def _entered(self, node: r.Call, function: r.Function) -> Known:
        """A small function's text stands in place of its call; another one has a kernel."""
        found = [self._argument(part, formal) for part, formal in zip(node.arguments, function.formals, strict=False)]
        if node.key in self.inlined or (self.function is not None and node.key == self.function.key):
            self._arithmetic(f"call {node.name}", node.type, node.span)
            self.uncounted("recursion", f"`{node.name}` calls itself: how often is not in the source", node.span)
            return self._unknown(node)
        if len(self.inlined) >= MOST_INLINED or not self.is_small(function, bool(self.loops)):
            values = tuple(None if isinstance(value, Real) else value for value in found)
            self.out.append(Invocation(node.key, values, node.span))
            self.scope.forget()
            self._escaped(node)
            return self._unknown(node)
        return self._inlined(node, function, found)

    def _argument(self, part: r.Expression, formal: r.Variable) -> Known:
        if formal.type.name == "&" or formal.name == "this":
            there = self.target(part) if not isinstance(part, r.Address) else None
            if there is not None and there.place is not None and there.type.kind != "pointer":
                return there.place
            if there is not None and there.place is None and formal.name != "this" and there.type.kind != "pointer":
                return self.scope.values.get(there.variable or "")
        return self.value(part)

    def _inlined(self, node: r.Call, function: r.Function, arguments: list[Known]) -> Known:
        this = self.this
        for formal, value in zip(function.formals, arguments, strict=False):
            self.shapes[formal.key] = self.extents(formal.type)
            if formal.name == "this":
                self.this = value
            elif value is None:
                self.scope.values.pop(formal.key, None)
            else:
                self.scope.values[formal.key] = value
        self.inlined.append(node.key)
        self.returned.append(None)
        self.statement(function.body)
        found = self.returned.pop()
        self.inlined.pop()
        self.this = this
        for formal in function.formals:
            self.scope.values.pop(formal.key, None)
        if found is None:
            return self._unknown(node)
        return found

    @staticmethod
    def is_small(function: r.Function, with_loops: bool) -> bool:
        """Whether a function's text may stand in place of a call: in a loop, with loops over a few passes."""
        for count, part in enumerate(every(function.body)):
            if count > LARGEST_INLINED or (isinstance(part, r.Loop) and not (with_loops and _is_short(part))):
                return False
        return True


def _is_short(loop: r.Loop) -> bool:
    """Whether a loop counts up to a number that the source says."""
    condition = loop.condition
    return isinstance(condition, r.Operation) and any(
        isinstance(part, r.Constant) and part.macro is None for part in condition.operands
    )


def _is_local_sum(part: r.Assignment, node: r.Loop) -> bool:
    """Whether an assignment changes a floating-point value, which no subscript can depend on."""
    return part.target.type.kind == "real"


def _conjuncts(node: r.Expression) -> list[r.Expression]:
    if isinstance(node, r.Operation) and node.operator == "&&":
        return [part for operand in node.operands for part in _conjuncts(operand)]
    return [node]


def _first_failure(operator: str, left: Value, right: Value, counter: Expr) -> list[Value]:
    """The first pass in which `left operator right` fails, where the two are linear in the pass; it is taken not to lie
    before the first."""
    distance = v.minus(right, left) if operator in ("<", "<=", "!=") else v.minus(left, right)
    straight = v.line(distance, counter)
    if straight is None or operator == "==":
        return []
    start, step = straight[0], -straight[1]
    if operator == "!=" and v.sign_for_large(step) == -1:
        start, step = -start, -step
    if v.sign_for_large(step) != 1 or not v.is_one_signed(step):
        return []
    if operator in ("<=", ">="):
        start = v.plus(start, ONE)
    return [v.ceil_of(part, step) for part in _apart(start)]


def _apart(value: Value) -> list[Value]:
    """The values of which one is the smallest: `min(a, b) - c` is the smaller of a - c and b - c, `c - max(a, b)`
    too."""
    for monomial, coefficient in value.terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1 and abs(coefficient) == 1:
            base = monomial[0][0]
            if base.kind == "apply" and base.payload == ("min" if coefficient > 0 else "max"):
                rest = v.minus(value, v.scaled(atom(base), coefficient))
                sides = [v.scaled(v.of_expression(side), coefficient) for side in base.args]
                return [part for side in sides for part in _apart(v.plus(rest, side))]
    return [value]


__all__ = ["Guard", "Target", "Walker"]
