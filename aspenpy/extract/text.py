"""The text of a model: formulas in the source's symbols, one kernel for a function, comments that say where things are
from."""

from __future__ import annotations

from collections.abc import Iterable

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.expr.printer import ASPEN, TooLarge, written
from aspenpy.extract import values as v
from aspenpy.extract.blocks import Amounts, Summary, height, parted
from aspenpy.extract.costs import Array, Choice, Exchange, Invocation, Item, Nest, Place, Profile
from aspenpy.extract.count import Counter, Domain, NoClosedForm
from aspenpy.extract.patterns import Request, requests
from aspenpy.extract.pragmas import directives, parallel
from aspenpy.extract.scope import SIZE, STEADY, UNKNOWN, Names
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

NOTHING = ["execute { flops [0] }"]
"""What stands where the language wants a statement and the program has nothing that counts."""


class Options(Record):
    """What the text says besides operations and accesses."""

    chains: bool = False
    integers: bool = False


class Formal(Record):
    """An argument of a kernel: its place among the function's, and its name in the model."""

    position: int
    kind: str
    name: str


class Kernel(Record):
    """The text of one kernel, what it is called with, and its operations and words in all."""

    name: str
    formals: tuple[Formal, ...]
    lines: tuple[str, ...]
    totals: tuple[tuple[str, str], ...] = ()


class Writer:
    """Writes the kernels of a program, those that are called first."""

    def __init__(self, names: Names, options: Options) -> None:
        self.names = names
        self.options = options
        self.kernels: dict[str, Kernel] = {}
        self.used: set[Expr] = set()
        self.data: dict[str, Array] = {}
        self.reaches: dict[str, Value | None] = {}
        self.threads: Value | None = None
        self.roots: set[object] = set()
        self.arguments: set[Expr] = set()
        self.bound: dict[Expr, Expr] = {}
        self.same: dict[str, str] = {}

    # -- data --------------------------------------------------------------------------------------

    def declarations(self) -> list[str]:
        """The data of the model, each with its size."""
        body = Body(self, Profile("", "", [], ()), True)
        found = []
        for key, array in self.data.items():
            comment = _where(array.span)
            size = body.size(array.replace(volume=array.volume or self._reached(key)))
            found.append(f"data {self.names.shared[key]} {size}{f'  // {comment}' if comment else ''}")
        return found

    def _reached(self, key: str) -> Value | None:
        """What a program touches of an array, in sizes of the model."""
        reach = self.reaches.get(key)
        if reach is None:
            return None
        bound = {symbol: atom(self.bound[symbol]) for symbol in v.symbols(reach) if symbol in self.bound}
        reach = v.replaced(reach, bound)
        known = all(symbol.payload[1] in (SIZE, STEADY) for symbol in v.symbols(reach))
        return reach if known or not v.symbols(reach) - self.arguments else None

    def reached(self, array: str, reach: Value | None) -> None:
        """Takes down how far a block goes into an array."""
        known = self.reaches.get(array, reach)
        if known is None or reach is None or v.never_negative(v.minus(known, reach)):
            self.reaches[array] = known and reach and known
        else:
            further = v.never_negative(v.minus(reach, known))
            self.reaches[array] = reach if further else v.extreme("max", (known, reach))

    # -- kernels -----------------------------------------------------------------------------------

    def bind(self, callee: Profile, calls: list[Invocation]) -> None:
        """Arguments that are the same parameter or array of the model in all calls are called as that."""
        for position, formal in enumerate(callee.formals):
            given = [call.arguments[position] if position < len(call.arguments) else None for call in calls]
            if isinstance(formal, str):
                places = {
                    self.same.get(place.array, place.array)
                    if isinstance(place, Place) and place.offset is not None and not place.offset.terms
                    else None
                    for place in given
                }
                (array, *more) = places
                if not more and array is not None and self._is_models(self.names.arrays[array]):
                    self.same[formal] = array
            elif formal is not None:
                values = {self._single(value) for value in given}
                (symbol, *more_) = values
                if not more_ and symbol is not None:
                    self.bound[formal] = symbol

    def _is_models(self, array: Array) -> bool:
        """Whether an array is declared by the model and not in a kernel."""
        if array.hold == "formal":
            return array.key in self.roots
        return array.volume is None or all(
            symbol.payload[1] in (SIZE, STEADY) or symbol in self.bound for symbol in v.symbols(array.volume)
        )

    def _single(self, value: Value | Place | None) -> Expr | None:
        """The parameter of the model that a value is."""
        if value is None or isinstance(value, Place) or len(v.symbols(value)) != 1:
            return None
        (symbol,) = v.symbols(value)
        if not v.same(value, atom(symbol)):
            return None
        if symbol.payload[1] in (UNKNOWN, STEADY):
            (symbol,) = v.symbols(self.parameter(symbol))
        symbol = self.bound.get(symbol, symbol)
        return symbol if symbol.payload[1] == SIZE else None

    def parameter(self, symbol: Expr) -> Value:
        """The parameter that stands for an unknown; one for what is read from the same place."""
        text, span = self.names.unknowns.get(symbol, ("value", None))
        origin = self.names.origins.get(symbol)
        if origin is not None:
            origin = (self.same.get(origin[0], origin[0]), origin[1])
        return self.names.parameter(symbol, text, span, origin=origin)

    def kernel(self, profile: Profile, items: list[Item], is_root: bool, name: str | None = None) -> Kernel:
        """The kernel of a function. The arguments of a root are parameters and data of the model."""
        body = Body(self, profile, is_root)
        try:
            lines = body.statements(items, ())
        except (NoClosedForm, TooLong, TooLarge):
            uncounted = self.names.uncounted(profile.name, profile.span)
            lines = [f"execute {{ flops [{body.formula(uncounted)}] }}"]
        kernel = body.finished(name or self.names.unique(profile.name), lines or NOTHING)
        if lines:
            self.kernels[profile.key] = kernel
        return kernel


