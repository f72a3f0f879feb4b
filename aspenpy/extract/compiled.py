"""Cycles of loops as they are compiled, put beside the operations of the source.

Each innermost loop of the source is looked up among the compiled ones by the lines of its statements. How many of its
passes a compiled lap makes follows from the bytes by which references move, checked by flops. Cycles are those of
windows: a lap in the middle of a long loop, or a whole row where a loop begins anew in each pass of another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from tempfile import TemporaryDirectory

from aspenpy.assembly.compiling import NATIVE, Recipe, compile_listing
from aspenpy.assembly.forwarding import HandedOn, stores_register
from aspenpy.assembly.library_calls import is_opaque_call
from aspenpy.assembly.listing import CompiledFunction, Instruction
from aspenpy.assembly.loops import NaturalLoop, find_loops
from aspenpy.assembly.mca import Simulator, find_simulator, simulate
from aspenpy.assembly.memory_operands import memory_operand
from aspenpy.assembly.mending import mend_for_processor
from aspenpy.assembly.recurrences import find_waiting_loads
from aspenpy.assembly.strides import count_flops, flops_of, largest_stride, writes_target
from aspenpy.assembly.windows import LoopWalk, SimulationWindow, make_window
from aspenpy.extract import values as v
from aspenpy.extract.compiled_counts import CompiledCounts, compare_counts
from aspenpy.extract.costs import (
    CYCLES,
    WAITING,
    Alternative,
    Arithmetic,
    Array,
    FunctionCosts,
    Invocation,
    Item,
    MemoryAccess,
    Nest,
    walk_items,
)
from aspenpy.extract.locality import Handover, Site, TouchCounts
from aspenpy.extract.outcomes import Guesses
from aspenpy.extract.paths import (
    FollowedCode,
    Located,
    LoopEntry,
    PassWeights,
    PathWalk,
    Ran,
    WrongJumps,
    flops_of_path,
    line_of,
    line_starts,
    list_inner_nests,
    make_path_window,
    mean_passes,
    real_path,
)
from aspenpy.extract.units import TranslationUnit
from aspenpy.extract.values import ONE, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

SAMPLES = (1, 4, 16, 48)
"""Laps of an inner loop for which whole rows are simulated, where the number of its passes is no constant."""

MOST_INSTRUCTIONS = 400_000
"""Instructions of a program that are simulated, some 20 s of llvm-mca; what comes behind them has no cycles."""

MOST_UNROLLED = 64
"""Passes of a loop up to which a compiler may have written all of them out."""

VALIDATED = ("znver4", "znver5")
"""Processors on which cycles were compared with measurements (docs/trust.md)."""

MOST_FLOPS_OF_A_PASS = Fraction(17, 10)
"""Flops of a lap, over those of the passes that references say, up to which both agree. Chosen below 2, from which on a
lap holds the flops of a second row."""

FEWER = 3
"""How many times fewer passes flops may say than references: what does not change in a loop is computed before it."""

COUNTED_PATH = 100_000
"""Instructions of a path of which flops, loads and stores are counted."""

LONE_TEST = ("testl %eax, %eax",)
"""What is between two wrong guesses at least, whose time is in what a machine states of them."""

ALIKE = 0.05
"""Relative difference of the passes of a loop in two runs up to which one window stands for both."""

FILLING = frozenset({"memset", "memcpy", "memmove"})
"""Functions of the library that compilers call in place of loops."""

SELDOM = 0.2
"""The part of loads between two stores below which it is left out that they wait for what was stored."""

FILLED = 32
"""Bytes that they write in a cycle: 32 to 37 (memset) and 28 to 35 (memcpy) on a Zen 5, glibc 2.36, 4 to 256 KiB."""


class Match(Record):
    """A loop of the source and the compiled loop that does its work: `passes` of it in a lap. `rows` are the passes of
    the loop around it in a lap of the compiled loop around that one. Where loops are exchanged, so that references move
    by rows, one lies in no row of the other: it `is_reordered`."""

    nest: Nest
    loop: NaturalLoop
    passes: int
    rows: int = 1
    is_reordered: bool = False
    around: Nest | None = None
    outer: NaturalLoop | None = None


AddMeasured = Callable[[Span, Sequence[tuple[int, float]]], Value]
"""Makes a parameter of the cycles of a pass of a loop that were simulated for some runs, by their numbers."""


class CompiledLoops:
    """The compiled loops of a program, by the lines that their instructions come from."""

    def __init__(self, functions: Sequence[CompiledFunction], simulator: Simulator, processor: str) -> None:
        self.simulator, self.processor = simulator, processor
        self.parents: dict[int, NaturalLoop] = {}
        self.loops: list[NaturalLoop] = []
        for function in functions:
            for outermost in find_loops(function):
                for loop in outermost.walk():
                    self.loops.append(loop)
                    self.parents |= {id(inner): loop for inner in loop.inner}
        self.lines: dict[Located, list[NaturalLoop]] = {}
        for loop in self.loops:
            if not loop.inner:
                for place in dict.fromkeys(map(_locate, (one.place for one in loop.instructions()))):
                    self.lines.setdefault(place, []).append(loop)
        self.functions = {function.name: function for function in functions}
        self.jumps: dict[Located, list[int]] = {}
        instructions = [one for function in functions for block in function.blocks for one in block.instructions]
        for one in instructions:
            if one.is_conditional:
                self.jumps.setdefault(_locate(one.place), []).append(one.place[2])
        calls = (one for one in instructions if one.is_call and one.operands)
        self.filled = {_locate(one.place) for one in calls if one.operands[0].split("@")[0] in FILLING}
        self.left = MOST_INSTRUCTIONS
        self.priced: list[bool] = []
        self.ran: Ran = {}
        self.runs: Sequence[tuple[Ran, WrongJumps]] = ()
        self.add_measured: AddMeasured = lambda span, cycles: ONE
        self.wrong = WrongJumps({})
        self.arrays: Mapping[str, Array] = {}
        self.handed: tuple[HandedOn, ...] = ()
        self.moving: dict[Located, list[Instruction]] = {}
        for one in instructions:
            if memory_operand(one):
                self.moving.setdefault(_locate(one.place), []).append(one)

    @property
    def trait(self) -> str:
        """The processor as a trait of the language."""
        return self.processor.replace("-", "_")

    def describe(self) -> str:
        """The sentence in the head of a model on how the cycles were found."""
        seen = "" if self.processor in VALIDATED else ", which nobody has compared with measurements"
        by = f"cycles of {self.processor} by llvm-mca {self.simulator.version}{seen}"
        return f"{by}, in {sum(self.priced)} of {len(self.priced)} loops"

    def find_candidates(self, nest: Nest, name: str) -> list[NaturalLoop]:
        """The innermost compiled loops that have a good part of their instructions from a loop's lines, those of the
        function `name` alone if it has any."""
        lines = nest_lines(nest)
        found = {id(loop): loop for line in lines for loop in self.lines.get(line, ())}
        good = [loop for loop in found.values() if _share_of_lines(loop, lines) >= Fraction(3, 10)]
        own = [loop for loop in good if loop.function.name.split(".")[0] == name]
        return own or good

    def count_jumps(self, condition: Span) -> int:
        """Number of compiled jumps for a condition: between its first letter, or the bracket before it, and its
        last."""
        source, start, end = condition.resolve()
        starts = line_starts(source)
        first = bisect_right(starts, start) - 1
        path, least = line_of(condition)
        found = 0
        for row in range(first, bisect_right(starts, end - 1)):
            low, high = max(start, starts[row]) - starts[row], end - starts[row]
            found += sum(low <= column <= high for column in self.jumps.get((path, least + row - first), ()))
        return found

    def restart(
        self,
        runs: Sequence[tuple[Ran, Mapping[Span, Guesses]]],
        arrays: Mapping[str, Array],
        touched: Mapping[Site, TouchCounts],
        add_measured: AddMeasured,
    ) -> None:
        """Forgets what was priced; loops and branches are walked as in the last of some runs, which touch `arrays`."""
        self.left, self.priced, self.arrays = MOST_INSTRUCTIONS, [], arrays
        self.add_measured = add_measured
        self.runs = [(ran, WrongJumps(guessed)) for ran, guessed in runs]
        self.ran, self.wrong = self.runs[-1] if runs else ({}, WrongJumps({}))
        self.handed = tuple(self._list_handed(touched))

    def _list_handed(self, touched: Mapping[Site, TouchCounts]) -> Iterator[HandedOn]:
        """The instructions of loads and stores of which one hands its value to the other in a run."""
        for site, counts in touched.items():
            if isinstance(site, Handover) and counts.handed_share >= SELDOM:
                loads = frozenset(id(one) for span in site.loads for one in self._find_accesses(span, is_store=False))
                stores = frozenset(id(one) for span in site.stores for one in self._find_accesses(span, is_store=True))
                if loads and stores:
                    yield HandedOn(loads, stores, min(1.0, counts.handed_share), counts.distance)

    def _find_accesses(self, span: Span, is_store: bool) -> list[Instruction]:
        """The loads or stores of floating point that are nearest to an access of the source on its line."""
        found = [
            one
            for one in self.moving.get(line_of(span), ())
            if "mm" in one.text and (stores_register(one) if is_store else memory_operand(one) != one.operands[-1])
        ]
        source, start, _ = span.resolve()
        column = start - (source.text.rfind("\n", 0, start) + 1) + 1
        least = min((abs(one.place[2] - column) for one in found), default=0)
        return [one for one in found if abs(one.place[2] - column) == least]

    def list_kept(self) -> frozenset[str]:
        """The arrays that a compiler may keep in registers, or compute with as constants."""
        return frozenset(key for key, array in self.arrays.items() if array.hold == "local" or array.is_constant)

    def find_around(self, nest: Nest, name: str) -> NaturalLoop | None:
        """The compiled loop of a loop that has others inside, calls or branches: it has the most of its instructions
        from the loop's lines, and of those that have as many it is the largest that has no more levels of loops inside
        than the source."""
        lines = nest_lines(nest)
        good = [(loop, _share_of_lines(loop, lines)) for loop in self.loops]
        good = [(loop, share) for loop, share in good if share >= Fraction(1, 2)]
        levels = _count_levels(nest.body)
        good = [pair for pair in good if pair[0].levels <= levels] or good
        own = [pair for pair in good if pair[0].function.name.split(".")[0] == name] or good
        head = {line_of(nest.span)} if nest.span is not None else set()
        heads = [pair for pair in own if any(_locate(one.place) in head for one in pair[0].instructions())] or own
        heads = [pair for pair in heads if _is_steered_from(pair[0], head)] or heads
        return max(heads, key=lambda pair: len(pair[0].blocks), default=(None, 0))[0]

    def simulate(self, windows: Sequence[SimulationWindow]) -> list[Fraction] | None:
        """Cycles of a lap of each window."""
        stretches = (stretch for window in windows for stretch in (window.first, window.second, *window.pieces))
        texts = [mend_for_processor(stretch, self.processor) for stretch in stretches]
        self.left -= sum(map(len, texts))
        said = simulate(self.simulator, self.processor, [LONE_TEST, *texts])
        if said is None:
            return None
        lone, cycles, found = said[0], iter(said[1:]), list[Fraction]()
        for window in windows:
            first, second = next(cycles), next(cycles)
            waited = sum(max(0, next(cycles) - lone) for _ in window.pieces)  # for one wrong guess after the other
            found.append(max(Fraction(max(1, second - first), window.laps), waited / window.laps_of_pieces))
        return found


def read_code(units: Sequence[TranslationUnit], recipe: Recipe) -> CompiledLoops | str:
    """The loops of a program as it is compiled, or why there are none."""
    simulator = find_simulator()
    if simulator is None:
        return "llvm-mca is not installed"
    functions: list[CompiledFunction] = []
    with TemporaryDirectory(prefix="aspenpy-") as modules:
        waiting = [unit for unit in units if not unit.is_cuda]
        while waiting:
            failed: dict[TranslationUnit, str] = {}
            for unit in waiting:
                flags = (*unit.flags, "-J", modules) if unit.is_fortran else unit.flags
                found = compile_listing(unit.path, recipe, flags)
                if not isinstance(found, str):
                    functions += found
                elif unit.is_fortran:  # it may use a module of another one
                    failed[unit] = found
                else:
                    return found
            if len(failed) == len(waiting):
                return next(iter(failed.values()))
            waiting = list(failed)
    return CompiledLoops(functions, simulator, simulator.host if recipe.target == NATIVE else recipe.target)


def _count_levels(items: Iterable[Item]) -> int:
    """Greatest depth of loops inside one another in some items."""
    levels = [0]
    for item in items:
        if isinstance(item, Nest):
            levels.append(1 + _count_levels(item.body))
        elif isinstance(item, Alternative):
            levels.append(_count_levels((*item.then, *item.otherwise)))
    return max(levels)


def _share_of_lines(loop: NaturalLoop, lines: frozenset[Located]) -> Fraction:
    places = [_locate(one.place) in lines for one in loop.instructions()]
    return Fraction(sum(places), max(1, len(places)))


def _is_steered_from(loop: NaturalLoop, head: Collection[Located]) -> bool:
    """Whether a jump that ends a loop's lap, or leads out of it, is from the line of a loop's head."""
    for number in loop.blocks:
        block = loop.function.blocks[number]
        ends = any(after == loop.header or after not in loop.blocks for after in block.successors)
        if ends and any(one.is_conditional and _locate(one.place) in head for one in block.instructions[-2:]):
            return True
    return False


def _locate(place: tuple[str, int, int]) -> Located:
    return real_path(place[0]), place[1]


def nest_lines(nest: Nest) -> frozenset[Located]:
    """The lines of a loop's head and of all inside it."""
    spans = [nest.span, *(item.span for item in walk_items(nest.body) if not isinstance(item, Nest))]
    spans += [item.span for item in walk_items(nest.body) if isinstance(item, Nest)]
    return frozenset(line_of(span) for span in spans if span is not None)


