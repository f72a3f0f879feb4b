"""Reading: accesses from the traits of requirements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aspenpy.cost.caches import triangular
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.domain import COUNTERS, MOST_LOOPS, CrookedBound, StridedLoop
from aspenpy.cost.caches.nest import AccessNest, product
from aspenpy.cost.caches.patterns import Affine, Distances, Pattern, Scattered, Stencil
from aspenpy.cost.trait_names import ADDITIONS, GRID, SHARED, WITH_ARGUMENTS
from aspenpy.cost.value_mistakes import require_whole
from aspenpy.expr import graph
from aspenpy.expr.expansion import gather_terms, multiply_out
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import is_certainly_at_most
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.models.application.flow_builder import UNITS
from aspenpy.record import Record

NEST = "nest(stride, trips, stride, trips, ...)"


def counted_loops(trait: flow.Trait) -> list[StridedLoop]:
    """The loops, from the innermost outwards; strides as they are written. Counters become those of the block."""
    names, loops = dict[Expr, Expr](), list[StridedLoop]()
    pairs = zip(trait.arguments[::2], trait.arguments[1::2], strict=True)
    for depth, (stride, trips) in reversed([*enumerate(pairs)]):
        if not isinstance(stride, Expr) or isinstance(trips, str):
            hint = "the stride in bytes comes before the trips: `nest(8, j in 0 .. i, 8*n, i in 0 .. n - 1)`"
            fail("wrong-arguments", f"`nest` is written `{NEST}`", trait.span, hint=hint)
        ends = [trips.low, trips.high] if isinstance(trips, flow.Counted) else [graph.ZERO, trips - 1]
        low, high = graph.substitute(ends, names)
        if isinstance(trips, flow.Counted):
            names[trips.counter] = COUNTERS[depth]
        loops.insert(0, StridedLoop(stride, gather_terms(high - low + 1), gather_terms(low)))
    try:
        triangular.count_accesses(tuple(loops))
    except CrookedBound:
        message = "the bounds of a loop must be sums of the outer counters, each times a number"
        hint = "such as `j in i + 1 .. n - 1` or `j in 0 .. 2*i`; a size may stand beside a counter, not as its factor"
        fail("wrong-arguments", message, trait.span, hint=hint)
    return loops


OF_STORES = {
    "fresh": ("nothing was written to such pages that could be loaded", "name it at the store that comes first")
}
"""What adds to the pattern of a store alone: why, and what to do."""

CONTRADICTIONS = {"warm": "has touched the data before", "streaming": "goes past the zeroes in the caches"}
"""What a store is not that is the first to touch its pages."""


def refuse_additions(requirement: flow.Requirement, traits: Mapping[str, flow.Trait]) -> None:
    """Refuses additions that loads do not have, or that contradict each other."""
    for name, (why, hint) in OF_STORES.items():
        if name in traits and requirement.resource != "stores":
            fail("not-a-store", f"`{name}` is of a store: {why}", traits[name].span, hint=hint)
    for name, why in CONTRADICTIONS.items() if "fresh" in traits else ():
        if name in traits:
            message = f"a `fresh` store is the first to touch its pages, and one that is `{name}` {why}"
            fail("contradiction", message, traits[name].span, hint="keep one of the two")
    if "cold" in traits and "warm" in traits:
        message = "`cold` data are in no cache, and those that are `warm` were touched before"
        fail("contradiction", message, traits["warm"].span, hint="keep one of the two")


DEFAULT_WORD = 8
"""Bytes of a word where a requirement gives its amount in bytes alone."""

SENSELESS = "senseless-pattern"
"""The code of arguments that make sense to no cache."""

DIVIDING = "choose sizes that divide each other, or round, as in `floor(n/p)`"


class TraitReader(Record):
    """The surroundings in which a trait is read: the sizes of data structures in bytes, the `pages` before each, the
    arrays behind names, and how to read the histogram in a file: distances in lines, the share of all accesses at each,
    and that of first touches."""

    sizes: Mapping[str, Expr]
    pages: Mapping[str, Expr]
    definitions: Mapping[Expr, Expr]
    histogram: Callable[[str, flow.Trait], tuple[tuple[float, ...], tuple[float, ...], float]]


def read_access(requirement: flow.Requirement, reader: TraitReader, passed_over: frozenset[str]) -> Access | None:
    """The pattern of a requirement; None without one. Traits in `passed_over` are the machine's own."""
    if requirement.resource not in ("loads", "stores"):
        return None
    traits = {trait.name: trait for trait in requirement.traits if trait.name not in passed_over}
    patterns = [trait for name, trait in traits.items() if name in PATTERNS and not _is_plain(trait)]
    if not patterns:
        _refuse_alone(traits)
        return None
    if len(patterns) > 1:
        message = f"an access has one pattern, and this is `{patterns[0].name}` and `{patterns[1].name}`"
        fail("two-patterns", message, patterns[1].span, hint="keep the more precise one")
    word = graph.number(DEFAULT_WORD) if requirement.size is None else requirement.size
    accesses = requirement.amount / word if requirement.size is None else requirement.quantity
    request = _Request(requirement, word, accesses, patterns[0], traits.get("reuse"), reader, checks=[])
    points = _read_offsets(traits["offsets"], patterns[0]) if "offsets" in traits else ()
    grid = _read_grid(traits[GRID], patterns[0]) if GRID in traits else ()
    if points:
        request = request.replace(accesses=accesses / len(points))
    pattern = PATTERNS[patterns[0].name](request)
    pages = reader.pages.get(requirement.target or "")
    if "at" in traits:
        pattern = _place_pattern(pattern, traits["at"])
    elif isinstance(pattern, Affine):
        pattern = pattern.replace(nest=pattern.nest.replace(pages=pages))
    elif isinstance(pattern, Stencil):
        pattern = pattern.replace(pages=pages)
    if points and "streaming" in traits:
        message = "`offsets` are of walks through the caches, and a `streaming` store goes past them"
        fail("contradiction", message, traits["offsets"].span, hint="write one store for each offset")
    if points and isinstance(pattern, Affine):
        pattern = pattern.replace(offsets=points)
    if isinstance(pattern, Affine) and pattern.has_own_loops:
        request.checks.append(_not_too_many(pattern.nest, request))
    refuse_additions(requirement, traits)
    streaming = "streaming" in traits and requirement.resource == "stores"
    flags = ("warm" in traits, streaming, "fresh" in traits, SHARED in traits)
    since, is_cold = request.bytes_since(traits.get("warm")), "cold" in traits
    check = product(request.checks)
    return Access(requirement, word, accesses, pattern, *flags, check=check, since=since, cold=is_cold, grid=grid)


