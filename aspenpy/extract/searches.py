"""Binary searches of a library: the steps of a run, the places that they look at, and wrong guesses of their jumps.

A search compares in each step the element in the middle of what is left, some log2(n + 1) times, and goes on in one
half: GCC 12 makes a jump of each comparison of the GNU library, with -O2 and -O3, for numbers as for structures and own
comparators. A core goes on by its guess; one that is wrong is known when the element is there. Keys at random are
guessed wrongly in one of two steps, keys in order seldom. A counted program hands a search a comparator that passes
outcomes, the end of each search among them, on to the predictor of branches, and places to the record of touches: the
first steps, which all searches make, find their lines in a near cache.
"""

from __future__ import annotations

from aspenpy.extract import records as r
from aspenpy.record import Record

SEARCHER = "aspenpy_search"
"""The function of a counted program that makes the comparator of a search: of the number of its outcomes, that of its
places, which is negative without one, the argument of it that is the element, and what compares."""


class Search(Record):
    """The arguments of a call without a comparator, which of the comparator's is the element in its first step."""

    arguments: int
    element: int


SEARCHES = {
    "lower_bound": Search(3, element=1),
    "upper_bound": Search(3, element=2),
    "binary_search": Search(3, element=1),
    "equal_range": Search(3, element=1),
    "bsearch": Search(4, element=2),
}

IN_C = f"extern int (*{SEARCHER}(int, int, int (*)(const void *, const void *)))(const void *, const void *); "

IN_CPP = (
    f'extern "C" {{ aspenpy_comparison {SEARCHER}(int, int, aspenpy_comparison); void {SEARCHER}_begin(int); '
    f"void {SEARCHER}_step(int, int, int, const volatile void *, const volatile void *); void {SEARCHER}_end(void); }} "
    f"template <class F> struct {SEARCHER}_by {{ int place, touched, element; mutable F compare; bool ends; "
    f"{SEARCHER}_by(int p, int t, int e, F f) : place(p), touched(t), element(e), compare(f), ends(true) {{}} "
    f"{SEARCHER}_by(const {SEARCHER}_by &o) : place(o.place), touched(o.touched), element(o.element), "
    f"compare(o.compare), ends(false) {{}} ~{SEARCHER}_by() {{ if (ends) {SEARCHER}_end(); }} "
    "template <class A, class B> bool operator()(A &&a, B &&b) const { "
    f"{SEARCHER}_step(place, touched, element, __builtin_addressof(a), __builtin_addressof(b)); "
    "return aspenpy_outcome(place, !!compare(a, b)); } }; "
    f"template <class F> inline {SEARCHER}_by<F> {SEARCHER}_of(int place, int touched, int element, F compare) "
    f"{{ {SEARCHER}_begin(place); return {SEARCHER}_by<F>(place, touched, element, compare); }} "
)


STEP, BEHIND_WHOLE, BEHIND_REAL = 7, 13, 33
"""Operations of whole numbers of each step: its instructions; and more behind each wrong guess, until the place of the
next comparison of whole numbers, or reals, is known: 4 and 10 cycles. Fitted to timings on a Zen 4 (docs/trust.md)."""


def is_search(node: r.Call) -> bool:
    """Whether a call is a binary search of a library in a range of memory."""
    known = SEARCHES.get(node.name)
    if known is None or node.name == "bsearch":
        return known is not None and len(node.arguments) == known.arguments + 1
    is_range = len(node.arguments) in (known.arguments, known.arguments + 1)
    return is_range and all(part.type.kind == "pointer" for part in node.arguments[:2])


def element_argument(node: r.Call) -> int:
    """Which argument of its comparator, from 1 on, is the element in the first step of a search."""
    return SEARCHES[node.name].element


def comparator_begin(node: r.Call, place: int, touched: tuple[int, ...]) -> str:
    """Text before what a search of a counted program compares by."""
    numbers = f"{place}, {touched[0] if touched else -1}"
    if node.name == "bsearch":
        return f"{SEARCHER}({numbers}, "
    return f"{SEARCHER}_of({numbers}, {element_argument(node)}, "