# -- which compiled loop does the work of which ----------------------------------------------------


def match_loops(items: Iterable[Item], code: CompiledLoops, name: str) -> list[Match] | None:
    """A match for each innermost loop in some items; None where one has none."""
    found: list[Match] = []
    covered: list[Nest] = []
    for around in _innermost(items, ()):
        if any(nest is done for nest in around for done in covered):
            continue
        match = _match_loop(around, code, name)
        if match is None:
            return None
        found.append(match)
        covered.append(match.nest)
    return found


def _innermost(items: Iterable[Item], around: tuple[Nest, ...]) -> Iterator[tuple[Nest, ...]]:
    """Innermost loops, each behind the loops around it."""
    for item in items:
        if isinstance(item, Nest):
            inside = list(_innermost(item.body, (*around, item)))
            yield from inside or [(*around, item)]
        elif isinstance(item, Alternative):
            yield from _innermost((*item.then, *item.otherwise), around)


def _match_loop(around: tuple[Nest, ...], code: CompiledLoops, name: str) -> Match | None:
    """The compiled loop of an innermost loop, or of one around it where all its passes are written out."""
    for depth in range(len(around) - 1, -1, -1):
        nest = around[depth]
        if depth < len(around) - 1 and not _is_short(around[depth + 1]):
            break
        candidates = code.find_candidates(nest, name)
        long = next((one for one in reversed(around[:depth]) if not _is_short(one)), None)
        if long is not None and _is_short(nest):  # where its passes are written out, a loop stores what is behind it
            behind = nest_lines(long) - nest_lines(nest)
            candidates = [loop for loop in candidates if not _stores_at(loop, behind)]
        matches = [match for loop in candidates if (match := _measure(nest, loop)) is not None]
        if matches:
            best = max(matches, key=lambda match: match.passes * match.rows)
            outer = code.parents.get(id(best.loop))
            return best.replace(around=around[depth - 1] if depth and not best.is_reordered else None, outer=outer)
    return None


