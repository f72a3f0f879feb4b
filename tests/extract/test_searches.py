"""Binary searches of a library: steps and wrong guesses of a run against closed forms, and what models have of them."""

import re
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

TEXT = """#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>
struct Row { double key; long a, b; };
static unsigned long state = 88172645463325252ul;
static int draw(int most) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state % most; }
static int compare(const void *a, const void *b) {
  int p = *(const int *)a, q = *(const int *)b;
  return p < q ? -1 : p > q;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]);
  std::vector<TYPE> x(n);
  std::vector<int> keys(m);
  for (int i = 0; i < n; i++) x[i]MEMBER = i;
  for (int i = 0; i < m; i++) keys[i] = KEY;
  long found = 0;
  for (int i = 0; i < m; i++) {
    SEARCH;
  }
  return found == 1;
}
"""


def search(
    folder: Path, call: str, n: int, m: int = 20_000, *, key: str = "draw(n)", type: str = "int", member: str = ""
) -> Extraction:
    """The model of a program that searches in the numbers below n."""
    text = TEXT.replace("SEARCH", call).replace("KEY", key).replace("TYPE", type).replace("MEMBER", member)
    (folder / "p.cpp").write_text(text, encoding="utf-8")
    return extract(folder / "p.cpp", run=ProgramRun(f"./a.out {n} {m}"), recipe=Recipe(("-O2",)))


@pytest.mark.parametrize(
    ("call", "name", "more"),
    [
        ("found += std::lower_bound(x.begin(), x.end(), keys[i]) - x.begin()", "lower_bound", 0),
        ("found += std::upper_bound(x.data(), x.data() + n, keys[i]) - x.data()", "upper_bound", 0),
        ("found += std::binary_search(x.begin(), x.end(), keys[i])", "binary_search", 1),
    ],
)
def test_a_search_of_a_full_tree_makes_its_depth_of_steps(call: str, name: str, more: int, tmp_path: Path) -> None:
    """Of 2^k - 1 elements each search makes k steps; keys at random are guessed wrongly in half of them, and the end,
    always behind as many, is guessed wrongly in no more than each search. A search of a table compares once more."""
    found = search(tmp_path, call, 4095)
    assert find_value(found, f"{name}_steps") == pytest.approx(12 + more, rel=1e-3)
    assert 0.5 * 11 / (12 + more) < find_value(found, "wrong_guesses") < 0.5 + 1.1 / 12
    assert not found.left()
    loads = aspenpy.count(aspenpy.parse(found.text), "loads")
    words = 4 * (12 + more) * 20_000
    assert words < float(loads) < 1.4 * words


def test_keys_in_order_are_guessed(tmp_path: Path) -> None:
    """The ways of a search and of the next one differ in few steps."""
    found = search(tmp_path, "found += *std::lower_bound(x.begin(), x.end(), keys[i])", 1023, key="i / 20")
    assert find_value(found, "wrong_guesses") < 0.1


def test_a_comparator_of_a_structure_loads_its_key(tmp_path: Path) -> None:
    """One double of each row; the loop around has its passes, though a lambda runs more often on its line."""
    lambda_ = "[](const Row &r, double k) { return r.key < k; }"
    call = f"found += std::lower_bound(x.begin(), x.end(), (double)keys[i], {lambda_})->a"
    found = search(tmp_path, call, 1023, type="Row", member=".key")
    assert find_value(found, "lower_bound_steps") == pytest.approx(10, rel=1e-3)
    application = aspenpy.parse(found.text)
    assert float(aspenpy.count(application, "loads")) == pytest.approx(8 * 11 * 20_000, rel=0.2)
    assert "passes" not in found.text
    assert "comparisons" not in "".join(str(each) for each in found.diagnostics)


def test_a_search_of_c_ends_where_it_finds_its_key(tmp_path: Path) -> None:
    """Of 2^k - 1 elements that are all as likely: k - 1 + k/(2^k - 1) steps in the mean (Knuth, volume 3, 6.2.1)."""
    call = "found += *(int *)bsearch(&keys[i], x.data(), n, sizeof(int), compare)"
    found = search(tmp_path, call, 1023, m=60_000)
    assert find_value(found, "bsearch_steps") == pytest.approx(9 + 10 / 1023, rel=0.005)
    assert find_value(found, "wrong_guesses") == pytest.approx(0.55, abs=0.1)


def test_elements_are_told_from_the_key(tmp_path: Path) -> None:
    """All steps of a search look at places of the array, of which a run says how far apart they come back."""
    call = "auto e = std::equal_range(x.begin(), x.end(), keys[i]); found += e.second - e.first"
    found = search(tmp_path, call, 200_000)
    assert re.search(r"loads \[.*equal_range_steps.*\] of size \[4\] from \w+ as (gather|random)", found.text)
