"""Chains of loads that loops wait for, and look-ups: chains that begin anew before the last one's loads are back.

A core goes on behind a loop whose end it guesses rightly. As many rows, passes of the loop around with all their steps,
are under way as its window has room for, up to the next wrong guess: nothing behind that counts until it is known
(interval analysis: Karkhanis and Smith, ISCA 2004, section 3; Eyerman et al., TOCS 27(2), 2009, sections 2 and 3; with
chains of loads, Van den Steen et al., ISPASS 2015). Of 1/p rows from one wrong guess that loads decide to the next the
first waits alone: it is a chain of its own, and the others `restarts(operations)`, of which a machine has the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from aspenpy.assembly.listing import Instruction, Place
from aspenpy.assembly.loops import NaturalLoop
from aspenpy.assembly.recurrences import count_waiting, decide_jumps, find_waiting_loads, waits_for_row_before
from aspenpy.assembly.windows import LoopWalk
from aspenpy.extract import values as v
from aspenpy.extract.blocks import BlockAmounts, OperationCount
from aspenpy.extract.compiled import CompiledLoops, locate
from aspenpy.extract.costs import (
    CUT,
    LINKS,
    RESTARTED,
    ROWS,
    WAITING,
    WRONG,
    Alternative,
    Arithmetic,
    Item,
    MemoryAccess,
    Nest,
    walk_items,
)
from aspenpy.extract.paths import line_of, mean_passes
from aspenpy.extract.values import ONE, ZERO, Value
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.record import Record

ROWS_WALKED = 6
"""Rows of which it is looked at whether one waits for another, so that branches on data go either way."""

LAPS_WALKED = 2
"""Laps of loops inside in each of these rows."""

LONGEST_ROW = 500
"""Operations of a row that wait up to which it may matter that the next one begins meanwhile: a share of a tenth or so,
with windows of 60."""


MOST_GUESSED = 22
"""Laps of a loop up to which its end is guessed rightly where it always makes as many. On a Zen 5 searches of 22 steps
overlap, and those of 23, whose end a load decides, do not."""


def warn_in_turn(span: Span) -> Diagnostic:
    """The warning of rows that may overlap, and are priced one after the other."""
    loop = f"`{span.text()[:60]}`"
    message = f"each walk of {loop} is taken to wait for the one before; walks that need not are faster"
    hint = "nothing here says whether it has to: where k of them overlap, write `as load, chains(k)` in the model"
    return warning("in-turn", message, span, hint=hint)


class ChainPart(Record):
    """Loads of a chain that wait, and the operations of a row of it, where these begin before others are done."""

    words: Value
    operations: Value | None = None


def list_waiting(
    nest: Nest, loop: NaturalLoop, passes: int, around: Nest | None, code: CompiledLoops
) -> dict[int, list[Arithmetic]]:
    """Loads for which each pass of a loop waits, by their arrays, and rows of them, by the identity of the loops that
    they are added to: those of the source on the lines of compiled loads on a cycle of dependences."""
    lap = LoopWalk(loop, {}).run(1)
    places = find_waiting_loads(lap)
    loads = [item for item in walk_items(nest.body) if isinstance(item, MemoryAccess) and item.kind == "load"]
    arrays = list[str]()
    for place in places:
        beside = [item for item in loads if item.span is not None and line_of(item.span) == locate(place)]
        if beside:
            arrays.append(min(beside, key=lambda item: item.offset is not None).array)
    if not arrays:
        return {}
    each = v.scale(ONE, Fraction(1, passes))
    links = count_waiting(lap, places)
    rows = _walk_rows(loop, code)
    is_cut = any(decide_jumps(row, places) for row in rows)
    restarts = _restarts(rows, places, around)
    if restarts and is_cut and (mean_passes(nest, code.ran) or 0) > passes * MOST_GUESSED:
        restarts = None
    if restarts is None:
        _note_in_turn(nest, links / passes, code)
    if not restarts or around is None:
        return {id(nest): [Arithmetic(WAITING, array, 1, nest.span, each) for array in arrays]}
    found = [Arithmetic(CUT if is_cut else RESTARTED, array, 1, nest.span, each) for array in arrays]
    found += [Arithmetic(LINKS, array, 1, nest.span, v.scale(each, links)) for array in dict.fromkeys(arrays)]
    return {
        id(nest): found,
        id(around): [Arithmetic(ROWS, array, 1, around.span, ONE) for array in dict.fromkeys(arrays)],
    }


def _restarts(rows: Sequence[Sequence[Instruction]], places: Collection[Place], around: Nest | None) -> bool | None:
    """Whether each row of a loop begins at a place that no row before has said; None where nobody can tell: stores may
    change what is loaded, calls hide registers, and the rows are those of calls or of conditions."""
    if not rows or around is None:
        return None
    if waits_for_row_before(rows, places):
        return False
    moved = [item for item in walk_items(around.body) if isinstance(item, MemoryAccess)]
    loaded = {item.array for item in moved if item.kind == "load"}
    hides = any(one.mnemonic.startswith(("call", "push", "pop")) for row in rows for one in row)
    return None if hides or any(item.array in loaded for item in moved if item.kind != "load") else True


def _walk_rows(loop: NaturalLoop, code: CompiledLoops) -> list[list[Instruction]]:
    """Some passes of the compiled loop around another; none where that lies in no loop."""
    outer = code.parents.get(id(loop))
    if outer is None:
        return []
    walk = LoopWalk(outer, {each.header: LAPS_WALKED for each in outer.walk() if each is not outer})
    return [walk.run(1) for _ in range(ROWS_WALKED)]


def _note_in_turn(nest: Nest, links: float, code: CompiledLoops) -> None:
    """Takes down that short rows of a loop, which runs more than once, are taken to wait for each other."""
    counted = code.ran.get(nest.span) if nest.span is not None else None
    passes = mean_passes(nest, code.ran)
    is_short = passes is not None and passes * links <= LONGEST_ROW
    if nest.span is not None and counted is not None and counted.entered > 1 and is_short:
        code.in_turn.append(nest.span)


def add_items(added: dict[int, list[Arithmetic]], others: Mapping[int, Sequence[Arithmetic]]) -> None:
    """Adds others to the items that are added to loops, by the identity of these."""
    for key, items in others.items():
        added.setdefault(key, []).extend(items)


def find_around(items: Iterable[Item], nest: Nest) -> Nest | None:
    """The loop among some items each pass of which enters another; None where conditions decide on it."""
    for item in items:
        if isinstance(item, Nest):
            found = item if any(inner is nest for inner in item.body) else find_around(item.body, nest)
        else:
            found = find_around((*item.then, *item.otherwise), nest) if isinstance(item, Alternative) else None
        if found is not None:
            return found
    return None


def split_chain(done: OperationCount, words: Value, amounts: BlockAmounts) -> Iterator[ChainPart]:
    """The parts of a chain of a block: of one that begins anew, rows behind a wrong guess, and others."""
    if done.name not in (RESTARTED, CUT) or not words.terms:
        yield from [ChainPart(words)] if words.terms else []
        return
    found = {(each.name, each.precision): each.amount for each in amounts.operations}
    rows = found.get((ROWS, done.precision), ONE)  # the block of a loop alone is one row
    wrong = v.add(ZERO, *(each.amount for each in amounts.operations if each.name == WRONG))
    operations = v.extreme_of("max", (ONE, v.ratio(found[LINKS, done.precision], rows)))
    cut = v.extreme_of("min", (ONE, v.ratio(wrong, rows))) if done.name == CUT else ZERO
    if cut.terms:
        yield ChainPart(v.multiply(words, cut))
    yield ChainPart(v.multiply(words, v.subtract(ONE, cut)), operations)
