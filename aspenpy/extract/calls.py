"""Calls: functions that stand in place of their calls, those with kernels of their own, and those of libraries."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.extract import library_functions as k
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.conditions import Conditions
from aspenpy.extract.contexts import Context, Shared, renamed
from aspenpy.extract.costs import Access, Exchange, Invocation, Item, Nest, Place
from aspenpy.extract.effects import every
from aspenpy.extract.library_functions import TYPE_BYTES, sending
from aspenpy.extract.places import Target
from aspenpy.extract.scope import NOTHING, Contents, DataKey, Known, Names, Real, depends_on_data, is_default
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span

MOST_INLINED = 12
"""How deep calls are followed into small functions."""

MOST_FOLLOWED = 300_000
"""Records that are walked to know what calls leave behind."""

LARGEST_INLINED = 400
"""Records of a function that is written in place of its calls."""


_PLACED = (r.Variable, r.Element, r.Field, r.Call, r.Conversion, r.Assignment)


class Calls(Conditions):
    """Evaluates calls."""

    def __init__(
        self, names: Names, program: r.Program, macros: Mapping[str, Expr], functions: Mapping[str, r.Function]
    ) -> None:
        super().__init__(names, program)
        self.macros = macros
        self.functions = functions
        self.function: r.Function | None = None
        self.inlined: list[str] = []
        self.contexts: dict[str, list[Context]] = {}
        self.own: tuple[Expr | str | None, ...] = ()  # the function's own arguments
        self.inherited: dict[str, str] = {}  # arrays of callers, and what they are called here
        self.given: dict[Expr, Value] = {}  # the function's own arguments in sizes of the model
        self.trials = 0  # walks under way that only ask what is known behind them
        self.calling: list[int] = []  # where the calls stand that are under way
        self.returned: list[Known] = []
        self.ending: frozenset[str] = frozenset()  # functions that never return
        self.sites: Mapping[str, int] = {}  # from how many places functions are called

    def macro(self, name: str) -> Expr:
        return self.macros[name]

    def statement(self, node: r.Statement | None) -> None:
        """Walks the body of a function."""
        raise NotImplementedError

    def hole(
        self, what: str, meaning: str, value: Value, span: Span | None, low: int | None = None, rule: str = ""
    ) -> Value:
        """A parameter for something unknown in this function."""
        function = self.function.name if self.function else "program"
        if self.trials and self.inlined and self.inlined[-1] in self.functions:
            function = self.functions[self.inlined[-1]].name
        return self.names.hole(f"{function}_{what}", meaning, value, span, low, rule)

    def call(self, node: r.Call) -> Known:
        if node.key in self.ending:
            return self._unknown(node)
        function = self.functions.get(node.key)
        if function is not None:
            return self._entered(node, function)
        if node.name in k.ALLOCATIONS:
            return self._allocated(node)
        return self._library(node)

    def _library(self, node: r.Call) -> Known:
        """A function whose text is not at hand."""
        if node.name.startswith("MPI_") and self._exchanged(node):
            return None
        if node.name in k.SIZES and len(node.arguments) == 1:
            return self._held(node)
        if node.name in ("resize", "assign") and len(node.arguments) >= 2 and node.arguments[1].type.kind == "integer":
            return self._resized(node)
        if (
            node.name in k.EXTREMES
            and len(node.arguments) == 2
            and node.type.kind != "real"
            and node.arguments[0].type.kind == "integer"
        ):
            return v.extreme(k.EXTREMES[node.name], [self.whole(part) for part in node.arguments])
        if node.name in k.GROWING and node.arguments and (grown := self.target(node.arguments[0])) is not None:
            self._said(grown, None)
        if node.name in k.COPIES and len(node.arguments) == 3:
            return self._moved_whole(node)
        for part in node.arguments:  # what is handed on to be read has its value before as a default
            if isinstance(part, r.Address) and isinstance(part.operand, r.Variable):
                key = self.aliases.get(part.operand.key, part.operand.key)
                if is_default(value := self.scope.values.get(key)):
                    self.names.lost[key] = value
        found = [self.value(part) for part in node.arguments]
        if node.name in k.READING:
            return self._read_in(node)
        reals = [part for part in found if isinstance(part, Real)]
        kind = next((part.type for part in node.arguments if part.type.kind == "real"), node.type)
        if node.name in k.FREE:
            return reals[0] if reals else self._unknown(node)
        if node.name in k.SQUARE_ROOTS:
            self._arithmetic("square_root", kind, node.span)
            return Real({source: (*path, "square_root") for part in reals for source, path in part.paths.items()})
        if node.name in k.EXTREMES:
            self._arithmetic("compare", kind, node.span)
            return NOTHING
        if node.name in k.PURE:
            self._arithmetic(f"call {node.name}", kind, node.span)
            return NOTHING
        if node.name not in k.IGNORED and node.name:
            self._arithmetic(f"call {node.name}", kind, node.span)
        if node.name not in k.IGNORED or node.name in k.WRITING:
            self.forget()
        self._escaped(node)
        return self._unknown(node)

    def _read_in(self, node: r.Call) -> Known:
        """A whole number that is read: the same in all that follows."""
        self._escaped(node)
        found = self.unknown(self.text(node), node.span, True)
        (symbol,) = v.symbols(found)
        self.names.inputs[symbol] = None
        return found

    def _exchanged(self, node: r.Call) -> bool:
        """A call of MPI that sends something, or asks for the ranks; others are calls of a library."""
        if node.name in ("MPI_Comm_size", "MPI_Comm_rank") and len(node.arguments) == 2:
            target = node.arguments[1].operand if isinstance(node.arguments[1], r.Address) else None
            if isinstance(target, r.Variable):
                key = self.aliases.get(target.key, target.key)
                self.scope.values[key] = self.names.ranks() if "size" in node.name else self.names.rank()
            return True
        sent = sending(node.name)
        if sent is None:
            self._escaped(node)
            return True
        volume = ZERO
        if sent.count is not None and sent.type is not None and len(node.arguments) > max(sent.count, sent.type):
            text = self.text(node.arguments[sent.type])
            size = constant(TYPE_BYTES[text]) if text in TYPE_BYTES else self._bytes_of(text, node)
            volume = v.times(self.whole(node.arguments[sent.count]), size)
            if depends_on_data(volume):
                volume = self.hole("bytes", f"bytes that `{self.text(node)}` sends", constant(8), node.span, 0)
        self.out.append(Exchange(volume, sent.exchange, sent.told, node.span))
        self.forget()
        if sent.exchange != "broadcast":  # all ranks are taken to have the value that the root has
            self._escaped(node)
        return True

    def _bytes_of(self, type: str, node: r.Call) -> Value:
        return self.hole(f"{type}_bytes", f"bytes of `{type}`", constant(8), node.span, 0)

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
                key = self.aliases.get(part.operand.key, part.operand.key)
                value = self.scope.values.get(key)
                if not isinstance(value, Place) or not value.refers:
                    self.scope.values.pop(key, None)

    def _held(self, node: r.Call) -> Known:
        """The number of elements of a container: what the source calls it stays the same."""
        there = self.target(node.arguments[0])
        owner = self._owner(there) if there is not None else self.text(node)
        place = (f"{owner}.size", None)
        if place not in self.scope.memory:
            self.scope.memory[place] = self.unknown(f"{there.name if there else ''}_size", node.span, True)
        return self.scope.memory[place]

    def _resized(self, node: r.Call) -> Known:
        """A container gets so many elements."""
        there = self.target(node.arguments[0])
        size = self.whole(node.arguments[1])
        if there is not None:
            self.scope.memory[f"{self._owner(there)}.size", None] = size
            self._said(there, size)
        return None

    def _said(self, there: Target, size: Value | None) -> None:
        """How many elements a container gets; None where that varies."""
        known = size is not None and not v.counters(size) and not depends_on_data(size)
        key = self.names.contained(there.place, f"{self._owner(there)}[]")
        self.names.held.setdefault(key, []).append(size if known else None)

    def _allocated(self, node: r.Call) -> Known:
        sizes = [self.whole(part) for part in node.arguments if part.type.kind == "integer"]
        size: Value | None = None
        if node.name == "calloc" and len(sizes) == 2:
            size = v.times(sizes[0], sizes[1])
        elif sizes:
            size = sizes[-1]
        size = None if size is None or v.counters(size) else self.in_sizes(size)
        owner = self.inlined[-1] if self.inlined else self.function.key if self.function else ""
        key = f"heap@{owner}@{node.span.start if node.span else id(node)}" + "".join(
            f"@{place}" for place in self.calling
        )
        array = self.names.array(key, "allocated", "heap", 8, (None,), size, True, node.span)
        return Place(array.key, ZERO)

    def _entered(self, node: r.Call, function: r.Function) -> Known:
        """A small function's text stands in place of its call; another one has a kernel."""
        pairs = [self.argument(part, formal) for part, formal in zip(node.arguments, function.formals, strict=False)]
        found = [value for value, _ in pairs]
        if node.key in self.inlined or (self.function is not None and node.key == self.function.key):
            self._arithmetic(f"call {node.name}", node.type, node.span)
            self.uncounted("recursion", f"`{node.name}` calls itself: how often is not in the source", node.span)
            return self._unknown(node)
        referred = {
            formal.key: name for formal, (_, name) in zip(function.formals, pairs, strict=False) if name is not None
        }
        is_small = function.in_place or self.is_small(function, bool(self.loops))
        if len(self.inlined) >= MOST_INLINED or not is_small:
            return self._invoked(node, function, found, referred)
        return self._inlined(node, function, found, referred)

    def _invoked(self, node: r.Call, function: r.Function, found: list[Known], referred: dict[str, str]) -> Known:
        """A call of a function that has a kernel: what it changes is known where a second walk finds it."""
        values = tuple(None if isinstance(value, Real) else value for value in found)
        self.out.append(Invocation(node.key, values, node.span))
        if not self.trials:
            self.contexts.setdefault(node.key, []).append(self._context(function, found))
        stored = self.effects.get(node.key, frozenset())
        calls = {name[5:] for name in stored if name.startswith("call ")}
        changes_little = len(stored) == len(calls) and not calls & k.RESIZING
        if changes_little and node.type.kind in ("void", "real"):
            self.changed_by(frozenset(), frozenset({node.key}))
            self._escaped(node)
            return self._unknown(node)
        return self._followed(node, function, found, referred)

    def in_sizes(self, value: Value | None) -> Value | None:
        """A value with what the function is called with in place of its own arguments, as far as it is known."""
        try:
            return None if value is None else v.replaced(value, self.given)
        except TooLong:
            return None

    def _context(self, function: r.Function, found: list[Known]) -> Context:
        """What is known where a function is called, by the names that it shares with its caller."""
        given = {own: array for array, own in self.inherited.items()}
        for formal, value in zip(function.formals, found, strict=False):
            is_whole = isinstance(value, Place) and value.offset is not None and not value.offset.terms
            if isinstance(value, Place) and is_whole and value.array in self.own:
                given.setdefault(value.array, f"{formal.key}*")

        def outside(value: Known) -> Known:
            if isinstance(value, Place):
                return value.replace(array=renamed(value.array, given), offset=self.in_sizes(value.offset))
            return value if isinstance(value, Real) else self.in_sizes(value)

        memory, offsets = Contents(), dict[DataKey, Value]()
        for place, value in self.scope.memory.items():
            if renamed(place[0], self.inherited) != place[0]:  # it is known by the function's own name
                continue
            other = (renamed(place[0], given), place[1])
            memory[other] = outside(value)
            for known in (self.names.called, self.names.fields):
                if place in known:
                    known[other] = known[place]
            if place in self.scope.offsets:
                offsets[other] = self.scope.offsets[place]
        return Shared(self.names.arrays, self.own).context(map(outside, found), memory, offsets)

    def _followed(self, node: r.Call, function: r.Function, found: list[Known], referred: dict[str, str]) -> Known:
        """What a function leaves behind and gives back; without its costs."""
        size = sum(1 for _ in every(function.body))
        if self.names.followed + size > MOST_FOLLOWED:
            self.changed_by(frozenset(), frozenset({node.key}))
            self._escaped(node)
            return self._unknown(node)
        self.names.followed += size
        out, calling, diagnostics = self.out, self.calling, list(self.names.diagnostics)
        self.out, self.calling = [], []
        self.trials += 1
        try:
            return self._inlined(node, function, found, referred)
        finally:
            self.trials -= 1
            self.out, self.calling, self.names.diagnostics = out, calling, diagnostics

    def argument(self, part: r.Expression, formal: r.Variable) -> tuple[Known, str | None]:
        """The value of an argument. A reference is the place that it refers to, where that is in memory, or else the
        variable."""
        is_object = formal.name == "this" and part.type.kind == "record"
        if formal.type.name != "&" and not is_object:
            return self.value(part), None
        referred = part.operand if isinstance(part, r.Address) and part.type.name == "&" else part
        costs = len(self.out)
        there = self.target(referred) if isinstance(referred, _PLACED) else None
        if there is None:
            del self.out[costs:]  # what a value that lies nowhere costs is counted below
        if there is not None and there.place is not None:
            return there.place.replace(refers=not is_object), None
        if there is not None and there.variable is not None:
            return self.scope.values.get(there.variable), there.variable
        found = self.value(part)
        return (found.replace(refers=True) if isinstance(found, Place) and not is_object else found), None

    def _inlined(self, node: r.Call, function: r.Function, arguments: list[Known], referred: dict[str, str]) -> Known:
        this, aliases = self.this, self.aliases
        self.aliases = {**aliases, **referred}
        for formal, value in zip(function.formals, arguments, strict=False):
            self.shapes[formal.key] = self.extents(formal.type)
            if formal.name == "this":
                self.this = value
                self.aliases.pop("this", None)
                if formal.key in self.aliases:
                    self.aliases["this"] = self.aliases[formal.key]
            elif formal.key in self.aliases:
                continue
            elif value is None:
                self.scope.values.pop(formal.key, None)
            else:
                self.scope.values[formal.key] = value
        self.inlined.append(node.key)
        is_only = self.sites.get(node.key) == 1 and not function.in_place
        self.calling += [] if is_only else [node.span.start if node.span else 0]
        self.returned.append(None)
        try:
            self.statement(function.body)
        finally:
            found = self.returned.pop()
            self.inlined.pop()
            if not is_only:
                self.calling.pop()
            self.this, self.aliases = this, aliases
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
