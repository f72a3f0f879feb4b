"""The state of one walk through a function, in parts that each have one meaning; and what is known before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from aspenpy.expr.node import Expr
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import Arithmetic, Array, Item, Meaning, Nest, PointerTarget
from aspenpy.extract.effects import Changes
from aspenpy.extract.scope import (
    NOTHING,
    SIZE,
    STEADY,
    UNKNOWN,
    Contents,
    DataKey,
    Known,
    KnownValues,
    Names,
    Real,
    is_equal,
)
from aspenpy.extract.values import Value
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span
from aspenpy.record import Record


class Facts(Record):
    """A program, and what holds in all of its functions.

    `macros` are the parameters that stand for macros, `constants` the values of global variables that nothing assigns
    to. By function, `references` are the names of what it returns references to, `effects` those of what it stores to,
    and `call_sites` the number of its calls. Pointers may point at the members `exposed` alone. `member_offsets` are
    the bytes in front of each member, by the name of its structure type and its own; functions
    that are `recursive` call themselves. `is_inlined` says of a function, a call and the loop around that whether
    the compiled program has the function's loops there.
    """

    program: r.Program
    macros: Mapping[str, Expr]
    functions: Mapping[str, r.Function]
    constants: Mapping[str, Value]
    references: Mapping[str, frozenset[str]]
    effects: Mapping[str, frozenset[str]]
    exposed: frozenset[str]
    never_return: frozenset[str]
    call_sites: Mapping[str, int]
    global_spans: Mapping[str, Span | None]
    member_offsets: Mapping[tuple[str, str], int]
    recursive: frozenset[str] = frozenset()
    is_inlined: Callable[[r.Function, tuple[Span | None, ...]], bool] = lambda function, places: False


class Frame:
    """The function that is walked, and what its variables and arrays stand for."""

    def __init__(self) -> None:
        self.function: r.Function | None = None
        self.arguments: tuple[Expr | str | None, ...] = ()
        self.this: Known = None
        self.shapes: dict[str, tuple[Value | None, ...]] = {}  # extents by variable
        self.aliases: dict[str, str] = {}  # the variables that references refer to, where those lie in registers
        self.addressed: set[str] = set()  # structures that functions with kernels of their own get
        self.ignored: set[str] = set()  # arrays whose accesses do not count
        self.inherited: dict[str, str] = {}  # arrays of callers, and what they are called here
        self.given: dict[Expr, Value] = {}  # the function's own arguments in sizes of the model

    def begin(self, function: r.Function, arguments: tuple[Expr | str | None, ...], addressed: set[str]) -> None:
        """Begins with a function; the command line of `main` costs nothing."""
        self.function, self.arguments, self.addressed = function, arguments, addressed
        if function.name == "main":
            self.ignored = {argument for argument in arguments if isinstance(argument, str)}


class CallStack:
    """The calls under way whose functions stand in place of them."""

    def __init__(self) -> None:
        self.inlined: list[str] = []  # functions, the outermost first
        self.sites: list[int] = []  # offsets of the calls in the source, of functions with several
        self.returned: list[Known] = []
        self.members: Mapping[str, Known] = {}  # members of the structure that a call has returned
        self.trials = 0  # walks under way that only find what is known behind them

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Walks a function for what is known behind it, as if it were called from one place."""
        sites, self.sites = self.sites, []
        self.trials += 1
        try:
            yield
        finally:
            self.trials -= 1
            self.sites = sites


class Leaving:
    """The jumps that may leave a loop: `doubts` are the conditions around a jump that are on data, `guards` those that
    are not; `on_data` tells that a jump has none but conditions on data."""

    def __init__(self) -> None:
        self.doubts = 0
        self.guards = 0
        self.on_data = False


class ActiveLoops:
    """The loops under way, the outermost first: what each may change, its nest, and how it may be left."""

    def __init__(self) -> None:
        self.changes: list[tuple[Expr, Changes]] = []
        self.nests: list[Nest] = []
        self.exits: list[Leaving] = []