def _place_pattern(pattern: Pattern, trait: flow.Trait) -> Pattern:
    """`at(address)`: where the first word lies."""
    (address, *rest) = trait.arguments or (None,)
    if rest or not isinstance(address, Expr):
        fail(
            "wrong-arguments", "`at` is written `at(address)`", trait.span, hint="an address in bytes, as in `at(4096)`"
        )
    if isinstance(pattern, Scattered | Distances):
        message = "`at` gives the address of a loop, and this pattern has no loops"
        fail("no-loops", message, trait.span, hint="leave it out: it would change nothing")
    if isinstance(pattern, Stencil):
        message = "`at` has no part in how layers of a `stencil` are counted, and would change nothing"
        fail("no-loops", message, trait.span, hint="leave it out, or write the points as the loops of a `nest`")
    return pattern.replace(nest=pattern.nest.replace(place=address))


WITH_OFFSETS = ("stream", "stride", "nest")
"""The patterns that may be at several places at once."""


def _read_offsets(trait: flow.Trait, pattern: flow.Trait) -> tuple[Expr, ...]:
    """`offsets(bytes, bytes, ...)`: how far the words of each pass lie from where its loops are."""
    given = tuple(dict.fromkeys(part for part in trait.arguments if isinstance(part, Expr)))
    if not given or len(given) != len(trait.arguments):
        hint = "one for each word, in bytes and all different, as in `offsets(-8, 0, 8)`"
        fail("wrong-arguments", "`offsets` is written `offsets(bytes, bytes, ...)`", trait.span, hint=hint)
    if pattern.name not in WITH_OFFSETS:
        known = ", ".join(f"`{name}`" for name in WITH_OFFSETS)
        message = f"`offsets` are those of a walk by loops, and `{pattern.name}` is none"
        fail("no-loops", message, trait.span, hint=f"write the walk as one of {known}")
    return given