def _stores_at(loop: NaturalLoop, lines: frozenset[Located]) -> bool:
    """Whether a compiled loop stores for statements on some lines."""
    stores = (one for one in loop.instructions() if writes_target(one) and "(" in one.operands[-1])
    return any(_locate(one.place) in lines for one in stores)


def _is_short(nest: Nest) -> bool:
    passes = v.number(nest.bounds[0]) if len(nest.bounds) == 1 else None
    return passes is not None and passes <= MOST_UNROLLED


def _measure(nest: Nest, loop: NaturalLoop) -> Match | None:
    """Number of passes in one lap of the compiled loop, by strides and by flops; None where these contradict each
    other."""
    lap = LoopWalk(loop, {}).run(1)
    moved, stride = largest_stride(lap), _largest_step(nest)
    by_stride = Fraction(moved, stride) if moved and stride else None
    flops = count_source_flops(nest.body)
    done = flops_of(lap) or flops_of(loop.instructions())  # a lap past a branch may have none
    by_flops = done / flops if flops else None
    if by_flops == 0:
        return None  # a loop for what the compiler does beside it
    if by_stride is None or by_stride.denominator > 1:
        passes = max(1, round(by_flops)) if by_flops else 1
        return Match(nest, loop, passes)
    rows = 1
    if by_flops is not None and by_flops < by_stride / FEWER:
        return Match(nest, loop, max(1, round(by_flops)), is_reordered=True)
    if by_flops is not None and by_flops > MOST_FLOPS_OF_A_PASS * by_stride:
        rows = round(by_flops / by_stride)
        if any(isinstance(item, Nest) for item in walk_items(nest.body)) or _is_short(nest):
            return None  # passes of a short loop around are written out
    return Match(nest, loop, int(by_stride), rows)


