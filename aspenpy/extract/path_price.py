"""Cycles of a pass of a loop by the path that a run took, counts of that path, and the loads that it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from aspenpy.assembly.loops import NaturalLoop, find_loops
from aspenpy.assembly.strides import flops_of
from aspenpy.assembly.windows import SimulationWindow
from aspenpy.extract import values as v
from aspenpy.extract.compiled import (
    CompiledLoops,
    is_in_vectors,
    is_mixed,
    list_innermost,
    measure_match,
    nest_lines,
    share_of_lines,
)
from aspenpy.extract.compiled_counts import CompiledCounts, compare_counts
from aspenpy.extract.costs import CYCLES, Alternative, Arithmetic, Invocation, Nest, walk_items
from aspenpy.extract.lookups import add_items, find_around, list_waiting
from aspenpy.extract.paths import (
    FollowedCode,
    LoopEntry,
    PassWeights,
    PathWalk,
    Ran,
    flops_of_path,
    list_inner_nests,
    make_path_window,
    mean_passes,
)
from aspenpy.extract.values import ONE, Value
from aspenpy.record import Record

COUNTED_PATH = 100_000
"""Instructions of a path of which flops, loads and stores are counted."""

ALIKE = 0.05
"""Relative difference of the passes of a loop in two runs up to which one window stands for both."""


class PricedPath(Record):
    """A compiled loop that was walked as it ran: what is added to the loops of the source, by their identity, and the
    counts of the path."""

    loop: NaturalLoop
    added: dict[int, list[Arithmetic]]
    counts: CompiledCounts


def price_path(item: Nest, code: CompiledLoops, name: str) -> PricedPath | None:
    """Cycles of a pass of a loop by the path that a run took, and loads that are waited for, by loop: of one that has
    branches on data, several loops or calls inside, none of them long. None of others, and without a run."""
    inner = list(list_inner_nests(item.body))
    innermost = list(list_innermost(item.body, ()))
    branches = any(isinstance(one, Alternative) and one.share is not None for one in walk_items(item.body))
    if not code.ran or code.left <= 0 or any(isinstance(one, Invocation) for one in walk_items(item.body)):
        return None
    loop = code.find_around(item, name)
    if loop is None:
        return None
    calls = any(
        one.is_call and one.operands and one.operands[0].split("@")[0] in code.functions for one in loop.instructions()
    )
    has_scalar_laps = is_mixed(item) and not any(map(is_in_vectors, loop.inner))  # else laps are several passes
    is_guessed = bool(inner) and any(map(code.wrong.find, loop.instructions()))
    if not (branches or calls or len(innermost) > 1 or has_scalar_laps or is_guessed):
        return None
    laps_inside, added = _list_inner_laps(item, loop, inner, code)
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
    value = constant_cycles(cycles[-1][1] / passes_of_lap)
    if any(abs(each / cycles[-1][1] - 1) > ALIKE for _, each in cycles) and item.span is not None:
        value = code.add_measured(item.span, [(run, float(each / passes_of_lap)) for run, each in cycles])
    added.setdefault(id(merged or item), []).append(Arithmetic(CYCLES, code.trait, 1, item.span, value))
    if not loop.inner and merged is None:
        add_items(added, list_waiting(item, loop, passes_of_lap, around=None, code=code))
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
    seen = share_of_lines(loop, lines) >= Fraction(3, 10) and code.filled.isdisjoint(lines)
    return inner[0] if seen and any(one.is_conditional for one in loop.instructions()) else None


class InnerLaps(Record):
    """A loop of the source inside another, the compiled loop that does its work, and passes of it in a lap."""

    nest: Nest
    loop: NaturalLoop
    passes: int


def _list_inner_laps(
    item: Nest, loop: NaturalLoop, inner: Sequence[Nest], code: CompiledLoops
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
        shares = [(share_of_lines(each, lines[id(nest)]), -len(lines[id(nest)]), nest) for nest in inner]
        best = max(shares, key=lambda part: part[:2], default=None)
        if best is None or best[0] < Fraction(3, 10):
            continue
        has_own_lines = list(lines.values()).count(lines[id(best[2])]) == 1
        if has_own_lines and any(part.nest is best[2] and each in part.loop.walk() for part in made):
            continue  # a way back inside the loop itself, such as where a loop inside has no passes
        match = measure_match(best[2], each) if not each.inner else None
        made.append(InnerLaps(best[2], each, match.passes if match is not None else 1))
        if not each.inner and id(best[2]) not in added:
            add_items(added, list_waiting(best[2], each, made[-1].passes, find_around([item], best[2]), code))
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


def constant_cycles(cycles: Fraction) -> Value:
    return v.scale(ONE, round_cycles(cycles))


def round_cycles(cycles: Fraction) -> Fraction:
    return Fraction(round(cycles * 1000), 1000)