def _read_grid(trait: flow.Trait, pattern: flow.Trait) -> tuple[StridedLoop, ...]:
    """`grid(stride, trips, ...)`: the loops around those of an instance of a `nest`, of which each pass is another."""
    given = [part for part in trait.arguments if isinstance(part, Expr)]
    if not given or len(given) % 2 or len(given) != len(trait.arguments):
        hint = "bytes from an instance to the next and how many there are, along each axis of the grid"
        fail("wrong-arguments", "`grid` is written `grid(stride, trips, ...)`", trait.span, hint=hint)
    if pattern.name != "nest":
        message = f"a `grid` leads from one instance of a `nest` to the next, and `{pattern.name}` is none"
        fail("no-loops", message, trait.span, hint="write the walk as a `nest`")
    strides = (part if part.kind == "number" else graph.apply("abs", part) for part in given[::2])
    return tuple(map(StridedLoop, strides, (graph.checked("count", trips) for trips in given[1::2])))


def _is_plain(trait: flow.Trait) -> bool:
    """Whether it has the name of a pattern and none of its arguments, as in models older than patterns."""
    return not trait.arguments and trait.name in WITH_ARGUMENTS


def _refuse_alone(traits: Mapping[str, flow.Trait]) -> None:
    for name in ADDITIONS:
        if name in traits:
            known = ", ".join(f"`{pattern}`" for pattern in PATTERNS)
            message = f"`{name}` adds to an access pattern, and there is none here"
            fail("no-pattern", message, traits[name].span, hint=f"name one before it: {known}")