class Body:
    """The statements of one kernel."""

    def __init__(self, writer: Writer, profile: Profile, is_root: bool) -> None:
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

    def finished(self, name: str, lines: list[str]) -> Kernel:
        formals = tuple(formal for _, formal in sorted(self.formals.items()))
        arguments = ", ".join(f"{formal.kind} {formal.name}" for formal in formals)
        head = f"kernel {name}({arguments}) {{" if formals else f"kernel {name} {{"
        assumed = [self.formula(value) for value in self.counter.assumptions.values()]
        comments = _comments(self.profile.comment, self.profile.span)
        if assumed:
            comments.append(f"// holds where none of these is below 0: {', '.join(assumed)}")
        declared = [*self.local, ""] if self.local else []
        return Kernel(name, formals, (*comments, head, *declared, *lines, "}"))

    # -- names -------------------------------------------------------------------------------------

    def formula(self, value: Value) -> str:
        """A value in the language."""
        return self.printed(v.expression(self.settled(value)))

    def settled(self, value: Value) -> Value:
        """With a parameter in place of each unknown."""
        given = {}
        for symbol in v.in_order(v.symbols(value)):
            if symbol.payload[1] in (UNKNOWN, STEADY):
                given[symbol] = self.writer.parameter(symbol)
        return v.replaced(value, given) if given else value

    def printed(self, expr: Expr) -> str:
        symbols = v.in_order(graph.free_symbols(expr))
        for symbol in symbols:
            self.named(symbol)
        if len(symbols) > 200:
            raise TooLarge("too many names")
        return "".join(written(expr, ASPEN, self.symbols))

    def named(self, symbol: Expr) -> str:
        """The name of a symbol in this kernel: a parameter of the model, an argument, or the counter of a loop."""
        if symbol in self.symbols:
            return self.symbols[symbol]
        name, owner = symbol.payload[0], symbol.payload[1]
        if owner == SIZE:
            self.writer.used.add(symbol)
            self.symbols[symbol] = self.names.holes[symbol].name if symbol in self.names.holes else name
        elif owner.startswith(SIZE):
            self.symbols[symbol] = self._argument(symbol, name)
        else:
            self.symbols[symbol] = self._free(name.split("#")[0] or "pass")
            self.counters.add(symbol)
        return self.symbols[symbol]

    def _argument(self, symbol: Expr, name: str) -> str:
        bound = self.writer.bound.get(symbol)
        if bound is not None:
            return self.named(bound)
        position = self.profile.formals.index(symbol) if symbol in self.profile.formals else -1
        if self.is_root or position < 0:
            meaning = f"argument `{name}` of {self.profile.name}"
            hole = self.names.parameter(symbol, name, self.profile.span, meaning, ("argument", name))
            (only,) = v.symbols(hole)
            return self.named(only)
        free = self._free(name)
        self.formals[position] = Formal(position, "param", free)
        return free

    def _free(self, wanted: str) -> str:
        """A name that neither the model nor this kernel has."""
        name, number = self.names.plain(wanted), 2
        while name in self.taken or name in self.names.taken:
            name, number = f"{self.names.plain(wanted)}_{number}", number + 1
        self.taken.add(name)
        return name

    def array(self, key: str) -> str:
        """The name of an array here; it is declared where it belongs."""
        array = self.names.arrays[key]
        key = self.names.canonical(key, self.writer.same)
        array = self.names.arrays.get(key) or array.replace(key=key)
        if key in self.own:
            return self.own[key]
        if key in self.profile.formals and not self.is_root:
            position = self.profile.formals.index(key)
            name = self._free(array.name)
            self.formals[position] = Formal(position, "data", name)
        elif array.volume is not None and self._is_local(array.volume):
            name = self._free(array.name)
            self.local.append(f"data {name} {self.size(array)}")
        else:
            return self.shared(array)
        self.own[key] = name
        return name

    def shared(self, array: Array) -> str:
        """The name of an array that belongs to the model."""
        if array.key in self.names.shared:
            return self.names.shared[array.key]
        name = self.names.shared[array.key] = self.names.unique(array.name) if array.hold == "formal" else array.name
        self.writer.data[array.key] = array
        return name

    def _is_local(self, volume: Value) -> bool:
        """Whether a size depends on arguments that only this kernel knows."""
        owners = {symbol.payload[1] for symbol in v.symbols(volume)}
        return not self.is_root and any(owner.startswith(f"{SIZE} ") for owner in owners)

    def size(self, array: Array) -> str:
        """How a declaration of data says the size of an array."""
        if array.volume is None:
            bytes_ = self.names.hole(
                f"{array.name}_bytes",
                f"bytes of `{array.name}`, which the source does not say",
                constant(8_000_000),
                array.span,
                1,
            )
            return f"[{self.formula(bytes_)}]"
        extents = [extent for extent in array.extents if extent is not None]
        product = constant(array.word)
        for extent in extents:
            product = v.times(product, extent)
        if extents and len(extents) == len(array.extents) and v.same(product, array.volume):
            shape = {1: "Array", 2: "Matrix", 3: "Volume"}.get(len(extents), "Array")
            return f"as {shape}({', '.join(map(self.formula, extents))}, {array.word})"
        return f"[{self.formula(array.volume)}]"

    # -- statements --------------------------------------------------------------------------------

    def statements(self, items: list[Item], around: tuple[Nest, ...]) -> list[str]:
        lines: list[str] = []
        waiting: list[Item] = []
        for item in items:
            if isinstance(item, Nest | Invocation | Exchange) or (
                isinstance(item, Choice) and (height(item) or parted([item]))
            ):
                lines += self._plain(waiting)
                waiting = []
                lines += self._statement(item, around)
            else:
                waiting.append(item)
        return lines + self._plain(waiting)

    def _plain(self, items: list[Item]) -> list[str]:
        """Code outside of loops."""
        return self._block(items, None) if items else []

    def _statement(self, item: Item, around: tuple[Nest, ...]) -> list[str]:
        if isinstance(item, Invocation):
            return self._call(item)
        if isinstance(item, Exchange):
            return self._exchange(item)
        if isinstance(item, Choice):
            return self._choice(item, around)
        assert isinstance(item, Nest)
        if self._is_block(item):
            try:
                return self._where_it_runs(item, self._block([item], item))
            except (NoClosedForm, TooLong):
                pass
        return self._loop(item, around)

    def _where_it_runs(self, nest: Nest, lines: list[str]) -> list[str]:
        """A block in a loop of the model, where some pass of that loop may leave it nothing to do."""
        empty = [
            bound for bound in nest.bounds if v.counters(bound) and not self.counter.holds(v.minus(bound, ONE), (), ())
        ]
        if not lines or not empty:
            return lines
        return [f"if ({' and '.join(f'{self.formula(bound)} > 0' for bound in empty)}) {{", *lines, "}"]

    def _is_block(self, nest: Nest) -> bool:
        """Whether a nest is told as one block, in which its data stay in the caches."""
        if parted(nest.body):
            return False
        if not is_parallel(nest) and any(is_parallel(inner) for inner in nests_in(nest.body)):
            return False
        inside = [item for item in nest.body if isinstance(item, Nest | Choice) and height(item)]
        deep = [item for item in inside if height(item) > 1]
        if len(deep) > 1:
            return any(_depends(item, nest.counter) for item in inside)
        return True

    def _loop(self, nest: Nest, around: tuple[Nest, ...]) -> list[str]:
        """A loop of the model."""
        self.counter.around.append(nest)
        inner = self.statements(nest.body, (*around, nest))
        self.counter.around.pop()
        if not inner:
            return []
        passes = v.extreme("min", nest.bounds)
        if not self.counter.holds(passes, around, ()):
            passes = v.extreme("max", (ZERO, passes))
        if nest.share is not None:
            passes = v.times(passes, nest.share)
        count = self.formula(passes)
        counter = f" {self.symbols[nest.counter]}" if nest.counter in self.counters else ""
        return [*_comments(nest.comment, nest.span), f"iterate{counter} [{count}] {{", *inner, "}"]

    def _choice(self, item: Choice, around: tuple[Nest, ...]) -> list[str]:
        then, otherwise = (self.statements(side, around) for side in (item.then, item.otherwise))
        if not then and not otherwise:
            return []
        if item.share is not None:
            if not item.share.terms:
                return otherwise
            then = then or NOTHING
            share = self.formula(item.share)
            lines = ["probability {", f"[{share}] {{", *then, "}"]
            return [*lines, *(["else {", *otherwise, "}"] if otherwise else []), "}"]
        if not item.guards:
            return [*then, *otherwise]
        condition = " and ".join(f"{self.formula(guard.value)} {guard.operator} 0" for guard in item.guards)
        tail = ["else {", *otherwise, "}"] if otherwise else []
        return [f"if ({condition}) {{", *(then or NOTHING), "}", *tail]

    def _call(self, item: Invocation) -> list[str]:
        kernel = self.writer.kernels.get(item.function)
        if kernel is None:
            return []
        arguments = []
        for formal in kernel.formals:
            given = item.arguments[formal.position] if formal.position < len(item.arguments) else None
            if isinstance(given, Place):
                arguments.append(self.array(given.array))
            elif given is not None:
                arguments.append(self.formula(given))
            elif formal.kind == "param":
                unknown = self.names.hole(
                    f"{kernel.name}_{formal.name}",
                    f"argument `{formal.name}` of {kernel.name}",
                    constant(100),
                    item.span,
                    1,
                )
                arguments.append(self.formula(unknown))
            else:
                arguments.append(
                    self.shared(Array(f"{kernel.name}.{formal.name}", f"{kernel.name}_{formal.name}", "formal", 8))
                )
        return [f"call {kernel.name}({', '.join(arguments)})" if arguments else f"call {kernel.name}"]

    def _exchange(self, item: Exchange) -> list[str]:
        """What one rank sends; all take part."""
        way = f"messages [{self.formula(item.volume)}]" + (f" as {item.exchange}" if item.exchange else "")
        told = f"  // {item.told}" if item.told else ""
        head = f"execute [{self.formula(self.names.ranks())}] {{"
        return [*_comments("", item.span), head, way + told, "}"]

    # -- blocks ------------------------------------------------------------------------------------

    def _block(self, items: list[Item], nest: Nest | None) -> list[str]:
        amounts = Summary(self.counter, self.names.varying).amounts(items)
        parts = () if nest is None else self._parts(nest)
        simd = any(found.is_simd for inner in nests_in(items) for found in directives(inner.pragmas))
        lines = self._requirements(amounts, parts, ", simd" if simd else "")
        if not lines:
            return []
        offloaded = nest is not None and any(found.is_offloaded for found in directives(nest.pragmas))
        label = ' "target"' if offloaded else ""
        head = f"execute [{self.formula(_product(parts))}]{label} {{" if parts else "execute {"
        comments = _comments(nest.comment, nest.span) if nest is not None else []
        remarks = [*self._reduced(nest), *self._remarks(amounts)]
        return [*comments, *remarks, head, *lines, "}"]

    def _parts(self, nest: Nest) -> tuple[Value, ...]:
        """Into how many parts loops are parted that run side by side, the outermost first: threads, or on a device the
        passes of all loops that are collapsed."""
        found = parallel(nest.pragmas)
        if found is None:
            return ()
        passes: list[Value] = []
        inner = nest
        for depth in range(found.collapsed if found.is_offloaded else 0):
            inside = [item for item in inner.body if isinstance(item, Nest)]
            if (
                len(inner.bounds) != 1
                or v.counters(inner.bounds[0])
                or (depth + 1 < found.collapsed and len(inside) != 1)
            ):
                return (self.threads(),)
            passes.append(inner.bounds[0])
            inner = inside[0] if inside else inner
        return tuple(passes) or (self.threads(),)

    @staticmethod
    def _reduced(nest: Nest | None) -> list[str]:
        found = parallel(nest.pragmas) if nest is not None else None
        return [f"// combined over threads: {', '.join(found.reductions)}"] if found and found.reductions else []

    def threads(self) -> Value:
        if self.writer.threads is None:
            self.writer.threads = self.names.hole("threads", "threads of OpenMP", ONE, None, 1)
        return self.writer.threads

    def _requirements(self, amounts: Amounts, parts: tuple[Value, ...], simd: str) -> list[str]:
        def shared(value: Value) -> str:
            return self.formula(v.ratio(value, _product(parts)) if parts else value)

        lines = []
        for done in amounts.operations:
            if done.name == "integer":
                lines += [f"intops [{shared(done.amount)}]"] if self.writer.options.integers else []
            elif done.name.startswith("call "):
                each = self.names.library(done.name[5:])
                trait = f" as {done.precision}" if done.precision else ""
                lines.append(f"flops [{shared(v.times(done.amount, each))}]{trait}  // {done.name}")
            else:
                lines.append(f"flops [{shared(done.amount)}] as {done.name}, {done.precision}{simd}")
        for chain in amounts.chains if self.writer.options.chains else ():
            for name in dict.fromkeys(chain.classes):
                times = chain.classes.count(name)
                lines.append(f"chain [{shared(v.scaled(chain.passes, times))}] as {name}")
        for access in amounts.accesses:
            if access.pattern is None or not access.pattern.anywhere:
                self.writer.reached(self.names.canonical(access.array, self.writer.same), access.reach)
        for request in requests(amounts.accesses, amounts.depth):
            array = self.array(request.array)
            way = f"{request.kind}s [{shared(request.words)}] of size [{request.size}]"
            way += f" {'from' if request.kind == 'load' else 'to'} {array}"
            arguments = ", ".join(map(self.formula, _of_one(request, parts)))
            trait = f"{request.trait}({arguments})" if arguments else request.trait
            if v.number(request.reuse) != 1:
                trait += f", reuse({self.formula(request.reuse)})"
            lines.append(f"{way} as {trait}" if trait else way)
        return lines

    def _remarks(self, amounts: Amounts) -> list[str]:
        """What is told in comments alone."""
        found = []
        integers = [done for done in amounts.operations if done.name == "integer"]
        if integers and not self.writer.options.integers:
            found.append(f"// integer operations: {self.formula(integers[0].amount)}")
        for chain in amounts.chains if not self.writer.options.chains else ():
            chained = f"{', '.join(chain.classes)} of {chain.subject}"
            found.append(f"// each pass waits for the one before: {chained}, {self.formula(chain.passes)} times")
        return found