class WalkState:
    """State that the parts of a walk share: the `scope` at the point that is reached, and the costs `out` so far."""

    def __init__(self, names: Names, facts: Facts) -> None:
        self.names, self.facts = names, facts
        self.frame, self.stack, self.active = Frame(), CallStack(), ActiveLoops()
        self.scope = KnownValues()
        self.scope.inputs = names.inputs
        self.out: list[Item] = []

    @contextmanager
    def collect(self) -> Iterator[list[Item]]:
        """Appends costs to a list of their own."""
        out, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = out

    def add_arithmetic(self, name: str, type: r.Type, span: Span | None) -> None:
        """Counts one operation, in the precision of its type."""
        precision = {8: "dp", 4: "sp"}.get(type.size, "dp") if type.kind == "real" else ""
        self.out.append(Arithmetic(name, precision, 1, span))

    def make_unknown(self, text: str, span: Span | None, steady: bool = False) -> Value:
        """A new unknown; a `steady` one is the same in all passes of the loops under way."""
        return self.names.make_unknown(
            text, span, () if steady else tuple(counter for counter, _ in self.active.changes)
        )

    def unknown_result(self, node: r.Expression) -> Known:
        """The unknown value of an expression, by its type."""
        if node.type.kind == "real":
            return NOTHING
        return self.make_unknown(source_text(node), node.span) if node.type.kind == "integer" else None

    def add_hole(
        self,
        what: str,
        meaning: Meaning,
        value: Value,
        span: Span | None,
        *,
        low: int | None = None,
        rule: str = "",
        stated: float | None = None,
    ) -> Value:
        """A parameter for something unknown in the function that is walked, unless a pragma has `stated` it."""
        function = self.frame.function.name if self.frame.function else "program"
        inlined = self.stack.inlined[-1:] if self.stack.trials else []
        for key in inlined:
            function = self.facts.functions[key].name if key in self.facts.functions else function
        return self.names.add_hole(f"{function}_{what}", meaning, value, span, low=low, rule=rule, stated=stated)

    def report_uncounted(self, code: str, message: str, span: Span | None) -> None:
        """Warns of something that the model leaves out."""
        self.names.diagnostics.append(warning(code, message, span))


class WalkTask:
    """One task of a walk, with the state that all tasks share."""

    def __init__(self, state: WalkState) -> None:
        self.state = state
        self.names, self.facts = state.names, state.facts
        self.frame, self.stack, self.active = state.frame, state.stack, state.active

    @property
    def scope(self) -> KnownValues:
        """Known facts at the point that the walk has reached."""
        return self.state.scope

    @property
    def out(self) -> list[Item]:
        """The costs so far."""
        return self.state.out


def source_text(node: r.Expression) -> str:
    """The text of an expression in the source, on one line of at most 60 characters; of a member that a macro names,
    its name, and so of a variable that the source does not write, such as a bound of an array."""
    if isinstance(node, r.Field) and node.span is not None and node.name not in node.span.text():
        return node.name
    if isinstance(node, r.Variable) and node.span is None:
        return node.name
    return " ".join(node.span.text().split())[:60] if node.span is not None else "value"


# -- contexts: what is known where a function is called --------------------------------------------


class CallContext(Record):
    """The values of a function's arguments, None where they are unknown, and what lies in memory."""

    values: tuple[Known, ...]
    memory: Mapping[DataKey, Known]
    offsets: Mapping[DataKey, Value]


def merge_contexts(contexts: Sequence[CallContext]) -> CallContext | None:
    """The context that all calls of a function have in common."""
    if not contexts:
        return None
    first, *others = contexts
    for other in others:
        pairs = zip(first.values, other.values, strict=False)
        values = tuple(one if is_equal(one, two) else None for one, two in pairs)
        memory = {
            place: value
            for place, value in first.memory.items()
            if place in other.memory and is_equal(value, other.memory[place])
        }
        first = first.replace(values=values, memory=memory)
    return first


def rename_array(key: str, names: Mapping[str, str]) -> str:
    """Key of an array, or of a container that lies in one, under other names."""
    if key in names:
        return names[key]
    owner, plus, rest = key.rpartition("+")
    return f"{names[owner]}{plus}{rest}" if owner in names else key


class Shared:
    """State that the functions of a program share: parameters of the model and arrays that belong to none of them.
    `own` are the symbols and arrays of one function's arguments."""

    def __init__(self, arrays: Mapping[str, Array], own: Iterable[Expr | str | None]) -> None:
        self.arrays = arrays
        self.own = frozenset(own)

    def shared_value(self, value: Known) -> Known:
        """The value itself where all functions share it, else None."""
        if isinstance(value, Real):
            return Real({}, value.number) if value.number is not None else None
        if isinstance(value, PointerTarget):
            offset = value.offset
            is_shared = offset is not None and self._is_shared(offset)
            return value if is_shared and self.has_array(value.array) else None
        return value if value is not None and self._is_shared(value) else None

    def has_array(self, key: str) -> bool:
        """Whether an array is shared."""
        array = self.arrays.get(key)
        if array is None:  # the size of a container
            return not any(isinstance(own, str) and key.startswith(own) for own in self.own)
        return key not in self.own and (array.volume is None or self._is_shared(array.volume, (SIZE, STEADY, UNKNOWN)))

    def _is_shared(self, value: Value, owners: tuple[str, ...] = (SIZE, STEADY)) -> bool:
        return all(
            symbol.payload[1] in owners or (symbol.payload[1].startswith(f"{SIZE} ") and symbol not in self.own)
            for symbol in v.symbols(value)
        )

    def make_context(
        self, values: Iterable[Known], memory: Contents, offsets: Mapping[DataKey, Value], inside: Shared
    ) -> CallContext:
        """Context of a call; `inside` decides what of memory it tells."""
        found = {}
        for place, value in memory.items():
            shared = inside.shared_value(value) if inside.has_array(place[0]) else None
            if shared is not None:
                found[place] = shared
        kept = {place: offsets[place] for place in found if place in offsets}
        return CallContext(tuple(map(self.shared_value, values)), found, kept)