class _Request(Record):
    """The source of a pattern. `checks` are each 1, or fail where an argument makes no sense."""

    requirement: flow.Requirement
    word: Expr
    accesses: Expr
    trait: flow.Trait
    reuse: flow.Trait | None
    reader: TraitReader
    checks: list[Expr]

    def arguments(self, least: int, most: int, form: str, hint: str | None = None) -> list[Expr]:
        given = [argument for argument in self.trait.arguments if isinstance(argument, Expr)]
        if len(given) != len(self.trait.arguments) or not least <= len(given) <= most:
            fail("wrong-arguments", f"`{self.trait.name}` is written `{form}`", self.trait.span, hint=hint)
        return given

    @property
    def times(self) -> Expr:
        """Number of sweeps over the same data."""
        if self.reuse is None:
            return graph.ONE
        (times, *rest) = self.reuse.arguments or (None,)
        if rest or not isinstance(times, Expr):
            fail("wrong-arguments", "`reuse` is written `reuse(times)`", self.reuse.span)
        message = "`reuse` sweeps the data at least once"
        self.require(times, graph.ONE, self.reuse, message, "without it, they are swept once")
        return times

    def passes(self, reach: Expr) -> Expr:
        """Sweeps over its structure of a walk of `reach` bytes, which starts anew at the structure's end."""
        size = self.reader.sizes.get(self.requirement.target or "", reach)
        return graph.ONE if is_certainly_at_most(reach, size) else graph.apply("max", 1, reach / size)

    def bytes_since(self, warm: flow.Trait | None) -> Expr | None:
        """The bytes touched since data that are warm were."""
        if warm is None or not warm.arguments:
            return None
        (since, *rest) = warm.arguments
        if rest or not isinstance(since, Expr):
            fail("wrong-arguments", "`warm` is written `warm` or `warm(bytes)`", warm.span)
        message = "`warm(bytes)` needs at least one word"
        self.require(since, self.word, warm, message, "give the bytes touched since, those of the data among them")
        return since

    def require(self, value: Expr, least: Expr, trait: flow.Trait, message: str, hint: str) -> None:
        """Refuses an argument of a trait below `least`: at once where it is known, else where it has a value."""
        mistake = Diagnostic(SENSELESS, message, trait.span, hint=hint)
        check = graph.if_else(graph.compare("<", value, least), graph.failure(mistake), 1)
        if check.kind == "failure":
            raise AspenError(mistake)
        self.checks.append(check)

    def step(self, stride: Expr, trips: Sequence[Expr]) -> Expr:
        """The bytes that a loop goes on by, whichever way it runs. Sizes and trips are at least 1, so that a product of
        them is no less than what is subtracted from it once."""
        hint = "a loop moves on by whole bytes; choose sizes that divide each other"
        self.checks.append(require_whole(stride, self.trait.span, hint))
        positive = {self.word, *trips}
        terms = multiply_out(stride).terms.items()
        known = all(power > 0 and base in positive for powers, _ in terms for base, power in powers)
        if known and all(factor >= 0 for powers, factor in terms if powers) and sum(factor for _, factor in terms) >= 0:
            return stride
        return graph.apply("abs", stride)


def _stream(request: _Request) -> Affine:
    """One word after the other."""
    request.arguments(0, 0, "stream")
    return _repeat_sweep(request, request.word, request.accesses)


def _stride(request: _Request) -> Affine:
    """Reads `stride(bytes)`: accesses to one word in each step of `bytes` bytes."""
    (stride,) = request.arguments(1, 1, "stride(bytes)")
    return _repeat_sweep(request, request.step(stride, [request.accesses]), request.accesses)


def _repeat_sweep(request: _Request, stride: Expr, accesses: Expr) -> Affine:
    """Reads `reuse(times)`: the same data are swept `times` times; else as often as the walk is longer than they."""
    times = request.passes(stride * accesses) if request.reuse is None else request.times
    sweep = StridedLoop(stride, accesses / times)
    again = () if times is graph.ONE else (StridedLoop(graph.ZERO, times),)
    return Affine(AccessNest(request.word, (sweep, *again)), has_own_loops=False)


def _sweep_in_blocks(request: _Request) -> Affine:
    """Reads a sweep in blocks, each swept `reuse` times before the next."""
    (size,) = request.arguments(1, 1, "blocked(bytes)")
    hint = "give the bytes of a block, as in `blocked(4096)`"
    request.require(size, request.word, request.trait, "a block of `blocked` holds at least one word", hint)
    request.checks.append(require_whole(size, request.trait.span, DIVIDING))
    words = size / request.word
    blocks = request.accesses / (words * request.times)
    loops = (StridedLoop(request.word, words), StridedLoop(graph.ZERO, request.times), StridedLoop(size, blocks))
    return Affine(AccessNest(request.word, loops), has_own_loops=False)


