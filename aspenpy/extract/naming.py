"""Names of a model and its kernels: what symbols and arrays are called, what is an argument, what is declared where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.expr.printer import ASPEN, TooLarge, write_fragments
from aspenpy.extract import values as v
from aspenpy.extract.costs import Array, FunctionCosts, Invocation, Meaning, PointerTarget
from aspenpy.extract.count import Counter
from aspenpy.extract.scope import SIZE, STEADY, UNKNOWN, UNSAID, Names
from aspenpy.extract.triangles import CounterRange, Trips
from aspenpy.extract.values import ONE, Value
from aspenpy.extract.warps import LaunchFacts
from aspenpy.language.source import Span
from aspenpy.record import Record


class Options(Record):
    """Options of the text: what it contains besides operations and accesses. Loops `in_vectors` make several passes at
    once, unless they are chains."""

    chains: bool = False
    integers: bool = False
    in_vectors: bool = False


class Formal(Record):
    """An argument of a kernel: its place among the function's, its name in the model, and the bytes of an array."""

    position: int
    kind: str
    name: str
    volume: Value | None = None


class KernelText(Record):
    """Text of one kernel, with its name and arguments."""

    name: str
    formals: tuple[Formal, ...]
    lines: tuple[str, ...]


MOST_WORDS = 150_000
"""Words and signs of requirements, behind which they are summed up by function: the language reads 600,000 in all."""

_WORD = re.compile(r"\w+|[^\w\s]")


def count_words(lines: Iterable[str]) -> int:
    """Words and signs of some lines, without comments."""
    return sum(len(_WORD.findall(line.partition("//")[0])) for line in lines)