def _largest_step(nest: Nest) -> int | None:
    """The most bytes by which a reference moves in a pass; None where none moves by a constant."""
    steps = []
    for item in walk_items(nest.body):
        if isinstance(item, MemoryAccess) and item.offset is not None:
            straight = v.linear_parts(item.offset, nest.counter)
            step = straight and v.number(straight[1])
            if step and step.denominator == 1:
                steps.append(abs(int(step)))
    return max(steps, default=None)


def count_source_flops(items: Iterable[Item]) -> Fraction:
    """Flops of a pass, as both sides of its branches have them; loops inside have constant numbers of passes."""
    total = Fraction(0)
    for item in items:
        if isinstance(item, Arithmetic) and item.name in ("add", "multiply", "divide", "square_root", "fma"):
            total += item.amount
        elif isinstance(item, Alternative):
            total += count_source_flops((*item.then, *item.otherwise))
        elif isinstance(item, Nest):
            total += count_source_flops(item.body) * (v.number(item.bounds[0]) or 1)
    return total


# -- cycles ----------------------------------------------------------------------------------------


def add_cycles(profile: FunctionCosts, items: list[Item], code: CompiledLoops) -> list[Item]:
    """The items of a function, with the cycles of each outermost loop whose innermost loops are all found."""
    return [_add_to_item(item, code, profile.name) for item in items]