def _nest(request: _Request) -> Affine:
    arguments = request.trait.arguments
    if len(arguments) % 2:
        message = "`nest` takes pairs, the stride in bytes and the trips of each loop, and the last has no trips"
        fail("wrong-arguments", message, request.trait.span)
    if len(arguments) > 2 * MOST_LOOPS:
        fail("wrong-arguments", f"a nest has {MOST_LOOPS} loops at most, not {len(arguments) // 2}", request.trait.span)
    if any(isinstance(argument, flow.Counted) for argument in arguments):
        named = counted_loops(request.trait)
        sizes = [size for loop in named for size in graph.free_symbols(loop.trips)]
        loops = tuple(loop.replace(stride=request.step(loop.stride, sizes)) for loop in named)
    else:
        given = request.arguments(2, 2 * MOST_LOOPS, NEST)
        strides = [request.step(stride, given[1::2]) for stride in given[::2]]
        loops = tuple(map(StridedLoop, strides, [graph.checked("count", trips) for trips in given[1::2]]))
    if request.reuse is not None:
        loops = (*loops, StridedLoop(graph.ZERO, request.times))
    return Affine(AccessNest(request.word, loops), has_own_loops=True)


SLACK = 1e-3
"""Accesses that a nest may make beyond those of its requirement: means of runs are rounded."""


def _not_too_many(nest: AccessNest, request: _Request) -> Expr:
    """1, or the mistake, told when it has a value, of a nest that makes more accesses than the requirement asks for."""
    if is_certainly_at_most(nest.accesses, request.accesses):
        return graph.ONE
    slack = request.accesses * (1 + 1e-9) + SLACK
    message = "the nest makes more accesses than the requirement states"
    hint = "the product of the trips is at most the number of words"
    wrong = graph.failure(Diagnostic("nest-too-large", message, request.trait.span, hint=hint))
    return graph.if_else(graph.compare("<=", nest.accesses, slack), 1, wrong)


def _stencil(request: _Request) -> Stencil:
    points, *extents = request.arguments(3, 4, "stencil(points, nx, ny) or stencil(points, nx, ny, nz)")
    known: dict[int, tuple[int, bool, bool]] = {}
    for radius in range(1, 9):
        for star in (True, False):
            size = 2 * len(extents) * radius + 1 if star else (2 * radius + 1) ** len(extents)
            known.setdefault(
                size, (radius, star, False)
            )  # where both have as many points, the one that reaches less far
        known.setdefault(2 * len(extents) * radius, (radius, True, True))
    asked = points.payload if points.kind == "number" else None
    if not isinstance(asked, int) or asked not in known:
        shapes = ", ".join(str(size) for size in sorted(known)[:6])
        fail("unknown-stencil", f"no stencil in {len(extents)} dimensions has {points} points", request.trait.span,
             hint=f"stars and boxes have {shapes}, ... points")  # fmt: skip
    for extent in extents:
        hint = "give the points that are computed along each axis, as in `stencil(5, nx, ny)`"
        message = "the grid of a stencil has at least one point along each axis"
        request.require(extent, graph.ONE, request.trait, message, hint)
        request.checks.append(require_whole(extent, request.trait.span, DIVIDING))
    radius, star, hollow = known[asked]
    around = () if request.reuse is None else (StridedLoop(graph.ZERO, request.times),)
    return Stencil(tuple(extents), radius, star, request.word, hollow, around=around)


def _random(request: _Request) -> Scattered:
    request.arguments(0, 0, "random")
    name = request.requirement.target
    size = None if name is None else request.reader.sizes.get(name)
    if size is None:
        verb = "to" if request.requirement.resource == "stores" else "from"
        message = "`random` needs the data structure that is accessed, to know its size"
        hint = f"write `{verb} NAME` before `as`, and declare `data NAME [bytes]`"
        fail("no-data", message, request.trait.span, hint=hint)
    return Scattered(size)


def _gather(request: _Request) -> Scattered:
    arguments = request.trait.arguments
    if len(arguments) == 1 and arguments[0] in request.reader.sizes:
        return Scattered(request.reader.sizes[str(arguments[0])])
    hint = "the table is a data structure, or its bytes"
    (table,) = request.arguments(1, 1, "gather(table)", hint)
    request.require(table, request.word, request.trait, "the table of `gather` holds at least one word", hint)
    return Scattered(table)


