"""Branches guessed wrongly: the predictor of a counted program against what no predictor, or any, can know, and models
with their rates."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import aspenpy
from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.outcomes import Guesses, read_outcomes
from aspenpy.extract.recorders import write_recorder

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")


SIMULATES = pytest.mark.skipif(find_simulator() is None, reason="simulates with llvm-mca")

DRAWS = """
static unsigned state = 1;
static unsigned draw(unsigned most) {
  state ^= state << 13; state ^= state >> 17; state ^= state << 5;
  return (state >> 3) % most;
}
int main(void) {
  for (int i = 0; i < 300000; i++) aspenpy_outcome(0, draw(2) == 0);
  for (int i = 0; i < 300000; i++) aspenpy_outcome(1, draw(10) == 0);
  for (int i = 0; i < 300000; i++) aspenpy_outcome(2, i % 7 != 0);
  for (int i = 0; i < 20000; i++) for (int k = 0; k <= 20; k++) aspenpy_outcome(3, k < 20);
  for (int i = 0; i < 60000; i++) for (int k = 0, most = draw(8); k <= most; k++) aspenpy_outcome(4, k < most);
  for (int i = 0; i < 300000; i++) aspenpy_outcome(5, 1);
  return 0;
}
"""

BRANCH = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), kept = 0;
  unsigned state = 1;
  int *x = malloc(n * sizeof(int)), *y = malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    x[i] = (state >> 3) % PERIOD;
  }
  for (int i = 0; i < n; i++)
    WORK
  return y[0] == 2;
}
"""


def test_what_is_guessed_wrongly(tmp_path: Path) -> None:
    """Draws by halves are guessed wrongly half the time, rare ones as often as they are met; what comes again is
    learnt; a loop of 0 to 7 passes at random ends at one of the passes that are left, each as likely as the other."""
    (tmp_path / "draws.c").write_text(
        write_recorder({"BRANCHES": 6}, {"outcomes": str(tmp_path / "outcomes")}) + DRAWS, encoding="utf-8"
    )
    subprocess.run(["gcc", "-O1", tmp_path / "draws.c", "-o", tmp_path / "draws"], check=True)
    subprocess.run([tmp_path / "draws"], check=True)
    found = read_outcomes((tmp_path / "outcomes").read_text(encoding="utf-8"))
    rates = {place: each.wrong / each.number for place, each in found.items()}
    assert found[3].number == 20_000 * 21
    assert rates[0] == pytest.approx(0.5, abs=0.01)
    assert rates[1] == pytest.approx(0.1, abs=0.015)
    assert max(rates[2], rates[3], rates[5]) < 0.005
    assert 0.125 * 60_000 < found[4].wrong < 1.05 * 60_000  # at most once each time, for 1 of 8 at least