class ModelBindings:
    """The parts that all kernels of a model share: its data, its parameters, and what its arguments are bound to."""

    def __init__(self, names: Names, options: Options) -> None:
        self.names = names
        self.options = options
        self.kernels: dict[str, KernelText] = {}
        self.used: set[Expr] = set()
        self.data: dict[str, Array] = {}
        self.reaches: dict[str, Value | None] = {}
        self.threads: Value | None = None
        self.roots: dict[Expr | str | None, FunctionCosts] = {}
        self.arguments: set[Expr] = set()
        self.bound: dict[Expr, Expr] = {}
        self.same: dict[str, str] = {}
        self.launches: dict[str, LaunchFacts] = {}
        self.has_launches = False
        self.words = 0

    def set_roots(self, profiles: Iterable[FunctionCosts]) -> None:
        """Sets the functions that nothing calls, whose arguments are parameters and data of the model."""
        self.roots = {formal: profile for profile in profiles for formal in profile.formals}
        self.arguments = {formal for formal in self.roots if isinstance(formal, Expr)}

    @property
    def is_brief(self) -> bool:
        """Whether the text is so long that sibling loops share a block, without arrays and patterns."""
        return self.words > MOST_WORDS

    # -- data ---------------------------------------------------------------------------------------

    def _find_reach(self, key: str) -> Value | None:
        """Bytes that a program touches of an array, in sizes of the model; None of a container that grows behind its
        size."""
        reach, sizes = self.reaches.get(key), set(self.names.find_sizes(key, self.same))
        if reach is None or (None in sizes and len(sizes) > 1):
            return None
        given = {symbol: atom_polynomial(self.bound[symbol]) for symbol in v.symbols(reach) if symbol in self.bound}
        for symbol in v.symbols(reach) & self.names.parameters.keys():
            given[symbol] = self.names.parameters[symbol]
        reach = v.substitute(reach, given)
        return reach if v.owners(reach) <= {SIZE, STEADY} or not v.symbols(reach) - self.arguments else None

    def _find_pointed_bytes(self, key: str) -> Value | None:
        """Bytes of all that the pointers in an array point at."""
        owner, pointed = self.names.find_canonical(key.rpartition("->")[0], self.same), self.names.pointed
        volume = pointed.get(owner) or pointed.get(self.names.points_into.get(owner, ""))
        row = owner.rpartition("->")[0]
        if volume is None and row:  # functions call the pointers of one array by names of their own
            others = [size for other, size in pointed.items() if other.rpartition("->")[0] == row]
            volume = others[0] if len(others) == 1 else None
        return self._express_if_known(volume)

    def _find_asked_bytes(self, key: str) -> Value | None:
        """Bytes of a container by the size that is asked for."""
        asked = (size for own, size in self.names.asked.items() if self.names.find_canonical(own, self.same) == key)
        return self._express_if_known(next(asked, None))

    def _express_if_known(self, volume: Value | None) -> Value | None:
        return None if volume is None or not self._is_known(volume) else self._express_in_parameters(volume)

    def add_reach(self, array: str, reach: Value | None) -> None:
        """Adds a block's reach into an array."""
        reach_before = self.reaches.get(array, reach)
        if reach_before is None or reach is None or v.is_never_negative(v.subtract(reach_before, reach)):
            self.reaches[array] = reach_before and reach and reach_before
        else:
            further = v.is_never_negative(v.subtract(reach, reach_before))
            self.reaches[array] = reach if further else v.extreme_of("max", (reach_before, reach))

    # -- kernels -----------------------------------------------------------------------------------

    def bind_arguments(self, callee: FunctionCosts, calls: list[Invocation]) -> None:
        """Binds arguments to the parameter or array of the model that they are in all calls."""
        for position, formal in enumerate(callee.formals):
            given = [call.arguments[position] if position < len(call.arguments) else None for call in calls]
            if isinstance(formal, str):
                places = {
                    self.same.get(place.array, place.array)
                    if isinstance(place, PointerTarget) and place.offset is not None and not place.offset.terms
                    else None
                    for place in given
                }
                (array, *more) = places
                if not more and array is not None and self._is_in_model(self.names.arrays[array]):
                    self.same[formal] = array
            elif formal is not None:
                values = {self._find_single_parameter(value) for value in given}
                (symbol, *others) = values
                if not others and symbol is not None:
                    self.bound[formal] = symbol

    def _is_in_model(self, array: Array) -> bool:
        """Whether an array is declared by the model and not in a kernel."""
        if array.hold == "formal":
            return array.key in self.roots
        return array.volume is None or self._is_known(array.volume)

    def _is_known(self, volume: Value) -> bool:
        """Whether a size is a formula in parameters of the model."""
        return all(
            symbol.payload[1] in (SIZE, STEADY, UNKNOWN) or symbol in self.bound or symbol in self.roots
            for symbol in v.symbols(volume)
        )

    def count_elements(self, array: Array) -> Value | None:
        """Number of a container's elements, where the source gives it one size in parameters of the model."""
        extents: list[Value] = []
        for size in self.names.find_sizes(array.key, self.same):
            if size is None or not self._is_known(v.substitute(size, dict.fromkeys(self.arguments, ONE))):
                return None
            extents.append(self._express_in_parameters(size))
        is_one = extents and v.number(extents[0]) != 0 and all(v.is_same(extents[0], other) for other in extents)
        return extents[0] if is_one else None

    def _express_in_parameters(self, value: Value) -> Value:
        """A value with callers' values in place of arguments, and parameters in place of unknowns."""
        given: dict[Expr, Value] = {}
        for symbol in v.sort_symbols(v.symbols(value)):
            own = self.bound.get(symbol, symbol)
            given[symbol] = self.find_parameter(own) if own.payload[1] in (STEADY, UNKNOWN) else atom_polynomial(own)
        return v.substitute(value, given)

    def resolve_value(self, value: Value) -> Value:
        """A value in the parameters of the model, in place of what functions call them."""
        given = {symbol: known for symbol in v.symbols(value) if (known := self._resolve_symbol(symbol)) is not None}
        return v.substitute(value, given) if given else value

    def _resolve_symbol(self, symbol: Expr) -> Value | None:
        bound = self.bound.get(symbol)
        return atom_polynomial(bound) if bound is not None else self.names.parameters.get(symbol)

    def _find_single_parameter(self, value: Value | PointerTarget | None) -> Expr | None:
        """The one parameter of the model that a value is; None for formulas."""
        if value is None or isinstance(value, PointerTarget) or len(v.symbols(value)) != 1:
            return None
        (symbol,) = v.symbols(value)
        if not v.is_same(value, atom_polynomial(symbol)):
            return None
        if symbol.payload[1] in (UNKNOWN, STEADY):
            (symbol,) = v.symbols(self.find_parameter(symbol))
        symbol = self.bound.get(symbol, symbol)
        return symbol if symbol.payload[1] == SIZE else None

    def find_parameter(self, symbol: Expr) -> Value:
        """The parameter that stands for an unknown; one for what is read from the same place."""
        text, span = self.names.unknowns.get(symbol, ("value", None))
        origin = self.names.origins.get(symbol)
        if origin is not None:
            array, read = self.names.find_canonical(origin[0], self.same), self.names.read[symbol]
            if array in self.roots:  # arguments of one name and type are taken to be one structure
                array = f"{self.names.arrays[array].name} {read.array}" if "." in read.array else array
            origin = (array, origin[1])
        return self.names.add_parameter(symbol, text, span, origin=origin)


