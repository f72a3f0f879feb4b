"""Sorts of a library: how often they compare and guess wrongly in a run, and what they do beside that.

A counted program hands a sort a comparator that passes each outcome on to the predictor of branches. Where keys are at
random a partition around the median of three guesses 5/16 of its comparisons wrongly (the mean of min(p, 1 - p) over
its density 6p(1 - p); Kaligosi and Sanders, "How branch mispredictions affect quicksort", ESA 2006), a merge one half;
sorted keys next to none. Of the elements that quicksort compares it exchanges one in five, and so stores two of five
(median of three: Sedgewick, "The analysis of quicksort programs", Acta Informatica 7, 1977: 12/35 of 12/7 n ln n). A
merge stores one element for each comparison; that of the GNU C library copies it back, too, in words of eight bytes up
to 32 bytes, and above pointers in their place (stdlib/msort.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import COMPARED_WRONG, MOVED, STEPS, Arithmetic
from aspenpy.extract.effects import walk_records
from aspenpy.extract.fit import Formula
from aspenpy.extract.searches import SEARCHES, is_search
from aspenpy.extract.values import Value
from aspenpy.record import Record

COMPARATOR = "aspenpy_comparator"
"""The function that a counted program calls with a number and what a library compares by; the library gets the
result."""

IN_C = f"extern int (*{COMPARATOR}(int, int (*)(const void *, const void *)))(const void *, const void *); "

IN_CPP = (
    'extern "C" { typedef int (*aspenpy_comparison)(const void *, const void *); void aspenpy_sorts(int); '
    f"aspenpy_comparison {COMPARATOR}(int, aspenpy_comparison); }} "
    f"struct {COMPARATOR}_less {{ template <class A, class B> bool operator()(const A &a, const B &b) const "
    "{ return a < b; } }; "
    f"template <class F> struct {COMPARATOR}_by {{ int place; mutable F compare; template <class A, class B> "
    "bool operator()(A &&a, B &&b) const { return aspenpy_outcome(place, !!compare(a, b)); } }; "
    f"template <class F> inline {COMPARATOR}_by<F> {COMPARATOR}_of(int place, F compare) "
    f"{{ aspenpy_sorts(place); return {COMPARATOR}_by<F>{{place, compare}}; }} "
)

LARGEST_COPIED = 32
"""Bytes of an element up to which qsort moves it, and not a pointer to it."""

WORD = 8

OF_VALUES = 2
"""Operations by which a sort compares numbers itself: a comparison and a jump."""


class Sort(Record):
    """Operations of whole numbers beside each comparison, more for each word of an element from the second on, and more
    where there are several; elements moved, and whether that goes over the whole array each time. Fitted to timings on
    a Zen 5 (docs/trust.md)."""

    steps: int
    of_words: int
    of_several: int
    moves: Fraction
    is_swept: bool = False

    def count_steps(self, size: int) -> int:
        """Operations of whole numbers for each comparison of elements of `size` bytes."""
        words = -(-size // WORD)
        return self.steps + self.of_words * (words - 1) + self.of_several * (words > 1)


SORTS = {
    "sort": Sort(3, 1, 0, Fraction(2, 5)),
    "stable_sort": Sort(5, 2, 0, Fraction(1), is_swept=True),
    "qsort": Sort(32, 8, 18, Fraction(2)),
}


class Comparator(Record):
    """The comparator of a sort or search of a library; None where elements say themselves which is less."""

    by: r.Expression | None


class FittedComparisons(Record):
    """Formulas for the comparisons of a call, and for the part of them that is guessed wrongly."""

    number: Formula
    wrong: Formula


def find_comparator(node: r.Call) -> Comparator | None:
    """The comparator of a call of a sort or search; None for other calls."""
    if is_search(node):
        return Comparator(node.arguments[-1] if len(node.arguments) > SEARCHES[node.name].arguments else None)
    if node.name == "qsort" and len(node.arguments) == 4:
        return Comparator(node.arguments[3])
    is_range = len(node.arguments) in (2, 3) and all(part.type.kind == "pointer" for part in node.arguments[:2])
    if node.name == "qsort" or node.name not in SORTS or not is_range:
        return None
    return Comparator(node.arguments[2] if len(node.arguments) == 3 else None)


def element_of(node: r.Call) -> r.Type | None:
    """The type of what a call sorts or searches; of a size alone where it gets that as an argument."""
    if node.name not in ("qsort", "bsearch"):
        return node.arguments[0].type.of
    size = node.arguments[-2]
    return r.Type("record", size.value) if isinstance(size, r.Constant) and isinstance(size.value, int) else None


def compares_reals(function: r.Function | None, element: r.Type) -> bool:
    """Whether numbers of floating point decide which element is less."""
    if function is None:
        return element.kind == "real"
    operations = (node for node in walk_records(function.body) if isinstance(node, r.Operation))
    compared = (node for node in operations if node.operator in ("<", "<=", ">", ">="))
    return any(part.type.kind == "real" for node in compared for part in node.operands)


def list_sort_items(
    name: str, element: r.Type, function: r.Function | None, array: str, comparisons: Value, wrong: Value
) -> Iterator[Arithmetic]:
    """Items of a sort beside those of the function that compares; where it has none, those of comparisons too."""
    sort = SORTS[name]
    size = WORD if name == "qsort" and element.size > LARGEST_COPIED else element.size
    wrong = v.extreme_of("min", (wrong, v.scale(v.ONE, Fraction(1, 2))))  # as of random outcomes; formulas may go on
    precision = "dp" if compares_reals(function, element) else ""
    yield Arithmetic(COMPARED_WRONG, precision, times=v.multiply(comparisons, wrong))
    steps = sort.count_steps(size) + (OF_VALUES if function is None else 0)
    yield Arithmetic(STEPS, "sort", steps, times=comparisons)
    for kind in MOVED.values():
        place = f"{size} {'swept' if sort.is_swept else 'near'} {array}"
        yield Arithmetic(kind, place, times=v.scale(comparisons, sort.moves))