AGAIN = """
static unsigned char outcomes[4][LENGTH];
int main(void) {
  unsigned state = 1;
  for (int i = 0; i < 4 * LENGTH; i++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    outcomes[0][i] = (state >> 3) % 4 == 0;
  }
  for (int round = 0; round < ROUNDS; round++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    const unsigned char *which = outcomes[(state >> 3) % 4];
    for (int i = 0; i < LENGTH; i++) aspenpy_outcome(round < ROUNDS / 2, which[i]);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("length", "least", "most"), [(5_000, 0, 0.02), (28_000, 0.08, 0.2), (200_000, 0.22, 0.28)])
def test_sequences_that_come_again_are_learnt(length: int, least: float, most: float, tmp_path: Path) -> None:
    """Of four sequences that come again in any order, a quarter of whose outcomes hold, a Zen 5 learns those of 5,000,
    half of those of 28,000 and none of those of 200,000 (timed: 2.0, 7.3 and 10 cycles a pass)."""
    again = AGAIN.replace("LENGTH", str(length)).replace("ROUNDS", str(max(40, 4_000_000 // length)))
    (tmp_path / "again.c").write_text(
        write_recorder({"BRANCHES": 2}, {"outcomes": str(tmp_path / "outcomes")}) + again, encoding="utf-8"
    )
    subprocess.run(["gcc", "-O1", tmp_path / "again.c", "-o", tmp_path / "again"], check=True)
    subprocess.run([tmp_path / "again"], check=True)
    found = read_outcomes((tmp_path / "outcomes").read_text(encoding="utf-8"))[0]
    assert least <= found.wrong / found.number <= most


def test_processes_add_up() -> None:
    assert read_outcomes("0 10 10 1 0\n2 5 5 5 2\n0 30 15 3 0\n") == {0: Guesses(40, 7), 2: Guesses(5, 5, 2)}


LATE = """
int main(void) {
  for (unsigned i = 0, state = 1; i < 800000; i++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    aspenpy_outcome(0, i < 100000 && (state >> 3) % 2);
  }
  return 0;
}
"""


def test_all_parts_of_a_run_are_guessed(tmp_path: Path) -> None:
    """An eighth of all outcomes are draws by halves, at first: one in sixteen is guessed wrongly."""
    recorder = write_recorder({"BRANCHES": 1}, {"outcomes": str(tmp_path / "outcomes")})
    short = recorder.replace("BURSTS 64", "BURSTS 4").replace("1ul << 20", "1ul << 10")
    assert short != recorder
    (tmp_path / "late.c").write_text(short + LATE, encoding="utf-8")
    subprocess.run(["gcc", "-O1", tmp_path / "late.c", "-o", tmp_path / "late"], check=True)
    subprocess.run([tmp_path / "late"], check=True)
    (found,) = read_outcomes((tmp_path / "outcomes").read_text(encoding="utf-8")).values()
    assert found.number == 800_000
    assert found.wrong / found.number == pytest.approx(1 / 16, rel=0.15)


def wrong_guesses(folder: Path, period: int, work: str) -> list[float]:
    (folder / "main.c").write_text(BRANCH.replace("PERIOD", str(period)).replace("WORK", work), encoding="utf-8")
    text = extract(folder / "main.c", level="o2", run=ProgramRun("./a.out 200000"), recipe=Recipe()).text
    assert len(re.findall("as mispredicted", text)) == len(re.findall("param wrong_guesses", text))
    return [float(rate) for rate in re.findall(r"param wrong_guesses\w* = ([\d.]+)", text)]


STORE = "if (x[i] == 0) { y[kept & 255] = i; kept += 3; }"


@SIMULATES
@pytest.mark.parametrize("period", [2, 10])
def test_a_branch_on_data_has_its_rate(period: int, tmp_path: Path) -> None:
    assert wrong_guesses(tmp_path, period, STORE) == [pytest.approx(1 / period, rel=0.1)]


@SIMULATES
def test_a_branch_that_is_always_taken_is_learnt(tmp_path: Path) -> None:
    assert wrong_guesses(tmp_path, 1, STORE) == []


@SIMULATES
def test_a_condition_that_is_no_jump_is_not_guessed(tmp_path: Path) -> None:
    """GCC adds the outcome of the comparison."""
    assert wrong_guesses(tmp_path, 2, "kept += x[i] == 0;") == []
    assert wrong_guesses(tmp_path, 2, "if (x[i] == 0) kept++;") == []


@SIMULATES
def test_what_an_expression_tests_is_guessed(tmp_path: Path) -> None:
    """One draw in four decides; what stands behind `||` is tested in the other three, and holds in every third."""
    work = "y[i] = x[i] == 0 || (x[i] == 1 && y[i & 7] > 0);"
    (rate,) = wrong_guesses(tmp_path, 4, work)
    assert rate == pytest.approx(1 / 4 + 1 / 4, rel=0.15)


@SIMULATES
def test_parts_of_a_condition_are_guessed_apart(tmp_path: Path) -> None:
    """Both parts hold by halves: one in two is guessed wrongly, and of the other half one in two."""
    work = "if (x[i] & 1 && x[i] & 2) { y[kept & 255] = x[i]; kept += y[(kept + 3) & 255]; }"
    rate = sum(wrong_guesses(tmp_path, 4, work))
    assert rate == pytest.approx(1 / 4, rel=0.15) or rate == pytest.approx(3 / 4, rel=0.15)  # in one jump, or in two


@SIMULATES
def test_a_loop_that_data_leave_is_guessed(tmp_path: Path) -> None:
    """One draw in four ends the inner loop: by a `break` without work of its own, the core guesses that it goes on, and
    is wrong in one of four passes; as the condition of the loop in each entry, where it waits for what it loads in a
    step of a walk that ends at random."""
    leave = "{ int k = 0; for (; k < 64; k++) if (x[(i * 7 + k) % n] == 0) break; y[(kept += k) & 255] = i; }"
    assert wrong_guesses(tmp_path, 4, leave)[-1] == pytest.approx(1 / 4, rel=0.15)
    row = "int k = 0; while (k < 64 && x[(at + k) % n] != 0) k++; y[(kept += k) & 255] = i;"
    walk = f"for (unsigned at = i; at % 4 != 1; at = x[at % n] + 5 * at + 1) {{ {row} }}"
    for work in (f"{{ int at = i; {row} }}", walk):
        (tmp_path / "main.c").write_text(BRANCH.replace("PERIOD", "4").replace("WORK", work), encoding="utf-8")
        text = extract(tmp_path / "main.c", level="o2", run=ProgramRun("./a.out 200000"), recipe=Recipe()).text
        assert (re.search(r"branches .* from x as mispredicted", text) is not None) == (work is walk)


BEHIND = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), kept = 0;
  unsigned state = 1;
  int *to = malloc(n * sizeof(int)), *row = malloc(n * sizeof(int)), *marks = malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    row[i] = state % n;
    marks[i] = state >> 7 & 1;
    to[i] = (state >> 8) % n;
  }
  for (int i = 0; i < n; i++)
    if (marks[to[row[i]]] > 0) kept += to[n - kept - 1];
  return kept == 7;
}
"""


