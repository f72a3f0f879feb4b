"""Branches that a processor guesses wrongly: outcomes of a run, guessed as its predictor does.

The counted program hands the outcome of each condition that is a jump in the compiled program to a predictor of
branches: sums of small weights by the outcomes before, of histories whose lengths grow geometrically (Seznec, "Analysis
of the O-GEometric History Length branch predictor", ISCA 2005: eight tables, lengths from 0 to 200, weights of 4 bits,
a threshold that is the number of tables). With 8,192 weights in a table it learns half of a sequence of 60,000 outcomes
that comes again, as a Zen 4 does (`learnt_outcomes` of the probe).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from aspenpy.extract.costs import WRONG, Alternative, Arithmetic, Item, MemoryAccess, Nest, rewrite_inside
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.values import Value
from aspenpy.language.source import Span
from aspenpy.record import Record

OUTCOME = "aspenpy_outcome"
"""The function that a counted program calls with a number and whether a condition holds, which it returns."""

SELDOM = 2e-5
"""Wrong guesses at a condition, over all outcomes of a run, up to which they are left out: at some 20 cycles each they
take 0.04 % of the time where each outcome takes a cycle."""

RECORDER = """#include <stdio.h>
#define BRANCHES %d
#define OUTCOMES "%s"
#define TABLES 8
#define ENTRIES 8192
static const int lengths[TABLES] = {0, 3, 7, 14, 27, 53, 103, 200};
static __thread signed char weights[TABLES][ENTRIES];
static __thread unsigned long past[4];
static unsigned long branches[BRANCHES][3];
static long left = 200000000;
static unsigned long fold(int length) {
  unsigned long mixed = 0;
  for (int word = 0; word < 4 && length > 0; word++, length -= 64) {
    unsigned long part = length < 64 ? past[word] & ((1ul << length) - 1) : past[word];
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15ul;
    mixed ^= mixed >> 29;
  }
  return mixed;
}
int aspenpy_outcome(int place, int holds) {
  __atomic_fetch_add(&branches[place][0], 1, __ATOMIC_RELAXED);
  if (left <= 0) return holds;
  left--;
  signed char *chosen[TABLES];
  int sum = TABLES / 2;
  for (int table = 0; table < TABLES; table++) {
    unsigned long mixed = (fold(lengths[table]) + place + 1) * 0xd6e8feb86659fd93ul;
    chosen[table] = &weights[table][mixed >> 51];
    sum += 2 * *chosen[table];
  }
  int wrong = (sum >= 0) != holds;
  if (wrong || (sum < 0 ? -sum : sum) < 2 * TABLES)
    for (int table = 0; table < TABLES; table++)
      if (holds ? *chosen[table] < 7 : *chosen[table] > -8) *chosen[table] += holds ? 1 : -1;
  for (int word = 3; word > 0; word--) past[word] = past[word] << 1 | past[word - 1] >> 63;
  past[0] = past[0] << 1 | holds;
  __atomic_fetch_add(&branches[place][1], 1, __ATOMIC_RELAXED);
  if (wrong) __atomic_fetch_add(&branches[place][2], 1, __ATOMIC_RELAXED);
  return holds;
}
__attribute__((destructor)) static void write_outcomes(void) {
  FILE *file = fopen(OUTCOMES, "a");
  for (int place = 0; file && place < BRANCHES; place++)
    if (branches[place][1])
      fprintf(file, "%%d %%lu %%lu %%lu\\n", place, branches[place][0], branches[place][1], branches[place][2]);
  if (file) fclose(file);
}
"""
"""Its text, for a number of branches and the name of the file to which each process adds a line for each."""


class Guesses(Record):
    """Outcomes of a condition in a run: their `number`, and how many were guessed `wrong`."""

    number: float
    wrong: float

    def add(self, other: Guesses | None) -> Guesses:
        """The outcomes of both."""
        return self if other is None else Guesses(self.number + other.number, self.wrong + other.wrong)


MeasuredGuesses = Sequence[tuple[Mapping[str, float], Mapping[Span, float]]]
"""Wrong guesses each time that a condition is tested or a loop entered, by its span, for the sizes of each run."""


def read_outcomes(text: str) -> dict[int, Guesses]:
    """The outcomes behind each number, from the lines of all processes; the first 200 million of a process are
    guessed, and stand for all."""
    found: dict[int, Guesses] = {}
    for line in text.splitlines():
        place, number, guessed, wrong = map(int, line.split())
        found[place] = Guesses(number, wrong * number / guessed).add(found.get(place))
    return found


def find_rates(guessed: Mapping[Span, Guesses], ran: Mapping[Span, ExecutionCount]) -> dict[Span, float]:
    """Wrong guesses each time that a condition was tested or a loop entered, by the span of the statement; few are
    left out."""
    least = SELDOM * sum(found.number for found in guessed.values())
    guessed = {span: found for span, found in guessed.items() if found.wrong > least}
    times = {span: ran[span].entered if span in ran else found.number for span, found in guessed.items()}
    return {span: found.wrong / times[span] for span, found in guessed.items() if times[span]}


Rate = Callable[[Span], Value | None]
"""Wrong guesses each time that a condition is tested or a loop entered; None where they are few."""


def add_wrong_guesses(items: Iterable[Item], rate_of: Rate) -> list[Item]:
    """The items with branches that are guessed wrongly before the conditions and loops that they decide."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, Alternative | Nest) and item.span is not None:
            rate = rate_of(item.span)
            if rate is not None:
                result.append(Arithmetic(WRONG, _find_condition_data(result, item.span), 1, item.span, rate))
        result.append(rewrite_inside(item, lambda inner: add_wrong_guesses(inner, rate_of)))
    return result


def _find_condition_data(before: Iterable[Item], span: Span) -> str:
    """The array of which a load decides a condition; nothing where none does."""
    loads = (item for item in before if isinstance(item, MemoryAccess) and item.kind == "load" and item.span)
    return next((item.array for item in loads if item.span is not None and _contains(span, item.span)), "")


def _contains(outer: Span, inner: Span) -> bool:
    return outer.source is inner.source and outer.start <= inner.start and inner.end <= outer.end