def _rd(request: _Request) -> Distances:
    distance, unit = _split_unit(request, 1, "rd(distance) or rd(distance, line|word|byte)")
    structure = request.reader.sizes.get(request.requirement.target or "", graph.ZERO)
    return Distances((_distance(distance[0], request.trait),), (graph.ONE,), unit, structure=structure)


def _rdd(request: _Request) -> Distances:
    """A cumulative distribution and its distances: arrays, or the histogram in a file."""
    arguments = request.trait.arguments
    if len(arguments) == 1 and isinstance(arguments[0], str):
        known, parts, first = request.reader.histogram(arguments[0], request.trait)
        numbers = tuple(map(graph.number, known)), tuple(map(graph.number, parts))
        return Distances(*numbers, "line", graph.number(first))
    given, unit = _split_unit(request, 2, 'rdd, rdd(cdf, values), rdd(cdf, values, line|word|byte) or rdd("file.csv")')
    cdf, values = (_array(part, request) for part in given)
    if len(cdf) != len(values):
        message = f"the distribution has {len(cdf)} steps and {len(values)} distances"
        fail("wrong-distribution", message, request.trait.span, hint="give one distance a step")
    ends = graph.apply("abs", cdf[-1] - 1)
    last = _unless(graph.compare(">", ends, 1e-6), cdf[-1], "does not end at 1", request.trait)
    rises = [high - low for low, high in zip((graph.ZERO, *cdf[:-1]), (*cdf[:-1], last), strict=True)]
    shares = [_unless(graph.compare("<", rise, 0), rise, "is not increasing", request.trait) for rise in rises]
    return Distances(tuple(_distance(value, request.trait) for value in values), tuple(shares), unit)


def _split_unit(request: _Request, values: int, form: str) -> tuple[list[Expr], str]:
    """The values of a trait and the unit behind them, `line` where there is none."""
    numbers = [argument for argument in request.trait.arguments[:values] if isinstance(argument, Expr)]
    rest = request.trait.arguments[values:]
    if len(numbers) != values or len(rest) > 1:
        fail("wrong-arguments", f"`{request.trait.name}` is written `{form}`", request.trait.span)
    unit = rest[0] if rest else UNITS[0]
    if not isinstance(unit, str) or unit not in UNITS:
        hint = (
            suggest_nearest(unit, UNITS) if isinstance(unit, str) else None
        ) or "it is counted in `line`, `word` or `byte`"
        fail("unknown-unit", f"a reuse distance is not counted in `{unit}`", request.trait.span, hint=hint)
    return numbers, unit


def _distance(value: Expr, trait: flow.Trait) -> Expr:
    diagnostic = Diagnostic("negative-distance", "a reuse distance is not negative", trait.span)
    return graph.if_else(graph.compare("<", value, 0), graph.failure(diagnostic), value)


def _unless(wrong: Expr, value: Expr, words: str, trait: flow.Trait) -> Expr:
    diagnostic = Diagnostic("wrong-distribution", f"the cumulative distribution {words}", trait.span)
    return graph.if_else(wrong, graph.failure(diagnostic), value)


def _array(part: Expr, request: _Request) -> tuple[Expr, ...]:
    known = request.reader.definitions.get(part, part)
    if known.kind != "array" or not known.args:
        message = f"`rdd` takes arrays, and `{part}` is none"
        hint = "declare `param rddCDF[] = {...}` and `param rddVals[] = {...}`, or name others: `rdd(cdf, values)`"
        fail("wrong-distribution", message, request.trait.span, hint=hint)
    return known.args


PATTERNS: dict[str, Callable[[_Request], Pattern]] = {
    "stream": _stream,
    "stride": _stride,
    "blocked": _sweep_in_blocks,
    "nest": _nest,
    "stencil": _stencil,
    "random": _random,
    "gather": _gather,
    "rd": _rd,
    "rdd": _rdd,
}
"""How each pattern of `PATTERN_NAMES` is read."""
