"""Look-ups of which some are under way at once: which loops have them, and how many, counted by hand."""

import re
import shutil
from pathlib import Path

import pytest

from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(
    not shutil.which("gcc") or find_simulator() is None, reason="compiles programs with GCC, and simulates them"
)

WALKS = """
#include <stdlib.h>
#include <stdio.h>
__attribute__((noinline)) long hop(const int *next, long at, long hops) {
  for (long i = 0; i < hops; i++)
    at = next[at];
  return at;
}
__attribute__((noinline)) long walk(const int *next, int *out, const int *keys, long q, long hops) {
  long sum = 0, last = 0;
  for (long i = 0; i < q; i++) {
    long at = START;
    for (long i = 0; i < hops; i++)
      at = next[at];
    sum += at;
    END;
  }
  return sum + last;
}
int main(int argc, char **argv) {
  long n = 4096, q = 1000;
  int *next = malloc(n * sizeof(int)), *keys = malloc(q * sizeof(int)), *out = calloc(q + 1, sizeof(int));
  for (long i = 0; i < n; i++)
    next[i] = (i * 2654435761u >> 7) % n;
  for (long i = 0; i < q; i++)
    keys[i] = (i * 2246822519u >> 9) % n;
  printf("%ld\\n", walk(next, out, keys, q, argc + 6));
  long sum = 0;
  for (long i = 0; i < CALLS; i++)
    sum += hop(next, keys[i], argc + 6);
  printf("%ld\\n", sum);
  return 0;
}
"""


def extract_walks(folder: Path, start: str, end: str = "", calls: int = 0) -> Extraction:
    text = WALKS.replace("START", start).replace("END", end).replace("CALLS", str(calls))
    (folder / "k.c").write_text(text, encoding="utf-8")
    return extract(folder / "k.c", level="o2", run=ProgramRun("./a.out"), recipe=Recipe(("-O2", "-fno-tree-vectorize")))


def chains_of_walks(found: Extraction) -> list[str]:
    """Traits of the chains of loads of the walks."""
    kernel = found.text.partition("kernel walk")[2].partition("kernel ")[0]
    return re.findall(r"chain \[.*\] from next as (.*)", kernel)


def in_turn(found: Extraction) -> list[int]:
    """Lines of the walks that are priced one after the other, since nobody knows."""
    return [one.span.position().line for one in found.diagnostics if one.code == "in-turn" and one.span is not None]


def test_walks_from_places_of_their_own_overlap(tmp_path: Path) -> None:
    """Each hop is one operation that waits, a load, so that a walk of them has as many as hops."""
    found = extract_walks(tmp_path, "keys[i]")
    assert chains_of_walks(found)[-1] == "load, restarts(max(1, hops))"
    assert not in_turn(found)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("last", "last = at"),
        ("keys[i] ^ (last & 1)", "last = at"),
        ("keys[i] + (last & 1 ? 2 : 5)", "last = at"),
        ("keys[(i + last) % q]", "last = at & 3"),
    ],
)
def test_walks_that_depend_on_the_last_do_not(start: str, end: str, tmp_path: Path) -> None:
    found = extract_walks(tmp_path, start, end)
    assert chains_of_walks(found) == ["load"]
    assert not in_turn(found)


@pytest.mark.parametrize(("start", "end"), [("keys[i] ^ out[i]", "out[i + 1] = at & 1")])
def test_walks_that_may_depend_through_memory_are_said_to_wait(start: str, end: str, tmp_path: Path) -> None:
    found = extract_walks(tmp_path, start, end)
    assert chains_of_walks(found) == ["load"]
    assert in_turn(found) == [13]


def test_walks_of_calls_are_said_to_wait(tmp_path: Path) -> None:
    """A function that walks is called 1,000 times, from places of which it knows nothing; of one call there is nothing
    to say."""
    assert in_turn(extract_walks(tmp_path, "keys[i]", calls=1000)) == [5]
    assert in_turn(extract_walks(tmp_path, "keys[i]", calls=1)) == []


LISTS = """
#include <stdlib.h>
#include <stdio.h>
struct node { long value; struct node *next; };
__attribute__((noinline)) long add(struct node *const *heads, const int *keys, long q) {
  long sum = 0;
  for (long i = 0; i < q; i++) {
    const struct node *p = heads[keys[i]];
    while (p) {
      sum += p->value;
      p = p->next;
    }
  }
  return sum;
}
int main(void) {
  long n = 1000, q = 20000;
  struct node **heads = calloc(n, sizeof *heads);
  int *keys = malloc(q * sizeof(int));
  unsigned state = 1;
  for (long i = 0; i < n; i++)
    for (long k = 0; k < LENGTH; k++) {
      struct node *p = malloc(sizeof *p);
      p->value = k, p->next = heads[i], heads[i] = p;
    }
  for (long i = 0; i < q; i++)
    state = state * 1664525 + 1013904223, keys[i] = (state >> 10) % n;
  printf("%ld\\n", add(heads, keys, q));
  return 0;
}
"""


def chains_of_lists(folder: Path, length: str) -> tuple[list[str], list[int]]:
    """Chains of loads of the nodes of lists of a length, and lines of loops that are priced one after the other."""
    (folder / "k.c").write_text(LISTS.replace("LENGTH", length), encoding="utf-8")
    found = extract(folder / "k.c", level="o2", run=ProgramRun("./a.out"), recipe=Recipe(("-O2",)))
    kernel = found.text.partition("kernel add")[2].partition("kernel ")[0]
    return re.findall(r"chain \[.*\] from heads_2 as load.*", kernel), in_turn(found)


def test_lists_of_one_length_overlap(tmp_path: Path) -> None:
    """A step loads the next node and tests it, and loads and adds its value: four operations that wait."""
    chains, lines = chains_of_lists(tmp_path, "4")
    assert [chain.partition(" as ")[2] for chain in chains] == ["load, restarts(max(1, 4*add_loop_passes))"]
    assert not lines


def test_lists_behind_wrong_guesses_wait(tmp_path: Path) -> None:
    """Ends of lists of one to eight nodes are guessed wrongly, and a load decides each: that part waits alone."""
    (alone, together), _ = chains_of_lists(tmp_path, "1 + i % 8")
    assert alone.endswith("as load")
    assert "restarts(" in together
    assert "min(1, wrong_guesses" in alone
    assert "min(1, wrong_guesses" in together


def test_long_searches_whose_ends_loads_decide_are_said_to_wait(tmp_path: Path) -> None:
    """No processor is known to guess the end of 30 steps."""
    chains, lines = chains_of_lists(tmp_path, "30")
    assert chains[-1].endswith("as load")
    assert lines == [9]
