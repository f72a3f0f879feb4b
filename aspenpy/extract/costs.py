"""Costs of a function in the order of execution: a tree of loops, choices, accesses and operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from aspenpy.expr.node import Expr
from aspenpy.expr.printer import to_text
from aspenpy.extract.fit import Formula
from aspenpy.extract.values import Value, to_expression, value_key
from aspenpy.language.source import Span
from aspenpy.record import Record

Hold = Literal["global", "formal", "local", "heap"]

CYCLES = "cycles"
"""The class of the items that stand for cycles of compiled code; their precision is the processor."""

WAITING = "waiting"
"""The class of the items that stand for loads for which the next pass of a loop waits; their precision is the array."""

RESTARTED, CUT, ROWS, LINKS = "restarted", "cut", "rows", "links"
"""The classes of the items that stand for such loads of chains that begin anew at places that no chain before has said;
for those that decide jumps, too; for these chains; and for operations that wait for such loads or are these. Their
precision is the array."""

WRONG = "mispredicted"
"""The class of the items that stand for branches guessed wrongly; their precision is the array whose loads decide."""

BEHIND = "behind"
"""The class of loads that say the address of one that decides a wrong guess; their precision is the array."""

COMPARED_WRONG, STEPS = "comparisons guessed wrongly", "steps of a library"
"""The classes of the items that stand for comparisons of a library's sort that are guessed wrongly, of reals with the
precision `dp`; and for operations of whole numbers of a sort or a search, which is their precision."""

MOVED = {"load": "loads moved", "store": "stores moved"}
"""The classes of the items that stand for elements that a library's sort moves; their precision are the bytes of each,
whether that goes over the whole array each time, and the array."""

FIRST = "first"
"""The class of loads that say the addresses of others of a block, or lie at such addresses: the first of them have to
be there before the next ones begin; their precision is the array."""

BESIDE = {"load": "loads beside", "store": "stores beside"}
"""The classes of the items that stand for loads and stores of compiled code that the source does not have; their
precision is the bytes of each."""

LIBRARY = "library"
"""The class of the items that stand for the time of a library; their precision is the line that calls it, and each
happens as many times as a call there takes cycles."""

ROUND_TRIP = "round trip"
"""The class of the items that stand for a wait of a warp for what it has loaded."""

NEAR_TRIP, MEETING = "near trip", "meeting"
"""The classes of the items that stand for a wait of a warp for shared memory or for other threads of it, and for the
other warps of its block at a barrier."""

ISSUED, STEP = "issued", "step"
"""The classes of the items that stand for instructions of a thread that is one of a warp, and for those that wait for
the one before."""

NO_WORK = frozenset(
    {
        *("integer", CYCLES, WAITING, RESTARTED, CUT, ROWS, LINKS, WRONG, BEHIND, FIRST, LIBRARY, *BESIDE.values()),
        *(ROUND_TRIP, NEAR_TRIP, MEETING, ISSUED, STEP, COMPARED_WRONG, STEPS, *MOVED.values()),
    }
)
"""Classes that are no operations of floating point."""


THREADS = "threads of OpenMP"
"""The meaning of the parameter for the threads that share loops."""


class Array(Record):
    """Memory that a program names: an array, what a pointer points at, a structure. `extents` are those of its
    dimensions, None for the first where nothing says it; `volume` its bytes, where the program says them. No other
    array overlaps one that is `alone`, and no store changes one that `is_constant`."""

    key: str
    name: str
    hold: Hold
    word: int
    extents: tuple[Value | None, ...] = ()
    volume: Value | None = None
    alone: bool = True
    span: Span | None = None
    is_constant: bool = False


class Guard(Record):
    """A condition on counters: the value is 0 (`==`), or at least that (`>=`)."""

    value: Value
    operator: Literal["==", ">="] = ">="


class MemoryAccess(Record):
    """A load or store of `size` bytes. An `offset` of None lies anywhere; `indirect` is one that the program's data
    decide. `guards` are conditions on the loops that it was moved out of, `path` the members of structures on the way,
    and one that is `pinned` begins or ends the time of a value in a register. Of an `atomic` operation, `Add` and the
    like, both are pinned."""

    kind: Literal["load", "store"]
    array: str
    offset: Value | None
    size: int
    precision: str = ""
    indirect: bool = False
    span: Span | None = None
    guards: tuple[Guard, ...] = ()
    path: tuple[str, ...] = ()
    pinned: bool = False
    atomic: str = ""

    def place(self) -> tuple[str, object]:
        return (self.array, None if self.offset is None else value_key(self.offset))


def called_function(operation: str) -> str | None:
    """The function of a library that a class of operations, `call NAME`, stands for; None for other classes."""
    return operation.removeprefix("call ") if operation.startswith("call ") else None


class Arithmetic(Record):
    """Operations of a class of the language: `add`, `multiply`, ...; `integer` of no precision, `call NAME` for what a
    library computes, and `cycles` of a processor. Each happens `times` times where it stands, once without."""

    name: str
    precision: str = ""
    amount: int = 1
    span: Span | None = None
    times: Value | None = None


class Alternative(Record):
    """`then` where all guards hold and the share of the program's data says so, `otherwise` in all other cases; of one
    that is `negated` the condition in the source is that the guards do not hold. Of a `switch` it is a `case`, from 0
    on."""

    guards: tuple[Guard, ...]
    share: Value | None
    then: list[Item]
    otherwise: list[Item]
    span: Span | None = None
    negated: bool = False
    case: int = 0


class Recurrence(Record):
    """Operations, one after the other, through which each pass of a loop waits for the one before."""

    classes: tuple[str, ...]
    subject: str


class Nest(Record):
    """A loop: `counter` runs from 0 up to below the smallest of the bounds. `share` is the part of its passes that it
    makes; those behind a jump that counters decide do nothing in one that `is_cut`. Its variable is `first` in the
    first pass and one more, or less, in each other; None where that is not so."""

    counter: Expr
    bounds: tuple[Value, ...]
    body: list[Item]
    share: Value | None = None
    variable: str = ""
    pragmas: tuple[str, ...] = ()
    comment: str = ""
    recurrences: tuple[Recurrence, ...] = ()
    span: Span | None = None
    first: Value | None = None
    is_downward: bool = False
    is_cut: bool = False


class PointerTarget(Record):
    """The target of a pointer: `offset` bytes into an array. The value of a reference `refers` to the object there,
    which the source may call by a `name`."""

    array: str
    offset: Value | None
    refers: bool = False
    name: str = ""


class Invocation(Record):
    """A call of a function that has a kernel of its own, with what each formal gets: a number, a place, or nothing that
    matters."""

    function: str
    arguments: tuple[Value | PointerTarget | None, ...]
    span: Span | None = None


class MessageStatement(Record):
    """A message of `volume` bytes from each rank, or a collective by its name in the language. With another `resource`
    than messages it is any other request of the program at this place."""

    volume: Value
    exchange: str = ""
    note: str = ""
    span: Span | None = None
    resource: str = "messages"


Item = MemoryAccess | Arithmetic | Alternative | Nest | Invocation | MessageStatement


class Meaning(Record):
    """The meaning of a parameter; the `doubt` says why its value is not known. One that `is_share` is a part of the
    whole, from 0 to 1; `case` is which case of a `switch` it counts, from 0 on. One that `is_call` is what a call of a
    library takes, which may be any amount."""

    text: str
    doubt: str = ""
    is_share: bool = False
    case: int = 0
    is_call: bool = False

    def __str__(self) -> str:
        return self.text + self.doubt


class Hole(Record):
    """Something that the source does not say: a parameter of the model, what it stands for, and a value for the time
    being or, where runs of the program say it, the formula that fits them. One that has a `rule` has its value by
    that; all others are open."""

    name: str
    meaning: Meaning
    value: Value
    symbol: Expr
    span: Span | None = None
    low: int | None = None
    fit: Formula | None = None
    rule: str = ""

    def is_left(self) -> bool:
        """Whether it is an open parameter, whose value a person has to state."""
        return self.fit is None and not self.rule

    def text(self) -> str:
        """The value in the language; a fitted formula stays from 0 up, that of a share up to 1, at all sizes."""
        if self.fit is None:
            return to_text(to_expression(self.value))
        text = str(self.fit)
        if self.fit.falls():
            text = f"max(0, {text})"
        return f"min(1, {text})" if self.meaning.is_share and self.fit.grows() else text


class FunctionCosts(Record):
    """Costs of one function. `formals` are the symbols of its arguments, by position, None where no formula can need
    it; `notes` are the conditions that are taken to hold."""

    key: str
    name: str
    items: list[Item]
    formals: tuple[Expr | str | None, ...]
    comment: str = ""
    span: Span | None = None
    notes: tuple[str, ...] = ()


def rewrite_inside(item: Item, rewrite: Callable[[list[Item]], list[Item]]) -> Item:
    """An item whose directly inner items are rewritten; one that has none is itself."""
    if isinstance(item, Alternative):
        return item.replace(then=rewrite(item.then), otherwise=rewrite(item.otherwise))
    return item.replace(body=rewrite(item.body)) if isinstance(item, Nest) else item


def walk_items(items: Iterable[Item]) -> Iterator[Item]:
    """All items, each one before the items inside it."""
    for item in items:
        yield item
        if isinstance(item, Nest):
            yield from walk_items(item.body)
        elif isinstance(item, Alternative):
            yield from walk_items((*item.then, *item.otherwise))


SLOW = ("divide", "square_root")


def is_slow_item(item: Item) -> bool:
    """Whether an operation is not computed where its value is not asked for: it divides, takes a root or calls."""
    if isinstance(item, Arithmetic):
        return item.name in SLOW or called_function(item.name) is not None
    if isinstance(item, Alternative):
        return any(map(is_slow_item, (*item.then, *item.otherwise)))
    return isinstance(item, Invocation | Nest)
