"""Loops of a program as they are compiled, and which of them do the work of which loops of the source.

Each innermost loop of the source is looked up among the compiled ones by the lines of its statements. How many of its
passes a compiled lap makes follows from the bytes by which references move, checked by flops.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from tempfile import TemporaryDirectory

from aspenpy.assembly.compiling import NATIVE, Recipe, compile_listing
from aspenpy.assembly.forwarding import HandedOn, stores_register
from aspenpy.assembly.listing import CompiledFunction, Instruction
from aspenpy.assembly.loops import NaturalLoop, find_loops
from aspenpy.assembly.mca import Simulator, find_simulator, simulate
from aspenpy.assembly.memory_operands import memory_operand
from aspenpy.assembly.mending import mend_for_processor
from aspenpy.assembly.strides import count_flops, flops_of, largest_stride, writes_target
from aspenpy.assembly.windows import LoopWalk, SimulationWindow
from aspenpy.extract import values as v
from aspenpy.extract.costs import Alternative, Arithmetic, Array, Item, MemoryAccess, Nest, walk_items
from aspenpy.extract.locality import Handover, Site, TouchCounts
from aspenpy.extract.outcomes import Guesses
from aspenpy.extract.paths import Located, Ran, WrongJumps, line_of, line_starts, list_marks, locate_columns, real_path
from aspenpy.extract.units import TranslationUnit
from aspenpy.extract.values import ONE, Value
from aspenpy.language.source import Span
from aspenpy.record import Record

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

LONE_TEST = ("testl %eax, %eax",)
"""What is between two wrong guesses at least, whose time is in what a machine states of them."""

FILLING = frozenset({"memset", "memcpy", "memmove"})
"""Functions of the library that compilers call in place of loops."""

SELDOM = 0.2
"""The part of loads between two stores below which it is left out that they wait for what was stored."""


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
                for place in dict.fromkeys(map(locate, (one.place for one in loop.instructions()))):
                    self.lines.setdefault(place, []).append(loop)
        self.functions = {function.name: function for function in functions}
        self.jumps: dict[Located, list[int]] = {}
        instructions = [one for function in functions for block in function.blocks for one in block.instructions]
        for one in instructions:
            if one.is_conditional:
                self.jumps.setdefault(locate(one.place), []).append(one.place[2])
        calls = (one for one in instructions if one.is_call and one.operands)
        self.filled = {locate(one.place) for one in calls if one.operands[0].split("@")[0] in FILLING}
        self.left = MOST_INSTRUCTIONS
        self.priced: list[bool] = []
        self.in_turn: list[Span] = []
        self.ran: Ran = {}
        self.runs: Sequence[tuple[Ran, WrongJumps]] = ()
        self.add_measured: AddMeasured = lambda span, cycles: ONE
        self.wrong = WrongJumps({})
        self.arrays: Mapping[str, Array] = {}
        self.handed: tuple[HandedOn, ...] = ()
        self.moving: dict[Located, list[Instruction]] = {}
        for one in instructions:
            if memory_operand(one):
                self.moving.setdefault(locate(one.place), []).append(one)

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
        good = [loop for loop in found.values() if share_of_lines(loop, lines) >= Fraction(3, 10)]
        own = [loop for loop in good if loop.function.name.split(".")[0] == name]
        return own or good

    def is_inlined(self, lines: Iterable[Located], places: Collection[Located]) -> bool:
        """Whether a loop that is on some lines of a function stands in a compiled loop around a call of it, which is at
        one of some places."""
        for loop in {id(loop): loop for line in lines for loop in self.lines.get(line, ())}.values():
            around = self.parents.get(id(loop))
            while around is not None:
                if any(locate(one.place) in places for one in around.instructions()):
                    return True
                around = self.parents.get(id(around))
        return False

    def count_jumps(self, condition: Span) -> int:
        """Number of compiled jumps for a condition: between its first letter, or the bracket before it, and its
        last, or at the marks of the choice behind it."""
        source, start, end = condition.resolve()
        starts = line_starts(source)
        first = bisect_right(starts, start) - 1
        path, least = line_of(condition)
        marks = map(locate_columns, list_marks(condition))
        found = sum(self.jumps.get(place, []).count(column) for place, column, _ in marks)
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
        self.left, self.priced, self.in_turn, self.arrays = MOST_INSTRUCTIONS, [], [], arrays
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
        than the source. Of two beside each other, as GCC writes them where arrays might overlap, it is the
        one in vectors, whose jump and counter may be on any of its lines."""
        lines = nest_lines(nest)
        good = [(loop, share_of_lines(loop, lines)) for loop in self.loops]
        good = [(loop, share) for loop, share in good if share >= Fraction(1, 2)]
        levels = _count_levels(nest.body)
        good = [pair for pair in good if pair[0].levels <= levels] or good
        own = [pair for pair in good if pair[0].function.name.split(".")[0] == name] or good
        head = {line_of(nest.span)} if nest.span is not None else set()
        heads = [pair for pair in own if any(locate(one.place) in head for one in pair[0].instructions())] or own
        heads = [pair for pair in heads if _is_steered_from(pair[0], head)] or heads
        best = max(heads, key=lambda pair: len(pair[0].blocks), default=(None, 0))[0]
        if best is None or best.inner or is_in_vectors(best):
            return best
        beside = [
            loop for loop, _ in own if not loop.inner and self.parents.get(id(loop)) is self.parents.get(id(best))
        ]
        return next(filter(is_in_vectors, beside), best)

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