class Naming:
    """The names of one kernel: those of its symbols, arrays and arguments."""

    def __init__(self, writer: ModelBindings, profile: FunctionCosts, is_root: bool) -> None:
        self.writer = writer
        self.names = writer.names
        self.profile = profile
        self.is_root = is_root
        self.counter = Counter()
        self.symbols: dict[Expr, str] = {}
        self.own: dict[str, str] = {}
        self.formals: dict[int, Formal] = {}
        self.local: list[str] = []
        self.taken: set[str] = set()
        self.counters: set[Expr] = set()
        self.patterned: set[str] = set()  # names of counters in patterns
        self.braces = 0  # around what is written

    def finish_kernel(self, name: str, lines: list[str]) -> KernelText:
        """The text of a kernel around its lines: what is known about it, its arguments and its local data."""
        formals = tuple(formal for _, formal in sorted(self.formals.items()))
        arguments = ", ".join(f"{formal.kind} {formal.name}" for formal in formals)
        head = f"kernel {name}({arguments}) {{" if formals else f"kernel {name} {{"
        assumed = [self.write_formula(value) for value in self.counter.assumptions.values()]
        comments = write_comments(self.profile.comment, self.profile.span)
        if assumed:
            comments.append(f"// holds where none of these is below 0: {', '.join(assumed)}")
        comments += [f"// {note}" for note in self.profile.notes]
        declared = [*self.local, ""] if self.local else []
        return KernelText(name, formals, (*comments, head, *declared, *lines, "}"))

    # -- names -------------------------------------------------------------------------------------

    def write_formula(self, value: Value) -> str:
        """A value in the language's text."""
        return self._print(v.to_expression(self.replace_unknowns(value)))

    def replace_unknowns(self, value: Value) -> Value:
        """A value with a parameter in place of each unknown."""
        given = {}
        for symbol in v.sort_symbols(v.symbols(value)):
            if symbol.payload[1] in (UNKNOWN, STEADY):
                given[symbol] = self.writer.find_parameter(symbol)
        return v.substitute(value, given) if given else value

    def _print(self, expr: Expr) -> str:
        symbols = v.sort_symbols(graph.free_symbols(expr))
        for symbol in symbols:
            self.name_symbol(symbol)
        if len(symbols) > 200:
            raise TooLarge("too many names")
        return "".join(write_fragments(expr, ASPEN, self.symbols))

    def name_symbol(self, symbol: Expr) -> str:
        """The name of a symbol in this kernel: a parameter of the model, an argument, or the counter of a loop."""
        if symbol in self.symbols:
            return self.symbols[symbol]
        name, owner = symbol.payload[0], symbol.payload[1]
        if owner == SIZE:
            self.writer.used.add(symbol)
            self.symbols[symbol] = self.names.holes[symbol].name if symbol in self.names.holes else name
        elif owner.startswith(SIZE):
            self.symbols[symbol] = self._name_argument(symbol, name)
        else:
            self.symbols[symbol] = self._new_name(name.split("#")[0] or "pass")
            self.counters.add(symbol)
        return self.symbols[symbol]

    def write_trips(self, arguments: Sequence[Trips]) -> list[str]:
        """Texts of a pattern's arguments; names of its loops' counters hold in them alone."""
        counters = [argument.counter for argument in arguments if isinstance(argument, CounterRange)]
        for counter in counters:
            self.symbols[counter] = self._name_counter(str(counter.payload[0]).split("#")[0])
        trips = []
        for argument in arguments:
            if isinstance(argument, CounterRange):
                low, high = self.write_formula(argument.low), self.write_formula(argument.high)
                trips.append(f"{self.symbols[argument.counter]} in {low} .. {high}")
            else:
                trips.append(self.write_formula(argument))
        for counter in counters:
            del self.symbols[counter]
        return trips

    def _name_counter(self, wanted: str) -> str:
        """A name for a counter in a pattern, which other patterns may use too."""
        name = self.names.make_legal(wanted)
        given = {*self.symbols.values()}
        if name in given or (name not in self.patterned and (name in self.taken or name in self.names.taken)):
            name = self._new_name(name)
        self.patterned.add(name)
        self.taken.add(name)
        return name

    def _name_argument(self, symbol: Expr, name: str) -> str:
        bound = self.writer.bound.get(symbol)
        if bound is not None:
            return self.name_symbol(bound)
        position = self.profile.formals.index(symbol) if symbol in self.profile.formals else -1
        if self.is_root or position < 0:
            profile = self.writer.roots.get(symbol, self.profile)
            meaning = f"argument `{name}` of {profile.name}"
            hole = self.names.add_parameter(symbol, name, profile.span, meaning, ("argument", name))
            (only,) = v.symbols(hole)
            return self.name_symbol(only)
        free = self._new_name(name)
        self.formals[position] = Formal(position, "param", free)
        return free

    def _new_name(self, wanted: str) -> str:
        """A name that neither the model nor this kernel has."""
        name, number = self.names.make_legal(wanted), 2
        while name in self.taken or name in self.names.taken:
            name, number = f"{self.names.make_legal(wanted)}_{number}", number + 1
        self.taken.add(name)
        return name

    def name_array(self, key: str) -> str:
        """Name of an array in this kernel; declares it where it belongs."""
        array = self.names.arrays[key]
        key = self.names.find_canonical(key, self.writer.same)
        array = self.names.arrays.get(key) or array.replace(key=key)
        if key in self.own:
            return self.own[key]
        if key in self.profile.formals and not self.is_root:
            position = self.profile.formals.index(key)
            name = self._new_name(array.name)
            self.formals[position] = Formal(position, "data", name, array.volume)
        elif array.volume is not None and self._is_local(array.volume):
            name = self._new_name(array.name)
            self.local.append(f"data {name} {self.write_size(array)}")
        else:
            return self.name_shared_array(array)
        self.own[key] = name
        return name

    def find_volume(self, key: str) -> Value | None:
        """The bytes of an array, where the program or all calls of this kernel say them."""
        key = self.names.find_canonical(key, self.writer.same)
        array = self.names.arrays.get(key)
        return None if array is None or key in self.profile.formals else array.volume

    def name_shared_array(self, array: Array) -> str:
        """Name of an array that belongs to the model; declares it there."""
        if array.key in self.names.shared:
            return self.names.shared[array.key]
        if (other := self._find_same_blocks(array)) is not None:
            found = self.names.shared[array.key] = self.name_shared_array(other)
            return found
        name = self.names.shared[array.key] = (
            self.names.make_unique(array.name) if array.hold == "formal" else array.name
        )
        self.writer.data[array.key] = array
        return name

    def _find_same_blocks(self, array: Array) -> Array | None:
        """The array whose blocks a pointer has pointed into in a run, where only one stands at its place."""
        span = self.names.same_blocks.get(array.span) if array.span is not None else None
        others = [one for one in self.names.arrays.values() if span is not None and one.span == span]
        return others[0] if len(others) == 1 and others[0].key != array.key else None

    def _is_local(self, volume: Value) -> bool:
        """Whether a size depends on arguments that only this kernel knows."""
        return not self.is_root and any(
            symbol.payload[1].startswith(f"{SIZE} ") and symbol not in self.writer.roots for symbol in v.symbols(volume)
        )

    def write_size(self, array: Array) -> str:
        """Size of an array as its declaration states it."""
        if array.volume is None:
            meaning, guess = Meaning(f"bytes of `{array.name}`", UNSAID), constant_polynomial(8_000_000)
            size = self.names.add_hole(f"{array.name}_bytes", meaning, guess, array.span, low=1)
            (symbol,) = v.symbols(size)
            self.names.extents[symbol] = array.key in self.names.rows_of_pointers
            return f"[{self.write_formula(size)}]"
        extents = [extent for extent in array.extents if extent is not None]
        product = constant_polynomial(array.word)
        for extent in extents:
            product = v.multiply(product, extent)
        if extents and len(extents) == len(array.extents) and v.is_same(product, array.volume):
            shape = {1: "Array", 2: "Matrix", 3: "Volume"}.get(len(extents), "Array")
            return f"as {shape}({', '.join(map(self.write_formula, extents))}, {array.word})"
        return f"[{self.write_formula(array.volume)}]"


def write_comments(comment: str, span: Span | None) -> list[str]:
    comments = [f"// {comment}"] if comment else []
    if span is not None:
        words = " ".join(span.text().split())
        comments.append(f"// {source_line(span)}: {words if len(words) < 80 else words[:77] + '...'}")
    return comments


def source_line(span: Span | None) -> str:
    """File and line of a span."""
    if span is None:
        return ""
    name = span.source.name.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{span.position().line}"