def _add_to_item(item: Item, code: CompiledLoops, name: str) -> Item:
    if isinstance(item, Alternative):
        then, otherwise = ([_add_to_item(inner, code, name) for inner in side] for side in (item.then, item.otherwise))
        return item.replace(then=then, otherwise=otherwise)
    if not isinstance(item, Nest):
        return item
    path = _price_path(item, code, name)
    if path is not None:
        code.priced += [True] * max(1, sum(1 for _ in _innermost([item], ())))
        wide = {id(item)} if _is_in_vectors(path.loop) else set()
        return _insert(item, Insertions(path.added, wide, {id(item): path.counts}), is_wide=False)
    is_deep = any(isinstance(inner, Nest) for inner in walk_items(item.body))
    has_branches = any(isinstance(one, Alternative) and one.share is not None for one in walk_items(item.body))
    # Of a run loops inside may have paths of their own.
    has_paths = has_branches or any(_price_path(inner, code, name) for inner in _list_mixed(item.body))
    matches = None if code.ran and is_deep and has_paths else match_loops([item], code, name)
    if matches is None:
        if not is_deep and (filled := _price_filling(item, code)) is not None:
            code.priced.append(True)
            return item.replace(body=[*item.body, filled])
        code.priced += [] if is_deep else [False]
        return item.replace(body=[_add_to_item(inner, code, name) for inner in item.body])
    added: dict[int, list[Arithmetic]] = {}
    for match in matches:
        found = _cycles_of_match(match, [other for other in matches if other.outer is match.outer], code)
        if found is None and is_deep:  # loops inside may have paths of their own
            return item.replace(body=[_add_to_item(inner, code, name) for inner in item.body])
        if found is None:
            code.priced += [False] * len(matches)
            counts = {id(match.nest): _count_match(match, code.list_kept())}  # of one that calls a library, too
            return _insert(item, Insertions({}, set(), counts), is_wide=False)
        nest, cycles = found
        added.setdefault(id(nest), []).append(Arithmetic(CYCLES, code.trait, 1, nest.span, cycles))
        added.setdefault(id(match.nest), []).extend(_list_waiting(match.nest, match.loop, match.passes * match.rows))
    code.priced += [True] * len(matches)
    wide = {id(match.nest) for match in matches if _is_in_vectors(match.loop)}
    counts = {id(match.nest): _count_match(match, code.list_kept()) for match in matches}
    return _insert(item, Insertions(added, wide, counts), is_wide=False)


def _is_mixed(nest: Nest) -> bool:
    """Whether a loop does work of its own beside a loop inside it whose few passes a compiler may write out."""
    inside = [item for item in nest.body if isinstance(item, Nest)]
    return bool(inside) and all(map(_is_short, inside)) and any(isinstance(item, MemoryAccess) for item in nest.body)


def _list_mixed(items: Iterable[Item]) -> Iterator[Nest]:
    return (item for item in walk_items(items) if isinstance(item, Nest) and _is_mixed(item))


