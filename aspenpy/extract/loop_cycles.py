"""Cycles of loops as they are compiled, put beside the operations of the source.

A loop that went several ways in a run has the cycles of its path. Those of others are of windows: a lap in the middle
of a long loop, or a whole row where a loop begins anew in each pass of another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from aspenpy.assembly.forwarding import HandedOn
from aspenpy.assembly.library_calls import is_opaque_call
from aspenpy.assembly.windows import LoopWalk, SimulationWindow, make_window
from aspenpy.extract import values as v
from aspenpy.extract.compiled import (
    CompiledLoops,
    Match,
    count_source_flops,
    is_in_vectors,
    is_mixed,
    list_innermost,
    locate,
    match_loops,
    nest_lines,
)
from aspenpy.extract.compiled_counts import CompiledCounts, compare_counts
from aspenpy.extract.costs import CYCLES, Alternative, Arithmetic, FunctionCosts, Item, MemoryAccess, Nest, walk_items
from aspenpy.extract.lookups import add_items, list_waiting
from aspenpy.extract.path_price import constant_cycles, price_path, round_cycles
from aspenpy.extract.paths import PassWeights
from aspenpy.extract.values import ONE, Value
from aspenpy.record import Record

SAMPLES = (1, 4, 16, 48)
"""Laps of an inner loop for which whole rows are simulated, where the number of its passes is no constant."""

FILLED = 32
"""Bytes that functions of the library that compilers call in place of loops write in a cycle: 32 to 37 (memset) and 28
to 35 (memcpy) on a Zen 5, glibc 2.36, 4 to 256 KiB."""


def add_cycles(profile: FunctionCosts, items: list[Item], code: CompiledLoops) -> list[Item]:
    """The items of a function, with the cycles of each outermost loop whose innermost loops are all found."""
    return [_add_to_item(item, code, profile.name) for item in items]


def _add_to_item(item: Item, code: CompiledLoops, name: str) -> Item:
    if isinstance(item, Alternative):
        then, otherwise = ([_add_to_item(inner, code, name) for inner in side] for side in (item.then, item.otherwise))
        return item.replace(then=then, otherwise=otherwise)
    if not isinstance(item, Nest):
        return item
    path = price_path(item, code, name)
    if path is not None:
        code.priced += [True] * max(1, sum(1 for _ in list_innermost([item], ())))
        wide = {id(item)} if is_in_vectors(path.loop) else set()
        return _insert(item, Insertions(path.added, wide, {id(item): path.counts}), is_wide=False)
    is_deep = any(isinstance(inner, Nest) for inner in walk_items(item.body))
    has_branches = any(isinstance(one, Alternative) and one.share is not None for one in walk_items(item.body))
    # Of a run loops inside may have paths of their own.
    has_paths = has_branches or any(price_path(inner, code, name) for inner in _list_mixed(item.body))
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
        add_items(added, list_waiting(match.nest, match.loop, match.passes * match.rows, match.around, code))
    code.priced += [True] * len(matches)
    wide = {id(match.nest) for match in matches if is_in_vectors(match.loop)}
    counts = {id(match.nest): _count_match(match, code.list_kept()) for match in matches}
    return _insert(item, Insertions(added, wide, counts), is_wide=False)


def _list_mixed(items: Iterable[Item]) -> Iterator[Nest]:
    return (item for item in walk_items(items) if isinstance(item, Nest) and is_mixed(item))


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
        return match.nest, constant_cycles(cycles[0] / passes)
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
            places = [locate(one.place) in lines for one in match.outer.function.blocks[number].instructions]
            if number != match.outer.header and sum(places) > 0.8 * len(places) and len(places) > 1:
                others.add(number)
    return frozenset(others)


def _law_of_rows(nest: Nest, rows: Sequence[tuple[int, Fraction]], steady: Fraction) -> Value:
    """Cycles of a row of K passes: those of rows that were simulated. Where K is no constant, the largest of straight
    lines through rows of neighbouring lengths, and of one with the slope of a long loop through the longest where that
    is steeper: rows overlap the less the longer they are, so that the law bends upwards alone."""
    if len(rows) == 1:
        return constant_cycles(rows[0][1])
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
    return v.add(v.scale(passes, round_cycles(slope)), v.scale(ONE, round_cycles(start)))