def _product(parts: tuple[Value, ...]) -> Value:
    product = ONE
    for part in parts:
        product = v.times(product, part)
    return product


def _of_one(request: Request, parts: tuple[Value, ...]) -> tuple[Value, ...]:
    """The arguments of a pattern for one instance, where its loops are parted, the outermost first."""
    arguments = list(request.arguments)
    step = 2 if request.trait == "nest" else 1
    for place, part in zip(range(len(arguments) - 1, 0, -step), parts, strict=False):
        arguments[place] = v.ratio(arguments[place], part)
    return tuple(arguments)


def is_parallel(nest: Nest) -> bool:
    return parallel(nest.pragmas) is not None


def nests_in(items: Iterable[Item]) -> Iterable[Nest]:
    for item in items:
        if isinstance(item, Nest):
            yield item
            yield from nests_in(item.body)
        elif isinstance(item, Choice):
            yield from nests_in([*item.then, *item.otherwise])


def _depends(item: Item, counter: Expr) -> bool:
    """Whether the passes of the loops in an item depend on a counter."""
    return any(v.depends(bound, counter) for nest in nests_in([item]) for bound in nest.bounds)


def _comments(comment: str, span: Span | None) -> list[str]:
    found = [f"// {comment}"] if comment else []
    if span is not None:
        words = " ".join(span.text().split())
        found.append(f"// {_where(span)}: {words if len(words) < 80 else words[:77] + '...'}")
    return found


def _where(span: Span | None) -> str:
    """File and line."""
    if span is None:
        return ""
    name = span.source.name.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{span.position().line}"


__all__ = ["Domain", "Kernel", "Options", "Writer"]