def _count_match(match: Match, kept: Collection[str]) -> CompiledCounts:
    """The counts of a lap of a compiled loop; of one with conditions inside none, since each lap goes another way."""
    if match.is_reordered or any(isinstance(one, Alternative) for one in walk_items(match.nest.body)):
        return CompiledCounts({}, ())
    lap = LoopWalk(match.loop, {}).run(1)
    weights = PassWeights(match.nest, {})
    calls = sum(one.is_call and not is_opaque_call(one) for one in match.loop.instructions())  # others are in the lap
    return compare_counts(match.nest, lap, Fraction(calls), Fraction(match.passes * match.rows), weights, kept)


def _price_filling(item: Nest, code: CompiledLoops) -> Arithmetic | None:
    """Cycles of a loop that the compiler has replaced by a function of the library that fills or copies memory."""
    if code.filled.isdisjoint(nest_lines(item)) or count_source_flops(item.body):
        return None
    stores = [one for one in walk_items(item.body) if isinstance(one, MemoryAccess) and one.kind == "store"]
    cycles = Fraction(sum(one.size for one in stores), FILLED)
    return Arithmetic(CYCLES, code.trait, 1, item.span, v.scale(ONE, cycles)) if stores else None


class PricedPath(Record):
    """A compiled loop that was walked as it ran: what is added to the loops of the source, by their identity, and the
    counts of the path."""

    loop: NaturalLoop
    added: dict[int, list[Arithmetic]]
    counts: CompiledCounts


def _price_path(item: Nest, code: CompiledLoops, name: str) -> PricedPath | None:
    """Cycles of a pass of a loop by the path that a run took, and loads that are waited for, by loop: of one that has
    branches on data, several loops or calls inside, none of them long. None of others, and without a run."""
    inner = list(list_inner_nests(item.body))
    innermost = list(_innermost(item.body, ()))
    branches = any(isinstance(one, Alternative) and one.share is not None for one in walk_items(item.body))
    if not code.ran or code.left <= 0 or any(isinstance(one, Invocation) for one in walk_items(item.body)):
        return None
    loop = code.find_around(item, name)
    if loop is None:
        return None
    calls = any(
        one.is_call and one.operands and one.operands[0].split("@")[0] in code.functions for one in loop.instructions()
    )
    has_scalar_laps = _is_mixed(item) and not any(map(_is_in_vectors, loop.inner))  # else laps are several passes
    is_guessed = bool(inner) and any(map(code.wrong.find, loop.instructions()))
    if not (branches or calls or len(innermost) > 1 or has_scalar_laps or is_guessed):
        return None
    laps_inside, added = _list_inner_laps(loop, inner, code)
    trips = _find_trips(laps_inside, code.ran)
    merged = _find_merged(item, inner, loop, code) if not laps_inside else None
    weights = PassWeights(item, code.ran, is_merged=merged is not None)
    followed = FollowedCode(code.functions, frozenset())
    cycles = _simulate_runs(item, loop, laps_inside, code, merged is not None) if trips is not None else []
    if trips is None or not cycles:
        return None
    flops = flops_of_path(item.body, weights)
    walk, laps = PathWalk(followed, weights, trips, COUNTED_PATH, is_even=True), 0
    while len(walk.found) < COUNTED_PATH // 2 and laps < COUNTED_PATH:  # a lap may be much shorter than others
        laps, _ = laps + 1, walk.run(loop, 1)
    passes_of_lap = max(1, round(flops_of(walk.found) / laps / flops)) if flops else 1
    value = _constant(cycles[-1][1] / passes_of_lap)
    if any(abs(each / cycles[-1][1] - 1) > ALIKE for _, each in cycles) and item.span is not None:
        value = code.add_measured(item.span, [(run, float(each / passes_of_lap)) for run, each in cycles])
    added.setdefault(id(merged or item), []).append(Arithmetic(CYCLES, code.trait, 1, item.span, value))
    if not loop.inner and merged is None:
        added[id(item)] += _list_waiting(item, loop, passes_of_lap)
    if walk.is_cut or merged is not None:
        return PricedPath(loop, added, CompiledCounts({}, ()))
    whole = Fraction(laps * passes_of_lap)
    counts = compare_counts(item, walk.found, Fraction(walk.calls), whole, weights, code.list_kept())
    return PricedPath(loop, added, counts)


def _find_merged(item: Nest, inner: Sequence[Nest], loop: NaturalLoop, code: CompiledLoops) -> Nest | None:
    """The loop inside another that a compiler has made one loop with it, whose laps are its passes: their
    number is no constant, so that they are not written out, and no compiled loop inside does its work."""
    if loop.inner or len(inner) != 1 or v.number(inner[0].bounds[0]) is not None:
        return None
    lines = nest_lines(inner[0])
    seen = _share_of_lines(loop, lines) >= Fraction(3, 10) and code.filled.isdisjoint(lines)
    return inner[0] if seen and any(one.is_conditional for one in loop.instructions()) else None


