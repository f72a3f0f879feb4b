"""State of knowledge at a point of a program: values of variables, contents of memory, and names for unknown values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Monomial, Polynomial, atom_polynomial, constant_polynomial
from aspenpy.extract.costs import Array, Hole, Meaning, PointerTarget
from aspenpy.extract.fit import Formula
from aspenpy.extract.library_functions import PURE
from aspenpy.extract.locality import Site, TouchCounts
from aspenpy.extract.outcomes import MeasuredGuesses
from aspenpy.extract.paths import Located, line_of
from aspenpy.extract.sorts import FittedComparisons
from aspenpy.extract.values import COUNTER, Value, is_same, owners, symbols, value_key
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span
from aspenpy.language.vocabulary import KEYWORDS
from aspenpy.record import Record

UNKNOWN = "unknown"
"""Owner of the symbols of what a program computes or reads; they may vary from pass to pass."""

STEADY = "unknown and steady"
"""Owner of the symbols of what nothing is known of, but that it stays the same in all loops under way."""

SIZE = "size"
"""Owner of the symbols that parameters of the model stand for."""

SIZE_ASSUMED = 1000
"""What a size is taken to be that the source does not say."""

LOWER_BOUND = re.compile(r"_lower_\d+$")
"""The end of the name of a lower bound of an array of Fortran, 1 where nobody says otherwise."""

UNSAID = ", which the source does not say"
"""Why the value of most parameters is not known."""

BY_DEFAULT = "what the program takes where it is given no other"
"""The rule for what is read when a program starts, and has a value before."""

BY_PRAGMA = "by its pragma"
"""The rule for a parameter that a pragma of COMPASS gives a value."""

CALL_ASSUMED = 20
"""Operations of a call whose function's text is not at hand, until somebody says better."""

CALL_WEIGHED = 8
"""Operations of a function of the mathematical library: as the Livermore kernels weigh exponentials and sines (McMahon,
"The Livermore Fortran kernels", UCRL-53745, 1986)."""

BY_WEIGHT = "as the Livermore kernels weigh such"
"""The rule for those."""

DataKey = tuple[str, object]


class Real(Record):
    """A floating-point value: the operations from each source it was computed from, and its `number` where the source
    says one."""

    paths: dict[object, tuple[str, ...]]
    number: float | None = None


Known = Value | PointerTarget | Real | None

NOTHING = Real({})
_NUMBER = Monomial()
MOST_PATHS = 48  # sources from which chains of operations lead to a value; with more, no chain is told from the others


class Read(Record):
    """A whole number that is read: the `array`, or member of a structure type, that it is an element of, the names of
    both in the source, and its offset in memory."""

    array: str
    name: str
    text: str
    offset: Value


class Contents:
    """Known values in memory by place, in rows of places that are known distances apart."""

    def __init__(self) -> None:
        self.arrays: dict[str, dict[object, dict[DataKey, Known]]] = {}

    def __contains__(self, place: DataKey) -> bool:
        return place in self.arrays.get(place[0], {}).get(_row_key(place), {})

    def __getitem__(self, place: DataKey) -> Known:
        return self.arrays[place[0]][_row_key(place)][place]

    def __setitem__(self, place: DataKey, value: Known) -> None:
        self.arrays.setdefault(place[0], {}).setdefault(_row_key(place), {})[place] = value

    def get(self, place: DataKey) -> Known:
        return self.arrays.get(place[0], {}).get(_row_key(place), {}).get(place)

    def pop(self, place: DataKey) -> None:
        self.arrays.get(place[0], {}).get(_row_key(place), {}).pop(place, None)

    def places(self) -> Iterator[DataKey]:
        return (place for rows in self.arrays.values() for row in rows.values() for place in row)

    def items(self) -> Iterator[tuple[DataKey, Known]]:
        return (item for rows in self.arrays.values() for row in rows.values() for item in row.items())

    def copy(self) -> Contents:
        other = Contents()
        other.arrays = {array: {key: dict(row) for key, row in rows.items()} for array, rows in self.arrays.items()}
        return other

    def filter(self, holds: Callable[[DataKey, Known], bool]) -> Contents:
        """The places and values for which `holds` is true."""
        other = Contents()
        for place, value in self.items():
            if holds(place, value):
                other[place] = value
        return other

    def forget_stored(self, place: DataKey, may_meet: Callable[[str], bool], keeps: Callable[[DataKey], bool]) -> None:
        """Forgets what a store to a place may change: in its array all rows but its own, and all of arrays that it may
        meet, except places that it `keeps`."""
        own = _row_key(place)
        for array in [array for array in self.arrays if array == place[0] or may_meet(array)]:
            rows = self.arrays.pop(array)
            left = {
                key: row if array == place[0] and key == own else _filter_row(row, keeps) for key, row in rows.items()
            }
            if any(left.values()):
                self.arrays[array] = {key: row for key, row in left.items() if row}