def share_of_lines(loop: NaturalLoop, lines: frozenset[Located]) -> Fraction:
    places = [locate(one.place) in lines for one in loop.instructions()]
    return Fraction(sum(places), max(1, len(places)))


def _is_steered_from(loop: NaturalLoop, head: Collection[Located]) -> bool:
    """Whether a jump that ends a loop's lap, or leads out of it, is from the line of a loop's head."""
    for number in loop.blocks:
        block = loop.function.blocks[number]
        ends = any(after == loop.header or after not in loop.blocks for after in block.successors)
        if ends and any(one.is_conditional and locate(one.place) in head for one in block.instructions[-2:]):
            return True
    return False


def locate(place: tuple[str, int, int]) -> Located:
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
    for around in list_innermost(items, ()):
        if any(nest is done for nest in around for done in covered):
            continue
        match = _match_loop(around, code, name)
        if match is None:
            return None
        found.append(match)
        covered.append(match.nest)
    return found


def list_innermost(items: Iterable[Item], around: tuple[Nest, ...]) -> Iterator[tuple[Nest, ...]]:
    """Innermost loops, each behind the loops around it."""
    for item in items:
        if isinstance(item, Nest):
            inside = list(list_innermost(item.body, (*around, item)))
            yield from inside or [(*around, item)]
        elif isinstance(item, Alternative):
            yield from list_innermost((*item.then, *item.otherwise), around)


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
        matches = [match for loop in candidates if (match := measure_match(nest, loop)) is not None]
        if matches:
            best = max(matches, key=lambda match: match.passes * match.rows)
            outer = code.parents.get(id(best.loop))
            return best.replace(around=around[depth - 1] if depth and not best.is_reordered else None, outer=outer)
    return None


def _stores_at(loop: NaturalLoop, lines: frozenset[Located]) -> bool:
    """Whether a compiled loop stores for statements on some lines."""
    stores = (one for one in loop.instructions() if writes_target(one) and "(" in one.operands[-1])
    return any(locate(one.place) in lines for one in stores)


def _is_short(nest: Nest) -> bool:
    passes = v.number(nest.bounds[0]) if len(nest.bounds) == 1 else None
    return passes is not None and passes <= MOST_UNROLLED


def measure_match(nest: Nest, loop: NaturalLoop) -> Match | None:
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


def is_mixed(nest: Nest) -> bool:
    """Whether a loop does work of its own beside a loop inside it whose few passes a compiler may write out."""
    inside = [item for item in nest.body if isinstance(item, Nest)]
    return bool(inside) and all(map(_is_short, inside)) and any(isinstance(item, MemoryAccess) for item in nest.body)


def is_in_vectors(loop: NaturalLoop) -> bool:
    return any(each.in_vectors for each in count_flops(loop.instructions()))