class InnerLaps(Record):
    """A loop of the source inside another, the compiled loop that does its work, and passes of it in a lap."""

    nest: Nest
    loop: NaturalLoop
    passes: int


def _list_inner_laps(
    loop: NaturalLoop, inner: Sequence[Nest], code: CompiledLoops
) -> tuple[list[InnerLaps], dict[int, list[Arithmetic]]]:
    """The compiled loops inside one, and in what it calls, with those of the source; and the loads that these wait
    for."""
    made, added = list[InnerLaps](), dict[int, list[Arithmetic]]()
    lines = {id(nest): nest_lines(nest) for nest in inner}
    functions = {one.operands[0].split("@")[0] for one in loop.instructions() if one.is_call and one.operands}
    called = [found for each in functions if (found := code.functions.get(each)) is not None]
    loops = [each for each in loop.walk() if each is not loop]
    loops += [each for function in called for top in find_loops(function) for each in top.walk()]
    for each in loops:
        shares = [(_share_of_lines(each, lines[id(nest)]), -len(lines[id(nest)]), nest) for nest in inner]
        best = max(shares, key=lambda part: part[:2], default=None)
        if best is None or best[0] < Fraction(3, 10):
            continue
        match = _measure(best[2], each) if not each.inner else None
        made.append(InnerLaps(best[2], each, match.passes if match is not None else 1))
        if not each.inner:
            added.setdefault(id(best[2]), _list_waiting(best[2], each, made[-1].passes))
    return made, added


def _find_trips(laps: Iterable[InnerLaps], ran: Ran) -> dict[LoopEntry, float] | None:
    """Mean laps of compiled loops each time that they are entered in a run; None where one is not known."""
    trips = {}
    for each in laps:
        passes = mean_passes(each.nest, ran)
        if passes is None:
            return None
        trips[each.loop.function.name, each.loop.header] = passes / each.passes
    return trips


def _simulate_runs(
    item: Nest, loop: NaturalLoop, laps: Sequence[InnerLaps], code: CompiledLoops, is_merged: bool
) -> list[tuple[int, Fraction]]:
    """Cycles of a lap of a compiled loop as it went in each run, behind the number of the run; runs in which one is too
    long are left out, and all where it is too long in the last."""
    windows = list[tuple[int, SimulationWindow]]()
    followed = FollowedCode(code.functions, frozenset())
    for number, (ran, wrong) in enumerate(code.runs):
        trips = _find_trips(laps, ran)
        weights = PassWeights(item, ran, is_merged)
        made = None if trips is None else make_path_window(loop, followed, weights, trips, code.handed, wrong)
        windows += [(number, made)] if made is not None else []
    if not windows or windows[-1][0] < len(code.runs) - 1:
        return []
    cycles = code.simulate([window for _, window in windows])
    return [] if cycles is None else [(run, each) for (run, _), each in zip(windows, cycles, strict=True)]


def _list_waiting(nest: Nest, loop: NaturalLoop, passes: int) -> list[Arithmetic]:
    """Loads for which each pass of a loop waits, by their arrays: those of the source on the lines of compiled loads on
    a cycle of dependences."""
    found = []
    for place in find_waiting_loads(LoopWalk(loop, {}).run(1)):
        accesses = [item for item in walk_items(nest.body) if isinstance(item, MemoryAccess) and item.kind == "load"]
        beside = [item for item in accesses if item.span is not None and line_of(item.span) == _locate(place)]
        if beside:
            first = min(beside, key=lambda item: item.offset is not None)
            found.append(Arithmetic(WAITING, first.array, 1, nest.span, v.scale(ONE, Fraction(1, passes))))
    return found


def _is_in_vectors(loop: NaturalLoop) -> bool:
    return any(each.in_vectors for each in count_flops(loop.instructions()))


class Insertions(Record):
    """Items that are added to loops, by the identity of these, the loops that are `wide`, so that their flops are in
    vectors, and the counts of compiled paths."""

    added: dict[int, list[Arithmetic]]
    wide: set[int]
    counts: dict[int, CompiledCounts]