def _filter_row(row: dict[DataKey, Known], keeps: Callable[[DataKey], bool]) -> dict[DataKey, Known]:
    return {place: value for place, value in row.items() if keeps(place)}


def _row_key(place: DataKey) -> object:
    """Terms of an offset without its number: equal for all places of a row."""
    terms = place[1]
    if not isinstance(terms, frozenset):
        return terms
    return frozenset(term for term in terms if term[0] != _NUMBER)


class KnownValues:
    """The state of one walk through a function. `values` are those of variables; `memory` that of places in arrays."""

    def __init__(self) -> None:
        self.values: dict[str, Known] = {}
        self.memory = Contents()
        self.offsets: dict[DataKey, Value] = {}
        self.inputs: dict[Expr, Value | None] = {}  # what is read when the program starts, and its default

    def copy(self) -> KnownValues:
        other = KnownValues()
        other.values, other.memory, other.offsets = dict(self.values), self.memory.copy(), self.offsets
        other.inputs = self.inputs
        return other

    def merge(self, other: KnownValues, either: Callable[[Known, Known], Known] = lambda one, two: None) -> None:
        """Keeps what two branches have in common; `either` decides about values that differ."""

        def choose_value(one: Known, two: Known) -> Known:
            found = self.find_input(one, two)
            return either(one, two) if found is None else found

        for name in self.values.keys() | other.values.keys():
            left, right = self.values.get(name), other.values.get(name)
            if left is right or is_equal(left, right):
                continue
            both = isinstance(left, Real) and isinstance(right, Real)
            self.values[name] = join_paths([left, right]) if both else choose_value(left, right)  # type: ignore[list-item]
        kept = Contents()
        for place in dict.fromkeys((*self.memory.places(), *other.memory.places())):
            left, right = self.memory.get(place), other.memory.get(place)
            found = left if is_equal(left, right) else choose_value(left, right)
            if found is not None:
                kept[place] = found
        self.memory = kept

    def find_input(self, left: Known, right: Known) -> Known:
        """The one of two values that is read when the program starts, if the other one is its default."""
        for value, default in ((left, right), (right, left)):
            symbol = single_symbol(value)
            if symbol in self.inputs and (default is None or is_default(default)):
                if self.inputs[symbol] is None and is_default(default):
                    self.inputs[symbol] = default  # type: ignore[assignment]
                return value
        return None

    def forget_arrays(self, arrays: Iterable[str]) -> None:
        """Forgets memory of some arrays."""
        for array in arrays:
            self.memory.arrays.pop(array, None)


def formula_of(value: Known) -> Value | None:
    """The formula of a whole number, or of how far into its array a pointer points; None where there is none."""
    inner = value.offset if isinstance(value, PointerTarget) else value
    return inner if isinstance(inner, Polynomial) else None


def single_symbol(value: Known) -> Expr | None:
    """The symbol that a value consists of; None for formulas."""
    if not isinstance(value, Polynomial) or len(value) != 1:
        return None
    some = symbols(value)
    symbol = some.pop() if len(some) == 1 else None
    return symbol if symbol is not None and is_same(value, atom_polynomial(symbol)) else None


def is_default(value: Known) -> bool:
    """Whether a value is a number or a formula in macros."""
    return isinstance(value, Polynomial) and owners(value) <= {SIZE}


def is_equal(a: Known, b: Known) -> bool:
    if isinstance(a, PointerTarget) and isinstance(b, PointerTarget):
        return (
            a.array == b.array
            and a.offset is not None
            and b.offset is not None
            and value_key(a.offset) == value_key(b.offset)
        )
    if isinstance(a, Real) and isinstance(b, Real):
        return a is b or (a.paths == b.paths and a.number == b.number)
    return isinstance(a, Polynomial) and isinstance(b, Polynomial) and is_same(a, b)


def join_paths(values: list[Real], operation: str | None = None) -> Real:
    """A value computed from several by an operation; of two paths from one source the longer counts."""
    paths: dict[object, tuple[str, ...]] = {}
    for value in values:
        for source, path in value.paths.items():
            whole = path if operation is None else (*path, operation)
            if len(paths.get(source, ())) < len(whole) or source not in paths:
                paths[source] = whole
    return Real(paths) if len(paths) <= MOST_PATHS else NOTHING


NONE_SAME: Mapping[Span, Span] = {}
NONE_COMPARED: Mapping[Span, FittedComparisons] = {}

