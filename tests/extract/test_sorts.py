"""Sorts of a library: comparisons and wrong guesses of a run against closed forms, and what models have of them."""

import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun
from tests.extract.modelled import find_value

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = [
    pytest.mark.skipif(not shutil.which("g++"), reason="compiles programs with GCC"),
    pytest.mark.skipif(find_simulator() is None, reason="simulates with llvm-mca"),
]

HEAD = """#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>
struct Pair { double key; long a, b; };
static unsigned long state = 88172645463325252ul;
static int draw(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state >> 40; }
static int by_value(const void *a, const void *b) {
  int p = *(const int *)a, q = *(const int *)b;
  return (p > q) - (p < q);
}
static int by_sorted(const void *a, const void *b) {  // sorts in the middle of a sort
  int both[] = {*(const int *)a, *(const int *)b};
  qsort(both, 2, sizeof(int), by_value);
  return both[0] == both[1] ? 0 : both[0] == *(const int *)a ? -1 : 1;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<TYPE> x(n);
  for (int i = 0; i < n; i++) x[i]MEMBER = KEY;
  SORT;
  for (int i = 1; i < n; i++) if (x[i]MEMBER < x[i - 1]MEMBER) return 1;
  return 0;
}
"""


def sort(folder: Path, call: str, n: int, key: str = "draw()", type: str = "int", member: str = "") -> Extraction:
    """The model of a program that sorts, and fails where it has not."""
    text = HEAD.replace("SORT", call).replace("KEY", key).replace("TYPE", type).replace("MEMBER", member)
    (folder / "p.cpp").write_text(text, encoding="utf-8")
    return extract(folder / "p.cpp", run=ProgramRun(f"./a.out {n}"), recipe=Recipe(("-O2",)))


def test_a_merge_compares_halves_in_order(tmp_path: Path) -> None:
    """Of keys in order each merge compares all of its first half, n/2 for each of log2 n levels, and guesses right."""
    found = sort(tmp_path, "qsort(x.data(), n, sizeof(int), by_value)", 1024, key="i")
    assert find_value(found, "qsort_comparisons") == 512 * 10
    assert find_value(found, "qsort_wrong_guesses") < 0.01
    assert not found.left()


def test_a_merge_of_random_keys_guesses_half(tmp_path: Path) -> None:
    """Random keys: n log2 n - 1.25 n comparisons (Knuth, volume 3, 5.2.4), and half of all guesses are wrong."""
    found = sort(tmp_path, "qsort(x.data(), n, sizeof(int), by_value)", 65536)
    application = aspenpy.parse(found.text)
    steps = float(aspenpy.count(application, "intops", set={"n": 65536}))
    compared = 65536 * 16 - 1.25 * 65536
    assert steps == pytest.approx(32 * compared, rel=0.01)
    assert float(aspenpy.count(application, "branches", set={"n": 65536})) == pytest.approx(compared / 2, rel=0.02)


@pytest.mark.parametrize(
    ("call", "type", "member"),
    [
        ("std::sort(x.begin(), x.end())", "double", ""),
        ("std::sort(x.begin(), x.end(), std::greater<int>()); std::reverse(x.begin(), x.end())", "int", ""),
        ("std::sort(x.begin(), x.end(), [&](const Pair &a, const Pair &b) { return a.key < b.key; })", "Pair", ".key"),
    ],
)
def test_quicksort_guesses_five_of_sixteen(call: str, type: str, member: str, tmp_path: Path) -> None:
    """Around a median of three 5/16 of all comparisons are guessed wrongly at least: the mean of the lesser part."""
    found = sort(tmp_path, call, 40_000, type=type, member=member)
    wrong = find_value(found, "sort_wrong_guesses")
    assert 5 / 16 < wrong < 0.4
    assert ("as dp, mispredicted(1), behind(4)" in found.text) == (type != "int")


def test_few_keys_are_guessed_more_often(tmp_path: Path) -> None:
    """Long rows of equal keys are merged by guesses that are right, at random they are not. A comparator may sort, too:
    the merges around it compare as often as by hand."""
    few = sort(tmp_path, "std::stable_sort(x.begin(), x.end())", 40_000, key="draw() % 8")
    random = sort(tmp_path, "std::stable_sort(x.begin(), x.end())", 40_000)
    assert find_value(few, "stable_sort_wrong_guesses") < 0.5 * find_value(random, "stable_sort_wrong_guesses")
    nested = sort(tmp_path, "qsort(x.data(), n, sizeof(int), by_sorted)", 512, key="i")
    assert find_value(nested, "qsort_comparisons_2") == 256 * 9 or find_value(nested, "qsort_comparisons") == 256 * 9