def _insert(item: Item, made: Insertions, is_wide: bool) -> Item:
    """Puts cycles and counts of compiled loops into those of the source."""
    if isinstance(item, Alternative):
        then, otherwise = ([_insert(inner, made, is_wide) for inner in side] for side in (item.then, item.otherwise))
        return item.replace(then=then, otherwise=otherwise)
    if isinstance(item, Arithmetic) and is_wide and item.precision in ("dp", "sp"):
        return item.replace(precision=f"{item.precision}, simd")
    if not isinstance(item, Nest):
        return item
    body = [_insert(inner, made, is_wide or id(item) in made.wide) for inner in item.body]
    counts = made.counts.get(id(item), CompiledCounts({}, ()))
    return item.replace(body=[*counts.scale_items(body), *counts.beside, *made.added.get(id(item), ())])


def _cycles_of_match(match: Match, beside: Sequence[Match], code: CompiledLoops) -> tuple[Nest, Value] | None:
    """Cycles of a pass of a loop, or of the loop around it; None where they are not known."""
    lap = make_window(match.loop, {}, handed=code.handed)
    if lap is None or code.left <= 0:
        return None
    is_row = match.around is not None and match.outer is not None and len(beside) == 1
    rows = _make_rows(match, code.handed) if is_row else []
    cycles = code.simulate([lap, *(window for _, window in rows)])
    if cycles is None:
        return None
    passes = match.passes * match.rows
    if not rows or match.around is None:
        return match.nest, _constant(cycles[0] / passes)
    each = [(laps * match.passes, row / match.rows) for (laps, _), row in zip(rows, cycles[1:], strict=True)]
    return match.around, _law_of_rows(match.nest, each, cycles[0] / passes)


def _make_rows(match: Match, handed: Sequence[HandedOn]) -> list[tuple[int, SimulationWindow]]:
    """Windows of whole rows: of as many laps as a row has, else of some numbers of laps."""
    assert match.outer is not None
    is_whole = len(match.nest.bounds) == 1 and match.nest.share is None
    passes = v.whole_number(match.nest.bounds[0]) if is_whole else None
    avoided = _blocks_to_avoid(match, passes)
    numbers = SAMPLES if passes is None else (max(1, passes // match.passes),)
    windows = [(laps, make_window(match.outer, {match.loop.header: laps}, avoided, handed)) for laps in numbers]
    found = [(laps, window) for laps, window in windows if window is not None]
    return found if len(found) == len(windows) else []


def _blocks_to_avoid(match: Match, passes: int | None) -> frozenset[int]:
    """Blocks of other versions of a loop, and of the passes that are left behind its laps, where none are."""
    assert match.outer is not None
    others = {inner.header for inner in match.outer.inner if inner is not match.loop}
    if passes is None or passes % match.passes == 0:
        lines = nest_lines(match.nest)
        inside = {block for inner in match.outer.inner for block in inner.blocks}
        for number in match.outer.blocks - inside if match.passes > 1 else ():
            places = [_locate(one.place) in lines for one in match.outer.function.blocks[number].instructions]
            if number != match.outer.header and sum(places) > 0.8 * len(places) and len(places) > 1:
                others.add(number)
    return frozenset(others)


def _law_of_rows(nest: Nest, rows: Sequence[tuple[int, Fraction]], steady: Fraction) -> Value:
    """Cycles of a row of K passes: those of rows that were simulated. Where K is no constant, the largest of straight
    lines through rows of neighbouring lengths, and of one with the slope of a long loop through the longest where that
    is steeper: rows overlap the less the longer they are, so that the law bends upwards alone."""
    if len(rows) == 1:
        return _constant(rows[0][1])
    passes = v.extreme_of("min", nest.bounds)
    if nest.share is not None:  # of a loop that is left early a row has as many as it makes on average
        passes = v.multiply(passes, nest.share)
    (first, least), (last, most) = rows[0], rows[-1]
    if v.counters(passes):
        slope = (most - least) / (last - first)
        return _line(passes, slope, least - slope * first)
    lines = []
    for (few, cycles), (many, more) in pairwise(rows):
        slope = (more - cycles) / (many - few)
        lines.append(_line(passes, slope, cycles - slope * few))
    if steady > slope:
        lines.append(_line(passes, steady, most - steady * last))
    return v.extreme_of("max", lines)


def _line(passes: Value, slope: Fraction, start: Fraction) -> Value:
    return v.add(v.scale(passes, _round_cycles(slope)), v.scale(ONE, _round_cycles(start)))


def _constant(cycles: Fraction) -> Value:
    return v.scale(ONE, _round_cycles(cycles))


def _round_cycles(cycles: Fraction) -> Fraction:
    return Fraction(round(cycles * 1000), 1000)