MeasuredTouches = Sequence[tuple[Mapping[str, float], Mapping[Site, TouchCounts]]]
"""The locality of accesses by the spans of those to one array, for the sizes of each run."""


class TimedLines(Record):
    """The lines of a program whose calls of libraries took time in runs, with what was called most there, and those of
    them at which the text shows no call."""

    names: Mapping[Located, str]
    hidden: frozenset[Located]


NOT_TIMED = TimedLines({}, frozenset())


class Names:
    """Names for the symbols, arrays and holes of a model: each once, in letters of the language."""

    def __init__(
        self,
        counts_each: bool = False,
        counted: frozenset[Span] = frozenset(),
        same_blocks: Mapping[Span, Span] = NONE_SAME,
        touched: MeasuredTouches = (),
        guessed: MeasuredGuesses = (),
        means: frozenset[Span] = frozenset(),
        *,
        timed: TimedLines = NOT_TIMED,
        compared: Mapping[Span, FittedComparisons] = NONE_COMPARED,
        pinned: bool = False,
    ) -> None:
        self.counts_each = counts_each  # whether each branch has a count of its own
        self.counted = counted  # loops and conditions that runs say, whatever the source does
        self.walked: set[str] = set()  # keys of functions whose bodies the model has
        self.uncounted: list[str] = []  # names of functions whose formulas became too long
        self.taken: set[str] = set()
        self.last: dict[str, int] = {}  # the number behind a name that was given last
        self.holes: dict[Expr, Hole] = {}
        self.places: dict[object, Expr] = {}  # the holes by what they stand for
        self.arrays: dict[str, Array] = {}
        self.unknowns: dict[Expr, tuple[str, Span | None]] = {}
        self.parameters: dict[Expr, Value] = {}
        self.varying: dict[Expr, tuple[Expr, ...]] = {}
        self.origins: dict[Expr, tuple[str, object]] = {}
        self.read: dict[Expr, Read] = {}
        self.pointing: dict[str, str] = {}  # the members of structure types that pointers to arrays were read from
        self.members: dict[tuple[str, object], Value] = {}
        self.called: dict[DataKey, str] = {}  # what is known to lie in memory, by what the source calls it
        self.fields: dict[DataKey, str] = {}  # those of them that are members of structures
        self.shared: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self.held: dict[str, list[Value | None]] = {}  # how many elements the source says that containers have
        self.with_room = set[str]()  # containers that need not grow
        self.libraries: dict[str, Value] = {}
        self.pinned = pinned  # whether formulas have what the last run counted at its sizes
        self.timed = timed  # the time of libraries in runs
        self.library_calls: dict[Located, Span] = {}  # the lines at which the walk came to calls of libraries
        self.library_cycles: dict[str, Expr] = {}  # parameters for the cycles of such a call, by line
        self.diagnostics: list[Diagnostic] = []
        self.inputs: dict[Expr, Value | None] = {}  # what is read when the program starts, and its default
        self.lost: dict[str, Known] = {}  # what variables were before another function got their address
        self.rows: dict[object, Value] = {}  # passes of loops that data decide, by the arrays that say them
        self.extents: dict[Expr, bool] = {}  # parameters for bytes of arrays, and whether these are rows of pointers
        self.recursions: dict[Expr, str] = {}  # parameters for runs of functions that call themselves, by key
        self.rows_of_pointers: set[str] = set()  # arrays whose begin is read anew in each pass of a loop
        self.touched = touched  # the locality of accesses in runs
        self.guessed = guessed  # branches guessed wrongly in runs
        self.compared = compared  # comparisons of libraries in runs
        self.means = means  # expressions of whole numbers whose mean in a run is none
        self.wandering: set[Site] = set()  # accesses whose order the source does not say
        self.same_blocks = same_blocks  # expressions whose pointers point into the blocks of another in a run
        self.asked: dict[str, Value] = {}  # bytes of containers whose size the program asks for
        self.pointed: dict[str, Value] = {}  # bytes of all that the pointers in an array point at
        self.points_into: dict[str, str] = {}  # where the pointers in an array point, by what is read there
        self.allocated_in: dict[str, frozenset[Expr]] = {}  # counters of the loops that allocate a block in each pass
        self.conditions: dict[tuple[str, str], Value] = {}  # how often conditions hold, by function and text
        self.outcomes: set[Expr] = set()  # parameters for how often parts of expressions hold
        self.truths: dict[Expr, tuple[str, Value]] = {}  # what holds where a symbol is not 0: a value compared with 0
        self.on_device: list[str] = []  # arrays that directives have brought to a device
        self.given_on_device: set[tuple[str, str]] = set()  # arguments that are there in all calls, by function
        self.called_with: set[str] = set()  # functions whose calls have been seen
        self.followed = 0  # records walked to know what calls leave behind
        self._ranks: Value | None = None
        self._rank: Value | None = None
        self._fresh = 0

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Discards names, holes, arrays and warnings made within."""
        holes, taken, arrays = dict(self.holes), set(self.taken), dict(self.arrays)
        last, diagnostics = dict(self.last), list(self.diagnostics)
        yield
        self.holes, self.taken, self.arrays, self.last, self.diagnostics = holes, taken, arrays, last, diagnostics

    @staticmethod
    def make_legal(wanted: str) -> str:
        """A name in letters of the language that is no keyword."""
        plain = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_") or "value"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        return f"{plain}_" if plain.islower() and plain.upper() in KEYWORDS else plain

    def make_unique(self, wanted: str) -> str:
        plain = self.make_legal(wanted)
        name, number = plain, self.last.get(plain, 2)
        while name in self.taken:
            name, number = f"{plain}_{number}", number + 1
        self.last[plain] = max(2, number - 1)
        self.taken.add(name)
        return name

    # -- symbols -----------------------------------------------------------------------------------

    def make_unknown(self, text: str, span: Span | None, varying: tuple[Expr, ...] = ()) -> Value:
        """An unknown value. `text` is its source text; it varies with the counters `varying`."""
        self._fresh += 1
        symbol = graph.symbol(f"{text}#{self._fresh}", UNKNOWN if varying else STEADY)
        self.unknowns[symbol] = (text, span)
        self.varying[symbol] = varying
        return atom_polynomial(symbol)

    def find_sources(self, value: Value) -> list[str]:
        """The arrays from which the numbers in a value are read."""
        return sorted({self.origins[symbol][0] for symbol in unknown_symbols(value) if symbol in self.origins})

    def make_input(self, text: str, span: Span | None) -> Value:
        """An unknown whole number that the program reads, which stays the same."""
        found = self.make_unknown(text, span)
        self.inputs[symbols(found).pop()] = None
        return found

    def make_counter(self, name: str) -> Expr:
        self._fresh += 1
        return graph.symbol(f"{name}#{self._fresh}", COUNTER)

    def make_head(self, name: str) -> Expr:
        """Symbol of a variable's value at the begin of a pass, in a trial."""
        self._fresh += 1
        return graph.symbol(f"{name}#{self._fresh}", "begin of a pass")

    def add_hole(
        self,
        wanted: str,
        meaning: Meaning,
        value: Value,
        span: Span | None,
        *,
        low: int | None = None,
        rule: str = "",
        stated: float | None = None,
    ) -> Value:
        """A parameter whose value the source does not say, unless a pragma has `stated` it."""
        if stated is not None:
            value, rule = constant_polynomial(Fraction(stated).limit_denominator(10**6)), BY_PRAGMA
            meaning = meaning.replace(doubt="")
        place = (wanted, meaning, span and (span.source.name, span.start))
        if place not in self.places or self.places[place] not in self.holes:
            name = self.make_unique(wanted)
            self.places[place] = symbol = graph.symbol(name, SIZE)
            self.holes[symbol] = Hole(name, meaning, value, symbol, span, low=low, rule=rule)
        return atom_polynomial(self.places[place])

    def add_fitted(self, wanted: str, meaning: Meaning, span: Span | None, fit: Formula) -> Value:
        """A parameter whose formula runs say."""
        value = self.add_hole(wanted, meaning, constant_polynomial(1), span, low=0)
        symbol = next(iter(symbols(value)))
        self.holes[symbol] = self.holes[symbol].replace(fit=fit)
        return value

    def add_parameter(
        self, symbol: Expr, text: str, span: Span | None, meaning: str = "", origin: tuple[str, object] | None = None
    ) -> Value:
        """The parameter for an unknown that stays the same."""
        if symbol not in self.parameters and (known := self.members.get(origin or ("", symbol))) is not None:
            self.parameters[symbol] = known
            if origin is not None and origin[0] == "argument":  # of another function, taken to be the same number
                self._name_another_user(known, meaning.rpartition(" of ")[2])
        if symbol not in self.parameters:
            wanted = text.replace("->", "_").replace(".", "_")
            default = self.inputs.get(symbol)
            if default is not None:
                found = self.add_hole(wanted, Meaning(f"`{text}`"), default, span, low=1, rule=BY_DEFAULT)
            else:
                stands_for = Meaning(meaning) if meaning else Meaning(f"`{text}`", UNSAID)
                is_bound = LOWER_BOUND.search(text) is not None
                value = constant_polynomial(1 if is_bound else SIZE_ASSUMED)
                found = self.add_hole(wanted, stands_for, value, span, low=None if is_bound else 1)
            self.parameters[symbol] = found
            if origin is not None:
                self.members[origin] = self.parameters[symbol]
        return self.parameters[symbol]

    def _name_another_user(self, parameter: Value, function: str) -> None:
        """Says that a parameter is the argument of one more function; of the third on, of others."""
        (symbol,) = symbols(parameter)
        hole = self.holes[symbol]
        before = hole.meaning.text
        if not before.endswith(" and others"):
            another = "others" if " and of " in before else f"of {function}"
            self.holes[symbol] = hole.replace(meaning=hole.meaning.replace(text=f"{before} and {another}"))

    def add_uncounted(self, function: str, span: Span | None) -> Value:
        """A parameter for the operations of a function whose formulas became too long."""
        self.uncounted.append(function)
        stands_for = Meaning(f"all that `{function}` does, which is too involved for formulas")
        return self.add_hole(f"{function}_flops", stands_for, constant_polynomial(0), span, low=0)

    def ranks(self) -> Value:
        """The number of MPI processes."""
        if self._ranks is None:
            self._ranks = self.add_hole("ranks", Meaning("processes of MPI"), constant_polynomial(1), span=None, low=1)
        return self._ranks

    def rank(self) -> Value:
        """The rank of the MPI process that is modelled."""
        if self._rank is None:
            self._rank = self.add_hole(
                "rank", Meaning("the process of MPI that is modelled, from 0"), constant_polynomial(0), span=None, low=0
            )
        return self._rank

    def find_library_flops(self, function: str) -> Value:
        """Operations of one call of a library function."""
        if function not in self.libraries:
            stands_for = Meaning(f"operations of one call of `{function}`", is_call=True)
            each, rule = (CALL_WEIGHED, BY_WEIGHT) if function in PURE else (CALL_ASSUMED, "")
            self.libraries[function] = self.add_hole(
                f"{function}_flops", stands_for, constant_polynomial(each), span=None, low=0, rule=rule
            )
        return self.libraries[function]

    def find_library_cycles(self, span: Span, place: Located | None = None) -> tuple[str, Value] | None:
        """The line of a call of a library, that of its span if no `place` is given, and the parameter for the cycles it
        takes; None where it took no time in runs, or there were none, and where it sorts, which has a price."""
        place = place or line_of(span)
        first = self.library_calls.setdefault(place, span)
        if place not in self.timed.names or place in map(line_of, self.compared):
            return None
        line, name = f"{place[0]}:{place[1]}", self.timed.names[place]
        meaning = Meaning(f"cycles of libraries, most of them `{name}`, each time")
        word = re.sub(r"\W+", "", name.rpartition("::")[2]) or "library"
        found = self.add_hole(f"{word}_cycles", meaning, constant_polynomial(0), first, low=0)
        (self.library_cycles[line],) = symbols(found)
        return line, found

    def add_owner(self, owner: PointerTarget | None, key: str) -> str:
        """Notes the structure that a container lies in; returns the key of the container's elements."""
        if owner is not None:
            self.owners[key] = owner.array
        return key

    def find_sizes(self, key: str, same: Mapping[str, str]) -> list[Value | None]:
        """Numbers of elements that the source gives a container, under all of its names."""
        wanted = self.find_canonical(key, same)
        return [
            value for own, found in self.held.items() if self.find_canonical(own, same) == wanted for value in found
        ]

    def find_canonical(self, key: str, same: Mapping[str, str]) -> str:
        """Key of an array by its caller's name. Functions that call each other with exchanged arguments have none."""
        seen = {key}
        while key in same and same[key] not in seen:
            key = same[key]
            seen.add(key)
        owner = self.owners.get(key)
        if owner is None:
            return key
        return self.find_canonical(owner, same) + key[len(owner) :]

    def add_array(self, array: Array) -> Array:
        """Adds an array under a unique name, unless there is one with its key; returns the array of that key."""
        if array.key not in self.arrays:
            name = array.name if array.hold == "formal" else self.make_unique(array.name)
            self.arrays[array.key] = array.replace(name=name)
        return self.arrays[array.key]


def unknown_symbols(value: Value) -> list[Expr]:
    """Symbols in a value of what the program reads or computes."""
    return [symbol for symbol in symbols(value) if symbol.payload[1] == UNKNOWN]


def depends_on_data(value: Value) -> bool:
    """Whether a value depends on what the program reads or computes."""
    return UNKNOWN in owners(value)
