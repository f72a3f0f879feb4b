"""Loops: how often they are passed, and what is known in a pass and behind them.

A loop is walked once. What its variables are in a pass follows from how much they change in one: those that change by
the same amount, or by an amount that is itself counted on, are polynomials in the number of the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.conditions import Trips, loop_text
from aspenpy.extract.costs import Invocation, Item, Meaning, Nest, PointerTarget, Recurrence, is_slow_item
from aspenpy.extract.device_copies import MappedCopies
from aspenpy.extract.device_launches import BLOCK, GRID
from aspenpy.extract.effects import Changes, find_changes, has_exit, has_record, walk_records
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.places import source_name
from aspenpy.extract.pragmas import read_aspen_control
from aspenpy.extract.scope import (
    NOTHING,
    DataKey,
    Known,
    KnownValues,
    Real,
    depends_on_data,
    formula_of,
    is_equal,
    single_symbol,
)
from aspenpy.extract.state import Leaving, WalkState, WalkTask
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.record import Record

BY_BOUND = "all that its counted test allows; its other tests are taken to hold"
"""The rule for how much of its passes a loop makes that tests data beside a count."""

MOST_TRIALS = 2
"""Trials inside of one another: each walks the loops inside once more."""


class Pass(Record):
    """A pass of a loop: its counter, what the loop changes, what is known before it, values at its entry, their steps
    from pass to pass, and pointers that are `exchanged`."""

    counter: Expr
    changed: Changes
    before: KnownValues
    entry: Mapping[str | DataKey, Known]
    steps: Mapping[str | DataKey, Value]
    exchanged: Mapping[str | DataKey, Known]

    def grow(self, name: str | DataKey) -> Known:
        """Value at the begin of the pass, where its step is known."""
        if name in self.exchanged:
            return self.exchanged[name]
        start = self.entry[name]
        grown = _value_in_pass(start, self.steps[name], self.counter) if name in self.steps else None
        return start.replace(offset=grown) if grown is not None and isinstance(start, PointerTarget) else grown


class Loops(WalkTask):
    """Walks loops."""

    def __init__(self, state: WalkState, evaluator: Evaluator, walk_statement: Callable[[r.Statement], None]) -> None:
        super().__init__(state)
        self.evaluator, self.memory = evaluator, evaluator.memory
        self.trips = Trips(state, evaluator)
        self.copies = MappedCopies(state, evaluator)
        self.walk_statement = walk_statement

    def note_exit(self, kind: str) -> None:
        """Notes a jump out of the innermost loop; one that is no `break` may leave all loops around it too."""
        for place in self.active.exits[:-1] if kind != "break" else ():
            place.on_data = True
        if self.active.exits and (self.active.exits[-1].doubts or not self.active.exits[-1].guards):
            self.active.exits[-1].on_data = True

    def walk(self, node: r.LoopStatement) -> None:
        """Counts a loop: what each pass does, as a function of its counter, and how many passes it makes."""
        with self.copies.copy_around(node):
            self._walk(node)

    def _walk(self, node: r.LoopStatement) -> None:
        if node.start is not None:
            self.walk_statement(node.start)
        inside = [part for part in (node.condition, node.step, node.body) if part is not None]
        changed = self._resolve_aliases(find_changes(inside, self.facts.references))
        variable = self._counted_variable(node)
        counter = self.names.make_counter(variable or "pass")
        before = self.scope
        entry: dict[str | DataKey, Known] = {name: before.values.get(name) for name in changed.variables}
        members = self._changed_members(changed, before)
        entry |= {place: value for place, value in members.items() if isinstance(value, Polynomial)}
        steps = self._find_steps(node, counter, changed, entry, before)
        pointers = {name: entry[name] for name in sorted(changed.variables - steps.keys())} | members
        exchanged = self._find_exchanged(node, changed, before, pointers)
        one = Pass(counter, changed, before, entry | exchanged, steps, exchanged=exchanged)
        self._enter_pass(one)
        head = self.scope.copy()
        self.active.changes.append((counter, changed))
        with self.state.collect() as tested:
            bounds, is_all = self.trips.find_bounds(node, counter, variable)
        share = None
        early = not is_all or (has_exit(node.body) and node.condition is not None)
        if early and not (len(bounds) == 1 and self.trips.is_hole(bounds[0])):
            text = f"the part of its passes that {loop_text(node)} makes, which may be left early"
            meaning = Meaning(text, ": all at most", is_share=True)
            rule, stated = "" if has_exit(node.body) else BY_BOUND, read_aspen_control(node.pragmas, "loop")
            share = self.state.add_hole(
                f"{variable or 'loop'}_share", meaning, ONE, node.span, low=0, rule=rule, stated=stated
            )
        first, is_downward = self._first_value(node, entry, steps)
        nest = Nest(
            counter,
            bounds,
            body=[],
            share=share,
            variable=variable,
            pragmas=node.pragmas,
            comment=node.comment,
            recurrences=(),
            span=node.span,
            first=first,
            is_downward=is_downward,
        )
        self.active.nests.append(nest)
        self.active.exits.append(Leaving())
        with self.state.collect() as body:
            self.walk_statement(node.body)
            with self.state.collect() as counted:
                if node.step is not None:
                    self.evaluator.evaluate(node.step)
            if not any(pragma.startswith((GRID, BLOCK)) for pragma in node.pragmas):  # threads are there at once
                body[:] = [*tested, *body, *counted]
        is_left_on_data = self.active.exits.pop().on_data
        if is_all and not is_left_on_data:
            nest = nest.replace(share=None, is_cut=share is not None)  # what is behind its jumps has their conditions
        self.active.nests.pop()
        nest = nest.replace(body=body, recurrences=self._find_recurrences(head, changed.variables, counter, body))
        self.state.out += [] if not body else [nest]
        if node.tested_first and not has_exit(node.body) and any(map(is_slow_item, tested)):
            self.state.out.append(Nest(counter, (ONE,), tested))  # the test that fails
        self.active.changes.pop()
        self._leave_loop(one, bounds, share)
        for start in walk_records(node.start) if node.start is not None else ():
            if isinstance(start, r.Declaration):
                self.scope.values.pop(start.variable.key, None)  # nothing behind the loop can name it

    def _changed_members(self, changed: Changes, before: KnownValues) -> dict[str | DataKey, Known]:
        """Whole numbers and pointers in members of structures that a loop may change, by place."""
        self.state.scope = before.copy()
        self.memory.forget_changed(changed.stored, changed.calls)
        kept, self.state.scope = self.scope.memory, before
        found: dict[str | DataKey, Known] = {}
        for place, value in before.memory.items():
            if place not in kept and isinstance(value, Polynomial | PointerTarget) and place in self.names.fields:
                found[place] = value
        return found

    def _find_exchanged(
        self, node: r.LoopStatement, changed: Changes, before: KnownValues, values: Mapping[str | DataKey, Known]
    ) -> dict[str | DataKey, Known]:
        """Pointers among some values that a pass leaves as they were or exchanges with each other, such as those to the
        old and the new values of a grid: which of them points where alternates, and all passes are counted as the
        first."""
        heads = {
            name: value
            for name, value in values.items()
            if isinstance(value, PointerTarget) and value.offset is not None
        }
        if not heads or self.stack.trials > MOST_TRIALS:
            return {}
        offsets = {name: value.offset for name, value in heads.items() if value.offset is not None}
        after = self._try_pass(node, changed.variables, offsets, heads, before)
        for name, left in after.items():
            if isinstance(left, Polynomial):  # in the array of before
                after[name] = heads[name].replace(offset=left)
        while lost := [name for name in heads if not any(is_equal(after[name], head) for head in heads.values())]:
            for name in lost:
                del heads[name]
        return {**heads}

    def _resolve_aliases(self, changed: Changes) -> Changes:
        """Changes with variables in place of the references to them, without references to memory."""
        names = {self.frame.aliases.get(name, name) for name in changed.variables}
        places = ((name, self.scope.values.get(name)) for name in names)
        names = {name for name, place in places if not (isinstance(place, PointerTarget) and place.refers)}
        counted = {self.frame.aliases.get(name, name) for name in changed.counted} & names
        return changed.replace(variables=frozenset(names), counted=frozenset(counted))

    def _counted_variable(self, node: r.LoopStatement) -> str:
        """The name of the variable that a loop counts."""
        step = node.step
        while isinstance(step, r.Several) and step.parts:
            step = step.parts[0]
        if isinstance(step, r.Assignment):
            return source_name(step.target)
        condition = node.condition
        if isinstance(condition, r.Operation) and condition.operands:
            name = source_name(condition.operands[0])
            return "" if name == "memory" else name
        return ""

    def _first_value(
        self, node: r.LoopStatement, entry: Mapping[str | DataKey, Known], steps: Mapping[str | DataKey, Value]
    ) -> tuple[Value | None, bool]:
        """Value of a loop's variable in its first pass where it changes by one, and whether it counts down."""
        step = node.step
        while isinstance(step, r.Several) and step.parts:
            step = step.parts[0]
        if isinstance(step, r.Assignment) and isinstance(step.target, r.Variable):
            name = self.frame.aliases.get(step.target.key, step.target.key)
            first, by = entry.get(name), v.number(steps.get(name, ZERO))
            if isinstance(first, Polynomial) and not depends_on_data(first):
                return (first if by in (1, -1) else None), by == -1
        return None, False

    def _find_steps(
        self,
        node: r.LoopStatement,
        counter: Expr,
        changed: Changes,
        entry: Mapping[str | DataKey, Known],
        before: KnownValues,
    ) -> dict[str | DataKey, Value]:
        """Changes of variables in each pass, as polynomials in the number of the pass; a walk without costs finds
        them."""
        anew = set(_set_anew(node.body))
        variables = [name for name in sorted(changed.counted - anew) if not isinstance(before.values.get(name), Real)]
        members = [name for name in entry if not isinstance(name, str)]
        names: list[str | DataKey] = [*variables, *members]
        if not names:
            return {}
        simple = None if members else self._simple_steps(node, variables, changed.variables)
        if simple is not None or self.stack.trials >= MOST_TRIALS:
            return {name: step for name, step in (simple or {}).items()}  # noqa: C416
        heads = {name: atom_polynomial(self.names.make_head(str(name))) for name in names}
        trial = self._try_pass(node, changed.variables, heads, entry, before)
        steps: dict[str | DataKey, Value] = {}
        offset = {name: v.symbols(head).pop() for name, head in heads.items()}
        for _ in names:
            for name in names:
                after = trial.get(name)
                if name in steps or not isinstance(after, Polynomial):
                    continue
                try:
                    step = v.subtract(after, heads[name])
                except TooLong:
                    continue
                left = {other for other, symbol in offset.items() if v.has_symbol(step, symbol)}
                if left <= steps.keys():
                    given = {offset[other]: _value_in_pass(entry.get(other), steps[other], counter) for other in left}
                    if all(value is not None for value in given.values()):
                        steps[name] = v.substitute(step, given)  # type: ignore[arg-type]
        return {name: step for name, step in steps.items() if not depends_on_data(step)}

    def _simple_steps(
        self, node: r.LoopStatement, names: list[str], assigned: frozenset[str]
    ) -> dict[str, Value] | None:
        """Steps of variables that the head of the loop alone counts by whole numbers; None where a walk is needed."""
        within = [part for part in walk_records(node.body) if isinstance(part, r.Assignment)]
        if any(
            isinstance(part.target, r.Variable) and part.target.key in names and part.target.type.kind != "real"
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
                amount = self.evaluator.integer_without_costs(part.value)
                if has_record(part.value, lambda inner: isinstance(inner, r.Variable) and inner.key in assigned):
                    return None
                steps[target.key] = amount if part.operator == "+" else -amount
        return steps

    def _try_pass(
        self,
        node: r.LoopStatement,
        assigned: frozenset[str],
        heads: Mapping[str | DataKey, Value],
        entry: Mapping[str | DataKey, Known],
        before: KnownValues,
    ) -> dict[str | DataKey, Known]:
        """Walks a pass without costs, holes or warnings."""
        self.state.scope = before.copy()
        inside = find_changes([node.body], self.facts.references)
        self.memory.forget_changed(inside.stored, inside.calls)
        places = {name: entry.get(name) for name in heads}
        for variable in assigned:
            self.scope.values.pop(variable, None)
        for name, head in heads.items():
            place = places[name]
            self._set(name, place.replace(offset=head) if isinstance(place, PointerTarget) else head)
        self.stack.trials += 1
        self.active.changes.append((self.names.make_counter("trial"), inside))
        with self.names.trial(), self.state.collect():
            if node.condition is not None:
                self.evaluator.evaluate(node.condition)
            self.walk_statement(node.body)
            if node.step is not None:
                self.evaluator.evaluate(node.step)
        self.active.changes.pop()
        self.stack.trials -= 1
        after: dict[str | DataKey, Known] = {}
        for name in heads:
            found = self.scope.values.get(name) if isinstance(name, str) else self.scope.memory.get(name)
            place = places[name]
            is_place = (
                isinstance(found, PointerTarget) and isinstance(place, PointerTarget) and found.array == place.array
            )
            after[name] = found.offset if is_place and isinstance(found, PointerTarget) else found
        self.state.scope = before
        return after

    def _set(self, name: str | DataKey, value: Known) -> None:
        """Gives a value to a variable, or to a member of a structure."""
        if isinstance(name, str):
            self.scope.values[name] = value
        else:
            self.scope.memory[name] = value

    def _enter_pass(self, one: Pass) -> None:
        """Sets what is known at the begin of a pass."""
        self.state.scope = one.before.copy()
        for variable in one.changed.variables:
            start = one.entry[variable]
            if (grown := one.grow(variable)) is not None:
                self.scope.values[variable] = grown
            elif isinstance(start, Real):
                self.scope.values[variable] = Real({("variable", variable): ()})
            elif isinstance(start, PointerTarget):
                self.scope.values[variable] = start.replace(offset=None)
            else:
                self.scope.values.pop(variable, None)
        self.memory.forget_changed(one.changed.stored, one.changed.calls)
        for name in (*one.steps, *one.exchanged):
            if not isinstance(name, str):
                self._set(name, one.grow(name))

    def _leave_loop(self, one: Pass, bounds: tuple[Value, ...], share: Value | None) -> None:
        """Sets what is known behind a loop."""
        after = self.scope
        for place, value in after.memory.items():
            if single_symbol(value) in after.inputs:
                after.find_input(value, one.before.memory.get(place))
        passes = bounds[0] if len(bounds) == 1 else v.extreme_of("min", bounds)
        for name, start in one.entry.items():
            found = one.exchanged.get(name)
            if name in one.steps and share is None:
                grown = _value_in_pass(start, one.steps[name], one.counter)
                if grown is not None:
                    try:
                        end = v.substitute(grown, {one.counter: passes})
                    except TooLong:
                        end = None
                    found = start.replace(offset=end) if isinstance(start, PointerTarget) else end
            if found is None and isinstance(start, Real):
                found = NOTHING
            if not isinstance(name, str):
                if found is not None:
                    after.memory[name] = found
                elif single_symbol(after.memory.get(name)) not in after.inputs:
                    after.memory.pop(name)
                continue
            if found is None and single_symbol(after.values.get(name)) in after.inputs:
                found = after.find_input(after.values[name], start if isinstance(start, Polynomial) else None)
            if found is None:
                after.values.pop(name, None)
            else:
                after.values[name] = found
        for variable, value in list(after.values.items()):
            if _has_counter(value, one.counter):
                after.values.pop(variable)
            elif isinstance(value, Real) and value.number is None:
                after.values[variable] = NOTHING
        after.memory = after.memory.filter(
            lambda place, value: (
                not (isinstance(value, Real) and value.number is None)
                and not _has_counter(after.offsets.get(place), one.counter)
                and not _has_counter(value, one.counter)
            )
        )

    # -- chains ------------------------------------------------------------------------------------

    def _find_recurrences(
        self, head: KnownValues, assigned: frozenset[str], counter: Expr, body: list[Item]
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
                match source:
                    case ("load", (str(array), terms)) if path and array == place[0]:
                        other = self.scope.offsets.get((array, terms))
                        following = {counter: v.add(atom_polynomial(counter), ONE)}
                        if other is not None and v.is_same(v.substitute(other, following), offset):
                            found.append(Recurrence(path, self.names.arrays[array].name))
        return tuple(found)


def _value_in_pass(start: Known, step: Value, counter: Expr) -> Value | None:
    """Value in a pass of what begins at `start` and changes by `step` in each pass."""
    base = formula_of(start)
    if base is None:
        return None
    try:
        grown = v.sum_over(step, counter, ZERO, atom_polynomial(counter))
        return None if grown is None else v.add(base, grown)
    except TooLong:
        return None


def _has_counter(value: Known, counter: Expr) -> bool:
    formula = formula_of(value)
    return formula is not None and v.has_symbol(formula, counter)


def _set_anew(body: r.Statement) -> Iterator[str]:
    """Variables that each pass sets before it counts them: its own, and those of the loops inside."""
    for part in walk_records(body):
        if isinstance(part, r.Declaration):
            yield part.variable.key
        elif isinstance(part, r.LoopStatement) and part.start is not None:
            for start in walk_records(part.start):
                if isinstance(start, r.Assignment) and not start.operator and isinstance(start.target, r.Variable):
                    yield start.target.key
