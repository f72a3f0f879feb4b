"""Locality of accesses whose order the source does not say: how far apart a run touches the same lines.

The counted program notes each such access by its line of 64 bytes. What comes back within some tens of other lines is
near. All else is counted by the time since the line was touched before, in accesses that are not near, and by whether a
neighbouring line was near: then a prefetcher has it. From the times follow reuse distances: the mean number of
different lines in a window of t accesses is the sum of the shares of reuse times above 0 .. t - 1 (Denning and
Schwartz, "Properties of the working-set model", CACM 1972, equation 8; Xiang, Bao, Ding and Gao, PACT 2011).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from aspenpy.language.source import Span
from aspenpy.record import Record

TOUCH = "aspenpy_touch"
"""The function that a counted program calls with a number and the place of a word that it is about to access."""

LINE = 64
"""Bytes of a line in the recorder."""

NEAR = 64
"""Lines up to which a reuse distance is near: a first cache holds them beside the streams of a loop."""

STEPS = 4
"""Bins of reuse times for each doubling."""

BINS = 32 * STEPS

LITTLE = 0.01
"""The share of the accesses below which far reuses, or jumps, have no requirement of their own."""

SCATTERED = 0.9
"""The share of jumps from which on all accesses are taken for jumps."""

PARTS = 4
"""Equal parts of jumps, each with a distance of its own."""

WHOLE = 0.5
"""The part of the lines that an access touches from which on its jumps may lead to any of them."""

RECORDER = """#include <stdio.h>
#include <sys/mman.h>
#define SITES %d
#define TOUCHES "%s"
#define BINS 128
#define NEAR 64
#define MOST_TOUCHES 60000000L
#define BURST 65536
#define SLOTS (1l << 21)
typedef struct { unsigned long line; unsigned time; } seen;
typedef struct {
  unsigned long number, close, first[2], far[2][BINS], near[NEAR], last, step, noted, weight, phase;
  unsigned time, rate, held, moved;
  seen *table;
} site;
static site sites[SITES];
static long touching;
static unsigned long mix(unsigned long line) { return line * 0x9e3779b97f4a7c15ul; }
static int bin_of(unsigned time) {
  int top = 31 - __builtin_clz(time | 1);
  int part = top >= 2 ? time >> (top - 2) & 3 : (time << (2 - top)) & 3;
  return 4 * top + part;
}
static int is_near(const site *one, unsigned long line) { return one->near[mix(line) >> 58] == line; }
static seen *new_table(void) {
  void *found = mmap(0, SLOTS * sizeof(seen), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return found == MAP_FAILED ? 0 : found;
}
static seen *find_seen(seen *table, unsigned long line) {
  unsigned long at = (mix(line) >> 20) & (SLOTS - 1);
  while (table[at].line && table[at].line != line) at = (at + 1) & (SLOTS - 1);
  return table + at;
}
static void thin_out(site *one) {
  seen *old = one->table, *new = new_table();
  if (!new) return;
  one->rate *= 2;
  one->held = 0;
  for (long at = 0; at < SLOTS; at++)
    if (old[at].line && (mix(old[at].line) & (one->rate - 1)) == 0) {
      *find_seen(new, old[at].line) = old[at];
      one->held++;
    }
  one->table = new;
  munmap(old, SLOTS * sizeof(seen));
}
static int is_left_out(site *one) {
  if (one->noted < MOST_TOUCHES) { one->weight = 1; return 0; }
  one->weight = one->noted < MOST_TOUCHES / 2 * 3 ? 16 : 256;
  unsigned long burst = one->phase / BURST;
  if (one->phase++ %% BURST == 0 && burst %% one->weight == 0) {
    one->time += one->weight * one->moved;
    one->moved = 0;
  }
  return burst %% one->weight != 0;
}
void aspenpy_touch(int place, const volatile void *word) {
  site *one = sites + place;
  unsigned long line = ((unsigned long)word >> 6) + 1;
  if (one->noted >= 2 * MOST_TOUCHES || is_left_out(one)) return;
  while (__sync_lock_test_and_set(&touching, 1)) {}
  one->noted++;
  one->number += one->weight;
  if (line == one->last) one->close += one->weight;
  else if (is_near(one, line)) { one->close += one->weight; one->last = line; }
  else {
    if (!one->table) { one->table = new_table(); one->rate = 1; }
    unsigned long step = line - one->last;
    int jumps = !(is_near(one, line - 1) || is_near(one, line + 1) || is_near(one, line - 2) || is_near(one, line + 2)
                  || step - one->step + 1 <= 2);  // words a constant apart
    one->step = step;
    one->last = line;
    one->near[mix(line) >> 58] = line;
    one->time++;
    one->moved++;
    if (one->table && (mix(line) & (one->rate - 1)) == 0) {
      seen *found = find_seen(one->table, line);
      if (found->line) one->far[jumps][bin_of(one->time - found->time)] += one->rate * one->weight;
      else { one->first[jumps] += one->rate * one->weight; found->line = line; one->held++; }
      found->time = one->time;
      if (one->held > SLOTS / 2) thin_out(one);
    }
  }
  __sync_lock_release(&touching);
}
__attribute__((destructor)) static void write_touches(void) {
  FILE *file = fopen(TOUCHES, "a");
  for (int place = 0; file && place < SITES; place++) {
    const site *one = sites + place;
    if (!one->number) continue;
    fprintf(file, "%%d %%lu %%lu %%lu %%lu", place, one->number, one->close, one->first[0], one->first[1]);
    for (int kind = 0; kind < 2; kind++)
      for (int bin = 0; bin < BINS; bin++) fprintf(file, " %%lu", one->far[kind][bin]);
    fputs("\\n", file);
  }
  if (file) fclose(file);
}
"""
"""Its text, for a number of places and the name of the file to which each process adds a line for each. Of a place that
is touched more often than 60 million times, bursts stand for 16 and then 256 times as many."""

Spans = tuple[Span, ...]
"""The accesses of a block to one array whose order the source does not say."""


class TouchCounts(Record):
    """Accesses of one or several places in a program: their `number`, those that are `close` to one before, the first
    touches of lines next to a near one and of others, and by reuse time how often lines came back in both ways."""

    number: float
    close: float
    first: tuple[float, float]
    far: tuple[tuple[float, ...], tuple[float, ...]]

    def add(self, other: TouchCounts) -> TouchCounts:
        """The counts of both."""
        first = (self.first[0] + other.first[0], self.first[1] + other.first[1])
        pairs = [zip(mine, theirs, strict=True) for mine, theirs in zip(self.far, other.far, strict=True)]
        far = (tuple(a + b for a, b in pairs[0]), tuple(a + b for a, b in pairs[1]))
        return TouchCounts(self.number + other.number, self.close + other.close, first, far)


class Locality(Record):
    """Reuse of lines as the cache model takes it: of all accesses the share `far` comes back to lines after `window`
    bytes of others, foreseen by a prefetcher; the share `jumps` leads anywhere in all that is touched where they are
    `anywhere`, else equal parts of it come back after the bytes of `tables`. All others move along, and touch each of
    their words `reuse` times."""

    far: float
    window: float
    jumps: float
    tables: tuple[float, ...]
    anywhere: bool
    reuse: float

    @property
    def late_share(self) -> float:
        """The part of the accesses that do not jump which come back late."""
        return self.far / max(1 - self.jumps, self.far, 1e-9)


def read_touches(text: str) -> dict[int, TouchCounts]:
    """The counts behind each number, from the lines of all processes."""
    found: dict[int, TouchCounts] = {}
    for line in text.splitlines():
        place, number, close, near, away, *rest = line.split()
        bins = [float(word) for word in rest]
        counts = TouchCounts(
            float(number), float(close), (float(near), float(away)), (tuple(bins[:BINS]), tuple(bins[BINS:]))
        )
        known = found.get(int(place))
        found[int(place)] = counts if known is None else counts.add(known)
    return found


def time_of_bin(place: int) -> float:
    """The middle of the reuse times in a bin."""
    top, part = divmod(place, STEPS)
    return float(2**top * (1 + (part + 0.5) / STEPS)) if top >= 2 else float(max(1, 2**top + part * 2**top // STEPS))


def reuse_distances(counts: TouchCounts) -> list[float]:
    """The mean number of other lines that are touched within the reuse times of each bin."""
    back = [near + away for near, away in zip(*counts.far, strict=True)]
    total = sum(back) + sum(counts.first)
    if not total:
        return [0.0] * BINS
    above = [1 - part / total for part in accumulate(back)]  # the share of reuse times beyond a bin
    lines, time, distances = 0.0, 0.0, []
    share = 1.0
    for place in range(BINS):
        now = time_of_bin(place)
        lines += max(0.0, now - time) * share
        distances.append(lines)
        time, share = max(time, now), above[place]
    return distances


def find_locality(counts: TouchCounts, size: int) -> Locality:
    """Locality, as the cache model takes it, of accesses to words of `size` bytes."""
    distances, lines = reuse_distances(counts), sum(counts.first)
    is_swept = [distance > lines / 2 for distance in distances]  # since the sweep before, which the model knows
    along, away = counts.far
    pairs = list(zip(along, distances, is_swept, strict=True))
    near = [(number, distance) for number, distance, swept in pairs if distance >= NEAR and not swept]
    swept = counts.first[0] + sum(number for number, distance, swept in pairs if swept and distance >= NEAR)
    back = [(number, distance) for number, distance in zip(away, distances, strict=True) if distance >= NEAR]
    jumped = counts.first[1] + sum(number for number, _ in back)
    far = sum(number for number, _ in near)
    window = sum(number * distance for number, distance in near) / far if far else 0.0
    back.append((counts.first[1], lines))
    table = 2 * _find_quantile(back, 0.5)  # distances are even from 0 to the lines of a table at random
    tables = tuple(LINE * _find_quantile(back, (part + 0.5) / PARTS) for part in range(PARTS))
    total = max(counts.number, 1.0)
    moving = max(total - far - jumped, 0.0)
    reuse = moving * size / (max(swept, 1.0) * LINE)
    return Locality(far / total, window * LINE, jumped / total, tables, table >= WHOLE * lines, reuse=reuse)


def _find_quantile(parts: Iterable[tuple[float, float]], share: float) -> float:
    """The distance that so great a share of the accesses does not exceed."""
    ordered = sorted(parts, key=lambda part: part[1])
    least, passed = share * sum(number for number, _ in ordered), 0.0
    for number, distance in ordered:
        passed += number
        if passed >= least:
            return distance
    return 0.0
