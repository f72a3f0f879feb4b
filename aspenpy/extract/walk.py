"""A walk through a function: its statements in order, with what is known of its whole numbers and pointers."""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.branches import Branches
from aspenpy.extract.calls import CallEvaluator, can_inline
from aspenpy.extract.costs import Array, FunctionCosts, PointerTarget
from aspenpy.extract.effects import final_jump, walk_records, way_behind
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.loops import Loops
from aspenpy.extract.naming import source_line
from aspenpy.extract.places import innermost_type, volume
from aspenpy.extract.scope import NOTHING, SIZE, Known, Names, Real
from aspenpy.extract.state import CallContext, Facts, WalkState, WalkTask, rename_array
from aspenpy.extract.values import ZERO


class Walker(WalkTask):
    """Walks one function of a program, and those that are small enough to stand in place of their calls."""

    def __init__(self, names: Names, facts: Facts, contexts: dict[str, list[CallContext]]) -> None:
        super().__init__(WalkState(names, facts))
        self.evaluator = Evaluator(self.state, self.call, lambda node: self.branches.select(node))
        self.calls = CallEvaluator(self.state, self.evaluator, self.walk, contexts)
        self.loops = Loops(self.state, self.evaluator, self.walk)
        self.branches = Branches(self.state, self.evaluator, self.walk)

    # -- functions ---------------------------------------------------------------------------------

    def profile(self, function: r.Function, context: CallContext | None = None) -> FunctionCosts:
        """Items of a function, with symbols for arguments that no context gives."""
        numbers_first = sorted(function.formals, key=lambda formal: formal.type.kind != "integer")
        declared = {formal.key: self._declare_formal(formal) for formal in numbers_first}  # extents may be numbers
        formals = [declared[formal.key] for formal in function.formals]
        self.frame.begin(function, tuple(formals), self._find_addressed(function))
        if context is not None:
            self._adopt_context(function, context)
        if function.name == "main":  # members of structures have their values from the start
            with self.state.collect():
                self._walk_block(self.facts.program.initialisations)
        with self.state.collect() as items:
            self.walk(function.body)
        notes = tuple(
            f"{note}: else the program ends ({source_line(span)})" for note, span in self.branches.notes.items()
        )
        return FunctionCosts(
            function.key, function.name, items, tuple(formals), function.comment, span=function.span, notes=notes
        )

    def _find_addressed(self, function: r.Function) -> set[str]:
        """The structures of a function, and of small ones that stand in place of their calls, that go on to functions
        with kernels of their own."""
        addressed: set[str] = set()
        seen, waiting = {function.key}, [function]
        while waiting:
            for node in walk_records(waiting.pop().body):
                called = self.facts.functions.get(node.key) if isinstance(node, r.Call) else None
                if called is None:
                    continue
                if called.in_place or can_inline(called, False):
                    waiting += [called] if called.key not in seen else []
                    seen.add(called.key)
                    continue
                for part in node.arguments:
                    inner = part.operand if isinstance(part, r.Address) else part
                    if isinstance(inner, r.Variable) and inner.type.kind == "record" and inner.scope == "local":
                        addressed.add(inner.key)
        return addressed

    def _adopt_context(self, function: r.Function, context: CallContext) -> None:
        """Takes over what is known where the function is called."""
        for formal, own, value in zip(function.formals, self.frame.arguments, context.values, strict=False):
            if isinstance(value, Real) and formal.type.kind == "real":
                self.scope.values[formal.key] = value
            if isinstance(own, Expr) and isinstance(value, Polynomial):
                self.frame.given[own] = value
            is_whole = isinstance(value, PointerTarget) and value.offset is not None and not value.offset.terms
            if isinstance(value, PointerTarget) and isinstance(own, str) and is_whole and _is_object(formal.type):
                self.frame.inherited.setdefault(value.array, own)
        pointed = {
            place: value.replace(array=self._inherit_array(function, value.array))
            for place, value in context.memory.items()
            if isinstance(value, PointerTarget)
        }
        for place, value in context.memory.items():
            given = pointed.get(place, value)
            key = (rename_array(place[0], self.frame.inherited), place[1])
            for known in (self.names.called, self.names.fields):
                if place in known:
                    known[key] = known[place]
            self.scope.memory[place] = self.scope.memory[key] = given
            if place in context.offsets:
                self.scope.offsets[place] = self.scope.offsets[key] = context.offsets[place]

    def _inherit_array(self, function: r.Function, key: str) -> str:
        """The array that a pointer in a caller's structure points at, as a formal array: a compiler does not know which
        it is."""
        array, own = self.names.arrays[key], f"{function.key}->{key}"
        if key not in self.frame.inherited:
            self.names.add_array(Array(own, array.name, "formal", array.word, array.extents, volume=None, alone=False))
            self.frame.inherited[key] = own
        return self.frame.inherited[key]

    def _declare_formal(self, formal: r.Variable) -> Expr | str | None:
        """Declares the symbol or array of an argument."""
        type = formal.type
        if type.kind == "integer":
            symbol = graph.symbol(formal.name, f"{SIZE} {formal.key}")
            self.scope.values[formal.key] = atom_polynomial(symbol)
            return symbol
        if type.kind in ("pointer", "array"):
            shape = self.frame.shapes[formal.key] = self.evaluator.places.extents(type)
            of = type.of or type
            word = innermost_type(of)
            if type.kind == "pointer":
                shape = (None, *shape)
            size = None
            if type.kind == "array" and all(extent is not None for extent in shape):
                size = volume(type, shape, word)
            elif type.is_reference and of.kind in ("integer", "real", "pointer") and of.size:
                size = constant_polynomial(of.size)
            name = "self" if formal.is_object else formal.name
            key = f"{formal.key}*"
            self.names.add_array(
                Array(key, name, "formal", word.size or 8, shape, volume=size, alone=type.restrict, span=formal.span)
            )
            place = PointerTarget(key, ZERO, type.is_reference)
            if formal.is_object:
                self.frame.this = place
            self.scope.values[formal.key] = place
            return key
        if type.kind == "real":
            self.scope.values[formal.key] = NOTHING
        return None

    def call(self, node: r.Call) -> Known:
        """The value that a call gives."""
        targets = self.facts.program.pointer_targets.get(node.key, ())
        return self.calls.call(node) if len(targets) < 2 else self.branches.call_through_pointer(node, targets)

    # -- statements --------------------------------------------------------------------------------

    def walk(self, node: r.Statement | None) -> None:
        if isinstance(node, r.CompoundStatement):
            with self.loops.copies.copy_around(node):
                self._walk_block(node.statements)
        elif isinstance(node, r.Declaration):
            self._declare(node)
        elif isinstance(node, r.ExpressionStatement):
            self.evaluator.evaluate(node.value)
        elif isinstance(node, r.LoopStatement):
            self.loops.walk(node)
        elif isinstance(node, r.Branch):
            self.branches.walk_branch(node)
        elif isinstance(node, r.Switch):
            self.branches.walk_switch(node)
        elif isinstance(node, r.Jump):
            self._jump(node)
        elif isinstance(node, r.Unread):
            self.state.report_uncounted("not-counted", f"{node.what} is not counted", node.span)

    def _jump(self, node: r.Jump) -> None:
        if node.kind != "continue":
            self.loops.note_exit(node.kind)
        if node.kind == "goto" and not (node.leaves and node.value is None):
            message = "loops made with it are taken for one pass"
            message = "what it skips behind the loops that it leaves is counted" if node.leaves else message
            self.state.report_uncounted("not-counted", f"a jump by `goto`: {message}", node.span)
        elif node.value is not None and node.kind != "goto":
            self._return(node)

    def _return(self, node: r.Jump) -> None:
        """Notes what a function returns: a place, where it returns a reference."""
        assert node.value is not None
        if self.stack.inlined and self.facts.functions[self.stack.inlined[-1]].by_reference:
            there = self.evaluator.places.locate(node.value)
            place = there.place if there is not None else None
            if place is not None and place.offset is not None and there is not None and there.is_member():
                self.names.fields.setdefault((place.array, v.value_key(place.offset)), there.name)
            self.stack.returned[-1] = (
                place.replace(name=place.name or there.name) if place is not None and there else None
            )
            return
        value = self.evaluator.evaluate(node.value)
        if self.stack.returned and node.kind == "return":
            read = self.scope.find_input(self.stack.returned[-1], value)
            self.stack.returned[-1] = value if read is None else read
            self.stack.members = self.evaluator.known_members(node.value)

    def _walk_block(self, statements: tuple[r.Statement, ...]) -> None:
        for index, node in enumerate(statements):
            rest = statements[index + 1 :] if isinstance(node, r.Branch) else ()
            if isinstance(node, r.Branch) and rest and final_jump(node.then) is not None:
                other = r.CompoundStatement((*([node.otherwise] if node.otherwise else []), *rest))
                self.branches.walk_branch(node.replace(otherwise=other))
                return
            if isinstance(node, r.Branch) and rest and final_jump(node.otherwise) is not None:
                self.branches.walk_branch(node.replace(then=r.CompoundStatement((node.then, *rest))))
                return
            self.walk(node)
            if isinstance(node, r.Jump):
                return
            if self.names.counts_each and (way := way_behind(node)) is not None:
                self.branches.walk_behind(way, r.CompoundStatement(statements[index + 1 :]))
                return

    def _declare(self, node: r.Declaration) -> None:
        variable = node.variable
        self.frame.shapes[variable.key] = self.evaluator.places.extents(variable.type)
        if node.value is None:
            if variable.type.kind == "real":
                self.scope.values[variable.key] = NOTHING
            else:
                self.scope.values.pop(variable.key, None)
            return
        if variable.type.is_reference:
            value, name = self.calls.bind_argument(node.value, variable)
            self.frame.aliases = {**self.frame.aliases, variable.key: name} if name is not None else self.frame.aliases
        else:
            value = self.evaluator.evaluate(node.value)
            self.evaluator.name_value(value, variable, node.value.span)
        if variable.type.kind == "real" and not isinstance(value, Real):
            value = NOTHING
        if variable.type.kind == "record":
            self.evaluator.copy_members(node.value, variable)
            return
        self.scope.values[variable.key] = value


def _is_object(type: r.Type) -> bool:
    """Whether an argument is a structure that the function gets the address of."""
    of = type.of
    return type.kind == "pointer" and of is not None and of.kind == "record"