@SIMULATES
def test_loads_behind_a_wrong_guess_wait_for_their_addresses(tmp_path: Path) -> None:
    """Half of the guesses are wrong, each behind a load from `to` that leads anywhere: the guess waits for both."""
    (tmp_path / "behind.c").write_text(BEHIND, encoding="utf-8")
    found = extract(tmp_path / "behind.c", level="o2", run=ProgramRun("./a.out 100000"), recipe=Recipe())
    (wrong,) = re.findall(r"branches \[(\S+)\] from marks as mispredicted", found.text)
    (behind,) = re.findall(r"chain \[(.*)\] from to_? as load", found.text)
    assert behind == f"min({wrong}, n)", found.text


NODES = """
#include <stdlib.h>
enum { NODES = 1 << 18 };
typedef struct node { int key; struct node *left, *right; } node;
static unsigned mix(unsigned x) { x = x * 40503u % NODES; x ^= x >> 9; return x * 40503u % NODES; }
static node *build(node *pool, int low, int high) {
  if (low >= high) return 0;
  int middle = (low + high) / 2;
  node *here = &pool[mix(middle)];
  here->key = middle; here->left = build(pool, low, middle); here->right = build(pool, middle + 1, high);
  return here;
}
__attribute__((noinline)) static int find(const node *at, int key) {
  int depth = 0;
  while (at) { depth++; if (key == at->key) return depth; at = key < at->key ? at->left : at->right; }
  return depth;
}
static long follow(const node *at) { long sum = 0; while (at) { sum += at->key; at = at->right; } return sum; }
int main(void) {
  node *pool = calloc(NODES, sizeof(node)), *root = build(pool, 0, NODES);
  unsigned draw = 1, depths = 0;
  for (int look = 0; look < 20000; look++) { draw = draw * 1664525u + 1013904223u; depths += find(root, draw >> 14); }
  for (unsigned i = 0; i < NODES; i++) pool[mix(i)].right = i + 1 < NODES ? &pool[mix(i + 1)] : 0;
  return depths > 1 && follow(&pool[mix(0)]) > 1 ? 0 : 1;
}
"""


@SIMULATES
@pytest.mark.parametrize(("kernel", "least"), [("follow", 0.9), ("find", 0.5)])
def test_each_node_that_leads_to_the_next_is_waited_for(kernel: str, least: float, tmp_path: Path) -> None:
    """The key of a node brings its line, and the pointer beside it waits for that: each step of a list in any order. Of
    a tree the child is a conditional move behind a branch, and nodes near its root are met again at once."""
    (tmp_path / "nodes.c").write_text(NODES, encoding="utf-8")
    found = extract(tmp_path / "nodes.c", level="o2", run=ProgramRun("./a.out"), recipe=Recipe())
    app = aspenpy.parse(re.sub(r"chain .* as window.*", "", found.text))
    (passes,) = re.findall(rf"param {kernel}_loop_passes = (\S+) ", found.text)
    assert least * float(passes) <= aspenpy.count(app, "chain", kernel=kernel) <= 1.001 * float(passes)


SEARCH = """#include <cstdlib>
#include <vector>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), found = 0;
  unsigned state = 1;
  std::vector<int> sorted(n), keys(n);
  for (int i = 0; i < n; i++) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    sorted[i] = 2 * i, keys[i] = state % (2 * n);
  }
  for (int i = 0; i < n; i++) {
    int first = 0, length = n;
    while (length > 0) {
      int half = length >> 1;
      if (sorted[first + half] < keys[i]) { first += half + 1; length -= half + 1; } else length = half;
    }
    found += first;
  }
  return found == 1;
}
"""


@SIMULATES
@pytest.mark.skipif(not shutil.which("g++"), reason="compiles C++ with GCC")
def test_a_search_in_a_vector_guesses_half(tmp_path: Path) -> None:
    """Keys at random go either way; two vectors of one declaration are no expressions that a run could record."""
    (tmp_path / "main.cpp").write_text(SEARCH, encoding="utf-8")
    text = extract(tmp_path / "main.cpp", level="o2", run=ProgramRun("./a.out 50000"), recipe=Recipe(("-O2",))).text
    rates = [float(rate) for rate in re.findall(r"param wrong_guesses\w* = ([\d.]+)", text)]
    assert any(rate == pytest.approx(1 / 2, rel=0.03) for rate in rates)
    assert "as gather(" in text  # the places were recorded, too
